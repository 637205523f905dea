//! `remove_dead_vars`: variables that nothing reads go, and the stores to them.
//!
//! Locals, private and shared variables whose derefs only lead to stores of the whole program lose the stores, unless an
//! initial value holds their address or an access is volatile; those without any deref left are emptied from the lists.
//! Interface variables, buffers and handles stay: the API sees them, and so do shared blocks, which may lie over each
//! other. Any form. Keeps the control flow. O(instructions).
//!
//! ```text
//! @store_deref &x, %0        // x is never read: gone
//! ```

use crate::mem;
use deburr_ir_core::{Def, DerefKind, Function, Instr, Intrinsic, Modes, Module, User, Var};
use rustc_hash::FxHashSet;

/// Modes of which a variable may go when nothing reads it.
const REMOVABLE: Modes = Modes::FUNCTION.union(Modes::PRIVATE).union(Modes::SHARED);

/// Removes dead variables and the stores to them.
pub fn remove_dead_vars(m: &mut Module) -> bool {
    let mut read: FxHashSet<Var> = FxHashSet::default();
    let mut local_read: Vec<FxHashSet<Var>> = Vec::new();
    let locals = m.functions.iter().flat_map(|f| &f.locals);
    for init in m.vars.iter().chain(locals).filter_map(|v| v.init.as_ref()) {
        mem::collect_addresses(init, &mut read);
    }
    for f in &m.functions {
        let mut locals = FxHashSet::default();
        for_each_root(f, |root, var| {
            if is_read(f, root) {
                if var.is_local() {
                    locals.insert(var)
                } else {
                    read.insert(var)
                };
            }
        });
        local_read.push(locals);
    }
    let mut changed = false;
    let removable = removable_globals(m, &read);
    for (f, locals) in m.functions.iter_mut().zip(&local_read) {
        let mut dead = Vec::new();
        for_each_root(f, |root, var| {
            let gone =
                if var.is_local() { !locals.contains(&var) } else { removable.contains(&var) };
            if gone {
                dead.push(root);
            }
        });
        for root in dead {
            changed |= remove_stores(f, root);
        }
    }
    changed | drop_unnamed(m)
}

fn removable_globals(m: &Module, read: &FxHashSet<Var>) -> FxHashSet<Var> {
    let globals = (0..m.vars.len()).map(Var::global);
    let removable = |v: &Var| {
        // What is stored to one shared block is read through the others.
        REMOVABLE.contains(m.vars[v.slot()].mode) && !m.is_shared_block(*v) && !read.contains(v)
    };
    globals.filter(removable).collect()
}

/// Calls `visit` for each deref of a variable.
fn for_each_root(f: &Function, mut visit: impl FnMut(Instr, Var)) {
    if !f.has_body() {
        return;
    }
    for instr in f.all_instrs() {
        if let Some(DerefKind::Var(var)) = f.deref(instr).map(|d| d.kind) {
            visit(instr, var);
        }
    }
}

/// Whether anything but stores is done through a deref and what is derived from it.
fn is_read(f: &Function, root: Instr) -> bool {
    let mut work = vec![root.def()];
    while let Some(pointer) = work.pop() {
        for (user, n) in f.uses_at(pointer) {
            match user {
                User::Instr(i) if f.deref(i).is_some() && n == 0 => work.push(i.def()),
                User::Instr(i) if is_store(f, i) && n == 0 => {}
                User::Instr(_) | User::If(_) => return true,
            }
        }
    }
    false
}

/// Whether the instruction only writes through its first source, and nothing but what it writes is seen of it.
fn is_store(f: &Function, instr: Instr) -> bool {
    let op = f.intrinsic(instr);
    (op == Some(Intrinsic::STORE_DEREF) || op == Some(Intrinsic::COPY_DEREF))
        && !f.is_volatile(instr)
}

fn remove_stores(f: &mut Function, root: Instr) -> bool {
    let mut work = vec![root.def()];
    let mut stores: Vec<Instr> = Vec::new();
    let mut derefs: Vec<Def> = Vec::new();
    while let Some(pointer) = work.pop() {
        derefs.push(pointer);
        for (user, _) in f.uses_at(pointer) {
            match user {
                User::Instr(i) if f.deref(i).is_some() => work.push(i.def()),
                User::Instr(i) => stores.push(i),
                User::If(_) => {}
            }
        }
    }
    for &store in &stores {
        if !f.is_removed(store) {
            f.remove(store);
        }
    }
    for pointer in derefs.into_iter().rev() {
        if !f.is_used(pointer) {
            f.remove(pointer.instr());
        }
    }
    true
}

/// Empties the lists of removable variables that no deref names any more.
fn drop_unnamed(m: &mut Module) -> bool {
    let mut changed = false;
    for f in &mut m.functions {
        let mut used = FxHashSet::default();
        for_each_root(f, |_, var| {
            used.insert(var);
        });
        let mut map = Vec::new();
        let mut kept = 0;
        for slot in 0..f.locals.len() {
            let keep = used.contains(&Var::local(slot));
            map.push(keep.then_some(kept));
            kept += usize::from(keep);
        }
        if kept == f.locals.len() {
            continue;
        }
        changed = true;
        let mut slot = 0;
        f.locals.retain(|_| {
            slot += 1;
            map[slot - 1].is_some()
        });
        let instrs: Vec<Instr> = f.all_instrs().collect();
        for instr in instrs {
            if let Some(deref) = f.deref_mut(instr)
                && let DerefKind::Var(var) = &mut deref.kind
                && var.is_local()
                && let Some(slot) = map[var.slot()]
            {
                *var = Var::local(slot);
            }
        }
    }
    changed
}
