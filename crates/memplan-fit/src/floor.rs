//! A lower bound on the memory that a network needs, whatever changes are made.
//!
//! Orders, clones and tiles leave some things as they are, and these need room at some moment of every version:
//!
//! - the inputs of the network are there as a whole before anything runs, and its outputs in the end;
//! - an op that cannot be split into tiles runs with its whole inputs and its whole outputs;
//! - an image that such an op reads, or that is an output, is there as a whole at some time. Either the op that
//!   computes it runs as it is, and then that op's inputs are there, too. Or it is computed in tiles, and then all
//!   tiles and the joined image are there at once.
//!
//! ```text
//!   dw (8 KB) ─► pw (8 KB) ─► mean        the mean reads all of pw:
//!                                           pw as it is      dw + pw              16 KB
//!                                           pw in tiles      tiles + joined       16 KB
//! ```
//!
//! So this network never needs less than 16 KB, whatever happens before `dw`.

use std::collections::BTreeSet;

use memplan_core::{Bytes, Id};
use memplan_models::graph::{OpId, TensorId};

use crate::net::Net;

/// Bytes of tensors and scratch memory that every version of a network needs. Tensors outside of the arena (constants)
/// count 0 bytes (`Net::arena_bytes`).
pub fn floor(net: &Net) -> Bytes {
    let graph = net.graph;
    // The bytes of all inputs, and those of all outputs.
    let ends = [&graph.inputs, &graph.outputs].map(|tensors| bytes(net, tensors.iter().copied()));
    // An op can be computed tile by tile if it is spatial. Otherwise `spatial` holds the reason why it is not.
    let can_split = |op: OpId| net.layers[op.index()].spatial.is_ok();
    // Tensors that are there as a whole in every version: what an op that cannot be split reads, and the outputs.
    let unsplit = graph.ops.ids().filter(|&op| !can_split(op));
    let read_whole = unsplit.clone().flat_map(|op| graph.ops[op].inputs.iter().copied());
    let whole: BTreeSet<TensorId> = read_whole.chain(graph.outputs.iter().copied()).collect();
    // The images among them that a spatial op computes: that op runs as it is, or the image is joined from tiles. The
    // tiles and the joined image together are twice the image. A spatial op has one output, so the first is the only
    // one.
    let assembled = graph.ops.ids().filter(|&op| can_split(op)).filter_map(|op| {
        let image = *graph.ops[op].outputs.first().filter(|output| whole.contains(output))?;
        Some(as_it_is(net, op).min(net.arena_bytes(image).saturating_mul(2)))
    });
    let most = ends.into_iter().chain(unsplit.map(|op| as_it_is(net, op))).chain(assembled).max();
    Bytes(most.unwrap_or(0))
}

/// The bytes that an op needs that runs as it is, with all its inputs and outputs. A result that may overwrite an input
/// needs no room of its own, and this is a lower bound, so the input is taken to be overwritten.
fn as_it_is(net: &Net, op: OpId) -> u64 {
    let op = &net.graph.ops[op];
    let overwrites = |output: &TensorId| op.in_place.iter().any(|(result, _)| result == output);
    let outputs = op.outputs.iter().copied().filter(|output| !overwrites(output));
    let scratch = op.scratch.iter().map(|bytes| bytes.0).fold(0, u64::saturating_add);
    bytes(net, op.inputs.iter().copied().chain(outputs)).saturating_add(scratch)
}

/// What tensors take together, each once.
fn bytes(net: &Net, tensors: impl Iterator<Item = TensorId>) -> u64 {
    let tensors: BTreeSet<TensorId> = tensors.collect();
    tensors.into_iter().map(|tensor| net.arena_bytes(tensor)).fold(0, u64::saturating_add)
}
