//! The folder against the independent oracle, and the oracle against mutants of the definitions.
//!
//! Every opcode but the derivatives, at every width, in the nine uniform float environments and, for conversions, in
//! mixed ones: exhaustively at 8 bits and for unary f16, at all pairs of 40 edge values, at random above. Then 300 mutants
//! of `eval` trees, of which the same comparison must kill 99 %.

use super::{Args, Outcome, Verdict};
use crate::mutate::{self, Definition, Mutant, tree};
use crate::oracle::compare::{Tally, compare, environments, equivalent, table};
use crate::oracle::grid::Effort;
use crate::oracle::{self, Base, Op, TABLE};
use deburr_ir_core::{ALU_INFO, AluInfo, AluOp, AluProps, AluType, BaseType, fold};
use deburr_rulegen::expr::Expr;
use deburr_rulegen::tables::{OpDef, Tables};
use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Mutants at full size.
const MUTANTS: u64 = 300;

/// Measures the line.
pub fn run(args: &Args) -> Outcome {
    let (tallies, errors, mut problems) = folder(args);
    let mut list = table(&tallies);
    list.extend(errors);
    let mut total = Tally::default();
    tallies.values().for_each(|t| total.merge(t.clone()));
    list.extend(total.examples.iter().map(|e| format!("differs: {e}")));
    let killed = match tree::tables() {
        Ok(tables) => mutants(args, &tables, &mut list),
        Err(why) => {
            problems.push(why);
            Kills::default()
        }
    };
    list.extend(problems.iter().map(|p| format!("problem: {p}")));
    let rate = killed.rate();
    Outcome {
        figure: format!(
            "{} of {} result components differ over {} opcodes × widths, {} choices wrongly marked, largest error {:.3} ulps; \
             {} of {} mutants killed, {} shown equivalent: {:.2} %",
            total.mismatches,
            total.points,
            total.ops,
            total.unmarked + total.overmarked,
            total.ulps,
            killed.killed,
            killed.made,
            killed.equivalent,
            rate * 100.0
        ),
        target: "0 differences, ≥ 99 % of the mutants killed".to_string(),
        verdict: Verdict::of(
            total.agrees() && total.points > 0 && problems.is_empty() && killed.enough(),
        ),
        list,
    }
}

fn effort(args: &Args, samples: u64) -> Effort {
    Effort {
        samples: args.count(samples).max(20),
        thin: if args.cases >= 1.0 { 1 } else { 61 },
        seed: args.seed,
        first_only: false,
    }
}

/// Runs `work` on every item, on all processors, and gives the results in order.
fn in_parallel<T: Sync, R: Send>(items: &[T], work: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let next = AtomicUsize::new(0);
    let results = Mutex::new(Vec::new());
    let threads = std::thread::available_parallelism().map_or(1, |n| n.get());
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                loop {
                    let i = next.fetch_add(1, Ordering::Relaxed);
                    let Some(item) = items.get(i) else { break };
                    let result = work(item);
                    results.lock().unwrap_or_else(|e| e.into_inner()).push((i, result));
                }
            });
        }
    });
    let mut results = results.into_inner().unwrap_or_else(|e| e.into_inner());
    results.sort_by_key(|(i, _)| *i);
    results.into_iter().map(|(_, result)| result).collect()
}

/// The folder's signature of an opcode against the oracle's.
fn same_shape(info: &AluInfo, op: &Op) -> bool {
    let same = |ty: &AluType, o: &oracle::Operand| {
        let base = match ty.base {
            BaseType::Int => Base::Int,
            BaseType::Uint => Base::Uint,
            BaseType::Float => Base::Float,
            BaseType::Bool => Base::Bool,
        };
        (base, u32::from(ty.bits), u32::from(ty.comps)) == (o.base, o.size, o.comps)
    };
    info.inputs.len() == op.srcs.len()
        && info.inputs.iter().zip(&op.srcs).all(|(ty, o)| same(ty, o))
        && same(&info.output, &op.dest)
}

/// Widths at which an opcode of the table exists; 0 stands for one that has no width of its own.
fn widths(sizes: &[u8]) -> Vec<u32> {
    if sizes.is_empty() { vec![0] } else { sizes.iter().map(|&s| s.into()).collect() }
}

