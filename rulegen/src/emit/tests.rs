use expect_test::{Expect, expect};

use super::*;
use crate::emit::dialect::DialectOptions;
use crate::tables::{TableFile, Tables};

/// The real tables, and what every generator makes of them.
fn generate() -> Vec<String> {
    let read = |name: &str, text: &str| TableFile::new(name, text);
    let files = [
        read("opcodes.toml", include_str!("../../../opcodes.toml")),
        read("intrinsics.toml", include_str!("../../../intrinsics.toml")),
    ];
    let tables = Tables::parse(&files).expect("the repository's tables are right");
    let options = DialectOptions { name: "d".to_owned(), first: 0x4000, path: CratePath::Outside };
    vec![
        opcodes::opcodes(&tables),
        intrinsics::intrinsics(&tables),
        fold::fold(&tables, CratePath::Inside),
        dialect::dialect(&tables, &options),
    ]
}

#[test]
fn generation_is_deterministic_and_free_of_paths() {
    let (first, second) = (generate(), generate());
    assert!(first == second, "two generations are equal");
    for text in first {
        assert!(!text.contains(env!("CARGO_MANIFEST_DIR")), "no path of the building machine");
        let place =
            text.lines().filter(|line| line.trim_start().starts_with("// opcodes.toml:")).count();
        let intrinsic = text
            .lines()
            .filter(|line| line.trim_start().starts_with("// intrinsics.toml:"))
            .count();
        assert!(place + intrinsic > 200, "items carry their places");
    }
}

/// The folder of one opcode.
#[track_caller]
fn check(lines: &str, expect: Expect) {
    let text = format!("deburr_opcodes = 1\n[[op]]\nname = \"f\"\ndoc = \"D.\"\n{lines}\n");
    let tables =
        Tables::parse(&[TableFile::new("t.toml", text)]).unwrap_or_else(|e| panic!("{e:?}"));
    let all = fold::fold(&tables, CratePath::Inside);
    let (_, folders) = all.split_once("pub fn ").expect("there is a folder");
    expect.assert_eq(folders);
}

