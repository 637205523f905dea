//! Types and constants of the binary: each once, before its first use.

use super::Writer;
use crate::error::Error;
use deburr_ir_core::{
    ArrayLen, Constant, Decoration, Dim, Modes, SpecArg, SpecConst, SpecValue, StructType, Type,
    TypeData, Var,
};
use spirv::{Op, StorageClass};
use std::str::FromStr;

/// How the bits of a value are read: what SPIR-V calls its type, apart from the size.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Class {
    Bool,
    Float,
    Uint,
    Sint,
}

/// A type of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct ValueType {
    pub class: Class,
    pub bits: u8,
    pub comps: u8,
}

impl ValueType {
    /// The words of a literal of the scalar type: narrow signed integers are sign-extended to the word.
    pub fn literal(self, bits: u64) -> Vec<u32> {
        match (self.class, self.bits) {
            (_, 64) => vec![bits as u32, (bits >> 32) as u32],
            (Class::Sint, 8) => vec![bits as u8 as i8 as u32],
            (Class::Sint, 16) => vec![bits as u16 as i16 as u32],
            _ => vec![bits as u32],
        }
    }
}

/// A type that is emitted once.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum TypeKey {
    Void,
    Value(ValueType),
    Matrix(u32, u8),
    SampledImage(u32),
    Pointer(StorageClass, u32, u32),
    Function(Vec<u32>),
    Pair(u32, u32),
}

/// A constant that is emitted once: type and bits, or type and parts.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum ConstKey {
    Bits(ValueType, Vec<u64>),
    Composite(u32, Vec<u32>),
    Null(u32),
    Undef(u32),
}

