//! The opcode and intrinsic tables, read from TOML with the place of everything.
//!
//! - [`read`]: TOML values with spans, families, the complaints of one run.
//! - [`sig`]: how signatures are written.
//! - [`op`]: entries of `opcodes.toml`.
//! - [`intrinsic`]: entries of `intrinsics.toml`.
//! - [`range`]: the values that an intrinsic's result may have.

pub mod intrinsic;
pub mod op;
pub mod range;
pub mod read;
pub mod sig;
#[cfg(test)]
mod tests;

use std::sync::Arc;

pub use intrinsic::{Divergence, IndexDef, IndexKind, IntrinsicDef, IntrinsicForm, Memory};
pub use op::{Costs, OpDef, OpForm, Outside};
pub use range::{UpperEnd, ValueRange};
pub use sig::{SigTy, Signature};

use crate::diagnostics::{Code, CodeInfo, Diagnostic, Span};

/// Not TOML.
pub const E_TOML: Code = Code(101);
/// A key that nothing reads.
pub const E_KEY: Code = Code(102);
/// A key that has to be there.
pub const E_MISSING: Code = Code(103);
/// A value of the wrong kind.
pub const E_KIND: Code = Code(104);
/// A family that can't be expanded.
pub const E_FAMILY: Code = Code(105);
/// A signature that can't be read.
pub const E_SIGNATURE: Code = Code(106);
/// A name given twice.
pub const E_DUPLICATE: Code = Code(107);
/// A name that can't be used.
pub const E_BAD_NAME: Code = Code(108);
/// None of the words that may stand there.
pub const E_WORD: Code = Code(109);
/// Neither `eval` nor `quad`, or both.
pub const E_EVAL: Code = Code(110);
/// Sizes that an operand can't have.
pub const E_SIZES: Code = Code(111);
/// A property that the signature contradicts.
pub const E_PROPERTY: Code = Code(112);
/// No version, or an unknown one.
pub const E_VERSION: Code = Code(113);
/// A SPIR-V form that makes no sense.
pub const E_FORM: Code = Code(114);
/// A source or index that the entry doesn't have.
pub const E_REFERENCE: Code = Code(115);
/// More entries than ids.
pub const E_FULL: Code = Code(116);
/// A range of values that makes no sense.
pub const E_RANGE: Code = Code(117);

/// The codes of this module.
pub const CODES: &[CodeInfo] = &[
    CodeInfo {
        code: E_TOML,
        title: "the table is not TOML",
        explanation: "Tables are TOML 1.1 files. The message names the first thing that the TOML grammar doesn't have.",
    },
    CodeInfo {
        code: E_KEY,
        title: "a key is unknown",
        explanation: "Every key of an entry is read by something; one that nothing reads is a typing error. The head of \
                      the table lists the keys.",
    },
    CodeInfo {
        code: E_MISSING,
        title: "a key is missing",
        explanation: "Every entry has a name and documentation; opcodes have a signature as well.",
    },
    CodeInfo {
        code: E_KIND,
        title: "a value has the wrong kind",
        explanation: "The message says which kind of value (string, integer, list, …) the key takes.",
    },
    CodeInfo {
        code: E_FAMILY,
        title: "a family can't be expanded",
        explanation: "`for` is a list of tables, one a member, or a list of such lists, whose product is taken. Every \
                      row of a list has the same keys; values are strings or integers. `${key}` in any string of the \
                      entry is replaced by the value.",
    },
    CodeInfo {
        code: E_SIGNATURE,
        title: "a signature can't be read",
        explanation: "A signature is `(TYPE, …) -> TYPE`; a type is a base (int, uint, float, bool), a bit size or none \
                      for the opcode's own width, and `xN` where the operand has exactly N components.",
    },
    CodeInfo {
        code: E_DUPLICATE,
        title: "a name is given twice",
        explanation: "Names are the identity of opcodes, intrinsics and indices in text, rules and ledger.",
    },
    CodeInfo {
        code: E_BAD_NAME,
        title: "a name can't be used",
        explanation: "Names are made of lower-case letters, digits and underscores, start with a letter, and are no \
                      keyword of Rust. An opcode can't be named like a function of the expression language, because a \
                      rule's replacement may use both.",
    },
    CodeInfo {
        code: E_WORD,
        title: "a word is not one of those that may stand there",
        explanation: "The message lists the words that the key takes.",
    },
    CodeInfo {
        code: E_EVAL,
        title: "an opcode has one meaning",
        explanation: "An opcode has either `eval`, an expression over its operands, or `quad`, the kind of derivative \
                      that the interpreter computes over a quad of invocations.",
    },
    CodeInfo {
        code: E_SIZES,
        title: "an operand can't have such a size",
        explanation: "Integers have 8, 16, 32 or 64 bits (1 where the opcode says so), floats 16, 32 or 64, bools 1, 8, \
                      16 or 32. `sizes` lists values of the width that operands without a size share.",
    },
    CodeInfo {
        code: E_PROPERTY,
        title: "a property contradicts the signature",
        explanation: "A commutative opcode has two leading operands of one type; an associative one has only operands \
                      of the result's type.",
    },
    CodeInfo {
        code: E_VERSION,
        title: "the format's version is missing or unknown",
        explanation: "An opcode table starts with `deburr_opcodes = 1`, an intrinsic table with `deburr_intrinsics = 1`; \
                      a dialect's table may have both.",
    },
    CodeInfo {
        code: E_FORM,
        title: "a SPIR-V form makes no sense",
        explanation: "A form names one instruction: `op` of the core, `ext` of GLSL.std.450, or `builtin` for a system \
                      value.",
    },
    CodeInfo {
        code: E_REFERENCE,
        title: "an entry refers to a source or index that it doesn't have",
        explanation: "Letters count the sources from `a`; `@name` is a const index of the entry.",
    },
    CodeInfo {
        code: E_FULL,
        title: "more entries than ids",
        explanation: "Ids below 0x4000 belong to the built-in tables, those above to dialects; const indices have 8 bits.",
    },
    CodeInfo {
        code: E_RANGE,
        title: "a range of values makes no sense",
        explanation: "`range` says which values each component of a result may have: `LO..=HI` with both ends, or \
                      `LO..HI` without the upper one. Both ends are unsigned integers or both are floats with a point \
                      (`0.0`) or `inf`; the upper end may be `workgroup_size` or `workgroup_invocations`. Some value \
                      has to be in it, and it has to fit into every bit size of the result.",
    },
];

