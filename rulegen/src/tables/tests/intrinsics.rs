use expect_test::expect;

use super::{check, parse};
use crate::tables::{Divergence, intrinsic};

const INDICES: &str = r#"
[[index]]
name = "base"
type = "i32"
doc = "Base."
[[index]]
name = "kind"
type = "u32"
values = ["one", "two"]
default = 1
doc = "Kind."
[[index]]
name = "bits_set"
type = "u32"
flags = ["lo", "hi"]
doc = "Bits."
"#;

fn intrinsic(lines: &str) -> String {
    format!("{INDICES}[[intrinsic]]\nname = \"load_it\"\ndoc = \"D.\"\n{lines}")
}

#[test]
fn an_intrinsic_is_read_whole() {
    let tables = parse(&intrinsic(
        r#"src = ["-1", "0", "3"]
src_bits = [64, 0, 32]
dest = "0"
bits = [32, 64]
bits_from = 1
indices = ["kind", "base", "bits_set"]
flags = ["eliminate", "reorder"]
speculatable = true
memory = { reads = ["deref1", "ssbo"], writes = ["any"] }
convergent = "quad"
divergence = { default = "uniform", fragment = "sources", compute = "divergent" }
spirv = [{ op = "LoadIt", when = { kind = "two", bits_set = "hi", base = -1 }, args = "a @base b.x 7 Reduce",
           capability = "Cap", sizes = [32] }, { builtin = "It" }, { ext = "ItExt" }]"#,
    ));
    let entry = &tables.intrinsics[0];
    assert_eq!(
        (entry.srcs.as_slice(), entry.src_bits.as_slice()),
        (&[-1, 0, 3][..], &[64, 0, 32][..])
    );
    assert_eq!(
        (entry.dest, entry.bits_from, entry.dest_bits.as_slice()),
        (Some(0), Some(1), &[32, 64][..])
    );
    assert_eq!(entry.indices, ["kind", "base", "bits_set"]);
    assert!(entry.eliminate && entry.reorder && entry.speculatable && !entry.memory.barrier);
    use intrinsic::MemoryMode::*;
    assert_eq!(entry.memory.reads, [Deref(1), Named("ssbo".to_owned())]);
    assert_eq!(entry.memory.writes, [Any]);
    assert_eq!(entry.divergence, Divergence::Uniform);
    let by_stage = [
        ("compute".to_owned(), Divergence::Divergent),
        ("fragment".to_owned(), Divergence::Sources),
    ];
    assert_eq!(entry.divergence_by_stage, by_stage);
    assert_eq!(entry.builtin.as_deref(), Some("It"));
    let when = [("base", u32::MAX), ("bits_set", 2), ("kind", 1)].map(|(n, v)| (n.to_owned(), v));
    assert_eq!(entry.spirv[0].when, when);
    assert_eq!((entry.spirv[1].name.as_str(), entry.spirv[1].ext), ("ItExt", true));
    assert_eq!(tables.indices[1].default, 1);
}

