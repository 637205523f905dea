//! A dispatch: objects, workgroups, and the turns of their invocations.
//!
//! Each invocation runs until it ends or has to wait: at a barrier for the workgroup, at a subgroup operation for the
//! other invocations of the subgroup that come to the same instruction. Invocations run one after the other, so atomics
//! are atomic, and a race gives one of the orders that could happen.

use crate::address::{Addresses, Deref, scalar_bytes};
use crate::layout::Layouts;
use crate::memory::{Object, Pointer, Space};
use crate::place::Places;
use crate::spec::{Flat, values, workgroup_size};
use crate::{Buffer, BufferResult, Dispatch, Outcome, Trap};
use deburr_ir_core::{
    Block, Constant, Def, EntryPoint, Func, Function, Instr, InstrView, Modes, Module, SpecConst,
    Stage, Type, Var, fold::Shadow,
};
use rustc_hash::{FxHashMap, FxHashSet};

/// Invocations up to which a dispatch is run.
const MAX_INVOCATIONS: u64 = 1 << 24;
/// Bytes of all objects together.
const MAX_BYTES: u64 = 1 << 30;
/// Calls that may be under way in an invocation.
pub(crate) const MAX_FRAMES: usize = 256;

/// What is known of a function before it runs.
pub(crate) struct Code {
    /// Where each value's components lie among the registers.
    pub slots: Vec<u32>,
    pub registers: usize,
    /// By instruction.
    pub derefs: Vec<Deref>,
}

pub(crate) struct Machine<'m> {
    pub module: &'m Module,
    pub dispatch: &'m Dispatch,
    pub layouts: Layouts<'m>,
    pub specs: Vec<Flat>,
    pub entry: &'m EntryPoint,
    pub size: [u32; 3],
    pub code: Vec<Code>,
    /// A function's places, where invocations meet in the module.
    pub places: Vec<Places>,
    pub objects: Vec<Object>,
    pub shared: Vec<Object>,
    /// Object of each module variable in its space; for arrays of descriptors the first one.
    pub place: FxHashMap<Var, u32>,
    buffers: Vec<(Buffer, u32)>,
    /// Whether a block ran, by function and block.
    covered: Vec<Vec<bool>>,
    /// Values on their way, in a buffer that is kept from step to step.
    pub scratch: Vec<u64>,
    /// The same for the phis that take them.
    pub phis: Vec<(Def, Shadow)>,
    pub steps: u64,
    pub free_control: bool,
    pub out_of_bounds: bool,
}

/// What an invocation does next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Status {
    Running,
    /// At a barrier of the workgroup.
    Barrier(Func, Instr),
    /// At a subgroup operation.
    Subgroup(Func, Instr),
    Done,
}

pub(crate) struct Frame {
    pub func: Func,
    pub block: Block,
    /// The next instruction; `None` at the end of the block.
    pub next: Option<Instr>,
    pub regs: Vec<u64>,
    pub shadows: Vec<Shadow>,
    /// Rounds of the loops around the block so far, where they are counted.
    pub rounds: Vec<u32>,
    /// First object of the frame's locals.
    pub locals: u32,
    pub args: Vec<(Vec<u64>, Shadow)>,
    /// The call in the caller.
    pub call: Option<Instr>,
}

pub(crate) struct Invocation {
    pub frames: Vec<Frame>,
    pub objects: Vec<Object>,
    pub status: Status,
}

/// Whether a variable of this mode has an object for the whole dispatch.
pub(crate) fn dispatch_wide(mode: Modes) -> bool {
    (Modes::SSBO | Modes::UBO | Modes::PUSH_CONST).contains(mode)
}

