//! Equality of functions and modules, up to the numbers of entities.
//!
//! Two functions are walked in step: first their trees and instructions, which pairs values and blocks, then the
//! sources. The order of use lists, of a phi's sources and of predecessors does not count; debug names do.

use crate::cf::NodeKind;
use crate::entity::{Block, CfList, Def, Instr, Type};
use crate::func::{Function, Param};
use crate::instr::{DerefInfo, InstrKind, InstrView, Shape};
use crate::module::{Module, SpecArg, SpecConstant, SpecValue, Variable};
use crate::types::{TypeData, TypeTable};
use rustc_hash::{FxHashMap, FxHashSet};

/// Pairs the types of two tables.
struct Types<'a> {
    tables: Option<(&'a TypeTable, &'a TypeTable)>,
    pairs: FxHashSet<(Type, Type)>,
}

impl Types<'_> {
    /// Whether the types mean the same. Pairs under way are taken for equal, which closes cycles through pointers.
    fn equal(&mut self, a: Type, b: Type) -> bool {
        let Some((table_a, table_b)) = self.tables else { return a == b };
        let mut work = vec![(a, b)];
        while let Some((a, b)) = work.pop() {
            if !self.pairs.insert((a, b)) {
                continue;
            }
            if a.index() >= table_a.len() || b.index() >= table_b.len() {
                return false;
            }
            if table_a.is_forward(a) != table_b.is_forward(b) {
                return false;
            }
            let (mut inner_a, mut inner_b) = (Vec::new(), Vec::new());
            let (flat_a, flat_b) =
                (flatten(&table_a[a], &mut inner_a), flatten(&table_b[b], &mut inner_b));
            if flat_a != flat_b || inner_a.len() != inner_b.len() {
                return false;
            }
            work.extend(inner_a.into_iter().zip(inner_b));
        }
        true
    }

    fn all(&mut self, pairs: impl IntoIterator<Item = (Type, Type)>) -> bool {
        pairs.into_iter().all(|(a, b)| self.equal(a, b))
    }
}

/// A type's data with every inner type replaced by the same one, and the inner types apart.
fn flatten(data: &TypeData, inner: &mut Vec<Type>) -> TypeData {
    let mut data = data.clone();
    let mut take = |ty: &mut Type| inner.push(std::mem::replace(ty, Type(0)));
    match &mut data {
        TypeData::Void
        | TypeData::Bool
        | TypeData::Int { .. }
        | TypeData::Float { .. }
        | TypeData::Sampler
        | TypeData::AccelerationStructure
        | TypeData::RayQuery => {}
        TypeData::Vector { elem, .. } | TypeData::Array { elem, .. } => take(elem),
        TypeData::Matrix { column, .. } => take(column),
        TypeData::Struct(s) => s.members.iter_mut().for_each(|m| take(&mut m.ty)),
        TypeData::Image(image) => take(&mut image.sampled_type),
        TypeData::SampledImage { image } => take(image),
        TypeData::Pointer { pointee, .. } => pointee.iter_mut().for_each(take),
    }
    data
}

/// Compares two functions.
struct Functions<'a, 't> {
    a: &'a Function,
    b: &'a Function,
    types: &'a mut Types<'t>,
    /// Block of `b` for each block of `a`.
    blocks: FxHashMap<Block, Block>,
    /// Instruction of `b` for each of `a`.
    instrs: FxHashMap<Instr, Instr>,
}

impl Functions<'_, '_> {
    fn equal(&mut self) -> bool {
        let (a, b) = (self.a, self.b);
        a.name == b.name
            && a.control == b.control
            && a.float_env == b.float_env
            && a.has_body == b.has_body
            && a.params.len() == b.params.len()
            && a.params.iter().zip(&b.params).all(|(a, b)| self.params(a, b))
            && a.ret.is_some() == b.ret.is_some()
            && a.ret.iter().zip(&b.ret).all(|(a, b)| self.params(a, b))
            && a.locals.len() == b.locals.len()
            && a.locals.iter().zip(&b.locals).all(|(a, b)| variables(self.types, a, b))
            && self.trees(a.body(), b.body())
            && self.sources()
    }

    fn params(&mut self, a: &Param, b: &Param) -> bool {
        let apart = |p: &Param| Param { ty: Type(0), ..p.clone() };
        self.types.equal(a.ty, b.ty) && apart(a) == apart(b)
    }

