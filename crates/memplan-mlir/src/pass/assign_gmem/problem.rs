//! The tensors of a network as buffers of a packing problem.
//!
//! There is a buffer for every tensor that lies in no other. A merged concat (one whose
//! operands are computed directly into their places in its result) becomes ties: the operands
//! lie at their places in the result. Each keeps its own lifetime, so that the place of an
//! operand that is not written yet is free for other tensors.
//!
//! Merged tensors form trees: a result with its operands inside, which may be results
//! themselves. The outermost result is the *top* of the tree, the others are *inner*.
//!
//! The spaces, in this order: 0 is the activations' area (`neuron`), then the other areas of
//! the address mode, and last the on-chip memory, if there is one. A tensor with a prescribed
//! place in an area has a *home* there.

use memplan_core::{
    Buffer, BufferId, Bytes, GroupId, Id, IndexVec, Lifetime, Plan, Problem, ProblemBuilder, ProblemError, Size, Space,
    SpaceId, Tie,
};
use smallvec::{SmallVec, smallvec};

// `Merges::places` gives for each tensor the top of its tree and the byte of the top at which it begins. `Life` is
// the steps at which a tensor's memory is needed. A `Tie` puts a buffer at a fixed distance from the others of its
// group.
use super::areas::Areas;
use super::chip::Chip;
use super::lifecycle::Life;
use super::merge::Merges;
use super::network::{Network, TensorId};

/// Everything that is settled before the packing.
pub(super) struct Setting<'a> {
    pub(super) network: &'a Network,
    pub(super) chip: &'a Chip,
    pub(super) areas: &'a Areas,
    pub(super) lives: &'a IndexVec<TensorId, Life>,
    /// Bytes of on-chip memory that may be used; `None` if the chip has none.
    pub(super) on_chip: Option<u64>,
}

/// A problem, and the tensor behind each buffer.
#[derive(Clone, Debug)]
pub(super) struct TensorProblem {
    /// The problem.
    pub problem: Problem,
    /// The tensors.
    pub tensors: IndexVec<BufferId, TensorId>,
}

/// The space of the activations.
pub(super) fn neuron() -> SpaceId {
    SpaceId::from_index(0)
}

/// The space of an area.
fn area_space(area: usize) -> SpaceId {
    SpaceId::from_index(1 + area)
}

