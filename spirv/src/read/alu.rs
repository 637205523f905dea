//! Arithmetic, by the opcode table's `spirv` column: which opcode an instruction is follows from its name and the
//! shapes of its operands and result.

use super::env::slot;
use super::function::FnReader;
use super::tables::AluForm;
use super::value::{Val, Value};
use super::words::Inst;
use crate::error::Error;
use deburr_ir_core::{
    AluInfo, AluOp, AluProps, AluSrc, BaseType, Def, Denorm, Flags, Shape, Swizzle, Type, TypeData,
};
use rspirv::spirv;
use spirv::{Decoration as D, FPRoundingMode, Op};

/// An operand of an instruction: a vector, or the columns of a matrix.
#[derive(Clone, Debug)]
pub(super) enum Operand {
    Vector(Def),
    Matrix(Vec<Def>),
}

/// Whether an opcode at these shapes is what the form stands for; `srcs` are in the opcode's order. Unless `exact`,
/// integers whose size the opcode fixes (counts, indices) may have another, and are converted.
pub(super) fn fits(form: &AluForm, result: Shape, srcs: &[Shape], exact: bool) -> bool {
    let info = form.info;
    // What saturates does so at the size of the result.
    let one_size =
        info.props.contains(AluProps::CONVERSION) || form.form.name.ends_with("DotAccSat");
    if srcs.len() != info.inputs.len() || !exact && one_size {
        return false;
    }
    let is_int = |base| !exact && matches!(base, BaseType::Int | BaseType::Uint);
    // Where all that goes in has its size, none of it is a count beside a value of any size.
    let has_counts = info.inputs.iter().any(|ty| ty.bits == 0);
    let width = match info.output.bits {
        0 => result.bits(),
        _ => {
            let unsized_src = info.inputs.iter().zip(srcs).find(|(ty, _)| ty.bits == 0);
            unsized_src.map_or(0, |(_, s)| s.bits())
        }
    };
    let has = |list: &[u8], n: u8| list.is_empty() || list.contains(&n);
    if width != 0 && !(has(info.sizes, width) && has(form.form.sizes, width)) {
        return false;
    }
    let output_fits = match info.output.bits {
        0 => true,
        n => n == result.bits() || is_int(info.output.base) && n != 1 && result.bits() != 1,
    };
    let comps_fit = info.output.comps == 0 || info.output.comps == result.comps();
    if !output_fits || !comps_fit || !has(form.form.comps, result.comps()) {
        return false;
    }
    info.inputs.iter().zip(srcs).all(|(ty, src)| {
        let bits = match ty.bits {
            0 => src.bits() == width,
            n => n == src.bits() || has_counts && is_int(ty.base) && n != 1 && src.bits() > 1,
        };
        let comps = match ty.comps {
            0 => src.comps() == result.comps() || src.comps() == 1,
            n => src.comps() == n,
        };
        bits && comps
    })
}

impl FnReader<'_, '_> {
    /// The operands of an instruction that are values.
    pub fn operands(&mut self, ids: &[u32]) -> Result<Vec<Operand>, Error> {
        let mut operands = Vec::with_capacity(ids.len());
        for &id in ids {
            let value = self.get(id)?;
            operands.push(match value.kind {
                Val::Def(def) => Operand::Vector(def),
                Val::Tree { .. } if self.is_matrix(value.ty) => {
                    Operand::Matrix(self.value_leaves(&value)?)
                }
                _ => return Err(Error::unsupported(format!("%{id} as an operand here"))),
            });
        }
        Ok(operands)
    }

    pub fn is_matrix(&self, ty: Type) -> bool {
        matches!(self.r.m.types[ty], TypeData::Matrix { .. })
    }

