//! Which bits of a value its users read: the one fact that follows from what stands above a value, not below it.
//!
//! An operation reads of an operand the bits that the read bits of its result depend on, as generated code says that
//! comes from the opcode's definition (`RuleSet::reads`) and uses the functions here. A bit that isn't read may have
//! any value without a difference that anything sees. That other operands are constants counts, nothing else that is known of
//! them does: what else is known may rest on the bits in question.
//!
//! A question looks at few users on few levels, so that its answer is not kept: whatever adds a use anywhere above would have
//! to find and drop it.

use super::abs::{self, Abs, Env};
use crate::ruleset::RuleSet;
use crate::turn::is_move;
use deburr_ir_core::{AluInfo, AluOp, BaseType, Def, Flags, Function, Instr, InstrKind, User};
use smallvec::SmallVec;

/// Most uses that are looked at of a value, of the results of its users, and so on: a value with more of them is read whole.
const MOST_USES: [usize; 3] = [4, 2, 2];

/// How many levels of operands below a value that is read less may be read less for it, itself the first.
pub(crate) const LEVELS: usize = MOST_USES.len();

/// The operations that may read less of an operand than the whole.
#[derive(Clone, Copy, Debug)]
pub struct Reads {
    /// Bits of operand `n` that the bits `used` of the result depend on, by what the operands are as far as they are constants:
    /// `run(env, w, operands, used, n)`.
    pub run: fn(&Env, u32, &[Abs], u64, usize) -> u64,
    /// Operands that the promise `dom` speaks of.
    pub dom: u8,
}

/// The bits of a def that something reads.
pub fn of(f: &Function, rules: &RuleSet, def: Def) -> u64 {
    find(f, rules, def, 0)
}

// The recursion is as deep as the list of limits is long.
fn find(f: &Function, rules: &RuleSet, def: Def, level: usize) -> u64 {
    let whole = abs::mask(f.bits(def).into());
    // Who reads everything is soon found.
    let Some(most) = MOST_USES.get(level) else { return whole };
    for (count, user) in f.uses(def).enumerate() {
        let User::Instr(instr) = user.user() else { return whole };
        let Some(op) = f.alu_op(instr) else { return whole };
        if count == *most || rules.reads(op).is_none() && !is_move(op) {
            return whole;
        }
    }
    let mut used = 0;
    for (user, n) in f.uses_at(def) {
        used |= match user {
            User::Instr(instr) => {
                through(f, rules, instr, n, level).map_or(whole, |read| read & whole)
            }
            User::If(_) => whole,
        };
        if used == whole {
            break;
        }
    }
    used
}

/// The bits that an instruction reads of an operand; `None` for all.
fn through(f: &Function, rules: &RuleSet, instr: Instr, n: usize, level: usize) -> Option<u64> {
    let op = f.alu_op(instr)?;
    if is_move(op) {
        return Some(find(f, rules, instr.def(), level + 1));
    }
    let reads = rules.reads(op)?;
    // Whether poison in the other operand is absorbed depends on all bits of this one. A constant is no poison.
    if matches!(op, AluOp::IAND | AluOp::IOR) && f.constant(f.src(instr, 1 - n)).is_none() {
        return None;
    }
    let flags = f.flags(instr);
    // Other bits could break a promise.
    let broken = Flags::NUW | Flags::NSW | Flags::NNAN | Flags::NINF;
    if flags.intersects(broken) || flags.contains(Flags::DOM) && reads.dom >> n & 1 != 0 {
        return None;
    }
    let info = f.alu_info(instr)?;
    let used = find(f, rules, instr.def(), level + 1);
    let srcs = f.srcs(instr);
    let width = info.unsized_width(f.bits(instr.def()), srcs.iter().map(|s| f.bits(s.def())));
    let env = Env { float: f.float_env, folding: false };
    let operand = |i: usize| constant(f, info, srcs[i].def(), i);
    let run = |operands: &[Abs]| (reads.run)(&env, width.into(), operands, used, n);
    Some(match srcs.len() {
        1 => run(&[operand(0)]),
        2 => run(&[operand(0), operand(1)]),
        3 => run(&[operand(0), operand(1), operand(2)]),
        more => run(&(0..more).map(operand).collect::<SmallVec<[Abs; 4]>>()),
    })
}

/// An operand as far as it is a constant.
fn constant(f: &Function, info: &AluInfo, src: Def, n: usize) -> Abs {
    let truth = info.inputs[n].base == BaseType::Bool;
    let bits = if truth { 1 } else { u32::from(f.bits(src)) };
    let set = |v: u64| abs::int(bits, if truth { u64::from(v != 0) } else { v });
    match f.constant(src) {
        None | Some([]) => abs::top(bits),
        Some([v]) => set(*v),
        Some([first, rest @ ..]) => {
            rest.iter().fold(set(*first), |all, v| abs::join(bits, all, set(*v)))
        }
    }
}

