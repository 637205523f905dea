//! Memory: access chains, loads, stores, copies, calls.

use super::function::{FnReader, Passed, passed_as};
use super::module::Global;
use super::tables::{index_value, scope_value};
use super::types::MAX_LEAVES;
use super::value::{Val, Value};
use super::words::Inst;
use crate::error::Error;
use deburr_ir_core::{
    AluOp, AluSrc, Def, DerefInfo, DerefKind, Index, Intrinsic, Member, Modes, Shape, Type,
    TypeData,
};
use rspirv::spirv;
use spirv::{Decoration as D, MemoryAccess, Op};

/// What a memory operand says: access bits, alignment, scope.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Access {
    pub bits: u32,
    pub align: u32,
    pub scope: u32,
}

/// A scalar or vector of an object in memory.
struct Leaf {
    deref: Def,
    ty: Type,
    /// The indices that lead to it.
    path: Vec<u32>,
    /// Access bits that the members on the way ask for.
    access: u32,
}

/// The access bit of a decoration of a variable or member.
fn decoration_access(kind: D) -> u32 {
    let name = match kind {
        D::Coherent => "coherent",
        D::Volatile => "volatile",
        D::Restrict => "restrict",
        D::NonWritable => "non_writeable",
        D::NonReadable => "non_readable",
        _ => return 0,
    };
    index_value(Index::ACCESS, name)
}

/// Access bits that a member's decorations ask for.
pub(super) fn member_access(member: &Member) -> u32 {
    let kinds = member.decorations.iter().filter_map(|d| d.name.parse::<D>().ok());
    kinds.fold(0, |bits, kind| bits | decoration_access(kind))
}

impl FnReader<'_, '_> {
    /// Access bits that a variable's decorations ask for.
    pub fn variable_access(&self, id: u32) -> u32 {
        self.r.decos(id).iter().fold(0, |bits, d| bits | decoration_access(d.kind))
    }

    fn member_access(&self, ty: Type, member: u32) -> u32 {
        let TypeData::Struct(s) = &self.r.m.types[ty] else { return 0 };
        s.members.get(member as usize).map_or(0, member_access)
    }

    // ---- pointers -----------------------------------------------------------------------------------

    pub fn access_chain(&mut self, inst: &Inst<'_>) -> Result<(), Error> {
        let ty = self.r.type_of(inst.ty)?;
        let base = self.get(inst.arg(0)?)?;
        let Val::Ptr(mut deref) = base.kind else {
            return Err(Error::invalid(format!("%{} is no pointer", inst.args[0])));
        };
        let mut access = base.access;
        let mut to = self.f.deref(deref.instr()).map_or(base.ty, |d| d.ty);
        let by_element = matches!(inst.op, Op::PtrAccessChain | Op::InBoundsPtrAccessChain);
        let in_bounds = matches!(inst.op, Op::InBoundsAccessChain | Op::InBoundsPtrAccessChain);
        let mut indices = inst.rest(1);
        if by_element {
            let index = self.index(inst.arg(1)?)?;
            indices = inst.rest(2);
            deref = self.element(deref, &base, index)?;
        }
        for &id in indices {
            if matches!(self.r.m.types[to], TypeData::Struct(_)) {
                let Some(member) = self.r.const_u64(id) else {
                    return Err(Error::invalid("the index of a member is no constant"));
                };
                access |= self.member_access(to, member as u32);
                (deref, to) = self.step_into(deref, to, member as u32)?;
                continue;
            }
            let Some(elem) = self.r.m.types.element(to) else {
                return Err(Error::invalid("an index into what has no parts"));
            };
            let index = self.index(id)?;
            deref = self.b().deref_step(DerefKind::Array, deref, Some(index), elem);
            self.droppable(deref);
            to = elem;
        }
        if in_bounds {
            self.mark(deref, DerefInfo::IN_BOUNDS);
        }
        match &self.r.m.types[ty] {
            TypeData::Pointer { pointee: Some(pointee), .. } if *pointee == to => {}
            _ => return Err(Error::invalid("the result's type is not that of what is pointed to")),
        }
        if indices.is_empty() && !by_element {
            // Another id of the same pointer.
            return self.set(inst.id, Value { ty, ..base });
        }
        self.set(inst.id, Value { ty, kind: Val::Ptr(deref), access })
    }

    fn index(&mut self, id: u32) -> Result<Def, Error> {
        let index = self.def(id)?;
        match self.f.comps(index) == 1 && self.f.bits(index) > 1 {
            true => Ok(index),
            false => Err(Error::invalid("an index is an integer")),
        }
    }

