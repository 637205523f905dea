//! A small assembler of SPIR-V texts, by the grammar's tables: `%id = OpName operand …`, one instruction a line.
//! Ids are names or numbers, in the order of their appearance.

use rspirv::grammar::{GLSL_STD_450_INSTRUCTION_TABLE, INSTRUCTION_TABLE, OperandKind};
use rspirv::spirv::{
    AddressingModel, BuiltIn, Capability, Decoration, Dim, ExecutionMode, ExecutionModel,
    FPRoundingMode, GroupOperation, ImageFormat, MemoryModel, StorageClass,
};
use std::collections::HashMap;
use std::str::FromStr;

/// Types, constants and a buffer `%buf` of 32-bit words, as most tests have them.
pub const HEADER: &str = r#"
    OpCapability Shader
    %glsl = OpExtInstImport "GLSL.std.450"
    OpMemoryModel Logical GLSL450
    OpEntryPoint GLCompute %main "main"
    OpExecutionMode %main LocalSize 1 1 1
    OpDecorate %block Block
    OpMemberDecorate %block 0 Offset 0
    OpDecorate %words ArrayStride 4
    OpDecorate %buf DescriptorSet 0
    OpDecorate %buf Binding 0
    %void = OpTypeVoid
    %fn = OpTypeFunction %void
    %bool = OpTypeBool
    %u32 = OpTypeInt 32 0
    %i32 = OpTypeInt 32 1
    %f32 = OpTypeFloat 32
    %u32x2 = OpTypeVector %u32 2
    %f32x2 = OpTypeVector %f32 2
    %mat2 = OpTypeMatrix %f32x2 2
    %pair = OpTypeStruct %u32 %f32
    %words = OpTypeRuntimeArray %u32
    %block = OpTypeStruct %words
    %ptr_block = OpTypePointer StorageBuffer %block
    %ptr = OpTypePointer StorageBuffer %u32
    %ptr_u32 = OpTypePointer Function %u32
    %ptr_pair = OpTypePointer Function %pair
    %buf = OpVariable %ptr_block StorageBuffer
    %n0 = OpConstant %u32 0
    %n1 = OpConstant %u32 1
    %n2 = OpConstant %u32 2
    %n3 = OpConstant %u32 3
    %n7 = OpConstant %u32 7
    %n8 = OpConstant %u32 8
    %n9 = OpConstant %u32 9
    %x0 = OpConstant %f32 0.5
    %yes = OpConstantTrue %bool
"#;

/// A compute module with capabilities beyond `Shader`, decorations, and types of its own; the scalar types and small
/// constants are there.
pub fn compute(capabilities: &str, decorations: &str, rest: &str) -> String {
    format!(
        r#"
        OpCapability Shader
        {capabilities}
        OpMemoryModel Logical GLSL450
        OpEntryPoint GLCompute %main "main"
        OpExecutionMode %main LocalSize 1 1 1
        {decorations}
        %void = OpTypeVoid
        %fn = OpTypeFunction %void
        %bool = OpTypeBool
        %u32 = OpTypeInt 32 0
        %f32 = OpTypeFloat 32
        %n0 = OpConstant %u32 0
        %n1 = OpConstant %u32 1
        %n2 = OpConstant %u32 2
        {rest}"#
    )
}

