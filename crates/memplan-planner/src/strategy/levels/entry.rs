//! What the levels place: an entry for each block of buffers with one address, and an item for each slot of an entry.
//!
//! A [`Buffer`] has a *pipe*, the class of the execution unit that makes it, and perhaps a loop around it. Blocks are
//! made of buffers that must share, because the strategy takes no ties; so all members of a block start at one address.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap, HashSet};

use memplan_core::{Buffer, BufferId, Bytes, Id, IndexVec, OverlayKind, Problem, SpaceId, Step};
use smallvec::{SmallVec, smallvec};

use super::Order;
use crate::piece::reserved;

/// Larger sizes (in bytes) are left to the search, so that sums of sizes stay far below 2^64.
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

    /// Takes in the pipes of another buffer of the same entry.
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
    // There are a handful of names for millions of buffers, so those seen before are compared as they are.
    let mut known: Vec<(Option<&str>, Pipes)> = Vec::new();
    let pipes = problem.buffers().iter().map(|buffer| {
        let name = buffer.pipe();
        if let Some(&(_, pipes)) = known.iter().find(|(other, _)| *other == name) {
            return pipes;
        }
        let pipes = Pipes::of(name, &mut names);
        if known.len() < 16 {
            known.push((name, pipes));
        }
        pipes
    });
    pipes.collect()
}

/// Stretches `[start, end)` of life in steps, sorted, with gaps between them.
pub(super) type Life = SmallVec<[(u64, u64); 1]>;

