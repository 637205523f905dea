//! Terms of the rule files' syntax as small graphs with sizes: what `eval` and `simplify` work on.
//!
//! Sizes are inferred as rules infer theirs: operands without a size share the width of their operation, and operations
//! without a component count work on as many components as their result has. What nothing determines is the size that
//! the command line gives.

use deburr_ir_core::{AluInfo, AluOp, AluProps, AluType, BaseType, Flags};
use deburr_rulegen::diagnostics::{Diagnostic, Span};
use deburr_rulegen::expr::Base;
use deburr_rulegen::rules::model::Literal;
use deburr_rulegen::rules::{ast, codes, parse};
use std::sync::Arc;

/// A term with all sizes known. Operands stand before their users.
#[derive(Clone, Debug)]
pub struct Term {
    /// Nodes, each once: equal ones are shared.
    pub nodes: Vec<Node>,
    /// Variables in order of their first occurrence.
    pub vars: Vec<Var>,
}

impl Term {
    /// The node that the term stands for.
    pub fn root(&self) -> &Node {
        &self.nodes[self.nodes.len() - 1]
    }
}

/// A variable.
#[derive(Clone, Debug)]
pub struct Var {
    pub name: String,
    pub bits: u8,
    pub comps: u8,
    /// How its bits are read where it first occurs.
    pub base: BaseType,
    /// Whether it stands with a swizzle anywhere.
    pub swizzled: bool,
}

/// An operand: a node through a swizzle.
#[derive(Clone, Debug, PartialEq)]
pub struct Operand {
    pub node: usize,
    pub swizzle: Option<Vec<u8>>,
}

/// A node.
#[derive(Clone, Debug)]
pub struct Node {
    pub kind: NodeKind,
    pub bits: u8,
    pub comps: u8,
    pub base: BaseType,
}

/// What a node is.
#[derive(Clone, Debug)]
pub enum NodeKind {
    /// An operation at an unsized width, with the promises on it.
    Op { op: AluOp, width: u8, promises: Flags, args: Vec<Operand> },
    /// A variable by number.
    Var(usize),
    /// A literal's bits, the same in every component.
    Literal(u64),
}

/// What a term is read under.
#[derive(Clone, Debug, Default)]
pub struct Surroundings {
    /// Bit size of what nothing else determines; 32 if not given, or the least admissible one.
    pub size: Option<u8>,
    /// Components of variables, where values give them.
    pub comps: Vec<(String, u8)>,
}

/// Reads a term.
pub fn read(name: &str, text: &str, around: &Surroundings) -> Result<Term, Diagnostic> {
    let file: Arc<str> = name.into();
    let tree = parse::parse_term(&file, text)?;
    let mut reader =
        Reader { file, around, nodes: Vec::new(), vars: Vec::new(), classes: Vec::new() };
    let root = reader.term(&tree, None)?;
    reader.finish(root, tree.span)
}

/// A size or count that others may be equal to.
#[derive(Clone, Copy, Debug)]
enum Class {
    Open,
    Fixed(u8),
    Same(usize),
}

struct Reader<'a> {
    file: Arc<str>,
    around: &'a Surroundings,
    nodes: Vec<Draft>,
    vars: Vec<(String, usize)>,
    classes: Vec<Class>,
}

struct Draft {
    kind: DraftKind,
    /// Class of the bit size, and of the component count.
    bits: usize,
    comps: usize,
    base: BaseType,
    /// Components that swizzles take of it.
    least: u8,
    swizzled: bool,
    span: Span,
}

enum DraftKind {
    Op { op: AluOp, info: &'static AluInfo, width: usize, promises: Flags, args: Vec<Operand> },
    Var(usize),
    Literal(Literal),
}

/// What the user of a term expects of it.
struct Wanted {
    ty: AluType,
    bits: usize,
    comps: usize,
}

impl Reader<'_> {
    fn error<T>(&self, span: Span, message: impl Into<String>) -> Result<T, Diagnostic> {
        Err(Diagnostic::error(codes::SYNTAX, &self.file, span, message))
    }

    fn class(&mut self, fixed: u8) -> usize {
        self.classes.push(if fixed == 0 { Class::Open } else { Class::Fixed(fixed) });
        self.classes.len() - 1
    }

