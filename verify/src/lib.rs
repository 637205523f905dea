//! Soundness of rules: every instance, under every float environment that it claims.
//!
//! A rule is sound where everything that its replacement may give is something that its pattern may give, for all inputs
//! that satisfy its facts and break no promise of the pattern. [`check_rule`] tries that: all inputs where they have few
//! bits together, else edge values and random ones. What it evaluates are the trees of the opcode table and of the fact
//! library; there is nothing else that a rule could be compared with.
//!
//! This crate reads no files: texts and rule sets are handed to it.

#![forbid(unsafe_code)]

mod aim;
mod edges;
pub mod egraph;
mod inputs;
mod key;
pub mod ledger;
pub mod mutants;
mod point;
mod remedy;
mod report;
mod shrink;
pub mod smt;

pub use key::{CHECKER, Key, Keys, SEMANTICS};
pub use remedy::remedy;
pub use report::{Kind, Verdict, Witness, context};
use smt::{Prover, Solver};

use deburr_algebraic::interp::direct::{Direct, Found};
use deburr_algebraic::interp::expr::steps;
use deburr_algebraic::interp::term::{Claim, Terms};
use deburr_ir_core::{Denorm, Rounding};
use deburr_rulegen::expr::Base;
use deburr_rulegen::rules::model::{EnvClause, NodeKind, Rule, RuleSet, VarKind, flags};
use inputs::Point;
use std::time::Instant;

/// How hard rules are tried.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Options {
    /// Points an instance and environment where not all are tried.
    pub points: u64,
    /// Points where solvers were asked and couldn't tell; no more than else where each takes milliseconds.
    pub unproved_points: u64,
    /// Bits of all inputs together up to which all are tried.
    pub exhaustive_bits: u32,
    /// Seed of the random points.
    pub seed: u64,
    /// Whether counterexamples are made plain, for who looks at them.
    pub plain: bool,
}

impl Default for Options {
    /// Full size.
    fn default() -> Options {
        Options {
            points: 4000,
            unproved_points: 131_072,
            exhaustive_bits: 24,
            seed: 1,
            plain: true,
        }
    }
}

