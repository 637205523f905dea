//! Rules that match the same terms and give different values: one of them is wrong.
//!
//! Where an earlier rule of a group matches whatever a later one does (facts apart), both replacements are evaluated on
//! the later one's terms, at values that satisfy the facts of both. Values of floats, and of operations whose result
//! isn't one value, are left to the checker of soundness, which looks at each rule by itself and at many more points.

use super::check::{covers_pattern, report};
use super::codes;
use super::evaluate::{evaluate, holds};
use super::model::*;
use crate::diagnostics::Diagnostic;
use crate::expr::Base;
use std::collections::HashMap;

/// Points that are tried of a pair at a tuple of sizes.
const POINTS: usize = 24;

/// Compares rules with the ones before them.
pub(super) fn check(set: &RuleSet, diags: &mut Vec<Diagnostic>) {
    let mut by_root: HashMap<(usize, usize), Vec<&Rule>> = HashMap::new();
    for rule in &set.rules {
        let NodeKind::Op { op, .. } = &rule.nodes[rule.pattern].kind else { continue };
        // What only unread bits tell apart may differ.
        let free = rule.waive.is_some() || rule.used.is_some();
        if free || !super::order::is_small(rule) || !is_plain(set, rule) {
            continue;
        }
        let earlier = by_root.entry((rule.group, *op)).or_default();
        for first in earlier.iter() {
            if let Some(text) = differs(set, first, rule) {
                let message = format!(
                    "`{}` and `{}` match the same and differ: {text}",
                    rule.name, first.name
                );
                let span = rule.nodes[rule.alts[0].term].span;
                let d = Diagnostic::error(codes::OVERLAP, &set.files[rule.file].0, span, message)
                    .label_in(&set.files[first.file].0, first.span, "this rule is tried first")
                    .help("one of them is wrong: `deburr verify --rules` says which, and where");
                report(set, rule, d, diags);
            }
        }
        earlier.push(rule);
    }
}

/// Whether a rule is about single components of integers, without promises.
fn is_plain(set: &RuleSet, rule: &Rule) -> bool {
    rule.nodes.iter().all(|n| {
        let simple = n.swizzle.is_none() && n.comps == Comps::Generic;
        simple
            && match &n.kind {
                NodeKind::Op { op, promises, .. } => {
                    let sig = set.ops.get(*op);
                    let float = |b: Base| b == Base::Float;
                    *promises == 0
                        && !sig.float
                        && !float(sig.output.base)
                        && !sig.inputs.iter().any(|i| float(i.base))
                }
                NodeKind::Literal(_, base) => *base != Base::Float,
                NodeKind::Outside { .. } | NodeKind::Undef => false,
                _ => true,
            }
    })
}

/// Values at which the replacements differ on terms of the second rule, as text.
fn differs(set: &RuleSet, first: &Rule, second: &Rule) -> Option<String> {
    let cover = covers_pattern(set, first, second).filter(|c| !c.partial)?;
    for sizes in &second.instances {
        let same = |i: &&Vec<u8>| {
            cover
                .pairs
                .iter()
                .all(|(x, y)| i[first.nodes[*x].class] == sizes[second.nodes[*y].class])
        };
        let Some(own) = first.instances.iter().find(same) else { continue };
        for point in 0..POINTS {
            let values = values(second, sizes, point);
            let after = Term { set, rule: second, sizes, values: &values };
            let mut theirs = vec![None; first.vars.len()];
            for (var, node) in &cover.bindings {
                theirs[*var] = after.value(*node);
            }
            let before = Term { set, rule: first, sizes: own, values: &theirs };
            if !after.facts() || !before.facts() {
                continue;
            }
            let (Some(x), Some(y)) =
                (before.value(first.alts[0].term), after.value(second.alts[0].term))
            else {
                continue;
            };
            if x != y {
                let list = second
                    .vars
                    .iter()
                    .zip(&values)
                    .filter(|(v, _)| !matches!(v.kind, VarKind::Bound(_)));
                let list: Vec<String> =
                    list.filter_map(|(v, x)| x.map(|x| format!("{} = {x:#x}", v.name))).collect();
                let bits = second.size(sizes);
                return Some(format!(
                    "at {bits} bits {} gives {y:#x} here and {x:#x} there",
                    list.join(", ")
                ));
            }
        }
    }
    None
}

/// Values of the variables: numbers that rules look for, a different mixture at each point.
fn values(rule: &Rule, sizes: &[u8], point: usize) -> Vec<Option<u64>> {
    const NUMBERS: [u64; 11] = [1, 0, 2, u64::MAX, 8, 3, 7, 16, 0x55, 1 << 63, 31];
    let pick = |(i, var): (usize, &Var)| {
        let bits = u32::from(sizes[var.class]);
        let mask = u64::MAX >> (64 - bits);
        let number = match NUMBERS[(point * (2 * i + 1) + i) % NUMBERS.len()] {
            n if n == 1 << 63 => 1 << (bits - 1),
            n => n,
        };
        (!matches!(var.kind, VarKind::Bound(_))).then_some(number & mask)
    };
    rule.vars.iter().enumerate().map(pick).collect()
}

/// Terms of a rule over values.
struct Term<'a> {
    set: &'a RuleSet,
    rule: &'a Rule,
    sizes: &'a [u8],
    values: &'a [Option<u64>],
}

impl Term<'_> {
    fn var(&self, var: VarId) -> Option<u64> {
        match self.rule.vars[var].kind {
            VarKind::Bound(node) => self.value(node),
            _ => self.values[var],
        }
    }

    fn facts(&self) -> bool {
        let var = |v| self.var(v);
        (0..self.rule.facts.len())
            .all(|f| holds(self.set, self.rule, f, self.sizes, &var) == Some(true))
    }

    fn value(&self, node: NodeId) -> Option<u64> {
        let n = &self.rule.nodes[node];
        match &n.kind {
            NodeKind::Var(v) => self.var(*v),
            NodeKind::Ref(of) => self.value(*of),
            NodeKind::Literal(literal, base) => literal.encode(*base, self.sizes[n.class]).ok(),
            NodeKind::Compute { expr, args, bits } => {
                let args: Option<Vec<u64>> = args.iter().map(|a| self.value(*a)).collect();
                evaluate(expr, self.sizes[*bits].into(), &args?)
            }
            NodeKind::Outside { .. } | NodeKind::Undef => None,
            NodeKind::Op { op, args, .. } => {
                let sig = self.set.ops.get(*op);
                let open = sig.inputs.iter().position(|ty| ty.bits == 0);
                let class = self.rule.nodes[open.map_or(node, |i| args[i])].class;
                let args: Option<Vec<u64>> = args.iter().map(|a| self.value(*a)).collect();
                evaluate(sig.eval.as_ref()?, self.sizes[class].into(), &args?)
            }
        }
    }
}
