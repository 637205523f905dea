//! `once_to_if`: what follows an early exit from a `once` becomes the other branch of its `if`.
//!
//! Where a branch of an `if` in the body of a `once` ends with `break`, the rest of the body runs in the other branch
//! only: it moves there, and the `break` leads where the body ends anyway. A `once` without `break`s is dissolved by
//! `dead_cf`. Early returns of inlined functions become plain selections so. Any form. O(n) but for the depth that it
//! adds, which is bounded by [`MAX_DEPTH`].
//!
//! ```text
//! once { if %c { A break } B }        if %c { A } else { B }
//! ```

use crate::dead_cf::tree_nodes;
use deburr_ir_core::{
    Block, Builder, CfList, Cursor, Def, Function, Instr, JumpKind, Node, NodeKind,
};

/// Depth of nesting up to which code is moved into a branch.
const MAX_DEPTH: usize = 64;

/// Turns early exits of `once` regions into branches.
pub fn once_to_if(f: &mut Function) -> bool {
    let mut changed = false;
    let mut nodes = tree_nodes(f, f.body());
    while let Some(once) = nodes.pop() {
        let NodeKind::Once { body } = f.node_kind(once) else { continue };
        let mut levels = depth(f, once) + height(f, body);
        // From the last exit to the first: the body's own exits behind one have moved by then.
        let mut at = f.block_node(f.last_block(body));
        while levels < MAX_DEPTH
            && let Some(exit) = at.and_then(|at| last_exit(f, once, body, at))
        {
            at = f.prev_node(exit.node);
            convert(f, once, &exit);
            levels += 1;
            changed = true;
        }
    }
    changed
}

fn depth(f: &Function, node: Node) -> usize {
    std::iter::successors(f.parent(node), |&n| f.parent(n)).take(MAX_DEPTH).count()
}

/// How deep the nodes of a list nest, up to [`MAX_DEPTH`].
fn height(f: &Function, list: CfList) -> usize {
    let mut height = 0;
    let mut lists = vec![(list, 0)];
    while let Some((list, level)) = lists.pop() {
        height = height.max(level);
        if height >= MAX_DEPTH {
            break;
        }
        for node in f.list_nodes(list) {
            lists.extend(f.child_lists(node).into_iter().map(|l| (l, level + 1)));
        }
    }
    height
}

/// An `if` of which one branch ends with `break`.
struct Exit {
    node: Node,
    /// The block that breaks.
    end: Block,
    /// The other branch.
    other: CfList,
}

/// The last exit of the body that stands before `at`.
fn last_exit(f: &Function, once: Node, body: CfList, at: Node) -> Option<Exit> {
    let last = f.last_block(body);
    // The rest has to fall to the end, which must be reached.
    if f.block_jump(last).is_some() || !f.is_reachable(last) || !f.is_reachable(f.block_after(once))
    {
        return None;
    }
    let breaks = |list: CfList| f.block_jump(f.last_block(list)).map(|(_, jump)| jump);
    std::iter::successors(Some(at), |&n| f.prev_node(n)).find_map(|node| {
        let NodeKind::If { then_list, else_list } = f.node_kind(node) else { return None };
        let (list, other) = match (breaks(then_list), breaks(else_list)) {
            (Some(JumpKind::Break), None) => (then_list, else_list),
            (None, Some(JumpKind::Break)) => (else_list, then_list),
            _ => return None,
        };
        let end = f.last_block(list);
        (f.is_reachable(end) && f.is_reachable(f.last_block(other))).then_some(Exit {
            node,
            end,
            other,
        })
    })
}

fn convert(f: &mut Function, once: Node, exit: &Exit) {
    let outside = f.block_after(once);
    let lefts: Vec<(Instr, Def)> =
        f.phis(outside).filter_map(|phi| Some((phi, f.phi_src(phi, exit.end)?))).collect();
    f.move_rest(exit.node, exit.other);
    f.remove_jump(exit.end);
    // The break's edge is one of the block behind the `if` now, which has taken over that of the end of the body.
    let (after, fallen) = (f.block_after(exit.node), f.last_block(exit.other));
    for (phi, left) in lefts {
        let Some(fell) = f.phi_src(phi, after).filter(|&fell| fell != left) else { continue };
        let shape = f.shape(phi.def());
        let value = Builder::new(f, Cursor::AfterPhis(after)).phi(
            after,
            shape,
            &[(exit.end, left), (fallen, fell)],
        );
        f.set_phi_src(phi, after, value);
    }
}
