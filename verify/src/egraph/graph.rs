//! The e-graph: classes of equal terms, each with its bits, its components, and what is known of its value.
//!
//! A term of another size is another term, so that sizes never mix. A value from outside is a leaf; what an instruction takes
//! of an operand is a node of its own. Licences and promises belong to the operation, as they do in the IR.

use deburr_algebraic::RuleSet;
use deburr_algebraic::facts::abs::{self, Abs, Env};
use deburr_ir_core::fold::{FloatEnv, fold_info};
use deburr_ir_core::{AluInfo, AluOp, AluProps, BaseType, Def, Flags, Function, InstrKind};
use egg::{Analysis, DidMerge, EGraph, Id, Language};
use rustc_hash::FxHashMap;
use smallvec::{SmallVec, smallvec};
use std::collections::BTreeSet;

/// What a node is.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Head {
    /// A value from outside.
    Leaf(u32),
    /// A constant, by component.
    Const(SmallVec<[u64; 4]>),
    /// An operation of the built-in table, and its flags.
    Op(u16, u16),
    /// Components of the operand.
    Swizzle(SmallVec<[u8; 4]>),
}

/// A node.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Node {
    pub head: Head,
    pub bits: u8,
    pub comps: u8,
    pub args: SmallVec<[Id; 3]>,
}

impl Language for Node {
    type Discriminant = (u8, u16);

    fn discriminant(&self) -> (u8, u16) {
        match &self.head {
            Head::Leaf(_) => (0, 0),
            Head::Const(_) => (1, 0),
            Head::Op(op, _) => of_op(*op),
            Head::Swizzle(_) => (3, 0),
        }
    }

    fn matches(&self, other: &Node) -> bool {
        (&self.head, self.bits, self.comps) == (&other.head, other.bits, other.comps)
            && self.args.len() == other.args.len()
    }

    fn children(&self) -> &[Id] {
        &self.args
    }

    fn children_mut(&mut self) -> &mut [Id] {
        &mut self.args
    }
}

/// What nodes of an opcode are filed under.
pub(crate) fn of_op(op: u16) -> (u8, u16) {
    (2, op)
}

impl Node {
    /// What the table says of an operation.
    pub fn info(&self) -> Option<&'static AluInfo> {
        match self.head {
            Head::Op(op, _) => AluOp(op).builtin(),
            _ => None,
        }
    }

    /// Cost of the node by itself.
    pub fn cost(&self) -> u64 {
        self.info().map_or(0, |info| u64::from(info.cost) * u64::from(self.comps))
    }
}

/// What is known of the terms of a class.
#[derive(Clone, Debug)]
pub(crate) struct Data {
    pub bits: u8,
    pub comps: u8,
    /// The constant that it is.
    pub value: Option<SmallVec<[u64; 4]>>,
    /// A set that each component lies in.
    pub known: Abs,
}

/// How the values of terms are found.
pub(crate) struct Values<'a> {
    tables: &'a RuleSet,
    /// The environment, and those without `any` that it stands for.
    pub env: FloatEnv,
    all: Vec<FloatEnv>,
    /// Whether two constants were found equal that aren't.
    pub collapsed: bool,
}

pub(crate) type Graph<'a> = EGraph<Node, Values<'a>>;

/// By what nodes are equal that no rule made so.
pub(crate) const FOLDED: &str = "folding";
/// The same, of two operands exchanged, and of components.
pub(crate) const MOVED: &str = "moves and order";

impl<'a> Values<'a> {
    /// Under a float environment. `all` are those that folding must give one result under.
    pub fn new(tables: &'a RuleSet, env: FloatEnv, all: Vec<FloatEnv>) -> Values<'a> {
        Values { tables, env, all, collapsed: false }
    }

    /// The value of an operation on constants, if it is one.
    fn folded(&self, node: &Node, args: &[(u8, &[u64])]) -> Option<SmallVec<[u64; 4]>> {
        let info = node.info()?;
        let width = info.unsized_width(node.bits, args.iter().map(|a| a.0));
        let srcs: SmallVec<[&[u64]; 4]> = args.iter().map(|a| a.1).collect();
        let mut found: Option<SmallVec<[u64; 4]>> = None;
        for env in &self.all {
            let mut out = [0; 16];
            let shadow = fold_info(info, width, node.comps, &srcs, env, &mut out)?;
            let value = SmallVec::from_slice(&out[..node.comps.into()]);
            if shadow.free != 0 || found.as_ref().is_some_and(|f| *f != value) {
                return None;
            }
            found = Some(value);
        }
        found
    }

    /// What is known of an operation's results by what is known of its operands.
    fn transferred(&self, node: &Node, args: &[(u8, Abs)]) -> Option<Abs> {
        let info = node.info()?;
        let Head::Op(op, _) = node.head else { return None };
        let run = self.tables.transfer(AluOp(op))?;
        let width = info.unsized_width(node.bits, args.iter().map(|a| a.0));
        let of = |((bits, known), ty): (&(u8, Abs), &deburr_ir_core::AluType)| match ty.base {
            BaseType::Bool if *bits > 1 => {
                let w = u32::from(*bits);
                abs::ne(w, *known, abs::int(w, 0))
            }
            _ => *known,
        };
        let sets: SmallVec<[Abs; 4]> = args.iter().zip(info.inputs).map(of).collect();
        let out = run(&Env { float: self.env, folding: false }, width.into(), &sets);
        Some(match info.output.base {
            BaseType::Bool => abs::kept_truth(node.bits.into(), out),
            BaseType::Int | BaseType::Uint | BaseType::Float => out,
        })
    }
}

impl<'a> Analysis<Node> for Values<'a> {
    type Data = Data;

