//! Pointers as values: loaded, passed, chosen between, made of integers.
//!
//! The IR has them as plain values of 32 or 64 bits, of which a cast makes derefs. In SPIR-V they have pointer types:
//! the memory's, parameter's or function's, else that of the cast.

use super::code::Emit;
use super::types::{Class, ValueType};
use crate::error::Error;
use deburr_ir_core::{
    AluOp, Def, DerefKind, Function, Index, Instr, InstrKind, InstrView, Intrinsic, Modes, Module,
    Swizzle, Type, TypeData, User,
};
use rustc_hash::FxHashMap;
use spirv::Op;

/// Type of a pointer that is a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PointerType {
    /// A pointer type of the module.
    Type(Type),
    /// Modes, pointee and stride.
    To(Modes, Type, u32),
}

/// The values of a function that are pointers, derefs apart.
pub(super) fn pointer_values(f: &Function, module: &Module) -> FxHashMap<Def, PointerType> {
    let mut found: FxHashMap<Def, PointerType> = FxHashMap::default();
    let is_pointer = |ty: Type| matches!(module.types[ty], TypeData::Pointer { .. });
    let mut choices: Vec<Instr> = Vec::new();
    for instr in f.all_instrs() {
        let ty = match f.view(instr) {
            InstrView::Intrinsic(Intrinsic::LOAD_DEREF, _) => {
                f.deref(f.src(instr, 0).instr()).map(|d| d.ty)
            }
            InstrView::Intrinsic(Intrinsic::LOAD_PARAM, _) => {
                let n = f.index(instr, Index::PARAM_IDX).unwrap_or(0) as usize;
                f.params.get(n).map(|p| p.ty)
            }
            InstrView::Call(func) => module[func].ret.as_ref().map(|r| r.ty),
            InstrView::Phi(_) | InstrView::Alu(AluOp::BCSEL) => {
                choices.push(instr);
                None
            }
            _ => None,
        };
        if let Some(ty) = ty.filter(|ty| is_pointer(*ty)) {
            found.insert(instr.def(), PointerType::Type(ty));
        }
    }
    // A choice is a pointer if one of what it chooses between is.
    let mut changed = true;
    while std::mem::take(&mut changed) {
        for &instr in &choices {
            if found.contains_key(&instr.def()) {
                continue;
            }
            let first = usize::from(f.kind(instr) == InstrKind::Alu);
            let sources = f.srcs(instr)[first..].iter().map(|s| s.def());
            let of = sources.filter_map(|def| match f.deref(def.instr()) {
                Some(info) => Some(PointerType::To(info.modes, info.ty, info.stride)),
                None => found.get(&def).copied(),
            });
            if let Some(ty) = of.collect::<Vec<_>>().first() {
                let ty = cast_of(f, instr.def()).unwrap_or(*ty);
                found.insert(instr.def(), ty);
                changed = true;
            }
        }
    }
    // An address that is chosen beside a number is one itself: neither is a pointer then.
    let is_choice =
        |instr: Instr| matches!(f.view(instr), InstrView::Phi(_) | InstrView::Alu(AluOp::BCSEL));
    let mut numbers: Vec<Instr> = choices;
    while let Some(instr) = numbers.pop() {
        let Some(&ty) = found.get(&instr.def()) else { continue };
        let first = usize::from(f.kind(instr) == InstrKind::Alu);
        let mut sources = f.srcs(instr)[first..].iter().map(|s| s.def());
        if modes_of(module, ty) != Modes::GLOBAL || !sources.any(|def| is_number(f, &found, def)) {
            continue;
        }
        found.remove(&instr.def());
        numbers.extend(f.uses(instr.def()).filter_map(|u| match u.user() {
            User::Instr(i) if is_choice(i) => Some(i),
            User::Instr(_) | User::If(_) => None,
        }));
    }
    found
}

/// Whether a value is neither a pointer nor null.
fn is_number(f: &Function, pointers: &FxHashMap<Def, PointerType>, def: Def) -> bool {
    match f.view(def.instr()) {
        InstrView::Deref(_) | InstrView::Undef => false,
        InstrView::LoadConst(bits) => bits != [0],
        _ => !pointers.contains_key(&def),
    }
}

