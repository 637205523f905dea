//! B 5: what the generated matchers cost to build: of the rules of the day, and of a set grown from them.
//!
//! The set is grown by variants: copies of rules and loops in which an operation of the pattern is another of the same type,
//! or a number another. Roots, depths and clauses stay what they are. What the build refuses of them is left out. At reduced
//! size a smaller set is grown, and nothing is built.

use super::a_8::edit_a_rule;
use super::b_2::{items, tokens};
use super::clone::{cargo, fresh_clone};
use super::{Args, Outcome, Verdict};
use deburr_fuzz::Rng;
use deburr_rulegen::diagnostics::Severity;
use deburr_rulegen::rules::model::NodeKind;
use deburr_rulegen::rules::ops::OpSig;
use deburr_rulegen::rules::{Ops, RuleSet, Tree, emit};
use deburr_rulegen::tables::{TableFile, Tables};
use deburr_ruleset::{INTRINSICS, OPCODES, SOURCES};
use std::collections::HashMap;
use std::fmt::Write as _;
use std::path::Path;
use std::sync::Arc;

/// Seconds from an edit of a rule to a linked release command: with the rules of the day, and with the set grown.
const MAX_SECONDS: [f64; 2] = [15.0, 30.0];
/// Rules that the set is grown to, templates stamped.
const RULES: u64 = 3000;
/// Turns of growing after which no more is tried.
const MOST_TURNS: usize = 40;

/// Measures it.
pub fn run(args: &Args) -> Outcome {
    let target = format!(
        "rule edit to linked command <= {} s; <= {} s with {RULES} rules of the same kinds",
        MAX_SECONDS[0], MAX_SECONDS[1]
    );
    let mut list = Vec::new();
    match measure(args, &mut list) {
        Ok((met, figure)) => Outcome { figure, target, verdict: Verdict::of(met), list },
        Err(why) => {
            list.push(why);
            Outcome {
                figure: "not measured to its end".into(),
                target,
                verdict: Verdict::Fail,
                list,
            }
        }
    }
}

fn measure(args: &Args, list: &mut Vec<String>) -> Result<(bool, String), String> {
    let tree = Sources::of_tree()?;
    let day = tree.compile()?;
    list.push(format!("rules of the day: {}", describe(&day)));
    let wanted = match args.cases >= 1.0 {
        true => RULES as usize,
        false => day.rules.len() + args.count(RULES) as usize,
    };
    let (sources, grown) = tree.grow(wanted, &mut Rng::new(args.seed ^ 0xb5))?;
    list.push(format!("grown: {}", describe(&grown)));
    if args.cases < 1.0 {
        list.push("builds are measured when the line is run by name".into());
        return Ok((
            grown.rules.len() >= wanted,
            format!("{} rules grown to {}", day.rules.len(), grown.rules.len()),
        ));
    }
    let folder = fresh_clone("accept_b_5")?;
    let edit = build(&folder, "rules of the day", list)?;
    for level in ["release", "dev"] {
        // What was compiled before must not be used again in part.
        let whole = format!("profile.{level}.incremental=false");
        let profile = ["build", "--profile", level, "--config", &whole, "-p", "deburr-ruleset"];
        cargo(&folder, &profile)?;
        let path = folder.join("algebraic/ruleset/src/lib.rs");
        let text = std::fs::read_to_string(&path).map_err(|e| e.to_string())?;
        std::fs::write(&path, format!("{text}\n// Built again.\n")).map_err(|e| e.to_string())?;
        let run = cargo(&folder, &profile)?;
        let opt = if level == "release" { 3 } else { 0 };
        list.push(format!("rustc at opt-level {opt}: {:.1} CPU-seconds", run.cpu.unwrap_or(0.0)));
    }
    sources.write(&folder.join("rules"))?;
    let edit_grown = build(&folder, "rules grown", list)?;
    let figure = format!(
        "{} lines for {} rules; rule edit to linked command {edit:.1} s, with {} rules {edit_grown:.1} s",
        emit::emit(&day).lines().count(),
        day.rules.len(),
        grown.rules.len()
    );
    let met = edit <= MAX_SECONDS[0] && edit_grown <= MAX_SECONDS[1] && grown.rules.len() >= wanted;
    Ok((met, figure))
}

/// Seconds of a build behind an edit of a rule.
fn build(folder: &Path, what: &str, list: &mut Vec<String>) -> Result<f64, String> {
    let args = ["build", "--release", "-p", "deburr", "--no-default-features"];
    cargo(folder, &args)?;
    let (path, text) = edit_a_rule(folder)?;
    let run = cargo(folder, &args)?;
    list.push(format!(
        "{what}: rule edit to linked command {:.1} s, {:.1} CPU-seconds",
        run.seconds,
        run.cpu.unwrap_or(0.0)
    ));
    std::fs::write(path, text).map_err(|e| e.to_string())?;
    Ok(run.seconds)
}

