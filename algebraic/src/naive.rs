//! The naive loop: every rule is tried on every instruction, again and again, until nothing fires.
//!
//! It keeps no list of what may have become possible and nothing that was found out about values, so it misses nothing.
//! The driver is held to it in tests.

use crate::driver::{Error, Guest, Log, Options, Prepared, Report, disabled, run_with};
use crate::facts::Memo;
use crate::rewriter::Rewriter;
use crate::ruleset::{Group, RuleSet};
use crate::target::Target;
use crate::turn::Turn;
use deburr_ir_core::{Function, Instr, InstrKind};
use std::collections::{HashSet, VecDeque};

/// In which order the naive loop takes instructions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// From the first to the last, and again from the first as long as anything changes.
    Program,
    /// Each once from the first to the last, which is not enough where a rewrite enables another.
    Once,
}

/// Runs the rules of a group over a function until none fires, as [`run`](crate::run) does, but naively.
///
/// # Errors
/// As [`run`](crate::run).
pub fn run_naive(
    f: &mut Function,
    rules: &RuleSet,
    group: &str,
    target: &Target,
    options: &Options,
    order: Order,
) -> Result<Report, Error> {
    let found = rules.group(group).ok_or_else(|| Error::UnknownGroup(group.to_string()))?;
    let off = disabled(rules, target, options)?;
    if !f.has_body() {
        return Ok(Report::default());
    }
    let fuel = options.fuel.unwrap_or(64 * f.instr_capacity() as u64 + 4096);
    let mut cx = Rewriter::new(f, rules, found.watch, target, off, Log::new(rules, options));
    cx.facts = Memo::new(options.loads.clone());
    let mut spent = false;
    loop {
        let mut changed = false;
        for instr in roots(&cx) {
            changed |= visit(&mut cx, found, instr);
            spent |= cx.log.fired >= fuel;
        }
        if !changed || spent || order == Order::Once {
            break;
        }
    }
    Ok(cx.report(spent))
}

/// Runs the rules of a group over a function as [`run`](crate::run) does, and whenever something has changed tries
/// everything that the driver neither has on its list nor will put there by and by: nothing may happen there. Gives what
/// the first instruction was that the driver forgot so, and what would have become of it.
///
/// # Errors
/// As [`run`](crate::run).
pub fn forgotten(
    f: &mut Function,
    rules: &RuleSet,
    group: &str,
    target: &Target,
    options: &Options,
) -> Result<Option<String>, Error> {
    let found = rules.group(group).ok_or_else(|| Error::UnknownGroup(group.to_string()))?;
    let off = disabled(rules, target, options)?;
    let mut looker = Looker { rules, group: found, target, off, seen: 0, forgotten: None };
    run_with(f, rules, group, target, options, Some(&mut looker))?;
    Ok(looker.forgotten)
}

/// Looks at what isn't on the list.
struct Looker<'a> {
    rules: &'a RuleSet,
    group: &'static Group,
    target: &'a Target,
    off: Vec<bool>,
    /// How much had been done at the last look.
    seen: u64,
    forgotten: Option<String>,
}

impl Guest for Looker<'_> {
    fn turn(&mut self, cx: &mut Rewriter<'_>, at: Instr) -> bool {
        let done = cx.log.fired + cx.log.folded;
        if done == std::mem::replace(&mut self.seen, done) || self.forgotten.is_some() {
            return false;
        }
        let (group, mut copy) = (self.group, cx.f.clone());
        let log = Log::new(self.rules, &Options { trace: true, ..Options::default() });
        let (watch, off) = (group.watch, self.off.clone());
        let mut rest = Rewriter::new(&mut copy, self.rules, watch, self.target, off, log);
        rest.queue = cx.queue.clone();
        rest.facts = cx.facts.afresh();
        let waiting = rest.waiting();
        for instr in roots(&rest).into_iter().filter(|i| *i != at && !waiting.contains(i)) {
            let was = rest.term(instr);
            if visit(&mut rest, group, instr) {
                let (text, rules) = (rest.f.to_string(), rest.report(false).trace);
                let rules: Vec<&str> = rules.iter().map(|t| t.rule).collect();
                let what = format!("{was}, by {rules:?}, leaving\n{text}\nof\n{}", cx.f);
                self.forgotten = Some(what);
                break;
            }
        }
        false
    }
}

impl Rewriter<'_> {
    /// What waits for its turn, or will.
    fn waiting(&mut self) -> HashSet<Instr> {
        let mut all = HashSet::new();
        // Those that the sweep hasn't come to, then those on the list.
        let mut swept: VecDeque<Instr> = self.f.all_instrs().collect();
        loop {
            let next = match swept.pop_front() {
                Some(instr) => self.queue.take(instr).map(|levels| (instr, levels)),
                None => match self.queue.pop() {
                    None => return all,
                    next => next,
                },
            };
            let Some((instr, levels)) = next else { continue };
            all.insert(instr);
            if levels > 0 {
                self.enqueue_levels(instr.def(), levels);
            }
        }
    }
}

/// Visits an instruction; true if anything changed.
fn visit(cx: &mut Rewriter<'_>, group: &Group, instr: Instr) -> bool {
    if cx.f.block_of(instr).is_none() || !cx.f.is_used(instr.def()) {
        return false;
    }
    cx.facts = cx.facts.afresh();
    let mut turn = Turn::of(cx.f, instr);
    let before = (cx.log.fired, cx.log.folded, std::mem::take(&mut cx.log.moved));
    if let Prepared::Root(Some(matcher)) = cx.prepare(group, &mut turn, instr) {
        matcher(cx, &turn);
    }
    let changed = (cx.log.fired, cx.log.folded) != (before.0, before.1) || cx.log.moved;
    cx.log.moved |= before.2;
    changed
}

/// All that rules may replace.
fn roots(cx: &Rewriter<'_>) -> Vec<Instr> {
    let is_root = |i: &Instr| {
        cx.f.kind(*i) == InstrKind::Alu
            || cx.watch.roots && crate::outside::root(cx.f, *i).is_some()
    };
    cx.f.all_instrs().filter(is_root).collect()
}
