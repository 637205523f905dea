//! Both matchers over many random functions, with counts.

use super::both::{Did, Matchers};
use super::change::{Kind, Plan};
use super::grow::Care;
use super::terms::{Terms, targets};
use super::{chance, outside, values};
use deburr_algebraic::{Options, Target};
use deburr_fuzz::Rng;
use deburr_ir_core::{Flags, Function, InstrKind};
use deburr_rulegen::rules::model;

/// How much is tried.
#[derive(Clone, Copy, Debug)]
pub struct Size {
    /// Functions, about.
    pub functions: u64,
    /// How often each rule is to fire, and to miss by one change.
    pub need: u64,
    /// Disagreements after which nothing more is tried.
    pub enough: usize,
    /// Whether what functions compute must stay, as it does under rules that are sound.
    pub values: bool,
}

/// What was found.
#[derive(Clone, Debug, Default)]
pub struct Survey {
    /// Functions that both matchers ran over.
    pub functions: u64,
    /// Steps at which both chose the same rule.
    pub steps: u64,
    /// By rule: left sides on whose root it fired.
    pub fired: Vec<u64>,
    /// By rule: left sides with one change on whose root it didn't fire, though it did before.
    pub missed: Vec<u64>,
    /// Such misses by kind of change.
    pub kinds: Vec<u64>,
    /// How often each opcode stood in a function.
    pub opcodes: Vec<u64>,
    /// Components that were computed before and after and compared.
    pub compared: u64,
    /// What differs.
    pub wrong: Vec<String>,
    /// Whether values are compared.
    values: bool,
}

impl Survey {
    /// An empty one for a rule set.
    pub fn new(set: &model::RuleSet) -> Survey {
        let rules = set.rules.len();
        Survey {
            fired: vec![0; rules],
            missed: vec![0; rules],
            kinds: vec![0; Kind::ALL.len()],
            opcodes: vec![0; set.ops.iter().count()],
            ..Survey::default()
        }
    }

    /// Runs both matchers over a function; `None` where they differ, which is noted.
    fn run(
        &mut self,
        matchers: &Matchers<'_>,
        f: &Function,
        group: usize,
        (target, options): (&Target, &Options),
        rng: &mut Rng,
    ) -> Option<Did> {
        self.functions += 1;
        for op in f.all_instrs().filter_map(|i| f.alu_op(i)) {
            if let Some(count) = self.opcodes.get_mut(usize::from(op.0)) {
                *count += 1;
            }
        }
        let did = matchers.run(f, group, target, options).and_then(|did| {
            self.steps += did.fired.len() as u64;
            outside::sees_what_it_uses(&did.after)?;
            if self.values {
                self.compared += values::compare(f, &did.after, rng)?;
            }
            Ok(did)
        });
        did.map_err(|why| self.wrong.push(why)).ok()
    }
}

/// Goes through a rule set: each rule's left side as it is and with one change, left sides woven together, and random
/// terms.
pub fn survey(matchers: &Matchers<'_>, seed: u64, size: Size) -> Survey {
    let set = matchers.set;
    let mut survey = Survey { values: size.values, ..Survey::new(set) };
    let plain = Options::default();
    let share = size.functions / 2 / (set.rules.len() as u64).max(1);
    for (index, rule) in set.rules.iter().enumerate() {
        // A stream of its own: rules that come and go don't change what the others are tried on.
        let name = rule.name.bytes().fold(7, |h: u64, b| h.wrapping_mul(31) ^ u64::from(b));
        let mut rng = Rng::new(seed.wrapping_mul(0x9e37_79b9) ^ name);
        let plan = Plan::new(set, rule);
        let from = survey.functions;
        let most = share.max(200 + 100 * size.need);
        while survey.wrong.len() < size.enough {
            let tried = survey.functions - from;
            let done = survey.fired[index] >= size.need && survey.missed[index] >= size.need;
            if tried >= most || done && tried >= share {
                break;
            }
            one_rule(matchers, &plan, index, &plain, &mut survey, &mut rng);
        }
    }
    let mut rng = Rng::new(seed ^ 0x7e57);
    let terms = Terms::new(set);
    let targets = targets(set, &mut rng);
    for n in 0..size.functions / 2 {
        if survey.wrong.len() >= size.enough {
            break;
        }
        let group = terms.group(&mut rng);
        let f = match n % 2 {
            0 => terms.woven(&mut rng, group, 5),
            _ => terms.random(&mut rng),
        };
        let target = rng.pick(&targets).clone();
        let mut options = Options::default();
        match rng.below(16) {
            0 if !set.rules.is_empty() => {
                options.disabled = vec![rng.pick(&set.rules).name.clone()];
            }
            1 => options.withheld = Flags::LICENCES & Flags::from_bits_truncate(rng.bits() as u16),
            _ => {}
        }
        survey.run(matchers, &f, group, (&target, &options), &mut rng);
    }
    survey
}

/// A left side of a rule, and if the rule fires on it, one or two changes of it.
fn one_rule(
    matchers: &Matchers<'_>,
    plan: &Plan<'_>,
    index: usize,
    options: &Options,
    survey: &mut Survey,
    rng: &mut Rng,
) {
    let group = plan.rule.group;
    let care = if chance(rng, 85) { Care::Fits } else { Care::Loose };
    let seed = rng.clone();
    let case = plan.case(rng, care);
    let Some(did) = survey.run(matchers, &case.f, group, (&case.target, options), rng) else {
        return;
    };
    if !did.at(case.left.root, index) {
        return;
    }
    survey.fired[index] += 1;
    let (mut left, mut tries) = (1 + rng.below(2), 12);
    while left > 0 && tries > 0 {
        tries -= 1;
        let kind = *rng.pick(&plan.kinds);
        let Some(changed) = plan.changed(&case, kind, &seed, rng) else { continue };
        left -= 1;
        let target = (&changed.target, options);
        let Some(did) = survey.run(matchers, &changed.f, group, target, rng) else { return };
        if !did.at(changed.left.root, index) {
            survey.missed[index] += 1;
            survey.kinds[kind as usize] += 1;
        }
    }
}

/// Both matchers over the functions of a module.
pub fn module(
    matchers: &Matchers<'_>,
    module: &deburr_ir_core::Module,
    target: &Target,
    survey: &mut Survey,
) {
    for f in module.functions.iter().filter(|f| f.has_body()) {
        if f.all_instrs().all(|i| f.kind(i) != InstrKind::Alu) {
            continue;
        }
        for group in 0..matchers.set.groups.len() {
            survey.functions += 1;
            match matchers.run(f, group, target, &Options::default()) {
                Ok(did) => survey.steps += did.fired.len() as u64,
                Err(why) => survey.wrong.push(why),
            }
        }
    }
}
