//! `deburr check`: do two compute modules compute the same?

use crate::codes;
use crate::input;
use crate::json::{Object, string};
use crate::options::{Reading, parse_subgroup_size};
use crate::report::{Diagnostic, Exit, Kind, Reporter, Trouble};
use deburr_eval::{
    BufferResult, BufferShape, Dispatch, Outcome, Trap, interface, run as run_module,
    workgroup_size,
};
use deburr_fuzz::{Difference, Verdict, compare_outcomes, random_dispatch};
use deburr_ir_core::{Block, Flags, Func, Member, Module, Stage, Type, TypeData, TypeTable};
use std::collections::HashSet;
use std::path::PathBuf;

/// Run two compute modules on the same random inputs and compare what they write.
#[derive(clap::Args)]
#[command(
    after_help = "Examples:\n  deburr check a.spv b.spv --float strict\n  deburr check a.wgsl b.spv --inputs 20 --seed 7 --json"
)]
pub struct Args {
    /// The first module
    #[arg(value_name = "A")]
    before: PathBuf,
    /// The second module
    #[arg(value_name = "B")]
    after: PathBuf,
    /// Number of inputs
    #[arg(long, value_name = "N", default_value_t = 8, value_parser = clap::value_parser!(u64).range(1..))]
    inputs: u64,
    /// Entry point; the only one if not given
    #[arg(long, value_name = "NAME")]
    entry: Option<String>,
    #[command(flatten)]
    reading: Reading,
    /// Invocations of a subgroup
    #[arg(long, value_name = "N", default_value_t = 32, value_parser = parse_subgroup_size)]
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
/// What to do where fuel runs out.
const MORE_FUEL: &str = "`--fuel N` allows more instructions; the shader may loop for ever";
/// How many times the first module's instructions the second may take at least.
const SLOWER: u64 = 10;
/// Inputs that `opt --check` tries.
const FEW: u64 = 4;

/// What a comparison found.
struct Found {
    /// Inputs on which the modules were compared.
    inputs: u64,
    /// Inputs that were tried.
    tried: u64,
    covered: HashSet<(Func, Block)>,
    blocks: usize,
    /// What differs first: in what the modules take, or in what they write.
    difference: Option<(codes::Cli, String)>,
    /// Words that differ as far as float licences explain.
    near: u64,
    /// Why inputs were left out, the last reason.
    skipped: Option<String>,
}

impl Found {
    fn new() -> Self {
        Found {
            inputs: 0,
            tried: 0,
            covered: HashSet::new(),
            blocks: 0,
            difference: None,
            near: 0,
            skipped: None,
        }
    }

    fn coverage(&self) -> f64 {
        if self.blocks == 0 { 0.0 } else { self.covered.len() as f64 / self.blocks as f64 }
    }

    fn json(&self) -> String {
        let text = self.difference.as_ref().map_or("null".into(), |(_, text)| string(text));
        let line = Object::line().raw("same", self.difference.is_none()).raw("inputs", self.inputs);
        let line = line.raw("blocks_covered", format!("{:.3}", self.coverage()));
        let line = line.raw("first_difference", text).raw("tried", self.tried);
        let line = line.raw("near", self.near);
        line.raw("skipped", self.skipped.as_deref().map_or("null".into(), string)).end()
    }

