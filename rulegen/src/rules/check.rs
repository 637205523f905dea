//! What is checked on whole rules and on rules together, after each was resolved.

use super::codes;
use super::model::*;
use crate::diagnostics::{Code, Diagnostic, Severity};
use std::collections::HashMap;

/// Checks a rule set.
pub fn check(set: &RuleSet, diags: &mut Vec<Diagnostic>) {
    for rule in &set.rules {
        convergent(set, rule, diags);
        changes_nothing(set, rule, diags);
        uses_itself(set, rule, diags);
        super::facts::check(set, rule, diags);
        never_on(set, rule, diags);
    }
    shadowed(set, diags);
    super::overlap::check(set, diags);
    super::undo::check(set, diags);
}

/// Reports unless the rule says `allow`, and once for all stamps of a rule.
pub(super) fn report(set: &RuleSet, rule: &Rule, d: Diagnostic, diags: &mut Vec<Diagnostic>) {
    let allowed = rule.allows.iter().any(|a| *a == d.code.to_string());
    let known = diags.iter().any(|o| o.code == d.code && o.span == d.span && o.file == d.file);
    let _ = set;
    if !allowed && !known {
        diags.push(d);
    }
}

fn diagnostic(set: &RuleSet, rule: &Rule, code: Code, message: String) -> Diagnostic {
    Diagnostic::error(code, &set.files[rule.file].0, rule.span, message)
}

/// A convergent operation may only be created at a matched root of the same kind.
fn convergent(set: &RuleSet, rule: &Rule, diags: &mut Vec<Diagnostic>) {
    let root = match &rule.nodes[rule.pattern].kind {
        NodeKind::Op { op, .. } => Ok(*op),
        NodeKind::Outside { what, .. } => Err(super::outside::name_of(set, what)),
        _ => return,
    };
    for alt in &rule.alts {
        for id in rule.reachable(alt.term) {
            let (name, kind) = match &rule.nodes[id].kind {
                NodeKind::Op { op, .. } if set.ops.get(*op).convergent => {
                    (set.ops.get(*op).name.clone(), Ok(*op))
                }
                NodeKind::Outside { what: what @ Outside::Intrinsic { id, .. }, .. }
                    if set.ops.intrinsic(*id).convergent =>
                {
                    let name = super::outside::name_of(set, what);
                    (name.clone(), Err(name))
                }
                NodeKind::Outside { what: what @ Outside::Tex { op, .. }, .. }
                    if super::outside::TEX_OPS[*op].1 =>
                {
                    // All of them depend on the quad, so that one may stand for another.
                    let of_quads = matches!(
                        &rule.nodes[rule.pattern].kind,
                        NodeKind::Outside { what: Outside::Tex { op, .. }, .. }
                            if super::outside::TEX_OPS[*op].1
                    );
                    let name = super::outside::name_of(set, what);
                    (name.clone(), if of_quads { root.clone() } else { Err(name) })
                }
                _ => continue,
            };
            if !(id == alt.term && kind == root) {
                let text = format!("the replacement creates `{name}`, which is convergent");
                let d = Diagnostic::error(
                    codes::CONVERGENT,
                    &set.files[rule.file].0,
                    rule.nodes[id].span,
                    text,
                );
                report(set, rule, d, diags);
            }
        }
    }
}

/// A rule for targets that there can't be.
fn never_on(set: &RuleSet, rule: &Rule, diags: &mut Vec<Diagnostic>) {
    let Some(when) = &rule.when else { return };
    let choices = 1u64 << set.options.len().min(12);
    if !(0..choices).any(|options| super::order::possible(set, when, options)) {
        let text = format!("`{}` fires on no target: its `when` contradicts itself", rule.name);
        let d = diagnostic(set, rule, codes::NO_TARGET, text);
        report(set, rule, d.help("leave one of the options out"), diags);
    }
}

