//! The syntax tree of rule files, as parsed: names unresolved, templates unexpanded, every node with its span.

use crate::diagnostics::Span;
use std::sync::Arc;

/// A word of the source with its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Name {
    /// The text; in templates it may hold `${x}`.
    pub text: String,
    /// Where it stands.
    pub span: Span,
}

/// One `*.rules` file.
#[derive(Clone, Debug)]
pub struct File {
    /// The file's name in diagnostics.
    pub name: Arc<str>,
    /// Rules and loops, in source order.
    pub items: Vec<Item>,
}

/// A rule or a loop over rules.
#[derive(Clone, Debug)]
pub enum Item {
    /// `rule … ;`
    Rule(Box<Rule>),
    /// `for … in […] { … }`
    For(For),
}

/// A template loop.
#[derive(Clone, Debug)]
pub struct For {
    /// The loop's names.
    pub names: Vec<Name>,
    /// One entry a turn, each with one value a name.
    pub tuples: Vec<(Vec<LoopValue>, Span)>,
    /// What is stamped.
    pub items: Vec<Item>,
    /// The whole loop.
    pub span: Span,
}

/// What a loop name stands for in one turn.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoopValue {
    /// The word or literal as written.
    pub text: String,
    /// The literal, where it is one.
    pub literal: Option<Literal>,
    /// Where it stands.
    pub span: Span,
}

/// A rule as written.
#[derive(Clone, Debug)]
pub struct Rule {
    /// Its name, with `${x}` in templates.
    pub name: Name,
    /// Lines of `///`, without the slashes.
    pub doc: String,
    /// Left side.
    pub pattern: Term,
    /// Shared terms and constants of the right side.
    pub lets: Vec<Let>,
    /// Right sides, tried in order.
    pub alts: Vec<Alt>,
    /// Clauses in source order.
    pub clauses: Vec<(Clause, Span)>,
    /// The whole rule.
    pub span: Span,
}

/// `let v = …;`
#[derive(Clone, Debug)]
pub struct Let {
    /// The variable.
    pub name: Name,
    /// What it stands for.
    pub value: LetValue,
}

/// The right side of a `let`.
#[derive(Clone, Debug)]
pub enum LetValue {
    /// A term, built once; or a call of a function over constants, which has the same form.
    Term(Term),
    /// Text of the expression language, over matched constants.
    Expr(Name),
}

/// One right side.
#[derive(Clone, Debug)]
pub struct Alt {
    /// The replacement.
    pub term: Term,
    /// When it is worth having.
    pub guard: Guard,
}

/// The condition on a right side.
#[derive(Clone, Debug)]
pub enum Guard {
    /// None written.
    None,
    /// `if …`
    If(Cond),
    /// `otherwise`
    Otherwise(Span),
}

/// One clause.
#[derive(Clone, Debug)]
pub enum Clause {
    /// Facts and float environment: correctness rests on them.
    Where(Vec<FactUse>),
    /// Licences.
    With(Vec<Name>),
    /// Target options.
    When(Cond),
    /// Profit.
    If(Cond),
    /// The group.
    Group(Name),
    /// Why the rule is out of the termination order.
    Canonical(Name),
    /// Error bound of a float rule under `reassoc` or `transform`.
    Ulps(u32, Span),
    /// A diagnostic that is wanted.
    Allow(Name, Name),
    /// Why the rule isn't checked.
    Waive(Name),
    /// An example: inputs and result.
    Test(Vec<(Name, Literal)>, Literal),
}

impl Clause {
    /// The word it begins with, and its position in the order of clauses.
    pub fn keyword(&self) -> (&'static str, usize) {
        match self {
            Clause::Where(_) => ("where", 0),
            Clause::With(_) => ("with", 1),
            Clause::When(_) => ("when", 2),
            Clause::If(_) => ("if", 3),
            Clause::Group(_) => ("group", 4),
            Clause::Canonical(_) => ("canonical", 5),
            Clause::Ulps(..) => ("ulps", 6),
            Clause::Allow(..) => ("allow", 7),
            Clause::Waive(_) => ("waive", 8),
            Clause::Test(..) => ("test", 9),
        }
    }
}

/// One entry of `where`.
#[derive(Clone, Debug)]
pub enum FactUse {
    /// `env(key = value | value, …)`
    Env(Vec<(Name, Vec<Name>)>, Span),
    /// `name(args)`
    Call {
        /// The fact.
        name: Name,
        /// Its arguments.
        args: Vec<FactArg>,
        /// The whole.
        span: Span,
    },
}

