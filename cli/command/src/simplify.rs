//! `deburr simplify`: what the rules make of a term.

use crate::Tree;
use crate::codes;
use crate::eval::parse_size;
use crate::input::read_bytes;
use crate::json::{Object, list, string};
use crate::optimiser::TargetName;
use crate::own_rules::OwnRules;
use crate::report::{Diagnostic, Exit, Kind, Place, Reporter, Trouble};
use crate::term::{self, NodeKind, Surroundings, Term, Var};
use deburr_algebraic::{Error, Guest, Options, Report, RuleSet, Target, TraceEntry, run_with};
use deburr_ir_core::{
    AluProps, AluSrc, BaseType, Builder, Def, Flags, Function, Index, Instr, InstrKind, Intrinsic,
    JumpKind, Shape, Swizzle,
};
use deburr_rulegen::diagnostics::nearest;
use std::path::PathBuf;

/// Rewrite a term by the rules.
#[derive(clap::Args)]
#[command(
    after_help = "Examples:\n  deburr simplify 'iadd(a, ineg(a))' --size 32\n  deburr simplify 'fadd(fmul(a, b), c)' --with contract --json"
)]
pub struct Args {
    /// The term
    #[arg(value_name = "TERM", required_unless_present = "file", conflicts_with = "file")]
    term: Option<String>,
    /// Terms, one a line: TERM [; size=32] [; with=nsz] [; group=late]
    #[arg(long, value_name = "F")]
    file: Option<String>,
    /// Bit size of what the term doesn't determine
    #[arg(long, value_name = "N", value_parser = parse_size)]
    size: Option<u8>,
    /// Float licences: nsz, arcp, contract, reassoc, transform, relaxed
    #[arg(long, value_name = "LICENCES", value_parser = parse_licences)]
    with: Option<Flags>,
    /// Group of rules: see rules/groups.rules
    #[arg(long, value_name = "NAME", default_value = "opt")]
    group: String,
    /// Operations that may be created: spirv, generic
    #[arg(long, value_enum, value_name = "T", default_value_t = TargetName::Generic, hide_possible_values = true)]
    target: TargetName,
    /// A file of rules that are tried before those built in
    #[arg(long, value_name = "F")]
    rules: Option<PathBuf>,
    /// A rule that must not fire
    #[arg(long = "disable-rule", value_name = "NAME")]
    disabled: Vec<String>,
}

/// The rules that are run.
struct Rules<'a> {
    tree: &'a Tree,
    target: TargetName,
    disabled: &'a [String],
    /// Rules of the user's own.
    own: Option<OwnRules>,
}

/// Bytes up to which a result is printed: sharing may make a small graph a large text.
const MAX_TEXT: usize = 1 << 16;

fn parse_licences(text: &str) -> Result<Flags, String> {
    let mut flags = Flags::empty();
    for name in text.split(',').map(str::trim).filter(|n| !n.is_empty()) {
        match Flags::NAMES.iter().find(|(n, f)| *n == name && Flags::LICENCES.contains(*f)) {
            Some((_, flag)) => flags |= *flag,
            None => {
                let all = Flags::NAMES.iter().filter(|(_, f)| Flags::LICENCES.contains(*f));
                return Err(match nearest(name, all.map(|(n, _)| *n)) {
                    Some(near) => format!("`{name}` is no licence; did you mean `{near}`?"),
                    None => format!("`{name}` is no licence"),
                });
            }
        }
    }
    Ok(flags)
}

/// A term to be rewritten.
struct Task {
    /// File for diagnostics.
    name: String,
    /// Line in it, from 1, and the text of the line; 0 where the term is an argument.
    line: (usize, String),
    text: String,
    size: Option<u8>,
    with: Flags,
    group: String,
}

/// What came of a term.
struct Done {
    out: String,
    cost_in: u64,
    cost_out: u64,
    rules: Vec<TraceEntry>,
}

/// Runs the subcommand.
pub fn run(args: &Args, tree: &Tree, reporter: &mut Reporter) -> Exit {
    let tasks = match tasks(args) {
        Ok(tasks) => tasks,
        Err(trouble) => return reporter.diagnose_all(&trouble),
    };
    let mut groups: Vec<&str> = tasks.iter().flatten().map(|task| &*task.group).collect();
    groups.dedup();
    let own = args.rules.as_deref().map(|path| OwnRules::of(path, tree, &args.disabled, &groups));
    let own = match own.transpose() {
        Ok(own) => own,
        Err(trouble) => return reporter.diagnose_all(&trouble),
    };
    reporter.warn(own.as_ref().map_or(&Trouble::new(), |own| &own.warnings));
    let rules = Rules { tree, target: args.target, disabled: &args.disabled, own };
    let known = |name: &&String| {
        rules.compiled().rules.iter().any(|r| [r.base, r.name].contains(&&***name))
    };
    if let Some(name) = args.disabled.iter().find(|name| !known(name)) {
        return reporter.usage(&format!("no rule is called `{name}`"));
    }
    let mut exit = Exit::Ok;
    for task in tasks {
        match task.and_then(|task| simplify(&task, &rules).map(|done| (task, done))) {
            Ok((task, done)) => tell(&task, &done, reporter),
            Err(trouble) => exit = exit.max(reporter.diagnose_all(&trouble)),
        }
    }
    exit
}

