//! The buffers that a bound counts, with the blocks and overlays that concern them.
//!
//! A problem may have a hundred thousand spaces, one for each function of a file. A look at all buffers for each space
//! would be quadratic, so all selections are made in one pass, and everything after that looks at a selection only:
//!
//! ```text
//!   buffers   a in f, b in g, c in f or g, d in f        only in f: a, d     only in g: b
//! ```

use crate::{Block, BufferId, IndexVec, Overlay, Problem, SpaceId};

/// See the module documentation.
#[derive(Clone)]
pub(super) struct Selection<'p> {
    pub(super) problem: &'p Problem,
    /// In input order.
    pub(super) buffers: Vec<BufferId>,
    /// The blocks all of whose members are selected.
    pub(super) blocks: Vec<&'p Block>,
    /// The overlays whose victims are selected.
    pub(super) overlays: Vec<&'p Overlay>,
}

impl<'p> Selection<'p> {
    /// The buffers for which `counts` says so.
    pub(super) fn of(problem: &'p Problem, counts: impl Fn(BufferId) -> bool) -> Selection<'p> {
        // A block with a member that does not count is left out: its bytes would be counted as well.
        let is_whole = |block: &&Block| block.members.iter().all(|member| counts(member.buffer));
        Selection {
            problem,
            buffers: problem.buffers().ids().filter(|&id| counts(id)).collect(),
            blocks: problem.blocks().blocks().iter().filter(is_whole).collect(),
            overlays: problem.overlays().iter().filter(|overlay| counts(overlay.over)).collect(),
        }
    }

    /// For every space the buffers that can only live there.
    pub(super) fn by_space(problem: &'p Problem) -> IndexVec<SpaceId, Selection<'p>> {
        Selection::by(problem, |buffer| only_space(problem, buffer))
    }

    /// For every space the buffers that `space_of` puts there, in one pass over all of them.
    pub(super) fn by(
        problem: &'p Problem,
        space_of: impl Fn(BufferId) -> Option<SpaceId>,
    ) -> IndexVec<SpaceId, Selection<'p>> {
        let nothing = Selection { problem, buffers: Vec::new(), blocks: Vec::new(), overlays: Vec::new() };
        let mut selections = IndexVec::filled(nothing, problem.spaces().len());
        for id in problem.buffers().ids() {
            if let Some(space) = space_of(id) {
                selections[space].buffers.push(id);
            }
        }
        // A block counts where all of its members are selected. Members of a block have the same candidate spaces, but
        // `space_of` may be any function, for instance one that is made from a plan.
        for block in problem.blocks().blocks() {
            let mut spaces = block.members.iter().map(|member| space_of(member.buffer));
            if let Some(Some(space)) = spaces.next()
                && spaces.all(|other| other == Some(space))
            {
                selections[space].blocks.push(block);
            }
        }
        for overlay in problem.overlays() {
            if let Some(space) = space_of(overlay.over) {
                selections[space].overlays.push(overlay);
            }
        }
        selections
    }
}

/// The space of a buffer that has no choice.
fn only_space(problem: &Problem, id: BufferId) -> Option<SpaceId> {
    match problem.buffers()[id].spaces.as_slice() {
        &[space] => Some(space),
        _ => None,
    }
}
