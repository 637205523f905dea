//! The arm of one rule: tests in order of cost, then the replacement.
//!
//! Every pattern node `i` has a value `v{i}` (a def under the swizzle through which the root sees it) and, if it is an
//! operation, an instruction `n{i}`. The operand orders of commutative ops are loops; a test that fails goes on with
//! the innermost loop, or leaves the arm.

use super::super::model::*;
use super::super::ops::OpSig;
use crate::expr::Base;
use std::collections::HashMap;
use std::fmt::Write;

/// The arm and the functions that it calls.
pub(super) struct Arm {
    /// Functions for computed constants.
    pub functions: String,
    /// The arm itself.
    pub body: String,
}

/// Emits the arm of the rule with that index.
pub(super) fn arm(set: &RuleSet, index: usize, fact_names: &[String]) -> Arm {
    let rule = &set.rules[index];
    let mut e = Emitter {
        set,
        rule,
        index,
        fact_names,
        out: String::new(),
        functions: String::new(),
        indent: 1,
        loops: 0,
        bound: HashMap::new(),
        computed: HashMap::new(),
        copied: rule.constants_under_phis(),
    };
    e.rule();
    Arm { functions: e.functions, body: e.out }
}

/// The name of an opcode constant in generated code.
pub(super) fn op_path(sig: &OpSig) -> String {
    match sig.id < 0x4000 {
        true => format!("AluOp::{}", sig.name.to_uppercase()),
        false => format!("AluOp({:#x})", sig.id),
    }
}

pub(super) struct Emitter<'a> {
    pub set: &'a RuleSet,
    pub rule: &'a Rule,
    index: usize,
    fact_names: &'a [String],
    out: String,
    functions: String,
    indent: usize,
    pub loops: usize,
    /// The expression of a variable's value once bound.
    pub bound: HashMap<VarId, String>,
    /// Arrays of computed constants by node.
    computed: HashMap<NodeId, String>,
    /// Constants that may be made where the root can't see them.
    copied: Vec<VarId>,
}

