//! Edit distance, the Game of Life and primality: exact.

use super::{Expected, Inputs, Word};

/// Prices of edits; an insertion or a deletion costs 1.
#[derive(Clone, Copy)]
struct Prices {
    substitution: u32,
    transposition: u32,
}

/// The distance, and the largest cell of the table on the way (optimal string alignment).
fn distance(a: &[u8], b: &[u8], prices: Prices) -> (u32, u32) {
    let mut table = vec![vec![0u32; b.len() + 1]; a.len() + 1];
    for i in 0..=a.len() {
        for j in 0..=b.len() {
            table[i][j] = if i == 0 || j == 0 {
                (i + j) as u32
            } else {
                let change = if a[i - 1] == b[j - 1] { 0 } else { prices.substitution };
                let mut best = (table[i - 1][j] + 1)
                    .min(table[i][j - 1] + 1)
                    .min(table[i - 1][j - 1] + change);
                if i > 1
                    && j > 1
                    && a[i - 1] != b[j - 1]
                    && a[i - 1] == b[j - 2]
                    && a[i - 2] == b[j - 1]
                {
                    best = best.min(table[i - 2][j - 2] + prices.transposition);
                }
                best
            };
        }
    }
    let largest = table.iter().flatten().copied().max().unwrap_or(0);
    (table[a.len()][b.len()], largest)
}

/// Distance, common prefix and largest cell of each pair of texts.
pub(super) fn edit_distance(inputs: &Inputs) -> Vec<Expected> {
    let params = inputs.words(0);
    let stride = 4 * params[0] as usize;
    let prices = Prices { substitution: params[1], transposition: params[2] };
    let letters: Vec<u8> =
        inputs.words(2).iter().flat_map(|w| w.to_le_bytes()).map(|b| b & params[3] as u8).collect();
    let mut results = Vec::new();
    for (pair, lengths) in inputs.words(1).chunks_exact(2).enumerate() {
        let text = |which: usize| {
            let start = (2 * pair + which) * stride;
            &letters[start..start + (lengths[which] as usize).min(stride).min(63)]
        };
        let (a, b) = (text(0), text(1));
        let prefix = a.iter().zip(b).take_while(|(x, y)| x == y).count();
        let (cost, largest) = distance(a, b, prices);
        results.extend([cost, prefix as u32, largest, 0]);
    }
    vec![Expected::exact(3, results)]
}

/// One generation on a torus, cell by cell.
fn next_generation(cells: &[Vec<bool>], births: u32, survivals: u32) -> Vec<Vec<bool>> {
    let (rows, columns) = (cells.len(), cells[0].len());
    let cell = |row: usize, column: usize| {
        let mut neighbours = 0;
        for down in [rows - 1, 0, 1] {
            for right in [columns - 1, 0, 1] {
                let counted = (down, right) != (0, 0)
                    && cells[(row + down) % rows][(column + right) % columns];
                neighbours += u32::from(counted);
            }
        }
        let rule = if cells[row][column] { survivals } else { births };
        rule >> neighbours & 1 == 1
    };
    (0..rows).map(|row| (0..columns).map(|column| cell(row, column)).collect()).collect()
}

/// The board after some generations, and of each its population, births and deaths.
pub(super) fn life(inputs: &Inputs) -> Vec<Expected> {
    let params = inputs.words(0);
    let (words, rows, generations) = (params[0] as usize, params[1] as usize, params[2] as usize);
    let mut board = inputs.words(1);
    let mut census = inputs.words(2);
    let mut cells: Vec<Vec<bool>> = (0..rows)
        .map(|row| {
            (0..32 * words)
                .map(|column| board[row * words + column / 32] >> (column % 32) & 1 == 1)
                .collect()
        })
        .collect();
    for generation in 0..generations {
        let next = next_generation(&cells, params[3] & 0xffff, params[3] >> 16);
        let count = |test: fn(bool, bool) -> bool| {
            let pairs = cells.iter().flatten().zip(next.iter().flatten());
            pairs.filter(|(before, after)| test(**before, **after)).count() as u32
        };
        let line = [count(|_, after| after), count(|b, a| a && !b), count(|b, a| b && !a), 0];
        census[4 * generation..4 * generation + 4].copy_from_slice(&line);
        cells = next;
    }
    for (row, line) in cells.iter().enumerate() {
        for (word, bits) in line.chunks_exact(32).enumerate() {
            board[row * words + word] =
                bits.iter().rev().fold(0, |w, alive| w << 1 | u32::from(*alive));
        }
    }
    vec![Expected::exact(1, board), Expected::exact(2, census)]
}

