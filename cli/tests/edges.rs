//! What a script or a careless user may do to the command: full disks, closed pipes, names twice, options that do
//! nothing, inputs that are cut, deep or empty.

mod support;

use std::process::Stdio;
use support::{Folder, Run};

const SPV: &str = "examples/miller_rabin.spv";
/// Ends at once, writes one word.
const SMALL: &str = "
@group(0) @binding(0) var<storage, read_write> ys: array<u32>;

@compute @workgroup_size(1)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    ys[id.x] = ys[id.x] * 3u + 1u;
}
";

/// A run whose stdout is a file that takes nothing.
fn run_full(f: &Folder, args: &[&str]) -> Run {
    let full = std::fs::OpenOptions::new().write(true).open("/dev/full").expect("there is one");
    Run::of(f.command(args).stdout(full).stderr(Stdio::piped()).output().expect("it starts"))
}

/// A run whose stdout nobody reads.
fn run_closed(f: &Folder, args: &[&str]) -> Run {
    let (reader, writer) = std::io::pipe().expect("there are pipes");
    drop(reader);
    Run::of(f.command(args).stdout(writer).stderr(Stdio::piped()).output().expect("it starts"))
}

#[test]
fn a_full_disk_is_told() {
    let f = Folder::new();
    for args in [
        &["print", SPV][..],
        &["ops"],
        &["opt", SPV, "-o", "-"],
        &["opt", SPV, "-o", "a.spv"],
        &["stats", SPV, "--json"],
        &["--help"],
        &["--version"],
    ] {
        run_full(&f, args).ends(1).says("can't write").says("No space left");
    }
    assert!(f.path("a.spv").is_file(), "what goes to files is written all the same");
    f.run(&["print", SPV, "-o", "/dev/full"]).ends(1).says("E0001").says(" --> /dev/full");
}

#[test]
fn a_closed_pipe_stops_no_work_on_files() {
    let f = Folder::new();
    f.write("a.wgsl", SMALL);
    f.write("b.wgsl", SMALL);
    for args in [&["ops"][..], &["print", SPV], &["--help"], &["opt", SPV, "-qo", "-"]] {
        assert_eq!(run_closed(&f, args).ends(0).stderr, "", "{args:?}");
    }
    let run = run_closed(&f, &["opt", "a.wgsl", "missing.spv", "b.wgsl", "-o", "out/"]).ends(1);
    assert!(run.stderr.contains("E0001") && !run.stderr.contains("pipe"), "{}", run.stderr);
    assert!(f.path("out/a.spv").is_file() && f.path("out/b.spv").is_file());
}

#[test]
fn two_results_of_one_name_are_refused() {
    let f = Folder::new();
    std::fs::create_dir(f.path("d")).unwrap();
    f.write("a.wgsl", SMALL);
    f.write("d/a.wgsl", SMALL);
    let run = f.run(&["opt", "a.wgsl", "d/a.wgsl", "-o", "out/"]).ends(2);
    assert!(run.stderr.contains("`a.wgsl` and `d/a.wgsl`"), "{}", run.stderr);
    assert!(run.stderr.contains("out/a.spv"), "{}", run.stderr);
    f.run(&["opt", "a.wgsl", "a.wgsl", "-o", "out/"]).ends(2);
    assert!(!f.path("out").exists(), "nothing was made");
}

#[test]
fn numbers_have_ranges() {
    let f = Folder::new();
    for args in [
        &["check", SPV, SPV, "--inputs", "0"][..],
        &["check", SPV, SPV, "--subgroup-size", "0"],
        &["check", SPV, SPV, "--subgroup-size", "3"],
        &["verify", "--cases", "0"],
        &["verify", "--cases", "-1"],
        &["verify", "--cases", "nan"],
        &["verify", "-j", "0"],
        &["opt", SPV, "-j", "0"],
        &["run", SPV, "--subgroup-size", "0"],
        &["run", SPV, "--subgroup-size", "3"],
        &["run", SPV, "--input", "0=missing"],
    ] {
        f.run(args).ends(2);
    }
}

