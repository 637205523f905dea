//! `cse`: one of two equal computations is enough where the first is on every path to the second.
//!
//! Walks the dominator tree with a scoped table: what stands in a block is seen by all blocks below it. Merges ALU
//! operations (blind to the order of commutative operands), constants, derefs, reorderable intrinsics, and phis of one
//! block. Flags of the survivor are the intersection, so that neither gains a licence or promise. Convergent
//! operations stay. Any form. Keeps the control flow. O(n).
//!
//! ```text
//! 32 %2 = iadd %0, %1
//! 32 %3 = iadd %1, %0
//! 32 %4 = imul %2, %3        32 %4 = imul %2, %2
//! ```

use crate::mem;
use deburr_ir_core::{
    AluProps, Block, Convergent, Def, Dominance, Function, Instr, InstrKind, InstrView,
    IntrinsicFlags,
};
use rustc_hash::{FxHashMap, FxHasher};
use std::hash::{Hash, Hasher};

/// Merges common subexpressions of a function.
pub fn cse(f: &mut Function) -> bool {
    let dominance = Dominance::new(f);
    let mut table = ScopedTable::default();
    let mut changed = false;
    let mut work = vec![Step::Enter(f.start_block())];
    while let Some(step) = work.pop() {
        match step {
            Step::Leave(mark) => table.leave(mark),
            Step::Enter(block) => {
                work.push(Step::Leave(table.mark()));
                changed |= visit(f, block, &mut table);
                work.extend(dominance.children(block).iter().rev().map(|&b| Step::Enter(b)));
            }
        }
    }
    changed
}

enum Step {
    Enter(Block),
    Leave(usize),
}

fn visit(f: &mut Function, block: Block, table: &mut ScopedTable) -> bool {
    let mut changed = false;
    let mut next = f.first_instr(block);
    while let Some(instr) = next {
        next = f.next_instr(instr);
        if !may_merge(f, instr) {
            continue;
        }
        if let Some(first) = table.find_or_insert(f, instr) {
            let flags = f.flags(first) & f.flags(instr);
            f.set_flags(first, flags);
            f.replace_all_uses(instr.def(), first.def());
            f.remove(instr);
            changed = true;
        }
    }
    changed
}

/// Whether equal instructions of this kind give equal values.
fn may_merge(f: &Function, instr: Instr) -> bool {
    match f.kind(instr) {
        InstrKind::Alu => f.alu_info(instr).is_some_and(|i| i.convergent == Convergent::None),
        InstrKind::Deref | InstrKind::LoadConst | InstrKind::Phi => true,
        InstrKind::Intrinsic => f.intrinsic_info(instr).is_some_and(|i| {
            let reorder = i.flags.contains(IntrinsicFlags::REORDER)
                || mem::is_load_of_constant_memory(f, instr);
            reorder
                && i.flags.contains(IntrinsicFlags::ELIMINATE)
                && i.convergent == Convergent::None
                && i.dest.is_some()
        }),
        // One arbitrary value each; texture operations read memory that stores may change.
        InstrKind::Undef | InstrKind::Tex => false,
        InstrKind::Jump | InstrKind::Call | InstrKind::ParallelCopy => false,
    }
}

/// Chains of instructions by hash, with a log to undo on leaving a scope.
#[derive(Default)]
struct ScopedTable {
    heads: FxHashMap<u64, usize>,
    log: Vec<(u64, Instr, Option<usize>)>,
}

impl ScopedTable {
    fn mark(&self) -> usize {
        self.log.len()
    }

    fn leave(&mut self, mark: usize) {
        while self.log.len() > mark {
            if let Some((hash, _, previous)) = self.log.pop() {
                match previous {
                    Some(previous) => self.heads.insert(hash, previous),
                    None => self.heads.remove(&hash),
                };
            }
        }
    }

    /// An equal instruction that is in scope; the instruction itself joins the table if there is none.
    fn find_or_insert(&mut self, f: &Function, instr: Instr) -> Option<Instr> {
        let hash = hash_of(f, instr);
        let head = self.heads.get(&hash).copied();
        let mut at = head;
        while let Some(i) = at {
            let (_, other, previous) = self.log[i];
            if equal(f, other, instr) {
                return Some(other);
            }
            at = previous;
        }
        self.heads.insert(hash, self.log.len());
        self.log.push((hash, instr, head));
        None
    }
}

