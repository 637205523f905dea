//! Rules after expansion, resolution and inference: what the generator, the reference matcher and the checker of
//! soundness work on.
//!
//! A rule's terms are nodes of one arena. Every node has a *size class*; an instance of the rule gives each class its
//! number of bits. A component count is a number, or the rule's one generic count, which is that of the matched root.

use super::ops::Ops;
use crate::diagnostics::Span;
use crate::expr::{Base, Expr, Width};
use std::sync::Arc;

/// Index of a node in its rule.
pub type NodeId = usize;
/// Index of a variable in its rule.
pub type VarId = usize;
/// Index of a size class in its rule.
pub type ClassId = usize;

/// A checked rule set.
#[derive(Clone, Debug)]
pub struct RuleSet {
    /// The opcode table that the rules were resolved against.
    pub ops: Ops,
    /// Groups in order: name and documentation.
    pub groups: Vec<(String, String)>,
    /// Target options in order: name and documentation.
    pub options: Vec<(String, String)>,
    /// Source files in order: name and text.
    pub files: Vec<(Arc<str>, Arc<str>)>,
    /// The fact library.
    pub facts: Vec<Fact>,
    /// Rules in the order in which they are tried; groups are told apart by [`Rule::group`].
    pub rules: Vec<Rule>,
}

/// A fact of the library, or a function (one whose result isn't bool).
#[derive(Clone, Debug)]
pub struct Fact {
    /// Name.
    pub name: String,
    /// Documentation.
    pub doc: String,
    /// Names of the parameters.
    pub params: Vec<String>,
    /// The definition; parameters are the variables 0, 1, ….
    pub body: Expr,
    /// Whether an analysis answers it for values that aren't constants.
    pub on_values: bool,
    /// Whether it was declared as a function.
    pub function: bool,
}

/// Promises and licences as bits, in the order of the text format.
pub mod flags {
    /// Names of all flags; bit `i` is `NAMES[i]`.
    pub const NAMES: [&str; 11] = [
        "nnan",
        "ninf",
        "nsz",
        "arcp",
        "contract",
        "reassoc",
        "transform",
        "relaxed",
        "nuw",
        "nsw",
        "dom",
    ];
    /// Those that are promises.
    pub const PROMISES: u16 = 0b111_0000_0011;
    /// Those that are licences.
    pub const LICENCES: u16 = 0b000_1111_1100;
    /// Licences under which a result may be off.
    pub const INEXACT: u16 = ARCP | CONTRACT | REASSOC | TRANSFORM | RELAXED;
    /// The flag of that name.
    pub fn by_name(name: &str) -> Option<u16> {
        NAMES.iter().position(|n| *n == name).map(|i| 1 << i)
    }
    /// `nnan` …
    pub const NNAN: u16 = 1;
    /// `ninf`
    pub const NINF: u16 = 2;
    /// `nsz`
    pub const NSZ: u16 = 4;
    /// `arcp`
    pub const ARCP: u16 = 8;
    /// `contract`
    pub const CONTRACT: u16 = 16;
    /// `reassoc`
    pub const REASSOC: u16 = 32;
    /// `transform`
    pub const TRANSFORM: u16 = 64;
    /// `relaxed`
    pub const RELAXED: u16 = 128;
    /// `nuw`
    pub const NUW: u16 = 256;
    /// `nsw`
    pub const NSW: u16 = 512;
    /// `dom`
    pub const DOM: u16 = 1024;
}