#[test]
fn a_name_that_nothing_has_is_told() {
    let f = Folder::new();
    for (list, name, near) in [
        ("ops", "iad_", "iadd"),
        ("intrinsics", "load_derf", "load_deref"),
        ("passes", "dces", "dce"),
        ("rules", "nosuchrule", ""),
    ] {
        let run = f.run(&[list, name]).ends(1).says("E0062").says(name).says(near);
        assert!(run.stdout.is_empty(), "{}", run.text());
        let run = f.run(&[list, name, "--json"]).ends(1);
        assert!(run.text().contains("\"code\":\"E0062\""), "{}", run.text());
    }
    let line = f.run(&["ops", "iadd", "--json"]).ends(0).text();
    assert!(line.contains("\"group\":\"integer arithmetic\""), "{line}");
    assert!(!f.run(&["intrinsics", "--json"]).ends(0).text().contains("\"line\":0,"));
    let line = f.run(&["passes", "dce", "--json"]).ends(0).text();
    assert!(
        line.contains("\"file\":\"passes/src/dce.rs\",\"line\":1,\"group\":\"function\""),
        "{line}"
    );
}

#[test]
fn outputs_that_cannot_be_written_are_told_alike() {
    let f = Folder::new();
    let once = f.run(&["opt", SPV, "-o", "no/such/out.spv"]).ends(1);
    assert_eq!(once.stderr, f.run(&["opt", SPV, "-o", "no/such/out.spv"]).ends(1).stderr);
    assert!(!once.stderr.contains("deburr"), "a temporary file is named: {}", once.stderr);
    assert!(once.stderr.contains(" --> no/such/out.spv"), "{}", once.stderr);
}

#[cfg(unix)]
#[test]
fn results_go_where_links_lead_and_keep_their_permissions() {
    use std::os::unix::fs::{PermissionsExt, symlink};
    let f = Folder::new();
    f.write("real.nir", "old");
    std::fs::set_permissions(f.path("real.nir"), PermissionsExt::from_mode(0o640)).unwrap();
    symlink("real.nir", f.path("link.nir")).unwrap();
    symlink("d/new.nir", f.path("dangling.nir")).unwrap();
    std::fs::create_dir(f.path("d")).unwrap();
    f.run(&["print", SPV, "-o", "link.nir"]).ends(0);
    f.run(&["print", SPV, "-o", "dangling.nir"]).ends(0);
    assert!(f.path("link.nir").is_symlink() && f.path("dangling.nir").is_symlink());
    assert!(f.read("real.nir").starts_with(b"deburr_ir") && f.path("d/new.nir").is_file());
    let mode = std::fs::metadata(f.path("real.nir")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o640);
    symlink("loop.nir", f.path("loop.nir")).unwrap();
    f.run(&["print", SPV, "-o", "loop.nir"]).ends(1).says("E0001");
}

#[cfg(target_os = "linux")]
#[test]
fn names_need_not_be_utf_8() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;
    let f = Folder::new();
    let name = OsStr::from_bytes(b"\xff.wgsl");
    std::fs::write(f.path(".").join(name), SMALL).unwrap();
    let mut command = f.command(&["opt", "-o", "out/"]);
    Run::of(command.arg(name).output().unwrap()).ends(0);
    assert!(f.path("out").join(OsStr::from_bytes(b"\xff.spv")).is_file());
    for args in [&["print"][..], &["parse", "--json"], &["stats"], &["run"]] {
        Run::of(f.command(args).arg(name).output().unwrap()).ends(0);
    }
    let missing = OsStr::from_bytes(b"\xfe.spv");
    Run::of(f.command(&["print"]).arg(missing).output().unwrap()).ends(1).says("E0001");
}

