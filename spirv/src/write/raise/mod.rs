//! What the IR has in parts and SPIR-V has whole: loads and stores of every leaf of an aggregate, columns of a
//! matrix that one instruction gives, products of matrices column by column.
//!
//! [`Raise::find`] looks for *groups* of such parts. A group is written where its first part stands (a store where its
//! last does), and the parts that something else needs are extracted from it. Parts of a load stand in one block with
//! no write between them, parts of a store with no other access between them.
//!
//! [`accesses`] finds and writes loads and stores, [`matrices`] what works on columns, [`leaves`] is about types alone.

mod accesses;
mod leaves;
mod matrices;

pub(super) use leaves::copies_logically;
pub(super) use matrices::{column_range, splat_src};

use super::code::Emit;
use crate::error::Error;
use deburr_ir_core::{Block, Def, Function, Instr, Module, Type, User};
use leaves::{Leaves, leaf_count, matrix_shape, parts, path_to};
use matrices::{column_count, is_plain};
use rustc_hash::{FxHashMap, FxHashSet};
use spirv::Op;

/// What a group makes.
#[derive(Clone, Debug)]
enum Kind {
    /// A load of the object of this type behind the deref.
    Load { parent: Def, ty: Type },
    /// A store likewise.
    Store { parent: Def, ty: Type },
    /// A matrix whose columns an instruction of this form gives, with sources but for the column's number.
    Columns,
    /// The product of the matrix of these columns and the one whose columns the parts multiply.
    Product { left: Vec<Def>, right: Vec<Def> },
    /// The matrix of these columns times a component of a value.
    Scale { columns: Vec<Def>, scalar: (Def, u8) },
}

#[derive(Clone, Debug)]
struct Group {
    kind: Kind,
    /// The parts: values given, or values stored.
    parts: Vec<Def>,
    instrs: Vec<Instr>,
    /// Which column each part is, where the parts are columns.
    numbers: Vec<u32>,
    /// Id of the whole, once written.
    id: Option<u32>,
}

/// What an operand that is whole must be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Want {
    Type(Type),
    /// A type that is this one but for layout.
    Like(Type),
    /// Columns, components and bit size.
    Matrix(usize, u8, u8),
}

/// The groups of a function.
#[derive(Debug, Default)]
pub(super) struct Raise {
    groups: Vec<Group>,
    /// Group and number of the part, for the instructions that are parts.
    of_instr: FxHashMap<Instr, (usize, usize)>,
    /// Parts that are needed for themselves.
    needed: FxHashSet<Def>,
    /// Derefs of the objects that are loaded or stored whole.
    parents: FxHashSet<Def>,
    leaves: FxHashMap<Type, Option<Leaves>>,
}

impl Raise {
    pub fn find(f: &Function, module: &Module) -> Self {
        let mut raise = Raise::default();
        let blocks: Vec<Block> = f.blocks().collect();
        for &block in &blocks {
            raise.find_accesses(f, module, block);
        }
        raise.leave_narrow_apart(f, module);
        for &block in &blocks {
            raise.find_columns(f, block);
            raise.find_ray_columns(f, block);
        }
        for &block in &blocks {
            raise.find_scales(f, module, block);
            raise.find_products(f, module, block);
        }
        raise.find_needed(f, module);
        raise
    }

    fn add(&mut self, kind: Kind, parts: Vec<Def>, instrs: Vec<Instr>) {
        let group = self.groups.len();
        for (n, &instr) in instrs.iter().enumerate() {
            self.of_instr.insert(instr, (group, n));
        }
        if let Kind::Load { parent, .. } | Kind::Store { parent, .. } = kind {
            self.parents.insert(parent);
        }
        let numbers = (0..parts.len() as u32).collect();
        self.groups.push(Group { kind, parts, instrs, numbers, id: None });
    }

    /// Whether the access is a part of a larger one.
    pub fn is_part(&self, instr: Instr) -> bool {
        self.of_instr.contains_key(&instr)
    }

    /// Whether a group loads from or stores to the object behind the deref.
    pub fn is_parent(&self, deref: Def) -> bool {
        self.parents.contains(&deref)
    }

    // ---- wholes -------------------------------------------------------------------------------------

    /// The group that the values are a whole part of, and the indices that lead to the part.
    fn whole(
        &self,
        module: &Module,
        f: &Function,
        values: &[Def],
        want: Want,
    ) -> Option<(usize, Vec<u32>)> {
        let &(group, first) = self.of_instr.get(&values.first()?.instr())?;
        let data = &self.groups[group];
        if data.parts.get(first..first + values.len())? != values {
            return None;
        }
        match &data.kind {
            Kind::Store { .. } => None,
            Kind::Columns | Kind::Product { .. } | Kind::Scale { .. } => {
                let column = values[0];
                let shape = Want::Matrix(values.len(), f.comps(column), f.bits(column));
                let want = match want {
                    Want::Type(ty) | Want::Like(ty) => matrix_shape(module, ty)?,
                    other => other,
                };
                (first == 0 && self.is_full(f, data) && want == shape).then(|| (group, Vec::new()))
            }
            Kind::Load { ty, .. } => {
                let (path, _) = path_to(module, *ty, first, values.len(), want)?;
                Some((group, path))
            }
        }
    }

    /// Whether a group of columns has all that its instruction gives.
    fn is_full(&self, f: &Function, group: &Group) -> bool {
        match &group.kind {
            Kind::Columns => {
                let count = column_count(f, group.instrs[0]);
                group.numbers.iter().copied().eq(0..count as u32)
            }
            Kind::Product { right: columns, .. } | Kind::Scale { columns, .. } => {
                columns.len() == group.parts.len()
            }
            Kind::Load { .. } | Kind::Store { .. } => true,
        }
    }

