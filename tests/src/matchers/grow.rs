//! Left sides of rules as instructions.

use super::{chance, mask, outside};
use deburr_algebraic::interp::expr::Out;
use deburr_algebraic::interp::term::{Claim, Terms};
use deburr_fuzz::Rng;
use deburr_ir_core::{
    AluOp, AluSrc, Builder, Def, Denorm, Flags, Function, Instr, Intrinsic, Rounding, Shape,
    Swizzle,
};
use deburr_rulegen::rules::model::{Comps, NodeId, NodeKind, Rule, RuleSet, VarId, VarKind, flags};
use std::collections::HashMap;

/// Where a node of a pattern stands in a function.
#[derive(Clone, Copy, Debug)]
pub struct Place {
    /// The node.
    pub node: NodeId,
    /// The instruction that uses it and the number of the source; the root has none.
    pub user: Option<(Instr, usize)>,
    /// What stands there.
    pub def: Def,
}

/// A left side in a function.
#[derive(Clone, Debug)]
pub struct Left {
    /// The root.
    pub root: Instr,
    /// Where the pattern's nodes stand, operands behind their users' earlier operands.
    pub places: Vec<Place>,
}

/// How closely a left side is to be one that the rule fires on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Care {
    /// What the rule asks for is there as far as it can be arranged.
    Fits,
    /// Flags, constants and facts are as they come, and nodes may be exchanged for something else.
    Loose,
}

/// A number that rules look for, or a random one.
pub fn number(rng: &mut Rng, bits: u8) -> u64 {
    let width = usize::from(bits);
    let v = match rng.below(7) {
        0 => rng.below(9) as u64,
        1 => 1 << rng.below(width),
        2 => (1 << rng.below(width)) - 1,
        3 => u64::MAX << rng.below(width),
        4 if bits == 32 => u64::from((rng.bits() as i8 as f32 * 0.5).to_bits()),
        4 if bits == 64 => (rng.bits() as i8 as f64 * 0.5).to_bits(),
        5 if chance(rng, 60) => rng.below(20) as u64,
        6 => rng.below(width + 1) as u64,
        _ => rng.bits(),
    };
    v & mask(bits)
}

/// A constant of components that are mostly equal.
pub fn constant(b: &mut Builder<'_>, rng: &mut Rng, bits: u8, comps: u8) -> Def {
    let first = number(rng, bits);
    let same = chance(rng, 60);
    let values: Vec<u64> = (0..comps)
        .map(|_| if !same && chance(rng, 50) { number(rng, bits) } else { first })
        .collect();
    b.load_const(bits, &values)
}

/// A value of which something is known that rules ask for.
pub fn known(b: &mut Builder<'_>, rng: &mut Rng, bits: u8, comps: u8) -> Def {
    let plain = b.undef(comps, bits);
    if bits < 8 {
        return plain;
    }
    let (shift, small) = (b.imm_u32(1 + rng.below(7) as u32), rng.below(16) as u64);
    let sign = b.load_const(bits, &[1 << (bits - 1)]);
    let low = b.load_const(bits, &[small]);
    match rng.below(if bits >= 16 { 10 } else { 5 }) {
        0 => b.alu(AluOp::USHR, &[plain, shift]),
        1 => b.alu(AluOp::IAND, &[plain, low]),
        2 => b.alu(AluOp::IOR, &[plain, sign]),
        3 => b.alu(AluOp::UMIN, &[plain, low]),
        4 => b.alu(AluOp::UMAX, &[plain, low]),
        5 => b.alu(AluOp::FABS, &[plain]),
        6 => b.alu(AluOp::FFLOOR, &[plain]),
        n @ (7 | 8) => {
            let op = match (bits, n) {
                (16, 7) => AluOp::U2F16,
                (16, _) => AluOp::I2F16,
                (32, 7) => AluOp::U2F32,
                (32, _) => AluOp::I2F32,
                (_, 7) => AluOp::U2F64,
                (_, _) => AluOp::I2F64,
            };
            b.alu(op, &[plain])
        }
        _ => {
            let sat = b.alu(AluOp::FSAT, &[plain]);
            b.alu(AluOp::FTRUNC, &[sat])
        }
    }
}

