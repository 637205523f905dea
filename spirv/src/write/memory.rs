//! Pointers, and the instructions that go through them: access chains, loads, stores, intrinsics by their forms.

use super::code::Emit;
use super::copy::Access;
use super::infer::pointer_is_used;
use super::pointers::PointerType;
use super::types::{Class, ValueType};
use crate::error::Error;
use deburr_ir_core::{
    Def, DerefInfo, DerefKind, FormDir, Function, Index, Instr, InstrKind, Intrinsic,
    IntrinsicForm, JumpKind, Module, SpirvForm, Type, index::memory_semantics,
};
use spirv::{MemorySemantics, Op};

/// Scopes in the order of the index `memory_scope`, from its second value.
const SCOPES: &[spirv::Scope] = &[
    spirv::Scope::Invocation,
    spirv::Scope::Subgroup,
    spirv::Scope::ShaderCallKHR,
    spirv::Scope::Workgroup,
    spirv::Scope::QueueFamily,
    spirv::Scope::Device,
    spirv::Scope::CrossDevice,
];

/// The form that an intrinsic is written in.
pub(super) fn form_of(
    f: &Function,
    module: &Module,
    instr: Instr,
) -> Option<&'static IntrinsicForm> {
    f.intrinsic_info(instr)?.spirv.iter().find(|form| {
        form.dir != FormDir::Read
            && form.when.iter().all(|&(index, value)| f.index(instr, index) == Some(value))
            && (form.sizes.is_empty() || form.sizes.contains(&value_bits(f, instr)))
            && form.capability.is_none_or(|name| module.spirv.has_capability(name))
    })
}

/// Whether a deref is marked as one that varies between the invocations of a subgroup.
pub(super) fn is_marked(info: &DerefInfo) -> bool {
    info.access & DerefInfo::NON_UNIFORM != 0
}

/// Bit size of the result, or of the first source where there is none.
fn value_bits(f: &Function, instr: Instr) -> u8 {
    match f.def(instr) {
        Some(def) => f.bits(def),
        None => f.srcs(instr).first().map_or(0, |s| f.bits(s.def())),
    }
}

impl Emit<'_, '_> {
    // ---- pointers -----------------------------------------------------------------------------------

    /// An access chain where the deref stands, if anything but further steps uses it.
    pub(super) fn deref(&mut self, instr: Instr) -> Result<(), Error> {
        let def = instr.def();
        if let Some(id) = self.early_pointers.get(&def).copied() {
            // A phi named it before: now it is written, under that id.
            self.pointers.remove(&def);
            let written = self.pointer(def)?;
            self.pointers.insert(def, id);
            debug_assert_eq!(written, id, "the id was given out before");
            return Ok(());
        }
        if self.is_handle_value(def) {
            return Ok(());
        }
        let converts = self.f.is_used(def)
            && self.f.deref(instr).is_some_and(|d| d.kind == DerefKind::Cast)
            && self.converts(def);
        if self.whole_var(def).is_some() {
            return Ok(());
        }
        if converts
            || self.raise.is_parent(instr.def())
            || pointer_is_used(self.f, instr, |i| self.raise.is_part(i))
        {
            self.pointer(instr.def())?;
        }
        Ok(())
    }

