//! The basic blocks of a function's body: labels, merges, terminators.

use super::module::{Global, RawFunction, Reader};
use super::words::{Inst, Insts};
use crate::error::Error;
use deburr_ir_core::Type;
use rspirv::spirv::Op;
use rustc_hash::FxHashMap;

/// A block by its position in [`Body::blocks`].
pub(super) type Blk = u32;

/// What a block's merge instruction says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Merge {
    None,
    /// Merge block of a selection.
    Selection(Blk),
    /// Merge block and continue target of a loop.
    Loop(Blk, Blk),
}

/// Flatten, DontFlatten.
const SELECTION_HINTS: u32 = 3;
/// Unroll, DontUnroll, DependencyInfinite: those without operands.
const LOOP_HINTS: u32 = 7;

/// How a block ends.
#[derive(Clone, Debug)]
pub(super) enum Term {
    Branch(Blk),
    /// Condition id, then, else.
    Cond(u32, Blk, Blk),
    /// Selector id, default, cases in order.
    Switch(u32, Blk, Vec<(u64, Blk)>),
    Return(Option<u32>),
    /// Out of the invocation; `true` by OpTerminateInvocation.
    Halt(bool),
    Unreachable,
}

/// A basic block.
#[derive(Clone, Debug)]
pub(super) struct RawBlock {
    pub label: u32,
    /// Words of the code between the label and the merge or terminator.
    pub code: (usize, usize),
    pub merge: Merge,
    /// Hints of the merge instruction, without those that have operands.
    pub control: u32,
    pub term: Term,
    /// Word of the terminator.
    pub term_at: usize,
    pub reachable: bool,
    pub has_phis: bool,
}

/// The body of a function.
#[derive(Debug)]
pub(super) struct Body {
    pub blocks: Vec<RawBlock>,
    pub labels: FxHashMap<u32, Blk>,
    /// Types of the parameters and of the results in the body.
    pub types: FxHashMap<u32, Type>,
}

impl Body {
    /// An error at the end of a block.
    pub fn error(&self, blk: Blk, mut error: Error) -> Error {
        if error.word.is_none() {
            error.word = Some(self.blocks[blk as usize].term_at);
        }
        error
    }
}

/// An unresolved terminator and merge, by label ids.
struct Open {
    label: u32,
    start: usize,
    merge: Option<(usize, u32, Option<u32>)>,
    control: u32,
    has_phis: bool,
}

