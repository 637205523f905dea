//! What the driver makes of a term: rules from left to right, the first that matches, until none does.

use deburr_algebraic::interp::matcher::Interpreter;
use deburr_algebraic::{
    Group, Guest, Options, Rewriter, RuleInfo, RuleSet, Target, Watch, run_with,
};
use deburr_ir_core::{AluProps, Def, Flags, Function, Index, Instr, InstrKind};
use deburr_rulegen::rules::model;
use rustc_hash::FxHashMap;
use smallvec::{SmallVec, smallvec};

/// The driver with a rule set, of which some rules may be left out.
pub struct Greedy<'a> {
    /// The rules.
    pub set: &'a model::RuleSet,
    run: How<'a>,
}

enum How<'a> {
    Compiled(&'a RuleSet),
    Interpreted(RuleSet, Vec<Interpreter<'a>>),
}

/// What a run did.
#[derive(Clone, Debug, Default)]
pub struct Ran {
    /// Rules that fired, by number, in order.
    pub fired: Vec<usize>,
    /// Whether it was cut off.
    pub endless: bool,
}

/// What an interpreted rule is counted as: one that may fire, or one that may not.
const NAMES: [&str; 2] = ["on", "off"];

impl<'a> Greedy<'a> {
    /// A driver with rules that are compiled in. `compiled` must be made of `set`.
    pub fn compiled(set: &'a model::RuleSet, compiled: &'a RuleSet) -> Greedy<'a> {
        Greedy { set, run: How::Compiled(compiled) }
    }

    /// A driver with rules that are interpreted; `tables` says what operations give for sets of values. What the driver
    /// needs of the rules is kept as long as the program runs.
    pub fn interpreted(set: &'a model::RuleSet, tables: &RuleSet) -> Greedy<'a> {
        let group = |(at, (name, _)): (usize, &(String, String))| Group {
            name: Box::leak(name.clone().into_boxed_str()),
            doc: "",
            by_op: &[],
            dialect: &[],
            outside: &[],
            watch: Watch::of(set, at),
        };
        let info = |name: &'static str| RuleInfo {
            name,
            base: name,
            file: "",
            line: 0,
            group: 0,
            instances: 0,
            licences: Flags::empty(),
            doc: "",
        };
        let groups: Vec<Group> = set.groups.iter().enumerate().map(group).collect();
        let rules: Vec<RuleInfo> = NAMES.into_iter().map(info).collect();
        let interpreters = set.groups.iter().filter_map(|(name, _)| Interpreter::new(set, name));
        let interpreters = interpreters.collect();
        let hollow = RuleSet { groups: groups.leak(), rules: rules.leak(), ..*tables };
        Greedy { set, run: How::Interpreted(hollow, interpreters) }
    }

    /// What operations give for sets of values, and names of groups.
    pub(crate) fn tables(&self) -> &RuleSet {
        match &self.run {
            How::Compiled(rules) => rules,
            How::Interpreted(rules, _) => rules,
        }
    }

    /// The targets that tell rules apart: one that has everything, one for each option with it, and SPIR-V.
    pub fn targets(&self) -> Vec<Target> {
        let generic = Target::generic("generic");
        let sizes = [8, 16, 32, 64];
        let with = self.set.options.iter().map(|(name, _)| generic.clone().option(name.as_str()));
        let mut out: Vec<Target> = with.collect();
        out.push(Target::spirv().int_sizes(&sizes).float_sizes(&sizes[1..]));
        out.insert(0, generic);
        out
    }

    /// Runs the rules of a group over a function, but for those left out.
    pub fn run(&self, f: &mut Function, group: usize, target: &Target, without: &[usize]) -> Ran {
        let mut options = Options::default();
        let name = self.set.groups.get(group).map_or("", |(name, _)| name.as_str());
        let mut ran = Ran::default();
        let report = match &self.run {
            How::Compiled(rules) => {
                let names = without.iter().filter_map(|at| self.set.rules.get(*at));
                options.disabled = names.map(|rule| rule.name.clone()).collect();
                let mut looker = Looker { fired: &mut ran.fired };
                run_with(f, rules, name, target, &options, Some(&mut looker))
            }
            How::Interpreted(hollow, interpreters) => {
                options.disabled = vec![NAMES[1].into()];
                let number = |at: usize| usize::from(without.contains(&at));
                let fired = &mut ran.fired;
                let mut turn = |cx: &mut Rewriter<'_>, instr: Instr| {
                    let rule = interpreters.get(group).and_then(|i| i.apply(cx, instr, number));
                    fired.extend(rule);
                    rule.is_some()
                };
                run_with(f, hollow, name, target, &options, Some(&mut turn))
            }
        };
        // Groups and rules are those of the set, so that there is a report.
        ran.endless = !matches!(report, Ok(report) if report.cycle.is_none());
        ran
    }
}

