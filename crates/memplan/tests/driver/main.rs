//! The driver: only right results leave it, wrong ones are repaired, and what is written is what was checked.

#![allow(clippy::unwrap_used, reason = "a test that cannot set the stage has failed")]

mod emitters;
mod mutants;
mod mutated;
mod one_road;
mod patience;
mod reorder;
mod repair;
mod stress;
mod toy;
