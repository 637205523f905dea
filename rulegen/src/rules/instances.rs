//! The end of a rule's resolution: classes become numbers, instances are listed, and what depends on sizes is checked.

use super::classes::Classes;
use super::clauses::Clauses;
use super::codes;
use super::expand::Stamped;
use super::model::*;
use super::resolve::Resolver;
use crate::diagnostics::{Diagnostic, Span};
use crate::expr::Base;

impl Resolver<'_> {
    /// The size classes that nodes, computed constants and facts name.
    fn named_classes(&self, clauses: &Clauses) -> Vec<usize> {
        let mut all: Vec<usize> = self.nodes.iter().map(|n| n.class).collect();
        all.extend(self.nodes.iter().filter_map(|n| match &n.kind {
            NodeKind::Compute { bits, .. } => Some(*bits),
            _ => None,
        }));
        all.extend(clauses.facts.iter().map(|f| f.bits));
        all
    }

    /// Turns classes into numbers, solves for the instances and checks what depends on them.
    pub(super) fn finish(
        mut self,
        stamped: &Stamped,
        clauses: Clauses,
        pattern: NodeId,
        alts: Vec<Alt>,
        before: Classes,
        place: (usize, u32),
    ) -> Option<Rule> {
        let (ast, pattern_len) = (&stamped.rule, self.pattern_len);
        let roots = self.classes.distinct(self.named_classes(&clauses));
        let number = |s: &Self, class: usize| {
            roots.iter().position(|r| *r == s.classes.find(class)).unwrap_or(0)
        };
        let instances = self.classes.solve(&roots);
        if instances.is_empty() && !self.failed {
            self.error(codes::NO_SIZE, ast.span, "no bit sizes satisfy this rule");
        }
        self.check_literals(&roots, &instances);
        // What the pattern alone allows, by the classes that it has before anything else is known.
        let mut reps: Vec<NodeId> = Vec::new();
        for id in 0..pattern_len {
            let class = before.find(self.nodes[id].class);
            let open = before.fixed(class).is_none();
            if open && !reps.iter().any(|r| before.find(self.nodes[*r].class) == class) {
                reps.push(id);
            }
        }
        let rep_classes: Vec<usize> = reps.iter().map(|r| self.nodes[*r].class).collect();
        let possible = before.solve(&rep_classes);
        let mut allowed: Vec<Vec<u8>> = instances
            .iter()
            .map(|bits| rep_classes.iter().map(|c| bits[number(&self, *c)]).collect())
            .collect();
        allowed.sort_unstable();
        allowed.dedup();
        if allowed.len() < instances.len() && !self.failed {
            self.ambiguous(&roots, &instances, &rep_classes);
        }
        let size_test =
            (allowed.len() < possible.len()).then_some(SizeTest { nodes: reps.clone(), allowed });
        if self.failed {
            return None;
        }
        let pattern_classes: Vec<ClassId> =
            (0..pattern_len).map(|id| number(&self, self.nodes[id].class)).collect();
        let free_classes = varying(&pattern_classes, &instances);
        let vars = self.vars.iter().map(|v| Var {
            name: v.name.clone(),
            kind: v.kind,
            base: v.base,
            class: number(&self, v.class),
            comps: if v.whole {
                Comps::Fixed(round_up(v.used))
            } else {
                self.classes.comps(v.comps)
            },
            whole: v.whole,
            span: v.span,
        });
        let vars = vars.collect();
        let nodes = self.nodes.iter().map(|n| Node {
            kind: match &n.kind {
                NodeKind::Compute { expr, args, bits } => NodeKind::Compute {
                    expr: expr.clone(),
                    args: args.clone(),
                    bits: number(&self, *bits),
                },
                other => other.clone(),
            },
            swizzle: n.swizzle.clone(),
            class: number(&self, n.class),
            comps: self.classes.comps(n.comps),
            span: n.span,
        });
        let nodes = nodes.collect();
        let facts = clauses.facts.into_iter().map(|f| {
            let bits = number(&self, f.bits);
            FactUse { bits, ..f }
        });
        let facts = facts.collect();
        let name = match stamped.bindings.as_slice() {
            [] => ast.name.text.clone(),
            list => {
                let list: Vec<String> = list.iter().map(|(n, v)| format!("{n}={v}")).collect();
                format!("{}[{}]", ast.name.text, list.join(","))
            }
        };
        Some(Rule {
            name,
            base: ast.name.text.clone(),
            doc: ast.doc.clone(),
            file: place.0,
            line: place.1,
            span: ast.span,
            group: clauses.group,
            nodes,
            pattern,
            chains: self.chains,
            alts,
            vars,
            facts,
            env: clauses.env,
            used: clauses.used,
            licences: clauses.licences,
            when: clauses.when,
            classes: roots.len(),
            instances,
            size_test,
            free_classes,
            canonical: clauses.canonical,
            ulps: clauses.ulps,
            waive: clauses.waive,
            allows: clauses.allows,
            tests: clauses.tests,
        })
    }

    fn check_literals(&mut self, roots: &[usize], instances: &[Vec<u8>]) {
        let mut bad = Vec::new();
        for draft in &self.nodes {
            let NodeKind::Literal(value, base) = &draft.kind else { continue };
            let class = self.classes.find(draft.class);
            let Some(at) = roots.iter().position(|r| *r == class) else { continue };
            let wrong = instances.iter().find_map(|bits| match value.encode(*base, bits[at]) {
                Ok(_) => None,
                Err(why) => Some((bits[at], why)),
            });
            if let Some((bits, why)) = wrong {
                bad.push((draft.span, value.clone(), *base, bits, why));
            }
        }
        for (span, value, base, bits, why) in bad {
            let d = self.wrong_literal(span, &value, base, bits, &why);
            self.report(d);
        }
    }

    fn wrong_literal(
        &self,
        span: Span,
        value: &Literal,
        base: Base,
        bits: u8,
        why: &str,
    ) -> Diagnostic {
        let error = |text| Diagnostic::error(codes::LITERAL, self.file, span, text);
        // In templates a loop's name may stand here.
        let written = self.text.get(span.range()).unwrap_or("");
        let literal = written.starts_with(|c: char| c.is_ascii_digit() || c == '-' || c == '+');
        let (operand, better) = match (value, base) {
            (Literal::Int(v), Base::Float) => ("a float", format!("{v}.0")),
            (Literal::Int(v) | Literal::Hex(v), Base::Bool) => ("a bool", (*v != 0).to_string()),
            _ => {
                let s = if bits == 1 { "" } else { "s" };
                let d = error(format!("this literal is wrong at {bits} bit{s}: {why}"));
                return d.help("annotate a variable with the size that is meant, as in `a:32`");
            }
        };
        let d = error(format!("this is an integer, the operand {operand}"));
        match literal {
            true => d.replace(span, better.as_str(), format!("write `{better}`")),
            false => d.help(format!("it would be `{better}`")),
        }
    }

    fn ambiguous(&mut self, roots: &[usize], instances: &[Vec<u8>], reps: &[usize]) {
        // A node whose class differs between two instances that agree on the pattern's classes.
        let at =
            |class: usize| roots.iter().position(|r| *r == self.classes.find(class)).unwrap_or(0);
        let span = self.nodes.iter().rev().find_map(|n| {
            let c = at(n.class);
            let differs = instances.iter().enumerate().any(|(i, x)| {
                instances[..i]
                    .iter()
                    .any(|y| reps.iter().all(|r| x[at(*r)] == y[at(*r)]) && x[c] != y[c])
            });
            differs.then_some(n.span)
        });
        let d = Diagnostic::error(
            codes::AMBIGUOUS_SIZE,
            self.file,
            span.unwrap_or_default(),
            "the pattern doesn't determine the size of this",
        );
        self.report(d.help("annotate it with a size, or use an op that fixes one"));
    }
}

/// The smallest component count of the IR that is not below.
fn round_up(n: u8) -> u8 {
    match n {
        0..=5 => n,
        6..=8 => 8,
        _ => 16,
    }
}

/// The classes that differ between instances, in the order in which the pattern has them.
fn varying(classes: &[ClassId], instances: &[Vec<u8>]) -> Vec<ClassId> {
    let mut out: Vec<ClassId> = Vec::new();
    for class in classes {
        let varies = instances.iter().any(|i| i[*class] != instances[0][*class]);
        if varies && !out.contains(class) {
            out.push(*class);
        }
    }
    out
}
