//! Buffers that have no byte in common, whatever their lives and windows:
//! exclusive ones with anybody, must-not-share pairs with each other.
//!
//! Words from other files: a [`Slot`] is the bytes of one slot of a buffer in its *area*, which is a space or a shared
//! object. [`LiveRanges`] finds which ranges of bytes meet a given one. A [`Listing`] takes violations up to a limit
//! and counts the rest; its method `meet` says whether to go on.

use memplan_core::{BufferId, Problem};

use super::layout::{Layout, Slot};
use super::listing::Listing;
use super::live_ranges::{LiveRanges, Span};
use super::together::Companies;
use super::violation::{Kind, Violation, Who};

/// Lists the pairs of which one is exclusive and that have a byte in common, whenever they live. Members of one
/// *company* (held together by ties and must-share pairs) may overlap all the same: their slots of one number are one
/// *party*.
pub(super) fn check_exclusive(problem: &Problem, layout: &Layout, companies: &Companies, out: &mut Vec<Violation>) {
    let slots = layout.slots().iter().filter(|slot| !slot.is_empty());
    let (exclusive, others): (Vec<&Slot>, Vec<&Slot>) =
        slots.partition(|slot| problem.buffers()[slot.buffer].exclusive);
    if exclusive.is_empty() {
        return;
    }
    let spans: Vec<Span> = exclusive.iter().map(|slot| span(slot, companies)).collect();
    let present = LiveRanges::new(&spans);
    let listing = Listing::new(Kind::ExclusiveShared, out);
    let mut sweep = Sweep { problem, layout, exclusive: &exclusive, present, listing };
    // Each exclusive slot is compared with the exclusive slots earlier in the list, so that each pair is reported once.
    // Then all other slots are compared with every exclusive slot. Lifetimes play no part, so no slot is ever removed.
    for (index, slot) in exclusive.iter().enumerate() {
        sweep.meet(slot, &spans[index]);
        sweep.present.insert(index);
    }
    for slot in others {
        sweep.meet(slot, &span(slot, companies));
    }
    sweep.listing.finish();
}

/// The bytes of a slot, and with whom it may share them.
fn span(slot: &Slot, companies: &Companies) -> Span {
    Span { area: slot.area, low: slot.low, high: slot.high, party: companies.party(slot) }
}

/// Exclusive slots, against which others are compared.
struct Sweep<'a> {
    problem: &'a Problem,
    layout: &'a Layout,
    exclusive: &'a [&'a Slot],
    /// The exclusive slots that count so far, by their index.
    present: LiveRanges<'a>,
    listing: Listing<'a>,
}

impl Sweep<'_> {
    /// Lists the exclusive slots that have bytes in common with a slot.
    fn meet(&mut self, slot: &Slot, span: &Span) {
        self.present.for_each_in_the_way(span, |other| {
            let other = self.exclusive[other];
            let (low, high) = slot.common(other).unwrap_or_default();
            self.listing.meet(slot.buffer, other.buffer, |_, _| Violation::ExclusiveShared {
                buffer: Who::new(self.problem, other.buffer),
                other: Who::new(self.problem, slot.buffer),
                place: self.layout.place(self.problem, slot.area, low, high),
            })
        });
    }
}

/// Reports must-not-share pairs that have a byte in common, whenever they live.
pub(super) fn check_pairs(problem: &Problem, layout: &Layout, out: &mut Vec<Violation>) {
    for &(one, other) in problem.must_not_share() {
        if let Some((slot, low, high)) = first_common(layout, one, other) {
            let place = layout.place(problem, slot.area, low, high);
            let (buffer, other) = (Who::new(problem, one), Who::new(problem, other));
            out.push(Violation::MustNotShareBroken { buffer, other, place });
        }
    }
}

/// The first slot of `one` that has bytes in common with one of `other`, with the first of these bytes and one past the
/// last; `None` if the two share no byte.
pub(super) fn first_common(layout: &Layout, one: BufferId, other: BufferId) -> Option<(Slot, u64, u64)> {
    let mut theirs: Vec<&Slot> = layout.slots_of(other).iter().collect();
    theirs.sort_by_key(|slot| slot.low);
    layout.slots_of(one).iter().find_map(|slot| {
        // All slots of `other` are equally large, so of those that start before this slot ends, the last one reaches
        // furthest: if it does not meet this slot, none does.
        let before = theirs.partition_point(|their| their.low < slot.high);
        let their = theirs.get(before.checked_sub(1)?)?;
        slot.common(their).map(|(low, high)| (*slot, low, high))
    })
}
