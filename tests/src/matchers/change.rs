//! One change to a function with a left side in it, after which the rule should just miss.

use super::grow::{self, Care, Grower, Left, Place};
use super::{chance, mask, outside, read};
use deburr_algebraic::Target;
use deburr_fuzz::Rng;
use deburr_ir_core::{
    AluOp, AluSrc, Builder, Cursor, Def, Denorm, Flags, Function, Index, Instr, Intrinsic,
    Rounding, Swizzle, TexOp, TexSrc, index,
};
use deburr_rulegen::rules::classes::{SIZES, size_set};
use deburr_rulegen::rules::model::{
    Comps, Cond, NodeId, NodeKind, Outside, Profit, Rule, RuleSet, VarId, VarKind,
};
use deburr_rulegen::rules::ops::{IntrinsicSig, OpSig};

/// The kinds of change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// An operation becomes another on values of the same sizes; a constant or an undef something else.
    Opcode,
    /// Two operands that may not be exchanged are.
    Order,
    /// A literal becomes another number, in one component or all.
    Literal,
    /// A promise is taken away.
    Promise,
    /// A licence is taken away.
    Licence,
    /// The left side at sizes that the rule isn't for.
    Size,
    /// One of several places of a variable has another value.
    Repeated,
    /// A source takes another component.
    Swizzle,
    /// A variable has a value of which a fact doesn't hold, or isn't known to.
    Fact,
    /// A value has more uses.
    Uses,
    /// Another float environment.
    Env,
    /// Another option of the target.
    Option,
    /// The target hasn't an operation of the replacement.
    Legality,
    /// A const index of an intrinsic or an attribute of a texture operation.
    Index,
    /// A source of a texture operation is of another kind, or there is one more.
    Source,
    /// A value that is needed at a phi comes over one edge.
    Edge,
    /// A part of a chain has another use.
    Chain,
    /// An access is volatile.
    Volatile,
    /// Something reads more bits of the root than the rule lets users read.
    Read,
}

impl Kind {
    /// Every kind with its name.
    pub const ALL: [(Kind, &'static str); 19] = [
        (Kind::Opcode, "opcode"),
        (Kind::Order, "operand order"),
        (Kind::Literal, "literal"),
        (Kind::Promise, "promise"),
        (Kind::Licence, "licence"),
        (Kind::Size, "size"),
        (Kind::Repeated, "repeated variable"),
        (Kind::Swizzle, "swizzle"),
        (Kind::Fact, "fact"),
        (Kind::Uses, "use count"),
        (Kind::Env, "environment"),
        (Kind::Option, "target option"),
        (Kind::Legality, "legality"),
        (Kind::Index, "index"),
        (Kind::Source, "source"),
        (Kind::Edge, "edge"),
        (Kind::Chain, "chain"),
        (Kind::Volatile, "volatile access"),
        (Kind::Read, "bits read"),
    ];
}

/// A left side, what it stands in, and what it is run for.
#[derive(Clone, Debug)]
pub struct Case {
    /// The function.
    pub f: Function,
    /// The left side.
    pub left: Left,
    /// The target.
    pub target: Target,
}

/// What is known of a rule before anything grows from it.
pub struct Plan<'a> {
    /// The rule set.
    pub set: &'a RuleSet,
    /// The rule.
    pub rule: &'a Rule,
    /// Sizes at which its pattern could stand but at which it doesn't hold.
    wrong_sizes: Vec<Vec<u8>>,
    /// Kinds of change that there may be.
    pub kinds: Vec<Kind>,
}

