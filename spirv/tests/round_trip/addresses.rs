//! Addresses, which are pointers or numbers, and pointers that are compared.

use super::asm::{assemble, compute};
use super::written;
use deburr_spirv::{ErrorKind, ReadOptions, WriteOptions, read, write};
use expect_test::expect;

/// A compute module that has two addresses in a buffer, `%a` and `%b`, and a condition `%c`. `%out` takes a number of
/// 64 bits.
fn with_addresses(code: &str) -> String {
    let text = compute(
        "OpCapability Int64\nOpCapability PhysicalStorageBufferAddresses",
        r"
        OpDecorate %block Block
        OpMemberDecorate %block 0 Offset 0
        OpMemberDecorate %block 1 Offset 8
        OpMemberDecorate %block 2 Offset 16
        OpMemberDecorate %block 3 Offset 24
        OpDecorate %buf DescriptorSet 0
        OpDecorate %buf Binding 0",
        &format!(
            r"
        %u64 = OpTypeInt 64 0
        %i64 = OpTypeInt 64 1
        %n3 = OpConstant %u32 3
        %eight = OpConstant %u64 8 0
        %block = OpTypeStruct %u64 %u64 %u64 %i64
        %ptr_block = OpTypePointer StorageBuffer %block
        %ptr64 = OpTypePointer StorageBuffer %u64
        %ptr_i64 = OpTypePointer StorageBuffer %i64
        %address = OpTypePointer PhysicalStorageBuffer %u32
        %buf = OpVariable %ptr_block StorageBuffer
        %main = OpFunction %void None %fn
        %start = OpLabel
        %at = OpAccessChain %ptr64 %buf %n0
        %bt = OpAccessChain %ptr64 %buf %n1
        %out = OpAccessChain %ptr64 %buf %n2
        %signed_out = OpAccessChain %ptr_i64 %buf %n3
        %a = OpLoad %u64 %at
        %b = OpLoad %u64 %bt
        %p = OpConvertUToPtr %address %a
        %word = OpLoad %u32 %p 2 4
        %c = OpULessThan %bool %word %n2
        {code}
        OpReturn
        OpFunctionEnd"
        ),
    );
    text.replace("OpMemoryModel Logical", "OpMemoryModel PhysicalStorageBuffer64")
}

const SHOWN: &[&str] = &["OpConvert", "OpSelect ", "OpPhi", "OpBitcast", "OpIMul", "OpTypeInt 64"];