    /// The pointer that a deref gives.
    pub(super) fn pointer(&mut self, def: Def) -> Result<u32, Error> {
        if let Some(&id) = self.pointers.get(&def) {
            return Ok(id);
        }
        let f = self.f;
        let Some(info) = f.deref(def.instr()).copied() else {
            return match self.is_pointer_value(def) {
                true => Ok(self.id_of(def)),
                false => Err(Error::unsupported("a number as a pointer into memory")),
            };
        };
        match info.kind {
            DerefKind::Var(var) => return self.w.var_id(var),
            DerefKind::Cast => {
                let src = f.src(def.instr(), 0);
                let null = matches!(f.kind(src.instr()), InstrKind::LoadConst | InstrKind::Undef);
                let id = match self.converts(def) {
                    true => self.convert(def)?,
                    false if null => {
                        let ty = PointerType::To(info.modes, info.ty, info.stride);
                        self.pointer_operand(src, ty)?
                    }
                    false if info.stride != 0 && self.own_stride(src) != info.stride => {
                        let from = self.pointer(src)?;
                        let pointee = self.w.ir_type(info.ty)?;
                        let class = self.w.class_of(info.modes, info.ty);
                        let ty = self.w.strided_pointer_type(class, pointee, info.stride);
                        self.restride(from, ty)
                    }
                    false => self.pointer(src)?,
                };
                // A variable pointer bears the mark itself.
                if is_marked(&info) && f.deref(f.src(def.instr(), 0).instr()).is_none() {
                    self.decorate_non_uniform(id, def);
                }
                self.pointers.insert(def, id);
                return Ok(id);
            }
            DerefKind::Wildcard => return Err(Error::unsupported("a copy of every element")),
            DerefKind::Array | DerefKind::Struct(_) | DerefKind::PtrAsArray => {}
        }
        let mut operands = Vec::new();
        let mut at = def;
        let mut op = Op::AccessChain;
        let mut in_bounds = true;
        while let Some(step) = f.deref(at.instr()) {
            in_bounds &= step.access & DerefInfo::IN_BOUNDS != 0
                || matches!(step.kind, DerefKind::Struct(_));
            match step.kind {
                DerefKind::Var(_) | DerefKind::Cast => break,
                DerefKind::Struct(member) => operands.push(self.w.u32_const(member)),
                DerefKind::Array => operands.push(self.index(f.src(at.instr(), 1))?),
                DerefKind::PtrAsArray => {
                    operands.push(self.index(f.src(at.instr(), 1))?);
                    op = Op::PtrAccessChain;
                    at = f.src(at.instr(), 0);
                    break;
                }
                DerefKind::Wildcard => return Err(Error::unsupported("a copy of every element")),
            }
            at = f.src(at.instr(), 0);
        }
        let base = self.pointer(at)?;
        let pointee = self.w.ir_type(info.ty)?;
        let class = self.class_of_pointer(def);
        let pointer_type = self.w.strided_pointer_type(class, pointee, self.step_stride(def));
        let id = self.early_pointers.get(&def).copied().unwrap_or_else(|| self.w.id());
        let mut words = vec![pointer_type, id, base];
        words.extend(operands.into_iter().rev());
        if op == Op::AccessChain && in_bounds && info.access & DerefInfo::IN_BOUNDS != 0 {
            op = Op::InBoundsAccessChain;
        }
        self.code.op(op, &words);
        self.decorate_non_uniform(id, def);
        self.pointers.insert(def, id);
        Ok(id)
    }

    /// Decorates what is made of a deref, if the pointer varies in a way that the hardware has to be told of.
    pub(super) fn decorate_non_uniform(&mut self, id: u32, deref: Def) {
        if self.is_non_uniform(deref) && self.non_uniform.insert(id) {
            self.w.decorate(id, spirv::Decoration::NonUniform, &[]);
        }
    }

    /// Whether the deref or one that it was made of is marked: a part of what varies does too.
    pub(super) fn is_non_uniform(&self, deref: Def) -> bool {
        let f = self.f;
        let mut at = deref.instr();
        while let Some(info) = f.deref(at) {
            if is_marked(info) {
                return true;
            }
            match info.kind {
                DerefKind::Var(_) => break,
                DerefKind::Array
                | DerefKind::Struct(_)
                | DerefKind::PtrAsArray
                | DerefKind::Wildcard
                | DerefKind::Cast => at = f.src(at, 0).instr(),
            }
        }
        false
    }

    /// Storage class by the root of the deref: its variable's type knows old-style buffers.
    fn class_of_pointer(&self, def: Def) -> spirv::StorageClass {
        let f = self.f;
        let mut at = def.instr();
        while let Some(info) = f.deref(at) {
            match info.kind {
                DerefKind::Var(_) | DerefKind::Cast => return self.w.class_of(info.modes, info.ty),
                DerefKind::Array
                | DerefKind::Struct(_)
                | DerefKind::PtrAsArray
                | DerefKind::Wildcard => {
                    at = f.src(at, 0).instr();
                }
            }
        }
        spirv::StorageClass::Private
    }

    fn index(&mut self, def: Def) -> Result<u32, Error> {
        let class = match self.class(def) {
            Class::Sint => Class::Sint,
            Class::Bool | Class::Float | Class::Uint => Class::Uint,
        };
        self.operand_scalar(def, 0, class)
    }

