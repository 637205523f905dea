//! What the build script generates from `opcodes.toml` and `intrinsics.toml`: ids, info tables, names, builder methods.

pub(crate) mod opcodes {
    include!(concat!(env!("OUT_DIR"), "/opcodes.rs"));
}

pub(crate) mod intrinsics {
    include!(concat!(env!("OUT_DIR"), "/intrinsics.rs"));
}

pub use intrinsics::values as index;
