//! What matching costs: a run of the default pipeline's rule groups over functions, and a walk over the same functions.

use deburr_algebraic::{Options, RuleSet, Target, run};
use deburr_ir_core::{AluOp, Builder, Def, Function, JumpKind, Module};
use deburr_passes::{DEFAULT, PASSES, Pipeline, Run};
use std::hint::black_box;
use std::time::{Duration, Instant};

/// Groups of the default pipeline, in the order in which it first runs them.
pub fn groups() -> Vec<&'static str> {
    let names = DEFAULT.split(|c: char| !(c.is_alphanumeric() || c == '_'));
    let mut groups = Vec::new();
    for name in names {
        let Some(Run::Rules(group)) = PASSES.iter().find(|p| p.name == name).map(|p| p.run) else {
            continue;
        };
        if !groups.contains(&group) {
            groups.push(group);
        }
    }
    groups
}

/// Functions before any rule has run, and as a group's fixed point.
pub struct Subject {
    target: Target,
    /// As the rules first see them.
    pub busy: Vec<Function>,
    /// Where no rule fires.
    pub quiet: Vec<Function>,
    /// Rewrites from the one to the other, folds included.
    pub rewrites: u64,
}

impl Subject {
    /// Brings a module to where the default pipeline first runs rules.
    ///
    /// # Errors
    /// If a pass fails.
    pub fn of(mut module: Module) -> Result<Subject, String> {
        let target = Target::spirv_of(&module);
        let before = DEFAULT.split("algebraic").next().unwrap_or_default();
        let names = before.replace("loop(", "");
        let pipeline = Pipeline::parse(names.trim_end_matches(',')).map_err(|e| e.to_string())?;
        let options = deburr_passes::Options::default();
        pipeline
            .run(&mut module, deburr_ruleset::rules(), &target, &options)
            .map_err(|e| e.to_string())?;
        let functions = module.functions.into_iter().filter(Function::has_body).collect();
        Ok(Subject::of_functions(functions, target))
    }

    fn of_functions(mut busy: Vec<Function>, target: Target) -> Subject {
        // Both in the order of the text, so that the one is not farther apart in memory than the other.
        busy.iter_mut().for_each(Function::compact);
        let mut quiet = busy.clone();
        let mut rewrites = 0;
        // A later group may enable an earlier one.
        loop {
            let fired = rules(&mut quiet, &groups(), &target);
            rewrites += fired;
            if fired == 0 {
                break;
            }
        }
        quiet.iter_mut().for_each(Function::compact);
        Subject { target, busy, quiet, rewrites }
    }

    /// A function of about `n` instructions: operations of many kinds on what stands not far before, each used.
    pub fn grown(n: usize, seed: u64) -> Subject {
        let mut f = Function::new("main");
        let mut b = Builder::at_end(&mut f);
        let mut state = seed;
        let mut random = |below: usize| {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) as usize % below
        };
        let mut values: Vec<Def> = (0..8).map(|_| b.undef(1, 32)).collect();
        const OPS: [AluOp; 10] = [
            AluOp::IADD,
            AluOp::IMUL,
            AluOp::IXOR,
            AluOp::IAND,
            AluOp::IOR,
            AluOp::ISUB,
            AluOp::FADD,
            AluOp::FMUL,
            AluOp::FMIN,
            AluOp::UMAX,
        ];
        for _ in 0..n {
            let mut operand = || values[values.len() - 1 - random(values.len().min(24))];
            let (x, y) = (operand(), operand());
            let value = match random(16) {
                0 => {
                    let k = random(9) as u32;
                    b.imm_u32(k)
                }
                1 => b.alu(AluOp::INEG, &[x]),
                2 => b.alu(AluOp::INOT, &[x]),
                3 => {
                    let c = b.alu(AluOp::ULT, &[x, y]);
                    b.alu(AluOp::BCSEL, &[c, x, y])
                }
                k => b.alu(OPS[k % OPS.len()], &[x, y]),
            };
            values.push(value);
        }
        // One value that needs all.
        let mut level = values;
        while level.len() > 1 {
            level = level
                .chunks(2)
                .map(|pair| match pair {
                    [x, y] => b.alu(AluOp::IADD, &[*x, *y]),
                    _ => pair[0],
                })
                .collect();
        }
        let block = b.block();
        f.add_jump(block, JumpKind::Return, Some(level[0]));
        Subject::of_functions(vec![f], Target::generic("generic"))
    }

    /// Runs what is measured so often; gives the least time of a run. Where nothing fires the functions stay as they are, so
    /// that a run and a walk find them in the same place and the same caches.
    pub fn run(&self, what: What, times: usize) -> Duration {
        let mut quiet = match what {
            What::Walk | What::Quiet => self.quiet.clone(),
            What::Nothing | What::WalkBusy | What::Busy => Vec::new(),
        };
        let groups = groups();
        let rules = |functions: &mut [Function]| rules(functions, &groups, &self.target);
        let mut best = Duration::MAX;
        for _ in 0..times {
            best = best.min(match what {
                What::Nothing => timed(|| black_box(self.busy.clone()).len() as u64),
                What::Walk => timed(|| walks(&quiet)),
                What::WalkBusy => timed(|| walks(&self.busy)),
                What::Quiet => timed(|| rules(&mut quiet)),
                What::Busy => {
                    let mut functions = self.busy.clone();
                    timed(|| rules(&mut functions))
                }
            });
        }
        assert!(quiet.is_empty() || quiet == self.quiet, "something fired where nothing does");
        best
    }

    /// Instructions that a measurement runs over.
    pub fn instrs(&self, what: What) -> usize {
        let functions =
            if matches!(what, What::Busy | What::WalkBusy) { &self.busy } else { &self.quiet };
        functions.iter().map(|f| f.all_instrs().count()).sum()
    }
}

/// What is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum What {
    /// Nothing but what each of the others does besides.
    Nothing,
    /// A walk over the functions where no rule fires.
    Walk,
    /// A walk over the functions as the rules first see them.
    WalkBusy,
    /// Rules where none fires.
    Quiet,
    /// Rules as the default pipeline first runs them.
    Busy,
}

fn timed(mut run: impl FnMut() -> u64) -> Duration {
    let start = Instant::now();
    black_box(run());
    start.elapsed()
}

fn walks(functions: &[Function]) -> u64 {
    functions.iter().map(walk).fold(0, u64::wrapping_add)
}

/// Looks at every instruction and what it uses, as the simplest analysis does.
pub fn walk(f: &Function) -> u64 {
    let mut sum = 0u64;
    for instr in f.all_instrs() {
        let op = f.alu_op(instr).map_or(0, |op| u64::from(op.0));
        sum = sum.wrapping_mul(31).wrapping_add(f.kind(instr) as u64 + op);
        for src in f.srcs(instr) {
            sum = sum.wrapping_add(u64::from(f.bits(src.def())));
        }
    }
    sum
}

/// Runs groups of rules; gives the number of rewrites.
fn rules(functions: &mut [Function], groups: &[&str], target: &Target) -> u64 {
    let set: &RuleSet = deburr_ruleset::rules();
    let mut rewrites = 0;
    for group in groups {
        for f in functions.iter_mut() {
            let report = run(f, set, group, target, &Options::default()).expect("the group exists");
            assert!(report.cycle.is_none(), "rules go round: {:?}", report.cycle);
            rewrites += report.fired + report.folded;
        }
    }
    rewrites
}
