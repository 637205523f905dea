//! Mutants of the opcodes' definitions: would the oracle notice?
//!
//! A mutant is a definition with one change that a slip of the pen could make. It is killed if the comparison with the
//! oracle finds a difference at one of the opcode's widths. One that survives is excused only where it was shown to give
//! what the original gives for every input.

pub mod evaluate;
pub mod local;
mod quirks;
pub mod tree;

use crate::oracle::grid::Random;
use deburr_rulegen::expr::{
    Base, BinaryOp, Const, Expr, ExprKind, Prim, Reduction, Ty, UnaryOp, Width,
};
use deburr_rulegen::tables::OpDef;
use evaluate::Quirk;

/// A changed definition.
#[derive(Clone, Debug)]
pub struct Mutant {
    /// The tree.
    pub tree: Expr,
    /// The number, in the order of [`Expr::walk`], of the changed node.
    pub number: usize,
    /// The number of a node that is evaluated oddly.
    pub quirk: Option<(usize, Quirk)>,
    /// What was changed, in words.
    pub what: String,
}

/// Every change at one node, as replacements of it. `sizes` are the widths that `BITS` stands for.
fn changes(node: &Expr, sizes: &[u8]) -> Vec<(Expr, String)> {
    let mut all = Vec::new();
    let mut put =
        |kind: ExprKind, what: &str| all.push((Expr { kind, ..node.clone() }, what.to_string()));
    match &node.kind {
        ExprKind::Int(value) => {
            put(ExprKind::Int(value.wrapping_add(1) & mask(node.ty)), "constant + 1");
            put(ExprKind::Int(value.wrapping_sub(1) & mask(node.ty)), "constant - 1");
        }
        ExprKind::Float(value) => {
            put(ExprKind::Float(value + 1.0), "constant + 1");
            put(ExprKind::Float(-value), "constant negated");
        }
        ExprKind::Bool(value) => put(ExprKind::Bool(!value), "constant negated"),
        ExprKind::Const(constant) => {
            let other = match constant {
                Const::Bits => None,
                Const::IntMin => Some(Const::IntMax),
                Const::IntMax => Some(Const::IntMin),
                Const::UintMax => Some(Const::IntMax).filter(|_| node.ty.base == Base::Int),
                Const::Nan => Some(Const::Inf),
                Const::Inf => Some(Const::Nan),
            };
            if let Some(other) = other {
                put(ExprKind::Const(other), "another named constant");
            }
        }
        ExprKind::Unary(op, a) => {
            let what = if *op == UnaryOp::Neg { "negation dropped" } else { "complement dropped" };
            put(a.kind.clone(), what);
        }
        ExprKind::Binary(op, a, b) => binary_changes(*op, a, b, &mut put),
        ExprKind::If { condition, then, otherwise } => {
            put(then.kind.clone(), "condition ignored: always then");
            put(otherwise.kind.clone(), "condition ignored: always else");
            let swapped = ExprKind::If {
                condition: condition.clone(),
                then: otherwise.clone(),
                otherwise: then.clone(),
            };
            put(swapped, "arms swapped");
        }
        ExprKind::Cast(a) => cast_changes(node.ty, a, sizes, &mut put),
        ExprKind::FloatToInt { value, saturating } => {
            put(
                ExprKind::FloatToInt { value: value.clone(), saturating: !saturating },
                "saturation toggled",
            );
        }
        ExprKind::Call(prim, operands) => call_changes(*prim, operands, &mut put),
        ExprKind::Vector(items) if items.len() > 1 => {
            let mut swapped = items.clone();
            swapped.swap(0, 1);
            put(ExprKind::Vector(swapped), "components swapped");
        }
        ExprKind::Component(a, index) if a.ty.comps > 1 => {
            put(ExprKind::Component(a.clone(), (index + 1) % a.ty.comps), "another component");
        }
        ExprKind::Reduce(Reduction::All, a) => {
            put(ExprKind::Reduce(Reduction::Some, a.clone()), "all for some")
        }
        ExprKind::Reduce(Reduction::Some, a) => {
            put(ExprKind::Reduce(Reduction::All, a.clone()), "some for all")
        }
        ExprKind::Choose(a, b) => {
            put(ExprKind::Choose(b.clone(), a.clone()), "the other first choice");
            put(a.kind.clone(), "no choice");
        }
        ExprKind::Any if node.ty.base != Base::Bool && node.ty.comps == 1 => {
            let zero =
                if node.ty.base == Base::Float { ExprKind::Float(0.0) } else { ExprKind::Int(0) };
            put(zero, "zero for any value");
        }
        ExprKind::Var { .. }
        | ExprKind::Let { .. }
        | ExprKind::Vector(_)
        | ExprKind::Component(..)
        | ExprKind::Splat(_)
        | ExprKind::Reduce(Reduction::Sum, _)
        | ExprKind::Any
        | ExprKind::Poison => {}
    }
    all
}

