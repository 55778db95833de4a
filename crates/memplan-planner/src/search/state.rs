//! The state of the exact search: flat arrays, and trails to undo changes.
//!
//! Nothing here decides anything: [`exact`](super::exact) does that, and this file carries its decisions out.
//! [`State::place`] puts an item down and raises the items that it meets. [`State::leave_empty`] forbids items to start
//! at an offset. [`State::set_early`] and [`State::infer`] find out what follows for the items *to come*, that is, for
//! those that are still to be placed. [`State::undo`] takes changes back.
//!
//! For each item there are several offsets, which are easily confused:
//!
//! ```text
//!   at      where it would lie if it were placed now: the lowest offset above all placed items that it meets
//!   bar     it may not start below this, because the search has decided to leave a point below it empty
//!   early   no plan that is still possible at this node has it lower: `at`, or more if `at` is ruled out
//!   late    no plan that is still possible has it higher; `MAX` as long as nothing forces the item to lie low
//!   limit   above this it would end above the capacity
//! ```
//!
//! For each section, `done` is the capacity and `top` is `done` minus the heights to come. The lowest of the items to
//! come must start at or below `top`. An item whose `early` is at or below `top` is a *filler* of the section:
//!
//! ```text
//!   capacity 10; x (height 4) and y (height 3) are to come in a section: top = 10 − 7 = 3
//!   early(x) = 2, early(y) = 5: only x is a filler, so x is *forced* to start at 3 or lower: late(x) = 3.
//!   y cannot end below x, because 5 + 3 > 3. So y lies above x: early(y) becomes 2 + 4 = 6.
//! ```
//!
//! Functions that take `items` expect the items to come of one part (see [`exact`](super::exact)), ordered by their
//! first sections.
//!
//! An [`Instance`] is what the search works on: items, each with one or more spans of sections in which it has a
//! height, and capacities are turned into granules by [`Instance::highest_top`] and [`Instance::highest_start`].

use memplan_core::Bytes;

use super::instance::Instance;
use crate::tuning::{ITEM_WIDTHS, NODE_WIDTHS, SCAN_WIDTHS, SECTION_WIDTHS, SPANS_WIDTHS};

/// A number of granules. Most instances fit into 32 or even 16 bits, and a processor handles more of these at a time.
/// The search takes a type only for instances whose numbers are below [`Height::ROOM`] ([`Instance::has_room`]), so
/// sums need no checks.
pub(crate) trait Height: Copy + Ord + Send + Sync {
    const ZERO: Self;
    const ONE: Self;
    const MAX: Self;
    /// The capacity, heights, alignments, fixed offsets (all in granules) and the number of items are below this. It is
    /// a quarter of the largest number of the type, so that sums of two or three of them do not wrap.
    const ROOM: u64;
    /// The number in this type, [`Height::MAX`] if it does not fit.
    fn from_granules(granules: u64) -> Self;
    /// The number as an integer, 0 if it is negative.
    fn to_granules(self) -> u64;
    fn plus(self, other: Self) -> Self;
    fn minus(self, other: Self) -> Self;
    /// `self + other` if `condition` holds, else `self`; without a branch, for loops over sections.
    fn plus_if(self, condition: bool, other: Self) -> Self;
}

macro_rules! impl_height {
    ($number:ty, $room:expr) => {
        impl Height for $number {
            const ZERO: $number = 0;
            const ONE: $number = 1;
            const MAX: $number = <$number>::MAX;
            const ROOM: u64 = $room;
            fn from_granules(granules: u64) -> $number {
                <$number>::try_from(granules).unwrap_or(<$number>::MAX)
            }
            fn to_granules(self) -> u64 {
                u64::try_from(self).unwrap_or(0)
            }
            fn plus(self, other: $number) -> $number {
                self.wrapping_add(other)
            }
            fn minus(self, other: $number) -> $number {
                self.wrapping_sub(other)
            }
            fn plus_if(self, condition: bool, other: $number) -> $number {
                // `true` becomes −1, in which all bits are set, so the mask keeps `other`; `false` becomes 0.
                self.wrapping_add(other & <$number>::from(condition).wrapping_neg())
            }
        }
    };
}

