//! Tests of the public interface, one module a subject.

mod conformance;
mod filetests;
mod fuzz;
mod generate;
mod generated;
mod interpreter;
mod records;
mod script_text;
mod tvm_peer;
