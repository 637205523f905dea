//! What touches memory or other invocations, by the intrinsic table's `spirv` column.

use super::function::FnReader;
use super::tables::{Arg, IntrForm, index_value, scope_value, semantics_value, tables};
use super::value::{Val, Value};
use super::words::Inst;
use crate::error::Error;
use deburr_ir_core::{
    Def, Dim, ImageType, Index, Instr, Intrinsic, IntrinsicInfo, Shape, Type, TypeData,
};
use rspirv::spirv;
use spirv::Op;

/// The parts of an intrinsic as an instruction's operands give them.
struct Parts {
    srcs: Vec<Option<Def>>,
    indices: Vec<u32>,
    /// Access bits of the pointers and handles among the sources.
    access: u32,
    image: Option<Type>,
}

/// No form takes the operands.
fn no_form(forms: &[IntrForm]) -> Error {
    let names: Vec<&str> = forms.iter().map(|form| form.info.name).collect();
    Error::unsupported(format!("operands that `{}` doesn't take", names.join("`, `")))
}

impl FnReader<'_, '_> {
    /// An instruction that is an intrinsic by one of the forms.
    pub fn intrinsic(
        &mut self,
        inst: &Inst<'_>,
        args: &[u32],
        forms: &[IntrForm],
    ) -> Result<(), Error> {
        let ty = match inst.ty {
            0 => None,
            id => Some(self.r.type_of(id)?),
        };
        if let Some(ty) = ty.filter(|ty| self.is_matrix(*ty)) {
            return self.intrinsic_columns(inst, ty, args, forms);
        }
        for form in forms {
            if let Some(parts) = self.match_form(ty, args, form)? {
                let instr = self.build(ty, form, parts)?;
                return match ty {
                    Some(ty) => self.set_def(inst.id, ty, instr.def()),
                    None => Ok(()),
                };
            }
        }
        Err(no_form(forms))
    }

    /// An instruction whose result is a matrix, of which the intrinsic gives a column by its number.
    fn intrinsic_columns(
        &mut self,
        inst: &Inst<'_>,
        ty: Type,
        args: &[u32],
        forms: &[IntrForm],
    ) -> Result<(), Error> {
        let columns = self.parts_of(ty)?;
        let by_column = |form: &&IntrForm| form.info.index_slot(Index::COLUMN).is_some();
        for form in forms.iter().filter(by_column) {
            let mut leaves = Vec::new();
            for (n, &column) in columns.iter().enumerate() {
                let Some(mut parts) = self.match_form(Some(column), args, form)? else { break };
                set_index(form.info, &mut parts.indices, Index::COLUMN, n as u32);
                leaves.push(self.build(Some(column), form, parts)?.def());
            }
            if leaves.len() == columns.len() {
                let kind = self.from_leaves(ty, &leaves);
                return self.set(inst.id, Value::new(ty, kind));
            }
        }
        Err(no_form(forms))
    }

    fn match_form(
        &mut self,
        ty: Option<Type>,
        args: &[u32],
        form: &IntrForm,
    ) -> Result<Option<Parts>, Error> {
        let info = form.info;
        if !self.result_fits(ty, form) || !self.compares_as(args, form)? {
            return Ok(None);
        }
        let indices = info.indices.iter();
        let indices = indices.map(|i| i.builtin().map_or(0, |info| info.default)).collect();
        let mut parts =
            Parts { srcs: vec![None; info.srcs.len()], indices, access: 0, image: None };
        for &(index, value) in form.form.when {
            set_index(info, &mut parts.indices, index, value);
        }
        let in_order: Vec<Arg> = (0..info.srcs.len() as u8).map(Arg::Src).collect();
        let pattern = form.args.as_deref().unwrap_or(&in_order);
        let mut pattern = pattern.iter();
        for &operand in args {
            let Some(arg) = pattern.next() else { return Ok(None) };
            let fits = match *arg {
                Arg::Src(n) => self.match_src(operand, n, form, &mut parts, &mut pattern)?,
                Arg::Comp(..) => return Ok(None),
                Arg::Index(index) => self.match_index(operand, index, info, &mut parts)?,
                Arg::Const(value) => self.r.const_u64(operand) == Some(value.into()),
                Arg::Scope(scope) => self.r.const_u64(operand) == Some(scope.into()),
                Arg::Literal(value) => operand == value,
            };
            if !fits {
                return Ok(None);
            }
        }
        Ok(pattern.next().is_none().then_some(parts))
    }

