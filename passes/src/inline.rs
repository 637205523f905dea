//! `inline`: calls become the code of the function called, where that pays.
//!
//! Works bottom-up over the call graph, so that a body is inlined once it is final. A call goes
//! - where it is the only one of its function: nothing grows. What goes so is put together at last, from the function
//!   that stays down, so that each body is copied once, however long such calls go on;
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

use crate::inline_cost::{Callee, Merged, Params, Site, Vars, module_size};
use crate::{copy_prop, lower_returns, mem};
use deburr_ir_core::{
    Builder, Cursor, Def, Func, Function, Instr, InstrView, JumpKind, Modes, Module, TypeTable, Var,
};
use rustc_hash::{FxHashMap, FxHashSet};

/// Instructions by which a call may grow when it becomes the body, where the module grows by that.
pub const SMALL: i64 = 16;
/// Instructions that a caller may grow to by bodies that are called more than once.
pub const BUDGET: i64 = 50_000;
/// The share of a module's size by which it may grow.
const SHARE: i64 = 10;
/// How often a module's instructions may be copied, [`BUDGET`] apart: where each of many functions becomes next to nothing
/// on constant arguments, the copies can be far more than what is left of them.
const COPIES: i64 = 4;

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
    /// Instructions that may still be copied; not known before the first run has seen the module.
    copies: Option<i64>,
}

