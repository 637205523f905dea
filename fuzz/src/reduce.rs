//! Reduction: the smallest module that still shows what a test asks for.
//!
//! Edits are tried on a copy, from coarse to fine: functions, control-flow nodes, jumps, instructions in halving chunks,
//! then single ones, then constants, flags and swizzles. An edit stays if the module is valid and the test still says
//! yes. Every edit takes something away, so that the reduction ends; it is one-minimal with respect to the edits here.

use deburr_ir_core::{
    Cursor, Def, Flags, Func, Function, Instr, InstrInit, InstrKind, InstrView, IntrinsicFlags,
    JumpKind, Module, Node, NodeKind, Swizzle, validate,
};

/// Sweeps over all edits after which the reduction stops, whatever still changes.
const MAX_SWEEPS: u32 = 12;

/// The smallest module, found by taking things away, for which `check` says yes.
///
/// `check` is asked about valid modules only. If it says no to `module` itself, that is returned as it is.
pub fn reduce(module: &Module, check: &mut dyn FnMut(&Module) -> bool) -> Module {
    let mut reducer = Reducer { best: module.clone(), check };
    if !(reducer.check)(module) {
        return module.clone();
    }
    for _ in 0..MAX_SWEEPS {
        let mut changed = reducer.functions();
        changed |= reducer.nodes();
        changed |= reducer.jumps();
        changed |= reducer.chunks();
        changed |= reducer.instructions();
        changed |= reducer.details();
        if !changed {
            break;
        }
    }
    let mut best = reducer.best;
    best.functions.iter_mut().for_each(Function::compact);
    best
}

struct Reducer<'a> {
    best: Module,
    check: &'a mut dyn FnMut(&Module) -> bool,
}

