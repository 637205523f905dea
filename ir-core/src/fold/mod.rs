//! Constant folding.

/// What is free in a folded value, a bit a component.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Shadow {
    /// The component came from `choose`, `any` or poison.
    pub free: u16,
    /// The component is a NaN that arithmetic gave: its payload is free.
    pub nan: u16,
}