impl_height!(i16, 1 << 13);
impl_height!(i32, 1 << 29);
impl_height!(i64, 1 << 61);

/// The sections `lo..hi`, in which an item has this height.
#[derive(Clone, Copy)]
struct Span<H> {
    lo: u32,
    hi: u32,
    height: H,
}

impl<H> Span<H> {
    fn meets(&self, other: &Span<H>) -> bool {
        self.lo < other.hi && other.lo < self.hi
    }
}

/// Lengths of the trails at some moment, for [`State::undo`].
#[derive(Clone, Copy)]
pub(crate) struct Mark {
    raised: u32,
    barred: u32,
    ranked: u32,
    placed: u32,
}

/// See the module documentation. Every list has an entry for each item, unless said otherwise.
pub(crate) struct State<H> {
    /// The spans of all items in a row. Those of an item are at `first_span[item]..first_span[item + 1]`.
    spans: Vec<Span<H>>,
    first_span: Vec<u32>,
    /// Whether every item has one span. Then the span of an item is `spans[item]`, and quicker loops are used.
    is_plain: bool,
    /// Height of the highest span.
    height: Vec<H>,
    /// Height of the lowest span.
    least_height: Vec<H>,
    alignment: Vec<u64>,
    fixed: Vec<Option<H>>,
    /// For these five offsets see the module documentation. `limit` holds for a run, `at` and `bar` change along a
    /// branch and are restored by [`State::undo`]; `early` and `late` are found anew at every node.
    limit: Vec<H>,
    at: Vec<H>,
    bar: Vec<H>,
    pub(crate) early: Vec<H>,
    late: Vec<H>,
    /// The place of the item in the order of its part: candidates with smaller ranks are tried first.
    pub(crate) rank: Vec<u32>,
    /// Where the item was placed last; 0 or its fixed offset before that.
    pub(crate) offset: Vec<H>,
    /// Per section: where the lowest of the items to come must start at the latest.
    top: Vec<H>,
    /// Per section: how many items can start at or below `top`, and the sum of their numbers. If there is only one,
    /// the sum is its number, so it need not be searched for. (A sum of many numbers may wrap. Taking all but
    /// one of them away again wraps back, so the last number is right.)
    fillers: Vec<H>,
    filler_sum: Vec<H>,
    /// Per section: the sum of the heights of all its items, before any is placed.
    loads: Vec<u64>,
    /// The trails. Each entry is an item with the value of `at`, `bar` or `rank` that it had before a change.
    raised: Vec<(u32, H)>,
    barred: Vec<(u32, H)>,
    ranked: Vec<(u32, u32)>,
    /// The trail of placements: the placed items in order.
    placed: Vec<u32>,
    /// Forced items still to be followed up by [`State::push_above_forced`].
    queue: Vec<u32>,
    /// By position in the list of items to come: one past the last section of all items up to this position. It never
    /// falls, so the first item that can meet a section is found by halving.
    reach: Vec<u32>,
    /// What all nodes so far have looked at, counted in widths (sections of items). What else a node does is counted
    /// as so many widths as take the same time.
    pub(crate) looked_at: u64,
    /// Per section: the capacity in granules ([`Instance::highest_top`]), which `top` reaches when nothing is to come.
    /// It is the same everywhere.
    done: Vec<H>,
    /// The class of an item for the rule *stacks*: items of one class have the same sections, and two of them that lie
    /// directly on each other can be swapped ([`Instance::stacks`]).
    stack_of: Vec<u32>,
    /// Per such class: end and first rank of the item placed last, which is the highest one. (0, 0) if there is none:
    /// no rank is below 0, so [`State::is_upside_down`] is false then.
    stacks: Vec<(H, u32)>,
    /// For each entry of `placed`: what the item's entry of `stacks` was before.
    stack_trail: Vec<(H, u32)>,
    /// The rank it had when it was ranked for the first time in this run. The rule *stacks* compares these ranks, so
    /// that it prefers the same one of two items in the whole tree.
    first_rank: Vec<u32>,
    /// Items with the same number are alike in every respect ([`Instance::twins`]).
    pub(crate) twin: Vec<u32>,
}

