//! The modules, how their buffers are filled, and what is checked of each.

use crate::compare::{Relation, compare};
use crate::reference::{self, RunLine};
use deburr_vulkan::{Binding, Interface, Job, Kind, Leaf, Member, words};
use std::fmt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// Bytes of a storage buffer of a module from the corpus: 256 KiB.
const STORAGE: u32 = 1 << 18;
/// Bytes of a uniform buffer: what every device binds.
const UNIFORM: u32 = 1 << 14;

/// Instructions after which the interpreter gives a module up.
const FUEL: &str = "50000000";
/// Bytes of the largest module of the corpus that is taken: lavapipe compiles larger ones for minutes.
const SMALL: u64 = 16 << 10;
/// Share of the blocks that must run for a module to count.
const COVERED: f64 = 0.7;

/// The compiler under test.
pub struct Deburr {
    command: PathBuf,
    /// Invocations of a subgroup on the device.
    subgroup: String,
}

/// One module.
pub struct Module {
    /// Name of the test.
    pub name: String,
    path: PathBuf,
    /// How an example is run.
    line: Option<RunLine>,
}

/// What was found of a module.
#[derive(Clone, Debug, Default)]
pub struct Found {
    /// It wrote something that differs between two seeds.
    varies: bool,
    /// Why it could not be run or compared.
    skipped: Option<String>,
    /// Before against after, default floats and strict.
    optimised: Vec<Relation>,
    /// Before on the device against the interpreter.
    interpreted: Option<Relation>,
    /// Why it was not compared with the interpreter.
    not_interpreted: Option<String>,
    /// The smallest share of the blocks that ran, in the interpreter.
    coverage: Option<f64>,
    /// Before and after equal the reference.
    reference: bool,
}

/// A buffer with its bytes.
#[derive(Clone)]
struct Filled {
    set: u32,
    binding: u32,
    bytes: Vec<u8>,
    members: Vec<Member>,
}

/// A dispatch with its inputs.
#[derive(Clone)]
struct Inputs {
    seed: u64,
    entry: String,
    groups: [u32; 3],
    push: Vec<u8>,
    specs: Vec<(u32, u32)>,
    buffers: Vec<Filled>,
}

impl Deburr {
    /// Builds the command in release mode and finds where it went.
    pub fn build(subgroup: String) -> Result<Deburr, String> {
        let root = root();
        let manifest = root.join("Cargo.toml");
        let output = Command::new(std::env::var_os("CARGO").unwrap_or("cargo".into()))
            .args([
                "build",
                "--release",
                "--package",
                "deburr",
                "--message-format",
                "json",
                "--manifest-path",
            ])
            .arg(&manifest)
            .current_dir(&root)
            .output()
            .map_err(|e| format!("cargo: {e}"))?;
        let text = String::from_utf8_lossy(&output.stdout);
        let executable =
            text.lines().filter_map(|line| line.split_once("\"executable\":\"")).next_back();
        match executable.and_then(|(_, rest)| rest.split('"').next()) {
            Some(path) if output.status.success() => {
                Ok(Deburr { command: path.replace("\\\\", "\\").into(), subgroup })
            }
            _ => {
                Err(format!("deburr does not build:\n{}", String::from_utf8_lossy(&output.stderr)))
            }
        }
    }

    fn call(&self, args: &[&str]) -> Result<Output, String> {
        Command::new(&self.command).args(args).output().map_err(|e| format!("deburr: {e}"))
    }

    /// Runs the command; `None` if it answers that it can't (exit 3).
    fn done(&self, args: &[&str]) -> Result<Option<()>, String> {
        let output = self.call(args)?;
        match output.status.code() {
            Some(0) => Ok(Some(())),
            Some(3) => Ok(None),
            code => {
                let message = String::from_utf8_lossy(&output.stderr).trim().to_owned();
                Err(format!("deburr {}: exit {code:?}: {message}", args.join(" ")))
            }
        }
    }
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").components().collect()
}

