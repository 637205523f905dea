//! Instructions of a function body: operands with their swizzles and classes, ALU operations, phis, calls.

use super::Writer;
use super::infer::{Want, alu_want, want};
use super::labels::Labels;
use super::out::Words;
use super::pointers::{PointerType, pointer_values};
use super::raise::{Raise, splat_src};
use super::switch::Switches;
use super::types::{Class, ValueType};
use crate::error::Error;
use crate::fast_math::mask_of;
use deburr_ir_core::{
    AluOp, AluProps, BaseType, Block, Def, Flags, FormDir, Func, Function, Instr, InstrKind,
    InstrView, Outside, SpirvForm, Swizzle, User,
};
use rustc_hash::{FxHashMap, FxHashSet};
use spirv::Op;

/// The licences that an operation has in SPIR-V unless it is decorated NoContraction.
const CONTRACTED: Flags = Flags::CONTRACT.union(Flags::REASSOC).union(Flags::TRANSFORM);

/// A value seen through a swizzle, as a class: written once in each scope.
type Variant = (Def, Swizzle, u8, Class);

/// What is forgotten at the end of the list that it was written in.
enum Logged {
    Variant(Variant),
    Whole(Vec<Def>),
    Pair(Vec<u32>),
}

/// The writing of one function.
pub(super) struct Emit<'w, 'm> {
    pub w: &'w mut Writer<'m>,
    pub f: &'m Function,
    pub func: Func,
    pub code: Words,
    /// Written behind the first label.
    pub variables: Option<Words>,
    pub labels: Labels,
    pub switches: Switches,
    /// Handles loaded in the current block.
    pub handles: FxHashMap<Def, u32>,
    pub params: Vec<u32>,
    classes: Vec<Class>,
    ids: FxHashMap<Def, u32>,
    variants: FxHashMap<Variant, u32>,
    wholes: FxHashMap<Vec<Def>, u32>,
    /// Structs that instructions returned, by the instruction's words without its result.
    pairs: FxHashMap<Vec<u32>, u32>,
    log: Vec<Logged>,
    pub raise: Raise,
    /// Casts that phis need, to be written beside the value.
    phi_casts: FxHashMap<Def, Vec<Class>>,
    /// Ids of such casts that phis named before they were written.
    early_casts: FxHashMap<(Def, Class), u32>,
    /// The matrix that the last instruction on ray queries gave: operation and operands, and its id.
    pub ray_matrix: Option<(Vec<u32>, u32)>,
    pub pointers: FxHashMap<Def, u32>,
    /// Ids of pointers that phis named before they were written.
    pub early_pointers: FxHashMap<Def, u32>,
    /// Values that are pointers, derefs apart.
    pub pointer_values: FxHashMap<Def, PointerType>,
}

impl<'w, 'm> Emit<'w, 'm> {
    pub fn new(
        w: &'w mut Writer<'m>,
        f: &'m Function,
        func: Func,
        classes: Vec<Class>,
        params: Vec<u32>,
        labels: Labels,
        switches: Switches,
    ) -> Self {
        let raise = Raise::find(f, w.module);
        let pointer_values = pointer_values(f, w.module);
        Emit {
            w,
            f,
            func,
            code: Words::default(),
            variables: None,
            labels,
            switches,
            handles: FxHashMap::default(),
            params,
            classes,
            ids: FxHashMap::default(),
            variants: FxHashMap::default(),
            wholes: FxHashMap::default(),
            pairs: FxHashMap::default(),
            log: Vec::new(),
            raise,
            phi_casts: FxHashMap::default(),
            early_casts: FxHashMap::default(),
            ray_matrix: None,
            pointers: FxHashMap::default(),
            early_pointers: FxHashMap::default(),
            pointer_values,
        }
    }

    pub fn scope_mark(&self) -> usize {
        self.log.len()
    }

    pub fn leave_scope(&mut self, mark: usize) {
        for logged in self.log.drain(mark..) {
            match logged {
                Logged::Variant(variant) => self.variants.remove(&variant),
                Logged::Whole(values) => self.wholes.remove(&values),
                Logged::Pair(words) => self.pairs.remove(&words),
            };
        }
    }

