//! Instructions of a block, by kind: those with structure of their own here and in the modules around, all others by
//! the tables.

use super::alu::AluFlags;
use super::function::FnReader;
use super::memory::Access;
use super::module::{ExtSet, Global};
use super::tables::tables;
use super::types::MAX_LEAVES;
use super::value::{Val, Value};
use super::words::Inst;
use crate::error::Error;
use crate::layout::match_logically;
use deburr_ir_core::{AluOp, Def, Modes, Type, TypeData};
use rspirv::spirv::Op;

/// GLSL.std.450's instructions on vectors that are defined on scalars too, where the tables have vectors only.
const SCALAR_GEOMETRY: &[&str] =
    &["Length", "Distance", "Normalize", "FaceForward", "Reflect", "Refract"];

impl FnReader<'_, '_> {
    /// Translates an instruction that is no phi, label, merge or terminator.
    pub fn instruction(&mut self, inst: &Inst<'_>) -> Result<(), Error> {
        match inst.op {
            // An assumption is a hint, of which no analysis makes use.
            Op::Nop | Op::Line | Op::NoLine | Op::Phi | Op::AssumeTrueKHR => Ok(()),
            Op::ExpectKHR => {
                let value = self.get(inst.arg(0)?)?;
                self.set_checked(inst, value.ty, value.kind)
            }
            Op::ExtInst => self.extended(inst),
            Op::FunctionCall => self.call(inst),
            Op::Undef => {
                let ty = self.r.type_of(inst.ty)?;
                self.undefined(inst.id, ty)
            }
            Op::Select => self.select(inst),
            _ => self.memory(inst),
        }
    }

    fn memory(&mut self, inst: &Inst<'_>) -> Result<(), Error> {
        match inst.op {
            Op::Variable => self.local_variable(inst),
            Op::Load => self.load(inst),
            Op::Store => self.store(inst),
            Op::AccessChain
            | Op::InBoundsAccessChain
            | Op::PtrAccessChain
            | Op::InBoundsPtrAccessChain => self.access_chain(inst),
            Op::CopyMemory => self.copy_memory(inst),
            Op::ArrayLength => self.array_length(inst),
            _ => self.composite(inst),
        }
    }

    fn composite(&mut self, inst: &Inst<'_>) -> Result<(), Error> {
        match inst.op {
            Op::CompositeExtract => {
                let value = self.get(inst.arg(0)?)?;
                let (ty, kind) = self.extract(&value, inst.rest(1))?;
                self.set_checked(inst, ty, kind)
            }
            Op::CompositeInsert => {
                let part = self.get(inst.arg(0)?)?;
                let value = self.get(inst.arg(1)?)?;
                let kind = self.insert(&value, &part, inst.rest(2))?;
                self.set_checked(inst, value.ty, kind)
            }
            Op::CompositeConstruct => self.construct(inst, inst.args),
            Op::CompositeConstructReplicateEXT => {
                let ty = self.r.type_of(inst.ty)?;
                let count = self.r.replicas(ty)?;
                self.construct(inst, &vec![inst.arg(0)?; count])
            }
            Op::VectorShuffle => self.shuffle(inst),
            Op::CopyObject | Op::CopyLogical => {
                let ty = self.r.type_of(inst.ty)?;
                let value = self.get(inst.arg(0)?)?;
                if inst.op == Op::CopyObject && value.ty != ty {
                    return Err(Error::invalid("a copy has the type of what is copied"));
                }
                self.copy_object(inst, ty, &value)
            }
            _ => self.arithmetic_by_hand(inst),
        }
    }