/// Examples, and a share of the corpus that `tests/fetch` has filled; or a share of the modules of a folder.
pub fn list(corpus: Option<&Path>) -> Vec<Module> {
    let share =
        std::env::var("DEBURR_CASES").ok().and_then(|text| text.parse::<f64>().ok()).unwrap_or(0.2);
    let mut modules = Vec::new();
    if let Some(dir) = corpus {
        let source = stem(dir);
        add_share(&mut modules, &source, dir, (share, u64::MAX));
        return modules;
    }
    for path in files(&root().join("examples"), &["wgsl", "comp"]) {
        let line =
            std::fs::read_to_string(&path).ok().and_then(|source| RunLine::of_source(&source).ok());
        let path = if path.extension().is_some_and(|e| e == "comp") {
            path.with_extension("spv")
        } else {
            path
        };
        modules.push(Module { name: format!("examples/{}", stem(&path)), path, line });
    }
    for source in ["grilly", "taichi", "rend3-routine", "vello_shaders/spv"] {
        add_share(&mut modules, source, &root().join("target/corpus").join(source), (share, SMALL));
    }
    modules
}

/// Adds a share of the binaries of a folder of at most so many bytes, evenly over their names.
fn add_share(modules: &mut Vec<Module>, source: &str, dir: &Path, (share, most): (f64, u64)) {
    let mut due = 0.0;
    let small = |path: &PathBuf| path.metadata().is_ok_and(|file| file.len() <= most);
    for path in files(dir, &["spv"]).into_iter().filter(small) {
        due += share;
        if due >= 1.0 {
            due -= 1.0;
            modules.push(Module { name: format!("{source}/{}", stem(&path)), path, line: None });
        }
    }
}

fn files(dir: &Path, extensions: &[&str]) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(dir).into_iter().flatten().flatten().map(|entry| entry.path());
    let mut files: Vec<PathBuf> = entries
        .filter(|path| path.extension().is_some_and(|e| extensions.iter().any(|x| e == *x)))
        .collect();
    files.sort();
    files
}

fn stem(path: &Path) -> String {
    path.file_stem().map_or_else(String::new, |stem| stem.to_string_lossy().into_owned())
}

impl Module {
    /// Runs the module before and after optimisation on two seeds and compares.
    pub fn check(&self, deburr: &Deburr, seed: u64) -> Result<Found, String> {
        let dir = Path::new(env!("CARGO_TARGET_TMPDIR")).join(self.name.replace(['/', '.'], "_"));
        std::fs::create_dir_all(&dir).map_err(|e| e.to_string())?;
        let at = |name: &str| dir.join(name).to_string_lossy().into_owned();
        let mut found = Found::default();
        let source = self.path.to_string_lossy().into_owned();
        let before = if self.path.extension().is_some_and(|e| e == "wgsl") {
            deburr.done(&["opt", &source, "--emit", "input", "-o", &at("before.spv")])?;
            at("before.spv")
        } else {
            source
        };
        let mut optimised = Vec::new();
        for mode in ["vulkan", "strict"] {
            let out = at(&format!("{mode}.spv"));
            if deburr.done(&["opt", &before, "--float", mode, "-o", &out])?.is_none() {
                found.skipped = Some("deburr opt: unsupported".into());
                return Ok(found);
            }
            optimised.push((mode, out));
        }
        let module = words(&std::fs::read(&before).map_err(|e| e.to_string())?)
            .map_err(|e| e.to_string())?;
        let interface = Interface::of(&module).map_err(|e| e.to_string())?;
        let mut outputs = Vec::new();
        for seed in [seed, seed.wrapping_add(1)] {
            let inputs = self.inputs(&interface, seed)?;
            // A module of the corpus that doesn't run on filled buffers as it is tells nothing about the compiler.
            let ran = match run(&before, &inputs, &dir) {
                Err(why) if self.line.is_none() => Err(why),
                ran => ran?,
            };
            let first = match ran {
                Ok(buffers) => buffers,
                Err(why) => {
                    found.skipped = Some(why);
                    return Ok(found);
                }
            };
            if interface.unordered && run(&before, &inputs, &dir)? != Ok(first.clone()) {
                found.skipped = Some("two runs of the input differ".into());
                return Ok(found);
            }
            self.compare_all(deburr, &before, &optimised, &inputs, &first, &dir, &mut found)?;
            outputs.push(first);
        }
        found.varies = outputs[0] != outputs[1];
        Ok(found)
    }

