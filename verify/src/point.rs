//! One point: what the pattern may give, what the replacements may give, and whether the latter is among the former.

use crate::edges::Read;
use crate::is_input;
use deburr_algebraic::interp::expr::{Out, Value};
use deburr_algebraic::interp::term::{Inputs, Terms};
use deburr_ir_core::fold::{Cx, Denorm, FloatEnv, Rounding, prim};
use deburr_rulegen::expr::Base;
use deburr_rulegen::rules::model::{Comps, Literal, NodeKind, Rule, RuleSet, VarId};
use smallvec::SmallVec;

/// What was found at a point.
pub(crate) enum Outcome {
    /// Every result of the replacement is one of the pattern.
    Same {
        /// Whether the pattern may be NaN.
        nan: bool,
    },
    /// Within the bound of a rule that reassociates or transforms.
    Close,
    /// Results differ where a rule that reassociates or transforms claims nothing.
    Excused,
    /// The pattern is poison, or a computed constant has no value: nothing is claimed.
    Vacuous,
    /// Too many results to list.
    TooMany,
    /// The replacement may give what the pattern can't.
    Differs {
        /// What the pattern may give.
        before: Vec<Value>,
        /// What the replacement gives.
        after: Value,
    },
}

/// Most components that are moved about a point.
const MOST_MOVED: usize = 4;

/// Ulps that reassociation and transformation may cost where a rule doesn't say.
const DEFAULT_ULPS: u32 = 16;

/// Compares both sides at a point: within a bound if it is given how the variables are read.
pub(crate) fn check(
    rule: &Rule,
    terms: &Terms<'_>,
    inputs: &Inputs,
    bits: &[u8],
    approximate: Option<&[Read]>,
) -> Outcome {
    let Some(before) = terms.pattern(inputs) else { return Outcome::TooMany };
    let read = match terms.used_bits(inputs) {
        Some(None) => return Outcome::Vacuous,
        Some(Some(read)) => read,
        None => SmallVec::new(),
    };
    // Users see no other bits.
    let seen = |i: usize, o: Out| match o {
        Out::Bits(v) => Out::Bits(v & read.get(i).copied().unwrap_or(u64::MAX)),
        other => other,
    };
    let width = u32::from(bits[rule.nodes[rule.pattern].class]);
    let (mut vacuous, mut close, mut excused) = (true, false, false);
    let mut groups: Vec<&Vec<(VarId, Value)>> = Vec::new();
    for (_, bound) in &before {
        if !groups.contains(&bound) {
            groups.push(bound);
        }
    }
    for bound in groups {
        let allowed: Vec<&Value> = before.iter().filter(|b| b.1 == *bound).map(|b| &b.0).collect();
        for alt in &rule.alts {
            let after = match terms.replacement(alt.term, inputs, bound) {
                None => return Outcome::TooMany,
                Some(None) => continue,
                Some(Some(after)) => after,
            };
            for value in after {
                let covered = allowed.iter().any(|b| {
                    let mut pairs = b.iter().zip(&value).enumerate();
                    b.len() == value.len()
                        && pairs.all(|(i, (b, a))| covers(seen(i, *b), seen(i, *a), width))
                });
                let poison = allowed.iter().any(|b| b.iter().all(|o| *o == Out::Poison));
                vacuous &= poison;
                if covered {
                    continue;
                }
                if let Some(reads) = approximate {
                    match near(rule, terms, (inputs, reads), (&allowed, &value), bits) {
                        Some(true) => {
                            close = true;
                            continue;
                        }
                        None => {
                            excused = true;
                            continue;
                        }
                        Some(false) => {}
                    }
                }
                let before = allowed.into_iter().cloned().collect();
                return Outcome::Differs { before, after: value };
            }
        }
    }
    match (excused, close, vacuous) {
        (true, ..) => Outcome::Excused,
        (_, true, _) => Outcome::Close,
        (.., true) => Outcome::Vacuous,
        _ => {
            let is_nan = |o: &Out| match o {
                Out::AnyNan => true,
                Out::Bits(v) => {
                    terms.root_base() == Base::Float
                        && matches!(width, 16 | 32 | 64)
                        && prim::is_nan(width, *v)
                }
                _ => false,
            };
            Outcome::Same { nan: before.iter().any(|b| b.0.iter().any(is_nan)) }
        }
    }
}

