//! `deburr eval`: the value of a term.

use crate::codes as cli_codes;
use crate::json::{Object, list, string};
use crate::report::{Diagnostic, Exit, Kind, Place, Reporter, Trouble};
use crate::term::{self, NodeKind, Operand, Surroundings, Term, Var};
use deburr_ir_core::fold::{broken_promises, fold_info};
use deburr_ir_core::{BaseType, Denorm, FloatEnv, Rounding};
use deburr_rulegen::rules::model::Literal;

/// Evaluate a term of the rule files' syntax.
#[derive(clap::Args)]
#[command(
    after_help = "Examples:\n  deburr eval 'fadd(a, 1.0)' a=0x7fc00000 --size 32\n  deburr eval 'bcsel(ilt(a, b), a, b)' a=-3 b=7"
)]
pub struct Args {
    /// The term
    #[arg(value_name = "TERM")]
    term: String,
    /// Values: NAME=0x…, NAME=1.5, NAME=-3, NAME=true; components by commas
    #[arg(value_name = "NAME=VALUE")]
    values: Vec<String>,
    /// Bit size of what the term doesn't determine
    #[arg(long, value_name = "N", value_parser = parse_size)]
    size: Option<u8>,
    /// What arithmetic does with denormals: keep, flush
    #[arg(long, value_enum, value_name = "MODE", default_value_t = DenormName::Keep, hide_possible_values = true)]
    denorm: DenormName,
    /// How arithmetic rounds: rte, rtz
    #[arg(long, value_enum, value_name = "MODE", default_value_t = RoundingName::Rte, hide_possible_values = true)]
    rounding: RoundingName,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum DenormName {
    Keep,
    Flush,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum RoundingName {
    Rte,
    Rtz,
}

/// A bit size of the IR.
pub fn parse_size(text: &str) -> Result<u8, String> {
    match text.parse() {
        Ok(bits @ (1 | 8 | 16 | 32 | 64)) => Ok(bits),
        _ => Err("1, 8, 16, 32 or 64 is expected".into()),
    }
}

/// Runs the subcommand.
pub fn run(args: &Args, reporter: &mut Reporter) -> Exit {
    match evaluate(args) {
        Ok((term, value)) => {
            tell(args, &term, &value, reporter);
            Exit::Ok
        }
        Err(trouble) => reporter.diagnose_all(&trouble),
    }
}

/// Components with the set of those that are free.
struct Value {
    comps: Vec<u64>,
    free: u16,
}

fn evaluate(args: &Args) -> Result<(Term, Value), Trouble> {
    // About the value of this number, from 0.
    let bad = |n: usize, message: String| {
        let file = format!("VALUE {}", n + 1);
        let place = Place::of_bytes(&args.values[n], 0..args.values[n].len());
        Diagnostic::new(&file, Kind::Invalid, cli_codes::TERM_VALUE, message).at(place)
    };
    let mut given: Vec<(String, Vec<&str>)> = Vec::new();
    for (n, text) in args.values.iter().enumerate() {
        let (name, value) = text
            .split_once('=')
            .ok_or_else(|| bad(n, format!("`{text}`: NAME=VALUE is expected")))?;
        if given.iter().any(|(earlier, _)| earlier == name.trim()) {
            return Err(bad(n, format!("`{}` has two values", name.trim())).into());
        }
        given.push((name.trim().into(), value.split(',').map(str::trim).collect()));
    }
    let comps =
        given.iter().filter(|(_, v)| v.len() > 1).map(|(n, v)| (n.clone(), v.len().min(255) as u8));
    let around = Surroundings { size: args.size, comps: comps.collect() };
    let term = term::read("TERM", &args.term, &around)
        .map_err(|d| Diagnostic::of_rules(&d, |_| Some(&args.term)))?;
    let mut values = Vec::new();
    for var in &term.vars {
        let Some(n) = given.iter().position(|(name, _)| *name == var.name) else {
            let message = format!("`{}` has no value", var.name);
            let d = Diagnostic::new("TERM", Kind::Invalid, cli_codes::TERM_VALUE, message);
            return Err(d.help(format!("`{}=…` behind the term", var.name)).into());
        };
        values.push(components(var, &given[n].1).map_err(|message| bad(n, message))?);
    }
    if let Some(n) = given.iter().position(|(name, _)| !term.vars.iter().any(|v| v.name == *name)) {
        return Err(bad(n, format!("the term has no variable `{}`", given[n].0)).into());
    }
    let denorm = if args.denorm == DenormName::Flush { Denorm::Flush } else { Denorm::Keep };
    let rounding = if args.rounding == RoundingName::Rtz { Rounding::Rtz } else { Rounding::Rte };
    let env = FloatEnv::uniform(denorm, rounding);
    let value = fold(&term, &values, &env)
        .map_err(|message| Diagnostic::new("TERM", Kind::Unsupported, cli_codes::TERM, message))?;
    Ok((term, value))
}

/// The components of a variable's value; one is for all of them.
fn components(var: &Var, texts: &[&str]) -> Result<Vec<u64>, String> {
    if texts.len() != 1 && texts.len() != usize::from(var.comps) {
        return Err(format!("`{}` has {} components, not {}", var.name, var.comps, texts.len()));
    }
    let one = |n: usize| {
        let text = texts[if texts.len() == 1 { 0 } else { n }];
        scalar(text, var).map_err(|why| format!("`{}={text}`: {why}", var.name))
    };
    (0..usize::from(var.comps)).map(one).collect()
}

fn scalar(text: &str, var: &Var) -> Result<u64, String> {
    let (negative, digits) = text.strip_prefix('-').map_or((false, text), |rest| (true, rest));
    let literal = if let Some(hex) = digits.strip_prefix("0x").filter(|_| !negative) {
        let v = u64::from_str_radix(hex, 16).map_err(|_| "no hexadecimal number of 64 bits")?;
        if var.bits < 64 && v >> var.bits != 0 {
            return Err(format!("it doesn't fit {} bits", var.bits));
        }
        return Ok(v);
    } else if let Ok(v) = text.parse::<i128>() {
        match var.base {
            BaseType::Float => Literal::Float((v as f64).to_bits()),
            _ => Literal::Int(v),
        }
    } else {
        match text {
            "true" => Literal::Bool(true),
            "false" => Literal::Bool(false),
            _ => Literal::Float(text.parse::<f64>().map_err(|_| "no value")?.to_bits()),
        }
    };
    literal.encode(term::base_of(var.base), var.bits)
}

/// Evaluates every node in order.
fn fold(term: &Term, vars: &[Vec<u64>], env: &FloatEnv) -> Result<Value, String> {
    let mut done: Vec<Value> = Vec::new();
    for node in &term.nodes {
        let value = match &node.kind {
            NodeKind::Var(n) => Value { comps: vars[*n].clone(), free: 0 },
            NodeKind::Literal(bits) => Value { comps: vec![*bits; node.comps.into()], free: 0 },
            NodeKind::Op { op, width, promises, args } => {
                let info = op.builtin().ok_or("an opcode of no table")?;
                let operand = |a: &Operand| match &a.swizzle {
                    None => done[a.node].comps.clone(),
                    Some(list) => {
                        list.iter().map(|c| done[a.node].comps[usize::from(*c)]).collect()
                    }
                };
                let srcs: Vec<Vec<u64>> = args.iter().map(operand).collect();
                let srcs: Vec<&[u64]> = srcs.iter().map(|s| &s[..]).collect();
                let mut out = [0; 16];
                let shadow = fold_info(info, *width, node.comps, &srcs, env, &mut out)
                    .ok_or_else(|| format!("`{}` depends on other invocations", info.name))?;
                let shape = (*width, node.comps);
                let broken = broken_promises(info, *promises, shape, &srcs, env, &out);
                let from_operands = args.iter().any(|a| done[a.node].free != 0);
                let all = ((1u32 << node.comps) - 1) as u16;
                let free = if from_operands { all } else { shadow.free | broken };
                Value { comps: out[..node.comps.into()].to_vec(), free }
            }
        };
        done.push(value);
    }
    done.pop().ok_or_else(|| "an empty term".into())
}

fn tell(args: &Args, term: &Term, value: &Value, reporter: &mut Reporter) {
    let root = term.root();
    let digits = usize::from(root.bits).div_ceil(4);
    let bits: Vec<String> = value.comps.iter().map(|v| format!("0x{v:0digits$x}")).collect();
    let texts: Vec<String> =
        value.comps.iter().map(|v| term::show(*v, root.bits, root.base)).collect();
    if reporter.json {
        let line = Object::line().str("in", &args.term).raw("size", root.bits);
        let line = line.raw("bits", list(bits.iter().map(|b| string(b))));
        let line = line.raw("value", list(texts.iter().map(|t| string(t))));
        reporter.line(&line.raw("free", value.free != 0).end());
        return;
    }
    let free = if value.free == 0 { "" } else { " (one of several values)" };
    reporter.line(&format!("{} = {}{free}", bits.join(", "), texts.join(", ")));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(term: &str, values: &[&str]) -> Result<String, String> {
        let args = Args {
            term: term.into(),
            values: values.iter().map(|v| (*v).into()).collect(),
            size: None,
            denorm: DenormName::Keep,
            rounding: RoundingName::Rte,
        };
        let (term, value) = evaluate(&args).map_err(|t| t[0].message.clone())?;
        let show = |v: &u64| term::show(*v, term.root().bits, term.root().base);
        Ok(value.comps.iter().map(show).collect::<Vec<_>>().join(","))
    }

    #[test]
    fn terms_have_values() {
        assert_eq!(value("iadd(a, imul(a, 3))", &["a=-2"]).unwrap(), "-8");
        assert_eq!(value("fadd(a, 1.0)", &["a=0x7fc00000"]).unwrap(), "nan");
        assert_eq!(value("fadd(a.yx, b)", &["a=1.0,2.0", "b=0.5"]).unwrap(), "2.5,1.5");
        assert_eq!(value("bcsel(flt(a, b), a, b)", &["a=1", "b=2"]).unwrap(), "1.0");
        assert_eq!(value("vec2(a, b).yx", &["a=1", "b=2"]).unwrap(), "2,1");
    }

    #[test]
    fn values_must_fit() {
        assert!(value("iadd(a, 1)", &[]).unwrap_err().contains("no value"));
        assert!(value("iadd(a, 1)", &["b=1", "a=1"]).unwrap_err().contains("no variable"));
        assert!(value("iadd(a, 1)", &["a=1", "a=2"]).unwrap_err().contains("two values"));
        assert!(value("iadd(a:8, 1)", &["a=0x100"]).unwrap_err().contains("8 bits"));
        assert!(value("iadd(a, 1)", &["a=x"]).is_err());
        assert!(value("iadd(a, 1)", &["a"]).is_err());
    }
}
