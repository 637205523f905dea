//! ALU operations: by the forms of the table, and the few that have structure of their own.

use super::code::Emit;
use super::infer::{Want, alu_want};
use super::raise::splat_src;
use super::types::{Class, ValueType};
use crate::error::Error;
use deburr_ir_core::{
    AluOp, BaseType, Def, Flags, FormDir, Function, Instr, InstrKind, Outside, SpirvForm, User,
};
use spirv::{Op, PackedVectorFormat};

impl Emit<'_, '_> {
    pub(super) fn alu(&mut self, instr: Instr, op: AluOp) -> Result<(), Error> {
        let f = self.f;
        let def = instr.def();
        let ty = self.type_of(def);
        if self.pointer_alu(instr, op)? {
            return Ok(());
        }
        match op {
            AluOp::MOV => return self.mov(instr, ty),
            AluOp::VEC2 | AluOp::VEC3 | AluOp::VEC4 => return self.vec(instr, ty),
            AluOp::FMUL if self.scaled(instr)? || self.vector_times_scalar(instr, ty)? => {
                return Ok(());
            }
            AluOp::FADD if self.width_of_derivative(instr, ty)? => return Ok(()),
            AluOp::FCANONICALIZE => return self.flush(instr, ty),
            // Fused for sure: only a module that says so has it.
            AluOp::FFMA if self.w.has_capability("FMAKHR") => return self.fused(instr, ty),
            AluOp::INOT if negates(f, instr) => return self.unordered(instr, ty),
            _ => {}
        }
        let Some(info) = f.alu_info(instr) else {
            return Err(Error::unsupported("an opcode of no table"));
        };
        let width = info.unsized_width(f.bits(def), f.srcs(instr).iter().map(|s| f.bits(s.def())));
        let form = info.spirv.iter().find(|form| {
            form.dir != FormDir::Read
                && (form.sizes.is_empty() || form.sizes.contains(&width))
                && (form.comps.is_empty() || form.comps.contains(&ty.comps))
        });
        let Some(form) = form else {
            return Err(Error::unsupported(format!(
                "`{}` at {width} bits has no SPIR-V instruction",
                info.name
            )));
        };
        self.check_narrow(instr, form, ty)?;
        if form.matrix.is_some() || form.column {
            return self.matrix_form(instr, form);
        }
        let is_packed = is_integer_dot(form) && f.comps(f.src(instr, 0)) == ty.comps;
        if is_packed && ty.comps > 1 {
            return self.dot_by_component(instr, op, form, ty);
        }
        let mut operands = Vec::new();
        for &n in form_args(form, f.srcs(instr).len()) {
            let n = usize::from(n);
            let src = f.srcs(instr)[n];
            let mut comps = info.src_comps(n, ty.comps);
            // The range of a bit field is one for all components.
            if form.name.starts_with("BitField") && info.inputs[n].base == BaseType::Int && n > 0 {
                let first = src.swizzle().get(0);
                if src.swizzle().iter(comps).any(|c| c != first) {
                    return Err(Error::unsupported("bit fields of several ranges"));
                }
                comps = 1;
            }
            // Since 1.4 one condition chooses between vectors.
            if op == AluOp::BCSEL && n == 0 && self.w.module.spirv.version >= (1, 4) {
                let first = src.swizzle().get(0);
                if src.swizzle().iter(comps).all(|c| c == first) {
                    comps = 1;
                }
            }
            let class = self.operand_class(instr, op, n);
            let (def, swizzle) = self.unflushed(instr, &src);
            operands.push(self.operand(def, swizzle, comps, class)?);
        }
        if !f.flags(instr).contains(Flags::DOM) {
            self.outside(form, instr, &mut operands)?;
        }
        if is_packed {
            operands.push(PackedVectorFormat::PackedVectorFormat4x8Bit as u32);
        }
        self.emit_form(form, instr, ty, &operands)
    }

    fn operand_class(&self, instr: Instr, op: AluOp, n: usize) -> Class {
        let def = self.f.src(instr, n);
        match alu_want(self.f, instr, op, n) {
            Want::Class(class) => class,
            Want::Int => self.int_class(def),
            Want::Result => self.class(instr.def()),
            Want::Any => self.class(def),
        }
    }

    /// An integer dot product of packed vectors for each component: SPIR-V has it for one.
    fn dot_by_component(
        &mut self,
        instr: Instr,
        op: AluOp,
        form: &SpirvForm,
        ty: ValueType,
    ) -> Result<(), Error> {
        let f = self.f;
        let one = self.w.value_type(ValueType { comps: 1, ..ty });
        let mut words = vec![self.w.value_type(ty), self.id_of(instr.def())];
        for comp in 0..usize::from(ty.comps) {
            let mut operands = Vec::new();
            for &n in form_args(form, f.srcs(instr).len()) {
                let src = f.srcs(instr)[usize::from(n)];
                let class = self.operand_class(instr, op, n.into());
                operands.push(self.operand_scalar(src.def(), src.swizzle().get(comp), class)?);
            }
            operands.push(PackedVectorFormat::PackedVectorFormat4x8Bit as u32);
            let id = self.w.id();
            self.write_form(form, one, id, &operands)?;
            words.push(id);
        }
        self.code.op(Op::CompositeConstruct, &words);
        Ok(())
    }

