use std::sync::Arc;

use super::*;

const FLOAT: Ty = Ty { base: Base::Float, width: Width::Bits, comps: 1 };
const INT: Ty = Ty { base: Base::Int, width: Width::Bits, comps: 1 };
const UINT: Ty = Ty { base: Base::Uint, width: Width::Bits, comps: 1 };

/// `i j`: int, `u v`: uint, `f g`: float, `p q`: bool, `n`: u32, `s`: f16, `w4`: four floats, `b3`: three bools.
fn scope() -> Scope<'static> {
    const F4: Ty = Ty { base: Base::Float, width: Width::Bits, comps: 4 };
    const B3: Ty = Ty { base: Base::Bool, width: Width::Fixed(1), comps: 3 };
    const F16: Ty = Ty { base: Base::Float, width: Width::Fixed(16), comps: 1 };
    Scope {
        vars: &[
            ("i", INT),
            ("j", INT),
            ("u", UINT),
            ("v", UINT),
            ("f", FLOAT),
            ("g", FLOAT),
            ("p", Ty::BOOL),
            ("q", Ty::BOOL),
            ("n", Ty::U32),
            ("s", F16),
            ("w4", F4),
            ("b3", B3),
        ],
        sizes: &[8, 16, 32, 64],
    }
}

fn source(text: &str) -> SourceText {
    let file: Arc<str> = "t".into();
    SourceText::new(&file, 0, text)
}

/// The tree with its type, or every error on a line of its own.
fn show(text: &str) -> String {
    match parse_expr_any(&source(text), &scope()) {
        Ok(expr) => format!("{expr}: {}", expr.ty),
        Err(errors) => errors.iter().map(|e| line(e, text)).collect::<Vec<_>>().join("\n"),
    }
}

fn line(error: &Diagnostic, text: &str) -> String {
    let at = text.get(error.span.range()).unwrap_or("?");
    let help = error.help.as_ref().map(|h| format!(" ({h})")).unwrap_or_default();
    format!("{} at `{at}`: {}{help}", error.code, error.message)
}

#[track_caller]
fn check(text: &str, expect: &str) {
    assert_eq!(show(text), expect, "{text}");
}

#[track_caller]
fn check_as(text: &str, expected: Ty, expect: &str) {
    let got = match parse_expr(&source(text), &scope(), expected) {
        Ok(expr) => format!("{expr}: {}", expr.ty),
        Err(errors) => errors.iter().map(|e| line(e, text)).collect::<Vec<_>>().join("\n"),
    };
    assert_eq!(got, expect, "{text}");
}

#[test]
fn precedence_is_rusts() {
    check("i + j * i - j", "((i + (j * i)) - j): int");
    check("u << 1 + 2 & v | u ^ v", "(((u << (0x1u32 + 0x2u32)) & v) | (u ^ v)): uint");
    check("i < j && f <= g || !p", "(((i < j) && (f <= g)) || (!p)): bool");
    check("-i as u32 + n", "(((-i) as u32) + n): u32");
    check(
        "if p { i } else if q { j } else { 1 }",
        "if p { i } else { if q { j } else { 0x1 } }: int",
    );
    check(
        "let t = i + 1; let r = t * t; r - t",
        "{ let t = (i + 0x1); { let r = (t * t); (r - t) } }: int",
    );
}

#[test]
fn literals_take_their_type_from_the_context() {
    check("u + 1", "(u + 0x1): uint");
    check("1 + u", "(0x1 + u): uint");
    check("n == 0xff", "(n == 0xffu32): bool");
    check("f * 2.0", "(f * 2.0): float");
    check("s * 0.5", "(s * 0.5f16): f16");
    check("i >> 3", "(i >> 0x3u32): int");
    check("i >> BITS - 1", "(i >> (BITS - 0x1u32)): int");
    check("1 as u64", "0x1u64: u64");
    check("(u >> 0) as u8 & 0xf", "(((u >> 0x0u32) as u8) & 0xfu8): u8");
    check("f == NAN", "(f == NAN): bool");
    check("if p { INT_MIN } else { -1 }", "if p { INT_MIN } else { (-0x1) }: int");
    check("-0.0 * s", "(-0.0f16 * s): f16");
    check("to_i32(f) == -1", "(to_i32(f) == (-0x1i32)): bool");
    check("1.5f32 as f16", "(1.5f32 as f16): f16");
    check("choose(1, u)", "choose(0x1, u): uint");
}

