//! What the examples must compute: expected buffers from input buffers, in plain Rust.
//!
//! Written from the algorithms' definitions (FIPS 180-4, RFC 8439, a DFT, a sort, …), in double precision or exact
//! integers where the shader has neither, and not from the shaders' code: a Fourier transform is checked against the sum
//! that defines it, a bitonic sort against `sort`. Nothing here uses another crate of the workspace.
//!
//! A test takes an example's [`RunLine`], fills its buffers with [`RunLine::inputs`], runs the shader on them by whatever
//! means, and hands the buffers afterwards to [`check`].

mod coding;
mod dense;
mod hashing;
mod image;
mod integer;
mod run_line;
mod statistics;
mod transform;

pub use run_line::{Buffer, Inputs, RunLine};

/// What is known about one 32-bit word of an output buffer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Word {
    /// These bits.
    Exact(u32),
    /// A signed integer at most `within` away from `value`.
    Integer {
        /// The expected value.
        value: i32,
        /// The largest difference that is still right.
        within: u32,
    },
    /// Four bytes, each at most `within` away from that of `value`.
    Bytes {
        /// The expected bytes, lowest first.
        value: u32,
        /// The largest difference of a byte that is still right.
        within: u8,
    },
    /// A float at most `within` away from `value`.
    Float {
        /// The expected value.
        value: f64,
        /// The largest absolute difference that is still right.
        within: f64,
    },
    /// Padding, or something that the definition doesn't determine.
    Any,
}

impl Word {
    /// A float with an error relative to itself and one relative to `scale`, the size of the terms it is summed from.
    fn near(value: f64, relative: f64, scale: f64) -> Word {
        Word::Float { value, within: relative * (value.abs() + scale.abs()) }
    }

    fn holds(self, got: u32) -> bool {
        match self {
            Word::Exact(value) => got == value,
            Word::Integer { value, within } => (got as i32).abs_diff(value) <= within,
            Word::Bytes { value, within } => got
                .to_le_bytes()
                .iter()
                .zip(value.to_le_bytes())
                .all(|(g, v)| g.abs_diff(v) <= within),
            Word::Float { value, within } => {
                let got = f64::from(f32::from_bits(got));
                got == value || (got - value).abs() <= within || (got.is_nan() && value.is_nan())
            }
            Word::Any => true,
        }
    }
}

/// The expected content of one buffer of set 0.
#[derive(Clone, Debug)]
pub struct Expected {
    /// Its binding.
    pub binding: u32,
    /// Its words, from the first.
    pub words: Vec<Word>,
}

impl Expected {
    fn exact(binding: u32, words: impl IntoIterator<Item = u32>) -> Expected {
        Expected { binding, words: words.into_iter().map(Word::Exact).collect() }
    }
}

/// A computation of an example's output buffers from its inputs.
pub struct Reference {
    /// The example's file stem.
    pub name: &'static str,
    /// The buffers it must leave, of those marked `:out`.
    pub expected: fn(&Inputs) -> Vec<Expected>,
}

/// All references, by name.
pub const REFERENCES: &[Reference] = &[
    Reference { name: "bicubic", expected: image::bicubic },
    Reference { name: "bitonic_sort", expected: integer::bitonic_sort },
    Reference { name: "chacha20", expected: hashing::chacha20 },
    Reference { name: "compact", expected: integer::compact },
    Reference { name: "conv3x3", expected: image::conv3x3 },
    Reference { name: "crc32", expected: hashing::crc32 },
    Reference { name: "dct8x8", expected: transform::dct8x8 },
    Reference { name: "edit_distance", expected: coding::edit_distance },
    Reference { name: "fft", expected: transform::fft },
    Reference { name: "gaussian_blur", expected: image::gaussian_blur },
    Reference { name: "histogram", expected: image::histogram },
    Reference { name: "kmeans", expected: statistics::kmeans },
    Reference { name: "lattice_boltzmann", expected: dense::lattice_boltzmann },
    Reference { name: "layer_norm", expected: statistics::layer_norm },
    Reference { name: "life", expected: coding::life },
    Reference { name: "linear_solve", expected: dense::linear_solve },
    Reference { name: "mat4_inverse", expected: dense::mat4_inverse },
    Reference { name: "matmul", expected: dense::matmul },
    Reference { name: "miller_rabin", expected: coding::miller_rabin },
    Reference { name: "nbody", expected: dense::nbody },
    Reference { name: "prefix_sum", expected: integer::prefix_sum },
    Reference { name: "quantized_dot", expected: integer::quantized_dot },
    Reference { name: "radix_sort", expected: integer::radix_sort },
    Reference { name: "sha256", expected: hashing::sha256 },
    Reference { name: "softmax", expected: statistics::softmax },
    Reference { name: "spmv", expected: dense::spmv },
    Reference { name: "subgroup_reduce", expected: integer::subgroup_reduce },
];

/// The reference of an example, if there is one.
#[must_use]
pub fn find(name: &str) -> Option<&'static Reference> {
    REFERENCES.iter().find(|reference| reference.name == name)
}

