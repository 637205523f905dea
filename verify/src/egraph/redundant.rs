//! Rules that follow from the others.

use super::bench::{self, Trial, left_out};
use super::greedy::{Greedy, Numbers};
use deburr_ir_core::Function;
use std::collections::BTreeSet;

/// What is known of the need for a rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Need {
    /// Without it the driver comes to something dearer.
    Needed,
    /// Without it the driver comes to the same code wherever it was tried.
    Derived {
        /// The rules that fire in its place, by number.
        by: Vec<usize>,
        /// Instances in which it fires somewhere, of how many.
        instances: (usize, usize),
    },
    /// Without it the driver comes to something as cheap, and somewhere of another form: it is there for other rules, or
    /// for those who read the code.
    Form,
    /// It never fires: rules before it take what it matches, or no operand was found of which its facts hold.
    Idle,
    /// It isn't looked at, for this reason.
    LeftOut(&'static str),
}

/// Whether the driver needs a rule beside those that are there `without` some.
pub fn need(greedy: &Greedy<'_>, rule: usize, without: &[usize]) -> Need {
    let it = &greedy.set.rules[rule];
    if let Some(why) = left_out(greedy.set, it) {
        return Need::LeftOut(why);
    }
    let (mut same, mut needed, mut reached) = (true, false, 0);
    let mut by = BTreeSet::new();
    let off: Vec<usize> = without.iter().copied().chain([rule]).collect();
    for instance in 0..it.instances.len() {
        let mut fires = false;
        let mut tried = |trial: &Trial<'_>, after: &Function| {
            let mut other = trial.before.clone();
            let ran = greedy.run(&mut other, trial.group, trial.target, &off);
            let mut numbers = Numbers::default();
            let (with, without) = (numbers.add(after), numbers.add(&other));
            if ran.endless || without.cost > with.cost {
                needed = true;
                return false;
            }
            fires = true;
            same &= with == without;
            by.extend(ran.fired);
            true
        };
        bench::trials(greedy, rule, instance, &mut tried);
        if needed {
            return Need::Needed;
        }
        reached += usize::from(fires);
    }
    match (reached, same) {
        (0, _) => Need::Idle,
        (_, false) => Need::Form,
        (_, true) => {
            let instances = (reached, it.instances.len());
            Need::Derived { by: by.into_iter().collect(), instances }
        }
    }
}

/// Of rules each of which follows from all others, those that can go together.
pub fn together(greedy: &Greedy<'_>, rules: &[usize]) -> Vec<usize> {
    let mut gone: Vec<usize> = Vec::new();
    let follows = |rule: usize, without: &[usize]| {
        matches!(need(greedy, rule, without), Need::Derived { .. })
    };
    for &rule in rules {
        let mut all = gone.clone();
        all.push(rule);
        // What went before must not have followed from this one.
        if all.iter().all(|r| follows(*r, &all)) {
            gone = all;
        }
    }
    gone
}