    #[expect(clippy::too_many_arguments, reason = "one call, all of them different things")]
    fn compare_all(
        &self,
        deburr: &Deburr,
        before: &str,
        optimised: &[(&str, String)],
        inputs: &Inputs,
        first: &[Vec<u8>],
        dir: &Path,
        found: &mut Found,
    ) -> Result<(), String> {
        for (mode, path) in optimised {
            let after =
                run(path, inputs, dir)?.map_err(|why| format!("after, --float {mode}: {why}"))?;
            let relation = self
                .relate(inputs, first, &after)
                .map_err(|e| format!("after, --float {mode}: {e}"))?;
            found.optimised.push(relation);
        }
        if let Some(line) = &self.line
            && let Some(reference) = reference::find(&stem(&self.path))
        {
            let expected = (reference.expected)(&line.inputs(inputs.seed));
            let output = |binding| {
                let at = inputs.buffers.iter().position(|b| b.binding == binding)?;
                first.get(at).map(Vec::as_slice)
            };
            reference::check(&expected, output).map_err(|e| format!("reference: {e}"))?;
            found.reference = true;
        }
        match interpret(deburr, before, inputs, dir, &[])? {
            Ok(run) => {
                let coverage = found.coverage.map_or(run.coverage, |c| c.min(run.coverage));
                found.coverage = Some(coverage);
                if let Some(why) = run.undefined {
                    found.not_interpreted = Some(why.into());
                    return Ok(());
                }
                match self.relate(inputs, first, &run.buffers) {
                    Ok(_) if found.interpreted == Some(Relation::Near) => {}
                    Ok(relation) => found.interpreted = Some(relation),
                    Err(why) => {
                        let other = interpret(deburr, before, inputs, dir, &["--reverse"])?;
                        if other.is_ok_and(|other| other.buffers == run.buffers) {
                            return Err(format!("device, then interpreter: {why}"));
                        }
                        found.not_interpreted =
                            Some("its result depends on the order of the invocations".into());
                    }
                }
            }
            Err(why) => found.not_interpreted = Some(why),
        }
        Ok(())
    }

    /// The worst relation of all buffers.
    fn relate(&self, inputs: &Inputs, a: &[Vec<u8>], b: &[Vec<u8>]) -> Result<Relation, String> {
        let mut worst = Relation::Equal;
        for ((buffer, a), b) in inputs.buffers.iter().zip(a).zip(b) {
            let relation = compare(a, b, &buffer.members)
                .map_err(|e| format!("set {}, binding {}, {e}", buffer.set, buffer.binding))?;
            if relation == Relation::Near {
                worst = relation;
            }
        }
        Ok(worst)
    }

    fn inputs(&self, interface: &Interface, seed: u64) -> Result<Inputs, String> {
        let entry = interface.entries.first().cloned().ok_or("no compute entry point")?;
        let members = |set, binding, size: usize| {
            let descriptor =
                interface.descriptors.iter().find(|d| (d.set, d.binding) == (set, binding));
            descriptor.map_or_else(Vec::new, |d| interface.members(d, size as u32))
        };
        if let Some(line) = &self.line {
            let inputs = line.inputs(seed);
            let buffers = inputs.buffers.into_iter().map(|b| Filled {
                set: b.set,
                binding: b.binding,
                members: members(b.set, b.binding, b.bytes.len()),
                bytes: b.bytes,
            });
            return Ok(Inputs {
                seed,
                entry,
                groups: inputs.groups,
                push: inputs.push,
                specs: inputs.specialisation,
                buffers: buffers.collect(),
            });
        }
        let mut random = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        let push_members = interface.push_members();
        let push = random.fill(&push_members, Interface::end(&push_members), 1);
        let mut buffers = Vec::new();
        for d in &interface.descriptors {
            let size = if d.kind == Kind::Uniform { UNIFORM } else { STORAGE };
            let members = interface.members(d, size);
            let runtime = Interface::end(&members) + 16 >= size;
            let size = if runtime { size } else { Interface::end(&members).next_multiple_of(16) };
            let bytes = random.fill(&members, size, 0);
            buffers.push(Filled { set: d.set, binding: d.binding, bytes, members });
        }
        Ok(Inputs { seed, entry, groups: [2, 1, 1], push, specs: Vec::new(), buffers })
    }
}

