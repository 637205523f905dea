//! What inlining a call costs and what it saves, in instructions of the output.
//!
//! Everything here is an estimate: it decides whether a call stays, never what the code means.

use crate::mem;
use deburr_ir_core::{
    Block, Convergent, Def, DerefKind, Func, Function, Index, Instr, InstrKind, InstrView,
    Intrinsic, JumpKind, Modes, Module, Node, NodeKind, User, Var,
};
use rustc_hash::FxHashMap;

/// A call of the function that is looked at.
#[derive(Clone, Copy)]
pub(crate) struct Site {
    /// The function that calls.
    pub caller: Func,
    /// The call.
    pub call: Instr,
}

/// What is known of a function that is called.
pub(crate) struct Callee {
    /// Instructions that its body is about written as.
    pub size: i64,
    /// What is done through its parameters.
    pub through: Params,
    /// Instructions that give the same in every copy (loads of constant memory, and what is computed from them): common
    /// subexpressions of the copies in one caller.
    shared: i64,
    /// Returns that are not its end, each of which costs a test or a branch.
    early_returns: i64,
    /// What folds where the arguments marked are constants, as far as it was asked for.
    folds: FxHashMap<Vec<bool>, i64>,
}

impl Callee {
    /// Looks at a function.
    pub fn new(f: &Function) -> Callee {
        let last = f.last_block(f.body());
        let returns = |&b: &Block| {
            b != last && f.block_jump(b).is_some_and(|(_, jump)| jump == JumpKind::Return)
        };
        let early_returns = f.blocks().filter(returns).count() as i64;
        Callee {
            size: written(f),
            through: Params::new(f, &Merged::default()),
            shared: shared(f),
            early_returns,
            folds: FxHashMap::default(),
        }
    }

    /// Whether variables of the caller are accessed through a parameter.
    pub fn has_pointers(&self) -> bool {
        (0..self.through.0.len()).any(|n| self.through.direct(n).is_some())
    }

    /// Instructions by which the caller grows if the call becomes the body; negative where it shrinks. `first` says that
    /// it is the first copy in this caller.
    pub fn growth(
        &mut self,
        body: &Function,
        caller: &Function,
        vars: &Vars,
        site: Site,
        first: bool,
    ) -> i64 {
        let args = caller.srcs(site.call);
        let constant: Vec<bool> = args.iter().map(|a| caller.constant(a.def()).is_some()).collect();
        let mut growth = self.size + 3 * self.early_returns - 1;
        if constant.contains(&true) {
            growth -= *self.folds.entry(constant).or_insert_with_key(|c| folds(body, c));
        }
        if !first {
            growth -= self.shared;
        }
        for (n, arg) in args.iter().enumerate() {
            let Some(var) = local_of(caller, arg.def()) else { continue };
            let Some(inside) = self.through.direct(n) else { continue };
            let outside = vars.0.get(&var).copied().unwrap_or_default();
            if outside.direct {
                // The variable becomes values once none of its calls is left.
                growth -= inside + outside.count / outside.calls.max(1);
            }
        }
        growth
    }
}

/// What is done through a pointer.
#[derive(Clone, Copy)]
struct Accesses {
    /// Loads and stores.
    count: i64,
    /// Calls that it is handed to.
    calls: i64,
    /// Whether all of them name what they access by constant steps, and nothing else is done.
    direct: bool,
    /// Whether anything but loads is done.
    written: bool,
}

impl Default for Accesses {
    fn default() -> Self {
        Accesses { count: 0, calls: 0, direct: true, written: false }
    }
}

impl Accesses {
    fn add(&mut self, other: Accesses) {
        self.count += other.count;
        self.calls += other.calls;
        self.direct &= other.direct;
        self.written |= other.written;
    }
}

/// Functions whose body goes in the place of their only call, and is as good as there already.
pub(crate) type Merged = FxHashMap<Func, Params>;

/// What is done through each parameter of a function; `None` for those that it does not look at.
#[derive(Clone)]
pub(crate) struct Params(Vec<Option<Accesses>>);

impl Params {
    /// Looks at a function.
    pub fn new(f: &Function, merged: &Merged) -> Params {
        let mut params: Vec<Option<Accesses>> = vec![None; f.params.len()];
        for instr in f.all_instrs().filter(|&i| f.intrinsic(i) == Some(Intrinsic::LOAD_PARAM)) {
            let n = f.index(instr, Index::PARAM_IDX).unwrap_or(0) as usize;
            if let Some(param) = params.get_mut(n) {
                param.get_or_insert_default().add(accesses(f, instr.def(), merged));
            }
        }
        Params(params)
    }