    /// Marks parts that something needs by themselves.
    fn find_needed(&mut self, f: &Function, module: &Module) {
        let mut consumed: FxHashSet<(Instr, usize)> = FxHashSet::default();
        let mut needed: Vec<Def> = Vec::new();
        for group in 0..self.groups.len() {
            let data = self.groups[group].clone();
            match &data.kind {
                Kind::Store { ty, .. } => {
                    consumed.extend(data.instrs.iter().map(|&i| (i, 1)));
                    self.plan(f, module, *ty, &data.parts, &mut needed);
                }
                Kind::Product { left, .. } => {
                    consumed.extend(data.instrs.iter().map(|&i| (i, left.len())));
                }
                Kind::Scale { columns, .. } => {
                    for (&instr, &column) in data.instrs.iter().zip(columns) {
                        let n = usize::from(f.src(instr, 0) != column);
                        consumed.insert((instr, n));
                    }
                }
                Kind::Load { .. } | Kind::Columns => {}
            }
        }
        for block in f.blocks() {
            for instr in f.instrs(block) {
                let Some(form) = f.alu_info(instr).and_then(|i| i.spirv.first()) else { continue };
                let range = column_range(form, f.srcs(instr).len());
                if range.is_empty() || !is_plain(f, instr, range.clone()) {
                    continue;
                }
                let columns: Vec<Def> = range.clone().map(|n| f.src(instr, n)).collect();
                let want = Want::Matrix(columns.len(), f.comps(columns[0]), f.bits(columns[0]));
                if self.whole(module, f, &columns, want).is_some() {
                    consumed.extend(range.map(|n| (instr, n)));
                }
            }
        }
        self.needed.extend(needed);
        for group in &self.groups {
            if matches!(group.kind, Kind::Store { .. }) {
                continue;
            }
            for &part in &group.parts {
                let alone = f.uses_at(part).any(|(user, n)| match user {
                    User::Instr(i) => !consumed.contains(&(i, n)),
                    User::If(_) => true,
                });
                if alone {
                    self.needed.insert(part);
                }
            }
        }
    }

    /// Notes the leaves that building the value takes one by one.
    fn plan(&self, f: &Function, module: &Module, ty: Type, leaves: &[Def], needed: &mut Vec<Def>) {
        let mut work = vec![(ty, leaves)];
        while let Some((ty, leaves)) = work.pop() {
            let like = copies_logically(module) && !leaves.is_empty();
            if self.whole(module, f, leaves, Want::Type(ty)).is_some()
                || like && self.whole(module, f, leaves, Want::Like(ty)).is_some()
            {
                continue;
            }
            if module.types.value_shape(ty).is_some() {
                needed.extend(leaves.first());
                continue;
            }
            let mut rest = leaves;
            for part in parts(module, ty) {
                let count = leaf_count(module, part).min(rest.len());
                let (own, others) = rest.split_at(count);
                work.push((part, own));
                rest = others;
            }
        }
    }
}

impl Emit<'_, '_> {
    /// Extracts a part where it is needed by itself.
    fn extract_part(&mut self, def: Def, group: usize, n: usize) -> Result<(), Error> {
        if !self.raise.needed.contains(&def) {
            return Ok(());
        }
        let id = self.id_of(def);
        self.extract_as(def, group, n, id)
    }

    fn extract_as(&mut self, def: Def, group: usize, n: usize, id: u32) -> Result<(), Error> {
        let Some(whole) = self.raise.groups[group].id else {
            return Err(Error::invalid("a part before its whole"));
        };
        let type_id = self.w.value_type(self.type_of(def));
        let mut words = vec![type_id, id, whole];
        match self.raise.groups[group].kind {
            Kind::Load { ty, .. } => {
                let leaves = self.raise.leaves_of(self.w.module, ty);
                words.extend(leaves.iter().flat_map(|l| l[n].0.iter().copied()));
            }
            _ => words.push(self.raise.groups[group].numbers[n]),
        }
        self.code.op(Op::CompositeExtract, &words);
        Ok(())
    }

    /// The id of a part that nothing was known to need by itself, extracted on the spot.
    pub(super) fn late_part(&mut self, def: Def) -> Result<Option<u32>, Error> {
        let Some(&(group, n)) = self.raise.of_instr.get(&def.instr()) else { return Ok(None) };
        if self.raise.needed.contains(&def) || self.raise.groups[group].id.is_none() {
            return Ok(None);
        }
        let id = self.w.id();
        self.extract_as(def, group, n, id)?;
        Ok(Some(id))
    }

    /// The id of the whole that the values are, if there is one.
    fn whole_id(&mut self, values: &[Def], want: Want) -> Result<Option<u32>, Error> {
        let Some((group, path)) = self.raise.whole(self.w.module, self.f, values, want) else {
            return Ok(None);
        };
        let Some(whole) = self.raise.groups[group].id else { return Ok(None) };
        if path.is_empty() {
            return Ok(Some(whole));
        }
        let type_id = match want {
            Want::Type(ty) | Want::Like(ty) => self.w.ir_type(ty)?,
            Want::Matrix(cols, comps, bits) => self.float_matrix(cols, comps, bits),
        };
        let key = (type_id, values.to_vec());
        if let Some(id) = self.known_whole(&key) {
            return Ok(Some(id));
        }
        let id = self.w.id();
        let mut words = vec![type_id, id, whole];
        words.extend(path);
        self.code.op(Op::CompositeExtract, &words);
        self.remember_whole(key, id);
        Ok(Some(id))
    }
}
