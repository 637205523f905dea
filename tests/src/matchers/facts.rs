//! What a fact says of sets of values holds of every value in them: small terms over inputs of 8 bits and of f16, all
//! inputs tried.
//!
//! A term's set is what the analysis knows of it, its values are what the folder gives. The set must hold the values; and
//! where the compiled form of a fact says of sets that it surely holds, its definition must hold of the values.

use super::grow;
use super::{chance, mask};
use deburr_algebraic::RuleSet;
use deburr_algebraic::facts::Memo;
use deburr_algebraic::facts::abs::{self, Abs, Env};
use deburr_algebraic::interp::expr::{Choices, Evaluator, Out, Side};
use deburr_fuzz::Rng;
use deburr_ir_core::fold::fold_info;
use deburr_ir_core::{
    AluOp, BaseType, Builder, Def, Denorm, FloatEnv, Function, Instr, InstrView, Rounding,
};
use deburr_rulegen::expr::Base;
use deburr_rulegen::rules::model::{self, Fact};
use std::collections::HashMap;

/// What was found.
#[derive(Clone, Debug, Default)]
pub struct Found {
    /// Terms.
    pub terms: u64,
    /// Sets of values that differ.
    pub sets: usize,
    /// By fact that the analysis answers: its name, how often it was asked, and how often it surely held.
    pub asked: Vec<(String, u64, u64)>,
    /// What is wrong.
    pub wrong: Vec<String>,
}

/// A fact with its definition by value: of one argument, or of two, at a size.
struct Defined<'a> {
    index: usize,
    fact: &'a Fact,
    run: deburr_algebraic::TransferFn,
    /// At 8 bits of two arguments all pairs; of one argument all values of its size.
    table: Vec<bool>,
}

/// A term that was evaluated at all inputs.
struct Term {
    known: Abs,
    /// Its values, input by input.
    values: Vec<u64>,
}

/// Tries so many terms at 8 bits, and a part of that at 16.
pub fn check(set: &model::RuleSet, rules: &RuleSet, seed: u64, count: u64) -> Found {
    let mut found = Found::default();
    for fact in set.facts.iter().filter(|f| f.on_values) {
        found.asked.push((fact.name.clone(), 0, 0));
    }
    let mut rng = Rng::new(seed ^ 0xfac7);
    integers(set, rules, &mut rng, count, &mut found);
    floats(set, rules, &mut rng, count / 200 + 4, &mut found);
    found
}

/// The facts that speak of operands of that base, with their definitions tabulated.
fn defined<'a>(
    set: &'a model::RuleSet,
    rules: &RuleSet,
    float: bool,
    bits: u8,
) -> Vec<Defined<'a>> {
    let facts = set.facts.iter().filter(|f| f.on_values).enumerate();
    facts
        .filter_map(|(index, fact)| {
            let is_float = bases(fact).contains(&Base::Float);
            let run = rules.facts.iter().find(|f| f.0 == fact.name)?.1;
            if is_float != float || fact.params.len() > 2 || float && fact.params.len() > 1 {
                return None;
            }
            let all = 0..1u64 << (usize::from(bits) * fact.params.len());
            let args = |n: u64| match fact.params.len() {
                1 => vec![n],
                _ => vec![n & mask(bits), n >> bits],
            };
            let table = all.map(|n| holds(fact, bits, &args(n))).collect();
            Some(Defined { index, fact, run, table })
        })
        .collect()
}

/// The bases of a fact's parameters where its definition uses them.
fn bases(fact: &Fact) -> Vec<Base> {
    let mut out = Vec::new();
    fact.body.walk(&mut |e| {
        if matches!(e.kind, deburr_rulegen::expr::ExprKind::Var { .. }) {
            out.push(e.ty.base);
        }
    });
    out
}

/// The definition of a fact.
fn holds(fact: &Fact, width: u8, args: &[u64]) -> bool {
    let mut choices = Choices::default();
    let env = FloatEnv::uniform(Denorm::Keep, Rounding::Rte);
    let vars = args.iter().map(|v| Some([Out::Bits(*v)].into_iter().collect())).collect();
    let mut evaluator =
        Evaluator { choices: &mut choices, env, freedom: None, width, side: Side::After, vars };
    evaluator.eval(&fact.body).first() == Some(&Out::Bits(1))
}

