//! What must hold for any bytes given to the readers of models.

use memplan_models::graph::Timeline;
use memplan_models::graph::problem::{Assumptions, place};
use memplan_models::graph::program::program;
use memplan_models::tflite::{self, scratch::ScratchTable};
use memplan_models::{kineto, onnx, snapshot, xla};

/// Reads the bytes as a `.tflite` file; what can be read can be planned or is refused.
#[allow(dead_code, reason = "each fuzz target takes one format")]
pub(crate) fn check_tflite(bytes: &[u8]) {
    let options = tflite::Options { scratch: Some(ScratchTable::starter()) };
    match tflite::read(&bytes, &options) {
        Ok(read) => check_model(&read.model),
        Err(error) => check_error(&error, bytes),
    }
}

/// Reads the bytes as an `.onnx` file.
#[allow(dead_code, reason = "each fuzz target takes one format")]
pub(crate) fn check_onnx(bytes: &[u8]) {
    let dimensions = [("batch".to_owned(), 2)].into_iter().collect();
    match onnx::read(&bytes, &onnx::Options { dimensions, ..onnx::Options::default() }) {
        Ok(read) => {
            assert_eq!(read.nodes.len(), read.model.main().map_or(0, |graph| graph.ops.len()));
            check_model(&read.model);
        }
        Err(error) => check_error(&error, bytes),
    }
}

/// Reads the bytes as a dump of XLA; what can be read is a plan that goes with its problem.
#[allow(dead_code, reason = "each fuzz target takes one format")]
pub(crate) fn check_xla(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    match xla::read(&text) {
        Ok(dump) => assert_eq!(dump.plan.placements.len(), dump.problem.buffers().len()),
        Err(error) => assert!(error.line >= 1, "{error}"),
    }
}

/// Reads the bytes as a memory snapshot of PyTorch; the allocator's own plan goes with its problem.
#[allow(dead_code, reason = "each fuzz target takes one format")]
pub(crate) fn check_snapshot(bytes: &[u8]) {
    match snapshot::read(bytes) {
        Ok(read) => {
            let buffers = read.problem.buffers().len();
            assert!(read.plan.is_none_or(|plan| plan.placements.len() == buffers));
        }
        Err(error) => check_error(&error, bytes),
    }
}

/// Reads the bytes as a trace of PyTorch's profiler.
#[allow(dead_code, reason = "each fuzz target takes one format")]
pub(crate) fn check_kineto(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    match kineto::read(&text) {
        Ok(read) => assert!(!read.problem.buffers().is_empty()),
        Err(error) => assert!(!error.message.is_empty(), "{error}"),
    }
}

#[allow(dead_code, reason = "each fuzz target takes one format")]
fn check_error(error: &memplan_models::ReadError, _bytes: &[u8]) {
    assert!(!error.message.is_empty() && error.line == 0, "{error}");
}

/// The problem and the program can be made, or there is a reason.
#[allow(dead_code, reason = "each fuzz target takes one format")]
fn check_model(model: &memplan_models::graph::Model) {
    for assumptions in [Assumptions::default(), Assumptions { reuse_inputs: true, in_place: true }] {
        let Ok(timeline) = Timeline::new(model) else { return };
        let Ok(placed) = place(model, timeline, assumptions) else { return };
        let program = program(model, &placed, assumptions).expect("a network is a program");
        if let Some(program) = program {
            assert_eq!(program.sites().len(), placed.problem.buffers().len());
        }
    }
}
