//! Dominance: the tree of immediate dominators, O(1) queries, frontiers.
//!
//! Immediate dominators after Cooper, Harvey, Kennedy, "A Simple, Fast Dominance Algorithm" (2001): the order of the
//! text is the reverse post-order that it wants. Queries compare pre- and post-order numbers of the tree.

use crate::entity::{Block, PackedOption};
use crate::func::Function;

const NONE: u32 = u32::MAX;

/// Dominance among the reachable blocks of a function, the end block included where something reaches it.
///
/// Holds as long as no edge and no block changes; instructions may.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dominance {
    order: Vec<Block>,
    idom: Vec<PackedOption<Block>>,
    /// Pre-order number of a block in the dominator tree, and that of the last block below it.
    pre: Vec<u32>,
    last: Vec<u32>,
    /// `children[first_child[b]..first_child[b + 1]]` are dominated by b immediately, in the order of the text.
    first_child: Vec<u32>,
    children: Vec<Block>,
}

impl Dominance {
    /// Computes it.
    pub fn new(f: &Function) -> Self {
        let capacity = f.block_capacity();
        let mut order = f.reachable_in_order();
        if !f.preds(f.end_block()).is_empty() {
            order.push(f.end_block());
        }
        let mut position = vec![NONE; capacity];
        for (n, block) in order.iter().enumerate() {
            position[block.index()] = n as u32;
        }
        // By position in the order.
        let mut idom = vec![NONE; order.len()];
        if let Some(first) = idom.first_mut() {
            *first = 0;
        }
        let mut changed = true;
        while changed {
            changed = false;
            for (n, &block) in order.iter().enumerate().skip(1) {
                let mut new = NONE;
                for pred in f.preds(block) {
                    let pred = position[pred.index()];
                    if pred != NONE && idom[pred as usize] != NONE {
                        new = if new == NONE { pred } else { meet(&idom, new, pred) };
                    }
                }
                if new != idom[n] {
                    idom[n] = new;
                    changed = true;
                }
            }
        }
        let mut first_child = vec![0; capacity + 1];
        for &parent in idom.iter().skip(1).filter(|&&p| p != NONE) {
            first_child[order[parent as usize].index() + 1] += 1;
        }
        for n in 0..capacity {
            first_child[n + 1] += first_child[n];
        }
        let mut next = first_child.clone();
        let mut children = vec![f.start_block(); first_child[capacity] as usize];
        let mut idoms = vec![PackedOption::NONE; capacity];
        for (n, &block) in order.iter().enumerate().skip(1).filter(|(n, _)| idom[*n] != NONE) {
            let parent = order[idom[n] as usize];
            idoms[block.index()] = parent.into();
            children[next[parent.index()] as usize] = block;
            next[parent.index()] += 1;
        }
        let mut tree = Dominance {
            order,
            idom: idoms,
            pre: vec![NONE; capacity],
            last: vec![0; capacity],
            first_child,
            children,
        };
        tree.number(f.start_block());
        tree
    }

    /// Numbers the tree in pre-order, without recursion.
    fn number(&mut self, root: Block) {
        let mut next = 0;
        let mut stack = vec![(root, false)];
        while let Some((block, done)) = stack.pop() {
            if done {
                self.last[block.index()] = next - 1;
                continue;
            }
            self.pre[block.index()] = next;
            next += 1;
            stack.push((block, true));
            let range = self.child_range(block);
            stack.extend(self.children[range].iter().rev().map(|&child| (child, false)));
        }
    }

    fn child_range(&self, block: Block) -> std::ops::Range<usize> {
        self.first_child[block.index()] as usize..self.first_child[block.index() + 1] as usize
    }

    /// The reachable blocks in the order of the text, which is a reverse post-order; the end block last.
    pub fn order(&self) -> &[Block] {
        &self.order
    }

