//! `deburr explain`: why a rule fires or doesn't, instruction by instruction.
//!
//! The pipeline runs as in `deburr opt`. Whenever an instruction has its turn in a run of the rule's group, the
//! reference matcher says what becomes of the rule there, and then the rules fire as ever.

use crate::Tree;
use crate::codes;
use crate::input::Input;
use crate::json::{Object, list, string};
use crate::optimiser::{Optimiser, Optimising};
use crate::options::Reading;
use crate::report::{Diagnostic, Exit, Kind, Place, Reporter, Trouble};
use crate::rulebook::Rulebook;
use deburr_algebraic::interp::matcher::{Failure, Interpreter, Verdict};
use deburr_algebraic::{Guest, Rewriter, RuleInfo};
use deburr_ir_core::{Function, Instr};
use deburr_passes::{Options, PASSES, Run};
use deburr_rulegen::diagnostics::nearest;
use deburr_rulegen::rules::model::{NodeKind, Outside};
use deburr_rulegen::rules::{RuleSet, outside::TEX_OPS};
use std::collections::HashMap;
use std::path::PathBuf;

/// Say why a rule fires or doesn't: the test that fails, what it sees, and what comes first.
#[derive(clap::Args)]
#[command(
    after_help = "Examples:\n  deburr explain imul_pow2 shader.spv\n  deburr explain fmad_fuse a.wgsl --passes algebraic_late --limit 3"
)]
pub struct Args {
    /// The rule, with or without the bindings of its template
    #[arg(value_name = "RULE")]
    rule: String,
    /// Input
    #[arg(value_name = "IN")]
    input: PathBuf,
    /// Instructions that are shown; all with -v or --json
    #[arg(long, value_name = "N", default_value_t = 10)]
    limit: usize,
    #[command(flatten)]
    optimising: Optimising,
    #[command(flatten)]
    reading: Reading,
}

/// Runs the subcommand.
pub fn run(args: &Args, tree: &Tree, reporter: &mut Reporter) -> Exit {
    let optimiser = match Optimiser::of(&args.optimising, tree, reporter) {
        Ok(optimiser) => optimiser,
        Err(exit) => return exit,
    };
    match explain(args, tree, &optimiser, reporter) {
        Ok(()) => Exit::Ok,
        Err(trouble) => reporter.diagnose_all(&trouble),
    }
}

fn explain(
    args: &Args,
    tree: &Tree,
    optimiser: &Optimiser<'_>,
    reporter: &mut Reporter,
) -> Result<(), Trouble> {
    let infos = optimiser.rules().rules;
    let named = |r: &RuleInfo| r.name == args.rule || r.base == args.rule;
    let numbers: Vec<usize> = (0..infos.len()).filter(|n| named(&infos[*n])).collect();
    if numbers.is_empty() {
        let message = format!("no rule is called `{}`", args.rule);
        let d = Diagnostic::new(&args.rule, Kind::Invalid, codes::ENTRY_NAME, message);
        return Err(match nearest(&args.rule, infos.iter().map(|r| r.base)) {
            Some(near) => d.help(format!("did you mean `{near}`?")),
            None => d,
        }
        .into());
    }
    let input = Input::open(&args.input)?;
    input.refuse_frozen_ir(&args.reading)?;
    let loaded = input.load(&args.reading)?;
    reporter.warn(&loaded.warnings);
    let built_in = Rulebook::of(tree)?.rules()?;
    let watched = numbers.iter().filter_map(|number| {
        let set = match *number < tree.rules.rules.len() {
            true => &built_in,
            false => optimiser.own()?,
        };
        Watched::of(set, *number, infos[*number].name)
    });
    let mut witness = Witness { watched: watched.collect(), ..Witness::default() };
    let mut options = Options::default();
    options.rules.origins = true;
    let mut module = loaded.module;
    optimiser.run(&input.name, &mut module, options, &mut |_, _, _| {}, Some(&mut witness))?;
    witness.settle(None);
    let telling = Telling { args, infos, witness: &witness };
    match reporter.json {
        true => telling.json(reporter),
        false => telling.text(reporter),
    }
    Ok(())
}

/// A rule that is explained.
struct Watched<'r> {
    set: &'r RuleSet,
    /// Its position in the set.
    rule: usize,
    /// The number by which it is counted.
    number: usize,
    interpreter: Interpreter<'r>,
}

