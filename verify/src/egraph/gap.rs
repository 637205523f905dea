//! How far what the driver comes to is from the cheapest that the same rules reach.

use super::bench::{parameter, read_all};
use super::equations::{Context, Equations, Limits, clause};
use super::extract::Choice;
use super::graph::{Graph, Values, add_function};
use super::greedy::{Greedy, cost};
use deburr_algebraic::Target;
use deburr_ir_core::fold::FloatEnv;
use deburr_ir_core::{
    AluSrc, Builder, Def, Denorm, Flags, Function, Instr, InstrKind, Rounding, User,
};
use egg::{EGraph, Id};
use rustc_hash::FxHashMap;

/// Most operations of a piece of code that is looked at as a whole.
pub const PIECE: usize = 64;

/// Why two values are equal that the driver made of one.
const DRIVER: &str = "the driver";

/// How far the e-graph of a piece grows.
const LIMITS: Limits = Limits { nodes: 4_000, rounds: 8, matches: 400 };

/// What a piece of code costs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Gap {
    /// As it is.
    pub before: u64,
    /// After the driver.
    pub greedy: u64,
    /// The least that was found in the e-graph.
    pub optimum: u64,
    /// Whether the e-graph was full before nothing more was to be added.
    pub cut: bool,
    /// Values for which something cheaper was found: what the driver makes of them, and what is cheaper, if they are not too
    /// long.
    pub terms: Vec<(String, String)>,
}

/// The pieces of a function that are arithmetic alone: operations of one block that use each other, [`PIECE`] at most, as
/// functions of what they use.
pub fn pieces(f: &Function) -> Vec<Function> {
    let mut group: FxHashMap<Instr, usize> = FxHashMap::default();
    let mut members: Vec<Vec<Instr>> = Vec::new();
    let mut order: FxHashMap<Instr, usize> = FxHashMap::default();
    for (at, instr) in f.all_instrs().enumerate() {
        order.insert(instr, at);
        let arithmetic = f.kind(instr) == InstrKind::Alu
            && f.alu_op(instr).is_some_and(|op| op.builtin().is_some());
        if !arithmetic {
            continue;
        }
        let mut own = members.len();
        members.push(vec![instr]);
        for n in 0..f.srcs(instr).len() {
            let src = f.src(instr, n).instr();
            let Some(&other) = group.get(&src).filter(|_| f.block_of(src) == f.block_of(instr))
            else {
                continue;
            };
            if other == own || members[other].len() + members[own].len() > PIECE {
                continue;
            }
            // The smaller goes to the larger.
            let (to, from) = match members[other].len() >= members[own].len() {
                true => (other, own),
                false => (own, other),
            };
            let moved = std::mem::take(&mut members[from]);
            group.extend(moved.iter().map(|i| (*i, to)));
            members[to].extend(moved);
            own = to;
        }
        group.insert(instr, own);
    }
    members.iter_mut().for_each(|m| m.sort_by_key(|i| order[i]));
    members.iter().filter(|m| !m.is_empty()).map(|m| piece(f, m)).collect()
}

fn piece(f: &Function, members: &[Instr]) -> Function {
    let mut out = Function::new("piece");
    out.float_env = f.float_env;
    let mut b = Builder::at_end(&mut out);
    let mut made: FxHashMap<Def, Def> = FxHashMap::default();
    let mut leaves = 0;
    for instr in members {
        let srcs: Vec<AluSrc> = (0..f.srcs(*instr).len())
            .map(|n| {
                let src = f.src(*instr, n);
                let def = *made.entry(src).or_insert_with(|| match f.constant(src) {
                    Some(values) => b.load_const(f.bits(src), values),
                    None => {
                        leaves += 1;
                        parameter(&mut b, f.comps(src), f.bits(src), leaves - 1)
                    }
                });
                AluSrc { def, swizzle: f.swizzle(*instr, n) }
            })
            .collect();
        b.flags = f.flags(*instr);
        let op = f.alu_op(*instr).unwrap_or(deburr_ir_core::AluOp::MOV);
        let def = b.alu_instr(op, f.comps(instr.def()), &srcs).def();
        b.flags = Flags::empty();
        made.insert(instr.def(), def);
    }
    let outside = |user: User| match user {
        User::Instr(i) => !members.contains(&i),
        User::If(_) => true,
    };
    let read = members.iter().filter(|i| f.uses(i.def()).any(|u| outside(u.user())));
    let read: Vec<Def> = read.map(|i| made[&i.def()]).collect();
    read_all(&mut b, read);
    out
}

/// Compares what the driver and the e-graph make of a piece by the rules of a group. `None` if by the rules values are equal
/// that aren't: one of them leaves open what it gives somewhere, and others choose otherwise.
pub fn gap(greedy: &Greedy<'_>, piece: &Function, group: usize, target: &Target) -> Option<Gap> {
    let set = greedy.set;
    let mut after = piece.clone();
    greedy.run(&mut after, group, target, &[]);
    let (before, driven) = (cost(piece).0, cost(&after).0);
    let values = Values::new(greedy.tables(), piece.float_env, environments(piece.float_env));
    let mut graph: Graph<'_> = EGraph::new(values);
    let ids = add_function(&mut graph, piece);
    let of_after = add_function(&mut graph, &after);
    let roots: Vec<Id> = read(piece).iter().map(|def| ids[def]).collect();
    let driver: Vec<Id> = read(&after).iter().map(|def| of_after[def]).collect();
    graph.rebuild();
    // Nothing is equal yet: the only choice for a value is what the driver made of it.
    let only = Choice::of(&graph);
    let was: Vec<(Option<String>, u64)> =
        driver.iter().map(|id| (only.text(&graph, *id), only.cost(&graph, &[*id]))).collect();
    for (a, b) in roots.iter().zip(&driver) {
        graph.union_trusted(*a, *b, DRIVER);
    }
    graph.rebuild();
    let groups = [group];
    let context =
        Context { without: &[], env: clause(piece.float_env), groups: &groups, back: false };
    Equations::new(set, &context).saturate(&mut graph, &LIMITS, |_| false);
    if graph.analysis.collapsed {
        return None;
    }
    let choice = Choice::of(&graph);
    // A choice class by class may be dearer than what the driver found.
    let optimum = choice.cost(&graph, &roots).min(driven);
    let mut terms = Vec::new();
    if optimum < driven {
        for (root, (text, cost)) in roots.iter().zip(was) {
            if choice.cost(&graph, &[*root]) < cost
                && let (Some(was), Some(is)) = (text, choice.text(&graph, *root))
            {
                terms.push((was, is));
            }
        }
    }
    let cut = graph.total_number_of_nodes() > LIMITS.nodes;
    Some(Gap { before, greedy: driven, optimum, cut, terms })
}

/// The values that a piece is there for.
fn read(f: &Function) -> Vec<Def> {
    let stores =
        f.all_instrs().filter(|i| f.kind(*i) == InstrKind::Intrinsic && f.def(*i).is_none());
    stores.map(|i| f.src(i, 0)).collect()
}

/// The environments, none of them `any`, that one stands for.
fn environments(env: FloatEnv) -> Vec<FloatEnv> {
    let denorms = match env.denorm(32) {
        Denorm::Any => vec![Denorm::Keep, Denorm::Flush],
        denorm => vec![denorm],
    };
    let roundings = match env.rounding(32) {
        Rounding::Any => vec![Rounding::Rte, Rounding::Rtz],
        rounding => vec![rounding],
    };
    let pairs = denorms.iter().flat_map(|d| roundings.iter().map(|r| FloatEnv::uniform(*d, *r)));
    pairs.collect()
}
