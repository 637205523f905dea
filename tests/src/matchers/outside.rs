//! Left sides with more than operations on operations: intrinsics, texture operations, phis, chains.

use super::chance;
use super::grow::{Grower, Place};
use deburr_fuzz::Rng;
use deburr_ir_core::{
    AluOp, AluSrc, Block, Builder, Cursor, Def, Dim, Dominance, Flags, Function, Index, Instr,
    InstrKind, InstrView, Intrinsic, Shape, TexInfo, TexOp, TexSrc,
};
use deburr_rulegen::rules::model::{Chain, NodeId, NodeKind, Outside, Rule, VarId, VarKind};

/// The variables that are operands of what isn't arithmetic, which takes whole values.
pub(super) fn whole(rule: &Rule) -> Vec<VarId> {
    let mut out = Vec::new();
    for id in rule.pattern_nodes() {
        let NodeKind::Outside { args, .. } = &rule.nodes[id].kind else { continue };
        out.extend(args.iter().filter_map(|arg| match rule.nodes[*arg].kind {
            NodeKind::Var(var) => Some(var),
            _ => None,
        }));
    }
    out
}

/// The variables all of whose places lie under one operand of a phi: what stands for them may be known on that edge alone.
pub(super) fn of_one_edge(rule: &Rule) -> Vec<VarId> {
    let is_it =
        |n: &NodeId, var: VarId| matches!(rule.nodes[*n].kind, NodeKind::Var(v) if v == var);
    let all = rule.pattern_nodes();
    let on_edge = |var: VarId| {
        let places = all.iter().filter(|n| is_it(n, var)).count();
        all.iter().any(|id| match &rule.nodes[*id].kind {
            NodeKind::Outside { what: Outside::Phi, args, .. } => args.iter().any(|arg| {
                let under = rule.reachable(*arg);
                places > 0 && under.iter().filter(|n| is_it(n, var)).count() == places
            }),
            _ => false,
        })
    };
    (0..rule.vars.len()).filter(|var| on_edge(*var)).collect()
}

/// Whether the pattern has phis.
fn has_phi(rule: &Rule) -> bool {
    let phi =
        |n: &NodeId| matches!(rule.nodes[*n].kind, NodeKind::Outside { what: Outside::Phi, .. });
    rule.pattern_nodes().iter().any(phi)
}

