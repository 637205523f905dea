//! SPIR-V in and out of the IR.
//!
//! [`read()`] makes a [`Module`] of a binary, [`write()`] makes a binary of a module in the logical form. The law
//! that both keep: for every instruction that is read there is a form in the IR from which the same single
//! instruction is written.
//!
//! What an instruction means comes from the tables: opcodes and intrinsics name their SPIR-V forms. By hand is
//! only what has structure of its own: types, constants, memory, composites, control flow.

#![forbid(unsafe_code)]

mod error;
mod facts;
mod fast_math;
mod layout;
mod read;
mod stats;
mod write;

pub use deburr_ir_core::Module;
pub use error::{Error, ErrorKind};
pub use facts::{debug_information, spec_ids};
pub use read::{FloatMode, ReadOptions, read};
pub use stats::{Counts, count};
pub use write::{WriteOptions, write};
