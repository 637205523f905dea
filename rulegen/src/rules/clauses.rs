//! The clauses of a rule: facts, environment, licences, options, profit, and what is said to the checks.

use super::ast::{self, Clause, FactArg};
use super::codes;
use super::model::*;
use super::resolve::{Resolver, lower_literal};
use crate::diagnostics::{Diagnostic, Span};
use crate::expr::{Base, Scope, SourceText, Ty, Width, parse_expr};
use std::sync::Arc;

/// The fact that speaks of the root's users instead of values.
pub(super) const BITS_USED: &str = "bits_used";
/// The profit test of what uses a value.
pub(super) const ONLY_USED_AS: &str = "only_used_as";
/// What is compared in the profit test of how many uses a value has.
pub(super) const COUNT: &str = "uses";

/// What the clauses of a rule say.
pub(super) struct Clauses {
    pub facts: Vec<FactUse>,
    pub env: EnvClause,
    pub used: Option<NodeId>,
    pub licences: u16,
    pub when: Option<Cond>,
    pub profit: Option<Cond>,
    pub group: usize,
    pub canonical: Option<String>,
    pub ulps: Option<u32>,
    pub waive: Option<String>,
    pub allows: Vec<String>,
    pub tests: Vec<(Vec<(VarId, Literal)>, Literal)>,
}

