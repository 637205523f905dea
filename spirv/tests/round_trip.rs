//! The round-trip law: what is read is written as the same instructions again.

mod asm;

use asm::assemble;
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

fn check(text: &str, expected: Expect) {
    let module = read(&assemble(text), &ReadOptions::default()).expect("the module can be read");
    deburr_ir_core::validate(&module).expect("the module is valid");
    expected.assert_eq(&body(&module));
    let again = deburr_ir_core::parse(&module.to_string()).expect("the text is read");
    assert_eq!(body(&again), body(&module), "the text has all that the binary needs");
}

/// Types and buffers as every test has them.
const HEADER: &str = r#"
    OpCapability Shader
    %glsl = OpExtInstImport "GLSL.std.450"
    OpMemoryModel Logical GLSL450
    OpEntryPoint GLCompute %main "main"
    OpExecutionMode %main LocalSize 1 1 1
    OpDecorate %block Block
    OpMemberDecorate %block 0 Offset 0
    OpDecorate %words ArrayStride 4
    OpDecorate %buf DescriptorSet 0
    OpDecorate %buf Binding 0
    %void = OpTypeVoid
    %fn = OpTypeFunction %void
    %bool = OpTypeBool
    %u32 = OpTypeInt 32 0
    %words = OpTypeRuntimeArray %u32
    %block = OpTypeStruct %words
    %ptr_block = OpTypePointer StorageBuffer %block
    %ptr = OpTypePointer StorageBuffer %u32
    %buf = OpVariable %ptr_block StorageBuffer
    %n0 = OpConstant %u32 0
    %n1 = OpConstant %u32 1
    %n2 = OpConstant %u32 2
    %n3 = OpConstant %u32 3
    %n7 = OpConstant %u32 7
    %n8 = OpConstant %u32 8
    %n9 = OpConstant %u32 9
    %main = OpFunction %void None %fn
    %start = OpLabel
    %out = OpAccessChain %ptr %buf %n0 %n0
    %a = OpLoad %u32 %out
"#;