impl<'r> Watched<'r> {
    fn of(set: &'r RuleSet, number: usize, name: &str) -> Option<Self> {
        let rule = set.rules.iter().position(|r| r.name == name)?;
        let group = &set.groups.get(set.rules[rule].group)?.0;
        Some(Watched { set, rule, number, interpreter: Interpreter::new(set, group)? })
    }

    fn group(&self) -> &'r str {
        &self.set.groups[self.set.rules[self.rule].group].0
    }

    /// The operation that it may replace.
    fn root(&self) -> &'r str {
        let rule = &self.set.rules[self.rule];
        match &rule.nodes[rule.pattern].kind {
            NodeKind::Op { op, .. } => &self.set.ops.get(*op).name,
            NodeKind::Outside { what: Outside::Intrinsic { id, .. }, .. } => {
                &self.set.ops.intrinsic(*id).name
            }
            NodeKind::Outside { what: Outside::Tex { op, .. }, .. } => TEX_OPS[*op].0,
            NodeKind::Outside { what: Outside::Phi, .. } => "phi",
            // No pattern is any of these.
            NodeKind::Var(_)
            | NodeKind::Literal(..)
            | NodeKind::Compute { .. }
            | NodeKind::Undef
            | NodeKind::Ref(_) => "",
        }
    }
}

/// What became of a rule at an instruction.
#[derive(Clone, Debug)]
enum Outcome {
    /// It fired, with the right side of that position.
    Fired(usize),
    /// It applied, but the rule of that number replaced the instruction.
    Taken(usize),
    /// It applied and nothing was done: the two matchers disagree.
    Idle,
    /// It didn't apply; the rule that replaced the instruction all the same.
    Failed(Failure, Option<usize>),
}

impl Outcome {
    /// How close to firing it came.
    fn rank(&self) -> (u8, u32) {
        match self {
            Outcome::Fired(_) => (3, 0),
            Outcome::Taken(_) => (2, 0),
            Outcome::Idle => (1, 0),
            Outcome::Failed(failure, _) => (0, failure.depth),
        }
    }

    fn name(&self) -> &'static str {
        match self {
            Outcome::Fired(_) => "fired",
            Outcome::Taken(_) => "taken",
            Outcome::Idle => "idle",
            Outcome::Failed(..) => "failed",
        }
    }
}

/// An instruction that a rule may replace.
struct Candidate {
    /// Position of the rule among those watched.
    watched: usize,
    function: String,
    /// The value's debug name, if it has one.
    name: Option<String>,
    /// The instruction when the rule came closest to it.
    term: String,
    outcome: Outcome,
}

/// Looks on as rules run.
#[derive(Default)]
struct Witness<'r> {
    watched: Vec<Watched<'r>>,
    group: String,
    function: String,
    /// Groups that have run.
    groups: Vec<String>,
    /// Candidates in the order of their first turn.
    candidates: Vec<Candidate>,
    known: HashMap<(usize, String, Instr), usize>,
    /// What is known of the instruction whose turn it is, before anything fires.
    pending: Vec<(usize, Instr, Option<String>, String, Verdict)>,
}

impl Guest for Witness<'_> {
    fn begin(&mut self, f: &Function, group: &str) {
        self.settle(None);
        self.function.clone_from(&f.name);
        group.clone_into(&mut self.group);
        if !self.groups.iter().any(|g| g == group) {
            self.groups.push(group.to_owned());
        }
    }

    fn turn(&mut self, cx: &mut Rewriter<'_>, instr: Instr) -> bool {
        self.settle(None);
        for (at, watched) in self.watched.iter().enumerate() {
            if watched.group() != self.group {
                continue;
            }
            let verdict = watched.interpreter.explain(cx, instr, watched.rule, watched.number);
            if let Some(verdict) = verdict {
                let name = cx.func().names.get(&instr.def()).cloned();
                self.pending.push((at, instr, name, cx.term(instr), verdict));
            }
        }
        false
    }

    fn fired(&mut self, rule: usize) {
        self.settle(Some(rule));
    }
}

