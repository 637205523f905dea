//! Images: blur, resampling, convolution, histograms.

use super::{Expected, Inputs, Word};

/// The channels of a packed RGBA8 pixel, 0 to 1.
fn unpack(pixel: u32) -> [f64; 4] {
    pixel.to_le_bytes().map(|b| f64::from(b) / 255.0)
}

fn pack(channels: [f64; 4]) -> u32 {
    u32::from_le_bytes(channels.map(|v| (v.clamp(0.0, 1.0) * 255.0).round() as u8))
}

/// The sRGB transfer functions (IEC 61966-2-1).
fn to_linear(v: f64) -> f64 {
    if v <= 0.04045 { v / 12.92 } else { ((v + 0.055) / 1.055).powf(2.4) }
}

fn to_srgb(v: f64) -> f64 {
    if v <= 0.003_130_8 { v * 12.92 } else { 1.055 * v.powf(1.0 / 2.4) - 0.055 }
}

/// The blur as one sum over the square around each pixel, in linear light with premultiplied alpha.
pub(super) fn gaussian_blur(inputs: &Inputs) -> Vec<Expected> {
    let params = inputs.words(0);
    let (width, height) = (i64::from(params[0]), i64::from(params[1]));
    let (radius, sigma) = (i64::from(params[2].min(4)), inputs.floats(0)[3]);
    let linear: Vec<[f64; 4]> = inputs
        .words(1)
        .into_iter()
        .map(|pixel| {
            let [r, g, b, a] = unpack(pixel);
            [to_linear(r) * a, to_linear(g) * a, to_linear(b) * a, a]
        })
        .collect();
    let mut words = Vec::new();
    for y in 0..height {
        for x in 0..width {
            let (mut sum, mut total) = ([0.0; 4], 0.0);
            for dy in -radius..=radius {
                for dx in -radius..=radius {
                    let weight = (-0.5 * (dx * dx + dy * dy) as f64 / (sigma * sigma)).exp();
                    let at = (y + dy).clamp(0, height - 1) * width + (x + dx).clamp(0, width - 1);
                    for (s, v) in sum.iter_mut().zip(linear[at as usize]) {
                        *s += weight * v;
                    }
                    total += weight;
                }
            }
            let alpha = sum[3] / total;
            let channel =
                |v: f64| if alpha > 0.0 { to_srgb((v / sum[3]).clamp(0.0, 1.0)) } else { 0.0 };
            let value = pack([channel(sum[0]), channel(sum[1]), channel(sum[2]), alpha]);
            words.push(Word::Bytes { value, within: 1 });
        }
    }
    vec![Expected { binding: 2, words }]
}

/// The cubic filters of Mitchell and Netravali (1988), equation 8.
fn cubic(x: f64, b: f64, c: f64) -> f64 {
    let t = x.abs();
    if t < 1.0 {
        ((12.0 - 9.0 * b - 6.0 * c) * t.powi(3) + (-18.0 + 12.0 * b + 6.0 * c) * t * t + 6.0
            - 2.0 * b)
            / 6.0
    } else if t < 2.0 {
        ((-b - 6.0 * c) * t.powi(3)
            + (6.0 * b + 30.0 * c) * t * t
            + (-12.0 * b - 48.0 * c) * t
            + 8.0 * b
            + 24.0 * c)
            / 6.0
    } else {
        0.0
    }
}

/// An index brought into range: clamped, wrapped around or mirrored.
fn edge(mut index: i64, size: i64, rule: u32) -> i64 {
    match rule {
        1 => index.rem_euclid(size),
        2 => {
            // Reflect at the outer borders of the first and last pixel until it is inside.
            while !(0..size).contains(&index) {
                index = if index < 0 { -1 - index } else { 2 * size - 1 - index };
            }
            index
        }
        _ => index.clamp(0, size - 1),
    }
}