#[test]
fn vectors_map_and_reduce() {
    check("sum(w4 * w4)", "sum((w4 * w4)): float");
    check("w4 * f", "(w4 * f): floatx4");
    check("all(w4 == 0.0)", "all((w4 == 0.0)): bool");
    check("some(b3)", "some(b3): bool");
    check("w4.xyz", "[w4[0], w4[1], w4[2]]: floatx3");
    check("w4[3] + w4.x", "(w4[3] + w4[0]): float");
    check("(w4 + 1.0).wx", "{ let v12 = (w4 + 1.0); [v12[3], v12[0]] }: floatx2");
    check("[f, 1.0] * g", "([f, 1.0] * g): floatx2");
    check_as("any()", FLOAT.with_comps(3), "any(): floatx3");
    check_as("1.0", FLOAT.with_comps(2), "1.0: floatx2");
    check(
        "if all(b3) { w4 } else { fma(w4, f, 1.0) }",
        "if all(b3) { w4 } else { fma(w4, f, 1.0) }: floatx4",
    );
}

#[test]
fn primitives_are_typed_by_signature() {
    check("bits(f) ^ u", "(bits(f) ^ u): uint");
    check("from_bits(0x7e00u16)", "from_bits(0x7e00u16): f16");
    check("count_ones(u) + leading_zeros(i)", "(count_ones(u) + leading_zeros(i)): u32");
    check("abs(i) + abs(-1)", "(abs(i) + abs((-0x1))): int");
    check("abs(f)", "abs(f): float");
    check("scale_pow2(f, -1)", "scale_pow2(f, (-0x1i32)): float");
    check("round_to_f16_rtne(f)", "round_to_f16_rtne(f): f16");
    check("to_uint_sat(f) + u", "(to_uint_sat(f) + u): uint");
}

#[test]
fn type_errors_name_both_sides() {
    check("i + u", "E0204 at `i + u`: `int` and `uint` are different types");
    check("n + u", "E0204 at `n + u`: `u32` and `uint` are different types");
    check("f + 1", "E0204 at `f + 1`: `float` and `{integer}` are different types");
    check("i + 1.0", "E0204 at `i + 1.0`: `int` and `{float}` are different types");
    check("f & g", "E0204 at `f & g`: `&` doesn't work on `float`");
    check("p + q", "E0204 at `p + q`: `+` doesn't work on `bool`");
    check("!f", "E0204 at `f`: `!` doesn't work on `float`");
    check("i << f", "E0204 at `f`: `<<` doesn't work on `float`");
    check("if i { 1 } else { 2 }", "E0204 at `i`: a condition is `bool`, and this is `int`");
    check("sqrt(i)", "E0204 at `i`: operand of `sqrt` is `int`, not a float");
    check("fma(f, s, f)", "E0204 at `s`: operand of `fma` is `f16`, not `float`");
    check(
        "min(f, g)",
        "E0204 at `f`: operand of `min` is `float`, not an integer\nE0204 at `g`: operand of `min` is `float`, not an integer",
    );
    check("[i, u]", "E0204 at `u`: `uint` in a vector of `int`");
    check("let t: u32 = i; t", "E0204 at `i`: this is `int`, not `u32`");
    check_as("i", UINT, "E0204 at `i`: this is `int`, but the result is `uint`");
}