impl Writer<'_> {
    pub(super) fn void_type(&mut self) -> u32 {
        self.type_once(TypeKey::Void, |w, id| w.globals.op(Op::TypeVoid, &[id]))
    }

    fn type_once(&mut self, key: TypeKey, emit: impl FnOnce(&mut Self, u32)) -> u32 {
        if let Some(&id) = self.types.get(&key) {
            return id;
        }
        let id = self.id();
        self.types.insert(key, id);
        emit(self, id);
        id
    }

    /// The id of a value's type.
    pub(super) fn value_type(&mut self, ty: ValueType) -> u32 {
        if ty.comps > 1 {
            let scalar = self.value_type(ValueType { comps: 1, ..ty });
            return self.type_once(TypeKey::Value(ty), |w, id| {
                w.globals.op(Op::TypeVector, &[id, scalar, ty.comps.into()]);
            });
        }
        self.type_once(TypeKey::Value(ty), |w, id| match ty.class {
            Class::Bool => w.globals.op(Op::TypeBool, &[id]),
            Class::Float => w.globals.op(Op::TypeFloat, &[id, ty.bits.into()]),
            Class::Uint => w.globals.op(Op::TypeInt, &[id, ty.bits.into(), 0]),
            Class::Sint => w.globals.op(Op::TypeInt, &[id, ty.bits.into(), 1]),
        })
    }

    pub(super) fn pointer_type(&mut self, class: StorageClass, pointee: u32) -> u32 {
        self.strided_pointer_type(class, pointee, 0)
    }

    /// The type of pointers to elements that lie `stride` bytes apart; 0 for pointers that are not stepped.
    pub(super) fn strided_pointer_type(
        &mut self,
        class: StorageClass,
        pointee: u32,
        stride: u32,
    ) -> u32 {
        self.type_once(TypeKey::Pointer(class, pointee, stride), |w, id| {
            w.globals.op(Op::TypePointer, &[id, class as u32, pointee]);
            w.stride(id, stride);
        })
    }

    pub(super) fn function_type(&mut self, parts: Vec<u32>) -> u32 {
        self.type_once(TypeKey::Function(parts.clone()), |w, id| {
            let mut operands = vec![id];
            operands.extend(parts);
            w.globals.op(Op::TypeFunction, &operands);
        })
    }

    /// The struct that carries, extended products and the like return.
    pub(super) fn pair_type(&mut self, first: u32, second: u32) -> u32 {
        self.type_once(TypeKey::Pair(first, second), |w, id| {
            w.globals.op(Op::TypeStruct, &[id, first, second])
        })
    }

    /// The class in which memory of this type holds its scalars.
    pub(super) fn memory_class(&self, ty: Type) -> Option<Class> {
        match &self.module.types[ty] {
            TypeData::Bool => Some(Class::Bool),
            TypeData::Float { .. } => Some(Class::Float),
            TypeData::Int { signed: true, .. } => Some(Class::Sint),
            TypeData::Int { signed: false, .. } => Some(Class::Uint),
            TypeData::Vector { elem, .. } => self.memory_class(*elem),
            _ => None,
        }
    }

    /// The type of a scalar or vector in memory.
    pub(super) fn memory_value_type(&self, ty: Type) -> Option<ValueType> {
        let (comps, bits) = self.module.types.value_shape(ty)?;
        Some(ValueType { class: self.memory_class(ty)?, bits, comps })
    }

    /// The id of a type of the module, with all it is made of. Iterative: types nest as deep as the input likes.
    pub(super) fn ir_type(&mut self, ty: Type) -> Result<u32, Error> {
        let mut stack = vec![(ty, false)];
        let mut announced = Vec::new();
        while let Some((at, ready)) = stack.pop() {
            if self.ir_types.contains_key(&at) {
                continue;
            }
            if !ready {
                if self.points_into_open(at) {
                    self.forward_pointer(at);
                    announced.push(at);
                    continue;
                }
                stack.push((at, true));
                if self.open_types.insert(at) {
                    stack.extend(self.parts(at).into_iter().map(|part| (part, false)));
                    continue;
                }
                // A pointer to a struct that contains it: announce it, and emit it once the struct is there.
                self.forward_pointer(at);
                stack.pop();
                continue;
            }
            let id = self.emit_ir_type(at)?;
            self.ir_types.insert(at, id);
        }
        for pointer in announced {
            if !self.ir_types.contains_key(&pointer) {
                let id = self.emit_ir_type(pointer)?;
                self.ir_types.insert(pointer, id);
            }
        }
        self.ir_types.get(&ty).copied().ok_or_else(|| Error::unsupported("a type contains itself"))
    }

    /// Whether the type is a pointer to a struct that is being written.
    fn points_into_open(&self, ty: Type) -> bool {
        match &self.module.types[ty] {
            TypeData::Pointer { pointee: Some(to), .. } => {
                !self.open_types.contains(&ty)
                    && self.open_types.contains(to)
                    && !self.ir_types.contains_key(to)
            }
            _ => false,
        }
    }

    fn forward_pointer(&mut self, ty: Type) {
        if let TypeData::Pointer { modes, .. } = &self.module.types[ty]
            && !self.forward.contains_key(&ty)
        {
            let id = self.id();
            let class = storage_class(*modes);
            self.globals.op(Op::TypeForwardPointer, &[id, class as u32]);
            self.forward.insert(ty, id);
        }
    }

    /// Types that a type is made of.
    fn parts(&self, ty: Type) -> Vec<Type> {
        match &self.module.types[ty] {
            TypeData::Void
            | TypeData::Bool
            | TypeData::Int { .. }
            | TypeData::Float { .. }
            | TypeData::Sampler
            | TypeData::AccelerationStructure
            | TypeData::RayQuery => vec![],
            TypeData::Vector { elem, .. } | TypeData::Array { elem, .. } => vec![*elem],
            TypeData::Matrix { column, .. } => vec![*column],
            TypeData::Struct(s) => s.members.iter().rev().map(|m| m.ty).collect(),
            TypeData::Image(image) => vec![image.sampled_type],
            TypeData::SampledImage { image } => vec![*image],
            TypeData::Pointer { pointee, .. } => pointee.iter().copied().collect(),
        }
    }

    /// The id of a part that is there already, or announced.
    fn part(&self, ty: Type) -> Result<u32, Error> {
        let known = self.ir_types.get(&ty).or_else(|| self.forward.get(&ty));
        known.copied().ok_or_else(|| Error::unsupported("a type contains itself"))
    }

    fn emit_ir_type(&mut self, ty: Type) -> Result<u32, Error> {
        if let Some(value) = self.memory_value_type(ty) {
            return Ok(self.value_type(value));
        }
        let module = self.module;
        let id = match &module.types[ty] {
            TypeData::Void => self.void_type(),
            TypeData::Matrix { column, cols } => {
                let column = self.part(*column)?;
                self.matrix_type(column, *cols)
            }
            TypeData::Array { elem, len, stride } => self.array_type(ty, *elem, *len, *stride)?,
            TypeData::Struct(data) => self.struct_type(data)?,
            TypeData::Image(image) => {
                let sampled = self.part(image.sampled_type)?;
                let format = spirv::ImageFormat::from_str(&image.format)
                    .map_err(|()| Error::unsupported(format!("image format `{}`", image.format)))?;
                let id = self.id();
                let flags: [u32; 4] = [
                    image.depth.into(),
                    image.arrayed.into(),
                    image.multisampled.into(),
                    image.sampled.into(),
                ];
                let mut operands = vec![id, sampled, dim(image.dim) as u32];
                operands.extend(flags);
                operands.push(format as u32);
                self.globals.op(Op::TypeImage, &operands);
                id
            }
            TypeData::SampledImage { image } => {
                let image = self.part(*image)?;
                self.sampled_image_type(image)
            }
            TypeData::Sampler => self.opaque(Op::TypeSampler),
            TypeData::AccelerationStructure => self.opaque(Op::TypeAccelerationStructureKHR),
            TypeData::RayQuery => self.opaque(Op::TypeRayQueryKHR),
            TypeData::Pointer { modes, pointee, stride } => {
                let Some(pointee) = *pointee else {
                    return Err(Error::invalid("a pointer type without pointee"));
                };
                self.ir_pointer_type(ty, *modes, pointee, *stride)?
            }
            TypeData::Bool
            | TypeData::Int { .. }
            | TypeData::Float { .. }
            | TypeData::Vector { .. } => {
                unreachable!("values have a type already")
            }
        };
        Ok(id)
    }

    pub(super) fn sampled_image_type(&mut self, image: u32) -> u32 {
        self.type_once(TypeKey::SampledImage(image), |w, id| {
            w.globals.op(Op::TypeSampledImage, &[id, image]);
        })
    }

    fn opaque(&mut self, op: Op) -> u32 {
        let id = self.id();
        self.globals.op(op, &[id]);
        id
    }

    pub(super) fn matrix_type(&mut self, column: u32, cols: u8) -> u32 {
        self.type_once(TypeKey::Matrix(column, cols), |w, id| {
            w.globals.op(Op::TypeMatrix, &[id, column, cols.into()]);
        })
    }

    fn ir_pointer_type(
        &mut self,
        ty: Type,
        modes: Modes,
        pointee: Type,
        stride: u32,
    ) -> Result<u32, Error> {
        let class = self.class_of(modes, pointee);
        let pointee = self.part(pointee)?;
        if let Some(&id) = self.forward.get(&ty) {
            self.globals.op(Op::TypePointer, &[id, class as u32, pointee]);
            self.stride(id, stride);
            self.types.entry(TypeKey::Pointer(class, pointee, stride)).or_insert(id);
            return Ok(id);
        }
        Ok(self.strided_pointer_type(class, pointee, stride))
    }

    fn stride(&mut self, id: u32, stride: u32) {
        if stride != 0 {
            self.decorate(id, spirv::Decoration::ArrayStride, &[stride]);
        }
    }

    fn array_type(
        &mut self,
        _ty: Type,
        elem: Type,
        len: ArrayLen,
        stride: u32,
    ) -> Result<u32, Error> {
        let elem = self.part(elem)?;
        let id = match len {
            ArrayLen::Runtime => {
                let id = self.id();
                self.globals.op(Op::TypeRuntimeArray, &[id, elem]);
                id
            }
            ArrayLen::Const(n) => {
                let len = self.u32_const(n);
                let id = self.id();
                self.globals.op(Op::TypeArray, &[id, elem, len]);
                id
            }
            ArrayLen::Spec(spec) => {
                let len = self.spec_const(spec)?;
                let id = self.id();
                self.globals.op(Op::TypeArray, &[id, elem, len]);
                id
            }
        };
        self.stride(id, stride);
        Ok(id)
    }

    fn struct_type(&mut self, data: &StructType) -> Result<u32, Error> {
        let id = self.id();
        let mut operands = vec![id];
        for member in &data.members {
            operands.push(self.part(member.ty)?);
        }
        self.globals.op(Op::TypeStruct, &operands);
        self.name(id, &data.name);
        for decoration in &data.decorations {
            self.decorate_kept(id, None, decoration)?;
        }
        for (n, member) in data.members.iter().enumerate() {
            let n = n as u32;
            if !member.name.is_empty() {
                self.names.op_str(Op::MemberName, &[id, n], &member.name, &[]);
            }
            if let Some(offset) = member.offset {
                self.decorate_member(id, n, spirv::Decoration::Offset, &[offset]);
            }
            if let Some(stride) = member.matrix_stride {
                let major = if member.row_major {
                    spirv::Decoration::RowMajor
                } else {
                    spirv::Decoration::ColMajor
                };
                self.decorate_member(id, n, major, &[]);
                self.decorate_member(id, n, spirv::Decoration::MatrixStride, &[stride]);
            }
            for decoration in &member.decorations {
                self.decorate_kept(id, Some(n), decoration)?;
            }
        }
        Ok(id)
    }

    pub(super) fn decorate(&mut self, id: u32, decoration: spirv::Decoration, args: &[u32]) {
        let mut operands = vec![id, decoration as u32];
        operands.extend_from_slice(args);
        let op = if is_text(decoration) { Op::DecorateString } else { Op::Decorate };
        self.decorations.op(op, &operands);
    }

    fn decorate_member(
        &mut self,
        id: u32,
        member: u32,
        decoration: spirv::Decoration,
        args: &[u32],
    ) {
        let mut operands = vec![id, member, decoration as u32];
        operands.extend_from_slice(args);
        let op = if is_text(decoration) { Op::MemberDecorateString } else { Op::MemberDecorate };
        self.decorations.op(op, &operands);
    }

    /// A decoration as it was read.
    pub(super) fn decorate_kept(
        &mut self,
        id: u32,
        member: Option<u32>,
        kept: &Decoration,
    ) -> Result<(), Error> {
        let decoration = spirv::Decoration::from_str(&kept.name)
            .map_err(|()| Error::unsupported(format!("decoration `{}`", kept.name)))?;
        match member {
            None => self.decorate(id, decoration, &kept.args),
            Some(member) => self.decorate_member(id, member, decoration, &kept.args),
        }
        Ok(())
    }

    /// A constant scalar or vector.
    pub(super) fn constant(&mut self, ty: ValueType, bits: &[u64]) -> u32 {
        let key = ConstKey::Bits(ty, bits.to_vec());
        if let Some(&id) = self.constants.get(&key) {
            return id;
        }
        let type_id = self.value_type(ty);
        let id = if ty.comps > 1 {
            let scalar = ValueType { comps: 1, ..ty };
            let parts: Vec<u32> = bits.iter().map(|&b| self.constant(scalar, &[b])).collect();
            let id = self.id();
            let mut operands = vec![type_id, id];
            operands.extend(parts);
            self.globals.op(Op::ConstantComposite, &operands);
            id
        } else {
            let id = self.id();
            let value = bits.first().copied().unwrap_or(0);
            match ty.class {
                Class::Bool if value != 0 => self.globals.op(Op::ConstantTrue, &[type_id, id]),
                Class::Bool => self.globals.op(Op::ConstantFalse, &[type_id, id]),
                _ => {
                    let mut words = vec![type_id, id];
                    words.extend(ty.literal(value));
                    self.globals.op(Op::Constant, &words);
                }
            }
            id
        };
        self.constants.insert(key, id);
        id
    }

    pub(super) fn u32_const(&mut self, value: u32) -> u32 {
        self.constant(ValueType { class: Class::Uint, bits: 32, comps: 1 }, &[value.into()])
    }

    fn const_once(&mut self, key: ConstKey, op: Op, type_id: u32, parts: &[u32]) -> u32 {
        if let Some(&id) = self.constants.get(&key) {
            return id;
        }
        let id = self.id();
        let mut operands = vec![type_id, id];
        operands.extend_from_slice(parts);
        self.globals.op(op, &operands);
        self.constants.insert(key, id);
        id
    }

    pub(super) fn null(&mut self, type_id: u32) -> u32 {
        self.const_once(ConstKey::Null(type_id), Op::ConstantNull, type_id, &[])
    }

    pub(super) fn undef(&mut self, type_id: u32) -> u32 {
        self.const_once(ConstKey::Undef(type_id), Op::Undef, type_id, &[])
    }

    /// A constant of any type, as initialisers have them. Depth is that of the type.
    pub(super) fn initialiser(&mut self, ty: Type, constant: &Constant) -> Result<u32, Error> {
        let type_id = self.ir_type(ty)?;
        Ok(match constant {
            Constant::Bits(bits) => {
                let value = self
                    .memory_value_type(ty)
                    .ok_or_else(|| Error::invalid("bits as the value of an aggregate"))?;
                self.constant(value, bits)
            }
            Constant::Null => self.null(type_id),
            Constant::Undef => self.undef(type_id),
            Constant::Spec(spec) => self.spec_const(*spec)?,
            Constant::Address(var) => self.var_id(*var)?,
            Constant::Composite(parts) => {
                let (ids, spec) = self.composite_parts(ty, parts)?;
                let op = if spec { Op::SpecConstantComposite } else { Op::ConstantComposite };
                self.const_once(ConstKey::Composite(type_id, ids.clone()), op, type_id, &ids)
            }
        })
    }

    /// The parts' ids, and whether any of them is a specialisation constant.
    fn composite_parts(&mut self, ty: Type, parts: &[Constant]) -> Result<(Vec<u32>, bool), Error> {
        let mut ids = Vec::new();
        let mut spec = false;
        for (n, part) in parts.iter().enumerate() {
            let types = &self.module.types;
            let part_ty = types.member(ty, n as u32).or_else(|| types.element(ty));
            let part_ty = part_ty
                .ok_or_else(|| Error::invalid("a composite of more parts than its type has"))?;
            spec |= matches!(part, Constant::Spec(_));
            ids.push(self.initialiser(part_ty, part)?);
        }
        Ok((ids, spec))
    }

    /// The id of a specialisation constant.
    pub(super) fn spec_const(&mut self, spec: SpecConst) -> Result<u32, Error> {
        if let Some(&id) = self.spec_ids.get(&spec) {
            return Ok(id);
        }
        let module = self.module;
        let data = &module.spec_consts[spec.index()];
        let type_id = self.ir_type(data.ty)?;
        let id = match &data.value {
            SpecValue::Scalar { id: spec_id, default } => {
                let id = self.id();
                let value = self
                    .memory_value_type(data.ty)
                    .ok_or_else(|| Error::invalid("a scalar of no scalar type"))?;
                match value.class {
                    Class::Bool if *default != 0 => {
                        self.globals.op(Op::SpecConstantTrue, &[type_id, id])
                    }
                    Class::Bool => self.globals.op(Op::SpecConstantFalse, &[type_id, id]),
                    _ => {
                        let mut words = vec![type_id, id];
                        words.extend(value.literal(*default));
                        self.globals.op(Op::SpecConstant, &words);
                    }
                }
                if let Some(spec_id) = spec_id {
                    self.decorate(id, spirv::Decoration::SpecId, &[*spec_id]);
                }
                id
            }
            SpecValue::Composite(parts) => {
                let (parts, _) = self.composite_parts(data.ty, parts)?;
                let id = self.id();
                let mut operands = vec![type_id, id];
                operands.extend(parts);
                self.globals.op(Op::SpecConstantComposite, &operands);
                id
            }
            SpecValue::Op { opcode, args } => {
                let op = self.instructions.core(opcode);
                let op =
                    op.ok_or_else(|| Error::unsupported(format!("constant operation `{opcode}`")))?;
                let mut operands = vec![op as u32];
                for arg in args {
                    operands.push(match arg {
                        SpecArg::Literal(literal) => *literal,
                        SpecArg::Constant(ty, constant) => self.initialiser(*ty, constant)?,
                    });
                }
                let id = self.id();
                let mut words = vec![type_id, id];
                words.extend(operands);
                self.globals.op(Op::SpecConstantOp, &words);
                id
            }
        };
        self.spec_ids.insert(spec, id);
        self.name(id, &data.name);
        for decoration in &data.decorations {
            self.decorate_kept(id, None, decoration)?;
        }
        Ok(id)
    }

    /// Storage class of memory of these modes and type.
    pub(super) fn class_of(&self, modes: Modes, pointee: Type) -> StorageClass {
        match &self.module.types[pointee] {
            TypeData::Struct(s)
                if modes == Modes::SSBO
                    && s.decorations.iter().any(|d| d.name == "BufferBlock") =>
            {
                StorageClass::Uniform
            }
            TypeData::Array { elem, .. } if modes == Modes::SSBO => self.class_of(modes, *elem),
            _ => storage_class(modes),
        }
    }

    /// The id of a variable, which is emitted with the module's or the function's.
    pub(super) fn var_id(&mut self, var: Var) -> Result<u32, Error> {
        match self.vars.get(&var) {
            Some(&id) => Ok(id),
            None => {
                let id = self.id();
                self.vars.insert(var, id);
                if !var.is_local() {
                    self.wanted_vars.push(var);
                }
                Ok(id)
            }
        }
    }
}

