//! What is computed from a function and kept beside it: dominance, the order of instructions, loops, liveness.
//!
//! A pass asks for what it needs, which computes what is not there; when it is done, it says what it kept
//! ([`Metadata::keep`]), and the rest is forgotten. In debug builds what a pass says it kept is computed again and
//! compared, so that a pass that lies is found where it lies (F72).

use crate::cf::NodeKind;
use crate::dom::Dominance;
use crate::entity::{Block, Def, Instr, Node, PackedOption};
use crate::func::Function;
use crate::instr::{InstrView, User};
use bitflags::bitflags;

bitflags! {
    /// Kinds of metadata.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
    pub struct Kept: u8 {
        /// [`Dominance`]: holds while blocks and edges stay.
        const DOMINANCE = 1;
        /// [`InstrOrder`]: holds while instructions stay where they are.
        const INSTR_ORDER = 1 << 1;
        /// [`Loops`]: holds while the control-flow tree stays.
        const LOOPS = 1 << 2;
        /// [`Liveness`]: holds while uses and edges stay.
        const LIVENESS = 1 << 3;
        /// What only depends on control flow.
        const CONTROL_FLOW = Self::DOMINANCE.bits() | Self::LOOPS.bits();
    }
}

/// The place of each instruction in the order of the text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InstrOrder {
    position: Vec<u32>,
}

impl InstrOrder {
    fn new(f: &Function) -> Self {
        let mut position = vec![u32::MAX; f.instr_capacity()];
        for (n, instr) in f.all_instrs().enumerate() {
            position[instr.index()] = n as u32;
        }
        InstrOrder { position }
    }

    /// Place of an instruction; `None` for those that are in no block.
    pub fn position(&self, instr: Instr) -> Option<u32> {
        self.position.get(instr.index()).copied().filter(|&n| n != u32::MAX)
    }
}

/// Which loops each block is in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Loops {
    innermost: Vec<PackedOption<Node>>,
    depth: Vec<u32>,
}

impl Loops {
    fn new(f: &Function) -> Self {
        let mut innermost = vec![PackedOption::NONE; f.block_capacity()];
        let mut depth = vec![0; f.block_capacity()];
        let mut lists = vec![(f.body(), PackedOption::NONE, 0)];
        while let Some((list, around, level)) = lists.pop() {
            for node in f.list_nodes(list) {
                let (around, level) = match f.node_kind(node) {
                    NodeKind::Block(block) => {
                        innermost[block.index()] = around;
                        depth[block.index()] = level;
                        continue;
                    }
                    NodeKind::Loop { .. } => (node.into(), level + 1),
                    NodeKind::If { .. } | NodeKind::Once { .. } => (around, level),
                };
                lists.extend(f.child_lists(node).into_iter().map(|l| (l, around, level)));
            }
        }
        Loops { innermost, depth }
    }

    /// The innermost loop around a block; the blocks of its continue list are in it.
    pub fn innermost(&self, block: Block) -> Option<Node> {
        self.innermost.get(block.index())?.get()
    }

    /// How many loops are around a block.
    pub fn depth(&self, block: Block) -> u32 {
        self.depth.get(block.index()).copied().unwrap_or(0)
    }
}

/// Which values are live where blocks begin. Costs as much as there is to say: values times blocks that they live
/// through.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Liveness {
    live_in: Vec<Vec<Def>>,
}

impl Liveness {
    /// Walks from each use up to the definition (Boissinot et al., "Fast Liveness Checking", 2008, section 2).
    fn new(f: &Function) -> Self {
        let mut live_in = vec![Vec::new(); f.block_capacity()];
        let mut seen = vec![u32::MAX; f.block_capacity()];
        let mut work = Vec::new();
        for n in 0..f.instr_capacity() {
            let instr = Instr::from_index(n);
            let Some(home) = f.block_of(instr) else { continue };
            for (user, n) in f.uses_at(instr.def()) {
                let at = match user {
                    User::If(node) => Some(f.block_before(node)),
                    User::Instr(user) => match f.view(user) {
                        // A phi reads at the end of the predecessor.
                        InstrView::Phi(preds) => Some(preds[n]),
                        _ => f.block_of(user),
                    },
                };
                work.extend(at);
            }
            while let Some(block) = work.pop() {
                let first = std::mem::replace(&mut seen[block.index()], n as u32) != n as u32;
                if block != home && first {
                    live_in[block.index()].push(instr.def());
                    work.extend(f.preds(block));
                }
            }
        }
        Liveness { live_in }
    }