    /// A handle, loaded once a block.
    pub(super) fn handle(&mut self, def: Def) -> Result<u32, Error> {
        if let Some(&id) = self.handles.get(&def) {
            return Ok(id);
        }
        let Some(info) = self.f.deref(def.instr()).copied() else {
            return Err(Error::unsupported("a handle that is no variable"));
        };
        if self.is_handle_value(def) {
            return self.handle_value(def, info.ty);
        }
        let pointer = self.pointer(def)?;
        let type_id = self.w.ir_type(info.ty)?;
        let id = self.w.id();
        self.code.op(Op::Load, &[type_id, id, pointer]);
        self.decorate_non_uniform(id, def);
        self.handles.insert(def, id);
        Ok(id)
    }

    /// Whether a deref is a handle without a pointer to it: one that is a value itself.
    fn is_handle_value(&self, def: Def) -> bool {
        self.f.deref(def.instr()).is_some_and(|info| {
            info.kind == DerefKind::Cast
                && self.w.is_handle(info.ty)
                && !self.is_pointer_value(self.f.src(def.instr(), 0))
        })
    }

    /// A handle that is a value: a parameter, or an acceleration structure by its address.
    fn handle_value(&mut self, def: Def, ty: Type) -> Result<u32, Error> {
        let src = self.f.src(def.instr(), 0);
        if self.f.bits(src) != 64 {
            return Ok(self.id_of(src));
        }
        let type_id = self.w.ir_type(ty)?;
        let from = self.address_operand(src)?;
        let id = self.w.id();
        self.code.op(Op::ConvertUToAccelerationStructureKHR, &[type_id, id, from]);
        self.handles.insert(def, id);
        Ok(id)
    }

    // ---- intrinsics ---------------------------------------------------------------------------------

    pub(super) fn intrinsic(&mut self, instr: Instr, op: Intrinsic) -> Result<(), Error> {
        match op {
            Intrinsic::LOAD_DEREF => self.load(instr),
            Intrinsic::STORE_DEREF => self.store(instr),
            Intrinsic::COPY_DEREF => self.copy(instr),
            Intrinsic::LOAD_PARAM => {
                let n = self.f.index(instr, Index::PARAM_IDX).unwrap_or(0) as usize;
                let Some(&id) = self.params.get(n) else {
                    return Err(Error::invalid("a parameter that isn't there"));
                };
                self.set_id(instr.def(), id);
                Ok(())
            }
            Intrinsic::LOAD_SPEC_CONSTANT => {
                let n = self.f.index(instr, Index::SPEC_CONSTANT).unwrap_or(0) as usize;
                let id = self.w.spec_const(deburr_ir_core::SpecConst::from_index(n))?;
                self.set_id(instr.def(), id);
                Ok(())
            }
            Intrinsic::DEREF_BUFFER_ARRAY_LENGTH => self.array_length(instr),
            Intrinsic::RQ_LOAD if self.ray_column(instr)? => Ok(()),
            Intrinsic::IMAGE_DEREF_LOAD | Intrinsic::IMAGE_DEREF_STORE => {
                self.image_access(instr, op)
            }
            // A vector that holds the residency code too.
            Intrinsic::IMAGE_DEREF_SPARSE_LOAD => {
                Err(Error::unsupported("a sparse read of an image"))
            }
            // With the jump behind it.
            Intrinsic::TERMINATE if self.is_before_halt(instr) => Ok(()),
            _ => self.intrinsic_form(instr),
        }
    }

    /// How a load or store accesses memory.
    pub(super) fn access_of(&self, instr: Instr) -> Access {
        let index = |index: Index| self.f.index(instr, index).unwrap_or(0);
        Access {
            flags: index(Index::ACCESS),
            align: index(Index::ALIGN_MUL),
            scope: index(Index::MEMORY_SCOPE),
        }
    }

