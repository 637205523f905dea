//! Passes come to an end: they say that something changed only where it did, and growth has a bound.

use deburr_ir_core::{InstrKind, Module, parse, validate};
use deburr_passes::{Growth, dead_cf, inline, vars_to_ssa};
use std::fmt::Write;

fn module(text: &str) -> Module {
    parse(text).unwrap_or_else(|e| panic!("{}", e[0]))
}

fn count(m: &Module, kind: InstrKind) -> usize {
    let bodies = m.functions.iter().filter(|f| f.has_body());
    bodies.map(|f| f.all_instrs().filter(|&i| f.kind(i) == kind).count()).sum()
}

/// Functions that ask to be inlined, each of which calls the one before it twice.
fn tree(levels: usize) -> Module {
    let mut text = "deburr_ir 1\nshader compute \"main\" entry(main) LocalSize(1, 1, 1)\n\
                    decl_var private u32 &x\ndecl_function main()\n"
        .to_owned();
    for n in 0..=levels {
        let _ = writeln!(text, "decl_function f{n}(u32 a) -> u32 control(0x1)");
    }
    let _ = writeln!(
        text,
        "impl main {{\n  block b:\n    32 %p = deref_var &x\n    32 %a = @load_deref %p\n    32 %r = call f{levels}(%a)\n    \
         @store_deref %p, %r (write_mask=x)\n}}"
    );
    for n in 0..=levels {
        let _ = writeln!(text, "impl f{n} {{\n  block b:\n    32 %x0 = @load_param (param_idx=0)");
        for i in 0..20 {
            let _ = writeln!(text, "    32 %x{} = imul %x{i}, %x0", i + 1);
        }
        if n > 0 {
            let (below, a, b) = (n - 1, "%x20", "%x19");
            let _ =
                writeln!(text, "    32 %u = call f{below}({a})\n    32 %v = call f{below}({b})");
            text += "    32 %r = ixor %u, %v\n    return %r\n}\n";
        } else {
            text += "    return %x20\n}\n";
        }
    }
    module(&text)
}

#[test]
fn a_small_tree_of_calls_that_ask_goes_whole() {
    let mut m = tree(4);
    assert!(inline(&mut m, &mut Growth::default()));
    assert_eq!(count(&m, InstrKind::Call), 0);
    validate(&m).expect("inlining keeps the module valid");
}

#[test]
fn a_tree_of_calls_that_ask_has_a_bound() {
    let mut m = tree(60);
    let mut growth = Growth::default();
    // Every run of a pipeline has one bound, however often the pass runs.
    let mut rounds = 0;
    while inline(&mut m, &mut growth) {
        rounds += 1;
        assert!(rounds < 10, "inlining comes to no end");
    }
    let size = count(&m, InstrKind::Alu);
    assert!(size < 120_000, "{size} instructions");
    assert!(size > 5_000, "what is within the bound is inlined: {size} instructions");
    // What is left is what `deburr opt --stats` counts as declined.
    assert!(count(&m, InstrKind::Call) > 0);
    validate(&m).expect("inlining keeps the module valid");
}

#[test]
fn a_deref_alone_is_nothing_to_do() {
    let text = "deburr_ir 1\nshader compute \"main\" entry(main) LocalSize(1, 1, 1)\ndecl_function main()\n\
                impl main {\n  decl_var function u32 &x = 7\n  block b:\n    32 %p = deref_var &x\n}\n";
    let mut m = module(text);
    let before = m.clone();
    let Module { functions, types, .. } = &mut m;
    assert!(!vars_to_ssa(&mut functions[0], types));
    assert!(m == before);
}

/// A constant `if` around a `break`, with more behind it: what is behind it goes at once.
#[test]
fn code_behind_a_constant_exit_goes() {
    let text = "deburr_ir 1\nshader compute \"main\" entry(main) LocalSize(1, 1, 1)\ndecl_var private u32 &x\n\
                decl_function main()\nimpl main {\n  block b:\n    32 %p = deref_var &x\n    32 %a = @load_deref %p\n    \
                1 %yes = load_const (1)\n  loop {\n  block h:\n  if %yes {\n  block t:\n    break\n  } else {\n  block e:\n  }\n  \
                block n:\n  if %yes {\n  block t2:\n    @store_deref %p, %a (write_mask=x)\n  } else {\n  block e2:\n  }\n  \
                block n2:\n  }\n  block after:\n    @store_deref %p, %a (write_mask=x)\n}\n";
    let mut m = module(text);
    while dead_cf(&mut m.functions[0]) {}
    validate(&m).expect("the pass keeps the module valid");
    assert_eq!(m.functions[0].blocks().count(), 1, "{m}");
    assert_eq!(count(&m, InstrKind::Intrinsic), 2, "{m}");
}
