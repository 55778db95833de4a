//! Which buffer is certainly dead before which other one starts, when only dependencies are known.
//!
//! With several execution units, or a scheduler that may reorder, a list of
//! lifetimes is only one possible order. What holds in *every* order follows
//! from the dependencies: an edge x → y says that y is computed from x.
//!
//! ```text
//!   0 ──► 1 ──► 2 ──► 3        2 is written when 1 is complete, and 1 was the
//!                              only reader of 0: so 2 may take the memory of 0.
//!   0 ──► 1 ──► 3              With a second reader, 4, nothing says that 4 is
//!   └───► 4                    done with 0 before 2 or 3 is written.
//! ```
//!
//! So y may take the memory of x if x has readers and **every** reader of x is a strict ancestor of y. A buffer without
//! readers is a result and keeps its memory. A buffer that a graph output reads has a reader that is no buffer's
//! ancestor, so it keeps its memory, too.
//!
//! The relation composes along a chain of reuses: if y may take the memory of x and z that of y, then the readers of x
//! are done before y is written, y is written before its readers run, and these are done before z is written. So a
//! buffer that takes an object has to be compared only with the object's newest user.
//!
//! DIVERGENCE: the planner this comes from does not know about outputs and lets them
//! read overwritten memory; and it asks in both directions, which for lifetimes
//! that contradict the dependencies joins buffers that are not ordered.

use std::collections::BTreeSet;

use memplan_core::{BufferId, Dependencies, Id, IndexVec};

/// The dependencies, ready to be asked.
pub(crate) struct Reallocation<'p> {
    children: &'p IndexVec<BufferId, Vec<BufferId>>,
    parents: IndexVec<BufferId, Vec<BufferId>>,
    /// Whether an output of the program also reads it, which is no buffer's ancestor.
    read_by_outputs: IndexVec<BufferId, bool>,
}

impl<'p> Reallocation<'p> {
    /// Turns the lists of children into lists of parents as well.
    pub(crate) fn new(dependencies: &'p Dependencies) -> Reallocation<'p> {
        let children = &dependencies.children;
        let mut parents = IndexVec::filled(Vec::new(), children.len());
        for (parent, its_children) in children.iter_enumerated() {
            for &child in its_children {
                parents[child].push(parent);
            }
        }
        let mut read_by_outputs = IndexVec::filled(false, children.len());
        for &buffer in &dependencies.read_by_outputs {
            read_by_outputs[buffer] = true;
        }
        Reallocation { children, parents, read_by_outputs }
    }

    /// The buffers whose memory `buffer` may take. O(buffers + edges).
    pub(crate) fn dead_before(&self, buffer: BufferId) -> DeadBefore<'_> {
        // Everything from which the buffer is computed, directly or not: a search from it along its parents.
        let mut is_ancestor = IndexVec::filled(false, self.children.len());
        let mut pending = vec![buffer];
        while let Some(descendant) = pending.pop() {
            for &parent in &self.parents[descendant] {
                if !is_ancestor[parent] {
                    is_ancestor[parent] = true;
                    pending.push(parent);
                }
            }
        }
        DeadBefore { reallocation: self, is_ancestor }
    }
}

/// The buffers that are dead before one buffer is written.
pub(crate) struct DeadBefore<'a> {
    reallocation: &'a Reallocation<'a>,
    is_ancestor: IndexVec<BufferId, bool>,
}

impl DeadBefore<'_> {
    /// Whether all readers of a buffer are done before, so that its memory may be taken.
    pub(crate) fn contains(&self, buffer: BufferId) -> bool {
        let readers = &self.reallocation.children[buffer];
        !readers.is_empty()
            && !self.reallocation.read_by_outputs[buffer]
            && readers.iter().all(|&reader| self.is_ancestor[reader])
    }
}

/// For every buffer, those it may exchange memory with in some direction, in
/// ascending order. O(buffers × (buffers + edges)). It is meant to be printed; planning asks for one buffer at a time.
pub fn reallocation_graph(dependencies: &Dependencies) -> Vec<Vec<BufferId>> {
    let reallocation = Reallocation::new(dependencies);
    let buffers = dependencies.children.ids();
    let mut joined = vec![BTreeSet::new(); dependencies.children.len()];
    for taker in buffers.clone() {
        let dead = reallocation.dead_before(taker);
        for giver in buffers.clone().filter(|&giver| dead.contains(giver)) {
            joined[taker.index()].insert(giver);
            joined[giver.index()].insert(taker);
        }
    }
    joined.into_iter().map(|others| others.into_iter().collect()).collect()
}
