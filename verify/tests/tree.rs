//! Every rule of the tree, at every size and in every environment that it claims.
//!
//! `DEBURR_CASES` scales the number of points; 1.0 tries all inputs of up to 24 bits together, which takes a release build.

use deburr_rulegen::rules::{Ops, RuleSet, Tree};
use deburr_rulegen::tables::{TableFile, Tables};
use deburr_verify::{Kind, Options, Verdict, check_rule, needless_licences, run_tests};
use std::path::Path;

fn root() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/.."))
}

fn read(name: &str) -> String {
    std::fs::read_to_string(root().join(name)).unwrap()
}

/// What is wrong with the rules of the tree, once for all tests.
struct Wrong(String);

impl std::fmt::Debug for Wrong {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "the rules of the tree are refused\n\n{}", self.0)
    }
}

/// The rules of the tree. Where they are refused, [`the_rules_of_the_tree_are_taken`] says why, and no other test does.
fn tree() -> Option<&'static RuleSet> {
    static TREE: std::sync::OnceLock<Result<RuleSet, String>> = std::sync::OnceLock::new();
    TREE.get_or_init(compiled).as_ref().ok()
}

fn compiled() -> Result<RuleSet, String> {
    let tables = Tables::parse(&[TableFile::new("opcodes.toml", read("opcodes.toml"))]).unwrap();
    let named = |name: &str| (name.into(), read(name).into());
    let tree = Tree {
        ops: Ops::from_tables(&tables),
        facts: named("rules/facts.rules"),
        groups: named("rules/groups.rules"),
    };
    let path = |name: &str| root().join(format!("rules/{name}.rules"));
    let (result, files) = tree
        .compile("rules/", |name| std::fs::read_to_string(path(name)).map_err(|e| e.to_string()));
    result.map_err(|diags| {
        let text = |name: &str| files.iter().find(|f| &*f.0 == name).map(|f| &*f.1);
        diags.iter().map(|d| d.to_plain(text) + "\n").collect()
    })
}

/// Returns its error instead of panicking: what is told is the diagnostics, without a backtrace.
#[test]
fn the_rules_of_the_tree_are_taken() -> Result<(), Wrong> {
    compiled().map(|_| ()).map_err(Wrong)
}

fn options() -> Options {
    let scale = std::env::var("DEBURR_CASES").ok().and_then(|s| s.parse().ok());
    Options::scaled(scale.unwrap_or(0.05))
}

/// Runs `f` over all rules on a few threads.
fn over_rules<T: Send>(
    set: &RuleSet,
    f: impl Fn(&deburr_rulegen::rules::Rule) -> Vec<T> + Sync,
) -> Vec<T> {
    let threads = std::thread::available_parallelism().map_or(2, |n| n.get());
    let next = std::sync::atomic::AtomicUsize::new(0);
    std::thread::scope(|scope| {
        let handles: Vec<_> = (0..threads)
            .map(|_| {
                scope.spawn(|| {
                    let mut out = Vec::new();
                    loop {
                        let i = next.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
                        let Some(rule) = set.rules.get(i) else { return out };
                        out.extend(f(rule));
                    }
                })
            })
            .collect();
        handles.into_iter().flat_map(|h| h.join().unwrap()).collect()
    })
}

#[test]
fn every_rule_is_sound() {
    let Some(set) = tree() else { return };
    let options = options();
    let start = std::time::Instant::now();
    let verdicts: Vec<Verdict> = over_rules(set, |rule| check_rule(set, rule, &options, &[]));
    let bad: Vec<String> =
        verdicts.iter().filter(|v| !v.is_good()).map(Verdict::to_string).collect();
    let count = |kind| verdicts.iter().filter(|v| v.kind == kind).count();
    println!(
        "{:?}: {} rules, {} verdicts: {} proved, {} tested, {} bounded, {} waived, {} bad",
        start.elapsed(),
        set.rules.len(),
        verdicts.len(),
        count(Kind::Proved),
        count(Kind::Tested),
        count(Kind::Bounded),
        count(Kind::Waived),
        bad.len()
    );
    let mut slow: Vec<&Verdict> = verdicts.iter().collect();
    slow.sort_by_key(|v| std::cmp::Reverse(v.ms));
    for v in slow.iter().take(12) {
        println!("{} ms: {} ({})", v.ms, v.instance, v.context);
    }
    assert!(
        bad.is_empty(),
        "{} of {} verdicts are bad:\n{}",
        bad.len(),
        verdicts.len(),
        bad.join("\n")
    );
}

#[test]
fn no_rule_asks_for_too_much() {
    let Some(set) = tree() else { return };
    let options = options();
    let needless = over_rules(set, |rule| {
        needless_licences(set, rule, &options)
            .into_iter()
            .map(|l| format!("{}: {l}", rule.name))
            .collect()
    });
    assert!(
        needless.is_empty(),
        "licences that nothing shows to be needed:\n{}",
        needless.join("\n")
    );
}

#[test]
fn examples_of_rules_hold() {
    let Some(set) = tree() else { return };
    let wrong = over_rules(set, |rule| run_tests(set, rule));
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(set.rules.iter().any(|r| !r.tests.is_empty()));
}

#[test]
fn there_are_enough_rules_over_enough_topics() {
    let Some(set) = tree() else { return };
    let sources: std::collections::BTreeSet<_> =
        set.rules.iter().map(|r| (r.file, r.span.start)).collect();
    let topics: std::collections::BTreeSet<_> = set.rules.iter().map(|r| r.file).collect();
    println!("{} source rules, {} stamped, {} files", sources.len(), set.rules.len(), topics.len());
    assert!(sources.len() >= 120 && topics.len() >= 15);
}