    /// Loads and stores through a parameter that go with the call, where nothing else is done with it.
    fn direct(&self, n: usize) -> Option<i64> {
        let accesses = (*self.0.get(n)?)?;
        (accesses.calls == 0 && accesses.direct).then_some(accesses.count)
    }
}

/// What is done through each local variable of a function.
#[derive(Default)]
pub(crate) struct Vars(FxHashMap<Var, Accesses>);

impl Vars {
    /// Looks at a function.
    pub fn new(f: &Function, merged: &Merged) -> Vars {
        let mut vars: FxHashMap<Var, Accesses> = FxHashMap::default();
        for instr in f.all_instrs() {
            let Some(DerefKind::Var(var)) = f.deref(instr).map(|d| d.kind) else { continue };
            if var.is_local() {
                vars.entry(var).or_default().add(accesses(f, instr.def(), merged));
            }
        }
        Vars(vars)
    }

    /// Whether anything but loads is done through the derefs of a variable.
    pub fn is_written(&self, var: Var) -> bool {
        self.0.get(&var).is_some_and(|accesses| accesses.written)
    }

    /// A call in the function becomes the body of the callee.
    pub fn inlined(&mut self, through: &Params, f: &Function, site: Site) {
        for (n, arg) in f.srcs(site.call).iter().enumerate() {
            let Some(accesses) = local_of(f, arg.def()).and_then(|var| self.0.get_mut(&var)) else {
                continue;
            };
            accesses.calls -= 1;
            match through.direct(n) {
                Some(inside) => accesses.count += inside,
                None => accesses.direct = false,
            }
        }
    }
}

fn accesses(f: &Function, pointer: Def, merged: &Merged) -> Accesses {
    let mut found = Accesses::default();
    let unknown = Accesses { direct: false, written: true, ..Accesses::default() };
    let mut work = vec![pointer];
    while let Some(pointer) = work.pop() {
        for (user, n) in f.uses_at(pointer) {
            let User::Instr(user) = user else {
                found.add(unknown);
                continue;
            };
            match f.view(user) {
                InstrView::Deref(info) if n == 0 => {
                    found.direct &=
                        info.kind != DerefKind::Array || f.constant(f.src(user, 1)).is_some();
                    work.push(user.def());
                }
                InstrView::Intrinsic(Intrinsic::LOAD_DEREF, _) => found.count += 1,
                InstrView::Intrinsic(Intrinsic::STORE_DEREF, _) if n == 0 => {
                    found.count += 1;
                    found.written = true;
                }
                InstrView::Intrinsic(Intrinsic::COPY_DEREF, _) => {
                    found.count += 2;
                    found.written |= n == 0;
                }
                InstrView::Call(callee) => match merged.get(&callee) {
                    Some(params) => {
                        params.0.get(n).copied().flatten().into_iter().for_each(|p| found.add(p));
                    }
                    None => {
                        found.calls += 1;
                        found.written = true;
                    }
                },
                InstrView::Alu(_)
                | InstrView::Intrinsic(..)
                | InstrView::Tex(_)
                | InstrView::Deref(_)
                | InstrView::LoadConst(_)
                | InstrView::Undef
                | InstrView::Phi(_)
                | InstrView::Jump(_)
                | InstrView::ParallelCopy => found.add(unknown),
            }
        }
    }
    found
}

/// The local variable that a pointer leads to.
fn local_of(f: &Function, pointer: Def) -> Option<Var> {
    let mut at = pointer.instr();
    loop {
        let info = f.deref(at)?;
        if info.modes != Modes::FUNCTION {
            return None;
        }
        match info.kind {
            DerefKind::Var(var) => return var.is_local().then_some(var),
            DerefKind::Array
            | DerefKind::Wildcard
            | DerefKind::Struct(_)
            | DerefKind::Cast
            | DerefKind::PtrAsArray => at = f.src(at, 0).instr(),
        }
    }
}

/// Instructions that a module is about written as.
pub(crate) fn module_size(m: &Module) -> i64 {
    m.functions.iter().filter(|f| f.has_body()).map(written).sum()
}

/// Instructions that a body is about written as: a terminator for each block, merges, and what its instructions become.
fn written(f: &Function) -> i64 {
    f.blocks().map(|block| written_block(f, block)).sum()
}

