//! A dialect's build script: what is written, and what is told where something is missing or wrong.
#![cfg(feature = "rules")]

use deburr_rulegen::Dialect;
use std::path::{Path, PathBuf};

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/..");
const RULE: &str =
    "rules 1\nrule lea: iadd(a, ishl(b, #c)) => acme_lea(a, b, c) where ult(c, 4);\n";

/// A folder of its own with the example's table and a rule file.
fn folder(name: &str, rules: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::create_dir_all(&folder).expect("the folder can be made");
    let table = format!("{ROOT}/examples/external/acme.toml");
    std::fs::copy(table, folder.join("acme.toml")).expect("the example's table can be copied");
    std::fs::write(folder.join("acme.rules"), rules).expect("the rules can be written");
    folder
}

fn dialect(folder: &Path) -> Dialect {
    Dialect::new("acme", folder.join("acme.toml"))
        .builtin(format!("{ROOT}/opcodes.toml"), format!("{ROOT}/intrinsics.toml"))
}

fn rules(dialect: Dialect, folder: &Path) -> Dialect {
    dialect.rules(format!("{ROOT}/rules"), &[folder.join("acme.rules")])
}

#[test]
fn a_dialect_has_tables_builders_and_rules() {
    let folder = folder("whole", RULE);
    rules(dialect(&folder), &folder).generate(&folder).expect("table and rules are right");
    let text = std::fs::read_to_string(folder.join("acme.rs")).expect("the file was written");
    for part in [
        "pub const ACME_LEA: AluOp = AluOp(16384);",
        "pub trait Build {",
        "pub static DIALECT: deburr_ir_core::Dialect",
        "pub mod rules {",
        "pub static RULES: RuleSet",
    ] {
        assert!(text.contains(part), "no `{part}`");
    }
    assert!(syn::parse_file(&text).is_ok(), "the file is Rust");
}

#[test]
fn rules_name_a_dialects_intrinsics_and_indices() {
    let folder = folder(
        "intrinsics",
        "rules 1
        rule word: iadd(a, @load_acme_core_id()) => @load_acme_core_word(a; acme_scale = 3) waive \"a test\";
        rule root: @load_acme_core_word(a; acme_scale = 0) => iadd(a, @load_acme_core_id())
            group late canonical \"a test\" waive \"a test\";\n",
    );
    let dialect = rules(dialect(&folder), &folder).first_id(0x5000);
    dialect.generate(&folder).expect("table and rules are right");
    let text = std::fs::read_to_string(folder.join("acme.rs")).expect("the file was written");
    for part in [
        "cx.intrinsic(v2, Intrinsic(0x5000))",
        "cx.build_intrinsic(Intrinsic(0x5001), 32, 1, &[(v1, 1)], &[(Index(",
        "/* acme_scale */), 3)])",
        "cx.legal_intrinsic(Intrinsic(0x5001), 32, &[(Index(",
        "(Root::Intrinsic(Intrinsic(0x5001)), late_at_load_acme_core_word::rules as MatchFn)",
    ] {
        assert!(text.contains(part), "no `{part}`");
    }
    assert!(syn::parse_file(&text).is_ok(), "the file is Rust");

    let folder = self::folder(
        "misnamed",
        "rules 1\nrule a: iadd(a, @load_acme_core_ids()) => a;\n\
         rule b: iadd(a, @load_acme_core_word(a; acme_scal = 3)) => a;\n",
    );
    let error =
        rules(self::dialect(&folder), &folder).generate(&folder).expect_err("no such names");
    let text = error.to_string();
    assert!(text.contains("did you mean `load_acme_core_id`?"), "{text}");
    assert!(text.contains("did you mean `acme_scale`?"), "{text}");
}

#[test]
fn ids_begin_where_the_dialect_says() {
    let folder = folder("second", RULE);
    let second = rules(dialect(&folder), &folder).first_id(0x5000);
    second.generate(&folder).expect("table and rules are right");
    let text = std::fs::read_to_string(folder.join("acme.rs")).expect("the file was written");
    assert!(text.contains("pub const ACME_LEA: AluOp = AluOp(20480);"));
    assert!(text.contains("AluOp(0x5000)"), "the rule's replacement has the dialect's id");
}

/// E0378 asks whether SPIR-V has what a rule makes. A dialect's target is another one.
#[test]
fn a_dialects_rules_make_what_its_target_has() {
    let rule = "rules 1\nrule fuse: fadd(fmul(a, b), c) => ffma(a, b, c) with contract;\n";
    let folder = folder("fused", rule);
    rules(dialect(&folder), &folder).generate(&folder).expect("the rule is right");
}

#[test]
fn rules_need_the_built_in_opcodes() {
    let folder = folder("alone", RULE);
    let alone = rules(Dialect::new("acme", folder.join("acme.toml")), &folder);
    let error = alone.generate(&folder).expect_err("nothing says where the tables are");
    assert!(error.to_string().contains("`builtin`"), "{error}");
}

#[test]
fn what_is_wrong_with_a_rule_is_told_with_its_place() {
    let folder = folder("wrong", "rules 1\nrule lea: iadd(a, b) => acme_les(a, b);\n");
    let error = rules(dialect(&folder), &folder).generate(&folder).expect_err("no such opcode");
    let text = error.to_string();
    assert!(text.contains("acme.rules:2:") && text.contains("acme_les"), "{text}");
}
