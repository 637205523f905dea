//! Operations on constants, put to a solver: what a translation says of an operation is what the folder says.

use super::choices::Choices;
use super::eval::{Evaluator, Floats, Scalar, Value};
use super::steps::Detail;
use super::term::{Sort, Term, Terms};
use deburr_ir_core::FloatEnv;
use deburr_rulegen::expr::Base;
use deburr_rulegen::rules::ops::OpSig;

/// An operation on constants, and what it gives.
#[derive(Clone, Debug)]
pub struct Calculation {
    /// By operand and component.
    pub operands: Vec<Vec<u64>>,
    /// By component; `None` where the definition leaves it open.
    pub result: Vec<Option<u64>>,
}

/// A script that is satisfiable if one of these results is another by the solver's own arithmetic. `width` is the unsized
/// width of the operation. `None` where the operation is computed by a function that is unknown to the solver.
pub fn calculations(sig: &OpSig, width: u8, env: FloatEnv, list: &[Calculation]) -> Option<String> {
    let eval = sig.eval.as_ref()?;
    let mut t = Terms::default();
    let mut choices = Choices::new(1);
    let bits_of = |bits: u8| if bits == 0 { width } else { bits };
    let mut wrong = Vec::new();
    for calculation in list {
        let mut vars = Vec::new();
        for (values, ty) in calculation.operands.iter().zip(&sig.inputs) {
            let one = |v: &u64| {
                let w = u32::from(bits_of(ty.bits));
                match ty.base {
                    Base::Bool => t.truth(*v != 0),
                    Base::Int | Base::Uint | Base::Float => t.bits(w, *v),
                }
            };
            let value: Value = values.iter().map(one).map(Scalar::plain).collect();
            vars.push(Some(value));
        }
        let floats = Floats::Folded(env);
        let owner = (usize::MAX, 0);
        let value = Evaluator {
            t: &mut t,
            choices: &mut choices,
            floats,
            detail: Detail::Calculated,
            owner,
            width,
            vars,
        }
        .eval(eval);
        for (scalar, expected) in value.iter().zip(&calculation.result) {
            let Some(expected) = expected else { continue };
            let expected: Term = match t.sort(scalar.bits) {
                Sort::Bool => t.truth(*expected != 0),
                _ => t.bits(t.width(scalar.bits), *expected),
            };
            let same = t.equal(scalar.bits, expected);
            wrong.push(t.not(same));
        }
    }
    if t.has_unknown() {
        return None;
    }
    let goal = t.some(&wrong);
    Some(t.script(goal))
}
