//! Holds the sources to what the contributing guide promises: dependency edges, sizes of files and functions, no
//! silenced lints, no caught panics, no opcodes by hand, no paths of somebody's machine.
//!
//! The scans are over lines of formatted code, so that they need no parser. Exceptions stand here with their reasons.

mod json;
mod kinds;

use deburr_ir_core::ALU_INFO;
use json::Json;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Which packages of the workspace each may depend on, as a library or when built. `*` is all.
const EDGES: &[(&str, &[&str])] = &[
    ("deburr-rulegen", &[]),
    ("deburr-ir-core", &["build:deburr-rulegen"]),
    ("deburr-eval", &["deburr-ir-core"]),
    ("deburr-spirv", &["deburr-ir-core"]),
    ("deburr-algebraic", &["deburr-ir-core", "deburr-rulegen"]),
    (
        "deburr-ruleset",
        // Its tests look for circles among rules that no order proves.
        &[
            "deburr-algebraic",
            "deburr-ir-core",
            "build:deburr-rulegen",
            "dev:deburr-algebraic",
            "dev:deburr-rulegen",
        ],
    ),
    ("deburr-passes", &["deburr-algebraic", "deburr-ir-core"]),
    ("deburr-fuzz", &["deburr-passes", "deburr-eval", "deburr-algebraic", "deburr-ir-core"]),
    ("deburr-verify", &["deburr-algebraic", "deburr-ir-core", "deburr-rulegen"]),
    // All but the rules of the tree: an edit of those compiles only the small crate that links both.
    (
        "deburr-command",
        &[
            "deburr-rulegen",
            "deburr-ir-core",
            "deburr-algebraic",
            "deburr-passes",
            "deburr-eval",
            "deburr-spirv",
            "deburr-verify",
            "deburr-fuzz",
            "dev:deburr-ruleset",
        ],
    ),
    ("deburr", &["deburr-command", "deburr-ruleset"]),
    ("deburr-tests", &["*"]),
];

/// Most lines of a file.
const FILE_LINES: usize = 1_000;
/// Most lines of a function.
const FUNCTION_LINES: usize = 120;
/// Most opcodes that one hand-written `match` names.
const OPCODES: usize = 12;

/// Files that may be longer, each with the reason.
const LONG_FILES: &[(&str, &str)] = &[];

/// Functions that may be longer, `file: function`, each with the reason.
const LONG_FUNCTIONS: &[(&str, &str)] = &[];

/// Files whose matches may name more opcodes, each with the reason.
const OPCODE_MATCHES: &[(&str, &str)] = &[(
    "tests/src/oracle/",
    "an oracle is independent of the tables: naming every opcode by hand is what it is for (ACCEPTANCE 10)",
)];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..").components().collect()
}

/// Every tracked text file: its path from the root, and its text.
fn tracked() -> Vec<(String, String)> {
    let output = Command::new("git").args(["ls-files", "-z"]).current_dir(root()).output();
    let listed = output.ok().filter(|output| output.status.success()).map(|output| output.stdout);
    let names: Vec<String> = match listed {
        Some(bytes) => String::from_utf8_lossy(&bytes).split('\0').map(str::to_owned).collect(),
        // A source archive has no repository: everything but build results then.
        None => walk(&root()),
    };
    let read =
        |name: String| Some((name.clone(), std::fs::read_to_string(root().join(&name)).ok()?));
    let files: Vec<_> =
        names.into_iter().filter(|name| !name.is_empty()).filter_map(read).collect();
    assert!(files.len() > 100, "only {} tracked files were found", files.len());
    files
}

fn walk(root: &Path) -> Vec<String> {
    let (mut names, mut stack) = (Vec::new(), vec![root.to_owned()]);
    while let Some(dir) = stack.pop() {
        for entry in std::fs::read_dir(dir).into_iter().flatten().flatten() {
            let (path, name) = (entry.path(), entry.file_name());
            if path.is_dir() {
                if name != "target" && !name.to_string_lossy().starts_with('.') {
                    stack.push(path);
                }
            } else if let Ok(path) = path.strip_prefix(root) {
                names.push(path.to_string_lossy().replace('\\', "/"));
            }
        }
    }
    names
}

fn rust() -> impl Iterator<Item = (String, String)> {
    tracked().into_iter().filter(|(name, _)| name.ends_with(".rs"))
}

#[track_caller]
fn none(what: &str, found: &[String]) {
    assert!(found.is_empty(), "{what}:\n  {}", found.join("\n  "));
}

