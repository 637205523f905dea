//! The size of workgroups: execution modes, and the constant that takes precedence over them.

use super::*;
use deburr_ir_core::Module;
use deburr_spirv::{WriteOptions, write};
use rspirv::binary::Disassemble;

/// Two compute entry points with these execution modes, of a module with these decorations and constants.
fn module(modes: &str, decorations: &str, constants: &str) -> String {
    format!(
        r#"
        OpCapability Shader
        OpMemoryModel Logical GLSL450
        OpEntryPoint GLCompute %main "main"
        OpEntryPoint GLCompute %other "other"
        {modes}
        {decorations}
        %void = OpTypeVoid
        %fn = OpTypeFunction %void
        %u32 = OpTypeInt 32 0
        %u32x3 = OpTypeVector %u32 3
        %n1 = OpConstant %u32 1
        %n4 = OpConstant %u32 4
        %n8 = OpConstant %u32 8
        {constants}
        %main = OpFunction %void None %fn
        %l0 = OpLabel
        OpReturn
        OpFunctionEnd
        %other = OpFunction %void None %fn
        %l1 = OpLabel
        OpReturn
        OpFunctionEnd"#
    )
}

const MODES: &str = "OpExecutionMode %main LocalSize 4 1 1\nOpExecutionMode %other LocalSize 2 2 1";
const SIZE: &str = "OpDecorate %size BuiltIn WorkgroupSize";
const PLAIN: &str = "%size = OpConstantComposite %u32x3 %n8 %n1 %n1";
const SPEC: &str = "%x = OpSpecConstant %u32 8\n%size = OpSpecConstantComposite %u32x3 %x %n1 %n1";

fn read_text(text: &str, options: &ReadOptions) -> Result<Module, String> {
    read(&assemble(text), options).map_err(|e| e.to_string())
}

/// The execution modes of what is written.
fn modes(text: &str, options: &ReadOptions) -> Vec<String> {
    let module = read_text(text, options).expect("the module can be read");
    let words = write(&module, &WriteOptions::default()).expect("it can be written");
    let text = rspirv::dr::load_words(words).expect("what is written is SPIR-V").disassemble();
    text.lines().filter(|l| l.contains("LocalSize") || l.contains("BuiltIn")).map(mode).collect()
}

/// Without the id.
fn mode(line: &str) -> String {
    line.split(' ').filter(|word| !word.starts_with('%')).collect::<Vec<_>>().join(" ")
}

#[test]
fn a_constant_is_the_size_of_every_entry_point() {
    let both = ["OpExecutionMode LocalSize 8 1 1"; 2];
    let options = ReadOptions::default();
    assert_eq!(modes(&module(MODES, SIZE, PLAIN), &options), both);
    assert_eq!(modes(&module("", SIZE, PLAIN), &options), both, "no mode is needed");
    let by_id =
        "OpExecutionModeId %main LocalSizeId %n4 %n1 %n1\nOpExecutionMode %other LocalSize 2 2 1";
    assert_eq!(modes(&module(by_id, SIZE, PLAIN), &options), both);
    let plain_in_spec = "%size = OpSpecConstantComposite %u32x3 %n8 %n1 %n1";
    assert_eq!(modes(&module(MODES, SIZE, plain_in_spec), &options), both);
    let own = ["OpExecutionMode LocalSize 4 1 1", "OpExecutionMode LocalSize 2 2 1"];
    assert_eq!(modes(&module(MODES, "", PLAIN), &options), own, "an undecorated constant is none");
}

#[test]
fn a_specialisation_constant_stays_the_size() {
    let decorations = format!("{SIZE}\nOpDecorate %x SpecId 0");
    let text = module("", &decorations, SPEC);
    assert_eq!(modes(&text, &ReadOptions::default()), ["OpDecorate BuiltIn WorkgroupSize"]);
    let frozen = ReadOptions::default().with_spec(0, 16);
    assert_eq!(modes(&text, &frozen), ["OpExecutionMode LocalSize 16 1 1"; 2]);
    let text = module(MODES, &decorations, SPEC);
    assert_eq!(modes(&text, &frozen), ["OpExecutionMode LocalSize 16 1 1"; 2]);
}

#[test]
fn sizes_that_are_none() {
    let read = |decorations: &str, constants: &str| {
        read_text(&module(MODES, decorations, constants), &ReadOptions::default()).map(|_| ())
    };
    let vector = Err("the workgroup size is a vector of three positive integers".to_owned());
    assert_eq!(read(SIZE, "%size = OpConstant %u32 8"), vector);
    assert_eq!(read(SIZE, "%size = OpConstantNull %u32x3"), vector);
    let many =
        "%n65536 = OpConstant %u32 65536\n%size = OpConstantComposite %u32x3 %n65536 %n65536 %n1";
    let limit = Err("workgroups of more than 2^32 invocations".to_owned());
    assert_eq!(read(SIZE, many), limit);
    let second = "%again = OpConstantComposite %u32x3 %n4 %n1 %n1";
    let both = format!("{SIZE}\nOpDecorate %again BuiltIn WorkgroupSize");
    let two = Err("there are two workgroup sizes".to_owned());
    assert_eq!(read(&both, &format!("{PLAIN}\n{second}")), two);
    assert_eq!(read(&both, &format!("{SPEC}\n{second}")), two);
    let same = "%again = OpConstantComposite %u32x3 %n8 %n1 %n1";
    assert_eq!(read(&both, &format!("{PLAIN}\n{same}")), Ok(()));
}
