//! Random float programs whose instructions carry licences, with a bound on how far any use of them may move a result.
//!
//! The bound is a running error analysis over the terms that licences allow. A value has a magnitude `size`, the value
//! of its term with every constant, operand and sum taken absolutely, and a count `steps` of roundings on its longest
//! way. Reassociation, distribution, fusing and reciprocals give a term of the same real value whose sums are over the
//! same products, so each evaluation is within `k · steps · size` ulps of the real value (Higham, Accuracy and
//! Stability, 3.1), for a small k. Divisors and radicands stay well away from zero: they are sums and products of
//! positive values, whose relative error the same count bounds. Nothing else than floats depends on a float. What a
//! loop carries round is bounded round by round: it is a term of the rounds before.

use crate::differ::Tolerance;
use crate::generate::{INVOCATIONS, OUTPUTS, Types, WORDS, buffer, entry_point, word_pointer};
use crate::rng::Rng;
use deburr_ir_core::{
    AluOp, AluSrc, Builder, Cursor, Def, Flags, FloatEnv, Function, Index, InstrInit, JumpKind,
    Modes, Module, Shape, Swizzle, Variable,
};

/// Roundings a term may have.
const MOST_STEPS: f64 = 4096.0;
/// Least and greatest magnitude of a term.
const RANGE: (f64, f64) = (1e-6, 1e6);
/// How many times the first-order bound is allowed: second-order terms, and terms that rules make longer.
const SLACK: f64 = 8.0;

/// Opcodes that the programs use.
pub(crate) const LICENSED_OPS: &[AluOp] = &[
    AluOp::FADD,
    AluOp::FSUB,
    AluOp::FMUL,
    AluOp::FFMA,
    AluOp::FMAD,
    AluOp::FMIN,
    AluOp::FMAX,
    AluOp::FNEG,
    AluOp::FABS,
    AluOp::FDIV,
    AluOp::FRCP,
    AluOp::FSQRT,
    AluOp::FDOT3,
    AluOp::MOV,
    AluOp::BCSEL,
    AluOp::U2F32,
];

/// What is known of a term: its size, its least value and its steps, as in [`Float`].
type Facts = (f64, f64, f64);

/// A float in scope.
#[derive(Clone, Copy)]
struct Float {
    def: Def,
    comps: u8,
    /// Bound of the term taken absolutely.
    size: f64,
    /// Lower bound of the value where it is a positive term, else 0.
    least: f64,
    steps: f64,
}

/// The program of a seed, and how far its outputs may be off.
pub fn licensed_program(seed: u64, env: FloatEnv) -> (Module, Tolerance) {
    let mut m = Module::new();
    let types = Types::new(&mut m);
    let input = buffer(&mut m, &types, "input", 0);
    let output = buffer(&mut m, &types, "output", 1);
    let id = m.add_var(Variable {
        builtin: Some("LocalInvocationIndex".into()),
        ..Variable::new("index", Modes::IN, types.word)
    });
    let mut f = Function::new("main");
    f.float_env = env;
    let mut rng = Rng::new(seed);
    let mut b = Builder::at_end(&mut f);
    let p = b.deref_var(id, Modes::IN, types.word);
    let index = b.load_deref(1, 32, p, &[]);
    let (eight, stride) = (b.imm_u32(WORDS), b.imm_u32(OUTPUTS));
    let base = b.imul(index, eight);
    let mut words = Vec::new();
    let mut pool = Vec::new();
    for n in 0..WORDS {
        let pointer = word_pointer(&mut b, types, input, base, n);
        let word = b.load_deref(1, 32, pointer, &[]);
        words.push(word);
        // 1 to 2: the exponent of 1 over the low bits of the word.
        let (low, one) = (b.imm_u32(0x007f_ffff), b.imm_u32(0x3f80_0000));
        let bits = b.iand(word, low);
        let def = b.ior(bits, one);
        pool.push(Float { def, comps: 1, size: 2.0, least: 1.0, steps: 0.0 });
    }
    let mut maker = Licensed { rng: &mut rng, b, pool, words };
    for _ in 0..40 + maker.rng.below(60) {
        match maker.rng.below(24) {
            0..=1 => maker.select(),
            2 => maker.branch(),
            3 => maker.counted_loop(),
            4..=5 => maker.constant(),
            6..=7 => maker.vector(),
            _ => maker.operation(),
        }
    }
    let base = maker.b.imul(index, stride);
    // Rounding toward zero is off by a whole ulp.
    let ulp = f64::from(f32::EPSILON);
    let mut bounds = Vec::new();
    for n in 0..OUTPUTS {
        let value = maker.recent();
        let lane = maker.rng.below(value.comps.into()) as u8;
        let word = maker.b.channel(value.def, lane);
        let pointer = word_pointer(&mut maker.b, types, output, base, n);
        maker.b.store_deref(pointer, word, &[(Index::WRITE_MASK, 1)]);
        bounds.push(SLACK * (value.steps + 1.0) * ulp * value.size + 1e-30);
    }
    let main = m.add_function(f);
    entry_point(&mut m, main, id);
    let words = bounds.iter().copied().cycle().take(bounds.len() * INVOCATIONS as usize).collect();
    (m, Tolerance { buffer: (0, 1), words })
}

