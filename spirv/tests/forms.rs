//! The round-trip law in the tables: what an instruction is read as, an instruction is written from.

use deburr_ir_core::{AluOp, FormDir, Index, Intrinsic};
use rspirv::grammar::{GLSL_STD_450_INSTRUCTION_TABLE, INSTRUCTION_TABLE};
use rspirv::spirv::{GroupOperation, Scope};

fn exists(name: &str, ext: bool) -> bool {
    match ext {
        true => GLSL_STD_450_INSTRUCTION_TABLE.iter().any(|i| i.opname == name),
        false => INSTRUCTION_TABLE.iter().any(|i| i.opname == name),
    }
}

/// Whether a form for one list of sizes or counts serves all of another; an empty list is all.
fn serves(has: &[u8], wanted: &[u8]) -> bool {
    has.is_empty() || !wanted.is_empty() && wanted.iter().all(|n| has.contains(n))
}

#[test]
fn every_opcode_that_is_read_can_be_written() {
    let mut forms = 0;
    for (op, info) in (0..).map(AluOp).map_while(|op| AluOp::builtin(op).map(|info| (op, info))) {
        for form in info.spirv {
            assert!(exists(form.name, form.ext), "{}: there is no `{}`", info.name, form.name);
            forms += 1;
            // A move is its source, under the id that it has.
            let written = form.dir != FormDir::Read
                || op == AluOp::MOV
                || info.spirv.iter().any(|other| {
                    other.dir != FormDir::Read
                        && serves(other.sizes, form.sizes)
                        && serves(other.comps, form.comps)
                });
            assert!(written, "{} ({op:?}) is read from {} alone", info.name, form.name);
        }
    }
    assert!(forms > 200, "{forms} forms");
}

#[test]
fn every_intrinsic_that_is_read_can_be_written() {
    let mut forms = 0;
    for (op, info) in
        (0..).map(Intrinsic).map_while(|op| Intrinsic::builtin(op).map(|info| (op, info)))
    {
        for form in info.spirv {
            let (name, by) = (info.name, form.name);
            forms += 1;
            assert!(exists(by, form.ext), "{name}: there is no `{by}`");
            let written = form.dir != FormDir::Read
                || info.spirv.iter().any(|other| {
                    other.dir != FormDir::Read
                        && serves(other.sizes, form.sizes)
                        && other.when.iter().all(|w| form.when.contains(w))
                });
            assert!(written, "{name} ({op:?}) is read from {by} alone");
            for arg in form.args.split_whitespace() {
                let letter = arg.split('.').next().unwrap_or_default();
                let known = match arg.strip_prefix('@') {
                    Some(index) => {
                        Index::from_name(index).is_some_and(|index| info.indices.contains(&index))
                    }
                    None if letter.len() == 1 && letter >= "a" => {
                        usize::from(letter.as_bytes()[0] - b'a') < info.srcs.len()
                    }
                    None => {
                        arg.parse::<u32>().is_ok()
                            || arg.parse::<Scope>().is_ok()
                            || arg.parse::<GroupOperation>().is_ok()
                    }
                };
                assert!(known, "{name}: `{arg}` in {by}");
            }
        }
    }
    assert!(forms > 100, "{forms} forms");
}
