//! What rules match outside of arithmetic: intrinsics, texture operations, phis.

use crate::rewriter::{Rewriter, Val};
use crate::ruleset::Root;
use deburr_ir_core::{
    AluOp, Block, Cursor, Def, Dominance, Flags, Function, Index, Instr, InstrKind, InstrView,
    Intrinsic, IntrinsicFlags, Shape, TexInfo, TexOp, TexSrc,
};
use smallvec::SmallVec;

/// The root that an instruction is, if it isn't an ALU operation. A volatile access is none: it stays.
pub(crate) fn root(f: &Function, instr: Instr) -> Option<Root> {
    match f.view(instr) {
        InstrView::Intrinsic(..) if f.is_volatile(instr) => None,
        InstrView::Intrinsic(intrinsic, _) => Some(Root::Intrinsic(intrinsic)),
        InstrView::Tex(tex) => Some(Root::Tex(tex.op)),
        InstrView::Phi(_) => Some(Root::Phi),
        InstrView::Alu(_)
        | InstrView::Deref(_)
        | InstrView::LoadConst(_)
        | InstrView::Undef
        | InstrView::Jump(_)
        | InstrView::Call(_)
        | InstrView::ParallelCopy => None,
    }
}

/// Where what replaces an instruction is built: in front of it, behind the phis if it is one.
pub(crate) fn place(f: &Function, root: Instr) -> Cursor {
    let mut at = root;
    while f.kind(at) == InstrKind::Phi {
        match (f.next_instr(at), f.block_of(at)) {
            (Some(next), _) => at = next,
            (None, Some(block)) => return Cursor::BlockEnd(block),
            (None, None) => break,
        }
    }
    Cursor::Before(at)
}

