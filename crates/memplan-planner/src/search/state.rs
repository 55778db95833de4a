//! The state of the exact search: flat arrays, and trails to undo changes.
//!
//! Nothing here branches. [`State::place`] puts an item down and raises what it
//! meets; [`State::infer`] finds out what must follow.

use memplan_core::Bytes;

use super::instance::Instance;

/// A number of granules. Most instances fit into 32 or even 16 bits, of which
/// more fit into a register. Sums are bounded when an instance is made, so they need no checks.
pub(crate) trait Height: Copy + Ord + Send + Sync {
    const ZERO: Self;
    const ONE: Self;
    const MAX: Self;
    /// Sums of sizes, offsets and alignments stay below this.
    const ROOM: u64;
    fn from_granules(granules: u64) -> Self;
    fn to_granules(self) -> u64;
    fn plus(self, other: Self) -> Self;
    fn minus(self, other: Self) -> Self;
    /// The sum if `condition` holds; without a branch, for loops over sections.
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
                self.wrapping_add(other & <$number>::from(condition).wrapping_neg())
            }
        }
    };
}

impl_height!(i16, 1 << 13);
impl_height!(i32, 1 << 29);
impl_height!(i64, 1 << 61);

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

/// Lengths of the trails at some moment.
#[derive(Clone, Copy)]
pub(crate) struct Mark {
    raised: u32,
    barred: u32,
    ranked: u32,
    placed: u32,
}

/// See the module documentation. Per item, unless said otherwise.
pub(crate) struct State<H> {
    spans: Vec<Span<H>>,
    first_span: Vec<u32>,
    /// Whether every item has one span, so that `spans` goes by item: what most loops are made for.
    is_plain: bool,
    height: Vec<H>,
    /// Height of the lowest span.
    least_height: Vec<H>,
    alignment: Vec<u64>,
    fixed: Vec<Option<H>>,
    /// Highest offset allowed by the capacity.
    limit: Vec<H>,
    /// Lowest offset above everything placed that it meets.
    at: Vec<H>,
    /// It was decided to lie at this offset or higher.
    bar: Vec<H>,
    /// Lowest offset it can get, as far as is known at this node.
    pub(crate) early: Vec<H>,
    /// Highest offset, if it is forced to be low at this node.
    late: Vec<H>,
    pub(crate) rank: Vec<u32>,
    pub(crate) offset: Vec<H>,
    /// Per section: where the lowest of the items to come must start at the latest.
    top: Vec<H>,
    /// Per section: how many items can start at or below `top`, and the sum of their numbers. If there is only one,
    /// the sum is its number, so it need not be searched for.
    fillers: Vec<H>,
    filler_sum: Vec<H>,
    empty_top: Vec<u64>,
    raised: Vec<(u32, H)>,
    barred: Vec<(u32, H)>,
    ranked: Vec<(u32, u32)>,
    placed: Vec<u32>,
    /// Forced items still to be followed up.
    queue: Vec<u32>,
    /// Per section: a top at or above this means that nothing is to come.
    done: Vec<H>,
    /// Which items have the same sections: what lies directly on each other can be swapped.
    stack_of: Vec<u32>,
    /// Per such class: end and first rank of the item placed last.
    stacks: Vec<(H, u32)>,
    /// What the stacks were before each placement.
    stack_trail: Vec<(H, u32)>,
    /// The rank it had at first; for items with the same sections ranks never change sides.
    first_rank: Vec<u32>,
    /// Items with the same number are alike in every respect.
    pub(crate) twin: Vec<u32>,
}

