//! What rules match outside of arithmetic: intrinsics, texture operations and phis.
//!
//! Their operands are whole values: one of which nothing says how many components it has has as many as the root.

use super::ast::{self, Attr, Term};
use super::classes::ALL_SIZES;
use super::codes;
use super::model::*;
use super::ops::IntrinsicSig;
use super::resolve::{Resolver, Slot};
use crate::diagnostics::{Diagnostic, Span};
use crate::expr::Base;
use crate::tables::intrinsic::IndexKind;

/// Texture operations, in the IR's order, and whether they depend on the neighbours in the quad.
pub const TEX_OPS: [(&str, bool); 11] = [
    ("tex", true),
    ("txb", true),
    ("txl", false),
    ("txd", false),
    ("txf", false),
    ("txf_ms", false),
    ("txs", false),
    ("lod", true),
    ("tg4", false),
    ("query_levels", false),
    ("texture_samples", false),
];

/// Kinds of sources of texture operations, in the IR's order.
pub const TEX_SRCS: [&str; 15] = [
    "texture_deref",
    "sampler_deref",
    "coord",
    "projector",
    "comparator",
    "offset",
    "bias",
    "lod",
    "min_lod",
    "ms_index",
    "ddx",
    "ddy",
    "texture_offset",
    "sampler_offset",
    "offsets",
];

/// Those that may have several components.
const VECTORS: [&str; 4] = ["coord", "offset", "ddx", "ddy"];

/// Attributes of texture operations that a pattern may ask for; all but the last are truth values.
pub const TEX_ATTRS: [&str; 4] = ["array", "shadow", "sparse", "component"];