impl Reader<'_> {
    /// Splits the body of a function into blocks.
    pub fn body(&self, raw: &RawFunction) -> Result<Body, Error> {
        let mut labels = FxHashMap::default();
        for inst in (Insts { words: self.words, at: raw.body, end: raw.end }) {
            let inst = inst?;
            if inst.op == Op::Label {
                let blk = labels.len() as Blk;
                if labels.insert(inst.id, blk).is_some() {
                    return Err(inst.error(Error::invalid("the label is defined twice")));
                }
            }
        }
        let mut body = Body { blocks: Vec::new(), labels, types: FxHashMap::default() };
        let params = &self.fn_types[raw.ty as usize].params;
        body.types.extend(raw.params.iter().copied().zip(params.iter().copied()));
        let mut open: Option<Open> = None;
        for inst in (Insts { words: self.words, at: raw.body, end: raw.end }) {
            let inst = inst?;
            self.split(&mut body, &mut open, &inst).map_err(|e| inst.error(e))?;
        }
        body.mark_reachable();
        Ok(body)
    }

    fn split(
        &self,
        body: &mut Body,
        open: &mut Option<Open>,
        inst: &Inst<'_>,
    ) -> Result<(), Error> {
        if inst.ty != 0 {
            body.types.insert(inst.id, self.type_of(inst.ty)?);
        }
        match (inst.op, open.as_mut()) {
            (Op::Label, None) => {
                let start = inst.at + 2;
                *open =
                    Some(Open { label: inst.id, start, merge: None, control: 0, has_phis: false });
            }
            (Op::Label, Some(_)) => return Err(Error::invalid("a block does not end")),
            (Op::FunctionEnd, Some(_)) => {
                return Err(Error::invalid("the last block does not end"));
            }
            (Op::FunctionEnd | Op::Line | Op::NoLine | Op::Nop, None) => {}
            (_, None) => return Err(Error::invalid("an instruction outside of blocks")),
            (Op::SelectionMerge, Some(block)) => {
                block.merge = Some((inst.at, inst.arg(0)?, None));
                block.control = inst.arg(1)? & SELECTION_HINTS;
            }
            (Op::LoopMerge, Some(block)) => {
                block.merge = Some((inst.at, inst.arg(0)?, Some(inst.arg(1)?)));
                block.control = inst.arg(2)? & LOOP_HINTS;
            }
            (_, Some(block)) => {
                block.has_phis |= inst.op == Op::Phi;
                if let Some(term) = self.terminator(body, inst)? {
                    let end = block.merge.map_or(inst.at, |(at, _, _)| at);
                    let merge = match block.merge {
                        None => Merge::None,
                        Some((_, merge, None)) => Merge::Selection(body.blk(merge)?),
                        Some((_, merge, Some(target))) => {
                            Merge::Loop(body.blk(merge)?, body.blk(target)?)
                        }
                    };
                    body.blocks.push(RawBlock {
                        label: block.label,
                        code: (block.start, end),
                        merge,
                        control: block.control,
                        term,
                        term_at: inst.at,
                        reachable: false,
                        has_phis: block.has_phis,
                    });
                    *open = None;
                } else if block.merge.is_some() && !matches!(inst.op, Op::Line | Op::NoLine) {
                    return Err(Error::invalid("a merge does not stand before the block's end"));
                }
            }
        }
        Ok(())
    }

    /// The terminator that an instruction is, if it is one.
    fn terminator(&self, body: &Body, inst: &Inst<'_>) -> Result<Option<Term>, Error> {
        Ok(Some(match inst.op {
            Op::Branch => Term::Branch(body.blk(inst.arg(0)?)?),
            Op::BranchConditional => {
                Term::Cond(inst.arg(0)?, body.blk(inst.arg(1)?)?, body.blk(inst.arg(2)?)?)
            }
            Op::Switch => self.switch(body, inst)?,
            Op::Return => Term::Return(None),
            Op::ReturnValue => Term::Return(Some(inst.arg(0)?)),
            Op::Kill | Op::TerminateInvocation => Term::Halt(inst.op == Op::TerminateInvocation),
            Op::Unreachable => Term::Unreachable,
            Op::IgnoreIntersectionKHR | Op::TerminateRayKHR | Op::EmitMeshTasksEXT => {
                return Err(Error::unsupported("a block that ends so"));
            }
            _ => return Ok(None),
        }))
    }

    fn switch(&self, body: &Body, inst: &Inst<'_>) -> Result<Term, Error> {
        let selector = inst.arg(0)?;
        let ty = match self.get(selector) {
            Global::Const(c) => Some(self.consts[c as usize].ty),
            Global::Spec(s) => Some(self.m.spec_consts[s.index()].ty),
            _ => body.types.get(&selector).copied(),
        };
        let bits = ty.and_then(|ty| self.m.types.value_shape(ty)).map(|(_, bits)| bits);
        let words = match bits {
            Some(64) => 2,
            Some(8..=32) => 1,
            _ => return Err(Error::invalid("the selector is no integer")),
        };
        let mut cases = Vec::new();
        for case in inst.rest(2).chunks(words + 1) {
            let [literal @ .., label] = case else { continue };
            if literal.len() != words {
                return Err(Error::invalid("a case is cut short"));
            }
            let value = literal.iter().rev().fold(0u64, |v, w| v << 32 | u64::from(*w));
            let mask = u64::MAX >> (64 - u32::from(bits.unwrap_or(32)));
            cases.push((value & mask, body.blk(*label)?));
        }
        Ok(Term::Switch(selector, body.blk(inst.arg(1)?)?, cases))
    }
}

impl Body {
    /// The block of a label.
    pub fn blk(&self, label: u32) -> Result<Blk, Error> {
        let blk = self.labels.get(&label).copied();
        blk.ok_or_else(|| Error::invalid(format!("%{label} is not a label of the function")))
    }

    /// The blocks that a block may branch to.
    pub fn successors(&self, blk: Blk) -> Vec<Blk> {
        match &self.blocks[blk as usize].term {
            Term::Branch(to) => vec![*to],
            Term::Cond(_, yes, no) => vec![*yes, *no],
            Term::Switch(_, default, cases) => {
                cases.iter().map(|(_, blk)| *blk).chain([*default]).collect()
            }
            Term::Return(_) | Term::Halt(_) | Term::Unreachable => Vec::new(),
        }
    }

    fn mark_reachable(&mut self) {
        let mut work = vec![0];
        while let Some(blk) = work.pop() {
            if (blk as usize) < self.blocks.len() && !self.blocks[blk as usize].reachable {
                self.blocks[blk as usize].reachable = true;
                work.extend(self.successors(blk));
            }
        }
    }
}
