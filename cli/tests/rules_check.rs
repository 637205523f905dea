//! `deburr rules check`: what the build would refuse is told without one.

mod support;

use support::Folder;

/// A rule that the tree has under another name, one that is dearer, and one that goes round.
const WRONG: &str = "rules 1

rule own_sub: isub(a, a) => 0;
rule own_dear: bitfield_reverse(ineg(a)) => udiv(a, 3);
rule own_round: bitfield_reverse(inot(a)) => inot(bitfield_reverse(inot(inot(a)))) allow E0377 \"a test\";
";

#[test]
fn a_file_is_checked_beside_the_rules_of_the_tree() {
    let f = Folder::new();
    f.write("mine.rules", "rules 1\nrule own: umul_high(imul(a, 3), 0) => imul(a, 0);\n");
    let run = f.run(&["rules", "check", "mine.rules"]).ends(0);
    assert_eq!(run.text(), "mine.rules: 1 rule\n");
    let run = f.run(&["rules", "check", "--json", "mine.rules"]).ends(0);
    assert_eq!(run.text(), "{\"schema\":1,\"file\":\"mine.rules\",\"rules\":1,\"ok\":true}\n");

    f.write("mine.rules", WRONG);
    let run = f.run(&["rules", "check", "mine.rules"]).ends(1);
    let run = run.says("error[E0319]: `own_sub` has the left side of").says("mine.rules:3:6");
    let run = run.says("error[E0377]: the replacement of `own_dear` costs").says("mine.rules:4:");
    run.says("error[E0370]").says("mine.rules:5:");
    let run = f.run(&["rules", "check", "--json", "mine.rules"]).ends(1);
    let lines = run.text();
    assert_eq!(lines.lines().count(), 3, "{lines}");
    assert!(lines.lines().all(|l| l.contains("\"file\":\"mine.rules\"")), "{lines}");
}

#[test]
fn what_no_target_has_is_told_wherever_rules_are_read() {
    let f = Folder::new();
    f.write(
        "mine.rules",
        "rules 1\nrule own: fadd(fmul(a, b), c) => ffma(a, b, c) with contract;\n",
    );
    for args in [
        ["rules", "check", "mine.rules"].as_slice(),
        &["opt", "-q", "examples/nbody.wgsl", "-o", "mine.spv", "--rules", "mine.rules"],
        &["expand", "mine.rules"],
    ] {
        let run = f.run(args).ends(1);
        let run = run.says("error[E0378]: `own` makes `ffma`, which SPIR-V doesn't have");
        run.says("mine.rules:2:34").says("allow E0378 \"which targets have it\"");
    }
}

#[test]
fn a_file_of_the_tree_takes_the_place_of_the_built_in_one() {
    let f = Folder::new();
    let path = "rules/pow2.rules";
    let text = String::from_utf8(f.read(path)).unwrap();
    let run = f.run(&["rules", "check", path]).ends(0);
    let rules: usize = run.text().split([' ', ':']).nth(2).unwrap().parse().unwrap();
    assert!(rules > 1, "{}", run.text());
    std::fs::create_dir_all(f.path("other/rules")).unwrap();
    f.write("other/rules/pow2.rules", format!("{text}\nrule own: isub(a, a) => 0;\n"));
    let run = f.run(&["rules", "check", "other/rules/pow2.rules"]).ends(1);
    run.says("E0319").says("pow2.rules:");
    // A file of the same name that is elsewhere is one more.
    f.write("pow2.rules", "rules 1\nrule own: umul_high(imul(a, 3), 0) => imul(a, 0);\n");
    f.run(&["rules", "check", "pow2.rules"]).ends(0);
    f.write("pow2.rules", text);
    f.run(&["rules", "check", "pow2.rules"]).ends(1).says("error[E0324]");
}

#[test]
fn a_folder_is_checked_whole() {
    let f = Folder::new();
    f.run(&["rules", "check"]).ends(0).says("");
    std::fs::remove_file(f.path("rules")).unwrap();
    f.run(&["rules", "check"]).ends(1).says("error[E0001]: can't read").says(" --> rules");
    std::fs::create_dir(f.path("rules")).unwrap();
    f.write("rules/facts.rules", "rules 1\nfact is_one(c: uint) = c == 1;\n");
    f.write("rules/groups.rules", "rules 1\ngroup opt;\nfile mine;\n");
    f.write("rules/mine.rules", "rules 1\nrule own: umul_high(a, #c) => 0 where is_one(c);\n");
    let run = f.run(&["rules", "check"]).ends(0);
    assert_eq!(run.text(), "rules/mine.rules: 1 rule\n");
    f.write("rules/other.rules", "rules 1\n");
    f.run(&["rules", "check"]).ends(1).says("no line `file other;`");
    f.write("rules/groups.rules", "rules 1\ngroup opt;\nfile mine;\nfile other;\nfile lost;\n");
    f.run(&["rules", "check"]).ends(1).says("lost.rules");
    f.write("rules/groups.rules", "rules 1\ngroup opt\n");
    f.run(&["rules", "check"]).ends(1).says("error[E0301]").says("rules/groups.rules:2");
}
