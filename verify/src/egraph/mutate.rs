//! What a rule's siblings could look like: its pattern with other operations, with a complement or negation put on or taken
//! off, with operands exchanged, at other sizes; and what such a pattern could be replaced by.

use deburr_rulegen::diagnostics::Span;
use deburr_rulegen::expr::Base;
use deburr_rulegen::rules::Ops;
use deburr_rulegen::rules::ast::{
    Alt, Guard, LetValue, Literal, LiteralKind, Name, Rule, SizeExpr, SizeNote, Term, TermKind,
};

/// What of an operation's name is another in a sibling, how such a sibling is called, and what goes with it in expressions.
const PAIRS: &[(&str, &str, &str, Option<(&str, &str)>)] = &[
    ("dual", "min", "max", Some(("min", "max"))),
    ("dual", "iand", "ior", Some(("&", "|"))),
    ("inverse", "lt", "ge", None),
    ("inverse", "ieq", "ine", None),
    ("inverse", "feq", "fneu", None),
    ("inverse", "add", "sub", Some(("+", "-"))),
    ("direction", "ishl", "ushr", Some(("<<", ">>"))),
    ("direction", "ishl", "ishr", Some(("<<", ">>"))),
    ("direction", "rol", "ror", None),
    ("direction", "floor", "ceil", None),
    ("direction", "bfe", "bfi", None),
];

/// First letters of operations of which one is signed and the other isn't, or one on integers and the other on floats.
const LETTERS: &[(&str, char, char)] = &[("sign", 'i', 'u'), ("base", 'i', 'f')];

/// Literals and what takes their place in a dual.
const LITERALS: &[(&str, &str)] = &[
    ("0", "-1"),
    ("-1", "0"),
    ("true", "false"),
    ("false", "true"),
    ("0.0", "1.0"),
    ("1.0", "0.0"),
    ("-0.0", "0.0"),
    ("inf", "-inf"),
    ("-inf", "inf"),
];

/// Complement and negations of values of a base.
fn unary(base: Base) -> &'static [&'static str] {
    match base {
        Base::Bool => &["inot"],
        Base::Int | Base::Uint => &["inot", "ineg"],
        Base::Float => &["fneg"],
    }
}

/// Values of a base that replacements may be, and operations on a variable.
fn simple(base: Base) -> (&'static [&'static str], &'static [&'static str]) {
    match base {
        Base::Bool => (&["true", "false"], &["inot"]),
        Base::Int | Base::Uint => (&["0", "-1", "1"], &["inot", "ineg", "iabs"]),
        Base::Float => (&["0.0", "1.0", "-0.0"], &["fneg", "fabs"]),
    }
}

/// Sizes, as numbers that stand in rules.
const SIZES: [u32; 4] = [8, 16, 32, 64];

/// A pattern that has no rule yet, perhaps.
#[derive(Clone, Debug)]
pub(crate) struct Candidate {
    /// How it comes from the rule.
    pub how: &'static str,
    /// The rule with the pattern changed, its replacement as it was.
    pub rule: Rule,
    /// Replacements to be tried, each with its `let`s; the first are the cheapest.
    pub replacements: Vec<(Vec<deburr_rulegen::rules::ast::Let>, Term)>,
}

/// A change of operations.
#[derive(Clone, Copy)]
enum Swap {
    Part(usize),
    Letter(usize),
}

impl Swap {
    fn how(self) -> &'static str {
        match self {
            Swap::Part(n) => PAIRS[n].0,
            Swap::Letter(n) => LETTERS[n].0,
        }
    }

    /// The operation in place of one, if the table has it.
    fn name(self, ops: &Ops, name: &str) -> Option<String> {
        let other = match self {
            Swap::Part(n) => {
                let (_, a, b, _) = PAIRS[n];
                match name.contains(a) {
                    true => name.replacen(a, b, 1),
                    false => name.replacen(b, a, 1),
                }
            }
            Swap::Letter(n) => {
                let (_, a, b) = LETTERS[n];
                let first = name.chars().next()?;
                let other = match first {
                    c if c == a => b,
                    c if c == b => a,
                    _ => return None,
                };
                format!("{other}{}", &name[1..])
            }
        };
        (other != name && ops.find(&other).is_some()).then_some(other)
    }

    /// An expression with what goes with the operation.
    fn expr(self, text: &str) -> Option<String> {
        let Swap::Part(n) = self else { return None };
        let (a, b) = PAIRS[n].3?;
        match (text.contains(a), text.contains(b)) {
            (true, _) => Some(text.replace(a, b)),
            (_, true) => Some(text.replace(b, a)),
            _ => None,
        }
    }
}

