//! The binary as a stream of instructions, every length checked.

use super::tables::{OpInfo, tables};
use crate::error::Error;
use rspirv::spirv;
use spirv::Op;
use std::borrow::Cow;

/// Words before the first instruction.
pub(super) const HEADER: usize = 5;
/// The largest id bound of the universal limits (SPIR-V 2.17).
const MAX_BOUND: u32 = 0x40_0000;

/// The header's words that matter.
#[derive(Clone, Copy, Debug)]
pub(super) struct Header {
    pub version: (u8, u8),
    pub bound: u32,
}

/// Checks the header and brings the words into the machine's byte order.
pub(super) fn open(words: &[u32]) -> Result<(Header, Cow<'_, [u32]>), Error> {
    let Some(&magic) = words.first() else {
        return Err(Error::invalid("the module is empty"));
    };
    let words = match magic {
        spirv::MAGIC_NUMBER => Cow::Borrowed(words),
        m if m.swap_bytes() == spirv::MAGIC_NUMBER => {
            Cow::Owned(words.iter().map(|w| w.swap_bytes()).collect())
        }
        m => return Err(Error::invalid(format!("{m:#010x} is not SPIR-V's magic number"))),
    };
    if words.len() < HEADER {
        return Err(Error::invalid("the header has fewer than five words"));
    }
    let [_, major, minor, _] = words[1].to_be_bytes();
    if major != 1 || minor > 6 {
        return Err(Error::unsupported(format!("SPIR-V {major}.{minor}")));
    }
    let bound = words[3];
    if bound == 0 || bound > MAX_BOUND {
        return Err(Error::limit(format!("an id bound of {bound}")));
    }
    if words.len() > u32::MAX as usize {
        return Err(Error::limit("more than 2³² words"));
    }
    Ok((Header { version: (major, minor), bound }, words))
}

/// An instruction, its result type and result apart from the other operands.
#[derive(Clone, Copy, Debug)]
pub(super) struct Inst<'w> {
    pub op: Op,
    pub info: &'static OpInfo,
    /// Word at which it begins.
    pub at: usize,
    /// Id of the result's type, 0 = none.
    pub ty: u32,
    /// Id of the result, 0 = none.
    pub id: u32,
    /// The operands behind them.
    pub args: &'w [u32],
}

impl<'w> Inst<'w> {
    /// Operand `n`.
    pub fn arg(&self, n: usize) -> Result<u32, Error> {
        self.args.get(n).copied().ok_or_else(|| self.error(Error::invalid("an operand is missing")))
    }

    /// The operands from `n` on.
    pub fn rest(&self, n: usize) -> &'w [u32] {
        self.args.get(n..).unwrap_or(&[])
    }

    /// The error with the place, unless it has one.
    pub fn error(&self, mut error: Error) -> Error {
        if error.word.is_none() {
            error.word = Some(self.at);
            error.op = Some(format!("Op{}", self.info.name));
            error.id = (self.id != 0).then_some(self.id);
        }
        error
    }

    /// The string that begins at operand `n`, and the operand behind it.
    pub fn string(&self, n: usize) -> Result<(String, usize), Error> {
        let mut bytes = Vec::new();
        for (i, word) in self.rest(n).iter().enumerate() {
            for byte in word.to_le_bytes() {
                if byte == 0 {
                    return Ok((String::from_utf8_lossy(&bytes).into_owned(), n + i + 1));
                }
                bytes.push(byte);
            }
        }
        Err(self.error(Error::invalid("a string does not end")))
    }
}

/// The instruction at word `at`, and the word behind it; `None` at the end of the words.
pub(super) fn next(words: &[u32], at: usize) -> Result<Option<(Inst<'_>, usize)>, Error> {
    let Some(&first) = words.get(at) else { return Ok(None) };
    let (count, number) = ((first >> 16) as usize, first & 0xffff);
    let place = |mut error: Error| {
        error.word = Some(at);
        error
    };
    let Some((op, info)) = tables().op(number) else {
        return Err(place(Error::unsupported(format!("instruction {number}"))));
    };
    let named = |mut error: Error| {
        error.op = Some(format!("Op{}", info.name));
        place(error)
    };
    if count == 0 || count > words.len() - at {
        return Err(named(Error::invalid(match count {
            0 => "an instruction of no words".to_owned(),
            _ => format!(
                "an instruction of {count} words, of which the module has {}",
                words.len() - at
            ),
        })));
    }
    let mut args = &words[at + 1..at + count];
    let mut take = |is: bool| match (is, args) {
        (false, _) => Ok(0),
        (true, [first, rest @ ..]) if *first != 0 => {
            args = rest;
            Ok(*first)
        }
        (true, _) => Err(named(Error::invalid("the result is missing"))),
    };
    let (ty, id) = (take(info.has_type)?, take(info.has_result)?);
    Ok(Some((Inst { op, info, at, ty, id, args }, at + count)))
}

/// The instructions of a range of words.
#[derive(Clone, Debug)]
pub(super) struct Insts<'w> {
    pub words: &'w [u32],
    pub at: usize,
    pub end: usize,
}

impl<'w> Iterator for Insts<'w> {
    type Item = Result<Inst<'w>, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.at >= self.end {
            return None;
        }
        match next(self.words, self.at) {
            Ok(Some((inst, after))) => {
                self.at = after;
                Some(Ok(inst))
            }
            Ok(None) => None,
            Err(e) => {
                self.at = self.end;
                Some(Err(e))
            }
        }
    }
}
