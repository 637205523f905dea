//! The IR page of the book: its examples parse and validate, its grammar accepts them and what they print as, and each
//! production of the grammar is used by an example.

use deburr_ir_core::{Dialect, Dialects, parse_with, validate};
use std::collections::{BTreeMap, BTreeSet, HashMap};

const PAGE: &str = include_str!("../../docs/book/ir.md");

static ACME: Dialect =
    Dialect { name: "acme", first: 0x4000, alu: &[], intrinsics: &[], indices: &[] };

/// The code blocks of one language.
fn blocks(language: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut rest = PAGE;
    let fence = format!("```{language}\n");
    while let Some((_, after)) = rest.split_once(&fence) {
        let (block, after) = after.split_once("```").expect("the block ends");
        found.push(block.to_owned());
        rest = after;
    }
    found
}

// ---- tokens -----------------------------------------------------------------------------------------

/// The tokens of a text; comments, those in constants too, are left out.
fn tokens(text: &str) -> Vec<String> {
    let chars: Vec<char> = text.chars().collect();
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let mut tokens: Vec<String> = Vec::new();
    let mut in_constant = false;
    let mut at = 0;
    while at < chars.len() {
        let c = chars[at];
        let start = at;
        at += 1;
        if c.is_whitespace() {
            continue;
        }
        if c == '/' && chars.get(at) == Some(&'/') {
            while at < chars.len() && chars[at] != '\n' {
                at += 1;
            }
            continue;
        }
        if c == '"' {
            while chars[at] != '"' {
                at += if chars[at] == '\\' { 2 } else { 1 };
            }
            at += 1;
        } else if is_word(c) || ("%&$#@".contains(c) && chars.get(at).is_some_and(|&c| is_word(c)))
        {
            while at < chars.len() && is_word(chars[at]) {
                at += 1;
            }
        } else if c == '-' && chars.get(at) == Some(&'>') {
            at += 1;
        }
        let token: String = chars[start..at].iter().collect();
        if in_constant && token == "=" {
            while !matches!(chars[at], ',' | ')') {
                at += 1;
            }
            continue;
        }
        in_constant = match token.as_str() {
            "load_const" => true,
            ")" => false,
            _ => in_constant,
        };
        tokens.push(token);
    }
    tokens
}

// ---- the grammar ------------------------------------------------------------------------------------

#[derive(Clone, Debug)]
enum Rule {
    Terminal(String),
    Class(String),
    Use(String),
    Sequence(Vec<Rule>),
    Choice(Vec<Rule>),
    Optional(Box<Rule>),
    Repeat(Box<Rule>),
}

/// Reads EBNF by recursive descent.
struct Ebnf {
    words: Vec<String>,
    at: usize,
}

impl Ebnf {
    fn new(text: &str) -> Self {
        let mut words = Vec::new();
        let mut rest = text.trim_start();
        while let Some(c) = rest.chars().next() {
            let len = match c {
                '"' => rest[1..].find('"').expect("the terminal ends") + 2,
                c if c.is_ascii_alphabetic() => rest
                    .find(|c: char| !c.is_ascii_alphanumeric() && c != '_')
                    .unwrap_or(rest.len()),
                c => c.len_utf8(),
            };
            words.push(rest[..len].to_owned());
            rest = rest[len..].trim_start();
        }
        Ebnf { words, at: 0 }
    }

    fn eat(&mut self, word: &str) -> bool {
        let is = self.words.get(self.at).is_some_and(|w| w == word);
        self.at += usize::from(is);
        is
    }

    fn grammar(mut self) -> BTreeMap<String, Rule> {
        let mut rules = BTreeMap::new();
        while self.at < self.words.len() {
            let name = self.words[self.at].clone();
            self.at += 1;
            assert!(self.eat("="), "`=` after {name}");
            let rule = self.choice();
            assert!(self.eat(";"), "`;` after {name}, not {:?}", self.words.get(self.at));
            assert!(rules.insert(name.clone(), rule).is_none(), "two productions {name}");
        }
        rules
    }

    fn choice(&mut self) -> Rule {
        let mut alternatives = vec![self.sequence()];
        while self.eat("|") {
            alternatives.push(self.sequence());
        }
        Rule::Choice(alternatives)
    }

