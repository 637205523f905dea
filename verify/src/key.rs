//! Keys of the ledger: what an instance of a rule says, as a number that changes whenever the claim does.
//!
//! A key covers all that a verdict rests on: the expanded terms at their sizes, facts, licences, the bound in ulps, the float
//! environment, and the definitions behind them. It covers neither names of rules and variables nor places in files,
//! neither groups nor what only decides whether a rewrite pays.

use crate::report;
use deburr_algebraic::interp::expr::{Choices, Evaluator, Out, Side};
use deburr_algebraic::interp::term::Claim;
use deburr_ir_core::fold::{FloatEnv, prim};
use deburr_ir_core::{Denorm, Rounding};
use deburr_rulegen::expr::{Base, Expr, ExprKind, Prim, Ty, Width};
use deburr_rulegen::rules::model::{Comps, NodeId, NodeKind, Rule, RuleSet, VarKind};
use rustc_hash::FxHashMap;
use std::fmt::{self, Write as _};

/// Version of the semantics: of what the expression language, undefinedness, promises and licences mean. A new one voids the
/// ledger.
pub const SEMANTICS: u32 = 1;

/// Version of the checker: of how what it evaluates and asks follows from the semantics. A new one voids the ledger.
pub const CHECKER: u32 = 1;

/// The key of an instance under a claim.
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Key([u8; 16]);

impl Key {
    fn of(text: &str) -> Key {
        let mut out = [0; 16];
        out.copy_from_slice(&blake3::hash(text.as_bytes()).as_bytes()[..16]);
        Key(out)
    }

    /// Whether it is in a share of all keys, another for each seed.
    pub fn is_among(self, share: f64, seed: u64) -> bool {
        let hash = blake3::hash(&[&self.0[..], &seed.to_le_bytes()].concat());
        let mut first = [0; 4];
        first.copy_from_slice(&hash.as_bytes()[..4]);
        f64::from(u32::from_le_bytes(first)) < share * f64::from(u32::MAX)
    }

    /// From its 32 hexadecimal digits.
    pub fn parse(text: &str) -> Option<Key> {
        let plain = text.len() == 32
            && text.bytes().all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b));
        let number = u128::from_str_radix(text, 16).ok().filter(|_| plain)?;
        Some(Key(number.to_be_bytes()))
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:032x}", u128::from_be_bytes(self.0))
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// Makes keys for the rules of a set.
pub struct Keys<'a> {
    set: &'a RuleSet,
    /// Definitions of opcodes and facts, by their place in the table.
    ops: FxHashMap<usize, Key>,
    facts: FxHashMap<usize, Key>,
    /// What primitives give, by name and types.
    prims: FxHashMap<String, Key>,
}

