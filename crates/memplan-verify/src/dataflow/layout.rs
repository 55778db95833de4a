//! Where the plan puts every slot of every site, on one line of addresses.
//!
//! All spaces (and shared objects) are laid end to end on one line, so that
//! "overlaps" is one comparison and separate memories never do. A site that
//! was hoisted out of parallel loops lies at `start + Σ index × step`, one term
//! for each loop crossed; within one iteration the indices are unknown but the
//! same for everybody.
//!
//! *Hoisted* means that one memory holds the bytes of all iterations of a loop, a *slice* for each, and the site
//! *crosses* the loop: it is allocated inside and its memory lies outside. With slices of 32 bytes and 3 iterations:
//!
//! ```text
//!   address   0      16     32     48     64     80     96
//!   %a        [it. 0]       [it. 1]       [it. 2]            start 0,  size 16, step 32
//!   %b               [it. 0]       [it. 1]       [it. 2]     start 16, size 16, step 32
//! ```
//!
//! The addresses from the first slice to the end of the last one, 0..80 for `%a`, are the *hull* of the place.

use std::collections::BTreeMap;
use std::ops::Range;

use memplan_core::{Bytes, Id, IndexVec, ObjectId, Placement, SpaceId};
use memplan_program::{Control, Op, OpId, Program, SiteId};
use smallvec::SmallVec;

use super::ranges::{self, intersection};
use super::{SitePlanView, Violation};

/// Stands for a distance in bytes or a number of iterations that is not known. It is larger than any sum of addresses
/// and sizes (each below 2^63), and small enough that sums of several of them fit `i128`.
const UNBOUNDED: i128 = 1 << 80;

/// A slot of a site at its address.
#[derive(Clone, Debug)]
pub(super) struct Place {
    pub(super) site: SiteId,
    pub(super) slot: u32,
    /// Address in iteration 0 of every crossed loop.
    pub(super) start: i128,
    pub(super) size: u64,
    /// Crossed parallel loops, innermost first. Hardly any place has one, and there may be a million places.
    pub(super) terms: Box<[Term]>,
}

/// How far a parallel loop's index moves a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Term {
    /// The parallel loop.
    pub(super) op: OpId,
    /// Bytes from the slice of one iteration to that of the next.
    pub(super) step: i128,
    /// How many iterations it has; `None` if that is not known.
    pub(super) trips: Option<u64>,
}

impl Term {
    /// The distance in bytes from the slice of the first iteration to that of the last.
    fn span(&self) -> i128 {
        match self.trips {
            _ if self.step == 0 => 0,
            Some(trips) => self.step * (i128::from(trips) - 1).max(0),
            None => UNBOUNDED,
        }
    }
}

impl Place {
    /// How far the index of a parallel loop moves it, if it crosses that loop.
    fn term(&self, parallel: OpId) -> Option<Term> {
        self.terms.iter().find(|term| term.op == parallel).copied()
    }

    /// One past the last address that any iteration uses.
    #[inline]
    pub(super) fn hull_end(&self) -> i128 {
        let end = self.start + i128::from(self.size);
        // Hardly any place has terms.
        if self.terms.is_empty() { end } else { end + self.terms.iter().map(Term::span).sum::<i128>() }
    }

    pub(super) fn crosses(&self, parallel: OpId) -> bool {
        self.terms.iter().any(|term| term.op == parallel)
    }
}

/// All places, and where to find them.
#[derive(Debug, Default)]
pub(super) struct Layout {
    pub(super) places: Vec<Place>,
    /// The places of a site, one per slot; empty if the plan does not place it.
    of_site: IndexVec<SiteId, Range<u32>>,
    /// Sites that nobody has to follow: they count as not placed, see `sharing`.
    left_out: IndexVec<SiteId, bool>,
    /// The scope op that owns a site's memory, if one does.
    owner: IndexVec<SiteId, Option<OpId>>,
}

