//! Inference of bit sizes and component counts: union-find over classes, and the enumeration of what is left open.
//!
//! Equal sizes are one class. A class is fixed, or ranges over a set of admissible sizes; relations of the kind
//! `size(a) = 2 * size(b)` between classes are solved by trying all assignments, of which there are few.

use super::model::{ClassId, Comps};
use crate::diagnostics::Span;

/// The bit sizes of the IR.
pub const SIZES: [u8; 5] = [1, 8, 16, 32, 64];
/// Set of all sizes: bit `i` is `SIZES[i]`.
pub const ALL_SIZES: u8 = 0b11111;
/// Sizes at which there are floats.
pub const FLOAT_SIZES: u8 = 0b11100;
/// Sizes at which there are bools.
pub const BOOL_SIZES: u8 = 0b01111;

/// The set that holds one size; empty where the IR has no such size.
pub fn size_set(bits: u32) -> u8 {
    SIZES.iter().position(|s| u32::from(*s) == bits).map_or(0, |i| 1 << i)
}

/// A set as text.
pub fn show_sizes(set: u8) -> String {
    let sizes: Vec<String> = SIZES
        .iter()
        .enumerate()
        .filter(|(i, _)| set & (1 << i) != 0)
        .map(|(_, s)| s.to_string())
        .collect();
    match sizes.as_slice() {
        [] => "no".to_string(),
        [one] => one.clone(),
        [most @ .., last] => format!("{} or {last}", most.join(", ")),
    }
}

#[derive(Clone, Debug)]
struct SizeClass {
    parent: usize,
    allowed: u8,
    /// What restricted it first.
    why: Span,
}

#[derive(Clone, Debug)]
struct CompClass {
    parent: usize,
    fixed: Option<u8>,
    why: Span,
}

/// Two places that disagree.
#[derive(Clone, Debug)]
pub struct Conflict {
    /// What the first place has.
    pub left: String,
    /// What the second place has.
    pub right: String,
    /// What restricted the first.
    pub left_why: Span,
    /// What restricted the second.
    pub right_why: Span,
}

/// Classes of sizes and of component counts.
#[derive(Clone, Debug, Default)]
pub struct Classes {
    sizes: Vec<SizeClass>,
    comps: Vec<CompClass>,
    /// `size(.0) = .1 * size(.2)`
    relations: Vec<(usize, u32, usize)>,
}

impl Classes {
    /// A class of its own that ranges over a set of sizes.
    pub fn size(&mut self, allowed: u8, why: Span) -> usize {
        self.sizes.push(SizeClass { parent: self.sizes.len(), allowed, why });
        self.sizes.len() - 1
    }

    /// The class that stands for all that are equal to this one.
    pub fn find(&self, mut class: usize) -> usize {
        while self.sizes[class].parent != class {
            class = self.sizes[class].parent;
        }
        class
    }

    /// The sizes that the class may have.
    pub fn allowed(&self, class: usize) -> u8 {
        self.sizes[self.find(class)].allowed
    }

    /// The class's only size, if there is just one.
    pub fn fixed(&self, class: usize) -> Option<u8> {
        let set = self.allowed(class);
        (set.count_ones() == 1).then(|| SIZES[set.trailing_zeros() as usize])
    }

    /// Makes two sizes equal.
    pub fn unify(&mut self, a: usize, b: usize) -> Result<(), Conflict> {
        let (a, b) = (self.find(a), self.find(b));
        if a == b {
            return Ok(());
        }
        let (left, right) = (self.sizes[a].clone(), self.sizes[b].clone());
        let both = left.allowed & right.allowed;
        if both == 0 {
            return Err(Conflict {
                left: show_sizes(left.allowed),
                right: show_sizes(right.allowed),
                left_why: left.why,
                right_why: right.why,
            });
        }
        self.sizes[b].parent = a;
        self.sizes[a].allowed = both;
        if right.allowed.count_ones() < left.allowed.count_ones() {
            self.sizes[a].why = right.why;
        }
        Ok(())
    }

    /// Restricts a size to a set.
    pub fn restrict(&mut self, class: usize, allowed: u8, why: Span) -> Result<(), Conflict> {
        let other = self.size(allowed, why);
        self.unify(class, other)
    }

    /// Demands `size(class) = factor * size(of)`.
    pub fn relate(&mut self, class: usize, factor: u32, of: usize) {
        self.relations.push((class, factor, of));
    }

