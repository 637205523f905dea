//! `deburr opt`: optimise modules.

use crate::input::{Input, Loaded, spirv_diagnostic};
use crate::output;
use crate::report::{Diagnostic, Exit, Kind, Reporter, json_string};
use deburr_algebraic::Target;
use deburr_ir_core::{InstrKind, Module};
use deburr_passes::{DEFAULT, Options, Pipeline, Report};
use deburr_spirv::{Counts, FloatMode, ReadOptions, WriteOptions};
use std::path::Path;
use std::time::Instant;

/// Optimise modules: SPIR-V, WGSL, GLSL or IR text.
#[derive(clap::Args)]
#[command(after_help = "Examples:\n  deburr opt shader.wgsl -o shader.spv\n  deburr opt *.spv -o out/ --float strict")]
pub struct Args {
    /// Inputs; `-` is standard input
    #[arg(required = true)]
    inputs: Vec<String>,
    /// Output file; `-` is stdout, `DIR/` a folder (needed for several inputs)
    #[arg(short, long)]
    output: Option<String>,
    /// Kind of output; by OUT's extension otherwise
    #[arg(long, value_enum)]
    emit: Option<Emit>,
    /// Passes; `none` only reads and writes
    #[arg(long, default_value = DEFAULT, hide_default_value = true)]
    passes: String,
    /// What float arithmetic may do without a mode that says so
    #[arg(long, value_enum, default_value_t = Float::Vulkan)]
    float: Float,
    /// Freeze a specialisation constant
    #[arg(long = "spec", value_name = "ID=V", value_parser = parse_spec)]
    specs: Vec<(u32, u64)>,
    /// A rule that must not fire
    #[arg(long = "disable-rule", value_name = "NAME")]
    disabled: Vec<String>,
    /// Keep lines and debug information
    #[arg(long)]
    debug: bool,
    /// Print counts by kind and what each pass did
    #[arg(long)]
    stats: bool,
    /// Print the time of each pass
    #[arg(long)]
    time_passes: bool,
    /// Print the module after each run of this pass
    #[arg(long, value_name = "PASS")]
    print_after: Option<String>,
    /// Don't validate between passes
    #[arg(long)]
    no_validate: bool,
}

/// Kinds of output.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Emit {
    /// SPIR-V
    Spv,
    /// IR text
    Ir,
    /// WGSL, where naga can read the result
    Wgsl,
}

/// Float modes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Float {
    /// As Vulkan allows
    Vulkan,
    /// The same, but NaN and infinity are kept
    KeepNan,
    /// Nothing is rearranged
    Strict,
}

impl Float {
    /// The reader's mode.
    pub fn mode(self) -> FloatMode {
        match self {
            Float::Vulkan => FloatMode::Vulkan,
            Float::KeepNan => FloatMode::KeepNan,
            Float::Strict => FloatMode::Strict,
        }
    }
}

/// `ID=V` with V decimal, hexadecimal or `true`/`false`.
pub fn parse_spec(text: &str) -> Result<(u32, u64), String> {
    let (id, value) = text.split_once('=').ok_or("ID=VALUE is expected")?;
    let id = id.trim().parse().map_err(|_| format!("`{id}` is no number"))?;
    let value = match value.trim() {
        "true" => 1,
        "false" => 0,
        v => match v.strip_prefix("0x") {
            Some(hex) => u64::from_str_radix(hex, 16).map_err(|_| format!("`{v}` is no number"))?,
            None => v.parse::<i64>().map(|v| v as u64).or_else(|_| v.parse()).map_err(|_| format!("`{v}` is no number"))?,
        },
    };
    Ok((id, value))
}

/// Counts of IR instructions by kind, in the order of the JSON fields.
#[derive(Clone, Copy, Default)]
struct Kinds([u64; 8]);

const KIND_NAMES: [&str; 8] = ["alu", "intrinsic", "tex", "deref", "phi", "load_const", "jump", "call"];

impl Kinds {
    fn of(m: &Module) -> Self {
        let mut kinds = Kinds::default();
        for f in m.functions.iter().filter(|f| f.has_body()) {
            for instr in f.all_instrs() {
                let slot = match f.kind(instr) {
                    InstrKind::Alu => 0,
                    InstrKind::Intrinsic => 1,
                    InstrKind::Tex => 2,
                    InstrKind::Deref => 3,
                    InstrKind::Phi => 4,
                    InstrKind::LoadConst | InstrKind::Undef => 5,
                    InstrKind::Jump => 6,
                    InstrKind::Call => 7,
                    InstrKind::ParallelCopy => continue,
                };
                kinds.0[slot] += 1;
            }
        }
        kinds
    }

    fn json(&self) -> String {
        let fields: Vec<String> = KIND_NAMES.iter().zip(self.0).map(|(n, v)| format!("\"{n}\":{v}")).collect();
        format!("{{{}}}", fields.join(","))
    }
}

