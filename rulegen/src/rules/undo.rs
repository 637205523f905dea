//! Rules of two groups that undo each other.
//!
//! Within a group the order finds any circle. Groups run one after the other, and pipelines run them again and again: a
//! rule of one that makes what a rule of another takes back keeps such a pipeline from its fixed point.

use super::check::report;
use super::codes;
use super::model::*;
use super::order::{Symbol, Term, is_small, possible};
use crate::diagnostics::Diagnostic;
use std::collections::HashMap;

/// Symbols from here on are constants: the first is one whose value isn't known, the last what is undefined.
const CONSTANTS: u32 = 1 << 31;
const UNDEF: u32 = u32::MAX;

/// A rewrite whose literals are kept apart.
struct Exact {
    rule: usize,
    left: Term,
    right: Term,
}

/// A rule of another group that takes back what a rule makes.
pub(super) fn check(set: &RuleSet, diags: &mut Vec<Diagnostic>) {
    let mut literals: Vec<u64> = Vec::new();
    let mut rewrites: Vec<Exact> = Vec::new();
    if set.rules.windows(2).all(|w| w[0].group == w[1].group) {
        return;
    }
    for (index, rule) in set.rules.iter().enumerate().filter(|(_, rule)| is_small(rule)) {
        for sizes in &rule.instances {
            let mut term = |node| exact(set, rule, node, sizes, &mut literals);
            let left = term(rule.pattern);
            for alt in &rule.alts {
                rewrites.push(Exact { rule: index, left: left.clone(), right: term(alt.term) });
            }
        }
    }
    let mut by_root: HashMap<Symbol, Vec<usize>> = HashMap::new();
    for (i, rewrite) in rewrites.iter().enumerate() {
        if let Term::App(root, _) = rewrite.left {
            by_root.entry(root).or_default().push(i);
        }
    }
    for one in &rewrites {
        let Term::App(root, _) = one.right else { continue };
        let first = &set.rules[one.rule];
        for two in by_root.get(&root).into_iter().flatten().map(|i| &rewrites[*i]) {
            let second = &set.rules[two.rule];
            // Each pair is told once, at the later rule.
            let asks = |rule: &Rule| rule.fact_args().next().is_some() || !rule.facts.is_empty();
            if first.group >= second.group || asks(second) || asks(first) {
                continue;
            }
            let mut bound = HashMap::new();
            let back = matches(set, &two.left, &one.right, &mut bound)
                && equal(set, &instance(&two.right, &bound), &one.left);
            if back && together(set, first, second) {
                tell(set, first, second, diags);
            }
        }
    }
}

fn tell(set: &RuleSet, first: &Rule, second: &Rule, diags: &mut Vec<Diagnostic>) {
    let text = format!(
        "`{}` of group {} undoes `{}` of group {}",
        second.name, set.groups[second.group].0, first.name, set.groups[first.group].0
    );
    let d = Diagnostic::error(codes::UNDO, &set.files[second.file].0, second.span, text)
        .label_in(&set.files[first.file].0, first.span, "what this makes is taken back")
        .help("let a target option choose between them: `when target.x` here and `when !target.x` there");
    report(set, second, d, diags);
}

/// Whether some choice of target options lets both rules fire.
fn together(set: &RuleSet, a: &Rule, b: &Rule) -> bool {
    let on =
        |rule: &Rule, options| rule.when.as_ref().is_none_or(|cond| possible(set, cond, options));
    (0..1u64 << set.options.len().min(12)).any(|options| on(a, options) && on(b, options))
}

