//! The sweep: are two buffers alive on the same bytes at the same time?
//!
//! Every slot makes one rectangle of time and bytes for each stretch of its
//! life (several where overlays cut parts of it short). A line sweeps over time; the
//! rectangles that it crosses are present in [`LiveRanges`]. When it reaches a
//! rectangle's start it asks which of them are in the way there:
//!
//! ```text
//!  address          : sweep line at step 4
//!    |   +----------:--+
//!    |   | a        :  |       present: a, b
//!    |   +----------:--+
//!    |              +------+
//!    |     +--------|-+ c  |   c starts here, and b is in the way
//!    |     | b      +-|----+
//!    |     +--------:-+
//!    +--------------4-------------> step
//! ```
//!
//! Two rectangles that overlap are found when the later one starts, so the
//! step reported is the first at which both are alive.
//!
//! An *area* is what addresses are counted in: a space or a shared object. A *party* are slots that may overlap,
//! because ties or must-share pairs hold their buffers together; overlaps within a party are no violation.
//!
//! Words from other files: a [`Layout`] has the slots of all placed buffers; a [`Span`] is a range of bytes of an area
//! with its party; [`Overlays`] knows which bytes of a buffer another one takes over and when (`remainders`); a
//! [`Listing`] takes violations up to a limit and counts the rest.

use std::collections::BTreeMap;

use memplan_core::patience::{self, Patience};
use memplan_core::{BufferId, Problem, Step};

use super::layout::{Area, Layout, Slot};
use super::listing::Listing;
use super::live_ranges::{LiveRanges, Span};
use super::overlay::Overlays;
use super::together::Companies;
use super::violation::{Kind, Violation, Who};

/// Rectangles of time and bytes. Rectangle i is at index i of each list; the bytes are a list of their own because the
/// tree wants them so.
#[derive(Default)]
struct Rectangles {
    /// The bytes, and the *party* of the slot: ranges of one party may overlap, because their buffers are tied.
    bytes: Vec<Span>,
    /// The first step, and one past the last.
    times: Vec<(u64, u64)>,
    /// Whose rectangle it is.
    buffers: Vec<BufferId>,
}

/// Lists the pairs that are alive on the same bytes at the same time.
pub(super) fn check(
    problem: &Problem,
    layout: &Layout,
    companies: &Companies,
    overlays: &Overlays,
    out: &mut Vec<Violation>,
) {
    let rectangles = Rectangles::new(problem, layout, companies, overlays);
    let mut listing = Listing::new(Kind::Overlap, out);
    // The listing says whether to go on with the newcomer's other overlaps: not any more when it is full.
    rectangles.sweep(|newcomer, present| {
        let (one, other) = (&rectangles.bytes[newcomer], &rectangles.bytes[present]);
        let place = || layout.place(problem, one.area, one.low.max(other.low), one.high.min(other.high));
        let step = Step(rectangles.times[newcomer].0);
        listing.meet(rectangles.buffers[newcomer], rectangles.buffers[present], |one, two| Violation::Overlap {
            buffer: Who::new(problem, one),
            other: Who::new(problem, two),
            step,
            place: place(),
        })
    });
    listing.finish();
}

impl Rectangles {
    /// The rectangles of all slots.
    fn new(problem: &Problem, layout: &Layout, companies: &Companies, overlays: &Overlays) -> Rectangles {
        let mut rectangles = Rectangles::default();
        for slot in layout.slots().iter().filter(|slot| !slot.is_empty()) {
            let party = companies.party(slot);
            let remainders = overlays.remainders(problem, layout, slot);
            for interval in problem.buffers()[slot.buffer].lifetime.intervals() {
                // A shared object is used as a whole, so windows inside it do not matter.
                let (low, high) = match interval.window {
                    Some(window) if !layout.is_object(slot.area) => (slot.low + window.low.0, slot.low + window.high.0),
                    _ => (slot.low, slot.high),
                };
                let (start, end) = (interval.start.0, interval.end.0);
                let bytes = Span { area: slot.area, low, high, party };
                let Some(parts) = &remainders else {
                    rectangles.push(slot, bytes, (start, end));
                    continue;
                };
                // Where another buffer is laid over parts of this one, each part ends at the step at which it is taken
                // over.
                for part in parts {
                    let bytes = Span { low: low.max(part.low), high: high.min(part.high), ..bytes };
                    rectangles.push(slot, bytes, (start, end.min(part.death)));
                }
            }
        }
        rectangles
    }

    /// Adds a rectangle, unless it is empty and so in nobody's way.
    fn push(&mut self, slot: &Slot, bytes: Span, times: (u64, u64)) {
        if bytes.low >= bytes.high || times.0 >= times.1 {
            return;
        }
        self.bytes.push(bytes);
        self.times.push(times);
        self.buffers.push(slot.buffer);
    }

    /// Calls `meet(newcomer, present)` for every overlap of rectangles of different parties; when it returns
    /// false, the newcomer's other overlaps are passed over.
    fn sweep(&self, mut meet: impl FnMut(usize, usize) -> bool) {
        let starts = self.by(|&(start, _)| start);
        if self.are_disjoint(&starts) {
            return;
        }
        let ends = self.by(|&(_, end)| end);
        let mut present = LiveRanges::new(&self.bytes);
        let mut ending = ends.into_iter().peekable();
        for (now, newcomer) in starts {
            if patience::is_over() {
                return;
            }
            // Rectangles that end at this step or before are over. Touching is not overlapping.
            while let Some((_, over)) = ending.next_if(|&(end, _)| end <= now) {
                present.remove(over as usize);
            }
            present.for_each_in_the_way(&self.bytes[newcomer as usize], |other| meet(newcomer as usize, other));
            present.insert(newcomer as usize);
        }
    }