    fn find(&self, mut class: usize) -> usize {
        while let Class::Same(other) = self.classes[class] {
            class = other;
        }
        class
    }

    fn value(&self, class: usize) -> Option<u8> {
        match self.classes[self.find(class)] {
            Class::Fixed(n) => Some(n),
            Class::Open | Class::Same(_) => None,
        }
    }

    fn unify(&mut self, a: usize, b: usize, what: &str, span: Span) -> Result<(), Diagnostic> {
        let (a, b) = (self.find(a), self.find(b));
        if a == b {
            return Ok(());
        }
        match (self.classes[a], self.classes[b]) {
            (Class::Fixed(x), Class::Fixed(y)) if x != y => {
                self.error(span, format!("it has {x} {what}, {y} are expected"))
            }
            (Class::Open, _) => {
                self.classes[a] = Class::Same(b);
                Ok(())
            }
            _ => {
                self.classes[b] = Class::Same(a);
                Ok(())
            }
        }
    }

    /// Reads a term. Recursion is bounded by the parser's depth of brackets.
    fn term(&mut self, term: &ast::Term, wanted: Option<&Wanted>) -> Result<Operand, Diagnostic> {
        let node = match &term.kind {
            ast::TermKind::Op { op, flags, args } => self.op(op, flags, args, term.span)?,
            ast::TermKind::Var(name, note) | ast::TermKind::Const(name, note) => {
                self.var(name, note.as_ref(), wanted)?
            }
            ast::TermKind::Literal(literal) => self.literal(literal, wanted),
            ast::TermKind::Ac(..)
            | ast::TermKind::Intrinsic(..)
            | ast::TermKind::Tex(..)
            | ast::TermKind::Phi(..)
            | ast::TermKind::Undef(_) => {
                return self
                    .error(term.span, "only operations of the opcode table can be evaluated");
            }
        };
        let swizzle = match &term.swizzle {
            None => None,
            Some(letters) => Some(self.swizzle(node, letters)?),
        };
        if let Some(wanted) = wanted {
            self.unify(self.nodes[node].bits, wanted.bits, "bits", term.span)?;
            match &swizzle {
                Some(list) => {
                    let count = self.class(list.len() as u8);
                    self.unify(count, wanted.comps, "components", term.span)?;
                }
                None => {
                    self.unify(self.nodes[node].comps, wanted.comps, "components", term.span)?
                }
            }
        }
        Ok(Operand { node, swizzle })
    }

    fn swizzle(&mut self, node: usize, letters: &ast::Name) -> Result<Vec<u8>, Diagnostic> {
        let wide = letters.text.chars().any(|c| !"xyzw".contains(c));
        let number = |c: char| match wide {
            true => "abcdefghijklmnop".find(c),
            false => "xyzw".find(c),
        };
        let list: Option<Vec<u8>> =
            letters.text.chars().map(|c| number(c).map(|n| n as u8)).collect();
        let Some(list) = list else {
            return self.error(letters.span, format!("`{}` is no swizzle", letters.text));
        };
        let least = list.iter().max().map_or(1, |n| n + 1);
        let draft = &mut self.nodes[node];
        draft.least = draft.least.max(least);
        draft.swizzled = true;
        let class = draft.comps;
        if self.value(class).is_some_and(|n| n < least) {
            return self.error(letters.span, "it has no such component");
        }
        Ok(list)
    }

    fn push(
        &mut self,
        kind: DraftKind,
        (bits, comps): (usize, usize),
        base: BaseType,
        span: Span,
    ) -> usize {
        self.nodes.push(Draft { kind, bits, comps, base, least: 1, swizzled: false, span });
        self.nodes.len() - 1
    }

    fn literal(&mut self, literal: &ast::Literal, wanted: Option<&Wanted>) -> usize {
        let value = match literal.kind {
            ast::LiteralKind::Int(v) => Literal::Int(v),
            ast::LiteralKind::Hex(v) => Literal::Hex(v),
            ast::LiteralKind::Float(v) => Literal::Float(v),
            ast::LiteralKind::Bool(v) => Literal::Bool(v),
        };
        let own = match &value {
            Literal::Float(_) => BaseType::Float,
            Literal::Bool(_) => BaseType::Bool,
            Literal::Int(_) | Literal::Hex(_) => BaseType::Int,
        };
        let classes = (self.class(0), self.class(0));
        let base = wanted.map_or(own, |w| w.ty.base);
        self.push(DraftKind::Literal(value), classes, base, literal.span)
    }