    /// The product of a vector and a component; `false` if the instruction is none.
    pub(super) fn vector_times_scalar(
        &mut self,
        instr: Instr,
        ty: ValueType,
    ) -> Result<bool, Error> {
        let Some((n, comp)) = splat_src(self.f, instr) else { return Ok(false) };
        let other = self.f.srcs(instr)[1 - n];
        let vector = self.operand(other.def(), other.swizzle(), ty.comps, Class::Float)?;
        let scalar = self.operand_scalar(self.f.src(instr, n), comp, Class::Float)?;
        let (type_id, id) = (self.w.value_type(ty), self.id_of(instr.def()));
        self.code.op(Op::VectorTimesScalar, &[type_id, id, vector, scalar]);
        self.decorate_arithmetic(instr, id);
        Ok(true)
    }

    pub(super) fn fused(&mut self, instr: Instr, ty: ValueType) -> Result<(), Error> {
        let mut words = vec![self.w.value_type(ty), self.id_of(instr.def())];
        for src in self.f.srcs(instr) {
            words.push(self.operand(src.def(), src.swizzle(), ty.comps, Class::Float)?);
        }
        let id = words[1];
        self.code.op(Op::FmaKHR, &words);
        self.decorate_arithmetic(instr, id);
        Ok(())
    }

    /// The negation of an ordered compare, which is the unordered opposite.
    pub(super) fn unordered(&mut self, instr: Instr, ty: ValueType) -> Result<(), Error> {
        let f = self.f;
        let compare = f.src(instr, 0).instr();
        let op = match f.alu_op(compare) {
            Some(AluOp::FLT) => Op::FUnordGreaterThanEqual,
            _ => Op::FUnordLessThan,
        };
        let mut words = vec![self.w.value_type(ty), self.id_of(instr.def())];
        for src in f.srcs(compare) {
            words.push(self.operand(src.def(), src.swizzle(), ty.comps, Class::Float)?);
        }
        let id = words[1];
        self.code.op(op, &words);
        self.decorate_uncontracted(compare, id);
        Ok(())
    }

    /// Where the operands may lie outside the domain of the SPIR-V instruction.
    pub(super) fn outside(
        &mut self,
        form: &SpirvForm,
        instr: Instr,
        operands: &mut [u32],
    ) -> Result<(), Error> {
        let f = self.f;
        match form.outside {
            Outside::Nothing => Ok(()),
            Outside::Mask(n) => {
                let n = usize::from(n);
                let src = f.srcs(instr)[n];
                let comps = f.comps(instr.def());
                let width = u64::from(f.bits(instr.def()));
                let known = f.constant(src.def());
                if known.is_some_and(|bits| {
                    src.swizzle().iter(comps).all(|c| bits[usize::from(c)] < width)
                }) {
                    return Ok(());
                }
                let ty =
                    ValueType { class: self.int_class(src.def()), bits: f.bits(src.def()), comps };
                let mask = self.w.constant(ty, &vec![width - 1; comps.into()]);
                let type_id = self.w.value_type(ty);
                let id = self.w.id();
                self.code.op(Op::BitwiseAnd, &[type_id, id, operands[n], mask]);
                operands[n] = id;
                Ok(())
            }
            Outside::Guard | Outside::Expand | Outside::Refuse => self.guard(form, instr, operands),
        }
    }

    pub(super) fn emit_form(
        &mut self,
        form: &SpirvForm,
        instr: Instr,
        ty: ValueType,
        operands: &[u32],
    ) -> Result<(), Error> {
        let id = self.id_of(instr.def());
        let type_id = self.w.value_type(ty);
        if let Some(mode) = form.rounding {
            self.decorate_rounding(instr, id, mode)?;
        }
        let Some(member) = form.member else {
            self.write_form(form, type_id, id, operands)?;
            self.decorate_flags(instr, id, form);
            self.decorate_no_wrap(instr, id, form);
            return Ok(());
        };
        // The members share one instruction.
        let second = match form.name {
            "FrexpStruct" => ValueType { class: Class::Sint, bits: 32, comps: ty.comps },
            _ => ty,
        };
        let first = match (form.name, member) {
            ("FrexpStruct", 1) => {
                let bits = self.f.bits(self.f.src(instr, 0));
                ValueType { class: Class::Float, bits, comps: ty.comps }
            }
            _ => ty,
        };
        let (first, second) = (self.w.value_type(first), self.w.value_type(second));
        let pair_type = self.w.pair_type(first, second);
        let name = self.w.instructions.core(form.name).map_or(0, |op| op as u32);
        let mut key = vec![pair_type, name];
        if form.ext {
            key[1] = self.w.instructions.glsl(form.name).unwrap_or(0) | 1 << 31;
        }
        key.push(self.f.flags(instr).bits().into());
        key.extend_from_slice(operands);
        let pair = match self.known_pair(&key) {
            Some(pair) => pair,
            None => {
                let pair = self.w.id();
                self.write_form(form, pair_type, pair, operands)?;
                self.decorate_flags(instr, pair, form);
                self.remember_pair(key, pair);
                pair
            }
        };
        self.code.op(Op::CompositeExtract, &[type_id, id, pair, member.into()]);
        Ok(())
    }

