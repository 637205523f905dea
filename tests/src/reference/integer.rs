//! Sorts, scans, compaction, integer statistics and quantised arithmetic: all exact.

use super::{Expected, Inputs, Word};

/// Pairs of each block of 256 in order of key (IEEE total order), then value, then position.
pub(super) fn bitonic_sort(inputs: &Inputs) -> Vec<Expected> {
    let params = inputs.words(0);
    let (count, descending) = (params[0] as usize, params[1] != 0);
    let mut keys = inputs.words(1);
    let mut values = inputs.words(2);
    let mut ranks = inputs.words(3);
    for base in (0..count).step_by(256) {
        let end = count.min(base + 256);
        let mut pairs: Vec<(f32, u32, usize)> =
            (base..end).map(|i| (f32::from_bits(keys[i]), values[i], i)).collect();
        pairs.sort_by(|a, b| {
            let by_key = a.0.total_cmp(&b.0);
            let by_key = if descending { by_key.reverse() } else { by_key };
            by_key.then(a.1.cmp(&b.1)).then(a.2.cmp(&b.2))
        });
        for (place, (key, value, from)) in pairs.into_iter().enumerate() {
            keys[base + place] = key.to_bits();
            values[base + place] = value;
            ranks[from] = place as u32;
        }
    }
    vec![Expected::exact(1, keys), Expected::exact(2, values), Expected::exact(3, ranks)]
}

/// A stable sort of each block of 256 by the low bits of its keys, and how often each last digit occurs.
pub(super) fn radix_sort(inputs: &Inputs) -> Vec<Expected> {
    let params = inputs.words(0);
    let (count, bits, signed) = (params[0] as usize, params[1], params[2] != 0);
    let flip = if signed { 1 << 31 } else { 0 };
    let low_bits = |key: u32| (key ^ flip) & u32::MAX.checked_shr(32 - bits).unwrap_or(0);
    let mut pairs: Vec<(u32, u32)> = inputs.words(1).into_iter().zip(inputs.words(2)).collect();
    let mut digits = Vec::new();
    for block in pairs[..count].chunks_mut(256) {
        block.sort_by_key(|pair| low_bits(pair.0));
        let mut tally = [0u32; 4];
        for (key, _) in block.iter() {
            tally[(low_bits(*key) >> (bits - 1) / 2 * 2 & 3) as usize] += 1;
        }
        // Places beyond the end hold a key of ones.
        tally[3] += 256 - block.len() as u32;
        digits.extend(tally);
    }
    let (keys, values): (Vec<u32>, Vec<u32>) = pairs.into_iter().unzip();
    vec![Expected::exact(1, keys), Expected::exact(2, values), Expected::exact(3, digits)]
}

/// Exclusive sums within blocks of 512; of each block the sum, the first largest element and the number of zeros.
pub(super) fn prefix_sum(inputs: &Inputs) -> Vec<Expected> {
    let count = inputs.words(0)[0] as usize;
    let mut output = inputs.words(2);
    let mut blocks = Vec::new();
    for (number, block) in inputs.words(1)[..count].chunks(512).enumerate() {
        let mut sum = 0u32;
        for (index, value) in block.iter().enumerate() {
            output[512 * number + index] = sum;
            sum = sum.wrapping_add(*value);
        }
        let largest = *block.iter().max().expect("chunks are not empty");
        let first = block.iter().position(|v| *v == largest).expect("the maximum is an element");
        let zeros = block.iter().filter(|v| **v == 0).count();
        blocks.extend([sum, largest, (512 * number + first) as u32, zeros as u32]);
    }
    vec![Expected::exact(2, output), Expected::exact(3, blocks)]
}

