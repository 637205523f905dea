//! Translating a function: its signature, then the script of its control flow (see [`super::structure`]) step by
//! step into the tree.

use super::blocks::{Blk, Body, Merge};
use super::env::FnEnv;
use super::module::{RawFunction, Reader};
use super::ssa::{VarId, Variables};
use super::structure::{CaseTest, FrameId, Jump, Step, Structure, Target, structure};
use super::value::{Val, Value};
use super::words::Insts;
use crate::error::Error;
use deburr_ir_core::{
    AluOp, Block, Builder, Cursor, Def, Dominance, Func, Function, Instr, InstrKind, InstrView,
    Intrinsic, JumpKind, LoopParts, Modes, Node, Param, Shape, Type, TypeData, User,
};
use rspirv::spirv::Op;
use rustc_hash::FxHashMap;

/// A value that phis of the binary define, one variable a leaf.
#[derive(Clone, Debug)]
pub(super) struct PhiInfo {
    pub id: u32,
    pub vars: Vec<VarId>,
    /// Value ids by predecessor.
    pub edges: Vec<(Blk, u32)>,
}

/// A node of the tree that is being filled.
#[derive(Debug)]
enum Open {
    If { else_block: Block, after: Block },
    Loop { frame: FrameId, parts: LoopParts, escapes: Vec<Target>, in_continue: bool },
    Once { target: Target, node: Node, after: Block, escapes: Vec<Target> },
}

/// The state of translating one function.
pub(super) struct FnReader<'r, 'w> {
    pub r: &'r mut Reader<'w>,
    pub f: Function,
    /// Where the next instruction goes: the end of this block.
    pub at: Block,
    pub env: FnEnv,
    /// Functions by position in [`Reader::functions`] for this environment.
    pub funcs: &'r FxHashMap<(u32, FnEnv), Func>,
    pub values: FxHashMap<u32, Value>,
    pub leaves: Vec<Def>,
    pub texels: Vec<[Def; 3]>,
    pub constants: FxHashMap<(u8, Vec<u64>), Def>,
    /// The last of the constants and variables at the start of the body.
    pub last_constant: Option<Instr>,
    /// Instructions that are dropped in the end if nothing uses them.
    pub droppable: Vec<Instr>,
    pub body: Body,
    pub vars: Variables,
    phis: FxHashMap<Blk, Vec<PhiInfo>>,
    open: Vec<Open>,
    flags: FxHashMap<Target, VarId>,
    /// Values of the tests of selectors, by number.
    tests: FxHashMap<usize, Def>,
    /// Where an aggregate result goes.
    result: Option<(Def, Type)>,
    inline_from: Option<Blk>,
    /// A value may be used where its definition no longer dominates.
    risky: bool,
}

/// The parameters and result of a function in the IR.
pub(super) fn signature(r: &mut Reader<'_>, raw: &RawFunction) -> Result<Function, Error> {
    let ty = r.fn_types[raw.ty as usize].clone();
    let mut f = match raw.body == raw.end {
        true => Function::declaration(r.name(raw.id)),
        false => Function::new(r.name(raw.id)),
    };
    f.control = raw.control;
    for (&id, &ty) in raw.params.iter().zip(&ty.params) {
        let name = r.name(id);
        f.params.push(match passed_as(r, ty)? {
            Passed::Value(comps, bits) => Param { name, ty, comps, bits },
            Passed::Memory { pointer: ty, .. } => Param { name, ty, comps: 1, bits: 32 },
        });
    }
    if !matches!(r.m.types[ty.ret], TypeData::Void) {
        match passed_as(r, ty.ret)? {
            Passed::Value(comps, bits) => {
                f.ret = Some(Param { name: String::new(), ty: ty.ret, comps, bits });
            }
            Passed::Memory { pointer: ty, .. } => {
                f.params.push(Param { name: "result".into(), ty, comps: 1, bits: 32 });
            }
        }
    }
    Ok(f)
}

/// How a value crosses a call.
pub(super) enum Passed {
    Value(u8, u8),
    /// Behind a pointer of this type, as an object of this one.
    Memory {
        pointer: Type,
        object: Type,
    },
}

