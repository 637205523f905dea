//! Seeded bugs: wrong transformations of the kinds that compilers really have, to see that the differential runs notice.
//!
//! Each is put in behind the pipeline, changes the first place that it finds, and says whether it found one.

use deburr_ir_core::{
    AluOp, AluSrc, Builder, Cursor, Dominance, Flags, Function, Index, Instr, InstrInit, InstrKind,
    InstrView, Intrinsic, JumpKind, Module, NodeKind, Swizzle,
};

/// A wrong transformation.
pub type Fault = fn(&mut Module) -> bool;

/// Every seeded bug, by name.
pub const FAULTS: &[(&str, Fault)] = &[
    ("swapped operands of a subtraction", swapped_operands),
    ("a swizzle ignored", ignored_swizzle),
    ("a wrong component of a vector", wrong_component),
    ("a sum narrowed to half its size", dropped_size_check),
    ("a phi that forgets an edge", missing_phi_edge),
    ("an exit's value lost", lost_exit_value),
    ("an exit's value taken for another exit's", exchanged_exit_value),
    ("a branch deleted", dropped_branch),
    ("a condition negated", negated_condition),
    ("a loop bound off by one", loop_bound),
    ("a store lost", lost_store),
    ("a store moved over a barrier", store_over_barrier),
    ("two loads merged over a store", load_over_store),
    ("a write mask ignored", ignored_write_mask),
    ("signed for unsigned", signed_for_unsigned),
    ("a multiplication reassociated without licence", dropped_licence),
    ("a denormal flushed where they are kept", wrong_denorm),
    ("an atomic operation taken for another", wrong_atomic),
    ("a break taken for a continue", wrong_jump),
    ("an argument exchanged for another", wrong_argument),
];

/// The first instruction of any function that the edit applies to.
fn first(m: &mut Module, mut edit: impl FnMut(&mut Function, Instr) -> bool) -> bool {
    m.functions.iter_mut().filter(|f| f.has_body()).any(|f| {
        let all: Vec<Instr> = f.all_instrs().collect();
        all.into_iter().any(|i| edit(f, i))
    })
}

/// Every instruction that the edit applies to.
fn every(m: &mut Module, mut edit: impl FnMut(&mut Function, Instr) -> bool) -> bool {
    let mut any = false;
    for f in m.functions.iter_mut().filter(|f| f.has_body()) {
        for instr in f.all_instrs().collect::<Vec<_>>() {
            any |= edit(f, instr);
        }
    }
    any
}

fn set_alu(f: &mut Function, instr: Instr, op: AluOp, srcs: &[AluSrc]) {
    let (def, flags) = (instr.def(), f.flags(instr));
    let comps = f.comps(def);
    let mut b = Builder::new(f, Cursor::Before(instr));
    b.flags = flags;
    let new = b.alu_instr(op, comps, srcs);
    f.replace_all_uses(def, new.def());
    f.remove(instr);
}

fn srcs(f: &Function, instr: Instr) -> Vec<AluSrc> {
    f.srcs(instr).iter().map(|s| AluSrc { def: s.def(), swizzle: s.swizzle() }).collect()
}

fn swapped_operands(m: &mut Module) -> bool {
    first(m, |f, i| {
        let wanted = matches!(f.alu_op(i), Some(AluOp::ISUB | AluOp::FSUB));
        let mut operands = srcs(f, i);
        if wanted {
            operands.swap(0, 1);
            set_alu(f, i, AluOp::ISUB, &operands);
        }
        wanted
    })
}

fn ignored_swizzle(m: &mut Module) -> bool {
    every(m, |f, i| {
        if f.kind(i) != InstrKind::Alu || f.comps(i.def()) == 1 {
            return false;
        }
        let mut any = false;
        for n in 0..f.srcs(i).len() {
            let (comps, of) = (f.src_comps(i, n), f.comps(f.src(i, n)));
            if !f.swizzle(i, n).is_identity(comps) && of >= comps {
                f.set_swizzle(i, n, Swizzle::IDENTITY);
                any = true;
            }
        }
        any
    })
}

fn wrong_component(m: &mut Module) -> bool {
    every(m, |f, i| {
        let wanted = f.kind(i) == InstrKind::Alu && f.comps(i.def()) == 1;
        if !wanted || f.srcs(i).is_empty() || f.src_comps(i, 0) != 1 {
            return false;
        }
        let (of, lane) = (f.comps(f.src(i, 0)), f.swizzle(i, 0).get(0));
        if of > 1 {
            f.set_swizzle(i, 0, Swizzle::splat((lane + 1) % of));
        }
        of > 1
    })
}

