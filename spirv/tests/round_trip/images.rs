//! Storage images.

use super::asm::compute;
use super::written;
use expect_test::expect;

/// A compute module with an image `%im` of this kind (`OpTypeImage`'s operands behind the dimension).
fn with_image(capabilities: &str, decorations: &str, kind: &str, code: &str) -> String {
    compute(
        capabilities,
        &format!(
            r"
            {decorations}
            OpDecorate %im DescriptorSet 0
            OpDecorate %im Binding 0"
        ),
        &format!(
            r"
            %u32x2 = OpTypeVector %u32 2
            %u32x4 = OpTypeVector %u32 4
            %image = OpTypeImage %u32 2D {kind}
            %ptr = OpTypePointer UniformConstant %image
            %im = OpVariable %ptr UniformConstant
            %at = OpConstantComposite %u32x2 %n1 %n2
            %main = OpFunction %void None %fn
            %start = OpLabel
            %handle = OpLoad %image %im
            {code}
            OpReturn
            OpFunctionEnd"
        ),
    )
}

#[test]
fn samples_of_a_storage_image() {
    let text = with_image(
        "OpCapability StorageImageMultisample",
        "",
        "0 0 1 2 R32ui",
        r"
        %texel = OpImageRead %u32x4 %handle %at 64 %n2
        OpImageWrite %handle %at %texel 64 %n1",
    );
    expect![[r#"
        %10 = OpConstant  %6  1
        %11 = OpConstant  %6  2
        %14 = OpImageRead  %13  %8 %12 Sample %11
        OpImageWrite %8 %12 %14 Sample %10
    "#]]
    .assert_eq(&written(&text, &["OpImage", "OpConstant "]));
}

/// Signedness, and in the Vulkan memory model scopes and the like: MakeTexelVisible or MakeTexelAvailable,
/// NonPrivateTexel, VolatileTexel, SignExtend or ZeroExtend.
#[test]
fn what_an_access_to_a_texel_says_of_itself() {
    let text = with_image(
        "OpCapability VulkanMemoryModel",
        "",
        "0 0 0 2 R32ui",
        r"
        %texel = OpImageRead %u32x4 %handle %at 7680 %n2
        OpImageWrite %handle %at %texel 9472 %n2
        %plain = OpImageRead %u32x4 %handle %at
        OpImageWrite %handle %at %plain",
    );
    let text = text.replace("Logical GLSL450", "Logical Vulkan");
    expect![[r#"
        %10 = OpConstant  %6  1
        %11 = OpConstant  %6  2
        %14 = OpImageRead  %13  %8 %12 MakeTexelVisible|NonPrivateTexel|VolatileTexel|SignExtend %11
        OpImageWrite %8 %12 %14 MakeTexelAvailable|NonPrivateTexel|ZeroExtend %11
        %15 = OpImageRead  %13  %8 %12
        OpImageWrite %8 %12 %15
    "#]]
    .assert_eq(&written(&text, &["OpImage", "OpConstant "]));
}

/// Without that model the variable says whether accesses are volatile.
#[test]
fn a_volatile_image() {
    let text = with_image(
        "",
        "OpDecorate %im Volatile",
        "0 0 0 2 R32ui",
        "%texel = OpImageRead %u32x4 %handle %at\nOpImageWrite %handle %at %texel",
    );
    expect![[r#"
        OpDecorate %2 Volatile
        %14 = OpImageRead  %13  %8 %12
        OpImageWrite %8 %12 %14
    "#]]
    .assert_eq(&written(&text, &["OpImage", "Volatile"]));
}

/// An offset that the API specialises is a constant too.
#[test]
fn an_offset_that_is_specialised() {
    let text = compute(
        "",
        r"
        OpDecorate %x SpecId 0
        OpDecorate %im DescriptorSet 0
        OpDecorate %im Binding 0",
        r"
        %i32 = OpTypeInt 32 1
        %i32x2 = OpTypeVector %i32 2
        %f32x4 = OpTypeVector %f32 4
        %image = OpTypeImage %f32 2D 0 0 0 1 Unknown
        %ptr = OpTypePointer UniformConstant %image
        %im = OpVariable %ptr UniformConstant
        %x = OpSpecConstant %i32 1
        %off = OpSpecConstantComposite %i32x2 %x %x
        %i0 = OpConstant %i32 0
        %at = OpConstantComposite %i32x2 %i0 %i0
        %main = OpFunction %void None %fn
        %start = OpLabel
        %handle = OpLoad %image %im
        %texel = OpImageFetch %f32x4 %handle %at 10 %i0 %off
        OpReturn
        OpFunctionEnd",
    );
    expect![[r#"
        %3 = OpSpecConstant  %2  1
        %5 = OpSpecConstantComposite  %4  %3 %3
        %18 = OpImageFetch  %17  %14 %16 Lod|ConstOffset %11 %5
    "#]]
    .assert_eq(&written(&text, &["OpSpec", "OpImageFetch"]));
}

/// A handle may be a value: a parameter, or an acceleration structure by its address.
#[test]
fn handles_that_are_values() {
    let text = compute(
        "OpCapability RayQueryKHR\nOpCapability Int64",
        r"
        OpDecorate %im DescriptorSet 0
        OpDecorate %im Binding 0",
        r"
        %u64 = OpTypeInt 64 0
        %u32x2 = OpTypeVector %u32 2
        %f32x3 = OpTypeVector %f32 3
        %u32x4 = OpTypeVector %u32 4
        %image = OpTypeImage %u32 2D 0 0 0 2 R32ui
        %ptr = OpTypePointer UniformConstant %image
        %im = OpVariable %ptr UniformConstant
        %query = OpTypeRayQueryKHR
        %ptr_query = OpTypePointer Private %query
        %rq = OpVariable %ptr_query Private
        %accel = OpTypeAccelerationStructureKHR
        %at = OpConstantComposite %u32x2 %n1 %n2
        %x = OpConstant %f32 1
        %xs = OpConstantComposite %f32x3 %x %x %x
        %takes = OpTypeFunction %u32x4 %image
        %main = OpFunction %void None %fn
        %start = OpLabel
        %handle = OpLoad %image %im
        %texel = OpFunctionCall %u32x4 %read %handle
        OpImageWrite %handle %at %texel
        %n = OpCompositeExtract %u32 %texel 0
        %address = OpUConvert %u64 %n
        %structure = OpConvertUToAccelerationStructureKHR %accel %address
        OpRayQueryInitializeKHR %rq %structure %n0 %n0 %xs %x %xs %x
        OpReturn
        OpFunctionEnd
        %read = OpFunction %u32x4 None %takes
        %p = OpFunctionParameter %image
        %entry = OpLabel
        %r = OpImageRead %u32x4 %p %at
        OpReturnValue %r
        OpFunctionEnd",
    );
    let shown =
        &["OpFunctionCall", "OpFunctionParameter", "OpImage", "OpConvert", "OpRay", "OpLoad"];
    expect![[r#"
        %12 = OpLoad  %11  %3
        %10 = OpFunctionCall  %9  %2 %12
        OpImageWrite %12 %16 %10
        %21 = OpConvertUToAccelerationStructureKHR  %20  %18
        OpRayQueryInitializeKHR %7 %21 %22 %22 %26 %25 %26 %25
        %28 = OpFunctionParameter  %11
        %30 = OpImageRead  %9  %28 %16
    "#]]
    .assert_eq(&written(&text, shown));
}
