//! What random programs were made of, counted, and what they should have been made of but weren't.

use crate::licensed::LICENSED_OPS;
use deburr_ir_core::{
    ALU_INFO, AluOp, DerefKind, Flags, Function, InstrKind, InstrView, Intrinsic, JumpKind, Modes,
    Module, NodeKind, User,
};
use std::collections::{BTreeMap, BTreeSet};

/// Intrinsics that the programs of [`program`](crate::program) use.
pub const INTRINSICS: &[Intrinsic] = &[
    Intrinsic::LOAD_DEREF,
    Intrinsic::STORE_DEREF,
    Intrinsic::COPY_DEREF,
    Intrinsic::DEREF_ATOMIC,
    Intrinsic::DEREF_ATOMIC_SWAP,
    Intrinsic::DEREF_ATOMIC_LOAD,
    Intrinsic::DEREF_ATOMIC_STORE,
    Intrinsic::DEREF_BUFFER_ARRAY_LENGTH,
    Intrinsic::LOAD_PARAM,
    Intrinsic::LOAD_SPEC_CONSTANT,
    Intrinsic::BARRIER,
    Intrinsic::ELECT,
    Intrinsic::BALLOT,
    Intrinsic::VOTE_ANY,
    Intrinsic::VOTE_ALL,
    Intrinsic::VOTE_IEQ,
    Intrinsic::READ_FIRST_INVOCATION,
    Intrinsic::READ_INVOCATION,
    Intrinsic::SHUFFLE,
    Intrinsic::SHUFFLE_XOR,
    Intrinsic::SHUFFLE_UP,
    Intrinsic::SHUFFLE_DOWN,
    Intrinsic::REDUCE,
    Intrinsic::INCLUSIVE_SCAN,
    Intrinsic::EXCLUSIVE_SCAN,
];

/// Depth to which control flow is claimed to nest.
const DEPTH: u32 = 4;

/// Kinds of deref.
const DEREFS: [&str; 8] = [
    "variable",
    "member",
    "element",
    "wildcard",
    "neighbour",
    "neighbour of a local",
    "cast",
    "cast of a local",
];

/// Places that are returned from, and what is used behind a loop or `once` that a return leaves.
const RETURNS: [&str; 5] = [
    "out of a loop",
    "out of loops in each other",
    "out of a once",
    "with a value alive behind",
    "with a pointer alive behind",
];

/// How regions are left, and what regions stand in each other.
const EXITS: [&str; 13] = [
    "break out of ifs in each other",
    "continue out of ifs in each other",
    "continue out of a once",
    "break in an else",
    "if whose arms both leave",
    "three ways behind a once",
    "three ways behind a loop",
    "three ways to a continue list",
    "loop in a once",
    "once in a loop",
    "once in a once",
    "region in a continue list",
    "body that does not end",
];

/// Counts over programs.
#[derive(Clone, Debug, Default)]
pub struct Histogram {
    /// Programs.
    pub programs: u64,
    /// Instructions in each program.
    pub sizes: Vec<usize>,
    /// Ifs and loops in each program.
    pub forks: Vec<usize>,
    ops: BTreeMap<(u16, u8), u64>,
    intrinsics: BTreeMap<u16, u64>,
    comps: BTreeMap<u8, u64>,
    swizzles: BTreeMap<&'static str, u64>,
    jumps: BTreeMap<&'static str, u64>,
    nodes: BTreeMap<&'static str, u64>,
    nesting: BTreeMap<u32, u64>,
    derefs: BTreeMap<&'static str, u64>,
    returns: BTreeMap<&'static str, u64>,
    exits: BTreeMap<&'static str, u64>,
    constants_only: u64,
    promises: u64,
    licences: BTreeMap<&'static str, u64>,
    calls: u64,
}

