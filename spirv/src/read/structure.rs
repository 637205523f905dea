//! From structured SPIR-V control flow to a script that the tree is built from.
//!
//! The blocks are walked in the order of the constructs, with an explicit stack of those that are open. The
//! outcome is flat: code, the beginnings and ends of constructs, and jumps. A jump that only leads to where the
//! end of its list leads anyway is a *fall*; whether it is one is known when the constructs around it close, so
//! jumps are kept apart and named by number.
//!
//! A switch becomes a ladder of `if`s over *chains*: arms of which each falls through into the next. Within a
//! chain, all arms but the last are guarded by whether they, or an arm before them, were chosen: each test has the one
//! before it as a part, so that no literal is compared with again.

use super::blocks::{Blk, Body, Merge, Term};
use crate::error::Error;

/// Constructs that may be open at once (SPIR-V 2.17).
const MAX_NESTING: usize = 1023;
/// Case literals that the ladders of a function may compare with.
const MAX_LITERALS: usize = 1 << 20;

/// A construct by its position in [`Structure::frames`].
pub(super) type FrameId = usize;

/// Where a jump leads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Target {
    /// Behind a construct.
    Merge(FrameId),
    /// To the continue construct of a loop.
    Continue(FrameId),
    /// From the continue construct of a loop to its header.
    Header(FrameId),
    /// Through into an arm of a switch.
    Arm(FrameId, usize),
    /// Out of the function, with the id of a value.
    Return(Option<u32>),
    /// Out of the invocation; `true` by OpTerminateInvocation.
    Halt(bool),
    /// Nowhere: control does not get there.
    Unreachable,
}

/// A jump.
#[derive(Clone, Copy, Debug)]
pub(super) struct Jump {
    pub from: Blk,
    /// The block it leads to, where phis have an edge from `from`.
    pub edge: Option<Blk>,
    pub target: Target,
    /// The end of the list leads there too.
    pub falls: bool,
}

/// A test of a switch's selector.
#[derive(Clone, Debug)]
pub(super) struct CaseTest {
    pub selector: u32,
    pub literals: Vec<u64>,
    /// True where the selector is none of the literals.
    pub negated: bool,
    /// True where this earlier test is, too.
    pub or: Option<usize>,
}

/// A line of the script.
#[derive(Clone, Copy, Debug)]
pub(super) enum Step {
    /// The instructions of a block.
    Code(Blk),
    /// The next block's code follows in place: its phis are the values from this one.
    Inline(Blk),
    /// The edge from the first to the second block passes here.
    Edge(Blk, Blk),
    /// Number of a jump.
    Jump(usize),
    /// `if` by the id of a condition, at the end of a block.
    If(Blk, u32),
    /// `if` by a test of a switch's selector.
    IfCase(Blk, usize),
    Else,
    EndIf,
    Loop(FrameId),
    Continue(FrameId),
    EndLoop,
    /// A selection that is left early, where [`Frame::needs_once`]; else nothing.
    Once(FrameId),
    EndOnce(FrameId),
}

/// An arm of a switch.
#[derive(Clone, Debug)]
struct Arm {
    target: Blk,
    literals: Vec<u64>,
    is_default: bool,
    /// Its steps, counted from the first arm's.
    steps: (usize, usize),
    /// The arm that it falls through into, and whether another falls into this one.
    falls_into: Option<usize>,
    is_fallen_into: bool,
}

#[derive(Clone, Debug)]
enum Kind {
    /// The block to go on with in the else branch.
    If {
        otherwise: Blk,
        in_else: bool,
    },
    Loop {
        in_continue: bool,
    },
    Switch {
        arms: Vec<Arm>,
        current: usize,
        steps: usize,
    },
}

