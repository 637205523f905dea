//! Expressions as Rust over abstract values.
//!
//! The generated code computes on `abs::Abs`, sets of values with exact arithmetic on singletons. So one emission
//! serves the constants that rules compute, the facts they test on constants and on values, and the transfer
//! functions of the value analysis; none of them is a second definition of anything.

use crate::expr::prim::Convention;
use crate::expr::{Base, BinaryOp, Const, Expr, ExprKind, Prim, Ty, UnaryOp, Width};
use std::fmt::Write;

/// Deepest nesting that is emitted; generated code that nests deeper compiles slowly and says nothing useful.
const MAX_DEPTH: usize = 24;

/// The expression as Rust, with operand `i` in the variable `v{i}`, the width in `w` and the context in `e`; `None`
/// where it has vectors or nests too deep.
pub fn emit(expr: &Expr) -> Option<String> {
    let mut out = String::new();
    value(expr, 0, &mut out)?;
    Some(out)
}

pub(super) fn width(ty: Ty) -> String {
    match (ty.base, ty.width) {
        (Base::Bool, _) => "1".to_string(),
        (_, Width::Fixed(n)) => n.to_string(),
        (_, Width::Bits) => "w".to_string(),
    }
}

fn value(expr: &Expr, depth: usize, out: &mut String) -> Option<()> {
    if depth > MAX_DEPTH || expr.ty.comps != 1 {
        return None;
    }
    let w = width(expr.ty);
    match &expr.kind {
        ExprKind::Int(v) => write!(out, "abs::int({w}, {v:#x})").ok()?,
        ExprKind::Float(v) => write!(out, "abs::float({w}, {:#x})", v.to_bits()).ok()?,
        ExprKind::Bool(v) => write!(out, "abs::bool({v})").ok()?,
        ExprKind::Const(c) => match c {
            Const::Bits => out.push_str("abs::int(32, u64::from(w))"),
            Const::IntMin => write!(out, "abs::int_min({w})").ok()?,
            Const::IntMax => write!(out, "abs::int_max({w})").ok()?,
            Const::UintMax => write!(out, "abs::int({w}, u64::MAX)").ok()?,
            Const::Nan => write!(out, "abs::float({w}, {:#x})", f64::NAN.to_bits()).ok()?,
            Const::Inf => write!(out, "abs::float({w}, {:#x})", f64::INFINITY.to_bits()).ok()?,
        },
        ExprKind::Var { id, .. } => write!(out, "v{id}").ok()?,
        ExprKind::Let { id, value: bound, body, .. } => {
            write!(out, "{{ let v{id} = ").ok()?;
            value(bound, depth + 1, out)?;
            out.push_str("; ");
            value(body, depth + 1, out)?;
            out.push_str(" }");
        }
        ExprKind::Unary(op, a) => {
            let name = match (op, expr.ty.base) {
                (UnaryOp::Neg, Base::Float) => "fneg",
                (UnaryOp::Neg, _) => "neg",
                (UnaryOp::Not, _) => "not",
            };
            call(name, &w, &[a], depth, out)?;
        }
        ExprKind::Binary(op, a, b) => match expr.integral() {
            Some(a) => call("is_integral", &width(a.ty), &[a], depth, out)?,
            None => binary(*op, a, b, depth, out)?,
        },
        ExprKind::If { condition, then, otherwise } => {
            conditional(&w, [condition, then, otherwise], depth, out)?;
        }
        ExprKind::Cast(a) => cast(a, expr.ty, depth, out)?,
        ExprKind::FloatToInt { value: a, saturating } => {
            let sat = if *saturating { "_sat" } else { "" };
            let name = if expr.ty.base == Base::Int { "f2i" } else { "f2u" };
            write!(out, "abs::{name}{sat}({}, {w}, ", width(a.ty)).ok()?;
            value(a, depth + 1, out)?;
            out.push(')');
        }
        ExprKind::Call(prim, args) => primitive(*prim, args, expr.ty, depth, out)?,
        ExprKind::Choose(a, b) => call("join", &w, &[a, b], depth, out)?,
        ExprKind::Any | ExprKind::Poison => write!(out, "abs::top({w})").ok()?,
        ExprKind::Vector(_)
        | ExprKind::Component(..)
        | ExprKind::Splat(_)
        | ExprKind::Reduce(..) => {
            return None;
        }
    }
    Some(())
}

