//! What instructions are: kinds, flags, swizzles, payloads.

use crate::entity::{Block, Def, Entity, Func, Instr, Node, PackedOption, Type, UseId, Var};
use crate::intrinsic::Intrinsic;
use crate::op::AluOp;
use crate::types::{Dim, Modes};
use bitflags::bitflags;

bitflags! {
    /// Licences and promises on an instruction. None at all = exact.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
    pub struct Flags: u16 {
        /// Promise: no operand and no result is NaN.
        const NNAN = 1;
        /// Promise: no operand and no result is infinite.
        const NINF = 1 << 1;
        /// Licence: the sign of a zero does not matter.
        const NSZ = 1 << 2;
        /// Licence: a division may become a multiplication by the reciprocal.
        const ARCP = 1 << 3;
        /// Licence: may be fused with its neighbours.
        const CONTRACT = 1 << 4;
        /// Licence: may be reassociated.
        const REASSOC = 1 << 5;
        /// Licence: may be transformed by real algebra.
        const TRANSFORM = 1 << 6;
        /// Licence: may be computed at lower precision.
        const RELAXED = 1 << 7;
        /// Promise: no unsigned overflow.
        const NUW = 1 << 8;
        /// Promise: no signed overflow.
        const NSW = 1 << 9;
        /// Promise: the operands are in the op's domain.
        const DOM = 1 << 10;
    }
}

impl Flags {
    /// Every flag with its name, in the order of the text.
    pub const NAMES: &'static [(&'static str, Flags)] = &[
        ("nnan", Flags::NNAN),
        ("ninf", Flags::NINF),
        ("nsz", Flags::NSZ),
        ("arcp", Flags::ARCP),
        ("contract", Flags::CONTRACT),
        ("reassoc", Flags::REASSOC),
        ("transform", Flags::TRANSFORM),
        ("relaxed", Flags::RELAXED),
        ("nuw", Flags::NUW),
        ("nsw", Flags::NSW),
        ("dom", Flags::DOM),
    ];

    /// What a rewriter may do.
    pub const LICENCES: Flags = Flags::NSZ
        .union(Flags::ARCP)
        .union(Flags::CONTRACT)
        .union(Flags::REASSOC)
        .union(Flags::TRANSFORM)
        .union(Flags::RELAXED);

    /// What the program promises.
    pub const PROMISES: Flags =
        Flags::NNAN.union(Flags::NINF).union(Flags::NUW).union(Flags::NSW).union(Flags::DOM);
}

/// Which component of a source each component of an operand takes: 16 nibbles, lowest first.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Swizzle(pub u64);

impl Swizzle {
    /// Component i takes component i.
    pub const IDENTITY: Swizzle = Swizzle(0xfedc_ba98_7654_3210);

    /// Every component takes component `comp`.
    #[inline]
    pub fn splat(comp: u8) -> Self {
        Swizzle(0x1111_1111_1111_1111 * u64::from(comp & 15))
    }

    /// The listed components, the rest as in [`Swizzle::IDENTITY`].
    pub fn new(comps: &[u8]) -> Self {
        comps.iter().enumerate().fold(Self::IDENTITY, |s, (i, &c)| s.with(i, c))
    }

    /// The component that component `i` takes.
    #[inline]
    pub fn get(self, i: usize) -> u8 {
        (self.0 >> (4 * i) & 15) as u8
    }

    /// The same, but component `i` takes `comp`.
    #[must_use]
    #[inline]
    pub fn with(self, i: usize, comp: u8) -> Self {
        let shift = 4 * i;
        Swizzle(self.0 & !(15 << shift) | u64::from(comp & 15) << shift)
    }

    /// Reading through `self` what reads through `inner`: component i takes `inner[self[i]]`.
    #[must_use]
    #[inline]
    pub fn compose(self, inner: Swizzle) -> Self {
        match (self == Self::IDENTITY, inner == Self::IDENTITY) {
            (true, _) => inner,
            (_, true) => self,
            _ => self.compose_each(inner),
        }
    }

    fn compose_each(self, inner: Swizzle) -> Self {
        let take = |i: u32| (inner.0 >> (4 * (self.0 >> (4 * i) & 15)) & 15) << (4 * i);
        Swizzle((0..16).fold(0, |all, i| all | take(i)))
    }