fn modes_of(module: &Module, ty: PointerType) -> Modes {
    match ty {
        PointerType::To(modes, ..) => modes,
        PointerType::Type(ty) => match module.types[ty] {
            TypeData::Pointer { modes, .. } => modes,
            _ => Modes::empty(),
        },
    }
}

/// The type that casts of the value name, of those the one with the largest stride.
fn cast_of(f: &Function, def: Def) -> Option<PointerType> {
    let casts = f.uses(def).filter_map(|u| match u.user() {
        User::Instr(i) => f.deref(i).filter(|info| info.kind == DerefKind::Cast),
        User::If(_) => None,
    });
    let cast = casts.max_by_key(|info| (info.stride, info.ty));
    cast.map(|info| PointerType::To(info.modes, info.ty, info.stride))
}

impl Emit<'_, '_> {
    /// The id of a value's type.
    pub(super) fn type_id(&mut self, def: Def) -> Result<u32, Error> {
        match self.pointer_values.get(&def) {
            Some(&ty) => self.pointer_type_id(ty),
            None => Ok(self.w.value_type(self.type_of(def))),
        }
    }

    fn pointer_type_id(&mut self, ty: PointerType) -> Result<u32, Error> {
        let (modes, to, stride) = match ty {
            PointerType::Type(ty) => return self.w.ir_type(ty),
            PointerType::To(modes, to, stride) => (modes, to, stride),
        };
        let pointee = self.w.ir_type(to)?;
        let class = self.w.class_of(modes, to);
        Ok(self.w.strided_pointer_type(class, pointee, stride))
    }

    fn modes_of(&self, ty: PointerType) -> Modes {
        modes_of(self.w.module, ty)
    }

    /// A null pointer is an address, or a variable pointer.
    fn check_null(&self, ty: PointerType) -> Result<(), Error> {
        let mut modes = Modes::GLOBAL;
        if self.w.has_capability("VariablePointersStorageBuffer") {
            modes |= Modes::SSBO;
        }
        if self.w.has_capability("VariablePointers") {
            modes |= Modes::SSBO | Modes::SHARED;
        }
        match modes.contains(self.modes_of(ty)) {
            true => Ok(()),
            false => Err(Error::unsupported("a null pointer into memory without addresses")),
        }
    }

    /// A value as a pointer: a deref, a pointer value, null.
    pub(super) fn pointer_operand(&mut self, def: Def, ty: PointerType) -> Result<u32, Error> {
        match self.f.view(def.instr()) {
            _ if is_number(self.f, &self.pointer_values, def) => {
                if self.modes_of(ty) != Modes::GLOBAL {
                    return Err(Error::unsupported("a number as a pointer into memory"));
                }
                let type_id = self.pointer_type_id(ty)?;
                let id = self.w.id();
                self.number_as_pointer(def, type_id, id)?;
                Ok(id)
            }
            InstrView::LoadConst(_) | InstrView::Undef => {
                self.check_null(ty)?;
                let type_id = self.pointer_type_id(ty)?;
                Ok(self.w.null(type_id))
            }
            _ => {
                let (id, own) = (self.pointer(def)?, self.own_pointer_type(def)?);
                let wanted = self.pointer_type_id(ty)?;
                let Some(own) = own else {
                    return Ok(match self.own_stride(def) == self.stride_of(ty) {
                        true => id,
                        false => self.restride(id, wanted),
                    });
                };
                if own == wanted {
                    return Ok(id);
                }
                let cast = self.w.id();
                self.code.op(Op::Bitcast, &[wanted, cast, id]);
                Ok(cast)
            }
        }
    }

    /// Id of the type that a physical pointer was written with.
    fn own_pointer_type(&mut self, def: Def) -> Result<Option<u32>, Error> {
        let f = self.f;
        let mut at = def;
        while let Some(info) = f.deref(at.instr()).copied() {
            if info.modes != Modes::GLOBAL {
                return Ok(None);
            }
            match info.kind {
                DerefKind::Cast if info.stride == 0 && !self.converts(at) => {
                    at = f.src(at.instr(), 0);
                }
                DerefKind::Cast => {
                    let ty = PointerType::To(info.modes, info.ty, info.stride);
                    return self.pointer_type_id(ty).map(Some);
                }
                _ => {
                    let ty = PointerType::To(info.modes, info.ty, self.step_stride(at));
                    return self.pointer_type_id(ty).map(Some);
                }
            }
        }
        match self.pointer_values.get(&at).copied() {
            Some(PointerType::To(modes, ..)) if modes != Modes::GLOBAL => Ok(None),
            Some(PointerType::Type(ty)) if !self.is_physical(ty) => Ok(None),
            Some(ty) => self.pointer_type_id(ty).map(Some),
            None => Ok(None),
        }
    }

