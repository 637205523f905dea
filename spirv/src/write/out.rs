//! Words of a binary: ids, sections, instructions.

use rspirv::grammar::{
    GLSL_STD_450_INSTRUCTION_TABLE, INSTRUCTION_TABLE as CORE_INSTRUCTION_TABLE,
};
use rustc_hash::FxHashMap;
use spirv::Op;

/// One section of a binary, or the code of one function.
#[derive(Debug, Default)]
pub(super) struct Words(pub Vec<u32>);

impl Words {
    /// Appends an instruction.
    pub fn op(&mut self, op: Op, operands: &[u32]) {
        self.0.push((operands.len() as u32 + 1) << 16 | op as u32);
        self.0.extend_from_slice(operands);
    }

    /// Appends an instruction whose last operand is a string.
    pub fn op_str(&mut self, op: Op, operands: &[u32], text: &str, more: &[u32]) {
        let text = string_words(text);
        let words = operands.len() + text.len() + more.len() + 1;
        self.0.push((words as u32) << 16 | op as u32);
        self.0.extend_from_slice(operands);
        self.0.extend(text);
        self.0.extend_from_slice(more);
    }
}

/// A string as words: UTF-8, ended by a zero byte, padded with zeros.
pub(super) fn string_words(text: &str) -> Vec<u32> {
    let mut words = vec![0u32; text.len() / 4 + 1];
    for (i, byte) in text.bytes().enumerate() {
        words[i / 4] |= u32::from(byte) << (8 * (i % 4));
    }
    words
}

/// Instructions by the names that the tables use.
#[derive(Debug)]
pub(super) struct Names {
    core: FxHashMap<&'static str, Op>,
    glsl: FxHashMap<&'static str, u32>,
}

impl Names {
    pub fn new() -> Self {
        Names {
            core: CORE_INSTRUCTION_TABLE.iter().map(|i| (i.opname, i.opcode)).collect(),
            glsl: GLSL_STD_450_INSTRUCTION_TABLE
                .iter()
                .map(|i| (i.opname, u32::from(i.opcode)))
                .collect(),
        }
    }

    /// The core instruction of this name, without `Op`.
    pub fn core(&self, name: &str) -> Option<Op> {
        self.core.get(name).copied()
    }

    /// The number of a GLSL.std.450 instruction.
    pub fn glsl(&self, name: &str) -> Option<u32> {
        self.glsl.get(name).copied()
    }
}
