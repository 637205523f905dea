//! What is free in a term: choices, rounding, flushing, the bits of a NaN.
//!
//! A replacement may do anything that is free, so that each choice of it is a free constant. A pattern is to have one way
//! to give the same, and a query without quantifiers can ask for finitely many: first those in which it does as the
//! replacement did, at the same operation on the same operands or in the same order, then all there are. What is left out makes a rule look worse
//! than it is, never better.

use super::term::{Sort, Term, Terms};
use rustc_hash::FxHashMap;

/// The instruction that a choice belongs to: node of the rule, and component.
pub(super) type Owner = (usize, usize);

/// Where in a definition something is chosen, and on which operands.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Place {
    /// Address of the part of the definition; with a number where it chooses more than one thing.
    pub site: (usize, usize),
    pub operands: Vec<Term>,
}

impl Place {
    fn kind(&self) -> usize {
        self.site.1 % KINDS
    }

    /// The operand that the choice is about, if it is about one.
    fn operand(&self) -> Option<Term> {
        let about_one = self.kind() < 3;
        self.operands.get(self.kind()).copied().filter(|_| about_one)
    }
}

/// How choices are made at present.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Taking {
    /// By free constants.
    Freely,
    /// By the script, from what there is.
    ByScript,
}

/// How a pattern follows its replacement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Follows {
    /// It does as the other did at the same place, and elsewhere what the other did next: both sides may be of one shape.
    InOrder,
    /// It does as the other did at the same place.
    InPlace,
    Not,
}

/// Kinds of things to choose: operands and modes and results of a step.
const KINDS: usize = 8;

/// Choices that were made, and the script of those to make.
#[derive(Debug)]
pub(super) struct Choices {
    pub taking: Taking,
    /// Free constants by owner and place.
    own: FxHashMap<(Owner, Place), Term>,
    /// The same by place, for who does the same elsewhere.
    at: FxHashMap<Place, Vec<Term>>,
    /// Which of how many was taken.
    script: Vec<(usize, usize)>,
    next: usize,
    /// What is taken where there is no telling.
    follows: Follows,
    /// What the other side took, in the order in which it did: the kind of thing, and of which operand it is.
    order: Vec<(usize, Option<Term>, Term)>,
    /// Which of these were followed so far.
    followed: Vec<Term>,
    /// Ways that may still be taken.
    left: usize,
    most: usize,
}

impl Choices {
    /// None made yet; of the pattern at most so many ways are taken, three times.
    pub(super) fn new(most: usize) -> Choices {
        Choices {
            taking: Taking::Freely,
            own: FxHashMap::default(),
            at: FxHashMap::default(),
            script: Vec::new(),
            next: 0,
            follows: Follows::InOrder,
            order: Vec::new(),
            followed: Vec::new(),
            left: most,
            most,
        }
    }

    /// One of two: a boolean term.
    pub(super) fn either(&mut self, t: &mut Terms, owner: Owner, place: Place) -> Term {
        match self.taking {
            Taking::Freely => self.free(t, owner, place, Sort::Bool),
            Taking::ByScript => {
                let known = match self.follows {
                    Follows::Not => None,
                    _ => self.at.get(&place).cloned(),
                };
                self.followed.extend(known.iter().flatten());
                let options = known.or_else(|| self.elsewhere(&place));
                let options = options.unwrap_or_else(|| vec![t.truth(false), t.truth(true)]);
                options[self.pick(options.len())]
            }
        }
    }

    /// What the other side chose elsewhere: of the same operand, or else next of the same kind.
    fn elsewhere(&mut self, place: &Place) -> Option<Vec<Term>> {
        if self.follows != Follows::InOrder {
            return None;
        }
        let kind = place.kind();
        let same = |c: &&(usize, Option<Term>, Term)| c.1.is_some() && c.1 == place.operand();
        let of_operand: Vec<Term> = self.order.iter().filter(same).map(|c| c.2).collect();
        if !of_operand.is_empty() {
            self.followed.extend(&of_operand);
            return Some(of_operand);
        }
        let open = |c: &&(usize, Option<Term>, Term)| c.0 == kind && !self.followed.contains(&c.2);
        let (.., term) = *self.order.iter().find(open)?;
        self.followed.push(term);
        Some(vec![term])
    }

    /// Any value of a sort: what the other side took at the same place, if it did.
    pub(super) fn any(&mut self, t: &mut Terms, owner: Owner, place: Place, sort: Sort) -> Term {
        match self.taking {
            Taking::Freely => self.free(t, owner, place, sort),
            Taking::ByScript => {
                let list = self.at.get(&place).map_or(&[][..], Vec::as_slice);
                let list: Vec<Term> = list.iter().copied().filter(|c| t.sort(*c) == sort).collect();
                match list.as_slice() {
                    [] => self.free(t, owner, place, sort),
                    list => list[self.pick(list.len())],
                }
            }
        }
    }

    fn free(&mut self, t: &mut Terms, owner: Owner, place: Place, sort: Sort) -> Term {
        if let Some(term) = self.own.get(&(owner, place.clone())) {
            return *term;
        }
        let term = t.fresh("c", sort);
        self.at.entry(place.clone()).or_default().push(term);
        if sort == Sort::Bool && self.taking == Taking::Freely {
            self.order.push((place.kind(), place.operand(), term));
        }
        self.own.insert((owner, place), term);
        term
    }

    fn pick(&mut self, n: usize) -> usize {
        if n <= 1 {
            return 0;
        }
        if self.next == self.script.len() {
            self.script.push((0, n));
        }
        let (i, _) = self.script[self.next];
        self.next += 1;
        i
    }

    /// Turns to the next way; false if there is none, or enough were taken.
    pub(super) fn turn(&mut self) -> bool {
        self.script.truncate(self.next);
        self.next = 0;
        self.followed.clear();
        self.left -= 1;
        while let Some((i, n)) = self.script.pop() {
            if i + 1 < n && self.left > 0 {
                self.script.push((i + 1, n));
                return true;
            }
        }
        self.script.clear();
        self.left = self.most;
        let followed = self.follows;
        self.follows = match followed {
            Follows::InOrder => Follows::InPlace,
            Follows::InPlace | Follows::Not => Follows::Not,
        };
        followed != Follows::Not
    }
}
