//! The control-flow tree as blocks with merge instructions.
//!
//! Blocks come in the order of the text, which SPIR-V's order of dominance allows. [`super::labels`] says which are
//! not written.

use super::Writer;
use super::code::Emit;
use super::infer::infer;
use super::labels::{Labels, is_loop_header};
use super::out::Words;
use super::pointers::PointerType;
use super::switch::{Switch, Switches};
use super::types::{Class, ValueType};
use crate::error::Error;
use deburr_ir_core::{
    Block, CfList, Func, Function, Instr, Intrinsic, JumpKind, Node, NodeKind, TypeData, Var,
};
use rustc_hash::FxHashSet;
use spirv::{Op, StorageClass};

/// Constructs that may be open at once (SPIR-V 2.17).
const MAX_NESTING: usize = 1023;

enum Step {
    /// With the constructs that are open in it.
    Enter(CfList, usize),
    Block(Block),
    Leave(usize),
}

/// Writes the code of a function, from the first label on.
pub(super) fn write_body(w: &mut Writer<'_>, func: Func, params: Vec<u32>) -> Result<Words, Error> {
    let module = w.module;
    let f: &Function = &module[func];
    let classes = infer(f, module);
    let switches = Switches::find(f);
    let labels = Labels::assign(w, f, &switches);
    let rungs: FxHashSet<Block> = switches.rungs.iter().map(|(rung, _)| *rung).collect();
    let mut emit = Emit::new(w, f, func, classes, params, labels, switches);
    emit.find_phi_casts();
    let mut variables = Words::default();
    for slot in 0..f.locals.len() {
        if emit.objects.contains_key(&Var::local(slot)) {
            continue;
        }
        let var = &f.locals[slot];
        let id = emit.w.var_id(Var::local(slot))?;
        let init = emit.w.variable(var, id)?;
        let pointee = emit.w.ir_type(var.ty)?;
        let pointer = emit.w.pointer_type(StorageClass::Function, pointee);
        let mut operands = vec![pointer, id, StorageClass::Function as u32];
        operands.extend(init);
        variables.op(Op::Variable, &operands);
    }
    emit.variables = Some(variables);
    let mut work = vec![Step::Enter(f.body(), 0)];
    while let Some(step) = work.pop() {
        match step {
            Step::Leave(mark) => emit.leave_scope(mark),
            Step::Block(block) => emit.block(block)?,
            Step::Enter(_, depth) if depth > MAX_NESTING => {
                let message = format!("more than {MAX_NESTING} nested constructs in `{}`", f.name);
                return Err(Error::limit(message));
            }
            Step::Enter(list, depth) => {
                work.push(Step::Leave(emit.scope_mark()));
                push_list(f, list, depth, &rungs, &mut work);
            }
        }
    }
    Ok(emit.code)
}

/// What a list consists of. The rungs of a switch are no constructs of their own.
fn push_list(
    f: &Function,
    list: CfList,
    depth: usize,
    rungs: &FxHashSet<Block>,
    work: &mut Vec<Step>,
) {
    let at = work.len();
    for node in f.list_nodes(list) {
        match f.node_kind(node) {
            NodeKind::Block(block) => work.push(Step::Block(block)),
            NodeKind::If { .. } | NodeKind::Loop { .. } | NodeKind::Once { .. } => {
                let depth = depth + usize::from(!rungs.contains(&f.block_before(node)));
                work.extend(f.child_lists(node).into_iter().map(|list| Step::Enter(list, depth)));
            }
        }
    }
    work[at..].reverse();
}

impl Emit<'_, '_> {
    fn label_of(&self, block: Block) -> u32 {
        self.labels.entry(block)
    }

    fn block(&mut self, block: Block) -> Result<(), Error> {
        if self.labels.is_elided(block) {
            return Ok(());
        }
        let entry = self.label_of(block);
        self.code.op(Op::Label, &[entry]);
        if let Some(variables) = self.variables.take() {
            self.code.0.extend(variables.0);
        }
        self.handles.clear();
        let f = self.f;
        self.phis(block)?;
        let rest = self.labels.rest(block);
        if let Some(rest) = rest {
            self.loop_merge(block);
            self.code.op(Op::Branch, &[rest]);
            self.code.op(Op::Label, &[rest]);
        }
        let absorbed = self.switches.absorbed.get(&block).copied();
        for block in [Some(block), absorbed].into_iter().flatten() {
            for instr in f.instrs(block) {
                if !self.switches.conditions.contains(&instr) {
                    let start = self.code.0.len();
                    let written = self.instr(instr).and_then(|()| self.check_stages(start));
                    written.map_err(|e| self.placed(e, instr))?;
                }
            }
        }
        if rest.is_none() && is_loop_header(f, block) {
            self.loop_merge(block);
        }
        match self.switches.at.remove(&block) {
            Some(switch) => self.switch(&switch),
            None => self.terminator(block),
        }
    }

    fn switch(&mut self, switch: &Switch) -> Result<(), Error> {
        let (def, comp) = switch.selector;
        let bits = self.f.bits(def);
        let class = match self.class(def) {
            Class::Sint => Class::Sint,
            Class::Bool | Class::Float | Class::Uint => Class::Uint,
        };
        let selector = self.operand_scalar(def, comp, class)?;
        let after = self.label_of(switch.merge);
        let default = self.label_of(self.f.first_block(switch.default));
        let ty = ValueType { class, bits, comps: 1 };
        let mut words = vec![selector, default];
        for (literals, list) in &switch.arms {
            let label = self.label_of(self.f.first_block(*list));
            for &literal in literals {
                words.extend(ty.literal(literal));
                words.push(label);
            }
        }
        self.code.op(Op::SelectionMerge, &[after, switch.control]);
        self.code.op(Op::Switch, &words);
        Ok(())
    }

