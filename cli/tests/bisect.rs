//! `deburr bisect` finds the one rewrite among hundreds that a check objects to.

mod support;

use std::fmt::Write;
use support::Folder;

/// Operations of which each module has one, and a wrong rule for it.
const PLANTED: [(&str, &str, &str); 3] = [
    ("a ^ b", "ixor(a, b)", "ior(a, b)"),
    ("a / b", "udiv(a, b)", "isub(a, b)"),
    ("min(a, b)", "umin(a, b)", "umax(a, b)"),
];

/// A shader with hundreds of products by powers of two, which the built-in rules rewrite, and one other operation.
fn shader(planted: &str) -> String {
    let mut text = String::from(
        "@group(0) @binding(0) var<storage, read_write> words: array<u32>;\n\
         @compute @workgroup_size(1) fn main() {\n  let a = words[1]; let b = words[2];\n",
    );
    for n in 0..600 {
        let _ = match n {
            300 => writeln!(text, "  words[0] = {planted};"),
            n => writeln!(text, "  words[{n}] = words[{}] * {}u;", n + 700, 2 << (n % 5)),
        };
    }
    text + "}\n"
}

#[cfg(feature = "naga")]
#[test]
fn the_wrong_rewrite_is_found_among_hundreds() {
    for (wgsl, left, right) in PLANTED {
        let f = Folder::new();
        f.write("in.wgsl", shader(wgsl));
        f.write("own.rules", format!("rules 1\nrule planted: {left} => {right};\n"));
        let op = left.split('(').next().unwrap_or_default();
        // Good is a module that still has the operation.
        let check = format!("{} print {{}} | grep -q ' {op}[. ]'", env!("CARGO_BIN_EXE_deburr"));
        let run =
            f.run(&["bisect", "in.wgsl", "--rules", "own.rules", "--check", &check, "--json"]);
        let line = run.ends(0).text();
        let has = |part: &str| assert!(line.contains(part), "{part}: {line}");
        has("\"rule\":\"planted\"");
        has("\"file\":\"own.rules\",\"line\":2");
        has(&format!("\"before\":\"{op}"));
        has("\"alone\":true");
        let of = line.split("\"of\":").nth(1).and_then(|t| t.split(',').next());
        let of: u64 = of.and_then(|n| n.parse().ok()).unwrap_or(0);
        assert!(of >= 500, "{line}");
    }
}

#[cfg(feature = "naga")]
#[test]
fn what_can_not_be_searched_is_said() {
    let f = Folder::new();
    f.write("in.wgsl", shader("a ^ b"));
    f.run(&["bisect", "in.wgsl", "--check", "true"]).ends(1);
    f.run(&["bisect", "in.wgsl", "--check", "false"]).ends(1).says("without any rewrite");
    f.run(&["bisect", "in.wgsl", "--check", "/no/such/tool"]).ends(3).says("can't be run");
    f.run(&["bisect", "in.wgsl"]).ends(2);
    f.run(&["bisect", "in.wgsl", "--check", "true", "--disable-rule", "nosuch"]).ends(2);
}