impl<'a> Plan<'a> {
    /// Looks at a rule.
    pub fn new(set: &'a RuleSet, rule: &'a Rule) -> Plan<'a> {
        let wrong_sizes = wrong_sizes(set, rule);
        let nodes = rule.pattern_nodes();
        let promises = |n: &NodeId| match &rule.nodes[*n].kind {
            NodeKind::Op { promises, .. } => *promises != 0,
            _ => false,
        };
        let literal = |n: &NodeId| matches!(rule.nodes[*n].kind, NodeKind::Literal(..));
        let outside: Vec<&Outside> = nodes
            .iter()
            .filter_map(|n| match &rule.nodes[*n].kind {
                NodeKind::Outside { what, .. } => Some(what),
                _ => None,
            })
            .collect();
        let edges = outside::of_one_edge(rule);
        let asks = |what: &&Outside| match what {
            Outside::Intrinsic { indices, .. } => !indices.is_empty(),
            Outside::Tex { attrs, .. } => !attrs.is_empty(),
            Outside::Phi => false,
        };
        let kinds = Kind::ALL.iter().map(|k| k.0).filter(|kind| match kind {
            Kind::Index => outside.iter().any(asks),
            Kind::Source => outside.iter().any(|what| matches!(what, Outside::Tex { .. })),
            Kind::Edge => rule.needed_at_phis().iter().any(|(var, _)| edges.contains(var)),
            Kind::Chain => nodes.iter().any(|n| rule.is_in_chain(*n)),
            Kind::Volatile => outside.iter().any(|what| has_access(set, what)),
            Kind::Read => rule.used.is_some(),
            Kind::Opcode | Kind::Order | Kind::Swizzle | Kind::Repeated => true,
            Kind::Literal => nodes.iter().any(literal),
            Kind::Promise => nodes.iter().any(promises),
            Kind::Licence => rule.licences != 0,
            Kind::Size => !wrong_sizes.is_empty(),
            Kind::Fact => !rule.facts.is_empty(),
            Kind::Uses => profit_vars(rule).next().is_some(),
            Kind::Env => rule.env != deburr_rulegen::rules::model::EnvClause::ALL,
            Kind::Option => rule.when.is_some(),
            Kind::Legality => {
                rule.alts.iter().any(|a| matches!(rule.nodes[a.term].kind, NodeKind::Op { .. }))
            }
        });
        let kinds = kinds.collect();
        Plan { set, rule, wrong_sizes, kinds }
    }

    /// A function that holds the left side and stores what it gives.
    pub fn case(&self, rng: &mut Rng, care: Care) -> Case {
        let instances = &self.rule.instances;
        let bits = &instances[rng.below(instances.len())];
        self.case_at(rng, care, bits, false)
    }

    fn case_at(&self, rng: &mut Rng, care: Care, bits: &[u8], edge: bool) -> Case {
        let mut f = grow::function(rng);
        if care == Care::Fits {
            self.fit_environment(&mut f, rng);
        }
        let target = self.target(rng);
        let comps = match self.rule.nodes[self.rule.pattern].comps {
            Comps::Fixed(n) => n,
            Comps::Generic => *rng.pick(&[1, 1, 2, 3, 4]),
        };
        let mut b = Builder::at_end(&mut f);
        let grower = Grower::new(self.set, self.rule, bits, comps, care).over_edges(edge);
        let left = grower.grow(&mut b, rng);
        let read = if care == Care::Fits { 95 } else { 60 };
        match read::allowed(b.f, self.rule, bits, &left).filter(|_| chance(rng, read)) {
            Some(few) => read::reader(&mut b, rng, left.root.def(), few),
            None => grow::sink(&mut b, left.root.def()),
        }
        let mut case = Case { f, left, target };
        if chance(rng, 20) {
            self.shared(&mut case, rng);
        }
        // What a rule wants to have more users.
        for var in profit_vars(self.rule).collect::<Vec<_>>() {
            if chance(rng, 15) {
                self.more_uses(&mut case, rng, var);
            }
        }
        case
    }

    fn fit_environment(&self, f: &mut Function, rng: &mut Rng) {
        let env = self.rule.env;
        let denorms = [(1, Denorm::Keep), (2, Denorm::Flush), (4, Denorm::Any)];
        let roundings = [(1, Rounding::Rte), (2, Rounding::Rtz), (4, Rounding::Any)];
        let denorms: Vec<Denorm> =
            denorms.iter().filter(|d| env.denorm & d.0 != 0).map(|d| d.1).collect();
        let roundings: Vec<Rounding> =
            roundings.iter().filter(|r| env.rounding & r.0 != 0).map(|r| r.1).collect();
        for slot in 0..3 {
            if !denorms.contains(&f.float_env.denorm[slot]) && !denorms.is_empty() {
                f.float_env.denorm[slot] = *rng.pick(&denorms);
            }
            if !roundings.contains(&f.float_env.rounding[slot]) && !roundings.is_empty() {
                f.float_env.rounding[slot] = *rng.pick(&roundings);
            }
        }
    }

    /// A target that has every operation, with options for which the rule's `when` holds.
    fn target(&self, rng: &mut Rng) -> Target {
        for _ in 0..16 {
            let options = self.set.options.iter().filter(|_| chance(rng, 50));
            let target =
                options.fold(Target::generic("some"), |t, (name, _)| t.option(name.as_str()));
            if self.rule.when.as_ref().is_none_or(|w| option_holds(w, &target)) {
                return target;
            }
        }
        Target::generic("none")
    }

    /// The case with one change of that kind; `None` if there is no place for one. `seed` is what the case grew from.
    pub fn changed(&self, case: &Case, kind: Kind, seed: &Rng, rng: &mut Rng) -> Option<Case> {
        let mut case = case.clone();
        let done = match kind {
            Kind::Opcode => self.opcode(&mut case, rng),
            Kind::Order => self.order(&mut case, rng),
            Kind::Literal => self.literal(&mut case, rng),
            Kind::Promise => self.flag(&mut case, rng, |node| match node {
                NodeKind::Op { promises, .. } => *promises,
                _ => 0,
            }),
            Kind::Licence => self.flag(&mut case, rng, |node| match node {
                NodeKind::Op { op, .. } if self.set.ops.get(*op).float => self.rule.licences,
                _ => 0,
            }),
            Kind::Size => {
                let bits = rng.pick(&self.wrong_sizes);
                case = self.case_at(&mut seed.clone(), Care::Fits, bits, false);
                true
            }
            Kind::Index => self.index(&mut case, rng),
            Kind::Source => self.tex_source(&mut case, rng),
            Kind::Edge => {
                let bits = rng.pick(&self.rule.instances);
                case = self.case_at(&mut seed.clone(), Care::Fits, bits, true);
                true
            }
            Kind::Chain => {
                let is_part = |p: &&Place| self.rule.is_in_chain(p.node);
                let at = case.left.places.iter().find(is_part)?;
                let cursor = outside::behind(&case.f, at.def);
                grow::sink(&mut Builder::new(&mut case.f, cursor), at.def);
                true
            }
            Kind::Volatile => self.volatile(&mut case),
            Kind::Read => self.read(&mut case, rng),
            Kind::Repeated => self.repeated(&mut case, rng),
            Kind::Swizzle => self.swizzle(&mut case, rng),
            Kind::Fact => self.fact(&mut case, rng),
            Kind::Uses => self.uses(&mut case, rng),
            Kind::Env => self.environment(&mut case, rng),
            Kind::Option => self.option(&mut case, rng),
            Kind::Legality => self.legality(&mut case, rng),
        };
        done.then_some(case)
    }

    /// A place of a node of some kind.
    fn place(&self, case: &Case, rng: &mut Rng, kind: impl Fn(&NodeKind) -> bool) -> Option<Place> {
        let places = case.left.places.iter().copied();
        let fits: Vec<Place> = places.filter(|p| kind(&self.rule.nodes[p.node].kind)).collect();
        (!fits.is_empty()).then(|| *rng.pick(&fits))
    }

    /// Another operation on values of the same sizes in place of one.
    fn opcode(&self, case: &mut Case, rng: &mut Rng) -> bool {
        let is_const = |var: VarId| self.rule.vars[var].kind == VarKind::Const;
        let operation = |n: &NodeKind| match n {
            NodeKind::Op { .. } | NodeKind::Outside { .. } | NodeKind::Undef => true,
            NodeKind::Var(var) => is_const(*var),
            _ => false,
        };
        let Some(at) = self.place(case, rng, operation) else { return false };
        let op = match &self.rule.nodes[at.node].kind {
            NodeKind::Op { op, .. } => op,
            NodeKind::Outside { what, .. } => return self.other(case, rng, at, what),
            NodeKind::Var(_) => return unknown(&mut case.f, at),
            NodeKind::Undef => return defined(&mut case.f, rng, at),
            _ => return false,
        };
        let sig = self.set.ops.get(*op);
        let f = &mut case.f;
        let instr = at.def.instr();
        if f.alu_op(instr) != Some(AluOp(sig.id)) {
            return false;
        }
        let width = f.alu_info(instr).map_or(0, |info| {
            let srcs = f.srcs(instr).iter().map(|s| f.bits(s.def()));
            info.unsized_width(f.bits(at.def), srcs)
        });
        let fits = |other: &&OpSig| {
            let shape = |s: &OpSig| -> Vec<(u8, u8)> {
                s.inputs.iter().chain([&s.output]).map(|t| (t.bits, t.comps)).collect()
            };
            other.id != sig.id
                && other.id < 0x4000
                && shape(other) == shape(sig)
                && (width == 0 || other.sizes & size_set(width.into()) != 0)
        };
        let others: Vec<u16> = self.set.ops.iter().filter(fits).map(|other| other.id).collect();
        let Some(&other) = (!others.is_empty()).then(|| rng.pick(&others)) else {
            return unknown(f, at);
        };
        let new = set_op(f, instr, AluOp(other));
        if case.left.root == instr {
            case.left.root = new;
        }
        true
    }

    /// Another intrinsic or texture operation on the same sources, or an unknown value.
    fn other(&self, case: &mut Case, rng: &mut Rng, at: Place, what: &Outside) -> bool {
        let (f, instr) = (&mut case.f, at.def.instr());
        match what {
            Outside::Intrinsic { id, .. } => {
                let sig = self.set.ops.intrinsic(*id);
                let all = self.set.ops.intrinsics().iter().enumerate();
                let fits = |(n, other): &(usize, &IntrinsicSig)| {
                    n != id
                        && other.dest == sig.dest
                        && (&other.srcs, &other.src_bits) == (&sig.srcs, &sig.src_bits)
                        && other.sizes & size_set(f.bits(at.def).into()) != 0
                };
                let others: Vec<u16> = all.filter(fits).map(|(_, other)| other.id).collect();
                if f.intrinsic(instr) != Some(Intrinsic(sig.id)) || others.is_empty() {
                    return unknown(f, at);
                }
                let srcs: Vec<Def> = f.srcs(instr).iter().map(|s| s.def()).collect();
                let (op, shape) = (Intrinsic(*rng.pick(&others)), f.shape(at.def));
                let mut b = Builder::new(f, Cursor::Before(instr));
                let new = b.intrinsic_with(op, shape, &srcs, &[]);
                f.replace_all_uses(at.def, new.def());
                f.remove(instr);
                if case.left.root == instr {
                    case.left.root = new;
                }
                true
            }
            Outside::Tex { .. } => match f.tex_mut(instr) {
                Some(tex) => {
                    let old = tex.op;
                    tex.op = rng.pick(TexOp::NAMES).1;
                    tex.op != old
                }
                None => unknown(f, at),
            },
            Outside::Phi => unknown(f, at),
        }
    }

    /// Another value of a const index or attribute that the rule asks for.
    fn index(&self, case: &mut Case, rng: &mut Rng) -> bool {
        let outside = |n: &NodeKind| matches!(n, NodeKind::Outside { .. });
        let Some(at) = self.place(case, rng, outside) else { return false };
        let NodeKind::Outside { what, .. } = &self.rule.nodes[at.node].kind else { return false };
        let (f, instr) = (&mut case.f, at.def.instr());
        match what {
            Outside::Intrinsic { indices, .. } if !indices.is_empty() => {
                let (index, value) = rng.pick(indices);
                f.set_index(instr, Index(*index as u8), value ^ 1);
                true
            }
            Outside::Tex { attrs, .. } if !attrs.is_empty() => {
                let Some(tex) = f.tex_mut(instr) else { return false };
                match rng.pick(attrs).0 {
                    0 => tex.is_array ^= true,
                    1 => tex.is_shadow ^= true,
                    2 => tex.is_sparse ^= true,
                    _ => tex.component ^= 1,
                }
                true
            }
            _ => false,
        }
    }

    /// Another kind of source for a texture operation.
    fn tex_source(&self, case: &mut Case, rng: &mut Rng) -> bool {
        let is_tex =
            |n: &NodeKind| matches!(n, NodeKind::Outside { what: Outside::Tex { .. }, .. });
        let Some(at) = self.place(case, rng, is_tex) else { return false };
        let (f, instr) = (&mut case.f, at.def.instr());
        let Some(tex) = f.tex_mut(instr) else { return false };
        let new = rng.pick(TexSrc::NAMES).1;
        if tex.srcs.is_empty() || tex.srcs.contains(&new) {
            return false;
        }
        if chance(rng, 50) {
            let slot = rng.below(tex.srcs.len());
            tex.srcs[slot] = new;
            return true;
        }
        // One source more.
        let mut more = tex.clone();
        more.srcs.push(new);
        let mut srcs: Vec<Def> = f.srcs(instr).iter().map(|s| s.def()).collect();
        let shape = f.shape(at.def);
        let mut b = Builder::new(f, Cursor::Before(instr));
        srcs.push(b.undef(1, 32));
        let new = b.tex(more, shape, &srcs);
        f.replace_all_uses(at.def, new);
        f.remove(instr);
        if case.left.root == instr {
            case.left.root = new.instr();
        }
        true
    }

    fn volatile(&self, case: &mut Case) -> bool {
        let accesses = case.left.places.iter().filter(|p| match &self.rule.nodes[p.node].kind {
            NodeKind::Outside { what, .. } => has_access(self.set, what),
            _ => false,
        });
        let Some(at) = accesses.map(|p| p.def.instr()).next() else { return false };
        case.f.set_index(at, Index::ACCESS, index::access::VOLATILE);
        case.f.is_volatile(at)
    }

    /// The first two operands of an operation that doesn't commute, exchanged.
    fn order(&self, case: &mut Case, rng: &mut Rng) -> bool {
        let Some(at) = self.place(case, rng, |n| matches!(n, NodeKind::Op { .. })) else {
            return false;
        };
        let NodeKind::Op { op, args, .. } = &self.rule.nodes[at.node].kind else { return false };
        let sig = self.set.ops.get(*op);
        let f = &mut case.f;
        let instr = at.def.instr();
        if sig.commutative || args.len() < 2 || f.srcs(instr).len() < 2 {
            return false;
        }
        let n = rng.below(args.len() - 1);
        if sig.inputs[n].comps != sig.inputs[n + 1].comps
            || f.bits(f.src(instr, n)) != f.bits(f.src(instr, n + 1))
        {
            return false;
        }
        let (x, y) = (source(f, instr, n), source(f, instr, n + 1));
        set_source(f, instr, n, y);
        set_source(f, instr, n + 1, x);
        x != y
    }

    fn literal(&self, case: &mut Case, rng: &mut Rng) -> bool {
        let place = self.place(case, rng, |n| matches!(n, NodeKind::Literal(..)));
        let Some((at, (user, slot))) = place.and_then(|at| Some((at, at.user?))) else {
            return false;
        };
        let f = &mut case.f;
        let (bits, comps) = (f.bits(at.def), f.src_comps(user, slot));
        let Some(&value) = f.constant(at.def).and_then(|c| c.first()) else { return false };
        let other = match rng.below(5) {
            0 => value.wrapping_add(1),
            1 => value.wrapping_sub(1),
            2 => value ^ 1 << (bits - 1),
            3 => value ^ 1 << rng.below(bits.into()),
            _ => grow::number(rng, bits),
        } & mask(bits);
        let one = (comps > 1 && chance(rng, 60)).then(|| rng.below(comps.into()));
        let lanes = 0..usize::from(comps);
        let values: Vec<u64> =
            lanes.map(|i| if one.is_none_or(|n| n == i) { other } else { value }).collect();
        let cursor = outside::ahead(f, user, slot);
        let def = Builder::new(f, cursor).load_const(bits, &values);
        set_source(f, user, slot, def.into());
        other != value
    }

    /// Takes away one of the flags that a node asks for.
    fn flag(&self, case: &mut Case, rng: &mut Rng, wanted: impl Fn(&NodeKind) -> u16) -> bool {
        let Some(at) = self.place(case, rng, |n| wanted(n) != 0) else { return false };
        let wanted = Flags::from_bits_truncate(wanted(&self.rule.nodes[at.node].kind));
        let (f, instr) = (&mut case.f, at.def.instr());
        let list: Vec<Flags> = wanted.iter().collect();
        if list.is_empty() || f.alu_op(instr).is_none() {
            return false;
        }
        let flags = f.flags(instr);
        f.set_flags(instr, flags - *rng.pick(&list));
        f.flags(instr) != flags
    }

    /// The places of a variable.
    fn places_of(&self, case: &Case, var: VarId) -> Vec<(Instr, usize)> {
        let is_var = |n: NodeId| matches!(self.rule.nodes[n].kind, NodeKind::Var(v) if v == var);
        case.left.places.iter().filter(|p| is_var(p.node)).filter_map(|p| p.user).collect()
    }

    fn repeated(&self, case: &mut Case, rng: &mut Rng) -> bool {
        let var = rng.below(self.rule.vars.len().max(1));
        let places = self.places_of(case, var);
        if places.len() < 2 {
            return false;
        }
        let (user, slot) = *rng.pick(&places);
        let f = &mut case.f;
        let old = f.src(user, slot);
        let (bits, comps) = (f.bits(old), f.comps(old));
        let values = f.constant(old).map(<[u64]>::to_vec);
        let cursor = outside::ahead(f, user, slot);
        let mut b = Builder::new(f, cursor);
        let new = match values {
            Some(mut values) => {
                let lane = rng.below(values.len());
                values[lane] = match chance(rng, 50) {
                    true => grow::number(rng, bits),
                    false => values[lane] ^ 1,
                };
                b.load_const(bits, &values)
            }
            None => b.undef(comps, bits),
        };
        f.set_src(user, slot, new);
        true
    }

    /// Another component for a source.
    fn swizzle(&self, case: &mut Case, rng: &mut Rng) -> bool {
        let at = *rng.pick(&case.left.places);
        let Some((user, slot)) = at.user else { return false };
        let f = &mut case.f;
        let (from, comps) = (f.comps(f.src(user, slot)), f.src_comps(user, slot));
        if from < 2 || f.alu_op(user).is_none() {
            return false;
        }
        let lane = rng.below(comps.into());
        let old = f.swizzle(user, slot);
        let new = old.with(lane, rng.below(from.into()) as u8);
        f.set_swizzle(user, slot, new);
        !new.agrees(old, comps)
    }

    /// A value of a variable of which the rule's facts don't hold, or of which nothing is known.
    fn fact(&self, case: &mut Case, rng: &mut Rng) -> bool {
        let var = rng.below(self.rule.vars.len().max(1));
        if !grow::in_facts(self.rule, var) {
            return false;
        }
        let places = self.places_of(case, var);
        let Some(&(user, slot)) = places.first() else { return false };
        let f = &mut case.f;
        let old = f.src(user, slot);
        let (bits, comps) = (f.bits(old), f.comps(old));
        let is_const = f.constant(old).is_some();
        let cursor = outside::behind(f, old);
        let mut b = Builder::new(f, cursor);
        let new = match is_const {
            true => {
                let mut values = vec![grow::number(rng, bits); usize::from(comps)];
                if comps > 1 && chance(rng, 50) {
                    let lane = rng.below(comps.into());
                    values[lane] = grow::number(rng, bits);
                }
                b.load_const(bits, &values)
            }
            false => b.undef(comps, bits),
        };
        for (user, slot) in places {
            if f.src(user, slot) == old {
                f.set_src(user, slot, new);
            }
        }
        true
    }

    /// More uses of a value whose uses are counted.
    fn uses(&self, case: &mut Case, rng: &mut Rng) -> bool {
        let vars: Vec<VarId> = profit_vars(self.rule).collect();
        let var = *rng.pick(&vars);
        self.more_uses(case, rng, var)
    }

    fn more_uses(&self, case: &mut Case, rng: &mut Rng, var: VarId) -> bool {
        let stands = |n: NodeId| match (&self.rule.nodes[n].kind, self.rule.vars[var].kind) {
            (_, VarKind::Bound(node)) => node == n,
            (NodeKind::Var(v), _) => *v == var,
            _ => false,
        };
        let Some(at) = case.left.places.iter().find(|p| stands(p.node)) else { return false };
        let cursor = outside::behind(&case.f, at.def);
        let mut b = Builder::new(&mut case.f, cursor);
        for _ in 0..1 + rng.below(3) {
            grow::sink(&mut b, at.def);
        }
        true
    }

    /// Another user for an operation below the root: what is right for one may be tried with more.
    fn shared(&self, case: &mut Case, rng: &mut Rng) {
        let rule = self.rule;
        let below = |n: NodeId| match rule.nodes[n].kind {
            NodeKind::Op { .. } => {
                n != rule.pattern
                    && rule.chain_at(n).is_none()
                    && !rule.is_in_chain(n)
                    && !rule.chooses(n)
            }
            _ => false,
        };
        let places: Vec<Def> =
            case.left.places.iter().filter(|p| below(p.node)).map(|p| p.def).collect();
        if !places.is_empty() {
            let def = *rng.pick(&places);
            let cursor = outside::behind(&case.f, def);
            grow::sink(&mut Builder::new(&mut case.f, cursor), def);
        }
    }

    /// A user of the root that reads more of it.
    fn read(&self, case: &mut Case, rng: &mut Rng) -> bool {
        let root = case.left.root.def();
        let of_root = |bits: &&Vec<u8>| {
            let fits = |p: &Place| bits[self.rule.nodes[p.node].class] == case.f.bits(p.def);
            case.left.places.iter().all(fits)
        };
        let Some(bits) = self.rule.instances.iter().find(of_root) else { return false };
        let Some(few) = read::allowed(&case.f, self.rule, bits, &case.left) else { return false };
        let cursor = outside::behind(&case.f, root);
        read::reader_of_more(&mut Builder::new(&mut case.f, cursor), rng, root, few);
        true
    }

    fn environment(&self, case: &mut Case, rng: &mut Rng) -> bool {
        let env = &mut case.f.float_env;
        let before = *env;
        match chance(rng, 50) {
            true => env.denorm = [*rng.pick(&[Denorm::Keep, Denorm::Flush, Denorm::Any]); 3],
            false => env.rounding = [*rng.pick(&[Rounding::Rte, Rounding::Rtz, Rounding::Any]); 3],
        }
        *env != before
    }

    fn option(&self, case: &mut Case, rng: &mut Rng) -> bool {
        let Some(when) = &self.rule.when else { return false };
        let (name, _) = rng.pick(&self.set.options);
        let options = &mut case.target.options;
        match options.iter().position(|o| o == name) {
            Some(at) => _ = options.remove(at),
            None => options.push(name.clone()),
        }
        !option_holds(when, &case.target)
    }

    fn legality(&self, case: &mut Case, rng: &mut Rng) -> bool {
        let ops_of = |root: NodeId| -> Vec<usize> {
            let ops = self.rule.reachable(root).into_iter();
            ops.filter_map(|n| match &self.rule.nodes[n].kind {
                NodeKind::Op { op, .. } => Some(*op),
                _ => None,
            })
            .collect()
        };
        let alt = rng.pick(&self.rule.alts);
        let ops = ops_of(alt.term);
        if ops.is_empty() {
            return false;
        }
        let op = self.set.ops.get(*rng.pick(&ops));
        case.target = case.target.clone().forbid(AluOp(op.id), &[]);
        true
    }
}

