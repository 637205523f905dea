//! Compiled rules as plain data.

use crate::facts::abs::{Abs, Env};
use crate::facts::used::Reads;
use crate::rewriter::Rewriter;
use crate::turn::Turn;
use deburr_ir_core::{AluOp, Flags, Intrinsic, TexOp};

/// Tries the rules of one root opcode on the instruction whose turn it is; true if one fired.
pub type MatchFn = fn(&mut Rewriter<'_>, &Turn) -> bool;

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
    /// What operations read of their operands, by opcode, where it may be less than the whole.
    pub reads: &'static [Option<Reads>],
    /// The facts that the value analysis answers, by name, as functions of what is known of their arguments.
    pub facts: &'static [(&'static str, TransferFn)],
}

/// What the driver watches for a group, so that whatever a change may let fire gets its turn. It follows from the rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Watch {
    /// Most levels of users between a value that a rule looks at and the rule's root.
    pub depth: u8,
    /// The loss of a use that leaves so many or fewer may let a rule fire.
    pub few: u32,
    /// A new use of a value that had so many or fewer may let a rule fire; 0 if none may.
    pub many: u32,
    /// Whether patterns have anything but arithmetic: changes reach roots through it.
    pub outside: bool,
    /// Whether roots are anything but arithmetic.
    pub roots: bool,
    /// Opcodes whose chains some rule matches.
    pub chains: &'static [AluOp],
    /// Opcodes at which some rule asks what bits users read.
    pub reads: &'static [AluOp],
}

impl Watch {
    /// For no rule: operands are brought into normal form all the same.
    pub const LEAST: Watch =
        Watch { depth: 2, few: 1, many: 0, outside: false, roots: false, chains: &[], reads: &[] };

    /// What the rules of a group that is to be interpreted need.
    #[cfg(feature = "interp")]
    pub fn of(set: &deburr_rulegen::rules::RuleSet, group: usize) -> Watch {
        // Rules are read once and live as long as the program.
        let list = |ops: Vec<usize>| -> &'static [AluOp] {
            Vec::leak(ops.into_iter().map(|op| AluOp(set.ops.get(op).id)).collect())
        };
        Watch {
            depth: set.depth(group),
            few: set.few_uses(group),
            many: set.many_uses(group),
            outside: set.reaches_outside(group),
            roots: set.roots_outside(group),
            chains: list(set.chain_ops(group)),
            reads: list(set.read_ops(group)),
        }
    }

    /// What both need.
    #[must_use]
    pub fn union(self, other: Watch) -> Watch {
        Watch {
            depth: self.depth.max(other.depth),
            few: self.few.max(other.few),
            many: self.many.max(other.many),
            outside: self.outside || other.outside,
            roots: self.roots || other.roots,
            chains: both(self.chains, other.chains),
            reads: both(self.reads, other.reads),
        }
    }
}

/// The opcodes of both lists, each once.
fn both(one: &'static [AluOp], two: &'static [AluOp]) -> &'static [AluOp] {
    match (one, two) {
        (list, []) | ([], list) => list,
        _ => {
            let mut all: Vec<AluOp> = one.iter().chain(two).copied().collect();
            all.sort_unstable();
            all.dedup();
            Vec::leak(all)
        }
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
    /// What the driver watches.
    pub watch: Watch,
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
    pub const EMPTY: RuleSet =
        RuleSet { groups: &[], rules: &[], options: &[], transfers: &[], reads: &[], facts: &[] };

    /// What an opcode reads of its operands, if it may be less than the whole.
    pub fn reads(&self, op: AluOp) -> Option<&'static Reads> {
        self.reads.get(usize::from(op.0))?.as_ref()
    }

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
