//! What a refuted rule lacks: a float environment, licences, or a fact, found by trying.

use crate::{Kind, Options, check_instance, claims};
use deburr_algebraic::interp::term::Claim;
use deburr_ir_core::{Denorm, Rounding};
use deburr_rulegen::expr::{Base, ExprKind};
use deburr_rulegen::rules::model::{
    EnvClause, FactUse, Node, NodeKind, Rule, RuleSet, VarKind, flags,
};

/// Licences in the order in which they are tried: those that keep results the same bit by bit first.
const LICENCES: [u16; 5] =
    [flags::NSZ, flags::ARCP, flags::CONTRACT, flags::REASSOC, flags::TRANSFORM];

/// How well a changed rule holds.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum Holds {
    No,
    WithinABound,
    Exactly,
}

/// A clause with which nothing is found against a refuted rule, as it is written: `with nsz`,
/// `where env(denorm = keep | any)`, `where nonneg(a)`. `None` if it is none of those that are tried: fewer environments,
/// one licence, two licences, and a fact on one variable.
pub fn remedy(set: &RuleSet, rule: &Rule, options: &Options) -> Option<String> {
    let full = Options { plain: false, ..options.clone() };
    let quick = Options { points: full.points.min(400), exhaustive_bits: 8, ..full.clone() };
    let tried = Trial { set, quick, full };
    if rule.waive.is_some() {
        return None;
    }
    let float = rule
        .pattern_nodes()
        .iter()
        .any(|n| matches!(&rule.nodes[*n].kind, NodeKind::Op { op, .. } if set.ops.get(*op).float));
    let mut bounded = None;
    if float {
        for list in tuples() {
            let mut more = rule.clone();
            more.licences |= list.iter().fold(0, |all, l| all | l);
            if !list.is_empty()
                && more.licences.count_ones() != rule.licences.count_ones() + list.len() as u32
            {
                continue;
            }
            let Some((env, holds)) = tried.environments(&more) else { continue };
            let text = written(&env.map_or(String::new(), |e| env_text(rule, e)), &list);
            if text.is_empty() {
                continue;
            }
            match holds {
                Holds::Exactly => return Some(text),
                _ => bounded = bounded.or(Some(text)),
            }
        }
    }
    bounded.or_else(|| tried.fact(rule))
}

/// No licence, each one, and each two.
fn tuples() -> Vec<Vec<u16>> {
    let mut out = vec![Vec::new()];
    out.extend(LICENCES.iter().map(|l| vec![*l]));
    for (i, first) in LICENCES.iter().enumerate() {
        out.extend(LICENCES[i + 1..].iter().map(|second| vec![*first, *second]));
    }
    out
}

fn written(env: &str, licences: &[u16]) -> String {
    let name = |l: &u16| flags::NAMES[l.trailing_zeros() as usize];
    let names: Vec<&str> = licences.iter().map(name).collect();
    let with = match names.as_slice() {
        [] => String::new(),
        names => format!("with {}", names.join(", ")),
    };
    let parts = [env, &with];
    parts.into_iter().filter(|p| !p.is_empty()).collect::<Vec<_>>().join(" ")
}

struct Trial<'a> {
    set: &'a RuleSet,
    quick: Options,
    full: Options,
}

impl Trial<'_> {
    /// The environments in which the rule holds, if they are a clause; none to be written if it holds in all it claims.
    fn environments(&self, rule: &Rule) -> Option<(Option<EnvClause>, Holds)> {
        let all = claims(self.set, rule);
        let good: Vec<Claim> = all
            .iter()
            .copied()
            .filter(|c| self.holds(rule, &[*c], &self.quick) > Holds::No)
            .collect();
        let mut env = EnvClause { denorm: 0, rounding: 0 };
        for claim in &good {
            env.denorm |= 1 << place(claim).0;
            env.rounding |= 1 << place(claim).1;
        }
        let product = env.denorm.count_ones() * env.rounding.count_ones();
        if good.is_empty() || product != good.len() as u32 {
            return None;
        }
        match self.holds(rule, &good, &self.full) {
            Holds::No => None,
            holds => Some(((good.len() != all.len()).then_some(env), holds)),
        }
    }

    fn holds(&self, rule: &Rule, claims: &[Claim], options: &Options) -> Holds {
        let mut out = Holds::Exactly;
        for instance in 0..rule.instances.len() {
            for claim in claims {
                match check_instance(self.set, rule, instance, *claim, options).kind {
                    Kind::Proved | Kind::Tested | Kind::Waived => {}
                    Kind::Bounded => out = Holds::WithinABound,
                    Kind::Refuted | Kind::Missing => return Holds::No,
                }
            }
        }
        out
    }

    /// A fact on one variable.
    fn fact(&self, rule: &Rule) -> Option<String> {
        let all = claims(self.set, rule);
        for (index, fact) in self.set.facts.iter().enumerate() {
            if fact.function || fact.params.len() != 1 {
                continue;
            }
            let mut wants = None;
            fact.body.walk(&mut |e| {
                if let ExprKind::Var { .. } = &e.kind {
                    wants = wants.or(Some(e.ty.base));
                }
            });
            for (v, var) in rule.vars.iter().enumerate() {
                let fits = wants.is_some_and(|base| is_float(base) == is_float(var.base))
                    && var.base != Base::Bool
                    && match var.kind {
                        VarKind::Const => true,
                        VarKind::Value => fact.on_values,
                        VarKind::Bound(_) => false,
                    };
                if !fits {
                    continue;
                }
                let mut more = rule.clone();
                more.nodes.push(Node {
                    kind: NodeKind::Var(v),
                    swizzle: None,
                    class: var.class,
                    comps: var.comps,
                    span: var.span,
                });
                let args = vec![more.nodes.len() - 1];
                more.facts.push(FactUse { fact: index, args, bits: var.class, span: var.span });
                let quick = self.holds(&more, &all, &self.quick);
                if quick > Holds::No && self.holds(&more, &all, &self.full) > Holds::No {
                    return Some(format!("where {}({})", fact.name, var.name));
                }
            }
        }
        None
    }
}

fn is_float(base: Base) -> bool {
    base == Base::Float
}

/// The bits of an environment in the sets of a clause.
fn place(claim: &Claim) -> (u32, u32) {
    let denorm = match claim.denorm {
        Denorm::Keep => 0,
        Denorm::Flush => 1,
        Denorm::Any => 2,
    };
    let rounding = match claim.rounding {
        Rounding::Rte => 0,
        Rounding::Rtz => 1,
        Rounding::Any => 2,
    };
    (denorm, rounding)
}

/// A clause for fewer environments than a rule claims.
fn env_text(rule: &Rule, env: EnvClause) -> String {
    let list = |set: u8, names: [&str; 3]| {
        let named = names.iter().enumerate().filter(|(i, _)| set >> i & 1 != 0);
        named.map(|(_, n)| *n).collect::<Vec<_>>().join(" | ")
    };
    let mut parts = Vec::new();
    if env.denorm != rule.env.denorm {
        parts.push(format!("denorm = {}", list(env.denorm, ["keep", "flush", "any"])));
    }
    if env.rounding != rule.env.rounding {
        parts.push(format!("rounding = {}", list(env.rounding, ["rte", "rtz", "any"])));
    }
    format!("where env({})", parts.join(", "))
}
