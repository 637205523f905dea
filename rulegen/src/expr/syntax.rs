//! From text to an untyped tree: precedence climbing over `syn`'s token cursor.
//!
//! `syn`'s own expression parser accepts all of Rust and recurses as deep as its input does. Ours takes the tokens and
//! literals from `syn` and builds only what the language has, with a bound on depth, so that no input overflows the
//! stack.

use proc_macro2::{TokenStream, TokenTree};
use syn::parse::{ParseStream, Parser};
use syn::{Ident, Lit, Token, ext::IdentExt};

use super::source::SourceText;
use super::tree::{BinaryOp, UnaryOp};
use super::{E_DEPTH, E_SYNTAX, MAX_DEPTH};
use crate::diagnostics::Diagnostic;
use std::ops::Range;

/// A node of the untyped tree. `id` numbers the nodes of one tree from 0.
#[derive(Debug)]
pub(super) struct Ast {
    pub kind: AstKind,
    /// Bytes of the text.
    pub span: Range<usize>,
    pub id: usize,
    depth: usize,
}

/// A name and where it stands.
#[derive(Debug, Clone)]
pub(super) struct Name {
    pub text: String,
    pub span: Range<usize>,
}

/// What a node says.
#[derive(Debug)]
pub(super) enum AstKind {
    /// `hex`: written in another base than ten, so that it means a bit pattern.
    Int {
        value: u64,
        hex: bool,
        suffix: Option<Name>,
    },
    Float {
        value: f64,
        suffix: Option<Name>,
    },
    Bool(bool),
    Name(String),
    Call(Name, Vec<Ast>),
    Unary(UnaryOp, Box<Ast>),
    Binary(BinaryOp, Box<Ast>, Box<Ast>),
    If(Box<Ast>, Box<Ast>, Box<Ast>),
    Block(Vec<Binding>, Box<Ast>),
    Cast(Box<Ast>, Name),
    Array(Vec<Ast>),
    Field(Box<Ast>, Name),
    Index(Box<Ast>, u8),
}

/// `let name[: ty] = value;`
#[derive(Debug)]
pub(super) struct Binding {
    pub name: Name,
    pub ty: Option<Name>,
    pub value: Ast,
}

/// Parses a whole text; `Ok` with the number of nodes.
pub(super) fn parse(source: &SourceText) -> Result<(Ast, usize), Diagnostic> {
    let whole = source.text.len();
    let at_end = |span: Range<usize>| if span.end == 0 { whole..whole } else { span };
    let tokens: TokenStream = source.text.parse().map_err(|error: proc_macro2::LexError| {
        source.error(
            E_SYNTAX,
            error.span().byte_range(),
            "not a sequence of tokens: a bracket or quote isn't closed",
        )
    })?;
    if let Some(span) = too_deep(tokens.clone()) {
        return Err(source.error(
            E_DEPTH,
            span,
            format!("brackets nested more than {MAX_DEPTH} deep"),
        ));
    }
    let mut reader = Reader { next: 0, too_deep: false };
    let result = Parser::parse2(
        |input: ParseStream| {
            let ast = reader.body(input, 0)?;
            match input.is_empty() {
                true => Ok(ast),
                false => Err(input.error("expected an operator or the end")),
            }
        },
        tokens,
    );
    match result {
        Ok(ast) => Ok((ast, reader.next)),
        Err(error) => {
            let code = if reader.too_deep { E_DEPTH } else { E_SYNTAX };
            Err(source.error(code, at_end(error.span().byte_range()), sentence(&error.to_string())))
        }
    }
}

/// `syn` says "unexpected end of input, expected …" with its own token names; they are plain enough to pass on.
fn sentence(message: &str) -> String {
    message.trim_end_matches('.').to_owned()
}

/// Where brackets are nested too deep, found without recursion.
fn too_deep(tokens: TokenStream) -> Option<Range<usize>> {
    let mut stack = vec![tokens.into_iter()];
    while let Some(top) = stack.last_mut() {
        match top.next() {
            Some(TokenTree::Group(group)) => {
                if stack.len() > MAX_DEPTH {
                    return Some(group.span_open().byte_range());
                }
                stack.push(group.stream().into_iter());
            }
            Some(_) => {}
            None => {
                stack.pop();
            }
        }
    }
    None
}

