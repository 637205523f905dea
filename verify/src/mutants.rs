//! Mutants: rules with one operator, constant, operand, clause or promise changed, as an author might have got it wrong.
//!
//! A checker that lets a mutant pass without a proof says nothing by letting the rule itself pass. Every mutant type-checks:
//! it binds what it uses, and each of its operations exists at the sizes of its instances.

use deburr_algebraic::interp::term::equal_terms;
use deburr_rulegen::expr::{Base, BinaryOp, Expr, ExprKind};
use deburr_rulegen::rules::model::{
    Comps, EnvClause, Literal, NodeId, NodeKind, Rule, RuleSet, VarId, VarKind, flags,
};
use deburr_rulegen::rules::ops::OpSig;
use std::fmt;
use std::sync::Arc;

/// What is changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Operator {
    /// An opcode becomes another of its signature.
    Opcode,
    /// A literal becomes another.
    Literal,
    /// Two operands change places.
    Order,
    /// A variable becomes another.
    Variable,
    /// An operation with one operand is left out.
    Omission,
    /// A fact is left out, or becomes another.
    Fact,
    /// A licence is left out, or an environment claimed that was not.
    Licence,
    /// A component becomes another.
    Swizzle,
    /// A promise is given that was not, or not asked for any more.
    Promise,
    /// An operator or number in a computed constant becomes another.
    Constant,
}

impl Operator {
    /// All of them.
    pub const ALL: [Operator; 10] = [
        Operator::Opcode,
        Operator::Literal,
        Operator::Order,
        Operator::Variable,
        Operator::Omission,
        Operator::Fact,
        Operator::Licence,
        Operator::Swizzle,
        Operator::Promise,
        Operator::Constant,
    ];
}

impl fmt::Display for Operator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = format!("{self:?}").to_lowercase();
        f.write_str(&name)
    }
}

/// A changed rule.
#[derive(Clone, Debug)]
pub struct Mutant {
    /// It.
    pub rule: Rule,
    /// How it was made.
    pub operator: Operator,
    /// What was changed, for people.
    pub what: String,
}

/// Every mutant of a rule.
pub fn mutants(set: &RuleSet, rule: &Rule) -> Vec<Mutant> {
    let mut maker = Maker { set, rule, nodes: Vec::new(), out: Vec::new() };
    let roots = [rule.pattern].into_iter().chain(rule.alts.iter().map(|a| a.term));
    for root in roots {
        for node in rule.reachable(root) {
            if !maker.nodes.contains(&node) {
                maker.nodes.push(node);
            }
        }
    }
    for node in maker.nodes.clone() {
        maker.of_node(node);
    }
    maker.of_facts();
    maker.of_licences();
    maker.out
}

struct Maker<'a> {
    set: &'a RuleSet,
    rule: &'a Rule,
    /// Nodes of pattern and replacements.
    nodes: Vec<NodeId>,
    out: Vec<Mutant>,
}