/// Keeps a value alive: stores it where nobody looks.
pub fn sink(b: &mut Builder<'_>, value: Def) {
    let at = b.imm_u32(0);
    b.intrinsic_with(Intrinsic::STORE_OUTPUT, Shape::NONE, &[value, at], &[]);
}

/// A function with one of the float environments.
pub fn function(rng: &mut Rng) -> Function {
    let mut f = Function::new("main");
    for slot in 0..3 {
        f.float_env.denorm[slot] = *rng.pick(&[Denorm::Keep, Denorm::Flush, Denorm::Any]);
        f.float_env.rounding[slot] = *rng.pick(&[Rounding::Rte, Rounding::Rtz, Rounding::Any]);
    }
    if chance(rng, 70) {
        f.float_env.denorm = [f.float_env.denorm[0]; 3];
        f.float_env.rounding = [f.float_env.rounding[0]; 3];
    }
    f
}

/// Builds left sides of one rule at one choice of sizes.
pub struct Grower<'a> {
    pub(super) set: &'a RuleSet,
    pub(super) rule: &'a Rule,
    /// Bits of each class: an instance of the rule, or not.
    pub(super) bits: &'a [u8],
    comps: u8,
    care: Care,
    /// Values that may stand for variables.
    pool: &'a [Def],
    /// Variables that stand for whole values.
    whole: Vec<VarId>,
    /// Whether values that need to be known at phis are not.
    edge: bool,
    pub(super) vars: HashMap<VarId, AluSrc>,
    /// Values of the variables at which the rule's facts hold.
    fitting: Option<Vec<u64>>,
    /// The node, by number, that is exchanged for something else.
    perturb: Option<usize>,
    built: usize,
    pub(super) places: Vec<Place>,
}

impl<'a> Grower<'a> {
    /// A grower; `comps` is the number of components of the root, where the rule leaves it open.
    pub fn new(set: &'a RuleSet, rule: &'a Rule, bits: &'a [u8], comps: u8, care: Care) -> Self {
        let (vars, places) = (HashMap::new(), Vec::new());
        Grower {
            set,
            rule,
            bits,
            comps,
            care,
            pool: &[],
            whole: outside::whole(rule),
            edge: false,
            vars,
            fitting: None,
            perturb: None,
            built: 0,
            places,
        }
    }

    /// Takes some of the variables from these values.
    #[must_use]
    pub fn over(mut self, pool: &'a [Def]) -> Self {
        self.pool = pool;
        self
    }

    /// Has values that phis need come over one edge.
    #[must_use]
    pub fn over_edges(mut self, edge: bool) -> Self {
        self.edge = edge;
        self
    }

    /// Builds the left side.
    pub fn grow(mut self, b: &mut Builder<'_>, rng: &mut Rng) -> Left {
        self.fitting = match self.care == Care::Fits || chance(rng, 80) {
            true => fitting(self.set, self.rule, self.bits, rng),
            false => None,
        };
        self.perturb = (self.care == Care::Loose && chance(rng, 40)).then(|| 1 + rng.below(4));
        self.ahead_of_phis(b, rng, self.edge);
        let root = match self.rule.nodes[self.rule.pattern].kind {
            NodeKind::Outside { .. } => self.outside(b, rng, self.rule.pattern, self.comps),
            _ => self.op(b, rng, self.rule.pattern, self.comps),
        };
        self.places.push(Place { node: self.rule.pattern, user: None, def: root });
        Left { root: root.instr(), places: self.places }
    }

    /// Whether a fact of the rule speaks of the variable.
    fn is_in_fact(&self, var: VarId) -> bool {
        in_facts(self.rule, var)
    }

    /// How many components that is at this root.
    pub(super) fn count(&self, comps: Comps) -> u8 {
        match comps {
            Comps::Fixed(n) => n,
            Comps::Generic => self.comps,
        }
    }

