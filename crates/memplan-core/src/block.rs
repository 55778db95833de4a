//! Rigid blocks: buffers that ties and must-share relations hold together.
//!
//! Members of a tie group sit at fixed distances from each other, and so do
//! buffers that must share; both relations compose. A block is a maximal set
//! of buffers whose relative positions are thereby fixed:
//!
//! ```text
//!   tie g: a at 0, b at 64        must share: b, c
//!
//!   block  |a.......|b.......|
//!                   |c...........|
//!          0        64           160   size of the block
//! ```
//!
//! A planner that places the block at one offset has placed all its members.
//! Most buffers are alone; only real blocks are stored.
//!
//! A [`Buffer`]'s *tie* says in which group it is and how many bytes after the start of the group it begins (`at`).

use crate::problem::{Buffer, ProblemError};
use crate::{BufferId, Bytes, Id, IndexVec, index_type};

index_type! {
    /// A block of two or more buffers.
    pub struct BlockId;
}

/// A buffer inside a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BlockMember {
    /// The buffer.
    pub buffer: BufferId,
    /// Its distance from the block's start.
    pub at: Bytes,
}

/// Buffers whose relative positions are fixed, in input order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Block {
    /// The buffers, two or more.
    pub members: Vec<BlockMember>,
    /// End of the furthest member.
    pub size: Bytes,
    /// Offset of the block if a member's offset is fixed.
    pub fixed: Option<Bytes>,
}

/// The blocks of a problem.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Blocks {
    blocks: IndexVec<BlockId, Block>,
    /// Empty when there are no blocks.
    places: IndexVec<BufferId, Option<(BlockId, Bytes)>>,
}

impl Blocks {
    /// The blocks, ordered by their first member.
    pub fn blocks(&self) -> &IndexVec<BlockId, Block> {
        &self.blocks
    }

    /// The block a buffer is part of and its place there; `None` if it is alone.
    pub fn place_of(&self, buffer: BufferId) -> Option<(BlockId, Bytes)> {
        *self.places.get(buffer)?
    }

    /// The blocks of a problem. Ties and must-share pairs are joined in a union-find that knows the distance of each
    /// buffer to the root of its set; two relations that contradict each other are an error.
    pub(crate) fn of(
        buffers: &IndexVec<BufferId, Buffer>,
        must_share: &[(BufferId, BufferId)],
    ) -> Result<Blocks, ProblemError> {
        let mut union = OffsetUnion::new(buffers.len());
        let mut first_of_group: Vec<Option<(BufferId, Bytes)>> = Vec::new();
        for (id, buffer) in buffers.iter_enumerated() {
            let Some(tie) = buffer.tie() else { continue };
            // Groups are numbered from 0, and a group may be met before those with lower numbers.
            let group = tie.group.index();
            if first_of_group.len() <= group {
                first_of_group.resize(group + 1, None);
            }
            // The first member of a group stands for the group; every other one is joined to it.
            match first_of_group[group] {
                None => first_of_group[group] = Some((id, tie.at)),
                Some((first, at)) => join(buffers, &mut union, first, id, difference(tie.at, at))?,
            }
        }
        for &(one, other) in must_share {
            join(buffers, &mut union, one, other, 0)?;
        }
        // Without any relation every buffer is alone, and nothing has to be stored.
        if !union.joined {
            return Ok(Blocks::default());
        }
        Blocks::collect(buffers, &mut union)
    }

    /// Makes a block of every set with more than one buffer, in the order of their first members.
    fn collect(buffers: &IndexVec<BufferId, Buffer>, union: &mut OffsetUnion) -> Result<Blocks, ProblemError> {
        // By root: the buffers of its set, in input order, with their distances from the root.
        let mut members: Vec<Vec<(BufferId, i128)>> = vec![Vec::new(); buffers.len()];
        for id in buffers.ids() {
            let (root, distance) = union.find(id);
            members[root.index()].push((id, distance));
        }
        let mut blocks = IndexVec::<BlockId, Block>::new();
        let mut places = IndexVec::filled(None, buffers.len());
        // Every buffer that is alone is the only member of its set and makes no block.
        members.retain(|block| block.len() > 1);
        members.sort_by_key(|block| block[0].0);
        for block in members {
            let block = make_block(buffers, &block)?;
            let id = BlockId::from_index(blocks.len());
            for member in &block.members {
                places[member.buffer] = Some((id, member.at));
            }
            blocks.push(block);
        }
        Ok(Blocks { blocks, places })
    }
}

