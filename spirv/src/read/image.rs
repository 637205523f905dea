//! Images: reads, writes, queries, texel pointers, and samples.

use super::function::FnReader;
use super::intrinsics::set_index;
use super::tables::index_value;
use super::value::{Val, Value};
use super::words::Inst;
use crate::error::Error;
use deburr_ir_core::{
    Def, ImageType, Index, Intrinsic, Shape, TexInfo, TexOp, TexSrc, Type, TypeData,
};
use rspirv::spirv;
use smallvec::SmallVec;
use spirv::{ImageOperands as I, Op};

/// The operands that an image operand mask names.
#[derive(Clone, Debug, Default)]
struct Operands {
    access: u32,
    scope: u32,
    /// Value operands in order.
    srcs: Vec<(I, u32)>,
}

/// How a sampling instruction is read: the operation, with a depth comparison, with a projector.
type Sample = (Op, TexOp, bool, bool);

const SAMPLES: [Sample; 11] = [
    (Op::ImageSampleImplicitLod, TexOp::Tex, false, false),
    (Op::ImageSampleExplicitLod, TexOp::Txl, false, false),
    (Op::ImageSampleDrefImplicitLod, TexOp::Tex, true, false),
    (Op::ImageSampleDrefExplicitLod, TexOp::Txl, true, false),
    (Op::ImageSampleProjImplicitLod, TexOp::Tex, false, true),
    (Op::ImageSampleProjExplicitLod, TexOp::Txl, false, true),
    (Op::ImageSampleProjDrefImplicitLod, TexOp::Tex, true, true),
    (Op::ImageSampleProjDrefExplicitLod, TexOp::Txl, true, true),
    (Op::ImageFetch, TexOp::Txf, false, false),
    (Op::ImageGather, TexOp::Tg4, false, false),
    (Op::ImageDrefGather, TexOp::Tg4, true, false),
];

impl FnReader<'_, '_> {
    /// An instruction on images; `false` if it is none of them.
    pub fn image(&mut self, inst: &Inst<'_>) -> Result<bool, Error> {
        match inst.op {
            Op::SampledImage => self.sampled_image(inst)?,
            Op::Image => {
                let value = self.get(inst.arg(0)?)?;
                let ty = self.r.type_of(inst.ty)?;
                let (Val::Handle(def) | Val::SampledImage(def, _)) = value.kind else {
                    return Err(Error::invalid("the operand is no sampled image"));
                };
                self.set(inst.id, Value { ty, kind: Val::Handle(def), access: value.access })?;
            }
            Op::ImageTexelPointer => self.texel_pointer(inst)?,
            Op::ImageRead => self.image_read(inst)?,
            Op::ImageWrite => self.image_write(inst)?,
            Op::ImageQuerySize | Op::ImageQuerySizeLod => self.image_size(inst)?,
            Op::ImageQueryLevels => self.image_query(inst, TexOp::QueryLevels)?,
            Op::ImageQuerySamples => self.image_query(inst, TexOp::TextureSamples)?,
            Op::ImageQueryLod => self.image_query(inst, TexOp::Lod)?,
            _ => match SAMPLES.iter().find(|s| s.0 == inst.op) {
                Some(&sample) => self.sample(inst, sample)?,
                None => return Ok(false),
            },
        }
        Ok(true)
    }

    fn sampled_image(&mut self, inst: &Inst<'_>) -> Result<(), Error> {
        let ty = self.r.type_of(inst.ty)?;
        let (image, _, access) = self.handle(inst.arg(0)?)?;
        let (sampler, _, more) = self.handle(inst.arg(1)?)?;
        let kind = Val::SampledImage(image, sampler);
        self.set(inst.id, Value { ty, kind, access: access | more })
    }

    fn texel_pointer(&mut self, inst: &Inst<'_>) -> Result<(), Error> {
        let ty = self.r.type_of(inst.ty)?;
        let (image, image_ty, access) = self.pointer(inst.arg(0)?)?;
        if self.image_type(image_ty).is_none() {
            return Err(Error::invalid("the pointer is to no image"));
        }
        let (coord, sample) = (self.def(inst.arg(1)?)?, self.scalar(inst.arg(2)?, 32)?);
        self.texels.push([image, coord, sample]);
        let kind = Val::Texel(self.texels.len() as u32 - 1);
        self.set(inst.id, Value { ty, kind, access })
    }