    /// A pointer to the element `index` steps behind the one that `deref` points to.
    fn element(&mut self, deref: Def, base: &Value, index: Def) -> Result<Def, Error> {
        let TypeData::Pointer { modes, pointee: Some(to), stride } = self.r.m.types[base.ty] else {
            return Err(Error::invalid("the base is no pointer"));
        };
        let cast = self.b().deref_cast(deref, modes, to, stride);
        self.droppable(cast);
        let step = self.b().deref_step(DerefKind::PtrAsArray, cast, Some(index), to);
        Ok(self.droppable(step))
    }

    /// Sets access bits on a deref that is a step of its own.
    pub fn mark(&mut self, deref: Def, bits: u32) {
        if let Some(info) = self.f.deref_mut(deref.instr())
            && !matches!(info.kind, DerefKind::Var(_))
        {
            info.access |= bits;
        }
    }

    pub fn local_variable(&mut self, inst: &Inst<'_>) -> Result<(), Error> {
        let var = self.r.variable(inst)?;
        if var.mode != Modes::FUNCTION {
            return Err(Error::invalid("a variable of the module within a function"));
        }
        let (ty, mode) = (var.ty, var.mode);
        let var = self.f.add_local(var);
        let deref = self.variable_deref(var, mode, ty);
        let pointer = self.r.type_of(inst.ty)?;
        let access = self.variable_access(inst.id);
        self.set(inst.id, Value { ty: pointer, kind: Val::Ptr(deref), access })
    }

    // ---- loads and stores ---------------------------------------------------------------------------

    /// The memory operand at argument `n`, and the argument behind it.
    fn memory_operand(&self, inst: &Inst<'_>, n: usize) -> Result<(Access, usize), Error> {
        let mut access = Access::default();
        let Some(&mask) = inst.args.get(n) else { return Ok((access, n)) };
        let mask = MemoryAccess::from_bits(mask)
            .ok_or_else(|| Error::unsupported(format!("memory operand {mask:#x}")))?;
        let mut next = n + 1;
        let names = [
            (MemoryAccess::VOLATILE, "volatile"),
            (MemoryAccess::NONTEMPORAL, "non_temporal"),
            (MemoryAccess::MAKE_POINTER_AVAILABLE, "available"),
            (MemoryAccess::MAKE_POINTER_VISIBLE, "visible"),
            (MemoryAccess::NON_PRIVATE_POINTER, "non_private"),
        ];
        for (bit, name) in names {
            if mask.contains(bit) {
                access.bits |= index_value(Index::ACCESS, name);
            }
        }
        if mask.contains(MemoryAccess::ALIGNED) {
            access.align = inst.arg(next)?;
            next += 1;
        }
        for bit in [MemoryAccess::MAKE_POINTER_AVAILABLE, MemoryAccess::MAKE_POINTER_VISIBLE] {
            if mask.contains(bit) {
                access.scope = self.scope(inst.arg(next)?)?;
                next += 1;
            }
        }
        Ok((access, next))
    }

    /// The value of `memory_scope` for the id of a scope.
    pub fn scope(&self, id: u32) -> Result<u32, Error> {
        let scope = self.r.const_u64(id).and_then(|s| scope_value(Index::MEMORY_SCOPE, s as u32));
        scope.ok_or_else(|| Error::unsupported("a scope that is no constant, or an unknown one"))
    }

    pub fn load(&mut self, inst: &Inst<'_>) -> Result<(), Error> {
        let ty = self.r.type_of(inst.ty)?;
        let (deref, to, declared) = self.pointer(inst.arg(0)?)?;
        if to != ty {
            return Err(Error::invalid("the result has another type than what is pointed to"));
        }
        let (access, _) = self.memory_operand(inst, 1)?;
        if self.is_handle(ty) {
            return self.set(inst.id, Value { ty, kind: Val::Handle(deref), access: declared });
        }
        let bits = access.bits | declared;
        let kind = self.load_value(deref, ty, bits, access.align, access.scope)?;
        self.set(inst.id, Value::new(ty, kind))
    }