/// The union of two lives.
pub(super) fn unite(one: &[(u64, u64)], other: &[(u64, u64)]) -> Life {
    let mut all: SmallVec<[(u64, u64); 4]> = one.iter().chain(other).copied().collect();
    all.sort_unstable();
    let mut united = Life::new();
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

/// The one step at which two lives meet, and the step after it, if it is the first step of the newcomer and the last of
/// the victim: the newcomer is computed from the victim then. `None` if they meet at another step or at several.
fn handover(newcomer: &[(u64, u64)], victim: &[(u64, u64)]) -> Option<(Step, Step)> {
    let (start, end) = common(newcomer, victim)?;
    let is_first = newcomer.first().is_some_and(|stretch| stretch.0 == start);
    let is_last = victim.last().is_some_and(|stretch| stretch.1 == end);
    (end - start == 1 && is_first && is_last).then_some((Step(start), Step(end)))
}

/// Buffers that must share and so are placed as one: all at the same address.
#[derive(Clone, Debug)]
pub(super) struct Entry {
    pub(super) members: SmallVec<[BufferId; 4]>,
    /// Bytes of the largest member, rounded up to the granule.
    pub(super) size: u64,
    /// When any member is alive.
    pub(super) life: Life,
    pub(super) slots: u32,
    pub(super) exclusive: bool,
    pub(super) pipes: Pipes,
    /// The innermost loop around each member, as a number, if it is the same for all.
    pub(super) around: Option<u32>,
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
    /// Whether all sizes and alignments are small enough for the levels. If not, the entries have wrong sizes.
    pub(super) is_moderate: bool,
    /// Pairs of entries (newcomer, victim) that may lie on each other at the same base though both are alive at one
    /// step, and all pairs of their members that are alive together then.
    pub(super) overlays: BTreeMap<(usize, usize), Vec<(BufferId, BufferId)>>,
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

    /// Takes in the members of another entry: the entry lives as long as any of its members and is as large as the
    /// largest. It keeps its own number of slots. The stretches of life are only collected; [`Entries::group`] puts
    /// them in order.
    fn join(&mut self, other: Entry) {
        self.members.extend(other.members);
        self.size = self.size.max(other.size);
        self.life.extend(other.life);
        self.exclusive |= other.exclusive;
        self.pipes.add(other.pipes);
        if self.around != other.around {
            self.around = None;
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
            is_moderate: granule.is_some(),
            overlays: BTreeMap::new(),
            apart: HashSet::new(),
        };
        let place = entries.group(problem, &ids, granule);
        entries.relate(problem, &place);
        entries.arrange(order);
        Some(entries)
    }

    /// Makes one entry for each block and each buffer outside of blocks, in the order in which lives begin. Returns the
    /// entry of each buffer. A size that is too large, and every size if there is no granule (alignments have no common
    /// multiple that is small enough), is replaced by the largest one.
    fn group(
        &mut self,
        problem: &Problem,
        ids: &[BufferId],
        granule: Option<u64>,
    ) -> IndexVec<BufferId, Option<usize>> {
        let pipes = pipes_of(problem);
        // A number for each loop.
        let mut loops: HashMap<&str, u32> = HashMap::new();
        let mut by_start = ids.to_vec();
        by_start.sort_by_key(|&id| (problem.buffers()[id].lifetime.start(), id));
        let mut place = IndexVec::filled(None, problem.buffers().len());
        let mut of_block = HashMap::new();
        // The loop of the buffer before, because neighbours are mostly in one loop.
        let mut last: Option<(&str, u32)> = None;
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
            let size = size.map(|size| size.0).filter(|&size| size <= LARGEST);
            self.is_moderate &= size.is_some();
            let size = size.unwrap_or(LARGEST);
            let around = buffer.enclosing_loop().map(|name| match last {
                Some((known, number)) if known == name => number,
                _ => {
                    let next = loops.len() as u32;
                    let number = *loops.entry(name).or_insert(next);
                    last = Some((name, number));
                    number
                }
            });
            let new = Entry {
                members: smallvec![id],
                size,
                life,
                slots: buffer.slots,
                exclusive: buffer.exclusive,
                pipes: pipes[id.index()],
                around,
            };
            // If another member of the block has made an entry already, the buffer joins it.
            let known = block.and_then(|block| of_block.get(&block).copied());
            let entry = known.unwrap_or(self.list.len());
            match known {
                Some(known) => self.list[known].join(new),
                None => self.list.push(new),
            }
            if let (Some(block), None) = (block, known) {
                of_block.insert(block, entry);
            }
            place[id] = Some(entry);
        }
        // Once for all members: for each of them it would take time with the square of their number.
        for entry in self.list.iter_mut().filter(|entry| entry.members.len() > 1) {
            entry.life = unite(&entry.life, &[]);
        }
        place
    }

    /// Takes over the overlays and the pairs that must not share, by the numbers of their entries.
    fn relate(&mut self, problem: &Problem, place: &IndexVec<BufferId, Option<usize>>) {
        let entry = |buffer: BufferId| place[buffer];
        // By pair of entries: the overlays that the problem declares between their members.
        let mut declared: BTreeMap<(usize, usize), HashSet<(BufferId, BufferId)>> = BTreeMap::new();
        for overlay in problem.overlays().iter().filter(|overlay| overlay.kind == OverlayKind::SameBase) {
            if let (Some(newcomer), Some(victim)) = (entry(overlay.buffer), entry(overlay.over)) {
                declared.entry((newcomer, victim)).or_default().insert((overlay.buffer, overlay.over));
            }
        }
        for ((newcomer, victim), declared) in declared {
            if let Some(pairs) = self.overlaid(problem, newcomer, victim, &declared) {
                self.overlays.insert((newcomer, victim), pairs);
            }
        }
        for &(one, other) in problem.must_not_share() {
            if let (Some(one), Some(other)) = (entry(one), entry(other)) {
                self.apart.extend([(one, other), (other, one)]);
            }
        }
    }

    /// The pairs of members (of the newcomer, of the victim) that are alive together, if that is at one step only and
    /// `declared` permits all of them to lie on each other; `None` if not. Each member of the victim must have been alive
    /// before that step, because an overlay takes over from an older buffer.
    fn overlaid(
        &self,
        problem: &Problem,
        newcomer: usize,
        victim: usize,
        declared: &HashSet<(BufferId, BufferId)>,
    ) -> Option<Vec<(BufferId, BufferId)>> {
        let (newcomer, victim) = (&self.list[newcomer], &self.list[victim]);
        let (start, end) = handover(&newcomer.life, &victim.life)?;
        let life = |id: BufferId| &problem.buffers()[id].lifetime;
        // Nothing of the newcomer starts before the common step, and nothing of the victim ends after it.
        let mut pairs = Vec::new();
        for &new in newcomer.members.iter().filter(|&&id| life(id).start() == Some(start)) {
            for &old in victim.members.iter().filter(|&&id| life(id).end() == Some(end)) {
                if life(old).start() >= Some(start) || !declared.contains(&(new, old)) {
                    return None;
                }
                pairs.push((new, old));
            }
        }
        Some(pairs)
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
        // Euclid's algorithm; `a` becomes the greatest common divisor.
        let (mut a, mut b) = (granule, alignment);
        while b != 0 {
            (a, b) = (b, a % b);
        }
        granule = (granule / a).checked_mul(alignment).filter(|&product| product <= LARGEST)?;
    }
    Some(granule)
}
