//! What operations read of their operands, as Rust: which bits of each the read bits of the result depend on.
//!
//! The code follows from `eval` as the transfer functions do, the other way: it goes from the result to the operands.
//! Where an expression says nothing better, a bit of it depends on all bits of its operands. What the expression's
//! parts are is evaluated on sets, in which operands are known as far as they are constants.

use super::expr;
use crate::expr::{Base, BinaryOp, Expr, ExprKind, Prim, UnaryOp};
use std::collections::{BTreeMap, HashMap};
use std::fmt::Write;

use super::super::model::RuleSet;
use super::super::ops::{OpSig, SigTy};

/// Largest expression for which code is made.
const MOST_NODES: usize = 60;
/// Deepest nesting for which code is made.
const MAX_DEPTH: usize = 24;

/// One function an opcode that may read less of an operand than the whole; gives entries of the table by opcode.
pub(super) fn reads(set: &RuleSet, out: &mut String) -> Vec<Option<String>> {
    let mut known: HashMap<String, String> = HashMap::new();
    let mut entry = |sig: &OpSig| -> Option<String> {
        let eval = sig.eval.as_ref().filter(|eval| eval.size() <= MOST_NODES)?;
        if sig.id >= 0x4000 || !is_bits(&sig.output) || sig.inputs.len() > 8 {
            return None;
        }
        let body = body(eval, sig)?;
        let key = format!("{} {body}", sig.inputs.len());
        let name = match known.get(&key) {
            Some(name) => name.clone(),
            None => {
                let name = format!("reads_{}", sig.name);
                let count = sig.inputs.len();
                let list: Vec<String> = (0..count).map(|i| format!("v{i}")).collect();
                let list = list.join(", ");
                let _ = writeln!(
                    out,
                    "/// What `{}` reads of its operands.\nfn {name}(e: &abs::Env, w: u32, v: &[Abs], u: u64, n: usize) -> u64 {{\n    \
                     let &[{list}] = v else {{ return u64::MAX }};\n    let _ = (e, w, {list});\n    \
                     let mut r = [0; {count}];\n{body}    r[n]\n}}\n",
                    sig.name,
                );
                known.insert(key, name.clone());
                name
            }
        };
        // Without an expression it is a form of SPIR-V whose domain is narrower, in whatever operand.
        let mut dom = if sig.dom.is_some() { 0 } else { 0xff };
        if let Some(expr) = &sig.dom {
            expr.walk(&mut |e| {
                if let ExprKind::Var { id, .. } = &e.kind {
                    dom |= 1u32.checked_shl(*id).unwrap_or(0);
                }
            });
        }
        Some(format!("Reads {{ run: {name}, dom: {} }}", dom & 0xff))
    };
    set.ops.iter().map(&mut entry).collect()
}

/// Whether single bits of a type's values mean something: not of a float, nor of a bool that fills several.
fn is_bits(ty: &SigTy) -> bool {
    match ty.base {
        Base::Int | Base::Uint => true,
        Base::Float => false,
        Base::Bool => ty.bits == 1,
    }
}

/// The statements that fill `r`, the read bits by operand; `None` where all operands are read whole.
fn body(eval: &Expr, sig: &OpSig) -> Option<String> {
    let operands = sig.inputs.iter().map(is_bits).collect();
    let mut walk = Walk { out: String::new(), operands, lets: BTreeMap::new(), finer: false };
    walk.back(eval, "u", false, 1)?;
    walk.finer.then_some(walk.out)
}

struct Walk {
    out: String,
    /// Whether each operand may be read in part.
    operands: Vec<bool>,
    /// Widths of bound variables.
    lets: BTreeMap<u32, String>,
    /// Whether an operand may be read in part.
    finer: bool,
}

impl Walk {
    fn line(&mut self, depth: usize, text: &str) {
        let _ = writeln!(self.out, "{}{text}", "    ".repeat(depth));
    }

    /// The set of values of a part.
    fn known(&self, e: &Expr) -> String {
        expr::emit(e).unwrap_or_else(|| format!("abs::top({})", expr::width(e.ty)))
    }

