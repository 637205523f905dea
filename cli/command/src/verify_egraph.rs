//! `deburr verify --redundant`, `--siblings`, `--gap`: what the rules are as equations.

use crate::Tree;
use crate::codes;
use crate::input::Input;
use crate::json::{Object, list, string};
use crate::options::Reading;
use crate::parallel::in_order;
use crate::report::{Diagnostic, Exit, Kind, Reporter, Trouble};
use crate::rulebook::Rulebook;
use deburr_algebraic::Target;
use deburr_ir_core::{Function, InstrKind};
use deburr_passes::Pipeline;
use deburr_rulegen::rules::{Book, RuleSet};
use deburr_verify::egraph::{
    Gap, Greedy, Need, Sibling, derivation, gap, need, objections, pieces, sibling, together,
    variants, verdicts,
};
use deburr_verify::smt::Solver;
use deburr_verify::{Kind as Found, Options, Verdict};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Options that say nothing to a report on modules.
const NOT_OF_GAPS: [&str; 7] = ["expr", "size", "seed", "budget", "rule", "siblings", "redundant"];

/// Which report is wanted.
#[derive(clap::Args)]
pub struct Asked {
    /// Report rules that follow from the others
    #[arg(long, conflicts_with_all = ["expr", "size", "seed", "budget", "siblings"])]
    redundant: bool,
    /// Report rules that are missing beside those that are there
    #[arg(long, conflicts_with_all = ["expr", "size", "seed"])]
    siblings: bool,
    /// Report how far the driver is from the best by the same rules
    #[arg(long, value_name = "IN", num_args = 1.., conflicts_with_all = NOT_OF_GAPS)]
    gap: Vec<PathBuf>,
}