impl Witness<'_> {
    /// Notes what became of the instruction that had its turn, and keeps what came closest.
    fn settle(&mut self, fired: Option<usize>) {
        for (watched, instr, name, term, verdict) in std::mem::take(&mut self.pending) {
            let number = self.watched[watched].number;
            let outcome = match (verdict, fired) {
                (Verdict::Matched { alternative }, Some(rule)) if rule == number => {
                    Outcome::Fired(alternative)
                }
                (Verdict::Matched { .. }, Some(rule)) => Outcome::Taken(rule),
                (Verdict::Matched { .. }, None) => Outcome::Idle,
                (Verdict::Failed(failure), rule) => Outcome::Failed(failure, rule),
            };
            let function = self.function.clone();
            let key = (watched, function.clone(), instr);
            let new = Candidate { watched, function, name, term, outcome };
            match self.known.get(&key).map(|at| &mut self.candidates[*at]) {
                None => {
                    self.known.insert(key, self.candidates.len());
                    self.candidates.push(new);
                }
                Some(old) if new.outcome.rank() >= old.outcome.rank() => *old = new,
                Some(_) => {}
            }
        }
    }
}

/// What is told in the end.
struct Telling<'a> {
    args: &'a Args,
    infos: &'static [RuleInfo],
    witness: &'a Witness<'a>,
}