fn changes_nothing(set: &RuleSet, rule: &Rule, diags: &mut Vec<Diagnostic>) {
    for alt in &rule.alts {
        let same = match rule.chain_at(rule.pattern) {
            Some(chain) => same_chain(set, rule, chain, alt.term),
            None => equal(rule, rule.pattern, rule, alt.term, set),
        };
        if same {
            let text = "the replacement is what was matched".to_string();
            let file = &set.files[rule.file].0;
            let d = Diagnostic::error(codes::SELF, file, rule.nodes[alt.term].span, text);
            report(set, rule, d, diags);
        }
    }
}

/// A replacement over the operation that it replaces: its own operand.
fn uses_itself(set: &RuleSet, rule: &Rule, diags: &mut Vec<Diagnostic>) {
    let is_root = |id: &NodeId| match rule.nodes[*id].kind {
        NodeKind::Var(var) => rule.vars[var].kind == VarKind::Bound(rule.pattern),
        _ => false,
    };
    for alt in &rule.alts {
        if let Some(node) = rule.reachable(alt.term).into_iter().find(is_root) {
            let text = "the replacement is made of what it replaces";
            let file = &set.files[rule.file].0;
            let d = Diagnostic::error(codes::SELF, file, rule.nodes[node].span, text.to_string());
            // Nothing makes it right: no `allow` is asked.
            diags.push(d.label(rule.nodes[rule.pattern].span, "this goes"));
        }
    }
}

/// Whether a term is a chain with the same operands, in whatever order and bracketing.
fn same_chain(set: &RuleSet, rule: &Rule, chain: &Chain, term: NodeId) -> bool {
    let op_of = |node: NodeId| match &rule.nodes[node].kind {
        NodeKind::Op { op, args, .. } => Some((*op, args)),
        _ => None,
    };
    let Some((op, _)) = op_of(chain.nodes[0]) else { return false };
    let mut left = chain.operands.clone();
    let mut stack = vec![term];
    while let Some(node) = stack.pop() {
        match op_of(node) {
            Some((inner, args)) if inner == op && stack.len() <= LONGEST_CHAIN => {
                stack.extend(args);
            }
            _ => match left.iter().position(|x| equal(rule, *x, rule, node, set)) {
                Some(at) => _ = left.swap_remove(at),
                None => return false,
            },
        }
    }
    left.is_empty()
}

/// Whether two terms, variables by identity, are the same but for the order of commutative operands.
fn equal(a: &Rule, x: NodeId, b: &Rule, y: NodeId, set: &RuleSet) -> bool {
    let (m, n) = (&a.nodes[x], &b.nodes[y]);
    if m.swizzle != n.swizzle {
        return false;
    }
    match (&m.kind, &n.kind) {
        (NodeKind::Var(v), NodeKind::Var(w)) => v == w,
        (NodeKind::Literal(v, _), NodeKind::Literal(w, _)) => v == w,
        (NodeKind::Ref(v), NodeKind::Ref(w)) => equal(a, *v, b, *w, set),
        (
            NodeKind::Op { op: p, promises: f, args: s, .. },
            NodeKind::Op { op: q, promises: g, args: t, .. },
        ) => {
            let pairs = |order: [usize; 2]| {
                (0..s.len()).all(|i| {
                    let j = if i < 2 && s.len() > 1 { order[i] } else { i };
                    equal(a, s[i], b, t[j], set)
                })
            };
            p == q && f == g && (pairs([0, 1]) || (set.ops.get(*p).commutative && pairs([1, 0])))
        }
        (
            NodeKind::Outside { what: p, args: s, .. },
            NodeKind::Outside { what: q, args: t, .. },
        ) => p == q && s.iter().zip(t).all(|(s, t)| equal(a, *s, b, *t, set)),
        _ => false,
    }
}

