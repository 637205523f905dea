//! C 2: rules that compilers have had and that were wrong. Each gets its verdict, a refuted one at every size with a
//! counterexample no larger than the one that is known, which `deburr eval` replays; and each has a twin that is accepted.
//!
//! A counterexample is no larger if one of its sizes has no more bits, and at no size more components of inputs are
//! other than 0, 1, -1, 0.0, -0.0 and 1.0. The replay evaluates both sides with the command: what the pattern gives must be
//! among what the verdict says it may give, what the replacement gives must be what the verdict says, and must not be
//! among the former. Where the verdict says poison or anything, the command must say that its value is one of several.

#[path = "../../../verify/tests/known_wrong/entries.rs"]
mod entries;

use super::corpus::Deburr;
use super::{Args, Outcome};
use deburr_rulegen::expr::Base;
use deburr_verify::{Options, Witness};
use entries::{Entry, Refutation, scalars};

/// Measures it.
pub fn run(args: &Args) -> Outcome {
    let target =
        "every entry judged as it must be, every counterexample replayed and no larger than \
                  the known one, every twin accepted"
            .to_string();
    let mut list = Vec::new();
    let measured = measure(args, &mut list);
    Outcome::of(target, list, measured)
}

fn measure(args: &Args, list: &mut Vec<String>) -> Result<(bool, String), String> {
    let library = entries::library()?;
    let deburr = Deburr::new(args)?;
    let mut options = Options::scaled(args.cases.min(1.0));
    options.seed = args.seed;
    let all = entries::entries()?;
    let (mut right, mut refutations, mut replayed) = (0, 0, 0);
    for entry in &all {
        let mut wrong = Vec::new();
        let mut found = Vec::new();
        for rule in &entry.wrong {
            let judged = entries::verdicts(&library, rule, &options);
            match judged.map_err(|codes| format!("{codes:?}")).and_then(entries::refutations) {
                Ok(list) => found.extend(list.into_iter().map(|r| (rule, r))),
                Err(why) => wrong.push(format!("{rule}: {why}")),
            }
        }
        refutations += found.len();
        for (rule, refutation) in &found {
            match replay(&deburr, entry, rule, refutation) {
                Ok(()) => replayed += 1,
                Err(why) => wrong.push(format!("{}: {why}", refutation.verdict)),
            }
        }
        let found: Vec<Refutation> = found.into_iter().map(|(_, r)| r).collect();
        wrong.extend(entries::larger(entry, &found));
        wrong.extend(entries::misjudged(&library, entry, &options));
        right += usize::from(wrong.is_empty());
        let shown = found.iter().min_by_key(|r| r.verdict.size);
        let said = if entry.refuse { "refused" } else { "accepted" };
        let shown = shown.map_or(said.into(), |r| r.verdict.to_string());
        list.push(format!("{}: {shown}", entry.id));
        list.extend(wrong.into_iter().map(|why| format!("{}: WRONG: {why}", entry.id)));
    }
    let figure = format!(
        "{right} of {} entries as they must be; {replayed} of {refutations} counterexamples replayed",
        all.len()
    );
    Ok((right == all.len() && replayed == refutations, figure))
}

/// Evaluates both sides with the command; what doesn't fit the verdict.
fn replay(
    deburr: &Deburr,
    entry: &Entry,
    rule: &str,
    refutation: &Refutation,
) -> Result<(), String> {
    let (left, rest) = rule.split_once(" => ").ok_or("no rule")?;
    let end = [" where ", " with "].iter().filter_map(|word| rest.find(word)).min();
    let right = entry.eval.as_deref().unwrap_or(&rest[..end.unwrap_or(rest.len())]);
    let witness = &refutation.witness;
    let root = witness.types.last().copied().ok_or("a witness without a result")?;
    let before: Vec<&str> = witness.before.split(" | ").collect();
    let (value, free) = evaluate(deburr, left, refutation)?;
    if !before.iter().any(|b| allows(b, &value, free, root)) {
        return Err(format!("`{left}` gives {value}"));
    }
    let (value, free) = evaluate(deburr, right, refutation)?;
    if !allows(&witness.after, &value, free, root) {
        return Err(format!("`{right}` gives {value}"));
    }
    let vague = matches!(witness.after.as_str(), "poison" | "anything");
    if !vague && before.iter().any(|b| allows(b, &value, free, root)) {
        return Err(format!("`{right}` gives {value}, which the pattern may give"));
    }
    Ok(())
}

