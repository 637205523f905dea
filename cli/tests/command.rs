//! The command as a process: exit codes, streams, files, JSON Lines.

mod support;

use std::io::Read;
use std::process::Stdio;
use support::Folder;

const SPV: &str = "examples/miller_rabin.spv";
const OTHER: &str = "examples/chacha20.spv";
/// A module that parses and is valid.
const IR: &str = "deburr_ir 1\n";

/// Whether a text is one JSON value.
fn is_json(text: &str) -> bool {
    fn blank(s: &[u8], at: &mut usize) {
        while s.get(*at).is_some_and(|c| c.is_ascii_whitespace()) {
            *at += 1;
        }
    }
    fn list(s: &[u8], at: &mut usize, end: u8, keyed: bool) -> bool {
        *at += 1;
        blank(s, at);
        if s.get(*at) == Some(&end) {
            *at += 1;
            return true;
        }
        loop {
            if keyed && (s.get(*at) != Some(&b'"') || !value(s, at) || s.get(*at) != Some(&b':')) {
                return false;
            }
            *at += usize::from(keyed);
            if !value(s, at) {
                return false;
            }
            blank(s, at);
            *at += 1;
            match s.get(*at - 1) {
                Some(b',') => blank(s, at),
                Some(c) if *c == end => return true,
                _ => return false,
            }
        }
    }
    fn value(s: &[u8], at: &mut usize) -> bool {
        blank(s, at);
        match s.get(*at) {
            Some(b'{') => list(s, at, b'}', true),
            Some(b'[') => list(s, at, b']', false),
            Some(b'"') => {
                *at += 1;
                while let Some(c) = s.get(*at) {
                    *at += if *c == b'\\' { 2 } else { 1 };
                    if *c == b'"' {
                        return true;
                    }
                }
                false
            }
            _ => {
                let from = *at;
                while s.get(*at).is_some_and(|c| c.is_ascii_alphanumeric() || b"+-.".contains(c)) {
                    *at += 1;
                }
                let word = std::str::from_utf8(&s[from..*at]).unwrap_or("");
                matches!(word, "true" | "false" | "null") || word.parse::<f64>().is_ok()
            }
        }
    }
    let (bytes, mut at) = (text.as_bytes(), 0);
    value(bytes, &mut at) && at == bytes.len()
}

/// Every line of stdout is an object of schema 1 with these keys.
#[track_caller]
fn json_lines(folder: &Folder, args: &[&str], code: i32, keys: &[&str]) -> Vec<String> {
    let run = folder.run(args).ends(code);
    let lines: Vec<String> = run.text().lines().map(String::from).collect();
    assert!(!lines.is_empty(), "no line: {}", run.stderr);
    for line in &lines {
        assert!(is_json(line), "{line}");
        assert!(line.starts_with("{\"schema\":1,"), "{line}");
    }
    for key in keys {
        assert!(lines[0].contains(&format!("\"{key}\":")), "`{key}` is missing: {}", lines[0]);
    }
    lines
}