impl<H: Height> State<H> {
    /// Arrays for an instance. What never changes (spans, heights, alignments, loads, classes) is filled here. Zeros
    /// are placeholders: `reset` and the first node of a run fill them.
    pub(crate) fn new(instance: &Instance) -> State<H> {
        let count = instance.items.len();
        // There is an array for each property, and not one array of items with all their properties, because the loops
        // of a node need one or two properties of all items. The spans of all items are in one array; `first_span` has
        // one entry more than there are items, so that the last item's spans have an end, too.
        let mut spans = Vec::with_capacity(count);
        let mut first_span = Vec::with_capacity(count + 1);
        for item in 0..count {
            first_span.push(spans.len() as u32);
            spans.extend(instance.spans(item).iter().map(|span| {
                let height = H::from_granules(span.height);
                Span { lo: span.lo, hi: span.hi, height }
            }));
        }
        first_span.push(spans.len() as u32);
        let items = &instance.items;
        let least_heights = (0..count).map(|item| instance.spans(item).iter().map(|span| span.height).min());
        State {
            is_plain: (0..count).all(|item| instance.spans(item).len() == 1),
            spans,
            first_span,
            height: items.iter().map(|item| H::from_granules(item.height)).collect(),
            least_height: least_heights.map(|least| H::from_granules(least.unwrap_or(0))).collect(),
            alignment: items.iter().map(|item| item.alignment).collect(),
            fixed: items.iter().map(|item| item.fixed.map(H::from_granules)).collect(),
            limit: vec![H::ZERO; count],
            at: vec![H::ZERO; count],
            bar: vec![H::ZERO; count],
            early: vec![H::ZERO; count],
            late: vec![H::ZERO; count],
            rank: vec![0; count],
            offset: vec![H::ZERO; count],
            top: vec![H::ZERO; instance.sections],
            fillers: vec![H::ZERO; instance.sections],
            filler_sum: vec![H::ZERO; instance.sections],
            loads: instance.loads(),
            raised: Vec::new(),
            barred: Vec::new(),
            ranked: Vec::new(),
            placed: Vec::new(),
            queue: Vec::new(),
            reach: Vec::new(),
            looked_at: 0,
            done: vec![H::ZERO; instance.sections],
            // One entry for each class of `stack_of`; there are at most as many classes as items.
            stacks: vec![(H::ZERO, 0); count],
            first_rank: vec![0; count],
            stack_of: instance.stacks(),
            stack_trail: Vec::new(),
            twin: instance.twins(),
        }
    }

    /// Takes back all changes and sets the limits for a capacity. `false` if it is clear at once that there is no plan
    /// within the capacity.
    pub(crate) fn reset(&mut self, instance: &Instance, capacity: Bytes) -> bool {
        self.raised.clear();
        self.barred.clear();
        self.ranked.clear();
        self.placed.clear();
        self.at.fill(H::ZERO);
        self.bar.fill(H::ZERO);
        // If an item is higher than the capacity, or ends above it at its fixed offset, there is no plan.
        let highest = instance.highest_top(capacity);
        for item in 0..self.limit.len() {
            let Some(start) = instance.highest_start(item, capacity) else { return false };
            self.limit[item] = H::from_granules(start);
            if let Some(offset) = self.fixed[item] {
                if offset > self.limit[item] {
                    return false;
                }
                self.offset[item] = offset;
            } else {
                self.offset[item] = H::ZERO;
            }
        }
        // The load of a section is the height of everything that is still to be placed there. All of it has to fit
        // below the capacity, so the lowest item starts no higher than the capacity minus the load.
        for (section, &load) in self.loads.iter().enumerate() {
            let Some(top) = highest.checked_sub(load) else { return false };
            self.top[section] = H::from_granules(top);
            self.done[section] = H::from_granules(highest);
        }
        self.stacks.fill((H::ZERO, 0));
        self.stack_trail.clear();
        true
    }

    /// The spans of an item.
    fn spans(&self, item: usize) -> &[Span<H>] {
        &self.spans[self.first_span[item] as usize..self.first_span[item + 1] as usize]
    }

