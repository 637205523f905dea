//! `inline`: calls become the code of the function called, within a budget.
//!
//! Works bottom-up over the call graph, so that a body is inlined once it is final. A function is inlined where it is
//! small ([`SMALL`] instructions) or called once, as long as the caller stays below [`BUDGET`] instructions; functions
//! that nothing calls afterwards and no entry point names go. Needs `lower_returns` before. Logical form.
//! O(instructions copied).
//!
//! ```text
//! 32 %2 = call square(%1)        32 %2 = fmul %1, %1
//! ```

use crate::lower_returns::has_early_return;
use crate::mem;
use deburr_ir_core::{
    Builder, Cursor, Def, DerefKind, Func, Function, Instr, InstrView, Intrinsic, Modes, Module,
    User, Var,
};
use rustc_hash::FxHashMap;

/// Instructions up to which a function is inlined wherever it is called.
pub const SMALL: usize = 2_000;
/// Instructions that a caller may grow to.
pub const BUDGET: usize = 50_000;

/// Inlines calls and removes functions that are no longer reached.
pub fn inline(m: &mut Module) -> bool {
    let mut times: FxHashMap<Func, usize> = FxHashMap::default();
    for (_, callee) in m.functions.iter().flat_map(calls) {
        *times.entry(callee).or_default() += 1;
    }
    let mut changed = false;
    for caller in bottom_up(m) {
        changed |= inline_into(m, caller, &times);
    }
    changed | remove_unreached(m)
}

fn calls(f: &Function) -> Vec<(Instr, Func)> {
    if !f.has_body() {
        return Vec::new();
    }
    f.all_instrs()
        .filter_map(|i| match f.view(i) {
            InstrView::Call(func) => Some((i, func)),
            _ => None,
        })
        .collect()
}

/// Functions, callees before callers. Those on a cycle (which SPIR-V forbids) come in some order.
fn bottom_up(m: &Module) -> Vec<Func> {
    let callees: Vec<Vec<Func>> =
        m.functions.iter().map(|f| calls(f).into_iter().map(|(_, c)| c).collect()).collect();
    let mut order = Vec::new();
    let mut state = vec![0usize; callees.len()];
    let mut entered = vec![false; callees.len()];
    for root in m.funcs() {
        let mut stack = vec![root];
        while let Some(&func) = stack.last() {
            let n = func.index();
            if std::mem::replace(&mut entered[n], true) && state[n] > callees[n].len() {
                stack.pop();
                continue;
            }
            match callees[n].get(state[n]) {
                Some(&callee) => {
                    state[n] += 1;
                    if !entered[callee.index()] {
                        stack.push(callee);
                    }
                }
                None => {
                    state[n] = callees[n].len() + 1;
                    order.push(func);
                    stack.pop();
                }
            }
        }
    }
    order
}

fn size(f: &Function) -> usize {
    f.all_instrs().count()
}

fn inline_into(m: &mut Module, caller: Func, times: &FxHashMap<Func, usize>) -> bool {
    let mut grown = if m[caller].has_body() { size(&m[caller]) } else { return false };
    let mut changed = false;
    for (call, callee) in calls(&m[caller]) {
        if callee == caller || !m[callee].has_body() || has_early_return(&m[callee]) {
            continue;
        }
        if !lower_initialisers(m, callee) {
            continue;
        }
        let n = size(&m[callee]);
        let once = times.get(&callee) == Some(&1);
        if n > SMALL && !once || grown + n > BUDGET {
            continue;
        }
        grown += n;
        // The callee steps aside while its body is copied.
        let body = std::mem::replace(&mut m[callee], Function::declaration(""));
        expand(&mut m[caller], call, &body);
        m[callee] = body;
        changed = true;
    }
    changed
}

