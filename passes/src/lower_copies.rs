//! `lower_copies`: `copy_deref` becomes loads and stores of the leaves.
//!
//! Each leaf (vector or scalar) of the type that both sides have is loaded from one and stored to the other, through
//! constant struct and array steps. Copies of types with more than [`MAX_LEAVES`] leaves, of runtime or
//! specialisation-constant length, or between different types stay. Logical form. Keeps the control flow.
//! O(leaves copied).
//!
//! ```text
//! @copy_deref &a, &b        32 %1 = @load_deref &b.x
//!                           @store_deref &a.x, %1 …
//! ```

use crate::mem;
use deburr_ir_core::{
    ArrayLen, Builder, Cursor, Def, DerefKind, Function, Index, Instr, Intrinsic, Module, Shape,
    Type, TypeData, TypeTable,
};

/// Leaves up to which a copy is split.
pub const MAX_LEAVES: usize = 64;

/// Splits the aggregate copies of every function.
pub fn lower_copies(m: &mut Module) -> bool {
    let Module { functions, types, .. } = m;
    let mut changed = false;
    for f in functions.iter_mut().filter(|f| f.has_body()) {
        let copies: Vec<Instr> =
            f.all_instrs().filter(|&i| f.intrinsic(i) == Some(Intrinsic::COPY_DEREF)).collect();
        for copy in copies {
            changed |= split(f, types, copy);
        }
    }
    changed
}

fn split(f: &mut Function, types: &TypeTable, copy: Instr) -> bool {
    let (dst, src) = (f.src(copy, 0), f.src(copy, 1));
    let (Some(to), Some(from)) = (f.deref(dst.instr()), f.deref(src.instr())) else { return false };
    let wildcard = |d: &deburr_ir_core::DerefInfo| d.kind == DerefKind::Wildcard;
    if wildcard(to) || wildcard(from) {
        return false;
    }
    let (to_ty, from_ty) = (to.ty, from.ty);
    let (Some(to), Some(from)) = (leaves(types, to_ty), leaves(types, from_ty)) else {
        return false;
    };
    let same = to.len() == from.len()
        && to.iter().zip(&from).all(|(a, b)| a.path == b.path && a.shape == b.shape);
    if !same {
        return false;
    }
    let access = |index: Index| f.index(copy, index).unwrap_or(0);
    let (dst_access, src_access) = (access(Index::DST_ACCESS), access(Index::SRC_ACCESS));
    let mut b = Builder::new(f, Cursor::Before(copy));
    // All loads come before all stores: the two sides may overlap.
    let values: Vec<Def> = from
        .iter()
        .map(|leaf| {
            let pointer = descend(&mut b, types, src, from_ty, &leaf.path);
            mem::load(&mut b, pointer, leaf.shape, src_access)
        })
        .collect();
    for (leaf, value) in to.iter().zip(values) {
        let pointer = descend(&mut b, types, dst, to_ty, &leaf.path);
        mem::store(&mut b, pointer, value, dst_access);
    }
    f.remove(copy);
    true
}

/// A vector or scalar inside a type.
struct Leaf {
    path: Vec<u32>,
    shape: Shape,
}

/// The leaves of a type in order; `None` if they are too many or their number is not known.
fn leaves(types: &TypeTable, ty: Type) -> Option<Vec<Leaf>> {
    let mut out = Vec::new();
    let mut work = vec![(ty, Vec::new())];
    while let Some((ty, path)) = work.pop() {
        if out.len() + work.len() > MAX_LEAVES {
            return None;
        }
        if let Some((comps, bits)) = types.value_shape(ty) {
            out.push(Leaf { path, shape: Shape::new(comps, bits)? });
            continue;
        }
        let children: Vec<Type> = match &types[ty] {
            TypeData::Struct(s) => s.members.iter().map(|m| m.ty).collect(),
            TypeData::Array { elem, len: ArrayLen::Const(n), .. } if *n as usize <= MAX_LEAVES => {
                vec![*elem; *n as usize]
            }
            TypeData::Matrix { column, cols } => vec![*column; usize::from(*cols)],
            TypeData::Array { .. }
            | TypeData::Void
            | TypeData::Bool
            | TypeData::Int { .. }
            | TypeData::Float { .. }
            | TypeData::Vector { .. }
            | TypeData::Image(_)
            | TypeData::Sampler
            | TypeData::SampledImage { .. }
            | TypeData::AccelerationStructure
            | TypeData::RayQuery
            | TypeData::Pointer { .. } => return None,
        };
        for (n, child) in children.into_iter().enumerate().rev() {
            let mut path = path.clone();
            path.push(n as u32);
            work.push((child, path));
        }
    }
    Some(out)
}

/// A pointer to a leaf.
fn descend(
    b: &mut Builder<'_>,
    types: &TypeTable,
    mut pointer: Def,
    mut ty: Type,
    path: &[u32],
) -> Def {
    for &step in path {
        match types.member(ty, step) {
            Some(member) => {
                pointer = b.deref_step(DerefKind::Struct(step), pointer, None, member);
                ty = member;
            }
            None => {
                let Some(elem) = types.element(ty) else { return pointer };
                let index = b.imm_u32(step);
                pointer = b.deref_step(DerefKind::Array, pointer, Some(index), elem);
                ty = elem;
            }
        }
    }
    pointer
}