#[test]
fn sources_and_results() {
    check(
        &intrinsic("src = [\"6\"]"),
        expect![[r#"
        error[E0104]: `6` is no component count: a number, "0" = the instruction's, "-1" = any
         --> t.toml:22:9
        22 | src = ["6"]
           |         ^
    "#]],
    );
    check(
        &intrinsic("src = [\"1\"]\nsrc_bits = [1, 2]"),
        expect![[r#"
        error[E0115]: 2 bit sizes for 1 sources
         --> t.toml:23:12
        23 | src_bits = [1, 2]
           |            ^^^^^^
    "#]],
    );
    check(
        &intrinsic("src = [\"1\"]\nbits_from = 1"),
        expect![[r#"
        error[E0115]: the entry has 1 sources
         --> t.toml:23:13
        23 | bits_from = 1
           |             ^
    "#]],
    );
    check(
        &intrinsic("indices = [\"bases\", \"kind\", \"kind\"]"),
        expect![[r#"
        error[E0115]: no index `bases`
         --> t.toml:22:13
        22 | indices = ["bases", "kind", "kind"]
           |             ^^^^^
        help: did you mean `base`?
        error[E0107]: `kind` is given twice
         --> t.toml:22:30
        22 | indices = ["bases", "kind", "kind"]
           |                              ^^^^
    "#]],
    );
    check(
        &intrinsic("flags = [\"remove\"]"),
        expect![[r#"
            error[E0109]: `flags` can't be `remove`, only `eliminate`, `reorder`
             --> t.toml:22:11
            22 | flags = ["remove"]
               |           ^^^^^^
        "#]],
    );
}

#[test]
fn effects() {
    check(
        &intrinsic("memory = \"fence\""),
        expect![[r#"
            error[E0109]: `memory` can't be `fence`, only `barrier`
             --> t.toml:22:11
            22 | memory = "fence"
               |           ^^^^^
        "#]],
    );
    check(
        &intrinsic("memory = { reads = [\"sbo\"] }"),
        expect![[r#"
            error[E0109]: `reads` can't be `sbo`, only `deref`, `deref1`, `any`, `function`, `private`, `in`, `out`, `uniform`, `ubo`, `ssbo`, `shared`, `push_const`, `image`, `global`, `task_payload`, `node_payload`, `ray_payload`, `ray_payload_in`, `callable_data`, `callable_data_in`, `hit_attrib`, `shader_record`, `atomic_counter`, `constant`, `scratch`
             --> t.toml:22:22
            22 | memory = { reads = ["sbo"] }
               |                      ^^^
            help: did you mean `ubo`?
        "#]],
    );
    check(
        &intrinsic("divergence = { pixel = \"uniform\" }"),
        expect![[r#"
        error[E0109]: no stage `pixel`
         --> t.toml:22:16
        22 | divergence = { pixel = "uniform" }
           |                ^^^^^
    "#]],
    );
}

#[test]
fn forms() {
    check(
        &intrinsic("spirv = [{ op = \"A\", builtin = \"B\" }]"),
        expect![[r#"
        error[E0114]: a form has exactly one of `op`, `ext`, `builtin`
         --> t.toml:22:10
        22 | spirv = [{ op = "A", builtin = "B" }]
           |          ^^^^^^^^^^^^^^^^^^^^^^^^^^^
    "#]],
    );
    check(
        &intrinsic("indices = [\"kind\"]\nspirv = [{ op = \"A\", when = { base = 1 } }]"),
        expect![[r#"
            error[E0115]: the entry has no index `base`
             --> t.toml:23:31
            23 | spirv = [{ op = "A", when = { base = 1 } }]
               |                               ^^^^
        "#]],
    );
    check(
        &intrinsic("indices = [\"kind\"]\nspirv = [{ op = \"A\", when = { kind = \"three\" } }]"),
        expect![[r#"
            error[E0109]: `three` is no value of the index `kind`
             --> t.toml:23:39
            23 | spirv = [{ op = "A", when = { kind = "three" } }]
               |                                       ^^^^^
        "#]],
    );
    check(
        &intrinsic("src = [\"1\"]\nspirv = [{ op = \"A\", args = \"a b @kind\" }]"),
        expect![[r#"
            error[E0115]: no source `b`: the entry has 1
             --> t.toml:23:32
            23 | spirv = [{ op = "A", args = "a b @kind" }]
               |                                ^
            error[E0115]: the entry has no index `kind`
             --> t.toml:23:34
            23 | spirv = [{ op = "A", args = "a b @kind" }]
               |                                  ^^^^^
        "#]],
    );
}

#[test]
fn indices() {
    check(
        &format!("{INDICES}{INDICES}"),
        expect![[r#"
        error[E0107]: `base` is given twice
         --> t.toml:21:9
        21 | name = "base"
           |         ^^^^
         --> t.toml:5:9
        5 | name = "base"
          |         ---- first given here
        error[E0107]: `kind` is given twice
         --> t.toml:25:9
        25 | name = "kind"
           |         ^^^^
         --> t.toml:9:9
        9 | name = "kind"
          |         ---- first given here
        error[E0107]: `bits_set` is given twice
         --> t.toml:31:9
        31 | name = "bits_set"
           |         ^^^^^^^^
         --> t.toml:15:9
        15 | name = "bits_set"
           |         -------- first given here
    "#]],
    );
    check(
        "[[index]]\nname = \"x\"\ntype = \"u16\"\ndoc = \"D.\"",
        expect![[r#"
            error[E0109]: `type` can't be `u16`, only `u32`, `i32`, `bool`, `op`
             --> t.toml:5:9
            5 | type = "u16"
              |         ^^^
        "#]],
    );
    check(
        "[[index]]\nname = \"x\"\ntype = \"i32\"\nvalues = [\"A\"]\ndoc = \"D.\"",
        expect![[r#"
        error[E0108]: `A` is no name
         --> t.toml:6:12
        6 | values = ["A"]
          |            ^
        error[E0104]: only an index of type u32 has `values` or `flags`
         --> t.toml:4:9
        4 | name = "x"
          |         ^
    "#]],
    );
}

#[test]
fn ranges_are_read() {
    let range = |text: &str| {
        let lines = format!("dest = \"3\"\nbits = [32]\nrange = \"{text}\"");
        parse(&intrinsic(&lines)).intrinsics[0].range
    };
    use crate::tables::{UpperEnd::*, ValueRange::*};
    assert_eq!(range(""), None);
    assert_eq!(range("1..=128"), Some(Int(1, Value(128))));
    assert_eq!(range("0..32"), Some(Int(0, Value(31))));
    assert_eq!(range("1..=0xffffffff"), Some(Int(1, Value(0xffff_ffff))));
    assert_eq!(range("0..0x100000000"), Some(Int(0, Value(0xffff_ffff))));
    assert_eq!(range("0..workgroup_size"), Some(Int(0, WorkgroupSize(1))));
    assert_eq!(range("1..=workgroup_invocations"), Some(Int(1, WorkgroupInvocations(0))));
    assert_eq!(range("0.0..=1.0"), Some(Float(0.0, 1.0)));
    assert_eq!(range("-1.5..=inf"), Some(Float(-1.5, f64::INFINITY)));
    let family = "for = [{ n = \"a\", r = \"0..=1\" }, { n = \"b\", r = \"\" }]\nname = \"${n}\"\ndest = \"1\"\nrange = \"${r}\"\ndoc = \"D.\"";
    let tables = parse(&format!("[[intrinsic]]\n{family}"));
    let ranges: Vec<_> = tables.intrinsics.iter().map(|i| i.range).collect();
    assert_eq!(ranges, [Some(Int(0, Value(1))), None]);
}

#[test]
fn ranges_that_make_no_sense() {
    let bad = |lines: &str, expected| check(&intrinsic(lines), expected);
    bad(
        "range = \"0..=1\"",
        expect![[r#"
        error[E0117]: the entry has no result whose values these could be
         --> t.toml:22:10
        22 | range = "0..=1"
           |          ^^^^^
    "#]],
    );
    bad(
        "dest = \"1\"\nrange = \"128\"",
        expect![[r#"
        error[E0117]: `128` is no range: `LO..HI` or `LO..=HI`
         --> t.toml:23:10
        23 | range = "128"
           |          ^^^
    "#]],
    );
    bad(
        "dest = \"1\"\nrange = \"0..=workgroup_sizes\"",
        expect![[r#"
        error[E0117]: `workgroup_sizes` is no end of a range: an unsigned integer, a float, or as the upper end `workgroup_size` or `workgroup_invocations`
         --> t.toml:23:14
        23 | range = "0..=workgroup_sizes"
           |              ^^^^^^^^^^^^^^^
        help: did you mean `workgroup_size`?
    "#]],
    );
    bad(
        "dest = \"1\"\nrange = \"-1..=1\"",
        expect![[r#"
        error[E0117]: `-1` is no end of a range: an unsigned integer, a float, or as the upper end `workgroup_size` or `workgroup_invocations`
         --> t.toml:23:10
        23 | range = "-1..=1"
           |          ^^
    "#]],
    );
    bad(
        "dest = \"1\"\nrange = \"workgroup_size..=7\"",
        expect![[r#"
        error[E0117]: the lower end is a number
         --> t.toml:23:10
        23 | range = "workgroup_size..=7"
           |          ^^^^^^^^^^^^^^
    "#]],
    );
    bad(
        "dest = \"1\"\nrange = \"5..=4\"",
        expect![[r#"
        error[E0117]: no value is in the range
         --> t.toml:23:10
        23 | range = "5..=4"
           |          ^^^^^
    "#]],
    );
    bad(
        "dest = \"1\"\nrange = \"0..0\"",
        expect![[r#"
        error[E0117]: no value is in the range
         --> t.toml:23:10
        23 | range = "0..0"
           |          ^^^^
    "#]],
    );
    bad(
        "dest = \"1\"\nbits = [8, 32]\nrange = \"0..=256\"",
        expect![[r#"
        error[E0117]: 256 doesn't fit into a result of 8 bits
         --> t.toml:24:14
        24 | range = "0..=256"
           |              ^^^
    "#]],
    );
    bad(
        "dest = \"1\"\nrange = \"0.0..1.0\"",
        expect![[r#"
        error[E0117]: a range of floats has both ends: `LO..=HI`
         --> t.toml:23:10
        23 | range = "0.0..1.0"
           |          ^^^^^^^^
    "#]],
    );
    bad(
        "dest = \"1\"\nrange = \"1.0..=0.5\"",
        expect![[r#"
        error[E0117]: no value is in the range
         --> t.toml:23:10
        23 | range = "1.0..=0.5"
           |          ^^^^^^^^^
    "#]],
    );
    bad(
        "dest = \"1\"\nrange = \"0..=1.0\"",
        expect![[r#"
        error[E0117]: both ends are integers, or both are floats
         --> t.toml:23:10
        23 | range = "0..=1.0"
           |          ^^^^^^^
    "#]],
    );
    bad(
        "dest = \"1\"\nbits = [1, 32]\nrange = \"0.0..=1.0\"",
        expect![[r#"
        error[E0117]: a result of 1 bits is no float
         --> t.toml:24:10
        24 | range = "0.0..=1.0"
           |          ^^^^^^^^^
    "#]],
    );
}

#[test]
fn a_range_is_a_string() {
    let bad = |lines: &str, expected| check(&intrinsic(lines), expected);
    bad(
        "dest = \"1\"\nrange = [0, 1]",
        expect![[r#"
        error[E0104]: `range` is a string
         --> t.toml:23:9
        23 | range = [0, 1]
           |         ^^^^^^
    "#]],
    );
}
