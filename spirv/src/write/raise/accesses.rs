//! Loads and stores of every leaf of an aggregate: one load, one store.

use super::leaves::{
    Leaves, MAX_CLIMB, copies_logically, leaf_count, leaf_paths, part_type, parts,
};
use super::{Emit, Kind, Raise, Want};
use crate::error::Error;
use crate::write::copy::Access;
use crate::write::decorate::has_rounding;
use crate::write::memory::is_marked;
use crate::write::narrow::is_storage_only_type;
use deburr_ir_core::{
    Block, Constant, Def, DerefKind, Function, Index, Instr, InstrKind, InstrView, Intrinsic,
    IntrinsicFlags, Module, Swizzle, Type, TypeData, User,
};
use spirv::Op;
use std::rc::Rc;

impl Raise {
    pub(super) fn find_accesses(&mut self, f: &Function, module: &Module, block: Block) {
        let mut loads: Vec<Instr> = Vec::new();
        let mut stores: Vec<Instr> = Vec::new();
        for instr in f.instrs(block) {
            match f.view(instr) {
                InstrView::Intrinsic(Intrinsic::LOAD_DEREF, _) => {
                    self.flush(f, module, &mut stores, false);
                    loads.push(instr);
                }
                InstrView::Intrinsic(Intrinsic::STORE_DEREF, _) => {
                    self.flush(f, module, &mut loads, true);
                    stores.push(instr);
                }
                InstrView::Call(_) => {
                    self.flush(f, module, &mut loads, true);
                    self.flush(f, module, &mut stores, false);
                }
                InstrView::Intrinsic(..) => {
                    let Some(info) = f.intrinsic_info(instr) else { continue };
                    let memory = info.memory;
                    let orders = info.flags.contains(IntrinsicFlags::BARRIER)
                        || f.index(instr, Index::MEMORY_SEMANTICS).is_some_and(|s| s != 0);
                    let writes = !memory.writes.is_empty() || memory.writes_deref || orders;
                    let reads = !memory.reads.is_empty() || memory.reads_deref;
                    if writes {
                        self.flush(f, module, &mut loads, true);
                    }
                    if writes || reads || memory.reads_deref1 {
                        self.flush(f, module, &mut stores, false);
                    }
                }
                InstrView::Alu(_)
                | InstrView::Tex(_)
                | InstrView::Deref(_)
                | InstrView::LoadConst(_)
                | InstrView::Undef
                | InstrView::Phi(_)
                | InstrView::Jump(_)
                | InstrView::ParallelCopy => {}
            }
        }
        self.flush(f, module, &mut loads, true);
        self.flush(f, module, &mut stores, false);
    }

    /// Values that the module can only load and store are no parts of aggregates, except where one is copied whole.
    pub(super) fn leave_narrow_apart(&mut self, f: &Function, module: &Module) {
        let is_narrow = |kind: &Kind| match *kind {
            Kind::Load { ty, .. } | Kind::Store { ty, .. } => {
                let leaves = self.leaves.get(&ty).and_then(Option::as_ref);
                leaves
                    .is_some_and(|l| l.iter().any(|(_, leaf)| is_storage_only_type(module, *leaf)))
            }
            Kind::Columns | Kind::Product { .. } | Kind::Scale { .. } => false,
        };
        let narrow: Vec<bool> = self.groups.iter().map(|g| is_narrow(&g.kind)).collect();
        if !narrow.contains(&true) {
            return;
        }
        // The load that a store stores all of.
        let copied: Vec<Option<usize>> = (0..self.groups.len())
            .map(|n| {
                let store = &self.groups[n];
                let Kind::Store { ty, .. } = store.kind else { return None };
                let &(load, _) = self.of_instr.get(&store.parts.first()?.instr())?;
                let from = &self.groups[load];
                let whole = matches!(from.kind, Kind::Load { ty: own, .. } if own == ty);
                (whole && from.parts == store.parts).then_some(load)
            })
            .collect();
        let only_copied = |load: usize| {
            self.groups[load].parts.iter().flat_map(|&p| f.uses_at(p)).all(|(user, n)| {
                let User::Instr(store) = user else { return false };
                n == 1 && self.of_instr.get(&store).is_some_and(|&(s, _)| copied[s] == Some(load))
            })
        };
        let stays = |n: usize| match self.groups[n].kind {
            _ if !narrow[n] => true,
            Kind::Load { .. } => only_copied(n),
            _ => copied[n].is_some_and(only_copied),
        };
        let stay: Vec<bool> = (0..self.groups.len()).map(stays).collect();
        self.of_instr.clear();
        self.parents.clear();
        for (group, stays) in std::mem::take(&mut self.groups).into_iter().zip(stay) {
            if stays {
                self.add(group.kind, group.parts, group.instrs);
            }
        }
    }

