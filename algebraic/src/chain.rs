//! Chains: operations of one associative and commutative opcode under each other, as `ac(…)` in a pattern sees them.
//!
//! The operands of a chain are listed in source order. An operand that is the same operation is replaced in the list by
//! its own two, from left to right, while the list has fewer than [`Chain::LONGEST`] operands, if nothing but the chain
//! uses it, and if it carries the licences that the rule needs: so a chain is a tree that dies when its root is replaced.

use crate::rewriter::{Rewriter, Val};
use deburr_ir_core::{AluOp, Def, Flags, Instr, InstrKind, Swizzle, User};
use smallvec::SmallVec;

/// The operands of a chain.
#[derive(Clone, Copy, Debug)]
pub struct Chain {
    operands: [Val; Chain::LONGEST],
    len: usize,
    flags: Flags,
    /// Its operations below the root, each of which makes it longer by one.
    parts: [Instr; Chain::LONGEST - 2],
}

impl Chain {
    /// Most operands that are looked at.
    pub const LONGEST: usize = 8;

    /// How many operands it has.
    #[allow(clippy::len_without_is_empty, reason = "a chain has two operands at least")]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Operand `n`, in source order.
    pub fn operand(&self, n: usize) -> Val {
        self.operands[n]
    }

    /// Its operations below the root.
    pub(crate) fn parts(&self) -> &[Instr] {
        &self.parts[..self.len - 2]
    }

    /// The flags that all its operations carry.
    pub fn flags(&self) -> Flags {
        self.flags
    }
}

impl Rewriter<'_> {
    /// The chain of an opcode whose root is `top`, seen through a swizzle; its operations carry the licences.
    pub fn chain(&self, top: Instr, swizzle: Swizzle, op: AluOp, licences: Flags) -> Chain {
        let arg = |instr: Instr, n: usize, swizzle: Swizzle| self.arg(instr, n).through(swizzle);
        let first = arg(top, 0, swizzle);
        let mut chain = Chain {
            operands: [first; Chain::LONGEST],
            len: 2,
            flags: self.flags(top),
            parts: [top; Chain::LONGEST - 2],
        };
        chain.operands[1] = arg(top, 1, swizzle);
        let mut at = 0;
        while at < chain.len && chain.len < Chain::LONGEST {
            let v = chain.operands[at];
            let inner = self
                .alu(v, op)
                .filter(|i| self.f.has_one_use(v.def) && self.flags(*i).contains(licences));
            let Some(inner) = inner else {
                at += 1;
                continue;
            };
            chain.operands.copy_within(at + 1..chain.len, at + 2);
            chain.operands[at] = arg(inner, 0, v.swizzle);
            chain.operands[at + 1] = arg(inner, 1, v.swizzle);
            chain.parts[chain.len - 2] = inner;
            chain.len += 1;
            chain.flags &= self.flags(inner);
        }
        chain
    }

    /// A value, combined with the operands of a chain that are not among `taken`, in source order.
    pub fn rest(
        &mut self,
        value: Val,
        chain: &Chain,
        taken: &[usize],
        op: AluOp,
        comps: u8,
        flags: Flags,
    ) -> Val {
        let left = (0..chain.len).filter(|n| !taken.contains(n));
        left.fold(value, |all, n| self.build(op, comps, flags, &[all, chain.operands[n]]))
    }

    /// Whether a value is an operation whose chains rules match.
    pub(crate) fn is_chained(&self, def: Def) -> bool {
        let chains = self.watch.chains;
        !chains.is_empty() && self.f.alu_op(def.instr()).is_some_and(|op| chains.contains(&op))
    }

    /// Puts the operations on the list in whose chains a value stands: patterns reach through a chain to its operands.
    pub(crate) fn enqueue_chain(&mut self, def: Def) {
        let mut users: SmallVec<[Instr; 8]> = SmallVec::new();
        for user in self.f.uses(def) {
            if let User::Instr(i) = user.user()
                && self.f.kind(i) == InstrKind::Alu
                && self.is_chained(i.def())
            {
                users.push(i);
            }
        }
        for user in users {
            let (mut at, op) = (user, self.f.alu_op(user));
            for _ in 1..Chain::LONGEST {
                self.queue.push(at);
                if !self.f.has_one_use(at.def()) {
                    break;
                }
                let next = self.f.uses(at.def()).find_map(|u| match u.user() {
                    User::Instr(i) if self.f.alu_op(i) == op => Some(i),
                    _ => None,
                });
                match next {
                    Some(next) => at = next,
                    None => break,
                }
            }
        }
    }
}
