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
use deburr_ir_core::{AluInfo, AluOp, BaseType, Def, Function, InstrKind};
use smallvec::SmallVec;

/// Facts that were asked for, by def.
#[derive(Debug, Default)]
pub struct Memo {
    /// By def: 0, or one more than the position in `known`, with [`STALE`]. Few defs are asked for, and a set is large.
    slots: Vec<u32>,
    known: Vec<Abs>,
}

/// The bit of a slot whose set holds no longer, and makes room for the next.
const STALE: u32 = 1 << 31;

/// Most defs that one question looks at before it gives up on the rest.
const LIMIT: usize = 256;

impl Memo {
    /// What was computed of a def, if anything.
    pub fn cached(&self, def: Def) -> Option<Abs> {
        let slot = self.slots.get(def.index()).copied().unwrap_or(0);
        (slot != 0 && slot < STALE).then(|| self.known[slot as usize - 1])
    }

    fn is_known(&self, def: Def) -> bool {
        (1..STALE).contains(&self.slots[def.index()])
    }

    /// Drops what was computed of a def.
    pub fn forget(&mut self, def: Def) {
        if let Some(slot) = self.slots.get_mut(def.index()) {
            *slot |= if *slot == 0 { 0 } else { STALE };
        }
    }

    fn note(&mut self, def: Def, known: Abs) {
        let slot = &mut self.slots[def.index()];
        match *slot & !STALE {
            0 => {
                self.known.push(known);
                *slot = self.known.len() as u32;
            }
            taken => {
                self.known[taken as usize - 1] = known;
                *slot = taken;
            }
        }
    }

    /// The values that any component of a def may have.
    pub fn of(&mut self, f: &Function, rules: &RuleSet, def: Def) -> Abs {
        if let Some(known) = self.cached(def) {
            return known;
        }
        if f.kind(def.instr()) != InstrKind::Alu {
            return self.operand(f, def);
        }
        if self.slots.len() < f.instr_capacity() {
            self.slots.resize(f.instr_capacity(), 0);
        }
        let mut stack: SmallVec<[Def; 32]> = SmallVec::from_slice(&[def]);
        let mut visited = 0;
        while let Some(&top) = stack.last() {
            if self.is_known(top) {
                stack.pop();
                continue;
            }
            visited += 1;
            let before = stack.len();
            if visited <= LIMIT && transfer_of(f, rules, top).is_some() {
                // What is no operation has no operands to look at.
                let open =
                    |src: &Def| f.kind(src.instr()) == InstrKind::Alu && !self.is_known(*src);
                stack.extend(f.srcs(top.instr()).iter().map(|src| src.def()).filter(open));
            }
            if stack.len() == before {
                let known = self.compute(f, rules, top);
                self.note(top, known);
                stack.pop();
            }
        }
        self.cached(def).unwrap_or_else(|| abs::top(f.bits(def).into()))
    }

    /// What is known of an operand: what was computed, or what it is by itself.
    fn operand(&self, f: &Function, def: Def) -> Abs {
        let bits = u32::from(f.bits(def));
        match f.constant(def) {
            Some([value]) => abs::int(bits, *value),
            Some(values) => {
                let sets = values.iter().map(|v| abs::int(bits, *v));
                sets.reduce(|a, b| abs::join(bits, a, b)).unwrap_or(abs::top(bits))
            }
            None => self.cached(def).unwrap_or_else(|| abs::top(bits)),
        }
    }

    /// Applies the transfer function to what is known of the operands.
    fn compute(&self, f: &Function, rules: &RuleSet, def: Def) -> Abs {
        let bits = u32::from(f.bits(def));
        let Some((info, step)) = transfer_of(f, rules, def) else { return self.operand(f, def) };
        let instr = def.instr();
        let mut operands: SmallVec<[Abs; 4]> = SmallVec::new();
        for (src, ty) in f.srcs(instr).iter().zip(info.inputs) {
            let known = self.operand(f, src.def());
            operands.push(match ty.base {
                BaseType::Bool => {
                    let w = u32::from(f.bits(src.def()));
                    abs::ne(w, known, abs::int(w, 0))
                }
                _ => known,
            });
        }
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
    let op = f.alu_op(def.instr())?;
    let info = f.alu_info(def.instr())?;
    if op == AluOp::MOV || (AluOp::VEC2..=AluOp::VEC16).contains(&op) {
        return Some((info, Step::Join));
    }
    rules.transfer(op).map(|run| (info, Step::Transfer(run)))
}
