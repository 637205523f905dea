//! Why a rule doesn't apply: the test that an attempt failed, and how that is told.
//!
//! An attempt ends with a [`Test`], which is a few numbers; words are made of it only for who asks.

use super::matcher::{Match, State};
use crate::facts::abs::Abs;
use crate::facts::class::Class;
use crate::rewriter::Rewriter;
use crate::trace::Terms;
use deburr_ir_core::{
    BaseType, Def, Denorm, Flags, Function, Index, Instr, InstrView, Rounding, User,
};
use deburr_rulegen::diagnostics::Span;
use deburr_rulegen::expr::Base;
use deburr_rulegen::rules::model::{Cond, NodeId, NodeKind, Outside, Profit, Rule, VarId};
use deburr_rulegen::rules::outside::{TEX_ATTRS, TEX_OPS};
use deburr_rulegen::tables::intrinsic::IndexKind;
use std::collections::HashMap;

/// Whether a rule applies to an instruction.
#[derive(Clone, Debug)]
pub enum Verdict {
    /// It does, with this right side.
    Matched {
        /// Position among the rule's right sides.
        alternative: usize,
    },
    /// It doesn't.
    Failed(Failure),
}

/// The test that a rule came to and failed.
#[derive(Clone, Debug)]
pub struct Failure {
    /// Kind of test, as a word.
    pub test: &'static str,
    /// Tests that were passed before: what is deeper came closer to a match.
    pub depth: u32,
    /// Where the rule asks for it, in its file.
    pub span: Span,
    /// What the rule asks for.
    pub wanted: String,
    /// What there is.
    pub saw: String,
    /// Operations whose operands were tried in the other order.
    pub exchanged: Vec<String>,
    /// The rule that made the value which was seen, if that is kept.
    pub maker: Option<&'static str>,
}

/// A test of the matcher, with the node of the rule where it stands.
#[derive(Clone, Copy, Debug)]
pub(super) enum Test {
    /// Components taken of a value.
    Swizzle(NodeId),
    /// That a value is a constant.
    Constant(NodeId),
    /// That a variable stands for one value everywhere.
    Same(NodeId),
    /// The bits of a constant.
    Literal(NodeId),
    /// That a value is undefined and chosen for what is matched alone.
    Undef(NodeId),
    /// That nothing else sees what is chosen.
    Shared(NodeId),
    Opcode(NodeId),
    Promises(NodeId),
    Licences(NodeId),
    /// A const index of an intrinsic, or an attribute of a texture operation.
    Index(NodeId, usize),
    /// Which sources there are.
    Sources(NodeId),
    /// Whether a value is one wherever a phi is.
    Reaches(VarId, NodeId),
    /// How many operands a chain has.
    Chain(NodeId, usize),
    /// The number of components.
    Components(NodeId),
    Sizes,
    /// The float environment at the size of a node.
    Environment(NodeId),
    When,
    /// A fact of the rule, for a component.
    Fact {
        at: usize,
        comp: u8,
        holds: Option<bool>,
    },
    /// Which bits of the root users read.
    Used {
        read: u64,
        allowed: u64,
    },
    /// Whether the target has an operation of the replacement.
    Legal(NodeId),
    /// The profit test of a right side.
    Profit(usize),
    /// Whether a constant can be computed.
    Compute(NodeId),
    /// Whether the rule is on.
    Disabled,
    /// A rule without a right side, which there isn't.
    NoAlternative,
}

/// The attempt that came furthest; of those that came equally far, the first.
#[derive(Default)]
pub(super) struct Closest {
    /// Its test, and what was bound.
    pub(super) found: Option<(Test, Match)>,
}

impl Closest {
    pub(super) fn offer(&mut self, test: Test, m: Match) {
        if self.found.as_ref().is_none_or(|(_, best)| m.passed > best.passed) {
            self.found = Some((test, m));
        }
    }
}

