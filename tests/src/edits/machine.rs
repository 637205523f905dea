//! Runs a function by its edges and phis: scalars, a few opcodes, calls as events.

use deburr_ir_core::{AluOp, Block, Def, Function, Index, InstrView, Intrinsic, JumpKind};
use std::collections::HashMap;

/// What a run did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Trace {
    /// The argument of each call in order.
    pub events: Vec<u64>,
    /// Whether it came to its end, rather than out of fuel.
    pub ended: bool,
}

impl Trace {
    /// Whether two runs did the same, as far as both had fuel.
    pub fn agrees(&self, other: &Trace) -> bool {
        let common = self.events.len().min(other.events.len());
        self.events[..common] == other.events[..common]
            && (!self.ended || self.events.len() >= other.events.len())
            && (!other.ended || other.events.len() >= self.events.len())
    }
}

const MAX_EVENTS: usize = 200;
const MAX_BLOCKS: usize = 20_000;

/// Runs the function on parameters.
pub(super) fn run(f: &Function, params: &[u32; 3]) -> Trace {
    let mut values: HashMap<Def, u64> = HashMap::new();
    let mut trace = Trace { events: Vec::new(), ended: false };
    let mut block = f.start_block();
    let mut from: Option<Block> = None;
    for _ in 0..MAX_BLOCKS {
        if block == f.end_block() {
            trace.ended = true;
            return trace;
        }
        // Phis read their sources at once.
        let phis: Vec<(Def, u64)> = f
            .phis(block)
            .map(|phi| {
                let src = from.and_then(|from| f.phi_src(phi, from));
                (phi.def(), src.and_then(|s| values.get(&s).copied()).unwrap_or(0))
            })
            .collect();
        values.extend(phis);
        for instr in f.instrs(block) {
            let src = |n: usize| values.get(&f.src(instr, n)).copied().unwrap_or(0);
            let value = match f.view(instr) {
                InstrView::Alu(AluOp::IADD) => (src(0) + src(1)) & 0xffff_ffff,
                InstrView::Alu(AluOp::IXOR) => src(0) ^ src(1),
                InstrView::Alu(AluOp::IMUL) => src(0).wrapping_mul(src(1)) & 0xffff_ffff,
                InstrView::Alu(AluOp::ULT) => u64::from(src(0) < src(1)),
                InstrView::Alu(AluOp::IEQ) => u64::from(src(0) == src(1)),
                InstrView::Alu(AluOp::MOV) => src(0),
                InstrView::Intrinsic(Intrinsic::LOAD_PARAM, _) => {
                    let n = f.index(instr, Index::PARAM_IDX).unwrap_or(0);
                    u64::from(params[n as usize % 3])
                }
                InstrView::LoadConst(bits) => bits[0],
                InstrView::Call(_) => {
                    trace.events.push(src(0));
                    if trace.events.len() == MAX_EVENTS {
                        return trace;
                    }
                    continue;
                }
                InstrView::Phi(_) => continue,
                InstrView::Undef => 0,
                InstrView::Jump(JumpKind::Halt | JumpKind::Return) => {
                    trace.ended = true;
                    return trace;
                }
                InstrView::Jump(JumpKind::Break | JumpKind::Continue) => continue,
                other => panic!("programs hold no {other:?}"),
            };
            values.insert(instr.def(), value);
        }
        let node = f.block_node(block).and_then(|n| f.next_node(n));
        let condition = match f.block_jump(block) {
            Some(_) => None,
            None => node.and_then(|n| f.condition(n)),
        };
        let mut succs = f.succs(block);
        let (first, second) = (succs.next(), succs.next());
        let next = match condition {
            Some(condition) if values.get(&condition).copied().unwrap_or(0) == 0 => second,
            _ => first,
        };
        from = Some(block);
        block = next.expect("a block that is reached leads on");
    }
    trace
}
