//! Union-find: which of many things belong together.

use memplan_core::{Id, IndexVec};

/// Classes of ids, each by itself at first. A class is known by its smallest id.
pub(crate) struct Classes<I: Id> {
    parent: IndexVec<I, I>,
}

impl<I: Id> Classes<I> {
    pub(crate) fn new(count: usize) -> Classes<I> {
        Classes { parent: (0..count).map(I::from_index).collect() }
    }

    /// The class of an id. Shortens the chain of links on the way, so that the next question is answered faster.
    pub(crate) fn find(&mut self, id: I) -> I {
        let mut at = id;
        while self.parent[at] != at {
            let up = self.parent[at];
            self.parent[at] = self.parent[up];
            at = up;
        }
        at
    }

    /// Makes one class of two: its id, and the one that it no longer has, if they were two.
    pub(crate) fn join(&mut self, one: I, other: I) -> (I, Option<I>) {
        let (one, other) = (self.find(one), self.find(other));
        let (low, high) = (one.min(other), one.max(other));
        self.parent[high] = low;
        (low, (low != high).then_some(high))
    }
}