    fn text(&self) -> String {
        let inputs = match (&self.skipped, self.tried - self.inputs) {
            (Some(why), left @ 1..) => {
                format!("{} of {} inputs ({left} left out: {why})", self.inputs, self.tried)
            }
            _ => format!("{} inputs", self.inputs),
        };
        let covered = self.covered.len();
        let answer = match (&self.difference, self.near) {
            (Some(_), _) => "different".to_owned(),
            (None, 0) => "the same".to_owned(),
            (None, n) => format!("the same but for rounding in {n} words"),
        };
        format!("{answer}: {inputs}, {covered} of {} blocks covered", self.blocks)
    }
}

/// Runs the subcommand.
pub fn run(args: &Args, reporter: &mut Reporter) -> Exit {
    let found = match compare_files(args, reporter) {
        Ok(found) => found,
        Err(trouble) => return reporter.diagnose_all(&trouble),
    };
    if reporter.json {
        reporter.line(&found.json());
    } else {
        if let Some((code, difference)) = &found.difference {
            let file = args.after.to_string_lossy();
            reporter.diagnose(&Diagnostic::new(&file, Kind::Invalid, *code, difference));
        }
        if found.tried > 0 {
            reporter.remark(&found.text());
        }
    }
    if found.difference.is_none() { Exit::Ok } else { Exit::No }
}

fn compare_files(args: &Args, reporter: &mut Reporter) -> Result<Found, Trouble> {
    let before = input::load(&args.before, &args.reading)?;
    reporter.warn(&before.warnings);
    let after = input::load(&args.after, &args.reading)?;
    reporter.warn(&after.warnings);
    let mut dispatch = Dispatch::default();
    dispatch.entry = args.entry.clone();
    dispatch.subgroup_size = args.subgroup_size;
    dispatch.specs = args.reading.specs.clone();
    dispatch.fuel = args.fuel;
    let modules = [&before.module, &after.module];
    let names = [&*args.before.to_string_lossy(), &*args.after.to_string_lossy()];
    match interface_difference(names, modules, &dispatch)? {
        Some(what) => {
            let message = format!("the modules can't be compared: {what} differ");
            Ok(Found { difference: Some((codes::INTERFACE, message)), ..Found::new() })
        }
        None => compare(names, modules, &dispatch, args.seed, args.inputs),
    }
}

/// What is not the same of the buffers that both modules take and of their workgroups.
fn interface_difference(
    [first, second]: [&str; 2],
    [a, b]: [&Module; 2],
    dispatch: &Dispatch,
) -> Result<Option<&'static str>, Trouble> {
    let shapes = |file: &str, m: &Module| {
        let mut buffers = interface(m, &dispatch.specs).map_err(|t| trap(file, &t))?.buffers;
        buffers.sort_by_key(|b| (b.set, b.binding));
        Ok::<_, Trouble>(buffers)
    };
    let (mut x, mut y) = (shapes(first, a)?, shapes(second, b)?);
    // A buffer that one module no longer uses is no difference.
    let places = |buffers: &[BufferShape]| -> Vec<(u32, u32)> {
        buffers.iter().map(|b| (b.set, b.binding)).collect()
    };
    let (here, there) = (places(&x), places(&y));
    x.retain(|b| there.contains(&(b.set, b.binding)));
    y.retain(|b| here.contains(&(b.set, b.binding)));
    let layout = |b: &BufferShape| (b.shape.bytes, b.shape.stride);
    if x.iter().zip(&y).any(|(p, q)| layout(p) != layout(q)) {
        return Ok(Some("buffer layouts"));
    }
    if x.is_empty() && (!here.is_empty() || !there.is_empty()) {
        return Ok(Some("bindings"));
    }
    let size = |m: &Module| {
        let named = |name: &String| dispatch.entry.as_ref().is_none_or(|e| e == name);
        let entry = m.entry_points.iter().find(|e| e.stage == Stage::Compute && named(&e.name));
        entry.and_then(|e| workgroup_size(m, e, &dispatch.specs).ok())
    };
    let differ = matches!((size(a), size(b)), (Some(p), Some(q)) if p != q);
    Ok(differ.then_some("workgroup sizes"))
}

/// Inputs on which neither module ends, after which no other is tried.
const MOST_ENDLESS: u32 = 2;

