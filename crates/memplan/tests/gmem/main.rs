//! assign-gmem: networks of `top` and `tpu` ops, against recorded addresses, against
//! the documented algorithm, and at random.

#![allow(clippy::unwrap_used, reason = "a test that cannot set the stage has failed")]

mod conformance;
mod documented;
mod errors;
mod generate;
mod generated;
mod modes;
mod overlap;
mod robust;
mod text;
mod weights;
