//! What the levels place: an entry for each block of buffers with one address, and an item for each slot of an entry.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap, HashSet};

use memplan_core::{Buffer, BufferId, Bytes, Id, OverlayKind, Problem, SpaceId};

use super::Order;
use crate::piece::reserved;

/// Larger sizes (in bytes) are replaced by this, so that sums of sizes stay far below 2^64. If the capacity is smaller,
/// an entry of this size does not fit, and the space is left to the search.
const LARGEST: u64 = 1 << 56;

/// Which pipes use a buffer, as far as sharing is concerned.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Pipes {
    /// The scalar unit.
    scalar: bool,
    /// An engine that copies between memories.
    dma: bool,
    /// A bit for each other class of units, such as "vector".
    others: u64,
}

impl Pipes {
    /// The class of units that a name means; a buffer without a name belongs to the vector unit. `names` has the bits
    /// of classes that are neither scalar nor DMA. From the 64th on they share the last bit, which only makes two
    /// classes look like one.
    fn of(name: Option<&str>, names: &mut HashMap<String, u32>) -> Pipes {
        let name = name.unwrap_or("vector").to_ascii_lowercase();
        if matches!(name.as_str(), "scalar" | "s") {
            return Pipes { scalar: true, ..Pipes::default() };
        }
        if name == "fix" || name.starts_with("mte") || name.starts_with("dma") {
            return Pipes { dma: true, ..Pipes::default() };
        }
        let next = names.len().min(63) as u32;
        let bit = *names.entry(name).or_insert(next);
        Pipes { others: 1 << bit, ..Pipes::default() }
    }

    fn add(&mut self, other: Pipes) {
        self.scalar |= other.scalar;
        self.dma |= other.dma;
        self.others |= other.others;
    }

    /// Whether a DMA engine moves the buffer while others compute.
    pub(super) fn is_dma(self) -> bool {
        self.dma
    }

    /// Whether sharing would make one pipe wait for another. Ops of one class of units (scalar or other) run one after
    /// the other anyway, so buffers of one class do not conflict. A DMA buffer conflicts with every buffer, other DMA
    /// buffers included, because there are several DMA engines.
    pub(super) fn conflict(self, other: Pipes) -> bool {
        // Whether a unit other than the scalar one uses the buffer.
        let beside_scalar = |pipes: Pipes| pipes.dma || pipes.others != 0;
        if (self.scalar && beside_scalar(other)) || (other.scalar && beside_scalar(self)) {
            return true;
        }
        if (self.dma && beside_scalar(other)) || (other.dma && beside_scalar(self)) {
            return true;
        }
        // More than one bit in the union: the two do not have the same single class.
        let both = self.others | other.others;
        self.others != 0 && other.others != 0 && !both.is_power_of_two()
    }
}

/// The pipes of every buffer of a problem, each on its own (not of the entry it belongs to).
pub(super) fn pipes_of(problem: &Problem) -> Vec<Pipes> {
    let mut names = HashMap::new();
    // "vector" is also what a buffer without a class is.
    names.insert("vector".to_owned(), 0);
    problem.buffers().iter().map(|buffer| Pipes::of(buffer.pipe(), &mut names)).collect()
}

/// Stretches `[start, end)` of life in steps, sorted, with gaps between them.
pub(super) type Life = Vec<(u64, u64)>;

/// The union of two lives.
pub(super) fn unite(one: &[(u64, u64)], other: &[(u64, u64)]) -> Life {
    let mut all: Life = one.iter().chain(other).copied().collect();
    all.sort_unstable();
    let mut united: Life = Vec::with_capacity(all.len());
    for (start, end) in all {
        match united.last_mut() {
            Some(last) if start <= last.1 => last.1 = last.1.max(end),
            _ => united.push((start, end)),
        }
    }
    united
}

/// The first step at which both lives are alive, and the end of the last stretch in which both are; `None` if they
/// never meet.
pub(super) fn common(one: &[(u64, u64)], other: &[(u64, u64)]) -> Option<(u64, u64)> {
    let (mut a, mut b) = (0, 0);
    let mut found: Option<(u64, u64)> = None;
    // Both lists are walked at once. Of the two present stretches, the one that ends first is followed by the next of
    // its list.
    while let (Some(&x), Some(&y)) = (one.get(a), other.get(b)) {
        let (start, end) = (x.0.max(y.0), x.1.min(y.1));
        if start < end {
            found = Some(found.map_or((start, end), |hull| (hull.0, end)));
        }
        if x.1 <= y.1 { a += 1 } else { b += 1 }
    }
    found
}

