//! What `deburr verify` does with one rule: looks its verdicts up, works out what is missing, puts it on file.

use crate::codes;
use crate::ledger::Store;
use crate::report::{Diagnostic, Kind};
use crate::verify_report::stem;
use deburr_algebraic::interp::term::Claim;
use deburr_rulegen::rules::RuleSet;
use deburr_rulegen::rules::model::Rule;
use deburr_verify::ledger::Entry;
use deburr_verify::smt::{Prover, Solver};
use deburr_verify::{
    Key, Keys, Kind as Found, Options, Verdict, check_claim, check_rule, claims, licences_of,
    needed_at, remedy, run_tests, without,
};
use std::sync::{Mutex, MutexGuard};

/// An instance under a claim.
pub struct Place {
    pub instance: usize,
    pub claim: Claim,
    pub key: Key,
    /// What the instance is called.
    pub name: String,
}

/// A rule to be checked.
pub struct Job<'a> {
    pub rule: &'a Rule,
    /// The ledger's name for the rule file.
    pub file: String,
    /// Every instance and claim.
    pub places: Vec<Place>,
}

/// What was found of a rule.
pub struct Done {
    pub verdicts: Vec<Verdict>,
    /// Tests of the rule that fail.
    pub failed: Vec<String>,
    /// What could be written otherwise, for people.
    pub advice: Vec<String>,
    pub errors: Vec<Diagnostic>,
}

/// Which verdicts on file are worked out again.
pub enum Recheck {
    None,
    All,
    /// A share, and all that an older ledger doesn't have.
    Some {
        share: f64,
        seed: u64,
        since: Option<Box<Store>>,
    },
}

/// What all jobs share.
pub struct Worker<'a> {
    pub set: &'a RuleSet,
    pub options: Options,
    pub solvers: Vec<&'a dyn Solver>,
    pub store: Option<Mutex<Store>>,
    pub recheck: Recheck,
    /// Whether somebody reads advice.
    pub advises: bool,
    /// Whether the rules have all of their instances.
    pub every_size: bool,
}

/// The jobs of some rules; keys are made if there is a ledger.
pub fn jobs<'a>(set: &RuleSet, rules: &'a [Rule], keyed: bool) -> Vec<Job<'a>> {
    let mut keys = Keys::new(set);
    let job = |rule: &'a Rule| {
        let all = claims(set, rule);
        let mut places = Vec::new();
        for instance in 0..rule.instances.len() {
            let list = match keyed {
                true => keys.of(rule, instance, &all),
                false => vec![Key::default(); all.len()],
            };
            let name = rule.instance_name(instance);
            let each = all.iter().zip(list);
            places.extend(each.map(|(claim, key)| Place {
                instance,
                claim: *claim,
                key,
                name: name.clone(),
            }));
        }
        let file = set.files.get(rule.file).map_or("", |(file, _)| stem(file));
        Job { rule, file: file.to_owned(), places }
    };
    rules.iter().map(job).collect()
}