/// Compare buffers after a run with what a reference expects.
///
/// `output` gives the bytes of a binding of set 0.
///
/// # Errors
///
/// The first word that is wrong, with its expectation, and how many are.
pub fn check<'a>(
    expected: &[Expected],
    output: impl Fn(u32) -> Option<&'a [u8]>,
) -> Result<(), String> {
    for buffer in expected {
        let binding = buffer.binding;
        let bytes = output(binding).ok_or_else(|| format!("binding {binding}: no such buffer"))?;
        if bytes.len() != 4 * buffer.words.len() {
            return Err(format!(
                "binding {binding}: {} bytes, expected {}",
                bytes.len(),
                4 * buffer.words.len()
            ));
        }
        let mut wrong = buffer
            .words
            .iter()
            .zip(words(bytes))
            .enumerate()
            .filter(|(_, (w, got))| !w.holds(*got));
        if let Some((index, (word, got))) = wrong.next() {
            let more = wrong.count();
            let float = f32::from_bits(got);
            return Err(format!(
                "binding {binding}, word {index}: {got:#010x} ({float:?}), expected {word:?}; {more} more are wrong"
            ));
        }
    }
    Ok(())
}

/// Little-endian words of a buffer.
fn words(bytes: &[u8]) -> impl Iterator<Item = u32> + '_ {
    bytes.chunks_exact(4).map(|c| u32::from_le_bytes([c[0], c[1], c[2], c[3]]))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every example is listed and its run line parses; each reference speaks of buffers that its example writes, at
    /// their size.
    #[test]
    fn examples_are_listed_and_references_fit_their_run_lines() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples");
        // Rows of the README's tables on the run line, which begin like those on shaders.
        const KINDS_AND_ITEMS: usize = 5 + 6;
        let readme =
            std::fs::read_to_string(format!("{folder}/README.md")).expect("a list of the examples");
        let mut seen = Vec::new();
        for entry in std::fs::read_dir(folder).expect("the examples are beside the tests") {
            let path = entry.expect("a readable folder").path();
            if !path.extension().is_some_and(|e| e == "wgsl" || e == "comp") {
                continue;
            }
            let name = path.file_stem().and_then(|s| s.to_str()).expect("an ASCII name").to_owned();
            let line =
                RunLine::of_source(&std::fs::read_to_string(&path).expect("a text")).expect(&name);
            for seed in 0..3 {
                let inputs = line.inputs(seed);
                assert!(inputs.buffers.iter().any(|b| b.output), "{name}: nothing is written");
                let Some(reference) = find(&name) else { continue };
                for buffer in (reference.expected)(&inputs) {
                    let found =
                        inputs.buffers.iter().find(|b| b.set == 0 && b.binding == buffer.binding);
                    let found =
                        found.unwrap_or_else(|| panic!("{name}: no binding {}", buffer.binding));
                    assert!(found.output, "{name}: binding {} is not an output", buffer.binding);
                    assert_eq!(
                        found.bytes.len(),
                        4 * buffer.words.len(),
                        "{name}: size of {}",
                        buffer.binding
                    );
                }
            }
            let file = path.file_name().and_then(|s| s.to_str()).expect("an ASCII name").to_owned();
            assert!(
                readme.contains(&format!("| `{file}` |")),
                "examples/README.md doesn't list {file}"
            );
            if file.ends_with(".comp") {
                assert!(path.with_extension("spv").exists(), "{file} has no SPIR-V beside it");
            }
            seen.push(name);
        }
        assert_eq!(
            readme.matches("\n| `").count(),
            seen.len() + KINDS_AND_ITEMS,
            "examples/README.md lists what isn't there"
        );
        for reference in REFERENCES {
            assert!(
                seen.iter().any(|name| name == reference.name),
                "no example {}",
                reference.name
            );
        }
        assert!(seen.len() >= 30, "only {} examples", seen.len());
    }

    #[test]
    fn check_names_the_first_wrong_word() {
        let expected = [Expected {
            binding: 3,
            words: vec![
                Word::Exact(7),
                Word::Integer { value: -4, within: 1 },
                Word::Bytes { value: 0x10_20_30_ff, within: 2 },
                Word::Float { value: 0.5, within: 0.01 },
                Word::Any,
            ],
        }];
        let bytes =
            |words: [u32; 5]| words.iter().flat_map(|w| w.to_le_bytes()).collect::<Vec<u8>>();
        let minus_five = (-5i32).cast_unsigned();
        let right = bytes([7, minus_five, 0x12_1e_32_fd, 0.505f32.to_bits(), 99]);
        assert_eq!(check(&expected, |_| Some(&right)), Ok(()));
        for (index, wrong) in
            [8, (-2i32).cast_unsigned(), 0x13_20_30_ff, 0.52f32.to_bits()].into_iter().enumerate()
        {
            let mut bytes = right.clone();
            bytes[4 * index..4 * index + 4].copy_from_slice(&wrong.to_le_bytes());
            let message = check(&expected, |_| Some(&bytes)).expect_err("a wrong word");
            assert!(message.starts_with(&format!("binding 3, word {index}:")), "{message}");
        }
        assert!(check(&expected, |_| Some(&right[4..])).is_err());
        assert!(check(&expected, |_| None).is_err());
    }
}
