//! The terms of a rule as straight-line code over the compiled folder, for points at which nothing is free.
//!
//! Trying all inputs of a rule takes millions of points, and [`Terms`] follows every choice at each. Most operations have
//! none: then both sides are one value each, and comparing those is enough. [`Direct::new`] says where that may be;
//! [`Direct::try_point`] says "don't know" at a point where a choice, a NaN or a broken constant comes up after all, and
//! where the sides differ, so that only [`Terms`] ever refutes a rule.

use super::expr::Out;
use super::term::{Inputs, Terms, builtin, literal};
use deburr_ir_core::fold::{Cx, FloatEnv, FoldFn};
use deburr_ir_core::{Denorm, Rounding};
use deburr_rulegen::expr::Base;
use deburr_rulegen::rules::model::{NodeId, NodeKind, VarKind, flags};
use smallvec::SmallVec;
use std::collections::HashMap;

/// Components of a register; rules over more are left to [`Terms`].
const WIDE: usize = 4;

/// Inputs of facts and computed constants, in bits, up to which their values are tabulated.
const TABLE_BITS: u32 = 16;

type Register = [u64; WIDE];

/// One instruction; its number is that of the register that it writes.
enum Step {
    /// An operation: folder, unsized width, operands with what is taken of them, results, components to run over (0 = the
    /// folder gives all at once).
    Op { fold: FoldFn, width: u32, args: SmallVec<[Arg; 4]>, results: usize, per_component: bool },
    /// A constant computed from inputs.
    Table(Table),
    /// Components of a register.
    Pick { from: usize, order: SmallVec<[usize; WIDE]> },
}

/// An operand.
#[derive(Clone, Copy)]
struct Arg {
    register: usize,
    /// Components of the register, and whether the operand is taken by component.
    comps: usize,
    each: bool,
}

/// A function of few inputs, by value.
struct Table {
    /// Scalar inputs with their bits.
    inputs: Vec<(usize, u32)>,
    /// `None` where there is no plain value.
    values: Vec<Option<u64>>,
}

impl Table {
    fn at(&self, scalars: &[u64]) -> Option<u64> {
        let index = self.inputs.iter().rev().fold(0, |i, (s, bits)| i << bits | scalars[*s]);
        self.values[index as usize]
    }
}

/// What is known of a point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Found {
    /// The facts don't hold.
    Outside,
    /// Both sides are the same single value.
    Same,
    /// Something is free there, or the sides differ.
    Unknown,
}

/// Both sides of a rule under one environment.
pub struct Direct {
    env: FloatEnv,
    facts: Vec<Table>,
    steps: Vec<Step>,
    /// What every point begins with: constants are in place.
    initial: Vec<Register>,
    /// First scalar, components and register of each input.
    inputs: Vec<(usize, usize, usize)>,
    pattern: usize,
    alts: Vec<usize>,
    /// The bits that users read, where the rule says that.
    used: Option<usize>,
    comps: usize,
}

/// A register and the components that it holds.
type Place = (usize, usize);

struct Compiler<'t, 'a> {
    terms: &'t Terms<'a>,
    steps: Vec<(usize, Step)>,
    initial: Vec<Register>,
    places: HashMap<NodeId, Place>,
    vars: HashMap<usize, Place>,
    /// First scalar of each variable.
    scalars: Vec<usize>,
    /// Points that the code is meant for.
    points: u64,
}

impl Direct {
    /// The code of an instance for that many points, which bounds the work of preparing it; `None` if it has licences,
    /// promises, a free environment, derivatives, wide vectors, or constants of many inputs.
    pub fn new(terms: &Terms<'_>, points: u64) -> Option<Direct> {
        let (set, rule) = (terms.set, terms.rule);
        let floats = rule
            .nodes
            .iter()
            .any(|n| matches!(&n.kind, NodeKind::Op { op, .. } if set.ops.get(*op).float));
        let licensed = rule.licences & flags::LICENCES != 0 || rule.ulps.is_some();
        let free = terms.claim.denorm != Denorm::Keep || terms.claim.rounding == Rounding::Any;
        if floats && (licensed || free) {
            return None;
        }
        let mut compiler = Compiler {
            terms,
            steps: Vec::new(),
            initial: Vec::new(),
            places: HashMap::new(),
            vars: HashMap::new(),
            scalars: Vec::new(),
            points,
        };
        let inputs = compiler.inputs()?;
        let facts = rule.facts.iter().map(|f| {
            compiler.table(&f.args, |inputs| Some(u64::from(terms.fact_holds(f, inputs))))
        });
        let facts: Option<Vec<Table>> = facts.collect();
        let (pattern, comps) = compiler.node(rule.pattern)?;
        let used = match rule.used {
            Some(node) => Some(compiler.node(node)?.0),
            None => None,
        };
        let mut alts = Vec::new();
        for alt in &rule.alts {
            let (register, n) = compiler.node(alt.term)?;
            if n != comps {
                return None;
            }
            alts.push(register);
        }
        // Registers of steps follow those of inputs and constants in the order in which they were made.
        let Compiler { mut steps, initial, .. } = compiler;
        steps.sort_by_key(|s| s.0);
        let known: Vec<usize> = steps.iter().map(|s| s.0).collect();
        let order: Vec<usize> = (0..initial.len()).filter(|r| !known.contains(r)).collect();
        let place = |r: usize| match known.iter().position(|k| *k == r) {
            Some(i) => order.len() + i,
            None => order.iter().position(|k| *k == r).unwrap_or(0),
        };
        let rename = |step: Step| match step {
            Step::Op { fold, width, mut args, results, per_component } => {
                args.iter_mut().for_each(|a| a.register = place(a.register));
                Step::Op { fold, width, args, results, per_component }
            }
            Step::Pick { from, order } => Step::Pick { from: place(from), order },
            table => table,
        };
        Some(Direct {
            env: terms.claim.first(),
            facts: facts?,
            pattern: place(pattern),
            alts: alts.into_iter().map(place).collect(),
            used: used.map(place),
            comps,
            inputs: inputs.into_iter().map(|(s, n, r)| (s, n, place(r))).collect(),
            initial: order.iter().chain(&known).map(|r| initial[*r]).collect(),
            steps: steps.into_iter().map(|s| rename(s.1)).collect(),
        })
    }

