//! What is known of values: unsigned range, known bits, float class, one set a def for all its components.
//!
//! Facts follow from the operands' facts by transfer functions that are generated from the opcodes' definitions; no
//! flag is ever a source of one. They are computed on demand and kept; a rewrite drops what it
//! may have made sharper. What intrinsics may give is looked up (`loads.rs`); other values that are not ALU results or
//! constants are unknown.

pub mod abs;
pub mod class;
mod loads;
#[cfg(test)]
mod tests;
pub mod used;

pub use loads::Loads;

use crate::ruleset::RuleSet;
use abs::{Abs, Env};
use deburr_ir_core::{AluInfo, BaseType, Def, Function, Instr, InstrKind};
use smallvec::SmallVec;
use std::sync::Arc;

/// Facts that were asked for, by def.
#[derive(Debug, Default)]
pub struct Memo {
    /// By def: 0, or one more than the position in `known`, with [`STALE`] or [`CUT`]. Few defs are asked for, and a set is large.
    slots: Vec<u32>,
    known: Vec<Abs>,
    loads: Option<Arc<Loads>>,
}

/// The bit of a slot whose set holds no longer, and makes room for the next.
const STALE: u32 = 1 << 31;

/// The bit of a slot whose set was found without looking as far as there was to look: another question looks again.
const CUT: u32 = 1 << 30;

/// Most defs that one question looks at before it gives up on the rest.
const LIMIT: u32 = 256;

/// How far up from it one looks: what follows is recursive, but no deeper.
const DEPTH: u32 = 64;

/// What a question may still look at.
struct Reach {
    defs: u32,
    depth: u32,
    /// Whether it has given up somewhere.
    cut: bool,
}

impl Memo {
    /// Nothing asked for yet, in a function whose module says this of what it loads.
    pub fn new(loads: Option<Arc<Loads>>) -> Memo {
        Memo { loads, ..Memo::default() }
    }

    /// The same with nothing asked for yet.
    #[cfg(feature = "interp")]
    pub(crate) fn afresh(&self) -> Memo {
        Memo::new(self.loads.clone())
    }

    /// What was computed of a def, if anything.
    pub fn cached(&self, def: Def) -> Option<Abs> {
        let slot = self.slots.get(def.index()).copied().unwrap_or(0);
        (slot != 0 && slot < STALE).then(|| self.known[(slot & !CUT) as usize - 1])
    }

    /// The same, if everything was looked at for it.
    fn settled(&self, def: Def) -> Option<Abs> {
        let slot = self.slots.get(def.index()).copied().unwrap_or(0);
        (slot != 0 && slot < CUT).then(|| self.known[slot as usize - 1])
    }

    /// Drops what was computed of a def.
    pub fn forget(&mut self, def: Def) {
        if let Some(slot) = self.slots.get_mut(def.index()) {
            *slot |= if *slot == 0 { 0 } else { STALE };
        }
    }

    fn note(&mut self, f: &Function, def: Def, known: Abs, cut: bool) {
        if self.slots.len() <= def.index() {
            self.slots.resize(f.instr_capacity(), 0);
            self.known.reserve(f.instr_capacity() / 4);
        }
        let slot = &mut self.slots[def.index()];
        let cut = if cut { CUT } else { 0 };
        match *slot & !(STALE | CUT) {
            0 => {
                self.known.push(known);
                *slot = self.known.len() as u32 | cut;
            }
            taken => {
                self.known[taken as usize - 1] = known;
                *slot = taken | cut;
            }
        }
    }

    /// The values that any component of a def may have.
    pub fn of(&mut self, f: &Function, rules: &RuleSet, def: Def) -> Abs {
        let mut reach = Reach { defs: LIMIT, depth: DEPTH, cut: false };
        self.find(f, rules, def, &mut reach)
    }

    /// The values that one component of a def may have: those of any, but for the result of an intrinsic.
    #[inline]
    pub fn of_component(&mut self, f: &Function, rules: &RuleSet, def: Def, comp: u8) -> Abs {
        match f.kind(def.instr()) {
            InstrKind::Intrinsic => self.loaded(f, def, || 1 << (comp & 15)),
            InstrKind::Alu => self.settled(def).unwrap_or_else(|| self.of(f, rules, def)),
            InstrKind::LoadConst => self.of(f, rules, def),
            InstrKind::Tex
            | InstrKind::Phi
            | InstrKind::Deref
            | InstrKind::Undef
            | InstrKind::Jump
            | InstrKind::Call
            | InstrKind::ParallelCopy => abs::top(f.bits(def).into()),
        }
    }

