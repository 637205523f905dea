//! Types, constants, specialisation constants, module variables.

use super::fold::fold_op;
use super::memory::member_access;
use super::module::{Const, Deco, FnType, Global, Reader, WorkgroupSize};
use super::tables::index_value;
use super::words::Inst;
use crate::error::Error;
use deburr_ir_core::{
    ArrayLen, Constant, Dim, ImageType, Index, Member, Modes, SpecArg, SpecConst, SpecConstant,
    SpecValue, StructType, Type, TypeData, Var, Variable,
};
use rspirv::spirv;
use rustc_hash::FxHashMap;
use spirv::{Decoration as D, Op};

/// Levels of nesting that a type may have (SPIR-V 2.17).
const MAX_DEPTH: u16 = 255;
/// Scalars that the constants of a module may have together.
const MAX_CONST_SCALARS: u64 = 1 << 23;
/// Aggregates of more leaves than this, or of more parts that have none, live in memory.
pub(super) const MAX_LEAVES: u32 = 64;

/// What is often asked of a type.
#[derive(Clone, Copy, Debug)]
pub(super) struct TypeMeta {
    /// Levels of nesting.
    pub depth: u16,
    /// Scalars and vectors that a value of it is made of; `u32::MAX` where that is unknown, no value exists or too many
    /// parts have none.
    pub leaves: u32,
    /// Parts in it that have no leaves and no parts.
    pub empties: u32,
    /// Scalars in it.
    pub scalars: u64,
    /// Access bits that members in it ask of an access to the whole: that it is volatile, or coherent.
    pub access: u32,
}