    /// The image operands at argument `n`.
    fn image_operands(&self, inst: &Inst<'_>, n: usize) -> Result<Operands, Error> {
        let mut operands = Operands::default();
        let Some(&mask) = inst.args.get(n) else { return Ok(operands) };
        let mask = I::from_bits(mask)
            .ok_or_else(|| Error::unsupported(format!("image operands {mask:#x}")))?;
        let names = [
            (I::NON_PRIVATE_TEXEL, "non_private"),
            (I::VOLATILE_TEXEL, "volatile"),
            (I::SIGN_EXTEND, "sign_extend"),
            (I::ZERO_EXTEND, "zero_extend"),
            (I::NONTEMPORAL, "non_temporal"),
            (I::MAKE_TEXEL_AVAILABLE, "available"),
            (I::MAKE_TEXEL_VISIBLE, "visible"),
        ];
        for (bit, name) in names {
            if mask.contains(bit) {
                operands.access |= index_value(Index::ACCESS, name);
            }
        }
        let mut next = n + 1;
        // In the order of their bits.
        for bit in mask.iter() {
            let count = match bit {
                I::GRAD => 2,
                I::NON_PRIVATE_TEXEL
                | I::VOLATILE_TEXEL
                | I::SIGN_EXTEND
                | I::ZERO_EXTEND
                | I::NONTEMPORAL => 0,
                _ => 1,
            };
            for _ in 0..count {
                let id = inst.arg(next)?;
                next += 1;
                if bit == I::MAKE_TEXEL_AVAILABLE || bit == I::MAKE_TEXEL_VISIBLE {
                    operands.scope = self.scope(id)?;
                } else {
                    operands.srcs.push((bit, id));
                }
            }
        }
        Ok(operands)
    }

    /// The indices of an image intrinsic, in its order.
    fn indices_of(
        &self,
        op: Intrinsic,
        image: Type,
        access: u32,
        scope: u32,
        texel: Option<Type>,
    ) -> Vec<u32> {
        let Some(info) = Intrinsic::builtin(op) else { return Vec::new() };
        let mut indices = vec![0; info.indices.len()];
        self.image_indices(info, &mut indices, image);
        set_index(info, &mut indices, Index::ACCESS, access);
        set_index(info, &mut indices, Index::MEMORY_SCOPE, scope);
        if let Some(ty) = texel {
            set_index(info, &mut indices, Index::DEST_TYPE, self.value_type(ty));
            set_index(info, &mut indices, Index::SRC_TYPE, self.value_type(ty));
        }
        indices
    }

    /// Sample and level among image operands: undef and 0 where there is none.
    fn sample_and_level(&mut self, operands: &Operands) -> Result<[Def; 2], Error> {
        let mut sample = None;
        let mut level = None;
        for &(kind, id) in &operands.srcs {
            match kind {
                I::SAMPLE => sample = Some(self.scalar(id, 32)?),
                I::LOD => level = Some(self.scalar(id, 32)?),
                other => {
                    let message = format!("the image operand {other:?} here");
                    return Err(Error::unsupported(message));
                }
            }
        }
        let level = level.unwrap_or_else(|| self.constant_u32(0));
        let sample = sample.unwrap_or_else(|| self.at_start(|b| b.undef(1, 32)));
        Ok([sample, level])
    }