    /// Where the spans of an item are in `spans`, for loops that change other fields meanwhile and cannot borrow them.
    fn span_range(&self, item: usize) -> std::ops::Range<usize> {
        self.first_span[item] as usize..self.first_span[item + 1] as usize
    }

    /// The lowest offset at or above `floor` with the item's alignment.
    fn align(&self, item: usize, floor: H) -> H {
        match self.alignment[item] {
            1 => floor,
            alignment => H::from_granules(floor.to_granules().next_multiple_of(alignment)),
        }
    }

    /// How many items are placed.
    pub(crate) fn depth(&self) -> usize {
        self.placed.len()
    }

    /// The present lengths of the trails, to come back to.
    pub(crate) fn mark(&self) -> Mark {
        Mark {
            raised: self.raised.len() as u32,
            barred: self.barred.len() as u32,
            ranked: self.ranked.len() as u32,
            placed: self.placed.len() as u32,
        }
    }

    /// Goes back to a mark. Four trails record the changes: `raised` (offsets), `barred` (bars), `ranked` (ranks) and
    /// `placed` (items).
    pub(crate) fn undo(&mut self, mark: Mark) {
        // Changes are undone in reverse order. So if an item was changed several times, it gets its oldest value back.
        while self.raised.len() > mark.raised as usize {
            let Some((item, at)) = self.raised.pop() else { break };
            self.at[item as usize] = at;
        }
        while self.barred.len() > mark.barred as usize {
            let Some((item, bar)) = self.barred.pop() else { break };
            self.bar[item as usize] = bar;
        }
        while self.ranked.len() > mark.ranked as usize {
            let Some((item, rank)) = self.ranked.pop() else { break };
            self.rank[item as usize] = rank;
        }
        while self.placed.len() > mark.placed as usize {
            let Some(item) = self.placed.pop() else { break };
            if let Some(stack) = self.stack_trail.pop() {
                self.stacks[self.stack_of[item as usize] as usize] = stack;
            }
            for index in self.span_range(item as usize) {
                let Span { lo, hi, height } = self.spans[index];
                for top in &mut self.top[lo as usize..hi as usize] {
                    *top = top.minus(height);
                }
            }
        }
    }

    /// Gives an item a new rank; the old one goes to the trail.
    pub(crate) fn set_rank(&mut self, item: u32, rank: u32) {
        self.ranked.push((item, self.rank[item as usize]));
        self.rank[item as usize] = rank;
    }

    /// What an order ranks an item by: the largest load of its sections (what is still to be placed there), its width
    /// in sections, and its height.
    pub(crate) fn traits(&self, item: usize) -> (u64, u64, u64) {
        // The load of a section is `done - top`, and `done` is the same everywhere. So the lowest top has the largest
        // load.
        let mut lowest_top = H::MAX;
        let mut width = 0;
        let mut done = H::ZERO;
        for span in self.spans(item) {
            width += u64::from(span.hi - span.lo);
            for section in span.lo as usize..span.hi as usize {
                lowest_top = lowest_top.min(self.top[section]);
                done = self.done[section];
            }
        }
        (done.minus(lowest_top).to_granules(), width, self.height[item].to_granules())
    }

    /// Puts an item down at `offset` and raises `at` of those of `others` (the items of its part still to come) that it
    /// meets.
    pub(crate) fn place(&mut self, item: usize, offset: H, others: &[u32]) {
        debug_assert!(offset >= self.at[item], "an item cannot lie below what it lies on");
        self.offset[item] = offset;
        self.placed.push(item as u32);
        let end = offset.plus(self.height[item]);
        let stack = &mut self.stacks[self.stack_of[item] as usize];
        self.stack_trail.push(std::mem::replace(stack, (end, self.first_rank[item])));
        // The load of its sections is smaller now, so the lowest of the items to come may start higher.
        for index in self.span_range(item) {
            let Span { lo, hi, height } = self.spans[index];
            for top in &mut self.top[lo as usize..hi as usize] {
                *top = top.plus(height);
            }
        }
        // Most instances have one span per item, and this loop is the hottest of the search.
        if self.is_plain {
            let span = self.spans[item];
            for &other in others {
                let theirs = self.spans[other as usize];
                // Items are ordered by their first section, so no item that follows meets this one.
                if theirs.lo >= span.hi {
                    break;
                }
                if self.at[other as usize] < end && span.lo < theirs.hi {
                    self.raise(other, end);
                }
            }
            return;
        }
        let last = self.last_section(item as u32);
        self.looked_at += others.len() as u64 * SPANS_WIDTHS;
        for &other in others {
            // As above.
            if self.first_section(other) >= last {
                break;
            }
            let end = self.end_under(item, offset, other as usize);
            if self.at[other as usize] < end {
                self.raise(other, end);
            }
        }
    }

