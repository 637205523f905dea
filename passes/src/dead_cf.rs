//! `dead_cf`: removes control flow that decides nothing.
//!
//! `if`s on constants become the branch taken; what no path reaches goes; `if`s with empty branches and loops without
//! effect go where nothing behind them depends on them; `once` without `break` is its body; a `continue` or `break`
//! that leads where control goes anyway goes. A loop without side effects may be assumed to end (semantics 29).
//! Any form. O(n), and the depth for each loop without effects that stays.
//!
//! ```text
//! if true { A } else { B }        A
//! ```

use crate::dce::is_root;
use deburr_ir_core::{CfList, Function, Instr, InstrKind, JumpKind, Node, NodeKind, User};
use rustc_hash::FxHashSet;

/// Removes dead control flow from a function.
pub fn dead_cf(f: &mut Function) -> bool {
    let mut changed = f.remove_unreachable();
    if dissolve_constant_ifs(f) {
        changed = true;
        // Once for all of them: it walks the function.
        f.remove_unreachable();
    }
    // Inner nodes first, so that what they leave empty counts for those around them. What goes with a node has had its
    // turn.
    let mut nodes = tree_nodes(f, f.body());
    let mut busy = FxHashSet::default();
    while let Some(node) = nodes.pop() {
        changed |= simplify(f, node, &mut busy);
    }
    changed
}

/// Replaces `if`s on constants by the branch taken. Outer ones first: what stands in a branch then moves once, however
/// deep they nest. Code that becomes unreachable stays.
fn dissolve_constant_ifs(f: &mut Function) -> bool {
    let mut changed = false;
    let mut next = f.list_nodes(f.body()).next();
    while let Some(node) = next {
        if let NodeKind::If { .. } = f.node_kind(node)
            && let Some(taken) = constant_condition(f, node)
            && f.is_reachable(f.block_before(node))
        {
            // The branch joins the block before, and what was in it follows that.
            let before = f.block_before(node);
            f.dissolve_if(node, taken);
            changed = true;
            next = f.block_node(before).and_then(|n| following(f, n));
            continue;
        }
        let inner = f.child_lists(node).first().and_then(|&list| f.list_nodes(list).next());
        next = inner.or_else(|| following(f, node));
    }
    changed
}

fn constant_condition(f: &Function, node: Node) -> Option<bool> {
    f.condition(node).and_then(|c| f.constant(c)).map(|bits| bits[0] != 0)
}

/// The node that follows in the text, behind all that is inside this one.
fn following(f: &Function, node: Node) -> Option<Node> {
    let mut at = node;
    loop {
        if let Some(next) = f.next_node(at) {
            return Some(next);
        }
        let list = f.node_list(at);
        let owner = f.list_owner(list)?;
        let lists = f.child_lists(owner);
        if lists.first() == Some(&list)
            && let Some(&other) = lists.get(1)
        {
            return f.list_nodes(other).next();
        }
        at = owner;
    }
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

/// `busy` are nodes with an effect inside.
fn simplify(f: &mut Function, node: Node, busy: &mut FxHashSet<Node>) -> bool {
    match f.node_kind(node) {
        NodeKind::Block(_) => false,
        NodeKind::If { then_list, else_list } => simplify_if(f, node, then_list, else_list),
        NodeKind::Loop { body, continue_list } => {
            remove_trailing_jump(f, body, JumpKind::Continue)
                | simplify_loop(f, node, body, continue_list, busy)
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
fn simplify_loop(
    f: &mut Function,
    node: Node,
    body: CfList,
    continue_list: CfList,
    busy: &mut FxHashSet<Node>,
) -> bool {
    let after = f.block_after(node);
    if busy.contains(&node) || f.phis(after).next().is_some() || f.preds(after).is_empty() {
        return false;
    }
    let blocks = || f.list_blocks(body).chain(f.list_blocks(continue_list));
    if blocks().any(|block| f.instrs(block).any(|instr| has_effect(f, instr))) {
        // An outer loop has it too, and need not look.
        let mut at = Some(node);
        while let Some(node) = at.filter(|&n| busy.insert(n)) {
            at = f.parent(node);
        }
        return false;
    }
    let local = |instr: Instr| f.uses(instr.def()).all(|u| used_inside(f, node, u.user()));
    let harmless = blocks().all(|block| f.instrs(block).all(local));
    if harmless {
        f.remove_node(node);
    }
    harmless
}

/// Whether a loop with the instruction in it does more than compute.
fn has_effect(f: &Function, instr: Instr) -> bool {
    match f.kind(instr) {
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
    }
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
