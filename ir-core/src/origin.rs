//! Which rewrite rules made an instruction: kept beside the code where somebody asks for it, shown as a comment.

use crate::entity::Def;
use rustc_hash::FxHashMap;

/// Rules of a chain that are kept: the last ones.
const LONGEST: usize = 8;

/// By value the rules that led to it, the first first.
///
/// What was there before any rule has no entry. An instruction that replaces one with an entry takes that chain over,
/// and its own rule is added.
#[derive(Clone, Debug, Default)]
pub struct Origins(FxHashMap<Def, Vec<&'static str>>);

impl Origins {
    /// The rules that led to a value.
    pub fn of(&self, def: Def) -> &[&'static str] {
        self.0.get(&def).map_or(&[], |chain| chain)
    }

    /// Notes that a rule made `new` in place of `old`.
    pub fn note(&mut self, old: Def, rule: &'static str, new: impl Iterator<Item = Def>) {
        let mut chain = self.of(old).to_vec();
        chain.push(rule);
        if chain.len() > LONGEST {
            chain.remove(0);
            chain[0] = "…";
        }
        self.0.extend(new.map(|def| (def, chain.clone())));
    }

    /// Notes the rules of a copy, which are those of the original.
    pub(crate) fn copied(&mut self, new: Def, chain: Vec<&'static str>) {
        if !chain.is_empty() {
            self.0.insert(new, chain);
        }
    }

    pub(crate) fn removed(&mut self, def: Def) {
        self.0.remove(&def);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::builder::Builder;
    use crate::entity::Instr;
    use crate::func::Function;
    use crate::instr::JumpKind;

    #[test]
    fn copies_keep_them() {
        let mut f = Function::new("main");
        let one = Builder::at_end(&mut f).imm_u32(1);
        let block = f.start_block();
        f.add_jump(block, JumpKind::Return, Some(one));
        f.origins.get_or_insert_default().note(one, "rule", [one].into_iter());
        let copy = f.compacted();
        let first = copy.all_instrs().next().expect("the constant is copied");
        assert_eq!(copy.origins.as_ref().map(|o| o.of(first.def())), Some(&["rule"][..]));
        assert!(f.to_string().contains("  // by rule\n"), "{f}");
        f.origins = None;
        assert!(f == copy, "equality doesn't look at them");
    }

    #[test]
    fn a_chain_grows_and_is_cut() {
        let def = |n: u32| Instr(n).def();
        let mut origins = Origins::default();
        origins.note(def(0), "one", [def(1), def(2)].into_iter());
        origins.note(def(2), "two", [def(3)].into_iter());
        assert!(origins.of(def(0)).is_empty());
        assert_eq!(origins.of(def(1)), ["one"]);
        assert_eq!(origins.of(def(3)), ["one", "two"]);
        for n in 3..20 {
            origins.note(def(n), "more", [def(n + 1)].into_iter());
        }
        let cut = origins.of(def(20));
        assert_eq!((cut.len(), cut[0], cut[7]), (LONGEST, "…", "more"));
        origins.removed(def(20));
        assert!(origins.of(def(20)).is_empty());
    }
}
