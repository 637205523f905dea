//! The round-trip law: what is read is written as the same instructions again.

#[path = "round_trip/addresses.rs"]
mod addresses;
mod asm;
#[path = "round_trip/classes.rs"]
mod classes;
#[path = "round_trip/floats.rs"]
mod floats;
#[path = "round_trip/fragment.rs"]
mod fragment;
#[path = "round_trip/images.rs"]
mod images;
#[path = "round_trip/memory.rs"]
mod memory;
#[path = "round_trip/narrow.rs"]
mod narrow;

use asm::{HEADER, assemble};
use deburr_spirv::{Module, ReadOptions, WriteOptions, read, write};
use expect_test::{Expect, expect};
use rspirv::binary::Disassemble;

/// The lines of the functions that `write` makes of a module.
fn body(module: &Module) -> String {
    let words = write(module, &WriteOptions::default()).expect("the module can be written");
    let text = rspirv::dr::load_words(words).expect("what is written is SPIR-V").disassemble();
    let body = text.lines().skip_while(|line| !line.contains("OpFunction "));
    body.map(|line| format!("{}\n", line.trim())).collect()
}

/// The lines of what is written of a module that have one of these in them.
fn written(text: &str, shown: &[&str]) -> String {
    let module = read(&assemble(text), &ReadOptions::default()).expect("the module can be read");
    deburr_ir_core::validate(&module).expect("the module is valid");
    let words = write(&module, &WriteOptions::default()).expect("the module can be written");
    let text = rspirv::dr::load_words(words).expect("what is written is SPIR-V").disassemble();
    let lines = text.lines().filter(|l| shown.iter().any(|s| l.contains(s)));
    lines.map(|l| format!("{l}\n")).collect()
}

fn check(text: &str, expected: Expect) {
    let module = read(&assemble(text), &ReadOptions::default()).expect("the module can be read");
    deburr_ir_core::validate(&module).expect("the module is valid");
    expected.assert_eq(&body(&module));
    let again = deburr_ir_core::parse(&module.to_string()).expect("the text is read");
    assert_eq!(body(&again), body(&module), "the text has all that the binary needs");
}

/// Beginning of a main function that loads `%a`, a word, behind the pointer `%out`.
const MAIN: &str = r"
    %main = OpFunction %void None %fn
    %start = OpLabel
    %out = OpAccessChain %ptr %buf %n0 %n0
    %a = OpLoad %u32 %out
";

fn check_main(code: &str, expected: Expect) {
    check(&format!("{HEADER}{MAIN}{code}\nOpReturn\nOpFunctionEnd"), expected);
}