/// A partition of each block of 256: what passes in order from the front, the rest in reverse order from the back.
pub(super) fn compact(inputs: &Inputs) -> Vec<Expected> {
    let params = inputs.words(0);
    let (count, range) = (params[0] as usize, params[1]..params[2]);
    let input = inputs.words(1);
    let mut output = Vec::new();
    let mut sources = Vec::new();
    let mut blocks = Vec::new();
    for (number, block) in input[..count].chunks(256).enumerate() {
        let at = |index: usize| 256 * number + index;
        let (passed, mut failed): (Vec<usize>, Vec<usize>) =
            (0..block.len()).partition(|i| range.contains(&block[*i].swap_bytes()));
        failed.reverse();
        let order = || passed.iter().chain(&failed);
        output.extend(order().map(|i| block[*i]));
        sources.extend(order().map(|i| at(*i) as u32));

        let flags: String = (0..256).map(|i| if passed.contains(&i) { '1' } else { '0' }).collect();
        let runs: Vec<usize> = flags.split('0').map(str::len).filter(|len| *len > 0).collect();
        let checksum = (0..256).fold(0, |sum, i| {
            let item = block.get(i).copied().unwrap_or(0);
            sum ^ match i % 4 {
                0 => item,
                1 => item.reverse_bits(),
                2 => item.swap_bytes(),
                _ => !item,
            }
        });
        let longest = runs.iter().max().copied().unwrap_or(0);
        blocks.extend([passed.len() as u32, runs.len() as u32, longest as u32, checksum]);
    }
    vec![Expected::exact(2, output), Expected::exact(3, sources), Expected::exact(4, blocks)]
}

/// Sums, extremes, xor and counts of blocks of 128, and exclusive prefix sums.
pub(super) fn subgroup_reduce(inputs: &Inputs) -> Vec<Expected> {
    let params = inputs.words(0);
    let (count, wanted) = (params[0] as usize, params[1]);
    let mut prefix = Vec::new();
    let mut blocks = Vec::new();
    for block in inputs.words(1)[..count].chunks(128) {
        let mut sum = 0u64;
        for value in block {
            prefix.push(sum as u32);
            sum += u64::from(*value);
        }
        let smallest = block.iter().copied().min().unwrap_or(u32::MAX);
        let largest = block.iter().copied().max().unwrap_or(0);
        let matches = block.iter().filter(|v| **v == wanted).count() as u32;
        blocks.extend([sum as u32, (sum >> 32) as u32, smallest, largest]);
        blocks.extend([
            block.iter().fold(0, |x, v| x ^ v),
            matches,
            u32::from(matches > 0),
            u32::from(smallest == largest),
        ]);
    }
    vec![Expected::exact(2, prefix), Expected::exact(3, blocks)]
}

/// gemmlowp's requantisation of an int32 accumulator, by 64-bit integers.
fn requantise(accumulator: i32, multiplier: i32, shift: u32) -> i64 {
    // The high word of twice the product, rounded by adding half; then a shift that rounds halves away from zero.
    let high = (2 * i64::from(accumulator) * i64::from(multiplier) + (1 << 31)) >> 32;
    let magnitude = high.abs();
    let rounded = if shift == 0 { magnitude } else { (magnitude + (1 << (shift - 1))) >> shift };
    rounded * high.signum()
}

/// int8 matrix times vector with zero points.
pub(super) fn quantized_dot(inputs: &Inputs) -> Vec<Expected> {
    let params = inputs.integers(0);
    let (rows, words) = (params[0] as usize, params[1] as usize);
    let (input_zero, output_zero) = (i64::from(params[2]), i64::from(params[3]));
    let bytes = |binding| -> Vec<i64> {
        inputs
            .words(binding)
            .iter()
            .flat_map(|w| w.to_le_bytes())
            .map(|b| i64::from(b.cast_signed()))
            .collect()
    };
    let (weights, activations, table) = (bytes(1), bytes(2), inputs.integers(3));
    let mut accumulators = Vec::new();
    let mut outputs = Vec::new();
    for row in 0..rows {
        let settings = &table[4 * row..4 * row + 4];
        let zero = i64::from(settings[3] & 0xff) - 128;
        let dot: i64 = weights[4 * words * row..4 * words * (row + 1)]
            .iter()
            .zip(&activations)
            .map(|(w, x)| (w - zero) * (x - input_zero))
            .sum();
        let accumulator = (dot + i64::from(settings[0] & 0xffff) - 32768) as i32;
        let level =
            requantise(accumulator, settings[1], settings[2].cast_unsigned() & 15) + output_zero;
        accumulators.push(accumulator.cast_unsigned());
        outputs.push(level.clamp(-128, 127) as u8);
    }
    let packed =
        outputs.chunks_exact(4).map(|c| Word::Exact(u32::from_le_bytes([c[0], c[1], c[2], c[3]])));
    vec![Expected::exact(4, accumulators), Expected { binding: 5, words: packed.collect() }]
}

