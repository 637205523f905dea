//! The `deburr-run` line of an example: how to dispatch it and what to put into its buffers.
//!
//! `examples/README.md` has the grammar. Sections: the parsed line; filled inputs; the random words.

use std::fmt;

use super::words;

/// What to put into consecutive words.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Kind {
    Bits,
    Value(u32),
    UnsignedBetween(u32, u32),
    SignedBetween(i32, i32),
    FloatBetween(f32, f32),
    HalfBetween(f32, f32),
    Iota(u32, u32),
}

type Fill = Vec<(usize, Kind)>;

#[derive(Clone, Debug)]
struct BufferSpec {
    set: u32,
    binding: u32,
    fill: Fill,
    output: bool,
}

/// How an example is run.
#[derive(Clone, Debug)]
pub struct RunLine {
    /// Workgroups to dispatch.
    pub groups: [u32; 3],
    /// Specialisation constants: id and value.
    pub specialisation: Vec<(u32, u32)>,
    push: Fill,
    buffers: Vec<BufferSpec>,
}

/// A line that doesn't follow the grammar: the item that is wrong.
#[derive(Clone, Debug, PartialEq)]
pub struct LineError(String);

impl fmt::Display for LineError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "deburr-run: {}", self.0)
    }
}

impl std::error::Error for LineError {}

const MARK: &str = "// deburr-run:";

impl RunLine {
    /// The line of a shader's source text.
    ///
    /// # Errors
    ///
    /// No such line, more than one, or one with an item that doesn't follow the grammar.
    pub fn of_source(source: &str) -> Result<RunLine, LineError> {
        let mut lines = source.lines().filter_map(|line| line.trim().strip_prefix(MARK));
        let line = lines.next().ok_or_else(|| LineError("no such line".into()))?;
        if lines.next().is_some() {
            return Err(LineError("more than one line".into()));
        }
        RunLine::parse(line)
    }

    /// What follows `// deburr-run:`.
    ///
    /// # Errors
    ///
    /// The first item that doesn't follow the grammar.
    pub fn parse(line: &str) -> Result<RunLine, LineError> {
        let mut run = RunLine {
            groups: [0; 3],
            specialisation: Vec::new(),
            push: Vec::new(),
            buffers: Vec::new(),
        };
        for item in line.split_whitespace() {
            run.item(item).ok_or_else(|| LineError(format!("cannot read `{item}`")))?;
        }
        if run.groups.contains(&0) {
            return Err(LineError("no groups".into()));
        }
        Ok(run)
    }

    fn item(&mut self, item: &str) -> Option<()> {
        let (key, value) = item.split_once('=')?;
        match key {
            "groups" => {
                let sizes: Vec<u32> = value.split(',').map(integer).collect::<Option<_>>()?;
                self.groups = sizes.try_into().ok()?;
            }
            "push" => self.push = fill(value)?,
            "spec" => {
                let (id, value) = value.split_once(':')?;
                self.specialisation.push((integer(id)?, integer(value)?));
            }
            _ => {
                let (set, binding) = key.split_once('.')?;
                let (value, output) = match value.strip_suffix(":out") {
                    Some(value) => (value, true),
                    None => (value, false),
                };
                let (set, binding) = (integer(set)?, integer(binding)?);
                if self.buffers.iter().any(|b| b.set == set && b.binding == binding) {
                    return None;
                }
                self.buffers.push(BufferSpec { set, binding, fill: fill(value)?, output });
            }
        }
        Some(())
    }

    /// Buffers and push constants, filled; equal seeds give equal bytes.
    #[must_use]
    pub fn inputs(&self, seed: u64) -> Inputs {
        let buffers = self.buffers.iter().map(|b| Buffer {
            set: b.set,
            binding: b.binding,
            bytes: fill_bytes(
                &b.fill,
                seed ^ (u64::from(b.set) << 40) ^ (u64::from(b.binding + 1) << 8),
            ),
            output: b.output,
        });
        Inputs {
            groups: self.groups,
            specialisation: self.specialisation.clone(),
            push: fill_bytes(&self.push, seed ^ (1 << 56)),
            buffers: buffers.collect(),
        }
    }
}

