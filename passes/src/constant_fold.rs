//! `constant_fold`: computes ALU instructions on constants.
//!
//! The folder comes from the opcode table and follows the function's float environment; where the result is free
//! (choice, poison) it takes the first choice. Any form. Keeps the control flow. O(n).
//!
//! ```text
//! 32 %2 = iadd (3), (4)        32 %2 = load_const (7)
//! ```

use deburr_ir_core::{Cursor, Function, Instr, InstrInit, Shape, fold};

/// Folds constants in a function.
pub fn constant_fold(f: &mut Function) -> bool {
    let mut changed = false;
    let blocks: Vec<_> = f.blocks().collect();
    for block in blocks {
        let mut next = f.first_instr(block);
        while let Some(instr) = next {
            next = f.next_instr(instr);
            changed |= fold_instr(f, instr);
        }
    }
    changed
}

/// Replaces an ALU instruction on constants by its value.
fn fold_instr(f: &mut Function, instr: Instr) -> bool {
    let Some((shape, value)) = folded(f, instr) else { return false };
    let constant = f.create(InstrInit::LoadConst(&value[..usize::from(shape.comps())]), shape, &[]);
    f.insert(constant, Cursor::Before(instr));
    f.replace_all_uses(instr.def(), constant.def());
    f.remove(instr);
    true
}

/// The value of an ALU instruction whose operands are all constants.
pub(crate) fn folded(f: &Function, instr: Instr) -> Option<(Shape, [u64; 16])> {
    let info = f.alu_info(instr)?;
    let shape = f.shape(instr.def());
    let srcs = f.srcs(instr);
    if srcs.is_empty() || !srcs.iter().all(|s| f.constant(s.def()).is_some()) {
        return None;
    }
    let mut operands = smallvec::SmallVec::<[[u64; 16]; 4]>::new();
    for (n, src) in srcs.iter().enumerate() {
        let bits = f.constant(src.def())?;
        let mut operand = [0; 16];
        for (i, comp) in src.swizzle().iter(info.src_comps(n, shape.comps())).enumerate() {
            operand[i] = *bits.get(usize::from(comp))?;
        }
        operands.push(operand);
    }
    let width = info.unsized_width(shape.bits(), srcs.iter().map(|s| f.bits(s.def())));
    let slices: smallvec::SmallVec<[&[u64]; 4]> = operands.iter().map(|o| &o[..]).collect();
    let mut out = [0; 16];
    fold::fold_info(info, width, shape.comps(), &slices, &f.float_env, &mut out)?;
    Some((shape, out))
}
