//! What comes back beside the offsets.
//!
//! The struct grows at its end, so an old caller has less of it. [`Answer`] keeps what the caller gave, fills it in and
//! copies back no more than the caller has.

use memplan::core::{Id, Outcome, Plan, Problem, ReuseCost};

use crate::error::Failure;
use crate::layout::{Report, read_sized};

/// A caller's report, while it is filled in.
pub(crate) struct Answer {
    theirs: *mut Report,
    pub(crate) report: Report,
}

impl Answer {
    /// Reads what the caller gave, which may be nothing.
    ///
    /// # Safety
    /// `report` is null or points to a struct that says its size.
    pub(crate) unsafe fn of(report: *mut Report) -> Result<Answer, Failure> {
        let given = match report.is_null() {
            true => Report::default(),
            // SAFETY: as promised to us.
            false => unsafe { read_sized(report, Report::default())? },
        };
        let report_given = Report {
            extent: 0,
            lower_bound: 0,
            violations: 0,
            witness_count: 0,
            cost: 0,
            cost_lower_bound: 0,
            active_count: 0,
            ..given
        };
        Ok(Answer { theirs: report, report: report_given })
    }

    /// Writes the plan's spaces and extents to the caller's arrays.
    ///
    /// # Safety
    /// The arrays have the room that the header asks for.
    pub(crate) unsafe fn set_plan(&mut self, plan: &Plan) {
        self.report.extent = plan.extent().0;
        let spaces: Vec<u32> = plan
            .placements
            .iter()
            .map(|placement| placement.as_ref().map_or(0, |placement| number(placement.space)))
            .collect();
        let extents: Vec<u64> = plan.extents.iter().map(|extent| extent.0).collect();
        // SAFETY: as promised to us.
        unsafe {
            copy(&spaces, self.report.spaces);
            copy(&extents, self.report.extents);
        }
    }

    /// Writes what the plan's reuse costs, and the pairs that are paid for to the caller's array.
    ///
    /// # Safety
    /// The array has the room that the header asks for.
    pub(crate) unsafe fn set_cost(&mut self, problem: &Problem, plan: &Plan) {
        let paid = plan.active_pairs(problem);
        // They come in the order of the problem, so one walk over all pairs finds the positions.
        let mut next = paid.iter().peekable();
        let mut is_paid = |pair: &ReuseCost| next.next_if(|other| std::ptr::eq(**other, pair)).is_some();
        let pairs = problem.reuse_costs().iter().zip(0u32..);
        let active: Vec<u32> = pairs.filter_map(|(pair, position)| is_paid(pair).then_some(position)).collect();
        self.report.cost = paid.iter().map(|pair| pair.weight).sum();
        self.report.cost_lower_bound = plan.cost.map_or(0, |cost| cost.lower_bound);
        self.report.active_count = active.len();
        // SAFETY: as promised to us.
        unsafe { copy(&active, self.report.active) };
    }

    /// Writes the buffers that cannot fit together to the caller's array.
    ///
    /// # Safety
    /// The array has the room that the header asks for.
    pub(crate) unsafe fn set_witness(&mut self, outcome: &Outcome) {
        if let Outcome::Infeasible(witness) = outcome {
            let buffers: Vec<u32> = witness.buffers.iter().map(|&buffer| number(buffer)).collect();
            self.report.witness_count = buffers.len();
            // SAFETY: as promised to us; a witness names no buffer twice.
            unsafe { copy(&buffers, self.report.witness) };
        }
    }

    /// Copies back as much as the caller has room for.
    ///
    /// # Safety
    /// The caller's struct is still there.
    pub(crate) unsafe fn write(self) {
        if !self.theirs.is_null() {
            let known = self.report.struct_size.min(size_of::<Report>());
            // SAFETY: the caller's struct has `struct_size` bytes, which `of` checked, and ours has at least `known`.
            unsafe {
                std::ptr::copy_nonoverlapping((&raw const self.report).cast::<u8>(), self.theirs.cast::<u8>(), known);
            }
        }
    }
}

/// Ids are 32 bits wide.
fn number(id: impl Id) -> u32 {
    u32::try_from(id.index()).unwrap_or(u32::MAX)
}

/// # Safety
/// `to` is null or has room for as many.
unsafe fn copy<T: Copy>(from: &[T], to: *mut T) {
    if !to.is_null() {
        // SAFETY: as promised to us.
        unsafe { std::ptr::copy_nonoverlapping(from.as_ptr(), to, from.len()) };
    }
}