impl Resolver<'_> {
    /// `@intrinsic(src, …; index = …)`
    pub(super) fn intrinsic(
        &mut self,
        term: &Term,
        name: &ast::Name,
        args: &[Term],
        attrs: &[Attr],
        swizzle: Option<Vec<u8>>,
        slot: Slot,
    ) -> Option<NodeId> {
        let lib = self.lib;
        let found = lib.ops.intrinsics().iter().position(|i| i.name == name.text);
        let Some(id) = found else {
            let text = format!("there is no intrinsic `{}`", name.text);
            let d = Diagnostic::error(codes::UNKNOWN_OP, self.file, name.span, text);
            let known = lib.ops.intrinsics().iter().map(|i| i.name.as_str());
            self.report(d.suggest(&name.text, known));
            return None;
        };
        let sig = lib.ops.intrinsic(id);
        let Some(dest) = sig.dest else {
            let text = format!("`@{}` gives no value", name.text);
            self.error(codes::EFFECT, name.span, text);
            return None;
        };
        if !self.in_pattern && !sig.free && !sig.convergent {
            let text = format!("`@{}` can't be made anywhere and any number of times", name.text);
            self.error(codes::EFFECT, name.span, text);
            return None;
        }
        if sig.srcs.len() != args.len() {
            let want = sig.srcs.len();
            let s = if want == 1 { "" } else { "s" };
            let text = format!("`@{}` takes {want} operand{s}, not {}", name.text, args.len());
            self.error(codes::ARITY, term.span, text);
            return None;
        }
        let indices = self.indices(sig, attrs)?;
        let count = match (dest, &swizzle) {
            (0, None) => slot.comps,
            _ => self.classes.comp(None, name.span),
        };
        let seen = match (&swizzle, dest) {
            (Some(s), _) => self.classes.comp(Some(s.len() as u8), term.span),
            (None, n) if n > 0 => self.classes.comp(Some(n as u8), name.span),
            (None, _) => slot.comps,
        };
        let class = self.classes.size(sig.sizes, name.span);
        self.same_size(class, slot.class, term.span);
        self.same_comps(seen, slot.comps, term.span);
        let own = Slot { class, comps: seen, ..slot };
        let srcs = sig.srcs.iter().enumerate().map(|(i, comps)| {
            let bits = sig.src_bits.get(i).copied().unwrap_or(0);
            (*comps, bits, sig.bits_from == Some(i as u8))
        });
        let srcs: Vec<(i8, u8, bool)> = srcs.collect();
        let what = Outside::Intrinsic { id, indices };
        let node = self.outside_node(what.clone(), swizzle, own, term.span);
        let mut operands = Vec::new();
        for (arg, (comps, bits, sized)) in args.iter().zip(srcs) {
            let class = match bits {
                0 if sized => class,
                0 => self.classes.size(ALL_SIZES, arg.span),
                n => self.fixed_class(n, name.span),
            };
            let comps = match comps {
                0 => count,
                n if n > 0 => self.classes.comp(Some(n as u8), name.span),
                _ => self.classes.comp(None, arg.span),
            };
            let slot = Slot { class, comps, base: Base::Uint, untyped: true, unsized_: true };
            operands.push(self.term(arg, slot));
        }
        self.fill(node, what, operands, term, own)
    }

    /// The values of const indices.
    fn indices(&mut self, sig: &IntrinsicSig, attrs: &[Attr]) -> Option<Vec<(usize, u32)>> {
        let lib = self.lib;
        let mut out: Vec<(usize, u32)> = Vec::new();
        for attr in attrs {
            let known = || sig.indices.iter().map(|i| lib.ops.indices()[*i].name.as_str());
            let found = sig.indices.iter().find(|i| lib.ops.indices()[**i].name == attr.key.text);
            let Some(index) = found.copied() else {
                let text = format!("`@{}` has no index `{}`", sig.name, attr.key.text);
                let d = Diagnostic::error(codes::INDEX, self.file, attr.key.span, text);
                self.report(d.suggest(&attr.key.text, known()));
                return None;
            };
            if out.iter().any(|o| o.0 == index) {
                let text = format!("`{}` is given twice", attr.key.text);
                self.error(codes::INDEX, attr.key.span, text);
                return None;
            }
            let def = &lib.ops.indices()[index];
            let literal = attr.literal.as_ref().map(|l| l.kind);
            let word = &attr.value.text;
            use ast::LiteralKind::{Bool, Hex, Int};
            let value = match (&def.kind, literal) {
                (IndexKind::U32 | IndexKind::Flags(_), Some(Int(v) | Hex(v))) => {
                    u32::try_from(v).ok()
                }
                (IndexKind::I32, Some(Int(v) | Hex(v))) => i32::try_from(v).ok().map(|v| v as u32),
                (IndexKind::Bool, Some(Bool(b))) => Some(b.into()),
                (IndexKind::Enum(list), None) => {
                    list.iter().position(|n| n == word).map(|n| n as u32)
                }
                (IndexKind::Flags(list), None) => {
                    list.iter().position(|n| n == word).map(|n| 1 << n)
                }
                (IndexKind::Op, None) => lib.ops.find(word).map(|op| u32::from(lib.ops.get(op).id)),
                _ => None,
            };
            let Some(value) = value else {
                let want = match &def.kind {
                    IndexKind::U32 => "a number below 2^32".to_string(),
                    IndexKind::I32 => "a number of 32 bits".to_string(),
                    IndexKind::Bool => "`true` or `false`".to_string(),
                    IndexKind::Op => "the name of an op".to_string(),
                    IndexKind::Enum(list) | IndexKind::Flags(list) => {
                        format!("one of {}", list.join(", "))
                    }
                };
                let text = format!("`{}` is no value of `{}`", word, attr.key.text);
                let d = Diagnostic::error(codes::INDEX, self.file, attr.value.span, text);
                self.report(d.help(format!("it is {want}")));
                return None;
            };
            out.push((index, value));
        }
        Some(out)
    }

    /// `tex.OP(kind: src, …; attr = …)`
    pub(super) fn tex(
        &mut self,
        term: &Term,
        name: &ast::Name,
        srcs: &[(ast::Name, Term)],
        attrs: &[Attr],
        swizzle: Option<Vec<u8>>,
        slot: Slot,
    ) -> Option<NodeId> {
        let Some(op) = TEX_OPS.iter().position(|o| o.0 == name.text) else {
            let text = format!("there is no texture operation `{}`", name.text);
            let d = Diagnostic::error(codes::UNKNOWN_OP, self.file, name.span, text);
            self.report(d.suggest(&name.text, TEX_OPS.iter().map(|o| o.0)));
            return None;
        };
        if let (Some(attr), false) = (attrs.first(), self.in_pattern) {
            let text =
                "a texture operation that is made has the attributes of the one that was matched";
            let d = Diagnostic::error(codes::INDEX, self.file, attr.key.span, text);
            self.report(d.help("leave them out"));
            return None;
        }
        let mut kinds: Vec<usize> = Vec::new();
        for (kind, _) in srcs {
            let Some(at) = TEX_SRCS.iter().position(|s| *s == kind.text) else {
                let text = format!("texture operations have no source `{}`", kind.text);
                let d = Diagnostic::error(codes::INDEX, self.file, kind.span, text);
                self.report(d.suggest(&kind.text, TEX_SRCS));
                return None;
            };
            if kinds.contains(&at) {
                self.error(codes::INDEX, kind.span, format!("`{}` is given twice", kind.text));
                return None;
            }
            kinds.push(at);
        }
        let mut wanted: Vec<(usize, u32)> = Vec::new();
        for attr in attrs {
            let Some(at) = TEX_ATTRS.iter().position(|a| *a == attr.key.text) else {
                let text = format!("texture operations have no attribute `{}`", attr.key.text);
                let d = Diagnostic::error(codes::INDEX, self.file, attr.key.span, text);
                self.report(d.suggest(&attr.key.text, TEX_ATTRS));
                return None;
            };
            if wanted.iter().any(|w| w.0 == at) {
                self.error(
                    codes::INDEX,
                    attr.key.span,
                    format!("`{}` is given twice", attr.key.text),
                );
                return None;
            }
            use ast::LiteralKind::{Bool, Int};
            let value = match attr.literal.as_ref().map(|l| l.kind) {
                Some(Bool(b)) if at < 3 => u32::from(b),
                Some(Int(n @ 0..=3)) if at == 3 => n as u32,
                _ => {
                    let text = format!("`{}` is no value of `{}`", attr.value.text, attr.key.text);
                    let d = Diagnostic::error(codes::INDEX, self.file, attr.value.span, text);
                    let want = if at < 3 { "`true` or `false`" } else { "a number from 0 to 3" };
                    self.report(d.help(format!("it is {want}")));
                    return None;
                }
            };
            wanted.push((at, value));
        }
        let seen = match &swizzle {
            Some(s) => self.classes.comp(Some(s.len() as u8), term.span),
            None => slot.comps,
        };
        self.same_comps(seen, slot.comps, term.span);
        let own = Slot { comps: seen, ..slot };
        let what = Outside::Tex { op, srcs: kinds, attrs: wanted };
        let node = self.outside_node(what.clone(), swizzle, own, term.span);
        let mut operands = Vec::new();
        for (kind, arg) in srcs {
            let mut slot = self.open_slot(arg.span);
            if !VECTORS.contains(&kind.text.as_str()) {
                slot.comps = self.classes.comp(Some(1), kind.span);
            }
            operands.push(self.term(arg, slot));
        }
        self.fill(node, what, operands, term, own)
    }

    /// `phi(a, b)`
    pub(super) fn phi(&mut self, term: &Term, args: &[Term], slot: Slot) -> Option<NodeId> {
        if args.len() != 2 {
            let text = format!("`phi` takes 2 operands, not {}", args.len());
            self.error(codes::ARITY, term.span, text);
            return None;
        }
        let node = self.outside_node(Outside::Phi, None, slot, term.span);
        let operand = Slot { base: Base::Uint, untyped: true, unsized_: true, ..slot };
        let operands = args.iter().map(|arg| self.term(arg, operand)).collect();
        self.fill(node, Outside::Phi, operands, term, slot)
    }

    /// A node whose operands come later: parents stand before them.
    fn outside_node(
        &mut self,
        what: Outside,
        swizzle: Option<Vec<u8>>,
        slot: Slot,
        span: Span,
    ) -> NodeId {
        let kind = NodeKind::Outside { what, args: Vec::new(), bind: None };
        self.push(kind, swizzle, slot, span)
    }

    fn fill(
        &mut self,
        node: NodeId,
        what: Outside,
        operands: Vec<Option<NodeId>>,
        term: &Term,
        slot: Slot,
    ) -> Option<NodeId> {
        let args = operands.into_iter().collect::<Option<Vec<_>>>()?;
        let bind = match &term.bind {
            Some(name) if self.in_pattern => {
                Some(self.bind(name, VarKind::Bound(node), slot.base, slot, false, 0)?)
            }
            _ => None,
        };
        self.nodes[node].kind = NodeKind::Outside { what, args, bind };
        Some(node)
    }

    /// What is matched as root goes away; what examples say of a rule is about arithmetic.
    pub(super) fn check_outside(&mut self, ast: &ast::Rule, pattern: NodeId) {
        if let NodeKind::Outside { what: Outside::Intrinsic { id, .. }, .. } =
            &self.nodes[pattern].kind
            && !self.lib.ops.intrinsic(*id).eliminate
        {
            let name = self.lib.ops.intrinsic(*id).name.clone();
            let text = format!("`@{name}` does more than give a value: it can't be replaced");
            self.error(codes::EFFECT, self.nodes[pattern].span, text);
        }
        let outside = self.nodes.iter().find(|n| matches!(n.kind, NodeKind::Outside { .. }));
        let test = ast.clauses.iter().find(|c| matches!(c.0, ast::Clause::Test(..)));
        if let (Some(node), Some((_, span))) = (outside, test) {
            let d = Diagnostic::error(codes::TEST, self.file, *span, "a test can't run this rule");
            self.report(d.label(node.span, "nothing says what this gives"));
        }
    }
}

