//! The list of values that an op defines.

use std::fmt;
use std::ops::Deref;

use crate::ValueId;

/// The values that an op defines, in order. Hardly any op defines more than one, and a program may have millions of ops,
/// so this list has 16 bytes and keeps a single value in itself. A short vector of two values would have 24.
#[derive(Clone, Default)]
pub struct Results(List);

/// How many values there are.
#[expect(clippy::box_collection, reason = "a vector itself would make the list larger than a pointer does")]
#[derive(Clone, Default)]
enum List {
    #[default]
    None,
    One(ValueId),
    Many(Box<Vec<ValueId>>),
}

impl Results {
    /// No values.
    #[inline]
    pub fn new() -> Results {
        Results::default()
    }

    /// A single value.
    #[inline]
    pub fn one(value: ValueId) -> Results {
        Results(List::One(value))
    }

    /// Adds a value behind the others.
    #[inline]
    pub fn push(&mut self, value: ValueId) {
        match &mut self.0 {
            list @ List::None => *list = List::One(value),
            list @ &mut List::One(first) => *list = List::Many(Box::new(vec![first, value])),
            List::Many(values) => values.push(value),
        }
    }
}

impl Deref for Results {
    type Target = [ValueId];

    #[inline]
    fn deref(&self) -> &[ValueId] {
        match &self.0 {
            List::None => &[],
            List::One(value) => std::slice::from_ref(value),
            List::Many(values) => values,
        }
    }
}

impl<'r> IntoIterator for &'r Results {
    type Item = &'r ValueId;
    type IntoIter = std::slice::Iter<'r, ValueId>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl fmt::Debug for Results {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&**self, f)
    }
}

impl PartialEq for Results {
    fn eq(&self, other: &Results) -> bool {
        **self == **other
    }
}

impl Eq for Results {}

#[cfg(test)]
mod tests {
    use memplan_core::Id;

    use super::*;

    #[test]
    fn values_stay_in_the_order_in_which_they_were_added() {
        assert_eq!(size_of::<Results>(), 16);
        let mut results = Results::new();
        for count in 0..5 {
            let expected: Vec<ValueId> = (0..count).map(ValueId::from_index).collect();
            assert_eq!(*results, *expected);
            results.push(ValueId::from_index(count));
        }
        assert_eq!(Results::one(ValueId::from_index(7)).len(), 1);
    }
}