fn integer(text: &str) -> Option<u32> {
    match text.strip_prefix("0x") {
        Some(digits) => u32::from_str_radix(digits, 16).ok(),
        None => text.parse().ok(),
    }
}

fn fill(text: &str) -> Option<Fill> {
    text.split('+')
        .map(|run| run.split_once('*').and_then(|(n, k)| Some((n.parse().ok()?, kind(k)?))))
        .collect()
}

fn kind(text: &str) -> Option<Kind> {
    match text {
        "zero" => return Some(Kind::Value(0)),
        "bits" => return Some(Kind::Bits),
        _ => {}
    }
    let (name, rest) = text.split_once('(')?;
    let arguments = rest.strip_suffix(')')?;
    if name == "iota" {
        let (first, step) = arguments.split_once(',')?;
        return Some(Kind::Iota(integer(first)?, integer(step)?));
    }
    match (name, arguments.split_once("..")) {
        ("u32", None) => Some(Kind::Value(integer(arguments)?)),
        ("i32", None) => Some(Kind::Value(arguments.parse::<i32>().ok()?.cast_unsigned())),
        ("f32", None) => Some(Kind::Value(arguments.parse::<f32>().ok()?.to_bits())),
        ("u32", Some((low, high))) => {
            let (low, high) = (integer(low)?, integer(high)?);
            (low < high).then_some(Kind::UnsignedBetween(low, high))
        }
        ("i32", Some((low, high))) => {
            let (low, high) = (low.parse::<i32>().ok()?, high.parse::<i32>().ok()?);
            (low < high).then_some(Kind::SignedBetween(low, high))
        }
        ("f32" | "f16", Some((low, high))) => {
            let (low, high) = (low.parse::<f32>().ok()?, high.parse::<f32>().ok()?);
            let kind = if name == "f32" { Kind::FloatBetween } else { Kind::HalfBetween };
            (low < high).then(|| kind(low, high))
        }
        _ => None,
    }
}

/// One buffer of a run.
#[derive(Clone, Debug)]
pub struct Buffer {
    /// Descriptor set.
    pub set: u32,
    /// Binding in the set.
    pub binding: u32,
    /// Content before the run.
    pub bytes: Vec<u8>,
    /// The shader writes it.
    pub output: bool,
}

/// Everything that a run of an example is given.
#[derive(Clone, Debug)]
pub struct Inputs {
    /// Workgroups to dispatch.
    pub groups: [u32; 3],
    /// Specialisation constants: id and value.
    pub specialisation: Vec<(u32, u32)>,
    /// Push constants.
    pub push: Vec<u8>,
    /// Buffers, in the order of the line.
    pub buffers: Vec<Buffer>,
}

impl Inputs {
    /// The words of a buffer of set 0. A reference asks only for what its example's line has: a test holds it to that.
    pub(super) fn words(&self, binding: u32) -> Vec<u32> {
        let buffer = self.buffers.iter().find(|b| b.set == 0 && b.binding == binding);
        buffer.map(|b| words(&b.bytes).collect()).unwrap_or_default()
    }

    /// Its words as floats, widened.
    pub(super) fn floats(&self, binding: u32) -> Vec<f64> {
        self.words(binding).into_iter().map(|w| f64::from(f32::from_bits(w))).collect()
    }

    /// Its words as signed integers.
    pub(super) fn integers(&self, binding: u32) -> Vec<i32> {
        self.words(binding).into_iter().map(u32::cast_signed).collect()
    }

    /// The words of the push constants.
    pub(super) fn push_words(&self) -> Vec<u32> {
        words(&self.push).collect()
    }
}

fn fill_bytes(fill: &Fill, seed: u64) -> Vec<u8> {
    let mut random = SplitMix(seed);
    let mut bytes = Vec::new();
    for &(count, kind) in fill {
        for index in 0..count {
            bytes.extend_from_slice(&word_of(kind, index, &mut random).to_le_bytes());
        }
    }
    bytes
}

fn word_of(kind: Kind, index: usize, random: &mut SplitMix) -> u32 {
    match kind {
        Kind::Bits => random.next_word(),
        Kind::Value(value) => value,
        Kind::UnsignedBetween(low, high) => low + random.below(high - low),
        Kind::SignedBetween(low, high) => {
            low.wrapping_add_unsigned(random.below(high.abs_diff(low))).cast_unsigned()
        }
        Kind::FloatBetween(low, high) => random.between(low, high).to_bits(),
        Kind::HalfBetween(low, high) => {
            let first = half(random.between(low, high));
            first | half(random.between(low, high)) << 16
        }
        Kind::Iota(first, step) => first.wrapping_add(step.wrapping_mul(index as u32)),
    }
}

