//! Building a problem: collecting its parts and checking that they fit together.
//!
//! The checks of [`ProblemBuilder::build`] come in an order: spaces, buffers, relations between buffers, and then what
//! needs all of these.

use std::collections::HashMap;
use std::hash::Hash;

use super::{Buffer, Dependencies, MAX_EXTRA_SLOTS, MAX_SLOTS, Overlay, Problem, ProblemError, ReuseCost, Size, Space};
use crate::block::Blocks;
use crate::{BufferId, Bytes, GroupId, Id, IndexVec, MAX_BYTES, MAX_STEP, SpaceId};

/// Collects the parts of a [`Problem`]; [`build`](ProblemBuilder::build) checks them.
#[derive(Clone, Debug, Default)]
pub struct ProblemBuilder {
    pub(super) spaces: IndexVec<SpaceId, Space>,
    pub(super) buffers: IndexVec<BufferId, Buffer>,
    pub(super) groups: IndexVec<GroupId, String>,
    pub(super) overlays: Vec<Overlay>,
    pub(super) must_share: Vec<(BufferId, BufferId)>,
    pub(super) must_not_share: Vec<(BufferId, BufferId)>,
    pub(super) reuse_costs: Vec<ReuseCost>,
    pub(super) dependencies: Option<Dependencies>,
}

impl ProblemBuilder {
    /// Nothing yet. If no space is added, `build` adds an unbounded one called `default`.
    pub fn new() -> ProblemBuilder {
        ProblemBuilder::default()
    }

    /// Adds a memory space.
    pub fn space(&mut self, space: Space) -> SpaceId {
        self.spaces.push(space)
    }

    /// Makes room for this many further buffers, for callers that know how many there will be.
    pub fn reserve(&mut self, buffers: usize) {
        self.buffers.reserve_exact(buffers);
    }

    /// Adds a buffer.
    pub fn buffer(&mut self, buffer: Buffer) -> BufferId {
        self.buffers.push(buffer)
    }

    /// Adds a tie group.
    pub fn group(&mut self, name: impl Into<String>) -> GroupId {
        self.groups.push(name.into())
    }

    /// Permits one buffer to start on another's bytes.
    pub fn overlay(&mut self, overlay: Overlay) {
        self.overlays.push(overlay);
    }

    /// Makes two buffers start at the same offset of the same space.
    pub fn must_share(&mut self, one: BufferId, other: BufferId) {
        self.must_share.push((one, other));
    }

    /// Keeps two buffers from having a byte in common.
    pub fn must_not_share(&mut self, one: BufferId, other: BufferId) {
        self.must_not_share.push((one, other));
    }

    /// Puts a price on two buffers having a byte in common. A pair that is named twice costs the sum.
    pub fn reuse_cost(&mut self, cost: ReuseCost) {
        self.reuse_costs.push(cost);
    }

    /// The prices so far, to change.
    pub fn reuse_costs_mut(&mut self) -> &mut Vec<ReuseCost> {
        &mut self.reuse_costs
    }

    /// Declares that the order of execution is not fixed.
    pub fn dependencies(&mut self, dependencies: Dependencies) {
        self.dependencies = Some(dependencies);
    }

    /// The spaces so far, to change.
    pub fn spaces_mut(&mut self) -> &mut IndexVec<SpaceId, Space> {
        &mut self.spaces
    }

    /// The buffers so far, to change.
    pub fn buffers_mut(&mut self) -> &mut IndexVec<BufferId, Buffer> {
        &mut self.buffers
    }

