//! Constructs of the rule language that few rules of the tree have, or none: what both matchers make of programs.
//!
//! `tests/constructs/GROUP.txt` hold programs and what the rules of a group make of them. `BLESS=1` writes that. `%0` to `%3` are given, `out` says what is needed.

use deburr_algebraic::interp::matcher::Interpreter;
use deburr_algebraic::{Group, Options, Report, Rewriter, RuleSet, Target, run, run_with};
use deburr_ir_core::{AluOp, Builder, Def, Flags, Function, Instr, Intrinsic, Shape};
use deburr_rulegen::rules::model;
use deburr_tests::constructs::{rules, set};
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::time::Instant;

/// A rule set with the same names and numbers, but nothing compiled.
fn hollow() -> &'static RuleSet {
    let hollow = |g: &Group| Group { by_op: &[], dialect: &[], outside: &[], ..*g };
    let groups: Vec<Group> = rules().groups.iter().map(hollow).collect();
    Box::leak(Box::new(RuleSet { groups: Vec::leak(groups), ..*rules() }))
}

/// Values that every program is given.
const GIVEN: usize = 4;

/// The function of a program.
fn program(body: &str) -> Function {
    let mut text = String::from("shader vertex \"main\" entry(main) interface(&o)\n");
    text.push_str(
        "decl_var out f32 &o (1)\ndecl_var uniform sampled_image(image(f32, 2d)) &t (0, 0)\n",
    );
    text.push_str("decl_function main()\nimpl main {\n  block b0:\n");
    for n in 0..GIVEN {
        let _ = writeln!(text, "    32 %{n} = @load_vertex_id");
    }
    for line in body.lines() {
        match line.trim_start().strip_prefix("out ") {
            None => _ = writeln!(text, "    {line}"),
            Some(list) => {
                text.push_str("    32 %101 = deref_var &o\n");
                for value in list.split(", ") {
                    let _ = writeln!(text, "    @store_deref %101, {value} (write_mask=x)");
                }
            }
        }
    }
    text.push_str("}\n");
    let module =
        deburr_ir_core::parse(&text).unwrap_or_else(|errors| panic!("{}\n{text}", errors[0]));
    deburr_ir_core::validate(&module).unwrap_or_else(|errors| panic!("{errors:?}\n{text}"));
    module.functions.first().expect("there is one").clone()
}

/// What was done, and what is left.
fn told(f: &Function, report: &Report) -> String {
    let mut out = String::new();
    for entry in &report.trace {
        let _ = writeln!(out, "{}: {} => {}", entry.rule, entry.before, entry.after);
    }
    // What every program begins and ends with is of no interest.
    let text = f.to_string();
    let given = |line: &str| (0..GIVEN).any(|n| line.starts_with(&format!("32 %{n} =")));
    let plain = |line: &str| !matches!(line, "" | "{" | "}" | "block b0:") && !given(line);
    for line in text.lines().map(str::trim).filter(|line| plain(line)) {
        let _ = match line.strip_prefix("@store_deref ").and_then(|l| l.split(' ').nth(1)) {
            Some(value) => writeln!(out, "out {value}"),
            None if line.contains("= deref_var") => Ok(()),
            None => writeln!(out, "{line}"),
        };
    }
    out
}

#[test]
fn programs_become_what_they_should() {
    let (set, hollow, target) = (set(), hollow(), Target::generic("everything"));
    let mut options = Options::default();
    options.trace = true;
    let mut wrong = Vec::new();
    for group in rules().groups {
        let path: PathBuf =
            Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("constructs/{}.txt", group.name));
        let text = std::fs::read_to_string(&path).unwrap();
        let interpreter = Interpreter::new(&set, group.name).unwrap();
        let mut blessed = String::new();
        let own = || set.rules.iter().filter(|r| r.group == interpreter.group());
        let mut idle: Vec<&str> = own().map(|r| &*r.name).collect();
        for case in text.split("==== ").skip(1) {
            let (name, rest) = case.split_once('\n').unwrap();
            let (body, expected) = rest.split_once("----\n").unwrap_or((rest, ""));
            let body = body.trim_end();
            let before = program(body);
            let mut one = before.clone();
            let report = run(&mut one, rules(), group.name, &target, &options).unwrap();
            let done = told(&one, &report);
            idle.retain(|rule| !report.trace.iter().any(|t| t.rule == *rule));
            let mut two = before.clone();
            let mut extra =
                |cx: &mut Rewriter<'_>, i: Instr| interpreter.apply(cx, i, |i| i).is_some();
            let report =
                run_with(&mut two, hollow, group.name, &target, &options, Some(&mut extra))
                    .unwrap();
            assert_eq!(done, told(&two, &report), "the matchers differ on `{name}`");
            if done.trim_end() != expected.trim_end() {
                wrong.push(format!("{}: {name}\n{done}", path.display()));
            }
            let _ = write!(
                blessed,
                "{}==== {name}\n{body}\n----\n{done}",
                if blessed.is_empty() { "" } else { "\n" }
            );
        }
        assert!(idle.is_empty(), "rules that no program fires: {idle:?}");
        if std::env::var_os("BLESS").is_some() && blessed != text {
            std::fs::write(&path, blessed).unwrap();
        }
    }
    assert!(wrong.is_empty() || std::env::var_os("BLESS").is_some(), "{}", wrong.join("\n"));
}

