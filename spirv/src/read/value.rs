//! What ids stand for within a function: vectors, pointers, aggregates as leaves or in memory, handles.

use super::function::FnReader;
use super::memory::Access;
use super::module::Global;
use super::types::MAX_LEAVES;
use crate::error::Error;
use deburr_ir_core::{
    AluOp, ArrayLen, Builder, Constant, Cursor, Def, DerefInfo, DerefKind, Intrinsic, Modes, Shape,
    SpecConst, Type, TypeData, Var, Variable,
};
use rspirv::spirv::Decoration;

/// A value that is kept as it is, of a kind.
#[derive(Clone, Copy, Debug)]
pub(super) enum Val {
    /// A scalar or vector.
    Def(Def),
    /// A pointer: a deref.
    Ptr(Def),
    /// An aggregate or matrix: leaves in [`FnReader::leaves`].
    Tree { start: u32, len: u32 },
    /// An aggregate in a local variable that is never written again: its deref.
    Mem(Def),
    /// A handle: the deref of its variable.
    Handle(Def),
    /// An image with a sampler, each a deref.
    SampledImage(Def, Def),
    /// A texel, in [`FnReader::texels`]: image deref, coordinates, sample.
    Texel(u32),
}

/// What an id stands for.
#[derive(Clone, Copy, Debug)]
pub(super) struct Value {
    pub ty: Type,
    pub kind: Val,
    /// For pointers and handles: bits of the index `access` that its declaration asks for.
    pub access: u32,
}

impl Value {
    pub fn new(ty: Type, kind: Val) -> Self {
        Value { ty, kind, access: 0 }
    }
}

impl FnReader<'_, '_> {
    /// Gives an id its value.
    pub fn set(&mut self, id: u32, value: Value) -> Result<(), Error> {
        if id == 0 || id >= self.r.bound {
            return Err(Error::invalid(format!("%{id} is not below the id bound")));
        }
        if self.r.get(id) != Global::None || self.values.insert(id, value).is_some() {
            return Err(Error::invalid(format!("%{id} is defined twice")));
        }
        self.mark_non_uniform(id, value.kind);
        if let (Some(def), Some(name)) = (self.single(value.kind), self.r.names.get(&id))
            && !name.is_empty()
        {
            self.f.names.entry(def).or_insert_with(|| name.clone());
        }
        Ok(())
    }

    /// Marks the derefs that an id stands for, if it is decorated NonUniform.
    fn mark_non_uniform(&mut self, id: u32, kind: Val) {
        let derefs = match kind {
            Val::Ptr(def) | Val::Handle(def) => [Some(def), None],
            Val::SampledImage(image, sampler) => [Some(image), Some(sampler)],
            Val::Texel(texel) => [Some(self.texels[texel as usize][0]), None],
            Val::Def(_) | Val::Tree { .. } | Val::Mem(_) => return,
        };
        if self.r.has_deco(id, Decoration::NonUniform) {
            for deref in derefs.into_iter().flatten() {
                self.mark(deref, DerefInfo::NON_UNIFORM);
            }
        }
    }

    /// Gives an id the scalar or vector of its type.
    pub fn set_def(&mut self, id: u32, ty: Type, def: Def) -> Result<(), Error> {
        let shape = self.r.m.types.value_shape(ty).and_then(|(c, b)| Shape::new(c, b));
        if shape != Some(self.f.shape(def)) {
            return Err(Error::invalid("the operands do not fit the result's type"));
        }
        let kind = self.from_leaf(ty, def);
        self.set(id, Value::new(ty, kind))
    }

