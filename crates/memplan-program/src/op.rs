//! Ops: what the program does to memory, and how control moves through it.

use memplan_core::{Bytes, Id, Span};
use smallvec::SmallVec;

use crate::{BlockId, OpId, OpName, PipeId, ProgramError, RegionId, Results, TokenId, ValueId};

/// One step of the program. Ops form a tree: op, region, block, op.
///
/// When an op runs, its results come into being, then its accesses happen
/// (reads before writes), then its regions run as its [`Control`] says. An
/// access of a region op therefore happens once, on entry; results that are
/// [`Incoming`](crate::Origin::Incoming) receive their values when the regions end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Op {
    /// The op's name in its source language, such as `linalg.matmul`; ops of one name may share it.
    pub name: OpName,
    /// Where it stands in the source.
    pub span: Span,
    /// The block it is in.
    pub block: BlockId,
    /// The execution unit it runs on.
    pub pipe: Option<PipeId>,
    /// What it does to which value.
    pub accesses: Accesses,
    /// Values it defines.
    pub results: Results,
    /// The rarer facts; most ops have none, and a million ops should be small.
    pub(crate) details: Option<Box<Details>>,
}

/// What an op does to which value. Hardly any op accesses more than three, and these stand in the op itself.
pub type Accesses = SmallVec<[Access; 3]>;

/// Facts that few ops have.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Details {
    /// Outputs that may lie on inputs. Few ops have some, and those that have none should be small.
    #[expect(clippy::box_collection, reason = "a pointer is smaller than a list")]
    pub(crate) overlays: Option<Box<Vec<Overlay>>>,
    /// Bytes that the op merely copies. Hardly any op has a second range, and a sixth of all ops may be copies, so one
    /// range needs no memory of its own.
    pub(crate) copies: SmallVec<[CopyRange; 1]>,
    /// What ops with regions and ops that wait have. A program may have many copies, and these have none of it.
    pub(crate) flow: Option<Box<FlowDetails>>,
}

/// How control moves through an op, and what it waits for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct FlowDetails {
    /// Whether buffers allocated inside belong to an instance of the op.
    pub(crate) scope: bool,
    /// Asynchronous work that the op waits for.
    pub(crate) awaits: Vec<Await>,
    /// Values that the op hands into its regions.
    pub(crate) inits: Vec<ValueId>,
    /// The op's regions in order.
    pub(crate) regions: SmallVec<[RegionId; 4]>,
    /// How control moves through the regions.
    pub(crate) control: Control,
}

impl Op {
    /// An op that has a name, accesses and results and nothing else. It belongs to no block yet; whoever adds it to a
    /// program sets the block.
    #[inline]
    pub(crate) fn plain(name: OpName, span: Span, accesses: Accesses, results: Results) -> Op {
        Op { name, span, block: BlockId::from_index(0), pipe: None, accesses, results, details: None }
    }

    /// How control moves through the op; `None` if it just passes through.
    #[inline]
    fn flow(&self) -> Option<&FlowDetails> {
        self.details.as_deref()?.flow.as_deref()
    }

    /// The rarer facts, to be changed; made on first use.
    pub(crate) fn details_mut(&mut self) -> &mut Details {
        self.details.get_or_insert_default()
    }

    /// How control moves through the op, to be changed; made on first use.
    pub(crate) fn flow_mut(&mut self) -> &mut FlowDetails {
        self.details_mut().flow.get_or_insert_default()
    }

    /// Whether buffers allocated inside belong to an instance of this op.
    #[inline]
    pub fn scope(&self) -> bool {
        self.flow().is_some_and(|flow| flow.scope)
    }

    /// Whether it has neither regions nor anything to wait for, and control just passes through it.
    #[inline]
    pub(crate) fn is_plain(&self) -> bool {
        self.flow().is_none()
    }

    /// Outputs that may overwrite inputs.
    #[inline]
    pub fn overlays(&self) -> &[Overlay] {
        self.details.as_deref().and_then(|d| d.overlays.as_deref()).map_or(&[], Vec::as_slice)
    }

    /// Ranges the op merely copies.
    #[inline]
    pub fn copies(&self) -> &[CopyRange] {
        self.details.as_deref().map_or(&[], |d| &d.copies)
    }

    /// Asynchronous work that has ended before this op runs.
    #[inline]
    pub fn awaits(&self) -> &[Await] {
        self.flow().map_or(&[], |d| &d.awaits)
    }

    /// Values handed to the entry block's arguments of each region, by
    /// position; a loop that ends before its first iteration hands them to
    /// the results.
    #[inline]
    pub fn inits(&self) -> &[ValueId] {
        self.flow().map_or(&[], |d| &d.inits)
    }

    /// The op's regions in order.
    #[inline]
    pub fn regions(&self) -> &[RegionId] {
        self.flow().map_or(&[], |d| &d.regions)
    }

    /// How control moves through the regions.
    #[inline]
    pub fn control(&self) -> &Control {
        self.flow().map_or(&Control::Once, |d| &d.control)
    }

    /// How `output` may lie over `input`: the freest way that an overlay of this op permits, `None` if none does.
    pub fn permits_overlay(&self, output: ValueId, input: ValueId) -> Option<OverlayKind> {
        // `AnyOffset` is the larger of the two kinds, so the largest is the freest.
        let permits = |o: &&Overlay| o.output == output && o.input == input;
        self.overlays().iter().filter(permits).map(|overlay| overlay.kind).max()
    }
}