fn compare(
    [first, second]: [&str; 2],
    [before, after]: [&Module; 2],
    dispatch: &Dispatch,
    seed: u64,
    inputs: u64,
) -> Result<Found, Trouble> {
    let mut found = Found::new();
    let (mut limit, mut endless) = (None, 0);
    let licensed = is_licensed(before);
    for n in 0..inputs {
        let mut given = dispatch.clone();
        given.groups = [[1, 1, 1], [2, 1, 1], [2, 2, 1]][(n % 3) as usize];
        let seed = seed.wrapping_mul(0x1_0001).wrapping_add(n);
        let given = random_dispatch(before, &given, seed).map_err(|t| trap(first, &t))?;
        found.tried += 1;
        let one = match run_module(before, &given) {
            Ok(outcome) => outcome,
            Err(t @ (Trap::Fuel | Trap::Limit(_))) => {
                found.skipped = Some(t.to_string());
                limit = limit.or_else(|| Some(trap(first, &t)));
                if t == Trap::Fuel && run_module(after, &given).err() == Some(Trap::Fuel) {
                    let fuel = given.fuel;
                    let message =
                        format!("neither module ends within {fuel} instructions (input {n})");
                    let d = Diagnostic::new(first, Kind::Limit, codes::RUN_LIMIT, message);
                    if endless == 0 {
                        limit = Some(d.help(MORE_FUEL));
                    }
                    // Shaders that loop for ever do so on most inputs, and each takes as long.
                    endless += 1;
                    if endless == MOST_ENDLESS {
                        break;
                    }
                }
                continue;
            }
            // What a barrier that is not reached by all means depends on the values of the input.
            Err(Trap::Barrier) => {
                found.skipped = Some(Trap::Barrier.to_string());
                continue;
            }
            Err(t) => return Err(trap(first, &t).into()),
        };
        found.covered.extend(one.covered.iter().copied());
        found.blocks = one.blocks;
        if one.free_control {
            found.skipped = Some("control flow depends on an undefined value".into());
            continue;
        }
        let groups = given.groups.map(|g| g.to_string()).join(",");
        let differs =
            |what: String| Some((codes::DIFFERS, format!("{what} (input {n}, groups {groups})")));
        // What ended in the first module has to end in the second, with room for more work.
        let mut ample = given.clone();
        ample.fuel = given.fuel.max(one.steps.saturating_mul(SLOWER));
        match run_module(after, &ample) {
            Ok(two) => match compare_outcomes(&one, &two) {
                Verdict::Same { .. } => found.inputs += 1,
                Verdict::Different(d) if !licensed => found.difference = differs(d.to_string()),
                Verdict::Different(_) => match rounding(before, &one, &two) {
                    Ok(words) => {
                        found.near += words;
                        found.inputs += 1;
                    }
                    Err(d) => found.difference = differs(d.to_string()),
                },
                Verdict::Trapped(t) => {
                    found.difference = differs(format!("the second module stops: {t}"));
                }
                Verdict::Skipped(why) => found.skipped = Some(why),
            },
            Err(Trap::Fuel) => {
                let (steps, fuel) = (one.steps, ample.fuel);
                let what = format!(
                    "the first module ends after {steps} instructions, the second not within {fuel}"
                );
                found.difference = differs(what);
            }
            Err(t @ Trap::Limit(_)) => {
                found.skipped = Some(format!("the second module: {t}"));
                limit = Some(trap(second, &t));
            }
            Err(t @ Trap::Unsupported(_)) => return Err(trap(second, &t).into()),
            Err(t) => found.difference = differs(format!("the second module stops: {t}")),
        }
        if found.difference.is_some() {
            found.inputs += 1;
            return Ok(found);
        }
    }
    match (found.inputs, limit, &found.skipped) {
        (0, Some(limit), _) => Err(limit.into()),
        (0, None, Some(why)) => {
            let message = format!("no input says anything: {why}");
            Err(Diagnostic::new(first, Kind::Unsupported, codes::RUN, message).into())
        }
        _ => Ok(found),
    }
}