fn call(name: &str, w: &str, args: &[&Expr], depth: usize, out: &mut String) -> Option<()> {
    let env = match name {
        "fadd" | "fsub" | "fmul" | "fdiv" | "feq" | "fne" | "flt" | "fle" => "e, ",
        _ => "",
    };
    write!(out, "abs::{name}({env}{w}").ok()?;
    for arg in args {
        out.push_str(", ");
        value(arg, depth + 1, out)?;
    }
    out.push(')');
    Some(())
}

fn binary(op: BinaryOp, a: &Expr, b: &Expr, depth: usize, out: &mut String) -> Option<()> {
    use BinaryOp::*;
    let base = a.ty.base;
    let w = width(a.ty);
    let by = |int: &'static str, uint: &'static str, float: &'static str| match base {
        Base::Int => int,
        Base::Float => float,
        _ => uint,
    };
    let (name, swap) = match op {
        Add => (by("add", "add", "fadd"), false),
        Sub => (by("sub", "sub", "fsub"), false),
        Mul => (by("mul", "mul", "fmul"), false),
        Div => (by("idiv", "udiv", "fdiv"), false),
        Rem if base == Base::Float => return None,
        Rem => (by("irem", "urem", ""), false),
        And | AndAlso => ("and", false),
        Or | OrElse => ("or", false),
        Xor => ("xor", false),
        Shl => ("shl", false),
        Shr => (by("ishr", "ushr", ""), false),
        Eq => (by("eq", "eq", "feq"), false),
        Ne => (by("ne", "ne", "fne"), false),
        Lt => (by("ilt", "ult", "flt"), false),
        Le => (by("ile", "ule", "fle"), false),
        Gt => (by("ilt", "ult", "flt"), true),
        Ge => (by("ile", "ule", "fle"), true),
    };
    let operands = if swap { [b, a] } else { [a, b] };
    call(name, &w, &operands, depth, out)
}

fn conditional(
    w: &str,
    [condition, then, otherwise]: [&Expr; 3],
    depth: usize,
    out: &mut String,
) -> Option<()> {
    out.push_str("{ let c = ");
    value(condition, depth + 1, out)?;
    write!(out, "; abs::choose({w}, c, || {{ ").ok()?;
    let mut names = Vec::new();
    assume(condition, true, out, &mut names);
    value(then, depth + 1, out)?;
    out.push_str(" }, || { ");
    assume(condition, false, out, &mut names);
    value(otherwise, depth + 1, out)?;
    out.push_str(" }) }");
    Some(())
}

/// What a branch knows of variables because its condition holds (or doesn't): narrower values of the same name.
fn assume(condition: &Expr, holds: bool, out: &mut String, names: &mut Vec<u32>) {
    match &condition.kind {
        ExprKind::Unary(UnaryOp::Not, a) if a.ty.base == Base::Bool => {
            assume(a, !holds, out, names)
        }
        ExprKind::Binary(BinaryOp::AndAlso, a, b) if holds => {
            assume(a, true, out, names);
            assume(b, true, out, names);
        }
        ExprKind::Binary(BinaryOp::OrElse, a, b) if !holds => {
            assume(a, false, out, names);
            assume(b, false, out, names);
        }
        ExprKind::Binary(op, a, b) if op.is_compare() && a.ty.comps == 1 => {
            use BinaryOp::*;
            let (op, a, b) = match op {
                Gt => (Lt, b, a),
                Ge => (Le, b, a),
                other => (*other, a, b),
            };
            let name = match (op, a.ty.base) {
                (Lt, Base::Int) => "ilt",
                (Le, Base::Int) => "ile",
                (Lt, Base::Uint) => "ult",
                (Le, Base::Uint) => "ule",
                (Lt, Base::Float) => "flt",
                (Le, Base::Float) => "fle",
                (Eq, Base::Int | Base::Uint) => "eq",
                (Ne, Base::Int | Base::Uint) => "ne",
                _ => return,
            };
            let w = width(a.ty);
            let env = if a.ty.base == Base::Float { "e, " } else { "" };
            for (side, this) in [("left", a), ("right", b)] {
                let ExprKind::Var { id, .. } = &this.kind else { continue };
                let mut text = format!("let v{id} = abs::assume_{name}_{side}({env}{w}, ");
                let complete = value(a, 0, &mut text).and_then(|()| {
                    text.push_str(", ");
                    value(b, 0, &mut text)
                });
                if complete.is_some() {
                    let _ = write!(out, "{text}, {holds}); ");
                    names.push(*id);
                }
            }
        }
        ExprKind::Call(Prim::IsNan, args) => {
            if let [arg] = args.as_slice()
                && let ExprKind::Var { id, .. } = &arg.kind
            {
                let w = width(arg.ty);
                let _ = write!(out, "let v{id} = abs::assume_nan({w}, v{id}, {holds}); ");
                names.push(*id);
            }
        }
        _ => {}
    }
}