fn power_mod(base: u64, exponent: u64, modulus: u64) -> u64 {
    let modulus = u128::from(modulus);
    let (mut result, mut square) = (1 % modulus, u128::from(base) % modulus);
    for bit in 0..64 {
        if exponent >> bit & 1 == 1 {
            result = result * square % modulus;
        }
        square = square * square % modulus;
    }
    result as u64
}

/// How many of the first twelve primes were tried as bases until one showed that odd `n` is composite; `None`: prime.
fn witness(n: u64) -> Option<u32> {
    let twos = (n - 1).trailing_zeros();
    let odd = (n - 1) >> twos;
    [2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37].iter().zip(1..).find_map(|(base, tried)| {
        let mut power = power_mod(*base, odd, n);
        let mut passes = power == 1 || power == n - 1;
        for _ in 1..twos {
            power = power_mod(power, 2, n);
            passes |= power == n - 1;
        }
        (!passes).then_some(tried)
    })
}

/// Verdicts on 64-bit integers: prime or not, smallest factor below 256, bases tried, and 2^64 mod n where bases were.
pub(super) fn miller_rabin(inputs: &Inputs) -> Vec<Expected> {
    let params = inputs.words(0);
    let mut verdicts = Vec::new();
    let mut remainders = Vec::new();
    for pair in inputs.words(1).chunks_exact(2).take(params[0] as usize) {
        let n = (u64::from(pair[1]) << 32 | u64::from(pair[0])) | u64::from(params[1] != 0);
        let factor = (2..256u64).take_while(|p| p * p <= n).find(|p| n % p == 0).unwrap_or(0);
        let (mut prime, mut tried, mut remainder) = (n >= 2 && factor == 0, 0, 0);
        if prime && n >= 65536 {
            let found = witness(n);
            prime = found.is_none();
            tried = found.unwrap_or(12);
            remainder = ((1u128 << 64) % u128::from(n)) as u64;
        }
        let known = [u32::from(prime), factor as u32, tried].map(Word::Exact);
        verdicts.extend(known);
        verdicts.push(Word::Any); // the number of multiplications is the shader's own affair
        remainders.extend([remainder as u32, (remainder >> 32) as u32]);
    }
    vec![Expected { binding: 2, words: verdicts }, Expected::exact(3, remainders)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances_by_hand() {
        let unit = Prices { substitution: 1, transposition: 1 };
        for (a, b, cost) in [
            ("kitten", "sitting", 3),
            ("ca", "ac", 1),
            ("ca", "abc", 3), // restricted: a transposed pair is not edited again
            ("", "abc", 3),
            ("same", "same", 0),
        ] {
            assert_eq!(distance(a.as_bytes(), b.as_bytes(), unit).0, cost, "{a} {b}");
            assert_eq!(distance(b.as_bytes(), a.as_bytes(), unit).0, cost, "{b} {a}");
        }
        let dear = Prices { substitution: 9, transposition: 9 };
        assert_eq!(distance(b"ab", b"cb", dear).0, 2, "delete and insert");
    }

    #[test]
    fn a_glider_travels() {
        let mut cells = vec![vec![false; 8]; 8];
        for (row, column) in [(0, 1), (1, 2), (2, 0), (2, 1), (2, 2)] {
            cells[row][column] = true;
        }
        let mut after = cells.clone();
        for _ in 0..4 {
            after = next_generation(&after, 1 << 3, 1 << 2 | 1 << 3);
        }
        for row in 0..8 {
            for column in 0..8 {
                assert_eq!(after[(row + 1) % 8][(column + 1) % 8], cells[row][column]);
            }
        }
    }

    #[test]
    fn primes_agree_with_trial_division() {
        // Above the bases: a base that n divides says nothing.
        for n in (41..20_001u64).step_by(2) {
            let prime = (3..n).step_by(2).take_while(|d| d * d <= n).all(|d| n % d != 0);
            assert_eq!(witness(n).is_none(), prime, "{n}");
        }
        assert_eq!(witness(18_446_744_073_709_551_557), None, "the largest prime below 2^64");
        assert_eq!(
            witness(3_215_031_751),
            Some(5),
            "the first strong pseudoprime to 2, 3, 5 and 7"
        );
    }
}