impl<'m> Machine<'m> {
    pub fn new(module: &'m Module, dispatch: &'m Dispatch) -> Result<Self, Trap> {
        let named = |e: &&EntryPoint| {
            e.stage == Stage::Compute && dispatch.entry.as_ref().is_none_or(|name| *name == e.name)
        };
        let entry = module.entry_points.iter().find(named);
        let entry =
            entry.ok_or_else(|| Trap::NoEntry(dispatch.entry.clone().unwrap_or_default()))?;
        let specs = values(module, &dispatch.specs)?;
        let lengths = specs
            .iter()
            .enumerate()
            .filter_map(|(n, v)| Some((SpecConst::from_index(n), *v.first()?)))
            .collect();
        let size = workgroup_size(module, entry, &dispatch.specs)?;
        // What is known of built-ins rests on it: Vulkan has no others.
        if !(dispatch.subgroup_size.is_power_of_two() && dispatch.subgroup_size <= 128) {
            return Err(Trap::Limit("a subgroup has a power of two up to 128 invocations".into()));
        }
        let groups = dispatch.groups.iter().try_fold(1u64, |n, &g| n.checked_mul(g.into()));
        let local = size.iter().try_fold(1u64, |n, &g| n.checked_mul(g.into()));
        match groups.zip(local).and_then(|(g, l)| g.checked_mul(l)) {
            Some(n) if n <= MAX_INVOCATIONS && local.is_some_and(|l| (1..=4096).contains(&l)) => {}
            _ => return Err(Trap::Limit("invocations of the dispatch".into())),
        }
        let layouts = Layouts::new(&module.types, lengths);
        let code = |f| code(f, Addresses { module, layouts: &layouts, f }.all());
        let code = module.functions.iter().map(code).collect();
        let mut machine = Machine {
            module,
            dispatch,
            layouts,
            specs,
            entry,
            size,
            code,
            places: Places::of_module(module),
            objects: Vec::new(),
            shared: Vec::new(),
            place: FxHashMap::default(),
            buffers: Vec::new(),
            covered: vec![Vec::new(); module.functions.len()],
            scratch: Vec::new(),
            phis: Vec::new(),
            steps: 0,
            free_control: false,
            out_of_bounds: false,
        };
        machine.place_variables()?;
        Ok(machine)
    }

    /// Gives every module variable its objects: buffers from the dispatch, the rest by their sizes.
    fn place_variables(&mut self) -> Result<(), Trap> {
        let (mut shared, mut private) = (0, 0);
        let mut block = None;
        let mut total = 0;
        for (n, var) in self.module.vars.iter().enumerate() {
            let id = Var::global(n);
            let size = self.layouts.size(var.ty);
            if dispatch_wide(var.mode) {
                self.place.insert(id, self.objects.len() as u32);
                if var.mode == Modes::PUSH_CONST {
                    self.objects.push(Object::of(self.dispatch.push.clone()));
                    continue;
                }
                let (set, binding) = var.binding.unwrap_or((0, 0));
                for element in 0..self.descriptors(var.ty) {
                    let given = self
                        .dispatch
                        .buffers
                        .iter()
                        .find(|b| (b.set, b.binding, b.element) == (set, binding, element));
                    if let Some(given) = given {
                        self.buffers.push((
                            Buffer { bytes: Vec::new(), ..given.clone() },
                            self.objects.len() as u32,
                        ));
                    }
                    self.objects
                        .push(Object::of(given.map(|b| b.bytes.clone()).unwrap_or_default()));
                }
                continue;
            }
            total += size;
            if self.module.is_shared_block(id)
                && let Some(first) = block
            {
                self.place.insert(id, first);
                continue;
            }
            if self.module.is_shared_block(id) {
                block = Some(shared);
            }
            let counter = if var.mode == Modes::SHARED { &mut shared } else { &mut private };
            self.place.insert(id, *counter);
            *counter += 1;
        }
        match total <= MAX_BYTES {
            true => Ok(()),
            false => Err(Trap::Limit("bytes of variables".into())),
        }
    }

    /// Number of descriptors that a buffer variable stands for.
    fn descriptors(&self, ty: Type) -> u32 {
        match &self.module.types[ty] {
            deburr_ir_core::TypeData::Array { .. } => {
                self.layouts.array_len(ty).clamp(1, 1024) as u32
            }
            _ => 1,
        }
    }

    /// The space and object of a variable.
    pub fn pointer(&self, f: &Frame, var: Var) -> Pointer {
        if var.is_local() {
            return Pointer {
                space: Space::Invocation,
                object: f.locals + var.slot() as u32,
                offset: 0,
            };
        }
        self.global(var)
    }

    /// A pointer to a variable of the module.
    fn global(&self, var: Var) -> Pointer {
        let mode = self.module.vars[var.slot()].mode;
        let space = if dispatch_wide(mode) {
            Space::Dispatch
        } else if mode == Modes::SHARED {
            Space::Workgroup
        } else {
            Space::Invocation
        };
        Pointer { space, object: self.place.get(&var).copied().unwrap_or(u32::MAX), offset: 0 }
    }

