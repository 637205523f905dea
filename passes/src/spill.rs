//! Values that are used outside of a loop or `once` in which they are defined go through variables.
//!
//! A new way out of the loop (a `return` that becomes a `break`) does not pass the definition, so the value can't be
//! used as it is behind the loop. It is stored where it is defined and loaded where it is used, and undef before the
//! loop, so that nothing is alive further up; `vars_to_ssa` makes phis of that. What depends on constants and derefs
//! alone is computed anew instead: addresses can't be stored.

use crate::mem;
use deburr_ir_core::{
    AluOp, Block, Builder, Cursor, Def, DerefKind, Function, Instr, InstrKind, InstrView,
    Intrinsic, Modes, Node, TypeTable, User, Variable,
};
use rustc_hash::{FxHashMap, FxHashSet};

/// The places in the text that the regions take, and where each block stands.
pub(crate) struct Regions {
    blocks: Vec<Block>,
    place: FxHashMap<Block, usize>,
    /// The outer ones first.
    regions: Vec<Region>,
    /// For each block in the order of the text: the innermost region around it.
    around: Vec<Option<usize>>,
}

struct Region {
    node: Node,
    /// Places of its first and last block.
    first: usize,
    last: usize,
    /// The region around it.
    outer: Option<usize>,
}

impl Regions {
    /// Regions are loops or `once`s of the function.
    pub fn new(f: &Function, nodes: &FxHashSet<Node>) -> Regions {
        let blocks: Vec<Block> = f.blocks().collect();
        let place: FxHashMap<Block, usize> =
            blocks.iter().enumerate().map(|(n, &b)| (b, n)).collect();
        let mut regions: Vec<Region> = nodes
            .iter()
            .map(|&node| {
                let first = place[&f.block_before(node)] + 1;
                Region { node, first, last: place[&f.block_after(node)] - 1, outer: None }
            })
            .collect();
        regions.sort_unstable_by_key(|r| (r.first, usize::MAX - r.last));
        let mut open: Vec<usize> = Vec::new();
        let (mut around, mut next) = (Vec::new(), 0);
        for n in 0..blocks.len() {
            while open.last().is_some_and(|&r| regions[r].last < n) {
                open.pop();
            }
            while let Some(region) = regions.get_mut(next).filter(|r| r.first == n) {
                region.outer = open.last().copied();
                open.push(next);
                next += 1;
            }
            around.push(open.last().copied());
        }
        Regions { blocks, place, regions, around }
    }

    /// The loops and `once`s.
    pub fn nodes(&self) -> impl Iterator<Item = Node> {
        self.regions.iter().map(|region| region.node)
    }

    /// The uses of a value outside of the innermost region around its definition, at place `n`.
    fn crossing<'a>(
        &'a self,
        f: &'a Function,
        n: usize,
        def: Def,
    ) -> impl Iterator<Item = (User, usize)> + 'a {
        let region = self.around[n].map(|r| &self.regions[r]);
        f.uses_at(def).filter(move |&(user, at)| {
            let place = place_of_use(f, user, at).and_then(|b| self.place.get(&b));
            let outside = |r: &Region| place.is_some_and(|p| !(r.first..=r.last).contains(p));
            region.is_some_and(outside)
        })
    }

    /// The outermost region around place `n` that one of the users is outside of.
    fn outermost(&self, f: &Function, n: usize, users: &[(User, usize)]) -> Option<&Region> {
        let places = users.iter().filter_map(|&(user, at)| place_of_use(f, user, at));
        let mut first = n;
        let mut last = n;
        for place in places.filter_map(|b| self.place.get(&b)) {
            (first, last) = (first.min(*place), last.max(*place));
        }
        let holds_all = |r: &Region| r.first <= first && last <= r.last;
        let mut at = &self.regions[self.around[n]?];
        while let Some(outer) = at.outer.map(|r| &self.regions[r]).filter(|r| !holds_all(r)) {
            at = outer;
        }
        Some(at)
    }

    /// Whether every value that crosses can be spilled: a pointer that no deref says all of can't.
    pub fn can_spill(&self, f: &Function) -> bool {
        self.blocks.iter().enumerate().filter(|(n, _)| self.around[*n].is_some()).all(|(n, &b)| {
            f.instrs(b).filter_map(|i| f.def(i)).all(|def| {
                self.crossing(f, n, def).next().is_none() || is_anew(f, def) || !is_pointer(f, def)
            })
        })
    }

    /// Spills all values that cross.
    pub fn spill(&self, f: &mut Function, types: &mut TypeTable) {
        // From the end to the start: what is computed anew needs values from before it.
        for (n, &block) in self.blocks.iter().enumerate().rev() {
            if self.around[n].is_none() {
                continue;
            }
            let last_phi = f.phis(block).last();
            let mut next = f.last_instr(block);
            while let Some(instr) = next {
                next = f.prev_instr(instr);
                let Some(def) = f.def(instr) else { continue };
                let users: Vec<(User, usize)> = self.crossing(f, n, def).collect();
                if users.is_empty() {
                    continue;
                }
                if is_anew(f, def) {
                    for (user, at) in users {
                        let copy = f.duplicate(instr);
                        f.insert(copy, cursor_of_use(f, user, at));
                        set_use(f, user, at, copy.def());
                    }
                } else if let Some(region) = self.outermost(f, n, &users) {
                    let before = f.block_before(region.node);
                    through_variable(f, types, def, last_phi, before, &users);
                }
            }
        }
    }
}

