//! What random programs were made of, counted, and what they should have been made of but weren't.

use deburr_ir_core::{
    ALU_INFO, AluOp, DerefKind, Flags, InstrKind, InstrView, Intrinsic, JumpKind, Module, NodeKind,
};
use std::collections::BTreeMap;

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
    constants_only: u64,
    promises: u64,
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
                        let name = match deref.kind {
                            DerefKind::Var(_) => "variable",
                            DerefKind::Struct(_) => "member",
                            DerefKind::Array => "element",
                            DerefKind::Wildcard => "wildcard",
                            DerefKind::PtrAsArray => "neighbour",
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
        for kind in ["variable", "member", "element", "neighbour", "cast"] {
            need(&format!("deref: {kind}"), self.derefs.contains_key(kind));
        }
        need("operations on constants alone", self.constants_only > 0);
        need("promises", self.promises > 0);
        need("calls", self.calls > 0);
        missing
    }

    /// The counts as lines.
    pub fn lines(&self) -> Vec<String> {
        let (size, forks) = self.medians();
        let list = |items: Vec<String>| items.join(" ");
        let named = |map: &BTreeMap<&'static str, u64>| {
            list(map.iter().map(|(k, n)| format!("{k}:{n}")).collect())
        };
        let mut by_op: BTreeMap<u16, Vec<(u8, u64)>> = BTreeMap::new();
        for (&(op, width), &n) in &self.ops {
            by_op.entry(op).or_default().push((width, n));
        }
        let least = self.ops.iter().min_by_key(|(_, n)| **n);
        let least = least.map_or(String::new(), |(&(op, width), n)| {
            format!("{:?} at {width} bits: {n}", AluOp(op))
        });
        let mut lines = vec![
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
            format!(
                "nesting {}",
                list(self.nesting.iter().map(|(k, n)| format!("{k}:{n}")).collect())
            ),
            format!(
                "on constants alone {}, with promises {}, calls {}",
                self.constants_only, self.promises, self.calls
            ),
        ];
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
}
