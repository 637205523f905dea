//! The generated programs are what the tests that use them rely on: they run, they are not small, they use everything.

use deburr_eval::{Trap, run};
use deburr_fuzz::{Options, inputs, program};
use deburr_ir_core::{ALU_INFO, Module, NodeKind};

fn instructions(m: &Module) -> usize {
    m.functions.iter().map(|f| f.all_instrs().count()).sum()
}

fn branches(m: &Module) -> usize {
    m.functions
        .iter()
        .flat_map(|f| {
            f.blocks().filter_map(|b| {
                f.block_node(b).and_then(|n| f.next_node(n)).map(|n| f.node_kind(n))
            })
        })
        .filter(|kind| matches!(kind, NodeKind::If { .. } | NodeKind::Loop { .. }))
        .count()
}

#[test]
fn programs_run_and_depend_on_their_inputs() {
    let mut skipped = 0;
    let mut blind = 0;
    for seed in 0..200 {
        let m = program(seed, &Options::default());
        let (first, second) = (run(&m, &inputs(seed)), run(&m, &inputs(seed + 1_000)));
        match (first, second) {
            (Ok(first), Ok(second)) => {
                blind += usize::from(first.buffers[1].buffer == second.buffers[1].buffer)
            }
            (Err(Trap::Fuel), _) | (_, Err(Trap::Fuel)) => skipped += 1,
            (Err(trap), _) | (_, Err(trap)) => panic!("seed {seed}: {trap}"),
        }
    }
    assert!(skipped <= 4, "{skipped} of 200 programs ran out of fuel");
    assert!(blind == 0, "{blind} of 200 programs write the same whatever they read");
}

#[test]
fn programs_are_large_and_use_every_opcode() {
    let mut counts = vec![0u32; ALU_INFO.len()];
    let (mut sizes, mut forks) = (Vec::new(), Vec::new());
    for seed in 0..400 {
        let m = program(seed, &Options::default());
        sizes.push(instructions(&m));
        forks.push(branches(&m));
        for f in &m.functions {
            f.all_instrs()
                .filter_map(|i| f.alu_op(i))
                .for_each(|op| counts[usize::from(op.0)] += 1);
        }
    }
    sizes.sort_unstable();
    forks.sort_unstable();
    assert!(sizes[200] >= 40, "median of {} instructions", sizes[200]);
    assert!(forks[200] >= 2, "median of {} ifs and loops", forks[200]);
    let missing: Vec<&str> = ALU_INFO
        .iter()
        .zip(counts)
        .filter(|(i, n)| i.fold.is_some() && *n == 0)
        .map(|(i, _)| i.name)
        .collect();
    assert!(missing.is_empty(), "never used: {missing:?}");
}

#[test]
fn a_seed_is_a_program() {
    let text = |seed| program(seed, &Options::default()).to_string();
    assert_eq!(text(7), text(7));
    assert_ne!(text(7), text(8));
}

#[test]
fn licensed_programs_stay_within_their_own_bound() {
    use deburr_fuzz::{Verdict, compare_within, licensed_program};
    use deburr_ir_core::{Denorm, FloatEnv, Rounding};
    // Rounding another way is a use of the licences that every bound must have room for.
    for seed in 0..200 {
        let env = |rounding| FloatEnv::uniform(Denorm::Keep, rounding);
        let (nearest, tolerance) = licensed_program(seed, env(Rounding::Rte));
        let (zero, _) = licensed_program(seed, env(Rounding::Rtz));
        let verdict = compare_within(&nearest, &zero, &inputs(seed), Some(&tolerance));
        match verdict {
            Verdict::Same { compared, free } => {
                assert!(compared > 0 && free == 0, "seed {seed}: {free} free")
            }
            other => panic!("seed {seed}: {other:?}\n{nearest}"),
        }
        assert!(tolerance.words.iter().all(|w| w.is_finite() && *w < 1e6), "seed {seed}");
    }
}