/// Opcodes with one result by component, of which the analysis knows something, that exist at a size.
fn opcodes(set: &model::RuleSet, rules: &RuleSet, bits: u8) -> Vec<AluOp> {
    let ops = set.ops.iter().filter(|op| op.id < 0x4000).map(|op| AluOp(op.id));
    let fits = |op: &AluOp| {
        op.builtin().is_some_and(|info| {
            let sized = info.inputs.iter().all(|t| t.bits == 0 || t.bits == bits || t.bits == 32);
            rules.transfer(*op).is_some()
                && (info.sizes.is_empty() || info.sizes.contains(&bits))
                && (info.output.bits == 0 || info.output.bits == bits)
                && sized
        })
    };
    ops.filter(fits).collect()
}

fn integers(set: &model::RuleSet, rules: &RuleSet, rng: &mut Rng, count: u64, found: &mut Found) {
    let facts = defined(set, rules, false, 8);
    let ops = opcodes(set, rules, 8);
    let envs = [FloatEnv::uniform(Denorm::Keep, Rounding::Rte)];
    // One term a set of values is enough for pairs.
    let mut seen: HashMap<String, Term> = HashMap::new();
    let mut tries = 0;
    // Every operation on the input and every constant, then deeper terms.
    for op in &ops {
        let arity = op.builtin().map_or(0, |i| i.inputs.len());
        let constants = if arity >= 2 { 256 } else { 1 };
        for c in (0..constants).filter(|_| count >= 1000 || chance(rng, 2)) {
            for place in 0..arity.max(1) {
                let mut f = Function::new("term");
                let mut b = Builder::at_end(&mut f);
                let x = b.undef(1, 8);
                let root = apply(&mut b, *op, 8, |b, n, bits| match n == place && arity >= 2 {
                    true => b.load_const(bits, &[c & mask(bits)]),
                    false if bits == 8 => x,
                    false => b.load_const(bits, &[c & mask(bits)]),
                });
                grow::sink(&mut b, root);
                ask(rules, &facts, &f, root, 8, &envs, &mut seen, found);
            }
        }
    }
    while tries < count && found.wrong.len() < 5 {
        tries += 1;
        let mut f = Function::new("term");
        let mut b = Builder::at_end(&mut f);
        let x = b.undef(1, 8);
        let mut pool = vec![x];
        for _ in 0..2 + rng.below(3) {
            let op = *rng.pick(&ops);
            let root = apply(&mut b, op, 8, |b, _, bits| {
                let of_size: Vec<Def> =
                    pool.iter().copied().filter(|d| b.f.bits(*d) == bits).collect();
                match of_size.is_empty() || chance(rng, 40) {
                    true => b.load_const(bits, &[grow::number(rng, bits)]),
                    false => *rng.pick(&of_size),
                }
            });
            pool.push(root);
        }
        let root = pool[pool.len() - 1];
        grow::sink(&mut b, root);
        ask(rules, &facts, &f, root, 8, &envs, &mut seen, found);
    }
    found.sets = seen.len();
    pairs(&facts, rng, &seen.into_values().collect::<Vec<_>>(), count, found);
}