impl Grower<'_> {
    /// Makes what stands for variables where all of the pattern sees it; some of those of one edge only are left for there,
    /// all of them with `edge`.
    pub(super) fn ahead_of_phis(&mut self, b: &mut Builder<'_>, rng: &mut Rng, edge: bool) {
        if !has_phi(self.rule) {
            return;
        }
        let on_edge = of_one_edge(self.rule);
        let needed: Vec<VarId> = self.rule.needed_at_phis().iter().map(|n| n.0).collect();
        for (id, var) in self.rule.vars.iter().enumerate() {
            let later = on_edge.contains(&id)
                && match needed.contains(&id) {
                    true => edge,
                    false => chance(rng, 50),
                };
            if later || matches!(var.kind, VarKind::Bound(_)) {
                continue;
            }
            let (bits, comps) = (self.bits[var.class], self.count(var.comps));
            let src = self.variable(b, rng, id, bits, comps);
            self.vars.insert(id, src);
        }
    }

    /// What isn't an ALU operation.
    pub(super) fn outside(
        &mut self,
        b: &mut Builder<'_>,
        rng: &mut Rng,
        id: NodeId,
        comps: u8,
    ) -> Def {
        let rule = self.rule;
        let node = &rule.nodes[id];
        let NodeKind::Outside { what, args, bind } = &node.kind else {
            return b.undef(comps, 32);
        };
        let bits = self.bits[node.class];
        // More than what is seen of it.
        let most = node.swizzle.iter().flatten().max().map_or(comps, |c| c + 1);
        let (instr, slots) = match what {
            Outside::Intrinsic { id, indices } => {
                let sig = self.set.ops.intrinsic(*id);
                let count = match sig.dest {
                    Some(n) if n > 0 => n as u8,
                    _ => most,
                };
                let srcs: Vec<Def> = args.iter().map(|arg| self.plain(b, rng, *arg)).collect();
                let indices: Vec<(Index, u32)> =
                    indices.iter().map(|(at, v)| (Index(*at as u8), *v)).collect();
                let (op, shape) = (Intrinsic(sig.id), shape(count, bits));
                let instr = b.intrinsic_with(op, shape, &srcs, &indices);
                (instr, (0..args.len()).collect())
            }
            Outside::Tex { op, srcs, attrs } => {
                let asked = |at: usize| attrs.iter().find(|a| a.0 == at).map(|a| a.1);
                let mut slots: Vec<usize> = (0..args.len()).collect();
                (1..slots.len()).for_each(|n| slots.swap(n, rng.below(n + 1)));
                let values: Vec<Def> = args.iter().map(|arg| self.plain(b, rng, *arg)).collect();
                let mut flag = |at| asked(at).unwrap_or(u32::from(chance(rng, 20))) != 0;
                let (is_array, is_shadow, is_sparse) = (flag(0), flag(1), flag(2));
                let mut kinds = vec![TexSrc::NAMES[0].1; args.len()];
                let mut defs = values.clone();
                for (n, slot) in slots.iter().enumerate() {
                    kinds[*slot] = TexSrc::NAMES[srcs[n]].1;
                    defs[*slot] = values[n];
                }
                let info = TexInfo {
                    op: TexOp::NAMES[*op].1,
                    srcs: kinds.into(),
                    dim: Dim::D2,
                    is_array,
                    is_shadow,
                    is_sparse,
                    dest_type: 0,
                    component: asked(3).unwrap_or(0) as u8,
                    texture_index: 0,
                    sampler_index: 0,
                    access: 0,
                };
                let count = if node.swizzle.is_some() { most.max(4) } else { comps };
                (b.tex(info, shape(count, bits), &defs).instr(), slots)
            }
            Outside::Phi => self.phi(b, rng, args, shape(comps, bits)),
        };
        for (arg, slot) in args.iter().zip(slots) {
            let def = b.f.src(instr, slot);
            self.places.push(Place { node: *arg, user: Some((instr, slot)), def });
        }
        if let Some(var) = bind {
            self.vars.insert(*var, instr.def().into());
        }
        instr.def()
    }

    /// A phi behind an `if`, in whose arms its operands grow, and the slots of these.
    fn phi(
        &mut self,
        b: &mut Builder<'_>,
        rng: &mut Rng,
        args: &[NodeId],
        shape: Shape,
    ) -> (Instr, Vec<usize>) {
        let condition = b.undef(1, 1);
        let parts = b.f.insert_if(b.cursor, condition);
        let mut arms = [parts.then_block, parts.else_block];
        if chance(rng, 50) {
            arms.reverse();
        }
        let mut srcs = Vec::new();
        for (arg, arm) in args.iter().zip(arms) {
            b.cursor = Cursor::BlockEnd(arm);
            let def = self.plain(b, rng, *arg);
            srcs.push((block_at(b).unwrap_or(arm), def));
        }
        let mut slots = vec![0, 1];
        if chance(rng, 50) {
            srcs.reverse();
            slots.reverse();
        }
        let phi = b.phi(parts.after, shape, &srcs);
        b.cursor = Cursor::AfterPhis(parts.after);
        (phi.instr(), slots)
    }

    /// A node as a def.
    fn plain(&mut self, b: &mut Builder<'_>, rng: &mut Rng, id: NodeId) -> Def {
        let comps = self.count(self.rule.nodes[id].comps);
        let src = self.source(b, rng, id, comps);
        if b.f.comps(src.def) == comps && src.swizzle.is_identity(comps) {
            return src.def;
        }
        match b.f.constant(src.def).map(<[u64]>::to_vec) {
            Some(values) => {
                let lanes = src.swizzle.iter(comps);
                let values: Vec<u64> =
                    lanes.map(|c| values.get(usize::from(c)).copied().unwrap_or(0)).collect();
                let bits = b.f.bits(src.def);
                b.load_const(bits, &values)
            }
            None => b.alu_instr(AluOp::MOV, comps, &[src]).def(),
        }
    }

    /// A chain: the operands of an `ac` in some order, with others between them where the chain is the whole pattern, in any
    /// bracketing.
    pub(super) fn chain(
        &mut self,
        b: &mut Builder<'_>,
        rng: &mut Rng,
        chain: &Chain,
        op: AluOp,
        comps: u8,
        flags: Flags,
    ) -> Def {
        let mut items: Vec<(Option<NodeId>, AluSrc)> = Vec::new();
        for operand in &chain.operands {
            items.push((Some(*operand), self.source(b, rng, *operand, comps)));
        }
        let top = chain.nodes[0];
        if top == self.rule.pattern && chance(rng, 60) {
            for _ in 0..1 + rng.below(4) {
                let bits = self.bits[self.rule.nodes[top].class];
                items.push((None, b.undef(comps, bits).into()));
            }
        }
        (1..items.len()).for_each(|n| items.swap(n, rng.below(n + 1)));
        // The pattern may be a chain of two, which has no part.
        let part = *chain.nodes.get(1).unwrap_or(&top);
        while items.len() > 1 {
            let at = rng.below(items.len() - 1);
            let pair = [items[at], items[at + 1]];
            // Each has what the rule asks for, and licences of its own.
            let wanted = Flags::from_bits_truncate(self.rule.licences);
            let own = Flags::from_bits_truncate(rng.bits() as u16) & Flags::LICENCES;
            b.flags = flags & (own | wanted | Flags::PROMISES);
            let instr = b.alu_instr(op, comps, &pair.map(|item| item.1));
            b.flags = Flags::empty();
            for (slot, (node, src)) in pair.into_iter().enumerate() {
                let place = |node| Place { node, user: Some((instr, slot)), def: src.def };
                self.places.extend(node.map(place));
            }
            items[at] = (Some(part), instr.def().into());
            items.remove(at + 1);
        }
        items[0].1.def
    }
}