    fn var(
        &mut self,
        name: &ast::Name,
        note: Option<&ast::SizeNote>,
        wanted: Option<&Wanted>,
    ) -> Result<usize, Diagnostic> {
        let found = self.vars.iter().find(|(n, _)| *n == name.text).map(|(_, node)| *node);
        let node = match found {
            Some(node) => node,
            None => {
                let given = self.around.comps.iter().find(|(n, _)| *n == name.text);
                let classes = (self.class(0), self.class(given.map_or(0, |(_, n)| *n)));
                let base = wanted.map_or(BaseType::Uint, |w| w.ty.base);
                let kind = DraftKind::Var(self.vars.len());
                let node = self.push(kind, classes, base, name.span);
                self.vars.push((name.text.clone(), node));
                node
            }
        };
        if let Some(note) = note {
            if let ast::SizeExpr::Bits(bits) = note.size {
                let class = self.class(bits.min(255) as u8);
                self.unify(self.nodes[node].bits, class, "bits", note.span)?;
            }
            if let Some(ast::CountExpr::Number(n)) = note.count {
                let class = self.class(n.min(255) as u8);
                self.unify(self.nodes[node].comps, class, "components", note.span)?;
            }
        }
        Ok(node)
    }

    fn op(
        &mut self,
        name: &ast::Name,
        flags: &[ast::Name],
        args: &[ast::Term],
        span: Span,
    ) -> Result<usize, Diagnostic> {
        let found = AluOp::from_name(&name.text).and_then(|op| Some((op, op.builtin()?)));
        let Some((op, info)) = found else {
            let names = deburr_ir_core::ALU_INFO.iter().map(|i| i.name);
            let text = format!("there is no opcode `{}`", name.text);
            let d = Diagnostic::error(codes::UNKNOWN_OP, &self.file, name.span, text);
            return Err(d.suggest(&name.text, names));
        };
        if info.inputs.len() != args.len() {
            let text =
                format!("`{}` takes {} operands, not {}", name.text, info.inputs.len(), args.len());
            return Err(Diagnostic::error(codes::ARITY, &self.file, span, text));
        }
        let mut promises = Flags::empty();
        for flag in flags {
            match Flags::NAMES.iter().find(|(n, f)| *n == flag.text && Flags::PROMISES.contains(*f))
            {
                Some((_, f)) => promises |= *f,
                None => return self.error(flag.span, format!("`{}` is no promise", flag.text)),
            }
        }
        let (width, comps) = (self.class(0), self.class(info.output.comps));
        let mut operands = Vec::new();
        for (arg, ty) in args.iter().zip(info.inputs) {
            let bits = if ty.bits == 0 { width } else { self.class(ty.bits) };
            // An operand with its own count beside a result with its own count shares nothing.
            let count = match (ty.comps, info.output.comps) {
                (0, 0) => comps,
                (0, _) => self.class(0),
                (n, _) => self.class(n),
            };
            let wanted = Wanted { ty: *ty, bits, comps: count };
            operands.push(self.term(arg, Some(&wanted))?);
        }
        let bits = if info.output.bits == 0 { width } else { self.class(info.output.bits) };
        // What only moves bits is read as what it moves.
        let moves = info.props.contains(AluProps::SELECTION) || info.cost == 0;
        let base = match operands.last().filter(|_| moves && info.output.base == BaseType::Uint) {
            Some(moved) => self.nodes[moved.node].base,
            None => info.output.base,
        };
        let kind = DraftKind::Op { op, info, width, promises, args: operands };
        Ok(self.push(kind, (bits, comps), base, span))
    }

