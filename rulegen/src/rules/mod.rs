//! The rule language: from the text of `rules/*.rules` to checked rules with inferred sizes, and to compiled matchers.
//!
//! - [`parse`] gives the syntax tree ([`ast`]), [`expand`] stamps templates, `resolve` and `clauses` look names up and
//!   infer sizes ([`classes`]), [`check`] looks at rules together, [`order`] whether they come to an end; the result
//!   is the [`model`].
//! - [`codes`] lists the diagnostics.

pub mod ast;
pub mod book;
mod chains;
pub mod check;
pub mod classes;
mod clauses;
pub mod codes;
mod cost;
pub mod emit;
pub mod evaluate;
pub mod expand;
mod facts;
pub mod fmt;
mod help;
mod instances;
mod legal;
pub mod library;
mod made;
pub mod model;
pub mod ops;
pub mod order;
pub mod outside;
mod overlap;
pub mod parse;
mod resolve;
pub mod syntax;
#[cfg(test)]
mod tests;
mod undo;
mod watch;
mod whole;

use crate::diagnostics::{Diagnostic, Severity, line_column};
pub use book::{Book, Texts};
pub use library::Library;
pub use model::{Rule, RuleSet};
pub use ops::Ops;
use std::sync::Arc;

/// Rule files in the order in which their rules are tried: name and text.
pub type Sources = [(Arc<str>, Arc<str>)];

/// The texts that a rule set is made of.
#[derive(Clone, Debug)]
pub struct Tree {
    /// Opcodes.
    pub ops: Ops,
    /// `facts.rules`: name and text.
    pub facts: (Arc<str>, Arc<str>),
    /// `groups.rules`: name and text.
    pub groups: (Arc<str>, Arc<str>),
}

impl Tree {
    /// Reads the library, and compiles the files that it lists. `read` gives the text of a rule file by its name
    /// without extension; `folder` stands in front of names in diagnostics.
    pub fn compile(
        &self,
        folder: &str,
        read: impl Fn(&str) -> Result<String, String>,
    ) -> (Result<RuleSet, Vec<Diagnostic>>, Vec<(Arc<str>, Arc<str>)>) {
        let mut diags = Vec::new();
        let mut files = vec![self.facts.clone(), self.groups.clone()];
        let library = Library::new(
            self.ops.clone(),
            (&self.facts.0, &self.facts.1),
            (&self.groups.0, &self.groups.1),
            &mut diags,
        );
        let mut sources: Vec<(Arc<str>, Arc<str>)> = Vec::new();
        for name in &library.files {
            match read(name) {
                Ok(text) => sources.push((format!("{folder}{name}.rules").into(), text.into())),
                Err(why) => {
                    let at = self.groups.1.find(&format!("file {name}")).unwrap_or(0);
                    let span = crate::diagnostics::Span::new(at, at + 5 + name.len());
                    let text = format!("`{name}.rules` can't be read: {why}");
                    diags.push(Diagnostic::error(codes::NAME, &self.groups.0, span, text));
                }
            }
        }
        files.extend(sources.iter().cloned());
        let result = compile_for(Use::Shipped, &library, &sources);
        let result = match (result, diags.is_empty()) {
            (Ok(set), true) => Ok(set),
            (Ok(_), false) => Err(diags),
            (Err(more), _) => {
                diags.extend(more);
                Err(diags)
            }
        };
        (result, files)
    }
}

/// What rules are compiled for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Use {
    /// They become part of an optimiser.
    Shipped,
    /// They are checked or tried out.
    Tried,
}

/// Compiles rule files against a library. All that is wrong with them is reported together, but for what a rule is worth:
/// that matters to the rules that are built in.
pub fn compile(library: &Library, sources: &Sources) -> Result<RuleSet, Vec<Diagnostic>> {
    compile_for(Use::Tried, library, sources)
}

/// Compiles a file whose rules are to run together with those of the tree, which are known to be right; `on` says which of
/// these do. The file's rules are checked as by [`compile`], and must come to an end together with the others.
pub fn compile_beside(
    library: &Library,
    tree: &Sources,
    on: impl Fn(&Rule) -> bool,
    own: (Arc<str>, Arc<str>),
) -> Result<RuleSet, Vec<Diagnostic>> {
    let set = compile(library, std::slice::from_ref(&own))?;
    let mut diags = Vec::new();
    let mut rules = resolve_all(library, tree, &mut diags);
    // Behind the others, so that these have their order already where one of the file doesn't fit in.
    rules.extend(set.rules.iter().map(|rule| Rule { file: tree.len(), ..rule.clone() }));
    rules.retain(on);
    let files = tree.iter().cloned().chain([own]).collect();
    order::check(&RuleSet { files, rules, ..set.clone() }, &mut diags);
    match diags.is_empty() {
        true => Ok(set),
        false => Err(diags),
    }
}

