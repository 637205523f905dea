//! Dominance against its definition (F29), metadata that a pass lies about (F72), compaction (F74), bytes an
//! instruction (F31).

use deburr_ir_core::{
    AluOp, Block, Builder, Cursor, Dominance, Function, JumpKind, Kept, Metadata, Module, parse,
};
use std::collections::HashSet;

/// A function with nested control flow that depends on the seed.
fn random_function(seed: u64) -> Function {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut random = move |n: u64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(99);
        (state >> 33) % n
    };
    let mut f = Function::new("f");
    let condition = Builder::at_end(&mut f).imm_bool(true);
    for _ in 0..20 {
        let blocks: Vec<Block> = f.blocks().collect();
        let block = blocks[random(blocks.len() as u64) as usize];
        let cursor = Cursor::BeforeJump(block);
        match random(4) {
            0 => {
                f.insert_if(cursor, condition);
            }
            1 => {
                let parts = f.insert_loop(cursor);
                let exit = f.insert_if(Cursor::BlockEnd(parts.body), condition);
                f.add_jump(exit.then_block, JumpKind::Break, None);
            }
            2 => {
                let parts = f.insert_once(cursor);
                let exit = f.insert_if(Cursor::BlockEnd(parts.body), condition);
                f.add_jump(exit.else_block, JumpKind::Break, None);
            }
            _ => {
                let parts = f.insert_if(cursor, condition);
                f.add_jump(parts.then_block, JumpKind::Halt, None);
            }
        }
    }
    f.remove_unreachable();
    f
}

/// Blocks that the start reaches without going through `without`.
fn reached(f: &Function, without: Option<Block>) -> HashSet<Block> {
    let mut seen = HashSet::new();
    let mut work = vec![f.start_block()];
    while let Some(block) = work.pop() {
        if Some(block) != without && seen.insert(block) {
            work.extend(f.succs(block));
        }
    }
    seen
}

#[test]
fn dominance_is_what_its_definition_says() {
    for seed in 0..60 {
        let f = random_function(seed);
        let dominance = Dominance::new(&f);
        let all = reached(&f, None);
        assert_eq!(all, dominance.order().iter().copied().collect(), "{f}");
        for &a in &all {
            let left = reached(&f, Some(a));
            for &b in &all {
                assert_eq!(dominance.dominates(a, b), !left.contains(&b), "{a:?} {b:?}\n{f}");
            }
        }
        // Frontiers by definition: a predecessor is dominated, the block is not strictly.
        let frontiers = dominance.frontiers(&f);
        for &a in &all {
            let want: HashSet<Block> = all
                .iter()
                .copied()
                .filter(|&b| f.preds(b).iter().any(|&p| dominance.dominates(a, p)))
                .filter(|&b| a == b || !dominance.dominates(a, b))
                .collect();
            let have: HashSet<Block> = frontiers.of(a).iter().copied().collect();
            assert_eq!(have, want, "{a:?}\n{f}");
        }
    }
}

#[test]
fn the_text_is_a_reverse_post_order() {
    for seed in 0..60 {
        let f = random_function(seed);
        let dominance = Dominance::new(&f);
        let place = |b: Block| dominance.order().iter().position(|&o| o == b);
        for block in f.reachable_in_order() {
            for succ in f.succs(block) {
                // Only back edges, to a block that dominates, go up.
                assert!(place(block) < place(succ) || dominance.dominates(succ, block), "{f}");
            }
        }
    }
}

#[test]
fn stale_metadata_is_found() {
    let mut f = random_function(3);
    let mut metadata = Metadata::default();
    metadata.dominance(&f);
    metadata.loops(&f);
    metadata.instr_order(&f);
    metadata.liveness(&f);
    assert_eq!(metadata.stale(&f), Kept::empty());
    // A pass that adds an instruction changes the order alone.
    let mut adds = metadata.clone();
    let start = f.start_block();
    let one = Builder::new(&mut f, Cursor::AfterPhis(start)).imm_u32(1);
    assert_eq!(adds.stale(&f), Kept::INSTR_ORDER);
    adds.keep(&f, Kept::all() - Kept::INSTR_ORDER, "adds");
    assert_eq!(adds.present(), Kept::all() - Kept::INSTR_ORDER);
    // A use in another block changes liveness.
    let last = f.last_block(f.body());
    Builder::new(&mut f, Cursor::AfterPhis(last)).alu(AluOp::INEG, &[one]);
    assert_eq!(adds.stale(&f), Kept::LIVENESS);
    assert_eq!(
        adds.liveness(&f).live_in(last),
        Metadata::default().liveness(&f).live_in(f.end_block())
    );
    assert!(Metadata::default().liveness(&f).live_in(last).contains(&one));
    // A new loop changes control flow.
    let parts = f.insert_loop(Cursor::BlockEnd(last));
    f.add_jump(parts.body, JumpKind::Break, None);
    assert!(adds.stale(&f).contains(Kept::CONTROL_FLOW));
    assert_eq!(Metadata::default().loops(&f).depth(parts.body), 1);
}

#[test]
#[cfg(debug_assertions)]
#[should_panic(expected = "the pass `liar` says that it kept Kept(DOMINANCE)")]
fn a_pass_that_lies_is_caught() {
    let mut f = random_function(5);
    let mut metadata = Metadata::default();
    metadata.dominance(&f);
    let start = f.start_block();
    let condition = Builder::new(&mut f, Cursor::BlockStart(start)).imm_bool(true);
    f.insert_if(Cursor::BlockEnd(f.start_block()), condition);
    metadata.keep(&f, Kept::DOMINANCE, "liar");
}