    fn sequence(&mut self) -> Rule {
        let mut parts = Vec::new();
        loop {
            let word = self.words.get(self.at).cloned().unwrap_or_default();
            let close = match word.as_str() {
                "(" => ")",
                "[" => "]",
                "{" => "}",
                "|" | ";" | ")" | "]" | "}" | "" => return Rule::Sequence(parts),
                _ => "",
            };
            self.at += 1;
            if !close.is_empty() {
                let inner = Box::new(self.choice());
                assert!(self.eat(close), "`{close}`");
                parts.push(match close {
                    ")" => *inner,
                    "]" => Rule::Optional(inner),
                    _ => Rule::Repeat(inner),
                });
            } else if let Some(terminal) = word.strip_prefix('"') {
                parts.push(Rule::Terminal(terminal.trim_end_matches('"').to_owned()));
            } else if word.chars().all(|c| c.is_ascii_uppercase()) {
                parts.push(Rule::Class(word));
            } else {
                parts.push(Rule::Use(word));
            }
        }
    }
}

/// Matches tokens against the grammar, by the set of places where each part may end.
struct Matcher<'g> {
    rules: &'g BTreeMap<String, Rule>,
    tokens: Vec<String>,
    memo: HashMap<(*const Rule, usize), BTreeSet<usize>>,
    used: BTreeSet<String>,
}

impl<'g> Matcher<'g> {
    fn class(&self, class: &str, token: &str) -> bool {
        let word =
            |s: &str| !s.is_empty() && s.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
        let number = |s: &str| {
            s.strip_prefix("0x")
                .map_or(s.parse::<u64>().is_ok(), |h| u64::from_str_radix(h, 16).is_ok())
        };
        let behind = |sigil: char| token.strip_prefix(sigil).is_some_and(word);
        match class {
            "WORD" => word(token),
            "NUMBER" => number(token),
            "SHAPE" => {
                token.split('x').count() <= 2 && token.split('x').all(|n| n.parse::<u8>().is_ok())
            }
            "STRING" => token.starts_with('"'),
            "VALUE" => behind('%'),
            "VAR" => behind('&'),
            "SPEC" => behind('$'),
            "LITERAL" => behind('#'),
            "INTRINSIC" => behind('@'),
            class => panic!("there is no class {class}"),
        }
    }

    /// Where the rule may end if it begins at `at`.
    fn ends(&mut self, rule: &'g Rule, at: usize) -> BTreeSet<usize> {
        if let Some(ends) = self.memo.get(&(rule as *const Rule, at)) {
            return ends.clone();
        }
        let token = self.tokens.get(at).cloned();
        let ends = match rule {
            Rule::Terminal(text) => {
                token.filter(|t| t == text).map(|_| at + 1).into_iter().collect()
            }
            Rule::Class(class) => {
                token.filter(|t| self.class(class, t)).map(|_| at + 1).into_iter().collect()
            }
            Rule::Use(name) => {
                let rule = self.rules.get(name).unwrap_or_else(|| panic!("no production {name}"));
                self.ends(rule, at)
            }
            Rule::Sequence(parts) => self.sequence_ends(parts, at),
            Rule::Choice(rules) => rules.iter().flat_map(|r| self.ends(r, at)).collect(),
            Rule::Optional(rule) => {
                let mut ends = self.ends(rule, at);
                ends.insert(at);
                ends
            }
            Rule::Repeat(rule) => {
                let mut ends = BTreeSet::from([at]);
                let mut work = vec![at];
                while let Some(at) = work.pop() {
                    for end in self.ends(rule, at) {
                        if ends.insert(end) {
                            work.push(end);
                        }
                    }
                }
                ends
            }
        };
        self.memo.insert((rule as *const Rule, at), ends.clone());
        ends
    }

    fn sequence_ends(&mut self, parts: &'g [Rule], at: usize) -> BTreeSet<usize> {
        let mut ends = BTreeSet::from([at]);
        for part in parts {
            ends = ends.into_iter().flat_map(|at| self.ends(part, at)).collect();
        }
        ends
    }

