//! The entry points of build scripts: read tables, write Rust.
//!
//! The only part of this crate that touches files, and only those that its caller names. Work is done on a thread with
//! a large stack, so that a table's expressions never meet the main thread's limit.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
#[cfg(feature = "rules")]
use std::sync::Arc;

use crate::diagnostics::Diagnostic;
use crate::emit::{CratePath, dialect, fold, intrinsics, opcodes};
use crate::tables::{TableFile, Tables};

/// Stack of the generator's thread. Expressions of a table nest `MAX_DEPTH` deep at most; this leaves room for the
/// larger frames of a debug build.
const STACK: usize = 64 << 20;

/// Why nothing was generated.
#[derive(Debug)]
pub enum Errors {
    /// A file could not be read or written.
    Io(PathBuf, io::Error),
    /// The tables are wrong; rendered for stderr.
    Tables {
        /// The complaints.
        diagnostics: Vec<Diagnostic>,
        /// The files that they point into.
        files: Vec<TableFile>,
    },
}

impl fmt::Display for Errors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Errors::Io(path, error) => write!(f, "error: {}: {error}", path.display()),
            Errors::Tables { diagnostics, files } => {
                let text = |name: &str| {
                    files.iter().find(|file| &*file.name == name).map(|file| file.text.as_str())
                };
                for diagnostic in diagnostics {
                    writeln!(f, "{}", diagnostic.to_plain(text))?;
                }
                write!(f, "error: {}; nothing is generated", count(diagnostics.len()))
            }
        }
    }
}

impl std::error::Error for Errors {}

fn count(n: usize) -> String {
    if n == 1 { "1 error".to_owned() } else { format!("{n} errors") }
}

/// Generates the built-in tables: `opcodes.rs`, `intrinsics.rs` and `fold.rs` in `out`. Prints what Cargo needs to know.
/// Files whose content is as it was are left alone.
pub fn generate_tables(
    opcodes_toml: &Path,
    intrinsics_toml: &Path,
    out: &Path,
) -> Result<(), Errors> {
    let files = vec![read(opcodes_toml)?, read(intrinsics_toml)?];
    let generated = on_big_stack(move || {
        let tables =
            Tables::parse(&files).map_err(|diagnostics| Errors::Tables { diagnostics, files })?;
        Ok([
            ("opcodes.rs", opcodes::opcodes(&tables)),
            ("intrinsics.rs", intrinsics::intrinsics(&tables)),
            ("fold.rs", fold::fold(&tables, CratePath::Inside)),
        ])
    })?;
    for (name, text) in generated {
        write(&out.join(name), &text)?;
    }
    Ok(())
}

/// Generates the matchers of a tree of rules: `rules.rs` in `out`, which defines `RULES`, and `sources.rs`, which
/// defines `SOURCES`, the texts. `rules` is the folder with `groups.rules`, `facts.rules` and the files that the
/// former lists. Prints what Cargo needs to know.
#[cfg(feature = "rules")]
pub fn generate_rules(
    opcodes_toml: &Path,
    intrinsics_toml: &Path,
    rules: &Path,
    out: &Path,
) -> Result<(), Errors> {
    let tables = vec![read(opcodes_toml)?, read(intrinsics_toml)?];
    let (facts, groups) = (read(&rules.join("facts.rules"))?, read(&rules.join("groups.rules"))?);
    println!("cargo:rerun-if-changed={}", rules.display());
    let folder = rules.to_owned();
    let (matchers, sources) = on_big_stack(move || {
        let tables = match Tables::parse(&tables) {
            Ok(found) => found,
            Err(diagnostics) => return Err(Errors::Tables { diagnostics, files: tables }),
        };
        let named = |f: TableFile| (format!("rules/{}", f.name).into(), f.text.into());
        let tree = crate::rules::Tree {
            ops: crate::rules::Ops::from_tables(&tables),
            facts: named(facts),
            groups: named(groups),
        };
        let (result, files) = tree.compile("rules/", |name| {
            let path = rules.join(format!("{name}.rules"));
            std::fs::read_to_string(path).map_err(|e| match meant(rules, name) {
                Some(near) => format!("{e}; did you mean `{near}`?"),
                None => e.to_string(),
            })
        });
        match result {
            Ok(set) => {
                every_file_is_listed(&folder, &files)?;
                Ok((crate::rules::emit::emit(&set), crate::rules::emit::sources(&files)))
            }
            Err(diagnostics) => {
                let files =
                    files.iter().map(|(name, text)| TableFile::new(name, &**text)).collect();
                Err(Errors::Tables { diagnostics, files })
            }
        }
    })?;
    write(&out.join("rules.rs"), &matchers)?;
    write(&out.join("sources.rs"), &sources)
}

