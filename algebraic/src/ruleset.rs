//! Compiled rules as plain data.

use crate::facts::abs::{Abs, Env};
use crate::rewriter::Rewriter;
use deburr_ir_core::{AluOp, Flags, Instr, Intrinsic, TexOp};

/// Tries the rules of one root opcode on an instruction; true if one fired.
pub type MatchFn = fn(&mut Rewriter<'_>, Instr) -> bool;

/// The values that an opcode may give for sets of operands, at an unsized width.
pub type TransferFn = fn(&Env, u32, &[Abs]) -> Abs;

/// A set of compiled rules.
#[derive(Debug)]
pub struct RuleSet {
    /// Groups in order.
    pub groups: &'static [Group],
    /// Rules in the order in which they are tried; a rule's number is its position.
    pub rules: &'static [RuleInfo],
    /// Target options that rules test, by number.
    pub options: &'static [&'static str],
    /// Transfer functions by opcode.
    pub transfers: &'static [Option<TransferFn>],
    /// Which changes in who uses a value may let a rule fire.
    pub uses: UseWatch,
    /// Opcodes whose chains some rule matches.
    pub chains: &'static [AluOp],
    /// The facts that the value analysis answers, by name, as functions of what is known of their arguments.
    pub facts: &'static [(&'static str, TransferFn)],
}

/// Which changes in who uses a value may let a rule fire.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UseWatch {
    /// The loss of a use that leaves so many or fewer.
    pub few: u32,
    /// Every new use.
    pub more: bool,
}

impl UseWatch {
    /// The changes of both.
    #[must_use]
    pub fn union(self, other: UseWatch) -> UseWatch {
        UseWatch { few: self.few.max(other.few), more: self.more || other.more }
    }
}

/// A group of rules.
#[derive(Debug)]
pub struct Group {
    /// Name.
    pub name: &'static str,
    /// Documentation.
    pub doc: &'static str,
    /// Matchers by opcode of the built-in table.
    pub by_op: &'static [Option<MatchFn>],
    /// Matchers of dialects' opcodes, sorted by id.
    pub dialect: &'static [(u16, MatchFn)],
    /// Matchers of roots that are no ALU operations.
    pub outside: &'static [(Root, MatchFn)],
}

/// A root that is no ALU operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Root {
    /// An intrinsic.
    Intrinsic(Intrinsic),
    /// A texture operation.
    Tex(TexOp),
    /// A phi.
    Phi,
}

/// What is said of a rule.
#[derive(Debug)]
pub struct RuleInfo {
    /// Name with the bindings of template loops.
    pub name: &'static str,
    /// Name without them.
    pub base: &'static str,
    /// Source file.
    pub file: &'static str,
    /// Line in it.
    pub line: u32,
    /// Number of the group.
    pub group: u16,
    /// Number of instances.
    pub instances: u16,
    /// Licences that every matched float operation must carry.
    pub licences: Flags,
    /// Documentation.
    pub doc: &'static str,
}

impl RuleSet {
    /// A set without rules.
    pub const EMPTY: RuleSet = RuleSet {
        groups: &[],
        rules: &[],
        options: &[],
        transfers: &[],
        uses: UseWatch { few: 1, more: false },
        chains: &[],
        facts: &[],
    };

    /// The group of that name.
    pub fn group(&self, name: &str) -> Option<&'static Group> {
        self.groups.iter().find(|g| g.name == name)
    }

    /// What an opcode gives for sets of operands.
    pub fn transfer(&self, op: AluOp) -> Option<TransferFn> {
        self.transfers.get(usize::from(op.0)).copied().flatten()
    }
}

impl Group {
    /// The matcher of a root that is no ALU operation.
    pub fn outside(&self, root: Root) -> Option<MatchFn> {
        self.outside.iter().find(|(r, _)| *r == root).map(|(_, matcher)| *matcher)
    }

    /// The matcher of an opcode.
    pub fn matcher(&self, op: AluOp) -> Option<MatchFn> {
        match self.by_op.get(usize::from(op.0)) {
            Some(found) => *found,
            None => {
                let at = self.dialect.binary_search_by_key(&op.0, |(id, _)| *id).ok()?;
                Some(self.dialect[at].1)
            }
        }
    }
}