    fn load(&mut self, instr: Instr) -> Result<(), Error> {
        if self.raised_load(instr)? {
            return Ok(());
        }
        if let Some((part, _)) = self.whole_part(self.f.src(instr, 0))? {
            return self.alias(instr.def(), part);
        }
        let pointer = self.pointer(self.f.src(instr, 0))?;
        let type_id = self.type_id(instr.def())?;
        let id = self.id_of(instr.def());
        let mut operands = vec![type_id, id, pointer];
        self.push_access(self.access_of(instr), &mut operands);
        self.code.op(Op::Load, &operands);
        if self.f.flags(instr).contains(deburr_ir_core::Flags::RELAXED) {
            self.w.decorate(id, spirv::Decoration::RelaxedPrecision, &[]);
        }
        Ok(())
    }

    fn store(&mut self, instr: Instr) -> Result<(), Error> {
        if self.raised_store(instr)? {
            return Ok(());
        }
        let f = self.f;
        let value = f.src(instr, 1);
        let comps = f.comps(value);
        let all = (1u32 << comps) - 1;
        let mask = f.index(instr, Index::WRITE_MASK).map_or(all, |m| m & all);
        let pointer_def = f.src(instr, 0);
        if mask == all {
            let ty = f.deref(pointer_def.instr()).map(|d| d.ty);
            let ty = ty.filter(|ty| {
                matches!(self.w.module.types[*ty], deburr_ir_core::TypeData::Pointer { .. })
            });
            let value = match ty {
                Some(ty) => self.pointer_operand(value, PointerType::Type(ty))?,
                None => self.wanted_src(instr, 1)?,
            };
            let pointer = self.pointer(pointer_def)?;
            let mut operands = vec![pointer, value];
            self.push_access(self.access_of(instr), &mut operands);
            self.code.op(Op::Store, &operands);
            return Ok(());
        }
        // Some components: each through a pointer of its own.
        let ty = f.deref(pointer_def.instr()).map(|d| d.ty);
        let element = ty.and_then(|ty| self.w.module.types.element(ty));
        let memory = element.and_then(|ty| self.w.memory_value_type(ty));
        let Some(memory) = memory else {
            return Err(Error::invalid("a masked store to no vector"));
        };
        let base = self.pointer(pointer_def)?;
        let class = self.class_of_pointer(pointer_def);
        let scalar = self.w.value_type(memory);
        let pointer_type = self.w.pointer_type(class, scalar);
        let access = self.access_of(instr);
        for comp in (0..comps).filter(|c| mask >> c & 1 != 0) {
            let index = self.w.u32_const(comp.into());
            let id = self.w.id();
            self.code.op(Op::AccessChain, &[pointer_type, id, base, index]);
            let part = self.operand_scalar(value, comp, memory.class)?;
            let mut operands = vec![id, part];
            let align = match comp {
                0 => access.align,
                _ => access.align.min(u32::from(memory.bits) / 8),
            };
            self.push_access(Access { align, ..access }, &mut operands);
            self.code.op(Op::Store, &operands);
        }
        Ok(())
    }

    /// OpArrayLength names the struct and the member.
    fn array_length(&mut self, instr: Instr) -> Result<(), Error> {
        let f = self.f;
        let deref = f.src(instr, 0).instr();
        let Some(DerefKind::Struct(member)) = f.deref(deref).map(|d| d.kind) else {
            return Err(Error::unsupported("the length of an array that is no member of a buffer"));
        };
        let buffer = self.pointer(f.src(deref, 0))?;
        let type_id = self.w.value_type(self.type_of(instr.def()));
        let id = self.id_of(instr.def());
        self.code.op(Op::ArrayLength, &[type_id, id, buffer, member]);
        Ok(())
    }

    fn intrinsic_form(&mut self, instr: Instr) -> Result<(), Error> {
        let mut result = Vec::new();
        if let Some(def) = self.f.def(instr) {
            result.push(self.w.value_type(self.type_of(def)));
            result.push(self.id_of(def));
        }
        self.intrinsic_as(instr, &result)
    }