#[test]
fn dependency_edges_are_those_of_the_design() {
    let cargo = std::env::var_os("CARGO").unwrap_or("cargo".into());
    let output = Command::new(cargo)
        .args(["metadata", "--no-deps", "--format-version", "1", "--offline"])
        .current_dir(root())
        .output()
        .expect("cargo runs this test, so it can be run");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let metadata =
        Json::parse(&String::from_utf8_lossy(&output.stdout)).expect("cargo prints JSON");
    let packages = metadata.get("packages").map_or(&[][..], Json::items);
    let names: BTreeSet<&str> = packages.iter().filter_map(|p| p.get("name")?.text()).collect();
    let expected: BTreeSet<&str> = EDGES.iter().map(|(name, _)| *name).collect();
    assert_eq!(names, expected, "members of the workspace");
    let mut found = Vec::new();
    for package in packages {
        let name = package.get("name").and_then(Json::text).unwrap_or_default();
        let allowed = EDGES.iter().find(|(n, _)| *n == name).map_or(&[][..], |(_, edges)| edges);
        for dependency in package.get("dependencies").map_or(&[][..], Json::items) {
            let to = dependency.get("name").and_then(Json::text).unwrap_or_default();
            let kind = dependency.get("kind").and_then(Json::text);
            let edge = kind.map_or_else(|| to.to_owned(), |kind| format!("{kind}:{to}"));
            if names.contains(to) && !allowed.contains(&"*") && !allowed.contains(&edge.as_str()) {
                found.push(format!("{name} -> {edge}"));
            }
        }
    }
    none("dependency edges that the design does not have", &found);
}

#[test]
fn every_dependency_is_used() {
    let files: Vec<(String, String)> = tracked();
    let members: Vec<&str> =
        files.iter().filter_map(|(n, _)| n.strip_suffix("/Cargo.toml")).collect();
    let mut found = Vec::new();
    for (name, manifest) in &files {
        let Some(member) = name.strip_suffix("/Cargo.toml") else { continue };
        // A member inside another is a member of its own.
        let inside = |file: &str| {
            let under = |m: &str| file.strip_prefix(m).is_some_and(|rest| rest.starts_with('/'));
            under(member) && !members.iter().any(|m| m.len() > member.len() && under(m))
        };
        let code: Vec<&String> =
            files.iter().filter(|(n, _)| n.ends_with(".rs") && inside(n)).map(|(_, t)| t).collect();
        for dependency in dependencies(manifest) {
            let krate = dependency.replace('-', "_");
            let names = |text: &&String| {
                text.split(|c: char| !c.is_alphanumeric() && c != '_').any(|w| w == krate)
            };
            if !code.iter().any(names) {
                found.push(format!("{name}: {dependency}"));
            }
        }
    }
    none("dependencies that no source names", &found);
}

/// The names in the dependency tables of a manifest.
fn dependencies(manifest: &str) -> Vec<&str> {
    let (mut inside, mut names) = (false, Vec::new());
    for line in manifest.lines() {
        match line.strip_prefix('[') {
            Some(table) => {
                inside = table.trim_end_matches(']').ends_with("dependencies")
                    && table != "workspace.dependencies]"
            }
            None if inside => {
                let name = line.split(['.', '=', ' ']).next().unwrap_or_default();
                names.extend(Some(name).filter(|n| !n.is_empty() && !n.starts_with('#')));
            }
            None => {}
        }
    }
    names
}

#[test]
fn every_dependency_of_the_workspace_has_a_reason() {
    let manifest = std::fs::read_to_string(root().join("Cargo.toml")).expect("there is a manifest");
    let table = manifest.split("[workspace.dependencies]").nth(1).expect("it has dependencies");
    let outside: Vec<&str> = table
        .lines()
        .take_while(|line| !line.starts_with('['))
        .filter(|line| !line.is_empty() && !line.starts_with(['#']) && !line.contains("path = "))
        .collect();
    assert!(outside.len() > 10, "{outside:?}");
    let bare = outside.iter().filter(|line| !line.contains(" # ")).map(|line| (*line).to_owned());
    none("dependencies without a reason", &bare.collect::<Vec<_>>());
    let manifests: Vec<String> = tracked()
        .into_iter()
        .filter(|(name, _)| name.ends_with("/Cargo.toml"))
        .map(|(_, text)| text)
        .collect();
    let used = |name: &str| manifests.iter().any(|m| dependencies(m).contains(&name));
    let idle = outside.iter().filter_map(|line| line.split_once(" = ")).map(|(name, _)| name);
    let idle: Vec<String> = idle.filter(|name| !used(name)).map(str::to_owned).collect();
    none("dependencies of the workspace that no member has", &idle);
}

