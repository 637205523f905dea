//! Softmax, layer normalisation and k-means.

use super::{Expected, Inputs, Word};

/// Probabilities under a causal mask; per row maximum, log-sum-exp, cross entropy and entropy; the likeliest column.
pub(super) fn softmax(inputs: &Inputs) -> Vec<Expected> {
    let sizes = inputs.words(0);
    let (rows, columns, offset) = (sizes[0] as usize, sizes[1] as usize, sizes[2] as usize);
    let temperature = inputs.floats(0)[3];
    let (logits, targets) = (inputs.floats(1), inputs.words(2));
    let mut probabilities = Vec::new();
    let mut statistics = Vec::new();
    let mut best = Vec::new();
    for row in 0..rows {
        let seen = columns.min(row + offset + 1);
        let x: Vec<f64> = logits[row * columns..][..seen].iter().map(|v| v / temperature).collect();
        let top = x.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let log_sum = top + x.iter().map(|v| (v - top).exp()).sum::<f64>().ln();
        let p: Vec<f64> = x.iter().map(|v| (v - log_sum).exp()).collect();
        probabilities.extend(p.iter().map(|v| Word::near(*v, 2e-5, 1e-3)));
        probabilities.extend((seen..columns).map(|_| Word::near(0.0, 0.0, 0.0)));
        let loss = log_sum - x[(targets[row] as usize).min(seen - 1)];
        let entropy = -p.iter().map(|v| v * v.ln()).sum::<f64>();
        statistics.extend([top, log_sum, loss, entropy].map(|v| Word::near(v, 1e-5, 4.0)));
        let first = x.iter().position(|v| *v == top).unwrap_or(0);
        let rivals = x.iter().filter(|v| top - **v < 1e-5).count();
        best.push(if rivals == 1 { Word::Exact(first as u32) } else { Word::Any });
    }
    vec![
        Expected { binding: 3, words: probabilities },
        Expected { binding: 4, words: statistics },
        Expected { binding: 5, words: best },
    ]
}

/// (x - mean) / deviation, scaled and shifted, through GELU if asked for; mean and reciprocal deviation.
pub(super) fn layer_norm(inputs: &Inputs) -> Vec<Expected> {
    let sizes = inputs.words(0);
    let (rows, columns) = (sizes[0] as usize, sizes[1] as usize);
    let epsilon = inputs.floats(0)[2];
    let (input, residual, gamma, beta) =
        (inputs.floats(1), inputs.floats(2), inputs.floats(3), inputs.floats(4));
    let gelu = |x: f64| {
        0.5 * x * (1.0 + ((2.0 / std::f64::consts::PI).sqrt() * (x + 0.044715 * x.powi(3))).tanh())
    };
    let mut output = Vec::new();
    let mut moments = Vec::new();
    for row in 0..rows {
        let x: Vec<f64> =
            (row * columns..(row + 1) * columns).map(|i| input[i] + residual[i]).collect();
        let mean = x.iter().sum::<f64>() / columns as f64;
        let variance = x.iter().map(|v| (v - mean) * (v - mean)).sum::<f64>() / columns as f64;
        let inverse = 1.0 / (variance + epsilon).sqrt();
        for (column, value) in x.iter().enumerate() {
            let y = (value - mean) * inverse * gamma[column] + beta[column];
            output.push(Word::near(if sizes[3] != 0 { gelu(y) } else { y }, 1e-5, 1.0));
        }
        moments.extend([Word::near(mean, 1e-6, 2.0), Word::near(inverse, 1e-5, 0.0)]);
    }
    vec![Expected { binding: 5, words: output }, Expected { binding: 6, words: moments }]
}

