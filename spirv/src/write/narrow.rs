//! 8- and 16-bit values of modules that store them, and do nothing else with them.
//!
//! The capabilities of the storage extensions let a shader load and store narrow values and convert them at the same
//! signedness. Constants, components and casts of them are made at 32 bits and converted.

use super::code::Emit;
use super::operand::canonical;
use super::types::{Class, ValueType};
use crate::error::Error;
use deburr_ir_core::{
    Def, Instr, InstrView, Module, Rounding, SpirvForm, Swizzle, Type, TypeData, fold::float,
};
use spirv::Op;

/// Whether the module may do no more with values of the class and size than load, store and convert them.
pub(super) fn is_storage_only(module: &Module, class: Class, bits: u8) -> bool {
    let capability = match (class, bits) {
        (Class::Float, 16) => "Float16",
        (Class::Uint | Class::Sint, 16) => "Int16",
        (Class::Uint | Class::Sint, 8) => "Int8",
        _ => return false,
    };
    !module.spirv.has_capability(capability)
}

/// Whether the type is, or has a vector of, such values.
pub(super) fn is_storage_only_type(module: &Module, ty: Type) -> bool {
    match module.types[ty] {
        TypeData::Float { bits } => is_storage_only(module, Class::Float, bits),
        TypeData::Int { bits, .. } => is_storage_only(module, Class::Uint, bits),
        TypeData::Vector { elem, .. } => is_storage_only_type(module, elem),
        _ => false,
    }
}

impl Emit<'_, '_> {
    pub(super) fn is_storage_only(&self, ty: ValueType) -> bool {
        is_storage_only(self.w.module, ty.class, ty.bits)
    }

    /// Components of a narrow value as an operand of the class.
    pub(super) fn narrow_operand(
        &mut self,
        def: Def,
        swizzle: Swizzle,
        ty: ValueType,
    ) -> Result<u32, Error> {
        let f = self.f;
        let whole = ty.comps == f.comps(def) && swizzle.is_identity(ty.comps);
        let variant = (def, canonical(swizzle, ty.comps), ty.comps, ty.class);
        if let Some(id) = self.known(&variant) {
            return Ok(id);
        }
        let wide = match f.view(def.instr()) {
            InstrView::LoadConst(value) => {
                let picked = swizzle.iter(ty.comps).map(|c| widened(ty, value[usize::from(c)]));
                let picked: Vec<u64> = picked.collect();
                self.w.constant(ValueType { bits: 32, ..ty }, &picked)
            }
            InstrView::Undef => {
                let type_id = self.w.value_type(ValueType { bits: 32, ..ty });
                // Unlike one for each use, zero is the same for all.
                self.w.null(type_id)
            }
            _ if whole && ty.class == self.class(def) => return self.own_id(def),
            _ => {
                let own = self.type_of(def);
                if own.class != ty.class && (own.class == Class::Float || ty.class == Class::Float)
                {
                    return Err(Error::unsupported(format!(
                        "the bits of a float of {} bits as an integer, which the module has no capability for",
                        own.bits
                    )));
                }
                let from = self.own_id(def)?;
                let wide = self.widen(from, own);
                match whole {
                    true => wide,
                    false => self.take(wide, ValueType { bits: 32, ..own }, swizzle, ty.comps),
                }
            }
        };
        let id = self.w.id();
        self.narrow(wide, ty, id);
        Ok(self.remember(variant, id))
    }

    /// A vector of narrow components.
    pub(super) fn narrow_vec(&mut self, instr: Instr, ty: ValueType) -> Result<(), Error> {
        let wide = ValueType { bits: 32, ..ty };
        let mut words = vec![self.w.value_type(wide), self.w.id()];
        for src in self.f.srcs(instr) {
            let part = self.operand_scalar(src.def(), src.swizzle().get(0), ty.class)?;
            words.push(self.widen(part, ValueType { comps: 1, ..ty }));
        }
        self.code.op(Op::CompositeConstruct, &words);
        let id = self.id_of(instr.def());
        self.narrow(words[1], ty, id);
        Ok(())
    }

    /// A narrow value at 32 bits.
    fn widen(&mut self, id: u32, ty: ValueType) -> u32 {
        let type_id = self.w.value_type(ValueType { bits: 32, ..ty });
        let wide = self.w.id();
        self.code.op(conversion(ty.class), &[type_id, wide, id]);
        wide
    }

    /// A value of 32 bits as one of a narrow type.
    fn narrow(&mut self, wide: u32, ty: ValueType, id: u32) {
        let type_id = self.w.value_type(ty);
        self.code.op(conversion(ty.class), &[type_id, id, wide]);
    }

    /// Refuses arithmetic that the module has no capability for.
    pub(super) fn check_narrow(
        &self,
        instr: Instr,
        form: &SpirvForm,
        ty: ValueType,
    ) -> Result<(), Error> {
        let converts = matches!(form.name, "FConvert" | "UConvert" | "SConvert");
        if converts || !self.is_storage_only(ty) {
            return Ok(());
        }
        let name = self.f.alu_info(instr).map_or("?", |info| info.name);
        let message =
            format!("`{name}` at {} bits, which the module has no capability for", ty.bits);
        Err(Error::unsupported(message))
    }
}

fn conversion(class: Class) -> Op {
    match class {
        Class::Float => Op::FConvert,
        Class::Sint => Op::SConvert,
        Class::Uint | Class::Bool => Op::UConvert,
    }
}

/// The value of 32 bits that converts to a narrow one.
fn widened(ty: ValueType, bits: u64) -> u64 {
    match (ty.class, ty.bits) {
        (Class::Float, _) => float::convert(ty.bits.into(), 32, bits, Rounding::Rte),
        (Class::Sint, 8) => u64::from(bits as u8 as i8 as u32),
        (Class::Sint, 16) => u64::from(bits as u16 as i16 as u32),
        _ => bits,
    }
}
