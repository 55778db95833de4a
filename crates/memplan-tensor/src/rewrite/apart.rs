//! Pairs of buffers that must not share memory.

use crate::ir::BufId;
use std::collections::BTreeSet;

/// A set of unordered pairs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Apart(BTreeSet<(BufId, BufId)>);

impl Apart {
    /// Whether the two must not share.
    pub fn contains(&self, one: BufId, other: BufId) -> bool {
        self.0.contains(&(one.min(other), one.max(other)))
    }

    /// Whether a buffer may share with all of `others`.
    pub(super) fn lets_in(&self, buffer: BufId, others: &[BufId]) -> bool {
        self.0.is_empty() || !others.iter().any(|other| self.contains(buffer, *other))
    }

    /// The pairs, in order.
    pub fn iter(&self) -> impl Iterator<Item = (BufId, BufId)> + '_ {
        self.0.iter().copied()
    }

    /// How many pairs.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether any two buffers may share.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl Extend<(BufId, BufId)> for Apart {
    fn extend<T: IntoIterator<Item = (BufId, BufId)>>(&mut self, pairs: T) {
        self.0.extend(pairs.into_iter().map(|(one, other)| (one.min(other), one.max(other))));
    }
}