#[test]
fn a_switch() {
    check_main(
        r"
        OpSelectionMerge %end None
        OpSwitch %a %other 1 %one 2 %two 3 %two
        %one = OpLabel
        OpStore %out %n7
        OpBranch %end
        %two = OpLabel
        OpStore %out %n8
        OpBranch %end
        %other = OpLabel
        OpStore %out %n9
        OpBranch %end
        %end = OpLabel",
        expect![[r#"
            %1 = OpFunction  %3  None %4
            %5 = OpLabel
            %15 = OpAccessChain  %14  %2 %13 %13
            %16 = OpLoad  %12  %15
            OpSelectionMerge %11 None
            OpSwitch %16 %9 1 %6 2 %8 3 %8
            %6 = OpLabel
            OpStore %15 %17
            OpBranch %11
            %8 = OpLabel
            OpStore %15 %18
            OpBranch %11
            %9 = OpLabel
            OpStore %15 %19
            OpBranch %11
            %11 = OpLabel
            OpReturn
            OpFunctionEnd
        "#]],
    );
}

#[test]
fn a_switch_whose_arms_meet_in_a_phi() {
    check_main(
        r"
        OpSelectionMerge %end None
        OpSwitch %a %end 1 %one 2 %two
        %one = OpLabel
        %x = OpIAdd %u32 %a %n7
        OpBranch %end
        %two = OpLabel
        %y = OpIMul %u32 %a %n8
        OpBranch %end
        %end = OpLabel
        %phi = OpPhi %u32 %n9 %start %x %one %y %two
        OpStore %out %phi",
        expect![[r#"
            %1 = OpFunction  %3  None %4
            %5 = OpLabel
            %15 = OpAccessChain  %14  %2 %13 %13
            %16 = OpLoad  %12  %15
            OpSelectionMerge %11 None
            OpSwitch %16 %11 1 %6 2 %8
            %6 = OpLabel
            %18 = OpIAdd  %12  %16 %17
            OpBranch %11
            %8 = OpLabel
            %20 = OpIMul  %12  %16 %19
            OpBranch %11
            %11 = OpLabel
            %21 = OpPhi  %12  %18 %6 %20 %8 %22 %5
            OpStore %15 %21
            OpReturn
            OpFunctionEnd
        "#]],
    );
}

/// The break makes a `once` of the switch.
#[test]
fn a_switch_that_is_left_early() {
    check_main(
        r"
        OpSelectionMerge %end None
        OpSwitch %a %other 1 %one 2 %two
        %one = OpLabel
        %c = OpIEqual %bool %a %n3
        OpSelectionMerge %rest None
        OpBranchConditional %c %end %rest
        %rest = OpLabel
        OpStore %out %n7
        OpBranch %end
        %two = OpLabel
        OpStore %out %n8
        OpBranch %end
        %other = OpLabel
        OpStore %out %n9
        OpBranch %end
        %end = OpLabel",
        expect![[r#"
            %1 = OpFunction  %3  None %4
            %5 = OpLabel
            %20 = OpAccessChain  %19  %2 %18 %18
            %21 = OpLoad  %17  %20
            OpSelectionMerge %16 None
            OpSwitch %21 %13 1 %7 2 %12
            %7 = OpLabel
            %23 = OpIEqual  %24  %21 %22
            OpBranchConditional %23 %16 %10
            %10 = OpLabel
            OpStore %20 %25
            OpBranch %16
            %12 = OpLabel
            OpStore %20 %26
            OpBranch %16
            %13 = OpLabel
            OpStore %20 %27
            OpBranch %16
            %16 = OpLabel
            OpReturn
            OpFunctionEnd
        "#]],
    );
}

/// The inner switch leaves the loop, the outer one goes on.
#[test]
fn switches_in_a_loop() {
    check_main(
        r"
        OpBranch %head
        %head = OpLabel
        OpLoopMerge %end %next None
        OpBranch %body
        %body = OpLabel
        %b = OpLoad %u32 %out
        OpSelectionMerge %after None
        OpSwitch %b %after 1 %one 2 %two
        %one = OpLabel
        OpSelectionMerge %inner None
        OpSwitch %a %inner 7 %leave 8 %leave
        %leave = OpLabel
        OpBranch %end
        %inner = OpLabel
        OpBranch %after
        %two = OpLabel
        OpBranch %next
        %after = OpLabel
        OpStore %out %n8
        OpBranch %next
        %next = OpLabel
        OpBranch %head
        %end = OpLabel",
        expect![[r#"
            %1 = OpFunction  %3  None %4
            %5 = OpLabel
            %22 = OpAccessChain  %21  %2 %20 %20
            %23 = OpLoad  %19  %22
            OpBranch %6
            %6 = OpLabel
            OpLoopMerge %17 %16 None
            OpBranch %18
            %18 = OpLabel
            %24 = OpLoad  %19  %22
            OpSelectionMerge %15 None
            OpSwitch %24 %15 1 %7 2 %12
            %7 = OpLabel
            OpSelectionMerge %10 None
            OpSwitch %23 %10 7 %8 8 %8
            %8 = OpLabel
            OpBranch %17
            %10 = OpLabel
            OpBranch %15
            %12 = OpLabel
            OpBranch %16
            %15 = OpLabel
            OpStore %22 %25
            OpBranch %16
            %16 = OpLabel
            OpBranch %6
            %17 = OpLabel
            OpReturn
            OpFunctionEnd
        "#]],
    );
}

/// A bare comparison stays one.
#[test]
fn an_if() {
    check_main(
        r"
        %c = OpIEqual %bool %a %n3
        OpSelectionMerge %end None
        OpBranchConditional %c %yes %end
        %yes = OpLabel
        OpStore %out %n8
        OpBranch %end
        %end = OpLabel",
        expect![[r#"
            %1 = OpFunction  %3  None %4
            %5 = OpLabel
            %12 = OpAccessChain  %11  %2 %10 %10
            %13 = OpLoad  %9  %12
            %15 = OpIEqual  %16  %13 %14
            OpSelectionMerge %8 None
            OpBranchConditional %15 %6 %8
            %6 = OpLabel
            OpStore %12 %17
            OpBranch %8
            %8 = OpLabel
            OpReturn
            OpFunctionEnd
        "#]],
    );
}

/// A conditional break at a loop's end needs no block behind it, and OpLoopMerge may stand in the header.
#[test]
fn a_loop_that_tests_at_its_end() {
    check_main(
        r"
        OpBranch %head
        %head = OpLabel
        %i = OpPhi %u32 %n0 %start %i1 %next
        OpLoopMerge %end %next 1
        OpBranch %body
        %body = OpLabel
        %i1 = OpIAdd %u32 %i %n1
        OpStore %out %i1
        %c = OpULessThan %bool %i1 %n9
        OpBranchConditional %c %next %end
        %next = OpLabel
        OpBranch %head
        %end = OpLabel",
        expect![[r#"
            %1 = OpFunction  %3  None %4
            %5 = OpLabel
            %15 = OpAccessChain  %14  %2 %13 %13
            %16 = OpLoad  %12  %15
            OpBranch %6
            %6 = OpLabel
            %17 = OpPhi  %12  %13 %5 %18 %10
            %18 = OpIAdd  %12  %17 %19
            OpStore %15 %18
            %21 = OpULessThan  %22  %18 %20
            OpLoopMerge %11 %10 Unroll
            OpBranchConditional %21 %10 %11
            %10 = OpLabel
            OpBranch %6
            %11 = OpLabel
            OpReturn
            OpFunctionEnd
        "#]],
    );
}

#[test]
fn hints_on_selections() {
    check_main(
        r"
        %c = OpULessThan %bool %a %n3
        OpSelectionMerge %end 2
        OpBranchConditional %c %yes %end
        %yes = OpLabel
        OpStore %out %n8
        OpBranch %end
        %end = OpLabel",
        expect![[r#"
            %1 = OpFunction  %3  None %4
            %5 = OpLabel
            %12 = OpAccessChain  %11  %2 %10 %10
            %13 = OpLoad  %9  %12
            %15 = OpULessThan  %16  %13 %14
            OpSelectionMerge %8 DontFlatten
            OpBranchConditional %15 %6 %8
            %6 = OpLabel
            OpStore %12 %17
            OpBranch %8
            %8 = OpLabel
            OpReturn
            OpFunctionEnd
        "#]],
    );
}

/// The header of the loop ends with a selection of its own, which needs no merge.
#[test]
fn hints_on_a_loop_are_not_for_the_if_in_its_header() {
    check_main(
        r"
        OpBranch %head
        %head = OpLabel
        %i = OpPhi %u32 %n0 %start %next %cont
        %c = OpULessThan %bool %a %i
        OpLoopMerge %end %cont 4
        OpBranchConditional %c %done %body
        %done = OpLabel
        OpStore %out %i
        OpReturn
        %body = OpLabel
        %l = OpLoad %u32 %out
        %next = OpIAdd %u32 %i %l
        %d = OpIEqual %bool %next %n1
        OpBranchConditional %d %end %cont
        %cont = OpLabel
        OpBranch %head
        %end = OpLabel",
        expect![[r#"
            %1 = OpFunction  %3  None %4
            %5 = OpLabel
            %19 = OpAccessChain  %18  %2 %17 %17
            %20 = OpLoad  %16  %19
            OpBranch %6
            %6 = OpLabel
            %21 = OpPhi  %16  %17 %5 %22 %13
            OpLoopMerge %14 %13 DependencyInfinite
            OpBranch %15
            %15 = OpLabel
            %23 = OpULessThan  %24  %20 %21
            OpSelectionMerge %12 None
            OpBranchConditional %23 %7 %8
            %7 = OpLabel
            OpStore %19 %21
            OpReturn
            %8 = OpLabel
            %25 = OpLoad  %16  %19
            %22 = OpIAdd  %16  %21 %25
            %27 = OpIEqual  %24  %22 %26
            OpBranchConditional %27 %14 %12
            %12 = OpLabel
            OpBranch %13
            %13 = OpLabel
            OpBranch %6
            %14 = OpLabel
            OpReturn
            OpFunctionEnd
        "#]],
    );
}

/// The second rung, which nothing leads to, is no arm of the switch: an arm without literals has no edge to the phi.
#[test]
fn a_rung_whose_literals_are_known() {
    check_main(
        r"
        %c = OpIEqual %bool %a %n1
        %d = OpIEqual %bool %a %n2
        %any = OpLogicalOr %bool %c %d
        OpSelectionMerge %end None
        OpBranchConditional %any %one %else
        %one = OpLabel
        %x = OpIAdd %u32 %a %n7
        OpBranch %end
        %else = OpLabel
        %again = OpIEqual %bool %a %n1
        OpSelectionMerge %inner None
        OpBranchConditional %again %inner %other
        %other = OpLabel
        %y = OpIMul %u32 %a %n8
        OpBranch %inner
        %inner = OpLabel
        %z = OpPhi %u32 %n9 %else %y %other
        OpBranch %end
        %end = OpLabel
        %phi = OpPhi %u32 %x %one %z %inner
        OpStore %out %phi",
        expect![[r#"
            %1 = OpFunction  %3  None %4
            %5 = OpLabel
            %15 = OpAccessChain  %14  %2 %13 %13
            %16 = OpLoad  %12  %15
            OpSelectionMerge %11 None
            OpSwitch %16 %7 1 %6 2 %6
            %6 = OpLabel
            %18 = OpIAdd  %12  %16 %17
            OpBranch %11
            %7 = OpLabel
            %20 = OpIEqual  %21  %16 %19
            OpSelectionMerge %10 None
            OpBranchConditional %20 %10 %9
            %9 = OpLabel
            %23 = OpIMul  %12  %16 %22
            OpBranch %10
            %10 = OpLabel
            %24 = OpPhi  %12  %25 %7 %23 %9
            OpBranch %11
            %11 = OpLabel
            %26 = OpPhi  %12  %18 %6 %24 %10
            OpStore %15 %26
            OpReturn
            OpFunctionEnd
        "#]],
    );
}

/// What is said of a function is said once, however many entry points it is.
#[test]
fn two_entry_points_of_one_function() {
    let other = "OpEntryPoint GLCompute %main \"other\"\nOpExecutionMode %main LocalSize";
    let header = HEADER.replacen("OpExecutionMode %main LocalSize", other, 1);
    let text = format!("{header}{MAIN}OpReturn\nOpFunctionEnd");
    expect![[r#"
        OpEntryPoint GLCompute %1 "main"
        OpEntryPoint GLCompute %1 "other"
        OpExecutionMode %1 LocalSize 1 1 1
    "#]]
    .assert_eq(&written(&text, &["OpEntryPoint", "OpExecutionMode"]));
}

#[test]
fn promises_not_to_wrap() {
    let header = HEADER.replacen(
        "OpDecorate %block Block",
        "OpDecorate %block Block\nOpDecorate %x NoSignedWrap\nOpDecorate %y NoUnsignedWrap",
        1,
    );
    let code = r"
        %x = OpIAdd %u32 %a %n1
        %y = OpShiftLeftLogical %u32 %x %n2
        %z = OpIMul %u32 %y %n7
        OpStore %out %z";
    let text = format!("{header}{MAIN}{code}\nOpReturn\nOpFunctionEnd");
    expect![[r#"
        OpDecorate %12 NoSignedWrap
        OpDecorate %14 NoUnsignedWrap
        %12 = OpIAdd  %6  %10 %11
        %14 = OpShiftLeftLogical  %6  %12 %13
        %16 = OpIMul  %6  %14 %15
    "#]]
    .assert_eq(&written(&text, &["Wrap", "OpIAdd", "OpShift", "OpIMul"]));
}