/// The bits that a literal of this type may have at every width.
fn mask(ty: Ty) -> u64 {
    match ty.width {
        Width::Fixed(n) => u64::MAX >> (64 - n),
        Width::Bits => u64::MAX,
    }
}

type Put<'a> = &'a mut dyn FnMut(ExprKind, &str);

fn binary_changes(op: BinaryOp, a: &Expr, b: &Expr, put: Put) {
    use BinaryOp::*;
    let float = a.ty.base == Base::Float;
    let others: &[BinaryOp] = match op {
        Add => &[Sub],
        Sub => &[Add],
        Mul => &[Add],
        Div if float => &[Mul],
        Div => &[Rem, Mul],
        Rem => &[Div],
        And => &[Or, Xor],
        Or => &[And],
        Xor => &[Or],
        Shl => &[Shr],
        Shr => &[Shl],
        Eq => &[Ne],
        Ne => &[Eq],
        Lt => &[Le, Gt],
        Le => &[Lt, Ge],
        Gt => &[Ge, Lt],
        Ge => &[Gt, Le],
        AndAlso => &[OrElse],
        OrElse => &[AndAlso],
    };
    // Left or right, a shift by nothing is none.
    let nothing = op.is_shift() && b.kind == ExprKind::Int(0);
    for &other in others.iter().filter(|_| !nothing) {
        put(
            ExprKind::Binary(other, Box::new(a.clone()), Box::new(b.clone())),
            &format!("{} for {}", other.symbol(), op.symbol()),
        );
    }
    // Compares swapped are in the list above already; the rest would be the same.
    if matches!(op, Sub | Div | Rem) || (op.is_shift() && a.ty == b.ty) {
        let swapped = ExprKind::Binary(op, Box::new(b.clone()), Box::new(a.clone()));
        put(swapped, &format!("operands of {} swapped", op.symbol()));
    }
}

/// The same value through a type of the other sign or of fewer bits.
fn cast_changes(to: Ty, a: &Expr, sizes: &[u8], put: Put) {
    let through = |ty: Ty| {
        let inner = Expr { kind: ExprKind::Cast(Box::new(a.clone())), ty, span: a.span };
        ExprKind::Cast(Box::new(inner))
    };
    let other = match a.ty.base {
        Base::Int => Base::Uint,
        Base::Uint => Base::Int,
        _ => return,
    };
    let width = |ty: Ty, bits: u8| match ty.width {
        Width::Fixed(n) => n,
        Width::Bits => bits,
    };
    let extends = |&bits: &u8| width(a.ty, bits) < width(to, bits) || to.base == Base::Float;
    // Without an extension at any width the sign says nothing.
    if sizes.iter().any(extends) || (sizes.is_empty() && extends(&0)) {
        put(through(Ty { base: other, ..a.ty }), "extension by the other sign");
    }
    if let (Width::Fixed(n), Width::Fixed(m)) = (a.ty.width, to.width) {
        let narrow = n.min(m) / 2;
        if narrow >= 8 {
            put(through(Ty { width: Width::Fixed(narrow), ..a.ty }), "half the width");
        }
    }
}