    fn image_read(&mut self, inst: &Inst<'_>) -> Result<(), Error> {
        let ty = self.r.type_of(inst.ty)?;
        let (image, image_ty, access) = self.handle(inst.arg(0)?)?;
        let coord = self.def(inst.arg(1)?)?;
        let operands = self.image_operands(inst, 2)?;
        let [sample, level] = self.sample_and_level(&operands)?;
        let op = Intrinsic::IMAGE_DEREF_LOAD;
        let access = access | operands.access;
        let indices = self.indices_of(op, image_ty, access, operands.scope, Some(ty));
        let shape = self.r.m.types.value_shape(ty).and_then(|(c, b)| Shape::new(c, b));
        let shape = shape.ok_or_else(|| Error::invalid("a texel is a scalar or vector"))?;
        let def = self.b().intrinsic(op, shape, &[image, coord, sample, level], &indices).def();
        self.set_def(inst.id, ty, def)
    }

    fn image_write(&mut self, inst: &Inst<'_>) -> Result<(), Error> {
        let (image, image_ty, access) = self.handle(inst.arg(0)?)?;
        let coord = self.def(inst.arg(1)?)?;
        let texel = self.get(inst.arg(2)?)?;
        let Val::Def(value) = texel.kind else {
            return Err(Error::invalid("a texel is a scalar or vector"));
        };
        let operands = self.image_operands(inst, 3)?;
        let [sample, level] = self.sample_and_level(&operands)?;
        let op = Intrinsic::IMAGE_DEREF_STORE;
        let access = access | operands.access;
        let indices = self.indices_of(op, image_ty, access, operands.scope, Some(texel.ty));
        let srcs = [image, coord, sample, value, level];
        self.b().intrinsic(op, Shape::NONE, &srcs, &indices);
        Ok(())
    }

    fn image_size(&mut self, inst: &Inst<'_>) -> Result<(), Error> {
        let (_, image_ty, access) = self.handle(inst.arg(0)?)?;
        let image = self.image_type(image_ty);
        let image = image.ok_or_else(|| Error::invalid("the operand is no image"))?;
        if image.sampled != 2 {
            return self.image_query(inst, TexOp::Txs);
        }
        let ty = self.r.type_of(inst.ty)?;
        let (deref, ..) = self.handle(inst.arg(0)?)?;
        let level = match inst.args.get(1) {
            Some(&id) => self.scalar(id, 32)?,
            None => self.constant_u32(0),
        };
        let op = Intrinsic::IMAGE_DEREF_SIZE;
        let indices = self.indices_of(op, image_ty, access, 0, None);
        let shape = self.r.m.types.value_shape(ty).and_then(|(c, b)| Shape::new(c, b));
        let shape = shape.ok_or_else(|| Error::invalid("a size is a scalar or vector"))?;
        let def = self.b().intrinsic(op, shape, &[deref, level], &indices).def();
        self.set_def(inst.id, ty, def)
    }

    // ---- textures -----------------------------------------------------------------------------------

    /// Texture and sampler of an operand.
    fn texture(&mut self, id: u32) -> Result<(Vec<(TexSrc, Def)>, ImageType, u32), Error> {
        let value = self.get(id)?;
        let srcs = match value.kind {
            Val::Handle(def) => vec![(TexSrc::TextureDeref, def)],
            Val::SampledImage(image, sampler) => {
                vec![(TexSrc::TextureDeref, image), (TexSrc::SamplerDeref, sampler)]
            }
            _ => return Err(Error::invalid(format!("%{id} is no image"))),
        };
        let image = self.image_type(value.ty);
        let image = image.ok_or_else(|| Error::invalid(format!("%{id} is no image")))?;
        Ok((srcs, image, value.access))
    }

    fn tex_info(&self, op: TexOp, image: &ImageType, srcs: &[(TexSrc, Def)]) -> TexInfo {
        let kinds: SmallVec<[TexSrc; 4]> = srcs.iter().map(|(kind, _)| *kind).collect();
        TexInfo {
            op,
            srcs: kinds,
            dim: image.dim,
            is_array: image.arrayed,
            is_shadow: false,
            is_sparse: false,
            dest_type: 0,
            component: 0,
            texture_index: 0,
            sampler_index: 0,
            access: 0,
        }
    }

