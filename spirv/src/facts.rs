//! What can be told of a binary without translating it: the ids of specialisation constants, debug information.

use spirv::{Decoration, Op};

/// Words before the first instruction.
const HEADER: usize = 5;

/// The instructions of a binary with the words at which they begin, as far as it is one.
fn instructions(words: &[u32]) -> impl Iterator<Item = (usize, &[u32])> {
    let mut at = HEADER;
    std::iter::from_fn(move || {
        let start = at;
        let count = (words.get(start)? >> 16) as usize;
        at += count.max(1);
        Some((start, words.get(start..start + count).filter(|w| !w.is_empty())?))
    })
}

/// The ids by which the API knows the module's specialisation constants (`SpecId`), ascending.
pub fn spec_ids(words: &[u32]) -> Vec<u32> {
    let mut ids: Vec<u32> = instructions(words)
        .filter(|(_, w)| w[0] & 0xffff == Op::Decorate as u32 && w.len() > 3)
        .filter(|(_, w)| w[2] == Decoration::SpecId as u32)
        .map(|(_, w)| w[3])
        .collect();
    ids.sort_unstable();
    ids.dedup();
    ids
}

/// The first instruction that tells of the source text: its word and its name. Names of ids are no such instruction.
pub fn debug_information(words: &[u32]) -> Option<(usize, String)> {
    const TELLS: [Op; 7] = [
        Op::SourceContinued,
        Op::Source,
        Op::SourceExtension,
        Op::String,
        Op::Line,
        Op::NoLine,
        Op::ModuleProcessed,
    ];
    let set = |w: &[u32]| {
        let bytes: Vec<u8> = w.iter().skip(2).flat_map(|w| w.to_le_bytes()).collect();
        bytes.starts_with(b"NonSemantic.") || bytes.starts_with(b"OpenCL.DebugInfo")
    };
    let tells = |w: &[u32]| {
        let op = w[0] & 0xffff;
        TELLS.iter().any(|o| *o as u32 == op) || (op == Op::ExtInstImport as u32 && set(w))
    };
    let (word, instr) = instructions(words).find(|(_, w)| tells(w))?;
    let op = Op::from_u32(instr[0] & 0xffff)?;
    Some((word, format!("Op{op:?}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEAD: [u32; 5] = [0x0723_0203, 0x0001_0300, 0, 9, 0];

    fn module(instructions: &[&[u32]]) -> Vec<u32> {
        let word = |i: &&[u32]| {
            let mut words = i.to_vec();
            words[0] |= (i.len() as u32) << 16;
            words
        };
        HEAD.into_iter().chain(instructions.iter().flat_map(word)).collect()
    }

    #[test]
    fn specialisation_constants_are_found() {
        let words = module(&[&[71, 4, 1, 7], &[71, 5, 33, 2], &[71, 6, 1, 3], &[71, 6, 1, 3]]);
        assert_eq!(spec_ids(&words), [3, 7]);
        assert_eq!(spec_ids(&words[..8]), [0; 0], "a cut instruction is none");
        assert_eq!(spec_ids(&[]), [0; 0]);
    }

    #[test]
    fn debug_information_is_found() {
        let line = module(&[&[17, 1], &[8, 3, 1, 1]]);
        assert_eq!(debug_information(&line), Some((7, "OpLine".into())));
        let import = |name: &[u8; 16]| {
            let mut i = vec![11, 3];
            i.extend(name.chunks(4).map(|c| u32::from_le_bytes([c[0], c[1], c[2], c[3]])));
            module(&[&i])
        };
        assert!(debug_information(&import(b"NonSemantic.X\0\0\0")).is_some());
        assert_eq!(debug_information(&import(b"GLSL.std.450\0\0\0\0")), None);
        assert_eq!(debug_information(&module(&[&[5, 3, 0x61]])), None, "names are no lines");
    }
}
