//! `vars_to_ssa`: local variables become values.
//!
//! A leaf of a local variable (a vector or scalar, reached by struct members and constant array indices) becomes
//! values where every access to it is a load or store that names it directly. Accesses through a dynamic index, a
//! cast, a call or a copy keep the leaves that they may touch in memory. A call touches what it is given a pointer to and
//! nothing around it; a cast may lead on to any part of the variable.
//!
//! Values are found by walking up the edges from each load, with a phi where paths meet (Braun et al. 2013, "Simple
//! and Efficient Construction of Static Single Assignment Form"), iteratively. Logical form. Keeps the control flow.
//! O(accesses + blocks a leaf is alive in).
//!
//! ```text
//! @store_deref &x, %0
//! 32 %1 = @load_deref &x        // becomes %0
//! ```

use crate::mem;
use crate::remove_phis::remove_trivial;
use deburr_ir_core::{
    AluSrc, Block, Builder, Constant, Cursor, Def, DerefKind, Function, Index, Instr, InstrInit,
    Intrinsic, Modes, NodeKind, Shape, Type, TypeData, TypeTable, User, Var,
};
use rustc_hash::{FxHashMap, FxHashSet};

/// One step from a variable to a leaf.
type Path = Vec<u32>;

/// Turns the locals of a function into values.
pub fn vars_to_ssa(f: &mut Function, types: &TypeTable) -> bool {
    let mut accesses = collect(f, types);
    accesses.choose();
    accesses.drop_unknown_initialisers(f, types);
    // Derefs that are left of earlier accesses give nothing to do.
    if !accesses.leaves.iter().any(|l| l.promoted && l.accessed) {
        return false;
    }
    Renamer::new(&accesses).run(f, types)
}

/// What the derefs of one function's locals say.
#[derive(Default)]
struct Accesses {
    /// Leaf of each deref that names one directly, and the component where it names only that.
    leaf_of: FxHashMap<Def, (usize, Option<u8>)>,
    leaves: Vec<Leaf>,
    by_path: FxHashMap<(Var, Path), usize>,
    /// Paths through which something unknown is touched.
    complex: FxHashMap<Var, Vec<Path>>,
}

struct Leaf {
    var: Var,
    path: Path,
    shape: Shape,
    /// Whether it is loaded or stored at all.
    accessed: bool,
    promoted: bool,
}

/// The variable and the constant path of a deref chain; the flag says that the path ends early, at a step that is not
/// a constant.
fn path_of(f: &Function, deref: Instr) -> Option<(Var, Path, bool)> {
    let mut steps = Vec::new();
    let mut at = deref;
    // Whether what is stepped to may be a neighbour of it.
    let mut neighbour = false;
    loop {
        let info = f.deref(at)?;
        let step = match info.kind {
            DerefKind::Var(var) => {
                if neighbour {
                    steps.push(None);
                }
                steps.reverse();
                let direct: Path = steps.iter().map_while(|s| *s).collect();
                let whole = direct.len() == steps.len();
                return Some((var, direct, whole));
            }
            DerefKind::Struct(member) => Some(member),
            DerefKind::Array => {
                let index = f.constant(f.src(at, 1)).map(|bits| bits[0]);
                index.and_then(|i| u32::try_from(i).ok())
            }
            DerefKind::Wildcard | DerefKind::PtrAsArray => None,
            DerefKind::Cast => return None,
        };
        if info.kind == DerefKind::PtrAsArray {
            neighbour = true;
        } else {
            steps.push(step.filter(|_| !std::mem::take(&mut neighbour)));
        }
        at = f.src(at, 0).instr();
    }
}

