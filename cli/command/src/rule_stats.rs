//! `deburr opt --rule-stats`: how often each rule fired and was tried, and how long trying it took.
//!
//! The compiled matchers count nothing but what fires, so that they cost the same with and without. When an instruction has
//! its turn, the reference matcher tries the rules there first, one after the other as far as the one that applies, and
//! changes nothing. So attempts are what a matcher without shared tests makes, and times are the reference matcher's: they
//! say which rules are dear, not what the compiled ones take.

use deburr_algebraic::interp::matcher::Interpreter;
use deburr_algebraic::{Guest, Rewriter, RuleInfo};
use deburr_ir_core::{Function, Instr};
use deburr_rulegen::rules::RuleSet;
use std::time::Duration;

/// What is known of one rule.
#[derive(Clone, Copy, Debug, Default)]
pub struct Tries {
    fired: u64,
    tried: u64,
    time: Duration,
}

impl Tries {
    /// Microseconds.
    fn micros(&self) -> f64 {
        self.time.as_secs_f64() * 1e6
    }
}

/// Counts of rules, by their numbers.
#[derive(Clone, Debug)]
pub struct RuleStats {
    rules: &'static [RuleInfo],
    tries: Vec<Tries>,
}

impl RuleStats {
    /// None yet.
    pub fn new(rules: &'static [RuleInfo]) -> Self {
        RuleStats { rules, tries: vec![Tries::default(); rules.len()] }
    }

    /// Adds how often rules fired, by name.
    pub fn fired<'a>(&mut self, counts: impl Iterator<Item = (&'a str, u64)>) {
        for (name, n) in counts {
            if let Some(at) = self.rules.iter().position(|rule| rule.name == name) {
                self.tries[at].fired += n;
            }
        }
    }

    /// Adds those of another input.
    pub fn add(&mut self, other: &RuleStats) {
        for (all, more) in self.tries.iter_mut().zip(&other.tries) {
            all.fired += more.fired;
            all.tried += more.tried;
            all.time += more.time;
        }
    }

    /// Rules with their counts: what fired first, the most frequent first.
    fn sorted(&self) -> Vec<(&'static str, Tries)> {
        let mut all: Vec<_> = self.rules.iter().map(|r| r.name).zip(self.tries.clone()).collect();
        all.sort_by_key(|(name, t)| (std::cmp::Reverse((t.fired, t.tried)), *name));
        all
    }

    /// One line a rule that fired, or a rule that doesn't fire too with `idle`; last how many never fired.
    pub fn lines(&self, idle: bool) -> Vec<String> {
        let line = |(name, t): &(&str, Tries)| {
            format!("{:8} {name:40} tried {:8} times, {:9.1} µs", t.fired, t.tried, t.micros())
        };
        let all = self.sorted();
        let never = all.iter().filter(|(_, t)| t.fired == 0).count();
        let mut out: Vec<String> =
            all.iter().filter(|(_, t)| idle || t.fired > 0).map(line).collect();
        let untried = all.iter().filter(|(_, t)| t.tried == 0).count();
        out.push(format!(
            "{never:8} of {} rules never fired, of which {untried} were never tried",
            all.len()
        ));
        out
    }

    /// For `--json`: every rule that was tried.
    pub fn json(&self) -> String {
        let all = self.sorted();
        let tried = all.iter().filter(|(_, t)| t.tried > 0 || t.fired > 0);
        crate::json::list(tried.map(|(name, t)| {
            let entry = crate::json::Object::nested().str("name", name).raw("fired", t.fired);
            entry.raw("tried", t.tried).raw("us", format!("{:.1}", t.micros())).end()
        }))
    }
}

/// Tries rules as instructions have their turns, and lets others replace them.
pub struct Meter<'r> {
    /// Groups in the order in which their rules are tried, with the number of the set's first rule.
    groups: Vec<(&'r str, Interpreter<'r>, usize)>,
    /// The group that is being run.
    group: String,
    stats: RuleStats,
}

impl<'r> Meter<'r> {
    /// For the rules built in, numbered as in `rules`, and a user's own, which are numbered behind them and come first.
    pub fn new(
        rules: &'static [RuleInfo],
        built_in: &'r RuleSet,
        own: Option<&'r RuleSet>,
    ) -> Self {
        let sets = own.map(|set| (set, built_in.rules.len())).into_iter().chain([(built_in, 0)]);
        let groups = sets.flat_map(|(set, first)| {
            let names = set.groups.iter().map(|(name, _)| &**name);
            names.filter_map(move |name| Some((name, Interpreter::new(set, name)?, first)))
        });
        let groups = groups.collect();
        Meter { groups, group: String::new(), stats: RuleStats::new(rules) }
    }

    /// What was counted.
    pub fn stats(self) -> RuleStats {
        self.stats
    }
}

impl Guest for Meter<'_> {
    fn begin(&mut self, _: &Function, group: &str) {
        group.clone_into(&mut self.group);
    }

    fn turn(&mut self, cx: &mut Rewriter<'_>, instr: Instr) -> bool {
        let tries = &mut self.stats.tries;
        for (_, interpreter, first) in self.groups.iter().filter(|(g, ..)| *g == self.group) {
            let tried = &mut |rule: usize, time| {
                if let Some(tries) = tries.get_mut(first + rule) {
                    tries.tried += 1;
                    tries.time += time;
                }
            };
            if interpreter.try_each(cx, instr, |rule| first + rule, tried) {
                break;
            }
        }
        // Nobody's turn is taken.
        false
    }
}