    /// Raises `at` of an item to `end`, aligned.
    fn raise(&mut self, item: u32, end: H) {
        let at = self.align(item as usize, end);
        self.raised.push((item, std::mem::replace(&mut self.at[item as usize], at)));
    }

    /// How high an item at `offset` reaches in the sections of `other`; 0 if they have no section in common.
    fn end_under(&self, item: usize, offset: H, other: usize) -> H {
        let mut end = H::ZERO;
        for span in self.spans(item) {
            for other in self.spans(other) {
                if span.meets(other) {
                    end = end.max(offset.plus(span.height));
                }
            }
        }
        end
    }

    /// Places an item that is the only one of its part, so that it meets no item to come: at its fixed offset, or as
    /// low as it can lie. `false` if a placed item is in the way of its fixed offset, or if it would end above the
    /// capacity. The item's bar is ignored: a plan with the item below its bar is valid, too, even if that plan has
    /// been tried before.
    pub(crate) fn place_alone(&mut self, item: usize) -> bool {
        let offset = match self.fixed[item] {
            Some(offset) if offset < self.at[item] => return false,
            Some(offset) => offset,
            None => self.at[item],
        };
        let fits = offset <= self.limit[item];
        if fits {
            self.place(item, offset, &[]);
        }
        fits
    }

    /// Sets the first `early` and `late` of a node, from which [`State::infer`] goes on. `stacks` says whether the rule
    /// *stacks* is used. An item that cannot be placed any more is returned as an error: the node has no plan.
    ///
    /// An item may be barred from the offset where it would lie now, or it would make a stack of the wrong order there.
    /// Then it has to lie on an item that is still to be placed, so it lies no lower than the lowest end that any such
    /// item can have. For the search only looks for plans in which no item can be lowered: there each item lies at 0 or
    /// on the end of another one.
    pub(crate) fn set_early(&mut self, items: &[u32], stacks: bool) -> Result<(), usize> {
        // The lowest end that any item to come can have. An item may lie on the lowest span of another one.
        let mut lowest_end = H::MAX;
        for &item in items {
            let item = item as usize;
            lowest_end = lowest_end.min(self.at[item].max(self.bar[item]).plus(self.least_height[item]));
        }
        for &item in items {
            let item = item as usize;
            let (at, bar) = (self.at[item], self.bar[item]);
            self.late[item] = H::MAX;
            // An item can lie at `at`, unless that was ruled out. Then at least one more item has to be placed below
            // it.
            let is_barred = bar > at || (stacks && self.is_upside_down(item));
            // If the item is barred: above its bar, on an item that is still to come, and higher than where it would
            // lie now.
            let above = bar.max(lowest_end).max(at.plus(H::ONE));
            self.early[item] = if is_barred { self.align(item, above) } else { at };
            // A fixed item has one place. Items are placed from the bottom up, so below `at` something that it meets
            // has been placed already. If its place is there, or at a point that the search has decided to leave empty,
            // the node has no plan.
            if let Some(offset) = self.fixed[item] {
                if offset < at.max(bar) {
                    return Err(item);
                }
                self.early[item] = offset;
                self.late[item] = offset;
            }
            if self.early[item] > self.limit[item] {
                return Err(item);
            }
        }
        Ok(())
    }

    /// The lowest offset at which something can be placed now, which is the floor of the node. `MAX` if no item is
    /// open.
    pub(crate) fn lowest_open(&self, items: &[u32]) -> H {
        let open = items.iter().map(|&item| item as usize).filter(|&item| self.is_open(item));
        open.map(|item| self.early[item]).min().unwrap_or(H::MAX)
    }