/// An image resampled by a cubic filter over 4 x 4 pixels, limited to the range of the nearest 2 x 2 if asked for.
///
/// Where a sample falls onto a pixel's centre but for rounding, the nearest four are not determined.
pub(super) fn bicubic(inputs: &Inputs) -> Vec<Expected> {
    let params = inputs.words(0);
    let size = |slot: usize| i64::from(params[slot]);
    let (b, c) = (inputs.floats(0)[4], inputs.floats(0)[5]);
    let pixels = inputs.words(1);
    let mut words = Vec::new();
    for y in 0..size(3) {
        for x in 0..size(2) {
            let at = |target: i64, from: i64, to: i64| {
                (target as f64 + 0.5) * from as f64 / to as f64 - 0.5
            };
            let (px, py) = (at(x, size(0), size(2)), at(y, size(1), size(3)));
            let (mut sum, mut total) = ([0.0; 4], 0.0);
            let (mut low, mut high) = ([1.0f64; 4], [0.0f64; 4]);
            for j in py.floor() as i64 - 1..=py.floor() as i64 + 2 {
                for i in px.floor() as i64 - 1..=px.floor() as i64 + 2 {
                    let weight = cubic(px - i as f64, b, c) * cubic(py - j as f64, b, c);
                    let source =
                        edge(j, size(1), params[6]) * size(0) + edge(i, size(0), params[6]);
                    let colour = unpack(pixels[source as usize]);
                    let near = (px - i as f64).abs() <= 1.0 && (py - j as f64).abs() <= 1.0;
                    for k in 0..4 {
                        sum[k] += weight * colour[k];
                        if near {
                            low[k] = low[k].min(colour[k]);
                            high[k] = high[k].max(colour[k]);
                        }
                    }
                    total += weight;
                }
            }
            let limited = params[7] != 0;
            let value = |k: usize| {
                let v: f64 = sum[k] / total;
                if limited { v.clamp(low[k], high[k]) } else { v }
            };
            let centred = [px, py].iter().any(|p: &f64| (p - p.round()).abs() < 1e-4);
            words.push(if limited && centred {
                Word::Any
            } else {
                Word::Bytes { value: pack([value(0), value(1), value(2), value(3)]), within: 1 }
            });
        }
    }
    vec![Expected { binding: 2, words }]
}

/// 3 x 3 convolution of 4 channels to 8 with affine and leaky ReLU, and the maximum of each 2 x 2.
pub(super) fn conv3x3(inputs: &Inputs) -> Vec<Expected> {
    let size = inputs.words(0);
    let (width, height) = (i64::from(size[0]), i64::from(size[1]));
    let (image, weights, affine) = (inputs.floats(1), inputs.floats(2), inputs.floats(3));
    let value = |x: i64, y: i64, channel: usize| {
        let mut sum = 0.0;
        for (tap, (dy, dx)) in (-1..=1).flat_map(|dy| (-1..=1).map(move |dx| (dy, dx))).enumerate()
        {
            let (sx, sy) = (x + dx, y + dy);
            if (0..width).contains(&sx) && (0..height).contains(&sy) {
                let pixel = &image[4 * (sy * width + sx) as usize..][..4];
                let weight = &weights[4 * (9 * channel + tap)..][..4];
                sum += pixel.iter().zip(weight).map(|(p, w)| p * w).sum::<f64>();
            }
        }
        let scaled = sum * affine[2 * channel] + affine[2 * channel + 1];
        if scaled > 0.0 { scaled } else { 0.125 * scaled }
    };
    let near = |v: f64| Word::near(v, 1e-6, 10.0);
    let mut output = Vec::new();
    let mut pooled = Vec::new();
    for y in 0..height {
        for x in 0..width {
            output.extend((0..8).map(|c| near(value(x, y, c))));
        }
    }
    for y in (0..height).step_by(2) {
        for x in (0..width).step_by(2) {
            let most =
                |c| [(0, 0), (1, 0), (0, 1), (1, 1)].map(|(dx, dy)| value(x + dx, y + dy, c));
            pooled.extend(
                (0..8).map(|c| near(most(c).into_iter().fold(f64::NEG_INFINITY, f64::max))),
            );
        }
    }
    vec![Expected { binding: 4, words: output }, Expected { binding: 5, words: pooled }]
}

/// A sixteenth of the hue circle, 16 for greys; in integers, 1,536 units around.
fn hue_sector([r, g, b]: [i64; 3]) -> usize {
    let (most, least) = (r.max(g).max(b), r.min(g).min(b));
    let chroma = most - least;
    if chroma < 8 {
        return 16;
    }
    let (difference, start) = if most == r {
        (g - b, 0)
    } else if most == g {
        (b - r, 512)
    } else {
        (r - g, 1024)
    };
    let angle = (start + difference * 256 / chroma + 1536) % 1536;
    (angle * 16 / 1536) as usize
}