#[test]
fn component_errors() {
    check("w4 + [f, g]", "E0205 at `w4 + [f, g]`: vectors of 4 and of 2 components");
    check("f.x", "E0205 at `x`: a scalar has no components");
    check("b3.w", "E0205 at `w`: component 3 of a vector of 3");
    check("w4[4]", "E0205 at `w4[4]`: component 4 of a vector of 4");
    check("w4.rgb", "E0205 at `rgb`: `.rgb` is not made of x, y, z, w");
    check(
        "if b3 { 1u32 } else { 2 }",
        "E0205 at `b3`: a condition is a scalar: reduce it with `all` or `some`",
    );
    check("sum(f)", "E0205 at `f`: `sum` reduces a vector, and this is a scalar");
    check("[f]", "E0205 at `[f]`: a vector has 2 to 16 components, not 1");
    check(
        "[w4, w4]",
        "E0205 at `w4`: a component is a scalar, and this is a vector\nE0205 at `w4`: a component is a scalar, and this is a vector",
    );
    check_as("w4", FLOAT, "E0205 at `w4`: this has 4 components, but the result has 1");
}

#[test]
fn unknown_names_get_suggestions() {
    check("sqr(f)", "E0203 at `sqr`: no primitive `sqr` (did you mean `sqrt`?)");
    check("BIT + n", "E0203 at `BIT`: `BIT` is unknown (did you mean `BITS`?)");
    check(
        "sqrt + f",
        "E0203 at `sqrt`: `sqrt` is unknown (`sqrt` is a primitive: call it, `sqrt(…)`)",
    );
    check("f as f23", "E0203 at `f23`: no type `f23` (did you mean `f32`?)");
    check("{ let t = 1u8; t } + t", "E0203 at `t`: `t` is unknown");
    check(
        "nowhere(f) + elsewhere",
        "E0203 at `nowhere`: no primitive `nowhere`\nE0203 at `elsewhere`: `elsewhere` is unknown",
    );
}

#[test]
fn arity_ambiguity_literals_casts() {
    check("fma(f, g)", "E0206 at `fma(f, g)`: `fma` takes 3 operands, not 2");
    check("any(1)", "E0206 at `any(1)`: `any` takes 0 operands, not 1");
    check(
        "1 == 2",
        "E0207 at `1`: nothing says what type this `{integer}` is (give a literal a suffix, as in `1u32`, or a `let` a type)",
    );
    check(
        "1.0 < 2.0",
        "E0207 at `1.0`: nothing says what type this `{float}` is (give a literal a suffix, as in `1u32`, or a `let` a type)",
    );
    check(
        "u & 0xff00",
        "E0208 at `0xff00`: literal doesn't fit `uint` where BITS is 8 (write it at a width that holds it: `… as uint`, with `u64` inside)",
    );
    check("200i8", "E0208 at `200i8`: literal doesn't fit `i8`");
    check("-128i8", "(-0x80i8): i8");
    check("0xffi8", "0xffi8: i8");
    check("1x7", "E0201 at `x7`: no literal has the suffix `x7`");
    check(
        "f as i32",
        "E0209 at `f as i32`: no conversion from `float` to `i32` (say what happens out of range: `to_i32(x)` or `to_i32_sat(x)`)",
    );
    check("i as bool", "E0209 at `i as bool`: no conversion from `int` to `bool` (compare with 0)");
}

#[test]
fn syntax_errors_have_places() {
    check("i +", "E0201 at ``: unexpected end of input, expected an expression");
    check("(i", "E0201 at ``: not a sequence of tokens: a bracket or quote isn't closed");
    check("i j", "E0201 at `j`: expected an operator or the end");
    check("i < j < i", "E0201 at `<`: compares can't be chained: use `&&` or parentheses");
    check(
        "if p { i }",
        "E0201 at ``: unexpected end of input, an `if` needs an `else`: every expression has a value",
    );
    check("w4[n]", "E0201 at `n`: expected integer literal");
    check("\"text\"", "E0201 at `\"text\"`: only integers, floats and bools are literals");
    check("let t = i", "E0201 at ``: expected `;`");
    check("(i; j)", "E0201 at `;`: expected an operator or a closing bracket");
    check("99999999999999999999", "E0201 at `99999999999999999999`: literal above 64 bits");
    check("", "E0201 at ``: unexpected end of input, expected an expression");
}