/// How a parameter or result of the type crosses a call.
pub(super) fn passed_as(r: &mut Reader<'_>, ty: Type) -> Result<Passed, Error> {
    if let Some((comps, bits)) = r.m.types.value_shape(ty) {
        return Ok(Passed::Value(comps, bits));
    }
    match r.m.types[ty] {
        TypeData::Image(_)
        | TypeData::Sampler
        | TypeData::SampledImage { .. }
        | TypeData::AccelerationStructure => Ok(Passed::Value(1, 32)),
        _ => {
            let object = r.plain_type(ty)?;
            let data =
                TypeData::Pointer { modes: Modes::FUNCTION, pointee: Some(object), stride: 0 };
            Ok(Passed::Memory { pointer: r.intern_type(data)?, object })
        }
    }
}

/// Translates the body of a function whose signature is made.
pub(super) fn translate<'r>(
    r: &'r mut Reader<'_>,
    raw: &RawFunction,
    f: Function,
    env: FnEnv,
    funcs: &'r FxHashMap<(u32, FnEnv), Func>,
) -> Result<Function, Error> {
    let body = r.body(raw)?;
    if body.blocks.is_empty() {
        return Err(Error::invalid(format!("function %{} has no blocks", raw.id)));
    }
    let script = structure(&body)?;
    let mut t = FnReader {
        at: f.start_block(),
        r,
        f,
        env,
        funcs,
        values: FxHashMap::default(),
        leaves: Vec::new(),
        texels: Vec::new(),
        constants: FxHashMap::default(),
        last_constant: None,
        droppable: Vec::new(),
        body,
        vars: Variables::default(),
        phis: FxHashMap::default(),
        open: Vec::new(),
        flags: FxHashMap::default(),
        tests: FxHashMap::default(),
        result: None,
        inline_from: None,
        risky: script.has_fall_through,
    };
    t.f.float_env = env.float;
    t.parameters(raw)?;
    t.declare_phis()?;
    for &step in &script.steps {
        t.step(&script, step)?;
    }
    t.f.remove_unreachable();
    t.vars.finish(&mut t.f);
    t.drop_unused();
    t.check_dominance()?;
    Ok(t.f)
}

