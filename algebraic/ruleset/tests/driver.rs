//! What the driver brings back on its list: for each kind of change the smallest program on which a rule fires only if its
//! root gets another turn, by rules that the tree doesn't have.
//!
//! The rules are interpreted; both matchers run under one driver. `%0` to `%3` are given, `out` says what is needed.

use deburr_algebraic::interp::matcher::Interpreter;
use deburr_algebraic::{Group, Options, Rewriter, RuleSet, Target, Watch, run_with};
use deburr_ir_core::{Function, Instr};
use deburr_rulegen::rules::{Texts, model};
use std::fmt::Write;

/// The function of a program.
fn program(body: &str) -> Function {
    let mut text = String::from(
        "shader compute \"main\" entry(main) LocalSize(1, 1, 1)\ndecl_function main()\nimpl main {\n  block b0:\n",
    );
    for n in 0..4 {
        let _ = writeln!(text, "    32 %{n} = undef");
    }
    text.push_str("    32 %4 = load_const (0x0)\n");
    for line in body.lines() {
        match line.trim_start().strip_prefix("out ") {
            None => _ = writeln!(text, "    {line}"),
            Some(list) => {
                for value in list.split(", ") {
                    let _ = writeln!(text, "    @store_output {value}, %4 (write_mask=0)");
                }
            }
        }
    }
    text.push_str("}\n");
    let module =
        deburr_ir_core::parse(&text).unwrap_or_else(|errors| panic!("{}\n{text}", errors[0]));
    deburr_ir_core::validate(&module).unwrap_or_else(|errors| panic!("{errors:?}\n{text}"));
    module.functions.first().expect("there is one").clone()
}

/// The rules of a text, of group `opt`.
fn rules(text: &str) -> model::RuleSet {
    let texts = Texts {
        opcodes: deburr_ruleset::OPCODES,
        intrinsics: deburr_ruleset::INTRINSICS,
        rules: deburr_ruleset::SOURCES,
    };
    let set = texts.load().unwrap().rules_of("own.rules", &format!("rules 1\n{text}"));
    set.unwrap_or_else(|errors| panic!("{}", errors[0].message))
}

/// The rules that fire on a program, in order; nothing fires when they are run again.
fn fired(text: &str, body: &str) -> Vec<String> {
    let set = rules(text);
    let interpreter = Interpreter::new(&set, "opt").unwrap();
    let watch = Watch::of(&set, interpreter.group());
    let groups =
        vec![Group { name: "opt", doc: "", by_op: &[], dialect: &[], outside: &[], watch }];
    let hollow: &'static RuleSet =
        Box::leak(Box::new(RuleSet { groups: groups.leak(), ..*deburr_ruleset::rules() }));
    let mut f = program(body);
    let mut run = || {
        let mut fired = Vec::new();
        let mut turn = |cx: &mut Rewriter<'_>, instr: Instr| {
            let rule = interpreter.apply(cx, instr, |rule| rule);
            fired.extend(rule.map(|rule| set.rules[rule].name.clone()));
            rule.is_some()
        };
        let target = Target::generic("everything");
        run_with(&mut f, hollow, "opt", &target, &Options::default(), Some(&mut turn)).unwrap();
        fired
    };
    let (first, again) = (run(), run());
    assert_eq!(again, [""; 0], "not at the fixed point");
    first
}

/// A program in which a value loses a use after everything else had its turn: a product looks through a vector.
fn loses(value: &str, before: &str) -> String {
    format!("{before}\n32x2 %100 = vec2 {value}, %0\n32 %101 = imul %100.y, %3\nout %101")
}

/// The phi's second operand becomes a constant behind the root, which is arithmetic.
#[test]
fn changes_reach_roots_through_phis() {
    let fired = fired(
        "rule of_phi: iand(m@phi(0, #c:32), 8) => ixor(m, c);",
        "32 %8 = load_const (0x8)
         32 %20 = load_const (0xffffffff)
         loop {
         block b1:
           32 %21 = phi b0: %4, b6: %24
           32 %22 = iand %21, %8
           @store_output %22, %4 (write_mask=0)
           1 %23 = ult %22, %8
           if %23 {
           block b2:
             break
           } else {
           block b5:
           }
         block b3:
           32 %24 = ineg %20
         } continue {
         block b6:
         }",
    );
    assert_eq!(fired, ["of_phi"]);
}

/// An operand of an operand that is an intrinsic loses its second use.
#[test]
fn changes_reach_roots_through_intrinsics() {
    let body = "32 %9 = iadd %0, %1
                32 %10 = @read_first_invocation %9
                32 %11 = ineg %10
                out %11";
    let fired = fired(
        "rule first: ineg(@read_first_invocation(m@iadd(a, b))) => isub(a, b) if once(m);",
        &loses("%9", body),
    );
    assert_eq!(fired, ["first"]);
}