    fn image_query(&mut self, inst: &Inst<'_>, op: TexOp) -> Result<(), Error> {
        let (mut srcs, image, access) = self.texture(inst.arg(0)?)?;
        if let Some(&id) = inst.args.get(1) {
            let kind = if op == TexOp::Lod { TexSrc::Coord } else { TexSrc::Lod };
            srcs.push((kind, self.def(id)?));
        }
        let mut info = self.tex_info(op, &image, &srcs);
        info.access = access;
        if op != TexOp::Lod {
            info.dest_type = 1;
        }
        self.finish_tex(inst, info, &srcs)
    }

    fn finish_tex(
        &mut self,
        inst: &Inst<'_>,
        info: TexInfo,
        srcs: &[(TexSrc, Def)],
    ) -> Result<(), Error> {
        let ty = self.r.type_of(inst.ty)?;
        let shape = self.r.m.types.value_shape(ty).and_then(|(c, b)| Shape::new(c, b));
        let shape = shape.ok_or_else(|| Error::invalid("the result is no scalar or vector"))?;
        let defs: Vec<Def> = srcs.iter().map(|(_, def)| *def).collect();
        let def = self.b().tex(info, shape, &defs);
        if self.alu_flags(inst.id).relaxed {
            self.f.set_flags(def.instr(), deburr_ir_core::Flags::RELAXED);
        }
        self.set_def(inst.id, ty, def)
    }

    fn sample(&mut self, inst: &Inst<'_>, sample: Sample) -> Result<(), Error> {
        let (_, mut op, is_shadow, projects) = sample;
        let (mut srcs, image, access) = self.texture(inst.arg(0)?)?;
        let coord = self.def(inst.arg(1)?)?;
        let mut next = 2;
        self.coordinates(coord, projects, &mut srcs)?;
        let mut component = 0;
        if is_shadow {
            srcs.push((TexSrc::Comparator, self.def(inst.arg(2)?)?));
            next = 3;
        } else if op == TexOp::Tg4 {
            let n = self.r.const_u64(inst.arg(2)?).filter(|n| *n < 4);
            let n = n.ok_or_else(|| Error::unsupported("a gather of no constant component"))?;
            component = n as u8;
            next = 3;
        }
        let operands = self.image_operands(inst, next)?;
        let mut grads = 0;
        for &(kind, id) in &operands.srcs {
            let kind = match kind {
                I::BIAS => {
                    op = TexOp::Txb;
                    TexSrc::Bias
                }
                I::LOD => TexSrc::Lod,
                I::GRAD => {
                    op = TexOp::Txd;
                    grads += 1;
                    if grads == 1 { TexSrc::Ddx } else { TexSrc::Ddy }
                }
                I::CONST_OFFSET | I::OFFSET => TexSrc::Offset,
                I::SAMPLE => {
                    op = TexOp::TxfMs;
                    TexSrc::MsIndex
                }
                I::MIN_LOD => TexSrc::MinLod,
                other => {
                    let message = format!("the image operand {other:?} here");
                    return Err(Error::unsupported(message));
                }
            };
            srcs.push((kind, self.def(id)?));
        }
        let mut info = self.tex_info(op, &image, &srcs);
        info.is_shadow = is_shadow;
        info.component = component;
        info.access = access | operands.access;
        info.dest_type = match self.r.m.types[image.sampled_type] {
            TypeData::Int { signed: true, .. } => 1,
            TypeData::Int { signed: false, .. } => 2,
            _ => 0,
        };
        self.finish_tex(inst, info, &srcs)
    }

    /// Coordinates, and the last of them apart as the projector where there is one.
    fn coordinates(
        &mut self,
        coord: Def,
        projects: bool,
        srcs: &mut Vec<(TexSrc, Def)>,
    ) -> Result<(), Error> {
        if !projects {
            srcs.push((TexSrc::Coord, coord));
            return Ok(());
        }
        let last = self.f.comps(coord) - 1;
        if last == 0 {
            return Err(Error::invalid("coordinates without a projector"));
        }
        let picks: Vec<(Def, u8)> = (0..last).map(|c| (coord, c)).collect();
        let rest = self.gather(&picks)?;
        srcs.push((TexSrc::Coord, rest));
        srcs.push((TexSrc::Projector, self.b().channel(coord, last)));
        Ok(())
    }
}