/// Rules behind an earlier one that fires wherever they would.
fn shadowed(set: &RuleSet, diags: &mut Vec<Diagnostic>) {
    let mut by_root: HashMap<(usize, Result<usize, String>), Vec<&Rule>> = HashMap::new();
    for rule in &set.rules {
        let root = match &rule.nodes[rule.pattern].kind {
            NodeKind::Op { op, .. } => Ok(*op),
            NodeKind::Outside { what, .. } => Err(super::outside::name_of(set, what)),
            _ => continue,
        };
        let earlier = by_root.entry((rule.group, root)).or_default();
        let same_left = |e: &Rule| covers_pattern(set, rule, e).is_some();
        // Where the left sides differ, the earlier rule may be illegal on a target where the later one isn't.
        let hit =
            earlier.iter().find(|e| covers(set, e, rule) && (same_left(e) || legal_with(e, rule)));
        if let Some(first) = hit {
            let same = same_left(first);
            let first_file = &set.files[first.file].0;
            let (code, text) = match same {
                true => (
                    codes::DUPLICATE,
                    format!("`{}` has the left side of `{}`", rule.name, first.name),
                ),
                false => (
                    codes::UNREACHABLE,
                    format!("`{}` can never fire: `{}` comes first", rule.name, first.name),
                ),
            };
            let d = diagnostic(set, rule, code, text).label_in(first_file, first.span, "this rule");
            let d = match same {
                true => d.help("join the two into one rule with alternatives, or leave one out"),
                false => d.help("leave it out, or put it before the other"),
            };
            report(set, rule, d, diags);
        }
        earlier.push(rule);
    }
    diags.sort_by_key(|d| d.severity != Severity::Error);
}

/// Whether `first` fires wherever `second` would.
fn covers(set: &RuleSet, first: &Rule, second: &Rule) -> bool {
    if first.licences & !second.licences != 0
        || second.env.denorm & !first.env.denorm != 0
        || second.env.rounding & !first.env.rounding != 0
        || !targets_cover(set, first, second)
        || !first.needed_at_phis().is_empty()
    {
        return false;
    }
    let (a, b) = (&first.nodes[first.pattern], &second.nodes[second.pattern]);
    if matches!(a.comps, Comps::Fixed(_)) && a.comps != b.comps {
        return false;
    }
    let Some(cover) = covers_pattern(set, first, second) else { return false };
    sizes_cover(first, second, &cover.pairs)
        && used_covers(first, second, &cover)
        && profit_covers(first, second, &cover)
        && (0..first.facts.len()).all(|fact| fact_covers(set, first, fact, second, &cover))
}

/// Whether every target that lets the second fire lets the first.
fn targets_cover(set: &RuleSet, first: &Rule, second: &Rule) -> bool {
    let Some(cond) = &first.when else { return true };
    let choices = 1u64 << set.options.len().min(12);
    (0..choices).all(|options| {
        let on = second.when.as_ref().is_none_or(|c| super::order::possible(set, c, options));
        !on || super::order::possible(set, cond, options)
    })
}

/// Whether some alternative of the first is worth while wherever one of the second is: it has no `if`, or one whose
/// tests all alternatives of the second make too.
fn profit_covers(first: &Rule, second: &Rule, cover: &Cover) -> bool {
    let tests = |cond: &Cond| match cond {
        Cond::And(list) => list.clone(),
        one => vec![one.clone()],
    };
    let same_var = |v: VarId, w: VarId| match (first.vars[v].kind, second.vars[w].kind) {
        (VarKind::Bound(x), VarKind::Bound(y)) => cover.pairs.contains(&(x, y)),
        _ => cover
            .bindings
            .get(&v)
            .is_some_and(|n| matches!(&second.nodes[*n].kind, NodeKind::Var(u) if *u == w)),
    };
    // Whether the first holds wherever the second does.
    let follows = |a: &Cond, b: &Cond| {
        let same = a.var().zip(b.var()).is_some_and(|(v, w)| same_var(v, w));
        same && match (a, b) {
            (Cond::OnlyUsedAs(_, s), Cond::OnlyUsedAs(_, t)) => t.iter().all(|op| s.contains(op)),
            (Cond::Profit(p, _), Cond::Profit(q, _)) => p == q,
            _ => match (a.counts(), b.counts()) {
                (Some(s), Some(t)) => s.iter().zip(&t).all(|(s, t)| *s || !*t),
                _ => false,
            },
        }
    };
    first.alts.iter().any(|alt| {
        let Some(cond) = &alt.profit else { return true };
        tests(cond).iter().all(|test| {
            second.alts.iter().all(|other| {
                let theirs = other.profit.as_ref().map(tests).unwrap_or_default();
                theirs.iter().any(|t| follows(test, t))
            })
        })
    })
}

