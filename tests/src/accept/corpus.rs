//! What the lines over modules share: the modules, the command under test, outside tools.
//!
//! Everything that might crash or hang on a module runs as a process of its own, under a time limit.

use super::Args;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::{Duration, Instant};

/// Seconds that a process may take on one module.
pub const SECONDS: u64 = 60;

/// A module of a line's list.
#[derive(Clone, Debug)]
pub struct Item {
    /// Where it is from: a folder of the corpus, or `examples`.
    pub source: String,
    /// Its name in the source.
    pub name: String,
    /// The SPIR-V.
    pub path: PathBuf,
    /// The text with the `deburr-run` line, for examples.
    pub text: Option<PathBuf>,
}

/// The words of a file; empty if it can't be read.
pub fn words(path: &Path) -> Vec<u32> {
    let bytes = std::fs::read(path).unwrap_or_default();
    bytes.chunks_exact(4).map(|w| u32::from_le_bytes([w[0], w[1], w[2], w[3]])).collect()
}

/// What a process said.
#[derive(Clone, Debug)]
pub struct Said {
    /// Its status; `None` if it was ended at the time limit.
    pub status: Option<ExitStatus>,
    /// Standard output.
    pub out: Vec<u8>,
    /// Standard error.
    pub err: String,
    /// Wall-clock time.
    pub time: Duration,
}

impl Said {
    /// The exit code; `None` for a signal or the time limit.
    pub fn code(&self) -> Option<i32> {
        self.status.and_then(|status| status.code())
    }

    /// Whether it ended as only a bug ends: a panic, a signal, the time limit.
    pub fn crashed(&self) -> bool {
        !matches!(self.code(), Some(0..=4))
    }

    /// Standard output as text.
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.out).into_owned()
    }

    /// The line that says what went wrong.
    pub fn message(&self) -> String {
        let line =
            self.err.lines().find(|line| line.contains("panicked") || line.starts_with("error"));
        let line = line.or(self.err.lines().next()).unwrap_or_default();
        match self.status {
            None => format!("no end within {SECONDS} s"),
            Some(status) if status.code().is_none() => format!("{status}: {line}"),
            Some(_) => line.to_owned(),
        }
    }
}

/// Runs a command under the time limit.
///
/// # Errors
/// If it can't be started.
pub fn start(command: &mut Command, input: &[u8]) -> Result<Said, String> {
    start_within(command, input, SECONDS)
}

/// Runs a command for at most some seconds.
///
/// # Errors
/// If it can't be started.
pub fn start_within(command: &mut Command, input: &[u8], seconds: u64) -> Result<Said, String> {
    let start = Instant::now();
    let piped = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = piped.spawn().map_err(|e| e.to_string())?;
    let (stdin, stdout, stderr) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
    let input = input.to_vec();
    let (done, wait) = channel();
    let writer = std::thread::spawn(move || {
        // A process that stops reading its input closes the pipe; that is no error of this side.
        stdin.map(|mut to| to.write_all(&input))
    });
    let outputs = std::thread::spawn(move || read_all(stdout));
    let errors = std::thread::spawn(move || {
        let bytes = read_all(stderr);
        // The pipe closes when the process ends; nobody listens after the time limit.
        let _ = done.send(());
        bytes
    });
    let timed_out =
        wait.recv_timeout(Duration::from_secs(seconds)) == Err(RecvTimeoutError::Timeout);
    if timed_out {
        child.kill().map_err(|e| e.to_string())?;
    }
    let status = child.wait().map_err(|e| e.to_string())?;
    let time = start.elapsed();
    let out = outputs.join().unwrap_or_default();
    let err = String::from_utf8_lossy(&errors.join().unwrap_or_default()).into_owned();
    drop(writer.join());
    Ok(Said { status: (!timed_out).then_some(status), out, err, time })
}

fn read_all(from: Option<impl Read>) -> Vec<u8> {
    let mut bytes = Vec::new();
    if let Some(mut from) = from {
        // What was read before an error is what there is.
        let _ = from.read_to_end(&mut bytes);
    }
    bytes
}

/// Whether an outside tool can be started.
pub fn has_tool(name: &str) -> bool {
    Command::new(name).arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status().is_ok()
}

/// The root of the repository.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..").components().collect()
}

/// Builds something of the tree in release mode, and gives the executable.
///
/// # Errors
/// What cargo says.
pub fn built(what: &[&str]) -> Result<PathBuf, String> {
    let output = Command::new(std::env::var_os("CARGO").unwrap_or("cargo".into()))
        .args(["build", "--release", "--message-format", "json"])
        .args(what)
        .current_dir(root())
        .output()
        .map_err(|e| format!("cargo: {e}"))?;
    let text = String::from_utf8_lossy(&output.stdout);
    let executable =
        text.lines().filter_map(|line| line.split_once("\"executable\":\"")).next_back();
    let path = executable
        .and_then(|(_, rest)| rest.split('"').next())
        .map(|path| path.replace("\\\\", "\\"));
    match path {
        Some(path) if output.status.success() => Ok(PathBuf::from(path)),
        _ => {
            let said = String::from_utf8_lossy(&output.stderr);
            Err(format!("{} does not build:\n{said}", what.join(" ")))
        }
    }
}

/// The command under test, and a folder for what it writes.
#[derive(Clone, Debug)]
pub struct Deburr {
    /// Its file.
    pub path: PathBuf,
    /// A folder beside it.
    pub scratch: PathBuf,
}