type Tasks = Vec<Result<Task, Trouble>>;

fn tasks(args: &Args) -> Result<Tasks, Trouble> {
    let with = args.with.unwrap_or(Flags::empty());
    if let Some(term) = &args.term {
        return Ok(vec![Ok(Task {
            name: "TERM".into(),
            line: (0, String::new()),
            text: term.clone(),
            size: args.size,
            with,
            group: args.group.clone(),
        })]);
    }
    let file = args.file.as_deref().unwrap_or("-");
    let text = String::from_utf8(read_bytes(file.as_ref())?)
        .map_err(|_| Diagnostic::new(file, Kind::Invalid, codes::TERM, "not UTF-8 text"))?;
    let lines = text.lines().enumerate().map(|(n, line)| (n + 1, line));
    let terms = lines.filter(|(_, l)| !l.trim().is_empty() && !l.trim().starts_with("//"));
    Ok(terms.map(|(n, line)| task_of_line(file, (n, line), args, with)).collect())
}

impl Task {
    /// A diagnostic of the term at its place in the file.
    fn place(&self, mut d: Diagnostic) -> Diagnostic {
        let (number, text) = &self.line;
        if let Place::Text { line, col, text: shown, .. } = &mut d.place
            && *number > 0
        {
            *line = *number;
            *col += text.chars().take_while(|c| c.is_whitespace()).count();
            shown.clone_from(text);
        }
        d
    }
}

fn task_of_line(
    name: &str,
    (number, line): (usize, &str),
    args: &Args,
    with: Flags,
) -> Result<Task, Trouble> {
    let mut parts = line.split(';').map(str::trim);
    let text = parts.next().unwrap_or("").to_owned();
    let (size, group) = (args.size, args.group.clone());
    let mut task = Task { name: name.into(), line: (number, line.into()), text, size, with, group };
    for part in parts {
        let bad = |why: String| {
            let d = Diagnostic::new(name, Kind::Invalid, codes::TERM, format!("`{part}`: {why}"));
            // The parts are slices of the line.
            let at = part.as_ptr() as usize - line.as_ptr() as usize;
            let col = line[..at].chars().count() + 1;
            let len = part.chars().count().max(1);
            d.at(Place::Text { line: number, col, len, text: line.into() })
        };
        match part.split_once('=') {
            Some(("size", value)) => task.size = Some(parse_size(value.trim()).map_err(bad)?),
            Some(("with", value)) => task.with = parse_licences(value).map_err(bad)?,
            Some(("group", value)) => value.trim().clone_into(&mut task.group),
            _ => return Err(bad("`size=`, `with=` or `group=` is expected".into()).into()),
        }
    }
    Ok(task)
}

impl Rules<'_> {
    /// What is compiled in, with the user's own behind it.
    fn compiled(&self) -> &RuleSet {
        self.own.as_ref().map_or(self.tree.rules, |own| &own.all)
    }

    fn run(
        &self,
        f: &mut Function,
        group: &str,
        target: &Target,
        options: &Options,
    ) -> Result<Report, Error> {
        let mut turns = self.own.as_ref().map(|own| own.turns(None));
        let guest = turns.as_mut().map(|turns| turns as &mut dyn Guest);
        run_with(f, self.compiled(), group, target, options, guest)
    }
}