    fn result_fits(&self, ty: Option<Type>, form: &IntrForm) -> bool {
        let (dest, ty) = match (form.info.dest, ty) {
            (Some(dest), Some(ty)) => (dest, ty),
            (dest, ty) => return dest.is_none() && ty.is_none(),
        };
        let Some((comps, bits)) = self.r.m.types.value_shape(ty) else { return false };
        let has = |list: &[u8]| list.is_empty() || list.contains(&bits);
        (dest <= 0 || dest as u8 == comps) && has(form.form.sizes) && has(form.info.dest_bits)
    }

    /// Of two intrinsics that compare bits or floats, the one for the operand's type.
    fn compares_as(&mut self, args: &[u32], form: &IntrForm) -> Result<bool, Error> {
        let by_bits = form.op == Intrinsic::VOTE_IEQ;
        if !by_bits && form.op != Intrinsic::VOTE_FEQ {
            return Ok(true);
        }
        let mut ty = match args.last() {
            Some(&id) => self.get(id)?.ty,
            None => return Ok(false),
        };
        if let TypeData::Vector { elem, .. } = self.r.m.types[ty] {
            ty = elem;
        }
        Ok(matches!(self.r.m.types[ty], TypeData::Float { .. }) != by_bits)
    }

    fn match_src(
        &mut self,
        id: u32,
        n: u8,
        form: &IntrForm,
        parts: &mut Parts,
        pattern: &mut std::slice::Iter<'_, Arg>,
    ) -> Result<bool, Error> {
        let value = self.get(id)?;
        let n = usize::from(n);
        let is_image = form.info.index_slot(Index::IMAGE_DIM).is_some();
        match value.kind {
            Val::Texel(texel) => {
                // One operand for the three sources of a texel.
                let rest = pattern.as_slice();
                if !is_image || n != 0 || !rest.starts_with(&[Arg::Src(1), Arg::Src(2)]) {
                    return Ok(false);
                }
                pattern.nth(1);
                let texel = self.texels[texel as usize];
                parts.srcs[..3].copy_from_slice(&texel.map(Some));
                parts.image = self.f.deref(texel[0].instr()).map(|d| d.ty);
            }
            Val::Ptr(def) => {
                if is_image {
                    return Ok(false);
                }
                parts.srcs[n] = Some(def);
            }
            Val::Handle(def) => {
                parts.image = Some(value.ty);
                parts.srcs[n] = Some(def);
            }
            Val::Def(def) => {
                let want = form.info.srcs.get(n).copied().unwrap_or(-1);
                if want > 0 && want as u8 != self.f.comps(def) {
                    return Ok(false);
                }
                parts.srcs[n] = Some(def);
            }
            Val::Tree { .. } | Val::Mem(_) | Val::SampledImage(..) => return Ok(false),
        }
        parts.access |= value.access;
        Ok(true)
    }

    fn match_index(
        &self,
        id: u32,
        index: Index,
        info: &IntrinsicInfo,
        parts: &mut Parts,
    ) -> Result<bool, Error> {
        let Some(value) = self.r.const_u64(id) else {
            return Err(Error::unsupported(format!("%{id}, which is no constant, in this place")));
        };
        let value = value as u32;
        let is_scope = index == Index::MEMORY_SCOPE || index == Index::EXECUTION_SCOPE;
        let is_semantics = index == Index::MEMORY_SEMANTICS || index == Index::FAILURE_SEMANTICS;
        let value = if is_scope {
            let scope = scope_value(index, value);
            scope.ok_or_else(|| Error::unsupported(format!("scope {value}")))?
        } else if is_semantics {
            let (flags, modes) = semantics_value(index, value);
            if let Some(slot) = info.index_slot(Index::MEMORY_MODES) {
                // An exchange that fails may order nothing, whatever memory it names.
                if index == Index::MEMORY_SEMANTICS || flags != 0 {
                    parts.indices[slot] |= modes;
                }
            }
            flags
        } else {
            value
        };
        set_index(info, &mut parts.indices, index, value);
        Ok(true)
    }

    fn build(
        &mut self,
        ty: Option<Type>,
        form: &IntrForm,
        mut parts: Parts,
    ) -> Result<Instr, Error> {
        let info = form.info;
        let srcs: Option<Vec<Def>> = parts.srcs.iter().copied().collect();
        let srcs = srcs.ok_or_else(|| {
            Error::unsupported(format!("an operand of `{}` is missing", info.name))
        })?;
        set_index(info, &mut parts.indices, Index::ACCESS, parts.access);
        if let Some(image) = parts.image {
            self.image_indices(info, &mut parts.indices, image);
        }
        if let Some(ty) = ty {
            set_index(info, &mut parts.indices, Index::DEST_TYPE, self.value_type(ty));
        }
        let shape = ty.and_then(|ty| self.r.m.types.value_shape(ty));
        let shape = shape.and_then(|(c, b)| Shape::new(c, b)).unwrap_or(Shape::NONE);
        self.same_counts(info, shape, &srcs)?;
        Ok(self.b().intrinsic(form.op, shape, &srcs, &parts.indices))
    }