    fn is_physical(&self, ty: Type) -> bool {
        matches!(self.w.module.types[ty],
            TypeData::Pointer { modes, .. } if modes == Modes::GLOBAL)
    }

    /// Bytes between the elements that a pointer of this type steps over.
    fn stride_of(&self, ty: PointerType) -> u32 {
        match ty {
            PointerType::To(_, _, stride) => stride,
            PointerType::Type(ty) => match self.w.module.types[ty] {
                TypeData::Pointer { stride, .. } => stride,
                _ => 0,
            },
        }
    }

    /// The stride of the type that a pointer is written with.
    pub(super) fn own_stride(&self, def: Def) -> u32 {
        let f = self.f;
        let mut at = def;
        while let Some(info) = f.deref(at.instr()) {
            match info.kind {
                DerefKind::Var(_) => return 0,
                DerefKind::Cast if info.stride != 0 || self.converts(at) => return info.stride,
                DerefKind::Cast => at = f.src(at.instr(), 0),
                _ => return self.step_stride(at),
            }
        }
        self.pointer_values.get(&at).map_or(0, |&ty| self.stride_of(ty))
    }

    /// The stride of the type that an access chain gives: the largest that its uses ask for.
    pub(super) fn step_stride(&self, step: Def) -> u32 {
        let module = self.w.module;
        let strides = self.f.uses_at(step).map(|(user, n)| {
            let User::Instr(i) = user else { return 0 };
            match self.f.view(i) {
                InstrView::Deref(info) if info.kind == DerefKind::Cast => {
                    if self.converts(i.def()) { 0 } else { info.stride }
                }
                InstrView::Call(func) => {
                    let param = module[func].params.get(n).map(|p| PointerType::Type(p.ty));
                    param.map_or(0, |ty| self.stride_of(ty))
                }
                InstrView::Phi(_) | InstrView::Alu(AluOp::BCSEL) => {
                    self.pointer_values.get(&i.def()).map_or(0, |&ty| self.stride_of(ty))
                }
                _ => 0,
            }
        });
        strides.max().unwrap_or(0)
    }

    /// A pointer as one of another stride: an access chain of no step.
    pub(super) fn restride(&mut self, pointer: u32, type_id: u32) -> u32 {
        let id = self.w.id();
        self.code.op(Op::AccessChain, &[type_id, id, pointer]);
        id
    }

    /// An argument of a call, for a parameter of this type.
    pub(super) fn argument(
        &mut self,
        call: Instr,
        n: usize,
        param: Option<Type>,
    ) -> Result<u32, Error> {
        let def = self.f.src(call, n);
        match param {
            Some(ty) if matches!(self.w.module.types[ty], TypeData::Pointer { .. }) => {
                self.pointer_operand(def, PointerType::Type(ty))
            }
            Some(ty) if self.w.is_handle(ty) && self.f.deref(def.instr()).is_some() => {
                self.handle(def)
            }
            _ => self.wanted_src(call, n),
        }
    }

    /// As [`Emit::pointer_operand`], where the pointer may come later in the text.
    pub(super) fn early_pointer(&mut self, def: Def, ty: PointerType) -> Result<u32, Error> {
        let constant = matches!(self.f.kind(def.instr()), InstrKind::LoadConst | InstrKind::Undef);
        if constant {
            return self.pointer_operand(def, ty);
        }
        // A cast has no place before the phi.
        let fits = match self.own_pointer_type(def)? {
            Some(own) => own == self.pointer_type_id(ty)?,
            None => self.own_stride(def) == self.stride_of(ty),
        };
        if !fits {
            return Err(Error::unsupported("a phi of pointers of several types"));
        }
        let Some(info) = self.f.deref(def.instr()) else { return self.pointer(def) };
        let plain = match info.kind {
            DerefKind::Var(_) => true,
            DerefKind::Cast => !self.converts(def),
            _ => false,
        };
        if plain {
            let inner = match info.kind {
                DerefKind::Cast => self.f.src(def.instr(), 0),
                _ => return self.pointer(def),
            };
            return self.early_pointer(inner, ty);
        }
        if let Some(&id) = self.pointers.get(&def) {
            return Ok(id);
        }
        let id = self.w.id();
        self.early_pointers.insert(def, id);
        self.pointers.insert(def, id);
        Ok(id)
    }

