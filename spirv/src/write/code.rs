//! Instructions of a function body: what was written so far, phis, calls; all others by the modules around.

use super::Writer;
use super::alu::is_negated;
use super::labels::Labels;
use super::operand::canonical;
use super::out::Words;
use super::pointers::{PointerType, pointer_values};
use super::raise::Raise;
use super::signs::is_held;
use super::switch::Switches;
use super::types::{Class, ValueType};
use super::wholes::{self, Wholes};
use crate::error::Error;
use deburr_ir_core::{AluOp, Block, Def, Func, Function, Instr, InstrKind, InstrView, Swizzle};
use rustc_hash::{FxHashMap, FxHashSet};
use spirv::Op;

/// A value seen through a swizzle, as a class: written once in each scope.
pub(super) type Variant = (Def, Swizzle, u8, Class);

/// An aggregate: the id of its type, and its leaves. Types of other nesting may have the same leaves.
pub(super) type Whole = (u32, Vec<Def>);

/// What is forgotten at the end of the list that it was written in.
enum Logged {
    Variant(Variant),
    Whole(Whole),
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
    wholes: FxHashMap<Whole, u32>,
    /// Structs that instructions returned, by the instruction's words without its result, and its flags.
    pairs: FxHashMap<Vec<u32>, u32>,
    log: Vec<Logged>,
    pub raise: Raise,
    /// Casts that phis need, to be written beside the value.
    phi_casts: FxHashMap<Def, Vec<Class>>,
    /// Ids of such casts that phis named before they were written.
    early_casts: FxHashMap<(Def, Class), u32>,
    pub pointers: FxHashMap<Def, u32>,
    /// Ids of pointers that phis named before they were written.
    pub early_pointers: FxHashMap<Def, u32>,
    /// Variables that are values.
    pub objects: Wholes,
    /// Ids that are decorated NonUniform.
    pub non_uniform: FxHashSet<u32>,
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
        let objects = wholes::find(f, &w.module.types);
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
            pointers: FxHashMap::default(),
            early_pointers: FxHashMap::default(),
            objects,
            non_uniform: FxHashSet::default(),
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
                Logged::Whole(whole) => self.wholes.remove(&whole),
                Logged::Pair(words) => self.pairs.remove(&words),
            };
        }
    }

    /// The aggregate of these values, if it was written in this scope.
    pub fn known_whole(&self, whole: &Whole) -> Option<u32> {
        self.wholes.get(whole).copied()
    }

    pub fn remember_whole(&mut self, whole: Whole, id: u32) {
        self.wholes.insert(whole.clone(), id);
        self.log.push(Logged::Whole(whole));
    }

    /// The struct that an instruction of these words and flags gave in this scope.
    pub fn known_pair(&self, words: &[u32]) -> Option<u32> {
        self.pairs.get(words).copied()
    }

    pub fn remember_pair(&mut self, words: Vec<u32>, id: u32) {
        self.pairs.insert(words.clone(), id);
        self.log.push(Logged::Pair(words));
    }

    /// The value as it was written in this scope.
    pub fn known(&self, variant: &Variant) -> Option<u32> {
        self.variants.get(variant).copied()
    }

    pub fn remember(&mut self, variant: Variant, id: u32) -> u32 {
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

    /// Lets the value be the id; where the value's id was given out before, a copy joins them.
    pub(super) fn alias(&mut self, def: Def, id: u32) -> Result<(), Error> {
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

    /// Lets a value stand for an id that exists already.
    pub fn set_id(&mut self, def: Def, id: u32) {
        self.ids.insert(def, id);
    }

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
                        && (self.class(def) != class || self.is_pointer_value(def))
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
            let id = match self.early_casts.get(&(def, class)) {
                Some(&id) => id,
                None => self.w.id(),
            };
            match self.is_pointer_value(def) {
                true => self.address(def, class, id)?,
                false => {
                    let from = self.id_of(def);
                    let ty = ValueType { class, bits: self.f.bits(def), comps };
                    let type_id = self.w.value_type(ty);
                    self.code.op(Op::Bitcast, &[type_id, id, from]);
                }
            }
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
        if constant || self.class(def) == ty.class && !self.is_pointer_value(def) {
            return self.operand(def, Swizzle::IDENTITY, ty.comps, ty.class);
        }
        // The cast may come later in the text: its id is given out now, once for all the phis that stand before it.
        let variant = (def, canonical(Swizzle::IDENTITY, ty.comps), ty.comps, ty.class);
        match self.variants.get(&variant).or(self.early_casts.get(&(def, ty.class))) {
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
            InstrView::Alu(_) if is_held(f, instr) => return Ok(()),
            // At their uses, or by the block.
            InstrView::LoadConst(_) | InstrView::Undef | InstrView::Phi(_) | InstrView::Jump(_) => {
                return Ok(());
            }
            InstrView::Alu(op) => self.alu(instr, op)?,
            InstrView::Intrinsic(op, _) => self.intrinsic(instr, op)?,
            InstrView::Tex(_) => self.tex(instr)?,
            InstrView::Deref(_) => {
                self.deref(instr)?;
                return self.write_phi_casts(instr.def());
            }
            InstrView::Call(func) => {
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
                    let param = self.w.module[func].params.get(n).map(|p| p.ty);
                    operands.push(self.argument(instr, n, param)?);
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