/// Notes which compiled rules fire.
struct Looker<'f> {
    fired: &'f mut Vec<usize>,
}

impl Guest for Looker<'_> {
    fn turn(&mut self, _: &mut Rewriter<'_>, _: Instr) -> bool {
        false
    }

    fn fired(&mut self, rule: usize) {
        self.fired.push(rule);
    }
}

/// An operation, constant or value from outside: opcode or kind, flags or bits, components, operands with what is taken of
/// them.
type Key = (u16, u16, u8, SmallVec<[(u32, u64); 4]>);

/// Values by number: equal operations on equal operands have one, in all functions that are added.
#[derive(Default)]
pub(crate) struct Numbers {
    known: FxHashMap<Key, u32>,
}

/// What a function computes and reads.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Content {
    /// Costs of opcodes times components, over distinct operations, and how many of these cost something.
    pub cost: (u64, u64),
    /// Numbers of the values that instructions other than arithmetic read, in order.
    pub read: Vec<u32>,
}

impl Numbers {
    /// Numbers the values of a function.
    pub fn add(&mut self, f: &Function) -> Content {
        let mut numbers: FxHashMap<Def, u32> = FxHashMap::default();
        let mut content = Content { cost: (0, 0), read: Vec::new() };
        let mut counted = Vec::new();
        for instr in f.all_instrs() {
            let of = |n: usize| numbers.get(&f.src(instr, n)).copied().unwrap_or(u32::MAX);
            let alu = f.kind(instr) == InstrKind::Alu;
            if !alu {
                content.read.extend((0..f.srcs(instr).len()).map(of));
            }
            let Some(def) = f.def(instr).filter(|def| !alu || f.is_used(*def)) else { continue };
            let key: Key = match (f.kind(instr), f.alu_info(instr)) {
                (InstrKind::LoadConst, _) => {
                    let values = f.constant(def).unwrap_or_default().iter().map(|v| (0, *v));
                    (u16::MAX, f.bits(def).into(), f.comps(def), values.collect())
                }
                (InstrKind::Alu, Some(info)) => {
                    let taken = |n: usize| {
                        let swizzle = f.swizzle(instr, n).iter(f.src_comps(instr, n));
                        (of(n), swizzle.fold(0, |all, c| all << 4 | u64::from(c)))
                    };
                    let mut srcs: SmallVec<[_; 4]> = (0..info.inputs.len()).map(taken).collect();
                    if info.props.contains(AluProps::COMMUTATIVE) && srcs[0] > srcs[1] {
                        srcs.swap(0, 1);
                    }
                    (f.op_number(instr), f.flags(instr).bits(), f.comps(def), srcs)
                }
                _ => {
                    let param = f.index(instr, Index::PARAM_IDX).map(u64::from);
                    let which = param.unwrap_or(def.index() as u64 | 1 << 32);
                    (u16::MAX - 1, f.bits(def).into(), f.comps(def), smallvec![(0, which)])
                }
            };
            let next = self.known.len() as u32;
            let number = *self.known.entry(key).or_insert(next);
            if let Some(info) = f.alu_info(instr).filter(|_| alu && !counted.contains(&number)) {
                counted.push(number);
                content.cost.0 += u64::from(info.cost) * u64::from(f.comps(def));
                content.cost.1 += u64::from(info.cost > 0);
            }
            numbers.insert(def, number);
        }
        content
    }
}

/// What a function costs: the opcodes' costs times components, equal operations on equal operands counted once; and how many
/// such operations there are.
pub(crate) fn cost(f: &Function) -> (u64, u64) {
    Numbers::default().add(f).cost
}
