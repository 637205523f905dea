//! Which value of a variable each place sees, and where phis are needed for that.
//!
//! Phis go where edges join and a value that is set inside the construct can meet another: behind an `if`, loop or `once`
//! and at a loop's two starts. These are all the blocks of the iterated dominance frontier and a few more (Cytron et al.
//! 1991, "Efficiently Computing Static Single Assignment Form"), found by a walk from each place that sets the variable
//! up the tree, as far as something behind reads it. Then one pass over the places of one variable in pre-order of the
//! dominator tree says what each of them sees. Blocks where nothing happens to the variable cost nothing.
//! O((places + phis) log).

use deburr_ir_core::{Block, Dominance, Function, Node, NodeKind};
use std::ops::Range;

/// What is seen at a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Source {
    /// What the variable holds when the function begins.
    Start,
    /// What it holds at the end of a block that sets it, by its number.
    Set(usize),
    /// A phi, by its number.
    Phi(usize),
}

/// Where a phi may be needed.
#[derive(Debug)]
pub(crate) struct Phi {
    /// Where.
    pub block: Block,
    /// Its sources, in [`Reaching::edges`], in the order of the text.
    pub edges: Range<usize>,
    /// Whether it is needed: something that reads sees it, perhaps through others.
    pub is_read: bool,
}

/// What is seen by the places that read a variable.
#[derive(Debug, Default)]
pub(crate) struct Reaching {
    /// For each place that reads.
    pub reads: Vec<Source>,
    /// Phis that these may need.
    pub phis: Vec<Phi>,
    /// What comes into phis, by predecessor.
    pub edges: Vec<(Block, Source)>,
}

/// The control flow of a function, as [`Places::reaching`] wants it. Holds as long as no edge and no block changes.
pub(crate) struct Places {
    dominance: Dominance,
    /// Where each block stands in the text.
    position: Vec<usize>,
    /// For each position: that of the first block of the outermost loop around, or its own.
    first: Vec<usize>,
    /// The number of the question that came by a node last.
    seen: Vec<u32>,
    question: u32,
}

/// What happens at a place, in the order in which it happens in a block.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Event {
    Phi,
    Read,
    Set,
    /// A predecessor's end is read for a phi.
    Edge,
}

impl Event {
    const ALL: [Event; 4] = [Event::Phi, Event::Read, Event::Set, Event::Edge];

    /// A number by which events sort: by the block's place in pre-order, then as they happen. It ends with which of its
    /// kind the event is; no function that fits into memory has 2³⁰ of one.
    fn key(self, pre_order: u32, n: usize) -> u64 {
        u64::from(pre_order) << 32 | (self as u64) << 30 | n as u64
    }

    fn of_key(key: u64) -> (Event, usize) {
        (Event::ALL[(key >> 30 & 3) as usize], (key & ((1 << 30) - 1)) as usize)
    }
}

impl Places {
    /// Looks at a function.
    pub fn new(f: &Function) -> Places {
        let mut position = vec![usize::MAX; f.block_capacity()];
        let mut blocks = 0;
        for block in f.blocks() {
            position[block.index()] = blocks;
            blocks += 1;
        }
        let mut first: Vec<usize> = (0..blocks).collect();
        let mut lists = vec![f.body()];
        while let Some(list) = lists.pop() {
            for node in f.list_nodes(list) {
                let NodeKind::Loop { body, .. } = f.node_kind(node) else {
                    lists.extend(f.child_lists(node));
                    continue;
                };
                // Loops inside are inside of its span.
                let start = position[f.first_block(body).index()];
                first[start..position[f.block_after(node).index()]].fill(start);
            }
        }
        Places { dominance: Dominance::new(f), position, first, seen: Vec::new(), question: 0 }
    }

    /// Where a block stands in the text.
    pub fn position(&self, block: Block) -> usize {
        self.position[block.index()]
    }