/// Whether a result of the pattern allows one of the replacement.
fn covers(before: Out, after: Out, w: u32) -> bool {
    match (before, after) {
        (Out::Poison | Out::Any, Out::Bits(_) | Out::AnyNan | Out::Any) => true,
        (Out::Poison, Out::Poison) => true,
        (Out::AnyNan, Out::AnyNan) => true,
        (Out::AnyNan, Out::Bits(v)) => matches!(w, 16 | 32 | 64) && prim::is_nan(w, v),
        (x, y) => x == y,
    }
}

fn as_f64(bits: u8, o: Out) -> Option<f64> {
    match o {
        Out::Bits(v) => {
            let env = FloatEnv::uniform(Denorm::Keep, Rounding::Rte);
            let mut cx = Cx { env, free: false, nan: false };
            Some(f64::from_bits(prim::f2f(&mut cx, bits.into(), 64, v)))
        }
        _ => None,
    }
}

/// Whether a result is as near to one of the pattern as the rule promises; `None` where nothing is promised, because
/// inputs or results are not of moderate size.
fn near(
    rule: &Rule,
    terms: &Terms<'_>,
    (inputs, reads): (&Inputs, &[Read]),
    (before, after): (&[&Value], &Value),
    bits: &[u8],
) -> Option<bool> {
    let root_bits = bits[rule.nodes[rule.pattern].class];
    let mut scale = 1.0f64;
    for (v, value) in inputs.iter().enumerate() {
        let var = &rule.vars[v];
        if !reads[v].float || !is_input(rule, v) {
            continue;
        }
        for o in value {
            let x = as_f64(bits[var.class], *o)?.abs();
            // Moderate: what is computed stays far from overflow and underflow even at 16 bits.
            if !(x.is_finite() && (0.03..=16.0).contains(&x)) {
                return None;
            }
            scale = scale.max(x).max(1.0 / x);
        }
    }
    let ulps = f64::from(rule.ulps.unwrap_or(DEFAULT_ULPS));
    // Intermediate results of a few operations on such inputs are at most the cube of the largest.
    let magnitude = scale * scale * scale;
    let bound = |b: f64| {
        // What is larger came from an exponential, which multiplies an operand's error by the operand: a logarithm of it.
        let size = if b > magnitude { b * b.log2().max(1.0) } else { magnitude };
        ulps * size * epsilon(root_bits)
    };
    match terms.root_base() {
        Base::Float => near_floats(root_bits, before, after, &bound),
        // What only moves bits may have moved a float's.
        _ => {
            let moved = terms.root_moves() && matches!(root_bits, 16 | 32 | 64);
            let close = moved && near_floats(root_bits, before, after, &bound) == Some(true);
            Some(close || near_inputs_give(rule, terms, (inputs, reads), after, (bits, ulps)))
        }
    }
}

/// Whether a float is within a bound of one of the pattern's, which depends on how large that is; `None` where the
/// pattern's isn't finite or so near to what isn't that the bound reaches it.
fn near_floats(
    root_bits: u8,
    before: &[&Value],
    after: &Value,
    bound: &dyn Fn(f64) -> f64,
) -> Option<bool> {
    for (i, a) in after.iter().enumerate() {
        let a = as_f64(root_bits, *a)?;
        let mut near = false;
        for b in before {
            let b = as_f64(root_bits, b[i])?;
            let bound = bound(b.abs());
            if b.abs() + bound > greatest(root_bits) {
                return None;
            }
            near |= (a - b).abs() <= bound;
        }
        if !near {
            return Some(false);
        }
    }
    Some(true)
}

