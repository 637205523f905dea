//! Shows that a mutant is the original, by trying every input of the part around the change.
//!
//! If some subtree around the changed node gives the same for all values of the operand components that it reads, the
//! whole gives the same. A subtree that reads one component of 16 bits can be tried where the whole, with two or four
//! components, can't. A definition on floats of 32 bits is tried with 16 bits in their place.

use super::evaluate::{Evaluator, Quirk};
use super::tree::environment;
use super::{Mutant, node};
use crate::oracle;
use deburr_ir_core::fold::Cx;
use deburr_rulegen::expr::{Base, Expr, ExprKind, Width};
use deburr_rulegen::tables::OpDef;
use std::collections::BTreeSet;

/// At most so many bits of input are tried in every environment.
const LIMIT: u32 = 16;

/// The components of operands that an expression reads: operand and component.
type Leaves = BTreeSet<(usize, usize)>;

/// Whether the mutant gives what the original gives, at the opcode's smallest width.
pub fn equivalent(op: &OpDef, original: &Expr, mutant: &Mutant, envs: &[oracle::Env]) -> bool {
    let bits = op.sizes.first().copied().unwrap_or(0);
    let (before, after) = (narrowed(original), narrowed(&mutant.tree));
    let quirk = mutant.quirk.and_then(|(number, quirk)| Some((node(&after, number)?, quirk)));
    let mut around = surroundings(&before, mutant.number);
    // The smallest part first: it reads least.
    around.reverse();
    around.into_iter().any(|number| {
        let (Some(one), Some(other)) = (node(&before, number), node(&after, number)) else {
            return false;
        };
        let bindings = bindings(&before, number);
        let mut leaves = Leaves::new();
        collect(op, one, &bindings, &mut leaves);
        collect(op, other, &bindings, &mut leaves);
        let part = Part { op, bits, bindings, leaves };
        part.size().is_some_and(|size| size <= LIMIT) && part.same(one, other, quirk, envs)
    })
}

/// The tree with floats of 16 bits for those of 32.
fn narrowed(tree: &Expr) -> Expr {
    let mut copy = tree.clone();
    copy.walk_mut(&mut |expr| {
        if expr.ty.base == Base::Float && expr.ty.width == Width::Fixed(32) {
            expr.ty.width = Width::Fixed(16);
        }
    });
    copy
}

/// Numbers of the nodes around node `number`, from the root down to itself.
fn surroundings(tree: &Expr, number: usize) -> Vec<usize> {
    let mut all = Vec::new();
    let mut at = 0;
    tree.walk(&mut |node| {
        if at <= number && number < at + node.size() {
            all.push(at);
        }
        at += 1;
    });
    all
}

/// The `let`s whose variables may be used at node `number`, outermost first.
fn bindings(tree: &Expr, number: usize) -> Vec<(u32, &Expr)> {
    let mut all = Vec::new();
    for around in surroundings(tree, number) {
        if let Some(Expr { kind: ExprKind::Let { id, value, .. }, .. }) = node(tree, around)
            && number > around + value.size()
        {
            all.push((*id, &**value));
        }
    }
    all
}

fn collect(op: &OpDef, expr: &Expr, bindings: &[(u32, &Expr)], leaves: &mut Leaves) {
    let arity = op.sig.inputs.len();
    let mut stack = vec![expr];
    while let Some(expr) = stack.pop() {
        match &expr.kind {
            ExprKind::Var { id, .. } if (*id as usize) < arity => {
                leaves.extend((0..usize::from(expr.ty.comps)).map(|c| (*id as usize, c)));
            }
            ExprKind::Var { id, .. } => {
                stack.extend(
                    bindings.iter().filter(|(bound, _)| bound == id).map(|(_, value)| *value),
                );
            }
            ExprKind::Component(of, index) => match of.kind {
                ExprKind::Var { id, .. } if (id as usize) < arity => {
                    leaves.insert((id as usize, usize::from(*index)));
                }
                _ => stack.push(of),
            },
            _ => stack.extend(expr.children()),
        }
    }
}

/// A part of a definition and what it depends on.
struct Part<'a> {
    op: &'a OpDef,
    bits: u8,
    bindings: Vec<(u32, &'a Expr)>,
    leaves: Leaves,
}

impl Part<'_> {
    /// Bits of one component of an operand, after narrowing.
    fn width(&self, operand: usize) -> Option<u32> {
        let ty = self.op.sig.inputs.get(operand)?;
        Some(match (ty.base, ty.bits.unwrap_or(self.bits)) {
            (Base::Bool, _) => 1,
            (Base::Float, 32) => 16,
            (_, n) => n.into(),
        })
    }

    /// Bits of all that the part reads.
    fn size(&self) -> Option<u32> {
        self.leaves.iter().map(|leaf| self.width(leaf.0)).sum()
    }

    /// Whether two trees in this place give the same values and marks for every input, in every environment.
    fn same(
        &self,
        one: &Expr,
        other: &Expr,
        quirk: Option<(&Expr, Quirk)>,
        envs: &[oracle::Env],
    ) -> bool {
        let total = self.size().unwrap_or(LIMIT);
        (0..1u64 << total).all(|all| {
            let mut vars = vec![None; self.op.sig.inputs.len()];
            let mut rest = all;
            for &(operand, component) in &self.leaves {
                let width = self.width(operand).unwrap_or(0);
                let comps = usize::from(self.op.sig.inputs[operand].comps.unwrap_or(1));
                let value: &mut Vec<u64> = vars[operand].get_or_insert_with(|| vec![0; comps]);
                value[component] = rest & ((1 << width) - 1);
                rest >>= width;
            }
            envs.iter().all(|env| {
                let value = |tree, quirk| {
                    let mut cx = Cx { env: environment(env), free: false, nan: false };
                    let mut evaluator = Evaluator { bits: self.bits, vars: vars.clone(), quirk };
                    for &(id, value) in &self.bindings {
                        let bound = evaluator.eval(&mut cx, value);
                        evaluator.bind(id, bound);
                    }
                    (evaluator.eval(&mut cx, tree), cx.free, cx.nan)
                };
                value(one, None) == value(other, quirk)
            })
        })
    }
}
