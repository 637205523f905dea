//! The formatter: what it writes, and the laws that it keeps on whatever parses.

use super::super::fmt::format;
use super::super::parse::{parse_facts, parse_groups, parse_rules};
use std::sync::Arc;

fn formatted(text: &str) -> String {
    let name: Arc<str> = "t.rules".into();
    format(&name, text).unwrap_or_else(|d| panic!("{}\n{text}", d.to_plain(|_| Some(text))))
}

/// Checks what becomes of rules behind `rules 1`.
fn check(input: &str, expected: &str) {
    let out = formatted(&format!("rules 1\n{input}"));
    assert_eq!(out.strip_prefix("rules 1\n").unwrap().trim_start_matches('\n'), expected);
    laws(&format!("rules 1\n{input}"));
}

/// The syntax tree without places and white space.
fn tree(text: &str) -> String {
    let name: Arc<str> = "t.rules".into();
    let shown = match (parse_rules(&name, text), parse_facts(&name, text)) {
        (Ok(tree), _) => format!("{tree:?}"),
        (_, Ok(tree)) => format!("{tree:?}"),
        _ => format!("{:?}", parse_groups(&name, text)),
    };
    let mut out = String::new();
    let mut rest = shown.as_str();
    while let Some(at) = rest.find("Span { start: ") {
        out.push_str(&rest[..at]);
        rest = &rest[at..];
        rest = &rest[rest.find('}').unwrap() + 1..];
    }
    out.push_str(rest);
    // Line ends in text of the expression language are shown as escapes.
    out.replace("\\n", "").replace("\\r", "").split_whitespace().collect()
}

/// The comments, each without white space around it.
fn comments(text: &str) -> Vec<String> {
    let mut out = Vec::new();
    for line in text.lines() {
        let mut quoted = false;
        for (at, c) in line.char_indices() {
            quoted ^= c == '"';
            if !quoted && line[at..].starts_with("//") {
                out.push(line[at..].trim().to_string());
                break;
            }
        }
    }
    out
}

/// What holds for every text that parses.
fn laws(text: &str) {
    let once = formatted(text);
    assert_eq!(once, formatted(&once), "formatting twice changes\n{text}");
    assert_eq!(tree(text), tree(&once), "the rules of\n{text}\nare others in\n{once}");
    assert_eq!(comments(text), comments(&once), "{text}\n{once}");
    assert!(once.lines().all(|l| l == l.trim_end()), "{once}");
}

#[test]
fn a_rule_that_fits_is_a_line() {
    check(
        "rule  a :iadd( a,0 )=>a\n  where  is_pow2( c )\n ;",
        "rule a: iadd(a, 0) => a where is_pow2(c);\n",
    );
    check(
        "rule a:imul.nsw( m@iadd(a:N ,#c : 2*N).xy,-0.0 , )=>{let k=c<<1;}x( k ),y otherwise\nif !once(m)&&( a||target.b );",
        "rule a: imul.nsw(m@iadd(a:N, #c:2*N).xy, -0.0) => { let k = c << 1; } x(k), y otherwise if !once(m) && (a || target.b);\n",
    );
    check(
        "rule a: ac(fadd: a,#c)=>@load_x (a,b;base=0 ,k = c) .x where env( denorm=keep|any ),f(a.x,c+-1,!c);",
        "rule a: ac(fadd: a, #c) => @load_x(a, b; base=0, k=c).x where env(denorm = keep | any), f(a.x, c + -1, !c);\n",
    );
    check(
        "rule a: tex . sample(coord :a:32,lod: phi( a,b );offset=1)=>a;",
        "rule a: tex.sample(coord: a:32, lod: phi(a, b); offset=1) => a;\n",
    );
    check(
        "rule a: iadd(a,undef :32)=>iadd( a, undef ) ;",
        "rule a: iadd(a, undef:32) => iadd(a, undef);\n",
    );
}