    /// The values that components of an intrinsic's result may have.
    fn loaded(&self, f: &Function, def: Def, comps: impl FnOnce() -> u16) -> Abs {
        match &self.loads {
            Some(loads) => loads.known(f, def, comps),
            None => loads::NOTHING.known(f, def, comps),
        }
    }

    /// What is known of the components that an instruction reads of its operand `n`.
    fn operand(
        &mut self,
        f: &Function,
        rules: &RuleSet,
        (instr, n): (Instr, usize),
        reach: &mut Reach,
    ) -> Abs {
        let src = f.src(instr, n);
        match f.kind(src.instr()) {
            // Its components are told apart.
            InstrKind::Intrinsic => self.loaded(f, src, || {
                let comps = f.swizzle(instr, n).iter(f.src_comps(instr, n));
                comps.fold(0, |all, comp| all | 1 << comp)
            }),
            _ => self.find(f, rules, src, reach),
        }
    }

    /// What is known of a def: what was computed, what it is by itself, or what follows from its operands.
    fn find(&mut self, f: &Function, rules: &RuleSet, def: Def, reach: &mut Reach) -> Abs {
        let bits = u32::from(f.bits(def));
        match f.kind(def.instr()) {
            InstrKind::Alu => {
                if let Some(known) = self.settled(def) {
                    return known;
                }
                if reach.defs == 0 || reach.depth == 0 {
                    reach.cut = true;
                    return abs::top(bits);
                }
                reach.defs -= 1;
                reach.depth -= 1;
                let before = std::mem::take(&mut reach.cut);
                let known = self.compute(f, rules, def, reach);
                reach.depth += 1;
                self.note(f, def, known, reach.cut);
                reach.cut |= before;
                known
            }
            InstrKind::LoadConst => match f.constant(def).unwrap_or(&[]) {
                [value] => abs::int(bits, *value),
                values => {
                    let sets = values.iter().map(|v| abs::int(bits, *v));
                    sets.reduce(|a, b| abs::join(bits, a, b)).unwrap_or(abs::top(bits))
                }
            },
            InstrKind::Intrinsic => self.loaded(f, def, || u16::MAX),
            InstrKind::Tex
            | InstrKind::Phi
            | InstrKind::Deref
            | InstrKind::Undef
            | InstrKind::Jump
            | InstrKind::Call
            | InstrKind::ParallelCopy => abs::top(bits),
        }
    }

    /// Applies the transfer function to what is known of the operands.
    fn compute(&mut self, f: &Function, rules: &RuleSet, def: Def, reach: &mut Reach) -> Abs {
        let bits = u32::from(f.bits(def));
        let Some((info, step)) = transfer_of(f, rules, def) else { return abs::top(bits) };
        let instr = def.instr();
        match step {
            Step::Join => {
                let operands = 0..f.srcs(instr).len();
                let sets = operands.map(|n| self.operand(f, rules, (instr, n), reach));
                sets.reduce(|a, b| abs::join(bits, a, b)).unwrap_or(abs::top(bits))
            }
            Step::Transfer(run) => {
                let width =
                    info.unsized_width(f.bits(def), f.srcs(instr).iter().map(|s| f.bits(s.def())));
                let env = Env { float: f.float_env, folding: false };
                let mut operand = |n: usize| {
                    let known = self.operand(f, rules, (instr, n), reach);
                    if info.inputs[n].base != BaseType::Bool {
                        return known;
                    }
                    match u32::from(f.bits(f.src(instr, n))) {
                        0 | 1 => known,
                        w => abs::ne(w, known, abs::int(w, 0)),
                    }
                };
                let out = match info.inputs.len() {
                    1 => run(&env, width.into(), &[operand(0)]),
                    2 => run(&env, width.into(), &[operand(0), operand(1)]),
                    3 => run(&env, width.into(), &[operand(0), operand(1), operand(2)]),
                    n => {
                        let operands: SmallVec<[Abs; 4]> = (0..n).map(operand).collect();
                        run(&env, width.into(), &operands)
                    }
                };
                match info.output.base {
                    BaseType::Bool => abs::kept_truth(bits, out),
                    BaseType::Int | BaseType::Uint | BaseType::Float => out,
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
    if crate::turn::is_move(op) {
        return Some((info, Step::Join));
    }
    rules.transfer(op).map(|run| (info, Step::Transfer(run)))
}
