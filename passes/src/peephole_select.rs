//! `peephole_select`: a small `if` whose branches only compute becomes both computations and selects.
//!
//! Both branches are one block of instructions that may be executed in vain (ALU operations, constants, derefs,
//! speculatable intrinsics), of no more cost together than [`LIMIT`]. Convergent operations and memory accesses stay
//! where they are, and so do operations that outside their domain would need a guard (division). Any form. O(n).
//!
//! ```text
//! if %c { 32 %1 = fadd %0, %0 }        32 %1 = fadd %0, %0
//! 32 %2 = phi b1: %1, b2: %0           32 %2 = bcsel %c, %1, %0
//! ```

use deburr_ir_core::{
    AluOp, Block, Builder, CfList, Convergent, Cursor, Flags, Function, Instr, InstrInit,
    InstrKind, IntrinsicFlags, Node, NodeKind, Outside, Swizzle,
};

/// Cost of the instructions of both branches up to which an `if` becomes selects.
pub const LIMIT: u32 = 8;

/// Turns small `if`s of a function into selects.
pub fn peephole_select(f: &mut Function) -> bool {
    let mut nodes = crate::dead_cf::tree_nodes(f, f.body());
    let mut changed = false;
    while let Some(node) = nodes.pop() {
        changed |= flatten(f, node);
    }
    changed
}

fn flatten(f: &mut Function, node: Node) -> bool {
    let NodeKind::If { then_list, else_list } = f.node_kind(node) else { return false };
    let (Some((then_block, then_cost)), Some((else_block, else_cost))) =
        (speculatable(f, then_list), speculatable(f, else_list))
    else {
        return false;
    };
    let after = f.block_after(node);
    if then_cost + else_cost > LIMIT || f.phis(after).next().is_none() {
        return false;
    }
    let Some(condition) = f.condition(node) else { return false };
    let before = f.block_before(node);
    for block in [then_block, else_block] {
        let instrs: Vec<Instr> = f.instrs(block).collect();
        for instr in instrs {
            f.move_to(instr, Cursor::BlockEnd(before));
            // The domain was promised where the condition held.
            let flags = f.flags(instr) - Flags::DOM;
            f.set_flags(instr, flags);
        }
    }
    let phis: Vec<Instr> = f.phis(after).collect();
    for phi in phis {
        let (Some(a), Some(b)) = (f.phi_src(phi, then_block), f.phi_src(phi, else_block)) else {
            continue;
        };
        let shape = f.shape(phi.def());
        let select = f.create(InstrInit::Alu(AluOp::BCSEL), shape, &[condition, a, b]);
        f.set_swizzle(select, 0, Swizzle::splat(0));
        let mut builder = Builder::new(f, Cursor::BlockEnd(before));
        builder.insert(select);
        f.replace_all_uses(phi.def(), select.def());
        f.remove(phi);
    }
    f.remove_node(node);
    true
}

/// The block of a branch that may be executed in vain, and its cost.
fn speculatable(f: &Function, list: CfList) -> Option<(Block, u32)> {
    let block = f.first_block(list);
    if block != f.last_block(list) {
        return None;
    }
    let mut cost = 0;
    for instr in f.instrs(block) {
        cost += match f.kind(instr) {
            InstrKind::Alu => {
                let info = f.alu_info(instr)?;
                let guarded = info
                    .spirv
                    .iter()
                    .any(|form| !matches!(form.outside, Outside::Nothing | Outside::Mask(_)));
                if info.convergent != Convergent::None
                    || guarded && f.flags(instr).contains(Flags::DOM)
                {
                    return None;
                }
                u32::from(info.cost) * u32::from(f.comps(instr.def()))
            }
            InstrKind::Intrinsic => {
                let info = f.intrinsic_info(instr)?;
                if !info.flags.contains(IntrinsicFlags::SPECULATABLE)
                    || info.convergent != Convergent::None
                {
                    return None;
                }
                1
            }
            InstrKind::Deref | InstrKind::LoadConst | InstrKind::Undef => 0,
            InstrKind::Tex
            | InstrKind::Phi
            | InstrKind::Jump
            | InstrKind::Call
            | InstrKind::ParallelCopy => {
                return None;
            }
        };
    }
    Some((block, cost))
}