#[test]
fn check_says_how_much_it_compared() {
    let f = Folder::new();
    f.write("a.wgsl", SMALL);
    f.write("wide.wgsl", SMALL.replace("u32>;", "vec4<u32>>;").replace("3u + 1u", "vec4(3u)"));
    let text = f.run(&["check", "a.wgsl", "a.wgsl", "--inputs", "2"]).ends(0).text();
    assert!(text.contains("the same: 2 inputs"), "{text}");
    // Modules with other buffers: the answer is no, and the line that of `check`.
    let run = f.run(&["check", "a.wgsl", "wide.wgsl", "--json"]).ends(1);
    let line = run.text();
    assert!(line.starts_with("{\"schema\":1,\"same\":false,\"inputs\":0,"), "{line}");
    assert!(line.contains("buffer layouts differ") && line.lines().count() == 1, "{line}");
    f.run(&["check", "a.wgsl", "wide.wgsl"]).ends(1).says("E0055").says("wide.wgsl");
    // An invocation that leaves before the barrier: nothing can be said.
    f.write(
        "bar.wgsl",
        "
var<workgroup> w: array<u32, 4>;
@group(0) @binding(0) var<storage, read_write> ys: array<u32>;
@compute @workgroup_size(4)
fn main(@builtin(local_invocation_index) i: u32) {
    w[i] = i;
    if (i < 2u) { return; }
    workgroupBarrier();
    ys[i] = w[3u - i];
}
",
    );
    f.run(&["opt", "bar.wgsl", "-o", "bar.spv"]);
    let bad = f.run(&["run", "bar.spv"]);
    if bad.code != Some(1) {
        bad.ends(3).says("barrier");
        f.run(&["check", "bar.spv", "bar.spv"]).ends(3).says("no input says anything");
    }
}

#[test]
fn rearranged_floats_are_the_same_but_for_rounding() {
    let f = Folder::new();
    let shader =
        |term: &str| SMALL.replace("array<u32>", "array<f32>").replace("ys[id.x] * 3u + 1u", term);
    f.write("a.wgsl", shader("(ys[id.x] / 3.0) + (ys[id.x] * 0.7 + ys[id.x] * 0.2)"));
    f.write("b.wgsl", shader("ys[id.x] * 0.33333334 + ys[id.x] * 0.9"));
    f.write("c.wgsl", shader("ys[id.x] * 0.35 + ys[id.x] * 0.9"));
    let text = f.run(&["check", "a.wgsl", "b.wgsl"]).ends(0).text();
    assert!(text.contains("the same but for rounding in "), "{text}");
    assert!(f.run(&["check", "a.wgsl", "b.wgsl", "--json"]).ends(0).text().contains("\"near\":"));
    f.run(&["check", "a.wgsl", "b.wgsl", "--float", "strict"]).ends(1).says("E0056");
    f.run(&["check", "a.wgsl", "c.wgsl"]).ends(1).says("E0056");
    for name in ["fft", "particles"] {
        let input = format!("examples/{name}.wgsl");
        f.run(&["opt", &input, "--check", "-o", "x.spv"]).ends(0);
        f.run(&["opt", &input, "--check", "--float", "strict", "-o", "x.spv"]).ends(0);
    }
}

#[test]
fn opt_check_needs_a_compute_shader() {
    let f = Folder::new();
    f.write("f.wgsl", "@fragment fn main() -> @location(0) vec4<f32> { return vec4(1.0); }");
    f.write("a.wgsl", SMALL);
    let run = f.run(&["opt", "f.wgsl", "--check", "-o", "f.spv"]);
    assert_eq!(run.code, Some(3), "{}", run.stderr);
    assert!(!f.path("f.spv").exists());
    f.run(&["opt", "a.wgsl", "--check", "-o", "a.spv"]).ends(0);
}

#[test]
fn specialisation_constants_that_are_not_there_are_told() {
    let f = Folder::new();
    f.write("a.wgsl", format!("@id(7) override n: u32 = 3u;\n{}", SMALL.replace("3u", "5u")));
    f.write("b.wgsl", SMALL);
    f.run(&["opt", "b.wgsl", "--spec", "3=4", "-o", "b.spv"]).ends(0).says("warning[E0042]");
    f.run(&["run", "b.wgsl", "--spec", "3=4"]).ends(0).says("no specialisation constant 3");
    f.run(&["print", "b.wgsl", "--spec", "3=4", "-q"]).ends(0);
    let quiet = f.run(&["opt", "b.wgsl", "--spec", "3=4", "-o", "b.spv", "-q"]).ends(0);
    assert_eq!(quiet.stderr, "");
    f.run(&["print", "b.spv", "-o", "b.nir"]).ends(0);
    f.run(&["opt", "b.nir", "--spec", "3=4", "-o", "c.spv"]).ends(3).says("E0042").says("help: ");
    f.run(&["opt", "b.nir", "--float", "strict", "-o", "c.spv"]).ends(0).says("warning[E0044]");
}

