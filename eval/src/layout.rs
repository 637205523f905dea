//! Where the parts of a type lie in memory.
//!
//! Structs, arrays and matrices of buffers have their layout; those of other memory get one here: scalars at multiples
//! of their size, in order, without gaps but for alignment. A bool takes four bytes, a
//! pointer eight.

use deburr_ir_core::{ArrayLen, SpecConst, Type, TypeData, TypeTable};
use rustc_hash::FxHashMap;
use std::cell::RefCell;

/// Bytes of a pointer in memory, whatever its size as a value: which object it points into is part of it.
pub(crate) const POINTER: u64 = 8;

/// Sizes of the types of a module.
pub(crate) struct Layouts<'m> {
    types: &'m TypeTable,
    /// Values of specialisation constants that are lengths.
    lengths: FxHashMap<SpecConst, u64>,
    sizes: RefCell<FxHashMap<Type, Size>>,
}

#[derive(Clone, Copy)]
struct Size {
    bytes: u64,
    align: u64,
}

/// A step into an aggregate.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Step {
    /// Bytes from the start of the aggregate.
    pub offset: u64,
    /// Type of the part.
    pub ty: Type,
}

impl<'m> Layouts<'m> {
    pub fn new(types: &'m TypeTable, lengths: FxHashMap<SpecConst, u64>) -> Self {
        Layouts { types, lengths, sizes: RefCell::default() }
    }

    /// Bytes of a type; a run-time array counts as empty.
    pub fn size(&self, ty: Type) -> u64 {
        self.measure(ty).bytes
    }

    /// Iterative, since types nest as deep as the module likes.
    fn measure(&self, ty: Type) -> Size {
        if let Some(size) = self.sizes.borrow().get(&ty) {
            return *size;
        }
        let mut stack = vec![ty];
        while let Some(&at) = stack.last() {
            if self.sizes.borrow().contains_key(&at) {
                stack.pop();
                continue;
            }
            let missing: Vec<Type> = self
                .parts(at)
                .into_iter()
                .filter(|p| !self.sizes.borrow().contains_key(p))
                .collect();
            if missing.is_empty() {
                let size = self.of(at);
                self.sizes.borrow_mut().insert(at, size);
            }
            stack.extend(missing);
        }
        self.sizes.borrow()[&ty]
    }

    fn parts(&self, ty: Type) -> Vec<Type> {
        match &self.types[ty] {
            TypeData::Array { elem, .. } => vec![*elem],
            TypeData::Matrix { column, .. } => vec![*column],
            TypeData::Struct(s) => s.members.iter().map(|m| m.ty).collect(),
            _ => vec![],
        }
    }

    fn known(&self, ty: Type) -> Size {
        self.sizes.borrow().get(&ty).copied().unwrap_or(Size { bytes: 0, align: 1 })
    }

    fn of(&self, ty: Type) -> Size {
        if let TypeData::Pointer { .. } = self.types[ty] {
            return Size { bytes: POINTER, align: POINTER };
        }
        if let Some((comps, bits)) = self.types.value_shape(ty) {
            let scalar = if bits == 1 { 4 } else { u64::from(bits) / 8 };
            return Size { bytes: scalar * u64::from(comps), align: scalar };
        }
        match &self.types[ty] {
            TypeData::Array { elem, len, stride } => {
                let elem = self.known(*elem);
                let stride = if *stride != 0 {
                    u64::from(*stride)
                } else {
                    elem.bytes.next_multiple_of(elem.align)
                };
                Size { bytes: stride.saturating_mul(self.len(*len)), align: elem.align }
            }
            TypeData::Matrix { column, cols } => {
                let column = self.known(*column);
                Size { bytes: column.bytes * u64::from(*cols), align: column.align }
            }
            TypeData::Struct(s) => {
                let (mut end, mut align) = (0, 1);
                for (n, member) in s.members.iter().enumerate() {
                    let size = self.known(member.ty);
                    align = align.max(size.align);
                    let bytes = match (&self.types[member.ty], member.matrix_stride) {
                        // Rows or columns with gaps between them.
                        (TypeData::Matrix { cols, column }, Some(stride)) => {
                            let rows = self.types.value_shape(*column).map_or(4, |(rows, _)| rows);
                            u64::from(stride)
                                * u64::from(if member.row_major { rows } else { *cols })
                        }
                        _ => size.bytes,
                    };
                    end = end.max(self.member_offset(ty, n) + bytes);
                }
                Size { bytes: end, align }
            }
            _ => Size { bytes: 8, align: 8 },
        }
    }

    fn len(&self, len: ArrayLen) -> u64 {
        match len {
            ArrayLen::Const(n) => n.into(),
            ArrayLen::Spec(spec) => self.lengths.get(&spec).copied().unwrap_or(1),
            ArrayLen::Runtime => 0,
        }
    }

    /// Elements of an array, 0 where only run time knows.
    pub fn array_len(&self, ty: Type) -> u64 {
        match &self.types[ty] {
            TypeData::Array { len, .. } => self.len(*len),
            _ => 0,
        }
    }

    fn member_offset(&self, ty: Type, n: usize) -> u64 {
        let TypeData::Struct(s) = &self.types[ty] else { return 0 };
        if let Some(offset) = s.members[n].offset {
            return offset.into();
        }
        let mut end = 0u64;
        for (i, member) in s.members.iter().enumerate().take(n + 1) {
            let size = self.measure(member.ty);
            end = end.next_multiple_of(size.align.max(1));
            if i == n {
                break;
            }
            end += size.bytes;
        }
        end
    }

    /// A member of a struct.
    pub fn member(&self, ty: Type, n: u32) -> Option<Step> {
        let TypeData::Struct(s) = &self.types[ty] else { return None };
        let member = s.members.get(n as usize)?;
        Some(Step { offset: self.member_offset(ty, n as usize), ty: member.ty })
    }

    /// Matrix stride and order of a struct's member, looked for through arrays.
    pub fn matrix_layout(&self, ty: Type, n: u32) -> Option<(u64, bool)> {
        let TypeData::Struct(s) = &self.types[ty] else { return None };
        let member = s.members.get(n as usize)?;
        Some((member.matrix_stride?.into(), member.row_major))
    }

    /// Bytes from element to element of an array, column of a matrix or component of a vector.
    pub fn stride(&self, ty: Type) -> Option<(u64, Type)> {
        match &self.types[ty] {
            TypeData::Array { elem, stride, .. } => {
                let size = self.measure(*elem);
                let own = size.bytes.next_multiple_of(size.align.max(1));
                Some((if *stride != 0 { u64::from(*stride) } else { own }, *elem))
            }
            TypeData::Matrix { column, .. } => Some((self.size(*column), *column)),
            TypeData::Vector { elem, .. } => Some((self.size(*elem), *elem)),
            _ => None,
        }
    }
}
