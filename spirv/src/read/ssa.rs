//! SSA form for what has several definitions: phis, whose edges the tree may merge, flags of early exits, and values
//! whose definition no longer dominates a use.
//!
//! A *variable* has values at the ends of blocks; reading it at the start of a block inserts the phis that are
//! needed (M. Braun et al., "Simple and Efficient Construction of Static Single Assignment Form", 2013, with all
//! blocks sealed). Where no definition reaches, the value is undef.

use deburr_ir_core::{Block, Cursor, Def, Function, Instr, InstrInit, InstrKind, Shape, User};
use rustc_hash::FxHashMap;

/// A variable by its number.
pub(super) type VarId = usize;

/// The variables of a function.
#[derive(Debug, Default)]
pub(super) struct Variables {
    shapes: Vec<Shape>,
    /// Values at the ends of blocks.
    ends: FxHashMap<(VarId, Block), Def>,
    /// Values at the starts of blocks.
    starts: FxHashMap<(VarId, Block), Def>,
    /// Phis without sources yet: the phi, its block, its variable.
    open: Vec<(Instr, Block, VarId)>,
    /// Phis made for reads, which may turn out trivial.
    made: Vec<Instr>,
    undefs: FxHashMap<Shape, Def>,
}

impl Variables {
    /// A new variable.
    pub fn declare(&mut self, shape: Shape) -> VarId {
        self.shapes.push(shape);
        self.shapes.len() - 1
    }

    /// Components and bit size of a variable.
    pub fn shape(&self, var: VarId) -> Shape {
        self.shapes[var]
    }

    /// The variable has the value at the end of the block.
    pub fn define(&mut self, var: VarId, block: Block, value: Def) {
        self.ends.insert((var, block), value);
    }

    /// The value at the start of a block. Its sources are filled in by [`Variables::finish`].
    pub fn read(&mut self, f: &mut Function, var: VarId, block: Block) -> Def {
        if let Some(&def) = self.starts.get(&(var, block)) {
            return def;
        }
        let phi = f.create(InstrInit::Phi(&[]), self.shapes[var], &[]);
        self.starts.insert((var, block), phi.def());
        self.open.push((phi, block, var));
        phi.def()
    }

    /// The value in the middle of a block, which may be what the block itself defined: a construct that nothing leaves
    /// early, and a continue construct behind its loop's body, go on in the block that their edges come from.
    pub fn read_here(&mut self, f: &mut Function, var: VarId, block: Block) -> Def {
        match self.ends.get(&(var, block)) {
            Some(&def) => def,
            None => self.read(f, var, block),
        }
    }

    /// The value at the end of a block, where a phi behind it reads, or at its start.
    pub fn read_end(&mut self, f: &mut Function, var: VarId, block: Block, at_end: bool) -> Def {
        match at_end {
            true => self.value_at_end(f, var, block),
            false => self.read(f, var, block),
        }
    }

    fn undef(&mut self, f: &mut Function, shape: Shape) -> Def {
        *self.undefs.entry(shape).or_insert_with(|| {
            let undef = f.create(InstrInit::Undef, shape, &[]);
            f.insert(undef, Cursor::BlockStart(f.start_block()));
            undef.def()
        })
    }

    /// Places the phis and gives them their sources. The control flow has to be complete.
    pub fn finish(&mut self, f: &mut Function) {
        let mut next = 0;
        while let Some(&(phi, block, var)) = self.open.get(next) {
            next += 1;
            f.insert(phi, Cursor::AfterPhis(block));
            self.made.push(phi);
            for pred in f.preds(block).to_vec() {
                let value = self.value_at_end(f, var, pred);
                f.add_phi_src(phi, pred, value);
            }
        }
        self.open.clear();
        self.remove_trivial(f);
    }

    fn value_at_end(&mut self, f: &mut Function, var: VarId, mut block: Block) -> Def {
        let mut passed = Vec::new();
        let value = loop {
            if let Some(&def) = self.ends.get(&(var, block)) {
                break def;
            }
            if let Some(&def) = self.starts.get(&(var, block)) {
                break def;
            }
            match *f.preds(block) {
                [] => break self.undef(f, self.shapes[var]),
                [pred] if block != f.start_block() => {
                    passed.push(block);
                    block = pred;
                    // A circle without an entry: nothing reaches.
                    if passed.len() > f.block_capacity() {
                        break self.undef(f, self.shapes[var]);
                    }
                }
                _ => break self.read(f, var, block),
            }
        };
        for block in passed {
            self.ends.insert((var, block), value);
        }
        value
    }

    /// Replaces phis that choose between one value and themselves.
    fn remove_trivial(&mut self, f: &mut Function) {
        let mut work = std::mem::take(&mut self.made);
        work.reverse();
        while let Some(phi) = work.pop() {
            if f.is_removed(phi) {
                continue;
            }
            let own = phi.def();
            let mut others = f.srcs(phi).iter().map(|s| s.def()).filter(|&d| d != own);
            let Some(value) = others.next() else {
                let undef = self.undef(f, f.shape(own));
                f.replace_uses_except(own, undef, phi);
                drop_phi(f, phi);
                continue;
            };
            if others.any(|d| d != value) {
                continue;
            }
            let users = f.uses(own).filter_map(|u| match u.user() {
                User::Instr(i) if i != phi && f.kind(i) == InstrKind::Phi => Some(i),
                User::Instr(_) | User::If(_) => None,
            });
            work.extend(users.collect::<Vec<_>>());
            f.replace_uses_except(own, value, phi);
            drop_phi(f, phi);
        }
    }
}

/// Removes a phi that only itself uses.
fn drop_phi(f: &mut Function, phi: Instr) {
    while let Some(n) = f.srcs(phi).len().checked_sub(1) {
        f.remove_phi_src(phi, n);
    }
    f.remove(phi);
}