impl Layout {
    /// The places of all sites. Mistakes that concern the plan alone (foreign scopes, misalignment, too few slots) are
    /// reported here.
    pub(super) fn new(program: &Program, plan: &SitePlanView<'_>, violations: &mut Vec<Violation>) -> Layout {
        let mut layout = Layout::default();
        let sites = program.sites().len();
        layout.of_site.reserve(sites);
        layout.owner.reserve(sites);
        layout.places.reserve(sites);
        // For each place the memory it lies in: a space, or one shared object of a space.
        let mut memories = Vec::with_capacity(sites);
        let parallels = nearest_parallels(program);
        // A block and a scope around it. Sites of one block mostly follow each other, so what is around the block is not
        // looked at again for each of them.
        let mut seen_inside = None;
        for (site, info) in program.sites().iter_enumerated() {
            let first = layout.places.len();
            let placement = plan.placements.get(site).and_then(Option::as_ref);
            let mut owner = placement.and_then(|p| plan.owners.get(&p.space)).copied();
            // Memory that belongs to a scope exists only while that scope runs, so a site allocated elsewhere must not
            // lie in it. After the report the site is treated as if the memory belonged to nobody.
            if let Some(scope) = owner {
                let block = program.alloc_op(site).map(|alloc| (program.op(alloc).block, scope));
                let was_seen = block.is_some() && seen_inside == block;
                if was_seen || is_inside(program, site, scope) {
                    seen_inside = block;
                } else {
                    violations.push(Violation::ForeignScope { site, scope });
                    owner = None;
                }
            }
            if let Some(placement) = placement {
                // A size without an upper bound is taken as 2^62 bytes. Such a site overlaps everything at higher
                // addresses of its memory, which is what may happen.
                let size = info.size.upper_bound().map_or(1 << 62, |bytes| bytes.0);
                let terms = crossed(program, &parallels, site, owner, &placement.strides);
                for (slot, offset) in placement.offsets.iter().enumerate() {
                    memories.push((placement.space, placement.object));
                    let start = i128::from(offset.0);
                    let terms = Box::from(terms.as_slice());
                    layout.places.push(Place { site, slot: slot as u32, start, size, terms });
                }
                if let Some(distance) = misaligned(info.alignment, placement, &terms) {
                    violations.push(Violation::Misaligned { site, distance });
                }
                if placement.offsets.len() < info.slots as usize {
                    violations.push(Violation::TooFewSlots { site, offsets: placement.offsets.len() });
                }
            }
            layout.of_site.push(place_number(first)..place_number(layout.places.len()));
            layout.owner.push(owner);
            layout.report_overlapping_slots(site, violations);
        }
        // Places of different sites can only be compared when all memories lie on one line.
        layout.lay_end_to_end(&memories);
        layout.report_shared_exclusives(program, violations);
        layout
    }

    /// Reports places of exclusive sites on which another site lies, too. A sweep over addresses remembers, of the
    /// places that start before the current one, the two sites that reach furthest. At least one of these is another
    /// site than the current place's, so the two tell whether any other site reaches into the place. Of two places that
    /// overlap, the one that starts later finds the other.
    fn report_shared_exclusives(&self, program: &Program, violations: &mut Vec<Violation>) {
        let exclusive = |place: &Place| program.site(place.site).exclusive;
        if !self.places.iter().any(exclusive) {
            return;
        }
        let mut order: Vec<&Place> = self.places.iter().filter(|place| place.size > 0).collect();
        order.sort_by_key(|place| (place.start, place.site));
        let (mut anybody, mut exclusives) = (Furthest::default(), Furthest::default());
        for place in order {
            // An exclusive place must overlap nobody, any other place nobody who is exclusive.
            let before = if exclusive(place) { &anybody } else { &exclusives };
            if let Some(other) = before.into(place) {
                // The violation names the exclusive site first.
                let swap = !exclusive(place);
                let sites = if swap { (other, place.site) } else { (place.site, other) };
                violations.push(Violation::ExclusiveShared { sites });
            }
            anybody.add(place);
            if exclusive(place) {
                exclusives.add(place);
            }
        }
    }

