//! Buffers that belong together: tie groups and must-share pairs.
//!
//! The two relations compose. Whatever is connected through them makes one
//! *company*; its members lie at fixed distances and may overlap each other,
//! slot 0 with slot 0, slot 1 with slot 1, and so on. The slots of one number in one company are a *party*.
//! Most buffers are a company of one.
//!
//! ```text
//!   a and b are tied, b must share with c: a, b, c are one company. With 2 slots each it has 2 parties:
//!   {a0, b0, c0} and {a1, b1, c1}. a0 may overlap b0, and not b1.
//! ```
//!
//! A [`Layout`] has the slots of all placed buffers; a [`Slot`] is the bytes of one slot, with its number from 0.

use memplan_core::{BufferId, Bytes, Id, ObjectId, Placement, Plan, Problem, SpaceId};

use super::layout::{Layout, Slot, placement};
use super::violation::{Violation, Who};

/// Reports tied buffers that are not at their distances, and must-share pairs that do not start at the same place.
/// Pairs of which one has no place are passed over: that has been reported.
pub(super) fn check(problem: &Problem, plan: &Plan, out: &mut Vec<Violation>) {
    check_ties(problem, plan, out);
    for &(one, other) in problem.must_share() {
        if let (Some(first), Some(second)) = (placement(plan, one), placement(plan, other))
            && !in_step(first, second, 0)
        {
            let (buffer, other) = (Who::new(problem, one), Who::new(problem, other));
            out.push(Violation::MustShareBroken { buffer, other });
        }
    }
}

/// Compares every member of a tie group with the first one of the group that has a place. `tie.at` is where a member
/// lies in its group, so two members must be as far apart as these numbers are.
fn check_ties(problem: &Problem, plan: &Plan, out: &mut Vec<Violation>) {
    let mut first_of = vec![None; problem.groups().len()];
    for (id, buffer) in problem.buffers().iter_enumerated() {
        let (Some(tie), Some(member)) = (buffer.tie(), placement(plan, id)) else { continue };
        let (first, at, model): (BufferId, Bytes, &Placement) =
            *first_of[tie.group.index()].get_or_insert((id, tie.at, member));
        if !in_step(model, member, i128::from(tie.at.0) - i128::from(at.0)) {
            let group = problem.groups()[tie.group].clone();
            let (buffer, other) = (Who::new(problem, first), Who::new(problem, id));
            out.push(Violation::TieBroken { buffer, other, group });
        }
    }
}

/// Whether all slots of `second` are `distance` bytes after those of `first`, in the same space or object.
fn in_step(first: &Placement, second: &Placement, distance: i128) -> bool {
    let at_distance = |(one, other): (&Bytes, &Bytes)| i128::from(other.0) - i128::from(one.0) == distance;
    home(first) == home(second)
        && first.offsets.len() == second.offsets.len()
        && first.offsets.iter().zip(&second.offsets).all(at_distance)
}

/// What a placement's offsets count from: a space, or an object in it.
pub(super) fn home(placement: &Placement) -> (Option<ObjectId>, SpaceId) {
    (placement.object, placement.space)
}

/// The companies of a problem: buffers that may overlap each other, because a tie or a must-share holds them together.
pub(super) struct Companies {
    /// For each buffer, the member with the smallest number in its company. It stands for the company. Empty if there
    /// are no relations at all, so that every buffer stands for itself.
    representative: Vec<u32>,
    /// Number of members of the company, at the index of its representative. Empty if there are no relations at all.
    members: Vec<u32>,
    /// The number of the company's first party, at the index of its representative. The parties of its further slots
    /// have the numbers that follow.
    first_party: Vec<u32>,
}

/// Slots that may overlap each other: the slots of one number in one company.
pub(super) type Party = u32;

impl Companies {
    /// Finds the companies and numbers the parties: the slots that may overlap each other.
    pub(super) fn new(problem: &Problem, layout: &Layout) -> Companies {
        if problem.groups().is_empty() && problem.must_share().is_empty() {
            let first_party = numbered(problem.buffers().ids().map(|id| slot_count(layout, id)));
            return Companies { representative: Vec::new(), members: Vec::new(), first_party };
        }
        let count = problem.buffers().len();
        // `representative` is a union-find: each buffer points to another one of its company, and the last of that
        // chain stands for the company.
        let mut representative: Vec<u32> = (0..count as u32).collect();
        let mut first_of = vec![None; problem.groups().len()];
        for (id, buffer) in problem.buffers().iter_enumerated() {
            if let Some(tie) = buffer.tie() {
                let first = *first_of[tie.group.index()].get_or_insert(id);
                join(&mut representative, first, id);
            }
        }
        for &(one, other) in problem.must_share() {
            join(&mut representative, one, other);
        }
        let mut members = vec![0; count];
        let mut widest = vec![0; count];
        // Now every buffer points directly at its representative, and each company knows its number of members and
        // its largest number of slots.
        for id in problem.buffers().ids() {
            let company = find(&mut representative, id.index() as u32);
            representative[id.index()] = company;
            members[company as usize] += 1;
            widest[company as usize] = slot_count(layout, id).max(widest[company as usize]);
        }
        Companies { representative, members, first_party: numbered(widest.into_iter()) }
    }

    /// The company of a buffer, by the member that stands for it.
    pub(super) fn company(&self, buffer: BufferId) -> u32 {
        self.representative.get(buffer.index()).copied().unwrap_or(buffer.index() as u32)
    }

    /// Whether a buffer is the only member of its company.
    pub(super) fn is_alone(&self, buffer: BufferId) -> bool {
        self.members.is_empty() || self.members[self.company(buffer) as usize] == 1
    }

    /// The party of a slot: it may overlap the other slots of this party.
    pub(super) fn party(&self, slot: &Slot) -> Party {
        self.first_party[self.company(slot.buffer) as usize] + slot.number
    }
}

/// How many slots a buffer has in the plan: one more than the largest number of a slot; 0 if it has no place.
fn slot_count(layout: &Layout, buffer: BufferId) -> u32 {
    layout.slots_of(buffer).iter().map(|slot| slot.number + 1).max().unwrap_or(0)
}

/// The first party of each company, given its number of slots. A company gets one party for each of its slots, numbered
/// one after another: slots 2, 1, 3 give the first parties 0, 2, 3.
fn numbered(slots: impl Iterator<Item = u32>) -> Vec<Party> {
    let number = |next: &mut u32, slots: u32| {
        *next += slots;
        Some(*next - slots)
    };
    slots.scan(0, number).collect()
}

/// The element that stands for the company of an element. On the way each second element is made to point one step
/// further, which keeps the chains short.
fn find(representative: &mut [u32], mut element: u32) -> u32 {
    while representative[element as usize] != element {
        let next = representative[representative[element as usize] as usize];
        representative[element as usize] = next;
        element = next;
    }
    element
}

/// Makes the companies of two buffers one. The smaller representative stands for both.
fn join(representative: &mut [u32], one: BufferId, other: BufferId) {
    let one = find(representative, one.index() as u32);
    let other = find(representative, other.index() as u32);
    representative[one.max(other) as usize] = one.min(other);
}
