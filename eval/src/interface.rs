//! What a module expects to be bound: buffers with their sizes, and the scalars in them.

use crate::Trap;
use crate::layout::Layouts;
use crate::spec::values;
use deburr_ir_core::{Modes, Module, SpecConst, Type, TypeData};

/// Scalars up to which a buffer's fixed part or element is described.
const MAX_SLOTS: usize = 1 << 16;

/// What a module expects to be bound.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Interface {
    /// Buffers in the order of set and binding.
    pub buffers: Vec<BufferShape>,
    /// Push constants.
    pub push: Option<Shape>,
}

/// A buffer, or an array of buffers.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct BufferShape {
    /// Descriptor set.
    pub set: u32,
    /// Binding.
    pub binding: u32,
    /// Descriptors: 1 but for arrays of them.
    pub elements: u32,
    /// Whether it is a storage buffer, which may be written.
    pub storage: bool,
    /// What it holds.
    pub shape: Shape,
}

/// What a buffer holds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Shape {
    /// Bytes of the fixed part.
    pub bytes: u64,
    /// Bytes from element to element of the run-time array at its end; 0 without one.
    pub stride: u64,
    /// Scalars of the fixed part.
    pub slots: Vec<Slot>,
    /// Scalars of an element of the run-time array, from its start.
    pub element: Vec<Slot>,
}

/// A scalar in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slot {
    /// Byte offset.
    pub offset: u64,
    /// Bit size.
    pub bits: u8,
    /// Whether it is a float.
    pub float: bool,
}

/// What a module expects to be bound, with some specialisation constants replaced.
///
/// # Errors
/// If a specialisation constant can't be computed.
pub fn interface(module: &Module, specs: &[(u32, u64)]) -> Result<Interface, Trap> {
    let values = values(module, specs)?;
    let lengths = values.iter().enumerate();
    let lengths = lengths.filter_map(|(n, v)| Some((SpecConst::from_index(n), *v.first()?)));
    let layouts = Layouts::new(&module.types, lengths.collect());
    let mut found = Interface::default();
    for var in &module.vars {
        if var.mode == Modes::PUSH_CONST {
            found.push = Some(shape(module, &layouts, var.ty));
            continue;
        }
        if !(Modes::SSBO | Modes::UBO).contains(var.mode) {
            continue;
        }
        let (set, binding) = var.binding.unwrap_or((0, 0));
        let (elements, ty) = match &module.types[var.ty] {
            TypeData::Array { elem, .. } => {
                (layouts.array_len(var.ty).clamp(1, 1024) as u32, *elem)
            }
            _ => (1, var.ty),
        };
        let storage = var.mode == Modes::SSBO;
        let shape = shape(module, &layouts, ty);
        // Several variables may share a binding.
        match found.buffers.iter_mut().find(|b| (b.set, b.binding) == (set, binding)) {
            Some(old) => {
                old.storage |= storage;
                old.elements = old.elements.max(elements);
                if (shape.stride, shape.bytes) > (old.shape.stride, old.shape.bytes) {
                    old.shape = shape;
                }
            }
            None => {
                found.buffers.push(BufferShape { set, binding, elements, storage, shape });
            }
        }
    }
    found.buffers.sort_by_key(|b| (b.set, b.binding));
    Ok(found)
}

fn shape(module: &Module, layouts: &Layouts<'_>, ty: Type) -> Shape {
    let mut shape = Shape { bytes: layouts.size(ty), ..Shape::default() };
    slots(module, layouts, ty, &mut shape.slots);
    if let TypeData::Struct(s) = &module.types[ty]
        && let Some(last) = s.members.len().checked_sub(1)
        && let Some(member) = layouts.member(ty, last as u32)
        && let TypeData::Array { elem, .. } = &module.types[member.ty]
        && layouts.array_len(member.ty) == 0
    {
        shape.bytes = shape.bytes.max(member.offset);
        shape.stride = layouts.stride(member.ty).map_or(0, |(stride, _)| stride);
        slots(module, layouts, *elem, &mut shape.element);
    }
    shape
}

/// Lists the scalars of a type. Iterative, since types nest as deep as the module likes.
fn slots(module: &Module, layouts: &Layouts<'_>, ty: Type, out: &mut Vec<Slot>) {
    let mut work = vec![(ty, 0u64)];
    while let Some((ty, offset)) = work.pop() {
        if out.len() + work.len() > MAX_SLOTS {
            break;
        }
        let mut scalar = |bits, float| out.push(Slot { offset, bits, float });
        match &module.types[ty] {
            TypeData::Bool => scalar(32, false),
            TypeData::Int { bits, .. } => scalar(*bits, false),
            TypeData::Float { bits } => scalar(*bits, true),
            TypeData::Pointer { .. } => scalar(64, false),
            TypeData::Struct(s) => {
                for n in (0..s.members.len()).rev() {
                    let Some(member) = layouts.member(ty, n as u32) else { continue };
                    match (&module.types[member.ty], layouts.matrix_layout(ty, n as u32)) {
                        (TypeData::Matrix { column, cols }, Some((stride, row_major))) => {
                            let rows =
                                module.types.value_shape(*column).map_or(1, |(rows, _)| rows);
                            let Some(scalar) = module.types.element(*column) else { continue };
                            let size = layouts.size(scalar);
                            let (major, minor) =
                                if row_major { (rows, *cols) } else { (*cols, rows) };
                            for i in (0..u64::from(major)).rev() {
                                for j in (0..u64::from(minor)).rev() {
                                    work.push((
                                        scalar,
                                        offset + member.offset + i * stride + j * size,
                                    ));
                                }
                            }
                        }
                        _ => work.push((member.ty, offset + member.offset)),
                    }
                }
            }
            TypeData::Vector { len, .. } => parts(layouts, ty, offset, (*len).into(), &mut work),
            TypeData::Matrix { cols, .. } => parts(layouts, ty, offset, (*cols).into(), &mut work),
            TypeData::Array { .. } => {
                parts(layouts, ty, offset, layouts.array_len(ty), &mut work);
            }
            _ => {}
        }
    }
    out.sort_by_key(|s| s.offset);
}

fn parts(layouts: &Layouts<'_>, ty: Type, offset: u64, len: u64, work: &mut Vec<(Type, u64)>) {
    let Some((stride, elem)) = layouts.stride(ty) else { return };
    let len = len.min(MAX_SLOTS as u64);
    work.extend((0..len).rev().map(|n| (elem, offset + n * stride)));
}
