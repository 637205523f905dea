//! The worklist: one call brings a function to the fixed point of a group of rules.
//!
//! Instructions are visited in reverse post-order, which is program order. Each visit brings the instruction into
//! normal form (see `moves.rs`) and tries the rules of its opcode until one fires. What a rewrite may have enabled goes
//! back on the list: users as deep as patterns reach, users of values that lost a use or became better known, and new
//! instructions. Where such a user is on the list already, its own users follow when it is visited. Fuel bounds the number
//! of rewrites; when it runs out, the last rules that fired are the cycle.

use crate::facts::{Loads, Memo};
use crate::rewriter::Rewriter;
use crate::ruleset::{Group, MatchFn, RuleSet};
use crate::target::Target;
use crate::turn::Turn;
use deburr_ir_core::{Def, Flags, Function, Instr, InstrKind};
use std::collections::VecDeque;
use std::fmt;
use std::sync::Arc;

/// What a run may do and should note.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Options {
    /// Rules that don't fire: names with or without the bindings of templates.
    pub disabled: Vec<String>,
    /// Licences that no rule may use, whatever the operations carry.
    pub withheld: Flags,
    /// Most rewrites; by default enough for every terminating set of rules.
    pub fuel: Option<u64>,
    /// Rewrites after which rules no longer fire; folding goes on. For finding the rewrite that breaks something.
    pub limit: Option<u64>,
    /// Note each rewrite.
    pub trace: bool,
    /// Count rewrites by rule.
    pub counts: bool,
    /// Keep with each instruction the rules that made it.
    pub origins: bool,
    /// What the module says of the values that the function loads. A pipeline, which has the module, puts it here itself.
    pub loads: Option<Arc<Loads>>,
}

/// What a run did.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Report {
    /// Rewrites by rules.
    pub fired: u64,
    /// Operations on constants that were folded.
    pub folded: u64,
    /// Whether anything changed.
    pub changed: bool,
    /// Rewrites by rule, in the order of rules, those that fired only.
    pub counts: Counts,
    /// Each rewrite in order.
    pub trace: Vec<TraceEntry>,
    /// If fuel ran out: the rules that fired last, oldest first.
    pub cycle: Option<Vec<&'static str>>,
}

/// How often rules fired.
pub type Counts = Vec<(&'static str, u64)>;

/// A rewrite.
#[derive(Clone, Debug)]
pub struct TraceEntry {
    /// The rule.
    pub rule: &'static str,
    /// Its file.
    pub file: &'static str,
    /// Its line.
    pub line: u32,
    /// The function.
    pub function: String,
    /// What was replaced, as a term of three levels; letters are values, the same in both terms.
    pub before: String,
    /// What replaces it.
    pub after: String,
}

/// Why nothing was run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Error {
    /// The rule set has no group of that name.
    UnknownGroup(String),
    /// No rule of that name can be disabled.
    UnknownRule(String),
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::UnknownGroup(name) => write!(f, "there is no group of rules `{name}`"),
            Error::UnknownRule(name) => write!(f, "there is no rule `{name}`"),
        }
    }
}

impl std::error::Error for Error {}

/// Instructions to be visited, each at most once at a time: those that the sweep over the function has not come to yet,
/// then those on a list.
#[derive(Clone, Debug, Default)]
pub(crate) struct Queue {
    list: VecDeque<Instr>,
    /// By instruction: 0 if it isn't on the list, else one more than the levels of users that are to follow its visit.
    waiting: Vec<u8>,
}

impl Queue {
    /// A list for a sweep over a function: all that it has is waiting to be taken.
    pub(crate) fn of(f: &Function) -> Queue {
        Queue { list: VecDeque::new(), waiting: vec![1; f.instr_capacity()] }
    }

    /// Adds an instruction; false if it was waiting already.
    pub(crate) fn push(&mut self, instr: Instr) -> bool {
        let at = instr.index();
        if at >= self.waiting.len() {
            self.waiting.resize((at + 1).max(2 * self.waiting.len()), 0);
        }
        if self.waiting[at] > 0 {
            return false;
        }
        self.waiting[at] = 1;
        self.list.push_back(instr);
        true
    }

    /// Has the visit of an instruction that is waiting followed by visits of its users, and theirs, so many levels up.
    pub(crate) fn follow(&mut self, instr: Instr, levels: u8) {
        let slot = &mut self.waiting[instr.index()];
        *slot = (*slot).max(levels + 1);
    }

    /// The next instruction, and how many levels of users are to follow.
    pub(crate) fn pop(&mut self) -> Option<(Instr, u8)> {
        loop {
            let instr = self.list.pop_front()?;
            if let Some(levels) = self.take(instr) {
                return Some((instr, levels));
            }
        }
    }

    /// Has an instruction wait no longer; gives how many levels of users are to follow, `None` if it didn't wait.
    #[inline]
    pub(crate) fn take(&mut self, instr: Instr) -> Option<u8> {
        let waiting = self.waiting.get_mut(instr.index())?;
        std::mem::take(waiting).checked_sub(1)
    }
}

