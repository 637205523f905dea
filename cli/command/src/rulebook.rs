//! The rules as texts: the tables and rule files of the tree, parsed again at run time.

use crate::Tree;
use crate::report::{Diagnostic, Kind, Trouble};
use deburr_rulegen::diagnostics::Diagnostic as RuleDiagnostic;
use deburr_rulegen::rules::{self, Rule, RuleSet, Texts};
use deburr_rulegen::tables::Tables;
use std::path::Path;

/// Tables, library and texts.
pub struct Rulebook {
    texts: Texts<'static>,
    book: rules::Book,
}

impl Rulebook {
    /// What the tree is made of.
    pub fn of(tree: &Tree) -> Result<Self, Trouble> {
        let source = |name: &str| match name {
            "opcodes.toml" => Some(tree.texts.opcodes),
            "intrinsics.toml" => Some(tree.texts.intrinsics),
            name => tree.texts.rule_file(name),
        };
        let book = tree.texts.load().map_err(|list| trouble(&list, source))?;
        Ok(Rulebook { texts: tree.texts, book })
    }

    /// Both tables.
    pub fn tables(&self) -> &Tables {
        &self.book.tables
    }

    /// What the texts are read with.
    pub fn book(&self) -> &rules::Book {
        &self.book
    }

    /// The rules of the tree.
    pub fn rules(&self) -> Result<RuleSet, Trouble> {
        self.book.rules().map_err(|list| trouble(&list, |name| self.texts.rule_file(name)))
    }

    /// One rule, as `L => R where …`.
    pub fn bare_rule(&self, text: &str) -> Result<RuleSet, Trouble> {
        let source = |name: &str| match name {
            "RULE" => Some(text),
            name => self.texts.rule_file(name),
        };
        self.book.bare_rule(text).map_err(|mut list| {
            let words = text.trim_start();
            if words.starts_with("rule ") || words.starts_with("rules ") || words.ends_with(';') {
                let help = "only `L => R where … with …` goes here: no name in front, no `;` behind; \
                            `--rules FILE` takes whole rules";
                list.iter_mut().for_each(|d| d.help = Some(help.to_owned()));
            }
            trouble(&list, source)
        })
    }

    /// The rules of a text file.
    pub fn of_file(&self, path: &Path) -> Result<RuleSet, Trouble> {
        self.read(path, |name, text| self.book.rules_of(name, text))
    }

    /// The rules of a text file that are to run together with those of the tree, but for some of these.
    pub fn of_file_beside(&self, path: &Path, disabled: &[String]) -> Result<RuleSet, Trouble> {
        let on = |rule: &Rule| !disabled.iter().any(|d| *d == rule.name || *d == rule.base);
        self.read(path, |name, text| {
            self.book.rules_beside(name, text, on).map_err(|mut list| {
                list.iter_mut().for_each(|d| may_be_disabled(d, name));
                list
            })
        })
    }

    fn read(
        &self,
        path: &Path,
        compile: impl FnOnce(&str, &str) -> Result<RuleSet, Vec<RuleDiagnostic>>,
    ) -> Result<RuleSet, Trouble> {
        let bytes = crate::input::read_bytes(path)?;
        let path = &*path.to_string_lossy();
        let text = String::from_utf8(bytes).map_err(|_| {
            Diagnostic::new(path, Kind::Invalid, crate::codes::KIND_OF_INPUT, "not UTF-8 text")
        })?;
        let source = |name: &str| match name == path {
            true => Some(&*text),
            false => self.texts.rule_file(name),
        };
        compile(path, &text).map_err(|list| trouble(&list, source))
    }
}

/// A rule of the tree that a file's rule goes round with may be left out.
fn may_be_disabled(d: &mut RuleDiagnostic, own: &str) {
    let elsewhere = d.labels.iter().any(|label| &*label.file != own);
    if let Some(help) = d.help.as_mut().filter(|_| elsewhere && d.code == rules::codes::NO_ORDER) {
        help.insert_str(0, "leave the built-in one out by `--disable-rule`, ");
    }
}

fn trouble<'a>(list: &[RuleDiagnostic], source: impl Fn(&str) -> Option<&'a str>) -> Trouble {
    list.iter().map(|d| Diagnostic::of_rules(d, &source)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::Place;
    use deburr_ruleset::{INTRINSICS, OPCODES, rules};

    const GROUPS: (&str, &str) = ("rules/groups.rules", "rules 1\ngroup opt;\nfile a;\nfile b;\n");
    const FACTS: (&str, &str) = ("rules/facts.rules", "rules 1\nfact is_one(c: uint) = c == 1;\n");

    /// A command over other rules than those of this tree.
    fn tree(rules_of: &'static [(&'static str, &'static str)]) -> Tree {
        let texts = Texts { opcodes: OPCODES, intrinsics: INTRINSICS, rules: rules_of };
        Tree { rules: rules(), texts }
    }

    /// What is said of a file whose rules are to run beside those of a tree: file, line and message.
    fn said(tree: &Tree) -> Vec<(String, usize, String)> {
        let folder = tempfile::tempdir().expect("a folder can be made");
        let own = folder.path().join("own.rules");
        let text = "rules 1\nrule own: umul_high(a, #c) => 0 where is_one(c);\n";
        std::fs::write(&own, text).expect("a file can be written");
        let found = Rulebook::of(tree).and_then(|book| book.of_file_beside(&own, &[]));
        let list = found.err().into_iter().flat_map(|trouble| trouble.into_iter());
        let line = |place: &Place| match place {
            Place::Text { line, .. } => *line,
            _ => 0,
        };
        list.map(|d| (d.file.clone(), line(&d.place), d.message.clone())).collect()
    }

    #[test]
    fn a_tree_that_is_wrong_is_told_of_itself() {
        let right =
            tree(&[FACTS, GROUPS, ("rules/a.rules", "rules 1\n"), ("rules/b.rules", "rules 1\n")]);
        assert_eq!(said(&right), []);

        let facts = tree(&[
            ("rules/facts.rules", "rules 1\n\nfact is_one(c: unit) = c == 1;\n"),
            GROUPS,
            ("rules/a.rules", "rules 1\nrule a: iadd(a, b) => c;\n"),
        ]);
        let told = [("rules/facts.rules", 3, "`unit` is not a type")];
        assert_eq!(said(&facts), told.map(|(f, l, m)| (f.to_string(), l, m.to_string())));

        // All that is wrong with its rules, and nothing of the file that is asked for.
        let rules = tree(&[
            FACTS,
            GROUPS,
            ("rules/a.rules", "rules 1\nrule a: iad(a, b) => b;\nrule b: isub(a, a) => b;\n"),
            ("rules/b.rules", "rules 1\nrule c: imul(a, #c) => a;\n"),
        ]);
        let told = [
            ("rules/a.rules", 2, "there is no op or function `iad`"),
            ("rules/a.rules", 3, "the pattern doesn't bind `b`"),
            ("rules/b.rules", 2, "the constant `c` is bound and never used"),
        ];
        assert_eq!(said(&rules), told.map(|(f, l, m)| (f.to_string(), l, m.to_string())));
    }
}
