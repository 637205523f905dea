//! 8- and 16-bit values of modules that can store them and do nothing else with them.

use super::asm::compute;
use super::written;
use deburr_spirv::{Error, ErrorKind, WriteOptions, write};
use expect_test::expect;
use rspirv::binary::Disassemble;

/// Buffers `%a` and `%b` of narrow members, and pointers `%pa` … and `%p` … to them.
fn stored(code: &str) -> String {
    compute(
        "OpCapability StorageBuffer16BitAccess\nOpCapability StorageBuffer8BitAccess",
        r"
        OpDecorate %block Block
        OpMemberDecorate %block 0 Offset 0
        OpMemberDecorate %block 1 Offset 4
        OpMemberDecorate %block 2 Offset 8
        OpDecorate %a DescriptorSet 0
        OpDecorate %a Binding 0
        OpDecorate %b DescriptorSet 0
        OpDecorate %b Binding 1",
        &format!(
            r"
            %f16 = OpTypeFloat 16
            %u16 = OpTypeInt 16 0
            %i8 = OpTypeInt 8 1
            %u16x2 = OpTypeVector %u16 2
            %block = OpTypeStruct %f16 %u16x2 %i8
            %ptr_block = OpTypePointer StorageBuffer %block
            %ptr_f16 = OpTypePointer StorageBuffer %f16
            %ptr_u16x2 = OpTypePointer StorageBuffer %u16x2
            %ptr_i8 = OpTypePointer StorageBuffer %i8
            %a = OpVariable %ptr_block StorageBuffer
            %b = OpVariable %ptr_block StorageBuffer
            %main = OpFunction %void None %fn
            %start = OpLabel
            %pa = OpAccessChain %ptr_f16 %a %n0
            %qa = OpAccessChain %ptr_u16x2 %a %n1
            %ra = OpAccessChain %ptr_i8 %a %n2
            %p = OpAccessChain %ptr_f16 %b %n0
            %q = OpAccessChain %ptr_u16x2 %b %n1
            %r = OpAccessChain %ptr_i8 %b %n2
            {code}
            OpReturn
            OpFunctionEnd"
        ),
    )
}

const SHOWN: [&str; 5] = ["OpLoad", "OpStore", "Convert", "OpComposite", "OpConstant"];