/// An unknown value in the place of one that somebody uses.
fn unknown(f: &mut Function, at: Place) -> bool {
    let Some((user, slot)) = at.user else { return false };
    let (comps, bits) = (f.comps(at.def), f.bits(at.def));
    let cursor = outside::ahead(f, user, slot);
    let value = Builder::new(f, cursor).undef(comps, bits);
    f.set_src(user, slot, value);
    true
}

/// A constant in the place of a value that is undefined.
fn defined(f: &mut Function, rng: &mut Rng, at: Place) -> bool {
    let Some((user, slot)) = at.user else { return false };
    let (comps, bits) = (f.comps(at.def), f.bits(at.def));
    let cursor = outside::ahead(f, user, slot);
    let value = grow::constant(&mut Builder::new(f, cursor), rng, bits, comps);
    f.set_src(user, slot, value);
    true
}

/// Whether it is an access to memory that may be volatile.
fn has_access(set: &RuleSet, what: &Outside) -> bool {
    match what {
        Outside::Intrinsic { id, .. } => {
            set.ops.intrinsic(*id).indices.contains(&usize::from(Index::ACCESS.0))
        }
        Outside::Tex { .. } | Outside::Phi => false,
    }
}

/// The variables whose uses a rule counts.
fn profit_vars(rule: &Rule) -> impl Iterator<Item = VarId> {
    let mut out = Vec::new();
    let mut todo: Vec<&Cond> = rule.alts.iter().filter_map(|a| a.profit.as_ref()).collect();
    while let Some(cond) = todo.pop() {
        match cond {
            Cond::And(list) | Cond::Or(list) => todo.extend(list),
            Cond::Not(c) => todo.push(c),
            Cond::Profit(Profit::Once | Profit::Dies, var)
            | Cond::Uses(var, ..)
            | Cond::OnlyUsedAs(var, _) => out.push(*var),
            Cond::Profit(Profit::IsConst, _) | Cond::Option(_) => {}
        }
    }
    out.into_iter()
}

