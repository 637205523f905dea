//! What an instance of a rule claims, as one question: is there an input at which the replacement may give what the
//! pattern can't?

use super::choices::{Choices, Place, Taking};
use super::eval::{Evaluator, Floats, Scalar, Value, chosen, either_flag};
use super::prims;
use super::steps::Detail;
use super::term::{Sort, Term, Terms};
use deburr_algebraic::interp::expr::is_outermost_step;
use deburr_algebraic::interp::term::{Claim, equal_terms, instructions, reads_twice};
use deburr_ir_core::Denorm;
use deburr_rulegen::expr::{Base, Expr, ExprKind, Prim};
use deburr_rulegen::rules::model::{
    Comps, FactUse, Literal, NodeId, NodeKind, Rule, RuleSet, VarKind, flags,
};
use deburr_rulegen::rules::ops::{OpSig, SigTy};
use smallvec::{SmallVec, smallvec};
use std::collections::BTreeMap;

/// A script for a solver: `unsat` shows that the instance is sound under the claim. `Err` says what can't be asked.
pub fn question(
    set: &RuleSet,
    rule: &Rule,
    bits: &[u8],
    claim: Claim,
    detail: Detail,
) -> Result<String, String> {
    let mut asked = Asked::new(set, rule, bits, claim, detail);
    let goal = asked.violation()?;
    Ok(asked.t.script(goal))
}

/// Values of nodes under one way of choosing.
type Memo = BTreeMap<NodeId, Value>;

struct Asked<'a> {
    set: &'a RuleSet,
    rule: &'a Rule,
    bits: &'a [u8],
    claim: Claim,
    detail: Detail,
    t: Terms,
    choices: Choices,
    /// Values of the inputs.
    inputs: Vec<Value>,
    /// Nodes of the pattern that are the same term stand for one instruction.
    same: Vec<NodeId>,
    /// Nodes of the pattern that several operands are.
    shared: Vec<bool>,
    /// Values of bound operations that a replacement uses: both sides see them.
    bound: Memo,
    /// Where computed constants have a value.
    defined: Vec<Term>,
}