    /// The value of an id.
    pub fn get(&mut self, id: u32) -> Result<Value, Error> {
        if let Some(value) = self.values.get(&id) {
            return Ok(*value);
        }
        let value = match self.r.get(id) {
            Global::Const(c) => {
                let (ty, constant) = {
                    let c = &self.r.consts[c as usize];
                    (c.ty, c.value.clone())
                };
                let kind = self.materialise(ty, &constant)?;
                Value::new(ty, kind)
            }
            Global::Spec(spec) => {
                let ty = self.r.m.spec_consts[spec.index()].ty;
                let kind = self.materialise(ty, &Constant::Spec(spec))?;
                Value::new(ty, kind)
            }
            Global::Var(var) => {
                let (mode, ty) = {
                    let v = &self.r.m.vars[var.slot()];
                    (v.mode, v.ty)
                };
                let deref = self.variable_deref(var, mode, ty);
                let access = self.variable_access(id);
                Value { ty: self.r.var_types[var.slot()], kind: Val::Ptr(deref), access }
            }
            _ => return Err(Error::invalid(format!("%{id} is used before it is defined"))),
        };
        self.values.insert(id, value);
        Ok(value)
    }

    /// The deref of a variable, at the start of the body.
    pub fn variable_deref(&mut self, var: Var, mode: Modes, ty: Type) -> Def {
        self.at_start(|b| b.deref_var(var, mode, ty))
    }

