//! B 6, the part about termination: rules of the tree that an order makes come to an end, rules out of the order run
//! together in search of a circle, and circles that other compilers have had, each refused with a term that goes round.

use super::corpus::root;
use super::{Args, Outcome};
use deburr_algebraic::{Options, Target, run as rewrite};
use deburr_ir_core::{AluOp, Builder, Function, JumpKind};
use deburr_rulegen::diagnostics::Diagnostic;
use deburr_rulegen::rules::{Book, RuleSet, Texts, codes, order};
use deburr_ruleset::{INTRINSICS, OPCODES, SOURCES};
use std::collections::BTreeSet;
use std::process::Command;

/// Share of the rules that the order proves, at least, and random terms of the others at full size.
const PROVED: f64 = 0.98;
const TERMS: f64 = 1e6;

/// A circle: its name, rules that go round, and, where there is one, a form that doesn't.
struct Circle {
    name: &'static str,
    rules: &'static str,
    gated: Option<&'static str>,
}

/// What has gone round in Mesa and LLVM.
const CIRCLES: [Circle; 5] = [
    Circle {
        name: "mesa-fadd-fmul2-pingpong",
        rules: "rule sum: fadd(a, a) => fmul(a, 2.0);
                rule product: fmul(a, 2.0) => fadd(a, a);",
        gated: Some(
            "rule sum: fadd(a, a) => fmul(a, 2.0) when !target.lower_bitops;
             rule product: fmul(a, 2.0) => fadd(a, a) when target.lower_bitops;",
        ),
    },
    Circle {
        name: "hist-bcsel-const-loop",
        rules: "rule again: bcsel(#c, a, b) => bcsel(ine(c, false), a, b);",
        gated: Some("rule once: bcsel(true, a, b) => a;"),
    },
    Circle {
        name: "hist-upcast-compare-loop",
        rules: "rule narrow: ilt(i2i32(a:16), i2i32(b:16)) => ilt(a, b);
                rule widen: ilt(a:16, b) => ilt(i2i32(a), i2i32(b));",
        gated: Some(
            "rule narrow: ilt(i2i32(a:16), i2i32(b:16)) => ilt(a, b) when target.lower_bitops;
             rule widen: ilt(a:16, b) => ilt(i2i32(a), i2i32(b)) when !target.lower_bitops;",
        ),
    },
    Circle {
        name: "llvm-or-mul-loop",
        rules: "rule factor: ior(imul(a, b), a) => imul(a, iadd(b, 1));
                rule spread: imul(iadd(a, #c), #d) => { let k = c * d; } ior(imul(a, d), k);",
        gated: Some("rule factor: ior(imul(a, b), a) => imul(a, iadd(b, 1));"),
    },
    Circle {
        name: "hist-demorgan-loop",
        rules: "rule out: iand(inot(a), inot(b)) => inot(ior(a, b));
                rule into: inot(ior(a, b)) => iand(inot(a), inot(b));",
        gated: Some("rule out: iand(inot(a), inot(b)) => inot(ior(a, b));"),
    },
];

/// Measures it.
pub fn run(args: &Args) -> Outcome {
    let target = format!(
        "≥ {:.0} % of the rules proved, the others run on {TERMS:.0e} random terms at full size and on their pairs \
         without a circle; every known circle refused with a term, and its gated form accepted",
        100.0 * PROVED
    );
    let mut list = Vec::new();
    let measured = measure(args, &mut list);
    Outcome::of(target, list, measured)
}

fn measure(args: &Args, list: &mut Vec<String>) -> Result<(bool, String), String> {
    let texts = Texts { opcodes: OPCODES, intrinsics: INTRINSICS, rules: SOURCES };
    let said = |diags: Vec<Diagnostic>| {
        diags.first().map_or(String::new(), |d| format!("the rules of the tree: {}", d.message))
    };
    let book = texts.load().map_err(said)?;
    let set = book.rules().map_err(said)?;
    let report = order::check(&set, &mut Vec::new());
    let all = sources(&set, 0..set.rules.len());
    let open = report.canonical.iter().chain(&report.unproved).copied();
    let proved = all - sources(&set, open.clone());
    for rule in open.map(|i| &set.rules[i]) {
        let why = rule.canonical.as_deref().unwrap_or("unproved");
        list.push(format!("out of the order: {}: {why}", rule.name));
    }
    let refused = CIRCLES.iter().filter(|circle| refuses(&book, circle, list)).count();
    let once = replaced_once();
    list.push(format!("mesa-worklist-removal: {} of 100 products replaced once", once));
    let searched = match args.cases >= 1.0 {
        true => search(),
        // The tests of the crate make it at reduced size.
        false => Ok("the search for a circle is made when the line is run by name".into()),
    };
    let (Ok(search) | Err(search)) = &searched;
    list.push(search.clone());
    let met = searched.is_ok()
        && proved as f64 >= PROVED * all as f64
        && report.unproved.is_empty()
        && refused == CIRCLES.len()
        && once == 100;
    let share = 100.0 * proved as f64 / all as f64;
    let figure = format!(
        "{proved} of {all} rules proved ({share:.1} %; {} of {} stamped); {refused} of {} circles refused with a term; {}",
        report.proved,
        set.rules.len(),
        CIRCLES.len(),
        search.lines().next().unwrap_or("")
    );
    Ok((met, figure))
}

/// How many rules of the source some stamped ones come from.
fn sources(set: &RuleSet, rules: impl Iterator<Item = usize>) -> usize {
    let places = rules.map(|i| (set.rules[i].file, set.rules[i].span));
    places.collect::<BTreeSet<_>>().len()
}

/// Whether a circle is refused with a term that goes round and nothing else, and its other form is not.
fn refuses(book: &Book, circle: &Circle, list: &mut Vec<String>) -> bool {
    let compile = |text: &str| book.rules_of("circle.rules", &format!("rules 1\n{text}"));
    let told = match compile(circle.rules) {
        Ok(_) => Err("accepted".to_string()),
        Err(diags) => match diags.as_slice() {
            [d] if d.code == codes::NO_ORDER && d.message.contains("goes round: ") => {
                Ok(d.message.clone())
            }
            diags => Err(diags.iter().map(|d| d.message.as_str()).collect::<Vec<_>>().join("; ")),
        },
    };
    let gated = circle.gated.map(compile).and_then(Result::err);
    let first = gated.iter().flatten().next();
    let ok = told.is_ok() && first.is_none();
    let (Ok(text) | Err(text)) = told;
    list.push(format!("{}: {}{text}", circle.name, if ok { "" } else { "WRONG: " }));
    list.extend(first.map(|d| format!("{}: gated: {}", circle.name, d.message)));
    ok
}

/// Of a chain of 100 products by one, those that were replaced exactly once: what is replaced leaves the worklist.
fn replaced_once() -> u64 {
    let mut f = Function::new("main");
    let mut b = Builder::at_end(&mut f);
    let (mut value, one) = (b.undef(1, 32), b.imm_u32(1));
    for _ in 0..100 {
        let product = b.alu(AluOp::IMUL, &[value, one]);
        value = b.alu(AluOp::IADD, &[product, product]);
    }
    let block = b.block();
    f.add_jump(block, JumpKind::Return, Some(value));
    let mut options = Options::default();
    options.counts = true;
    let target = Target::generic("everything");
    match rewrite(&mut f, deburr_ruleset::rules(), "opt", &target, &options) {
        Ok(report) => report.counts.iter().find(|c| c.0 == "imul_one").map_or(0, |c| c.1),
        Err(_) => 0,
    }
}

/// What the search for a circle among the rules out of the order says of itself.
fn search() -> Result<String, String> {
    let output = Command::new(std::env::var_os("CARGO").unwrap_or("cargo".into()))
        .args(["test", "--release", "--package", "deburr-ruleset", "--test", "canonical"])
        .args(["--", "--nocapture", "rules_out_of_the_order"])
        .env("DEBURR_CASES", "1")
        .current_dir(root())
        .output()
        .map_err(|e| format!("cargo: {e}"))?;
    let text = String::from_utf8_lossy(&output.stdout);
    let line = text.lines().find(|line| line.contains("random terms"));
    match line.filter(|_| output.status.success()) {
        Some(line) => Ok(line.trim().to_string()),
        None => {
            let said = String::from_utf8_lossy(&output.stderr).into_owned();
            let last: Vec<&str> = said.lines().rev().take(12).collect();
            let last: Vec<&str> = last.into_iter().rev().collect();
            Err(format!("the search for a circle fails:\n{}", last.join("\n")))
        }
    }
}
