//! Intrinsics, texture operations and phis in arms.

use super::super::model::*;
use super::super::outside::{TEX_OPS, TEX_SRCS};
use super::matcher::Emitter;
use std::collections::HashMap;

/// The constant of an intrinsic, or its id where it is a dialect's.
pub(super) fn intrinsic(set: &RuleSet, id: usize) -> String {
    let sig = set.ops.intrinsic(id);
    match sig.id < 0x4000 {
        true => format!("Intrinsic::{}", sig.name.to_uppercase()),
        false => format!("Intrinsic({:#x})", sig.id),
    }
}

/// A const index by its id, under its name.
fn index(set: &RuleSet, at: usize) -> String {
    format!("Index({at} /* {} */)", set.ops.indices()[at].name)
}

/// Const indices and their values.
fn given(set: &RuleSet, indices: &[(usize, u32)]) -> String {
    let pair = |(at, value): &(usize, u32)| format!("({}, {value})", index(set, *at));
    format!("&[{}]", indices.iter().map(pair).collect::<Vec<_>>().join(", "))
}

/// The constant of a texture operation.
pub(super) fn tex(op: usize) -> String {
    format!("TexOp::{}", camel(TEX_OPS[op].0))
}

/// `TxfMs` of `txf_ms`.
fn camel(name: &str) -> String {
    let part = |part: &str| part[..1].to_uppercase() + &part[1..];
    name.split('_').map(part).collect()
}

/// A root that isn't an ALU operation, as the driver finds its matcher.
pub(super) fn root(set: &RuleSet, what: &Outside) -> String {
    match what {
        Outside::Intrinsic { id, .. } => format!("Root::Intrinsic({})", intrinsic(set, *id)),
        Outside::Tex { op, .. } => format!("Root::Tex({})", tex(*op)),
        Outside::Phi => "Root::Phi".to_string(),
    }
}