fn collect(f: &Function, types: &TypeTable) -> Accesses {
    let mut accesses = Accesses::default();
    for block in f.blocks() {
        for instr in f.instrs(block) {
            let Some(info) = f.deref(instr) else { continue };
            if info.modes != Modes::FUNCTION {
                continue;
            }
            let Some((var, path, direct)) = path_of(f, instr) else { continue };
            if !var.is_local() {
                continue;
            }
            let shape =
                types.value_shape(info.ty).and_then(|(comps, bits)| Shape::new(comps, bits));
            let inside = in_bounds(types, f.locals[var.slot()].ty, &path);
            match shape {
                Some(shape) if direct && inside && only_loads_and_stores(f, instr) => {
                    accesses.add_leaf(f, types, instr, var, path, shape);
                }
                _ if only_steps(f, instr) => {}
                // From there a step may lead to any part.
                _ if has_cast(f, instr) => {
                    accesses.complex.entry(var).or_default().push(Path::new());
                }
                _ => accesses.complex.entry(var).or_default().push(path),
            }
        }
    }
    accesses
}

/// Whether every use is a load or store through the deref, or a further step.
fn only_loads_and_stores(f: &Function, deref: Instr) -> bool {
    f.uses_at(deref.def()).all(|(user, n)| match user {
        User::Instr(i) => {
            n == 0
                && (f.deref(i).is_some_and(|d| d.kind != DerefKind::Cast) || {
                    let op = f.intrinsic(i);
                    (op == Some(Intrinsic::LOAD_DEREF) || op == Some(Intrinsic::STORE_DEREF))
                        && !mem::is_volatile(f, i)
                })
        }
        User::If(_) => false,
    })
}

/// Whether every use is a further step of a deref chain (whose own uses are looked at by themselves).
fn only_steps(f: &Function, deref: Instr) -> bool {
    f.uses_at(deref.def()).all(|(user, n)| match user {
        User::Instr(i) => n == 0 && f.deref(i).is_some_and(|d| d.kind != DerefKind::Cast),
        User::If(_) => false,
    })
}

/// Whether the pointer is cast.
fn has_cast(f: &Function, deref: Instr) -> bool {
    f.uses(deref.def()).any(|u| match u.user() {
        User::Instr(i) => f.deref(i).is_some_and(|d| d.kind == DerefKind::Cast),
        User::If(_) => false,
    })
}

/// Whether every constant index of the path exists.
fn in_bounds(types: &TypeTable, ty: Type, path: &[u32]) -> bool {
    path.iter().try_fold(ty, |ty, &step| types.part(ty, step.into())).is_some()
}

impl Accesses {
    fn add_leaf(
        &mut self,
        f: &Function,
        types: &TypeTable,
        deref: Instr,
        var: Var,
        mut path: Path,
        shape: Shape,
    ) {
        // A component of a vector counts as an access to the vector.
        let parent = f.srcs(deref).first().and_then(|s| f.deref(s.def().instr()));
        let vector =
            parent.filter(|p| matches!(types[p.ty], TypeData::Vector { .. })).map(|p| p.ty);
        let comp = vector.and_then(|_| path.pop()).map(|c| c as u8);
        let shape = match vector.and_then(|ty| types.value_shape(ty)) {
            Some((comps, bits)) => Shape::new(comps, bits).unwrap_or(shape),
            None => shape,
        };
        let next = self.leaves.len();
        let leaf = *self.by_path.entry((var, path.clone())).or_insert(next);
        if leaf == next {
            self.leaves.push(Leaf { var, path, shape, accessed: false, promoted: false });
        }
        self.leaves[leaf].accessed |= f.uses(deref.def()).any(|u| match u.user() {
            User::Instr(i) => f.deref(i).is_none(),
            User::If(_) => false,
        });
        self.leaf_of.insert(deref.def(), (leaf, comp));
    }

