//! The rules that every module keeps, checked.
//!
//! A pass may rely on each of them and must keep each. The checks recompute what the IR stores twice (use lists,
//! predecessors, edges) and compare. Sections: errors and entry points here, `module` declarations, `tree` control flow
//! and use lists, `instr` instructions one by one.

mod instr;
mod module;
mod tree;

use crate::dom::Dominance;
use crate::entity::{Block, Func, Instr};
use crate::func::Function;
use crate::module::Module;
use std::fmt;

macro_rules! rules {
    ($($(#[doc = $doc:literal])* $name:ident,)*) => {
        /// A rule of the IR.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[non_exhaustive]
        pub enum Rule {
            $($(#[doc = $doc])* $name,)*
        }

        impl Rule {
            /// Every rule.
            pub const ALL: &'static [Rule] = &[$(Rule::$name,)*];

            /// What the rule says.
            pub fn doc(self) -> &'static str {
                match self {
                    $(Rule::$name => concat!($($doc),*).trim_ascii(),)*
                }
            }
        }
    };
}

rules! {
    /// Every type, variable, function and specialisation constant that is named exists.
    Exists,
    /// Types are made of what may make them: vectors of scalars, matrices of float vectors, images of scalars.
    TypeParts,
    /// A variable lives in one kind of memory; locals of functions, and they alone, in `function`.
    VariableMode,
    /// A specialisation constant comes after those that it is made of.
    SpecOrder,
    /// An entry point enters a function with a body, no parameters and no result; stage and name are unique.
    EntryPoint,
    /// No function calls itself, not even through others.
    Recursion,
    /// Nodes stand in lists that begin and end with a block and alternate blocks with other nodes.
    Tree,
    /// The edges are those that the tree has, and predecessors are their reverse.
    Edges,
    /// A block that nothing reaches holds nothing.
    Unreachable,
    /// Instructions are linked in order in the block that they say they are in.
    Placement,
    /// A jump ends its block.
    JumpLast,
    /// A break stands in a loop or once, a continue in a loop.
    JumpTarget,
    /// No jump leads out of a continue list.
    JumpInContinue,
    /// A return has a value if the function returns one, of that shape.
    Return,
    /// Phis stand before all else in their block.
    PhiFirst,
    /// A phi has one source for each predecessor and no other.
    PhiPreds,
    /// A phi's sources have its shape.
    PhiShape,
    /// Use lists are what the sources say.
    Uses,
    /// A source is the value of an instruction in the tree.
    Source,
    /// A value is defined before it is used, on every path.
    Dominance,
    /// Conditions are one bit.
    Condition,
    /// An opcode or intrinsic is in a table.
    KnownOp,
    /// An instruction has a value if its kind has one.
    Value,
    /// An instruction has as many sources as its kind and opcode say.
    Arity,
    /// Bit sizes are those that the opcode admits.
    BitSize,
    /// Component counts are those that the opcode admits.
    Components,
    /// A swizzle takes components that the value has.
    Swizzle,
    /// Flags are those that the opcode may carry.
    Flags,
    /// A const index holds a value that its kind has.
    Index,
    /// A constant's components fit into its bit size.
    ConstantBits,
    /// A deref steps from a deref, to the type that the step leads to, in the modes of its parent.
    Deref,
    /// Memory is accessed through derefs, and loads and stores have the shape of the scalar or vector that it points to.
    DerefAccess,
    /// The sources of a texture operation are of different kinds, and the coordinates have enough components.
    Texture,
    /// A call has the arguments and the result that the function has.
    Call,
    /// The module's form has such instructions.
    Form,
}

/// Where a rule is broken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// In a declaration of the module.
    Module,
    /// In a function as a whole.
    Function,
    /// In a block, or at its end.
    Block(Block),
    /// At an instruction.
    Instr(Instr),
}

/// A broken rule.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ValidationError {
    /// The rule.
    pub rule: Rule,
    /// The function, unless a declaration of the module is wrong.
    pub function: Option<Func>,
    /// Where.
    pub place: Place,
    /// What is wrong there.
    pub message: String,
    /// The function's name and the instruction's text.
    pub context: String,
}

impl fmt::Display for ValidationError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.context, self.message)?;
        write!(f, " [{:?}: {}]", self.rule, self.rule.doc())
    }
}

impl std::error::Error for ValidationError {}

/// Checks every rule on every function.
///
/// # Errors
/// The rules that are broken and where, at most 50 of them.
pub fn validate(module: &Module) -> Result<(), Vec<ValidationError>> {
    let mut checks = Checks { module, errors: Vec::new() };
    checks.declarations();
    for func in module.funcs() {
        checks.function(func);
    }
    checks.finish()
}

/// Checks every rule on one function of a module.
///
/// # Errors
/// The rules that are broken and where, at most 50 of them.
pub fn validate_function(module: &Module, func: Func) -> Result<(), Vec<ValidationError>> {
    let mut checks = Checks { module, errors: Vec::new() };
    checks.function(func);
    checks.finish()
}

const MAX_ERRORS: usize = 50;

/// The errors found so far.
struct Checks<'m> {
    module: &'m Module,
    errors: Vec<ValidationError>,
}

impl<'m> Checks<'m> {
    fn declaration_error(&mut self, rule: Rule, message: impl Into<String>) {
        self.errors.push(ValidationError {
            rule,
            function: None,
            place: Place::Module,
            message: message.into(),
            context: "module".into(),
        });
    }

    fn function(&mut self, func: Func) {
        let f = &self.module[func];
        let mut check = FunctionCheck {
            module: self.module,
            f,
            func,
            errors: Vec::new(),
            dominance: None,
            position: Vec::new(),
        };
        check.signature();
        // What follows walks the tree, so it must be one.
        if check.tree() && check.placement() {
            check.edges();
            check.uses();
            check.dominance = Some(Dominance::new(f));
            check.instrs();
        }
        self.errors.append(&mut check.errors);
    }

    fn finish(mut self) -> Result<(), Vec<ValidationError>> {
        self.errors.truncate(MAX_ERRORS);
        if self.errors.is_empty() { Ok(()) } else { Err(self.errors) }
    }
}

/// The check of one function.
struct FunctionCheck<'m> {
    module: &'m Module,
    f: &'m Function,
    func: Func,
    errors: Vec<ValidationError>,
    dominance: Option<Dominance>,
    /// Number of each instruction in the order of the text; `u32::MAX` for those not in the tree.
    position: Vec<u32>,
}

impl FunctionCheck<'_> {
    fn error(&mut self, rule: Rule, place: Place, message: impl Into<String>) {
        if self.errors.len() >= MAX_ERRORS {
            return;
        }
        let mut context = format!("function `{}`", self.f.name);
        match place {
            Place::Instr(instr) => {
                let text = self.module.show(self.f).instr(instr);
                context += &format!(", `{text}` ({instr:?})");
            }
            Place::Block(block) => context += &format!(", block {block:?}"),
            Place::Module | Place::Function => {}
        }
        self.errors.push(ValidationError {
            rule,
            function: Some(self.func),
            place,
            message: message.into(),
            context,
        });
    }
}
