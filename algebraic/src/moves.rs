//! What the driver does by itself: constants are folded, moves and vectors looked through, operands put in order.
//!
//! These are rules of the system: patterns may count on operands that are no moves, on folded constants, and on the
//! constant of a commutative operation standing second.

use crate::rewriter::{Rewriter, Val};
use crate::turn::{Tally, Turn, is_move};
use deburr_ir_core::fold::fold_info;
use deburr_ir_core::{AluOp, AluProps, Flags, Instr, InstrKind, Swizzle};
use smallvec::SmallVec;

impl Rewriter<'_> {
    /// Brings an instruction into normal form, and shows it. True if it was replaced and is gone.
    #[inline(always)]
    pub(crate) fn normalise(&mut self, turn: &mut Turn, instr: Instr, op: AluOp) -> bool {
        let tally = turn.read(self.f, instr);
        let in_place = tally.constants == 0
            || tally.constants < tally.operands
                && tally.operands <= Turn::OPERANDS
                && turn.kinds[0] != Turn::CONST;
        if tally.moves == 0 && in_place && !is_move(op) {
            return false;
        }
        self.simplify(turn, tally, op)
    }

    /// The same where a constant stands first, all are constants, or something is a move.
    fn simplify(&mut self, turn: &mut Turn, mut tally: Tally, op: AluOp) -> bool {
        let instr = turn.instr;
        if tally.moves > 0 {
            for n in 0..tally.operands {
                self.look_through(instr, n);
            }
            tally = turn.read(self.f, instr);
        }
        if op == AluOp::MOV {
            return self.drop_move(instr);
        }
        if tally.constants == tally.operands && self.fold(instr) {
            return true;
        }
        if is_move(op) && self.gather(instr) {
            return true;
        }
        if tally.constants > 0 && tally.operands > 1 && self.order(instr) {
            turn.read(self.f, instr);
        }
        false
    }

    /// The constant of a commutative operation stands second. True if it stood first.
    fn order(&mut self, instr: Instr) -> bool {
        let operands = [self.arg(instr, 1), self.arg(instr, 0)];
        let stands_first = self.is_const(operands[1]) && !self.is_const(operands[0]);
        if !stands_first || !self.is_commutative(instr) {
            return false;
        }
        for (n, v) in operands.into_iter().enumerate() {
            self.f.set_src(instr, n, v.def);
            self.f.set_swizzle(instr, n, v.swizzle);
        }
        self.log.moved = true;
        true
    }

    /// Makes a source use what a move or vector gives it.
    fn look_through(&mut self, instr: Instr, n: usize) {
        let comps = self.f.src_comps(instr, n);
        let old = self.f.src(instr, n);
        loop {
            let src = self.arg(instr, n);
            let Some(next) = self.origin(src, comps) else { break };
            self.f.set_src(instr, n, next.def);
            self.f.set_swizzle(instr, n, next.swizzle);
        }
        if self.f.src(instr, n) != old {
            self.log.moved = true;
            // Of the parts of a vector more is known by themselves, and patterns that reach this operand see another.
            self.sharpen(SmallVec::from_slice(&[instr.def()]));
            self.enqueue_levels(instr.def(), self.watch.depth - 1);
            match self.f.is_used(old) {
                false => self.remove_dead(old.instr()),
                true => self.lost_use(old),
            }
            self.gained_uses(self.f.src(instr, n), 1);
            if self.is_const(self.arg(instr, n)) {
                self.reads_constant(instr);
            }
        }
    }

    /// Where the components of a value come from, if a move or a vector lies between.
    fn origin(&self, v: Val, comps: u8) -> Option<Val> {
        let def = v.def.instr();
        let op = self.f.alu_op(def)?;
        if op == AluOp::MOV {
            let inner = self.arg(def, 0);
            return Some(Val { def: inner.def, swizzle: v.swizzle.compose(inner.swizzle) });
        }
        if !is_move(op) {
            return None;
        }
        // All components that are read must come from one def.
        let mut out: Option<Val> = None;
        for i in 0..usize::from(comps) {
            let part = self.arg(def, usize::from(v.swizzle.get(i)));
            let component = part.swizzle.get(0);
            out = match out {
                None => Some(Val { def: part.def, swizzle: Swizzle::splat(component) }),
                Some(v) if v.def == part.def => {
                    Some(Val { swizzle: v.swizzle.with(i, component), ..v })
                }
                Some(_) => return None,
            };
        }
        out
    }

    /// A move of a whole value is that value. Others are looked through by the operations that use them.
    fn drop_move(&mut self, instr: Instr) -> bool {
        let v = self.arg(instr, 0);
        let comps = self.comps(instr);
        if self.f.comps(v.def) == comps && v.swizzle.is_identity(comps) {
            self.log.moved = true;
            self.substitute(instr.def(), v.def);
            return true;
        }
        if let Some(values) = self.f.constant(v.def) {
            let mut out = [0; 16];
            for (slot, c) in out.iter_mut().zip(v.swizzle.iter(comps)) {
                *slot = values.get(usize::from(c)).copied().unwrap_or(0);
            }
            let bits = self.f.bits(v.def);
            let new = self.imm_n(bits, comps, &out).def;
            self.log.moved = true;
            self.substitute(instr.def(), new);
            return true;
        }
        // Users that can take the swizzle do so when their turn comes.
        self.enqueue_direct_users(instr);
        false
    }

    fn enqueue_direct_users(&mut self, instr: Instr) {
        let users: SmallVec<[Instr; 8]> = self
            .f
            .uses(instr.def())
            .filter_map(|u| match u.user() {
                deburr_ir_core::User::Instr(i) if self.f.kind(i) == InstrKind::Alu => Some(i),
                _ => None,
            })
            .collect();
        for user in users {
            // Only those that would still see the move.
            self.queue.push(user);
        }
    }

    /// A vector of the components of one def is a move of it.
    fn gather(&mut self, instr: Instr) -> bool {
        let comps = self.comps(instr);
        let Some(v) = self.origin(Val::from(instr.def()), comps) else { return false };
        let whole = self.f.comps(v.def) == comps && v.swizzle.is_identity(comps);
        let new = match whole {
            true => v.def,
            false => self.build(AluOp::MOV, comps, Flags::empty(), &[v]).def,
        };
        self.log.moved = true;
        self.substitute(instr.def(), new);
        true
    }

    /// Replaces an operation on constants by its value; of free results the first choice is taken.
    fn fold(&mut self, instr: Instr) -> bool {
        let Some(info) = self.f.alu_info(instr) else { return false };
        let mut operands: SmallVec<[[u64; 16]; 4]> = SmallVec::new();
        for n in 0..info.inputs.len() {
            let v = self.arg(instr, n);
            let Some(values) = self.f.constant(v.def) else { return false };
            let mut out = [0; 16];
            for (slot, c) in out.iter_mut().zip(v.swizzle.iter(self.f.src_comps(instr, n))) {
                *slot = values.get(usize::from(c)).copied().unwrap_or(0);
            }
            operands.push(out);
        }
        let (bits, comps) = (self.f.bits(instr.def()), self.comps(instr));
        let srcs: SmallVec<[&[u64]; 4]> = operands
            .iter()
            .enumerate()
            .map(|(n, values)| &values[..usize::from(self.f.src_comps(instr, n)).min(16)])
            .collect();
        let width =
            info.unsized_width(bits, self.f.srcs(instr).iter().map(|s| self.f.bits(s.def())));
        let mut out = [0; 16];
        let env = self.f.float_env;
        if fold_info(info, width, comps, &srcs, &env, &mut out).is_none() {
            return false;
        }
        let new = self.imm_n(bits, comps, &out).def;
        self.log.folded += 1;
        self.substitute(instr.def(), new);
        true
    }

    fn is_commutative(&self, instr: Instr) -> bool {
        self.f.alu_info(instr).is_some_and(|i| i.props.contains(AluProps::COMMUTATIVE))
    }
}
