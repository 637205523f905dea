//! SHA-256, CRC-32, Adler-32 and ChaCha20, byte by byte from their specifications.

use super::{Expected, Inputs};

/// The first 32 bits of the fractional part of `root(prime)`; SHA-256's constants are defined that way.
///
/// Exact: the integer root of the prime times 2^64 (square) or 2^96 (cube), found bit by bit.
fn root_fraction(prime: u64, cube: bool) -> u32 {
    let mut root: u128 = 0;
    for bit in (0..36).rev() {
        let trial = root | 1 << bit;
        let fits = if cube {
            // trial^3 <= prime * 2^96, with at most 108 bits on the left.
            trial * trial * trial <= u128::from(prime) << 96
        } else {
            trial * trial <= u128::from(prime) << 64
        };
        if fits {
            root = trial;
        }
    }
    root as u32
}

fn primes() -> impl Iterator<Item = u64> {
    (2u64..).filter(|n| (2..*n).take_while(|d| d * d <= *n).all(|d| n % d != 0))
}

/// SHA-256 of a message of whole bytes (FIPS 180-4, section 6.2).
fn sha256_digest(message: &[u8]) -> [u32; 8] {
    let constants: Vec<u32> = primes().take(64).map(|p| root_fraction(p, true)).collect();
    let mut hash: Vec<u32> = primes().take(8).map(|p| root_fraction(p, false)).collect();
    let mut padded = message.to_vec();
    padded.push(0x80);
    while padded.len() % 64 != 56 {
        padded.push(0);
    }
    padded.extend_from_slice(&(8 * message.len() as u64).to_be_bytes());
    for block in padded.chunks_exact(64) {
        let mut schedule: Vec<u32> =
            block.chunks_exact(4).map(|c| u32::from_be_bytes([c[0], c[1], c[2], c[3]])).collect();
        for t in 16..64 {
            let (x, y) = (schedule[t - 15], schedule[t - 2]);
            let sigma0 = x.rotate_right(7) ^ x.rotate_right(18) ^ x >> 3;
            let sigma1 = y.rotate_right(17) ^ y.rotate_right(19) ^ y >> 10;
            schedule.push(
                sigma1
                    .wrapping_add(schedule[t - 7])
                    .wrapping_add(sigma0)
                    .wrapping_add(schedule[t - 16]),
            );
        }
        let mut v = hash.clone();
        for t in 0..64 {
            let sum1 = v[4].rotate_right(6) ^ v[4].rotate_right(11) ^ v[4].rotate_right(25);
            let choose = (v[4] & v[5]) ^ (!v[4] & v[6]);
            let t1 = [v[7], sum1, choose, constants[t], schedule[t]]
                .into_iter()
                .fold(0, u32::wrapping_add);
            let sum0 = v[0].rotate_right(2) ^ v[0].rotate_right(13) ^ v[0].rotate_right(22);
            let majority = (v[0] & v[1]) ^ (v[0] & v[2]) ^ (v[1] & v[2]);
            v.rotate_right(1);
            v[4] = v[4].wrapping_add(t1);
            v[0] = t1.wrapping_add(sum0).wrapping_add(majority);
        }
        for (h, x) in hash.iter_mut().zip(v) {
            *h = h.wrapping_add(x);
        }
    }
    std::array::from_fn(|i| hash[i])
}

/// Digests and leading zero bits of messages given as big-endian words.
pub(super) fn sha256(inputs: &Inputs) -> Vec<Expected> {
    let params = inputs.words(0);
    let (count, stride, rounds) = (params[0] as usize, params[1] as usize, params[2]);
    let (messages, lengths) = (inputs.words(1), inputs.words(2));
    let mut digests = Vec::new();
    let mut zeros = Vec::new();
    for i in 0..count {
        let bytes: Vec<u8> =
            messages[i * stride..(i + 1) * stride].iter().flat_map(|w| w.to_be_bytes()).collect();
        let mut digest = sha256_digest(&bytes[..(lengths[i] as usize).min(bytes.len())]);
        for _ in 1..rounds {
            let again: Vec<u8> = digest.iter().flat_map(|w| w.to_be_bytes()).collect();
            digest = sha256_digest(&again);
        }
        let full = digest.iter().take_while(|w| **w == 0).count();
        zeros.push(32 * full as u32 + digest.get(full).map_or(0, |w| w.leading_zeros()));
        digests.extend(digest);
    }
    vec![Expected::exact(3, digests), Expected::exact(4, zeros)]
}

/// CRC-32 bit by bit: the remainder of the reflected message by the reflected polynomial.
fn crc32_of(bytes: impl IntoIterator<Item = u8>) -> u32 {
    let mut crc = !0u32;
    for byte in bytes {
        crc ^= u32::from(byte);
        for _ in 0..8 {
            crc = crc >> 1 ^ if crc & 1 == 1 { 0xedb8_8320 } else { 0 };
        }
    }
    !crc
}

/// Adler-32 (RFC 1950, section 8.2).
fn adler32_of(bytes: &[u8]) -> u32 {
    let (mut a, mut b) = (1u64, 0u64);
    for byte in bytes {
        a += u64::from(*byte);
        b += a;
    }
    ((b % 65521) << 16 | a % 65521) as u32
}

