//! Columns of a matrix that one instruction gives, products of matrices column by column.

use super::{Emit, Kind, Raise, Want};
use crate::error::Error;
use crate::write::types::{Class, ValueType};
use deburr_ir_core::{
    AluOp, Block, Def, Flags, Function, Index, Instr, InstrView, Intrinsic, Module, SpirvForm,
    Swizzle,
};
use rustc_hash::FxHashMap;
use spirv::Op;
use std::ops::Range;

impl Raise {
    /// Columns that one instruction gives.
    pub(super) fn find_columns(&mut self, f: &Function, block: Block) {
        type Key = (AluOp, Flags, Vec<(Def, Swizzle)>);
        let mut open: FxHashMap<Key, Vec<Instr>> = FxHashMap::default();
        let mut order: Vec<Key> = Vec::new();
        for instr in f.instrs(block) {
            let Some((op, info)) = f.alu_op(instr).zip(f.alu_info(instr)) else { continue };
            if !info.spirv.first().is_some_and(|form| form.column) {
                continue;
            }
            let srcs = f.srcs(instr);
            let column = f.constant(srcs[srcs.len() - 1].def());
            let others = srcs[..srcs.len() - 1].iter().map(|s| (s.def(), s.swizzle()));
            let key: Key = (op, f.flags(instr), others.collect());
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

    /// Columns of a matrix that a ray query gives, with nothing between them that could change it.
    pub(super) fn find_ray_columns(&mut self, f: &Function, block: Block) {
        let mut run: Vec<Instr> = Vec::new();
        for instr in f.instrs(block) {
            match f.view(instr) {
                InstrView::Intrinsic(Intrinsic::RQ_LOAD, _) if ray_matrix(f, instr).is_some() => {
                    if run.first().is_some_and(|&i| ray_matrix(f, i) != ray_matrix(f, instr)) {
                        self.add_ray_columns(f, &mut run);
                    }
                    run.push(instr);
                }
                InstrView::Intrinsic(..) | InstrView::Call(_) => self.add_ray_columns(f, &mut run),
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
        self.add_ray_columns(f, &mut run);
    }

    fn add_ray_columns(&mut self, f: &Function, run: &mut Vec<Instr>) {
        if run.is_empty() {
            return;
        }
        let instrs = std::mem::take(run);
        let numbers = instrs.iter().map(|&i| f.index(i, Index::COLUMN).unwrap_or(0)).collect();
        let parts = instrs.iter().map(|i| i.def()).collect();
        self.add(Kind::Columns, parts, instrs);
        if let Some(group) = self.groups.last_mut() {
            group.numbers = numbers;
        }
    }

    /// Products of every column of a matrix with one scalar.
    pub(super) fn find_scales(&mut self, f: &Function, module: &Module, block: Block) {
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
    pub(super) fn find_products(&mut self, f: &Function, module: &Module, block: Block) {
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
}

impl Emit<'_, '_> {
    pub(super) fn float_matrix(&mut self, cols: usize, comps: u8, bits: u8) -> u32 {
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
        let type_id = self.float_matrix(columns.len(), comps, bits);
        let key = (type_id, columns.to_vec());
        if let Some(id) = self.known_whole(&key) {
            return Ok(id);
        }
        let mut ids = Vec::new();
        for &column in columns {
            ids.push(self.operand(column, Swizzle::IDENTITY, comps, Class::Float)?);
        }
        let id = self.w.id();
        let mut words = vec![type_id, id];
        words.extend(ids);
        self.code.op(Op::CompositeConstruct, &words);
        self.remember_whole(key, id);
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
    pub(in crate::write) fn matrix_form(
        &mut self,
        instr: Instr,
        form: &SpirvForm,
    ) -> Result<(), Error> {
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

    /// A column of a matrix that a ray query gives; `false` if the instruction is none.
    pub(in crate::write) fn ray_column(&mut self, instr: Instr) -> Result<bool, Error> {
        let f = self.f;
        if ray_matrix(f, instr).is_none() {
            return Ok(false);
        }
        let Some(&(group, n)) = self.raise.of_instr.get(&instr) else { return Ok(false) };
        if n == 0 {
            let (comps, bits) = (f.comps(instr.def()), f.bits(instr.def()));
            let type_id = self.float_matrix(RAY_MATRIX_COLUMNS.into(), comps, bits);
            let id = self.w.id();
            self.intrinsic_as(instr, &[type_id, id])?;
            self.raise.groups[group].id = Some(id);
        }
        self.extract_part(instr.def(), group, n)?;
        Ok(true)
    }

    /// A column of a matrix times a scalar; `false` if the instruction is none.
    pub(in crate::write) fn scaled(&mut self, instr: Instr) -> Result<bool, Error> {
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

/// Columns among the sources of an instruction with a matrix operand.
pub(in crate::write) fn column_range(form: &SpirvForm, srcs: usize) -> Range<usize> {
    let Some(first) = form.matrix else { return 0..0 };
    let first = usize::from(first);
    // The vector of a product stands before or behind the columns, the column's number behind all.
    let others = usize::from(form.name.contains("Vector")) + usize::from(form.column);
    first..first + srcs.saturating_sub(others)
}

/// Columns of the matrices that ray queries give.
const RAY_MATRIX_COLUMNS: u8 = 4;

/// What tells the matrices of ray queries apart: the query, the value, whether it is committed; `None` if the
/// instruction gives no column of one.
fn ray_matrix(f: &Function, instr: Instr) -> Option<(Vec<Def>, u32, Option<u32>)> {
    use deburr_ir_core::index::ray_query_value as rq;
    let value = f.index(instr, Index::RAY_QUERY_VALUE)?;
    let is_matrix =
        [rq::INTERSECTION_OBJECT_TO_WORLD, rq::INTERSECTION_WORLD_TO_OBJECT].contains(&value);
    let sources = f.srcs(instr).iter().map(|s| s.def()).collect();
    is_matrix.then(|| (sources, value, f.index(instr, Index::COMMITTED)))
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
pub(in crate::write) fn splat_src(f: &Function, instr: Instr) -> Option<(usize, u8)> {
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
pub(super) fn column_count(f: &Function, instr: Instr) -> usize {
    if f.intrinsic(instr) == Some(Intrinsic::RQ_LOAD) {
        return RAY_MATRIX_COLUMNS.into();
    }
    let form = f.alu_info(instr).and_then(|i| i.spirv.first());
    match form.is_some_and(|form| form.matrix.is_some()) {
        // Transposes and inverses have as many columns as theirs have rows.
        true => f.src_comps(instr, 0).into(),
        // Outer products as the second vector has components.
        false => f.src_comps(instr, 1).into(),
    }
}

/// Whether the sources take their values whole.
pub(super) fn is_plain(f: &Function, instr: Instr, range: Range<usize>) -> bool {
    range.into_iter().all(|n| {
        let src = f.srcs(instr)[n];
        let comps = f.src_comps(instr, n);
        f.comps(src.def()) == comps && src.swizzle().is_identity(comps)
    })
}
