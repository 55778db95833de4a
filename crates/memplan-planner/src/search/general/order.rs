//! Which buffers may follow each other on the same bytes, pair by pair, if the order of execution is not fixed.
//!
//! The same question as in [`crate::happens_before`], with two additions: pairs that must not share, and whether two
//! buffers are ordered *if* one is computed in place of the other. The *children* of a buffer are the buffers that
//! are computed from it, so they are its readers.

use std::collections::HashSet;

use memplan_core::{BufferId, Dependencies, Id, Problem};

use crate::happens_before::Ordering;
use crate::piece::Pieces;

/// See the module documentation.
pub(super) struct Orders<'a> {
    /// Pairs that must not share, in both directions.
    apart: HashSet<(BufferId, BufferId)>,
    /// `None` if the order of execution is fixed: then lives say which buffers may share.
    ordering: Option<&'a Ordering>,
    /// `None` if the order of execution is fixed.
    dependencies: Option<&'a Dependencies>,
}

impl<'a> Orders<'a> {
    /// What the problem of these pieces says about pairs of buffers.
    pub(super) fn of(pieces: &'a Pieces) -> Orders<'a> {
        let problem: &'a Problem = pieces.problem();
        let both = |&(one, other): &(BufferId, BufferId)| [(one, other), (other, one)];
        Orders {
            apart: problem.must_not_share().iter().flat_map(both).collect(),
            ordering: pieces.ordering(),
            dependencies: problem.dependencies(),
        }
    }

    /// Whether the problem says that two buffers must not share.
    pub(super) fn must_not_share(&self, one: BufferId, other: BufferId) -> bool {
        self.apart.contains(&(one, other))
    }

    /// Whether, in every order of execution, one of the two buffers is no longer needed when the other one starts.
    /// `true` also if the order of execution is fixed: then this rule does not apply.
    pub(super) fn is_ordered(&self, one: BufferId, other: BufferId) -> bool {
        self.ordering.is_none_or(|ordering| ordering.is_ordered(one, other))
    }

    /// Whether all readers of `over` are done when `buffer` is written, where `buffer` itself may be the last reader:
    /// every child of `over` is `buffer` or something that `buffer` is computed from. `true` also if the order of
    /// execution is fixed: then this rule does not apply.
    pub(super) fn is_ordered_in_place(&self, over: BufferId, buffer: BufferId) -> bool {
        let Some(dependencies) = self.dependencies else { return true };
        // An output of the program may read `over` at any later time.
        if dependencies.read_by_outputs.contains(&over) {
            return false;
        }
        let ancestors = ancestors(dependencies, buffer);
        // A buffer that nothing reads is not known to be done at any time.
        let children = &dependencies.children[over];
        !children.is_empty() && children.iter().all(|child| *child == buffer || ancestors[child.index()])
    }
}

/// By buffer: whether `buffer` is computed from it, directly or through others.
fn ancestors(dependencies: &Dependencies, buffer: BufferId) -> Vec<bool> {
    // The lists of children turned round, then a walk from the buffer to everything that can be reached upwards.
    let count = dependencies.children.len();
    let mut parents: Vec<Vec<BufferId>> = vec![Vec::new(); count];
    for (parent, children) in dependencies.children.iter_enumerated() {
        children.iter().for_each(|child| parents[child.index()].push(parent));
    }
    let mut is_ancestor = vec![false; count];
    let mut open = vec![buffer];
    while let Some(next) = open.pop() {
        for parent in &parents[next.index()] {
            if !std::mem::replace(&mut is_ancestor[parent.index()], true) {
                open.push(*parent);
            }
        }
    }
    is_ancestor
}