/// An address and a number, one of which is chosen, are numbers both.
#[test]
fn a_choice_of_an_address_or_a_number() {
    let text = with_addresses(
        r"
        %n = OpConvertPtrToU %u64 %p
        %x = OpSelect %u64 %c %n %b
        %y = OpIMul %u64 %x %x
        OpStore %out %y
        %z = OpSelect %u64 %c %n %eight
        %q = OpConvertUToPtr %address %z
        OpStore %q %word 2 4",
    );
    expect![[r#"
        %8 = OpTypeInt 64 0
        %29 = OpTypeInt 64 1
        %18 = OpConvertUToPtr  %17  %15
        %22 = OpConvertPtrToU  %8  %18
        %23 = OpSelect  %8  %20 %22 %16
        %24 = OpIMul  %8  %23 %23
        %25 = OpConvertPtrToU  %8  %18
        %27 = OpSelect  %8  %20 %25 %26
        %28 = OpConvertUToPtr  %17  %27
    "#]]
    .assert_eq(&written(&text, SHOWN));
}

/// Where the number is an operand of a phi, it is made beside the address.
#[test]
fn addresses_that_meet_numbers() {
    let text = with_addresses(
        r"
        OpBranch %head
        %head = OpLabel
        %x = OpPhi %u64 %b %start %n %next
        %q = OpConvertUToPtr %address %x
        %more = OpLoad %u32 %q 2 4
        %d = OpIEqual %bool %more %n2
        OpLoopMerge %end %next None
        OpBranchConditional %d %end %next
        %next = OpLabel
        %offset = OpUConvert %u64 %more
        %sum = OpIAdd %u64 %a %offset
        %r = OpConvertUToPtr %address %sum
        OpStore %r %more 2 4
        %n = OpConvertPtrToU %u64 %r
        OpBranch %head
        %end = OpLabel
        OpStore %out %x",
    );
    expect![[r#"
        %14 = OpTypeInt 64 0
        %36 = OpTypeInt 64 1
        %24 = OpConvertUToPtr  %23  %21
        %28 = OpPhi  %14  %22 %5 %29 %10
        %30 = OpConvertUToPtr  %23  %28
        %35 = OpConvertUToPtr  %23  %34
        %29 = OpConvertPtrToU  %14  %35
    "#]]
    .assert_eq(&written(&text, SHOWN));
}

/// Between pointers a choice is of pointers, and a number where one is asked for: OpConvertPtrToU gives an unsigned one.
#[test]
fn a_choice_of_addresses() {
    let text = with_addresses(
        r"
        %q = OpConvertUToPtr %address %b
        %x = OpSelect %address %c %p %q
        OpStore %x %word 2 4
        %n = OpConvertPtrToU %u64 %x
        %signed = OpBitcast %i64 %n
        OpStore %signed_out %signed",
    );
    expect![[r#"
        %8 = OpTypeInt 64 0
        %14 = OpTypeInt 64 1
        %20 = OpConvertUToPtr  %19  %17
        %25 = OpConvertUToPtr  %19  %18
        %26 = OpSelect  %19  %23 %20 %25
        %28 = OpConvertPtrToU  %8  %26
        %27 = OpBitcast  %14  %28
    "#]]
    .assert_eq(&written(&text, SHOWN));
}

fn compared(code: &str) -> String {
    compute(
        "OpCapability VariablePointersStorageBuffer",
        r"
        OpDecorate %block Block
        OpDecorate %words ArrayStride 4
        OpMemberDecorate %block 0 Offset 0
        OpDecorate %buf DescriptorSet 0
        OpDecorate %buf Binding 0",
        &format!(
            r"
        %words = OpTypeRuntimeArray %u32
        %block = OpTypeStruct %words
        %ptr_block = OpTypePointer StorageBuffer %block
        %ptr = OpTypePointer StorageBuffer %u32
        %buf = OpVariable %ptr_block StorageBuffer
        %main = OpFunction %void None %fn
        %start = OpLabel
        %p = OpAccessChain %ptr %buf %n0 %n1
        %a = OpLoad %u32 %p
        %q = OpAccessChain %ptr %buf %n0 %a
        {code}
        OpReturn
        OpFunctionEnd"
        ),
    )
}

#[test]
fn pointers_that_are_compared() {
    let text = compared(
        r"
        %same = OpPtrEqual %bool %p %q
        %x = OpSelect %ptr %same %p %q
        %other = OpPtrNotEqual %bool %x %p
        %y = OpSelect %u32 %other %n1 %n2
        OpStore %p %y",
    );
    expect![[r#"
        %10 = OpAccessChain  %9  %2 %8 %7
        %12 = OpAccessChain  %9  %2 %8 %11
        %14 = OpPtrEqual  %13  %10 %12
        %15 = OpSelect  %9  %14 %10 %12
        %16 = OpPtrNotEqual  %13  %15 %10
        %18 = OpSelect  %6  %16 %7 %17
    "#]]
    .assert_eq(&written(&text, &["OpAccessChain", "OpPtr", "OpSelect "]));
}

/// Pointers without addresses are no numbers.
#[test]
fn pointers_are_not_compared_with_numbers() {
    let text = compared("%same = OpPtrEqual %bool %p %a");
    let error = read(&assemble(&text), &ReadOptions::default()).expect_err("it is refused");
    assert_eq!(error.kind, ErrorKind::Invalid);
    let text =
        compared("%same = OpPtrEqual %bool %p %q\n%y = OpSelect %u32 %same %n1 %n2\nOpStore %p %y");
    let module = read(&assemble(&text), &ReadOptions::default()).expect("it is read");
    let ir = module.to_string().replace("ieq", "ult");
    let module = deburr_ir_core::parse(&ir).expect("the text is read");
    let error = write(&module, &WriteOptions::default()).expect_err("it is refused");
    assert_eq!(error.kind, ErrorKind::Unsupported);
}