    /// Pairs blocks and instructions, and compares all of them but the sources.
    fn trees(&mut self, a: CfList, b: CfList) -> bool {
        let mut lists = vec![(a, b)];
        while let Some((list_a, list_b)) = lists.pop() {
            let (mut next_a, mut next_b) =
                (self.a.list_nodes(list_a).next(), self.b.list_nodes(list_b).next());
            while let (Some(a), Some(b)) = (next_a, next_b) {
                if self.a.node_control(a) != self.b.node_control(b) {
                    return false;
                }
                match (self.a.node_kind(a), self.b.node_kind(b)) {
                    (NodeKind::Block(a), NodeKind::Block(b)) => {
                        if !self.block(a, b) {
                            return false;
                        }
                    }
                    (NodeKind::If { .. }, NodeKind::If { .. })
                    | (NodeKind::Loop { .. }, NodeKind::Loop { .. })
                    | (NodeKind::Once { .. }, NodeKind::Once { .. }) => {
                        lists.extend(self.a.child_lists(a).into_iter().zip(self.b.child_lists(b)));
                    }
                    (
                        NodeKind::Block(_)
                        | NodeKind::If { .. }
                        | NodeKind::Loop { .. }
                        | NodeKind::Once { .. },
                        _,
                    ) => return false,
                }
                (next_a, next_b) = (self.a.next_node(a), self.b.next_node(b));
            }
            if next_a.is_some() || next_b.is_some() {
                return false;
            }
        }
        true
    }

    fn block(&mut self, a: Block, b: Block) -> bool {
        self.blocks.insert(a, b);
        let (mut next_a, mut next_b) = (self.a.first_instr(a), self.b.first_instr(b));
        while let (Some(a), Some(b)) = (next_a, next_b) {
            self.instrs.insert(a, b);
            if !self.instr(a, b) {
                return false;
            }
            (next_a, next_b) = (self.a.next_instr(a), self.b.next_instr(b));
        }
        next_a.is_none() && next_b.is_none()
    }

    fn instr(&mut self, a: Instr, b: Instr) -> bool {
        let (f, g) = (self.a, self.b);
        let shape = |f: &Function, i: Instr| f.def(i).map_or(Shape::NONE, |d| f.shape(d));
        let payload = match (f.view(a), g.view(b)) {
            (InstrView::Alu(a), InstrView::Alu(b)) => a == b,
            (InstrView::Intrinsic(a, n), InstrView::Intrinsic(b, m)) => a == b && n == m,
            (InstrView::Tex(a), InstrView::Tex(b)) => a == b,
            (InstrView::Deref(a), InstrView::Deref(b)) => {
                let apart = |d: &DerefInfo| DerefInfo { ty: Type(0), ..*d };
                apart(a) == apart(b) && self.types.equal(a.ty, b.ty)
            }
            (InstrView::LoadConst(a), InstrView::LoadConst(b)) => a == b,
            (InstrView::Undef, InstrView::Undef) => true,
            (InstrView::Phi(_), InstrView::Phi(_)) => true,
            (InstrView::Jump(a), InstrView::Jump(b)) => a == b,
            (InstrView::Call(a), InstrView::Call(b)) => a == b,
            (InstrView::ParallelCopy, InstrView::ParallelCopy) => true,
            (
                InstrView::Alu(_)
                | InstrView::Intrinsic(..)
                | InstrView::Tex(_)
                | InstrView::Deref(_)
                | InstrView::LoadConst(_)
                | InstrView::Undef
                | InstrView::Phi(_)
                | InstrView::Jump(_)
                | InstrView::Call(_)
                | InstrView::ParallelCopy,
                _,
            ) => false,
        };
        payload
            && shape(f, a) == shape(g, b)
            && f.flags(a) == g.flags(b)
            && f.srcs(a).len() == g.srcs(b).len()
            && f.names.get(&a.def()) == g.names.get(&b.def())
    }