/// Checksums of each message, and of the messages of each group of 64 together.
pub(super) fn crc32(inputs: &Inputs) -> Vec<Expected> {
    let params = inputs.words(0);
    let (count, stride) = (params[0] as usize, params[1] as usize);
    let bytes: Vec<u8> = inputs.words(1).iter().flat_map(|w| w.to_le_bytes()).collect();
    let messages: Vec<&[u8]> = bytes.chunks_exact(4 * stride).take(count).collect();
    let sums = messages.iter().flat_map(|m| [crc32_of(m.iter().copied()), adler32_of(m)]);
    let joined = messages.chunks(64).map(|group| crc32_of(group.concat()));
    vec![Expected::exact(2, sums), Expected::exact(3, joined)]
}

fn chacha_block(key: &[u32], counter: u32, nonce: &[u32], rounds: u32) -> [u32; 16] {
    const SIGMA: [u8; 16] = *b"expand 32-byte k";
    let mut initial = [0u32; 16];
    for (word, bytes) in initial.iter_mut().zip(SIGMA.chunks_exact(4)) {
        *word = u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
    }
    initial[4..12].copy_from_slice(key);
    initial[12] = counter;
    initial[13..].copy_from_slice(nonce);
    let mut state = initial;
    let mut quarter = |a: usize, b: usize, c: usize, d: usize| {
        for (x, y, z, by) in [(a, b, d, 16), (c, d, b, 12), (a, b, d, 8), (c, d, b, 7)] {
            state[x] = state[x].wrapping_add(state[y]);
            state[z] = (state[z] ^ state[x]).rotate_left(by);
        }
    };
    for _ in 0..rounds / 2 {
        quarter(0, 4, 8, 12);
        quarter(1, 5, 9, 13);
        quarter(2, 6, 10, 14);
        quarter(3, 7, 11, 15);
        quarter(0, 5, 10, 15);
        quarter(1, 6, 11, 12);
        quarter(2, 7, 8, 13);
        quarter(3, 4, 9, 14);
    }
    std::array::from_fn(|i| state[i].wrapping_add(initial[i]))
}

/// The message under the keystream (RFC 8439, section 2.4), and the xor of each block's words.
pub(super) fn chacha20(inputs: &Inputs) -> Vec<Expected> {
    let push = inputs.push_words();
    let (key, nonce, counter, words) = (&push[..8], &push[8..11], push[11], push[12] as usize);
    let rounds =
        inputs.specialisation.iter().find(|(id, _)| *id == 0).map_or(20, |(_, value)| *value);
    let mut cipher = inputs.words(0);
    let mut tags = inputs.words(1);
    for (block, chunk) in cipher[..words].chunks_mut(16).enumerate() {
        let stream = chacha_block(key, counter.wrapping_add(block as u32), nonce, rounds);
        for (word, mask) in chunk.iter_mut().zip(stream) {
            *word ^= mask;
        }
        tags[block] = chunk.iter().fold(0, |tag, word| tag ^ word);
    }
    vec![Expected::exact(0, cipher), Expected::exact(1, tags)]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hex(digest: [u32; 8]) -> String {
        digest.iter().map(|w| format!("{w:08x}")).collect()
    }

    /// The examples of FIPS 180-4's companion document, and the empty message.
    #[test]
    fn sha256_vectors() {
        for (message, digest) in [
            ("", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
            ("abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
            (
                "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
                "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1",
            ),
        ] {
            assert_eq!(hex(sha256_digest(message.as_bytes())), digest, "{message:?}");
        }
        let thousand = vec![b'a'; 1000];
        assert_eq!(
            hex(sha256_digest(&thousand)),
            "41edece42d63e8d9bf515a9ba6932e1c20cbc9f5a5d134645adb5db1b9737ea3"
        );
    }

    /// The check values that the two sums are known by.
    #[test]
    fn checksums_of_known_texts() {
        assert_eq!(crc32_of(*b"123456789"), 0xcbf4_3926);
        assert_eq!(adler32_of(b"Wikipedia"), 0x11e6_0398);
    }

    /// RFC 8439, section 2.3.2.
    #[test]
    fn chacha_block_of_the_rfc() {
        let key: Vec<u32> = (0..8u32).map(|i| 0x0302_0100 + 0x0404_0404 * i).collect();
        let block = chacha_block(&key, 1, &[0x0900_0000, 0x4a00_0000, 0], 20);
        let expected = [
            0xe4e7_f110,
            0x1559_3bd1,
            0x1fdd_0f50,
            0xc471_20a3,
            0xc7f4_d1c7,
            0x0368_c033,
            0x9aaa_2204,
            0x4e6c_d4c3,
            0x4664_82d2,
            0x09aa_9f07,
            0x05d7_c214,
            0xa202_8bd9,
            0xd19c_12b5,
            0xb94e_16de,
            0xe883_d0cb,
            0x4e3c_50a2,
        ];
        assert_eq!(block, expected);
    }
}
