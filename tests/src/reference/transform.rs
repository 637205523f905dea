//! Fourier and cosine transforms from the sums that define them.

use std::f64::consts::{PI, TAU};

use super::{Expected, Inputs, Word};

const POINTS: usize = 256;

/// The discrete Fourier transform by its definition.
fn dft(input: &[(f64, f64)], sign: f64) -> Vec<(f64, f64)> {
    let n = input.len();
    let term = |frequency: usize, index: usize| {
        let angle = sign * TAU * (frequency * index % n) as f64 / n as f64;
        let ((re, im), (sin, cos)) = (input[index], angle.sin_cos());
        (re * cos - im * sin, re * sin + im * cos)
    };
    (0..n)
        .map(|k| (0..n).map(|i| term(k, i)).fold((0.0, 0.0), |s, t| (s.0 + t.0, s.1 + t.1)))
        .collect()
}

/// Spectra and power spectra of 256-point signals, with a Blackman-Harris window if asked for.
pub(super) fn fft(inputs: &Inputs) -> Vec<Expected> {
    let params = inputs.words(0);
    let inverse = params[0] != 0;
    let window = |index: usize| {
        let phase = TAU * index as f64 / POINTS as f64;
        let terms = [0.35875, -0.48829, 0.14128, -0.01168];
        if params[1] == 0 { 1.0 } else { (0..4).map(|k| terms[k] * (k as f64 * phase).cos()).sum() }
    };
    let mut output = Vec::new();
    let mut power = Vec::new();
    for signal in inputs.floats(1).chunks_exact(2 * POINTS) {
        let shaped: Vec<(f64, f64)> = signal
            .chunks_exact(2)
            .enumerate()
            .map(|(i, c)| (c[0] * window(i), c[1] * window(i)))
            .collect();
        let scale = if inverse { 1.0 / POINTS as f64 } else { 1.0 };
        let size: f64 = scale * shaped.iter().map(|(re, im)| re.hypot(*im)).sum::<f64>();
        for (re, im) in dft(&shaped, if inverse { 1.0 } else { -1.0 }) {
            let (re, im) = (re * scale, im * scale);
            output.extend([Word::near(re, 1e-6, size), Word::near(im, 1e-6, size)]);
            power.push(Word::near(
                re * re + im * im,
                4e-6,
                size * re.hypot(im) + 1e-6 * size * size,
            ));
        }
    }
    vec![Expected { binding: 2, words: output }, Expected { binding: 3, words: power }]
}

/// The orthonormal 8 x 8 cosine transform, by its definition.
fn dct(block: &[[f64; 8]; 8]) -> [[f64; 8]; 8] {
    let basis = |k: usize, x: usize| {
        let scale: f64 = if k == 0 { 0.125 } else { 0.25 };
        scale.sqrt() * ((2 * x + 1) as f64 * k as f64 * PI / 16.0).cos()
    };
    let coefficient = |v: usize, u: usize| {
        let mut sum = 0.0;
        for (y, row) in block.iter().enumerate() {
            for (x, value) in row.iter().enumerate() {
                sum += value * basis(v, y) * basis(u, x);
            }
        }
        sum
    };
    std::array::from_fn(|v| std::array::from_fn(|u| coefficient(v, u)))
}

/// The cells of a square of eight along JPEG's zigzag path, walked step by step.
fn zigzag_path() -> Vec<(usize, usize)> {
    let mut path: Vec<(usize, usize)> = (0..64).map(|i| (i / 8, i % 8)).collect();
    // Diagonal after diagonal; even ones upward, odd ones downward.
    path.sort_by_key(|(row, column)| {
        (row + column, if (row + column) % 2 == 0 { *column } else { *row })
    });
    path
}

