//! A function: one arena of instructions, uses, blocks and control-flow nodes.
//!
//! Sections: creation and access, sources and use lists, placement in blocks, removal and compaction.
//! The control-flow tree and its edits are in [`crate::cf`].

use crate::cf::{BlockData, ListData, NodeData};
use crate::dialect::Dialects;
use crate::entity::{Block, CfList, Def, Func, Instr, Node, PackedOption, Type, UseId, Var};
use crate::env::FloatEnv;
use crate::instr::{
    DerefInfo, Flags, Header, InstrInit, InstrKind, InstrView, JumpKind, Shape, Swizzle, TexInfo,
    Use, User,
};
use crate::intrinsic::{Index, Intrinsic, IntrinsicInfo};
use crate::module::Variable;
use crate::op::{AluInfo, AluOp};
use crate::origin::Origins;
use crate::table::index;
use rustc_hash::FxHashMap;

/// A parameter or a returned value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Param {
    /// Debug name; may be empty.
    pub name: String,
    /// Its SPIR-V type; a pointer's type gives mode and pointee.
    pub ty: Type,
    /// Components.
    pub comps: u8,
    /// Bit size.
    pub bits: u8,
}

/// Where an instruction goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cursor {
    /// Before everything in the block.
    BlockStart(Block),
    /// After the block's phis.
    AfterPhis(Block),
    /// At the block's end, after a jump if there is one.
    BlockEnd(Block),
    /// At the block's end, before a jump if there is one.
    BeforeJump(Block),
    /// Before the instruction.
    Before(Instr),
    /// After the instruction.
    After(Instr),
}

/// A function. Code is reached through typed indices; iteration follows the order of the text.
#[derive(Clone, Debug)]
pub struct Function {
    /// Name; free to collide.
    pub name: String,
    /// Parameters.
    pub params: Vec<Param>,
    /// The value returned.
    pub ret: Option<Param>,
    /// SPIR-V's function control bits (inline, don't inline, pure, const).
    pub control: u32,
    /// Variables of mode `FUNCTION`.
    pub locals: Vec<Variable>,
    /// What float arithmetic in the function does.
    pub float_env: FloatEnv,
    /// Dialects whose opcodes the code may use: the module's.
    pub dialects: Dialects,
    /// Debug names of values.
    pub names: FxHashMap<Def, String>,
    /// The rules that made values, if that is to be kept. Nothing depends on it, and equality doesn't look at it.
    pub origins: Option<Box<Origins>>,
    pub(crate) instrs: Vec<Header>,
    pub(crate) uses: Vec<Use>,
    pub(crate) consts: Vec<u64>,
    pub(crate) indices: Vec<u32>,
    pub(crate) derefs: Vec<DerefInfo>,
    pub(crate) texs: Vec<TexInfo>,
    pub(crate) phi_preds: Vec<Block>,
    pub(crate) blocks: Vec<BlockData>,
    pub(crate) nodes: Vec<NodeData>,
    pub(crate) lists: Vec<ListData>,
    pub(crate) has_body: bool,
}

impl Function {
    /// A function with an empty body: a start block that falls to the end block.
    pub fn new(name: impl Into<String>) -> Self {
        let mut function = Function {
            name: name.into(),
            params: Vec::new(),
            ret: None,
            control: 0,
            locals: Vec::new(),
            float_env: FloatEnv::default(),
            dialects: Dialects::default(),
            names: FxHashMap::default(),
            origins: None,
            instrs: Vec::new(),
            uses: Vec::new(),
            consts: Vec::new(),
            indices: Vec::new(),
            derefs: Vec::new(),
            texs: Vec::new(),
            phi_preds: Vec::new(),
            blocks: Vec::new(),
            nodes: Vec::new(),
            lists: Vec::new(),
            has_body: true,
        };
        function.init_body();
        function
    }

    /// A function that is declared only.
    pub fn declaration(name: impl Into<String>) -> Self {
        Function { has_body: false, ..Self::new(name) }
    }

    /// Whether the function has code.
    pub fn has_body(&self) -> bool {
        self.has_body
    }

    /// Adds a local variable.
    pub fn add_local(&mut self, var: Variable) -> Var {
        self.locals.push(var);
        Var::local(self.locals.len() - 1)
    }

