//! The flat instance every search works on: one space, time cut into sections,
//! bytes counted in granules.
//!
//! A [`Slab`] is something that occupies the bytes from its offset upwards, up to a height that may change over time.
//! An [`Instance`] has an [`Item`] for each slab of a list. Three reductions make it, none of which loses a solution:
//!
//! - *Sections*. Only the largest sets of slabs alive together matter. Time is cut where a start follows an end. Within
//!   a section the set of live slabs first only grows and then only shrinks, and the largest set stands for all.
//!
//! ```text
//!   step     0   1   2   3   4   5
//!   a        #########                starts: 0 1 3   ends: 2 3 5
//!   b            ########             sections: [0, 3) {a, b}
//!   c                    ########               [3, 5) {c}
//! ```
//!
//! - *Granules*. Let A be the greatest common divisor of all alignments. Every offset is a multiple of A, so a height
//!   may be rounded up to A: what lies above starts at a multiple of A anyway. The bytes that are added are the item's
//!   *tail*. An item with no other on top may leave its tail outside of the extent, so each item also remembers its
//!   true size. Then everything is divided by the greatest common divisor of what is left, the *granule*:
//!
//! ```text
//!   alignments 32 and 64: A = 32. Sizes 40 and 96 become heights 64 and 96; the first has a tail of 24 bytes.
//!   The granule is 32 bytes, the heights are 2 and 3 granules, and the alignments 1 and 2.
//! ```
//!
//! - *Apart*. Slabs that must not share although they never meet get a section
//!   of their own, in which only they are alive.

use std::collections::BTreeMap;

use memplan_core::Bytes;

use crate::tuning::{
    ITEM_WIDTHS, MOST_DIVE_WIDTHS, NODE_WIDTHS, SECTION_WIDTHS, WIDTHS_PER_COMPARISON, WIDTHS_PER_UNIT,
};

/// Sums of sizes and offsets stay below this, so that the searches need not check for overflow.
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
    /// Bytes from its offset that the extent must cover, even if no stretch is as high.
    pub(crate) size: u64,
    /// Its offset is a multiple of this many bytes.
    pub(crate) alignment: u64,
    /// The offset (in bytes) that it must have, if there is one.
    pub(crate) fixed: Option<u64>,
}

/// Consecutive sections `lo..hi` in which an item has one height (in granules).
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
    /// In granules; 1 if every whole number of granules is aligned enough.
    pub(crate) alignment: u64,
    /// The offset (in granules) that it must have, if there is one.
    pub(crate) fixed: Option<u64>,
    /// True size in bytes, without the tail: what the extent must cover.
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
    /// The largest tail of all items in bytes: by how much an item's height is above its size.
    largest_tail: u64,
    /// Whether every item at an offset in granules ends at a whole number of granules, too.
    ends_on_granules: bool,
}