/// Whether float arithmetic of the module may be rearranged.
fn is_licensed(m: &Module) -> bool {
    let bodies = m.functions.iter().filter(|f| f.has_body());
    bodies.into_iter().any(|f| f.all_instrs().any(|i| f.flags(i).intersects(Flags::LICENCES)))
}

/// Words that differ, if each is near as a float: within 2⁻⁸ of the larger value or 10⁻⁶. Only words that the buffer's type
/// says are 32-bit floats may be near, and only normal ones and zeros.
///
/// # Errors
/// The first word that isn't near.
fn rounding(m: &Module, first: &Outcome, second: &Outcome) -> Result<u64, Difference> {
    let pairs = first.buffers.iter().zip(&second.buffers);
    pairs
        .map(|(a, b)| {
            let binding = Some((a.buffer.set, a.buffer.binding));
            let types: Vec<Type> =
                m.vars.iter().filter(|v| v.binding == binding).map(|v| v.ty).collect();
            // Several variables may name one buffer, each with a type of its own.
            let is_float =
                |at: usize| !types.is_empty() && types.iter().all(|&t| float_at(&m.types, t, at));
            let word = |bytes: &[u8], at: usize| {
                bytes.get(at..at + 4).map_or(0, |w| u32::from_le_bytes([w[0], w[1], w[2], w[3]]))
            };
            rounded_words(a, &b.buffer.bytes, is_float).map_err(|offset| Difference {
                buffer: (a.buffer.set, a.buffer.binding),
                offset,
                before: word(&a.buffer.bytes, offset),
                after: word(&b.buffer.bytes, offset),
            })
        })
        .sum()
}

/// Whether the type has a 32-bit float at this byte. O(depth of the type).
fn float_at(types: &TypeTable, ty: Type, at: usize) -> bool {
    let (mut ty, mut at) = (ty, at);
    loop {
        ty = match &types[ty] {
            TypeData::Float { bits } => return *bits == 32,
            TypeData::Vector { elem, .. } => *elem,
            TypeData::Matrix { column, .. } => *column,
            TypeData::Array { elem, stride: 0, .. } => *elem,
            TypeData::Array { elem, stride, .. } => {
                at %= *stride as usize;
                *elem
            }
            TypeData::Struct(s) => {
                let offset = |m: &Member| m.offset.unwrap_or(0) as usize;
                let within = s.members.iter().filter(|m| offset(m) <= at);
                match within.max_by_key(|m| offset(m)) {
                    Some(member) => {
                        at -= offset(member);
                        member.ty
                    }
                    None => return false,
                }
            }
            _ => return false,
        }
    }
}

/// Words of one buffer that differ and are near; as an error the offset of the first that isn't near.
fn rounded_words(
    first: &BufferResult,
    second: &[u8],
    is_float: impl Fn(usize) -> bool,
) -> Result<u64, usize> {
    let bytes = &first.buffer.bytes;
    let is = |flags: &[bool], n: usize| flags.get(n).copied().unwrap_or(false);
    let mut words = 0;
    for at in (0..bytes.len()).step_by(4) {
        let word = at..bytes.len().min(at + 4);
        if word.clone().all(|n| second.get(n) == Some(&bytes[n]) || is(&first.free, n)) {
            continue;
        }
        let float = |v: &[u8]| Some(f32::from_le_bytes(v.get(word.clone())?.try_into().ok()?));
        let (Some(x), Some(y)) = (float(bytes), float(second)) else { return Err(at) };
        if y.is_nan() && word.clone().all(|n| is(&first.nan, n)) {
            continue;
        }
        let plain = is_float(at) && [x, y].iter().all(|v| *v == 0.0 || v.is_normal());
        let apart = (x - y).abs();
        if !plain || (apart > x.abs().max(y.abs()) / 256.0 && apart > 1e-6) {
            return Err(at);
        }
        words += 1;
    }
    Ok(words)
}

