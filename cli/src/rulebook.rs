//! The rules as texts: the tables and rule files that were compiled in, parsed again at run time.

use crate::report::{Diagnostic, Kind, Trouble};
use deburr_rulegen::rules::{Library, Ops, RuleSet, compile, compile_bare};
use deburr_rulegen::tables::{TableFile, Tables};
use std::path::Path;
use std::sync::Arc;

/// The intrinsic table.
pub static INTRINSICS: &str = include_str!("../intrinsics.toml");

/// Rule files: name and text.
type Files = Vec<(Arc<str>, Arc<str>)>;

/// Tables, library and texts.
pub struct Rulebook {
    pub tables: Tables,
    library: Library,
    /// Rule files in order.
    files: Files,
}

impl Rulebook {
    /// What was compiled in.
    pub fn built_in() -> Result<Self, Trouble> {
        let files = [("opcodes.toml", deburr_ruleset::OPCODES), ("intrinsics.toml", INTRINSICS)];
        let tables = Tables::parse(&files.map(|(name, text)| TableFile::new(name, text)))
            .map_err(|list| trouble(&list, &[]))?;
        let text = |name: &str| {
            let found = deburr_ruleset::SOURCES.iter().find(|(n, _)| *n == name);
            found.map_or("", |(_, text)| *text)
        };
        let (facts, groups): (Arc<str>, Arc<str>) =
            ("rules/facts.rules".into(), "rules/groups.rules".into());
        let mut diagnostics = Vec::new();
        let library = Library::new(
            Ops::from_tables(&tables),
            (&facts, text(&facts)),
            (&groups, text(&groups)),
            &mut diagnostics,
        );
        if !diagnostics.is_empty() {
            return Err(trouble(&diagnostics, &[]));
        }
        let rule_files =
            deburr_ruleset::SOURCES.iter().filter(|(n, _)| *n != &*facts && *n != &*groups);
        let files = rule_files.map(|(name, text)| ((*name).into(), (*text).into())).collect();
        Ok(Rulebook { tables, library, files })
    }

    /// The rules that were compiled in.
    pub fn rules(&self) -> Result<RuleSet, Trouble> {
        compile(&self.library, &self.files).map_err(|list| trouble(&list, &self.files))
    }

    /// The rules of a file.
    pub fn rules_of(&self, name: &str, text: &str) -> Result<RuleSet, Trouble> {
        let files: Files = vec![(name.into(), text.into())];
        compile(&self.library, &files).map_err(|list| trouble(&list, &files))
    }

    /// One rule, as `L => R where …`.
    pub fn bare_rule(&self, text: &str) -> Result<RuleSet, Trouble> {
        let name: Arc<str> = "RULE".into();
        compile_bare(&self.library, &name, text)
            .map_err(|list| trouble(&list, &[(name.clone(), text.into())]))
    }
}

fn trouble(
    list: &[deburr_rulegen::diagnostics::Diagnostic],
    files: &[(Arc<str>, Arc<str>)],
) -> Trouble {
    let source = |name: &str| {
        let given = files.iter().find(|(n, _)| &**n == name).map(|(_, text)| &**text);
        given.or_else(|| {
            deburr_ruleset::SOURCES.iter().find(|(n, _)| *n == name).map(|(_, text)| *text)
        })
    };
    list.iter().map(|d| Diagnostic::of_rules(d, source)).collect()
}

/// The rules of a text file.
pub fn of_file(path: &Path, book: &Rulebook) -> Result<RuleSet, Trouble> {
    let bytes = crate::input::read_bytes(path)?;
    let path = &*path.to_string_lossy();
    let text = String::from_utf8(bytes).map_err(|_| {
        Diagnostic::new(path, Kind::Invalid, crate::codes::KIND_OF_INPUT, "not UTF-8 text")
    })?;
    book.rules_of(path, &text)
}