struct Reader {
    next: usize,
    too_deep: bool,
}

impl Reader {
    /// A new node above `children`' depth.
    fn node(&mut self, kind: AstKind, span: Range<usize>, below: usize) -> syn::Result<Ast> {
        let id = self.next;
        self.next += 1;
        Ok(Ast { kind, span, id, depth: below + 1 })
    }

    fn check_depth(&mut self, depth: usize, input: ParseStream) -> syn::Result<()> {
        if depth <= MAX_DEPTH {
            return Ok(());
        }
        self.too_deep = true;
        Err(input.error(format!("expression nested more than {MAX_DEPTH} deep")))
    }

    /// `{let name[: T] = e;} e`, up to the end of the input.
    fn body(&mut self, input: ParseStream, depth: usize) -> syn::Result<Ast> {
        self.check_depth(depth, input)?;
        let start = input.span().byte_range().start;
        let mut bindings = Vec::new();
        while input.peek(Token![let]) {
            input.parse::<Token![let]>()?;
            let name = self.name(input)?;
            let ty = match input.peek(Token![:]) {
                true => {
                    input.parse::<Token![:]>()?;
                    Some(self.name(input)?)
                }
                false => None,
            };
            input.parse::<Token![=]>()?;
            let value = self.binary(input, 0, depth + 1)?;
            input.parse::<Token![;]>()?;
            bindings.push(Binding { name, ty, value });
        }
        let value = self.binary(input, 0, depth + 1)?;
        if bindings.is_empty() {
            return Ok(value);
        }
        // Every `let` is a level of the typed tree.
        let deepest = bindings.iter().map(|b| b.value.depth).max().unwrap_or(0).max(value.depth);
        let below = deepest + bindings.len();
        self.check_depth(below, input)?;
        let end = value.span.end;
        self.node(AstKind::Block(bindings, Box::new(value)), start..end, below)
    }

    /// Operators that bind at least as tightly as `level`.
    fn binary(&mut self, input: ParseStream, level: u8, depth: usize) -> syn::Result<Ast> {
        let mut left = self.cast(input, depth)?;
        while let Some((op, binding)) = peek_operator(input) {
            if binding < level {
                break;
            }
            let at = input.cursor();
            take_operator(input, op)?;
            let right = self.binary(input, binding + 1, depth + 1)?;
            if op.is_compare() && peek_operator(input).is_some_and(|(next, _)| next.is_compare()) {
                return Err(input.error("compares can't be chained: use `&&` or parentheses"));
            }
            let below = left.depth.max(right.depth);
            if below >= MAX_DEPTH {
                self.too_deep = true;
                return Err(syn::Error::new(
                    at.span(),
                    format!("expression nested more than {MAX_DEPTH} deep"),
                ));
            }
            let span = left.span.start..right.span.end;
            left = self.node(AstKind::Binary(op, Box::new(left), Box::new(right)), span, below)?;
        }
        Ok(left)
    }

    /// `unary {as T}`.
    fn cast(&mut self, input: ParseStream, depth: usize) -> syn::Result<Ast> {
        let mut value = self.unary(input, depth)?;
        while input.peek(Token![as]) {
            input.parse::<Token![as]>()?;
            let ty = self.name(input)?;
            self.check_depth(value.depth + 1, input)?;
            let (span, below) = (value.span.start..ty.span.end, value.depth);
            value = self.node(AstKind::Cast(Box::new(value), ty), span, below)?;
        }
        Ok(value)
    }

    /// Prefix operators.
    fn unary(&mut self, input: ParseStream, depth: usize) -> syn::Result<Ast> {
        let start = input.span().byte_range().start;
        let mut operators = Vec::new();
        loop {
            if input.peek(Token![-]) {
                input.parse::<Token![-]>()?;
                operators.push(UnaryOp::Neg);
            } else if input.peek(Token![!]) && !input.peek(Token![!=]) {
                input.parse::<Token![!]>()?;
                operators.push(UnaryOp::Not);
            } else {
                break;
            }
            self.check_depth(depth + operators.len(), input)?;
        }
        let mut value = self.postfix(input, depth + operators.len())?;
        self.check_depth(value.depth + operators.len(), input)?;
        for op in operators.into_iter().rev() {
            let (span, below) = (start..value.span.end, value.depth);
            value = self.node(AstKind::Unary(op, Box::new(value)), span, below)?;
        }
        Ok(value)
    }

