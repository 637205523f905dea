//! Writing modules as SPIR-V.

use crate::error::Error;
use deburr_ir_core::Module;

/// How to write a module.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct WriteOptions {
    /// Keep lines and debug information.
    pub debug: bool,
}

/// Writes a module in the logical form as a SPIR-V binary.
///
/// # Errors
/// [`ErrorKind::Unsupported`](crate::ErrorKind::Unsupported) where the module holds what SPIR-V, or the
/// capabilities that it declares, can't say.
pub fn write(_module: &Module, _options: &WriteOptions) -> Result<Vec<u32>, Error> {
    Err(Error::unsupported("SPIR-V can't be written yet"))
}
