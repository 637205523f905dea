//! `deburr explain` and `opt --origins`: why rules fire, and what they left. What `explain` says of each kind of test is
//! in the acceptance line B 6.

mod support;

use support::Folder;

const SPV: &str = "examples/sha256.spv";

#[test]
fn what_is_shown_is_bounded_and_counted() {
    let f = Folder::new();
    let explain = |more: &[&str]| f.run(&[&["explain", "iadd_iadd_const", SPV], more].concat());
    let shown = |text: &str| {
        text.lines().filter(|l| l.starts_with("  fired") || l.starts_with("  failed")).count()
    };
    let few = explain(&["--limit", "3"]).ends(0).text();
    assert_eq!(shown(&few), 3, "{few}");
    assert!(few.contains("more are not shown; -v shows all\n"), "{few}");
    let all = explain(&["-v"]).ends(0).text();
    assert!(shown(&all) > 3 && !all.contains("not shown"), "{all}");
    assert_eq!(few.lines().last(), all.lines().last());
    let json = explain(&["--json"]).ends(0).text();
    let last = json.lines().last().unwrap_or_default();
    let fired = json.lines().filter(|l| l.contains("\"outcome\":\"fired\"")).count();
    let candidates = json.lines().count() - 1;
    let counts = format!("\"summary\":{{\"candidates\":{candidates},\"fired\":{fired},");
    assert!(last.contains(&counts) && fired > 0, "{last}");
}

#[test]
fn what_fires_is_what_opt_fires() {
    let f = Folder::new();
    let stats = f.run(&["opt", SPV, "-o", "a.spv", "--rule-stats"]).ends(0).text();
    let count = |line: &str| line.split_whitespace().next().and_then(|n| n.parse::<u64>().ok());
    for rule in ["imul_pow2", "iadd_iadd_const", "udiv_pow2"] {
        let line = stats.lines().find(|l| l.split_whitespace().nth(1) == Some(rule));
        let fired = line.and_then(count).expect("the rule fires");
        let text = f.run(&["explain", rule, SPV]).ends(0).text();
        assert!(text.contains(&format!(": fired at {fired}, ")), "{rule}: {fired}\n{text}");
    }
}

#[test]
fn what_is_asked_for_must_be_there() {
    let f = Folder::new();
    f.run(&["explain", "imul_pow", SPV]).ends(1).says("did you mean `imul_pow2`?");
    f.run(&["explain", "imul_pow2", "missing.spv"]).ends(1).says("missing.spv");
    f.run(&["explain", "imul_pow2"]).ends(2);
    let text = f.run(&["explain", "imul_pow2", SPV, "--passes", "dce"]).ends(0).text();
    assert!(text.contains("`--passes algebraic` has it"), "{text}");
}

#[test]
fn instructions_say_which_rules_made_them() {
    let f = Folder::new();
    let text = |more: &[&str]| {
        f.run(&[&["opt", SPV, "-q", "-o", "a.nir"], more].concat()).ends(0);
        String::from_utf8(f.read("a.nir")).expect("IR is text")
    };
    let (plain, with) = (text(&[]), text(&["--origins"]));
    assert!(!plain.contains(" // by "));
    assert!(
        with.lines().any(|l| l.contains("= ishl ") && l.ends_with("  // by imul_pow2")),
        "{with}"
    );
    // They are comments: the module is the same.
    let without: Vec<&str> =
        with.lines().map(|l| l.split("  // by ").next().unwrap_or(l)).collect();
    assert_eq!(without, plain.lines().collect::<Vec<_>>());
    f.run(&["parse", "a.nir"]).ends(0);
    let run = f.run(&["opt", SPV, "-o", "b.spv", "--origins", "--print-after", "algebraic"]);
    assert!(run.ends(0).text().contains("  // by imul_pow2\n"));
}

#[test]
fn a_chain_of_rules_is_told_in_order() {
    let f = Folder::new();
    f.write(
        "own.rules",
        "rules 1\nrule one: umax(a, 77) => umin(a, 78);\nrule two: umin(a, 78) => ixor(a, 79);\n",
    );
    f.write(
        "a.wgsl",
        "@group(0) @binding(0) var<storage, read_write> words: array<u32>;\n\
         @compute @workgroup_size(1) fn main() { words[0] = max(words[1], 77u); }\n",
    );
    if cfg!(feature = "naga") {
        f.run(&["opt", "a.wgsl", "-o", "a.nir", "--rules", "own.rules", "--origins"]).ends(0);
        let text = String::from_utf8(f.read("a.nir")).expect("IR is text");
        assert!(text.contains("  // by one, two\n"), "{text}");
    }
}