    pub fn run(mut self) -> Result<Outcome, Trap> {
        let [gx, gy, gz] = self.dispatch.groups.map(u64::from);
        let groups = gx * gy * gz;
        for n in 0..groups {
            let n = if self.dispatch.reverse { groups - 1 - n } else { n };
            self.workgroup([n % gx, n / gx % gy, n / (gx * gy)].map(|at| at as u32))?;
        }
        let buffers = std::mem::take(&mut self.buffers);
        let results = buffers.into_iter().map(|(buffer, n)| {
            let object = &self.objects[n as usize];
            let (free, nan) = (object.free_bytes(), object.nan_bytes());
            BufferResult { buffer: Buffer { bytes: object.bytes.clone(), ..buffer }, free, nan }
        });
        let buffers = results.collect();
        let covered = self.covered.iter().enumerate().flat_map(|(func, blocks)| {
            let ran = blocks.iter().enumerate().filter(|(_, ran)| **ran);
            ran.map(move |(block, _)| (Func::from_index(func), Block::from_index(block)))
        });
        Ok(Outcome {
            buffers,
            blocks: self.reachable_blocks(),
            covered: covered.collect(),
            steps: self.steps,
            free_control: self.free_control,
            out_of_bounds: self.out_of_bounds,
        })
    }

    fn reachable_blocks(&self) -> usize {
        let mut reached = FxHashSet::default();
        let mut work = vec![self.entry.function];
        let mut blocks = 0;
        while let Some(func) = work.pop() {
            let f = &self.module[func];
            if !f.has_body() || !reached.insert(func) {
                continue;
            }
            blocks += f.blocks().filter(|&b| f.is_reachable(b)).count();
            work.extend(f.all_instrs().filter_map(|i| match f.view(i) {
                InstrView::Call(func) => Some(func),
                _ => None,
            }));
        }
        blocks
    }

    fn workgroup(&mut self, group: [u32; 3]) -> Result<(), Trap> {
        let mut shared: Vec<Object> = Vec::new();
        for (n, var) in self.module.vars.iter().enumerate() {
            if var.mode != Modes::SHARED {
                continue;
            }
            let object = self.object_of(var.ty, var.init.as_ref());
            // Blocks lie over each other.
            match shared.get_mut(self.place[&Var::global(n)] as usize) {
                Some(under) => under.overlay(&object),
                None => shared.push(object),
            }
        }
        self.shared = shared;
        let count = self.size.iter().product::<u32>();
        let mut invocations = Vec::new();
        for index in 0..count {
            let mut objects = Vec::new();
            for var in &self.module.vars {
                if dispatch_wide(var.mode) || var.mode == Modes::SHARED {
                    continue;
                }
                let mut object = self.object_of(var.ty, var.init.as_ref());
                if let Some(words) =
                    var.builtin.as_deref().and_then(|name| self.builtin(name, group, index))
                {
                    let bytes: Vec<u8> = words.iter().flat_map(|w| w.to_le_bytes()).collect();
                    object = Object::of(bytes);
                }
                objects.push(object);
            }
            let mut invocation =
                Invocation { frames: Vec::new(), objects, status: Status::Running };
            self.enter(&mut invocation, self.entry.function, Vec::new(), None)?;
            invocations.push(invocation);
        }
        self.turns(&mut invocations)
    }

    /// Runs each invocation as far as it goes, then lets those that wait for each other go on together.
    fn turns(&mut self, invocations: &mut [Invocation]) -> Result<(), Trap> {
        loop {
            let reverse = self.dispatch.reverse;
            let mut run = |invocation: &mut Invocation| {
                while invocation.status == Status::Running {
                    self.step(invocation)?;
                }
                Ok(())
            };
            match reverse {
                false => invocations.iter_mut().try_for_each(&mut run)?,
                true => invocations.iter_mut().rev().try_for_each(&mut run)?,
            }
            if invocations.iter().all(|i| i.status == Status::Done) {
                return Ok(());
            }
            if self.subgroup_operations(invocations)? {
                continue;
            }
            // Everybody who is left waits at a barrier.
            let mut waiting =
                invocations.iter().filter(|i| i.status != Status::Done).map(|i| i.status);
            let first = waiting.next();
            let all = invocations.iter().all(|i| i.status != Status::Done);
            if !all || waiting.any(|s| Some(s) != first) {
                return Err(Trap::Barrier);
            }
            invocations.iter_mut().for_each(|i| i.status = Status::Running);
        }
    }

    /// An object for a variable, with its initial value.
    pub fn object_of(&self, ty: Type, init: Option<&Constant>) -> Object {
        let mut object = Object::uninitialised(self.layouts.size(ty) as usize);
        if let Some(init) = init {
            self.initialise(&mut object, 0, ty, init);
        }
        object
    }

