//! Union-find: which of many things belong together.
//!
//! ```
//! use memplan_core::{BufferId, Classes, Id};
//!
//! let [a, b, c] = [0, 1, 2].map(BufferId::from_index);
//! let mut classes = Classes::new(3);
//! assert_eq!(classes.join(b, c), (b, Some(c)));
//! assert_eq!((classes.find(a), classes.find(c)), (a, b));
//! ```
//!
//! The blocks of a problem need more: there every member knows its distance from the others, and two
//! joins may contradict each other. The checks have a union-find of their own, since they share no
//! algorithm with what they check.

use crate::{Id, IndexVec};

/// Classes of ids, each by itself at first. A class is known by its smallest id.
#[derive(Clone, Debug)]
pub struct Classes<I: Id> {
    parent: IndexVec<I, I>,
}

impl<I: Id> Classes<I> {
    /// `count` ids, each in a class of its own.
    pub fn new(count: usize) -> Classes<I> {
        Classes { parent: (0..count).map(I::from_index).collect() }
    }

    /// The class of an id. Shortens the chain of links on the way, so that the next question is answered faster.
    pub fn find(&mut self, id: I) -> I {
        let mut at = id;
        while self.parent[at] != at {
            // Each id on the way skips one link from now on.
            let up = self.parent[at];
            self.parent[at] = self.parent[up];
            at = up;
        }
        at
    }

    /// Makes one class of the classes of two ids. Returns the id of the class and, if they were two classes, the id
    /// by which the other one was known.
    pub fn join(&mut self, one: I, other: I) -> (I, Option<I>) {
        let (one, other) = (self.find(one), self.find(other));
        // The smaller one stays the root, because a class is known by its smallest id.
        let (low, high) = (one.min(other), one.max(other));
        self.parent[high] = low;
        (low, (low != high).then_some(high))
    }
}
