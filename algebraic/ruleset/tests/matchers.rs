//! The compiled matchers against the reference matcher and against the folder.
//!
//! Programs are grown from the rules: each rule's left side is built, half of the time with one perturbation, over inputs
//! that nothing is known of. Both matchers must do the same to it, and what is left must give the same values.

use deburr_algebraic::interp::expr::Out;
use deburr_algebraic::interp::matcher::Interpreter;
use deburr_algebraic::interp::term::{Claim, Terms};
use deburr_algebraic::{Group, Options, Rewriter, RuleSet, Target, run, run_with};
use deburr_ir_core::fold::{Shadow, fold_shadowed};
use deburr_ir_core::{
    AluOp, AluSrc, Builder, Cursor, Def, Denorm, Flags, FloatEnv, Function, Instr, InstrKind,
    InstrView, JumpKind, Rounding, Swizzle,
};
use deburr_rulegen::rules::Texts;
use deburr_rulegen::rules::model::{self, Comps, NodeId, NodeKind, Rule, VarKind, flags};
use std::collections::HashMap;

struct Rng(u64);

impl Rng {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        self.0 >> 20
    }

    fn chance(&mut self, percent: u64) -> bool {
        self.next() % 100 < percent
    }
}

fn set() -> model::RuleSet {
    let (opcodes, rules) = (deburr_ruleset::OPCODES, deburr_ruleset::SOURCES);
    Texts { opcodes, intrinsics: "", rules }.load().unwrap().rules().unwrap()
}

/// A rule set with the same names and numbers, but nothing compiled.
fn hollow() -> &'static RuleSet {
    let compiled = deburr_ruleset::rules();
    let groups: Vec<Group> = compiled
        .groups
        .iter()
        .map(|g| Group { name: g.name, doc: g.doc, by_op: &[], dialect: &[] })
        .collect();
    Box::leak(Box::new(RuleSet { groups: Vec::leak(groups), ..*compiled }))
}

/// Builds left sides of rules.
struct Grower<'a> {
    set: &'a model::RuleSet,
    rule: &'a Rule,
    bits: &'a [u8],
    comps: u8,
    vars: HashMap<usize, AluSrc>,
    /// Values of the variables at which the rule's facts hold.
    fitting: Option<Vec<u64>>,
    perturb: Option<usize>,
    built: usize,
}