impl crate::rewriter::Rewriter<'_> {
    /// The bits that users of the root read, if they don't read all.
    pub fn reads_less(&self, root: Instr) -> Option<u64> {
        let read = of(self.f, self.rules, root.def());
        (read != abs::mask(self.f.bits(root.def()).into())).then_some(read)
    }

    /// Whether bits that are read are among those of a constant in each of the first `comps` components.
    pub fn reads_within(
        &mut self,
        read: u64,
        comps: u8,
        mut bits: impl FnMut(&mut Self, usize) -> Abs,
    ) -> bool {
        let mut within = u64::MAX;
        for i in 0..usize::from(comps) {
            let Some(bits) = bits(self, i).exact() else { return false };
            within &= bits;
        }
        read & !within == 0
    }

    /// A value may be read less than before: puts on the list what may be replaced then, it or what it comes from.
    pub(crate) fn read_less(&mut self, def: Def) {
        if self.watch.reads.is_empty() {
            return;
        }
        let mut level: SmallVec<[Def; 8]> = SmallVec::from_slice(&[def]);
        for _ in 0..LEVELS {
            let mut next: SmallVec<[Def; 8]> = SmallVec::new();
            for def in level {
                let instr = def.instr();
                let Some(op) = self.f.alu_op(instr) else { continue };
                if self.watch.reads.contains(&op) {
                    self.queue.push(instr);
                }
                if is_move(op) || self.rules.reads(op).is_some() {
                    next.extend(self.f.srcs(instr).iter().map(|s| s.def()));
                }
            }
            level = next;
        }
    }

    /// An operand of an instruction has become a constant: what it reads of the others may be less.
    pub(crate) fn reads_constant(&mut self, instr: Instr) {
        let reads = self.f.alu_op(instr).is_some_and(|op| self.rules.reads(op).is_some());
        if self.watch.reads.is_empty() || !reads {
            return;
        }
        let others = self.f.srcs(instr).iter().map(|s| s.def());
        let others: SmallVec<[Def; 4]> =
            others.filter(|d| self.f.kind(d.instr()) == InstrKind::Alu).collect();
        others.into_iter().for_each(|def| self.read_less(def));
    }
}

// ---- what the generated code is made of: bits of an operand by the read bits `u` of what is computed from it ----------------

/// All bits, if any is read.
pub fn all(w: u32, u: u64) -> u64 {
    if u == 0 { 0 } else { abs::mask(w) }
}

/// Those from the highest down: what carries go through.
pub fn down(u: u64) -> u64 {
    u64::MAX.checked_shr(u.leading_zeros()).unwrap_or(0)
}

/// Those from the lowest up.
fn up(w: u32, u: u64) -> u64 {
    if u == 0 { 0 } else { abs::mask(w) & (u64::MAX << u.trailing_zeros()) }
}

/// Of one operand of `a & b`.
pub fn and(u: u64, other: Abs) -> u64 {
    u & !other.zeros
}

/// Of one operand of `a | b`.
pub fn or(u: u64, other: Abs) -> u64 {
    u & !other.ones
}

/// Of one operand of `a * b`.
pub fn mul(u: u64, other: Abs) -> u64 {
    down(u).checked_shr(other.zeros.trailing_ones()).unwrap_or(0)
}

/// The count of a shift, if it is known.
fn count(w: u32, count: Abs) -> Option<u32> {
    count.exact().map(|n| (n % u64::from(w)) as u32)
}

/// Of `a` in `a << n`.
pub fn shl(w: u32, u: u64, n: Abs) -> u64 {
    count(w, n).map_or(down(u), |n| u >> n)
}

/// Of `a` in `a >> n`, logical.
pub fn ushr(w: u32, u: u64, n: Abs) -> u64 {
    count(w, n).map_or(up(w, u), |n| (u << n) & abs::mask(w))
}

/// Of `a` in `a >> n`, arithmetic.
pub fn ishr(w: u32, u: u64, n: Abs) -> u64 {
    let Some(n) = count(w, n) else { return up(w, u) };
    let sign = if u >> (w - 1 - n) != 0 { 1 << (w - 1) } else { 0 };
    (u << n) & abs::mask(w) | sign
}

/// Of the count of a shift of `w` bits, which is taken modulo that.
pub fn shift_count(w: u32, u: u64) -> u64 {
    if u == 0 { 0 } else { u64::from(w) - 1 }
}

/// Of what is zero-extended or truncated.
pub fn zero_cast(from: u32, u: u64) -> u64 {
    u & abs::mask(from)
}

/// Of what is sign-extended or truncated.
pub fn sign_cast(from: u32, u: u64) -> u64 {
    let sign = if u >> (from - 1) != 0 { 1 << (from - 1) } else { 0 };
    u & abs::mask(from) | sign
}

/// Of what is put in reverse order.
pub fn reverse(w: u32, u: u64) -> u64 {
    (u << (64 - w)).reverse_bits()
}