/// A rule of which every size is still open.
#[derive(Clone, Debug)]
pub struct Rule {
    /// Name with the loops' bindings: `absorb[op=iand]`.
    pub name: String,
    /// Name without them, by which the rule is disabled.
    pub base: String,
    /// Documentation.
    pub doc: String,
    /// Index of the source file.
    pub file: usize,
    /// Line of the rule in its file, from 1.
    pub line: u32,
    /// Place of the whole rule.
    pub span: Span,
    /// Index of the group.
    pub group: usize,
    /// All terms.
    pub nodes: Vec<Node>,
    /// The left side: an [`NodeKind::Op`].
    pub pattern: NodeId,
    /// Parts of the pattern that stand for any chain with their operands.
    pub chains: Vec<Chain>,
    /// Right sides, in the order of preference.
    pub alts: Vec<Alt>,
    /// Variables in order of their first occurrence.
    pub vars: Vec<Var>,
    /// Facts that correctness rests on.
    pub facts: Vec<FactUse>,
    /// Float environments that correctness rests on.
    pub env: EnvClause,
    /// `bits_used(k)`: correctness rests on users reading no bits of the root but those of this constant. Both sides agree in
    /// them, and may differ in the others.
    pub used: Option<NodeId>,
    /// Licences that every matched float operation must carry.
    pub licences: u16,
    /// Target options.
    pub when: Option<Cond>,
    /// Number of size classes.
    pub classes: usize,
    /// Instances: bits of each class.
    pub instances: Vec<Vec<u8>>,
    /// What of the sizes is to be tested while matching, and the tuples that are right; `None` where every size that
    /// the pattern can have is right.
    pub size_test: Option<SizeTest>,
    /// Classes that differ between instances, in the order of instance names.
    pub free_classes: Vec<ClassId>,
    /// Why the rule is out of the termination order.
    pub canonical: Option<String>,
    /// Error bound in ulps.
    pub ulps: Option<u32>,
    /// Why it isn't checked.
    pub waive: Option<String>,
    /// Diagnostics that are wanted.
    pub allows: Vec<String>,
    /// Examples: variables with values, and the result.
    pub tests: Vec<(Vec<(VarId, Literal)>, Literal)>,
}

impl Rule {
    /// Bits by which an instance is known: those of the root, or of its first operand that isn't boolean where the root
    /// gives a boolean.
    pub fn size(&self, bits: &[u8]) -> u8 {
        let root = &self.nodes[self.pattern];
        let of = |node: &Node| bits[node.class];
        match of(root) {
            1 => root.operands().iter().map(|n| of(&self.nodes[*n])).find(|b| *b > 1).unwrap_or(1),
            bits => bits,
        }
    }

    /// `NAME@32x1`, of the instance with that index.
    pub fn instance_name(&self, instance: usize) -> String {
        let bits = &self.instances[instance];
        let sizes: Vec<String> = match self.free_classes.as_slice() {
            [] => vec![self.size(bits).to_string()],
            free => free.iter().map(|c| bits[*c].to_string()).collect(),
        };
        let comps = match self.nodes[self.pattern].comps {
            Comps::Fixed(n) => n,
            Comps::Generic => 1,
        };
        format!("{}@{}x{comps}", self.name, sizes.join("."))
    }