/// How many bytes `one` is after `other`; negative if it is before.
fn difference(one: Bytes, other: Bytes) -> i128 {
    i128::from(one.0) - i128::from(other.0)
}

/// The error about two buffers that must lie together and cannot, and why.
fn together(buffers: &IndexVec<BufferId, Buffer>, one: BufferId, other: BufferId, why: &'static str) -> ProblemError {
    ProblemError::TogetherButDifferent {
        buffer: other,
        name: buffers[one].name.clone(),
        other: buffers[other].name.clone(),
        difference: why,
    }
}

/// Puts `other` at `distance` bytes after `one`; an error if the two cannot lie together, or already lie otherwise.
fn join(
    buffers: &IndexVec<BufferId, Buffer>,
    union: &mut OffsetUnion,
    one: BufferId,
    other: BufferId,
    distance: i128,
) -> Result<(), ProblemError> {
    // A buffer of unknown size has no offset, so it cannot lie at a distance.
    for buffer in [one, other] {
        if buffers[buffer].bytes().is_none() {
            let name = buffers[buffer].name.clone();
            return Err(ProblemError::TogetherOfUnknownSize { buffer, name });
        }
    }
    // A block is placed as a whole, so its members must agree about where it may go.
    if buffers[one].spaces != buffers[other].spaces {
        return Err(together(buffers, one, other, "their candidate spaces differ"));
    }
    if buffers[one].slots != buffers[other].slots {
        return Err(together(buffers, one, other, "their numbers of slots differ"));
    }
    if union.join(one, other, distance) {
        Ok(())
    } else {
        Err(together(buffers, one, other, "their ties put them at different places"))
    }
}

/// Turns distances to a root into places in a block, and checks that alignments and fixed offsets can be kept.
fn make_block(buffers: &IndexVec<BufferId, Buffer>, members: &[(BufferId, i128)]) -> Result<Block, ProblemError> {
    // The first member is named in errors about two members.
    let (first, _) = members[0];
    // A tie group starts `tie.at` bytes before each of its members. The block starts at the lowest start of a tie
    // group or member outside of groups. So a member at inner offset 64 of the only group is at 64 in the block,
    // which is aligned if 64 is.
    let start = members
        .iter()
        .map(|&(buffer, distance)| distance - buffers[buffer].tie().map_or(0, |tie| i128::from(tie.at.0)))
        .min()
        .unwrap_or(0);
    let mut block = Block { members: Vec::with_capacity(members.len()), size: Bytes::ZERO, fixed: None };
    for &(buffer, distance) in members {
        let info = &buffers[buffer];
        let at = u64::try_from(distance - start).ok().map(Bytes);
        let end = at.and_then(|at| at.checked_add(info.bytes().unwrap_or_default()));
        let (Some(at), Some(end)) = (at, end) else {
            let what = "its place in its group";
            return Err(ProblemError::TooLarge { buffer, name: info.name.clone(), what });
        };
        if !at.is_aligned_to(info.alignment) {
            let (name, alignment) = (info.name.clone(), info.alignment);
            return Err(ProblemError::TieMisaligned { buffer, name, at, alignment });
        }
        if let Some(offset) = info.fixed() {
            let lower = "its fixed offset is lower than its place in the group";
            // The offset of the block that puts this member at its fixed offset. All fixed members must agree on it.
            let base = offset.0.checked_sub(at.0).map(Bytes);
            let base = base.ok_or_else(|| together(buffers, first, buffer, lower))?;
            if block.fixed.is_some_and(|other| other != base) {
                return Err(together(buffers, first, buffer, "their fixed offsets contradict it"));
            }
            block.fixed = Some(base);
        }
        block.members.push(BlockMember { buffer, at });
        block.size = block.size.max(end);
    }
    check_fixed_alignment(buffers, &block)?;
    Ok(block)
}

/// A member that is fixed fixes the offsets of all others. An error if one of these is no multiple of its alignment.
fn check_fixed_alignment(buffers: &IndexVec<BufferId, Buffer>, block: &Block) -> Result<(), ProblemError> {
    let Some(base) = block.fixed else { return Ok(()) };
    let misaligned =
        |member: &&BlockMember| !Bytes(base.0 + member.at.0).is_aligned_to(buffers[member.buffer].alignment);
    match block.members.iter().find(misaligned) {
        None => Ok(()),
        Some(&BlockMember { buffer, at }) => {
            let Buffer { ref name, alignment, .. } = buffers[buffer];
            let offset = Bytes(base.0 + at.0);
            Err(ProblemError::FixedMisaligned { buffer, name: name.clone(), offset, alignment })
        }
    }
}

