//! What documentation shows is what happens: shell blocks of README and book, and the examples of every `--help`.
//!
//! A block of `sh` is run line by line in a folder of its own that has the repository's examples and rules. A block of
//! `text` right behind it is its output, on both streams; `BLESS=1` writes it. Lines that begin with `cargo run
//! --release --` run the command under test; other uses of cargo and git are for people.

mod support;

use std::path::{Path, PathBuf};
use support::{Folder, root};

/// Lines that only people run.
const FOR_PEOPLE: [&str; 8] = [
    "cargo build",
    "cargo test",
    "cargo install",
    "cargo doc",
    "cargo fmt",
    "cargo clippy",
    "git ",
    "cd ",
];

fn pages() -> Vec<PathBuf> {
    let mut pages = vec![root().join("README.md"), root().join("examples/README.md")];
    let mut folders = vec![root().join("docs/book")];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).expect("the book is there") {
            let path = entry.expect("its entries can be read").path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|e| e == "md") {
                pages.push(path);
            }
        }
    }
    pages.sort();
    pages
}

/// What a block of shell printed, and whether every line ended with 0.
fn run_block(folder: &Folder, block: &[&str]) -> (String, Vec<String>) {
    let (mut output, mut failures) = (String::new(), Vec::new());
    let mut lines = block.iter();
    while let Some(line) = lines.next() {
        let mut line = (*line).to_owned();
        while line.ends_with('\\') {
            line.pop();
            line += lines.next().copied().unwrap_or("");
        }
        let line = line.trim();
        if line.is_empty()
            || line.starts_with('#')
            || FOR_PEOPLE.iter().any(|p| line.starts_with(p))
        {
            continue;
        }
        let command = line.replace("cargo run --release -- ", "deburr ");
        let run = folder.shell(&command);
        output += &run.text();
        // A comment may say that a command answers with no.
        let expected = line.rsplit_once("# exit ").and_then(|(_, n)| n.parse().ok()).unwrap_or(0);
        if run.code != Some(expected) {
            failures.push(format!("`{line}` ends with {:?}:\n{}", run.code, run.text()));
        }
    }
    (output, failures)
}