/// A construct.
#[derive(Debug)]
pub(super) struct Frame {
    kind: Kind,
    pub header: Blk,
    merge: Option<Blk>,
    /// What to go on with behind an `if` without a merge.
    follow: Option<Blk>,
    target: Option<Blk>,
    /// Jumps out of it that fall if this construct's end does, with the arm they stand in.
    pending: Vec<(usize, usize)>,
    /// Meanings of blocks as targets that it hides.
    hidden: Vec<(Blk, Option<Target>)>,
    /// It is left from within.
    pub needs_once: bool,
    /// Its continue construct jumps: it has to stand at the end of the body.
    pub continue_in_body: bool,
    /// A jump to the continue construct doesn't fall.
    pub early_continue: bool,
    /// A jump from an arm into another doesn't fall.
    early_fall: bool,
}

/// The script of a function.
#[derive(Debug)]
pub(super) struct Structure {
    pub steps: Vec<Step>,
    pub jumps: Vec<Jump>,
    pub frames: Vec<Frame>,
    pub tests: Vec<CaseTest>,
    /// An arm falls through into another.
    pub has_fall_through: bool,
}

struct Walk<'b> {
    body: &'b Body,
    out: Structure,
    stack: Vec<FrameId>,
    /// Loops whose continue construct is being walked.
    continues: Vec<FrameId>,
    targets: Vec<Option<Target>>,
    done: Vec<bool>,
    literals: usize,
}

/// Makes the script of a function's body.
pub(super) fn structure(body: &Body) -> Result<Structure, Error> {
    let mut walk = Walk {
        body,
        out: Structure {
            steps: Vec::new(),
            jumps: Vec::new(),
            frames: Vec::new(),
            tests: Vec::new(),
            has_fall_through: false,
        },
        stack: Vec::new(),
        continues: Vec::new(),
        targets: vec![None; body.blocks.len()],
        done: vec![false; body.blocks.len()],
        literals: 0,
    };
    let mut next = Some(0);
    loop {
        next = match (next, walk.stack.last()) {
            (Some(blk), _) => walk.block(blk).map_err(|e| body.error(blk, e))?,
            (None, Some(&frame)) => {
                let header = walk.out.frames[frame].header;
                walk.advance(frame).map_err(|e| body.error(header, e))?
            }
            (None, None) => return Ok(walk.out),
        };
    }
}