#[test]
fn memory_is_bounded_and_reclaimed() {
    let mut f = Function::new("f");
    let mut b = Builder::at_end(&mut f);
    let mut value = b.imm_u32(1);
    for _ in 0..20_000 {
        value = b.alu(AluOp::IADD, &[value, value]);
    }
    let compact = f.compacted();
    assert!(compact == f);
    assert!(compact.bytes_per_instr() <= 96.0, "{}", compact.bytes_per_instr());
    // Removing nine tenths and compacting gives nine tenths back.
    let before = f.arena_bytes();
    let instrs: Vec<_> = f.all_instrs().collect();
    for instr in instrs.into_iter().skip(2_000).rev() {
        f.remove(instr);
    }
    f.compact();
    assert!(f.arena_bytes() * 9 < before, "{} of {before}", f.arena_bytes());
    assert_eq!(f.instr_count(), 2_000);
}

#[test]
fn a_function_is_cloned_into_another() {
    let text = "decl_function callee(u32 x) -> u32\ndecl_function caller(u32 x) -> u32\n\
        impl callee { decl_var function u32 &tmp 32 %x = @load_param 32 %p = deref_var &tmp \
          @store_deref %p, %x 1 %c = ieq %x, %x \
          if %c { block a: 32 %y = iadd %x, %x } else { block b: } block d: 32 %z = phi a: %y, b: %x return %z }\n\
        impl caller { decl_var function u32 &own 32 %x = @load_param 32 %r = call callee(%x) return %r }";
    let mut module: Module = parse(text).expect("the text parses");
    let (callee, caller) = (module.functions[0].clone(), &mut module.functions[1]);
    let call = caller
        .all_instrs()
        .find(|&i| matches!(caller.view(i), deburr_ir_core::InstrView::Call(_)))
        .expect("there is a call");
    let argument = caller.src(call, 0);
    let inlined = caller.clone_body_into(Cursor::Before(call), &callee, &[argument]);
    let value = inlined.value.expect("the callee returns a value");
    caller.replace_all_uses(call.def(), value);
    assert_eq!(caller.block_of(call), Some(inlined.last_block));
    caller.remove(call);
    let expected = parse(
        "decl_function callee(u32 x) -> u32\ndecl_function caller(u32 x) -> u32\n\
        impl caller { decl_var function u32 &own decl_var function u32 &tmp 32 %x = @load_param \
          32 %p = deref_var &tmp @store_deref %p, %x 1 %c = ieq %x, %x \
          if %c { block a: 32 %y = iadd %x, %x } else { block b: } block d: 32 %z = phi a: %y, b: %x return %z }",
    )
    .expect("the text parses");
    assert_eq!(deburr_ir_core::validate(&module), Ok(()));
    assert!(module.functions[1] == expected.functions[1], "{}", module.functions[1]);
}

#[test]
fn a_block_is_parted_near_its_start_and_near_its_end() {
    const HEADS: &str = "decl_function callee(u32 x) -> u32\ndecl_function caller(u32 x) -> u32\n";
    let callee = "impl callee { block s: 32 %x = @load_param 1 %c = ieq %x, %x \
        if %c { block a: 32 %y = iadd %x, %x } else { block b: } block d: 32 %z = phi a: %y, b: %x return %z }\n";
    let pads = |name: &str, n: usize| -> String {
        (0..n).map(|i| format!("32 %{name}{i} = imul %i, %i\n")).collect()
    };
    for (before, behind) in [(0, 0), (0, 9), (9, 0), (4, 4), (1, 30), (30, 1)] {
        // The block is the head of a loop, so that it has phis and is led to from two sides.
        let caller = |code: &str| {
            format!(
                "{HEADS}{callee}impl caller {{ block s: 32 %i0 = @load_param loop {{ block h: 32 %i = phi s: %i0, c: %j \
                 {} {code} {} 32 %j = iadd %r, %i 1 %e = ieq %j, %i \
                 if %e {{ block t: break }} else {{ block f: }} block g: }} continue {{ block c: }} block n: return %j }}\n",
                pads("p", before),
                pads("q", behind)
            )
        };
        let mut module = parse(&caller("32 %r = call callee(%i)")).expect("the text parses");
        let (callee, f) = (module.functions[0].clone(), &mut module.functions[1]);
        let call = f
            .all_instrs()
            .find(|&i| matches!(f.view(i), deburr_ir_core::InstrView::Call(_)))
            .expect("there is a call");
        let argument = f.src(call, 0);
        let inlined = f.clone_body_into(Cursor::Before(call), &callee, &[argument]);
        f.replace_all_uses(call.def(), inlined.value.expect("the callee returns a value"));
        assert_eq!(f.block_of(call), Some(inlined.last_block));
        f.remove(call);
        let expected = parse(&caller(
            "1 %c = ieq %i, %i if %c { block a: 32 %y = iadd %i, %i } else { block b: } \
             block d: 32 %r = phi a: %y, b: %i",
        ))
        .expect("the text parses");
        assert_eq!(deburr_ir_core::validate(&module), Ok(()));
        assert!(module.functions[1] == expected.functions[1], "{}", module.functions[1]);
    }
}