fn compile_for(
    purpose: Use,
    library: &Library,
    sources: &Sources,
) -> Result<RuleSet, Vec<Diagnostic>> {
    let mut diags = Vec::new();
    let rules = resolve_all(library, sources, &mut diags);
    let set = RuleSet {
        ops: library.ops.clone(),
        groups: library.groups.clone(),
        options: library.options.clone(),
        files: sources.to_vec(),
        facts: library.facts.clone(),
        rules,
    };
    check::check(&set, &mut diags);
    set.rules.iter().for_each(|rule| legal::check(&set, rule, &mut diags));
    order::check(&set, &mut diags);
    if purpose == Use::Shipped {
        set.rules.iter().for_each(|rule| cost::check(&set, rule, &mut diags));
    }
    match diags.iter().any(|d| d.severity == Severity::Error) {
        true => Err(diags),
        false => Ok(set),
    }
}

/// The rules of some files, each by itself.
fn resolve_all(library: &Library, sources: &Sources, diags: &mut Vec<Diagnostic>) -> Vec<Rule> {
    let mut rules: Vec<Rule> = Vec::new();
    let mut names: Vec<(String, usize, Arc<str>, crate::diagnostics::Span)> = Vec::new();
    for (file_index, (file, text)) in sources.iter().enumerate() {
        let tree = match parse::parse_rules(file, text) {
            Ok(tree) => tree,
            Err(d) => {
                diags.push(d);
                continue;
            }
        };
        for stamped in expand::expand(&tree, diags) {
            check_name(file, &stamped, &mut names, diags);
            let line = line_column(text, stamped.rule.span.start as usize).0 as u32;
            let instance = match stamped.bindings.is_empty() {
                true => String::new(),
                false => {
                    let list: Vec<String> =
                        stamped.bindings.iter().map(|(n, v)| format!("{n}={v}")).collect();
                    format!("{}[{}]", stamped.rule.name.text, list.join(","))
                }
            };
            let resolver = resolve::Resolver::new(library, file, text, instance, diags);
            rules.extend(resolver.rule(&stamped, file_index, line));
        }
    }
    rules
}

/// Compiles one rule given as `L => R where …`. It may go round: nothing applies it.
pub fn compile_bare(
    library: &Library,
    file: &Arc<str>,
    text: &str,
) -> Result<RuleSet, Vec<Diagnostic>> {
    let rule = parse::parse_bare_rule(file, text).map_err(|d| vec![d])?;
    let mut diags = Vec::new();
    let stamped = expand::Stamped { rule, bindings: Vec::new(), source: 0 };
    let resolver = resolve::Resolver::new(library, file, text, String::new(), &mut diags);
    let rules: Vec<Rule> = resolver.rule(&stamped, 0, 1).into_iter().collect();
    let set = RuleSet {
        ops: library.ops.clone(),
        groups: library.groups.clone(),
        options: library.options.clone(),
        files: vec![(file.clone(), text.into())],
        facts: library.facts.clone(),
        rules,
    };
    check::check(&set, &mut diags);
    match diags.iter().any(|d| d.severity == Severity::Error) {
        true => Err(diags),
        false => Ok(set),
    }
}

/// Names are well formed, and belong to one source rule each.
fn check_name(
    file: &Arc<str>,
    stamped: &expand::Stamped,
    names: &mut Vec<(String, usize, Arc<str>, crate::diagnostics::Span)>,
    diags: &mut Vec<Diagnostic>,
) {
    let name = &stamped.rule.name;
    if !name.text.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_') {
        let text = format!("`{}` is not a rule's name", name.text);
        let d = Diagnostic::error(codes::NAME, file, name.span, text);
        diags.push(d.help("names consist of a-z, 0-9 and _"));
    }
    match names.iter().find(|n| n.0 == name.text) {
        Some(old) if old.1 != stamped.source || &old.2 != file => {
            let text = format!("another rule is called `{}`", name.text);
            let d = Diagnostic::error(codes::NAME, file, name.span, text);
            diags.push(d.label_in(&old.2, old.3, "this one"));
        }
        Some(_) => {}
        None => names.push((name.text.clone(), stamped.source, file.clone(), name.span)),
    }
}