/// The greatest finite number.
fn greatest(bits: u8) -> f64 {
    match bits {
        16 => 65504.0,
        32 => f32::MAX.into(),
        _ => f64::MAX,
    }
}

/// One unit in the last place of 1.0.
fn epsilon(bits: u8) -> f64 {
    f64::exp2(match bits {
        16 => -10.0,
        32 => -23.0,
        _ => -52.0,
    })
}

/// Whether the pattern gives a result for inputs that are off by the bound: a compare, a conversion or a selection goes
/// another way where what it looks at is at a limit, and only there.
fn near_inputs_give(
    rule: &Rule,
    terms: &Terms<'_>,
    (inputs, reads): (&Inputs, &[Read]),
    after: &Value,
    (bits, ulps): (&[u8], f64),
) -> bool {
    let mut places = Vec::new();
    for (v, value) in inputs.iter().enumerate() {
        if reads[v].float && is_input(rule, v) {
            places.extend((0..value.len()).map(|c| (v, c)));
        }
    }
    places.truncate(MOST_MOVED);
    let root_bits = u32::from(bits[rule.nodes[rule.pattern].class]);
    (1..3usize.pow(places.len() as u32)).any(|which| {
        let mut moved = inputs.clone();
        let mut rest = which;
        for (v, c) in &places {
            let width = bits[rule.vars[*v].class];
            let step = [0.0, 1.0, -1.0][rest % 3] * ulps * epsilon(width);
            rest /= 3;
            let Some(x) = as_f64(width, moved[*v][*c]) else { return false };
            moved[*v][*c] = Out::Bits(prim::fconst(width.into(), x * (1.0 + step)));
        }
        let Some(results) = terms.pattern(&moved) else { return false };
        let gives = |b: &Value| b.iter().zip(after).all(|(b, a)| covers(*b, *a, root_bits));
        results.iter().any(|(b, _)| gives(b))
    })
}

/// Runs an example; `None` if its values don't fit the sizes.
pub(crate) fn example(
    set: &RuleSet,
    rule: &Rule,
    terms: &Terms<'_>,
    args: &[(VarId, Literal)],
    expected: &Literal,
    bits: &[u8],
) -> Option<Result<(), String>> {
    let mut inputs: Inputs = Vec::new();
    for (v, var) in rule.vars.iter().enumerate() {
        let comps = match var.comps {
            Comps::Fixed(n) => usize::from(n),
            Comps::Generic => 1,
        };
        let value = match args.iter().find(|a| a.0 == v) {
            Some((_, literal)) => literal.encode(var.base, bits[var.class]).ok()?,
            None => 0,
        };
        inputs.push((0..comps).map(|_| Out::Bits(value)).collect());
    }
    let root = &rule.nodes[rule.pattern];
    let base = match &root.kind {
        NodeKind::Op { op, .. } => set.ops.get(*op).output.base,
        _ => Base::Uint,
    };
    let want = Out::Bits(expected.encode(base, bits[root.class]).ok()?);
    if !terms.facts_hold(&inputs) {
        return Some(Err("the facts don't hold for the values of the test".into()));
    }
    let before = terms.pattern(&inputs)?;
    let read = terms.used_bits(&inputs).flatten().unwrap_or_default();
    let seen = |i: usize, o: &Out| match o {
        Out::Bits(v) => Out::Bits(v & read.get(i).copied().unwrap_or(u64::MAX)),
        other => *other,
    };
    let is_wanted = |v: &Value| v.iter().enumerate().all(|(i, o)| seen(i, o) == seen(i, &want));
    let shows = |values: Vec<&Value>| values.iter().any(|v| is_wanted(v));
    if !shows(before.iter().map(|b| &b.0).collect()) {
        return Some(Err(format!("the pattern gives {before:x?}, the test says {want:x?}")));
    }
    for alt in &rule.alts {
        let after = terms.replacement(alt.term, &inputs, &before[0].1)??;
        if !shows(after.iter().collect()) {
            return Some(Err(format!("the replacement gives {after:x?}, the test says {want:x?}")));
        }
    }
    Some(Ok(()))
}