    /// Settles what is open: component counts first by swizzles, then 1; widths by the size given.
    fn finish(mut self, root: Operand, span: Span) -> Result<Term, Diagnostic> {
        for n in 0..self.nodes.len() {
            let (class, least) = (self.find(self.nodes[n].comps), self.nodes[n].least);
            match self.value(class) {
                Some(count) if count < least => {
                    return self
                        .error(self.nodes[n].span, "it has fewer components than a swizzle takes");
                }
                None if least > 1 => self.classes[class] = Class::Fixed(least),
                _ => {}
            }
        }
        self.settle_widths()?;
        let mut term = Term { nodes: Vec::new(), vars: Vec::new() };
        let mut places: Vec<usize> = Vec::new();
        for draft in &self.nodes {
            let bits = self.value(draft.bits).unwrap_or(self.around.size.unwrap_or(32));
            let comps = self.value(draft.comps).unwrap_or(1);
            if !matches!(bits, 1 | 8 | 16 | 32 | 64) || !matches!(comps, 1..=5 | 8 | 16) {
                return self.error(
                    draft.span,
                    format!("the IR has no values of {bits} bits and {comps} components"),
                );
            }
            let kind = self.settled(draft, bits, &places)?;
            if let DraftKind::Var(n) = &draft.kind {
                let name = self.vars[*n].0.clone();
                let (base, swizzled) = (draft.base, draft.swizzled);
                term.vars.push(Var { name, bits, comps, base, swizzled });
            }
            places.push(term.nodes.len());
            term.nodes.push(Node { kind, bits, comps, base: draft.base });
        }
        if let Some(list) = root.swizzle {
            // A swizzle of the whole is a move.
            let (bits, base) = (term.root().bits, term.root().base);
            let args = vec![Operand { node: places[root.node], swizzle: Some(list.clone()) }];
            let kind = NodeKind::Op { op: AluOp::MOV, width: bits, promises: Flags::empty(), args };
            term.nodes.push(Node { kind, bits, comps: list.len() as u8, base });
        }
        if term.nodes.len() > 4096 {
            return self.error(span, "the term is too large");
        }
        Ok(term)
    }

    fn settle_widths(&mut self) -> Result<(), Diagnostic> {
        for n in 0..self.nodes.len() {
            let DraftKind::Op { info, width, .. } = &self.nodes[n].kind else { continue };
            if info.sizes.is_empty() {
                continue;
            }
            let class = self.find(*width);
            // Every operation at this width must have it.
            let sizes: Vec<u8> = [1, 8, 16, 32, 64]
                .into_iter()
                .filter(|bits| {
                    self.nodes.iter().all(|other| match &other.kind {
                        DraftKind::Op { info, width, .. } if self.find(*width) == class => {
                            info.sizes.contains(bits)
                        }
                        _ => true,
                    })
                })
                .collect();
            let wanted = self.value(class).or(self.around.size);
            let default = if sizes.contains(&32) { Some(32) } else { sizes.first().copied() };
            match wanted.or(default) {
                Some(bits) if sizes.contains(&bits) => self.classes[class] = Class::Fixed(bits),
                Some(bits) => {
                    let text = format!("`{}` has no width of {bits} bits", info.name);
                    return self.error(self.nodes[n].span, text);
                }
                None => return self.error(self.nodes[n].span, "no width fits every operation"),
            }
        }
        Ok(())
    }

    fn settled(&self, draft: &Draft, bits: u8, places: &[usize]) -> Result<NodeKind, Diagnostic> {
        Ok(match &draft.kind {
            DraftKind::Var(n) => NodeKind::Var(*n),
            DraftKind::Literal(literal) => {
                let encoded = match (literal, draft.base) {
                    (Literal::Float(_), BaseType::Int | BaseType::Bool) => {
                        Err("the operand is no float".into())
                    }
                    _ => literal.encode(base_of(draft.base), bits),
                };
                let error = |why| Diagnostic::error(codes::LITERAL, &self.file, draft.span, why);
                NodeKind::Literal(encoded.map_err(error)?)
            }
            DraftKind::Op { op, width, promises, args, .. } => {
                let place =
                    |a: &Operand| Operand { node: places[a.node], swizzle: a.swizzle.clone() };
                NodeKind::Op {
                    op: *op,
                    width: self.value(*width).unwrap_or(0),
                    promises: *promises,
                    args: args.iter().map(place).collect(),
                }
            }
        })
    }
}

