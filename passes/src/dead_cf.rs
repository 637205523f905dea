//! `dead_cf`: removes control flow that decides nothing.
//!
//! `if`s on constants become the branch taken; what no path reaches goes; `if`s with empty branches and loops without
//! effect go where nothing behind them depends on them; `once` without `break` is its body; a `continue` or `break`
//! that leads where control goes anyway goes. A loop without side effects may be assumed to end (semantics 29).
//! Any form. O(n) a round, and a walk of the function more for each `if` on a constant.
//!
//! ```text
//! if true { A } else { B }        A
//! ```

use crate::dce::is_root;
use deburr_ir_core::{CfList, Function, InstrKind, JumpKind, Node, NodeKind, User};

/// Removes dead control flow from a function.
pub fn dead_cf(f: &mut Function) -> bool {
    let mut changed = f.remove_unreachable();
    // Inner nodes first, so that what they leave empty counts for those around them.
    let mut nodes = tree_nodes(f, f.body());
    while let Some(node) = nodes.pop() {
        if f.is_in_tree(node) {
            changed |= simplify(f, node);
        }
    }
    changed
}

/// All nodes but blocks, the last first and outer before inner: who pops them goes through the text in order, inner
/// before outer. (What is joined to the block before it is then always short.)
pub(crate) fn tree_nodes(f: &Function, list: CfList) -> Vec<Node> {
    let mut nodes = Vec::new();
    let mut work = Vec::new();
    push_nodes(f, list, &mut work);
    while let Some(node) = work.pop() {
        nodes.push(node);
        for list in f.child_lists(node) {
            push_nodes(f, list, &mut work);
        }
    }
    nodes
}

fn push_nodes(f: &Function, list: CfList, work: &mut Vec<Node>) {
    work.extend(f.list_nodes(list).filter(|&n| !matches!(f.node_kind(n), NodeKind::Block(_))));
}

fn simplify(f: &mut Function, node: Node) -> bool {
    match f.node_kind(node) {
        NodeKind::Block(_) => false,
        NodeKind::If { then_list, else_list } => simplify_if(f, node, then_list, else_list),
        NodeKind::Loop { body, continue_list } => {
            remove_trailing_jump(f, body, JumpKind::Continue)
                | simplify_loop(f, node, body, continue_list)
        }
        NodeKind::Once { body } => {
            let changed = remove_trailing_jump(f, body, JumpKind::Break);
            if !f.has_break(body) {
                f.dissolve_once(node);
                return true;
            }
            changed
        }
    }
}

fn simplify_if(f: &mut Function, node: Node, then_list: CfList, else_list: CfList) -> bool {
    let constant = f.condition(node).and_then(|c| f.constant(c)).map(|bits| bits[0] != 0);
    if let Some(taken) = constant {
        f.dissolve_if(node, taken);
        f.remove_unreachable();
        return true;
    }
    if f.phis(f.block_after(node)).next().is_none()
        && is_empty(f, then_list)
        && is_empty(f, else_list)
    {
        f.remove_node(node);
        return true;
    }
    false
}

/// Whether the list is one block without instructions.
fn is_empty(f: &Function, list: CfList) -> bool {
    let block = f.first_block(list);
    block == f.last_block(list) && f.first_instr(block).is_none()
}

/// A loop goes that stores nothing, calls nothing, leaves by `break` only, and whose values are not used behind it.
fn simplify_loop(f: &mut Function, node: Node, body: CfList, continue_list: CfList) -> bool {
    let after = f.block_after(node);
    if f.phis(after).next().is_some() || f.preds(after).is_empty() {
        return false;
    }
    let mut blocks = f.list_blocks(body).chain(f.list_blocks(continue_list));
    let harmless = blocks.all(|block| {
        f.instrs(block).all(|instr| {
            let stays = match f.kind(instr) {
                InstrKind::Jump => matches!(f.jump(instr), Some(JumpKind::Return | JumpKind::Halt)),
                InstrKind::Alu
                | InstrKind::Intrinsic
                | InstrKind::Tex
                | InstrKind::Deref
                | InstrKind::LoadConst
                | InstrKind::Undef
                | InstrKind::Phi
                | InstrKind::Call
                | InstrKind::ParallelCopy => is_root(f, instr),
            };
            !stays && f.uses(instr.def()).all(|u| used_inside(f, node, u.user()))
        })
    });
    drop(blocks);
    if harmless {
        f.remove_node(node);
    }
    harmless
}

fn used_inside(f: &Function, node: Node, user: User) -> bool {
    let mut at = match user {
        User::Instr(i) => f.block_of(i).and_then(|b| f.block_node(b)),
        User::If(node) => Some(node),
    };
    while let Some(inner) = at {
        if inner == node {
            return true;
        }
        at = f.parent(inner);
    }
    false
}

/// A jump at the end of a list that leads where the list's end leads anyway.
fn remove_trailing_jump(f: &mut Function, list: CfList, jump: JumpKind) -> bool {
    let last = f.last_block(list);
    let trailing = f.block_jump(last).is_some_and(|(_, j)| j == jump);
    if trailing {
        f.drop_trailing_jump(last);
    }
    trailing
}