    /// Shifts the places of each memory above those of the memories before it in the list: memories that end at 100, 50
    /// and 30 get the bases 0, 100 and 150.
    fn lay_end_to_end(&mut self, memories: &[(SpaceId, Option<ObjectId>)]) {
        // Without shared objects the memories are spaces, and a table with the end of each space needs no search. The
        // numbers of spaces are small, unless somebody has left many of them out.
        let last = memories.iter().map(|(space, _)| space.index()).max().unwrap_or(0);
        if last <= 2 * memories.len() && memories.iter().all(|(_, object)| object.is_none()) {
            let mut ends = vec![0; last + 1];
            for (place, (space, _)) in self.places.iter().zip(memories) {
                let end: &mut i128 = &mut ends[space.index()];
                *end = (*end).max(place.hull_end());
            }
            ends_to_bases(ends.iter_mut());
            for (place, (space, _)) in self.places.iter_mut().zip(memories) {
                place.start += ends[space.index()];
            }
            return;
        }
        let mut ends: BTreeMap<(SpaceId, Option<ObjectId>), i128> = BTreeMap::new();
        for (place, memory) in self.places.iter().zip(memories) {
            let end = ends.entry(*memory).or_default();
            *end = (*end).max(place.hull_end());
        }
        ends_to_bases(ends.values_mut());
        for (place, memory) in self.places.iter_mut().zip(memories) {
            place.start += ends[memory];
        }
    }

    /// Reports slots of one site that share bytes. In the order of their starts it is enough to compare neighbours,
    /// since all slots have the same size.
    fn report_overlapping_slots(&self, site: SiteId, violations: &mut Vec<Violation>) {
        let places = &self.places[self.all_places_of(site)];
        // Nearly all sites have one slot.
        if places.len() < 2 {
            return;
        }
        let mut slots: Vec<&Place> = places.iter().collect();
        slots.sort_by_key(|place| place.start);
        for pair in slots.windows(2) {
            if pair[0].start + i128::from(pair[0].size) > pair[1].start && pair[0].size > 0 {
                violations.push(Violation::SlotsOverlap { site, slots: (pair[0].slot, pair[1].slot) });
            }
        }
    }

    /// Leaves out all sites but those that are followed.
    pub(super) fn follow_only(&mut self, followed: &IndexVec<SiteId, bool>) {
        self.left_out = followed.iter().map(|followed| !followed).collect();
    }

    pub(super) fn is_placed(&self, site: SiteId) -> bool {
        !self.places_of(site).is_empty()
    }

    /// How many slots a site has in the plan; 0 if it is not placed or left out.
    pub(super) fn slots(&self, site: SiteId) -> usize {
        self.places_of(site).len()
    }

    /// The places of a site, as indices into [`Layout::places`]; none if it is left out.
    pub(super) fn places_of(&self, site: SiteId) -> Range<usize> {
        match self.left_out.get(site) {
            Some(true) => 0..0,
            _ => self.all_places_of(site),
        }
    }

    /// The places of a site, left out or not.
    pub(super) fn all_places_of(&self, site: SiteId) -> Range<usize> {
        let Range { start, end } = self.of_site[site];
        start as usize..end as usize
    }

    /// Whether each instance of `scope` has its own copy of the site's memory.
    pub(super) fn is_private_to(&self, program: &Program, site: SiteId, scope: OpId) -> bool {
        let Some(owner) = self.owner[site] else { return false };
        owner == scope || program.ancestors(owner).any(|op| op == scope)
    }

    /// Address of place `a` minus address of place `b`; `None` if it is not the same in every iteration.
    pub(super) fn distance(&self, a: usize, b: usize) -> Option<i128> {
        let (low, high) = difference(&self.places[a], &self.places[b], None);
        (low == high).then_some(low)
    }

    /// Which bytes of place `b` the bytes `range` of place `a` may hit within
    /// one iteration of all loops around both; `None` if they hit none. With `a` at address 0 and `b` at address 4, the
    /// bytes 0..8 of `a` hit the bytes 0..4 of `b`.
    pub(super) fn hit(&self, a: usize, range: ranges::Range, b: usize) -> Option<ranges::Range> {
        let (a, b) = (&self.places[a], &self.places[b]);
        let (low, high) = difference(a, b, None);
        let whole = (0, b.size);
        if low == high {
            // Byte x of `a` is byte x + low of `b`. What lies before the start of `b` is cut off (`max(0)`).
            let shift = |x: u64| u64::try_from((i128::from(x) + low).max(0)).unwrap_or(u64::MAX);
            return intersection((shift(range.0), shift(range.1)), whole);
        }
        // The distance differs between iterations. If the range meets `b` in any of them, it may hit any byte.
        let meets = i128::from(range.0) + low < i128::from(b.size) && i128::from(range.1) + high > 0;
        (meets && range.0 < range.1 && b.size > 0).then_some(whole)
    }
}

