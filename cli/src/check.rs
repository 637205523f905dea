//! `deburr check`: do two compute modules compute the same?

use crate::codes;
use crate::input;
use crate::json::{Object, string};
use crate::options::Reading;
use crate::report::{Diagnostic, Exit, Kind, Reporter, Trouble};
use deburr_eval::{Dispatch, Outcome, Trap, interface, run as run_module, workgroup_size};
use deburr_fuzz::{Verdict, compare_outcomes, random_dispatch};
use deburr_ir_core::{Block, Func, Module, Stage};
use std::collections::HashSet;

/// Run two compute modules on the same random inputs and compare what they write.
#[derive(clap::Args)]
#[command(
    after_help = "Examples:\n  deburr check a.spv b.spv --float strict\n  deburr check a.wgsl b.spv --inputs 20 --seed 7 --json"
)]
pub struct Args {
    /// The first module
    #[arg(value_name = "A")]
    before: String,
    /// The second module
    #[arg(value_name = "B")]
    after: String,
    /// Number of inputs
    #[arg(long, value_name = "N", default_value_t = 8)]
    inputs: u64,
    /// Entry point; the only one if not given
    #[arg(long, value_name = "NAME")]
    entry: Option<String>,
    #[command(flatten)]
    reading: Reading,
    /// Invocations of a subgroup
    #[arg(long, value_name = "N", default_value_t = 32)]
    subgroup_size: u32,
    /// Seed of the inputs
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// Instructions after which a run is given up
    #[arg(long, value_name = "N", default_value_t = FUEL)]
    fuel: u64,
}

/// Instructions after which a run is given up, if the command line doesn't say.
const FUEL: u64 = 1 << 24;
/// Inputs that `opt --check` tries.
const FEW: u64 = 4;

/// What a comparison found.
struct Found {
    /// Inputs on which the first module ran to its end.
    inputs: u64,
    covered: HashSet<(Func, Block)>,
    blocks: usize,
    difference: Option<String>,
    /// Why inputs were left out.
    skipped: Option<String>,
}

impl Found {
    fn coverage(&self) -> f64 {
        if self.blocks == 0 { 0.0 } else { self.covered.len() as f64 / self.blocks as f64 }
    }
}

/// Runs the subcommand.
pub fn run(args: &Args, reporter: &mut Reporter) -> Exit {
    let found = match compare_files(args) {
        Ok(found) => found,
        Err(trouble) => return reporter.diagnose_all(&trouble),
    };
    let same = found.difference.is_none();
    if reporter.json {
        let difference = found.difference.as_deref().map_or("null".into(), string);
        let line = Object::line().raw("same", same).raw("inputs", found.inputs);
        let line = line.raw("blocks_covered", format!("{:.3}", found.coverage()));
        reporter.line(&line.raw("first_difference", difference).end());
    } else {
        let coverage = format!(
            "{} inputs, {} of {} blocks covered",
            found.inputs,
            found.covered.len(),
            found.blocks
        );
        match &found.difference {
            None => reporter.remark(&format!("the same: {coverage}")),
            Some(difference) => {
                let d = Diagnostic::new(&args.after, Kind::Invalid, codes::DIFFERS, difference);
                reporter.diagnose(&d);
                reporter.remark(&format!("different: {coverage}"));
            }
        }
    }
    if same { Exit::Ok } else { Exit::No }
}

fn compare_files(args: &Args) -> Result<Found, Trouble> {
    let options = args.reading.options();
    let before = input::load(&args.before, &options)?.module;
    let after = input::load(&args.after, &options)?.module;
    let mut dispatch = Dispatch::default();
    dispatch.entry = args.entry.clone();
    dispatch.subgroup_size = args.subgroup_size;
    dispatch.specs = args.reading.specs.clone();
    dispatch.fuel = args.fuel;
    same_interface(&args.after, &before, &after, &dispatch)?;
    compare(&args.before, (&before, &after), &dispatch, args.seed, args.inputs)
}