    /// The aggregate of these values, if it was written in this scope.
    pub fn known_whole(&self, values: &[Def]) -> Option<u32> {
        self.wholes.get(values).copied()
    }

    pub fn remember_whole(&mut self, values: &[Def], id: u32) {
        self.wholes.insert(values.to_vec(), id);
        self.log.push(Logged::Whole(values.to_vec()));
    }

    fn remember(&mut self, variant: Variant, id: u32) -> u32 {
        self.variants.insert(variant, id);
        self.log.push(Logged::Variant(variant));
        id
    }

    pub fn class(&self, def: Def) -> Class {
        self.classes[def.index()]
    }

    pub fn type_of(&self, def: Def) -> ValueType {
        ValueType { class: self.class(def), bits: self.f.bits(def), comps: self.f.comps(def) }
    }

    /// The id of a value, given out before it is written where a phi needs it.
    pub fn id_of(&mut self, def: Def) -> u32 {
        match self.ids.get(&def) {
            Some(&id) => id,
            None => {
                let id = self.w.id();
                self.ids.insert(def, id);
                id
            }
        }
    }

    /// Lets a value stand for an id that exists already.
    pub fn set_id(&mut self, def: Def, id: u32) {
        self.ids.insert(def, id);
    }

    // ---- operands -----------------------------------------------------------------------------------

    /// Components of a value as an operand of the class. Constants are written in the class that is asked for.
    pub fn operand(
        &mut self,
        def: Def,
        swizzle: Swizzle,
        comps: u8,
        class: Class,
    ) -> Result<u32, Error> {
        let f = self.f;
        let bits = f.bits(def);
        let ty = ValueType { class, bits, comps };
        match f.view(def.instr()) {
            InstrView::LoadConst(value) => {
                let picked: Vec<u64> = swizzle.iter(comps).map(|c| value[usize::from(c)]).collect();
                return Ok(self.w.constant(ty, &picked));
            }
            // An undef is one value in the IR, and may differ between uses in SPIR-V.
            InstrView::Undef => {
                let type_id = self.w.value_type(ty);
                return Ok(if f.has_one_use(def) {
                    self.w.undef(type_id)
                } else {
                    self.w.null(type_id)
                });
            }
            InstrView::Deref(_) => return self.address(def),
            _ => {}
        }
        let whole = comps == f.comps(def) && swizzle.is_identity(comps);
        if whole && class == self.class(def) {
            return self.own_id(def);
        }
        let variant = (def, canonical(swizzle, comps), comps, class);
        if let Some(&id) = self.variants.get(&variant) {
            return Ok(id);
        }
        let id = if class != self.class(def) {
            // Cast the whole value, then take the components.
            let from = self.operand(def, Swizzle::IDENTITY, f.comps(def), self.class(def))?;
            let whole_variant =
                (def, canonical(Swizzle::IDENTITY, f.comps(def)), f.comps(def), class);
            let cast = match self.variants.get(&whole_variant) {
                Some(&cast) => cast,
                None => {
                    let cast = self.cast(from, ValueType { class, bits, comps: f.comps(def) })?;
                    self.remember(whole_variant, cast)
                }
            };
            if whole {
                return Ok(cast);
            }
            self.take(cast, ValueType { class, bits, comps: f.comps(def) }, swizzle, comps)
        } else {
            let from = self.own_id(def)?;
            self.take(from, self.type_of(def), swizzle, comps)
        };
        Ok(self.remember(variant, id))
    }

    /// The id of a whole value, where it is used.
    fn own_id(&mut self, def: Def) -> Result<u32, Error> {
        let comps = self.f.comps(def);
        let variant = (def, canonical(Swizzle::IDENTITY, comps), comps, self.class(def));
        if let Some(&id) = self.variants.get(&variant) {
            return Ok(id);
        }
        match self.late_part(def)? {
            Some(id) => Ok(self.remember(variant, id)),
            None => Ok(self.id_of(def)),
        }
    }