/// Runs the subcommand.
pub fn run(args: &Args, reporter: &mut Reporter) -> Exit {
    let pipeline = match Pipeline::parse(&args.passes) {
        Ok(pipeline) => pipeline,
        Err(error) => return reporter.usage(&error.to_string()),
    };
    let folder = args.output.as_deref().is_some_and(|o| o.ends_with('/') || Path::new(o).is_dir());
    if args.inputs.len() > 1 && !folder {
        return reporter.usage("several inputs need `-o DIR/`");
    }
    if let Some(dir) = args.output.as_deref().filter(|_| folder)
        && let Err(e) = std::fs::create_dir_all(dir)
    {
        return reporter.diagnose(&Diagnostic::new(dir, Kind::Invalid, format!("can't make the folder: {e}")));
    }
    let mut exit = Exit::Ok;
    for path in &args.inputs {
        exit = exit.max(one(args, &pipeline, path, folder, reporter));
    }
    exit
}

/// Where the result of an input goes.
fn destination(args: &Args, path: &str, folder: bool) -> String {
    let stem = Path::new(path).file_stem().map_or("stdin".into(), |s| s.to_string_lossy().into_owned());
    let stem = if path == "-" { "stdin".to_owned() } else { stem };
    let extension = match args.emit {
        Some(Emit::Ir) => "nir",
        Some(Emit::Wgsl) => "wgsl",
        Some(Emit::Spv) | None => "spv",
    };
    match args.output.as_deref() {
        Some(dir) if folder => format!("{}/{stem}.{extension}", dir.trim_end_matches('/')),
        Some(out) => out.to_owned(),
        None => format!("{stem}.opt.{extension}"),
    }
}

fn emit_kind(args: &Args, out: &str) -> Emit {
    args.emit.unwrap_or_else(|| match out.rsplit_once('.').map(|(_, e)| e) {
        Some("nir" | "ir") => Emit::Ir,
        Some("wgsl") => Emit::Wgsl,
        _ => Emit::Spv,
    })
}

fn one(args: &Args, pipeline: &Pipeline, path: &str, folder: bool, reporter: &mut Reporter) -> Exit {
    match optimise(args, pipeline, path, folder, reporter) {
        Ok(()) => Exit::Ok,
        Err(diagnostics) => diagnostics.iter().map(|d| reporter.diagnose(d)).max().unwrap_or(Exit::No),
    }
}

fn optimise(
    args: &Args,
    pipeline: &Pipeline,
    path: &str,
    folder: bool,
    reporter: &mut Reporter,
) -> Result<(), Vec<Diagnostic>> {
    let single = |d: Box<Diagnostic>| vec![*d];
    let input = Input::open(path).map_err(single)?;
    let mut read = ReadOptions::default();
    read.float = args.float.mode();
    read.spec = args.specs.clone();
    read.debug = args.debug;
    let start = Instant::now();
    let Loaded { mut module, words } = input.load(&read)?;
    let before_kinds = Kinds::of(&module);
    // IR text has no binary to count: it is written once as it is.
    let words = match words {
        Some(words) => Some(words),
        None => deburr_spirv::write(&module, &WriteOptions::default()).ok(),
    };
    let before = words.as_deref().and_then(|w| deburr_spirv::count(w).ok());
    let mut options = Options::default();
    options.validate = !args.no_validate && options.validate;
    options.disabled_rules = args.disabled.clone();
    let target = Target::spirv_of(&module);
    let mut observer = |pass: &'static str, m: &Module, changed: bool| {
        if changed && args.print_after.as_deref() == Some(pass) {
            reporter.line(&format!("// after {pass}\n{m}"));
        }
    };
    let report = pipeline
        .run_observed(&mut module, deburr_ruleset::rules(), &target, &options, &mut observer)
        .map_err(|e| vec![Diagnostic::new(path, Kind::Invalid, format!("a bug of deburr: {e}"))])?;
    let out = destination(args, path, folder);
    let (bytes, after) = result_bytes(args, &module, path, &out)?;
    output::write(&out, &bytes).map_err(single)?;
    let done = Done {
        path,
        out: &out,
        before,
        after,
        before_kinds,
        after_kinds: Kinds::of(&module),
        report: &report,
        ms: start.elapsed().as_secs_f64() * 1e3,
    };
    // With the module on stdout nothing else may be there.
    if out != "-" {
        done.tell(args, reporter);
    }
    Ok(())
}