/// splitmix64 (Steele, Lea, Flood 2014).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let x = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let x = (x ^ x >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        x ^ x >> 31
    }

    /// Bytes of a block: small integers from `least` on, so that they serve as sizes and indices, and floats of size 1.
    fn fill(&mut self, members: &[Member], size: u32, least: u64) -> Vec<u8> {
        let mut bytes = vec![0; size as usize];
        for m in members {
            let float = (self.next() >> 11) as f64 / (1u64 << 52) as f64 - 1.0;
            let value = match (m.leaf, m.size) {
                (Leaf::Int, _) => least + self.next() % 8,
                // A half of 1 to 2, of either sign.
                (Leaf::Float, 2) => 0x3c00 | self.next() & 0x83ff,
                (Leaf::Float, 8) => float.to_bits(),
                (Leaf::Float, _) => u64::from((float as f32).to_bits()),
            };
            let range = m.offset as usize..(m.offset + m.size) as usize;
            if let Some(to) = bytes.get_mut(range) {
                to.copy_from_slice(&value.to_le_bytes()[..m.size as usize]);
            }
        }
        bytes
    }
}

/// Writes the buffers and the job, runs `vkrun`, reads the buffers. The inner error is why it can't run here.
fn run(module: &str, inputs: &Inputs, dir: &Path) -> Result<Result<Vec<Vec<u8>>, String>, String> {
    let write = |path: &Path, bytes: &[u8]| std::fs::write(path, bytes).map_err(|e| e.to_string());
    let push = dir.join("push.bin");
    write(&push, &inputs.push)?;
    let mut buffers = Vec::new();
    for b in &inputs.buffers {
        let input = dir.join(format!("{}.{}.in", b.set, b.binding));
        let output = dir.join(format!("{}.{}.out", b.set, b.binding));
        write(&input, &b.bytes)?;
        buffers.push(Binding { set: b.set, binding: b.binding, input, output: Some(output) });
    }
    let job = Job {
        module: module.into(),
        entry: inputs.entry.clone(),
        groups: inputs.groups,
        push: (!inputs.push.is_empty()).then_some(push),
        specs: inputs.specs.clone(),
        buffers,
    };
    let file = dir.join("job");
    write(&file, job.text().as_bytes())?;
    let output =
        Command::new(env!("CARGO_BIN_EXE_vkrun")).arg(&file).output().map_err(|e| e.to_string())?;
    if !output.status.success() {
        let message = String::from_utf8_lossy(&output.stderr).trim().to_owned();
        return match output.status.code() {
            Some(3) => Ok(Err(message)),
            code => Err(format!("vkrun {}: exit {code:?}: {message}", file.display())),
        };
    }
    let outputs = job.buffers.iter().filter_map(|b| b.output.as_ref());
    outputs
        .map(|path| std::fs::read(path).map_err(|e| e.to_string()))
        .collect::<Result<_, _>>()
        .map(Ok)
}

/// What the interpreter did.
struct Interpreted {
    buffers: Vec<Vec<u8>>,
    /// Share of the blocks that ran.
    coverage: f64,
    /// Why the result is one of many.
    undefined: Option<&'static str>,
}