impl Emitter<'_> {
    pub(super) fn line(&mut self, text: impl AsRef<str>) {
        for _ in 0..self.indent {
            self.out.push_str("    ");
        }
        self.out.push_str(text.as_ref());
        self.out.push('\n');
    }

    pub(super) fn open(&mut self, text: impl AsRef<str>) {
        self.line(text);
        self.indent += 1;
    }

    pub(super) fn close(&mut self) {
        self.indent -= 1;
        self.line("}");
    }

    pub(super) fn fail(&self) -> String {
        match self.loops {
            0 => format!("break 'r{}", self.index),
            _ => "continue".to_string(),
        }
    }

    pub(super) fn test(&mut self, condition: impl AsRef<str>) {
        let fail = self.fail();
        self.open(format!("if !({}) {{", condition.as_ref()));
        self.line(format!("{fail};"));
        self.close();
    }

    fn sig(&self, node: NodeId) -> Option<&OpSig> {
        match &self.rule.nodes[node].kind {
            NodeKind::Op { op, .. } => Some(self.set.ops.get(*op)),
            _ => None,
        }
    }

    pub(super) fn comps(&self, comps: Comps) -> String {
        match comps {
            Comps::Fixed(n) => n.to_string(),
            Comps::Generic => "comps".to_string(),
        }
    }

    /// The bits of a class, as a number or read from the value of a pattern node.
    pub(super) fn bits(&self, class: ClassId) -> String {
        let rule = self.rule;
        let first = rule.instances[0][class];
        if rule.instances.iter().all(|i| i[class] == first) {
            return first.to_string();
        }
        let pattern = rule.pattern_nodes();
        if let Some(node) = pattern.iter().find(|n| rule.nodes[**n].class == class) {
            return format!("cx.bits(v{node})");
        }
        // A size that follows from others: by the table of instances.
        let reps: Vec<NodeId> = rule
            .free_classes
            .iter()
            .filter_map(|c| pattern.iter().find(|n| rule.nodes[**n].class == *c).copied())
            .collect();
        let keys: Vec<String> = reps.iter().map(|n| format!("cx.bits(v{n})")).collect();
        let mut arms = String::new();
        for instance in &rule.instances {
            let key: Vec<String> =
                reps.iter().map(|n| instance[rule.nodes[*n].class].to_string()).collect();
            let _ = write!(arms, "({},) => {}, ", key.join(", "), instance[class]);
        }
        format!("match ({},) {{ {arms}_ => {first} }}", keys.join(", "))
    }

    /// The bits of a literal.
    fn literal(&self, value: &Literal, base: Base, class: ClassId) -> String {
        let bits = self.bits(class);
        if let Ok(n) = bits.parse::<u8>() {
            return format!("{:#x}", value.encode(base, n).unwrap_or(0));
        }
        match value {
            Literal::Int(v) | Literal::Hex(v) => format!("abs::cut({bits}, {:#x})", *v as u64),
            Literal::Bool(b) => format!("abs::cut({bits}, {:#x})", if *b { u64::MAX } else { 0 }),
            Literal::Float(_) => {
                let at = |n| value.encode(Base::Float, n).unwrap_or(0);
                format!("abs::by_size({bits}, {:#x}, {:#x}, {:#x})", at(16), at(32), at(64))
            }
        }
    }

    // ---- the arm

    fn rule(&mut self) {
        let rule = self.rule;
        let file = &self.set.files[rule.file].0;
        self.line(format!("// rule {} at {file}:{}", rule.name, rule.line));
        let guard = self.guard();
        let guarded = !guard.is_empty();
        if guarded {
            self.open(format!("if {guard} {{"));
        }
        self.open(format!("'r{}: {{", self.index));
        self.line("let v0 = Val::from(n0.def());");
        let root = rule.pattern;
        let per_component = self.sig(root).is_some_and(|s| s.output.comps == 0);
        if let (Comps::Fixed(n), true) = (rule.nodes[root].comps, per_component) {
            self.test(format!("comps == {n}"));
        }
        if let NodeKind::Outside { what, .. } = &rule.nodes[root].kind {
            self.outside(root, what);
        }
        self.instruction(root);
        self.environment();
        self.operands(root);
        self.first_places();
        self.sizes();
        self.phis();
        if let Some(when) = &rule.when {
            let text = self.cond(when);
            self.test(text);
        }
        self.facts();
        self.alternatives();
        for _ in 0..self.loops {
            self.close();
        }
        self.close();
        if guarded {
            self.close();
        }
    }

    /// A condition over the kinds of the root's operands that everything that matches satisfies.
    fn guard(&self) -> String {
        let NodeKind::Op { op, args, .. } = &self.rule.nodes[self.rule.pattern].kind else {
            return String::new();
        };
        let sig = self.set.ops.get(*op);
        if let Some(chain) = self.rule.chain_at(self.rule.pattern) {
            // Two operands may be all that the chain has.
            let inner = format!("{}.0", op_path(sig));
            return match chain.operands.len() {
                2 => String::new(),
                _ => format!("k0 == {inner} || k1 == {inner}"),
            };
        }
        if args.len() > super::MAX_KINDS {
            return String::new();
        }
        let kind = |node: NodeId| -> Option<String> {
            match &self.rule.nodes[node].kind {
                NodeKind::Op { .. } => self.sig(node).map(|s| format!("{}.0", op_path(s))),
                NodeKind::Outside { .. } | NodeKind::Undef => Some("Rewriter::OTHER".to_string()),
                NodeKind::Literal(..) => Some("Rewriter::CONST".to_string()),
                NodeKind::Var(v) if self.rule.vars[*v].kind == VarKind::Const => {
                    Some("Rewriter::CONST".to_string())
                }
                _ => None,
            }
        };
        let kinds: Vec<Option<String>> = args.iter().map(|a| kind(*a)).collect();
        let mut tests = Vec::new();
        let mut from = 0;
        if sig.commutative && kinds.len() >= 2 {
            from = 2;
            match (&kinds[0], &kinds[1]) {
                (Some(a), Some(b)) if a == b => tests.push(format!("k0 == {a} && k1 == {a}")),
                (Some(a), Some(b)) => {
                    tests.push(format!("(k0 == {a} && k1 == {b}) || (k0 == {b} && k1 == {a})"));
                }
                (Some(a), None) | (None, Some(a)) if kinds.len() == 2 => {
                    tests.push(format!("k0 == {a} || k1 == {a}"))
                }
                (Some(a), None) | (None, Some(a)) => {
                    tests.push(format!("(k0 == {a} || k1 == {a})"))
                }
                (None, None) => {}
            }
        }
        for (i, kind) in kinds.iter().enumerate().skip(from) {
            if let Some(kind) = kind {
                tests.push(format!("k{i} == {kind}"));
            }
        }
        tests.join(" && ")
    }

    /// Tests of an instruction itself: promises and licences.
    pub(super) fn instruction(&mut self, node: NodeId) {
        if let NodeKind::Outside { bind: Some(var), .. } = &self.rule.nodes[node].kind {
            self.bound.insert(*var, format!("v{node}"));
        }
        let NodeKind::Op { promises, bind, .. } = &self.rule.nodes[node].kind else { return };
        let float = self.sig(node).is_some_and(|s| s.float);
        let wanted = promises | if float { self.rule.licences } else { 0 };
        if wanted != 0 {
            self.test(format!("cx.flags(n{node}).contains({})", flag_names(wanted)));
        }
        if let Some(var) = bind {
            self.bound.insert(*var, format!("v{node}"));
        }
    }

    fn environment(&mut self) {
        let env = self.rule.env;
        if env == EnvClause::ALL {
            return;
        }
        let mut sizes: Vec<String> = Vec::new();
        for class in self.float_classes() {
            let bits = self.rule.instances[0][class];
            let fixed = self.rule.instances.iter().all(|i| i[class] == bits);
            // At the root only its own size is at hand; the environment of others is tested for all sizes.
            let text = match fixed {
                true => bits.to_string(),
                false if class == self.rule.nodes[self.rule.pattern].class => {
                    "cx.bits(v0)".to_string()
                }
                false => "0".to_string(),
            };
            if !sizes.contains(&text) {
                sizes.push(text);
            }
        }
        for bits in sizes {
            self.test(format!("cx.env({bits}, {}, {})", env.denorm, env.rounding));
        }
    }

    /// The size classes of the floats that the pattern computes with.
    fn float_classes(&self) -> Vec<ClassId> {
        let mut out = Vec::new();
        for node in self.rule.pattern_nodes() {
            let NodeKind::Op { op, args, .. } = &self.rule.nodes[node].kind else { continue };
            let sig = self.set.ops.get(*op);
            if !sig.float {
                continue;
            }
            let mut add = |ty: Base, class: ClassId| {
                if ty == Base::Float && !out.contains(&class) {
                    out.push(class);
                }
            };
            add(sig.output.base, self.rule.nodes[node].class);
            for (ty, arg) in sig.inputs.iter().zip(args) {
                add(ty.base, self.rule.nodes[*arg].class);
            }
        }
        out
    }

    /// How often a variable occurs in the pattern, and whether anything else looks at it.
    pub(super) fn is_loose(&self, node: NodeId) -> bool {
        let NodeKind::Var(var) = &self.rule.nodes[node].kind else { return false };
        let occurrences = self
            .rule
            .pattern_nodes()
            .iter()
            .filter(|n| matches!(&self.rule.nodes[**n].kind, NodeKind::Var(v) if v == var))
            .count();
        let in_facts = self.rule.facts.iter().any(|f| {
            f.args.iter().any(|a| matches!(&self.rule.nodes[*a].kind, NodeKind::Var(v) if v == var))
        });
        let in_profit =
            self.rule.alts.iter().any(|a| a.profit.as_ref().is_some_and(|p| mentions(p, *var)));
        let plain =
            self.rule.vars[*var].kind == VarKind::Value && self.rule.nodes[node].swizzle.is_none();
        occurrences == 1 && !in_facts && !in_profit && plain
    }

    /// Matches the operands of a matched operation, cheap tests of all of them first.
    pub(super) fn operands(&mut self, node: NodeId) {
        let (op, args) = match &self.rule.nodes[node].kind {
            NodeKind::Op { op, args, .. } => (op, args),
            NodeKind::Outside { what, args, .. } => return self.outside_operands(node, what, args),
            _ => return,
        };
        if let Some(chain) = self.rule.chain_at(node) {
            return self.chain(node, *op, &chain.operands);
        }
        let (sig, args) = (self.set.ops.get(*op).clone(), args.clone());
        let same_var = args.len() >= 2
            && match (&self.rule.nodes[args[0]].kind, &self.rule.nodes[args[1]].kind) {
                (NodeKind::Var(a), NodeKind::Var(b)) => {
                    a == b && self.rule.nodes[args[0]].swizzle == self.rule.nodes[args[1]].swizzle
                }
                _ => false,
            };
        let loose = args.len() >= 2 && self.is_loose(args[0]) && self.is_loose(args[1]);
        let orders = sig.commutative && args.len() >= 2 && !same_var && !loose;
        if orders {
            self.open(format!("for o{node} in 0..2 {{"));
            self.loops += 1;
        }
        for (i, arg) in args.iter().enumerate() {
            let slot = match (orders, i) {
                (true, 0) => format!("o{node}"),
                (true, 1) => format!("1 - o{node}"),
                _ => i.to_string(),
            };
            // Operands of fixed component count are read whole, whatever the root takes of the result.
            let through = match sig.inputs[i].comps {
                0 if node != self.rule.pattern => format!(".through(v{node}.swizzle)"),
                _ => String::new(),
            };
            self.line(format!("let v{arg} = cx.arg(n{node}, {slot}){through};"));
        }
        for arg in &args {
            self.cheap(*arg);
        }
        for arg in &args {
            self.instruction(*arg);
        }
        for arg in &args {
            self.operands(*arg);
        }
    }

    /// Matches the operands of a chain: each with one of the chain's own, the first in source order first.
    fn chain(&mut self, node: NodeId, op: usize, operands: &[NodeId]) {
        let sig = self.set.ops.get(op);
        let licences =
            if sig.float { flag_names(self.rule.licences) } else { "Flags::empty()".into() };
        self.line(format!(
            "let c{node} = cx.chain(n{node}, v{node}.swizzle, {}, {licences});",
            op_path(sig)
        ));
        let rule = self.rule;
        match node == rule.pattern {
            true => self.test(format!("c{node}.len() >= {}", operands.len())),
            false => self.test(format!("c{node}.len() == {}", operands.len())),
        }
        for (n, operand) in operands.iter().enumerate() {
            self.open(format!("for i{operand} in 0..c{node}.len() {{"));
            self.loops += 1;
            if n > 0 {
                let taken: Vec<String> =
                    operands[..n].iter().map(|o| format!("i{operand} != i{o}")).collect();
                self.test(taken.join(" && "));
            }
            self.line(format!("let v{operand} = c{node}.operand(i{operand});"));
            self.cheap(*operand);
            self.instruction(*operand);
        }
        for operand in operands {
            self.operands(*operand);
        }
    }

    /// What can be said of an operand without looking further down.
    pub(super) fn cheap(&mut self, id: NodeId) {
        let node = self.rule.nodes[id].clone();
        let comps = self.comps(node.comps);
        match &node.kind {
            NodeKind::Literal(value, base) => {
                let nan = matches!(value, Literal::Float(v) if f64::from_bits(*v).is_nan());
                let text = match nan {
                    true => format!("cx.is_nan(v{id}, {comps})"),
                    false => format!(
                        "cx.is_bits(v{id}, {comps}, {})",
                        self.literal(value, *base, node.class)
                    ),
                };
                self.test(text);
            }
            NodeKind::Op { op, .. } => {
                let sig = self.set.ops.get(*op).clone();
                let fail = self.fail();
                let path = op_path(&sig);
                self.line(format!("let Some(n{id}) = cx.alu(v{id}, {path}) else {{ {fail} }};"));
                match (&node.swizzle, sig.output.comps) {
                    (Some(s), _) => self.test(format!("cx.takes(v{id}, &{s:?})")),
                    (None, 0) => {}
                    (None, n) => {
                        let all: Vec<u8> = (0..n).collect();
                        self.test(format!("cx.takes(v{id}, &{all:?})"));
                    }
                }
                self.unseen(id);
            }
            NodeKind::Var(var) => {
                let v = &self.rule.vars[*var];
                if let Some(s) = &node.swizzle {
                    self.test(format!("cx.takes(v{id}, &{s:?})"));
                }
                if let Some(first) = self.bound.get(var).cloned() {
                    let text = match v.whole {
                        true => format!("{first}.def == v{id}.def"),
                        false => format!("cx.same({first}, v{id}, {comps})"),
                    };
                    self.test(text);
                    return;
                }
                if v.kind == VarKind::Const {
                    self.test(format!("cx.is_const(v{id})"));
                }
                let value = self.value_at(*var, id);
                self.bound.insert(*var, value);
            }
            NodeKind::Outside { what, .. } => {
                let find = match what {
                    Outside::Intrinsic { id: which, .. } => {
                        format!("intrinsic(v{id}, {})", super::outside::intrinsic(self.set, *which))
                    }
                    Outside::Tex { op, .. } => format!("tex(v{id}, {})", super::outside::tex(*op)),
                    Outside::Phi => format!("phi(v{id})"),
                };
                let fail = self.fail();
                self.line(format!("let Some(n{id}) = cx.{find} else {{ {fail} }};"));
                match (&node.swizzle, what) {
                    (Some(s), _) => self.test(format!("cx.takes(v{id}, &{s:?})")),
                    (None, Outside::Phi) => {}
                    (None, _) => self.test(format!("cx.is_whole(v{id}, {comps})")),
                }
                self.unseen(id);
                self.outside(id, what);
            }
            NodeKind::Undef => self.test(format!("cx.is_undef(v{id}, n0, {comps})")),
            NodeKind::Compute { .. } | NodeKind::Ref(_) => {}
        }
    }

    /// Through an operation over an undefined value nothing but the pattern may see what is chosen for it.
    fn unseen(&mut self, id: NodeId) {
        if self.rule.chooses(id) {
            self.test(format!("cx.once(v{id})"));
        }
    }

    /// From here on a variable is what stands at its first place in source order. Equal constants may be different
    /// instructions, and tests bind a variable at the place that they come to first.
    fn first_places(&mut self) {
        let mut seen = Vec::new();
        for id in self.rule.pattern_nodes() {
            let NodeKind::Var(var) = self.rule.nodes[id].kind else { continue };
            if !seen.contains(&var) {
                seen.push(var);
                let value = self.value_at(var, id);
                self.bound.insert(var, value);
            }
        }
    }

    /// What a variable stands for, seen at one of its places.
    fn value_at(&self, var: VarId, id: NodeId) -> String {
        match self.rule.vars[var].whole {
            true => format!("Val::from(v{id}.def)"),
            false => format!("v{id}"),
        }
    }

    fn sizes(&mut self) {
        let Some(test) = &self.rule.size_test else { return };
        let keys: Vec<String> = test.nodes.iter().map(|n| format!("cx.bits(v{n})")).collect();
        let tuples: Vec<String> = test
            .allowed
            .iter()
            .map(|t| {
                let t: Vec<String> = t.iter().map(u8::to_string).collect();
                format!("({},)", t.join(", "))
            })
            .collect();
        self.test(format!("matches!(({},), {})", keys.join(", "), tuples.join(" | ")));
    }

    // ---- constants and facts

    /// The abstract value of component `i` of an argument.
    fn abstract_arg(&self, node: NodeId) -> String {
        let n = &self.rule.nodes[node];
        match &n.kind {
            NodeKind::Var(var) => {
                let mut value = self.bound.get(var).cloned().unwrap_or_default();
                if let Some(s) = &n.swizzle {
                    value = format!("{value}.swz(&{s:?})");
                }
                match self.rule.vars[*var].kind {
                    VarKind::Const => format!("cx.component({value}, i)"),
                    _ => format!("cx.known({value}, i)"),
                }
            }
            NodeKind::Literal(value, base) => {
                format!(
                    "abs::int({}, {})",
                    self.wide_bits(n.class),
                    self.literal(value, *base, n.class)
                )
            }
            NodeKind::Compute { .. } => {
                let name = self.computed.get(&node).cloned().unwrap_or_default();
                format!("abs::int({}, {name}[i])", self.wide_bits(n.class))
            }
            NodeKind::Op { .. } | NodeKind::Outside { .. } | NodeKind::Ref(_) | NodeKind::Undef => {
                format!("abs::top({})", self.wide_bits(n.class))
            }
        }
    }

    fn wide_bits(&self, class: ClassId) -> String {
        let bits = self.bits(class);
        match bits.parse::<u8>() {
            Ok(_) => bits,
            Err(_) => format!("u32::from({bits})"),
        }
    }

    /// Emits the computed constants under a node, innermost first.
    fn compute(&mut self, root: NodeId) {
        let mut nodes = self.rule.reachable(root);
        nodes.reverse();
        for id in nodes {
            let NodeKind::Compute { expr, args, bits } = &self.rule.nodes[id].kind else {
                continue;
            };
            if self.computed.contains_key(&id) {
                continue;
            }
            let name = format!("r{}_k{id}", self.index);
            let params: Vec<String> = (0..args.len()).map(|i| format!("v{i}: Abs")).collect();
            let body = super::expr::emit(expr).unwrap_or_else(|| "abs::top(64)".to_string());
            let comma = if params.is_empty() { "" } else { ", " };
            let _ = writeln!(
                self.functions,
                "/// `{expr}` of rule {}.\nfn {name}(e: &abs::Env, w: u32{comma}{}) -> Abs {{\n    let _ = (e, w);\n    {body}\n}}\n",
                self.rule.name,
                params.join(", "),
            );
            let values: Vec<String> = args.iter().map(|a| self.abstract_arg(*a)).collect();
            let comps = self.comps(self.rule.nodes[id].comps);
            let width = self.wide_bits(*bits);
            let fail = self.fail();
            let mut call = format!("{name}(&cx.fold_env(), w{id}");
            let mut lets = String::new();
            for (i, value) in values.iter().enumerate() {
                let _ = write!(lets, "let a{i} = {value}; ");
                let _ = write!(call, ", a{i}");
            }
            self.line(format!("let w{id} = {width};"));
            let unused = if args.is_empty() { "let _ = i; " } else { "" };
            self.line(format!(
                "let Some(k{id}) = cx.constants({comps}, |cx, i| {{ {unused}{lets}{call}) }}) else {{ {fail} }};"
            ));
            self.computed.insert(id, format!("k{id}"));
        }
    }

    fn facts(&mut self) {
        for fact in &self.rule.facts {
            for arg in &fact.args {
                self.compute(*arg);
            }
            let args: Vec<String> = fact.args.iter().map(|a| self.abstract_arg(*a)).collect();
            let comps = fact
                .args
                .iter()
                .find(|a| matches!(self.rule.nodes[**a].kind, NodeKind::Var(_) | NodeKind::Ref(_)))
                .map_or(Comps::Fixed(1), |a| self.rule.nodes[*a].comps);
            let comps = self.comps(comps);
            let width = self.wide_bits(fact.bits);
            let mut lets = String::new();
            let mut names = String::new();
            for (i, value) in args.iter().enumerate() {
                let _ = write!(lets, "let a{i} = {value}; ");
                let _ = write!(names, ", a{i}");
            }
            let name = &self.fact_names[fact.fact];
            self.line(format!("let w = {width};"));
            self.test(format!(
                "cx.holds({comps}, |cx, i| {{ {lets}{name}(&cx.fact_env(), w{names}) }})"
            ));
        }
    }

    fn cond(&self, cond: &Cond) -> String {
        let join = |list: &[Cond], op: &str| {
            let parts: Vec<String> = list.iter().map(|c| self.cond(c)).collect();
            format!("({})", parts.join(op))
        };
        match cond {
            Cond::And(list) => join(list, " && "),
            Cond::Or(list) => join(list, " || "),
            Cond::Not(c) if matches!(**c, Cond::Uses(..)) => format!("!({})", self.cond(c)),
            Cond::Not(c) => format!("!{}", self.cond(c)),
            Cond::Option(name) => {
                let index = self.set.options.iter().position(|o| o.0 == *name).unwrap_or(0);
                format!("cx.option({index})")
            }
            Cond::Profit(test, var) => {
                let value = self.bound.get(var).cloned().unwrap_or_default();
                match test {
                    Profit::Once => format!("cx.once({value})"),
                    Profit::Dies => {
                        let (ops, chains) = self.matched();
                        format!("cx.dies({value}, &[{ops}], &[{chains}])")
                    }
                    Profit::IsConst => format!("cx.is_const({value})"),
                }
            }
            Cond::Uses(var, compare, bound) => {
                let value = self.bound.get(var).cloned().unwrap_or_default();
                format!("cx.uses({value}, {}) {} {bound}", bound + 1, compare.text())
            }
            Cond::OnlyUsedAs(var, ops) => {
                let value = self.bound.get(var).cloned().unwrap_or_default();
                let ops: Vec<String> =
                    ops.iter().map(|op| op_path(self.set.ops.get(*op))).collect();
                format!("cx.only_used_as({value}, &[{}], {MOST_USES})", ops.join(", "))
            }
        }
    }

    /// The matched instructions, and the chains, as lists.
    fn matched(&self) -> (String, String) {
        let (mut ops, mut chains) = (Vec::new(), Vec::new());
        for id in self.rule.pattern_nodes() {
            match self.rule.nodes[id].kind {
                NodeKind::Op { .. } if self.rule.is_in_chain(id) => {}
                NodeKind::Op { .. } | NodeKind::Outside { .. } => ops.push(format!("n{id}")),
                _ => {}
            }
            if self.rule.chain_at(id).is_some() {
                chains.push(format!("&c{id}"));
            }
        }
        (ops.join(", "), chains.join(", "))
    }

    // ---- replacements

    fn alternatives(&mut self) {
        let float_nodes: Vec<NodeId> = self
            .rule
            .pattern_nodes()
            .into_iter()
            .filter(|n| self.sig(*n).is_some_and(|s| s.float) && !self.rule.is_in_chain(*n))
            .collect();
        let keep = match float_nodes.as_slice() {
            [] => None,
            list => {
                let flags_of = |n: &NodeId| match self.rule.chain_at(*n) {
                    Some(_) => format!("c{n}.flags()"),
                    None => format!("cx.flags(n{n})"),
                };
                let flags: Vec<String> = list.iter().map(flags_of).collect();
                Some(format!("{} & Flags::LICENCES", flags.join(" & ")))
            }
        };
        for i in 0..self.rule.alts.len() {
            let alt = self.rule.alts[i].clone();
            let mut tests = self.legality(alt.term);
            if let Some(profit) = &alt.profit {
                tests.push(self.cond(profit));
            }
            let single = self.rule.alts.len() == 1;
            let guarded = !tests.is_empty() && !single;
            if guarded {
                self.open(format!("if {} {{", tests.join(" && ")));
            } else if !tests.is_empty() {
                self.test(tests.join(" && "));
            }
            let outer = self.computed.clone();
            self.compute(alt.term);
            self.test(format!("cx.begin({})", self.index));
            let chain = self.rule.chain_at(self.rule.pattern);
            let builds = chain.is_some()
                || self
                    .rule
                    .reachable(alt.term)
                    .iter()
                    .any(|n| self.sig(*n).is_some_and(|s| s.float));
            if let (Some(keep), true) = (&keep, builds) {
                self.line(format!("let keep = {keep};"));
            }
            let mut value = self.build(alt.term, keep.is_some());
            if let (Some(chain), Some(sig)) = (chain, self.sig(self.rule.pattern)) {
                let taken: Vec<String> = chain.operands.iter().map(|o| format!("i{o}")).collect();
                let flags = if sig.float && keep.is_some() { "keep" } else { "Flags::empty()" };
                value = format!(
                    "cx.rest({value}, &c{}, &[{}], {}, comps, {flags})",
                    self.rule.pattern,
                    taken.join(", "),
                    op_path(sig)
                );
                self.line(format!("let all = {value};"));
                value = "all".to_string();
            }
            self.line(format!("return cx.replace({}, n0, {value});", self.index));
            self.computed = outer;
            if guarded {
                self.close();
            }
        }
    }

    /// Legality of what the replacement creates and the pattern didn't have.
    fn legality(&self, root: NodeId) -> Vec<String> {
        let rule = self.rule;
        let key = |node: NodeId| -> Option<(usize, ClassId)> {
            let NodeKind::Op { op, args, .. } = &rule.nodes[node].kind else { return None };
            let sig = self.set.ops.get(*op);
            let class = match sig.inputs.iter().position(|t| t.bits == 0) {
                Some(i) => rule.nodes[args[i]].class,
                None => rule.nodes[node].class,
            };
            Some((*op, class))
        };
        let have: Vec<(usize, ClassId)> =
            rule.pattern_nodes().iter().filter_map(|n| key(*n)).collect();
        let mut out = Vec::new();
        for node in rule.reachable(root) {
            let Some((op, class)) = key(node) else {
                out.extend(self.outside_legality(node).filter(|text| !out.contains(text)));
                continue;
            };
            if have.contains(&(op, class)) {
                continue;
            }
            let text = format!("cx.legal({}, {})", op_path(self.set.ops.get(op)), self.bits(class));
            if !out.contains(&text) {
                out.push(text);
            }
        }
        out
    }

    /// Builds a term, operands first, and gives the expression of its value.
    fn build(&mut self, root: NodeId, keep: bool) -> String {
        let mut done: HashMap<NodeId, String> = HashMap::new();
        let mut order = Vec::new();
        let mut stack = vec![(root, false)];
        while let Some((id, expanded)) = stack.pop() {
            if expanded {
                order.push(id);
                continue;
            }
            stack.push((id, true));
            if !matches!(self.rule.nodes[id].kind, NodeKind::Compute { .. }) {
                stack.extend(self.rule.nodes[id].operands().iter().rev().map(|o| (*o, false)));
            }
        }
        let made = self.rule.made_phis(root);
        let over_edges: Vec<NodeId> =
            made.iter().flat_map(|phi| self.rule.nodes[*phi].operands()).copied().collect();
        for id in order {
            if done.contains_key(&id) {
                continue;
            }
            let node = self.rule.nodes[id].clone();
            let comps = self.comps(node.comps);
            let mut text = match &node.kind {
                NodeKind::Var(var) => {
                    let value = self.bound.get(var).cloned().unwrap_or_default();
                    match self.copied.contains(var) && !over_edges.contains(&id) {
                        true => self.bind_value(id, &format!("cx.copied({value})")),
                        false => value,
                    }
                }
                NodeKind::Outside { what, args, .. } => {
                    let text = self.outside_built(id, what, &node, args, &done);
                    self.bind_value(id, &text)
                }
                NodeKind::Ref(inner) => done[inner].clone(),
                NodeKind::Undef => {
                    let text = format!("cx.undef({}, {comps})", self.bits(node.class));
                    self.bind_value(id, &text)
                }
                NodeKind::Literal(value, base) => {
                    let (bits, value) =
                        (self.bits(node.class), self.literal(value, *base, node.class));
                    let text = match id == root {
                        true => format!("cx.imm_n({bits}, {comps}, &[{value}; 16])"),
                        false => format!("cx.imm({bits}, {value})"),
                    };
                    self.bind_value(id, &text)
                }
                NodeKind::Compute { .. } => {
                    let name = self.computed.get(&id).cloned().unwrap_or_default();
                    let text = format!("cx.imm_n({}, {comps}, &{name})", self.bits(node.class));
                    self.bind_value(id, &text)
                }
                NodeKind::Op { op, promises, args, .. } => {
                    let sig = self.set.ops.get(*op).clone();
                    let flags = match (sig.float && keep, *promises) {
                        (true, 0) => "keep".to_string(),
                        (true, p) => format!("keep | {}", flag_names(p)),
                        (false, 0) => "Flags::empty()".to_string(),
                        (false, p) => flag_names(p),
                    };
                    let count = match sig.output.comps {
                        0 => comps,
                        n => n.to_string(),
                    };
                    let operands: Vec<String> = args.iter().map(|a| done[a].clone()).collect();
                    let text = format!(
                        "cx.build({}, {count}, {flags}, &[{}])",
                        op_path(&sig),
                        operands.join(", ")
                    );
                    self.bind_value(id, &text)
                }
            };
            if let Some(s) = &node.swizzle {
                text = format!("{text}.swz(&{s:?})");
            }
            done.insert(id, text);
        }
        done[&root].clone()
    }

    fn bind_value(&mut self, id: NodeId, text: &str) -> String {
        self.line(format!("let t{id} = {text};"));
        format!("t{id}")
    }
}

fn mentions(cond: &Cond, var: VarId) -> bool {
    let mut found = false;
    cond.tests(&mut |test, _| found |= test.var() == Some(var));
    found
}

fn flag_names(set: u16) -> String {
    let names = flags::NAMES.iter().enumerate().filter(|(i, _)| set & (1 << i) != 0);
    let names: Vec<String> = names.map(|(_, n)| format!("Flags::{}", n.to_uppercase())).collect();
    match names.as_slice() {
        [one] => one.clone(),
        list => list[1..].iter().fold(list[0].clone(), |all, n| format!("{all}.union({n})")),
    }
}