impl<'a> Keys<'a> {
    /// For rules of this set.
    pub fn new(set: &'a RuleSet) -> Keys<'a> {
        Keys {
            set,
            ops: FxHashMap::default(),
            facts: FxHashMap::default(),
            prims: FxHashMap::default(),
        }
    }

    /// The keys of an instance, one a claim.
    pub fn of(&mut self, rule: &Rule, instance: usize, claims: &[Claim]) -> Vec<Key> {
        let text = self.text(rule, &rule.instances[instance]);
        claims
            .iter()
            .map(|claim| Key::of(&format!("{}\n{text}", report::context(rule, *claim))))
            .collect()
    }

    /// All that the verdicts of an instance rest on, but for the environment.
    fn text(&mut self, rule: &Rule, bits: &[u8]) -> String {
        let mut out = format!("semantics {SEMANTICS} checker {CHECKER}\n");
        let mut canon = Canon::new(rule);
        let roots = [rule.pattern].into_iter().chain(rule.alts.iter().map(|a| a.term));
        roots.chain(rule.fact_args()).for_each(|root| canon.reach(root));
        for v in 0..canon.vars.len() {
            let var = &rule.vars[canon.vars[v]];
            let kind = match var.kind {
                VarKind::Value => "value".into(),
                VarKind::Const => "const".into(),
                VarKind::Bound(node) => format!("n{}", canon.node(node)),
            };
            let comps = canon.comps(var.comps);
            let (size, base, whole) = (bits[var.class], var.base.name(), var.whole);
            line(&mut out, format_args!("v{v} {kind} {base}{size}x{comps} {whole}"));
        }
        for id in canon.order.clone() {
            let node = &rule.nodes[id];
            let list = |args: &[NodeId]| -> String {
                args.iter().map(|a| format!(" n{}", canon.node(*a))).collect()
            };
            let what = match &node.kind {
                NodeKind::Op { op, promises, args, .. } => {
                    format!("op {} {promises:x}{}", self.op(*op), list(args))
                }
                NodeKind::Var(v) => format!("v{}", canon.var(*v)),
                NodeKind::Literal(value, base) => {
                    let coded = value.encode(*base, bits[node.class]);
                    format!("literal {} {coded:x?} {value:?}", base.name())
                }
                NodeKind::Compute { expr, args, bits: class } => {
                    let text = self.expr(expr);
                    format!("compute {}{} {text}", bits[*class], list(args))
                }
                NodeKind::Ref(of) => format!("ref n{}", canon.node(*of)),
                NodeKind::Undef => "undef".into(),
                NodeKind::Outside { what, args, .. } => format!("outside {what:?}{}", list(args)),
            };
            let swizzle = node.swizzle.as_ref().map_or(String::new(), |s| format!(" .{s:?}"));
            let (n, size, comps) = (canon.node(id), bits[node.class], canon.comps(node.comps));
            line(&mut out, format_args!("n{n} {size}x{comps} {what}{swizzle}"));
        }
        for chain in &rule.chains {
            let list =
                |nodes: &[NodeId]| -> Vec<usize> { nodes.iter().map(|n| canon.node(*n)).collect() };
            line(
                &mut out,
                format_args!("chain {:?} {:?}", list(&chain.nodes), list(&chain.operands)),
            );
        }
        line(&mut out, format_args!("pattern n{}", canon.node(rule.pattern)));
        for alt in &rule.alts {
            line(&mut out, format_args!("alternative n{}", canon.node(alt.term)));
        }
        for fact in &rule.facts {
            let args: Vec<usize> = fact.args.iter().map(|a| canon.node(*a)).collect();
            let (size, key) = (bits[fact.bits], self.fact(fact.fact));
            line(&mut out, format_args!("fact {key} {size} {args:?}"));
        }
        let used = rule.used.map(|n| canon.node(n));
        line(&mut out, format_args!("used {used:?} ulps {:?} waive {:?}", rule.ulps, rule.waive));
        out
    }

    /// The definition of an opcode.
    fn op(&mut self, op: usize) -> Key {
        if let Some(key) = self.ops.get(&op) {
            return *key;
        }
        let sig = self.set.ops.get(op);
        let mut text = format!(
            "{} {:x} {} {} {} {} {:x} {}\n",
            sig.signature(),
            sig.sizes,
            sig.commutative,
            sig.associative,
            sig.float,
            sig.convergent,
            sig.promises,
            sig.moves
        );
        // An opcode without a definition is known by its name alone, which is in the signature.
        for part in [&sig.eval, &sig.dom, &sig.nsw, &sig.nuw] {
            let part = part.as_ref().map_or("none".into(), |e| self.expr(e));
            line(&mut text, format_args!("{part}"));
        }
        let key = Key::of(&text);
        self.ops.insert(op, key);
        key
    }

    fn fact(&mut self, fact: usize) -> Key {
        if let Some(key) = self.facts.get(&fact) {
            return *key;
        }
        let text = self.expr(&self.set.facts[fact].body);
        let key = Key::of(&text);
        self.facts.insert(fact, key);
        key
    }

    /// An expression with all its types, and what its primitives give.
    fn expr(&mut self, expr: &Expr) -> String {
        let mut out = expr.to_string();
        expr.walk(&mut |e| {
            let _ = write!(out, " {}", e.ty);
            match &e.kind {
                ExprKind::Var { id, .. } | ExprKind::Let { id, .. } => {
                    let _ = write!(out, ":{id}");
                }
                ExprKind::Call(prim, args) => {
                    let types: Vec<Ty> = args.iter().map(|a| a.ty.with_comps(1)).collect();
                    let _ = write!(out, ":{}", self.prim(*prim, &types, e.ty.with_comps(1)));
                }
                _ => {}
            }
        });
        out
    }

    /// What a primitive gives on a grid: a definition that changes gives something else there.
    fn prim(&mut self, prim: Prim, types: &[Ty], result: Ty) -> Key {
        let name = format!("{prim} {types:?} {result:?}");
        if let Some(key) = self.prims.get(&name) {
            return *key;
        }
        let all = types.iter().chain([&result]);
        let open: Vec<Base> = all.filter(|t| t.width == Width::Bits).map(|t| t.base).collect();
        let widths: &[u8] = match (open.is_empty(), open.contains(&Base::Float)) {
            (true, _) => &[32],
            (_, true) => &[16, 32, 64],
            _ => &[8, 16, 32, 64],
        };
        let args = types.iter().enumerate().map(|(i, ty)| Expr {
            kind: ExprKind::Var { id: i as u32, name: "".into() },
            ty: *ty,
            span: Default::default(),
        });
        let call = Expr {
            kind: ExprKind::Call(prim, args.collect()),
            ty: result,
            span: Default::default(),
        };
        let mut text = name.clone();
        for width in widths {
            for (denorm, rounding) in
                [(Denorm::Keep, Rounding::Rte), (Denorm::Flush, Rounding::Rtz)]
            {
                grid(&call, types, *width, FloatEnv::uniform(denorm, rounding), &mut text);
            }
        }
        let key = Key::of(&text);
        self.prims.insert(name, key);
        key
    }
}

/// The results of a call at every point of a grid.
fn grid(call: &Expr, types: &[Ty], width: u8, env: FloatEnv, out: &mut String) {
    let bits_of = |ty: &Ty| match (ty.base, ty.at(width).width) {
        (Base::Bool, _) => 1,
        (_, Width::Fixed(n)) => n,
        (_, Width::Bits) => width,
    };
    let values: Vec<Vec<u64>> = types.iter().map(|ty| samples(ty.base, bits_of(ty))).collect();
    let points: usize = values.iter().map(Vec::len).product();
    for mut point in 0..points {
        let vars = values.iter().map(|list| {
            let value = list[point % list.len()];
            point /= list.len();
            Some([Out::Bits(value)].into_iter().collect())
        });
        let vars = vars.collect();
        let mut choices = Choices::default();
        let side = Side::Before;
        let mut evaluator =
            Evaluator { choices: &mut choices, env, freedom: None, width, side, vars };
        let _ = write!(out, "{:x?}", evaluator.eval(call));
    }
}

/// Some values of a type at which definitions differ.
fn samples(base: Base, bits: u8) -> Vec<u64> {
    let mask = if bits >= 64 { u64::MAX } else { (1 << bits) - 1 };
    let top = 1u64 << (bits - 1);
    let mut out = match base {
        Base::Float => {
            let w = u32::from(bits);
            let numbers = [0.0, -0.0, 1.0, -1.0, 0.5, 2.0, -2.5, 3.0, 100.0, 0.001, -7.7];
            let mut out: Vec<u64> = numbers.iter().map(|v| prim::fconst(w, *v)).collect();
            let inf = prim::inf(w);
            // Infinities, NaN, the greatest number, the least, and a denormal in between.
            out.extend([inf, inf | top, prim::nan(w), inf | 1, inf - 1, 1, top | 5]);
            out
        }
        Base::Bool => vec![0, 1],
        Base::Int | Base::Uint => {
            vec![0, 1, 2, 3, 7, 0x55, 100, mask, mask - 1, top, top - 1, top | 5]
        }
    };
    out.iter_mut().for_each(|v| *v &= mask);
    out
}

fn line(out: &mut String, text: fmt::Arguments<'_>) {
    let _ = writeln!(out, "{text}");
}

/// Numbers for the nodes and variables of a rule that don't depend on how it is stored.
struct Canon<'r> {
    rule: &'r Rule,
    order: Vec<NodeId>,
    numbers: FxHashMap<NodeId, usize>,
    vars: Vec<usize>,
}

impl<'r> Canon<'r> {
    fn new(rule: &'r Rule) -> Canon<'r> {
        Canon { rule, order: Vec::new(), numbers: FxHashMap::default(), vars: Vec::new() }
    }

    /// Numbers what is under a root.
    fn reach(&mut self, root: NodeId) {
        for id in self.rule.reachable(root) {
            if self.numbers.contains_key(&id) {
                continue;
            }
            self.numbers.insert(id, self.order.len());
            self.order.push(id);
            if let NodeKind::Var(v) = self.rule.nodes[id].kind
                && !self.vars.contains(&v)
            {
                self.vars.push(v);
            }
        }
    }

    fn node(&self, id: NodeId) -> usize {
        self.numbers.get(&id).copied().unwrap_or(usize::MAX)
    }

    fn var(&self, v: usize) -> usize {
        self.vars.iter().position(|w| *w == v).unwrap_or(usize::MAX)
    }

    /// The count of a node; generic ones are checked with one component.
    fn comps(&self, comps: Comps) -> u8 {
        match comps {
            Comps::Fixed(n) => n,
            Comps::Generic => 0,
        }
    }
}
