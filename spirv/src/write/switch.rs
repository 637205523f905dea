//! Switches: ladders of `if`s that compare one value with constants, which is how the IR has them.
//!
//! ```text
//! if (x == 1) { A } else { if (x == 2 || x == 3) { B } else { C } }
//! ```
//!
//! becomes one OpSwitch with the arms A, B and the default C. Between the rungs nothing may be computed but their
//! conditions; phis behind the inner rungs are taken apart into the one behind the ladder. A `once` around a ladder
//! and nothing else is the switch's own merge: breaks leave the switch. Where the ladder stands bare, its arms hold no
//! break of a `once`, since SPIR-V lets nothing branch from within a switch to the merge of an outer one.

use deburr_ir_core::{
    AluOp, Block, CfList, Def, Function, Instr, InstrKind, InstrView, Node, NodeKind, User,
};
use rustc_hash::{FxHashMap, FxHashSet};

/// A component of a value.
type Scalar = (Def, u8);

/// A ladder as a switch.
#[derive(Debug)]
pub(super) struct Switch {
    pub selector: Scalar,
    /// Literals and code, in order; a literal stands once.
    pub arms: Vec<(Vec<u64>, CfList)>,
    pub default: CfList,
    /// The block behind.
    pub merge: Block,
    /// Hints of the selection.
    pub control: u32,
}

impl Switch {
    /// The lists of the arms, the default last.
    pub fn lists(&self) -> impl Iterator<Item = CfList> {
        self.arms.iter().map(|(_, list)| *list).chain([self.default])
    }
}

/// The switches of a function.
#[derive(Debug, Default)]
pub(super) struct Switches {
    /// By the block that ends with the switch.
    pub at: FxHashMap<Block, Switch>,
    /// The first block within a `once` that is a switch, by the block before the `once`: written as one.
    pub absorbed: FxHashMap<Block, Block>,
    /// Blocks between the rungs and the one absorbed, each with the block that branches in their place.
    pub rungs: Vec<(Block, Block)>,
    /// Blocks behind rungs, which nothing but phis stands in, with the merge that they fall to.
    pub joins: FxHashMap<Block, Block>,
    /// Conditions of the rungs, which are not written.
    pub conditions: FxHashSet<Instr>,
}

/// A ladder under way.
struct Ladder {
    selector: Scalar,
    arms: Vec<(Vec<u64>, CfList)>,
    default: CfList,
    rungs: Vec<Block>,
    joins: Vec<Block>,
    conditions: FxHashSet<Instr>,
    nodes: Vec<Node>,
}

impl Switches {
    pub fn find(f: &Function) -> Self {
        let mut switches = Switches::default();
        let mut claimed: FxHashSet<Node> = FxHashSet::default();
        for block in f.blocks() {
            let Some(node) = f.block_node(block).and_then(|n| f.next_node(n)) else { continue };
            if claimed.contains(&node) || !f.is_reachable(block) {
                continue;
            }
            let ladder = match f.node_kind(node) {
                NodeKind::If { .. } => bare(f, node, &mut claimed),
                NodeKind::Once { body } => enclosed(f, body, f.block_after(node)),
                NodeKind::Block(_) | NodeKind::Loop { .. } => None,
            };
            let Some(ladder) = ladder else { continue };
            let merge = f.block_after(node);
            if let NodeKind::Once { body } = f.node_kind(node) {
                switches.absorbed.insert(block, f.first_block(body));
            }
            claimed.extend(&ladder.nodes);
            switches.rungs.extend(ladder.rungs.iter().map(|&rung| (rung, block)));
            switches.joins.extend(ladder.joins.iter().map(|&join| (join, merge)));
            switches.conditions.extend(&ladder.conditions);
            let Ladder { selector, arms, default, nodes, .. } = ladder;
            let control = f.node_control(nodes[0]);
            let switch = Switch { selector, arms, default, merge, control };
            switches.at.insert(block, switch);
        }
        switches
    }

    /// The sources of a phi, those that come by way of joins taken apart.
    pub fn edges(&self, f: &Function, phi: Instr) -> Vec<(Def, Block)> {
        let InstrView::Phi(preds) = f.view(phi) else { return Vec::new() };
        let mut work: Vec<(Def, Block)> =
            f.srcs(phi).iter().map(|s| s.def()).zip(preds.iter().copied()).collect();
        let mut edges = Vec::new();
        while let Some((value, pred)) = work.pop() {
            if !self.joins.contains_key(&pred) {
                edges.push((value, pred));
                continue;
            }
            let inner = Some(value.instr())
                .filter(|&i| f.kind(i) == InstrKind::Phi && f.block_of(i) == Some(pred));
            for &from in f.preds(pred) {
                let value = inner.and_then(|phi| f.phi_src(phi, from)).unwrap_or(value);
                work.push((value, from));
            }
        }
        edges
    }
}

/// A ladder that begins with this `if`, worth a switch. Where its breaks forbid that, they forbid one that begins with any
/// rung up to the last break: those are claimed, so that none is tried again.
fn bare(f: &Function, node: Node, claimed: &mut FxHashSet<Node>) -> Option<Ladder> {
    let ladder = ladder(f, node, f.block_after(node))?;
    let literals: usize = ladder.arms.iter().map(|(literals, _)| literals.len()).sum();
    if literals < 2 {
        return None;
    }
    // Arms that jump where a loop leads are as well off; those that leave a `once` are not.
    let outer = innermost_breakable(f, node);
    if !outer.is_some_and(|n| matches!(f.node_kind(n), NodeKind::Once { .. })) {
        return Some(ladder);
    }
    let refused = match f.has_break(ladder.default) {
        true => ladder.nodes.len(),
        false => {
            let last = ladder.arms.iter().rposition(|(_, list)| f.has_break(*list));
            last.map_or(0, |last| last + 1)
        }
    };
    claimed.extend(&ladder.nodes[..refused]);
    (refused == 0).then_some(ladder)
}

