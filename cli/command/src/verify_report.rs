//! What `deburr verify` tells: verdicts of a rule, and how all are spread.

use crate::json::Object;
use crate::report::Reporter;
use deburr_ir_core::BaseType;
use deburr_rulegen::expr::Base;
use deburr_rulegen::rules::RuleSet;
use deburr_rulegen::rules::model::{Comps, Rule, flags};
use deburr_verify::{Kind as Found, Verdict};
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// Forms of the report.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Format {
    /// Tables on the terminal
    Text,
    /// The same as --json
    Json,
    /// A page
    Html,
}

/// Verdicts in the order of the columns.
const KINDS: [Found; 6] =
    [Found::Proved, Found::Tested, Found::Bounded, Found::Waived, Found::Refuted, Found::Missing];

/// How many there are of each kind.
#[derive(Clone, Default)]
struct Counts([usize; 6]);

impl Counts {
    fn add(&mut self, kind: Found) {
        self.0[KINDS.iter().position(|k| *k == kind).unwrap_or(0)] += 1;
    }

    fn of(&self, kind: Found) -> usize {
        self.0[KINDS.iter().position(|k| *k == kind).unwrap_or(0)]
    }

    fn all(&self) -> usize {
        self.0.iter().sum()
    }

    /// Share of those that are proved, in percent.
    fn proved(&self) -> f64 {
        100.0 * self.of(Found::Proved) as f64 / self.all().max(1) as f64
    }
}

/// Licences under which both sides may be different numbers.
const INEXACT: u16 = flags::REASSOC | flags::CONTRACT | flags::ARCP | flags::TRANSFORM;