    // ---- creation and access ------------------------------------------------------------------------

    /// Creates an instruction that is in no block yet. `shape` is [`Shape::NONE`] where it has no value.
    ///
    /// Swizzles are the identity; [`Function::set_swizzle`] changes them.
    pub fn create(&mut self, init: InstrInit<'_>, shape: Shape, srcs: &[Def]) -> Instr {
        let instr = Instr(self.instrs.len() as u32);
        let (kind, op, payload) = self.store_payload(init);
        let start = self.uses.len() as u32;
        self.instrs.push(Header {
            kind,
            shape,
            op,
            flags: Flags::empty(),
            num_srcs: srcs.len() as u16,
            prev: PackedOption::NONE,
            next: PackedOption::NONE,
            block: PackedOption::NONE,
            uses: PackedOption::NONE,
            srcs: start,
            payload,
        });
        for &def in srcs {
            let id = UseId(self.uses.len() as u32);
            self.uses.push(Use::new(def, User::Instr(instr), Swizzle::IDENTITY));
            self.link_use(id);
        }
        instr
    }

    /// Creates an instruction whose sources are in no use list; [`Function::link_use`] follows for each of them.
    pub(crate) fn create_unlinked(
        &mut self,
        init: InstrInit<'_>,
        shape: Shape,
        srcs: &[(Def, Swizzle)],
    ) -> Instr {
        let instr = self.create(init, shape, &[]);
        self.header_mut(instr).num_srcs = srcs.len() as u16;
        self.uses
            .extend(srcs.iter().map(|&(def, swizzle)| Use::new(def, User::Instr(instr), swizzle)));
        instr
    }

    fn store_payload(&mut self, init: InstrInit<'_>) -> (InstrKind, u16, u32) {
        match init {
            InstrInit::Alu(op) => (InstrKind::Alu, op.0, 0),
            InstrInit::Intrinsic(op, indices) => {
                self.indices.extend_from_slice(indices);
                (InstrKind::Intrinsic, op.0, (self.indices.len() - indices.len()) as u32)
            }
            InstrInit::Tex(tex) => {
                self.texs.push(tex);
                (InstrKind::Tex, 0, self.texs.len() as u32 - 1)
            }
            InstrInit::Deref(deref) => {
                self.derefs.push(deref);
                (InstrKind::Deref, 0, self.derefs.len() as u32 - 1)
            }
            InstrInit::LoadConst(bits) => {
                self.consts.extend_from_slice(bits);
                (InstrKind::LoadConst, 0, (self.consts.len() - bits.len()) as u32)
            }
            InstrInit::Undef => (InstrKind::Undef, 0, 0),
            InstrInit::Phi(preds) => {
                self.phi_preds.extend_from_slice(preds);
                (InstrKind::Phi, 0, (self.phi_preds.len() - preds.len()) as u32)
            }
            InstrInit::Jump(jump) => (InstrKind::Jump, jump as u16, 0),
            InstrInit::Call(func) => (InstrKind::Call, 0, func.0),
            InstrInit::ParallelCopy => (InstrKind::ParallelCopy, 0, 0),
        }
    }

    #[inline]
    pub(crate) fn header(&self, instr: Instr) -> &Header {
        &self.instrs[instr.index()]
    }

    #[inline]
    pub(crate) fn header_mut(&mut self, instr: Instr) -> &mut Header {
        &mut self.instrs[instr.index()]
    }

    /// Kind of the instruction.
    #[inline]
    pub fn kind(&self, instr: Instr) -> InstrKind {
        self.header(instr).kind
    }

