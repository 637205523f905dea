//! What the author of a rule meets at the command line: what is told, and that it is enough to go on.

mod support;

use support::Folder;

/// Two words: a cosine, which is 1 for the first invocation, and a sine, which is 0.
const WAVES: &str = "
@group(0) @binding(0) var<storage, read_write> ys: array<f32, 2>;

@compute @workgroup_size(1)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let x = f32(id.x) * 1.5;
    ys[0] = cos(x);
    ys[1] = sin(x);
}
";

#[test]
fn a_failed_check_tells_the_word_that_is_not_near_and_how_it_came_about() {
    let f = Folder::new();
    f.write("in.wgsl", WAVES);
    f.write("own.rules", "rules 1\nrule one: fcos(a) => 1.001;\nrule two: fsin(a) => 2.0;\n");
    let args = [
        "opt",
        "in.wgsl",
        "-o",
        "out.spv",
        "--rules",
        "own.rules",
        "--check",
        "--trace",
        "--rule-stats",
    ];
    let run =
        f.run(&args).ends(1).says("E0056").says("byte 4: 0x00000000 before, 0x40000000 after");
    assert!(!f.path("out.spv").exists());
    let told = run.text();
    assert!(told.contains("fcos") && told.contains("fsin"), "{told}");
    assert!(told.lines().any(|l| l.trim().starts_with("1 two ")), "{told}");
    // Where the module itself would go to stdout, what is told doesn't.
    let args: Vec<&str> = args.iter().map(|a| if *a == "out.spv" { "-" } else { a }).collect();
    let run = f.run(&args).ends(1).says("fcos");
    assert_eq!(run.text(), "");
}

#[test]
fn rules_of_a_file_rewrite_terms() {
    let f = Folder::new();
    f.write("own.rules", "rules 1\nrule same: fatan2(a, a) => ffloor(a);\nrule out: isub(a, b) => iadd(a, ineg(b));\n");
    f.run(&["simplify", "fatan2(a, a)", "--rules", "own.rules"]).ends(1).says("E0370");
    let args = ["--rules", "own.rules", "--disable-rule", "iadd_ineg"];
    let of = |term: &str| {
        let run = f.run(&[&["simplify", "--json", term], &args[..]].concat()).ends(0);
        run.text()
    };
    assert!(
        of("fatan2(a, a)").contains("\"out\":\"ffloor(a)\",\"cost_in\":"),
        "{}",
        of("fatan2(a, a)")
    );
    assert!(of("fatan2(a, a)").contains("\"rules\":[\"same\"]"));
    assert!(of("isub(a, b)").contains("\"out\":\"iadd(a, ineg(b))\""));
    f.run(&["simplify", "a", "--rules", "own.rules", "--disable-rule", "nothing"])
        .ends(1)
        .says("E0370");
    f.run(&["simplify", "iadd(a, 0)", "--disable-rule", "nothing"])
        .ends(2)
        .says("no rule is called");
    f.run(&["simplify", "fadd(a, 0.0)", "--with", "arpc"]).ends(2).says("did you mean `arcp`?");
}

#[test]
fn a_name_that_is_nearly_right_is_told() {
    let f = Folder::new();
    let rule = "ieq(bitfield_reverse(a:32), #c) => { let k = reverse_bit(c); } ieq(a, k)";
    f.run(&[
        "verify",
        "--expr",
        &rule.replace("{ let k = reverse_bit(c); } ieq(a, k)", "ieq(a, reverse_bit(c))"),
    ])
    .ends(1)
    .says("E0304")
    .says("did you mean `reverse_bits`?");
    let run = f.run(&["verify", "--expr", "rule x: isub(a, a) => 0;"]).ends(1);
    run.says("only `L => R where … with …` goes here").says("--rules FILE");
}

#[test]
fn instances_with_a_boolean_result_have_the_size_of_their_operands() {
    let f = Folder::new();
    let fixed = "ieq(a:32, a) => false";
    let run = f.run(&["verify", "--expr", fixed, "--size", "32", "--cases", "0.1"]).ends(1);
    assert!(run.text().contains("expr@32x1 (keep,rte): refuted"), "{}", run.text());
    let run =
        f.run(&["verify", "--expr", fixed, "--size", "32", "--cases", "0.1", "--json"]).ends(1);
    assert!(run.text().contains("\"instance\":\"expr@32x1\",\"size\":32,"), "{}", run.text());
    let run = f.run(&["verify", "--expr", "ilt(a, a) => false", "--size", "8"]).ends(0);
    assert!(run.text().contains("1 instances: 1 proved"), "{}", run.text());
    let run = f.run(&["verify", "--expr", fixed, "--size", "8"]).ends(1);
    run.says("E0062").says("there is no instance of 8 bits").says("the sizes there are: 32");
}