    /// Builds at the start of the body, behind what was built there before.
    pub fn at_start(&mut self, build: impl FnOnce(&mut Builder<'_>) -> Def) -> Def {
        let cursor = match self.last_constant {
            Some(last) => Cursor::After(last),
            None => Cursor::BlockStart(self.f.start_block()),
        };
        let def = build(&mut Builder::new(&mut self.f, cursor));
        self.last_constant = Some(def.instr());
        self.droppable.push(def.instr());
        def
    }

    /// A constant vector.
    pub fn constant(&mut self, bits: u8, comps: &[u64]) -> Def {
        let key = (bits, comps.to_vec());
        if let Some(&def) = self.constants.get(&key) {
            return def;
        }
        let def = self.at_start(|b| b.load_const(bits, comps));
        self.constants.insert(key, def);
        def
    }

    /// A 32-bit constant.
    pub fn constant_u32(&mut self, value: u32) -> Def {
        self.constant(32, &[value.into()])
    }

    // ---- constants ----------------------------------------------------------------------------------

    fn materialise(&mut self, ty: Type, constant: &Constant) -> Result<Val, Error> {
        if self.r.meta(ty).leaves <= MAX_LEAVES {
            let mut leaves = Vec::new();
            self.constant_leaves(ty, constant, &mut leaves)?;
            if let (TypeData::Pointer { modes, pointee: Some(to), stride }, [leaf]) =
                (&self.r.m.types[ty], leaves.as_slice())
            {
                let (modes, to, stride, leaf) = (*modes, *to, *stride, *leaf);
                return Ok(Val::Ptr(self.at_start(|b| b.deref_cast(leaf, modes, to, stride))));
            }
            return Ok(self.from_leaves(ty, &leaves));
        }
        let mut var = Variable::new("", Modes::FUNCTION, ty);
        var.init = match constant {
            Constant::Undef => None,
            other => Some(other.clone()),
        };
        let var = self.f.add_local(var);
        Ok(Val::Mem(self.variable_deref(var, Modes::FUNCTION, ty)))
    }

    fn constant_leaves(
        &mut self,
        ty: Type,
        constant: &Constant,
        leaves: &mut Vec<Def>,
    ) -> Result<(), Error> {
        let parts: Option<&[Constant]> = match constant {
            Constant::Composite(parts) => Some(parts),
            _ => None,
        };
        if let Some((comps, bits)) = self.r.m.types.value_shape(ty) {
            let def = self.constant_vector(ty, comps, bits, constant, parts)?;
            leaves.push(def);
            return Ok(());
        }
        if let Constant::Spec(spec) = constant {
            return self.spec_leaves(*spec, leaves);
        }
        for (n, part) in self.parts_of(ty)?.into_iter().enumerate() {
            let inner = match (parts, constant) {
                (Some(parts), _) => parts.get(n).unwrap_or(&Constant::Null),
                (None, other) => other,
            };
            self.constant_leaves(part, inner, leaves)?;
        }
        Ok(())
    }

    fn constant_vector(
        &mut self,
        ty: Type,
        comps: u8,
        bits: u8,
        constant: &Constant,
        parts: Option<&[Constant]>,
    ) -> Result<Def, Error> {
        let shape = Shape::new(comps, bits).ok_or_else(|| Error::invalid("an odd vector"))?;
        Ok(match constant {
            Constant::Bits(values) if values.len() == usize::from(comps) => {
                self.constant(bits, values)
            }
            Constant::Null => self.constant(bits, &vec![0; comps.into()]),
            Constant::Undef => self.at_start(|b| b.undef(comps, bits)),
            Constant::Spec(spec) => {
                let index = spec.index() as u32;
                self.at_start(|b| {
                    b.intrinsic(Intrinsic::LOAD_SPEC_CONSTANT, shape, &[], &[index]).def()
                })
            }
            Constant::Address(var) => {
                let (mode, ty) = {
                    let v = &self.r.m.vars[var.slot()];
                    (v.mode, v.ty)
                };
                self.variable_deref(*var, mode, ty)
            }
            Constant::Bits(_) | Constant::Composite(_) => {
                let elem = self.r.m.types.element(ty);
                let (Some(elem), Some(parts)) = (elem, parts) else {
                    return Err(Error::invalid("a constant does not fit its type"));
                };
                let mut scalars = Vec::new();
                for part in parts {
                    self.constant_leaves(elem, part, &mut scalars)?;
                }
                if scalars.len() != usize::from(comps) {
                    return Err(Error::invalid("a constant does not fit its type"));
                }
                self.at_start(|b| b.vec(&scalars))
            }
        })
    }

    /// The leaves of a specialisation constant that is an aggregate: those of what it is made of.
    fn spec_leaves(&mut self, spec: SpecConst, leaves: &mut Vec<Def>) -> Result<(), Error> {
        let constant = self.r.m.spec_consts[spec.index()].clone();
        match constant.value {
            deburr_ir_core::SpecValue::Composite(parts) => {
                self.constant_leaves(constant.ty, &Constant::Composite(parts), leaves)
            }
            _ => Err(Error::unsupported("an aggregate computed from specialisation constants")),
        }
    }

    // ---- leaves -------------------------------------------------------------------------------------

    /// The types of the members, elements or columns of an aggregate of known size.
    pub fn parts_of(&self, ty: Type) -> Result<Vec<Type>, Error> {
        match &self.r.m.types[ty] {
            TypeData::Struct(s) => Ok(s.members.iter().map(|m| m.ty).collect()),
            TypeData::Array { elem, len: ArrayLen::Const(n), .. } if *n <= 1 << 16 => {
                Ok(vec![*elem; *n as usize])
            }
            TypeData::Matrix { column, cols } => Ok(vec![*column; (*cols).into()]),
            TypeData::Array { .. } => {
                Err(Error::unsupported("a value that is an array without a constant length"))
            }
            _ => Err(Error::invalid("a value of a type that has none")),
        }
    }

    /// Shapes of the leaves of a type; a single one for scalars, vectors, pointers and handles.
    pub fn leaf_shapes(&self, ty: Type) -> Result<Vec<Shape>, Error> {
        let mut shapes = Vec::new();
        let mut work = vec![ty];
        while let Some(ty) = work.pop() {
            if let Some((comps, bits)) = self.r.m.types.value_shape(ty) {
                shapes.extend(Shape::new(comps, bits));
            } else if self.is_handle(ty) {
                shapes.extend(Shape::new(1, 32));
            } else if self.r.meta(ty).leaves > MAX_LEAVES {
                return Err(Error::unsupported("a choice between large aggregates"));
            } else {
                work.extend(self.parts_of(ty)?.into_iter().rev());
            }
        }
        Ok(shapes)
    }

    /// Whether values of the type are derefs of handles.
    pub fn is_handle(&self, ty: Type) -> bool {
        match &self.r.m.types[ty] {
            TypeData::Image(_)
            | TypeData::Sampler
            | TypeData::SampledImage { .. }
            | TypeData::AccelerationStructure => true,
            TypeData::Array { elem, .. } => self.is_handle(*elem),
            _ => false,
        }
    }

    /// A value of a type with one leaf. A pointer or handle becomes a deref by a cast.
    pub fn from_leaf(&mut self, ty: Type, def: Def) -> Val {
        if let TypeData::Pointer { modes, pointee, stride } = self.r.m.types[ty] {
            if self.f.deref(def.instr()).is_some() {
                return Val::Ptr(def);
            }
            let pointee = pointee.unwrap_or(ty);
            let cast = self.b().deref_cast(def, modes, pointee, stride);
            self.droppable.push(cast.instr());
            return Val::Ptr(cast);
        }
        if self.is_handle(ty) {
            if self.f.deref(def.instr()).is_some() {
                return Val::Handle(def);
            }
            return Val::Handle(self.b().deref_cast(def, Modes::UNIFORM, ty, 0));
        }
        match self.r.m.types.value_shape(ty) {
            Some(_) => Val::Def(def),
            None => self.from_leaves_list(&[def]),
        }
    }

    fn from_leaves_list(&mut self, leaves: &[Def]) -> Val {
        let start = self.leaves.len() as u32;
        self.leaves.extend_from_slice(leaves);
        Val::Tree { start, len: leaves.len() as u32 }
    }

    /// A value of a type from all of its leaves.
    pub fn from_leaves(&mut self, ty: Type, leaves: &[Def]) -> Val {
        match (leaves, self.r.m.types.value_shape(ty).is_some() || self.is_handle(ty)) {
            ([leaf], true) => self.from_leaf(ty, *leaf),
            _ => self.from_leaves_list(leaves),
        }
    }

    /// The leaves of a value.
    pub fn leaves_of(&mut self, id: u32) -> Result<Vec<Def>, Error> {
        let value = self.get(id)?;
        self.value_leaves(&value)
    }

    /// The leaves of a value.
    pub fn value_leaves(&mut self, value: &Value) -> Result<Vec<Def>, Error> {
        match value.kind {
            Val::Def(def) | Val::Ptr(def) | Val::Handle(def) => Ok(vec![def]),
            Val::Tree { start, len } => {
                Ok(self.leaves[start as usize..(start + len) as usize].to_vec())
            }
            Val::Mem(_) => Err(Error::unsupported("a large aggregate in this place")),
            Val::SampledImage(..) | Val::Texel(_) => {
                Err(Error::unsupported("a sampled image or texel in this place"))
            }
        }
    }

    /// The def of a value that is one.
    pub fn single(&self, kind: Val) -> Option<Def> {
        match kind {
            Val::Def(def) | Val::Ptr(def) | Val::Handle(def) => Some(def),
            Val::Tree { .. } | Val::Mem(_) | Val::SampledImage(..) | Val::Texel(_) => None,
        }
    }

    /// The scalar or vector of an id.
    pub fn def(&mut self, id: u32) -> Result<Def, Error> {
        match self.get(id)?.kind {
            Val::Def(def) => Ok(def),
            _ => Err(Error::invalid(format!("%{id} is no scalar or vector"))),
        }
    }

    /// The scalar of an id, of so many bits.
    pub fn scalar(&mut self, id: u32, bits: u8) -> Result<Def, Error> {
        let def = self.def(id)?;
        match self.f.comps(def) == 1 && self.f.bits(def) == bits {
            true => Ok(def),
            false => Err(Error::invalid(format!("%{id} is no scalar of {bits} bits"))),
        }
    }

    /// The pointer of an id.
    pub fn pointer(&mut self, id: u32) -> Result<(Def, Type, u32), Error> {
        let value = self.get(id)?;
        match value.kind {
            Val::Ptr(def) => {
                let ty = self.f.deref(def.instr()).map_or(value.ty, |d| d.ty);
                Ok((def, ty, value.access))
            }
            _ => Err(Error::invalid(format!("%{id} is no pointer"))),
        }
    }

    /// The handle of an id: its deref and its access bits.
    pub fn handle(&mut self, id: u32) -> Result<(Def, Type, u32), Error> {
        let value = self.get(id)?;
        match value.kind {
            Val::Handle(def) => Ok((def, value.ty, value.access)),
            _ => Err(Error::invalid(format!("%{id} is no image, sampler or the like"))),
        }
    }

    // ---- composites ---------------------------------------------------------------------------------

    /// The part of a value that the indices lead to, and its type.
    pub fn extract(&mut self, value: &Value, indices: &[u32]) -> Result<(Type, Val), Error> {
        let mut ty = value.ty;
        if let Val::Mem(deref) = value.kind {
            let (mut deref, mut own) = (deref, self.pointee(deref, ty));
            for &index in indices {
                (deref, own) = self.step_into(deref, own, index)?;
                ty = self.part_type(ty, index)?;
            }
            let kind = self.load_value(deref, own, 0, 0, 0)?;
            return Ok((ty, kind));
        }
        let leaves = self.value_leaves(value)?;
        let mut at = 0;
        for (n, &index) in indices.iter().enumerate() {
            if matches!(self.r.m.types[ty], TypeData::Vector { .. }) && n + 1 == indices.len() {
                return self.component(ty, leaves.get(at).copied(), index);
            }
            let (part, skip) = self.part(ty, index)?;
            at += skip;
            ty = part;
        }
        let count = self.r.meta(ty).leaves as usize;
        let Some(leaves) = leaves.get(at..at + count) else {
            return Err(Error::invalid("an index leads out of the composite"));
        };
        Ok((ty, self.from_leaves(ty, leaves)))
    }

    fn component(&mut self, ty: Type, leaf: Option<Def>, index: u32) -> Result<(Type, Val), Error> {
        let (Some(leaf), Some(elem)) = (leaf, self.r.m.types.element(ty)) else {
            return Err(Error::invalid("an index leads out of the composite"));
        };
        if index >= u32::from(self.f.comps(leaf)) {
            return Err(Error::invalid("an index leads out of the vector"));
        }
        Ok((elem, Val::Def(self.b().channel(leaf, index as u8))))
    }

    /// The type of part `index` of anything that has parts.
    fn part_type(&self, ty: Type, index: u32) -> Result<Type, Error> {
        let types = &self.r.m.types;
        let part = types.member(ty, index).or_else(|| types.element(ty));
        part.ok_or_else(|| Error::invalid("an index leads out of the composite"))
    }

    /// The type of part `index` of an aggregate or matrix, and the leaves before it.
    fn part(&self, ty: Type, index: u32) -> Result<(Type, usize), Error> {
        let out = || Error::invalid("an index leads out of the composite");
        match &self.r.m.types[ty] {
            TypeData::Struct(s) => {
                let member = s.members.get(index as usize).ok_or_else(out)?;
                let before = s.members[..index as usize].iter();
                let skip = before.map(|m| self.r.meta(m.ty).leaves as usize).sum();
                Ok((member.ty, skip))
            }
            TypeData::Array { elem, len: ArrayLen::Const(n), .. } if index < *n => {
                Ok((*elem, index as usize * self.r.meta(*elem).leaves as usize))
            }
            TypeData::Matrix { column, cols } if index < u32::from(*cols) => {
                Ok((*column, index as usize))
            }
            _ => Err(out()),
        }
    }

    /// A deref of part `index` of what a deref points to.
    pub fn step_into(&mut self, deref: Def, ty: Type, index: u32) -> Result<(Def, Type), Error> {
        if let Some(member) = self.r.m.types.member(ty, index) {
            let step = self.b().deref_step(DerefKind::Struct(index), deref, None, member);
            self.droppable.push(step.instr());
            return Ok((step, member));
        }
        let Some(elem) = self.r.m.types.element(ty) else {
            return Err(Error::invalid("an index leads out of the composite"));
        };
        let index = self.constant_u32(index);
        let step = self.b().deref_step(DerefKind::Array, deref, Some(index), elem);
        self.droppable.push(step.instr());
        Ok((step, elem))
    }

    /// The value with the part that the indices lead to replaced.
    pub fn insert(&mut self, value: &Value, part: &Value, indices: &[u32]) -> Result<Val, Error> {
        if let Val::Mem(old) = value.kind {
            let copy = self.plain_scratch(value.ty)?;
            self.copy(copy, old, Access::default(), Access::default());
            let (mut deref, mut own) = (copy, self.pointee(copy, value.ty));
            let mut ty = value.ty;
            for &index in indices {
                (deref, own) = self.step_into(deref, own, index)?;
                ty = self.part_type(ty, index)?;
            }
            if ty != part.ty {
                return Err(Error::invalid("the part inserted has another type"));
            }
            self.store_value(deref, own, part, 0, 0, 0)?;
            return Ok(Val::Mem(copy));
        }
        let mut leaves = self.value_leaves(value)?;
        let (mut ty, mut at) = (value.ty, 0);
        for (n, &index) in indices.iter().enumerate() {
            if matches!(self.r.m.types[ty], TypeData::Vector { .. }) && n + 1 == indices.len() {
                let Some(leaf) = leaves.get_mut(at) else { break };
                let old = *leaf;
                let Val::Def(new) = part.kind else { break };
                leaves[at] = self.replace_component(old, new, index)?;
                return Ok(self.from_leaves(value.ty, &leaves));
            }
            let (inner, skip) = self.part(ty, index)?;
            at += skip;
            ty = inner;
        }
        let new = self.value_leaves(part)?;
        if ty != part.ty || leaves.len() < at + new.len() {
            return Err(Error::invalid("the part inserted has another type"));
        }
        leaves[at..at + new.len()].copy_from_slice(&new);
        Ok(self.from_leaves(value.ty, &leaves))
    }

    fn replace_component(&mut self, old: Def, new: Def, index: u32) -> Result<Def, Error> {
        let comps = self.f.comps(old);
        if index >= comps.into() || self.f.comps(new) != 1 || self.f.bits(new) != self.f.bits(old) {
            return Err(Error::invalid("the component inserted does not fit"));
        }
        let picks: Vec<(Def, u8)> =
            (0..comps).map(|c| if u32::from(c) == index { (new, 0) } else { (old, c) }).collect();
        self.gather(&picks)
    }

    /// A vector of components of others.
    pub fn gather(&mut self, picks: &[(Def, u8)]) -> Result<Def, Error> {
        let op = match picks.len() {
            1 => AluOp::MOV,
            2 => AluOp::VEC2,
            3 => AluOp::VEC3,
            4 => AluOp::VEC4,
            8 => AluOp::VEC8,
            16 => AluOp::VEC16,
            n => return Err(Error::unsupported(format!("a vector of {n} components"))),
        };
        let one = picks.iter().all(|(def, _)| *def == picks[0].0);
        let mut b = self.b();
        if one {
            let comps: Vec<u8> = picks.iter().map(|(_, c)| *c).collect();
            return Ok(b.swizzle(picks[0].0, &comps));
        }
        let srcs: Vec<_> =
            picks.iter().map(|&(def, c)| deburr_ir_core::AluSrc::comp(def, c)).collect();
        Ok(b.alu_instr(op, picks.len() as u8, &srcs).def())
    }

    /// A new local variable of a type but for its layout, and its deref.
    pub fn plain_scratch(&mut self, ty: Type) -> Result<Def, Error> {
        let plain = self.r.plain_type(ty)?;
        Ok(self.scratch(plain))
    }

    /// The type of what a deref points to.
    pub fn pointee(&self, deref: Def, otherwise: Type) -> Type {
        self.f.deref(deref.instr()).map_or(otherwise, |d| d.ty)
    }

    /// A new local variable, its deref.
    pub fn scratch(&mut self, ty: Type) -> Def {
        let var = self.f.add_local(Variable::new("", Modes::FUNCTION, ty));
        self.variable_deref(var, Modes::FUNCTION, ty)
    }

    /// Makes an instruction, e.g. of a member that may be unused, one that is dropped if nothing uses it.
    pub fn droppable(&mut self, def: Def) -> Def {
        self.droppable.push(def.instr());
        def
    }
}
