//! What each rule of the tree makes of terms: `tests/filetests/rules/*.terms`, a file for each file of rules.
//!
//! ```text
//! // ==== umod_pow2                          a rule, before it is stamped
//! umod(a, 8) => iand(a, 7) // umod_pow2      a term, what `deburr simplify` makes of it, the rules that did it
//! umod(a, 6) => umod(a, 6)
//! ```
//!
//! Every rule has its section, in the order of its file, with terms on which each of its stamped forms works and one at
//! least on which it doesn't. `BLESS=1` rewrites what follows `=>` where it is another; a new rule needs its section with terms.

mod support;

use std::collections::HashMap;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use support::{Folder, root};

/// Before the name of a rule.
const SECTION: &str = "// ==== ";

/// Rules that work on every use of their operation, under the environment that terms have.
const ALWAYS: &[&str] = &["fcanonicalize_move"];

/// A line of a file.
struct Line {
    /// Its number, from 0.
    at: usize,
    term: String,
    /// As the file has it.
    expected: String,
}

/// A rule's part of a file.
struct Section {
    rule: String,
    lines: Vec<Line>,
}

/// What a term became.
struct Result {
    out: String,
    rules: Vec<String>,
}

impl Result {
    fn shown(&self) -> String {
        match self.rules.is_empty() {
            true => self.out.clone(),
            false => format!("{} // {}", self.out, self.rules.join(", ")),
        }
    }
}

/// The strings of a field of a line of JSON; none of them holds a quotation mark.
fn field(line: &str, name: &str) -> Vec<String> {
    let value = line.split_once(&format!("\"{name}\":")).map_or("", |(_, value)| value);
    let end = match value.strip_prefix('[') {
        Some(list) if list.starts_with(']') => return Vec::new(),
        Some(_) => value.find("\"]"),
        None => value.match_indices('"').nth(1).map(|(at, _)| at),
    };
    let value = &value[..end.unwrap_or(value.len())];
    value.split('"').skip(1).step_by(2).map(str::to_owned).collect()
}

fn sections(text: &str) -> Vec<Section> {
    let mut sections = Vec::<Section>::new();
    for (at, line) in text.lines().enumerate() {
        match (line.strip_prefix(SECTION), sections.last_mut()) {
            (Some(rule), _) => sections.push(Section { rule: rule.into(), lines: Vec::new() }),
            (None, None) => {}
            (None, Some(_)) if line.is_empty() => {}
            (None, Some(section)) => {
                let (term, expected) = line.split_once("=>").unwrap_or((line, ""));
                let (term, expected) = (term.trim().to_owned(), expected.trim().to_owned());
                section.lines.push(Line { at, term, expected });
            }
        }
    }
    sections
}

/// What the terms of a file become, in one run of the command.
fn simplified(f: &Folder, sections: &[Section]) -> Vec<Result> {
    let terms: Vec<&str> = sections.iter().flat_map(|s| &s.lines).map(|l| &*l.term).collect();
    f.write("terms", terms.join("\n"));
    let text = f.run(&["simplify", "--file", "terms", "--json"]).ends(0).text();
    let results: Vec<Result> = text
        .lines()
        .map(|l| Result { out: field(l, "out").concat(), rules: field(l, "rules") })
        .collect();
    assert_eq!(results.len(), terms.len());
    results
}

#[test]
fn terms_become_what_the_files_say() {
    let f = Folder::new();
    let bless = std::env::var_os("BLESS").is_some();
    // Stamped rules of each file, in order.
    let mut files: Vec<(String, Vec<String>)> = Vec::new();
    for line in f.run(&["rules", "--json"]).ends(0).text().lines() {
        let (name, file) = (field(line, "name").concat(), field(line, "file").concat());
        if files.last().is_none_or(|(last, _)| *last != file) {
            files.push((file, vec![name]));
        } else if let Some((_, rules)) = files.last_mut() {
            rules.push(name);
        }
    }
    assert!(files.len() >= 15);
    let mut wrong = String::new();
    for (file, rules) in files {
        let stem = Path::new(&file).with_extension("terms");
        let path: PathBuf = root().join("tests/filetests").join(&stem);
        let shown = Path::new("tests/filetests").join(&stem);
        let shown = shown.display();
        let text = std::fs::read_to_string(&path).unwrap_or_default();
        let found = sections(&text);
        let mut blessed: Vec<String> = text.lines().map(str::to_owned).collect();
        let results = simplified(&f, &found);
        let mut source: Vec<&str> = rules.iter().map(|r| source(r)).collect();
        source.dedup();
        let have: Vec<&str> = found.iter().map(|s| &*s.rule).collect();
        if let Some(missing) = source.iter().find(|r| !have.contains(r)) {
            let _ = writeln!(
                wrong,
                "{shown}: no section `{SECTION}{missing}`: write it with terms on which the rule works and one on \
                 which it doesn't; `BLESS=1 cargo test -p deburr --test rules` adds what they become"
            );
        } else if have != source {
            let _ = writeln!(wrong, "{shown}: sections are not in the order of the rules");
        }
        let mut fired: HashMap<&str, u32> = HashMap::new();
        let mut results = results.iter();
        for section in &found {
            let mut idle = 0;
            for line in &section.lines {
                let result = results.next().expect("there is one for each line");
                result.rules.iter().for_each(|r| *fired.entry(r).or_default() += 1);
                idle += u32::from(result.rules.iter().all(|r| self::source(r) != section.rule));
                if line.expected == result.shown() {
                    continue;
                }
                if bless {
                    blessed[line.at] = format!("{} => {}", line.term, result.shown());
                } else {
                    let _ = writeln!(
                        wrong,
                        "{shown}: {}: {}\n  expected {}\n  found    {}",
                        section.rule,
                        line.term,
                        line.expected,
                        result.shown()
                    );
                }
            }
            if idle == 0 && !ALWAYS.contains(&&*section.rule) {
                let _ =
                    writeln!(wrong, "{shown}: {}: no term on which it does nothing", section.rule);
            }
        }
        for rule in &rules {
            if !fired.contains_key(&**rule) {
                let _ = writeln!(wrong, "{shown}: {rule}: no term on which it works");
            }
        }
        if blessed.iter().ne(text.lines()) {
            let text = blessed.iter().map(|line| format!("{line}\n"));
            std::fs::write(&path, text.collect::<String>()).expect("the file can be written");
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

/// The name of a rule before it is stamped.
fn source(rule: &str) -> &str {
    rule.split('[').next().unwrap_or(rule)
}
