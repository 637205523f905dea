//! The control-flow tree, edges, placement of instructions, use lists.

use super::{FunctionCheck, Place, Rule};
use crate::cf::NodeKind;
use crate::entity::{Block, CfList, Entity, Instr, Node, PackedOption, UseId};
use crate::instr::{InstrKind, JumpKind, User};

impl FunctionCheck<'_> {
    /// Whether the tree is one: links agree in both directions, lists alternate, blocks know their nodes.
    pub(super) fn tree(&mut self) -> bool {
        let f = self.f;
        let mut seen = vec![false; f.nodes.len()];
        let mut lists = vec![(f.body(), PackedOption::NONE)];
        let mut ok = true;
        while let Some((list, owner)) = lists.pop() {
            ok &= self.list(list, owner, &mut seen, &mut lists);
        }
        let end = &f.blocks[f.end_block().index()];
        if end.node != PackedOption::NONE || end.first != PackedOption::NONE {
            self.error(Rule::Tree, Place::Block(f.end_block()), "the end block is in use");
            ok = false;
        }
        ok
    }

    fn list(
        &mut self,
        list: CfList,
        owner: PackedOption<Node>,
        seen: &mut [bool],
        lists: &mut Vec<(CfList, PackedOption<Node>)>,
    ) -> bool {
        let f = self.f;
        let wrong = |message: String| Some((Rule::Tree, message));
        let mut problem = None;
        if f.lists[list.index()].owner != owner {
            problem = wrong(format!("{list:?} has another owner than the node that it is in"));
        }
        let mut prev: PackedOption<Node> = PackedOption::NONE;
        let mut next = f.lists[list.index()].first;
        let mut want_block = true;
        while let Some(node) = next.get() {
            if node.index() >= seen.len() || std::mem::replace(&mut seen[node.index()], true) {
                problem = wrong(format!("{node:?} stands twice"));
                break;
            }
            let data = &f.nodes[node.index()];
            if data.prev != prev || data.list != list {
                problem = wrong(format!("the links of {node:?} don't agree"));
            }
            let is_block = matches!(data.kind, NodeKind::Block(_));
            if is_block != want_block {
                problem = wrong(format!("blocks and other nodes don't alternate at {node:?}"));
            }
            want_block = !is_block;
            if let NodeKind::Block(block) = data.kind
                && f.block_node(block) != Some(node)
            {
                problem = wrong(format!("{block:?} is not in its node"));
            }
            if data.condition.get().is_some() != matches!(data.kind, NodeKind::If { .. }) {
                problem = wrong(format!("{node:?}: an `if`, and nothing else, has a condition"));
            }
            lists.extend(f.child_lists(node).into_iter().map(|l| (l, node.into())));
            prev = node.into();
            next = data.next;
        }
        if want_block {
            problem = problem.or(wrong(format!("{list:?} does not end with a block")));
        }
        if f.lists[list.index()].last != prev {
            problem = problem.or(wrong(format!("the last node of {list:?} is another")));
        }
        match problem {
            Some((rule, message)) => {
                self.error(rule, Place::Function, message);
                false
            }
            None => true,
        }
    }

    /// Whether instructions are where they say; numbers them.
    pub(super) fn placement(&mut self) -> bool {
        let f = self.f;
        self.position = vec![u32::MAX; f.instr_capacity()];
        let mut n = 0;
        let mut ok = true;
        for block in f.blocks() {
            let mut prev: PackedOption<Instr> = PackedOption::NONE;
            let mut next = f.blocks[block.index()].first;
            while let Some(instr) = next.get() {
                let h = f.header(instr);
                let again = std::mem::replace(&mut self.position[instr.index()], n) != u32::MAX;
                if again || h.block.get() != Some(block) || h.prev != prev || f.is_removed(instr) {
                    let message = format!("the links of {instr:?} don't agree");
                    self.error(Rule::Placement, Place::Block(block), message);
                    ok = false;
                    break;
                }
                n += 1;
                prev = instr.into();
                next = h.next;
            }
            if ok && f.blocks[block.index()].last != prev {
                self.error(Rule::Placement, Place::Block(block), "the last instruction is another");
                ok = false;
            }
        }
        ok
    }

    /// Compares the edges with those that follow from the tree.
    pub(super) fn edges(&mut self) {
        let f = self.f;
        let reached = f.reached_blocks();
        let mut preds: Vec<Vec<Block>> = vec![Vec::new(); f.block_capacity()];
        for block in f.blocks() {
            let want = match reached[block.index()] {
                true => f.structural_successors(block),
                false => [None, None],
            };
            if f.blocks[block.index()].succs.map(PackedOption::get) != want {
                let message =
                    format!("it leads to {want:?}, not to {:?}", f.blocks[block.index()].succs);
                self.error(Rule::Edges, Place::Block(block), message);
            }
            want.into_iter().flatten().for_each(|succ| preds[succ.index()].push(block));
            if !reached[block.index()] && f.first_instr(block).is_some() {
                self.error(Rule::Unreachable, Place::Block(block), "nothing reaches it");
            }
            self.jump(block);
        }
        for block in f.blocks().chain([f.end_block()]) {
            let mut have = f.preds(block).to_vec();
            have.sort_unstable();
            preds[block.index()].sort_unstable();
            if have != preds[block.index()] {
                let want = &preds[block.index()];
                let message = format!("its predecessors are {want:?}, not {have:?}");
                self.error(Rule::Edges, Place::Block(block), message);
            }
        }
    }

    /// Checks where a block's jump leads.
    fn jump(&mut self, block: Block) {
        let f = self.f;
        let Some((instr, jump)) = f.block_jump(block) else { return };
        let Some(mut node) = f.block_node(block) else { return };
        let place = Place::Instr(instr);
        loop {
            let list = f.node_list(node);
            let Some(owner) = f.list_owner(list) else { break };
            match f.node_kind(owner) {
                NodeKind::Loop { continue_list, .. } if continue_list == list => {
                    return self.error(Rule::JumpInContinue, place, "it stands in a continue list");
                }
                NodeKind::Loop { .. } if matches!(jump, JumpKind::Break | JumpKind::Continue) => {
                    return;
                }
                NodeKind::Once { .. } if jump == JumpKind::Break => return,
                NodeKind::Block(_)
                | NodeKind::If { .. }
                | NodeKind::Loop { .. }
                | NodeKind::Once { .. } => node = owner,
            }
        }
        if matches!(jump, JumpKind::Break | JumpKind::Continue) {
            self.error(Rule::JumpTarget, place, "there is nothing around it to leave or continue");
        }
    }

    /// Recomputes use lists.
    pub(super) fn uses(&mut self) {
        let f = self.f;
        // Which records are operands of something in the tree.
        let mut live = vec![false; f.uses.len()];
        let mut expected = 0usize;
        for instr in f.all_instrs() {
            let h = f.header(instr);
            let range = h.srcs as usize..h.srcs as usize + usize::from(h.num_srcs);
            if range.end > f.uses.len() {
                self.error(Rule::Uses, Place::Instr(instr), "its sources are outside the pool");
                return;
            }
            for n in range {
                live[n] = true;
                expected += 1;
                self.source(f.uses[n].user() == User::Instr(instr), n, Place::Instr(instr));
            }
        }
        let blocks: Vec<Block> = f.blocks().collect();
        for block in blocks {
            let node = f.block_node(block).and_then(|node| f.next_node(node));
            let Some(node) = node else { continue };
            if let Some(id) = f.nodes[node.index()].condition.get() {
                live[id.index()] = true;
                expected += 1;
                let right = f.uses[id.index()].user() == User::If(node);
                self.source(right, id.index(), Place::Block(block));
            }
        }
        let mut found = 0usize;
        for n in 0..f.instr_capacity() {
            let instr = Instr::from_index(n);
            let mut prev: PackedOption<UseId> = PackedOption::NONE;
            let mut next = f.header(instr).uses;
            while let Some(id) = next.get() {
                found += 1;
                let record = f.uses.get(id.index()).filter(|r| {
                    live[id.index()] && r.def == instr.def() && r.prev == prev && found <= expected
                });
                let Some(record) = record else {
                    let message =
                        format!("the use list of {:?} has an entry that is no use", instr.def());
                    return self.error(Rule::Uses, Place::Instr(instr), message);
                };
                prev = id.into();
                next = record.next;
            }
        }
        if found != expected {
            let message = format!("{expected} operands, but {found} entries in use lists");
            self.error(Rule::Uses, Place::Function, message);
        }
    }

    /// Checks that an operand is the value of something in the tree.
    fn source(&mut self, right_user: bool, record: usize, place: Place) {
        let f = self.f;
        let def = f.uses[record].def;
        if !right_user {
            self.error(Rule::Uses, place, "an operand names another user");
        }
        if def == Entity::NONE || def.index() >= f.instr_capacity() {
            return self.error(Rule::Source, place, format!("{def:?} does not exist"));
        }
        if self.position[def.index()] == u32::MAX || f.def(def.instr()).is_none() {
            self.error(Rule::Source, place, format!("{def:?} has no value in the tree"));
        }
    }

    /// Checks the order within a block: phis, the rest, a jump.
    pub(super) fn block_order(&mut self, block: Block) {
        let f = self.f;
        let mut phis = true;
        for instr in f.instrs(block) {
            let kind = f.kind(instr);
            if kind == InstrKind::Phi && !phis {
                self.error(Rule::PhiFirst, Place::Instr(instr), "something else stands before it");
            }
            phis &= kind == InstrKind::Phi;
            if kind == InstrKind::Jump && f.next_instr(instr).is_some() {
                self.error(Rule::JumpLast, Place::Instr(instr), "something follows it");
            }
        }
    }
}

