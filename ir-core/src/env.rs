//! The float environment of a function: what its arithmetic does with denormals and how it rounds.
//!
//! Source of the semantics: the execution modes of SPIR-V's float controls and Vulkan's default of leaving
//! both unspecified.

/// What arithmetic of one size does with denormal operands and results.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Denorm {
    /// Denormals are kept.
    Keep,
    /// Denormal results are flushed to a zero of the same sign, operands may be.
    Flush,
    /// Either, at each instruction: Vulkan's default. The folder keeps.
    #[default]
    Any,
}

impl Denorm {
    /// Every behaviour with its name in the text.
    pub const NAMES: &'static [(&'static str, Denorm)] =
        &[("keep", Denorm::Keep), ("flush", Denorm::Flush), ("any", Denorm::Any)];
}

/// How arithmetic of one size rounds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Rounding {
    /// To nearest, ties to even.
    Rte,
    /// Toward zero.
    Rtz,
    /// To either neighbour, at each instruction: Vulkan's default. The folder takes [`Rounding::Rte`].
    #[default]
    Any,
}

impl Rounding {
    /// Every behaviour with its name in the text.
    pub const NAMES: &'static [(&'static str, Rounding)] =
        &[("rte", Rounding::Rte), ("rtz", Rounding::Rtz), ("any", Rounding::Any)];
}

/// The float environment for each of the sizes 16, 32 and 64.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FloatEnv {
    /// Denormal behaviour for 16, 32 and 64 bits.
    pub denorm: [Denorm; 3],
    /// Rounding for 16, 32 and 64 bits.
    pub rounding: [Rounding; 3],
}

impl FloatEnv {
    /// The same behaviour at every size.
    pub const fn uniform(denorm: Denorm, rounding: Rounding) -> Self {
        FloatEnv { denorm: [denorm; 3], rounding: [rounding; 3] }
    }

    /// Denormal behaviour at `bits` (16, 32 or 64).
    pub const fn denorm(&self, bits: u32) -> Denorm {
        self.denorm[Self::slot(bits)]
    }

    /// Rounding at `bits` (16, 32 or 64).
    pub const fn rounding(&self, bits: u32) -> Rounding {
        self.rounding[Self::slot(bits)]
    }

    const fn slot(bits: u32) -> usize {
        match bits {
            16 => 0,
            32 => 1,
            _ => 2,
        }
    }
}
