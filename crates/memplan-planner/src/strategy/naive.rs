//! `naive`: no buffer shares memory with another one.
//!
//! Every buffer has its own object, or its own bytes above those of the buffers before it in the input. The extent is
//! the sum of all sizes (and of alignment gaps). Other strategies are compared with it:
//!
//! ```text
//!   a 16 [0,2)   b 8 [1,3)   c 64 [2,4)     offsets 0 16 24, extent 88
//! ```
//!
//! Because nothing is shared, exclusive buffers, pairs that must not share and an order of execution that is not fixed
//! need no extra code.

use memplan_core::{Bytes, Id, IndexVec, ObjectId, Outcome, Placement, Plan, Problem, SharedObject, SpaceId, Stop};

use crate::piece::reserved;
use crate::records::supports_records;
use crate::{Assign, Feature, Request, Strategy};

/// See the module documentation.
pub struct Naive;

impl Strategy for Naive {
    fn name(&self) -> &'static str {
        "naive"
    }

    fn describe(&self) -> &'static str {
        "every buffer on its own; what there is to save"
    }

    fn assigns(&self) -> &'static [Assign] {
        &[Assign::Objects, Assign::Offsets]
    }

    /// Besides what all strategies over sizes and lifetimes honour: relations that forbid sharing, prices of sharing
    /// (no bytes are shared, so nothing is paid), and, for objects, sizes that are no numbers of bytes.
    fn supports(&self, feature: Feature, assign: Assign) -> bool {
        use Feature::*;
        match feature {
            Exclusive | MustNotShare | Dependencies => true,
            ReuseCosts => assign == Assign::Offsets,
            Shapes | UnboundedSymbols => assign == Assign::Objects,
            other => supports_records(other),
        }
    }

    fn plan(&self, problem: &Problem, request: &Request) -> Outcome {
        let plan = match request.assign {
            Assign::Objects => Some(own_objects(problem)),
            Assign::Offsets => end_to_end(problem),
        };
        match plan {
            Some(plan) => Outcome::judge(problem, plan, Stop::Finished),
            None => Outcome::Exhausted { stop: Stop::Finished },
        }
    }
}

/// An object for every buffer.
fn own_objects(problem: &Problem) -> Plan {
    let mut plan = Plan::empty(problem);
    for (id, buffer) in problem.buffers().iter_enumerated() {
        let space = buffer.spaces[0];
        plan.objects.push(SharedObject { size: buffer.size.clone(), space });
        plan.placements[id] = Some(Placement::in_object(space, ObjectId::from_index(id.index())));
    }
    plan.fit_extents(problem);
    plan
}

/// All buffers of a space on top of each other, in input order; `None` if an extent exceeds 2^63 bytes.
fn end_to_end(problem: &Problem) -> Option<Plan> {
    let mut plan = Plan::empty(problem);
    let mut ends = IndexVec::<SpaceId, Bytes>::filled(Bytes::ZERO, problem.spaces().len());
    for (id, buffer) in problem.buffers().iter_enumerated() {
        let space = buffer.spaces[0];
        let start = ends[space].align_up(problem.alignment_in(id, space))?;
        ends[space] = start.checked_add(reserved(buffer))?;
        plan.placements[id] = Some(Placement::at(space, start));
    }
    plan.extents = ends;
    Some(plan)
}