impl Grower<'_> {
    /// A number that rules look for, or a random one.
    fn number(rng: &mut Rng, bits: u8) -> u64 {
        let mask = if bits >= 64 { u64::MAX } else { (1 << bits) - 1 };
        let v = match rng.next() % 7 {
            6 => rng.next() % (u64::from(bits) + 1),
            0 => rng.next() % 9,
            1 => 1 << (rng.next() % u64::from(bits)),
            5 if rng.chance(60) => rng.next() % 20,
            2 => (1 << (rng.next() % u64::from(bits))) - 1,
            3 => u64::MAX << (rng.next() % u64::from(bits)),
            4 if bits == 32 => u64::from((rng.next() as i8 as f32 * 0.5).to_bits()),
            4 if bits == 64 => (rng.next() as i8 as f64 * 0.5).to_bits(),
            _ => rng.next(),
        };
        v & mask
    }

    /// A value of which nothing is known, or something that rules ask for.
    fn leaf(b: &mut Builder<'_>, rng: &mut Rng, bits: u8, comps: u8) -> Def {
        let plain = b.undef(comps, bits);
        if bits < 8 || rng.chance(50) {
            return plain;
        }
        let (shift, small) = (b.imm_u32(1 + (rng.next() % 7) as u32), rng.next() % 16);
        let sign = b.load_const(bits, &[1 << (bits - 1)]);
        let low = b.load_const(bits, &[small]);
        match rng.next() % if bits >= 16 { 9 } else { 4 } {
            0 => b.alu(AluOp::USHR, &[plain, shift]),
            1 => b.alu(AluOp::IAND, &[plain, low]),
            2 => b.alu(AluOp::IOR, &[plain, sign]),
            3 => b.alu(AluOp::UMIN, &[plain, low]),
            4 => b.alu(AluOp::FABS, &[plain]),
            5 => b.alu(AluOp::FFLOOR, &[plain]),
            n @ (6 | 7) => {
                let op = match (bits, n) {
                    (16, 6) => AluOp::U2F16,
                    (16, _) => AluOp::I2F16,
                    (32, 6) => AluOp::U2F32,
                    (32, _) => AluOp::I2F32,
                    (_, 6) => AluOp::U2F64,
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

    /// Whether a fact of the rule speaks of the variable.
    fn is_in_fact(&self, var: usize) -> bool {
        let under = |root: &NodeId| {
            let is_var =
                |n: &NodeId| matches!(self.rule.nodes[*n].kind, NodeKind::Var(v) if v == var);
            self.rule.reachable(*root).iter().any(is_var)
        };
        self.rule.facts.iter().any(|f| f.args.iter().any(under))
    }

    fn constant(&self, b: &mut Builder<'_>, rng: &mut Rng, bits: u8, comps: u8) -> Def {
        let first = Self::number(rng, bits);
        let mut values = vec![first; usize::from(comps)];
        let same = rng.chance(60);
        for value in &mut values {
            if !same && rng.chance(50) {
                *value = Self::number(rng, bits);
            }
        }
        b.load_const(bits, &values)
    }

    /// A source of `comps` components for a node.
    fn grow(&mut self, b: &mut Builder<'_>, rng: &mut Rng, id: NodeId, comps: u8) -> AluSrc {
        let node = &self.rule.nodes[id];
        let bits = self.bits[node.class];
        self.built += 1;
        if self.perturb == Some(self.built) {
            return match rng.chance(50) {
                true => self.constant(b, rng, bits, comps).into(),
                false => b.undef(comps, bits).into(),
            };
        }
        match &node.kind {
            NodeKind::Var(v) => {
                if let Some(src) = self.vars.get(v) {
                    return match &node.swizzle {
                        Some(s) => AluSrc { def: src.def, swizzle: Swizzle::new(s) },
                        None => *src,
                    };
                }
                let var = &self.rule.vars[*v];
                let wide = match (var.whole, var.comps) {
                    (true, Comps::Fixed(n)) => n.max(2),
                    _ => comps,
                };
                let fact = self.fitting.is_some() && self.is_in_fact(*v);
                let constant = var.kind == VarKind::Const || rng.chance(if fact { 60 } else { 15 });
                let earlier = self.vars.values().find(|s| {
                    constant
                        && b.f.bits(s.def) == bits
                        && b.f.comps(s.def) == wide
                        && b.f.constant(s.def).is_some()
                });
                let again = earlier.map(|s| s.def).filter(|_| rng.chance(40));
                let fits = self.fitting.as_ref().filter(|_| constant && fact).map(|f| f[*v]);
                let def = match constant {
                    _ if fits.is_some() => {
                        let value = fits.unwrap_or_default();
                        b.load_const(bits, &vec![value; usize::from(wide)])
                    }
                    true => again.unwrap_or_else(|| self.constant(b, rng, bits, wide)),
                    false => Self::leaf(b, rng, bits, wide),
                };
                let mut src = AluSrc::from(def);
                if !var.whole && wide > 1 && rng.chance(30) {
                    let order: Vec<u8> =
                        (0..wide).map(|_| (rng.next() % u64::from(wide)) as u8).collect();
                    src.swizzle = Swizzle::new(&order);
                }
                self.vars.insert(*v, src);
                match &node.swizzle {
                    Some(s) => AluSrc { def, swizzle: Swizzle::new(s) },
                    None => src,
                }
            }
            NodeKind::Literal(value, base) => {
                let v = value.encode(*base, bits).unwrap();
                AluSrc { def: b.load_const(bits, &[v]), swizzle: Swizzle::splat(0) }
            }
            NodeKind::Op { .. } => {
                let def = self.op(b, rng, id, comps);
                match &node.swizzle {
                    Some(s) => AluSrc { def, swizzle: Swizzle::new(s) },
                    None => def.into(),
                }
            }
            NodeKind::Compute { .. } | NodeKind::Ref(_) => b.undef(comps, bits).into(),
        }
    }

    fn op(&mut self, b: &mut Builder<'_>, rng: &mut Rng, id: NodeId, comps: u8) -> Def {
        let NodeKind::Op { op, promises, args, .. } = &self.rule.nodes[id].kind else {
            unreachable!()
        };
        let sig = self.set.ops.get(*op);
        let comps = if sig.output.comps == 0 { comps } else { sig.output.comps };
        let mut srcs = Vec::new();
        for (arg, ty) in args.iter().zip(&sig.inputs) {
            let n = if ty.comps == 0 { comps } else { ty.comps };
            srcs.push(self.grow(b, rng, *arg, n));
        }
        if sig.commutative && rng.chance(50) {
            srcs.swap(0, 1);
        }
        let licences = match sig.float && !rng.chance(10) {
            true => self.rule.licences | if rng.chance(50) { flags::LICENCES } else { 0 },
            false => 0,
        };
        b.flags = Flags::from_bits_truncate(promises | licences);
        let instr = b.alu_instr(AluOp(sig.id), comps, &srcs);
        b.flags = Flags::empty();
        instr.def()
    }
}

/// Values of a rule's variables at which its facts hold, if some are soon found.
fn fitting(set: &model::RuleSet, rule: &Rule, bits: &[u8], rng: &mut Rng) -> Option<Vec<u64>> {
    if rule.facts.is_empty() {
        return None;
    }
    let claim = Claim { denorm: Denorm::Keep, rounding: Rounding::Rte };
    let terms = Terms::new(set, rule, bits, claim);
    for _ in 0..400 {
        let mut values: Vec<u64> = Vec::new();
        for var in &rule.vars {
            let earlier = values.get((rng.next() % 4) as usize).copied();
            let mask = u64::MAX >> (64 - u32::from(bits[var.class]));
            let value = match earlier.filter(|_| rng.chance(25)) {
                Some(value) => value & mask,
                None => Grower::number(rng, bits[var.class]),
            };
            values.push(value);
        }
        let point = rule.vars.iter().zip(&values).map(|(var, value)| {
            let comps = usize::from(terms.comps(var.comps)).max(1);
            (0..comps).map(|_| Out::Bits(*value)).collect()
        });
        if terms.facts_hold(&point.collect()) {
            return Some(values);
        }
    }
    None
}

/// A function that returns the left side of a rule.
fn grow(set: &model::RuleSet, rule: &Rule, rng: &mut Rng) -> Function {
    let bits = &rule.instances[(rng.next() % rule.instances.len() as u64) as usize];
    let mut f = Function::new("main");
    let denorm = [Denorm::Keep, Denorm::Flush, Denorm::Any][(rng.next() % 3) as usize];
    let rounding = [Rounding::Rte, Rounding::Rtz, Rounding::Any][(rng.next() % 3) as usize];
    f.float_env = FloatEnv::uniform(denorm, rounding);
    let comps = match rule.nodes[rule.pattern].comps {
        Comps::Fixed(n) => n,
        Comps::Generic => [1, 1, 2, 3, 4][(rng.next() % 5) as usize],
    };
    let perturb = rng.chance(40).then(|| 1 + (rng.next() % 4) as usize);
    let fitting = if rng.chance(80) { fitting(set, rule, bits, rng) } else { None };
    let vars = HashMap::new();
    let mut grower = Grower { set, rule, bits, comps, vars, fitting, perturb, built: 0 };
    let mut b = Builder::at_end(&mut f);
    let comps = grower.comps;
    let root = grower.op(&mut b, rng, rule.pattern, comps);
    let block = b.block();
    f.add_jump(block, JumpKind::Return, Some(root));
    f
}

/// Components of every value, the undefs given.
type Values = HashMap<Def, (Vec<u64>, Shadow)>;

/// What the function returns for these inputs, and whether a promise was broken on the way.
fn evaluate(f: &Function, inputs: &HashMap<Def, Vec<u64>>) -> ((Vec<u64>, Shadow), bool) {
    let mut values: Values = HashMap::new();
    let mut broken = false;
    for instr in f.all_instrs() {
        let value = match f.view(instr) {
            InstrView::LoadConst(v) => (v.to_vec(), Shadow::CLEAN),
            InstrView::Undef => (inputs[&instr.def()].clone(), Shadow::CLEAN),
            InstrView::Jump(_) => return (values[&f.src(instr, 0)].clone(), broken),
            InstrView::Alu(op) => {
                let info = f.alu_info(instr).unwrap();
                let mut operands: Vec<(Vec<u64>, Shadow)> = Vec::new();
                for n in 0..f.srcs(instr).len() {
                    let (all, shadow) = &values[&f.src(instr, n)];
                    let comps = f.src_comps(instr, n);
                    let (mut v, mut s) = (Vec::new(), Shadow::CLEAN);
                    for (i, c) in f.swizzle(instr, n).iter(comps).enumerate() {
                        v.push(all[usize::from(c)]);
                        s.free |= (shadow.free >> c & 1) << i;
                        s.nan |= (shadow.nan >> c & 1) << i;
                    }
                    operands.push((v, s));
                }
                let srcs: Vec<(&[u64], Shadow)> =
                    operands.iter().map(|(v, s)| (v.as_slice(), *s)).collect();
                let bits = f.bits(instr.def());
                let width = info.unsized_width(bits, f.srcs(instr).iter().map(|s| f.bits(s.def())));
                let mut out = [0; 16];
                let comps = f.comps(instr.def());
                let shadow =
                    fold_shadowed(op, info, (width, comps), &srcs, &f.float_env, &mut out).unwrap();
                broken |= !f.flags(instr).is_empty();
                (out[..usize::from(comps)].to_vec(), shadow)
            }
            _ => continue,
        };
        values.insert(instr.def(), value);
    }
    unreachable!("every function grown here returns")
}

fn scale() -> f64 {
    std::env::var("DEBURR_CASES").ok().and_then(|s| s.parse().ok()).unwrap_or(0.05)
}

/// How many times the tries of a rule that hasn't fired yet.
const MORE_TRIES: usize = 40;

#[test]
fn both_matchers_choose_the_same_rewrites_and_values_stay() {
    let (set, compiled, hollow) = (set(), deburr_ruleset::rules(), hollow());
    assert_eq!(set.rules.len(), compiled.rules.len());
    let target = Target::generic("everything");
    let mut options = Options::default();
    options.trace = true;
    let per_rule = (200.0 * scale()).ceil() as usize;
    let mut fired = vec![0u32; set.rules.len()];
    let mut compared = 0u32;
    for group in ["opt", "late"] {
        let interpreter = Interpreter::new(&set, group).unwrap();
        for (index, rule) in
            set.rules.iter().enumerate().filter(|(_, r)| r.group == interpreter.group())
        {
            // Facts are rarely met by chance.
            let tries = if rule.facts.is_empty() { per_rule } else { 5 * per_rule };
            // A generator of its own: rules that come and go don't change what the others are tried on.
            let mut rng =
                Rng(rule.name.bytes().fold(7, |h, b| (h * 31 + u64::from(b)) % (1 << 40)));
            for n in 0..MORE_TRIES * tries {
                if n >= tries && fired[index] > 0 {
                    break;
                }
                let before = grow(&set, rule, &mut rng);
                let (mut one, mut two) = (before.clone(), before.clone());
                let a = run(&mut one, compiled, group, &target, &options).unwrap();
                let mut extra = |cx: &mut Rewriter<'_>, instr: Instr| {
                    interpreter.apply(cx, instr, |i| i).is_some()
                };
                let b =
                    run_with(&mut two, hollow, group, &target, &options, Some(&mut extra)).unwrap();
                let names = |r: &deburr_algebraic::Report| {
                    r.trace.iter().map(|t| t.rule).collect::<Vec<_>>()
                };
                assert_eq!(names(&a), names(&b), "rules chosen for {}:\n{before}", rule.name);
                assert_eq!(
                    one.to_string(),
                    two.to_string(),
                    "result of {:?} on\n{before}",
                    names(&a)
                );
                assert!(a.cycle.is_none(), "{:?} go round on\n{before}", a.cycle);
                fired[index] += u32::from(a.trace.iter().any(|t| t.rule == rule.name));
                compared += same_values(&before, &one, &names(&a), &mut rng);
            }
        }
    }
    let idle: Vec<&str> = set
        .rules
        .iter()
        .zip(&fired)
        .filter(|(_, n)| **n == 0)
        .map(|(r, _)| r.name.as_str())
        .collect();
    println!("{} rules, {compared} values compared", fired.len());
    assert!(compared > 500, "values were compared");
    assert!(idle.is_empty(), "rules that no program grown from them fires: {idle:?}");
}

/// Compares what both functions return for a few inputs, where nothing is free in either.
fn same_values(before: &Function, after: &Function, rules: &[&str], rng: &mut Rng) -> u32 {
    // Licences and promises allow results that differ.
    let licensed = before
        .all_instrs()
        .any(|i| before.kind(i) == InstrKind::Alu && !before.flags(i).is_empty());
    if licensed
        || before.float_env.rounding(32) == Rounding::Any
        || before.float_env.denorm(32) == Denorm::Any
    {
        return 0;
    }
    let mut compared = 0;
    for _ in 0..3 {
        let mut inputs = HashMap::new();
        for instr in before.all_instrs().filter(|i| matches!(before.view(*i), InstrView::Undef)) {
            let def = instr.def();
            let mask = if before.bits(def) >= 64 { u64::MAX } else { (1 << before.bits(def)) - 1 };
            let value = |rng: &mut Rng| match rng.next() % 3 {
                0 => rng.next() % 5,
                1 => !(rng.next() % 5),
                _ => rng.next() << 32 ^ rng.next(),
            };
            inputs.insert(
                def,
                (0..before.comps(def)).map(|_| value(rng) & mask).collect::<Vec<u64>>(),
            );
        }
        let ((x, s), _) = evaluate(before, &inputs);
        let ((y, t), _) = evaluate(after, &inputs);
        for i in 0..x.len() {
            let free = (s.free | s.nan | t.free | t.nan) >> i & 1 != 0;
            if !free {
                assert_eq!(
                    x[i], y[i],
                    "{rules:?} change component {i} for {inputs:x?} of\n{before}\ninto\n{after}"
                );
                compared += 1;
            }
        }
    }
    compared
}

#[test]
fn one_call_reaches_the_fixed_point() {
    let (set, compiled) = (set(), deburr_ruleset::rules());
    let target = Target::generic("everything");
    let mut rng = Rng(11);
    for rule in set.rules.iter().filter(|r| r.group == 0) {
        let mut f = grow(&set, rule, &mut rng);
        // Users, so that rewrites meet each other.
        let root = f.all_instrs().filter(|i| f.kind(*i) == InstrKind::Alu).last();
        let Some(root) = root else { continue };
        if f.bits(root.def()) == 32 {
            let mut b = Builder::new(&mut f, Cursor::After(root));
            let zero = b.imm_u32(0);
            let sum = b.alu(AluOp::IADD, &[root.def(), zero]);
            let twice = b.alu(AluOp::INEG, &[sum]);
            let back = b.alu(AluOp::INEG, &[twice]);
            let (jump, _) = f.block_jump(f.block_of(root).unwrap()).unwrap();
            f.set_src(jump, 0, back);
        }
        run(&mut f, compiled, "opt", &target, &Options::default()).unwrap();
        let again = run(&mut f, compiled, "opt", &target, &Options::default()).unwrap();
        assert_eq!(
            (again.fired, again.folded),
            (0, 0),
            "{} is not at its fixed point:\n{f}",
            rule.name
        );
    }
}