impl Options {
    /// Full size times `scale`; the bound for trying all inputs shrinks with it.
    pub fn scaled(scale: f64) -> Options {
        let full = Options::default();
        let scaled = |points: u64| (points as f64 * scale).clamp(32.0, 1e9) as u64;
        let bits = match scale {
            s if s >= 1.0 => full.exhaustive_bits,
            s if s >= 0.1 => 16,
            _ => 8,
        };
        Options {
            points: scaled(full.points),
            unproved_points: scaled(full.unproved_points),
            exhaustive_bits: bits,
            ..full
        }
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

/// Checks every instance of a rule under every environment that it claims. What trial can't decide is put to the solvers.
pub fn check_rule(
    set: &RuleSet,
    rule: &Rule,
    options: &Options,
    solvers: &[&dyn Solver],
) -> Vec<Verdict> {
    let mut prover = Prover::new(solvers);
    let mut out = Vec::new();
    for instance in 0..rule.instances.len() {
        for claim in claims(set, rule) {
            out.push(check_claim(set, rule, instance, claim, options, &mut prover));
        }
    }
    out
}

/// Checks one instance under one environment: by trial, by solvers, and by more trial, until something decides.
pub fn check_claim(
    set: &RuleSet,
    rule: &Rule,
    instance: usize,
    claim: Claim,
    options: &Options,
    prover: &mut Prover<'_>,
) -> Verdict {
    let start = Instant::now();
    let mut verdict = check_instance(set, rule, instance, claim, options);
    // What differs within a bound does differ: there is nothing to prove.
    if verdict.kind == Kind::Tested && !prover.is_idle() {
        match proof(set, rule, instance, claim, prover) {
            Some(by) => (verdict.kind, verdict.by) = (Kind::Proved, by),
            None => {
                let points = match is_costly(set, rule, claim) {
                    true => options.points,
                    false => options.unproved_points,
                };
                let more = Options { points, ..options.clone() };
                verdict = check_instance(set, rule, instance, claim, &more);
            }
        }
    }
    verdict.ms = start.elapsed().as_millis() as u64;
    verdict
}

/// Steps of float arithmetic beyond which a point at which each may be flushed takes milliseconds.
const MANY_STEPS: u32 = 8;

/// Whether a point takes so long that few are tried.
fn is_costly(set: &RuleSet, rule: &Rule, claim: Claim) -> bool {
    let of_node = |kind: &NodeKind| match kind {
        NodeKind::Op { op, .. } => set.ops.get(*op).eval.as_ref().map_or(0, |e| steps(e)),
        _ => 0,
    };
    let all: u32 = rule.nodes.iter().map(|n| of_node(&n.kind)).sum();
    let free = claim.denorm != Denorm::Keep || claim.rounding == Rounding::Any;
    free && all > MANY_STEPS
}

/// How solvers prove an instance.
fn proof(
    set: &RuleSet,
    rule: &Rule,
    instance: usize,
    claim: Claim,
    prover: &mut Prover<'_>,
) -> Option<String> {
    let opaque = match rule.has_outside() {
        true => Some(rule.over_any_values(set).ok()?),
        false => None,
    };
    let rule = opaque.as_ref().unwrap_or(rule);
    prover.prove(set, rule, &rule.instances[instance], claim)
}

/// Points at which a rule that keeps what may be poison is tried with poison.
const SLOW_POINTS: u64 = 512;

/// Checks one instance under one environment.
pub fn check_instance(
    set: &RuleSet,
    rule: &Rule,
    instance: usize,
    claim: Claim,
    options: &Options,
) -> Verdict {
    let start = Instant::now();
    let opaque = match rule.has_outside() && rule.waive.is_none() {
        true => Some(rule.over_any_values(set)),
        false => None,
    };
    let (rule, unknown) = match &opaque {
        Some(Ok(opaque)) => (opaque, None),
        Some(Err(why)) => (rule, Some(why)),
        None => (rule, None),
    };
    let bits = &rule.instances[instance];
    let terms = Terms::new(set, rule, bits, claim);
    let mut verdict = Verdict { seed: options.seed, ..Verdict::new(rule, instance, claim) };
    if let Some(why) = &rule.waive {
        (verdict.kind, verdict.why) = (Kind::Waived, why.clone());
        return verdict;
    }
    if let Some(why) = unknown {
        (verdict.kind, verdict.why) = (Kind::Missing, why.clone());
        return verdict;
    }
    let reads = edges::reads(set, rule);
    let near = rule.licences & (flags::REASSOC | flags::TRANSFORM) != 0 || rule.ulps.is_some();
    let approximate = near.then_some(reads.as_slice());
    let mut source = inputs::Source::new(set, rule, &terms, &reads, options, &verdict.instance);
    let direct = Direct::new(&terms, source.expected());
    let mut registers = direct.as_ref().map(Direct::registers).unwrap_or_default();
    let (mut satisfied, mut bounded, mut given_up, mut excused) = (0u64, false, 0u64, 0u64);
    let mut numbers = 0u64;
    while let Some(point) = source.next(satisfied) {
        // The quick way knows of no poison.
        let quick = satisfied >= SLOW_POINTS || !terms.keeps_promises();
        if let (Some(direct), Point::Bits(scalars), true) = (&direct, &point, quick) {
            match direct.try_point(scalars, &mut registers) {
                Found::Outside => continue,
                Found::Same => {
                    satisfied += 1;
                    // It leaves results that are NaN to the other, but for bits that are only moved.
                    numbers += u64::from(!source.has_nan(scalars));
                    continue;
                }
                Found::Unknown => {}
            }
        }
        let point = source.inputs(point);
        if !terms.facts_hold(&point) {
            continue;
        }
        match point::check(rule, &terms, &point, bits, approximate) {
            point::Outcome::Same { nan } => {
                satisfied += 1;
                numbers += u64::from(!nan);
            }
            point::Outcome::Close => {
                satisfied += 1;
                numbers += 1;
                bounded = true;
            }
            point::Outcome::Vacuous => {}
            point::Outcome::Excused => excused += 1,
            point::Outcome::TooMany => given_up += 1,
            point::Outcome::Differs { before, after } => {
                let mut found = shrink::Counterexample { point, before, after };
                if options.plain {
                    found = shrink::shrink(rule, &terms, bits, approximate, found);
                }
                let shrink::Counterexample { point, before, after } = found;
                verdict.kind = Kind::Refuted;
                verdict.witness = Some(report::witness(set, rule, bits, &point, before, after));
                if let Some(Some(read)) = terms.used_bits(&point) {
                    let read: Vec<String> = read.iter().map(|k| format!("{k:#x}")).collect();
                    verdict.why = format!("users read the bits {}", read.join(", "));
                }
                satisfied += 1;
                break;
            }
        }
    }
    (verdict.points, verdict.numbers) = (satisfied, numbers);
    verdict.ms = start.elapsed().as_millis() as u64;
    if verdict.kind == Kind::Refuted {
        return verdict;
    }
    let bounded = bounded || excused > 0;
    verdict.kind = match (satisfied, bounded, source.exhaustive() && given_up == 0) {
        (0, ..) => Kind::Missing,
        (_, true, _) => Kind::Bounded,
        (_, _, true) => Kind::Proved,
        _ => Kind::Tested,
    };
    if excused > 0 {
        verdict.why = format!("at {excused} more points nothing is claimed");
    }
    if verdict.kind == Kind::Proved {
        verdict.by = ledger::BY_EXHAUSTION.into();
    }
    if satisfied == 0 {
        verdict.why = "no input tried satisfies the facts and promises of the pattern".into();
    }
    verdict
}

/// Licences of a rule without which no more is found against it than with them: it asks for too much.
pub fn needless_licences(set: &RuleSet, rule: &Rule, options: &Options) -> Vec<&'static str> {
    let licences = licences_of(rule).into_iter();
    licences.filter(|l| needed_at(set, rule, l, options).is_none()).collect()
}

/// The licences of a rule that is not waived, of which nothing is known.
pub fn licences_of(rule: &Rule) -> Vec<&'static str> {
    let has = |i: &usize| rule.licences & (1 << i) != 0 && rule.waive.is_none();
    (0..flags::NAMES.len()).filter(has).map(|i| flags::NAMES[i]).collect()
}

