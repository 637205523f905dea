//! `lower_copies`: `copy_deref` becomes loads and stores of the leaves.
//!
//! Each leaf (vector or scalar) of the type that both sides have is loaded from one and stored to the other, through
//! constant struct and array steps; wildcards become the indices that they stand for. Copies of more than 64 leaves, of
//! runtime or specialisation-constant length, or between different types stay. Logical form. Keeps the control flow.
//! O(leaves copied).
//!
//! ```text
//! @copy_deref &a, &b        32 %1 = @load_deref &b.x
//!                           @store_deref &a.x, %1 …
//! ```

use crate::mem;
use deburr_ir_core::{
    ArrayLen, Builder, Cursor, Def, DerefKind, Function, Index, Instr, Intrinsic, TypeData,
    TypeTable,
};

/// Splits the aggregate copies of a function.
pub fn lower_copies(f: &mut Function, types: &TypeTable) -> bool {
    let copies: Vec<Instr> =
        f.all_instrs().filter(|&i| f.intrinsic(i) == Some(Intrinsic::COPY_DEREF)).collect();
    copies.into_iter().fold(false, |changed, copy| split(f, types, copy) | changed)
}

fn split(f: &mut Function, types: &TypeTable, copy: Instr) -> bool {
    let (Some(dst), Some(src)) =
        (Side::new(f, types, f.src(copy, 0)), Side::new(f, types, f.src(copy, 1)))
    else {
        return false;
    };
    let ty = |d: Def| f.deref(d.instr()).map(|d| d.ty);
    let (Some(to_ty), Some(from_ty)) = (ty(dst.def), ty(src.def)) else { return false };
    let (Some(to), Some(from)) = (mem::leaves(types, to_ty), mem::leaves(types, from_ty)) else {
        return false;
    };
    let same = to.len() == from.len()
        && to.iter().zip(&from).all(|(a, b)| a.path == b.path && a.shape == b.shape);
    let places = dst.lens.iter().fold(1, |n: usize, &len| n.saturating_mul(len as usize));
    if !same || dst.lens != src.lens || places.saturating_mul(to.len()) > mem::MAX_LEAVES {
        return false;
    }
    let access = |index: Index| f.index(copy, index).unwrap_or(0);
    let (dst_access, src_access) = (access(Index::DST_ACCESS), access(Index::SRC_ACCESS));
    let mut b = Builder::new(f, Cursor::Before(copy));
    // All loads come before all stores: the two sides may overlap.
    let mut values: Vec<Def> = Vec::new();
    for place in 0..places {
        let root = src.at(&mut b, place);
        for leaf in &from {
            let pointer = mem::descend(&mut b, types, root, from_ty, &leaf.path);
            values.push(mem::load(&mut b, pointer, leaf.shape, src_access));
        }
    }
    let mut values = values.into_iter();
    for place in 0..places {
        let root = dst.at(&mut b, place);
        for (leaf, value) in to.iter().zip(&mut values) {
            let pointer = mem::descend(&mut b, types, root, to_ty, &leaf.path);
            mem::store(&mut b, pointer, value, dst_access);
        }
    }
    f.remove(copy);
    true
}

/// One side of a copy.
struct Side {
    def: Def,
    /// Elements that each wildcard stands for, the outermost first.
    lens: Vec<u32>,
    /// The derefs from the outermost wildcard to `def`.
    steps: Vec<Instr>,
}

impl Side {
    /// `None` for what is no deref, or where it is not known how many places it names.
    fn new(f: &Function, types: &TypeTable, def: Def) -> Option<Side> {
        let mut side = Side { def, lens: Vec::new(), steps: Vec::new() };
        let mut chain = Vec::new();
        let mut at = def.instr();
        let mut info = f.deref(at)?;
        loop {
            chain.push(at);
            let parent = f.srcs(at).first().map(|s| s.def().instr());
            let Some((parent, outer)) = parent.and_then(|p| Some((p, f.deref(p)?))) else { break };
            if info.kind == DerefKind::Wildcard {
                side.lens.push(match &types[outer.ty] {
                    TypeData::Array { len: ArrayLen::Const(n), .. } => *n,
                    TypeData::Matrix { cols, .. } => (*cols).into(),
                    TypeData::Vector { len, .. } => (*len).into(),
                    _ => return None,
                });
                side.steps.clone_from(&chain);
            }
            (at, info) = (parent, outer);
        }
        side.lens.reverse();
        side.steps.reverse();
        // Casts behind a wildcard would have to be cast from each element.
        let indexed = |&i: &Instr| {
            f.deref(i).is_some_and(|d| !matches!(d.kind, DerefKind::Cast | DerefKind::PtrAsArray))
        };
        side.steps.iter().all(indexed).then_some(side)
    }

    /// The pointer to the place of this number: the last wildcard's index runs fastest.
    fn at(&self, b: &mut Builder<'_>, place: usize) -> Def {
        let Some(&first) = self.steps.first() else { return self.def };
        let mut rest = place;
        let mut indices = Vec::new();
        for &len in self.lens.iter().rev() {
            indices.push((rest % len as usize) as u32);
            rest /= len as usize;
        }
        let mut pointer = b.f.src(first, 0);
        for &step in &self.steps {
            let Some(&info) = b.f.deref(step) else { continue };
            let (kind, index) = match info.kind {
                DerefKind::Wildcard => {
                    let index = indices.pop().unwrap_or(0);
                    (DerefKind::Array, Some(b.imm_u32(index)))
                }
                DerefKind::Array => (DerefKind::Array, Some(b.f.src(step, 1))),
                DerefKind::Var(_)
                | DerefKind::Struct(_)
                | DerefKind::Cast
                | DerefKind::PtrAsArray => (info.kind, None),
            };
            pointer = b.deref_step(kind, pointer, index, info.ty);
            if let Some(new) = b.f.deref_mut(pointer.instr()) {
                new.access = info.access;
            }
        }
        pointer
    }
}
