//! The rules of the tree on what is known of loads, over random functions: nothing is left to do where the driver stops,
//! nothing is forgotten on the way, and both matchers do the same.

use deburr_algebraic::facts::Loads;
use deburr_algebraic::interp::matcher::Interpreter;
use deburr_algebraic::{
    Group, Options, Order, Rewriter, RuleSet, Target, Watch, forgotten, run, run_naive, run_with,
};
use deburr_ir_core::{Instr, Module};
use deburr_rulegen::rules::Texts;
use std::fmt::Write;

/// A small generator of numbers: the tests are the same in every run.
struct Rng(u64);

impl Rng {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 33) as usize % n
    }

    fn pick<'a, T>(&mut self, items: &'a [T]) -> &'a T {
        &items[self.below(items.len())]
    }
}

/// Values of a function by their components.
#[derive(Default)]
struct Values {
    text: String,
    /// Name and components of each 32-bit value.
    words: Vec<(String, usize)>,
    /// Names of the booleans.
    bools: Vec<String>,
}

impl Values {
    fn word(&mut self, comps: usize, code: &str) {
        let name = format!("%w{}", self.words.len());
        let size = if comps == 1 { "32".to_owned() } else { format!("32x{comps}") };
        let _ = writeln!(self.text, "    {size} {name} = {code}");
        self.words.push((name, comps));
    }

    /// A component of some value.
    fn scalar(&self, rng: &mut Rng) -> String {
        // Late values more often, so that terms are deep.
        let n = self.words.len();
        let (name, comps) = &self.words[n - 1 - rng.below(n).min(rng.below(n))];
        match comps {
            1 => name.clone(),
            n => format!("{name}.{}", rng.pick(&["x", "y", "z"][..*n])),
        }
    }

    /// One more instruction.
    fn grow(&mut self, rng: &mut Rng) {
        let (a, b) = (self.scalar(rng), self.scalar(rng));
        match rng.below(10) {
            0 => {
                let code = format!("vec2 {a}, {b}");
                self.word(2, &code);
            }
            1 | 2 => {
                let number = *rng.pick(&[0, 1, 2, 3, 4, 7, 8, 31, 32, 63, 64, 127, 128]);
                self.word(1, &format!("load_const ({number})"));
            }
            3..=5 => {
                let op = *rng.pick(&["ult", "uge", "ilt", "ige", "ieq", "ine"]);
                let name = format!("%c{}", self.bools.len());
                let _ = writeln!(self.text, "    1 {name} = {op} {a}, {b}");
                self.bools.push(name.clone());
                if rng.below(2) == 0 {
                    self.word(1, &format!("b2i32 {name}"));
                }
            }
            6 if !self.bools.is_empty() => {
                let condition = rng.pick(&self.bools).clone();
                self.word(1, &format!("bcsel {condition}, {a}, {b}"));
            }
            _ => {
                let ops = [
                    "iand", "ior", "ixor", "iadd", "umin", "umax", "imin", "imax", "ushr", "ishr",
                    "umod", "udiv", "imul",
                ];
                self.word(1, &format!("{} {a}, {b}", rng.pick(&ops)));
            }
        }
    }
}

/// A module whose function works on what its workgroup has.
fn module(rng: &mut Rng) -> Module {
    let sizes = [1, 1, 2, 4, 8, 16].map(|n| n.to_string());
    let size = [0; 3].map(|_| rng.pick(&sizes).clone()).join(", ");
    let mut values = Values::default();
    for (n, comps) in [("local", 3), ("index", 1), ("lane", 1), ("global", 3)] {
        let _ = writeln!(values.text, "    32 %{n} = deref_var &{n}");
        values.word(comps, &format!("@load_deref %{n}"));
    }
    for _ in 0..4 + rng.below(24) {
        values.grow(rng);
    }
    let last = values.words.len();
    for (name, _) in &values.words[last.saturating_sub(4)..] {
        let _ = writeln!(values.text, "    @store_output {name}, %zero (write_mask=0)");
    }
    let text = format!(
        "shader compute \"main\" entry(main) LocalSize({size})
decl_var in builtin(LocalInvocationId) u32x3 &local
decl_var in builtin(LocalInvocationIndex) u32 &index
decl_var in builtin(SubgroupLocalInvocationId) u32 &lane
decl_var in builtin(GlobalInvocationId) u32x3 &global
decl_function main()
impl main {{
  block b0:
    32 %zero = load_const (0)
{}}}
",
        values.text
    );
    deburr_ir_core::parse(&text).unwrap_or_else(|errors| panic!("{}\n{text}", errors[0]))
}

#[test]
fn what_is_known_of_loads_misses_nothing_and_is_the_same_to_both_matchers() {
    let texts = Texts {
        opcodes: deburr_ruleset::OPCODES,
        intrinsics: deburr_ruleset::INTRINSICS,
        rules: deburr_ruleset::SOURCES,
    };
    let set = texts.load().unwrap().rules();
    let set = set.unwrap_or_else(|errors| panic!("{}", errors[0].message));
    let compiled = deburr_ruleset::rules();
    let interpreter = Interpreter::new(&set, "opt").unwrap();
    let watch = Watch::of(&set, interpreter.group());
    let groups =
        vec![Group { name: "opt", doc: "", by_op: &[], dialect: &[], outside: &[], watch }];
    let hollow: &'static RuleSet =
        Box::leak(Box::new(RuleSet { groups: groups.leak(), ..*compiled }));
    let target = Target::generic("everything");
    let mut rng = Rng(5);
    let (mut fired, mut more) = (0, 0);
    for _ in 0..1_500 {
        let module = module(&mut rng);
        let before = &module.functions[0];
        let mut options = Options::default();
        let unknowing = run(&mut before.clone(), compiled, "opt", &target, &options).unwrap();
        options.loads = Loads::of_module(&module).pop();
        let mut driven = before.clone();
        let report = run(&mut driven, compiled, "opt", &target, &options).unwrap();
        fired += report.fired;
        more += u64::from(report.fired != unknowing.fired);

        let mut again = driven.clone();
        let naive = run_naive(&mut again, compiled, "opt", &target, &options, Order::Program);
        assert!(!naive.unwrap().changed, "not at the fixed point:\n{driven}\n=>\n{again}");
        let forgotten = forgotten(&mut before.clone(), compiled, "opt", &target, &options).unwrap();
        assert_eq!(forgotten, None, "{before}");

        let mut turn = |cx: &mut Rewriter<'_>, i: Instr| interpreter.apply(cx, i, |i| i).is_some();
        let mut other = before.clone();
        run_with(&mut other, hollow, "opt", &target, &options, Some(&mut turn)).unwrap();
        assert_eq!(driven.to_string(), other.to_string(), "the matchers differ on\n{before}");
    }
    assert!(more >= 100, "{fired} rewrites; {more} functions where it is used");
}