impl<H: Height> State<H> {
    /// Arrays for an instance; `reset` fills them before each run.
    pub(crate) fn new(instance: &Instance) -> State<H> {
        let count = instance.items.len();
        // The arrays go by item and not by field, because the loops of a node walk over one or two of them for all
        // items.
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
            empty_top: instance.loads(),
            raised: Vec::new(),
            barred: Vec::new(),
            ranked: Vec::new(),
            placed: Vec::new(),
            queue: Vec::new(),
            done: vec![H::ZERO; instance.sections],
            stacks: vec![(H::ZERO, 0); count],
            first_rank: vec![0; count],
            stack_of: instance.stacks(),
            stack_trail: Vec::new(),
            twin: instance.twins(),
        }
    }

    /// Starts afresh; false if something cannot fit at all.
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
        // The load of a section is the height of everything that is still to be placed there. All of it has to fit below
        // the capacity, so the lowest item starts no higher than the capacity minus the load.
        for (section, &load) in self.empty_top.iter().enumerate() {
            let Some(top) = highest.checked_sub(load) else { return false };
            self.top[section] = H::from_granules(top);
            self.done[section] = H::from_granules(highest);
        }
        self.stacks.fill((H::ZERO, 0));
        self.stack_trail.clear();
        true
    }

    fn spans(&self, item: usize) -> &[Span<H>] {
        &self.spans[self.first_span[item] as usize..self.first_span[item + 1] as usize]
    }

    fn span_range(&self, item: usize) -> std::ops::Range<usize> {
        self.first_span[item] as usize..self.first_span[item + 1] as usize
    }

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
        // Entries go back in the reverse order of the changes, so the oldest value of an item is the one that stays.
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

    pub(crate) fn set_rank(&mut self, item: u32, rank: u32) {
        self.ranked.push((item, self.rank[item as usize]));
        self.rank[item as usize] = rank;
    }

    /// What an order ranks an item by: the largest load of its sections (what is still to be placed there), its width in
    /// sections, and its height.
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

    /// Puts an item down and raises those of `others` that it meets.
    pub(crate) fn place(&mut self, item: usize, offset: H, others: &[u32]) {
        debug_assert!(offset >= self.at[item], "an item cannot lie below what it lies on");
        self.offset[item] = offset;
        self.placed.push(item as u32);
        let end = offset.plus(self.height[item]);
        let stack = &mut self.stacks[self.stack_of[item] as usize];
        self.stack_trail.push(std::mem::replace(stack, (end, self.first_rank[item])));
        // What is placed need not come any more: the rest of the section may start later.
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
                if self.at[other as usize] < end && self.spans[other as usize].meets(&span) {
                    self.raise(other, end);
                }
            }
            return;
        }
        for &other in others {
            let end = self.end_under(item, offset, other as usize);
            if self.at[other as usize] < end {
                self.raise(other, end);
            }
        }
    }

    fn raise(&mut self, item: u32, end: H) {
        let at = self.align(item as usize, end);
        self.raised.push((item, std::mem::replace(&mut self.at[item as usize], at)));
    }

    /// The highest end of an item at `offset` in the sections of another.
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

    /// Places an item that meets nothing to come; false if it does not fit.
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

    /// Sets the first `early` and `late` of a node; an item that cannot be placed any more is an error.
    ///
    /// An item may be barred from the offset where it would lie now, or it would make a stack of the wrong order there.
    /// Then it has to lie on an item that is still to be placed, so it lies no lower than the lowest end that any such
    /// item can have.
    pub(crate) fn set_early(&mut self, items: &[u32], stacks: bool) -> Result<(), usize> {
        let mut lowest_end = H::MAX;
        for &item in items {
            let item = item as usize;
            lowest_end = lowest_end.min(self.at[item].max(self.bar[item]).plus(self.least_height[item]));
        }
        for &item in items {
            let item = item as usize;
            let (at, bar) = (self.at[item], self.bar[item]);
            self.late[item] = H::MAX;
            // An item lies where it is (`at`), unless that was ruled out; then at least one more item comes below it.
            let is_barred = bar > at || (stacks && self.is_upside_down(item));
            let above = bar.max(lowest_end).max(at.plus(H::ONE));
            self.early[item] = if is_barred { self.align(item, above) } else { at };
            // A fixed item has one place. If something lies there already the node is dead.
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

    /// The lowest offset at which something can be placed now.
    pub(crate) fn lowest_open(&self, items: &[u32]) -> H {
        let open = items.iter().map(|&item| item as usize).filter(|&item| self.is_open(item));
        open.map(|item| self.early[item]).min().unwrap_or(H::MAX)
    }

    /// Whether something in a section may be left empty at `floor`: not if all that is to come is needed.
    pub(crate) fn has_slack(&self, section: u32, floor: H) -> bool {
        self.top[section as usize] > floor
    }

    /// How far a section's items to come may be shifted up from `floor`.
    pub(crate) fn slack(&self, section: usize, floor: H) -> u64 {
        self.top[section].minus(floor.min(self.top[section])).to_granules()
    }

    /// How many items can be the lowest of those to come in a section.
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

    pub(crate) fn covers(&self, item: usize, section: u32) -> bool {
        self.spans(item).iter().any(|span| span.lo <= section && section < span.hi)
    }

    pub(crate) fn is_fixed(&self, item: usize) -> bool {
        self.fixed[item].is_some()
    }

    /// Nothing that covers a section starts at `floor` any more.
    pub(crate) fn leave_empty(&mut self, items: &[u32], section: u32, floor: H) {
        for &item in items {
            let index = item as usize;
            if self.at[index] <= floor && self.bar[index] <= floor && self.covers(index, section) {
                self.barred.push((item, std::mem::replace(&mut self.bar[index], floor.plus(H::ONE))));
            }
        }
    }

    /// Whether an item would lie directly on one with the same sections that comes
    /// later in the order: swapped, they take the same room.
    fn is_upside_down(&self, item: usize) -> bool {
        let (end, rank) = self.stacks[self.stack_of[item] as usize];
        rank > self.first_rank[item] && end == self.at[item]
    }

    /// Remembers the ranks that decide which of two items is the lower one.
    pub(crate) fn note_first_ranks(&mut self, items: &[u32]) {
        for &item in items {
            self.first_rank[item as usize] = self.rank[item as usize];
        }
    }

    /// Whether an item can be placed now: nothing forces it higher than it would lie.
    pub(crate) fn is_open(&self, item: usize) -> bool {
        self.fixed[item].unwrap_or(self.at[item]) == self.early[item]
    }

    /// The lowest end any item could have if it were placed now.
    pub(crate) fn lowest_end(&self, items: &[u32]) -> H {
        let movable = items.iter().map(|&item| item as usize).filter(|&item| self.fixed[item].is_none());
        movable.map(|item| self.at[item].plus(self.height[item])).min().unwrap_or(H::MAX)
    }

    /// Raises `early` by what must be; returns the highest offset the next item
    /// may have. A section that cannot be filled any more is an error.
    pub(crate) fn infer(&mut self, items: &[u32], forced: bool) -> Result<H, u32> {
        // Items come by their first section.
        let lo = items.first().map_or(0, |&item| self.first_section(item)) as usize;
        let hi = items.iter().fold(0, |hi, &item| hi.max(self.last_section(item))) as usize;
        self.count_fillers(items, lo, hi);
        self.queue.clear();
        let fixed = items.iter().filter(|&&item| self.late[item as usize] < H::MAX);
        self.queue.extend(fixed);
        let mut highest = H::MAX;
        for section in lo..hi {
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

    fn last_section(&self, item: u32) -> u32 {
        let last = self.first_span[item as usize + 1].saturating_sub(1);
        self.spans[last as usize].hi
    }

    /// Counts, in each section, the items that can start at or below its top.
    fn count_fillers(&mut self, items: &[u32], lo: usize, hi: usize) {
        self.fillers[lo..hi].fill(H::ZERO);
        self.filler_sum[lo..hi].fill(H::ZERO);
        for &item in items {
            let early = self.early[item as usize];
            let number = H::from_granules(u64::from(item));
            for index in self.span_range(item as usize) {
                let Span { lo, hi, .. } = self.spans[index];
                let (lo, hi) = (lo as usize, hi as usize);
                let counts = self.fillers[lo..hi].iter_mut().zip(&mut self.filler_sum[lo..hi]);
                // The sum is taken without a branch, so that the compiler handles many sections at a time.
                for (top, (fillers, sum)) in self.top[lo..hi].iter().zip(counts) {
                    *fillers = fillers.plus_if(early <= *top, H::ONE);
                    *sum = sum.plus_if(early <= *top, number);
                }
            }
        }
    }

    /// What is still to be placed in a section fits only if the lowest of its items starts at or below `top`. If no item
    /// can start that low, the node has no plan, and the error names the section. If only one can, it is forced to.
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

    /// Whatever meets a forced item and cannot end below it lies above it, which
    /// may force others in turn. A section of an item that has no place left is an error.
    fn push_above_forced(&mut self, items: &[u32]) -> Result<(), u32> {
        // A chain of pushes has each item once, so in the best order all are done after a push for each pair. A stack is
        // not that order: where it takes longer, what is left is not followed up, which prunes less and loses no plan.
        let mut patience = items.len().saturating_mul(items.len());
        while let Some(forced) = self.queue.pop() {
            if self.is_plain {
                self.push_above_plain(forced as usize, items)?;
            } else {
                self.push_above_spans(forced, items)?;
            }
            patience = patience.saturating_sub(1);
            if patience == 0 {
                break;
            }
        }
        Ok(())
    }

    /// As `push_above_spans`, for items with one stretch each, which is the usual case and quicker.
    fn push_above_plain(&mut self, forced: usize, items: &[u32]) -> Result<(), u32> {
        let (under, late) = (self.spans[forced], self.late[forced]);
        let end = self.early[forced].plus(under.height);
        for &item in items {
            let span = self.spans[item as usize];
            // Items come by their first section, so all that follow start behind the forced item.
            if span.lo >= under.hi {
                break;
            }
            // Even at its lowest offset the item ends above `late`, so it does not fit below the forced item.
            let before = self.early[item as usize];
            let is_in_the_way = before < end && late < before.plus(span.height) && under.lo < span.hi;
            if is_in_the_way && item as usize != forced {
                self.push_to(item, end)?;
            }
        }
        Ok(())
    }

    /// An item is forced to start at `late` at the latest. Every other item that meets it and cannot end below it must
    /// lie above it. Heights change over time here, so each stretch is compared with each.
    fn push_above_spans(&mut self, forced: u32, items: &[u32]) -> Result<(), u32> {
        let last = self.last_section(forced);
        let late = self.late[forced as usize];
        for &item in items {
            if self.first_section(item) >= last {
                break;
            }
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

    /// Raises the lowest offset an item can get. No place left is an error.
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

    /// Takes an item out of the sections that it could fill from `before` but not from `early`.
    fn no_longer_fills(&mut self, item: u32, before: H, early: H) -> Result<(), u32> {
        let one_less = H::ZERO.minus(H::ONE);
        let number = H::ZERO.minus(H::from_granules(u64::from(item)));
        for index in self.span_range(item as usize) {
            let Span { lo, hi, .. } = self.spans[index];
            let (lo, hi) = (lo as usize, hi as usize);
            // Without branches, many sections at a time; few of them need a closer look.
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
