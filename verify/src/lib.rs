//! Soundness of rules: every instance, under every float environment that it claims.
//!
//! A rule is sound where everything that its replacement may give is something that its pattern may give, for all inputs
//! that satisfy its facts and break no promise of the pattern. [`check_rule`] tries that: all inputs where they have few
//! bits together, else edge values and random ones. What it evaluates are the trees of the opcode table and of the fact
//! library; there is nothing else that a rule could be compared with.
//!
//! This crate reads no files: texts and rule sets are handed to it.

#![forbid(unsafe_code)]

mod inputs;
mod point;
mod report;

pub use report::{Kind, Verdict, Witness};

use deburr_algebraic::interp::term::{Claim, Terms};
use deburr_ir_core::{Denorm, Rounding};
use deburr_rulegen::expr::Base;
use deburr_rulegen::rules::model::{EnvClause, NodeKind, Rule, RuleSet, VarKind, flags};
use std::time::Instant;

/// How hard rules are tried.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Options {
    /// Points an instance and environment where not all are tried.
    pub points: u64,
    /// Bits of all inputs together up to which all are tried.
    pub exhaustive_bits: u32,
    /// Seed of the random points.
    pub seed: u64,
}

impl Default for Options {
    /// Full size.
    fn default() -> Options {
        Options { points: 4000, exhaustive_bits: 24, seed: 1 }
    }
}

impl Options {
    /// Full size times `scale`; the bound for trying all inputs shrinks with it.
    pub fn scaled(scale: f64) -> Options {
        let full = Options::default();
        let points = (full.points as f64 * scale).clamp(32.0, 1e9) as u64;
        let bits = match scale {
            s if s >= 1.0 => full.exhaustive_bits,
            s if s >= 0.1 => 16,
            _ => 8,
        };
        Options { points, exhaustive_bits: bits, ..full }
    }
}

/// The environments that a rule claims; one if none of its operations depends on it.
pub fn claims(set: &RuleSet, rule: &Rule) -> Vec<Claim> {
    let float = rule.nodes.iter().any(|n| match &n.kind {
        NodeKind::Op { op, .. } => set.ops.get(*op).float,
        NodeKind::Compute { expr, .. } => {
            let mut float = false;
            expr.walk(&mut |e| float |= e.ty.base == Base::Float);
            float
        }
        _ => false,
    });
    if !float {
        return vec![Claim { denorm: Denorm::Keep, rounding: Rounding::Rte }];
    }
    let EnvClause { denorm, rounding } = rule.env;
    let mut out = Vec::new();
    for (i, d) in [Denorm::Keep, Denorm::Flush, Denorm::Any].into_iter().enumerate() {
        for (j, r) in [Rounding::Rte, Rounding::Rtz, Rounding::Any].into_iter().enumerate() {
            if denorm >> i & 1 != 0 && rounding >> j & 1 != 0 {
                out.push(Claim { denorm: d, rounding: r });
            }
        }
    }
    out
}

/// Checks every instance of a rule under every environment that it claims.
pub fn check_rule(set: &RuleSet, rule: &Rule, options: &Options) -> Vec<Verdict> {
    let mut out = Vec::new();
    for instance in 0..rule.instances.len() {
        for claim in claims(set, rule) {
            out.push(check_instance(set, rule, instance, claim, options));
        }
    }
    out
}

/// Checks one instance under one environment.
pub fn check_instance(
    set: &RuleSet,
    rule: &Rule,
    instance: usize,
    claim: Claim,
    options: &Options,
) -> Verdict {
    let start = Instant::now();
    let bits = &rule.instances[instance];
    let terms = Terms::new(set, rule, bits, claim);
    let name = rule.instance_name(instance);
    let context = report::context(rule, claim);
    let mut verdict = Verdict {
        rule: rule.base.clone(),
        instance: name.clone(),
        size: bits[rule.nodes[rule.pattern].class],
        shape: name.rsplit_once('x').map_or(1, |(_, n)| n.parse().unwrap_or(1)),
        context,
        kind: Kind::Tested,
        points: 0,
        ms: 0,
        witness: None,
        why: String::new(),
    };
    if let Some(why) = &rule.waive {
        (verdict.kind, verdict.why) = (Kind::Waived, why.clone());
        return verdict;
    }
    let approximate =
        rule.licences & (flags::REASSOC | flags::TRANSFORM) != 0 || rule.ulps.is_some();
    let mut source = inputs::Source::new(rule, &terms, options, &name);
    let (mut satisfied, mut bounded, mut given_up) = (0u64, false, 0u64);
    while let Some(point) = source.next(satisfied) {
        if !terms.facts_hold(&point) {
            continue;
        }
        match point::check(set, rule, &terms, &point, bits, approximate) {
            point::Outcome::Same => satisfied += 1,
            point::Outcome::Close => {
                satisfied += 1;
                bounded = true;
            }
            point::Outcome::Vacuous => {}
            point::Outcome::TooMany => given_up += 1,
            point::Outcome::Differs { before, after } => {
                verdict.kind = Kind::Refuted;
                verdict.witness = Some(report::witness(rule, bits, &point, before, after));
                satisfied += 1;
                break;
            }
        }
    }
    verdict.points = satisfied;
    verdict.ms = start.elapsed().as_millis() as u64;
    if verdict.kind == Kind::Refuted {
        return verdict;
    }
    verdict.kind = match (satisfied, bounded, source.exhaustive() && given_up == 0) {
        (0, ..) => Kind::Missing,
        (_, true, _) => Kind::Bounded,
        (_, _, true) => Kind::Proved,
        _ => Kind::Tested,
    };
    if satisfied == 0 {
        verdict.why = "no input tried satisfies the facts and promises of the pattern".into();
    }
    verdict
}

/// Licences of a rule without which nothing is found against it: it asks for too much.
pub fn needless_licences(set: &RuleSet, rule: &Rule, options: &Options) -> Vec<&'static str> {
    let mut out = Vec::new();
    for (i, name) in flags::NAMES.iter().enumerate() {
        if rule.licences & (1 << i) == 0 {
            continue;
        }
        let mut less = rule.clone();
        less.licences &= !(1 << i);
        let refuted = check_rule(set, &less, options)
            .iter()
            .any(|v| v.kind != Kind::Proved && v.kind != Kind::Tested);
        if !refuted {
            out.push(*name);
        }
    }
    out
}

/// Runs the `test` lines of a rule at every size where their values fit; gives what went wrong.
pub fn run_tests(set: &RuleSet, rule: &Rule) -> Vec<String> {
    let mut out = Vec::new();
    for (args, expected) in &rule.tests {
        let mut ran = false;
        for (i, bits) in rule.instances.iter().enumerate() {
            let claim = Claim { denorm: Denorm::Keep, rounding: Rounding::Rte };
            let terms = Terms::new(set, rule, bits, claim);
            match point::example(set, rule, &terms, args, expected, bits) {
                Some(Ok(())) => ran = true,
                Some(Err(why)) => {
                    ran = true;
                    out.push(format!("{}: {why}", rule.instance_name(i)));
                }
                None => {}
            }
        }
        if !ran {
            out.push(format!("{}: the values of a test fit no size", rule.name));
        }
    }
    out
}

/// Whether a variable is an input: not an operation that the pattern binds.
fn is_input(rule: &Rule, var: usize) -> bool {
    !matches!(rule.vars[var].kind, VarKind::Bound(_))
}