fn check_main(code: &str, expected: Expect) {
    check(&format!("{HEADER}{code}\nOpReturn\nOpFunctionEnd"), expected);
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

#[test]
fn floats() {
    check(
        r#"
        OpCapability Shader
        OpMemoryModel Logical GLSL450
        OpEntryPoint GLCompute %main "main"
        OpExecutionMode %main LocalSize 1 1 1
        OpDecorate %block Block
        OpMemberDecorate %block 0 Offset 0
        OpMemberDecorate %block 0 ColMajor
        OpMemberDecorate %block 0 MatrixStride 8
        OpMemberDecorate %block 1 Offset 16
        OpDecorate %buf DescriptorSet 0
        OpDecorate %buf Binding 0
        %void = OpTypeVoid
        %fn = OpTypeFunction %void
        %bool = OpTypeBool
        %u32 = OpTypeInt 32 0
        %f32 = OpTypeFloat 32
        %vec2 = OpTypeVector %f32 2
        %mat2 = OpTypeMatrix %vec2 2
        %block = OpTypeStruct %mat2 %f32
        %ptr_block = OpTypePointer StorageBuffer %block
        %ptr_mat = OpTypePointer StorageBuffer %mat2
        %ptr_f32 = OpTypePointer StorageBuffer %f32
        %buf = OpVariable %ptr_block StorageBuffer
        %n0 = OpConstant %u32 0
        %n1 = OpConstant %u32 1
        %main = OpFunction %void None %fn
        %start = OpLabel
        %p = OpAccessChain %ptr_mat %buf %n0
        %q = OpAccessChain %ptr_f32 %buf %n1
        %m = OpLoad %mat2 %p
        %s = OpLoad %f32 %q
        %scaled = OpMatrixTimesScalar %mat2 %m %s
        %column = OpCompositeExtract %vec2 %scaled 1
        %vector = OpVectorTimesScalar %vec2 %column %s
        %x = OpCompositeExtract %f32 %vector 0
        %less = OpFUnordLessThan %bool %x %s
        %chosen = OpSelect %f32 %less %x %s
        OpStore %q %chosen
        OpStore %p %scaled
        OpReturn
        OpFunctionEnd
        "#,
        expect![[r#"
            %1 = OpFunction  %3  None %4
            %5 = OpLabel
            %12 = OpAccessChain  %11  %2 %7
            %15 = OpAccessChain  %14  %2 %13
            %17 = OpLoad  %16  %2
            %18 = OpCompositeExtract  %8  %17 1
            %19 = OpCompositeExtract  %10  %17 0
            %20 = OpMatrixTimesScalar  %10  %19 %18
            %21 = OpCompositeExtract  %9  %20 1
            %22 = OpVectorTimesScalar  %9  %21 %18
            %23 = OpCompositeExtract  %8  %22 0
            %25 = OpFUnordLessThan  %24  %23 %18
            %26 = OpSelect  %8  %25 %23 %18
            OpStore %15 %26
            OpStore %12 %20
            OpReturn
            OpFunctionEnd
        "#]],
    );
}

/// Structs that differ in layout alone.
#[test]
fn a_logical_copy() {
    check(
        r#"
        OpCapability Shader
        OpMemoryModel Logical GLSL450
        OpEntryPoint GLCompute %main "main" %a %b
        OpExecutionMode %main LocalSize 1 1 1
        OpDecorate %inner ArrayStride 16
        OpDecorate %inner4 ArrayStride 4
        OpDecorate %from Block
        OpDecorate %to Block
        OpMemberDecorate %from 0 Offset 0
        OpMemberDecorate %from 1 Offset 64
        OpMemberDecorate %to 0 Offset 0
        OpMemberDecorate %to 1 Offset 16
        OpDecorate %a DescriptorSet 0
        OpDecorate %a Binding 0
        OpDecorate %b DescriptorSet 0
        OpDecorate %b Binding 1
        %void = OpTypeVoid
        %fn = OpTypeFunction %void
        %u32 = OpTypeInt 32 0
        %n4 = OpConstant %u32 4
        %inner = OpTypeArray %u32 %n4
        %inner4 = OpTypeArray %u32 %n4
        %empty = OpTypeStruct
        %from = OpTypeStruct %inner %u32 %empty
        %to = OpTypeStruct %inner4 %u32 %empty
        %ptr_from = OpTypePointer StorageBuffer %from
        %ptr_to = OpTypePointer StorageBuffer %to
        %a = OpVariable %ptr_from StorageBuffer
        %b = OpVariable %ptr_to StorageBuffer
        %main = OpFunction %void None %fn
        %start = OpLabel
        %value = OpLoad %from %a
        %copy = OpCopyLogical %to %value
        OpStore %b %copy
        OpReturn
        OpFunctionEnd
        "#,
        expect![[r#"
            %1 = OpFunction  %4  None %5
            %6 = OpLabel
            %12 = OpLoad  %11  %2
            %15 = OpCopyLogical  %14  %12
            OpStore %3 %15
            OpReturn
            OpFunctionEnd
        "#]],
    );
}

/// A pointer that is stepped keeps its stride, by way of a call and of a choice.
#[test]
fn pointers_with_a_stride() {
    check(
        r#"
        OpCapability VariablePointersStorageBuffer
        OpMemoryModel Logical GLSL450
        OpEntryPoint GLCompute %main "main" %buf
        OpExecutionMode %main LocalSize 1 1 1
        OpDecorate %block Block
        OpMemberDecorate %block 0 Offset 0
        OpDecorate %words ArrayStride 4
        OpDecorate %ptr ArrayStride 4
        OpDecorate %buf DescriptorSet 0
        OpDecorate %buf Binding 0
        %void = OpTypeVoid
        %fn = OpTypeFunction %void
        %bool = OpTypeBool
        %u32 = OpTypeInt 32 0
        %words = OpTypeRuntimeArray %u32
        %block = OpTypeStruct %words
        %ptr_block = OpTypePointer StorageBuffer %block
        %ptr = OpTypePointer StorageBuffer %u32
        %step_fn = OpTypeFunction %void %ptr
        %buf = OpVariable %ptr_block StorageBuffer
        %n0 = OpConstant %u32 0
        %n1 = OpConstant %u32 1
        %n2 = OpConstant %u32 2
        %main = OpFunction %void None %fn
        %start = OpLabel
        %p = OpAccessChain %ptr %buf %n0 %n1
        %q = OpAccessChain %ptr %buf %n0 %n2
        %x = OpLoad %u32 %p
        %c = OpULessThan %bool %x %n2
        %one = OpSelect %ptr %c %p %q
        %r = OpPtrAccessChain %ptr %one %n1
        OpStore %r %n0
        %called = OpFunctionCall %void %step %p
        OpReturn
        OpFunctionEnd
        %step = OpFunction %void None %step_fn
        %param = OpFunctionParameter %ptr
        %begin = OpLabel
        %next = OpPtrAccessChain %ptr %param %n2
        OpStore %next %n0
        OpReturn
        OpFunctionEnd
        "#,
        expect![[r#"
            %1 = OpFunction  %4  None %5
            %6 = OpLabel
            %11 = OpAccessChain  %10  %3 %9 %8
            %13 = OpAccessChain  %10  %3 %9 %12
            %14 = OpLoad  %7  %11
            %15 = OpULessThan  %16  %14 %12
            %17 = OpSelect  %10  %15 %11 %13
            %19 = OpPtrAccessChain  %18  %17 %8
            OpStore %19 %9
            %20 = OpFunctionCall  %4  %2 %11
            OpReturn
            OpFunctionEnd
            %2 = OpFunction  %4  None %21
            %22 = OpFunctionParameter  %10
            %23 = OpLabel
            %24 = OpPtrAccessChain  %18  %22 %12
            OpStore %24 %9
            OpReturn
            OpFunctionEnd
        "#]],
    );
}

/// The decorations that `write` gives a compare of two floats, by its decorations and how it is written.
fn compare_decorations(capabilities: &str, decorations: &str, op: &str) -> String {
    let text = format!(
        r#"
        OpCapability Shader
        {capabilities}
        OpMemoryModel Logical GLSL450
        OpEntryPoint GLCompute %main "main"
        OpExecutionMode %main LocalSize 1 1 1
        {decorations}
        OpDecorate %block Block
        OpMemberDecorate %block 0 Offset 0
        OpMemberDecorate %block 1 Offset 4
        OpDecorate %buf DescriptorSet 0
        OpDecorate %buf Binding 0
        %void = OpTypeVoid
        %fn = OpTypeFunction %void
        %bool = OpTypeBool
        %u32 = OpTypeInt 32 0
        %f32 = OpTypeFloat 32
        %block = OpTypeStruct %f32 %f32
        %ptr_block = OpTypePointer StorageBuffer %block
        %ptr = OpTypePointer StorageBuffer %f32
        %buf = OpVariable %ptr_block StorageBuffer
        %n0 = OpConstant %u32 0
        %n1 = OpConstant %u32 1
        %main = OpFunction %void None %fn
        %start = OpLabel
        %p = OpAccessChain %ptr %buf %n0
        %q = OpAccessChain %ptr %buf %n1
        %a = OpLoad %f32 %p
        %b = OpLoad %f32 %q
        %c = {op} %bool %a %b
        %d = OpSelect %f32 %c %a %b
        OpStore %p %d
        OpReturn
        OpFunctionEnd
        "#
    );
    let module = read(&assemble(&text), &ReadOptions::default()).expect("the module can be read");
    let words = write(&module, &WriteOptions::default()).expect("the module can be written");
    let text = rspirv::dr::load_words(words).expect("what is written is SPIR-V").disassemble();
    let compare = text.lines().find(|line| line.contains(op)).expect("the compare is there");
    let id = compare.split(' ').next().unwrap_or_default();
    let own = text.lines().filter_map(|l| l.strip_prefix(&format!("OpDecorate {id} ")));
    own.collect::<Vec<_>>().join(", ")
}

const FLOAT_CONTROLS: &str = "OpCapability FloatControls2\nOpExtension \"SPV_KHR_float_controls2\"";

#[test]
fn unordered_compares_keep_their_decorations() {
    let exact =
        compare_decorations(FLOAT_CONTROLS, "OpDecorate %c FPFastMathMode 0", "OpFUnordLessThan");
    assert_eq!(exact, "FPFastMathMode None");
    let relaxed = compare_decorations("", "OpDecorate %c RelaxedPrecision", "OpFUnordLessThan");
    assert_eq!(relaxed, "RelaxedPrecision");
    assert_eq!(compare_decorations("", "", "OpFUnordLessThan"), "");
}

/// The IR has no promises on compares: a default that has them is never what is meant.
#[test]
fn compares_gain_no_promises_from_the_default() {
    for op in ["OpFOrdLessThan", "OpFUnordLessThan", "OpFOrdEqual"] {
        // All but NotNaN and NotInf.
        let mask = "OpDecorate %c FPFastMathMode 458764";
        assert_eq!(
            compare_decorations(FLOAT_CONTROLS, mask, op),
            "FPFastMathMode NSZ|AllowRecip|AllowContract|AllowReassoc|AllowTransform"
        );
    }
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

/// Two leaves, and very many parts without any: the struct is copied, never taken apart.
#[test]
fn very_many_empty_structs() {
    check(
        r#"
        OpCapability Shader
        OpMemoryModel Logical GLSL450
        OpEntryPoint GLCompute %main "main"
        OpExecutionMode %main LocalSize 1 1 1
        %void = OpTypeVoid
        %fn = OpTypeFunction %void
        %u32 = OpTypeInt 32 0
        %n64 = OpConstant %u32 64
        %empty = OpTypeStruct
        %a1 = OpTypeArray %empty %n64
        %a2 = OpTypeArray %a1 %n64
        %a3 = OpTypeArray %a2 %n64
        %a4 = OpTypeArray %a3 %n64
        %a5 = OpTypeArray %a4 %n64
        %s = OpTypeStruct %u32 %a5 %u32
        %ptr = OpTypePointer Private %s
        %v = OpVariable %ptr Private
        %w = OpVariable %ptr Private
        %main = OpFunction %void None %fn
        %start = OpLabel
        %x = OpLoad %s %v
        OpStore %w %x
        OpReturn
        OpFunctionEnd
        "#,
        expect![[r#"
            %1 = OpFunction  %2  None %3
            %4 = OpLabel
            %5 = OpVariable  %15  Function
            OpCopyMemory %5 %16
            OpCopyMemory %17 %5
            OpReturn
            OpFunctionEnd
        "#]],
    );
}