    /// Checks everything and makes the problem.
    ///
    /// Afterwards: names are unique, every id is in range, every buffer has at
    /// least one candidate space, lives are sorted and disjoint, windows lie
    /// inside their buffers, fixed offsets and tie positions are aligned, and
    /// the sizes of all slots of all buffers, padded to their alignments, add
    /// up to at most [`MAX_BYTES`] together with the largest fixed offset of
    /// every space: no sum of sizes and offsets that a sensible planner forms
    /// can overflow.
    /// The weights of all reuse costs add up to at most [`MAX_BYTES`], too.
    pub fn build(mut self) -> Result<Problem, ProblemError> {
        if self.spaces.is_empty() {
            self.spaces.push(Space::new("default"));
        }
        // Ids are 32-bit numbers.
        if u32::try_from(self.buffers.len()).is_err() {
            return Err(ProblemError::TooManyBuffers { count: self.buffers.len() });
        }
        self.check_spaces()?;
        self.check_buffers()?;
        self.check_relations()?;
        // Each check relies on the checks before it: blocks need valid ties, and pairs that must not share are compared
        // with blocks.
        let blocks = Blocks::of(&self.buffers, &self.must_share)?;
        self.check_apart(&blocks)?;
        self.check_costs()?;
        self.check_dependencies()?;
        Ok(Problem {
            spaces: self.spaces,
            buffers: self.buffers,
            groups: self.groups,
            overlays: self.overlays,
            must_share: self.must_share,
            must_not_share: self.must_not_share,
            reuse_costs: self.reuse_costs,
            dependencies: self.dependencies,
            blocks,
        })
    }

    /// Checks the spaces: names are unique, alignments are at least 1, and base and capacity add up to at most
    /// [`MAX_BYTES`].
    fn check_spaces(&self) -> Result<(), ProblemError> {
        if let Some(space) = first_duplicate(&self.spaces, |space| space.name.as_str()) {
            return Err(ProblemError::DuplicateSpace { space, name: self.spaces[space].name.clone() });
        }
        for (id, space) in self.spaces.iter_enumerated() {
            let name = || space.name.clone();
            if space.alignment.0 == 0 {
                return Err(ProblemError::ZeroSpaceAlignment { space: id, name: name() });
            }
            // A space without a capacity may have any extent; extents are checked with the buffers.
            let end = space.base.checked_add(space.capacity.unwrap_or_default());
            if end.is_none() || space.alignment.0 > MAX_BYTES {
                return Err(ProblemError::SpaceTooLarge { space: id, name: name() });
            }
        }
        Ok(())
    }

    /// Checks all buffers, and that no sum of their sizes and offsets can overflow.
    fn check_buffers(&mut self) -> Result<(), ProblemError> {
        if let Some(buffer) = first_duplicate(&self.buffers, |buffer| buffer.name.as_str()) {
            return Err(ProblemError::DuplicateBuffer { buffer, name: self.buffers[buffer].name.clone() });
        }
        // The padded sizes of all slots and the inner offsets of all ties, added up, together with the highest fixed
        // offset of every space. No offset that a planner can come to in a space, and no sum of the extents of all
        // spaces, exceeds this sum. If it is at most `MAX_BYTES`, nothing overflows later.
        let mut sum = Bytes::ZERO;
        let mut highest_fixed: IndexVec<SpaceId, Bytes> = IndexVec::filled(Bytes::ZERO, self.spaces.len());
        let mut extra_slots = 0;
        for id in self.buffers.ids() {
            // No candidate space means the first space.
            let buffer = &mut self.buffers[id];
            if buffer.spaces.is_empty() {
                buffer.spaces.push(SpaceId::from_index(0));
            }
            let buffer = &self.buffers[id];
            let padded = self.check_buffer(id, buffer)?;
            extra_slots += u64::from(buffer.slots) - 1;
            if buffer.slots > MAX_SLOTS || extra_slots > MAX_EXTRA_SLOTS {
                let (name, slots) = (buffer.name.clone(), buffer.slots);
                return Err(ProblemError::TooManySlots { buffer: id, name, slots });
            }
            sum = sum.checked_add(padded).ok_or_else(|| too_large(id, buffer, "the sum of all sizes"))?;
            if let Some(fixed) = buffer.fixed() {
                for &space in &buffer.spaces {
                    // The sum has the old highest offset of the space already.
                    let more = fixed.0.saturating_sub(highest_fixed[space].0);
                    highest_fixed[space] = highest_fixed[space].max(fixed);
                    let end = sum.checked_add(Bytes(more));
                    sum = end.ok_or_else(|| too_large(id, buffer, "its end at the fixed offset"))?;
                }
            }
            let highest_tie = buffer.tie().map_or(Bytes::ZERO, |tie| tie.at);
            sum = sum.checked_add(highest_tie).ok_or_else(|| too_large(id, buffer, "the sum of all sizes"))?;
        }
        Ok(())
    }

