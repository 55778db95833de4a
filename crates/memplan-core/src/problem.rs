//! What has to be placed: buffers, memory spaces, and how buffers may relate.
//!
//! All front ends make a [`Problem`], and all strategies take one: it is everything that the two know of each other.
//! It knows nothing about programs.
//! It is built once, checked while it is built, and immutable afterwards, so
//! every holder of a `&Problem` may rely on what [`ProblemBuilder::build`]
//! promises.
//!
//! ```
//! use memplan_core::{Buffer, Lifetime, ProblemBuilder};
//!
//! let mut builder = ProblemBuilder::new();
//! builder.buffer(Buffer::new("a", 64, Lifetime::new(0, 2)));
//! builder.buffer(Buffer::new("b", 32, Lifetime::new(1, 3)));
//! let problem = builder.build()?;
//! assert_eq!(problem.buffers().len(), 2);
//! # Ok::<(), memplan_core::ProblemError>(())
//! ```

mod buffer;
mod build;
mod error;
mod reuse_cost;

pub use buffer::{Buffer, Name, Rare, Size, Tie};
pub use build::ProblemBuilder;
pub use error::ProblemError;
pub use reuse_cost::ReuseCost;

use crate::block::Blocks;
use crate::{BufferId, Bytes, GroupId, IndexVec, SpaceId};

/// A memory: on-chip scratchpad, SRAM arena, device DRAM, …
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Space {
    /// Unique name.
    pub name: String,
    /// What the target has; `None` for "as much as it takes".
    pub capacity: Option<Bytes>,
    /// Every offset in this space is a multiple of this.
    pub alignment: Bytes,
    /// Address of offset 0. A multiple of every alignment asked for in this space.
    pub base: Bytes,
}

impl Space {
    /// An unbounded space at address 0 without alignment.
    pub fn new(name: impl Into<String>) -> Space {
        Space { name: name.into(), capacity: None, alignment: Bytes(1), base: Bytes::ZERO }
    }
}

/// The most slots a buffer may have. Multi-buffering needs a handful; every slot
/// is an offset that planners compute and plans store.
pub const MAX_SLOTS: u32 = 1 << 12;

/// The most slots all buffers together may have besides their first.
pub const MAX_EXTRA_SLOTS: u64 = 1 << 20;

/// How an overlaying buffer must lie on its victim.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum OverlayKind {
    /// Both start at the same byte.
    SameBase,
    /// Any overlap will do.
    AnyOffset,
}

/// Permission for `buffer` to start on bytes that `over` still occupies.
///
/// If a plan uses the permission, the life of `over` on the shared bytes ends when `buffer` starts. The permission can
/// only be used if `over` starts before `buffer` does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Overlay {
    /// The newcomer.
    pub buffer: BufferId,
    /// Its victim.
    pub over: BufferId,
    /// How they must lie.
    pub kind: OverlayKind,
}

/// Which buffers are computed from which, when the order of execution is not fixed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dependencies {
    /// For each buffer, the buffers computed from it.
    pub children: IndexVec<BufferId, Vec<BufferId>>,
    /// Buffers that a graph output also reads.
    pub read_by_outputs: Vec<BufferId>,
}

/// Buffers and memory spaces, and how buffers may relate. See the module documentation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    spaces: IndexVec<SpaceId, Space>,
    buffers: IndexVec<BufferId, Buffer>,
    groups: IndexVec<GroupId, String>,
    overlays: Vec<Overlay>,
    must_share: Vec<(BufferId, BufferId)>,
    must_not_share: Vec<(BufferId, BufferId)>,
    reuse_costs: Vec<ReuseCost>,
    dependencies: Option<Dependencies>,
    blocks: Blocks,
}

impl Problem {
    /// The memory spaces; at least one.
    pub fn spaces(&self) -> &IndexVec<SpaceId, Space> {
        &self.spaces
    }

    /// The buffers in input order.
    pub fn buffers(&self) -> &IndexVec<BufferId, Buffer> {
        &self.buffers
    }

    /// Names of the tie groups.
    pub fn groups(&self) -> &IndexVec<GroupId, String> {
        &self.groups
    }

    /// Which buffer may start on the bytes of which other one, in input order.
    pub fn overlays(&self) -> &[Overlay] {
        &self.overlays
    }

    /// Pairs that start at the same offset of the same space.
    pub fn must_share(&self) -> &[(BufferId, BufferId)] {
        &self.must_share
    }

    /// Pairs that have no byte in common, whatever their lives.
    pub fn must_not_share(&self) -> &[(BufferId, BufferId)] {
        &self.must_not_share
    }

    /// Pairs that may have bytes in common at a price, in input order.
    pub fn reuse_costs(&self) -> &[ReuseCost] {
        &self.reuse_costs
    }

    /// Dependencies, when the order of execution is not fixed.
    pub fn dependencies(&self) -> Option<&Dependencies> {
        self.dependencies.as_ref()
    }

    /// The rigid blocks that ties and must-share relations make of the buffers.
    pub fn blocks(&self) -> &Blocks {
        &self.blocks
    }

    /// What a buffer's offset must be a multiple of in a space.
    pub fn alignment_in(&self, buffer: BufferId, space: SpaceId) -> Bytes {
        let alignment = self.buffers[buffer].alignment;
        alignment.least_common_multiple(self.spaces[space].alignment).expect("checked when the problem was built")
    }

    /// A builder holding this problem's content, to change and build again.
    pub fn to_builder(&self) -> ProblemBuilder {
        ProblemBuilder {
            spaces: self.spaces.clone(),
            buffers: self.buffers.clone(),
            groups: self.groups.clone(),
            overlays: self.overlays.clone(),
            must_share: self.must_share.clone(),
            must_not_share: self.must_not_share.clone(),
            reuse_costs: self.reuse_costs.clone(),
            dependencies: self.dependencies.clone(),
        }
    }
}