    /// Notes the productions of one derivation of the tokens from `at` to `end`.
    fn derive(&mut self, rule: &'g Rule, at: usize, end: usize) {
        match rule {
            Rule::Terminal(_) | Rule::Class(_) => {}
            Rule::Use(name) => {
                self.used.insert(name.clone());
                let rule = &self.rules[name];
                self.derive(rule, at, end);
            }
            Rule::Sequence(parts) => {
                let mut at = at;
                for (n, part) in parts.iter().enumerate() {
                    let next = self
                        .ends(part, at)
                        .into_iter()
                        .find(|&next| self.sequence_ends(&parts[n + 1..], next).contains(&end));
                    let next = next.expect("the sequence ends there");
                    self.derive(part, at, next);
                    at = next;
                }
            }
            Rule::Choice(rules) => {
                let rule = rules.iter().find(|r| self.ends(r, at).contains(&end));
                self.derive(rule.expect("an alternative ends there"), at, end);
            }
            Rule::Optional(inner) => {
                if at != end {
                    self.derive(inner, at, end);
                }
            }
            Rule::Repeat(inner) => {
                let mut at = at;
                while at != end {
                    let steps = self.ends(inner, at);
                    let next =
                        steps.into_iter().find(|&n| n > at && self.ends(rule, n).contains(&end));
                    let next = next.expect("the repetition ends there");
                    self.derive(inner, at, next);
                    at = next;
                }
            }
        }
    }
}

/// The productions that a text uses; panics where the grammar does not accept it.
fn productions(rules: &BTreeMap<String, Rule>, text: &str) -> BTreeSet<String> {
    let mut matcher =
        Matcher { rules, tokens: tokens(text), memo: HashMap::new(), used: BTreeSet::new() };
    let root = &rules["module"];
    let end = matcher.tokens.len();
    let ends = matcher.ends(root, 0);
    let last = ends.last().copied().unwrap_or(0);
    let near = &matcher.tokens[last.saturating_sub(5)..(last + 12).min(end)];
    assert!(ends.contains(&end), "the grammar stops near {near:?} in\n{text}");
    matcher.derive(root, 0, end);
    matcher.used
}

#[test]
fn examples_follow_the_grammar_and_parse() {
    let grammar = blocks("ebnf");
    assert_eq!(grammar.len(), 1);
    let rules = Ebnf::new(&grammar[0]).grammar();
    static ALL: [&Dialect; 1] = [&ACME];
    let dialects = Dialects(&ALL);
    let mut used = BTreeSet::from(["module".to_owned()]);
    let mut right = 0;
    for example in blocks("ir") {
        match parse_with(&example, dialects) {
            Ok(module) => {
                right += 1;
                assert_eq!(validate(&module), Ok(()), "{example}");
                used.extend(productions(&rules, &example));
                let printed = module.to_string();
                used.extend(productions(&rules, &printed));
                assert_eq!(parse_with(&printed, dialects), Ok(module), "{printed}");
            }
            // The page shows one that is wrong, and says why.
            Err(errors) => {
                assert!(example.contains("struct \"a node\"") && errors.len() == 1, "{errors:?}");
                assert!(errors[0].message.contains("`next`"), "{errors:?}");
            }
        }
    }
    assert!(right >= 5, "{right} examples");
    let unused: Vec<&String> = rules.keys().filter(|name| !used.contains(*name)).collect();
    assert!(unused.is_empty(), "no example uses {unused:?}");
}

/// What the grammar does not accept, the parser refuses as well.
#[test]
fn the_parser_accepts_no_more() {
    let rules = Ebnf::new(&blocks("ebnf")[0]).grammar();
    let root = &rules["module"];
    let examples = blocks("ir");
    let words = tokens(&examples[0]);
    let mut refused = 0;
    for n in 0..words.len() {
        // Each token left out in turn, and each doubled.
        for copies in [0, 2] {
            let mut changed = words.clone();
            changed.splice(n..=n, std::iter::repeat_n(words[n].clone(), copies));
            let text = changed.join(" ").replace(" decl_", "\ndecl_").replace(" impl ", "\nimpl ");
            // A sigil and its word are one token, so blanks between tokens change nothing.
            let mut matcher = Matcher {
                rules: &rules,
                tokens: changed.clone(),
                memo: HashMap::new(),
                used: BTreeSet::new(),
            };
            let accepts = matcher.ends(root, 0).contains(&changed.len());
            let parses = parse_with(&text, Dialects::default()).is_ok();
            refused += usize::from(!accepts);
            assert!(accepts || !parses, "the parser takes what the grammar does not:\n{text}");
        }
    }
    assert!(refused > 50, "{refused}");
}
