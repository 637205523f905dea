//! What is known of values: unsigned range, known bits, float class, one set a def for all its components.
//!
//! Facts follow from the operands' facts by transfer functions that are generated from the opcodes' definitions; no
//! flag is ever a source of one. They are computed on demand, without recursion, and kept; a rewrite drops what it
//! may have made sharper. Values that are not ALU results or constants are unknown.

pub mod abs;
pub mod class;
#[cfg(test)]
mod tests;

use crate::ruleset::RuleSet;
use abs::{Abs, Env};
use deburr_ir_core::{AluInfo, AluOp, BaseType, Def, Function, InstrView};
use smallvec::SmallVec;

/// Facts that were asked for, by def.
#[derive(Debug, Default)]
pub struct Memo {
    known: Vec<Option<Abs>>,
}

/// Most defs that one question looks at before it gives up on the rest.
const LIMIT: usize = 256;

impl Memo {
    /// What was computed of a def, if anything.
    pub fn cached(&self, def: Def) -> Option<Abs> {
        self.known.get(def.index()).copied().flatten()
    }

    /// Drops what was computed of a def.
    pub fn forget(&mut self, def: Def) {
        if let Some(slot) = self.known.get_mut(def.index()) {
            *slot = None;
        }
    }

    /// The values that any component of a def may have.
    pub fn of(&mut self, f: &Function, rules: &RuleSet, def: Def) -> Abs {
        if let Some(known) = self.cached(def) {
            return known;
        }
        self.known.resize(f.instr_capacity().max(self.known.len()), None);
        let mut stack: Vec<Def> = vec![def];
        let mut visited = 0;
        while let Some(&top) = stack.last() {
            if self.cached(top).is_some() {
                stack.pop();
                continue;
            }
            visited += 1;
            let before = stack.len();
            if visited <= LIMIT && transfer_of(f, rules, top).is_some() {
                for src in f.srcs(top.instr()) {
                    if self.cached(src.def()).is_none() {
                        stack.push(src.def());
                    }
                }
            }
            if stack.len() == before {
                let known = self.compute(f, rules, top);
                self.known[top.index()] = Some(known);
                stack.pop();
            }
        }
        self.cached(def).unwrap_or_else(|| abs::top(f.bits(def).into()))
    }

    /// Applies the transfer function to what is known of the operands.
    pub fn compute(&self, f: &Function, rules: &RuleSet, def: Def) -> Abs {
        let bits = u32::from(f.bits(def));
        if let Some(values) = f.constant(def) {
            let sets = values.iter().map(|v| abs::int(bits, *v));
            return sets.reduce(|a, b| abs::join(bits, a, b)).unwrap_or(abs::top(bits));
        }
        let Some((info, step)) = transfer_of(f, rules, def) else { return abs::top(bits) };
        let instr = def.instr();
        let operands: SmallVec<[Abs; 4]> = f
            .srcs(instr)
            .iter()
            .zip(info.inputs)
            .map(|(src, ty)| {
                let w = u32::from(f.bits(src.def()));
                let known = self.cached(src.def()).unwrap_or_else(|| abs::top(w));
                match ty.base {
                    BaseType::Bool => abs::ne(w, known, abs::int(w, 0)),
                    _ => known,
                }
            })
            .collect();
        match step {
            Step::Join => {
                operands.into_iter().reduce(|a, b| abs::join(bits, a, b)).unwrap_or(abs::top(bits))
            }
            Step::Transfer(run) => {
                let width =
                    info.unsized_width(f.bits(def), f.srcs(instr).iter().map(|s| f.bits(s.def())));
                let env = Env { float: f.float_env, folding: false };
                let out = run(&env, width.into(), &operands);
                match (info.output.base, abs::truth(out)) {
                    (BaseType::Bool, Some(v)) if bits > 1 => {
                        abs::int(bits, if v { u64::MAX } else { 0 })
                    }
                    (BaseType::Bool, None) if bits > 1 => abs::top(bits),
                    _ => out,
                }
            }
        }
    }
}

enum Step {
    /// The result has the operands' components.
    Join,
    Transfer(crate::ruleset::TransferFn),
}

/// How facts of an ALU result follow from its operands.
fn transfer_of(f: &Function, rules: &RuleSet, def: Def) -> Option<(&'static AluInfo, Step)> {
    let InstrView::Alu(op) = f.view(def.instr()) else { return None };
    let info = f.alu_info(def.instr())?;
    if op == AluOp::MOV || (AluOp::VEC2..=AluOp::VEC16).contains(&op) {
        return Some((info, Step::Join));
    }
    rules.transfer(op).map(|run| (info, Step::Transfer(run)))
}
