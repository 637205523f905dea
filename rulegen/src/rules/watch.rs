//! What of a group's rules an engine must know so that whatever a change may let fire gets its turn.
//!
//! The engine keeps these as its `Watch`. They follow from patterns and profit tests alone.

use super::model::*;

/// Levels of users that every engine needs: a user looks through a vector to what stands in it.
const LEAST_DEPTH: usize = 2;

impl RuleSet {
    fn of_group(&self, group: usize) -> impl Iterator<Item = &Rule> {
        self.rules.iter().filter(move |rule| rule.group == group)
    }

    /// Most levels between a root and a value below it that its rule looks at.
    pub fn depth(&self, group: usize) -> u8 {
        let depths = self.of_group(group).map(Rule::depth);
        // The parser bounds how deep terms nest.
        depths.fold(LEAST_DEPTH, usize::max).min(250) as u8
    }

    /// The loss of a use that leaves so many or fewer may let a rule fire.
    pub fn few_uses(&self, group: usize) -> u32 {
        // Of one use each chain depends.
        self.of_group(group).flat_map(Rule::watched_uses).fold(1, |few, (n, _)| few.max(n))
    }

    /// A new use of a value that had so many or fewer may let a rule fire; 0 if none may.
    pub fn many_uses(&self, group: usize) -> u32 {
        self.of_group(group).flat_map(Rule::watched_uses).fold(0, |many, (_, n)| many.max(n))
    }

    /// The operations at which rules ask what bits users read, each once.
    pub fn read_ops(&self, group: usize) -> Vec<usize> {
        let mut out = Vec::new();
        for rule in self.of_group(group).filter(|rule| rule.used.is_some()) {
            match &rule.nodes[rule.pattern].kind {
                NodeKind::Op { op, .. } if !out.contains(op) => out.push(*op),
                _ => {}
            }
        }
        out
    }

    /// Whether a pattern has anything but arithmetic, through which what changes below it reaches its root.
    pub fn reaches_outside(&self, group: usize) -> bool {
        let outside =
            |rule: &Rule, id: &NodeId| matches!(rule.nodes[*id].kind, NodeKind::Outside { .. });
        self.of_group(group).any(|rule| rule.pattern_nodes().iter().any(|id| outside(rule, id)))
    }

    /// Whether a root is anything but arithmetic.
    pub fn roots_outside(&self, group: usize) -> bool {
        let root = |rule: &Rule| matches!(rule.nodes[rule.pattern].kind, NodeKind::Outside { .. });
        self.of_group(group).any(root)
    }

    /// The operations whose chains some rule matches, each once.
    pub fn chain_ops(&self, group: usize) -> Vec<usize> {
        let mut out = Vec::new();
        for rule in self.of_group(group) {
            for chain in &rule.chains {
                match &rule.nodes[chain.nodes[0]].kind {
                    NodeKind::Op { op, .. } if !out.contains(op) => out.push(*op),
                    _ => {}
                }
            }
        }
        out
    }
}

impl Rule {
    /// Most levels between the root and a value of which the pattern asks more than that it is there. A chain that is the
    /// whole pattern is one level: whoever watches chains looks for their roots.
    fn depth(&self) -> usize {
        let mut deepest = 0;
        let mut stack = vec![(self.pattern, 0)];
        while let Some((id, depth)) = stack.pop() {
            if !self.is_any_value(id) {
                deepest = deepest.max(depth);
            }
            let (operands, levels) = match self.chain_at(id) {
                Some(chain) if id == self.pattern => (chain.operands.as_slice(), 1),
                // Each of them may be the lowest.
                Some(chain) => (chain.operands.as_slice(), chain.operands.len() - 1),
                None => (self.nodes[id].operands(), 1),
            };
            deepest = deepest.max(depth + levels - 1);
            stack.extend(operands.iter().map(|operand| (*operand, depth + levels)));
        }
        deepest
    }

    /// Whether a node of the pattern is a variable that stands there once and of which nothing else speaks.
    fn is_any_value(&self, id: NodeId) -> bool {
        let node = &self.nodes[id];
        let NodeKind::Var(var) = node.kind else { return false };
        let is_it = |n: &NodeId| matches!(self.nodes[*n].kind, NodeKind::Var(v) if v == var);
        let under = |root: &NodeId| self.reachable(*root).iter().any(is_it);
        let profits = self.alts.iter().filter_map(|a| a.profit.as_ref());
        let mut counted = false;
        for profit in profits {
            profit.tests(&mut |test, _| counted |= test.var() == Some(var));
        }
        self.vars[var].kind == VarKind::Value
            && node.swizzle.is_none()
            && self.pattern_nodes().iter().filter(|n| is_it(n)).count() == 1
            && !self.fact_args().any(|arg| under(&arg))
            && !self.needed_at_phis().iter().any(|(v, _)| *v == var)
            && !counted
    }

    /// How many operands the operations of a match have together.
    fn slots(&self) -> u32 {
        let nodes = self.pattern_nodes();
        let plain: usize = nodes.iter().map(|id| self.nodes[*id].operands().len()).sum();
        let chain = self.chain_at(self.pattern).map_or(0, |_| 2 * LONGEST_CHAIN);
        (plain + chain) as u32
    }

    /// For each test of uses: the number of uses down to which a loss may make it hold, and the number up to which a
    /// value may have had uses when a new one makes it hold; 0 where there is none.
    fn watched_uses(&self) -> Vec<(u32, u32)> {
        let mut out = Vec::new();
        for profit in self.alts.iter().filter_map(|alt| alt.profit.as_ref()) {
            profit.tests(&mut |test, positive| {
                let most = match test {
                    // All uses are operands of the match.
                    Cond::Profit(Profit::Dies, _) => self.slots(),
                    Cond::OnlyUsedAs(..) => MOST_USES,
                    _ => return out.extend(test.counts().map(|counts| turns(&counts, positive))),
                };
                out.push(if positive { (most, 0) } else { (0, most) });
            });
        }
        out
    }
}

/// The largest numbers of uses from above which a test that is wanted so comes to hold, and from which upwards; by
/// whether it holds at 1, 2, ….
fn turns(counts: &[bool], wanted: bool) -> (u32, u32) {
    let (mut falls, mut rises) = (0, 0);
    for (n, pair) in (1..).zip(counts.windows(2)) {
        if pair[0] != pair[1] {
            *(if pair[0] == wanted { &mut falls } else { &mut rises }) = n;
        }
    }
    (falls, rises)
}
