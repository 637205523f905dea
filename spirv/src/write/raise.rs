//! What the IR has in parts and SPIR-V has whole: loads and stores of every leaf of an aggregate, columns of a
//! matrix that one instruction gives, products of matrices column by column.
//!
//! [`Raise::find`] looks for *groups* of such parts. A group is written where its first part stands (a store where its
//! last does), and the parts that something else needs are extracted from it. Parts of a load stand in one block with
//! no write between them, parts of a store with no other access between them.

use super::code::Emit;
use super::copy::Access;
use super::types::{Class, ValueType};
use crate::error::Error;
use crate::layout::match_logically;
use deburr_ir_core::{
    AluOp, ArrayLen, Block, Constant, Def, DerefKind, Function, Instr, InstrKind, InstrView,
    Intrinsic, IntrinsicFlags, Module, SpirvForm, Swizzle, Type, TypeData, User,
};
use rustc_hash::{FxHashMap, FxHashSet};
use spirv::Op;
use std::ops::Range;
use std::rc::Rc;

/// Aggregates of more leaves are copied in memory.
const MAX_LEAVES: usize = 64;
/// Levels of nesting that are looked up from a leaf.
const MAX_CLIMB: usize = 8;

/// The leaves of a type: the indices that lead to each, and its type.
type Leaves = Rc<Vec<(Vec<u32>, Type)>>;

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

/// Columns among the sources of an instruction with a matrix operand.
pub(super) fn column_range(form: &SpirvForm, srcs: usize) -> Range<usize> {
    let Some(first) = form.matrix else { return 0..0 };
    let first = usize::from(first);
    // The vector of a product stands before or behind the columns, the column's number behind all.
    let others = usize::from(form.name.contains("Vector")) + usize::from(form.column);
    first..first + srcs.saturating_sub(others)
}