/// The bits of a half, rounded toward zero; beyond the normal halves, zero.
fn half(x: f32) -> u32 {
    let bits = x.to_bits();
    let sign = bits >> 16 & 0x8000;
    let exponent = (bits >> 23 & 0xff) as i32 - 127 + 15;
    if (1..31).contains(&exponent) {
        sign | (exponent as u32) << 10 | (bits >> 13 & 0x3ff)
    } else {
        sign
    }
}

/// SplitMix64 (Steele, Lea, Flood 2014).
struct SplitMix(u64);

impl SplitMix {
    fn next_word(&mut self) -> u32 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z >> 32) as u32 ^ z as u32
    }

    fn below(&mut self, bound: u32) -> u32 {
        (u64::from(self.next_word()) * u64::from(bound) >> 32) as u32
    }

    fn between(&mut self, low: f32, high: f32) -> f32 {
        let t = f64::from(self.next_word()) / f64::from(u32::MAX) * (1.0 - 1e-7);
        (f64::from(low) + t * (f64::from(high) - f64::from(low))) as f32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_every_kind() {
        let run = RunLine::parse(
            " groups=2,3,4 push=1*bits spec=1:0x10 0.0=1*u32(7)+1*i32(-2)+1*f32(0.5) \
             0.1=50*u32(3..9)+50*i32(-4..-1) 1.2=50*f32(-1..1):out 0.3=4*iota(5,3) 0.4=1*zero+1*f16(1..2)",
        )
        .unwrap();
        let inputs = run.inputs(1);
        assert_eq!(
            (inputs.groups, inputs.push.len(), &inputs.specialisation[..]),
            ([2, 3, 4], 4, &[(1, 16)][..])
        );
        assert_eq!(inputs.words(0), [7, (-2i32).cast_unsigned(), 0.5f32.to_bits()]);
        let mixed = inputs.integers(1);
        assert!(
            mixed[..50].iter().all(|v| (3..9).contains(v))
                && mixed[50..].iter().all(|v| (-4..-1).contains(v))
        );
        assert!((3..9).all(|v| mixed[..50].contains(&v)), "every value of a small range turns up");
        let floats = &inputs.buffers[2];
        assert_eq!((floats.set, floats.binding, floats.output), (1, 2, true));
        assert!(words(&floats.bytes).all(|w| (-1.0..1.0).contains(&f32::from_bits(w))));
        assert_eq!(inputs.words(3), [5, 8, 11, 14]);
        assert_eq!(
            inputs.words(4)[1] & 0xfc00_fc00,
            0x3c00_3c00,
            "halves from 1 to 2 have one exponent"
        );
    }

    #[test]
    fn inputs_depend_on_seed_and_binding_alone() {
        let run = RunLine::parse("groups=1,1,1 0.0=8*bits 0.1=8*bits").unwrap();
        let longer = RunLine::parse("groups=1,1,1 0.7=3*bits 0.0=8*bits 0.1=8*bits").unwrap();
        assert_eq!(run.inputs(5).words(1), longer.inputs(5).words(1));
        assert_ne!(run.inputs(5).words(0), run.inputs(5).words(1));
        assert_ne!(run.inputs(5).words(0), run.inputs(6).words(0));
    }

    #[test]
    fn refuses_what_the_grammar_lacks() {
        for line in [
            "0.0=1*zero",
            "groups=1,1 0.0=1*zero",
            "groups=1,1,1 0.0=1*nothing",
            "groups=1,1,1 0.0=1*u32(5..5)",
            "groups=1,1,1 0.0=zero",
            "groups=1,1,1 0.0=1*zero 0.0=1*zero",
            "groups=1,1,1 0.x=1*zero",
            "groups=1,1,1 loose",
        ] {
            assert!(RunLine::parse(line).is_err(), "{line}");
        }
        assert!(RunLine::of_source("fn main() {}").is_err());
    }
}
