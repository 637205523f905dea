//! What `deburr opt` tells of an input.

use crate::json::{Object, list};
use crate::rule_stats::RuleStats;
use deburr_ir_core::{DerefKind, InstrKind, InstrView, Module, SpecValue};
use deburr_passes::Report;
use deburr_spirv::Counts;
use std::collections::HashSet;

/// Counts of IR instructions by kind, in the order of [`NAMES`].
#[derive(Clone, Copy, Default)]
pub struct Kinds([u64; 8]);

/// The kinds that are counted.
const NAMES: [&str; 8] = ["alu", "intrinsic", "tex", "deref", "phi", "load_const", "jump", "call"];

impl Kinds {
    /// Counts the instructions of a module.
    pub fn of(m: &Module) -> Self {
        let mut kinds = Kinds::default();
        for f in m.functions.iter().filter(|f| f.has_body()) {
            for instr in f.all_instrs() {
                let slot = match f.kind(instr) {
                    InstrKind::Alu => 0,
                    InstrKind::Intrinsic => 1,
                    InstrKind::Tex => 2,
                    InstrKind::Deref => 3,
                    InstrKind::Phi => 4,
                    InstrKind::LoadConst | InstrKind::Undef => 5,
                    InstrKind::Jump => 6,
                    InstrKind::Call => 7,
                    InstrKind::ParallelCopy => continue,
                };
                kinds.0[slot] += 1;
            }
        }
        kinds
    }

    fn json(&self) -> String {
        NAMES.iter().zip(self.0).fold(Object::nested(), |o, (name, n)| o.raw(name, n)).end()
    }
}

/// What the pipeline left as it was.
#[derive(Clone, Debug, Default)]
pub struct Left {
    /// Instructions that the IR holds by their SPIR-V names: operations on specialisation constants. Every other one that
    /// is read is translated.
    carried: usize,
    /// Sites that a pass of the pipeline could not or would not take, by pass.
    declined: Vec<(&'static str, usize)>,
}

impl Left {
    /// Counts what is left in a module after a run.
    pub fn of(m: &Module, report: &Report) -> Self {
        let by_name = |c: &&deburr_ir_core::SpecConstant| match c.value {
            SpecValue::Op { .. } => true,
            SpecValue::Scalar { .. } | SpecValue::Composite(_) => false,
        };
        let (mut calls, mut variables) = (0, 0);
        for f in m.functions.iter().filter(|f| f.has_body()) {
            let mut locals = HashSet::new();
            for instr in f.all_instrs() {
                match f.view(instr) {
                    InstrView::Call(callee) => calls += usize::from(m[callee].has_body()),
                    InstrView::Deref(deref) => {
                        if let DerefKind::Var(var) = deref.kind
                            && var.is_local()
                        {
                            locals.insert(var.slot());
                        }
                    }
                    InstrView::Alu(_)
                    | InstrView::Intrinsic(..)
                    | InstrView::Tex(_)
                    | InstrView::LoadConst(_)
                    | InstrView::Undef
                    | InstrView::Phi(_)
                    | InstrView::Jump(_)
                    | InstrView::ParallelCopy => {}
                }
            }
            variables += locals.len();
        }
        let ran = |(name, n): &(&'static str, usize)| {
            *n > 0 && report.passes.iter().any(|p| p.name == *name)
        };
        let declined = [("inline", calls), ("vars_to_ssa", variables)];
        Left {
            carried: m.spec_consts.iter().filter(by_name).count(),
            declined: declined.into_iter().filter(ran).collect(),
        }
    }
}

/// An input that was optimised.
pub struct Done {
    pub path: String,
    pub out: String,
    pub before: Option<Counts>,
    pub after: Option<Counts>,
    pub kinds_before: Kinds,
    pub kinds_after: Kinds,
    pub left: Left,
    pub report: Report,
    pub rule_stats: Option<RuleStats>,
    pub ms: f64,
}

/// What a site that a pass left is called.
fn site(pass: &str) -> &'static str {
    match pass {
        "inline" => "calls",
        _ => "variables in memory",
    }
}