    /// Registers for [`Direct::try_point`], which may be used again for any point.
    pub fn registers(&self) -> Vec<[u64; WIDE]> {
        self.initial.clone()
    }

    /// Compares both sides for scalar inputs, variable by variable.
    pub fn try_point(&self, scalars: &[u64], registers: &mut [[u64; WIDE]]) -> Found {
        for fact in &self.facts {
            match fact.at(scalars) {
                Some(0) => return Found::Outside,
                Some(_) => {}
                None => return Found::Unknown,
            }
        }
        for (first, comps, register) in &self.inputs {
            registers[*register][..*comps].copy_from_slice(&scalars[*first..first + comps]);
        }
        let base = registers.len() - self.steps.len();
        let mut out = [0; 16];
        for (i, step) in self.steps.iter().enumerate() {
            match step {
                Step::Table(table) => match table.at(scalars) {
                    Some(v) => registers[base + i] = [v; WIDE],
                    None => return Found::Unknown,
                },
                Step::Pick { from, order } => {
                    let value = registers[*from];
                    for (slot, c) in registers[base + i].iter_mut().zip(order) {
                        *slot = value[*c];
                    }
                }
                Step::Op { fold, width, args, results, per_component } => {
                    let runs = if *per_component { *results } else { 1 };
                    for c in 0..runs {
                        let mut srcs: [&[u64]; 4] = [&[]; 4];
                        for (slot, arg) in srcs.iter_mut().zip(args) {
                            let register = &registers[arg.register][..arg.comps];
                            let c = c.min(arg.comps - 1);
                            *slot = if arg.each { &register[c..c + 1] } else { register };
                        }
                        let mut cx = Cx { env: self.env, free: false, nan: false };
                        fold(&mut cx, *width, 0, &srcs[..args.len()], &mut out);
                        if cx.free || cx.nan {
                            return Found::Unknown;
                        }
                        match per_component {
                            true => registers[base + i][c] = out[0],
                            false => {
                                registers[base + i][..*results].copy_from_slice(&out[..*results]);
                            }
                        }
                    }
                }
            }
        }
        let pattern = registers[self.pattern];
        let read = self.used.map_or([u64::MAX; WIDE], |used| registers[used]);
        let same = |a: &usize| {
            (0..self.comps).all(|i| (registers[*a][i] ^ pattern[i]) & read[i.min(WIDE - 1)] == 0)
        };
        match self.alts.iter().all(same) {
            true => Found::Same,
            false => Found::Unknown,
        }
    }
}

impl Compiler<'_, '_> {
    fn register(&mut self, value: Register) -> usize {
        self.initial.push(value);
        self.initial.len() - 1
    }

    /// Registers of the variables that are inputs.
    fn inputs(&mut self) -> Option<Vec<(usize, usize, usize)>> {
        let mut out = Vec::new();
        let mut first = 0;
        for (v, var) in self.terms.rule.vars.iter().enumerate() {
            self.scalars.push(first);
            if matches!(var.kind, VarKind::Bound(_)) {
                continue;
            }
            let comps = usize::from(self.terms.comps(var.comps)).max(1);
            if comps > WIDE {
                return None;
            }
            let register = self.register([0; WIDE]);
            self.vars.insert(v, (register, comps));
            out.push((first, comps, register));
            first += comps;
        }
        Some(out)
    }