    /// An intrinsic with these words for its result's type and id, if it has a result.
    pub(super) fn intrinsic_as(&mut self, instr: Instr, result: &[u32]) -> Result<(), Error> {
        let f = self.f;
        let name = f.intrinsic_info(instr).map_or("?", |i| i.name);
        let Some(form) = form_of(f, self.w.module, instr) else {
            return Err(Error::unsupported(format!("`@{name}` has no SPIR-V instruction")));
        };
        let mut operands = Vec::new();
        let op = match form.ext {
            true => {
                let number = self.w.instructions.glsl(form.name);
                operands.push(self.w.glsl_set());
                operands.extend(number);
                number.map(|_| Op::ExtInst)
            }
            false => self.w.instructions.core(form.name),
        };
        let op = op.ok_or_else(|| Error::unsupported(format!("SPIR-V has no `{}`", form.name)))?;
        let mut args = form.args.split_whitespace().collect::<Vec<_>>();
        if name.starts_with("image_deref_atomic") {
            operands.push(self.texel_pointer(instr)?);
            args.drain(..3);
        }
        if form.args.is_empty() {
            for n in 0..f.srcs(instr).len() {
                operands.push(self.intrinsic_src(instr, n, None)?);
            }
        }
        for arg in args {
            operands.push(self.form_arg(instr, arg)?);
        }
        let mut words = result.to_vec();
        words.extend(operands);
        self.code.op(op, &words);
        Ok(())
    }

    fn is_before_halt(&self, instr: Instr) -> bool {
        let next = self.f.next_instr(instr);
        next.and_then(|i| self.f.jump(i)) == Some(JumpKind::Halt)
    }

    /// One word of a form's operands.
    fn form_arg(&mut self, instr: Instr, arg: &str) -> Result<u32, Error> {
        let f = self.f;
        if let Some(index) = arg.strip_prefix('@') {
            return self.index_arg(instr, index);
        }
        if let Ok(number) = arg.parse::<u32>() {
            return Ok(self.w.u32_const(number));
        }
        let (letter, comp) = arg.split_once('.').map_or((arg, None), |(l, c)| (l, Some(c)));
        if let [letter @ b'a'..=b'p'] = letter.as_bytes() {
            let n = usize::from(letter - b'a');
            if n >= f.srcs(instr).len() {
                return Err(Error::unsupported("an operand that the intrinsic doesn't have"));
            }
            let comp = comp.and_then(|c| "xyzw".find(c)).map(|c| c as u8);
            return self.intrinsic_src(instr, n, comp);
        }
        Ok(match arg {
            "Subgroup" => self.w.u32_const(spirv::Scope::Subgroup as u32),
            "Reduce" => spirv::GroupOperation::Reduce as u32,
            "InclusiveScan" => spirv::GroupOperation::InclusiveScan as u32,
            "ExclusiveScan" => spirv::GroupOperation::ExclusiveScan as u32,
            "ClusteredReduce" => spirv::GroupOperation::ClusteredReduce as u32,
            _ => return Err(Error::unsupported(format!("the operand `{arg}`"))),
        })
    }

    fn intrinsic_src(&mut self, instr: Instr, n: usize, comp: Option<u8>) -> Result<u32, Error> {
        let f = self.f;
        let def = f.src(instr, n);
        if f.kind(def.instr()) == InstrKind::Deref {
            let handle = f.deref(def.instr()).is_some_and(|d| self.w.is_handle(d.ty));
            return if handle { self.handle(def) } else { self.pointer(def) };
        }
        match comp {
            Some(comp) => self.operand_scalar(def, comp, self.wanted_class(instr, n)),
            None => self.wanted_src(instr, n),
        }
    }

    fn index_arg(&mut self, instr: Instr, name: &str) -> Result<u32, Error> {
        let f = self.f;
        let index = Index::from_name(name);
        let value = index.and_then(|i| f.index(instr, i)).unwrap_or(0);
        Ok(match name {
            "memory_scope" | "execution_scope" => self.scope(value),
            "memory_semantics" | "failure_semantics" => {
                let modes = match (name, value) {
                    // What orders nothing names no memory.
                    ("failure_semantics", 0) => 0,
                    _ => f.index(instr, Index::MEMORY_MODES).unwrap_or(0),
                };
                self.w.u32_const(semantics(value, modes))
            }
            _ => self.w.u32_const(value),
        })
    }

    pub(super) fn scope(&mut self, value: u32) -> u32 {
        let scope = (value as usize)
            .checked_sub(1)
            .and_then(|n| SCOPES.get(n))
            .unwrap_or(&spirv::Scope::Invocation);
        self.w.u32_const(*scope as u32)
    }