    /// Everything that the facts speak of.
    pub fn fact_args(&self) -> impl Iterator<Item = NodeId> + '_ {
        self.facts.iter().flat_map(|f| &f.args).copied().chain(self.used)
    }

    /// Sizes of floats that the rule computes with and that are not those of the pattern's operands and results: inside
    /// definitions, of what only a replacement has, of constants and facts. 0 stands for a size that the pattern leaves open.
    pub fn hidden_floats(&self, set: &RuleSet) -> Vec<u8> {
        let pattern = self.pattern_nodes();
        let shown: Vec<ClassId> =
            pattern.iter().flat_map(|n| self.float_classes(set, *n)).collect();
        let mut out = Vec::new();
        let mut add = |bits: u8| {
            if !out.contains(&bits) {
                out.push(bits);
            }
        };
        let of_class = |class: ClassId| {
            let first = self.instances.first().map_or(0, |i| i[class]);
            let fixed = self.instances.iter().all(|i| i[class] == first);
            (!shown.contains(&class)).then_some(if fixed { first } else { 0 })
        };
        let of_expr = |expr: &Expr, class: Option<ClassId>, add: &mut dyn FnMut(u8)| {
            expr.walk(&mut |e| match e.ty.width {
                _ if e.ty.base != Base::Float => {}
                Width::Fixed(bits) => add(bits),
                Width::Bits => class.and_then(of_class).into_iter().for_each(&mut *add),
            });
        };
        let made = self.alts.iter().flat_map(|a| self.reachable(a.term));
        let constants = self.fact_args().flat_map(|n| self.reachable(n));
        for node in pattern.iter().copied().chain(made).chain(constants) {
            match &self.nodes[node].kind {
                NodeKind::Op { op, .. } => {
                    self.float_classes(set, node)
                        .into_iter()
                        .filter_map(of_class)
                        .for_each(&mut add);
                    let sig = set.ops.get(*op);
                    if let Some(eval) = sig.eval.as_ref().filter(|_| sig.float) {
                        of_expr(eval, None, &mut add);
                    }
                }
                NodeKind::Compute { expr, bits, .. } => of_expr(expr, Some(*bits), &mut add),
                _ => {}
            }
        }
        for fact in &self.facts {
            of_expr(&set.facts[fact.fact].body, Some(fact.bits), &mut add);
        }
        // What a definition has inside may be the size that is shown.
        out.retain(|bits| !shown.iter().any(|c| self.instances.iter().all(|i| i[*c] == *bits)));
        out
    }

    /// The size classes of the floats among the operands of an operation and its result, where the environment has a say.
    pub fn float_classes(&self, set: &RuleSet, node: NodeId) -> Vec<ClassId> {
        let NodeKind::Op { op, args, .. } = &self.nodes[node].kind else { return Vec::new() };
        let sig = set.ops.get(*op);
        let operands = sig.inputs.iter().zip(args).map(|(ty, arg)| (ty.base, *arg));
        let all = operands.chain([(sig.output.base, node)]);
        let floats = all.filter(|(base, _)| sig.float && *base == Base::Float);
        floats.map(|(_, node)| self.nodes[node].class).collect()
    }

    /// The chain whose outermost operation a node is.
    pub fn chain_at(&self, node: NodeId) -> Option<&Chain> {
        self.chains.iter().find(|c| c.nodes[0] == node)
    }

    /// Whether a node is an operation inside a chain.
    pub fn is_in_chain(&self, node: NodeId) -> bool {
        self.chains.iter().any(|c| c.nodes[1..].contains(&node))
    }

    /// Whether it has anything but arithmetic.
    pub fn has_outside(&self) -> bool {
        self.nodes.iter().any(|n| matches!(n.kind, NodeKind::Outside { .. }))
    }

    /// Whether a node is an operation over a value that is undefined: what is chosen for that shows in its own.
    pub fn chooses(&self, node: NodeId) -> bool {
        let is_undef = |n: &NodeId| matches!(self.nodes[*n].kind, NodeKind::Undef);
        self.reachable(node).iter().any(is_undef)
    }

    /// The nodes of the pattern, parents first, operands in source order.
    pub fn pattern_nodes(&self) -> Vec<NodeId> {
        self.reachable(self.pattern)
    }

    /// The nodes under `root`, parents first, each once.
    pub fn reachable(&self, root: NodeId) -> Vec<NodeId> {
        self.reachable_through(root, |_| true)
    }

    /// The same, without what stands only under nodes that `through` doesn't let pass.
    pub(super) fn reachable_through(
        &self,
        root: NodeId,
        through: impl Fn(&NodeKind) -> bool,
    ) -> Vec<NodeId> {
        let mut out = Vec::new();
        let mut stack = vec![root];
        while let Some(id) = stack.pop() {
            if out.contains(&id) {
                continue;
            }
            out.push(id);
            if through(&self.nodes[id].kind) {
                stack.extend(self.nodes[id].operands().iter().rev());
            }
        }
        out
    }
}

/// `ac(op: a, b, c)` in a pattern: operands of a chain of one associative and commutative operation, in any order and
/// bracketing, with others between them if it is the whole pattern.
///
/// Among the nodes of the rule it stands as the chain from left to right, `op(op(a, b), c)`, of which all others are equal
/// by the laws of the operation.
#[derive(Clone, Debug)]
pub struct Chain {
    /// The operations, the outermost first.
    pub nodes: Vec<NodeId>,
    /// The operands, in source order.
    pub operands: Vec<NodeId>,
}

/// Fewest and most operands of an `ac`.
pub const CHAIN_OPERANDS: std::ops::RangeInclusive<usize> = 2..=4;
/// Most operands of a matched chain, those left over included.
pub const LONGEST_CHAIN: usize = 8;

/// The run-time test of sizes.
#[derive(Clone, Debug)]
pub struct SizeTest {
    /// Nodes of the pattern whose sizes make up a tuple.
    pub nodes: Vec<NodeId>,
    /// The tuples for which the rule holds.
    pub allowed: Vec<Vec<u8>>,
}

/// A term.
#[derive(Clone, Debug)]
pub struct Node {
    /// What it is.
    pub kind: NodeKind,
    /// Components taken of it, as indices.
    pub swizzle: Option<Vec<u8>>,
    /// Its size.
    pub class: ClassId,
    /// Components, after the swizzle.
    pub comps: Comps,
    /// Place.
    pub span: Span,
}

impl Node {
    /// Direct operands.
    pub fn operands(&self) -> &[NodeId] {
        self.kind.operands()
    }
}

