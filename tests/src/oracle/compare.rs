//! The comparison of a folder with the oracle.

use super::grid::{self, Effort, Random};
use super::{Base, Denorm, Env, Free, Op, Rounding, TABLE, Value, Want, eval_op, fp, transcend};
use std::collections::BTreeMap;
use std::fmt::Write;

/// What a folder says of one evaluation: per component of the result, whether it may vary and whether it is a NaN that
/// arithmetic gave. The values are in the output array.
#[derive(Clone, Copy, Debug, Default)]
pub struct Shadow {
    /// Bit `i`: component `i` came from `choose`, `any` or poison.
    pub free: u16,
    /// Bit `i`: component `i` is an arithmetic NaN.
    pub nan: u16,
}

/// A folder of one opcode at one width: sources, environment, result components, and whether it has an answer at all.
pub type Folder<'a> = dyn FnMut(u32, &[Vec<u64>], &Env, &mut [u64; 16]) -> Option<Shadow> + 'a;

/// What a comparison found.
#[derive(Clone, Debug, Default)]
pub struct Tally {
    /// Opcodes compared.
    pub ops: u64,
    /// Result components compared.
    pub points: u64,
    /// Components whose value the oracle rejects.
    pub mismatches: u64,
    /// Components of which the specification bounds nothing, so that nothing was compared.
    pub unbounded: u64,
    /// Components that may vary by the specification and are not marked so.
    pub unmarked: u64,
    /// Components marked as varying that may not.
    pub overmarked: u64,
    /// Largest error of a transcendental, in units in the last place.
    pub ulps: f64,
    /// The same in environments that round toward zero.
    pub ulps_rtz: f64,
    /// The first mismatches, in words.
    pub examples: Vec<String>,
}

/// How many mismatches of an opcode at one width are described.
const EXAMPLES: usize = 3;

impl Tally {
    /// Adds another tally's figures.
    pub fn merge(&mut self, other: Tally) {
        self.ops += other.ops;
        self.points += other.points;
        self.mismatches += other.mismatches;
        self.unbounded += other.unbounded;
        self.unmarked += other.unmarked;
        self.overmarked += other.overmarked;
        self.ulps = self.ulps.max(other.ulps);
        self.ulps_rtz = self.ulps_rtz.max(other.ulps_rtz);
        self.examples.extend(other.examples);
    }

    /// Whether the folder agrees: values everywhere, and marks wherever the specification has a choice and nowhere else.
    pub fn agrees(&self) -> bool {
        self.mismatches == 0 && self.unmarked == 0 && self.overmarked == 0
    }
}

/// The nine environments with one mode at all sizes.
pub fn environments() -> Vec<Env> {
    let mut all = Vec::new();
    for denorm in [Denorm::Keep, Denorm::Flush, Denorm::Any] {
        for rounding in [Rounding::Rte, Rounding::Rtz, Rounding::Any] {
            all.push(Env::uniform(denorm, rounding));
        }
    }
    all
}

/// An environment with a mode of its own at every size.
fn mixed_environment(random: &mut Random) -> Env {
    let mut env = Env::uniform(Denorm::Keep, Rounding::Rte);
    for slot in 0..3 {
        env.denorm[slot] = [Denorm::Keep, Denorm::Flush, Denorm::Any][random.below(3)];
        env.rounding[slot] = [Rounding::Rte, Rounding::Rtz, Rounding::Any][random.below(3)];
    }
    env
}

/// Whether the oracle accepts `got` as a component of `size` bits.
pub fn accepts(value: &Value, size: u32, got: u64) -> bool {
    match value.want {
        Want::Bits(want) => got == want,
        Want::Either(one, other) => got == one || got == other,
        Want::Near { low, high, .. } => transcend::between(size, got, low, high),
        Want::Within { truth, tail, slack } => transcend::distance(size, got, truth, tail) <= slack,
        Want::Anything => true,
    }
}

fn expected(value: &Value) -> String {
    match value.want {
        Want::Bits(want) => format!("{want:#x}"),
        Want::Either(one, other) => format!("{one:#x} or {other:#x}"),
        Want::Near { low, high, truth, .. } => format!("{low:#x} to {high:#x} (around {truth:e})"),
        Want::Within { truth, slack, .. } => format!("{truth:e} ± {slack:e}"),
        Want::Anything => "anything".to_string(),
    }
}

/// One evaluation in words: opcode, size, environment, inputs, both values.
fn describe(
    op: &Op,
    bits: u32,
    env: &Env,
    srcs: &[Vec<u64>],
    component: usize,
    value: &Value,
    got: u64,
) -> String {
    let mut text = format!("{}@{bits}", op.name);
    if op.is_float() {
        let _ = write!(text, " env {:?} {:?}", env.denorm, env.rounding);
    }
    for (o, src) in op.srcs.iter().zip(srcs) {
        let items: Vec<String> = src
            .iter()
            .map(|&v| match (o.base, o.width(bits)) {
                (Base::Float, size) => {
                    format!("{v:#x}={:e}", fp::Fp { size, flush: false, rtz: false }.to_f64(v))
                }
                _ => format!("{v:#x}"),
            })
            .collect();
        let _ = write!(text, " ({})", items.join(", "));
    }
    let _ = write!(
        text,
        " component {component}: got {got:#x}, expected {} ({:?})",
        expected(value),
        value.free
    );
    text
}