fn call_changes(prim: Prim, operands: &[Expr], put: Put) {
    let others: &[Prim] = match prim {
        Prim::RoundEven => &[Prim::Trunc, Prim::Floor],
        Prim::Trunc => &[Prim::RoundEven, Prim::Floor],
        Prim::Floor => &[Prim::Ceil, Prim::Trunc],
        Prim::Ceil => &[Prim::Floor],
        Prim::Exp2 => &[Prim::Exp],
        Prim::Log2 => &[Prim::Log],
        Prim::Exp => &[Prim::Exp2],
        Prim::Log => &[Prim::Log2],
        Prim::Sin => &[Prim::Cos],
        Prim::Cos => &[Prim::Sin],
        Prim::Tan => &[Prim::Atan],
        Prim::Asin => &[Prim::Acos],
        Prim::Acos => &[Prim::Asin],
        Prim::Atan => &[Prim::Tan],
        Prim::Sinh => &[Prim::Asinh],
        Prim::Cosh => &[Prim::Sinh],
        Prim::Tanh => &[Prim::Atan],
        Prim::Asinh => &[Prim::Sinh],
        Prim::Acosh => &[Prim::Asinh],
        Prim::Atanh => &[Prim::Tanh],
        Prim::Sqrt => &[Prim::Rsqrt],
        Prim::Rsqrt => &[Prim::Sqrt],
        Prim::RoundToF16Rtne => &[Prim::RoundToF16Rtz],
        Prim::RoundToF16Rtz => &[Prim::RoundToF16Rtne],
        Prim::IsNan => &[Prim::IsInf],
        Prim::IsInf => &[Prim::IsNan],
        Prim::IsFinite => &[Prim::IsNormal],
        Prim::IsNormal => &[Prim::IsFinite],
        Prim::Min => &[Prim::Max],
        Prim::Max => &[Prim::Min],
        Prim::AddSat => &[Prim::SubSat],
        Prim::SubSat => &[Prim::AddSat],
        Prim::CountOnes => &[Prim::LeadingZeros],
        Prim::LeadingZeros => &[Prim::TrailingZeros],
        Prim::TrailingZeros => &[Prim::LeadingZeros],
        Prim::Ilog2 => &[Prim::CountOnes],
        _ => &[],
    };
    for other in others {
        put(ExprKind::Call(*other, operands.to_vec()), &format!("{other} for {prim}"));
    }
    match (prim, operands) {
        (Prim::Fma, [a, b, c]) => {
            let product = ExprKind::Binary(BinaryOp::Mul, Box::new(a.clone()), Box::new(b.clone()));
            let product = Expr { kind: product, ty: a.ty, span: a.span };
            put(
                ExprKind::Binary(BinaryOp::Add, Box::new(product), Box::new(c.clone())),
                "rounded twice",
            );
        }
        (Prim::Pow | Prim::Atan2 | Prim::CopySign | Prim::SubSat, [a, b]) => {
            put(
                ExprKind::Call(prim, vec![b.clone(), a.clone()]),
                &format!("operands of {prim} swapped"),
            );
        }
        (Prim::MulHigh, [a, b]) => {
            let low = ExprKind::Binary(BinaryOp::Mul, Box::new(a.clone()), Box::new(b.clone()));
            put(low, "the low half");
        }
        (
            Prim::Canonicalize
            | Prim::QuantizeF16
            | Prim::Abs
            | Prim::ReverseBits
            | Prim::Significand,
            [a],
        ) => {
            put(a.kind.clone(), &format!("{prim} dropped"));
        }
        _ => {}
    }
}

/// Every mutant of a tree. `sizes` are the widths that `BITS` stands for. Where the oracle only bounds the result, how a
/// node rounds and flushes can't be told from it: `quirky` is false there.
pub fn mutants(tree: &Expr, sizes: &[u8], quirky: bool) -> Vec<Mutant> {
    let mut nodes = Vec::new();
    tree.walk(&mut |node| nodes.push(node));
    let (signless, squared) = (signless_zeros(&nodes), squared(&nodes));
    let places = quirks::Places::of(tree);
    let mut all = Vec::new();
    for (number, node) in nodes.iter().enumerate() {
        for (replacement, what) in changes(node, sizes) {
            let negated = matches!(replacement.kind, ExprKind::Float(v) if v.to_bits() == (-0.0f64).to_bits());
            let swapped = matches!(&replacement.kind, ExprKind::Binary(BinaryOp::Sub, a, _)
                if matches!(&node.kind, ExprKind::Binary(BinaryOp::Sub, _, b) if a == b));
            let invisible = |list: &[&Expr]| list.iter().any(|n| std::ptr::eq(*n, *node));
            if (negated && invisible(&signless)) || (swapped && invisible(&squared)) {
                continue;
            }
            let what = format!("{what}: {node}");
            let tree = replaced(tree, number, &replacement);
            all.push(Mutant { tree, number, quirk: None, what });
        }
        if quirky {
            for quirk in quirks::of(node, &places) {
                let what = format!("{quirk:?}: {node}");
                let quirk = Some((number, quirk));
                all.push(Mutant { tree: tree.clone(), number, quirk, what });
            }
        }
    }
    all
}

