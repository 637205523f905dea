//! One instruction of one invocation.

use crate::Trap;
use crate::address::{Addresses, Each, Step, scalar_bytes};
use crate::machine::{Frame, Invocation, Machine, Status};
use crate::memory::{Object, Pointer, Space, component_shadow};
use crate::place::meets;
use crate::subgroup::named_op;
use deburr_ir_core::{
    Block, Def, Flags, Function, Index, Instr, InstrView, Intrinsic, JumpKind, NodeKind, Swizzle,
    Type, TypeData,
    fold::{self, Shadow},
    index::{atomic_op, execution_scope},
};

impl Frame {
    pub fn value<'a>(&'a self, m: &Machine<'_>, f: &Function, def: Def) -> &'a [u64] {
        let at = m.code[self.func.index()].slots[def.index()] as usize;
        &self.regs[at..at + usize::from(f.comps(def))]
    }

    pub fn set(&mut self, m: &Machine<'_>, f: &Function, def: Def, value: &[u64], shadow: Shadow) {
        let at = m.code[self.func.index()].slots[def.index()] as usize;
        let comps = usize::from(f.comps(def));
        self.regs[at..at + comps].copy_from_slice(&value[..comps]);
        self.shadows[def.index()] = shadow;
    }

    pub fn shadow(&self, def: Def) -> Shadow {
        self.shadows[def.index()]
    }
}

/// How the components of a value lie in memory.
struct Access {
    pointer: Pointer,
    bytes: usize,
    stride: u64,
}