    /// Makes groups of a run of loads or stores.
    fn flush(&mut self, f: &Function, module: &Module, run: &mut Vec<Instr>, loads: bool) {
        let mut at = 0;
        while at + 1 < run.len() {
            at += match self.group_at(f, module, &run[at..]) {
                Some((parent, ty, count)) => {
                    let instrs = run[at..at + count].to_vec();
                    let part = |&i: &Instr| if loads { i.def() } else { f.src(i, 1) };
                    let parts = instrs.iter().map(part).collect();
                    let kind = match loads {
                        true => Kind::Load { parent, ty },
                        false => Kind::Store { parent, ty },
                    };
                    self.add(kind, parts, instrs);
                    count
                }
                None => 1,
            };
        }
        run.clear();
    }

    /// The largest object whose leaves the run begins with: its deref, type and number of leaves.
    fn group_at(
        &mut self,
        f: &Function,
        module: &Module,
        run: &[Instr],
    ) -> Option<(Def, Type, usize)> {
        let mut best = None;
        let mut at = f.src(run[0], 0);
        for _ in 0..MAX_CLIMB {
            if step_index(f, at) != Some(0) {
                break;
            }
            at = f.src(at.instr(), 0);
            let Some(ty) = f.deref(at.instr()).map(|d| d.ty) else { break };
            let Some(leaves) = self.leaves_of(module, ty) else { break };
            if leaves.len() > run.len() {
                break;
            }
            if leaves.len() > 1 && covers(f, module, run, at, &leaves) {
                best = Some((at, ty, leaves.len()));
            }
        }
        best
    }

    pub(super) fn leaves_of(&mut self, module: &Module, ty: Type) -> Option<Leaves> {
        if let Some(known) = self.leaves.get(&ty) {
            return known.clone();
        }
        let leaves = leaf_paths(module, ty).map(Rc::new);
        self.leaves.insert(ty, leaves.clone());
        leaves
    }
}

/// The constant index of an array step, or the member of a struct step. A step that is marked is its object's last:
/// the mark would be lost above it.
fn step_index(f: &Function, deref: Def) -> Option<u32> {
    let info = f.deref(deref.instr()).filter(|info| !is_marked(info))?;
    match info.kind {
        DerefKind::Struct(member) => Some(member),
        DerefKind::Array => {
            f.constant(f.src(deref.instr(), 1)).and_then(|c| u32::try_from(c[0]).ok())
        }
        DerefKind::Var(_) | DerefKind::Wildcard | DerefKind::Cast | DerefKind::PtrAsArray => None,
    }
}

/// Whether the accesses go to the leaves of the object in order, all in the same way.
fn covers(f: &Function, module: &Module, run: &[Instr], parent: Def, leaves: &Leaves) -> bool {
    let InstrView::Intrinsic(op, indices) = f.view(run[0]) else { return false };
    let is_store = op == Intrinsic::STORE_DEREF;
    leaves.iter().zip(run).all(|((path, ty), &instr)| {
        let InstrView::Intrinsic(_, own) = f.view(instr) else { return false };
        let value = if is_store { f.src(instr, 1) } else { instr.def() };
        let Some((comps, bits)) = module.types.value_shape(*ty) else { return false };
        let full = |mask: u32| mask & ((1 << comps) - 1) == (1 << comps) - 1;
        // The alignment is that of the leaf, whatever the others are aligned to.
        let same = match (own, indices) {
            (&[mask, access, _, scope], &[_, access0, _, scope0]) if is_store => {
                (access, scope) == (access0, scope0) && full(mask)
            }
            (&[access, _, scope], &[access0, _, scope0]) => (access, scope) == (access0, scope0),
            _ => false,
        };
        let mut at = f.src(instr, 0);
        let alone = is_store && has_rounding(f, value);
        same && !alone
            && (f.comps(value), f.bits(value)) == (comps, bits)
            && path.iter().rev().all(|&index| {
                let here = step_index(f, at) == Some(index);
                if here {
                    at = f.src(at.instr(), 0);
                }
                here
            })
            && at == parent
    })
}

impl Emit<'_, '_> {
    /// A load that is a part of a larger one; `false` if it stands for itself.
    pub(in crate::write) fn raised_load(&mut self, instr: Instr) -> Result<bool, Error> {
        let Some(&(group, n)) = self.raise.of_instr.get(&instr) else { return Ok(false) };
        let Kind::Load { parent, ty } = self.raise.groups[group].kind else { return Ok(false) };
        if n == 0 {
            let id = match self.whole_value(parent, ty)? {
                Some(id) => id,
                None => {
                    let pointer = self.pointer(parent)?;
                    let type_id = self.w.ir_type(ty)?;
                    let id = self.w.id();
                    let mut operands = vec![type_id, id, pointer];
                    self.whole_access(group, ty, &mut operands);
                    self.code.op(Op::Load, &operands);
                    id
                }
            };
            self.raise.groups[group].id = Some(id);
        }
        self.extract_part(instr.def(), group, n)?;
        Ok(true)
    }

