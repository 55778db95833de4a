//! What a pass has planned, in a form that can be drawn.
//!
//! A pass plans each function as if it were alone. On the picture they lie side
//! by side: with several functions, memory `ub` of function `f` is space `ub@f`.

use memplan_core::{
    Buffer, BufferId, Id, IndexVec, Overlay, Placement, Plan, Problem, ProblemBuilder, ProblemError, Reuse, SpaceId,
    Span,
};

/// The buffers of a program and where a pass has put them.
#[derive(Clone, Debug)]
pub struct Layout {
    /// The buffers of all functions.
    pub problem: Problem,
    /// Where they are.
    pub plan: Plan,
    /// Where each is allocated in the source.
    pub spans: IndexVec<BufferId, Span>,
}

/// One function of a layout.
pub(super) struct Part<'a> {
    pub(super) name: &'a str,
    pub(super) problem: &'a Problem,
    pub(super) plan: &'a Plan,
    pub(super) spans: Vec<Span>,
}

impl Layout {
    /// Puts functions side by side; `None` without any.
    pub(super) fn of(parts: &[Part]) -> Result<Option<Layout>, ProblemError> {
        let mut builder = ProblemBuilder::new();
        let mut plan = Plan::default();
        let mut spans = IndexVec::default();
        for part in parts {
            let is_alone = parts.len() == 1;
            add(part, is_alone, &mut builder, &mut plan);
            for &span in &part.spans {
                spans.push(span);
            }
        }
        if parts.is_empty() {
            return Ok(None);
        }
        Ok(Some(Layout { problem: builder.build()?, plan, spans }))
    }
}

/// Adds a function behind those that are there.
fn add(part: &Part, is_alone: bool, builder: &mut ProblemBuilder, plan: &mut Plan) {
    let (spaces, buffers) = (plan.extents.len(), plan.placements.len());
    // Ids of this function are moved behind those of the functions before it, in both lists.
    let space_of = |space: SpaceId| SpaceId::from_index(spaces + space.index());
    let buffer_of = |buffer: BufferId| BufferId::from_index(buffers + buffer.index());
    for (id, space) in part.problem.spaces().iter_enumerated() {
        let name = if is_alone { space.name.clone() } else { format!("{}@{}", space.name, part.name) };
        builder.space(memplan_core::Space { name, ..space.clone() });
        plan.extents.push(part.plan.extents.get(id).copied().unwrap_or_default());
    }
    for (id, buffer) in part.problem.buffers().iter_enumerated() {
        let spaces = buffer.spaces.iter().map(|&space| space_of(space)).collect();
        // Ties have done their work when the plan was made. A group's name may occur in several functions, where it
        // means different groups.
        builder.buffer(Buffer { spaces, ..buffer.clone().with_tie(None) });
        let placement = part.plan.placements.get(id).and_then(Option::as_ref);
        let moved = |placement: &Placement| Placement { space: space_of(placement.space), ..placement.clone() };
        plan.placements.push(placement.map(moved));
    }
    for &(one, other) in part.problem.must_share() {
        builder.must_share(buffer_of(one), buffer_of(other));
    }
    for &Overlay { buffer, over, kind } in part.problem.overlays() {
        builder.overlay(Overlay { buffer: buffer_of(buffer), over: buffer_of(over), kind });
    }
    for Reuse { buffer, over } in &part.plan.reused {
        let over = over.iter().map(|&over| buffer_of(over)).collect();
        plan.reused.push(Reuse { buffer: buffer_of(*buffer), over });
    }
}