impl Machine<'_> {
    /// Runs the next instruction, or leaves the block.
    pub(crate) fn step(&mut self, invocation: &mut Invocation) -> Result<(), Trap> {
        self.steps += 1;
        if self.steps > self.dispatch.fuel {
            return Err(Trap::Fuel);
        }
        let Some(frame) = invocation.frames.last_mut() else {
            invocation.status = Status::Done;
            return Ok(());
        };
        let module = self.module;
        let f = &module[frame.func];
        let Some(instr) = frame.next else {
            self.leave_block(invocation, f);
            return Ok(());
        };
        frame.next = f.next_instr(instr);
        match f.view(instr) {
            InstrView::Phi(_) => {} // on entering the block
            InstrView::Alu(_) => self.alu(frame, f, instr)?,
            InstrView::LoadConst(bits) => frame.set(self, f, instr.def(), bits, Shadow::CLEAN),
            InstrView::Undef => {
                frame.set(self, f, instr.def(), &[0; 16], Shadow { free: u16::MAX, nan: 0 });
            }
            InstrView::Deref(_) => self.deref(frame, f, instr)?,
            InstrView::Call(func) => {
                let args = f
                    .srcs(instr)
                    .iter()
                    .map(|s| (frame.value(self, f, s.def()).to_vec(), frame.shadow(s.def())));
                let args = args.collect();
                self.enter(invocation, func, args, Some(instr))?;
            }
            InstrView::Jump(jump) => self.jump(invocation, f, instr, jump),
            InstrView::Intrinsic(op, _) => self.intrinsic(invocation, f, instr, op)?,
            InstrView::Tex(_) => return Err(Trap::Unsupported("texture operations".into())),
            InstrView::ParallelCopy => return Err(Trap::Unsupported("registers".into())),
        }
        Ok(())
    }

    // ---- control flow -------------------------------------------------------------------------------

    fn leave_block(&mut self, invocation: &mut Invocation, f: &Function) {
        let Some(frame) = invocation.frames.last_mut() else { return };
        let next = f.block_node(frame.block).and_then(|n| f.next_node(n));
        let [first, second] = f.structural_successors(frame.block);
        let target = match next.map(|n| (n, f.node_kind(n))) {
            Some((node, NodeKind::If { .. })) => {
                let Some(condition) = f.condition(node) else { return };
                self.free_control |= frame.shadow(condition).free & 1 != 0;
                if frame.value(self, f, condition)[0] != 0 { first } else { second }
            }
            Some((_, NodeKind::Block(_) | NodeKind::Loop { .. } | NodeKind::Once { .. }))
            | None => first,
        };
        self.go(invocation, f, target);
    }

    /// Enters a block; phis take their values all at once.
    fn go(&mut self, invocation: &mut Invocation, f: &Function, target: Option<Block>) {
        let Some(target) = target.filter(|&t| t != f.end_block()) else {
            self.leave_function(invocation, f, None);
            return;
        };
        let Some(frame) = invocation.frames.last_mut() else { return };
        let from = frame.block;
        let (mut values, mut phis) =
            (std::mem::take(&mut self.scratch), std::mem::take(&mut self.phis));
        values.clear();
        for phi in f.phis(target) {
            let Some(src) = f.phi_src(phi, from) else { continue };
            values.extend(frame.value(self, f, src));
            phis.push((phi.def(), frame.shadow(src)));
        }
        let mut rest = &values[..];
        for (def, shadow) in phis.drain(..) {
            frame.set(self, f, def, rest, shadow);
            rest = &rest[usize::from(f.comps(def))..];
        }
        (self.scratch, self.phis) = (values, phis);
        self.count_rounds(frame, target);
        frame.block = target;
        frame.next = f.first_instr(target);
        self.cover(frame.func, target);
    }

    fn jump(&mut self, invocation: &mut Invocation, f: &Function, instr: Instr, jump: JumpKind) {
        match jump {
            JumpKind::Break | JumpKind::Continue => {
                let block = f.block_of(instr);
                let target = block.and_then(|b| f.structural_successors(b)[0]);
                self.go(invocation, f, target);
            }
            JumpKind::Return => {
                let value = f.srcs(instr).first().map(|s| s.def());
                self.leave_function(invocation, f, value);
            }
            JumpKind::Halt => {
                invocation.frames.clear();
                invocation.status = Status::Done;
            }
        }
    }

    fn leave_function(&mut self, invocation: &mut Invocation, f: &Function, value: Option<Def>) {
        let Some(frame) = invocation.frames.pop() else { return };
        invocation.objects.truncate(frame.locals as usize);
        let Some(caller) = invocation.frames.last_mut() else {
            invocation.status = Status::Done;
            return;
        };
        let outer = &self.module[caller.func];
        if let (Some(call), Some(value)) = (frame.call, value) {
            let bits = frame.value(self, f, value).to_vec();
            let mut out = [0; 16];
            out[..bits.len()].copy_from_slice(&bits);
            caller.set(self, outer, call.def(), &out, frame.shadow(value));
        }
    }

    // ---- values -------------------------------------------------------------------------------------

    fn alu(&mut self, frame: &mut Frame, f: &Function, instr: Instr) -> Result<(), Trap> {
        match f.srcs(instr).len() {
            0..=4 => self.alu_of::<4>(frame, f, instr),
            _ => self.alu_of::<16>(frame, f, instr),
        }
    }

    /// An ALU instruction of at most `N` operands: most have few, and the arrays are made at every step.
    fn alu_of<const N: usize>(
        &mut self,
        frame: &mut Frame,
        f: &Function,
        instr: Instr,
    ) -> Result<(), Trap> {
        let (Some(info), Some(op)) = (f.alu_info(instr), f.alu_op(instr)) else {
            return Err(Trap::Unsupported("an opcode of no table".into()));
        };
        let comps = f.comps(instr.def());
        let srcs = f.srcs(instr);
        // Only an operand with a swizzle is copied.
        let mut swizzled = std::mem::take(&mut self.scratch);
        swizzled.clear();
        for (n, src) in srcs.iter().enumerate() {
            let read = info.src_comps(n, comps);
            if !src.swizzle().is_identity(read) {
                let value = frame.value(self, f, src.def());
                swizzled.extend(src.swizzle().iter(read).map(|c| value[usize::from(c)]));
            }
        }
        let mut pairs: [(&[u64], Shadow); N] = [(&[], Shadow::CLEAN); N];
        let mut plain: [&[u64]; N] = [&[]; N];
        let mut rest = &swizzled[..];
        let mut clean = true;
        for (n, src) in srcs.iter().enumerate() {
            let read = info.src_comps(n, comps);
            let (value, shadow);
            if src.swizzle().is_identity(read) {
                let below = ((1u32 << read) - 1) as u16;
                let whole = frame.shadow(src.def());
                value = &frame.value(self, f, src.def())[..usize::from(read)];
                shadow = Shadow { free: whole.free & below, nan: whole.nan & below };
            } else {
                (value, rest) = rest.split_at(usize::from(read));
                shadow = swizzle_shadow(frame.shadow(src.def()), src.swizzle(), read);
            }
            plain[n] = value;
            pairs[n] = (value, shadow);
            clean &= shadow.is_clean();
        }
        let width = info.unsized_width(f.bits(instr.def()), srcs.iter().map(|s| f.bits(s.def())));
        let mut out = [0; 16];
        let shape = (width, comps);
        let env = &f.float_env;
        let plain = &plain[..srcs.len()];
        let folded = if clean {
            fold::fold_info(info, width, comps, plain, env, &mut out)
        } else {
            fold::fold_shadowed(op, info, shape, &pairs[..srcs.len()], env, &mut out)
        };
        let mut shadow = folded.ok_or_else(|| Trap::Unsupported(format!("`{}`", info.name)))?;
        let flags = f.flags(instr);
        if flags.intersects(Flags::PROMISES) {
            shadow.free |= fold::broken_promises(info, flags, shape, plain, env, &out);
        }
        frame.set(self, f, instr.def(), &out, shadow);
        self.scratch = swizzled;
        Ok(())
    }

    fn deref(&mut self, frame: &mut Frame, f: &Function, instr: Instr) -> Result<(), Trap> {
        let step = self.code[frame.func.index()].derefs[instr.index()].step;
        let parent = |frame: &Frame| {
            let src = f.src(instr, 0);
            (Pointer::from_bits(frame.value(self, f, src)[0]), frame.shadow(src))
        };
        let (pointer, shadow) = match step {
            Step::Var(var) => (self.pointer(frame, var), Shadow::CLEAN),
            Step::Cast => parent(frame),
            Step::Member(offset) => {
                let (base, shadow) = parent(frame);
                (base.add(offset.into()), shadow)
            }
            Step::Element { .. } | Step::Descriptor => {
                let (base, shadow) = parent(frame);
                let index = f.src(instr, 1);
                let bits = u32::from(f.bits(index));
                let raw = frame.value(self, f, index)[0];
                // An index is signed; a large unsigned one is out of every bound either way.
                let value = i128::from((raw << (64 - bits)) as i64 >> (64 - bits));
                let free = frame.shadow(index).free | shadow.free;
                self.free_control |= free & 1 != 0;
                (element(step, base, value), Shadow::CLEAN)
            }
            Step::Unknown(what) => return Err(Trap::Unsupported(what.into())),
        };
        frame.set(self, f, instr.def(), &[pointer.to_bits()], shadow);
        Ok(())
    }

    // ---- memory -------------------------------------------------------------------------------------

    fn access(&mut self, frame: &Frame, f: &Function, deref: Def) -> Result<Access, Trap> {
        let info = self.code[frame.func.index()].derefs[deref.instr().index()];
        if f.deref(deref.instr()).is_none() {
            return Err(Trap::Unsupported("an access through no deref".into()));
        }
        if info.wild {
            return Err(Trap::Unsupported("an access to every element".into()));
        }
        self.free_control |= frame.shadow(deref).free & 1 != 0;
        let pointer = Pointer::from_bits(frame.value(self, f, deref)[0]);
        Ok(Access { pointer, bytes: info.bytes as usize, stride: info.stride })
    }

    fn object<'a>(
        &'a mut self,
        invocation: &'a mut Vec<Object>,
        pointer: Pointer,
    ) -> Option<&'a mut Object> {
        let objects = match pointer.space {
            Space::Dispatch => &mut self.objects,
            Space::Workgroup => &mut self.shared,
            Space::Invocation => invocation,
        };
        objects.get_mut(pointer.object as usize)
    }

    fn load(
        &mut self,
        objects: &mut Vec<Object>,
        access: &Access,
        comps: usize,
    ) -> ([u64; 16], Shadow) {
        let mut out = [0; 16];
        let mut shadow = Shadow::CLEAN;
        for (c, slot) in out.iter_mut().enumerate().take(comps) {
            let at = access.pointer.add(i128::from(access.stride) * c as i128);
            let loaded = self.object(objects, at).and_then(|o| o.load(at.offset, access.bytes));
            // Out of bounds: 0 in buffers, anything elsewhere.
            let (value, free, nan) = loaded.unwrap_or((0, at.space != Space::Dispatch, false));
            self.out_of_bounds |= loaded.is_none();
            *slot = value;
            let part = component_shadow(free, nan, c);
            shadow.free |= part.free;
            shadow.nan |= part.nan;
        }
        (out, shadow)
    }

    fn store(
        &mut self,
        objects: &mut Vec<Object>,
        access: &Access,
        values: &[u64],
        shadow: Shadow,
        mask: u32,
    ) {
        for (c, &value) in values.iter().enumerate().filter(|(c, _)| mask >> c & 1 != 0) {
            let at = access.pointer.add(i128::from(access.stride) * c as i128);
            let (free, nan) = (shadow.free >> c & 1 != 0, shadow.nan >> c & 1 != 0);
            let stored = self
                .object(objects, at)
                .is_some_and(|o| o.store(at.offset, access.bytes, value, free, nan));
            self.out_of_bounds |= !stored;
        }
    }

    fn intrinsic(
        &mut self,
        inv: &mut Invocation,
        f: &Function,
        instr: Instr,
        op: Intrinsic,
    ) -> Result<(), Trap> {
        let Invocation { frames, objects, status, .. } = inv;
        let Some(frame) = frames.last_mut() else { return Ok(()) };
        match op {
            Intrinsic::LOAD_DEREF | Intrinsic::DEREF_ATOMIC_LOAD => {
                let access = self.access(frame, f, f.src(instr, 0))?;
                let comps = usize::from(f.comps(instr.def()));
                let (mut value, shadow) = self.load(objects, &access, comps);
                if f.bits(instr.def()) == 1 {
                    value.iter_mut().for_each(|v| *v = u64::from(*v != 0));
                }
                frame.set(self, f, instr.def(), &value, shadow);
            }
            Intrinsic::STORE_DEREF | Intrinsic::DEREF_ATOMIC_STORE => {
                let access = self.access(frame, f, f.src(instr, 0))?;
                let src = f.src(instr, 1);
                let value = frame.value(self, f, src);
                let mask = f.index(instr, Index::WRITE_MASK).unwrap_or(u32::MAX);
                self.store(objects, &access, value, frame.shadow(src), mask);
            }
            Intrinsic::COPY_DEREF => self.copy(frame, objects, f, instr)?,
            Intrinsic::DEREF_ATOMIC | Intrinsic::DEREF_ATOMIC_SWAP => {
                self.atomic(frame, objects, f, instr)?
            }
            Intrinsic::DEREF_BUFFER_ARRAY_LENGTH => {
                let deref = f.src(instr, 0);
                let pointer = Pointer::from_bits(frame.value(self, f, deref)[0]);
                let ty = f.deref(deref.instr()).map(|d| d.ty);
                let stride = ty
                    .and_then(|ty| self.layouts.stride(ty))
                    .map_or(1, |(stride, _)| stride.max(1));
                let bytes = self.object(objects, pointer).map_or(0, |o| o.bytes.len() as u64);
                let len = bytes.saturating_sub(pointer.offset.into()) / stride;
                frame.set(self, f, instr.def(), &[len & 0xffff_ffff], Shadow::CLEAN);
            }
            Intrinsic::LOAD_PARAM => {
                let n = f.index(instr, Index::PARAM_IDX).unwrap_or(0) as usize;
                let Some((value, shadow)) = frame.args.get(n).cloned() else {
                    return Err(Trap::Unsupported("a parameter that isn't there".into()));
                };
                frame.set(self, f, instr.def(), &value, shadow);
            }
            Intrinsic::LOAD_SPEC_CONSTANT => {
                let n = f.index(instr, Index::SPEC_CONSTANT).unwrap_or(0) as usize;
                let mut value = [0; 16];
                let flat = self.specs.get(n).cloned().unwrap_or_default();
                value.iter_mut().zip(flat).for_each(|(slot, v)| *slot = v);
                frame.set(self, f, instr.def(), &value, Shadow::CLEAN);
            }
            Intrinsic::BARRIER => {
                let scope = f.index(instr, Index::EXECUTION_SCOPE).unwrap_or(0);
                if scope == execution_scope::WORKGROUP {
                    *status = Status::Barrier(frame.func, instr);
                } else if scope == execution_scope::SUBGROUP {
                    *status = Status::Subgroup(frame.func, instr);
                }
            }
            _ => {
                if !meets(f, instr) {
                    let name = f.intrinsic_info(instr).map_or("?", |i| i.name);
                    return Err(Trap::Unsupported(format!("`@{name}`")));
                }
                *status = Status::Subgroup(frame.func, instr);
            }
        }
        Ok(())
    }

    /// A whole object is copied leaf by leaf: both sides have the same leaves, but maybe other layouts. Wildcards on both
    /// sides run through their elements together. All is loaded before anything is stored.
    fn copy(
        &mut self,
        frame: &Frame,
        objects: &mut Vec<Object>,
        f: &Function,
        instr: Instr,
    ) -> Result<(), Trap> {
        let (to, from) = (f.src(instr, 0), f.src(instr, 1));
        let ty = |d: Def| f.deref(d.instr()).map(|d| d.ty);
        let (Some(to_ty), Some(from_ty)) = (ty(to), ty(from)) else {
            return Err(Trap::Unsupported("a copy through no deref".into()));
        };
        let unsupported = |what: &str| Trap::Unsupported(what.into());
        let addresses = Addresses { module: self.module, layouts: &self.layouts, f };
        let each = |d: Def| addresses.wildcards(d.instr()).map_err(unsupported);
        let (to_each, from_each) = (each(to)?, each(from)?);
        let lens = |list: &[Each]| list.iter().map(|e| e.len).collect::<Vec<_>>();
        if lens(&to_each) != lens(&from_each) || to_each.iter().any(|e| e.len == 0) {
            return Err(unsupported("a copy between wildcards of other lengths"));
        }
        let at = |m: &Self, d: Def| Pointer::from_bits(frame.value(m, f, d)[0]);
        let mut work = Vec::new();
        for (to_offset, from_offset) in offsets(&to_each, &from_each)? {
            let place = |d: Def, offset: u64| at(self, d).add(offset.into());
            work.push((place(to, to_offset), to_ty, place(from, from_offset), from_ty));
        }
        let mut loaded = Vec::new();
        while let Some((to, to_ty, from, from_ty)) = work.pop() {
            if let Some((comps, _)) = self.module.types.value_shape(to_ty) {
                let bytes = scalar_bytes(self.module, to_ty);
                let access = Access { pointer: from, bytes, stride: bytes as u64 };
                let (value, shadow) = self.load(objects, &access, comps.into());
                loaded.push((
                    Access { pointer: to, bytes, stride: bytes as u64 },
                    value,
                    shadow,
                    comps,
                ));
                continue;
            }
            let parts = match &self.module.types[to_ty] {
                TypeData::Struct(s) => s.members.len() as u64,
                TypeData::Matrix { cols, .. } => u64::from(*cols),
                _ => self.layouts.array_len(to_ty),
            };
            for n in (0..parts).rev() {
                let part = |ty: Type, p: Pointer| {
                    let member = self.layouts.member(ty, n as u32).map(|s| (s.offset, s.ty));
                    let (offset, part) =
                        member.or_else(|| self.layouts.stride(ty).map(|(s, e)| (s * n, e)))?;
                    Some((p.add(offset.into()), part))
                };
                let (Some((to, to_part)), Some((from, from_part))) =
                    (part(to_ty, to), part(from_ty, from))
                else {
                    return Err(Trap::Unsupported("a copy between different types".into()));
                };
                work.push((to, to_part, from, from_part));
            }
        }
        for (access, value, shadow, comps) in loaded {
            self.store(objects, &access, &value[..usize::from(comps)], shadow, u32::MAX);
        }
        Ok(())
    }

    fn atomic(
        &mut self,
        frame: &mut Frame,
        objects: &mut Vec<Object>,
        f: &Function,
        instr: Instr,
    ) -> Result<(), Trap> {
        let access = self.access(frame, f, f.src(instr, 0))?;
        let (old, result) = self.load(objects, &access, 1);
        let bits = f.bits(instr.def());
        let operand = f.src(instr, 1);
        let data = frame.value(self, f, operand)[0];
        let op = f.index(instr, Index::ATOMIC_OP).unwrap_or(0);
        let data_shadow = frame.shadow(operand);
        let any = |shadow: Shadow| (shadow.free | shadow.nan) & 1 != 0;
        // Whether the new value is free, and whether it is a NaN whose payload is.
        let (new, free, nan) = if op == atomic_op::CMPXCHG {
            // Source 1 is what memory is compared with, source 2 what it becomes.
            let with = f.src(instr, 2);
            let (becomes, swaps) = (frame.shadow(with), old[0] == data);
            let unknown = any(result) || any(data_shadow);
            let stays = if swaps { becomes } else { result };
            let new = if swaps { frame.value(self, f, with)[0] } else { old[0] };
            (new, unknown || stays.free & 1 != 0, stays.nan & 1 != 0)
        } else {
            let (new, computed) = atomic_value(f, op, bits, old[0], data)
                .ok_or_else(|| Trap::Unsupported(format!("atomic operation {op}")))?;
            let free = (result.free | data_shadow.free | computed.free) & 1 != 0;
            match op {
                atomic_op::XCHG => (new, data_shadow.free & 1 != 0, data_shadow.nan & 1 != 0),
                atomic_op::FADD | atomic_op::FMIN | atomic_op::FMAX => {
                    (new, free, computed.nan & 1 != 0)
                }
                // Bits of a NaN whose payload is free.
                _ => (new, free || any(result) || any(data_shadow), false),
            }
        };
        self.store(objects, &access, &[new], component_shadow(free, nan, 0), 1);
        frame.set(self, f, instr.def(), &old, result);
        Ok(())
    }
}