/// The candidates that come from one rule.
pub(crate) fn candidates(ops: &Ops, rule: &Rule) -> Vec<Candidate> {
    let mut out = Vec::new();
    if rule.alts.len() != 1 {
        return out;
    }
    let swaps = (0..PAIRS.len()).map(Swap::Part).chain((0..LETTERS.len()).map(Swap::Letter));
    for swap in swaps {
        by_operations(ops, rule, swap, &mut out);
    }
    by_negation(ops, rule, &mut out);
    by_order(ops, rule, &mut out);
    by_size(ops, rule, &mut out);
    out
}

/// A candidate with a pattern and replacements in the form of the rule's own, as they are and negated, and simple ones.
fn candidate(
    ops: &Ops,
    how: &'static str,
    rule: &Rule,
    pattern: Term,
    own: Vec<(Rule, bool)>,
) -> Candidate {
    let none = Vec::new;
    let root = op_name(&pattern).and_then(|name| ops.find(name)).map(|op| ops.get(op).output.base);
    let base = root.unwrap_or(Base::Uint);
    let (values, functions) = simple(base);
    let mut replacements: Vec<(Vec<_>, Term)> =
        values.iter().map(|text| (none(), literal(text))).collect();
    let mut vars: Vec<String> = Vec::new();
    walk(&pattern, &mut |t| {
        if let TermKind::Var(name, _) | TermKind::Const(name, _) = &t.kind
            && t.swizzle.is_none()
            && !vars.contains(&name.text)
        {
            vars.push(name.text.clone());
        }
    });
    let var = |name: &str| term(TermKind::Var(word(name), None));
    replacements.extend(vars.iter().map(|v| (none(), var(v))));
    for op in functions {
        replacements.extend(vars.iter().map(|v| (none(), call(op, var(v)))));
    }
    let mut seen: Vec<String> = Vec::new();
    for (form, negated) in own {
        let after = &form.alts[0].term;
        let text = format!("{:?}{}", lets(&form), super::text::term(after));
        if seen.contains(&text) {
            continue;
        }
        seen.push(text);
        replacements.push((form.lets.clone(), after.clone()));
        if negated {
            let wrapped = unary(base).iter().map(|op| (form.lets.clone(), call(op, after.clone())));
            replacements.extend(wrapped);
        }
    }
    let rule = Rule { pattern, ..rule.clone() };
    Candidate { how, rule, replacements }
}

fn lets(rule: &Rule) -> Vec<String> {
    let text = |l: &deburr_rulegen::rules::ast::Let| match &l.value {
        LetValue::Term(t) => super::text::term(t),
        LetValue::Expr(text) => text.text.clone(),
    };
    rule.lets.iter().map(text).collect()
}

/// Other operations: all that have a counterpart, or one of them.
fn by_operations(ops: &Ops, rule: &Rule, swap: Swap, out: &mut Vec<Candidate>) {
    let mut count = 0;
    walk(&rule.pattern, &mut |t| {
        count += usize::from(op_name(t).is_some_and(|name| swap.name(ops, name).is_some()));
    });
    let whole = with_operations(ops, rule, swap, None);
    // Of an operation on floats among others on integers nothing good comes.
    let alone = count > 1 && swap.how() != "base";
    let choices = (0..count).map(Some).filter(|_| alone);
    for choice in [None].into_iter().filter(|_| count > 0).chain(choices) {
        let pattern = with_operations(ops, rule, swap, choice).pattern;
        for dual in [false, true] {
            let pattern = if dual { with_literals(&pattern) } else { pattern.clone() };
            let has = has_literal(&rule.pattern) && matches!(swap.how(), "dual" | "inverse");
            if dual && !has {
                continue;
            }
            let mut own = vec![(rule.clone(), true), (whole.clone(), true)];
            for form in [rule, &whole] {
                let mut form = form.clone();
                form.alts[0].term = with_literals(&form.alts[0].term);
                own.push((form, false));
            }
            own.push((with_roots_exchanged(rule), false));
            own.push((with_roots_exchanged(&whole), false));
            out.push(candidate(ops, swap.how(), rule, pattern, own));
        }
    }
}