/// Labels, margins, weighted sums a cluster in fixed point (1024 to the unit), and how many labels changed.
///
/// A point that is as far from two centroids as rounding can tell may have either label; then sums are not checked.
pub(super) fn kmeans(inputs: &Inputs) -> Vec<Expected> {
    let sizes = inputs.words(0);
    let (count, clusters) = (sizes[0] as usize, (sizes[1] as usize).min(16));
    let (points, centroids, old) = (inputs.floats(1), inputs.floats(2), inputs.words(3));
    let mut labels = Vec::new();
    let mut margins = Vec::new();
    let mut sums = vec![[0.0f64; 4]; clusters];
    let mut sizes = vec![0u32; clusters];
    let (mut changed, mut doubtful) = (0, false);
    for (point, old) in points.chunks_exact(4).zip(old).take(count) {
        let mut distances: Vec<(f64, usize)> = (0..clusters)
            .map(|c| {
                ((0..3).map(|k| (point[k] - centroids[4 * c + k]).powi(2)).sum::<f64>().sqrt(), c)
            })
            .collect();
        distances.sort_by(|a, b| a.0.total_cmp(&b.0));
        let ((near, label), far) = (distances[0], distances[1].0);
        let clear = far - near > 1e-5 * far;
        doubtful |= !clear;
        labels.push(if clear { Word::Exact(label as u32) } else { Word::Any });
        margins.push(Word::near((far - near) / far, 1e-5, 1.0));
        changed += u32::from(old != label as u32);
        sizes[label] += 1;
        // Weighted coordinates, then the weight itself.
        let terms = [point[0] * point[3], point[1] * point[3], point[2] * point[3], point[3]];
        for (sum, term) in sums[label].iter_mut().zip(terms) {
            *sum += (1024.0 * term).round();
        }
    }
    let sum_words = sums.iter().zip(sizes).flat_map(|(sum, size)| {
        sum.map(
            |v| if doubtful { Word::Any } else { Word::Integer { value: v as i32, within: size } },
        )
    });
    let changed = if doubtful { Word::Any } else { Word::Exact(changed) };
    vec![
        Expected { binding: 3, words: labels },
        Expected { binding: 4, words: margins },
        Expected { binding: 5, words: sum_words.collect() },
        Expected { binding: 6, words: vec![changed] },
    ]
}

#[cfg(test)]
mod tests {
    use super::super::RunLine;
    use super::*;

    fn value(word: &Word) -> f64 {
        match word {
            Word::Float { value, .. } => *value,
            Word::Integer { value, .. } => f64::from(*value),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn probabilities_sum_to_one_and_uniform_rows_have_full_entropy() {
        let line = "groups=2,1,1 0.0=1*u32(2)+1*u32(8)+1*u32(8)+1*f32(2) 0.1=8*f32(0.5)+8*f32(-3..3) 0.2=2*zero";
        let found = softmax(&RunLine::parse(line).unwrap().inputs(1));
        for row in found[0].words.chunks_exact(8) {
            assert!((row.iter().map(value).sum::<f64>() - 1.0).abs() < 1e-12);
        }
        assert!((value(&found[1].words[3]) - 8f64.ln()).abs() < 1e-12, "entropy");
        assert!((value(&found[1].words[2]) - 8f64.ln()).abs() < 1e-12, "loss");
        assert_eq!(found[2].words[0], Word::Any, "eight equal logits");
    }

    #[test]
    fn normalised_rows_have_mean_zero_and_variance_one() {
        let line = "groups=1,1,1 0.0=1*u32(1)+1*u32(50)+2*zero 0.1=50*f32(-2..9) 0.2=50*f32(-1..1) 0.3=50*f32(1) 0.4=50*zero";
        let found = layer_norm(&RunLine::parse(line).unwrap().inputs(2));
        let y: Vec<f64> = found[0].words.iter().map(value).collect();
        assert!(y.iter().sum::<f64>().abs() < 1e-9);
        assert!((y.iter().map(|v| v * v).sum::<f64>() / 50.0 - 1.0).abs() < 1e-9);
    }

    #[test]
    fn two_clusters_by_hand() {
        // Points at 1 and 3 on a diagonal, weight 1; centroids at 0 and 4.
        let line = "groups=1,1,1 0.0=1*u32(2)+1*u32(2)+2*zero 0.1=3*f32(1)+1*f32(1)+3*f32(3)+1*f32(2) 0.2=4*zero+3*f32(4)+1*zero 0.3=2*zero";
        let found = kmeans(&RunLine::parse(line).unwrap().inputs(0));
        assert_eq!(found[0].words, [Word::Exact(0), Word::Exact(1)]);
        assert!((value(&found[1].words[0]) - 2.0 / 3.0).abs() < 1e-12);
        let sums: Vec<f64> = found[2].words.iter().map(|w| value(w) / 1024.0).collect();
        assert_eq!(sums, [1.0, 1.0, 1.0, 1.0, 6.0, 6.0, 6.0, 2.0]);
        assert_eq!(found[3].words, [Word::Exact(1)]);
    }
}