fn dropped_size_check(m: &mut Module) -> bool {
    every(m, |f, i| {
        let wanted = f.alu_op(i) == Some(AluOp::IADD) && f.bits(i.def()) == 32;
        if !wanted || f.comps(i.def()) != 1 || f.uses(i.def()).any(|u| is_address(f, u.user())) {
            return false;
        }
        let mut b = Builder::new(f, Cursor::After(i));
        let half = b.u2u16(i.def());
        let wide = b.u2u32(half);
        b.f.replace_uses_except(i.def(), wide, half.instr());
        true
    })
}

fn is_address(f: &Function, user: deburr_ir_core::User) -> bool {
    match user {
        deburr_ir_core::User::Instr(i) => {
            matches!(f.kind(i), InstrKind::Deref | InstrKind::Phi)
        }
        deburr_ir_core::User::If(_) => true,
    }
}

fn missing_phi_edge(m: &mut Module) -> bool {
    every(m, |f, i| {
        let InstrView::Phi(_) = f.view(i) else { return false };
        if f.srcs(i).len() != 2 || f.src(i, 0) == f.src(i, 1) {
            return false;
        }
        // Only where the first value reaches the second edge, so that the module stays valid.
        let Some(block) = f.block_of(i) else { return false };
        let is_header = f
            .block_node(block)
            .and_then(|n| f.parent(n))
            .is_some_and(|p| matches!(f.node_kind(p), NodeKind::Loop { .. }));
        if !is_header || f.first_instr(block) == Some(i) {
            return false;
        }
        let first = f.src(i, 0);
        f.set_src(i, 1, first);
        true
    })
}

/// The first source of a phi that a jump brings to which the edit applies: given are the phi and the source's number.
fn exit_value(
    m: &mut Module,
    mut edit: impl FnMut(&mut Function, &Dominance, Instr, usize) -> bool,
) -> bool {
    let functions = m.functions.iter_mut().rev().filter(|f| f.has_body());
    functions.into_iter().any(|f| {
        let dominance = Dominance::new(f);
        let phis: Vec<Instr> = f.all_instrs().filter(|&i| f.kind(i) == InstrKind::Phi).collect();
        phis.into_iter().any(|phi| {
            let InstrView::Phi(preds) = f.view(phi) else { return false };
            let exits: Vec<usize> =
                (0..preds.len()).filter(|&n| f.block_jump(preds[n]).is_some()).collect();
            exits.into_iter().any(|n| edit(f, &dominance, phi, n))
        })
    })
}

fn lost_exit_value(m: &mut Module) -> bool {
    exit_value(m, |f, _, phi, n| {
        let shape = f.shape(phi.def());
        let start = Cursor::BlockStart(f.start_block());
        let undef = Builder::new(f, start).undef(shape.comps(), shape.bits());
        f.set_src(phi, n, undef);
        true
    })
}

fn exchanged_exit_value(m: &mut Module) -> bool {
    exit_value(m, |f, dominance, phi, n| {
        let InstrView::Phi(preds) = f.view(phi) else { return false };
        let preds = preds.to_vec();
        let own = f.src(phi, n);
        // One that the module stays valid with.
        let other = (0..preds.len()).map(|k| f.src(phi, k)).find(|&other| {
            let block = f.block_of(other.instr());
            other != own && block.is_some_and(|b| dominance.dominates(b, preds[n]))
        });
        let Some(other) = other else { return false };
        f.set_src(phi, n, other);
        true
    })
}

fn dropped_branch(m: &mut Module) -> bool {
    any_if(m, |f, node| {
        let NodeKind::If { else_list, then_list } = f.node_kind(node) else { return false };
        let quiet = f.first_block(else_list) == f.last_block(else_list)
            && f.first_block(then_list) == f.last_block(then_list);
        let block = f.first_block(else_list);
        let jumps =
            f.block_jump(block).is_some() || f.block_jump(f.first_block(then_list)).is_some();
        if !quiet || jumps || f.first_instr(block).is_none() {
            return false;
        }
        f.dissolve_if(node, true);
        true
    })
}

fn any_if(
    m: &mut Module,
    mut edit: impl FnMut(&mut Function, deburr_ir_core::Node) -> bool,
) -> bool {
    let mut any = false;
    for f in m.functions.iter_mut().filter(|f| f.has_body()) {
        let nodes: Vec<_> =
            f.blocks().filter_map(|b| f.block_node(b).and_then(|n| f.next_node(n))).collect();
        for node in nodes {
            if f.is_in_tree(node) && matches!(f.node_kind(node), NodeKind::If { .. }) {
                any |= edit(f, node);
            }
        }
    }
    any
}