#[cfg(test)]
mod tests {
    //! What only code within the crate can break.

    use super::*;
    use crate::builder::Builder;
    use crate::func::{Cursor, Function};
    use crate::module::Module;
    use crate::validate::validate;

    /// A function with an `if`, spoilt, and the rules that it breaks.
    fn broken(spoil: impl FnOnce(&mut Function)) -> Vec<Rule> {
        let mut f = Function::new("f");
        let condition = Builder::at_end(&mut f).imm_bool(true);
        f.insert_if(Cursor::After(condition.instr()), condition);
        spoil(&mut f);
        let mut module = Module::new();
        module.add_function(f);
        let mut rules: Vec<Rule> =
            validate(&module).err().into_iter().flatten().map(|e| e.rule).collect();
        rules.dedup();
        rules
    }

    #[test]
    fn sound_functions_are_silent() {
        assert_eq!(broken(|_| {}), []);
    }

    #[test]
    fn a_list_that_does_not_end_with_a_block() {
        assert_eq!(
            broken(|f| {
                let after = f.nodes.iter().position(|n| {
                    n.list == f.body() && n.next.get().is_none() && n.prev.get().is_some()
                });
                let after = Node::from_index(after.expect("the body has a last node"));
                f.unlink_node(after);
            }),
            [Rule::Tree]
        );
    }

