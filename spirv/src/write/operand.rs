//! Operands: a value through a swizzle, as the class that the instruction wants.

use super::code::Emit;
use super::infer::{Want, want};
use super::types::{Class, ValueType};
use crate::error::Error;
use deburr_ir_core::{AluOp, Def, Function, Instr, InstrView, Intrinsic, Swizzle, User};
use spirv::Op;

impl Emit<'_, '_> {
    /// Components of a value as an operand of the class. Constants are written in the class that is asked for.
    pub(super) fn operand(
        &mut self,
        def: Def,
        swizzle: Swizzle,
        comps: u8,
        class: Class,
    ) -> Result<u32, Error> {
        let f = self.f;
        let bits = f.bits(def);
        let ty = ValueType { class, bits, comps };
        if bits < 32 && self.is_storage_only(ty) {
            return self.narrow_operand(def, swizzle, ty);
        }
        match f.view(def.instr()) {
            InstrView::LoadConst(value) => {
                let picked: Vec<u64> = swizzle.iter(comps).map(|c| value[usize::from(c)]).collect();
                return Ok(self.w.constant(ty, &picked));
            }
            InstrView::Undef => {
                let type_id = self.w.value_type(ty);
                return Ok(match is_read_once(f, def) {
                    true => self.w.undef(type_id),
                    false => self.w.null(type_id),
                });
            }
            _ if self.is_pointer_value(def) => {
                return self.address_as(def, swizzle, comps, class);
            }
            _ => {}
        }
        let whole = comps == f.comps(def) && swizzle.is_identity(comps);
        if whole && class == self.class(def) {
            return self.own_id(def);
        }
        let variant = (def, canonical(swizzle, comps), comps, class);
        if let Some(id) = self.known(&variant) {
            return Ok(id);
        }
        let id = if class != self.class(def) {
            // Cast the whole value, then take the components.
            let from = self.operand(def, Swizzle::IDENTITY, f.comps(def), self.class(def))?;
            let whole_variant =
                (def, canonical(Swizzle::IDENTITY, f.comps(def)), f.comps(def), class);
            let cast = match self.known(&whole_variant) {
                Some(cast) => cast,
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
    pub(super) fn own_id(&mut self, def: Def) -> Result<u32, Error> {
        let comps = self.f.comps(def);
        let variant = (def, canonical(Swizzle::IDENTITY, comps), comps, self.class(def));
        if let Some(id) = self.known(&variant) {
            return Ok(id);
        }
        match self.late_part(def)? {
            Some(id) => Ok(self.remember(variant, id)),
            None => Ok(self.id_of(def)),
        }
    }

    pub(super) fn cast(&mut self, from: u32, to: ValueType) -> Result<u32, Error> {
        if to.class == Class::Bool {
            return Err(Error::unsupported("a bool that is not written as one"));
        }
        let type_id = self.w.value_type(to);
        let id = self.w.id();
        self.code.op(Op::Bitcast, &[type_id, id, from]);
        Ok(id)
    }

    /// Components of an id of type `from`.
    pub(super) fn take(&mut self, from: u32, ty: ValueType, swizzle: Swizzle, comps: u8) -> u32 {
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

    pub(super) fn operand_scalar(
        &mut self,
        def: Def,
        comp: u8,
        class: Class,
    ) -> Result<u32, Error> {
        self.operand(def, Swizzle::splat(comp), 1, class)
    }

    /// Source `n` as the instruction wants it.
    pub(super) fn wanted_src(&mut self, instr: Instr, n: usize) -> Result<u32, Error> {
        let def = self.f.src(instr, n);
        let class = self.wanted_class(instr, n);
        self.operand(def, Swizzle::IDENTITY, self.f.comps(def), class)
    }

    pub(super) fn wanted_class(&self, instr: Instr, n: usize) -> Class {
        let def = self.f.src(instr, n);
        match want(self.f, self.w.module, instr, n) {
            Want::Result => self.class(instr.def()),
            want => self.wanted(want, def),
        }
    }

    /// The class of an operand that is not tied to the result.
    pub(super) fn wanted(&self, want: Want, def: Def) -> Class {
        match want {
            Want::Class(class) => class,
            Want::Int => self.int_class(def),
            Want::Result | Want::Any => self.class(def),
        }
    }

    /// The class of an integer operand: the value's own, if it is an integer.
    pub(super) fn int_class(&self, def: Def) -> Class {
        match self.class(def) {
            Class::Sint => Class::Sint,
            Class::Bool | Class::Float | Class::Uint => Class::Uint,
        }
    }
}

/// Whether an undef may be one in SPIR-V, where it may differ each time that an instruction reads it, while in the IR
/// it is one value: a single instruction reads it, once, as often as control comes by the undef. Of other instructions
/// than these the writer may make several, or none.
fn is_read_once(f: &Function, undef: Def) -> bool {
    let mut users = f.uses_at(undef);
    let (Some((User::Instr(user), n)), None) = (users.next(), users.next()) else { return false };
    let at = match f.view(user) {
        InstrView::Phi(preds) => preds.get(n).copied(),
        InstrView::Intrinsic(Intrinsic::STORE_DEREF, _) if n == 1 => f.block_of(user),
        InstrView::Alu(AluOp::VEC2 | AluOp::VEC3 | AluOp::VEC4) => f.block_of(user),
        _ => None,
    };
    let defined = f.block_of(undef.instr());
    at.zip(defined).is_some_and(|(at, defined)| f.innermost_loop(at) == f.innermost_loop(defined))
}

/// The swizzle with what lies above the components set to the identity.
pub(super) fn canonical(swizzle: Swizzle, comps: u8) -> Swizzle {
    (0..usize::from(comps)).fold(Swizzle::IDENTITY, |s, i| s.with(i, swizzle.get(i)))
}
