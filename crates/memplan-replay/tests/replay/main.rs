//! Whole runs: record, plan, replay, with a model that knows who owns which byte.
#![allow(clippy::unwrap_used, reason = "a test that cannot set the stage has failed")]

mod boundary;
mod broken;
mod driven;
mod model;
mod planner;
mod sanitized;
mod situations;
mod threads;
