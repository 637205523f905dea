//! What the reader makes of a binary runs as SPIR-V says, for constructs that its IR says otherwise.

#[allow(dead_code, reason = "it has headers for other tests too")]
#[path = "../../spirv/tests/asm/mod.rs"]
mod asm;

use asm::{HEADER, assemble};
use deburr_eval::{Buffer, Dispatch, run, workgroup_size};
use deburr_ir_core::Module;
use deburr_spirv::{ReadOptions, WriteOptions, read, write};
use std::fmt::Write;

/// The module of this text as it is read, and as it is read again when it was written.
fn modules(text: &str, options: &ReadOptions) -> [Module; 2] {
    let first = read(&assemble(text), options).expect("the module can be read");
    deburr_ir_core::validate(&first).expect("the module is valid");
    let words = write(&first, &WriteOptions::default()).expect("the module can be written");
    let second = read(&words, options).expect("it can be read again");
    [first, second]
}

/// An arm of a switch: its literals, whether it is the default, whether it falls through.
type Arm = (&'static [u32], bool, bool);

/// A switch over the word 0 whose arm k adds 1 << k to the word 1.
fn switch(arms: &[Arm]) -> String {
    let (mut cases, mut code, mut default) = (String::new(), String::new(), "%join".to_owned());
    for (k, (literals, is_default, falls)) in arms.iter().enumerate() {
        for literal in *literals {
            let _ = write!(cases, " {literal} %arm{k}");
        }
        if *is_default {
            default = format!("%arm{k}");
        }
        let next = if *falls { format!("%arm{}", k + 1) } else { "%join".into() };
        let _ = writeln!(
            code,
            "%arm{k} = OpLabel\n%r{k} = OpLoad %u32 %out\n%s{k} = OpIAdd %u32 %r{k} %bit{k}\n\
             OpStore %out %s{k}\nOpBranch {next}"
        );
    }
    let bits: String =
        (0..arms.len()).map(|k| format!("%bit{k} = OpConstant %u32 {}\n", 1 << k)).collect();
    format!(
        "{HEADER}{bits}%main = OpFunction %void None %fn
        %start = OpLabel
        %in = OpAccessChain %ptr %buf %n0 %n0
        %out = OpAccessChain %ptr %buf %n0 %n1
        %a = OpLoad %u32 %in
        OpSelectionMerge %join None
        OpSwitch %a {default}{cases}
        {code}%join = OpLabel
        OpReturn
        OpFunctionEnd"
    )
}

/// The arms that run where the selector is `value`, as bits.
fn chosen(arms: &[Arm], value: u32) -> u32 {
    let first = arms.iter().position(|(literals, ..)| literals.contains(&value));
    let first = first.or_else(|| arms.iter().position(|(_, is_default, _)| *is_default));
    let Some(first) = first else { return 0 };
    let last = arms[first..].iter().position(|(.., falls)| !falls).unwrap_or(0) + first;
    (first..=last).map(|k| 1 << k).sum()
}

#[test]
fn arms_that_fall_through() {
    let switches: [&[Arm]; 5] = [
        &[
            (&[1], false, true),
            (&[2, 9], false, true),
            (&[], true, true),
            (&[4], false, true),
            (&[5], false, false),
        ],
        &[(&[], true, true), (&[1], false, true), (&[2], false, true), (&[3], false, false)],
        &[(&[1], false, true), (&[2], false, true), (&[3], true, false), (&[4], false, false)],
        &[
            (&[7], false, true),
            (&[8], false, true),
            (&[10], false, false),
            (&[1], false, true),
            (&[0, 2], false, true),
            (&[3], false, false),
        ],
        &[(&[1], false, true), (&[2, 3], true, true), (&[4], false, true), (&[5], false, false)],
    ];
    for arms in switches {
        for module in modules(&switch(arms), &ReadOptions::default()) {
            for value in 0..12 {
                let mut dispatch = Dispatch::default();
                let bytes = [value, 0].map(u32::to_le_bytes).concat();
                dispatch.buffers.push(Buffer { set: 0, binding: 0, element: 0, bytes });
                let outcome = run(&module, &dispatch).expect("it comes to its end");
                let bytes = &outcome.buffers[0].buffer.bytes[4..8];
                let expected = chosen(arms, value).to_le_bytes();
                assert_eq!(bytes, expected, "{arms:?} of {value}\n{module}");
            }
        }
    }
}

/// Each literal is compared with a constant number of times, however many arms are fallen through.
#[test]
fn falling_through_costs_no_more_for_more_arms() {
    let comparisons = |count: usize| {
        let cases: String = (0..count).map(|k| format!(" {k} %arm{k}")).collect();
        let arm = |k: usize| {
            let next = if k + 1 < count { format!("%arm{}", k + 1) } else { "%join".into() };
            format!("%arm{k} = OpLabel\nOpStore %out %n{}\nOpBranch {next}\n", k % 3)
        };
        let code: String = (0..count).map(arm).collect();
        let text = format!(
            "{HEADER}%main = OpFunction %void None %fn
            %start = OpLabel
            %in = OpAccessChain %ptr %buf %n0 %n0
            %out = OpAccessChain %ptr %buf %n0 %n1
            %a = OpLoad %u32 %in
            OpSelectionMerge %join None
            OpSwitch %a %join{cases}
            {code}%join = OpLabel
            OpReturn
            OpFunctionEnd"
        );
        let module = read(&assemble(&text), &ReadOptions::default()).expect("it can be read");
        module.to_string().matches("ieq").count()
    };
    assert_eq!((comparisons(50), comparisons(500)), (99, 999));
}

#[test]
fn workgroup_sizes_run() {
    let header = HEADER.replacen(
        "OpDecorate %block Block",
        "OpDecorate %block Block\nOpDecorate %size BuiltIn WorkgroupSize\nOpDecorate %x SpecId 3",
        1,
    );
    let text = |constant: &str| {
        format!(
            "{header}%u32x3 = OpTypeVector %u32 3\n{constant}\n%main = OpFunction %void None %fn
            %start = OpLabel
            %y = OpCompositeExtract %u32 %size 1
            %out = OpAccessChain %ptr %buf %n0 %n1
            OpStore %out %y
            OpReturn
            OpFunctionEnd"
        )
    };
    let sizes = |text: &str, options: &ReadOptions, specs: &[(u32, u64)]| {
        modules(text, options).map(|module| {
            let mut dispatch = Dispatch::default();
            dispatch.specs = specs.to_vec();
            dispatch.buffers.push(Buffer { set: 0, binding: 0, element: 0, bytes: vec![0; 8] });
            let outcome = run(&module, &dispatch).expect("it comes to its end");
            assert_eq!(outcome.buffers[0].buffer.bytes[4], 2, "the constant is a value too");
            workgroup_size(&module, &module.entry_points[0], specs)
        })
    };
    let plain = text("%x = OpUndef %u32\n%size = OpConstantComposite %u32x3 %n8 %n2 %n1");
    let read = ReadOptions::default();
    assert_eq!(sizes(&plain, &read, &[]), [Ok([8, 2, 1]), Ok([8, 2, 1])]);
    let spec =
        text("%x = OpSpecConstant %u32 8\n%size = OpSpecConstantComposite %u32x3 %x %n2 %n1");
    assert_eq!(sizes(&spec, &read, &[]), [Ok([8, 2, 1]), Ok([8, 2, 1])]);
    assert_eq!(sizes(&spec, &read, &[(3, 16)]), [Ok([16, 2, 1]), Ok([16, 2, 1])]);
    let frozen = ReadOptions::default().with_spec(3, 16);
    assert_eq!(sizes(&spec, &frozen, &[]), [Ok([16, 2, 1]), Ok([16, 2, 1])]);
}