#[test]
fn a_refutation_says_where_with_which_numbers_and_what_helps() {
    let f = Folder::new();
    let verify = |rules: &str, code: i32| {
        f.write("own.rules", format!("rules 1\n\n{rules}\n"));
        f.run(&["verify", "--rules", "own.rules", "--cases", "0.05"]).ends(code).text()
    };
    let told = verify("rule zero: fadd(a, 0.0) => a;", 1);
    let lines: Vec<&str> = told.lines().collect();
    assert_eq!(lines.len(), 1 + 3 + 1 + 1, "{told}");
    assert_eq!(lines[0], "zero, own.rules:3:");
    assert!(
        lines[2].starts_with("zero@32x1 (keep|flush|any,rte|rtz|any): refuted, ")
            && lines[2].ends_with(
                "points; at a = 0x80000000 = -0.0: before 0x00000000 = 0.0, after 0x80000000 = -0.0"
            ),
        "{told}"
    );
    assert_eq!(lines[4], "help: it holds `where env(denorm = keep | any) with nsz`");
    let helps = |rules: &str, help: &str| {
        let told = verify(rules, 1);
        assert!(told.lines().any(|l| l == format!("help: it holds `{help}`")), "{told}");
    };
    helps("rule one: fmul(a, 1.0) => a;", "where env(denorm = keep | any)");
    helps("rule twice: fdiv(fdiv(a:32, b), c) => fdiv(a, fmul(b, c));", "with reassoc");
    helps("rule sign: ishr(a, b) => ushr(a, b);", "where nonneg(a)");
    assert!(!verify("rule wrong: iadd(a, b) => isub(a, b);", 1).contains("help"));
    let told =
        verify("rule twice: fdiv(fdiv(a:32, b), c) => fdiv(a, fmul(b, c)) with arcp, reassoc;", 0);
    assert!(told.contains("note: `twice` holds as well without `arcp`"), "{told}");
}

#[test]
fn wrong_indentation_is_told_as_such() {
    let f = Folder::new();
    let long = "a".repeat(100);
    let text = format!("rules 1\n\nrule {long}:\n  iadd(a, 0) => a;\n");
    f.write("own.rules", &text);
    let run = f.run(&["rules", "fmt", "--check", "own.rules"]).ends(1);
    run.says("own.rules:4:").says("indents this line by 4 spaces, not by 2");
    f.write("own.rules", text.replace("  iadd", "\tiadd"));
    f.run(&["rules", "fmt", "--check", "own.rules"]).ends(1).says("indents this line by 4 spaces");
    f.write("own.rules", text.replace("  iadd", "    iadd").replace("=> a;", "=> a; "));
    f.run(&["rules", "fmt", "--check", "own.rules"]).ends(1).says("white space at the end");
}

#[test]
fn rules_that_follow_are_named_and_missing_ones_written_out() {
    let f = Folder::new();
    f.write(
        "own.rules",
        "rules 1\nrule isub_zero: isub(a, 0) => a;\nrule isub_const: isub(a, #c) => { let k = 0 - c; } iadd(a, k);\n\
         rule iadd_zero: iadd(a, 0) => a;\nrule umin_zero: umin(a, 0) => 0;\n",
    );
    let run = f.run(&["verify", "--redundant", "--rules", "own.rules"]).ends(0);
    let text = run.text();
    assert!(text.contains("isub_zero: follows from isub_const, iadd_zero"), "{text}");
    assert!(text.contains("4 rules: 1 follow from the others, 1 of them at once"), "{text}");
    let text = f.run(&["verify", "--redundant", "--rules", "own.rules", "--json"]).ends(0).text();
    let line = "{\"schema\":1,\"rule\":\"isub_zero\",\"need\":\"derived\",\"by\":[\"isub_const\",\"iadd_zero\"],";
    assert!(text.starts_with(line), "{text}");
    let args = ["verify", "--siblings", "--rules", "own.rules", "--rule", "umin_zero"];
    let text = f.run(&args).ends(0).text();
    let rule = "rule umin_zero_2: umax(a, 0) => a;";
    assert!(text.contains(rule), "{text}");
    // What is told is a rule.
    f.write("more.rules", format!("rules 1\n{rule}\n"));
    f.run(&["verify", "--rules", "more.rules", "--cases", "0.1"]).ends(0);
}

#[test]
fn reports_on_rules_say_what_they_are_not_for() {
    let f = Folder::new();
    for args in [
        &["--redundant", "--siblings"][..],
        &["--redundant", "--expr", "isub(a, a) => 0"],
        &["--redundant", "--size", "8"],
        &["--redundant", "--budget", "1"],
        &["--siblings", "--seed", "2"],
        &["--gap"],
        &["--gap", "a.spv", "--rule", "iadd"],
    ] {
        f.run(&[&["verify"], args].concat()).ends(2);
    }
    f.run(&["verify", "--redundant", "--rule", "nosuchrule"]).ends(1).says("E0062");
    f.run(&["verify", "--gap", "missing.spv"]).ends(1).says("E0001");
}
