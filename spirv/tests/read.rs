//! What the reader makes of each construct, as the text of the IR.

mod asm;
#[path = "read/flow.rs"]
mod flow;
#[path = "read/workgroup.rs"]
mod workgroup;

use asm::{HEADER, assemble, compute};
use deburr_spirv::{ErrorKind, FloatMode, ReadOptions, read};
use expect_test::{Expect, expect};

/// Beginning of a main function that loads `%a`, a word, and has a pointer `%out` to another.
const MAIN: &str = r"
    %main = OpFunction %void None %fn
    %start = OpLabel
    %in = OpAccessChain %ptr %buf %n0 %n0
    %out = OpAccessChain %ptr %buf %n0 %n1
    %a = OpLoad %u32 %in
";

/// The text of main's body.
fn body_of(text: &str, options: &ReadOptions) -> String {
    let module = read(&assemble(text), options).expect("the module can be read");
    deburr_ir_core::validate(&module).expect("the module is valid");
    let text = module.to_string();
    let start = text.rfind("impl main").or_else(|| text.rfind("impl f")).expect("a body");
    text[start..].to_string()
}

fn check(code: &str, expected: Expect) {
    let text = format!("{HEADER}{MAIN}{code}\nOpReturn\nOpFunctionEnd");
    expected.assert_eq(&body_of(&text, &ReadOptions::default().with_float(FloatMode::Strict)));
}

/// The code ends its last block itself.
fn check_flow(code: &str, expected: Expect) {
    let text = format!("{HEADER}{MAIN}{code}\nOpFunctionEnd");
    expected.assert_eq(&body_of(&text, &ReadOptions::default().with_float(FloatMode::Strict)));
}