    /// What the starts of the blocks `reads` see of a variable that the blocks `sets` set, each of them once.
    pub fn reaching(&mut self, f: &Function, sets: &[Block], reads: &[Block]) -> Reaching {
        let mut reaching =
            Reaching { reads: vec![Source::Start; reads.len()], ..Reaching::default() };
        let mut events: Vec<u64> = Vec::new();
        let key = |places: &Places, event: Event, n: usize, block: Block| {
            Some(event.key(places.dominance.pre_order_number(block)?, n))
        };
        let mut last = None;
        for (n, &block) in reads.iter().enumerate() {
            if let Some(read) = key(self, Event::Read, n, block) {
                events.push(read);
                last = last.max(Some(self.position(block)));
            }
        }
        let Some(last) = last else { return reaching };
        events.extend(sets.iter().enumerate().filter_map(|(n, &b)| key(self, Event::Set, n, b)));
        let mut preds: Vec<Block> = Vec::new();
        for block in self.joins(f, sets, last) {
            preds.clear();
            preds.extend(f.preds(block));
            // That of predecessors depends on earlier edits.
            preds.sort_unstable_by_key(|&pred| self.position(pred));
            events.extend(key(self, Event::Phi, reaching.phis.len(), block));
            let first = reaching.edges.len();
            for &pred in &preds {
                events.extend(key(self, Event::Edge, reaching.edges.len(), pred));
                reaching.edges.push((pred, Source::Start));
            }
            let edges = first..reaching.edges.len();
            reaching.phis.push(Phi { block, edges, is_read: false });
        }
        // All keys differ.
        events.sort_unstable();
        let mut open: Vec<(Block, Source)> = Vec::new();
        for event in events {
            let (event, n) = Event::of_key(event);
            let block = match event {
                Event::Phi => reaching.phis[n].block,
                Event::Read => reads[n],
                Event::Set => sets[n],
                Event::Edge => reaching.edges[n].0,
            };
            while open.last().is_some_and(|&(above, _)| !self.dominance.dominates(above, block)) {
                open.pop();
            }
            let seen = open.last().map_or(Source::Start, |&(_, source)| source);
            match event {
                Event::Phi => open.push((block, Source::Phi(n))),
                Event::Set => open.push((block, Source::Set(n))),
                Event::Read => reaching.reads[n] = seen,
                Event::Edge => reaching.edges[n].1 = seen,
            }
        }
        reaching.mark_read();
        reaching
    }

    /// Joins where a value that one of the blocks sets can meet another, and that something at `last` or before may see.
    fn joins(&mut self, f: &Function, sets: &[Block], last: usize) -> Vec<Block> {
        self.question += 1;
        let mut joins = Vec::new();
        for &block in sets {
            let mut around = f.block_node(block).and_then(|node| f.parent(node));
            while let Some(node) = around.filter(|&n| self.is_new(n)) {
                let after = f.block_after(node);
                let starts = match f.node_kind(node) {
                    NodeKind::Loop { body, continue_list } => {
                        [Some(f.first_block(body)), Some(f.first_block(continue_list))]
                    }
                    NodeKind::If { .. } | NodeKind::Once { .. } | NodeKind::Block(_) => [None; 2],
                };
                // What is seen from a join is behind it, or in a loop around it.
                let is_seen = |block: Block| self.first[self.position(block)] <= last;
                let all = starts.into_iter().flatten().chain([after]);
                joins.extend(all.filter(|&b| f.preds(b).len() > 1 && is_seen(b)));
                if !is_seen(after) {
                    break;
                }
                around = f.parent(node);
            }
        }
        joins
    }

    /// Whether this question has not come by the node yet.
    fn is_new(&mut self, node: Node) -> bool {
        if self.seen.len() <= node.index() {
            self.seen.resize(node.index() + 1, 0);
        }
        std::mem::replace(&mut self.seen[node.index()], self.question) != self.question
    }
}

impl Reaching {
    /// Marks the phis that something reads.
    fn mark_read(&mut self) {
        let mut work: Vec<Source> = self.reads.clone();
        while let Some(source) = work.pop() {
            let Source::Phi(n) = source else { continue };
            let phi = &mut self.phis[n];
            if !std::mem::replace(&mut phi.is_read, true) {
                work.extend(self.edges[phi.edges.clone()].iter().map(|&(_, source)| source));
            }
        }
    }
}