impl Done {
    /// Counts before and after: in one line, or as a table; `all` adds the kinds of the IR.
    pub fn text(&self, short: bool, all: bool) -> Vec<String> {
        let (b, a) = (self.before.unwrap_or_default(), self.after.unwrap_or_default());
        let head = format!("{} -> {}", self.path, self.out);
        if short {
            return vec![format!(
                "{head}: body {} -> {}, cost {} -> {}",
                b.body, a.body, b.cost, a.cost
            )];
        }
        let mut out = vec![head, format!("{:16}{:>8}{:>8}", "", "before", "after")];
        let mut row = |name: &str, before: u64, after: u64| {
            let change = match before {
                0 => String::new(),
                _ => format!("{:>+9.1} %", (after as f64 / before as f64 - 1.0) * 100.0),
            };
            out.push(format!("{name:16}{before:8}{after:8}{change}").trim_end().to_owned());
        };
        row("body", b.body, a.body);
        row("cost", b.cost, a.cost);
        row("moves", b.moves, a.moves);
        row("loads", b.loads, a.loads);
        row("handle loads", b.handle_loads, a.handle_loads);
        row("stores", b.stores, a.stores);
        if all {
            let kinds = self.kinds_before.0.into_iter().zip(self.kinds_after.0);
            for (name, (before, after)) in NAMES.into_iter().zip(kinds) {
                row(&format!("ir {name}"), before, after);
            }
        }
        if all {
            out.extend(self.growth());
            if self.left.carried > 0 {
                out.push(format!(
                    "{} operations on specialisation constants carried through",
                    self.left.carried
                ));
            }
            for (pass, n) in &self.left.declined {
                out.push(format!("{n} {} left by `{pass}`", site(pass)));
            }
        }
        if self.report.budget_stop {
            out.push("stopped before the fixed point".into());
        }
        out
    }

    /// The pass that added most where the result is larger than the input, and how many instructions of the IR it added;
    /// `None` as the pass where none added any.
    fn payer(&self) -> Option<Option<(&'static str, i64)>> {
        let (b, a) = (self.before?, self.after?);
        if a.body <= b.body && a.cost <= b.cost {
            return None;
        }
        let grown = self.report.passes.iter().filter(|p| p.delta > 0);
        Some(grown.max_by_key(|p| p.delta).map(|p| (p.name, p.delta)))
    }

    fn growth(&self) -> Option<String> {
        Some(match self.payer()? {
            Some((pass, n)) => format!("larger than the input: `{pass}` added {n} instructions"),
            None => "larger than the input: by reading and writing".into(),
        })
    }

    /// What each pass did.
    pub fn passes(&self) -> Vec<String> {
        let mut out = vec![format!(
            "{:18}{:>6}{:>9}{:>13}{:>11}",
            "pass", "runs", "changed", "instructions", "ms"
        )];
        for pass in &self.report.passes {
            let ms = pass.time.as_secs_f64() * 1e3;
            let line = format!(
                "{:18}{:6}{:9}{:>+13}{ms:11.3}",
                pass.name, pass.runs, pass.changed, pass.delta
            );
            out.push(line);
        }
        out
    }

    /// How often each rule fired and was tried, the most frequent first; also rules that don't fire with `idle`.
    pub fn rules(&self, idle: bool) -> Vec<String> {
        let rules = &self.report.rules;
        let mut out = vec![format!("{:8} rewrites, {} folded", rules.fired, rules.folded)];
        out.extend(self.rule_stats.iter().flat_map(|stats| stats.lines(idle)));
        out
    }

    /// Every rewrite.
    pub fn trace(&self) -> Vec<String> {
        self.report.rules.trace.iter().map(crate::optimiser::rewrite).collect()
    }

    /// The line of `--json`.
    pub fn json(&self) -> String {
        let (b, a) = (self.before.unwrap_or_default(), self.after.unwrap_or_default());
        let passes = self.report.passes.iter().map(|p| {
            let ms = format!("{:.3}", p.time.as_secs_f64() * 1e3);
            let entry = Object::nested().str("name", p.name).raw("runs", p.runs).raw("ms", ms);
            entry.raw("changed", p.changed).raw("delta", p.delta).end()
        });
        let line = Object::line().str("file", &self.path).str("out", &self.out).raw("ok", true);
        let line = line.raw("body_before", b.body).raw("body_after", a.body);
        let line = line.raw("cost_before", b.cost).raw("cost_after", a.cost);
        let line = line
            .raw("ir_before", self.kinds_before.json())
            .raw("ir_after", self.kinds_after.json());
        let declined = self.left.declined.iter().fold(Object::nested(), |o, (p, n)| o.raw(p, n));
        let line = line
            .raw("carried", self.left.carried)
            .raw("declined", declined.end())
            .raw("budget_stop", self.report.budget_stop);
        let payer = match self.payer() {
            None => "null".into(),
            Some(None) => Object::nested().raw("pass", "null").raw("delta", 0).end(),
            Some(Some((p, n))) => Object::nested().str("pass", p).raw("delta", n).end(),
        };
        let line = line.raw("grown_by", payer);
        let line = line.raw("rounds", self.report.rounds).raw("ms", format!("{:.3}", self.ms));
        let rules =
            self.report.rules.counts.iter().fold(Object::nested(), |o, (rule, n)| o.raw(rule, n));
        let line = line.raw("passes", list(passes)).raw("rules", rules.end());
        match &self.rule_stats {
            None => line.end(),
            Some(stats) => line.raw("rule_stats", stats.json()).end(),
        }
    }
}