fn shape(comps: u8, bits: u8) -> Shape {
    Shape::new(comps, bits).unwrap_or(Shape::NONE)
}

/// Where a value for a source is made: in front of the instruction, at the end of the block that it comes from for a phi.
pub(super) fn ahead(f: &Function, user: Instr, slot: usize) -> Cursor {
    match f.view(user) {
        InstrView::Phi(preds) => Cursor::BlockEnd(preds[slot]),
        _ => Cursor::Before(user),
    }
}

/// Right behind a value.
pub(super) fn behind(f: &Function, def: Def) -> Cursor {
    match (f.kind(def.instr()), f.block_of(def.instr())) {
        (InstrKind::Phi, Some(block)) => Cursor::AfterPhis(block),
        _ => Cursor::After(def.instr()),
    }
}

/// The block where the next instruction goes.
fn block_at(b: &Builder<'_>) -> Option<Block> {
    match b.cursor {
        Cursor::Before(i) | Cursor::After(i) => b.f.block_of(i),
        Cursor::BlockStart(block)
        | Cursor::AfterPhis(block)
        | Cursor::BlockEnd(block)
        | Cursor::BeforeJump(block) => Some(block),
    }
}

/// Whether a value can be used by the next instruction.
pub(super) fn is_seen(b: &Builder<'_>, def: Def) -> bool {
    match (b.f.block_of(def.instr()), block_at(b)) {
        (Some(from), Some(at)) => from == at || Dominance::new(b.f).dominates(from, at),
        _ => false,
    }
}

/// Whether a value can be used at the function's end.
pub(super) fn is_seen_at_end(f: &Function, def: Def) -> bool {
    let end = f.last_block(f.body());
    f.block_of(def.instr())
        .is_some_and(|block| block == end || Dominance::new(f).dominates(block, end))
}

/// Whether every value that is used is defined wherever it is.
///
/// # Errors
/// A use of which that is not so.
pub(super) fn sees_what_it_uses(f: &Function) -> Result<(), String> {
    if f.blocks().count() < 2 {
        return Ok(());
    }
    let dominance = Dominance::new(f);
    let mut seen: Vec<bool> = vec![false; f.instr_capacity()];
    let of = |def: Def| f.block_of(def.instr());
    let wrong =
        |user: Instr| Err(format!("{:?} is used where it is not defined in\n{f}", user.def()));
    for block in f.blocks() {
        for instr in f.instrs(block) {
            for (n, src) in f.srcs(instr).iter().enumerate() {
                let at: Block = match f.view(instr) {
                    InstrView::Phi(preds) => preds[n],
                    _ => block,
                };
                let reaches = match of(src.def()) {
                    Some(from) if from == block && at == block => seen[src.def().index()],
                    Some(from) => dominance.dominates(from, at),
                    None => false,
                };
                if !reaches {
                    return wrong(src.def().instr());
                }
            }
            seen[instr.index()] = true;
        }
    }
    Ok(())
}
