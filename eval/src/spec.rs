//! Values of specialisation constants, and the workgroup size.

use crate::Trap;
use deburr_ir_core::{
    ALU_INFO, AluInfo, Constant, EntryPoint, FloatEnv, ModeArg, Module, SpecArg, SpecConst,
    SpecValue, Type, fold::fold_info,
};

/// A constant's components, flattened in order.
pub(crate) type Flat = Vec<u64>;

/// The value of every specialisation constant, with some replaced by `SpecId`.
pub(crate) fn values(m: &Module, replaced: &[(u32, u64)]) -> Result<Vec<Flat>, Trap> {
    let mut values: Vec<Flat> = Vec::new();
    // Each stands behind those it is made of.
    for spec in &m.spec_consts {
        let value = match &spec.value {
            SpecValue::Scalar { id, default } => {
                let given = id.and_then(|id| replaced.iter().find(|(i, _)| *i == id));
                vec![given.map_or(*default, |(_, v)| *v)]
            }
            SpecValue::Composite(parts) => parts.iter().flat_map(|p| flat(p, &values, 1)).collect(),
            SpecValue::Op { opcode, args } => computed(m, spec.ty, opcode, args, &values)?,
        };
        values.push(value);
    }
    Ok(values)
}

/// A constant's components; `comps` tells how many a null has.
fn flat(constant: &Constant, specs: &[Flat], comps: usize) -> Flat {
    let mut out = Vec::new();
    let mut work = vec![constant];
    while let Some(constant) = work.pop() {
        match constant {
            Constant::Bits(bits) => out.extend(bits),
            Constant::Composite(parts) => work.extend(parts.iter().rev()),
            Constant::Null | Constant::Undef | Constant::Address(_) => {
                out.extend(std::iter::repeat_n(0, comps))
            }
            Constant::Spec(spec) => out.extend(specs.get(spec.index()).into_iter().flatten()),
        }
    }
    out
}

fn computed(
    m: &Module,
    ty: Type,
    opcode: &str,
    args: &[SpecArg],
    specs: &[Flat],
) -> Result<Flat, Trap> {
    let unknown = || Trap::Unsupported(format!("the constant operation `{opcode}`"));
    let (comps, bits) = m.types.value_shape(ty).ok_or_else(unknown)?;
    let mut operands: Vec<(Flat, u8)> = Vec::new();
    let mut literals = Vec::new();
    for arg in args {
        match arg {
            SpecArg::Constant(ty, constant) => {
                let (comps, bits) = m.types.value_shape(*ty).unwrap_or((1, 32));
                operands.push((flat(constant, specs, comps.into()), bits));
            }
            SpecArg::Literal(literal) => literals.push(*literal as usize),
        }
    }
    match (opcode, &operands[..]) {
        ("CompositeExtract", [(value, _)]) => {
            return literals
                .first()
                .and_then(|&i| value.get(i))
                .map(|&v| vec![v])
                .ok_or_else(unknown);
        }
        ("VectorShuffle", [(a, _), (b, _)]) => {
            let lane = |&i: &usize| a.iter().chain(b).nth(i).copied().unwrap_or(0);
            return Ok(literals.iter().map(lane).collect());
        }
        ("CompositeInsert", [(object, _), (composite, _)]) => {
            let mut value = composite.clone();
            if let (Some(&at), Some(&v)) = (literals.first(), object.first())
                && let Some(slot) = value.get_mut(at)
            {
                *slot = v;
            }
            return Ok(value);
        }
        _ => {}
    }
    // The same tables that the code's operations are read by.
    let by_form = |info: &&AluInfo| {
        info.spirv.iter().any(|form| {
            let width = info.unsized_width(bits, operands.iter().map(|(_, b)| *b));
            !form.ext
                && form.name == opcode
                && (form.sizes.is_empty() || form.sizes.contains(&width))
                && (info.output.bits == 0 || info.output.bits == bits)
        })
    };
    let info = ALU_INFO.iter().find(by_form).ok_or_else(unknown)?;
    let form = info.spirv.iter().find(|f| f.name == opcode).ok_or_else(unknown)?;
    let mut ordered: Vec<&[u64]> = operands.iter().map(|(v, _)| &v[..]).collect();
    if !form.args.is_empty() {
        // args[i] is the operand of the opcode that stands i-th in the instruction.
        for (i, &n) in form.args.iter().enumerate() {
            if let (Some(slot), Some((value, _))) =
                (ordered.get_mut(usize::from(n)), operands.get(i))
            {
                *slot = value;
            }
        }
    }
    let width = info.unsized_width(bits, operands.iter().map(|(_, b)| *b));
    let mut out = [0; 16];
    let enough =
        ordered.iter().all(|v| v.len() >= usize::from(comps)) && ordered.len() == info.inputs.len();
    if !enough || fold_info(info, width, comps, &ordered, &FloatEnv::default(), &mut out).is_none()
    {
        return Err(unknown());
    }
    Ok(out[..usize::from(comps)].to_vec())
}

/// The workgroup size of a compute entry point: the built-in constant if there is one, else the execution mode.
pub fn workgroup_size(
    m: &Module,
    entry: &EntryPoint,
    specs: &[(u32, u64)],
) -> Result<[u32; 3], Trap> {
    let values = values(m, specs)?;
    let builtin = m.spec_consts.iter().position(|s| {
        s.decorations.iter().any(|d| d.name == "BuiltIn" && d.args.first() == Some(&25))
    });
    if let Some([x, y, z]) = builtin.map(|n| &values[n][..]) {
        return Ok([*x as u32, *y as u32, *z as u32]);
    }
    let mode =
        entry.modes.iter().find(|mode| mode.name == "LocalSize" || mode.name == "LocalSizeId");
    let Some(mode) = mode else { return Ok([1; 3]) };
    let arg = |n: usize| match mode.args.get(n) {
        Some(ModeArg::Literal(v)) => *v,
        Some(ModeArg::Spec(spec)) => spec_scalar(&values, *spec),
        None => 1,
    };
    Ok([arg(0), arg(1), arg(2)])
}

fn spec_scalar(values: &[Flat], spec: SpecConst) -> u32 {
    values.get(spec.index()).and_then(|v| v.first()).map_or(1, |&v| v as u32)
}