impl Histogram {
    /// Counts a program.
    pub fn add(&mut self, m: &Module) {
        self.programs += 1;
        let (mut size, mut forks) = (0, 0);
        for f in m.functions.iter().filter(|f| f.has_body()) {
            for instr in f.all_instrs() {
                size += 1;
                if let Some(def) = f.def(instr) {
                    *self.comps.entry(f.comps(def)).or_default() += 1;
                }
                match f.view(instr) {
                    InstrView::Alu(op) => {
                        let Some(info) = f.alu_info(instr) else { continue };
                        let srcs = f.srcs(instr);
                        let width = info.unsized_width(
                            f.bits(instr.def()),
                            srcs.iter().map(|s| f.bits(s.def())),
                        );
                        *self.ops.entry((op.0, width)).or_default() += 1;
                        let constant = |d| f.kind(d) == InstrKind::LoadConst;
                        self.constants_only +=
                            u64::from(srcs.iter().all(|s| constant(s.def().instr())));
                        self.promises += u64::from(f.flags(instr).intersects(Flags::PROMISES));
                        for (name, _) in (f.flags(instr) & Flags::LICENCES).iter_names() {
                            *self.licences.entry(name).or_default() += 1;
                        }
                        for n in 0..srcs.len() {
                            let comps = f.src_comps(instr, n);
                            let swizzle = f.swizzle(instr, n);
                            let lanes: Vec<u8> = swizzle.iter(comps).collect();
                            let kind = match () {
                                () if swizzle.is_identity(comps) => "identity",
                                () if lanes.windows(2).all(|w| w[0] == w[1]) => "splat",
                                () if lanes.windows(2).all(|w| w[0] > w[1]) => "reverse",
                                () => "other",
                            };
                            *self.swizzles.entry(kind).or_default() += 1;
                        }
                    }
                    InstrView::Intrinsic(op, _) => *self.intrinsics.entry(op.0).or_default() += 1,
                    InstrView::Jump(jump) => {
                        let name = JumpKind::NAMES.iter().find(|(_, j)| *j == jump);
                        *self.jumps.entry(name.map_or("?", |(n, _)| n)).or_default() += 1;
                    }
                    InstrView::Call(_) => self.calls += 1,
                    InstrView::Deref(deref) => {
                        let local = deref.modes == Modes::FUNCTION;
                        let parent = f.srcs(instr).first().map(|s| s.def().instr());
                        let of_deref = parent.is_some_and(|p| f.deref(p).is_some());
                        let name = match deref.kind {
                            DerefKind::Var(_) => "variable",
                            DerefKind::Struct(_) => "member",
                            DerefKind::Array => "element",
                            DerefKind::Wildcard => "wildcard",
                            DerefKind::PtrAsArray if local => "neighbour of a local",
                            DerefKind::PtrAsArray => "neighbour",
                            DerefKind::Cast if local && of_deref => "cast of a local",
                            DerefKind::Cast => "cast",
                        };
                        *self.derefs.entry(name).or_default() += 1;
                    }
                    InstrView::Tex(_)
                    | InstrView::LoadConst(_)
                    | InstrView::Undef
                    | InstrView::Phi(_)
                    | InstrView::ParallelCopy => {}
                }
            }
            self.returns(f);
            self.exits(f);
            let mut lists = vec![(f.body(), 0)];
            while let Some((list, depth)) = lists.pop() {
                for node in f.list_nodes(list) {
                    let kind = match f.node_kind(node) {
                        NodeKind::Block(_) => continue,
                        NodeKind::If { .. } => "if",
                        NodeKind::Loop { .. } => "loop",
                        NodeKind::Once { .. } => "once",
                    };
                    forks += usize::from(kind != "once");
                    *self.nodes.entry(kind).or_default() += 1;
                    *self.nesting.entry(depth + 1).or_default() += 1;
                    lists.extend(f.child_lists(node).into_iter().map(|l| (l, depth + 1)));
                }
            }
        }
        self.sizes.push(size);
        self.forks.push(forks);
    }

    /// Counts the returns from within loops and `once`s, and what is alive behind those.
    fn returns(&mut self, f: &Function) {
        let mut left = BTreeSet::new();
        for block in f.blocks() {
            if f.block_jump(block).is_none_or(|(_, jump)| jump != JumpKind::Return) {
                continue;
            }
            let around = std::iter::successors(f.block_node(block), |&n| f.parent(n));
            let (mut loops, mut onces) = (0, 0);
            for node in around {
                match f.node_kind(node) {
                    NodeKind::Loop { .. } => loops += 1,
                    NodeKind::Once { .. } => onces += 1,
                    NodeKind::Block(_) | NodeKind::If { .. } => continue,
                }
                left.insert(node);
            }
            let mut count = |name, n: u64| *self.returns.entry(name).or_default() += n;
            count(RETURNS[0], u64::from(loops == 1));
            count(RETURNS[1], u64::from(loops > 1));
            count(RETURNS[2], u64::from(onces > 0));
        }
        for node in left {
            let inside = |block| {
                let around = std::iter::successors(f.block_node(block), |&n| f.parent(n));
                around.into_iter().any(|n| n == node)
            };
            let blocks = f.child_lists(node).into_iter().flat_map(|l| f.list_blocks(l));
            let crosses = |def| {
                f.uses(def).any(|u| match u.user() {
                    User::Instr(i) => !f.block_of(i).is_some_and(inside),
                    User::If(node) => !inside(f.block_before(node)),
                })
            };
            for instr in blocks.flat_map(|b| f.instrs(b)) {
                if f.def(instr).is_some_and(crosses) {
                    let of_deref = f.deref(instr).is_some();
                    *self.returns.entry(RETURNS[3 + usize::from(of_deref)]).or_default() += 1;
                }
            }
        }
    }