    /// Whether the point of a section at `floor` may stay empty. It may not if the items to come fill the section from
    /// the floor up to the capacity.
    pub(crate) fn has_slack(&self, section: u32, floor: H) -> bool {
        self.top[section as usize] > floor
    }

    /// How many granules of a section may stay empty between `floor` and the capacity: 0 if the items to come fill it.
    pub(crate) fn slack(&self, section: usize, floor: H) -> u64 {
        self.top[section].minus(floor.min(self.top[section])).to_granules()
    }

    /// How many items can be the lowest of those to come in a section, as counted by the last [`State::infer`].
    pub(crate) fn fillers(&self, section: usize) -> u64 {
        self.fillers[section].to_granules()
    }

    /// Adds one to the count of each section of an item.
    pub(crate) fn count(&self, item: usize, counts: &mut [u32]) {
        for span in self.spans(item) {
            for count in &mut counts[span.lo as usize..span.hi as usize] {
                *count += 1;
            }
        }
    }

    /// Whether an item is alive in a section.
    pub(crate) fn covers(&self, item: usize, section: u32) -> bool {
        self.spans(item).iter().any(|span| span.lo <= section && section < span.hi)
    }

    pub(crate) fn is_fixed(&self, item: usize) -> bool {
        self.fixed[item].is_some()
    }

    /// Decides that the point of `section` at `floor` stays empty: bars all `items` that cover the section from
    /// starting there. Items that could not start there anyway need no bar.
    pub(crate) fn leave_empty(&mut self, items: &[u32], section: u32, floor: H) {
        for &item in items {
            let index = item as usize;
            if self.at[index] <= floor && self.bar[index] <= floor && self.covers(index, section) {
                self.barred.push((item, std::mem::replace(&mut self.bar[index], floor.plus(H::ONE))));
            }
        }
    }

    /// Whether an item, if it were placed now, would lie directly on an item with the same sections and a higher first
    /// rank (the search prefers the lower rank). Swapping the two gives a plan that takes the same room, and the search
    /// tries that plan instead.
    fn is_upside_down(&self, item: usize) -> bool {
        let (end, rank) = self.stacks[self.stack_of[item] as usize];
        rank > self.first_rank[item] && end == self.at[item]
    }

    /// Remembers the present ranks for [`State::is_upside_down`].
    pub(crate) fn note_first_ranks(&mut self, items: &[u32]) {
        for &item in items {
            self.first_rank[item as usize] = self.rank[item as usize];
        }
    }

    /// Whether an item can be placed now: nothing forces it higher than where it would lie (or than its fixed offset).
    pub(crate) fn is_open(&self, item: usize) -> bool {
        self.fixed[item].unwrap_or(self.at[item]) == self.early[item]
    }

    /// The lowest end that an item without a fixed offset would have if it were placed now, whether or not that is
    /// allowed; `MAX` if all are fixed. For the rule *dominance*.
    pub(crate) fn lowest_end(&self, items: &[u32]) -> H {
        let movable = items.iter().map(|&item| item as usize).filter(|&item| self.fixed[item].is_none());
        movable.map(|item| self.at[item].plus(self.height[item])).min().unwrap_or(H::MAX)
    }

    /// Applies the rules *section tops* and, if `forced` says so, *forced items*, which raise `early`. A section that
    /// cannot be filled any more is returned as an error: the node has no plan. Otherwise returns the lowest `top` of
    /// the part's sections with items to come: some item has to start there or lower.
    pub(crate) fn infer(&mut self, items: &[u32], forced: bool) -> Result<H, u32> {
        // The sections of the part. Items are ordered by their first sections, but any of them may be the last to end.
        let lo = items.first().map_or(0, |&item| self.first_section(item)) as usize;
        self.reach.clear();
        let mut hi = 0;
        for &item in items {
            hi = hi.max(self.last_section(item));
            self.reach.push(hi);
        }
        let hi = hi as usize;
        self.looked_at += NODE_WIDTHS + items.len() as u64 * ITEM_WIDTHS + (hi - lo) as u64 * SECTION_WIDTHS;
        self.count_fillers(items, lo, hi);
        // Before anything is inferred, only fixed items have a `late`. They are forced from the beginning.
        self.queue.clear();
        let fixed = items.iter().filter(|&&item| self.late[item as usize] < H::MAX);
        self.queue.extend(fixed);
        let mut highest = H::MAX;
        for section in lo..hi {
            // In a section whose top has reached the capacity nothing is to come, so it needs no filler.
            if self.top[section] < self.done[section] {
                highest = highest.min(self.top[section]);
                self.check_section(section)?;
            }
        }
        if forced {
            self.push_above_forced(items)?;
        }
        Ok(highest)
    }

