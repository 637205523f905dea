//! What rules are resolved against: opcodes, facts and functions, groups, target options.

use super::ast::{FactDef, Groups, Name};
use super::codes;
use super::model::Fact;
use super::ops::Ops;
use super::parse;
use crate::diagnostics::Diagnostic;
use crate::expr::{Prim, Scope, SourceText, Ty, Width, parse_expr};
use std::sync::Arc;

/// The surroundings of rules.
#[derive(Clone, Debug, Default)]
pub struct Library {
    /// Opcodes.
    pub ops: Ops,
    /// Facts and functions.
    pub facts: Vec<Fact>,
    /// Parameters of each fact, with types.
    pub params: Vec<Vec<(String, Ty)>>,
    /// Groups in order: name and documentation.
    pub groups: Vec<(String, String)>,
    /// Target options in order: name and documentation.
    pub options: Vec<(String, String)>,
    /// Rule files in order, without the extension.
    pub files: Vec<String>,
}

impl Library {
    /// Reads `facts.rules` and `groups.rules`; each is given as its name and text.
    pub fn new(
        ops: Ops,
        facts: (&Arc<str>, &str),
        groups: (&Arc<str>, &str),
        diags: &mut Vec<Diagnostic>,
    ) -> Library {
        let mut library = Library { ops, ..Library::default() };
        match parse::parse_facts(facts.0, facts.1) {
            Ok(defs) => {
                for (n, def) in defs.iter().enumerate() {
                    match defs[..n].iter().find(|d| d.name.text == def.name.text) {
                        Some(first) => {
                            let text = format!("`{}` is defined twice", def.name.text);
                            let d = Diagnostic::error(codes::NAME, facts.0, def.name.span, text);
                            diags.push(d.label(first.name.span, "first here"));
                        }
                        None => library.add_fact(facts.0, facts.1, def, diags),
                    }
                }
            }
            Err(d) => diags.push(d),
        }
        match parse::parse_groups(groups.0, groups.1) {
            Ok(list) => library.add_groups(groups.0, list, diags),
            Err(d) => diags.push(d),
        }
        library
    }

    fn add_groups(&mut self, file: &Arc<str>, list: Groups, diags: &mut Vec<Diagnostic>) {
        let mut seen: Vec<&Name> = Vec::new();
        for (name, _) in list.groups.iter().chain(&list.options).chain(&list.files) {
            if let Some(first) = seen.iter().find(|n| n.text == name.text) {
                let text = format!("`{}` is listed twice", name.text);
                let d = Diagnostic::error(codes::NAME, file, name.span, text);
                diags.push(d.label(first.span, "first here"));
            }
            seen.push(name);
        }
        self.groups = list.groups.into_iter().map(|(n, d)| (n.text, d)).collect();
        self.options = list.options.into_iter().map(|(n, d)| (n.text, d)).collect();
        self.files = list.files.into_iter().map(|(n, _)| n.text).collect();
    }

    fn add_fact(
        &mut self,
        file: &Arc<str>,
        text: &str,
        def: &FactDef,
        diags: &mut Vec<Diagnostic>,
    ) {
        let no_type = |word: &Name| {
            let text = format!("`{}` is not a type", word.text);
            let d = Diagnostic::error(codes::NAME, file, word.span, text);
            d.suggest(&word.text, Ty::NAMES)
        };
        let name = &def.name.text;
        if name == super::clauses::BITS_USED {
            let text = format!("`{name}` is what the language says of users");
            diags.push(Diagnostic::error(codes::NAME, file, def.name.span, text));
            return;
        }
        // A fact stands behind `where` only; a function stands where an op may stand.
        if def.result.is_some() && (self.ops.find(name).is_some() || Prim::by_name(name).is_some())
        {
            let text = format!("`{name}` is already an op or a primitive");
            diags.push(Diagnostic::error(codes::NAME, file, def.name.span, text));
            return;
        }
        let mut params: Vec<(String, Ty)> = Vec::new();
        for (param, ty) in &def.params {
            let Some(ty) = Ty::by_name(&ty.text) else {
                diags.push(no_type(ty));
                return;
            };
            params.push((param.text.clone(), ty));
        }
        let result = match &def.result {
            None => Ty::BOOL,
            Some(word) => match Ty::by_name(&word.text) {
                Some(ty) => ty,
                None => {
                    diags.push(no_type(word));
                    return;
                }
            },
        };
        let open: Vec<Ty> = params.iter().map(|p| p.1).filter(|t| t.width == Width::Bits).collect();
        let sizes: &[u8] = match open.iter().any(|t| t.base == crate::expr::Base::Float) {
            true => &[16, 32, 64],
            false => &[8, 16, 32, 64],
        };
        let vars: Vec<(&str, Ty)> = params.iter().map(|(n, t)| (n.as_str(), *t)).collect();
        let source =
            SourceText::new(file, def.body.span.start as usize, &text[def.body.span.range()]);
        match parse_expr(&source, &Scope { vars: &vars, sizes }, result) {
            Ok(body) => {
                self.facts.push(Fact {
                    name: name.clone(),
                    doc: def.doc.clone(),
                    params: params.iter().map(|p| p.0.clone()).collect(),
                    body,
                    on_values: def.on_values,
                    function: def.result.is_some(),
                });
                self.params.push(params);
            }
            Err(list) => diags.extend(list),
        }
    }
}