    /// Whether a cast is an instruction of its own: of an integer, or to another type.
    pub(super) fn converts(&self, cast: Def) -> bool {
        let f = self.f;
        let Some(info) = f.deref(cast.instr()) else { return false };
        let src = f.src(cast.instr(), 0);
        match f.deref(src.instr()) {
            Some(from) => from.ty != info.ty || from.modes != info.modes,
            None => match self.pointer_values.get(&src) {
                Some(PointerType::Type(ty)) => match &self.w.module.types[*ty] {
                    TypeData::Pointer { pointee, .. } => *pointee != Some(info.ty),
                    _ => true,
                },
                Some(PointerType::To(_, ty, _)) => *ty != info.ty,
                // What crosses a call in memory, and handles.
                None => info.modes == Modes::GLOBAL,
            },
        }
    }

    /// A cast that is an instruction of its own.
    pub(super) fn convert(&mut self, cast: Def) -> Result<u32, Error> {
        let f = self.f;
        let Some(info) = f.deref(cast.instr()).copied() else {
            return Err(Error::invalid("a cast that is none"));
        };
        let src = f.src(cast.instr(), 0);
        let type_id = self.pointer_type_id(PointerType::To(info.modes, info.ty, info.stride))?;
        if f.kind(src.instr()) == InstrKind::LoadConst && f.constant(src) == Some(&[0]) {
            return Ok(self.w.null(type_id));
        }
        let id = self.early_pointers.get(&cast).copied().unwrap_or_else(|| self.w.id());
        match self.is_pointer_value(src) {
            true => {
                let from = self.pointer(src)?;
                self.code.op(Op::Bitcast, &[type_id, id, from]);
            }
            false => self.number_as_pointer(src, type_id, id)?,
        }
        Ok(id)
    }

    fn number_as_pointer(&mut self, def: Def, type_id: u32, id: u32) -> Result<(), Error> {
        let pair = self.f.alu_op(def.instr()) == Some(AluOp::PACK_64_2X32);
        let op = if pair { Op::Bitcast } else { Op::ConvertUToPtr };
        let from = self.address_operand(def)?;
        self.code.op(op, &[type_id, id, from]);
        Ok(())
    }

    /// An address: halves that were packed into one as they are.
    pub(super) fn address_operand(&mut self, src: Def) -> Result<u32, Error> {
        match self.f.alu_op(src.instr()) {
            Some(AluOp::PACK_64_2X32) => {
                let halves = self.f.srcs(src.instr())[0];
                let class = self.int_class(halves.def());
                self.operand(halves.def(), halves.swizzle(), 2, class)
            }
            _ => self.operand(src, Swizzle::IDENTITY, 1, Class::Uint),
        }
    }

    /// SPIR-V chooses between pointers into buffers and shared memory alone.
    pub(super) fn choosable(&self, ty: PointerType) -> Result<(), Error> {
        match (Modes::SSBO | Modes::SHARED | Modes::GLOBAL).contains(self.modes_of(ty)) {
            true => Ok(()),
            false => Err(Error::unsupported("a choice between pointers of this storage class")),
        }
    }

    /// Whether a value is a pointer in SPIR-V.
    pub(super) fn is_pointer_value(&self, def: Def) -> bool {
        self.pointer_values.contains_key(&def) || self.f.kind(def.instr()) == InstrKind::Deref
    }

    /// The type of the pointers that a comparison is of, unless they are addresses, which are numbers.
    fn compared_as(&self, instr: Instr) -> Option<PointerType> {
        let of = |n: usize| {
            let def = self.f.src(instr, n);
            match self.f.deref(def.instr()) {
                Some(info) => Some(PointerType::To(info.modes, info.ty, self.own_stride(def))),
                None => self.pointer_values.get(&def).copied(),
            }
        };
        let ty = of(0).or_else(|| of(1))?;
        let comparable = (Modes::SSBO | Modes::SHARED).contains(self.modes_of(ty))
            && self.w.module.spirv.version >= (1, 4);
        comparable.then_some(ty)
    }

