//! B 6, the part about `explain`: small modules, each with a rule that fires or doesn't, and what must be named: the
//! test that fails, the value seen there, the rule that came first.

use super::corpus::{Deburr, start};
use std::process::Command;

/// A case: rules of its own, the rule that is asked for, the code, more arguments, and what the answer must have.
pub struct Case {
    name: &'static str,
    rules: &'static str,
    rule: &'static str,
    code: &'static str,
    args: &'static [&'static str],
    says: &'static [&'static str],
}

/// What every module begins with: numbers `%p %q` are floats, `%x %y %z` integers, `%v` four floats.
const HEAD: &str = r#"deburr_ir 1
decl_env spirv 1 3 Logical GLSL450
decl_capability Shader
shader vertex "main" entry(main) interface(&p, &q, &x, &y, &z, &v, &o)
decl_var in f32 &p (0)
decl_var in f32 &q (1)
decl_var in u32 &x (2)
decl_var in u32 &y (3)
decl_var in u32 &z (4)
decl_var in f32x4 &v (5)
decl_var out u32 &o (0)
decl_function main()
impl main {
  block b0:
    32 %dp = deref_var &p
    32 %dq = deref_var &q
    32 %dx = deref_var &x
    32 %dy = deref_var &y
    32 %dz = deref_var &z
    32 %dv = deref_var &v
    32 %do = deref_var &o
    32 %p = @load_deref %dp
    32 %q = @load_deref %dq
    32 %x = @load_deref %dx
    32 %y = @load_deref %dy
    32 %z = @load_deref %dz
    32x4 %v = @load_deref %dv
"#;
/// And ends with: `%r` is written.
const TAIL: &str = "    @store_deref %do, %r (write_mask=x)\n}\n";

/// One kind of answer after the other.
pub const CASES: &[Case] = &[
    Case {
        name: "matched",
        rules: "rule t: ixor(a:32, 77) => a;",
        rule: "t",
        code: "32 %c = load_const (77)\n32 %r = ixor %x, %c",
        args: &[],
        says: &["main: ixor(a, 77)\n  fired\n", "1 candidate: fired at 1, failed at 0"],
    },
    Case {
        name: "matched by the second right side",
        rules: "rule t: umax(m@iand(a, b), c) => c if once(m), b otherwise;",
        rule: "t",
        code: "32 %m = iand %x, %y\n32 %s = umax %m, %z\n32 %r = iadd %s, %m",
        args: &[],
        says: &["fired, with right side 2"],
    },
    Case {
        name: "opcode of an operand",
        rules: "rule t: isub(iand(a, b), c) => a;",
        rule: "t",
        code: "32 %m = ior %x, %y\n32 %r = isub %m, %z",
        args: &[],
        says: &[
            "main: isub(ior(a, b), c)\n  failed: opcode",
            "own.rules:2:14",
            "^^^^^^^^^^ `iand` is wanted",
            "there is: `ior(a, b)`",
        ],
    },
    Case {
        name: "an operand that is no operation",
        rules: "rule t: isub(iand(a, b), c) => a;",
        rule: "t",
        code: "32 %r = isub %x, %y",
        args: &[],
        says: &["failed: opcode", "there is: `a`, the result of `@load_deref`"],
    },
    Case {
        name: "an operand that another rule made",
        rules: "rule t: isub(imul(a, b), c) => a;",
        rule: "t",
        code: "32 %c = load_const (8)\n32 %m = imul %x, %c\n32 %r = isub %m, %y",
        args: &[],
        says: &["`imul` is wanted", "there is: `ishl(a, 3)`, made by `imul_pow2`"],
    },
    Case {
        name: "a constant expected",
        rules: "rule t: isub(a, #c) => c;",
        rule: "t",
        code: "32 %r = isub %x, %y",
        args: &[],
        says: &[
            "failed: constant",
            "^^ a constant for `c` is wanted",
            "there is: `b`, the result of",
        ],
    },
    Case {
        name: "a literal expected, no constant",
        rules: "rule t: isub(9, a:32) => a;",
        rule: "t",
        code: "32 %r = isub %x, %y",
        args: &[],
        says: &["failed: constant", "the constant `9` is wanted", "there is: `a`, the result of"],
    },
    Case {
        name: "the value of a literal",
        rules: "rule t: isub(9, a:32) => a;",
        rule: "t",
        code: "32 %c = load_const (7)\n32 %r = isub %c, %y",
        args: &[],
        says: &["failed: literal", "the constant `9` is wanted", "there is: the constant `7`"],
    },
    Case {
        name: "the sign of a zero",
        rules: "rule t: fmax(fabs(a), -0.0) => a;",
        rule: "t",
        code: "32 %c = load_const (0x0)\n32 %m = fabs %p\n32 %r = fmax %m, %c",
        args: &["--float", "strict"],
        says: &["failed: literal", "the constant `-0.0` is wanted", "there is: the constant `0.0`"],
    },
    Case {
        name: "a variable that stands for two values",
        rules: "rule t: isub(iand(a, b), a) => b;",
        rule: "t",
        code: "32 %m = iand %x, %y\n32 %r = isub %m, %z",
        args: &[],
        says: &[
            "failed: same",
            "`a` again, which is `a`, the result of",
            "there is: `c`, the result of",
        ],
    },
    Case {
        name: "a swizzle",
        rules: "rule t: isub(a.x, a.y) => a.x;",
        rule: "t",
        code: "32 %r = isub %v.x, %v.w",
        args: &[],
        says: &["failed: swizzle", "the components `y` is wanted", "there is: `w` of `a`"],
    },
    Case {
        name: "components of an operand",
        rules: "rule t: isub(vec2(a, b), c) => c;",
        rule: "t",
        code: "32x2 %m = vec2 %x, %y\n32x3 %s = isub %m.xyx, %v.xyz\n32 %r = iadd %s.x, %s.z",
        args: &["--passes", "algebraic"],
        says: &[
            "failed: components",
            "2 components of `isub` is wanted",
            "there is: xyz of `isub(",
        ],
    },
    Case {
        name: "a promise",
        rules: "rule t: isub.nsw(a, b) => a;",
        rule: "t",
        code: "32 %r = isub.nuw %x, %y",
        args: &[],
        says: &[
            "failed: promise",
            "the promise `nsw` on `isub` is wanted",
            "there is: `nuw` on `isub.nuw(",
        ],
    },
    Case {
        name: "a licence",
        rules: "rule t: fsub(a, b) => a with reassoc;",
        rule: "t",
        code: "32 %r = fsub.contract %p, %q",
        args: &[],
        says: &[
            "failed: licence",
            "the licence `reassoc` on `fsub` is wanted",
            "there is: `contract` on",
        ],
    },
    Case {
        name: "the float environment",
        rules: "rule t: fsub(a, b) => a where env(denorm = keep);",
        rule: "t",
        code: "32 %r = fsub %p, %q",
        args: &[],
        says: &[
            "failed: environment",
            "`env(denorm = keep)` is wanted",
            "denorm = any, round = any at 32 bits",
        ],
    },
    Case {
        name: "a size",
        rules: "rule t: isub(a:16, b) => a;",
        rule: "t",
        code: "32 %r = isub %x, %y",
        args: &[],
        says: &["failed: size", "16 bits for", "there is: 32 bits"],
    },
    Case {
        name: "a target option",
        rules: "rule t: isub(a, b) => a when target.lower_bitops;",
        rule: "t",
        code: "32 %r = isub %x, %y",
        args: &[],
        says: &[
            "failed: option",
            "^ `target.lower_bitops` is wanted",
            "there is: the target `spirv` hasn't it",
        ],
    },
    Case {
        name: "a fact that is false",
        rules: "rule t: isub(a, #c) => a where is_pow2(c);",
        rule: "t",
        code: "32 %c = load_const (12)\n32 %r = isub %x, %c",
        args: &[],
        says: &[
            "failed: fact",
            "^^^^^^^^^^ the fact `is_pow2(c)` is wanted",
            "there is: it doesn't hold: `c` is 12",
        ],
    },
    Case {
        name: "a fact of which nothing is known",
        rules: "rule t: isub(a, b) => a where nonneg(b);",
        rule: "t",
        code: "32 %r = isub %x, %y",
        args: &[],
        says: &["the fact `nonneg(b)`", "there is: it isn't known to hold: `b` may be anything"],
    },
    Case {
        name: "a fact of which something is known",
        rules: "rule t: isub(a, b) => a where ult(b, 32);",
        rule: "t",
        code: "32 %c = load_const (63)\n32 %m = iand %y, %c\n32 %r = isub %x, %m",
        args: &[],
        says: &["the fact `ult(b, 32)`", "it isn't known to hold: `b` is 0 to 63"],
    },
    Case {
        name: "profit: once",
        rules: "rule t: isub(m@iand(a, b), c) => a if once(m);",
        rule: "t",
        code: "32 %m = iand %x, %y\n32 %s = isub %m, %z\n32 %r = ixor %s, %m",
        args: &[],
        says: &["failed: profit", "`once(m)` is wanted", "`m` is used 2 times"],
    },
    Case {
        name: "profit: dies",
        rules: "rule t: isub(m@iand(a, b), c) => a if dies(m);",
        rule: "t",
        code: "32 %m = iand %x, %y\n32 %s = isub %m, %z\n32 %k = imul %m, %q\n32 %l = umax %k, %s\n32 %r = ixor %l, %k",
        args: &[],
        says: &["failed: profit", "`dies(m)` is wanted", "1 of them outside of what is replaced"],
    },
    Case {
        name: "profit: no constant",
        rules: "rule t: isub(a, b) => a if !is_const(a);",
        rule: "t",
        code: "32 %c = load_const (12)\n32 %r = isub %c, %x",
        args: &[],
        says: &["failed: profit", "`!is_const(a)` is wanted", "`a` is the constant `12`"],
    },
    Case {
        name: "profit: a number of uses",
        rules: "rule t: isub(m@iand(a, b), c) => a if uses(m) <= 2;",
        rule: "t",
        code: "32 %m = iand %x, %y\n32 %s = isub %m, %z\n32 %k = imul %m, %m\n32 %r = ixor %s, %k",
        args: &[],
        says: &["failed: profit", "`uses(m) <= 2` is wanted", "`m` is used 3 times"],
    },
    Case {
        name: "profit: kinds of users",
        rules: "rule t: isub(m@iand(a, b), c) => a if only_used_as(m, isub, umin);",
        rule: "t",
        code: "32 %m = iand %x, %y\n32 %s = isub %m, %z\n32 %k = imul %m, %q\n32 %r = ixor %s, %k",
        args: &[],
        says: &[
            "failed: profit",
            "`only_used_as(m, isub, umin)` is wanted",
            "`m` is used by imul, isub",
        ],
    },
    Case {
        name: "legality",
        rules: "rule t: fadd(fmul(a, b), c) => ffma(a, b, c) with contract allow E0378 \"a test\";",
        rule: "t",
        code: "32 %m = fmul.contract %p, %q\n32 %r = fadd.contract %m, %p",
        args: &[],
        says: &["failed: legality", "`ffma` of 32 bits to be legal", "the target `spirv` lacks it"],
    },
    Case {
        name: "another rule first",
        rules: "rule first: umax(a, a) => a;\nrule second: isub(a:32, #c) => { let k = 0 - c; } iadd(a, k);\n\
                rule t: isub(ior(a:32, b), b) => iand(a, inot(b));",
        rule: "t",
        code: "32 %c = load_const (5)\n32 %m = ior %x, %c\n32 %r = isub %m, %c",
        args: &[],
        says: &[
            "main: isub(ior(a, 5), 5)\n  matched, but another rule came first: `second` at own.rules:3",
            "another rule came first at 1",
        ],
    },
    Case {
        name: "another rule, where this one fails",
        rules: "rule other: isub(a, #c) => a where nonneg(c);\nrule t: isub(7, a:32) => a;",
        rule: "t",
        code: "32 %c = load_const (5)\n32 %r = isub %x, %c",
        args: &[],
        says: &["failed: constant", "another rule replaced it: `other` at own.rules:2"],
    },
    Case {
        name: "a rule that is off",
        rules: "rule t: isub(a, b) => a;",
        rule: "t",
        code: "32 %r = isub %x, %y",
        args: &["--disable-rule", "t"],
        says: &["failed: disabled", "the rule to be on is wanted", "there is: it is off"],
    },
    Case {
        name: "the order of operands",
        rules: "rule t: umin(iand(a:32, 3), c) => c;",
        rule: "t",
        code: "32 %c = load_const (5)\n32 %m = iand %x, %c\n32 %r = umin %z, %m",
        args: &[],
        says: &[
            "failed: literal",
            "the constant `3` is wanted",
            "there is: the constant `5`",
            "with operands exchanged: umin",
        ],
    },
    Case {
        name: "operands of a chain",
        rules: "rule t: ineg(ac(ixor: a, b, #c)) => c;",
        rule: "t",
        code: "32 %c = load_const (5)\n32 %m = ixor %x, %c\n32 %r = ineg %m",
        args: &[],
        says: &[
            "failed: chain",
            "a chain of 3 operands of `ixor` is wanted",
            "there is: 2 in `ixor(a, 5)`",
        ],
    },
    Case {
        name: "an operand of a chain",
        rules: "rule t: ac(ixor: a:32, ishl(b, 9)) => a;",
        rule: "t",
        code: "32 %c = load_const (5)\n32 %m = ishl %x, %c\n32 %s = ixor %y, %m\n32 %r = ixor %s, %z",
        args: &[],
        says: &["failed: literal", "the constant `9` is wanted", "there is: the constant `5`"],
    },
    Case {
        name: "a const index",
        rules: "rule t: isub(@reduce(a; reduction_op = umin), b) => b waive \"a test\";",
        rule: "t",
        code: "32 %m = @reduce %x (reduction_op=umax)\n32 %r = isub %m, %y",
        args: &[],
        says: &["failed: index", "`reduction_op = ", "` is wanted"],
    },
    Case {
        name: "an intrinsic",
        rules: "rule t: isub(@load_push_constant(o), b) => b;",
        rule: "t",
        code: "32 %r = isub %x, %y",
        args: &[],
        says: &[
            "failed: opcode",
            "`@load_push_constant` is wanted",
            "`a`, the result of `@load_deref`",
        ],
    },
    Case {
        name: "a phi",
        rules: "rule t: isub(phi(#c, #d), b) => b where differ(c, d);",
        rule: "t",
        code: "32 %m = imul %x, %y\n32 %r = isub %m, %y",
        args: &[],
        says: &["failed: opcode", "`phi` is wanted", "there is: `imul(a, b)`"],
    },
    Case {
        name: "an instance of a template",
        rules: "for (op) in [(umin), (umax)] { rule ${op}_t: op(a:32, iand(a, 3)) => a; }",
        rule: "umax_t",
        code: "32 %m = ior %x, %y\n32 %r = umax %m, %z",
        args: &[],
        says: &["failed: opcode", "`iand` is wanted", "`umax_t"],
    },
    Case {
        name: "a rule that is built in",
        rules: "",
        rule: "udiv_pow2",
        code: "32 %c = load_const (12)\n32 %r = udiv %x, %c",
        args: &[],
        says: &[
            "rules/pow2.rules:",
            "the fact `is_pow2(c)`",
            "`c` is 12",
            "`udiv_pow2` at rules/pow2.rules",
        ],
    },
    Case {
        name: "an operation that isn't there",
        rules: "rule t: isub(a, b) => a;",
        rule: "t",
        code: "32 %r = ixor %x, %y",
        args: &[],
        says: &["`t` at own.rules:2: the module has no `isub` when rules run"],
    },
    Case {
        name: "a group that isn't run",
        rules: "rule t: isub(a, b) => a group late;",
        rule: "t",
        code: "32 %r = isub %x, %y",
        args: &[],
        says: &["no pass that ran has the group `late`; `--passes algebraic_late` has it"],
    },
];

/// Runs every case, in both forms; gives how many there were, and what was missed.
pub fn run(deburr: &Deburr) -> Result<(usize, Vec<String>), String> {
    let (mut count, mut missed) = (0, Vec::new());
    let command = std::path::absolute(&deburr.path).map_err(|e| e.to_string())?;
    for case in CASES {
        count += 1;
        let code: String = case.code.lines().map(|line| format!("    {line}\n")).collect();
        let module = deburr.file("explain", "module.nir");
        let put = |path: &std::path::Path, text: String| {
            std::fs::write(path, text).map_err(|e| format!("{}: {e}", path.display()))
        };
        put(&module, format!("{HEAD}{code}{TAIL}"))?;
        let rules = module.with_file_name("own.rules");
        put(&rules, format!("rules 1\n{}\n", case.rules))?;
        let mut args = vec!["explain", case.rule, "module.nir"];
        args.extend(case.args);
        if !case.rules.is_empty() {
            args.extend(["--rules", "own.rules"]);
        }
        let folder = module.parent().unwrap_or(&module);
        let said = start(Command::new(&command).args(&args).current_dir(folder), &[])?;
        let text = said.text();
        for part in case.says.iter().filter(|part| !text.contains(**part)) {
            missed.push(format!("{}: `{part}` is missing in\n{text}{}", case.name, said.err));
        }
        // The same test in the other form.
        let test = text.split("failed: ").nth(1).and_then(|t| t.split_whitespace().next());
        if let Some(test) = test {
            args.push("--json");
            let said = start(Command::new(&command).args(&args).current_dir(folder), &[])?;
            let part = format!("\"test\":\"{test}\"");
            if !said.text().contains(&part) {
                missed.push(format!("{}: `{part}` is missing in\n{}", case.name, said.text()));
            }
        }
    }
    Ok((count, missed))
}
