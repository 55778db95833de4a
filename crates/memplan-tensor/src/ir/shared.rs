//! Values that copies of a function have in common until one of them is changed.

use std::ops::{Deref, DerefMut};
use std::sync::Arc;

/// A value that is copied when it is written, not when it is cloned.
///
/// A clone refers to the same value. Whoever writes through a clone gets a copy of their own first, unless nobody else
/// refers to the value any more. So a clone behaves as a deep copy does, and what is never written is never copied: a
/// rewrite that leaves a loop as it is shares the loop's body with the function that it started from.
///
/// Only mutable access makes the copy. Code that changes little reads first, and asks for mutable access where it has
/// found something to change.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Shared<T>(Arc<T>);

impl<T> From<T> for Shared<T> {
    fn from(value: T) -> Shared<T> {
        Shared(Arc::new(value))
    }
}

impl<T> Deref for Shared<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

impl<T: Clone> DerefMut for Shared<T> {
    fn deref_mut(&mut self) -> &mut T {
        Arc::make_mut(&mut self.0)
    }
}

impl<T: Clone> Shared<Vec<T>> {
    /// Calls `take` with each item. Items that another clone refers to, too, are copied one by one.
    pub fn into_each(self, take: impl FnMut(T)) {
        match Arc::try_unwrap(self.0) {
            Ok(items) => items.into_iter().for_each(take),
            Err(items) => items.iter().cloned().for_each(take),
        }
    }
}

impl<T> FromIterator<T> for Shared<Vec<T>> {
    fn from_iter<I: IntoIterator<Item = T>>(items: I) -> Shared<Vec<T>> {
        Vec::from_iter(items).into()
    }
}

impl<T: Clone> IntoIterator for Shared<Vec<T>> {
    type Item = T;
    type IntoIter = std::vec::IntoIter<T>;

    fn into_iter(self) -> std::vec::IntoIter<T> {
        Arc::unwrap_or_clone(self.0).into_iter()
    }
}

impl<'a, T> IntoIterator for &'a Shared<Vec<T>> {
    type Item = &'a T;
    type IntoIter = std::slice::Iter<'a, T>;

    fn into_iter(self) -> std::slice::Iter<'a, T> {
        self.iter()
    }
}

impl<'a, T: Clone> IntoIterator for &'a mut Shared<Vec<T>> {
    type Item = &'a mut T;
    type IntoIter = std::slice::IterMut<'a, T>;

    fn into_iter(self) -> std::slice::IterMut<'a, T> {
        self.iter_mut()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_copy_is_made_by_the_first_write_and_not_before() {
        let first: Shared<Vec<u8>> = vec![1, 2].into();
        let mut second = first.clone();
        assert!(std::ptr::eq(first.as_ptr(), second.as_ptr()));
        second.push(3);
        assert_eq!((first.as_slice(), second.as_slice()), (&[1, 2][..], &[1, 2, 3][..]));
        let place = second.as_ptr();
        second[0] = 7;
        assert!(std::ptr::eq(place, second.as_ptr()), "nobody else has this value, so it is changed where it is");
        assert_eq!(second.into_iter().collect::<Vec<_>>(), [7, 2, 3]);
    }
}
