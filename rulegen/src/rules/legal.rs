//! Whether a target that there is has what a rule makes.
//!
//! A rule makes an operation only where the target has it at that size. The target `generic` has everything, so that it
//! can't tell anything; the other one is SPIR-V, here with every capability. A rule is for other targets if it says so by
//! an option that SPIR-V doesn't set, by a group whose name begins with `lower`, or if what it matches has an operation
//! that SPIR-V lacks already. So are the rules of a dialect, which comes with a target of its own.

use super::check::report;
use super::classes::{SIZES, show_sizes, size_set};
use super::codes;
use super::model::*;
use super::outside::name_of;
use crate::diagnostics::Diagnostic;

/// Target options that SPIR-V sets, as a set.
const SPIRV_OPTIONS: u64 = 0;

/// What a node makes.
enum Made<'a> {
    /// An opcode, and the class of the width by which it is legal or not.
    Op(usize, ClassId),
    /// An intrinsic that the pattern doesn't have, and the class of its result.
    Intrinsic(&'a Outside, ClassId),
}

fn made<'a>(set: &RuleSet, rule: &'a Rule, id: NodeId) -> Option<Made<'a>> {
    let node = &rule.nodes[id];
    let NodeKind::Op { op, args, .. } = &node.kind else {
        return Some(Made::Intrinsic(rule.made_anew(id)?, node.class));
    };
    let open = set.ops.get(*op).inputs.iter().position(|ty| ty.bits == 0);
    Some(Made::Op(*op, rule.nodes[open.map_or(id, |at| args[at])].class))
}

impl Made<'_> {
    fn name(&self, set: &RuleSet) -> String {
        match self {
            Made::Op(op, _) => set.ops.get(*op).name.clone(),
            Made::Intrinsic(what, _) => name_of(set, what),
        }
    }

    fn is_system_value(&self, set: &RuleSet) -> bool {
        match self {
            Made::Intrinsic(Outside::Intrinsic { id, .. }, _) => {
                set.ops.intrinsic(*id).system_value
            }
            _ => false,
        }
    }

    fn bits(&self, instance: &[u8]) -> u8 {
        let (Made::Op(_, class) | Made::Intrinsic(_, class)) = self;
        instance[*class]
    }

    fn in_spirv(&self, set: &RuleSet, bits: u8) -> bool {
        match self {
            Made::Op(op, _) => set.ops.get(*op).spirv & size_set(bits.into()) != 0,
            Made::Intrinsic(Outside::Intrinsic { id, indices }, _) => {
                set.ops.intrinsic(*id).in_spirv(bits, indices, set.ops.indices())
            }
            Made::Intrinsic(..) => true,
        }
    }
}

/// Reports alternatives that no module of SPIR-V lets a rule take: at every size at which one may have what is matched,
/// it lacks an operation of the replacement.
pub(super) fn check(set: &RuleSet, rule: &Rule, diags: &mut Vec<Diagnostic>) {
    let meant = |when: &Cond| super::order::possible(set, when, SPIRV_OPTIONS);
    let lowering = set.groups[rule.group].0.starts_with("lower");
    if set.ops.dialect || lowering || !rule.when.as_ref().is_none_or(meant) {
        return;
    }
    let under = |root: NodeId| -> Vec<(NodeId, Made)> {
        let nodes = rule.reachable(root).into_iter();
        nodes.filter_map(|n| Some((n, made(set, rule, n)?))).collect()
    };
    let matched = under(rule.pattern);
    let occurs = |bits: &&Vec<u8>| matched.iter().all(|(_, m)| m.in_spirv(set, m.bits(bits)));
    let instances: Vec<&Vec<u8>> = rule.instances.iter().filter(occurs).collect();
    for alt in &rule.alts {
        let new = under(alt.term);
        let lacks = |made: &Made, bits: &[u8]| !made.in_spirv(set, made.bits(bits));
        // One that lacks at every size says more than several that do at some.
        let always = new.iter().find(|(_, made)| instances.iter().all(|bits| lacks(made, bits)));
        let lacking = |bits: &&Vec<u8>| always.or_else(|| new.iter().find(|m| lacks(&m.1, bits)));
        let Some(lacking) = instances.iter().map(lacking).collect::<Option<Vec<_>>>() else {
            continue;
        };
        let Some((node, what)) = lacking.first() else { continue };
        let sizes = instances.iter().zip(&lacking).filter(|(_, l)| l.0 == *node);
        let sizes = sizes.fold(0, |s, (bits, _)| s | size_set(what.bits(bits).into()));
        let of_bits = match SIZES.iter().any(|bits| what.in_spirv(set, *bits)) {
            true => format!(" of {} bits", show_sizes(sizes)),
            false => String::new(),
        };
        let name = what.name(set);
        let text = match what.is_system_value(set) {
            true => format!(
                "`{}` makes the system value `{name}`, and none is made for SPIR-V",
                rule.name
            ),
            false => format!("`{}` makes `{name}`{of_bits}, which SPIR-V doesn't have", rule.name),
        };
        let (file, place) = (&set.files[rule.file].0, |n: NodeId| rule.nodes[n].span);
        let mut d = Diagnostic::error(codes::NOWHERE, file, place(*node), text);
        for (n, (other, _)) in lacking.iter().enumerate() {
            if !lacking[..n].iter().any(|l| l.0 == *other) && other != node {
                d = d.label(place(*other), "at other sizes it doesn't have this");
            }
        }
        let clause = format!("allow {} \"which targets have it\"", codes::NOWHERE);
        let help = "if it is meant for other targets, say for which:";
        report(set, rule, super::help::with_clause(d, set, rule, &clause, help), diags);
    }
}
