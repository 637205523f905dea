//! Float arithmetic and its decorations.

use super::asm::{HEADER, assemble, compute};
use super::{MAIN, check, written};
use deburr_spirv::{ErrorKind, ReadOptions, WriteOptions, read, write};
use expect_test::expect;
use rspirv::binary::Disassemble;

#[test]
fn floats() {
    check(
        &compute(
            "",
            r"
            OpDecorate %block Block
            OpMemberDecorate %block 0 Offset 0
            OpMemberDecorate %block 0 ColMajor
            OpMemberDecorate %block 0 MatrixStride 8
            OpMemberDecorate %block 1 Offset 16
            OpDecorate %buf DescriptorSet 0
            OpDecorate %buf Binding 0",
            r"
            %vec2 = OpTypeVector %f32 2
            %mat2 = OpTypeMatrix %vec2 2
            %block = OpTypeStruct %mat2 %f32
            %ptr_block = OpTypePointer StorageBuffer %block
            %ptr_mat = OpTypePointer StorageBuffer %mat2
            %ptr_f32 = OpTypePointer StorageBuffer %f32
            %buf = OpVariable %ptr_block StorageBuffer
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
            OpFunctionEnd",
        ),
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

/// The decorations that `write` gives a compare of two floats, by its decorations and how it is written.
fn compare_decorations(capabilities: &str, decorations: &str, op: &str) -> String {
    let block = r"
        OpDecorate %block Block
        OpMemberDecorate %block 0 Offset 0
        OpMemberDecorate %block 1 Offset 4
        OpDecorate %buf DescriptorSet 0
        OpDecorate %buf Binding 0";
    let code = format!(
        r"
        %block = OpTypeStruct %f32 %f32
        %ptr_block = OpTypePointer StorageBuffer %block
        %ptr = OpTypePointer StorageBuffer %f32
        %buf = OpVariable %ptr_block StorageBuffer
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
        OpFunctionEnd"
    );
    let text = compute(capabilities, &format!("{decorations}{block}"), &code);
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

/// Two conversions of one float that are stored, with a rounding mode each.
fn stored_conversions(first: &str, second: &str) -> String {
    compute(
        "OpCapability StorageBuffer16BitAccess",
        &format!(
            r"
            OpDecorate %block Block
            OpMemberDecorate %block 0 Offset 0
            OpMemberDecorate %block 1 Offset 4
            OpMemberDecorate %pair 0 Offset 0
            OpMemberDecorate %pair 1 Offset 2
            OpDecorate %buf DescriptorSet 0
            OpDecorate %buf Binding 0
            OpDecorate %a FPRoundingMode {first}
            OpDecorate %b FPRoundingMode {second}"
        ),
        r"
        %f16 = OpTypeFloat 16
        %pair = OpTypeStruct %f16 %f16
        %block = OpTypeStruct %f32 %pair
        %ptr_block = OpTypePointer StorageBuffer %block
        %ptr_f32 = OpTypePointer StorageBuffer %f32
        %ptr_f16 = OpTypePointer StorageBuffer %f16
        %buf = OpVariable %ptr_block StorageBuffer
        %main = OpFunction %void None %fn
        %start = OpLabel
        %p = OpAccessChain %ptr_f32 %buf %n0
        %q = OpAccessChain %ptr_f16 %buf %n1 %n0
        %r = OpAccessChain %ptr_f16 %buf %n1 %n1
        %x = OpLoad %f32 %p
        %a = OpFConvert %f16 %x
        %b = OpFConvert %f16 %x
        OpStore %q %a
        OpStore %r %b
        OpReturn
        OpFunctionEnd",
    )
}

/// They are stored one by one: SPIR-V lets a shader make nothing else of such a value.
#[test]
fn rounding_modes_of_conversions() {
    let text = stored_conversions("RTZ", "RTE");
    let shown = ["FPRounding", "FConvert", "OpStore", "OpCompositeConstruct"];
    expect![[r#"
        OpDecorate %17 FPRoundingMode RTZ
        OpDecorate %18 FPRoundingMode RTE
        %17 = OpFConvert  %12  %16
        %18 = OpFConvert  %12  %16
        OpStore %14 %17
        OpStore %15 %18
    "#]]
    .assert_eq(&written(&text, &shown));
    for mode in ["RTP", "RTN"] {
        let error = read(&assemble(&stored_conversions("RTE", mode)), &ReadOptions::default());
        let error = error.expect_err("shaders have two modes");
        assert_eq!(error.kind, ErrorKind::Unsupported);
        assert_eq!(error.message, format!("the rounding mode {mode}"));
    }
}

/// Instructions that are one but for a decoration stay two, also where the IR has them in parts.
#[test]
fn parts_of_instructions_with_other_flags() {
    let text = compute(
        "",
        r"
        OpDecorate %block Block
        OpMemberDecorate %block 0 Offset 0
        OpMemberDecorate %block 0 ColMajor
        OpMemberDecorate %block 0 MatrixStride 8
        OpMemberDecorate %block 1 Offset 16
        OpMemberDecorate %block 2 Offset 24
        OpDecorate %buf DescriptorSet 0
        OpDecorate %buf Binding 0
        OpDecorate %n NoContraction
        OpDecorate %fb RelaxedPrecision",
        r"
        %vec2 = OpTypeVector %f32 2
        %mat2 = OpTypeMatrix %vec2 2
        %pair = OpTypeStruct %f32 %f32
        %block = OpTypeStruct %mat2 %vec2 %f32
        %ptr_block = OpTypePointer StorageBuffer %block
        %ptr_mat = OpTypePointer StorageBuffer %mat2
        %ptr_vec2 = OpTypePointer StorageBuffer %vec2
        %ptr_f32 = OpTypePointer StorageBuffer %f32
        %buf = OpVariable %ptr_block StorageBuffer
        %main = OpFunction %void None %fn
        %start = OpLabel
        %p = OpAccessChain %ptr_mat %buf %n0
        %q = OpAccessChain %ptr_vec2 %buf %n1
        %r = OpAccessChain %ptr_f32 %buf %n2
        %v = OpLoad %vec2 %q
        %x = OpLoad %f32 %r
        %m = OpOuterProduct %mat2 %v %v
        %n = OpOuterProduct %mat2 %v %v
        OpStore %p %m
        OpStore %p %n
        %fa = OpExtInst %pair %glsl ModfStruct %x
        %fb = OpExtInst %pair %glsl ModfStruct %x
        %a = OpCompositeExtract %f32 %fa 0
        %b = OpCompositeExtract %f32 %fb 1
        OpStore %r %a
        OpStore %r %b
        OpReturn
        OpFunctionEnd",
    );
    let text =
        text.replace("OpMemoryModel", "%glsl = OpExtInstImport \"GLSL.std.450\"\nOpMemoryModel");
    let shown = ["NoContraction", "Relaxed", "OuterProduct", "ExtInst "];
    expect![[r#"
        OpDecorate %22 NoContraction
        OpDecorate %28 RelaxedPrecision
        %21 = OpOuterProduct  %10  %19 %19
        %22 = OpOuterProduct  %10  %19 %19
        %25 = OpExtInst  %24  %26 ModfStruct %20
        %28 = OpExtInst  %24  %26 ModfStruct %20
    "#]]
    .assert_eq(&written(&text, &shown));
}

/// Signs flush where the environment does: the flush that the IR has in front of them is not written, others are.
#[test]
fn signs_that_flush() {
    let text = compute(
        "OpCapability 4464",
        r"
        OpExecutionMode %main DenormFlushToZero 32
        OpDecorate %block Block
        OpMemberDecorate %block 0 Offset 0
        OpDecorate %buf DescriptorSet 0
        OpDecorate %buf Binding 0",
        r"
        %vec2 = OpTypeVector %f32 2
        %block = OpTypeStruct %vec2
        %ptr_block = OpTypePointer StorageBuffer %block
        %ptr = OpTypePointer StorageBuffer %vec2
        %buf = OpVariable %ptr_block StorageBuffer
        %main = OpFunction %void None %fn
        %start = OpLabel
        %p = OpAccessChain %ptr %buf %n0
        %x = OpLoad %vec2 %p
        %n = OpFNegate %vec2 %x
        OpStore %p %n
        %a = OpExtInst %vec2 %glsl FAbs %x
        OpStore %p %a
        OpReturn
        OpFunctionEnd",
    );
    let text =
        text.replace("OpMemoryModel", "%glsl = OpExtInstImport \"GLSL.std.450\"\nOpMemoryModel");
    let module = read(&assemble(&text), &ReadOptions::default()).expect("the module can be read");
    assert_eq!(module.to_string().matches("fcanonicalize").count(), 2);
    let shown = ["FNegate", "FAbs", "FMul", "NoContraction"];
    expect![[r#"
        %13 = OpFNegate  %9  %12
        %14 = OpExtInst  %9  %15 FAbs %12
    "#]]
    .assert_eq(&written(&text, &shown));
    // A flush alone, as passes leave it.
    let ir = module.to_string().replace("= fneg", "= mov");
    let module = deburr_ir_core::parse(&ir).expect("the text is right");
    let words = write(&module, &WriteOptions::default()).expect("the module can be written");
    let text = rspirv::dr::load_words(words).expect("what is written is SPIR-V").disassemble();
    let lines = text.lines().filter(|l| shown.iter().any(|s| l.contains(s)));
    expect![[r#"
        OpDecorate %15 NoContraction
        %15 = OpFMul  %9  %12 %14
        %16 = OpExtInst  %9  %17 FAbs %12"#]]
    .assert_eq(&lines.collect::<Vec<_>>().join("\n"));
}

/// NoContraction is for instructions of GLSL.std.450 too.
#[test]
fn extended_instructions_that_are_not_contracted() {
    let header = HEADER.replacen(
        "OpDecorate %block Block",
        "OpDecorate %block Block\nOpDecorate %x NoContraction\nOpDecorate %z NoContraction",
        1,
    );
    let code = r"
        %f = OpBitcast %f32 %a
        %x = OpExtInst %f32 %glsl Fma %f %f %x0
        %y = OpExtInst %f32 %glsl Sin %x
        %z = OpExtInst %f32 %glsl FMax %f %y
        %bits = OpBitcast %u32 %z
        OpStore %out %bits";
    let text = format!("{header}{MAIN}{code}\nOpReturn\nOpFunctionEnd");
    expect![[r#"
        OpDecorate %14 NoContraction
        OpDecorate %17 NoContraction
        %14 = OpExtInst  %11  %15 Fma %12 %12 %13
        %16 = OpExtInst  %11  %15 Sin %14
        %17 = OpExtInst  %11  %15 FMax %12 %16
    "#]]
    .assert_eq(&written(&text, &["NoContraction", "OpExtInst "]));
}