    /// Sources and result that share a component count or a size do.
    fn same_counts(&self, info: &IntrinsicInfo, shape: Shape, srcs: &[Def]) -> Result<(), Error> {
        let wrong = || Error::invalid("the operands do not fit the result's type");
        let mut count = (info.dest == Some(0)).then(|| shape.comps());
        for (&want, &src) in info.srcs.iter().zip(srcs) {
            let comps = self.f.comps(src);
            if want == 0 && *count.get_or_insert(comps) != comps {
                return Err(wrong());
            }
            if want > 0 && want as u8 != comps {
                return Err(wrong());
            }
        }
        match info.bits_from {
            Some(n) if self.f.bits(srcs[usize::from(n)]) != shape.bits() => Err(wrong()),
            _ => Ok(()),
        }
    }

    /// Sets the indices that describe an image.
    pub fn image_indices(&self, info: &IntrinsicInfo, indices: &mut [u32], image: Type) {
        let Some(image) = self.image_type(image) else { return };
        let dim = index_value(Index::IMAGE_DIM, dim_name(&image));
        set_index(info, indices, Index::IMAGE_DIM, dim);
        set_index(info, indices, Index::IMAGE_ARRAY, image.arrayed.into());
        let format = image.format.parse::<spirv::ImageFormat>();
        set_index(info, indices, Index::FORMAT, format.map_or(0, |f| f as u32));
    }

    /// The image that a type is, or that a sampled image is made of.
    pub fn image_type(&self, ty: Type) -> Option<ImageType> {
        match &self.r.m.types[ty] {
            TypeData::Image(image) => Some(image.clone()),
            TypeData::SampledImage { image } => match &self.r.m.types[*image] {
                TypeData::Image(image) => Some(image.clone()),
                _ => None,
            },
            _ => None,
        }
    }

    /// A type's component as the indices `src_type` and `dest_type` name it.
    pub fn value_type(&self, ty: Type) -> u32 {
        let scalar = match self.r.m.types[ty] {
            TypeData::Vector { elem, .. } => elem,
            _ => ty,
        };
        let name = match self.r.m.types[scalar] {
            TypeData::Int { bits, signed: true } => format!("int{bits}"),
            TypeData::Int { bits, signed: false } => format!("uint{bits}"),
            TypeData::Float { bits } => format!("float{bits}"),
            TypeData::Bool => "bool1".into(),
            _ => "none".into(),
        };
        index_value(Index::DEST_TYPE, &name)
    }

    /// Counting atomics: one is added or subtracted.
    pub fn atomic_count(&mut self, inst: &Inst<'_>) -> Result<(), Error> {
        let op = match inst.op {
            Op::AtomicIIncrement => Op::AtomicIAdd,
            _ => Op::AtomicISub,
        };
        let ty = self.r.type_of(inst.ty)?;
        let Some((1, bits)) = self.r.m.types.value_shape(ty) else {
            return Err(Error::invalid("the result is no scalar"));
        };
        let one = self.constant(bits, &[1]);
        // The operand that the instruction leaves out, under an id that no module can have.
        self.values.insert(0, Value::new(ty, Val::Def(one)));
        let args = [inst.arg(0)?, inst.arg(1)?, inst.arg(2)?, 0];
        self.intrinsic(inst, &args, tables().intrinsics(op))
    }
}

fn dim_name(image: &ImageType) -> &'static str {
    match (image.dim, image.multisampled) {
        (Dim::D1, _) => "dim_1d",
        (Dim::D2, true) => "ms",
        (Dim::D2, false) => "dim_2d",
        (Dim::D3, _) => "dim_3d",
        (Dim::Cube, _) => "cube",
        (Dim::Rect, _) => "rect",
        (Dim::Buffer, _) => "buffer",
        (Dim::SubpassData, true) => "subpass_ms",
        (Dim::SubpassData, false) => "subpass",
        (Dim::TileImageData, _) => "external",
    }
}

/// Sets a const index, where the intrinsic has it.
pub(super) fn set_index(info: &IntrinsicInfo, indices: &mut [u32], index: Index, value: u32) {
    if let Some(slot) = info.index_slot(index) {
        indices[slot] = value;
    }
}