/// What is said of a failed test: its word, its place, what is wanted, what there is, and the value that is seen.
type Words = (&'static str, Span, String, String, Option<Def>);

impl State<'_> {
    /// A failed test in words. Letters are those of the root's term, as [`Rewriter::term`] gives it.
    pub(super) fn failure(
        &self,
        cx: &mut Rewriter<'_>,
        root: Instr,
        test: Test,
        m: &Match,
    ) -> Failure {
        let (word, span, wanted, saw, value) = match test {
            Test::Fact { at, comp, holds } => self.fact_words(cx, root, at, comp, holds, m),
            Test::Used { read, allowed } => {
                let span = self.rule.used.map_or(self.rule.span, |n| self.rule.nodes[n].span);
                let wanted = format!("users that read no bits but {allowed:#x}");
                let saw = match read & !allowed {
                    0 => format!("they read all, {read:#x}"),
                    more => format!("they read {read:#x}, so that {more:#x} is too much"),
                };
                ("bits_used", span, wanted, saw, None)
            }
            Test::When => {
                let (wanted, saw) = match &self.rule.when {
                    Some(cond) => self.condition_words(cx, cond, m, root),
                    None => Default::default(),
                };
                ("option", self.clause("when", 0), wanted, saw, None)
            }
            Test::Profit(alt) => {
                let (wanted, saw) = match &self.rule.alts[alt].profit {
                    Some(cond) => self.condition_words(cx, cond, m, root),
                    None => Default::default(),
                };
                ("profit", self.clause("if", alt), wanted, saw, None)
            }
            Test::Sizes | Test::Environment(_) | Test::Disabled | Test::NoAlternative => {
                self.whole_words(cx, test, m)
            }
            Test::Legal(node) | Test::Compute(node) => self.right_words(cx, node, m),
            _ => self.node_words(cx, root, test, m),
        };
        let maker = value
            .zip(cx.func().origins.as_ref())
            .and_then(|(def, origins)| origins.of(def).last().copied());
        let span = if span == Span::default() { self.rule.span } else { span };
        Failure {
            test: word,
            depth: m.passed,
            span,
            wanted,
            saw,
            exchanged: self.exchanged(m),
            maker,
        }
    }

    /// A test on a value at a node of the pattern.
    fn node_words(&self, cx: &Rewriter<'_>, root: Instr, test: Test, m: &Match) -> Words {
        let (Test::Swizzle(id)
        | Test::Constant(id)
        | Test::Same(id)
        | Test::Literal(id)
        | Test::Undef(id)
        | Test::Shared(id)
        | Test::Opcode(id)
        | Test::Promises(id)
        | Test::Licences(id)
        | Test::Chain(id, _)
        | Test::Index(id, _)
        | Test::Sources(id)
        | Test::Reaches(_, id)
        | Test::Components(id)) = test
        else {
            return ("pattern", self.rule.span, String::new(), String::new(), None);
        };
        let f = cx.func();
        let node = &self.rule.nodes[id];
        let seen = &m.nodes[&id];
        let mut values = Values::new(cx, root);
        let name = self.name_of(id);
        let base = self.base_of(id);
        let carried = f.flags(seen.def.instr());
        let (word, wanted, saw) = match test {
            Test::Swizzle(_) => {
                let wanted = node.swizzle.as_deref().unwrap_or(&[]);
                let (wanted, saw) = (letters(wanted), letters(&seen.comps));
                (
                    "swizzle",
                    format!("the components `{wanted}`"),
                    format!("`{saw}` of {}", values.of(seen.def, base)),
                )
            }
            Test::Constant(_) => {
                let wanted = match &node.kind {
                    NodeKind::Literal(..) => format!("the constant `{name}`"),
                    _ => format!("a constant for `{name}`"),
                };
                ("constant", wanted, values.of(seen.def, base))
            }
            Test::Literal(_) => (
                "literal",
                format!("the constant `{name}`"),
                values.constant(seen.def, &seen.comps, base),
            ),
            Test::Undef(_) => undef_words(f, seen.def, values.of(seen.def, base)),
            Test::Shared(_) => {
                let uses = f.uses(seen.def).count();
                let wanted = format!("`{name}` to be used once: it depends on an undefined value");
                ("undef", wanted, format!("{uses} uses of {}", values.of(seen.def, base)))
            }
            Test::Same(_) => {
                let first = match &node.kind {
                    NodeKind::Var(var) => m.vars.get(var).cloned(),
                    _ => None,
                };
                let shown = |values: &mut Values<'_>, def, comps: &[u8]| {
                    let swizzle = match f.comps(def) {
                        1 => String::new(),
                        _ => format!(" `.{}`", letters(comps)),
                    };
                    format!("{}{swizzle}", values.of(def, base))
                };
                let first = first.map_or(String::new(), |s| shown(&mut values, s.def, &s.comps));
                let saw = shown(&mut values, seen.def, &seen.comps);
                ("same", format!("`{name}` again, which is {first}"), saw)
            }
            Test::Promises(_) => {
                let wanted = match &node.kind {
                    NodeKind::Op { promises, .. } => Flags::from_bits_truncate(*promises),
                    _ => Flags::empty(),
                };
                let value = values.of(seen.def, base);
                flag_words("promise", wanted, carried, Flags::PROMISES, &name, &value)
            }
            Test::Licences(_) => {
                let wanted = Flags::from_bits_truncate(self.rule.licences);
                let value = values.of(seen.def, base);
                flag_words("licence", wanted, carried, Flags::LICENCES, &name, &value)
            }
            Test::Index(_, index) => self.index_words(f, id, index, seen.def.instr()),
            Test::Sources(_) => {
                let count = node.operands().len();
                let wanted = format!("the {count} sources of `{name}` that are written");
                (
                    "sources",
                    wanted,
                    format!("{} in {}", f.srcs(seen.def.instr()).len(), values.of(seen.def, base)),
                )
            }
            Test::Reaches(var, _) => {
                let var_name = &self.rule.vars[var].name;
                let wanted = format!("`{var_name}` to be defined above the block of the phi");
                let def = m.vars.get(&var).map_or(seen.def, |s| s.def);
                ("phi", wanted, format!("{}, defined in it or below", values.of(def, base)))
            }
            Test::Chain(_, found) => {
                let operands = self.rule.chain_at(id).map_or(0, |chain| chain.operands.len());
                let least = if id == self.rule.pattern { " or more" } else { "" };
                let wanted = format!("a chain of {operands}{least} operands of `{name}`");
                ("chain", wanted, format!("{found} in {}", values.of(seen.def, base)))
            }
            Test::Components(_) => {
                let wanted = match &node.kind {
                    NodeKind::Op { op, .. } if self.set.ops.get(*op).output.comps != 0 => {
                        self.set.ops.get(*op).output.comps
                    }
                    _ => self.count(node.comps, cx.comps(root)),
                };
                let saw = format!("{} of {}", letters(&seen.comps), values.of(seen.def, base));
                ("components", format!("{wanted} components of `{name}`"), saw)
            }
            _ => ("opcode", format!("`{name}`"), values.of(seen.def, base)),
        };
        (word, node.span, wanted, saw, Some(seen.def))
    }

    /// A test on a const index or attribute.
    fn index_words(
        &self,
        f: &Function,
        id: NodeId,
        index: usize,
        instr: Instr,
    ) -> (&'static str, String, String) {
        let NodeKind::Outside { what, .. } = &self.rule.nodes[id].kind else {
            return ("index", String::new(), String::new());
        };
        let (name, wanted, has) = match what {
            Outside::Intrinsic { indices, .. } => {
                let def = &self.set.ops.indices()[index];
                let word = |v: u32| match &def.kind {
                    IndexKind::Enum(names) => {
                        names.get(v as usize).cloned().unwrap_or_else(|| v.to_string())
                    }
                    _ => v.to_string(),
                };
                let wanted = indices.iter().find(|(i, _)| *i == index).map_or(0, |(_, v)| *v);
                let has = f.index(instr, Index(index as u8)).unwrap_or(0);
                (&*def.name, word(wanted), word(has))
            }
            Outside::Tex { attrs, .. } => {
                let wanted = attrs.iter().find(|(i, _)| *i == index).map_or(0, |(_, v)| *v);
                (TEX_ATTRS[index], wanted.to_string(), "another value".to_string())
            }
            Outside::Phi => ("", String::new(), String::new()),
        };
        ("index", format!("`{name} = {wanted}`"), has)
    }

    /// A test on the match as a whole.
    fn whole_words(&self, cx: &Rewriter<'_>, test: Test, m: &Match) -> Words {
        let rule = self.rule;
        let sizes = |bits: &[u8]| {
            let list: Vec<String> = bits.iter().map(u8::to_string).collect();
            list.join(" and ")
        };
        let (word, wanted, saw) = match (test, &rule.size_test) {
            (Test::Sizes, Some(test)) => {
                let allowed: Vec<String> = test.allowed.iter().map(|bits| sizes(bits)).collect();
                let bits: Vec<u8> =
                    test.nodes.iter().map(|n| cx.func().bits(m.nodes[n].def)).collect();
                let names: Vec<String> =
                    test.nodes.iter().map(|n| format!("`{}`", self.name_of(*n))).collect();
                let wanted = format!("{} bits for {}", allowed.join(" or "), names.join(" and "));
                ("size", wanted, format!("{} bits", sizes(&bits)))
            }
            (Test::Environment(node), _) => {
                let (bits, env) = (cx.func().bits(m.nodes[&node].def), cx.func().float_env);
                let (denorm, rounding) = match bits {
                    16 | 32 | 64 => (env.denorm(bits.into()), env.rounding(bits.into())),
                    _ => (Denorm::Any, Rounding::Any),
                };
                let saw = format!(
                    "denorm = {}, round = {} at {bits} bits",
                    ["keep", "flush", "any"][denorm_number(denorm)],
                    ["rte", "rtz", "any"][rounding_number(rounding)],
                );
                ("environment", environment(rule), saw)
            }
            _ => ("disabled", "the rule to be on".into(), "it is off".into()),
        };
        (word, rule.span, wanted, saw, None)
    }

    /// A test on a part of the replacement.
    fn right_words(&self, cx: &Rewriter<'_>, id: NodeId, m: &Match) -> Words {
        let node = &self.rule.nodes[id];
        if let NodeKind::Outside { .. } = &node.kind {
            let bits = self.bits(cx, node.class, m);
            let wanted = format!("`{}` of {bits} bits to be legal", self.name_of(id));
            let saw =
                format!("the target `{}` lacks it, or what its indices say", cx.target_name());
            return ("legality", node.span, wanted, saw, None);
        }
        let NodeKind::Op { op, args, .. } = &node.kind else {
            let saw = "it has no single value for these constants".into();
            return ("computed", node.span, "a computed constant".into(), saw, None);
        };
        let sig = self.set.ops.get(*op);
        let open = sig.inputs.iter().position(|t| t.bits == 0).map_or(id, |i| args[i]);
        let bits = self.bits(cx, self.rule.nodes[open].class, m);
        let wanted = format!("`{}` of {bits} bits to be legal", sig.name);
        let saw = format!("the target `{}` lacks it", cx.target_name());
        ("legality", node.span, wanted, saw, None)
    }

    fn fact_words(
        &self,
        cx: &mut Rewriter<'_>,
        root: Instr,
        at: usize,
        comp: u8,
        holds: Option<bool>,
        m: &Match,
    ) -> Words {
        let fact = &self.rule.facts[at];
        let mut done = HashMap::new();
        let mut known = Vec::new();
        for id in fact.args.iter().copied() {
            let comps = cx.comps(root);
            if self.compute(cx, id, comps, m, &mut done).is_err() {
                continue;
            }
            let node = &self.rule.nodes[id];
            let is_var = |n: &NodeId| matches!(self.rule.nodes[*n].kind, NodeKind::Var(_));
            if !self.rule.reachable(id).iter().any(is_var) {
                continue;
            }
            let bits = self.bits(cx, node.class, m);
            if let Some(set) = self.known(cx, id, comp.into(), m, &done) {
                known.push(format!("`{}` {}", self.name_of(id), set_text(bits, &set)));
            }
        }
        let verdict =
            if holds == Some(false) { "it doesn't hold" } else { "it isn't known to hold" };
        let wanted = format!("the fact `{}`", self.source(fact.span));
        let comp = match comp {
            0 => String::new(),
            n => format!(" in component {}", letters(&[n])),
        };
        let saw = format!("{verdict}{comp}: {}", known.join(", "));
        ("fact", fact.span, wanted, saw, None)
    }

    /// What a condition asks for, and why it doesn't hold.
    fn condition_words(
        &self,
        cx: &Rewriter<'_>,
        cond: &Cond,
        m: &Match,
        root: Instr,
    ) -> (String, String) {
        let (mut cond, mut wanted) = (cond, true);
        // Down to the first part that decides.
        loop {
            let part = match cond {
                Cond::Not(inner) => {
                    wanted = !wanted;
                    Some(&**inner)
                }
                Cond::And(list) | Cond::Or(list) => {
                    list.iter().find(|c| self.condition(cx, c, m, root) != wanted)
                }
                Cond::Option(_) | Cond::Profit(..) | Cond::Uses(..) | Cond::OnlyUsedAs(..) => None,
            };
            match part {
                Some(part) => cond = part,
                None => break,
            }
        }
        let not = if wanted { "" } else { "!" };
        match cond {
            Cond::Option(name) => {
                let has = if wanted { "hasn't" } else { "has" };
                let saw = format!("the target `{}` {has} it", cx.target_name());
                (format!("`{not}target.{name}`"), saw)
            }
            Cond::Profit(test, var) => {
                let named =
                    Profit::ALL.iter().find(|(_, t)| t == test).map_or("", |(name, _)| name);
                let var_name = &self.rule.vars[*var].name;
                let def = m.vars[var].def;
                let saw = match test {
                    Profit::Once | Profit::Dies => self.use_words(cx, def, root),
                    Profit::IsConst => Values::new(cx, root).of(def, BaseType::Int),
                };
                (format!("`{not}{named}({var_name})`"), format!("`{var_name}` is {saw}"))
            }
            Cond::Uses(var, compare, bound) => {
                let name = &self.rule.vars[*var].name;
                let saw = self.use_words(cx, m.vars[var].def, root);
                let test = format!("uses({name}) {} {bound}", compare.text());
                let wanted = if wanted { format!("`{test}`") } else { format!("`!({test})`") };
                (wanted, format!("`{name}` is {saw}"))
            }
            Cond::OnlyUsedAs(var, ops) => {
                let name = &self.rule.vars[*var].name;
                let list: Vec<&str> = ops.iter().map(|o| &*self.set.ops.get(*o).name).collect();
                let f = cx.func();
                let mut users: Vec<&str> = Vec::new();
                for user in f.uses(m.vars[var].def) {
                    let user = match user.user() {
                        User::Instr(i) => f.alu_info(i).map_or("no operation", |info| info.name),
                        User::If(_) => "if",
                    };
                    if !users.contains(&user) {
                        users.push(user);
                    }
                }
                // The order of uses is no property of the code.
                users.sort_unstable();
                let wanted = format!("`{not}only_used_as({name}, {})`", list.join(", "));
                (wanted, format!("`{name}` is used by {}", users.join(", ")))
            }
            Cond::And(_) | Cond::Or(_) | Cond::Not(_) => Default::default(),
        }
    }

    fn use_words(&self, cx: &Rewriter<'_>, def: Def, root: Instr) -> String {
        let f = cx.func();
        let uses = f.uses(def).count();
        let elsewhere = |user: User| match user {
            User::Instr(i) => i != root && !f.has_one_use(i.def()),
            User::If(_) => true,
        };
        let outside = f.uses(def).filter(|u| elsewhere(u.user())).count();
        let times = if uses == 1 { "once".into() } else { format!("{uses} times") };
        match outside {
            0 => format!("used {times}"),
            n => format!("used {times}, {n} of them outside of what is replaced"),
        }
    }

    /// Operations at which this attempt exchanged the operands.
    fn exchanged(&self, m: &Match) -> Vec<String> {
        m.exchanged.iter().map(|id| self.name_of(*id)).collect()
    }

    /// What a node is called: an operation by its opcode, a variable by its name, the rest as it is written.
    fn name_of(&self, id: NodeId) -> String {
        match &self.rule.nodes[id].kind {
            NodeKind::Op { op, .. } => self.set.ops.get(*op).name.clone(),
            NodeKind::Var(var) => self.rule.vars[*var].name.clone(),
            NodeKind::Outside { what, .. } => match what {
                Outside::Intrinsic { id, .. } => format!("@{}", self.set.ops.intrinsic(*id).name),
                Outside::Tex { op, .. } => format!("tex.{}", TEX_OPS[*op].0),
                Outside::Phi => "phi".to_string(),
            },
            NodeKind::Literal(..)
            | NodeKind::Compute { .. }
            | NodeKind::Ref(_)
            | NodeKind::Undef => self.source(self.rule.nodes[id].span),
        }
    }

    /// The `n`-th clause that a word begins; the rule where the word isn't found.
    fn clause(&self, word: &str, n: usize) -> Span {
        let span = self.rule.span;
        let file = self.set.files.get(self.rule.file).map_or("", |(_, text)| &**text);
        let text = file.get(span.range()).unwrap_or("");
        let is_word = |at: &usize| {
            let (before, after) =
                (text[..*at].chars().last(), text[at + word.len()..].chars().next());
            [before, after].iter().flatten().all(|c| c.is_whitespace())
        };
        let Some(at) = text.match_indices(word).map(|(at, _)| at).filter(is_word).nth(n) else {
            return span;
        };
        let line = text[at..].lines().next().unwrap_or("").trim_end();
        let start = span.start as usize + at;
        Span::new(start, start + line.len())
    }

    /// The text of a place in the rule's file.
    fn source(&self, span: Span) -> String {
        let text = self.set.files.get(self.rule.file).and_then(|(_, text)| text.get(span.range()));
        text.unwrap_or("").split_whitespace().collect::<Vec<_>>().join(" ")
    }

    /// How the bits at a node are read.
    fn base_of(&self, id: NodeId) -> BaseType {
        let base = match &self.rule.nodes[id].kind {
            NodeKind::Op { op, .. } => self.set.ops.get(*op).output.base,
            NodeKind::Literal(_, base) => *base,
            NodeKind::Var(var) => self.rule.vars[*var].base,
            NodeKind::Compute { expr, .. } => expr.ty.base,
            NodeKind::Ref(_) | NodeKind::Outside { .. } | NodeKind::Undef => Base::Uint,
        };
        match base {
            Base::Float => BaseType::Float,
            Base::Bool => BaseType::Bool,
            Base::Int => BaseType::Int,
            Base::Uint => BaseType::Uint,
        }
    }
}

