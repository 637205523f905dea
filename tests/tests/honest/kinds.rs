//! Adding an instruction kind does not compile until every part of the house handles it (F45): each part has a `match`
//! over the kinds that names all of them and has no arm for the rest. What reads text can't be held to that by a
//! `match`; there it is this file that does not compile.

use super::{none, root};
use deburr_ir_core::InstrKind;
use std::collections::BTreeSet;

/// What must handle every kind, the file where it does, and the enum that it goes by. Sources and values lie in the
/// same fields of every kind's header; what differs is made and read in `func.rs`.
const PARTS: &[(&str, &str, &str)] = &[
    ("making", "ir-core/src/func.rs", "InstrInit"),
    ("reading", "ir-core/src/func.rs", "InstrKind"),
    ("print", "ir-core/src/print/body.rs", "InstrView"),
    ("validate", "ir-core/src/validate/instr.rs", "InstrView"),
    ("clone", "ir-core/src/copy.rs", "InstrView"),
    ("compare", "ir-core/src/equal.rs", "InstrView"),
    ("serialise", "ir-core/src/serial/write.rs", "InstrView"),
    ("deserialise", "ir-core/src/serial/read.rs", "InstrKind"),
    ("hash", "passes/src/cse.rs", "InstrView"),
    ("spirv", "spirv/src/write/code.rs", "InstrView"),
    ("eval", "eval/src/step.rs", "InstrView"),
];

/// The variants of an enum in formatted source.
fn variants(text: &str, name: &str) -> BTreeSet<String> {
    let start = format!("pub enum {name}");
    let body = text.lines().skip_while(|line| !line.starts_with(&start)).skip(1);
    body.take_while(|line| *line != "}")
        .filter_map(|line| line.strip_prefix("    "))
        .filter(|line| line.starts_with(char::is_uppercase))
        .map(|line| line.chars().take_while(|c| c.is_alphanumeric()).collect())
        .collect()
}

/// Whether a file has a `match` that names all variants of an enum and has no arm for others.
fn has_full_match(text: &str, name: &str, all: &BTreeSet<String>) -> bool {
    let lines: Vec<&str> = text.lines().collect();
    let indent = |line: &str| line.len() - line.trim_start().len();
    let prefix = format!("{name}::");
    lines.iter().enumerate().filter(|(_, l)| l.contains("match ") && l.ends_with('{')).any(
        |(n, head)| {
            let outer = indent(head);
            let arms = lines[n + 1..]
                .iter()
                .take_while(|line| line.is_empty() || indent(line) > outer)
                .filter(|line| indent(line) == outer + 4);
            let (mut named, mut rest) = (BTreeSet::new(), false);
            for arm in arms {
                let pattern = arm.split("=>").next().unwrap_or_default().trim();
                rest |= pattern == "_" || pattern == "(_, _)";
                let words = pattern.split(&prefix).skip(1);
                named
                    .extend(words.map(|w| {
                        w.chars().take_while(|c| c.is_alphanumeric()).collect::<String>()
                    }));
            }
            !rest && named == *all
        },
    )
}

#[test]
fn a_new_instruction_kind_does_not_compile() {
    let text = |file: &str| std::fs::read_to_string(root().join(file)).unwrap_or_default();
    let all = variants(&text("ir-core/src/instr.rs"), "InstrKind");
    assert_eq!(all.len(), KINDS.len());
    for name in ["InstrInit", "InstrView"] {
        assert_eq!(variants(&text("ir-core/src/instr.rs"), name), all, "{name}");
    }
    let missing = PARTS.iter().filter(|(_, file, name)| !has_full_match(&text(file), name, &all));
    let missing: Vec<String> =
        missing.map(|(part, file, name)| format!("{part}: {file} over {name}")).collect();
    none("parts that do not match every instruction kind", &missing);
}

const KINDS: [InstrKind; 10] = [
    InstrKind::Alu,
    InstrKind::Intrinsic,
    InstrKind::Tex,
    InstrKind::Deref,
    InstrKind::LoadConst,
    InstrKind::Undef,
    InstrKind::Phi,
    InstrKind::Jump,
    InstrKind::Call,
    InstrKind::ParallelCopy,
];

/// Text of a function with an instruction of this kind.
fn text_of(kind: InstrKind) -> &'static str {
    match kind {
        InstrKind::Alu => "32 %2 = iadd %0, %1",
        InstrKind::Intrinsic => "@store_deref %3, %0 (write_mask=x)",
        InstrKind::Tex => "32x4 %2 = tex.txf texture_deref=%4, coord=%5, lod=%0 (dim=2d)",
        InstrKind::Deref => "32 %2 = deref_var &local (function u32)",
        InstrKind::LoadConst => "32 %2 = load_const (0x7)",
        InstrKind::Undef => "32 %2 = undef",
        InstrKind::Phi => {
            "loop {\n block b1:\n 32 %2 = phi b0: %0, b2: %1\n } continue {\n block b2:\n }\n block b3:"
        }
        InstrKind::Jump => "return",
        InstrKind::Call => "call other()",
        InstrKind::ParallelCopy => "parallel_copy %0 = %1",
    }
}

#[test]
fn text_of_every_instruction_kind_is_read() {
    for kind in KINDS {
        let source = format!(
            "deburr_ir 1\ndecl_type t0 = image(f32, 2d, sampled=1)\ndecl_var uniform t0 &image (0, 0)\ndecl_function main()\n\
             decl_function other()\n\nimpl main {{\n  decl_var function u32 &local\n  block b0:\n    \
             32 %0 = load_const (0x1)\n    32 %1 = load_const (0x2)\n    32 %3 = deref_var &local (function u32)\n    \
             32 %4 = deref_var &image\n    32x2 %5 = vec2 %0, %1\n    {}\n}}\n\nimpl other {{\n  block b0:\n}}\n",
            text_of(kind)
        );
        let module = deburr_ir_core::parse(&source)
            .unwrap_or_else(|e| panic!("{kind:?}: {}\n{source}", e[0]));
        let f = &module.functions[0];
        assert!(f.all_instrs().any(|i| f.kind(i) == kind), "{kind:?}");
    }
}

#[test]
fn the_scan_notices() {
    let all = BTreeSet::from(["A".to_owned(), "B".to_owned()]);
    let full = "match x {\n    E::A => 1,\n    E::B => 2,\n}\n";
    assert!(has_full_match(full, "E", &all));
    assert!(has_full_match(
        "match x {\n    E::A\n    | E::B => {\n        2\n    }\n}\n",
        "E",
        &all
    ));
    assert!(!has_full_match(&full.replace("E::B", "_"), "E", &all));
    assert!(!has_full_match(&full.replace("}\n", "    _ => 3,\n}\n"), "E", &all));
    assert_eq!(variants("pub enum E {\n    /// It.\n    A,\n    B(u8),\n}\n", "E"), all);
}