struct Licensed<'a> {
    rng: &'a mut Rng,
    b: Builder<'a>,
    pool: Vec<Float>,
    words: Vec<Def>,
}

impl Licensed<'_> {
    fn recent(&mut self) -> Float {
        let n = self.pool.len();
        let at =
            if self.rng.one_in(2) { n - 1 - self.rng.below(n.min(8)) } else { self.rng.below(n) };
        self.pool[at]
    }

    fn source(&mut self, comps: u8) -> (Float, AluSrc) {
        let value = self.recent();
        let lanes: Vec<u8> = (0..comps).map(|_| self.rng.below(value.comps.into()) as u8).collect();
        (value, AluSrc { def: value.def, swizzle: Swizzle::new(&lanes) })
    }

    fn licences(&mut self) -> Flags {
        let all = Flags::LICENCES - Flags::RELAXED | Flags::NNAN | Flags::NINF;
        match self.rng.below(4) {
            // What reading SPIR-V gives by default.
            0..=1 => all,
            2 => all & Flags::from_bits_truncate(self.rng.bits() as u16),
            _ => Flags::empty(),
        }
    }

    fn put(&mut self, op: AluOp, comps: u8, srcs: &[AluSrc], facts: Facts) {
        if !fits(facts) {
            return;
        }
        let (size, least, steps) = facts;
        let allowed = op.builtin().map_or(Flags::empty(), |info| info.allowed_flags());
        let flags = self.licences() & allowed;
        let instr = self.b.alu_instr(op, comps, srcs);
        self.b.f.set_flags(instr, flags);
        self.pool.push(Float { def: instr.def(), comps, size, least, steps });
    }

    fn operation(&mut self) {
        let comps = *self.rng.pick(&[1u8, 1, 2, 3, 4]);
        let ((a, x), (b, y), (c, z)) = (self.source(comps), self.source(comps), self.source(comps));
        let more = |v: f64| v + 1.0;
        let sum = (a.size + b.size, a.least + b.least, more(a.steps.max(b.steps)));
        let difference = (sum.0, 0.0, sum.2);
        let product = (a.size * b.size, a.least * b.least, more(a.steps + b.steps));
        let both = |p: Facts, c: Float| {
            let positive = p.1 > 0.0 && c.least > 0.0;
            (p.0 + c.size, if positive { p.1 + c.least } else { 0.0 }, more(p.2.max(c.steps)))
        };
        let of_either = (a.size.max(b.size), 0.0, a.steps.max(b.steps));
        match self.rng.below(16) {
            0..=2 => {
                let least = if a.least > 0.0 && b.least > 0.0 { sum.1 } else { 0.0 };
                self.put(AluOp::FADD, comps, &[x, y], (sum.0, least, sum.2));
            }
            3..=4 => self.put(AluOp::FSUB, comps, &[x, y], difference),
            5..=7 => self.put(AluOp::FMUL, comps, &[x, y], product),
            8 => self.put(AluOp::FFMA, comps, &[x, y, z], both(product, c)),
            9 => self.put(AluOp::FMAD, comps, &[x, y, z], both(product, c)),
            10 => {
                let op = if self.rng.one_in(2) { AluOp::FMIN } else { AluOp::FMAX };
                let least = a.least.min(b.least);
                self.put(op, comps, &[x, y], (of_either.0, least, of_either.2));
            }
            11 => {
                let op = if self.rng.one_in(2) { AluOp::FNEG } else { AluOp::FABS };
                let least = if op == AluOp::FABS { a.least } else { 0.0 };
                self.put(op, comps, &[x], (a.size, least, a.steps));
            }
            12 if b.least > 0.0 => {
                let least = a.least / b.size;
                let facts = (a.size / b.least, least, more(a.steps + b.steps) + 2.0);
                self.put(AluOp::FDIV, comps, &[x, y], self.conditioned(facts, b));
            }
            13 if a.least > 0.0 => {
                let facts = (1.0 / a.least, 1.0 / a.size, more(a.steps) + 2.0);
                self.put(AluOp::FRCP, comps, &[x], self.conditioned(facts, a));
            }
            14 if a.least > 0.0 => {
                let facts = (a.size.sqrt(), a.least.sqrt(), more(a.steps) + 2.0);
                self.put(AluOp::FSQRT, comps, &[x], self.conditioned(facts, a));
            }
            15 if a.comps == 3 && b.comps == 3 => {
                let facts = (3.0 * a.size * b.size, 0.0, more(a.steps + b.steps) + 2.0);
                self.put(AluOp::FDOT3, 1, &[x.def.into(), y.def.into()], facts);
            }
            _ => {
                let id = self.rng.below(2) == 0;
                let src = if id { x } else { y };
                let of = if id { a } else { b };
                self.put(AluOp::MOV, comps, &[src], (of.size, of.least, of.steps));
            }
        }
    }

    /// A quotient or root is off by the relative error of its positive operand, which its bounds are apart by.
    fn conditioned(&self, facts: Facts, by: Float) -> Facts {
        // The bound is stated over `size`, which takes the operand at its least; the operand's error is relative.
        (facts.0, facts.1, facts.2 * (by.size / by.least).min(MOST_STEPS))
    }

    fn constant(&mut self) {
        let value = *self.rng.pick(&[1.0f32, 2.0, 0.5, 3.0, -1.0, -2.0, 0.1, 1.5, 4.0, 10.0]);
        let comps = *self.rng.pick(&[1u8, 2, 3, 4]);
        let def = self.b.load_const(32, &vec![u64::from(value.to_bits()); comps.into()]);
        let (size, least) = (f64::from(value.abs()), f64::from(value.max(0.0)));
        self.pool.push(Float { def, comps, size, least, steps: 0.0 });
    }

    fn vector(&mut self) {
        let comps = 2 + self.rng.below(3);
        let parts: Vec<(Float, AluSrc)> = (0..comps).map(|_| self.source(1)).collect();
        let srcs: Vec<AluSrc> = parts.iter().map(|(_, s)| *s).collect();
        let def = self.b.vec_of(&srcs);
        let over = |get: fn(&Float) -> f64, pick: fn(f64, f64) -> f64| {
            parts.iter().map(|(v, _)| get(v)).reduce(pick).unwrap_or(0.0)
        };
        let (size, least) = (over(|v| v.size, f64::max), over(|v| v.least, f64::min));
        let steps = over(|v| v.steps, f64::max);
        self.pool.push(Float { def, comps: comps as u8, size, least, steps });
    }

    /// An integer condition: the same whatever floats do.
    fn condition(&mut self) -> Def {
        let (a, b) = (*self.rng.pick(&self.words), *self.rng.pick(&self.words));
        self.b.ult(a, b)
    }

    fn select(&mut self) {
        let condition = self.condition();
        let ((a, x), (b, y)) = (self.source(1), self.source(1));
        let (size, least) = (a.size.max(b.size), a.least.min(b.least));
        let instr = self.b.alu_instr(AluOp::BCSEL, 1, &[condition.into(), x, y]);
        let steps = a.steps.max(b.steps);
        self.pool.push(Float { def: instr.def(), comps: 1, size, least, steps });
    }

    fn branch(&mut self) {
        let condition = self.condition();
        let parts = self.b.f.insert_if(self.b.cursor, condition);
        let mark = self.pool.len();
        let mut arms = Vec::new();
        for block in [parts.then_block, parts.else_block] {
            self.b.cursor = Cursor::BlockEnd(block);
            for _ in 0..self.rng.below(4) {
                self.operation();
            }
            let value = self.recent();
            let lane = self.rng.below(value.comps.into()) as u8;
            arms.push((block, self.b.channel(value.def, lane), value));
            self.pool.truncate(mark);
        }
        let word = Shape::new(1, 32).expect("a word");
        let srcs = [(arms[0].0, arms[0].1), (arms[1].0, arms[1].1)];
        let def = self.b.phi(parts.after, word, &srcs);
        self.b.cursor = Cursor::BlockEnd(parts.after);
        let (a, b) = (arms[0].2, arms[1].2);
        let (size, least) = (a.size.max(b.size), a.least.min(b.least));
        self.pool.push(Float { def, comps: 1, size, least, steps: a.steps.max(b.steps) });
    }

    /// A loop of a few rounds that carries a float, with another way out, or round, under a condition on integers.
    fn counted_loop(&mut self) {
        let word = Shape::new(1, 32).expect("a word");
        let (start, source) = self.source(1);
        let start_facts = start.facts();
        let trips = 1 + self.rng.below(5) as u32;
        let init = self.b.alu_instr(AluOp::MOV, 1, &[source]).def();
        let (zero, one, limit) = (self.b.imm_u32(0), self.b.imm_u32(1), self.b.imm_u32(trips));
        let parts = self.b.f.insert_loop(self.b.cursor);
        let before = self.b.f.preds(parts.body)[0];
        let [counter, carried] = [zero, init].map(|init| {
            let phi = self.b.f.create(InstrInit::Phi(&[before]), word, &[init]);
            self.b.f.insert(phi, Cursor::AfterPhis(parts.body));
            phi
        });
        self.b.cursor = Cursor::BlockEnd(parts.body);
        let done = self.b.uge(counter.def(), limit);
        let exit = self.b.f.insert_if(self.b.cursor, done);
        self.b.f.add_jump(exit.then_block, JumpKind::Break, None);
        self.b.cursor = Cursor::BlockEnd(exit.after);
        let mut out = vec![(exit.then_block, carried.def())];
        let mark = self.pool.len();
        let round = self.b.u2f32(counter.def());
        let size = f64::from(trips);
        self.pool.push(Float { def: round, comps: 1, size, least: 0.0, steps: 0.0 });
        // Each way round is a step from what was carried.
        let (mut steps, mut last) = (Vec::new(), None);
        let mut round_ways = Vec::new();
        if self.rng.below(3) > 0 {
            (0..self.rng.below(3)).for_each(|_| self.operation());
            let condition = self.round_condition(counter.def());
            let inner = self.b.f.insert_if(self.b.cursor, condition);
            self.b.cursor = Cursor::BlockEnd(inner.then_block);
            let leaves = self.rng.one_in(2);
            let step = self.step(start_facts, &[], trips);
            let value = self.take(carried.def(), &step);
            if leaves {
                last = Some(step);
                out.push((inner.then_block, value));
            } else {
                steps.push(step);
                round_ways.push((inner.then_block, value));
            }
            let jump = if leaves { JumpKind::Break } else { JumpKind::Continue };
            self.b.f.add_jump(inner.then_block, jump, None);
            self.b.cursor = Cursor::BlockEnd(inner.after);
        }
        (0..self.rng.below(4)).for_each(|_| self.operation());
        // The step out of the loop starts where any round may have ended.
        let all = |step: &Step| {
            let mut ways = steps.clone();
            ways.push(step.clone());
            let facts = after_rounds(start_facts, &ways, trips)?;
            let left = last.as_ref().map_or(facts, |last| either(facts, last.facts(facts)));
            fits(left).then_some(left)
        };
        let step = self.step(start_facts, &steps, trips);
        let (step, facts) = match all(&step) {
            Some(facts) => (step, Some(facts)),
            None => {
                let step = self.negation();
                let facts = all(&step);
                (step, facts)
            }
        };
        let value = self.take(carried.def(), &step);
        round_ways.push((self.b.block(), value));
        self.pool.truncate(mark);
        self.b.cursor = Cursor::BlockEnd(parts.continue_block);
        let next = match round_ways[..] {
            [(_, value)] => value,
            _ => self.b.phi(parts.continue_block, word, &round_ways),
        };
        self.b.cursor = Cursor::BlockEnd(parts.continue_block);
        let count = self.b.iadd(counter.def(), one);
        self.b.f.set_phi_src(counter, parts.continue_block, count);
        self.b.f.set_phi_src(carried, parts.continue_block, next);
        self.b.cursor = Cursor::BlockEnd(parts.after);
        let def = self.b.phi(parts.after, word, &out);
        self.b.cursor = Cursor::BlockEnd(parts.after);
        if let Some((size, least, steps)) = facts {
            self.pool.push(Float { def, comps: 1, size, least, steps });
        }
    }

    /// True in some rounds.
    fn round_condition(&mut self, counter: Def) -> Def {
        let word = *self.rng.pick(&self.words);
        let seven = self.b.imm_u32(7);
        let low = self.b.iand(word, seven);
        if self.rng.one_in(2) { self.b.ieq(low, counter) } else { self.b.ult(low, counter) }
    }

    /// A step that so many rounds may take, besides others.
    fn step(&mut self, start: Facts, others: &[Step], trips: u32) -> Step {
        for _ in 0..4 {
            let ops = [AluOp::FADD, AluOp::FSUB, AluOp::FMUL, AluOp::FFMA, AluOp::FMAD];
            let op = match self.rng.below(7) {
                0 => AluOp::FMIN,
                1 => AluOp::FMAX,
                _ => *self.rng.pick(&ops),
            };
            let count = if matches!(op, AluOp::FFMA | AluOp::FMAD) { 2 } else { 1 };
            let operands = (0..count).map(|_| self.source(1)).collect();
            let step = Step { op, operands };
            let ways: Vec<Step> = others.iter().chain([&step]).cloned().collect();
            if after_rounds(start, &ways, trips).is_some() {
                return step;
            }
        }
        self.negation()
    }

    fn negation(&self) -> Step {
        Step { op: AluOp::FNEG, operands: Vec::new() }
    }

    /// The step's instruction.
    fn take(&mut self, carried: Def, step: &Step) -> Def {
        let own = [AluSrc::from(carried)];
        let srcs: Vec<AluSrc> =
            own.into_iter().chain(step.operands.iter().map(|(_, src)| *src)).collect();
        let allowed = step.op.builtin().map_or(Flags::empty(), |info| info.allowed_flags());
        let flags = self.licences() & allowed;
        let instr = self.b.alu_instr(step.op, 1, &srcs);
        self.b.f.set_flags(instr, flags);
        instr.def()
    }
}