impl Setting<'_> {
    /// The space of on-chip memory, the last one.
    pub(super) fn on_chip_space(&self) -> Option<SpaceId> {
        self.on_chip.map(|_| area_space(self.areas.list.len()))
    }

    /// The packing problem for a choice of merges. An error means that sizes are too large.
    pub(super) fn problem(&self, merges: &Merges) -> Result<TensorProblem, ProblemError> {
        let places = merges.places();
        let stays = self.stays_in_ddr(merges);
        let mut builder = self.spaces();
        builder.reserve(self.network.roots_of_memory().count());
        let mut groups: IndexVec<TensorId, Option<GroupId>> = IndexVec::filled(None, self.network.tensors.len());
        let mut tensors = IndexVec::default();
        for id in self.network.roots_of_memory() {
            let place = places[id];
            let inner = merges.is_inner(id);
            // Tensors of one merged tree form a group, which is named after the tree's top.
            if inner && groups[place.top].is_none() {
                groups[place.top] = Some(builder.group(self.network.name(place.top)));
            }
            // All tensors of a tree lie in one space, so the tree's top decides.
            let mut buffer = self.buffer(id, inner);
            buffer.spaces = self.candidates(place.top, stays[place.top]);
            buffer.set_fixed(self.home(id).map(Bytes));
            builder.buffer(buffer);
            tensors.push(id);
        }
        // Ties are set in a second pass, because a group is only made when its first inner tensor is met, and the top
        // may have come before it.
        for (buffer, &id) in tensors.iter_enumerated() {
            let place = places[id];
            let tie = groups[place.top].map(|group| Tie { group, at: Bytes(place.at) });
            builder.buffers_mut()[buffer].set_tie(tie);
        }
        Ok(TensorProblem { problem: builder.build()?, tensors })
    }

    /// A builder with the spaces of the problem: the activations' area, the other areas, and on-chip memory. Only the
    /// last has a capacity here; whether the others fit the chip is checked when the plan is made.
    fn spaces(&self) -> ProblemBuilder {
        let mut builder = ProblemBuilder::new();
        builder.space(Space::new("neuron"));
        for area in &self.areas.list {
            builder.space(Space::new(area.name.clone()));
        }
        if let Some(bytes) = self.on_chip {
            builder.space(Space { capacity: Some(Bytes(bytes)), ..Space::new("on-chip") });
        }
        builder
    }

    /// A tensor as a buffer. An `inner` one has its place inside of another tensor, so it is neither aligned nor
    /// padded. Every other one begins at a multiple of the chip's alignment and is padded up to the next.
    fn buffer(&self, id: TensorId, inner: bool) -> Buffer {
        let tensor = &self.network.tensors[id];
        let Life { start, end } = self.lives[id];
        let lifetime = Lifetime::new(start as u64, end as u64);
        let mut buffer = Buffer::new(self.network.name(id), tensor.bytes, lifetime);
        if !inner {
            buffer.alignment = Bytes(self.chip.align);
            let padded = Bytes(tensor.bytes).align_up(buffer.alignment);
            // Past 2^63 the problem is refused when it is built.
            buffer.size = Size::Fixed(padded.unwrap_or(Bytes(u64::MAX)));
        }
        buffer
    }

    /// The prescribed offset of a tensor in its area; `None` if it has none, or if the mode plans it among the
    /// activations for the sake of `neuron_size` (`counts_homes`) and moves it afterwards.
    fn home(&self, id: TensorId) -> Option<u64> {
        let home = self.areas.homes.get(&id).filter(|_| !self.areas.counts_homes);
        home.map(|home| home.at)
    }

    /// The spaces in which a tree may lie, the preferred one first. If the top of the tree has a home, it is the area
    /// of the home. Otherwise it is on-chip memory (if the chip has any and the tree need not stay in DDR: `stays`),
    /// and then the activations' area.
    fn candidates(&self, top: TensorId, stays: bool) -> SmallVec<[SpaceId; 2]> {
        match (self.areas.homes.get(&top), self.on_chip_space()) {
            (Some(home), _) if !self.areas.counts_homes => smallvec![area_space(home.area)],
            (None, Some(on_chip)) if !stays => smallvec![on_chip, neuron()],
            _ => smallvec![neuron()],
        }
    }

    /// For the top of each tree whether an input or an output lies in the tree: the user looks for those in DDR, not
    /// in on-chip memory.
    fn stays_in_ddr(&self, merges: &Merges) -> IndexVec<TensorId, bool> {
        let mut stays = IndexVec::filled(false, self.network.tensors.len());
        let places = merges.places();
        for &tensor in self.network.inputs.iter().chain(&self.network.outputs) {
            let (root, _) = self.network.root(tensor);
            stays[places[root].top] = true;
        }
        stays
    }

    /// The bytes that the activations take in a plan, rounded up to the chip's alignment.
    pub(super) fn extent(&self, plan: &Plan) -> u64 {
        let extent = plan.extents.get(neuron()).copied().unwrap_or_default();
        extent.align_up(Bytes(self.chip.align)).unwrap_or(extent).0
    }

    /// The address of every tensor: the base of its space plus its offset in the plan. The address of a tensor that
    /// lies in another one is the other tensor's address plus the distance between the two.
    pub(super) fn addresses(&self, solved: &TensorProblem, merges: &Merges, plan: &Plan) -> IndexVec<TensorId, u64> {
        let extent = self.extent(plan);
        let mut addresses = IndexVec::filled(0, self.network.tensors.len());
        for (buffer, &tensor) in solved.tensors.iter_enumerated() {
            let Some(placement) = plan.placements.get(buffer).and_then(Option::as_ref) else { continue };
            let offset = placement.offsets.first().copied().unwrap_or_default().0;
            addresses[tensor] = self.base_of(placement.space, extent) + offset;
        }
        if self.areas.counts_homes {
            self.move_home(merges, &mut addresses);
        }
        for id in self.network.tensors.ids() {
            let (root, at) = self.network.root(id);
            addresses[id] = addresses[root] + at;
        }
        addresses
    }

    /// The address at which a space begins. `extent` is the bytes of the activations: some areas lie behind them.
    fn base_of(&self, space: SpaceId, extent: u64) -> u64 {
        match space.index() {
            0 => self.areas.neuron,
            _ if Some(space) == self.on_chip_space() => self.chip.on_chip.map_or(0, |memory| memory.base),
            index => self.areas.base(index - 1, extent),
        }
    }

    /// Moves the trees whose tops have a home from the activations, where they were planned for the sake of
    /// `neuron_size`, to their homes.
    fn move_home(&self, merges: &Merges, addresses: &mut IndexVec<TensorId, u64>) {
        let places = merges.places();
        for id in self.network.roots_of_memory() {
            if let Some(home) = self.areas.homes.get(&places[id].top) {
                addresses[id] = self.areas.base(home.area, 0) + home.at + places[id].at;
            }
        }
    }
}