    /// A store that is a part of a larger one; `false` if it stands for itself.
    pub(in crate::write) fn raised_store(&mut self, instr: Instr) -> Result<bool, Error> {
        let Some(&(group, n)) = self.raise.of_instr.get(&instr) else { return Ok(false) };
        let Kind::Store { parent, ty } = self.raise.groups[group].kind else { return Ok(false) };
        let parts = self.raise.groups[group].parts.clone();
        if n + 1 == parts.len() {
            let value = self.aggregate(ty, &parts)?;
            let pointer = self.pointer(parent)?;
            let mut operands = vec![pointer, value];
            self.whole_access(group, ty, &mut operands);
            self.code.op(Op::Store, &operands);
        }
        Ok(true)
    }

    /// Memory operands of the access to the whole: the object is aligned as far as its first leaf tells.
    fn whole_access(&mut self, group: usize, ty: Type, operands: &mut Vec<u32>) {
        let access = self.access_of(self.raise.groups[group].instrs[0]);
        let leaves = self.raise.leaves_of(self.w.module, ty);
        let first = leaves.as_ref().and_then(|l| l.first()).map_or(&[][..], |l| &l.0);
        let align = self.w.module.types.part_align(ty, first, access.align);
        self.push_access(Access { align, ..access }, operands);
    }

    /// The value of a type from its leaves.
    fn aggregate(&mut self, ty: Type, leaves: &[Def]) -> Result<u32, Error> {
        if let Some(id) = self.whole_id(leaves, Want::Type(ty))? {
            return Ok(id);
        }
        if let Some(id) = self.copied_whole(ty, leaves)? {
            return Ok(id);
        }
        if let Some(constant) = self.constant_of(ty, leaves) {
            return self.w.initialiser(ty, &constant);
        }
        let module = self.w.module;
        if let (Some(value), [leaf]) = (self.w.memory_value_type(ty), leaves) {
            return self.operand(*leaf, Swizzle::IDENTITY, value.comps, value.class);
        }
        let type_id = self.w.ir_type(ty)?;
        let mut ids = Vec::new();
        let mut rest = leaves;
        // Types nest as deep as MAX_CLIMB here.
        for part in parts(module, ty) {
            let (own, others) = rest.split_at(leaf_count(module, part).min(rest.len()));
            ids.push(self.aggregate(part, own)?);
            rest = others;
        }
        let id = self.w.id();
        let mut words = vec![type_id, id];
        words.extend(ids);
        self.code.op(Op::CompositeConstruct, &words);
        Ok(id)
    }

    /// The leaves as a whole of another layout, copied into this type.
    fn copied_whole(&mut self, ty: Type, leaves: &[Def]) -> Result<Option<u32>, Error> {
        let module = self.w.module;
        let aggregate = matches!(module.types[ty], TypeData::Struct(_) | TypeData::Array { .. });
        if leaves.is_empty() || !aggregate || !copies_logically(module) {
            return Ok(None);
        }
        let Some((group, path)) = self.raise.whole(module, self.f, leaves, Want::Like(ty)) else {
            return Ok(None);
        };
        let from = match &self.raise.groups[group].kind {
            Kind::Load { ty, .. } => path.iter().try_fold(*ty, |ty, &n| part_type(module, ty, n)),
            _ => None,
        };
        let Some(from) = from else { return Ok(None) };
        let Some(whole) = self.whole_id(leaves, Want::Type(from))? else { return Ok(None) };
        let type_id = self.w.ir_type(ty)?;
        let id = self.w.id();
        self.code.op(Op::CopyLogical, &[type_id, id, whole]);
        Ok(Some(id))
    }

    /// The constant that the leaves make, if all of them are.
    fn constant_of(&self, ty: Type, leaves: &[Def]) -> Option<Constant> {
        if leaves.iter().all(|&l| f_is_zero(self.f, l)) {
            return Some(Constant::Null);
        }
        if self.w.module.types.value_shape(ty).is_some() {
            return Some(Constant::Bits(self.f.constant(*leaves.first()?)?.to_vec()));
        }
        let mut rest = leaves;
        let mut constants = Vec::new();
        for part in parts(self.w.module, ty) {
            let count = leaf_count(self.w.module, part);
            let (own, others) = rest.split_at_checked(count)?;
            constants.push(self.constant_of(part, own)?);
            rest = others;
        }
        Some(Constant::Composite(constants))
    }
}

fn f_is_zero(f: &Function, def: Def) -> bool {
    f.kind(def.instr()) == InstrKind::LoadConst
        && f.constant(def).is_some_and(|c| c.iter().all(|&bits| bits == 0))
}