#[test]
fn deep_input_is_a_diagnostic() {
    for (open, close) in [
        ("(", ")"),
        ("-", ""),
        ("!", ""),
        ("{", "}"),
        ("abs(", ")"),
        ("[", "]"),
        ("if p { ", " } else { j }"),
        ("i + (", ")"),
        ("let t = ", "; t"),
    ] {
        for depth in [200, 20_000] {
            let text = format!("{}i{}", open.repeat(depth), close.repeat(depth));
            let errors = parse_expr_any(&source(&text), &scope()).expect_err(open);
            assert!(errors[0].code == E_DEPTH || errors[0].code == E_SYNTAX, "{open}: {errors:?}");
        }
    }
    for (step, tail) in
        [(" + i", ""), (" as u8", ""), (".x", ""), ("[0]", ""), (" < i", ""), (" && p", "")]
    {
        let text = format!("i{}{tail}", step.repeat(20_000));
        assert!(parse_expr_any(&source(&text), &scope()).is_err(), "{step}");
    }
    let text = format!("{}i", "if p { i } else ".repeat(10_000));
    assert!(parse_expr_any(&source(&text), &scope()).is_err());
    let text = "let t = i; ".repeat(10_000) + "t";
    assert_eq!(parse_expr_any(&source(&text), &scope()).unwrap_err()[0].code, E_DEPTH);
}

#[test]
fn printed_trees_read_back() {
    for text in [
        "let t = abs(i) - 1; if t < 0 && p { t << 3 } else { -t }",
        "sum(w4 * [f, g, 1.0, -0.0]) + NAN",
        "choose(to_int(f), any()) ^ INT_MIN",
        "mul_high(u, v) + (n as uint) + (p as uint)",
        "all(w4.xyz == w4.wzy) || some(b3)",
    ] {
        let expr = parse_expr_any(&source(text), &scope()).unwrap();
        let again = parse_expr(&source(&expr.to_string()), &scope(), expr.ty).unwrap();
        assert_eq!(again.to_string(), expr.to_string());
    }
}

#[test]
fn fixing_bits_leaves_no_open_width() {
    let expr = parse_expr_any(&source("u >> (BITS - 1)"), &scope()).unwrap();
    assert!(expr.mentions_bits());
    let fixed = expr.at(16);
    assert!(!fixed.mentions_bits());
    assert_eq!(fixed.to_string(), "(u >> (0x10u32 - 0x1u32))");
    assert_eq!(fixed.ty, Ty::by_name("u16").unwrap());
}

#[test]
fn one_admissible_size_is_that_size() {
    let scope = Scope { vars: &[("a", INT)], sizes: &[32] };
    let expr = parse_expr(&source("a + 1i32"), &scope, INT).unwrap();
    assert_eq!(expr.ty, Ty::by_name("i32").unwrap());
}

#[test]
fn the_primitive_table_is_well_formed() {
    for (index, prim) in Prim::ALL.iter().enumerate() {
        let info = prim.info();
        assert_eq!(*prim as usize, index);
        assert_eq!(Prim::by_name(info.name), Some(*prim), "names are unique");
        let words: Vec<&str> = info.sig.split(' ').collect();
        assert_eq!(words[words.len() - 2], "->", "{prim}");
        for word in words.iter().filter(|w| **w != "->") {
            assert!(
                matches!(*word, "F" | "U" | "S" | "I" | "N") || Ty::by_name(word).is_some(),
                "{prim}: {word}"
            );
        }
    }
}
