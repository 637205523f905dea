//! Runs compute modules on a Vulkan device.
//!
//! [`Job`] is the job file that `vkrun` reads, [`Interface`] what a module binds, [`device`] the only place with unsafe
//! code. A module may hang or crash a driver, so that tests start `vkrun` as a process of its own.

mod budget;
pub mod device;
mod interface;
mod job;

pub use budget::Budget;
pub use interface::{Descriptor, Interface, Kind, Leaf, Member};
pub use job::{Binding, Job};

use std::fmt;

/// Seconds of processor time that a dispatch may take before it is given up: lavapipe compiles a workgroup of 256 with
/// many barriers for ten, and on a busy machine that takes minutes.
pub const FENCE_SECONDS: u64 = 60;

/// Why a module did not run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Error {
    /// There is no Vulkan loader, driver or device.
    NoDevice(String),
    /// The job file or the module is wrong.
    Invalid(String),
    /// The module needs what the device or this harness lacks.
    Unsupported(String),
    /// A Vulkan call failed.
    Vulkan(String),
    /// The dispatch did not end in time.
    Timeout,
}

impl Error {
    /// The exit code of `vkrun`, in the order of the command's own: invalid 1, no device or unsupported 3, time 4.
    pub fn exit_code(&self) -> u8 {
        match self {
            Error::Invalid(_) | Error::Vulkan(_) => 1,
            Error::NoDevice(_) | Error::Unsupported(_) => 3,
            Error::Timeout => 4,
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::NoDevice(why) => write!(f, "no Vulkan device: {why}"),
            Error::Invalid(what) => write!(f, "invalid: {what}"),
            Error::Unsupported(what) => write!(f, "unsupported: {what}"),
            Error::Vulkan(what) => write!(f, "Vulkan: {what}"),
            Error::Timeout => {
                write!(f, "the dispatch did not end within {FENCE_SECONDS} s of processor time")
            }
        }
    }
}

impl std::error::Error for Error {}

/// The words of a little-endian SPIR-V binary.
///
/// # Errors
/// If it isn't one.
pub fn words(bytes: &[u8]) -> Result<Vec<u32>, Error> {
    let words: Vec<u32> =
        bytes.chunks_exact(4).map(|w| u32::from_le_bytes([w[0], w[1], w[2], w[3]])).collect();
    if !bytes.len().is_multiple_of(4) || words.len() < 5 || words[0] != 0x0723_0203 {
        return Err(Error::Invalid("not a SPIR-V binary".into()));
    }
    Ok(words)
}