/// Whether a fact of the first holds wherever the second fires: it says the same, or speaks of constants that the second
/// knows.
fn fact_covers(set: &RuleSet, first: &Rule, fact: usize, second: &Rule, cover: &Cover) -> bool {
    let f = &first.facts[fact];
    let said = second.facts.iter().any(|g| {
        let mut args = f.args.iter().zip(&g.args);
        f.fact == g.fact && args.all(|(x, y)| same_argument(first, *x, second, *y, cover))
    });
    said || second.instances.iter().all(|sizes| {
        let same = |i: &&Vec<u8>| {
            cover
                .pairs
                .iter()
                .all(|(x, y)| i[first.nodes[*x].class] == sizes[second.nodes[*y].class])
        };
        let Some(own) = first.instances.iter().find(same) else { return false };
        let value = |v: VarId| {
            let node = *cover.bindings.get(&v)?;
            super::evaluate::constant(second, node, sizes, &|_| None)
        };
        super::evaluate::holds(set, first, fact, own, &value) == Some(true)
    })
}

/// Whether the first asks no more of what users read than the second: nothing, or the same.
fn used_covers(first: &Rule, second: &Rule, cover: &Cover) -> bool {
    match (first.used, second.used) {
        (None, _) => true,
        (Some(x), Some(y)) => same_argument(first, x, second, y, cover),
        (Some(_), None) => false,
    }
}

/// Whether an argument of a fact is the same in both rules, as one lies over the other.
fn same_argument(first: &Rule, x: NodeId, second: &Rule, y: NodeId, cover: &Cover) -> bool {
    if first.nodes[x].swizzle != second.nodes[y].swizzle {
        return false;
    }
    match (&first.nodes[x].kind, &second.nodes[y].kind) {
        (NodeKind::Var(v), NodeKind::Var(w)) => cover
            .bindings
            .get(v)
            .is_some_and(|n| matches!(&second.nodes[*n].kind, NodeKind::Var(u) if u == w)),
        (NodeKind::Literal(v, _), NodeKind::Literal(w, _)) => v == w,
        (NodeKind::Compute { expr: e, args, .. }, NodeKind::Compute { expr: h, .. }) => {
            args.is_empty() && e.to_string() == h.to_string()
        }
        _ => false,
    }
}

/// Whether everything that the first rule builds is legal wherever the second fires: it occurs in the pattern, or in
/// what the second builds.
fn legal_with(first: &Rule, second: &Rule) -> bool {
    let ops = |rule: &Rule, root: NodeId| -> Vec<usize> {
        let nodes = rule.reachable(root).into_iter();
        nodes
            .filter_map(|n| {
                let NodeKind::Op { op, .. } = &rule.nodes[n].kind else { return None };
                Some(*op)
            })
            .collect()
    };
    let pattern = ops(first, first.pattern);
    // Every alternative of the second may be the one that fires.
    let theirs = |op: usize| second.alts.iter().all(|a| ops(second, a.term).contains(&op));
    let mut built = first.alts.iter().flat_map(|a| ops(first, a.term));
    built.all(|op| pattern.contains(&op) || theirs(op))
}

/// Whether whatever matches the pattern of `second` matches that of `first`, and with what bindings.
pub(super) fn covers_pattern(set: &RuleSet, first: &Rule, second: &Rule) -> Option<Cover> {
    let mut found = Cover::default();
    cover(set, first, second, &[(first.pattern, second.pattern)], &mut found).then_some(found)
}

/// How one pattern lies over another.
#[derive(Clone, Default)]
pub(super) struct Cover {
    /// What the variables of the first stand for in the second.
    pub bindings: HashMap<VarId, NodeId>,
    /// Nodes of the first with those of the second that they match.
    pub pairs: Vec<(NodeId, NodeId)>,
    /// Whether the first matches a part of the chain that the second matches, and leaves the rest.
    pub partial: bool,
    /// Pairs of nodes that were compared.
    compared: u32,
}

/// Most pairs of nodes that are compared for two rules: each commutative operation doubles the ways. What takes more is
/// taken for different.
const MOST_COMPARED: u32 = 20_000;

