//! The flat instance every search works on: one space, time cut into sections,
//! bytes counted in granules.
//!
//! A [`Slab`] is something that occupies the bytes from its offset upwards, up
//! to a height that may change over time. Three reductions make an
//! [`Instance`] of a list of slabs, none of which loses a solution:
//!
//! - *Sections*. Only the largest sets of slabs alive together matter. A new
//!   section starts where a start follows an end; in between, sets only grow or
//!   only shrink, and the largest of them stands for all.
//!
//! ```text
//!   step     0   1   2   3   4   5
//!   a        #########                starts: 0 1 3   ends: 2 3 5
//!   b            ########             sections: [0, 3) {a, b}
//!   c                    ########               [3, 5) {c}
//! ```
//!
//! - *Granules*. If every offset is a multiple of A, a height may be rounded up
//!   to A: what lies above starts at a multiple of A anyway. Only the topmost
//!   slab keeps its unused tail outside the extent, so each item remembers its
//!   tail. Then everything is divided by the greatest common divisor of what is
//!   left.
//! - *Apart*. Slabs that must not share although they never meet get a section
//!   of their own, in which only they are alive.

use std::collections::BTreeMap;

use memplan_core::Bytes;

use crate::tuning::{MOST_DIVE_WIDTHS, WIDTHS_PER_COMPARISON, WIDTHS_PER_UNIT};

/// Sums of sizes and offsets stay below this, so that searching needs no checks.
const HIGHEST: u128 = 1 << 60;

/// A stretch of time with the bytes in use, counted from the slab's offset.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Stretch {
    pub(crate) start: u64,
    pub(crate) end: u64,
    pub(crate) height: u64,
}

/// Something to place, in steps and bytes.
#[derive(Clone, Debug)]
pub(crate) struct Slab {
    /// Sorted and disjoint, heights above 0.
    pub(crate) stretches: Vec<Stretch>,
    /// What the extent must cover, whatever is alive.
    pub(crate) size: u64,
    pub(crate) alignment: u64,
    pub(crate) fixed: Option<u64>,
}

/// Consecutive sections in which an item has one height (in granules).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Span {
    pub(crate) lo: u32,
    pub(crate) hi: u32,
    pub(crate) height: u64,
}

/// A slab in sections and granules.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Item {
    first_span: u32,
    span_count: u32,
    /// First section and one past the last.
    pub(crate) lo: u32,
    pub(crate) hi: u32,
    /// Greatest height.
    pub(crate) height: u64,
    /// In granules; 1 if granules are aligned enough.
    pub(crate) alignment: u64,
    pub(crate) fixed: Option<u64>,
    /// True size in bytes: what counts at the top.
    pub(crate) size: u64,
}

/// Slabs of one space, reduced. See the module documentation.
#[derive(Clone, Debug)]
pub(crate) struct Instance {
    pub(crate) items: Vec<Item>,
    spans: Vec<Span>,
    pub(crate) sections: usize,
    /// Bytes per granule.
    pub(crate) granule: u64,
    /// Most bytes by which an item's height is above its size.
    largest_tail: u64,
}

impl Instance {
    /// Reduces slabs; the members of each group in `apart` never share, whatever
    /// their lives. `None` if numbers are so large that sums could wrap.
    pub(crate) fn new(slabs: &[Slab], apart: &[Vec<u32>]) -> Option<Instance> {
        let common = slabs.iter().map(|slab| slab.alignment).fold(0, gcd).max(1);
        // If all slabs lay on top of each other, with alignment gaps, this is where the last one would end.
        let padded = slabs.iter().flat_map(|slab| [slab.size, slab.alignment, common]);
        let fixed = slabs.iter().filter_map(|slab| slab.fixed).max().unwrap_or(0);
        if padded.chain([fixed]).map(u128::from).sum::<u128>() > HIGHEST {
            return None;
        }
        let granule = granule_of(slabs, common);
        let mut spans_of = Sections::new(slabs).spans(slabs);
        let mut sections = spans_of.iter().flatten().map(|span| span.hi).max().unwrap_or(0);
        // A section of its own keeps the members of a group apart, whatever their lives.
        for group in apart {
            for &slab in group {
                let height = slabs[slab as usize].size;
                spans_of[slab as usize].push(Span { lo: sections, hi: sections + 1, height });
            }
            sections += 1;
        }
        let mut instance = Instance {
            items: Vec::with_capacity(slabs.len()),
            spans: Vec::with_capacity(slabs.len()),
            sections: sections as usize,
            granule,
            largest_tail: 0,
        };
        for (slab, mut spans) in slabs.iter().zip(spans_of) {
            spans.iter_mut().for_each(|span| span.height = span.height.next_multiple_of(common));
            instance.add(slab, &spans);
        }
        Some(instance)
    }