fn cast(a: &Expr, to: Ty, depth: usize, out: &mut String) -> Option<()> {
    let (from, into) = (width(a.ty), width(to));
    let name = match (a.ty.base, to.base) {
        (Base::Float, Base::Float) => "f2f",
        (Base::Int, Base::Float) => "i2f",
        (Base::Bool | Base::Uint, Base::Float) => "u2f",
        (Base::Int, _) => "sign_cast",
        (_, _) => "zero_cast",
    };
    let env = if to.base == Base::Float { "e, " } else { "" };
    write!(out, "abs::{name}({env}{from}, {into}, ").ok()?;
    value(a, depth + 1, out)?;
    out.push(')');
    Some(())
}

/// Primitives whose abstract meaning is written by hand, because more than singletons is known of them.
const KNOWN: [&str; 18] = [
    "abs",
    "min",
    "max",
    "floor",
    "ceil",
    "trunc",
    "round_even",
    "is_nan",
    "is_inf",
    "is_finite",
    "canonicalize",
    "sqrt",
    "significand",
    "bits",
    "count_ones",
    "leading_zeros",
    "trailing_zeros",
    "ilog2",
];

fn primitive(prim: Prim, args: &[Expr], ty: Ty, depth: usize, out: &mut String) -> Option<()> {
    let info = prim.info();
    let arg_ty = args.first().map_or(ty, |a| a.ty);
    let (from, into) = (width(arg_ty), width(ty));
    if KNOWN.contains(&info.name) {
        let name = match (info.name, arg_ty.base) {
            ("abs", Base::Int) => "iabs",
            ("abs", Base::Float) => "fabs",
            ("abs", _) => return value(&args[0], depth, out),
            ("min", Base::Int) => "imin",
            ("min", _) => "umin",
            ("max", Base::Int) => "imax",
            ("max", _) => "umax",
            (name, _) => name,
        };
        let env = if matches!(name, "canonicalize" | "sqrt" | "significand") { "e, " } else { "" };
        write!(out, "abs::{name}({env}{from}").ok()?;
        for arg in args {
            out.push_str(", ");
            value(arg, depth + 1, out)?;
        }
        out.push(')');
        return Some(());
    }
    if info.convention == Convention::Identity {
        return value(&args[0], depth, out);
    }
    let rust = match arg_ty.base {
        Base::Float => info.rust_float,
        Base::Uint => info.rust_uint,
        _ => info.rust,
    };
    let run = match info.convention {
        Convention::Env => format!("prim::{rust}(cx, {from}"),
        Convention::Pure => format!("prim::{rust}({from}"),
        Convention::Identity => return None,
    };
    // Only what is known exactly is computed.
    let (name, params) = match info.convention {
        Convention::Pure => (format!("abs::exactly({into}"), "|p|"),
        _ => (format!("abs::folded(e, {into}"), "|cx, p|"),
    };
    write!(out, "{name}, [").ok()?;
    for (i, arg) in args.iter().enumerate() {
        if i > 0 {
            out.push_str(", ");
        }
        value(arg, depth + 1, out)?;
    }
    let names: Vec<String> = (0..args.len()).map(|i| format!("p[{i}]")).collect();
    let result = if ty.base == Base::Bool { "u64::from" } else { "" };
    write!(out, "], {params} {result}({run}, {})))", names.join(", ")).ok()?;
    Some(())
}