    /// Operands outside the domain of a division: any value is right there, so the divisor becomes 1.
    pub(super) fn guard(
        &mut self,
        form: &SpirvForm,
        instr: Instr,
        operands: &mut [u32],
    ) -> Result<(), Error> {
        let f = self.f;
        if !matches!(form.name, "UDiv" | "UMod" | "SDiv") {
            return Err(Error::unsupported(format!("`{}` outside its domain", form.name)));
        }
        let comps = f.comps(instr.def());
        let src = f.srcs(instr)[1];
        let bits = f.bits(src.def());
        let all_ones = if bits == 64 { u64::MAX } else { (1 << bits) - 1 };
        let signed = form.name == "SDiv";
        let safe = |v: u64| v != 0 && !(signed && v == all_ones);
        if f.constant(src.def())
            .is_some_and(|v| src.swizzle().iter(comps).all(|c| safe(v[usize::from(c)])))
        {
            return Ok(());
        }
        let class = if signed { self.class(src.def()) } else { Class::Uint };
        let ty = ValueType { class, bits, comps };
        let bool_type = self.w.value_type(ValueType { class: Class::Bool, bits: 1, comps });
        let type_id = self.w.value_type(ty);
        let splat = |w: &mut super::Writer<'_>, v: u64| w.constant(ty, &vec![v; comps.into()]);
        let (zero, one) = (splat(self.w, 0), splat(self.w, 1));
        let mut bad = self.w.id();
        self.code.op(Op::IEqual, &[bool_type, bad, operands[1], zero]);
        if signed {
            let (least, minus_one) = (splat(self.w, 1 << (bits - 1)), splat(self.w, all_ones));
            let (is_least, is_minus_one, both, either) =
                (self.w.id(), self.w.id(), self.w.id(), self.w.id());
            self.code.op(Op::IEqual, &[bool_type, is_least, operands[0], least]);
            self.code.op(Op::IEqual, &[bool_type, is_minus_one, operands[1], minus_one]);
            self.code.op(Op::LogicalAnd, &[bool_type, both, is_least, is_minus_one]);
            self.code.op(Op::LogicalOr, &[bool_type, either, bad, both]);
            bad = either;
        }
        let divisor = self.w.id();
        self.code.op(Op::Select, &[type_id, divisor, bad, one, operands[1]]);
        operands[1] = divisor;
        Ok(())
    }
}

/// SPIR-V's memory semantics.
fn semantics(order: u32, modes: u32) -> u32 {
    let modes = deburr_ir_core::Modes::from_bits_truncate(modes);
    let has = |flag: u32| order & flag != 0;
    let mut out = MemorySemantics::RELAXED;
    match (has(memory_semantics::ACQUIRE), has(memory_semantics::RELEASE)) {
        _ if has(memory_semantics::SEQUENTIALLY_CONSISTENT) => {
            out |= MemorySemantics::SEQUENTIALLY_CONSISTENT
        }
        (true, true) => out |= MemorySemantics::ACQUIRE_RELEASE,
        (true, false) => out |= MemorySemantics::ACQUIRE,
        (false, true) => out |= MemorySemantics::RELEASE,
        (false, false) => {}
    }
    out.set(MemorySemantics::MAKE_AVAILABLE, has(memory_semantics::MAKE_AVAILABLE));
    out.set(MemorySemantics::MAKE_VISIBLE, has(memory_semantics::MAKE_VISIBLE));
    out.set(MemorySemantics::VOLATILE, has(memory_semantics::VOLATILE));
    let by_mode = [
        (deburr_ir_core::Modes::SSBO, MemorySemantics::UNIFORM_MEMORY),
        (deburr_ir_core::Modes::SHARED, MemorySemantics::WORKGROUP_MEMORY),
        (deburr_ir_core::Modes::IMAGE, MemorySemantics::IMAGE_MEMORY),
        (deburr_ir_core::Modes::OUT, MemorySemantics::OUTPUT_MEMORY),
        (deburr_ir_core::Modes::ATOMIC_COUNTER, MemorySemantics::ATOMIC_COUNTER_MEMORY),
    ];
    for (mode, bit) in by_mode {
        out.set(bit, modes.contains(mode));
    }
    out.bits()
}
