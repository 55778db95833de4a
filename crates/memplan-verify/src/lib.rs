//! Checks plans, sharing no code with what makes them.
//!
//! # Why it is a crate
//!
//! A planner that is wrong is worse than none. This crate reaches neither the planner nor the analysis;
//! a test on the Cargo graph proves it. From memplan-core it takes the plain data of problems and
//! plans, not what is derived from them (blocks, bounds).
//!
//! # Example
//!
//! Two buffers are alive in step 1 and lie on the same bytes:
//!
//! ```
//! use memplan_core::{Buffer, Bytes, Lifetime, Placement, Plan, ProblemBuilder};
//! use memplan_verify::packing;
//!
//! let mut builder = ProblemBuilder::new();
//! builder.buffer(Buffer::new("a", 64, Lifetime::new(0, 2)));
//! builder.buffer(Buffer::new("b", 32, Lifetime::new(1, 3)));
//! let problem = builder.build()?;
//!
//! let mut plan = Plan::empty(&problem);
//! for (id, buffer) in problem.buffers().iter_enumerated() {
//!     plan.placements[id] = Some(Placement::at(buffer.spaces[0], Bytes(0)));
//! }
//! plan.fit_extents(&problem);
//! let violations = packing::check(&problem, &plan);
//! assert_eq!(violations.len(), 1);
//! assert!(violations[0].to_string().contains("both alive at step 1"));
//! # Ok::<(), memplan_core::ProblemError>(())
//! ```
//!
//! # Where next
//!
//! - [`packing`] takes a [`Problem`](memplan_core::Problem) at its word and asks whether a
//!   [`Plan`](memplan_core::Plan) keeps every rule in it.
//! - [`dataflow`] does not: it follows a [`Program`](memplan_program::Program) through memory laid out
//!   by a plan and asks that every read find what was last written.
//! - [`in_place`] decides whether a loop nest may compute its result into the memory of its operand.
//! - [`order`] decides whether another order of execution computes the same, [`equivalence`] whether a
//!   changed model does.
//!
//! The feature `dataflow`, on by default, brings the check of that name and with it memplan-program and
//! rayon.

#[cfg(feature = "dataflow")]
pub mod dataflow;
pub mod equivalence;
pub mod in_place;
pub mod order;
pub mod packing;