#[test]
fn a_rule_that_does_not_fit_is_broken_at_its_clauses() {
    let a = "iadd(iadd(iadd(aaaaaaaaaaaa, bbbbbbbbbbbbbb), cccccccccccc), dddddddddddddd)";
    check(
        &format!("rule a: {a} => b where f(a, b), g(a) with nsz, arcp when target.x if once(m);"),
        &format!(
            "rule a: {a} => b\n    where f(a, b), g(a)\n    with nsz, arcp\n    when target.x\n    if once(m);\n"
        ),
    );
    check(
        &format!("rule a: {a} => {a} if once(m), b otherwise;"),
        &format!("rule a:\n    {a}\n    => {a} if once(m),\n        b otherwise;\n"),
    );
    check(
        &format!("rule a: {a} => {{ let k = c + d; let t = ineg(x); }} {a};"),
        &format!(
            "rule a:\n    {a}\n    => {{\n        let k = c + d;\n        let t = ineg(x);\n    }} {a};\n"
        ),
    );
    check(
        &format!("rule a: {a} => let k = c + d; let t = ineg(x); {a};"),
        &format!("rule a:\n    {a}\n    => let k = c + d;\n    let t = ineg(x);\n    {a};\n"),
    );
    let long = "a".repeat(50);
    check(
        &format!("rule {long}: {a} => b\n where f(a);"),
        &format!("rule {long}:\n    {a} => b\n    where f(a);\n"),
    );
    check(
        &format!("rule a: iadd({a}, {a}) => b;"),
        &format!("rule a:\n    iadd({a},\n        {a})\n    => b;\n"),
    );
    check(
        "rule a: imul(a, #c) => ishl(a, ilog2(c)) where is_pow2(c) test(a=7,c=8)->56 test (a = 1, c = 1) -> 1;",
        "rule a: imul(a, #c) => ishl(a, ilog2(c)) where is_pow2(c)\n    test (a = 7, c = 8) -> 56\n    test (a = 1, c = 1) -> 1;\n",
    );
}

#[test]
fn comments_stay_where_they_were() {
    check(
        "// One.\n\n\n/// Two.\nrule a: b => c; // Three.\n  // Four.\nfor x in [1] { // Five.\n\n rule a: b => c;\n // Six.\n\n} // Seven.\n",
        "// One.\n\n/// Two.\nrule a: b => c; // Three.\n// Four.\nfor x in [1] { // Five.\n    rule a: b => c;\n    // Six.\n} // Seven.\n",
    );
    check(
        "rule a: b => c // One.\n where f(a) // Two.\n , g(b)\n // Three.\n when d // Four.\n ; // Five.\n",
        "rule a: b => c // One.\n    where f(a), // Two.\n        g(b)\n    // Three.\n    when d; // Four.\n// Five.\n",
    );
    check(
        "rule a: b => { let k = // why\n c + d // here; not there\n; } k;",
        "rule a:\n    b\n    => {\n        let k = // why\n            c + d; // here; not there\n    } k;\n",
    );
}

/// A comment behind another stays a comment of its own, also where the mark between them goes up.
#[test]
fn comments_are_never_joined() {
    check(
        "rule r: iadd(a, 0) => a // one\n // two\n ; // three\n",
        "rule r: iadd(a, 0) => a; // one\n// two\n// three\n",
    );
    check(
        "for x in [1] {\n// one\n} // two\n// three\n",
        "for x in [1] {\n    // one\n} // two\n// three\n",
    );
    check(
        "rule r: iadd(a // one\n // two\n , // three\n 0 // four\n) // five\n // six\n => // seven\n a;",
        "rule r:\n    iadd(a, // one\n        // two\n        // three\n        0 // four\n        ) // five\n    // six\n    => // seven\n        a;\n",
    );
    check(
        "fact f(a: uint) = a // one\n // two\n ; // three\n// four\n",
        "fact f(a: uint) = a; // one\n// two\n// three\n// four\n",
    );
}

