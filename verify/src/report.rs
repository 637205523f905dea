//! Verdicts as values, and their JSON lines.

use crate::ledger::Entry;
use deburr_algebraic::interp::expr::{Out, Value};
use deburr_algebraic::interp::term::{Claim, Inputs};
use deburr_ir_core::{Denorm, Rounding};
use deburr_rulegen::expr::Base;
use deburr_rulegen::rules::model::{NodeKind, Rule, RuleSet, VarKind, flags};
use std::fmt;

/// What was found of an instance.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Every input was tried.
    Proved,
    /// Edge values and random ones were tried.
    Tested,
    /// Results differ by no more than the rule's bound.
    Bounded,
    /// The rule says why it isn't checked.
    Waived,
    /// There is a counterexample.
    Refuted,
    /// Nothing was tried that the rule speaks of.
    Missing,
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Kind::Proved => "proved",
            Kind::Tested => "tested",
            Kind::Bounded => "bounded",
            Kind::Waived => "waived",
            Kind::Refuted => "refuted",
            Kind::Missing => "missing",
        })
    }
}

/// A counterexample.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Witness {
    /// Variables with their components in hexadecimal.
    pub inputs: Vec<(String, String)>,
    /// What the pattern may give.
    pub before: String,
    /// What the replacement gives.
    pub after: String,
    /// Bits of each variable and how they are read; behind them those of the results.
    pub types: Vec<(u8, Base)>,
}

/// What was found of one instance under one environment.
#[derive(Clone, Debug)]
pub struct Verdict {
    /// The rule's name.
    pub rule: String,
    /// The instance.
    pub instance: String,
    /// Bits of the root, or of its operands where it gives a boolean.
    pub size: u8,
    /// Components of the root.
    pub shape: u8,
    /// Environment and licences.
    pub context: String,
    /// What was found.
    pub kind: Kind,
    /// By what: `exhaustion`, `trial`, or the solver that proved it.
    pub by: String,
    /// Inputs that satisfied facts and promises.
    pub points: u64,
    /// Those of them at which the pattern isn't NaN.
    pub numbers: u64,
    /// Seed of the random ones.
    pub seed: u64,
    /// Licences of the rule without which something is found against this instance.
    pub needs: Vec<&'static str>,
    /// Milliseconds that it took.
    pub ms: u64,
    /// The counterexample of a refuted instance.
    pub witness: Option<Witness>,
    /// More about it, for people.
    pub why: String,
}

impl Verdict {
    /// What the ledger says of an instance.
    pub fn recorded(rule: &Rule, instance: usize, claim: Claim, entry: &Entry) -> Verdict {
        let needs = entry.needs.iter().filter_map(|l| flags::by_name(l));
        Verdict {
            kind: entry.kind,
            by: entry.by.clone(),
            points: entry.points,
            numbers: entry.numbers,
            seed: entry.seed,
            needs: needs.map(|flag| flags::NAMES[flag.trailing_zeros() as usize]).collect(),
            why: rule.waive.clone().unwrap_or_default(),
            ..Verdict::new(rule, instance, claim)
        }
    }

    /// Nothing is found yet.
    pub(crate) fn new(rule: &Rule, instance: usize, claim: Claim) -> Verdict {
        let name = rule.instance_name(instance);
        Verdict {
            rule: rule.base.clone(),
            size: rule.size(&rule.instances[instance]),
            shape: name.rsplit_once('x').map_or(1, |(_, n)| n.parse().unwrap_or(1)),
            instance: name,
            context: context(rule, claim),
            kind: Kind::Tested,
            by: "trial".into(),
            points: 0,
            numbers: 0,
            seed: 0,
            needs: Vec::new(),
            ms: 0,
            witness: None,
            why: String::new(),
        }
    }

    /// Whether the rule may stay.
    pub fn is_good(&self) -> bool {
        !matches!(self.kind, Kind::Refuted | Kind::Missing)
    }

    /// The line of `deburr verify --json`.
    pub fn to_json(&self) -> String {
        let mut out = format!(
            "{{\"schema\":1,\"rule\":{:?},\"instance\":{:?},\"size\":{},\"shape\":{},\"context\":{:?},\"verdict\":\"{}\",\"by\":\"{}\",\"points\":{},\"ms\":{}",
            self.rule,
            self.instance,
            self.size,
            self.shape,
            self.context,
            self.kind,
            self.by,
            self.points,
            self.ms
        );
        if let Some(w) = &self.witness {
            let inputs: Vec<String> =
                w.inputs.iter().map(|(n, v)| format!("{n:?}:{v:?}")).collect();
            out.push_str(&format!(
                ",\"witness\":{{\"inputs\":{{{}}},\"before\":{:?},\"after\":{:?}}}",
                inputs.join(","),
                w.before,
                w.after
            ));
        }
        out.push('}');
        out
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({}): {}, {} points", self.instance, self.context, self.kind, self.points)?;
        if let Some(w) = &self.witness {
            let inputs: Vec<String> = w.inputs.iter().map(|(n, v)| format!("{n} = {v}")).collect();
            write!(f, "; at {}: before {}, after {}", inputs.join(", "), w.before, w.after)?;
        }
        if !self.why.is_empty() {
            write!(f, "; {}", self.why)?;
        }
        Ok(())
    }
}

/// Environment and licences in one word.
pub fn context(rule: &Rule, claim: Claim) -> String {
    let denorm = match claim.denorm {
        Denorm::Keep => "keep",
        Denorm::Flush => "flush",
        Denorm::Any => "any",
    };
    let rounding = match claim.rounding {
        Rounding::Rte => "rte",
        Rounding::Rtz => "rtz",
        Rounding::Any => "any",
    };
    let mut out = format!("{denorm},{rounding}");
    for (i, name) in flags::NAMES.iter().enumerate() {
        if rule.licences & (1 << i) != 0 {
            out.push('+');
            out.push_str(name);
        }
    }
    out
}

fn show(bits: u8, value: &Value) -> String {
    let digits = usize::from(bits).div_ceil(4);
    let parts: Vec<String> = value
        .iter()
        .map(|o| match o {
            Out::Bits(v) => format!("0x{v:0digits$x}"),
            Out::AnyNan => "any NaN".into(),
            Out::Any => "anything".into(),
            Out::Poison => "poison".into(),
        })
        .collect();
    match parts.as_slice() {
        [one] => one.clone(),
        list => format!("({})", list.join(", ")),
    }
}

pub(crate) fn witness(
    set: &RuleSet,
    rule: &Rule,
    bits: &[u8],
    point: &Inputs,
    before: Vec<Value>,
    after: Value,
) -> Witness {
    let root = bits[rule.nodes[rule.pattern].class];
    let inputs = rule.vars.iter().zip(point).filter(|(v, _)| !matches!(v.kind, VarKind::Bound(_)));
    let base = match &rule.nodes[rule.pattern].kind {
        NodeKind::Op { op, .. } => set.ops.get(*op).output.base,
        _ => Base::Uint,
    };
    let mut types: Vec<(u8, Base)> = inputs.clone().map(|(v, _)| (bits[v.class], v.base)).collect();
    types.push((root, base));
    let before: Vec<String> = before.iter().map(|v| show(root, v)).collect();
    Witness {
        inputs: inputs.map(|(v, value)| (v.name.clone(), show(bits[v.class], value))).collect(),
        before: before.join(" | "),
        after: show(root, &after),
        types,
    }
}