/// Puts an operation on operands that `operand` gives by number and size.
fn apply(
    b: &mut Builder<'_>,
    op: AluOp,
    width: u8,
    mut operand: impl FnMut(&mut Builder<'_>, usize, u8) -> Def,
) -> Def {
    let Some(info) = op.builtin() else { return b.undef(1, width) };
    let mut srcs = Vec::new();
    for (n, ty) in info.inputs.iter().enumerate() {
        srcs.push(operand(b, n, if ty.bits == 0 { width } else { ty.bits }));
    }
    b.alu(op, &srcs)
}

/// Evaluates a term at all inputs and holds what is known of it, and what facts say, to the values.
#[allow(clippy::too_many_arguments, reason = "the state of one search")]
fn ask(
    rules: &RuleSet,
    facts: &[Defined<'_>],
    f: &Function,
    root: Def,
    bits: u8,
    envs: &[FloatEnv],
    seen: &mut HashMap<String, Term>,
    found: &mut Found,
) {
    if f.bits(root) != bits {
        return;
    }
    let Some(values) = evaluate(f, root, bits, envs) else { return };
    found.terms += 1;
    let known = Memo::default().of(f, rules, root);
    if let Some(v) = values.iter().find(|v| !known.contains(bits.into(), **v)) {
        found.wrong.push(format!("{known:?} lacks {v:#x} of\n{f}"));
        return;
    }
    let env = Env { float: f.float_env, folding: false };
    for d in facts {
        let constants = if d.fact.params.len() == 2 { 256 } else { 1 };
        for c in 0..constants {
            let args = [known, abs::int(bits.into(), c)];
            let sure = abs::truth((d.run)(&env, bits.into(), &args[..d.fact.params.len()]));
            found.asked[d.index].1 += 1;
            if sure != Some(true) {
                continue;
            }
            found.asked[d.index].2 += 1;
            let at = |v: u64| (if constants > 1 { v | c << bits } else { v }) as usize;
            if let Some(v) = values.iter().find(|v| !d.table[at(**v)]) {
                let name = &d.fact.name;
                found
                    .wrong
                    .push(format!("{name} ({c}) surely holds of {known:?}, not of {v:#x} of\n{f}"));
            }
        }
    }
    seen.entry(format!("{known:?}")).or_insert(Term { known, values });
}

/// The values of a term, input by input and pass by pass; `None` where something can't be folded. `envs` are those that an
/// operation may follow: all the same one in some passes, mixed in others.
fn evaluate(f: &Function, root: Def, bits: u8, envs: &[FloatEnv]) -> Option<Vec<u64>> {
    let inputs = 1usize << bits;
    let passes = if envs.len() > 1 { 2 * envs.len() } else { 1 };
    let mut all = Vec::with_capacity(passes * inputs);
    for pass in 0..passes {
        let mut values: HashMap<Def, Vec<u64>> = HashMap::new();
        for instr in f.all_instrs() {
            let value: Vec<u64> = match f.view(instr) {
                InstrView::LoadConst(v) => vec![v[0]; inputs],
                InstrView::Undef => (0..inputs as u64).collect(),
                InstrView::Alu(_) => {
                    let shift = if pass < envs.len() { 0 } else { instr.index() };
                    operation(f, instr, &values, &envs[(pass + shift) % envs.len()], inputs)?
                }
                _ => continue,
            };
            values.insert(instr.def(), value);
        }
        all.extend(values.get(&root)?);
    }
    Some(all)
}

fn operation(
    f: &Function,
    instr: Instr,
    values: &HashMap<Def, Vec<u64>>,
    env: &FloatEnv,
    inputs: usize,
) -> Option<Vec<u64>> {
    let info = f.alu_info(instr)?;
    let count = f.srcs(instr).len();
    let srcs: Option<Vec<&Vec<u64>>> = (0..count).map(|n| values.get(&f.src(instr, n))).collect();
    let srcs = srcs?;
    let sizes = f.srcs(instr).iter().map(|s| f.bits(s.def()));
    let width = info.unsized_width(f.bits(instr.def()), sizes);
    let mut out = [0; 16];
    let mut result = Vec::with_capacity(inputs);
    for i in 0..inputs {
        let mut operands: [&[u64]; 4] = [&[]; 4];
        for (slot, values) in operands.iter_mut().zip(&srcs) {
            *slot = &values[i..=i];
        }
        fold_info(info, width, 1, &operands[..count.min(4)], env, &mut out)?;
        result.push(out[0]);
    }
    Some(result)
}

/// Facts of two arguments, on pairs of terms: over one input, and over one each.
fn pairs(facts: &[Defined<'_>], rng: &mut Rng, terms: &[Term], count: u64, found: &mut Found) {
    let two: Vec<&Defined<'_>> = facts.iter().filter(|d| d.fact.params.len() == 2).collect();
    let env = Env { float: FloatEnv::default(), folding: false };
    for _ in 0..10 * count {
        if two.is_empty() || terms.is_empty() || found.wrong.len() >= 5 {
            return;
        }
        let (d, a, b) = (*rng.pick(&two), rng.pick(terms), rng.pick(terms));
        found.asked[d.index].1 += 1;
        if abs::truth((d.run)(&env, 8, &[a.known, b.known])) != Some(true) {
            continue;
        }
        found.asked[d.index].2 += 1;
        let holds = |x: u64, y: u64| d.table[(x | y << 8) as usize];
        let bad = a
            .values
            .iter()
            .find_map(|x| b.values.iter().find(|y| !holds(*x, **y)).map(|y| (*x, *y)));
        if let Some((x, y)) = bad {
            found.wrong.push(format!(
                "{} surely holds of {:?} and {:?}, not of {x:#x} and {y:#x}",
                d.fact.name, a.known, b.known
            ));
        }
    }
}

/// Patterns of every kind of f16.
const HALVES: [u64; 24] = [
    0, 1, 0x3ff, 0x400, 0x1400, 0x3800, 0x3c00, 0x3e00, 0x4000, 0x4200, 0x7bff, 0x7c00, 0x7e00,
    0x7c01, 0x8000, 0x8001, 0x83ff, 0x8400, 0xb800, 0xbc00, 0xbe00, 0xfbff, 0xfc00, 0xfe00,
];

fn floats(set: &model::RuleSet, rules: &RuleSet, rng: &mut Rng, count: u64, found: &mut Found) {
    let facts = defined(set, rules, true, 16);
    let is_float = |op: &AluOp| op.builtin().is_some_and(|i| i.output.base == BaseType::Float);
    let ops = opcodes(set, rules, 16);
    let of_floats: Vec<AluOp> = ops.iter().copied().filter(is_float).collect();
    let mut seen = HashMap::new();
    for n in 0..count {
        if found.wrong.len() >= 5 {
            break;
        }
        let mut f = Function::new("term");
        let denorm = *rng.pick(&[Denorm::Keep, Denorm::Flush, Denorm::Any]);
        let rounding = *rng.pick(&[Rounding::Rte, Rounding::Rtz, Rounding::Any]);
        f.float_env = FloatEnv::uniform(denorm, rounding);
        let mut b = Builder::at_end(&mut f);
        let mut pool = vec![b.undef(1, 16)];
        for step in 0..1 + rng.below(4) {
            let some = if chance(rng, 80) { &of_floats } else { &ops };
            // Every operation has its turn.
            let op = match step {
                0 => of_floats[n as usize % of_floats.len()],
                _ => *rng.pick(some),
            };
            let root = apply(&mut b, op, 16, |b, _, bits| {
                let of_size: Vec<Def> =
                    pool.iter().copied().filter(|d| b.f.bits(*d) == bits).collect();
                match of_size.is_empty() || chance(rng, 30) {
                    true if bits == 16 => b.load_const(16, &[*rng.pick(&HALVES)]),
                    true => b.load_const(bits, &[grow::number(rng, bits)]),
                    false => *rng.pick(&of_size),
                }
            });
            pool.push(root);
        }
        let root = pool.iter().rev().copied().find(|d| b.f.bits(*d) == 16).unwrap_or(pool[0]);
        grow::sink(&mut b, root);
        ask(rules, &facts, &f, root, 16, &members(&f.float_env), &mut seen, found);
    }
    found.sets += seen.len();
}

/// Environments that an instruction may be computed under, given that of its function.
fn members(env: &FloatEnv) -> Vec<FloatEnv> {
    let denorms = match env.denorm(16) {
        Denorm::Any => vec![Denorm::Keep, Denorm::Flush],
        one => vec![one],
    };
    let roundings = match env.rounding(16) {
        Rounding::Any => vec![Rounding::Rte, Rounding::Rtz],
        one => vec![one],
    };
    denorms.iter().flat_map(|d| roundings.iter().map(|r| FloatEnv::uniform(*d, *r))).collect()
}
