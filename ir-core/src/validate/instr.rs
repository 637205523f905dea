//! Instructions one by one.

use super::{FunctionCheck, Place, Rule};
use crate::entity::{Block, Def, Func, Instr};
use crate::instr::{
    DerefInfo, DerefKind, Flags, InstrKind, InstrView, JumpKind, Shape, TexInfo, TexOp, TexSrc,
};
use crate::intrinsic::{Index, IndexKind, Intrinsic, IntrinsicInfo};
use crate::module::Form;
use crate::op::{AluInfo, AluOp};
use crate::types::Dim;
use rustc_hash::FxHashSet;

impl FunctionCheck<'_> {
    pub(super) fn instrs(&mut self) {
        let f = self.f;
        let blocks: Vec<Block> = f.blocks().collect();
        for block in blocks {
            self.block_order(block);
            for instr in f.instrs(block) {
                if self.sources_exist(instr) {
                    self.dominance(block, instr);
                    self.instr(instr);
                }
            }
            self.condition(block);
        }
    }

    /// Whether the sources are values, so that they can be asked for shapes.
    fn sources_exist(&self, instr: Instr) -> bool {
        self.f.srcs(instr).iter().all(|s| self.exists(s.def))
    }

    fn exists(&self, def: Def) -> bool {
        def.index() < self.f.instr_capacity() && self.position[def.index()] != u32::MAX
    }

    fn condition(&mut self, block: Block) {
        let f = self.f;
        let node = f.block_node(block).and_then(|node| f.next_node(node));
        let Some(condition) = node.and_then(|node| f.condition(node)) else { return };
        if !self.exists(condition) {
            return; // said elsewhere
        }
        if (f.comps(condition), f.bits(condition)) != (1, 1) {
            let message = format!("the condition has the shape {:?}", f.shape(condition));
            self.error(Rule::Condition, Place::Block(block), message);
        }
        let reached = self.dominance.as_ref().is_some_and(|d| d.is_reachable(block));
        if reached && !self.available(condition, block, u32::MAX) {
            let message = format!("the condition {condition:?} is not defined on every path");
            self.error(Rule::Dominance, Place::Block(block), message);
        }
    }

    /// Whether a value is defined before position `at` in a block, on every path.
    fn available(&self, def: Def, block: Block, at: u32) -> bool {
        let Some(home) = self.f.block_of(def.instr()) else { return false };
        match home == block {
            true => self.position[def.index()] < at,
            false => self.dominance.as_ref().is_some_and(|d| d.dominates(home, block)),
        }
    }

    fn dominance(&mut self, block: Block, instr: Instr) {
        let f = self.f;
        if !self.dominance.as_ref().is_some_and(|d| d.is_reachable(block)) {
            return; // said elsewhere
        }
        let at = self.position[instr.index()];
        for (n, src) in f.srcs(instr).iter().enumerate() {
            let ok = match f.view(instr) {
                InstrView::Phi(preds) => self.available(src.def, preds[n], u32::MAX),
                _ => self.available(src.def, block, at),
            };
            if !ok {
                let message = format!("source {n} is not defined before it on every path");
                self.error(Rule::Dominance, Place::Instr(instr), message);
            }
        }
    }

    fn arity(&mut self, instr: Instr, want: usize) -> bool {
        let have = self.f.srcs(instr).len();
        if have != want {
            let message = format!("it has {have} sources, not {want}");
            self.error(Rule::Arity, Place::Instr(instr), message);
        }
        have == want
    }

    fn instr(&mut self, instr: Instr) {
        let f = self.f;
        let place = Place::Instr(instr);
        let shape = f.def(instr).map_or(Shape::NONE, |d| f.shape(d));
        let value = match f.kind(instr) {
            InstrKind::Alu
            | InstrKind::Tex
            | InstrKind::Deref
            | InstrKind::LoadConst
            | InstrKind::Undef
            | InstrKind::Phi => Some(true),
            InstrKind::Jump | InstrKind::ParallelCopy => Some(false),
            InstrKind::Intrinsic | InstrKind::Call => None, // it depends
        };
        if value.is_some_and(|value| value != (shape != Shape::NONE)) {
            let message = if value == Some(true) { "it has no value" } else { "it has a value" };
            return self.error(Rule::Value, place, message);
        }
        match f.view(instr) {
            InstrView::Alu(op) => self.alu(instr, op),
            InstrView::Intrinsic(op, indices) => self.intrinsic(instr, op, indices),
            InstrView::Tex(tex) => self.tex(instr, tex),
            InstrView::Deref(deref) => self.deref(instr, deref),
            InstrView::LoadConst(bits) => {
                let size = u32::from(shape.bits());
                if size < 64 && bits.iter().any(|b| b >> size != 0) {
                    self.error(Rule::ConstantBits, place, "a component is too large");
                }
                self.arity(instr, 0);
            }
            InstrView::Undef => {
                self.arity(instr, 0);
            }
            InstrView::Phi(preds) => self.phi(instr, preds),
            InstrView::Jump(jump) => self.jump_value(instr, jump),
            InstrView::Call(func) => self.call(instr, func),
            InstrView::ParallelCopy => {
                let sources = f.srcs(instr).len();
                if !sources.is_multiple_of(2) {
                    self.arity(instr, sources + 1);
                }
                if self.module.form != Form::Backend {
                    self.error(Rule::Form, place, "only the backend form has parallel copies");
                }
            }
        }
        if f.kind(instr) != InstrKind::Alu {
            let allowed = match f.kind(instr) {
                InstrKind::Phi | InstrKind::Intrinsic | InstrKind::Tex | InstrKind::Call => {
                    Flags::LICENCES
                }
                InstrKind::Alu
                | InstrKind::Deref
                | InstrKind::LoadConst
                | InstrKind::Undef
                | InstrKind::Jump
                | InstrKind::ParallelCopy => Flags::RELAXED,
            };
            self.flags(instr, allowed);
        }
    }

    fn flags(&mut self, instr: Instr, allowed: Flags) {
        let excess = self.f.flags(instr) - allowed;
        if !excess.is_empty() {
            let message = format!("it can't carry {excess:?}");
            self.error(Rule::Flags, Place::Instr(instr), message);
        }
    }

    // ---- ALU ----------------------------------------------------------------------------------------

    fn alu(&mut self, instr: Instr, op: AluOp) {
        let f = self.f;
        let place = Place::Instr(instr);
        let Some(info) = f.dialects.alu(op) else {
            return self.error(Rule::KnownOp, place, "its opcode is in no table");
        };
        if !self.arity(instr, info.inputs.len()) {
            return;
        }
        let shape = f.shape(instr.def());
        if info.output.comps != 0 && info.output.comps != shape.comps() {
            let message = format!("it gives {} components", info.output.comps);
            self.error(Rule::Components, place, message);
        }
        for (n, src) in f.srcs(instr).iter().enumerate() {
            let has = f.comps(src.def);
            if src.swizzle.iter(info.src_comps(n, shape.comps())).any(|c| c >= has) {
                let message = format!("source {n} has {has} components");
                self.error(Rule::Swizzle, place, message);
            }
        }
        self.alu_sizes(instr, info);
        self.flags(instr, info.allowed_flags());
    }

    fn alu_sizes(&mut self, instr: Instr, info: &AluInfo) {
        let f = self.f;
        let place = Place::Instr(instr);
        let result = f.bits(instr.def());
        let sources = || f.srcs(instr).iter().map(|s| f.bits(s.def));
        if info.output.bits != 0 && info.output.bits != result {
            let message = format!("the result has {} bits", info.output.bits);
            self.error(Rule::BitSize, place, message);
        }
        let width = info.unsized_width(result, sources());
        if width != 0 && !info.sizes.is_empty() && !info.sizes.contains(&width) {
            let message = format!("it works on {:?} bits, not on {width}", info.sizes);
            self.error(Rule::BitSize, place, message);
        }
        for (n, (ty, bits)) in info.inputs.iter().zip(sources()).enumerate() {
            let want = if ty.bits == 0 { width } else { ty.bits };
            if bits != want {
                let message = format!("source {n} has {bits} bits, not {want}");
                self.error(Rule::BitSize, place, message);
            }
        }
    }

    // ---- intrinsics ---------------------------------------------------------------------------------

    fn intrinsic(&mut self, instr: Instr, op: Intrinsic, indices: &[u32]) {
        let f = self.f;
        let place = Place::Instr(instr);
        let Some(info) = f.dialects.intrinsic(op) else {
            return self.error(Rule::KnownOp, place, "it is in no table");
        };
        if !self.arity(instr, info.srcs.len()) {
            return;
        }
        let shape = f.def(instr).map_or(Shape::NONE, |d| f.shape(d));
        if info.dest.is_some() != (shape != Shape::NONE) {
            let message = if info.dest.is_some() { "it has no value" } else { "it has a value" };
            return self.error(Rule::Value, place, message);
        }
        self.intrinsic_shapes(instr, info, shape);
        for n in deref_sources(info) {
            self.deref_source(instr, n);
        }
        for (&index, &value) in info.indices.iter().zip(indices) {
            let Some(index) = f.dialects.index_of(op, index) else {
                self.error(Rule::KnownOp, place, "one of its const indices is in no table");
                continue;
            };
            let ok = match index.kind {
                IndexKind::U32 | IndexKind::I32 => true,
                IndexKind::Bool => value < 2,
                IndexKind::Op => {
                    u16::try_from(value).is_ok_and(|op| f.dialects.alu(AluOp(op)).is_some())
                }
                IndexKind::Enum(names) => (value as usize) < names.len(),
                IndexKind::Flags(names) => names.len() >= 32 || value >> names.len() == 0,
            };
            if !ok {
                let message = format!("{} is {value}", index.name);
                self.error(Rule::Index, place, message);
            }
        }
        if matches!(op, Intrinsic::LOAD_DEREF | Intrinsic::STORE_DEREF) {
            self.deref_access(instr, op);
        }
        if op == Intrinsic::LOAD_SPEC_CONSTANT {
            self.spec_constant(instr);
        }
    }

    /// The spec constant exists, and the value has its shape.
    fn spec_constant(&mut self, instr: Instr) {
        let n = self.f.index(instr, Index::SPEC_CONSTANT).unwrap_or(0);
        let Some(spec) = self.module.spec_consts.get(n as usize) else {
            return self.error(
                Rule::Exists,
                Place::Instr(instr),
                format!("there is no spec constant {n}"),
            );
        };
        let types = &self.module.types;
        let declared =
            (spec.ty.index() < types.len()).then(|| types.value_shape(spec.ty)).flatten();
        let shape = self.f.shape(instr.def());
        if declared.is_some_and(|declared| declared != (shape.comps(), shape.bits())) {
            let message = format!("the spec constant is {declared:?}, loaded is {shape:?}");
            self.error(Rule::Value, Place::Instr(instr), message);
        }
    }

    fn intrinsic_shapes(&mut self, instr: Instr, info: &IntrinsicInfo, shape: Shape) {
        let f = self.f;
        let place = Place::Instr(instr);
        let mut count = (info.dest == Some(0)).then(|| shape.comps());
        for (n, &want) in info.srcs.iter().enumerate() {
            let src = f.shape(f.src(instr, n));
            let ok = match want {
                0 => *count.get_or_insert(src.comps()) == src.comps(),
                want if want > 0 => src.comps() == want as u8,
                _ => true,
            };
            if !ok {
                let message = format!("source {n} has {} components", src.comps());
                self.error(Rule::Components, place, message);
            }
            let bits = info.src_bits.get(n).copied().unwrap_or(0);
            if bits != 0 && bits != src.bits() {
                let message = format!("source {n} has {} bits, not {bits}", src.bits());
                self.error(Rule::BitSize, place, message);
            }
        }
        let Some(dest) = info.dest else { return };
        if dest > 0 && dest as u8 != shape.comps() {
            self.error(Rule::Components, place, format!("it gives {dest} components"));
        }
        let from = info.bits_from.map(|n| f.bits(f.src(instr, n.into())));
        let ok = from.is_none_or(|bits| bits == shape.bits())
            && (info.dest_bits.is_empty() || info.dest_bits.contains(&shape.bits()));
        if !ok {
            self.error(Rule::BitSize, place, format!("it does not give {} bits", shape.bits()));
        }
    }

    // ---- derefs and textures ------------------------------------------------------------------------

    fn deref_source(&mut self, instr: Instr, n: usize) {
        if self.f.deref(self.f.src(instr, n).instr()).is_none() {
            let message = format!("source {n} is no deref");
            self.error(Rule::DerefAccess, Place::Instr(instr), message);
        }
    }

    fn deref_access(&mut self, instr: Instr, op: Intrinsic) {
        let f = self.f;
        let Some(deref) = f.deref(f.src(instr, 0).instr()) else { return }; // said already
        let accessed = match op {
            Intrinsic::LOAD_DEREF => f.shape(instr.def()),
            _ => f.shape(f.src(instr, 1)),
        };
        if self.module.form != Form::Logical || deref.ty.index() >= self.module.types.len() {
            return;
        }
        let message = match self.module.types.value_shape(deref.ty) {
            Some(pointee) if pointee == (accessed.comps(), accessed.bits()) => return,
            Some(pointee) => format!("the deref points to {pointee:?}, accessed is {accessed:?}"),
            None => "the deref points to no scalar, vector or pointer".into(),
        };
        self.error(Rule::DerefAccess, Place::Instr(instr), message);
    }

    fn deref(&mut self, instr: Instr, deref: &DerefInfo) {
        let f = self.f;
        let types = &self.module.types;
        let place = Place::Instr(instr);
        if deref.ty.index() >= types.len() {
            return self.error(Rule::Exists, place, "its type is in no table");
        }
        let sources = match deref.kind {
            DerefKind::Var(_) => 0,
            DerefKind::Array | DerefKind::PtrAsArray => 2,
            DerefKind::Wildcard | DerefKind::Struct(_) | DerefKind::Cast => 1,
        };
        if !self.arity(instr, sources) {
            return;
        }
        let shape = f.shape(instr.def());
        if shape.comps() != 1 || !matches!(shape.bits(), 32 | 64) {
            self.error(Rule::Components, place, "a pointer is one component of 32 or 64 bits");
        }
        if sources == 2 && f.comps(f.src(instr, 1)) != 1 {
            self.error(Rule::Components, place, "an index is one component");
        }
        if let DerefKind::Var(var) = deref.kind {
            let vars = if var.is_local() { &f.locals } else { &self.module.vars };
            match vars.get(var.slot()) {
                None => self.error(Rule::Exists, place, "there is no such variable"),
                Some(var) if var.ty != deref.ty || var.mode != deref.modes => {
                    self.error(Rule::Deref, place, "type or mode are not the variable's");
                }
                Some(_) => {}
            }
            return;
        }
        if deref.kind == DerefKind::Cast {
            if f.comps(f.src(instr, 0)) != 1 {
                self.error(Rule::Components, place, "a pointer is one component");
            }
            return;
        }
        let Some(parent) = f.deref(f.src(instr, 0).instr()) else {
            return self.error(Rule::Deref, place, "its parent is no deref");
        };
        if parent.ty.index() >= types.len() {
            return; // said at the parent
        }
        let leads_to = match deref.kind {
            DerefKind::Array | DerefKind::Wildcard => types.element(parent.ty),
            DerefKind::Struct(member) => types.member(parent.ty, member),
            DerefKind::PtrAsArray => Some(parent.ty),
            DerefKind::Var(_) | DerefKind::Cast => Some(deref.ty),
        };
        if leads_to != Some(deref.ty) {
            let message = format!("the step leads to {leads_to:?}, not to {:?}", deref.ty);
            self.error(Rule::Deref, place, message);
        }
        if deref.modes.is_empty() || !parent.modes.contains(deref.modes) {
            self.error(Rule::Deref, place, "its parent does not point there");
        }
        if f.bits(instr.def()) != f.bits(f.src(instr, 0)) {
            self.error(Rule::BitSize, place, "its parent has another size");
        }
    }

    fn tex(&mut self, instr: Instr, tex: &TexInfo) {
        let f = self.f;
        let place = Place::Instr(instr);
        if !self.arity(instr, tex.srcs.len()) {
            return;
        }
        let mut seen = FxHashSet::default();
        for (n, kind) in tex.srcs.iter().enumerate() {
            if !seen.insert(*kind) {
                self.error(Rule::Texture, place, format!("there are two sources {kind:?}"));
            }
            if matches!(kind, TexSrc::TextureDeref | TexSrc::SamplerDeref) {
                self.deref_source(instr, n);
            }
            let comps = f.comps(f.src(instr, n));
            let array = u8::from(tex.is_array && tex.op != TexOp::Lod);
            let enough = match kind {
                TexSrc::Coord => comps >= dimensions(tex.dim) + array,
                TexSrc::TextureDeref | TexSrc::SamplerDeref | TexSrc::Lod | TexSrc::Bias => {
                    comps == 1
                }
                TexSrc::Projector
                | TexSrc::Comparator
                | TexSrc::MinLod
                | TexSrc::MsIndex
                | TexSrc::TextureOffset
                | TexSrc::SamplerOffset => comps == 1,
                TexSrc::Ddx | TexSrc::Ddy | TexSrc::Offset => comps >= 1,
                TexSrc::Offsets => true,
            };
            if !enough {
                let message = format!("the source {kind:?} has {comps} components");
                self.error(Rule::Texture, place, message);
            }
        }
    }

    // ---- phis, jumps, calls -------------------------------------------------------------------------

    fn phi(&mut self, instr: Instr, preds: &[Block]) {
        let f = self.f;
        let place = Place::Instr(instr);
        let Some(block) = f.block_of(instr) else { return };
        let mut have = preds.to_vec();
        let mut want = f.preds(block).to_vec();
        have.sort_unstable();
        want.sort_unstable();
        if have != want {
            let message = format!("its sources are for {have:?}, the predecessors are {want:?}");
            self.error(Rule::PhiPreds, place, message);
        }
        if f.srcs(instr).iter().any(|s| f.shape(s.def) != f.shape(instr.def())) {
            self.error(Rule::PhiShape, place, "a source has another shape");
        }
    }

    fn jump_value(&mut self, instr: Instr, jump: JumpKind) {
        let f = self.f;
        let returns = f.ret.as_ref().filter(|_| jump == JumpKind::Return);
        if !self.arity(instr, usize::from(returns.is_some())) {
            return;
        }
        if let (Some(ret), Some(src)) = (returns, f.srcs(instr).first())
            && (ret.comps, ret.bits) != (f.comps(src.def), f.bits(src.def))
        {
            let message = format!("the function returns {}x{}", ret.bits, ret.comps);
            self.error(Rule::Return, Place::Instr(instr), message);
        }
    }

    fn call(&mut self, instr: Instr, func: Func) {
        let f = self.f;
        let place = Place::Instr(instr);
        let Some(callee) = self.module.functions.get(func.index()) else {
            return self.error(Rule::Exists, place, "there is no such function");
        };
        if !self.arity(instr, callee.params.len()) {
            return;
        }
        for (n, (param, src)) in callee.params.iter().zip(f.srcs(instr)).enumerate() {
            if (param.comps, param.bits) != (f.comps(src.def), f.bits(src.def)) {
                let message = format!("argument {n} is {}x{}", param.bits, param.comps);
                self.error(Rule::Call, place, message);
            }
        }
        let want = callee.ret.as_ref().and_then(|r| Shape::new(r.comps, r.bits));
        let have = f.def(instr).map(|d| f.shape(d));
        if want != have {
            let message = format!("the function returns {want:?}");
            self.error(Rule::Call, place, message);
        }
    }
}

/// The sources that are derefs: those whose memory the intrinsic touches, and the first of one named after them.
fn deref_sources(info: &IntrinsicInfo) -> impl Iterator<Item = usize> {
    let memory = &info.memory;
    let first = memory.reads_deref || memory.writes_deref || info.name.contains("deref");
    [first, memory.reads_deref1]
        .into_iter()
        .enumerate()
        .filter_map(move |(n, is)| (is && n < info.srcs.len()).then_some(n))
}

/// Coordinates that an image has, the layer apart.
fn dimensions(dim: Dim) -> u8 {
    match dim {
        Dim::D1 | Dim::Buffer => 1,
        Dim::D2 | Dim::Rect | Dim::SubpassData | Dim::TileImageData => 2,
        Dim::D3 | Dim::Cube => 3,
    }
}
