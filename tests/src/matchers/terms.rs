//! Random functions: terms over every opcode, and left sides that share values.

use super::change::{lanes, of_size};
use super::grow::{self, Care, Grower};
use super::{chance, mask, outside};
use deburr_algebraic::Target;
use deburr_fuzz::Rng;
use deburr_ir_core::{AluOp, AluSrc, Builder, Def, Flags, Function};
use deburr_rulegen::rules::classes::SIZES;
use deburr_rulegen::rules::model::{Comps, NodeKind, RuleSet};
use deburr_rulegen::rules::ops::OpSig;

/// Makes functions for a rule set.
pub struct Terms<'a> {
    set: &'a RuleSet,
    /// Opcodes of the built-in table, and those of patterns, once for each.
    ops: Vec<&'a OpSig>,
    matched: Vec<&'a OpSig>,
}

impl<'a> Terms<'a> {
    /// For the rules of one group, or of all.
    pub fn new(set: &'a RuleSet) -> Terms<'a> {
        let ops: Vec<&OpSig> = set.ops.iter().filter(|op| op.id < 0x4000).collect();
        let mut matched = Vec::new();
        for rule in &set.rules {
            for node in rule.pattern_nodes() {
                if let NodeKind::Op { op, .. } = &rule.nodes[node].kind {
                    matched.push(set.ops.get(*op));
                }
            }
        }
        Terms { set, ops, matched }
    }

    /// The group of a rule mostly, now and then any group.
    pub fn group(&self, rng: &mut Rng) -> usize {
        match self.set.rules.is_empty() || chance(rng, 20) {
            true => rng.below(self.set.groups.len()),
            false => rng.pick(&self.set.rules).group,
        }
    }

    /// A few operations of any opcode, on each other, constants and values of which nothing is known.
    pub fn random(&self, rng: &mut Rng) -> Function {
        let mut f = grow::function(rng);
        let mut b = Builder::at_end(&mut f);
        let mut pool: Vec<Def> = Vec::new();
        let count = 3 + rng.below(20);
        for _ in 0..count {
            let op = match chance(rng, 50) || self.matched.is_empty() {
                true => *rng.pick(&self.ops),
                false => *rng.pick(&self.matched),
            };
            pool.push(self.operation(&mut b, rng, op, &pool));
        }
        self.stores(&mut b, rng, &pool);
        f
    }

    /// Some left sides of a group, over each other's values; up to `most` of them.
    pub fn woven(&self, rng: &mut Rng, group: usize, most: usize) -> Function {
        let mut f = grow::function(rng);
        let mut b = Builder::at_end(&mut f);
        let mut pool: Vec<Def> = Vec::new();
        let rules: Vec<_> = self.set.rules.iter().filter(|r| r.group == group).collect();
        for _ in 0..2 + rng.below(most.max(3) - 1) {
            if rules.is_empty() || chance(rng, 15) {
                let op = *rng.pick(&self.ops);
                pool.push(self.operation(&mut b, rng, op, &pool));
                continue;
            }
            // One that takes something of what is there, if that is soon found.
            let mut pick = || {
                let rule = *rng.pick(&rules);
                (rule, rng.below(rule.instances.len()))
            };
            let takes = |f: &Function, (rule, at): (&deburr_rulegen::rules::Rule, usize)| {
                let bits = &rule.instances[at];
                rule.vars.iter().any(|v| pool.iter().any(|d| f.bits(*d) == bits[v.class]))
            };
            let mut found = pick();
            for _ in 0..4 {
                if pool.is_empty() || takes(b.f, found) {
                    break;
                }
                found = pick();
            }
            let (rule, at) = found;
            let comps = match rule.nodes[rule.pattern].comps {
                Comps::Fixed(n) => n,
                Comps::Generic => *rng.pick(&[1, 1, 2, 3, 4]),
            };
            let care = if chance(rng, 60) { Care::Fits } else { Care::Loose };
            let grower = Grower::new(self.set, rule, &rule.instances[at], comps, care).over(&pool);
            let left = grower.grow(&mut b, rng);
            // Inner values have other uses now and then.
            for place in left.places.iter().filter(|p| p.user.is_none()) {
                pool.push(place.def);
            }
            let inner = rng.pick(&left.places).def;
            if chance(rng, 30) && outside::is_seen_at_end(b.f, inner) {
                pool.push(inner);
            }
        }
        self.stores(&mut b, rng, &pool);
        f
    }

    /// Left sides of a group on left sides, as terms: where the size fits, what stands for a variable is another's root.
    pub fn nested(&self, rng: &mut Rng, group: usize) -> Function {
        let mut f = grow::function(rng);
        let rules: Vec<_> = self.set.rules.iter().filter(|r| r.group == group).collect();
        let mut b = Builder::at_end(&mut f);
        let mut pool: Vec<Def> = Vec::new();
        for _ in 0..4 + rng.below(12) {
            let last = pool.last().copied();
            // A rule that can take what was last made.
            let mut found = None;
            for _ in 0..40 {
                if rules.is_empty() {
                    break;
                }
                let rule = *rng.pick(&rules);
                let bits = rng.pick(&rule.instances);
                let takes = |d: Def| rule.vars.iter().any(|v| b.f.bits(d) == bits[v.class]);
                found = Some((rule, bits));
                if last.is_none_or(takes) {
                    break;
                }
            }
            let Some((rule, bits)) = found else { break };
            let comps = match rule.nodes[rule.pattern].comps {
                Comps::Fixed(n) => n,
                Comps::Generic => last.map_or(1, |d| b.f.comps(d).min(4)),
            };
            let over: Vec<Def> = last.into_iter().chain(pool.first().copied()).collect();
            let grower = Grower::new(self.set, rule, bits, comps, Care::Fits).over(&over);
            pool.push(grower.grow(&mut b, rng).root.def());
        }
        match pool.is_empty() {
            true => self.random(rng),
            false => {
                for def in &pool {
                    if !b.f.is_used(*def) {
                        grow::sink(&mut b, *def);
                    }
                }
                f
            }
        }
    }

    /// Stores the last value and some of the others.
    fn stores(&self, b: &mut Builder<'_>, rng: &mut Rng, pool: &[Def]) {
        for (n, def) in pool.iter().enumerate() {
            if n + 1 == pool.len() || !b.f.is_used(*def) && chance(rng, 70) || chance(rng, 15) {
                grow::sink(b, *def);
            }
        }
    }

    /// An operation on values of the pool, constants and unknown values.
    fn operation(&self, b: &mut Builder<'_>, rng: &mut Rng, sig: &OpSig, pool: &[Def]) -> Def {
        let widths: Vec<u8> = SIZES
            .iter()
            .enumerate()
            .filter(|(i, _)| sig.sizes >> i & 1 != 0)
            .map(|(_, s)| *s)
            .collect();
        let width = if widths.is_empty() { 32 } else { *rng.pick(&widths) };
        let comps = match sig.output.comps {
            0 => *rng.pick(&[1, 1, 1, 2, 3, 4]),
            n => n,
        };
        let mut srcs: Vec<AluSrc> = Vec::new();
        for ty in &sig.inputs {
            let bits = if ty.bits == 0 { width } else { ty.bits };
            let n = if ty.comps == 0 { comps } else { ty.comps };
            let shared = srcs.last().copied().filter(|s| b.f.bits(s.def) == bits);
            let def = match rng.below(10) {
                0 => shared.map(|s| s.def),
                1..=6 => of_size(b.f, pool, rng, bits),
                7 | 8 => Some(self.number(b, rng, bits, n)),
                _ => None,
            };
            let def = match def {
                Some(def) => def,
                None if chance(rng, 50) => grow::known(b, rng, bits, n),
                None => b.undef(n, bits),
            };
            let from = b.f.comps(def);
            srcs.push(AluSrc { def, swizzle: lanes(rng, from, n) });
        }
        let allowed = AluOp(sig.id).builtin().map_or(Flags::empty(), |i| i.allowed_flags());
        b.flags = match rng.below(4) {
            0 => allowed & Flags::from_bits_truncate(rng.bits() as u16),
            1 => allowed & Flags::LICENCES,
            _ => Flags::empty(),
        };
        let def = b.alu_instr(AluOp(sig.id), comps, &srcs).def();
        b.flags = Flags::empty();
        def
    }

    fn number(&self, b: &mut Builder<'_>, rng: &mut Rng, bits: u8, comps: u8) -> Def {
        match chance(rng, 70) {
            true => grow::constant(b, rng, bits, comps),
            false => {
                let values: Vec<u64> = (0..comps).map(|_| rng.edge(bits) & mask(bits)).collect();
                b.load_const(bits, &values)
            }
        }
    }
}

/// Targets with few and many operations, sizes and options.
pub fn targets(set: &RuleSet, rng: &mut Rng) -> Vec<Target> {
    let mut out = vec![Target::generic("everything"), Target::spirv()];
    for n in 0..22 {
        let mut target = if n % 4 == 0 { Target::spirv() } else { Target::generic("some") };
        for (name, _) in set.options.iter().filter(|_| chance(rng, 50)) {
            target = target.option(name.as_str());
        }
        if chance(rng, 30) {
            let sizes: Vec<u8> = [8, 16, 32, 64].into_iter().filter(|_| chance(rng, 60)).collect();
            target = target.int_sizes(&sizes);
        }
        let share = *rng.pick(&[0, 0, 5, 20, 50]);
        for op in set.ops.iter().filter(|op| op.id < 0x4000) {
            if chance(rng, share) {
                let sizes = [rng.pick(&SIZES)].map(|s| *s);
                target = target.forbid(AluOp(op.id), if chance(rng, 50) { &sizes } else { &[] });
            }
        }
        out.push(target);
    }
    out
}