/// Whether the first rule's test of sizes lets every instance of the second pass.
fn sizes_cover(first: &Rule, second: &Rule, pairs: &[(NodeId, NodeId)]) -> bool {
    let Some(test) = &first.size_test else { return true };
    second.instances.iter().all(|bits| {
        let tuple: Option<Vec<u8>> = test
            .nodes
            .iter()
            .map(|n| pairs.iter().find(|p| p.0 == *n).map(|p| bits[second.nodes[p.1].class]))
            .collect();
        tuple.is_some_and(|t| test.allowed.contains(&t))
    })
}

/// Matches pairs of nodes one way, trying both orders of commutative operands. Depth is bounded by the parser.
fn cover(
    set: &RuleSet,
    first: &Rule,
    second: &Rule,
    todo: &[(NodeId, NodeId)],
    found: &mut Cover,
) -> bool {
    let Some(((x, y), rest)) = todo.split_last() else { return true };
    let (m, n) = (&first.nodes[*x], &second.nodes[*y]);
    found.compared += 1;
    if found.compared > MOST_COMPARED {
        return false;
    }
    found.pairs.push((*x, *y));
    if let NodeKind::Var(v) = &m.kind {
        let is_const = first.vars[*v].kind == VarKind::Const;
        let const_there = match &n.kind {
            NodeKind::Literal(..) => true,
            NodeKind::Var(w) => second.vars[*w].kind == VarKind::Const,
            _ => false,
        };
        let fits = (!is_const || const_there) && (m.swizzle.is_none() || m.swizzle == n.swizzle);
        // A value that is matched as a constant below an operation is still any value above it.
        let same = found.bindings.get(v).is_none_or(|old| equal(second, *old, second, *y, set));
        if !fits || !same {
            return false;
        }
        let fresh = found.bindings.insert(*v, *y).is_none();
        let ok = cover(set, first, second, rest, found);
        if !ok && fresh {
            found.bindings.remove(v);
        }
        return ok;
    }
    if m.swizzle != n.swizzle {
        return false;
    }
    if let Some(ways) = super::chains::chain_ways(first, *x, second, *y) {
        let partial = ways.partial;
        return ways.pairs.iter().any(|pairs| {
            let mut next = rest.to_vec();
            next.extend(pairs.iter().rev());
            let mut trial = found.clone();
            trial.partial |= partial;
            let ok = cover(set, first, second, &next, &mut trial);
            found.compared = trial.compared;
            if ok {
                *found = trial;
            }
            ok
        });
    }
    match (&m.kind, &n.kind) {
        (NodeKind::Literal(v, _), NodeKind::Literal(w, _)) => {
            v == w && cover(set, first, second, rest, found)
        }
        (NodeKind::Undef, NodeKind::Undef) => cover(set, first, second, rest, found),
        (
            NodeKind::Outside { what: p, args: s, .. },
            NodeKind::Outside { what: q, args: t, .. },
        ) => {
            let ways = super::outside::ways((p, s), (q, t));
            ways.iter().any(|pairs| {
                let mut next = rest.to_vec();
                next.extend(pairs.iter().rev());
                let mut trial = found.clone();
                let ok = cover(set, first, second, &next, &mut trial);
                found.compared = trial.compared;
                if ok {
                    *found = trial;
                }
                ok
            })
        }
        (
            NodeKind::Op { op: p, promises: f, args: s, .. },
            NodeKind::Op { op: q, promises: g, args: t, .. },
        ) => {
            if p != q || f & !g != 0 {
                return false;
            }
            let orders: &[[usize; 2]] = match set.ops.get(*p).commutative {
                true => &[[0, 1], [1, 0]],
                false => &[[0, 1]],
            };
            orders.iter().any(|order| {
                let mut next = rest.to_vec();
                next.extend((0..s.len()).rev().map(|i| {
                    let j = if i < 2 && s.len() > 1 { order[i] } else { i };
                    (s[i], t[j])
                }));
                let mut trial = found.clone();
                let ok = cover(set, first, second, &next, &mut trial);
                found.compared = trial.compared;
                if ok {
                    *found = trial;
                }
                ok
            })
        }
        _ => false,
    }
}
