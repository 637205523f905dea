//! What the reducer leaves is small, valid, and still what was asked for.

use deburr_fuzz::{Options, Verdict, compare, inputs, program, reduce};
use deburr_ir_core::{AluOp, Module, validate};

fn instructions(m: &Module) -> usize {
    m.functions.iter().map(|f| f.all_instrs().count()).sum()
}

fn uses(m: &Module, op: AluOp) -> bool {
    m.functions.iter().any(|f| f.all_instrs().any(|i| f.alu_op(i) == Some(op)))
}

#[test]
fn one_opcode_is_left_alone() {
    let mut tried = 0;
    for seed in 0..30 {
        let m = program(seed, &Options::default());
        if !uses(&m, AluOp::IMUL) {
            continue;
        }
        tried += 1;
        let small = reduce(&m, &mut |m| uses(m, AluOp::IMUL));
        assert!(uses(&small, AluOp::IMUL), "seed {seed}");
        assert_eq!(validate(&small), Ok(()), "seed {seed}");
        // In a function with a result it comes with a return, which the reducer keeps, and a constant for it.
        let most = if small.functions.iter().any(|f| f.ret.is_some()) { 5 } else { 3 };
        assert!(instructions(&small) <= most, "seed {seed}:\n{small}");
    }
    assert!(tried > 10, "most programs multiply");
}

#[test]
fn a_difference_is_kept() {
    // A miscompiler that takes every exclusive or for an or.
    let wrong = |m: &Module| {
        let mut after = m.clone();
        for f in after.functions.iter_mut() {
            for instr in f.all_instrs().collect::<Vec<_>>() {
                if f.alu_op(instr) == Some(AluOp::IXOR) {
                    let srcs = [f.src(instr, 0), f.src(instr, 1)];
                    let swizzles = [f.swizzle(instr, 0), f.swizzle(instr, 1)];
                    let comps = f.comps(instr.def());
                    let cursor = deburr_ir_core::Cursor::Before(instr);
                    let srcs = [0, 1]
                        .map(|n| deburr_ir_core::AluSrc { def: srcs[n], swizzle: swizzles[n] });
                    let new =
                        deburr_ir_core::Builder::new(f, cursor).alu_instr(AluOp::IOR, comps, &srcs);
                    f.replace_all_uses(instr.def(), new.def());
                    f.remove(instr);
                }
            }
        }
        after
    };
    let mut tried = 0;
    for seed in 0..60 {
        let m = program(seed, &Options::default());
        let mut differs =
            |m: &Module| matches!(compare(m, &wrong(m), &inputs(seed)), Verdict::Different(_));
        if !differs(&m) {
            continue;
        }
        tried += 1;
        let small = reduce(&m, &mut differs);
        assert!(differs(&small), "seed {seed}");
        assert!(instructions(&small) <= 25, "seed {seed}:\n{small}");
        if tried == 5 {
            return;
        }
    }
    panic!("only {tried} programs show the bug");
}
