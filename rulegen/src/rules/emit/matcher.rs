//! The arm of one rule: tests in order of cost, then the replacement.
//!
//! Every pattern node `i` has a value `v{i}` (a def under the swizzle through which the root sees it) and, if it is an
//! operation, an instruction `n{i}`. The operand orders of commutative ops are loops; a test that fails goes on with
//! the innermost loop, or leaves the arm.

use super::super::model::*;
use super::super::ops::OpSig;
use super::pattern::Order;
use crate::expr::Base;
use std::collections::{BTreeSet, HashMap};
use std::fmt::Write;

/// The arm and the functions that it calls.
pub(super) struct Arm {
    /// Functions for computed constants.
    pub functions: String,
    /// What the kinds of the root's operands must satisfy; empty if anything will do.
    pub guard: String,
    /// Operands of the root whose value as a constant is compared: `u0` and so on.
    pub compared: BTreeSet<usize>,
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
        alternative: None,
        bound: HashMap::new(),
        computed: HashMap::new(),
        copied: rule.constants_under_phis(),
        order: Order::Both,
        proven: Vec::new(),
        shown: HashMap::new(),
        compared: BTreeSet::new(),
    };
    let guard = e.guard();
    e.indent += usize::from(!guard.is_empty());
    e.rule();
    Arm { functions: e.functions, guard, compared: e.compared, body: e.out }
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
    pub index: usize,
    fact_names: &'a [String],
    out: String,
    functions: String,
    indent: usize,
    pub loops: usize,
    /// The block of the alternative that is emitted, where another follows it.
    alternative: Option<String>,
    /// The expression of a variable's value once bound.
    pub bound: HashMap<VarId, String>,
    /// Arrays of computed constants by node.
    computed: HashMap<NodeId, String>,
    /// Constants that may be made where the root can't see them.
    copied: Vec<VarId>,
    pub order: Order,
    /// Operands of the root that are known to be what the pattern says.
    pub proven: Vec<NodeId>,
    /// Operands of the root that are seen by component, where it is known which they are.
    pub shown: HashMap<NodeId, usize>,
    pub compared: BTreeSet<usize>,
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
        match (&self.alternative, self.loops) {
            (Some(label), _) => format!("break {label}"),
            (None, 0) => format!("break 'r{}", self.index),
            (None, _) => "continue".to_string(),
        }
    }

    pub(super) fn test(&mut self, condition: impl AsRef<str>) {
        let fail = self.fail();
        self.open(format!("if !({}) {{", condition.as_ref()));
        self.line(format!("{fail};"));
        self.close();
    }

    pub(super) fn sig(&self, node: NodeId) -> Option<&OpSig> {
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
    pub(super) fn literal(&self, value: &Literal, base: Base, class: ClassId) -> String {
        let bits = self.bits(class);
        if let Ok(n) = bits.parse::<u8>() {
            return format!("{:#x}", value.encode(base, n).unwrap_or(0));
        }
        let mut patterns =
            self.rule.instances.iter().map(|i| value.encode(base, i[class]).unwrap_or(0));
        if let Some(first) = patterns.next()
            && patterns.all(|p| p == first)
        {
            return format!("{first:#x}");
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
        self.operands(root);
        self.first_places();
        self.environment();
        self.sizes();
        self.phis();
        if let Some(when) = &rule.when {
            let text = self.cond(when);
            self.test(text);
        }
        self.reads_less();
        self.facts();
        self.used();
        self.alternatives();
        for _ in 0..self.loops {
            self.close();
        }
        self.close();
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
        for bits in self.rule.hidden_floats(self.set) {
            let text = bits.to_string();
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
            out.extend(self.rule.float_classes(self.set, node));
        }
        out.dedup();
        out
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
            NodeKind::Var(var) if self.rule.vars[*var].kind != VarKind::Const => {
                let mut value = self.bound.get(var).cloned().unwrap_or_default();
                if let Some(s) = &n.swizzle {
                    value = format!("{value}.swz(&{s:?})");
                }
                format!("cx.known({value}, i)")
            }
            _ => self.component(node, "i"),
        }
    }

    /// A component of a constant.
    fn component(&self, mut node: NodeId, at: &str) -> String {
        let mut at = at.to_string();
        let nodes = &self.rule.nodes;
        while let NodeKind::Ref(inner) = nodes[node].kind {
            if let Some(swizzle) = &nodes[node].swizzle {
                at = format!("{swizzle:?}[{at}]");
            }
            node = inner;
        }
        let class = nodes[node].class;
        match (&nodes[node].kind, self.computed.get(&node)) {
            (NodeKind::Var(var), _) => {
                let mut value = self.bound.get(var).cloned().unwrap_or_default();
                if let Some(s) = &nodes[node].swizzle {
                    value = format!("{value}.swz(&{s:?})");
                }
                format!("cx.component({value}, {at})")
            }
            (NodeKind::Literal(value, base), _) => {
                format!(
                    "abs::int({}, {})",
                    self.wide_bits(class),
                    self.literal(value, *base, class)
                )
            }
            (_, Some(name)) => format!("abs::int({}, {name}[{at}])", self.wide_bits(class)),
            _ => format!("abs::top({})", self.wide_bits(class)),
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
        // Constants come behind those that they are computed from.
        nodes.sort_unstable();
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
            call.push(')');
            if expr.ty.base == Base::Bool {
                call = format!(
                    "abs::kept_truth({}, {call})",
                    self.wide_bits(self.rule.nodes[id].class)
                );
            }
            self.line(format!("let w{id} = {width};"));
            let unused = if args.is_empty() { "let _ = i; " } else { "" };
            self.line(format!(
                "let Some(k{id}) = cx.constants({comps}, |cx, i| {{ {unused}{lets}{call} }}) else {{ {fail} }};"
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
            // All arguments have as many.
            let comps = fact.args.first().map_or(Comps::Fixed(1), |a| self.rule.nodes[*a].comps);
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

    /// Most values are read whole: that is soon found, before anything is computed.
    fn reads_less(&mut self) {
        if self.rule.used.is_some() {
            let fail = self.fail();
            self.line(format!("let Some(read) = cx.reads_less(n0) else {{ {fail} }};"));
        }
    }

    fn used(&mut self) {
        let Some(used) = self.rule.used else { return };
        self.compute(used);
        let (bits, comps) = (self.abstract_arg(used), self.comps(self.rule.nodes[used].comps));
        self.test(format!("cx.reads_within(read, {comps}, |cx, i| {{ let _ = &cx; {bits} }})"));
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
            self.line("seldom();");
            // A constant without a value leaves the next alternative its turn.
            let is_compute =
                |n: &NodeId| matches!(self.rule.nodes[*n].kind, NodeKind::Compute { .. });
            let computes = self.rule.reachable(alt.term).iter().any(is_compute);
            let label =
                (computes && i + 1 < self.rule.alts.len()).then(|| format!("'r{}_{i}", self.index));
            if let Some(label) = &label {
                self.open(format!("{label}: {{"));
            }
            let around = std::mem::replace(&mut self.alternative, label.clone());
            self.compute(alt.term);
            self.test(format!("cx.begin({})", self.index));
            self.alternative = around;
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
            for _ in 0..usize::from(label.is_some()) + usize::from(guarded) {
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

pub(super) fn flag_names(set: u16) -> String {
    let names = flags::NAMES.iter().enumerate().filter(|(i, _)| set & (1 << i) != 0);
    let names: Vec<String> = names.map(|(_, n)| format!("Flags::{}", n.to_uppercase())).collect();
    match names.as_slice() {
        [one] => one.clone(),
        list => list[1..].iter().fold(list[0].clone(), |all, n| format!("{all}.union({n})")),
    }
}