/// The rule with its operations changed: all of them, or of the pattern only the one with this number.
fn with_operations(ops: &Ops, rule: &Rule, swap: Swap, only: Option<usize>) -> Rule {
    let mut out = rule.clone();
    let mut at = 0;
    let mut change = |t: &mut Term, only: Option<usize>| {
        let TermKind::Op { op, .. } = &mut t.kind else { return };
        if let Some(name) = swap.name(ops, &op.text) {
            if only.is_none_or(|n| n == at) {
                op.text = name;
            }
            at += 1;
        }
    };
    walk_mut(&mut out.pattern, &mut |t| change(t, only));
    for l in &mut out.lets {
        match &mut l.value {
            LetValue::Term(t) => walk_mut(t, &mut |t| change(t, None)),
            LetValue::Expr(text) => {
                if let Some(other) = swap.expr(&text.text) {
                    text.text = other;
                }
            }
        }
    }
    walk_mut(&mut out.alts[0].term, &mut |t| change(t, None));
    out
}

/// A complement or negation on an operand, or one less.
fn by_negation(ops: &Ops, rule: &Rule, out: &mut Vec<Candidate>) {
    let mut places: Vec<Base> = Vec::new();
    each_operand(ops, &mut rule.pattern.clone(), &mut |_, base| places.push(base));
    for (at, base) in places.into_iter().enumerate() {
        for name in unary(base) {
            let mut pattern = rule.pattern.clone();
            let (mut n, mut how) = (0, None);
            each_operand(ops, &mut pattern, &mut |t, _| {
                n += 1;
                if n == at + 1 && how.is_none() {
                    how = negate(t, name);
                }
            });
            let Some(how) = how else { continue };
            let own = vec![(rule.clone(), true), (with_roots_exchanged(rule), true)];
            out.push(candidate(ops, how, rule, pattern, own));
        }
    }
}

/// Puts an operation on a term or takes it off; none is put on another such.
fn negate(t: &mut Term, name: &str) -> Option<&'static str> {
    match &t.kind {
        TermKind::Op { op, args, .. } if op.text == name && t.bind.is_none() => {
            let inner = args[0].clone();
            *t = inner;
            Some("without a negation")
        }
        TermKind::Op { op, .. } if ["inot", "ineg", "fneg"].contains(&op.text.as_str()) => None,
        TermKind::Var(..) | TermKind::Op { .. } => {
            *t = call(name, t.clone());
            Some("negation")
        }
        _ => None,
    }
}

/// Calls `f` with every operand and how it is read, outermost first, what it has become after it.
fn each_operand(ops: &Ops, t: &mut Term, f: &mut dyn FnMut(&mut Term, Base)) {
    let TermKind::Op { op, args, .. } = &mut t.kind else { return };
    let Some(sig) = ops.find(&op.text).map(|op| ops.get(op)) else { return };
    for (arg, ty) in args.iter_mut().zip(&sig.inputs) {
        f(arg, ty.base);
        each_operand(ops, arg, f);
    }
}

/// Operands exchanged of an operation of which they can't be.
fn by_order(ops: &Ops, rule: &Rule, out: &mut Vec<Candidate>) {
    let fixed = |t: &Term| {
        let sig = op_name(t).and_then(|name| ops.find(name)).map(|op| ops.get(op));
        // Of a selection the arms.
        sig.is_some_and(|sig| {
            let last = sig.inputs.len().saturating_sub(2);
            !sig.commutative && matches!(&sig.inputs[last..], [a, b] if a == b)
        })
    };
    let mut count = 0;
    walk(&rule.pattern, &mut |t| count += usize::from(fixed(t)));
    for at in 0..count {
        let mut pattern = rule.pattern.clone();
        let mut n = 0;
        walk_mut(&mut pattern, &mut |t| {
            if fixed(t) {
                if n == at
                    && let TermKind::Op { args, .. } = &mut t.kind
                {
                    let last = args.len();
                    args.swap(last - 2, last - 1);
                }
                n += 1;
            }
        });
        let own = vec![(rule.clone(), true), (with_roots_exchanged(rule), true)];
        out.push(candidate(ops, "operands exchanged", rule, pattern, own));
    }
}