impl Instance {
    /// Reduces slabs. The members of each group in `apart` (lists of positions in `slabs`) never share bytes, whenever
    /// they are alive. `None` if numbers are so large that sums could wrap.
    pub(crate) fn new(slabs: &[Slab], apart: &[Vec<u32>]) -> Option<Instance> {
        // `common` is the A of the module documentation; 1 if there are no slabs.
        let common = slabs.iter().map(|slab| slab.alignment).fold(0, gcd).max(1);
        // The sum of all sizes, alignment gaps and the highest fixed offset: with all slabs on top of each other no
        // slab would end higher.
        let padded = slabs.iter().flat_map(|slab| [slab.size, slab.alignment, common]);
        let fixed = slabs.iter().filter_map(|slab| slab.fixed).max().unwrap_or(0);
        if padded.chain([fixed]).map(u128::from).sum::<u128>() > HIGHEST {
            return None;
        }
        let granule = granule_of(slabs, common);
        let mut spans_of = Sections::new(slabs).spans(slabs);
        let mut sections = spans_of.iter().flatten().map(|span| span.hi).max().unwrap_or(0);
        // One more section for each group, after all others in time. In it only the members are alive, with their whole
        // sizes.
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
            ends_on_granules: true,
        };
        for (slab, mut spans) in slabs.iter().zip(spans_of) {
            spans.iter_mut().for_each(|span| span.height = span.height.next_multiple_of(common));
            instance.add(slab, &spans);
        }
        Some(instance)
    }

    /// Adds the item of a slab. `spans` are its sections with heights in bytes, which the caller has rounded up to
    /// whole granules.
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
        // An alignment that divides the granule is kept by every offset in granules and becomes 1; any other one is a
        // whole number of granules (`granule_of`).
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
        // An item without a tail may end between two granules all the same: if only a part of the slab is ever alive,
        // the height is that of the part, and the extent must cover the rest, too.
        self.ends_on_granules &= slab.size.is_multiple_of(granule);
        self.items.push(item);
    }

    /// An instance of some of the items alone, in the same sections: item `n` is the item `items[n]` of this one.
    pub(crate) fn subset(&self, items: &[u32]) -> Instance {
        let mut subset = Instance { items: Vec::with_capacity(items.len()), spans: Vec::new(), ..*self };
        for &item in items {
            let first_span = subset.spans.len() as u32;
            subset.spans.extend_from_slice(self.spans(item as usize));
            subset.items.push(Item { first_span, ..self.items[item as usize] });
        }
        subset
    }

    /// The spans of an item: its sections with its heights in them.
    pub(crate) fn spans(&self, item: usize) -> &[Span] {
        let item = &self.items[item];
        &self.spans[item.first_span as usize..(item.first_span + item.span_count) as usize]
    }

    /// The highest offset (in granules) at which an item still ends within `capacity` bytes; `None` if the item is
    /// larger than `capacity`.
    pub(crate) fn highest_start(&self, item: usize, capacity: Bytes) -> Option<u64> {
        Some(capacity.0.checked_sub(self.items[item].size)? / self.granule)
    }

    /// No stack of items is higher than this (in granules) if all end within `capacity` bytes. The tail of the topmost
    /// item may be outside of the capacity, so the largest tail is added.
    pub(crate) fn highest_top(&self, capacity: Bytes) -> u64 {
        (capacity.0 + self.largest_tail) / self.granule
    }

    /// Bytes needed by items at these offsets (in granules).
    pub(crate) fn extent(&self, offsets: &[u64]) -> Bytes {
        let end = |(item, offset): (&Item, &u64)| offset * self.granule + item.size;
        Bytes(self.items.iter().zip(offsets).map(end).max().unwrap_or(0))
    }

    /// Whether all numbers of a search for extents up to `highest` bytes are below `room`: heights, alignments,
    /// offsets and the numbers of items. If so, the search can use a small type of numbers
    /// ([`Height`](super::state::Height)).
    pub(crate) fn has_room(&self, room: u64, highest: Bytes) -> bool {
        let is_low = |item: &Item| item.height.max(item.alignment).max(item.fixed.unwrap_or(0)) < room;
        self.highest_top(highest) < room && (self.items.len() as u64) < room && self.items.iter().all(is_low)
    }

    /// No plan needs fewer bytes than this: the largest load without the largest tail (which may stick out), and no
    /// fewer than up to the end of each item at its fixed offset or at 0.
    pub(crate) fn lower_bound(&self) -> Bytes {
        let load = self.loads().into_iter().max().unwrap_or(0);
        let ends = self.items.iter().map(|item| item.fixed.unwrap_or(0) * self.granule + item.size);
        Bytes((load * self.granule).saturating_sub(self.largest_tail).max(ends.max().unwrap_or(0)))
    }

    /// Whether a dive of the exact search takes a fraction of a second. A dive goes from the root of the tree to a plan
    /// without going back, so it has a node for every item. A node looks at every section of every item (the *widths*),
    /// and it compares each item that has a fixed offset with all others.
    pub(crate) fn is_tractable(&self) -> bool {
        let items = self.items.len() as u64;
        let fixed = self.items.iter().filter(|item| item.fixed.is_some()).count() as u64;
        let node = self.widths().saturating_add(fixed.saturating_mul(items).saturating_mul(WIDTHS_PER_COMPARISON));
        node.saturating_mul(items) < MOST_DIVE_WIDTHS
    }

    /// What the root of the exact search looks at, in widths. Later nodes look at less, because items are placed and
    /// the others fall into parts; what they really look at is counted by [`State`](super::state::State).
    pub(crate) fn node_widths(&self) -> u64 {
        NODE_WIDTHS + self.items.len() as u64 * ITEM_WIDTHS + self.sections as u64 * SECTION_WIDTHS + self.widths()
    }

    /// Units of work for so many nodes of the exact search, if each looks at as much as the root.
    pub(crate) fn work_of(&self, nodes: u64) -> u64 {
        (nodes.saturating_mul(self.node_widths()) / WIDTHS_PER_UNIT).max(1)
    }

    /// How many sections the items have, counted for each item.
    fn widths(&self) -> u64 {
        self.spans.iter().map(|span| u64::from(span.hi - span.lo)).sum()
    }

    /// An extent within which there is a plan if there is any: all items on top of each other, with gaps for their
    /// alignments, above the highest fixed offset. An item of which only a part is ever alive counts with all its bytes.
    pub(crate) fn enough(&self) -> Bytes {
        let padded = |item: &Item| (item.height * self.granule).max(item.size) + item.alignment * self.granule;
        let fixed = self.items.iter().filter_map(|item| item.fixed).max().unwrap_or(0);
        Bytes(self.items.iter().map(padded).sum::<u64>() + fixed * self.granule + self.largest_tail)
    }

    /// The smallest extent above `extent` that a plan can have. If all sizes are whole numbers of granules, every extent
    /// is one, too.
    pub(crate) fn next_extent(&self, extent: Bytes) -> Bytes {
        let next = extent.0 + 1;
        Bytes(if self.ends_on_granules { next.next_multiple_of(self.granule) } else { next })
    }

    /// A number per item. Two items have the same number if they can be swapped when one of them lies directly on the
    /// other: both have one span with the same sections, no alignment, no fixed offset and no tail. An item that can be
    /// swapped with no other has a number of its own. For the rule *stacks* of the exact search.
    pub(crate) fn stacks(&self) -> Vec<u32> {
        let is_plain = |item: &Item| {
            item.span_count == 1
                && item.alignment == 1
                && item.fixed.is_none()
                && item.height * self.granule == item.size
        };
        self.classes(|item| is_plain(item).then_some((item.lo, item.hi)))
    }

    /// A number per item, the same for items that do not differ at all. For the rule *twins* of the exact search.
    pub(crate) fn twins(&self) -> Vec<u32> {
        let is_plain = |item: &Item| item.span_count == 1 && item.fixed.is_none();
        self.classes(|item| is_plain(item).then_some((item.lo, item.hi, item.height, item.alignment, item.size)))
    }

    /// A number per item: the position of the first item with the same key. An item for which `key` is `None` gets its
    /// own position.
    fn classes<K: Ord>(&self, key: impl Fn(&Item) -> Option<K>) -> Vec<u32> {
        let mut first = BTreeMap::new();
        let class = |(number, item): (usize, &Item)| match key(item) {
            Some(key) => *first.entry(key).or_insert(number as u32),
            None => number as u32,
        };
        self.items.iter().enumerate().map(class).collect()
    }

    /// Sum of the heights (in granules) alive in each section.
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

