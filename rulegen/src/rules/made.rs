//! What replacements make of texture operations and phis: each only in the place of one.
//!
//! A texture operation has more to it than its operands (dimensions, kind of result, access), which it takes from the one
//! that it stands for. A phi is in a block of its own and takes each operand over an edge: in the place of another phi the
//! block and the edges are known, and so is what is defined on them.

use super::codes;
use super::model::*;
use super::outside::{TEX_OPS, TEX_SRCS, name_of_tex};
use super::resolve::Resolver;
use crate::diagnostics::{Code, Diagnostic, Span};

/// Texture operations that sample, with the sources by which they say where between the levels.
const SAMPLING: [(&str, &[&str]); 4] =
    [("tex", &[]), ("txb", &["bias"]), ("txl", &["lod"]), ("txd", &["ddx", "ddy"])];

/// The sources by which operations that sample differ; `None` for others.
fn levels(op: usize) -> Option<&'static [&'static str]> {
    SAMPLING.iter().find(|s| s.0 == TEX_OPS[op].0).map(|s| s.1)
}

impl Resolver<'_> {
    /// Refuses texture operations and phis of replacements that don't stand where one was.
    pub(super) fn check_made(&mut self, pattern: NodeId, alts: &[Alt]) {
        for alt in alts {
            let mut stack = vec![alt.term];
            // A replacement is a graph: each node is looked at once.
            let mut seen = vec![false; self.nodes.len()];
            while let Some(id) = stack.pop() {
                if std::mem::replace(&mut seen[id], true) {
                    continue;
                }
                stack.extend(self.nodes[id].kind.operands());
                let NodeKind::Outside { what, args, .. } = self.nodes[id].kind.clone() else {
                    continue;
                };
                match what {
                    Outside::Intrinsic { .. } => {}
                    Outside::Tex { op, srcs, .. } => {
                        self.made_tex(pattern, id, id == alt.term, op, &srcs);
                    }
                    Outside::Phi => self.made_phi(pattern, id, &args),
                }
            }
        }
    }

    fn misplaced_made(&mut self, code: Code, at: NodeId, text: String, root: NodeId) {
        let span = self.nodes[at].span;
        let d = Diagnostic::error(code, self.file, span, text);
        self.report(d.label(self.nodes[root].span, "what is matched"));
    }

    fn made_tex(&mut self, pattern: NodeId, id: NodeId, is_whole: bool, op: usize, srcs: &[usize]) {
        let name = name_of_tex(op);
        let root = match &self.nodes[pattern].kind {
            NodeKind::Outside { what: Outside::Tex { op, .. }, .. } if is_whole => Some(*op),
            _ => None,
        };
        let alike = root.is_some_and(|r| r == op || levels(r).is_some() && levels(op).is_some());
        if !alike {
            let text = format!("`{name}` can only be made in the place of its like");
            return self.misplaced_made(codes::MADE, id, text, pattern);
        }
        let Some(own) = levels(op) else { return };
        let all = || SAMPLING.iter().flat_map(|s| s.1).copied();
        let has = |kind: &str| srcs.iter().any(|s| TEX_SRCS[*s] == kind);
        let missing = own.iter().find(|kind| !has(kind)).map(|kind| (kind.to_string(), "needs"));
        let extra = all().find(|kind| has(kind) && !own.contains(kind));
        let wrong = missing.or(extra.map(|kind| (kind.to_string(), "doesn't take")));
        if let Some((kind, how)) = wrong {
            let text = format!("`{name}` {how} a source `{kind}`");
            self.error(codes::MADE, self.nodes[id].span, text);
        }
    }

    fn made_phi(&mut self, pattern: NodeId, id: NodeId, args: &[NodeId]) {
        let NodeKind::Outside { what: Outside::Phi, args: edges, .. } =
            self.nodes[pattern].kind.clone()
        else {
            let text = "a phi can only be made in the place of one: nothing else has its edges";
            return self.misplaced_made(codes::MADE, id, text.into(), pattern);
        };
        for (arg, edge) in args.iter().zip(edges) {
            let known = |n: NodeId| (&self.nodes[n].kind, self.nodes[n].swizzle.is_some());
            let span: Span = self.nodes[*arg].span;
            let var = match (&self.nodes[*arg].kind, &self.nodes[*arg].swizzle) {
                (NodeKind::Var(var), None) => *var,
                _ => {
                    let text = "over an edge comes a value that was matched, as it is";
                    self.misplaced_made(codes::MADE, *arg, text.into(), edge);
                    continue;
                }
            };
            let kind = self.vars[var].kind;
            if seen_on_edge(edge, var, kind, &known).is_none() {
                let text =
                    format!("`{}` isn't matched over this edge", self.vars[var].name.clone());
                let d = Diagnostic::error(codes::MADE, self.file, span, text);
                self.report(d.label(self.nodes[edge].span, "what comes over it"));
            }
        }
    }
}

/// The node under an operand of a phi at which a variable is matched, other phis left out; `known` gives a node's kind and
/// whether it is swizzled.
fn seen_on_edge<'n>(
    edge: NodeId,
    var: VarId,
    kind: VarKind,
    known: &impl Fn(NodeId) -> (&'n NodeKind, bool),
) -> Option<NodeId> {
    let mut stack = vec![edge];
    while let Some(id) = stack.pop() {
        let (node, swizzled) = known(id);
        let is_it = match (node, kind) {
            (NodeKind::Var(v), _) => *v == var && !swizzled,
            (_, VarKind::Bound(at)) => at == id,
            _ => false,
        };
        if is_it {
            return Some(id);
        }
        if !matches!(node, NodeKind::Outside { what: Outside::Phi, .. }) {
            stack.extend(node.operands().iter().rev());
        }
    }
    None
}

impl Rule {
    /// The nodes of the pattern whose values the operands of a phi in a replacement are.
    pub fn made_of(&self, phi: NodeId) -> Option<[NodeId; 2]> {
        let phi_args = |id: NodeId| match &self.nodes[id].kind {
            NodeKind::Outside { what: Outside::Phi, args, .. } => Some([args[0], args[1]]),
            _ => None,
        };
        let (made, edges) = (phi_args(phi)?, phi_args(self.pattern)?);
        let known = |n: NodeId| (&self.nodes[n].kind, self.nodes[n].swizzle.is_some());
        let source = |i: usize| {
            let NodeKind::Var(var) = self.nodes[made[i]].kind else { return None };
            seen_on_edge(edges[i], var, self.vars[var].kind, &known)
        };
        Some([source(0)?, source(1)?])
    }

    /// The nodes under a replacement that are values where the root is: what a new phi takes over its edges is left out.
    pub fn built_here(&self, term: NodeId) -> Vec<NodeId> {
        let is_phi = |kind: &NodeKind| matches!(kind, NodeKind::Outside { what: Outside::Phi, .. });
        self.reachable_through(term, |kind| !is_phi(kind))
    }

    /// The phis that a replacement makes.
    pub fn made_phis(&self, term: NodeId) -> Vec<NodeId> {
        let is_phi = |id: &NodeId| {
            matches!(self.nodes[*id].kind, NodeKind::Outside { what: Outside::Phi, .. })
        };
        self.built_here(term).into_iter().filter(is_phi).collect()
    }
}
