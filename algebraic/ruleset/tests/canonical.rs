//! Rules that are out of the termination order (`canonical "why"`), run together in search of a circle.
//!
//! No order shows that they stop, so terms are made of their left sides, of the left sides of rules with an operation in
//! common, and of their operations: at random, and for each pair of rules where one's left side lies on or in the
//! other's. The driver must come to an end on each; if it doesn't, the message has the term and the rules that go round.
//!
//! `DEBURR_CASES` scales the number of random terms; 1.0 is a million.

use deburr_algebraic::interp::matcher::Interpreter;
use deburr_algebraic::{Group, Options, Rewriter, RuleSet, Target, Watch, run, run_with};
use deburr_ir_core::{AluOp, AluSrc, Builder, Flags, Function, Instr, JumpKind, Swizzle};
use deburr_rulegen::rules::model::{self, Comps, NodeId, NodeKind, Rule, VarKind, flags};
use deburr_rulegen::rules::{Library, Ops, Texts, compile};
use deburr_rulegen::tables::{TableFile, Tables};
use std::collections::HashMap;

struct Rng(u64);

impl Rng {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 33) as usize % n.max(1)
    }
}

/// Rules that terms are made of.
struct Terms<'a> {
    set: &'a model::RuleSet,
    /// Rules out of the order, and those that share an operation with one of them.
    near: Vec<&'a Rule>,
}

/// A left side that is to stand at a node of another's.
type Inner<'a> = Option<(NodeId, &'a Rule)>;

impl<'a> Terms<'a> {
    fn new(set: &'a model::RuleSet, group: usize, out: impl Fn(&Rule) -> bool) -> Terms<'a> {
        let ops = |rule: &Rule| -> Vec<usize> {
            let nodes = rule.nodes.iter();
            nodes
                .filter_map(|n| match &n.kind {
                    NodeKind::Op { op, .. } => Some(*op),
                    _ => None,
                })
                .collect()
        };
        let of_group = || set.rules.iter().filter(move |r| r.group == group);
        let theirs: Vec<usize> = of_group().filter(|r| out(r)).flat_map(ops).collect();
        let shares = |rule: &&Rule| ops(rule).iter().any(|op| theirs.contains(op));
        Terms { set, near: of_group().filter(shares).collect() }
    }

    /// A function that returns what `make` makes.
    fn function(
        &self,
        rng: &mut Rng,
        make: impl FnOnce(&mut Maker<'a, '_, '_>) -> AluSrc,
    ) -> Function {
        let mut f = Function::new("main");
        let mut maker = Maker { terms: self, b: Builder::at_end(&mut f), rng };
        let value = make(&mut maker);
        let block = maker.b.block();
        f.add_jump(block, JumpKind::Return, Some(value.def));
        f
    }

    /// Each pair of a rule out of the order and another, one's left side at each operation or variable of the other's.
    fn pairs(&self, rng: &mut Rng, out: impl Fn(&Rule) -> bool) -> Vec<Function> {
        let mut list = Vec::new();
        for one in self.near.iter().filter(|r| out(r)) {
            for two in &self.near {
                for (outer, inner) in [(one, two), (two, one)] {
                    for at in outer.pattern_nodes() {
                        let root = &outer.nodes[outer.pattern];
                        let sizes = &outer.instances[rng.below(outer.instances.len())];
                        let (bits, comps) = match root.comps {
                            Comps::Fixed(n) => (sizes[root.class], n),
                            Comps::Generic => (sizes[root.class], 1),
                        };
                        list.push(self.function(rng, |maker| {
                            maker.left(outer, bits, comps, 0, Some((at, inner)))
                        }));
                    }
                }
            }
        }
        list
    }

    fn random(&self, rng: &mut Rng) -> Function {
        let bits = [8, 16, 32, 64, 1][rng.below(5)];
        let (comps, depth) = ([1, 1, 2, 3][rng.below(4)], 2 + rng.below(3) as u32);
        self.function(rng, |maker| maker.value(bits, comps, depth))
    }
}

/// Makes terms in a function.
struct Maker<'a, 't, 'f> {
    terms: &'t Terms<'a>,
    b: Builder<'f>,
    rng: &'t mut Rng,
}

/// A left side that is being made.
struct Left<'a> {
    rule: &'a Rule,
    sizes: &'a [u8],
    /// Left sides that may yet stand in each other.
    depth: u32,
    inner: Inner<'a>,
    /// What its variables stand for.
    vars: HashMap<usize, AluSrc>,
}

