//! The reference matcher outside of arithmetic: intrinsics, texture operations, phis.

use super::expr::Choices;
use super::matcher::{Match, Seen, State, instr_of};
use super::miss::Test;
use crate::rewriter::{Rewriter, Val};
use crate::ruleset::Root;
use deburr_ir_core::{Function, Index, Instr, InstrView, Intrinsic, TexInfo, TexOp, TexSrc};
use deburr_rulegen::rules::model::{NodeId, NodeKind, Outside, RuleSet};
use smallvec::SmallVec;

/// The root that a pattern asks for.
pub(super) fn root_of(set: &RuleSet, what: &Outside) -> Root {
    match what {
        Outside::Intrinsic { id, .. } => Root::Intrinsic(Intrinsic(set.ops.intrinsic(*id).id)),
        Outside::Tex { op, .. } => Root::Tex(TexOp::NAMES[*op].1),
        Outside::Phi => Root::Phi,
    }
}

/// An attribute of a texture operation, by its place in the list of rules.
fn attribute(tex: &TexInfo, at: usize) -> u32 {
    match at {
        0 => tex.is_array.into(),
        1 => tex.is_shadow.into(),
        2 => tex.is_sparse.into(),
        _ => tex.component.into(),
    }
}

impl State<'_> {
    /// Matches what isn't arithmetic with a value that is seen.
    pub(super) fn matches_outside(
        &self,
        cx: &Rewriter<'_>,
        id: NodeId,
        seen: Seen,
        root_comps: u8,
        choices: &mut Choices,
        m: &mut Match,
    ) -> Result<(), Test> {
        let (f, node, instr) = (cx.func(), &self.rule.nodes[id], instr_of(&seen));
        let NodeKind::Outside { what, args, bind } = &node.kind else {
            return Err(Test::Opcode(id));
        };
        let slots = self.outside_slots(f, what, id, instr, choices, m)?;
        let all = f.comps(seen.def);
        // Each component of a phi is that of its operands.
        let by_component = *what == Outside::Phi && id != self.rule.pattern;
        let whole = node.swizzle.is_some()
            || by_component
            || seen.comps.iter().copied().eq(0..all) && self.count(node.comps, root_comps) == all;
        m.expect(whole, Test::Components(id))?;
        m.instrs.insert(id, instr);
        m.expect(self.is_unseen(cx, id, &seen), Test::Shared(id))?;
        if let Some(var) = bind {
            m.vars.insert(*var, seen.clone());
        }
        for (arg, slot) in args.iter().zip(slots) {
            let def = f.src(instr, slot);
            let comps = match by_component {
                true => seen.comps.clone(),
                false => (0..f.comps(def)).collect(),
            };
            let operand = Seen { def, comps };
            m.nodes.insert(*arg, operand.clone());
            let wanted = &self.rule.nodes[*arg];
            let as_many = wanted.swizzle.is_some()
                || by_component
                || self.count(wanted.comps, root_comps) == f.comps(def);
            m.expect(as_many, Test::Components(*arg))?;
            self.matches(cx, *arg, operand, root_comps, choices, m)?;
        }
        Ok(())
    }

    /// The sources of an instruction that the operands of a node stand for, in the order of the operands.
    pub(super) fn outside_slots(
        &self,
        f: &Function,
        what: &Outside,
        id: NodeId,
        instr: Instr,
        choices: &mut Choices,
        m: &mut Match,
    ) -> Result<SmallVec<[usize; 4]>, Test> {
        m.expect(
            crate::outside::root(f, instr) == Some(root_of(self.set, what)),
            Test::Opcode(id),
        )?;
        match (what, f.view(instr)) {
            (Outside::Intrinsic { indices, .. }, _) => {
                for (index, wanted) in indices {
                    let has = f.index(instr, Index(*index as u8));
                    m.expect(has == Some(*wanted), Test::Index(id, *index))?;
                }
                Ok((0..f.srcs(instr).len()).collect())
            }
            (Outside::Tex { srcs, attrs, .. }, InstrView::Tex(tex)) => {
                for (at, wanted) in attrs {
                    m.expect(attribute(tex, *at) == *wanted, Test::Index(id, *at))?;
                }
                m.expect(tex.srcs.len() == srcs.len(), Test::Sources(id))?;
                let place = |kind: &usize| {
                    tex.srcs.iter().position(|src: &TexSrc| *src == TexSrc::NAMES[*kind].1)
                };
                srcs.iter().map(place).collect::<Option<_>>().ok_or(Test::Sources(id))
            }
            (Outside::Phi, _) => {
                m.expect(f.srcs(instr).len() == 2, Test::Sources(id))?;
                if choices.pick(2) == 0 {
                    return Ok(SmallVec::from_slice(&[0, 1]));
                }
                m.exchanged.push(id);
                Ok(SmallVec::from_slice(&[1, 0]))
            }
            (Outside::Tex { .. }, _) => Err(Test::Opcode(id)),
        }
    }

    /// Values under phis of which something else speaks must be one value wherever the phi is.
    pub(super) fn reaches_phis(&self, cx: &mut Rewriter<'_>, m: &mut Match) -> Result<(), Test> {
        if !self.rule.has_outside() {
            return Ok(());
        }
        for (var, phi) in self.rule.needed_at_phis() {
            let (Some(seen), Some(at)) = (m.vars.get(&var), m.instrs.get(&phi)) else { continue };
            let reaches = cx.reaches(Val::from(seen.def), *at);
            m.expect(reaches, Test::Reaches(var, phi))?;
        }
        let phis = self.rule.alts.iter().flat_map(|alt| self.rule.made_phis(alt.term));
        for source in phis.filter_map(|phi| self.rule.made_of(phi)).flatten() {
            let Some(seen) = m.nodes.get(&source).cloned() else { continue };
            let whole = seen.comps.iter().copied().eq(0..cx.func().comps(seen.def));
            m.expect(whole, Test::Components(source))?;
        }
        Ok(())
    }

    /// Builds a phi in the place of the matched one.
    pub(super) fn build_phi(&self, cx: &mut Rewriter<'_>, id: NodeId, m: &Match) -> Val {
        let root = m.instrs[&self.rule.pattern];
        let value = |n: NodeId| m.nodes.get(&n).map(|seen| Val::from(seen.def));
        let values = self.rule.made_of(id).map(|sources| sources.map(value));
        let Some([Some(a), Some(b)]) = values else { return Val::from(root.def()) };
        let first = usize::from(m.exchanged.contains(&self.rule.pattern));
        cx.build_phi(root, first, a, b)
    }

    /// Builds an intrinsic or texture operation.
    pub(super) fn build_outside(
        &self,
        cx: &mut Rewriter<'_>,
        what: &Outside,
        bits: u8,
        comps: u8,
        operands: &[(Val, u8)],
        m: &Match,
    ) -> Val {
        let root = m.instrs[&self.rule.pattern];
        let (id, indices) = match what {
            Outside::Intrinsic { id, indices } => (id, indices),
            Outside::Tex { op, srcs, .. } => {
                let kinds = srcs.iter().map(|kind| TexSrc::NAMES[*kind].1);
                let operands: SmallVec<[(TexSrc, Val, u8); 4]> =
                    kinds.zip(operands).map(|(kind, (v, comps))| (kind, *v, *comps)).collect();
                return cx.build_tex(root, TexOp::NAMES[*op].1, &operands);
            }
            Outside::Phi => return Val::from(root.def()),
        };
        let sig = self.set.ops.intrinsic(*id);
        let count = match sig.dest {
            Some(n) if n > 0 => n as u8,
            _ => comps,
        };
        cx.build_intrinsic(Intrinsic(sig.id), bits, count, operands, &given(indices))
    }

    /// Whether the target lacks what a node of the replacement makes, where that isn't arithmetic. What the pattern has
    /// it has.
    pub(super) fn lacks_outside(&self, cx: &Rewriter<'_>, id: NodeId, m: &Match) -> bool {
        let NodeKind::Outside { what, .. } = &self.rule.nodes[id].kind else { return false };
        let class = self.rule.nodes[id].class;
        let matched = self.rule.pattern_nodes().into_iter().map(|n| &self.rule.nodes[n]);
        let mut same = matched.filter(|n| n.class == class);
        if same.any(|n| matches!(&n.kind, NodeKind::Outside { what: w, .. } if w == what)) {
            return false;
        }
        match what {
            Outside::Intrinsic { id, indices } => {
                let intrinsic = Intrinsic(self.set.ops.intrinsic(*id).id);
                !cx.legal_intrinsic(intrinsic, self.bits(cx, class, m), &given(indices))
            }
            Outside::Tex { .. } | Outside::Phi => false,
        }
    }
}

/// Const indices with their values.
fn given(indices: &[(usize, u32)]) -> SmallVec<[(Index, u32); 4]> {
    indices.iter().map(|(index, value)| (Index(*index as u8), *value)).collect()
}