/// Whether a condition over options holds for a target.
fn option_holds(cond: &Cond, target: &Target) -> bool {
    match cond {
        Cond::And(list) => list.iter().all(|c| option_holds(c, target)),
        Cond::Or(list) => list.iter().any(|c| option_holds(c, target)),
        Cond::Not(c) => !option_holds(c, target),
        Cond::Option(name) => target.has_option(name),
        Cond::Profit(..) | Cond::Uses(..) | Cond::OnlyUsedAs(..) => true,
    }
}

/// Sizes at which the opcodes of a pattern exist but which are none of the rule's instances.
fn wrong_sizes(set: &RuleSet, rule: &Rule) -> Vec<Vec<u8>> {
    let nodes = rule.pattern_nodes();
    let mut allowed = vec![0u8; rule.instances[0].len()];
    let mut used: Vec<usize> = nodes.iter().map(|n| rule.nodes[*n].class).collect();
    used.sort_unstable();
    used.dedup();
    used.iter().for_each(|c| allowed[*c] = 0b11111);
    for id in &nodes {
        let (op, args) = match &rule.nodes[*id].kind {
            NodeKind::Op { op, args, .. } => (op, args),
            NodeKind::Outside { what: Outside::Intrinsic { id: which, .. }, args, .. } => {
                let sig = set.ops.intrinsic(*which);
                allowed[rule.nodes[*id].class] &= sig.sizes;
                for (arg, bits) in args.iter().zip(&sig.src_bits).filter(|(_, bits)| **bits > 0) {
                    allowed[rule.nodes[*arg].class] &= size_set((*bits).into());
                }
                continue;
            }
            _ => continue,
        };
        let sig = set.ops.get(*op);
        let own = (&sig.output, id);
        for (ty, node) in sig.inputs.iter().zip(args).chain([own]) {
            let sizes = if ty.bits == 0 { sig.sizes } else { size_set(ty.bits.into()) };
            allowed[rule.nodes[*node].class] &= sizes;
        }
    }
    let mut out: Vec<Vec<u8>> = vec![rule.instances[0].clone()];
    for class in used.iter().copied() {
        let sizes = || SIZES.iter().enumerate().filter(|(i, _)| allowed[class] >> i & 1 != 0);
        out = out
            .iter()
            .flat_map(|tuple| {
                sizes().map(|(_, bits)| {
                    let mut tuple = tuple.clone();
                    tuple[class] = *bits;
                    tuple
                })
            })
            .take(4096)
            .collect();
    }
    let differs =
        |tuple: &Vec<u8>| rule.instances.iter().all(|i| used.iter().any(|c| i[*c] != tuple[*c]));
    // A literal must have a form there.
    let fits = |tuple: &Vec<u8>| {
        nodes.iter().all(|n| match &rule.nodes[*n].kind {
            NodeKind::Literal(value, base) => {
                value.encode(*base, tuple[rule.nodes[*n].class]).is_ok()
            }
            _ => true,
        })
    };
    // All of an operation's open types are one size.
    let agree = |tuple: &Vec<u8>| {
        nodes.iter().all(|id| {
            let NodeKind::Op { op, args, .. } = &rule.nodes[*id].kind else { return true };
            let sig = set.ops.get(*op);
            let all = sig.inputs.iter().zip(args).chain([(&sig.output, id)]);
            let mut open =
                all.filter(|(ty, _)| ty.bits == 0).map(|(_, n)| tuple[rule.nodes[*n].class]);
            open.next().is_none_or(|first| open.all(|bits| bits == first))
        })
    };
    out.retain(|tuple| differs(tuple) && fits(tuple) && agree(tuple));
    out
}