#[test]
fn every_crate_forbids_unsafe_code() {
    let roots = rust().filter(|(name, _)| {
        let root = name.ends_with("src/lib.rs") || name.ends_with("src/main.rs");
        // Harnesses that need it are workspaces of their own.
        root && !["tests/vulkan/", "tests/spvm/", "fuzz/targets/"]
            .iter()
            .any(|p| name.starts_with(p))
    });
    let (with, without): (Vec<_>, Vec<_>) =
        roots.partition(|(_, text)| text.lines().any(|line| line == "#![forbid(unsafe_code)]"));
    assert!(with.len() > 10, "{} crates forbid it", with.len());
    none(
        "crates without `#![forbid(unsafe_code)]`",
        &without.into_iter().map(|(name, _)| name).collect::<Vec<_>>(),
    );
}

#[test]
fn files_are_short() {
    let mut found = Vec::new();
    for (name, text) in rust() {
        let lines = text.lines().count();
        if lines > FILE_LINES && !LONG_FILES.iter().any(|(file, _)| *file == name) {
            found.push(format!("{name}: {lines} lines"));
        }
    }
    none("files over 1,000 lines", &found);
}

/// The functions of a formatted file: name, first line, number of lines.
fn functions(text: &str) -> Vec<(String, usize, usize)> {
    let lines: Vec<&str> = text.lines().collect();
    let mut found = Vec::new();
    for (n, line) in lines.iter().enumerate() {
        let code = line.trim_start();
        let indent = line.len() - code.len();
        let Some(name) = function_name(code) else { continue };
        // The signature may go over several lines; the body ends with a brace in the column of its first line.
        let close = format!("{}}}", &line[..indent]);
        if line.ends_with('}') || line.ends_with(';') {
            continue;
        }
        if let Some(end) = lines[n..].iter().position(|line| *line == close) {
            found.push((name.to_owned(), n + 1, end + 1));
        }
    }
    found
}

/// The name, if a line begins a function.
fn function_name(code: &str) -> Option<&str> {
    let mut words = code.split([' ', '(', '<']);
    loop {
        match words.next()? {
            "pub" | "const" | "unsafe" | "async" | "extern" | "crate)" | "super)" | "\"C\"" => {}
            "fn" => return words.next(),
            _ => return None,
        }
    }
}

#[test]
fn functions_are_short() {
    let mut found = Vec::new();
    let mut seen = 0;
    for (name, text) in rust() {
        for (function, line, lines) in functions(&text) {
            seen += 1;
            let key = format!("{name}: {function}");
            if lines > FUNCTION_LINES && !LONG_FUNCTIONS.iter().any(|(k, _)| *k == key) {
                found.push(format!("{name}:{line}: `{function}`, {lines} lines"));
            }
        }
    }
    assert!(seen > 500, "only {seen} functions were found");
    none("functions over 120 lines", &found);
}

#[test]
fn lints_are_not_silenced_without_a_reason() {
    let mut found = Vec::new();
    for (name, text) in rust() {
        let lines: Vec<&str> = text.lines().collect();
        for (n, line) in lines.iter().enumerate() {
            let code = line.trim_start();
            if !(code.starts_with("#[allow(") || code.starts_with("#![allow(")) {
                continue;
            }
            // An attribute may go over several lines; a comment on its line or above it is a reason too.
            let end = lines[n..].iter().position(|line| line.contains(")]")).unwrap_or(0);
            let reason = lines[n..=n + end]
                .iter()
                .any(|line| line.contains("reason =") || line.contains("//"));
            let above = n > 0 && lines[n - 1].trim_start().starts_with("// ");
            if !reason && !above {
                found.push(format!("{name}:{}: {code}", n + 1));
            }
        }
    }
    none("lints allowed without a reason", &found);
}

#[test]
fn panics_are_not_caught() {
    // In two parts, so that this file does not name it.
    let name = concat!("catch_", "unwind");
    let mut found = Vec::new();
    for (file, text) in rust() {
        let lines = text.lines().enumerate().filter(|(_, line)| {
            let code = line.split("//").next().unwrap_or_default();
            code.contains(name)
        });
        found.extend(lines.map(|(n, line)| format!("{file}:{}: {}", n + 1, line.trim())));
    }
    none("caught panics", &found);
}

/// How many different opcodes the arms of each `match` of a formatted file name, by the line of the `match`.
fn opcode_matches(text: &str, opcodes: &BTreeSet<&str>) -> BTreeMap<usize, usize> {
    let mut open: Vec<(usize, usize, BTreeSet<String>)> = Vec::new();
    let mut counts = BTreeMap::new();
    for (n, line) in text.lines().enumerate() {
        let code = line.trim_start();
        let indent = line.len() - code.len();
        while open.last().is_some_and(|(column, ..)| code.starts_with('}') && indent <= *column) {
            let (_, at, names) = open.pop().expect("it was looked at above");
            counts.insert(at, names.len());
        }
        if let Some((_, _, names)) = open.last_mut() {
            // Patterns: what is before the arrow; a long pattern has lines of its own, which begin with `|`.
            let pattern = match code.split_once("=>") {
                Some((pattern, _)) => pattern,
                None if code.starts_with('|') || code.ends_with('|') => code,
                None => "",
            };
            names.extend(pattern.split("AluOp::").skip(1).map(|rest| word(rest).to_owned()));
            names.extend(
                pattern
                    .split('"')
                    .skip(1)
                    .step_by(2)
                    .filter(|s| opcodes.contains(s))
                    .map(str::to_owned),
            );
        }
        if code.ends_with('{') && code.split_whitespace().any(|w| w == "match") {
            open.push((indent, n + 1, BTreeSet::new()));
        }
    }
    counts
}