    /// Compares the sources of all paired instructions, and conditions.
    fn sources(&self) -> bool {
        let paired = |a: Def, b: Def| self.instrs.get(&a.instr()) == Some(&b.instr());
        for (&a, &b) in &self.instrs {
            if self.a.kind(a) == InstrKind::Phi {
                if !self.phis(a, b) {
                    return false;
                }
                continue;
            }
            for (n, (src_a, src_b)) in self.a.srcs(a).iter().zip(self.b.srcs(b)).enumerate() {
                let comps = match self.a.kind(a) {
                    InstrKind::Alu => self.a.src_comps(a, n),
                    _ => 0,
                };
                if !paired(src_a.def, src_b.def) || !src_a.swizzle.agrees(src_b.swizzle, comps) {
                    return false;
                }
            }
        }
        self.blocks.iter().all(|(&a, &b)| {
            // The node behind a block: an `if` has a condition.
            let after = |f: &Function, block| f.next_node(f.block_node(block)?);
            match (after(self.a, a), after(self.b, b)) {
                (Some(a), Some(b)) => match (self.a.condition(a), self.b.condition(b)) {
                    (Some(a), Some(b)) => paired(a, b),
                    (a, b) => a.is_none() && b.is_none(),
                },
                (a, b) => a.is_none() && b.is_none(),
            }
        })
    }

    fn phis(&self, a: Instr, b: Instr) -> bool {
        let (InstrView::Phi(preds_a), InstrView::Phi(preds_b)) = (self.a.view(a), self.b.view(b))
        else {
            return false;
        };
        let mut from_a = Vec::with_capacity(preds_a.len());
        for (n, pred) in preds_a.iter().enumerate() {
            let def = self.instrs.get(&self.a.src(a, n).instr());
            match (self.blocks.get(pred), def) {
                (Some(&pred), Some(&def)) => from_a.push((pred, def)),
                _ => return false,
            }
        }
        let srcs_b = self.b.srcs(b).iter().map(|u| u.def.instr());
        let mut from_b: Vec<(Block, Instr)> = preds_b.iter().copied().zip(srcs_b).collect();
        from_a.sort_unstable();
        from_b.sort_unstable();
        from_a == from_b
    }
}

fn variables(types: &mut Types<'_>, a: &Variable, b: &Variable) -> bool {
    let apart = |v: &Variable| Variable { ty: Type(0), ..v.clone() };
    types.equal(a.ty, b.ty) && apart(a) == apart(b)
}

fn spec_constants(types: &mut Types<'_>, a: &SpecConstant, b: &SpecConstant) -> bool {
    fn flat(spec: &SpecConstant, inner: &mut Vec<Type>) -> SpecConstant {
        let mut spec = spec.clone();
        inner.push(std::mem::replace(&mut spec.ty, Type(0)));
        if let SpecValue::Op { args, .. } = &mut spec.value {
            for arg in args {
                if let SpecArg::Constant(ty, _) = arg {
                    inner.push(std::mem::replace(ty, Type(0)));
                }
            }
        }
        spec
    }
    let (mut inner_a, mut inner_b) = (Vec::new(), Vec::new());
    flat(a, &mut inner_a) == flat(b, &mut inner_b) && types.all(inner_a.into_iter().zip(inner_b))
}

fn functions(a: &Function, b: &Function, types: &mut Types<'_>) -> bool {
    Functions { a, b, types, blocks: FxHashMap::default(), instrs: FxHashMap::default() }.equal()
}

/// Up to the numbers of values, blocks and instructions. Types, variables and functions are compared by number: the
/// two must belong to one module, or to modules that agree in them.
impl PartialEq for Function {
    fn eq(&self, other: &Function) -> bool {
        functions(self, other, &mut Types { tables: None, pairs: FxHashSet::default() })
    }
}

/// Up to the numbers of types, values, blocks and instructions. Variables, specialisation constants and functions are
/// compared in order.
impl PartialEq for Module {
    fn eq(&self, other: &Module) -> bool {
        let (a, b) = (self, other);
        let mut types = Types { tables: Some((&a.types, &b.types)), pairs: FxHashSet::default() };
        a.form == b.form
            && a.spirv == b.spirv
            && a.entry_points == b.entry_points
            && a.dialects.0.iter().map(|d| d.name).eq(b.dialects.0.iter().map(|d| d.name))
            && a.spec_consts.len() == b.spec_consts.len()
            && a.vars.len() == b.vars.len()
            && a.functions.len() == b.functions.len()
            && a.spec_consts
                .iter()
                .zip(&b.spec_consts)
                .all(|(a, b)| spec_constants(&mut types, a, b))
            && a.vars.iter().zip(&b.vars).all(|(a, b)| variables(&mut types, a, b))
            && a.functions.iter().zip(&b.functions).all(|(a, b)| functions(a, b, &mut types))
    }
}
