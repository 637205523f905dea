//! What compiled matchers work with: tests on the code around an instruction, and the building of replacements.
//!
//! Matching allocates nothing. A matcher looks, then asks [`Rewriter::begin`], then builds, then calls
//! [`Rewriter::replace`]; nothing is built before every test has passed.
//!
//! What matchers call from thousands of places isn't marked for inlining: compiling them took twice as long.

use crate::chain::Chain;
use crate::driver::Queue;
use crate::facts::Memo;
use crate::facts::abs::{self, Abs, Env};
use crate::ruleset::{RuleSet, Watch};
use crate::target::Target;
use crate::turn::Turn;
use deburr_ir_core::{
    AluOp, AluSrc, Builder, Cursor, Def, Denorm, Dominance, Flags, Function, Index, Instr,
    InstrKind, Intrinsic, Rounding, Swizzle, User,
};
use smallvec::SmallVec;
use std::collections::VecDeque;

/// A value as a pattern sees it: a def, and the components taken of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Val {
    /// The def.
    pub def: Def,
    /// The component of the def that each component takes.
    pub swizzle: Swizzle,
}

impl From<Def> for Val {
    fn from(def: Def) -> Val {
        Val { def, swizzle: Swizzle::IDENTITY }
    }
}

impl Val {
    /// The value as it is seen through the swizzle of what uses it.
    #[must_use]
    #[inline]
    pub fn through(self, outer: Swizzle) -> Val {
        Val { def: self.def, swizzle: outer.compose(self.swizzle) }
    }

    /// The listed components of the value.
    #[must_use]
    pub fn swz(self, comps: &[u8]) -> Val {
        self.through(Swizzle::new(comps))
    }
}

/// Says that the code that calls it seldom runs, so that it stands apart from what always does: of the arms of a matcher
/// few are entered, and the tests in front of them fit into a few cache lines.
#[cold]
#[inline]
pub fn seldom() {}

/// A function under rewriting.
pub struct Rewriter<'f> {
    pub(crate) f: &'f mut Function,
    pub(crate) rules: &'f RuleSet,
    target: &'f Target,
    /// Options of the target by number.
    options: u64,
    /// Rules that are switched off, by number; empty if none is.
    pub(crate) disabled: Vec<bool>,
    pub(crate) facts: Memo,
    pub(crate) queue: Queue,
    /// The root that is being matched.
    pub(crate) at: Instr,
    /// The first instruction that the rule which is at work may have made.
    begun: usize,
    /// Where what replaces it is built, if that is not in front of it.
    pub(crate) cursor: Option<Cursor>,
    /// What may let a rule of the group fire.
    pub(crate) watch: Watch,
    /// Which blocks dominate which, once a rule asked.
    pub(crate) dominance: Option<Dominance>,
    pub(crate) log: crate::driver::Log,
}

impl<'f> Rewriter<'f> {
    pub(crate) fn new(
        f: &'f mut Function,
        rules: &'f RuleSet,
        watch: Watch,
        target: &'f Target,
        disabled: Vec<bool>,
        log: crate::driver::Log,
    ) -> Self {
        let on = rules.options.iter().enumerate().filter(|(_, o)| target.has_option(o));
        let options = on.fold(0, |all, (i, _)| all | 1 << i.min(63));
        let queue = Queue::of(f);
        Rewriter {
            f,
            rules,
            target,
            options,
            disabled,
            facts: Memo::default(),
            queue,
            at: Instr::from_index(0),
            begun: 0,
            cursor: None,
            watch,
            dominance: None,
            log,
        }
    }

    // ---- looking

    /// The function.
    pub fn func(&self) -> &Function {
        self.f
    }

    /// Components of an instruction's value.
    pub fn comps(&self, instr: Instr) -> u8 {
        self.f.comps(instr.def())
    }

    /// Operand `n`.
    pub fn arg(&self, instr: Instr, n: usize) -> Val {
        Val { def: self.f.src(instr, n), swizzle: self.f.swizzle(instr, n) }
    }

    /// Operand `n` of the operation by component that defines a value, as it is seen through the value.
    pub fn under(&self, v: Val, n: usize) -> Val {
        self.arg(v.def.instr(), n).through(v.swizzle)
    }

    /// The instruction that defines a value, if it has this opcode.
    pub fn alu(&self, v: Val, op: AluOp) -> Option<Instr> {
        let instr = v.def.instr();
        (self.f.alu_op(instr) == Some(op)).then_some(instr)
    }

