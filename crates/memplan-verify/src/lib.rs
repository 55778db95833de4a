//! Checks plans, sharing no code with what makes them.
//!
//! [`packing`] takes a [`Problem`](memplan_core::Problem) at its word and asks
//! whether a [`Plan`](memplan_core::Plan) keeps every rule in it.
//! [`dataflow`] does not: it follows a [`Program`](memplan_program::Program)
//! through memory laid out by a plan and asks that every read find what was
//! last written. [`in_place`] decides whether a loop nest may compute its result
//! into the memory of its operand. [`order`] decides whether another order of
//! execution computes the same, [`equivalence`] whether a changed model does.
//!
//! The feature `dataflow`, on by default, brings the check of that name and with
//! it memplan-program and rayon.
//!
//! This crate reaches neither the planner nor the analysis; a test on the Cargo
//! graph proves it. From memplan-core it takes the plain data of problems and
//! plans, not what is derived from them (blocks, bounds).

#[cfg(feature = "dataflow")]
pub mod dataflow;
pub mod equivalence;
pub mod in_place;
pub mod order;
pub mod packing;