    /// Values defined before a block that it or blocks behind it read, in the order of their numbers; its phis'
    /// sources are live at the ends of the predecessors, not here.
    pub fn live_in(&self, block: Block) -> &[Def] {
        self.live_in.get(block.index()).map_or(&[], Vec::as_slice)
    }
}

/// Metadata of one function.
///
/// ```
/// use deburr_ir_core::{Function, Kept, Metadata};
///
/// let f = Function::new("main");
/// let mut metadata = Metadata::default();
/// assert!(metadata.dominance(&f).dominates(f.start_block(), f.start_block()));
/// // A pass that moved instructions but no blocks:
/// metadata.keep(&f, Kept::CONTROL_FLOW, "example");
/// ```
#[derive(Clone, Debug, Default)]
pub struct Metadata {
    dominance: Option<Dominance>,
    instr_order: Option<InstrOrder>,
    loops: Option<Loops>,
    liveness: Option<Liveness>,
}

impl Metadata {
    /// Dominance, computed if it is not there.
    pub fn dominance(&mut self, f: &Function) -> &Dominance {
        self.dominance.get_or_insert_with(|| Dominance::new(f))
    }

    /// The order of instructions, computed if it is not there.
    pub fn instr_order(&mut self, f: &Function) -> &InstrOrder {
        self.instr_order.get_or_insert_with(|| InstrOrder::new(f))
    }

    /// Loops, computed if they are not there.
    pub fn loops(&mut self, f: &Function) -> &Loops {
        self.loops.get_or_insert_with(|| Loops::new(f))
    }

    /// Liveness, computed if it is not there.
    pub fn liveness(&mut self, f: &Function) -> &Liveness {
        self.liveness.get_or_insert_with(|| Liveness::new(f))
    }

    /// What is there.
    pub fn present(&self) -> Kept {
        let mut present = Kept::empty();
        present.set(Kept::DOMINANCE, self.dominance.is_some());
        present.set(Kept::INSTR_ORDER, self.instr_order.is_some());
        present.set(Kept::LOOPS, self.loops.is_some());
        present.set(Kept::LIVENESS, self.liveness.is_some());
        present
    }

    /// Forgets all but `kept`.
    ///
    /// # Panics
    /// In debug builds, if `pass` did not keep what it says.
    pub fn keep(&mut self, f: &Function, kept: Kept, pass: &str) {
        if !kept.contains(Kept::DOMINANCE) {
            self.dominance = None;
        }
        if !kept.contains(Kept::INSTR_ORDER) {
            self.instr_order = None;
        }
        if !kept.contains(Kept::LOOPS) {
            self.loops = None;
        }
        if !kept.contains(Kept::LIVENESS) {
            self.liveness = None;
        }
        if cfg!(debug_assertions) {
            let stale = self.stale(f);
            assert!(
                stale.is_empty(),
                "the pass `{pass}` says that it kept {stale:?}, but it did not"
            );
        }
    }

    /// What is there and no longer holds: computes all of it again.
    pub fn stale(&self, f: &Function) -> Kept {
        let mut stale = Kept::empty();
        stale
            .set(Kept::DOMINANCE, self.dominance.as_ref().is_some_and(|d| *d != Dominance::new(f)));
        stale.set(
            Kept::INSTR_ORDER,
            self.instr_order.as_ref().is_some_and(|o| *o != InstrOrder::new(f)),
        );
        stale.set(Kept::LOOPS, self.loops.as_ref().is_some_and(|l| *l != Loops::new(f)));
        stale.set(Kept::LIVENESS, self.liveness.as_ref().is_some_and(|l| *l != Liveness::new(f)));
        stale
    }
}

impl Function {
    /// Instructions in the tree.
    pub fn instr_count(&self) -> usize {
        self.all_instrs().count()
    }

    /// Bytes of the arena for each instruction in the tree (F31); infinite where there is none.
    pub fn bytes_per_instr(&self) -> f64 {
        self.arena_bytes() as f64 / self.instr_count() as f64
    }
}