impl Deburr {
    /// The command that is given, or the tree's, built in release mode.
    ///
    /// # Errors
    /// What cargo says.
    pub fn new(args: &Args) -> Result<Deburr, String> {
        let path = match &args.command {
            Some(path) => path.clone(),
            None => built(&["--package", "deburr"])?,
        };
        let scratch = path.parent().map_or_else(std::env::temp_dir, |dir| dir.join("../accept"));
        std::fs::create_dir_all(&scratch).map_err(|e| e.to_string())?;
        Ok(Deburr { path, scratch })
    }

    /// Runs the command.
    ///
    /// # Errors
    /// If it can't be started.
    pub fn call<S: AsRef<std::ffi::OsStr>>(
        &self,
        args: impl IntoIterator<Item = S>,
    ) -> Result<Said, String> {
        start(Command::new(&self.path).args(args), &[])
    }

    /// A file of this name in the scratch folder, whose folder exists.
    pub fn file(&self, dir: &str, name: &str) -> PathBuf {
        let dir = self.scratch.join(dir);
        // If it can't be made, writing into it fails and says so.
        let _ = std::fs::create_dir_all(&dir);
        dir.join(name)
    }
}

/// Sources of the corpus, each with the folder of its compute modules.
pub const SOURCES: &[(&str, &str)] = &[
    ("grilly", "grilly"),
    ("taichi", "taichi"),
    ("vello_shaders", "vello_shaders/spv"),
    ("rend3-routine", "rend3-routine"),
    ("spirv-cross-sys", "spirv-cross-sys"),
];

/// The modules of these sources, from `--corpus DIR` or `target/corpus`. `examples` are the repository's, those in WGSL
/// as the front end translates them.
///
/// # Errors
/// If a source has no modules, or an example's source can't be translated.
pub fn modules(args: &Args, deburr: &Deburr, sources: &[&str]) -> Result<Vec<Item>, String> {
    let corpus = args.corpus.clone().unwrap_or_else(|| root().join("target/corpus"));
    let mut items = Vec::new();
    let known: Vec<_> = SOURCES.iter().filter(|(name, _)| sources.contains(name)).collect();
    for (source, dir) in &known {
        for path in files(&corpus.join(dir), &["spv"]) {
            items.push(Item { source: (*source).into(), name: stem(&path), path, text: None });
        }
    }
    if let (None, Some((source, _))) =
        (&args.corpus, known.iter().find(|(source, _)| !items.iter().any(|i| i.source == *source)))
    {
        return Err(format!("needs the modules of {source}: tests/fetch"));
    }
    // Another corpus need not be laid out like ours: its folder is a source then.
    if args.corpus.is_some() && items.is_empty() {
        for path in files(&corpus, &["spv"]) {
            items.push(Item { source: "corpus".into(), name: stem(&path), path, text: None });
        }
    }
    if sources.contains(&"examples") {
        items.extend(examples(deburr)?);
    }
    Ok(reduced(items, args.cases))
}

/// Of each source a few modules at least, evenly from its list, where the run is reduced.
fn reduced(items: Vec<Item>, cases: f64) -> Vec<Item> {
    const LEAST: usize = 12;
    if cases >= 1.0 {
        return items;
    }
    let mut sizes: std::collections::BTreeMap<String, usize> = Default::default();
    for item in &items {
        *sizes.entry(item.source.clone()).or_default() += 1;
    }
    let mut seen: std::collections::BTreeMap<String, usize> = Default::default();
    let mut keep = |item: &Item| {
        let size = sizes[&item.source];
        let want = ((size as f64 * cases) as usize).max(LEAST).min(size);
        let n = seen.entry(item.source.clone()).or_default();
        *n += 1;
        *n * want / size > (*n - 1) * want / size
    };
    items.into_iter().filter(|item| keep(item)).collect()
}

/// The repository's examples as SPIR-V.
///
/// # Errors
/// If one can't be translated.
pub fn examples(deburr: &Deburr) -> Result<Vec<Item>, String> {
    let mut items = Vec::new();
    for text in files(&root().join("examples"), &["wgsl", "comp"]) {
        let name = stem(&text);
        let mut path = text.with_extension("spv");
        if text.extension().is_some_and(|e| e == "wgsl") {
            path = deburr.file("examples", &format!("{name}.spv"));
            let said = deburr.call([
                "opt".as_ref(),
                text.as_os_str(),
                "--emit".as_ref(),
                "input".as_ref(),
                "-o".as_ref(),
                path.as_os_str(),
            ])?;
            if said.code() != Some(0) {
                return Err(format!("{}: {}", text.display(), said.message()));
            }
        }
        items.push(Item { source: "examples".into(), name, path, text: Some(text) });
    }
    Ok(items)
}

fn files(dir: &Path, extensions: &[&str]) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(dir).into_iter().flatten().flatten().map(|entry| entry.path());
    let wanted =
        |path: &PathBuf| path.extension().is_some_and(|e| extensions.iter().any(|x| e == *x));
    let mut files: Vec<PathBuf> = entries.filter(wanted).collect();
    files.sort();
    files
}

fn stem(path: &Path) -> String {
    path.file_stem().map_or_else(String::new, |stem| stem.to_string_lossy().into_owned())
}

/// The share that a source's modules have in a total where no source counts for more than a third (ACCEPTANCE 5).
pub fn weighted(per_source: &[(usize, f64)]) -> f64 {
    let all: usize = per_source.iter().map(|(n, _)| n).sum();
    let weight = |n: usize| (n as f64).min(all as f64 / 3.0);
    let weights: f64 = per_source.iter().map(|(n, _)| weight(*n)).sum();
    per_source.iter().map(|(n, share)| weight(*n) * share).sum::<f64>() / weights.max(1e-9)
}
