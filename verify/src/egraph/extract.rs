//! The cheapest terms of an e-graph, with what they share counted once.

use super::graph::{Graph, Head, Node};
use deburr_ir_core::{AluOp, BaseType, Flags};
use deburr_rulegen::expr::Base;
use egg::{Id, Language};
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;

/// For each class a node, and the costs of all classes under it, itself among them.
pub(crate) struct Choice {
    best: FxHashMap<Id, Chosen>,
}

#[derive(Clone)]
struct Chosen {
    node: Node,
    costs: BTreeMap<Id, u64>,
    total: u64,
}

/// Passes over the classes after which what is known is taken. A pass makes terms one level higher.
const PASSES: usize = 64;

impl Choice {
    /// Chooses for each class the node under which the least is to be computed, what was chosen below it taken as it is. It
    /// is the cheapest for a class by itself where little is shared, and close to it elsewhere: the best choice for many
    /// classes together is a problem that takes exponential time.
    pub fn of(graph: &Graph<'_>) -> Choice {
        let mut classes: Vec<Id> = graph.classes().map(|c| c.id).collect();
        classes.sort_unstable();
        let mut best: FxHashMap<Id, Chosen> = FxHashMap::default();
        for _ in 0..PASSES {
            let mut changed = false;
            for class in &classes {
                for node in &graph[*class].nodes {
                    let Some(chosen) = choose(graph, *class, node, &best) else { continue };
                    if best.get(class).is_none_or(|b| chosen.total < b.total) {
                        best.insert(*class, chosen);
                        changed = true;
                    }
                }
            }
            if !changed {
                break;
            }
        }
        Choice { best }
    }

    /// Cost of computing some values.
    pub fn cost(&self, graph: &Graph<'_>, roots: &[Id]) -> u64 {
        let mut all: BTreeMap<Id, u64> = BTreeMap::new();
        for root in roots {
            if let Some(chosen) = self.best.get(&graph.find(*root)) {
                all.extend(&chosen.costs);
            }
        }
        all.values().sum()
    }

    /// The term that is chosen for a class, if it isn't too long.
    pub fn text(&self, graph: &Graph<'_>, root: Id) -> Option<String> {
        // How a constant is shown depends on who reads it.
        let mut texts: FxHashMap<(Id, Base), String> = FxHashMap::default();
        let root = (graph.find(root), Base::Uint);
        let mut stack = vec![root];
        while let Some(&(class, base)) = stack.last() {
            let node = &self.best.get(&class)?.node;
            let read: Vec<(Id, Base)> = (0..node.args.len())
                .map(|i| {
                    let ty = node.info().map(|info| info.inputs[i]);
                    // What is moved is read as the result is.
                    let own = ty.is_none_or(|ty| ty.base == BaseType::Uint && ty.bits == 0);
                    let base = ty.filter(|_| !own).map_or(base, |ty| of(ty.base));
                    (graph.find(node.args[i]), base)
                })
                .collect();
            let open: Vec<(Id, Base)> =
                read.iter().filter(|key| !texts.contains_key(key)).copied().collect();
            if !open.is_empty() {
                stack.extend(open);
                continue;
            }
            stack.pop();
            let args: Vec<&str> = read.iter().map(|key| texts[key].as_str()).collect();
            let text = shown(node, base, &args)?;
            if text.len() > LONGEST {
                return None;
            }
            texts.insert((class, base), text);
        }
        texts.remove(&root)
    }
}

/// Bytes up to which a term is shown.
const LONGEST: usize = 400;

fn choose(
    graph: &Graph<'_>,
    class: Id,
    node: &Node,
    best: &FxHashMap<Id, Chosen>,
) -> Option<Chosen> {
    let mut costs: BTreeMap<Id, u64> = BTreeMap::new();
    for child in node.children() {
        let chosen = best.get(&graph.find(*child))?;
        costs.extend(&chosen.costs);
    }
    // A term doesn't have itself inside.
    if costs.contains_key(&class) {
        return None;
    }
    costs.insert(class, node.cost());
    let total = costs.values().sum();
    Some(Chosen { node: node.clone(), costs, total })
}

fn of(base: BaseType) -> Base {
    match base {
        BaseType::Bool => Base::Bool,
        BaseType::Int => Base::Int,
        BaseType::Uint => Base::Uint,
        BaseType::Float => Base::Float,
    }
}

fn shown(node: &Node, base: Base, args: &[&str]) -> Option<String> {
    Some(match &node.head {
        Head::Leaf(n) => format!("v{n}"),
        Head::Const(values) => {
            let parts: Vec<String> = values.iter().map(|v| number(*v, node.bits, base)).collect();
            match parts.iter().all(|p| *p == parts[0]) {
                true => parts.into_iter().next()?,
                false => format!("({})", parts.join(", ")),
            }
        }
        Head::Swizzle(list) => {
            let letters: Option<String> =
                list.iter().map(|c| "xyzwefghijklmnop".chars().nth(usize::from(*c))).collect();
            format!("{}.{}", args[0], letters?)
        }
        Head::Op(op, flags) => {
            let flags = Flags::from_bits_truncate(*flags) & Flags::PROMISES;
            let named = Flags::NAMES.iter().filter(|(_, flag)| flags.contains(*flag));
            let flags: String = named.map(|(name, _)| format!(".{name}")).collect();
            let name = AluOp(*op).builtin().map_or("op", |info| info.name);
            format!("{name}{flags}({})", args.join(", "))
        }
    })
}

fn number(v: u64, bits: u8, base: Base) -> String {
    match (base, bits) {
        (Base::Bool, _) | (_, 1) => (v != 0).to_string(),
        (Base::Float, 32) => format!("{:?}", f32::from_bits(v as u32)),
        (Base::Float, 64) => format!("{:?}", f64::from_bits(v)),
        (Base::Float, _) => format!("{v:#x}"),
        (Base::Int | Base::Uint, _) => {
            let signed = (v << (64 - bits) as u32) as i64 >> (64 - bits);
            if signed.abs() < 10_000 { signed.to_string() } else { format!("{v:#x}") }
        }
    }
}
