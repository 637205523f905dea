//! What is wrong with a module, and where.

/// Whose fault an [`Error`] is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The binary breaks a rule of SPIR-V.
    Invalid,
    /// The binary may be valid, but uses what is not supported.
    Unsupported,
    /// The binary exceeds a limit on sizes or counts.
    Limit,
}

/// Why a module could not be read or written. Displays without the place, which the caller renders.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    /// Whose fault it is.
    pub kind: ErrorKind,
    /// What is wrong, as a sentence without its full stop.
    pub message: String,
    /// Word of the binary at which the instruction begins.
    pub word: Option<usize>,
    /// Name of the instruction, with its `Op`.
    pub op: Option<String>,
    /// Result id of the instruction.
    pub id: Option<u32>,
    /// The function and the instruction of the IR that can't be written, as text.
    pub ir: Option<(String, String)>,
}

impl Error {
    /// An error without a place.
    pub(crate) fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Error { kind, message: message.into(), word: None, op: None, id: None, ir: None }
    }

    /// The error at an instruction of the IR, unless a place is known already.
    pub(crate) fn in_ir(mut self, function: &str, instr: &str) -> Self {
        self.ir.get_or_insert_with(|| (function.into(), instr.into()));
        self
    }

    /// The binary breaks a rule of SPIR-V.
    pub(crate) fn invalid(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Invalid, message)
    }

    /// The binary uses what is not supported.
    pub(crate) fn unsupported(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Unsupported, message)
    }

    /// The binary exceeds a limit.
    pub(crate) fn limit(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Limit, message)
    }
}

impl std::fmt::Display for Error {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Error {}