    /// A source of `comps` components for a node.
    pub(super) fn source(
        &mut self,
        b: &mut Builder<'_>,
        rng: &mut Rng,
        id: NodeId,
        comps: u8,
    ) -> AluSrc {
        let node = &self.rule.nodes[id];
        let bits = self.bits[node.class];
        self.built += 1;
        if self.perturb == Some(self.built) {
            return match chance(rng, 50) {
                true => constant(b, rng, bits, comps).into(),
                false => b.undef(comps, bits).into(),
            };
        }
        let seen = |src: AluSrc| match &node.swizzle {
            Some(s) => AluSrc { def: src.def, swizzle: Swizzle::new(s) },
            None => src,
        };
        match &node.kind {
            NodeKind::Var(v) => {
                let src = match self.vars.get(v) {
                    Some(src) => *src,
                    None => {
                        let src = self.variable(b, rng, *v, bits, comps);
                        self.vars.insert(*v, src);
                        src
                    }
                };
                seen(src)
            }
            NodeKind::Literal(value, base) => {
                let v = value.encode(*base, bits).unwrap_or(0);
                AluSrc { def: b.load_const(bits, &[v]), swizzle: Swizzle::splat(0) }
            }
            NodeKind::Op { .. } => seen(self.op(b, rng, id, comps).into()),
            NodeKind::Undef => seen(b.undef(comps, bits).into()),
            NodeKind::Outside { .. } => seen(self.outside(b, rng, id, comps).into()),
            NodeKind::Compute { .. } | NodeKind::Ref(_) => b.undef(comps, bits).into(),
        }
    }

    /// What a variable stands for.
    pub(super) fn variable(
        &mut self,
        b: &mut Builder<'_>,
        rng: &mut Rng,
        v: VarId,
        bits: u8,
        comps: u8,
    ) -> AluSrc {
        let var = &self.rule.vars[v];
        let wide = match (var.whole, var.comps) {
            (true, Comps::Fixed(n)) => n.max(2),
            _ => comps,
        };
        let fact = self.fitting.is_some() && self.is_in_fact(v);
        let likely = match (fact, self.care) {
            (true, Care::Loose) => 60,
            (true, Care::Fits) => 25,
            _ => 15,
        };
        let is_const = var.kind == VarKind::Const || chance(rng, likely);
        if !is_const && !var.whole && chance(rng, 60) {
            let plain = self.whole.contains(&v);
            let fits = |d: &Def| b.f.bits(*d) == bits && (!plain || b.f.comps(*d) == comps);
            let of_pool: Vec<Def> = self.pool.iter().copied().filter(fits).collect();
            if !of_pool.is_empty() {
                let def = *rng.pick(&of_pool);
                let from = usize::from(b.f.comps(def));
                let lanes: Vec<u8> = (0..comps).map(|_| rng.below(from) as u8).collect();
                let whole = from == usize::from(comps) && (plain || chance(rng, 60));
                let swizzle = if whole { Swizzle::IDENTITY } else { Swizzle::new(&lanes) };
                return AluSrc { def, swizzle };
            }
        }
        // Two constants are often the same one.
        let is_one =
            |d: &Def| b.f.bits(*d) == bits && b.f.comps(*d) == wide && b.f.constant(*d).is_some();
        let in_order = (0..self.rule.vars.len()).filter_map(|v| self.vars.get(&v));
        let earlier = in_order.map(|s| s.def).find(is_one);
        let earlier = earlier.filter(|d| outside::is_seen(b, *d));
        let again = earlier.filter(|_| chance(rng, 40));
        let fits = self.fitting.as_ref().filter(|_| fact).map(|f| f[v]);
        let asked = if self.care == Care::Fits && self.is_in_fact(v) { 95 } else { 50 };
        let def = match (is_const, fits, again) {
            (true, Some(value), _) => b.load_const(bits, &vec![value; usize::from(wide)]),
            (true, None, Some(again)) => again,
            (true, None, None) => constant(b, rng, bits, wide),
            (false, _, _) if chance(rng, asked) => known(b, rng, bits, wide),
            (false, _, _) => b.undef(wide, bits),
        };
        let mut src = AluSrc::from(def);
        if !var.whole && wide > 1 && !self.whole.contains(&v) && chance(rng, 30) {
            let order: Vec<u8> = (0..wide).map(|_| rng.below(wide.into()) as u8).collect();
            src.swizzle = Swizzle::new(&order);
        }
        src
    }