/// The binary of a text.
pub fn assemble(text: &str) -> Vec<u32> {
    let mut ids: HashMap<String, u32> = HashMap::new();
    let mut floats: Vec<u32> = Vec::new();
    let mut words = vec![0x0723_0203, 0x0001_0500, 0, 0, 0];
    for line in text.lines().map(str::trim).filter(|l| !l.is_empty() && !l.starts_with(';')) {
        let (result, rest) = match line.split_once(" = ") {
            Some((result, rest)) => (Some(id(&mut ids, result)), rest),
            None => (None, line),
        };
        let mut tokens = split(rest).into_iter();
        let name = tokens.next().expect("a line has an instruction");
        let name = name.strip_prefix("Op").expect("instructions begin with Op");
        let grammar = INSTRUCTION_TABLE.iter().find(|i| i.opname == name);
        let grammar = grammar.unwrap_or_else(|| panic!("no instruction Op{name}"));
        let mut operands: Vec<u32> = Vec::new();
        let has_type =
            grammar.operands.first().is_some_and(|o| o.kind == OperandKind::IdResultType);
        if has_type {
            operands.push(id(&mut ids, &tokens.next().expect("a result type")));
        }
        operands.extend(result);
        if name == "TypeFloat" {
            floats.extend(result);
        }
        let is_float = name.ends_with("Constant") && floats.contains(&operands[0]);
        for token in tokens {
            operand(&token, is_float, &mut ids, &mut operands);
        }
        let op = grammar.opcode as u32;
        words.push((operands.len() as u32 + 1) << 16 | op);
        words.extend(operands);
    }
    words[3] = ids.len() as u32 + 1;
    words
}

fn id(ids: &mut HashMap<String, u32>, name: &str) -> u32 {
    let next = ids.len() as u32 + 1;
    *ids.entry(name.to_string()).or_insert(next)
}

fn split(line: &str) -> Vec<String> {
    let mut tokens = Vec::new();
    let mut rest = line.trim();
    while !rest.is_empty() {
        let end = match rest.strip_prefix('"') {
            Some(inner) => inner.find('"').expect("a string ends") + 2,
            None => rest.find(' ').unwrap_or(rest.len()),
        };
        tokens.push(rest[..end].to_string());
        rest = rest[end..].trim_start();
    }
    tokens
}

fn operand(token: &str, is_float: bool, ids: &mut HashMap<String, u32>, operands: &mut Vec<u32>) {
    if token.starts_with('%') {
        operands.push(id(ids, token));
    } else if let Some(text) = token.strip_prefix('"') {
        let mut bytes = text.trim_end_matches('"').as_bytes().to_vec();
        bytes.push(0);
        bytes.resize(bytes.len().next_multiple_of(4), 0);
        operands
            .extend(bytes.chunks_exact(4).map(|c| u32::from_le_bytes([c[0], c[1], c[2], c[3]])));
    } else if let (true, Ok(float)) = (is_float, token.parse::<f32>()) {
        operands.push(float.to_bits());
    } else if let Ok(number) = token.parse::<i64>() {
        operands.push(number as u32);
    } else {
        operands.push(enumerant(token));
    }
}

/// The number of an enumerant, whichever kind has it. The names that tests use belong to one kind each.
fn enumerant(name: &str) -> u32 {
    fn of<T: FromStr>(name: &str, number: impl Fn(T) -> u32) -> Option<u32> {
        T::from_str(name).ok().map(number)
    }
    let glsl = || {
        let op = GLSL_STD_450_INSTRUCTION_TABLE.iter().find(|i| i.opname == name);
        op.map(|i| u32::from(i.opcode))
    };
    None.or_else(|| (name == "None").then_some(0))
        .or_else(|| of(name, |v: StorageClass| v as u32))
        .or_else(|| of(name, |v: Decoration| v as u32))
        .or_else(|| of(name, |v: ExecutionMode| v as u32))
        .or_else(|| of(name, |v: ExecutionModel| v as u32))
        .or_else(|| of(name, |v: Capability| v as u32))
        .or_else(|| of(name, |v: AddressingModel| v as u32))
        .or_else(|| of(name, |v: MemoryModel| v as u32))
        .or_else(|| of(name, |v: BuiltIn| v as u32))
        .or_else(|| of(&format!("Dim{name}"), |v: Dim| v as u32))
        .or_else(|| of(name, |v: ImageFormat| v as u32))
        .or_else(|| of(name, |v: GroupOperation| v as u32))
        .or_else(|| of(name, |v: FPRoundingMode| v as u32))
        .or_else(glsl)
        .unwrap_or_else(|| panic!("no enumerant {name}"))
}