    /// Promotes the leaves that nothing else may touch: no unknown access at a path that contains or is contained in
    /// theirs, and no leaf within another (a component of a vector).
    fn choose(&mut self) {
        let mut touched: FxHashSet<(Var, &[u32])> = FxHashSet::default();
        let mut inner: FxHashSet<(Var, &[u32])> = FxHashSet::default();
        for (&var, paths) in &self.complex {
            for path in paths {
                touched.insert((var, path));
                inner.extend((0..path.len()).map(|n| (var, &path[..n])));
            }
        }
        for leaf in &self.leaves {
            inner.extend((0..leaf.path.len()).map(|n| (leaf.var, &leaf.path[..n])));
        }
        let all: FxHashSet<(Var, &[u32])> =
            self.leaves.iter().map(|l| (l.var, &l.path[..])).collect();
        let promoted: Vec<bool> = self
            .leaves
            .iter()
            .map(|leaf| {
                let prefixes = || (0..leaf.path.len()).map(|n| (leaf.var, &leaf.path[..n]));
                let whole = (leaf.var, &leaf.path[..]);
                !touched.contains(&whole)
                    && !prefixes().any(|p| touched.contains(&p) || all.contains(&p))
                    && !inner.contains(&whole)
            })
            .collect();
        for (leaf, promoted) in self.leaves.iter_mut().zip(promoted) {
            leaf.promoted = promoted;
        }
    }
}

impl Accesses {
    /// Leaves whose initial value is no plain constant stay in memory.
    fn drop_unknown_initialisers(&mut self, f: &Function, types: &TypeTable) {
        for leaf in &mut self.leaves {
            let var = &f.locals[leaf.var.slot()];
            let known = match &var.init {
                None | Some(Constant::Undef) => true,
                Some(init) => {
                    mem::leaf_constant(types, var.ty, init, &leaf.path, leaf.shape).is_some()
                }
            };
            leaf.promoted &= known;
        }
    }
}

/// Where a value is at a point of the program.
struct Renamer<'a> {
    accesses: &'a Accesses,
    /// Value of a leaf at the end of a block that stores it.
    at_end: FxHashMap<(usize, Block), Def>,
    /// Value of a leaf at the start of a block.
    at_start: FxHashMap<(usize, Block), Def>,
    /// What loads were replaced by.
    replaced: FxHashMap<Def, Def>,
    /// Phis whose sources are still to be found.
    pending: Vec<(usize, Block, Instr)>,
    phis: Vec<Instr>,
    /// Where each block stands in the text.
    position: Vec<usize>,
    /// For each leaf: blocks up to this position come before all that any of its stores reach.
    unset: Vec<usize>,
}

impl<'a> Renamer<'a> {
    fn new(accesses: &'a Accesses) -> Self {
        Renamer {
            accesses,
            at_end: FxHashMap::default(),
            at_start: FxHashMap::default(),
            replaced: FxHashMap::default(),
            pending: Vec::new(),
            phis: Vec::new(),
            position: Vec::new(),
            unset: vec![usize::MAX; accesses.leaves.len()],
        }
    }

    fn run(mut self, f: &mut Function, types: &TypeTable) -> bool {
        self.initial_values(f, types);
        let blocks: Vec<Block> = f.blocks().collect();
        self.position = vec![0; f.block_capacity()];
        for (n, block) in blocks.iter().enumerate() {
            self.position[block.index()] = n;
        }
        self.find_unset(f, &blocks);
        let mut open: Vec<(usize, Block, Instr)> = Vec::new();
        for &block in &blocks {
            self.scan_block(f, block, &mut open);
        }
        for (leaf, block, load) in open {
            let value = self.start_value(f, leaf, block);
            self.replace(f, load, value);
        }
        self.finish_phis(f);
        self.remove_stores(f, &blocks);
        remove_trivial(f, std::mem::take(&mut self.phis));
        true
    }

    /// Leaves of variables with an initialiser start with its value.
    fn initial_values(&mut self, f: &mut Function, types: &TypeTable) {
        let start = f.start_block();
        let leaves = self.accesses.leaves.iter().enumerate();
        for (n, leaf) in leaves.filter(|(_, l)| l.promoted && l.accessed) {
            let var = &f.locals[leaf.var.slot()];
            let Some(init) = &var.init else { continue };
            let Some(bits) = mem::leaf_constant(types, var.ty, init, &leaf.path, leaf.shape) else {
                continue;
            };
            let constant = f.create(InstrInit::LoadConst(&bits), leaf.shape, &[]);
            f.insert(constant, Cursor::AfterPhis(start));
            self.at_start.insert((n, start), constant.def());
        }
    }

