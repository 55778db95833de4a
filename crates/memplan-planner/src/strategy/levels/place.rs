//! First fit over the outline, level by level. If an item finds no room, placements that stand in the way are taken
//! back.
//!
//! The outline says which stretches of addresses are taken when; items are slots of entries, which are buffers that
//! share one address ([`super::entry`]). Level2 … Level0 are [`Level::Pipe`] … [`Level::Lives`].
//!
//! A worked example (capacity 196608, no loops, so every pair counts as the same
//! loop): A twice 55456 bytes, B twice 57600, M 52000; A ends when M starts, M
//! ends when B starts.
//!
//! ```text
//!   A→0, A'→55456, B→110912 (Level2)   B': no room at Level2 … Level0 → 0
//!   M: nowhere.  Take back B', then B: not at 110912 again, and no better than Level 1.
//!   B→0 (Level0), B'→110912            M: nowhere. Take back B' only.
//!   B'→57600 (Level0)                  M→115200
//! ```
//!
//! Words from other files: an [`Outline`] is the memory as bounds, stretches of addresses on which the same items lie;
//! `put` places an item and gives back what is needed to undo that ([`Replaced`]). [`Entries`] has the entries of the
//! space; [`common`] says when two lives meet.

use memplan_core::{BufferId, patience};

use super::Level;
use super::entry::{Entries, Entry, Item, common};
use super::outline::{Outline, Replaced};

/// Bounds and earlier placements looked at before the levels give up.
const WORK: u64 = 20_000_000;
/// Placements taken back before the levels give up.
const ROLLBACKS: u64 = 20_000;
/// Stands for unlimited memory; sums of sizes stay below.
const UNLIMITED: u64 = 1 << 62;

/// Where the entries of a space lie.
#[derive(Clone, Debug)]
pub(super) struct Placed {
    /// Offsets of each entry, in the order of its slots. There are more of them than slots if the entry took over all
    /// slots of a larger multi-buffer ([`Level::Slots`]).
    pub(super) offsets: Vec<Vec<u64>>,
    /// By entry: the worst level of its slots; `None` if nothing had to be shared, or if it has no bytes.
    pub(super) levels: Vec<Option<Level>>,
    /// Overlays (newcomer, victim) that the placement makes use of; only the lowest level does.
    pub(super) overlays: Vec<(BufferId, BufferId)>,
    pub(super) extent: u64,
}

/// Everything side by side; `None` if that does not fit.
pub(super) fn sequential(entries: &Entries) -> Option<Placed> {
    if entries.sum > entries.capacity {
        return None;
    }
    let mut placed = Placed {
        offsets: vec![Vec::new(); entries.list.len()],
        levels: vec![None; entries.list.len()],
        overlays: Vec::new(),
        extent: 0,
    };
    for item in &entries.items {
        placed.offsets[item.entry].push(placed.extent);
        placed.extent += entries.list[item.entry].size;
    }
    Some(placed)
}

/// Whether [`Level::Pipe`] or [`Level::Loop`] forbids two entries to share bytes: because their pipes conflict, or
/// because they are in the same loop. Being outside of any loop counts as one more loop.
fn clashes(one: &Entry, other: &Entry, level: Level) -> bool {
    match level {
        Level::Pipe => one.pipes.conflict(other.pipes),
        _ => one.around == other.around,
    }
}

/// One placement: an item, where it was put, and how to undo that.
#[derive(Clone, Debug)]
struct Record {
    level: Level,
    /// Position in the order of placement.
    index: usize,
    item: Item,
    offset: u64,
    replaced: Replaced,
    /// Whether the item was placed along with the one of an earlier record: a further slot at [`Level::Slots`].
    along: bool,
}

/// Places the items of a space.
pub(super) struct Planner<'e> {
    entries: &'e Entries,
    capacity: u64,
    outline: Outline,
    /// All placements that have not been taken back, the latest last.
    history: Vec<Record>,
    /// By entry and slot: its offset and level. An entry that took over all slots of a larger multi-buffer has more
    /// slots here than it asked for.
    places: Vec<Vec<Option<(u64, Level)>>>,
    /// The item that was taken back last and has to go elsewhere: its position in the order, and the address it must
    /// not have again.
    forbidden: Option<(usize, u64)>,
    /// Whether the lowest level may use overlays.
    in_place: bool,
    /// Bounds and placements looked at so far.
    work: u64,
    /// How often placements were taken back.
    pub(super) rollbacks: u64,
}