    fn op(&mut self, b: &mut Builder<'_>, rng: &mut Rng, id: NodeId, comps: u8) -> Def {
        let NodeKind::Op { op, promises, args, bind } = &self.rule.nodes[id].kind else {
            return b.undef(comps, 32);
        };
        let sig = self.set.ops.get(*op);
        let comps = if sig.output.comps == 0 { comps } else { sig.output.comps };
        let licensed = self.care == Care::Fits || !chance(rng, 10);
        let licences = match sig.float && licensed {
            true => self.rule.licences | if chance(rng, 50) { flags::LICENCES } else { 0 },
            false => 0,
        };
        // Patterns match operations that promise more than they ask for.
        let more = match sig.dom.is_some() && chance(rng, 30) {
            true => flags::DOM,
            false => 0,
        };
        let flags = Flags::from_bits_truncate(promises | licences | more);
        if let Some(chain) = self.rule.chain_at(id) {
            let def = self.chain(b, rng, chain, AluOp(sig.id), comps, flags);
            if let Some(var) = bind {
                self.vars.insert(*var, def.into());
            }
            return def;
        }
        let mut srcs = Vec::new();
        for (arg, ty) in args.iter().zip(&sig.inputs) {
            let n = if ty.comps == 0 { comps } else { ty.comps };
            srcs.push((*arg, self.source(b, rng, *arg, n)));
        }
        if sig.commutative && chance(rng, 50) {
            srcs.swap(0, 1);
        }
        b.flags = flags;
        let sources: Vec<AluSrc> = srcs.iter().map(|s| s.1).collect();
        let instr = b.alu_instr(AluOp(sig.id), comps, &sources);
        b.flags = Flags::empty();
        for (slot, (node, src)) in srcs.iter().enumerate() {
            self.places.push(Place { node: *node, user: Some((instr, slot)), def: src.def });
        }
        if let Some(var) = bind {
            self.vars.insert(*var, instr.def().into());
        }
        instr.def()
    }
}

/// Whether a fact of the rule speaks of the variable.
pub fn in_facts(rule: &Rule, var: VarId) -> bool {
    let under = |root: &NodeId| {
        let is_var = |n: &NodeId| matches!(rule.nodes[*n].kind, NodeKind::Var(v) if v == var);
        rule.reachable(*root).iter().any(is_var)
    };
    rule.fact_args().any(|arg| under(&arg))
}

/// Whether the rule's facts hold of these values, the same in every component.
pub fn facts_hold(set: &RuleSet, rule: &Rule, bits: &[u8], values: &[u64]) -> bool {
    let claim = Claim { denorm: Denorm::Keep, rounding: Rounding::Rte };
    let terms = Terms::new(set, rule, bits, claim);
    hold(&terms, rule, values)
}

fn hold(terms: &Terms<'_>, rule: &Rule, values: &[u64]) -> bool {
    let point = rule.vars.iter().zip(values).map(|(var, value)| {
        let comps = usize::from(terms.comps(var.comps)).max(1);
        (0..comps).map(|_| Out::Bits(*value)).collect()
    });
    terms.facts_hold(&point.collect())
}

/// Values of a rule's variables at which its facts hold, if some are soon found.
fn fitting(set: &RuleSet, rule: &Rule, bits: &[u8], rng: &mut Rng) -> Option<Vec<u64>> {
    if rule.facts.is_empty() {
        return None;
    }
    let claim = Claim { denorm: Denorm::Keep, rounding: Rounding::Rte };
    let terms = Terms::new(set, rule, bits, claim);
    for _ in 0..400 {
        let mut values: Vec<u64> = Vec::new();
        for var in &rule.vars {
            let earlier = values.get(rng.below(4)).copied();
            let value = match earlier.filter(|_| chance(rng, 25)) {
                Some(value) => value & mask(bits[var.class]),
                None => number(rng, bits[var.class]),
            };
            values.push(value);
        }
        if hold(&terms, rule, &values) {
            return Some(values);
        }
    }
    None
}