    /// Adds a slab with its sections. Their heights are rounded up to whole granules; what an item does not use of its
    /// last granule is its tail.
    fn add(&mut self, slab: &Slab, spans: &[Span]) {
        let granule = self.granule;
        debug_assert!(spans.iter().all(|span| span.height % granule == 0), "every height is a number of granules");
        let first_span = self.spans.len() as u32;
        self.spans.extend(spans.iter().map(|span| Span { height: span.height / granule, ..*span }));
        let mine = &self.spans[first_span as usize..];
        debug_assert!(
            mine.windows(2).all(|pair| pair[0].hi <= pair[1].lo) && mine.iter().all(|span| span.lo < span.hi),
            "the sections of an item are in order and none is empty"
        );
        let item = Item {
            first_span,
            span_count: mine.len() as u32,
            lo: mine.first().map_or(0, |span| span.lo),
            hi: mine.last().map_or(0, |span| span.hi),
            height: mine.iter().map(|span| span.height).max().unwrap_or(0),
            alignment: slab.alignment / gcd(slab.alignment, granule),
            fixed: slab.fixed.map(|offset| offset / granule),
            size: slab.size,
        };
        // Only an item whose height is above its size has a tail.
        self.largest_tail = self.largest_tail.max((item.height * granule).saturating_sub(slab.size));
        self.items.push(item);
    }

    /// Some of the items alone, in the same sections.
    pub(crate) fn subset(&self, items: &[u32]) -> Instance {
        let mut subset = Instance { items: Vec::with_capacity(items.len()), spans: Vec::new(), ..*self };
        for &item in items {
            let first_span = subset.spans.len() as u32;
            subset.spans.extend_from_slice(self.spans(item as usize));
            subset.items.push(Item { first_span, ..self.items[item as usize] });
        }
        subset
    }

    /// The sections of an item.
    pub(crate) fn spans(&self, item: usize) -> &[Span] {
        let item = &self.items[item];
        &self.spans[item.first_span as usize..(item.first_span + item.span_count) as usize]
    }

    /// The highest offset (in granules) at which an item still ends within `capacity` bytes.
    pub(crate) fn highest_start(&self, item: usize, capacity: Bytes) -> Option<u64> {
        Some(capacity.0.checked_sub(self.items[item].size)? / self.granule)
    }

    /// No stack of items is higher than this (in granules) if all end within `capacity` bytes.
    pub(crate) fn highest_top(&self, capacity: Bytes) -> u64 {
        (capacity.0 + self.largest_tail) / self.granule
    }

    /// Bytes needed by items at these offsets (in granules).
    pub(crate) fn extent(&self, offsets: &[u64]) -> Bytes {
        let end = |(item, offset): (&Item, &u64)| offset * self.granule + item.size;
        Bytes(self.items.iter().zip(offsets).map(end).max().unwrap_or(0))
    }

    /// Whether heights, and the numbers of items, stay below `room` for extents up to `highest` bytes.
    pub(crate) fn has_room(&self, room: u64, highest: Bytes) -> bool {
        let is_low = |item: &Item| item.height.max(item.alignment).max(item.fixed.unwrap_or(0)) < room;
        self.highest_top(highest) < room && (self.items.len() as u64) < room && self.items.iter().all(is_low)
    }

    /// No plan needs fewer bytes: the largest load less the largest tail.
    pub(crate) fn lower_bound(&self) -> Bytes {
        let load = self.loads().into_iter().max().unwrap_or(0);
        let ends = self.items.iter().map(|item| item.fixed.unwrap_or(0) * self.granule + item.size);
        Bytes((load * self.granule).saturating_sub(self.largest_tail).max(ends.max().unwrap_or(0)))
    }

    /// Whether a dive of the exact search takes a fraction of a second. For every item it looks at all widths, and
    /// it compares each item that has a fixed offset with all others.
    pub(crate) fn is_tractable(&self) -> bool {
        let items = self.items.len() as u64;
        let fixed = self.items.iter().filter(|item| item.fixed.is_some()).count() as u64;
        let node = self.widths().saturating_add(fixed.saturating_mul(items).saturating_mul(WIDTHS_PER_COMPARISON));
        node.saturating_mul(items) < MOST_DIVE_WIDTHS
    }

    /// Units of work that a node of the exact search takes.
    pub(crate) fn node_cost(&self) -> u64 {
        1 + self.widths() / WIDTHS_PER_UNIT
    }

    fn widths(&self) -> u64 {
        self.spans.iter().map(|span| u64::from(span.hi - span.lo)).sum()
    }

    /// Bytes that are enough for any order of placement.
    pub(crate) fn enough(&self) -> Bytes {
        let padded = |item: &Item| (item.height + item.alignment) * self.granule;
        let fixed = self.items.iter().filter_map(|item| item.fixed).max().unwrap_or(0);
        Bytes(self.items.iter().map(padded).sum::<u64>() + fixed * self.granule + self.largest_tail)
    }

    /// The smallest extent above `extent` that is not obviously impossible.
    pub(crate) fn next_extent(&self, extent: Bytes) -> Bytes {
        let next = extent.0 + 1;
        Bytes(if self.largest_tail == 0 { next.next_multiple_of(self.granule) } else { next })
    }