/// Values as they are told of.
struct Values<'f> {
    cx: &'f Rewriter<'f>,
    terms: Terms<'f>,
}

impl<'f> Values<'f> {
    /// The letters of a root's term are given first.
    fn new(cx: &'f Rewriter<'_>, root: Instr) -> Values<'f> {
        let mut terms = Terms::new(cx.func());
        terms.of(root.def(), BaseType::Int);
        Values { cx, terms }
    }

    fn of(&mut self, def: Def, base: BaseType) -> String {
        let f = self.cx.func();
        let term = self.terms.of(def, base);
        let kind = match f.view(def.instr()) {
            InstrView::LoadConst(_) => return format!("the constant `{term}`"),
            InstrView::Alu(_) => return format!("`{term}`"),
            InstrView::Intrinsic(op, _) => match f.dialects.intrinsic(op) {
                Some(info) => format!("the result of `@{}`", info.name),
                None => "the result of an intrinsic".into(),
            },
            InstrView::Tex(_) => "the result of a texture operation".into(),
            InstrView::Deref(_) => "a pointer".into(),
            InstrView::Undef => "undefined".into(),
            InstrView::Phi(_) => "a phi".into(),
            InstrView::Call(_) => "the result of a call".into(),
            InstrView::Jump(_) | InstrView::ParallelCopy => return format!("`{term}`"),
        };
        format!("`{term}`, {kind}")
    }

    /// The components of a constant that are looked at.
    fn constant(&self, def: Def, comps: &[u8], base: BaseType) -> String {
        let f = self.cx.func();
        let values = f.constant(def).unwrap_or(&[]);
        let seen: Vec<u64> =
            comps.iter().filter_map(|c| values.get(usize::from(*c)).copied()).collect();
        format!("the constant `{}`", crate::trace::constant_text(&seen, base, f.bits(def)))
    }
}

