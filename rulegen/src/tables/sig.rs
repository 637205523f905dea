//! Signatures: `(int, uint32) -> float64x4`.

use std::fmt;

use super::E_SIGNATURE;
use crate::diagnostics::Diagnostic;
use crate::expr::{Base, SourceText, Ty, Width};

/// The type of an operand or result in a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SigTy {
    /// What the bits mean.
    pub base: Base,
    /// Bit size; `None` = the opcode's own width, `BITS`.
    pub bits: Option<u8>,
    /// Components; `None` = per component.
    pub comps: Option<u8>,
}

impl SigTy {
    /// The type in expressions: bools of every size are `bool`, a per-component operand is a scalar.
    pub fn ty(self) -> Ty {
        let width = self.bits.map_or(Width::Bits, Width::Fixed);
        Ty::scalar(self.base, width).with_comps(self.comps.unwrap_or(1))
    }

    /// Whether a value of this base may have so many bits.
    pub fn admits(self, bits: u8) -> bool {
        match self.base {
            Base::Bool => matches!(bits, 1 | 8 | 16 | 32),
            Base::Int | Base::Uint => matches!(bits, 1 | 8 | 16 | 32 | 64),
            Base::Float => matches!(bits, 16 | 32 | 64),
        }
    }
}

impl fmt::Display for SigTy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.base.name())?;
        if let Some(bits) = self.bits {
            write!(f, "{bits}")?;
        }
        if let Some(comps) = self.comps {
            write!(f, "x{comps}")?;
        }
        Ok(())
    }
}

/// Operands and result of an opcode.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Signature {
    /// Operands in order: `a`, `b`, `c`, …
    pub inputs: Vec<SigTy>,
    /// Result.
    pub output: SigTy,
}

/// Names of operands by position, in expressions and SPIR-V forms.
pub const OPERANDS: [&str; 16] =
    ["a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l", "m", "n", "o", "p"];

impl Signature {
    /// Reads a signature.
    pub fn parse(source: &SourceText) -> Result<Signature, Diagnostic> {
        let text = source.text.as_str();
        let whole = |message: &str| source.error(E_SIGNATURE, 0..text.len(), message);
        let open = text.find('(').ok_or_else(|| whole("a signature starts with `(`"))?;
        let close =
            text.find(')').ok_or_else(|| whole("the operands of a signature end with `)`"))?;
        if !text[..open].trim().is_empty() || close < open {
            return Err(whole("a signature starts with `(`"));
        }
        let arrow = text[close..]
            .find("->")
            .map(|i| close + i)
            .ok_or_else(|| whole("a signature has `->` and a result"))?;
        if !text[close + 1..arrow].trim().is_empty() {
            return Err(source.error(E_SIGNATURE, close + 1..arrow, "`->` follows the operands"));
        }
        let mut inputs = Vec::new();
        let mut start = open + 1;
        if !text[start..close].trim().is_empty() {
            for part in text[start..close].split(',') {
                inputs.push(parse_ty(source, start, part)?);
                start += part.len() + 1;
            }
        }
        if inputs.len() > OPERANDS.len() {
            return Err(whole("more than 16 operands"));
        }
        Ok(Signature { inputs, output: parse_ty(source, arrow + 2, &text[arrow + 2..])? })
    }

    /// Operands and result.
    pub fn types(&self) -> impl Iterator<Item = SigTy> + '_ {
        self.inputs.iter().copied().chain([self.output])
    }

    /// Whether the result is computed component by component.
    pub fn per_component(&self) -> bool {
        self.output.comps.is_none()
    }
}

impl fmt::Display for Signature {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("(")?;
        for (i, ty) in self.inputs.iter().enumerate() {
            write!(f, "{}{ty}", if i > 0 { ", " } else { "" })?;
        }
        write!(f, ") -> {}", self.output)
    }
}

/// Reads one type, which is `part`, at byte `start` of the text.
fn parse_ty(source: &SourceText, start: usize, part: &str) -> Result<SigTy, Diagnostic> {
    let name = part.trim();
    let lead = part.len() - part.trim_start().len();
    let span = start + lead..start + lead + name.len().max(1).min(part.len().max(1));
    let error = |message: String| source.error(E_SIGNATURE, span.clone(), message);
    let bases = [Base::Bool, Base::Int, Base::Uint, Base::Float];
    let Some(base) = bases.into_iter().find(|b| name.starts_with(b.name())) else {
        let base: String = name.chars().take_while(char::is_ascii_alphabetic).collect();
        return Err(error(format!("no type `{name}`")).suggest(&base, bases.map(Base::name)));
    };
    let rest = &name[base.name().len()..];
    let (bits, comps) = match rest.split_once('x') {
        Some((bits, comps)) => (bits, Some(comps)),
        None => (rest, None),
    };
    let number = |text: &str| text.parse::<u8>().ok().filter(|_| !text.starts_with(['0', '+']));
    let bits = match bits {
        "" => None,
        text => Some(number(text).ok_or_else(|| error(format!("`{text}` is no bit size")))?),
    };
    let comps = match comps {
        None => None,
        Some(text) => {
            let comps = number(text).filter(|n| matches!(n, 1..=5 | 8 | 16));
            Some(comps.ok_or_else(|| error(format!("no vector has `{text}` components")))?)
        }
    };
    let ty = SigTy { base, bits, comps };
    match bits {
        Some(bits) if !ty.admits(bits) => Err(error(format!("no {} has {bits} bits", base.name()))),
        _ => Ok(ty),
    }
}
