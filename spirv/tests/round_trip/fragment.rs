//! Instructions of fragment shaders.

use super::asm::assemble;
use super::{check, written};
use deburr_spirv::{ErrorKind, ReadOptions, read};
use expect_test::expect;

/// A fragment shader with an input `%in` of two floats and an output `%out`.
fn fragment(capabilities: &str, code: &str) -> String {
    format!(
        r#"
        OpCapability Shader
        {capabilities}
        %glsl = OpExtInstImport "GLSL.std.450"
        OpMemoryModel Logical GLSL450
        OpEntryPoint Fragment %main "main" %in %out
        OpExecutionMode %main OriginUpperLeft
        OpDecorate %in Location 0
        OpDecorate %out Location 0
        %void = OpTypeVoid
        %fn = OpTypeFunction %void
        %bool = OpTypeBool
        %u32 = OpTypeInt 32 0
        %f32 = OpTypeFloat 32
        %f32x2 = OpTypeVector %f32 2
        %ptr_in = OpTypePointer Input %f32x2
        %ptr_out = OpTypePointer Output %f32x2
        %in = OpVariable %ptr_in Input
        %out = OpVariable %ptr_out Output
        %zero = OpConstant %f32 0
        %n1 = OpConstant %u32 1
        %half = OpConstantComposite %f32x2 %zero %zero
        %main = OpFunction %void None %fn
        %start = OpLabel
        {code}
        OpReturn
        OpFunctionEnd"#
    )
}

/// The IR has the sum of the magnitudes of two derivatives.
#[test]
fn widths_of_derivatives() {
    let code = "
        %x = OpLoad %f32x2 %in
        %a = OpFwidth %f32x2 %x
        %b = OpFwidthFine %f32x2 %a
        %c = OpFwidthCoarse %f32x2 %b
        OpStore %out %c";
    check(
        &fragment("OpCapability DerivativeControl", code),
        expect![[r#"
        %1 = OpFunction  %4  None %5
        %6 = OpLabel
        %9 = OpLoad  %8  %2
        %10 = OpFwidth  %8  %9
        %11 = OpFwidthFine  %8  %10
        %12 = OpFwidthCoarse  %8  %11
        OpStore %3 %12
        OpReturn
        OpFunctionEnd
    "#]],
    );
    // Its parts stay where something else needs one, or they are not of one value.
    let code = "
        %x = OpLoad %f32x2 %in
        %dx = OpDPdx %f32x2 %x
        %dy = OpDPdy %f32x2 %x
        %ax = OpExtInst %f32x2 %glsl FAbs %dx
        %ay = OpExtInst %f32x2 %glsl FAbs %dy
        %sum = OpFAdd %f32x2 %ay %ax
        %more = OpFAdd %f32x2 %sum %ay
        OpStore %out %more";
    expect![[r#"
        %10 = OpDPdx  %8  %9
        %11 = OpDPdy  %8  %9
        %12 = OpExtInst  %8  %13 FAbs %10
        %14 = OpExtInst  %8  %13 FAbs %11
        %15 = OpFAdd  %8  %14 %12
        %16 = OpFAdd  %8  %15 %14
    "#]]
    .assert_eq(&written(&fragment("", code), &["DPd", "FAbs", "FAdd", "Fwidth"]));
}

#[test]
fn interpolation() {
    let code = "
        %a = OpExtInst %f32x2 %glsl InterpolateAtCentroid %in
        %b = OpExtInst %f32x2 %glsl InterpolateAtSample %in %n1
        %c = OpExtInst %f32x2 %glsl InterpolateAtOffset %in %half
        OpStore %out %a
        OpStore %out %b
        OpStore %out %c";
    check(
        &fragment("OpCapability InterpolationFunction", code),
        expect![[r#"
            %1 = OpFunction  %4  None %5
            %6 = OpLabel
            %9 = OpExtInst  %8  %10 InterpolateAtCentroid %2
            %11 = OpExtInst  %8  %10 InterpolateAtSample %2 %13
            %14 = OpExtInst  %8  %10 InterpolateAtOffset %2 %16
            OpStore %3 %9
            OpStore %3 %11
            OpStore %3 %14
            OpReturn
            OpFunctionEnd
        "#]],
    );
}

/// OpKill may be a demotion, OpTerminateInvocation is none.
#[test]
fn ends_of_invocations() {
    let code = "
        %x = OpLoad %f32x2 %in
        %y = OpCompositeExtract %f32 %x 0
        %c = OpFOrdLessThan %bool %y %zero
        OpSelectionMerge %end None
        OpBranchConditional %c %yes %no
        %yes = OpLabel
        OpTerminateInvocation
        %no = OpLabel
        OpKill
        %end = OpLabel";
    let text = fragment("", code);
    let text = text.replace("%end = OpLabel\n        OpReturn", "%end = OpLabel\n OpUnreachable");
    expect![[r#"
        OpTerminateInvocation
        OpKill
        OpUnreachable
    "#]]
    .assert_eq(&written(&text, &["OpKill", "OpTerminate", "OpUnreach"]));
}

/// No entry point may reach a function that calls itself; the last call of the cycle is the place.
#[test]
fn recursion_is_refused() {
    let functions = |called: &str| {
        format!(
            "{called}
            OpReturn
            OpFunctionEnd
            %f = OpFunction %void None %fn
            %fl = OpLabel
            %f1 = OpFunctionCall %void %g
            OpReturn
            OpFunctionEnd
            %g = OpFunction %void None %fn
            %gl = OpLabel
            %g1 = OpFunctionCall %void %h
            %g2 = OpFunctionCall %void %f
            OpReturn
            OpFunctionEnd
            %h = OpFunction %void None %fn
            %hl = OpLabel"
        )
    };
    let error = |called: &str| {
        let words = assemble(&fragment("", &functions(called)));
        read(&words, &ReadOptions::default()).expect_err("a cycle of calls")
    };
    let reached = error("%r = OpFunctionCall %void %f");
    assert_eq!(reached.kind, ErrorKind::Invalid);
    assert_eq!(reached.op.as_deref(), Some("OpFunctionCall"));
    assert!(reached.message.ends_with("calls itself"), "{}", reached.message);
    // SPIR-V forbids it to what is entered alone.
    assert_eq!(error("").kind, ErrorKind::Unsupported);
}