/// Places that a copy may name at once.
const MAX_PLACES: usize = 1 << 16;

/// Byte offsets of the elements that the wildcards of both sides run through.
fn offsets(to: &[Each], from: &[Each]) -> Result<Vec<(u64, u64)>, Trap> {
    let mut out = vec![(0, 0)];
    for (to, from) in to.iter().zip(from) {
        if out.len().saturating_mul(to.len as usize) > MAX_PLACES {
            return Err(Trap::Limit("places of one copy".into()));
        }
        let step = |n: u64| move |&(a, b): &(u64, u64)| (a + n * to.stride, b + n * from.stride);
        out = (0..to.len).flat_map(|n| out.iter().map(step(n)).collect::<Vec<_>>()).collect();
    }
    Ok(out)
}

/// An element behind a pointer.
fn element(step: Step, base: Pointer, index: i128) -> Pointer {
    match step {
        Step::Element { len: Some(len), .. } if index < 0 || index >= i128::from(len) => {
            // Within one object an index past a fixed length would meet a neighbour: that is out of bounds.
            Pointer { offset: u32::MAX, ..base }
        }
        Step::Element { stride, .. } => base.add(index * i128::from(stride)),
        Step::Descriptor => {
            let object = u32::try_from(index).ok().and_then(|i| base.object.checked_add(i));
            Pointer { object: object.unwrap_or(u32::MAX), ..base }
        }
        Step::Var(_) | Step::Cast | Step::Member(_) | Step::Unknown(_) => base,
    }
}

