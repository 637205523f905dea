//! `inline`: calls become the code of the function called, where that pays.
//!
//! Works bottom-up over the call graph, so that a body is inlined once it is final. A call goes
//! - where it is the only one of its function: nothing grows;
//! - where the module shrinks by it: the body is no longer than the call, or what it saves is (loads and stores through
//!   pointer parameters, which keep a variable of the caller in memory; instructions on constant arguments);
//! - where the growth is small ([`SMALL`] a call) and within [`Growth`], which a whole run of a pipeline shares;
//! - where the source asks for it (function control `Inline`), up to [`BUDGET`] instructions in the module.
//!
//! `DontInline` is obeyed. Functions that nothing calls afterwards and no entry point names go. Early returns of what is
//! inlined become structured flow first, in the copy alone (see `lower_returns`). Logical form.
//! O(instructions copied + instructions).
//!
//! ```text
//! 32 %2 = call square(%1)        32 %2 = fmul %1, %1
//! ```

use crate::inline_cost::{Callee, Site, Vars, module_size};
use crate::{copy_prop, lower_returns, mem};
use deburr_ir_core::{
    Builder, Cursor, Def, DerefKind, Func, Function, Instr, InstrView, Intrinsic, JumpKind, Modes,
    Module, TypeTable, User, Var,
};
use rustc_hash::{FxHashMap, FxHashSet};

/// Instructions by which a call may grow when it becomes the body, where the module grows by that.
pub const SMALL: i64 = 16;
/// Instructions that a caller may grow to by bodies that are called more than once.
pub const BUDGET: i64 = 50_000;
/// The share of a module's size by which it may grow.
const SHARE: i64 = 10;

/// SPIR-V's function control bits.
const CONTROL_INLINE: u32 = 1;
const CONTROL_DONT_INLINE: u32 = 2;

/// By how many instructions a module may still grow through inlining.
#[derive(Clone, Copy, Debug, Default)]
pub struct Growth {
    /// What is left; not known before the first run has seen the module.
    left: Option<i64>,
    /// What functions have taken that the source asks to be inlined: trees of such calls grow without bound.
    asked: i64,
}

