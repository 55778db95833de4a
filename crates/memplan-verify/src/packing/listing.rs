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

/// A pair may meet many times (buffers with many slots, or many gaps in their lives). After [`LISTED`] times this many
/// meetings nothing more is listed, so that a plan with many meetings of few pairs ends in reasonable time, too.
const MEETINGS_PER_PAIR: usize = 64;

/// The violations of one kind between pairs of buffers.
pub(super) struct Listing<'a> {
    kind: Kind,
    /// Where the violations go.
    out: &'a mut Vec<Violation>,
    /// The pairs that have been listed, the lower number first.
    listed: HashSet<(BufferId, BufferId)>,
    /// How many meetings there have been, of listed pairs and others.
    meetings: usize,
    /// Buffers that were only counted.
    counted: HashSet<BufferId>,
}

impl<'a> Listing<'a> {
    /// An empty list of one kind of violation, which goes to `out`.
    pub(super) fn new(kind: Kind, out: &'a mut Vec<Violation>) -> Listing<'a> {
        Listing { kind, out, listed: HashSet::new(), meetings: 0, counted: HashSet::new() }
    }

    /// Takes note of a pair, and makes the violation if it is a new one and
    /// there is still room. Without room the newcomer of a new pair is only counted. Returns whether the caller
    /// should go on with the meetings of the newcomer: `false` once the list is full, since one meeting is enough to
    /// count it.
    pub(super) fn meet(
        &mut self,
        newcomer: BufferId,
        other: BufferId,
        violation: impl FnOnce(BufferId, BufferId) -> Violation,
    ) -> bool {
        self.meetings += 1;
        let (one, two) = (newcomer.min(other), newcomer.max(other));
        // Slots of one buffer have a rule of their own.
        if one == two || self.listed.contains(&(one, two)) {
            return self.has_room();
        }
        // A new pair: it is listed as long as there is room.
        if self.has_room() {
            self.listed.insert((one, two));
            self.out.push(violation(one, two));
        } else {
            self.counted.insert(newcomer);
        }
        self.has_room()
    }

    /// Whether violations are still listed, and not only counted.
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