    /// Whether the first `comps` components are the identity.
    #[inline]
    pub fn is_identity(self, comps: u8) -> bool {
        comps >= 16 && self == Self::IDENTITY
            || (self.0 ^ Self::IDENTITY.0) & ((1u64 << (4 * u32::from(comps)).min(63)) - 1) == 0
                && comps < 16
    }

    /// Whether the first `comps` components agree with those of `other`.
    #[inline]
    pub fn agrees(self, other: Swizzle, comps: u8) -> bool {
        (0..usize::from(comps)).all(|i| self.get(i) == other.get(i))
    }

    /// The first `comps` components.
    #[inline]
    pub fn iter(self, comps: u8) -> impl Iterator<Item = u8> {
        (0..usize::from(comps)).map(move |i| self.get(i))
    }
}

impl std::fmt::Debug for Swizzle {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "swz:{:016x}", self.0)
    }
}

/// The kind of an instruction: a closed set, matched without `_` arms.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum InstrKind {
    /// Per-component or horizontal arithmetic: [`AluOp`].
    Alu,
    /// Whatever touches memory, other invocations or the outside: [`Intrinsic`].
    Intrinsic,
    /// A texture operation.
    Tex,
    /// A step of a pointer expression.
    Deref,
    /// A constant vector.
    LoadConst,
    /// One arbitrary value.
    Undef,
    /// A choice by the edge taken into the block.
    Phi,
    /// A jump that ends its block.
    Jump,
    /// A call.
    Call,
    /// Simultaneous copies into registers.
    ParallelCopy,
}

/// A jump.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum JumpKind {
    /// Leaves the innermost loop or once.
    Break,
    /// Goes to the continue list of the innermost loop.
    Continue,
    /// Leaves the function, with a value where the function returns one.
    Return,
    /// Ends the invocation (kill, terminate).
    Halt,
}

impl JumpKind {
    /// Every jump with its name in the text.
    pub const NAMES: &'static [(&'static str, JumpKind)] = &[
        ("break", JumpKind::Break),
        ("continue", JumpKind::Continue),
        ("return", JumpKind::Return),
        ("halt", JumpKind::Halt),
    ];
}

/// What step a deref takes from its parent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum DerefKind {
    /// A variable: no parent.
    Var(Var),
    /// An element of an array, column of a matrix, component of a vector: sources parent, index.
    Array,
    /// Every element of an array, in copies: source parent.
    Wildcard,
    /// A member of a struct: source parent.
    Struct(u32),
    /// A pointer value seen as a pointer to the deref's type: source the pointer.
    Cast,
    /// Pointer arithmetic in units of the array stride: sources parent, index.
    PtrAsArray,
}

/// A deref: a step of a pointer expression, of a pointer value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct DerefInfo {
    /// The step.
    pub kind: DerefKind,
    /// Where the pointer may point.
    pub modes: Modes,
    /// What it points to.
    pub ty: Type,
    /// Bytes from element to element, for casts that `PtrAsArray` follows; 0 = none.
    pub stride: u32,
    /// SPIR-V's `NonUniform` on the handle or pointer, `Aliased`/`Restrict`: kept bits of [`DerefInfo::NON_UNIFORM`] …
    pub access: u32,
}

impl DerefInfo {
    /// The index of the deref differs between the invocations of a subgroup.
    pub const NON_UNIFORM: u32 = 1;
    /// An array step with indices known in bounds (`OpInBoundsAccessChain`).
    pub const IN_BOUNDS: u32 = 2;
}

/// A texture operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TexOp {
    /// Implicit-LOD sample: quad-convergent.
    Tex,
    /// Sample with LOD bias: quad-convergent.
    Txb,
    /// Sample with explicit LOD.
    Txl,
    /// Sample with explicit derivatives.
    Txd,
    /// Fetch of a texel by integer coordinates.
    Txf,
    /// Fetch of a sample of a multisampled texture.
    TxfMs,
    /// Size of a level.
    Txs,
    /// Implicit LOD that a sample would use: quad-convergent.
    Lod,
    /// Gather of one component of four texels.
    Tg4,
    /// Number of mip levels.
    QueryLevels,
    /// Number of samples.
    TextureSamples,
}