    /// Whether the value takes exactly these components of its def.
    pub fn takes(&self, v: Val, comps: &[u8]) -> bool {
        comps.iter().enumerate().all(|(i, c)| v.swizzle.get(i) == *c)
    }

    /// Whether the first `comps` components are equal.
    pub fn same(&self, a: Val, b: Val, comps: u8) -> bool {
        if a.def == b.def {
            return a.swizzle == b.swizzle || self.same_components(a, b, comps);
        }
        self.is_const(a) && self.is_const(b) && self.same_components(a, b, comps)
    }

    /// The same where the components themselves are to be looked at.
    fn same_components(&self, a: Val, b: Val, comps: u8) -> bool {
        a.def == b.def && a.swizzle.agrees(b.swizzle, comps)
            || match (self.f.constant(a.def), self.f.constant(b.def)) {
                (Some(x), Some(y)) => {
                    self.f.bits(a.def) == self.f.bits(b.def)
                        && a.swizzle
                            .iter(comps)
                            .zip(b.swizzle.iter(comps))
                            .all(|(i, j)| x.get(usize::from(i)) == y.get(usize::from(j)))
                }
                _ => false,
            }
    }

    /// An instruction's value as a term of three levels, in the syntax of rules.
    pub fn term(&self, instr: Instr) -> String {
        crate::trace::Terms::new(self.f).of(instr.def(), deburr_ir_core::BaseType::Int)
    }

    /// Bit size of a value.
    pub fn bits(&self, v: Val) -> u8 {
        self.f.bits(v.def)
    }

    /// Flags of an instruction.
    pub fn flags(&self, instr: Instr) -> Flags {
        self.f.flags(instr)
    }

    /// Whether the value is a constant.
    pub fn is_const(&self, v: Val) -> bool {
        self.f.kind(v.def.instr()) == InstrKind::LoadConst
    }

    /// Whether the value is a constant with this pattern in its first `comps` components.
    pub fn is_bits(&self, v: Val, comps: u8, bits: u64) -> bool {
        let Some(values) = self.f.constant(v.def) else { return false };
        let is = |n: usize| values.get(usize::from(v.swizzle.get(n))) == Some(&bits);
        is(0) && (1..usize::from(comps)).all(is)
    }

    /// What an operand that the turn shows is in each component, if it is a constant that is the same in all.
    #[inline]
    pub fn uniform(&self, turn: &Turn, n: usize) -> Option<u64> {
        match turn.kinds[n] {
            Turn::CONST => self.uniform_constant(turn.args[n], turn.comps),
            _ => None,
        }
    }

    fn uniform_constant(&self, v: Val, comps: u8) -> Option<u64> {
        let values = self.f.constant(v.def)?;
        if let [only] = values {
            return Some(*only);
        }
        let at = |n: u8| values.get(usize::from(v.swizzle.get(n.into()))).copied();
        let first = at(0)?;
        (1..comps).all(|n| at(n) == Some(first)).then_some(first)
    }

    /// Whether the value is undefined, and nothing but `root` can see what is chosen for it: one operand uses it, each of the
    /// `comps` components is another of it, and it is there anew each time that `root` is.
    pub fn is_undef(&self, v: Val, root: Instr, comps: u8) -> bool {
        let instr = v.def.instr();
        let taken: SmallVec<[u8; 4]> = v.swizzle.iter(comps).collect();
        let loop_of = |i: Instr| self.f.block_of(i).and_then(|b| self.f.innermost_loop(b));
        self.f.kind(instr) == InstrKind::Undef
            && self.f.has_one_use(v.def)
            && (1..taken.len()).all(|i| !taken[..i].contains(&taken[i]))
            && loop_of(instr) == loop_of(root)
    }

    /// Whether the value is a constant NaN in its first `comps` components.
    pub fn is_nan(&self, v: Val, comps: u8) -> bool {
        let bits = u32::from(self.f.bits(v.def));
        let Some(values) = self.f.constant(v.def) else { return false };
        let is_nan = |x: &u64| deburr_ir_core::fold::prim::is_nan(bits, *x);
        v.swizzle.iter(comps).all(|c| values.get(usize::from(c)).is_some_and(is_nan))
    }