impl<'a> Maker<'a, '_, '_> {
    /// A value of that size: a leaf, a constant, or a left side.
    fn value(&mut self, bits: u8, comps: u8, depth: u32) -> AluSrc {
        let mask = u64::MAX >> (64 - u32::from(bits));
        if depth > 0 && self.rng.below(10) < 7 {
            let fitting = |rule: &&&Rule| {
                let root = &rule.nodes[rule.pattern];
                let fits = root.comps == Comps::Generic || root.comps == Comps::Fixed(comps);
                fits && rule.instances.iter().any(|i| i[root.class] == bits)
            };
            let fitting: Vec<&&Rule> = self.terms.near.iter().filter(fitting).collect();
            if !fitting.is_empty() {
                let rule = fitting[self.rng.below(fitting.len())];
                return self.left(rule, bits, comps, depth - 1, None);
            }
        }
        match self.rng.below(3) {
            0 => {
                let numbers = [0, 1, 2, 3, 4, 7, 8, 16, 255, u64::MAX, 1 << (bits - 1)];
                let number = numbers[self.rng.below(numbers.len())] & mask;
                self.b.load_const(bits, &vec![number; usize::from(comps)]).into()
            }
            _ => self.b.undef(comps, bits).into(),
        }
    }

    /// The left side of a rule with a root of that size, over values, with another's at one of its nodes.
    fn left(
        &mut self,
        rule: &'a Rule,
        bits: u8,
        comps: u8,
        depth: u32,
        inner: Inner<'a>,
    ) -> AluSrc {
        let class = rule.nodes[rule.pattern].class;
        let fits: Vec<&Vec<u8>> = rule.instances.iter().filter(|i| i[class] == bits).collect();
        let sizes = fits[self.rng.below(fits.len())];
        let mut left = Left { rule, sizes, depth, inner, vars: HashMap::new() };
        self.node(&mut left, rule.pattern, comps)
    }

    fn node(&mut self, left: &mut Left<'a>, id: NodeId, comps: u8) -> AluSrc {
        let Left { rule, sizes, depth, inner, .. } = *left;
        let node = &rule.nodes[id];
        let bits = sizes[node.class];
        let swizzled = |src: AluSrc| match &node.swizzle {
            Some(s) => AluSrc { def: src.def, swizzle: Swizzle::new(s) },
            None => src,
        };
        if let Some((_, other)) = inner.filter(|(at, _)| *at == id) {
            let root = &other.nodes[other.pattern];
            let same_size = other.instances.iter().any(|i| i[root.class] == bits);
            let fits = root.comps == Comps::Generic || root.comps == Comps::Fixed(comps);
            if same_size && fits {
                return self.left(other, bits, comps, depth, None);
            }
        }
        match &node.kind {
            NodeKind::Op { op, promises, args, .. } => {
                let sig = self.terms.set.ops.get(*op);
                let comps = if sig.output.comps == 0 { comps } else { sig.output.comps };
                let mut srcs = Vec::new();
                for (arg, ty) in args.iter().zip(&sig.inputs) {
                    let n = if ty.comps == 0 { comps } else { ty.comps };
                    srcs.push(self.node(left, *arg, n));
                }
                if sig.commutative && self.rng.below(2) == 0 {
                    srcs.swap(0, 1);
                }
                let licences = if sig.float { flags::LICENCES } else { 0 };
                self.b.flags = Flags::from_bits_truncate(promises | licences);
                let def = self.b.alu_instr(AluOp(sig.id), comps, &srcs).def();
                self.b.flags = Flags::empty();
                swizzled(def.into())
            }
            NodeKind::Literal(value, base) => {
                let number = value.encode(*base, bits).unwrap();
                AluSrc { def: self.b.load_const(bits, &[number]), swizzle: Swizzle::splat(0) }
            }
            NodeKind::Var(v) => {
                if let Some(src) = left.vars.get(v) {
                    return swizzled(*src);
                }
                let var = &rule.vars[*v];
                let wide = match (var.whole, var.comps) {
                    (true, Comps::Fixed(n)) => n.max(2),
                    _ => comps,
                };
                let src = match var.kind {
                    VarKind::Const => {
                        let mask = u64::MAX >> (64 - u32::from(bits));
                        let number = [1, 2, 4, 8, 1 << (bits - 1), 3][self.rng.below(6)] & mask;
                        self.b.load_const(bits, &vec![number; usize::from(wide)]).into()
                    }
                    _ => self.value(bits, wide, depth),
                };
                left.vars.insert(*v, src);
                swizzled(src)
            }
            NodeKind::Compute { .. }
            | NodeKind::Outside { .. }
            | NodeKind::Ref(_)
            | NodeKind::Undef => self.b.undef(comps, bits).into(),
        }
    }
}