impl Emitter<'_> {
    /// Tests of the instruction itself.
    pub(super) fn outside(&mut self, node: NodeId, what: &Outside) {
        if let (true, Comps::Fixed(count)) =
            (node == self.rule.pattern, self.rule.nodes[node].comps)
        {
            self.test(format!("comps == {count}"));
        }
        match what {
            Outside::Intrinsic { indices, .. } => {
                for (at, value) in indices {
                    self.test(format!("cx.index(n{node}, {}) == {value}", index(self.set, *at)));
                }
            }
            Outside::Tex { srcs, attrs, .. } => {
                self.test(format!("cx.sources(n{node}) == {}", srcs.len()));
                for (attr, value) in attrs {
                    self.test(match attr {
                        0..3 => {
                            let name = ["is_array", "is_shadow", "is_sparse"][*attr];
                            format!(
                                "cx.tex_info(n{node}).is_some_and(|t| t.{name} == {})",
                                *value != 0
                            )
                        }
                        _ => {
                            format!("cx.tex_info(n{node}).is_some_and(|t| t.component == {value})")
                        }
                    });
                }
            }
            Outside::Phi => self.test(format!("cx.sources(n{node}) == 2")),
        }
    }

    /// Matches the operands.
    pub(super) fn outside_operands(&mut self, node: NodeId, what: &Outside, args: &[NodeId]) {
        let (rule, loose) = (self.rule, args.iter().all(|a| self.is_loose(*a)));
        let phi = *what == Outside::Phi;
        if phi && !loose {
            self.open(format!("for o{node} in 0..2 {{"));
            self.loops += 1;
        }
        for (i, arg) in args.iter().enumerate() {
            let comps = self.comps(rule.nodes[*arg].comps);
            match what {
                Outside::Phi => {
                    let slot = match (loose, i) {
                        (true, _) => i.to_string(),
                        (false, 0) => format!("o{node}"),
                        (false, _) => format!("1 - o{node}"),
                    };
                    self.line(format!("let v{arg} = cx.under(v{node}, {slot});"));
                }
                Outside::Intrinsic { .. } => {
                    self.line(format!("let v{arg} = cx.arg(n{node}, {i});"));
                    self.test(format!("cx.is_whole(v{arg}, {comps})"));
                }
                Outside::Tex { srcs, .. } => {
                    let kind = format!("TexSrc::{}", camel(TEX_SRCS[srcs[i]]));
                    let fail = self.fail();
                    self.line(format!(
                        "let Some(v{arg}) = cx.tex_source(n{node}, {kind}) else {{ {fail} }};"
                    ));
                    self.test(format!("cx.is_whole(v{arg}, {comps})"));
                }
            }
        }
        for arg in args {
            self.cheap(*arg);
        }
        for arg in args {
            self.instruction(*arg);
        }
        for arg in args {
            self.operands(*arg);
        }
    }

    /// What is known on one edge only must be known at the phi too, if anything else speaks of it.
    pub(super) fn phis(&mut self) {
        for (var, phi) in self.rule.needed_at_phis() {
            let value = self.bound.get(&var).cloned().unwrap_or_default();
            self.test(format!("cx.reaches({value}, n{phi})"));
        }
        // What a new phi takes over its edges it takes as it is.
        let phis = self.rule.alts.iter().flat_map(|alt| self.rule.made_phis(alt.term));
        for phi in phis.collect::<Vec<_>>() {
            for source in self.rule.made_of(phi).into_iter().flatten() {
                self.test(format!("cx.is_whole(v{source}, comps)"));
            }
        }
    }

    /// The test that the target has what a replacement makes, if that isn't arithmetic and the pattern doesn't have it.
    pub(super) fn outside_legality(&self, node: NodeId) -> Option<String> {
        let Outside::Intrinsic { id, indices } = self.rule.made_anew(node)? else { return None };
        let (bits, given) = (self.bits(self.rule.nodes[node].class), given(self.set, indices));
        Some(format!("cx.legal_intrinsic({}, {bits}, {given})", intrinsic(self.set, *id)))
    }

    /// The text that builds what isn't arithmetic.
    pub(super) fn outside_built(
        &self,
        id: NodeId,
        what: &Outside,
        node: &Node,
        args: &[NodeId],
        done: &HashMap<NodeId, String>,
    ) -> String {
        let (id, indices) = match what {
            Outside::Intrinsic { id, indices } => (id, indices),
            Outside::Tex { op, srcs, .. } => {
                let source = |(kind, arg): (&usize, &NodeId)| {
                    let comps = self.comps(self.rule.nodes[*arg].comps);
                    format!("(TexSrc::{}, {}, {comps})", camel(TEX_SRCS[*kind]), done[arg])
                };
                let srcs: Vec<String> = srcs.iter().zip(args).map(source).collect();
                return format!("cx.build_tex(n0, {}, &[{}])", tex(*op), srcs.join(", "));
            }
            Outside::Phi => {
                let Some([a, b]) = self.rule.made_of(id) else { return String::new() };
                let root = self.rule.nodes[self.rule.pattern].operands();
                // In the order in which the root's operands were taken.
                let first = match root.iter().all(|arg| self.is_loose(*arg)) {
                    true => "0".to_string(),
                    false => format!("o{}", self.rule.pattern),
                };
                return format!("cx.build_phi(n0, {first}, v{a}, v{b})");
            }
        };
        let sig = self.set.ops.intrinsic(*id);
        let count = match (sig.dest, node.comps) {
            (Some(n), _) if n > 0 => n.to_string(),
            (_, comps) => self.comps(comps),
        };
        let whole =
            |arg: &NodeId| format!("({}, {})", done[arg], self.comps(self.rule.nodes[*arg].comps));
        let operands: Vec<String> = args.iter().map(whole).collect();
        format!(
            "cx.build_intrinsic({}, {}, {count}, &[{}], {})",
            intrinsic(self.set, *id),
            self.bits(node.class),
            operands.join(", "),
            given(self.set, indices)
        )
    }
}
