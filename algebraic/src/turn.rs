//! An instruction's turn: what it is and what its operands are, read once before any rule is tried on it.

use crate::rewriter::Val;
use deburr_ir_core::{AluOp, Function, Instr, InstrKind, Swizzle};

/// What compiled matchers are shown of the instruction whose turn it is.
#[derive(Clone, Copy, Debug)]
pub struct Turn {
    /// The instruction.
    pub instr: Instr,
    /// Components of its value.
    pub comps: u8,
    /// What defines each operand: an opcode's id, [`Turn::CONST`] or [`Turn::OTHER`]. What stands behind the last operand
    /// means nothing.
    pub kinds: [u16; Turn::OPERANDS],
    /// The operands.
    pub args: [Val; Turn::OPERANDS],
}

/// How many operands an instruction has, and how many of them are constants and moves.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Tally {
    pub operands: usize,
    pub constants: usize,
    pub moves: usize,
}

/// Whether an operation only puts components where others were: `mov` or `vecN`.
#[inline]
pub(crate) fn is_move(op: AluOp) -> bool {
    (AluOp::MOV..=AluOp::VEC16).contains(&op)
}

const _: () =
    assert!(AluOp::VEC16.0 - AluOp::MOV.0 == 6, "mov and the vectors stand together in the table");

impl Turn {
    /// Operands that are shown. Of the few operations that have more, none are: rules look at them themselves.
    pub const OPERANDS: usize = 4;
    /// The kind of an operand that is a constant.
    pub const CONST: u16 = 0xffff;
    /// The kind of an operand that is neither a constant nor an ALU operation.
    pub const OTHER: u16 = 0xfffe;

    /// A turn that nothing has been read for. (A function may have no instruction at all.)
    pub(crate) fn empty() -> Turn {
        let instr = Instr::from_index(0);
        let none = Val { def: instr.def(), swizzle: Swizzle::IDENTITY };
        let (kinds, args) = ([Turn::OTHER; Turn::OPERANDS], [none; Turn::OPERANDS]);
        Turn { instr, comps: 0, kinds, args }
    }

    /// An instruction whose operands nobody looks at.
    pub(crate) fn of(f: &Function, instr: Instr) -> Turn {
        Turn { instr, comps: f.comps(instr.def()), ..Turn::empty() }
    }

    /// Goes on to an ALU instruction. (Of one with more operands than are shown, what is shown means nothing.)
    #[inline]
    pub(crate) fn read(&mut self, f: &Function, instr: Instr) -> Tally {
        (self.instr, self.comps) = (instr, f.comps(instr.def()));
        let srcs = f.srcs(instr);
        let mut tally = Tally { operands: srcs.len(), ..Tally::default() };
        for (n, src) in srcs.iter().enumerate() {
            let def = src.def().instr();
            // No branch: which kinds follow each other can't be foreseen.
            let kind = f.kind(def);
            let (alu, constant) = (kind == InstrKind::Alu, kind == InstrKind::LoadConst);
            let none = u16::from(!alu).wrapping_neg();
            let kind = (f.op_number(def) | none) - u16::from(!alu & !constant);
            tally.constants += usize::from(constant);
            tally.moves += usize::from(is_move(AluOp(kind)));
            let n = n % Turn::OPERANDS;
            self.kinds[n] = kind;
            self.args[n] = Val { def: src.def(), swizzle: src.swizzle() };
        }
        tally
    }
}
