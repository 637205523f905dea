//! `dce`: removes instructions whose values nothing needs.
//!
//! Marks from the roots (stores, calls, jumps, conditions of `if`s, intrinsics that must stay) through the sources,
//! so a cycle of phis that only feeds itself goes as well. Any form. Keeps the control flow. O(n).
//!
//! ```text
//! 32 %1 = iadd %0, %0        // unused
//! @store_deref %p, %0        @store_deref %p, %0
//! ```

use deburr_ir_core::{Def, Function, Instr, InstrKind, IntrinsicFlags};

/// Whether the instruction must stay even if nothing uses its value.
pub(crate) fn is_root(f: &Function, instr: Instr) -> bool {
    match f.kind(instr) {
        InstrKind::Alu
        | InstrKind::Tex
        | InstrKind::Deref
        | InstrKind::LoadConst
        | InstrKind::Undef
        | InstrKind::Phi => false,
        InstrKind::Intrinsic => {
            let stays = f
                .intrinsic_info(instr)
                .is_none_or(|i| !i.flags.contains(IntrinsicFlags::ELIMINATE));
            stays || f.is_volatile(instr)
        }
        InstrKind::Jump | InstrKind::Call | InstrKind::ParallelCopy => true,
    }
}

/// Removes dead instructions from a function.
pub fn dce(f: &mut Function) -> bool {
    let mut live = vec![false; f.instr_capacity()];
    let mut work: Vec<Instr> = Vec::new();
    let blocks: Vec<_> = f.blocks().collect();
    for &block in &blocks {
        for instr in f.instrs(block) {
            if is_root(f, instr) {
                live[instr.index()] = true;
                work.push(instr);
            }
        }
        if let Some(condition) =
            f.block_node(block).and_then(|n| f.next_node(n)).and_then(|n| f.condition(n))
        {
            mark(&mut live, &mut work, condition);
        }
    }
    while let Some(instr) = work.pop() {
        for src in f.srcs(instr) {
            mark(&mut live, &mut work, src.def());
        }
    }
    let dead: Vec<Instr> =
        blocks.iter().flat_map(|&b| f.instrs(b)).filter(|i| !live[i.index()]).collect();
    // Dead values only feed dead instructions: drop the operands first, then the instructions.
    for &instr in &dead {
        f.clear_srcs(instr);
    }
    for &instr in &dead {
        f.remove(instr);
    }
    !dead.is_empty()
}

fn mark(live: &mut [bool], work: &mut Vec<Instr>, def: Def) {
    let instr = def.instr();
    if !std::mem::replace(&mut live[instr.index()], true) {
        work.push(instr);
    }
}
