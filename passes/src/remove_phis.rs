//! `remove_phis`: a phi whose sources are all one value, or itself, is that value.
//!
//! Runs until nothing changes, by a worklist over the users that are phis. Any form. Keeps the control flow. O(n).
//!
//! ```text
//! 32 %3 = phi b1: %1, b2: %1
//! 32 %4 = iadd %3, %0        32 %4 = iadd %1, %0
//! ```

use deburr_ir_core::{Def, Function, Instr, InstrKind, InstrView, User};

/// Removes trivial phis from a function.
pub fn remove_phis(f: &mut Function) -> bool {
    let phis: Vec<Instr> = f.blocks().flat_map(|b| f.phis(b)).collect();
    remove_trivial(f, phis)
}

/// Removes those of `work` that are trivial, and what becomes trivial by it.
pub(crate) fn remove_trivial(f: &mut Function, mut work: Vec<Instr>) -> bool {
    let mut changed = false;
    // In the order of the program: of a chain, the first takes the uses of each of the others, one by one. The other
    // way round each would take those of all behind it.
    work.reverse();
    while let Some(phi) = work.pop() {
        if f.is_removed(phi) {
            continue;
        }
        let Some(value) = only_source(f, phi) else { continue };
        work.extend(f.uses(phi.def()).filter_map(|u| match u.user() {
            User::Instr(i) if i != phi && f.kind(i) == InstrKind::Phi => Some(i),
            User::Instr(_) | User::If(_) => None,
        }));
        f.replace_all_uses(phi.def(), value);
        f.remove(phi);
        changed = true;
    }
    changed
}

/// The one value that a phi can have: equal sources, itself apart.
fn only_source(f: &Function, phi: Instr) -> Option<Def> {
    let mut value = None;
    for src in f.srcs(phi) {
        match value {
            _ if src.def() == phi.def() => {}
            None => value = Some(src.def()),
            Some(v) if v == src.def() => {}
            Some(_) => return None,
        }
    }
    let value = value?;
    debug_assert!(matches!(f.view(phi), InstrView::Phi(_)));
    Some(value)
}