    fn cast(&mut self, from: u32, to: ValueType) -> Result<u32, Error> {
        if to.class == Class::Bool {
            return Err(Error::unsupported("a bool that is not written as one"));
        }
        let type_id = self.w.value_type(to);
        let id = self.w.id();
        self.code.op(Op::Bitcast, &[type_id, id, from]);
        Ok(id)
    }

    /// Components of an id of type `from`.
    fn take(&mut self, from: u32, ty: ValueType, swizzle: Swizzle, comps: u8) -> u32 {
        let result = self.w.value_type(ValueType { comps, ..ty });
        let id = self.w.id();
        if ty.comps == 1 {
            let mut operands = vec![result, id];
            operands.extend(std::iter::repeat_n(from, comps.into()));
            self.code.op(Op::CompositeConstruct, &operands);
        } else if comps == 1 {
            self.code.op(Op::CompositeExtract, &[result, id, from, swizzle.get(0).into()]);
        } else {
            let mut operands = vec![result, id, from, from];
            operands.extend(swizzle.iter(comps).map(u32::from));
            self.code.op(Op::VectorShuffle, &operands);
        }
        id
    }

    pub fn operand_scalar(&mut self, def: Def, comp: u8, class: Class) -> Result<u32, Error> {
        self.operand(def, Swizzle::splat(comp), 1, class)
    }

    /// Source `n` as the instruction wants it.
    pub fn wanted_src(&mut self, instr: Instr, n: usize) -> Result<u32, Error> {
        let def = self.f.src(instr, n);
        let class = self.wanted_class(instr, n);
        self.operand(def, Swizzle::IDENTITY, self.f.comps(def), class)
    }

    fn wanted_class(&self, instr: Instr, n: usize) -> Class {
        let def = self.f.src(instr, n);
        match want(self.f, self.w.module, instr, n) {
            Want::Result => self.class(instr.def()),
            want => self.wanted(want, def),
        }
    }

    /// The class of an operand that is not tied to the result.
    pub fn wanted(&self, want: Want, def: Def) -> Class {
        match want {
            Want::Class(class) => class,
            Want::Int => self.int_class(def),
            Want::Result | Want::Any => self.class(def),
        }
    }

    /// The class of an integer operand: the value's own, if it is an integer.
    fn int_class(&self, def: Def) -> Class {
        match self.class(def) {
            Class::Sint => Class::Sint,
            Class::Bool | Class::Float | Class::Uint => Class::Uint,
        }
    }

    // ---- instructions -------------------------------------------------------------------------------

    /// Notes the casts that operands of phis need: they stand beside the operand, which dominates the edge.
    pub fn find_phi_casts(&mut self) {
        let mut wanted: FxHashSet<(Def, Class)> = FxHashSet::default();
        for block in self.f.blocks() {
            for phi in self.f.phis(block) {
                for src in self.f.srcs(phi) {
                    let def = src.def();
                    let constant =
                        matches!(self.f.kind(def.instr()), InstrKind::LoadConst | InstrKind::Undef);
                    let class = self.class(phi.def());
                    if !constant
                        && !self.pointer_values.contains_key(&phi.def())
                        && self.class(def) != class
                        && wanted.insert((def, class))
                    {
                        self.phi_casts.entry(def).or_default().push(class);
                    }
                }
            }
        }
    }

    fn write_phi_casts(&mut self, def: Def) -> Result<(), Error> {
        let Some(classes) = self.phi_casts.get(&def).cloned() else { return Ok(()) };
        for class in classes {
            let comps = self.f.comps(def);
            let from = self.id_of(def);
            let id = match self.early_casts.get(&(def, class)) {
                Some(&id) => id,
                None => self.w.id(),
            };
            let type_id = self.w.value_type(ValueType { class, bits: self.f.bits(def), comps });
            self.code.op(Op::Bitcast, &[type_id, id, from]);
            // Not logged: phis ask for it outside the scope of the value's list, and it dominates them all the same.
            self.variants.insert((def, canonical(Swizzle::IDENTITY, comps), comps, class), id);
        }
        Ok(())
    }