/// Quantised coefficients in zigzag order, and of each block how many are not zero and the last of them.
pub(super) fn dct8x8(inputs: &Inputs) -> Vec<Expected> {
    let params = inputs.words(0);
    let (across, down, quality) =
        (params[0] as usize, params[1] as usize, f64::from(params[2].clamp(1, 100)));
    let pixels: Vec<u8> = inputs.words(1).iter().flat_map(|w| w.to_le_bytes()).collect();
    let percent = if quality < 50.0 { 5000.0 / quality } else { 200.0 - 2.0 * quality };
    let quantum = |row: usize, column: usize| {
        let base = 10.0 + 6.0 * (row + column) as f64 + 0.6 * (row * column) as f64;
        // The sum of decimal fractions is not exact: a whole number may come out just below itself.
        ((base * percent + 50.0) / 100.0 + 1e-9).floor().clamp(1.0, 255.0)
    };
    let path = zigzag_path();
    let mut coefficients = Vec::new();
    let mut summary = Vec::new();
    for block in 0..across * down {
        let (block_y, block_x) = (block / across, block % across);
        let grey = |y: usize, x: usize| {
            f64::from(pixels[(8 * block_y + y) * 8 * across + 8 * block_x + x]) - 128.0
        };
        let spectrum = dct(&std::array::from_fn(|y| std::array::from_fn(|x| grey(y, x))));
        let levels: Vec<f64> = path
            .iter()
            .map(|(row, column)| spectrum[*row][*column] / quantum(*row, *column))
            .collect();
        let clear = |level: f64| (level.abs().fract() - 0.5).abs() > 1e-3;
        coefficients.extend(levels.iter().map(|level| Word::Integer {
            value: level.round() as i32,
            within: if clear(*level) { 0 } else { 1 },
        }));
        if levels.iter().all(|level| clear(*level)) {
            let set: Vec<usize> = (0..64).filter(|i| levels[*i].round() != 0.0).collect();
            let last = set.last().copied().unwrap_or(0);
            summary.extend([set.len(), last].map(|n| Word::Exact(n as u32)));
        } else {
            summary.extend([Word::Any; 2]);
        }
    }
    vec![Expected { binding: 2, words: coefficients }, Expected { binding: 3, words: summary }]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dft_of_a_tone_is_a_line() {
        let tone: Vec<(f64, f64)> = (0..POINTS)
            .map(|i| (TAU * 5.0 * i as f64 / 256.0).sin_cos())
            .map(|(s, c)| (c, s))
            .collect();
        for (k, (re, im)) in dft(&tone, -1.0).into_iter().enumerate() {
            let expected = if k == 5 { 256.0 } else { 0.0 };
            assert!((re - expected).abs() < 1e-9 && im.abs() < 1e-9, "{k}: {re} {im}");
        }
        let there = dft(&tone, -1.0);
        for ((re, im), (x, y)) in dft(&there, 1.0).into_iter().zip(tone) {
            assert!((re / 256.0 - x).abs() < 1e-12 && (im / 256.0 - y).abs() < 1e-12);
        }
    }

    #[test]
    fn dct_keeps_energy_and_constants() {
        let block: [[f64; 8]; 8] =
            std::array::from_fn(|y| std::array::from_fn(|x| ((y * 37 + x * 11) % 29) as f64));
        let energy = |b: &[[f64; 8]; 8]| b.iter().flatten().map(|v| v * v).sum::<f64>();
        assert!((energy(&dct(&block)) - energy(&block)).abs() < 1e-9);
        let flat = dct(&[[3.0; 8]; 8]);
        assert!(
            (flat[0][0] - 24.0).abs() < 1e-12
                && flat.iter().flatten().skip(1).all(|v| v.abs() < 1e-12)
        );
    }

    #[test]
    fn zigzag_begins_as_in_jpeg() {
        let path = zigzag_path();
        assert_eq!(path[..6], [(0, 0), (0, 1), (1, 0), (2, 0), (1, 1), (0, 2)]);
        assert_eq!(path[61..], [(6, 7), (7, 6), (7, 7)]);
    }
}
