//! A compiler writer's own opcode, intrinsic, rule and target, on top of deburr's libraries. `acme.toml` is all there
//! is to an opcode: its folder and builder method are generated from it; `acme.rules` says where it is used.

#![forbid(unsafe_code)]

use acme::Build;
use deburr_algebraic::{Options, Target, run};
use deburr_ir_core::fold::{FloatEnv, fold_info};
use deburr_ir_core::{Builder, Dialects, Function};

mod acme {
    include!(concat!(env!("OUT_DIR"), "/acme.rs"));
}

static DIALECTS: Dialects = Dialects(&[&acme::DIALECT]);

/// The ACME core: 32-bit numbers and everything that the tables have, the dialect's opcodes among it.
fn target() -> Target {
    Target::generic("acme").int_sizes(&[32]).float_sizes(&[32])
}

/// Address of the word that belongs to a core, in a table at 0x1000.
fn word_of_core() -> Function {
    let mut function = Function::new("word_of_core");
    function.dialects = DIALECTS;
    let mut b = Builder::at_end(&mut function);
    let core = b.load_acme_core_id();
    let (table, log2) = (b.imm_u32(0x1000), b.imm_u32(2));
    let offset = b.ishl(core, log2);
    let address = b.iadd(offset, table);
    b.store_acme_address(address);
    function
}

/// Brings a function to the fixed point of the dialect's rules; how many fired.
fn optimise(function: &mut Function, target: &Target) -> u64 {
    let report = run(function, &acme::rules::RULES, "opt", target, &Options::default());
    report.expect("`opt` is one of deburr's groups of rules").fired
}

/// What `acme_lea` gives for known operands, by its one definition in the table.
fn lea(a: u32, b: u32, c: u32) -> u32 {
    let info = DIALECTS.alu(acme::op::ACME_LEA).expect("the dialect has the opcode");
    let mut out = [0; 16];
    let operands: [&[u64]; 3] = [&[a.into()], &[b.into()], &[c.into()]];
    fold_info(info, 32, 1, &operands, &FloatEnv::default(), &mut out).expect("it has a folder");
    out[0] as u32
}

fn main() {
    let mut function = word_of_core();
    print!("{function}");
    let fired = optimise(&mut function, &target());
    print!("// {fired} rewrites:\n{function}");
    println!("// on core 7 that is {:#x}", lea(0x1000, 7, 2));
}

#[test]
fn lea_folds() {
    assert_eq!(lea(0x1000, 7, 2), 0x101c);
    assert_eq!(lea(1, 1, 0), 2);
    assert_eq!(lea(u32::MAX, 1, 3), 7, "modulo 2^32");
    assert_eq!(lea(0, 1, 7), 8, "two bits of the scale count");
}

#[test]
fn the_rule_fires_where_the_target_has_the_opcode() {
    let mut function = word_of_core();
    let older = target().forbid_intrinsic(acme::intrinsic::LOAD_ACME_CORE_WORD);
    assert_eq!(optimise(&mut function, &older), 1);
    let text = function.to_string();
    assert!(text.contains("acme_lea") && !text.contains("iadd"), "{text}");

    let mut function = word_of_core();
    assert_eq!(optimise(&mut function, &Target::spirv()), 0);
    assert!(!function.to_string().contains("acme_lea"));
}

#[test]
fn a_rule_matches_and_makes_intrinsics_of_the_dialect() {
    let mut function = word_of_core();
    assert_eq!(optimise(&mut function, &target()), 2);
    let text = function.to_string();
    assert!(text.contains("@load_acme_core_word") && text.contains("(acme_scale=2)"), "{text}");
    assert!(!text.contains("acme_lea"), "{text}");
}