impl Rewriter<'_> {
    /// The instruction that defines a value, if it is this intrinsic and no volatile access.
    pub fn intrinsic(&self, v: Val, intrinsic: Intrinsic) -> Option<Instr> {
        let instr = v.def.instr();
        let is = self.f.intrinsic(instr) == Some(intrinsic) && !self.f.is_volatile(instr);
        is.then_some(instr)
    }

    /// The instruction that defines a value, if it is this texture operation.
    pub fn tex(&self, v: Val, op: TexOp) -> Option<Instr> {
        let instr = v.def.instr();
        self.f.tex(instr).is_some_and(|tex| tex.op == op).then_some(instr)
    }

    /// The instruction that defines a value, if it is a phi.
    pub fn phi(&self, v: Val) -> Option<Instr> {
        let instr = v.def.instr();
        (self.f.kind(instr) == InstrKind::Phi).then_some(instr)
    }

    /// A const index of an intrinsic that has it.
    pub fn index(&self, instr: Instr, index: Index) -> u32 {
        self.f.index(instr, index).unwrap_or(0)
    }

    /// How many sources an instruction has.
    pub fn sources(&self, instr: Instr) -> usize {
        self.f.srcs(instr).len()
    }

    /// What a texture operation says of itself.
    pub fn tex_info(&self, instr: Instr) -> Option<&TexInfo> {
        self.f.tex(instr)
    }

    /// The source of that kind of a texture operation.
    pub fn tex_source(&self, instr: Instr, kind: TexSrc) -> Option<Val> {
        let n = self.f.tex(instr)?.srcs.iter().position(|s| *s == kind)?;
        Some(self.arg(instr, n))
    }

    /// Whether a value is a def as it is, and has so many components.
    pub fn is_whole(&self, v: Val, comps: u8) -> bool {
        self.f.comps(v.def) == comps && v.swizzle.is_identity(comps)
    }

    /// Whether a value that stands under a phi is one value wherever the phi is: it is defined in a block above the
    /// phi's. One that is defined in the phi's own block, or below, comes over an edge back from the turn before.
    pub fn reaches(&mut self, v: Val, phi: Instr) -> bool {
        let (from, to) = (self.f.block_of(v.def.instr()), self.f.block_of(phi));
        let (Some(from), Some(to)) = (from, to) else { return false };
        from != to && self.dominates(from, to)
    }

    fn dominates(&mut self, from: Block, to: Block) -> bool {
        // Rewriting changes no control flow.
        let f = &*self.f;
        self.dominance.get_or_insert_with(|| Dominance::new(f)).dominates(from, to)
    }

    /// A constant as the root can see it.
    pub fn copied(&mut self, v: Val) -> Val {
        let values: SmallVec<[u64; 16]> = self.f.constant(v.def).unwrap_or(&[]).into();
        let bits = self.f.bits(v.def);
        Val { def: self.builder().load_const(bits, &values), swizzle: v.swizzle }
    }

    /// An intrinsic over values of so many components.
    pub fn build_intrinsic(
        &mut self,
        intrinsic: Intrinsic,
        bits: u8,
        comps: u8,
        operands: &[(Val, u8)],
        indices: &[(Index, u32)],
    ) -> Val {
        let mut srcs: SmallVec<[Def; 4]> = SmallVec::new();
        for (v, comps) in operands {
            srcs.push(self.whole(*v, *comps));
        }
        let shape = Shape::new(comps, bits).unwrap_or(Shape::NONE);
        let def = self.builder().intrinsic_with(intrinsic, shape, &srcs, indices).def();
        self.made_outside(def, &srcs)
    }

    /// A texture operation that is in everything but its sources as the one that it stands for, from values of so many
    /// components.
    pub fn build_tex(&mut self, root: Instr, op: TexOp, operands: &[(TexSrc, Val, u8)]) -> Val {
        let Some(old) = self.f.tex(root).cloned() else { return Val::from(root.def()) };
        let kinds = operands.iter().map(|(kind, ..)| *kind).collect();
        let mut srcs: SmallVec<[Def; 4]> = SmallVec::new();
        for (_, v, comps) in operands {
            srcs.push(self.whole(*v, *comps));
        }
        let shape = self.f.shape(root.def());
        let def = self.builder().tex(TexInfo { op, srcs: kinds, ..old }, shape, &srcs);
        self.made_outside(def, &srcs)
    }

    /// A phi in the block of another, from values that are there on the edge of that one's source `first` and on the other.
    pub fn build_phi(&mut self, root: Instr, first: usize, a: Val, b: Val) -> Val {
        let (InstrView::Phi(preds), Some(block)) = (self.f.view(root), self.f.block_of(root))
        else {
            return Val::from(root.def());
        };
        let defs = if first == 0 { [a.def, b.def] } else { [b.def, a.def] };
        let srcs: SmallVec<[(Block, Def); 2]> = preds.iter().copied().zip(defs).collect();
        let shape = self.f.shape(root.def());
        let def = self.builder().phi(block, shape, &srcs);
        self.made_outside(def, &defs)
    }

    /// A value as a def of its own.
    fn whole(&mut self, v: Val, comps: u8) -> Def {
        match self.is_whole(v, comps) {
            true => v.def,
            false => self.build(AluOp::MOV, comps, Flags::empty(), &[v]).def,
        }
    }

    /// What is new and isn't arithmetic has its turn too.
    fn made_outside(&mut self, def: Def, srcs: &[Def]) -> Val {
        self.gained_operands(srcs);
        if self.watch.roots {
            self.queue.push(def.instr());
        }
        Val::from(def)
    }

    /// Whether an instruction may stand in a pattern.
    pub(crate) fn may_match(&self, instr: Instr) -> bool {
        match self.f.kind(instr) {
            InstrKind::Alu => true,
            InstrKind::Intrinsic | InstrKind::Tex | InstrKind::Phi => self.watch.outside,
            InstrKind::Deref
            | InstrKind::LoadConst
            | InstrKind::Undef
            | InstrKind::Jump
            | InstrKind::Call
            | InstrKind::ParallelCopy => false,
        }
    }

    /// Removes a replaced root that isn't an ALU operation, with what only it used.
    pub(crate) fn remove_root(&mut self, root: Instr) {
        let removable = match self.f.kind(root) {
            InstrKind::Intrinsic => self
                .f
                .intrinsic_info(root)
                .is_some_and(|info| info.flags.contains(IntrinsicFlags::ELIMINATE)),
            InstrKind::Tex | InstrKind::Phi => true,
            InstrKind::Alu
            | InstrKind::Deref
            | InstrKind::LoadConst
            | InstrKind::Undef
            | InstrKind::Jump
            | InstrKind::Call
            | InstrKind::ParallelCopy => false,
        };
        if removable {
            let mut unused = SmallVec::new();
            self.remove_unused(root, &mut unused);
            unused.into_iter().for_each(|instr| self.remove_dead(instr));
        }
    }
}
