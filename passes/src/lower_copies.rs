//! `lower_copies`: `copy_deref` becomes loads and stores of the leaves.
//!
//! Each leaf (vector or scalar) of the type that both sides have is loaded from one and stored to the other, through
//! constant struct and array steps. Copies of types with more than 64 leaves, of runtime or
//! specialisation-constant length, or between different types stay. Logical form. Keeps the control flow.
//! O(leaves copied).
//!
//! ```text
//! @copy_deref &a, &b        32 %1 = @load_deref &b.x
//!                           @store_deref &a.x, %1 …
//! ```

use crate::mem;
use deburr_ir_core::{
    Builder, Cursor, Def, DerefKind, Function, Index, Instr, Intrinsic, TypeTable,
};

/// Splits the aggregate copies of a function.
pub fn lower_copies(f: &mut Function, types: &TypeTable) -> bool {
    let copies: Vec<Instr> =
        f.all_instrs().filter(|&i| f.intrinsic(i) == Some(Intrinsic::COPY_DEREF)).collect();
    copies.into_iter().fold(false, |changed, copy| split(f, types, copy) | changed)
}

fn split(f: &mut Function, types: &TypeTable, copy: Instr) -> bool {
    let (dst, src) = (f.src(copy, 0), f.src(copy, 1));
    let (Some(to), Some(from)) = (f.deref(dst.instr()), f.deref(src.instr())) else { return false };
    let wildcard = |d: &deburr_ir_core::DerefInfo| d.kind == DerefKind::Wildcard;
    if wildcard(to) || wildcard(from) {
        return false;
    }
    let (to_ty, from_ty) = (to.ty, from.ty);
    let (Some(to), Some(from)) = (mem::leaves(types, to_ty), mem::leaves(types, from_ty)) else {
        return false;
    };
    let same = to.len() == from.len()
        && to.iter().zip(&from).all(|(a, b)| a.path == b.path && a.shape == b.shape);
    if !same {
        return false;
    }
    let index = |index: Index| f.index(copy, index).unwrap_or(0);
    let (dst_access, src_access) = (index(Index::DST_ACCESS), index(Index::SRC_ACCESS));
    let (dst_align, src_align) = (index(Index::DST_ALIGN_MUL), index(Index::SRC_ALIGN_MUL));
    let scope = (Index::MEMORY_SCOPE, index(Index::MEMORY_SCOPE));
    let mut b = Builder::new(f, Cursor::Before(copy));
    // All loads come before all stores: the two sides may overlap.
    let values: Vec<Def> = from
        .iter()
        .map(|leaf| {
            let pointer = mem::descend(&mut b, types, src, from_ty, &leaf.path);
            let align = types.part_align(from_ty, &leaf.path, src_align);
            let indices = [(Index::ACCESS, src_access), (Index::ALIGN_MUL, align), scope];
            b.load_deref(leaf.shape.comps(), leaf.shape.bits(), pointer, &indices)
        })
        .collect();
    for (leaf, value) in to.iter().zip(values) {
        let pointer = mem::descend(&mut b, types, dst, to_ty, &leaf.path);
        let align = types.part_align(to_ty, &leaf.path, dst_align);
        let mask = (1u32 << leaf.shape.comps()) - 1;
        let access = [(Index::ACCESS, dst_access), (Index::ALIGN_MUL, align), scope];
        b.store_deref(pointer, value, &[&[(Index::WRITE_MASK, mask)], &access[..]].concat());
    }
    f.remove(copy);
    true
}
