//! Random programs: nested ifs, loops and onces with jumps, phis across them, calls as events.

use super::Rng;
use deburr_ir_core::{
    AluOp, Block, Builder, Cursor, Def, Func, Function, Index, Intrinsic, JumpKind, Module, Param,
    Shape,
};

/// A module of one program, function 0, and the function that events call.
pub(super) fn program(rng: &mut Rng) -> Module {
    let mut module = Module::new();
    let uint = module.types.int(32, false);
    let param = Param { name: String::new(), ty: uint, comps: 1, bits: 32 };
    let mut f = Function::new("program");
    f.params = vec![param.clone(); 3];
    let mut observe = Function::declaration("observe");
    observe.params = vec![param];
    let mut values = Vec::new();
    let mut b = Builder::at_end(&mut f);
    for n in 0..3 {
        values.push(load_param(&mut b, n));
    }
    let mut generator = Generator { rng, budget: 14 };
    generator.list(&mut b, &mut values, 0, Around::default());
    f.remove_unreachable();
    module.add_function(f);
    module.add_function(observe);
    module
}

fn load_param(b: &mut Builder<'_>, n: u32) -> Def {
    let shape = Shape::new(1, 32).expect("a scalar");
    let indices = [n];
    debug_assert_eq!(
        Intrinsic::LOAD_PARAM.builtin().map(|i| i.indices),
        Some(&[Index::PARAM_IDX][..])
    );
    b.intrinsic(Intrinsic::LOAD_PARAM, shape, &[], &indices).def()
}

/// A call that shows a value.
pub(super) fn observe(b: &mut Builder<'_>, value: Def) {
    b.call(Func::from_index(1), Shape::NONE, &[value]);
}

/// What jumps may leave here.
#[derive(Clone, Copy, Default)]
struct Around {
    breakable: bool,
    in_loop: bool,
}

struct Generator<'r> {
    rng: &'r mut Rng,
    budget: usize,
}

