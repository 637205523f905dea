//! Rules that compilers have had and that were wrong, each with a twin that is right. `accept_c_2` replays the
//! counterexamples with the command.

mod entries;

use deburr_rulegen::rules::Library;
use deburr_verify::{Kind, Options, Verdict};
use entries::{Entry, entries, larger, library, misjudged, refutations, verdicts};

#[test]
fn known_rules_are_judged_as_they_must_be() {
    let library = library().unwrap();
    let options = Options::scaled(0.05);
    let judge = |entry: &Entry| {
        let mut wrong: Vec<String> = Vec::new();
        // A counterexample of the smallest size may be that of any of the rules.
        let mut found = Vec::new();
        for rule in &entry.wrong {
            let judged = verdicts(&library, rule, &options).map_err(|codes| format!("{codes:?}"));
            match judged.and_then(refutations) {
                Ok(list) => found.extend(list),
                Err(why) => wrong.push(format!("{rule}: {why}")),
            }
        }
        wrong.extend(larger(entry, &found));
        wrong.extend(misjudged(&library, entry, &options));
        wrong.into_iter().map(|why| format!("{}: {why}", entry.id)).collect::<Vec<_>>()
    };
    let wrong: Vec<String> = entries().unwrap().iter().flat_map(judge).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn the_list_is_whole() {
    let list = entries().unwrap();
    assert_eq!(list.len(), 47);
    for entry in &list {
        let id = &entry.id;
        assert!(!entry.right.is_empty(), "{id} has no rule that is right");
        assert_eq!(entry.refuse, !entry.wrong.is_empty() || !entry.invalid.is_empty(), "{id}");
        assert_eq!(entry.given.is_some(), !entry.wrong.is_empty(), "{id}");
        let foreign = entry.wrong.iter().any(|rule| rule.contains("shfr("));
        assert_eq!(entry.eval.is_some(), foreign, "{id}");
        assert_eq!(list.iter().filter(|e| e.id == *id).count(), 1, "{id} stands twice");
    }
}

/// What replaces an opcode of the list where the command evaluates it is that opcode.
#[test]
fn replacements_for_the_command_are_the_same() {
    let library = library().unwrap();
    for rule in [
        "shfr(b, a, c) => u2u32(ushr(pack_64_2x32_split(a, b), iand(c, 31)))",
        "u2u32(ushr(pack_64_2x32_split(a, b), iand(c, 31))) => shfr(b, a, c)",
    ] {
        let found = verdicts(&library, rule, &Options::scaled(0.05)).unwrap();
        assert!(found.iter().all(|v| v.is_good()), "{rule}: {}", found[0]);
    }
}

/// What is wrong with a line of `own.txt`.
fn misjudged_line(library: &Library, line: &str, options: &Options) -> Option<String> {
    let (word, rule) = line.split_once(' ')?;
    match (word, verdicts(library, rule, options)) {
        ("wrong", Ok(found)) => {
            let refuted = |v: &Verdict| v.kind == Kind::Refuted && v.witness.is_some();
            (!found.iter().any(refuted)).then(|| format!("{line}: accepted"))
        }
        ("right", Ok(found)) => {
            let bad = found.iter().find(|v| !v.is_good() || v.kind == Kind::Waived)?;
            Some(format!("{line}: {bad}"))
        }
        (_, Err(codes)) => Some(format!("{line}: no rule: {codes:?}")),
        (_, Ok(_)) => Some(format!("{line}: neither wrong nor right")),
    }
}

#[test]
fn rules_made_up_are_judged() {
    let library = library().unwrap();
    let options = Options::scaled(0.05);
    let rules: Vec<&str> = include_str!("own.txt")
        .lines()
        .filter(|line| !line.is_empty() && !line.starts_with("//"))
        .collect();
    let of = |word: &str| rules.iter().filter(|line| line.starts_with(word)).count();
    assert!(of("wrong ") >= 300 && of("right ") >= 250, "{} rules", rules.len());
    // At reduced size one in so many.
    let scale = std::env::var("DEBURR_CASES").ok().and_then(|v| v.parse::<f64>().ok());
    let step = if scale.is_some_and(|s| s >= 1.0) { 1 } else { 16 };
    let chosen = rules.iter().step_by(step);
    let wrong: Vec<String> =
        chosen.filter_map(|line| misjudged_line(&library, line, &options)).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