/// Another size where the rule has a number.
fn by_size(ops: &Ops, rule: &Rule, out: &mut Vec<Candidate>) {
    let mut noted: Vec<u32> = Vec::new();
    walk(&rule.pattern, &mut |t| {
        if let TermKind::Var(_, Some(note)) | TermKind::Const(_, Some(note)) = &t.kind
            && let SizeExpr::Bits(n) = note.size
            && !noted.contains(&n)
        {
            noted.push(n);
        }
    });
    for from in noted {
        for to in SIZES.into_iter().filter(|n| *n != from) {
            let mut form = rule.clone();
            let mut change = |t: &mut Term| resize(ops, t, from, to);
            walk_mut(&mut form.pattern, &mut change);
            walk_mut(&mut form.alts[0].term, &mut change);
            let pattern = form.pattern.clone();
            out.push(candidate(ops, "size", rule, pattern, vec![(form, false)]));
        }
    }
}

fn resize(ops: &Ops, t: &mut Term, from: u32, to: u32) {
    match &mut t.kind {
        TermKind::Var(_, Some(SizeNote { size, .. }))
        | TermKind::Const(_, Some(SizeNote { size, .. }))
            if *size == SizeExpr::Bits(from) =>
        {
            *size = SizeExpr::Bits(to);
        }
        TermKind::Literal(l) => {
            let number = |n: u32| n.to_string();
            for (a, b) in [(from, to), (from - 1, to - 1), (from / 2, to / 2)] {
                if l.text == number(a) {
                    *l = literal_of(&number(b));
                    return;
                }
            }
        }
        TermKind::Op { op, .. } => {
            let other = op.text.replace(&from.to_string(), &to.to_string());
            if other != op.text && ops.find(&other).is_some() {
                op.text = other;
            }
        }
        _ => {}
    }
}

/// The first two operands of the replacement exchanged.
fn with_roots_exchanged(rule: &Rule) -> Rule {
    let mut out = rule.clone();
    if let TermKind::Op { args, .. } = &mut out.alts[0].term.kind
        && args.len() == 2
    {
        args.swap(0, 1);
    }
    out
}

fn with_literals(t: &Term) -> Term {
    let mut out = t.clone();
    walk_mut(&mut out, &mut |t| {
        if let TermKind::Literal(l) = &mut t.kind
            && let Some((_, other)) = LITERALS.iter().find(|(text, _)| *text == l.text)
        {
            *l = literal_of(other);
        }
    });
    out
}

fn has_literal(t: &Term) -> bool {
    let mut any = false;
    walk(t, &mut |t| any |= matches!(t.kind, TermKind::Literal(_)));
    any
}

fn op_name(t: &Term) -> Option<&str> {
    match &t.kind {
        TermKind::Op { op, .. } => Some(&op.text),
        _ => None,
    }
}

/// The rule with a replacement.
pub(crate) fn with_replacement(
    rule: &Rule,
    (lets, term): &(Vec<deburr_rulegen::rules::ast::Let>, Term),
) -> Rule {
    let alts = vec![Alt { term: term.clone(), guard: Guard::None }];
    Rule { lets: lets.clone(), alts, ..rule.clone() }
}

/// A word that stands nowhere.
pub(crate) fn word(text: &str) -> Name {
    Name { text: text.into(), span: Span::new(0, 0) }
}

fn term(kind: TermKind) -> Term {
    Term { bind: None, kind, swizzle: None, span: Span::new(0, 0) }
}

fn call(op: &str, arg: Term) -> Term {
    term(TermKind::Op { op: word(op), flags: Vec::new(), args: vec![arg] })
}

/// Only the text of a literal is read again.
fn literal_of(text: &str) -> Literal {
    Literal { text: text.into(), kind: LiteralKind::Int(0), span: Span::new(0, 0) }
}

fn literal(text: &str) -> Term {
    term(TermKind::Literal(literal_of(text)))
}

/// Calls `f` with a term and those in it, outermost first.
fn walk(t: &Term, f: &mut dyn FnMut(&Term)) {
    f(t);
    if let TermKind::Op { args, .. } | TermKind::Ac(_, args) = &t.kind {
        args.iter().for_each(|a| walk(a, f));
    }
}

fn walk_mut(t: &mut Term, f: &mut dyn FnMut(&mut Term)) {
    f(t);
    if let TermKind::Op { args, .. } | TermKind::Ac(_, args) = &mut t.kind {
        args.iter_mut().for_each(|a| walk_mut(a, f));
    }
}