    /// An instruction that is an opcode by one of the forms.
    pub fn alu(&mut self, inst: &Inst<'_>, ids: &[u32], forms: &[AluForm]) -> Result<(), Error> {
        let ty = self.r.type_of(inst.ty)?;
        let operands = self.operands(ids)?;
        let flags = self.alu_flags(inst.id);
        let rounding = self.rounding(inst.id)?;
        let has_mode = |f: &&AluForm| f.form.rounding == rounding;
        if !forms.iter().any(|f| has_mode(&f)) {
            return Err(Error::unsupported("a rounding mode on this instruction"));
        }
        if forms.iter().any(|f| f.form.member.is_some())
            && let TypeData::Struct(s) = &self.r.m.types[ty]
        {
            let members: Vec<Type> = s.members.iter().map(|m| m.ty).collect();
            return self.members(inst, forms, &operands, &members, ty, flags);
        }
        if self.is_matrix(ty) {
            return self.columns(inst, forms, &operands, ty, flags);
        }
        let forms = forms.iter().filter(has_mode).filter(|f| f.form.member.is_none());
        let def = self.by_form(forms, &operands, None, ty, flags)?;
        self.set_def(inst.id, ty, def)
    }

    /// The rounding mode that an instruction is decorated with.
    fn rounding(&self, id: u32) -> Result<Option<&'static str>, Error> {
        let Some(mode) = self.r.deco_arg(id, D::FPRoundingMode) else { return Ok(None) };
        match FPRoundingMode::from_u32(mode) {
            Some(FPRoundingMode::RTE) => Ok(Some("RTE")),
            Some(FPRoundingMode::RTZ) => Ok(Some("RTZ")),
            Some(other) => Err(Error::unsupported(format!("the rounding mode {other:?}"))),
            None => Err(Error::invalid(format!("{mode} is no rounding mode"))),
        }
    }

    fn members(
        &mut self,
        inst: &Inst<'_>,
        forms: &[AluForm],
        operands: &[Operand],
        members: &[Type],
        ty: Type,
        flags: AluFlags,
    ) -> Result<(), Error> {
        let mut leaves = Vec::new();
        for (n, &member) in members.iter().enumerate() {
            let forms = forms.iter().filter(|f| f.form.member == Some(n as u8));
            let def = self.by_form(forms, operands, None, member, flags)?;
            leaves.push(self.droppable(def));
        }
        let kind = self.from_leaves(ty, &leaves);
        self.set(inst.id, Value::new(ty, kind))
    }

    fn columns(
        &mut self,
        inst: &Inst<'_>,
        forms: &[AluForm],
        operands: &[Operand],
        ty: Type,
        flags: AluFlags,
    ) -> Result<(), Error> {
        let TypeData::Matrix { column, cols } = self.r.m.types[ty] else {
            return Err(Error::invalid("the result is no matrix"));
        };
        let mut leaves = Vec::new();
        for n in 0..cols {
            let forms = forms.iter().filter(|f| f.form.column);
            leaves.push(self.by_form(forms, operands, Some(n), column, flags)?);
        }
        let kind = self.from_leaves(ty, &leaves);
        self.set(inst.id, Value::new(ty, kind))
    }

    /// The opcode of the first form that fits.
    fn by_form<'f>(
        &mut self,
        forms: impl Iterator<Item = &'f AluForm>,
        operands: &[Operand],
        column: Option<u8>,
        ty: Type,
        flags: AluFlags,
    ) -> Result<Def, Error> {
        let shape = self.r.m.types.value_shape(ty).and_then(|(c, b)| Shape::new(c, b));
        let shape = shape.ok_or_else(|| Error::invalid("the result's type does not fit"))?;
        let mut srcs: Vec<Def> = Vec::new();
        let forms: Vec<&AluForm> = forms.collect();
        for (form, exact) in
            forms.iter().map(|f| (*f, true)).chain(forms.iter().map(|f| (*f, false)))
        {
            let spirv = form.form;
            let places = operands.iter().enumerate();
            let matrices_fit = places.clone().all(|(n, operand)| {
                matches!(operand, Operand::Matrix(_)) == (spirv.matrix == Some(n as u8))
            });
            if !matrices_fit || spirv.column != column.is_some() {
                continue;
            }
            let flat = operands.iter().flat_map(|operand| match operand {
                Operand::Vector(def) => std::slice::from_ref(def),
                Operand::Matrix(columns) => columns.as_slice(),
            });
            srcs.clear();
            srcs.extend(flat);
            if spirv.args.len() == srcs.len() {
                let given = srcs.clone();
                for (&to, from) in spirv.args.iter().zip(given) {
                    srcs[usize::from(to)] = from;
                }
            }
            if let Some(n) = column {
                srcs.push(self.constant_u32(n.into()));
            }
            let shapes: Vec<Shape> = srcs.iter().map(|&s| self.f.shape(s)).collect();
            if fits(form, shape, &shapes, exact) {
                return self.apply(form, shape, &srcs, flags);
            }
        }
        let text = |shape: Shape| format!("{}x{}", shape.bits(), shape.comps());
        let size = |operand: &Operand| match operand {
            Operand::Vector(def) => text(self.f.shape(*def)),
            Operand::Matrix(columns) => format!("{} columns", columns.len()),
        };
        let sizes: Vec<String> = operands.iter().map(size).collect();
        Err(Error::unsupported(format!(
            "operands of sizes {} for a result of size {}",
            sizes.join(", "),
            text(shape)
        )))
    }

    /// Builds the opcode of a form that fits.
    fn apply(
        &mut self,
        form: &AluForm,
        shape: Shape,
        srcs: &[Def],
        flags: AluFlags,
    ) -> Result<Def, Error> {
        let info = form.info;
        let mut sized = Vec::with_capacity(srcs.len());
        for (&src, ty) in srcs.iter().zip(info.inputs) {
            let wrong = ty.bits != 0 && ty.bits != self.f.bits(src);
            let src = match wrong {
                true => self.resize(src, ty.bits, ty.base == BaseType::Int)?,
                false => src,
            };
            let splat = ty.comps == 0 && shape.comps() > 1 && self.f.comps(src) == 1;
            let swizzle = if splat { Swizzle::splat(0) } else { Swizzle::IDENTITY };
            sized.push(AluSrc { def: src, swizzle });
        }
        let float_bits = self.float_bits(info, shape, srcs);
        let flags = flags.of(self, info, float_bits) | self.domain(form);
        if self.flushes(form.op, float_bits) {
            let comps = self.f.comps(sized[0].def);
            let op = AluOp::FCANONICALIZE;
            sized[0].def = self.b().alu_instr(op, comps, &[sized[0].def.into()]).def();
        }
        let instr = self.b().alu_instr(form.op, shape.comps(), &sized);
        self.f.set_flags(instr, flags);
        let def = instr.def();
        match self.f.bits(def) == shape.bits() {
            true => Ok(def),
            false => self.resize(def, shape.bits(), info.output.base == BaseType::Int),
        }
    }

    fn domain(&self, form: &AluForm) -> Flags {
        if form.form.reads_dom { Flags::DOM } else { Flags::empty() }
    }

    /// SPIR-V's sign operations are arithmetic: they flush where the environment does.
    fn flushes(&self, op: AluOp, bits: u8) -> bool {
        (op == AluOp::FNEG || op == AluOp::FABS)
            && self.env.float.denorm[slot(bits.into())] == Denorm::Flush
    }

    /// The float size that an instruction's environment is of.
    fn float_bits(&self, info: &AluInfo, shape: Shape, srcs: &[Def]) -> u8 {
        if info.output.base == BaseType::Float {
            return shape.bits();
        }
        let float = info.inputs.iter().zip(srcs).find(|(ty, _)| ty.base == BaseType::Float);
        float.map_or(32, |(_, &src)| self.f.bits(src))
    }

    /// What an instruction's decorations say of its arithmetic.
    pub fn alu_flags(&self, id: u32) -> AluFlags {
        let mut flags = AluFlags {
            no_contraction: false,
            fast_math: None,
            relaxed: false,
            no_wrap: Flags::empty(),
        };
        for deco in self.r.decos(id) {
            match deco.kind {
                D::NoContraction => flags.no_contraction = true,
                D::FPFastMathMode => flags.fast_math = deco.args.first().copied(),
                D::RelaxedPrecision => flags.relaxed = true,
                D::NoSignedWrap => flags.no_wrap |= Flags::NSW,
                D::NoUnsignedWrap => flags.no_wrap |= Flags::NUW,
                _ => {}
            }
        }
        flags
    }

    /// An opcode on whole values, with the flags that the instruction has.
    pub fn arithmetic(&mut self, op: AluOp, srcs: &[Def], flags: AluFlags) -> Def {
        let def = self.b().alu(op, srcs);
        if let Some(info) = AluOp::builtin(op) {
            let shape = self.f.shape(def);
            let bits = self.float_bits(info, shape, srcs);
            let flags = flags.of(self, info, bits);
            self.f.set_flags(def.instr(), flags);
        }
        def
    }

    // ---- forms by hand ------------------------------------------------------------------------------

    /// Products of matrices and scalars, column by column.
    pub fn matrix_product(&mut self, inst: &Inst<'_>) -> Result<(), Error> {
        let ty = self.r.type_of(inst.ty)?;
        let flags = self.alu_flags(inst.id);
        let operands = self.operands(inst.args)?;
        let TypeData::Matrix { column, .. } = self.r.m.types[ty] else {
            return Err(Error::invalid("the result is no matrix"));
        };
        let leaves = match operands.as_slice() {
            [Operand::Matrix(a), Operand::Vector(scale)] => {
                let scale = *scale;
                a.iter().map(|&c| self.arithmetic(AluOp::FMUL, &[c, scale], flags)).collect()
            }
            [a @ Operand::Matrix(_), Operand::Matrix(b)] => {
                let forms = super::tables::tables().alu(Op::MatrixTimesVector);
                let mut leaves = Vec::new();
                for &col in b {
                    let operands = [a.clone(), Operand::Vector(col)];
                    leaves.push(self.by_form(forms.iter(), &operands, None, column, flags)?);
                }
                leaves
            }
            _ => return Err(Error::invalid("the factors do not fit")),
        };
        if leaves.len() != self.r.meta(ty).leaves as usize {
            return Err(Error::invalid("the factors do not fit"));
        }
        let kind = self.from_leaves(ty, &leaves);
        self.set(inst.id, Value::new(ty, kind))
    }

    /// Unordered compares: the negation of the ordered opposite.
    pub fn unordered(&mut self, inst: &Inst<'_>) -> Result<(), Error> {
        let ty = self.r.type_of(inst.ty)?;
        let (a, b) = (self.def(inst.arg(0)?)?, self.def(inst.arg(1)?)?);
        if self.f.shape(a) != self.f.shape(b) || self.f.bits(a) < 16 {
            return Err(Error::invalid("the operands do not fit"));
        }
        let (op, a, b) = match inst.op {
            Op::FUnordLessThan => (AluOp::FGE, a, b),
            Op::FUnordGreaterThan => (AluOp::FGE, b, a),
            Op::FUnordLessThanEqual => (AluOp::FLT, b, a),
            _ => (AluOp::FLT, a, b),
        };
        let flags = self.alu_flags(inst.id);
        let ordered = self.arithmetic(op, &[a, b], flags);
        let def = self.b().alu(AluOp::INOT, &[ordered]);
        self.set_def(inst.id, ty, def)
    }

    pub fn select(&mut self, inst: &Inst<'_>) -> Result<(), Error> {
        let ty = self.r.type_of(inst.ty)?;
        let condition = self.def(inst.arg(0)?)?;
        let (a, b) = (self.get(inst.arg(1)?)?, self.get(inst.arg(2)?)?);
        if self.f.bits(condition) != 1 || a.ty != ty || b.ty != ty {
            return Err(Error::invalid("the operands do not fit"));
        }
        let (a, b) = (self.value_leaves(&a)?, self.value_leaves(&b)?);
        let mut leaves = Vec::new();
        let relaxed = self.alu_flags(inst.id).relaxed;
        for (a, b) in a.into_iter().zip(b) {
            let comps = self.f.comps(condition);
            if comps != 1 && comps != self.f.comps(a) {
                return Err(Error::invalid("the condition has another number of components"));
            }
            let def = self.b().alu(AluOp::BCSEL, &[condition, a, b]);
            if relaxed {
                self.f.set_flags(def.instr(), Flags::RELAXED);
            }
            leaves.push(def);
        }
        let kind = self.from_leaves(ty, &leaves);
        self.set(inst.id, Value::new(ty, kind))
    }

    /// Bits seen as another type: nothing at the same size, else packing or unpacking.
    pub fn bitcast(&mut self, inst: &Inst<'_>) -> Result<(), Error> {
        let ty = self.r.type_of(inst.ty)?;
        let value = self.get(inst.arg(0)?)?;
        let Some(src) = self.single(value.kind) else {
            return Err(Error::invalid("the operand is no scalar, vector or pointer"));
        };
        let Some((comps, bits)) = self.r.m.types.value_shape(ty) else {
            return Err(Error::invalid("the result's type is no scalar, vector or pointer"));
        };
        let (from_comps, from_bits) = (self.f.comps(src), self.f.bits(src));
        if (comps, bits) == (from_comps, from_bits) {
            if let (Val::Ptr(pointer), TypeData::Pointer { modes, pointee, stride }) =
                (value.kind, &self.r.m.types[ty])
            {
                let (modes, stride) = (*modes, *stride);
                let to = pointee.ok_or_else(|| Error::invalid("a pointer without pointee"))?;
                let cast = self.b().deref_cast(pointer, modes, to, stride);
                self.droppable(cast);
                let kind = Val::Ptr(cast);
                return self.set(inst.id, Value { ty, kind, access: value.access });
            }
            return self.set_def(inst.id, ty, src);
        }
        let total = |c: u8, b: u8| u32::from(c) * u32::from(b);
        if total(comps, bits) != total(from_comps, from_bits) || bits == 1 || from_bits == 1 {
            return Err(Error::invalid("the sizes differ"));
        }
        let (wide, narrow) = (bits.max(from_bits), bits.min(from_bits));
        let step = wide / narrow;
        let packs = bits > from_bits;
        let name = if packs { "pack" } else { "unpack" };
        let name = format!("{name}_{wide}_{step}x{narrow}");
        let Some(op) = AluOp::from_name(&name) else {
            return Err(Error::unsupported(format!("bits of {from_bits} as {bits}")));
        };
        let mut parts = Vec::new();
        for n in 0..if packs { comps } else { from_comps } {
            let picks: Vec<u8> = if packs { (n * step..(n + 1) * step).collect() } else { vec![n] };
            let src = AluSrc::swizzled(src, &picks);
            let comps = if packs { 1 } else { step };
            let part = self.b().alu_instr(op, comps, &[src]).def();
            parts.extend((0..comps).map(|c| (part, c)));
        }
        let def = self.gather(&parts)?;
        self.set_def(inst.id, ty, def)
    }
}

/// What decorations say of an instruction's arithmetic.
#[derive(Clone, Copy, Debug)]
pub(super) struct AluFlags {
    pub no_contraction: bool,
    pub fast_math: Option<u32>,
    pub relaxed: bool,
    /// The promises that the result does not wrap.
    pub no_wrap: Flags,
}

impl AluFlags {
    /// The flags of an opcode at a float size.
    fn of(self, t: &FnReader<'_, '_>, info: &AluInfo, bits: u8) -> Flags {
        let mut flags = Flags::empty();
        if info.props.contains(AluProps::FLOAT) {
            let mode = t.r.options.float;
            flags = t.env.flags(mode, bits, self.no_contraction, self.fast_math);
            flags &= info.allowed_flags();
        }
        flags |= self.no_wrap & info.allowed_flags();
        if self.relaxed {
            flags |= Flags::RELAXED;
        }
        flags
    }
}