/// Union-find in which every element knows its distance from its root.
struct OffsetUnion {
    /// The next buffer on the way to the root (itself for a root), and the distance in bytes from that buffer to this
    /// one.
    parent: IndexVec<BufferId, (BufferId, i128)>,
    /// Whether two buffers have been joined at all.
    joined: bool,
}

impl OffsetUnion {
    /// `count` buffers, each in a set of its own.
    fn new(count: usize) -> OffsetUnion {
        OffsetUnion { parent: (0..count).map(|index| (BufferId::from_index(index), 0)).collect(), joined: false }
    }

    /// The root of a buffer's set and the buffer's distance from it. The path is shortened on the way, so that later
    /// questions are quick.
    fn find(&mut self, element: BufferId) -> (BufferId, i128) {
        // First the way up to the root, with all buffers that are passed.
        let mut path = Vec::new();
        let mut root = element;
        while self.parent[root].0 != root {
            path.push(root);
            root = self.parent[root].0;
        }
        // From the buffer next to the root back to the first: each gets the root as its parent, with the sum of the
        // distances between.
        let mut distance = 0;
        for &step in path.iter().rev() {
            distance += self.parent[step].1;
            self.parent[step] = (root, distance);
        }
        (root, distance)
    }

    /// Puts `other` at `distance` bytes after `one`; `false` if earlier joins put them at another distance.
    fn join(&mut self, one: BufferId, other: BufferId, distance: i128) -> bool {
        let (root, at) = self.find(one);
        let (other_root, other_at) = self.find(other);
        // The two are in one set already, which fixes their distance: it must be the one that is asked for.
        if root == other_root {
            return other_at - at == distance;
        }
        // `other` shall be at `at + distance` from the root, and it is at `other_at` from its own root.
        self.parent[other_root] = (root, at + distance - other_at);
        self.joined = true;
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Lifetime, ProblemBuilder, Tie};

    fn tied(name: &str, size: u64, group: crate::GroupId, at: u64) -> Buffer {
        Buffer::new(name, size, Lifetime::new(0, 2)).with_tie(Tie { group, at: Bytes(at) })
    }

    #[test]
    fn ties_and_must_share_compose() {
        let mut builder = ProblemBuilder::new();
        let group = builder.group("g");
        builder.buffer(tied("a", 64, group, 0));
        let b = builder.buffer(tied("b", 64, group, 64));
        let c = builder.buffer(Buffer::new("c", 96, Lifetime::new(4, 5)));
        let alone = builder.buffer(Buffer::new("d", 96, Lifetime::new(4, 5)));
        builder.must_share(b, c);
        let problem = builder.build().unwrap();
        let blocks = problem.blocks();
        assert_eq!(blocks.blocks().len(), 1);
        let block = &blocks.blocks().as_slice()[0];
        assert_eq!(block.size, Bytes(160));
        assert_eq!(block.members.iter().map(|m| m.at.0).collect::<Vec<_>>(), [0, 64, 64]);
        assert_eq!(blocks.place_of(alone), None);
    }

    #[test]
    fn contradicting_ties_are_an_error() {
        let mut builder = ProblemBuilder::new();
        let group = builder.group("g");
        let a = builder.buffer(tied("a", 64, group, 0));
        let b = builder.buffer(tied("b", 64, group, 64));
        builder.must_share(a, b);
        let error = builder.build().unwrap_err();
        assert!(error.to_string().contains("different places"), "{error}");
    }

    #[test]
    fn a_fixed_member_must_not_misalign_another() {
        let mut builder = ProblemBuilder::new();
        let group = builder.group("g");
        builder.buffer(Buffer { alignment: Bytes(16), ..tied("a", 64, group, 0) });
        builder.buffer(tied("b", 64, group, 64).with_fixed(Bytes(72)));
        let error = builder.build().unwrap_err();
        assert_eq!(error.to_string(), "buffer `a` is fixed at 8, which is not a multiple of its alignment 16");
    }

    #[test]
    fn a_fixed_member_fixes_the_block() {
        let mut builder = ProblemBuilder::new();
        let group = builder.group("g");
        builder.buffer(tied("a", 64, group, 0));
        builder.buffer(tied("b", 64, group, 64).with_fixed(Bytes(128)));
        let problem = builder.build().unwrap();
        assert_eq!(problem.blocks().blocks().as_slice()[0].fixed, Some(Bytes(64)));
    }
}
