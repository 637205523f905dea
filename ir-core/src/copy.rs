//! Copies of code: between functions, within one, and of a whole function into a compact arena.
//!
//! A copy is made in two steps: every instruction of the list is created with the sources of the original and the
//! tree is built, then sources, predecessors of phis and use lists are put right, when all copies are known.

use crate::cf::{Extracted, NodeKind};
use crate::entity::{Block, CfList, Def, Instr, UseId, Var};
use crate::func::{Cursor, Function};
use crate::instr::{
    DerefInfo, DerefKind, Flags, InstrInit, InstrKind, InstrView, JumpKind, Shape, Swizzle, TexInfo,
};
use crate::intrinsic::{Index, Intrinsic};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

/// What stands for what in a copy.
///
/// Filled in beforehand, it substitutes: an instruction whose value has an entry is not copied, its uses become uses
/// of the entry.
#[derive(Clone, Debug, Default)]
pub struct CopyMap {
    /// Values of the original and what stands for them in the copy.
    pub defs: FxHashMap<Def, Def>,
    /// Blocks of the original and their copies.
    pub blocks: FxHashMap<Block, Block>,
}

/// A function's code, copied into another.
#[derive(Clone, Debug)]
pub struct InlinedBody {
    /// What the function returned, in terms of the function that it was copied into.
    pub value: Option<Def>,
    /// The block that the copy ends in: what stood behind the cursor follows in it.
    pub last_block: Block,
    /// Copies of the values and blocks.
    pub map: CopyMap,
}

/// A payload that borrows from no function.
enum Payload {
    Alu(crate::op::AluOp),
    Intrinsic(Intrinsic, SmallVec<[u32; 8]>),
    Tex(TexInfo),
    Deref(DerefInfo),
    LoadConst(SmallVec<[u64; 4]>),
    Undef,
    Phi(SmallVec<[Block; 4]>),
    Jump(JumpKind),
    Call(crate::entity::Func),
    ParallelCopy,
}

impl Payload {
    fn of(view: InstrView<'_>) -> Self {
        match view {
            InstrView::Alu(op) => Payload::Alu(op),
            InstrView::Intrinsic(op, indices) => Payload::Intrinsic(op, indices.into()),
            InstrView::Tex(tex) => Payload::Tex(tex.clone()),
            InstrView::Deref(deref) => Payload::Deref(*deref),
            InstrView::LoadConst(bits) => Payload::LoadConst(bits.into()),
            InstrView::Undef => Payload::Undef,
            InstrView::Phi(preds) => Payload::Phi(preds.into()),
            InstrView::Jump(jump) => Payload::Jump(jump),
            InstrView::Call(func) => Payload::Call(func),
            InstrView::ParallelCopy => Payload::ParallelCopy,
        }
    }

    fn init(&self) -> InstrInit<'_> {
        match self {
            Payload::Alu(op) => InstrInit::Alu(*op),
            Payload::Intrinsic(op, indices) => InstrInit::Intrinsic(*op, indices),
            Payload::Tex(tex) => InstrInit::Tex(tex.clone()),
            Payload::Deref(deref) => InstrInit::Deref(*deref),
            Payload::LoadConst(bits) => InstrInit::LoadConst(bits),
            Payload::Undef => InstrInit::Undef,
            Payload::Phi(preds) => InstrInit::Phi(preds),
            Payload::Jump(jump) => InstrInit::Jump(*jump),
            Payload::Call(func) => InstrInit::Call(*func),
            Payload::ParallelCopy => InstrInit::ParallelCopy,
        }
    }
}

/// An instruction on its own, its sources still those of the original.
struct Original {
    payload: Payload,
    shape: Shape,
    flags: Flags,
    srcs: SmallVec<[(Def, Swizzle); 4]>,
    name: Option<String>,
    /// The rules that made it.
    origin: Vec<&'static str>,
}

impl Original {
    fn of(f: &Function, instr: Instr) -> Self {
        Original {
            payload: Payload::of(f.view(instr)),
            shape: f.shape(instr.def()),
            flags: f.flags(instr),
            srcs: f.srcs(instr).iter().map(|u| (u.def, u.swizzle)).collect(),
            name: f.names.get(&instr.def()).cloned(),
            origin: f.origins.as_ref().map_or(Vec::new(), |o| o.of(instr.def()).to_vec()),
        }
    }
}

/// A copy under way. The original is another function, or, where that is `None`, the one copied into.
struct Copy<'a> {
    src: Option<&'a Function>,
    dst: &'a mut Function,
    map: CopyMap,
    /// Copied instructions, whose sources are to be mapped.
    instrs: Vec<Instr>,
    /// Copied conditions.
    conditions: Vec<UseId>,
    /// What to add to the number of a local variable.
    local_base: usize,
    /// What parameters become.
    params: &'a [Def],
    /// A block whose copy is there already.
    start: Option<(Block, Block)>,
}