/// The index of a place in four bytes. A place has 48 bytes, so 2^32 of them fit no machine.
fn place_number(index: usize) -> u32 {
    u32::try_from(index).expect("fewer than 2^32 places")
}

/// Replaces the end of each memory by its base: the sum of the ends before it.
fn ends_to_bases<'a>(ends: impl Iterator<Item = &'a mut i128>) {
    let mut base = 0;
    for end in ends {
        base += std::mem::replace(end, base);
    }
}

/// The two sites that reach furthest, the first of them furthest of all.
#[derive(Default)]
struct Furthest {
    ends: [Option<(i128, SiteId)>; 2],
}

impl Furthest {
    /// Takes in a place. Of the two remembered sites and the place's, the two that reach furthest stay; a site is not
    /// counted twice.
    fn add(&mut self, place: &Place) {
        let mut all: Vec<(i128, SiteId)> = self.ends.iter().flatten().copied().collect();
        all.push((place.hull_end(), place.site));
        all.sort_by_key(|&(end, _)| std::cmp::Reverse(end));
        let first = all.first().copied();
        let second = all.iter().copied().find(|&(_, site)| first.is_some_and(|first| first.1 != site));
        self.ends = [first, second];
    }

    /// Another site that reaches into a place, that is beyond its start.
    fn into(&self, place: &Place) -> Option<SiteId> {
        let reaches = |&&(end, site): &&(i128, SiteId)| end > place.start && site != place.site;
        self.ends.iter().flatten().find(reaches).map(|&(_, site)| site)
    }
}

/// An offset or a distance between iterations that is no multiple of the alignment; `None` if all are multiples.
fn misaligned(alignment: Bytes, placement: &Placement, terms: &[Term]) -> Option<Bytes> {
    // Nearly every site has one offset and no terms.
    if let ([offset], []) = (placement.offsets.as_slice(), terms) {
        return (!offset.is_aligned_to(alignment)).then_some(*offset);
    }
    // A loop that runs at most once never moves the place, so its step does not matter.
    let moves = |term: &&Term| term.trips.is_none_or(|trips| trips > 1);
    let steps = terms.iter().filter(moves).filter_map(|term| u64::try_from(term.step).ok()).map(Bytes);
    placement.offsets.iter().copied().chain(steps).find(|distance| !distance.is_aligned_to(alignment))
}

/// The least and greatest value of `address of a - address of b`.
///
/// Loops that both places cross are in the same iteration on both sides, so an index i adds i × (step of a - step of
/// b): nothing, if the steps are equal. A loop that only one of them crosses may be in any iteration.
///
/// With `apart_in`, the two are in different iterations of that loop: its own term is left out (the caller adds it),
/// and loops inside it run independently on either side. Terms are listed innermost first, so the loops inside it are
/// those that stand before it in the list.
fn difference(a: &Place, b: &Place, apart_in: Option<OpId>) -> (i128, i128) {
    let mut bounds = Bounds { low: a.start - b.start, high: a.start - b.start };
    // Where `apart_in` stands in the lists of terms.
    let [inside_a, inside_b] =
        [a, b].map(|place| apart_in.and_then(|op| place.terms.iter().position(|term| term.op == op)));
    for (index, term) in a.terms.iter().enumerate() {
        // `free`: inside of `apart_in`, so that the index of the other side may be another one.
        let free = inside_a.is_some_and(|limit| index < limit);
        let same = b.terms.iter().find(|other| other.op == term.op && !free);
        if Some(term.op) != apart_in {
            bounds.add(term.step - same.map_or(0, |other| other.step), term.trips);
        }
    }
    // Loops that both cross have been counted with `a`, unless they run independently.
    for (index, term) in b.terms.iter().enumerate() {
        let free = inside_b.is_some_and(|limit| index < limit);
        if Some(term.op) != apart_in && (free || !a.crosses(term.op)) {
            bounds.add(-term.step, term.trips);
        }
    }
    (bounds.low, bounds.high)
}

/// The least and the greatest value of a difference of two addresses.
struct Bounds {
    low: i128,
    high: i128,
}

impl Bounds {
    /// An index that goes from 0 up to its last value moves the difference by 0 to its span, in the direction of `step`.
    fn add(&mut self, step: i128, trips: Option<u64>) {
        let span = Term { op: OpId::from_index(0), step: step.abs(), trips }.span();
        if step < 0 { self.low -= span } else { self.high += span }
    }
}