    /// `primary {.swizzle | [index]}`.
    fn postfix(&mut self, input: ParseStream, depth: usize) -> syn::Result<Ast> {
        let mut value = self.primary(input, depth)?;
        loop {
            self.check_depth(value.depth + 1, input)?;
            let (start, below) = (value.span.start, value.depth);
            if input.peek(Token![.]) {
                input.parse::<Token![.]>()?;
                let field = self.name(input)?;
                let end = field.span.end;
                value = self.node(AstKind::Field(Box::new(value), field), start..end, below)?;
            } else if input.peek(syn::token::Bracket) {
                let content;
                let bracket = syn::bracketed!(content in input);
                let index: syn::LitInt = content.parse()?;
                let index =
                    index.base10_parse::<u8>().map_err(|e| syn::Error::new(index.span(), e))?;
                if !content.is_empty() {
                    return Err(content.error("a component's number must be a literal"));
                }
                let end = bracket.span.close().byte_range().end;
                value = self.node(AstKind::Index(Box::new(value), index), start..end, below)?;
            } else {
                return Ok(value);
            }
        }
    }

    /// Literals, names, calls, brackets, `if`.
    fn primary(&mut self, input: ParseStream, depth: usize) -> syn::Result<Ast> {
        self.check_depth(depth, input)?;
        let start = input.span().byte_range();
        if input.peek(syn::token::Paren) {
            let content;
            let paren = syn::parenthesized!(content in input);
            let mut inner = self.body(&content, depth + 1)?;
            self.finished(&content)?;
            inner.span = start.start..paren.span.close().byte_range().end;
            return Ok(inner);
        }
        if input.peek(syn::token::Brace) {
            return self.block(input, depth);
        }
        if input.peek(syn::token::Bracket) {
            let content;
            let bracket = syn::bracketed!(content in input);
            let items = self.list(&content, depth)?;
            let below = items.iter().map(|i| i.depth).max().unwrap_or(0);
            let end = bracket.span.close().byte_range().end;
            return self.node(AstKind::Array(items), start.start..end, below);
        }
        if input.peek(Token![if]) {
            return self.conditional(input, depth);
        }
        if input.peek(syn::LitBool) || input.peek(Lit) {
            return self.literal(input);
        }
        if !input.peek(Ident::peek_any) {
            return Err(input.error("expected an expression"));
        }
        let name = self.name(input)?;
        if !input.peek(syn::token::Paren) {
            return self.node(AstKind::Name(name.text), name.span, 0);
        }
        let content;
        let paren = syn::parenthesized!(content in input);
        let operands = self.list(&content, depth)?;
        let below = operands.iter().map(|i| i.depth).max().unwrap_or(0);
        let end = paren.span.close().byte_range().end;
        self.node(AstKind::Call(name, operands), start.start..end, below)
    }

    fn block(&mut self, input: ParseStream, depth: usize) -> syn::Result<Ast> {
        let content;
        let brace = syn::braced!(content in input);
        let mut inner = self.body(&content, depth + 1)?;
        self.finished(&content)?;
        inner.span = brace.span.open().byte_range().start..brace.span.close().byte_range().end;
        Ok(inner)
    }

    /// `if c { a } {else if c { a }} else { b }`.
    fn conditional(&mut self, input: ParseStream, depth: usize) -> syn::Result<Ast> {
        let mut arms = Vec::new();
        let last = loop {
            let start = input.span().byte_range().start;
            input.parse::<Token![if]>()?;
            let condition = self.binary(input, 0, depth + 1)?;
            let then = self.block(input, depth + 1)?;
            arms.push((start, condition, then));
            self.check_depth(depth + arms.len(), input)?;
            if !input.peek(Token![else]) {
                return Err(input.error("an `if` needs an `else`: every expression has a value"));
            }
            input.parse::<Token![else]>()?;
            if !input.peek(Token![if]) {
                break self.block(input, depth + 1)?;
            }
        };
        let mut value = last;
        for (start, condition, then) in arms.into_iter().rev() {
            let below = condition.depth.max(then.depth).max(value.depth);
            self.check_depth(below + 1, input)?;
            let span = start..value.span.end;
            value = self.node(
                AstKind::If(Box::new(condition), Box::new(then), Box::new(value)),
                span,
                below,
            )?;
        }
        Ok(value)
    }