fn source(f: &Function, instr: Instr, n: usize) -> AluSrc {
    AluSrc { def: f.src(instr, n), swizzle: f.swizzle(instr, n) }
}

fn set_source(f: &mut Function, instr: Instr, n: usize, src: AluSrc) {
    f.set_src(instr, n, src.def);
    f.set_swizzle(instr, n, src.swizzle);
}

/// Puts another operation on the same sources in an instruction's place.
fn set_op(f: &mut Function, instr: Instr, op: AluOp) -> Instr {
    let srcs: Vec<AluSrc> = (0..f.srcs(instr).len()).map(|n| source(f, instr, n)).collect();
    let (flags, comps) = (f.flags(instr), f.comps(instr.def()));
    let mut b = Builder::new(f, Cursor::Before(instr));
    b.flags = flags;
    let new = b.alu_instr(op, comps, &srcs);
    let allowed = f.alu_info(new).map_or(Flags::empty(), |info| info.allowed_flags());
    f.set_flags(new, flags & allowed);
    f.replace_all_uses(instr.def(), new.def());
    f.remove(instr);
    new
}

/// The identity, or the components of a vector in some order.
pub(super) fn lanes(rng: &mut Rng, from: u8, comps: u8) -> Swizzle {
    let lanes: Vec<u8> = (0..comps).map(|_| rng.below(from.into()) as u8).collect();
    match from == comps && chance(rng, 50) {
        true => Swizzle::IDENTITY,
        false => Swizzle::new(&lanes),
    }
}

/// A value of that size in the pool.
pub(super) fn of_size(f: &Function, pool: &[Def], rng: &mut Rng, bits: u8) -> Option<Def> {
    let fits: Vec<Def> = pool.iter().copied().filter(|d| f.bits(*d) == bits).collect();
    (!fits.is_empty()).then(|| *rng.pick(&fits))
}
