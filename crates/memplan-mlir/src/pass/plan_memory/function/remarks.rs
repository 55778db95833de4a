//! What a user is told about a plan that shares bytes across pipes.
//!
//! If a buffer of one engine (*pipe*) lies on the bytes of an earlier buffer of another engine, the first engine waits
//! until the other one is done with these bytes. Such a pair of buffers is a *crossing*. The remarks name the
//! crossings.

use memplan_core::{BufferId, Bytes};

use super::*;

/// The largest number of sharings that are named one by one. The remark after them has the number of all sharings, or
/// the weight of all waits.
const MOST_CROSSINGS: usize = 16;

impl Planner<'_> {
    /// Tells the user where a plan by levels shares bytes across pipes: for each memory the original's warning, the
    /// crossings, and their number.
    pub(super) fn warn(&mut self, op: crate::OpId, problem: &Problem, report: &Report) {
        let span = self.view.document.op(op).name_span;
        // The other modes share bytes within one pipe, or not at all, so no engine waits for another.
        for row in report.spaces.iter().filter(|row| matches!(row.mode, Mode::Levels | Mode::Search)) {
            let space = &problem.spaces()[row.space];
            // The original warns with the bytes that it would take to share within pipes only.
            let stall = row.without_crossing.zip(space.capacity);
            let stall = stall.map(|(needed, capacity)| stall_warning(&space.name, needed, capacity));
            let crossings = report.crossings.iter();
            let here: Vec<_> =
                crossings.filter(|crossing| problem.buffers()[crossing.later].spaces.contains(&row.space)).collect();
            let shown = here.iter().take(MOST_CROSSINGS).map(|crossing| {
                let level = report.levels[crossing.later].map_or("level0", levels::Level::describe);
                let [later, earlier] = [crossing.later, crossing.earlier].map(|id| &problem.buffers()[id].name);
                format!("{later} (placed at {level}) waits for {earlier}")
            });
            let count = format!("{}: {} sharings across pipes", space.name, here.len());
            let messages = stall.into_iter().chain(shown).chain([count]);
            self.all.remarks.extend(messages.map(|message| Remark { span, message }));
        }
    }

    /// Tells the user which pairs of buffers make ops wait in this plan, and the weight of all its waits. The user also
    /// gets the weight in the plan of the strategy `levels`, which follows the original; `by_levels` is `None` if that
    /// strategy found no plan. Nothing is said if no op waits in either plan.
    pub(super) fn tell_waits(&mut self, op: crate::OpId, problem: &Problem, plan: &Plan, waits: Waits) {
        if waits.here == 0 && waits.by_levels.unwrap_or(0) == 0 {
            return;
        }
        let span = self.view.document.op(op).name_span;
        let name = |buffer: BufferId| &problem.buffers()[buffer].name;
        for pair in plan.active_pairs(problem).into_iter().take(MOST_CROSSINGS) {
            let message =
                format!("{} and {} share bytes: waits of weight {}", name(pair.one), name(pair.other), pair.weight);
            self.all.remarks.push(Remark { span, message });
        }
        let least = match waits.here == waits.at_least {
            true => "the least possible".to_owned(),
            false => format!("at least {}", waits.at_least),
        };
        let levels = waits.by_levels.map_or_else(String::new, |weight| format!(", {weight} by levels"));
        let message = format!("reuse adds waits of weight {}: {least}{levels}", waits.here);
        self.all.remarks.push(Remark { span, message });
    }
}

/// The original's warning about a memory in which pipes wait for each other, word for word, for tools that look for it.
fn stall_warning(space: &str, needed: Bytes, capacity: Bytes) -> String {
    let [needed, capacity] = [needed, capacity].map(|bytes| u128::from(bytes.0) * 8);
    format!(
        "warning: [hivm-plan-memory] There reused some dma buffers in {space} address space, which may stall pipe. \
         Not reusing dma buffer needs {needed} bits while {capacity} bits available!"
    )
}