/// A dialect under construction, in a user's build script:
///
/// ```no_run
/// let out = std::env::var_os("OUT_DIR").unwrap();
/// if let Err(errors) = deburr_rulegen::Dialect::new("mine", "mine.toml").generate(out.as_ref()) {
///     eprintln!("{errors}");
///     std::process::exit(1);
/// }
/// ```
///
/// The table may have opcodes, indices and intrinsics. The crate includes the result as a module:
/// `mod mine { include!(concat!(env!("OUT_DIR"), "/mine.rs")); }`, and hands `&mine::DIALECT` to its modules. With
/// [`rules`](Dialect::rules), `mine::rules::RULES` is what `deburr_algebraic::run` takes.
#[derive(Clone, Debug)]
pub struct Dialect {
    options: dialect::DialectOptions,
    table: PathBuf,
    builtin: Option<(PathBuf, PathBuf)>,
    #[cfg(feature = "rules")]
    rules: Option<(PathBuf, Vec<PathBuf>)>,
}

impl Dialect {
    /// A dialect of that name, from a table. It takes ids from 0x4000 on.
    pub fn new(name: &str, table: impl Into<PathBuf>) -> Dialect {
        let options = dialect::DialectOptions {
            name: name.to_owned(),
            first: 0x4000,
            path: CratePath::Outside,
        };
        Dialect {
            options,
            table: table.into(),
            builtin: None,
            #[cfg(feature = "rules")]
            rules: None,
        }
    }

    /// Takes ids from `first` on, for programs with several dialects.
    ///
    /// # Panics
    /// If `first` is below 0x4000: those ids are the built-in tables'.
    pub fn first_id(mut self, first: u16) -> Dialect {
        assert!(first >= 0x4000, "ids below 0x4000 belong to the built-in tables");
        self.options.first = first;
        self
    }

    /// The built-in tables, to check names against them. A build script of a crate that depends on the IR's crate
    /// needn't say: that one's own build script tells it.
    pub fn builtin(
        mut self,
        opcodes_toml: impl Into<PathBuf>,
        intrinsics_toml: impl Into<PathBuf>,
    ) -> Dialect {
        self.builtin = Some((opcodes_toml.into(), intrinsics_toml.into()));
        self
    }

    /// Rule files, tried in this order. Rules may name built-in opcodes and the dialect's own; `library` is the folder
    /// with the `facts.rules` and `groups.rules` that they rest on, deburr's or a user's.
    #[cfg(feature = "rules")]
    pub fn rules(mut self, library: impl Into<PathBuf>, files: &[impl AsRef<Path>]) -> Dialect {
        self.rules = Some((library.into(), files.iter().map(|f| f.as_ref().to_owned()).collect()));
        self
    }

    /// Writes `NAME.rs` in `out`. Prints what Cargo needs to know.
    pub fn generate(self, out: &Path) -> Result<(), Errors> {
        let files = vec![read(&self.table)?];
        let from_cargo = || {
            let path = |name: &str| {
                std::env::var_os(format!("DEP_DEBURR_IR_CORE_{name}")).map(PathBuf::from)
            };
            Some((path("OPCODES")?, path("INTRINSICS")?))
        };
        let builtin = match &self.builtin.clone().or_else(from_cargo) {
            Some((opcodes_toml, intrinsics_toml)) => {
                vec![read(opcodes_toml)?, read(intrinsics_toml)?]
            }
            None => Vec::new(),
        };
        #[cfg(feature = "rules")]
        let rules = self.read_rules(!builtin.is_empty())?;
        let name = format!("{}.rs", self.options.name);
        let text = on_big_stack(move || {
            let known = match builtin.is_empty() {
                true => None,
                false => match Tables::parse(&builtin) {
                    Ok(tables) => Some(tables),
                    Err(diagnostics) => return Err(Errors::Tables { diagnostics, files: builtin }),
                },
            };
            let tables = Tables::parse_over(&files, known.as_ref())
                .map_err(|diagnostics| Errors::Tables { diagnostics, files })?;
            let text = dialect::dialect(&tables, &self.options);
            #[cfg(feature = "rules")]
            if let (Some(known), Some(rules)) = (&known, rules) {
                let ops = crate::rules::Ops::with_dialect(known, &tables, self.options.first);
                return Ok(text + &rules.compile(ops)?);
            }
            Ok(text)
        })?;
        write(&out.join(name), &text)
    }

    #[cfg(feature = "rules")]
    fn read_rules(&self, has_builtin: bool) -> Result<Option<DialectRules>, Errors> {
        let Some((library, files)) = &self.rules else { return Ok(None) };
        if !has_builtin {
            let why = "rules need the built-in opcodes: depend on the IR's crate, or say where they are with `builtin`";
            let error = io::Error::new(io::ErrorKind::InvalidInput, why);
            return Err(Errors::Io(library.clone(), error));
        }
        Ok(Some(DialectRules {
            facts: read(&library.join("facts.rules"))?,
            groups: read(&library.join("groups.rules"))?,
            sources: files.iter().map(|file| read(file)).collect::<Result<_, _>>()?,
        }))
    }
}