    /// A number per item, the same for those that can be swapped where one lies
    /// directly on the other: one span, the same for both, and nothing else to heed.
    pub(crate) fn stacks(&self) -> Vec<u32> {
        let is_plain = |item: &Item| {
            item.span_count == 1
                && item.alignment == 1
                && item.fixed.is_none()
                && item.height * self.granule == item.size
        };
        self.classes(|item| is_plain(item).then_some((item.lo, item.hi)))
    }

    /// A number per item, the same for those that do not differ at all.
    pub(crate) fn twins(&self) -> Vec<u32> {
        let is_plain = |item: &Item| item.span_count == 1 && item.fixed.is_none();
        self.classes(|item| is_plain(item).then_some((item.lo, item.hi, item.height, item.alignment, item.size)))
    }

    /// Numbers items by a key: each one's is that of the first with the same key, its own if it has none.
    fn classes<K: Ord>(&self, key: impl Fn(&Item) -> Option<K>) -> Vec<u32> {
        let mut first = BTreeMap::new();
        let class = |(number, item): (usize, &Item)| match key(item) {
            Some(key) => *first.entry(key).or_insert(number as u32),
            None => number as u32,
        };
        self.items.iter().enumerate().map(class).collect()
    }

    /// Sum of heights alive in each section.
    pub(crate) fn loads(&self) -> Vec<u64> {
        let mut loads = vec![0; self.sections];
        for span in &self.spans {
            for load in &mut loads[span.lo as usize..span.hi as usize] {
                *load += span.height;
            }
        }
        loads
    }
}

/// The largest number that divides all heights, fixed offsets and alignments
/// that it does not imply.
fn granule_of(slabs: &[Slab], common: u64) -> u64 {
    let heights = slabs.iter().flat_map(|slab| &slab.stretches).map(|stretch| stretch.height);
    let sizes = slabs.iter().map(|slab| slab.size);
    let rounded = heights.chain(sizes).map(|height| height.next_multiple_of(common));
    let mut granule = rounded.chain(slabs.iter().filter_map(|slab| slab.fixed)).fold(0, gcd).max(1);
    while let Some(slab) = slabs.iter().find(|slab| granule % slab.alignment != 0 && slab.alignment % granule != 0) {
        granule = gcd(granule, slab.alignment);
    }
    granule
}

/// Where sections start, as steps.
struct Sections {
    starts: Vec<u64>,
}

impl Sections {
    /// Where sections start. A section begins with the first start after an end: until then sets of live slabs only
    /// grow, and the last of them contains all the others.
    fn new(slabs: &[Slab]) -> Sections {
        let stretches = || slabs.iter().flat_map(|slab| &slab.stretches);
        let mut begins: Vec<u64> = stretches().map(|stretch| stretch.start).collect();
        let mut ends: Vec<u64> = stretches().map(|stretch| stretch.end).collect();
        begins.sort_unstable();
        ends.sort_unstable();
        let mut starts = Vec::new();
        let mut ended = 0;
        for begin in begins {
            let mut new_section = starts.is_empty();
            while ends[ended] <= begin {
                ended += 1;
                new_section = true;
            }
            if new_section {
                starts.push(begin);
            }
        }
        Sections { starts }
    }

    /// The sections of each slab. A stretch covers the section it starts in (a
    /// section lasts until the next one starts) and all that start in it.
    fn spans(&self, slabs: &[Slab]) -> Vec<Vec<Span>> {
        let span = |stretch: &Stretch| Span {
            lo: self.starts.partition_point(|&start| start <= stretch.start) as u32 - 1,
            hi: self.starts.partition_point(|&start| start < stretch.end) as u32,
            height: stretch.height,
        };
        slabs.iter().map(|slab| merge(slab.stretches.iter().map(span))).collect()
    }
}

/// Joins neighbouring spans of one height. Two stretches may fall into one
/// section only if one of them ends before the other starts, which starts a section.
fn merge(spans: impl Iterator<Item = Span>) -> Vec<Span> {
    let mut merged: Vec<Span> = Vec::with_capacity(1);
    for span in spans {
        match merged.last_mut() {
            Some(last) if last.hi == span.lo && last.height == span.height => last.hi = span.hi,
            _ => merged.push(span),
        }
    }
    merged
}

pub(crate) fn gcd(mut a: u64, mut b: u64) -> u64 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

#[cfg(test)]
mod tests {
    use super::*;

    /// So many slabs that are all alive for one step, the first of them at fixed offsets.
    fn instance(count: usize, fixed: usize) -> Instance {
        let slab = |number: usize| Slab {
            stretches: vec![Stretch { start: 0, end: 1, height: 1 }],
            size: 1,
            alignment: 1,
            fixed: (number < fixed).then_some(number as u64),
        };
        Instance::new(&(0..count).map(slab).collect::<Vec<_>>(), &[]).unwrap()
    }

    /// A node compares each fixed item with all others, however narrow they are: with thousands of them a dive takes
    /// minutes although few widths are looked at.
    #[test]
    fn many_fixed_items_are_too_much_for_a_dive() {
        assert!(instance(3000, 0).is_tractable());
        assert!(instance(300, 200).is_tractable());
        assert!(!instance(3000, 2000).is_tractable());
    }
}
