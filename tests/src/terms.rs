//! The left sides of the tree's rules, as terms that random programs grow from.

use deburr_fuzz::{Term, TermKind, TermNode};
use deburr_ir_core::{AluOp, Flags};
use deburr_rulegen::rules::model::{Comps, Node, NodeKind, VarKind};
use deburr_rulegen::rules::{Rule, RuleSet, Texts};
use deburr_ruleset::{OPCODES, SOURCES};
use std::collections::HashMap;

/// The rules of the tree, checked.
///
/// # Panics
/// If they are wrong: then the rule set would not have been built.
pub fn rule_set() -> RuleSet {
    let texts = Texts { opcodes: OPCODES, intrinsics: "", rules: SOURCES };
    match texts.load().and_then(|book| book.rules()) {
        Ok(set) => set,
        Err(_) => panic!("the tree's rules are valid"),
    }
}

/// The pattern of each rule at each of its sizes.
pub fn terms() -> Vec<Term> {
    let set = rule_set();
    let mut terms = Vec::new();
    for rule in &set.rules {
        for instance in 0..rule.instances.len() {
            terms.extend(term(&set, rule, instance));
        }
    }
    terms
}

/// One instance's pattern; `None` where it has something that programs don't.
fn term(set: &RuleSet, rule: &Rule, instance: usize) -> Option<Term> {
    let sizes = &rule.instances[instance];
    let mut nodes = Vec::new();
    let mut places: HashMap<usize, usize> = HashMap::new();
    // Operands before users: those of a node stand behind it in the order that `pattern_nodes` gives.
    for id in rule.pattern_nodes().into_iter().rev() {
        let node: &Node = &rule.nodes[id];
        let kind = match &node.kind {
            NodeKind::Op { op, promises, args, .. } => {
                let op = AluOp(set.ops.get(*op).id);
                let args: Option<Vec<usize>> =
                    args.iter().map(|a| places.get(a).copied()).collect();
                TermKind::Op(op, Flags::from_bits_truncate(*promises), args?)
            }
            NodeKind::Var(var) => match rule.vars[*var].kind {
                VarKind::Value => TermKind::Var(*var),
                VarKind::Const => TermKind::Constant(*var),
                VarKind::Bound(_) => return None,
            },
            NodeKind::Literal(literal, base) => {
                TermKind::Literal(literal.encode(*base, sizes[node.class]).ok()?)
            }
            NodeKind::Compute { .. }
            | NodeKind::Outside { .. }
            | NodeKind::Ref(_)
            | NodeKind::Undef => return None,
        };
        let comps = match node.comps {
            Comps::Fixed(n) => n,
            Comps::Generic => 0,
        };
        places.insert(id, nodes.len());
        nodes.push(TermNode {
            kind,
            bits: sizes[node.class],
            comps,
            swizzle: node.swizzle.clone(),
        });
    }
    Some(Term { name: rule.instance_name(instance), nodes })
}
