//! Texture operations: which instruction, and its image operands.

use super::code::Emit;
use super::infer::{Want, tex_want};
use super::types::Class;
use crate::error::Error;
use deburr_ir_core::{Def, Flags, Instr, Intrinsic, Swizzle, TexInfo, TexOp, TexSrc, TypeData};
use spirv::{ImageOperands, Op};

/// The operands of a texture instruction, by kind.
#[derive(Default)]
struct Operands {
    coord: Option<Def>,
    projector: Option<Def>,
    comparator: Option<u32>,
    lod: Option<u32>,
    /// Image operands with their ids, in the order of their bits.
    image: Vec<(ImageOperands, Vec<u32>)>,
}

impl Emit<'_, '_> {
    pub(super) fn tex(&mut self, instr: Instr) -> Result<(), Error> {
        let f = self.f;
        let Some(info) = f.tex(instr) else {
            return Err(Error::invalid("a texture operation without a description"));
        };
        if info.is_sparse {
            return Err(Error::unsupported("a sparse texture operation"));
        }
        let operands = self.tex_operands(instr, info)?;
        let image = self.tex_image(instr, info)?;
        let mut words = vec![image];
        match info.op {
            TexOp::Txs | TexOp::QueryLevels | TexOp::TextureSamples => {
                words.extend(operands.lod.filter(|_| info.op == TexOp::Txs));
            }
            TexOp::Lod => words.push(self.coordinates(instr, &operands)?),
            TexOp::Tex
            | TexOp::Txb
            | TexOp::Txl
            | TexOp::Txd
            | TexOp::Txf
            | TexOp::TxfMs
            | TexOp::Tg4 => {
                words.push(self.coordinates(instr, &operands)?);
                match operands.comparator {
                    Some(comparator) => words.push(comparator),
                    None if info.op == TexOp::Tg4 => {
                        words.push(self.w.u32_const(info.component.into()));
                    }
                    None => {}
                }
                self.image_operands(info, operands.image, &mut words);
            }
        }
        let name = instruction_name(info, operands.projector.is_some(), operands.lod.is_some());
        let op = self.w.instructions.core(&name);
        let op = op.ok_or_else(|| Error::unsupported(format!("SPIR-V has no `{name}`")))?;
        let type_id = self.w.value_type(self.type_of(instr.def()));
        let id = self.id_of(instr.def());
        words.splice(0..0, [type_id, id]);
        self.code.op(op, &words);
        if f.flags(instr).contains(Flags::RELAXED) {
            self.w.decorate(id, spirv::Decoration::RelaxedPrecision, &[]);
        }
        Ok(())
    }

    fn tex_operands(&mut self, instr: Instr, info: &TexInfo) -> Result<Operands, Error> {
        let mut operands = Operands::default();
        let mut grad = Vec::new();
        for (n, &kind) in info.srcs.iter().enumerate() {
            let def = self.f.src(instr, n);
            match kind {
                TexSrc::TextureDeref | TexSrc::SamplerDeref => {}
                TexSrc::Coord => operands.coord = Some(def),
                TexSrc::Projector => operands.projector = Some(def),
                TexSrc::Comparator => operands.comparator = Some(self.tex_src(instr, info, n)?),
                TexSrc::Lod => {
                    let id = self.tex_src(instr, info, n)?;
                    operands.lod = Some(id);
                    operands.image.push((ImageOperands::LOD, vec![id]));
                }
                TexSrc::Bias => {
                    let id = self.tex_src(instr, info, n)?;
                    operands.image.push((ImageOperands::BIAS, vec![id]));
                }
                TexSrc::Ddx | TexSrc::Ddy => grad.push(self.tex_src(instr, info, n)?),
                TexSrc::Offset => {
                    let is_constant = self.f.constant(def).is_some()
                        || self.f.intrinsic(def.instr()) == Some(Intrinsic::LOAD_SPEC_CONSTANT);
                    let bit = match is_constant {
                        true => ImageOperands::CONST_OFFSET,
                        false => ImageOperands::OFFSET,
                    };
                    let id = self.operand(
                        def,
                        Swizzle::IDENTITY,
                        self.f.comps(def),
                        match self.f.constant(def) {
                            Some(_) => Class::Sint,
                            None => self.wanted(Want::Int, def),
                        },
                    )?;
                    operands.image.push((bit, vec![id]));
                }
                TexSrc::MsIndex => {
                    let id = self.tex_src(instr, info, n)?;
                    operands.image.push((ImageOperands::SAMPLE, vec![id]));
                }
                TexSrc::MinLod => {
                    let id = self.tex_src(instr, info, n)?;
                    operands.image.push((ImageOperands::MIN_LOD, vec![id]));
                }
                TexSrc::TextureOffset | TexSrc::SamplerOffset | TexSrc::Offsets => {
                    return Err(Error::unsupported("a texture operand of this kind"));
                }
            }
        }
        if !grad.is_empty() {
            operands.image.push((ImageOperands::GRAD, grad));
        }
        operands.image.sort_by_key(|(bit, _)| bit.bits());
        Ok(operands)
    }