fn negated_condition(m: &mut Module) -> bool {
    let mut done = false;
    any_if(m, |f, node| {
        let NodeKind::If { then_list, .. } = f.node_kind(node) else { return false };
        let Some(condition) = f.condition(node) else { return false };
        // The exits of loops stay: a program that never ends tells nothing.
        if done || f.block_jump(f.last_block(then_list)).is_some() {
            return false;
        }
        let before = f.block_before(node);
        let mut b = Builder::new(f, Cursor::BlockEnd(before));
        let negated = b.inot(condition);
        f.set_condition(node, negated);
        done = true;
        true
    })
}

fn loop_bound(m: &mut Module) -> bool {
    every(m, |f, i| {
        let wanted = f.alu_op(i) == Some(AluOp::UGE)
            && f.kind(f.src(i, 0).instr()) == InstrKind::Phi
            && f.constant(f.src(i, 1)).is_some();
        if !wanted {
            return false;
        }
        let bound = f.constant(f.src(i, 1)).map_or(0, |c| c[0]);
        let off = Builder::new(f, Cursor::Before(i)).load_const(32, &[bound + 1]);
        f.set_src(i, 1, off);
        f.set_swizzle(i, 1, Swizzle::splat(0));
        true
    })
}

fn is_intrinsic(f: &Function, i: Instr, op: Intrinsic) -> bool {
    f.kind(i) == InstrKind::Intrinsic && f.intrinsic(i) == Some(op)
}

fn lost_store(m: &mut Module) -> bool {
    first(m, |f, i| {
        let found = is_intrinsic(f, i, Intrinsic::STORE_DEREF);
        if found {
            f.remove(i);
        }
        found
    })
}

fn store_over_barrier(m: &mut Module) -> bool {
    every(m, |f, i| {
        if !is_intrinsic(f, i, Intrinsic::BARRIER) {
            return false;
        }
        // The store before the barrier goes behind the loads after it.
        let Some(store) = f.prev_instr(i).filter(|&s| is_intrinsic(f, s, Intrinsic::STORE_DEREF))
        else {
            return false;
        };
        let mut at = i;
        while let Some(next) = f.next_instr(at) {
            if is_intrinsic(f, next, Intrinsic::BARRIER) || f.jump(next).is_some() {
                break;
            }
            at = next;
        }
        f.move_to(store, Cursor::After(at));
        true
    })
}

fn load_over_store(m: &mut Module) -> bool {
    every(m, |f, i| {
        if !is_intrinsic(f, i, Intrinsic::LOAD_DEREF) {
            return false;
        }
        let Some(block) = f.block_of(i) else { return false };
        let earlier: Vec<Instr> = f.instrs(block).take_while(|&e| e != i).collect();
        let root = |f: &Function, load: Instr| f.src(load, 0);
        let same = |a: Instr, b: Instr| {
            let (x, y) = (root(f, a).instr(), root(f, b).instr());
            f.deref(x) == f.deref(y) && f.srcs(x).len() == f.srcs(y).len() && f.srcs(x).is_empty()
                || x == y
        };
        let found = earlier.iter().rev().find(|&&e| {
            is_intrinsic(f, e, Intrinsic::LOAD_DEREF)
                && f.shape(e.def()) == f.shape(i.def())
                && same(e, i)
        });
        let Some(&found) = found else { return false };
        f.replace_all_uses(i.def(), found.def());
        f.remove(i);
        true
    })
}

fn ignored_write_mask(m: &mut Module) -> bool {
    every(m, |f, i| {
        if !is_intrinsic(f, i, Intrinsic::STORE_DEREF) {
            return false;
        }
        let full = (1u32 << f.comps(f.src(i, 1))) - 1;
        let partial = f.index(i, Index::WRITE_MASK).is_some_and(|mask| mask != full);
        if partial {
            f.set_index(i, Index::WRITE_MASK, full);
        }
        partial
    })
}

fn signed_for_unsigned(m: &mut Module) -> bool {
    every(m, |f, i| {
        let op = match f.alu_op(i) {
            Some(AluOp::USHR) => AluOp::ISHR,
            Some(AluOp::UMIN) => AluOp::IMIN,
            Some(AluOp::UMAX) => AluOp::IMAX,
            Some(AluOp::U2U64) => AluOp::I2I64,
            _ => return false,
        };
        let operands = srcs(f, i);
        set_alu(f, i, op, &operands);
        true
    })
}

