//! Left sides of rewrite rules as programs: an instance of the pattern on values and constants at hand, as it is or
//! with one perturbation.

use super::{Freedom, Maker, Value};
use deburr_ir_core::{AluOp, Flags, Swizzle};

/// A pattern: operations on variables, constants and literals.
#[derive(Clone, Debug)]
pub struct Term {
    /// Name of the rule.
    pub name: String,
    /// Nodes, operands before their users; the last is the root.
    pub nodes: Vec<TermNode>,
}

/// A node of a [`Term`].
#[derive(Clone, Debug)]
pub struct TermNode {
    /// What it is.
    pub kind: TermKind,
    /// Bit size.
    pub bits: u8,
    /// Components, after the swizzle; 0 = as many as the instance has.
    pub comps: u8,
    /// Components taken of it.
    pub swizzle: Option<Vec<u8>>,
}

/// The kinds of node.
#[derive(Clone, Debug)]
pub enum TermKind {
    /// An operation on earlier nodes.
    Op(AluOp, Flags, Vec<usize>),
    /// A variable of this number: the same value wherever it stands.
    Var(usize),
    /// A constant of this number.
    Constant(usize),
    /// A known value: bits.
    Literal(u64),
}

/// A change to an instance.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Perturbation {
    None,
    /// Two operands of this node change places.
    Swap(usize),
    /// This node is another value.
    Other(usize),
    /// This node, a literal or constant, is off by one.
    OffByOne(usize),
    /// The swizzle of the operands of this node differs.
    Swizzle(usize),
}