/// Number of rewrites that are remembered for the cycle.
const RECENT: usize = 24;

/// What a run notes as it goes.
pub(crate) struct Log {
    pub rules: &'static [crate::ruleset::RuleInfo],
    pub fired: u64,
    pub folded: u64,
    /// Whether sources, moves or orders changed.
    pub moved: bool,
    counts: Option<Vec<u64>>,
    trace: Option<Vec<TraceEntry>>,
    recent: [u16; RECENT],
}

impl Log {
    pub(crate) fn new(rules: &RuleSet, options: &Options) -> Log {
        Log {
            rules: rules.rules,
            fired: 0,
            folded: 0,
            moved: false,
            counts: options.counts.then(|| vec![0; rules.rules.len()]),
            trace: options.trace.then(Vec::new),
            recent: [u16::MAX; RECENT],
        }
    }

    // Apart, so that a profile shows what it costs.
    #[inline(never)]
    pub(crate) fn fired(&mut self, f: &Function, rule: usize, root: Instr, new: Def) {
        self.recent[(self.fired % RECENT as u64) as usize] = rule as u16;
        self.fired += 1;
        if let Some(count) = self.counts.as_mut().and_then(|c| c.get_mut(rule)) {
            *count += 1;
        }
        if let Some(trace) = &mut self.trace {
            // Rules that were not compiled have no entry.
            let (rule, file, line) = self
                .rules
                .get(rule)
                .map_or(("extra", "", 0), |info| (info.name, info.file, info.line));
            let (before, after) = crate::trace::sides(f, root.def(), new);
            let function = f.name.clone();
            trace.push(TraceEntry { rule, file, line, function, before, after });
        }
    }

    /// The rule that fired last.
    fn last(&self) -> usize {
        let at = self.fired.wrapping_sub(1) % RECENT as u64;
        self.recent[at as usize].into()
    }

    fn cycle(&self) -> Vec<&'static str> {
        let from = self.fired.saturating_sub(RECENT as u64);
        let recent = (from..self.fired).map(|i| self.recent[(i % RECENT as u64) as usize]);
        recent.filter_map(|r| self.rules.get(usize::from(r))).map(|r| r.name).collect()
    }
}

/// Who takes part in a run beside the compiled rules, or looks on: a closure that tries rules of its own, or more.
pub trait Guest {
    /// The rules of a group are about to run over a function.
    fn begin(&mut self, _f: &Function, _group: &str) {}

    /// An instruction's turn, before the compiled rules have theirs; true if the guest has replaced it. It calls
    /// [`Rewriter::begin`] and [`Rewriter::replace`] with numbers from [`RuleSet::rules`] or above it.
    fn turn(&mut self, cx: &mut Rewriter<'_>, instr: Instr) -> bool;

    /// The rule of that number has replaced the instruction whose turn it was.
    fn fired(&mut self, _rule: usize) {}
}

impl<F: FnMut(&mut Rewriter<'_>, Instr) -> bool> Guest for F {
    fn turn(&mut self, cx: &mut Rewriter<'_>, instr: Instr) -> bool {
        self(cx, instr)
    }
}

/// Runs the rules of a group over a function until none fires.
pub fn run(
    f: &mut Function,
    rules: &RuleSet,
    group: &str,
    target: &Target,
    options: &Options,
) -> Result<Report, Error> {
    run_with(f, rules, group, target, options, None)
}

/// As [`run`], with a guest: rules that are interpreted and tried before the compiled ones, or somebody who looks on.
pub fn run_with(
    f: &mut Function,
    rules: &RuleSet,
    group: &str,
    target: &Target,
    options: &Options,
    mut guest: Option<&mut dyn Guest>,
) -> Result<Report, Error> {
    let found = rules.group(group).ok_or_else(|| Error::UnknownGroup(group.to_string()))?;
    let off = disabled(rules, target, options)?;
    if !f.has_body() {
        return Ok(Report::default());
    }
    if options.origins {
        f.origins.get_or_insert_default();
    }
    if let Some(guest) = &mut guest {
        guest.begin(f, group);
    }
    let instrs = f.instr_capacity() as u64;
    let fuel = options.fuel.unwrap_or(64 * instrs + 4096);
    let mut cx = Rewriter::new(f, rules, found.watch, target, off, Log::new(rules, options));
    cx.facts = Memo::new(options.loads.clone());
    let limits = Limits { fuel, fired: options.limit.unwrap_or(u64::MAX) };
    let mut run = Run { cx: &mut cx, group: found, guest, limits };
    let spent = run.sweep() || run.drain();
    Ok(cx.report(spent))
}

/// How many rewrites there may be: before the run ends, and before rules no longer fire.
struct Limits {
    fuel: u64,
    fired: u64,
}

/// A group at work on a function.
struct Run<'a, 'f, 'g> {
    cx: &'a mut Rewriter<'f>,
    group: &'static Group,
    guest: Option<&'g mut (dyn Guest + 'g)>,
    limits: Limits,
}