/// An argument of a fact.
#[derive(Clone, Debug)]
pub enum FactArg {
    /// A variable of the pattern, with components.
    Var(Name, Option<Name>),
    /// Text of the expression language.
    Expr(Name),
}

/// A boolean condition over named predicates.
#[derive(Clone, Debug)]
pub enum Cond {
    /// `a && b`
    And(Vec<Cond>),
    /// `a || b`
    Or(Vec<Cond>),
    /// `!a`
    Not(Box<Cond>),
    /// `target.x`
    Option(Name),
    /// `once(m)`
    Call(Name, Vec<Name>, Span),
    /// `uses(m) <= 2`
    Count {
        /// What is counted.
        name: Name,
        /// Of what.
        args: Vec<Name>,
        /// `<=` and its like.
        compare: Name,
        /// The bound.
        bound: Name,
        /// The whole.
        span: Span,
    },
}

/// A term of a left or right side.
#[derive(Clone, Debug)]
pub struct Term {
    /// `m@`
    pub bind: Option<Name>,
    /// What it is.
    pub kind: TermKind,
    /// Letters behind the dot.
    pub swizzle: Option<Name>,
    /// The whole term.
    pub span: Span,
}

/// The kinds of term.
#[derive(Clone, Debug)]
pub enum TermKind {
    /// `op.flag(…)`: an ALU op, or a function over constants.
    Op {
        /// Op or function.
        op: Name,
        /// Promises.
        flags: Vec<Name>,
        /// Operands.
        args: Vec<Term>,
    },
    /// `a`
    Var(Name, Option<SizeNote>),
    /// `#c`
    Const(Name, Option<SizeNote>),
    /// A literal.
    Literal(Literal),
    /// `ac(op: …)`
    Ac(Name, Vec<Term>),
    /// `@intrinsic(…; index = …)`
    Intrinsic(Name, Vec<Term>, Vec<Attr>),
    /// `tex.OP(kind: …; attr = …)`
    Tex(Name, Vec<(Name, Term)>, Vec<Attr>),
    /// `phi(a, b)`
    Phi(Vec<Term>),
    /// `undef`
    Undef(Option<SizeNote>),
}

/// `base = 4`
#[derive(Clone, Debug)]
pub struct Attr {
    /// The index or attribute.
    pub key: Name,
    /// Its value as written.
    pub value: Name,
    /// The value, where it is a literal.
    pub literal: Option<Literal>,
}

/// `:SIZExCOUNT`
#[derive(Clone, Debug)]
pub struct SizeNote {
    /// Bit size or base type.
    pub size: SizeExpr,
    /// Components.
    pub count: Option<CountExpr>,
    /// The whole note.
    pub span: Span,
}

/// A bit size.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SizeExpr {
    /// A number of bits.
    Bits(u32),
    /// `k * N`
    Var(u32, String),
    /// A base type, any size.
    Base(BaseWord),
    /// A loop name, before expansion.
    Loop(String),
}

/// A base type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BaseWord {
    /// `int`
    Int,
    /// `uint`
    Uint,
    /// `float`
    Float,
    /// `bool`
    Bool,
}

/// A component count.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CountExpr {
    /// A number.
    Number(u32),
    /// A name shared by equal counts.
    Var(String),
    /// A loop name, before expansion.
    Loop(String),
}

/// A literal as written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Literal {
    /// Its text.
    pub text: String,
    /// Its kind.
    pub kind: LiteralKind,
    /// Where it stands.
    pub span: Span,
}

/// The kinds of literal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LiteralKind {
    /// `7`, `-1`: an integer value.
    Int(i128),
    /// `0xff`: an integer value, or the bits of a float.
    Hex(i128),
    /// `1.5`, `-0.0`, `nan`, `inf`: the f64's bits.
    Float(u64),
    /// `true`, `false`
    Bool(bool),
}

/// `fact` and `fn` of the library.
#[derive(Clone, Debug)]
pub struct FactDef {
    /// Its name.
    pub name: Name,
    /// Documentation.
    pub doc: String,
    /// Parameters with the words of their types.
    pub params: Vec<(Name, Name)>,
    /// The result's type word; `None` for facts, which are bool.
    pub result: Option<Name>,
    /// Whether an analysis answers it for values that are not constants.
    pub on_values: bool,
    /// The definition.
    pub body: Name,
    /// The whole definition.
    pub span: Span,
}

/// `groups.rules`
#[derive(Clone, Debug, Default)]
pub struct Groups {
    /// Groups in order, with their documentation.
    pub groups: Vec<(Name, String)>,
    /// Target options that `when` may test, with their documentation.
    pub options: Vec<(Name, String)>,
    /// Rule files in order, without the extension.
    pub files: Vec<(Name, String)>,
}