impl Telling<'_> {
    fn json(&self, reporter: &mut Reporter) {
        for c in &self.witness.candidates {
            let info = &self.infos[self.witness.watched[c.watched].number];
            let line = Object::line().str("rule", info.name).str("function", &c.function);
            let line = line.str("term", &c.term).str("outcome", c.outcome.name());
            let place = self.place(c);
            let (line_number, col) = match &place.1 {
                Place::Text { line, col, .. } => (*line, *col),
                Place::None | Place::Word { .. } => (info.line as usize, 1),
            };
            let line = line.str("file", &place.0).raw("line", line_number).raw("col", col);
            let line = match &c.outcome {
                Outcome::Failed(f, other) => {
                    let line = line.str("test", f.test).str("wanted", &f.wanted).str("saw", &f.saw);
                    let exchanged = list(f.exchanged.iter().map(|name| string(name)));
                    let line = line.raw("exchanged", exchanged);
                    let line = f.maker.map_or(line.clone(), |rule| line.str("made_by", rule));
                    other.map_or(line.clone(), |n| line.str("replaced_by", self.infos[n].name))
                }
                Outcome::Taken(other) => line.str("taken_by", self.infos[*other].name),
                Outcome::Fired(alternative) => line.raw("alternative", alternative),
                Outcome::Idle => line,
            };
            reporter.line(&line.end());
        }
        let [fired, taken, idle, failed] = self.counts();
        let counts = Object::nested().raw("candidates", self.witness.candidates.len());
        let counts = counts.raw("fired", fired).raw("taken", taken).raw("idle", idle);
        reporter.line(&Object::line().raw("summary", counts.raw("failed", failed).end()).end());
    }

    fn text(&self, reporter: &mut Reporter) {
        let all = &self.witness.candidates;
        // Equal ones are told of once; what nearly fired comes first, what fired last.
        let mut told: Vec<(usize, &Candidate, String)> = Vec::new();
        let mut known: HashMap<String, usize> = HashMap::new();
        for c in all {
            let text = self.candidate(c);
            match known.get(&text) {
                Some(at) => told[*at].0 += 1,
                None => {
                    known.insert(text.clone(), told.len());
                    told.push((1, c, text));
                }
            }
        }
        told.sort_by_key(|(_, c, _)| match c.outcome.rank() {
            (3, _) => (u8::MAX, 0),
            (kind, depth) => (3 - kind, u32::MAX - depth),
        });
        let limit = if reporter.verbose > 0 { usize::MAX } else { self.args.limit };
        for (times, _, text) in told.iter().take(limit) {
            let (head, rest) = text.split_once('\n').unwrap_or((text, ""));
            let times = if *times > 1 { format!(" ({times} times)") } else { String::new() };
            reporter.line(&format!("{head}{times}\n{rest}"));
        }
        let hidden: usize = told.iter().skip(limit).map(|t| t.0).sum();
        if hidden > 0 {
            reporter.line(&format!("{hidden} more are not shown; -v shows all"));
        }
        let what = self.what();
        if all.is_empty() {
            return reporter.line(&format!("{what}: {}", self.nothing()));
        }
        let candidates = match all.len() {
            1 => "1 candidate".to_string(),
            n => format!("{n} candidates"),
        };
        let [fired, taken, idle, failed] = self.counts();
        let mut parts = vec![format!("fired at {fired}")];
        if taken > 0 {
            parts.push(format!("another rule came first at {taken}"));
        }
        if idle > 0 {
            parts.push(format!("matched only at {idle}"));
        }
        parts.push(format!("failed at {failed}"));
        reporter.line(&format!("{what}: {candidates}: {}", parts.join(", ")));
    }

    /// The rule that is explained, or how many of its instances.
    fn what(&self) -> String {
        match self.witness.watched.as_slice() {
            [one] => {
                let info = &self.infos[one.number];
                format!("`{}` at {}:{}", info.name, info.file, info.line)
            }
            several => format!("`{}`, {} instances", self.args.rule, several.len()),
        }
    }

    /// Why there are no candidates.
    fn nothing(&self) -> String {
        let watched = &self.witness.watched;
        let idle = watched.iter().find(|w| !self.witness.groups.iter().any(|g| g == w.group()));
        let roots: Vec<String> = watched.iter().map(|w| format!("`{}`", w.root())).collect();
        match idle {
            None => {
                let mut roots = roots;
                roots.dedup();
                format!("the module has no {} when rules run", roots.join(" or "))
            }
            Some(w) => {
                let group = w.group();
                let pass = PASSES.iter().find(|p| matches!(p.run, Run::Rules(g) if g == group));
                match pass {
                    Some(pass) => format!(
                        "no pass that ran has the group `{group}`; `--passes {}` has it",
                        pass.name
                    ),
                    None => format!("no pass has the group `{group}`"),
                }
            }
        }
    }

    /// A candidate as text: the instruction, then what became of it.
    fn candidate(&self, c: &Candidate) -> String {
        let name = c.name.as_ref().map_or(String::new(), |name| format!("{name} = "));
        let mut out = format!("{}: {name}{}", c.function, c.term);
        let watched = &self.witness.watched[c.watched];
        if self.witness.watched.len() > 1 {
            out += &format!(" [{}]", self.infos[watched.number].name);
        }
        let other = |n: &usize| {
            let info = &self.infos[*n];
            format!("`{}` at {}:{}", info.name, info.file, info.line)
        };
        match &c.outcome {
            Outcome::Fired(_) if watched.set.rules[watched.rule].alts.len() == 1 => {
                out += "\n  fired";
            }
            Outcome::Fired(alternative) => {
                out += &format!("\n  fired, with right side {}", alternative + 1);
            }
            Outcome::Taken(rule) => {
                out += &format!("\n  matched, but another rule came first: {}", other(rule));
            }
            Outcome::Idle => {
                out +=
                    "\n  matched, but didn't fire: the matchers disagree, which is a bug of deburr";
            }
            Outcome::Failed(f, replaced) => {
                let (file, place) = self.place(c);
                out += &format!("\n  failed: {}\n", f.test);
                out += &Reporter::pointing(&file, &place, &format!("{} is wanted", f.wanted));
                let maker = f.maker.map_or(String::new(), |rule| format!(", made by `{rule}`"));
                out += &format!("\n   = there is: {}{maker}", f.saw);
                if !f.exchanged.is_empty() {
                    out += &format!("\n   = with operands exchanged: {}", f.exchanged.join(", "));
                }
                if let Some(rule) = replaced {
                    out += &format!("\n   = another rule replaced it: {}", other(rule));
                }
            }
        }
        out
    }

    /// Where in which file the test of a candidate stands, or the rule.
    fn place(&self, c: &Candidate) -> (String, Place) {
        let watched = &self.witness.watched[c.watched];
        let rule = &watched.set.rules[watched.rule];
        let span = match &c.outcome {
            Outcome::Failed(f, _) => f.span,
            Outcome::Fired(_) | Outcome::Taken(_) | Outcome::Idle => rule.span,
        };
        match watched.set.files.get(rule.file) {
            Some((name, text)) => (name.to_string(), Place::of_bytes(text, span.range())),
            None => (String::new(), Place::None),
        }
    }

    fn counts(&self) -> [usize; 4] {
        ["fired", "taken", "idle", "failed"]
            .map(|name| self.witness.candidates.iter().filter(|c| c.outcome.name() == name).count())
    }
}