/// What a round of a loop does to the value that is carried: an operation on it and values of the round.
#[derive(Clone)]
struct Step {
    op: AluOp,
    operands: Vec<(Float, AluSrc)>,
}

impl Step {
    fn facts(&self, (size, least, steps): Facts) -> Facts {
        let of = |n: usize| self.operands.get(n).map_or((0.0, 0.0, 0.0), |(v, _)| v.facts());
        let (a, b) = (of(0), of(1));
        let both = |x: f64, y: f64, z: f64| if x > 0.0 && y > 0.0 { z } else { 0.0 };
        let product = (size * a.0, least * a.1, steps + a.2 + 1.0);
        match self.op {
            AluOp::FADD => (size + a.0, both(least, a.1, least + a.1), steps.max(a.2) + 1.0),
            AluOp::FSUB => (size + a.0, 0.0, steps.max(a.2) + 1.0),
            AluOp::FMUL => product,
            AluOp::FMIN | AluOp::FMAX => (size.max(a.0), least.min(a.1), steps.max(a.2)),
            AluOp::FNEG => (size, 0.0, steps),
            // A sum of a product.
            _ => {
                let (size, least, steps) = product;
                (size + b.0, both(least, b.1, least + b.1), steps.max(b.2) + 1.0)
            }
        }
    }
}

impl Float {
    fn facts(&self) -> Facts {
        (self.size, self.least, self.steps)
    }
}

fn fits((size, least, steps): Facts) -> bool {
    let positive = least == 0.0 || least >= RANGE.0;
    (RANGE.0..=RANGE.1).contains(&size) && steps <= MOST_STEPS && positive
}

fn either(a: Facts, b: Facts) -> Facts {
    (a.0.max(b.0), a.1.min(b.1), a.2.max(b.2))
}

/// What is known of a value that each of so many rounds takes one of the steps from, or none; `None` if that is too
/// little.
fn after_rounds(start: Facts, steps: &[Step], trips: u32) -> Option<Facts> {
    let mut facts = start;
    for _ in 0..trips {
        facts = steps.iter().fold(facts, |all, step| either(all, step.facts(facts)));
        if !fits(facts) {
            return None;
        }
    }
    Some(facts)
}