impl Resolver<'_> {
    pub(super) fn clauses(&mut self, rule: &ast::Rule, pattern: NodeId) -> Clauses {
        let default_group = self.lib.groups.iter().position(|g| g.0 == "opt").unwrap_or(0);
        let mut out = Clauses {
            facts: Vec::new(),
            env: EnvClause::ALL,
            used: None,
            licences: 0,
            when: None,
            profit: None,
            group: default_group,
            canonical: None,
            ulps: None,
            waive: None,
            allows: Vec::new(),
            tests: Vec::new(),
        };
        let mut last = 0;
        for (clause, span) in &rule.clauses {
            let (_, position) = clause.keyword();
            let repeatable = matches!(clause, Clause::Allow(..) | Clause::Test(..));
            if position + 1 < last || (position + 1 == last && !repeatable) {
                self.misplaced(rule, clause, *span);
            }
            last = last.max(position + 1);
            self.clause(clause, *span, pattern, &mut out);
        }
        out
    }

    fn clause(&mut self, clause: &Clause, span: Span, pattern: NodeId, out: &mut Clauses) {
        match clause {
            Clause::Where(facts) => {
                for fact in facts {
                    match fact {
                        ast::FactUse::Env(items, span) => self.env(items, *span, pattern, out),
                        ast::FactUse::Call { name, args, span } if name.text == BITS_USED => {
                            let used = self.bits_used(args, *span, pattern);
                            if out.used.is_some() && used.is_some() {
                                let text = "what users read is said twice: join the two with `&`";
                                self.error(codes::BITS_USED, *span, text);
                            }
                            out.used = used;
                        }
                        ast::FactUse::Call { name, args, span } => {
                            out.facts.extend(self.fact(name, args, *span));
                        }
                    }
                }
            }
            Clause::With(names) => self.licences(names, pattern, out),
            Clause::When(cond) => out.when = self.cond(cond, true),
            Clause::If(cond) => out.profit = self.cond(cond, false),
            Clause::Group(name) => match self.lib.groups.iter().position(|g| g.0 == name.text) {
                Some(i) => out.group = i,
                None => {
                    let d = Diagnostic::error(
                        codes::UNKNOWN_GROUP,
                        self.file,
                        name.span,
                        format!("there is no group `{}`", name.text),
                    );
                    let lib = self.lib;
                    self.report(d.suggest(&name.text, lib.groups.iter().map(|g| g.0.as_str())));
                }
            },
            Clause::Canonical(why) => out.canonical = Some(why.text.clone()),
            Clause::Ulps(n, at) => {
                if out.licences & flags::INEXACT == 0 {
                    let text = "nothing allows results to be off";
                    let d = Diagnostic::error(codes::ULPS, self.file, *at, text);
                    self.report(d.help("say which licence does: `with reassoc`, `with transform`"));
                }
                out.ulps = Some(*n);
            }
            Clause::Waive(why) => out.waive = Some(why.text.clone()),
            Clause::Allow(code, _) => {
                let known: Vec<String> = codes::CODES.iter().map(|c| c.code.to_string()).collect();
                if !known.contains(&code.text) {
                    let text = format!("no check of rules has the code `{}`", code.text);
                    let d = Diagnostic::error(codes::ALLOW, self.file, code.span, text);
                    self.report(d.suggest(&code.text, known.iter().map(String::as_str)));
                }
                out.allows.push(code.text.clone());
            }
            Clause::Test(args, result) => self.test(args, result, span, out),
        }
    }

    /// An example: a value for every variable of the pattern, and the result.
    fn test(
        &mut self,
        args: &[(ast::Name, ast::Literal)],
        result: &ast::Literal,
        span: Span,
        out: &mut Clauses,
    ) {
        let mut inputs: Vec<(VarId, Literal)> = Vec::new();
        let mut places: Vec<Span> = Vec::new();
        for (name, value) in args {
            let Some(var) = self.use_var(name) else { return };
            let bad = |text: String, at: Span| Diagnostic::error(codes::TEST, self.file, at, text);
            if let Some(n) = inputs.iter().position(|i| i.0 == var) {
                let d = bad(format!("`{}` is given twice", name.text), name.span);
                self.report(d.label(places[n], "first here"));
                return;
            }
            if matches!(self.vars[var].kind, VarKind::Bound(_)) {
                let text = format!("`{}` is an operation: its operands are given", name.text);
                let d = bad(text, name.span).label(self.vars[var].span, "bound here");
                self.report(d);
                return;
            }
            let lowered = lower_literal(value);
            let (class, base) = (self.vars[var].class, self.vars[var].base);
            let set = self.classes.allowed(class);
            let sizes = super::classes::SIZES.iter().enumerate();
            let mut sizes = sizes.filter(|(i, _)| set & (1 << i) != 0);
            if !sizes.any(|(_, bits)| lowered.encode(base, *bits).is_ok()) {
                let text = format!("`{}` fits `{}` at no size", value.text, name.text);
                let d = bad(text, value.span).label(self.vars[var].span, "of this variable");
                self.report(d);
                return;
            }
            inputs.push((var, lowered));
            places.push(name.span);
        }
        let missing = (0..self.vars.len()).find(|v| {
            let given = inputs.iter().any(|i| i.0 == *v);
            !given && !matches!(self.vars[*v].kind, VarKind::Bound(_))
        });
        if let Some(var) = missing {
            let text = format!("the test gives no value to `{}`", self.vars[var].name);
            let d = Diagnostic::error(codes::TEST, self.file, span, text);
            self.report(d.label(self.vars[var].span, "read here"));
            return;
        }
        out.tests.push((inputs, lower_literal(result)));
    }

    /// Whether the pattern has float arithmetic.
    fn has_float(&self, pattern: NodeId) -> bool {
        let mut stack = vec![pattern];
        while let Some(id) = stack.pop() {
            match &self.nodes[id].kind {
                NodeKind::Op { op, .. } if self.lib.ops.get(*op).float => return true,
                NodeKind::Op { args, .. } | NodeKind::Outside { args, .. } => stack.extend(args),
                _ => {}
            }
        }
        false
    }

    fn licences(&mut self, names: &[ast::Name], pattern: NodeId, out: &mut Clauses) {
        for name in names {
            match flags::by_name(&name.text) {
                None => {
                    let d = Diagnostic::error(
                        codes::UNKNOWN_FLAG,
                        self.file,
                        name.span,
                        format!("there is no licence `{}`", name.text),
                    );
                    let licences = flags::NAMES.iter().enumerate();
                    let known =
                        licences.filter(|(i, _)| flags::LICENCES & (1 << i) != 0).map(|(_, n)| *n);
                    self.report(d.suggest(&name.text, known));
                }
                Some(flag) if flag & flags::LICENCES == 0 => {
                    let d = Diagnostic::error(
                        codes::FLAG_KIND,
                        self.file,
                        name.span,
                        format!("`{}` is a promise, not a licence", name.text),
                    );
                    self.report(d.help(format!(
                        "write it on the op that makes it, as in `fadd.{}`",
                        name.text
                    )));
                }
                Some(_) if !self.has_float(pattern) => {
                    self.error(
                        codes::NO_LICENCE,
                        name.span,
                        "no operation of the pattern carries licences",
                    );
                }
                Some(flag) => out.licences |= flag,
            }
        }
    }

    fn env(
        &mut self,
        items: &[(ast::Name, Vec<ast::Name>)],
        span: Span,
        pattern: NodeId,
        out: &mut Clauses,
    ) {
        if !self.has_float(pattern) {
            self.error(
                codes::ENV,
                span,
                "no operation of the pattern depends on the float environment",
            );
        }
        for (key, values) in items {
            let words: [&str; 3] = match key.text.as_str() {
                "denorm" => ["keep", "flush", "any"],
                "rounding" => ["rte", "rtz", "any"],
                other => {
                    let d = Diagnostic::error(
                        codes::ENV,
                        self.file,
                        key.span,
                        format!("the float environment has no `{other}`"),
                    );
                    self.report(d.suggest(other, ["denorm", "rounding"]));
                    continue;
                }
            };
            let mut set = 0;
            for value in values {
                match words.iter().position(|w| *w == value.text) {
                    Some(i) => set |= 1 << i,
                    None => {
                        let d = Diagnostic::error(
                            codes::ENV,
                            self.file,
                            value.span,
                            format!("`{}` is no value of {}", value.text, key.text),
                        );
                        self.report(d.suggest(&value.text, words));
                    }
                }
            }
            if set == 7 {
                let text = format!("`{}` may be anything: that goes without saying", key.text);
                let d = Diagnostic::error(codes::ENV, self.file, key.span, text);
                self.report(d.help("leave it out"));
            }
            match key.text.as_str() {
                "denorm" => out.env.denorm &= set,
                _ => out.env.rounding &= set,
            }
        }
    }

    fn fact(&mut self, name: &ast::Name, args: &[FactArg], span: Span) -> Option<FactUse> {
        let lib = self.lib;
        let Some(index) = lib.facts.iter().position(|f| f.name == name.text && !f.function) else {
            let d = Diagnostic::error(
                codes::UNKNOWN_FACT,
                self.file,
                name.span,
                format!("there is no fact `{}`", name.text),
            );
            let known = lib.facts.iter().filter(|f| !f.function).map(|f| f.name.as_str());
            self.report(d.suggest(&name.text, known.chain([BITS_USED])));
            return None;
        };
        let (fact, params) = (&lib.facts[index], &lib.params[index]);
        if params.len() != args.len() {
            let (want, got) = (params.len(), args.len());
            let s = if want == 1 { "" } else { "s" };
            let text = format!("`{}` takes {want} argument{s}, not {got}", name.text);
            let list: Vec<String> = params.iter().map(|(n, ty)| format!("{n}: {ty}")).collect();
            let d = Diagnostic::error(codes::ARITY, self.file, span, text);
            self.report(d.help(format!("it is `{}({})`", name.text, list.join(", "))));
            return None;
        }
        let mut open = None;
        let mut nodes = Vec::new();
        // Variables first: they say what BITS is for the literals.
        for (arg, (_, ty)) in args.iter().zip(params) {
            let FactArg::Var(var, letters) = arg else {
                nodes.push(None);
                continue;
            };
            let node = self.named(var, letters.as_ref())?;
            if !self.is_const(node) && !fact.on_values {
                let text =
                    format!("no analysis answers `{}` for values: it needs a constant", name.text);
                let d = Diagnostic::error(codes::FACT_ARG, self.file, var.span, text);
                let d = self.as_constant(d, node);
                self.report(d);
                return None;
            }
            let class = self.nodes[node].class;
            self.match_ty(*ty, class, &mut open, var.span);
            nodes.push(Some(node));
        }
        let bits = match open {
            Some(class) => class,
            None => self.open_slot_at(32, span),
        };
        let mut done = Vec::new();
        for ((arg, node), (_, ty)) in args.iter().zip(nodes).zip(params) {
            match (arg, node) {
                (_, Some(node)) => done.push(node),
                (FactArg::Expr(text), None) => done.push(self.fact_expr(text, *ty, bits)?),
                (FactArg::Var(..), None) => return None,
            }
        }
        // It is asked of each component.
        for pair in done.windows(2) {
            self.same_comps(self.nodes[pair[0]].comps, self.nodes[pair[1]].comps, span);
        }
        Some(FactUse { fact: index, args: done, bits, span })
    }

    /// The value or constant that an argument names, with the components taken of it.
    fn named(&mut self, var: &ast::Name, letters: Option<&ast::Name>) -> Option<NodeId> {
        let Some(super::resolve::Binding::Let(node)) = self.names.get(&var.text).copied() else {
            let id = self.use_var(var)?;
            let swizzle = match letters {
                Some(l) => Some(self.swizzle_of(l)?),
                None => None,
            };
            return Some(self.var_node(id, swizzle, var.span));
        };
        *self.used.entry(var.text.clone()).or_default() += 1;
        if let Some(letters) = letters {
            let text = format!("`{}` takes no components here: give them in the `let`", var.text);
            self.error(codes::SWIZZLE, letters.span, text);
            return None;
        }
        Some(node)
    }

    /// `bits_used(k)`: users of the root read no bits but those of the constant `k`.
    fn bits_used(&mut self, args: &[FactArg], span: Span, pattern: NodeId) -> Option<NodeId> {
        let [arg] = args else {
            let text = format!("`{BITS_USED}` takes 1 argument, not {}", args.len());
            let d = Diagnostic::error(codes::ARITY, self.file, span, text);
            self.report(
                d.help(format!("it is `{BITS_USED}(k: uint)`: the bits that users may read")),
            );
            return None;
        };
        let (class, comps, root) =
            (self.nodes[pattern].class, self.nodes[pattern].comps, self.nodes[pattern].span);
        let whole_numbers = match &self.nodes[pattern].kind {
            NodeKind::Op { op, .. } => {
                matches!(self.lib.ops.get(*op).output.base, Base::Int | Base::Uint)
            }
            _ => false,
        };
        if self.chains.iter().any(|chain| chain.nodes[0] == pattern) {
            let text = "what users read of a chain doesn't say what is read of a part of it";
            let d = Diagnostic::error(codes::BITS_USED, self.file, span, text);
            self.report(d.label(root, "more operands may stand here"));
            return None;
        }
        if !whole_numbers {
            let text = "single bits are read of integer operations only";
            let d = Diagnostic::error(codes::BITS_USED, self.file, span, text);
            self.report(d.label(root, "this is the root"));
            return None;
        }
        if let Err(c) = self.classes.restrict(class, super::classes::ALL_SIZES & !1, span) {
            self.conflict(codes::SIZE_CONFLICT, span, "the bit size", c);
        }
        let node = match arg {
            FactArg::Var(var, letters) => {
                let node = self.named(var, letters.as_ref())?;
                if !self.is_const(node) {
                    let text = format!("the bits of `{BITS_USED}` are a constant");
                    let d = Diagnostic::error(codes::FACT_ARG, self.file, var.span, text);
                    let d = self.as_constant(d, node);
                    self.report(d);
                    return None;
                }
                self.same_size(self.nodes[node].class, class, var.span);
                node
            }
            FactArg::Expr(text) => {
                // A mask has no sign: it may be computed from either kind of number.
                let base = if self.is_signed(&text.text) { Base::Int } else { Base::Uint };
                self.fact_expr(text, Ty::scalar(base, Width::Bits), class)?
            }
        };
        self.same_comps(self.nodes[node].comps, comps, span);
        Some(node)
    }

    /// Whether an expression names a constant that is a signed number.
    fn is_signed(&self, text: &str) -> bool {
        let mut words = text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
        words.any(|word| {
            let base = match self.names.get(word) {
                Some(super::resolve::Binding::Var(v)) => Some(self.vars[*v].base),
                Some(super::resolve::Binding::Let(node)) => self.const_ty(*node).map(|ty| ty.base),
                None => None,
            };
            base == Some(Base::Int)
        })
    }

    fn open_slot_at(&mut self, bits: u8, span: Span) -> usize {
        let slot = self.open_slot(span);
        let set = super::classes::size_set(bits.into());
        // A class of its own can't conflict.
        let _ = self.classes.restrict(slot.class, set, span);
        slot.class
    }

    /// An argument written as an expression over constants.
    fn fact_expr(&mut self, text: &ast::Name, ty: Ty, bits: usize) -> Option<NodeId> {
        let (names, nodes) = self.constants_in(&text.text, text.span);
        let source: SourceText = self.source(text);
        let mut scope: Vec<(&str, Ty)> = Vec::new();
        for (name, node) in names.iter().zip(&nodes) {
            scope.push((name, self.const_ty(*node)?));
        }
        let set = self.classes.allowed(bits);
        let sizes: Vec<u8> = super::classes::SIZES
            .iter()
            .enumerate()
            .filter(|(i, _)| set & (1 << i) != 0)
            .map(|(_, s)| *s)
            .collect();
        match parse_expr(&source, &Scope { vars: &scope, sizes: &sizes }, ty) {
            Ok(expr) => {
                let mut slot = self.open_slot(text.span);
                for node in &nodes {
                    self.same_comps(self.nodes[*node].comps, slot.comps, text.span);
                }
                slot.base = expr.ty.base;
                match (expr.ty.base, expr.ty.width) {
                    (Base::Bool, _) => {}
                    (_, crate::expr::Width::Fixed(n)) => {
                        slot.class = self.open_slot_at(n, text.span)
                    }
                    (_, crate::expr::Width::Bits) => slot.class = bits,
                }
                let kind = NodeKind::Compute { expr: Arc::new(expr), args: nodes, bits };
                self.nodes.push(super::resolve::Draft {
                    kind,
                    swizzle: None,
                    class: slot.class,
                    comps: slot.comps,
                    span: text.span,
                });
                Some(self.nodes.len() - 1)
            }
            Err(list) => {
                for d in list {
                    let d = self.value_in_expr(d);
                    self.report(d);
                }
                None
            }
        }
    }

    /// Resolves a condition of `when` (`options`) or `if`.
    pub(super) fn cond(&mut self, cond: &ast::Cond, options: bool) -> Option<Cond> {
        Some(match cond {
            ast::Cond::And(list) => {
                Cond::And(list.iter().map(|c| self.cond(c, options)).collect::<Option<_>>()?)
            }
            ast::Cond::Or(list) => {
                Cond::Or(list.iter().map(|c| self.cond(c, options)).collect::<Option<_>>()?)
            }
            ast::Cond::Not(c) => Cond::Not(Box::new(self.cond(c, options)?)),
            ast::Cond::Option(name) => {
                let option = name.text.strip_prefix("target.");
                let known = option.is_some_and(|o| self.lib.options.iter().any(|k| k.0 == o));
                if !options || !known {
                    let d = self.no_such_option(name, options);
                    self.report(d);
                    return None;
                }
                Cond::Option(option.unwrap_or_default().to_string())
            }
            ast::Cond::Call(name, args, span) if name.text == ONLY_USED_AS && !options => {
                self.only_used_as(args, *span)?
            }
            ast::Cond::Call(name, args, span) => {
                let test = Profit::ALL.iter().find(|(n, _)| *n == name.text).map(|(_, p)| *p);
                let (Some(test), false) = (test, options) else {
                    for arg in args {
                        *self.used.entry(arg.text.clone()).or_default() += 1;
                    }
                    let d = self.no_such_test(name, options);
                    self.report(d);
                    return None;
                };
                let [arg] = args.as_slice() else {
                    self.error(codes::ARITY, *span, format!("`{}` takes one variable", name.text));
                    return None;
                };
                Cond::Profit(test, self.use_var(arg)?)
            }
            ast::Cond::Count { name, args, compare, bound, span } => {
                self.count_test(name, args, compare, bound, *span, options)?
            }
        })
    }

    /// `uses(m) <= 2`
    fn count_test(
        &mut self,
        name: &ast::Name,
        args: &[ast::Name],
        compare: &ast::Name,
        bound: &ast::Name,
        span: Span,
        options: bool,
    ) -> Option<Cond> {
        if name.text != COUNT || options {
            for arg in args {
                *self.used.entry(arg.text.clone()).or_default() += 1;
            }
            let d = match Profit::ALL.iter().any(|(n, _)| *n == name.text) && !options {
                true => {
                    let text = format!("`{}` holds or not, it is no number", name.text);
                    let d = Diagnostic::error(codes::UNKNOWN_PROFIT, self.file, span, text);
                    d.help("the number of a value's uses is `uses(m)`")
                }
                false => self.no_such_test(name, options),
            };
            self.report(d);
            return None;
        }
        let [arg] = args else {
            self.error(codes::ARITY, span, format!("`{}` takes one variable", name.text));
            return None;
        };
        let var = self.use_var(arg)?;
        let (_, compare) = *Compare::ALL.iter().find(|(text, _)| *text == compare.text)?;
        let Some(number) = bound.text.parse().ok().filter(|n| *n <= MOST_USES) else {
            let text = format!("uses are counted up to {MOST_USES}");
            self.error(codes::PROFIT_CONST, bound.span, text);
            return None;
        };
        let test = Cond::Uses(var, compare, number);
        let counts = test.counts().unwrap_or_default();
        if counts.iter().all(|c| *c == counts[0]) {
            let holds = if counts[0] { "always" } else { "never" };
            let text = format!("this {holds} holds: what is matched has a use");
            self.error(codes::PROFIT_CONST, span, text);
            return None;
        }
        Some(test)
    }

    /// Says that `only_used_as` lacks arguments.
    fn only_used_as_what(&mut self, span: Span) {
        let text = format!("`{ONLY_USED_AS}` takes a variable and at least one op");
        let d = Diagnostic::error(codes::ARITY, self.file, span, text);
        self.report(d.help(format!("write it as in `{ONLY_USED_AS}(m, fadd, fsub)`")));
    }

    /// `only_used_as(m, op, …)`
    fn only_used_as(&mut self, args: &[ast::Name], span: Span) -> Option<Cond> {
        let [var, names @ ..] = args else {
            self.only_used_as_what(span);
            return None;
        };
        let var = self.use_var(var)?;
        let mut ops: Vec<usize> = Vec::new();
        for name in names {
            let lib = self.lib;
            let Some(op) = lib.ops.find(&name.text) else {
                let text = format!("there is no op `{}`", name.text);
                let d = Diagnostic::error(codes::UNKNOWN_OP, self.file, name.span, text);
                self.report(d.suggest(&name.text, lib.ops.iter().map(|o| o.name.as_str())));
                return None;
            };
            if ops.contains(&op) {
                let text = format!("`{}` is listed twice", name.text);
                self.error(codes::PROFIT_CONST, name.span, text);
                return None;
            }
            ops.push(op);
        }
        if ops.is_empty() {
            self.only_used_as_what(span);
            return None;
        }
        // Where the pattern itself uses the value.
        let inside = self.nodes[..self.pattern_len].iter().find_map(|n| match &n.kind {
            NodeKind::Op { op, args, .. } if !ops.contains(op) => {
                let is_var = |a: &NodeId| match (&self.nodes[*a].kind, self.vars[var].kind) {
                    (_, VarKind::Bound(node)) => *a == node,
                    (NodeKind::Var(v), _) => *v == var,
                    _ => false,
                };
                args.iter().any(is_var).then(|| (self.lib.ops.get(*op).name.clone(), n.span))
            }
            _ => None,
        });
        if let Some((op, place)) = inside {
            let text = format!("this never holds: the pattern uses the value as `{op}`");
            let d = Diagnostic::error(codes::PROFIT_CONST, self.file, span, text);
            self.report(d.label(place, "here"));
            return None;
        }
        Some(Cond::OnlyUsedAs(var, ops))
    }
}