/// What loads and stores a whole object does so; one that is taken apart is loaded in parts.
#[test]
fn objects_with_narrow_members() {
    expect![[r#"
        %12 = OpLoad  %11  %2
        OpStore %3 %12
    "#]]
    .assert_eq(&written(&stored("%x = OpLoad %block %a\nOpStore %b %x"), &SHOWN));
    let code = r"
        %h = OpLoad %f16 %pa
        OpStore %p %h
        %v = OpLoad %u16x2 %qa
        OpStore %q %v
        %c = OpLoad %i8 %ra
        OpStore %r %c";
    expect![[r#"
        %8 = OpConstant  %7  0
        %12 = OpConstant  %7  1
        %17 = OpConstant  %7  2
        %24 = OpLoad  %9  %11
        OpStore %21 %24
        %25 = OpLoad  %14  %16
        OpStore %22 %25
        %26 = OpLoad  %18  %20
        OpStore %23 %26
    "#]]
    .assert_eq(&written(&stored(code), &SHOWN));
}

/// What is written of a main function in the text of the IR, where `%0` is a buffer of narrow members.
fn written_ir(code: &str) -> Result<String, Error> {
    let text = written_under("", code)?;
    let shown = ["Load", "Store", "Convert", "OpComposite", "Constant", "Shuffle", "Undef"];
    let lines = text.lines().filter(|l| shown.iter().any(|s| l.contains(s)));
    Ok(lines.map(|l| format!("{l}\n")).collect())
}

/// The module that is written under one more declaration.
fn written_under(declaration: &str, code: &str) -> Result<String, Error> {
    let text = format!(
        r#"deburr_ir 1
decl_env spirv 1 5 Logical GLSL450
decl_capability Shader
decl_capability StorageBuffer16BitAccess
decl_capability StorageBuffer8BitAccess
{declaration}
shader compute "main" entry(main) LocalSize(1, 1, 1) interface(&v0)
decl_type A = struct(Block) {{
  f16 h (offset=0),
  u16x2 v (offset=4),
  i8 c (offset=8),
  i16x2 w (offset=12),
}}
decl_var ssbo A &v0 (0, 0)
decl_function main()

impl main {{
  block b0:
    32 %0 = deref_var &v0 (ssbo A)
    32 %1 = deref_struct &(%0).0 (ssbo f16)
    32 %2 = deref_struct &(%0).1 (ssbo u16x2)
    32 %3 = deref_struct &(%0).2 (ssbo i8)
    32 %4 = deref_struct &(%0).3 (ssbo i16x2)
    {code}
}}
"#
    );
    let module = deburr_ir_core::parse(&text).unwrap_or_else(|e| panic!("{e:?}"));
    deburr_ir_core::validate(&module).expect("the module is valid");
    let words = write(&module, &WriteOptions::default())?;
    Ok(rspirv::dr::load_words(words).expect("what is written is SPIR-V").disassemble())
}

/// Folding makes constants, and undefs are narrow too.
#[test]
fn narrow_constants() {
    let code = "
    16 %5 = load_const (0x3e00)
    16x2 %6 = load_const (0x7, 0xffff)
    8 %7 = load_const (0xfe)
    16x2 %8 = undef
    @store_deref %1, %5 (write_mask=x)
    @store_deref %2, %6 (write_mask=x|y)
    @store_deref %3, %7 (write_mask=x)
    @store_deref %4, %8 (write_mask=x|y)
    @store_deref %2, %6 (write_mask=y)";
    expect![[r#"
        %7 = OpConstant  %6  0
        %11 = OpConstant  %6  1
        %16 = OpConstant  %6  2
        %20 = OpConstant  %6  3
        %26 = OpConstant  %25  1.5
        %29 = OpConstant  %6  7
        %30 = OpConstant  %6  65535
        %31 = OpConstantComposite  %28  %29 %30
        %34 = OpConstant  %33  -2
        %37 = OpConstantNull  %36
        %27 = OpFConvert  %8  %26
        OpStore %10 %27
        %32 = OpUConvert  %13  %31
        OpStore %15 %32
        %35 = OpSConvert  %17  %34
        OpStore %19 %35
        %38 = OpSConvert  %22  %37
        OpStore %24 %38
        %41 = OpUConvert  %12  %30
        OpStore %40 %41
    "#]]
    .assert_eq(&written_ir(code).expect("it can be written"));
}

/// Components, vectors and the other signedness by way of 32 bits.
#[test]
fn parts_of_narrow_values() {
    let code = "
    16x2 %5 = @load_deref %2
    16x2 %6 = vec2 %5.y, %5.x
    @store_deref %4, %6 (write_mask=x|y)
    16 %7 = mov %5.y
    32 %8 = u2u32 %7
    16 %9 = u2u16 %8
    16x2 %10 = vec2 %9, %7
    @store_deref %2, %10 (write_mask=x|y)";
    expect![[r#"
        %7 = OpConstant  %6  1
        %12 = OpConstant  %6  3
        %17 = OpLoad  %9  %11
        %20 = OpUConvert  %18  %17
        %21 = OpCompositeExtract  %6  %20 1
        %22 = OpUConvert  %8  %21
        %23 = OpUConvert  %6  %22
        %24 = OpUConvert  %18  %17
        %25 = OpCompositeExtract  %6  %24 0
        %26 = OpUConvert  %8  %25
        %27 = OpUConvert  %6  %26
        %19 = OpCompositeConstruct  %18  %23 %27
        %28 = OpUConvert  %9  %19
        %29 = OpUConvert  %18  %28
        %30 = OpSConvert  %14  %29
        OpStore %16 %30
        %31 = OpUConvert  %6  %22
        %32 = OpUConvert  %8  %31
        %34 = OpUConvert  %6  %32
        %35 = OpUConvert  %6  %22
        %33 = OpCompositeConstruct  %18  %34 %35
        %36 = OpUConvert  %9  %33
        OpStore %11 %36
    "#]]
    .assert_eq(&written_ir(code).expect("it can be written"));
}

/// A capability that another one implies is there without being declared, and is not declared by the writer either.
#[test]
fn a_capability_may_be_implied() {
    let code = "
    8 %5 = @load_deref %3
    8 %6 = iadd %5, %5
    @store_deref %3, %6 (write_mask=x)";
    let error = written_under("", code).expect_err("the module has no Int8");
    assert_eq!(error.message, "`iadd` at 8 bits, which the module has no capability for");
    let own = ["Shader", "StorageBuffer16BitAccess", "StorageBuffer8BitAccess"];
    for more in ["Int8", "DotProductInput4x8Bit"] {
        let text = written_under(&format!("decl_capability {more}"), code).expect("Int8 is there");
        let declared = text.lines().filter_map(|l| l.strip_prefix("OpCapability "));
        assert!(declared.map(str::trim).eq(own.into_iter().chain([more])), "{text}");
        assert!(text.contains("OpIAdd"), "{text}");
    }
}

#[test]
fn narrow_arithmetic_needs_a_capability() {
    let code = "
    16 %5 = @load_deref %1
    16 %6 = fadd %5, %5
    @store_deref %1, %6 (write_mask=x)";
    let error = written_ir(code).expect_err("the module has no Float16");
    assert_eq!(error.kind, ErrorKind::Unsupported);
    assert_eq!(error.message, "`fadd` at 16 bits, which the module has no capability for");
    let code = "
    16 %5 = @load_deref %1
    16x2 %6 = vec2 %5, %5
    @store_deref %2, %6 (write_mask=x|y)";
    let error = written_ir(code).expect_err("a float is no integer");
    assert_eq!(error.kind, ErrorKind::Unsupported);
}