    /// The rectangles in the order of their start or their end, each with that step.
    fn by(&self, time: fn(&(u64, u64)) -> u64) -> Vec<(u64, u32)> {
        let mut order: Vec<(u64, u32)> = self.times.iter().map(time).zip(0..).collect();
        order.sort_unstable();
        order
    }

    /// Whether no two rectangles overlap, parties not considered. This quick test comes first, because in most valid
    /// plans not even tied buffers overlap, and then nothing else has to be asked. `starts` has the rectangles in the
    /// order of their first steps.
    fn are_disjoint(&self, starts: &[(u64, u32)]) -> bool {
        if starts.len() < HALVED { self.can_start(starts, Taken::new()) } else { self.can_start_in_halves(starts) }
    }

    /// The same with two threads. The rectangles are cut into those that start early and those that start late, and the
    /// second thread looks at the late ones. It begins with the bytes of the early ones that are still alive then; if
    /// two of these overlap, the first thread finds out. So every pair is seen by the thread that has its later one.
    fn can_start_in_halves(&self, starts: &[(u64, u32)]) -> bool {
        let (early, late) = starts.split_at(starts.len() / 2);
        let lives_on = |&&(_, rectangle): &&(u64, u32)| {
            late.first().is_some_and(|first| self.times[rectangle as usize].1 > first.0)
        };
        let patience = Patience::current();
        std::thread::scope(|scope| {
            let other = scope.spawn(move || {
                let _current = patience.as_ref().map(Patience::enter);
                let present = early.iter().filter(lives_on).map(|&(_, rectangle)| self.entry(rectangle));
                self.can_start(late, present.collect())
            });
            let can_start = self.can_start(early, Taken::new());
            can_start & other.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        })
    }

    /// Whether the bytes of each rectangle are free when it starts; `taken` says which ones are not at the beginning.
    /// If the patience ends, it stops, and the answer means nothing.
    ///
    /// A range stays in the map after the step at which its last owner ends, until a newcomer needs its bytes. So the
    /// ends of rectangles need not be sorted, and the map stays small. When a newcomer takes a part of a range whose
    /// owner has ended, the whole range is removed, since all of it is free.
    fn can_start(&self, starts: &[(u64, u32)], mut taken: Taken) -> bool {
        starts.iter().take_while(|_| !patience::is_over()).all(|&(now, newcomer)| {
            let ((area, low), (high, end)) = self.entry(newcomer);
            // The ranges that begin below the newcomer's end, from the highest downwards, as far as they reach above
            // its start.
            while let Some((&place, last)) = taken.range_mut(..(area, high)).next_back() {
                if place.0 != area || last.0 <= low {
                    break;
                }
                // The newcomer needs bytes of this range. It may have them if the last owner has ended.
                if last.1 > now {
                    return false;
                }
                // A range that begins where the newcomer does becomes the newcomer's, which saves a removal and an
                // insertion. Ranges in the map are disjoint, so none that begins further below reaches up to here.
                if place.1 == low {
                    *last = (high, end);
                    return true;
                }
                taken.remove(&place);
            }
            taken.insert((area, low), (high, end));
            true
        })
    }

    /// A rectangle as an entry of the map.
    fn entry(&self, rectangle: u32) -> ((Area, u64), (u64, u64)) {
        let Span { area, low, high, .. } = self.bytes[rectangle as usize];
        ((area, low), (high, self.times[rectangle as usize].1))
    }
}

/// Ranges of bytes, by area and first byte: where they end, and the step at which their last owner does.
type Taken = BTreeMap<(Area, u64), (u64, u64)>;

/// If there are at least this many rectangles, a second thread is started. With fewer, starting the thread costs more
/// than it saves.
const HALVED: usize = 50_000;

#[cfg(test)]
mod tests {
    use super::*;
    use memplan_core::Id;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn one_thread_two_threads_and_all_pairs_agree(
            // Few areas, bytes and steps, so that about half of the lists have an overlap.
            list in prop::collection::vec((0u32..3, (0u64..40, 1u64..6), (0u64..60, 1u64..20)), 0..14),
        ) {
            let mut rectangles = Rectangles::default();
            for &(area, (low, size), (start, steps)) in &list {
                rectangles.bytes.push(Span { area: Area::from_number(area), low, high: low + size, party: 0 });
                rectangles.times.push((start, start + steps));
                rectangles.buffers.push(BufferId::from_index(0));
            }
            let meet = |one: usize, other: usize| {
                let (a, b) = (&list[one], &list[other]);
                let cross = |a: (u64, u64), b: (u64, u64)| a.0 < b.0 + b.1 && b.0 < a.0 + a.1;
                a.0 == b.0 && cross(a.1, b.1) && cross(a.2, b.2)
            };
            let is_free = !(0..list.len()).any(|one| (0..one).any(|other| meet(one, other)));
            let starts = rectangles.by(|&(start, _)| start);
            prop_assert_eq!(rectangles.can_start(&starts, Taken::new()), is_free);
            prop_assert_eq!(rectangles.can_start_in_halves(&starts), is_free);
        }
    }
}
