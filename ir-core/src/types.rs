//! Types: for variables, derefs and memory only. Values have none.

use crate::entity::{SpecConst, Type};
use crate::intern::Interner;
use bitflags::bitflags;

bitflags! {
    /// Memory that a variable lives in or a deref may point to.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
    pub struct Modes: u32 {
        /// A local of a function.
        const FUNCTION = 1;
        /// Private to the invocation, alive across functions.
        const PRIVATE = 1 << 1;
        /// Stage input.
        const IN = 1 << 2;
        /// Stage output.
        const OUT = 1 << 3;
        /// Opaque handles and default-block uniforms.
        const UNIFORM = 1 << 4;
        /// Uniform buffer.
        const UBO = 1 << 5;
        /// Storage buffer.
        const SSBO = 1 << 6;
        /// Shared by the workgroup.
        const SHARED = 1 << 7;
        /// Push constants.
        const PUSH_CONST = 1 << 8;
        /// Texels of images.
        const IMAGE = 1 << 9;
        /// Memory behind physical pointers.
        const GLOBAL = 1 << 10;
        /// Payload from task to mesh shaders.
        const TASK_PAYLOAD = 1 << 11;
        /// Payload of a work-graph node.
        const NODE_PAYLOAD = 1 << 12;
        /// Ray payload, outgoing.
        const RAY_PAYLOAD = 1 << 13;
        /// Ray payload, incoming.
        const RAY_PAYLOAD_IN = 1 << 14;
        /// Callable data, outgoing.
        const CALLABLE_DATA = 1 << 15;
        /// Callable data, incoming.
        const CALLABLE_DATA_IN = 1 << 16;
        /// Ray hit attributes.
        const HIT_ATTRIB = 1 << 17;
        /// Shader record buffer.
        const SHADER_RECORD = 1 << 18;
        /// Atomic counter.
        const ATOMIC_COUNTER = 1 << 19;
        /// Constant data of the module.
        const CONSTANT = 1 << 20;
        /// Scratch of the invocation, after lowering.
        const SCRATCH = 1 << 21;
    }
}

impl Modes {
    /// Every name with its bit, in order: what the text format and the tables use.
    pub const NAMES: &'static [(&'static str, Modes)] = &[
        ("function", Modes::FUNCTION),
        ("private", Modes::PRIVATE),
        ("in", Modes::IN),
        ("out", Modes::OUT),
        ("uniform", Modes::UNIFORM),
        ("ubo", Modes::UBO),
        ("ssbo", Modes::SSBO),
        ("shared", Modes::SHARED),
        ("push_const", Modes::PUSH_CONST),
        ("image", Modes::IMAGE),
        ("global", Modes::GLOBAL),
        ("task_payload", Modes::TASK_PAYLOAD),
        ("node_payload", Modes::NODE_PAYLOAD),
        ("ray_payload", Modes::RAY_PAYLOAD),
        ("ray_payload_in", Modes::RAY_PAYLOAD_IN),
        ("callable_data", Modes::CALLABLE_DATA),
        ("callable_data_in", Modes::CALLABLE_DATA_IN),
        ("hit_attrib", Modes::HIT_ATTRIB),
        ("shader_record", Modes::SHADER_RECORD),
        ("atomic_counter", Modes::ATOMIC_COUNTER),
        ("constant", Modes::CONSTANT),
        ("scratch", Modes::SCRATCH),
    ];

    /// The modes that no other invocation sees.
    pub const THREAD_LOCAL: Modes = Modes::FUNCTION.union(Modes::PRIVATE).union(Modes::SCRATCH);

    /// Whether a pointer of these modes can only point into `modes`.
    pub fn must_be(self, modes: Modes) -> bool {
        modes.contains(self)
    }

    /// Whether a pointer of these modes may point into `modes`.
    pub fn may_be(self, modes: Modes) -> bool {
        self.intersects(modes)
    }
}

/// A SPIR-V decoration that is kept as it was read: enumerant and literal operands.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Decoration {
    /// Name of the enumerant.
    pub name: String,
    /// Literal operands.
    pub args: Vec<u32>,
}

/// Length of an array.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ArrayLen {
    /// A number.
    Const(u32),
    /// A specialisation constant.
    Spec(SpecConst),
    /// Known at run time only: the last member of a buffer, or an unsized array of descriptors.
    Runtime,
}

/// A member of a struct.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Member {
    /// Debug name; may be empty.
    pub name: String,
    /// Type.
    pub ty: Type,
    /// Offset in bytes, in structs with a layout.
    pub offset: Option<u32>,
    /// Bytes from column to column (row to row where `row_major`), for matrices in memory.
    pub matrix_stride: Option<u32>,
    /// Whether a matrix is stored by rows.
    pub row_major: bool,
    /// Whatever else the member is decorated with.
    pub decorations: Vec<Decoration>,
}

/// A struct.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct StructType {
    /// Debug name; may be empty.
    pub name: String,
    /// Members in order.
    pub members: Vec<Member>,
    /// Block, BufferBlock and whatever else the struct is decorated with.
    pub decorations: Vec<Decoration>,
}