    /// Checks one buffer on its own; returns an upper bound of the bytes it can take.
    fn check_buffer(&self, id: BufferId, buffer: &Buffer) -> Result<Bytes, ProblemError> {
        if buffer.alignment.0 == 0 {
            return Err(ProblemError::ZeroAlignment { buffer: id, name: buffer.name.clone() });
        }
        if buffer.slots == 0 {
            return Err(ProblemError::ZeroSlots { buffer: id, name: buffer.name.clone() });
        }
        if buffer.tie().is_some_and(|tie| tie.group.index() >= self.groups.len()) {
            return Err(ProblemError::UnknownGroup { buffer: id, name: buffer.name.clone() });
        }
        check_lifetime(id, buffer)?;
        let size = check_size(id, buffer)?;
        // In every space that the buffer may go to, its offset is a multiple of its own alignment and of
        // the space's.
        let mut largest_alignment = buffer.alignment;
        for &space in &buffer.spaces {
            let Some(space_info) = self.spaces.get(space) else {
                return Err(ProblemError::UnknownSpace { buffer: id, name: buffer.name.clone() });
            };
            let alignment = buffer
                .alignment
                .least_common_multiple(space_info.alignment)
                .ok_or_else(|| too_large(id, buffer, "its alignment"))?;
            check_positions(id, buffer, alignment)?;
            if !space_info.base.is_aligned_to(alignment) {
                return Err(ProblemError::BaseMisaligned {
                    space,
                    name: space_info.name.clone(),
                    base: space_info.base,
                    alignment,
                    buffer_name: buffer.name.clone(),
                });
            }
            largest_alignment = largest_alignment.max(alignment);
        }
        // A slot never takes more than its size and one alignment of padding.
        size.checked_add(largest_alignment)
            .and_then(|padded| padded.checked_mul(u64::from(buffer.slots)))
            .ok_or_else(|| too_large(id, buffer, "its size"))
    }

    /// Checks overlays, must-share and must-not-share pairs and prices: their buffers exist, and no buffer is related
    /// to itself.
    fn check_relations(&self) -> Result<(), ProblemError> {
        let overlays = self.overlays.iter().map(|overlay| (overlay.buffer, overlay.over));
        let pairs = self.must_share.iter().chain(&self.must_not_share).copied();
        let priced = self.reuse_costs.iter().map(|cost| (cost.one, cost.other));
        for (one, other) in overlays.chain(pairs).chain(priced) {
            // Ids of another problem may be out of range here.
            for buffer in [one, other] {
                if buffer.index() >= self.buffers.len() {
                    return Err(ProblemError::UnknownBuffer { index: buffer.index(), count: self.buffers.len() });
                }
            }
            if one == other {
                return Err(ProblemError::SelfRelation { buffer: one, name: self.buffers[one].name.clone() });
            }
        }
        Ok(())
    }

    /// Checks that two buffers that must not share do not overlap in a block that both belong to: the block fixes their
    /// distance, so no plan could keep them apart.
    fn check_apart(&self, blocks: &Blocks) -> Result<(), ProblemError> {
        for &(one, other) in &self.must_not_share {
            let (Some((block, at)), Some((other_block, other_at))) = (blocks.place_of(one), blocks.place_of(other))
            else {
                continue;
            };
            let end = |buffer: BufferId, at: Bytes| at.0 + self.buffers[buffer].bytes().unwrap_or_default().0;
            if block == other_block && at.0 < end(other, other_at) && other_at.0 < end(one, at) {
                return Err(ProblemError::ShareAndNot {
                    buffer: one,
                    name: self.buffers[one].name.clone(),
                    other: self.buffers[other].name.clone(),
                });
            }
        }
        Ok(())
    }

    /// The cost of a plan is a sum of weights, so the sum of all weights must be at most `MAX_BYTES`.
    fn check_costs(&self) -> Result<(), ProblemError> {
        let sum = self.reuse_costs.iter().try_fold(0u64, |sum, cost| sum.checked_add(cost.weight));
        match sum.filter(|&sum| sum <= MAX_BYTES) {
            Some(_) => Ok(()),
            None => Err(ProblemError::CostsTooLarge),
        }
    }