/// A rule that asks for one licence less.
pub fn without(rule: &Rule, licence: &str) -> Rule {
    let mut less = rule.clone();
    less.licences &= !flags::by_name(licence).unwrap_or(0);
    less
}

/// The first instance and claim that show the need of a licence: refuted without it, or the same bit by bit with it and
/// only within a bound without it. Where results are within the bound either way, nothing shows the need.
pub fn needed_at(
    set: &RuleSet,
    rule: &Rule,
    licence: &str,
    options: &Options,
) -> Option<(usize, Claim)> {
    let options = &Options { plain: false, ..options.clone() };
    let worth = |kind| match kind {
        Kind::Proved | Kind::Tested | Kind::Waived => 2,
        Kind::Bounded => 1,
        Kind::Refuted | Kind::Missing => 0,
    };
    let less = without(rule, licence);
    // Without any, nothing would allow the bound.
    let unbounded = less.ulps.is_some() && less.licences & flags::INEXACT == 0;
    let mut contexts = (0..less.instances.len())
        .flat_map(|i| claims(set, &less).into_iter().map(move |claim| (i, claim)));
    contexts.find(|(instance, claim)| {
        let kind = |rule| check_instance(set, rule, *instance, *claim, options).kind;
        unbounded
            || match worth(kind(&less)) {
                0 => true,
                without => without < worth(kind(rule)),
            }
    })
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

#[cfg(test)]
mod tests {
    use super::*;
    use deburr_rulegen::rules::{Library, Ops, compile_bare};
    use deburr_rulegen::tables::{TableFile, Tables};

    /// Both ways of evaluating a rule, at every point that a source gives: the quick one must not say more than the other.
    fn agree(library: &Library, text: &str) -> (u64, u64) {
        let set = compile_bare(library, &"expr".into(), text).unwrap();
        let rule = &set.rules[0];
        let (mut known, mut unknown) = (0, 0);
        for bits in &rule.instances {
            let claim = Claim { denorm: Denorm::Keep, rounding: Rounding::Rte };
            let terms = Terms::new(&set, rule, bits, claim);
            let direct = Direct::new(&terms, 1 << 16).expect("nothing is free");
            let mut registers = direct.registers();
            let (options, reads) = (Options::scaled(0.05), edges::reads(&set, rule));
            let mut source = inputs::Source::new(&set, rule, &terms, &reads, &options, text);
            while let Some(point) = source.next(known) {
                let Point::Bits(scalars) = &point else { continue };
                let found = direct.try_point(scalars, &mut registers);
                let point = source.inputs(point);
                let holds = terms.facts_hold(&point);
                let same = || {
                    let outcome = point::check(rule, &terms, &point, bits, None);
                    matches!(outcome, point::Outcome::Same { .. })
                };
                match found {
                    Found::Outside => assert!(!holds, "{text} at {point:?}"),
                    Found::Same => assert!(holds && same(), "{text} at {point:?}"),
                    Found::Unknown => unknown += 1,
                }
                known += u64::from(found == Found::Same);
            }
        }
        (known, unknown)
    }

    fn library() -> Library {
        let read = |name: &str| {
            std::fs::read_to_string(format!("{}/../{name}", env!("CARGO_MANIFEST_DIR"))).unwrap()
        };
        let tables =
            Tables::parse(&[TableFile::new("opcodes.toml", read("opcodes.toml"))]).unwrap();
        let (facts, groups) = (read("rules/facts.rules"), read("rules/groups.rules"));
        Library::new(
            Ops::from_tables(&tables),
            (&"facts.rules".into(), &facts),
            (&"groups.rules".into(), &groups),
            &mut Vec::new(),
        )
    }

    /// A split `fmad` flushes its product as a separate `fmul` does, operands kept or not: under `flush` a denormal product
    /// that was kept would give a sum that neither form of the pattern has.
    #[test]
    fn the_product_of_a_split_fmad_is_flushed() {
        let text = "fadd(fmul(a:64, b), c) => fmad(a, b, c) with contract";
        let set = compile_bare(&library(), &"expr".into(), text).unwrap();
        let rule = &set.rules[0];
        let point: Vec<_> = [0xbff2_b238_5519_a163, 1, 0x0010_0000_0000_0001]
            .map(|bits| vec![deburr_algebraic::interp::expr::Out::Bits(bits)].into())
            .into();
        for rounding in [Rounding::Rte, Rounding::Rtz, Rounding::Any] {
            let claim = Claim { denorm: Denorm::Flush, rounding };
            let terms = Terms::new(&set, rule, &rule.instances[0], claim);
            let outcome = point::check(rule, &terms, &point, &rule.instances[0], None);
            assert!(matches!(outcome, point::Outcome::Same { .. }), "{rounding:?}");
        }
    }

    /// Swizzles of constants, computed ones and calls say which component is meant.
    #[test]
    fn components_of_constants_are_told_apart() {
        let library = library();
        let refuted = |text: &str| {
            let set = compile_bare(&library, &"expr".into(), text).unwrap();
            let (rule, bits) = (&set.rules[0], &set.rules[0].instances[0]);
            let claim = Claim { denorm: Denorm::Keep, rounding: Rounding::Rte };
            let terms = Terms::new(&set, rule, bits, claim);
            let (options, reads) = (Options::scaled(0.05), edges::reads(&set, rule));
            let mut source = inputs::Source::new(&set, rule, &terms, &reads, &options, text);
            let (mut points, mut same, mut wrong) = (0, 0, false);
            while let Some(point) = source.next(points) {
                let point = source.inputs(point);
                if terms.facts_hold(&point) {
                    points += 1;
                    let outcome = point::check(rule, &terms, &point, bits, None);
                    same += u32::from(matches!(outcome, point::Outcome::Same { .. }));
                    wrong |= matches!(outcome, point::Outcome::Differs { .. });
                }
            }
            assert!(wrong || same > 20, "{text}: {same} points");
            wrong
        };
        let pack =
            |left: &str, right: &str| format!("pack_64_2x32({left}) => pack_64_2x32({right})");
        let shifted = "where is_pow2(c)";
        for (left, right, clause) in [
            ("iand(a, #c)", "vec2(iand(a.x, c.x), iand(a.y, c.y))", ""),
            ("imul(a, #c)", "vec2(ishl(a.x, ilog2(c).x), ishl(a.y, ilog2(c.y)))", shifted),
            ("imul(a.yx, #c)", "ishl(a.yx, ilog2(c.yx).yx)", shifted),
        ] {
            let right = pack(left, right) + " " + clause;
            assert!(!refuted(&right), "{right}");
        }
        for (left, right, clause) in [
            ("iand(a, #c)", "vec2(iand(a.x, c.y), iand(a.y, c.y))", ""),
            ("imul(a, #c)", "ishl(a, ilog2(c).yx)", shifted),
            ("imul(a, #c)", "ishl(a, ilog2(c.yx))", shifted),
        ] {
            let wrong = pack(left, right) + " " + clause;
            assert!(refuted(&wrong), "{wrong}");
        }
    }

    #[test]
    fn straight_line_code_says_what_the_terms_say() {
        let library = library();
        for text in [
            "iadd(isub(a:8, b), c) => isub(iadd(a, c), b)",
            "imul(a:8, #c) => ishl(a, ilog2(c)) where is_pow2(c)",
            "vec2(a.y, a.x) => mov(a.yx)",
            "vec_insert2(a:8, b, 1) => vec2(a.x, b)",
            "ball_iequal2(a:8, b) => iand(ieq(a.x, b.x), ieq(a.y, b.y))",
            "bcsel(inot(c), a:16, b) => bcsel(c, b, a)",
            "fabs(fneg(a:16)) => fabs(a)",
            "bcsel(ilt(a:8, b), m@imin(a, b), a) => imin(m, a)",
        ] {
            let (known, _) = agree(&library, text);
            assert!(known > 100, "{text}: {known} points");
        }
        // What it can't know it leaves to the other: operands that differ, quotients by zero, NaN.
        for text in [
            "iadd(a:8, b) => isub(a, b)",
            "udiv(a:8, b) => umin(a, udiv(a, b))",
            "fadd(a:16, b) => fadd(b, fmul(a, 1.0))",
        ] {
            let (known, unknown) = agree(&library, text);
            assert!(known > 0 && unknown > 0, "{text}: {known} and {unknown}");
        }
    }
}