impl Generator<'_> {
    fn value(&mut self, values: &[Def]) -> Def {
        values[self.rng.below(values.len())]
    }

    fn condition(&mut self, b: &mut Builder<'_>, values: &[Def]) -> Def {
        let (x, y) = (self.value(values), self.value(values));
        b.alu(AluOp::ULT, &[x, y])
    }

    /// Code at the builder's cursor. Depth is bounded, so recursion is too.
    fn list(&mut self, b: &mut Builder<'_>, values: &mut Vec<Def>, depth: usize, around: Around) {
        let statements = 2 + self.rng.below(4);
        for n in 0..statements {
            // The first statements nest, until there is depth.
            let nest = (n == 0 && depth < 4) || (depth < 6 && self.rng.chance(35));
            if nest && self.budget > 0 {
                self.budget -= 1;
                match self.rng.below(3) {
                    0 => self.branch(b, values, depth, around),
                    1 => self.repeat(b, values, depth),
                    _ => self.once(b, values, depth, around),
                }
                continue;
            }
            match self.rng.below(5) {
                0 => {
                    let n = self.rng.below(9) as u32;
                    values.push(b.imm_u32(n));
                }
                1 | 2 => {
                    let op = [AluOp::IADD, AluOp::IXOR, AluOp::IMUL][self.rng.below(3)];
                    let (x, y) = (self.value(values), self.value(values));
                    values.push(b.alu(op, &[x, y]));
                }
                3 => {
                    let value = self.value(values);
                    observe(b, value);
                }
                _ if around.breakable => self.exit(b, values, around),
                _ => {}
            }
        }
    }

    /// `if (…) { jump }`
    fn exit(&mut self, b: &mut Builder<'_>, values: &[Def], around: Around) {
        let condition = self.condition(b, values);
        let jump = match self.rng.below(8) {
            0 => JumpKind::Return,
            1 => JumpKind::Halt,
            n if n > 4 && around.in_loop => JumpKind::Continue,
            _ => JumpKind::Break,
        };
        let parts = b.f.insert_if(b.cursor, condition);
        let block = if self.rng.chance(50) { parts.then_block } else { parts.else_block };
        let shown = self.value(values);
        let mut inner = Builder::new(b.f, Cursor::BlockEnd(block));
        if self.rng.chance(50) {
            observe(&mut inner, shown);
        }
        inner.jump(jump, None);
        b.cursor = Cursor::AfterPhis(parts.after);
    }

    fn branch(&mut self, b: &mut Builder<'_>, values: &mut Vec<Def>, depth: usize, around: Around) {
        let condition = self.condition(b, values);
        let parts = b.f.insert_if(b.cursor, condition);
        let outer = values.len();
        let mut ends = Vec::new();
        for block in [parts.then_block, parts.else_block] {
            let mut inner = Builder::new(b.f, Cursor::BlockEnd(block));
            self.list(&mut inner, values, depth + 1, around);
            ends.push(self.value(values));
            values.truncate(outer);
        }
        self.merge(b, parts.after, &ends, values);
    }

    /// Phis of a block, a source for each predecessor: the last values of the branches, or any from before.
    fn merge(&mut self, b: &mut Builder<'_>, block: Block, ends: &[Def], values: &mut Vec<Def>) {
        let preds = b.f.preds(block).to_vec();
        b.cursor = Cursor::AfterPhis(block);
        if preds.is_empty() {
            return;
        }
        let dominance = deburr_ir_core::Dominance::new(b.f);
        let shape = Shape::new(1, 32).expect("a scalar");
        let srcs: Vec<(Block, Def)> = preds
            .iter()
            .map(|&pred| {
                let reaches = |d: &Def| {
                    b.f.block_of(d.instr()).is_some_and(|home| dominance.dominates(home, pred))
                };
                let end = ends.iter().copied().rfind(reaches);
                let fallback = values.iter().copied().find(reaches).unwrap_or(values[0]);
                (pred, end.unwrap_or(fallback))
            })
            .collect();
        values.push(b.phi(block, shape, &srcs));
        b.cursor = Cursor::AfterPhis(block);
    }

    /// A loop that ends after a few rounds, with a value carried around.
    fn repeat(&mut self, b: &mut Builder<'_>, values: &mut Vec<Def>, depth: usize) {
        let (zero, one) = (b.imm_u32(0), b.imm_u32(1));
        let limit = 1 + self.rng.below(4) as u32;
        let limit = b.imm_u32(limit);
        let start = self.value(values);
        let before = b.block();
        let parts = b.f.insert_loop(b.cursor);
        let before =
            *b.f.preds(parts.body).iter().find(|p| **p != parts.continue_block).unwrap_or(&before);
        let shape = Shape::new(1, 32).expect("a scalar");
        // The sources for the back edge are set below.
        let head = [(before, zero), (parts.continue_block, zero)];
        let counter = b.phi(parts.body, shape, &head);
        let carried = b.phi(parts.body, shape, &[(before, start), (parts.continue_block, start)]);
        let outer = values.len();
        values.push(counter);
        values.push(carried);
        let mut inner = Builder::new(b.f, Cursor::AfterPhis(parts.body));
        let more = inner.alu(AluOp::ULT, &[counter, limit]);
        let exit = inner.f.insert_if(inner.cursor, more);
        inner.f.add_jump(exit.else_block, JumpKind::Break, None);
        inner.cursor = Cursor::AfterPhis(exit.after);
        let around = Around { breakable: true, in_loop: true };
        self.list(&mut inner, values, depth + 1, around);
        let mut step = Builder::new(b.f, Cursor::BlockEnd(parts.continue_block));
        let next = step.alu(AluOp::IADD, &[counter, one]);
        let mixed = step.alu(AluOp::IXOR, &[carried, next]);
        let latch = parts.continue_block;
        b.f.set_phi_src(counter.instr(), latch, next);
        b.f.set_phi_src(carried.instr(), latch, mixed);
        values.truncate(outer);
        self.merge(b, parts.after, &[carried], values);
    }

    fn once(&mut self, b: &mut Builder<'_>, values: &mut Vec<Def>, depth: usize, around: Around) {
        let parts = b.f.insert_once(b.cursor);
        let outer = values.len();
        let mut inner = Builder::new(b.f, Cursor::BlockEnd(parts.body));
        self.list(&mut inner, values, depth + 1, Around { breakable: true, ..around });
        let end = self.value(values);
        values.truncate(outer);
        self.merge(b, parts.after, &[end], values);
    }
}
