//! Dominance: the tree of immediate dominators, O(1) queries, frontiers.
//!
//! The order of the text is a reverse post-order and edges are reducible, so one pass finds immediate dominators (as in
//! Cooper, Harvey, Kennedy, "A Simple, Fast Dominance Algorithm", 2001, but with ways up the tree that are short where it
//! is deep). Queries compare pre- and post-order numbers of the tree.

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
        let idom = immediate_dominators(f, &order, &position);
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

    /// The place of a block in [`Dominance::pre_order`]; `None` for unreachable ones.
    pub fn pre_order_number(&self, block: Block) -> Option<u32> {
        self.pre.get(block.index()).copied().filter(|&n| n != NONE)
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

/// The immediate dominator of each block, by position in the order; the start block is its own. `NONE` where there is none.
///
/// The order is a reverse post-order of a reducible graph, so all predecessors but those at the ends of back edges, which
/// the block dominates, come before it: its dominator is the closest common one of those, in the tree as far as it is
/// known.
fn immediate_dominators(f: &Function, order: &[Block], position: &[u32]) -> Vec<u32> {
    let mut tree = Ancestors::default();
    let mut idom = Vec::with_capacity(order.len());
    for (n, &block) in order.iter().enumerate() {
        let before = f.preds(block).iter().map(|pred| position[pred.index()]).filter(|&pred| {
            // What no edge leads to has no place in the tree.
            pred < n as u32 && idom[pred as usize] != NONE
        });
        let parent = match n {
            0 => Some(0),
            _ => before.reduce(|a, b| tree.common(a, b)),
        };
        tree.push(parent.unwrap_or(n as u32));
        idom.push(parent.unwrap_or(NONE));
    }
    idom
}

/// A tree that leaves are added to. Besides its parent each node knows an ancestor further up, so that ways up are short:
/// Myers, "An Applicative Random-Access Stack" (1983).
#[derive(Default)]
struct Ancestors {
    parent: Vec<u32>,
    /// Nodes of one depth jump to one depth.
    jump: Vec<u32>,
    depth: Vec<u32>,
}

impl Ancestors {
    /// Adds a node; one that is its own parent is a root.
    fn push(&mut self, parent: u32) {
        let node = self.parent.len() as u32;
        self.parent.push(parent);
        if parent == node {
            self.jump.push(node);
            self.depth.push(0);
            return;
        }
        let depth = |n: u32| self.depth[n as usize];
        let middle = self.jump[parent as usize];
        let far = self.jump[middle as usize];
        let even = depth(parent) - depth(middle) == depth(middle) - depth(far);
        self.depth.push(depth(parent) + 1);
        self.jump.push(if even { far } else { parent });
    }

    /// The closest common ancestor. O(log depth).
    fn common(&self, mut a: u32, mut b: u32) -> u32 {
        let depth = |n: u32| self.depth[n as usize];
        if depth(a) < depth(b) {
            std::mem::swap(&mut a, &mut b);
        }
        while depth(a) > depth(b) {
            let far = self.jump[a as usize];
            a = if depth(far) >= depth(b) { far } else { self.parent[a as usize] };
        }
        while a != b {
            let (far_a, far_b) = (self.jump[a as usize], self.jump[b as usize]);
            (a, b) = match far_a == far_b {
                true => (self.parent[a as usize], self.parent[b as usize]),
                false => (far_a, far_b),
            };
        }
        a
    }
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