/// Both tables.
#[derive(Clone, Debug, Default)]
pub struct Tables {
    /// Opcodes in order; the position is the id.
    pub ops: Vec<OpDef>,
    /// Const indices in order; the position is the id.
    pub indices: Vec<IndexDef>,
    /// Intrinsics in order; the position is the id.
    pub intrinsics: Vec<IntrinsicDef>,
    /// Version of the opcodes' semantics: part of every ledger key.
    pub semantics_version: u32,
}

/// A file as the tables' reader takes it.
#[derive(Clone, Debug)]
pub struct TableFile {
    /// Its name, as diagnostics and generated comments show it: relative, so that generated code is the same anywhere.
    pub name: Arc<str>,
    /// Its text.
    pub text: String,
    /// Where lines end, ascending.
    newlines: Vec<usize>,
}

impl TableFile {
    /// A file of that name and content.
    pub fn new(name: &str, text: impl Into<String>) -> TableFile {
        let text = text.into();
        let newlines = text.match_indices('\n').map(|(at, _)| at).collect();
        TableFile { name: name.into(), text, newlines }
    }

    /// The line of a byte, from 1.
    fn line(&self, offset: usize) -> u32 {
        self.newlines.partition_point(|&at| at < offset) as u32 + 1
    }
}

/// Where an entry stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The file's name.
    pub file: Arc<str>,
    /// The entry's name in it.
    pub span: Span,
    /// Line of that, from 1.
    pub line: u32,
}

impl Tables {
    /// Reads tables: each file may have opcodes, indices and intrinsics. With any error there are no tables; warnings
    /// are returned beside them.
    pub fn parse(files: &[TableFile]) -> Result<Tables, Vec<Diagnostic>> {
        Tables::parse_over(files, None)
    }

    /// Reads a dialect's tables; names of `builtin` are known and can't be given again.
    pub fn parse_over(
        files: &[TableFile],
        builtin: Option<&Tables>,
    ) -> Result<Tables, Vec<Diagnostic>> {
        let mut tables = Tables::default();
        let mut log = Vec::new();
        for file in files {
            read::read_file(file, &mut tables, builtin, &mut log);
        }
        match log.is_empty() {
            true => Ok(tables),
            false => Err(log),
        }
    }

    /// The opcode of that name, with its id.
    pub fn op(&self, name: &str) -> Option<(usize, &OpDef)> {
        self.ops.iter().enumerate().find(|(_, op)| op.name == name)
    }

    /// The intrinsic of that name, with its id.
    pub fn intrinsic(&self, name: &str) -> Option<(usize, &IntrinsicDef)> {
        self.intrinsics.iter().enumerate().find(|(_, i)| i.name == name)
    }

    /// The const index of that name, with its id.
    pub fn index(&self, name: &str) -> Option<(usize, &IndexDef)> {
        self.indices.iter().enumerate().find(|(_, i)| i.name == name)
    }
}
