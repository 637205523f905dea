//! The grammar for editors knows the words that the parser knows.

use deburr_rulegen::rules::{model::flags, syntax::CLAUSES};
use std::collections::BTreeSet;

fn read(path: &str) -> String {
    let path = format!("{}/../{path}", env!("CARGO_MANIFEST_DIR"));
    std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{path}: {e}"))
}

/// Reads a JSON value; gives what stands behind it.
fn value(text: &str) -> Result<&str, String> {
    let text = text.trim_start();
    let bad = |text: &str| Err(format!("not JSON: {}", text.chars().take(40).collect::<String>()));
    let list = |close: char, keyed: bool| {
        let mut rest = text[1..].trim_start();
        if let Some(rest) = rest.strip_prefix(close) {
            return Ok(rest);
        }
        loop {
            if keyed {
                let Some(next) = string(rest).and_then(|r| r.trim_start().strip_prefix(':')) else {
                    return bad(rest);
                };
                rest = next;
            }
            rest = value(rest)?.trim_start();
            match (rest.strip_prefix(','), rest.strip_prefix(close)) {
                (Some(next), _) => rest = next.trim_start(),
                (_, Some(next)) => return Ok(next),
                _ => return bad(rest),
            }
        }
    };
    match text.chars().next() {
        Some('{') => list('}', true),
        Some('[') => list(']', false),
        Some('"') => string(text).map_or_else(|| bad(text), Ok),
        _ => {
            let end = text.find(|c: char| !c.is_ascii_alphanumeric() && !"+-.".contains(c));
            let (word, rest) = text.split_at(end.unwrap_or(text.len()));
            match matches!(word, "true" | "false" | "null") || word.parse::<f64>().is_ok() {
                true => Ok(rest),
                false => bad(text),
            }
        }
    }
}

/// Reads a JSON string; gives what stands behind it.
fn string(text: &str) -> Option<&str> {
    let body = text.strip_prefix('"')?;
    let mut escaped = false;
    for (at, c) in body.char_indices() {
        match c {
            _ if escaped => match c {
                '"' | '\\' | '/' | 'b' | 'f' | 'n' | 'r' | 't' | 'u' => escaped = false,
                _ => return None,
            },
            '\\' => escaped = true,
            '"' => return Some(&body[at + 1..]),
            _ if c.is_control() => return None,
            _ => {}
        }
    }
    None
}

const GRAMMAR: &str = "editors/vscode/syntaxes/rules.tmLanguage.json";

#[test]
fn the_files_are_json() {
    for file in
        ["editors/vscode/package.json", "editors/vscode/language-configuration.json", GRAMMAR]
    {
        let text = read(file);
        assert_eq!(value(&text).map(str::trim), Ok(""), "{file}");
    }
    for wrong in ["{\"a\": 1,}", "[1 2]", "{a: 1}", "\"\\d\"", "tru"] {
        assert!(value(wrong).is_err(), "{wrong}");
    }
}

/// The alternatives of the pattern that has this comment.
fn words(comment: &str) -> BTreeSet<String> {
    let text = read(GRAMMAR);
    let marked = text.split(&format!("\"comment\": \"{comment}\"")).nth(1);
    let pattern = marked.and_then(|t| t.split("\"match\": \"").nth(1)).expect("there is one");
    let list = pattern.split('(').nth(1).and_then(|t| t.split(')').next()).expect("a list");
    list.split('|').map(String::from).collect()
}

fn set<'a>(words: impl IntoIterator<Item = &'a str>) -> BTreeSet<String> {
    words.into_iter().map(String::from).collect()
}

/// The names of flags in a set.
fn flag_names(mask: u16) -> BTreeSet<String> {
    let names = flags::NAMES.iter().enumerate();
    set(names.filter(|(i, _)| mask & (1 << i) != 0).map(|(_, n)| *n))
}

#[test]
fn its_words_are_those_of_the_parser() {
    assert_eq!(words("clauses"), set(CLAUSES));
    assert_eq!(words("licences"), flag_names(flags::LICENCES));
    assert_eq!(words("promises"), flag_names(flags::PROMISES));
    let grammar = include_str!("../src/rules/rules.pest");
    let quoted = |line: &str| line.split('"').nth(1).map(String::from);
    let keywords: BTreeSet<String> =
        grammar.lines().filter(|l| l.starts_with("kw_")).filter_map(quoted).collect();
    let known: BTreeSet<String> = words("keywords").union(&words("clauses")).cloned().collect();
    assert_eq!(known, keywords);
    let literals = grammar.lines().find(|l| l.starts_with("word_lit")).expect("it has them");
    let literals: Vec<&str> = literals.split('"').skip(1).step_by(2).collect();
    let literals: BTreeSet<String> = set(literals.into_iter().filter(|w| w.len() > 1));
    assert_eq!(words("literals"), literals);
}