#[cfg(test)]
mod tests {
    use super::super::{RunLine, find};
    use super::*;

    fn run(name: &str, line: &str, seed: u64) -> (Inputs, Vec<Vec<u32>>) {
        let inputs = RunLine::parse(line).unwrap().inputs(seed);
        let exact = |w: &Word| match w {
            Word::Exact(bits) => *bits,
            other => panic!("{other:?}"),
        };
        let found = (find(name).unwrap().expected)(&inputs);
        let words = found.iter().map(|e| e.words.iter().map(exact).collect()).collect();
        (inputs, words)
    }

    #[test]
    fn bitonic_sort_orders_blocks() {
        let line =
            "groups=2,1,1 0.0=1*u32(300)+3*zero 0.1=300*f32(-1..1) 0.2=300*iota(0,1) 0.3=300*zero";
        let (inputs, words) = run("bitonic_sort", line, 3);
        let keys: Vec<f32> = words[0].iter().map(|b| f32::from_bits(*b)).collect();
        assert!(keys[..256].is_sorted() && keys[256..].is_sorted() && !keys.is_sorted());
        for (i, key) in inputs.words(1).into_iter().enumerate() {
            let place = i / 256 * 256 + words[2][i] as usize;
            assert_eq!((words[0][place], words[1][place] as usize), (key, i));
        }
    }

    #[test]
    fn radix_sort_is_stable_and_ignores_high_bits() {
        let line = "groups=1,1,1 0.0=1*u32(100)+1*u32(4)+2*zero 0.1=100*u32(0..64) 0.2=100*iota(0,1) 0.3=4*zero";
        let (_, words) = run("radix_sort", line, 9);
        let pairs: Vec<(u32, u32)> =
            words[0].iter().map(|k| k & 15).zip(words[1].iter().copied()).collect();
        assert!(pairs.is_sorted(), "by low bits, then by position");
        assert_eq!(words[2].iter().sum::<u32>(), 256);
    }

    #[test]
    fn small_scans_by_hand() {
        let fill = "1*u32(3)+1*u32(0)+1*u32(5)+1*u32(5)";
        let line = format!("groups=1,1,1 0.0=1*u32(4)+3*zero 0.1={fill} 0.2=4*zero 0.3=4*zero");
        let (_, words) = run("prefix_sum", &line, 0);
        assert_eq!(words, [vec![0, 3, 3, 8], vec![13, 5, 2, 1]]);
        let line =
            format!("groups=1,1,1 0.0=1*u32(4)+1*u32(5)+2*zero 0.1={fill} 0.2=4*zero 0.3=8*zero");
        let (_, words) = run("subgroup_reduce", &line, 0);
        assert_eq!(words, [vec![0, 3, 3, 8], vec![13, 0, 0, 5, 3, 2, 1, 0]]);
    }

    #[test]
    fn compact_partitions() {
        // The filter looks at swapped bytes: 1 becomes 0x01000000.
        let fill = "1*u32(1)+1*u32(9)+1*u32(2)+1*u32(1)";
        let line = format!(
            "groups=1,1,1 0.0=1*u32(4)+1*u32(0x01000000)+1*u32(0x03000000)+1*zero 0.1={fill} 0.2=4*zero 0.3=4*zero 0.4=4*zero"
        );
        let (_, words) = run("compact", &line, 0);
        assert_eq!(
            (&words[0][..], &words[1][..], &words[2][..3]),
            (&[1, 2, 1, 9][..], &[0, 2, 3, 1][..], &[3, 2, 2][..])
        );
    }

    #[test]
    fn requantisation_rounds_halves_away() {
        assert_eq!(requantise(1000, 1 << 30, 0), 500);
        assert_eq!(requantise(1000, 1 << 30, 3), 63);
        assert_eq!(requantise(-1000, 1 << 30, 3), -63);
        assert_eq!(requantise(3, 1 << 30, 0), 2, "1.5");
        assert_eq!(requantise(-3, 1 << 30, 0), -1, "-1.5 and half");
    }
}