impl Reducer<'_> {
    /// Tries an edit; it says whether it did anything.
    fn attempt(&mut self, edit: impl FnOnce(&mut Module) -> bool) -> bool {
        let mut candidate = self.best.clone();
        if !edit(&mut candidate) || validate(&candidate).is_err() || !(self.check)(&candidate) {
            return false;
        }
        self.best = candidate;
        true
    }

    /// Tries an edit of one function's control flow.
    fn attempt_cf(&mut self, func: Func, edit: impl FnOnce(&mut Function) -> bool) -> bool {
        self.attempt(|m| {
            let f = &mut m[func];
            let known = undefs(f);
            if !edit(f) {
                return false;
            }
            f.remove_unreachable();
            // What control flow took away is defined as zero: an undef would hide every difference behind it.
            for instr in undefs(f) {
                if !known.contains(&instr) {
                    replace_by_constant(f, instr, 0);
                }
            }
            true
        })
    }

    /// Functions that nothing calls, then calls.
    fn functions(&mut self) -> bool {
        let mut changed = false;
        for n in (0..self.best.functions.len()).rev() {
            changed |= self.attempt(|m| remove_function(m, Func::from_index(n)));
        }
        changed
    }

    fn bodies(&self) -> Vec<Func> {
        self.best.funcs().filter(|&f| self.best[f].has_body()).collect()
    }

    fn nodes(&mut self) -> bool {
        let mut changed = false;
        for func in self.bodies() {
            // Outer nodes first: with them goes most.
            for node in nodes(&self.best[func]) {
                if !self.best[func].is_in_tree(node) {
                    continue;
                }
                changed |= match self.best[func].node_kind(node) {
                    NodeKind::Block(_) => false,
                    NodeKind::If { .. } => {
                        self.attempt_cf(func, |f| {
                            f.remove_node(node);
                            true
                        }) || [true, false].into_iter().any(|taken| {
                            self.attempt_cf(func, |f| {
                                f.dissolve_if(node, taken);
                                true
                            })
                        })
                    }
                    NodeKind::Once { body } => {
                        self.attempt_cf(func, |f| {
                            f.remove_node(node);
                            true
                        }) || self.attempt_cf(func, |f| {
                            let free = !f.has_break(body);
                            if free {
                                f.dissolve_once(node);
                            }
                            free
                        })
                    }
                    NodeKind::Loop { .. } => self.attempt_cf(func, |f| {
                        f.remove_node(node);
                        true
                    }),
                };
            }
        }
        changed
    }

    fn jumps(&mut self) -> bool {
        let mut changed = false;
        for func in self.bodies() {
            for block in self.best[func].blocks().collect::<Vec<_>>() {
                if self.best[func].block_node(block).is_none() {
                    continue;
                }
                let Some((_, jump)) = self.best[func].block_jump(block) else { continue };
                // A function that returns a value ends by doing so.
                let f = &self.best[func];
                if jump == JumpKind::Return && f.ret.is_some() && block == f.last_block(f.body()) {
                    continue;
                }
                let removed = self.attempt_cf(func, |f| {
                    f.remove_jump(block);
                    true
                });
                changed |= removed
                    || jump == JumpKind::Continue
                        && self.attempt_cf(func, |f| {
                            f.replace_jump(block, JumpKind::Break, None);
                            true
                        });
            }
        }
        changed
    }

    /// Instructions that could go, latest first.
    fn removable(&self) -> Vec<(Func, Instr)> {
        let mut all: Vec<(Func, Instr)> = Vec::new();
        for func in self.bodies() {
            let f = &self.best[func];
            all.extend(f.all_instrs().filter(|&i| is_removable(f, i)).map(|i| (func, i)));
        }
        all.reverse();
        all
    }

    /// Takes runs of instructions away, values replaced by zero, in halving lengths.
    fn chunks(&mut self) -> bool {
        let mut changed = self.attempt(remove_unused);
        let mut size = self.removable().len() / 2;
        while size > 1 {
            let all = self.removable();
            for chunk in all.chunks(size) {
                changed |= self.attempt(|m| {
                    let mut any = false;
                    for &(func, instr) in chunk {
                        any |= take_away(&mut m[func], instr, 0);
                    }
                    any
                });
            }
            changed |= self.attempt(remove_unused);
            size /= 2;
        }
        changed
    }

    fn instructions(&mut self) -> bool {
        let mut changed = false;
        for (func, instr) in self.removable() {
            if self.best[func].is_removed(instr) || self.best[func].block_of(instr).is_none() {
                continue;
            }
            let is_constant = self.best[func].kind(instr) == InstrKind::LoadConst;
            let gone = self.attempt(|m| take_away_unused(&mut m[func], instr))
                || !is_constant
                    && (self.attempt(|m| take_away(&mut m[func], instr, 0))
                        || self.by_operand(func, instr)
                        || self.attempt(|m| take_away(&mut m[func], instr, 1)));
            changed |= gone;
        }
        changed | self.attempt(remove_unused)
    }

    /// Replaces a value by an operand of the same shape.
    fn by_operand(&mut self, func: Func, instr: Instr) -> bool {
        let f = &self.best[func];
        let Some(def) = f.def(instr) else { return false };
        let mut operands: Vec<Def> = f.srcs(instr).iter().map(|s| s.def()).collect();
        operands.retain(|&o| o != def && f.shape(o) == f.shape(def));
        operands.dedup();
        operands.into_iter().any(|operand| {
            self.attempt(|m| {
                let f = &mut m[func];
                f.replace_all_uses(def, operand);
                take_away_unused(f, instr)
            })
        })
    }

    /// Constants, flags, swizzles and conditions.
    fn details(&mut self) -> bool {
        let mut changed = false;
        for func in self.bodies() {
            for instr in self.best[func].all_instrs().collect::<Vec<_>>() {
                let f = &self.best[func];
                if f.is_removed(instr) {
                    continue;
                }
                if !f.flags(instr).is_empty() {
                    changed |= self.attempt(|m| {
                        m[func].set_flags(instr, Flags::empty());
                        true
                    });
                }
                changed |= match self.best[func].kind(instr) {
                    InstrKind::LoadConst => self.smaller_constant(func, instr),
                    InstrKind::Alu => self.plainer_sources(func, instr),
                    InstrKind::Intrinsic
                    | InstrKind::Tex
                    | InstrKind::Deref
                    | InstrKind::Undef
                    | InstrKind::Phi
                    | InstrKind::Jump
                    | InstrKind::Call
                    | InstrKind::ParallelCopy => false,
                };
            }
        }
        changed | self.attempt(remove_unused)
    }

    fn smaller_constant(&mut self, func: Func, instr: Instr) -> bool {
        let f = &self.best[func];
        let Some(bits) = f.constant(instr.def()) else { return false };
        let most = bits.iter().copied().max().unwrap_or(0);
        (0..=1).any(|value| {
            most > value && self.attempt(|m| replace_by_constant(&mut m[func], instr, value))
        })
    }

    fn plainer_sources(&mut self, func: Func, instr: Instr) -> bool {
        let mut changed = false;
        for n in 0..self.best[func].srcs(instr).len() {
            let f = &self.best[func];
            let comps = f.src_comps(instr, n);
            if (0..usize::from(comps)).any(|c| f.swizzle(instr, n).get(c) != 0) {
                changed |= self.attempt(|m| {
                    m[func].set_swizzle(instr, n, Swizzle::splat(0));
                    true
                });
            }
        }
        changed
    }
}

