//! What a pass has planned, in a form that can be drawn.
//!
//! A pass plans each function as if it were alone. On the picture they lie side
//! by side: with several functions, memory `ub` of function `f` is space `ub@f`.
//! So the spaces and buffers of all functions become one problem and one plan, in which the numbers
//! of a function's spaces and buffers are moved up by the counts of those before it.

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

/// One function of a layout; `spans` says where each of its buffers is allocated in the source.
pub(super) struct Part<'a> {
    /// The name of the function.
    pub(super) name: &'a str,
    /// Its buffers.
    pub(super) problem: &'a Problem,
    /// Where they are.
    pub(super) plan: &'a Plan,
    /// Where each is allocated in the source.
    pub(super) spans: Vec<Span>,
}

impl Layout {
    /// Puts functions side by side; `None` without any. Fails if there are too many buffers for one problem.
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

/// Adds a function's spaces, buffers, relations and placements after those of the functions before it. A function that
/// `is_alone` keeps the names of its spaces.
fn add(part: &Part, is_alone: bool, builder: &mut ProblemBuilder, plan: &mut Plan) {
    // Ids of this function start after those of the functions before it, in both lists.
    let shift = Shift { spaces: plan.extents.len(), buffers: plan.placements.len() };
    for (id, space) in part.problem.spaces().iter_enumerated() {
        let name = if is_alone { space.name.clone() } else { format!("{}@{}", space.name, part.name) };
        builder.space(memplan_core::Space { name, ..space.clone() });
        plan.extents.push(part.plan.extents.get(id).copied().unwrap_or_default());
    }
    for (id, buffer) in part.problem.buffers().iter_enumerated() {
        let spaces = buffer.spaces.iter().map(|&space| shift.space(space)).collect();
        // A picture needs no ties: the plan has been made. If they were kept, groups of the same name in two functions
        // would become one group.
        builder.buffer(Buffer { spaces, ..buffer.clone().with_tie(None) });
        let placement = part.plan.placements.get(id).cloned().flatten();
        let placement = placement.map(|placement| Placement { space: shift.space(placement.space), ..placement });
        plan.placements.push(placement);
    }
    for &(one, other) in part.problem.must_share() {
        builder.must_share(shift.buffer(one), shift.buffer(other));
    }
    for &Overlay { buffer, over, kind } in part.problem.overlays() {
        builder.overlay(Overlay { buffer: shift.buffer(buffer), over: shift.buffer(over), kind });
    }
    for Reuse { buffer, over } in &part.plan.reused {
        let over = over.iter().map(|&over| shift.buffer(over)).collect();
        plan.reused.push(Reuse { buffer: shift.buffer(*buffer), over });
    }
}

/// How many spaces and buffers stand before those of a function.
struct Shift {
    /// Spaces of the functions before it.
    spaces: usize,
    /// Buffers of the functions before it.
    buffers: usize,
}

impl Shift {
    /// The number that a space of the function has in the layout.
    fn space(&self, space: SpaceId) -> SpaceId {
        SpaceId::from_index(self.spaces + space.index())
    }

    /// The number that a buffer of the function has in the layout.
    fn buffer(&self, buffer: BufferId) -> BufferId {
        BufferId::from_index(self.buffers + buffer.index())
    }
}