    fn literal(&mut self, input: ParseStream) -> syn::Result<Ast> {
        let literal: Lit = input.parse()?;
        let span = literal.span().byte_range();
        let suffix_of = |text: &str| {
            let start = span.end - text.len();
            (!text.is_empty()).then(|| Name { text: text.to_owned(), span: start..span.end })
        };
        let kind = match &literal {
            Lit::Bool(value) => AstKind::Bool(value.value),
            Lit::Int(value) if is_float_suffix(value.suffix()) => AstKind::Float {
                value: value.base10_digits().parse().unwrap_or(0.0),
                suffix: suffix_of(value.suffix()),
            },
            Lit::Int(value) => AstKind::Int {
                value: value
                    .base10_parse()
                    .map_err(|_| syn::Error::new(value.span(), "literal above 64 bits"))?,
                hex: matches!(value.token().to_string().as_bytes(), [b'0', b'x' | b'o' | b'b', ..]),
                suffix: suffix_of(value.suffix()),
            },
            Lit::Float(value) => AstKind::Float {
                value: value.base10_parse().map_err(|e| syn::Error::new(value.span(), e))?,
                suffix: suffix_of(value.suffix()),
            },
            _ => {
                return Err(syn::Error::new(
                    literal.span(),
                    "only integers, floats and bools are literals",
                ));
            }
        };
        self.node(kind, span, 0)
    }

    /// Expressions between commas.
    fn list(&mut self, content: ParseStream, depth: usize) -> syn::Result<Vec<Ast>> {
        let mut items = Vec::new();
        while !content.is_empty() {
            items.push(self.binary(content, 0, depth + 1)?);
            if content.is_empty() {
                break;
            }
            content.parse::<Token![,]>()?;
        }
        Ok(items)
    }

    fn name(&mut self, input: ParseStream) -> syn::Result<Name> {
        let ident = input.call(Ident::parse_any)?;
        Ok(Name { text: ident.to_string(), span: ident.span().byte_range() })
    }

    fn finished(&self, content: ParseStream) -> syn::Result<()> {
        if content.is_empty() {
            Ok(())
        } else {
            Err(content.error("expected an operator or a closing bracket"))
        }
    }
}

fn is_float_suffix(suffix: &str) -> bool {
    matches!(suffix, "f16" | "f32" | "f64")
}

/// The operator that comes next and how tightly it binds.
fn peek_operator(input: ParseStream) -> Option<(BinaryOp, u8)> {
    use BinaryOp::*;
    // Longer operators first: `peek(Token![<])` also sees the start of `<<`.
    Some(if input.peek(Token![&&]) {
        (AndAlso, 1)
    } else if input.peek(Token![||]) {
        (OrElse, 0)
    } else if input.peek(Token![<<]) {
        (Shl, 6)
    } else if input.peek(Token![>>]) {
        (Shr, 6)
    } else if input.peek(Token![<=]) {
        (Le, 2)
    } else if input.peek(Token![>=]) {
        (Ge, 2)
    } else if input.peek(Token![==]) {
        (Eq, 2)
    } else if input.peek(Token![!=]) {
        (Ne, 2)
    } else if input.peek(Token![<]) {
        (Lt, 2)
    } else if input.peek(Token![>]) {
        (Gt, 2)
    } else if input.peek(Token![|]) {
        (Or, 3)
    } else if input.peek(Token![^]) {
        (Xor, 4)
    } else if input.peek(Token![&]) {
        (And, 5)
    } else if input.peek(Token![+]) {
        (Add, 7)
    } else if input.peek(Token![-]) {
        (Sub, 7)
    } else if input.peek(Token![*]) {
        (Mul, 8)
    } else if input.peek(Token![/]) {
        (Div, 8)
    } else if input.peek(Token![%]) {
        (Rem, 8)
    } else {
        return None;
    })
}

/// Takes the tokens of an operator that was peeked.
fn take_operator(input: ParseStream, op: BinaryOp) -> syn::Result<()> {
    for _ in op.symbol().chars() {
        input.parse::<proc_macro2::Punct>()?;
    }
    Ok(())
}