/// Luminance and hue bins of all pixels that are not transparent, added to what was there; extremes, sum and count.
pub(super) fn histogram(inputs: &Inputs) -> Vec<Expected> {
    let size = inputs.words(0);
    let (width, height, stride) = (size[0] as usize, size[1] as usize, size[2] as usize);
    let pixels = inputs.words(1);
    let (mut luminances, mut hues, mut summary) =
        (inputs.words(2), inputs.words(3), inputs.words(4));
    for row in pixels.chunks(stride).take(height) {
        for [r, g, b, a] in row.iter().take(width).map(|p| p.to_le_bytes()) {
            if a < 16 {
                continue;
            }
            let weighted = u32::from(r) * 13933 + u32::from(g) * 46871 + u32::from(b) * 4732;
            let luminance = (weighted + 32768) / 65536;
            luminances[luminance as usize / 4] += 1;
            hues[hue_sector([r, g, b].map(i64::from))] += 1;
            summary[0] = summary[0].min(luminance);
            summary[1] = summary[1].max(luminance);
            summary[2] = summary[2].wrapping_add(luminance);
            summary[3] += 1;
        }
    }
    vec![Expected::exact(2, luminances), Expected::exact(3, hues), Expected::exact(4, summary)]
}

#[cfg(test)]
mod tests {
    use super::super::{RunLine, check};
    use super::*;

    #[test]
    fn hues_of_the_primaries() {
        let sectors = [
            [255, 0, 0],
            [255, 255, 0],
            [0, 255, 0],
            [0, 255, 255],
            [0, 0, 255],
            [255, 0, 255],
            [9, 9, 9],
        ];
        assert_eq!(sectors.map(hue_sector), [0, 2, 5, 8, 10, 13, 16]);
        assert_eq!(hue_sector([255, 0, 1]), 15, "just short of red");
    }

    #[test]
    fn edges() {
        let inside = |rule| (-3..7).map(|i| edge(i, 3, rule)).collect::<Vec<_>>();
        assert_eq!(inside(0), [0, 0, 0, 0, 1, 2, 2, 2, 2, 2]);
        assert_eq!(inside(1), [0, 1, 2, 0, 1, 2, 0, 1, 2, 0]);
        assert_eq!(inside(2), [2, 1, 0, 0, 1, 2, 2, 1, 0, 0]);
    }

    #[test]
    fn cubic_weights_sum_to_one_and_catmull_rom_interpolates() {
        for step in 0..20 {
            let f = f64::from(step) / 20.0;
            let sum: f64 = (-1..=2).map(|i| cubic(f - f64::from(i), 1.0 / 3.0, 1.0 / 3.0)).sum();
            assert!((sum - 1.0).abs() < 1e-12);
        }
        assert_eq!([0.0, 1.0, 2.0].map(|x| cubic(x, 0.0, 0.5)), [1.0, 0.0, 0.0]);
    }

    /// One colour stays that colour under blur and resampling, to the rounding of a byte.
    #[test]
    fn filters_keep_a_flat_image() {
        let colour = 0xff_40_80_c0;
        let line = "groups=1,1,1 0.0=1*u32(6)+1*u32(5)+1*u32(3)+1*f32(1.2) 0.1=30*u32(0xff4080c0) 0.2=30*zero";
        let flat: Vec<u8> = [colour; 30].iter().flat_map(|w: &u32| w.to_le_bytes()).collect();
        assert_eq!(
            check(&gaussian_blur(&RunLine::parse(line).unwrap().inputs(0)), |_| Some(&flat)),
            Ok(())
        );
        let line = "groups=1,1,1 0.0=1*u32(3)+1*u32(4)+1*u32(6)+1*u32(5)+2*f32(0.33)+2*zero 0.1=12*u32(0xff4080c0) 0.2=30*zero";
        assert_eq!(
            check(&bicubic(&RunLine::parse(line).unwrap().inputs(0)), |_| Some(&flat)),
            Ok(())
        );
    }

    /// The middle tap alone copies its channel.
    #[test]
    fn convolution_with_a_single_tap_copies() {
        let weights = format!("16*zero+1*f32(1)+{}*zero", 288 - 17);
        let line = format!(
            "groups=1,1,1 0.0=1*u32(2)+1*u32(2)+2*zero 0.1=16*f32(0.5..1) 0.2={weights} 0.3=1*f32(1)+15*zero 0.4=32*zero 0.5=8*zero"
        );
        let inputs = RunLine::parse(&line).unwrap().inputs(6);
        let output = conv3x3(&inputs);
        for (pixel, result) in inputs.floats(1).chunks_exact(4).zip(output[0].words.chunks_exact(8))
        {
            assert_eq!(result[0], Word::near(pixel[0], 1e-6, 10.0));
        }
    }
}