#[test]
fn debug_information_is_kept_or_refused() {
    let f = Folder::new();
    // OpLine in front of the entry's first instruction, OpString at the head of the debug section.
    let words: Vec<u32> = std::fs::read(f.path(SPV))
        .unwrap()
        .chunks_exact(4)
        .map(|w| u32::from_le_bytes([w[0], w[1], w[2], w[3]]))
        .collect();
    let plain: Vec<u32> = strip(&words, &[2, 3, 4, 7, 8, 317, 330]);
    f.write("plain.spv", bytes(&plain));
    f.run(&["opt", "plain.spv", "--debug", "-o", "a.spv"]).ends(0);
    f.run(&["opt", "plain.spv", "-o", "b.spv"]).ends(0);
    assert_eq!(f.read("a.spv"), f.read("b.spv"), "there is nothing more to keep");
    let mut line = plain.clone();
    let at = first(&plain, 5).unwrap_or(first(&plain, 71).unwrap());
    let id = line[3];
    line[3] += 1;
    line.splice(at..at, [7 | 3 << 16, id, 0x61]);
    f.write("line.spv", bytes(&line));
    f.run(&["opt", "line.spv", "-o", "c.spv"]).ends(0);
    f.run(&["opt", "line.spv", "--debug", "-o", "d.spv"]).ends(3).says("E0043").says("OpString");
    assert!(!f.path("d.spv").exists());
}

/// The word of the first instruction of this number.
fn first(words: &[u32], op: u32) -> Option<usize> {
    let mut at = 5;
    while at < words.len() {
        if words[at] & 0xffff == op {
            return Some(at);
        }
        at += (words[at] >> 16) as usize;
    }
    None
}

/// Without the instructions of these numbers.
fn strip(words: &[u32], ops: &[u32]) -> Vec<u32> {
    let (mut out, mut at) = (words[..5].to_vec(), 5);
    while at < words.len() {
        let len = (words[at] >> 16) as usize;
        if !ops.contains(&(words[at] & 0xffff)) {
            out.extend(&words[at..at + len]);
        }
        at += len;
    }
    out
}

fn bytes(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|w| w.to_le_bytes()).collect()
}

#[test]
fn stats_name_who_paid() {
    let f = Folder::new();
    // A function that is called three times: inlining makes three of it.
    f.write(
        "grow.wgsl",
        "
@group(0) @binding(0) var<storage, read_write> ys: array<u32>;
fn f(a: u32) -> u32 { return ((a * 3u) ^ (a >> 2u)) + a * 5u; }
@compute @workgroup_size(1)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    ys[id.x] = f(ys[id.x]) + f(ys[id.x + 1u]) + f(ys[id.x + 2u]);
}
",
    );
    let run = |passes: &str, more: &str| {
        f.run(&["opt", "grow.wgsl", "-o", "g.spv", "--passes", passes, more]).ends(0).text()
    };
    let text = run("inline", "--stats");
    assert!(text.contains("larger than the input: `inline` added "), "{text}");
    let line = run("inline", "--json");
    assert!(line.contains("\"grown_by\":{\"pass\":\"inline\",\"delta\":"), "{line}");
    let line = run("none", "--json");
    assert!(line.contains("\"declined\":{}") && line.contains("\"carried\":0"), "{line}");
    // Where no pass inlines, no call is declined.
    let line = run("vars_to_ssa", "--json");
    assert!(!line.contains("\"inline\":"), "{line}");
}

#[test]
fn sites_that_are_declined_are_counted() {
    let f = Folder::new();
    f.write(
        "array.wgsl",
        "
@group(0) @binding(0) var<storage, read_write> ys: array<u32>;
@compute @workgroup_size(1)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    var a: array<u32, 8>;
    a[ys[0] & 7u] = ys[1];
    ys[id.x] = a[ys[2] & 7u];
}
",
    );
    let text = f.run(&["opt", "array.wgsl", "-o", "a.spv", "--stats"]).ends(0).text();
    assert!(text.contains("1 variables in memory left by `vars_to_ssa`"), "{text}");
    let line = f.run(&["opt", "array.wgsl", "-o", "a.spv", "--json"]).ends(0).text();
    assert!(line.contains("\"declined\":{\"vars_to_ssa\":1}"), "{line}");
}

