//! `copy_prop`: users of a `mov` or `vecN` read its sources directly, through composed swizzles.
//!
//! An ALU operand takes components of any value, so it follows a `mov` always and a `vecN` where all the components
//! it reads come from one value. Other users follow where the whole value is passed on unchanged. A cast of a pointer to
//! the type and modes that it has is a copy too. Any form but backend. Keeps the control flow. O(n).
//!
//! ```text
//! 32x2 %2 = vec2 %0.y, %0.x
//! 32 %3 = fadd %2.x, %2.y        32 %3 = fadd %0.y, %0.x
//! ```

use deburr_ir_core::{AluOp, Def, DerefKind, Function, Instr, InstrKind, Swizzle, User};

/// Propagates copies in a function. The copies stay, unused, for `dce`.
pub fn copy_prop(f: &mut Function) -> bool {
    let mut changed = false;
    let blocks: Vec<_> = f.blocks().collect();
    for block in blocks {
        let mut next = f.first_instr(block);
        while let Some(instr) = next {
            next = f.next_instr(instr);
            if f.kind(instr) == InstrKind::Deref {
                changed |= drop_casts(f, instr.def());
            }
            if f.kind(instr) == InstrKind::Alu {
                for n in 0..f.srcs(instr).len() {
                    changed |= follow(f, instr, n);
                }
                changed |= forward_whole(f, instr);
            }
        }
    }
    changed
}

/// Lets ALU source `n` read through the copies it names.
fn follow(f: &mut Function, instr: Instr, n: usize) -> bool {
    let comps = f.src_comps(instr, n);
    let mut changed = false;
    while let Some((def, swizzle)) = source_of(f, f.src(instr, n), f.swizzle(instr, n), comps) {
        f.set_src(instr, n, def);
        f.set_swizzle(instr, n, swizzle);
        changed = true;
    }
    changed
}

/// Where the first `comps` components of `def` under `swizzle` are copied from, if from one value.
pub(crate) fn source_of(
    f: &Function,
    def: Def,
    swizzle: Swizzle,
    comps: u8,
) -> Option<(Def, Swizzle)> {
    let copy = def.instr();
    let op = f.alu_op(copy)?;
    if op == AluOp::MOV {
        let inner = f.swizzle(copy, 0);
        let composed = (0..usize::from(comps))
            .fold(Swizzle::IDENTITY, |s, i| s.with(i, inner.get(swizzle.get(i).into())));
        return Some((f.src(copy, 0), composed));
    }
    if !is_vec(op) {
        return None;
    }
    let source = f.src(copy, swizzle.get(0).into());
    let mut composed = Swizzle::IDENTITY;
    for i in 0..usize::from(comps) {
        let part = usize::from(swizzle.get(i));
        if f.src(copy, part) != source {
            return None;
        }
        composed = composed.with(i, f.swizzle(copy, part).get(0));
    }
    Some((source, composed))
}

/// Whether the opcode makes a vector of scalars.
pub(crate) fn is_vec(op: AluOp) -> bool {
    matches!(op, AluOp::VEC2 | AluOp::VEC3 | AluOp::VEC4 | AluOp::VEC5 | AluOp::VEC8 | AluOp::VEC16)
}

/// Users that take no swizzle read the source of a copy that changes nothing.
fn forward_whole(f: &mut Function, copy: Instr) -> bool {
    let comps = f.comps(copy.def());
    let Some((source, swizzle)) = source_of(f, copy.def(), Swizzle::IDENTITY, comps) else {
        return false;
    };
    if f.comps(source) != comps || !swizzle.is_identity(comps) {
        return false;
    }
    let others: Vec<_> = f
        .uses_at(copy.def())
        .filter(|(user, _)| match user {
            User::Instr(i) => f.kind(*i) != InstrKind::Alu,
            User::If(_) => true,
        })
        .collect();
    for &(user, n) in &others {
        match user {
            User::Instr(i) => f.set_src(i, n, source),
            User::If(node) => f.set_condition(node, source),
        }
    }
    !others.is_empty()
}

/// A cast of a pointer to what it points to already is the pointer: users of such casts use `pointer`.
pub(crate) fn drop_casts(f: &mut Function, pointer: Def) -> bool {
    let Some(&from) = f.deref(pointer.instr()) else { return false };
    let casts: Vec<Def> = f
        .uses(pointer)
        .filter_map(|u| match u.user() {
            User::Instr(i) => f.deref(i).map(|to| (i, to)),
            User::If(_) => None,
        })
        .filter(|(_, to)| {
            to.kind == DerefKind::Cast
                && (to.ty, to.modes, to.access) == (from.ty, from.modes, from.access)
                && (to.stride == 0 || to.stride == from.stride)
        })
        .map(|(cast, _)| cast.def())
        .collect();
    let mut changed = false;
    for cast in casts {
        changed |= f.is_used(cast);
        f.replace_all_uses(cast, pointer);
    }
    changed
}