fn simplify(task: &Task, rules: &Rules<'_>) -> Result<Done, Trouble> {
    let around = Surroundings { size: task.size, comps: Vec::new() };
    let term = term::read(&task.name, &task.text, &around)
        .map_err(|d| task.place(Diagnostic::of_rules(&d, |_| Some(&task.text))))?;
    let mut f = function(&term, task.with);
    deburr_passes::cse(&mut f);
    let cost_in = cost(&f);
    let mut options = Options::default();
    options.trace = true;
    options.disabled = rules.disabled.to_vec();
    let sizes = [8, 16, 32, 64];
    let target = match rules.target {
        TargetName::Generic => Target::generic("generic"),
        TargetName::Spirv => Target::spirv().int_sizes(&sizes).float_sizes(&sizes[1..]),
    };
    let bug = |message: String| Diagnostic::new(&task.name, Kind::Bug, codes::PASS_BUG, message);
    let report = rules.run(&mut f, &task.group, &target, &options).map_err(|e| {
        let d = Diagnostic::new(&task.name, Kind::Invalid, codes::TERM, e.to_string());
        let names: Vec<&str> = rules.compiled().groups.iter().map(|g| g.name).collect();
        d.help(format!("the groups are {}", names.join(", ")))
    })?;
    if let Some(cycle) = report.cycle {
        return Err(bug(format!("rules undo each other: {}", cycle.join(", "))).into());
    }
    deburr_passes::cse(&mut f);
    deburr_passes::dce(&mut f);
    let out = Printer { f: &f, term: &term }.print().ok_or_else(|| {
        let message = "the result shares so much that it is too long as a term";
        Diagnostic::new(&task.name, Kind::Limit, codes::TERM, message)
    })?;
    Ok(Done { out, cost_in, cost_out: cost(&f), rules: report.trace })
}

/// A function that returns the term's value; variables are its parameters.
fn function(term: &Term, licences: Flags) -> Function {
    let mut f = Function::new("term");
    let mut b = Builder::at_end(&mut f);
    let mut defs: Vec<Def> = Vec::new();
    for node in &term.nodes {
        let def = match &node.kind {
            NodeKind::Var(n) => {
                let shape = Shape::new(node.comps, node.bits).unwrap_or(Shape::NONE);
                let index = [(Index::PARAM_IDX, *n as u32)];
                b.intrinsic_with(Intrinsic::LOAD_PARAM, shape, &[], &index).def()
            }
            NodeKind::Literal(bits) => b.load_const(node.bits, &vec![*bits; node.comps.into()]),
            NodeKind::Op { op, promises, args, .. } => {
                let srcs: Vec<AluSrc> = args
                    .iter()
                    .map(|a| match &a.swizzle {
                        Some(list) => AluSrc::swizzled(defs[a.node], list),
                        None => defs[a.node].into(),
                    })
                    .collect();
                let float = op.builtin().is_some_and(|i| i.props.contains(AluProps::FLOAT));
                let flags = if float { licences } else { Flags::empty() };
                b.flags = *promises | flags;
                b.alu_instr(*op, node.comps, &srcs).def()
            }
        };
        defs.push(def);
    }
    let root = defs.last().copied();
    b.jump(JumpKind::Return, root);
    f
}

/// Cost of a term: the opcodes' costs times components, over what is left after sharing.
fn cost(f: &Function) -> u64 {
    let of = |i| f.alu_info(i).map_or(0, |info| u64::from(info.cost) * u64::from(f.comps(i.def())));
    f.all_instrs().filter(|i| f.kind(*i) == InstrKind::Alu && f.is_used(i.def())).map(of).sum()
}

/// Prints what a function returns as a term.
struct Printer<'a> {
    f: &'a Function,
    term: &'a Term,
}

impl Printer<'_> {
    /// Iterative: texts of operands are made before those of their users.
    fn print(&self) -> Option<String> {
        let f = self.f;
        let mut texts: std::collections::HashMap<Def, String> = std::collections::HashMap::new();
        for instr in f.all_instrs() {
            let text = match f.kind(instr) {
                InstrKind::Alu => self.operation(instr, &texts)?,
                InstrKind::Intrinsic => self.var(instr)?.name.clone(),
                InstrKind::Jump => {
                    return self.value(f.src(instr, 0), self.term.root().base, None, &texts);
                }
                _ => continue,
            };
            if text.len() > MAX_TEXT {
                return None;
            }
            texts.insert(instr.def(), text);
        }
        None
    }

    /// The variable that an intrinsic loads.
    fn var(&self, instr: Instr) -> Option<&Var> {
        self.term.vars.get(self.f.index(instr, Index::PARAM_IDX)? as usize)
    }

    fn operation(
        &self,
        instr: Instr,
        texts: &std::collections::HashMap<Def, String>,
    ) -> Option<String> {
        let f = self.f;
        let info = f.alu_info(instr)?;
        let promises = f.flags(instr) & Flags::PROMISES;
        let mut out = info.name.to_owned();
        for (name, _) in Flags::NAMES.iter().filter(|(_, flag)| promises.contains(*flag)) {
            out += &format!(".{name}");
        }
        let args: Option<Vec<String>> = (0..f.srcs(instr).len())
            .map(|n| {
                let read = Some((f.swizzle(instr, n), f.src_comps(instr, n)));
                self.value(f.src(instr, n), info.inputs[n].base, read, texts)
            })
            .collect();
        Some(format!("{out}({})", args?.join(", ")))
    }

    /// A value as an operand that is read as `base`, through a swizzle of some components.
    fn value(
        &self,
        def: Def,
        base: BaseType,
        read: Option<(Swizzle, u8)>,
        texts: &std::collections::HashMap<Def, String>,
    ) -> Option<String> {
        let f = self.f;
        let own = f.comps(def);
        let (swizzle, comps) = read.unwrap_or((Swizzle::IDENTITY, own));
        if let Some(constant) = f.constant(def) {
            let parts: Vec<String> = swizzle
                .iter(comps)
                .map(|c| literal(constant[usize::from(c)], f.bits(def), base))
                .collect();
            let same = parts.iter().all(|p| *p == parts[0]);
            return Some(if same {
                parts[0].clone()
            } else {
                format!("vec{comps}({})", parts.join(", "))
            });
        }
        let text = texts.get(&def)?;
        // A name without a swizzle is the value as a whole, which may be more than its first component.
        let part = own == 1
            && f.kind(def.instr()) == InstrKind::Intrinsic
            && self.var(def.instr())?.swizzled;
        if comps == own && swizzle.is_identity(own) && !part {
            return Some(text.clone());
        }
        let letters = if own <= 4 { "xyzw" } else { "abcdefghijklmnop" };
        let letters: Option<String> =
            swizzle.iter(comps).map(|c| letters.chars().nth(c.into())).collect();
        Some(format!("{text}.{}", letters?))
    }
}