    fn tex_src(&mut self, instr: Instr, info: &TexInfo, n: usize) -> Result<u32, Error> {
        let def = self.f.src(instr, n);
        let class = self.wanted(tex_want(info, n), def);
        self.operand(def, Swizzle::IDENTITY, self.f.comps(def), class)
    }

    /// Coordinates, with the projector behind them.
    fn coordinates(&mut self, instr: Instr, operands: &Operands) -> Result<u32, Error> {
        let f = self.f;
        let info = f.tex(instr);
        let coord = operands.coord.zip(info);
        let (coord, info) =
            coord.ok_or_else(|| Error::invalid("a texture operation without coordinates"))?;
        let n = info.srcs.iter().position(|s| *s == TexSrc::Coord).unwrap_or(0);
        let id = self.tex_src(instr, info, n)?;
        let Some(projector) = operands.projector else { return Ok(id) };
        let mut ty = self.type_of(coord);
        ty.class = Class::Float;
        ty.comps += 1;
        let projector = self.operand(projector, Swizzle::IDENTITY, 1, Class::Float)?;
        let type_id = self.w.value_type(ty);
        let joined = self.w.id();
        self.code.op(Op::CompositeConstruct, &[type_id, joined, id, projector]);
        Ok(joined)
    }

    fn image_operands(
        &mut self,
        info: &TexInfo,
        operands: Vec<(ImageOperands, Vec<u32>)>,
        words: &mut Vec<u32>,
    ) {
        let mut mask = operands.iter().fold(ImageOperands::NONE, |m, (bit, _)| m | *bit);
        // Texels that are not written need not be made visible.
        let visible = ImageOperands::MAKE_TEXEL_AVAILABLE | ImageOperands::MAKE_TEXEL_VISIBLE;
        mask |= self.texel_access(info.access) - visible;
        if !mask.is_empty() {
            words.push(mask.bits());
            words.extend(operands.into_iter().flat_map(|(_, ids)| ids));
        }
    }

    /// The image that the operation takes: sampled where it filters, else plain.
    fn tex_image(&mut self, instr: Instr, info: &TexInfo) -> Result<u32, Error> {
        let f = self.f;
        let source =
            |kind: TexSrc| info.srcs.iter().position(|s| *s == kind).map(|n| f.src(instr, n));
        let Some(texture) = source(TexSrc::TextureDeref) else {
            return Err(Error::unsupported("a texture that is no deref"));
        };
        let handle = self.handle(texture)?;
        let ty = f.deref(texture.instr()).map(|d| d.ty);
        let ty = ty.ok_or_else(|| Error::invalid("a texture that is no deref"))?;
        let samples = !matches!(
            info.op,
            TexOp::Txf | TexOp::TxfMs | TexOp::Txs | TexOp::QueryLevels | TexOp::TextureSamples
        );
        if let TypeData::SampledImage { image } = self.w.module.types[ty] {
            if samples {
                return Ok(handle);
            }
            let type_id = self.w.ir_type(image)?;
            let id = self.w.id();
            self.code.op(Op::Image, &[type_id, id, handle]);
            self.decorate_non_uniform(id, texture);
            return Ok(id);
        }
        if !samples {
            return Ok(handle);
        }
        let Some(sampler) = source(TexSrc::SamplerDeref) else {
            return Err(Error::invalid("a sample without a sampler"));
        };
        let sampler_handle = self.handle(sampler)?;
        let image_type = self.w.ir_type(ty)?;
        let type_id = self.w.sampled_image_type(image_type);
        let id = self.w.id();
        self.code.op(Op::SampledImage, &[type_id, id, handle, sampler_handle]);
        let varies = [texture, sampler].into_iter().find(|d| self.is_non_uniform(*d));
        self.decorate_non_uniform(id, varies.unwrap_or(texture));
        Ok(id)
    }
}

fn instruction_name(info: &TexInfo, projects: bool, has_lod: bool) -> String {
    let shadow = if info.is_shadow { "Dref" } else { "" };
    let projects = if projects { "Proj" } else { "" };
    match info.op {
        TexOp::Tex | TexOp::Txb => format!("ImageSample{projects}{shadow}ImplicitLod"),
        TexOp::Txl | TexOp::Txd => format!("ImageSample{projects}{shadow}ExplicitLod"),
        TexOp::Txf | TexOp::TxfMs => "ImageFetch".into(),
        TexOp::Tg4 => format!("Image{shadow}Gather"),
        TexOp::Txs if has_lod => "ImageQuerySizeLod".into(),
        TexOp::Txs => "ImageQuerySize".into(),
        TexOp::QueryLevels => "ImageQueryLevels".into(),
        TexOp::TextureSamples => "ImageQuerySamples".into(),
        TexOp::Lod => "ImageQueryLod".into(),
    }
}
