//! `lower_returns`: early returns become structured flow, so that a function ends at its end alone.
//!
//! The body goes into a `once`; a `return` becomes a `break`, after its value is stored to a local. Inside loops and
//! inner `once`s it also sets a flag, which is tested behind each of them. Runs on functions with a return anywhere
//! but at their end, entry points apart (they stay as they are: nothing inlines them), and left alone where a value from
//! inside such a loop is used behind it: the new way there does not pass the definition. Logical form. O(n).
//!
//! ```text
//! if %c { return %1 }        once { if %c { @store_deref &value, %1   break } @store_deref &value, %2 }
//! return %2                  32 %3 = @load_deref &value   return %3
//! ```

use crate::mem;
use deburr_ir_core::{
    Block, Builder, Cursor, Def, Function, Instr, InstrView, JumpKind, Modes, Module, Node,
    NodeKind, Shape, Type, User, Var, Variable,
};
use rustc_hash::{FxHashMap, FxHashSet};

/// Lowers early returns of every function that is called.
pub fn lower_returns(m: &mut Module) -> bool {
    let called = crate::global_to_local::called_functions(m);
    let bool_type = m.types.bool();
    let mut changed = false;
    for func in m.funcs() {
        let f = &mut m[func];
        if called.contains(&func) && f.has_body() && has_early_return(f) && can_lower(f) {
            lower(f, bool_type);
            changed = true;
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

/// Whether no value is defined inside a loop or `once` that a return leaves, and used outside of it.
pub(crate) fn can_lower(f: &Function) -> bool {
    let blocks: Vec<Block> = f.list_blocks(f.body()).collect();
    let place: FxHashMap<Block, usize> = blocks.iter().enumerate().map(|(n, &b)| (b, n)).collect();
    let mut left: FxHashSet<Node> = FxHashSet::default();
    for block in returns(f) {
        let mut at = f.block_node(block).and_then(|n| f.parent(n));
        while let Some(node) = at.filter(|n| !left.contains(n)) {
            left.insert(node);
            at = f.parent(node);
        }
    }
    left.retain(|&n| matches!(f.node_kind(n), NodeKind::Loop { .. } | NodeKind::Once { .. }));
    // First and last block of each, the outer ones first.
    let mut spans: Vec<(usize, usize)> = left
        .iter()
        .map(|&n| (place[&f.block_before(n)] + 1, place[&f.block_after(n)] - 1))
        .collect();
    spans.sort_unstable_by_key(|&(first, last)| (first, usize::MAX - last));
    let mut spans = spans.into_iter().peekable();
    let mut around: Vec<(usize, usize)> = Vec::new();
    for (n, &block) in blocks.iter().enumerate() {
        while around.last().is_some_and(|&(_, last)| last < n) {
            around.pop();
        }
        while let Some(span) = spans.next_if(|&(first, _)| first == n) {
            around.push(span);
        }
        let Some(&(first, last)) = around.last() else { continue };
        let outside = |user: Option<Block>| {
            user.and_then(|b| place.get(&b)).is_some_and(|at| !(first..=last).contains(at))
        };
        let crosses = |def: Def| {
            f.uses_at(def).any(|(user, at)| match user {
                // A phi's value is needed at the end of the predecessor.
                User::Instr(instr) => outside(match f.view(instr) {
                    InstrView::Phi(preds) => preds.get(at).copied(),
                    InstrView::Alu(_)
                    | InstrView::Intrinsic(..)
                    | InstrView::Tex(_)
                    | InstrView::Deref(_)
                    | InstrView::LoadConst(_)
                    | InstrView::Undef
                    | InstrView::Jump(_)
                    | InstrView::Call(_)
                    | InstrView::ParallelCopy => f.block_of(instr),
                }),
                User::If(node) => outside(Some(f.block_before(node))),
            })
        };
        if f.instrs(block).filter_map(|i| f.def(i)).any(crosses) {
            return false;
        }
    }
    true
}

/// Lowers the early returns of a function that [`can_lower`].
pub(crate) fn lower(f: &mut Function, bool_type: Type) {
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
                    test_flag_after(f, node, flag, bool_type);
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

/// Behind the node: `if (flag) break`.
fn test_flag_after(f: &mut Function, node: Node, flag: Var, bool_type: Type) {
    let after = f.block_after(node);
    let mut b = Builder::new(f, Cursor::AfterPhis(after));
    let pointer = b.deref_var(flag, Modes::FUNCTION, bool_type);
    let set = mem::load(&mut b, pointer, Shape::new(1, 1).expect("a bool"), 0);
    let parts = b.f.insert_if(b.cursor, set);
    b.f.add_jump(parts.then_block, JumpKind::Break, None);
}