impl Maker<'_> {
    /// An instance of one of the terms.
    pub(super) fn term(&mut self) {
        let terms = self.options.terms.clone();
        if terms.is_empty() {
            self.alu();
            return;
        }
        let n = self.rng.below(terms.len());
        let comps = *self.rng.pick(&[1u8, 1, 1, 2, 3, 4]);
        self.instance(&terms[n], comps);
    }

    fn instance(&mut self, term: &Term, comps: u8) {
        let at = self.rng.below(term.nodes.len());
        let perturbation = match self.rng.below(8) {
            0 => Perturbation::Swap(at),
            1 => Perturbation::Other(at),
            2 => Perturbation::OffByOne(at),
            3 => Perturbation::Swizzle(at),
            _ => Perturbation::None,
        };
        // Some inner values have a second use.
        let shared = self.rng.one_in(4);
        // Each node as a value and the components that identity takes of it.
        let mut built: Vec<(Value, Swizzle)> = Vec::new();
        let mut vars: Vec<Option<(Value, Swizzle)>> = Vec::new();
        for (n, node) in term.nodes.iter().enumerate() {
            let own = if node.comps == 0 { comps } else { node.comps };
            let need = node.swizzle.as_ref().map_or(own, |s| whole(s));
            let value = match &node.kind {
                _ if perturbation == Perturbation::Other(n) => self.operand(node.bits, need),
                TermKind::Op(op, flags, args) => {
                    let mut args: Vec<usize> = args.clone();
                    if perturbation == Perturbation::Swap(n) && args.len() > 1 {
                        args.swap(0, 1);
                    }
                    match self.operation(*op, *flags, &args, &built, need, perturbation, n) {
                        Some(value) => value,
                        // The perturbed operands don't fit the operation.
                        None => return,
                    }
                }
                TermKind::Var(var) | TermKind::Constant(var) => {
                    vars.resize(vars.len().max(var + 1), None);
                    match vars[*var] {
                        Some(value) => value,
                        None => {
                            let constant = matches!(node.kind, TermKind::Constant(_));
                            let value = if constant {
                                let off = perturbation == Perturbation::OffByOne(n);
                                self.likely_constant(node.bits, need, off)
                            } else {
                                self.operand(node.bits, need)
                            };
                            vars[*var] = Some(value);
                            value
                        }
                    }
                }
                TermKind::Literal(bits) => {
                    let off = u64::from(perturbation == Perturbation::OffByOne(n));
                    let bits = bits.wrapping_add(off) & mask(node.bits);
                    (self.literal(node.bits, &vec![bits; need.into()]), Swizzle::IDENTITY)
                }
            };
            let swizzled = match &node.swizzle {
                Some(lanes) => (value.0, Swizzle::new(lanes).compose(value.1)),
                None => value,
            };
            if shared && n + 1 < term.nodes.len() {
                self.pool.push(value.0);
            }
            built.push(swizzled);
        }
        if let Some((value, _)) = built.last() {
            self.pool.push(*value);
        }
    }

    #[allow(clippy::too_many_arguments, reason = "one place calls it, in the middle of a loop")]
    fn operation(
        &mut self,
        op: AluOp,
        flags: Flags,
        args: &[usize],
        built: &[(Value, Swizzle)],
        need: u8,
        perturbation: Perturbation,
        n: usize,
    ) -> Option<(Value, Swizzle)> {
        let info = op.builtin()?;
        let comps = if info.output.comps == 0 { need } else { info.output.comps };
        let mut srcs: Vec<(Value, Swizzle)> = args.iter().map(|&a| built[a]).collect();
        if perturbation == Perturbation::Swizzle(n) {
            let at = self.rng.below(srcs.len());
            let (value, swizzle) = srcs[at];
            let lane = self.rng.below(value.comps.into()) as u8;
            srcs[at].1 = swizzle.with(0, lane);
        }
        let width = |(ty, (v, _)): (&deburr_ir_core::AluType, &(Value, Swizzle))| {
            (ty.bits == 0).then_some(v.bits)
        };
        let sized: Vec<u8> = info.inputs.iter().zip(&srcs).filter_map(width).collect();
        let fixed =
            info.inputs.iter().zip(&srcs).all(|(ty, (v, _))| ty.bits == 0 || ty.bits == v.bits);
        let fits = sized.windows(2).all(|w| w[0] == w[1])
            && fixed
            && sized.first().is_none_or(|w| info.sizes.is_empty() || info.sizes.contains(w));
        // Lanes that are not there are taken from the first.
        for (k, (value, swizzle)) in srcs.iter_mut().enumerate() {
            for lane in 0..usize::from(info.src_comps(k, comps)) {
                if swizzle.get(lane) >= value.comps {
                    *swizzle = swizzle.with(lane, 0);
                }
            }
        }
        let licences =
            if self.options.licences { Flags::LICENCES - Flags::RELAXED } else { Flags::empty() };
        let flags = flags | licences;
        fits.then(|| (self.emit(op, comps, &srcs, flags), Swizzle::IDENTITY))
    }

    /// A value of the pool with this many components, of whatever lanes.
    fn operand(&mut self, bits: u8, comps: u8) -> (Value, Swizzle) {
        let value = self.value(bits, true);
        let lanes: Vec<u8> = (0..comps).map(|_| self.rng.below(value.comps.into()) as u8).collect();
        (value, Swizzle::new(&lanes))
    }

    /// A constant of the kind that rules ask for: small, a power of two, a mask, a special float.
    fn likely_constant(&mut self, bits: u8, comps: u8, off: bool) -> (Value, Swizzle) {
        let one = |maker: &mut Self| match maker.rng.below(3) {
            0 => maker.rng.below(bits.into()) as u64,
            _ => maker.rng.edge(bits),
        };
        let first = one(self);
        // Mostly the same in all components.
        let same = self.rng.below(4) > 0;
        let values: Vec<u64> = (0..comps)
            .map(|n| if n == 0 || same { first } else { one(self) })
            .map(|v| v.wrapping_add(u64::from(off)) & mask(bits))
            .collect();
        (self.literal(bits, &values), Swizzle::IDENTITY)
    }

    fn literal(&mut self, bits: u8, values: &[u64]) -> Value {
        let def = self.build(|b| b.load_const(bits, values));
        let may = Freedom::default();
        Value { def, bits, comps: values.len() as u8, depends: false, may }
    }
}

fn mask(bits: u8) -> u64 {
    if bits >= 64 { u64::MAX } else { (1 << bits) - 1 }
}

/// The least number of components that the IR has and that these lanes can be taken of.
fn whole(lanes: &[u8]) -> u8 {
    let most = lanes.iter().copied().max().unwrap_or(0) + 1;
    *[1, 2, 3, 4, 5, 8, 16].iter().find(|&&n| n >= most).unwrap_or(&16)
}