    fn initialise(&self, object: &mut Object, offset: u64, ty: Type, init: &Constant) {
        let mut work = vec![(offset, ty, init)];
        while let Some((offset, ty, init)) = work.pop() {
            let spec;
            let bits = match init {
                Constant::Bits(bits) => bits,
                Constant::Spec(n) => {
                    spec = self.specs.get(n.index()).cloned().unwrap_or_default();
                    &spec
                }
                Constant::Null => {
                    let end =
                        (offset + self.layouts.size(ty)).min(object.bytes.len() as u64) as usize;
                    object.bytes[offset as usize..end].fill(0);
                    object.shadow[offset as usize..end].fill(0);
                    continue;
                }
                Constant::Composite(parts) => {
                    for (n, part) in parts.iter().enumerate() {
                        let step = self.layouts.member(ty, n as u32).map(|s| (s.offset, s.ty));
                        let element = || {
                            self.layouts.stride(ty).map(|(stride, elem)| (stride * n as u64, elem))
                        };
                        if let Some((at, part_ty)) = step.or_else(element) {
                            work.push((offset + at, part_ty, part));
                        }
                    }
                    continue;
                }
                Constant::Address(var) => {
                    object.store(offset as u32, 8, self.global(*var).to_bits(), false, false);
                    continue;
                }
                Constant::Undef => continue,
            };
            let size = scalar_bytes(self.module, ty);
            for (n, &value) in bits.iter().enumerate() {
                object.store((offset as usize + n * size) as u32, size, value, false, false);
            }
        }
    }

    /// Notes that a block ran.
    pub fn cover(&mut self, func: Func, block: Block) {
        let covered = &mut self.covered[func.index()];
        if covered.len() <= block.index() {
            covered.resize(block.index() + 1, false);
        }
        covered[block.index()] = true;
    }

    /// Words of a built-in input.
    fn builtin(&self, name: &str, group: [u32; 3], index: u32) -> Option<Vec<u32>> {
        let [sx, sy, sz] = self.size;
        let local = [index % sx, index / sx % sy, index / (sx * sy)];
        let subgroup = self.dispatch.subgroup_size;
        let lane = index % subgroup;
        // A ballot of the invocations whose number passes.
        let ballot = |test: &dyn Fn(u32) -> bool| -> Vec<u32> {
            let word = |w: u32| {
                let in_word = (0..32).filter(|bit| w * 32 + bit < subgroup && test(w * 32 + bit));
                in_word.fold(0, |bits, bit| bits | 1 << bit)
            };
            (0..4).map(word).collect()
        };
        Some(match name {
            "GlobalInvocationId" => (0..3).map(|i| group[i] * self.size[i] + local[i]).collect(),
            "LocalInvocationId" => local.to_vec(),
            "LocalInvocationIndex" => vec![index],
            "WorkgroupId" => group.to_vec(),
            "NumWorkgroups" => self.dispatch.groups.to_vec(),
            "WorkgroupSize" => vec![sx, sy, sz],
            "SubgroupSize" => vec![subgroup],
            "SubgroupLocalInvocationId" => vec![lane],
            "SubgroupId" => vec![index / subgroup],
            "NumSubgroups" => vec![(sx * sy * sz).div_ceil(subgroup)],
            "SubgroupEqMask" => ballot(&|n| n == lane),
            "SubgroupLtMask" => ballot(&|n| n < lane),
            "SubgroupLeMask" => ballot(&|n| n <= lane),
            "SubgroupGtMask" => ballot(&|n| n > lane),
            "SubgroupGeMask" => ballot(&|n| n >= lane),
            "DeviceIndex" => vec![0],
            _ => return None,
        })
    }

    /// Begins a call.
    pub fn enter(
        &mut self,
        invocation: &mut Invocation,
        func: Func,
        args: Vec<(Vec<u64>, Shadow)>,
        call: Option<Instr>,
    ) -> Result<(), Trap> {
        let f: &Function = &self.module[func];
        if !f.has_body() {
            return Err(Trap::Unsupported(format!("the function `{}`, which has no body", f.name)));
        }
        if invocation.frames.len() >= MAX_FRAMES {
            return Err(Trap::Limit("calls under way".into()));
        }
        let locals = invocation.objects.len() as u32;
        for var in &f.locals {
            let object = self.object_of(var.ty, var.init.as_ref());
            invocation.objects.push(object);
        }
        let start = f.start_block();
        self.cover(func, start);
        let code = &self.code[func.index()];
        invocation.frames.push(Frame {
            func,
            block: start,
            next: f.first_instr(start),
            regs: vec![0; code.registers],
            shadows: vec![Shadow::CLEAN; f.instr_capacity()],
            rounds: Vec::new(),
            locals,
            args,
            call,
        });
        Ok(())
    }
}

fn code(f: &Function, derefs: Vec<Deref>) -> Code {
    let mut slots = Vec::with_capacity(f.instr_capacity());
    let mut registers = 0;
    for n in 0..f.instr_capacity() {
        slots.push(registers as u32);
        registers += usize::from(f.comps(Instr::from_index(n).def()));
    }
    Code { slots, registers, derefs }
}
