//! Rules and tables as texts that a program carries, read again at run time: for commands that show, check or
//! interpret them.

use super::{Library, Ops, Rule, RuleSet, Use, compile, compile_bare, compile_beside, compile_for};
use crate::diagnostics::Diagnostic;
use crate::tables::{TableFile, Tables};
use std::sync::Arc;

/// Name of the file of facts.
const FACTS: &str = "rules/facts.rules";
/// Name of the file of groups.
const GROUPS: &str = "rules/groups.rules";

/// The texts of a tree, as a rule set carries them.
#[derive(Clone, Copy, Debug)]
pub struct Texts<'a> {
    /// The opcode table.
    pub opcodes: &'a str,
    /// The intrinsic table; may be empty.
    pub intrinsics: &'a str,
    /// Name and text of `rules/facts.rules`, `rules/groups.rules`, and of the rule files in their order.
    pub rules: &'a [(&'a str, &'a str)],
}

impl<'a> Texts<'a> {
    /// The text of a rule file.
    pub fn rule_file(&self, name: &str) -> Option<&'a str> {
        self.rules.iter().find(|(n, _)| *n == name).map(|(_, text)| *text)
    }

    /// Reads tables and library.
    ///
    /// # Errors
    /// What is wrong in them.
    pub fn load(&self) -> Result<Book, Vec<Diagnostic>> {
        let mut files = vec![TableFile::new("opcodes.toml", self.opcodes)];
        if !self.intrinsics.is_empty() {
            files.push(TableFile::new("intrinsics.toml", self.intrinsics));
        }
        let tables = Tables::parse(&files)?;
        let text = |name| self.rule_file(name).unwrap_or("");
        let mut diagnostics = Vec::new();
        let library = Library::new(
            Ops::from_tables(&tables),
            (&FACTS.into(), text(FACTS)),
            (&GROUPS.into(), text(GROUPS)),
            &mut diagnostics,
        );
        if !diagnostics.is_empty() {
            return Err(diagnostics);
        }
        let rules = self.rules.iter().filter(|(name, _)| *name != FACTS && *name != GROUPS);
        let files = rules.map(|(name, text)| ((*name).into(), (*text).into())).collect();
        Ok(Book { tables, library, files })
    }
}

/// Tables, library and rule files, read.
#[derive(Clone, Debug)]
pub struct Book {
    /// Opcodes and intrinsics.
    pub tables: Tables,
    /// What rules are written with.
    pub library: Library,
    /// Name and text of the rule files, in order.
    pub files: Vec<(Arc<str>, Arc<str>)>,
}

impl Book {
    /// The rules of all files.
    ///
    /// # Errors
    /// What is wrong in them.
    pub fn rules(&self) -> Result<RuleSet, Vec<Diagnostic>> {
        compile(&self.library, &self.files)
    }

    /// The rules of all files, with all that the build asks of rules which are to be part of an optimiser.
    ///
    /// # Errors
    /// What is wrong in them.
    pub fn as_built(&self) -> Result<RuleSet, Vec<Diagnostic>> {
        compile_for(Use::Shipped, &self.library, &self.files)
    }

    /// The rules of one more file.
    ///
    /// # Errors
    /// What is wrong in it.
    pub fn rules_of(&self, name: &str, text: &str) -> Result<RuleSet, Vec<Diagnostic>> {
        compile(&self.library, &[(name.into(), text.into())])
    }

    /// The rules of one more file that is to run together with those of the tree for which `on` holds.
    ///
    /// # Errors
    /// What is wrong in it.
    pub fn rules_beside(
        &self,
        name: &str,
        text: &str,
        on: impl Fn(&Rule) -> bool,
    ) -> Result<RuleSet, Vec<Diagnostic>> {
        compile_beside(&self.library, &self.files, on, (name.into(), text.into()))
    }

    /// One rule, as `L => R where …`; diagnostics call its file `RULE`.
    ///
    /// # Errors
    /// What is wrong in it.
    pub fn bare_rule(&self, text: &str) -> Result<RuleSet, Vec<Diagnostic>> {
        compile_bare(&self.library, &"RULE".into(), text)
    }
}