    pub fn phis(&mut self, block: Block) -> Result<(), Error> {
        let f = self.f;
        let phis: Vec<Instr> = f.phis(block).collect();
        for &phi in &phis {
            let ty = self.type_of(phi.def());
            let type_id = self.type_id(phi.def())?;
            let mut operands = vec![type_id, self.id_of(phi.def())];
            // The order of a phi's sources means nothing, so it must not show: it is the text's.
            if let Some(&pointer) = self.pointer_values.get(&phi.def()) {
                self.choosable(pointer)?;
            }
            let mut edges = self.switches.edges(f, phi);
            edges.sort_unstable_by_key(|&(_, pred)| self.labels.position(pred));
            for (value, pred) in edges {
                let value = match self.pointer_values.get(&phi.def()) {
                    Some(&pointer) => self.early_pointer(value, pointer)?,
                    None => self.phi_operand(value, ty)?,
                };
                operands.push(value);
                operands.push(self.labels.exit(pred));
            }
            // A continue list that nothing reaches is a predecessor in SPIR-V.
            if let Some(back) = self.unreachable_back_edge(block) {
                operands.push(self.w.undef(type_id));
                operands.push(self.labels.exit(back));
            }
            self.code.op(Op::Phi, &operands);
        }
        for phi in phis {
            self.after_def(phi)?;
        }
        Ok(())
    }

    fn phi_operand(&mut self, def: Def, ty: ValueType) -> Result<u32, Error> {
        let constant = matches!(self.f.kind(def.instr()), InstrKind::LoadConst | InstrKind::Undef);
        if constant || self.class(def) == ty.class {
            return self.operand(def, Swizzle::IDENTITY, ty.comps, ty.class);
        }
        // The cast may come later in the text: its id is given out now.
        let variant = (def, canonical(Swizzle::IDENTITY, ty.comps), ty.comps, ty.class);
        match self.variants.get(&variant) {
            Some(&id) => Ok(id),
            None => {
                let id = self.w.id();
                self.early_casts.insert((def, ty.class), id);
                Ok(id)
            }
        }
    }

    fn after_def(&mut self, instr: Instr) -> Result<(), Error> {
        if let Some(name) = self.f.names.get(&instr.def()) {
            let id = self.id_of(instr.def());
            self.w.name(id, name);
        }
        self.write_phi_casts(instr.def())
    }

    pub fn instr(&mut self, instr: Instr) -> Result<(), Error> {
        let f = self.f;
        match f.view(instr) {
            // With the negation that is its only use.
            InstrView::Alu(AluOp::FLT | AluOp::FGE) if is_negated(f, instr) => return Ok(()),
            // At their uses, or by the block.
            InstrView::LoadConst(_) | InstrView::Undef | InstrView::Phi(_) | InstrView::Jump(_) => {
                return Ok(());
            }
            InstrView::Alu(op) => self.alu(instr, op)?,
            InstrView::Intrinsic(op, _) => self.intrinsic(instr, op)?,
            InstrView::Tex(_) => self.tex(instr)?,
            InstrView::Deref(_) => return self.deref(instr),
            InstrView::Call(func) => {
                self.ray_matrix = None;
                let ret = match &self.w.module[func].ret {
                    Some(ret) => self.w.ir_type(ret.ty)?,
                    None => self.w.void_type(),
                };
                let result = match f.def(instr) {
                    Some(def) => self.id_of(def),
                    None => self.w.id(),
                };
                let mut operands = vec![ret, result, self.w.funcs[func.index()]];
                for n in 0..f.srcs(instr).len() {
                    let src = f.src(instr, n);
                    let param = self.w.module[func].params.get(n).map(|p| p.ty);
                    operands.push(match f.kind(src.instr()) {
                        InstrKind::Deref => self.argument(src, param)?,
                        _ => self.wanted_src(instr, n)?,
                    });
                }
                self.code.op(Op::FunctionCall, &operands);
            }
            InstrView::ParallelCopy => return Err(Error::unsupported("registers")),
        }
        match f.def(instr) {
            Some(_) => self.after_def(instr),
            None => Ok(()),
        }
    }

