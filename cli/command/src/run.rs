//! `deburr run`: a compute shader on given buffers, by the reference interpreter.

use crate::check::trap;
use crate::codes;
use crate::input::{self, read_bytes};
use crate::json::{Object, list};
use crate::options::{Reading, parse_subgroup_size};
use crate::output;
use crate::report::{Diagnostic, Exit, Kind, Reporter, Trouble};
use deburr_eval::{Buffer, BufferResult, Dispatch, Outcome, interface, run as run_module};
use deburr_fuzz::random_dispatch;
use std::path::PathBuf;

/// Run a compute shader on buffers of raw little-endian bytes.
#[derive(clap::Args)]
#[command(
    after_help = "Examples:\n  deburr run shader.spv --groups 4,1,1 --bind 0.0=in.bin --bind 0.1=:out=out.bin\n  deburr run shader.wgsl --entry main --seed 7 --json"
)]
pub struct Args {
    /// Input; `-` is standard input
    #[arg(value_name = "IN")]
    input: PathBuf,
    /// Entry point; the only one if not given
    #[arg(long, value_name = "NAME")]
    entry: Option<String>,
    /// Workgroups
    #[arg(long, value_name = "X,Y,Z", default_value = "1,1,1", value_parser = parse_groups)]
    groups: [u32; 3],
    /// A buffer: SET.BINDING=FILE[:out=FILE2]; random without FILE
    #[arg(long, value_name = "BIND", value_parser = parse_bind)]
    bind: Vec<Bind>,
    /// Push constants
    #[arg(long, value_name = "FILE")]
    push: Option<PathBuf>,
    #[command(flatten)]
    reading: Reading,
    /// A stage input; compute shaders have none
    #[arg(long = "input", value_name = "LOC=FILE")]
    input_at: Vec<String>,
    /// Invocations of a subgroup
    #[arg(long, value_name = "N", default_value_t = 32, value_parser = parse_subgroup_size)]
    subgroup_size: u32,
    /// Let invocations take turns from the last to the first: tells races
    #[arg(long)]
    reverse: bool,
    /// Seed of what no file gives
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// Instructions after which the run is given up
    #[arg(long, value_name = "N", default_value_t = FUEL)]
    fuel: u64,
}

/// Instructions after which the run is given up, if the command line doesn't say: some seconds.
const FUEL: u64 = 1 << 26;

/// A `--bind` option.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Bind {
    place: (u32, u32, u32),
    file: Option<String>,
    out: Option<String>,
}

fn parse_groups(text: &str) -> Result<[u32; 3], String> {
    let sizes: Result<Vec<u32>, _> = text.split(',').map(|n| n.trim().parse()).collect();
    match sizes.as_deref() {
        Ok([x]) => Ok([*x, 1, 1]),
        Ok([x, y]) => Ok([*x, *y, 1]),
        Ok([x, y, z]) => Ok([*x, *y, *z]),
        _ => Err("up to three numbers are expected".into()),
    }
}

fn parse_bind(text: &str) -> Result<Bind, String> {
    let (place, files) = text.split_once('=').ok_or("SET.BINDING=FILE is expected")?;
    let numbers: Result<Vec<u32>, _> = place.split('.').map(str::parse).collect();
    let place = match numbers.as_deref() {
        Ok([set, binding]) => (*set, *binding, 0),
        Ok([set, binding, element]) => (*set, *binding, *element),
        _ => return Err(format!("`{place}`: SET.BINDING is expected")),
    };
    let (file, out) = match files.split_once(":out=") {
        Some((file, out)) => (file, Some(out.to_owned())),
        None => (files, None),
    };
    Ok(Bind { place, file: Some(file.to_owned()).filter(|f| !f.is_empty()), out })
}

/// Runs the subcommand.
pub fn run(args: &Args, reporter: &mut Reporter) -> Exit {
    if let Some(first) = args.input_at.first() {
        return reporter.usage(&format!(
            "`--input {first}`: only compute shaders can be run, and they have no stage inputs"
        ));
    }
    match dispatch(args, reporter) {
        Ok((outcome, given)) => {
            tell(args, &outcome, &given, reporter);
            Exit::Ok
        }
        Err(trouble) => reporter.diagnose_all(&trouble),
    }
}