#[test]
fn loops_and_libraries() {
    let turns: Vec<String> = (0..20).map(|n| format!("(iadd{n}, isub{n})")).collect();
    let text = format!("for (op,dual) in[{},]{{rule ${{op}}_x: op( a )=>a;}}", turns.join(","));
    let lines = [0..7, 7..13, 13..19, 19..20].map(|r| turns[r].join(", "));
    check(
        &text,
        &format!(
            "for (op, dual) in [\n    {}\n] {{\n    rule ${{op}}_x: op(a) => a;\n}}\n",
            lines.join(",\n    ")
        ),
    );
    check("for x in [] { }", "for x in [] {\n}\n");
    check(
        "fact is( c:uint,d :u32)on  values=c!=0&&if c<d{-1}else{let x=f(c,-d);x.y}==(c-1u32)as u8;\nfn f(c: uint) -> u32 = !c;",
        "fact is(c: uint, d: u32) on values = c != 0 && if c < d { -1 } else { let x = f(c, -d); x.y } == (c - 1u32) as u8;\nfn f(c: uint) -> u32 = !c;\n",
    );
    check("/// Doc.\ngroup  lower.x ;file a ;", "/// Doc.\ngroup lower.x;\nfile a;\n");
}

#[test]
fn what_does_not_parse_is_told() {
    let name: Arc<str> = "t.rules".into();
    let error = |text: &str| {
        let d = format(&name, text).unwrap_err();
        (d.code, d.span.range())
    };
    let syntax = super::super::codes::SYNTAX;
    assert_eq!(error("rules 1\nrule a iadd(a) => a;"), (syntax, 15..19));
    assert_eq!(error("rules 1\nfact f(a: uint) = ;"), (syntax, 26..27));
    assert_eq!(formatted("rules 1"), "rules 1\n");
}

/// The rule files of the repository.
fn repository() -> Vec<(String, String)> {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/..");
    let mut out = Vec::new();
    for folder in ["rules", "examples/external"] {
        for entry in std::fs::read_dir(format!("{root}/{folder}")).unwrap() {
            let path = entry.unwrap().path();
            if path.extension().is_some_and(|e| e == "rules") {
                let text = std::fs::read_to_string(&path).unwrap();
                out.push((path.file_name().unwrap().to_string_lossy().into_owned(), text));
            }
        }
    }
    out.sort();
    out
}

#[test]
fn the_files_of_the_repository_are_formatted() {
    let files = repository();
    assert!(files.len() > 20);
    for (name, text) in files {
        laws(&text);
        let out = formatted(&text);
        let line = text.lines().zip(out.lines()).position(|(a, b)| a != b).unwrap_or(0);
        assert!(text == out, "{name}:{}: `deburr rules fmt` writes it otherwise", line + 1);
    }
}

/// Marsaglia's xorshift: the same sequence everywhere.
struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % n.max(1)
    }
}

/// The words and marks of a text, each with the white space in front of it.
fn pieces(text: &str) -> Vec<&str> {
    let word = |c: char| c.is_alphanumeric() || c == '_';
    let mut out = Vec::new();
    let mut rest = text;
    while !rest.is_empty() {
        let start = rest.len() - rest.trim_start().len();
        let body = &rest[start..];
        let length = match body.chars().next() {
            None => 0,
            Some('"') => body[1..].find('"').map_or(body.len(), |n| n + 2),
            Some('/') if body.starts_with("//") => body.find('\n').unwrap_or(body.len()),
            Some(c) if word(c) => body.find(|c| !word(c)).unwrap_or(body.len()),
            Some(c) => c.len_utf8(),
        };
        let (piece, next) = rest.split_at(start + length);
        out.push(piece);
        rest = next;
    }
    out
}

/// Every construct of the three kinds of file. The mutants are made of it and of nothing else, so that they are the same
/// whatever rules the tree has.
const SAMPLES: [&str; 3] = [
    include_str!("sample.rules"),
    include_str!("sample_facts.rules"),
    include_str!("sample_groups.rules"),
];