/// As it is written, for messages.
pub fn name_of(set: &RuleSet, what: &Outside) -> String {
    match what {
        Outside::Intrinsic { id, .. } => format!("@{}", set.ops.intrinsic(*id).name),
        Outside::Tex { op, .. } => name_of_tex(*op),
        Outside::Phi => "phi".to_string(),
    }
}

/// A texture operation as it is written.
pub(super) fn name_of_tex(op: usize) -> String {
    format!("tex.{}", TEX_OPS[op].0)
}

impl Outside {
    /// Its const indices or attributes, one after the other: what is said of each, and what it is by itself.
    pub(super) fn details(&self, set: &RuleSet) -> Vec<(Option<u32>, u32)> {
        let given = |list: &[(usize, u32)], at: usize| {
            list.iter().find(|(index, _)| *index == at).map(|(_, value)| *value)
        };
        match self {
            Outside::Intrinsic { id, indices } => {
                let all = set.ops.intrinsic(*id).indices.iter();
                all.map(|at| (given(indices, *at), set.ops.indices()[*at].default)).collect()
            }
            Outside::Tex { attrs, .. } => {
                (0..TEX_ATTRS.len()).map(|at| (given(attrs, at), 0)).collect()
            }
            Outside::Phi => Vec::new(),
        }
    }
}