    /// Goes to the operands of an expression of whose value the bits `u` are read; `whole` says that they are all of them or
    /// none. `None` if it nests too deep.
    fn back(&mut self, e: &Expr, u: &str, whole: bool, depth: usize) -> Option<()> {
        if depth > MAX_DEPTH {
            return None;
        }
        match &e.kind {
            ExprKind::Int(_)
            | ExprKind::Float(_)
            | ExprKind::Bool(_)
            | ExprKind::Const(_)
            | ExprKind::Any
            | ExprKind::Poison => {}
            ExprKind::Var { id, .. } => self.variable(*id, u, whole, depth),
            ExprKind::Let { id, value, body, .. } => {
                self.line(depth, "{");
                let known = self.known(value);
                self.line(depth + 1, &format!("let v{id} = {known};"));
                self.line(depth + 1, &format!("let mut l{id} = 0;"));
                self.lets.insert(*id, expr::width(value.ty));
                self.back(body, u, whole, depth + 1)?;
                self.line(depth + 1, &format!("let _ = v{id};"));
                self.back(value, &format!("l{id}"), false, depth + 1)?;
                self.line(depth, "}");
            }
            ExprKind::Choose(a, b) => {
                self.back(a, u, whole, depth)?;
                self.back(b, u, whole, depth)?;
            }
            ExprKind::Vector(list) => {
                for part in list {
                    self.back(part, u, whole, depth)?;
                }
            }
            ExprKind::Component(a, _) | ExprKind::Splat(a) => self.back(a, u, whole, depth)?,
            ExprKind::If { condition, then, otherwise } => {
                let known = self.known(condition);
                self.line(depth, &format!("let c = abs::truth({known});"));
                for (test, part) in [("c != Some(false)", then), ("c != Some(true)", otherwise)] {
                    self.under(test, depth, |walk| walk.back(part, u, whole, depth + 1))?;
                }
                self.under("c.is_none()", depth, |walk| walk.all_of(condition, u, depth + 1))?;
            }
            _ if e.ty.base == Base::Float
                || e.children().iter().any(|c| c.ty.base == Base::Float) =>
            {
                self.rest(e, u, depth)?;
            }
            ExprKind::Unary(UnaryOp::Not, a) => self.back(a, u, whole, depth)?,
            ExprKind::Unary(UnaryOp::Neg, a) => self.part(a, "used::down(u)", u, depth)?,
            ExprKind::Binary(op, a, b) => self.binary(e, *op, a, b, u, depth)?,
            ExprKind::Cast(a) => {
                let from = expr::width(a.ty);
                let kind = if a.ty.base == Base::Int { "sign" } else { "zero" };
                self.part(a, &format!("used::{kind}_cast({from}, u)"), u, depth)?;
            }
            ExprKind::Call(Prim::ReverseBits, args) => {
                let w = expr::width(e.ty);
                self.part(&args[0], &format!("used::reverse({w}, u)"), u, depth)?;
            }
            ExprKind::Call(..) | ExprKind::FloatToInt { .. } | ExprKind::Reduce(..) => {
                self.rest(e, u, depth)?;
            }
        }
        Some(())
    }

    /// Puts what a walk writes, if anything, under a test.
    fn under(
        &mut self,
        test: &str,
        depth: usize,
        walk: impl FnOnce(&mut Walk) -> Option<()>,
    ) -> Option<()> {
        let before = self.out.len();
        self.line(depth, &format!("if {test} {{"));
        let inside = self.out.len();
        walk(self)?;
        match self.out.len() == inside {
            true => self.out.truncate(before),
            false => self.line(depth, "}"),
        }
        Some(())
    }

    fn variable(&mut self, id: u32, u: &str, whole: bool, depth: usize) {
        match self.operands.get(id as usize) {
            Some(parts) => {
                self.finer |= !whole && *parts;
                let bits = if *parts { u.to_string() } else { format!("used::all(64, {u})") };
                self.line(depth, &format!("r[{id}] |= {bits};"));
            }
            None => self.line(depth, &format!("l{id} |= {u};")),
        }
    }

    /// Goes on to a part, of which the bits are read that a formula over `u` gives.
    fn part(&mut self, e: &Expr, formula: &str, u: &str, depth: usize) -> Option<()> {
        match &e.kind {
            ExprKind::Int(_) | ExprKind::Const(_) => return Some(()),
            ExprKind::Var { id, .. } if u == "u" => {
                self.variable(*id, formula, false, depth);
                return Some(());
            }
            _ => {}
        }
        self.line(depth, "{");
        if u != "u" {
            self.line(depth + 1, &format!("let u = {u};"));
        }
        self.line(depth + 1, &format!("let u = {formula};"));
        self.back(e, "u", false, depth + 1)?;
        self.line(depth, "}");
        Some(())
    }

    /// Goes on to a part that is read whole, if anything is read.
    fn all_of(&mut self, e: &Expr, u: &str, depth: usize) -> Option<()> {
        let formula = format!("used::all({}, {u})", expr::width(e.ty));
        match &e.kind {
            ExprKind::Var { id, .. } => {
                self.variable(*id, &formula, true, depth);
                return Some(());
            }
            _ if e.children().is_empty() => return Some(()),
            _ => {}
        }
        self.line(depth, "{");
        self.line(depth + 1, &format!("let u = {formula};"));
        self.back(e, "u", true, depth + 1)?;
        self.line(depth, "}");
        Some(())
    }

    /// Any bit may depend on all bits of the parts.
    fn rest(&mut self, e: &Expr, u: &str, depth: usize) -> Option<()> {
        for part in e.children() {
            self.all_of(part, u, depth)?;
        }
        Some(())
    }

    fn binary(
        &mut self,
        e: &Expr,
        op: BinaryOp,
        a: &Expr,
        b: &Expr,
        u: &str,
        depth: usize,
    ) -> Option<()> {
        use BinaryOp::*;
        let w = expr::width(e.ty);
        match op {
            Xor => {
                self.back(a, u, false, depth)?;
                self.back(b, u, false, depth)
            }
            Add | Sub => {
                self.part(a, "used::down(u)", u, depth)?;
                self.part(b, "used::down(u)", u, depth)
            }
            And | Or | Mul => {
                let name = match op {
                    And => "and",
                    Or => "or",
                    _ => "mul",
                };
                for (part, other) in [(a, b), (b, a)] {
                    let other = self.known(other);
                    self.part(part, &format!("used::{name}(u, {other})"), u, depth)?;
                }
                Some(())
            }
            Shl | Shr => {
                let name = match (op, e.ty.base) {
                    (Shl, _) => "shl",
                    (_, Base::Int) => "ishr",
                    _ => "ushr",
                };
                let count = self.known(b);
                self.part(a, &format!("used::{name}({w}, u, {count})"), u, depth)?;
                self.part(b, &format!("used::shift_count({w}, u)"), u, depth)
            }
            Div | Rem | AndAlso | OrElse | Eq | Ne | Lt | Le | Gt | Ge => self.rest(e, u, depth),
        }
    }
}