fn word(text: &str) -> &str {
    text.split(|c: char| !c.is_alphanumeric() && c != '_').next().unwrap_or_default()
}

#[test]
fn opcodes_are_not_listed_by_hand() {
    let opcodes: BTreeSet<&str> = ALU_INFO.iter().map(|info| info.name).collect();
    let mut found = Vec::new();
    for (name, text) in rust() {
        if OPCODE_MATCHES.iter().any(|(file, _)| name.starts_with(file)) {
            continue;
        }
        let long =
            opcode_matches(&text, &opcodes).into_iter().filter(|(_, names)| *names > OPCODES);
        found.extend(long.map(|(line, names)| format!("{name}:{line}: {names} opcodes")));
    }
    none("matches over more than a dozen opcodes, outside the tables", &found);
}

#[test]
fn every_member_has_tests() {
    let files: Vec<(String, String)> = rust().collect();
    let manifest =
        std::fs::read_to_string(root().join("Cargo.toml")).expect("the workspace has a manifest");
    let members = manifest
        .split("members = [")
        .nth(1)
        .and_then(|rest| rest.split(']').next())
        .expect("members");
    let members: Vec<&str> = members.split('"').skip(1).step_by(2).collect();
    let has_tests = |member: &str| {
        files.iter().any(|(name, text)| {
            let inside = name.strip_prefix(member).is_some_and(|rest| rest.starts_with('/'));
            // A member inside another is a member of its own.
            let other = members
                .iter()
                .any(|m| m.len() > member.len() && name.starts_with(&format!("{m}/")));
            inside
                && !other
                && (text.contains("#[test]")
                    || text.contains("libtest_mimic")
                    || text.contains("/// ```"))
        })
    };
    let found: Vec<String> =
        members.iter().filter(|m| !has_tests(m)).map(|m| (*m).to_owned()).collect();
    none("workspace members without a test", &found);
}

#[test]
fn no_paths_or_hosts_of_a_machine() {
    // In parts, so that this file does not have them.
    let words = [
        concat!("/ho", "me/"),
        concat!("/ro", "ot/"),
        concat!("/wo", "rk/"),
        concat!("/Us", "ers/"),
        concat!("crates", ".io"),
        concat!("pypi", ".org"),
        concat!("python", "hosted.org"),
        concat!("debian", ".org"),
    ];
    let mut found = Vec::new();
    // A lock file of cargo names the registry in the form that cargo gives it.
    for (name, text) in tracked().into_iter().filter(|(name, _)| !name.ends_with("Cargo.lock")) {
        for (n, line) in text.lines().enumerate() {
            found.extend(
                words
                    .iter()
                    .filter(|w| line.contains(**w))
                    .map(|w| format!("{name}:{}: {w}", n + 1)),
            );
        }
    }
    none("absolute paths and registry hosts in tracked files", &found);
}

#[test]
fn the_scans_notice() {
    let source = "impl X {\n    pub fn long(\n        a: u8,\n    ) -> u8 {\n        match op {\n            AluOp::FADD | \
                  AluOp::FMUL => 1,\n            \"iadd\" => 2,\n            _ => 3,\n        }\n    }\n\n    fn short() \
                  {\n    }\n}\n";
    let found = functions(source);
    assert_eq!(found, [("long".to_owned(), 2, 9), ("short".to_owned(), 12, 2)]);
    let opcodes = BTreeSet::from(["iadd"]);
    assert_eq!(opcode_matches(source, &opcodes), BTreeMap::from([(5, 3)]));
    assert_eq!(function_name("pub(crate) fn f<T>() {"), Some("f"));
    assert_eq!(function_name("let fn_name = 3;"), None);
    let manifest = "[package]\nname = \"x\"\n\n[dependencies]\n# why\na.workspace = true\nb-c = \"1\"\n\n[features]\nd = []\n\
                    [dev-dependencies]\ne = { path = \"e\" }\n[workspace.dependencies]\nf = \"1\"\n";
    assert_eq!(dependencies(manifest), ["a", "b-c", "e"]);
}