/// The ways in which the operands of one lie over those of another that it matches.
pub(super) fn ways(
    (p, s): (&Outside, &[NodeId]),
    (q, t): (&Outside, &[NodeId]),
) -> Vec<Vec<(NodeId, NodeId)>> {
    let straight = || s.iter().copied().zip(t.iter().copied()).collect();
    match (p, q) {
        (Outside::Phi, Outside::Phi) => vec![straight(), vec![(s[0], t[1]), (s[1], t[0])]],
        (
            Outside::Intrinsic { id: a, indices: few },
            Outside::Intrinsic { id: b, indices: all },
        ) if a == b && few.iter().all(|i| all.contains(i)) => {
            vec![straight()]
        }
        (
            Outside::Tex { op: a, srcs: m, attrs: few },
            Outside::Tex { op: b, srcs: n, attrs: all },
        ) if a == b && m.len() == n.len() && few.iter().all(|i| all.contains(i)) => {
            let twin = |(at, kind)| Some((s[at], t[n.iter().position(|k| k == kind)?]));
            m.iter().enumerate().map(twin).collect::<Option<_>>().into_iter().collect()
        }
        _ => Vec::new(),
    }
}

impl Rule {
    /// The nodes under each phi of the pattern.
    pub fn phis(&self) -> Vec<(NodeId, Vec<NodeId>)> {
        let is_phi = |id: &NodeId| {
            matches!(self.nodes[*id].kind, NodeKind::Outside { what: Outside::Phi, .. })
        };
        let phis = self.pattern_nodes().into_iter().filter(is_phi);
        phis.map(|id| (id, self.reachable(id).into_iter().filter(|n| *n != id).collect())).collect()
    }

    /// Values under a phi of which something outside it speaks, with the phi. On the edge over which it comes, such a
    /// value may be of another turn of a loop than where it is used, or be known there alone: it must be defined above
    /// the phi's block.
    pub fn needed_at_phis(&self) -> Vec<(VarId, NodeId)> {
        let mut out = Vec::new();
        let built: Vec<NodeId> = self.alts.iter().flat_map(|a| self.built_here(a.term)).collect();
        for (phi, under) in self.phis() {
            for (id, var) in self.vars.iter().enumerate() {
                let is_it = |n: &NodeId| matches!(self.nodes[*n].kind, NodeKind::Var(v) if v == id);
                let inside = match var.kind {
                    VarKind::Value => under.iter().any(is_it),
                    VarKind::Bound(node) => under.contains(&node),
                    VarKind::Const => false,
                };
                let nodes = self.pattern_nodes();
                let elsewhere = nodes.iter().any(|n| is_it(n) && !under.contains(n));
                if inside && (elsewhere || built.iter().any(is_it)) {
                    out.push((id, phi));
                }
            }
        }
        out
    }

    /// What a node of a replacement makes that isn't arithmetic, unless the pattern has the same of the same size.
    pub fn made_anew(&self, node: NodeId) -> Option<&Outside> {
        let NodeKind::Outside { what, .. } = &self.nodes[node].kind else { return None };
        let class = self.nodes[node].class;
        let known = self.pattern_nodes().into_iter().any(|n| {
            matches!(&self.nodes[n].kind, NodeKind::Outside { what: w, .. } if w == what)
                && self.nodes[n].class == class
        });
        (!known).then_some(what)
    }