#[test]
fn traces_are_not_lost_under_json() {
    let f = Folder::new();
    f.write("a.wgsl", SMALL.replace("* 3u", "* 8u"));
    let args = ["opt", "a.wgsl", "-o", "a.spv", "--json", "--trace", "--print-after", "algebraic"];
    let run = f.run(&args).ends(0);
    assert_eq!(run.text().lines().count(), 1, "{}", run.text());
    assert!(
        run.stderr.contains(" by imul_pow2") && run.stderr.contains("// after algebraic"),
        "{}",
        run.stderr
    );
    let run = f.run(&["opt", "a.wgsl", "-o", "-", "--json"]).ends(0);
    assert_eq!(run.stdout, f.read("a.spv"));
    assert!(run.stderr.starts_with("{\"schema\":1,"), "{}", run.stderr);
    let line = f.run(&["print", "a.wgsl", "--json"]).ends(0).text();
    assert!(line.contains("\"text\":\"deburr_ir 1\\n") && line.lines().count() == 1, "{line}");
}

#[cfg(feature = "naga")]
#[test]
fn glsl_that_naga_takes_for_wrong_has_its_help() {
    let f = Folder::new();
    for name in ["sha256.comp", "chacha20.comp"] {
        let run = f.run(&["opt", &format!("examples/{name}"), "-o", "a.spv"]);
        if run.code != Some(0) {
            run.ends(3).says("E0031").says(&format!("glslangValidator -V -S comp examples/{name}"));
        }
    }
    f.write("a.comp", "#version 450\nvoid main() { nothing(); }\n");
    f.run(&["opt", "a.comp"]).ends(3).says("E0031").says("a.comp:2:");
}

#[cfg(feature = "naga")]
#[test]
fn deep_source_text_is_a_limit() {
    let f = Folder::new();
    let wgsl = |statement: &str| SMALL.replace("ys[id.x] = ys[id.x] * 3u + 1u;", statement);
    let comp = |statement: &str| {
        format!(
            "#version 450\nlayout(local_size_x = 1) in;\nlayout(std430, binding = 0) buffer B {{ uint y[]; }};\nvoid main() {{ {statement} }}\n"
        )
    };
    let many = |open: &str, middle: &str, close: &str, n: usize| {
        format!("{}{middle}{}", open.repeat(n), close.repeat(n))
    };
    for n in [300, 3_000, 100_000] {
        let parens = many("(", "1u", ")", n);
        let ifs = many("if (id.x < 3u) { ", "ys[0] = 1u;", "}", n);
        let chain = format!("ys[0] = ys[1]{};", " + ys[1]".repeat(n));
        for (kind, text) in [
            ("wgsl", wgsl(&format!("ys[0] = {parens};"))),
            ("wgsl", wgsl(&ifs)),
            ("wgsl", wgsl(&chain)),
            ("comp", comp(&format!("y[0] = {parens};"))),
            ("comp", comp(&ifs.replace("id.x", "y[1]").replace("ys", "y"))),
            ("comp", comp(&chain.replace("ys", "y"))),
            ("comp", comp(&format!("y[0] = {}1u;", "~".repeat(n)))),
        ] {
            let name = format!("deep.{kind}");
            f.write(&name, &text);
            for jobs in ["1", "2"] {
                let run = f.run(&["opt", &name, "-o", "out/", "-j", jobs, "--passes", "none"]);
                match run.code {
                    Some(0) => assert!(n < 3_000, "{n} {kind} is read"),
                    Some(4) => assert!(!run.stderr.contains("internal"), "{}", run.stderr),
                    code => panic!("{code:?} for {kind} of {n}: {}", run.stderr),
                }
            }
        }
    }
}