fn result_bytes(args: &Args, module: &Module, path: &str, out: &str) -> Result<(Vec<u8>, Option<Counts>), Vec<Diagnostic>> {
    let mut options = WriteOptions::default();
    options.debug = args.debug;
    let written = deburr_spirv::write(module, &options);
    let counts = written.as_ref().ok().and_then(|w| deburr_spirv::count(w).ok());
    if emit_kind(args, out) == Emit::Ir {
        return Ok((module.to_string().into_bytes(), counts));
    }
    let words = written.map_err(|e| vec![spirv_diagnostic(path, &e)])?;
    match emit_kind(args, out) {
        Emit::Wgsl => {
            let text = wgsl_of(&words).map_err(|e| vec![Diagnostic::new(path, Kind::Unsupported, e)])?;
            Ok((text.into_bytes(), counts))
        }
        Emit::Spv | Emit::Ir => Ok((output::bytes(&words), counts)),
    }
}

#[cfg(feature = "naga")]
fn wgsl_of(words: &[u32]) -> Result<String, String> {
    let options = naga::front::spv::Options::default();
    let module = naga::front::spv::Frontend::new(words.iter().copied(), &options)
        .parse()
        .map_err(|e| format!("naga can't read the result: {e}"))?;
    let info = naga::valid::Validator::new(naga::valid::ValidationFlags::all(), naga::valid::Capabilities::all())
        .validate(&module)
        .map_err(|e| format!("naga can't read the result: {}", e.as_inner()))?;
    naga::back::wgsl::write_string(&module, &info, naga::back::wgsl::WriterFlags::empty())
        .map_err(|e| format!("naga can't write the result: {e}"))
}

#[cfg(not(feature = "naga"))]
fn wgsl_of(_: &[u32]) -> Result<String, String> {
    Err("WGSL: this deburr was built without the feature `naga`".into())
}

/// What is told of an input that was optimised.
struct Done<'a> {
    path: &'a str,
    out: &'a str,
    before: Option<Counts>,
    after: Option<Counts>,
    before_kinds: Kinds,
    after_kinds: Kinds,
    report: &'a Report,
    ms: f64,
}

impl Done<'_> {
    fn tell(&self, args: &Args, reporter: &mut Reporter) {
        if reporter.json {
            reporter.line(&self.json());
            return;
        }
        let (b, a) = (self.before.unwrap_or_default(), self.after.unwrap_or_default());
        reporter.remark(&format!(
            "{} -> {}: {} body instructions, was {}; cost {}, was {}",
            self.path, self.out, a.body, b.body, a.cost, b.cost
        ));
        if args.stats || reporter.verbose > 0 {
            self.kinds(reporter, &b, &a);
        }
        if args.time_passes || args.stats {
            for pass in &self.report.passes {
                reporter.remark(&format!(
                    "  {:18} {:4} runs {:4} changed {:9.3} ms {:+6} instructions",
                    pass.name,
                    pass.runs,
                    pass.changed,
                    pass.time.as_secs_f64() * 1e3,
                    pass.delta
                ));
            }
        }
        if self.report.budget_stop {
            reporter.remark("  stopped before the fixed point");
        }
    }

    fn kinds(&self, reporter: &mut Reporter, b: &Counts, a: &Counts) {
        let spirv = [
            ("moves", b.moves, a.moves),
            ("loads", b.loads, a.loads),
            ("handle loads", b.handle_loads, a.handle_loads),
            ("stores", b.stores, a.stores),
        ];
        let ir = KIND_NAMES.iter().zip(self.before_kinds.0.iter().zip(self.after_kinds.0));
        for (name, before, after) in spirv.into_iter().chain(ir.map(|(n, (b, a))| (*n, *b, a))) {
            reporter.remark(&format!("  {name:12} {before:7} -> {after:7}"));
        }
    }

    fn json(&self) -> String {
        let (b, a) = (self.before.unwrap_or_default(), self.after.unwrap_or_default());
        let passes: Vec<String> = self
            .report
            .passes
            .iter()
            .map(|p| {
                let ms = p.time.as_secs_f64() * 1e3;
                format!(
                    "{{\"name\":{},\"runs\":{},\"ms\":{ms:.3},\"changed\":{},\"delta\":{}}}",
                    json_string(p.name),
                    p.runs,
                    p.changed,
                    p.delta
                )
            })
            .collect();
        format!(
            "{{\"schema\":1,\"file\":{},\"out\":{},\"ok\":true,\"body_before\":{},\"body_after\":{},\"cost_before\":{},\
             \"cost_after\":{},\"ir_before\":{},\"ir_after\":{},\"carried\":0,\"declined\":{{}},\"budget_stop\":{},\
             \"rounds\":{},\"ms\":{:.3},\"passes\":[{}]}}",
            json_string(self.path),
            json_string(self.out),
            b.body,
            a.body,
            b.cost,
            a.cost,
            self.before_kinds.json(),
            self.after_kinds.json(),
            self.report.budget_stop,
            self.report.rounds,
            self.ms,
            passes.join(",")
        )
    }
}