/// Values of float variables that are only ever squared: their sign makes no difference.
fn squared<'a>(nodes: &[&'a Expr]) -> Vec<&'a Expr> {
    let is =
        |expr: &Expr, wanted: u32| matches!(expr.kind, ExprKind::Var { id, .. } if id == wanted);
    let mut values = Vec::new();
    for node in nodes {
        let ExprKind::Let { id, value, .. } = &node.kind else { continue };
        let uses = nodes.iter().filter(|n| is(n, *id)).count();
        let square = |n: &&&Expr| match &n.kind {
            ExprKind::Binary(BinaryOp::Mul, a, b) => is(a, *id) && is(b, *id),
            _ => false,
        };
        if value.ty.base == Base::Float && uses == 2 * nodes.iter().filter(square).count() {
            values.push(&**value);
        }
    }
    values
}

/// Zeros that are only compared with: their sign makes no difference.
fn signless_zeros<'a>(nodes: &[&'a Expr]) -> Vec<&'a Expr> {
    let mut zeros = Vec::new();
    for node in nodes {
        if let ExprKind::Binary(op, a, b) = &node.kind
            && op.is_compare()
        {
            for operand in [a, b] {
                let bare = quirks::unrepeated(operand);
                if matches!(bare.kind, ExprKind::Float(v) if v == 0.0) {
                    zeros.push(bare);
                }
            }
        }
    }
    zeros
}

/// The tree with node `number` exchanged.
fn replaced(tree: &Expr, number: usize, replacement: &Expr) -> Expr {
    let mut copy = tree.clone();
    let mut at = 0;
    let mut stack = vec![&mut copy];
    while let Some(node) = stack.pop() {
        if at == number {
            *node = replacement.clone();
            break;
        }
        at += 1;
        stack.extend(node.children_mut().into_iter().rev());
    }
    copy
}

/// Whether node `number` only says what the second choice of a `choose` is. An evaluation takes the first one and notes
/// that there is another: it can't show that the other is the same.
pub fn in_second_choice(tree: &Expr, number: usize) -> bool {
    let (mut at, mut found) = (0, false);
    tree.walk(&mut |node| {
        if let ExprKind::Choose(first, second) = &node.kind {
            let start = at + 1 + first.size();
            found |= (start..start + second.size()).contains(&number);
        }
        at += 1;
    });
    found
}

/// Node `number` of a tree, in the order of [`Expr::walk`].
pub fn node(tree: &Expr, number: usize) -> Option<&Expr> {
    let mut found = None;
    let mut at = 0;
    tree.walk(&mut |node| {
        if at == number {
            found = Some(node);
        }
        at += 1;
    });
    found
}

/// A definition to make mutants of.
#[derive(Clone, Copy)]
pub struct Definition<'a> {
    /// The opcode.
    pub op: &'a OpDef,
    /// Its tree.
    pub tree: &'a Expr,
    /// Whether the oracle gives the result and not only bounds of it.
    pub exact: bool,
}

/// `count` mutants of the given definitions: a definition at random, then one of its mutants, none twice.
pub fn sample<'a>(
    definitions: &[Definition<'a>],
    count: usize,
    seed: u64,
) -> Vec<(Definition<'a>, Mutant)> {
    let mut random = Random(seed);
    let lists: Vec<(Definition, Vec<Mutant>)> = definitions
        .iter()
        .map(|d| (*d, mutants(d.tree, &d.op.sizes, d.exact)))
        .filter(|(_, list)| !list.is_empty())
        .collect();
    let total: usize = lists.iter().map(|(_, list)| list.len()).sum();
    let mut taken = std::collections::BTreeSet::new();
    let mut all = Vec::new();
    while all.len() < count.min(total) {
        let of = random.below(lists.len());
        let which = random.below(lists[of].1.len());
        if taken.insert((of, which)) {
            all.push((lists[of].0, lists[of].1[which].clone()));
        }
    }
    all
}
