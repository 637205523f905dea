//! Both matchers on one function.

use deburr_algebraic::interp::matcher::Interpreter;
use deburr_algebraic::{Group, Guest, Options, Report, Rewriter, RuleSet, Target, run_with};
use deburr_ir_core::{Function, Instr};
use deburr_rulegen::rules::model;

/// A rule set, compiled and to be interpreted.
pub struct Matchers<'a> {
    /// The rules.
    pub set: &'a model::RuleSet,
    /// The compiled matchers.
    pub compiled: &'a RuleSet,
    /// The same names and numbers, but nothing compiled.
    hollow: RuleSet,
    interpreters: Vec<Interpreter<'a>>,
}

/// What both matchers did.
#[derive(Clone, Debug)]
pub struct Did {
    /// The function as it is left.
    pub after: Function,
    /// Where rules fired and their numbers, in order.
    pub fired: Vec<(Instr, usize)>,
    /// What the compiled matchers' run noted.
    pub report: Report,
}

impl Did {
    /// Whether the rule fired at that instruction.
    pub fn at(&self, root: Instr, rule: usize) -> bool {
        self.fired.contains(&(root, rule))
    }
}

impl<'a> Matchers<'a> {
    /// The matchers of a rule set.
    pub fn new(set: &'a model::RuleSet, compiled: &'static RuleSet) -> Matchers<'a> {
        let groups = compiled.groups.iter();
        let hollow = groups.map(|g| Group {
            name: g.name,
            doc: g.doc,
            by_op: &[],
            dialect: &[],
            outside: &[],
            watch: g.watch,
        });
        // Groups of a rule set live as long as the program; there is one set a program.
        let groups: &'static [Group] = Vec::leak(hollow.collect());
        let interpreters = set.groups.iter().filter_map(|g| Interpreter::new(set, &g.0)).collect();
        Matchers { set, compiled, hollow: RuleSet { groups, ..*compiled }, interpreters }
    }

    /// Runs both over a group: they must fire the same rules at the same places, fold as much, and leave the same text,
    /// flags included, in the end and half-way.
    ///
    /// # Errors
    /// How they differ.
    pub fn run(
        &self,
        before: &Function,
        group: usize,
        target: &Target,
        options: &Options,
    ) -> Result<Did, String> {
        let did = self.once(before, group, target, options)?;
        let steps = did.fired.len() as u64;
        if steps > 1 {
            let mut options = options.clone();
            options.limit = Some(steps / 2);
            self.once(before, group, target, &options)?;
        }
        Ok(did)
    }

    fn once(
        &self,
        before: &Function,
        group: usize,
        target: &Target,
        options: &Options,
    ) -> Result<Did, String> {
        let mut options = options.clone();
        options.trace = true;
        let name = &self.set.groups[group].0;
        let (mut one, mut two) = (before.clone(), before.clone());
        let interpreter = &self.interpreters[group];
        let mut fired = Vec::new();
        let mut extra = |cx: &mut Rewriter<'_>, instr: Instr| {
            let rule = interpreter.apply(cx, instr, |i| i);
            fired.extend(rule.map(|rule| (instr, rule)));
            rule.is_some()
        };
        let mut witness = Witness::default();
        let a = run_with(&mut one, self.compiled, name, target, &options, Some(&mut witness))
            .map_err(|e| e.to_string())?;
        let b = run_with(&mut two, &self.hollow, name, target, &options, Some(&mut extra))
            .map_err(|e| e.to_string())?;
        let pairs = a.trace.iter().zip(&b.trace);
        if let Some((n, (x, y))) =
            pairs.enumerate().find(|(_, (x, y))| (x.rule, &x.after) != (y.rule, &y.after))
        {
            return Err(format!(
                "step {n}: compiled {}: {} => {}, interpreted {}: {} => {}, on\n{before}",
                x.rule, x.before, x.after, y.rule, y.before, y.after
            ));
        }
        if a.trace.len() != b.trace.len() {
            let (who, more) = match a.trace.len() > b.trace.len() {
                true => ("compiled", &a.trace[b.trace.len()]),
                false => ("interpreted", &b.trace[a.trace.len()]),
            };
            let (step, rule) = (a.trace.len().min(b.trace.len()), more.rule);
            return Err(format!(
                "step {step}: only {who} fires {rule}: {} => {}, on\n{before}",
                more.before, more.after
            ));
        }
        if witness.fired != fired {
            return Err(format!(
                "compiled {:?}, interpreted {fired:?}, on\n{before}",
                witness.fired
            ));
        }
        if (a.folded, a.changed) != (b.folded, b.changed) || one.to_string() != two.to_string() {
            return Err(format!("the results differ:\n{one}\nand\n{two}\nof\n{before}"));
        }
        if let Some(cycle) = &a.cycle {
            return Err(format!("{cycle:?} go round on\n{before}"));
        }
        Ok(Did { after: one, fired, report: a })
    }
}

/// Notes where compiled rules fire.
#[derive(Default)]
struct Witness {
    at: Option<Instr>,
    fired: Vec<(Instr, usize)>,
}

impl Guest for Witness {
    fn turn(&mut self, _: &mut Rewriter<'_>, instr: Instr) -> bool {
        self.at = Some(instr);
        false
    }

    fn fired(&mut self, rule: usize) {
        self.fired.extend(self.at.map(|at| (at, rule)));
    }
}
