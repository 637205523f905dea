//! What `deburr opt` tells of an input.

use crate::json::{Object, list};
use deburr_ir_core::{InstrKind, Module};
use deburr_passes::Report;
use deburr_spirv::Counts;

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

/// An input that was optimised.
pub struct Done {
    pub path: String,
    pub out: String,
    pub before: Option<Counts>,
    pub after: Option<Counts>,
    pub kinds_before: Kinds,
    pub kinds_after: Kinds,
    pub report: Report,
    pub ms: f64,
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
        if self.report.budget_stop {
            out.push("stopped before the fixed point".into());
        }
        out
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

    /// How often each rule fired, the most frequent first.
    pub fn rules(&self) -> Vec<String> {
        let rules = &self.report.rules;
        let mut counts: Vec<(&str, u64)> =
            rules.counts.iter().map(|(name, n)| (*name, *n)).collect();
        counts.sort_by_key(|(name, n)| (std::cmp::Reverse(*n), *name));
        let mut out = vec![format!("{:8} rewrites, {} folded", rules.fired, rules.folded)];
        out.extend(counts.iter().map(|(name, n)| format!("{n:8} {name}")));
        out
    }

    /// Every rewrite.
    pub fn trace(&self) -> Vec<String> {
        let tell = |t: &deburr_algebraic::TraceEntry| {
            format!("{:?} {:?} -> {:?} by {} at {}:{}", t.op, t.old, t.new, t.rule, t.file, t.line)
        };
        self.report.rules.trace.iter().map(tell).collect()
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
        // Every instruction that is read is translated: none is carried through as it was.
        let line = line
            .raw("carried", 0)
            .raw("declined", "{}")
            .raw("budget_stop", self.report.budget_stop);
        let line = line.raw("rounds", self.report.rounds).raw("ms", format!("{:.3}", self.ms));
        let rules =
            self.report.rules.counts.iter().fold(Object::nested(), |o, (rule, n)| o.raw(rule, n));
        line.raw("passes", list(passes)).raw("rules", rules.end()).end()
    }
}