/// A constant as a literal that reads back as the same bits.
fn literal(bits: u64, size: u8, base: BaseType) -> String {
    let text = term::show(bits, size, base);
    match base {
        // The payload of a NaN would be lost.
        BaseType::Float if text == "nan" => format!("{bits:#x}"),
        BaseType::Float | BaseType::Bool => text,
        BaseType::Int | BaseType::Uint => {
            let signed = term::show(bits, size, BaseType::Int);
            if signed.len() <= 6 { signed } else { format!("{bits:#x}") }
        }
    }
}

fn tell(task: &Task, done: &Done, reporter: &mut Reporter) {
    if reporter.json {
        let line = Object::line().str("in", &task.text).str("out", &done.out);
        let line = line.raw("cost_in", done.cost_in).raw("cost_out", done.cost_out);
        reporter.line(&line.raw("rules", list(done.rules.iter().map(|r| string(r.rule)))).end());
        return;
    }
    reporter.line(&done.out);
    if reporter.verbose > 0 {
        for rule in &done.rules {
            reporter.remark(&format!("  {} at {}:{}", rule.rule, rule.file, rule.line));
        }
        reporter.remark(&format!("  cost {} -> {}", done.cost_in, done.cost_out));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn out(text: &str, with: &str) -> String {
        let with = parse_licences(with).unwrap();
        let line = (0, String::new());
        let (name, group) = ("TERM".into(), "opt".into());
        let task = Task { name, line, text: text.into(), size: Some(32), with, group };
        let tree = crate::tests::tree();
        let (target, disabled) = (TargetName::Generic, &[][..]);
        simplify(&task, &Rules { tree: &tree, target, disabled, own: None })
            .map_err(|t| t[0].message.clone())
            .unwrap()
            .out
    }

    #[test]
    fn terms_print_as_they_are_written() {
        for text in ["umul_high(a, b)", "fpow(a.yx, b)", "fatan2(a, 0.5)", "bcsel(a, b, c)"] {
            assert_eq!(out(text, ""), text);
        }
        assert_eq!(out("iadd(a.x, b.y)", ""), "iadd(a.x, b.y)");
        assert_eq!(out("iadd(a.x, 0)", ""), "a.x");
        assert_eq!(out("iadd(a.xx, b)", ""), "iadd(a.xx, b)");
    }

    #[test]
    fn constants_fold() {
        assert_eq!(out("iadd(3, 4)", ""), "7");
        assert_eq!(out("fadd(1.5, 1.0)", ""), "2.5");
    }

    #[test]
    fn lines_have_their_own_options() {
        let args = Args {
            term: None,
            file: None,
            size: None,
            with: None,
            group: "opt".into(),
            target: TargetName::Generic,
            rules: None,
            disabled: Vec::new(),
        };
        let line = "fadd(a, b); size=16; with=nsz; group=late";
        let task = task_of_line("f", (1, line), &args, Flags::empty()).unwrap();
        assert_eq!((task.size, task.with, &*task.text), (Some(16), Flags::NSZ, "fadd(a, b)"));
        assert_eq!(task.group, "late");
        let wrong = task_of_line("f", (7, "  a; what=1"), &args, Flags::empty()).err().unwrap();
        assert!(matches!(wrong[0].place, Place::Text { line: 7, col: 6, len: 6, .. }));
        assert!(parse_licences("nnan").is_err());
    }
}
