//! `global_to_local`: private variables that one entry point's function alone uses become its locals.
//!
//! A private variable lives as long as the invocation, so it can be a local where only one function names it and
//! that function is entered once an invocation: it is an entry point that nothing calls. The initialiser goes with
//! it. Any form. Keeps the control flow. O(instructions).
//!
//! ```text
//! decl_var private float32 &x        (a local of `main`)
//! ```

use crate::mem::collect_addresses;
use deburr_ir_core::{
    DerefKind, Func, Function, Instr, InstrKind, InstrView, Intrinsic, Modes, Module, User, Var,
};
use rustc_hash::{FxHashMap, FxHashSet};

/// Makes private variables local where one entry function alone uses them.
pub fn global_to_local(m: &mut Module) -> bool {
    let called = called_functions(m);
    let entered: FxHashSet<Func> =
        m.entry_points.iter().map(|e| e.function).filter(|f| !called.contains(f)).collect();
    let mut users: FxHashMap<Var, Vec<Func>> = FxHashMap::default();
    let mut pinned = FxHashSet::default();
    for func in m.funcs() {
        let f = &m[func];
        if !f.has_body() {
            continue;
        }
        for instr in f.all_instrs() {
            pinned.extend(escaping(f, instr));
            if let Some(DerefKind::Var(var)) = f.deref(instr).map(|d| d.kind)
                && !var.is_local()
                && m.vars[var.slot()].mode == Modes::PRIVATE
            {
                let list = users.entry(var).or_default();
                if list.last() != Some(&func) {
                    list.push(func);
                }
            }
        }
    }
    // An address in an initialiser is a use that no instruction shows.
    let locals = m.functions.iter().flat_map(|f| &f.locals);
    let inits = m.vars.iter().chain(locals).filter_map(|v| v.init.as_ref());
    inits.for_each(|c| collect_addresses(c, &mut pinned));
    let mut moved: Vec<(Var, Func)> = users
        .into_iter()
        .filter(|(var, funcs)| {
            !pinned.contains(var) && funcs.len() == 1 && entered.contains(&funcs[0])
        })
        .map(|(var, funcs)| (var, funcs[0]))
        .collect();
    moved.sort();
    let mut locals: FxHashMap<Func, FxHashMap<Var, Var>> = FxHashMap::default();
    for &(var, func) in &moved {
        let mut local = m.vars[var.slot()].clone();
        local.mode = Modes::FUNCTION;
        let local = m[func].add_local(local);
        locals.entry(func).or_default().insert(var, local);
    }
    for (func, locals) in locals {
        retarget(&mut m[func], &locals);
    }
    !moved.is_empty()
}

/// The private variable whose address an instruction gives, where that goes to what needs the mode to stay: a call, a
/// cast, a choice, memory.
fn escaping(f: &Function, instr: Instr) -> Option<Var> {
    f.deref(instr).filter(|d| d.modes == Modes::PRIVATE)?;
    let stays = |user: User| match user {
        User::Instr(user) => match f.kind(user) {
            InstrKind::Deref => f.deref(user).is_some_and(|d| d.kind == DerefKind::Cast),
            InstrKind::Intrinsic => {
                f.intrinsic(user) == Some(Intrinsic::STORE_DEREF) && f.src(user, 1) == instr.def()
            }
            InstrKind::Alu
            | InstrKind::Tex
            | InstrKind::LoadConst
            | InstrKind::Undef
            | InstrKind::Phi
            | InstrKind::Jump
            | InstrKind::Call
            | InstrKind::ParallelCopy => true,
        },
        User::If(_) => true,
    };
    if !f.uses(instr.def()).any(|u| stays(u.user())) {
        return None;
    }
    let mut at = instr;
    loop {
        if let DerefKind::Var(var) = f.deref(at)?.kind {
            return Some(var);
        }
        at = f.src(at, 0).instr();
    }
}

/// Functions that some function calls.
pub(crate) fn called_functions(m: &Module) -> FxHashSet<Func> {
    let mut called = FxHashSet::default();
    for f in m.functions.iter().filter(|f| f.has_body()) {
        called.extend(f.all_instrs().filter_map(|i| match f.view(i) {
            InstrView::Call(func) => Some(func),
            _ => None,
        }));
    }
    called
}

/// Lets derefs of variables that became locals, and what is derived from them, name the locals.
fn retarget(f: &mut Function, locals: &FxHashMap<Var, Var>) {
    let instrs: Vec<_> = f.all_instrs().collect();
    for instr in instrs {
        let Some(info) = f.deref(instr).copied() else { continue };
        let kind = match info.kind {
            DerefKind::Var(var) => match locals.get(&var) {
                Some(&local) => DerefKind::Var(local),
                None => continue,
            },
            DerefKind::Array
            | DerefKind::Wildcard
            | DerefKind::Struct(_)
            | DerefKind::PtrAsArray => {
                let parent = f.deref(f.src(instr, 0).instr()).map(|d| d.modes);
                if info.modes != Modes::PRIVATE || parent != Some(Modes::FUNCTION) {
                    continue;
                }
                info.kind
            }
            DerefKind::Cast => continue,
        };
        if let Some(deref) = f.deref_mut(instr) {
            deref.modes = Modes::FUNCTION;
            deref.kind = kind;
        }
    }
}
