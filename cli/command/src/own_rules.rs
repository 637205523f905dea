//! `deburr opt --rules`: the rules of a file, interpreted, before those built in.

use crate::Tree;
use crate::codes;
use crate::report::{Diagnostic, Trouble};
use crate::rulebook::Rulebook;
use deburr_algebraic::interp::matcher::Interpreter;
use deburr_algebraic::{Group, Guest, Rewriter, RuleInfo, RuleSet, Watch};
use deburr_ir_core::{Flags, Function, Instr};
use deburr_rulegen::rules::{self, model::Rule};
use std::path::Path;

/// Rules of a file.
pub struct OwnRules {
    /// To be interpreted.
    pub set: rules::RuleSet,
    /// What is compiled in, with the file's rules behind it: counted, traced and disabled like the others.
    pub all: RuleSet,
    /// Rules that the command never runs.
    pub warnings: Trouble,
}

impl OwnRules {
    /// Reads a file whose rules are to run in some groups. They must come to an end together with those of the tree that
    /// aren't disabled.
    pub fn of(
        path: &Path,
        tree: &Tree,
        disabled: &[String],
        groups: &[&str],
    ) -> Result<Self, Trouble> {
        let set = Rulebook::of(tree)?.of_file_beside(path, disabled)?;
        let built_in = tree.rules;
        let own = |rule: &Rule| RuleInfo {
            name: keep(&rule.name),
            base: keep(&rule.base),
            file: set.files.get(rule.file).map_or("", |(name, _)| keep(name)),
            line: rule.line,
            group: rule.group as u16,
            instances: rule.instances.len() as u16,
            licences: Flags::from_bits_truncate(rule.licences),
            doc: keep(&rule.doc),
        };
        let together = |group: &Group| {
            let own = set.groups.iter().position(|(name, _)| name == group.name);
            let own = own.map_or(Watch::LEAST, |at| Watch::of(&set, at));
            Group { watch: group.watch.union(own), ..*group }
        };
        let all_groups: Vec<Group> = built_in.groups.iter().map(together).collect();
        let first = built_in.rules.iter().map(|rule| RuleInfo { ..*rule });
        let infos: Vec<RuleInfo> = first.chain(set.rules.iter().map(own)).collect();
        let all = RuleSet {
            groups: all_groups.leak(),
            rules: infos.leak(),
            options: built_in.options,
            transfers: built_in.transfers,
            reads: built_in.reads,
            facts: built_in.facts,
        };
        let group = |rule: &Rule| set.groups.get(rule.group).map_or("", |(name, _)| &**name);
        let idle = set.rules.iter().filter(|rule| !groups.contains(&group(rule))).map(|rule| {
            let message =
                format!("`{}` is of the group `{}`, which is not run", rule.name, group(rule));
            Diagnostic::warning(&path.to_string_lossy(), codes::READING, message)
        });
        let warnings = idle.collect();
        Ok(OwnRules { set, all, warnings })
    }

    /// The file's rules as a guest of a pipeline that runs [`OwnRules::all`], and who looks on.
    pub fn turns<'a, 'g>(&'a self, looker: Option<&'a mut (dyn Guest + 'g)>) -> Turns<'a, 'g> {
        let names = self.set.groups.iter().map(|(name, _)| &**name);
        let groups = names.filter_map(|name| Some((name, Interpreter::new(&self.set, name)?)));
        let first = self.all.rules.len() - self.set.rules.len();
        Turns { groups: groups.collect(), group: None, first, looker }
    }
}

/// The file's rules in a run.
pub struct Turns<'a, 'g> {
    groups: Vec<(&'a str, Interpreter<'a>)>,
    /// The group that is being run.
    group: Option<usize>,
    /// The number of the file's first rule.
    first: usize,
    looker: Option<&'a mut (dyn Guest + 'g)>,
}

impl Guest for Turns<'_, '_> {
    fn begin(&mut self, f: &Function, group: &str) {
        self.group = self.groups.iter().position(|(name, _)| *name == group);
        if let Some(looker) = &mut self.looker {
            looker.begin(f, group);
        }
    }

    fn turn(&mut self, cx: &mut Rewriter<'_>, instr: Instr) -> bool {
        if self.looker.as_mut().is_some_and(|looker| looker.turn(cx, instr)) {
            return true;
        }
        let Some((_, interpreter)) = self.group.and_then(|at| self.groups.get(at)) else {
            return false;
        };
        interpreter.apply(cx, instr, |rule| self.first + rule).is_some()
    }

    fn fired(&mut self, rule: usize) {
        if let Some(looker) = &mut self.looker {
            looker.fired(rule);
        }
    }
}

/// A text for as long as the command runs: rules are read once.
fn keep(text: &str) -> &'static str {
    Box::leak(text.to_owned().into_boxed_str())
}