/// Dimensionality of an image.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)] // the names are the definition
pub enum Dim {
    D1,
    D2,
    D3,
    Cube,
    Rect,
    Buffer,
    SubpassData,
    TileImageData,
}

impl Dim {
    /// Every dimensionality with its name in the text.
    pub const NAMES: &'static [(&'static str, Dim)] = &[
        ("1d", Dim::D1),
        ("2d", Dim::D2),
        ("3d", Dim::D3),
        ("cube", Dim::Cube),
        ("rect", Dim::Rect),
        ("buffer", Dim::Buffer),
        ("subpass_data", Dim::SubpassData),
        ("tile_image_data", Dim::TileImageData),
    ];
}

/// An image.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ImageType {
    /// Type of a texel's component as sampled.
    pub sampled_type: Type,
    /// Dimensionality.
    pub dim: Dim,
    /// SPIR-V's Depth operand: 0 no, 1 yes, 2 unknown.
    pub depth: u8,
    /// Array of layers.
    pub arrayed: bool,
    /// Multisampled.
    pub multisampled: bool,
    /// SPIR-V's Sampled operand: 0 known at run time, 1 with a sampler, 2 storage image.
    pub sampled: u8,
    /// Name of the SPIR-V image format.
    pub format: String,
}

/// What a [`Type`] is.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum TypeData {
    /// No value.
    Void,
    /// A boolean, of no size in memory.
    Bool,
    /// An integer of 8, 16, 32 or 64 bits.
    Int {
        /// Bit size.
        bits: u8,
        /// SPIR-V's signedness.
        signed: bool,
    },
    /// A float of 16, 32 or 64 bits.
    Float {
        /// Bit size.
        bits: u8,
    },
    /// A vector of 2 to 4 scalars (8 and 16 for kernels).
    Vector {
        /// A scalar type.
        elem: Type,
        /// Component count.
        len: u8,
    },
    /// A matrix of 2 to 4 float vectors.
    Matrix {
        /// A vector type.
        column: Type,
        /// Column count.
        cols: u8,
    },
    /// An array.
    Array {
        /// Element type.
        elem: Type,
        /// Element count.
        len: ArrayLen,
        /// Bytes from element to element; 0 = no layout.
        stride: u32,
    },
    /// A struct.
    Struct(StructType),
    /// An image without a sampler.
    Image(ImageType),
    /// A sampler.
    Sampler,
    /// An image with a sampler.
    SampledImage {
        /// An image type.
        image: Type,
    },
    /// A ray-tracing acceleration structure.
    AccelerationStructure,
    /// A ray query.
    RayQuery,
    /// A pointer.
    Pointer {
        /// Where it points.
        modes: Modes,
        /// What it points to; `None` while a forward declaration is open.
        pointee: Option<Type>,
        /// Bytes from element to element for pointer arithmetic; 0 = none.
        stride: u32,
    },
}

/// The types of a module, interned: equal data gives the same [`Type`].
#[derive(Clone, Debug, Default)]
pub struct TypeTable {
    set: Interner<(TypeData, u32)>,
    forward: u32,
}

impl PartialEq for TypeTable {
    fn eq(&self, other: &Self) -> bool {
        self.set.values() == other.set.values()
    }
}

impl std::ops::Index<Type> for TypeTable {
    type Output = TypeData;

    fn index(&self, ty: Type) -> &TypeData {
        &self.set.values()[ty.index()].0
    }
}

impl TypeTable {
    /// The type of this data.
    pub fn intern(&mut self, data: TypeData) -> Type {
        Type(self.set.insert((data, 0)))
    }

    /// Appends a type, distinct from one of the same data that is in the table.
    pub(crate) fn append(&mut self, data: TypeData) -> Type {
        let mut entry = (data, 0);
        if self.set.contains(&entry) {
            self.forward += 1;
            entry.1 = self.forward;
        }
        Type(self.set.insert(entry))
    }

    /// Removes the names of structs and members. Types that only names told apart stay distinct.
    pub(crate) fn strip_names(&mut self) {
        let mut stripped = TypeTable { forward: self.forward, ..TypeTable::default() };
        for (mut data, nominal) in std::mem::take(&mut self.set).into_values() {
            if let TypeData::Struct(s) = &mut data {
                s.name.clear();
                s.members.iter_mut().for_each(|m| m.name.clear());
            }
            match nominal {
                0 => {
                    stripped.append(data);
                }
                _ => {
                    stripped.set.insert((data, nominal));
                }
            }
        }
        *self = stripped;
    }

    /// A pointer whose pointee is set later by [`TypeTable::resolve_pointer`]; never merged with others.
    pub fn forward_pointer(&mut self, modes: Modes, stride: u32) -> Type {
        self.forward += 1;
        let data = TypeData::Pointer { modes, pointee: None, stride };
        Type(self.set.insert((data, self.forward)))
    }

    /// Closes a forward declaration.
    pub fn resolve_pointer(&mut self, pointer: Type, to: Type) {
        let Some((mut data, nominal)) = self.set.values().get(pointer.index()).cloned() else {
            return;
        };
        if let TypeData::Pointer { pointee, .. } = &mut data {
            *pointee = Some(to);
            self.set.replace(pointer.0, (data, nominal));
        }
    }