impl Worker<'_> {
    fn store(&self) -> Option<MutexGuard<'_, Store>> {
        let store = self.store.as_ref()?;
        // Whoever panicked held a ledger that is whole.
        Some(store.lock().unwrap_or_else(|poisoned| poisoned.into_inner()))
    }

    /// Finds the verdicts of a rule.
    pub fn examine(&self, job: &Job<'_>) -> Done {
        let Job { rule, places, .. } = job;
        let mut prover = Prover::new(&self.solvers);
        let known: Vec<Option<Entry>> = match self.store() {
            Some(store) => {
                places.iter().map(|p| store.get(&job.file, p.key, &p.name).cloned()).collect()
            }
            None => vec![None; places.len()],
        };
        let verdicts = places.iter().zip(&known).map(|(place, entry)| {
            let verdict = self.verdict(rule, place, entry.as_ref(), &mut prover);
            // What takes long is on file before the rest of the rule is.
            if verdict.ms > 1000 {
                self.record(job, [(place, &verdict)]);
            }
            verdict
        });
        let mut verdicts: Vec<Verdict> = verdicts.collect();
        let mut done = Done {
            failed: run_tests(self.set, rule),
            verdicts: Vec::new(),
            advice: Vec::new(),
            errors: Vec::new(),
        };
        if verdicts.iter().any(|v| v.kind == Found::Refuted) {
            let clause = self.advises.then(|| remedy(self.set, rule, &self.options)).flatten();
            done.advice.extend(clause.map(|clause| format!("help: it holds `{clause}`")));
        } else if self.every_size {
            self.licences(rule, places, &mut verdicts, &mut done);
        }
        self.record(job, places.iter().zip(&verdicts));
        done.verdicts = verdicts;
        done
    }

    /// The verdict of a place: the one on file, or a new one.
    fn verdict(
        &self,
        rule: &Rule,
        place: &Place,
        entry: Option<&Entry>,
        prover: &mut Prover<'_>,
    ) -> Verdict {
        if let Some(entry) = entry
            && !self.rechecks(place)
        {
            return Verdict::recorded(rule, place.instance, place.claim, entry);
        }
        let mut verdict =
            check_claim(self.set, rule, place.instance, place.claim, &self.options, prover);
        let weaker = |entry: &Entry| entry.kind == Found::Proved && verdict.kind != Found::Proved;
        if let (Recheck::Some { .. }, Some(entry)) = (&self.recheck, entry) {
            if verdict.is_good() && weaker(entry) {
                verdict.kind = Found::Missing;
                verdict.why = format!("the proof by {} is not found again", entry.by);
            } else if verdict.is_good() {
                // Two solvers may both have a proof: that on file stays.
                return Verdict::recorded(rule, place.instance, place.claim, entry);
            }
        }
        if self.store.is_some() && self.solvers.is_empty() && verdict.is_good() {
            verdict.kind = Found::Missing;
            verdict.why = "it is not in the ledger; nothing was found against it, and there is no solver to prove it".into();
        }
        verdict
    }

    /// Whether the verdict on file is to be found again.
    fn rechecks(&self, place: &Place) -> bool {
        match &self.recheck {
            Recheck::None => false,
            Recheck::All => true,
            Recheck::Some { share, seed, since } => {
                place.key.is_among(*share, *seed)
                    || since.as_ref().is_some_and(|old| old.get("", place.key, "").is_none())
            }
        }
    }

    fn record<'p>(&self, job: &Job<'_>, found: impl IntoIterator<Item = (&'p Place, &'p Verdict)>) {
        if let Some(mut store) = self.store() {
            let entries = found.into_iter().filter_map(|(p, v)| Some((p.key, Entry::of(v)?)));
            store.record(&job.file, entries.collect());
        }
    }

    /// Looks for licences that the rule doesn't need. Where one is needed is written to the verdict that shows it.
    fn licences(&self, rule: &Rule, places: &[Place], verdicts: &mut [Verdict], done: &mut Done) {
        for licence in licences_of(rule) {
            if verdicts.iter().any(|v| v.needs.contains(&licence)) {
                continue;
            }
            let name = &rule.name;
            match needed_at(self.set, rule, licence, &self.options) {
                Some((instance, claim)) => {
                    let at = |p: &Place| p.instance == instance && p.claim == claim;
                    let shown = places.iter().zip(verdicts.iter_mut()).find(|(p, _)| at(p));
                    shown.into_iter().for_each(|(_, v)| v.needs.push(licence));
                }
                None => {
                    let less = without(rule, licence);
                    let found = check_rule(self.set, &less, &self.options, &self.solvers);
                    let of = |kind| found.iter().filter(|v| v.kind == kind).count();
                    let (proved, tested) = (of(Found::Proved), of(Found::Tested));
                    let message = format!("`{name}` holds as well without `{licence}`");
                    // Within a bound either way: nothing shows the need, or that there is none.
                    if proved + tested < found.len() {
                        done.advice.push(format!("note: {message}"));
                        continue;
                    }
                    let d = Diagnostic::new(name, Kind::Invalid, codes::LICENCES, message);
                    let how = format!("without it {proved} instances are proved, {tested} tested");
                    done.errors.push(d.help(&how));
                }
            }
        }
    }
}