    /// An integer at another width.
    pub fn resize(&mut self, def: Def, bits: u8, signed: bool) -> Result<Def, Error> {
        if self.f.bits(def) == bits {
            return Ok(def);
        }
        let op = match (bits, signed) {
            (8, _) => AluOp::U2U8,
            (16, false) => AluOp::U2U16,
            (16, true) => AluOp::I2I16,
            (32, false) => AluOp::U2U32,
            (32, true) => AluOp::I2I32,
            (64, false) => AluOp::U2U64,
            (64, true) => AluOp::I2I64,
            _ => return Err(Error::invalid("an integer of an odd size")),
        };
        let comps = self.f.comps(def);
        Ok(self.b().alu_instr(op, comps, &[AluSrc::from(def)]).def())
    }

    /// Loads what a deref points to.
    pub fn load_value(
        &mut self,
        deref: Def,
        ty: Type,
        access: u32,
        align: u32,
        scope: u32,
    ) -> Result<Val, Error> {
        if self.r.meta(ty).leaves > MAX_LEAVES {
            let copy = self.plain_scratch(ty)?;
            self.copy(copy, deref, Access::default(), Access { bits: access, align, scope });
            return Ok(Val::Mem(copy));
        }
        let mut leaves = Vec::new();
        for Leaf { deref: leaf, ty: leaf_ty, path, access: own } in self.leaf_derefs(deref, ty)? {
            let access = access | own;
            let align = self.r.m.types.part_align(ty, &path, align);
            let shape = self.r.m.types.value_shape(leaf_ty).and_then(|(c, b)| Shape::new(c, b));
            let shape = shape.ok_or_else(|| Error::invalid("a value of a type that has none"))?;
            let indices = [access, align, scope];
            leaves.push(self.b().intrinsic(Intrinsic::LOAD_DEREF, shape, &[leaf], &indices).def());
        }
        Ok(self.from_leaves(ty, &leaves))
    }

    /// Derefs of all scalars and vectors of what a deref points to, in order.
    fn leaf_derefs(&mut self, deref: Def, ty: Type) -> Result<Vec<Leaf>, Error> {
        let mut leaves = Vec::new();
        let mut work = vec![Leaf { deref, ty, path: Vec::new(), access: 0 }];
        while let Some(leaf) = work.pop() {
            let Leaf { deref, ty, .. } = leaf;
            if self.r.m.types.value_shape(ty).is_some() {
                leaves.push(leaf);
                continue;
            }
            let first = work.len();
            for n in 0..self.parts_of(ty)?.len() as u32 {
                let access = leaf.access | self.member_access(ty, n);
                let (deref, ty) = self.step_into(deref, ty, n)?;
                let mut path = leaf.path.clone();
                path.push(n);
                work.push(Leaf { deref, ty, path, access });
            }
            work[first..].reverse();
        }
        Ok(leaves)
    }

    /// Stores a value to what a deref points to.
    pub fn store_value(
        &mut self,
        deref: Def,
        ty: Type,
        value: &Value,
        access: u32,
        align: u32,
        scope: u32,
    ) -> Result<(), Error> {
        if let Val::Mem(from) = value.kind {
            self.copy(deref, from, Access { bits: access, align, scope }, Access::default());
            return Ok(());
        }
        let leaves = self.value_leaves(value)?;
        let targets = self.leaf_derefs(deref, ty)?;
        if leaves.len() != targets.len() {
            return Err(Error::invalid("the value stored has another type"));
        }
        for (leaf, target) in leaves.into_iter().zip(targets) {
            let Leaf { deref: target, ty: leaf_ty, path, access: own } = target;
            let access = access | own;
            let align = self.r.m.types.part_align(ty, &path, align);
            let shape = self.r.m.types.value_shape(leaf_ty).and_then(|(c, b)| Shape::new(c, b));
            if shape != Some(self.f.shape(leaf)) {
                return Err(Error::invalid("the value stored has another type"));
            }
            let mask = (1u32 << self.f.comps(leaf)) - 1;
            let indices = [mask, access, align, scope];
            self.b().intrinsic(Intrinsic::STORE_DEREF, Shape::NONE, &[target, leaf], &indices);
        }
        Ok(())
    }

    pub fn store(&mut self, inst: &Inst<'_>) -> Result<(), Error> {
        let (deref, ty, declared) = self.pointer(inst.arg(0)?)?;
        let value = self.get(inst.arg(1)?)?;
        if value.ty != ty {
            return Err(Error::invalid("the value has another type than what is pointed to"));
        }
        let (access, _) = self.memory_operand(inst, 2)?;
        self.store_value(deref, ty, &value, access.bits | declared, access.align, access.scope)
    }