impl<'a> Copy<'a> {
    fn new(src: Option<&'a Function>, dst: &'a mut Function, map: CopyMap) -> Self {
        Copy {
            src,
            dst,
            map,
            instrs: Vec::new(),
            conditions: Vec::new(),
            local_base: 0,
            params: &[],
            start: None,
        }
    }

    fn src(&self) -> &Function {
        self.src.unwrap_or(self.dst)
    }

    /// Copies the nodes of one list into another, which is empty.
    fn list(&mut self, from: CfList, to: CfList) {
        let mut lists = vec![(from, to)];
        while let Some((from, to)) = lists.pop() {
            let mut next = self.src().list_nodes(from).next();
            while let Some(node) = next {
                next = self.src().next_node(node);
                let kind = self.src().node_kind(node);
                let mut inner = |copy: &mut Self, list| {
                    let to = copy.dst.raw_list();
                    lists.push((list, to));
                    to
                };
                let kind = match kind {
                    NodeKind::Block(block) => {
                        self.block(block, to);
                        continue;
                    }
                    NodeKind::If { then_list, else_list } => NodeKind::If {
                        then_list: inner(self, then_list),
                        else_list: inner(self, else_list),
                    },
                    NodeKind::Loop { body, continue_list } => NodeKind::Loop {
                        body: inner(self, body),
                        continue_list: inner(self, continue_list),
                    },
                    NodeKind::Once { body } => NodeKind::Once { body: inner(self, body) },
                };
                let copy = self.dst.append_node(to, kind);
                let control = self.src().node_control(node);
                self.dst.set_node_control(copy, control);
                if let Some(condition) = self.src().condition(node) {
                    self.dst.raw_condition(copy, condition);
                    self.conditions.push(UseId(self.dst.uses.len() as u32 - 1));
                }
            }
        }
    }

    fn block(&mut self, block: Block, to: CfList) {
        let copy = match self.start.take_if(|start| start.0 == block) {
            Some((_, copy)) => copy,
            None => self.dst.append_block(to),
        };
        self.map.blocks.insert(block, copy);
        let mut next = self.src().first_instr(block);
        while let Some(instr) = next {
            next = self.src().next_instr(instr);
            if self.map.defs.contains_key(&instr.def()) {
                continue;
            }
            let mut original = Original::of(self.src(), instr);
            match &mut original.payload {
                Payload::Intrinsic(Intrinsic::LOAD_PARAM, _) if !self.params.is_empty() => {
                    let index = self.src().index(instr, Index::PARAM_IDX);
                    let param = index.and_then(|n| self.params.get(n as usize));
                    if let Some(&param) = param {
                        self.map.defs.insert(instr.def(), param);
                        continue;
                    }
                }
                Payload::Deref(DerefInfo { kind: DerefKind::Var(var), .. }) if var.is_local() => {
                    *var = Var::local(var.slot() + self.local_base);
                }
                _ => {}
            }
            let new =
                self.dst.create_unlinked(original.payload.init(), original.shape, &original.srcs);
            self.dst.set_flags(new, original.flags);
            self.dst.place_last(new, copy);
            if let Some(name) = original.name {
                self.dst.names.insert(new.def(), name);
            }
            if let Some(origins) = &mut self.dst.origins {
                origins.copied(new.def(), original.origin);
            }
            if original.shape != Shape::NONE {
                self.map.defs.insert(instr.def(), new.def());
            }
            self.instrs.push(new);
        }
    }

    /// Maps sources and predecessors, and links the uses. A value that has no copy is taken as it is within one
    /// function, and is undef in another. Phis lose the sources for blocks that were not copied.
    fn finish(&mut self) {
        let mut missing: FxHashMap<Def, Def> = FxHashMap::default();
        for instr in std::mem::take(&mut self.instrs) {
            let h = *self.dst.header(instr);
            let first = h.srcs as usize;
            for n in first..first + usize::from(h.num_srcs) {
                self.use_record(n, &mut missing);
            }
            if h.kind != InstrKind::Phi {
                continue;
            }
            let preds = h.payload as usize;
            for n in (0..usize::from(h.num_srcs)).rev() {
                match self.map.blocks.get(&self.dst.phi_preds[preds + n]) {
                    Some(&copy) => self.dst.phi_preds[preds + n] = copy,
                    None => self.dst.remove_phi_src(instr, n),
                }
            }
        }
        for id in std::mem::take(&mut self.conditions) {
            self.use_record(id.index(), &mut missing);
        }
    }

