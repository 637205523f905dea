//! Pointers, and objects that are copied whole.

use super::MAIN;
use super::asm::{HEADER, assemble, compute};
use super::{body, check, written};
use deburr_spirv::{ErrorKind, WriteOptions};
use deburr_spirv::{ReadOptions, read, write};
use expect_test::{Expect, expect};

/// Structs that differ in layout alone.
#[test]
fn a_logical_copy() {
    check(
        &compute(
            "",
            r"
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
            OpDecorate %b Binding 1",
            r"
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
            OpFunctionEnd",
        ),
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
        &compute(
            "OpCapability VariablePointersStorageBuffer",
            r"
            OpDecorate %block Block
            OpMemberDecorate %block 0 Offset 0
            OpDecorate %words ArrayStride 4
            OpDecorate %ptr ArrayStride 4
            OpDecorate %buf DescriptorSet 0
            OpDecorate %buf Binding 0",
            r"
            %words = OpTypeRuntimeArray %u32
            %block = OpTypeStruct %words
            %ptr_block = OpTypePointer StorageBuffer %block
            %ptr = OpTypePointer StorageBuffer %u32
            %step_fn = OpTypeFunction %void %ptr
            %buf = OpVariable %ptr_block StorageBuffer
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
            OpFunctionEnd",
        ),
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

/// Two leaves, and very many parts without any: the struct is copied, never taken apart.
#[test]
fn very_many_empty_structs() {
    check(
        &compute(
            "",
            "",
            r"
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
            OpFunctionEnd",
        ),
        expect![[r#"
            %1 = OpFunction  %2  None %3
            %4 = OpLabel
            %16 = OpLoad  %15  %5
            OpStore %6 %16
            OpReturn
            OpFunctionEnd
        "#]],
    );
}

/// A copy from `%a` to `%b`, buffers of two layouts with too many leaves to be taken apart, in this version of SPIR-V.
fn large_copy(version: u32, code: &str) -> Vec<u32> {
    let decorations = r"
        OpDecorate %wide ArrayStride 16
        OpDecorate %tight ArrayStride 4
        OpDecorate %from Block
        OpDecorate %to Block
        OpMemberDecorate %from 0 Offset 0
        OpMemberDecorate %to 0 Offset 0
        OpDecorate %a DescriptorSet 0
        OpDecorate %a Binding 0
        OpDecorate %b DescriptorSet 0
        OpDecorate %b Binding 1
        OpDecorate %c DescriptorSet 0
        OpDecorate %c Binding 2";
    let code = format!(
        r"
        %many = OpConstant %u32 100
        %wide = OpTypeArray %u32 %many
        %tight = OpTypeArray %u32 %many
        %from = OpTypeStruct %wide
        %to = OpTypeStruct %tight
        %ptr_from = OpTypePointer StorageBuffer %from
        %ptr_to = OpTypePointer StorageBuffer %to
        %a = OpVariable %ptr_from StorageBuffer
        %b = OpVariable %ptr_to StorageBuffer
        %c = OpVariable %ptr_to StorageBuffer
        %main = OpFunction %void None %fn
        %start = OpLabel
        {code}
        OpReturn
        OpFunctionEnd"
    );
    let mut words = assemble(&compute("", decorations, &code));
    words[1] = version;
    words
}

fn check_copy(version: u32, code: &str, expected: Expect) {
    let words = large_copy(version, code);
    let module = read(&words, &ReadOptions::default()).expect("the module can be read");
    deburr_ir_core::validate(&module).expect("the module is valid");
    let code = body(&module);
    let instructions = code
        .lines()
        .filter(|l| l.contains("Copy") || l.contains("OpLoad") || l.contains("OpStore"));
    expected.assert_eq(&instructions.map(|l| format!("{l}\n")).collect::<String>());
}

/// Memory of one layout is loaded and stored by way of a variable of that layout: the value between is copied.
#[test]
fn a_logical_copy_of_a_large_object() {
    let code = r"
        %value = OpLoad %from %a
        %copy = OpCopyLogical %to %value
        OpStore %b %copy";
    check_copy(
        0x0001_0500,
        code,
        expect![[r#"
            %12 = OpLoad  %11  %2
            %15 = OpCopyLogical  %14  %12
            OpStore %3 %15
        "#]],
    );
    let module = read(&large_copy(0x0001_0300, code), &ReadOptions::default());
    let module = module.expect("the module can be read");
    let error = write(&module, &WriteOptions::default()).expect_err("there is no OpCopyLogical");
    assert_eq!(error.kind, ErrorKind::Unsupported);
}

/// An object that is changed is in a variable, and memory of functions has no layout.
#[test]
fn a_large_object_with_a_part_replaced() {
    check_copy(
        0x0001_0500,
        r"
        %value = OpLoad %to %c
        %other = OpCompositeInsert %to %n1 %value 0 7
        %part = OpCompositeExtract %tight %other 0
        %same = OpCompositeConstruct %to %part
        OpStore %b %same",
        expect![[r#"
            %17 = OpLoad  %16  %4
            %18 = OpCopyLogical  %12  %17
            OpStore %8 %18
            OpStore %22 %23
            %26 = OpLoad  %11  %25
            OpStore %27 %26
            %28 = OpLoad  %12  %14
            %29 = OpCopyLogical  %16  %28
            OpStore %3 %29
        "#]],
    );
    let words = large_copy(
        0x0001_0500,
        "%value = OpLoad %to %c\n%other = OpCompositeInsert %to %n1 %value 0 7\nOpStore %b %other",
    );
    let module = read(&words, &ReadOptions::default()).expect("the module can be read");
    let text = module.to_string();
    let local = text.lines().find(|l| l.contains("decl_var function")).expect("a variable");
    assert!(!local.contains("stride"), "{local}");
}

/// What is said of one side of a copy is said of that side alone.
#[test]
fn a_copy_keeps_its_memory_operands() {
    // Volatile, then Aligned.
    check_copy(
        0x0001_0500,
        "OpCopyMemory %b %c 1",
        expect![[r#"
        OpCopyMemory %3 %4 Volatile
    "#]],
    );
    check_copy(
        0x0001_0500,
        "OpCopyMemory %b %c 2 16",
        expect![[r#"
        OpCopyMemory %3 %4 Aligned 16
    "#]],
    );
    check_copy(
        0x0001_0500,
        "OpCopyMemory %b %c 1 2 4",
        expect![[r#"
        OpCopyMemory %3 %4 Volatile Aligned 4
    "#]],
    );
    check_copy(
        0x0001_0500,
        "OpCopyMemory %b %c 0 3 4",
        expect![[r#"
        OpCopyMemory %3 %4 None Volatile|Aligned 4
    "#]],
    );
    check_copy(
        0x0001_0300,
        "OpCopyMemory %b %c 2 16",
        expect![[r#"
        OpCopyMemory %3 %4 Aligned 16
    "#]],
    );
    // Before 1.4 there is one set for both sides.
    let code = "%value = OpLoad %to %c 3 16\nOpStore %b %value";
    check_copy(
        0x0001_0300,
        code,
        expect![[r#"
            %12 = OpLoad  %11  %4 Volatile|Aligned 16
            OpStore %3 %12
        "#]],
    );
}

/// The alignment of an object is not that of all its members; a load of the whole has it again.
#[test]
fn members_are_aligned_as_their_offsets_are() {
    check(
        &compute(
            "",
            r"
            OpDecorate %block Block
            OpMemberDecorate %block 0 Offset 0
            OpMemberDecorate %block 1 Offset 4
            OpMemberDecorate %block 2 Offset 8
            OpDecorate %buf DescriptorSet 0
            OpDecorate %buf Binding 0",
            r"
            %u32x2 = OpTypeVector %u32 2
            %block = OpTypeStruct %u32 %u32 %u32x2
            %ptr_block = OpTypePointer StorageBuffer %block
            %ptr = OpTypePointer StorageBuffer %u32
            %buf = OpVariable %ptr_block StorageBuffer
            %main = OpFunction %void None %fn
            %start = OpLabel
            %first = OpAccessChain %ptr %buf %n0
            %x = OpLoad %block %buf 2 16
            OpStore %buf %x 2 16
            %y = OpCompositeInsert %block %n1 %x 1
            OpStore %buf %y 2 16
            OpReturn
            OpFunctionEnd",
        ),
        expect![[r#"
            %1 = OpFunction  %3  None %4
            %5 = OpLabel
            %9 = OpLoad  %8  %2 Aligned 16
            OpStore %2 %9 Aligned 16
            %10 = OpCompositeExtract  %6  %9 0
            %12 = OpCompositeExtract  %7  %9 2
            %13 = OpCompositeConstruct  %8  %10 %11 %12
            OpStore %2 %13 Aligned 16
            OpReturn
            OpFunctionEnd
        "#]],
    );
}

/// A matrix that a ray query gives is stored as it is, or a column is taken of it.
#[test]
fn matrices_of_ray_queries() {
    check(
        &compute(
            "OpCapability RayQueryKHR\nOpExtension \"SPV_KHR_ray_query\"",
            "",
            r"
            %column = OpTypeVector %f32 3
            %matrix = OpTypeMatrix %column 4
            %query = OpTypeRayQueryKHR
            %ptr_query = OpTypePointer Private %query
            %ptr_matrix = OpTypePointer Private %matrix
            %ptr_column = OpTypePointer Private %column
            %q = OpVariable %ptr_query Private
            %m = OpVariable %ptr_matrix Private
            %c = OpVariable %ptr_column Private
            %main = OpFunction %void None %fn
            %start = OpLabel
            %x = OpRayQueryGetIntersectionObjectToWorldKHR %matrix %q %n1
            OpStore %m %x
            %on = OpRayQueryProceedKHR %bool %q
            %y = OpRayQueryGetIntersectionObjectToWorldKHR %matrix %q %n1
            %z = OpCompositeExtract %column %y 2
            OpStore %c %z
            OpReturn
            OpFunctionEnd",
        ),
        expect![[r#"
            %1 = OpFunction  %2  None %3
            %4 = OpLabel
            %11 = OpRayQueryGetIntersectionObjectToWorldKHR  %10  %5 %13
            OpStore %6 %11
            %15 = OpRayQueryProceedKHR  %14  %5
            %16 = OpRayQueryGetIntersectionObjectToWorldKHR  %10  %5 %13
            %17 = OpCompositeExtract  %9  %16 2
            OpStore %7 %17
            OpReturn
            OpFunctionEnd
        "#]],
    );
}

/// What is said of the pointer to an object is said of the pointers to its parts, and is not lost by a load of more.
#[test]
fn parts_of_what_is_non_uniform_are() {
    let text = compute(
        "OpCapability ShaderNonUniform\nOpCapability RuntimeDescriptorArray\n\
         OpCapability StorageBufferArrayNonUniformIndexing",
        r"
        OpDecorate %block Block
        OpMemberDecorate %block 0 Offset 0
        OpMemberDecorate %pair 0 Offset 0
        OpMemberDecorate %pair 1 Offset 4
        OpDecorate %bufs DescriptorSet 0
        OpDecorate %bufs Binding 0
        OpDecorate %out DescriptorSet 0
        OpDecorate %out Binding 1
        OpDecorate %whole NonUniform
        OpDecorate %first NonUniform
        OpDecorate %second NonUniform",
        r"
        %pair = OpTypeStruct %u32 %f32
        %block = OpTypeStruct %pair
        %blocks = OpTypeRuntimeArray %block
        %ptr_blocks = OpTypePointer StorageBuffer %blocks
        %ptr_block = OpTypePointer StorageBuffer %block
        %ptr_pair = OpTypePointer StorageBuffer %pair
        %ptr_u32 = OpTypePointer StorageBuffer %u32
        %ptr_f32 = OpTypePointer StorageBuffer %f32
        %bufs = OpVariable %ptr_blocks StorageBuffer
        %out = OpVariable %ptr_block StorageBuffer
        %main = OpFunction %void None %fn
        %start = OpLabel
        %o0 = OpAccessChain %ptr_u32 %out %n0 %n0
        %o1 = OpAccessChain %ptr_f32 %out %n0 %n1
        %i = OpLoad %u32 %o0
        %whole = OpAccessChain %ptr_pair %bufs %i %n0
        %value = OpLoad %pair %whole
        %member = OpCompositeExtract %f32 %value 1
        OpStore %o1 %member
        %first = OpAccessChain %ptr_u32 %bufs %i %n0 %n0
        %x = OpLoad %u32 %first
        %below = OpAccessChain %ptr_f32 %whole %n1
        %z = OpLoad %f32 %below
        %second = OpAccessChain %ptr_f32 %bufs %i %n0 %n1
        %y = OpLoad %f32 %second
        OpStore %o0 %x
        OpStore %o1 %y
        OpStore %o1 %z
        OpReturn
        OpFunctionEnd",
    );
    expect![[r#"
        OpCapability ShaderNonUniform
        OpCapability StorageBufferArrayNonUniformIndexing
        OpDecorate %18 NonUniform
        OpDecorate %21 NonUniform
        OpDecorate %23 NonUniform
        OpDecorate %25 NonUniform
        %10 = OpAccessChain  %9  %3 %8 %8
        %14 = OpAccessChain  %13  %3 %8 %11
        %15 = OpLoad  %7  %10
        %18 = OpAccessChain  %17  %2 %15 %8
        %19 = OpLoad  %16  %18
        %21 = OpAccessChain  %9  %2 %15 %8 %8
        %22 = OpLoad  %7  %21
        %23 = OpAccessChain  %13  %2 %15 %8 %11
        %24 = OpLoad  %12  %23
        %25 = OpAccessChain  %13  %2 %15 %8 %11
        %26 = OpLoad  %12  %25
    "#]]
    .assert_eq(&written(&text, &["NonUniform", "OpLoad", "OpAccessChain"]));
}

/// A struct of one member has the leaves of its member, and is another value.
#[test]
fn a_struct_of_one_matrix_and_the_matrix() {
    let text = compute(
        "",
        r"
        OpDecorate %block Block
        OpMemberDecorate %block 0 Offset 0
        OpMemberDecorate %block 1 Offset 16
        OpMemberDecorate %one 0 Offset 0
        OpMemberDecorate %one 0 ColMajor
        OpMemberDecorate %one 0 MatrixStride 8
        OpDecorate %a DescriptorSet 0
        OpDecorate %a Binding 0",
        r"
        %vec2 = OpTypeVector %f32 2
        %mat2 = OpTypeMatrix %vec2 2
        %one = OpTypeStruct %mat2
        %block = OpTypeStruct %one %vec2
        %ptr_block = OpTypePointer StorageBuffer %block
        %ptr_one = OpTypePointer StorageBuffer %one
        %ptr_vec2 = OpTypePointer StorageBuffer %vec2
        %a = OpVariable %ptr_block StorageBuffer
        %main = OpFunction %void None %fn
        %start = OpLabel
        %p = OpAccessChain %ptr_one %a %n0
        %q = OpAccessChain %ptr_vec2 %a %n1
        %all = OpLoad %block %a
        %inner = OpCompositeExtract %one %all 0
        %m = OpCompositeExtract %mat2 %all 0 0
        %v = OpCompositeExtract %vec2 %all 1
        %w = OpMatrixTimesVector %vec2 %m %v
        OpStore %q %w
        OpStore %p %inner
        OpReturn
        OpFunctionEnd",
    );
    check(
        &text,
        expect![[r#"
        %1 = OpFunction  %3  None %4
        %5 = OpLabel
        %13 = OpAccessChain  %12  %2 %7
        %16 = OpAccessChain  %15  %2 %14
        %18 = OpLoad  %17  %2
        %19 = OpCompositeExtract  %9  %18 1
        %21 = OpCompositeExtract  %10  %18 0 0
        %20 = OpMatrixTimesVector  %9  %21 %19
        OpStore %16 %20
        %22 = OpCompositeExtract  %11  %18 0
        OpStore %13 %22
        OpReturn
        OpFunctionEnd
    "#]],
    );
}

/// A load stays behind an atomic that acquires: the parts of the pair are not loaded at once.
#[test]
fn loads_stay_behind_what_acquires() {
    let text = |semantics: u32| {
        compute(
            "",
            r"
            OpDecorate %block Block
            OpMemberDecorate %block 0 Offset 0
            OpMemberDecorate %block 1 Offset 4
            OpDecorate %a DescriptorSet 0
            OpDecorate %a Binding 0
            OpDecorate %b DescriptorSet 0
            OpDecorate %b Binding 1",
            &format!(
                r"
            %order = OpConstant %u32 {semantics}
            %block = OpTypeStruct %u32 %u32
            %ptr_block = OpTypePointer StorageBuffer %block
            %ptr = OpTypePointer StorageBuffer %u32
            %a = OpVariable %ptr_block StorageBuffer
            %b = OpVariable %ptr_block StorageBuffer
            %main = OpFunction %void None %fn
            %start = OpLabel
            %a0 = OpAccessChain %ptr %a %n0
            %a1 = OpAccessChain %ptr %a %n1
            %b0 = OpAccessChain %ptr %b %n0
            %x = OpLoad %u32 %a0
            %flag = OpAtomicLoad %u32 %b0 %n1 %order
            %y = OpLoad %u32 %a1
            %sum = OpIAdd %u32 %x %y
            %all = OpIAdd %u32 %sum %flag
            OpStore %b0 %all
            OpReturn
            OpFunctionEnd"
            ),
        )
    };
    let loads = |semantics| written(&text(semantics), &["OpLoad", "OpAtomicLoad"]);
    expect![[r#"
        %14 = OpLoad  %7  %10
        %15 = OpAtomicLoad  %7  %13 %11 %16
        %17 = OpLoad  %7  %12
    "#]]
    .assert_eq(&loads(66));
    // One that is relaxed orders nothing.
    expect![[r#"
        %12 = OpLoad  %11  %2
        %14 = OpAtomicLoad  %7  %10 %15 %8
    "#]]
    .assert_eq(&loads(0));
}

/// What a function takes and gives by value has no layout, whatever memory it comes from.
#[test]
fn objects_that_cross_a_call() {
    let text = compute(
        "",
        r"
        OpDecorate %outer Block
        OpMemberDecorate %inner 0 Offset 0
        OpMemberDecorate %inner 1 Offset 16
        OpMemberDecorate %outer 0 Offset 0
        OpDecorate %buf DescriptorSet 0
        OpDecorate %buf Binding 0",
        r"
        %inner = OpTypeStruct %u32 %f32
        %outer = OpTypeStruct %inner
        %ptr_outer = OpTypePointer StorageBuffer %outer
        %ptr_inner = OpTypePointer StorageBuffer %inner
        %buf = OpVariable %ptr_outer StorageBuffer
        %of_inner = OpTypeFunction %inner %inner
        %main = OpFunction %void None %fn
        %start = OpLabel
        %at = OpAccessChain %ptr_inner %buf %n0
        %value = OpLoad %inner %at
        %next = OpFunctionCall %inner %step %value
        OpStore %at %next
        OpReturn
        OpFunctionEnd
        %step = OpFunction %inner None %of_inner
        %p = OpFunctionParameter %inner
        %entry = OpLabel
        %n = OpCompositeExtract %u32 %p 0
        %more = OpIAdd %u32 %n %n1
        %q = OpCompositeInsert %inner %more %p 0
        OpReturnValue %q
        OpFunctionEnd",
    );
    let shown = &["OpTypeStruct", "OpMember", "OpTypePointer", "OpFunction", "OpVariable"];
    expect![[r#"
        OpMemberDecorate %13 0 Offset 0
        OpMemberDecorate %13 1 Offset 16
        OpMemberDecorate %14 0 Offset 0
        %10 = OpTypeStruct %8 %9
        %11 = OpTypePointer Function %10
        %13 = OpTypeStruct %8 %9
        %14 = OpTypeStruct %13
        %32 = OpTypePointer StorageBuffer %14
        %3 = OpVariable  %32  StorageBuffer
        %1 = OpFunction  %4  None %5
        %7 = OpVariable  %11  Function
        %12 = OpVariable  %11  Function
        %18 = OpFunctionCall  %4  %2 %7 %12
        OpFunctionEnd
        %2 = OpFunction  %4  None %22
        %23 = OpFunctionParameter  %11
        %24 = OpFunctionParameter  %11
        OpFunctionEnd
    "#]]
    .assert_eq(&written(&text, shown));
}

/// A member that is volatile is so too where the whole is loaded or copied.
#[test]
fn volatile_members_of_a_whole() {
    let text = compute(
        "",
        r"
        OpDecorate %outer Block
        OpDecorate %words ArrayStride 4
        OpMemberDecorate %inner 0 Offset 0
        OpMemberDecorate %inner 1 Offset 4
        OpMemberDecorate %inner 1 Volatile
        OpMemberDecorate %inner 2 Offset 8
        OpMemberDecorate %outer 0 Offset 0
        OpDecorate %buf DescriptorSet 0
        OpDecorate %buf Binding 0",
        r"
        %n200 = OpConstant %u32 200
        %words = OpTypeArray %u32 %n200
        %inner = OpTypeStruct %u32 %u32 %words
        %outer = OpTypeStruct %inner
        %ptr_outer = OpTypePointer StorageBuffer %outer
        %ptr_inner = OpTypePointer StorageBuffer %inner
        %ptr = OpTypePointer StorageBuffer %u32
        %buf = OpVariable %ptr_outer StorageBuffer
        %main = OpFunction %void None %fn
        %start = OpLabel
        %at = OpAccessChain %ptr_inner %buf %n0
        %value = OpLoad %inner %at
        %x = OpCompositeExtract %u32 %value 1
        %to = OpAccessChain %ptr %buf %n0 %n0
        OpStore %to %x
        OpReturn
        OpFunctionEnd",
    );
    expect![[r#"
        %13 = OpLoad  %10  %12 Volatile
        OpStore %16 %14
    "#]]
    .assert_eq(&written(&text, &["OpLoad", "OpStore", "OpCopy"]));
    // The parts, each as its member says.
    let small = text.replace("%u32 %u32 %words", "%u32 %u32 %u32");
    expect![[r#"
        %14 = OpLoad  %6  %9
        %15 = OpLoad  %6  %11 Volatile
        %16 = OpLoad  %6  %13
        OpStore %17 %15
    "#]]
    .assert_eq(&written(&small, &["OpLoad", "OpStore", "OpCopy"]));
}

/// In a loop one undef is one value, where OpUndef would be another each time.
#[test]
fn an_undef_read_in_a_loop() {
    let code = r"
        %undef = OpUndef %u32
        %twice = OpIAdd %u32 %undef %n1
        OpStore %out %undef
        OpBranch %head
        %head = OpLabel
        %i = OpPhi %u32 %n0 %start %next %head
        %next = OpBitwiseXor %u32 %i %a
        %c = OpIEqual %bool %next %n9
        OpStore %out %undef2
        OpLoopMerge %end %head None
        OpBranchConditional %c %end %head
        %end = OpLabel
        OpStore %out %twice";
    let text = format!("{HEADER}\n%undef2 = OpUndef %u32{MAIN}{code}\nOpReturn\nOpFunctionEnd");
    expect![[r#"
        %17 = OpConstantNull  %12
        %19 = OpIAdd  %12  %17 %18
        OpStore %15 %17
        OpStore %15 %17
        OpStore %15 %19
    "#]]
    .assert_eq(&written(&text, &["OpUndef", "OpConstantNull", "OpStore", "OpIAdd"]));
}