impl TexOp {
    /// Every operation with its name in the text.
    pub const NAMES: &'static [(&'static str, TexOp)] = &[
        ("tex", TexOp::Tex),
        ("txb", TexOp::Txb),
        ("txl", TexOp::Txl),
        ("txd", TexOp::Txd),
        ("txf", TexOp::Txf),
        ("txf_ms", TexOp::TxfMs),
        ("txs", TexOp::Txs),
        ("lod", TexOp::Lod),
        ("tg4", TexOp::Tg4),
        ("query_levels", TexOp::QueryLevels),
        ("texture_samples", TexOp::TextureSamples),
    ];

    /// Whether the result depends on the neighbours in the quad.
    pub fn is_quad_convergent(self) -> bool {
        matches!(self, TexOp::Tex | TexOp::Txb | TexOp::Lod)
    }
}

/// What a source of a texture instruction is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum TexSrc {
    /// Deref of the texture (or of the combined image and sampler).
    TextureDeref,
    /// Deref of the sampler.
    SamplerDeref,
    /// Coordinates, the array layer last.
    Coord,
    /// Divisor of the coordinates.
    Projector,
    /// Reference for a depth comparison.
    Comparator,
    /// Offset in texels.
    Offset,
    /// LOD bias.
    Bias,
    /// Level of detail.
    Lod,
    /// Lower bound of the LOD.
    MinLod,
    /// Sample index.
    MsIndex,
    /// Derivative in x.
    Ddx,
    /// Derivative in y.
    Ddy,
    /// Offset to the texture index.
    TextureOffset,
    /// Offset to the sampler index.
    SamplerOffset,
    /// Deref of a constant array of the four offsets of a gather.
    Offsets,
}

impl TexSrc {
    /// Every source with its name in the text.
    pub const NAMES: &'static [(&'static str, TexSrc)] = &[
        ("texture_deref", TexSrc::TextureDeref),
        ("sampler_deref", TexSrc::SamplerDeref),
        ("coord", TexSrc::Coord),
        ("projector", TexSrc::Projector),
        ("comparator", TexSrc::Comparator),
        ("offset", TexSrc::Offset),
        ("bias", TexSrc::Bias),
        ("lod", TexSrc::Lod),
        ("min_lod", TexSrc::MinLod),
        ("ms_index", TexSrc::MsIndex),
        ("ddx", TexSrc::Ddx),
        ("ddy", TexSrc::Ddy),
        ("texture_offset", TexSrc::TextureOffset),
        ("sampler_offset", TexSrc::SamplerOffset),
        ("offsets", TexSrc::Offsets),
    ];
}

/// A texture instruction, its sources apart.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct TexInfo {
    /// Operation.
    pub op: TexOp,
    /// What each source is, in the order of the sources.
    pub srcs: smallvec::SmallVec<[TexSrc; 4]>,
    /// Dimensionality.
    pub dim: Dim,
    /// Array of layers.
    pub is_array: bool,
    /// Depth comparison.
    pub is_shadow: bool,
    /// Whether the result says residency in its last component.
    pub is_sparse: bool,
    /// Base type of the result: 0 float, 1 signed, 2 unsigned.
    pub dest_type: u8,
    /// Component that a gather takes.
    pub component: u8,
    /// Texture index, where there is no deref.
    pub texture_index: u32,
    /// Sampler index, where there is no deref.
    pub sampler_index: u32,
    /// Image operand bits that are kept (NonUniform, sign/zero extend, …).
    pub access: u32,
}