/// Turns the initialisers of locals that the function writes into stores at its start: a call initialises them anew each
/// time, but a local of the caller is initialised once. Gives false if one is too large for that.
fn lower_initialisers(m: &mut Module, func: Func) -> bool {
    let Module { functions, types, .. } = m;
    let f = &mut functions[func.index()];
    let written: Vec<usize> = (0..f.locals.len())
        .filter(|&slot| f.locals[slot].init.is_some() && is_written(f, Var::local(slot)))
        .collect();
    let leaves: Option<Vec<_>> = written
        .iter()
        .map(|&slot| {
            let var = &f.locals[slot];
            mem::constant_leaves(types, var.ty, var.init.as_ref()?)
        })
        .collect();
    let Some(leaves) = leaves else { return false };
    for (slot, leaves) in written.into_iter().zip(leaves) {
        let ty = f.locals[slot].ty;
        let start = f.start_block();
        let mut b = Builder::new(f, Cursor::BlockStart(start));
        let root = b.deref_var(Var::local(slot), Modes::FUNCTION, ty);
        for (leaf, bits) in leaves {
            let pointer = mem::descend(&mut b, types, root, ty, &leaf.path);
            let value = b.load_const(leaf.shape.bits(), &bits);
            mem::store(&mut b, pointer, value, 0);
        }
        f.locals[slot].init = None;
    }
    true
}

/// Whether anything but loads happens through the derefs of a local.
fn is_written(f: &Function, var: Var) -> bool {
    let roots =
        f.all_instrs().filter(|&i| f.deref(i).is_some_and(|d| d.kind == DerefKind::Var(var)));
    let mut work: Vec<Def> = roots.map(|i| i.def()).collect();
    while let Some(pointer) = work.pop() {
        for (user, n) in f.uses_at(pointer) {
            match user {
                User::Instr(i) if f.deref(i).is_some_and(|d| d.kind != DerefKind::Cast) => {
                    work.push(i.def())
                }
                User::Instr(i) if f.intrinsic(i) == Some(Intrinsic::LOAD_DEREF) => {}
                User::Instr(i) if f.intrinsic(i) == Some(Intrinsic::COPY_DEREF) && n == 1 => {}
                User::Instr(_) | User::If(_) => return true,
            }
        }
    }
    false
}

/// Puts the body in the place of the call.
fn expand(f: &mut Function, call: Instr, body: &Function) {
    let args: Vec<_> = f.srcs(call).iter().map(|s| s.def()).collect();
    let result = f.clone_body_into(Cursor::Before(call), body, &args);
    if let Some(def) = f.def(call) {
        // A body that never comes to its end, or ends without a return, gives no value.
        let value = result.value.unwrap_or_else(|| {
            let (comps, bits) = (f.comps(def), f.bits(def));
            Builder::new(f, Cursor::Before(call)).undef(comps, bits)
        });
        f.replace_all_uses(def, value);
    }
    f.remove(call);
}

/// Drops functions that neither an entry point nor a remaining call reaches.
pub(crate) fn remove_unreached(m: &mut Module) -> bool {
    let mut reached = vec![false; m.functions.len()];
    let mut work: Vec<Func> = m.entry_points.iter().map(|e| e.function).collect();
    while let Some(func) = work.pop() {
        if !std::mem::replace(&mut reached[func.index()], true) {
            work.extend(calls(&m[func]).into_iter().map(|(_, c)| c));
        }
    }
    // A library module keeps everything: who calls it is not known.
    if m.entry_points.is_empty() || reached.iter().all(|&r| r) {
        return false;
    }
    let mut map = Vec::new();
    let mut kept = 0;
    for &keep in &reached {
        map.push(Func::from_index(kept));
        kept += usize::from(keep);
    }
    let mut slot = 0;
    m.functions.retain(|_| {
        slot += 1;
        reached[slot - 1]
    });
    for entry in &mut m.entry_points {
        entry.function = map[entry.function.index()];
    }
    for f in &mut m.functions {
        for (call, callee) in calls(f) {
            f.set_callee(call, map[callee.index()]);
        }
    }
    true
}