impl Maker<'_> {
    fn add(&mut self, operator: Operator, what: String, change: impl FnOnce(&mut Rule)) {
        let mut rule = self.rule.clone();
        change(&mut rule);
        if let Some(rule) = well_formed(self.set, rule) {
            self.out.push(Mutant { rule, operator, what });
        }
    }

    fn of_node(&mut self, id: NodeId) {
        // Chains are matched as a whole.
        let in_chain = self.rule.chains.iter().any(|c| c.nodes.contains(&id));
        let node = &self.rule.nodes[id];
        match &node.kind {
            NodeKind::Op { op, promises, args, .. } if !in_chain => {
                self.of_op(id, *op, *promises, args);
            }
            NodeKind::Literal(value, base) => self.of_literal(id, value, *base),
            NodeKind::Var(v) => self.of_variable(id, *v),
            NodeKind::Compute { expr, .. } => self.of_constant(id, expr),
            _ => {}
        }
        if let Some(swizzle) = &node.swizzle {
            self.of_swizzle(id, swizzle);
        }
    }

    fn of_op(&mut self, id: NodeId, op: usize, promises: u16, args: &[NodeId]) {
        let sig = self.set.ops.get(op);
        for (other, candidate) in self.set.ops.iter().enumerate() {
            if other != op && is_like(sig, candidate) && promises & !candidate.promises == 0 {
                let what = format!("{} becomes {}", sig.name, candidate.name);
                self.add(Operator::Opcode, what, |rule| {
                    if let NodeKind::Op { op, .. } = &mut rule.nodes[id].kind {
                        *op = other;
                    }
                });
            }
        }
        for i in 0..args.len() {
            for j in i + 1..args.len() {
                let same =
                    sig.inputs[i] == sig.inputs[j] && !equal_terms(self.rule, args[i], args[j]);
                if !same || (sig.commutative && (i, j) == (0, 1)) {
                    continue;
                }
                let what = format!("operands {i} and {j} of {} change places", sig.name);
                self.add(Operator::Order, what, |rule| {
                    if let NodeKind::Op { args, .. } = &mut rule.nodes[id].kind {
                        args.swap(i, j);
                    }
                });
            }
        }
        if let [only] = *args
            && id != self.rule.pattern
        {
            let (inner, outer) = (&self.rule.nodes[only], &self.rule.nodes[id]);
            let same = inner.class == outer.class && inner.comps == outer.comps;
            if same && outer.swizzle.is_none() && sig.output.comps == sig.inputs[0].comps {
                let what = format!("{} is left out", sig.name);
                self.add(Operator::Omission, what, |rule| {
                    rule.nodes[id].kind = NodeKind::Ref(only);
                });
            }
        }
        let in_pattern = self.rule.pattern_nodes().contains(&id);
        for flag in (0..flags::NAMES.len()).map(|i| 1u16 << i) {
            let has = promises & flag != 0;
            // Asking for more is sound, and so is promising less.
            if sig.promises & flag == 0 || has != in_pattern {
                continue;
            }
            let name = flags::NAMES[flag.trailing_zeros() as usize];
            let verb = if has { "no longer asks for" } else { "promises" };
            self.add(Operator::Promise, format!("{} {verb} {name}", sig.name), |rule| {
                if let NodeKind::Op { promises, .. } = &mut rule.nodes[id].kind {
                    *promises ^= flag;
                }
            });
        }
    }

    fn of_literal(&mut self, id: NodeId, value: &Literal, base: Base) {
        let others: Vec<Literal> = match value {
            Literal::Int(v) => [v + 1, v - 1, -v].map(Literal::Int).to_vec(),
            Literal::Hex(v) => [v + 1, v ^ 2, v << 1].map(Literal::Hex).to_vec(),
            Literal::Float(bits) => {
                let v = f64::from_bits(*bits);
                let list = [-v, v + 1.0, v * 0.5, v * 2.0, v - 1.0];
                list.iter().map(|v| Literal::Float(v.to_bits())).collect()
            }
            Literal::Bool(v) => vec![Literal::Bool(!v)],
        };
        for other in others.into_iter().filter(|other| other != value) {
            let what = format!("{value:?} becomes {other:?}");
            self.add(Operator::Literal, what, |rule| {
                rule.nodes[id].kind = NodeKind::Literal(other, base);
            });
        }
    }

    fn of_variable(&mut self, id: NodeId, v: VarId) {
        let vars = &self.rule.vars;
        if matches!(vars[v].kind, VarKind::Bound(_)) {
            return;
        }
        for (other, var) in vars.iter().enumerate() {
            let like = var.kind == vars[v].kind
                && var.class == vars[v].class
                && var.comps == vars[v].comps
                && var.whole == vars[v].whole;
            if other != v && like {
                let what = format!("{} becomes {}", vars[v].name, var.name);
                self.add(Operator::Variable, what, |rule| {
                    rule.nodes[id].kind = NodeKind::Var(other);
                });
            }
        }
    }

    fn of_constant(&mut self, id: NodeId, expr: &Arc<Expr>) {
        for at in 0..expr.size() {
            let mut changed = Vec::new();
            nth(expr, at, |e| changed = alternatives(e));
            for kind in changed {
                let mut other = (**expr).clone();
                let mut what = String::new();
                nth_mut(&mut other, at, |e| {
                    what = format!("`{e}` becomes ");
                    e.kind = kind.clone();
                    what += &format!("`{e}`");
                });
                self.add(Operator::Constant, what, |rule| {
                    if let NodeKind::Compute { expr, .. } = &mut rule.nodes[id].kind {
                        *expr = Arc::new(other);
                    }
                });
            }
        }
    }

    fn of_swizzle(&mut self, id: NodeId, swizzle: &[u8]) {
        let comps = swizzle.iter().copied().max().unwrap_or(0) + 1;
        for at in 0..swizzle.len() {
            for other in (0..comps.max(2)).filter(|c| *c != swizzle[at]) {
                let what = format!("component {at} of a swizzle becomes {other}");
                self.add(Operator::Swizzle, what, |rule| {
                    if let Some(s) = &mut rule.nodes[id].swizzle {
                        s[at] = other;
                    }
                });
            }
        }
    }

    fn of_facts(&mut self) {
        let facts = &self.set.facts;
        for (at, used) in self.rule.facts.iter().enumerate() {
            let name = &facts[used.fact].name;
            self.add(Operator::Fact, format!("{name} is left out"), |rule| {
                rule.facts.remove(at);
            });
            let of_var = |f: usize| {
                let mut types = Vec::new();
                facts[f].body.walk(&mut |e| {
                    if let ExprKind::Var { id, .. } = &e.kind
                        && (*id as usize) < facts[f].params.len()
                    {
                        types.push((*id, e.ty));
                    }
                });
                types.sort_unstable();
                types.dedup();
                types
            };
            for other in (0..facts.len()).filter(|f| *f != used.fact && !facts[*f].function) {
                let value = |n: &NodeId| match self.rule.nodes[*n].kind {
                    NodeKind::Var(v) => self.rule.vars[v].kind == VarKind::Value,
                    _ => false,
                };
                let answered = facts[other].on_values || !used.args.iter().any(value);
                if answered && of_var(other) == of_var(used.fact) {
                    let what = format!("{name} becomes {}", facts[other].name);
                    self.add(Operator::Fact, what, |rule| rule.facts[at].fact = other);
                }
            }
        }
        if self.rule.used.is_some() {
            self.add(Operator::Fact, "bits_used is left out".into(), |rule| rule.used = None);
        }
    }

    fn of_licences(&mut self) {
        for (i, name) in flags::NAMES.iter().enumerate() {
            if self.rule.licences & (1 << i) != 0 {
                let what = format!("{name} is left out");
                self.add(Operator::Licence, what, |rule| rule.licences &= !(1 << i));
            }
        }
        let EnvClause { denorm, rounding } = self.rule.env;
        if denorm != EnvClause::ALL.denorm {
            self.add(Operator::Licence, "denorm is left out".into(), |rule| {
                rule.env.denorm = EnvClause::ALL.denorm;
            });
        }
        if rounding != EnvClause::ALL.rounding {
            self.add(Operator::Licence, "rounding is left out".into(), |rule| {
                rule.env.rounding = EnvClause::ALL.rounding;
            });
        }
    }
}