    fn arithmetic_by_hand(&mut self, inst: &Inst<'_>) -> Result<(), Error> {
        match inst.op {
            Op::Bitcast | Op::ConvertPtrToU | Op::ConvertUToPtr => self.bitcast(inst),
            Op::MatrixTimesScalar | Op::MatrixTimesMatrix => self.matrix_product(inst),
            Op::FUnordLessThan
            | Op::FUnordGreaterThan
            | Op::FUnordLessThanEqual
            | Op::FUnordGreaterThanEqual => self.unordered(inst),
            Op::Fwidth | Op::FwidthFine | Op::FwidthCoarse => self.fwidth(inst),
            Op::FmaKHR => {
                let ty = self.r.type_of(inst.ty)?;
                let [a, b, c] = [inst.arg(0)?, inst.arg(1)?, inst.arg(2)?];
                let srcs = [self.def(a)?, self.def(b)?, self.def(c)?];
                let shape = self.f.shape(srcs[0]);
                if shape.bits() < 16 || srcs.iter().any(|&s| self.f.shape(s) != shape) {
                    return Err(Error::invalid("the operands do not fit"));
                }
                let flags = self.alu_flags(inst.id);
                let def = self.arithmetic(AluOp::FFMA, &srcs, flags);
                self.set_def(inst.id, ty, def)
            }
            Op::ConvertUToAccelerationStructureKHR => self.structure_at(inst),
            Op::PtrEqual | Op::PtrNotEqual => self.compare_pointers(inst),
            Op::AtomicIIncrement | Op::AtomicIDecrement => self.atomic_count(inst),
            _ if self.image(inst)? => Ok(()),
            _ => self.by_table(inst),
        }
    }

    fn compare_pointers(&mut self, inst: &Inst<'_>) -> Result<(), Error> {
        let ty = self.r.type_of(inst.ty)?;
        let (a, b) = (self.get(inst.arg(0)?)?, self.get(inst.arg(1)?)?);
        let pointers = self.single(a.kind).zip(self.single(b.kind));
        let (a, b) = pointers
            .filter(|_| a.ty == b.ty && matches!(self.r.m.types[a.ty], TypeData::Pointer { .. }))
            .ok_or_else(|| Error::invalid("the operands are no pointers of one type"))?;
        let op = if inst.op == Op::PtrEqual { AluOp::IEQ } else { AluOp::INE };
        let def = self.b().alu(op, &[a, b]);
        self.set_def(inst.id, ty, def)
    }

    /// The sum of the magnitudes of both derivatives, of which the writer makes one instruction again.
    fn fwidth(&mut self, inst: &Inst<'_>) -> Result<(), Error> {
        let ty = self.r.type_of(inst.ty)?;
        let value = self.def(inst.arg(0)?)?;
        if self.f.bits(value) < 16 {
            return Err(Error::invalid("the operand is no float"));
        }
        let derivatives = match inst.op {
            Op::FwidthFine => [AluOp::FDDX_FINE, AluOp::FDDY_FINE],
            Op::FwidthCoarse => [AluOp::FDDX_COARSE, AluOp::FDDY_COARSE],
            _ => [AluOp::FDDX, AluOp::FDDY],
        };
        let flags = self.alu_flags(inst.id);
        let parts = derivatives.map(|op| {
            let derivative = self.arithmetic(op, &[value], flags);
            self.arithmetic(AluOp::FABS, &[derivative], flags)
        });
        let def = self.arithmetic(AluOp::FADD, &parts, flags);
        self.set_def(inst.id, ty, def)
    }

    /// An acceleration structure by its address, of 64 bits or two halves.
    fn structure_at(&mut self, inst: &Inst<'_>) -> Result<(), Error> {
        let ty = self.r.type_of(inst.ty)?;
        if !matches!(self.r.m.types[ty], TypeData::AccelerationStructure) {
            return Err(Error::invalid("the result is no acceleration structure"));
        }
        let mut address = self.def(inst.arg(0)?)?;
        address = match (self.f.comps(address), self.f.bits(address)) {
            (1, 64) => address,
            (2, 32) => self.b().alu(AluOp::PACK_64_2X32, &[address]),
            _ => return Err(Error::invalid("the operand is no address")),
        };
        let handle = self.b().deref_cast(address, Modes::UNIFORM, ty, 0);
        self.droppable(handle);
        self.set(inst.id, Value::new(ty, Val::Handle(handle)))
    }