/// Compares one opcode at one width with the oracle, at every point of the grid and in every environment.
pub fn compare(op: &Op, bits: u32, effort: Effort, fold: &mut Folder) -> Tally {
    let mut tally = Tally { ops: 1, ..Tally::default() };
    let mut envs =
        if op.is_float() { environments() } else { vec![Env::uniform(Denorm::Any, Rounding::Any)] };
    let mut random = Random(effort.seed ^ 0x5eed);
    // Conversions see two sizes at once: a few environments that differ by size.
    if op.is_float()
        && op.srcs.iter().chain([&op.dest]).any(|o| o.width(bits) != op.dest.width(bits))
    {
        envs.extend((0..8).map(|_| mixed_environment(&mut random)));
    }
    for (i, env) in envs.iter().enumerate() {
        if effort.first_only && !tally.agrees() {
            break;
        }
        let effort = Effort { seed: effort.seed.wrapping_add(i as u64 * 0x1_0001), ..effort };
        grid::points(op, bits, 1, effort, &mut |point| {
            if !effort.first_only || tally.agrees() {
                check(op, bits, 1, env, point, fold, &mut tally);
            }
        });
        if op.dest.comps == 0 {
            // Components must not see each other.
            for comps in [2, 3, 4, 5, 8, 16] {
                for _ in 0..effort.samples.div_ceil(50) {
                    let point: Vec<u64> = grid::slots(op, bits, comps)
                        .iter()
                        .map(|s| grid::random_value(&mut random, s.0, s.1))
                        .collect();
                    check(op, bits, comps, env, &point, fold, &mut tally);
                }
            }
        }
    }
    tally
}

/// Whether `same` holds at every point of an opcode at one width and in every environment; `None` where there are too
/// many points to ask.
pub fn equivalent(
    op: &Op,
    bits: u32,
    same: &mut dyn FnMut(&[Vec<u64>], &Env) -> bool,
) -> Option<bool> {
    let slots = grid::slots(op, bits, 1);
    let total: u32 = slots.iter().map(|s| s.1).sum();
    let envs =
        if op.is_float() { environments() } else { vec![Env::uniform(Denorm::Any, Rounding::Any)] };
    if total > if op.is_float() { 16 } else { 24 } {
        return None;
    }
    let mut srcs = Vec::new();
    let mut point = vec![0u64; slots.len()];
    for all in 0..1u64 << total {
        let mut rest = all;
        for (value, slot) in point.iter_mut().zip(&slots) {
            *value = rest & (u64::MAX >> (64 - slot.1));
            rest >>= slot.1;
        }
        grid::sources(op, 1, &point, &mut srcs);
        if !envs.iter().all(|env| same(&srcs, env)) {
            return Some(false);
        }
    }
    Some(true)
}

fn check(
    op: &Op,
    bits: u32,
    comps: u32,
    env: &Env,
    point: &[u64],
    fold: &mut Folder,
    tally: &mut Tally,
) {
    let mut srcs = Vec::new();
    grid::sources(op, comps, point, &mut srcs);
    let answer = eval_op(op, bits, comps, &srcs, env);
    let size = op.dest.width(bits);
    let mut got = [0u64; 16];
    let shadow = fold(comps, &srcs, env, &mut got);
    for (c, value) in answer.iter().enumerate() {
        tally.points += 1;
        let Some(shadow) = shadow else {
            tally.mismatches += 1;
            if tally.examples.len() < EXAMPLES {
                tally.examples.push(format!("{}@{bits}: the folder has no answer", op.name));
            }
            continue;
        };
        let marked = shadow.free >> c & 1 == 1;
        let right = accepts(value, size, got[c]);
        let unmarked = value.free == Free::Yes && !marked;
        tally.mismatches += u64::from(!right);
        tally.unmarked += u64::from(unmarked);
        let overmarked = value.free == Free::No && marked;
        tally.overmarked += u64::from(overmarked);
        match value.want {
            Want::Anything => tally.unbounded += 1,
            Want::Near { truth, tail, .. } if right => {
                let ulps = transcend::ulps(size, got[c], truth, tail);
                let rtz = fp::Fp::new(size, env).rtz;
                let largest = if rtz { &mut tally.ulps_rtz } else { &mut tally.ulps };
                *largest = largest.max(ulps);
            }
            _ => {}
        }
        if (!right || unmarked || overmarked) && tally.examples.len() < EXAMPLES {
            let mut text = describe(op, bits, env, &srcs, c, value, got[c]);
            if unmarked {
                text.push_str(", not marked as free");
            } else if overmarked {
                text.push_str(", marked as free");
            }
            tally.examples.push(text);
        }
    }
}

/// Tallies by family of opcodes, in a table.
pub fn table(tallies: &BTreeMap<&'static str, Tally>) -> Vec<String> {
    let mut lines = vec![format!(
        "{:<40} {:>9} {:>12} {:>10} {:>9} {:>10} {:>9} {:>8} {:>8}",
        "family",
        "op×sizes",
        "points",
        "mismatches",
        "unmarked",
        "overmarked",
        "unbounded",
        "ulps",
        "rtz"
    )];
    for (family, t) in tallies {
        let shown = |ulps: f64| if ulps > 0.0 { format!("{ulps:.3}") } else { String::new() };
        let (ulps, rtz) = (shown(t.ulps), shown(t.ulps_rtz));
        lines.push(format!(
            "{family:<40} {:>9} {:>12} {:>10} {:>9} {:>10} {:>9} {ulps:>8} {rtz:>8}",
            t.ops, t.points, t.mismatches, t.unmarked, t.overmarked, t.unbounded
        ));
    }
    lines
}

/// Whether the oracle has a meaning for every name that is given, and what it lacks.
pub fn unknown<'a>(names: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    names.filter(|name| TABLE.get(name).is_none()).collect()
}