/// Whether one opcode can stand where another does.
fn is_like(sig: &OpSig, other: &OpSig) -> bool {
    sig.output == other.output
        && sig.inputs == other.inputs
        && sig.eval.is_some() == other.eval.is_some()
        && sig.convergent == other.convergent
        && sig.float == other.float
}

/// What a part of an expression may become.
fn alternatives(e: &Expr) -> Vec<ExprKind> {
    use BinaryOp::*;
    match &e.kind {
        ExprKind::Int(v) => {
            [v.wrapping_add(1), v.wrapping_sub(1)].into_iter().map(ExprKind::Int).collect()
        }
        ExprKind::Binary(op, a, b) if e.ty.base != Base::Bool => {
            let others: &[BinaryOp] = match op {
                Add => &[Sub],
                Sub => &[Add],
                Mul => &[Add],
                And => &[Or, Xor],
                Or => &[And],
                Xor => &[Or],
                Shl => &[Shr],
                Shr => &[Shl],
                _ => &[],
            };
            let others =
                others.iter().filter(|o| e.ty.base != Base::Float || !matches!(o, And | Or | Xor));
            others.map(|o| ExprKind::Binary(*o, a.clone(), b.clone())).collect()
        }
        ExprKind::Unary(_, a) if a.ty == e.ty => vec![a.kind.clone()],
        _ => Vec::new(),
    }
}