impl<'e> Planner<'e> {
    /// A planner before its first placement.
    pub(super) fn new(entries: &'e Entries) -> Planner<'e> {
        Planner {
            entries,
            capacity: entries.capacity,
            outline: Outline::new(0, false),
            history: Vec::new(),
            places: Vec::new(),
            forbidden: None,
            in_place: true,
            work: 0,
            rollbacks: 0,
        }
    }

    /// Forgets all placements and starts over with a memory of this capacity.
    fn restart(&mut self, capacity: u64, split: bool) {
        self.capacity = capacity;
        self.outline = Outline::new(capacity, split);
        self.history.clear();
        let slots = |entry: &Entry| vec![None; entry.slots as usize];
        self.places = self.entries.list.iter().map(slots).collect();
        self.forbidden = None;
    }

    /// The entry that an item is a slot of.
    fn entry(&self, item: Item) -> &'e Entry {
        &self.entries.list[item.entry]
    }

    /// Places all items at one level, with as much memory as it takes; `None` if that is too much work (together with
    /// what has been spent before), if the sum of all sizes is [`UNLIMITED`] or more, or if the caller's patience is
    /// over. At [`Level::Lives`] overlays are used, and the caller is told an extent only and takes no plan of it: a
    /// newcomer may overlay its victim in some slots and not in all. As in the original, the outline is coarse or split
    /// as it was in the try before.
    pub(super) fn unlimited(&mut self, level: Level) -> Option<Placed> {
        if self.entries.sum >= UNLIMITED {
            return None;
        }
        let split = self.outline.split;
        self.in_place = true;
        self.restart(UNLIMITED, split);
        for (index, &item) in self.entries.order.iter().enumerate() {
            if patience::is_over() || !self.put(index, item, level) {
                return None;
            }
        }
        Some(self.placed())
    }

    /// Places all items within the capacity, each at the best level that has room; `None` if that fails. There are four
    /// tries: with overlays and then without, each with the coarse outline and then with the split one. A result in
    /// which two buffers overlay in some slots and not in all is invalid and dropped.
    pub(super) fn within_capacity(&mut self) -> Option<Placed> {
        // (overlays may be used, the outline is split)
        let tries = [(true, false), (true, true), (false, false), (false, true)];
        tries.into_iter().find_map(|(in_place, split)| {
            self.in_place = in_place;
            self.restart(self.entries.capacity, split);
            let placed = self.descend().then(|| self.placed());
            placed.filter(|placed| !self.is_half_overlaid(placed))
        })
    }

    /// Whether the two entries of an overlay share bytes while both are alive, without lying on each other in all
    /// slots.
    fn is_half_overlaid(&self, placed: &Placed) -> bool {
        let list = &self.entries.list;
        self.entries.overlays.keys().any(|&(newcomer, victim)| {
            let (one, other) = (&placed.offsets[newcomer], &placed.offsets[victim]);
            let (size, length) = (list[newcomer].size, list[victim].size);
            let overlap = |&(a, b): &(u64, u64)| a < b + length && b < a + size;
            let mut pairs = one.iter().flat_map(|&a| other.iter().map(move |&b| (a, b)));
            one != other && pairs.any(|pair| overlap(&pair))
        })
    }

    /// Places the items in order, each at the best level that has room for it, and takes placements back where an
    /// item finds none. `false` if nothing is left to take back, or if the caller's patience is over.
    fn descend(&mut self) -> bool {
        let order = &self.entries.order;
        // `start` is the best level that is tried for the next item. `index` is the position of that item in the order,
        // and `resume` the highest position at which an item has found no room.
        let mut start = Level::Pipe;
        let (mut index, mut resume) = (0, 0);
        while let Some(&item) = order.get(index) {
            if patience::is_over() {
                return false;
            }
            // `Level::ALL` begins with the best level.
            let mut levels = Level::ALL.into_iter().filter(|&level| level <= start);
            if levels.any(|level| self.put(index, item, level)) {
                // After placements were taken back, items up to the one that failed stay at the lower level. Otherwise
                // they would go back to the same places and fail again.
                if index >= resume {
                    start = Level::Pipe;
                }
                index += 1;
                continue;
            }
            resume = resume.max(index);
            match self.take_back(self.entry(item).size) {
                Some((again, lower)) => (index, start) = (again, lower),
                None => return false,
            }
        }
        true
    }