    /// Packing and unpacking of addresses, choices between pointers and comparisons of them; `false` where it is neither.
    pub(super) fn pointer_alu(&mut self, instr: Instr, op: AluOp) -> Result<bool, Error> {
        let f = self.f;
        let def = instr.def();
        if let (AluOp::BCSEL, Some(&ty)) = (op, self.pointer_values.get(&def)) {
            self.choosable(ty)?;
            let condition = f.srcs(instr)[0];
            let condition = self.operand(condition.def(), condition.swizzle(), 1, Class::Bool)?;
            let (a, b) = (
                self.pointer_operand(f.src(instr, 1), ty)?,
                self.pointer_operand(f.src(instr, 2), ty)?,
            );
            let type_id = self.type_id(def)?;
            let id = self.id_of(def);
            self.code.op(Op::Select, &[type_id, id, condition, a, b]);
            return Ok(true);
        }
        if matches!(op, AluOp::IEQ | AluOp::INE)
            && let Some(ty) = self.compared_as(instr)
        {
            let op = if op == AluOp::IEQ { Op::PtrEqual } else { Op::PtrNotEqual };
            let (a, b) = (
                self.pointer_operand(f.src(instr, 0), ty)?,
                self.pointer_operand(f.src(instr, 1), ty)?,
            );
            let (type_id, id) = (self.type_id(def)?, self.id_of(def));
            self.code.op(op, &[type_id, id, a, b]);
            return Ok(true);
        }
        if op == AluOp::UNPACK_64_2X32 && self.is_pointer_value(f.src(instr, 0)) {
            let pointer = self.pointer(f.src(instr, 0))?;
            let type_id = self.type_id(def)?;
            let id = self.id_of(def);
            let from = match self.class(def) {
                // A pointer is cast to integers alone.
                Class::Float => {
                    self.cast(pointer, ValueType { class: Class::Uint, ..self.type_of(def) })?
                }
                Class::Uint | Class::Sint | Class::Bool => pointer,
            };
            self.code.op(Op::Bitcast, &[type_id, id, from]);
            return Ok(true);
        }
        // Halves of addresses are cast as they are.
        let casts_only = |def: Def| {
            f.is_used(def)
                && f.uses(def).all(|u| match u.user() {
                    User::Instr(i) => f.deref(i).is_some_and(|d| d.kind == DerefKind::Cast),
                    User::If(_) => false,
                })
        };
        Ok(op == AluOp::PACK_64_2X32 && casts_only(def))
    }

    /// A pointer as an operand that is a number.
    pub(super) fn address_as(
        &mut self,
        def: Def,
        swizzle: Swizzle,
        comps: u8,
        class: Class,
    ) -> Result<u32, Error> {
        let ty = ValueType { class, bits: self.f.bits(def), comps: 1 };
        let id = self.w.id();
        self.address(def, class, id)?;
        Ok(if comps == 1 { id } else { self.take(id, ty, swizzle, comps) })
    }

    /// A pointer as a number of the class.
    pub(super) fn address(&mut self, def: Def, class: Class, id: u32) -> Result<(), Error> {
        let modes = match (self.f.deref(def.instr()), self.pointer_values.get(&def)) {
            (Some(info), _) => info.modes,
            (None, Some(&ty)) => self.modes_of(ty),
            (None, None) => Modes::empty(),
        };
        if modes != Modes::GLOBAL {
            return Err(Error::unsupported("a pointer into memory without addresses as a number"));
        }
        let pointer = self.pointer(def)?;
        let ty = ValueType { class: Class::Uint, bits: self.f.bits(def), comps: 1 };
        let unsigned = self.w.value_type(ty);
        if class == Class::Uint {
            self.code.op(Op::ConvertPtrToU, &[unsigned, id, pointer]);
            return Ok(());
        }
        let (address, type_id) = (self.w.id(), self.w.value_type(ValueType { class, ..ty }));
        self.code.op(Op::ConvertPtrToU, &[unsigned, address, pointer]);
        self.code.op(Op::Bitcast, &[type_id, id, address]);
        Ok(())
    }
}