    /// What the instruction is, with its payload.
    #[inline]
    pub fn view(&self, instr: Instr) -> InstrView<'_> {
        let h = self.header(instr);
        let at = h.payload as usize;
        match h.kind {
            InstrKind::Alu => InstrView::Alu(AluOp(h.op)),
            InstrKind::Intrinsic => InstrView::Intrinsic(Intrinsic(h.op), self.index_slice(h)),
            InstrKind::Tex => InstrView::Tex(&self.texs[at]),
            InstrKind::Deref => InstrView::Deref(&self.derefs[at]),
            InstrKind::LoadConst => {
                InstrView::LoadConst(&self.consts[at..at + usize::from(h.shape.comps())])
            }
            InstrKind::Undef => InstrView::Undef,
            InstrKind::Phi => InstrView::Phi(&self.phi_preds[at..at + usize::from(h.num_srcs)]),
            InstrKind::Jump => InstrView::Jump(JumpKind::NAMES[usize::from(h.op)].1),
            InstrKind::Call => InstrView::Call(Func(h.payload)),
            InstrKind::ParallelCopy => InstrView::ParallelCopy,
        }
    }

    fn index_slice(&self, h: &Header) -> &[u32] {
        let n = self.dialects.intrinsic(Intrinsic(h.op)).map_or(0, |info| info.indices.len());
        &self.indices[h.payload as usize..h.payload as usize + n]
    }

    /// The opcode, if the instruction is an ALU operation.
    #[inline]
    pub fn alu_op(&self, instr: Instr) -> Option<AluOp> {
        let h = self.header(instr);
        (h.kind == InstrKind::Alu).then_some(AluOp(h.op))
    }

    /// The number of the opcode, of an instruction that has one; otherwise it means nothing. For code that looks at very
    /// many instructions and can do without a branch at each.
    #[inline]
    pub fn op_number(&self, instr: Instr) -> u16 {
        self.header(instr).op
    }

    /// The table's entry of an ALU instruction.
    #[inline]
    pub fn alu_info(&self, instr: Instr) -> Option<&'static AluInfo> {
        self.dialects.alu(self.alu_op(instr)?)
    }

    /// The intrinsic, if the instruction is one.
    pub fn intrinsic(&self, instr: Instr) -> Option<Intrinsic> {
        let h = self.header(instr);
        (h.kind == InstrKind::Intrinsic).then_some(Intrinsic(h.op))
    }

    /// The table's entry of an intrinsic instruction.
    pub fn intrinsic_info(&self, instr: Instr) -> Option<&'static IntrinsicInfo> {
        self.dialects.intrinsic(self.intrinsic(instr)?)
    }

    /// A const index of an intrinsic instruction, if it has that index.
    pub fn index(&self, instr: Instr, index: Index) -> Option<u32> {
        let slot = self.intrinsic_info(instr)?.index_slot(index)?;
        Some(self.indices[self.header(instr).payload as usize + slot])
    }

    /// Sets a const index; does nothing where the intrinsic has no such index.
    pub fn set_index(&mut self, instr: Instr, index: Index, value: u32) {
        if let Some(slot) = self.intrinsic_info(instr).and_then(|info| info.index_slot(index)) {
            let at = self.header(instr).payload as usize + slot;
            self.indices[at] = value;
        }
    }

    /// Whether the instruction is a volatile access, which may not be merged, moved or removed.
    pub fn is_volatile(&self, instr: Instr) -> bool {
        [Index::ACCESS, Index::SRC_ACCESS, Index::DST_ACCESS]
            .iter()
            .any(|i| self.index(instr, *i).is_some_and(|a| a & index::access::VOLATILE != 0))
    }

    /// The deref, if the instruction is one.
    pub fn deref(&self, instr: Instr) -> Option<&DerefInfo> {
        let h = self.header(instr);
        (h.kind == InstrKind::Deref).then(|| &self.derefs[h.payload as usize])
    }

    /// The deref, to change it.
    pub fn deref_mut(&mut self, instr: Instr) -> Option<&mut DerefInfo> {
        let h = self.instrs[instr.index()];
        (h.kind == InstrKind::Deref).then(|| &mut self.derefs[h.payload as usize])
    }

    /// The texture operation, if the instruction is one.
    pub fn tex(&self, instr: Instr) -> Option<&TexInfo> {
        let h = self.header(instr);
        (h.kind == InstrKind::Tex).then(|| &self.texs[h.payload as usize])
    }

    /// The texture operation, to change it.
    pub fn tex_mut(&mut self, instr: Instr) -> Option<&mut TexInfo> {
        let h = self.instrs[instr.index()];
        (h.kind == InstrKind::Tex).then(|| &mut self.texs[h.payload as usize])
    }

    /// The components of a constant, if the value is one.
    #[inline]
    pub fn constant(&self, def: Def) -> Option<&[u64]> {
        let h = self.header(def.instr());
        let at = h.payload as usize;
        (h.kind == InstrKind::LoadConst)
            .then(|| &self.consts[at..at + usize::from(h.shape.comps())])
    }

    /// The jump, if the instruction is one.
    pub fn jump(&self, instr: Instr) -> Option<JumpKind> {
        match self.view(instr) {
            InstrView::Jump(jump) => Some(jump),
            _ => None,
        }
    }

    /// Makes a call call another function.
    pub fn set_callee(&mut self, call: Instr, func: Func) {
        debug_assert_eq!(self.kind(call), InstrKind::Call);
        self.header_mut(call).payload = func.0;
    }

    /// Flags of the instruction.
    #[inline]
    pub fn flags(&self, instr: Instr) -> Flags {
        self.header(instr).flags
    }

    /// Replaces the flags of the instruction.
    pub fn set_flags(&mut self, instr: Instr, flags: Flags) {
        self.header_mut(instr).flags = flags;
    }

    /// The instruction's value, if it has one.
    #[inline]
    pub fn def(&self, instr: Instr) -> Option<Def> {
        (self.header(instr).shape != Shape::NONE).then(|| instr.def())
    }

    /// Components and bit size of a value.
    #[inline]
    pub fn shape(&self, def: Def) -> Shape {
        self.header(def.instr()).shape
    }

    /// Changes components or bit size of a value: the caller sees to its uses.
    pub fn set_shape(&mut self, def: Def, shape: Shape) {
        self.header_mut(def.instr()).shape = shape;
    }

    /// Components of a value.
    #[inline]
    pub fn comps(&self, def: Def) -> u8 {
        self.shape(def).comps()
    }

    /// Bit size of a value.
    #[inline]
    pub fn bits(&self, def: Def) -> u8 {
        self.shape(def).bits()
    }

    /// Number of instructions ever created; every [`Instr`] is below it.
    pub fn instr_capacity(&self) -> usize {
        self.instrs.len()
    }

    /// Number of blocks ever created; every [`Block`] is below it.
    pub fn block_capacity(&self) -> usize {
        self.blocks.len()
    }

    // ---- sources and use lists ----------------------------------------------------------------------

    /// The sources of an instruction.
    #[inline]
    pub fn srcs(&self, instr: Instr) -> &[Use] {
        let h = self.header(instr);
        &self.uses[h.srcs as usize..h.srcs as usize + usize::from(h.num_srcs)]
    }

    /// The value that source `n` uses.
    #[inline]
    pub fn src(&self, instr: Instr, n: usize) -> Def {
        self.srcs(instr)[n].def
    }

    /// The swizzle of source `n`.
    #[inline]
    pub fn swizzle(&self, instr: Instr, n: usize) -> Swizzle {
        self.srcs(instr)[n].swizzle
    }

    /// Components that an ALU instruction reads of source `n`.
    #[inline]
    pub fn src_comps(&self, instr: Instr, n: usize) -> u8 {
        match self.alu_info(instr) {
            Some(info) => info.src_comps(n, self.header(instr).shape.comps()),
            None => self.comps(self.src(instr, n)),
        }
    }

    fn src_id(&self, instr: Instr, n: usize) -> UseId {
        debug_assert!(n < usize::from(self.header(instr).num_srcs));
        UseId(self.header(instr).srcs + n as u32)
    }

    /// Makes source `n` use another value; the swizzle stays.
    pub fn set_src(&mut self, instr: Instr, n: usize, def: Def) {
        let id = self.src_id(instr, n);
        self.retarget(id, def);
    }

    /// Replaces the swizzle of source `n`.
    pub fn set_swizzle(&mut self, instr: Instr, n: usize, swizzle: Swizzle) {
        let id = self.src_id(instr, n);
        self.uses[id.index()].swizzle = swizzle;
    }

    /// Appends a source to a phi, for the edge from `pred`.
    pub fn add_phi_src(&mut self, phi: Instr, pred: Block, def: Def) {
        debug_assert_eq!(self.kind(phi), InstrKind::Phi);
        let h = *self.header(phi);
        let (n, at, preds_at) = (usize::from(h.num_srcs), h.srcs as usize, h.payload as usize);
        if preds_at + n != self.phi_preds.len() {
            self.phi_preds.extend_from_within(preds_at..preds_at + n);
            self.header_mut(phi).payload = (self.phi_preds.len() - n) as u32;
        }
        self.phi_preds.push(pred);
        if at + n != self.uses.len() {
            let start = self.uses.len() as u32;
            for i in 0..n {
                let old = UseId((at + i) as u32);
                self.unlink_use(old);
                let copy = Use { ..self.uses[old.index()] };
                self.uses.push(copy);
                self.link_use(UseId(start + i as u32));
            }
            self.header_mut(phi).srcs = start;
        }
        let id = UseId(self.uses.len() as u32);
        self.uses.push(Use::new(def, User::Instr(phi), Swizzle::IDENTITY));
        self.header_mut(phi).num_srcs += 1;
        self.link_use(id);
    }

    /// Removes source `n` of a phi; the last source takes its place.
    pub fn remove_phi_src(&mut self, phi: Instr, n: usize) {
        debug_assert_eq!(self.kind(phi), InstrKind::Phi);
        let h = *self.header(phi);
        let last = usize::from(h.num_srcs) - 1;
        self.unlink_use(self.src_id(phi, last));
        if n != last {
            let moved = self.src(phi, last);
            self.set_src(phi, n, moved);
            self.phi_preds[h.payload as usize + n] = self.phi_preds[h.payload as usize + last];
        }
        self.header_mut(phi).num_srcs -= 1;
    }

    /// The source of a phi for the edge from `pred`.
    pub fn phi_src(&self, phi: Instr, pred: Block) -> Option<Def> {
        self.phi_slot(phi, pred).map(|n| self.src(phi, n))
    }

    pub(crate) fn phi_slot(&self, phi: Instr, pred: Block) -> Option<usize> {
        match self.view(phi) {
            InstrView::Phi(preds) => preds.iter().position(|&b| b == pred),
            _ => None,
        }
    }

    pub(crate) fn set_phi_pred(&mut self, phi: Instr, n: usize, pred: Block) {
        let at = self.header(phi).payload as usize + n;
        self.phi_preds[at] = pred;
    }

    pub(crate) fn new_if_use(&mut self, node: Node, condition: Def) -> UseId {
        let id = UseId(self.uses.len() as u32);
        self.uses.push(Use::new(condition, User::If(node), Swizzle::IDENTITY));
        self.link_use(id);
        id
    }

    pub(crate) fn retarget(&mut self, id: UseId, def: Def) {
        if self.uses[id.index()].def != def {
            self.unlink_use(id);
            self.uses[id.index()].def = def;
            self.link_use(id);
        }
    }

    pub(crate) fn link_use(&mut self, id: UseId) {
        let def = self.uses[id.index()].def;
        let head = std::mem::replace(&mut self.instrs[def.index()].uses, id.into());
        let record = &mut self.uses[id.index()];
        record.next = head;
        record.prev = PackedOption::NONE;
        if let Some(head) = head.get() {
            self.uses[head.index()].prev = id.into();
        }
    }

    pub(crate) fn unlink_use(&mut self, id: UseId) {
        let Use { def, next, prev, .. } = self.uses[id.index()];
        match prev.get() {
            Some(prev) => self.uses[prev.index()].next = next,
            None => self.instrs[def.index()].uses = next,
        }
        if let Some(next) = next.get() {
            self.uses[next.index()].prev = prev;
        }
    }

    /// The uses of a value, in no particular order.
    #[inline]
    pub fn uses(&self, def: Def) -> impl Iterator<Item = &Use> {
        let mut next = self.header(def.instr()).uses;
        std::iter::from_fn(move || {
            let record = &self.uses[next.get()?.index()];
            next = record.next;
            Some(record)
        })
    }

    /// The uses of a value with the source number each stands at (0 for conditions of `if`s).
    pub fn uses_at(&self, def: Def) -> impl Iterator<Item = (User, usize)> {
        let mut next = self.header(def.instr()).uses;
        std::iter::from_fn(move || {
            let id = next.get()?;
            let record = &self.uses[id.index()];
            next = record.next;
            let n = match record.user() {
                User::Instr(i) => (id.0 - self.header(i).srcs) as usize,
                User::If(_) => 0,
            };
            Some((record.user(), n))
        })
    }

    /// Whether anything uses the value.
    #[inline]
    pub fn is_used(&self, def: Def) -> bool {
        self.header(def.instr()).uses != PackedOption::NONE
    }

    /// Whether exactly one operand uses the value.
    #[inline]
    pub fn has_one_use(&self, def: Def) -> bool {
        self.uses(def).take(2).count() == 1
    }

    /// Makes every use of `old` a use of `new`, with its swizzle unchanged.
    pub fn replace_all_uses(&mut self, old: Def, new: Def) {
        if old == new {
            return;
        }
        let Some(head) = self.header(old.instr()).uses.get() else { return };
        let mut last = head;
        loop {
            let record = &mut self.uses[last.index()];
            record.def = new;
            match record.next.get() {
                Some(next) => last = next,
                None => break,
            }
        }
        let new_head = std::mem::replace(&mut self.instrs[new.index()].uses, head.into());
        self.uses[last.index()].next = new_head;
        if let Some(new_head) = new_head.get() {
            self.uses[new_head.index()].prev = last.into();
        }
        self.instrs[old.index()].uses = PackedOption::NONE;
    }

    /// Makes every use of `old` but those by `except` a use of `new`.
    pub fn replace_uses_except(&mut self, old: Def, new: Def, except: Instr) {
        let mut next = self.header(old.instr()).uses;
        while let Some(id) = next.get() {
            next = self.uses[id.index()].next;
            if self.uses[id.index()].user() != User::Instr(except) {
                self.retarget(id, new);
            }
        }
    }

    // ---- placement in blocks ------------------------------------------------------------------------

    /// The block that an instruction is in; `None` once removed or before it is placed.
    #[inline]
    pub fn block_of(&self, instr: Instr) -> Option<Block> {
        self.header(instr).block.get()
    }

    /// The instruction before it in its block.
    #[inline]
    pub fn prev_instr(&self, instr: Instr) -> Option<Instr> {
        self.header(instr).prev.get()
    }

    /// The instruction after it in its block.
    #[inline]
    pub fn next_instr(&self, instr: Instr) -> Option<Instr> {
        self.header(instr).next.get()
    }

    /// First instruction of a block.
    #[inline]
    pub fn first_instr(&self, block: Block) -> Option<Instr> {
        self.blocks[block.index()].first.get()
    }

    /// Last instruction of a block.
    #[inline]
    pub fn last_instr(&self, block: Block) -> Option<Instr> {
        self.blocks[block.index()].last.get()
    }

    /// The jump that ends the block, if one does.
    pub fn block_jump(&self, block: Block) -> Option<(Instr, JumpKind)> {
        let last = self.last_instr(block)?;
        self.jump(last).map(|jump| (last, jump))
    }

    /// The instructions of a block in order.
    #[inline]
    pub fn instrs(&self, block: Block) -> impl Iterator<Item = Instr> {
        let mut next = self.first_instr(block);
        std::iter::from_fn(move || {
            let instr = next?;
            next = self.next_instr(instr);
            Some(instr)
        })
    }

    /// The phis at the start of a block.
    pub fn phis(&self, block: Block) -> impl Iterator<Item = Instr> {
        self.instrs(block).take_while(|&i| self.kind(i) == InstrKind::Phi)
    }

    /// Puts an instruction that is in no block at the cursor. A jump is placed by [`Function::add_jump`].
    pub fn insert(&mut self, instr: Instr, cursor: Cursor) {
        debug_assert!(!self.header(instr).is_attached());
        let (block, prev, next) = match cursor {
            Cursor::BlockStart(block) => (block, None, self.first_instr(block)),
            Cursor::AfterPhis(block) => {
                let prev = self.phis(block).last();
                (block, prev, prev.map_or(self.first_instr(block), |p| self.next_instr(p)))
            }
            Cursor::BlockEnd(block) => (block, self.last_instr(block), None),
            Cursor::BeforeJump(block) => match self.block_jump(block) {
                Some((jump, _)) => (block, self.prev_instr(jump), Some(jump)),
                None => (block, self.last_instr(block), None),
            },
            Cursor::Before(at) => (self.placed_block(at), self.prev_instr(at), Some(at)),
            Cursor::After(at) => (self.placed_block(at), Some(at), self.next_instr(at)),
        };
        self.place(instr, block, prev, next);
    }

    fn placed_block(&self, instr: Instr) -> Block {
        self.block_of(instr).expect("a cursor stands at an instruction that is in a block")
    }

    /// Puts an instruction of any kind at the end of a block, without a look at edges.
    pub(crate) fn place_last(&mut self, instr: Instr, block: Block) {
        let last = self.last_instr(block);
        self.place(instr, block, last, None);
    }

    pub(crate) fn place(
        &mut self,
        instr: Instr,
        block: Block,
        prev: Option<Instr>,
        next: Option<Instr>,
    ) {
        let h = self.header_mut(instr);
        h.block = block.into();
        h.prev = prev.into();
        h.next = next.into();
        match prev {
            Some(prev) => self.header_mut(prev).next = instr.into(),
            None => self.blocks[block.index()].first = instr.into(),
        }
        match next {
            Some(next) => self.header_mut(next).prev = instr.into(),
            None => self.blocks[block.index()].last = instr.into(),
        }
    }

    /// Takes an instruction out of its block; its sources and uses stay.
    pub fn detach(&mut self, instr: Instr) {
        let h = *self.header(instr);
        let Some(block) = h.block.get() else { return };
        match h.prev.get() {
            Some(prev) => self.header_mut(prev).next = h.next,
            None => self.blocks[block.index()].first = h.next,
        }
        match h.next.get() {
            Some(next) => self.header_mut(next).prev = h.prev,
            None => self.blocks[block.index()].last = h.prev,
        }
        let h = self.header_mut(instr);
        h.block = PackedOption::NONE;
        h.prev = PackedOption::NONE;
        h.next = PackedOption::NONE;
    }

    /// Moves an instruction, not a jump, to another place.
    pub fn move_to(&mut self, instr: Instr, cursor: Cursor) {
        self.detach(instr);
        self.insert(instr, cursor);
    }

    // ---- removal and compaction ---------------------------------------------------------------------

    /// Removes an instruction whose value is unused, and its uses of others. Jumps are removed by
    /// [`Function::remove_jump`].
    pub fn remove(&mut self, instr: Instr) {
        debug_assert!(!self.is_used(instr.def()), "a removed value is still used");
        self.detach(instr);
        self.clear_srcs(instr);
        self.names.remove(&instr.def());
        if let Some(origins) = &mut self.origins {
            origins.removed(instr.def());
        }
        let h = self.header_mut(instr);
        h.kind = InstrKind::Undef;
        h.payload = Header::DEAD;
    }

    /// Drops the sources of an instruction that is about to be removed together with others that use it.
    pub fn clear_srcs(&mut self, instr: Instr) {
        for n in 0..usize::from(self.header(instr).num_srcs) {
            self.unlink_use(self.src_id(instr, n));
        }
        self.header_mut(instr).num_srcs = 0;
    }

    /// Whether the instruction was removed.
    pub fn is_removed(&self, instr: Instr) -> bool {
        let h = self.header(instr);
        h.kind == InstrKind::Undef && h.payload == Header::DEAD
    }

    /// Gives back the memory that the arenas hold beyond their contents: for a function that was just built, and will be
    /// changed less than it has grown.
    pub fn shrink_to_fit(&mut self) {
        self.instrs.shrink_to_fit();
        self.uses.shrink_to_fit();
        self.consts.shrink_to_fit();
        self.indices.shrink_to_fit();
        self.derefs.shrink_to_fit();
        self.texs.shrink_to_fit();
        self.phi_preds.shrink_to_fit();
        self.blocks.shrink_to_fit();
        self.nodes.shrink_to_fit();
        self.lists.shrink_to_fit();
    }

    /// Bytes that the function's arena takes, in use or not.
    pub fn arena_bytes(&self) -> usize {
        size_of::<Header>() * self.instrs.capacity()
            + size_of::<Use>() * self.uses.capacity()
            + 8 * self.consts.capacity()
            + 4 * self.indices.capacity()
            + size_of::<DerefInfo>() * self.derefs.capacity()
            + size_of::<TexInfo>() * self.texs.capacity()
            + 4 * self.phi_preds.capacity()
            + size_of::<BlockData>() * self.blocks.capacity()
            + size_of::<NodeData>() * self.nodes.capacity()
            + size_of::<ListData>() * self.lists.capacity()
    }

    /// The body's list of nodes.
    pub fn body(&self) -> CfList {
        CfList(0)
    }
}