#[test]
fn the_samples_have_every_part_of_the_grammar() {
    use super::super::parse::{grammar::Rule, run};
    let mut seen = std::collections::BTreeSet::new();
    let name: Arc<str> = "t.rules".into();
    for (text, kind) in SAMPLES.iter().zip([Rule::file, Rule::facts_file, Rule::groups_file]) {
        laws(text);
        assert_eq!(&formatted(text), text);
        seen.extend(
            run(&name, text, kind).unwrap().flatten().map(|p| format!("{:?}", p.as_rule())),
        );
    }
    // Rules that make no part of their own, whole files, and what a command line has.
    let silent = [
        "WHITESPACE",
        "COMMENT",
        "ident_char",
        "clause",
        "lets",
        "atom",
        "remark",
        "block",
        "parens",
        "file",
        "facts_file",
        "groups_file",
        "term_only",
        "expr_only",
    ];
    let missing: Vec<String> = (Rule::all_rules().iter().map(|part| format!("{part:?}")))
        .filter(|part| !seen.contains(part) && !silent.contains(&&**part))
        .collect();
    assert_eq!(missing, [""; 0], "the samples don't have these");
}

/// The items of a text, each with what stands above it.
fn items(text: &str) -> Vec<&str> {
    text.split_inclusive(";\n").collect()
}

fn begun(text: String) -> String {
    if text.starts_with("rules") { text } else { format!("rules 1\n{text}") }
}

/// Comments at every place of the samples, and at two places that follow each other.
#[test]
fn comments_at_every_place_are_kept() {
    let name: Arc<str> = "t.rules".into();
    let shapes = [" // one\n", "\n // two\n", " // three\n // four\n", "\n\n// five\n\n // six\n"];
    let mut tried = 0;
    for item in SAMPLES.iter().flat_map(|text| items(text)) {
        let list = pieces(item);
        for at in 0..=list.len() {
            let (first, second) = (shapes[at % 4], shapes[(at / 4) % 4]);
            {
                for next in [at, (at + 1).min(list.len())] {
                    let (a, b, c) = (&list[..at], &list[at..next], &list[next..]);
                    let text = format!("{}{first}{}{second}{}", a.concat(), b.concat(), c.concat());
                    let text = begun(text);
                    // Inside a name or a string there is no place for one.
                    if format(&name, &text).is_ok() {
                        laws(&text);
                        tried += 1;
                    }
                }
            }
        }
    }
    assert!(tried > 1000, "{tried}");
}

#[test]
fn mutants_that_parse_keep_the_laws() {
    let files = SAMPLES.map(items);
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    let (mut parsed, mut remarked) = (0, 0);
    for n in 0..4000 {
        let items = &files[random.below(files.len())];
        let first = random.below(items.len());
        let some = items[first..(first + 1 + n % 2).min(items.len())].concat();
        let mut list: Vec<String> = pieces(&some).into_iter().map(String::from).collect();
        for _ in 0..1 + random.below(3) {
            let (i, j) = (random.below(list.len()), random.below(list.len()));
            match random.below(7) {
                0 => drop(list.remove(i)),
                1 => list.insert(i, list[i].clone()),
                2 => list.swap(i, j),
                3 => list.insert(i, format!(" // note {n}\n")),
                4 => list.insert(i, format!("\n\n  // note {n};\n\n")),
                5 => list.insert(i, format!(" // note {n}\n // and more\n")),
                _ => list.insert(i, "\n".into()),
            }
        }
        let mutant = begun(list.concat());
        let name: Arc<str> = "t.rules".into();
        if format(&name, &mutant).is_ok() {
            laws(&mutant);
            parsed += 1;
            remarked += usize::from(mutant.contains("// note"));
        }
    }
    assert!(parsed > 1000 && remarked > 500, "{parsed} parsed, {remarked} with comments");
}