/// Compares the generated folder with the oracle: tallies by family, the largest error of each transcendental, and
/// opcodes that could not be compared.
fn folder(args: &Args) -> (BTreeMap<&'static str, Tally>, Vec<String>, Vec<String>) {
    let mut problems = Vec::new();
    let mut work = Vec::new();
    for (id, info) in ALU_INFO.iter().enumerate() {
        if info.props.contains(AluProps::DERIVATIVE) {
            continue;
        }
        match TABLE.get(info.name) {
            None => problems.push(format!("the oracle has no {}", info.name)),
            Some(op) if !same_shape(info, op) => {
                problems.push(format!("{} has another signature", info.name))
            }
            Some(op) => {
                work.extend(widths(info.sizes).into_iter().map(|bits| (AluOp(id as u16), op, bits)))
            }
        }
    }
    let effort = effort(args, 2000);
    let found = in_parallel(&work, |&(op, of, bits)| {
        compare(of, bits, effort, &mut |comps, srcs, env, out| {
            let srcs: Vec<&[u64]> = srcs.iter().map(Vec::as_slice).collect();
            let env = tree::environment(env);
            let shadow = fold::fold(op, bits as u8, comps as u8, &srcs, &env, out)?;
            Some(oracle::compare::Shadow { free: shadow.free, nan: shadow.nan })
        })
    });
    let mut tallies = BTreeMap::<&'static str, Tally>::new();
    let mut errors = BTreeMap::<&str, String>::new();
    for (&(_, op, bits), tally) in work.iter().zip(found) {
        if tally.ulps > 0.0 {
            let line = errors
                .entry(&op.name)
                .or_insert_with(|| format!("largest error of {} in ulps:", op.name));
            line.push_str(&format!(
                " {:.3} ({:.3} rtz) at {bits} bits",
                tally.ulps, tally.ulps_rtz
            ));
        }
        tallies.entry(op.family).or_default().merge(tally);
    }
    (tallies, errors.into_values().collect(), problems)
}

/// What became of the mutants.
#[derive(Default)]
struct Kills {
    made: u64,
    killed: u64,
    equivalent: u64,
}

impl Kills {
    /// Whether 99 % are killed; of fewer than a hundred, all but one.
    fn enough(&self) -> bool {
        let live = self.made - self.equivalent;
        live > 0 && live - self.killed <= (live / 100).max(1)
    }

    /// Killed, of those that are not equivalent to the original.
    fn rate(&self) -> f64 {
        let live = self.made - self.equivalent;
        if live == 0 { 0.0 } else { self.killed as f64 / live as f64 }
    }
}

/// The fate of one mutant.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Fate {
    Killed,
    Equivalent,
    Survived,
}

fn fate(def: &OpDef, op: &Op, original: &Expr, mutant: &Mutant, effort: Effort) -> Fate {
    let quirk =
        mutant.quirk.and_then(|(number, quirk)| Some((mutate::node(&mutant.tree, number)?, quirk)));
    let killed = widths(&def.sizes).into_iter().any(|bits| {
        let found = compare(
            op,
            bits,
            Effort { first_only: true, ..effort },
            &mut |comps, srcs, env, out| {
                Some(tree::fold(def, &mutant.tree, quirk, (bits, comps), srcs, env, out))
            },
        );
        !found.agrees()
    });
    if killed {
        return Fate::Killed;
    }
    if mutate::in_second_choice(original, mutant.number) {
        return Fate::Survived;
    }
    let same = widths(&def.sizes).into_iter().filter_map(|bits| {
        equivalent(op, bits, &mut |srcs, env| {
            let (mut one, mut other) = ([0; 16], [0; 16]);
            let first = tree::fold(def, original, None, (bits, 1), srcs, env, &mut one);
            let second = tree::fold(def, &mutant.tree, quirk, (bits, 1), srcs, env, &mut other);
            one == other && first.free == second.free
        })
    });
    let shown: Vec<bool> = same.collect();
    let whole = !shown.is_empty() && shown.iter().all(|&s| s);
    if whole || mutate::local::equivalent(def, original, mutant, &environments()) {
        Fate::Equivalent
    } else {
        Fate::Survived
    }
}

/// Makes and kills mutants; those that survive are listed.
fn mutants(args: &Args, tables: &Tables, list: &mut Vec<String>) -> Kills {
    let definitions: Vec<Definition> = tables
        .ops
        .iter()
        .filter_map(|op| {
            let exact =
                TABLE.get(&op.name).is_some_and(|o| o.family != "determinants and inverses");
            Some(Definition { op, tree: tree::definition(op)?, exact })
        })
        .collect();
    let sampled = mutate::sample(&definitions, args.count(MUTANTS).max(12) as usize, args.seed);
    // Few mutants, but each at the full grid: it is the grid that is asked whether it would notice.
    let effort = Effort { samples: 2000, thin: 1, seed: args.seed, first_only: true };
    let fates =
        in_parallel(&sampled, |(definition, mutant)| match TABLE.get(&definition.op.name) {
            Some(op) => fate(definition.op, op, definition.tree, mutant, effort),
            None => Fate::Survived,
        });
    let mut kills = Kills { made: sampled.len() as u64, ..Kills::default() };
    for ((definition, mutant), fate) in sampled.iter().zip(&fates) {
        match fate {
            Fate::Killed => kills.killed += 1,
            Fate::Equivalent => {
                kills.equivalent += 1;
                list.push(format!("equivalent mutant: {}: {}", definition.op.name, mutant.what));
            }
            Fate::Survived => {
                list.push(format!("surviving mutant: {}: {}", definition.op.name, mutant.what))
            }
        }
    }
    kills
}