    /// Constants under phis, which may stand where the root can't see them.
    pub fn constants_under_phis(&self) -> Vec<VarId> {
        let under: Vec<NodeId> = self.phis().into_iter().flat_map(|(_, under)| under).collect();
        let is_under = |var: VarId| {
            let is_it = |n: &NodeId| matches!(self.nodes[*n].kind, NodeKind::Var(v) if v == var);
            self.vars[var].kind == VarKind::Const && under.iter().any(is_it)
        };
        (0..self.vars.len()).filter(|v| is_under(*v)).collect()
    }

    /// The rule over values that may be anything, as the checker of soundness sees it: what the pattern has beside
    /// arithmetic is a variable, a phi a choice between its operands.
    ///
    /// # Errors
    /// What of it can't be checked so: a root or a replacement whose value isn't known.
    pub fn over_any_values(&self, set: &RuleSet) -> Result<Rule, String> {
        let mut rule = self.clone();
        let outside = |rule: &Rule, id: NodeId| match &rule.nodes[id].kind {
            NodeKind::Outside { what, .. } => Some(what.clone()),
            _ => None,
        };
        let made = self.alts.iter().flat_map(|a| self.reachable(a.term));
        let (phis, others): (Vec<NodeId>, Vec<NodeId>) = made
            .filter(|id| outside(self, *id).is_some())
            .partition(|id| outside(self, *id) == Some(Outside::Phi));
        if let Some(what) = others.first().and_then(|id| outside(self, *id)) {
            return Err(format!("nothing says what `{}` gives", name_of(set, &what)));
        }
        for id in self.pattern_nodes() {
            match outside(self, id) {
                None => {}
                Some(Outside::Phi) => {
                    let edge = rule.choose(set, id)?;
                    // What is made in the place of a phi takes its operands over the same edge.
                    for made in phis.iter().filter(|_| id == self.pattern) {
                        rule.choose_by(set, *made, edge)?;
                    }
                }
                Some(what) if id == self.pattern => {
                    return Err(format!("nothing says what `{}` gives", name_of(set, &what)));
                }
                Some(_) => rule.make_variable(id),
            }
        }
        // Operations inside what is a variable now are any values too.
        let left = rule.pattern_nodes();
        for var in &mut rule.vars {
            if let VarKind::Bound(node) = var.kind
                && !left.contains(&node)
            {
                var.kind = VarKind::Value;
            }
        }
        Ok(rule)
    }

    /// Puts a variable in the place of a node.
    fn make_variable(&mut self, id: NodeId) {
        let node = &self.nodes[id];
        let bound = match &node.kind {
            NodeKind::Outside { bind, .. } => *bind,
            _ => None,
        };
        let var = match bound {
            Some(var) => {
                self.vars[var].kind = VarKind::Value;
                var
            }
            None => {
                self.vars.push(Var {
                    name: format!("v{id}"),
                    kind: VarKind::Value,
                    base: Base::Uint,
                    class: node.class,
                    comps: node.comps,
                    whole: false,
                    span: node.span,
                });
                self.vars.len() - 1
            }
        };
        self.nodes[id].kind = NodeKind::Var(var);
        self.nodes[id].swizzle = None;
    }

    /// Makes a phi a selection by a condition of which nothing is known, and gives that.
    fn choose(&mut self, set: &RuleSet, id: NodeId) -> Result<NodeId, String> {
        let node = self.nodes[id].clone();
        let class = self.classes;
        self.classes += 1;
        self.instances.iter_mut().for_each(|bits| bits.push(1));
        self.vars.push(Var {
            name: format!("edge{id}"),
            kind: VarKind::Value,
            base: Base::Bool,
            class,
            comps: node.comps,
            whole: false,
            span: node.span,
        });
        let condition = self.nodes.len();
        let kind = NodeKind::Var(self.vars.len() - 1);
        self.nodes.push(Node { kind, swizzle: None, class, ..node });
        self.choose_by(set, id, condition)?;
        Ok(condition)
    }

    /// Makes a phi a selection by a condition.
    fn choose_by(&mut self, set: &RuleSet, id: NodeId, condition: NodeId) -> Result<(), String> {
        let op = set.ops.find("bcsel").ok_or("there is no `bcsel`")?;
        let NodeKind::Outside { args, bind, .. } = &self.nodes[id].kind else { return Ok(()) };
        let args = [&[condition], args.as_slice()].concat();
        self.nodes[id].kind = NodeKind::Op { op, promises: 0, args, bind: *bind };
        Ok(())
    }
}
