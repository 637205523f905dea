//! Reading SPIR-V.

use crate::error::Error;
use deburr_ir_core::Module;

/// What the float arithmetic of a module allows: DESIGN §2.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum FloatMode {
    /// As Vulkan defines it: arithmetic may be reassociated, contracted and transformed unless a decoration or an
    /// execution mode forbids it; NaN, infinities and the sign of zero count only where they are asked for.
    #[default]
    Vulkan,
    /// As [`FloatMode::Vulkan`], but NaN and infinities always count.
    KeepNan,
    /// No licences at all.
    Strict,
}

/// How to read a module.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct ReadOptions {
    /// Licences of float arithmetic.
    pub float: FloatMode,
    /// Specialisation constants to freeze: `SpecId` and the bits of the value.
    pub spec: Vec<(u32, u64)>,
    /// Keep lines and debug information.
    pub debug: bool,
}

impl ReadOptions {
    /// The same with other licences.
    #[must_use]
    pub fn with_float(mut self, float: FloatMode) -> Self {
        self.float = float;
        self
    }

    /// The same with one more specialisation constant frozen.
    #[must_use]
    pub fn with_spec(mut self, id: u32, bits: u64) -> Self {
        self.spec.push((id, bits));
        self
    }

    /// The same with debug information kept or not.
    #[must_use]
    pub fn with_debug(mut self, debug: bool) -> Self {
        self.debug = debug;
        self
    }
}

/// Reads a SPIR-V binary, in the byte order of the machine or the other one.
///
/// # Errors
/// What the binary does wrong, or what of it is unsupported, with the place. Nothing in it makes this panic.
pub fn read(_words: &[u32], _options: &ReadOptions) -> Result<Module, Error> {
    Err(Error::unsupported("SPIR-V can't be read yet"))
}