    fn use_record(&mut self, n: usize, missing: &mut FxHashMap<Def, Def>) {
        let def = self.dst.uses[n].def;
        let copy = match (self.map.defs.get(&def), self.src) {
            (Some(&copy), _) => copy,
            (None, None) => def,
            (None, Some(src)) => {
                *missing.entry(def).or_insert_with(|| self.dst.undef_at_start(src.shape(def)))
            }
        };
        self.dst.uses[n].def = copy;
        self.dst.link_use(UseId(n as u32));
    }
}

impl Function {
    /// A copy of a list of this function, outside the tree: values defined in the list are replaced by their copies,
    /// others are used as they are. `map` substitutes (see [`CopyMap`]) and learns the copies. Phis of the first block
    /// lose their sources from outside, so give them entries in `map`.
    pub fn clone_list(&mut self, list: CfList, map: &mut CopyMap) -> Extracted {
        let to = self.raw_list();
        let mut copy = Copy::new(None, self, std::mem::take(map));
        copy.list(list, to);
        copy.finish();
        *map = copy.map;
        self.compute_edges_of(to);
        Extracted(to)
    }

    /// Copies the body of `src` to the cursor, with its local variables. Parameter `n` becomes `params[n]`. Both must be
    /// functions of one module.
    ///
    /// `src` must return at most once, at the end of its body: see the pass that lowers returns. Without parameters
    /// given, `load_param` is copied as it is.
    pub fn clone_body_into(
        &mut self,
        cursor: Cursor,
        src: &Function,
        params: &[Def],
    ) -> InlinedBody {
        let local_base = self.locals.len();
        self.locals.extend(src.locals.iter().cloned());
        let list = self.raw_list();
        let mut copy = Copy::new(Some(src), self, CopyMap::default());
        copy.local_base = local_base;
        copy.params = params;
        copy.list(src.body(), list);
        copy.finish();
        let map = copy.map;
        self.compute_edges_of(list);
        let last = self.last_block(list);
        let returned = self.block_jump(last).filter(|(_, jump)| *jump == JumpKind::Return);
        let value = returned.and_then(|(jump, _)| self.srcs(jump).first().map(|u| u.def));
        if returned.is_some() {
            self.remove_jump(last);
        }
        let single = self.first_block(list) == last;
        // The usual small body goes in without a split of the block, which costs what stands behind the cursor.
        if let Cursor::Before(at) = cursor
            && single
            && self.block_jump(last).is_none()
        {
            self.move_all_before(last, at);
            let home = self.block_of(at).expect("a cursor stands in a block");
            return InlinedBody { value, last_block: home, map };
        }
        let taken = Extracted(list);
        let last_block = match cursor {
            Cursor::Before(at) if !single => self.reinsert_before(taken, at),
            _ => {
                let before = self.reinsert_at(taken, cursor);
                if single { before } else { last }
            }
        };
        InlinedBody { value, last_block, map }
    }

    /// A copy of an instruction, with its sources, flags and origins, that is in no block yet.
    pub fn duplicate(&mut self, instr: Instr) -> Instr {
        let original = Original::of(self, instr);
        let srcs: SmallVec<[Def; 4]> = original.srcs.iter().map(|&(def, _)| def).collect();
        let copy = self.create(original.payload.init(), original.shape, &srcs);
        for (n, &(_, swizzle)) in original.srcs.iter().enumerate() {
            self.set_swizzle(copy, n, swizzle);
        }
        self.set_flags(copy, original.flags);
        if let Some(origins) = &mut self.origins {
            origins.copied(copy.def(), original.origin);
        }
        copy
    }

    /// The same function in an arena without dead memory. All entities are renumbered in the order of the text.
    #[must_use]
    pub fn compacted(&self) -> Function {
        let mut new = Function::new("");
        new.name.clone_from(&self.name);
        new.params.clone_from(&self.params);
        new.ret.clone_from(&self.ret);
        new.control = self.control;
        new.locals.clone_from(&self.locals);
        new.float_env = self.float_env;
        new.dialects = self.dialects;
        new.has_body = self.has_body;
        new.origins = self.origins.as_ref().map(|_| Box::default());
        let (mut instrs, mut uses) = (0, 0);
        for instr in self.all_instrs() {
            instrs += 1;
            uses += self.srcs(instr).len();
        }
        new.instrs.reserve_exact(instrs);
        new.uses.reserve_exact(uses);
        let (body, start) = (new.body(), new.start_block());
        let mut copy = Copy::new(Some(self), &mut new, CopyMap::default());
        copy.start = Some((self.start_block(), start));
        copy.list(self.body(), body);
        copy.finish();
        new.compute_edges();
        new
    }

    /// Gives back the memory of removed instructions, blocks and payloads. All entities are renumbered.
    pub fn compact(&mut self) {
        *self = self.compacted();
    }
}
