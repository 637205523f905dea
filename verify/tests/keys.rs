//! Keys of the ledger change with what a verdict rests on, and with nothing else.

use deburr_rulegen::rules::{Library, Ops, RuleSet, compile_bare};
use deburr_rulegen::tables::{TableFile, Tables};
use deburr_verify::mutants::mutants;
use deburr_verify::{Key, Keys, claims};
use std::collections::BTreeMap;

fn read(name: &str) -> String {
    let path = format!("{}/../{name}", env!("CARGO_MANIFEST_DIR"));
    std::fs::read_to_string(path).expect("the tree has it")
}

/// Opcodes and facts, with this part of a text exchanged.
fn library(change: Option<(&str, &str)>) -> Library {
    let text = |name: &str| {
        let text = read(name);
        match change {
            Some((from, to)) => text.replace(from, to),
            None => text,
        }
    };
    let table = TableFile::new("opcodes.toml", text("opcodes.toml"));
    let tables = Tables::parse(&[table]).expect("the table is right");
    let (facts, groups) = (text("rules/facts.rules"), read("rules/groups.rules"));
    Library::new(
        Ops::from_tables(&tables),
        (&"facts.rules".into(), &facts),
        (&"groups.rules".into(), &groups),
        &mut Vec::new(),
    )
}

/// The keys of a rule by instance and claim.
fn keys(set: &RuleSet, rule: usize) -> Vec<Key> {
    let rule = &set.rules[rule];
    let all = claims(set, rule);
    let mut keys = Keys::new(set);
    (0..rule.instances.len()).flat_map(|i| keys.of(rule, i, &all)).collect()
}

fn bare(library: &Library, text: &str) -> Vec<Key> {
    let set = compile_bare(library, &"expr".into(), text).expect("the rule is right");
    keys(&set, 0)
}

#[test]
fn names_places_and_profit_are_not_in_a_key() {
    let library = library(None);
    let one = bare(&library, "imul(a, #c) => ishl(a, ilog2(c)) where is_pow2(c)");
    for same in [
        "imul(value, #c) => ishl(value, ilog2(c)) where is_pow2(c)",
        "imul(a, #factor) => ishl(a,   ilog2(factor)) where is_pow2(factor)",
        "imul(a, #c) => ishl(a, ilog2(c)) where is_pow2(c) when !target.lower_bitops",
    ] {
        assert_eq!(one, bare(&library, same), "{same}");
    }
    let shared = bare(&library, "fadd(fmul(a, b), c) => fmad(a, b, c) with contract");
    let once = "fadd(m@fmul(a, b), c) => fmad(a, b, c) with contract if once(m)";
    assert_eq!(shared, bare(&library, once));
}

#[test]
fn what_a_verdict_rests_on_is_in_its_key() {
    let library = library(None);
    let all = [
        "imul(a, #c) => ishl(a, ilog2(c)) where is_pow2(c)",
        "imul(a, #c) => ishl(a, ilog2(c))",
        "imul(#c, #d) => ishl(c, ilog2(d)) where is_pow2(d)",
        "imul(a, #c) => ishl(c, ilog2(c)) where is_pow2(c)",
        "fadd(a, 0.0) => a with nsz",
        "fadd(a, -0.0) => a with nsz",
        "fadd(a, 0.0) => a with nsz, contract",
        "fadd(a, -0.0) => a",
        "iadd(a, b) => isub(b, a)",
        "iadd(a, b) => isub(a, b)",
        "iadd.nsw(a, b) => isub(a, b)",
        "iadd(a, b) => isub.nsw(a, b)",
        "vec2(a.x, a.y) => mov(a.xy)",
        "vec2(a.y, a.x) => mov(a.yx)",
        "vec2(a.y, a.x) => mov(a.xy)",
    ];
    let mut seen = BTreeMap::new();
    for text in all {
        for key in bare(&library, text) {
            assert_eq!(seen.insert(key, text), None, "{text} twice");
        }
    }
}

#[test]
fn a_changed_definition_changes_the_keys_of_its_users() {
    let one = library(None);
    let isub = "nuw = \"a as uint >= b as uint\"\neval = \"a - b\"";
    assert!(read("opcodes.toml").contains(isub));
    let other = library(Some((isub, &isub.replace("a - b", "a - b + 0"))));
    let (user, stranger) = ("isub(a, a) => 0", "iand(a, a) => a");
    let differ = |text: &str| {
        let pairs = bare(&one, text).into_iter().zip(bare(&other, text));
        pairs.map(|(a, b)| a != b).collect::<Vec<_>>()
    };
    assert!(differ(user).iter().all(|d| *d));
    assert!(differ(stranger).iter().all(|d| !*d));
    let fact = "fact is_pow2(";
    let facts = read("rules/facts.rules");
    let at = facts.find(fact).expect("there is such a fact");
    let line = facts[at..].split(';').next().expect("it ends");
    let (head, body) = line.split_once('=').expect("it has a body");
    let other = library(Some((line, &format!("{head}= true && ({})", body.trim()))));
    let user = "imul(a, #c) => ishl(a, ilog2(c)) where is_pow2(c)";
    let pairs = bare(&one, user).into_iter().zip(bare(&other, user));
    assert!(pairs.into_iter().all(|(a, b)| a != b));
}

/// Every mutant of every rule has other keys than the rule.
#[test]
fn mutants_have_keys_of_their_own() {
    let tables = Tables::parse(&[TableFile::new("opcodes.toml", read("opcodes.toml"))])
        .expect("the table is right");
    let named = |name: &str| (name.into(), read(name).into());
    let tree = deburr_rulegen::rules::Tree {
        ops: Ops::from_tables(&tables),
        facts: named("rules/facts.rules"),
        groups: named("rules/groups.rules"),
    };
    let path = |name: &str| format!("rules/{name}.rules");
    let (set, _) = tree.compile("rules/", |name| Ok(read(&path(name))));
    let set = set.unwrap_or_else(|list| panic!("the rules are refused: {}", list.len()));
    let mut maker = Keys::new(&set);
    let mut seen = 0;
    for rule in set.rules.iter().step_by(7) {
        let all = claims(&set, rule);
        let own: Vec<Key> =
            (0..rule.instances.len()).flat_map(|i| maker.of(rule, i, &all)).collect();
        for m in mutants(&set, rule) {
            let all = claims(&set, &m.rule);
            let wider = m.rule.env != rule.env;
            for i in 0..m.rule.instances.len() {
                for key in maker.of(&m.rule, i, &all) {
                    // A rule that claims more still claims what it did.
                    assert!(wider || !own.contains(&key), "{}: {}", rule.name, m.what);
                }
            }
            seen += 1;
        }
    }
    assert!(seen > 1000, "{seen} mutants");
}