/// Rules, roots, the depths of patterns, clauses, and lines generated.
fn describe(set: &RuleSet) -> String {
    let share = |n: usize| 100.0 * n as f64 / set.rules.len().max(1) as f64;
    let mut roots: HashMap<usize, usize> = HashMap::new();
    let (mut depths, mut facts, mut conditions) = ([0usize; 4], 0, 0);
    for rule in &set.rules {
        if let NodeKind::Op { op, .. } = &rule.nodes[rule.pattern].kind {
            *roots.entry(*op).or_default() += 1;
        }
        let ops = |id: &usize| matches!(rule.nodes[*id].kind, NodeKind::Op { .. });
        let mut level = vec![rule.pattern];
        let mut depth = 0;
        while !level.is_empty() {
            depth += 1;
            level = level
                .iter()
                .flat_map(|id| rule.nodes[*id].operands())
                .copied()
                .filter(ops)
                .collect();
        }
        depths[(depth - 1).min(3)] += 1;
        facts += usize::from(!rule.facts.is_empty());
        conditions +=
            usize::from(rule.when.is_some() || rule.alts.iter().any(|a| a.profit.is_some()));
    }
    let largest = roots.values().copied().max().unwrap_or(0);
    let depths: Vec<String> = depths.iter().map(|n| format!("{:.0}", share(*n))).collect();
    format!(
        "{} rules at {} roots, {:.1} % at the largest; operations deep 1, 2, 3, more: {} %; with facts {:.0} %, with conditions \
         {:.0} %; {} lines",
        set.rules.len(),
        roots.len(),
        share(largest),
        depths.join(", "),
        share(facts),
        share(conditions),
        emit::emit(set).lines().count()
    )
}

/// Rule files: those of the tree, and those that were grown.
#[derive(Clone)]
struct Sources {
    ops: Ops,
    facts: String,
    groups: String,
    /// Name without folder and extension, and the items.
    files: Vec<(String, Vec<String>)>,
    /// How many of the files are the tree's.
    own: usize,
}

impl Sources {
    fn of_tree() -> Result<Sources, String> {
        let tables = [
            TableFile::new("opcodes.toml", OPCODES),
            TableFile::new("intrinsics.toml", INTRINSICS),
        ];
        let tables = Tables::parse(&tables).map_err(|list| list[0].message.clone())?;
        let mut sources = Sources {
            ops: Ops::from_tables(&tables),
            facts: String::new(),
            groups: String::new(),
            files: vec![],
            own: 0,
        };
        for (path, text) in SOURCES {
            let name = path.trim_start_matches("rules/").trim_end_matches(".rules");
            match name {
                "facts" => sources.facts = (*text).to_owned(),
                "groups" => sources.groups = (*text).to_owned(),
                _ => {
                    let items = items(text).into_iter().map(str::to_owned).collect();
                    sources.files.push((name.to_owned(), items));
                }
            }
        }
        sources.own = sources.files.len();
        Ok(sources)
    }

    fn text(items: &[String]) -> String {
        format!("rules 1\n{}", items.concat())
    }

    fn groups(&self) -> String {
        let mut text = self.groups.clone();
        for (name, _) in &self.files[self.own..] {
            let _ = writeln!(text, "file {name};");
        }
        text
    }

    /// The rules, or the files and places at which the build refuses some.
    fn try_compile(&self) -> Result<RuleSet, Vec<(String, usize)>> {
        let tree = Tree {
            ops: self.ops.clone(),
            facts: ("rules/facts.rules".into(), Arc::from(&*self.facts)),
            groups: ("rules/groups.rules".into(), self.groups().into()),
        };
        let texts: HashMap<&str, String> =
            self.files.iter().map(|(name, items)| (&**name, Self::text(items))).collect();
        let read = |name: &str| texts.get(name).cloned().ok_or_else(|| "no such file".to_owned());
        let (result, _) = tree.compile("", read);
        result.map_err(|list| {
            let errors = list.into_iter().filter(|d| d.severity == Severity::Error);
            let place =
                |file: &str, at: u32| (file.trim_end_matches(".rules").to_owned(), at as usize);
            errors
                .flat_map(|d| {
                    let labels = d.labels.iter().map(|l| place(&l.file, l.span.start));
                    std::iter::once(place(&d.file, d.span.start)).chain(labels).collect::<Vec<_>>()
                })
                .collect()
        })
    }

    fn compile(&self) -> Result<RuleSet, String> {
        self.try_compile().map_err(|at| format!("the rules of the tree are wrong: {at:?}"))
    }