/// One access of an op to a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Access {
    /// Through which value.
    pub value: ValueId,
    /// What happens to it.
    pub kind: AccessKind,
}

/// What an op does to a value it accesses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum AccessKind {
    /// Uses the content.
    Read,
    /// Overwrites every byte, on each execution, without using the content.
    Write,
    /// May use the content, change any part and leave the rest.
    Update,
    /// Ends the buffer's life: a deallocation that the program itself contains.
    Free,
    /// From now on code outside of the program may use the buffer at any time: returned, stored
    /// away, its address taken.
    Escape,
}

impl AccessKind {
    /// Whether the content is used.
    #[inline]
    pub fn reads(self) -> bool {
        matches!(self, Self::Read | Self::Update | Self::Escape)
    }

    /// Whether the content changes.
    #[inline]
    pub fn writes(self) -> bool {
        matches!(self, Self::Write | Self::Update)
    }
}

/// Asynchronous work that an op waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Await {
    /// The token of the op that starts the work.
    pub token: TokenId,
    /// Whether the op waits for all work with this token that was started before it, as a
    /// barrier does. Otherwise it waits only for the work that was started last.
    pub every: bool,
}

/// The op still computes the right result if `output` occupies `input`'s bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Overlay {
    /// A value the op writes.
    pub output: ValueId,
    /// A value the op reads.
    pub input: ValueId,
    /// How they may overlap.
    pub kind: OverlayKind,
}

/// How an output may lie over an input.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum OverlayKind {
    /// Both start at the same byte.
    SameBase,
    /// At any distance from each other.
    AnyOffset,
}

/// `length` bytes of `output` that are nothing but a copy of bytes of `input`.
///
/// If a plan makes the two coincide, the op need not move them and both survive.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct CopyRange {
    /// The value written.
    pub output: ValueId,
    /// First copied byte, relative to the output.
    pub output_start: Bytes,
    /// The value read.
    pub input: ValueId,
    /// First copied byte, relative to the input.
    pub input_start: Bytes,
    /// How many bytes.
    pub length: Bytes,
}

/// How often a loop's body runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Trips {
    /// Never fewer than this.
    pub at_least: u64,
    /// Never more than this, if known.
    pub at_most: Option<u64>,
}

impl Trips {
    /// Exactly `count` times.
    pub fn exactly(count: u64) -> Trips {
        Trips { at_least: count, at_most: Some(count) }
    }

    /// Any number of times, including none.
    pub fn any() -> Trips {
        Trips::default()
    }

    /// The error for a loop that would run at most fewer times than it runs at least.
    pub(crate) fn contradiction(self) -> Option<ProgramError> {
        let Trips { at_least, at_most } = self;
        at_most.filter(|&at_most| at_most < at_least).map(|at_most| ProgramError::BadTrips { at_least, at_most })
    }
}

/// How control moves through the regions of an op.
///
/// Any region may hold several blocks with branches between them (a control
/// flow graph); a kind says only what happens around each region: how it is
/// entered and what [`Target::Leave`](crate::Target::Leave) leads to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Control {
    /// Each region runs exactly once, in order. Leaving the last one hands
    /// its values to the op's results.
    #[default]
    Once,
    /// One region, run again and again. Leaving it ends an iteration: the
    /// values go to the entry block's arguments, or to the results if it was
    /// the last. [`Target::Break`](crate::Target::Break) ends the loop at once.
    Loop(Trips),
    /// One region, run until a [`Target::Break`](crate::Target::Break):
    /// leaving it always begins another iteration.
    While,
    /// Exactly one of the regions runs, or none if `may_skip`. The region that
    /// runs hands its values to the results. If none runs, the results are the inits.
    Alternatives {
        /// Whether it may be that none runs.
        may_skip: bool,
    },
    /// One region, run once for every iteration, in any interleaving. Each iteration hands its values to the
    /// results. If there are no iterations, the results are the inits.
    Parallel {
        /// Iterations of each dimension, outermost first; `None` if unknown.
        trips: Box<[Option<u64>]>,
    },
    /// One region, run at any time between this op and the ops that await the
    /// token, or the end of the function.
    Async {
        /// What an op awaits to wait for it.
        token: TokenId,
    },
    /// One region of one block, whose ops run in any order their
    /// dependencies allow, possibly at the same time.
    Dag {
        /// `(before, after)` pairs of ops of the block.
        dependencies: Box<[(OpId, OpId)]>,
    },
    /// Nothing is known. Any of the regions runs any number of times, or never, on any
    /// thread, several at the same time, and perhaps only after the op itself is
    /// done, until the end of the function. The op's own accesses may happen as late.
    /// Its results are opaque, since what a region hands out is not known either.
    Unknown,
}

impl Control {
    /// Sorts the dependencies of a dag by the op that waits, and removes those that are listed twice:
    /// they have no order of their own, and equal programs should compare equal.
    pub(crate) fn normalize(&mut self) {
        if let Control::Dag { dependencies } = self {
            // By `after` first: the printer looks for all that one op waits for.
            let mut sorted = std::mem::take(dependencies).into_vec();
            sorted.sort_unstable_by_key(|&(before, after)| (after, before));
            sorted.dedup();
            *dependencies = sorted.into();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_op_is_small() {
        // A program of 10^6 ops takes 80 MB for them.
        assert_eq!(size_of::<Op>(), 80);
    }
}