    fn by_table(&mut self, inst: &Inst<'_>) -> Result<(), Error> {
        let forms = tables().alu(inst.op);
        if !forms.is_empty() && inst.ty != 0 {
            // Dot products of packed vectors end with a literal.
            let packed = inst.info.name.contains("Dot") && inst.info.name != "Dot";
            let values = if inst.info.name.contains("AccSat") { 3 } else { 2 };
            let ids = match packed {
                true => inst.args.get(..values).unwrap_or(inst.args),
                false => inst.args,
            };
            return self.alu(inst, ids, forms);
        }
        let forms = tables().intrinsics(inst.op);
        match forms.is_empty() {
            false => self.intrinsic(inst, inst.args, forms),
            true => Err(Error::unsupported(format!("Op{} is not supported", inst.info.name))),
        }
    }

    fn extended(&mut self, inst: &Inst<'_>) -> Result<(), Error> {
        let number = inst.arg(1)?;
        match self.r.get(inst.arg(0)?) {
            Global::Ext(ExtSet::NonSemantic) => {
                let ty = self.r.type_of(inst.ty)?;
                self.set(inst.id, Value::new(ty, Val::Tree { start: 0, len: 0 }))
            }
            Global::Ext(ExtSet::Glsl) => {
                let name = tables().ext_name(number).unwrap_or("unknown");
                let named = |mut e: Error| {
                    e.message = format!("{name}: {}", e.message);
                    e
                };
                self.glsl(inst, number, name).map_err(named)
            }
            Global::Ext(ExtSet::Other) => {
                let set = self.r.set_name(inst.args[0]).unwrap_or_default();
                Err(Error::unsupported(format!("instruction {number} of the set `{set}`")))
            }
            _ => Err(Error::invalid(format!("%{} is no set of instructions", inst.args[0]))),
        }
    }

    fn glsl(&mut self, inst: &Inst<'_>, number: u32, name: &str) -> Result<(), Error> {
        if name == "Modf" || name == "Frexp" {
            return self.split_by_pointer(inst, name);
        }
        let args = inst.rest(2);
        let forms = tables().ext_intrinsics(number);
        if !forms.is_empty() {
            return self.intrinsic(inst, args, forms);
        }
        let ty = self.r.type_of(inst.ty)?;
        let is_scalar = self.r.m.types.value_shape(ty).is_some_and(|(comps, _)| comps == 1);
        if let (true, Some(&first)) = (is_scalar, args.first()) {
            let shape = self.get(first)?.kind;
            let one = self.single(shape).is_some_and(|def| self.f.comps(def) == 1);
            if one && SCALAR_GEOMETRY.contains(&name) {
                return self.scalar_geometry(inst, name, ty);
            }
        }
        self.alu(inst, args, tables().ext(number))
    }

    /// Length, direction, reflection and the like in one dimension.
    fn scalar_geometry(&mut self, inst: &Inst<'_>, name: &str, ty: Type) -> Result<(), Error> {
        let flags = self.alu_flags(inst.id);
        let a = self.def(inst.arg(2)?)?;
        if self.f.bits(a) < 16 {
            return Err(Error::invalid("the operand is no float"));
        }
        let mut others = Vec::new();
        for &id in inst.rest(3) {
            let other = self.def(id)?;
            if self.f.shape(a) != self.f.shape(other) {
                return Err(Error::invalid("the operands do not fit"));
            }
            others.push(other);
        }
        let bits = self.f.bits(a);
        let def = match (name, others.as_slice()) {
            ("Length", []) => self.arithmetic(AluOp::FABS, &[a], flags),
            ("Distance", &[b]) => {
                let difference = self.arithmetic(AluOp::FSUB, &[a, b], flags);
                self.arithmetic(AluOp::FABS, &[difference], flags)
            }
            ("FaceForward", &[incident, reference]) => {
                let product = self.arithmetic(AluOp::FMUL, &[incident, reference], flags);
                let zero = self.constant(bits, &[0]);
                let faces = self.arithmetic(AluOp::FLT, &[product, zero], flags);
                let turned = self.arithmetic(AluOp::FNEG, &[a], flags);
                self.b().alu(AluOp::BCSEL, &[faces, a, turned])
            }
            ("Reflect", &[normal]) => {
                let product = self.arithmetic(AluOp::FMUL, &[normal, a], flags);
                let twice = self.arithmetic(AluOp::FADD, &[product, product], flags);
                let change = self.arithmetic(AluOp::FMUL, &[twice, normal], flags);
                self.arithmetic(AluOp::FSUB, &[a, change], flags)
            }
            ("Refract", &[normal, eta]) => self.scalar_refract([a, normal, eta], flags),
            ("Normalize", []) => {
                let length = self.arithmetic(AluOp::FABS, &[a], flags);
                self.arithmetic(AluOp::FDIV, &[a, length], flags)
            }
            _ => return Err(Error::invalid("the number of operands is not the instruction's")),
        };
        self.set_def(inst.id, ty, def)
    }