/// A run that didn't come to its end, as a diagnostic.
pub fn trap(file: &str, trap: &Trap) -> Diagnostic {
    let (kind, code) = match trap {
        Trap::Fuel | Trap::Limit(_) => (Kind::Limit, codes::RUN_LIMIT),
        // Whether all invocations reach a barrier depends on the buffers: the module may be right.
        Trap::Unsupported(_) | Trap::Barrier => (Kind::Unsupported, codes::RUN),
        _ => (Kind::Invalid, codes::RUN),
    };
    let d = Diagnostic::new(file, kind, code, trap.to_string());
    if *trap == Trap::Fuel { d.help(MORE_FUEL) } else { d }
}

/// `opt --check`: both modules on a few inputs. Modules without a compute entry point can't be run.
pub fn same(file: &str, before: &Module, after: &Module, seed: u64) -> Result<(), Trouble> {
    if !before.entry_points.iter().any(|e| e.stage == Stage::Compute) {
        let message = "`--check` runs compute shaders, and the module has none";
        return Err(Diagnostic::new(file, Kind::Unsupported, codes::RUN, message).into());
    }
    for entry in before.entry_points.iter().filter(|e| e.stage == Stage::Compute) {
        let mut dispatch = Dispatch::default();
        dispatch.fuel = FUEL;
        dispatch.entry = Some(entry.name.clone());
        let found = compare([file, file], [before, after], &dispatch, seed, FEW).map_err(|t| {
            // `opt` has no option for more fuel.
            t.into_iter().map(|d| Diagnostic { help: None, ..d }).collect::<Trouble>()
        })?;
        if let Some((code, difference)) = found.difference {
            let message = format!("the result computes something else: {difference}");
            let d = Diagnostic::new(file, Kind::Invalid, code, message);
            return Err(match is_licensed(before) {
                true => d.help(
                    "float arithmetic may be rearranged: `--float strict` compares bit for bit",
                ),
                false => d,
            }
            .into());
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use deburr_eval::Buffer;

    #[test]
    fn rounding_is_small_and_of_floats() {
        let bytes = |word: u32| [7u32.to_le_bytes(), word.to_le_bytes()].concat();
        let of = |x: u32, y: u32| {
            let buffer = Buffer { set: 0, binding: 0, element: 0, bytes: bytes(x) };
            let (free, nan) = (vec![false; 8], vec![true; 8]);
            // The first of the two words is an integer.
            rounded_words(&BufferResult { buffer, free, nan }, &bytes(y), |at| at == 4)
        };
        let float = f32::to_bits;
        assert_eq!(of(3, 3), Ok(0));
        assert_eq!(of(float(1.0), float(1.0) + 3), Ok(1));
        assert_eq!(of(float(1e-8), float(-1e-9)), Ok(1));
        assert_eq!(of(float(1.0), float(1.01)), Err(4));
        assert_eq!(of(float(1.0), float(-1.0)), Err(4));
        assert_eq!(of(float(f32::INFINITY), float(f32::MAX)), Err(4));
        assert_eq!(of(5, 6), Err(4), "small integers are denormals");
        assert_eq!(of(float(f32::NAN), float(1.0)), Err(4));
        assert_eq!(of(float(f32::NAN), float(f32::NAN) + 1), Ok(0), "its payload is free");
    }

    #[test]
    fn floats_are_where_the_type_has_them() {
        let m = deburr_ir_core::parse(
            "decl_type P = struct { f32x3 at (offset=0), u32 id (offset=12), }
decl_type B = struct(Block) { u32 n (offset=0), [P; *, stride=16] all (offset=16), }
decl_var ssbo B &b (0, 0)
decl_function f()
impl f { }",
        )
        .expect("the text is right");
        let found: Vec<bool> =
            (0..48).step_by(4).map(|at| float_at(&m.types, m.vars[0].ty, at)).collect();
        let particle = [true, true, true, false];
        assert_eq!(found[..4], [false; 4]);
        assert_eq!((&found[4..8], &found[8..]), (&particle[..], &particle[..]));
    }
}