    /// What a store reaches is behind it in the text, or in a loop around it: blocks before that see no value yet. (Where
    /// many variables are first set far down, the phis on the way up from there would be too many.)
    fn find_unset(&mut self, f: &Function, blocks: &[Block]) {
        let mut reached: Vec<usize> = (1..=blocks.len()).collect();
        let mut lists = vec![f.body()];
        while let Some(list) = lists.pop() {
            for node in f.list_nodes(list) {
                let NodeKind::Loop { body, .. } = f.node_kind(node) else {
                    lists.extend(f.child_lists(node));
                    continue;
                };
                // Loops inside are inside of its span.
                let first = self.position[f.first_block(body).index()];
                reached[first..self.position[f.block_after(node).index()]].fill(first);
            }
        }
        for (&block, reached) in blocks.iter().zip(reached) {
            for instr in f.instrs(block) {
                if f.intrinsic(instr) == Some(Intrinsic::STORE_DEREF)
                    && let Some((leaf, _)) = self.promoted_leaf(f.src(instr, 0))
                {
                    let first = &mut self.unset[leaf];
                    *first = reached.min(*first);
                }
            }
        }
        for (n, leaf) in self.accesses.leaves.iter().enumerate() {
            // Initial values are known from the start.
            if self.at_start.contains_key(&(n, f.start_block())) || !leaf.promoted {
                self.unset[n] = 0;
            }
        }
    }

    /// Follows the values within one block. Accesses that come before any store of theirs wait for what comes in.
    fn scan_block(
        &mut self,
        f: &mut Function,
        block: Block,
        open: &mut Vec<(usize, Block, Instr)>,
    ) {
        let mut next = f.first_instr(block);
        while let Some(instr) = next {
            next = f.next_instr(instr);
            let op = f.intrinsic(instr);
            if op != Some(Intrinsic::LOAD_DEREF) && op != Some(Intrinsic::STORE_DEREF) {
                continue;
            }
            let Some((leaf, comp)) = self.promoted_leaf(f.src(instr, 0)) else { continue };
            if op == Some(Intrinsic::LOAD_DEREF) {
                if comp.is_none() && !self.at_end.contains_key(&(leaf, block)) {
                    open.push((leaf, block, instr));
                    continue;
                }
                let whole = self.current(f, leaf, block, instr, open);
                let value = match comp {
                    Some(comp) => Builder::new(f, Cursor::Before(instr)).channel(whole, comp),
                    None => whole,
                };
                self.replace(f, instr, value);
                continue;
            }
            let comps = self.accesses.leaves[leaf].shape.comps();
            let all = (1u32 << comps) - 1;
            let mask = match comp {
                Some(comp) => 1 << comp,
                None => f.index(instr, Index::WRITE_MASK).map_or(all, |m| m & all),
            };
            let stored = self.resolve(f.src(instr, 1));
            let value = if mask == all {
                stored
            } else {
                let old = self.current(f, leaf, block, instr, open);
                merge(f, instr, old, stored, mask, comps)
            };
            self.at_end.insert((leaf, block), value);
        }
    }

    /// The value of a leaf before `at`: where the block has not stored it yet, a stand-in for what comes in.
    fn current(
        &mut self,
        f: &mut Function,
        leaf: usize,
        block: Block,
        at: Instr,
        open: &mut Vec<(usize, Block, Instr)>,
    ) -> Def {
        if let Some(&value) = self.at_end.get(&(leaf, block)) {
            return self.resolve(value);
        }
        let incoming = f.create(InstrInit::Undef, self.accesses.leaves[leaf].shape, &[]);
        f.insert(incoming, Cursor::Before(at));
        open.push((leaf, block, incoming));
        incoming.def()
    }

