//! Random programs keep their meaning by way of SPIR-V, and a binary is the same by way of the text.
//!
//! The programs are the fuzzer's, with what SPIR-V has no instruction for replaced by constants. Their control flow is
//! what the writer makes most of.

use deburr_eval::Dispatch;
use deburr_fuzz::{Options as Programs, Verdict, compare, inputs, program, reduce};
use deburr_ir_core::{
    AluInfo, Builder, Cursor, Def, FormDir, Function, Instr, InstrView, Module, Outside,
};
use deburr_spirv::{FloatMode, ReadOptions, WriteOptions, read, write};

fn cases(full: f64, reduced: f64) -> u64 {
    let scale = std::env::var("DEBURR_CASES").ok().and_then(|v| v.parse::<f64>().ok());
    scale.map_or(reduced, |s| full * s).max(1.0) as u64
}

/// Whether SPIR-V has an instruction for the opcode at these shapes, without a guard.
fn has_form(f: &Function, instr: Instr, info: &AluInfo) -> bool {
    let comps = |def: Def| matches!(f.comps(def), 1..=4);
    let def = instr.def();
    let shapes = comps(def) && f.srcs(instr).iter().all(|s| comps(s.def()));
    let width = info.unsized_width(f.bits(def), f.srcs(instr).iter().map(|s| f.bits(s.def())));
    let form = info.spirv.iter().find(|form| {
        form.dir != FormDir::Read
            && (form.sizes.is_empty() || form.sizes.contains(&width))
            && (form.comps.is_empty() || form.comps.contains(&f.comps(def)))
    });
    let moves = ["mov", "vec2", "vec3", "vec4"].contains(&info.name);
    // Columns are numbered by constants, and a bit field's place is one for all components.
    let last = f.srcs(instr).last().map(|src| src.def());
    let numbered = last.is_some_and(|def| f.constant(def).is_some());
    if form.is_some_and(|form| {
        form.column && !numbered || form.name.starts_with("BitField") && f.comps(def) > 1
    }) {
        return false;
    }
    shapes
        && (moves
            || form.is_some_and(|form| matches!(form.outside, Outside::Nothing | Outside::Mask(_))))
}

/// Replaces what SPIR-V has no instruction for.
fn restrict(module: &mut Module) {
    for func in module.funcs().collect::<Vec<_>>() {
        let f = &mut module[func];
        for instr in f.all_instrs().collect::<Vec<_>>() {
            let InstrView::Alu(_) = f.view(instr) else { continue };
            if f.alu_info(instr).is_some_and(|info| has_form(f, instr, info)) {
                continue;
            }
            let def = instr.def();
            let (comps, bits) = (f.comps(def), f.bits(def));
            let value = vec![if bits == 1 { 1 } else { 3 }; comps.into()];
            let constant = Builder::new(f, Cursor::Before(instr)).load_const(bits, &value);
            f.replace_all_uses(def, constant);
            f.remove(instr);
        }
    }
}

/// Whether a program does something else when it is written and read.
fn differs(before: &Module, dispatch: &Dispatch) -> bool {
    let options = ReadOptions::default().with_float(FloatMode::Strict);
    let Ok(words) = write(before, &WriteOptions::default()) else { return false };
    let Ok(after) = read(&words, &options) else { return false };
    matches!(compare(before, &after, dispatch), Verdict::Different(_) | Verdict::Trapped(_))
}

#[test]
fn random_programs_by_way_of_spirv() {
    let options = ReadOptions::default().with_float(FloatMode::Strict);
    let (mut written, mut refused, mut compared, mut skipped) = (0u32, 0u32, 0u32, 0u32);
    let mut reasons = std::collections::BTreeMap::<String, u32>::new();
    for seed in 0..cases(20_000.0, 400.0) {
        let mut programs = Programs::default();
        programs.pointers = false;
        let mut before = program(seed, &programs);
        restrict(&mut before);
        let groups = ["", "Vote", "Ballot", "Arithmetic", "Shuffle", "ShuffleRelative", "Quad"];
        let groups = groups.map(|group| format!("GroupNonUniform{group}"));
        let sizes = ["Int8", "Int16", "Int64", "Float16", "Float64"].map(str::to_owned);
        before.spirv.capabilities.extend(groups.into_iter().chain(sizes));
        let words = match write(&before, &WriteOptions::default()) {
            Ok(words) => words,
            Err(error) => {
                refused += 1;
                *reasons.entry(error.message).or_default() += 1;
                continue;
            }
        };
        written += 1;
        let after = read(&words, &options);
        let after = after.unwrap_or_else(|e| panic!("seed {seed}: {e:?}\n{before}"));
        deburr_ir_core::validate(&after).unwrap_or_else(|e| panic!("seed {seed}: {e:?}"));
        let parsed = deburr_ir_core::parse(&after.to_string());
        let parsed = parsed.unwrap_or_else(|e| panic!("seed {seed}: {e:?}"));
        let again = |m: &Module| write(m, &WriteOptions::default()).map_err(|e| e.message);
        assert_eq!(again(&after), again(&parsed), "seed {seed}: the text lacks something");
        for n in 0..2 {
            match compare(&before, &after, &inputs(seed * 7 + n)) {
                Verdict::Same { .. } => compared += 1,
                Verdict::Skipped(_) => skipped += 1,
                verdict => {
                    let small = reduce(&before, &mut |m| differs(m, &inputs(seed * 7 + n)));
                    panic!("seed {seed}: {verdict:?}, the smallest program that differs:\n{small}")
                }
            }
        }
    }
    println!("{written} written, {refused} refused, {compared} compared, {skipped} skipped");
    println!("{reasons:?}");
    assert!(written > 4 * refused, "{refused} programs could not be written: {reasons:?}");
    assert!(compared > 20 * skipped, "{skipped} comparisons were skipped");
}
