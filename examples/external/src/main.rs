//! A compiler writer's own opcode and intrinsic, on top of deburr's libraries: the table `acme.toml` is all there is
//! to an opcode; its folder and builder method are generated from it.

use acme::Build;
use deburr_ir_core::fold::{FloatEnv, fold_info};
use deburr_ir_core::{Builder, Dialects, Function};

mod acme {
    include!(concat!(env!("OUT_DIR"), "/acme.rs"));
}

static DIALECTS: Dialects = Dialects(&[&acme::DIALECT]);

/// Address of word `core` of a table at 0x1000.
fn word_of_core() -> Function {
    let mut function = Function::new("word_of_core");
    function.dialects = DIALECTS;
    let mut b = Builder::at_end(&mut function);
    let core = b.load_acme_core_id();
    let (table, log2) = (b.imm_u32(0x1000), b.imm_u32(2));
    b.acme_lea(table, core, log2);
    function
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
    print!("{}", word_of_core());
    println!("// on core 7: {:#x}", lea(0x1000, 7, 2));
}

#[test]
fn lea_folds() {
    assert_eq!(lea(0x1000, 7, 2), 0x101c);
    assert_eq!(lea(1, 1, 0), 2);
    assert_eq!(lea(u32::MAX, 1, 3), 7, "modulo 2^32");
    assert_eq!(lea(0, 1, 7), 8, "two bits of the scale count");
}

#[test]
fn the_function_prints_with_the_dialects_names() {
    let text = word_of_core().to_string();
    assert!(text.contains("@load_acme_core_id"), "{text}");
    assert!(text.contains("acme_lea"), "{text}");
}