/// Inlines calls and removes functions that are no longer reached.
pub fn inline(m: &mut Module, growth: &mut Growth) -> bool {
    growth.left.get_or_insert_with(|| (module_size(m) / SHARE).max(SMALL));
    let mut changed = remove_unreached(m);
    let Some(mut graph) = CallGraph::new(m) else { return changed };
    let mut inlined = false;
    for callee in std::mem::take(&mut graph.bottom_up) {
        // Its own calls are done.
        graph.drop_casts(m, callee);
        inlined |= inline_function(m, callee, &mut graph, growth);
    }
    for func in m.funcs() {
        graph.drop_casts(m, func);
    }
    changed |= inlined;
    if inlined {
        // Behind a body that never comes to its end nothing is reached.
        for f in m.functions.iter_mut().filter(|f| f.has_body()) {
            f.remove_unreachable();
        }
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

/// Who calls whom.
struct CallGraph {
    /// The calls of each function.
    sites: Vec<Vec<Site>>,
    /// Instructions of each function, about.
    sizes: Vec<i64>,
    /// Functions that are called, callees before callers. Those on a cycle (which SPIR-V forbids) or that call into one
    /// are not among them.
    bottom_up: Vec<Func>,
    /// What is done through the locals of callers, as far as it was asked for.
    vars: FxHashMap<Func, Vars>,
    /// Arguments of calls that became bodies, by caller.
    args: Vec<FxHashSet<Def>>,
}

impl CallGraph {
    /// `None` if nothing is called.
    fn new(m: &Module) -> Option<CallGraph> {
        let mut sites: Vec<Vec<Site>> = vec![Vec::new(); m.functions.len()];
        let mut open = vec![0usize; m.functions.len()];
        for caller in m.funcs() {
            for (call, callee) in calls(&m[caller]) {
                sites[callee.index()].push(Site { caller, call });
                open[caller.index()] += 1;
            }
        }
        if sites.iter().all(Vec::is_empty) {
            return None;
        }
        let mut ready: Vec<Func> = m.funcs().filter(|f| open[f.index()] == 0).collect();
        let mut bottom_up = Vec::new();
        while let Some(func) = ready.pop() {
            for site in &sites[func.index()] {
                open[site.caller.index()] -= 1;
                if open[site.caller.index()] == 0 {
                    ready.push(site.caller);
                }
            }
            if !sites[func.index()].is_empty() {
                bottom_up.push(func);
            }
        }
        let sizes = m.functions.iter().map(|f| f.instr_count() as i64).collect();
        let args = vec![FxHashSet::default(); m.functions.len()];
        Some(CallGraph { sites, sizes, bottom_up, vars: FxHashMap::default(), args })
    }

    /// Casts of arguments to what they point to anyway go, once for all the bodies in a function that took them.
    fn drop_casts(&mut self, m: &mut Module, func: Func) {
        let mut args: Vec<Def> = std::mem::take(&mut self.args[func.index()]).into_iter().collect();
        args.sort_unstable();
        for arg in args {
            copy_prop::drop_casts(&mut m[func], arg);
        }
    }
}

/// Inlines a function where it pays.
fn inline_function(m: &mut Module, func: Func, graph: &mut CallGraph, growth: &mut Growth) -> bool {
    let mut sites = std::mem::take(&mut graph.sites[func.index()]);
    if !m[func].has_body() || m[func].control & CONTROL_DONT_INLINE != 0 {
        return false;
    }
    if sites.iter().any(|site| m[site.caller].float_env != m[func].float_env) {
        return false;
    }
    // A continue construct ends at the loop's head on every way: a call there may end the invocation, a jump may not.
    let calls = sites.len();
    if halts(&m[func]) {
        sites.retain(|site| {
            let f = &m[site.caller];
            !f.block_of(site.call).is_some_and(|block| f.in_continue_list(block))
        });
    }
    if sites.is_empty() {
        return false;
    }
    let stays = sites.len() < calls;
    let mut callee = Callee::new(&m[func]);
    let chosen = choose(m, func, &sites, stays, &mut callee, graph, growth);
    if chosen.is_empty() {
        return false;
    }
    let Module { functions, types, .. } = &mut *m;
    let Some(body) = prepared(&functions[func.index()], types) else { return false };
    // From the last on: what stands behind a call moves when its block is split, and was moved already so.
    for site in chosen.iter().rev() {
        let f = &mut m[site.caller];
        if let Some(vars) = graph.vars.get_mut(&site.caller) {
            vars.inlined(&callee, f, *site);
        }
        let args = f.srcs(site.call).iter().map(|s| s.def());
        graph.args[site.caller.index()].extend(args.filter(|a| f.deref(a.instr()).is_some()));
        expand(f, site.call, &body);
        graph.sizes[site.caller.index()] += graph.sizes[func.index()];
    }
    true
}

fn halts(f: &Function) -> bool {
    f.blocks().any(|b| matches!(f.block_jump(b), Some((_, JumpKind::Halt))))
}

/// The calls that become the body, and what that takes of the growth that is left. `stays` says that other calls remain.
fn choose(
    m: &Module,
    func: Func,
    sites: &[Site],
    stays: bool,
    callee: &mut Callee,
    graph: &mut CallGraph,
    growth: &mut Growth,
) -> Vec<Site> {
    // A library module keeps everything: who calls it is not known.
    let vanishes =
        !stays && !m.entry_points.is_empty() && m.entry_points.iter().all(|e| e.function != func);
    if vanishes && sites.len() == 1 {
        return sites.to_vec();
    }
    let mut grown: FxHashMap<Func, i64> = FxHashMap::default();
    let CallGraph { sizes, vars, .. } = graph;
    let growths: Vec<i64> = sites
        .iter()
        .map(|&site| {
            let f = &m[site.caller];
            let first = !grown.contains_key(&site.caller);
            let size = grown.entry(site.caller).or_insert(sizes[site.caller.index()]);
            *size += sizes[func.index()];
            if *size > BUDGET {
                return i64::MAX / 2;
            }
            if !callee.has_pointers() {
                return callee.growth(&m[func], f, &Vars::default(), site, first);
            }
            let vars = vars.entry(site.caller).or_insert_with(|| Vars::new(f));
            callee.growth(&m[func], f, vars, site, first)
        })
        .collect();
    let largest = growths.iter().copied().max().unwrap_or(0);
    let total = growths.iter().fold(0i64, |sum, &g| sum.saturating_add(g))
        - if vanishes { callee.size } else { 0 };
    if total <= 0 {
        return sites.to_vec();
    }
    let left = growth.left.as_mut().expect("the run has set it");
    if largest <= SMALL && total <= *left {
        *left -= total;
        return sites.to_vec();
    }
    let asked = m[func].control & CONTROL_INLINE != 0;
    if asked && growth.asked.saturating_add(total) <= BUDGET {
        growth.asked += total;
        return sites.to_vec();
    }
    let free = |&(_, &growth): &(&Site, &i64)| growth <= 0;
    sites.iter().zip(&growths).filter(free).map(|(&site, _)| site).collect()
}

/// A copy of a function whose code can stand in the place of a call; `None` where it can't.
fn prepared(f: &Function, types: &mut TypeTable) -> Option<Function> {
    let mut body = f.clone();
    if lower_returns::has_early_return(&body) && !lower_returns::lower(&mut body, types) {
        return None;
    }
    lower_initialisers(&mut body, types).then_some(body)
}

/// Turns the initialisers of locals that the function writes into stores at its start: a call initialises them anew each
/// time, but a local of the caller is initialised once. Gives false if one is too large for that.
fn lower_initialisers(f: &mut Function, types: &TypeTable) -> bool {
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
