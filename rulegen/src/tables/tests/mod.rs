mod intrinsics;
mod mutants;

use expect_test::{Expect, expect};

use super::*;
use crate::tables::op::{Eval, Quad};

fn table(text: &str) -> TableFile {
    TableFile::new("t.toml", format!("deburr_opcodes = 1\ndeburr_intrinsics = 1\n{text}"))
}

/// Every diagnostic, rendered.
fn errors(text: &str) -> String {
    let file = table(text);
    match Tables::parse(std::slice::from_ref(&file)) {
        Ok(_) => "no errors\n".to_owned(),
        Err(list) => list.iter().map(|d| d.to_plain(|_| Some(&file.text))).collect(),
    }
}

#[track_caller]
fn check(text: &str, expect: Expect) {
    expect.assert_eq(&errors(text));
}

fn parse(text: &str) -> Tables {
    Tables::parse(&[table(text)]).unwrap_or_else(|_| panic!("{}", errors(text)))
}

/// An opcode with one line changed or added.
fn op_with(lines: &str) -> String {
    let mut text = String::from("[[op]]\n");
    let defaults = [
        ("name", "\"f\""),
        ("sig", "\"(int, int) -> int\""),
        ("eval", "\"a + b\""),
        ("doc", "\"D.\""),
    ];
    for (key, value) in defaults {
        if !lines
            .lines()
            .any(|line| line.starts_with(&format!("{key} ")) || line == format!("no {key}"))
        {
            text.push_str(&format!("{key} = {value}\n"));
        }
    }
    for line in lines.lines().filter(|line| !line.starts_with("no ")) {
        text.push_str(line);
        text.push('\n');
    }
    text
}

#[test]
fn an_opcode_is_read_whole() {
    let tables = parse(
        r#"
[[op]]
name = "fclip"
sig = "(float, float32x2, bool) -> float16x2"
sizes = [32, 64]
cost = { default = 4, native = 1 }
props = ["selection"]
convergent = "subgroup"
eval = "if c { [1.0, 0.5] } else { b as f16 }"
dom = "a > 0.0"
spirv = [{ ext = "Clip", args = "bac", dir = "write", sizes = [32], outside = "mask b", reads_dom = true,
           exact = "a > 1.0", sign = "u", member = 1, matrix = 0, column = true, rounding = "rtz",
           comps = [2] }]
doc = """
Two
  lines."""
"#
        .replace(", bool)", ", bool1)")
        .as_str(),
    );
    let op = &tables.ops[0];
    assert_eq!(op.sig.to_string(), "(float, float32x2, bool1) -> float16x2");
    assert_eq!((op.sizes.as_slice(), op.float, op.selection), (&[32, 64][..], true, true));
    assert_eq!(op.costs, Costs { default: 4, classes: vec![("native".to_owned(), 1)] });
    assert_eq!(op.expr().unwrap().to_string(), "if c { [1.0f16, 0.5f16] } else { (b as f16) }");
    assert_eq!(op.dom.as_ref().unwrap().to_string(), "(a > 0.0)");
    assert_eq!(op.doc, "Two lines.");
    assert_eq!((op.place.line, &*op.place.file), (5, "t.toml"));
    let form = &op.spirv[0];
    assert_eq!(
        (form.name.as_str(), form.ext, form.args.as_slice()),
        ("Clip", true, &[1, 0, 2][..])
    );
    assert_eq!(
        (form.dir, form.outside, form.sign),
        (op::Dir::Write, Outside::Mask(1), Some(op::Sign::Unsigned))
    );
    assert_eq!(
        (form.member, form.matrix, form.column, form.reads_dom),
        (Some(1), Some(0), true, true)
    );
    assert_eq!(form.rounding, Some("RTZ"));
    assert_eq!(form.exact.as_ref().unwrap().to_string(), "(a > 1.0)");
}

#[test]
fn widths_follow_from_the_operands() {
    let sizes = |sig: &str, eval: &str| {
        parse(&op_with(&format!("sig = \"{sig}\"\neval = \"{eval}\""))).ops[0].sizes.clone()
    };
    assert_eq!(sizes("(int, int) -> int", "a + b"), [8, 16, 32, 64]);
    assert_eq!(sizes("(int, float32) -> int", "a"), [8, 16, 32, 64]);
    assert_eq!(sizes("(float) -> int32", "0"), [16, 32, 64]);
    assert_eq!(sizes("(bool) -> bool", "!a"), [1, 8, 16, 32]);
    assert_eq!(sizes("(int32) -> int32", "-a"), []);
}

