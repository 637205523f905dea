//! Terms as the order sees them: a rule at one tuple of sizes, with symbols for operations and one least constant.
//!
//! - A symbol is an opcode at a width, so that a rule which makes an operation narrower is no circle.
//! - All constants are one: literals, `#c`, computed constants, and what is undefined. Folding only ever turns an operation into the least term.
//! - Moves and swizzles are looked through, as the driver does: a component of a value is as large as the value.
//! - A `m@` and a `let` are what they stand for: an instruction that is shared is rewritten once where the term that it
//!   stands for would be rewritten at each place, so that what terminates on terms terminates on instructions.

use crate::rules::model::{NodeId, NodeKind, Outside, Rule, RuleSet, VarId, VarKind};
use crate::rules::ops::OpSig;
use crate::rules::outside::TEX_OPS;

/// An opcode at a width.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Symbol {
    /// Index of the opcode.
    pub op: u32,
    /// Its unsized width, or its result's where no operand is unsized.
    pub bits: u8,
}

/// Symbols from here on are not in the opcode table: intrinsics, then texture operations by their sources, then phis.
const OUTSIDE: u32 = 1 << 30;
const TEX: u32 = OUTSIDE + (1 << 20);
const PHI: u32 = OUTSIDE + (1 << 21);

impl Symbol {
    /// Its name in messages.
    pub fn name(self, set: &RuleSet) -> String {
        match self.op {
            PHI.. => "phi".to_string(),
            op @ TEX.. => format!("tex.{}", TEX_OPS[(op & 15) as usize].0),
            op @ OUTSIDE.. => format!("@{}", set.ops.intrinsic((op - OUTSIDE) as usize).name),
            op => set.ops.get(op as usize).name.clone(),
        }
    }

    /// Whether its operands may be exchanged.
    pub fn commutative(self, set: &RuleSet) -> bool {
        match self.op {
            PHI.. => true,
            OUTSIDE.. => false,
            op => set.ops.get(op as usize).commutative,
        }
    }

    /// The symbol of what isn't arithmetic: const indices and attributes make no difference.
    fn outside(what: &Outside, bits: u8) -> Symbol {
        let op = match what {
            Outside::Intrinsic { id, .. } => OUTSIDE + *id as u32,
            Outside::Tex { op, srcs, .. } => {
                TEX + *op as u32 + srcs.iter().fold(0, |all, s| all | 16 << s)
            }
            Outside::Phi => PHI,
        };
        Symbol { op, bits }
    }

    /// The symbol of a node that is an operation with that signature and index.
    pub fn of(sig: &OpSig, op: usize, rule: &Rule, node: NodeId, bits: &[u8]) -> Symbol {
        let open = sig.inputs.iter().position(|ty| ty.bits == 0);
        let class = rule.nodes[open.map_or(node, |i| rule.nodes[node].operands()[i])].class;
        Symbol { op: op as u32, bits: bits[class] }
    }
}

/// A term.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Term {
    /// Any value.
    Var(VarId),
    /// A constant.
    Const,
    /// An operation.
    App(Symbol, Vec<Term>),
}

impl Term {
    /// A node of a rule at a tuple of sizes.
    pub fn new(set: &RuleSet, rule: &Rule, node: NodeId, bits: &[u8]) -> Term {
        match &rule.nodes[node].kind {
            NodeKind::Var(v) => match rule.vars[*v].kind {
                VarKind::Value => Term::Var(*v),
                VarKind::Const => Term::Const,
                VarKind::Bound(at) => Term::new(set, rule, at, bits),
            },
            NodeKind::Literal(..) | NodeKind::Compute { .. } | NodeKind::Undef => Term::Const,
            NodeKind::Ref(of) => Term::new(set, rule, *of, bits),
            NodeKind::Op { op, args, .. } => {
                let sig = set.ops.get(*op);
                let mut terms: Vec<Term> =
                    args.iter().map(|a| Term::new(set, rule, *a, bits)).collect();
                if sig.moves && terms.len() == 1 {
                    return terms.remove(0);
                }
                Term::App(Symbol::of(sig, *op, rule, node, bits), terms)
            }
            NodeKind::Outside { what, args, .. } => {
                let mut order: Vec<usize> = (0..args.len()).collect();
                if let Outside::Tex { srcs, .. } = what {
                    order.sort_by_key(|n| srcs[*n]);
                }
                let terms = order.iter().map(|n| Term::new(set, rule, args[*n], bits)).collect();
                Term::App(Symbol::outside(what, bits[rule.nodes[node].class]), terms)
            }
        }
    }

    /// How many nodes the term of a node has, shared ones counted each time.
    pub fn size(rule: &Rule, node: NodeId) -> u64 {
        let under = |id: NodeId| {
            let bound = match &rule.nodes[id].kind {
                NodeKind::Var(v) => match rule.vars[*v].kind {
                    VarKind::Bound(at) => Some(at),
                    _ => None,
                },
                _ => None,
            };
            rule.nodes[id].operands().iter().copied().chain(bound)
        };
        let mut sizes: Vec<Option<u64>> = vec![None; rule.nodes.len()];
        let mut stack = vec![(node, false)];
        while let Some((id, operands_done)) = stack.pop() {
            if sizes[id].is_some() {
                continue;
            }
            if operands_done {
                let sum = under(id).filter_map(|o| sizes[o]).fold(1u64, u64::saturating_add);
                sizes[id] = Some(sum);
            } else {
                stack.push((id, true));
                stack.extend(under(id).map(|o| (o, false)));
            }
        }
        sizes[node].unwrap_or(u64::MAX)
    }

    /// Whether the variable occurs in it.
    pub fn has(&self, var: VarId) -> bool {
        match self {
            Term::Var(v) => *v == var,
            Term::Const => false,
            Term::App(_, args) => args.iter().any(|a| a.has(var)),
        }
    }

    /// Whether `other` occurs in it.
    pub fn contains(&self, other: &Term) -> bool {
        self == other
            || matches!(self, Term::App(_, args) if args.iter().any(|a| a.contains(other)))
    }

    /// Calls `f` on every symbol.
    pub fn symbols(&self, f: &mut dyn FnMut(Symbol)) {
        if let Term::App(symbol, args) = self {
            f(*symbol);
            args.iter().for_each(|a| a.symbols(f));
        }
    }
}
