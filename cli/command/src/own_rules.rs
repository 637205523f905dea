//! `deburr opt --rules`: the rules of a file, interpreted, before those built in.

use crate::Tree;
use crate::codes;
use crate::report::{Diagnostic, Trouble};
use crate::rulebook::Rulebook;
use deburr_algebraic::interp::matcher::Interpreter;
use deburr_algebraic::{Options, Rewriter, RuleInfo, RuleSet, Target, run_with};
use deburr_ir_core::{Flags, Module};
use deburr_passes::Report;
use deburr_rulegen::rules::{self, model::Rule};
use std::path::Path;

/// The group that is run.
const GROUP: &str = "opt";

/// Rules of a file.
pub struct OwnRules {
    set: rules::RuleSet,
    /// What is compiled in, with the file's rules behind it: counted, traced and disabled like the others.
    pub all: RuleSet,
    /// Rules that the command never runs.
    pub warnings: Trouble,
}

impl OwnRules {
    /// Reads a file. Its rules must come to an end together with those of the tree that aren't disabled.
    pub fn of(path: &Path, tree: &Tree, disabled: &[String]) -> Result<Self, Trouble> {
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
        let first = built_in.rules.iter().map(|rule| RuleInfo { ..*rule });
        let infos: Vec<RuleInfo> = first.chain(set.rules.iter().map(own)).collect();
        let all = RuleSet {
            groups: built_in.groups,
            rules: infos.leak(),
            options: built_in.options,
            transfers: built_in.transfers,
            chains: built_in.chains,
            uses: Interpreter::new(&set, GROUP)
                .map_or(built_in.uses, |own| built_in.uses.union(own.uses())),
        };
        let group = |rule: &Rule| set.groups.get(rule.group).map_or("", |(name, _)| &**name);
        let idle = set.rules.iter().filter(|rule| group(rule) != GROUP).map(|rule| {
            let message =
                format!("`{}` is of the group `{}`, which is not run", rule.name, group(rule));
            Diagnostic::warning(&path.to_string_lossy(), codes::READING, message)
        });
        let warnings = idle.collect();
        Ok(OwnRules { set, all, warnings })
    }

    /// Rewrites by the file's rules and those built in, the former first; gives the number of rewrites.
    pub fn rewrite(
        &self,
        module: &mut Module,
        target: &Target,
        options: &Options,
        total: &mut Report,
    ) -> Result<u64, deburr_algebraic::Error> {
        let Some(interpreter) = Interpreter::new(&self.set, GROUP) else { return Ok(0) };
        let first = self.all.rules.len() - self.set.rules.len();
        let mut fired = 0;
        for f in module.functions.iter_mut().filter(|f| f.has_body()) {
            let mut extra = |cx: &mut Rewriter<'_>, instr| {
                interpreter.apply(cx, instr, |rule| first + rule).is_some()
            };
            let report = run_with(f, &self.all, GROUP, target, options, Some(&mut extra))?;
            fired += report.fired;
            total.rules.fired += report.fired;
            total.rules.folded += report.folded;
            total.rules.trace.extend(report.trace);
            for (rule, n) in report.counts {
                *total.rules.counts.entry(rule).or_default() += n;
            }
            total.rules.cycles.extend(report.cycle);
        }
        Ok(fired)
    }
}

/// A text for as long as the command runs: rules are read once.
fn keep(text: &str) -> &'static str {
    Box::leak(text.to_owned().into_boxed_str())
}
