//! What a function without branches computes, by the folder, before and after rewriting.

use deburr_fuzz::Rng;
use deburr_ir_core::fold::{Shadow, fold_shadowed};
use deburr_ir_core::{Def, Denorm, Function, Instr, InstrKind, InstrView, Rounding};
use std::collections::HashMap;

/// Components of every value.
type Values = HashMap<Def, (Vec<u64>, Shadow)>;

/// What the function stores for these values of its undefs, in order.
fn evaluate(f: &Function, inputs: &HashMap<Def, Vec<u64>>) -> Option<Vec<(Vec<u64>, Shadow)>> {
    let mut values: Values = HashMap::new();
    let mut stored = Vec::new();
    for instr in f.all_instrs() {
        let value = match f.view(instr) {
            InstrView::LoadConst(v) => (v.to_vec(), Shadow::CLEAN),
            InstrView::Undef => (inputs.get(&instr.def())?.clone(), Shadow::CLEAN),
            InstrView::Alu(_) => alu(f, instr, &values)?,
            InstrView::Intrinsic(..) => {
                stored.push(values.get(&f.src(instr, 0))?.clone());
                continue;
            }
            _ => continue,
        };
        values.insert(instr.def(), value);
    }
    Some(stored)
}

/// The value of an ALU instruction; `None` where nothing folds it.
fn alu(f: &Function, instr: Instr, values: &Values) -> Option<(Vec<u64>, Shadow)> {
    let (op, info) = (f.alu_op(instr)?, f.alu_info(instr)?);
    let mut operands: Vec<(Vec<u64>, Shadow)> = Vec::new();
    for n in 0..f.srcs(instr).len() {
        let (all, shadow) = values.get(&f.src(instr, n))?;
        let (mut v, mut s) = (Vec::new(), Shadow::CLEAN);
        for (i, c) in f.swizzle(instr, n).iter(f.src_comps(instr, n)).enumerate() {
            v.push(*all.get(usize::from(c))?);
            s.free |= (shadow.free >> c & 1) << i;
            s.nan |= (shadow.nan >> c & 1) << i;
        }
        operands.push((v, s));
    }
    let srcs: Vec<(&[u64], Shadow)> = operands.iter().map(|(v, s)| (v.as_slice(), *s)).collect();
    let (bits, comps) = (f.bits(instr.def()), f.comps(instr.def()));
    let width = info.unsized_width(bits, f.srcs(instr).iter().map(|s| f.bits(s.def())));
    let mut out = [0; 16];
    let shadow = fold_shadowed(op, info, (width, comps), &srcs, &f.float_env, &mut out)?;
    Some((out[..usize::from(comps)].to_vec(), shadow))
}

/// Compares what both functions store for a few inputs, where nothing is free in either; gives the number of components
/// compared.
///
/// # Errors
/// The first that differs.
pub fn compare(before: &Function, after: &Function, rng: &mut Rng) -> Result<u64, String> {
    // Licences and promises allow results that differ.
    let alu = |f: &Function, i: &Instr| f.kind(*i) == InstrKind::Alu;
    let licensed = before.all_instrs().any(|i| alu(before, &i) && !before.flags(i).is_empty());
    let env = before.float_env;
    if licensed || env.rounding.contains(&Rounding::Any) || env.denorm.contains(&Denorm::Any) {
        return Ok(0);
    }
    let mut compared = 0;
    for _ in 0..3 {
        let mut inputs = HashMap::new();
        for instr in before.all_instrs().filter(|i| matches!(before.view(*i), InstrView::Undef)) {
            let def = instr.def();
            let mask = super::mask(before.bits(def));
            let value = |rng: &mut Rng| match rng.below(3) {
                0 => rng.below(5) as u64,
                1 => !(rng.below(5) as u64),
                _ => rng.edge(before.bits(def)),
            };
            let values: Vec<u64> = (0..before.comps(def)).map(|_| value(rng) & mask).collect();
            inputs.insert(def, values);
        }
        let (Some(x), Some(y)) = (evaluate(before, &inputs), evaluate(after, &inputs)) else {
            return Ok(compared);
        };
        for ((a, s), (b, t)) in x.iter().zip(&y) {
            for i in 0..a.len() {
                let free = (s.free | s.nan | t.free | t.nan) >> i & 1 != 0;
                if !free && a[i] != b[i] {
                    return Err(format!(
                        "component {i} is {:#x} before and {:#x} after for {inputs:x?}:\n{before}\n{after}",
                        a[i], b[i]
                    ));
                }
                compared += u64::from(!free);
            }
        }
    }
    Ok(compared)
}