/// The bytes of a granule: the greatest common divisor of all fixed offsets and of all heights, rounded up to `common`.
///
/// Every alignment must either divide the granule, so that all offsets in granules have it, or be a whole number of
/// granules, so that it can be counted in them. An alignment for which neither holds makes the granule smaller: heights
/// of 24 and 48 bytes with alignments of 8 and 16 have a granule of 8.
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
    /// Finds where sections start: at the first start, and at every start that follows an end. Between an end and the
    /// next start the set of live slabs only shrinks, and between a start and the next end it only grows. So the set at
    /// the last start of a section contains all other sets of the section.
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
            // There is always an end above `begin`: that of the stretch which starts there.
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

    /// The sections of each slab, with heights in bytes. A section lasts until the next one starts. A stretch covers
    /// the section in which it starts, which is the last one that has started by then, and all sections that start
    /// before the stretch ends.
    fn spans(&self, slabs: &[Slab]) -> Vec<Vec<Span>> {
        let span = |stretch: &Stretch| Span {
            lo: self.starts.partition_point(|&start| start <= stretch.start) as u32 - 1,
            hi: self.starts.partition_point(|&start| start < stretch.end) as u32,
            height: stretch.height,
        };
        slabs.iter().map(|slab| merge(slab.stretches.iter().map(span))).collect()
    }
}

/// Joins spans of one slab that follow each other and have the same height. Spans of one slab never have a section in
/// common: the second stretch starts after the first one has ended, and a start after an end begins a new section.
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

/// The greatest common divisor. That of 0 and `b` is `b`, so 0 is the start for folding a list.
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