impl Walk<'_> {
    fn block(&mut self, blk: Blk) -> Result<Option<Blk>, Error> {
        if std::mem::replace(&mut self.done[blk as usize], true) {
            return Err(Error::unsupported("control flow that is not structured"));
        }
        let block = &self.body.blocks[blk as usize];
        if let Merge::Loop(merge, target) = block.merge {
            let frame = self.push(Kind::Loop { in_continue: false }, blk, Some(merge))?;
            self.aim(frame, merge, Target::Merge(frame));
            self.aim(frame, blk, Target::Header(frame));
            self.aim(frame, target, Target::Continue(frame));
            self.out.frames[frame].target = (target != blk).then_some(target);
            self.out.steps.push(Step::Loop(frame));
        }
        self.out.steps.push(Step::Code(blk));
        match &block.term {
            Term::Branch(to) => Ok(self.go(blk, *to)),
            Term::Cond(_, yes, no) if yes == no => Ok(self.go(blk, *yes)),
            Term::Cond(condition, yes, no) => self.branch(blk, *condition, *yes, *no),
            Term::Switch(_, default, cases) => self.switch(blk, *default, cases),
            Term::Return(value) => Ok(self.jump(blk, None, Target::Return(*value))),
            Term::Halt(how) => Ok(self.jump(blk, None, Target::Halt(*how))),
            Term::Unreachable => Ok(self.jump(blk, None, Target::Unreachable)),
        }
    }

    fn push(&mut self, kind: Kind, header: Blk, merge: Option<Blk>) -> Result<FrameId, Error> {
        if self.stack.len() >= MAX_NESTING {
            return Err(Error::limit(format!("more than {MAX_NESTING} nested constructs")));
        }
        self.out.frames.push(Frame {
            kind,
            header,
            merge,
            follow: None,
            target: None,
            pending: Vec::new(),
            hidden: Vec::new(),
            needs_once: false,
            continue_in_body: false,
            early_continue: false,
            early_fall: false,
        });
        self.stack.push(self.out.frames.len() - 1);
        Ok(self.out.frames.len() - 1)
    }

    /// Gives a block its meaning as a target while the construct is open.
    fn aim(&mut self, frame: FrameId, blk: Blk, target: Target) {
        let old = self.targets[blk as usize].replace(target);
        self.out.frames[frame].hidden.push((blk, old));
    }

    /// Closes the innermost construct.
    fn pop(&mut self, frame: FrameId) {
        self.stack.pop();
        for (blk, old) in std::mem::take(&mut self.out.frames[frame].hidden).into_iter().rev() {
            self.targets[blk as usize] = old;
        }
    }

    /// From the end of `from` to `to`: a jump, or the block to go on with.
    fn go(&mut self, from: Blk, to: Blk) -> Option<Blk> {
        if let Some(target) = self.targets[to as usize] {
            return self.jump(from, Some(to), target);
        }
        let is_loop = matches!(self.body.blocks[to as usize].merge, Merge::Loop(..));
        self.out.steps.push(match is_loop {
            true => Step::Edge(from, to),
            false => Step::Inline(from),
        });
        Some(to)
    }

    /// On to the block behind a construct, whose edges passed within it.
    fn follow(&mut self, from: Blk, to: Blk) -> Option<Blk> {
        match self.targets[to as usize] {
            Some(target) => self.jump(from, None, target),
            None => Some(to),
        }
    }

    fn jump(&mut self, from: Blk, edge: Option<Blk>, target: Target) -> Option<Blk> {
        let jump = self.out.jumps.len();
        self.out.jumps.push(Jump { from, edge, target, falls: false });
        self.out.steps.push(Step::Jump(jump));
        self.settle(jump);
        None
    }

    /// Decides on a jump that stands at the end of a list of the innermost construct, or leaves it pending there.
    fn settle(&mut self, jump: usize) {
        let target = self.out.jumps[jump].target;
        let Some(&top) = self.stack.last() else {
            self.out.jumps[jump].falls = true;
            return;
        };
        let frame = &mut self.out.frames[top];
        match (&mut frame.kind, target) {
            (Kind::If { .. }, Target::Merge(f)) if f == top => self.out.jumps[jump].falls = true,
            (Kind::Loop { in_continue: false }, Target::Continue(f)) if f == top => {
                self.out.jumps[jump].falls = true;
            }
            (Kind::Loop { in_continue: false }, Target::Header(f))
                if f == top && frame.target.is_none() =>
            {
                self.out.jumps[jump].falls = true;
            }
            (Kind::Loop { in_continue: true }, Target::Header(f)) if f == top => {
                self.out.jumps[jump].falls = true;
            }
            (Kind::Loop { .. }, _) => self.finish_jump(jump),
            (Kind::Switch { current, .. }, _) => frame.pending.push((jump, *current)),
            (Kind::If { .. }, _) => frame.pending.push((jump, 0)),
        }
    }

    /// A jump that does not fall.
    fn finish_jump(&mut self, jump: usize) {
        match self.out.jumps[jump].target {
            Target::Merge(f) => self.out.frames[f].needs_once = true,
            Target::Continue(f) | Target::Header(f) => self.out.frames[f].early_continue = true,
            Target::Arm(f, _) => self.out.frames[f].early_fall = true,
            Target::Return(_) | Target::Halt(_) | Target::Unreachable => {}
        }
        for &frame in &self.continues {
            self.out.frames[frame].continue_in_body = true;
        }
    }

    fn branch(
        &mut self,
        blk: Blk,
        condition: u32,
        yes: Blk,
        no: Blk,
    ) -> Result<Option<Blk>, Error> {
        let merge = match self.body.blocks[blk as usize].merge {
            Merge::Selection(merge) => Some(merge),
            Merge::None | Merge::Loop(..) => None,
        };
        let kind = Kind::If { otherwise: no, in_else: false };
        let frame = self.push(kind, blk, merge)?;
        self.out.steps.push(Step::If(blk, condition));
        match merge {
            Some(merge) => self.aim(frame, merge, Target::Merge(frame)),
            None => {
                // One way out of a loop: what the other way leads to follows the `if`.
                let leaves = |w: &Self, to: Blk| match w.targets[to as usize] {
                    Some(Target::Merge(f)) => matches!(w.out.frames[f].kind, Kind::Loop { .. }),
                    Some(Target::Continue(_)) => true,
                    _ => false,
                };
                let plain = |w: &Self, to: Blk| w.targets[to as usize].is_none();
                if leaves(self, yes) && plain(self, no) {
                    self.out.frames[frame].follow = Some(no);
                } else if leaves(self, no) && plain(self, yes) {
                    self.out.frames[frame].follow = Some(yes);
                }
            }
        }
        Ok(self.enter(frame, blk, yes))
    }

    /// Into a branch of an `if`.
    fn enter(&mut self, frame: FrameId, blk: Blk, to: Blk) -> Option<Blk> {
        if self.out.frames[frame].follow == Some(to) {
            // The block behind the `if` is reached by this edge alone.
            self.out.steps.push(Step::Edge(blk, to));
            return None;
        }
        self.go(blk, to)
    }

    /// The innermost construct's list came to its end.
    fn advance(&mut self, frame: FrameId) -> Result<Option<Blk>, Error> {
        let Frame { header, target, .. } = self.out.frames[frame];
        match &mut self.out.frames[frame].kind {
            Kind::If { otherwise, in_else } if !*in_else => {
                *in_else = true;
                let otherwise = *otherwise;
                self.out.steps.push(Step::Else);
                Ok(self.enter(frame, header, otherwise))
            }
            Kind::If { .. } => {
                self.out.steps.push(Step::EndIf);
                self.pop(frame);
                Ok(self.close(frame, |_| true))
            }
            Kind::Loop { in_continue } if !*in_continue => {
                *in_continue = true;
                self.out.steps.push(Step::Continue(frame));
                self.continues.push(frame);
                match target.filter(|t| self.body.blocks[*t as usize].reachable) {
                    Some(target) => {
                        self.aim(frame, target, Target::Unreachable);
                        self.targets[target as usize] = None;
                        Ok(Some(target))
                    }
                    None => Ok(None),
                }
            }
            Kind::Loop { .. } => {
                self.continues.pop();
                self.out.steps.push(Step::EndLoop);
                self.pop(frame);
                Ok(self.close(frame, |_| false))
            }
            Kind::Switch { .. } => self.next_arm(frame),
        }
    }

    /// Behind a construct that was closed: settles what was pending in it. `ends` tells whether an arm ends where
    /// the construct does.
    fn close(&mut self, frame: FrameId, ends: impl Fn(usize) -> bool) -> Option<Blk> {
        let data = &mut self.out.frames[frame];
        let pending = std::mem::take(&mut data.pending);
        let header = data.header;
        let merge = data.merge.filter(|m| self.body.blocks[*m as usize].reachable);
        let next = merge.or(data.follow);
        for (jump, arm) in pending {
            let own = self.out.jumps[jump].target == Target::Merge(frame);
            match (own, ends(arm)) {
                (true, true) => self.out.jumps[jump].falls = true,
                (false, true) if next.is_none() => self.settle(jump),
                _ => self.finish_jump(jump),
            }
        }
        next.and_then(|next| self.follow(header, next))
    }

    // ---- switches -----------------------------------------------------------------------------------

    fn switch(
        &mut self,
        blk: Blk,
        default: Blk,
        cases: &[(u64, Blk)],
    ) -> Result<Option<Blk>, Error> {
        let merge = match self.body.blocks[blk as usize].merge {
            Merge::Selection(merge) => Some(merge),
            Merge::None | Merge::Loop(..) => None,
        };
        let mut arms: Vec<Arm> = Vec::new();
        let mut of = rustc_hash::FxHashMap::default();
        for (literal, target) in cases.iter().map(|(l, t)| (Some(*l), *t)).chain([(None, default)])
        {
            let n = *of.entry(target).or_insert_with(|| {
                arms.push(Arm {
                    target,
                    literals: Vec::new(),
                    is_default: false,
                    steps: (0, 0),
                    falls_into: None,
                    is_fallen_into: false,
                });
                arms.len() - 1
            });
            match literal {
                Some(literal) => arms[n].literals.push(literal),
                None => arms[n].is_default = true,
            }
        }
        let targets: Vec<Blk> = arms.iter().map(|a| a.target).collect();
        let frame = self.push(Kind::Switch { arms, current: 0, steps: 0 }, blk, merge)?;
        if let Some(merge) = merge {
            self.aim(frame, merge, Target::Merge(frame));
        }
        for (n, &target) in targets.iter().enumerate() {
            if self.targets[target as usize].is_none() {
                self.aim(frame, target, Target::Arm(frame, n));
            }
        }
        self.out.steps.push(Step::Once(frame));
        let first = self.out.steps.len();
        if let Kind::Switch { steps, .. } = &mut self.out.frames[frame].kind {
            *steps = first;
        }
        self.start_arm(frame, 0, targets[0])
    }

    fn start_arm(&mut self, frame: FrameId, n: usize, target: Blk) -> Result<Option<Blk>, Error> {
        let at = self.out.steps.len();
        if let Kind::Switch { arms, current, steps } = &mut self.out.frames[frame].kind {
            *current = n;
            arms[n].steps = (at - *steps, 0);
        }
        let header = self.out.frames[frame].header;
        match self.targets[target as usize] {
            Some(Target::Arm(f, _)) if f == frame => Ok(Some(target)),
            _ => Ok(self.go(header, target)),
        }
    }

    fn next_arm(&mut self, frame: FrameId) -> Result<Option<Blk>, Error> {
        let at = self.out.steps.len();
        let Kind::Switch { arms, current, steps } = &mut self.out.frames[frame].kind else {
            return Ok(None);
        };
        arms[*current].steps.1 = at - *steps;
        let next = *current + 1;
        if let Some(target) = arms.get(next).map(|a| a.target) {
            return self.start_arm(frame, next, target);
        }
        let mut arms = std::mem::take(arms);
        let first = *steps;
        self.find_falls(frame, &mut arms)?;
        let chains = chains(&arms)?;
        let code = self.out.steps.split_off(first);
        self.ladder(frame, &arms, &chains, &code)?;
        self.out.steps.push(Step::EndOnce(frame));
        self.pop(frame);
        let mut is_last = vec![false; arms.len()];
        for chain in &chains {
            if let Some(&last) = chain.last() {
                is_last[last] = true;
            }
        }
        Ok(self.close(frame, |arm| is_last[arm]))
    }

    /// Notes which arm falls into which.
    fn find_falls(&mut self, frame: FrameId, arms: &mut [Arm]) -> Result<(), Error> {
        let mut rest = Vec::new();
        for (jump, arm) in std::mem::take(&mut self.out.frames[frame].pending) {
            match self.out.jumps[jump].target {
                Target::Arm(f, into) if f == frame => {
                    if arms[arm].falls_into.is_some_and(|old| old != into) || into == arm {
                        return Err(Error::unsupported("an arm that falls into several others"));
                    }
                    if arms[arm].falls_into.is_none() && arms[into].is_fallen_into {
                        return Err(Error::unsupported("several arms that fall into one"));
                    }
                    arms[arm].falls_into = Some(into);
                    arms[into].is_fallen_into = true;
                    self.out.jumps[jump].falls = true;
                    self.out.has_fall_through = true;
                }
                _ => rest.push((jump, arm)),
            }
        }
        self.out.frames[frame].pending = rest;
        match self.out.frames[frame].early_fall {
            true => Err(Error::unsupported("a fall-through from within an arm")),
            false => Ok(()),
        }
    }

    fn ladder(
        &mut self,
        frame: FrameId,
        arms: &[Arm],
        chains: &[Vec<usize>],
        code: &[Step],
    ) -> Result<(), Error> {
        let mut open = 0;
        for (n, chain) in chains.iter().enumerate() {
            let is_last = n + 1 == chains.len();
            if !is_last {
                let literals = chain.iter().flat_map(|&a| &arms[a].literals).copied().collect();
                self.if_case(frame, literals, false, None)?;
                open += 1;
            }
            self.chain(frame, arms, chain, code)?;
            if !is_last {
                self.out.steps.push(Step::Else);
            }
        }
        self.out.steps.extend(std::iter::repeat_n(Step::EndIf, open));
        Ok(())
    }

    fn chain(
        &mut self,
        frame: FrameId,
        arms: &[Arm],
        chain: &[usize],
        code: &[Step],
    ) -> Result<(), Error> {
        let header = self.out.frames[frame].header;
        // An arm whose target has another meaning is a jump, which names its edge itself.
        let is_own = |arm: &Arm| !matches!(code.get(arm.steps.0), Some(Step::Jump(_)));
        // The test of the arm before.
        let mut chosen = None;
        for (i, &arm) in chain.iter().enumerate() {
            let arm = &arms[arm];
            let body = &code[arm.steps.0..arm.steps.1];
            if i == 0 && is_own(arm) {
                let is_loop =
                    matches!(self.body.blocks[arm.target as usize].merge, Merge::Loop(..));
                if chain.len() == 1 && !is_loop {
                    self.out.steps.push(Step::Inline(header));
                } else {
                    self.out.steps.push(Step::Edge(header, arm.target));
                }
            }
            if i + 1 == chain.len() {
                self.out.steps.extend_from_slice(body);
                break;
            }
            // The default is chosen where nothing behind it is; what was chosen before it is none of that.
            let literals: Vec<u64> = match arm.is_default {
                true => chain[i + 1..].iter().flat_map(|&a| &arms[a].literals).copied().collect(),
                false => arm.literals.clone(),
            };
            let or = chosen.filter(|_| !arm.is_default);
            chosen = Some(self.if_case(frame, literals, arm.is_default, or)?);
            self.out.steps.extend_from_slice(body);
            self.out.steps.push(Step::Else);
            self.out.steps.push(Step::Edge(header, arms[chain[i + 1]].target));
            self.out.steps.push(Step::EndIf);
        }
        Ok(())
    }

    /// An `if` by a test, whose number is returned.
    fn if_case(
        &mut self,
        frame: FrameId,
        literals: Vec<u64>,
        negated: bool,
        or: Option<usize>,
    ) -> Result<usize, Error> {
        let header = self.out.frames[frame].header;
        let Term::Switch(selector, ..) = self.body.blocks[header as usize].term else {
            return Err(Error::invalid("a switch without a selector"));
        };
        self.literals += literals.len();
        if self.literals > MAX_LITERALS {
            return Err(Error::limit("too many cases"));
        }
        let test = self.out.tests.len();
        self.out.tests.push(CaseTest { selector, literals, negated, or });
        self.out.steps.push(Step::IfCase(header, test));
        Ok(test)
    }
}

/// Arms in the order of the ladder: chains of fall-through, the one with the default last.
fn chains(arms: &[Arm]) -> Result<Vec<Vec<usize>>, Error> {
    let mut chains = Vec::new();
    let mut last = None;
    let mut count = 0;
    for start in (0..arms.len()).filter(|&n| !arms[n].is_fallen_into) {
        let mut chain = vec![start];
        while let Some(next) = arms[chain[chain.len() - 1]].falls_into {
            chain.push(next);
        }
        count += chain.len();
        match chain.iter().any(|&a| arms[a].is_default) {
            true => last = Some(chain),
            false => chains.push(chain),
        }
    }
    if count != arms.len() {
        return Err(Error::unsupported("arms that fall through in a circle"));
    }
    chains.extend(last);
    Ok(chains)
}
