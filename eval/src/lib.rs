//! The reference interpreter: runs whole compute shaders of the IR on given buffers.
//!
//! ALU operations are computed by the folder that the opcode table generates; control flow, memory, barriers and
//! subgroup operations are here. Every component of every value carries a shadow: whether it is free, because it came
//! from a choice, an undef or a broken promise. Only what is not free means anything in a comparison.

#![forbid(unsafe_code)]

mod address;
mod interface;
mod layout;
mod machine;
mod memory;
mod place;
mod spec;
mod step;
mod subgroup;

use deburr_ir_core::{Block, Func, Module};
use rustc_hash::FxHashSet;

/// What a dispatch is given.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Dispatch {
    /// Name of the entry point; the only one if `None`.
    pub entry: Option<String>,
    /// Workgroups in each dimension.
    pub groups: [u32; 3],
    /// Contents of buffers by set, binding and array element.
    pub buffers: Vec<Buffer>,
    /// Push constants.
    pub push: Vec<u8>,
    /// Values of specialisation constants by `SpecId`.
    pub specs: Vec<(u32, u64)>,
    /// Invocations of a subgroup: a power of two, at most 128.
    pub subgroup_size: u32,
    /// Whether workgroups and invocations take turns from the last to the first: a result that this changes depends on
    /// their order, by a race or by atomics.
    pub reverse: bool,
    /// Instructions after which the run is given up.
    pub fuel: u64,
}

impl Default for Dispatch {
    fn default() -> Self {
        Dispatch {
            entry: None,
            groups: [1; 3],
            buffers: Vec::new(),
            push: Vec::new(),
            specs: Vec::new(),
            subgroup_size: 32,
            reverse: false,
            fuel: 1 << 32,
        }
    }
}

/// A buffer's place and contents, little-endian in the shader's layout.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Buffer {
    /// Descriptor set.
    pub set: u32,
    /// Binding.
    pub binding: u32,
    /// Element in an array of descriptors.
    pub element: u32,
    /// Contents.
    pub bytes: Vec<u8>,
}

/// A buffer after a run.
#[derive(Clone, Debug)]
pub struct BufferResult {
    /// Place and contents.
    pub buffer: Buffer,
    /// For each byte, whether its value is free.
    pub free: Vec<bool>,
    /// For each byte, whether it belongs to a NaN that arithmetic gave: its payload is free.
    pub nan: Vec<bool>,
}

/// What a run did.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Outcome {
    /// Every buffer that was given.
    pub buffers: Vec<BufferResult>,
    /// Blocks that ran.
    pub covered: FxHashSet<(Func, Block)>,
    /// Blocks that there are in the functions that the entry point reaches.
    pub blocks: usize,
    /// Instructions run.
    pub steps: u64,
    /// A branch, address or barrier depended on a free value: the whole result is one of many.
    pub free_control: bool,
    /// An access was outside its object.
    pub out_of_bounds: bool,
}

/// Why a run did not come to its end.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Trap {
    /// The module has no such entry point.
    NoEntry(String),
    /// What the interpreter doesn't know.
    Unsupported(String),
    /// The fuel ran out.
    Fuel,
    /// Too many invocations or too much memory.
    Limit(String),
    /// Invocations of a workgroup wait at a barrier that others never reach.
    Barrier,
}

impl std::fmt::Display for Trap {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Trap::NoEntry(name) if name.is_empty() => f.write_str("no compute entry point"),
            Trap::NoEntry(name) => write!(f, "no compute entry point `{name}`"),
            Trap::Unsupported(what) => write!(f, "the interpreter does not know {what}"),
            Trap::Fuel => f.write_str("the fuel ran out"),
            Trap::Limit(what) => write!(f, "limit: {what}"),
            Trap::Barrier => f.write_str("a barrier that not all invocations reach"),
        }
    }
}

impl std::error::Error for Trap {}

/// Runs a compute entry point.
///
/// # Errors
/// If the module or dispatch asks for what can't be run, or fuel runs out.
pub fn run(module: &Module, dispatch: &Dispatch) -> Result<Outcome, Trap> {
    machine::Machine::new(module, dispatch)?.run()
}

pub use interface::{BufferShape, Interface, Shape, Slot, interface};
pub use spec::workgroup_size;