/// A node as a term in which each literal, and constants that aren't known, are symbols.
fn exact(set: &RuleSet, rule: &Rule, node: NodeId, sizes: &[u8], literals: &mut Vec<u64>) -> Term {
    let n = &rule.nodes[node];
    let bits = sizes[n.class];
    match &n.kind {
        NodeKind::Literal(literal, base) => {
            let value = literal.encode(*base, bits).unwrap_or(0);
            known(value, bits, literals)
        }
        NodeKind::Undef => Term::App(Symbol { op: UNDEF, bits }, Vec::new()),
        NodeKind::Compute { .. } => Term::Const,
        NodeKind::Ref(of) => exact(set, rule, *of, sizes, literals),
        NodeKind::Var(v) => match rule.vars[*v].kind {
            VarKind::Value | VarKind::Const => Term::Var(*v),
            VarKind::Bound(at) => exact(set, rule, at, sizes, literals),
        },
        NodeKind::Op { args, .. } => {
            let Term::App(symbol, _) = Term::new(set, rule, node, sizes) else {
                return exact(set, rule, args[0], sizes, literals);
            };
            let args = args.iter().map(|a| exact(set, rule, *a, sizes, literals));
            Term::App(symbol, args.collect())
        }
        NodeKind::Outside { what, args, .. } => {
            let Term::App(symbol, _) = Term::new(set, rule, node, sizes) else {
                return Term::Const;
            };
            let mut order: Vec<usize> = (0..args.len()).collect();
            if let Outside::Tex { srcs, .. } = what {
                order.sort_by_key(|n| srcs[*n]);
            }
            let operands = order.iter().map(|n| exact(set, rule, args[*n], sizes, literals));
            let mut terms: Vec<Term> = operands.collect();
            // What a pattern doesn't ask for may be any.
            let asked = rule.pattern_nodes().contains(&node);
            for (value, default) in what.details(set) {
                terms.push(match (value, asked) {
                    (None, true) => Term::Const,
                    (value, _) => known(value.unwrap_or(default).into(), 32, literals),
                });
            }
            Term::App(symbol, terms)
        }
    }
}

/// A constant whose value is known.
fn known(value: u64, bits: u8, literals: &mut Vec<u64>) -> Term {
    let at = literals.iter().position(|l| *l == value).unwrap_or_else(|| {
        literals.push(value);
        literals.len() - 1
    });
    Term::App(Symbol { op: CONSTANTS + 1 + at as u32, bits }, Vec::new())
}

fn is_constant(term: &Term) -> bool {
    matches!(term, Term::Const) || matches!(term, Term::App(s, _) if s.op >= CONSTANTS)
}

/// Matches a pattern with a term, whose variables are values of their own.
fn matches(set: &RuleSet, pattern: &Term, term: &Term, bound: &mut HashMap<VarId, Term>) -> bool {
    match (pattern, term) {
        (Term::Var(v), _) => match bound.get(v) {
            Some(old) => equal(set, old, term),
            None => bound.insert(*v, term.clone()).is_none(),
        },
        (Term::App(f, ss), Term::App(g, ts)) if f == g => {
            let orders: &[[usize; 2]] = match f.op < CONSTANTS && f.commutative(set) {
                true => &[[0, 1], [1, 0]],
                false => &[[0, 1]],
            };
            orders.iter().any(|order| {
                let mut trial = bound.clone();
                let ok = ss.iter().enumerate().all(|(i, s)| {
                    let j = if i < 2 && ss.len() > 1 { order[i] } else { i };
                    matches(set, s, &ts[j], &mut trial)
                });
                if ok {
                    *bound = trial;
                }
                ok
            })
        }
        // A const index that isn't asked for.
        (Term::Const, _) => is_constant(term),
        _ => false,
    }
}

fn instance(term: &Term, bound: &HashMap<VarId, Term>) -> Term {
    match term {
        Term::Var(v) => bound.get(v).cloned().unwrap_or(Term::Const),
        Term::Const => Term::Const,
        Term::App(f, args) => Term::App(*f, args.iter().map(|a| instance(a, bound)).collect()),
    }
}

/// Equality up to the order of commutative operands. A computed constant may be any.
fn equal(set: &RuleSet, a: &Term, b: &Term) -> bool {
    if *a == Term::Const || *b == Term::Const {
        // The other may be a `#c`, which is a variable here.
        return is_constant(a) && !matches!(b, Term::App(s, _) if s.op < CONSTANTS)
            || is_constant(b) && !matches!(a, Term::App(s, _) if s.op < CONSTANTS);
    }
    match (a, b) {
        (Term::App(f, ss), Term::App(g, ts)) if f == g && ss.len() == ts.len() => {
            let same = |order: [usize; 2]| {
                (0..ss.len()).all(|i| {
                    let j = if i < 2 && ss.len() > 1 { order[i] } else { i };
                    equal(set, &ss[i], &ts[j])
                })
            };
            let swaps = f.op < CONSTANTS && f.commutative(set);
            same([0, 1]) || swaps && same([1, 0])
        }
        _ => a == b,
    }
}