/// The part of that number, parents first.
fn nth(expr: &Expr, at: usize, f: impl FnOnce(&Expr)) {
    let (mut n, mut f) = (0, Some(f));
    expr.walk(&mut |e| {
        if n == at
            && let Some(f) = f.take()
        {
            f(e);
        }
        n += 1;
    });
}

fn nth_mut(expr: &mut Expr, at: usize, f: impl FnOnce(&mut Expr)) {
    let (mut n, mut f) = (0, Some(f));
    expr.walk_mut(&mut |e| {
        if n == at
            && let Some(f) = f.take()
        {
            f(e);
        }
        n += 1;
    });
}

/// The rule with the instances at which its operations exist; `None` if it uses what its pattern doesn't bind.
fn well_formed(set: &RuleSet, mut rule: Rule) -> Option<Rule> {
    let bound: Vec<VarId> = vars_under(&rule, &[rule.pattern]);
    let roots: Vec<NodeId> = rule.alts.iter().map(|a| a.term).chain(rule.fact_args()).collect();
    if vars_under(&rule, &roots)
        .iter()
        .any(|v| !matches!(rule.vars[*v].kind, VarKind::Bound(_)) && !bound.contains(v))
    {
        return None;
    }
    // A pattern that is one of its replacements, or a variable, changes nothing.
    let nodes: Vec<NodeId> =
        [rule.pattern].iter().chain(&roots).flat_map(|r| rule.reachable(*r)).collect();
    let fits = |bits: &Vec<u8>| {
        nodes.iter().all(|n| {
            let node = &rule.nodes[*n];
            let size = bits[node.class];
            match &node.kind {
                NodeKind::Literal(value, base) => value.encode(*base, size).is_ok(),
                NodeKind::Op { op, args, .. } => {
                    let sig = set.ops.get(*op);
                    let open = match sig.output.bits {
                        0 => Some(size),
                        _ => sig
                            .inputs
                            .iter()
                            .zip(args)
                            .find(|(ty, _)| ty.bits == 0)
                            .map(|(_, a)| bits[rule.nodes[*a].class]),
                    };
                    open.is_none_or(|b| sig.sizes & size_set(b) != 0)
                }
                _ => true,
            }
        })
    };
    let keep: Vec<Vec<u8>> = rule.instances.iter().filter(|bits| fits(bits)).cloned().collect();
    rule.instances = keep;
    let trivial = rule.nodes.iter().any(|n| matches!(n.swizzle.as_deref(), Some([])));
    (!rule.instances.is_empty() && !trivial).then_some(rule)
}

fn size_set(bits: u8) -> u8 {
    deburr_rulegen::rules::classes::size_set(bits.into())
}

fn vars_under(rule: &Rule, roots: &[NodeId]) -> Vec<VarId> {
    let nodes = roots.iter().flat_map(|r| rule.reachable(*r));
    let vars = nodes.filter_map(|n| match rule.nodes[n].kind {
        NodeKind::Var(v) => Some(v),
        _ => None,
    });
    vars.collect()
}

/// Whether a rule computes with floats, has an instance of 64 bits, has vectors, or rests on facts: the kinds that mutants are
/// counted by.
pub fn traits(set: &RuleSet, rule: &Rule) -> [bool; 4] {
    let float = rule.nodes.iter().any(|n| match &n.kind {
        NodeKind::Op { op, .. } => set.ops.get(*op).float,
        _ => false,
    });
    let wide = rule.instances.iter().any(|bits| bits.contains(&64));
    let vector = rule.nodes.iter().any(|n| matches!(n.comps, Comps::Fixed(c) if c > 1));
    [float, wide, vector, !rule.facts.is_empty() || rule.used.is_some()]
}