/// Buffers that must share and so are placed as one: all at the same address.
#[derive(Clone, Debug)]
pub(super) struct Entry {
    pub(super) members: Vec<BufferId>,
    /// Bytes of the largest member, rounded up to the granule.
    pub(super) size: u64,
    /// When any member is alive.
    pub(super) life: Life,
    pub(super) slots: u32,
    pub(super) exclusive: bool,
    pub(super) pipes: Pipes,
    /// The innermost loop around each member, if it is the same for all.
    pub(super) around: Option<String>,
}

/// A slot of an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Item {
    pub(super) entry: usize,
    pub(super) slot: u32,
}

/// The entries of one space.
pub(super) struct Entries {
    pub(super) list: Vec<Entry>,
    /// In the order in which they lie side by side.
    pub(super) items: Vec<Item>,
    /// In the order in which they are placed when memory is short.
    pub(super) order: Vec<Item>,
    /// Buffers that are never alive, so they may lie anywhere.
    pub(super) unused: Vec<BufferId>,
    /// Bytes of the space; `u64::MAX` if it has no capacity.
    pub(super) capacity: u64,
    /// Bytes of all items side by side.
    pub(super) sum: u64,
    /// Pairs of buffers (newcomer, victim) that may overlay at the same base, by the entries of the two.
    pub(super) overlays: BTreeMap<(usize, usize), (BufferId, BufferId)>,
    /// Pairs of entries that must not share, in both orders.
    pub(super) apart: HashSet<(usize, usize)>,
}

impl Entry {
    /// The class in which the entry is placed. Exclusive buffers have the least choice, so they are placed first. Then
    /// come DMA buffers, because sharing with them costs the most, and scalar buffers last.
    fn class(&self) -> u8 {
        match (self.exclusive, self.pipes.scalar, self.pipes.dma) {
            (true, _, _) => 0,
            (_, true, _) => 3,
            (_, _, true) => 1,
            _ => 2,
        }
    }

    /// Entries are placed in the order of their ranks. Within a class the original keeps the order of the program
    /// unless it is asked for the largest first.
    fn rank(&self, order: Order) -> (u8, Reverse<u64>) {
        match (self.class(), order) {
            (class @ 1.., Order::LargestFirst) => (class, Reverse(self.size)),
            (class, _) => (class, Reverse(0)),
        }
    }
}

impl Entries {
    /// The entries of a space, and the two orders of their items; `None` if the space has no buffers.
    pub(super) fn of(problem: &Problem, space: SpaceId, order: Order) -> Option<Entries> {
        let here = |buffer: &Buffer| buffer.spaces.first() == Some(&space);
        let ids: Vec<BufferId> = problem.buffers().ids().filter(|&id| here(&problem.buffers()[id])).collect();
        if ids.is_empty() {
            return None;
        }
        let granule = granule(problem, space, &ids);
        let mut entries = Entries {
            list: Vec::new(),
            items: Vec::new(),
            order: Vec::new(),
            unused: Vec::new(),
            capacity: problem.spaces()[space].capacity.map_or(u64::MAX, |capacity| capacity.0),
            sum: 0,
            overlays: BTreeMap::new(),
            apart: HashSet::new(),
        };
        let place = entries.group(problem, &ids, granule);
        entries.relate(problem, &place);
        entries.arrange(order);
        Some(entries)
    }

