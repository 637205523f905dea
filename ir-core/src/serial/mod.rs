//! Modules as bytes: compact, and independent of the numbers that opcodes and intrinsics have in this build.
//!
//! A file is the magic `DBIR`, the version, a table of strings, then the module in the order of its text. Numbers are
//! LEB128 (unsigned, seven bits a byte, lowest first), names are places in the string table. Instructions are
//! numbered in order and blocks too; an operand is the distance from its user, zigzag-coded.

mod read;
mod write;

use crate::module::Module;
use std::fmt;

/// First bytes of a file.
const MAGIC: &[u8; 4] = b"DBIR";
/// Version of the format.
const VERSION: u64 = 2;

/// Tags of nodes in a list.
mod node {
    pub const END: u8 = 0;
    pub const BLOCK: u8 = 1;
    pub const IF: u8 = 2;
    pub const LOOP: u8 = 3;
    pub const ONCE: u8 = 4;
}

/// What to leave out of the bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct SerializeOptions {
    /// Leave out the debug names of values, variables, functions, parameters, types and members. Names of entry points
    /// stay: they are how the API finds them.
    pub strip_names: bool,
}

impl SerializeOptions {
    /// Everything but debug names.
    pub fn stripped() -> Self {
        SerializeOptions { strip_names: true }
    }
}

/// Bytes that are no module.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct DecodeError {
    /// Offset of the byte that it is about.
    pub offset: usize,
    /// What is wrong.
    pub message: String,
}

impl fmt::Display for DecodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "byte {}: {}", self.offset, self.message)
    }
}

impl std::error::Error for DecodeError {}

impl Module {
    /// The module as bytes.
    pub fn to_bytes(&self, options: &SerializeOptions) -> Vec<u8> {
        write::module(self, options)
    }

    /// The module that the bytes hold; its code may use these dialects.
    ///
    /// # Errors
    /// Where the bytes are cut off, name what is in no table, or hold what the IR can't represent. What they hold is
    /// not validated.
    pub fn from_bytes(
        bytes: &[u8],
        dialects: crate::dialect::Dialects,
    ) -> Result<Module, DecodeError> {
        read::module(bytes, dialects)
    }

    /// Removes all debug names.
    pub fn strip_names(&mut self) {
        self.types.strip_names();
        self.vars.iter_mut().for_each(|v| v.name.clear());
        self.spec_consts.iter_mut().for_each(|s| s.name.clear());
        for f in &mut self.functions {
            f.name.clear();
            f.names.clear();
            f.locals.iter_mut().for_each(|v| v.name.clear());
            f.params.iter_mut().chain(&mut f.ret).for_each(|p| p.name.clear());
        }
    }
}
