//! Storage images: reads, writes, pointers to texels.

use super::code::Emit;
use super::types::Class;
use crate::error::Error;
use deburr_ir_core::{
    Def, ImageType, Index, Instr, InstrView, Intrinsic, Swizzle, TypeData, index::access,
};
use spirv::{ImageOperands, Op};

impl Emit<'_, '_> {
    /// A read or write of a texel of a storage image.
    pub(super) fn image_access(&mut self, instr: Instr, op: Intrinsic) -> Result<(), Error> {
        let f = self.f;
        let image = f.src(instr, 0);
        let handle = self.handle(image)?;
        let coord = self.wanted_src(instr, 1)?;
        let sample = self.sample_operand(image, f.src(instr, 2))?;
        if op == Intrinsic::IMAGE_DEREF_STORE {
            let texel = self.wanted_src(instr, 3)?;
            let level = self.level_operand(f.src(instr, 4))?;
            let mut words = vec![handle, coord, texel];
            self.storage_operands(instr, sample, level, &mut words);
            self.code.op(Op::ImageWrite, &words);
            return Ok(());
        }
        let level = self.level_operand(f.src(instr, 3))?;
        let type_id = self.w.value_type(self.type_of(instr.def()));
        let mut words = vec![type_id, self.id_of(instr.def()), handle, coord];
        self.storage_operands(instr, sample, level, &mut words);
        self.code.op(Op::ImageRead, &words);
        Ok(())
    }

    /// The sample, of images that have several.
    fn sample_operand(&mut self, image: Def, sample: Def) -> Result<Option<u32>, Error> {
        match self.storage_image(image)?.multisampled {
            true => self.operand(sample, Swizzle::splat(0), 1, Class::Uint).map(Some),
            false => Ok(None),
        }
    }

    /// The level, where it is not the first.
    fn level_operand(&mut self, level: Def) -> Result<Option<u32>, Error> {
        let none = match self.f.view(level.instr()) {
            InstrView::LoadConst(level) => level == [0],
            InstrView::Undef => true,
            _ => false,
        };
        match none {
            true => Ok(None),
            false => self.operand(level, Swizzle::splat(0), 1, Class::Uint).map(Some),
        }
    }

    /// Image operands of an access to a storage image, in the order of their bits.
    fn storage_operands(
        &mut self,
        instr: Instr,
        sample: Option<u32>,
        level: Option<u32>,
        words: &mut Vec<u32>,
    ) {
        let index = |index: Index| self.f.index(instr, index).unwrap_or(0);
        let (flags, scope) = (index(Index::ACCESS), index(Index::MEMORY_SCOPE));
        let mut mask = self.texel_access(flags);
        mask.set(ImageOperands::LOD, level.is_some());
        mask.set(ImageOperands::SAMPLE, sample.is_some());
        if mask.is_empty() {
            return;
        }
        words.push(mask.bits());
        words.extend(level.into_iter().chain(sample));
        for bit in [ImageOperands::MAKE_TEXEL_AVAILABLE, ImageOperands::MAKE_TEXEL_VISIBLE] {
            if mask.contains(bit) {
                words.push(self.scope(scope));
            }
        }
    }

    /// The bits of the index `access` that an instruction says itself. Before the Vulkan memory model variables alone
    /// say whether they are volatile.
    pub(super) fn texel_access(&self, flags: u32) -> ImageOperands {
        let mut mask = ImageOperands::NONE;
        mask.set(ImageOperands::SIGN_EXTEND, flags & access::SIGN_EXTEND != 0);
        mask.set(ImageOperands::ZERO_EXTEND, flags & access::ZERO_EXTEND != 0);
        mask.set(ImageOperands::NONTEMPORAL, flags & access::NON_TEMPORAL != 0);
        if self.w.has_capability("VulkanMemoryModel") {
            mask.set(ImageOperands::NON_PRIVATE_TEXEL, flags & access::NON_PRIVATE != 0);
            mask.set(ImageOperands::VOLATILE_TEXEL, flags & access::VOLATILE != 0);
            mask.set(ImageOperands::MAKE_TEXEL_AVAILABLE, flags & access::AVAILABLE != 0);
            mask.set(ImageOperands::MAKE_TEXEL_VISIBLE, flags & access::VISIBLE != 0);
        }
        mask
    }

    /// The pointer that atomics on a texel go through.
    pub(super) fn texel_pointer(&mut self, instr: Instr) -> Result<u32, Error> {
        let f = self.f;
        let image = f.src(instr, 0);
        let texel = self.storage_image(image)?.sampled_type;
        let texel = self.w.ir_type(texel)?;
        let pointer_type = self.w.pointer_type(spirv::StorageClass::Image, texel);
        let pointer = self.pointer(image)?;
        let coord = self.wanted_src(instr, 1)?;
        let sample = self.operand(f.src(instr, 2), Swizzle::splat(0), 1, Class::Uint)?;
        let id = self.w.id();
        self.code.op(Op::ImageTexelPointer, &[pointer_type, id, pointer, coord, sample]);
        self.decorate_non_uniform(id, image);
        Ok(id)
    }

    fn storage_image(&self, image: Def) -> Result<&ImageType, Error> {
        let ty = self.f.deref(image.instr()).map(|d| d.ty);
        match ty.map(|ty| &self.w.module.types[ty]) {
            Some(TypeData::Image(image)) => Ok(image),
            _ => Err(Error::invalid("an image operation on no image")),
        }
    }
}