#[test]
fn families_multiply_and_keep_places() {
    let tables = parse(
        r#"
[[op]]
for = [[{ n = 8 }, { n = 16 }], [{ f = "add", e = "a + b" }, { f = "sub", e = "a - b" }]]
name = "i${f}${n}"
sig = "(int${n}, int${n}) -> int${n}"
eval = "${e}"
doc = "${f} at ${n} bits."
"#,
    );
    let names: Vec<&str> = tables.ops.iter().map(|op| op.name.as_str()).collect();
    assert_eq!(names, ["iadd8", "iadd16", "isub8", "isub16"], "the first list varies fastest");
    assert_eq!(tables.ops[3].doc, "sub at 16 bits.");
    assert_eq!(tables.ops[3].expr().unwrap().to_string(), "(a - b)");
    // The zip of one list, and integers where the table wants integers.
    let tables = parse(&op_with(
        "for = [{ n = 2, c = 3 }, { n = 4, c = 5 }]\nname = \"f${n}\"\ncost = \"${c}\"",
    ));
    let costs: Vec<u8> = tables.ops.iter().map(|op| op.costs.default).collect();
    assert_eq!(costs, [3, 5]);
}

#[test]
fn errors_in_families_point_at_the_value() {
    check(
        &op_with("for = [{ n = \"x\", e = \"a + c\" }]\nname = \"f${n}\"\neval = \"b * (${e})\""),
        expect![[r#"
            error[E0203]: `c` is unknown
             --> t.toml:6:28
            6 | for = [{ n = "x", e = "a + c" }]
              |                            ^
        "#]],
    );
    check(
        &op_with("for = [{ n = 1 }]\nname = \"f${m}\""),
        expect![[r#"
            error[E0105]: the family has no `m`
             --> t.toml:8:10
            8 | name = "f${m}"
              |          ^^^^
        "#]],
    );
    check(
        &op_with("for = [{ n = 1 }, { m = 1 }]"),
        expect![[r#"
        error[E0105]: the rows of `for` have different keys
         --> t.toml:8:19
        8 | for = [{ n = 1 }, { m = 1 }]
          |                   ^^^^^^^^^
    "#]],
    );
    check(
        &op_with("for = [[{ n = 1 }], [{ n = 2 }]]"),
        expect![[r#"
        error[E0105]: two loops of `for` have the same key
         --> t.toml:8:22
        8 | for = [[{ n = 1 }], [{ n = 2 }]]
          |                      ^^^^^^^^^
    "#]],
    );
    check(
        &op_with("for = []"),
        expect![[r#"
        error[E0105]: `for` is a list of tables, or a list of such lists
         --> t.toml:8:7
        8 | for = []
          |       ^^
    "#]],
    );
    check(
        &op_with("for = [{ n = 1.5 }]"),
        expect![[r#"
        error[E0105]: a value in `for` is a string or an integer
         --> t.toml:8:14
        8 | for = [{ n = 1.5 }]
          |              ^^^
    "#]],
    );
    check(
        &op_with("for = [{ n = 1 }]\nname = \"f${n\""),
        expect![[r#"
        error[E0105]: `${` without `}`
         --> t.toml:8:10
        8 | name = "f${n"
          |          ^^
    "#]],
    );
}

#[test]
fn escapes_and_multiple_lines_keep_places() {
    check(
        &op_with("eval = \"\"\"\na +\n  nope\"\"\""),
        expect![[r#"
        error[E0203]: `nope` is unknown
         --> t.toml:9:3
        9 |   nope"""
          |   ^^^^
    "#]],
    );
    check(
        &op_with("eval = \"a \\u002B \\\"x\""),
        expect![[r#"
        error[E0201]: not a sequence of tokens: a bracket or quote isn't closed
         --> t.toml:7:18
        7 | eval = "a \u002B \"x"
          |                  ^
    "#]],
    );
    check(
        &op_with("eval = \"\"\"a \\\n    + nope\"\"\""),
        expect![[r#"
        error[E0203]: `nope` is unknown
         --> t.toml:8:7
        8 |     + nope"""
          |       ^^^^
    "#]],
    );
}

#[test]
fn keys_and_kinds() {
    check(
        "[[op]",
        expect![[r#"
        error[E0101]: unclosed array table, expected `]`
         --> t.toml:3:6
        3 | [[op]
          |      ^
    "#]],
    );
    check(
        &op_with("evil = 1"),
        expect![[r#"
        error[E0102]: nothing reads the key `evil`
         --> t.toml:8:1
        8 | evil = 1
          | ^^^^
        help: did you mean `eval`?
    "#]],
    );
    check(
        &op_with("no doc\nno sig"),
        expect![[r#"
            error[E0103]: the entry has no `sig`
             --> t.toml:3:1
            3 | [[op]]
              | ^^^^^^
            error[E0103]: the entry has no `doc`
             --> t.toml:3:1
            3 | [[op]]
              | ^^^^^^
        "#]],
    );
    check(
        &op_with("cost = \"much\""),
        expect![[r#"
        error[E0104]: `cost` is an integer from 0 to 255
         --> t.toml:8:8
        8 | cost = "much"
          |        ^^^^^^
    "#]],
    );
    check(
        &op_with("sizes = 32"),
        expect![[r#"
        error[E0104]: `sizes` is a list of integers
         --> t.toml:8:9
        8 | sizes = 32
          |         ^^
    "#]],
    );
    check(
        &op_with("props = [\"comutative\"]"),
        expect![[r#"
            error[E0109]: `props` can't be `comutative`, only `commutative`, `associative`, `selection`, `conversion`, `derivative`
             --> t.toml:8:11
            8 | props = ["comutative"]
              |           ^^^^^^^^^^
            help: did you mean `commutative`?
        "#]],
    );
    check(
        &op_with("convergent = 1"),
        expect![[r#"
        error[E0104]: `convergent` is a string
         --> t.toml:8:14
        8 | convergent = 1
          |              ^
    "#]],
    );
}

#[test]
fn files() {
    check(
        "op = 1",
        expect![[r#"
        error[E0104]: `op` is a list of entries, `[[…]]`
         --> t.toml:3:6
        3 | op = 1
          |      ^
    "#]],
    );
    check(
        "other = 1",
        expect![[r#"
        error[E0102]: nothing reads the key `other`
         --> t.toml:3:1
        3 | other = 1
          | ^^^^^
    "#]],
    );
    expect![[r#"
        error[E0113]: `deburr_opcodes` is 1, the only version there is
         --> t.toml:1:18
        1 | deburr_opcodes = 2
          |                  ^
        error[E0113]: `[[intrinsic]]` in a table without `deburr_intrinsics = 1`
         --> t.toml:2:1
        2 | [[intrinsic]]
          | ^^^^^^^^^^^^^
        error[E0103]: the entry has no `doc`
         --> t.toml:2:1
        2 | [[intrinsic]]
          | ^^^^^^^^^^^^^
    "#]]
    .assert_eq(&{
        let file = TableFile::new("t.toml", "deburr_opcodes = 2\n[[intrinsic]]\nname = \"i\"\n");
        let list = Tables::parse(std::slice::from_ref(&file)).unwrap_err();
        list.iter().map(|d| d.to_plain(|_| Some(&file.text))).collect::<String>()
    });
    expect![[r#"
        error[E0113]: the table doesn't say which format it has
         --> t.toml:1:1
        1 | 
          | ^
        help: start it with `deburr_opcodes = 1` or `deburr_intrinsics = 1`
    "#]]
    .assert_eq(&{
        let file = TableFile::new("t.toml", "");
        let list = Tables::parse(std::slice::from_ref(&file)).unwrap_err();
        list.iter().map(|d| d.to_plain(|_| Some(&file.text))).collect::<String>()
    });
}

#[test]
fn names() {
    check(
        &op_with("name = \"Add\""),
        expect![[r#"
        error[E0108]: `Add` is no name: lower-case letters, digits and underscores, a letter first
         --> t.toml:7:9
        7 | name = "Add"
          |         ^^^
    "#]],
    );
    check(
        &op_with("name = \"loop\""),
        expect![[r#"
        error[E0108]: `loop` is a keyword of Rust
         --> t.toml:7:9
        7 | name = "loop"
          |         ^^^^
    "#]],
    );
    check(
        &op_with("name = \"sqrt\""),
        expect![[r#"
        error[E0108]: `sqrt` is a function of the expression language
         --> t.toml:7:9
        7 | name = "sqrt"
          |         ^^^^
    "#]],
    );
    check(
        &format!("{}{}", op_with(""), op_with("")),
        expect![[r#"
        error[E0107]: `f` is given twice
         --> t.toml:9:9
        9 | name = "f"
          |         ^
         --> t.toml:4:9
        4 | name = "f"
          |         - first given here
    "#]],
    );
}

#[test]
fn signatures() {
    for sig in [
        "int, int) -> int",
        "(int, int -> int",
        "(int, int) int",
        "(int, imt) -> int",
        "(int, int7) -> int",
        "(int, float8) -> int",
        "(int, intx6) -> int",
        "(int, ) -> int",
        "(int32) -> int",
    ] {
        let text = errors(&op_with(&format!("sig = \"{sig}\"\neval = \"a\"")));
        let first: String = text.lines().next().unwrap_or_default().to_owned();
        expected_signature(sig).assert_eq(&first);
    }
}

fn expected_signature(sig: &str) -> Expect {
    match sig {
        "int, int) -> int" => expect!["error[E0106]: a signature starts with `(`"],
        "(int, int -> int" => expect!["error[E0106]: the operands of a signature end with `)`"],
        "(int, int) int" => expect!["error[E0106]: a signature has `->` and a result"],
        "(int, imt) -> int" => expect!["error[E0106]: no type `imt`"],
        "(int, int7) -> int" => expect!["error[E0106]: no int has 7 bits"],
        "(int, float8) -> int" => expect!["error[E0106]: no float has 8 bits"],
        "(int, intx6) -> int" => expect!["error[E0106]: no vector has `6` components"],
        "(int, ) -> int" => expect!["error[E0106]: no type ``"],
        _ => {
            expect!["error[E0111]: the result has the opcode's own width, but no operand gives it"]
        }
    }
}

#[test]
fn meanings_sizes_and_properties() {
    check(
        &op_with("no eval"),
        expect![[r#"
        error[E0110]: `f` has neither `eval` nor `quad`
         --> t.toml:4:9
        4 | name = "f"
          |         ^
    "#]],
    );
    check(
        &op_with("quad = \"ddx\""),
        expect![[r#"
        error[E0110]: an opcode has `eval` or `quad`, not both
         --> t.toml:6:9
        6 | eval = "a + b"
          |         ^^^^^
    "#]],
    );
    check(
        &op_with("eval = \"a < b\""),
        expect![[r#"
        error[E0204]: this is `bool`, but the result is `int`
         --> t.toml:7:9
        7 | eval = "a < b"
          |         ^^^^^
    "#]],
    );
    check(
        &op_with("dom = \"a\""),
        expect![[r#"
        error[E0204]: this is `int`, but the result is `bool`
         --> t.toml:8:8
        8 | dom = "a"
          |        ^
    "#]],
    );
    check(
        &op_with("sizes = [7]"),
        expect![[r#"
        error[E0111]: no int has 7 bits
         --> t.toml:8:9
        8 | sizes = [7]
          |         ^^^
    "#]],
    );
    check(
        &op_with("sizes = []"),
        expect![[r#"
        error[E0111]: an opcode has at least one width
         --> t.toml:8:9
        8 | sizes = []
          |         ^^
    "#]],
    );
    check(
        &op_with("sig = \"(int32) -> int32\"\neval = \"a\"\nsizes = [32]"),
        expect![[r#"
        error[E0111]: every operand has its size, so there is no width to choose
         --> t.toml:8:9
        8 | sizes = [32]
          |         ^^^^
    "#]],
    );
    check(
        &op_with("sig = \"(int, uint) -> int\"\neval = \"a\"\nprops = [\"commutative\"]"),
        expect![[r#"
            error[E0112]: the first two operands are not of one type
             --> t.toml:8:11
            8 | props = ["commutative"]
              |           ^^^^^^^^^^^
        "#]],
    );
    check(
        &op_with("sig = \"(int) -> int\"\neval = \"a\"\nprops = [\"associative\"]"),
        expect![[r#"
            error[E0112]: not two or more operands, all of the result's type
             --> t.toml:8:11
            8 | props = ["associative"]
              |           ^^^^^^^^^^^
        "#]],
    );
    let quad = parse(&op_with(
        "no eval\nsig = \"(float) -> float\"\nquad = \"ddy_fine\"\nprops = [\"derivative\"]",
    ));
    assert_eq!(quad.ops[0].eval, Eval::Quad(Quad::DdyFine));
}

#[test]
fn spirv_forms() {
    check(
        &op_with("spirv = [{ args = \"ab\" }]"),
        expect![[r#"
        error[E0114]: a form is `op`, a core instruction, or `ext`, one of GLSL.std.450
         --> t.toml:8:10
        8 | spirv = [{ args = "ab" }]
          |          ^^^^^^^^^^^^^^^
    "#]],
    );
    check(
        &op_with("spirv = [{ op = \"OpI-Add\" }]"),
        expect![[r#"
        error[E0114]: `OpI-Add` is no instruction: its name without `Op`
         --> t.toml:8:18
        8 | spirv = [{ op = "OpI-Add" }]
          |                  ^^^^^^^
    "#]],
    );
    check(
        &op_with("spirv = [{ op = \"IAdd\", args = \"ac\" }]"),
        expect![[r#"
        error[E0115]: no operand `c`: they are a to b
         --> t.toml:8:34
        8 | spirv = [{ op = "IAdd", args = "ac" }]
          |                                  ^
    "#]],
    );
    check(
        &op_with("spirv = [{ op = \"IAdd\", outside = \"mask c\" }]"),
        expect![[r#"
        error[E0115]: `f` has no operand `c`
         --> t.toml:8:36
        8 | spirv = [{ op = "IAdd", outside = "mask c" }]
          |                                    ^^^^^^
    "#]],
    );
    check(
        &op_with("spirv = [{ op = \"IAdd\", outside = \"gard\" }]"),
        expect![[r#"
            error[E0109]: `outside` can't be `gard`, only `guard`, `expand`, `refuse`
             --> t.toml:8:36
            8 | spirv = [{ op = "IAdd", outside = "gard" }]
              |                                    ^^^^
            help: did you mean `guard`?
        "#]],
    );
    check(
        &op_with("spirv = [{ op = \"IAdd\", sizes = [24] }]"),
        expect![[r#"
        error[E0111]: `f` doesn't exist at 24 bits
         --> t.toml:8:33
        8 | spirv = [{ op = "IAdd", sizes = [24] }]
          |                                 ^^^^
    "#]],
    );
    check(
        &op_with("spirv = [{ op = \"IAdd\", exact = \"a\" }]"),
        expect![[r#"
        error[E0204]: this is `int`, but the result is `bool`
         --> t.toml:8:34
        8 | spirv = [{ op = "IAdd", exact = "a" }]
          |                                  ^
    "#]],
    );
    check(
        &op_with("spirv = [{ op = \"IAdd\", no = 1 }]"),
        expect![[r#"
        error[E0102]: nothing reads the key `no`
         --> t.toml:8:25
        8 | spirv = [{ op = "IAdd", no = 1 }]
          |                         ^^
    "#]],
    );
    check(
        &op_with("spirv = { op = \"IAdd\" }"),
        expect![[r#"
        error[E0104]: `spirv` is a list of tables
         --> t.toml:8:9
        8 | spirv = { op = "IAdd" }
          |         ^^^^^^^^^^^^^^^
    "#]],
    );
}

#[test]
fn a_dialect_may_not_reuse_names() {
    let builtin = parse(&op_with(""));
    let file = TableFile::new("mine.toml", format!("deburr_opcodes = 1\n{}", op_with("")));
    let list = Tables::parse_over(std::slice::from_ref(&file), Some(&builtin)).unwrap_err();
    let text: String = list
        .iter()
        .map(|d| d.to_plain(|name| (name == "mine.toml").then_some(&*file.text)))
        .collect();
    expect![[r#"
        error[E0107]: `f` is given twice
         --> mine.toml:3:9
        3 | name = "f"
          |         ^
         --> t.toml: byte 56 first given here
    "#]]
    .assert_eq(&text);
}

#[test]
fn deep_toml_is_a_diagnostic() {
    let text = format!("x = {}{}", "[".repeat(10_000), "]".repeat(10_000));
    let list = Tables::parse(&[table(&text)]).unwrap_err();
    assert_eq!(list[0].code, E_TOML);
}