    /// Counts the breaks and continues, and the regions that they leave.
    fn exits(&mut self, f: &Function) {
        let mut count = |n: usize, there: bool| {
            *self.exits.entry(EXITS[n]).or_default() += u64::from(there);
        };
        for block in f.blocks() {
            let Some((_, jump)) = f.block_jump(block) else { continue };
            let around = std::iter::successors(f.block_node(block), |&n| f.parent(n)).skip(1);
            let kinds: Vec<NodeKind> = around.map(|n| f.node_kind(n)).collect();
            let ifs = kinds.iter().take_while(|k| matches!(k, NodeKind::If { .. })).count();
            let list = f.block_node(block).map(|n| f.node_list(n));
            let other = matches!(kinds.first(), Some(NodeKind::If { else_list, .. }) if Some(*else_list) == list);
            let in_once = matches!(kinds.get(ifs), Some(NodeKind::Once { .. }));
            count(0, jump == JumpKind::Break && ifs > 1);
            count(1, jump == JumpKind::Continue && ifs > 1);
            count(2, jump == JumpKind::Continue && in_once);
            count(3, jump == JumpKind::Break && other);
        }
        let ways = |block| f.phis(block).map(|phi| f.srcs(phi).len()).max().unwrap_or(0);
        let mut lists = vec![(f.body(), None, false)];
        while let Some((list, around, continues)) = lists.pop() {
            for node in f.list_nodes(list) {
                let kind = f.node_kind(node);
                let inner = match kind {
                    NodeKind::Block(_) => continue,
                    NodeKind::If { then_list, else_list } => {
                        let leaves = |l| !f.preds(f.block_after(node)).contains(&f.last_block(l));
                        count(4, leaves(then_list) && leaves(else_list));
                        around
                    }
                    NodeKind::Once { body } => {
                        count(5, ways(f.block_after(node)) > 2);
                        count(9, matches!(around, Some(NodeKind::Loop { .. })));
                        count(10, matches!(around, Some(NodeKind::Once { .. })));
                        count(12, !f.is_reachable(f.last_block(body)));
                        Some(kind)
                    }
                    NodeKind::Loop { body, continue_list } => {
                        count(6, ways(f.block_after(node)) > 2);
                        count(7, ways(f.first_block(continue_list)) > 2);
                        count(8, matches!(around, Some(NodeKind::Once { .. })));
                        count(12, !f.is_reachable(f.last_block(body)));
                        lists.push((continue_list, None, true));
                        Some(kind)
                    }
                };
                count(11, continues && !matches!(kind, NodeKind::If { .. }));
                let all = f.child_lists(node).into_iter();
                let skipped = match kind {
                    NodeKind::Loop { continue_list, .. } => Some(continue_list),
                    NodeKind::Block(_) | NodeKind::If { .. } | NodeKind::Once { .. } => None,
                };
                lists.extend(all.filter(|&l| Some(l) != skipped).map(|l| (l, inner, continues)));
            }
        }
    }

    /// The medians of instructions, and of ifs and loops.
    pub fn medians(&self) -> (usize, usize) {
        let median = |values: &[usize]| {
            let mut values = values.to_vec();
            values.sort_unstable();
            values.get(values.len() / 2).copied().unwrap_or(0)
        };
        (median(&self.sizes), median(&self.forks))
    }

    /// What the programs should have had but never did.
    pub fn missing(&self) -> Vec<String> {
        let mut missing = Vec::new();
        for (n, info) in ALU_INFO.iter().enumerate().filter(|(_, i)| i.fold.is_some()) {
            let widths: &[u8] = if info.sizes.is_empty() { &[0] } else { info.sizes };
            for width in widths {
                if !self.ops.contains_key(&(n as u16, *width)) {
                    missing.push(format!("{} at {width} bits", info.name));
                }
            }
        }
        for op in INTRINSICS.iter().filter(|op| !self.intrinsics.contains_key(&op.0)) {
            missing.push(format!("@{op:?}"));
        }
        let mut need = |what: &str, there: bool| {
            if !there {
                missing.push(what.to_string());
            }
        };
        for comps in [1, 2, 3, 4, 5, 8, 16] {
            need(&format!("values of {comps} components"), self.comps.contains_key(&comps));
        }
        for kind in ["identity", "splat", "reverse", "other"] {
            need(&format!("swizzle: {kind}"), self.swizzles.contains_key(kind));
        }
        for (name, _) in JumpKind::NAMES {
            need(name, self.jumps.contains_key(name));
        }
        for kind in ["if", "loop", "once"] {
            need(kind, self.nodes.contains_key(kind));
        }
        for depth in 1..=DEPTH {
            need(&format!("nesting {depth}"), self.nesting.contains_key(&depth));
        }
        for kind in DEREFS {
            need(&format!("deref: {kind}"), self.derefs.contains_key(kind));
        }
        for kind in RETURNS {
            need(&format!("return: {kind}"), self.returns.get(kind).is_some_and(|&n| n > 0));
        }
        for kind in EXITS {
            need(&format!("exit: {kind}"), self.exits.get(kind).is_some_and(|&n| n > 0));
        }
        need("operations on constants alone", self.constants_only > 0);
        need("promises", self.promises > 0);
        need("calls", self.calls > 0);
        missing
    }