impl Raise {
    pub fn find(f: &Function, module: &Module) -> Self {
        let mut raise = Raise::default();
        let blocks: Vec<Block> = f.blocks().collect();
        for &block in &blocks {
            raise.find_accesses(f, module, block);
            raise.find_columns(f, block);
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

    // ---- loads and stores ---------------------------------------------------------------------------

    fn find_accesses(&mut self, f: &Function, module: &Module, block: Block) {
        let mut loads: Vec<Instr> = Vec::new();
        let mut stores: Vec<Instr> = Vec::new();
        for instr in f.instrs(block) {
            match f.view(instr) {
                InstrView::Intrinsic(Intrinsic::LOAD_DEREF, _) => {
                    self.flush(f, module, &mut stores, false);
                    loads.push(instr);
                }
                InstrView::Intrinsic(Intrinsic::STORE_DEREF, _) => {
                    self.flush(f, module, &mut loads, true);
                    stores.push(instr);
                }
                InstrView::Call(_) => {
                    self.flush(f, module, &mut loads, true);
                    self.flush(f, module, &mut stores, false);
                }
                InstrView::Intrinsic(..) => {
                    let Some(info) = f.intrinsic_info(instr) else { continue };
                    let memory = info.memory;
                    let writes = !memory.writes.is_empty()
                        || memory.writes_deref
                        || info.flags.contains(IntrinsicFlags::BARRIER);
                    let reads = !memory.reads.is_empty() || memory.reads_deref;
                    if writes {
                        self.flush(f, module, &mut loads, true);
                    }
                    if writes || reads || memory.reads_deref1 {
                        self.flush(f, module, &mut stores, false);
                    }
                }
                InstrView::Alu(_)
                | InstrView::Tex(_)
                | InstrView::Deref(_)
                | InstrView::LoadConst(_)
                | InstrView::Undef
                | InstrView::Phi(_)
                | InstrView::Jump(_)
                | InstrView::ParallelCopy => {}
            }
        }
        self.flush(f, module, &mut loads, true);
        self.flush(f, module, &mut stores, false);
    }

    /// Makes groups of a run of loads or stores.
    fn flush(&mut self, f: &Function, module: &Module, run: &mut Vec<Instr>, loads: bool) {
        let mut at = 0;
        while at + 1 < run.len() {
            at += match self.group_at(f, module, &run[at..]) {
                Some((parent, ty, count)) => {
                    let instrs = run[at..at + count].to_vec();
                    let part = |&i: &Instr| if loads { i.def() } else { f.src(i, 1) };
                    let parts = instrs.iter().map(part).collect();
                    let kind = match loads {
                        true => Kind::Load { parent, ty },
                        false => Kind::Store { parent, ty },
                    };
                    self.add(kind, parts, instrs);
                    count
                }
                None => 1,
            };
        }
        run.clear();
    }

    /// The largest object whose leaves the run begins with: its deref, type and number of leaves.
    fn group_at(
        &mut self,
        f: &Function,
        module: &Module,
        run: &[Instr],
    ) -> Option<(Def, Type, usize)> {
        let mut best = None;
        let mut at = f.src(run[0], 0);
        for _ in 0..MAX_CLIMB {
            if step_index(f, at) != Some(0) {
                break;
            }
            at = f.src(at.instr(), 0);
            let Some(ty) = f.deref(at.instr()).map(|d| d.ty) else { break };
            let Some(leaves) = self.leaves_of(module, ty) else { break };
            if leaves.len() > run.len() {
                break;
            }
            if leaves.len() > 1 && covers(f, module, run, at, &leaves) {
                best = Some((at, ty, leaves.len()));
            }
        }
        best
    }

    fn leaves_of(&mut self, module: &Module, ty: Type) -> Option<Leaves> {
        if let Some(known) = self.leaves.get(&ty) {
            return known.clone();
        }
        let leaves = leaf_paths(module, ty).map(Rc::new);
        self.leaves.insert(ty, leaves.clone());
        leaves
    }

    // ---- matrices -----------------------------------------------------------------------------------

    /// Columns that one instruction gives.
    fn find_columns(&mut self, f: &Function, block: Block) {
        type Key = (AluOp, Vec<(Def, Swizzle)>);
        let mut open: FxHashMap<Key, Vec<Instr>> = FxHashMap::default();
        let mut order: Vec<Key> = Vec::new();
        for instr in f.instrs(block) {
            let Some((op, info)) = f.alu_op(instr).zip(f.alu_info(instr)) else { continue };
            if !info.spirv.first().is_some_and(|form| form.column) {
                continue;
            }
            let srcs = f.srcs(instr);
            let column = f.constant(srcs[srcs.len() - 1].def());
            let key: Key =
                (op, srcs[..srcs.len() - 1].iter().map(|s| (s.def(), s.swizzle())).collect());
            let columns = open.entry(key.clone()).or_insert_with(|| {
                order.push(key.clone());
                Vec::new()
            });
            if column.is_some_and(|c| (c[0] as usize) < column_count(f, instr)) {
                columns.push(instr);
            }
        }
        for key in order {
            if let Some(instrs) = open.remove(&key).filter(|i| !i.is_empty()) {
                let parts = instrs.iter().map(|i| i.def()).collect();
                let number = |i: &Instr| {
                    let last = f.src(*i, f.srcs(*i).len() - 1);
                    f.constant(last).map_or(0, |c| c[0] as u32)
                };
                let numbers = instrs.iter().map(number).collect();
                self.add(Kind::Columns, parts, instrs);
                if let Some(group) = self.groups.last_mut() {
                    group.numbers = numbers;
                }
            }
        }
    }

    /// Products of every column of a matrix with one scalar.
    fn find_scales(&mut self, f: &Function, module: &Module, block: Block) {
        let mut open: FxHashMap<(Def, u8), Vec<(Instr, Def)>> = FxHashMap::default();
        for instr in f.instrs(block) {
            let Some((column, scalar)) = scaled_column(f, instr) else { continue };
            let (comps, bits) = (f.comps(column), f.bits(column));
            let run = open.entry(scalar).or_default();
            if run.first().is_some_and(|(first, _)| f.flags(*first) != f.flags(instr)) {
                run.clear();
            }
            run.push((instr, column));
            let columns_of = |run: &[(Instr, Def)]| run.iter().map(|r| r.1).collect::<Vec<_>>();
            let mut columns = columns_of(run);
            if run.len() > 1 && !self.begins(&columns) {
                run.drain(..run.len() - 1);
                columns = columns_of(run);
            }
            let want = Want::Matrix(columns.len(), comps, bits);
            if (2..=4).contains(&columns.len()) && self.whole(module, f, &columns, want).is_some() {
                let instrs: Vec<Instr> = std::mem::take(run).iter().map(|r| r.0).collect();
                let parts = instrs.iter().map(|i| i.def()).collect();
                self.add(Kind::Scale { columns, scalar }, parts, instrs);
            }
        }
    }

    /// Whether the values are the first columns of a matrix, or all.
    fn begins(&self, columns: &[Def]) -> bool {
        let first = columns.first().and_then(|c| self.of_instr.get(&c.instr()));
        first.is_some_and(|&(group, n)| self.groups[group].parts[n..].starts_with(columns))
    }

    /// Products of a matrix with every column of another.
    fn find_products(&mut self, f: &Function, module: &Module, block: Block) {
        let mut open: FxHashMap<Vec<Def>, Vec<Instr>> = FxHashMap::default();
        for instr in f.instrs(block) {
            let Some(info) = f.alu_info(instr) else { continue };
            let Some(form) = info.spirv.first() else { continue };
            if form.name != "MatrixTimesVector" {
                continue;
            }
            let srcs: Vec<Def> = f.srcs(instr).iter().map(|s| s.def()).collect();
            let plain = f.srcs(instr).iter().all(|s| s.swizzle().is_identity(f.comps(s.def())));
            let (Some((&vector, left)), true) = (srcs.split_last(), plain) else { continue };
            let columns = open.entry(left.to_vec()).or_default();
            let right: Vec<Def> =
                columns.iter().map(|&i| f.src(i, left.len())).chain([vector]).collect();
            let shape = |cols: usize| Want::Matrix(cols, f.comps(vector), f.bits(vector));
            let full = (2..=4).contains(&right.len())
                && self.whole(module, f, &right, shape(right.len())).is_some();
            let fits = f.flags(instr) == columns.first().map_or(f.flags(instr), |&c| f.flags(c));
            if !fits {
                columns.clear();
                continue;
            }
            columns.push(instr);
            if full {
                let instrs = std::mem::take(columns);
                let parts = instrs.iter().map(|i| i.def()).collect();
                self.add(Kind::Product { left: left.to_vec(), right }, parts, instrs);
            } else if right.len() >= 4 || !self.could_grow(&right) {
                columns.clear();
            }
        }
    }

    /// Whether the values are the first columns of a matrix of more.
    fn could_grow(&self, columns: &[Def]) -> bool {
        let Some(&(group, first)) = columns.first().and_then(|c| self.of_instr.get(&c.instr()))
        else {
            return false;
        };
        let parts = &self.groups[group].parts;
        parts.len() > first + columns.len() && parts[first..].starts_with(columns)
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

/// The constant index of an array step, or the member of a struct step.
fn step_index(f: &Function, deref: Def) -> Option<u32> {
    match f.deref(deref.instr())?.kind {
        DerefKind::Struct(member) => Some(member),
        DerefKind::Array => f.constant(f.src(deref.instr(), 1)).map(|c| c[0] as u32),
        DerefKind::Var(_) | DerefKind::Wildcard | DerefKind::Cast | DerefKind::PtrAsArray => None,
    }
}

/// Whether the accesses go to the leaves of the object in order, all in the same way.
fn covers(f: &Function, module: &Module, run: &[Instr], parent: Def, leaves: &Leaves) -> bool {
    let InstrView::Intrinsic(op, indices) = f.view(run[0]) else { return false };
    let is_store = op == Intrinsic::STORE_DEREF;
    leaves.iter().zip(run).all(|((path, ty), &instr)| {
        let InstrView::Intrinsic(_, own) = f.view(instr) else { return false };
        let value = if is_store { f.src(instr, 1) } else { instr.def() };
        let Some((comps, bits)) = module.types.value_shape(*ty) else { return false };
        let full = |mask: u32| mask & ((1 << comps) - 1) == (1 << comps) - 1;
        // The alignment is that of the leaf, whatever the others are aligned to.
        let same = match (own, indices) {
            (&[mask, access, _, scope], &[_, access0, _, scope0]) if is_store => {
                (access, scope) == (access0, scope0) && full(mask)
            }
            (&[access, _, scope], &[access0, _, scope0]) => (access, scope) == (access0, scope0),
            _ => false,
        };
        let mut at = f.src(instr, 0);
        same && (f.comps(value), f.bits(value)) == (comps, bits)
            && path.iter().rev().all(|&index| {
                let here = step_index(f, at) == Some(index);
                if here {
                    at = f.src(at.instr(), 0);
                }
                here
            })
            && at == parent
    })
}

/// The types of an aggregate's members, elements or columns; `None` where it has no fixed number.
fn known_parts(module: &Module, ty: Type) -> Option<Vec<Type>> {
    match &module.types[ty] {
        TypeData::Struct(s) => Some(s.members.iter().map(|m| m.ty).collect()),
        TypeData::Array { elem, len: ArrayLen::Const(n), .. } if *n as usize <= MAX_LEAVES => {
            Some(vec![*elem; *n as usize])
        }
        TypeData::Matrix { column, cols } => Some(vec![*column; (*cols).into()]),
        _ => None,
    }
}

fn parts(module: &Module, ty: Type) -> Vec<Type> {
    known_parts(module, ty).unwrap_or_default()
}

/// Whether the module may say OpCopyLogical.
pub(super) fn copies_logically(module: &Module) -> bool {
    module.spirv.version >= (1, 4)
}

fn part_type(module: &Module, ty: Type, n: u32) -> Option<Type> {
    module.types.member(ty, n).or_else(|| module.types.element(ty))
}

fn leaf_count(module: &Module, ty: Type) -> usize {
    leaf_paths(module, ty).map_or(usize::MAX, |l| l.len())
}

/// The leaves of a type, if all are scalars and vectors and they are not too many, nor the parts without any.
fn leaf_paths(module: &Module, ty: Type) -> Option<Vec<(Vec<u32>, Type)>> {
    let (mut leaves, mut empties) = (Vec::new(), 0);
    let mut work = vec![(Vec::new(), ty)];
    while let Some((path, ty)) = work.pop() {
        if matches!(module.types[ty], TypeData::Pointer { .. }) {
            return None;
        }
        if module.types.value_shape(ty).is_some() {
            leaves.push((path, ty));
            if leaves.len() > MAX_LEAVES {
                return None;
            }
            continue;
        }
        let inner = known_parts(module, ty).filter(|_| path.len() < MAX_CLIMB)?;
        empties += usize::from(inner.is_empty());
        if empties > MAX_LEAVES {
            return None;
        }
        for (n, part) in inner.into_iter().enumerate().rev() {
            let mut path = path.clone();
            path.push(n as u32);
            work.push((path, part));
        }
    }
    Some(leaves)
}

fn matrix_shape(module: &Module, ty: Type) -> Option<Want> {
    let TypeData::Matrix { column, cols } = module.types[ty] else { return None };
    let (comps, bits) = module.types.value_shape(column)?;
    Some(Want::Matrix(cols.into(), comps, bits))
}

/// The indices to the part of a type that holds exactly `count` leaves from leaf `first` on, and its type.
fn path_to(
    module: &Module,
    mut ty: Type,
    mut first: usize,
    count: usize,
    want: Want,
) -> Option<(Vec<u32>, Type)> {
    let mut path = Vec::new();
    loop {
        let is_it = match want {
            Want::Type(wanted) => wanted == ty,
            Want::Like(wanted) => match_logically(&module.types, wanted, ty),
            shape @ Want::Matrix(..) => matrix_shape(module, ty) == Some(shape),
        };
        if first == 0 && is_it && leaf_count(module, ty) == count {
            return Some((path, ty));
        }
        let mut found = None;
        for (n, part) in parts(module, ty).into_iter().enumerate() {
            let leaves = leaf_count(module, part);
            if first < leaves {
                found = Some((n as u32, part));
                break;
            }
            first -= leaves;
        }
        let (n, part) = found?;
        path.push(n);
        ty = part;
    }
}

/// Whether an instruction asks for a column that its matrix doesn't have.
fn has_no_column(f: &Function, instr: Instr) -> bool {
    let srcs = f.srcs(instr);
    let number = f.constant(srcs[srcs.len() - 1].def());
    number.is_some_and(|c| c[0] as usize >= column_count(f, instr))
}

/// The column and the scalar that an instruction multiplies.
fn scaled_column(f: &Function, instr: Instr) -> Option<(Def, (Def, u8))> {
    if f.alu_op(instr) != Some(AluOp::FMUL) {
        return None;
    }
    let (n, comp) = splat_src(f, instr)?;
    let column = f.srcs(instr)[1 - n];
    let comps = f.comps(instr.def());
    let whole = f.comps(column.def()) == comps && column.swizzle().is_identity(comps);
    whole.then(|| (column.def(), (f.src(instr, n), comp)))
}

/// The source of a binary operation on vectors that is one component of a value for all, and which component.
pub(super) fn splat_src(f: &Function, instr: Instr) -> Option<(usize, u8)> {
    let comps = f.comps(instr.def());
    let splat = |n: usize| {
        let src = f.srcs(instr)[n];
        let first = src.swizzle().get(0);
        let one = comps > 1 && src.swizzle().iter(comps).all(|c| c == first);
        (one && f.constant(src.def()).is_none()).then_some((n, first))
    };
    splat(1).or_else(|| splat(0))
}

/// Columns of the matrix that an instruction gives one column of.
fn column_count(f: &Function, instr: Instr) -> usize {
    let form = f.alu_info(instr).and_then(|i| i.spirv.first());
    match form.is_some_and(|form| form.matrix.is_some()) {
        // Transposes and inverses have as many columns as theirs have rows.
        true => f.src_comps(instr, 0).into(),
        // Outer products as the second vector has components.
        false => f.src_comps(instr, 1).into(),
    }
}

impl Emit<'_, '_> {
    /// A load that is a part of a larger one; `false` if it stands for itself.
    pub(super) fn raised_load(&mut self, instr: Instr) -> Result<bool, Error> {
        let Some(&(group, n)) = self.raise.of_instr.get(&instr) else { return Ok(false) };
        let Kind::Load { parent, ty } = self.raise.groups[group].kind else { return Ok(false) };
        if n == 0 {
            let pointer = self.pointer(parent)?;
            let type_id = self.w.ir_type(ty)?;
            let id = self.w.id();
            let mut operands = vec![type_id, id, pointer];
            self.whole_access(group, ty, &mut operands);
            self.code.op(Op::Load, &operands);
            self.raise.groups[group].id = Some(id);
        }
        self.extract_part(instr.def(), group, n)?;
        Ok(true)
    }

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

    /// A store that is a part of a larger one; `false` if it stands for itself.
    pub(super) fn raised_store(&mut self, instr: Instr) -> Result<bool, Error> {
        let Some(&(group, n)) = self.raise.of_instr.get(&instr) else { return Ok(false) };
        let Kind::Store { parent, ty } = self.raise.groups[group].kind else { return Ok(false) };
        let parts = self.raise.groups[group].parts.clone();
        if n + 1 == parts.len() {
            let value = self.aggregate(ty, &parts)?;
            let pointer = self.pointer(parent)?;
            let mut operands = vec![pointer, value];
            self.whole_access(group, ty, &mut operands);
            self.code.op(Op::Store, &operands);
        }
        Ok(true)
    }

    /// Memory operands of the access to the whole: the object is aligned as far as its first leaf tells.
    fn whole_access(&mut self, group: usize, ty: Type, operands: &mut Vec<u32>) {
        let access = self.access_of(self.raise.groups[group].instrs[0]);
        let leaves = self.raise.leaves_of(self.w.module, ty);
        let first = leaves.as_ref().and_then(|l| l.first()).map_or(&[][..], |l| &l.0);
        let align = self.w.module.types.part_align(ty, first, access.align);
        self.push_access(Access { align, ..access }, operands);
    }

    /// The value of a type from its leaves.
    fn aggregate(&mut self, ty: Type, leaves: &[Def]) -> Result<u32, Error> {
        if let Some(id) = self.whole_id(leaves, Want::Type(ty))? {
            return Ok(id);
        }
        if let Some(id) = self.copied_whole(ty, leaves)? {
            return Ok(id);
        }
        if let Some(constant) = self.constant_of(ty, leaves) {
            return self.w.initialiser(ty, &constant);
        }
        let module = self.w.module;
        if let (Some(value), [leaf]) = (self.w.memory_value_type(ty), leaves) {
            return self.operand(*leaf, Swizzle::IDENTITY, value.comps, value.class);
        }
        let type_id = self.w.ir_type(ty)?;
        let mut ids = Vec::new();
        let mut rest = leaves;
        // Types nest as deep as MAX_CLIMB here.
        for part in parts(module, ty) {
            let (own, others) = rest.split_at(leaf_count(module, part).min(rest.len()));
            ids.push(self.aggregate(part, own)?);
            rest = others;
        }
        let id = self.w.id();
        let mut words = vec![type_id, id];
        words.extend(ids);
        self.code.op(Op::CompositeConstruct, &words);
        Ok(id)
    }

    /// The leaves as a whole of another layout, copied into this type.
    fn copied_whole(&mut self, ty: Type, leaves: &[Def]) -> Result<Option<u32>, Error> {
        let module = self.w.module;
        let aggregate = matches!(module.types[ty], TypeData::Struct(_) | TypeData::Array { .. });
        if leaves.is_empty() || !aggregate || !copies_logically(module) {
            return Ok(None);
        }
        let Some((group, path)) = self.raise.whole(module, self.f, leaves, Want::Like(ty)) else {
            return Ok(None);
        };
        let from = match &self.raise.groups[group].kind {
            Kind::Load { ty, .. } => path.iter().try_fold(*ty, |ty, &n| part_type(module, ty, n)),
            _ => None,
        };
        let Some(from) = from else { return Ok(None) };
        let Some(whole) = self.whole_id(leaves, Want::Type(from))? else { return Ok(None) };
        let type_id = self.w.ir_type(ty)?;
        let id = self.w.id();
        self.code.op(Op::CopyLogical, &[type_id, id, whole]);
        Ok(Some(id))
    }

    /// The constant that the leaves make, if all of them are.
    fn constant_of(&self, ty: Type, leaves: &[Def]) -> Option<Constant> {
        if leaves.iter().all(|&l| f_is_zero(self.f, l)) {
            return Some(Constant::Null);
        }
        if self.w.module.types.value_shape(ty).is_some() {
            return Some(Constant::Bits(self.f.constant(*leaves.first()?)?.to_vec()));
        }
        let mut rest = leaves;
        let mut constants = Vec::new();
        for part in parts(self.w.module, ty) {
            let count = leaf_count(self.w.module, part);
            let (own, others) = rest.split_at_checked(count)?;
            constants.push(self.constant_of(part, own)?);
            rest = others;
        }
        Some(Constant::Composite(constants))
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
        if let Some(id) = self.known_whole(values) {
            return Ok(Some(id));
        }
        let type_id = match want {
            Want::Type(ty) | Want::Like(ty) => self.w.ir_type(ty)?,
            Want::Matrix(cols, comps, bits) => self.float_matrix(cols, comps, bits),
        };
        let id = self.w.id();
        let mut words = vec![type_id, id, whole];
        words.extend(path);
        self.code.op(Op::CompositeExtract, &words);
        self.remember_whole(values, id);
        Ok(Some(id))
    }

    fn float_matrix(&mut self, cols: usize, comps: u8, bits: u8) -> u32 {
        let column = self.w.value_type(ValueType { class: Class::Float, bits, comps });
        self.w.matrix_type(column, cols as u8)
    }

    /// The matrix of these columns.
    fn matrix(&mut self, columns: &[Def]) -> Result<u32, Error> {
        let (comps, bits) = (self.f.comps(columns[0]), self.f.bits(columns[0]));
        let want = Want::Matrix(columns.len(), comps, bits);
        if let Some(id) = self.whole_id(columns, want)? {
            return Ok(id);
        }
        if let Some(id) = self.known_whole(columns) {
            return Ok(id);
        }
        let type_id = self.float_matrix(columns.len(), comps, bits);
        let mut ids = Vec::new();
        for &column in columns {
            ids.push(self.operand(column, Swizzle::IDENTITY, comps, Class::Float)?);
        }
        let id = self.w.id();
        let mut words = vec![type_id, id];
        words.extend(ids);
        self.code.op(Op::CompositeConstruct, &words);
        self.remember_whole(columns, id);
        Ok(id)
    }

    /// The matrix that sources of an instruction are the columns of.
    fn matrix_operand(&mut self, instr: Instr, range: Range<usize>) -> Result<u32, Error> {
        let f = self.f;
        if is_plain(f, instr, range.clone()) {
            let columns: Vec<Def> = range.map(|n| f.src(instr, n)).collect();
            return self.matrix(&columns);
        }
        let (comps, first) = (f.src_comps(instr, range.start), f.src(instr, range.start));
        let type_id = self.float_matrix(range.len(), comps, f.bits(first));
        let id = self.w.id();
        let mut words = vec![type_id, id];
        for src in &f.srcs(instr)[range] {
            words.push(self.operand(src.def(), src.swizzle(), comps, Class::Float)?);
        }
        self.code.op(Op::CompositeConstruct, &words);
        Ok(id)
    }

    /// An instruction with a matrix among its operands, or one that gives a column of a matrix.
    pub(super) fn matrix_form(&mut self, instr: Instr, form: &SpirvForm) -> Result<(), Error> {
        let of = self.raise.of_instr.get(&instr).copied();
        match of {
            Some((group, n)) => {
                if n == 0 {
                    let id = match self.raise.groups[group].kind.clone() {
                        Kind::Product { left, right } => self.product(instr, &left, &right)?,
                        _ => self.whole_form(instr, form)?,
                    };
                    self.raise.groups[group].id = Some(id);
                }
                self.extract_part(instr.def(), group, n)
            }
            // Any value is right for a column that the matrix doesn't have.
            None if form.column && has_no_column(self.f, instr) => {
                let type_id = self.w.value_type(self.type_of(instr.def()));
                let null = self.w.null(type_id);
                self.alias(instr.def(), null)
            }
            None if form.column => {
                let whole = self.whole_form(instr, form)?;
                let srcs = self.f.srcs(instr);
                let column = self.f.constant(srcs[srcs.len() - 1].def()).map(|c| c[0] as u32);
                let column =
                    column.ok_or_else(|| Error::unsupported("a column by a number that varies"))?;
                let type_id = self.w.value_type(self.type_of(instr.def()));
                let id = self.id_of(instr.def());
                self.code.op(Op::CompositeExtract, &[type_id, id, whole, column]);
                Ok(())
            }
            None => {
                let type_id = self.w.value_type(self.type_of(instr.def()));
                let id = self.id_of(instr.def());
                self.matrix_words(instr, form, type_id, id)
            }
        }
    }

    /// A column of a matrix times a scalar; `false` if the instruction is none.
    pub(super) fn scaled(&mut self, instr: Instr) -> Result<bool, Error> {
        let Some(&(group, n)) = self.raise.of_instr.get(&instr) else { return Ok(false) };
        let Kind::Scale { columns, scalar } = self.raise.groups[group].kind.clone() else {
            return Ok(false);
        };
        if n == 0 {
            let matrix = self.matrix(&columns)?;
            let factor = self.operand_scalar(scalar.0, scalar.1, Class::Float)?;
            let (comps, bits) = (self.f.comps(columns[0]), self.f.bits(columns[0]));
            let type_id = self.float_matrix(columns.len(), comps, bits);
            let id = self.w.id();
            self.code.op(Op::MatrixTimesScalar, &[type_id, id, matrix, factor]);
            self.decorate_arithmetic(instr, id);
            self.raise.groups[group].id = Some(id);
        }
        self.extract_part(instr.def(), group, n)?;
        Ok(true)
    }

    fn product(&mut self, instr: Instr, left: &[Def], right: &[Def]) -> Result<u32, Error> {
        let (comps, bits) = (self.f.comps(instr.def()), self.f.bits(instr.def()));
        let (a, b) = (self.matrix(left)?, self.matrix(right)?);
        let type_id = self.float_matrix(right.len(), comps, bits);
        let id = self.w.id();
        self.code.op(Op::MatrixTimesMatrix, &[type_id, id, a, b]);
        self.decorate_arithmetic(instr, id);
        Ok(id)
    }

    /// The instruction whose result is the whole matrix.
    fn whole_form(&mut self, instr: Instr, form: &SpirvForm) -> Result<u32, Error> {
        let def = instr.def();
        let cols = column_count(self.f, instr);
        let type_id = self.float_matrix(cols, self.f.comps(def), self.f.bits(def));
        let id = self.w.id();
        self.matrix_words(instr, form, type_id, id)?;
        Ok(id)
    }

    fn matrix_words(
        &mut self,
        instr: Instr,
        form: &SpirvForm,
        type_id: u32,
        id: u32,
    ) -> Result<(), Error> {
        let f = self.f;
        let count = f.srcs(instr).len();
        let columns = column_range(form, count);
        let last = count - usize::from(form.column);
        let mut operands = Vec::new();
        for n in 0..last {
            let src = f.srcs(instr)[n];
            if columns.contains(&n) {
                if n == columns.start {
                    operands.push(self.matrix_operand(instr, columns.clone())?);
                }
                continue;
            }
            let comps = f.src_comps(instr, n);
            operands.push(self.operand(src.def(), src.swizzle(), comps, Class::Float)?);
        }
        self.write_form(form, type_id, id, &operands)?;
        self.decorate_flags(instr, id, form);
        Ok(())
    }
}

/// Whether the sources take their values whole.
fn is_plain(f: &Function, instr: Instr, range: Range<usize>) -> bool {
    range.into_iter().all(|n| {
        let src = f.srcs(instr)[n];
        let comps = f.src_comps(instr, n);
        f.comps(src.def()) == comps && src.swizzle().is_identity(comps)
    })
}

fn f_is_zero(f: &Function, def: Def) -> bool {
    f.kind(def.instr()) == InstrKind::LoadConst
        && f.constant(def).is_some_and(|c| c.iter().all(|&bits| bits == 0))
}