#[test]
fn inputs_that_are_cut_or_empty_are_told() {
    let f = Folder::new();
    let module = std::fs::read(f.path(SPV)).unwrap();
    for (name, bytes) in [
        ("empty.spv", &[][..]),
        ("three.spv", &module[..3]),
        ("magic.spv", &module[..4]),
        ("head.spv", &module[..20]),
        ("half.spv", &module[..module.len() / 8 * 4]),
        ("empty.wgsl", b""),
        ("empty.nir", b""),
        ("zeros.spv", &[0; 64]),
    ] {
        f.write(name, bytes);
        for args in [&["opt", "-o", "x.spv"][..], &["print"], &["stats"], &["parse"], &["run"]] {
            let mut args = args.to_vec();
            args.push(name);
            let run = f.run(&args);
            assert!(matches!(run.code, Some(0 | 1)), "{args:?}: {:?} {}", run.code, run.stderr);
        }
    }
    let words = f.run(&["parse", "half.spv"]).ends(1);
    assert!(
        words.stderr.contains(": word ")
            && words.stderr.contains(" words, of which the module has "),
        "{}",
        words.stderr
    );
    // A set of instructions that there isn't.
    let other = std::fs::read(f.path("examples/tonemap_half.spv")).unwrap();
    let at = other.windows(12).position(|w| w == b"GLSL.std.450").expect("it imports the set");
    let other = [&other[..at], b"GLSL.std.999", &other[at + 12..]].concat();
    f.write("set.spv", &other);
    f.run(&["print", "set.spv"]).ends(3).says(" of the set `GLSL.std.999`").says("OpExtInst");
    f.run(&["print", "."]).ends(1).says("E0001");
    f.run_with(&["parse", "-"], b"").ends(1).says(" --> -");
}

#[test]
fn colour_is_asked_for() {
    let f = Folder::new();
    let run = f.run(&["print", "missing.spv", "--color", "always"]).ends(1);
    assert!(run.stderr.starts_with("\x1b[1;31merror[E0001]"), "{:?}", run.stderr);
    let run = f.run(&["print", "missing.spv", "--color", "never"]).ends(1);
    assert!(!run.stderr.contains('\x1b'), "{:?}", run.stderr);
    f.run(&["print", "missing.spv", "--color", "red"]).ends(2);
}

#[test]
fn verify_is_the_same_for_every_j() {
    let f = Folder::new();
    let run = |jobs: &str| {
        let args =
            ["verify", "--rule", "iadd", "--cases", "0.01", "--size", "32", "-v", "-j", jobs];
        f.run(&args).ends(0).text()
    };
    assert_eq!(run("1"), run("3"));
}

#[test]
fn own_rules_are_counted_traced_and_disabled() {
    let f = Folder::new();
    f.write("a.wgsl", SMALL.replace("* 3u", "^ 3u"));
    f.write("own.rules", "rules 1\nrule gone: ixor(a, b) => iadd(a, b);\n");
    let run = |more: &[&str]| {
        let args = ["opt", "a.wgsl", "-o", "a.nir", "--rules", "own.rules"];
        f.run(&[&args, more].concat()).ends(0)
    };
    let text = run(&["--rule-stats", "--trace"]).text();
    assert!(text.lines().any(|l| l.trim().starts_with("1 gone ")), "{text}");
    assert!(text.contains("ixor(") && text.contains(" by gone at own.rules:2"), "{text}");
    run(&["--disable-rule", "gone"]);
    assert!(String::from_utf8(f.read("a.nir")).unwrap().contains("= ixor "));
    f.run(&["opt", "a.wgsl", "--disable-rule", "gone"]).ends(2);
    f.write("late.rules", "rules 1\nrule gone: ixor(a, b) => iadd(a, b) group late;\n");
    f.run(&["opt", "a.wgsl", "-o", "a.nir", "--rules", "late.rules"]).ends(0).says("`late`");
}

#[test]
fn own_rules_do_not_go_round_with_those_built_in() {
    let f = Folder::new();
    f.write("a.wgsl", SMALL);
    f.write("own.rules", "rules 1\n\n// Backwards.\nrule out: isub(a, b) => iadd(a, ineg(b));\n");
    let run = |more: &[&str]| {
        let args = ["opt", "a.wgsl", "-o", "a.nir", "--rules", "own.rules"];
        f.run(&[&args, more].concat())
    };
    let told = run(&[])
        .ends(1)
        .says("error[E0370]: `out` goes round: isub(a, b) => iadd(a, ineg(b)) => isub(a, b)");
    told.says("--> own.rules:4:11").says("--> rules/negation.rules:").says("--disable-rule");
    run(&["--disable-rule", "iadd_ineg"]).ends(0);
    let said = "rules 1\nrule out: isub(a, b) => iadd(a, ineg(b)) canonical \"never on\";\n";
    f.write("own.rules", said);
    run(&["--disable-rule", "out"]).ends(0);
}