/// What an instruction is, with its payload borrowed. Exhaustive: a new kind does not compile until every
/// part of the house handles it.
#[derive(Clone, Copy, Debug)]
pub enum InstrView<'f> {
    /// An ALU operation.
    Alu(AluOp),
    /// An intrinsic with its const indices in the table's order.
    Intrinsic(Intrinsic, &'f [u32]),
    /// A texture operation.
    Tex(&'f TexInfo),
    /// A deref.
    Deref(&'f DerefInfo),
    /// A constant: zero-extended bits a component.
    LoadConst(&'f [u64]),
    /// One arbitrary value.
    Undef,
    /// A phi: the predecessor of each source.
    Phi(&'f [Block]),
    /// A jump.
    Jump(JumpKind),
    /// A call: the sources are the arguments.
    Call(Func),
    /// Copies: the sources alternate register, value.
    ParallelCopy,
}

/// An instruction's payload to create it from: [`InstrView`], owned.
#[derive(Clone, Debug, PartialEq)]
pub enum InstrInit<'a> {
    /// An ALU operation.
    Alu(AluOp),
    /// An intrinsic with its const indices.
    Intrinsic(Intrinsic, &'a [u32]),
    /// A texture operation.
    Tex(TexInfo),
    /// A deref.
    Deref(DerefInfo),
    /// A constant.
    LoadConst(&'a [u64]),
    /// One arbitrary value.
    Undef,
    /// A phi with the predecessors of its sources.
    Phi(&'a [Block]),
    /// A jump.
    Jump(JumpKind),
    /// A call.
    Call(Func),
    /// Copies into registers.
    ParallelCopy,
}

/// Who uses a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum User {
    /// A source of an instruction.
    Instr(Instr),
    /// The condition of an `if`.
    If(Node),
}

/// One operand: a use of a value. 24 bytes, in the function's pool and in the use list of its def.
#[derive(Clone, Copy, Debug)]
pub struct Use {
    pub(crate) def: Def,
    pub(crate) user: u32,
    pub(crate) next: PackedOption<UseId>,
    pub(crate) prev: PackedOption<UseId>,
    pub(crate) swizzle: Swizzle,
}

const _: () = assert!(size_of::<Use>() == 24);

impl Use {
    const IF: u32 = 1 << 31;

    pub(crate) fn new(def: Def, user: User, swizzle: Swizzle) -> Self {
        let user = match user {
            User::Instr(i) => i.0,
            User::If(n) => n.0 | Self::IF,
        };
        Use { def, user, next: PackedOption::NONE, prev: PackedOption::NONE, swizzle }
    }

    /// The value used.
    #[inline]
    pub fn def(&self) -> Def {
        self.def
    }

    /// Who uses it.
    #[inline]
    pub fn user(&self) -> User {
        match self.user & Self::IF {
            0 => User::Instr(Instr(self.user)),
            _ => User::If(Node(self.user & !Self::IF)),
        }
    }

    /// The components taken; the identity but for ALU sources.
    #[inline]
    pub fn swizzle(&self) -> Swizzle {
        self.swizzle
    }
}

/// Components and bit size of a value, in one byte.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Shape(u8);

impl Shape {
    /// Instructions without a value.
    pub const NONE: Shape = Shape(0);

    /// `None` where the IR has no such value: components 1–5, 8, 16 and bit sizes 1, 8, 16, 32, 64.
    pub fn new(comps: u8, bits: u8) -> Option<Self> {
        let size = match bits {
            1 => 0,
            8 => 1,
            16 => 2,
            32 => 3,
            64 => 4,
            _ => return None,
        };
        matches!(comps, 1..=5 | 8 | 16).then_some(Shape(size << 5 | comps))
    }

    /// The byte that it is kept in.
    pub(crate) fn to_byte(self) -> u8 {
        self.0
    }

    /// The shape of such a byte.
    pub(crate) fn from_byte(byte: u8) -> Option<Self> {
        match byte {
            0 => Some(Shape::NONE),
            _ => {
                let shape = Shape(byte);
                let known = byte >> 5 <= 4 && matches!(shape.comps(), 1..=5 | 8 | 16);
                known.then_some(shape)
            }
        }
    }

    /// Component count, 0 for no value.
    #[inline]
    pub fn comps(self) -> u8 {
        self.0 & 31
    }

    /// Bit size, 0 for no value.
    #[inline]
    pub fn bits(self) -> u8 {
        match (self.comps(), self.0 >> 5) {
            (0, _) => 0,
            (_, 0) => 1,
            (_, size) => 4 << size,
        }
    }
}

impl std::fmt::Debug for Shape {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}x{}", self.bits(), self.comps())
    }
}

/// An instruction's header: 32 bytes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Header {
    pub kind: InstrKind,
    pub shape: Shape,
    pub op: u16,
    pub flags: Flags,
    pub num_srcs: u16,
    pub prev: PackedOption<Instr>,
    pub next: PackedOption<Instr>,
    pub block: PackedOption<Block>,
    /// Head of the def's use list.
    pub uses: PackedOption<UseId>,
    /// First source in the use pool.
    pub srcs: u32,
    /// Where the payload lies in the side pool of the kind.
    pub payload: u32,
}

const _: () = assert!(size_of::<Header>() == 32);

impl Header {
    pub(crate) const DEAD: u32 = u32::MAX - 1;

    pub(crate) fn is_attached(&self) -> bool {
        self.block != PackedOption::NONE
    }
}

const _: () = assert!(<Def as Entity>::NONE.0 == u32::MAX);