/// Inlines calls and removes functions that are no longer reached.
pub fn inline(m: &mut Module, growth: &mut Growth) -> bool {
    growth.left.get_or_insert_with(|| (module_size(m) / SHARE).max(SMALL));
    growth.copies.get_or_insert_with(|| {
        COPIES * m.functions.iter().map(|f| f.instr_count() as i64).sum::<i64>() + BUDGET
    });
    let mut changed = remove_unreached(m);
    let Some(mut graph) = CallGraph::new(m) else { return changed };
    let mut inlined = false;
    for callee in std::mem::take(&mut graph.bottom_up) {
        // Its own calls are done.
        inlined |= inline_function(m, callee, &mut graph, growth);
    }
    for func in m.funcs() {
        graph.complete(m, func);
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
    /// Functions whose body goes in the place of their only call, but is not there yet.
    merged: Merged,
    /// Functions in which a merged body may end the invocation.
    halting: Vec<bool>,
    /// Functions that others than callers within the module may enter.
    is_entered: Vec<bool>,
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
        let halting = vec![false; m.functions.len()];
        // A library module keeps everything: who calls it is not known.
        let mut is_entered = vec![m.entry_points.is_empty(); m.functions.len()];
        for entry in &m.entry_points {
            is_entered[entry.function.index()] = true;
        }
        let (vars, merged) = (FxHashMap::default(), Merged::default());
        Some(CallGraph { sites, sizes, bottom_up, vars, args, merged, halting, is_entered })
    }

    /// Puts the body of a function in the place of its only call, as soon as the caller is complete. Gives false where it
    /// can't stand there.
    fn merge(&mut self, m: &mut Module, func: Func, site: Site, halts: bool) -> bool {
        self.drop_casts(m, func);
        let Module { functions, types, .. } = &mut *m;
        if !prepare(&mut functions[func.index()], types, &self.merged) {
            return false;
        }
        let params = Params::new(&m[func], &self.merged);
        if let Some(vars) = self.vars.get_mut(&site.caller) {
            vars.inlined(&params, &m[site.caller], site);
        }
        self.merged.insert(func, params);
        self.sizes[site.caller.index()] += self.sizes[func.index()];
        self.halting[site.caller.index()] |= halts;
        true
    }

    /// Puts the merged bodies into a function that is not merged itself, and drops what the casts of arguments are good
    /// for.
    fn complete(&mut self, m: &mut Module, func: Func) {
        if !self.merged.contains_key(&func) {
            let merged = |f: &Function, i: Instr| match f.view(i) {
                InstrView::Call(callee) => self.merged.contains_key(&callee).then_some((i, callee)),
                _ => None,
            };
            let mut work: Vec<(Instr, Func)> =
                calls(&m[func]).into_iter().filter_map(|(i, _)| merged(&m[func], i)).collect();
            // From the last on, as below.
            while let Some((call, callee)) = work.pop() {
                let body = std::mem::replace(&mut m[callee], Function::declaration(""));
                let f = &mut m[func];
                self.args[func.index()].extend(pointers(f, call));
                let known = f.instr_capacity();
                expand(f, call, &body);
                let new = (known..f.instr_capacity()).map(Instr::from_index);
                work.extend(new.filter_map(|i| merged(f, i)));
            }
        }
        self.drop_casts(m, func);
    }

    /// Casts of arguments to what they point to anyway go, once for all the bodies in a function that took them.
    fn drop_casts(&mut self, m: &mut Module, func: Func) {
        let mut args: Vec<Def> = std::mem::take(&mut self.args[func.index()]).into_iter().collect();
        args.sort_unstable();
        // Those of an argument within a body come behind that which it was made of.
        for arg in args.into_iter().rev() {
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
    let halts = graph.halting[func.index()] || halts(&m[func]);
    if halts {
        sites.retain(|site| {
            let f = &m[site.caller];
            !f.block_of(site.call).is_some_and(|block| f.in_continue_list(block))
        });
    }
    if sites.is_empty() {
        return false;
    }
    let stays = sites.len() < calls;
    let vanishes = !stays && !graph.is_entered[func.index()];
    if vanishes && let [site] = sites[..] {
        return graph.merge(m, func, site, halts);
    }
    graph.complete(m, func);
    let mut callee = Callee::new(&m[func]);
    let chosen = choose(m, func, &sites, vanishes, &mut callee, graph, growth);
    if chosen.is_empty() {
        return false;
    }
    let Module { functions, types, .. } = &mut *m;
    let mut body = functions[func.index()].clone();
    if !prepare(&mut body, types, &graph.merged) {
        return false;
    }
    // From the last on: what stands behind a call moves when its block is split, and was moved already so.
    for site in chosen.iter().rev() {
        let f = &mut m[site.caller];
        if let Some(vars) = graph.vars.get_mut(&site.caller) {
            vars.inlined(&callee.through, f, *site);
        }
        graph.args[site.caller.index()].extend(pointers(f, site.call));
        expand(f, site.call, &body);
        graph.sizes[site.caller.index()] += graph.sizes[func.index()];
    }
    true
}

/// The arguments of a call that are derefs.
fn pointers(f: &Function, call: Instr) -> impl Iterator<Item = Def> {
    f.srcs(call).iter().map(|s| s.def()).filter(|arg| f.deref(arg.instr()).is_some())
}

fn halts(f: &Function) -> bool {
    f.blocks().any(|b| matches!(f.block_jump(b), Some((_, JumpKind::Halt))))
}

/// The calls that become the body, and what that takes of the growth that is left. `vanishes` says that the function goes
/// if all of them do.
fn choose(
    m: &Module,
    func: Func,
    sites: &[Site],
    vanishes: bool,
    callee: &mut Callee,
    graph: &mut CallGraph,
    growth: &mut Growth,
) -> Vec<Site> {
    let mut grown: FxHashMap<Func, i64> = FxHashMap::default();
    let CallGraph { sizes, vars, merged, .. } = graph;
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
            let vars = vars.entry(site.caller).or_insert_with(|| Vars::new(f, merged));
            callee.growth(&m[func], f, vars, site, first)
        })
        .collect();
    let largest = growths.iter().copied().max().unwrap_or(0);
    let total = growths.iter().fold(0i64, |sum, &g| sum.saturating_add(g))
        - if vanishes { callee.size } else { 0 };
    let copies = growth.copies.as_mut().expect("the run has set it");
    let mut affordable = |sites: Vec<Site>| {
        let copied = sizes[func.index()].saturating_mul(sites.len() as i64);
        if copied > *copies {
            return Vec::new();
        }
        *copies -= copied;
        sites
    };
    if total <= 0 {
        return affordable(sites.to_vec());
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
    affordable(sites.iter().zip(&growths).filter(free).map(|(&site, _)| site).collect())
}

/// Brings a function in a form that can stand in the place of a call; gives false, and leaves it, where it can't.
fn prepare(f: &mut Function, types: &mut TypeTable, merged: &Merged) -> bool {
    if initialisers(f, types, merged).is_none() {
        return false;
    }
    if lower_returns::has_early_return(f) && !lower_returns::lower(f, types) {
        return false;
    }
    lower_initialisers(f, types, merged)
}

/// The locals with an initialiser that a function writes, and what they hold at its start; `None` if one is too large for
/// being taken apart.
fn initialisers(
    f: &Function,
    types: &TypeTable,
    merged: &Merged,
) -> Option<Vec<(usize, Vec<(mem::Leaf, Vec<u64>)>)>> {
    if f.locals.iter().all(|var| var.init.is_none()) {
        return Some(Vec::new());
    }
    let vars = Vars::new(f, merged);
    let leaves = |slot: usize| {
        let var = &f.locals[slot];
        let init = var.init.as_ref().filter(|_| vars.is_written(Var::local(slot)))?;
        Some(mem::constant_leaves(types, var.ty, init).map(|leaves| (slot, leaves)))
    };
    (0..f.locals.len()).filter_map(leaves).collect()
}

/// Turns the initialisers of locals that the function writes into stores at its start: a call initialises them anew each
/// time, but a local of the caller is initialised once. Gives false if one is too large for that.
fn lower_initialisers(f: &mut Function, types: &TypeTable, merged: &Merged) -> bool {
    let Some(written) = initialisers(f, types, merged) else { return false };
    for (slot, leaves) in written {
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
