//! A sweep over time that adds up the bytes that are alive.
//!
//! A stretch of a life is two events: its bytes come at its start and go at its end. Added up in the order of time, the
//! events give the live bytes at every step; their maximum is the peak.
//!
//! Which buffers count is said by a `Selection`, which also has the blocks and the overlays that concern them.
//!
//! # Granules and tails
//!
//! If all offsets are multiples of a *granule* g, the bytes from the end of a buffer to the next multiple of g, its
//! *tail*, are of no use to other buffers. So sizes are counted rounded up to g. Only the topmost buffer need not
//! have its tail inside of the extent. It is not known which one that is, so the largest tail of those alive is taken
//! off:
//!
//! ```text
//!   g = 32, sizes 40 and 50: 64 + 64 rounded up, tails 24 and 14    bound 128 - 24 = 104
//!   the best plan: 50 at 0, 40 at 64                                extent 104
//! ```

use std::collections::BTreeMap;

use super::selection::Selection;
use crate::{Buffer, BufferId, Bytes, Problem, SpaceId, Step, Window};

/// The largest sum of live bytes and the first step where it is reached.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Peak {
    /// The sum.
    pub bytes: Bytes,
    /// The step; `None` if the bound does not come from one.
    pub step: Option<Step>,
}

/// A change of the sum at a step. There are two for every stretch of a life, so it is kept small: the
/// bytes of all buffers together are below 2^63.
struct Event {
    step: Step,
    /// By how much the sum changes: positive where a stretch starts, negative where it ends. For an overlay: negative
    /// where the newcomer starts, positive where the victim's stretch ends.
    bytes: i64,
    /// The tail of the buffer that starts or ends.
    tail: u64,
    /// 1 if the buffer with that tail starts, -1 if it ends, 0 for an event without a tail (an overlay).
    tail_count: i8,
}

/// Collected events, ready to be added up.
pub(super) struct Sweep {
    events: Vec<Event>,
    /// Bytes that count at every step: exclusive buffers.
    always: i128,
    /// The largest tail of these.
    always_tail: u64,
}

impl Sweep {
    /// Counts plain bytes: no granules, overlays or exclusive buffers.
    pub(super) fn plain(selection: &Selection) -> Sweep {
        Sweep::collect(selection, 1, false)
    }

    /// Counts what one space needs: in granules, with overlays and exclusive buffers. The granule is what all offsets
    /// are multiples of: the greatest common divisor of the alignments. (`max(1)` is for a selection without
    /// buffers.)
    pub(super) fn refined(selection: &Selection, space: SpaceId) -> Sweep {
        let alignments = selection.buffers.iter().map(|&buffer| selection.problem.alignment_in(buffer, space).0);
        Sweep::collect(selection, alignments.fold(0, greatest_common_divisor).max(1), true)
    }

    /// Counts what all spaces need together, with overlays and exclusive buffers. In each space the topmost buffer
    /// may do without its tail, so tails are not counted at all (granule 1).
    pub(super) fn anywhere(problem: &Problem) -> Sweep {
        Sweep::collect(&Selection::of(problem, |_| true), 1, true)
    }

    /// Collects the events of a sweep. `refined` asks for the sharper bound: exclusive buffers count at every step, and
    /// bytes that overlays let two buffers share count once.
    fn collect(selection: &Selection, granule: u64, refined: bool) -> Sweep {
        let problem = selection.problem;
        // Most lives are one stretch, which is two events.
        let events = Vec::with_capacity(2 * selection.buffers.len());
        let mut sweep = Sweep { events, always: 0, always_tail: 0 };
        for &id in &selection.buffers {
            let buffer = &problem.buffers()[id];
            // Blocks are counted as a whole, below.
            let size = buffer.bytes().filter(|_| problem.blocks().place_of(id).is_none());
            let Some(size) = size else { continue };
            let slots = i128::from(buffer.slots);
            // No other buffer may have bytes of an exclusive buffer, so they count at every step, not only while it
            // lives.
            if refined && buffer.exclusive {
                let whole = Granules::of(Window { low: Bytes::ZERO, high: size }, granule);
                sweep.always += whole.bytes * slots;
                sweep.always_tail = sweep.always_tail.max(whole.tail);
                continue;
            }
            for interval in buffer.lifetime.intervals() {
                let part = Granules::of(interval.bytes(size), granule);
                sweep.count(interval.start, interval.end, part.bytes * slots, part.tail);
            }
        }
        // The members of a block have fixed distances and may overlap, so their union is counted and not
        // their sum.
        for block in &selection.blocks {
            sweep.count_block(problem, block, granule);
        }
        if refined {
            sweep.discount_overlays(selection, granule);
        }
        sweep
    }