/// Components as letters.
fn letters(comps: &[u8]) -> String {
    let wide = comps.iter().any(|c| *c > 3);
    let letter = |c: &u8| match wide {
        true => char::from(b'a' + (c & 15)),
        false => char::from(b"xyzw"[usize::from(c & 3)]),
    };
    comps.iter().map(letter).collect()
}

/// A test that a value is undefined and may be chosen.
fn undef_words(f: &Function, def: Def, value: String) -> (&'static str, String, String) {
    let wanted = "an undefined value that nothing else depends on";
    let saw = match f.view(def.instr()) {
        InstrView::Undef => "an undefined value that more depends on".to_string(),
        _ => value,
    };
    ("undef", wanted.to_string(), saw)
}

/// A test on flags of one kind: its name, those that are missing, and those that are there.
fn flag_words(
    word: &'static str,
    wanted: Flags,
    carried: Flags,
    kind: Flags,
    name: &str,
    value: &str,
) -> (&'static str, String, String) {
    let missing = flags_text(wanted.difference(carried));
    let has = match flags_text(carried & kind) {
        text if text.is_empty() => "none".to_string(),
        text => format!("`{text}`"),
    };
    (word, format!("the {word} `{missing}` on `{name}`"), format!("{has} on {value}"))
}

fn flags_text(flags: Flags) -> String {
    let names =
        Flags::NAMES.iter().filter(|(_, flag)| flags.contains(*flag)).map(|(name, _)| *name);
    names.collect::<Vec<_>>().join(", ")
}