    /// What programs of [`licensed_program`](crate::licensed_program) should have had but never did.
    pub fn missing_with_licences(&self) -> Vec<String> {
        let mut missing = Vec::new();
        let mut need = |what: String, there: bool| {
            if !there {
                missing.push(format!("with licences: {what}"));
            }
        };
        for op in LICENSED_OPS {
            need(format!("{op:?}"), self.ops.contains_key(&(op.0, 32)));
        }
        for comps in [1, 2, 3, 4] {
            need(format!("values of {comps} components"), self.comps.contains_key(&comps));
        }
        for kind in ["identity", "splat", "reverse", "other"] {
            need(format!("swizzle: {kind}"), self.swizzles.contains_key(kind));
        }
        for jump in ["break", "continue"] {
            need(jump.into(), self.jumps.contains_key(jump));
        }
        for kind in ["if", "loop"] {
            need(kind.into(), self.nodes.contains_key(kind));
        }
        for (name, _) in (Flags::LICENCES - Flags::RELAXED).iter_names() {
            need(format!("licence {name}"), self.licences.contains_key(name));
        }
        missing
    }

    /// The counts as lines.
    pub fn lines(&self) -> Vec<String> {
        let list = |items: Vec<String>| items.join(" ");
        let mut lines = self.summary();
        let mut by_op: BTreeMap<u16, Vec<(u8, u64)>> = BTreeMap::new();
        for (&(op, width), &n) in &self.ops {
            by_op.entry(op).or_default().push((width, n));
        }
        let intrinsic = |(&op, n): (&u16, &u64)| format!("{:?}:{n}", Intrinsic(op));
        lines.push(format!("intrinsics {}", list(self.intrinsics.iter().map(intrinsic).collect())));
        for chunk in by_op.iter().collect::<Vec<_>>().chunks(12) {
            let item = |(op, sizes): &(&u16, &Vec<(u8, u64)>)| {
                let sizes: Vec<String> = sizes.iter().map(|(w, n)| format!("{w}:{n}")).collect();
                format!("{:?}({})", AluOp(**op), sizes.join(" "))
            };
            lines.push(list(chunk.iter().map(item).collect()));
        }
        lines
    }
    /// The counts as lines, but for those of each opcode and intrinsic.
    pub fn summary(&self) -> Vec<String> {
        let (size, forks) = self.medians();
        let list = |items: Vec<String>| items.join(" ");
        let named = |map: &BTreeMap<&'static str, u64>| {
            list(map.iter().map(|(k, n)| format!("{k}:{n}")).collect())
        };
        let least = self.ops.iter().min_by_key(|(_, n)| **n);
        let least = least.map_or(String::new(), |(&(op, width), n)| {
            format!("{:?} at {width} bits: {n}", AluOp(op))
        });
        vec![
            format!(
                "{} programs, median of {size} instructions, {forks} ifs and loops",
                self.programs
            ),
            format!("{} opcodes × sizes, the rarest {least}", self.ops.len()),
            format!(
                "components {}",
                list(self.comps.iter().map(|(k, n)| format!("{k}:{n}")).collect())
            ),
            format!("swizzles {}", named(&self.swizzles)),
            format!("jumps {}", named(&self.jumps)),
            format!("nodes {}", named(&self.nodes)),
            format!("derefs {}", named(&self.derefs)),
            format!("returns {}", named(&self.returns)),
            format!("exits {}", named(&self.exits)),
            format!("licences {}", named(&self.licences)),
            format!(
                "nesting {}",
                list(self.nesting.iter().map(|(k, n)| format!("{k}:{n}")).collect())
            ),
            format!(
                "on constants alone {}, with promises {}, calls {}",
                self.constants_only, self.promises, self.calls
            ),
        ]
    }
}
