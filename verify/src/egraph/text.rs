//! Rules as texts again, from their syntax trees. Terms nest no deeper than the parser lets them.

use deburr_rulegen::rules::ast::{
    Alt, BaseWord, Clause, Cond, CountExpr, FactArg, FactUse, Guard, Let, LetValue, Name, Rule,
    SizeExpr, SizeNote, Term, TermKind,
};
use std::fmt::Write;

/// `L => R where …`: what `deburr verify --expr` takes, without what a rule says of itself alone.
pub(crate) fn bare(rule: &Rule) -> String {
    let lets: String = rule.lets.iter().map(let_text).collect();
    let lets = if lets.is_empty() { lets } else { format!("{{ {lets}}} ") };
    let alts: Vec<String> = rule.alts.iter().map(alt).collect();
    let mut out = format!("{} => {lets}{}", term(&rule.pattern), alts.join(", "));
    for (c, _) in &rule.clauses {
        // Writing to a string can't fail.
        let _ = match c {
            Clause::Where(facts) => {
                let facts: Vec<String> = facts.iter().map(fact).collect();
                write!(out, " where {}", facts.join(", "))
            }
            Clause::With(names) => write!(out, " with {}", words(names, ", ")),
            Clause::When(c) => write!(out, " when {}", cond(c)),
            Clause::If(c) => write!(out, " if {}", cond(c)),
            Clause::Ulps(n, _) => write!(out, " ulps {n}"),
            Clause::Group(_)
            | Clause::Canonical(_)
            | Clause::Allow(..)
            | Clause::Waive(_)
            | Clause::Test(..) => Ok(()),
        };
    }
    out
}

fn words(names: &[Name], between: &str) -> String {
    names.iter().map(|n| n.text.as_str()).collect::<Vec<_>>().join(between)
}

fn let_text(l: &Let) -> String {
    let value = match &l.value {
        LetValue::Term(t) => term(t),
        LetValue::Expr(text) => text.text.clone(),
    };
    format!("let {} = {value}; ", l.name.text)
}

fn alt(a: &Alt) -> String {
    match &a.guard {
        Guard::None => term(&a.term),
        Guard::If(c) => format!("{} if {}", term(&a.term), cond(c)),
        Guard::Otherwise(_) => format!("{} otherwise", term(&a.term)),
    }
}

fn fact(f: &FactUse) -> String {
    match f {
        FactUse::Env(list, _) => {
            let keys: Vec<String> = list
                .iter()
                .map(|(key, values)| format!("{} = {}", key.text, words(values, " | ")))
                .collect();
            format!("env({})", keys.join(", "))
        }
        FactUse::Call { name, args, .. } => {
            let args: Vec<String> = args
                .iter()
                .map(|a| match a {
                    FactArg::Var(v, None) => v.text.clone(),
                    FactArg::Var(v, Some(comps)) => format!("{}.{}", v.text, comps.text),
                    FactArg::Expr(text) => text.text.clone(),
                })
                .collect();
            format!("{}({})", name.text, args.join(", "))
        }
    }
}

fn cond(c: &Cond) -> String {
    let all = |list: &[Cond], between: &str| {
        list.iter().map(|c| format!("({})", cond(c))).collect::<Vec<_>>().join(between)
    };
    match c {
        Cond::And(list) => match list.iter().all(|c| matches!(c, Cond::Call(..))) {
            true => list.iter().map(cond).collect::<Vec<_>>().join(" && "),
            false => all(list, " && "),
        },
        Cond::Or(list) => all(list, " || "),
        Cond::Not(c) => format!("!{}", cond(c)),
        Cond::Option(name) => name.text.clone(),
        Cond::Call(name, args, _) => format!("{}({})", name.text, words(args, ", ")),
        Cond::Count { name, args, compare, bound, .. } => {
            format!("{}({}) {} {}", name.text, words(args, ", "), compare.text, bound.text)
        }
    }
}

/// A term.
pub(crate) fn term(t: &Term) -> String {
    let list = |args: &[Term]| args.iter().map(term).collect::<Vec<_>>().join(", ");
    let mut out = t.bind.as_ref().map_or(String::new(), |b| format!("{}@", b.text));
    out += &match &t.kind {
        TermKind::Op { op, flags, args } => {
            let flags: String = flags.iter().map(|f| format!(".{}", f.text)).collect();
            format!("{}{flags}({})", op.text, list(args))
        }
        TermKind::Var(name, size) => format!("{}{}", name.text, note(size.as_ref())),
        TermKind::Const(name, size) => format!("#{}{}", name.text, note(size.as_ref())),
        TermKind::Literal(l) => l.text.clone(),
        TermKind::Ac(op, args) => format!("ac({}: {})", op.text, list(args)),
        // What isn't arithmetic has no siblings.
        TermKind::Intrinsic(name, ..) | TermKind::Tex(name, ..) => format!("@{}()", name.text),
        TermKind::Phi(args) => format!("phi({})", list(args)),
        TermKind::Undef(size) => format!("undef{}", note(size.as_ref())),
    };
    if let Some(s) = &t.swizzle {
        out += &format!(".{}", s.text);
    }
    out
}

fn note(size: Option<&SizeNote>) -> String {
    let Some(size) = size else { return String::new() };
    let mut out = match &size.size {
        SizeExpr::Bits(n) => format!(":{n}"),
        SizeExpr::Var(1, name) | SizeExpr::Loop(name) => format!(":{name}"),
        SizeExpr::Var(k, name) => format!(":{k}*{name}"),
        SizeExpr::Base(word) => match word {
            BaseWord::Int => ":int".into(),
            BaseWord::Uint => ":uint".into(),
            BaseWord::Float => ":float".into(),
            BaseWord::Bool => ":bool".into(),
        },
    };
    match &size.count {
        Some(CountExpr::Number(n)) => out += &format!("x{n}"),
        Some(CountExpr::Var(name) | CountExpr::Loop(name)) => out += &format!("x{name}"),
        None => {}
    }
    out
}