#[test]
fn folders_of_numbers() {
    check(
        "sig = \"(int, uint32) -> int\"\neval = \"if b < 3 { -a >> b } else { a + 1 }\"",
        expect![[r#"
            f(_cx: &mut Cx, bits: u32, comp: usize, srcs: &[&[u64]], out: &mut [u64]) {
                let a = srcs[0][comp];
                let b = srcs[1][comp];
                out[comp] = if b < 3 {
                    prim::ishr(bits, prim::ineg(bits, a), b)
                } else {
                    prim::iadd(bits, a, 1)
                };
            }
        "#]],
    );
    check(
        "sig = \"(uint) -> uint32\"\neval = \"(a ^ UINT_MAX) as u32 + count_ones(a) * BITS\"",
        expect![[r#"
            f(_cx: &mut Cx, bits: u32, comp: usize, srcs: &[&[u64]], out: &mut [u64]) {
                let a = srcs[0][comp];
                out[comp] = prim::iadd(32, prim::trunc(32, a ^ prim::trunc(bits, u64::MAX)), prim::imul(32, prim::count_ones(bits, a), u64::from(bits)));
            }
        "#]],
    );
    check(
        "sig = \"(int) -> int64\"\neval = \"a as i64 * 2\"\nnsw = \"a > INT_MIN\"",
        expect![[r#"
            f(_cx: &mut Cx, bits: u32, comp: usize, srcs: &[&[u64]], out: &mut [u64]) {
                let a = srcs[0][comp];
                out[comp] = prim::imul(64, prim::trunc(64, prim::sext(bits, a)), 2);
            }

            // t.toml:3
            /// Whether the signed result doesn't overflow, of `f`: 1 or 0.
            pub fn f_nsw(_cx: &mut Cx, bits: u32, comp: usize, srcs: &[&[u64]], out: &mut [u64]) {
                let a = srcs[0][comp];
                out[comp] = u64::from(prim::ilt(bits, 1u64 << (bits - 1), a));
            }
        "#]],
    );
}

#[test]
fn calls_that_take_the_context_are_bound() {
    check(
        "sig = \"(float, float) -> float\"\neval = \"fma(a * b, a, sqrt(b)) + 1.5\"",
        expect![[r#"
            f(cx: &mut Cx, bits: u32, comp: usize, srcs: &[&[u64]], out: &mut [u64]) {
                let a = srcs[0][comp];
                let b = srcs[1][comp];
                let t1: u64 = prim::fmul(cx, bits, a, b);
                let t2: u64 = prim::sqrt(cx, bits, b);
                let t3: u64 = prim::fma(cx, bits, t1, a, t2);
                out[comp] = prim::fadd(cx, bits, t3, prim::fconst(bits, 1.5));
            }
        "#]],
    );
    check(
        "sig = \"(float) -> bool\"\nsizes = [16, 32]\neval = \"a > 0.0 && sqrt(a) < 2.0 || is_nan(a) && a != a\"",
        expect![[r#"
            f(cx: &mut Cx, bits: u32, comp: usize, srcs: &[&[u64]], out: &mut [u64]) {
                let a = srcs[0][comp];
                let t1: bool = prim::flt(cx, bits, prim::fconst(bits, 0.0), a);
                let t3: bool = t1 && {
                    let t2: u64 = prim::sqrt(cx, bits, a);
                    prim::flt(cx, bits, t2, prim::fconst(bits, 2.0))
                };
                out[comp] = prim::from_bool(bits, t3 || (prim::is_nan(bits, a) && (!prim::feq(cx, bits, a, a))));
            }
        "#]],
    );
    check(
        "sig = \"(float, bool32) -> float16\"\neval = \"choose(a as f16, if b { NAN } else { any() })\"",
        expect![[r#"
            f(cx: &mut Cx, bits: u32, comp: usize, srcs: &[&[u64]], out: &mut [u64]) {
                let a = srcs[0][comp];
                let b = srcs[1][comp] != 0;
                let t1: u64 = prim::f2f(cx, bits, 16, a);
                let t2: u64 = if b {
                    cx.nan = true;
                    prim::nan(16)
                } else {
                    prim::any(cx)
                };
                out[comp] = prim::choose(cx, t1, t2);
            }
        "#]],
    );
}

#[test]
fn folders_of_vectors() {
    check(
        "sig = \"(floatx4, floatx4) -> floatx1\"\neval = \"sum(a * b)\"",
        expect![[r#"
        f(cx: &mut Cx, bits: u32, _comp: usize, srcs: &[&[u64]], out: &mut [u64]) {
            let a = srcs[0];
            let b = srcs[1];
            let mut t1: u64 = prim::fmul(cx, bits, a[0], b[0]);
            let t2: u64 = prim::fmul(cx, bits, a[1], b[1]);
            t1 = prim::fadd(cx, bits, t1, t2);
            let t3: u64 = prim::fmul(cx, bits, a[2], b[2]);
            t1 = prim::fadd(cx, bits, t1, t3);
            let t4: u64 = prim::fmul(cx, bits, a[3], b[3]);
            t1 = prim::fadd(cx, bits, t1, t4);
            out[0] = t1;
        }
    "#]],
    );
    check(
        "sig = \"(intx8, intx8) -> bool8x1\"\neval = \"all(a == b)\"",
        expect![[r#"
        f(_cx: &mut Cx, _bits: u32, _comp: usize, srcs: &[&[u64]], out: &mut [u64]) {
            let a = srcs[0];
            let b = srcs[1];
            let mut t1 = true;
            for i2 in 0..8 {
                t1 &= a[i2] == b[i2];
            }
            out[0] = prim::from_bool(8, t1);
        }
    "#]],
    );
    check(
        "sig = \"(floatx3, floatx3) -> floatx3\"\neval = \"let t = a * 2.0; if all(t == b) { t } else { b.zyx }\"",
        expect![[r#"
            f(cx: &mut Cx, bits: u32, _comp: usize, srcs: &[&[u64]], out: &mut [u64]) {
                let a = srcs[0];
                let b = srcs[1];
                let mut t_2 = [0u64; 3];
                for i1 in 0..3 {
                    t_2[i1] = prim::fmul(cx, bits, a[i1], prim::fconst(bits, 2.0));
                }
                let mut t2 = true;
                for i3 in 0..3 {
                    t2 &= prim::feq(cx, bits, t_2[i3], b[i3]);
                }
                if t2 {
                    for i4 in 0..3 {
                        out[i4] = t_2[i4];
                    }
                } else {
                    out[0] = b[2];
                    out[1] = b[1];
                    out[2] = b[0];
                }
            }
        "#]],
    );
}

#[cfg(feature = "print")]
#[test]
fn an_opcode_is_shown_with_all_that_is_made_of_it() {
    let text = "deburr_opcodes = 1\n[[op]]\nname = \"f\"\nsig = \"(int, uint32) -> int\"\neval = \"a << b\"\n\
                dom = \"b < BITS\"\ndoc = \"D.\"\n";
    let tables = Tables::parse(&[TableFile::new("t.toml", text)]).unwrap();
    assert_eq!(expand(&tables, "g"), None);
    expect![[r#"
        // t.toml:3
        static INFO: AluInfo = AluInfo {
            name: "f",
            output: AluType {
                base: BaseType::Int,
                bits: 0,
                comps: 0,
            },
            inputs: &[
                AluType {
                    base: BaseType::Int,
                    bits: 0,
                    comps: 0,
                },
                AluType {
                    base: BaseType::Uint,
                    bits: 32,
                    comps: 0,
                },
            ],
            props: AluProps::DOMAIN,
            sizes: &[8, 16, 32, 64],
            convergent: Convergent::None,
            cost: 1,
            fold: Some(fold::f),
            dom: Some(fold::f_dom),
            nsw: None,
            nuw: None,
            spirv: &[],
            doc: "D.",
        };

        ///`f(int, uint32) -> int`
        pub fn f(_cx: &mut Cx, bits: u32, comp: usize, srcs: &[&[u64]], out: &mut [u64]) {
            let a = srcs[0][comp];
            let b = srcs[1][comp];
            out[comp] = prim::shl(bits, a, b);
        }

        ///Whether the operands are in the domain, of `f`: 1 or 0.
        pub fn f_dom(_cx: &mut Cx, bits: u32, comp: usize, srcs: &[&[u64]], out: &mut [u64]) {
            let b = srcs[1][comp];
            out[comp] = u64::from(b < u64::from(bits));
        }

        impl Builder<'_> {
            ///`f(int, uint32) -> int`: D.
            pub fn f(&mut self, a: Def, b: Def) -> Def {
                self.alu(AluOp::F, &[a, b])
            }
        }
    "#]]
    .assert_eq(&expand(&tables, "f").unwrap());
}