fn dim(dim: Dim) -> spirv::Dim {
    match dim {
        Dim::D1 => spirv::Dim::Dim1D,
        Dim::D2 => spirv::Dim::Dim2D,
        Dim::D3 => spirv::Dim::Dim3D,
        Dim::Cube => spirv::Dim::DimCube,
        Dim::Rect => spirv::Dim::DimRect,
        Dim::Buffer => spirv::Dim::DimBuffer,
        Dim::SubpassData => spirv::Dim::DimSubpassData,
        Dim::TileImageData => spirv::Dim::DimTileImageDataEXT,
    }
}

/// Storage class of a mode.
fn storage_class(modes: Modes) -> StorageClass {
    const CLASSES: &[(Modes, StorageClass)] = &[
        (Modes::FUNCTION, StorageClass::Function),
        (Modes::PRIVATE, StorageClass::Private),
        (Modes::IN, StorageClass::Input),
        (Modes::OUT, StorageClass::Output),
        (Modes::UNIFORM, StorageClass::UniformConstant),
        (Modes::UBO, StorageClass::Uniform),
        (Modes::SSBO, StorageClass::StorageBuffer),
        (Modes::SHARED, StorageClass::Workgroup),
        (Modes::PUSH_CONST, StorageClass::PushConstant),
        (Modes::IMAGE, StorageClass::Image),
        (Modes::GLOBAL, StorageClass::PhysicalStorageBuffer),
        (Modes::TASK_PAYLOAD, StorageClass::TaskPayloadWorkgroupEXT),
        (Modes::RAY_PAYLOAD, StorageClass::RayPayloadKHR),
        (Modes::RAY_PAYLOAD_IN, StorageClass::IncomingRayPayloadKHR),
        (Modes::CALLABLE_DATA, StorageClass::CallableDataKHR),
        (Modes::CALLABLE_DATA_IN, StorageClass::IncomingCallableDataKHR),
        (Modes::HIT_ATTRIB, StorageClass::HitAttributeKHR),
        (Modes::SHADER_RECORD, StorageClass::ShaderRecordBufferKHR),
        (Modes::ATOMIC_COUNTER, StorageClass::AtomicCounter),
        (Modes::NODE_PAYLOAD, StorageClass::NodePayloadAMDX),
    ];
    CLASSES.iter().find(|(m, _)| modes.contains(*m)).map_or(StorageClass::Private, |(_, c)| *c)
}

/// Whether what a decoration says is a text.
fn is_text(decoration: spirv::Decoration) -> bool {
    use spirv::Decoration as D;
    matches!(decoration, D::UserSemantic | D::UserTypeGOOGLE)
}