fn written_block(f: &Function, block: Block) -> i64 {
    let merge = match f.block_node(block).and_then(|n| f.next_node(n)).map(|n| f.node_kind(n)) {
        Some(NodeKind::If { .. }) => 1,
        Some(NodeKind::Loop { .. } | NodeKind::Once { .. }) => 2,
        Some(NodeKind::Block(_)) | None => 0,
    };
    1 + merge + f.instrs(block).map(|i| weight(f, i)).sum::<i64>()
}

fn weight(f: &Function, instr: Instr) -> i64 {
    match f.kind(instr) {
        InstrKind::LoadConst | InstrKind::Undef | InstrKind::Jump | InstrKind::ParallelCopy => 0,
        InstrKind::Alu | InstrKind::Phi | InstrKind::Call => 1,
        // Its handle is loaded first.
        InstrKind::Tex => 2,
        InstrKind::Intrinsic => i64::from(f.intrinsic(instr) != Some(Intrinsic::LOAD_PARAM)),
        // A chain of steps is one instruction.
        InstrKind::Deref => {
            let step = f
                .deref(instr)
                .is_some_and(|d| !matches!(d.kind, DerefKind::Var(_) | DerefKind::Cast));
            let last = f.uses(instr.def()).any(|u| match u.user() {
                User::Instr(i) => f.kind(i) != InstrKind::Deref,
                User::If(_) => true,
            });
            i64::from(step && last)
        }
    }
}

/// What [`Callee::shared`] counts: instructions on every path through the body that depend on no parameter and no memory
/// that changes.
fn shared(f: &Function) -> i64 {
    let mut known = vec![false; f.instr_capacity()];
    let mut found = 0;
    let nodes = f.list_nodes(f.body());
    for block in nodes.filter_map(|n| match f.node_kind(n) {
        NodeKind::Block(block) => Some(block),
        NodeKind::If { .. } | NodeKind::Loop { .. } | NodeKind::Once { .. } => None,
    }) {
        for instr in f.instrs(block) {
            let pure = match f.kind(instr) {
                InstrKind::LoadConst => true,
                InstrKind::Deref => f.deref(instr).is_some_and(|d| d.modes != Modes::FUNCTION),
                InstrKind::Alu => {
                    f.alu_info(instr).is_some_and(|i| i.convergent == Convergent::None)
                }
                InstrKind::Intrinsic => mem::is_load_of_constant_memory(f, instr),
                InstrKind::Tex
                | InstrKind::Undef
                | InstrKind::Phi
                | InstrKind::Jump
                | InstrKind::Call
                | InstrKind::ParallelCopy => false,
            };
            if pure && f.srcs(instr).iter().all(|s| known[s.def().instr().index()]) {
                known[instr.index()] = true;
                found += weight(f, instr);
            }
        }
    }
    found
}

/// Instructions of a body that fold where the parameters marked are constants.
fn folds(f: &Function, constant: &[bool]) -> i64 {
    let mut known = vec![false; f.instr_capacity()];
    let mut saved = 0;
    for block in f.blocks() {
        for instr in f.instrs(block) {
            let foldable = match f.kind(instr) {
                InstrKind::LoadConst => true,
                InstrKind::Intrinsic => {
                    f.intrinsic(instr) == Some(Intrinsic::LOAD_PARAM)
                        && f.index(instr, Index::PARAM_IDX)
                            .is_some_and(|n| constant.get(n as usize) == Some(&true))
                }
                InstrKind::Alu => {
                    f.alu_info(instr).is_some_and(|i| i.convergent == Convergent::None)
                        && f.srcs(instr).iter().all(|s| known[s.def().instr().index()])
                }
                InstrKind::Tex
                | InstrKind::Deref
                | InstrKind::Undef
                | InstrKind::Phi
                | InstrKind::Jump
                | InstrKind::Call
                | InstrKind::ParallelCopy => false,
            };
            if foldable {
                known[instr.index()] = true;
                saved += weight(f, instr);
            }
        }
        let behind = f.block_node(block).and_then(|n| f.next_node(n));
        if let Some(node) = behind
            && f.condition(node).is_some_and(|c| known[c.instr().index()])
        {
            saved += smaller_branch(f, node);
        }
    }
    saved
}

/// What at least goes where the condition of an `if` is known.
fn smaller_branch(f: &Function, node: Node) -> i64 {
    let NodeKind::If { then_list, else_list } = f.node_kind(node) else { return 0 };
    let size = |list| f.list_blocks(list).map(|b| written_block(f, b)).sum::<i64>();
    2 + size(then_list).min(size(else_list))
}
