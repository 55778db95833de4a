//! Tests of the public interface, one module a subject.

mod conformance;
mod decisions;
mod filetests;
mod fuzz;
mod generate;
mod generated;
mod in_place;
mod interpreter;
mod kept;
mod large;
mod mistakes;
mod names;
mod neighbours;
mod not_read;
mod pipeline;
mod printed_forms;
mod read_back;
mod records;
mod script_text;
mod te_conformance;
mod te_generate;
mod te_schedule;
mod te_stages;
mod tvm_peer;

/// Who judges what the crate proposes.
const JUDGE: memplan_tensor::rewrite::Judge = memplan_tensor::rewrite::Judge {
    packing: memplan_verify::packing::check,
    dataflow: memplan_verify::dataflow::check,
};