fn denorm_number(denorm: Denorm) -> usize {
    match denorm {
        Denorm::Keep => 0,
        Denorm::Flush => 1,
        Denorm::Any => 2,
    }
}

fn rounding_number(rounding: Rounding) -> usize {
    match rounding {
        Rounding::Rte => 0,
        Rounding::Rtz => 1,
        Rounding::Any => 2,
    }
}

/// The environments that a rule claims, as it writes them.
fn environment(rule: &Rule) -> String {
    let list = |set: u8, names: [&str; 3]| {
        let on = names.iter().enumerate().filter(|(i, _)| set >> i & 1 != 0).map(|(_, name)| *name);
        on.collect::<Vec<_>>().join(" | ")
    };
    let mut parts = Vec::new();
    if rule.env.denorm != 7 {
        parts.push(format!("denorm = {}", list(rule.env.denorm, ["keep", "flush", "any"])));
    }
    if rule.env.rounding != 7 {
        parts.push(format!("round = {}", list(rule.env.rounding, ["rte", "rtz", "any"])));
    }
    format!("`env({})`", parts.join(", "))
}

/// What is known of a value, behind its name.
fn set_text(bits: u8, set: &Abs) -> String {
    let number = |v: u64| if v < 4096 { v.to_string() } else { format!("{v:#x}") };
    if let Some(v) = set.exact() {
        return format!("is {}", number(v));
    }
    let full = crate::facts::abs::mask(bits.into());
    let mut parts = Vec::new();
    if set.lo > 0 || set.hi < full {
        parts.push(format!("is {} to {}", number(set.lo), number(set.hi)));
    }
    if set.ones != 0 {
        parts.push(format!("has the bits {:#x}", set.ones));
    }
    // Leading zeros are in the range.
    let below = full >> set.hi.leading_zeros().saturating_sub(64 - u32::from(bits)).min(63);
    if set.zeros & below != 0 {
        parts.push(format!("lacks the bits {:#x}", set.zeros & below));
    }
    if matches!(bits, 16 | 32 | 64) && !set.class.contains(Class::ALL) {
        let kinds = [
            (Class::NAN, "NaN"),
            (Class::NEG_INF, "-inf"),
            (Class::POS_INF, "inf"),
            (Class::NEG_ZERO, "-0"),
            (Class::POS_ZERO, "0"),
        ];
        let never: Vec<&str> =
            kinds.iter().filter(|(c, _)| !set.class.meets(*c)).map(|(_, name)| *name).collect();
        if !never.is_empty() {
            parts.push(format!("is never {}", never.join(", ")));
        }
    }
    match parts.is_empty() {
        true => "may be anything".into(),
        false => parts.join(", "),
    }
}