    fn loop_merge(&mut self, block: Block) {
        let f = self.f;
        let node = f.block_node(block).and_then(|n| f.parent(n));
        let Some(node) = node else { return };
        if let NodeKind::Loop { continue_list, .. } = f.node_kind(node) {
            let after = self.label_of(f.block_after(node));
            let cont = self.label_of(f.first_block(continue_list));
            self.code.op(Op::LoopMerge, &[after, cont, f.node_control(node)]);
        }
    }

    fn terminator(&mut self, block: Block) -> Result<(), Error> {
        let f = self.f;
        if let Some((jump, kind)) = f.block_jump(block) {
            match kind {
                // An entry point that ends has nobody to return to.
                JumpKind::Halt if self.ends_by_return() => self.code.op(Op::Return, &[]),
                JumpKind::Halt => {
                    let start = self.code.0.len();
                    let last = f.prev_instr(jump).and_then(|i| f.intrinsic(i));
                    let terminates = last == Some(Intrinsic::TERMINATE);
                    let op = if terminates { Op::TerminateInvocation } else { Op::Kill };
                    self.code.op(op, &[]);
                    self.check_stages(start).map_err(|e| self.placed(e, jump))?;
                }
                JumpKind::Return => match f.srcs(jump).first() {
                    Some(src) => {
                        let ret = f.ret.as_ref().map(|r| r.ty).filter(|ty| {
                            matches!(self.w.module.types[*ty], TypeData::Pointer { .. })
                        });
                        let value = match ret {
                            Some(ty) => self.pointer_operand(src.def(), PointerType::Type(ty))?,
                            None => self.wanted_src(jump, 0)?,
                        };
                        self.code.op(Op::ReturnValue, &[value]);
                    }
                    None => self.code.op(Op::Return, &[]),
                },
                JumpKind::Break | JumpKind::Continue => {
                    let target = f.structural_successors(block)[0].map(|b| self.label_of(b));
                    match target {
                        Some(target) => self.code.op(Op::Branch, &[target]),
                        None => self.code.op(Op::Unreachable, &[]),
                    }
                }
            }
            return Ok(());
        }
        let next = f.block_node(block).and_then(|n| f.next_node(n));
        match next.map(|n| (n, f.node_kind(n))) {
            // An unreachable continue list still has to lead back.
            _ if !f.is_reachable(block) && !self.leads_back(block) => {
                self.code.op(Op::Unreachable, &[])
            }
            Some((node, NodeKind::If { then_list, else_list })) => {
                self.selection(node, then_list, else_list)?
            }
            Some((_, NodeKind::Loop { body, .. })) => {
                let header = self.label_of(f.first_block(body));
                self.code.op(Op::Branch, &[header]);
            }
            Some((node, NodeKind::Once { body })) => {
                let after = self.label_of(f.block_after(node));
                let body = self.label_of(f.first_block(body));
                let selector = self.w.u32_const(0);
                self.code.op(Op::SelectionMerge, &[after, 0]);
                self.code.op(Op::Switch, &[selector, body]);
            }
            Some((_, NodeKind::Block(_))) | None => match f.structural_successors(block)[0] {
                Some(target) if target == f.end_block() => match f.ret {
                    None => self.code.op(Op::Return, &[]),
                    Some(_) => self.code.op(Op::Unreachable, &[]),
                },
                Some(target) => {
                    let target = self.label_of(target);
                    self.code.op(Op::Branch, &[target]);
                }
                None => self.code.op(Op::Unreachable, &[]),
            },
        }
        Ok(())
    }

    fn check_stages(&self, start: usize) -> Result<(), Error> {
        self.w.check_stages(&self.code.0[start..], self.w.stages[self.func.index()])
    }

    /// Whether `halt` is a return here: in an entry point of a stage that has no OpKill, and that nothing calls.
    fn ends_by_return(&self) -> bool {
        let module = self.w.module;
        let is_entry = module.entry_points.iter().any(|e| e.function == self.func);
        is_entry && self.f.ret.is_none() && !self.w.stages[self.func.index()].has_fragment()
    }

    /// The error with the instruction that it is about.
    fn placed(&self, error: Error, instr: Instr) -> Error {
        let text = self.w.module.show(self.f).instr(instr);
        error.in_ir(&self.f.name, text.trim())
    }

    /// Whether the block is the end of a continue list.
    fn leads_back(&self, block: Block) -> bool {
        let f = self.f;
        f.block_node(block).is_some_and(|node| {
            let list = f.node_list(node);
            let owner = f.list_owner(list).map(|n| f.node_kind(n));
            f.last_block(list) == block && matches!(owner, Some(NodeKind::Loop { continue_list, .. }) if continue_list == list)
        })
    }

    fn selection(&mut self, node: Node, then_list: CfList, else_list: CfList) -> Result<(), Error> {
        let f = self.f;
        let Some(condition) = f.condition(node) else {
            return Err(Error::invalid("an `if` without condition"));
        };
        let condition = self.operand_scalar(condition, 0, Class::Bool)?;
        let (then_block, else_block) = (f.first_block(then_list), f.first_block(else_list));
        // A branch that leaves a construct makes the merge needless.
        let merge_free = self.labels.is_merge_free(f, then_list, else_list);
        let (then_label, else_label) = (self.label_of(then_block), self.label_of(else_block));
        if !merge_free {
            let after = self.label_of(f.block_after(node));
            self.code.op(Op::SelectionMerge, &[after, f.node_control(node)]);
        }
        self.code.op(Op::BranchConditional, &[condition, then_label, else_label]);
        Ok(())
    }
}