/// A value that one operation uses twice goes with it when its third use is gone.
#[test]
fn what_is_used_twice_by_the_root_goes_with_it() {
    let square = "rule square: imul(a, a) => ishl(a, 7) if dies(a);";
    let body = "32 %9 = ineg %0
                32 %10 = imul %9, %9
                out %10";
    assert_eq!(fired(square, body), ["square"]);
    assert_eq!(fired(square, &loses("%9", body)), ["square"]);
}

/// Going means going with the root: an operation beside it that has one user is no part of the match.
#[test]
fn users_beside_the_match_keep_a_value() {
    let rule = "rule sum: iadd(ineg(m@inot(a)), b) => isub(b, a) if dies(m);";
    let body = |more: &str| {
        format!(
            "32 %9 = inot %0
             32 %10 = ineg %9
             32 %11 = iadd %10, %1
             {more}
             out %11"
        )
    };
    assert_eq!(fired(rule, &body("")), ["sum"]);
    // A user outside that has one user itself.
    let none: [&str; 0] = [];
    assert_eq!(fired(rule, &body("32 %12 = imul %9, %2\nout %12")), none);
    // A matched user with another user.
    assert_eq!(fired(rule, &body("32 %12 = imul %10, %2\nout %12")), none);
    assert_eq!(fired(rule, &loses("%10", &body(""))), ["sum"]);
}

/// What would go with a root gets a user that stays, for which a rule waits.
#[test]
fn what_stays_may_be_waited_for() {
    let rules = "rule stays: ixor(m@ineg(a), b) => iadd(m, b) if !dies(m);\n\
                 rule spread: imul(ixor(a, b), c) => umin(a, c);";
    let body = "32 %9 = ineg %0
                32 %10 = ixor %9, %1
                32 %11 = imul %10, %2
                out %10, %11";
    assert_eq!(fired(rules, body), ["spread", "stays"]);
}

/// A value is shared by 65 sums and products; as many as are looked at are left when the last product goes.
#[test]
fn the_last_wrong_user_goes() {
    let rule = "rule sums: iadd(m@ineg(a), b) => isub(b, a) if only_used_as(m, iadd);";
    let mut body = "32 %9 = ineg %0\n".to_string();
    for n in 0..64 {
        let _ = writeln!(body, "32 %{} = iadd %9, %1\nout %{}", 200 + n, 200 + n);
    }
    assert_eq!(fired(rule, &loses("%9", &body)).len(), 64);
    body.push_str("32 %300 = iadd %9, %1\nout %300\n");
    assert_eq!(fired(rule, &body).len(), 0);
    assert_eq!(fired(rule, &loses("%9", &body)).len(), 0);
}

/// A count of uses jumps over the number that a rule asks for when a value takes the place of another.
#[test]
fn counts_that_jump_are_seen() {
    let rules = "rule shared: iadd(m@ineg(a), b) => isub(b, a) if uses(m) > 3;\n\
                 rule same: umax(a, a) => a;";
    let body = "32 %9 = ineg %0
                32 %10 = iadd %9, %1
                32 %11 = umax %9, %9
                out %10, %11, %11, %11, %11";
    assert_eq!(fired(rules, body), ["same", "shared"]);
}

/// The deepest value that a rule looks at loses a use.
#[test]
fn rules_of_any_depth_have_their_turn() {
    for depth in 1..12 {
        let (mut pattern, mut body) =
            ("m@iadd(a, b)".to_string(), "32 %9 = iadd %0, %1\n".to_string());
        for n in 0..depth {
            let op = ["ineg", "inot"][n % 2];
            pattern = format!("{op}({pattern})");
            let _ = writeln!(body, "32 %{} = {op} %{}", 10 + n, 9 + n);
        }
        let _ = writeln!(body, "out %{}", 9 + depth);
        let rule = format!("rule deep: {pattern} => ixor(a, b) if once(m);");
        assert_eq!(fired(&rule, &loses("%9", &body)), ["deep"], "{rule}");
    }
}

/// An operand at the lower end of a chain of four, under two other operations.
#[test]
fn chains_are_as_deep_as_they_are_long() {
    let rule = "rule end: iadd(ineg(ac(ixor: a, b, c, m@iabs(d))), e) => isub(e, d) if once(m);";
    let body = "32 %9 = iabs %0
                32 %10 = ixor %9, %0
                32 %11 = ixor %10, %1
                32 %12 = ixor %11, %2
                32 %13 = ineg %12
                32 %14 = iadd %13, %3
                out %14";
    assert_eq!(fired(rule, &loses("%9", body)), ["end"]);
    // The chain is a shorter one while one of its parts has another user.
    let rule = "rule end: iadd(ineg(ac(ixor: a, b, c, d)), e) => isub(e, d);";
    assert_eq!(fired(rule, &loses("%11", &body.replace("iabs %0", "imul %0, %1"))), ["end"]);
}