    /// Counts bytes, and a tail, in the steps `start..end`.
    fn count(&mut self, start: Step, end: Step, bytes: i128, tail: u64) {
        // All sizes together are below 2^63, so the largest number is never used.
        let bytes = i64::try_from(bytes).unwrap_or(i64::MAX);
        self.events.push(Event { step: start, bytes, tail, tail_count: 1 });
        self.events.push(Event { step: end, bytes: -bytes, tail, tail_count: -1 });
    }

    /// Counts the union of the members' bytes over time. Between two steps at which a member comes or goes, the union
    /// stays the same and is counted as one stretch.
    fn count_block(&mut self, problem: &Problem, block: &crate::Block, granule: u64) {
        // (step, +1 where bytes come or -1 where they go, first byte in the block, one past the last)
        let mut edges: Vec<(Step, i32, u64, u64)> = Vec::new();
        let mut largest_tail = 0;
        for member in &block.members {
            let buffer = &problem.buffers()[member.buffer];
            let Some(size) = buffer.bytes() else { continue };
            for interval in buffer.lifetime.intervals() {
                let part = Granules::of(interval.bytes(size), granule);
                let (low, high) = (member.at.0 + part.low, member.at.0 + part.low + part.bytes as u64);
                largest_tail = largest_tail.max(part.tail);
                edges.push((interval.start, 1, low, high));
                edges.push((interval.end, -1, low, high));
            }
        }
        // All members of a block have the same number of slots.
        let Some(slots) = block.members.first().map(|member| problem.buffers()[member.buffer].slots) else { return };
        let slots = i128::from(slots);
        edges.sort_unstable();
        // The cover answers how many bytes at least one living member holds.
        let mut cover = Cover::new(edges.iter().flat_map(|edge| [edge.2, edge.3]).collect());
        let mut position = 0;
        // All edges of a step are applied before anything is counted: a step has one state.
        while position < edges.len() {
            let step = edges[position].0;
            while position < edges.len() && edges[position].0 == step {
                let (_, change, low, high) = edges[position];
                cover.add(low, high, change);
                position += 1;
            }
            if let Some(next) = edges.get(position) {
                self.count(step, next.0, cover.covered() * slots, largest_tail);
            }
        }
    }

    /// Takes off the bytes that a newcomer may share with its victim. A plan need not use an overlay, but it may, so
    /// the bound must count the common bytes once only.
    fn discount_overlays(&mut self, selection: &Selection, granule: u64) {
        let problem = selection.problem;
        // A pair may be declared twice; its bytes are shared only once. If the newcomer has a choice of spaces, this
        // bound does not count its bytes; but it may be placed in this space and take bytes over, so its overlays do
        // count. If newcomer and victim have no space in common, the overlay is never used.
        let pairs = selection.overlays.iter().map(|overlay| (overlay.buffer, overlay.over));
        let mut pairs: Vec<(BufferId, BufferId)> =
            pairs.filter(|&(buffer, over)| may_meet(&problem.buffers()[buffer], &problem.buffers()[over])).collect();
        pairs.sort_unstable();
        pairs.dedup();
        for (buffer, over) in pairs {
            let [buffer, over] = [buffer, over].map(|id| &problem.buffers()[id]);
            // At most the smaller of the two can be shared.
            let shared = whole(buffer, granule).min(whole(over, granule));
            let shared = i64::try_from(shared).unwrap_or(i64::MAX);
            let lives = [&buffer.lifetime, &over.lifetime];
            let (Some(newcomer), Some(victim)) = (lives[0].start(), lives[1].start()) else { continue };
            // An overlay can only be used if the victim starts first.
            if newcomer <= victim {
                continue;
            }
            // On the shared bytes the victim is dead as soon as the newcomer starts, and it stays dead when the
            // newcomer has ended.
            for interval in lives[1].intervals().filter(|interval| newcomer < interval.end) {
                let start = newcomer.max(interval.start);
                self.events.push(Event { step: start, bytes: -shared, tail: 0, tail_count: 0 });
                self.events.push(Event { step: interval.end, bytes: shared, tail: 0, tail_count: 0 });
            }
        }
    }

    /// The sum after each step at which it changes.
    pub(super) fn profile(mut self) -> Vec<(Step, Bytes)> {
        let mut profile = Vec::new();
        self.run(|step, bytes| profile.push((step, bytes)));
        profile
    }