fn is_commutative(f: &Function, instr: Instr) -> bool {
    f.alu_info(instr).is_some_and(|i| i.props.contains(AluProps::COMMUTATIVE))
}

/// An ALU source as the components it reads.
fn operand(f: &Function, instr: Instr, n: usize) -> (Def, u64) {
    let comps = f.src_comps(instr, n);
    let nibbles = f.swizzle(instr, n).iter(comps).fold(0, |acc, c| acc << 4 | u64::from(c));
    (f.src(instr, n), nibbles)
}

fn hash_of(f: &Function, instr: Instr) -> u64 {
    let mut h = FxHasher::default();
    f.kind(instr).hash(&mut h);
    f.shape(instr.def()).hash(&mut h);
    match f.view(instr) {
        InstrView::Alu(op) => {
            op.hash(&mut h);
            let first = usize::from(is_commutative(f, instr)) * 2;
            if first == 2 {
                let (a, b) = (operand(f, instr, 0), operand(f, instr, 1));
                (a.min(b), a.max(b)).hash(&mut h);
            }
            for n in first..f.srcs(instr).len() {
                operand(f, instr, n).hash(&mut h);
            }
            return h.finish();
        }
        InstrView::Intrinsic(op, indices) => (op, indices).hash(&mut h),
        InstrView::Tex(info) => info.hash(&mut h),
        InstrView::Deref(info) => info.hash(&mut h),
        InstrView::LoadConst(bits) => bits.hash(&mut h),
        InstrView::Undef | InstrView::ParallelCopy => {}
        // Sources of a phi may stand in any order.
        InstrView::Phi(_) => {
            f.block_of(instr).hash(&mut h);
            let sum = f
                .srcs(instr)
                .iter()
                .fold(0u64, |acc, s| acc.wrapping_add((s.def().index() as u64 + 1) * 0x9e37_79b9));
            sum.hash(&mut h);
            return h.finish();
        }
        InstrView::Jump(jump) => jump.hash(&mut h),
        InstrView::Call(func) => func.hash(&mut h),
    }
    for src in f.srcs(instr) {
        src.def().hash(&mut h);
    }
    h.finish()
}

fn equal(f: &Function, a: Instr, b: Instr) -> bool {
    if f.kind(a) != f.kind(b)
        || f.shape(a.def()) != f.shape(b.def())
        || f.srcs(a).len() != f.srcs(b).len()
    {
        return false;
    }
    let same_srcs = || f.srcs(a).iter().zip(f.srcs(b)).all(|(x, y)| x.def() == y.def());
    match (f.view(a), f.view(b)) {
        (InstrView::Alu(x), InstrView::Alu(y)) => x == y && equal_operands(f, a, b),
        (InstrView::Intrinsic(x, i), InstrView::Intrinsic(y, j)) => x == y && i == j && same_srcs(),
        (InstrView::Tex(x), InstrView::Tex(y)) => x == y && same_srcs(),
        (InstrView::Deref(x), InstrView::Deref(y)) => x == y && same_srcs(),
        (InstrView::LoadConst(x), InstrView::LoadConst(y)) => x == y,
        (InstrView::Phi(x), InstrView::Phi(y)) if f.block_of(a) == f.block_of(b) => {
            if x == y {
                return same_srcs();
            }
            let by_block = |preds: &[Block], phi: Instr| {
                let defs = f.srcs(phi).iter().map(|src| src.def());
                let mut list: Vec<(Block, Def)> = preds.iter().copied().zip(defs).collect();
                list.sort_unstable();
                list
            };
            by_block(x, a) == by_block(y, b)
        }
        _ => false,
    }
}

fn equal_operands(f: &Function, a: Instr, b: Instr) -> bool {
    let same = |n: usize, m: usize| operand(f, a, n) == operand(f, b, m);
    if is_commutative(f, a) {
        let pair = same(0, 0) && same(1, 1) || same(0, 1) && same(1, 0);
        return pair && (2..f.srcs(a).len()).all(|n| same(n, n));
    }
    (0..f.srcs(a).len()).all(|n| same(n, n))
}