    fn make(graph: &mut Graph<'a>, node: &Node, _: Id) -> Data {
        let w = u32::from(node.bits);
        let (mut value, mut known) = (None, abs::top(w));
        match &node.head {
            Head::Leaf(_) => {}
            Head::Const(values) => {
                let sets = values.iter().map(|v| abs::int(w, *v));
                known = sets.reduce(|a, b| abs::join(w, a, b)).unwrap_or(known);
                value = Some(values.clone());
            }
            Head::Swizzle(_) => known = graph[node.args[0]].data.known,
            Head::Op(..) => {
                let args = node.args.iter().map(|id| &graph[*id].data);
                let args: SmallVec<[(u8, Abs); 4]> = args.map(|d| (d.bits, d.known)).collect();
                known = graph.analysis.transferred(node, &args).unwrap_or(known);
            }
        }
        Data { bits: node.bits, comps: node.comps, value, known }
    }

    fn merge(&mut self, a: &mut Data, b: Data) -> DidMerge {
        let mut did = DidMerge(false, false);
        match (&a.value, &b.value) {
            (Some(x), Some(y)) if x != y => self.collapsed = true,
            (None, Some(_)) => {
                (a.value, did.0) = (b.value, true);
            }
            (Some(_), None) => did.1 = true,
            _ => {}
        }
        // The first that is known stays, so that it comes to an end.
        let top = abs::top(a.bits.into());
        if a.known == top && b.known != top {
            (a.known, did.0) = (b.known, true);
        } else if a.known != b.known {
            did.1 = true;
        }
        did
    }
}

/// Adds components of a value; all of them are the value itself. The id is that of this very term.
pub(crate) fn add_swizzle(graph: &mut Graph<'_>, of: Id, list: &[u8]) -> Id {
    let data = &graph[of].data;
    let (bits, comps) = (data.bits, data.comps);
    if list.len() == usize::from(comps)
        && list.iter().enumerate().all(|(i, c)| i == usize::from(*c))
    {
        return of;
    }
    let head = Head::Swizzle(SmallVec::from_slice(list));
    graph.add_uncanonical(Node { head, bits, comps: list.len() as u8, args: smallvec![of] })
}

/// Adds a constant.
pub(crate) fn add_constant(graph: &mut Graph<'_>, bits: u8, values: &[u64]) -> Id {
    let head = Head::Const(SmallVec::from_slice(values));
    graph.add_uncanonical(Node { head, bits, comps: values.len() as u8, args: SmallVec::new() })
}

/// Adds the values of a function. What isn't arithmetic or a constant is a leaf, by the number of its parameter or that of
/// its def.
pub(crate) fn add_function(graph: &mut Graph<'_>, f: &Function) -> FxHashMap<Def, Id> {
    let mut ids: FxHashMap<Def, Id> = FxHashMap::default();
    for instr in f.all_instrs() {
        let Some(def) = f.def(instr) else { continue };
        let (bits, comps) = (f.bits(def), f.comps(def));
        let arithmetic = f.kind(instr) == InstrKind::Alu
            && f.alu_op(instr).is_some_and(|op| op.builtin().is_some());
        let id = match f.constant(def) {
            Some(values) => add_constant(graph, bits, values),
            None if arithmetic => {
                let operands = 0..f.srcs(instr).len();
                let args = operands.map(|n| {
                    let list: SmallVec<[u8; 4]> =
                        f.swizzle(instr, n).iter(f.src_comps(instr, n)).collect();
                    add_swizzle(graph, ids[&f.src(instr, n)], &list)
                });
                let args = args.collect();
                let head = Head::Op(f.op_number(instr), f.flags(instr).bits());
                graph.add_uncanonical(Node { head, bits, comps, args })
            }
            None => {
                let number = f.index(instr, deburr_ir_core::Index::PARAM_IDX);
                let head = Head::Leaf(number.unwrap_or(def.index() as u32 | 1 << 31));
                graph.add_uncanonical(Node { head, bits, comps, args: SmallVec::new() })
            }
        };
        ids.insert(def, id);
    }
    ids
}

/// Brings in what the driver does by itself: constants are folded, two operands exchanged, moves and vectors looked
/// through, and chains of these operations bracketed otherwise. True if something new is equal.
pub(crate) fn settle(graph: &mut Graph<'_>, chains: &BTreeSet<u16>, nodes: usize) -> bool {
    let mut any = false;
    loop {
        let mut changed = false;
        let mut all: Vec<(Id, Node)> = Vec::new();
        for class in graph.classes() {
            all.extend(class.nodes.iter().map(|n| (class.id, n.clone())));
        }
        all.sort();
        for (_, node) in all {
            if graph.total_number_of_nodes() > nodes {
                break;
            }
            changed |= settle_node(graph, &node, chains);
        }
        graph.rebuild();
        any |= changed;
        if !changed || graph.analysis.collapsed || graph.total_number_of_nodes() > nodes {
            return any;
        }
    }
}

fn settle_node(graph: &mut Graph<'_>, node: &Node, chains: &BTreeSet<u16>) -> bool {
    match &node.head {
        Head::Leaf(_) | Head::Const(_) => false,
        Head::Swizzle(list) => settle_swizzle(graph, node, list),
        Head::Op(op, flags) => {
            let Some(info) = node.info() else { return false };
            let args: Option<SmallVec<[(u8, SmallVec<[u64; 4]>); 4]>> = node
                .args
                .iter()
                .map(|id| Some((graph[*id].data.bits, graph[*id].data.value.clone()?)))
                .collect();
            if let Some(args) = args.filter(|args| !args.is_empty()) {
                let slices: SmallVec<[(u8, &[u64]); 4]> =
                    args.iter().map(|(bits, v)| (*bits, v.as_slice())).collect();
                let Some(value) = graph.analysis.folded(node, &slices) else { return false };
                let ids = args.iter().map(|(bits, v)| add_constant(graph, *bits, v)).collect();
                let from = graph.add_uncanonical(Node { args: ids, ..node.clone() });
                let to = add_constant(graph, node.bits, &value);
                return graph.union_trusted(from, to, FOLDED);
            }
            let from = graph.add_uncanonical(node.clone());
            let mut changed = false;
            if AluOp(*op) == AluOp::MOV {
                changed |= graph.union_trusted(from, node.args[0], MOVED);
            }
            if info.props.contains(AluProps::COMMUTATIVE) && node.args[0] != node.args[1] {
                let mut other = node.clone();
                other.args.swap(0, 1);
                let to = graph.add_uncanonical(other);
                changed |= graph.union_trusted(from, to, MOVED);
            }
            let float = info.props.contains(AluProps::FLOAT);
            if chains.contains(op) && (!float || *flags & Flags::REASSOC.bits() != 0) {
                changed |= rebracket(graph, node, from);
            }
            changed
        }
    }
}

/// `op(op(a, b), c)` is `op(a, op(b, c))`.
fn rebracket(graph: &mut Graph<'_>, node: &Node, from: Id) -> bool {
    let inner: Vec<Node> =
        graph[node.args[0]].nodes.iter().filter(|n| n.head == node.head).cloned().collect();
    let mut changed = false;
    for inner in inner {
        let right = Node { args: smallvec![inner.args[1], node.args[1]], ..node.clone() };
        let right = graph.add_uncanonical(right);
        let to =
            graph.add_uncanonical(Node { args: smallvec![inner.args[0], right], ..node.clone() });
        changed |= graph.union_trusted(from, to, MOVED);
    }
    changed
}

/// Components of a constant, of components, of a vector.
fn settle_swizzle(graph: &mut Graph<'_>, node: &Node, list: &[u8]) -> bool {
    let of = node.args[0];
    let from = graph.add_uncanonical(node.clone());
    let data = &graph[of].data;
    let (bits, value) = (data.bits, data.value.clone());
    if let Some(value) = value {
        let taken: Option<SmallVec<[u64; 4]>> =
            list.iter().map(|c| value.get(usize::from(*c)).copied()).collect();
        let Some(taken) = taken else { return false };
        let whole = add_constant(graph, bits, &value);
        let from = graph.add_uncanonical(Node { args: smallvec![whole], ..node.clone() });
        let to = add_constant(graph, bits, &taken);
        return graph.union_trusted(from, to, FOLDED);
    }
    let mut changed = false;
    let inner: Vec<Node> = graph[of].nodes.clone();
    for inner in inner {
        let to = match &inner.head {
            Head::Swizzle(below) => {
                let composed: Option<SmallVec<[u8; 4]>> =
                    list.iter().map(|c| below.get(usize::from(*c)).copied()).collect();
                composed.map(|list| add_swizzle(graph, inner.args[0], &list))
            }
            Head::Op(op, _) if is_vector(*op) => {
                let first = inner.args.get(usize::from(list[0])).copied();
                first.filter(|_| list.len() == 1)
            }
            Head::Op(..) | Head::Leaf(_) | Head::Const(_) => None,
        };
        if let Some(to) = to {
            changed |= graph.union_trusted(from, to, MOVED);
        }
    }
    changed
}

/// Whether an operation puts its operands side by side.
fn is_vector(op: u16) -> bool {
    [AluOp::VEC2, AluOp::VEC3, AluOp::VEC4].contains(&AluOp(op))
}