    /// Makes room for an item of `size` bytes that found none: takes placements back, the latest first, up to one that
    /// may go elsewhere. Returns the position of that one in the order, and the next lower level to try it at. `None`
    /// if there is none or the limits are reached.
    fn take_back(&mut self, size: u64) -> Option<(usize, Level)> {
        self.rollbacks += 1;
        if self.rollbacks > ROLLBACKS || self.work > WORK {
            return None;
        }
        while let Some(record) = self.history.pop() {
            let Record { level, index, item, offset, replaced, along } = record;
            self.outline.restore(replaced);
            self.forget(item);
            // These are not tried at another level by themselves: slots that were placed along with another one,
            // further slots at the level of their first one (the first is tried instead), the first item of all,
            // which had the whole memory to choose from, and items that are on the lowest level already.
            let with_first = item.slot > 0 && self.level_of(Item { slot: 0, ..item }) == Some(level);
            if along || with_first || index == 0 || level == Level::Lives {
                continue;
            }
            // Moving this placement helps only if the item that found no room would end within the capacity at the
            // offset of this placement. The item of this placement may not get the same offset again.
            if offset.saturating_add(size) <= self.capacity {
                self.forbidden = Some((index, offset));
                let lower = Level::ALL.into_iter().find(|&other| other < level)?;
                return Some((index, lower));
            }
        }
        None
    }

    /// Notes that a slot has no place any more. Slots beyond those that the entry asked for disappear.
    fn forget(&mut self, item: Item) {
        let slots = self.entry(item).slots as usize;
        let places = &mut self.places[item.entry];
        places[item.slot as usize] = None;
        while places.len() > slots && places.last() == Some(&None) {
            places.pop();
        }
    }

    /// The level at which an item is placed; `None` if it is not.
    fn level_of(&self, item: Item) -> Option<Level> {
        let place = self.places[item.entry].get(item.slot as usize).copied().flatten();
        place.map(|(_, level)| level)
    }

    /// Places the item at position `index` of the order at a level, if there is room. Says whether it is placed.
    fn put(&mut self, index: usize, item: Item, level: Level) -> bool {
        // A further slot may have been placed along with the first slot of its entry.
        if self.places[item.entry].get(item.slot as usize).copied().flatten().is_some() {
            return true;
        }
        let size = self.entry(item).size;
        // An item without bytes is in no other item's way, so it is not in the history and never taken back.
        if size == 0 {
            self.places[item.entry][item.slot as usize] = Some((0, level));
            return true;
        }
        let Some((first, last)) = self.room(index, item, level) else { return false };
        let offset = self.outline.bounds[first].offset;
        // On the level `Slots` the item takes over all slots of a multi-buffer, so its own further slots are placed
        // along with the first one. Found before the outline changes: afterwards the bound belongs to this item.
        let donors = if level == Level::Slots { self.donors(item, first) } else { Vec::new() };
        self.record(index, item, level, (first, last), offset, false);
        for (slot, address) in (1..).zip(donors) {
            let along = Item { slot, ..item };
            if let Some(window) = self.outline.window(address, size) {
                self.record(index, along, level, window, address, true);
            }
        }
        true
    }

    /// Puts an item at a place, and notes what is needed to take it back.
    fn record(&mut self, index: usize, item: Item, level: Level, window: (usize, usize), offset: u64, along: bool) {
        let Entry { size, ref life, exclusive, .. } = *self.entry(item);
        let replaced = self.outline.put(window.0, window.1, item, size, life, exclusive);
        let places = &mut self.places[item.entry];
        if places.len() <= item.slot as usize {
            places.resize(item.slot as usize + 1, None);
        }
        places[item.slot as usize] = Some((offset, level));
        self.history.push(Record { level, index, item, offset, replaced, along });
    }

