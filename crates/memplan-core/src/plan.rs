//! A plan: where every buffer of a problem lives.
//!
//! A placement names a space and an offset for each slot, or a shared object. The plan also says how many bytes it
//! needs in each space (its extents), which overlays it makes use of, and what its reuse costs, if reuse has a price.

use smallvec::SmallVec;

use crate::{BufferId, Bytes, IndexVec, ObjectId, Problem, Size, SpaceId};

/// Where one buffer lives.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Placement {
    /// One of the buffer's candidate spaces.
    pub space: SpaceId,
    /// One offset per slot, relative to the space's base. A plan may give more
    /// offsets than the buffer has slots, never fewer. In a plan made of shared
    /// objects they are relative to the object, that is 0.
    pub offsets: SmallVec<[Bytes; 1]>,
    /// For a buffer that was hoisted out of parallel loops: for each loop, innermost first, the distance in bytes
    /// between the buffer's instances in two neighbouring iterations. If there are fewer strides than loops, the stride
    /// of a further loop is the last stride in the list times the iterations of all loops between the two. Empty for
    /// all other buffers.
    pub strides: SmallVec<[Bytes; 1]>,
    /// The shared object, in a plan made of shared objects.
    pub object: Option<ObjectId>,
}

impl Placement {
    /// A single-slot placement at an offset.
    pub fn at(space: SpaceId, offset: Bytes) -> Placement {
        Placement { space, offsets: SmallVec::from_elem(offset, 1), strides: SmallVec::new(), object: None }
    }

    /// A placement in a shared object.
    pub fn in_object(space: SpaceId, object: ObjectId) -> Placement {
        Placement { object: Some(object), ..Placement::at(space, Bytes::ZERO) }
    }
}

/// A piece of memory that several buffers take turns to use as a whole.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SharedObject {
    /// Its size: bytes, components, or a symbol.
    pub size: Size,
    /// The space it is in.
    pub space: SpaceId,
}

/// An in-place reuse: `buffer` starts on bytes that `over` still occupied.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reuse {
    /// The newcomer.
    pub buffer: BufferId,
    /// Whose bytes it took over, from low to high offsets.
    pub over: Vec<BufferId>,
}

/// What the reuse of memory costs in a plan; see [`ReuseCost`](crate::ReuseCost).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PlanCost {
    /// The sum of the weights of the pairs that have bytes in common.
    pub total: u64,
    /// No plan within the capacities costs less than this.
    pub lower_bound: u64,
}

/// Where every buffer of a [`Problem`] lives.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Plan {
    /// One entry per buffer; `None` only in plans of other tools that lack it.
    pub placements: IndexVec<BufferId, Option<Placement>>,
    /// What the plan needs of each space.
    pub extents: IndexVec<SpaceId, Bytes>,
    /// The shared objects; empty in a plan made of offsets.
    pub objects: IndexVec<ObjectId, SharedObject>,
    /// In-place reuses the plan relies on.
    pub reused: Vec<Reuse>,
    /// What the plan's reuse costs; `None` if the problem has no reuse costs.
    pub cost: Option<PlanCost>,
    /// Names in another tool's plan that the problem does not have.
    pub unknown: Vec<String>,
}

impl Plan {
    /// A plan that places nothing yet.
    pub fn empty(problem: &Problem) -> Plan {
        Plan {
            placements: IndexVec::filled(None, problem.buffers().len()),
            extents: IndexVec::filled(Bytes::ZERO, problem.spaces().len()),
            ..Plan::default()
        }
    }

    /// Sum of the extents over all spaces.
    pub fn extent(&self) -> Bytes {
        Bytes(self.extents.iter().fold(0, |sum, extent| sum.saturating_add(extent.0)))
    }

    /// The first offset of a buffer, if it is placed.
    pub fn offset(&self, buffer: BufferId) -> Option<Bytes> {
        self.placements.get(buffer)?.as_ref()?.offsets.first().copied()
    }

    /// Sets each space's extent to the furthest end of a buffer in it, or, in a
    /// plan made of shared objects, to the sum of the objects' sizes (a shape
    /// counts as the product of its components).
    pub fn fit_extents(&mut self, problem: &Problem) {
        let mut extents = IndexVec::<SpaceId, Bytes>::filled(Bytes::ZERO, problem.spaces().len());
        for (id, placement) in self.placements.iter_enumerated() {
            let Some(placement) = placement.as_ref().filter(|placement| placement.object.is_none()) else { continue };
            let size = problem.buffers()[id].bytes().unwrap_or_default();
            // Every slot needs its bytes.
            for offset in &placement.offsets {
                let end = Bytes(offset.0.saturating_add(size.0));
                extents[placement.space] = extents[placement.space].max(end);
            }
        }
        // Objects are laid side by side, so their sizes add up; they come on top of buffers that have offsets.
        for object in &self.objects {
            let size = object.size.volume().unwrap_or_default();
            extents[object.space] = Bytes(extents[object.space].0.saturating_add(size.0));
        }
        self.extents = extents;
    }
}