fn undefs(f: &Function) -> Vec<Instr> {
    f.all_instrs().filter(|&i| f.kind(i) == InstrKind::Undef).collect()
}

/// All nodes but blocks, outer ones first.
fn nodes(f: &Function) -> Vec<Node> {
    let mut found = Vec::new();
    let mut lists = std::collections::VecDeque::from([f.body()]);
    while let Some(list) = lists.pop_front() {
        for node in f.list_nodes(list) {
            let children = f.child_lists(node);
            if !children.is_empty() {
                found.push(node);
                lists.extend(children);
            }
        }
    }
    found
}

/// Whether the instruction can be taken out once its value is replaced.
fn is_removable(f: &Function, instr: Instr) -> bool {
    match f.view(instr) {
        InstrView::Jump(_) => false,
        InstrView::Alu(_)
        | InstrView::Intrinsic(..)
        | InstrView::Tex(_)
        | InstrView::Deref(_)
        | InstrView::LoadConst(_)
        | InstrView::Undef
        | InstrView::Phi(_)
        | InstrView::Call(_)
        | InstrView::ParallelCopy => true,
    }
}

/// Replaces the value by a constant, all of whose components are `value`, and removes the instruction.
fn take_away(f: &mut Function, instr: Instr, value: u64) -> bool {
    if f.block_of(instr).is_none() {
        return false;
    }
    let pointer = f.kind(instr) == InstrKind::Deref;
    if f.def(instr).is_some_and(|d| f.is_used(d)) {
        if pointer || f.kind(instr) == InstrKind::LoadConst {
            return false;
        }
        return replace_by_constant(f, instr, value);
    }
    take_away_unused(f, instr)
}

fn take_away_unused(f: &mut Function, instr: Instr) -> bool {
    if f.block_of(instr).is_none() || f.def(instr).is_some_and(|d| f.is_used(d)) {
        return false;
    }
    f.remove(instr);
    true
}

/// Puts a constant in the place of a value.
fn replace_by_constant(f: &mut Function, instr: Instr, value: u64) -> bool {
    let Some(def) = f.def(instr) else { return false };
    let Some(block) = f.block_of(instr) else { return false };
    let bits = vec![value; usize::from(f.comps(def))];
    let constant = f.create(InstrInit::LoadConst(&bits), f.shape(def), &[]);
    let cursor = match f.kind(instr) {
        InstrKind::Phi => Cursor::AfterPhis(block),
        _ => Cursor::Before(instr),
    };
    f.insert(constant, cursor);
    f.replace_all_uses(def, constant.def());
    f.remove(instr);
    true
}

/// Removes what computes unused values, all of it.
fn remove_unused(m: &mut Module) -> bool {
    let mut any = false;
    for f in m.functions.iter_mut().filter(|f| f.has_body()) {
        loop {
            let pure = |f: &Function, i: Instr| match f.view(i) {
                InstrView::Intrinsic(..) => f
                    .intrinsic_info(i)
                    .is_some_and(|info| info.flags.contains(IntrinsicFlags::ELIMINATE)),
                InstrView::Alu(_)
                | InstrView::Deref(_)
                | InstrView::LoadConst(_)
                | InstrView::Undef
                | InstrView::Tex(_)
                | InstrView::Phi(_) => true,
                InstrView::Jump(_) | InstrView::Call(_) | InstrView::ParallelCopy => false,
            };
            let unused: Vec<Instr> = f
                .all_instrs()
                .filter(|&i| pure(f, i) && f.def(i).is_some_and(|d| !f.is_used(d)))
                .collect();
            unused.iter().for_each(|&i| f.remove(i));
            if unused.is_empty() {
                break;
            }
            any = true;
        }
    }
    any
}

/// Removes a function that is no entry point and that nothing calls, and renumbers those behind it.
fn remove_function(m: &mut Module, func: Func) -> bool {
    let callee = |f: &Function, i: Instr| match f.view(i) {
        InstrView::Call(callee) => Some(callee),
        _ => None,
    };
    let called = m
        .functions
        .iter()
        .filter(|f| f.has_body())
        .any(|f| f.all_instrs().any(|i| callee(f, i) == Some(func)));
    if called || m.entry_points.iter().any(|e| e.function == func) {
        return false;
    }
    m.functions.remove(func.index());
    let moved = |f: Func| if f > func { Func::from_index(f.index() - 1) } else { f };
    m.entry_points.iter_mut().for_each(|e| e.function = moved(e.function));
    for f in m.functions.iter_mut().filter(|f| f.has_body()) {
        for call in f.all_instrs().collect::<Vec<_>>() {
            if let Some(callee) = callee(f, call) {
                f.set_callee(call, moved(callee));
            }
        }
    }
    true
}