impl NodeKind {
    /// Direct operands.
    pub fn operands(&self) -> &[NodeId] {
        match self {
            NodeKind::Op { args, .. }
            | NodeKind::Compute { args, .. }
            | NodeKind::Outside { args, .. } => args,
            NodeKind::Ref(node) => std::slice::from_ref(node),
            NodeKind::Var(_) | NodeKind::Literal(..) | NodeKind::Undef => &[],
        }
    }
}

/// A component count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Comps {
    /// A number.
    Fixed(u8),
    /// That of the matched root.
    Generic,
}

/// The kinds of term.
#[derive(Clone, Debug)]
pub enum NodeKind {
    /// An ALU operation.
    Op {
        /// Index in the opcode table.
        op: usize,
        /// Promises required (in a pattern) or given (in a replacement).
        promises: u16,
        /// Operands.
        args: Vec<NodeId>,
        /// `m@`
        bind: Option<VarId>,
    },
    /// A variable, constants included.
    Var(VarId),
    /// A literal, read as a value of that base.
    Literal(Literal, crate::expr::Base),
    /// A constant computed from constants; operands are the expression's variables 0, 1, ….
    Compute {
        /// The expression.
        expr: Arc<Expr>,
        /// Operands: constants, literals, computed constants.
        args: Vec<NodeId>,
        /// The class that `BITS` stands for in the expression.
        bits: ClassId,
    },
    /// Another node under a swizzle.
    Ref(NodeId),
    /// An undefined value: in a pattern one that nothing else sees, in a replacement a new one.
    Undef,
    /// What isn't an ALU operation.
    Outside {
        /// What it is.
        what: Outside,
        /// Operands.
        args: Vec<NodeId>,
        /// `m@`
        bind: Option<VarId>,
    },
}

/// What a rule matches outside of arithmetic. To the checker of soundness its value may be any.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outside {
    /// An intrinsic.
    Intrinsic {
        /// Index in the table of intrinsics.
        id: usize,
        /// Const indices, by their place in the table of indices, and their values: wanted in a pattern, given in a
        /// replacement.
        indices: Vec<(usize, u32)>,
    },
    /// A texture operation. Its operands are its sources of these kinds; it has no others.
    Tex {
        /// Index in [`TEX_OPS`](super::outside::TEX_OPS).
        op: usize,
        /// Indices in [`TEX_SRCS`](super::outside::TEX_SRCS).
        srcs: Vec<usize>,
        /// Indices in [`TEX_ATTRS`](super::outside::TEX_ATTRS) and the values that are wanted.
        attrs: Vec<(usize, u32)>,
    },
    /// A phi of two sources, in either order.
    Phi,
}

/// What a variable stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VarKind {
    /// Any value.
    Value,
    /// A constant.
    Const,
    /// The matched instruction at that node.
    Bound(NodeId),
}

/// A variable of a rule.
#[derive(Clone, Debug)]
pub struct Var {
    /// Name.
    pub name: String,
    /// Kind.
    pub kind: VarKind,
    /// How its bits are read where it first occurs.
    pub base: crate::expr::Base,
    /// Its size.
    pub class: ClassId,
    /// Its components; for a variable that stands under swizzles in the pattern, as many as are used.
    pub comps: Comps,
    /// Whether it stands for a whole def, because the pattern swizzles it.
    pub whole: bool,
    /// Where it first occurs.
    pub span: Span,
}

/// A right side.
#[derive(Clone, Debug)]
pub struct Alt {
    /// The term.
    pub term: NodeId,
    /// Profit test.
    pub profit: Option<Cond>,
}

/// A fact that a rule rests on.
#[derive(Clone, Debug)]
pub struct FactUse {
    /// Index in the library.
    pub fact: usize,
    /// The first argument is a variable (or a computed constant), the others are constants.
    pub args: Vec<NodeId>,
    /// The class that `BITS` stands for.
    pub bits: ClassId,
    /// Place.
    pub span: Span,
}

/// The float environments that a rule claims, as sets: bit 0 keep / rte, 1 flush / rtz, 2 any.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EnvClause {
    /// Denormal behaviours.
    pub denorm: u8,
    /// Roundings.
    pub rounding: u8,
}

impl EnvClause {
    /// Every environment.
    pub const ALL: EnvClause = EnvClause { denorm: 7, rounding: 7 };
}

/// A condition of `when` or `if`.
#[derive(Clone, Debug)]
pub enum Cond {
    /// All.
    And(Vec<Cond>),
    /// One of them.
    Or(Vec<Cond>),
    /// Not.
    Not(Box<Cond>),
    /// A target option by name.
    Option(String),
    /// A profit test on a variable.
    Profit(Profit, VarId),
    /// How many operands use a variable's value, against a number.
    Uses(VarId, Compare, u32),
    /// All that uses a variable's value are these operations, at most [`MOST_USES`] times.
    OnlyUsedAs(VarId, Vec<usize>),
}