    fn alu(&mut self, instr: Instr, op: AluOp) -> Result<(), Error> {
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
        if form.matrix.is_some() || form.column {
            return self.matrix_form(instr, form);
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
            let class = match alu_want(f, instr, op, n) {
                Want::Class(class) => class,
                Want::Int => self.int_class(src.def()),
                Want::Result => ty.class,
                Want::Any => self.class(src.def()),
            };
            operands.push(self.operand(src.def(), src.swizzle(), comps, class)?);
        }
        if !f.flags(instr).contains(Flags::DOM) {
            self.outside(form, instr, &mut operands)?;
        }
        self.emit_form(form, instr, ty, &operands)
    }

    /// The product of a vector and a component; `false` if the instruction is none.
    fn vector_times_scalar(&mut self, instr: Instr, ty: ValueType) -> Result<bool, Error> {
        let Some((n, comp)) = splat_src(self.f, instr) else { return Ok(false) };
        let other = self.f.srcs(instr)[1 - n];
        let vector = self.operand(other.def(), other.swizzle(), ty.comps, Class::Float)?;
        let scalar = self.operand_scalar(self.f.src(instr, n), comp, Class::Float)?;
        let (type_id, id) = (self.w.value_type(ty), self.id_of(instr.def()));
        self.code.op(Op::VectorTimesScalar, &[type_id, id, vector, scalar]);
        self.decorate_arithmetic(instr, id);
        Ok(true)
    }