    /// Whether the function's float environment at a size (0: at every size) is one of the sets: bit 0 keep or rte,
    /// bit 1 flush or rtz, bit 2 any.
    pub fn env(&self, bits: u8, denorm: u8, rounding: u8) -> bool {
        let env = self.f.float_env;
        let one = |bits: u32| {
            let d = match env.denorm(bits) {
                Denorm::Keep => 1,
                Denorm::Flush => 2,
                Denorm::Any => 4,
            };
            let r = match env.rounding(bits) {
                Rounding::Rte => 1,
                Rounding::Rtz => 2,
                Rounding::Any => 4,
            };
            d & denorm != 0 && r & rounding != 0
        };
        match bits {
            0 => [16, 32, 64].into_iter().all(one),
            n => one(n.into()),
        }
    }

    /// Whether a target option is on.
    pub fn option(&self, index: usize) -> bool {
        self.options >> index.min(63) & 1 != 0
    }

    /// What the target is called.
    pub fn target_name(&self) -> &str {
        &self.target.name
    }

    /// Whether a target option is on, by name.
    pub fn has_option(&self, name: &str) -> bool {
        self.target.has_option(name)
    }

    /// Whether the target has an opcode at a width.
    pub fn legal(&self, op: AluOp, bits: u8) -> bool {
        self.f.dialects.alu(op).is_some_and(|info| self.target.legal_info(op, info, bits))
    }

    /// Whether the target has an intrinsic that gives so many bits, with these const indices.
    pub fn legal_intrinsic(
        &self,
        intrinsic: Intrinsic,
        bits: u8,
        indices: &[(Index, u32)],
    ) -> bool {
        let info = self.f.dialects.intrinsic(intrinsic);
        info.is_some_and(|info| self.target.legal_intrinsic(intrinsic, info, bits, indices))
    }

    /// Whether exactly one operand uses the value's def.
    pub fn once(&self, v: Val) -> bool {
        self.f.has_one_use(v.def)
    }

    /// Whether all that uses the value's def are operations of the match which go with its root, the first of them: the
    /// root itself, or one all of whose users are such. Parts of chains have no other users.
    pub fn dies(&self, v: Val, matched: &[Instr], chains: &[&Chain]) -> bool {
        let in_chain = |i: &Instr| chains.iter().any(|chain| chain.parts().contains(i));
        let mut going: SmallVec<[Def; 8]> = SmallVec::from_slice(&[v.def]);
        let mut at = 0;
        while let Some(&def) = going.get(at) {
            at += 1;
            for user in self.f.uses(def) {
                let User::Instr(i) = user.user() else { return false };
                if !matched.contains(&i) && !in_chain(&i) {
                    return false;
                }
                if Some(&i) != matched.first() && !going.contains(&i.def()) {
                    going.push(i.def());
                }
            }
        }
        true
    }

    /// How many operands use the value's def, counted up to `most`.
    pub fn uses(&self, v: Val, most: u32) -> u32 {
        self.f.uses(v.def).take(most as usize).count() as u32
    }

    /// Whether all that uses the value's def are operations of these opcodes, so many times at most.
    pub fn only_used_as(&self, v: Val, ops: &[AluOp], most: usize) -> bool {
        let mut left = most;
        self.f.uses(v.def).all(|u| {
            let counts = left > 0;
            left = left.saturating_sub(1);
            counts
                && match u.user() {
                    User::Instr(i) => self.f.alu_op(i).is_some_and(|op| ops.contains(&op)),
                    User::If(_) => false,
                }
        })
    }

    // ---- constants and facts

    /// The environment for facts.
    pub fn fact_env(&self) -> Env {
        Env { float: self.f.float_env, folding: false }
    }

    /// The environment for computing constants.
    pub fn fold_env(&self) -> Env {
        Env { float: self.f.float_env, folding: true }
    }

    /// Component `i` of a constant.
    pub fn component(&self, v: Val, i: usize) -> Abs {
        let bits = u32::from(self.f.bits(v.def));
        let value = match self.f.constant(v.def) {
            Some([only]) => Some(only),
            Some(values) => values.get(usize::from(v.swizzle.get(i))),
            None => None,
        };
        value.map_or(abs::top(bits), |c| abs::int(bits, *c))
    }

    /// What is known of component `i` of a value.
    pub fn known(&mut self, v: Val, i: usize) -> Abs {
        if self.is_const(v) {
            return self.component(v, i);
        }
        self.facts.of_component(self.f, self.rules, v.def, v.swizzle.get(i))
    }

    /// Whether something surely holds for each of the first `comps` components.
    pub fn holds(&mut self, comps: u8, mut test: impl FnMut(&mut Self, usize) -> Abs) -> bool {
        (0..usize::from(comps)).all(|i| abs::truth(test(self, i)) == Some(true))
    }