    /// Checks the dependencies: there is one list for each buffer, they name known buffers only, and have no cycles.
    fn check_dependencies(&self) -> Result<(), ProblemError> {
        let Some(dependencies) = &self.dependencies else { return Ok(()) };
        let count = self.buffers.len();
        if dependencies.children.len() != count {
            return Err(ProblemError::DependencyCount { given: dependencies.children.len(), count });
        }
        let named = dependencies.children.iter().flatten().chain(&dependencies.read_by_outputs);
        if let Some(unknown) = named.clone().find(|buffer| buffer.index() >= count) {
            return Err(ProblemError::UnknownBuffer { index: unknown.index(), count });
        }
        if let Some(buffer) = buffer_on_cycle(&dependencies.children) {
            return Err(ProblemError::DependencyCycle { buffer, name: self.buffers[buffer].name.clone() });
        }
        Ok(())
    }
}

/// The first item whose key an earlier item has, too.
fn first_duplicate<'a, I: Id, T, K: Hash + Eq>(items: &'a IndexVec<I, T>, key: impl Fn(&'a T) -> K) -> Option<I> {
    // `insert` says whether the key is new.
    let mut seen = std::collections::HashSet::with_capacity(items.len());
    items.iter_enumerated().find(|(_, item)| !seen.insert(key(item))).map(|(id, _)| id)
}

/// Checks a lifetime: no stretch ends before it starts or beyond [`MAX_STEP`], and no two stretches overlap. They are
/// sorted by their start, so it is enough to compare neighbours.
fn check_lifetime(id: BufferId, buffer: &Buffer) -> Result<(), ProblemError> {
    let name = || buffer.name.clone();
    let intervals = buffer.lifetime.intervals();
    for interval in intervals.clone() {
        if interval.end < interval.start {
            let (start, end) = (interval.start, interval.end);
            return Err(ProblemError::EndBeforeStart { buffer: id, name: name(), start, end });
        }
        if interval.end.0 > MAX_STEP {
            return Err(ProblemError::StepTooLarge { buffer: id, name: name() });
        }
    }
    // Each stretch with the next one.
    let mut neighbours = intervals.clone().zip(intervals.skip(1));
    match neighbours.find(|(earlier, later)| later.start < earlier.end) {
        Some((_, later)) => Err(ProblemError::OverlappingIntervals { buffer: id, name: name(), step: later.start }),
        None => Ok(()),
    }
}

/// Checks the size and the windows inside it; returns the bytes of one slot.
fn check_size(id: BufferId, buffer: &Buffer) -> Result<Bytes, ProblemError> {
    // A size that is known only while the program runs counts with its bound, and not at all without one.
    let size = match &buffer.size {
        Size::Fixed(bytes) => *bytes,
        Size::Symbolic { at_most, .. } => at_most.unwrap_or_default(),
        Size::Shape(components) => {
            if !(2..=4).contains(&components.len()) {
                let count = components.len();
                return Err(ProblemError::ShapeComponents { buffer: id, name: buffer.name.clone(), count });
            }
            let product = components.iter().try_fold(Bytes(1), |product, &component| product.checked_mul(component));
            product.ok_or_else(|| too_large(id, buffer, "its size"))?
        }
    };
    if size.0 > MAX_BYTES {
        return Err(too_large(id, buffer, "its size"));
    }
    // A window is the part of the buffer that an interval keeps alive.
    for window in buffer.lifetime.intervals().filter_map(|interval| interval.window) {
        let Some(size) = buffer.bytes() else {
            return Err(ProblemError::WindowOfUnknownSize { buffer: id, name: buffer.name.clone() });
        };
        if window.low > window.high || window.high > size {
            let (low, high) = (window.low, window.high);
            return Err(ProblemError::WindowOutside { buffer: id, name: buffer.name.clone(), low, high, size });
        }
    }
    Ok(size)
}

/// The error about a buffer with a number that is too large; `what` says which number.
fn too_large(buffer: BufferId, info: &Buffer, what: &'static str) -> ProblemError {
    ProblemError::TooLarge { buffer, name: info.name.clone(), what }
}