fn dispatch(args: &Args, reporter: &mut Reporter) -> Result<(Outcome, Dispatch), Trouble> {
    let loaded = input::load(&args.input, &args.reading)?;
    reporter.warn(&loaded.warnings);
    let (module, name) = (loaded.module, &*args.input.to_string_lossy());
    let mut given = Dispatch::default();
    given.entry = args.entry.clone();
    given.groups = args.groups;
    given.specs = args.reading.specs.clone();
    given.subgroup_size = args.subgroup_size;
    given.reverse = args.reverse;
    given.fuel = args.fuel;
    let shapes = interface(&module, &given.specs).map_err(|t| trap(name, &t))?;
    for (n, bind) in args.bind.iter().enumerate() {
        let (set, binding, element) = bind.place;
        let twice = |b: &Bind| b.place == bind.place && b.file.is_some() && bind.file.is_some();
        if args.bind[..n].iter().any(twice) {
            let message = format!("set {set}, binding {binding} is given two files");
            return Err(Diagnostic::new(name, Kind::Invalid, codes::RUN_BIND, message).into());
        }
        let known = shapes
            .buffers
            .iter()
            .any(|b| (b.set, b.binding) == (set, binding) && element < b.elements);
        if !known {
            let message = format!(
                "the module has no buffer at set {set}, binding {binding}, element {element}"
            );
            return Err(Diagnostic::new(name, Kind::Invalid, codes::RUN_BIND, message).into());
        }
        if let Some(file) = &bind.file {
            given.buffers.push(Buffer { set, binding, element, bytes: read_bytes(file.as_ref())? });
        }
    }
    if let Some(file) = &args.push {
        if shapes.push.is_none() {
            let message = "the module has no push constants";
            return Err(Diagnostic::new(name, Kind::Invalid, codes::RUN_BIND, message).into());
        }
        given.push = read_bytes(file.as_ref())?;
    }
    let given = random_dispatch(&module, &given, args.seed).map_err(|t| trap(name, &t))?;
    let outcome = run_module(&module, &given).map_err(|t| trap(name, &t))?;
    for bind in &args.bind {
        let Some(out) = &bind.out else { continue };
        let found = outcome.buffers.iter().find(|b| place(b) == bind.place);
        output::write(out.as_ref(), found.map_or(&[][..], |b| &b.buffer.bytes), reporter)?;
    }
    Ok((outcome, given))
}

fn place(b: &BufferResult) -> (u32, u32, u32) {
    (b.buffer.set, b.buffer.binding, b.buffer.element)
}

fn tell(args: &Args, outcome: &Outcome, given: &Dispatch, reporter: &mut Reporter) {
    // With a buffer on stdout nothing else may be there.
    let aside = args.bind.iter().any(|b| b.out.as_deref() == Some("-"));
    let (mut buffers, mut text) = (Vec::new(), Vec::new());
    for b in &outcome.buffers {
        let (set, binding, element) = place(b);
        let before = given.buffers.iter().find(|g| (g.set, g.binding, g.element) == place(b));
        let changed = before.map_or(0, |before| {
            before.bytes.iter().zip(&b.buffer.bytes).filter(|(x, y)| x != y).count()
        });
        let (bytes, hash) = (b.buffer.bytes.len(), fnv(&b.buffer.bytes));
        let free = b.free.iter().filter(|f| **f).count();
        if reporter.json {
            let entry =
                Object::nested().raw("set", set).raw("binding", binding).raw("element", element);
            let entry = entry.raw("bytes", bytes).raw("changed", changed).raw("free", free);
            buffers.push(entry.str("hash", &format!("{hash:016x}")).end());
        } else {
            text.push(format!(
                "set {set} binding {binding}: {bytes} bytes, {changed} changed, hash {hash:016x}"
            ));
        }
    }
    let (covered, blocks) = (outcome.covered.len(), outcome.blocks);
    if reporter.json {
        let line =
            Object::line().str("file", &args.input.to_string_lossy()).raw("steps", outcome.steps);
        let line = line.raw("blocks", blocks).raw("blocks_covered", covered);
        let line = line
            .raw("out_of_bounds", outcome.out_of_bounds)
            .raw("free_control", outcome.free_control);
        text.push(line.raw("buffers", list(buffers)).end());
    } else {
        text.push(format!("{} instructions, {covered} of {blocks} blocks", outcome.steps));
        if outcome.out_of_bounds {
            text.push("an access was out of bounds".into());
        }
        if outcome.free_control {
            text.push(
                "control flow depends on an undefined value: the result is one of many".into(),
            );
        }
    }
    for line in text {
        match (aside, reporter.json) {
            (true, _) => reporter.aside(&line),
            (false, true) => reporter.line(&line),
            (false, false) => reporter.remark(&line),
        }
    }
}

/// A hash of bytes that is the same everywhere (FNV-1a; Fowler, Noll, Vo).
fn fnv(bytes: &[u8]) -> u64 {
    let step = |h: u64, b: &u8| (h ^ u64::from(*b)).wrapping_mul(0x100_0000_01b3);
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, step)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bindings_have_files() {
        let bind = parse_bind("0.3=in.bin:out=out.bin").unwrap();
        assert_eq!(bind.place, (0, 3, 0));
        assert_eq!((bind.file.as_deref(), bind.out.as_deref()), (Some("in.bin"), Some("out.bin")));
        let bind = parse_bind("1.0.2=:out=x").unwrap();
        assert_eq!((bind.place, bind.file), ((1, 0, 2), None));
        assert!(parse_bind("0=x").is_err() && parse_bind("0.0").is_err());
    }

    #[test]
    fn groups_fill_up() {
        assert_eq!(parse_groups("4"), Ok([4, 1, 1]));
        assert_eq!(parse_groups("4,2,3"), Ok([4, 2, 3]));
        assert!(parse_groups("4,2,3,1").is_err() && parse_groups("x").is_err());
    }

    #[test]
    fn the_hash_is_the_published_one() {
        assert_eq!(fnv(b"foobar"), 0x8594_4171_f739_67e8);
    }
}