/// Runs the blocks of a page; gives the page as it should be.
fn run_page(path: &Path, failures: &mut Vec<String>) -> (String, String) {
    let text = std::fs::read_to_string(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    let lines: Vec<&str> = text.lines().collect();
    let folder = Folder::new();
    let mut out: Vec<String> = Vec::new();
    let mut at = 0;
    let block_end =
        |from: usize| (from..lines.len()).find(|n| lines[*n] == "```").unwrap_or(lines.len());
    while at < lines.len() {
        out.push(lines[at].into());
        if lines[at] != "```sh" {
            at += 1;
            continue;
        }
        let end = block_end(at + 1);
        out.extend(lines[at + 1..=end.min(lines.len() - 1)].iter().map(|l| (*l).to_owned()));
        let (output, failed) = run_block(&folder, &lines[at + 1..end]);
        failures.extend(failed.iter().map(|f| format!("{}:{}: {f}", path.display(), at + 1)));
        at = end + 1;
        let next = (at..lines.len()).find(|n| !lines[*n].is_empty());
        if let Some(next) = next.filter(|n| lines[*n] == "```text") {
            let end = block_end(next + 1);
            out.extend((at..=next).map(|n| lines[n].to_owned()));
            out.extend(output.trim_end().lines().map(|l| l.trim_end().to_owned()));
            out.push("```".into());
            at = end + 1;
        }
    }
    (text, out.join("\n") + "\n")
}

#[test]
fn shell_blocks_print_what_they_show() {
    if cfg!(not(feature = "naga")) {
        // The pages speak of WGSL.
        return;
    }
    let mut failures = Vec::new();
    for page in pages() {
        let (text, expected) = run_page(&page, &mut failures);
        if text == expected {
            continue;
        }
        if std::env::var_os("BLESS").is_some() {
            std::fs::write(&page, &expected).unwrap_or_else(|e| panic!("{}: {e}", page.display()));
        } else {
            let differs = text.lines().zip(expected.lines()).position(|(a, b)| a != b);
            let n = differs.unwrap_or_else(|| text.lines().count().min(expected.lines().count()));
            let line = |t: &str| t.lines().nth(n).unwrap_or("").to_owned();
            failures.push(format!(
                "{}:{}: shows `{}`, prints `{}`; BLESS=1 writes it",
                page.display(),
                n + 1,
                line(&text),
                line(&expected)
            ));
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

/// The blocks of a language in a page.
fn blocks(path: &Path, language: &str) -> Vec<String> {
    let text = std::fs::read_to_string(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    let fence = format!("\n```{language}\n");
    let bodies = text.split(&fence).skip(1);
    bodies.map(|b| b.split("\n```").next().unwrap_or("").to_owned() + "\n").collect()
}

#[test]
fn rules_and_ir_of_the_book_are_right() {
    let folder = Folder::new();
    let mut seen = 0;
    for page in pages() {
        for block in blocks(&page, "rules") {
            folder.write("block.rules", &block);
            let run = folder.run(&["expand", "block.rules"]);
            assert_eq!(run.code, Some(0), "{}:\n{block}\n{}", page.display(), run.stderr);
            seen += 1;
        }
        for block in blocks(&page, "nir") {
            folder.write("block.nir", &block);
            let run = folder.run(&["parse", "block.nir"]);
            assert_eq!(run.code, Some(0), "{}:\n{block}\n{}", page.display(), run.stderr);
        }
    }
    assert!(seen > 0, "the book shows no rule");
}

#[test]
fn the_readme_has_an_example_with_its_output() {
    let text = std::fs::read_to_string(root().join("README.md")).expect("there is a README");
    let block =
        text.split("```sh\n").skip(1).find(|b| b.contains("cargo run --release -- opt examples/"));
    let rest =
        block.expect("the README shows an optimisation").split_once("```").expect("it ends").1;
    let output = rest.trim_start().strip_prefix("```text\n").expect("the output stands behind it");
    let output = output.split("```").next().unwrap_or("");
    assert!(output.contains("body") && output.contains("cost"), "{output}");
}

/// A shader that is quickly run.
const SHADER: &str = "
@group(0) @binding(0) var<storage, read> xs: array<u32>;
@group(0) @binding(1) var<storage, read_write> ys: array<u32>;

@compute @workgroup_size(32)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    if (id.x < arrayLength(&ys)) {
        ys[id.x] = xs[id.x] * 2u + 1u;
    }
}
";

/// The subcommands that the overview lists.
fn subcommands(folder: &Folder) -> Vec<String> {
    let text = folder.run(&["--help"]).ends(0).text();
    let list = text.split("Commands:\n").nth(1).and_then(|t| t.split("\n\n").next()).unwrap_or("");
    list.lines().filter_map(|l| l.split_whitespace().next()).map(String::from).collect()
}

#[test]
fn every_help_fits_a_screen_and_ends_with_two_examples() {
    let folder = Folder::new();
    let commands = subcommands(&folder);
    assert!(commands.len() >= 14, "{commands:?}");
    for command in std::iter::once("").chain(commands.iter().map(|c| &**c)) {
        let args: Vec<&str> = [command, "--help"].into_iter().filter(|a| !a.is_empty()).collect();
        let text = folder.run(&args).ends(0).text();
        let lines: Vec<&str> = text.trim_end().lines().collect();
        assert!(lines.len() <= 40, "{command}: {} lines", lines.len());
        for line in &lines {
            assert!(line.chars().count() <= 100, "{command}: {line}");
        }
        let tail = &lines[lines.len() - 3..];
        assert_eq!(tail[0], "Examples:", "{command}");
        assert!(tail[1..].iter().all(|l| l.starts_with("  deburr ")), "{command}: {tail:?}");
    }
}

#[test]
fn the_examples_of_every_help_work() {
    if cfg!(not(feature = "naga")) {
        return;
    }
    for command in subcommands(&Folder::new()).iter().map(|c| &**c).chain([""]) {
        let folder = Folder::new();
        let copy = |from: &str, to: &str| {
            std::fs::copy(folder.path(from), folder.path(to)).expect("examples can be copied");
        };
        folder.write("shader.wgsl", SHADER);
        folder.write("a.wgsl", SHADER);
        folder.run(&["opt", "a.wgsl", "--passes", "none", "-o", "a.spv"]).ends(0);
        folder.run(&["opt", "a.wgsl", "--float", "strict", "-o", "b.spv"]).ends(0);
        copy("a.spv", "shader.spv");
        copy("a.wgsl", "b.wgsl");
        folder.run(&["print", "a.spv", "-o", "shader.nir"]).ends(0);
        folder.write("in.bin", vec![1; 1 << 16]);
        folder.write("renders-right.sh", "! deburr print $1 | grep -q ishl");
        let args: Vec<&str> = [command, "--help"].into_iter().filter(|a| !a.is_empty()).collect();
        let text = folder.run(&args).ends(0).text();
        for example in text.trim_end().lines().rev().take(2) {
            let run = folder.shell(example.trim());
            assert_eq!(run.code, Some(0), "{example}\n{}", run.text());
        }
    }
}