    /// Whether the type is a pointer made by [`TypeTable::forward_pointer`], distinct from its like.
    pub fn is_forward(&self, ty: Type) -> bool {
        self.set.values().get(ty.index()).is_some_and(|(data, nominal)| {
            *nominal != 0 && matches!(data, TypeData::Pointer { .. })
        })
    }

    /// Number of types.
    pub fn len(&self) -> usize {
        self.set.values().len()
    }

    /// Whether there are no types.
    pub fn is_empty(&self) -> bool {
        self.set.values().is_empty()
    }

    /// All types in order of appearance.
    pub fn iter(&self) -> impl Iterator<Item = (Type, &TypeData)> {
        self.set.values().iter().enumerate().map(|(i, (data, _))| (Type(i as u32), data))
    }

    /// The type `void`.
    pub fn void(&mut self) -> Type {
        self.intern(TypeData::Void)
    }

    /// The type `bool`.
    pub fn bool(&mut self) -> Type {
        self.intern(TypeData::Bool)
    }

    /// An integer type.
    pub fn int(&mut self, bits: u8, signed: bool) -> Type {
        self.intern(TypeData::Int { bits, signed })
    }

    /// A float type.
    pub fn float(&mut self, bits: u8) -> Type {
        self.intern(TypeData::Float { bits })
    }

    /// `elem` itself for one component, else a vector of it.
    pub fn vector(&mut self, elem: Type, len: u8) -> Type {
        if len == 1 { elem } else { self.intern(TypeData::Vector { elem, len }) }
    }

    /// Components and bit size of a scalar, vector or pointer, as a value has them: a bool has 1 bit, a pointer
    /// counts as one component of 64 bits if physical, else 32. `None` for aggregates, matrices and handles.
    pub fn value_shape(&self, ty: Type) -> Option<(u8, u8)> {
        match &self[ty] {
            TypeData::Bool => Some((1, 1)),
            TypeData::Int { bits, .. } | TypeData::Float { bits } => Some((1, *bits)),
            TypeData::Vector { elem, len } => self.value_shape(*elem).map(|(_, bits)| (*len, bits)),
            TypeData::Pointer { modes, .. } => {
                Some((1, if *modes == Modes::GLOBAL { 64 } else { 32 }))
            }
            _ => None,
        }
    }

    /// The type of the elements of an array, columns of a matrix, components of a vector.
    pub fn element(&self, ty: Type) -> Option<Type> {
        match &self[ty] {
            TypeData::Array { elem, .. } | TypeData::Vector { elem, .. } => Some(*elem),
            TypeData::Matrix { column, .. } => Some(*column),
            _ => None,
        }
    }

    /// The type of the part at a constant index, if there is one for sure.
    pub fn part(&self, ty: Type, index: u64) -> Option<Type> {
        let (part, len) = match &self[ty] {
            TypeData::Struct(s) => {
                return s.members.get(usize::try_from(index).ok()?).map(|member| member.ty);
            }
            TypeData::Array { elem, len: ArrayLen::Const(n), .. } => (*elem, u64::from(*n)),
            TypeData::Matrix { column, cols } => (*column, u64::from(*cols)),
            TypeData::Vector { elem, len } => (*elem, u64::from(*len)),
            _ => return None,
        };
        (index < len).then_some(part)
    }

    /// Bytes to which a part of an object is aligned, if the object is to `align` bytes: the largest power of two that
    /// divides `align` and the offset of the part, which the indices lead to. 0 if the layout does not say.
    pub fn part_align(&self, mut ty: Type, path: &[u32], align: u32) -> u32 {
        let mut offset = 0_u64;
        // That of the member around.
        let mut matrix = (None, false);
        for &index in path {
            let step = match &self[ty] {
                TypeData::Struct(s) => {
                    let Some(member) = s.members.get(index as usize) else { return 0 };
                    matrix = (member.matrix_stride, member.row_major);
                    ty = member.ty;
                    member.offset.map(u64::from)
                }
                TypeData::Array { elem, stride, .. } => {
                    ty = *elem;
                    (*stride != 0).then(|| u64::from(*stride) * u64::from(index))
                }
                TypeData::Matrix { column, .. } => {
                    ty = *column;
                    let scalar = self.value_shape(ty).map(|(_, bits)| u32::from(bits) / 8);
                    let stride = if matrix.1 { scalar } else { matrix.0 };
                    stride.map(|stride| u64::from(stride) * u64::from(index))
                }
                _ => None,
            };
            match step {
                Some(step) => offset += step,
                // The first part of anything is where the whole is.
                None if index == 0 => {}
                None => return 0,
            }
        }
        if align == 0 {
            return 0;
        }
        1 << (u64::from(align) | offset).trailing_zeros()
    }

    /// The type of a struct's member.
    pub fn member(&self, ty: Type, index: u32) -> Option<Type> {
        match &self[ty] {
            TypeData::Struct(s) => s.members.get(index as usize).map(|m| m.ty),
            _ => None,
        }
    }
}