/// The verdicts of a run.
pub struct Report {
    format: Option<Format>,
    rules: Vec<String>,
    total: Counts,
    /// Tables in their order: title, and rows by name.
    tables: [(&'static str, BTreeMap<String, Counts>); 4],
    /// What isn't proved, for the page.
    open: Vec<(String, String, String)>,
}

impl Report {
    /// Nothing yet.
    pub fn new(format: Option<Format>) -> Report {
        let tables = ["kind of rule", "topic", "bit size", "environment"];
        Report {
            format,
            rules: Vec::new(),
            total: Counts::default(),
            tables: tables.map(|title| (title, BTreeMap::new())),
            open: Vec::new(),
        }
    }

    /// Adds what was found of an instance.
    pub fn add(&mut self, set: &RuleSet, rule: &Rule, v: &Verdict) {
        if self.rules.last() != Some(&rule.name) {
            self.rules.push(rule.name.clone());
        }
        self.total.add(v.kind);
        if self.format.is_none() {
            return;
        }
        let scalar = rule.nodes.iter().all(|n| matches!(n.comps, Comps::Generic | Comps::Fixed(1)));
        let kind = match (rule.licences & INEXACT != 0, scalar) {
            (true, _) => "under reassoc, contract, arcp or transform",
            (_, true) => "exact, scalar",
            (_, false) => "exact, vector",
        };
        let topic = set.files.get(rule.file).map_or("", |(file, _)| stem(file));
        let environment = v.context.split('+').next().unwrap_or("");
        // No operation depends on it: the one claim stands for all.
        let environment = if rule_floats(set, rule) { environment } else { "all" };
        let names =
            [kind.to_owned(), topic.to_owned(), format!("{:2}", v.size), environment.to_owned()];
        for ((_, table), name) in self.tables.iter_mut().zip(names) {
            table.entry(name).or_default().add(v.kind);
        }
        if v.kind != Found::Proved {
            let by = if v.by.is_empty() { String::new() } else { format!(" by {}", v.by) };
            let how = format!("{}{by}, {} points {}", v.kind, v.points, v.why);
            self.open.push((v.instance.clone(), v.context.clone(), how));
        }
    }

    /// Whether nothing is refuted or missing.
    pub fn is_good(&self) -> bool {
        self.total.of(Found::Refuted) + self.total.of(Found::Missing) == 0
    }

    /// Tells of all.
    pub fn end(&self, reporter: &mut Reporter) {
        match (reporter.json, self.format) {
            (true, _) => reporter.line(&self.json()),
            (false, Some(Format::Html)) => reporter.line(&self.html()),
            (false, Some(_)) => reporter.line(&format!("{}{}", self.text(), self.line())),
            (false, None) => reporter.line(&self.line()),
        }
    }

    fn json(&self) -> String {
        let mut o =
            Object::nested().raw("rules", self.rules.len()).raw("instances", self.total.all());
        for (kind, n) in KINDS.iter().zip(self.total.0) {
            o = o.raw(&kind.to_string(), n);
        }
        Object::line().raw("summary", o.end()).end()
    }

    fn line(&self) -> String {
        let mut out = format!("{} rules, {} instances: ", self.rules.len(), self.total.all());
        let parts = KINDS.iter().zip(self.total.0).map(|(kind, n)| format!("{n} {kind}"));
        out += &parts.collect::<Vec<_>>().join(", ");
        out
    }

    fn text(&self) -> String {
        let mut out = String::new();
        for (title, table) in &self.tables {
            let _ = write!(out, "{title:44} instances  proved      %");
            KINDS[1..].iter().for_each(|kind| {
                let _ = write!(out, " {:>8}", kind.to_string());
            });
            out.push('\n');
            for (name, counts) in table {
                let _ = write!(
                    out,
                    "  {name:42} {:>9} {:>7} {:>6.2}",
                    counts.all(),
                    counts.of(Found::Proved),
                    counts.proved()
                );
                KINDS[1..].iter().for_each(|kind| {
                    let _ = write!(out, " {:>8}", counts.of(*kind));
                });
                out.push('\n');
            }
            out.push('\n');
        }
        out
    }

    fn html(&self) -> String {
        let mut out = String::from(
            "<!DOCTYPE html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n<title>deburr verify</title>\n\
             <style>body{font:15px sans-serif;margin:2em}table{border-collapse:collapse;margin:1em 0}\
             td,th{padding:2px 10px;text-align:right;border-bottom:1px solid #ddd}\
             td:first-child,th:first-child{text-align:left}</style>\n<h1>Soundness of the rewrite rules</h1>\n",
        );
        let _ = writeln!(out, "<p>{}</p>", escape(&self.line()));
        for (title, table) in &self.tables {
            let _ = write!(out, "<table>\n<tr><th>{title}<th>instances<th>proved<th>%");
            KINDS[1..].iter().for_each(|kind| {
                let _ = write!(out, "<th>{kind}");
            });
            out.push('\n');
            for (name, counts) in table {
                let (all, proved) = (counts.all(), counts.of(Found::Proved));
                let _ = write!(
                    out,
                    "<tr><td>{}<td>{all}<td>{proved}<td>{:.2}",
                    escape(name),
                    counts.proved()
                );
                KINDS[1..].iter().for_each(|kind| {
                    let _ = write!(out, "<td>{}", counts.of(*kind));
                });
                out.push('\n');
            }
            out += "</table>\n";
        }
        out += "<h2>Not proved</h2>\n<table>\n<tr><th>instance<th>context<th>verdict\n";
        for (instance, context, how) in &self.open {
            let _ = writeln!(
                out,
                "<tr><td>{}<td>{}<td>{}",
                escape(instance),
                escape(context),
                escape(how.trim_end())
            );
        }
        out += "</table>\n</html>";
        out
    }
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

/// The name of a rule file without folder and extension.
pub fn stem(file: &str) -> &str {
    let name = file.rsplit(['/', '\\']).next().unwrap_or(file);
    name.strip_suffix(".rules").unwrap_or(name)
}

fn rule_floats(set: &RuleSet, rule: &Rule) -> bool {
    deburr_verify::claims(set, rule).len() > 1
        || rule.env != deburr_rulegen::rules::model::EnvClause::ALL
}

/// The verdicts that are told: all, or those that are bad. Verdicts of one instance that say the same are one line.
pub fn told(verdicts: &[Verdict], all: bool) -> Vec<String> {
    let mut lines: Vec<(Vec<&str>, &Verdict, u64)> = Vec::new();
    for v in verdicts.iter().filter(|v| all || !v.is_good()) {
        let same = |other: &Verdict| {
            (&v.instance, v.kind, &v.witness, &v.why)
                == (&other.instance, other.kind, &other.witness, &other.why)
        };
        match lines.iter_mut().find(|(_, first, _)| same(first)) {
            Some((contexts, _, points)) => {
                contexts.push(&v.context);
                *points += v.points;
            }
            None => lines.push((vec![&v.context], v, v.points)),
        }
    }
    let line = |(contexts, v, points): (Vec<&str>, &Verdict, u64)| {
        let contexts = folded(&contexts);
        let mut out = format!("{} ({contexts}): {}, {points} points", v.instance, v.kind);
        if let Some(w) = &v.witness {
            let read = |at: usize, text: &str| with_numbers(text, w.types.get(at));
            let inputs = w.inputs.iter().enumerate();
            let inputs: Vec<String> =
                inputs.map(|(i, (n, text))| format!("{n} = {}", read(i, text))).collect();
            let root = w.types.len().wrapping_sub(1);
            let (before, after) = (read(root, &w.before), read(root, &w.after));
            out += &format!("; at {}: before {before}, after {after}", inputs.join(", "));
        }
        if !v.why.is_empty() {
            out += &format!("; {}", v.why);
        }
        out
    };
    lines.into_iter().map(line).collect()
}

/// Contexts as one: `keep | any, rte` where they are all that can be made of the words, else a list.
fn folded(contexts: &[&str]) -> String {
    let parts: Option<Vec<(&str, &str, &str)>> = contexts
        .iter()
        .map(|c| {
            let (denorm, rest) = c.split_once(',')?;
            let (rounding, licences) = rest.split_at(rest.find('+').unwrap_or(rest.len()));
            Some((denorm, rounding, licences))
        })
        .collect();
    let Some(parts) = parts.filter(|p| p.iter().all(|x| x.2 == p[0].2)) else {
        return contexts.join("; ");
    };
    let distinct = |words: Vec<&str>| {
        let mut out: Vec<String> = Vec::new();
        for word in words {
            if !out.iter().any(|w| w == word) {
                out.push(word.into());
            }
        }
        out
    };
    let denorm = distinct(parts.iter().map(|p| p.0).collect());
    let rounding = distinct(parts.iter().map(|p| p.1).collect());
    match denorm.len() * rounding.len() == contexts.len() {
        true => format!("{},{}{}", denorm.join("|"), rounding.join("|"), parts[0].2),
        false => contexts.join("; "),
    }
}

/// Values in hexadecimal, each with the number that it is.
fn with_numbers(text: &str, ty: Option<&(u8, Base)>) -> String {
    let Some((bits, base)) = ty else { return text.to_owned() };
    let base = match base {
        Base::Float => BaseType::Float,
        Base::Bool => BaseType::Bool,
        Base::Int => BaseType::Int,
        Base::Uint => BaseType::Uint,
    };
    let mut out = String::new();
    for (n, part) in text.split("0x").enumerate() {
        if n == 0 {
            out += part;
            continue;
        }
        let digits = part.find(|c: char| !c.is_ascii_hexdigit()).unwrap_or(part.len());
        let (value, rest) = part.split_at(digits);
        out += &format!("0x{value}");
        if let Ok(value) = u64::from_str_radix(value, 16) {
            out += &format!(" = {}", crate::term::show(value, *bits, base));
        }
        out += rest;
    }
    out
}