/// The texts that a dialect's rules are made of.
#[cfg(feature = "rules")]
struct DialectRules {
    facts: TableFile,
    groups: TableFile,
    sources: Vec<TableFile>,
}

#[cfg(feature = "rules")]
impl DialectRules {
    /// The module `rules` of a dialect's file.
    fn compile(self, ops: crate::rules::Ops) -> Result<String, Errors> {
        let mut diagnostics = Vec::new();
        let library = crate::rules::Library::new(
            ops,
            (&self.facts.name, &self.facts.text),
            (&self.groups.name, &self.groups.text),
            &mut diagnostics,
        );
        let sources: Vec<(std::sync::Arc<str>, std::sync::Arc<str>)> =
            self.sources.iter().map(|f| (f.name.clone(), f.text.as_str().into())).collect();
        match crate::rules::compile(&library, &sources) {
            Ok(set) if diagnostics.is_empty() => Ok(format!(
                "\n/// Compiled matchers of the dialect's rules.\n\
                 #[allow(\n    clippy::all,\n    unused,\n    missing_docs,\n    \
                 reason = \"generated code is regular rather than minimal\"\n)]\n\
                 pub mod rules {{\n{}}}\n",
                crate::rules::emit::emit(&set)
            )),
            result => {
                diagnostics.extend(result.err().into_iter().flatten());
                let mut files = vec![self.facts, self.groups];
                files.extend(self.sources);
                Err(Errors::Tables { diagnostics, files })
            }
        }
    }
}

/// Runs `work` on a thread whose stack is large enough for it in any build.
fn on_big_stack<T: Send>(work: impl FnOnce() -> Result<T, Errors> + Send) -> Result<T, Errors> {
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().stack_size(STACK).spawn_scoped(scope, work);
        match thread.map(|handle| handle.join()) {
            Ok(Ok(result)) => result,
            // A panic is a bug of the generator; it goes on as one.
            Ok(Err(panic)) => std::panic::resume_unwind(panic),
            Err(error) => Err(Errors::Io(PathBuf::from("generator thread"), error)),
        }
    })
}

/// The rule file of a folder whose name is nearest to one that isn't there.
#[cfg(feature = "rules")]
fn meant(folder: &Path, name: &str) -> Option<String> {
    let paths = std::fs::read_dir(folder).ok()?.flatten().map(|entry| entry.path());
    let rules = paths.filter(|path| path.extension().is_some_and(|e| e == "rules"));
    let mut names: Vec<String> =
        rules.filter_map(|path| Some(path.file_stem()?.to_string_lossy().into_owned())).collect();
    names.sort();
    crate::diagnostics::nearest(name, names.iter().map(String::as_str)).map(str::to_owned)
}

/// A file that no `file` line names would be left out without a word.
#[cfg(feature = "rules")]
fn every_file_is_listed(folder: &Path, read: &[(Arc<str>, Arc<str>)]) -> Result<(), Errors> {
    let entries = std::fs::read_dir(folder).map_err(|e| Errors::Io(folder.to_owned(), e))?;
    let mut paths: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    paths.sort();
    for path in paths {
        let name = path.file_stem().unwrap_or_default().to_string_lossy();
        let is_rules = path.extension().is_some_and(|e| e == "rules");
        let known = matches!(&*name, "facts" | "groups")
            || read.iter().any(|(file, _)| Path::new(&**file).file_stem() == path.file_stem());
        if is_rules && !known {
            let message = format!("groups.rules has no line `file {name};`");
            return Err(Errors::Io(path, std::io::Error::other(message)));
        }
    }
    Ok(())
}

/// Reads a table. Its name in diagnostics and comments is that of the file alone, so that generated code doesn't depend
/// on where it was generated.
fn read(path: &Path) -> Result<TableFile, Errors> {
    println!("cargo:rerun-if-changed={}", path.display());
    let text = std::fs::read_to_string(path).map_err(|error| Errors::Io(path.to_owned(), error))?;
    let name =
        path.file_name().map_or_else(|| path.to_string_lossy(), |name| name.to_string_lossy());
    Ok(TableFile::new(&name, text))
}

/// Writes a file, unless it has that content already.
fn write(path: &Path, text: &str) -> Result<(), Errors> {
    if std::fs::read(path).is_ok_and(|old| old == text.as_bytes()) {
        return Ok(());
    }
    std::fs::write(path, text).map_err(|error| Errors::Io(path.to_owned(), error))
}
