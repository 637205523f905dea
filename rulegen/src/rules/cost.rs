//! Whether a replacement is worth having: what is built against what was matched.
//!
//! The cost of a term is that of its distinct operations, times their components; constants cost nothing. Lowering is for
//! targets that lack an operation, so rules of groups that begin with `lower` are not looked at.

use super::check::report;
use super::codes;
use super::model::*;
use crate::diagnostics::Diagnostic;

/// Cost and number of the operations under a node.
fn cost(set: &RuleSet, rule: &Rule, root: NodeId) -> (u32, u32) {
    let (mut total, mut count) = (0, 0);
    for node in rule.reachable(root) {
        let comps = match rule.nodes[node].comps {
            Comps::Fixed(n) => n.into(),
            Comps::Generic => 1,
        };
        total += match &rule.nodes[node].kind {
            NodeKind::Op { op, .. } => u32::from(set.ops.get(*op).cost) * comps,
            NodeKind::Outside { what, .. } => outside(set, what),
            _ => continue,
        };
        count += 1;
    }
    (total, count)
}

/// Cost of what isn't arithmetic, by instruction.
fn outside(set: &RuleSet, what: &Outside) -> u32 {
    match what {
        Outside::Intrinsic { id, .. } if set.ops.intrinsic(*id).convergent => 4,
        Outside::Intrinsic { .. } => 1,
        Outside::Tex { .. } => 4,
        Outside::Phi => 0,
    }
}

/// Reports alternatives that cost more than the pattern, or as much with more operations. One that costs the same is a
/// matter of form, of which the order knows which way it goes.
pub(super) fn check(set: &RuleSet, rule: &Rule, diags: &mut Vec<Diagnostic>) {
    if set.groups[rule.group].0.starts_with("lower") {
        return;
    }
    let before = cost(set, rule, rule.pattern);
    for alt in &rule.alts {
        let after = cost(set, rule, alt.term);
        if after > before {
            let text = format!(
                "the replacement of `{}` costs {} and its pattern {}",
                rule.name, after.0, before.0
            );
            let d = Diagnostic::error(
                codes::DEARER,
                &set.files[rule.file].0,
                rule.nodes[alt.term].span,
                text,
            );
            let d = d.label(rule.nodes[rule.pattern].span, "this is cheaper");
            let clause = format!("allow {} \"what it is good for\"", codes::DEARER);
            let help = "if it is good for something, say for what:";
            report(set, rule, super::help::with_clause(d, set, rule, &clause, help), diags);
        }
    }
}