    /// Refraction in one dimension, by GLSL.std.450's definition.
    fn scalar_refract(&mut self, [incident, normal, eta]: [Def; 3], flags: AluFlags) -> Def {
        let bits = self.f.bits(incident);
        let one = match bits {
            16 => 0x3c00,
            32 => 0x3f80_0000,
            _ => 0x3ff0_0000_0000_0000,
        };
        let (zero, one) = (self.constant(bits, &[0]), self.constant(bits, &[one]));
        let dot = self.arithmetic(AluOp::FMUL, &[normal, incident], flags);
        let dot2 = self.arithmetic(AluOp::FMUL, &[dot, dot], flags);
        let rest = self.arithmetic(AluOp::FSUB, &[one, dot2], flags);
        let eta2 = self.arithmetic(AluOp::FMUL, &[eta, eta], flags);
        let part = self.arithmetic(AluOp::FMUL, &[eta2, rest], flags);
        let k = self.arithmetic(AluOp::FSUB, &[one, part], flags);
        let total = self.arithmetic(AluOp::FLT, &[k, zero], flags);
        let along = self.arithmetic(AluOp::FMUL, &[eta, dot], flags);
        let root = self.arithmetic(AluOp::FSQRT, &[k], flags);
        let sum = self.arithmetic(AluOp::FADD, &[along, root], flags);
        let turned = self.arithmetic(AluOp::FMUL, &[sum, normal], flags);
        let straight = self.arithmetic(AluOp::FMUL, &[eta, incident], flags);
        let bent = self.arithmetic(AluOp::FSUB, &[straight, turned], flags);
        self.b().alu(AluOp::BCSEL, &[total, zero, bent])
    }

    /// Modf and Frexp: the second result goes through a pointer.
    fn split_by_pointer(&mut self, inst: &Inst<'_>, name: &str) -> Result<(), Error> {
        let ty = self.r.type_of(inst.ty)?;
        let value = self.def(inst.arg(2)?)?;
        let (pointer, to, access) = self.pointer(inst.arg(3)?)?;
        let (first, second) = match name {
            "Modf" => (AluOp::FMODF_FRACT, AluOp::FMODF_WHOLE),
            _ => (AluOp::FREXP_SIG, AluOp::FREXP_EXP),
        };
        if self.f.bits(value) < 16 {
            return Err(Error::invalid("the operand is no float"));
        }
        let flags = self.alu_flags(inst.id);
        let second = self.arithmetic(second, &[value], flags);
        let stored = Value::new(to, Val::Def(second));
        self.store_value(pointer, to, &stored, access, 0, 0)?;
        let first = self.arithmetic(first, &[value], flags);
        self.set_def(inst.id, ty, first)
    }

    fn undefined(&mut self, id: u32, ty: Type) -> Result<(), Error> {
        if self.r.meta(ty).leaves > MAX_LEAVES {
            let deref = self.plain_scratch(ty)?;
            return self.set(id, Value::new(ty, Val::Mem(deref)));
        }
        let shapes = self.leaf_shapes(ty)?;
        let mut leaves = Vec::new();
        for shape in shapes {
            let undef = self.b().undef(shape.comps(), shape.bits());
            leaves.push(self.droppable(undef));
        }
        let kind = self.from_leaves(ty, &leaves);
        self.set(id, Value::new(ty, kind))
    }