impl Run<'_, '_, '_> {
    /// Visits every instruction in program order. True if fuel ran out.
    fn sweep(&mut self) -> bool {
        let body = self.cx.f.body();
        let mut turn = Turn::empty();
        let mut block = Some(self.cx.f.first_block(body));
        while let Some(at) = block {
            let mut next = self.cx.f.first_instr(at);
            while let Some(instr) = next {
                next = self.cx.f.next_instr(instr);
                if self.cx.f.kind(instr) != InstrKind::Alu && !self.cx.watch.outside {
                    continue;
                }
                let Some(levels) = self.cx.queue.take(instr) else { continue };
                if self.visit(&mut turn, instr, levels) {
                    return true;
                }
                if next.is_some_and(|next| self.cx.f.block_of(next).is_none()) {
                    // It was the operand of a phi that is gone. Who had a turn has none again.
                    next = self.cx.f.first_instr(at);
                }
            }
            block = self.cx.f.next_block_in(at, body);
        }
        false
    }

    /// Visits what is on the list until nothing is. True if fuel ran out.
    fn drain(&mut self) -> bool {
        let mut turn = Turn::empty();
        while let Some((instr, levels)) = self.cx.queue.pop() {
            let removed = self.cx.f.block_of(instr).is_none();
            if !removed && self.visit(&mut turn, instr, levels) {
                return true;
            }
        }
        false
    }

    /// Brings an instruction into normal form and tries the rules on it. True if fuel ran out.
    #[inline(always)]
    fn visit(&mut self, turn: &mut Turn, instr: Instr, levels: u8) -> bool {
        let cx = &mut *self.cx;
        if !cx.f.is_used(instr.def()) {
            // Whoever put it on the list no longer needs it.
            return false;
        }
        if levels > 0 {
            cx.enqueue_levels(instr.def(), levels);
        }
        let Prepared::Root(matcher) = cx.prepare(self.group, turn, instr) else { return false };
        if cx.log.fired >= self.limits.fired {
            return false;
        }
        let fired = self.guest.as_mut().is_some_and(|guest| guest.turn(cx, instr))
            || matcher.is_some_and(|matcher| matcher(cx, turn));
        if !fired {
            return false;
        }
        if let Some(guest) = &mut self.guest {
            guest.fired(cx.log.last());
        }
        cx.log.fired >= self.limits.fuel
    }
}

/// Which of the rules the options and the target switch off.
pub(crate) fn disabled(
    rules: &RuleSet,
    target: &Target,
    options: &Options,
) -> Result<Vec<bool>, Error> {
    let mut disabled = Vec::new();
    for name in options.disabled.iter().chain(&target.without_rules) {
        let mut any = false;
        disabled.resize(rules.rules.len(), false);
        for (rule, off) in rules.rules.iter().zip(&mut disabled) {
            let hit = rule.base == name || rule.name == name;
            any |= hit;
            *off |= hit;
        }
        if !any {
            return Err(Error::UnknownRule(name.clone()));
        }
    }
    if !options.withheld.is_empty() {
        disabled.resize(rules.rules.len(), false);
        for (rule, off) in rules.rules.iter().zip(&mut disabled) {
            *off |= rule.licences.intersects(options.withheld);
        }
    }
    Ok(disabled)
}

/// What an instruction comes to before rules are tried.
pub(crate) enum Prepared {
    /// It has been replaced, or no rule has such a root.
    Over,
    /// Rules may replace it: the compiled ones, if there are any for its kind.
    Root(Option<MatchFn>),
}

impl Rewriter<'_> {
    /// Begins an instruction's turn: brings it into normal form and finds the rules to try.
    #[inline(always)]
    pub(crate) fn prepare(&mut self, group: &Group, turn: &mut Turn, instr: Instr) -> Prepared {
        self.at = instr;
        if let Some(op) = self.f.alu_op(instr) {
            self.cursor = None;
            return match self.normalise(turn, instr, op) {
                true => Prepared::Over,
                false => Prepared::Root(group.matcher(op)),
            };
        }
        match crate::outside::root(self.f, instr) {
            Some(root) if self.watch.roots => {
                self.cursor = Some(crate::outside::place(self.f, instr));
                *turn = Turn::of(self.f, instr);
                Prepared::Root(group.outside(root))
            }
            _ => Prepared::Over,
        }
    }

    /// What was done; `spent` if fuel ran out.
    pub(crate) fn report(self, spent: bool) -> Report {
        let cycle = spent.then(|| self.log.cycle());
        let log = self.log;
        let counts = log.counts.iter().flatten().zip(log.rules).filter(|(n, _)| **n > 0);
        Report {
            fired: log.fired,
            folded: log.folded,
            changed: log.fired > 0 || log.folded > 0 || log.moved,
            counts: counts.map(|(n, r)| (r.name, *n)).collect(),
            trace: log.trace.unwrap_or_default(),
            cycle,
        }
    }
}