/// Whether a value of the command is one that a verdict speaks of.
fn allows(said: &str, value: &str, free: bool, (bits, base): (u8, Base)) -> bool {
    match said {
        "poison" | "anything" => free,
        "any NaN" => base != Base::Bool && is_nan(value, bits),
        said => said == value,
    }
}

fn is_nan(value: &str, bits: u8) -> bool {
    let digits = value.strip_prefix("0x").and_then(|d| u64::from_str_radix(d, 16).ok());
    let inf = match bits {
        16 => 0x7c00,
        32 => 0x7f80_0000,
        64 => 0x7ff0_0000_0000_0000,
        _ => return false,
    };
    digits.is_some_and(|v| v & ((1 << (bits - 1)) - 1) > inf)
}

/// What the command says of a term: the bits, and whether they are one of several values.
fn evaluate(
    deburr: &Deburr,
    term: &str,
    refutation: &Refutation,
) -> Result<(String, bool), String> {
    let (witness, verdict) = (&refutation.witness, &refutation.verdict);
    let inputs = || witness.inputs.iter().zip(&witness.types);
    let term = annotated(term, witness);
    let mut args = vec!["eval".into(), term.clone()];
    for ((name, text), _) in inputs() {
        if mentions(&term, name) {
            args.push(format!("{name}={}", scalars(text).collect::<Vec<_>>().join(",")));
        }
    }
    // A literal alone is as wide as the result.
    let root = witness.types.last().map_or(32, |ty| ty.0);
    let size = if term.contains('(') { entries::size(refutation) } else { root };
    args.extend(["--size".into(), size.to_string()]);
    let (denorm, rounding) = verdict.context.split_once(',').ok_or("no environment")?;
    let rounding = rounding.split('+').next().unwrap_or(rounding);
    // The command has no choice of environment; a rule that is wrong under `any` alone can't be replayed.
    if denorm == "any" || rounding == "any" {
        return Err(format!("nothing replays {}", verdict.context));
    }
    args.extend(["--denorm", denorm, "--rounding", rounding].map(String::from));
    let said = deburr.call(&args)?;
    if said.code() != Some(0) {
        return Err(format!("`{}`: {}", args.join(" "), said.message()));
    }
    let text = said.text();
    let bits = text.split(" = ").next().unwrap_or_default().trim().to_owned();
    Ok((bits, text.contains("one of several")))
}

/// The names of a term with their ranges: what no bracket follows.
fn names(term: &str) -> Vec<std::ops::Range<usize>> {
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let mut out = Vec::new();
    let mut at = 0;
    while let Some(start) = term[at..].find(is_word).map(|n| at + n) {
        let end = term[start..].find(|c: char| !is_word(c)).map_or(term.len(), |n| start + n);
        at = end;
        let behind_dot = term[..start].ends_with(['.', ':']);
        if !behind_dot && !term[end..].starts_with('(') {
            out.push(start..end);
        }
    }
    out
}

fn mentions(term: &str, name: &str) -> bool {
    names(term).into_iter().any(|range| term[range] == *name)
}

/// A term in which every input without a note has its bits.
fn annotated(term: &str, witness: &Witness) -> String {
    let mut out = term.to_owned();
    for range in names(term).into_iter().rev() {
        let place = witness.inputs.iter().position(|(name, _)| *name == term[range.clone()]);
        let rest = &term[range.end..];
        if let (Some(n), false) = (place, rest.starts_with(':')) {
            out.insert_str(range.end, &format!(":{}", witness.types[n].0));
        }
    }
    out
}