/// Whether a site is allocated inside an op.
fn is_inside(program: &Program, site: SiteId, scope: OpId) -> bool {
    program.alloc_op(site).is_some_and(|alloc| program.ancestors(alloc).any(|op| op == scope))
}

/// The number of iterations of a parallel op over all of its dimensions; `None` if it is not known, does not fit into
/// 64 bits, or the op is no parallel op. One dimension without iterations makes it 0, whatever the others are.
pub(super) fn iterations(op: &Op) -> Option<u64> {
    let Control::Parallel { trips } = op.control() else { return None };
    if trips.contains(&Some(0)) {
        return Some(0);
    }
    trips.iter().try_fold(1u64, |product, trip| product.checked_mul((*trip)?))
}

/// The parallel loops around a site's alloc, up to the op that owns its memory, with how far one iteration of each
/// moves the site: by its stride or, if there are no more strides, by the step of the next inner loop times its
/// iterations. Two nested loops of 4 iterations each and the only stride 32 give the steps 32 and 128. Innermost
/// first.
fn crossed(
    program: &Program,
    parallels: &IndexVec<OpId, Option<OpId>>,
    site: SiteId,
    owner: Option<OpId>,
    strides: &[Bytes],
) -> SmallVec<[Term; 1]> {
    let Some(alloc) = program.alloc_op(site) else { return SmallVec::new() };
    let mut strides = strides.iter().map(|stride| i128::from(stride.0));
    // The step of the loop at hand, unless a stride says otherwise; `None` if it is not known. Without any stride the
    // site has one address in all iterations.
    let mut step = Some(0);
    let mut terms = SmallVec::new();
    let outwards = |op: OpId| parallels.get(op).copied().flatten();
    let around = std::iter::successors(outwards(alloc), |&op| outwards(op));
    // Ids are in program order: a loop around the owner comes before it.
    for op in around.take_while(|&op| owner.is_none_or(|owner| op > owner)) {
        let trips = iterations(program.op(op));
        step = strides.next().or(step);
        let reach = step.zip(trips).and_then(|(step, trips)| step.checked_mul(i128::from(trips)));
        let reach = reach.filter(|&reach| reach < UNBOUNDED);
        // `reach` is the bytes that all iterations of this loop take, which is the step of the next outer loop.
        // Around a loop of unknown length the step is not known, and no memory is as long as a loop that reaches
        // beyond `UNBOUNDED`. In both cases step 0 makes the iterations overlap, which is reported. A loop of unknown
        // length keeps a known step of its own.
        let is_known = reach.is_some() || trips.is_none();
        terms.push(Term { op, step: step.filter(|_| is_known).unwrap_or(0), trips });
        step = reach;
    }
    terms
}

/// The innermost parallel op around each op; an empty list if the program has no parallel op. Parents come first, so
/// their answer is there when it is needed.
fn nearest_parallels(program: &Program) -> IndexVec<OpId, Option<OpId>> {
    let mut nearest: IndexVec<OpId, Option<OpId>> = IndexVec::new();
    let is_parallel = |op: &Op| matches!(op.control(), Control::Parallel { .. });
    if !program.ops().iter().any(is_parallel) {
        return nearest;
    }
    for op in program.ops().ids() {
        let parent = program.parent(op);
        nearest.push(parent.filter(|&op| is_parallel(program.op(op))).or_else(|| nearest[parent?]));
    }
    nearest
}