    /// Computes a constant by component; `None` where a component has no single value.
    pub fn constants(
        &mut self,
        comps: u8,
        mut value: impl FnMut(&mut Self, usize) -> Abs,
    ) -> Option<[u64; 16]> {
        let mut out = [0; 16];
        for (i, slot) in out.iter_mut().enumerate().take(usize::from(comps)) {
            *slot = value(self, i).exact()?;
        }
        Some(out)
    }

    // ---- building

    /// Says that a rule matched; false if it is switched off. Nothing is built before.
    pub fn begin(&mut self, rule: usize) -> bool {
        self.begun = self.f.instr_capacity();
        !self.disabled.get(rule).copied().unwrap_or(false)
    }

    pub(crate) fn builder(&mut self) -> Builder<'_> {
        Builder::new(self.f, self.cursor.unwrap_or(Cursor::Before(self.at)))
    }

    fn created(&mut self, def: Def) -> Val {
        self.queue.push(def.instr());
        Val::from(def)
    }

    /// A constant that is the same in every component.
    pub fn imm(&mut self, bits: u8, value: u64) -> Val {
        let def = self.builder().load_const(bits, &[value]);
        Val { def, swizzle: Swizzle::splat(0) }
    }

    /// A constant of so many components.
    pub fn imm_n(&mut self, bits: u8, comps: u8, values: &[u64; 16]) -> Val {
        let def = self.builder().load_const(bits, &values[..usize::from(comps).min(16)]);
        Val::from(def)
    }

    /// An undefined value.
    pub fn undef(&mut self, bits: u8, comps: u8) -> Val {
        Val::from(self.builder().undef(comps, bits))
    }

    /// An operation.
    pub fn build(&mut self, op: AluOp, comps: u8, flags: Flags, operands: &[Val]) -> Val {
        let srcs: SmallVec<[AluSrc; 4]> =
            operands.iter().map(|v| AluSrc { def: v.def, swizzle: v.swizzle }).collect();
        let mut builder = self.builder();
        builder.flags = flags;
        let def = builder.alu_instr(op, comps, &srcs).def();
        if self.watches_gains() {
            let defs: SmallVec<[Def; 4]> = operands.iter().map(|v| v.def).collect();
            self.gained_operands(&defs);
        }
        self.created(def)
    }

    /// Replaces the root by a value. Everything that the change may have enabled goes back on the list.
    pub fn replace(&mut self, rule: usize, root: Instr, value: Val) -> bool {
        let old = root.def();
        let comps = self.f.comps(old);
        let whole = self.f.comps(value.def) == comps && value.swizzle.is_identity(comps);
        let new = match whole {
            true => value.def,
            false => self.build(AluOp::MOV, comps, Flags::empty(), &[value]).def,
        };
        self.log.fired(self.f, rule, root, new);
        let made = self.begun..self.f.instr_capacity();
        if let (Some(origins), Some(info)) = (&mut self.f.origins, self.log.rules.get(rule)) {
            origins.note(old, info.name, made.map(|n| Instr::from_index(n).def()));
        }
        self.substitute(old, new);
        true
    }

    /// Makes every user of `old` use `new`, and removes what is dead.
    pub(crate) fn substitute(&mut self, old: Def, new: Def) {
        if old == new {
            return;
        }
        // Of what nothing was asked, everything was assumed.
        let all = abs::top(self.f.bits(old).into());
        let before = self.facts.cached(old).unwrap_or(all);
        self.enqueue_users(old);
        let users: SmallVec<[Def; 8]> = self.value_users(old);
        let moved = if self.watches_gains() { self.f.uses(old).count() } else { 0 };
        self.f.replace_all_uses(old, new);
        self.gained_uses(new, moved);
        if self.is_const(Val::from(new)) {
            users.iter().for_each(|user| self.reads_constant(user.instr()));
        }
        let is_asked = users.iter().any(|user| self.facts.cached(*user).is_some());
        // More may be known of some components of a load than of all.
        let by_component = self.f.kind(new.instr()) == InstrKind::Intrinsic;
        if is_asked && (by_component || before != self.facts.of(self.f, self.rules, new)) {
            self.sharpen(users);
        }
        match self.f.kind(old.instr()) {
            InstrKind::Alu => self.remove_dead(old.instr()),
            _ => self.remove_root(old.instr()),
        }
    }

    fn value_users(&self, def: Def) -> SmallVec<[Def; 8]> {
        let users = self.f.uses(def).filter_map(|u| match u.user() {
            User::Instr(i) => self.f.def(i),
            User::If(_) => None,
        });
        users.collect()
    }

    /// Computes facts again where operands became better known, or other values in bits that nobody reads, and puts on the
    /// list whom that may help.
    pub(crate) fn sharpen(&mut self, todo: SmallVec<[Def; 8]>) {
        let mut todo: VecDeque<Def> = todo.into_iter().collect();
        let mut budget = 256;
        while let Some(def) = todo.pop_front() {
            let Some(old) = self.facts.cached(def) else { continue };
            self.facts.forget(def);
            if budget == 0 {
                // What isn't computed again now may hold no longer.
                todo.extend(self.value_users(def));
                continue;
            }
            budget -= 1;
            if self.facts.of(self.f, self.rules, def) != old {
                self.enqueue_users(def);
                todo.extend(self.value_users(def));
            }
        }
    }

    /// Puts the users of a value on the list, and theirs, as deep as patterns reach.
    pub(crate) fn enqueue_users(&mut self, def: Def) {
        self.enqueue_levels(def, self.watch.depth);
    }

    /// Puts so many levels of users of a value on the list. The users of those that are on it already follow when these are
    /// visited.
    pub(crate) fn enqueue_levels(&mut self, def: Def, levels: u8) {
        let mut level: SmallVec<[Def; 8]> = SmallVec::from_slice(&[def]);
        for left in (0..levels).rev() {
            let mut next: SmallVec<[Def; 8]> = SmallVec::new();
            for def in level {
                if !self.watch.chains.is_empty() {
                    self.enqueue_chain(def);
                }
                for user in self.f.uses(def) {
                    let User::Instr(i) = user.user() else { continue };
                    if !self.may_match(i) {
                        continue;
                    }
                    match self.queue.push(i) {
                        true => next.push(i.def()),
                        false => self.queue.follow(i, left),
                    }
                }
            }
            level = next;
            if level.is_empty() {
                return;
            }
        }
    }

    /// Removes an unused instruction and what only it used. A value that is left with one use may enable rules that
    /// ask for that.
    pub(crate) fn remove_dead(&mut self, instr: Instr) {
        let mut stack: SmallVec<[Instr; 8]> = SmallVec::from_slice(&[instr]);
        while let Some(instr) = stack.pop() {
            let removable = matches!(
                self.f.kind(instr),
                InstrKind::Alu | InstrKind::LoadConst | InstrKind::Undef
            );
            if removable {
                self.remove_unused(instr, &mut stack);
            }
        }
    }

    /// Removes an instruction if nothing uses it, and adds what nothing uses then.
    pub(crate) fn remove_unused(&mut self, instr: Instr, unused: &mut SmallVec<[Instr; 8]>) {
        if self.f.block_of(instr).is_none() || self.f.is_used(instr.def()) {
            return;
        }
        let srcs: SmallVec<[Def; 4]> = self.f.srcs(instr).iter().map(|s| s.def()).collect();
        self.f.remove(instr);
        for src in srcs {
            match self.f.is_used(src) {
                false => unused.push(src.instr()),
                true => self.lost_use(src),
            }
        }
    }

    /// A value that is still used has one use less, which may enable rules.
    pub(crate) fn lost_use(&mut self, def: Def) {
        let enables = match self.watch.few {
            0 | 1 => self.f.has_one_use(def),
            few => self.f.uses(def).nth(few as usize).is_none(),
        };
        if enables {
            self.enqueue_users(def);
        }
        self.read_less(def);
    }

    /// Whether new uses of values may enable rules.
    fn watches_gains(&self) -> bool {
        self.watch.many > 0 || !self.watch.chains.is_empty()
    }

    /// An instruction that is new has these operands.
    pub(crate) fn gained_operands(&mut self, defs: &[Def]) {
        for (n, def) in defs.iter().enumerate() {
            if !defs[..n].contains(def) {
                self.gained_uses(*def, defs.iter().filter(|d| *d == def).count());
            }
        }
    }

    /// A value has so many uses more, which enables rules of few sets.
    pub(crate) fn gained_uses(&mut self, def: Def, more: usize) {
        let many = match self.is_chained(def) {
            // It is no longer part of the chain above it.
            true => self.watch.many.max(1),
            false => self.watch.many,
        };
        // So many it had before.
        if many > 0 && self.f.uses(def).nth(more + many as usize).is_none() {
            self.enqueue_users(def);
        }
    }
}