    // ---- composites ---------------------------------------------------------------------------------

    fn set_checked(&mut self, inst: &Inst<'_>, ty: Type, kind: Val) -> Result<(), Error> {
        match self.r.type_of(inst.ty)? == ty {
            true => self.set(inst.id, Value::new(ty, kind)),
            false => Err(Error::invalid("the result's type is not the part's")),
        }
    }

    fn construct(&mut self, inst: &Inst<'_>, args: &[u32]) -> Result<(), Error> {
        let ty = self.r.type_of(inst.ty)?;
        if let TypeData::Vector { elem, len } = self.r.m.types[ty] {
            let Some((_, bits)) = self.r.m.types.value_shape(elem) else {
                return Err(Error::invalid("the result's type is no vector"));
            };
            let mut picks: Vec<(Def, u8)> = Vec::new();
            for &id in args {
                let def = self.def(id)?;
                if self.f.bits(def) != bits {
                    return Err(Error::invalid(format!("%{id} does not fit the vector")));
                }
                picks.extend((0..self.f.comps(def)).map(|c| (def, c)));
            }
            if picks.len() != usize::from(len) {
                return Err(Error::invalid("the number of components is not the vector's"));
            }
            let def = self.gather(&picks)?;
            return self.set_def(inst.id, ty, def);
        }
        let parts = self.parts_of(ty)?;
        if parts.len() != args.len() {
            return Err(Error::invalid("the number of constituents is not the type's"));
        }
        let mut values = Vec::new();
        for (&id, part) in args.iter().zip(parts) {
            let value = self.get(id)?;
            if value.ty != part {
                return Err(Error::invalid(format!("%{id} has another type than the constituent")));
            }
            values.push(value);
        }
        if self.r.meta(ty).leaves > MAX_LEAVES {
            let deref = self.plain_scratch(ty)?;
            let own = self.pointee(deref, ty);
            for (n, value) in values.iter().enumerate() {
                let (part, part_ty) = self.step_into(deref, own, n as u32)?;
                self.store_value(part, part_ty, value, 0, 0, 0)?;
            }
            return self.set(inst.id, Value::new(ty, Val::Mem(deref)));
        }
        let mut leaves = Vec::new();
        for value in &values {
            leaves.extend(self.value_leaves(value)?);
        }
        let kind = self.from_leaves(ty, &leaves);
        self.set(inst.id, Value::new(ty, kind))
    }

    fn shuffle(&mut self, inst: &Inst<'_>) -> Result<(), Error> {
        let ty = self.r.type_of(inst.ty)?;
        let (a, b) = (self.def(inst.arg(0)?)?, self.def(inst.arg(1)?)?);
        if self.f.bits(a) != self.f.bits(b) {
            return Err(Error::invalid("the vectors differ in type"));
        }
        let first = u32::from(self.f.comps(a));
        let mut picks = Vec::new();
        for &component in inst.rest(2) {
            picks.push(match component {
                // Any value will do.
                u32::MAX => (a, 0),
                c if c < first => (a, c as u8),
                c if c - first < self.f.comps(b).into() => (b, (c - first) as u8),
                _ => return Err(Error::invalid("a component of neither vector")),
            });
        }
        if picks.is_empty() {
            return Err(Error::invalid("a vector without components"));
        }
        let def = self.gather(&picks)?;
        self.set_def(inst.id, ty, def)
    }

    fn copy_object(&mut self, inst: &Inst<'_>, ty: Type, value: &Value) -> Result<(), Error> {
        if !match_logically(&self.r.m.types, ty, value.ty) {
            return Err(Error::invalid("the types differ by more than layout"));
        }
        let kind = match value.kind {
            Val::Mem(deref) if value.ty != ty => {
                let copy = self.scratch(ty);
                self.copy(copy, deref, Access::default(), Access::default());
                Val::Mem(copy)
            }
            kind => kind,
        };
        self.set(inst.id, Value { ty, kind, access: value.access })
    }
}