impl Reader<'_> {
    pub fn read_type(&mut self, inst: &Inst<'_>) -> Result<(), Error> {
        let data = match inst.op {
            Op::TypeVoid => TypeData::Void,
            Op::TypeBool => TypeData::Bool,
            Op::TypeInt => TypeData::Int {
                bits: self.width(inst, &[8, 16, 32, 64])?,
                signed: inst.arg(1)? != 0,
            },
            Op::TypeFloat if !inst.rest(1).is_empty() => {
                return Err(Error::unsupported("a float encoding other than IEEE 754's"));
            }
            Op::TypeFloat => TypeData::Float { bits: self.width(inst, &[16, 32, 64])? },
            Op::TypeVector => self.vector_type(inst)?,
            Op::TypeMatrix => self.matrix_type(inst)?,
            Op::TypeArray | Op::TypeRuntimeArray => self.array_type(inst)?,
            Op::TypeStruct => self.struct_type(inst)?,
            Op::TypeFunction => {
                let ret = self.type_of(inst.arg(0)?)?;
                let params = inst.rest(1).iter().map(|&id| self.type_of(id));
                let params = params.collect::<Result<_, _>>()?;
                self.fn_types.push(FnType { ret, params });
                return self.define(inst.id, Global::FnType(self.fn_types.len() as u32 - 1));
            }
            _ => return self.read_opaque_type(inst),
        };
        self.add_type(inst.id, data)
    }

    fn read_opaque_type(&mut self, inst: &Inst<'_>) -> Result<(), Error> {
        let data = match inst.op {
            Op::TypeImage => self.image_type(inst)?,
            Op::TypeSampler => TypeData::Sampler,
            Op::TypeSampledImage => {
                let image = self.type_of(inst.arg(0)?)?;
                if !matches!(self.m.types[image], TypeData::Image(_)) {
                    return Err(Error::invalid("a sampled image is made of an image"));
                }
                TypeData::SampledImage { image }
            }
            Op::TypeAccelerationStructureKHR => TypeData::AccelerationStructure,
            Op::TypeRayQueryKHR => TypeData::RayQuery,
            Op::TypeForwardPointer => {
                let id = inst.arg(0)?;
                let modes = self.storage_modes(inst.arg(1)?, None)?;
                let stride = self.deco_arg(id, D::ArrayStride).unwrap_or(0);
                let ty = self.m.types.forward_pointer(modes, stride);
                self.note_type(ty)?;
                return self.define(id, Global::Type(ty));
            }
            Op::TypePointer => return self.pointer_type(inst),
            _ => return Err(Error::unsupported(format!("Op{} is not supported", inst.info.name))),
        };
        self.add_type(inst.id, data)
    }

    fn add_type(&mut self, id: u32, data: TypeData) -> Result<(), Error> {
        let ty = self.m.types.intern(data);
        self.note_type(ty)?;
        self.define(id, Global::Type(ty))
    }

    fn width(&self, inst: &Inst<'_>, widths: &[u8]) -> Result<u8, Error> {
        let width = inst.arg(0)?;
        match widths.iter().find(|w| u32::from(**w) == width) {
            Some(&width) => Ok(width),
            None => Err(Error::unsupported(format!("a scalar of {width} bits"))),
        }
    }

    fn vector_type(&self, inst: &Inst<'_>) -> Result<TypeData, Error> {
        let elem = self.type_of(inst.arg(0)?)?;
        let scalar = matches!(
            self.m.types[elem],
            TypeData::Bool | TypeData::Int { .. } | TypeData::Float { .. }
        );
        match inst.arg(1)? {
            len @ (2..=4 | 8 | 16) if scalar => Ok(TypeData::Vector { elem, len: len as u8 }),
            _ if !scalar => Err(Error::invalid("a vector is made of scalars")),
            len => Err(Error::unsupported(format!("a vector of {len} components"))),
        }
    }

    fn matrix_type(&self, inst: &Inst<'_>) -> Result<TypeData, Error> {
        let column = self.type_of(inst.arg(0)?)?;
        let ok = matches!(self.m.types[column], TypeData::Vector { elem, len: 2..=4 }
            if matches!(self.m.types[elem], TypeData::Float { .. }));
        match inst.arg(1)? {
            cols @ 2..=4 if ok => Ok(TypeData::Matrix { column, cols: cols as u8 }),
            _ => Err(Error::invalid("a matrix is made of two to four float vectors")),
        }
    }

    fn array_type(&self, inst: &Inst<'_>) -> Result<TypeData, Error> {
        let elem = self.type_of(inst.arg(0)?)?;
        if matches!(self.m.types[elem], TypeData::Void) {
            return Err(Error::invalid("an array of void"));
        }
        let stride = self.deco_arg(inst.id, D::ArrayStride).unwrap_or(0);
        let len = match inst.op {
            Op::TypeRuntimeArray => ArrayLen::Runtime,
            _ => match self.get(inst.arg(1)?) {
                Global::Spec(spec) => ArrayLen::Spec(spec),
                Global::Const(c) => match &self.consts[c as usize].value {
                    Constant::Bits(bits) => match bits[0] {
                        len @ 1..=0xffff_ffff => ArrayLen::Const(len as u32),
                        len => return Err(Error::invalid(format!("an array of {len} elements"))),
                    },
                    _ => return Err(Error::invalid("an array without a length")),
                },
                _ => return Err(Error::invalid("an array's length is a constant")),
            },
        };
        Ok(TypeData::Array { elem, len, stride })
    }

    fn struct_type(&self, inst: &Inst<'_>) -> Result<TypeData, Error> {
        let mut members = Vec::with_capacity(inst.args.len());
        for (n, &id) in inst.args.iter().enumerate() {
            let ty = self.type_of(id)?;
            if matches!(self.m.types[ty], TypeData::Void) {
                return Err(Error::invalid("a member of type void"));
            }
            let name = self.member_names.get(&(inst.id, n as u32)).cloned().unwrap_or_default();
            members.push(Member {
                name,
                ty,
                offset: None,
                matrix_stride: None,
                row_major: false,
                decorations: Vec::new(),
            });
        }
        for (n, deco) in self.member_decorations.get(&inst.id).into_iter().flatten() {
            let Some(member) = members.get_mut(*n as usize) else {
                return Err(Error::invalid(format!("member {n} is decorated but does not exist")));
            };
            match (deco.kind, deco.args.first()) {
                (D::Offset, Some(&offset)) => member.offset = Some(offset),
                (D::MatrixStride, Some(&stride)) => member.matrix_stride = Some(stride),
                (D::RowMajor, _) => member.row_major = true,
                (D::ColMajor, _) => member.row_major = false,
                _ => member.decorations.push(deco.keep()),
            }
        }
        let decorations = self.decos(inst.id).iter().map(Deco::keep).collect();
        Ok(TypeData::Struct(StructType { name: self.name(inst.id), members, decorations }))
    }

    fn image_type(&self, inst: &Inst<'_>) -> Result<TypeData, Error> {
        use spirv::Dim as S;
        let sampled_type = self.type_of(inst.arg(0)?)?;
        let dim = match S::from_u32(inst.arg(1)?) {
            Some(S::Dim1D) => Dim::D1,
            Some(S::Dim2D) => Dim::D2,
            Some(S::Dim3D) => Dim::D3,
            Some(S::DimCube) => Dim::Cube,
            Some(S::DimRect) => Dim::Rect,
            Some(S::DimBuffer) => Dim::Buffer,
            Some(S::DimSubpassData) => Dim::SubpassData,
            Some(S::DimTileImageDataEXT) => Dim::TileImageData,
            None => return Err(Error::invalid("an image without a dimensionality")),
        };
        let format = spirv::ImageFormat::from_u32(inst.arg(6)?)
            .ok_or_else(|| Error::unsupported(format!("image format {}", inst.args[6])))?;
        Ok(TypeData::Image(ImageType {
            sampled_type,
            dim,
            depth: inst.arg(2)?.min(2) as u8,
            arrayed: inst.arg(3)? != 0,
            multisampled: inst.arg(4)? != 0,
            sampled: inst.arg(5)?.min(2) as u8,
            format: format!("{format:?}"),
        }))
    }

    fn pointer_type(&mut self, inst: &Inst<'_>) -> Result<(), Error> {
        let pointee = self.type_of(inst.arg(1)?)?;
        let modes = self.storage_modes(inst.arg(0)?, Some(pointee))?;
        if let Global::Type(forward) = self.get(inst.id)
            && matches!(self.m.types[forward], TypeData::Pointer { pointee: None, .. })
        {
            self.m.types.resolve_pointer(forward, pointee);
            return Ok(());
        }
        let stride = self.deco_arg(inst.id, D::ArrayStride).unwrap_or(0);
        self.add_type(inst.id, TypeData::Pointer { modes, pointee: Some(pointee), stride })
    }

    /// The modes that a storage class stands for; `Uniform` is read by the block that the pointee is.
    fn storage_modes(&self, class: u32, pointee: Option<Type>) -> Result<Modes, Error> {
        use spirv::StorageClass as S;
        let class = S::from_u32(class);
        let modes = [
            (S::UniformConstant, Modes::UNIFORM),
            (S::Input, Modes::IN),
            (S::Output, Modes::OUT),
            (S::Workgroup, Modes::SHARED),
            (S::Private, Modes::PRIVATE),
            (S::Function, Modes::FUNCTION),
            (S::PushConstant, Modes::PUSH_CONST),
            (S::AtomicCounter, Modes::ATOMIC_COUNTER),
            (S::Image, Modes::IMAGE),
            (S::StorageBuffer, Modes::SSBO),
            (S::PhysicalStorageBuffer, Modes::GLOBAL),
            (S::TaskPayloadWorkgroupEXT, Modes::TASK_PAYLOAD),
        ];
        if class == Some(S::Uniform) {
            return Ok(match pointee.and_then(|ty| self.block_kind(ty)) {
                Some("BufferBlock") => Modes::SSBO,
                Some(_) => Modes::UBO,
                None => Modes::UBO | Modes::SSBO,
            });
        }
        let found = modes.iter().find(|(c, _)| Some(*c) == class);
        found.map(|(_, modes)| *modes).ok_or_else(|| {
            let name = class.map_or("unknown".into(), |c| format!("{c:?}"));
            Error::unsupported(format!("storage class {name}"))
        })
    }

    /// `Block` or `BufferBlock`, if the type is a struct, or an array of structs, that is decorated so.
    fn block_kind(&self, mut ty: Type) -> Option<&'static str> {
        while let TypeData::Array { elem, .. } = self.m.types[ty] {
            ty = elem;
        }
        let TypeData::Struct(s) = &self.m.types[ty] else { return None };
        ["BufferBlock", "Block"].into_iter().find(|k| s.decorations.iter().any(|d| d.name == *k))
    }

    /// Depth and counts of a new type.
    fn note_type(&mut self, ty: Type) -> Result<(), Error> {
        if ty.index() < self.type_meta.len() {
            return Ok(());
        }
        let one = TypeMeta { depth: 1, leaves: 1, empties: 0, scalars: 1, access: 0 };
        let none = TypeMeta { leaves: u32::MAX, scalars: 0, ..one };
        let scaled = |inner: TypeMeta, n: u32| TypeMeta {
            depth: inner.depth + 1,
            leaves: inner.leaves.saturating_mul(n),
            empties: inner.empties.saturating_mul(n),
            scalars: inner.scalars.saturating_mul(n.into()),
            access: inner.access,
        };
        let mut meta = match &self.m.types[ty] {
            TypeData::Bool
            | TypeData::Int { .. }
            | TypeData::Float { .. }
            | TypeData::Pointer { .. } => one,
            TypeData::Vector { len, .. } => TypeMeta { scalars: (*len).into(), ..one },
            TypeData::Matrix { column, cols } => scaled(self.meta(*column), (*cols).into()),
            TypeData::Array { elem, len: ArrayLen::Const(n), .. } => scaled(self.meta(*elem), *n),
            TypeData::Array { elem, .. } => {
                TypeMeta { leaves: u32::MAX, ..scaled(self.meta(*elem), 1) }
            }
            TypeData::Struct(s) => {
                let start = TypeMeta { leaves: 0, scalars: 0, ..one };
                let member = |m: &Member| {
                    let meta = self.meta(m.ty);
                    let whole = index_value(Index::ACCESS, "volatile")
                        | index_value(Index::ACCESS, "coherent");
                    let access = meta.access | member_access(m) & whole;
                    TypeMeta { access, ..meta }
                };
                s.members.iter().map(member).fold(start, |a, b| TypeMeta {
                    access: a.access | b.access,
                    depth: a.depth.max(b.depth + 1),
                    leaves: a.leaves.saturating_add(b.leaves),
                    empties: a.empties.saturating_add(b.empties),
                    scalars: a.scalars.saturating_add(b.scalars),
                })
            }
            TypeData::Void
            | TypeData::Image(_)
            | TypeData::Sampler
            | TypeData::SampledImage { .. }
            | TypeData::AccelerationStructure
            | TypeData::RayQuery => none,
        };
        if meta.depth > MAX_DEPTH {
            return Err(Error::limit(format!("types nested more than {MAX_DEPTH} deep")));
        }
        if meta.leaves == 0 {
            meta.empties = meta.empties.max(1);
        }
        // To take a value apart costs time for each part, be there a leaf in it or not.
        if meta.empties > MAX_LEAVES {
            meta.leaves = u32::MAX;
        }
        self.type_meta.push(meta);
        Ok(())
    }

    /// What is known of a type.
    pub fn meta(&self, ty: Type) -> TypeMeta {
        self.type_meta[ty.index()]
    }

    /// The type of a struct of these members, which SPIR-V has no id for.
    pub fn intern_type(&mut self, data: TypeData) -> Result<Type, Error> {
        let ty = self.m.types.intern(data);
        self.note_type(ty)?;
        Ok(ty)
    }

    /// A type but for its layout, which memory of a function has none of. Before 1.4 SPIR-V can't copy between the two.
    pub fn plain_type(&mut self, ty: Type) -> Result<Type, Error> {
        match self.m.spirv.version < (1, 4) {
            true => Ok(ty),
            false => self.without_layout(ty),
        }
    }

    /// A type without offsets, strides and what blocks and members in memory are decorated with.
    fn without_layout(&mut self, ty: Type) -> Result<Type, Error> {
        let mut plain: FxHashMap<Type, Type> = FxHashMap::default();
        let mut work = vec![(ty, false)];
        while let Some((at, ready)) = work.pop() {
            if plain.contains_key(&at) {
                continue;
            }
            let data = self.m.types[at].clone();
            let parts: Vec<Type> = match &data {
                TypeData::Struct(s) => s.members.iter().map(|m| m.ty).collect(),
                TypeData::Array { elem, .. } => vec![*elem],
                _ => Vec::new(),
            };
            if !ready {
                work.push((at, true));
                work.extend(parts.into_iter().map(|part| (part, false)));
                continue;
            }
            let of = |part: &Type| plain.get(part).copied().unwrap_or(*part);
            let own = match data {
                TypeData::Struct(s) => {
                    let member = |m: Member| Member {
                        ty: of(&m.ty),
                        name: m.name,
                        offset: None,
                        matrix_stride: None,
                        row_major: false,
                        decorations: Vec::new(),
                    };
                    self.intern_type(TypeData::Struct(StructType {
                        name: s.name,
                        members: s.members.into_iter().map(member).collect(),
                        decorations: Vec::new(),
                    }))?
                }
                TypeData::Array { elem, len, .. } => {
                    self.intern_type(TypeData::Array { elem: of(&elem), len, stride: 0 })?
                }
                _ => at,
            };
            plain.insert(at, own);
        }
        Ok(plain.get(&ty).copied().unwrap_or(ty))
    }

    // ---- constants ----------------------------------------------------------------------------------

    pub fn read_constant(&mut self, inst: &Inst<'_>) -> Result<(), Error> {
        let ty = self.type_of(inst.ty)?;
        let value = match inst.op {
            Op::ConstantTrue => Constant::Bits(vec![1]),
            Op::ConstantFalse => Constant::Bits(vec![0]),
            Op::Constant => Constant::Bits(vec![self.literal(ty, inst.args)?]),
            Op::ConstantNull => Constant::Null,
            Op::Undef => Constant::Undef,
            Op::ConstantComposite => self.composite(ty, inst.args)?,
            Op::ConstantCompositeReplicateEXT => {
                let count = self.replicas(ty)?;
                self.composite(ty, &vec![inst.arg(0)?; count])?
            }
            Op::SpecConstantTrue | Op::SpecConstantFalse | Op::SpecConstant => {
                return self.spec_scalar(ty, inst);
            }
            Op::SpecConstantComposite | Op::SpecConstantCompositeReplicateEXT => {
                let value = match inst.op {
                    Op::SpecConstantComposite => self.composite(ty, inst.args)?,
                    _ => self.composite(ty, &vec![inst.arg(0)?; self.replicas(ty)?])?,
                };
                if !has_spec(&value) {
                    return self.add_const(inst.id, ty, value);
                }
                let parts = match value {
                    Constant::Composite(parts) => parts,
                    other => vec![other],
                };
                return self.add_spec(inst.id, ty, SpecValue::Composite(parts));
            }
            Op::SpecConstantOp => return self.spec_op(ty, inst),
            _ => return Err(Error::unsupported(format!("Op{} is not supported", inst.info.name))),
        };
        self.add_const(inst.id, ty, value)
    }

    fn add_const(&mut self, id: u32, ty: Type, value: Constant) -> Result<(), Error> {
        if self.is_workgroup_size(id) {
            let size = match (self.m.types.value_shape(ty), &value) {
                (Some((3, 32)), Constant::Bits(bits)) => <[u64; 3]>::try_from(&bits[..]).ok(),
                _ => None,
            };
            let Some(size) = size.filter(|size| !size.contains(&0)) else {
                let message = "the workgroup size is a vector of three positive integers";
                return Err(Error::invalid(message));
            };
            if size.iter().map(|&n| u128::from(n)).product::<u128>() > u32::MAX.into() {
                return Err(Error::limit("workgroups of more than 2^32 invocations"));
            }
            self.set_workgroup_size(WorkgroupSize::Plain(size.map(|n| n as u32)))?;
        }
        self.consts.push(Const { ty, value });
        self.define(id, Global::Const(self.consts.len() as u32 - 1))
    }

    fn is_workgroup_size(&self, id: u32) -> bool {
        self.deco_arg(id, D::BuiltIn) == Some(spirv::BuiltIn::WorkgroupSize as u32)
    }

    fn set_workgroup_size(&mut self, size: WorkgroupSize) -> Result<(), Error> {
        match self.workgroup_size.replace(size) {
            Some(old) if old != size => Err(Error::invalid("there are two workgroup sizes")),
            _ => Ok(()),
        }
    }

    /// The bits of a literal of a scalar type, zero-extended.
    pub fn literal(&self, ty: Type, words: &[u32]) -> Result<u64, Error> {
        let bits = match (self.m.types.value_shape(ty), &self.m.types[ty]) {
            (Some((1, bits)), TypeData::Int { .. } | TypeData::Float { .. }) => bits,
            _ => return Err(Error::invalid("a literal of a type that is no number")),
        };
        match (bits, words) {
            (64, [low, high, ..]) => Ok(u64::from(*low) | u64::from(*high) << 32),
            (8..=32, [word, ..]) => Ok(u64::from(*word) & (u64::MAX >> (64 - bits))),
            _ => Err(Error::invalid("a literal is cut short")),
        }
    }

    /// The constant behind an id, with its type.
    pub fn constant(&self, id: u32) -> Result<(Type, Constant), Error> {
        match self.get(id) {
            Global::Const(c) => {
                let c = &self.consts[c as usize];
                Ok((c.ty, c.value.clone()))
            }
            Global::Spec(spec) => Ok((self.m.spec_consts[spec.index()].ty, Constant::Spec(spec))),
            Global::Var(var) => {
                let var_ty = self.m.vars[var.slot()].ty;
                Ok((var_ty, Constant::Address(var)))
            }
            _ => Err(Error::invalid(format!("%{id} is not a constant"))),
        }
    }

    /// The scalar integer behind an id, if it is a plain constant.
    pub fn const_u64(&self, id: u32) -> Option<u64> {
        match self.get(id) {
            Global::Const(c) => match &self.consts[c as usize].value {
                Constant::Bits(bits) => bits.first().copied(),
                Constant::Null => Some(0),
                _ => None,
            },
            _ => None,
        }
    }

    /// The number of parts that a composite of replicas of one value has.
    pub fn replicas(&self, ty: Type) -> Result<usize, Error> {
        let count = match &self.m.types[ty] {
            TypeData::Vector { len, .. } => (*len).into(),
            TypeData::Matrix { cols, .. } => (*cols).into(),
            TypeData::Array { len: ArrayLen::Const(n), .. } => *n as usize,
            TypeData::Struct(s) => s.members.len(),
            _ => return Err(Error::unsupported("replicas in a composite of no constant size")),
        };
        match self.meta(ty).scalars > MAX_CONST_SCALARS {
            true => Err(Error::limit("a composite of too many replicas")),
            false => Ok(count),
        }
    }

    fn composite(&mut self, ty: Type, args: &[u32]) -> Result<Constant, Error> {
        self.const_scalars = self.const_scalars.saturating_add(self.meta(ty).scalars);
        if self.const_scalars > MAX_CONST_SCALARS {
            return Err(Error::limit("the module's constants are too large"));
        }
        let types: Vec<Type> = match &self.m.types[ty] {
            TypeData::Vector { elem, len } => vec![*elem; (*len).into()],
            TypeData::Matrix { column, cols } => vec![*column; (*cols).into()],
            TypeData::Array { elem, len: ArrayLen::Const(n), .. } if *n as usize == args.len() => {
                vec![*elem; args.len()]
            }
            TypeData::Array { elem, len: ArrayLen::Spec(_), .. } => vec![*elem; args.len()],
            TypeData::Struct(s) => s.members.iter().map(|m| m.ty).collect(),
            _ => Vec::new(),
        };
        if types.len() != args.len() {
            return Err(Error::invalid("the number of constituents is not the type's"));
        }
        let mut parts = Vec::with_capacity(types.len());
        for (&id, ty) in args.iter().zip(types) {
            let (part_ty, part) = self.constant(id)?;
            if part_ty != ty {
                return Err(Error::invalid(format!("%{id} has another type than the constituent")));
            }
            parts.push(part);
        }
        if !matches!(self.m.types[ty], TypeData::Vector { .. }) || parts.iter().any(has_spec) {
            return Ok(Constant::Composite(parts));
        }
        // A component that may be anything is zero.
        let bits = |part: &Constant| match part {
            Constant::Bits(bits) => bits.first().copied().unwrap_or(0),
            _ => 0,
        };
        Ok(Constant::Bits(parts.iter().map(bits).collect()))
    }

    // ---- specialisation constants -------------------------------------------------------------------

    fn add_spec(&mut self, id: u32, ty: Type, value: SpecValue) -> Result<(), Error> {
        let decorations = self.decos(id).iter().filter(|d| d.kind != D::SpecId);
        let decorations = decorations.map(Deco::keep).collect();
        let spec = SpecConst::from_index(self.m.spec_consts.len());
        if self.is_workgroup_size(id) {
            if self.m.types.value_shape(ty) != Some((3, 32)) {
                return Err(Error::invalid("the workgroup size is a vector of three integers"));
            }
            self.set_workgroup_size(WorkgroupSize::Spec(spec))?;
        }
        self.m.spec_consts.push(SpecConstant { name: self.name(id), ty, value, decorations });
        self.define(id, Global::Spec(spec))
    }

    fn spec_scalar(&mut self, ty: Type, inst: &Inst<'_>) -> Result<(), Error> {
        let default = match inst.op {
            Op::SpecConstantTrue => 1,
            Op::SpecConstantFalse => 0,
            _ => self.literal(ty, inst.args)?,
        };
        let Some((1, bits)) = self.m.types.value_shape(ty) else {
            return Err(Error::invalid("a specialisation constant that is no scalar"));
        };
        let id = self.deco_arg(inst.id, D::SpecId);
        let frozen = self.options.spec.iter().find(|(spec, _)| Some(*spec) == id);
        match frozen {
            Some((_, value)) => {
                let value = match bits {
                    1 => u64::from(*value != 0),
                    _ => value & (u64::MAX >> (64 - bits)),
                };
                self.add_const(inst.id, ty, Constant::Bits(vec![value]))
            }
            None => self.add_spec(inst.id, ty, SpecValue::Scalar { id, default }),
        }
    }

    fn spec_op(&mut self, ty: Type, inst: &Inst<'_>) -> Result<(), Error> {
        let number = inst.arg(0)?;
        let Some((op, info)) = super::tables::tables().op(number) else {
            return Err(Error::unsupported(format!("instruction {number} on constants")));
        };
        let ids = match op {
            Op::CompositeExtract => 1,
            Op::CompositeInsert | Op::VectorShuffle => 2,
            _ => inst.args.len(),
        };
        let mut args = Vec::new();
        for (n, &arg) in inst.rest(1).iter().enumerate() {
            args.push(match n < ids {
                true => {
                    let (ty, value) = self.constant(arg)?;
                    self.const_scalars = self.const_scalars.saturating_add(self.meta(ty).scalars);
                    SpecArg::Constant(ty, value)
                }
                false => SpecArg::Literal(arg),
            });
        }
        if self.const_scalars > MAX_CONST_SCALARS {
            return Err(Error::limit("the module's constants are too large"));
        }
        let plain = args.iter().all(|a| match a {
            SpecArg::Constant(_, value) => !has_spec(value),
            SpecArg::Literal(_) => true,
        });
        if let Some(value) = plain.then(|| fold_op(&self.m.types, op, ty, &args)).flatten() {
            return self.add_const(inst.id, ty, value);
        }
        self.add_spec(inst.id, ty, SpecValue::Op { opcode: info.name.into(), args })
    }

    // ---- variables ----------------------------------------------------------------------------------

    /// A variable as its `OpVariable` and decorations say.
    pub fn variable(&self, inst: &Inst<'_>) -> Result<Variable, Error> {
        let pointer = self.type_of(inst.ty)?;
        let TypeData::Pointer { modes, pointee: Some(ty), .. } = self.m.types[pointer] else {
            return Err(Error::invalid("a variable's type is a pointer"));
        };
        let class = self.storage_modes(inst.arg(0)?, Some(ty))?;
        if class != modes {
            return Err(Error::invalid("the storage classes of the variable and its type differ"));
        }
        if modes.bits().count_ones() != 1 {
            return Err(Error::unsupported("a uniform variable that is no block"));
        }
        let mut var = Variable::new(self.name(inst.id), modes, ty);
        let (mut set, mut binding) = (None, None);
        for deco in self.decos(inst.id) {
            match (deco.kind, deco.args.first()) {
                (D::DescriptorSet, Some(&n)) => set = Some(n),
                (D::Binding, Some(&n)) => binding = Some(n),
                (D::Location, Some(&n)) => var.location = Some(n),
                (D::BuiltIn, Some(&n)) => match spirv::BuiltIn::from_u32(n) {
                    Some(builtin) => var.builtin = Some(format!("{builtin:?}")),
                    None => return Err(Error::unsupported(format!("built-in {n}"))),
                },
                _ => var.decorations.push(deco.keep()),
            }
        }
        if set.is_some() || binding.is_some() {
            var.binding = Some((set.unwrap_or(0), binding.unwrap_or(0)));
        }
        if let Some(&init) = inst.args.get(1) {
            let (init_ty, value) = self.constant(init)?;
            if init_ty != ty && !matches!(value, Constant::Address(_)) {
                return Err(Error::invalid("the initialiser has another type than the variable"));
            }
            var.init = Some(value);
        }
        Ok(var)
    }

    pub fn read_global_variable(&mut self, inst: &Inst<'_>) -> Result<(), Error> {
        let var = self.variable(inst)?;
        if var.mode == Modes::FUNCTION {
            return Err(Error::invalid("a function's variable outside of functions"));
        }
        let var: Var = self.m.add_var(var);
        self.var_types.push(self.type_of(inst.ty)?);
        self.define(inst.id, Global::Var(var))
    }
}

/// Whether a specialisation constant is a direct part of the constant.
fn has_spec(constant: &Constant) -> bool {
    match constant {
        Constant::Spec(_) => true,
        Constant::Composite(parts) => parts.iter().any(|p| matches!(p, Constant::Spec(_))),
        _ => false,
    }
}
