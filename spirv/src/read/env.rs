//! Float environments and licences: from execution modes and decorations, by function.

use super::FloatMode;
use super::module::Reader;
use crate::error::Error;
use crate::fast_math::{default_flags, flags_of};
use deburr_ir_core::{Denorm, Flags, FloatEnv, Rounding, TypeData};
use rspirv::spirv;
use rustc_hash::FxHashMap;
use spirv::ExecutionMode as E;

/// What float arithmetic in a function does and allows; by size 16, 32, 64.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct FnEnv {
    pub float: FloatEnv,
    /// `SignedZeroInfNanPreserve`.
    preserve: [bool; 3],
    /// `FPFastMathDefault`.
    defaults: [Option<Flags>; 3],
}

/// Position of a float size.
pub(super) fn slot(bits: u32) -> usize {
    match bits {
        16 => 0,
        32 => 1,
        _ => 2,
    }
}

impl FnEnv {
    /// Flags of float arithmetic at a size, by its decorations.
    pub fn flags(
        &self,
        mode: FloatMode,
        bits: u8,
        no_contraction: bool,
        decorated: Option<u32>,
    ) -> Flags {
        let slot = slot(bits.into());
        let flags = match (decorated, self.defaults[slot]) {
            (Some(mask), _) => flags_of(mask),
            (None, Some(flags)) => flags,
            (None, None) => default_flags(self.preserve[slot]),
        };
        let arithmetic = Flags::ARCP | Flags::CONTRACT | Flags::REASSOC | Flags::TRANSFORM;
        let flags = if no_contraction { flags - arithmetic } else { flags };
        match mode {
            FloatMode::Vulkan => flags,
            FloatMode::KeepNan => flags - Flags::NNAN - Flags::NINF,
            FloatMode::Strict => Flags::empty(),
        }
    }
}

impl Reader<'_> {
    /// The environment of the entry points that enter the function of this id.
    pub fn entry_env(&self, function: u32) -> Result<FnEnv, Error> {
        let mut env = FnEnv::default();
        for mode in self.modes.iter().filter(|m| m.function == function) {
            let size = mode.args.first().copied().unwrap_or(0);
            let slot = slot(size);
            match mode.mode {
                E::DenormPreserve => env.float.denorm[slot] = Denorm::Keep,
                E::DenormFlushToZero => env.float.denorm[slot] = Denorm::Flush,
                E::RoundingModeRTE => env.float.rounding[slot] = Rounding::Rte,
                E::RoundingModeRTZ => env.float.rounding[slot] = Rounding::Rtz,
                E::SignedZeroInfNanPreserve => env.preserve[slot] = true,
                E::FPFastMathDefault => {
                    let ty = self.type_of(size)?;
                    let TypeData::Float { bits } = self.m.types[ty] else {
                        return Err(Error::invalid("a fast-math default for what is no float"));
                    };
                    let mask = mode.args.get(1).and_then(|&id| self.const_u64(id));
                    let mask = mask.ok_or_else(|| {
                        Error::unsupported("a fast-math default that is no plain constant")
                    })?;
                    env.defaults[super::env::slot(bits.into())] = Some(flags_of(mask as u32));
                }
                _ => {}
            }
        }
        Ok(env)
    }

    /// Every function with the environments that it is reached in; those that nothing reaches get the default.
    pub fn environments(&self, entries: &[u32]) -> Result<Vec<(u32, FnEnv)>, Error> {
        let mut seen: FxHashMap<(u32, FnEnv), ()> = FxHashMap::default();
        let mut of: Vec<Vec<FnEnv>> = vec![Vec::new(); self.functions.len()];
        let reach =
            |start: u32, env: FnEnv, seen: &mut FxHashMap<_, ()>, of: &mut Vec<Vec<FnEnv>>| {
                let mut work = vec![start];
                while let Some(f) = work.pop() {
                    if seen.insert((f, env), ()).is_none() {
                        of[f as usize].push(env);
                        work.extend(&self.functions[f as usize].callees);
                    }
                }
            };
        for &entry in entries {
            let env = self.entry_env(self.functions[entry as usize].id)?;
            reach(entry, env, &mut seen, &mut of);
        }
        // From the back: callers of what nothing reaches come first if they are reached by nothing either.
        for f in 0..self.functions.len() as u32 {
            if of[f as usize].is_empty() {
                reach(f, FnEnv::default(), &mut seen, &mut of);
            }
        }
        let pairs = of.into_iter().enumerate();
        Ok(pairs.flat_map(|(f, envs)| envs.into_iter().map(move |e| (f as u32, e))).collect())
    }
}