    #[test]
    fn a_node_whose_links_disagree() {
        assert_eq!(
            broken(|f| {
                let first = f.list_nodes(f.body()).next().expect("the body has a node");
                f.nodes[first.index()].prev = first.into();
            }),
            [Rule::Tree]
        );
    }

    #[test]
    fn an_owner_that_is_another() {
        assert_eq!(
            broken(|f| {
                let last = f.lists.len() - 1;
                f.lists[last].owner = PackedOption::NONE;
            }),
            [Rule::Tree]
        );
    }

    #[test]
    fn an_instruction_that_says_another_block() {
        assert_eq!(
            broken(|f| {
                let end = f.end_block();
                let instr = f.all_instrs().next().expect("there is a constant");
                f.header_mut(instr).block = end.into();
            }),
            [Rule::Placement]
        );
    }

    #[test]
    fn a_block_with_another_last_instruction() {
        assert_eq!(broken(|f| f.blocks[0].last = PackedOption::NONE), [Rule::Placement]);
    }

    #[test]
    fn a_use_that_is_in_no_list() {
        assert_eq!(
            broken(|f| {
                let instr = f.all_instrs().next().expect("there is a constant");
                f.header_mut(instr).uses = PackedOption::NONE;
            }),
            [Rule::Uses]
        );
    }

    #[test]
    fn an_edge_too_many() {
        assert_eq!(
            broken(|f| {
                let (end, start) = (f.end_block(), f.start_block());
                f.blocks[end.index()].preds.push(start);
            }),
            [Rule::Edges]
        );
    }
}