    /// Adds variants of the tree's rules until there are so many.
    fn grow(&self, wanted: usize, rng: &mut Rng) -> Result<(Sources, RuleSet), String> {
        let mut grown = self.clone();
        let mut best = self.compile()?;
        for turn in 1..=MOST_TURNS {
            let mut files = Vec::new();
            for (name, items) in &self.files {
                let variants =
                    items.iter().filter_map(|item| variant(item, turn, &self.ops, rng)).collect();
                files.push((format!("grown_{turn}_{name}"), variants));
            }
            grown.files.extend(files);
            best = grown.weed()?;
            if best.rules.len() >= wanted {
                return Ok((grown, best));
            }
        }
        Err(format!("only {} rules grew", best.rules.len()))
    }

    /// Takes out what the build refuses.
    fn weed(&mut self) -> Result<RuleSet, String> {
        loop {
            let places = match self.try_compile() {
                Ok(set) => return Ok(set),
                Err(places) => places,
            };
            let mut refused: Vec<(usize, usize)> = Vec::new();
            for (name, at) in &places {
                let Some(file) = self.files[self.own..].iter().position(|(n, _)| n == name) else {
                    continue;
                };
                let file = file + self.own;
                let mut end = "rules 1\n".len();
                let item = self.files[file].1.iter().position(|item| {
                    end += item.len();
                    *at < end
                });
                refused.extend(item.map(|item| (file, item)));
            }
            if refused.is_empty() {
                return Err(format!("refused outside the variants: {places:?}"));
            }
            refused.sort_unstable();
            refused.dedup();
            for (file, item) in refused.into_iter().rev() {
                self.files[file].1.remove(item);
            }
        }
    }

    /// Writes the files that were grown beside the tree's.
    fn write(&self, folder: &Path) -> Result<(), String> {
        let write = |name: &str, text: &str| {
            std::fs::write(folder.join(format!("{name}.rules")), text)
                .map_err(|e| format!("{name}: {e}"))
        };
        for (name, items) in &self.files[self.own..] {
            write(name, &Self::text(items))?;
        }
        write("groups", &self.groups())
    }
}

/// A rule or loop under another name, with one or two words of its patterns changed; `None` if there is nothing to change.
fn variant(item: &str, turn: usize, ops: &Ops, rng: &mut Rng) -> Option<String> {
    let tokens = tokens(item);
    let (mut places, mut names) = (Vec::new(), Vec::new());
    let (mut in_pattern, mut depth) = (false, 0);
    for (n, range) in tokens.iter().enumerate() {
        let word = &item[range.clone()];
        let before = n.checked_sub(1).map_or("", |n| &item[tokens[n].clone()]);
        match word {
            "rule" => depth = 0,
            ":" if !in_pattern && depth == 0 => in_pattern = true,
            "=>" => (in_pattern, depth) = (false, 1),
            _ => {}
        }
        if before == "rule" {
            names.push(range.start);
        }
        // The root stays what it is.
        if in_pattern && before != ":" && (others(word, ops).len() > 1 || is_number(word)) {
            places.push(range.clone());
        }
    }
    if places.is_empty() {
        return None;
    }
    let mut edits: Vec<(std::ops::Range<usize>, String)> =
        names.into_iter().map(|at| (at..at, format!("v{turn}_"))).collect();
    for _ in 0..=rng.below(2) {
        let place = places[rng.below(places.len())].clone();
        let word = &item[place.clone()];
        let list = others(word, ops);
        let new = match list.is_empty() {
            true => number(word, rng),
            false => list[rng.below(list.len())].to_owned(),
        };
        if !edits.iter().any(|(range, _)| *range == place) {
            edits.push((place, new));
        }
    }
    edits.sort_by_key(|(range, _)| std::cmp::Reverse(range.start));
    let mut out = item.to_owned();
    for (range, new) in edits {
        out.replace_range(range, &new);
    }
    Some(out)
}

/// The operations of the same type as one of that name, which is among them.
fn others<'a>(name: &str, ops: &'a Ops) -> Vec<&'a str> {
    let Some(sig) = ops.iter().find(|sig| sig.name == name) else { return Vec::new() };
    let same = |other: &&OpSig| {
        other.inputs == sig.inputs
            && other.output == sig.output
            && other.sizes == sig.sizes
            && other.float == sig.float
            && other.convergent == sig.convergent
    };
    ops.iter().filter(same).map(|sig| &*sig.name).collect()
}

fn is_number(word: &str) -> bool {
    word.starts_with(|c: char| c.is_ascii_digit())
}

/// Another number of the same kind.
fn number(word: &str, rng: &mut Rng) -> String {
    match word.contains('.') {
        true => format!("{}.0", 2 + rng.below(120)),
        false => (2 + rng.below(120)).to_string(),
    }
}