/// The block at which a value is used: a phi needs it at the end of the predecessor.
fn place_of_use(f: &Function, user: User, at: usize) -> Option<Block> {
    match user {
        User::Instr(instr) => {
            if let InstrView::Phi(preds) = f.view(instr) {
                return preds.get(at).copied();
            }
            f.block_of(instr)
        }
        User::If(node) => Some(f.block_before(node)),
    }
}

fn cursor_of_use(f: &Function, user: User, at: usize) -> Cursor {
    match user {
        User::Instr(instr) if f.kind(instr) != InstrKind::Phi => Cursor::Before(instr),
        User::Instr(_) | User::If(_) => {
            let block = place_of_use(f, user, at).expect("a use stands in the tree");
            Cursor::BeforeJump(block)
        }
    }
}

fn set_use(f: &mut Function, user: User, at: usize, def: Def) {
    match user {
        User::Instr(instr) => f.set_src(instr, at, def),
        User::If(node) => f.set_condition(node, def),
    }
}

/// Whether the value can be computed anew anywhere.
fn is_anew(f: &Function, def: Def) -> bool {
    let instr = def.instr();
    match f.kind(instr) {
        InstrKind::LoadConst | InstrKind::Deref => true,
        InstrKind::Intrinsic => f.intrinsic(instr) == Some(Intrinsic::LOAD_PARAM),
        InstrKind::Alu
        | InstrKind::Tex
        | InstrKind::Undef
        | InstrKind::Phi
        | InstrKind::Jump
        | InstrKind::Call
        | InstrKind::ParallelCopy => false,
    }
}

/// Whether the value is used as a pointer, perhaps after phis and selects: a cast says to what.
fn is_pointer(f: &Function, def: Def) -> bool {
    let mut seen = FxHashSet::default();
    let mut work = vec![def];
    while let Some(def) = work.pop().filter(|&d| seen.insert(d)) {
        for (user, n) in f.uses_at(def) {
            let User::Instr(user) = user else { continue };
            match f.view(user) {
                InstrView::Deref(info) if n == 0 && info.kind == DerefKind::Cast => return true,
                InstrView::Phi(_) | InstrView::Alu(AluOp::BCSEL | AluOp::MOV) => {
                    work.push(user.def());
                }
                InstrView::Alu(_)
                | InstrView::Intrinsic(..)
                | InstrView::Tex(_)
                | InstrView::Deref(_)
                | InstrView::LoadConst(_)
                | InstrView::Undef
                | InstrView::Jump(_)
                | InstrView::Call(_)
                | InstrView::ParallelCopy => {}
            }
        }
    }
    false
}

fn through_variable(
    f: &mut Function,
    types: &mut TypeTable,
    def: Def,
    last_phi: Option<Instr>,
    before: Block,
    users: &[(User, usize)],
) {
    let shape = f.shape(def);
    let scalar = match shape.bits() {
        1 => types.bool(),
        bits => types.int(bits, false),
    };
    let ty = match shape.comps() {
        1 => scalar,
        n => types.vector(scalar, n),
    };
    let var = f.add_local(Variable::new("crossing", Modes::FUNCTION, ty));
    let mut b = Builder::new(f, Cursor::BlockEnd(before));
    let pointer = b.deref_var(var, Modes::FUNCTION, ty);
    let undef = b.undef(shape.comps(), shape.bits());
    mem::store(&mut b, pointer, undef, 0);
    let behind = last_phi.filter(|_| f.kind(def.instr()) == InstrKind::Phi);
    let mut b = Builder::new(f, Cursor::After(behind.unwrap_or(def.instr())));
    let pointer = b.deref_var(var, Modes::FUNCTION, ty);
    mem::store(&mut b, pointer, def, 0);
    for &(user, at) in users {
        let place = cursor_of_use(f, user, at);
        let mut b = Builder::new(f, place);
        let pointer = b.deref_var(var, Modes::FUNCTION, ty);
        let value = mem::load(&mut b, pointer, shape, 0);
        set_use(f, user, at, value);
    }
}