    /// The lowest bounds that an item can have at a level: the positions of the first bound, at whose offset the item
    /// starts, and of the last bound that it reaches into. `None` if there are none, or if more than [`WORK`] was done.
    fn room(&mut self, index: usize, item: Item, level: Level) -> Option<(usize, usize)> {
        let entry = self.entry(item);
        let mut first = 0;
        'starts: while first < self.outline.bounds.len() {
            let address = self.outline.bounds[first].offset;
            // Later starts have higher addresses. If the item does not fit below the capacity from this address, it
            // fits from no later one.
            if self.capacity - address < entry.size || self.work > WORK {
                return None;
            }
            // The bounds `first..=last` are the run. Bounds are added to it until it is long enough for the item.
            let mut last = first;
            loop {
                let bound = self.outline.bounds.get(last)?;
                let end = bound.offset + bound.extent;
                self.work += 1;
                // The item was taken back from this address. The same place would lead to the same dead end.
                let again = last == first && self.forbidden == Some((index, address));
                if again || self.taken(item, level, last, address) {
                    // The bound `last` is taken. Any start between `first` and `last` would reach into it as well, so
                    // the next start is the bound after it.
                    first = last + 1;
                    continue 'starts;
                }
                if end - address >= entry.size {
                    break;
                }
                last += 1;
            }
            if self.allowed(item, level, first, last, address) {
                return Some((first, last));
            }
            first += 1;
        }
        None
    }

    /// Whether a bound is closed to an item that would start at `address`. A *bound* is a stretch of addresses on which
    /// the same items lie (`outline.rs`); `at` is its position in the outline. A bound on which nothing lies is open.
    /// Any other bound is closed
    ///
    /// - if the item is exclusive, or an exclusive item lies on the bound;
    /// - if a slot of the item's own entry lies there (tested here only for entries that are never alive);
    /// - if an entry lies there that must not share with the item's entry;
    /// - if an item lies there that is alive at the same time. At [`Level::Lives`] this is excused if overlays permit
    ///   it for all items on the bound that are alive at the same time.
    ///
    /// The reasons that need a walk over all placements (`history`) add its length to `work`.
    fn taken(&mut self, item: Item, level: Level, at: usize, address: u64) -> bool {
        let entry = self.entry(item);
        let bound = &self.outline.bounds[at];
        // Nothing has been put there.
        if bound.last.is_none() {
            return false;
        }
        let (low, high) = (bound.offset, bound.offset + bound.extent);
        if bound.exclusive || entry.exclusive {
            return true;
        }
        // Slots of one entry never share bytes. If the entry is alive at some step, the comparison of lives below keeps
        // them apart. If it is never alive, that comparison finds nothing, so they are looked for here. Slot 0 is
        // placed before the other slots and has none to avoid.
        if item.slot > 0 && entry.life.is_empty() {
            self.work += self.history.len() as u64;
            if self.over(low, high).any(|record| record.item.entry == item.entry) {
                return true;
            }
        }
        // `entries.apart` has the pairs of entries that must not share, each in both orders.
        self.work += if self.entries.apart.is_empty() { 0 } else { self.history.len() as u64 };
        let apart = !self.entries.apart.is_empty()
            && self.over(low, high).any(|record| self.entries.apart.contains(&(item.entry, record.item.entry)));
        // Closed if such a pair was found. Otherwise open if the item is never alive while the bound is in use.
        if apart || common(&entry.life, &bound.life).is_none() {
            return apart;
        }
        // Some item on the bound is alive with this one. Only overlays can excuse that.
        let excused = level == Level::Lives && self.in_place && !self.entries.overlays.is_empty() && {
            self.work += self.history.len() as u64;
            let mut meeting = self.over(low, high).filter(|record| self.meets(item, record.item));
            meeting.all(|record| self.excused(item, record, address))
        };
        !excused
    }

    /// The placements that have bytes in `low..high`.
    fn over(&self, low: u64, high: u64) -> impl Iterator<Item = &Record> {
        let size = |record: &Record| self.entries.list[record.item.entry].size;
        self.history.iter().filter(move |record| record.offset < high && low < record.offset + size(record))
    }

    /// Whether two items are alive at the same time.
    fn meets(&self, one: Item, other: Item) -> bool {
        common(&self.entry(one).life, &self.entry(other).life).is_some()
    }

    /// Whether overlays permit the item to lie at `address` on a placement that is alive with it (see
    /// [`Entries::overlays`]). The two must have the same base, slot and number of slots.
    fn excused(&self, item: Item, record: &Record, address: u64) -> bool {
        let (mine, theirs) = (item.entry, record.item.entry);
        let is_declared = |pair: (usize, usize)| self.entries.overlays.contains_key(&pair);
        (is_declared((mine, theirs)) || is_declared((theirs, mine)))
            && record.offset == address
            && record.item.slot == item.slot
            && self.entry(item).slots == self.entry(record.item).slots
    }

    /// Whether the level permits an item on the bounds `first..=last`, which are not in use while it lives (see
    /// [`Level`]).
    fn allowed(&mut self, item: Item, level: Level, first: usize, last: usize, address: u64) -> bool {
        let entry = self.entry(item);
        let end = address + entry.size;
        match level {
            Level::Lives => true,
            // The item has to lie on one bound, a slot of a multi-buffer, and to be able to take over all other slots
            // of that multi-buffer as well.
            Level::Slots => {
                self.work += self.history.len() as u64;
                first == last && !self.donors(item, first).is_empty()
            }
            Level::Pipe | Level::Loop => {
                self.work += self.history.len() as u64;
                !self.over(address, end).any(|record| clashes(entry, self.entry(record.item), level))
            }
        }
    }

    /// The addresses of the other slots of the multi-buffer that has this bound, if the item can take all of them over:
    /// it is a first slot, the multi-buffer is of the same loop and has at least as many slots, and all addresses are
    /// free for the item. Empty if not.
    fn donors(&self, item: Item, bound: usize) -> Vec<u64> {
        let entry = self.entry(item);
        let bound = &self.outline.bounds[bound];
        let Some(owner) = bound.last else { return Vec::new() };
        let same_loop = entry.around.is_some() && entry.around == self.entry(owner).around;
        if !same_loop || item.slot > 0 || owner.entry == item.entry {
            return Vec::new();
        }
        // The addresses of all other slots of the owner; `bound` lies in the remaining one.
        let others = self.places[owner.entry].iter().flatten().map(|&(address, _)| address);
        let slot = self.entry(owner).size;
        let donors: Vec<u64> =
            others.filter(|&address| bound.offset < address || bound.offset - address >= slot).collect();
        let enough = donors.len() + 1 >= entry.slots as usize;
        let are_free = enough && donors.iter().all(|&address| self.is_free(item, address));
        if are_free { donors } else { Vec::new() }
    }

    /// Whether an item can have an address: inside of the memory, on nothing exclusive, and without meeting an item
    /// that is alive at the same time or must not share.
    fn is_free(&self, item: Item, address: u64) -> bool {
        let size = self.entry(item).size;
        let end = address + size;
        end <= self.capacity
            && self.outline.window(address, size).is_some()
            && !self.outline.bounds.iter().any(|b| b.exclusive && b.offset < end && address < b.offset + b.extent)
            && self.over(address, end).all(|record| {
                !self.meets(item, record.item) && !self.entries.apart.contains(&(item.entry, record.item.entry))
            })
    }

    /// The result: the offsets of all slots, the worst level that each entry had to put up with, and the extent.
    fn placed(&self) -> Placed {
        let mut levels = vec![None; self.entries.list.len()];
        let mut extent = 0;
        for record in &self.history {
            let level: &mut Option<Level> = &mut levels[record.item.entry];
            *level = Some(level.map_or(record.level, |other| other.min(record.level)));
            extent = extent.max(record.offset + self.entry(record.item).size);
        }
        let offsets: Vec<Vec<u64>> =
            self.places.iter().map(|slots| slots.iter().flatten().map(|place| place.0).collect()).collect();
        Placed { overlays: self.overlays_used(&offsets), offsets, levels, extent }
    }

    /// The overlays that the placement makes use of: those between two entries whose slots all have the same offsets.
    fn overlays_used(&self, offsets: &[Vec<u64>]) -> Vec<(BufferId, BufferId)> {
        let overlays = self.entries.overlays.iter();
        let used = overlays.filter(|&(&(newcomer, victim), _)| offsets[newcomer] == offsets[victim]);
        used.flat_map(|(_, pairs)| pairs).copied().collect()
    }
}
