//! `docs/features.md` is true: every row once, and every test and acceptance line that it names exists.

use deburr_tests::accept::LINES;
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .expect("the workspace is around the crate")
        .into()
}

fn sources(folder: &Path, out: &mut Vec<String>) {
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        let path = entry.path();
        let hidden =
            path.file_name().is_none_or(|n| n == "target" || n.to_string_lossy().starts_with('.'));
        if path.is_dir() && !hidden {
            sources(&path, out);
        } else if path.extension().is_some_and(|e| e == "rs") {
            out.extend(std::fs::read_to_string(&path));
        }
    }
}

#[test]
fn every_feature_row_names_a_test_or_is_open() {
    let text = std::fs::read_to_string(root().join("docs/features.md"))
        .expect("the page is in the repository");
    let mut code = Vec::new();
    sources(&root(), &mut code);
    let rows: Vec<Vec<&str>> = text
        .lines()
        .filter(|l| l.starts_with("| F"))
        .map(|l| l.trim_matches('|').split(" | ").map(str::trim).collect())
        .collect();
    let numbers: Vec<String> = rows.iter().map(|r| r[0].trim().to_owned()).collect();
    let expected: Vec<String> = (1..=91).map(|n| format!("F{n}")).collect();
    assert_eq!(numbers, expected, "each row stands once, in order");
    for row in rows {
        let shown = row.last().expect("a row has columns").trim();
        if shown == "open" {
            continue;
        }
        for name in shown.split(", ").map(|name| name.trim_matches('`')) {
            let test = format!("fn {name}(");
            let exists = code.iter().any(|c| c.contains(&test));
            let is_line = LINES.iter().any(|line| line.name == name && line.open.is_none());
            assert!(exists || is_line, "{}: no test is called `{name}`", row[0]);
        }
    }
}