    /// The largest sum, with the first step at which it is reached. The step is `None` if no event's step reaches the
    /// sum of the exclusive buffers, for instance because no other buffer is ever alive.
    pub(super) fn peak(mut self) -> Peak {
        // What counts at every step is needed even if nothing is ever alive.
        let at_least = Bytes(u64::try_from((self.always - i128::from(self.always_tail)).max(0)).unwrap_or(u64::MAX));
        let mut peak = Peak { bytes: at_least, step: None };
        self.run(|step, bytes| {
            if bytes > peak.bytes || (peak.step.is_none() && bytes == peak.bytes && bytes > Bytes::ZERO) {
                peak = Peak { bytes, step: Some(step) };
            }
        });
        peak
    }

    /// Visits every step at which something changes, with the bytes that count from there on.
    fn run(&mut self, visit: impl FnMut(Step, Bytes)) {
        match self.dense() {
            Some((first, changes)) => self.run_dense(first, &changes, visit),
            None => self.run_sorted(visit),
        }
    }

    /// A table of the changes at each step from the first step on, with `None` for a step without an event. It saves
    /// sorting the events. `None` as a whole if there are no events, if steps lie far apart (the table would be mostly
    /// empty), if events have tails (the largest tail alive has to be known, and a sum does not say that), or if a sum
    /// overflows.
    fn dense(&self) -> Option<(Step, Vec<Option<i64>>)> {
        let first = self.events.iter().map(|event| event.step).min()?;
        let last = self.events.iter().map(|event| event.step).max()?;
        // The table may have up to four entries for each event.
        let span = usize::try_from(last.0 - first.0).ok().filter(|&span| span / 4 <= self.events.len())?;
        if self.events.iter().any(|event| event.tail > 0) {
            return None;
        }
        let mut changes = vec![None; span + 1];
        for event in &self.events {
            let change: &mut Option<i64> = &mut changes[(event.step.0 - first.0) as usize];
            *change = Some(change.unwrap_or(0).checked_add(event.bytes)?);
        }
        Some((first, changes))
    }

    /// Visits every step at which something changes, with the bytes that are alive from there on. `changes[i]` is what
    /// comes or goes at step `first + i`; a table like this is quicker than a sorted list where lives are many and
    /// short.
    fn run_dense(&self, first: Step, changes: &[Option<i64>], mut visit: impl FnMut(Step, Bytes)) {
        let mut sum = self.always;
        for (step, change) in (first.0..).zip(changes) {
            if let Some(change) = change {
                sum += i128::from(*change);
                let bytes = (sum - i128::from(self.always_tail)).max(0);
                visit(Step(step), Bytes(u64::try_from(bytes).unwrap_or(u64::MAX)));
            }
        }
    }

    /// Adds up the events in the order of time. The topmost buffer need not have its tail, so the largest tail alive is
    /// taken off.
    fn run_sorted(&mut self, mut visit: impl FnMut(Step, Bytes)) {
        self.events.sort_unstable_by_key(|event| event.step);
        let mut sum = self.always;
        // How many buffers that are alive have each tail. The last key is the largest tail. The entry of the exclusive
        // buffers is never removed, so there always is a last key.
        let mut tails = BTreeMap::from([(self.always_tail, 1i64)]);
        let mut position = 0;
        while let Some(step) = self.events.get(position).map(|event| event.step) {
            while let Some(event) = self.events.get(position).filter(|event| event.step == step) {
                sum += i128::from(event.bytes);
                if event.tail > 0 && event.tail_count != 0 {
                    let count = tails.entry(event.tail).or_insert(0);
                    *count += i64::from(event.tail_count);
                    if *count == 0 {
                        tails.remove(&event.tail);
                    }
                }
                position += 1;
            }
            let tail = tails.last_key_value().map_or(0, |(&tail, _)| i128::from(tail));
            visit(step, Bytes(u64::try_from((sum - tail).max(0)).unwrap_or(u64::MAX)));
        }
    }
}

/// A range of bytes counted in whole granules, from the first granule that starts in the range.
struct Granules {
    /// The first byte of that granule.
    low: u64,
    /// The bytes from `low` to the end of the range, rounded up to granules.
    bytes: i128,
    /// How many bytes of the last granule are past the end of the range.
    tail: u64,
}

