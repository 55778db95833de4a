//! The report: what a call gives back beside the offsets.
//!
//! The struct [`Report`] grows at its end from version to version, so an old caller has fewer fields. [`Answer`]
//! keeps a copy of what the caller gave, fills it in and copies back no more bytes than the caller has.

use memplan::core::{Id, Outcome, Plan, Problem, ReuseCost};

use crate::error::Failure;
use crate::layout::{Report, read_sized};

/// A caller's report, while it is filled in.
pub(crate) struct Answer {
    /// The caller's struct, which may be shorter than ours; null if the caller wants no report.
    theirs: *mut Report,
    /// Our copy.
    pub(crate) report: Report,
}

impl Answer {
    /// Copies the caller's report, or a default if there is none. The caller's pointers to arrays are kept, and all
    /// numbers are set to 0.
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
        // The pairs that are paid for are references into the problem's list, in its order. So one walk over that
        // list finds their positions, by comparing addresses.
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

/// The number of a buffer or space for the caller. Ids are 32 bits wide, so the default is never used.
fn number(id: impl Id) -> u32 {
    u32::try_from(id.index()).unwrap_or(u32::MAX)
}

/// Copies numbers to an array of the caller, if there is one.
///
/// # Safety
/// `to` is null or has room for as many.
unsafe fn copy<T: Copy>(from: &[T], to: *mut T) {
    if !to.is_null() {
        // SAFETY: as promised to us.
        unsafe { std::ptr::copy_nonoverlapping(from.as_ptr(), to, from.len()) };
    }
}