impl Cond {
    /// Calls `f` with every test, and whether it stands under an even number of `!`.
    pub fn tests(&self, f: &mut dyn FnMut(&Cond, bool)) {
        self.tests_under(true, f);
    }

    /// Recurses on the nesting of the condition, which the parser bounds.
    fn tests_under(&self, positive: bool, f: &mut dyn FnMut(&Cond, bool)) {
        match self {
            Cond::And(list) | Cond::Or(list) => {
                list.iter().for_each(|c| c.tests_under(positive, f));
            }
            Cond::Not(c) => c.tests_under(!positive, f),
            test => f(test, positive),
        }
    }

    /// The variable that a profit test speaks of.
    pub fn var(&self) -> Option<VarId> {
        match self {
            Cond::Profit(_, v) | Cond::Uses(v, ..) | Cond::OnlyUsedAs(v, _) => Some(*v),
            Cond::And(_) | Cond::Or(_) | Cond::Not(_) | Cond::Option(_) => None,
        }
    }

    /// The numbers of uses, from 1 on, at which a test of uses can hold; the last stands for all above it. `None` for
    /// other tests.
    pub fn counts(&self) -> Option<Vec<bool>> {
        let holds = |compare: Compare, bound: u32| {
            (1..=MOST_USES + 1).map(|n| compare.holds(n, bound)).collect()
        };
        match self {
            Cond::Uses(_, compare, bound) => Some(holds(*compare, *bound)),
            Cond::Profit(Profit::Once, _) => Some(holds(Compare::Equal, 1)),
            _ => None,
        }
    }
}

/// Uses are counted up to this number, and users looked at: of a value with more nothing is known but that.
pub const MOST_USES: u32 = 64;

/// How a count is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Compare {
    /// `<=`
    AtMost,
    /// `<`
    Below,
    /// `>=`
    AtLeast,
    /// `>`
    Above,
    /// `==`
    Equal,
    /// `!=`
    Other,
}

impl Compare {
    /// Every comparison as it is written, in rules and in Rust.
    pub const ALL: [(&'static str, Compare); 6] = [
        ("<=", Compare::AtMost),
        ("<", Compare::Below),
        (">=", Compare::AtLeast),
        (">", Compare::Above),
        ("==", Compare::Equal),
        ("!=", Compare::Other),
    ];

    /// As it is written.
    pub fn text(self) -> &'static str {
        Compare::ALL.iter().find(|c| c.1 == self).map_or("", |c| c.0)
    }

    /// Whether a number compares so with another.
    pub fn holds(self, count: u32, bound: u32) -> bool {
        match self {
            Compare::AtMost => count <= bound,
            Compare::Below => count < bound,
            Compare::AtLeast => count >= bound,
            Compare::Above => count > bound,
            Compare::Equal => count == bound,
            Compare::Other => count != bound,
        }
    }
}

/// Profit tests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Profit {
    /// The matched instruction has one use.
    Once,
    /// What uses the value are matched operations that go with the root: the root itself, or one all of whose users are
    /// such.
    Dies,
    /// The value is a constant.
    IsConst,
}