/// The ladder that is all of the body of a `once`.
fn enclosed(f: &Function, body: CfList, merge: Block) -> Option<Ladder> {
    let (first, node, join) = three(f, body)?;
    let plain = f.phis(first).next().is_none() && f.block_jump(first).is_none();
    if !plain || !only_phis(f, join, merge) {
        return None;
    }
    let mut ladder = ladder(f, node, join)?;
    ladder.rungs.push(first);
    ladder.joins.push(join);
    Some(ladder)
}

/// The block, the `if` and the block that a list consists of.
fn three(f: &Function, list: CfList) -> Option<(Block, Node, Block)> {
    let mut nodes = f.list_nodes(list);
    let (first, node, last) = (nodes.next()?, nodes.next()?, nodes.next()?);
    let kinds = (f.node_kind(first), f.node_kind(node), f.node_kind(last), nodes.next());
    match kinds {
        (NodeKind::Block(first), NodeKind::If { .. }, NodeKind::Block(last), None) => {
            Some((first, node, last))
        }
        _ => None,
    }
}

/// The longest ladder from this `if` on; `behind` is the block that its end falls to.
fn ladder(f: &Function, first: Node, behind: Block) -> Option<Ladder> {
    let NodeKind::If { then_list, else_list } = f.node_kind(first) else { return None };
    let (selector, literals, conditions) = cases(f, f.condition(first)?)?;
    let mut known = FxHashSet::default();
    // A literal that an earlier arm has doesn't lead to this one.
    let mut fresh = |mut literals: Vec<u64>| {
        literals.retain(|literal| known.insert(*literal));
        literals
    };
    let mut ladder = Ladder {
        selector,
        arms: vec![(fresh(literals), then_list)],
        default: else_list,
        rungs: Vec::new(),
        joins: Vec::new(),
        conditions,
        nodes: vec![first],
    };
    let mut behind = behind;
    while let Some((rung, node, join)) = three(f, ladder.default) {
        let NodeKind::If { then_list, else_list } = f.node_kind(node) else { break };
        let Some((selector, literals, conditions)) = f.condition(node).and_then(|c| cases(f, c))
        else {
            break;
        };
        let floats = |i: Instr| f.kind(i) == InstrKind::LoadConst;
        let empty = f.instrs(rung).all(|i| conditions.contains(&i) || floats(i));
        if selector != ladder.selector || !empty || !only_phis(f, join, behind) {
            break;
        }
        let literals = fresh(literals);
        if literals.is_empty() {
            // Nothing leads there: as an arm it would have no edge.
            break;
        }
        ladder.arms.push((literals, then_list));
        ladder.default = else_list;
        ladder.rungs.push(rung);
        ladder.joins.push(join);
        ladder.conditions.extend(conditions);
        ladder.nodes.push(node);
        behind = join;
    }
    Some(ladder)
}

/// Whether nothing stands in a block but phis of which only phis of the block behind it know.
fn only_phis(f: &Function, block: Block, behind: Block) -> bool {
    f.instrs(block).all(|instr| {
        f.kind(instr) == InstrKind::Phi
            && f.uses_at(instr.def()).all(|(user, n)| match user {
                User::Instr(i) => match f.view(i) {
                    InstrView::Phi(preds) => f.block_of(i) == Some(behind) && preds[n] == block,
                    _ => false,
                },
                User::If(_) => false,
            })
    })
}

/// What a condition compares with which constants, if that is all it does, and its instructions.
fn cases(f: &Function, condition: Def) -> Option<(Scalar, Vec<u64>, FxHashSet<Instr>)> {
    let mut selector: Option<Scalar> = None;
    let mut literals = Vec::new();
    let mut instrs = FxHashSet::default();
    let mut work = vec![condition];
    while let Some(def) = work.pop() {
        let instr = def.instr();
        if f.comps(def) != 1 || !f.has_one_use(def) {
            return None;
        }
        instrs.insert(instr);
        match f.alu_op(instr)? {
            AluOp::IOR => work.extend([f.src(instr, 1), f.src(instr, 0)]),
            AluOp::IEQ => {
                let scalar = |n: usize| (f.src(instr, n), f.swizzle(instr, n).get(0));
                let literal = |(def, comp): Scalar| Some(f.constant(def)?[usize::from(comp)]);
                let (a, b) = (scalar(0), scalar(1));
                let (value, literal) = match (literal(a), literal(b)) {
                    (None, Some(literal)) => (a, literal),
                    (Some(literal), None) => (b, literal),
                    _ => return None,
                };
                if f.bits(value.0) == 1 || *selector.get_or_insert(value) != value {
                    return None;
                }
                literals.push(literal);
            }
            _ => return None,
        }
    }
    Some((selector?, literals, instrs))
}

/// The loop or `once` that a break in a node leaves.
fn innermost_breakable(f: &Function, node: Node) -> Option<Node> {
    let mut at = f.parent(node);
    while let Some(outer) = at {
        match f.node_kind(outer) {
            NodeKind::Loop { .. } | NodeKind::Once { .. } => return Some(outer),
            NodeKind::If { .. } | NodeKind::Block(_) => at = f.parent(outer),
        }
    }
    None
}
