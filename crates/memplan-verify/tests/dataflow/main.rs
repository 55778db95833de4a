//! The dataflow check: examples, defects of other planners, and a brute-force
//! interpreter as oracle.

mod brute_force;
mod corners;
mod defects;
mod examples;
mod generate;
mod interpreter;
mod leaving_out;
mod notation;
mod random;