impl<'a> Asked<'a> {
    fn new(
        set: &'a RuleSet,
        rule: &'a Rule,
        bits: &'a [u8],
        claim: Claim,
        detail: Detail,
    ) -> Asked<'a> {
        let (same, shared) = instructions(rule);
        let mut asked = Asked {
            set,
            rule,
            bits,
            claim,
            t: Terms::default(),
            detail,
            choices: Choices::new(if detail == Detail::Laws { 256 } else { 16 }),
            inputs: Vec::new(),
            same,
            shared,
            bound: Memo::new(),
            defined: Vec::new(),
        };
        for (v, var) in rule.vars.iter().enumerate() {
            let (w, comps) = (u32::from(bits[var.class]), asked.comps(var.comps));
            let mut value = Value::new();
            for c in 0..comps {
                let bits = asked.t.constant(&format!("{}.{v}.{c}", var.name), Sort::Bits(w));
                let poison = (var.kind == VarKind::Value)
                    .then(|| asked.t.constant(&format!("{}.{v}.{c}.poison", var.name), Sort::Bool));
                value.push(Scalar { poison, ..Scalar::plain(bits) });
            }
            asked.inputs.push(value);
        }
        asked
    }

    /// Components of a node; generic ones are checked with one.
    fn comps(&self, comps: Comps) -> usize {
        match comps {
            Comps::Fixed(n) => n.into(),
            Comps::Generic => 1,
        }
    }

    /// Where the facts hold and some replacement may give what no way of the pattern gives.
    fn violation(&mut self) -> Result<Term, String> {
        let rule = self.rule;
        let mut holds: Vec<Term> = Vec::new();
        for fact in &rule.facts {
            holds.push(self.fact(fact)?);
        }
        // What both sides see was chosen before either is looked at.
        let used: Vec<NodeId> = rule.alts.iter().flat_map(|a| rule.reachable(a.term)).collect();
        let mut bound = Memo::new();
        for (v, var) in rule.vars.iter().enumerate() {
            let used =
                used.iter().any(|n| matches!(&rule.nodes[*n].kind, NodeKind::Var(w) if *w == v));
            if let (VarKind::Bound(node), true) = (var.kind, used) {
                let node = self.same[node];
                self.node(node, &mut bound, false)?;
                // It stays as it is matched, and may promise more than the pattern asks for.
                if let (true, Some(value)) = (self.may_promise(node), bound.get_mut(&node)) {
                    let broken = self.t.fresh("broken", Sort::Bool);
                    for s in value {
                        s.poison = either_flag(&mut self.t, &[s.poison, Some(broken)]);
                    }
                }
            }
        }
        self.bound = bound;
        let read = match rule.used {
            Some(node) => Some(self.node(node, &mut Memo::new(), false)?),
            None => None,
        };
        let common = self.defined.clone();
        // A constant that has no value keeps the rule from firing.
        let mut afters = Vec::new();
        for alt in &rule.alts {
            self.defined.clear();
            let after = self.node(alt.term, &mut Memo::new(), false)?;
            let fires = self.defined.clone();
            afters.push((after, self.t.all(&fires)));
        }
        self.choices.taking = Taking::ByScript;
        let mut allowed = Vec::new();
        loop {
            let mut memo = self.bound.clone();
            let before = self.node(rule.pattern, &mut memo, true)?;
            if !allowed.contains(&before) {
                allowed.push(before);
            }
            if !self.choices.turn() {
                break;
            }
        }
        let mut wrong = Vec::new();
        for (after, fires) in afters {
            let mut none = vec![fires];
            for before in &allowed {
                let covered = self.covers(before, &after, read.as_ref());
                none.push(self.t.not(covered));
            }
            wrong.push(self.t.all(&none));
        }
        holds.extend(common);
        holds.push(self.t.some(&wrong));
        Ok(self.t.all(&holds))
    }

    /// Whether a matched operation may carry a promise that the pattern doesn't ask for.
    fn may_promise(&self, id: NodeId) -> bool {
        match &self.rule.nodes[id].kind {
            NodeKind::Op { op, promises, .. } => self.set.ops.get(*op).promises & !promises != 0,
            _ => false,
        }
    }

    /// Whether one result of the pattern allows the replacement's.
    fn covers(&mut self, before: &Value, after: &Value, read: Option<&Value>) -> Term {
        let mut all = Vec::new();
        // Where a replacement is a vector that is chosen as a whole, poison of the pattern is too.
        for (i, (b, a)) in before.iter().zip(after).enumerate() {
            let (mut x, mut y) = (b.bits, a.bits);
            if let Some(read) = read {
                let mask = read[i.min(read.len() - 1)].bits;
                (x, y) = (self.t.bv("bvand", &[x, mask]), self.t.bv("bvand", &[y, mask]));
            }
            let mut ways = vec![self.t.equal(x, y)];
            if let Some(nan) = b.nan {
                let is_nan = prims::is(&mut self.t, "fp.isNaN", a.bits);
                ways.push(self.t.all(&[nan, is_nan]));
            }
            ways.extend(b.any);
            let mut same = self.t.some(&ways);
            if let Some(poison) = a.poison {
                let sound = self.t.not(poison);
                same = self.t.all(&[sound, same]);
            }
            let ways: SmallVec<[Term; 2]> = b.poison.into_iter().chain([same]).collect();
            all.push(self.t.some(&ways));
        }
        self.t.all(&all)
    }

    /// An expression as the folder evaluates it.
    fn folded(&mut self, e: &Expr, width: u8, vars: Vec<Option<Value>>) -> Value {
        let floats = Floats::Folded(self.claim.first());
        self.evaluate(e, width, vars, floats, (usize::MAX, 0))
    }

    fn evaluate(
        &mut self,
        e: &Expr,
        width: u8,
        vars: Vec<Option<Value>>,
        floats: Floats,
        owner: (usize, usize),
    ) -> Value {
        let detail = self.detail;
        let (t, choices) = (&mut self.t, &mut self.choices);
        Evaluator { t, choices, floats, detail, owner, width, vars }.eval(e)
    }

    /// Where a fact holds. Of poison every one does.
    fn fact(&mut self, fact: &FactUse) -> Result<Term, String> {
        let body = &self.set.facts[fact.fact].body;
        let mut args = Vec::new();
        for arg in &fact.args {
            args.push(self.node(*arg, &mut Memo::new(), false)?);
        }
        let mut all = std::mem::take(&mut self.defined);
        let comps = args.iter().map(|a| a.len()).max().unwrap_or(1);
        for i in 0..comps {
            let vars = args.iter().map(|a| Some(smallvec![a[i.min(a.len() - 1)]])).collect();
            let value = self.folded(body, self.bits[fact.bits], vars)[0];
            all.push(match value.poison {
                Some(poison) => self.t.some(&[poison, value.bits]),
                None => value.bits,
            });
        }
        Ok(self.t.all(&all))
    }

    fn node(&mut self, id: NodeId, memo: &mut Memo, before: bool) -> Result<Value, String> {
        let id = self.same[id];
        let rule = self.rule;
        let node = &rule.nodes[id];
        let bits = self.bits[node.class];
        let comps = self.comps(node.comps);
        let value: Value = match &node.kind {
            NodeKind::Var(v) => match rule.vars[*v].kind {
                VarKind::Bound(of) => {
                    let of = self.same[of];
                    let value = self.bound.get(&of).cloned();
                    self.swizzled(value.ok_or("a bound operation has no value")?, of)
                }
                VarKind::Value | VarKind::Const => self.inputs[*v].clone(),
            },
            NodeKind::Ref(inner) => self.node(*inner, memo, before)?,
            NodeKind::Outside { .. } => return Err("it isn't arithmetic".into()),
            NodeKind::Undef => (0..comps).map(|c| self.undef(id, c, bits)).collect(),
            NodeKind::Literal(value, base) => {
                let one = self.literal(value, *base, bits, id)?;
                smallvec![one; comps]
            }
            NodeKind::Compute { expr, args, bits: class } => {
                let mut values = Vec::new();
                for arg in args {
                    values.push(self.node(*arg, memo, before)?);
                }
                let width = self.bits[*class];
                (0..comps).map(|i| self.computed(expr, width, bits, &values, i)).collect()
            }
            NodeKind::Op { .. } => {
                let done = match memo.get(&id) {
                    Some(done) => done.clone(),
                    None => {
                        let mut value = self.op(id, memo, before)?;
                        if before && self.shared[id] {
                            value.iter_mut().for_each(settle);
                        }
                        memo.insert(id, value.clone());
                        value
                    }
                };
                return Ok(self.swizzled(done, id));
            }
        };
        Ok(self.swizzled(value, id))
    }

    fn swizzled(&self, value: Value, id: NodeId) -> Value {
        // The swizzle of a per-component operation was applied to its operands.
        let per_component = match &self.rule.nodes[id].kind {
            NodeKind::Op { op, .. } => self.set.ops.get(*op).output.comps == 0,
            _ => false,
        };
        match &self.rule.nodes[id].swizzle {
            Some(s) if !per_component => s.iter().map(|c| value[usize::from(*c)]).collect(),
            _ => value,
        }
    }

    fn undef(&mut self, id: NodeId, comp: usize, bits: u8) -> Scalar {
        let place = Place { site: (usize::MAX - 1, bits.into()), operands: Vec::new() };
        let term = self.choices.any(&mut self.t, (id, comp), place, Sort::Bits(bits.into()));
        let any = (self.choices.taking == Taking::ByScript).then(|| self.t.truth(true));
        Scalar { any, ..Scalar::plain(term) }
    }

    fn literal(
        &mut self,
        value: &Literal,
        base: Base,
        bits: u8,
        id: NodeId,
    ) -> Result<Scalar, String> {
        let w = u32::from(bits);
        match value {
            Literal::Float(v) if f64::from_bits(*v).is_nan() => {
                let place = Place { site: (usize::MAX - 2, bits.into()), operands: Vec::new() };
                let term = self.choices.any(&mut self.t, (id, 0), place, Sort::Bits(w));
                let is_nan = prims::is(&mut self.t, "fp.isNaN", term);
                self.t.assert(is_nan);
                let nan = (self.choices.taking == Taking::ByScript).then(|| self.t.truth(true));
                Ok(Scalar { nan, ..Scalar::plain(term) })
            }
            other => {
                let value = other.encode(base, bits).map_err(|_| "a literal doesn't fit")?;
                Ok(Scalar::plain(self.t.bits(w, value)))
            }
        }
    }

    /// A component of a computed constant.
    fn computed(&mut self, e: &Expr, width: u8, bits: u8, args: &[Value], i: usize) -> Scalar {
        let vars = args.iter().map(|a| Some(smallvec![a[i.min(a.len() - 1)]])).collect();
        let value = self.folded(e, width, vars)[0];
        for none in [value.any, value.poison].into_iter().flatten() {
            let some = self.t.not(none);
            self.defined.push(some);
        }
        let term = match self.t.sort(value.bits) {
            Sort::Bool => self.truth_bits(value.bits, bits.into()),
            _ => value.bits,
        };
        Scalar::plain(term)
    }

    /// All ones or 0.
    fn truth_bits(&mut self, truth: Term, w: u32) -> Term {
        let (ones, zero) = (self.t.bits(w, u64::MAX), self.t.bits(w, 0));
        self.t.ite(truth, ones, zero)
    }

    fn op(&mut self, id: NodeId, memo: &mut Memo, before: bool) -> Result<Value, String> {
        let rule = self.rule;
        let NodeKind::Op { op, promises, args, .. } = &rule.nodes[id].kind else {
            return Err("no operation".into());
        };
        let set = self.set;
        let sig = set.ops.get(*op);
        let mut operands: SmallVec<[Value; 4]> = SmallVec::new();
        for (i, arg) in args.iter().enumerate() {
            let mut value = self.node(*arg, memo, before)?;
            if reads_twice(sig, i) {
                value.iter_mut().for_each(settle);
            }
            operands.push(value);
        }
        let licences = if sig.float { rule.licences } else { 0 };
        let call = Call {
            sig,
            id,
            width: self.width(id, sig, args),
            bits: self.bits[rule.nodes[id].class],
            alike: args
                .iter()
                .map(|a| args.iter().position(|b| equal_terms(rule, *b, *a)).unwrap_or(0))
                .collect(),
            flags: promises | licences,
        };
        if sig.output.comps != 0 {
            return self.result(&call, &operands, 0);
        }
        let mut out = Value::new();
        for c in 0..self.comps(rule.nodes[id].comps) {
            let slice: SmallVec<[Value; 4]> = operands
                .iter()
                .zip(&sig.inputs)
                .map(|(v, ty)| match ty.comps {
                    0 => smallvec![v[c.min(v.len() - 1)]],
                    _ => v.clone(),
                })
                .collect();
            let mut value = self.result(&call, &slice, c)?[0];
            if licences & flags::CONTRACT != 0 {
                value = self.contracted(&call, args, (memo, c), value, &slice, before)?;
            }
            out.push(value);
        }
        Ok(out)
    }

    /// The unsized width of an operation.
    fn width(&self, id: NodeId, sig: &OpSig, args: &[NodeId]) -> u8 {
        match sig.inputs.iter().position(|t| t.bits == 0) {
            _ if sig.output.bits == 0 => self.bits[self.rule.nodes[id].class],
            Some(i) => self.bits[self.rule.nodes[args[i]].class],
            None => 0,
        }
    }

    /// What an operation may give, of one component where it works per component.
    fn result(
        &mut self,
        call: &Call<'_>,
        operands: &[Value],
        comp: usize,
    ) -> Result<Value, String> {
        let sig = call.sig;
        let float = sig.float && !is_move(call, operands, &self.t);
        let floats = if float { Floats::Free(self.claim) } else { Floats::Exact };
        let owner = (call.id, comp);
        // The step itself does what there is to be done.
        let is_step = sig.eval.as_ref().is_some_and(|e| is_outermost_step(e));
        let given: SmallVec<[Value; 4]> = operands.iter().cloned().collect();
        let mut operands = given.clone();
        let all: Vec<Term> = given.iter().flatten().map(|s| s.bits).collect();
        let site = |which: usize| (std::ptr::from_ref(sig) as usize, which);
        for i in 0..operands.len() {
            if sig.inputs[i].base != Base::Float {
                continue;
            }
            let first = call.alike[i];
            if call.flags & flags::NSZ != 0 {
                for s in &mut operands[i] {
                    let place = Place { site: site(first), operands: all.clone() };
                    let flips = self.choices.either(&mut self.t, owner, place);
                    s.bits = self.zero_flipped(s.bits, flips);
                }
            }
            if float && !is_step && self.claim.denorm != Denorm::Keep {
                for s in &mut operands[i] {
                    let place = Place { site: site(16 + first), operands: all.clone() };
                    let flushes = self.choices.either(&mut self.t, owner, place);
                    let flushed = prims::flushed(&mut self.t, s.bits);
                    s.bits = self.t.ite(flushes, flushed, s.bits);
                }
            }
        }
        let mut value = self.computes(call, &operands, floats, owner)?;
        if call.flags & flags::ARCP != 0 && sig.name == "fdiv" {
            let place = Place { site: site(40), operands: all.clone() };
            let by_reciprocal = self.choices.either(&mut self.t, owner, place);
            let other = self.reciprocal(call, &given, comp)?;
            value = value
                .iter()
                .zip(&other)
                .map(|(v, o)| chosen(&mut self.t, by_reciprocal, *o, *v))
                .collect();
        }
        if sig.output.base == Base::Float {
            for s in &mut value {
                if float && !is_step {
                    s.bits = self.flushed_result(s.bits, owner, site(41), &all);
                }
                if call.flags & flags::NSZ != 0 {
                    let place = Place { site: site(42), operands: all.clone() };
                    let flips = self.choices.either(&mut self.t, owner, place);
                    s.bits = self.zero_flipped(s.bits, flips);
                }
            }
        }
        let broken = self.broken(call, &given, &value);
        for s in &mut value {
            s.poison = either_flag(&mut self.t, &[s.poison, broken]);
        }
        Ok(value)
    }

    /// A result that is no arithmetic, a minimum, say: flushed where results are.
    fn flushed_result(
        &mut self,
        bits: Term,
        owner: (usize, usize),
        site: (usize, usize),
        all: &[Term],
    ) -> Term {
        let flushed = match self.claim.denorm {
            Denorm::Keep => return bits,
            _ => prims::flushed(&mut self.t, bits),
        };
        if self.claim.denorm == Denorm::Flush {
            return flushed;
        }
        let place = Place { site, operands: all.to_vec() };
        let flushes = self.choices.either(&mut self.t, owner, place);
        self.t.ite(flushes, flushed, bits)
    }

    /// A zero with its sign inverted if `flips`; other values as they are.
    fn zero_flipped(&mut self, bits: Term, flips: Term) -> Term {
        let is_zero = prims::is(&mut self.t, "fp.isZero", bits);
        let both = self.t.all(&[is_zero, flips]);
        let other = prims::float_neg(&mut self.t, bits);
        self.t.ite(both, other, bits)
    }

    /// The definition on operands.
    fn computes(
        &mut self,
        call: &Call<'_>,
        operands: &[Value],
        floats: Floats,
        owner: (usize, usize),
    ) -> Result<Value, String> {
        let sig = call.sig;
        let Some(eval) = &sig.eval else { return Ok(smallvec![self.opaque(call, operands)]) };
        let vars = operands.iter().zip(&sig.inputs);
        let vars = vars.map(|(v, ty)| Some(self.as_operand(v, ty))).collect();
        let mut value = self.evaluate(eval, call.width, vars, floats, owner);
        for s in &mut value {
            if self.t.sort(s.bits) == Sort::Bool {
                s.bits = self.truth_bits(s.bits, call.bits.into());
            }
        }
        // Poison spreads, but for an arm that is not chosen and for bits that another operand decides.
        if !sig.moves {
            let flags: Vec<Option<Term>> = operands.iter().flatten().map(|s| s.poison).collect();
            let mut poison = either_flag(&mut self.t, &flags);
            let absorbing = match sig.name.as_str() {
                "iand" => Some(0),
                "ior" => Some(u64::MAX),
                _ => None,
            };
            if let (Some(some), Some(absorbing)) = (poison, absorbing) {
                poison = Some(self.unless_absorbed(some, absorbing, operands));
                value.iter_mut().for_each(|s| s.poison = None);
            }
            for s in &mut value {
                s.poison = either_flag(&mut self.t, &[s.poison, poison]);
            }
        }
        Ok(value)
    }

    /// Poison, but where an operand that isn't has the bits that decide the result.
    fn unless_absorbed(&mut self, poison: Term, absorbing: u64, operands: &[Value]) -> Term {
        let mut all = vec![poison];
        for s in operands.iter().flatten() {
            let value = self.t.bits(self.t.width(s.bits), absorbing);
            let mut decides = self.t.equal(s.bits, value);
            if let Some(poison) = s.poison {
                let sound = self.t.not(poison);
                decides = self.t.all(&[sound, decides]);
            }
            all.push(self.t.not(decides));
        }
        self.t.all(&all)
    }

    /// Bools of any size are true or false in expressions.
    fn as_operand(&mut self, value: &Value, ty: &SigTy) -> Value {
        let truth = |s: &Scalar| match ty.base {
            Base::Bool => Scalar { bits: self.t.nonzero(s.bits), ..*s },
            _ => *s,
        };
        value.iter().map(truth).collect()
    }

    /// A derivative needs the neighbours' operands: some function of its own, never NaN or infinite.
    fn opaque(&mut self, call: &Call<'_>, operands: &[Value]) -> Scalar {
        let args: Vec<Term> = operands.iter().flatten().map(|s| s.bits).collect();
        let w = u32::from(call.bits);
        let name = format!("{}_{w}", call.sig.name);
        let term = self.t.unknown(&name, &args, Sort::Bits(w));
        for class in ["fp.isNaN", "fp.isInfinite"] {
            let is = prims::is(&mut self.t, class, term);
            let not = self.t.not(is);
            self.t.assert(not);
        }
        let flags: Vec<Option<Term>> = operands.iter().flatten().map(|s| s.poison).collect();
        Scalar { poison: either_flag(&mut self.t, &flags), ..Scalar::plain(term) }
    }

    /// `a / b` as `a * (1 / b)`.
    fn reciprocal(
        &mut self,
        call: &Call<'_>,
        operands: &[Value],
        comp: usize,
    ) -> Result<Value, String> {
        let set = self.set;
        let (Some(mul), Some(rcp)) = (set.ops.find("fmul"), set.ops.find("frcp")) else {
            return Err("there is no fmul or no frcp".into());
        };
        let sub = |op: usize, n: usize, part: usize| Call {
            sig: set.ops.get(op),
            id: self.rule.nodes.len() * part + call.id,
            width: call.width,
            bits: call.bits,
            alike: (0..n).collect(),
            flags: call.flags & flags::NSZ,
        };
        let (mul, rcp) = (sub(mul, 2, 1), sub(rcp, 1, 2));
        let inner = self.result(&rcp, &operands[1..2], comp)?;
        self.result(&mul, &[operands[0].clone(), inner], comp)
    }

    /// A sum of a product, computed as one operation or as two.
    fn contracted(
        &mut self,
        call: &Call<'_>,
        args: &[NodeId],
        (memo, comp): (&mut Memo, usize),
        mut value: Scalar,
        operands: &[Value],
        before: bool,
    ) -> Result<Scalar, String> {
        let (rule, set) = (self.rule, self.set);
        let (Some(fma), "fadd" | "fsub") = (set.ops.find("ffma"), call.sig.name.as_str()) else {
            return Ok(value);
        };
        for (i, arg) in args.iter().enumerate() {
            let arg = self.same[*arg];
            let name_of = |id: NodeId| match &rule.nodes[id].kind {
                NodeKind::Op { op, args, .. } => Some((set.ops.get(*op).name.as_str(), args)),
                _ => None,
            };
            let (mut product, mut negated) = (arg, false);
            if let Some(("fneg", inner)) = name_of(arg) {
                (product, negated) = (self.same[inner[0]], true);
            }
            let Some(("fmul", factors)) = name_of(product) else { continue };
            let mut list = Vec::new();
            for factor in factors {
                let value = self.node(*factor, memo, before)?;
                list.push(value[comp.min(value.len() - 1)]);
            }
            let mut addend = operands[1 - i][0];
            match (call.sig.name.as_str(), i) {
                ("fsub", 0) => addend.bits = prims::float_neg(&mut self.t, addend.bits),
                ("fsub", _) => negated = !negated,
                _ => {}
            }
            if negated {
                list[0].bits = prims::float_neg(&mut self.t, list[0].bits);
            }
            let fused = Call {
                sig: set.ops.get(fma),
                id: rule.nodes.len() * (3 + i) + call.id,
                width: call.width,
                bits: call.bits,
                alike: smallvec![0, 1, 2],
                flags: 0,
            };
            let list: Vec<Value> = list.into_iter().chain([addend]).map(|s| smallvec![s]).collect();
            let all: Vec<Term> = list.iter().flatten().map(|s| s.bits).collect();
            let fused = self.result(&fused, &list, comp)?[0];
            let place =
                Place { site: (std::ptr::from_ref(call.sig) as usize, 60 + i), operands: all };
            let fuses = self.choices.either(&mut self.t, (call.id, comp), place);
            value = chosen(&mut self.t, fuses, fused, value);
        }
        Ok(value)
    }

    /// Where a promise on the operation is broken.
    fn broken(&mut self, call: &Call<'_>, operands: &[Value], result: &Value) -> Option<Term> {
        let sig = call.sig;
        let mut ways: Vec<Option<Term>> = Vec::new();
        for (flag, class) in [(flags::NNAN, "fp.isNaN"), (flags::NINF, "fp.isInfinite")] {
            if call.flags & flag == 0 {
                continue;
            }
            let floats = operands.iter().zip(&sig.inputs).filter(|(_, ty)| ty.base == Base::Float);
            let mut list: Vec<Scalar> = floats.flat_map(|(v, _)| v.iter().copied()).collect();
            if sig.output.base == Base::Float {
                list.extend(result);
            }
            for s in list {
                ways.push(Some(prims::is(&mut self.t, class, s.bits)));
            }
        }
        for (flag, e) in [(flags::DOM, &sig.dom), (flags::NSW, &sig.nsw), (flags::NUW, &sig.nuw)] {
            let Some(e) = e.as_ref().filter(|_| call.flags & flag != 0) else { continue };
            let vars = operands.iter().zip(&sig.inputs);
            let vars = vars.map(|(v, ty)| Some(self.as_operand(v, ty))).collect();
            let kept = self.folded(e, call.width, vars)[0];
            ways.push(Some(self.t.not(kept.bits)));
        }
        either_flag(&mut self.t, &ways)
    }
}

/// An operation of a rule.
struct Call<'a> {
    sig: &'a OpSig,
    /// The node, or another number for what an operation is computed by.
    id: usize,
    /// Unsized width.
    width: u8,
    /// Bits of the result.
    bits: u8,
    /// By operand the first that is the same value.
    alike: SmallVec<[usize; 4]>,
    flags: u16,
}

/// Whether a conversion has the size of its operand: a move (semantics 23).
fn is_move(call: &Call<'_>, operands: &[Value], t: &Terms) -> bool {
    let [input] = call.sig.inputs.as_slice() else { return false };
    let both = input.base == Base::Float && call.sig.output.base == Base::Float;
    let casts = call.sig.eval.as_ref().is_some_and(|e| match &e.kind {
        ExprKind::Cast(_) => true,
        ExprKind::Call(p, _) => matches!(p, Prim::RoundToF16Rtne | Prim::RoundToF16Rtz),
        _ => false,
    });
    both && casts && t.width(operands[0][0].bits) == u32::from(call.bits)
}

/// Takes the bits there are where several see them.
fn settle(s: &mut Scalar) {
    (s.nan, s.any) = (None, None);
}
