//! Rules that follow from the others as equations, forward and backward.

use super::bench::{self, Readers, Sample, Trial, claims, left_out};
use super::equations::{Context, Equations, Limits};
use super::graph::{FOLDED, Graph, MOVED, Values, add_function};
use super::greedy::Greedy;
use deburr_algebraic::interp::term::Claim;
use deburr_ir_core::fold::FloatEnv;
use deburr_ir_core::{Def, Denorm, Function, Rounding};
use deburr_rulegen::rules::model::Rule;
use egg::{EGraph, FlatTerm};
use std::collections::BTreeSet;

/// How far the e-graph of a derivation grows.
const LIMITS: Limits = Limits { nodes: 1_500, rounds: 6, matches: 100 };
/// Samples of an instance of which all must be derived.
const SAMPLES: usize = 6;

/// The rules by which both sides of a rule are equal, if that follows from the others; tried at one size. The driver, which
/// goes forward only and takes what matches first, need not come from one to the other.
pub fn derivation(greedy: &Greedy<'_>, number: usize) -> Option<Vec<String>> {
    let set = greedy.set;
    let rule = &set.rules[number];
    if left_out(set, rule).is_some() {
        return None;
    }
    let usual = rule.instances.iter().position(|bits| rule.size(bits) == 32);
    let samples = samples(greedy, number, usual.unwrap_or(0));
    let groups: Vec<usize> = (0..set.groups.len()).collect();
    let without = [number];
    let context = Context { without: &without, env: rule.env, groups: &groups, back: true };
    let equations = Equations::new(set, &context);
    let mut names = BTreeSet::new();
    for (code, sides) in &samples {
        // Proofs are dear: they are asked for where there is one.
        derive(greedy, rule, &equations, code, sides, false)?;
        names.extend(derive(greedy, rule, &equations, code, sides, true)?);
    }
    (!samples.is_empty()).then(|| names.into_iter().collect())
}

/// Both sides of an instance over operands with which the rule fires.
fn samples(greedy: &Greedy<'_>, number: usize, instance: usize) -> Vec<(Function, Vec<Def>)> {
    let rule = &greedy.set.rules[number];
    let sides = [rule.pattern, rule.alts[0].term];
    let mut found: Vec<(Sample, (Function, Vec<Def>))> = Vec::new();
    let mut fires = |trial: &Trial<'_>, _: &Function| {
        if trial.readers == Readers::None
            && !found.iter().any(|(sample, _)| sample == trial.sample)
            && let Some(code) = trial.bench.code(trial.sample, &sides, Readers::None)
        {
            found.push((trial.sample.clone(), code));
        }
        true
    };
    bench::trials(greedy, number, instance, &mut fires);
    let step = found.len().div_ceil(SAMPLES).max(1);
    found.into_iter().map(|(_, code)| code).step_by(step).collect()
}

/// The names of the rules that make two values equal.
fn derive(
    greedy: &Greedy<'_>,
    rule: &Rule,
    equations: &Equations<'_>,
    code: &Function,
    sides: &[Def],
    proof: bool,
) -> Option<Vec<String>> {
    let claims = claims(greedy.set, rule);
    let env = claims.first().map_or(code.float_env, |c| FloatEnv::uniform(c.denorm, c.rounding));
    let values = Values::new(greedy.tables(), env, environments(&claims));
    let mut graph: Graph<'_> = EGraph::new(values);
    if proof {
        graph = graph.with_explanations_enabled().without_explanation_length_optimization();
    }
    let ids = add_function(&mut graph, code);
    let (left, right) = (ids[&sides[0]], ids[&sides[1]]);
    graph.rebuild();
    equations.saturate(&mut graph, &LIMITS, |graph| graph.find(left) == graph.find(right));
    if graph.analysis.collapsed || graph.find(left) != graph.find(right) {
        return None;
    }
    let mut names = Vec::new();
    if proof {
        let mut explanation = graph.explain_id_equivalence(left, right);
        let mut stack: Vec<&FlatTerm<_>> = explanation.make_flat_explanation().iter().collect();
        while let Some(term) = stack.pop() {
            let rules = [term.forward_rule, term.backward_rule].into_iter().flatten();
            names.extend(rules.map(|r| r.as_str().to_owned()));
            stack.extend(&term.children);
        }
        names.retain(|name| name != FOLDED && name != MOVED);
    }
    Some(names)
}

/// The environments, none of them `any`, that claims stand for.
fn environments(claims: &[Claim]) -> Vec<FloatEnv> {
    let mut out = Vec::new();
    for claim in claims {
        let denorms: &[Denorm] = match claim.denorm {
            Denorm::Any => &[Denorm::Keep, Denorm::Flush],
            Denorm::Keep => &[Denorm::Keep],
            Denorm::Flush => &[Denorm::Flush],
        };
        let roundings: &[Rounding] = match claim.rounding {
            Rounding::Any => &[Rounding::Rte, Rounding::Rtz],
            Rounding::Rte => &[Rounding::Rte],
            Rounding::Rtz => &[Rounding::Rtz],
        };
        for denorm in denorms {
            for rounding in roundings {
                let env = FloatEnv::uniform(*denorm, *rounding);
                if !out.contains(&env) {
                    out.push(env);
                }
            }
        }
    }
    out
}
