//! `deburr verify --redundant`, `--siblings`, `--gap`: what the rules are as equations.

use crate::Tree;
use crate::codes;
use crate::json::{Object, list, string};
use crate::parallel::in_order;
use crate::report::{Diagnostic, Exit, Kind, Reporter, Trouble};
use crate::rulebook::Rulebook;
use deburr_rulegen::rules::RuleSet;
use deburr_verify::egraph::{Greedy, Need, derivation, need, together};
use std::path::Path;
use std::time::Duration;

/// Which report is wanted.
#[derive(clap::Args)]
pub struct Asked {
    /// Report rules that follow from the others
    #[arg(long, conflicts_with_all = ["expr", "size"])]
    redundant: bool,
}

impl Asked {
    /// Whether one is.
    pub fn any(&self) -> bool {
        self.redundant
    }
}

/// Other options that a report follows.
pub struct With<'a> {
    /// A rule file in place of the tree's.
    pub rules: Option<&'a Path>,
    /// What the names of the rules that are looked at have in them.
    pub rule: Option<&'a str>,
    /// Share of the rules that is looked at.
    pub cases: f64,
    /// Time for a question to a solver.
    pub budget: Option<Duration>,
    /// Rules at a time.
    pub jobs: usize,
}

impl With<'_> {
    /// The rules that are looked at, by number.
    fn chosen(&self, set: &RuleSet) -> Result<Vec<usize>, Trouble> {
        let names = |n: &usize| {
            let rule = &set.rules[*n];
            self.rule.is_none_or(|name| rule.name.contains(name))
        };
        let all: Vec<usize> = (0..set.rules.len()).filter(names).collect();
        if let (Some(name), true) = (self.rule, all.is_empty()) {
            let message = format!("no rule is called `{name}`");
            return Err(Diagnostic::new("rules", Kind::Invalid, codes::ENTRY_NAME, message).into());
        }
        let step = (1.0 / self.cases).round().max(1.0) as usize;
        Ok(all.into_iter().step_by(step).collect())
    }
}

/// Runs the report that is asked for.
pub fn run(_asked: &Asked, with: &With<'_>, tree: &Tree, reporter: &mut Reporter) -> Exit {
    let set = Rulebook::of(tree).and_then(|book| match with.rules {
        Some(file) => book.of_file(file),
        None => book.rules(),
    });
    let chosen = set.and_then(|set| with.chosen(&set).map(|chosen| (set, chosen)));
    let (set, chosen) = match chosen {
        Ok(found) => found,
        Err(trouble) => return reporter.diagnose_all(&trouble),
    };
    let greedy = match with.rules {
        Some(_) => Greedy::interpreted(&set, tree.rules),
        None => Greedy::compiled(&set, tree.rules),
    };
    redundant(&greedy, &chosen, with, reporter)
}

fn redundant(
    greedy: &Greedy<'_>,
    chosen: &[usize],
    with: &With<'_>,
    reporter: &mut Reporter,
) -> Exit {
    let set = greedy.set;
    let mut derived = Vec::new();
    let mut counts = [0; 5];
    let mut done = 0;
    let mut equal = 0;
    let look = |n: &usize| {
        let need = need(greedy, *n, &[]);
        // What the driver can do without is derived already.
        let asked = matches!(need, Need::Needed | Need::Form);
        (*n, need, asked.then(|| derivation(greedy, *n)).flatten())
    };
    in_order(chosen, with.jobs, look, |(n, need, derivation)| {
        if let Some(by) = derivation {
            equal += 1;
            tell_derived(set, n, &by, reporter);
        }
        let kind = match need {
            Need::Needed => 0,
            Need::Derived { .. } => 1,
            Need::Idle => 2,
            Need::Form => 3,
            Need::LeftOut(_) => 4,
        };
        counts[kind] += 1;
        if kind == 1 {
            derived.push(n);
        }
        tell(set, n, &need, reporter);
        done += 1;
        reporter.progress(done, chosen.len(), "rules");
    });
    let gone = together(greedy, &derived);
    let names = gone.iter().map(|n| set.rules[*n].name.as_str());
    if reporter.json {
        let o = Object::nested().raw("rules", chosen.len()).raw("derived", counts[1]).raw("equal", equal);
        let o = o.raw("idle", counts[2]).raw("form", counts[3]).raw("left_out", counts[4]);
        let o = o.raw("together", list(names.map(string)));
        reporter.line(&Object::line().raw("summary", o.end()).end());
        return Exit::Ok;
    }
    reporter.line(&format!(
        "{} rules: {} follow from the others, {} of them at once; {equal} more only as equations; {} never fire; {} only change the form; {} left out",
        chosen.len(),
        counts[1],
        gone.len(),
        counts[2],
        counts[3],
        counts[4]
    ));
    if !gone.is_empty() {
        reporter.line(&format!("at once: {}", names.collect::<Vec<_>>().join(", ")));
    }
    Exit::Ok
}

fn tell_derived(set: &RuleSet, n: usize, by: &[String], reporter: &mut Reporter) {
    let name = &set.rules[n].name;
    match reporter.json {
        true => {
            let o = Object::line().str("rule", name).str("need", "equation");
            reporter.line(&o.raw("by", list(by.iter().map(|n| string(n)))).end());
        }
        false if reporter.verbose > 0 => {
            reporter.line(&format!("{name}: equal by {}", by.join(", ")));
        }
        false => {}
    }
}

fn tell(set: &RuleSet, n: usize, need: &Need, reporter: &mut Reporter) {
    let rule = &set.rules[n];
    let names = |list: &[usize]| -> Vec<&str> {
        list.iter().map(|n| set.rules[*n].name.as_str()).collect()
    };
    if reporter.json {
        let o = Object::line().str("rule", &rule.name);
        let o = match need {
            Need::Needed => return,
            Need::Derived { by, instances: (of, all) } => o
                .str("need", "derived")
                .raw("by", list(names(by).into_iter().map(string)))
                .raw("reached", of)
                .raw("instances", all),
            Need::Form => o.str("need", "form"),
            Need::Idle => o.str("need", "idle"),
            Need::LeftOut(why) => o.str("need", "left out").str("why", why),
        };
        return reporter.line(&o.end());
    }
    let text = match need {
        Need::Needed => return,
        Need::Derived { by, instances: (of, all) } => {
            let part = if of < all { format!(" in {of} of {all} instances") } else { String::new() };
            format!("follows{part} from {}", names(by).join(", "))
        }
        Need::Form if reporter.verbose == 0 => return,
        Need::Form => "only changes the form".into(),
        Need::Idle => "never fires".into(),
        Need::LeftOut(_) if reporter.verbose == 0 => return,
        Need::LeftOut(why) => format!("left out: {why}"),
    };
    reporter.line(&format!("{}: {text}", rule.name));
}