/// What a rule makes must be there: an intrinsic, as it is made.
#[test]
fn what_is_made_is_legal() {
    let body = "32 %10 = @reduce %0 (reduction_op=umin, cluster_size=4)\nout %10";
    let (set, hollow) = (set(), hollow());
    let interpreter = Interpreter::new(&set, "intrinsics").unwrap();
    let fired = |target: &Target| {
        let options = Options::default();
        let mut one = program(body);
        let report = run(&mut one, rules(), "intrinsics", target, &options).unwrap();
        let mut two = program(body);
        let mut extra = |cx: &mut Rewriter<'_>, i: Instr| interpreter.apply(cx, i, |i| i).is_some();
        let other = run_with(&mut two, hollow, "intrinsics", target, &options, Some(&mut extra));
        assert_eq!(report.fired, other.unwrap().fired, "{}", target.name);
        report.fired
    };
    let everything = Target::generic("everything");
    assert_eq!(fired(&everything), 1);
    assert_eq!(fired(&everything.clone().forbid_intrinsic(Intrinsic::REDUCE)), 0);
    assert_eq!(fired(&Target::generic("wide").int_sizes(&[64]).float_sizes(&[64])), 0);

    let (spirv, vertex) = (Target::spirv(), Intrinsic::LOAD_VERTEX_ID);
    let legal = |target: &Target, intrinsic: Intrinsic, bits| {
        target.legal_intrinsic(intrinsic, intrinsic.builtin().unwrap(), bits, &[])
    };
    assert!(legal(&spirv, Intrinsic::IS_SPARSE_TEXELS_RESIDENT, 1));
    assert!(!legal(&spirv, Intrinsic::SPARSE_RESIDENCY_CODE_AND, 32), "no instruction");
    assert!(!legal(&spirv, vertex, 32), "only some stages have it");
    assert!(legal(&everything, vertex, 32));
}

/// A function of so many sums of one product, which a product uses beside them if it is `shared`, behind all.
fn sums(n: usize, shared: bool) -> Function {
    let mut f = Function::new("main");
    let mut b = Builder::at_end(&mut f);
    let [x, y, z] = [0; 3].map(|_| b.undef(1, 32));
    b.flags = Flags::CONTRACT;
    let product = b.alu(AluOp::FMUL, &[x, y]);
    let mut values: Vec<Def> = (0..n).map(|_| b.alu(AluOp::FADD, &[product, z])).collect();
    b.flags = Flags::empty();
    if shared {
        values.push(b.alu(AluOp::FMUL, &[product, z]));
    }
    let at = b.imm_u32(0);
    for value in values {
        b.intrinsic_with(Intrinsic::STORE_OUTPUT, Shape::NONE, &[value, at], &[]);
    }
    f
}

/// Rewrites by each matcher in turn.
fn by_both(f: &Function, set: &model::RuleSet, group: &str) -> [u64; 2] {
    let (target, options) = (Target::generic("everything"), Options::default());
    let interpreter = Interpreter::new(set, group).unwrap();
    let mut turn = |cx: &mut Rewriter<'_>, i: Instr| interpreter.apply(cx, i, |i| i).is_some();
    let one = run(&mut f.clone(), rules(), group, &target, &options).unwrap();
    let two =
        run_with(&mut f.clone(), hollow(), group, &target, &options, Some(&mut turn)).unwrap();
    [one.fired, two.fired]
}

#[test]
fn users_are_looked_at_up_to_a_bound() {
    let set = set();
    assert_eq!(by_both(&sums(64, false), &set, "profit"), [64; 2]);
    assert_eq!(by_both(&sums(65, false), &set, "profit"), [0; 2]);
    assert_eq!(by_both(&sums(63, true), &set, "profit"), [0; 2]);
}

/// What everything uses costs as much at each of its users as what few use: ten times the users take about ten times as
/// long. Where each user looks at all others, they take a hundred times as long.
#[test]
fn shared_values_are_linear() {
    let set = set();
    let time = |n: usize, runs: usize| {
        let f = sums(n, true);
        let once = || {
            let start = Instant::now();
            assert_eq!(by_both(&f, &set, "profit"), [0; 2]);
            start.elapsed()
        };
        (0..runs).map(|_| once()).min().unwrap()
    };
    let (few, many) = (time(10_000, 3), time(100_000, 1));
    assert!(many < 35 * few, "{few:?} at 10,000 users, {many:?} at 100,000");
}

#[test]
fn names_of_texture_operations_are_those_of_the_ir() {
    use deburr_ir_core::{TexOp, TexSrc};
    use deburr_rulegen::rules::outside::{TEX_OPS, TEX_SRCS};
    let ops: Vec<(&str, bool)> =
        TexOp::NAMES.iter().map(|(name, op)| (*name, op.is_quad_convergent())).collect();
    assert_eq!(ops, TEX_OPS);
    let srcs: Vec<&str> = TexSrc::NAMES.iter().map(|(name, _)| *name).collect();
    assert_eq!(srcs, TEX_SRCS);
}