    /// A class of component counts.
    pub fn comp(&mut self, fixed: Option<u8>, why: Span) -> usize {
        self.comps.push(CompClass { parent: self.comps.len(), fixed, why });
        self.comps.len() - 1
    }

    fn find_comp(&self, mut class: usize) -> usize {
        while self.comps[class].parent != class {
            class = self.comps[class].parent;
        }
        class
    }

    /// The count of a class.
    pub fn comps(&self, class: usize) -> Comps {
        match self.comps[self.find_comp(class)].fixed {
            Some(n) => Comps::Fixed(n),
            None => Comps::Generic,
        }
    }

    /// Makes two component counts equal.
    pub fn unify_comps(&mut self, a: usize, b: usize) -> Result<(), Conflict> {
        let (a, b) = (self.find_comp(a), self.find_comp(b));
        if a == b {
            return Ok(());
        }
        let (left, right) = (self.comps[a].clone(), self.comps[b].clone());
        match (left.fixed, right.fixed) {
            (Some(x), Some(y)) if x != y => Err(Conflict {
                left: x.to_string(),
                right: y.to_string(),
                left_why: left.why,
                right_why: right.why,
            }),
            (None, Some(_)) => {
                self.comps[a].parent = b;
                Ok(())
            }
            _ => {
                self.comps[b].parent = a;
                Ok(())
            }
        }
    }

    /// All assignments of sizes to the classes `of` that satisfy sets and relations. The relations may speak of other
    /// classes too; those are tried as well.
    pub fn solve(&self, of: &[usize]) -> Vec<Vec<u8>> {
        let mut roots: Vec<usize> = Vec::new();
        let related = self.relations.iter().flat_map(|r| [r.0, r.2]);
        for class in of.iter().copied().chain(related) {
            let root = self.find(class);
            if !roots.contains(&root) {
                roots.push(root);
            }
        }
        let at = |class: usize| roots.iter().position(|r| *r == self.find(class)).unwrap_or(0);
        let mut partial: Vec<Vec<u8>> = vec![Vec::new()];
        for (i, root) in roots.iter().enumerate() {
            let mut next = Vec::new();
            for prefix in &partial {
                for (bit, size) in SIZES.iter().enumerate() {
                    if self.sizes[*root].allowed & (1 << bit) == 0 {
                        continue;
                    }
                    let mut full = prefix.clone();
                    full.push(*size);
                    let holds = self.relations.iter().all(|(class, factor, of)| {
                        let (x, y) = (at(*class), at(*of));
                        x > i || y > i || u32::from(full[x]) == factor * u32::from(full[y])
                    });
                    if holds {
                        next.push(full);
                    }
                }
            }
            partial = next;
        }
        let mut out: Vec<Vec<u8>> =
            partial.iter().map(|full| of.iter().map(|c| full[at(*c)]).collect()).collect();
        out.sort_unstable();
        out.dedup();
        out
    }

    /// The classes of the given ones that no size fixes, each once, in order.
    pub fn distinct(&self, classes: impl IntoIterator<Item = usize>) -> Vec<ClassId> {
        let mut out = Vec::new();
        for class in classes {
            let root = self.find(class);
            if !out.contains(&root) {
                out.push(root);
            }
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn relations_are_solved_by_trying() {
        let mut c = Classes::default();
        let (a, b) = (c.size(ALL_SIZES, Span::default()), c.size(ALL_SIZES, Span::default()));
        c.relate(a, 2, b);
        assert_eq!(c.solve(&[a, b]), [[16, 8], [32, 16], [64, 32]]);
        assert!(c.restrict(b, FLOAT_SIZES, Span::default()).is_ok());
        assert_eq!(c.solve(&[a, b]), [[32, 16], [64, 32]]);
        assert_eq!(c.solve(&[a]), [[32], [64]]);
        assert!(c.restrict(b, 1, Span::default()).is_err());
    }

    #[test]
    fn counts_unify() {
        let mut c = Classes::default();
        let (a, b, d) = (
            c.comp(None, Span::default()),
            c.comp(Some(3), Span::default()),
            c.comp(Some(2), Span::default()),
        );
        assert_eq!(c.comps(a), Comps::Generic);
        assert!(c.unify_comps(a, b).is_ok());
        assert_eq!(c.comps(a), Comps::Fixed(3));
        assert!(c.unify_comps(a, d).is_err());
    }
}