fn scale() -> f64 {
    std::env::var("DEBURR_CASES").ok().and_then(|s| s.parse().ok()).unwrap_or(0.005)
}

#[test]
fn rules_out_of_the_order_come_to_an_end() {
    let (opcodes, rules) = (deburr_ruleset::OPCODES, deburr_ruleset::SOURCES);
    let set = Texts { opcodes, intrinsics: "", rules }.load().unwrap().rules().unwrap();
    let compiled = deburr_ruleset::rules();
    let (target, options) = (Target::generic("everything"), Options::default());
    let mut rng = Rng(1);
    let (mut pairs, mut random, mut fired) = (0, 0, 0);
    let out = |rule: &Rule| rule.canonical.is_some();
    for (index, (group, _)) in set.groups.iter().enumerate() {
        let terms = Terms::new(&set, index, out);
        if terms.near.is_empty() {
            continue;
        }
        let list = terms.pairs(&mut rng, out);
        pairs += list.len();
        let count = (1e6 * scale()) as usize;
        random += count;
        let more = (0..count).map(|_| terms.random(&mut rng));
        for before in list.into_iter().chain(more) {
            let mut f = before.clone();
            let report = run(&mut f, compiled, group, &target, &options).unwrap();
            assert!(report.cycle.is_none(), "{:?} go round on\n{before}", report.cycle);
            fired += report.fired;
        }
    }
    println!("{pairs} pairs and {random} random terms: {fired} rewrites, none goes round");
    assert!(fired as usize > random, "rules fire on what is made of them");
}

/// The same search over rules that do go round finds a term.
#[test]
fn a_circle_is_found() {
    let opcodes = TableFile::new("opcodes.toml", deburr_ruleset::OPCODES);
    let groups = "rules 1\ngroup opt;\nfile t;\n";
    let library = Library::new(
        Ops::from_tables(&Tables::parse(&[opcodes]).unwrap()),
        (&"facts.rules".into(), "rules 1\n"),
        (&"groups.rules".into(), groups),
        &mut Vec::new(),
    );
    let text = "rules 1\n\
                rule sum: iadd(imul(a, b), a) => imul(a, iadd(b, 1)) canonical \"it doesn't\";\n\
                rule spread: imul(iadd(a, #c), b) => iadd(imul(a, b), imul(b, c));\n";
    let set = compile(&library, &[("t.rules".into(), text.into())]).unwrap();
    let compiled = deburr_ruleset::rules();
    let watch = Watch::of(&set, 0);
    let groups =
        vec![Group { name: "opt", doc: "", by_op: &[], dialect: &[], outside: &[], watch }];
    let hollow: &'static RuleSet =
        Box::leak(Box::new(RuleSet { groups: Vec::leak(groups), ..*compiled }));
    let interpreter = Interpreter::new(&set, "opt").unwrap();
    let out = |rule: &Rule| rule.canonical.is_some();
    let terms = Terms::new(&set, 0, out);
    let mut options = Options::default();
    options.fuel = Some(500);
    let mut rng = Rng(1);
    let mut extra = |cx: &mut Rewriter<'_>, i: Instr| interpreter.apply(cx, i, |i| i).is_some();
    let target = Target::generic("everything");
    let found = terms.pairs(&mut rng, out).into_iter().any(|mut f| {
        let report = run_with(&mut f, hollow, "opt", &target, &options, Some(&mut extra));
        report.unwrap().cycle.is_some()
    });
    assert!(found);
}