/// Whether both modules take the same buffers and have the same workgroups.
fn same_interface(file: &str, a: &Module, b: &Module, dispatch: &Dispatch) -> Result<(), Trouble> {
    let differ = |what: &str| {
        let message = format!("the modules can't be compared: {what} differ");
        Err(Diagnostic::new(file, Kind::Invalid, codes::INTERFACE, message).into())
    };
    let shapes = |m: &Module| interface(m, &dispatch.specs).map_err(|t| trap(file, &t));
    let (mut x, mut y) = (shapes(a)?, shapes(b)?);
    // A buffer that one module no longer uses is no difference.
    let places = |i: &deburr_eval::Interface| -> Vec<(u32, u32)> {
        i.buffers.iter().map(|b| (b.set, b.binding)).collect()
    };
    let (here, there) = (places(&x), places(&y));
    x.buffers.retain(|b| there.contains(&(b.set, b.binding)));
    y.buffers.retain(|b| here.contains(&(b.set, b.binding)));
    if x.buffers
        .iter()
        .zip(&y.buffers)
        .any(|(p, q)| (p.shape.bytes, p.shape.stride) != (q.shape.bytes, q.shape.stride))
    {
        return differ("buffer layouts");
    }
    let shared = here.iter().any(|p| there.contains(p));
    if !shared && (!here.is_empty() || !there.is_empty()) {
        return differ("bindings");
    }
    let size = |m: &Module| {
        let named = |name: &String| dispatch.entry.as_ref().is_none_or(|e| e == name);
        let entry = m.entry_points.iter().find(|e| e.stage == Stage::Compute && named(&e.name));
        entry.and_then(|e| workgroup_size(m, e, &dispatch.specs).ok())
    };
    if let (Some(p), Some(q)) = (size(a), size(b))
        && p != q
    {
        return differ("workgroup sizes");
    }
    Ok(())
}

fn compare(
    file: &str,
    (before, after): (&Module, &Module),
    dispatch: &Dispatch,
    seed: u64,
    inputs: u64,
) -> Result<Found, Trouble> {
    let mut found =
        Found { inputs: 0, covered: HashSet::new(), blocks: 0, difference: None, skipped: None };
    let mut limit = None;
    for n in 0..inputs {
        let mut given = dispatch.clone();
        given.groups = [[1, 1, 1], [2, 1, 1], [2, 2, 1]][(n % 3) as usize];
        let seed = seed.wrapping_mul(0x1_0001).wrapping_add(n);
        let given = random_dispatch(before, &given, seed).map_err(|t| trap(file, &t))?;
        let first = match run_module(before, &given) {
            Ok(outcome) => outcome,
            Err(t @ (Trap::Fuel | Trap::Limit(_))) => {
                limit = Some(t);
                continue;
            }
            Err(t) => return Err(trap(file, &t).into()),
        };
        note(&mut found, &first);
        if first.free_control {
            found.skipped = Some("control flow depends on an undefined value".into());
            continue;
        }
        found.inputs += 1;
        let groups = given.groups.map(|g| g.to_string()).join(",");
        match run_module(after, &given) {
            Ok(second) => {
                if let Verdict::Different(d) = compare_outcomes(&first, &second) {
                    found.difference = Some(format!("{d} (input {n}, groups {groups})"));
                    break;
                }
            }
            Err(Trap::Fuel) => limit = Some(Trap::Fuel),
            Err(t) => {
                found.difference =
                    Some(format!("the second module stops: {t} (input {n}, groups {groups})"));
                break;
            }
        }
    }
    match (found.inputs, limit, &found.skipped) {
        (0, Some(t), _) => Err(trap(file, &t).into()),
        (0, None, Some(why)) => {
            let message = format!("no input says anything: {why}");
            Err(Diagnostic::new(file, Kind::Unsupported, codes::RUN, message).into())
        }
        _ => Ok(found),
    }
}

fn note(found: &mut Found, outcome: &Outcome) {
    found.covered.extend(outcome.covered.iter().copied());
    found.blocks = outcome.blocks;
}

/// A run that didn't come to its end, as a diagnostic.
pub fn trap(file: &str, trap: &Trap) -> Diagnostic {
    let (kind, code) = match trap {
        Trap::Fuel | Trap::Limit(_) => (Kind::Limit, codes::RUN_LIMIT),
        Trap::Unsupported(_) => (Kind::Unsupported, codes::RUN),
        _ => (Kind::Invalid, codes::RUN),
    };
    Diagnostic::new(file, kind, code, trap.to_string())
}

/// `opt --check`: both modules on a few inputs. Modules without a compute entry point can't be run.
pub fn same(file: &str, before: &Module, after: &Module, seed: u64) -> Result<(), Trouble> {
    let mut dispatch = Dispatch::default();
    dispatch.fuel = FUEL;
    let found = compare(file, (before, after), &dispatch, seed, FEW)?;
    match found.difference {
        None => Ok(()),
        Some(difference) => {
            let message = format!("the result computes something else: {difference}");
            Err(Diagnostic::new(file, Kind::Invalid, codes::DIFFERS, message).into())
        }
    }
}
