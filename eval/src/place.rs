//! Where invocations are in their runs.
//!
//! Control flow is structured: what an invocation may still come to lies behind it in the text, or in a later round of
//! a loop around it. So the place in each function under way, with the rounds of the loops around it, orders the
//! invocations of a subgroup: equal places are one dynamic instance of an instruction, and whoever is behind may still
//! come to the others' place.

use crate::machine::{Frame, Invocation, Machine, Status};
use deburr_ir_core::{
    Block, Convergent, Function, Index, Instr, Intrinsic, Module, NodeKind, index::execution_scope,
};

/// The order of a function's text, and the loops around its blocks.
#[derive(Debug, Default)]
pub(crate) struct Places {
    /// Number in the text, by instruction.
    instrs: Vec<u32>,
    /// Numbers of the first blocks of the loops around it, outermost first, by block.
    loops: Vec<Vec<u32>>,
    /// Whether a block is the first of a loop's body.
    heads: Vec<bool>,
}

impl Places {
    /// What is needed to follow invocations through the functions of a module; nothing where none ever meet.
    pub fn of_module(m: &Module) -> Vec<Places> {
        let meet = m.functions.iter().any(|f| f.all_instrs().any(|i| meets(f, i)));
        if !meet {
            return Vec::new();
        }
        m.functions.iter().map(Places::of).collect()
    }

    fn of(f: &Function) -> Places {
        let mut places = Places { instrs: vec![0; f.instr_capacity()], ..Places::default() };
        if !f.has_body() {
            return places;
        }
        let mut number = 0;
        for block in f.blocks() {
            number += 1;
            let at = block.index();
            if places.loops.len() <= at {
                places.loops.resize(at + 1, Vec::new());
                places.heads.resize(at + 1, false);
            }
            let around = f.innermost_loop(block);
            let head = around.and_then(|node| match f.node_kind(node) {
                NodeKind::Loop { body, .. } => Some(f.first_block(body)),
                NodeKind::Block(_) | NodeKind::If { .. } | NodeKind::Once { .. } => None,
            });
            // The loop's first block comes before all others in it.
            places.loops[at] = match head {
                None => Vec::new(),
                Some(head) if head == block => {
                    places.heads[at] = true;
                    let outside = around.map(|node| f.block_before(node).index());
                    let mut loops = outside.map_or_else(Vec::new, |b| places.loops[b].clone());
                    loops.push(number);
                    loops
                }
                Some(head) => places.loops[head.index()].clone(),
            };
            for instr in f.instrs(block) {
                number += 1;
                places.instrs[instr.index()] = number;
            }
        }
        places
    }
}

/// Whether invocations of a subgroup meet at the instruction.
pub(crate) fn meets(f: &Function, instr: Instr) -> bool {
    let Some(info) = f.intrinsic_info(instr) else { return false };
    if f.intrinsic(instr) == Some(Intrinsic::BARRIER) {
        return f.index(instr, Index::EXECUTION_SCOPE) == Some(execution_scope::SUBGROUP);
    }
    matches!(info.convergent, Convergent::Subgroup | Convergent::Quad)
}

impl Machine<'_> {
    /// Counts the rounds of loops as a frame enters a block.
    pub(crate) fn count_rounds(&self, frame: &mut Frame, target: Block) {
        let Some(places) = self.places.get(frame.func.index()) else { return };
        let depth = places.loops.get(target.index()).map_or(0, Vec::len);
        let again = frame.rounds.len() >= depth;
        frame.rounds.resize(depth, 0);
        if again
            && places.heads.get(target.index()) == Some(&true)
            && let Some(round) = frame.rounds.last_mut()
        {
            *round += 1;
        }
    }

    /// The place of an invocation that waits at a subgroup operation, in the order of the run.
    pub(crate) fn place_of(&self, invocation: &Invocation) -> Option<Vec<u32>> {
        let Status::Subgroup(_, waits) = invocation.status else { return None };
        let mut place = Vec::new();
        for (n, frame) in invocation.frames.iter().enumerate() {
            let at = match invocation.frames.get(n + 1) {
                Some(callee) => callee.call?,
                None => waits,
            };
            let places = self.places.get(frame.func.index())?;
            let loops = places.loops.get(frame.block.index()).map_or(&[][..], |l| l);
            place.extend(loops.iter().zip(&frame.rounds).flat_map(|(&head, &round)| [head, round]));
            place.push(places.instrs[at.index()]);
        }
        Some(place)
    }
}