/// `a + b` as `(a − 1) + (b + 1)`, in floats.
fn dropped_licence(m: &mut Module) -> bool {
    every(m, |f, i| {
        let wanted = f.alu_op(i) == Some(AluOp::FADD) && !f.flags(i).contains(Flags::REASSOC);
        if !wanted {
            return false;
        }
        let (operands, comps, bits) = (srcs(f, i), f.comps(i.def()), f.bits(i.def()));
        let one = match bits {
            16 => 0x3c00,
            32 => 0x3f80_0000,
            _ => 0x3ff0_0000_0000_0000,
        };
        let mut b = Builder::new(f, Cursor::Before(i));
        let one = AluSrc::comp(b.load_const(bits, &[one]), 0);
        let less = b.alu_instr(AluOp::FSUB, comps, &[operands[0], one]).def();
        let more = b.alu_instr(AluOp::FADD, comps, &[operands[1], one]).def();
        set_alu(f, i, AluOp::FADD, &[less.into(), more.into()]);
        true
    })
}

/// Denormal results become zeros.
fn wrong_denorm(m: &mut Module) -> bool {
    every(m, |f, i| {
        let wanted = matches!(f.alu_op(i), Some(AluOp::FNEG | AluOp::FABS | AluOp::FADD));
        if !wanted {
            return false;
        }
        let bits = f.bits(i.def());
        // What the smallest normal number is not above goes to zero.
        let least: u64 = match bits {
            16 => 0x0400,
            32 => 0x0080_0000,
            _ => 0x0010_0000_0000_0000,
        };
        let comps = f.comps(i.def());
        let def = i.def();
        let mut b = Builder::new(f, Cursor::After(i));
        let least = AluSrc::comp(b.load_const(bits, &[least]), 0);
        let zero = AluSrc::comp(b.load_const(bits, &[0]), 0);
        let size = b.alu_instr(AluOp::FABS, comps, &[def.into()]).def();
        let small = b.alu_instr(AluOp::FLT, comps, &[size.into(), least]).def();
        let flushed = b.alu_instr(AluOp::BCSEL, comps, &[small.into(), zero, def.into()]);
        let size = size.instr();
        let users: Vec<Instr> = f
            .uses(def)
            .filter_map(|u| match u.user() {
                deburr_ir_core::User::Instr(i) => Some(i),
                deburr_ir_core::User::If(_) => None,
            })
            .filter(|&u| u != size && u != flushed)
            .collect();
        for user in users {
            for n in 0..f.srcs(user).len() {
                if f.src(user, n) == def {
                    f.set_src(user, n, flushed.def());
                }
            }
        }
        true
    })
}

fn wrong_atomic(m: &mut Module) -> bool {
    use deburr_ir_core::index::atomic_op;
    first(m, |f, i| {
        let found = is_intrinsic(f, i, Intrinsic::DEREF_ATOMIC);
        if found {
            let op = f.index(i, Index::ATOMIC_OP);
            let other = if op == Some(atomic_op::IADD) { atomic_op::ISUB } else { atomic_op::IADD };
            f.set_index(i, Index::ATOMIC_OP, other);
        }
        found
    })
}

fn wrong_jump(m: &mut Module) -> bool {
    every(m, |f, i| {
        let Some(block) = f.block_of(i) else { return false };
        let looped = f.innermost_loop(block).is_some();
        let found = f.kind(i) == InstrKind::Jump && f.jump(i) == Some(JumpKind::Continue) && looped;
        if found {
            f.replace_jump(block, JumpKind::Break, None);
        }
        found
    })
}

fn wrong_argument(m: &mut Module) -> bool {
    every(m, |f, i| {
        let InstrView::Call(_) = f.view(i) else { return false };
        if f.srcs(i).len() < 2 || f.src(i, 0) == f.src(i, 1) {
            return false;
        }
        let first = f.src(i, 0);
        f.set_src(i, 1, first);
        true
    })
}

/// A fault that does nothing: the harness must not find it.
pub fn harmless(m: &mut Module) -> bool {
    first(m, |f, i| {
        let found = f.kind(i) == InstrKind::LoadConst;
        if found {
            let bits = f.constant(i.def()).map(<[u64]>::to_vec).unwrap_or_default();
            let copy = f.create(InstrInit::LoadConst(&bits), f.shape(i.def()), &[]);
            f.insert(copy, Cursor::After(i));
        }
        found
    })
}
