//! Types that differ in layout alone.

use deburr_ir_core::{Type, TypeData, TypeTable};
use rustc_hash::FxHashSet;

/// Whether two types are equal but for offsets, strides, names and decorations (SPIR-V 3.52.11, OpCopyLogical:
/// "logically match").
pub(crate) fn match_logically(types: &TypeTable, a: Type, b: Type) -> bool {
    let mut work = vec![(a, b)];
    let mut seen: FxHashSet<(Type, Type)> = FxHashSet::default();
    while let Some((a, b)) = work.pop() {
        // Types share parts: each pair is looked at once.
        if a == b || !seen.insert((a, b)) {
            continue;
        }
        match (&types[a], &types[b]) {
            (TypeData::Struct(x), TypeData::Struct(y)) if x.members.len() == y.members.len() => {
                work.extend(x.members.iter().map(|m| m.ty).zip(y.members.iter().map(|m| m.ty)));
            }
            (TypeData::Array { elem: x, len: n, .. }, TypeData::Array { elem: y, len: m, .. })
                if n == m =>
            {
                work.push((*x, *y));
            }
            _ => return false,
        }
    }
    true
}