/// Whether the slices of two hoisted places can share a byte in two different iterations of `parallel`: that of `a` in
/// iteration i, that of `b` in iteration j. If the steps differ and the loop has more than `limit` iterations, they are
/// not looked at one by one, and the answer is yes if the hulls overlap. Both places cross `parallel`, so both have its
/// number of iterations; if one does not cross it, the answer is no.
pub(super) fn iterations_meet(a: &Place, b: &Place, parallel: OpId, limit: u64) -> bool {
    let (Some(ta), Some(tb)) = (a.term(parallel), b.term(parallel)) else { return false };
    // The largest index; with one iteration there is no other one to meet.
    let last = ta.trips.map_or(UNBOUNDED, |trips| i128::from(trips) - 1);
    if last <= 0 || a.size == 0 || b.size == 0 {
        return false;
    }
    // With d the difference of the two addresses in iterations i = j = 0, the slices meet if
    // -size(a) < i*step(a) - j*step(b) + d < size(b). As d may be anything in low..=high, they may meet if
    // above < i*step(a) - j*step(b) < below.
    let (low, high) = difference(a, b, Some(parallel));
    let (above, below) = (-i128::from(a.size) - high, i128::from(b.size) - low);
    // Equal steps: only k = i - j matters, and k is not 0 in different iterations.
    if ta.step == tb.step {
        return multiple_between(ta.step, above, below, last);
    }
    // Different steps: i*step(a) - j*step(b) lies between -span(b) and span(a). If that is all on one side, the two
    // never meet. Otherwise try every i and ask whether some j fits.
    let of_b = Term { trips: ta.trips, ..tb };
    if ta.span() <= above || -of_b.span() >= below {
        return false;
    }
    let Some(trips) = ta.trips.filter(|&trips| trips <= limit) else { return true };
    (0..trips).map(i128::from).any(|i| {
        // above < i*sa - j*sb < below, that is i*sa - below < j*sb < i*sa - above
        (0..=last).contains(&i) && some_other_j(tb.step, i * ta.step - below, i * ta.step - above, i, last)
    })
}

/// Whether some k other than 0, from -last to last, has `above < k * step < below`. Steps are not negative.
fn multiple_between(step: i128, above: i128, below: i128, last: i128) -> bool {
    if step == 0 {
        return above < 0 && 0 < below;
    }
    // The least k with k * step > above (the quotient rounded down, plus 1) and the greatest with k * step < below (the
    // quotient rounded up, minus 1). 0 alone does not count.
    let first = above.div_euclid(step) + 1;
    let final_ = -((-below).div_euclid(step)) - 1;
    let (first, final_) = (first.max(-last), final_.min(last));
    first <= final_ && !(first == 0 && final_ == 0)
}

/// Whether some j != i in 0..=last has `above < j * step < below`. Steps are not negative.
fn some_other_j(step: i128, above: i128, below: i128, i: i128, last: i128) -> bool {
    if step == 0 {
        return above < 0 && 0 < below;
    }
    // The least j with j * step > above (the quotient rounded down, plus 1) and the greatest with j * step < below (the
    // quotient rounded up, minus 1). i alone does not count.
    let first = (above.div_euclid(step) + 1).max(0);
    let final_ = (-((-below).div_euclid(step)) - 1).min(last);
    first <= final_ && !(first == i && final_ == i)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(start: i128, size: u64, step: i128, trips: Option<u64>) -> Place {
        let op = OpId::from_index(0);
        let terms = Box::new([Term { op, step, trips }]);
        Place { site: SiteId::from_index(0), slot: 0, start, size, terms }
    }

    fn meet(a: &Place, b: &Place) -> bool {
        iterations_meet(a, b, OpId::from_index(0), 1 << 16)
    }

    #[test]
    fn slices_of_different_iterations_agree_with_enumeration() {
        for trips in 0..5u64 {
            for (sa, sb) in [(0, 0), (4, 4), (8, 8), (4, 8), (8, 4), (3, 5), (0, 4), (16, 32)] {
                for start in -20..20 {
                    for (za, zb) in [(1, 1), (4, 4), (4, 9), (16, 32)] {
                        let (a, b) = (place(start, za, sa, Some(trips)), place(0, zb, sb, Some(trips)));
                        let truth = (0..trips as i128).any(|i| {
                            (0..trips as i128).any(|j| {
                                let (x, y) = (start + i * sa, j * sb);
                                i != j && x < y + i128::from(zb) && y < x + i128::from(za)
                            })
                        });
                        assert_eq!(meet(&a, &b), truth, "{trips} {sa} {sb} {start} {za} {zb}");
                    }
                }
            }
        }
    }

    #[test]
    fn unknown_trip_counts_need_frames() {
        // Two buffers in one frame of 32 bytes per iteration: apart for any number.
        let (a, b) = (place(0, 16, 32, None), place(16, 16, 32, None));
        assert!(!meet(&a, &b) && !meet(&b, &a) && !meet(&a, &a));
        // Strides 16 and 32 from two bases: they meet sooner or later.
        assert!(meet(&place(0, 16, 16, None), &place(4096, 16, 32, None)));
        assert!(meet(&place(0, 16, 0, None), &place(0, 16, 0, None)), "not hoisted at all");
    }
}
