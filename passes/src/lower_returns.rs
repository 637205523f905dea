//! `lower_returns`: early returns become structured flow, so that a function ends at its end alone.
//!
//! The body goes into a `once`; a `return` becomes a `break`, after its value is stored to a local. Inside loops and
//! inner `once`s it also sets a flag, which is tested behind each of them; behind a loop that only returns leave,
//! nothing is left to be tested. The new way behind a loop does not pass what the loop defines: values from inside such
//! a loop that are used behind it go through locals. Runs on functions with a return anywhere but at their end, entry
//! points apart (they stay as they are: nothing inlines them), and those apart where a pointer crosses so that no deref
//! says all of. Logical form. O(n).
//!
//! ```text
//! if %c { return %1 }        once { if %c { @store_deref &value, %1   break } @store_deref &value, %2 }
//! return %2                  32 %3 = @load_deref &value   return %3
//! ```

use crate::mem;
use crate::spill::Regions;
use deburr_ir_core::{
    Block, Builder, Cursor, Def, Func, Function, Instr, JumpKind, Modes, Module, Node, NodeKind,
    Shape, Type, TypeTable, Var, Variable,
};
use rustc_hash::FxHashSet;

/// Lowers early returns of every function that is called.
pub fn lower_returns(m: &mut Module) -> bool {
    let called = crate::global_to_local::called_functions(m);
    let Module { functions, types, .. } = m;
    let mut changed = false;
    for (n, f) in functions.iter_mut().enumerate() {
        if called.contains(&Func::from_index(n)) && f.has_body() && has_early_return(f) {
            changed |= lower(f, types);
        }
    }
    changed
}

fn returns(f: &Function) -> Vec<Block> {
    f.blocks().filter(|&b| f.block_jump(b).is_some_and(|(_, j)| j == JumpKind::Return)).collect()
}

/// Whether a `return` stands anywhere but at the end of the body.
pub(crate) fn has_early_return(f: &Function) -> bool {
    let last = f.last_block(f.body());
    returns(f).into_iter().any(|b| b != last)
}

/// The loops and `once`s that returns leave.
fn left_by_returns(f: &Function) -> Regions {
    let mut left: FxHashSet<Node> = FxHashSet::default();
    for block in returns(f) {
        let mut at = f.block_node(block).and_then(|n| f.parent(n));
        while let Some(node) = at.filter(|n| !left.contains(n)) {
            left.insert(node);
            at = f.parent(node);
        }
    }
    left.retain(|&n| matches!(f.node_kind(n), NodeKind::Loop { .. } | NodeKind::Once { .. }));
    Regions::new(f, &left)
}

/// Lowers the early returns of a function; gives false where they can't be.
pub(crate) fn lower(f: &mut Function, types: &mut TypeTable) -> bool {
    let regions = left_by_returns(f);
    if !regions.can_spill(f) {
        return false;
    }
    let regions = if f.remove_unreachable() { left_by_returns(f) } else { regions };
    // Behind these nothing comes: what follows further out must not become reachable by way of them.
    let only_left = regions.nodes().filter(|&n| !f.is_reachable(f.block_after(n))).collect();
    regions.spill(f, types);
    let bool_type = types.bool();
    let value = f.ret.clone().map(|ret| {
        let var = f.add_local(Variable::new("return_value", Modes::FUNCTION, ret.ty));
        (
            var,
            ret.ty,
            Shape::new(ret.comps, ret.bits).expect("a function returns a value that the IR has"),
        )
    });
    let body = f.body();
    let taken = f.extract_list(body);
    let start = f.start_block();
    let once = f.insert_once(Cursor::BlockStart(start));
    f.reinsert(taken, Cursor::BlockEnd(once.body));
    let mut flag: Option<Var> = None;
    let mut tested: FxHashSet<Node> = FxHashSet::default();
    // By instruction: the tests that are put behind loops split blocks.
    let jumps: Vec<Instr> =
        returns(f).into_iter().filter_map(|b| f.block_jump(b)).map(|(jump, _)| jump).collect();
    for jump in jumps {
        let Some(block) = f.block_of(jump) else { continue };
        let returned = f.srcs(jump).first().map(|s| s.def());
        if let (Some((var, ty, _)), Some(returned)) = (value, returned) {
            let mut b = Builder::new(f, Cursor::Before(jump));
            let pointer = b.deref_var(var, Modes::FUNCTION, ty);
            mem::store(&mut b, pointer, returned, 0);
        }
        let around = left_by_break(f, block, once.node);
        if around.first() != Some(&once.node) {
            let flag = *flag.get_or_insert_with(|| {
                let mut var = Variable::new("returned", Modes::FUNCTION, bool_type);
                var.init = Some(deburr_ir_core::Constant::Bits(vec![0]));
                f.add_local(var)
            });
            let mut b = Builder::new(f, Cursor::Before(jump));
            let set = b.imm_bool(true);
            let pointer = b.deref_var(flag, Modes::FUNCTION, bool_type);
            mem::store(&mut b, pointer, set, 0);
            for node in around.into_iter().take_while(|&n| n != once.node) {
                if tested.insert(node) {
                    test_flag_after(f, node, flag, bool_type, &only_left);
                }
            }
        }
        f.replace_jump(block, JumpKind::Break, None);
    }
    if let Some((var, ty, shape)) = value {
        let mut b = Builder::new(f, Cursor::BlockEnd(once.after));
        let pointer = b.deref_var(var, Modes::FUNCTION, ty);
        let result: Def = mem::load(&mut b, pointer, shape, 0);
        b.jump(JumpKind::Return, Some(result));
    }
    true
}

/// The loops and `once`s around a block, innermost first, up to and with `outermost`.
fn left_by_break(f: &Function, block: Block, outermost: Node) -> Vec<Node> {
    let mut nodes = Vec::new();
    let mut at = f.block_node(block).and_then(|n| f.parent(n));
    while let Some(node) = at {
        if matches!(f.node_kind(node), NodeKind::Loop { .. } | NodeKind::Once { .. }) {
            nodes.push(node);
        }
        if node == outermost {
            break;
        }
        at = f.parent(node);
    }
    nodes
}

/// Behind the node: `if (flag) break`, or `break` where only returns left it.
fn test_flag_after(
    f: &mut Function,
    node: Node,
    flag: Var,
    bool_type: Type,
    only_left: &FxHashSet<Node>,
) {
    let after = f.block_after(node);
    if only_left.contains(&node) {
        f.add_jump(after, JumpKind::Break, None);
        return;
    }
    let mut b = Builder::new(f, Cursor::AfterPhis(after));
    let pointer = b.deref_var(flag, Modes::FUNCTION, bool_type);
    let set = mem::load(&mut b, pointer, Shape::new(1, 1).expect("a bool"), 0);
    let parts = b.f.insert_if(b.cursor, set);
    b.f.add_jump(parts.then_block, JumpKind::Break, None);
}