#[test]
fn terms_of_a_file_are_told_by_line() {
    let f = Folder::new();
    f.write("t.txt", "// terms\niadd(a, 0)\n  iadd(a,, 1)\nfadd(a, b); size=7\n");
    let run = f.run(&["simplify", "--file", "t.txt"]).ends(1).says("t.txt:3:10").says("t.txt:4:13");
    assert_eq!(run.text(), "a\n");
    let line = f.run(&["simplify", "--file", "t.txt", "--json"]).ends(1).text();
    assert!(
        line.contains("\"file\":\"t.txt\"") && line.contains("{\"line\":3,\"col\":10}"),
        "{line}"
    );
}

#[test]
fn a_buffer_may_go_to_stdout() {
    let f = Folder::new();
    f.write("a.wgsl", SMALL);
    let run = f.run(&["run", "a.wgsl", "--bind", "0.0=:out=-"]).ends(0);
    f.run(&["run", "a.wgsl", "--bind", "0.0=:out=b.bin"]).ends(0);
    assert!(!run.stdout.is_empty() && run.stdout == f.read("b.bin"), "{}", run.text());
    assert!(run.stderr.contains("instructions"), "{}", run.stderr);
    f.run(&["run", "a.wgsl", "--bind", "0.0=b.bin", "--bind", "0.0=b.bin"]).ends(1).says("E0052");
    f.run(&["eval", "iadd(a, 1)", "a=1", "a=2"]).ends(1).says("two values");
}

/// The keys of an object, but for the schema's.
fn keys(line: &str) -> Vec<String> {
    let (mut depth, mut keys, mut parts) = (0, Vec::new(), line.char_indices());
    while let Some((at, c)) = parts.next() {
        match c {
            '{' | '[' => depth += 1,
            '}' | ']' => depth -= 1,
            '"' => {
                let mut escaped = false;
                let end = parts.by_ref().find(|(_, c)| {
                    let ends = *c == '"' && !escaped;
                    escaped = *c == '\\' && !escaped;
                    ends
                });
                let end = end.expect("strings end").0;
                if depth == 1 && line[end + 1..].starts_with(':') {
                    keys.push(line[at + 1..end].to_owned());
                }
            }
            _ => {}
        }
    }
    assert_eq!(keys.remove(0), "schema");
    keys
}

#[test]
fn the_book_lists_the_fields_of_json_lines() {
    let book = std::fs::read_to_string(support::root().join("docs/book/commands.md")).unwrap();
    let f = Folder::new();
    f.write("a.wgsl", SMALL);
    let verify = ["verify", "--expr", "fadd(a, 0.0) => a", "--size", "16"];
    let runs: [(&str, &[&str]); 15] = [
        ("opt", &["opt", "a.wgsl", "-o", "a.spv"]),
        ("print", &["print", "a.wgsl"]),
        ("print", &["print", "a.wgsl", "-o", "a.nir"]),
        ("parse", &["parse", "a.wgsl"]),
        ("run", &["run", "a.wgsl"]),
        ("eval", &["eval", "iadd(a, 1)", "a=1"]),
        ("check", &["check", "a.wgsl", "a.wgsl"]),
        ("simplify", &["simplify", "iadd(a, 0)"]),
        ("verify", &verify),
        ("stats", &["stats", "a.wgsl"]),
        ("rules", &["rules"]),
        ("passes", &["passes"]),
        ("ops", &["ops"]),
        ("expand", &["expand", "iadd"]),
        ("explain-error", &["explain-error"]),
    ];
    for (command, args) in runs {
        let row = book.lines().find(|l| {
            l.starts_with("| `")
                && l.contains(&format!("`{command}`"))
                && l.matches('|').count() == 3
        });
        let fields =
            row.unwrap_or_else(|| panic!("no row of `{command}`")).split('|').nth(2).unwrap();
        let lists: Vec<&str> = fields.split('`').skip(1).step_by(2).collect();
        let text = f.run(&[args, &["--json"]].concat()).text();
        let found = keys(text.lines().next().unwrap()).join(" ");
        let listed = match command {
            "verify" => lists[..2].join(" "),
            _ => lists.iter().find(|l| **l == found).map_or(lists[0], |l| *l).to_owned(),
        };
        assert_eq!(found, listed, "{command}");
    }
}
