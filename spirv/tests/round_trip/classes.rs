//! Operands whose class SPIR-V fixes: floats, unsigned and signed integers.

use super::asm::{assemble, compute};
use super::written;
use deburr_spirv::{ErrorKind, ReadOptions, read};
use expect_test::{Expect, expect};

/// The lines of what is written of a compute module's main function that have one of these in them. Its buffer holds
/// signed words, of which `%a` and `%b` are two, and `%out` is another.
fn check_signed(capabilities: &str, code: &str, shown: &[&str], expected: Expect) {
    let text = compute(capabilities, SIGNED_DECORATIONS, &format!("{SIGNED}{code}{END}"));
    expected.assert_eq(&written(&text, shown));
}

const SIGNED_DECORATIONS: &str = r"
    OpDecorate %block Block
    OpMemberDecorate %block 0 Offset 0
    OpDecorate %words ArrayStride 4
    OpDecorate %buf DescriptorSet 0
    OpDecorate %buf Binding 0
";

const SIGNED: &str = r"
    %i32 = OpTypeInt 32 1
    %u32x2 = OpTypeVector %u32 2
    %u32x4 = OpTypeVector %u32 4
    %i32x2 = OpTypeVector %i32 2
    %n3 = OpConstant %u32 3
    %words = OpTypeRuntimeArray %i32
    %block = OpTypeStruct %words
    %ptr_block = OpTypePointer StorageBuffer %block
    %ptr = OpTypePointer StorageBuffer %i32
    %buf = OpVariable %ptr_block StorageBuffer
    %i64 = OpTypeInt 64 1
    %u64 = OpTypeInt 64 0
    %u_pair = OpTypeStruct %u32 %u32
    %i_pair = OpTypeStruct %i32 %i32
    %main = OpFunction %void None %fn
    %start = OpLabel
    %out = OpAccessChain %ptr %buf %n0 %n0
    %at = OpAccessChain %ptr %buf %n0 %n1
    %bt = OpAccessChain %ptr %buf %n0 %n2
    %a = OpLoad %i32 %at
    %b = OpLoad %i32 %bt
";

const END: &str = "\nOpReturn\nOpFunctionEnd";

const INTEGERS: &[&str] = &["OpTypeInt", "OpBitcast", "OpGroup"];

