//! Folding `OpSpecConstantOp` whose operands are all fixed.

use super::alu::fits;
use super::tables::{AluForm, tables};
use deburr_ir_core::fold::fold_info;
use deburr_ir_core::{Constant, FloatEnv, Shape, SpecArg, Type, TypeTable};
use rspirv::spirv::Op;

/// The value of an instruction on constants, if its opcode folds.
pub(super) fn fold_op(types: &TypeTable, op: Op, ty: Type, args: &[SpecArg]) -> Option<Constant> {
    let (comps, bits) = types.value_shape(ty)?;
    let shape = Shape::new(comps, bits)?;
    if op == Op::CompositeExtract {
        return match args {
            [SpecArg::Constant(_, Constant::Bits(values)), SpecArg::Literal(n)] => {
                Some(Constant::Bits(vec![*values.get(*n as usize)?]))
            }
            _ => None,
        };
    }
    let mut values = Vec::new();
    let mut shapes = Vec::new();
    for arg in args {
        let SpecArg::Constant(ty, constant) = arg else { return None };
        let (comps, bits) = types.value_shape(*ty)?;
        shapes.push(Shape::new(comps, bits)?);
        values.push(match constant {
            Constant::Bits(values) => values.clone(),
            Constant::Null => vec![0; comps.into()],
            _ => return None,
        });
    }
    tables().alu(op).iter().find_map(|form| {
        let order: Vec<usize> = match form.form.args {
            [] => (0..values.len()).collect(),
            args => args.iter().map(|&a| usize::from(a)).collect(),
        };
        let mut by_src = vec![0; values.len()];
        for (operand, &src) in order.iter().enumerate() {
            *by_src.get_mut(src)? = operand;
        }
        let shapes: Vec<Shape> = by_src.iter().map(|&n| shapes[n]).collect();
        if !fits(form, shape, &shapes, true) {
            return None;
        }
        let srcs: Vec<&[u64]> = by_src.iter().map(|&n| values[n].as_slice()).collect();
        evaluate(form, shape, &shapes, &srcs)
    })
}

fn evaluate(form: &AluForm, shape: Shape, shapes: &[Shape], srcs: &[&[u64]]) -> Option<Constant> {
    let info = form.info;
    let width = info.unsized_width(shape.bits(), shapes.iter().map(|s| s.bits()));
    // Scalars among vectors are splat.
    let splat: Vec<Vec<u64>> = info
        .inputs
        .iter()
        .zip(srcs)
        .map(|(ty, src)| match ty.comps == 0 && src.len() == 1 {
            true => vec![src[0]; shape.comps().into()],
            false => src.to_vec(),
        })
        .collect();
    let srcs: Vec<&[u64]> = splat.iter().map(Vec::as_slice).collect();
    let mut out = [0; 16];
    fold_info(info, width, shape.comps(), &srcs, &FloatEnv::default(), &mut out)?;
    Some(Constant::Bits(out[..shape.comps().into()].to_vec()))
}
