//! The leaves of a type: the scalars and vectors that a value of it is made of.

use super::Want;
use crate::layout::match_logically;
use deburr_ir_core::{ArrayLen, Module, Type, TypeData};
use std::rc::Rc;

/// Aggregates of more leaves are copied in memory.
pub(super) const MAX_LEAVES: usize = 64;

/// Levels of nesting that are looked up from a leaf.
pub(super) const MAX_CLIMB: usize = 8;

/// The leaves of a type: the indices that lead to each, and its type.
pub(super) type Leaves = Rc<Vec<(Vec<u32>, Type)>>;

/// The types of an aggregate's members, elements or columns; `None` where it has no fixed number.
pub(super) fn known_parts(module: &Module, ty: Type) -> Option<Vec<Type>> {
    match &module.types[ty] {
        TypeData::Struct(s) => Some(s.members.iter().map(|m| m.ty).collect()),
        TypeData::Array { elem, len: ArrayLen::Const(n), .. } if *n as usize <= MAX_LEAVES => {
            Some(vec![*elem; *n as usize])
        }
        TypeData::Matrix { column, cols } => Some(vec![*column; (*cols).into()]),
        _ => None,
    }
}

pub(super) fn parts(module: &Module, ty: Type) -> Vec<Type> {
    known_parts(module, ty).unwrap_or_default()
}

/// Whether the module may say OpCopyLogical.
pub(in crate::write) fn copies_logically(module: &Module) -> bool {
    module.spirv.version >= (1, 4)
}

pub(super) fn part_type(module: &Module, ty: Type, n: u32) -> Option<Type> {
    module.types.member(ty, n).or_else(|| module.types.element(ty))
}

pub(super) fn leaf_count(module: &Module, ty: Type) -> usize {
    leaf_paths(module, ty).map_or(usize::MAX, |l| l.len())
}

/// The leaves of a type, if all are scalars and vectors and they are not too many, nor the parts without any.
pub(super) fn leaf_paths(module: &Module, ty: Type) -> Option<Vec<(Vec<u32>, Type)>> {
    let (mut leaves, mut empties) = (Vec::new(), 0);
    let mut work = vec![(Vec::new(), ty)];
    while let Some((path, ty)) = work.pop() {
        if matches!(module.types[ty], TypeData::Pointer { .. }) {
            return None;
        }
        if module.types.value_shape(ty).is_some() {
            leaves.push((path, ty));
            if leaves.len() > MAX_LEAVES {
                return None;
            }
            continue;
        }
        let inner = known_parts(module, ty).filter(|_| path.len() < MAX_CLIMB)?;
        empties += usize::from(inner.is_empty());
        if empties > MAX_LEAVES {
            return None;
        }
        for (n, part) in inner.into_iter().enumerate().rev() {
            let mut path = path.clone();
            path.push(n as u32);
            work.push((path, part));
        }
    }
    Some(leaves)
}

pub(super) fn matrix_shape(module: &Module, ty: Type) -> Option<Want> {
    let TypeData::Matrix { column, cols } = module.types[ty] else { return None };
    let (comps, bits) = module.types.value_shape(column)?;
    Some(Want::Matrix(cols.into(), comps, bits))
}

/// The indices to the part of a type that holds exactly `count` leaves from leaf `first` on, and its type.
pub(super) fn path_to(
    module: &Module,
    mut ty: Type,
    mut first: usize,
    count: usize,
    want: Want,
) -> Option<(Vec<u32>, Type)> {
    let mut path = Vec::new();
    loop {
        let is_it = match want {
            Want::Type(wanted) => wanted == ty,
            Want::Like(wanted) => match_logically(&module.types, wanted, ty),
            shape @ Want::Matrix(..) => matrix_shape(module, ty) == Some(shape),
        };
        if first == 0 && is_it && leaf_count(module, ty) == count {
            return Some((path, ty));
        }
        let mut found = None;
        for (n, part) in parts(module, ty).into_iter().enumerate() {
            let leaves = leaf_count(module, part);
            if first < leaves {
                found = Some((n as u32, part));
                break;
            }
            first -= leaves;
        }
        let (n, part) = found?;
        path.push(n);
        ty = part;
    }
}