    fn first_section(&self, item: u32) -> u32 {
        self.spans(item as usize).first().map_or(0, |span| span.lo)
    }

    /// One past the last section of an item.
    fn last_section(&self, item: u32) -> u32 {
        let last = self.first_span[item as usize + 1].saturating_sub(1);
        self.spans[last as usize].hi
    }

    /// Counts the fillers of each section from `lo` to `hi`: the items that can start at or below its top.
    fn count_fillers(&mut self, items: &[u32], lo: usize, hi: usize) {
        self.fillers[lo..hi].fill(H::ZERO);
        self.filler_sum[lo..hi].fill(H::ZERO);
        for &item in items {
            let early = self.early[item as usize];
            let number = H::from_granules(u64::from(item));
            for index in self.span_range(item as usize) {
                let Span { lo, hi, .. } = self.spans[index];
                self.looked_at += u64::from(hi - lo);
                let (lo, hi) = (lo as usize, hi as usize);
                let counts = self.fillers[lo..hi].iter_mut().zip(&mut self.filler_sum[lo..hi]);
                // `plus_if` has no branch, so the compiler makes code that handles many sections at a time.
                for (top, (fillers, sum)) in self.top[lo..hi].iter().zip(counts) {
                    *fillers = fillers.plus_if(early <= *top, H::ONE);
                    *sum = sum.plus_if(early <= *top, number);
                }
            }
        }
    }

    /// What is still to be placed in a section fits only if the lowest of its items starts at or below `top`. If no
    /// item can start that low, the node has no plan, and the error names the section. If only one can, it is forced
    /// to.
    fn check_section(&mut self, section: usize) -> Result<(), u32> {
        match self.fillers[section] {
            none if none == H::ZERO => Err(section as u32),
            one if one == H::ONE => {
                let item = self.filler_sum[section].to_granules() as u32;
                let late = &mut self.late[item as usize];
                if self.top[section] < *late {
                    *late = self.top[section];
                    self.queue.push(item);
                }
                Ok(())
            }
            _ => Ok(()),
        }
    }

    /// The rule *forced items*: if an item meets a forced item and cannot end below the forced item, it lies above the
    /// forced item. That may force further items, which join the queue. The error is a section: the first section of an
    /// item that has no place left, or a section that has no filler left.
    fn push_above_forced(&mut self, items: &[u32]) -> Result<(), u32> {
        // A chain of pushes has each item once. So with the best order of the queue, n² follow-ups are enough for n
        // items. The queue is a stack, which is not the best order, so it may need more. After n² follow-ups the rest
        // of the queue is dropped. Then fewer conclusions are drawn, which costs nodes; no plan is lost.
        let mut follow_ups_left = items.len().saturating_mul(items.len());
        while let Some(forced) = self.queue.pop() {
            if self.is_plain {
                self.push_above_plain(forced as usize, items)?;
            } else {
                self.push_above_spans(forced, items)?;
            }
            follow_ups_left = follow_ups_left.saturating_sub(1);
            if follow_ups_left == 0 {
                break;
            }
        }
        Ok(())
    }