impl Granules {
    /// The granules of a range of bytes.
    fn of(window: Window, granule: u64) -> Granules {
        let low = window.low.0.next_multiple_of(granule);
        // A window that ends before the first granule starts has no whole granule: 0 bytes.
        let used = window.high.0.saturating_sub(low);
        let rounded = used.next_multiple_of(granule);
        Granules { low, bytes: i128::from(rounded), tail: rounded - used }
    }
}

/// By Euclid's algorithm. That of 0 and a number is the number, so that 0 is the start for folding a list.
pub(super) fn greatest_common_divisor(mut a: u64, mut b: u64) -> u64 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

/// How many bytes a changing set of ranges covers: a segment tree whose nodes
/// count the ranges that cover them whole. Node 1 is the root, and node i has the children 2i and 2i + 1.
struct Cover {
    /// All places where a range starts or ends, sorted. A node stands for the bytes between two of them.
    points: Vec<u64>,
    /// For each node: how many ranges cover all of its bytes and are not counted at a node above it.
    count: Vec<i32>,
    /// For each node: how many of its bytes are covered by the ranges that are counted at the node and at nodes below
    /// it.
    covered: Vec<u64>,
}

impl Cover {
    /// Nothing is covered. `points` has the ends of all ranges that will ever be added.
    fn new(mut points: Vec<u64>) -> Cover {
        points.sort_unstable();
        points.dedup();
        // A tree over n ranges whose halves differ by one at most has node numbers below 4n.
        let nodes = 4 * points.len().max(1);
        Cover { points, count: vec![0; nodes], covered: vec![0; nodes] }
    }

    /// Adds the range `low..high` (`change` 1) or takes it away again (-1).
    fn add(&mut self, low: u64, high: u64, change: i32) {
        if low < high {
            let last = self.points.len() - 1;
            self.change(1, 0, last, (low, high), change);
        }
    }

    /// Covers the addresses `low..high` once more or once less, in a tree whose nodes know how many bytes are covered
    /// below them.
    fn change(&mut self, node: usize, left: usize, right: usize, (low, high): (u64, u64), change: i32) {
        let (start, end) = (self.points[left], self.points[right]);
        if high <= start || end <= low {
            return;
        }
        if low <= start && end <= high {
            self.count[node] += change;
        } else {
            let middle = usize::midpoint(left, right);
            self.change(2 * node, left, middle, (low, high), change);
            self.change(2 * node + 1, middle, right, (low, high), change);
        }
        // If a range covers the whole node, all of its bytes are covered. Otherwise the sum of its children counts. A
        // node between two neighbouring points has no children.
        self.covered[node] = if self.count[node] > 0 {
            end - start
        } else if right - left == 1 {
            0
        } else {
            self.covered[2 * node] + self.covered[2 * node + 1]
        };
    }

    /// How many bytes at least one range covers.
    fn covered(&self) -> i128 {
        i128::from(self.covered[1])
    }
}

/// The bytes of all slots of a buffer, in whole granules.
fn whole(buffer: &Buffer, granule: u64) -> i128 {
    let window = Window { low: Bytes::ZERO, high: buffer.bytes().unwrap_or_default() };
    Granules::of(window, granule).bytes * i128::from(buffer.slots)
}

/// Whether there is a space in which both buffers may lie.
fn may_meet(one: &Buffer, other: &Buffer) -> bool {
    one.spaces.iter().any(|space| other.spaces.contains(space))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dense_steps_need_no_sorting_and_give_the_same() {
        let mut random = memplan_testkit::Random::new(1);
        let mut below = |limit: u64| random.below(limit);
        for _ in 0..50 {
            let mut sweep = Sweep { events: Vec::new(), always: i128::from(below(3)) * 8, always_tail: below(4) };
            for _ in 0..20 {
                let start = 1000 + below(60);
                sweep.count(Step(start), Step(start + 1 + below(9)), i128::from(below(100)), 0);
            }
            let (mut dense, mut sorted) = (Vec::new(), Vec::new());
            let (first, changes) = sweep.dense().unwrap();
            sweep.run_dense(first, &changes, |step, bytes| dense.push((step, bytes)));
            sweep.run_sorted(|step, bytes| sorted.push((step, bytes)));
            assert_eq!(dense, sorted);
        }
    }

    #[test]
    fn cover_counts_the_union() {
        let mut cover = Cover::new(vec![0, 10, 5, 20, 30, 40]);
        cover.add(0, 10, 1);
        cover.add(5, 20, 1);
        cover.add(30, 40, 1);
        assert_eq!(cover.covered(), 30);
        cover.add(0, 10, -1);
        assert_eq!(cover.covered(), 25);
    }
}
