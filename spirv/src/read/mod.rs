//! Reading SPIR-V.
//!
//! The words are walked twice: once for all that stands outside functions ([`module`], [`types`]), then function by
//! function. A function's body is split into blocks ([`blocks`]), their control flow becomes a script
//! ([`structure`]), and the script is carried out ([`function`]): instructions are translated in its order
//! ([`instruction`] and what it hands on to), constructs become nodes of the tree. Last, phis get their sources
//! ([`ssa`]).

mod alu;
mod blocks;
mod env;
mod fold;
mod function;
mod image;
mod instruction;
mod intrinsics;
mod memory;
mod module;
mod ssa;
mod structure;
mod tables;
mod types;
mod value;
mod words;

use crate::error::Error;
use crate::facts::debug_information;
use deburr_ir_core::{Func, Module};
use rustc_hash::FxHashMap;

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
    /// Refuse a binary that tells of its source text (lines, sources, debug instructions): the IR holds the names of
    /// values, and nothing else of it.
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

    /// The same, refusing what tells of the source text or not.
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
pub fn read(words: &[u32], options: &ReadOptions) -> Result<Module, Error> {
    let (header, words) = words::open(words)?;
    if options.debug
        && let Some((word, op)) = debug_information(&words)
    {
        let mut error = Error::unsupported("lines and debug information can't be kept yet");
        (error.word, error.op) = (Some(word), Some(op));
        return Err(error);
    }
    let mut reader = module::Reader::new(&words, header, options);
    reader.read_globals()?;
    reader.resolve_callees()?;
    let entries = reader.entry_functions()?;
    reader.check_recursion(&entries)?;
    let instances = reader.environments(&entries)?;
    let funcs: FxHashMap<_, _> =
        instances.iter().enumerate().map(|(n, key)| (*key, Func::from_index(n))).collect();
    for &(index, env) in &instances {
        let raw = reader.functions[index as usize].clone();
        let signature = function::signature(&mut reader, &raw)?;
        let mut f = match signature.has_body() {
            true => function::translate(&mut reader, &raw, signature, env, &funcs)?,
            false => signature,
        };
        f.shrink_to_fit();
        reader.m.add_function(f);
    }
    let mut entered = Vec::new();
    for &entry in &entries {
        let env = reader.entry_env(reader.functions[entry as usize].id)?;
        let func = funcs[&(entry, env)];
        let f = &reader.m[func];
        if !f.params.is_empty() || f.ret.is_some() || !f.has_body() {
            let message = "an entry point enters a function with parameters, a result or no body";
            return Err(Error::invalid(message));
        }
        entered.push(func);
    }
    reader.add_entry_points(&entered)?;
    Ok(reader.m)
}
