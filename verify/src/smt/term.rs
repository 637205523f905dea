//! Terms of SMT-LIB 2: bit-vectors, booleans and IEEE floats, each subterm once.
//!
//! Nothing is simplified here: what the solver gets is what the definitions say. A term that is built twice is one term,
//! and that is all the sharing there is.

use rustc_hash::FxHashMap;
use std::fmt::Write as _;

/// A term of a [`Terms`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Term(u32);

/// What a term's values are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Sort {
    /// True or false.
    Bool,
    /// Bit-vectors of so many bits.
    Bits(u32),
    /// IEEE floats of 16, 32 or 64 bits.
    Float(u32),
    /// Rounding modes.
    Mode,
}

impl Sort {
    fn text(self) -> String {
        match self {
            Sort::Bool => "Bool".into(),
            Sort::Bits(w) => format!("(_ BitVec {w})"),
            Sort::Float(w) => format!("(_ FloatingPoint {})", format(w)),
            Sort::Mode => "RoundingMode".into(),
        }
    }
}

/// Bits of the exponent, and of the significand with its hidden bit.
fn format(w: u32) -> &'static str {
    match w {
        16 => "5 11",
        32 => "8 24",
        _ => "11 53",
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Node {
    /// What stands in front of the operands: `bvadd`, `(_ extract 7 0)`; of a leaf, the leaf.
    head: String,
    args: Vec<Term>,
    sort: Sort,
}

/// A set of terms under construction, and what is said of them.
#[derive(Clone, Debug, Default)]
pub struct Terms {
    nodes: Vec<Node>,
    known: FxHashMap<Node, Term>,
    /// Free constants and functions, as declared.
    declarations: Vec<String>,
    /// Functions by name.
    functions: Vec<String>,
    assertions: Vec<Term>,
}

impl Terms {
    fn add(&mut self, node: Node) -> Term {
        if let Some(term) = self.known.get(&node) {
            return *term;
        }
        let term = Term(self.nodes.len() as u32);
        self.nodes.push(node.clone());
        self.known.insert(node, term);
        term
    }

    /// The sort of a term.
    pub fn sort(&self, term: Term) -> Sort {
        self.nodes[term.0 as usize].sort
    }

    /// Bits of a bit-vector or float; 1 of a boolean.
    pub fn width(&self, term: Term) -> u32 {
        match self.sort(term) {
            Sort::Bool | Sort::Mode => 1,
            Sort::Bits(w) | Sort::Float(w) => w,
        }
    }

    /// An operator applied to operands.
    pub fn apply(&mut self, head: impl Into<String>, args: &[Term], sort: Sort) -> Term {
        self.add(Node { head: head.into(), args: args.to_vec(), sort })
    }

    /// A free constant of that name, declared once.
    pub fn constant(&mut self, name: &str, sort: Sort) -> Term {
        let before = self.nodes.len();
        let term = self.apply(name, &[], sort);
        if self.nodes.len() > before {
            self.declarations.push(format!("(declare-const {name} {})", sort.text()));
        }
        term
    }

    /// A free constant that no other is.
    pub fn fresh(&mut self, stem: &str, sort: Sort) -> Term {
        let name = format!("{stem}!!{}", self.nodes.len());
        self.constant(&name, sort)
    }

    /// A free constant that belongs to a term.
    pub fn named_after(&mut self, stem: &str, term: Term, sort: Sort) -> Term {
        self.constant(&format!("{stem}!{}", term.0), sort)
    }

    /// A function of which nothing is known but that equal operands give equal results.
    pub fn unknown(&mut self, name: &str, args: &[Term], sort: Sort) -> Term {
        if !self.functions.iter().any(|f| f == name) {
            let from: Vec<String> = args.iter().map(|a| self.sort(*a).text()).collect();
            self.declarations.push(format!(
                "(declare-fun {name} ({}) {})",
                from.join(" "),
                sort.text()
            ));
            self.functions.push(name.to_owned());
        }
        self.apply(name, args, sort)
    }

    /// Whether there are functions of which nothing is known.
    pub fn has_unknown(&self) -> bool {
        !self.functions.is_empty()
    }

    /// Says that a boolean term is true.
    pub fn assert(&mut self, term: Term) {
        if !self.assertions.contains(&term) {
            self.assertions.push(term);
        }
    }

    /// `true` or `false`.
    pub fn truth(&mut self, value: bool) -> Term {
        self.apply(if value { "true" } else { "false" }, &[], Sort::Bool)
    }

    /// A bit-vector literal.
    pub fn bits(&mut self, w: u32, value: u64) -> Term {
        let value = if w >= 64 { value } else { value & ((1 << w) - 1) };
        self.apply(format!("(_ bv{value} {w})"), &[], Sort::Bits(w))
    }

    /// `not`.
    pub fn not(&mut self, a: Term) -> Term {
        self.apply("not", &[a], Sort::Bool)
    }

    /// Whether all of them are true; `true` of none.
    pub fn all(&mut self, list: &[Term]) -> Term {
        match list {
            [] => self.truth(true),
            [one] => *one,
            _ => self.apply("and", list, Sort::Bool),
        }
    }

    /// Whether one of them is true; `false` of none.
    pub fn some(&mut self, list: &[Term]) -> Term {
        match list {
            [] => self.truth(false),
            [one] => *one,
            _ => self.apply("or", list, Sort::Bool),
        }
    }

    /// `=`.
    pub fn equal(&mut self, a: Term, b: Term) -> Term {
        self.apply("=", &[a, b], Sort::Bool)
    }

    /// `a` if `condition`, else `b`.
    pub fn ite(&mut self, condition: Term, a: Term, b: Term) -> Term {
        match a == b {
            true => a,
            false => self.apply("ite", &[condition, a, b], self.sort(a)),
        }
    }

    /// A bit-vector operator whose operands and result have one width.
    pub fn bv(&mut self, head: &str, args: &[Term]) -> Term {
        self.apply(head, args, self.sort(args[0]))
    }

    /// A predicate.
    pub fn test(&mut self, head: &str, args: &[Term]) -> Term {
        self.apply(head, args, Sort::Bool)
    }

    /// Bits `high` to `low`.
    pub fn extract(&mut self, a: Term, high: u32, low: u32) -> Term {
        self.apply(format!("(_ extract {high} {low})"), &[a], Sort::Bits(high - low + 1))
    }

    /// A bit-vector cut off or extended to a width, by its sign if `signed`.
    pub fn resize(&mut self, a: Term, to: u32, signed: bool) -> Term {
        let from = self.width(a);
        match to.cmp(&from) {
            std::cmp::Ordering::Equal => a,
            std::cmp::Ordering::Less => self.extract(a, to - 1, 0),
            std::cmp::Ordering::Greater => {
                let how = if signed { "sign_extend" } else { "zero_extend" };
                self.apply(format!("(_ {how} {})", to - from), &[a], Sort::Bits(to))
            }
        }
    }

    /// 1 or 0 in a width.
    pub fn from_bool(&mut self, a: Term, w: u32) -> Term {
        let (one, zero) = (self.bits(w, 1), self.bits(w, 0));
        self.ite(a, one, zero)
    }

    /// Whether a bit-vector isn't 0.
    pub fn nonzero(&mut self, a: Term) -> Term {
        let zero = self.bits(self.width(a), 0);
        let same = self.equal(a, zero);
        self.not(same)
    }

    /// The float with these bits.
    pub fn float(&mut self, bits: Term) -> Term {
        let w = self.width(bits);
        self.apply(format!("(_ to_fp {})", format(w)), &[bits], Sort::Float(w))
    }

    /// A float operation that rounds: `mode` is `RNE`, `RTZ`, ….
    pub fn rounded(&mut self, head: &str, mode: Term, args: &[Term], w: u32) -> Term {
        let mut list = vec![mode];
        list.extend(args);
        self.apply(head, &list, Sort::Float(w))
    }

    /// A rounding mode by its name.
    pub fn mode(&mut self, name: &str) -> Term {
        self.apply(name, &[], Sort::Mode)
    }

    /// The head that makes a float of a float or of a signed integer.
    pub fn to_float(w: u32) -> String {
        format!("(_ to_fp {})", format(w))
    }

    /// The head that makes a float of an unsigned integer.
    pub fn to_float_unsigned(w: u32) -> String {
        format!("(_ to_fp_unsigned {})", format(w))
    }

    /// The bits of a float by Z3's own operator, which other solvers don't have: for calculations.
    pub fn ieee_bits(&mut self, float: Term) -> Term {
        let w = self.width(float);
        self.apply("fp.to_ieee_bv", &[float], Sort::Bits(w))
    }

    /// The whole as a script that asks whether everything that is asserted can be true together with `goal`.
    pub fn script(&self, goal: Term) -> String {
        let mut out = String::from("(set-logic ALL)\n");
        for declaration in &self.declarations {
            let _ = writeln!(out, "{declaration}");
        }
        let mut roots = self.assertions.clone();
        roots.push(goal);
        let mut needed = vec![false; self.nodes.len()];
        roots.iter().for_each(|t| needed[t.0 as usize] = true);
        // Operands have lower numbers than what is made of them.
        for at in (0..self.nodes.len()).rev() {
            if needed[at] {
                self.nodes[at].args.iter().for_each(|a| needed[a.0 as usize] = true);
            }
        }
        for (at, node) in self.nodes.iter().enumerate() {
            if needed[at] && !node.args.is_empty() {
                let args: Vec<String> = node.args.iter().map(|a| self.name(*a)).collect();
                let _ = writeln!(
                    out,
                    "(define-fun t{at} () {} ({} {}))",
                    node.sort.text(),
                    node.head,
                    args.join(" ")
                );
            }
        }
        for root in roots {
            let _ = writeln!(out, "(assert {})", self.name(root));
        }
        out.push_str("(check-sat)\n");
        out
    }

    fn name(&self, term: Term) -> String {
        let node = &self.nodes[term.0 as usize];
        if node.args.is_empty() { node.head.clone() } else { format!("t{}", term.0) }
    }
}