    /// Whether anything reaches the block.
    pub fn is_reachable(&self, block: Block) -> bool {
        self.pre.get(block.index()).is_some_and(|&n| n != NONE)
    }

    /// Whether every path from the start to `b` goes through `a`; a block dominates itself. Unreachable blocks dominate
    /// nothing and are dominated by nothing. O(1).
    pub fn dominates(&self, a: Block, b: Block) -> bool {
        self.is_reachable(a)
            && self.is_reachable(b)
            && self.pre[a.index()] <= self.pre[b.index()]
            && self.pre[b.index()] <= self.last[a.index()]
    }

    /// The closest block that dominates this one, other than itself; `None` for the start block and unreachable ones.
    pub fn idom(&self, block: Block) -> Option<Block> {
        self.idom.get(block.index())?.get()
    }

    /// The blocks that this one dominates immediately.
    pub fn children(&self, block: Block) -> &[Block] {
        &self.children[self.child_range(block)]
    }

    /// The reachable blocks in pre-order of the dominator tree.
    pub fn pre_order(&self) -> Vec<Block> {
        let mut order: Vec<Block> = self.order.clone();
        order.sort_unstable_by_key(|b| self.pre[b.index()]);
        order
    }

    /// The closest block that dominates both; `None` if one of them is unreachable.
    pub fn common(&self, a: Block, b: Block) -> Option<Block> {
        if !self.is_reachable(a) || !self.is_reachable(b) {
            return None;
        }
        let mut at = a;
        while !self.dominates(at, b) {
            at = self.idom(at)?;
        }
        Some(at)
    }

    /// The dominance frontier of each block: where it stops to dominate.
    pub fn frontiers(&self, f: &Function) -> Frontiers {
        let mut of: Vec<Vec<Block>> = vec![Vec::new(); self.pre.len()];
        for &block in &self.order {
            let idom = self.idom(block);
            // Only where edges join; the start block may be the header of no loop, so it has none.
            for &pred in f.preds(block) {
                let mut at = Some(pred).filter(|&b| self.is_reachable(b));
                while let Some(b) = at.filter(|_| at != idom) {
                    if of[b.index()].last() != Some(&block) {
                        of[b.index()].push(block);
                    }
                    at = self.idom(b);
                }
            }
        }
        Frontiers { of }
    }
}

/// The closest common dominator of two blocks, by position in the order.
fn meet(idom: &[u32], mut a: u32, mut b: u32) -> u32 {
    while a != b {
        while a > b {
            a = idom[a as usize];
        }
        while b > a {
            b = idom[b as usize];
        }
    }
    a
}

/// Dominance frontiers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Frontiers {
    of: Vec<Vec<Block>>,
}

impl Frontiers {
    /// The blocks that this one does not strictly dominate but that have a predecessor which it dominates.
    pub fn of(&self, block: Block) -> &[Block] {
        self.of.get(block.index()).map_or(&[], Vec::as_slice)
    }

    /// Where a value defined in these blocks needs phis: their iterated frontier, in no particular order.
    pub fn iterated(&self, blocks: &[Block]) -> Vec<Block> {
        let mut work = blocks.to_vec();
        let mut seen = vec![false; self.of.len()];
        let mut phis = Vec::new();
        while let Some(block) = work.pop() {
            for &at in self.of(block) {
                if !std::mem::replace(&mut seen[at.index()], true) {
                    phis.push(at);
                    work.push(at);
                }
            }
        }
        phis
    }
}

impl Function {
    /// The blocks of the body that something reaches, in the order of the text, which is a reverse post-order.
    pub fn reachable_in_order(&self) -> Vec<Block> {
        let reached = self.reached_blocks();
        self.blocks().filter(|b| reached[b.index()]).collect()
    }

    /// The reachable blocks of the body in post-order: each after all that it leads to by edges that are no back
    /// edges.
    pub fn post_order(&self) -> Vec<Block> {
        let mut order = self.reachable_in_order();
        order.reverse();
        order
    }
}