    fn fused(&mut self, instr: Instr, ty: ValueType) -> Result<(), Error> {
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
    fn unordered(&mut self, instr: Instr, ty: ValueType) -> Result<(), Error> {
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
    fn outside(
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

    fn emit_form(
        &mut self,
        form: &SpirvForm,
        instr: Instr,
        ty: ValueType,
        operands: &[u32],
    ) -> Result<(), Error> {
        let id = self.id_of(instr.def());
        let type_id = self.w.value_type(ty);
        let Some(member) = form.member else {
            self.write_form(form, type_id, id, operands)?;
            self.decorate_flags(instr, id, form);
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
        key.extend_from_slice(operands);
        let pair = match self.pairs.get(&key) {
            Some(&pair) => pair,
            None => {
                let pair = self.w.id();
                self.write_form(form, pair_type, pair, operands)?;
                self.decorate_flags(instr, pair, form);
                self.pairs.insert(key.clone(), pair);
                self.log.push(Logged::Pair(key));
                pair
            }
        };
        self.code.op(Op::CompositeExtract, &[type_id, id, pair, member.into()]);
        Ok(())
    }

    /// The instruction of a form.
    pub fn write_form(
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

    /// What an arithmetic instruction may or may not be made of, as decorations.
    pub fn decorate_arithmetic(&mut self, instr: Instr, id: u32) {
        self.decorate_relaxed(instr, id);
        match self.w.fast_math {
            Some(defaults) => self.decorate_fast_math(instr, id, &defaults),
            None if !self.f.flags(instr).contains(CONTRACTED) => {
                self.w.decorate(id, spirv::Decoration::NoContraction, &[]);
            }
            None => {}
        }
    }

    fn decorate_fast_math(&mut self, instr: Instr, id: u32, defaults: &[Option<Flags>; 3]) {
        let f = self.f;
        let Some(info) = f.alu_info(instr).filter(|i| i.props.contains(AluProps::FLOAT)) else {
            return;
        };
        let float = info.inputs.iter().position(|ty| ty.base == BaseType::Float);
        let bits = match (info.output.base, float) {
            (BaseType::Float, _) | (_, None) => f.bits(instr.def()),
            (_, Some(n)) => f.bits(f.src(instr, n)),
        };
        let default = match bits {
            16 => defaults[0],
            32 => defaults[1],
            _ => defaults[2],
        };
        let flags = f.flags(instr);
        if default.is_none_or(|default| !flags.contains(default)) {
            self.w.decorate(id, spirv::Decoration::FPFastMathMode, &[mask_of(flags)]);
        }
    }

    pub fn decorate_flags(&mut self, instr: Instr, id: u32, form: &SpirvForm) {
        let arithmetic = !form.ext && NO_CONTRACTION.contains(&form.name);
        let fast_math =
            form.ext || form.name.starts_with("FOrd") || form.name.starts_with("FUnord");
        if arithmetic {
            self.decorate_arithmetic(instr, id);
        } else if fast_math {
            self.decorate_uncontracted(instr, id);
        } else {
            self.decorate_relaxed(instr, id);
        }
    }

    /// What takes a fast-math mask, but never NoContraction: compares and extended instructions.
    fn decorate_uncontracted(&mut self, instr: Instr, id: u32) {
        match self.w.fast_math {
            Some(_) => self.decorate_arithmetic(instr, id),
            None => self.decorate_relaxed(instr, id),
        }
    }

    fn decorate_relaxed(&mut self, instr: Instr, id: u32) {
        if self.f.flags(instr).contains(Flags::RELAXED) {
            self.w.decorate(id, spirv::Decoration::RelaxedPrecision, &[]);
        }
    }

    /// A move is its source, seen through the swizzle.
    fn mov(&mut self, instr: Instr, ty: ValueType) -> Result<(), Error> {
        let src = self.f.srcs(instr)[0];
        let id = self.operand(src.def(), src.swizzle(), ty.comps, ty.class)?;
        self.alias(instr.def(), id)
    }

    /// Lets the value be the id; where the value's id was given out before, a copy joins them.
    pub fn alias(&mut self, def: Def, id: u32) -> Result<(), Error> {
        match self.ids.get(&def) {
            Some(&own) if own != id => {
                let type_id = self.w.value_type(self.type_of(def));
                self.code.op(Op::CopyObject, &[type_id, own, id]);
            }
            Some(_) => {}
            None => self.set_id(def, id),
        }
        Ok(())
    }

    /// A vector of components: a shuffle where they come from at most two vectors in pieces, else a construction of
    /// scalars.
    fn vec(&mut self, instr: Instr, ty: ValueType) -> Result<(), Error> {
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
            .all(|&s| f.comps(s) > 1 && f.constant(s).is_none() && self.class(s) == ty.class);
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

    fn unreachable_back_edge(&self, block: Block) -> Option<Block> {
        let f = self.f;
        let node = f.block_node(block)?;
        let owner = f.parent(node)?;
        let deburr_ir_core::NodeKind::Loop { body, continue_list } = f.node_kind(owner) else {
            return None;
        };
        let back = f.last_block(continue_list);
        (f.node_list(node) == body
            && f.first_block(body) == block
            && !f.preds(block).contains(&back))
        .then_some(back)
    }
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
fn is_negated(f: &Function, compare: Instr) -> bool {
    let mut users = f.uses(compare.def());
    matches!(users.next().map(|u| u.user()), Some(User::Instr(i))
        if f.alu_op(i) == Some(AluOp::INOT) && negates(f, i))
}

/// SPIR-V arithmetic that NoContraction applies to.
const NO_CONTRACTION: &[&str] = &[
    "FAdd",
    "FSub",
    "FMul",
    "FDiv",
    "FRem",
    "FMod",
    "FNegate",
    "VectorTimesScalar",
    "MatrixTimesScalar",
    "VectorTimesMatrix",
    "MatrixTimesVector",
    "MatrixTimesMatrix",
    "OuterProduct",
    "Dot",
];

/// Order of the opcode's operands in the instruction.
fn form_args(form: &SpirvForm, srcs: usize) -> &'static [u8] {
    const IN_ORDER: &[u8] = &[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15];
    if form.args.is_empty() { &IN_ORDER[..srcs] } else { form.args }
}

/// The swizzle with what lies above the components set to the identity.
fn canonical(swizzle: Swizzle, comps: u8) -> Swizzle {
    (0..usize::from(comps)).fold(Swizzle::IDENTITY, |s, i| s.with(i, swizzle.get(i)))
}
