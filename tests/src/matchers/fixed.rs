//! The driver against the naive loop that tries every rule on every instruction until nothing fires.

use super::change::Plan;
use super::grow::Care;
use super::outside;
use super::terms::{Terms, targets};
use deburr_algebraic::{Options, Order, RuleSet, Target, forgotten, run, run_naive};
use deburr_fuzz::Rng;
use deburr_ir_core::{Builder, Function, InstrKind, Swizzle};
use deburr_rulegen::rules::model;

/// What was found.
#[derive(Clone, Debug, Default)]
pub struct Fixed {
    /// Functions.
    pub functions: u64,
    /// Rewrites by the driver.
    pub steps: u64,
    /// Functions on which trying every rule once on every instruction is not enough.
    pub enabled: u64,
    /// Functions of which the loop in program order leaves the same text.
    pub same: u64,
    /// Functions on which the driver isn't at a fixed point, or on which something could have been done on the way that it
    /// hadn't on its list.
    pub wrong: Vec<String>,
    /// Texts of some functions of which the loop in program order leaves something else.
    pub otherwise: Vec<String>,
}

/// Runs both over random functions.
pub fn check(set: &model::RuleSet, rules: &RuleSet, seed: u64, count: u64) -> Fixed {
    let mut rng = Rng::new(seed ^ 0xf1ed);
    let terms = Terms::new(set);
    let targets = targets(set, &mut rng);
    let mut found = Fixed::default();
    while found.functions < count && found.wrong.len() < 5 {
        let (f, group) = match rng.below(6) {
            0 => {
                let rule = rng.pick(&set.rules);
                (Plan::new(set, rule).case(&mut rng, Care::Fits).f, rule.group)
            }
            1 => (terms.random(&mut rng), terms.group(&mut rng)),
            2 | 3 => {
                let group = terms.group(&mut rng);
                (terms.nested(&mut rng, group), group)
            }
            _ => {
                let group = terms.group(&mut rng);
                let most = *rng.pick(&[5, 10, 30]);
                (terms.woven(&mut rng, group, most), group)
            }
        };
        let target = rng.pick(&targets);
        found.functions += 1;
        let group = &set.groups[group].0;
        if one(rules, &f, group, target, &mut found).is_err() {
            let less =
                reduced(&f, |f| one(rules, f, group, target, &mut Fixed::default()).is_err());
            found.wrong.extend(one(rules, &less, group, target, &mut Fixed::default()).err());
        }
    }
    found
}

/// A smaller function that `fails` as well: without stores that are not needed, and with unknown values in place of
/// operations.
fn reduced(f: &Function, fails: impl Fn(&Function) -> bool) -> Function {
    let mut f = f.clone();
    let mut smaller = true;
    while smaller {
        smaller = false;
        for instr in f.all_instrs().collect::<Vec<_>>().into_iter().rev() {
            let mut less = f.clone();
            match less.kind(instr) {
                InstrKind::Intrinsic if !less.is_used(instr.def()) => less.remove(instr),
                InstrKind::Alu | InstrKind::Intrinsic | InstrKind::Tex | InstrKind::Phi
                    if less.is_used(instr.def()) =>
                {
                    let shape = less.shape(instr.def());
                    let cursor = outside::behind(&less, instr.def());
                    let value = Builder::new(&mut less, cursor).undef(shape.comps(), shape.bits());
                    less.replace_all_uses(instr.def(), value);
                }
                _ => continue,
            }
            for dead in less.all_instrs().collect::<Vec<_>>().into_iter().rev() {
                if less.kind(dead) != InstrKind::Intrinsic && !less.is_used(dead.def()) {
                    less.remove(dead);
                }
            }
            if fails(&less) {
                f = less;
                smaller = true;
            }
        }
    }
    f
}

/// The text of a function in which constants stand as they are used, so that it doesn't matter of which of two equal ones a
/// value is taken.
fn text(f: &Function) -> String {
    let mut f = f.clone();
    for instr in f.all_instrs().collect::<Vec<_>>() {
        for n in 0..f.srcs(instr).len() {
            let (def, swizzle, comps) =
                (f.src(instr, n), f.swizzle(instr, n), f.src_comps(instr, n));
            let Some(values) = f.constant(def) else { continue };
            let at = |c: u8| values.get(usize::from(c)).copied().unwrap_or(0);
            let values: Vec<u64> = swizzle.iter(comps).map(at).collect();
            let bits = f.bits(def);
            let cursor = outside::ahead(&f, instr, n);
            let new = Builder::new(&mut f, cursor).load_const(bits, &values);
            f.set_src(instr, n, new);
            f.set_swizzle(instr, n, Swizzle::IDENTITY);
        }
    }
    for instr in f.all_instrs().collect::<Vec<_>>().into_iter().rev() {
        let kind = f.kind(instr);
        if matches!(kind, InstrKind::LoadConst | InstrKind::Undef) && !f.is_used(instr.def()) {
            f.remove(instr);
        }
    }
    f.to_string()
}

fn one(
    rules: &RuleSet,
    before: &Function,
    group: &str,
    target: &Target,
    found: &mut Fixed,
) -> Result<(), String> {
    let mut options = Options::default();
    options.trace = true;
    let mut driven = before.clone();
    let did = run(&mut driven, rules, group, target, &options).map_err(|e| e.to_string())?;
    found.steps += did.fired;
    let naive = |f: &mut Function, order| {
        run_naive(f, rules, group, target, &options, order).map_err(|e| e.to_string())
    };
    let mut more = driven.clone();
    let again = naive(&mut more, Order::Program)?;
    if again.changed {
        let rules: Vec<&str> = again.trace.iter().map(|t| t.rule).collect();
        return Err(format!(
            "the driver stops before its fixed point: {rules:?} fire, {} fold, leaving\n{more}\nof\n{driven}\nof\n{before}",
            again.folded
        ));
    }
    let forgotten = forgotten(&mut before.clone(), rules, group, target, &options);
    if let Some(what) = forgotten.map_err(|e| e.to_string())? {
        return Err(format!("the driver forgets {what}\nof\n{before}"));
    }
    let mut once = before.clone();
    naive(&mut once, Order::Once)?;
    found.enabled += u64::from(text(&once) != text(&driven));
    let mut swept = before.clone();
    naive(&mut swept, Order::Program)?;
    match text(&swept) == text(&driven) {
        true => found.same += 1,
        false if found.otherwise.len() < 5 => {
            found.otherwise.push(format!("{before}\n=>\n{driven}\nor\n{swept}"));
        }
        false => {}
    }
    Ok(())
}