impl FnReader<'_, '_> {
    /// A builder at the place where the next instruction goes.
    pub fn b(&mut self) -> Builder<'_> {
        Builder::new(&mut self.f, Cursor::BlockEnd(self.at))
    }

    fn parameters(&mut self, raw: &RawFunction) -> Result<(), Error> {
        let ty = self.r.fn_types[raw.ty as usize].clone();
        let count = ty.params.len() as u32;
        for (n, (&id, &ty)) in raw.params.iter().zip(&ty.params).enumerate() {
            let loaded = self.load_param(n as u32);
            let kind = match passed_as(self.r, ty)? {
                Passed::Value(..) => self.from_leaf(ty, loaded),
                Passed::Memory { object, .. } => {
                    let deref = self.b().deref_cast(loaded, Modes::FUNCTION, object, 0);
                    self.load_value(deref, object, 0, 0, 0)?
                }
            };
            let access = self.variable_access(id);
            self.set(id, Value { ty, kind, access })?;
        }
        let returns = !matches!(self.r.m.types[ty.ret], TypeData::Void);
        if returns && let Passed::Memory { object, .. } = passed_as(self.r, ty.ret)? {
            let loaded = self.load_param(count);
            let deref = self.b().deref_cast(loaded, Modes::FUNCTION, object, 0);
            self.result = Some((deref, ty.ret));
        }
        Ok(())
    }

    fn load_param(&mut self, n: u32) -> Def {
        let Param { comps, bits, name, .. } = self.f.params[n as usize].clone();
        let shape = Shape::new(comps, bits).unwrap_or(Shape::NONE);
        let def = self.b().intrinsic(Intrinsic::LOAD_PARAM, shape, &[], &[n]).def();
        if !name.is_empty() {
            self.f.names.insert(def, name);
        }
        def
    }

    // ---- phis ---------------------------------------------------------------------------------------

    fn declare_phis(&mut self) -> Result<(), Error> {
        for blk in 0..self.body.blocks.len() as Blk {
            let block = &self.body.blocks[blk as usize];
            if !block.has_phis || !block.reachable {
                continue;
            }
            let (at, end) = block.code;
            let mut phis = Vec::new();
            for inst in (Insts { words: self.r.words, at, end }) {
                let inst = inst?;
                if inst.op != Op::Phi {
                    continue;
                }
                let mut edges = Vec::new();
                for pair in inst.args.chunks_exact(2) {
                    edges.push((self.body.blk(pair[1]).map_err(|e| inst.error(e))?, pair[0]));
                }
                let ty = self.r.type_of(inst.ty)?;
                let shapes = self.leaf_shapes(ty).map_err(|e| inst.error(e))?;
                let vars = shapes.into_iter().map(|s| self.vars.declare(s)).collect();
                phis.push(PhiInfo { id: inst.id, vars, edges });
            }
            self.phis.insert(blk, phis);
        }
        Ok(())
    }

    /// The phis of `to` get their values for the edge from `from`, at the end of the current block.
    fn edge(&mut self, from: Blk, to: Blk) -> Result<(), Error> {
        let Some(phis) = self.phis.get(&to).cloned() else { return Ok(()) };
        for phi in phis {
            let id = self.phi_value(&phi, from)?;
            let leaves = self.leaves_of(id)?;
            self.check_leaves(&leaves, &phi)?;
            for (&var, leaf) in phi.vars.iter().zip(leaves) {
                self.vars.define(var, self.at, leaf);
            }
        }
        Ok(())
    }

    fn phi_value(&self, phi: &PhiInfo, from: Blk) -> Result<u32, Error> {
        let edge = phi.edges.iter().find(|(blk, _)| *blk == from);
        edge.map(|(_, id)| *id).ok_or_else(|| {
            let label = self.body.blocks[from as usize].label;
            Error::invalid(format!("%{} has no value for the edge from %{label}", phi.id))
        })
    }

    fn check_leaves(&self, leaves: &[Def], phi: &PhiInfo) -> Result<(), Error> {
        let shapes = phi.vars.iter().map(|&v| self.vars.shape(v));
        match leaves.len() == phi.vars.len() && leaves.iter().map(|&l| self.f.shape(l)).eq(shapes) {
            true => Ok(()),
            false => Err(Error::invalid(format!("a value of %{} has another type", phi.id))),
        }
    }

    /// Gives the phis of a block their meaning.
    fn start_phis(&mut self, blk: Blk, from: Option<Blk>) -> Result<(), Error> {
        let Some(phis) = self.phis.get(&blk).cloned() else { return Ok(()) };
        for phi in phis {
            let ty = self.body.types.get(&phi.id).copied();
            let ty = ty.ok_or_else(|| Error::invalid("a phi without a type"))?;
            let leaves = match from {
                Some(from) => {
                    let id = self.phi_value(&phi, from)?;
                    let leaves = self.leaves_of(id)?;
                    self.check_leaves(&leaves, &phi)?;
                    leaves
                }
                None => {
                    let (f, at) = (&mut self.f, self.at);
                    phi.vars.iter().map(|&var| self.vars.read_here(f, var, at)).collect()
                }
            };
            let kind = self.from_leaves(ty, &leaves);
            self.set(phi.id, Value::new(ty, kind))?;
        }
        Ok(())
    }

    // ---- the script ---------------------------------------------------------------------------------

    fn step(&mut self, script: &Structure, step: Step) -> Result<(), Error> {
        match step {
            Step::Code(blk) => self.code(blk)?,
            Step::Inline(from) => self.inline_from = Some(from),
            Step::Edge(from, to) => {
                self.edge(from, to).map_err(|e| self.body.error(from, e))?;
            }
            Step::Jump(jump) => {
                let jump = script.jumps[jump];
                self.jump(script, &jump).map_err(|e| self.body.error(jump.from, e))?;
            }
            Step::If(blk, id) => {
                let condition = self.scalar(id, 1).map_err(|e| self.body.error(blk, e))?;
                self.begin_if(condition, blk);
            }
            Step::IfCase(blk, test) => {
                let condition = self.case_test(&script.tests[test]);
                let condition = condition.map_err(|e| self.body.error(blk, e))?;
                self.tests.insert(test, condition);
                self.begin_if(condition, blk);
            }
            Step::Else => {
                if let Some(Open::If { else_block, .. }) = self.open.last() {
                    self.at = *else_block;
                }
            }
            Step::EndIf => {
                if let Some(Open::If { after, .. }) = self.open.pop() {
                    self.at = after;
                }
            }
            Step::Loop(frame) => {
                let parts = self.f.insert_loop(Cursor::BlockEnd(self.at));
                let header = script.frames[frame].header;
                self.f.set_node_control(parts.node, self.body.blocks[header as usize].control);
                let escapes = Vec::new();
                self.open.push(Open::Loop { frame, parts, escapes, in_continue: false });
                self.at = parts.body;
                let data = &script.frames[frame];
                if data.continue_in_body && data.early_continue {
                    self.begin_once(Target::Continue(frame));
                }
                // The header's phis stand at the start of the loop, whatever follows.
                self.inline_from = None;
            }
            Step::Continue(frame) => self.begin_continue(script, frame)?,
            Step::EndLoop => {
                if let Some(Open::Loop { parts, escapes, .. }) = self.open.pop() {
                    self.at = parts.after;
                    self.escape(script, parts.node, escapes)?;
                }
            }
            Step::Once(frame) if script.frames[frame].needs_once => {
                self.begin_once(Target::Merge(frame));
            }
            Step::EndOnce(frame) if script.frames[frame].needs_once => self.end_once(script)?,
            Step::Once(_) | Step::EndOnce(_) => {}
        }
        Ok(())
    }

    fn code(&mut self, blk: Blk) -> Result<(), Error> {
        let from = self.inline_from.take();
        self.start_phis(blk, from).map_err(|e| self.body.error(blk, e))?;
        let (at, end) = self.body.blocks[blk as usize].code;
        for inst in (Insts { words: self.r.words, at, end }) {
            let inst = inst?;
            self.instruction(&inst).map_err(|e| inst.error(e))?;
        }
        Ok(())
    }

    fn begin_if(&mut self, condition: Def, header: Blk) {
        let parts = self.f.insert_if(Cursor::BlockEnd(self.at), condition);
        // A loop's hints are no hints for the selection that its header ends with.
        let header = &self.body.blocks[header as usize];
        if matches!(header.merge, Merge::Selection(_)) {
            self.f.set_node_control(parts.node, header.control);
        }
        self.open.push(Open::If { else_block: parts.else_block, after: parts.after });
        self.at = parts.then_block;
    }

    fn begin_once(&mut self, target: Target) {
        let parts = self.f.insert_once(Cursor::BlockEnd(self.at));
        let (node, after) = (parts.node, parts.after);
        self.open.push(Open::Once { target, node, after, escapes: Vec::new() });
        self.at = parts.body;
    }

    fn end_once(&mut self, script: &Structure) -> Result<(), Error> {
        if let Some(Open::Once { node, after, escapes, .. }) = self.open.pop() {
            self.at = after;
            self.escape(script, node, escapes)?;
        }
        Ok(())
    }

    fn begin_continue(&mut self, script: &Structure, frame: FrameId) -> Result<(), Error> {
        let data = &script.frames[frame];
        if data.continue_in_body {
            if data.early_continue {
                self.end_once(script)?;
            }
        } else if let Some(Open::Loop { parts, .. }) = self.open.last() {
            self.at = parts.continue_block;
        }
        if let Some(Open::Loop { in_continue, .. }) = self.open.last_mut() {
            *in_continue = true;
        }
        Ok(())
    }

    /// The selector is (none) of the literals, or an earlier test is true.
    fn case_test(&mut self, test: &CaseTest) -> Result<Def, Error> {
        let &CaseTest { selector, ref literals, negated, or } = test;
        let value = self.get(selector)?;
        let Val::Def(selector) = value.kind else {
            return Err(Error::invalid("the selector is no integer"));
        };
        let bits = self.f.bits(selector);
        let mut any = or.and_then(|or| self.tests.get(&or).copied());
        for &literal in literals {
            let literal = self.constant(bits, &[literal]);
            let mut b = self.b();
            let equal = b.alu(AluOp::IEQ, &[selector, literal]);
            any = Some(match any {
                Some(any) => b.alu(AluOp::IOR, &[any, equal]),
                None => equal,
            });
        }
        Ok(match (any, negated) {
            (Some(any), true) => self.b().alu(AluOp::INOT, &[any]),
            (Some(any), false) => any,
            (None, negated) => self.constant(1, &[negated.into()]),
        })
    }

    // ---- jumps --------------------------------------------------------------------------------------

    fn jump(&mut self, script: &Structure, jump: &Jump) -> Result<(), Error> {
        if let Some(to) = jump.edge {
            self.edge(jump.from, to)?;
        }
        match jump.target {
            Target::Return(value) => self.leave(value, jump.falls),
            Target::Unreachable => self.leave(None, jump.falls),
            // OpKill may be a demotion, which this is not.
            Target::Halt(terminates) => {
                if terminates {
                    self.b().intrinsic(Intrinsic::TERMINATE, Shape::NONE, &[], &[]);
                }
                self.f.add_jump(self.at, JumpKind::Halt, None);
                Ok(())
            }
            _ if jump.falls => Ok(()),
            target => self.aim(script, target),
        }
    }

    fn leave(&mut self, value: Option<u32>, falls: bool) -> Result<(), Error> {
        if let (Some(id), Some((deref, ty))) = (value, self.result) {
            let value = self.get(id)?;
            if value.ty != ty {
                return Err(Error::invalid("the returned value has another type"));
            }
            let object = self.pointee(deref, ty);
            self.store_value(deref, object, &value, 0, 0, 0)?;
        }
        let value = match (&self.f.ret, value) {
            (None, _) if falls => return Ok(()),
            (None, _) => None,
            (Some(ret), Some(id)) => {
                let (shape, kind) = (Shape::new(ret.comps, ret.bits), self.get(id)?.kind);
                let def = self.single(kind).filter(|&def| Some(self.f.shape(def)) == shape);
                Some(def.ok_or_else(|| Error::invalid("the returned value has another type"))?)
            }
            (Some(ret), None) => {
                let (comps, bits) = (ret.comps, ret.bits);
                Some(self.b().undef(comps, bits))
            }
        };
        self.f.add_jump(self.at, JumpKind::Return, value);
        Ok(())
    }

    /// Jumps to a construct's end, through those in between by a flag that is tested behind each.
    fn aim(&mut self, script: &Structure, target: Target) -> Result<(), Error> {
        // Where a `continue` of the tree leads, and whether the target is one.
        let continues = match target {
            Target::Continue(f) => !(script.frames[f].continue_in_body),
            Target::Header(_) => true,
            _ => false,
        };
        for n in (0..self.open.len()).rev() {
            let hit = match &self.open[n] {
                Open::If { .. } => continue,
                Open::Once { target: own, .. } => {
                    if continues {
                        // `continue` passes through.
                        continue;
                    }
                    *own == target
                }
                Open::Loop { frame, in_continue, .. } => match target {
                    Target::Merge(f) => f == *frame,
                    Target::Continue(f) | Target::Header(f) if f == *frame => {
                        if !continues || matches!(target, Target::Header(_)) && !in_continue {
                            return Err(Error::invalid("a branch back past the continue target"));
                        }
                        self.f.add_jump(self.at, JumpKind::Continue, None);
                        return Ok(());
                    }
                    _ => false,
                },
            };
            if !hit {
                self.risky = true;
                let one = self.constant(1, &[1]);
                let var = self.flag(target);
                self.vars.define(var, self.at, one);
                match &mut self.open[n] {
                    Open::Loop { escapes, .. } | Open::Once { escapes, .. }
                        if !escapes.contains(&target) =>
                    {
                        escapes.push(target);
                    }
                    _ => {}
                }
            }
            // A `once` that `continue` passed through would catch the break.
            if self.open[n + 1..].iter().any(|o| matches!(o, Open::Once { .. })) {
                return Err(Error::unsupported("a continue of an outer loop within a switch"));
            }
            self.f.add_jump(self.at, JumpKind::Break, None);
            return Ok(());
        }
        Err(Error::unsupported("a branch out of constructs that are closed"))
    }

    fn flag(&mut self, target: Target) -> VarId {
        let vars = &mut self.vars;
        let shape = Shape::new(1, 1).unwrap_or(Shape::NONE);
        *self.flags.entry(target).or_insert_with(|| vars.declare(shape))
    }

    /// Behind a node that jumps to outer targets left: goes on to those whose flag is set.
    fn escape(
        &mut self,
        script: &Structure,
        node: Node,
        targets: Vec<Target>,
    ) -> Result<(), Error> {
        for target in targets {
            let zero = self.constant(1, &[0]);
            let var = self.flag(target);
            self.vars.define(var, self.f.block_before(node), zero);
            let flag = self.vars.read(&mut self.f, var, self.at);
            let parts = self.f.insert_if(Cursor::BlockEnd(self.at), flag);
            self.at = parts.then_block;
            self.aim(script, target)?;
            self.at = parts.after;
        }
        Ok(())
    }

    // ---- the end ------------------------------------------------------------------------------------

    /// Removes what was made on speculation and nothing uses.
    fn drop_unused(&mut self) {
        for instr in std::mem::take(&mut self.droppable).into_iter().rev() {
            if !self.f.is_removed(instr) && !self.f.is_used(instr.def()) {
                self.f.remove(instr);
            }
        }
    }

    /// Every definition dominates its uses; where the tree merged paths, by way of phis.
    fn check_dominance(&mut self) -> Result<(), Error> {
        let dominance = Dominance::new(&self.f);
        let mut broken: Vec<(Def, Vec<(User, usize, Block)>)> = Vec::new();
        let defs: Vec<Instr> = self.f.all_instrs().collect();
        let mut order = vec![0u32; self.f.instr_capacity()];
        for (n, instr) in defs.iter().enumerate() {
            order[instr.index()] = n as u32;
        }
        for instr in defs {
            let (Some(def), Some(block)) = (self.f.def(instr), self.f.block_of(instr)) else {
                continue;
            };
            let mut bad = Vec::new();
            for (user, n) in self.f.uses_at(def) {
                let used = match user {
                    User::If(node) => self.f.block_before(node),
                    User::Instr(i) => match (self.f.view(i), self.f.block_of(i)) {
                        (InstrView::Phi(preds), _) => preds[n],
                        (_, None) => continue,
                        (_, Some(b)) => {
                            if b == block && order[i.index()] < order[instr.index()] {
                                bad.push((user, n, b));
                                continue;
                            }
                            b
                        }
                    },
                };
                if used != block
                    && dominance.is_reachable(used)
                    && !dominance.dominates(block, used)
                {
                    bad.push((user, n, used));
                }
            }
            if !bad.is_empty() {
                broken.push((def, bad));
            }
        }
        if broken.is_empty() {
            return Ok(());
        }
        if !self.risky {
            return Err(Error::invalid("a value is used where its definition does not dominate"));
        }
        self.repair(broken);
        Ok(())
    }

    fn repair(&mut self, broken: Vec<(Def, Vec<(User, usize, Block)>)>) {
        let mut phis: Vec<(User, usize, Def)> = Vec::new();
        for (def, uses) in broken {
            let var = self.vars.declare(self.f.shape(def));
            if let Some(block) = self.f.block_of(def.instr()) {
                self.vars.define(var, block, def);
            }
            for (user, n, block) in uses {
                let is_phi = matches!(user, User::Instr(i) if self.f.kind(i) == InstrKind::Phi);
                let value = self.vars.read_end(&mut self.f, var, block, is_phi);
                phis.push((user, n, value));
            }
        }
        // Sources first: filling in phis below may move the value to a simpler one.
        for (user, n, value) in phis {
            match user {
                User::Instr(i) => self.f.set_src(i, n, value),
                User::If(node) => self.f.set_condition(node, value),
            }
        }
        self.vars.finish(&mut self.f);
    }
}