/// Equal bits and equal floats are two questions, whatever the value was made by.
#[test]
fn votes_of_equality() {
    check_signed(
        "OpCapability GroupNonUniformVote",
        r"
        %f = OpBitcast %f32 %a
        %e = OpGroupNonUniformAllEqual %bool %n3 %f
        %x = OpSelect %i32 %e %a %b
        OpStore %out %x
        %sum = OpFAdd %f32 %f %f
        %bits = OpBitcast %u32 %sum
        %e2 = OpGroupNonUniformAllEqual %bool %n3 %bits
        %y = OpSelect %i32 %e2 %a %b
        OpStore %out %y",
        &["OpType", "Bitcast", "AllEqual"],
        expect![[r#"
            %3 = OpTypeVoid
            %4 = OpTypeFunction %3
            %6 = OpTypeInt 32 0
            %8 = OpTypeInt 32 1
            %9 = OpTypePointer StorageBuffer %8
            %17 = OpTypeBool
            %20 = OpTypeFloat 32
            %27 = OpTypeRuntimeArray %8
            %28 = OpTypeStruct %27
            %29 = OpTypePointer StorageBuffer %28
            %21 = OpBitcast  %20  %15
            %18 = OpGroupNonUniformAllEqual  %17  %19 %21
            %25 = OpBitcast  %6  %23
            %24 = OpGroupNonUniformAllEqual  %17  %19 %25
        "#]],
    );
}

#[test]
fn numbers_of_invocations() {
    check_signed(
        "OpCapability GroupNonUniformShuffle\nOpCapability GroupNonUniformBallot",
        r"
        %i = OpBitcast %u32 %a
        %x = OpGroupNonUniformShuffle %i32 %n3 %a %i
        OpStore %out %x
        %c = OpSLessThan %bool %a %b
        %ballot = OpGroupNonUniformBallot %u32x4 %n3 %c
        %d = OpGroupNonUniformBallotBitExtract %bool %n3 %ballot %i
        %y = OpSelect %i32 %d %a %b
        OpStore %out %y
        %count = OpGroupNonUniformBallotBitCount %u32 %n3 Reduce %ballot
        %z = OpBitcast %i32 %count
        OpStore %out %z",
        INTEGERS,
        expect![[r#"
            %6 = OpTypeInt 32 0
            %8 = OpTypeInt 32 1
            %19 = OpBitcast  %6  %15
            %17 = OpGroupNonUniformShuffle  %8  %18 %15 %19
            %23 = OpGroupNonUniformBallot  %22  %18 %20
            %24 = OpGroupNonUniformBallotBitExtract  %21  %18 %23 %19
            %26 = OpGroupNonUniformBallotBitCount  %6  %18 Reduce %23
            %27 = OpBitcast  %8  %26
        "#]],
    );
}

#[test]
fn unsigned_reductions() {
    check_signed(
        "OpCapability GroupNonUniformArithmetic",
        r"
        %u = OpBitcast %u32 %a
        %x = OpGroupNonUniformUMin %u32 %n3 Reduce %u
        %y = OpBitcast %i32 %x
        OpStore %out %y",
        INTEGERS,
        expect![[r#"
            %6 = OpTypeInt 32 0
            %8 = OpTypeInt 32 1
            %19 = OpBitcast  %6  %15
            %17 = OpGroupNonUniformUMin  %6  %18 Reduce %19
            %20 = OpBitcast  %8  %17
        "#]],
    );
}

/// Both factors and both halves of the product are of one sign.
#[test]
fn wide_products() {
    check_signed(
        "",
        r"
        %u = OpBitcast %u32 %b
        %low = OpUDiv %u32 %u %n3
        %back = OpBitcast %i32 %low
        %p = OpSMulExtended %i_pair %a %back
        %x = OpCompositeExtract %i32 %p 1
        OpStore %out %x",
        &["OpTypeInt", "OpTypeStruct", "OpBitcast", "OpSMul"],
        expect![[r#"
            %6 = OpTypeInt 32 0
            %8 = OpTypeInt 32 1
            %22 = OpTypeStruct %8 %8
            %25 = OpTypeStruct %24
            %17 = OpBitcast  %6  %16
            %20 = OpBitcast  %8  %19
            %23 = OpSMulExtended  %22  %15 %20
        "#]],
    );
}

/// What saturates does so at the size of its result, and all else is widened by its sign. Packed vectors say so.
#[test]
fn dot_products() {
    check_signed(
        "OpCapability DotProduct\nOpCapability DotProductInput4x8BitPacked\nOpCapability Int64",
        r"
        %d = OpSDot %i64 %a %b 0
        %e = OpSConvert %i32 %d
        OpStore %out %e
        %f = OpSDotAccSat %i32 %a %b %e 0
        OpStore %out %f
        %g = OpUDot %u64 %a %b 0
        %h = OpUConvert %u32 %g
        %i = OpBitcast %i32 %h
        OpStore %out %i",
        &["OpTypeInt", "Dot", "Convert", "Bitcast"],
        expect![[r#"
            OpCapability DotProduct
            OpCapability DotProductInput4x8BitPacked
            %6 = OpTypeInt 32 0
            %8 = OpTypeInt 32 1
            %19 = OpTypeInt 64 0
            %17 = OpSDot  %6  %15 %16 PackedVectorFormat4x8Bit
            %18 = OpSConvert  %19  %17
            %20 = OpSConvert  %8  %18
            %21 = OpSDotAccSat  %8  %15 %16 %20 PackedVectorFormat4x8Bit
            %22 = OpBitcast  %6  %15
            %23 = OpBitcast  %6  %16
            %24 = OpUDot  %6  %22 %23 PackedVectorFormat4x8Bit
            %25 = OpUConvert  %19  %24
            %26 = OpUConvert  %6  %25
            %27 = OpBitcast  %8  %26
        "#]],
    );
}

#[test]
fn a_dot_product_that_saturates_elsewhere_is_refused() {
    let code = r"
        %acc = OpSConvert %i64 %a
        %f = OpSDotAccSat %i64 %a %b %acc 0
        %g = OpSConvert %i32 %f
        OpStore %out %g";
    let capabilities =
        "OpCapability DotProduct\nOpCapability DotProductInput4x8BitPacked\nOpCapability Int64";
    let text = compute(capabilities, SIGNED_DECORATIONS, &format!("{SIGNED}{code}{END}"));
    let error = read(&assemble(&text), &ReadOptions::default()).expect_err("it is refused");
    assert_eq!(error.kind, ErrorKind::Unsupported);
}

/// Opcodes of one size are no instructions of another: the bits would come to lie elsewhere.
#[test]
fn bits_reversed_at_another_size_are_refused() {
    let code = r"
        %wide = OpSConvert %i64 %a
        %f = OpBitReverse %i64 %wide
        %g = OpSConvert %i32 %f
        OpStore %out %g";
    let text = compute("OpCapability Int64", SIGNED_DECORATIONS, &format!("{SIGNED}{code}{END}"));
    let error = read(&assemble(&text), &ReadOptions::default()).expect_err("it is refused");
    assert_eq!(error.kind, ErrorKind::Unsupported);
}

#[test]
fn times() {
    check_signed(
        "OpCapability ShaderClockKHR",
        r"
        %t = OpReadClockKHR %u32x2 %n3
        %s = OpBitcast %i32x2 %t
        %x = OpCompositeExtract %i32 %s 0
        OpStore %out %x",
        &["OpTypeInt", "OpTypeVector", "ReadClock", "Bitcast"],
        expect![[r#"
            %6 = OpTypeInt 32 0
            %8 = OpTypeInt 32 1
            %17 = OpTypeVector %6 2
            %18 = OpReadClockKHR  %17  %19
            %21 = OpBitcast  %8  %20
        "#]],
    );
}

/// An exchange that fails orders nothing: it names no memory.
#[test]
fn exchanges() {
    let code = r"
        %acquire = OpConstant %u32 72
        %both = OpConstant %u32 328
        %failed = OpConstant %u32 66
        ";
    let text = compute(
        "",
        SIGNED_DECORATIONS,
        &format!(
            r"{code}{SIGNED}
        %x = OpAtomicCompareExchange %i32 %at %n1 %acquire %n0 %a %b
        OpStore %out %x
        %y = OpAtomicCompareExchange %i32 %at %n1 %both %failed %a %b
        OpStore %out %y{END}"
        ),
    );
    expect![[r#"
        %7 = OpConstant  %6  0
        %11 = OpConstant  %6  1
        %13 = OpConstant  %6  2
        %18 = OpConstant  %6  72
        %20 = OpConstant  %6  328
        %21 = OpConstant  %6  322
        %17 = OpAtomicCompareExchange  %8  %12 %11 %18 %7 %15 %16
        %19 = OpAtomicCompareExchange  %8  %12 %11 %20 %21 %15 %16
    "#]]
    .assert_eq(&written(&text, &["OpConstant ", "OpAtomic"]));
}
