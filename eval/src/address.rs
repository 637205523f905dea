//! Derefs: what each adds to a pointer, worked out once a function.

use crate::layout::{Layouts, POINTER};
use crate::machine::dispatch_wide;
use deburr_ir_core::{DerefKind, Function, Instr, Module, Type, TypeData, Var};

/// What a deref does to the pointer it is made from.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Step {
    /// The start of a variable.
    Var(Var),
    /// The same pointer; of a wildcard that to the first element.
    Cast,
    /// A member: so many bytes further.
    Member(u64),
    /// An element: `stride` bytes further for each, of `len` if there are so many and no more.
    Element { stride: u64, len: Option<u64> },
    /// An element of an array of descriptors, each an object of its own.
    Descriptor,
    /// What can't be followed.
    Unknown(&'static str),
}

/// A deref instruction.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Deref {
    pub step: Step,
    /// Bytes of a component behind it.
    pub bytes: u32,
    /// Bytes from component to component.
    pub stride: u64,
    /// Whether it names many places at once: only copies take such.
    pub wild: bool,
}

/// A wildcard on the way to what a copy names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Each {
    /// Elements.
    pub len: u64,
    /// Bytes from one to the next.
    pub stride: u64,
}

/// Reads the derefs of one function.
pub(crate) struct Addresses<'a> {
    pub module: &'a Module,
    pub layouts: &'a Layouts<'a>,
    pub f: &'a Function,
}

impl Addresses<'_> {
    /// Every deref of the function, by the instruction's number; other instructions have one that isn't used.
    pub fn all(&self) -> Vec<Deref> {
        let of = |n| {
            let instr = Instr::from_index(n);
            let Some(ty) = self.f.deref(instr).map(|d| d.ty) else {
                return Deref {
                    step: Step::Unknown("an access through no deref"),
                    bytes: 4,
                    stride: 4,
                    wild: false,
                };
            };
            let bytes = scalar_bytes(self.module, ty) as u64;
            let stride = self.component_stride(instr).unwrap_or(bytes);
            let step = self.step(instr).unwrap_or_else(Step::Unknown);
            let wild = self.chain(instr).any(|i| self.is_wildcard(i));
            Deref { step, bytes: bytes as u32, stride, wild }
        };
        (0..self.f.instr_capacity()).map(of).collect()
    }

    /// A deref and those that it is made from, up to a variable or to what is no deref.
    fn chain(&self, deref: Instr) -> impl Iterator<Item = Instr> {
        std::iter::successors(Some(deref), |&at| {
            let parent = self.f.srcs(at).first()?.def().instr();
            self.f.deref(parent).map(|_| parent)
        })
    }

    fn is_wildcard(&self, deref: Instr) -> bool {
        self.f.deref(deref).is_some_and(|d| d.kind == DerefKind::Wildcard)
    }

    /// The wildcards on the way to a deref, the innermost first.
    pub fn wildcards(&self, deref: Instr) -> Result<Vec<Each>, &'static str> {
        let each = |at: Instr| {
            let info = self.f.deref(at).ok_or("a wildcard of no deref")?;
            let outer = self.f.deref(self.f.src(at, 0).instr()).map(|d| d.ty);
            let outer = outer.ok_or("a wildcard of no deref")?;
            let Step::Element { stride, .. } = self.element(at, DerefKind::Array, info.ty)? else {
                return Err("a wildcard of descriptors");
            };
            let len = match &self.module.types[outer] {
                TypeData::Matrix { cols, .. } => (*cols).into(),
                TypeData::Vector { len, .. } => (*len).into(),
                _ => self.layouts.array_len(outer),
            };
            Ok(Each { len, stride })
        };
        self.chain(deref).filter(|&at| self.is_wildcard(at)).map(each).collect()
    }

    fn step(&self, instr: Instr) -> Result<Step, &'static str> {
        let info = self.f.deref(instr).ok_or("an access through no deref")?;
        match info.kind {
            DerefKind::Var(var) => Ok(Step::Var(var)),
            DerefKind::Cast => Ok(Step::Cast),
            DerefKind::Struct(member) => {
                let parent = self.f.deref(self.f.src(instr, 0).instr());
                let step = parent.and_then(|d| self.layouts.member(d.ty, member));
                Ok(Step::Member(step.ok_or("a member of no struct")?.offset))
            }
            DerefKind::Array | DerefKind::PtrAsArray => self.element(instr, info.kind, info.ty),
            DerefKind::Wildcard => Ok(Step::Cast),
        }
    }

    fn element(&self, instr: Instr, kind: DerefKind, ty: Type) -> Result<Step, &'static str> {
        let parent = self.f.src(instr, 0).instr();
        let outer = self.f.deref(parent).ok_or("an element of no deref")?;
        let types = &self.module.types;
        if kind == DerefKind::PtrAsArray {
            let own = u64::from(outer.stride);
            let stride = if own != 0 { own } else { self.layouts.size(outer.ty) };
            return Ok(Step::Element { stride, len: None });
        }
        let is_array = matches!(types[outer.ty], TypeData::Array { .. });
        if let DerefKind::Var(var) = outer.kind
            && is_array
            && matches!(types[ty], TypeData::Struct(_))
            && !var.is_local()
            && dispatch_wide(self.module.vars[var.slot()].mode)
        {
            return Ok(Step::Descriptor);
        }
        let (own, _) = self.layouts.stride(outer.ty).ok_or("an element of no array")?;
        let stride = match &types[outer.ty] {
            TypeData::Matrix { column, .. } => match self.matrix_layout(parent) {
                Some((_, true)) => scalar_bytes(self.module, *column) as u64,
                Some((stride, false)) => stride,
                None => own,
            },
            TypeData::Vector { .. } => self.component_stride(parent).unwrap_or(own),
            _ => own,
        };
        let len = is_array.then(|| self.layouts.array_len(outer.ty));
        Ok(Step::Element { stride, len: len.filter(|&n| n != 0) })
    }

    /// Stride and order of the matrix that a deref names, from the struct member around it.
    fn matrix_layout(&self, deref: Instr) -> Option<(u64, bool)> {
        let mut at = deref;
        loop {
            match self.f.deref(at)?.kind {
                DerefKind::Struct(member) => {
                    let parent = self.f.src(at, 0).instr();
                    return self.layouts.matrix_layout(self.f.deref(parent)?.ty, member);
                }
                DerefKind::Array | DerefKind::Wildcard => at = self.f.src(at, 0).instr(),
                DerefKind::Var(_) | DerefKind::Cast | DerefKind::PtrAsArray => return None,
            }
        }
    }

    /// Bytes between the components of a column of a row-major matrix.
    fn component_stride(&self, deref: Instr) -> Option<u64> {
        if !matches!(self.f.deref(deref)?.kind, DerefKind::Array | DerefKind::Wildcard) {
            return None;
        }
        let parent = self.f.src(deref, 0).instr();
        if !matches!(self.module.types[self.f.deref(parent)?.ty], TypeData::Matrix { .. }) {
            return None;
        }
        match self.matrix_layout(parent)? {
            (stride, true) => Some(stride),
            (_, false) => None,
        }
    }
}

/// Bytes of a scalar of the type, or of the type's components.
pub(crate) fn scalar_bytes(module: &Module, ty: Type) -> usize {
    if let TypeData::Pointer { .. } = module.types[ty] {
        return POINTER as usize;
    }
    match module.types.value_shape(ty) {
        Some((_, 1)) | None => 4,
        Some((_, bits)) => usize::from(bits) / 8,
    }
}