    /// The part of the list `items` outside of which no item has a section in `lo..hi`. Items are ordered by their first
    /// sections, so no item behind the first one that begins at `hi` or later does. `reach` says up to which position
    /// all items have ended at `lo`.
    fn near<'i>(&mut self, items: &'i [u32], lo: u32, hi: u32) -> &'i [u32] {
        debug_assert_eq!(self.reach.len(), items.len(), "`infer` has filled `reach` for these items");
        let first = self.reach.partition_point(|&reach| reach <= lo);
        let near = items[first..].partition_point(|&item| self.first_section(item) < hi);
        // Without plain items each span of one is compared with each span of the other.
        self.looked_at += near as u64 * if self.is_plain { SCAN_WIDTHS } else { SPANS_WIDTHS };
        &items[first..first + near]
    }

    /// As [`State::push_above_spans`], for items with one span each, which is the usual case and quicker.
    fn push_above_plain(&mut self, forced: usize, items: &[u32]) -> Result<(), u32> {
        let (under, late) = (self.spans[forced], self.late[forced]);
        // The lowest end of the forced item: whatever must lie above it starts here or higher.
        let end = self.early[forced].plus(under.height);
        for &item in self.near(items, under.lo, under.hi) {
            let span = self.spans[item as usize];
            // The item is pushed if it could start below `end`, the two meet, and even at its lowest offset it ends
            // above `late`. Then it does not fit below the forced item.
            let before = self.early[item as usize];
            let is_in_the_way = before < end && late < before.plus(span.height) && under.lo < span.hi;
            if is_in_the_way && item as usize != forced {
                self.push_to(item, end)?;
            }
        }
        Ok(())
    }

    /// The item `forced` starts between its `early` and its `late`. If another item meets `forced`, and ends above
    /// `late` even at its own lowest offset, it cannot lie below `forced`, so it must lie above `forced`. Heights of
    /// items change over time here, so each span of one item is compared with each span of the other.
    fn push_above_spans(&mut self, forced: u32, items: &[u32]) -> Result<(), u32> {
        let late = self.late[forced as usize];
        for &item in self.near(items, self.first_section(forced), self.last_section(forced)) {
            let before = self.early[item as usize];
            let mut early = before;
            for under in self.spans(forced as usize) {
                for span in self.spans(item as usize) {
                    if under.meets(span) && before.plus(span.height) > late {
                        early = early.max(self.early[forced as usize].plus(under.height));
                    }
                }
            }
            if early > before && item != forced {
                self.push_to(item, early)?;
            }
        }
        Ok(())
    }

    /// Raises `early` of an item. If that is above what the item may have, it has no place left, and its first
    /// section is returned as an error.
    fn push_to(&mut self, item: u32, early: H) -> Result<(), u32> {
        let index = item as usize;
        let before = self.early[index];
        let early = self.align(index, early);
        if early > self.limit[index] || early > self.late[index] {
            return Err(self.first_section(item));
        }
        self.early[index] = early;
        // A forced item that lies higher now may push others up in turn.
        if self.late[index] < H::MAX {
            self.queue.push(item);
        }
        self.no_longer_fills(item, before, early)
    }

    /// The `early` of an item has risen from `before` to `early`. Takes the item out of the fillers of the sections
    /// whose tops lie between the two, and checks those of them that have at most one filler left.
    fn no_longer_fills(&mut self, item: u32, before: H, early: H) -> Result<(), u32> {
        let one_less = H::ZERO.minus(H::ONE);
        let number = H::ZERO.minus(H::from_granules(u64::from(item)));
        for index in self.span_range(item as usize) {
            let Span { lo, hi, .. } = self.spans[index];
            self.looked_at += u64::from(hi - lo) + SCAN_WIDTHS;
            let (lo, hi) = (lo as usize, hi as usize);
            // The first loop has no branches, so it handles many sections at a time; it counts in `scarce` how many
            // have at most one filler left. There are few, and only if there are any the second loop looks for them.
            let mut scarce = H::ZERO;
            let counts = self.fillers[lo..hi].iter_mut().zip(&mut self.filler_sum[lo..hi]);
            for (&top, (fillers, sum)) in self.top[lo..hi].iter().zip(counts) {
                let is_lost = (before <= top) & (top < early);
                *fillers = fillers.plus_if(is_lost, one_less);
                *sum = sum.plus_if(is_lost, number);
                scarce = scarce.plus_if(is_lost & (*fillers <= H::ONE), H::ONE);
            }
            if scarce == H::ZERO {
                continue;
            }
            for section in lo..hi {
                if before <= self.top[section] && self.top[section] < early && self.fillers[section] <= H::ONE {
                    self.check_section(section)?;
                }
            }
        }
        Ok(())
    }
}