/// The generator library's name of a base type.
pub fn base_of(base: BaseType) -> Base {
    match base {
        BaseType::Int => Base::Int,
        BaseType::Uint => Base::Uint,
        BaseType::Float => Base::Float,
        BaseType::Bool => Base::Bool,
    }
}

/// A value as a person reads it.
pub fn show(bits: u64, size: u8, base: BaseType) -> String {
    match (base, size) {
        (BaseType::Float, 32) => {
            float_text(f32::from_bits(bits as u32).into(), f32::from_bits(bits as u32))
        }
        (BaseType::Float, 64) => float_text(f64::from_bits(bits), f64::from_bits(bits)),
        (BaseType::Float, _) => {
            let wide = half(bits as u16);
            float_text(wide, wide)
        }
        (BaseType::Bool, _) => (bits != 0).to_string(),
        (BaseType::Uint, _) => bits.to_string(),
        (BaseType::Int, 64) => (bits as i64).to_string(),
        (BaseType::Int, _) => {
            let shift = 64 - u32::from(size);
            (((bits << shift) as i64) >> shift).to_string()
        }
    }
}

fn float_text(wide: f64, shown: impl std::fmt::Debug) -> String {
    if wide.is_nan() {
        return "nan".into();
    }
    match (wide.is_infinite(), wide.is_sign_negative()) {
        (true, false) => "inf".into(),
        (true, true) => "-inf".into(),
        _ => format!("{shown:?}"),
    }
}

/// A binary16 as a wider float: exact.
fn half(h: u16) -> f64 {
    let sign = if h & 0x8000 != 0 { -1.0 } else { 1.0 };
    let (exponent, significand) = (i32::from(h >> 10 & 31), f64::from(h & 0x3ff));
    sign * match exponent {
        0 => significand * 2f64.powi(-24),
        31 if significand == 0.0 => f64::INFINITY,
        31 => f64::NAN,
        e => (1024.0 + significand) * 2f64.powi(e - 25),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sizes(text: &str, size: Option<u8>) -> Result<Vec<(String, u8, u8)>, String> {
        let around = Surroundings { size, comps: Vec::new() };
        let term = read("-", text, &around).map_err(|d| d.message)?;
        Ok(term.vars.iter().map(|v| (v.name.clone(), v.bits, v.comps)).collect())
    }

    #[test]
    fn sizes_are_inferred() {
        let of = |text| sizes(text, None).unwrap();
        assert_eq!(of("iadd(a, ineg(b))"), [("a".into(), 32, 1), ("b".into(), 32, 1)]);
        assert_eq!(of("bcsel(flt(a, 1.0), b, a)")[1], ("b".into(), 32, 1));
        assert_eq!(of("fadd(a:16x3, 0.5)"), [("a".into(), 16, 3)]);
        assert_eq!(of("fadd(v.zx, w)"), [("v".into(), 32, 3), ("w".into(), 32, 2)]);
        assert_eq!(sizes("iadd(a, b)", Some(64)).unwrap()[0], ("a".into(), 64, 1));
    }

    #[test]
    fn what_does_not_fit_is_told() {
        let of = |text, size| sizes(text, size).unwrap_err();
        assert!(of("fadd(a, b)", Some(8)).contains("no width of 8 bits"));
        assert!(of("iadd(a:32, b:16)", None).contains("bits"));
        assert!(of("fadd(a:32x3, b:32x2)", None).contains("components"));
        assert!(of("iad(a, b)", None).contains("no opcode"));
        assert!(of("iadd(a)", None).contains("2 operands"));
        assert!(of("iadd(a, 1.0)", None).len() > 5);
        assert!(of("@load(a)", None).len() > 5);
    }

    #[test]
    fn values_read_as_written() {
        assert_eq!(show(0xff, 8, BaseType::Int), "-1");
        assert_eq!(show(0xff, 8, BaseType::Uint), "255");
        assert_eq!(show(0x3f80_0000, 32, BaseType::Float), "1.0");
        assert_eq!(show(0x7fc0_0000, 32, BaseType::Float), "nan");
        assert_eq!(show(0x3c00, 16, BaseType::Float), "1.0");
        assert_eq!(show(0x8000, 16, BaseType::Float), "-0.0");
        assert_eq!(show(0xfc00, 16, BaseType::Float), "-inf");
    }
}