/// The same dispatch by the interpreter. The inner error is why it can't run it.
fn interpret(
    deburr: &Deburr,
    module: &str,
    inputs: &Inputs,
    dir: &Path,
    more: &[&str],
) -> Result<Result<Interpreted, String>, String> {
    let [x, y, z] = inputs.groups;
    let mut args: Vec<String> =
        ["run", module, "--json", "--float", "strict", "--fuel", FUEL, "--entry"]
            .map(String::from)
            .to_vec();
    args.push(inputs.entry.clone());
    args.extend(["--subgroup-size".into(), deburr.subgroup.clone()]);
    args.extend(["--groups".into(), format!("{x},{y},{z}")]);
    if !inputs.push.is_empty() {
        args.extend(["--push".into(), dir.join("push.bin").to_string_lossy().into_owned()]);
    }
    args.extend(
        inputs.specs.iter().flat_map(|(id, value)| ["--spec".into(), format!("{id}={value}")]),
    );
    let mut outputs = Vec::new();
    for b in &inputs.buffers {
        let input = dir.join(format!("{}.{}.in", b.set, b.binding));
        let output = dir.join(format!("{}.{}.eval", b.set, b.binding));
        let bind = format!("{}.{}={}:out={}", b.set, b.binding, input.display(), output.display());
        args.extend(["--bind".into(), bind]);
        outputs.push(output);
    }
    let args: Vec<&str> = args.iter().map(String::as_str).chain(more.iter().copied()).collect();
    let output = deburr.call(&args)?;
    let report = String::from_utf8_lossy(&output.stdout).into_owned();
    match output.status.code() {
        Some(0) => {}
        Some(3 | 4) => return Ok(Err(field(&report, "message").unwrap_or_default().into())),
        code => return Err(format!("deburr {}: exit {code:?}: {report}", args.join(" "))),
    }
    let number = |name| field(&report, name).and_then(|n| n.parse::<f64>().ok());
    let (Some(blocks), Some(covered)) = (number("blocks"), number("blocks_covered")) else {
        return Err(format!("deburr run --json: {report}"));
    };
    // Free bytes of any buffer: every one has its own number.
    let free = report.match_indices("\"free\":").any(|(at, key)| {
        let value = &report[at + key.len()..];
        !value.starts_with("0,")
    });
    let undefined = match () {
        () if field(&report, "out_of_bounds") == Some("true") => Some("accesses out of bounds"),
        () if field(&report, "free_control") == Some("true") => {
            Some("branches on undefined values")
        }
        () if free => Some("undefined values in its buffers"),
        () => None,
    };
    let buffers = outputs
        .iter()
        .map(|path| std::fs::read(path).map_err(|e| e.to_string()))
        .collect::<Result<_, _>>()?;
    Ok(Ok(Interpreted { buffers, coverage: covered / blocks.max(1.0), undefined }))
}

/// The text of a field of a JSON object, without its quotes.
fn field<'a>(json: &'a str, name: &str) -> Option<&'a str> {
    let (_, value) = json.split_once(&format!("\"{name}\":"))?;
    match value.strip_prefix('"') {
        Some(text) => text.split('"').next(),
        None => value.split([',', '}']).next(),
    }
}

/// What a run of the suite found, in total.
#[derive(Default)]
pub struct Counts {
    equal: usize,
    near: usize,
    interpreted_equal: usize,
    interpreted_near: usize,
    reference: usize,
    notes: Vec<String>,
    failed: usize,
}

impl Counts {
    /// Adds what was found of a module.
    pub fn add(&mut self, module: &Module, found: &Result<Found, String>) {
        let Ok(found) = found else {
            self.failed += 1;
            return;
        };
        let name = &module.name;
        if let Some(why) = &found.skipped {
            return self.notes.push(format!("not run: {name}: {why}"));
        }
        if let Some(why) = &found.not_interpreted {
            self.notes.push(format!("not compared with the interpreter: {name}: {why}"));
        }
        let coverage = found.coverage.unwrap_or(0.0);
        if !found.varies || coverage < COVERED {
            let varies = if found.varies { "depend" } else { "do not depend" };
            let ran = coverage * 100.0;
            return self.notes.push(format!(
                "not counted: {name}: {ran:.0} % of the blocks ran, the outputs {varies} on the inputs"
            ));
        }
        match found.optimised.contains(&Relation::Near) {
            true => self.near += 1,
            false => self.equal += 1,
        }
        match found.interpreted.filter(|_| found.not_interpreted.is_none()) {
            Some(Relation::Equal) => self.interpreted_equal += 1,
            Some(Relation::Near) => self.interpreted_near += 1,
            None => {}
        }
        self.reference += usize::from(found.reference);
    }

    /// Modules that ran and were equal before and after.
    pub fn compared(&self) -> usize {
        self.equal + self.near
    }

    /// Modules that ran and were equal in the interpreter.
    pub fn interpreted(&self) -> usize {
        self.interpreted_equal + self.interpreted_near
    }
}

impl fmt::Display for Counts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut notes = self.notes.clone();
        notes.sort();
        for note in &notes {
            writeln!(f, "   {note}")?;
        }
        writeln!(
            f,
            "before = after: {} modules ({} bit for bit, {} within the float bound), {} failed; device = interpreter: \
             {} ({} bit for bit); device = reference: {}",
            self.compared(),
            self.equal,
            self.near,
            self.failed,
            self.interpreted(),
            self.interpreted_equal,
            self.reference
        )
    }
}
