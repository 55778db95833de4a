//! Does a plan keep the rules of its problem?
//!
//! [`check`] lists everything that is wrong with a [`Plan`], whoever made it:
//! one of our strategies, another tool, or a person with an editor. No
//! violations means that every buffer can be read back from where the plan put
//! it, as far as the problem's lifetimes are right. (Whether they are is asked by
//! the dataflow check.)
//!
//! # The rules
//!
//! 1. Every buffer has a place, in one of its candidate spaces, with an offset
//!    for each of its slots: a multiple of the space's and of the buffer's
//!    alignment, at the fixed offset if it has one, and inside the capacity.
//!    Each space's extent reaches the end of every buffer in it. A buffer of
//!    size 0 occupies nothing, but its offset obeys these rules too.
//! 2. Two buffers that are alive at the same step have no live byte in common. A
//!    stretch of a life with a window keeps only that window alive; an overlay
//!    that the plan uses ends its victim's life on the bytes they share.
//! 3. All slots of a buffer are in use as long as it lives. They do not overlap.
//! 4. Members of a tie group lie at their distances, must-share pairs at the
//!    same place, slot by slot. Whatever is connected by these relations may
//!    overlap in spite of rules 2, 5 and 7.
//! 5. An exclusive buffer has no byte in common with anybody, and must-not-share
//!    pairs none with each other, whatever their lives and windows.
//! 6. An overlay that the plan uses is declared; its victim starts before the
//!    newcomer; where it is declared for the same base, they start at the same
//!    place; and both have the same number of offsets.
//! 7. If the order of execution is not fixed (dependencies), two buffers have
//!    bytes in common only if in every order all readers of one are done before
//!    the other is written.
//! 8. In a plan made of shared objects, an object is used as a whole: windows do
//!    not matter, sharing an object is having bytes in common, and the object is
//!    large enough for each of its buffers. A size that is not known in bytes can
//!    only be held by an object of the same symbol, or of a shape that covers it.
//! 9. A plan that says what its reuse costs says the sum of the weights of those
//!    pairs that have a byte in common, and claims no bound above it.
//!
//! A placement's strides do not matter here: where the instances of other
//! iterations lie is the dataflow check's business.
//!
//! # How
//!
//! Rule 2 is a sweep over time with a search tree over addresses, rule 7 one over
//! addresses in topological order; the others are simple passes. The time is
//! O((n + v) log n) for n stretches of life and v listed violations. Of each
//! kind of violation between pairs at most [`LISTED`] are listed, then
//! a [`Violation::More`] says how many more buffers are concerned.
//!
//! ```
//! use memplan_core::{Buffer, Bytes, Lifetime, Placement, Plan, ProblemBuilder, Id, SpaceId};
//!
//! let mut builder = ProblemBuilder::new();
//! let a = builder.buffer(Buffer::new("a", 64, Lifetime::new(0, 3)));
//! let b = builder.buffer(Buffer::new("b", 32, Lifetime::new(2, 5)));
//! let problem = builder.build()?;
//! let mut plan = Plan::empty(&problem);
//! plan.placements[a] = Some(Placement::at(SpaceId::from_index(0), Bytes(0)));
//! plan.placements[b] = Some(Placement::at(SpaceId::from_index(0), Bytes(48)));
//! plan.fit_extents(&problem);
//!
//! let violations = memplan_verify::packing::check(&problem, &plan);
//! assert_eq!(
//!     violations[0].to_string(),
//!     "buffers `a` and `b` are both alive at step 2 on bytes 48..64 of space `default`"
//! );
//! # Ok::<(), memplan_core::ProblemError>(())
//! ```

mod alone;
mod apart;
mod cost;
mod layout;
mod listing;
mod live_ranges;
mod order;
mod overlap;
mod overlay;
mod together;
mod violation;

pub use listing::LISTED;
pub use violation::{Kind, Place, Position, Violation, Who};

use layout::Layout;
use memplan_core::{Plan, Problem, patience};
use overlay::Overlays;
use together::Companies;

/// Everything that is wrong with a plan, in an order that depends on nothing but
/// the arguments: empty if the plan is valid. If the current [`patience`] ends on the
/// way, the list is incomplete and means nothing. So a caller that has set a patience must ask
/// it afterwards.
pub fn check(problem: &Problem, plan: &Plan) -> Vec<Violation> {
    let mut violations = Vec::new();
    let layout = Layout::new(problem, plan);
    alone::check(problem, plan, &layout, &mut violations);
    together::check(problem, plan, &mut violations);
    if patience::is_over_now() {
        return violations;
    }
    let overlays = Overlays::new(problem, plan, &mut violations);
    let companies = Companies::new(problem, &layout);
    overlap::check(problem, &layout, &companies, &overlays, &mut violations);
    apart::check_exclusive(problem, &layout, &companies, &mut violations);
    apart::check_pairs(problem, &layout, &mut violations);
    order::check(problem, &layout, &companies, &overlays, &mut violations);
    cost::check(problem, plan, &layout, &mut violations);
    violations
}
