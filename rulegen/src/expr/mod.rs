//! The expression language: what opcodes compute, what facts mean, what the `let`s of rules bind.
//!
//! Rust's syntax, total (nothing panics, nothing is undefined), typed by inference. [`parse_expr`] turns text into a
//! typed [`Expr`]; folder, interpreter, solver terms and documentation all come from that tree.
//!
//! - [`ty`]: types. A width is fixed or `BITS`, which the definition leaves open.
//! - [`tree`]: the typed tree.
//! - [`prim`]: the named primitives, one table.
//! - [`source`]: text that knows its place in a file.

mod build;
mod infer;
pub mod prim;
pub mod source;
mod syntax;
#[cfg(test)]
mod tests;
pub mod tree;
pub mod ty;

pub use prim::Prim;
pub use source::SourceText;
pub use tree::{BinaryOp, Const, Expr, ExprKind, Reduction, UnaryOp};
pub use ty::{Base, Ty, Width};

use crate::diagnostics::{Code, CodeInfo, Diagnostic};

/// Deepest nesting of an expression. Recursion over a tree is safe in any thread.
pub const MAX_DEPTH: usize = 96;

/// Not an expression.
pub const E_SYNTAX: Code = Code(201);
/// Nested too deep.
pub const E_DEPTH: Code = Code(202);
/// A name that means nothing here.
pub const E_NAME: Code = Code(203);
/// Operands or results of the wrong type.
pub const E_TYPE: Code = Code(204);
/// Vectors of different lengths, or a vector where a scalar belongs.
pub const E_COMPONENTS: Code = Code(205);
/// Wrong number of operands.
pub const E_ARITY: Code = Code(206);
/// A literal without a type.
pub const E_AMBIGUOUS: Code = Code(207);
/// A literal too large for its type at some width.
pub const E_LITERAL: Code = Code(208);
/// A conversion that doesn't exist.
pub const E_CAST: Code = Code(209);

/// The codes of this module.
pub const CODES: &[CodeInfo] = &[
    CodeInfo {
        code: E_SYNTAX,
        title: "the text is not an expression",
        explanation: "Expressions have Rust's syntax: literals, names, calls, operators, `as`, `if … { } else { }`, \
                      `let … = …;` in front of a value, `[…]` vectors, `.x` and `[0]` components. Nothing else of \
                      Rust exists here: no loops, closures, methods, macros, assignments.",
    },
    CodeInfo {
        code: E_DEPTH,
        title: "the expression is nested too deep",
        explanation: "The nesting of an expression is bounded, so that no input overflows a stack. Name parts of it \
                      with `let`, or use `sum`, `all`, `some` over a vector instead of a chain of operators.",
    },
    CodeInfo {
        code: E_NAME,
        title: "a name is unknown",
        explanation: "A name is an operand (a, b, c, … by position), a `let`, a constant (BITS, INT_MIN, INT_MAX, \
                      UINT_MAX, NAN, INF), or, in front of a bracket, a primitive.",
    },
    CodeInfo {
        code: E_TYPE,
        title: "types don't agree",
        explanation: "Operands of an operator have one type; nothing is converted silently. `int`, `uint` and `float` \
                      are `BITS` wide and differ from `i32`, `u32` and `f32`, even where BITS may be 32. Convert \
                      with `as`.",
    },
    CodeInfo {
        code: E_COMPONENTS,
        title: "component counts don't agree",
        explanation: "Operators work component by component on vectors of one length; a scalar beside a vector counts \
                      as every component. Reduce a vector with `sum`, `all`, `some`, or take a component.",
    },
    CodeInfo {
        code: E_ARITY,
        title: "wrong number of operands",
        explanation: "Every primitive takes a fixed number of operands, which the message states. None has optional \
                      ones: `min` and `max` take two integers, `fma` three floats, `any` and `poison` nothing.",
    },
    CodeInfo {
        code: E_AMBIGUOUS,
        title: "a literal has no type",
        explanation: "A literal takes the type of the operand beside it or of the result. Where neither says anything, \
                      give it a suffix: `1u32`.",
    },
    CodeInfo {
        code: E_LITERAL,
        title: "a literal doesn't fit its type",
        explanation: "A literal of a `BITS` wide type must fit every admissible width; write it at a fixed width and \
                      convert: `0xff00u32 as uint`. A decimal literal of a signed type must be in its range, a \
                      hexadecimal one is a bit pattern.",
    },
    CodeInfo {
        code: E_CAST,
        title: "no such conversion",
        explanation: "`as` converts between integers, from bool to numbers, between floats, and from integers to \
                      floats. From float to integer say what happens out of range: `to_i32(x)` gives any value, \
                      `to_i32_sat(x)` clamps. To bool compare with 0. `bits` and `from_bits` reinterpret.",
    },
];

/// What is in scope of an expression.
#[derive(Clone, Copy, Debug, Default)]
pub struct Scope<'a> {
    /// Variables by number.
    pub vars: &'a [(&'a str, Ty)],
    /// Admissible values of `BITS`; with exactly one, types of that width and `BITS` wide ones are the same.
    pub sizes: &'a [u8],
}

/// Parses and types an expression, whose value must be of type `expected`. A scalar stands for a vector of equal
/// components.
pub fn parse_expr(
    source: &SourceText,
    scope: &Scope<'_>,
    expected: Ty,
) -> Result<Expr, Vec<Diagnostic>> {
    let (ast, nodes) = syntax::parse(source).map_err(|d| vec![d])?;
    infer::infer(source, scope, &ast, nodes, Some(expected))
}

/// Like [`parse_expr`], but takes whatever type the expression has.
pub fn parse_expr_any(source: &SourceText, scope: &Scope<'_>) -> Result<Expr, Vec<Diagnostic>> {
    let (ast, nodes) = syntax::parse(source).map_err(|d| vec![d])?;
    infer::infer(source, scope, &ast, nodes, None)
}