/// Checks that a fixed offset and the place in a tie group are multiples of the alignment that the buffer has in a
/// space. A buffer with several slots cannot be fixed, since it would need several offsets.
fn check_positions(id: BufferId, buffer: &Buffer, alignment: Bytes) -> Result<(), ProblemError> {
    let name = || buffer.name.clone();
    if let Some(offset) = buffer.fixed() {
        if buffer.slots > 1 {
            return Err(ProblemError::FixedSlots { buffer: id, name: name(), slots: buffer.slots });
        }
        if !offset.is_aligned_to(alignment) {
            return Err(ProblemError::FixedMisaligned { buffer: id, name: name(), offset, alignment });
        }
        if offset.0 > MAX_BYTES {
            return Err(too_large(id, buffer, "its fixed offset"));
        }
    }
    match buffer.tie() {
        Some(tie) if !tie.at.is_aligned_to(alignment) => {
            Err(ProblemError::TieMisaligned { buffer: id, name: name(), at: tie.at, alignment })
        }
        _ => Ok(()),
    }
}

/// A buffer on a cycle of the dependencies; `None` if there is no cycle. Kahn's algorithm: buffers without parents, or
/// whose parents have all been removed, are removed one after the other (*peeled*). A buffer that cannot be peeled is
/// on a cycle or is computed from one. Walking from such a buffer to an unpeeled parent, again and again, leads onto a
/// cycle.
fn buffer_on_cycle(children: &IndexVec<BufferId, Vec<BufferId>>) -> Option<BufferId> {
    let mut open_parents = IndexVec::<BufferId, u32>::filled(0, children.len());
    for &child in children.iter().flatten() {
        // A child that is listed twice at one parent is counted twice here and twice when the parent is removed.
        open_parents[child] += 1;
    }
    let mut ready: Vec<BufferId> = children.ids().filter(|&buffer| open_parents[buffer] == 0).collect();
    let mut peeled = 0;
    while let Some(buffer) = ready.pop() {
        peeled += 1;
        for &child in &children[buffer] {
            open_parents[child] -= 1;
            if open_parents[child] == 0 {
                ready.push(child);
            }
        }
    }
    if peeled == children.len() {
        return None;
    }
    // Every buffer that is left has a parent that is left, so the walk never ends. After as many moves as there are
    // buffers it is on a cycle.
    let mut unpeeled_parent = HashMap::new();
    for (parent, its_children) in children.iter_enumerated().filter(|&(parent, _)| open_parents[parent] > 0) {
        unpeeled_parent.extend(its_children.iter().map(|&child| (child, parent)));
    }
    let mut buffer = children.ids().find(|&buffer| open_parents[buffer] > 0)?;
    for _ in 0..children.len() {
        buffer = unpeeled_parent[&buffer];
    }
    Some(buffer)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Lifetime;

    #[test]
    fn slots_are_a_handful() {
        let slots = |slots: u32, buffers: usize| {
            let mut builder = ProblemBuilder::new();
            for index in 0..buffers {
                builder.buffer(Buffer { slots, ..Buffer::new(index.to_string(), 0, Lifetime::new(0, 1)) });
            }
            builder.build()
        };
        assert!(slots(MAX_SLOTS, 1).is_ok());
        let error = slots(MAX_SLOTS + 1, 1).unwrap_err();
        assert!(error.to_string().contains("at most 4096"), "{error}");
        assert!(matches!(slots(MAX_SLOTS, 300), Err(ProblemError::TooManySlots { .. })));
    }

    /// The extent of a plan is the sum over all spaces, so the fixed offsets of all spaces count together.
    #[test]
    fn fixed_offsets_of_several_spaces_do_not_overflow() {
        let fixed = |spaces: usize, offset: u64| {
            let mut builder = ProblemBuilder::new();
            for index in 0..spaces {
                let space = builder.space(Space::new(index.to_string()));
                let mut buffer = Buffer::new(index.to_string(), 4, Lifetime::new(0, 1));
                buffer.spaces.push(space);
                buffer.set_fixed(Some(Bytes(offset)));
                builder.buffer(buffer);
            }
            builder.build()
        };
        assert!(fixed(1, MAX_BYTES - 64).is_ok());
        assert!(fixed(3, MAX_BYTES / 4).is_ok());
        assert!(matches!(fixed(2, MAX_BYTES - 64), Err(ProblemError::TooLarge { .. })));
    }
}