/// The whole pattern is a chain, of which the lowest operation has an operand that the rule asks for.
#[test]
fn whole_chains_are_looked_for_from_below() {
    let rule = "rule end: ac(ixor: a, m@ineg(iabs(b))) => iadd(a, b) if once(m);";
    let mut body = "32 %8 = iabs %0\n32 %9 = ineg %8\n32 %10 = ixor %9, %0\n".to_string();
    for n in 0..6 {
        let _ = writeln!(body, "32 %{} = ixor %{}, %{}", 11 + n, 10 + n, 1 + n % 3);
    }
    body.push_str("out %16");
    assert_eq!(fired(rule, &loses("%9", &body)), ["end"]);
}

/// A rule about what users read.
const UNREAD: &str = "rule unread: iand(a, #c) => a where bits_used(c);";

/// The low byte of a mask's result is read, through so many operations that only add, and all of it by the value that is
/// given back.
fn low_byte(sums: usize) -> String {
    let mut body =
        "32 %8 = load_const (0xff)\n32 %9 = load_const (24)\n32 %10 = iand %1, %8\n".to_string();
    for n in 0..sums {
        let _ = writeln!(body, "32 %{} = iadd %{}, %2", 11 + n, 10 + n);
    }
    let _ = writeln!(body, "32 %50 = ishl %{}, %9\nout %50", 10 + sums);
    body
}

/// The user that reads all goes.
#[test]
fn what_is_read_less_has_its_turn() {
    assert_eq!(fired(UNREAD, &low_byte(0)), ["unread"]);
    assert_eq!(fired(UNREAD, &loses("%10", &low_byte(0))), ["unread"]);
    let none: [&str; 0] = [];
    assert_eq!(fired(UNREAD, &format!("{}out %10", low_byte(0))), none);
}

/// The user that reads all is some levels above; further above nobody looks.
#[test]
fn what_is_read_less_from_afar_has_its_turn() {
    for sums in 1..=2 {
        let body = low_byte(sums);
        let top = format!("%{}", 10 + sums);
        assert_eq!(fired(UNREAD, &body), ["unread"], "{sums} sums");
        assert_eq!(fired(UNREAD, &loses(&top, &body)), ["unread"], "{sums} sums");
    }
    assert_eq!(fired(UNREAD, &low_byte(3)).len(), 0);
    // Two levels go, and the mask is near enough.
    let rules = format!("{UNREAD}\nrule twice: inot(inot(a)) => a;");
    let far = low_byte(2)
        .replace("= ishl %12", "= ishl %14")
        .replace("32 %50", "32 %13 = inot %12\n32 %14 = inot %13\n32 %50");
    assert_eq!(fired(&rules, &far), ["twice", "unread"]);
}

/// An operand becomes a constant, by which less is read of the other.
#[test]
fn a_constant_operand_reads_less_of_the_other() {
    let body = "32 %8 = load_const (0xff)
                32 %9 = iand %1, %8
                32 %10 = ixor %2, %2
                32 %11 = ior %10, %8
                32 %12 = iand %9, %11
                out %12";
    let rules = format!("rule same: ixor(a, a) => 0;\n{UNREAD}");
    assert_eq!(fired(&rules, body), ["same", "unread", "unread"][..2]);
    // It comes through a vector that is looked through.
    let body = "32 %8 = load_const (0xff)
                32 %9 = iand %1, %8
                32x2 %10 = vec2 %0, %8
                32 %11 = iand %9, %10.y
                out %11";
    assert_eq!(fired(UNREAD, body), ["unread"]);
}

/// What was known of values that came from the replaced one holds no longer: when `asks` looks, `%12` is small, and when
/// `small` does it isn't.
#[test]
fn facts_that_rest_on_unread_bits_are_forgotten() {
    let rules = format!(
        "{UNREAD}
         rule asks: ishl(a:32, #n) => imul(a, n) where ult(a, 300) if uses(a) > 5;
         rule small: ishl(m@iadd(ineg(a), b:32), #n) => imul(m, n) where ult(m, 300);"
    );
    let body = "32 %8 = load_const (0xff)
                32 %9 = load_const (24)
                32 %10 = ineg %1
                32 %11 = iand %10, %8
                32 %12 = iadd %11, %9
                32 %13 = ishl %12, %9
                out %13";
    assert_eq!(fired(&rules, &loses("%11", body)), ["unread"]);
    // Without the fact that rule fires.
    let rules = rules.replace(" where ult(m, 300)", "");
    assert_eq!(fired(&rules, &loses("%11", body)), ["unread", "small"]);
}