    fn promoted_leaf(&self, deref: Def) -> Option<(usize, Option<u8>)> {
        let (leaf, comp) = *self.accesses.leaf_of.get(&deref)?;
        self.accesses.leaves[leaf].promoted.then_some((leaf, comp))
    }

    fn resolve(&self, mut def: Def) -> Def {
        while let Some(&next) = self.replaced.get(&def) {
            def = next;
        }
        def
    }

    fn replace(&mut self, f: &mut Function, load: Instr, value: Def) {
        let value = self.resolve(value);
        if value != load.def() {
            f.replace_all_uses(load.def(), value);
            self.replaced.insert(load.def(), value);
        }
        f.remove(load);
    }

    fn end_value(&mut self, f: &mut Function, leaf: usize, block: Block) -> Def {
        match self.at_end.get(&(leaf, block)) {
            Some(&value) => self.resolve(value),
            None => self.start_value(f, leaf, block),
        }
    }

    /// Walks up single predecessors to a known value, a join (which gets a phi) or the start (undef).
    fn start_value(&mut self, f: &mut Function, leaf: usize, block: Block) -> Def {
        let mut path = Vec::new();
        let mut at = block;
        let shape = self.accesses.leaves[leaf].shape;
        let value = loop {
            if let Some(&value) = self.at_start.get(&(leaf, at)) {
                break self.resolve(value);
            }
            path.push(at);
            let start = f.start_block();
            if self.position[at.index()] < self.unset[leaf] && at != start {
                at = start;
                continue;
            }
            match *f.preds(at) {
                [] => {
                    let undef = f.create(InstrInit::Undef, shape, &[]);
                    f.insert(undef, Cursor::AfterPhis(at));
                    break undef.def();
                }
                [pred] => {
                    if let Some(&value) = self.at_end.get(&(leaf, pred)) {
                        break self.resolve(value);
                    }
                    at = pred;
                }
                _ => {
                    let phi = f.create(InstrInit::Phi(&[]), shape, &[]);
                    f.insert(phi, Cursor::BlockStart(at));
                    self.pending.push((leaf, at, phi));
                    self.phis.push(phi);
                    break phi.def();
                }
            }
        };
        for block in path {
            self.at_start.insert((leaf, block), value);
        }
        value
    }

    /// Gives the phis their sources, in the order of the text: that of predecessors depends on earlier edits, and
    /// would show in the order of the phis that this makes.
    fn finish_phis(&mut self, f: &mut Function) {
        while let Some((leaf, block, phi)) = self.pending.pop() {
            let mut preds = f.preds(block).to_vec();
            preds.sort_unstable_by_key(|pred| self.position[pred.index()]);
            for pred in preds {
                let value = self.end_value(f, leaf, pred);
                f.add_phi_src(phi, pred, value);
            }
        }
    }

    fn remove_stores(&self, f: &mut Function, blocks: &[Block]) {
        for &block in blocks {
            let mut next = f.first_instr(block);
            while let Some(instr) = next {
                next = f.next_instr(instr);
                if f.intrinsic(instr) == Some(Intrinsic::STORE_DEREF)
                    && self.promoted_leaf(f.src(instr, 0)).is_some()
                {
                    f.remove(instr);
                }
            }
        }
    }
}

/// The old value with the components of the mask replaced.
fn merge(f: &mut Function, store: Instr, old: Def, new: Def, mask: u32, comps: u8) -> Def {
    // A stored component alone stands at every place.
    let scalar = f.comps(new) == 1;
    let part = |c: u8| match mask >> c & 1 {
        0 => AluSrc::comp(old, c),
        _ => AluSrc::comp(new, if scalar { 0 } else { c }),
    };
    let parts: Vec<AluSrc> = (0..comps).map(part).collect();
    let mut b = Builder::new(f, Cursor::Before(store));
    b.vec_of(&parts)
}
