//! The naive loop: every rule is tried on every instruction, again and again, until nothing fires.
//!
//! It keeps no list of what may have become possible and nothing that was found out about values, so it misses nothing.
//! The driver is held to it in tests.

use crate::driver::{Error, Log, Options, Prepared, Report, disabled};
use crate::facts::Memo;
use crate::rewriter::Rewriter;
use crate::ruleset::{Group, RuleSet};
use crate::target::Target;
use crate::turn::Turn;
use deburr_ir_core::{Function, Instr, InstrKind};

/// In which order the naive loop takes instructions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// From the first to the last, and again from the first as long as anything changes.
    Program,
    /// Each once from the first to the last, which is not enough where a rewrite enables another.
    Once,
    /// As the driver does; but behind what the driver puts on its list after a change comes everything else.
    Driver,
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
    let off = disabled(rules, options)?;
    if !f.has_body() {
        return Ok(Report::default());
    }
    let fuel = options.fuel.unwrap_or(64 * f.instr_capacity() as u64 + 4096);
    let mut cx = Rewriter::new(f, rules, found.watch, target, off, Log::new(rules, options));
    let mut spent = false;
    match order {
        Order::Program | Order::Once => loop {
            let mut changed = false;
            for instr in roots(&cx) {
                changed |= visit(&mut cx, found, instr);
                spent |= cx.log.fired >= fuel;
            }
            if !changed || spent || order == Order::Once {
                break;
            }
        },
        Order::Driver => {
            let mut sweep = roots(&cx).into_iter();
            while let Some(instr) = sweep
                .find(|i| cx.queue.take(*i).is_some())
                .or_else(|| cx.queue.pop().map(|(instr, _)| instr))
            {
                if visit(&mut cx, found, instr) {
                    roots(&cx).into_iter().for_each(|i| _ = cx.queue.push(i));
                }
                spent |= cx.log.fired >= fuel;
                if spent {
                    break;
                }
            }
        }
    }
    Ok(cx.report(spent))
}

/// Visits an instruction; true if anything changed.
fn visit(cx: &mut Rewriter<'_>, group: &Group, instr: Instr) -> bool {
    if cx.f.block_of(instr).is_none() || !cx.f.is_used(instr.def()) {
        return false;
    }
    cx.facts = Memo::default();
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
