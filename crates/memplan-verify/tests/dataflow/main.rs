//! The dataflow check: examples, defects of other planners, and a brute-force
//! interpreter as oracle.

mod examples;
mod notation;