    /// A function of constants and values, tabulated over the scalar inputs under `roots`.
    fn table(&self, roots: &[NodeId], f: impl Fn(&Inputs) -> Option<u64>) -> Option<Table> {
        let (terms, rule) = (self.terms, self.terms.rule);
        let mut inputs: Vec<(usize, u32)> = Vec::new();
        let mut vars = Vec::new();
        for root in roots {
            for id in rule.reachable(*root) {
                let NodeKind::Var(v) = &rule.nodes[id].kind else { continue };
                let (_, comps) = *self.vars.get(v)?;
                if comps != 1 {
                    return None;
                }
                if !vars.contains(v) {
                    vars.push(*v);
                    inputs.push((self.scalars[*v], terms.class_bits(rule.vars[*v].class).into()));
                }
            }
        }
        let total: u32 = inputs.iter().map(|i| i.1).sum();
        if total > TABLE_BITS || 1 << total > self.points {
            return None;
        }
        let blank: Inputs =
            rule.vars.iter().map(|_| SmallVec::from_slice(&[Out::Bits(0)])).collect();
        let mut values = Vec::with_capacity(1 << total);
        for index in 0..1u64 << total {
            let mut point = blank.clone();
            let mut rest = index;
            for (v, (_, bits)) in vars.iter().zip(&inputs) {
                point[*v][0] = Out::Bits(rest & ((1 << bits) - 1));
                rest >>= bits;
            }
            values.push(f(&point));
        }
        Some(Table { inputs, values })
    }

    fn node(&mut self, id: NodeId) -> Option<Place> {
        let id = self.terms.same[id];
        if let Some(place) = self.places.get(&id) {
            return Some(*place);
        }
        let (terms, rule) = (self.terms, self.terms.rule);
        let node = &rule.nodes[id];
        let bits = terms.bits[node.class];
        let comps = usize::from(terms.comps(node.comps)).max(1);
        if comps > WIDE {
            return None;
        }
        let mut whole = true;
        let place = match &node.kind {
            NodeKind::Var(v) => match rule.vars[*v].kind {
                VarKind::Bound(inner) => self.node(inner)?,
                _ => *self.vars.get(v)?,
            },
            NodeKind::Ref(inner) => self.node(*inner)?,
            NodeKind::Outside { .. } | NodeKind::Undef => return None,
            NodeKind::Literal(value, base) => {
                let value = literal(value, *base, bits, 1)?;
                let Out::Bits(v) = value[0] else { return None };
                (self.register([v; WIDE]), comps)
            }
            NodeKind::Compute { expr, .. } => {
                if comps != 1 || expr.ty.base == Base::Bool && bits > 1 {
                    return None;
                }
                let value = |inputs: &Inputs| match terms.constant(id, inputs)?.first() {
                    Some(Out::Bits(v)) => Some(*v),
                    _ => None,
                };
                let table = self.table(&[id], value)?;
                let register = self.register([0; WIDE]);
                self.steps.push((register, Step::Table(table)));
                (register, 1)
            }
            NodeKind::Op { .. } => {
                let (place, per_component) = self.op(id, comps)?;
                // The swizzle of such an operation is on its operands already.
                whole = !per_component;
                place
            }
        };
        let place = match &node.swizzle {
            Some(swizzle) if whole => self.swizzled(place, swizzle)?,
            _ => place,
        };
        self.places.insert(id, place);
        Some(place)
    }

    /// Components of a register.
    fn swizzled(&mut self, (from, comps): Place, swizzle: &[u8]) -> Option<Place> {
        let order: SmallVec<[usize; WIDE]> = swizzle.iter().map(|c| usize::from(*c)).collect();
        if order.len() > WIDE || order.iter().any(|c| *c >= comps) {
            return None;
        }
        let register = self.register([0; WIDE]);
        let comps = order.len();
        self.steps.push((register, Step::Pick { from, order }));
        Some((register, comps))
    }

    fn op(&mut self, id: NodeId, comps: usize) -> Option<(Place, bool)> {
        let (terms, rule) = (self.terms, self.terms.rule);
        let NodeKind::Op { op, promises, args, .. } = &rule.nodes[id].kind else { return None };
        let sig = terms.set.ops.get(*op);
        let fold = builtin(sig)?.fold?;
        if *promises != 0 || args.len() > 4 {
            return None;
        }
        let mut operands: SmallVec<[Arg; 4]> = SmallVec::new();
        for (arg, ty) in args.iter().zip(&sig.inputs) {
            let (register, comps) = self.node(*arg)?;
            operands.push(Arg { register, comps, each: ty.comps == 0 });
        }
        let per_component = sig.output.comps == 0;
        let results = if per_component { comps } else { usize::from(sig.output.comps) };
        if results > WIDE {
            return None;
        }
        let register = self.register([0; WIDE]);
        let width = u32::from(terms.width(id, sig, args));
        let step = Step::Op { fold, width, args: operands, results, per_component };
        self.steps.push((register, step));
        Some(((register, results), per_component))
    }
}