#[test]
fn the_json_test_knows_json() {
    assert!(is_json(r#"{"a":[1,-2.5,"x\"y"],"b":{},"c":null}"#));
    for bad in ["{", r#"{"a":}"#, r#"{"a" 1}"#, "[1,]", r#""x"#, "{a:1}", "[1] 2"] {
        assert!(!is_json(bad), "{bad}");
    }
}

#[test]
fn done_is_0() {
    let f = Folder::new();
    f.run(&["opt", SPV]).ends(0);
    assert!(f.path("miller_rabin.opt.spv").is_file(), "the default output is STEM.opt.spv");
    f.run(&["parse", "miller_rabin.opt.spv", SPV]).ends(0);
    f.run(&["opt", SPV, "-o", "x.nir"]).ends(0);
    assert!(f.read("x.nir").starts_with(b"deburr_ir 1\n"), "the extension tells the kind");
    f.run(&["opt", SPV, "-o", "y.nir", "--emit", "spv"]).ends(0);
    assert_eq!(f.read("y.nir")[..4], [0x03, 0x02, 0x23, 0x07], "--emit wins over the extension");
    f.run(&["--version"]).ends(0);
}

#[test]
fn invalid_inputs_are_1() {
    let f = Folder::new();
    f.run(&["opt", "missing.spv"]).ends(1).says("error[E0001]").says(" --> missing.spv");
    f.write("cut.spv", &std::fs::read(f.path(SPV)).unwrap()[..1001]);
    f.run(&["opt", "cut.spv"]).ends(1).says("E0020");
    f.write("cut.spv", &std::fs::read(f.path(SPV)).unwrap()[..1000]);
    f.run(&["opt", "cut.spv"]).ends(1).says(": word ");
    f.write("bad.nir", "deburr_ir 1\nwhatever &\n");
    f.run(&["parse", "bad.nir"]).ends(1).says("E0010").says("bad.nir:2:1").says("^");
    f.write("what.txt", "hello");
    f.run(&["print", "what.txt"]).ends(1).says("E0002").says("help: ");
    f.write("bytes.wgsl", [0xff, 0xfe, 0]);
    f.run(&["print", "bytes.wgsl"]).ends(1).says("E0002");
    f.run(&["eval", "iad(a, b)", "a=1", "b=2"]).ends(1).says("iadd").says("TERM:1:1");
    f.run(&["eval", "iadd(a, b)", "a=1"]).ends(1).says("E0061").says("--> TERM");
    f.run(&["eval", "iadd(a, b)", "a=1", "b=x"]).ends(1).says("E0061").says("--> VALUE 2:1:1");
    f.run(&["expand", "iad"]).ends(1).says("did you mean `iadd`?");
    f.run(&["ops", "nosuchop"]).ends(1);
    f.run(&["run", SPV, "--bind", "7.7=:out=x"]).ends(1).says("E0052");
    f.run(&["run", SPV, "--push", SPV]).ends(1).says("E0052").says("no push constants");
    f.run(&["run", SPV, "--entry", "nobody"]).ends(1).says("nobody");
}

#[test]
fn wrong_command_lines_are_2() {
    let f = Folder::new();
    f.run(&[]).ends(2);
    f.run(&["frobnicate"]).ends(2);
    f.run(&["opt"]).ends(2);
    f.run(&["opt", SPV, "--what"]).ends(2);
    f.run(&["opt", SPV, "--passes", "nopass"]).ends(2).says("nopass");
    f.run(&["opt", SPV, "--passes", "loop(dce"]).ends(2);
    f.run(&["opt", SPV, "--disable-rule", "norule"]).ends(2).says("norule");
    f.run(&["opt", SPV, "--print-after", "nopass"]).ends(2);
    f.run(&["opt", SPV, OTHER]).ends(2).says("-o DIR/");
    f.run(&["eval", "a", "--size", "12"]).ends(2);
    f.run(&["simplify"]).ends(2);
    f.run(&["run", SPV, "--bind", "x"]).ends(2);
    f.run(&["explain-error", "E9999"]).ends(2);
    assert!(!f.path("miller_rabin.opt.spv").exists(), "nothing was written");
}

#[test]
fn what_is_not_supported_is_3() {
    let f = Folder::new();
    f.write("s.tesc", "#version 450\n");
    f.run(&["opt", "s.tesc"]).ends(3).says("glslangValidator -V -S tesc s.tesc");
    f.run(&["opt", SPV, "--target-env", "vulkan1.0"]).ends(3).says("E0041");
    f.run(&["eval", "fddx(a)", "a=1.0"]).ends(3).says("invocations");
}

#[test]
fn budgets_are_4() {
    let f = Folder::new();
    f.run(&["run", SPV, "--fuel", "100"]).ends(4).says("E0051").says("help: `--fuel N`");
    f.run(&["run", SPV, "--groups", "65535,65535,65535"]).ends(4).says("E0051");
    f.run(&["check", SPV, SPV, "--fuel", "100"]).ends(4).says("E0051");
}

#[test]
fn the_largest_exit_code_counts() {
    let f = Folder::new();
    f.write("s.tesc", "#version 450\n");
    f.run(&["opt", "s.tesc", SPV, "missing.spv", "-o", "out/"])
        .ends(3)
        .says("E0001")
        .says("s.tesc");
    assert!(f.path("out/miller_rabin.spv").is_file(), "the good one is written all the same");
}

#[test]
fn failures_leave_outputs_alone() {
    let f = Folder::new();
    f.write("out.spv", "old");
    f.write("bad.nir", "deburr_ir 1\nwhatever");
    f.run(&["opt", "bad.nir", "-o", "out.spv"]).ends(1);
    assert_eq!(f.read("out.spv"), b"old");
    f.run(&["opt", SPV, "-o", "no/such/folder/out.spv"]).ends(1).says("E0001");
    let left: Vec<_> =
        std::fs::read_dir(f.path(".")).unwrap().map(|e| e.unwrap().file_name()).collect();
    assert!(left.iter().all(|n| !n.to_string_lossy().starts_with(".tmp")), "{left:?}");
}

#[test]
fn standard_streams_carry_modules() {
    let f = Folder::new();
    f.run(&["opt", SPV, "-o", "a.spv"]).ends(0);
    let piped = f.run(&["opt", SPV, "-o", "-", "--stats"]).ends(0);
    assert_eq!(piped.stdout, f.read("a.spv"), "-o - is the module alone");
    assert!(piped.stderr.contains("body"), "what is told goes to stderr then");
    let text = f.run(&["print", SPV]).ends(0).stdout;
    f.run_with(&["opt", "-", "-o", "b.spv"], &text).ends(0);
    assert_eq!(f.read("b.spv"), f.read("a.spv"), "through the text or not");
}

#[test]
fn a_closed_pipe_ends_quietly() {
    let f = Folder::new();
    let mut child =
        f.command(&["intrinsics"]).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut first = [0; 10];
    child.stdout.take().unwrap().read_exact(&mut first).unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    assert!(output.stderr.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn several_inputs_are_the_same_for_every_j() {
    let f = Folder::new();
    let inputs = [SPV, OTHER, "examples/sha256.spv", "missing.spv"];
    let run = |out: &str, jobs: &str| {
        let mut args = vec!["opt", "-o", out, "-j", jobs];
        args.extend(inputs);
        f.run(&args).ends(1)
    };
    let (one, four) = (run("x/", "1"), run("y/", "4"));
    assert_eq!(one.text().replace("x/", "y/"), four.text());
    assert_eq!(one.stderr, four.stderr);
    for name in ["miller_rabin.spv", "chacha20.spv", "sha256.spv"] {
        assert_eq!(f.read(&format!("x/{name}")), f.read(&format!("y/{name}")));
    }
}

#[test]
fn quiet_says_nothing_and_colour_needs_a_terminal() {
    let f = Folder::new();
    let run = f.run(&["opt", SPV, "-q", "--stats"]).ends(0);
    assert!(run.stdout.is_empty() && run.stderr.is_empty());
    assert!(!f.run(&["opt", "missing.spv"]).ends(1).stderr.contains('\x1b'));
}

#[test]
fn results_are_json_lines() {
    let f = Folder::new();
    let opt = [
        "file",
        "out",
        "ok",
        "body_before",
        "body_after",
        "cost_before",
        "cost_after",
        "ir_before",
        "ir_after",
        "alu",
        "load_const",
        "carried",
        "declined",
        "budget_stop",
        "rounds",
        "ms",
        "passes",
    ];
    json_lines(&f, &["opt", SPV, "--json"], 0, &opt);
    let stats = ["file", "body", "cost", "moves", "loads", "handle_loads", "stores", "static"];
    assert_eq!(json_lines(&f, &["stats", SPV, OTHER, "--json"], 0, &stats).len(), 2);
    let diagnostic = ["file", "severity", "code", "kind", "message", "place"];
    json_lines(&f, &["opt", "missing.spv", "--json"], 1, &diagnostic);
    f.write("bad.nir", "deburr_ir 1\nwhatever &\n");
    let lines = json_lines(&f, &["parse", "bad.nir", "--json"], 1, &["line", "col"]);
    assert!(lines[0].contains("\"kind\":\"invalid\""));
    f.write("cut.spv", &std::fs::read(f.path(SPV)).unwrap()[..1000]);
    json_lines(&f, &["opt", "cut.spv", "--json"], 1, &["word", "op"]);
    json_lines(&f, &["parse", SPV, "--json"], 0, &["file", "ok"]);
    json_lines(&f, &["run", SPV, "--json"], 0, &["steps", "buffers", "hash"]);
    let check = ["same", "inputs", "blocks_covered", "first_difference"];
    json_lines(&f, &["check", SPV, SPV, "--inputs", "1", "--json"], 0, &check);
    json_lines(&f, &["eval", "iadd(a, 1)", "a=2", "--json"], 0, &["in", "bits", "value"]);
    let simplify = ["in", "out", "cost_in", "cost_out", "rules"];
    json_lines(&f, &["simplify", "iadd(a, ineg(a))", "--json"], 0, &simplify);
    for list in ["ops", "intrinsics", "passes", "rules"] {
        json_lines(&f, &[list, "--json"], 0, &["name", "file", "line", "doc"]);
    }
    json_lines(&f, &["rules", "--json"], 0, &["group"]);
    json_lines(&f, &["expand", "iadd", "--json"], 0, &["name", "code"]);
    json_lines(&f, &["explain-error", "--json"], 0, &["code", "title", "explanation"]);
}

#[test]
fn check_finds_what_differs() {
    let f = Folder::new();
    f.run(&["opt", SPV, "-o", "a.spv", "--float", "strict"]).ends(0);
    f.run(&["check", SPV, "a.spv", "--float", "strict", "--inputs", "2"]).ends(0);
    // The same module with another constant.
    let text = |constant: u32| {
        format!(
            "shader compute \"main\" entry(main) LocalSize(1, 1, 1)
decl_type Words = struct(Block) {{ [u32; *, stride=4] data (offset=0), }}
decl_var ssbo Words &out (0, 0)
decl_function main()
impl main {{
  block b0:
    32 %b = deref_var &out
    32 %d = deref_struct &(%b).0
    32 %k = load_const ({constant})
    32 %a = deref_array &(%d)[%k]
    @store_deref %a, %k (write_mask=x)
}}
"
        )
    };
    f.write("one.nir", text(1));
    f.write("two.nir", text(2));
    f.run(&["check", "one.nir", "two.nir"]).ends(1).says("E0056");
    f.run(&["check", SPV, OTHER]).ends(1).says("E0055");
    // A module that doesn't end where the other does is another module.
    let (start, _) =
        text(1).split_once("    @store").map(|(s, e)| (s.to_owned(), e.len())).unwrap();
    f.write("ends.nir", format!("{start}}}\n"));
    let endless =
        "  loop {\n    block b1:\n    @store_deref %a, %k (write_mask=x)\n  }\n  block b2:\n}\n";
    f.write("endless.nir", format!("{start}{endless}"));
    let fuel = ["--fuel", "1000", "--inputs", "1"];
    let run = |a, b| f.run(&[&["check", a, b][..], &fuel].concat());
    run("ends.nir", "ends.nir").ends(0);
    run("ends.nir", "endless.nir").ends(1).says("E0056").says("the second not within 1000");
    run("endless.nir", "ends.nir").ends(4).says("E0051");
    // What ends on neither side is given up at once.
    let endless = f.run(&["check", "endless.nir", "endless.nir", "--fuel", "1000"]);
    endless.ends(4).says("neither module ends within 1000 instructions (input 0)");
}

/// Tries and times come from the reference matcher, which changes nothing.
#[test]
fn rules_are_counted_as_they_fire_and_are_tried() {
    let f = Folder::new();
    let run = |more: &[&str]| {
        let args = [&["opt", SPV, "-o", "o.spv"], more].concat();
        (f.run(&args).ends(0).text(), f.read("o.spv"))
    };
    let ((_, plain), (text, counted)) = (run(&[]), run(&["--rule-stats"]));
    assert!(plain == counted, "what is counted is the same module");
    let numbers = |line: &str| -> Vec<f64> {
        line.split_whitespace().filter_map(|word| word.parse().ok()).collect()
    };
    let of = |text: &str, rule: &str| {
        let line = text.lines().find(|l| l.split_whitespace().nth(1) == Some(rule));
        numbers(line.unwrap_or_else(|| panic!("{rule}: {text}")))
    };
    let [fired, tried, time] = of(&text, "isub_const")[..] else { panic!("{text}") };
    assert!(fired > 0.0 && tried >= fired && time > 0.0, "{text}");
    let never = text.lines().find(|l| l.contains("never fired")).map(numbers);
    let [never, _, untried] = never.as_deref().unwrap_or_default()[..] else { panic!("{text}") };
    let shown = text.lines().filter(|l| l.contains(" tried ") && l.contains("µs")).count();
    let (all, _) = run(&["--rule-stats", "-v"]);
    let idle: Vec<Vec<f64>> = all.lines().filter(|l| l.contains("µs")).map(numbers).collect();
    assert_eq!(idle.len(), shown + never as usize, "{all}");
    assert!(untried <= never && idle.iter().any(|n| n[0] == 0.0 && n[1] > 0.0), "{all}");
    // Over several inputs, what none of them fires is named.
    std::fs::create_dir(f.path("out")).ok();
    f.write("more.nir", f.run(&["print", SPV]).ends(0).text());
    let both = f.run(&["opt", SPV, "more.nir", "-o", "out/", "--rule-stats"]).ends(0).text();
    let (_, total) = both.split_once("all inputs:").expect("there are two");
    assert_eq!(of(total, "isub_const")[0], 2.0 * fired, "{both}");
    assert!(total.lines().any(|l| l.trim().starts_with("0 ")), "{both}");
    let json = f.run(&["opt", SPV, "-o", "o.spv", "--rule-stats", "--json"]).ends(0).text();
    assert!(json.contains("\"rule_stats\":[{\"name\":"), "{json}");
}

#[test]
fn options_of_opt_tell_what_they_say() {
    let f = Folder::new();
    let text = |args: &[&str]| {
        let mut all = vec!["opt", SPV, "-o", "o.spv"];
        all.extend(args);
        f.run(&all).ends(0).text()
    };
    assert!(text(&["--stats"]).contains("ir alu"));
    assert!(text(&["--time-passes"]).contains("algebraic"));
    assert!(text(&["--print-after", "dce"]).contains("// after dce\ndeburr_ir 1"));
    assert!(text(&["--rule-stats"]).contains("rewrites"));
    assert!(text(&["--passes", "none", "--stats"]).contains("body"));
    text(&["--trace"]);
    text(&["--check", "--float", "strict", "--no-validate"]);
}

#[test]
fn own_rules_are_tried_first() {
    let f = Folder::new();
    f.write("own.rules", "rules 1\nrule gone: ixor(a, b) => iadd(a, b);\n");
    let alu = |out: &str, rules: &[&str]| {
        let mut args = vec!["opt", OTHER, "-o", out];
        args.extend(rules);
        f.run(&args).ends(0);
        String::from_utf8(f.read(out)).unwrap().matches("= ixor ").count()
    };
    let (without, with) = (alu("a.nir", &[]), alu("b.nir", &["--rules", "own.rules"]));
    assert!(without > 0 && with == 0, "{without} without, {with} with the rule");
    f.write("bad.rules", "rules 1\nrule gone: ixo(a, b) => a;\n");
    f.run(&["opt", SPV, "--rules", "bad.rules"]).ends(1).says("bad.rules:2:12").says("ixor");
}

#[test]
fn verify_proves_and_refutes() {
    let f = Folder::new();
    f.run(&["verify", "--expr", "isub(a, a) => 0", "--size", "8"]).ends(0);
    let lines = json_lines(
        &f,
        &["verify", "--expr", "fadd(a, 0.0) => a", "--size", "16", "--json"],
        1,
        &[
            "rule", "instance", "size", "shape", "context", "verdict", "by", "points", "ms",
            "witness",
        ],
    );
    assert!(lines[0].contains("\"verdict\":\"refuted\""), "{}", lines[0]);
    assert!(lines.last().unwrap().starts_with("{\"schema\":1,\"summary\":{\"rules\":1,"));
    f.run(&["verify", "--rule", "nosuchrule"]).ends(1).says("E0062");
    f.run(&["verify", "--expr", "isub(a, a) => 0", "--size", "1"])
        .ends(1)
        .says("the sizes there are: 8, 16, 32, 64");
}

#[test]
fn runs_write_their_buffers() {
    let f = Folder::new();
    f.run(&["run", SPV, "--bind", "0.0=:out=in.bin", "--seed", "5"]).ends(0);
    let bytes = f.read("in.bin");
    assert!(!bytes.is_empty());
    let run = |seed: &str| f.run(&["run", SPV, "--seed", seed]).ends(0).text();
    assert_eq!(run("5"), run("5"));
    assert_ne!(run("5"), run("6"));
}

#[test]
fn an_empty_module_is_a_module() {
    let f = Folder::new();
    f.write("empty.nir", IR);
    f.run(&["parse", "empty.nir"]).ends(0);
    f.run(&["run", "empty.nir"]).ends(1).says("E0050");
}

#[test]
fn rule_files_are_formatted_and_checked() {
    let folder = Folder::new();
    let (wild, tame) =
        ("rules 1\nrule a:iadd( a,0 )\n=>a;", "rules 1\n\nrule a: iadd(a, 0) => a;\n");
    folder.run(&["rules", "fmt", "--check"]).ends(0);
    folder.write("mine.rules", wild);
    let run = folder.run(&["rules", "fmt", "--check", "mine.rules"]).ends(1);
    let run = run.says("error[E0065]: this is not formatted");
    run.says("mine.rules:2:1");
    assert_eq!(folder.read("mine.rules"), wild.as_bytes(), "--check writes nothing");
    let run = folder.run(&["rules", "fmt", "mine.rules"]).ends(0);
    assert_eq!(run.text(), "mine.rules: formatted\n");
    assert_eq!(folder.read("mine.rules"), tame.as_bytes());
    folder.run(&["rules", "fmt", "--check", "mine.rules"]).ends(0);
    let run = folder.run_with(&["rules", "fmt", "-"], wild.as_bytes()).ends(0);
    assert_eq!(run.text(), tame);
    folder.write("bad.rules", "rules 1\nrule a iadd(a, 0) => a;\n");
    folder.run(&["rules", "fmt", "bad.rules", "mine.rules"]).ends(1).says("bad.rules:2:8");
    let lines =
        json_lines(&folder, &["rules", "fmt", "--json", "mine.rules"], 0, &["file", "formatted"]);
    assert!(lines[0].contains("\"formatted\":true,\"written\":false"), "{lines:?}");
}
