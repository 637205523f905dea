//! `deburr rules check`: what the build would say of rule files, without a build.

use crate::Tree;
use crate::codes;
use crate::json::Object;
use crate::report::{Diagnostic, Exit, Kind, Reporter, Trouble};
use deburr_rulegen::rules::Texts;
use deburr_rulegen::rules::parse::parse_groups;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Where the rules of a tree are.
const FOLDER: &str = "rules";

/// Check rule files as the build does.
///
/// A file in a folder `rules` takes the place of the built-in one of its name; any other comes behind them all.
#[derive(clap::Args)]
#[command(after_help = "Examples:\n  deburr rules check mine.rules\n  deburr rules check")]
pub struct Args {
    /// Files; all that `rules/groups.rules` lists if none is given
    #[arg(value_name = "FILES")]
    files: Vec<PathBuf>,
}

/// A rule file: its name in the tree, the name it is shown by, its text.
struct File {
    key: String,
    shown: String,
    text: String,
}

/// Runs the subcommand.
pub fn run(args: &Args, tree: &Tree, reporter: &mut Reporter) -> Exit {
    for (n, path) in args.files.iter().enumerate() {
        if let Some(other) = args.files[..n].iter().find(|other| key(other) == key(path)) {
            let (one, two) = (other.display(), path.display());
            return reporter.usage(&format!("`{one}` and `{two}` stand for the same file"));
        }
    }
    let found = match args.files.is_empty() {
        true => folder().and_then(|(files, own)| check(tree, files, &own)),
        false => beside(tree, &args.files).and_then(|(files, own)| check(tree, files, &own)),
    };
    match found {
        Ok(counts) => {
            for (file, rules) in counts {
                reporter.line(&match reporter.json {
                    true => {
                        Object::line().str("file", &file).raw("rules", rules).raw("ok", true).end()
                    }
                    false => format!("{file}: {rules} rule{}", if rules == 1 { "" } else { "s" }),
                });
            }
            Exit::Ok
        }
        Err(trouble) => reporter.diagnose_all(&trouble),
    }
}

/// The name of a rule file: that of the tree for one in a folder of its name, otherwise the path.
fn key(path: &Path) -> String {
    let whole = std::path::absolute(path).unwrap_or_else(|_| path.into());
    match whole.parent().and_then(Path::file_name).is_some_and(|name| name == FOLDER) {
        true => {
            format!("{FOLDER}/{}.rules", path.file_stem().unwrap_or_default().to_string_lossy())
        }
        false => path.to_string_lossy().into_owned(),
    }
}

fn read(path: &Path) -> Result<File, Trouble> {
    let bytes = crate::input::read_bytes(path)?;
    let shown = path.to_string_lossy().into_owned();
    let text = String::from_utf8(bytes).map_err(|_| {
        Diagnostic::new(&shown, Kind::Invalid, codes::KIND_OF_INPUT, "not UTF-8 text")
    })?;
    Ok(File { key: key(path), shown, text })
}

/// The files of the folder `rules`; none of them may be left out.
fn folder() -> Result<(Vec<File>, Vec<String>), Trouble> {
    let at = |name: &str| Path::new(FOLDER).join(format!("{name}.rules"));
    let told = |e: std::io::Error| {
        let d = Diagnostic::new(FOLDER, Kind::Invalid, codes::FILE, format!("can't read: {e}"));
        d.help("name the files, or run it beside the folder")
    };
    let mut names: Vec<PathBuf> = Vec::new();
    for entry in std::fs::read_dir(FOLDER).map_err(told)? {
        names.push(entry.map_err(told)?.path());
    }
    names.sort();
    let mut files = vec![read(&at("facts"))?, read(&at("groups"))?];
    let groups = parse_groups(&Arc::from(&*files[1].shown), &files[1].text)
        .map_err(|d| Diagnostic::of_rules(&d, |_| Some(&*files[1].text)))?;
    for (name, _) in &groups.files {
        files.push(read(&at(&name.text))?);
    }
    let unlisted = |path: &&PathBuf| {
        path.extension().is_some_and(|e| e == "rules") && !files.iter().any(|f| f.key == key(path))
    };
    if let Some(path) = names.iter().find(unlisted) {
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let message = format!("groups.rules has no line `file {name};`");
        return Err(
            Diagnostic::new(&path.to_string_lossy(), Kind::Invalid, codes::FILE, message).into()
        );
    }
    let own = files[2..].iter().map(|f| f.shown.clone()).collect();
    Ok((files, own))
}

/// The files of the tree with some in their places, and behind them those that it doesn't have.
fn beside(tree: &Tree, paths: &[PathBuf]) -> Result<(Vec<File>, Vec<String>), Trouble> {
    let built_in = tree.texts.rules.iter().map(|(name, text)| File {
        key: name.to_string(),
        shown: name.to_string(),
        text: text.to_string(),
    });
    let mut files: Vec<File> = built_in.collect();
    let mut own = Vec::new();
    for path in paths {
        let file = read(path)?;
        own.push(file.shown.clone());
        match files.iter_mut().find(|f| f.key == file.key) {
            Some(old) => *old = file,
            None => files.push(file),
        }
    }
    Ok((files, own))
}

/// Compiles all of them as the build does; how many rules each of the files in question has.
fn check(tree: &Tree, files: Vec<File>, own: &[String]) -> Result<Vec<(String, usize)>, Trouble> {
    let is_library =
        |f: &File| matches!(f.key.as_str(), "rules/facts.rules" | "rules/groups.rules");
    let names = |f: &File| if is_library(f) { f.key.clone() } else { f.shown.clone() };
    let texts: Vec<(String, String, String)> =
        files.into_iter().map(|f| (names(&f), f.shown, f.text)).collect();
    let rules: Vec<(&str, &str)> = texts.iter().map(|(name, _, text)| (&**name, &**text)).collect();
    let source = |name: &str| rules.iter().find(|(n, _)| *n == name).map(|(_, text)| *text);
    let told = |list: Vec<deburr_rulegen::diagnostics::Diagnostic>| -> Trouble {
        list.iter().map(|d| Diagnostic::of_rules(d, source)).collect()
    };
    let texts_of_tree = Texts { rules: &rules, ..tree.texts };
    let set = texts_of_tree.load().and_then(|book| book.as_built()).map_err(told)?;
    let mut counts: HashMap<&str, usize> = HashMap::new();
    for rule in &set.rules {
        *counts.entry(&set.files[rule.file].0).or_default() += 1;
    }
    let count = |shown: &String| (shown.clone(), counts.get(&**shown).copied().unwrap_or(0));
    Ok(own.iter().map(count).collect())
}
