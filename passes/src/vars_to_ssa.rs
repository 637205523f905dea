//! `vars_to_ssa`: local variables become values.
//!
//! A leaf of a local variable (a vector or scalar, reached by struct members and constant array indices) becomes
//! values where every access to it is a load or store that names it directly. Accesses through a dynamic index, a
//! cast, a call or a copy keep the leaves that they may touch in memory. A call touches what it is given a pointer to and
//! nothing around it; a cast may lead on to any part of the variable.
//!
//! What a load sees that no store of its own block comes before, and where phis are needed for that, is found for one leaf
//! at a time (see `reaching`). Logical form. Keeps the control flow. O((accesses + phis) log).
//!
//! ```text
//! @store_deref &x, %0
//! 32 %1 = @load_deref &x        // becomes %0
//! ```

use crate::mem;
use crate::reaching::{Places, Reaching, Source};
use crate::remove_phis::remove_trivial;
use deburr_ir_core::{
    AluSrc, Block, Builder, Constant, Cursor, Def, DerefKind, Function, Index, Instr, InstrInit,
    Intrinsic, Modes, Shape, Type, TypeData, TypeTable, User, Var,
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
                        && !f.is_volatile(i)
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
    /// Blocks that store each leaf, in the order of the text.
    stored: Vec<Vec<Block>>,
    /// Loads, and stand-ins for loads, that see what each leaf holds where their block begins.
    open: Vec<Vec<(Block, Instr)>>,
    /// Leaves with such loads, in the order of the first.
    waiting: Vec<usize>,
    /// What loads were replaced by.
    replaced: FxHashMap<Def, Def>,
}

impl<'a> Renamer<'a> {
    fn new(accesses: &'a Accesses) -> Self {
        Renamer {
            accesses,
            at_end: FxHashMap::default(),
            stored: vec![Vec::new(); accesses.leaves.len()],
            open: vec![Vec::new(); accesses.leaves.len()],
            waiting: Vec::new(),
            replaced: FxHashMap::default(),
        }
    }

    fn run(mut self, f: &mut Function, types: &TypeTable) -> bool {
        let blocks: Vec<Block> = f.blocks().collect();
        for &block in &blocks {
            self.scan_block(f, block);
        }
        if !self.waiting.is_empty() {
            let mut places = Places::new(f);
            let mut phis = Vec::new();
            for leaf in std::mem::take(&mut self.waiting) {
                self.replace_open(f, types, leaf, &mut places, &mut phis);
            }
            remove_trivial(f, phis);
        }
        self.remove_stores(f, &blocks);
        true
    }

    /// What a leaf holds when the function begins: its initialiser's value, else undef.
    fn initial_value(&self, f: &mut Function, types: &TypeTable, leaf: usize) -> Def {
        let leaf = &self.accesses.leaves[leaf];
        let var = &f.locals[leaf.var.slot()];
        let init = var.init.as_ref();
        let bits = init.and_then(|i| mem::leaf_constant(types, var.ty, i, &leaf.path, leaf.shape));
        let init = match &bits {
            Some(bits) => InstrInit::LoadConst(bits),
            None => InstrInit::Undef,
        };
        let value = f.create(init, leaf.shape, &[]);
        f.insert(value, Cursor::AfterPhis(f.start_block()));
        value.def()
    }

    /// Replaces the loads of a leaf that no store of their block comes before.
    fn replace_open(
        &mut self,
        f: &mut Function,
        types: &TypeTable,
        leaf: usize,
        places: &mut Places,
        made: &mut Vec<Instr>,
    ) {
        let loads = std::mem::take(&mut self.open[leaf]);
        let reads: Vec<Block> = loads.iter().map(|&(block, _)| block).collect();
        let stored = std::mem::take(&mut self.stored[leaf]);
        let Reaching { reads, phis, edges } = places.reaching(f, &stored, &reads);
        let shape = self.accesses.leaves[leaf].shape;
        let instrs: Vec<Option<Instr>> = phis
            .iter()
            .map(|phi| {
                let new = phi.is_read.then(|| f.create(InstrInit::Phi(&[]), shape, &[]))?;
                f.insert(new, Cursor::BlockStart(phi.block));
                Some(new)
            })
            .collect();
        let mut start = None;
        let mut value_of = |renamer: &mut Self, f: &mut Function, source| match source {
            Source::Start => *start.get_or_insert_with(|| renamer.initial_value(f, types, leaf)),
            Source::Set(n) => renamer.resolve(renamer.at_end[&(leaf, stored[n])]),
            Source::Phi(n) => instrs[n].expect("a phi that is read is there").def(),
        };
        for ((_, load), source) in loads.into_iter().zip(reads) {
            let value = value_of(self, f, source);
            self.replace(f, load, value);
        }
        for (phi, &instr) in phis.iter().zip(&instrs) {
            let Some(instr) = instr else { continue };
            made.push(instr);
            for &(pred, source) in &edges[phi.edges.clone()] {
                let value = value_of(self, f, source);
                f.add_phi_src(instr, pred, value);
            }
        }
    }

    /// Follows the values within one block. Accesses that come before any store of theirs wait for what comes in.
    fn scan_block(&mut self, f: &mut Function, block: Block) {
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
                    self.wait(leaf, block, instr);
                    continue;
                }
                let whole = self.current(f, leaf, block, instr);
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
                let old = self.current(f, leaf, block, instr);
                merge(f, instr, old, stored, mask, comps)
            };
            if self.at_end.insert((leaf, block), value).is_none() {
                self.stored[leaf].push(block);
            }
        }
    }

    /// The value of a leaf before `at`: where the block has not stored it yet, a stand-in for what comes in.
    fn current(&mut self, f: &mut Function, leaf: usize, block: Block, at: Instr) -> Def {
        if let Some(&value) = self.at_end.get(&(leaf, block)) {
            return self.resolve(value);
        }
        let incoming = f.create(InstrInit::Undef, self.accesses.leaves[leaf].shape, &[]);
        f.insert(incoming, Cursor::Before(at));
        self.wait(leaf, block, incoming);
        incoming.def()
    }

    fn wait(&mut self, leaf: usize, block: Block, load: Instr) {
        if self.open[leaf].is_empty() {
            self.waiting.push(leaf);
        }
        self.open[leaf].push((block, load));
    }

    fn promoted_leaf(&self, deref: Def) -> Option<(usize, Option<u8>)> {
        let (leaf, comp) = *self.accesses.leaf_of.get(&deref)?;
        self.accesses.leaves[leaf].promoted.then_some((leaf, comp))
    }

    /// What stands for a value that may have been a load. Chains of loads become short on the way.
    fn resolve(&mut self, def: Def) -> Def {
        let mut last = def;
        while let Some(&next) = self.replaced.get(&last) {
            last = next;
        }
        let mut at = def;
        while let Some(next) = self.replaced.get_mut(&at).filter(|next| **next != last) {
            at = std::mem::replace(next, last);
        }
        last
    }

    fn replace(&mut self, f: &mut Function, load: Instr, value: Def) {
        let value = self.resolve(value);
        if value != load.def() {
            f.replace_all_uses(load.def(), value);
            self.replaced.insert(load.def(), value);
        }
        f.remove(load);
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