    /// Makes one entry for each block and each buffer outside of blocks, in the order in which lives begin. Returns the
    /// entry of each buffer. Without a granule (alignments have no common multiple that is small enough) every entry
    /// gets the largest size.
    fn group(&mut self, problem: &Problem, ids: &[BufferId], granule: Option<u64>) -> HashMap<BufferId, usize> {
        let pipes = pipes_of(problem);
        let mut by_start = ids.to_vec();
        by_start.sort_by_key(|&id| (problem.buffers()[id].lifetime.start(), id));
        let mut place: HashMap<BufferId, usize> = HashMap::new();
        let mut of_block = HashMap::new();
        // A buffer that is never alive may need bytes of its own all the same, if it is exclusive or must not share.
        let restricted = !problem.must_not_share().is_empty() || ids.iter().any(|&id| problem.buffers()[id].exclusive);
        for id in by_start {
            let buffer = &problem.buffers()[id];
            let block = problem.blocks().place_of(id).map(|(block, _)| block);
            if buffer.lifetime.is_empty() && block.is_none() && buffer.slots == 1 && !restricted {
                self.unused.push(id);
                continue;
            }
            // Stretches that touch become one. Windows are ignored: a buffer counts with all its bytes whenever it is
            // alive.
            let life: Life = buffer.lifetime.intervals().map(|part| (part.start.0, part.end.0)).collect();
            let life = unite(&life, &[]);
            let bytes = reserved(buffer);
            let size = granule.and_then(|granule| bytes.align_up(Bytes(granule)));
            let size = size.map_or(LARGEST, |size| size.0.min(LARGEST));
            // If another member of the block has made an entry already, the buffer joins it.
            let known = block.and_then(|block| of_block.get(&block).copied());
            if let Some(entry) = known {
                self.join(entry, buffer, id, size, &life, pipes[id.index()]);
                place.insert(id, entry);
                continue;
            }
            let entry = self.list.len();
            self.list.push(Entry {
                members: vec![id],
                size,
                life,
                slots: buffer.slots,
                exclusive: buffer.exclusive,
                pipes: pipes[id.index()],
                around: buffer.enclosing_loop().map(str::to_owned),
            });
            if let Some(block) = block {
                of_block.insert(block, entry);
            }
            place.insert(id, entry);
        }
        place
    }

    /// Adds a buffer to an entry: the entry lives as long as any of its members and is as large as the largest.
    fn join(&mut self, entry: usize, buffer: &Buffer, id: BufferId, size: u64, life: &Life, pipes: Pipes) {
        let entry = &mut self.list[entry];
        entry.members.push(id);
        entry.size = entry.size.max(size);
        entry.life = unite(&entry.life, life);
        entry.exclusive |= buffer.exclusive;
        entry.pipes.add(pipes);
        if entry.around.as_deref() != buffer.enclosing_loop() {
            entry.around = None;
        }
    }

    /// Takes over the overlays and the pairs that must not share, by the numbers of their entries.
    fn relate(&mut self, problem: &Problem, place: &HashMap<BufferId, usize>) {
        let entry = |buffer: BufferId| place.get(&buffer).copied();
        for overlay in problem.overlays().iter().filter(|overlay| overlay.kind == OverlayKind::SameBase) {
            if let (Some(newcomer), Some(victim)) = (entry(overlay.buffer), entry(overlay.over)) {
                self.overlays.entry((newcomer, victim)).or_insert((overlay.buffer, overlay.over));
            }
        }
        for &(one, other) in problem.must_not_share() {
            if let (Some(one), Some(other)) = (entry(one), entry(other)) {
                self.apart.extend([(one, other), (other, one)]);
            }
        }
    }

    /// Lists the items twice: in the order in which they lie side by side if nothing is shared, and in the order in
    /// which they are placed if memory is short ([`Entry::class`]).
    fn arrange(&mut self, order: Order) {
        // This is the order of the plan in which nothing is shared: the first slots of all entries, then their
        // further slots.
        self.items = (0..self.list.len()).map(|entry| Item { entry, slot: 0 }).collect();
        for entry in 0..self.list.len() {
            self.items.extend((1..self.list[entry].slots).map(|slot| Item { entry, slot }));
        }
        self.sum = self.items.iter().map(|item| self.list[item.entry].size).fold(0, u64::saturating_add);
        let mut entries: Vec<usize> = (0..self.list.len()).collect();
        entries.sort_by_key(|&entry| self.list[entry].rank(order));
        let slots = entries.into_iter().map(|entry| (entry, self.list[entry].slots));
        self.order = slots.flat_map(|(entry, slots)| (0..slots).map(move |slot| Item { entry, slot })).collect();
    }
}

/// The least common multiple of all alignments in the space. Sizes are rounded up to it, so that everything that is put
/// end to end is aligned. `None` if it is too large.
fn granule(problem: &Problem, space: SpaceId, ids: &[BufferId]) -> Option<u64> {
    let mut granule = 1u64;
    for &id in ids {
        let alignment = problem.alignment_in(id, space).0;
        let (mut a, mut b) = (granule, alignment);
        while b != 0 {
            (a, b) = (b, a % b);
        }
        granule = (granule / a).checked_mul(alignment).filter(|&product| product <= LARGEST)?;
    }
    Some(granule)
}