/// The shadow of what a swizzle reads.
fn swizzle_shadow(whole: Shadow, swizzle: Swizzle, read: u8) -> Shadow {
    if whole.is_clean() {
        return whole;
    }
    let mut shadow = Shadow::CLEAN;
    for (i, c) in swizzle.iter(read).enumerate() {
        let part = component_shadow(whole.free >> c & 1 != 0, whole.nan >> c & 1 != 0, i);
        shadow.free |= part.free;
        shadow.nan |= part.nan;
    }
    shadow
}

/// What an atomic operation on one value writes: an operation of its own, or the ALU opcode that it is named after.
fn atomic_value(f: &Function, op: u32, bits: u8, old: u64, data: u64) -> Option<(u64, Shadow)> {
    let value = match op {
        atomic_op::XCHG => data,
        atomic_op::INC_WRAP if old >= data => 0,
        atomic_op::INC_WRAP => old + 1,
        atomic_op::DEC_WRAP if old == 0 || old > data => data,
        atomic_op::DEC_WRAP => old - 1,
        _ => {
            let alu = named_op(Index::ATOMIC_OP, op)?;
            let mut out = [0; 16];
            let shadow = fold::fold(alu, bits, 1, &[&[old], &[data]], &f.float_env, &mut out)?;
            return Some((out[0], shadow));
        }
    };
    Some((value, Shadow::CLEAN))
}
