//! Values with numbers in order of appearance: equal values have one number.

use rustc_hash::FxHashMap;
use std::hash::Hash;

/// Numbered values.
#[derive(Clone, Debug)]
pub(crate) struct Interner<T> {
    values: Vec<T>,
    numbers: FxHashMap<T, u32>,
}

impl<T> Default for Interner<T> {
    fn default() -> Self {
        Interner { values: Vec::new(), numbers: FxHashMap::default() }
    }
}

impl<T: Clone + Eq + Hash> Interner<T> {
    /// The number of the value, which is appended if it is new.
    pub fn insert(&mut self, value: T) -> u32 {
        if let Some(&number) = self.numbers.get(&value) {
            return number;
        }
        let number = self.values.len() as u32;
        self.values.push(value.clone());
        self.numbers.insert(value, number);
        number
    }

    /// Puts a value, which must be new, in the place of another.
    pub fn replace(&mut self, number: u32, value: T) {
        let old = std::mem::replace(&mut self.values[number as usize], value.clone());
        self.numbers.remove(&old);
        let earlier = self.numbers.insert(value, number);
        debug_assert_eq!(earlier, None, "the value is new");
    }

    /// Whether the value has a number.
    pub fn contains(&self, value: &T) -> bool {
        self.numbers.contains_key(value)
    }

    /// All values, by number.
    pub fn values(&self) -> &[T] {
        &self.values
    }

    /// All values, by number, alone.
    pub fn into_values(self) -> Vec<T> {
        self.values
    }
}
