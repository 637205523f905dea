//! Loads and stores through derefs, as passes build and judge them.

use deburr_ir_core::{
    ArrayLen, Builder, Constant, Def, DerefKind, Function, Index, Instr, Intrinsic, Modes, Shape,
    Type, TypeData, TypeTable, Var,
};
use rustc_hash::FxHashSet;

/// Memory that nothing writes while the shader runs.
const CONSTANT: Modes = Modes::IN
    .union(Modes::UBO)
    .union(Modes::PUSH_CONST)
    .union(Modes::UNIFORM)
    .union(Modes::CONSTANT);

/// A load of a whole scalar or vector.
pub(crate) fn load(b: &mut Builder<'_>, pointer: Def, shape: Shape, access: u32) -> Def {
    b.load_deref(shape.comps(), shape.bits(), pointer, &[(Index::ACCESS, access)])
}

/// A store of every component of a value.
pub(crate) fn store(b: &mut Builder<'_>, pointer: Def, value: Def, access: u32) {
    let mask = (1u32 << b.f.comps(value)) - 1;
    b.store_deref(pointer, value, &[(Index::WRITE_MASK, mask), (Index::ACCESS, access)]);
}

/// Whether the instruction loads, through a deref, memory that does not change while the shader runs.
pub(crate) fn is_load_of_constant_memory(f: &Function, instr: Instr) -> bool {
    f.intrinsic(instr) == Some(Intrinsic::LOAD_DEREF)
        && !f.is_volatile(instr)
        && f.deref(f.src(instr, 0).instr()).is_some_and(|d| d.modes.must_be(CONSTANT))
}

/// Adds the variables whose addresses an initial value holds.
pub(crate) fn collect_addresses(constant: &Constant, out: &mut FxHashSet<Var>) {
    let mut work = vec![constant];
    while let Some(constant) = work.pop() {
        match constant {
            Constant::Address(var) => {
                out.insert(*var);
            }
            Constant::Composite(parts) => work.extend(parts),
            Constant::Bits(_) | Constant::Null | Constant::Undef | Constant::Spec(_) => {}
        }
    }
}

/// Leaves up to which an aggregate is taken apart.
pub(crate) const MAX_LEAVES: usize = 64;

/// A vector or scalar inside a type.
pub(crate) struct Leaf {
    /// Struct members and indices from the outside in.
    pub path: Vec<u32>,
    /// Components and size.
    pub shape: Shape,
}

/// The leaves of a type in order; `None` if they are too many or their number is not known.
pub(crate) fn leaves(types: &TypeTable, ty: Type) -> Option<Vec<Leaf>> {
    let mut out = Vec::new();
    let mut work = vec![(ty, Vec::new())];
    while let Some((ty, path)) = work.pop() {
        if out.len() + work.len() > MAX_LEAVES {
            return None;
        }
        if let Some((comps, bits)) = types.value_shape(ty) {
            out.push(Leaf { path, shape: Shape::new(comps, bits)? });
            continue;
        }
        let count = match &types[ty] {
            TypeData::Struct(s) => s.members.len(),
            TypeData::Array { len: ArrayLen::Const(n), .. } => *n as usize,
            TypeData::Matrix { cols, .. } => usize::from(*cols),
            TypeData::Array { .. }
            | TypeData::Void
            | TypeData::Bool
            | TypeData::Int { .. }
            | TypeData::Float { .. }
            | TypeData::Vector { .. }
            | TypeData::Image(_)
            | TypeData::Sampler
            | TypeData::SampledImage { .. }
            | TypeData::AccelerationStructure
            | TypeData::RayQuery
            | TypeData::Pointer { .. } => return None,
        };
        // Types with many parts are not even looked through: there may be many copies.
        if out.len() + work.len() + count > MAX_LEAVES + 1 {
            return None;
        }
        let part = |n: usize| types.member(ty, n as u32).or_else(|| types.element(ty));
        let children: Vec<Type> = (0..count).map_while(part).collect();
        for (n, child) in children.into_iter().enumerate().rev() {
            let mut path = path.clone();
            path.push(n as u32);
            work.push((child, path));
        }
    }
    Some(out)
}

/// A pointer to a leaf.
pub(crate) fn descend(
    b: &mut Builder<'_>,
    types: &TypeTable,
    mut pointer: Def,
    mut ty: Type,
    path: &[u32],
) -> Def {
    for &step in path {
        match types.member(ty, step) {
            Some(member) => {
                pointer = b.deref_step(DerefKind::Struct(step), pointer, None, member);
                ty = member;
            }
            None => {
                let Some(elem) = types.element(ty) else { return pointer };
                let index = b.imm_u32(step);
                pointer = b.deref_step(DerefKind::Array, pointer, Some(index), elem);
                ty = elem;
            }
        }
    }
    pointer
}

/// The bits of one leaf of a constant initialiser.
pub(crate) fn leaf_constant(
    types: &TypeTable,
    ty: Type,
    init: &Constant,
    path: &[u32],
    shape: Shape,
) -> Option<Vec<u64>> {
    let (mut ty, mut init) = (ty, init);
    for &step in path {
        match init {
            Constant::Composite(parts) => init = parts.get(step as usize)?,
            Constant::Bits(bits) => return bits.get(step as usize).map(|&b| vec![b]),
            Constant::Null => break,
            Constant::Undef | Constant::Spec(_) | Constant::Address(_) => return None,
        }
        ty = types.member(ty, step).or_else(|| types.element(ty))?;
    }
    match init {
        Constant::Bits(bits) => Some(bits.clone()),
        Constant::Null => Some(vec![0; shape.comps().into()]),
        Constant::Composite(parts) => parts
            .iter()
            .map(|p| match p {
                Constant::Bits(bits) => bits.first().copied(),
                Constant::Null => Some(0),
                Constant::Composite(_)
                | Constant::Undef
                | Constant::Spec(_)
                | Constant::Address(_) => None,
            })
            .collect(),
        Constant::Undef | Constant::Spec(_) | Constant::Address(_) => None,
    }
}

/// The leaves of a type with the bits that a constant gives them; `None` if they are too many or not all known.
pub(crate) fn constant_leaves(
    types: &TypeTable,
    ty: Type,
    init: &Constant,
) -> Option<Vec<(Leaf, Vec<u64>)>> {
    let leaves = leaves(types, ty)?;
    leaves
        .into_iter()
        .map(|leaf| {
            let bits = leaf_constant(types, ty, init, &leaf.path, leaf.shape)?;
            Some((leaf, bits))
        })
        .collect()
}