    /// Copies what `from` points to to what `to` points to.
    pub fn copy(&mut self, to: Def, from: Def, to_access: Access, from_access: Access) {
        let members = |deref: Def| {
            let ty = self.f.deref(deref.instr()).map(|d| d.ty);
            ty.map_or(0, |ty| self.r.meta(ty).access)
        };
        let indices = [
            to_access.bits | members(to),
            from_access.bits | members(from),
            to_access.align,
            from_access.align,
            to_access.scope.max(from_access.scope),
        ];
        self.b().intrinsic(Intrinsic::COPY_DEREF, Shape::NONE, &[to, from], &indices);
    }

    pub fn copy_memory(&mut self, inst: &Inst<'_>) -> Result<(), Error> {
        let (to, to_ty, to_declared) = self.pointer(inst.arg(0)?)?;
        let (from, from_ty, from_declared) = self.pointer(inst.arg(1)?)?;
        if to_ty != from_ty {
            return Err(Error::invalid("the types pointed to differ"));
        }
        let (first, next) = self.memory_operand(inst, 2)?;
        let second = match next < inst.args.len() {
            true => self.memory_operand(inst, next)?.0,
            false => first,
        };
        // The target alone is made available, the source alone visible.
        let own = |name| index_value(Index::ACCESS, name);
        let to_bits = first.bits & !own("visible") | to_declared;
        let from_bits = second.bits & !own("available") | from_declared;
        let to_access = Access { bits: to_bits, ..first };
        self.copy(to, from, to_access, Access { bits: from_bits, ..second });
        Ok(())
    }

    pub fn array_length(&mut self, inst: &Inst<'_>) -> Result<(), Error> {
        let (deref, ty, access) = self.pointer(inst.arg(0)?)?;
        let (array, _) = self.step_into(deref, ty, inst.arg(1)?)?;
        let result = self.r.type_of(inst.ty)?;
        let shape = Shape::new(1, 32).unwrap_or(Shape::NONE);
        let op = Intrinsic::DEREF_BUFFER_ARRAY_LENGTH;
        let def = self.b().intrinsic(op, shape, &[array], &[access]).def();
        self.set_def(inst.id, result, def)
    }

    // ---- calls --------------------------------------------------------------------------------------

    pub fn call(&mut self, inst: &Inst<'_>) -> Result<(), Error> {
        let Global::Func(callee) = self.r.get(inst.arg(0)?) else {
            return Err(Error::invalid(format!("%{} is no function", inst.args[0])));
        };
        let ty = self.r.fn_types[self.r.functions[callee as usize].ty as usize].clone();
        let Some(&func) = self.funcs.get(&(callee, self.env)) else {
            return Err(Error::invalid("the function called is not known"));
        };
        if ty.params.len() != inst.args.len() - 1 || self.r.type_of(inst.ty)? != ty.ret {
            return Err(Error::invalid("the call does not fit the function's type"));
        }
        let mut args = Vec::new();
        for (&id, &param) in inst.rest(1).iter().zip(&ty.params) {
            let value = self.get(id)?;
            if value.ty != param {
                return Err(Error::invalid(format!("%{id} has another type than the parameter")));
            }
            args.push(match passed_as(self.r, param)? {
                Passed::Value(..) => self
                    .single(value.kind)
                    .ok_or_else(|| Error::unsupported("a sampled image as an argument"))?,
                Passed::Memory { object, .. } => match value.kind {
                    // Callees never write to what is passed so.
                    Val::Mem(deref) if self.pointee(deref, param) == object => deref,
                    _ => {
                        let copy = self.scratch(object);
                        self.store_value(copy, object, &value, 0, 0, 0)?;
                        copy
                    }
                },
            });
        }
        let returns = !matches!(self.r.m.types[ty.ret], TypeData::Void);
        if !returns {
            self.b().call(func, Shape::NONE, &args);
            return self.set(inst.id, Value::new(ty.ret, Val::Tree { start: 0, len: 0 }));
        }
        match passed_as(self.r, ty.ret)? {
            Passed::Value(comps, bits) => {
                let shape = Shape::new(comps, bits).unwrap_or(Shape::NONE);
                let def = self.b().call(func, shape, &args).def();
                let kind = self.from_leaf(ty.ret, def);
                self.set(inst.id, Value::new(ty.ret, kind))
            }
            Passed::Memory { object, .. } => {
                let result = self.scratch(object);
                args.push(result);
                self.b().call(func, Shape::NONE, &args);
                let kind = self.load_value(result, object, 0, 0, 0)?;
                self.set(inst.id, Value::new(ty.ret, kind))
            }
        }
    }
}