impl Profit {
    /// Every test with its name.
    pub const ALL: [(&'static str, Profit); 3] =
        [("once", Profit::Once), ("dies", Profit::Dies), ("is_const", Profit::IsConst)];
}

/// A literal value.
#[derive(Clone, Debug, PartialEq)]
pub enum Literal {
    /// An integer.
    Int(i128),
    /// An integer, or the bits of a float.
    Hex(i128),
    /// A float: the bits of an f64.
    Float(u64),
    /// A truth value.
    Bool(bool),
}

impl Literal {
    /// The bits of the literal as an operand of `bits` bits, zero-extended, or why it doesn't fit.
    pub fn encode(&self, base: crate::expr::Base, bits: u8) -> Result<u64, String> {
        use crate::expr::Base;
        let mask = if bits >= 64 { u64::MAX } else { (1u64 << bits) - 1 };
        match (self, base) {
            (Literal::Int(v), Base::Float) if *v != 0 || bits > 0 => {
                Err(format!("the operand is a float: write `{v}.0`"))
            }
            (Literal::Int(v) | Literal::Hex(v), Base::Bool) => Err(format!(
                "the operand is a bool: write `{}`",
                if *v == 0 { "false" } else { "true" }
            )),
            (Literal::Int(v) | Literal::Hex(v), _) => {
                let low = -(1i128 << (bits - 1));
                if *v < low || *v > i128::from(mask) {
                    return Err(format!("it doesn't fit {bits} bits"));
                }
                Ok((*v as u64) & mask)
            }
            (Literal::Float(v), _) => encode_float(f64::from_bits(*v), bits),
            (Literal::Bool(b), _) => Ok(match (b, bits) {
                (false, _) => 0,
                (true, 1) => 1,
                (true, _) => mask,
            }),
        }
    }
}

/// The nearest float of that size, ties to even; the canonical NaN for NaN.
fn encode_float(v: f64, bits: u8) -> Result<u64, String> {
    let fits = |finite: bool, zero: bool| {
        if v.is_finite() && (!finite || (zero && v != 0.0)) {
            return Err(format!("no float of {bits} bits is near it"));
        }
        Ok(())
    };
    match bits {
        64 => Ok(if v.is_nan() { 0x7ff8_0000_0000_0000 } else { v.to_bits() }),
        32 => {
            let f = v as f32;
            fits(f.is_finite(), f == 0.0)?;
            Ok(u64::from(if v.is_nan() { 0x7fc0_0000 } else { f.to_bits() }))
        }
        16 => {
            let h = half(v);
            fits(h & 0x7c00 != 0x7c00, h & 0x7fff == 0)?;
            Ok(u64::from(h))
        }
        _ => Err(format!("there are no floats of {bits} bits")),
    }
}

/// Rounds to binary16, ties to even.
fn half(v: f64) -> u16 {
    let bits = v.to_bits();
    let sign = ((bits >> 48) & 0x8000) as u16;
    if v.is_nan() {
        return 0x7e00;
    }
    let magnitude = v.abs();
    if magnitude >= 65520.0 {
        return sign | 0x7c00;
    }
    // Scaling by a power of two is exact, and so is the addition that rounds at the unit of the target.
    let exponent = ((bits >> 52) & 0x7ff) as i32 - 1023;
    let unit = (exponent - 10).max(-24);
    let scaled = magnitude / f64::from_bits(((1023 + unit) as u64) << 52);
    let rounded = scaled.round_ties_even() as u32;
    // A carry out of the significand moves the exponent by itself.
    let biased = if unit == -24 { rounded } else { rounded + (((unit + 24) as u32) << 10) };
    sign | biased as u16
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::expr::Base;

    #[test]
    fn literals_fit_or_say_why() {
        let int = Literal::Int(-32);
        assert_eq!(int.encode(Base::Int, 8), Ok(0xe0));
        assert_eq!(Literal::Hex(0x00ff_0000).encode(Base::Uint, 32), Ok(0x00ff_0000));
        assert!(Literal::Hex(0x00ff_0000).encode(Base::Uint, 16).is_err());
        assert_eq!(Literal::Int(255).encode(Base::Int, 8), Ok(255));
        assert!(Literal::Int(256).encode(Base::Int, 8).is_err());
        assert!(Literal::Int(1).encode(Base::Float, 32).is_err());
        assert_eq!(Literal::Bool(true).encode(Base::Bool, 16), Ok(0xffff));
        assert_eq!(Literal::Bool(true).encode(Base::Bool, 1), Ok(1));
    }

    #[test]
    fn floats_round_to_nearest_even() {
        let half = |v: f64| Literal::Float(v.to_bits()).encode(Base::Float, 16);
        assert_eq!(half(1.0), Ok(0x3c00));
        assert_eq!(half(-0.0), Ok(0x8000));
        assert_eq!(half(2.0), Ok(0x4000));
        assert_eq!(half(65504.0), Ok(0x7bff));
        assert_eq!(half(0.1), Ok(0x2e66));
        assert_eq!(half(f64::exp2(-24.0)), Ok(1));
        assert_eq!(half(f64::exp2(-14.0)), Ok(0x0400));
        assert_eq!(half(2049.0), Ok(0x6800), "a tie goes to the even neighbour");
        assert_eq!(half(2051.0), Ok(0x6802));
        assert_eq!(half(f64::INFINITY), Ok(0x7c00));
        assert!(half(1e9).is_err());
        assert!(half(1e-9).is_err());
        assert_eq!(Literal::Float(0.5f64.to_bits()).encode(Base::Float, 32), Ok(0x3f00_0000));
    }
}
