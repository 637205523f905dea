//! Users that read some bits of a root only.

use super::grow::{self, Left};
use super::{chance, mask};
use deburr_fuzz::Rng;
use deburr_ir_core::{AluOp, Builder, Def, Function};
use deburr_rulegen::rules::evaluate::constant;
use deburr_rulegen::rules::model::{NodeKind, Rule};

/// The bits that a rule lets users read of its root, in every component; `None` if it says nothing of them, or nothing
/// that can be computed here.
pub fn allowed(f: &Function, rule: &Rule, bits: &[u8], left: &Left) -> Option<u64> {
    let node = rule.used?;
    let comps = f.comps(left.root.def());
    let value_of = |var: usize, i: u8| {
        let is_var = |n: usize| matches!(rule.nodes[n].kind, NodeKind::Var(v) if v == var);
        let at = left.places.iter().find(|p| is_var(p.node))?;
        let (user, slot) = at.user?;
        let lane = f.swizzle(user, slot).get(i.into());
        f.constant(f.src(user, slot))?.get(usize::from(lane)).copied()
    };
    let of = |i| constant(rule, node, bits, &|var| value_of(var, i));
    (0..comps).map(of).reduce(|a, b| Some(a? & b?)).flatten()
}

/// Stores something that no more bits of a value follow from than these.
pub fn reader(b: &mut Builder<'_>, rng: &mut Rng, value: Def, allowed: u64) {
    let bits = b.f.bits(value);
    let low = allowed.trailing_ones();
    let high = (allowed | !mask(bits)).leading_ones().saturating_sub(64 - u32::from(bits));
    let some = allowed & if chance(rng, 60) { u64::MAX } else { rng.bits() };
    let seen = match rng.below(4) {
        0 if low > 0 => {
            let n = b.imm_u32(u32::from(bits) - 1 - rng.below(low as usize) as u32);
            b.alu(AluOp::ISHL, &[value, n])
        }
        1 if high > 0 => {
            let n = b.imm_u32(u32::from(bits) - 1 - rng.below(high as usize) as u32);
            let op = if chance(rng, 50) { AluOp::USHR } else { AluOp::ISHR };
            b.alu(op, &[value, n])
        }
        2 if low > 0 => {
            // Carries go up only.
            let k = b.load_const(bits, &[grow::number(rng, bits)]);
            let op = *rng.pick(&[AluOp::IADD, AluOp::IMUL, AluOp::IXOR]);
            let low = b.load_const(bits, &[mask(low as u8)]);
            let sum = b.alu(op, &[value, k]);
            b.alu(AluOp::IAND, &[sum, low])
        }
        _ => {
            let some = b.load_const(bits, &[some & mask(bits)]);
            b.alu(AluOp::IAND, &[value, some])
        }
    };
    grow::sink(b, seen);
}

/// Stores something that follows from a bit more than those, or from all.
pub fn reader_of_more(b: &mut Builder<'_>, rng: &mut Rng, value: Def, allowed: u64) {
    let bits = b.f.bits(value);
    let others: Vec<u32> = (0..u32::from(bits)).filter(|n| allowed >> n & 1 == 0).collect();
    match others.as_slice() {
        [] => grow::sink(b, value),
        _ if chance(rng, 30) => grow::sink(b, value),
        list => reader_of(b, allowed | 1 << *rng.pick(list), value),
    }
}

fn reader_of(b: &mut Builder<'_>, some: u64, value: Def) {
    let some = b.load_const(b.f.bits(value), &[some]);
    let seen = b.alu(AluOp::IAND, &[value, some]);
    grow::sink(b, seen);
}