    /// The instruction of a form.
    pub(super) fn write_form(
        &mut self,
        form: &SpirvForm,
        type_id: u32,
        id: u32,
        operands: &[u32],
    ) -> Result<(), Error> {
        let mut words = vec![type_id, id];
        if form.ext {
            let number = self.w.instructions.glsl(form.name);
            let number = number.ok_or_else(|| {
                Error::unsupported(format!("GLSL.std.450 has no `{}`", form.name))
            })?;
            words.extend([self.w.glsl_set(), number]);
            words.extend_from_slice(operands);
            self.code.op(Op::ExtInst, &words);
        } else {
            let op = self.w.instructions.core(form.name);
            let op =
                op.ok_or_else(|| Error::unsupported(format!("SPIR-V has no `{}`", form.name)))?;
            words.extend_from_slice(operands);
            self.code.op(op, &words);
        }
        Ok(())
    }

    /// A move is its source, seen through the swizzle.
    pub(super) fn mov(&mut self, instr: Instr, ty: ValueType) -> Result<(), Error> {
        let src = self.f.srcs(instr)[0];
        let id = self.operand(src.def(), src.swizzle(), ty.comps, ty.class)?;
        self.alias(instr.def(), id)
    }

    /// A vector of components: a shuffle where they come from at most two vectors in pieces, else a construction of
    /// scalars.
    pub(super) fn vec(&mut self, instr: Instr, ty: ValueType) -> Result<(), Error> {
        if self.is_storage_only(ty) {
            return self.narrow_vec(instr, ty);
        }
        let f = self.f;
        let srcs = f.srcs(instr);
        let mut sources: Vec<Def> = Vec::new();
        for src in srcs {
            if !sources.contains(&src.def()) {
                sources.push(src.def());
            }
        }
        let vectors = sources
            .iter()
            .all(|&s| f.comps(s) > 1 && !is_floating(f, s) && self.class(s) == ty.class);
        let type_id = self.w.value_type(ty);
        if vectors && sources.len() <= 2 && srcs.len() > sources.len() {
            let (a, b) = (sources[0], *sources.last().unwrap_or(&sources[0]));
            let first = u32::from(f.comps(a));
            let lane = |src: &deburr_ir_core::Use| {
                let lane = u32::from(src.swizzle().get(0));
                if src.def() == a { lane } else { first + lane }
            };
            let lanes: Vec<u32> = srcs.iter().map(lane).collect();
            let (a, b) = (self.id_of(a), self.id_of(b));
            let mut words = vec![type_id, self.id_of(instr.def()), a, b];
            words.extend(lanes);
            self.code.op(Op::VectorShuffle, &words);
            return Ok(());
        }
        let mut parts = Vec::new();
        for src in srcs {
            parts.push(self.operand_scalar(src.def(), src.swizzle().get(0), ty.class)?);
        }
        let mut words = vec![type_id, self.id_of(instr.def())];
        words.extend(parts);
        self.code.op(Op::CompositeConstruct, &words);
        Ok(())
    }
}

/// Whether a value is written at each use.
fn is_floating(f: &Function, def: Def) -> bool {
    matches!(f.kind(def.instr()), InstrKind::LoadConst | InstrKind::Undef | InstrKind::Deref)
}

/// Whether the form is a dot product of integers, whose vectors may be packed.
fn is_integer_dot(form: &SpirvForm) -> bool {
    form.name.ends_with("Dot") && form.name != "Dot" || form.name.ends_with("DotAccSat")
}

/// Whether a negation is of an ordered compare that nothing else uses.
fn negates(f: &Function, instr: Instr) -> bool {
    let src = f.srcs(instr)[0];
    let comps = f.comps(instr.def());
    matches!(f.alu_op(src.def().instr()), Some(AluOp::FLT | AluOp::FGE))
        && f.has_one_use(src.def())
        && f.comps(src.def()) == comps
        && src.swizzle().is_identity(comps)
}

/// Whether all that uses a compare is a negation.
pub(super) fn is_negated(f: &Function, compare: Instr) -> bool {
    let mut users = f.uses(compare.def());
    matches!(users.next().map(|u| u.user()), Some(User::Instr(i))
        if f.alu_op(i) == Some(AluOp::INOT) && negates(f, i))
}

/// Order of the opcode's operands in the instruction.
fn form_args(form: &SpirvForm, srcs: usize) -> &'static [u8] {
    const IN_ORDER: &[u8] = &[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15];
    if form.args.is_empty() { &IN_ORDER[..srcs] } else { form.args }
}
