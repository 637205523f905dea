//! Constant folding.

/// What is free in a folded value, a bit a component.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Shadow {
    /// The component came from `choose`, `any` or poison.
    pub free: u16,
    /// The component is a NaN that arithmetic gave: its payload is free.
    pub nan: u16,
}

pub use crate::env::{Denorm, FloatEnv, Rounding};

/// What an evaluation reads and notes.
#[derive(Clone, Copy, Debug)]
pub struct Cx {
    /// Float environment.
    pub env: FloatEnv,
    /// A choice was met.
    pub free: bool,
    /// Arithmetic gave a NaN.
    pub nan: bool,
}

/// Folds one component of an opcode: context, unsized width, component, operands by component, result.
pub type FoldFn = fn(&mut Cx, u32, usize, &[&[u64]], &mut [u64]);