#[test]
fn arithmetic_by_the_table() {
    check(
        r"
        %b = OpIAdd %u32 %a %n1
        %c = OpShiftLeftLogical %u32 %b %n3
        %d = OpUGreaterThan %bool %c %a
        %e = OpSelect %u32 %d %b %c
        OpStore %out %e",
        expect![[r#"
            impl f0 {
              block b0:
                32 %0 = deref_var &v0 (ssbo t1)
                32 %1 = load_const (0x0)
                32 %2 = load_const (0x1)
                32 %3 = load_const (0x3)
                32 %4 = deref_struct &(%0).0 (ssbo [u32; *, stride=4])  // &v0.0
                32 %5 = deref_array &(%4)[%1] (ssbo u32)  // &v0.0[0]
                32 %6 = deref_struct &(%0).0 (ssbo [u32; *, stride=4])  // &v0.0
                32 %7 = deref_array &(%6)[%2] (ssbo u32)  // &v0.0[1]
                32 %8 = @load_deref %5
                32 %9 = iadd %8, %2
                32 %10 = ishl.dom %9, %3
                1 %11 = ult %8, %10
                32 %12 = bcsel %11, %9, %10
                @store_deref %7, %12 (write_mask=x)
            }
        "#]],
    );
}

#[test]
fn structs_that_instructions_return() {
    let header = HEADER.replacen("%words = ", "%both = OpTypeStruct %u32 %u32\n%words = ", 1);
    let code = r"
        %m = OpUMulExtended %both %a %n3
        %low = OpCompositeExtract %u32 %m 0
        %high = OpCompositeExtract %u32 %m 1
        %s = OpIAdd %u32 %low %high
        OpStore %out %s
        OpReturn
        OpFunctionEnd";
    expect![[r#"
        impl f0 {
          block b0:
            32 %0 = deref_var &v0 (ssbo t2)
            32 %1 = load_const (0x0)
            32 %2 = load_const (0x1)
            32 %3 = load_const (0x3)
            32 %4 = deref_struct &(%0).0 (ssbo [u32; *, stride=4])  // &v0.0
            32 %5 = deref_array &(%4)[%1] (ssbo u32)  // &v0.0[0]
            32 %6 = deref_struct &(%0).0 (ssbo [u32; *, stride=4])  // &v0.0
            32 %7 = deref_array &(%6)[%2] (ssbo u32)  // &v0.0[1]
            32 %8 = @load_deref %5
            32 %9 = imul %8, %3
            32 %10 = umul_high %8, %3
            32 %11 = iadd %9, %10
            @store_deref %7, %11 (write_mask=x)
        }
    "#]]
    .assert_eq(&body_of(&format!("{header}{MAIN}{code}"), &ReadOptions::default()));
}

#[test]
fn aggregates_are_their_leaves() {
    check(
        r"
        %p = OpCompositeConstruct %pair %a %x0
        %q = OpCompositeInsert %pair %n1 %p 0
        %x = OpCompositeExtract %f32 %q 1
        %y = OpBitcast %u32 %x
        %z = OpCompositeExtract %u32 %q 0
        %s = OpIAdd %u32 %y %z
        OpStore %out %s",
        expect![[r#"
            impl f0 {
              block b0:
                32 %0 = deref_var &v0 (ssbo t1)
                32 %1 = load_const (0x0)
                32 %2 = load_const (0x1)
                32 %3 = load_const (0x3f000000 = 0.5)
                32 %4 = deref_struct &(%0).0 (ssbo [u32; *, stride=4])  // &v0.0
                32 %5 = deref_array &(%4)[%1] (ssbo u32)  // &v0.0[0]
                32 %6 = deref_struct &(%0).0 (ssbo [u32; *, stride=4])  // &v0.0
                32 %7 = deref_array &(%6)[%2] (ssbo u32)  // &v0.0[1]
                32 %8 = @load_deref %5
                32 %9 = iadd %3, %2
                @store_deref %7, %9 (write_mask=x)
            }
        "#]],
    );
}

#[test]
fn local_struct_in_memory() {
    check(
        r"
        %v = OpVariable %ptr_pair Function
        %p = OpCompositeConstruct %pair %a %x0
        OpStore %v %p
        %m = OpAccessChain %ptr_u32 %v %n0
        %x = OpLoad %u32 %m
        OpStore %out %x",
        expect![[r#"
            impl f0 {
              decl_var function t0 &l0
              block b0:
                32 %0 = deref_var &v0 (ssbo t1)
                32 %1 = load_const (0x0)
                32 %2 = load_const (0x1)
                32 %3 = deref_var &l0 (function t0)
                32 %4 = load_const (0x3f000000 = 0.5)
                32 %5 = deref_struct &(%0).0 (ssbo [u32; *, stride=4])  // &v0.0
                32 %6 = deref_array &(%5)[%1] (ssbo u32)  // &v0.0[0]
                32 %7 = deref_struct &(%0).0 (ssbo [u32; *, stride=4])  // &v0.0
                32 %8 = deref_array &(%7)[%2] (ssbo u32)  // &v0.0[1]
                32 %9 = @load_deref %6
                32 %10 = deref_struct &(%3).0 (function u32)  // &l0.0
                32 %11 = deref_struct &(%3).1 (function f32)  // &l0.1
                @store_deref %10, %9 (write_mask=x)
                @store_deref %11, %4 (write_mask=x)
                32 %12 = deref_struct &(%3).0 (function u32)  // &l0.0
                32 %13 = @load_deref %12
                @store_deref %8, %13 (write_mask=x)
            }
        "#]],
    );
}

#[test]
fn vectors_are_gathered() {
    check(
        r"
        %v = OpCompositeConstruct %u32x2 %a %n2
        %w = OpVectorShuffle %u32x2 %v %v 1 0
        %s = OpIMul %u32x2 %v %w
        %x = OpVectorExtractDynamic %u32 %s %a
        OpStore %out %x",
        expect![[r#"
            impl f0 {
              block b0:
                32 %0 = deref_var &v0 (ssbo t1)
                32 %1 = load_const (0x0)
                32 %2 = load_const (0x1)
                32 %3 = load_const (0x2)
                32 %4 = deref_struct &(%0).0 (ssbo [u32; *, stride=4])  // &v0.0
                32 %5 = deref_array &(%4)[%1] (ssbo u32)  // &v0.0[0]
                32 %6 = deref_struct &(%0).0 (ssbo [u32; *, stride=4])  // &v0.0
                32 %7 = deref_array &(%6)[%2] (ssbo u32)  // &v0.0[1]
                32 %8 = @load_deref %5
                32x2 %9 = vec2 %8, %3
                32x2 %10 = mov %9.yx
                32x2 %11 = imul %9, %10
                32 %12 = vec_extract2.dom %11, %8
                @store_deref %7, %12 (write_mask=x)
            }
        "#]],
    );
}

#[test]
fn matrices_are_columns() {
    check(
        r"
        %x = OpBitcast %f32 %a
        %v = OpCompositeConstruct %f32x2 %x %x0
        %m = OpCompositeConstruct %mat2 %v %v
        %t = OpTranspose %mat2 %m
        %p = OpMatrixTimesMatrix %mat2 %m %t
        %r = OpMatrixTimesVector %f32x2 %p %v
        %s = OpCompositeExtract %f32 %r 0
        %u = OpBitcast %u32 %s
        OpStore %out %u",
        expect![[r#"
            impl f0 {
              block b0:
                32 %0 = deref_var &v0 (ssbo t1)
                32 %1 = load_const (0x0)
                32 %2 = load_const (0x1)
                32 %3 = load_const (0x3f000000 = 0.5)
                32 %4 = deref_struct &(%0).0 (ssbo [u32; *, stride=4])  // &v0.0
                32 %5 = deref_array &(%4)[%1] (ssbo u32)  // &v0.0[0]
                32 %6 = deref_struct &(%0).0 (ssbo [u32; *, stride=4])  // &v0.0
                32 %7 = deref_array &(%6)[%2] (ssbo u32)  // &v0.0[1]
                32 %8 = @load_deref %5
                32x2 %9 = vec2 %8, %3
                32x2 %10 = transpose2x2 %9, %9, %1
                32x2 %11 = transpose2x2 %9, %9, %2
                32x2 %12 = fmatvec2x2 %9, %9, %10
                32x2 %13 = fmatvec2x2 %9, %9, %11
                32x2 %14 = fmatvec2x2 %12, %13, %9
                32 %15 = mov %14.x
                @store_deref %7, %15 (write_mask=x)
            }
        "#]],
    );
}

#[test]
fn unordered_compares() {
    check(
        r"
        %x = OpBitcast %f32 %a
        %c = OpFUnordLessThan %bool %x %x0
        %d = OpSelect %u32 %c %n1 %n2
        OpStore %out %d",
        expect![[r#"
            impl f0 {
              block b0:
                32 %0 = deref_var &v0 (ssbo t1)
                32 %1 = load_const (0x0)
                32 %2 = load_const (0x1)
                32 %3 = load_const (0x3f000000 = 0.5)
                32 %4 = load_const (0x2)
                32 %5 = deref_struct &(%0).0 (ssbo [u32; *, stride=4])  // &v0.0
                32 %6 = deref_array &(%5)[%1] (ssbo u32)  // &v0.0[0]
                32 %7 = deref_struct &(%0).0 (ssbo [u32; *, stride=4])  // &v0.0
                32 %8 = deref_array &(%7)[%2] (ssbo u32)  // &v0.0[1]
                32 %9 = @load_deref %6
                1 %10 = fge %9, %3
                1 %11 = inot %10
                32 %12 = bcsel %11, %2, %4
                @store_deref %8, %12 (write_mask=x)
            }
        "#]],
    );
}

#[test]
fn extended_instructions() {
    check(
        r"
        %x = OpBitcast %f32 %a
        %y = OpExtInst %f32 %glsl FMin %x %x0
        %z = OpExtInst %f32 %glsl Length %y
        %u = OpBitcast %u32 %z
        OpStore %out %u",
        expect![[r#"
            impl f0 {
              block b0:
                32 %0 = deref_var &v0 (ssbo t1)
                32 %1 = load_const (0x0)
                32 %2 = load_const (0x1)
                32 %3 = load_const (0x3f000000 = 0.5)
                32 %4 = deref_struct &(%0).0 (ssbo [u32; *, stride=4])  // &v0.0
                32 %5 = deref_array &(%4)[%1] (ssbo u32)  // &v0.0[0]
                32 %6 = deref_struct &(%0).0 (ssbo [u32; *, stride=4])  // &v0.0
                32 %7 = deref_array &(%6)[%2] (ssbo u32)  // &v0.0[1]
                32 %8 = @load_deref %5
                32 %9 = fmin_any %8, %3
                32 %10 = fabs %9
                @store_deref %7, %10 (write_mask=x)
            }
        "#]],
    );
}

#[test]
fn atomics_and_barriers() {
    check(
        r"
        %semantics = OpIAdd %u32 %n1 %n1
        %old = OpAtomicIAdd %u32 %in %n1 %n0 %n2
        %count = OpAtomicIIncrement %u32 %in %n1 %n0
        %swap = OpAtomicCompareExchange %u32 %in %n1 %n0 %n0 %old %count
        OpControlBarrier %n2 %n2 %n0
        %len = OpArrayLength %u32 %buf 0
        OpStore %out %len",
        expect![[r#"
            impl f0 {
              block b0:
                32 %0 = deref_var &v0 (ssbo t1)
                32 %1 = load_const (0x0)
                32 %2 = load_const (0x1)
                32 %3 = load_const (0x2)
                32 %4 = deref_struct &(%0).0 (ssbo [u32; *, stride=4])  // &v0.0
                32 %5 = deref_array &(%4)[%1] (ssbo u32)  // &v0.0[0]
                32 %6 = deref_struct &(%0).0 (ssbo [u32; *, stride=4])  // &v0.0
                32 %7 = deref_array &(%6)[%2] (ssbo u32)  // &v0.0[1]
                32 %8 = @load_deref %5
                32 %9 = iadd %2, %2
                32 %10 = @deref_atomic %5, %3 (memory_scope=device)
                32 %11 = @deref_atomic %5, %2 (memory_scope=device)
                32 %12 = @deref_atomic_swap %5, %11, %10 (atomic_op=cmpxchg, memory_scope=device)
                @barrier (execution_scope=workgroup, memory_scope=workgroup)
                32 %13 = deref_struct &(%0).0 (ssbo [u32; *, stride=4])  // &v0.0
                32 %14 = @deref_buffer_array_length %13
                @store_deref %7, %14 (write_mask=x)
            }
        "#]],
    );
}

#[test]
fn licences_follow_the_mode() {
    let code = r"
        %x = OpBitcast %f32 %a
        %y = OpFAdd %f32 %x %x0
        %z = OpFMul %f32 %y %y
        %u = OpBitcast %u32 %z
        OpStore %out %u
        OpReturn
        OpFunctionEnd";
    let exact =
        HEADER.replacen("OpDecorate %block", "OpDecorate %z NoContraction\nOpDecorate %block", 1);
    let text = format!("{exact}{MAIN}{code}");
    let lines = |mode| {
        let body = body_of(&text, &ReadOptions::default().with_float(mode));
        let lines: Vec<&str> = body.lines().filter(|l| l.contains(" = f")).map(str::trim).collect();
        lines.join("\n")
    };
    expect![[r#"
        32 %9 = fadd.nnan.ninf.nsz.arcp.contract.reassoc.transform %8, %3
        32 %10 = fmul.nnan.ninf.nsz %9, %9"#]]
    .assert_eq(&lines(FloatMode::Vulkan));
    expect![[r#"
        32 %9 = fadd.nsz.arcp.contract.reassoc.transform %8, %3
        32 %10 = fmul.nsz %9, %9"#]]
    .assert_eq(&lines(FloatMode::KeepNan));
    expect![[r#"
        32 %9 = fadd %8, %3
        32 %10 = fmul %9, %9"#]]
    .assert_eq(&lines(FloatMode::Strict));
}

#[test]
fn calls_pass_aggregates_in_memory() {
    let text = format!(
        r"{HEADER}
        %callee_type = OpTypeFunction %pair %pair %u32
        %main = OpFunction %void None %fn
        %start = OpLabel
        %in = OpAccessChain %ptr %buf %n0 %n0
        %a = OpLoad %u32 %in
        %p = OpCompositeConstruct %pair %a %x0
        %q = OpFunctionCall %pair %callee %p %n2
        %x = OpCompositeExtract %u32 %q 0
        OpStore %in %x
        OpReturn
        OpFunctionEnd
        %callee = OpFunction %pair None %callee_type
        %arg = OpFunctionParameter %pair
        %n = OpFunctionParameter %u32
        %entry = OpLabel
        %r = OpCompositeInsert %pair %n %arg 0
        OpReturnValue %r
        OpFunctionEnd"
    );
    let module = read(&assemble(&text), &ReadOptions::default()).expect("the module can be read");
    deburr_ir_core::validate(&module).expect("the module is valid");
    let text = module.to_string();
    let start = text.find("decl_function").expect("functions are declared");
    expect![[r#"
        decl_function f0()
        decl_function f1(ptr(function, t0), u32, ptr(function, t0) result)

        impl f0 {
          decl_var function t0 &l0
          decl_var function t0 &l1
          block b0:
            32 %0 = deref_var &v0 (ssbo t1)
            32 %1 = load_const (0x0)
            32 %2 = load_const (0x3f000000 = 0.5)
            32 %3 = deref_var &l0 (function t0)
            32 %4 = load_const (0x2)
            32 %5 = deref_var &l1 (function t0)
            32 %6 = deref_struct &(%0).0 (ssbo [u32; *, stride=4])  // &v0.0
            32 %7 = deref_array &(%6)[%1] (ssbo u32)  // &v0.0[0]
            32 %8 = @load_deref %7
            32 %9 = deref_struct &(%3).0 (function u32)  // &l0.0
            32 %10 = deref_struct &(%3).1 (function f32)  // &l0.1
            @store_deref %9, %8 (write_mask=x)
            @store_deref %10, %2 (write_mask=x)
            call f1(%3, %4, %5)
            32 %11 = deref_struct &(%5).0 (function u32)  // &l1.0
            32 %12 = deref_struct &(%5).1 (function f32)  // &l1.1
            32 %13 = @load_deref %11
            32 %14 = @load_deref %12
            @store_deref %7, %13 (write_mask=x)
        }

        impl f1 {
          block b0:
            32 %0 = @load_param
            32 %1 = deref_cast &(%0) (function t0)
            32 %2 = deref_struct &(%1).0 (function u32)  // (t0*)%0.0
            32 %3 = deref_struct &(%1).1 (function f32)  // (t0*)%0.1
            32 %4 = @load_deref %2
            32 %5 = @load_deref %3
            32 %6 = @load_param (param_idx=1)
            32 %7:result = @load_param (param_idx=2)
            32 %8 = deref_cast &(%7) (function t0)
            32 %9 = deref_struct &(%8).0 (function u32)  // (t0*)%7.0
            32 %10 = deref_struct &(%8).1 (function f32)  // (t0*)%7.1
            @store_deref %9, %6 (write_mask=x)
            @store_deref %10, %5 (write_mask=x)
        }
    "#]]
    .assert_eq(&text[start..]);
}

#[test]
fn specialisation_constants() {
    let header =
        HEADER.replacen("OpDecorate %block", "OpDecorate %size SpecId 4\nOpDecorate %block", 1);
    let text = format!(
        r"{header}
        %size = OpSpecConstant %u32 6
        %twice = OpSpecConstantOp %u32 IMul %size %n2
        {MAIN}
        %b = OpIAdd %u32 %a %twice
        OpStore %out %b
        OpReturn
        OpFunctionEnd"
    );
    let text = text.replace("%u32 IMul", "%u32 132");
    let open = body_of(&text, &ReadOptions::default());
    expect![[r#"
        impl f0 {
          block b0:
            32 %0 = deref_var &v0 (ssbo t1)
            32 %1 = load_const (0x0)
            32 %2 = load_const (0x1)
            32 %3 = @load_spec_constant (spec_constant=1)
            32 %4 = deref_struct &(%0).0 (ssbo [u32; *, stride=4])  // &v0.0
            32 %5 = deref_array &(%4)[%1] (ssbo u32)  // &v0.0[0]
            32 %6 = deref_struct &(%0).0 (ssbo [u32; *, stride=4])  // &v0.0
            32 %7 = deref_array &(%6)[%2] (ssbo u32)  // &v0.0[1]
            32 %8 = @load_deref %5
            32 %9 = iadd %8, %3
            @store_deref %7, %9 (write_mask=x)
        }
    "#]]
    .assert_eq(&open);
    let frozen = body_of(&text, &ReadOptions::default().with_spec(4, 21));
    expect![[r#"
        impl f0 {
          block b0:
            32 %0 = deref_var &v0 (ssbo t1)
            32 %1 = load_const (0x0)
            32 %2 = load_const (0x1)
            32 %3 = load_const (0x2a = 42)
            32 %4 = deref_struct &(%0).0 (ssbo [u32; *, stride=4])  // &v0.0
            32 %5 = deref_array &(%4)[%1] (ssbo u32)  // &v0.0[0]
            32 %6 = deref_struct &(%0).0 (ssbo [u32; *, stride=4])  // &v0.0
            32 %7 = deref_array &(%6)[%2] (ssbo u32)  // &v0.0[1]
            32 %8 = @load_deref %5
            32 %9 = iadd %8, %3
            @store_deref %7, %9 (write_mask=x)
        }
    "#]]
    .assert_eq(&frozen);
}

#[test]
fn float_environments_clone_functions() {
    let header = HEADER.replacen(
        "OpExecutionMode %main LocalSize 1 1 1",
        "OpEntryPoint GLCompute %other \"other\"\nOpExecutionMode %main LocalSize 1 1 1\n\
         OpExecutionMode %other LocalSize 1 1 1\nOpExecutionMode %other DenormFlushToZero 32",
        1,
    );
    let text = format!(
        r"{header}
        %callee_type = OpTypeFunction %f32 %f32
        %main = OpFunction %void None %fn
        %l0 = OpLabel
        %r0 = OpFunctionCall %f32 %callee %x0
        OpReturn
        OpFunctionEnd
        %other = OpFunction %void None %fn
        %l1 = OpLabel
        %r1 = OpFunctionCall %f32 %callee %x0
        OpReturn
        OpFunctionEnd
        %callee = OpFunction %f32 None %callee_type
        %x = OpFunctionParameter %f32
        %l2 = OpLabel
        %y = OpFNegate %f32 %x
        OpReturnValue %y
        OpFunctionEnd"
    );
    let options = ReadOptions::default().with_float(FloatMode::Strict);
    let module = read(&assemble(&text), &options).expect("the module can be read");
    assert_eq!(module.functions.len(), 4);
    let text = module.to_string();
    let start = text.find("impl f2").expect("the third function");
    expect![[r#"
        impl f2 {
          block b0:
            32 %0 = @load_param
            32 %1 = fneg %0
            return %1
        }

        impl f3 {
          block b0:
            32 %0 = @load_param
            32 %1 = fcanonicalize %0
            32 %2 = fneg %1
            return %2
        }
    "#]]
    .assert_eq(&text[start..]);
}

fn error_of(code: &str) -> (ErrorKind, String, Option<String>, bool) {
    let text = format!("{HEADER}{MAIN}{code}\nOpFunctionEnd");
    let error = read(&assemble(&text), &ReadOptions::default()).expect_err("the module is wrong");
    (error.kind, error.message, error.op, error.word.is_some())
}

#[test]
fn errors_name_the_place() {
    let op = |name: &str| Some(name.to_string());
    assert_eq!(
        error_of("%b = OpIAdd %u32 %a %later\n%later = OpIAdd %u32 %a %a\nOpReturn"),
        (ErrorKind::Invalid, "%34 is used before it is defined".into(), op("OpIAdd"), true),
    );
    assert_eq!(
        error_of("%b = OpIAdd %u32x2 %a %a\nOpStore %out %b\nOpReturn").0,
        ErrorKind::Invalid,
        "the stored value has another type",
    );
    assert_eq!(
        error_of(
            "%v = OpCompositeConstruct %u32x2 %a %a\n%b = OpPtrAccessChain %ptr %in %v\nOpReturn"
        )
        .1,
        "an index is an integer",
    );
    let twice = format!("OpEntryPoint GLCompute %main \"main\"\n{HEADER}");
    let error = read(&assemble(&twice), &ReadOptions::default()).expect_err("one name");
    assert_eq!(error.message, "there are two entry points `main`");
    assert_eq!(error_of("%b = OpPtrDiff %u32 %in %out\nOpReturn").0, ErrorKind::Unsupported);
}

#[test]
fn a_value_must_dominate_its_uses() {
    let (kind, message, ..) = error_of(
        r"
        %c = OpULessThan %bool %a %n2
        OpSelectionMerge %join None
        OpBranchConditional %c %then %join
        %then = OpLabel
        %b = OpIAdd %u32 %a %n1
        OpBranch %join
        %join = OpLabel
        OpStore %out %b
        OpReturn",
    );
    assert_eq!(kind, ErrorKind::Invalid);
    assert_eq!(message, "a value is used where its definition does not dominate");
}

#[test]
fn headers_are_checked() {
    assert_eq!(read(&[], &ReadOptions::default()).map_err(|e| e.kind), Err(ErrorKind::Invalid));
    let words = assemble(HEADER);
    assert!(read(&words, &ReadOptions::default()).is_err(), "the entry point has no function");
    let swapped: Vec<u32> = {
        let text = format!("{HEADER}{MAIN}OpReturn\nOpFunctionEnd");
        assemble(&text).iter().map(|w| w.swap_bytes()).collect()
    };
    assert!(read(&swapped, &ReadOptions::default()).is_ok(), "either byte order is read");
}

#[test]
fn a_logical_copy_to_something_else() {
    let text = compute(
        "",
        "",
        r"
        %words = OpTypeStruct %u32 %u32
        %floats = OpTypeStruct %f32 %f32
        %ptr = OpTypePointer Private %words
        %v = OpVariable %ptr Private
        %main = OpFunction %void None %fn
        %start = OpLabel
        %value = OpLoad %words %v
        %copy = OpCopyLogical %floats %value
        OpReturn
        OpFunctionEnd",
    );
    let error = read(&assemble(&text), &ReadOptions::default()).expect_err("other members");
    assert_eq!(error.message, "the types differ by more than layout");
}

/// Only the first member is where the object is.
#[test]
fn members_are_aligned_as_their_offsets_are() {
    let text = compute(
        "",
        r"
        OpDecorate %block Block
        OpDecorate %row ArrayStride 12
        OpMemberDecorate %block 0 Offset 0
        OpMemberDecorate %block 1 Offset 4
        OpMemberDecorate %block 2 Offset 8",
        r"
        %row = OpTypeArray %u32 %n2
        %block = OpTypeStruct %u32 %u32 %row
        %ptr = OpTypePointer StorageBuffer %block
        %buf = OpVariable %ptr StorageBuffer
        %main = OpFunction %void None %fn
        %start = OpLabel
        %x = OpLoad %block %buf 2 16
        OpReturn
        OpFunctionEnd",
    );
    let body = body_of(&text, &ReadOptions::default());
    let loads: Vec<&str> =
        body.lines().filter_map(|l| l.split_once("@load_deref ")).map(|(_, l)| l).collect();
    let expected =
        ["%3 (align_mul=16)", "%4 (align_mul=4)", "%6 (align_mul=8)", "%7 (align_mul=4)"];
    assert_eq!(loads, expected);
}

/// Nothing of what is asked to be kept is dropped without a word.
#[test]
fn lines_are_refused_on_demand() {
    let text = format!("{HEADER}{MAIN}OpNoLine\nOpReturn\nOpFunctionEnd");
    let read = |options| read(&assemble(&text), &options);
    assert!(read(ReadOptions::default()).is_ok());
    let error = read(ReadOptions::default().with_debug(true)).expect_err("there is a line");
    assert_eq!((error.kind, error.op.as_deref()), (ErrorKind::Unsupported, Some("OpNoLine")));
    assert!(error.word.is_some());
}
