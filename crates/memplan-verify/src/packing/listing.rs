//! A bounded list of violations between pairs of buffers.
//!
//! A plan with everything at offset 0 breaks the rules for nearly every pair of
//! buffers: listing them all helps nobody and may take for ever. So up to
//! [`LISTED`] pairs of a kind are listed; from then on it is only counted how
//! many more buffers meet another one, which takes one look for each.

use std::collections::HashSet;

use memplan_core::BufferId;

use super::violation::{Kind, Violation};

/// How many violations of one kind between pairs of buffers are listed.
pub const LISTED: usize = 1000;

/// Every meeting beyond this many per listed pair is one of a pair that is
/// listed already (buffers with many slots, or many gaps in their lives).
const MEETINGS_PER_PAIR: usize = 64;

pub(super) struct Listing<'a> {
    kind: Kind,
    out: &'a mut Vec<Violation>,
    listed: HashSet<(BufferId, BufferId)>,
    meetings: usize,
    /// Buffers that were only counted.
    counted: HashSet<BufferId>,
}

impl<'a> Listing<'a> {
    pub(super) fn new(kind: Kind, out: &'a mut Vec<Violation>) -> Listing<'a> {
        Listing { kind, out, listed: HashSet::new(), meetings: 0, counted: HashSet::new() }
    }

    /// Takes note of a pair, and makes the violation if it is a new one and
    /// there is still room. Returns whether the caller should go on with the
    /// meetings of the newcomer.
    pub(super) fn meet(
        &mut self,
        newcomer: BufferId,
        other: BufferId,
        violation: impl FnOnce(BufferId, BufferId) -> Violation,
    ) -> bool {
        self.meetings += 1;
        let (one, two) = (newcomer.min(other), newcomer.max(other));
        if one == two || self.listed.contains(&(one, two)) {
            return self.has_room();
        }
        if self.has_room() {
            self.listed.insert((one, two));
            self.out.push(violation(one, two));
        } else {
            self.counted.insert(newcomer);
        }
        self.has_room()
    }

    fn has_room(&self) -> bool {
        self.listed.len() < LISTED && self.meetings < LISTED * MEETINGS_PER_PAIR
    }

    /// Says how much was not listed.
    pub(super) fn finish(self) {
        if !self.counted.is_empty() {
            self.out.push(Violation::More { kind: self.kind, buffers: self.counted.len() });
        }
    }
}
