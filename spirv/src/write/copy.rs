//! Copies of whole objects in memory.
//!
//! OpCopyMemory takes two pointers to one type, and before SPIR-V 1.4 one set of memory operands for both. A copy
//! between two layouts, or one whose sides are accessed in different ways, is a load and a store.

use super::code::Emit;
use super::raise::copies_logically;
use crate::error::Error;
use crate::layout::match_logically;
use deburr_ir_core::{Def, Index, Instr, Type, index::access};
use spirv::{MemoryAccess, Op};

/// How one side of a copy is accessed: what the memory operands of an instruction say.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Access {
    /// The bits of the index `access`.
    pub flags: u32,
    /// Bytes; 0 where nothing is said.
    pub align: u32,
    /// The index `memory_scope`.
    pub scope: u32,
}

impl Access {
    fn mask(self) -> MemoryAccess {
        let flags = self.flags;
        let mut mask = MemoryAccess::NONE;
        mask.set(MemoryAccess::VOLATILE, flags & access::VOLATILE != 0);
        mask.set(MemoryAccess::NONTEMPORAL, flags & access::NON_TEMPORAL != 0);
        mask.set(MemoryAccess::MAKE_POINTER_AVAILABLE, flags & access::AVAILABLE != 0);
        mask.set(MemoryAccess::MAKE_POINTER_VISIBLE, flags & access::VISIBLE != 0);
        mask.set(MemoryAccess::NON_PRIVATE_POINTER, flags & access::NON_PRIVATE != 0);
        mask.set(MemoryAccess::ALIGNED, self.align != 0);
        mask
    }

    /// Both sides in one set of operands, where that says the same of each.
    fn joined(to: Access, from: Access) -> Option<Access> {
        // What one side alone can be asked for.
        let own = MemoryAccess::MAKE_POINTER_AVAILABLE | MemoryAccess::MAKE_POINTER_VISIBLE;
        let same = to.mask() - own == from.mask() - own && to.align == from.align;
        same.then_some(Access { flags: to.flags | from.flags, ..to })
    }
}

impl Emit<'_, '_> {
    /// Appends the memory operands of an access, if there is anything to say.
    pub(super) fn push_access(&mut self, access: Access, operands: &mut Vec<u32>) {
        if !access.mask().is_empty() {
            self.push_access_mask(access, operands);
        }
    }

    /// As [`Emit::push_access`], even if nothing is to say.
    fn push_access_mask(&mut self, access: Access, operands: &mut Vec<u32>) {
        let mask = access.mask();
        operands.push(mask.bits());
        if access.align != 0 {
            operands.push(access.align);
        }
        // One scope for each.
        for bit in [MemoryAccess::MAKE_POINTER_AVAILABLE, MemoryAccess::MAKE_POINTER_VISIBLE] {
            if mask.contains(bit) {
                operands.push(self.scope(access.scope));
            }
        }
    }

    /// Writes `copy_deref`.
    pub(super) fn copy(&mut self, instr: Instr) -> Result<(), Error> {
        let f = self.f;
        let (to, from) = (f.src(instr, 0), f.src(instr, 1));
        let index = |index: Index| f.index(instr, index).unwrap_or(0);
        let scope = index(Index::MEMORY_SCOPE);
        // A target is not made visible, nor a source available.
        let to_access = Access {
            flags: index(Index::DST_ACCESS) & !access::VISIBLE,
            align: index(Index::DST_ALIGN_MUL),
            scope,
        };
        let from_access = Access {
            flags: index(Index::SRC_ACCESS) & !access::AVAILABLE,
            align: index(Index::SRC_ALIGN_MUL),
            scope,
        };
        let (to_ty, from_ty) = (self.pointee(to)?, self.pointee(from)?);
        if let Some((object, _)) = self.whole_var(to) {
            let value = match self.whole_part(from)? {
                Some(part) => part,
                None => (self.loaded(from, from_ty, from_access)?, from_ty),
            };
            self.objects.insert(object, Some(value));
            return Ok(());
        }
        if let Some(value) = self.whole_value(from, to_ty)? {
            let mut operands = vec![self.pointer(to)?, value];
            self.push_access(to_access, &mut operands);
            self.code.op(Op::Store, &operands);
            return Ok(());
        }
        let two_sets = self.w.module.spirv.version >= (1, 4);
        let joined = Access::joined(to_access, from_access);
        if to_ty == from_ty && (two_sets || joined.is_some()) {
            let mut operands = vec![self.pointer(to)?, self.pointer(from)?];
            match joined {
                Some(access) => self.push_access(access, &mut operands),
                None => {
                    self.push_access_mask(to_access, &mut operands);
                    self.push_access_mask(from_access, &mut operands);
                }
            }
            self.code.op(Op::CopyMemory, &operands);
            return Ok(());
        }
        let value = self.loaded(from, from_ty, from_access)?;
        let value = match to_ty == from_ty {
            true => value,
            false => self.relaid(value, to_ty, from_ty)?,
        };
        let mut operands = vec![self.pointer(to)?, value];
        self.push_access(to_access, &mut operands);
        self.code.op(Op::Store, &operands);
        Ok(())
    }

    fn pointee(&self, def: Def) -> Result<Type, Error> {
        let info = self.f.deref(def.instr());
        info.map(|d| d.ty).ok_or_else(|| Error::invalid("a copy of what is no deref"))
    }

    fn loaded(&mut self, from: Def, ty: Type, access: Access) -> Result<u32, Error> {
        let type_id = self.w.ir_type(ty)?;
        let pointer = self.pointer(from)?;
        let id = self.w.id();
        let mut operands = vec![type_id, id, pointer];
        self.push_access(access, &mut operands);
        self.code.op(Op::Load, &operands);
        Ok(id)
    }

    /// A value of one layout in another.
    pub(super) fn relaid(&mut self, value: u32, to: Type, from: Type) -> Result<u32, Error> {
        let module = self.w.module;
        if !match_logically(&module.types, to, from) {
            return Err(Error::invalid("a copy between types that differ by more than layout"));
        }
        if !copies_logically(module) {
            return Err(Error::unsupported("a copy between two layouts before SPIR-V 1.4"));
        }
        let type_id = self.w.ir_type(to)?;
        let id = self.w.id();
        self.code.op(Op::CopyLogical, &[type_id, id, value]);
        Ok(id)
    }
}