impl Asked {
    /// Whether one is.
    pub fn any(&self) -> bool {
        self.redundant || self.siblings || !self.gap.is_empty()
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
        let is = |n: &usize, name: &str| {
            [&set.rules[*n].base, &set.rules[*n].name].contains(&&name.to_owned())
        };
        let exact = self.rule.filter(|name| (0..set.rules.len()).any(|n| is(&n, name)));
        let names = |n: &usize| match (exact, self.rule) {
            (Some(name), _) => is(n, name),
            (None, Some(part)) => set.rules[*n].name.contains(part),
            (None, None) => true,
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
pub fn run(asked: &Asked, with: &With<'_>, tree: &Tree, reporter: &mut Reporter) -> Exit {
    let book = match Rulebook::of(tree) {
        Ok(book) => book,
        Err(trouble) => return reporter.diagnose_all(&trouble),
    };
    let set = match with.rules {
        Some(file) => book.of_file(file),
        None => book.rules(),
    };
    let chosen = set.and_then(|set| with.chosen(&set).map(|chosen| (set, chosen)));
    let (set, chosen) = match chosen {
        Ok(found) => found,
        Err(trouble) => return reporter.diagnose_all(&trouble),
    };
    let greedy = match with.rules {
        Some(_) => Greedy::interpreted(&set, tree.rules),
        None => Greedy::compiled(&set, tree.rules),
    };
    match (asked.siblings, asked.gap.is_empty()) {
        (true, _) => siblings(&greedy, book.book(), &chosen, with, reporter),
        (_, true) => redundant(&greedy, &chosen, with, reporter),
        (_, false) => gaps(&greedy, &asked.gap, with, tree, reporter),
    }
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
        let o = Object::nested()
            .raw("rules", chosen.len())
            .raw("derived", counts[1])
            .raw("equal", equal);
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
            let part =
                if of < all { format!(" in {of} of {all} instances") } else { String::new() };
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

fn siblings(
    greedy: &Greedy<'_>,
    book: &Book,
    chosen: &[usize],
    with: &With<'_>,
    reporter: &mut Reporter,
) -> Exit {
    let on_path = match crate::verify::found_solvers(with.budget, with.budget.is_some()) {
        Ok(found) => found,
        Err(d) => return reporter.diagnose(&d),
    };
    let variants = variants(greedy.set, chosen);
    let (mut found, mut done) = (Vec::new(), 0);
    in_order(
        &variants,
        with.jobs,
        |v| sibling(greedy, book, v),
        |s| {
            found.extend(s);
            done += 1;
            reporter.progress(done, variants.len(), "patterns");
        },
    );
    let solvers: Vec<&dyn Solver> = on_path.iter().map(|s| s as &dyn Solver).collect();
    let options = Options::default();
    let names: Vec<String> = names(greedy.set, &found);
    let numbered: Vec<(&Sibling, &String)> = found.iter().zip(&names).collect();
    let look = |(s, name): &(&Sibling, &String)| {
        let verdicts = verdicts(book, s, &options, &solvers);
        let good = verdicts.iter().all(|v| v.is_good());
        let objections = if good { objections(greedy.set, book, name, s) } else { Vec::new() };
        ((*s).clone(), (*name).clone(), verdicts, objections)
    };
    let mut sound = 0;
    in_order(&numbered, with.jobs, look, |(s, name, verdicts, objections)| {
        if verdicts.iter().all(|v| v.is_good()) {
            sound += 1;
            tell_sibling(greedy.set, &s, &name, &verdicts, &objections, reporter);
        }
    });
    match reporter.json {
        true => {
            let o = Object::nested().raw("rules", chosen.len()).raw("patterns", variants.len());
            reporter.line(&Object::line().raw("summary", o.raw("siblings", sound).end()).end());
        }
        false => reporter.line(&format!(
            "{} rules: {} patterns like theirs, {sound} siblings that are sound and cheaper",
            chosen.len(),
            variants.len()
        )),
    }
    Exit::Ok
}

/// A name for each, after that of the rule that it is like.
fn names(set: &RuleSet, found: &[Sibling]) -> Vec<String> {
    let mut out: Vec<String> = Vec::new();
    for s in found {
        let base = &set.rules[s.of].base;
        let taken = |name: &String| out.contains(name) || set.rules.iter().any(|r| r.base == *name);
        let name = (2..).map(|n| format!("{base}_{n}")).find(|name| !taken(name));
        out.extend(name);
    }
    out
}

fn tell_sibling(
    set: &RuleSet,
    s: &Sibling,
    name: &str,
    verdicts: &[Verdict],
    objections: &[String],
    reporter: &mut Reporter,
) {
    let of = &set.rules[s.of].name;
    let count = |kind| verdicts.iter().filter(|v| v.kind == kind).count();
    let (proved, tested) = (count(Found::Proved), count(Found::Tested));
    let bounded = count(Found::Bounded);
    if reporter.json {
        let o = Object::line().str("name", name).str("rule", &s.text).str("of", of);
        let o = o.str("how", s.how).raw("gain", s.gain).raw("proved", proved);
        let o = o.raw("tested", tested).raw("bounded", bounded);
        let o = o.raw("objections", list(objections.iter().map(|text| string(text))));
        return reporter.line(&o.end());
    }
    reporter.line(&format!("rule {name}: {};", s.text));
    reporter.line(&format!(
        "    // {} of {of}; saves {}; {proved} proved, {tested} tested, {bounded} bounded",
        s.how, s.gain
    ));
    objections.iter().for_each(|text| reporter.line(&format!("    // {text}")));
}

/// Passes that bring modules to where rules see their arithmetic.
const BEFORE_RULES: &str = "loop(inline,global_to_local,lower_copies,\
    loop(vars_to_ssa,copy_prop,remove_phis,dce,once_to_if,dead_cf,constant_fold,cse,dce,peephole_select)),\
    remove_dead_vars,dce";

/// Values that are shown.
const SHOWN: usize = 20;

fn gaps(
    greedy: &Greedy<'_>,
    inputs: &[PathBuf],
    with: &With<'_>,
    tree: &Tree,
    reporter: &mut Reporter,
) -> Exit {
    let mut exit = Exit::Ok;
    // Equal pieces are looked at once.
    let mut all: BTreeMap<String, (Function, u64)> = BTreeMap::new();
    let mut add = |found: Result<Vec<Function>, Trouble>| match found {
        Ok(found) => {
            found.into_iter().for_each(|f| all.entry(f.to_string()).or_insert((f, 0)).1 += 1)
        }
        Err(trouble) => exit = exit.max(reporter.diagnose_all(&trouble)),
    };
    in_order(inputs, with.jobs, |path| pieces_of(path, tree), &mut add);
    let step = (1.0 / with.cases).round().max(1.0) as usize;
    let chosen: Vec<(Function, u64)> = all.into_values().step_by(step).collect();
    let group = greedy.set.groups.iter().position(|(name, _)| name == "opt").unwrap_or(0);
    let target = Target::generic("generic");
    let (mut sum, mut done) = (Gap::default(), 0);
    let (mut open, mut cut) = (0, 0);
    let mut best: Vec<(u64, String, String)> = Vec::new();
    let look = |(f, times): &(Function, u64)| (gap(greedy, f, group, &target), *times);
    in_order(&chosen, with.jobs, look, |(gap, times)| {
        done += 1;
        reporter.progress(done, chosen.len(), "pieces");
        let Some(gap) = gap else { return open += times };
        sum.before += times * gap.before;
        sum.greedy += times * gap.greedy;
        sum.optimum += times * gap.optimum;
        cut += times * u64::from(gap.cut);
        let saves = times * (gap.greedy - gap.optimum);
        let first = gap.terms.into_iter().min_by_key(|(was, _)| was.len());
        best.extend(first.map(|(was, is)| (saves, was, is)));
    });
    best.sort_by(|a, b| b.0.cmp(&a.0).then(a.1.len().cmp(&b.1.len())).then(a.1.cmp(&b.1)));
    for (saves, was, is) in best.iter().take(SHOWN) {
        match reporter.json {
            true => {
                let o = Object::line().raw("saves", saves).str("driver", was);
                reporter.line(&o.str("optimum", is).end());
            }
            false => reporter.line(&format!("{saves:8} {was}\n      => {is}")),
        }
    }
    let share = 100.0 * (sum.greedy - sum.optimum) as f64 / sum.greedy.max(1) as f64;
    let pieces: u64 = chosen.iter().map(|(_, times)| times).sum();
    match reporter.json {
        true => {
            let o = Object::nested().raw("pieces", pieces).raw("distinct", chosen.len());
            let o = o.raw("before", sum.before).raw("greedy", sum.greedy);
            let o = o.raw("optimum", sum.optimum).raw("cut", cut).raw("left_out", open);
            reporter.line(&Object::line().raw("summary", o.end()).end());
        }
        false => reporter.line(&format!(
            "{pieces} pieces, {} distinct: cost {} before, {} after the driver, {} at best: {share:.2} % less; \
             {cut} e-graphs were cut off, {open} pieces left out",
            chosen.len(),
            sum.before,
            sum.greedy,
            sum.optimum
        )),
    }
    exit
}

/// The pieces of a module of two operations or more.
fn pieces_of(path: &Path, tree: &Tree) -> Result<Vec<Function>, Trouble> {
    let mut module = Input::open(path)?.load(&Reading::default())?.module;
    let name = path.to_string_lossy();
    let bug = |message: String| Diagnostic::new(&name, Kind::Bug, codes::PASS_BUG, message);
    let pipeline = Pipeline::parse(BEFORE_RULES).map_err(|e| bug(e.to_string()))?;
    let target = Target::spirv_of(&module);
    let options = deburr_passes::Options::default();
    let run = pipeline.run(&mut module, tree.rules, &target, &options);
    run.map_err(|e| bug(e.to_string()))?;
    let all = module.functions.iter().filter(|f| f.has_body()).flat_map(pieces);
    Ok(all
        .filter(|f| f.all_instrs().filter(|i| f.kind(*i) == InstrKind::Alu).count() > 1)
        .collect())
}
