//! Never more extra arithmetic than tiling everything in the same way.
//!
//! The naive way to make a network smaller is to execute its longest chain of spatial ops in one grid of tiles. For every such
//! grid there must be a candidate that needs no more memory and computes no more. What the naive network needs is counted here,
//! op by op, and shares nothing with the estimates of the crate.
#![allow(clippy::unwrap_used, reason = "a test")]

use std::collections::BTreeMap;

use memplan_core::Id;
use memplan_fit::net::Schedule;
use memplan_fit::patch::{Patch, patch};
use memplan_fit::{Allowed, Dialect, Net, candidates};
use memplan_models::graph::{Graph, Home, TensorId};
use memplan_models::tflite;

fn bytes_of(name: &str) -> Vec<u8> {
    std::fs::read(format!("{}/../../tests/data/tflite/{name}.tflite", env!("CARGO_MANIFEST_DIR"))).unwrap()
}

/// The largest number of bytes alive, of lists of ops with what they read and write.
fn peak(graph: &Graph, size: &dyn Fn(TensorId) -> u64, ops: &[(Vec<TensorId>, Vec<TensorId>)]) -> u64 {
    let mut born = BTreeMap::<TensorId, usize>::new();
    let mut dies = BTreeMap::<TensorId, usize>::new();
    graph.inputs.iter().for_each(|&input| _ = born.insert(input, 0));
    for (at, (reads, writes)) in ops.iter().enumerate() {
        for &tensor in writes {
            born.entry(tensor).or_insert(at);
            dies.insert(tensor, at);
        }
        reads.iter().for_each(|&tensor| _ = dies.insert(tensor, at));
    }
    graph.outputs.iter().for_each(|&output| _ = dies.insert(output, ops.len()));
    let alive = |at: usize| {
        let here =
            born.iter().filter(|(tensor, born)| **born <= at && dies.get(tensor).is_some_and(|&dies| dies >= at));
        here.map(|(&tensor, _)| size(tensor)).sum()
    };
    (0..ops.len()).map(alive).max().unwrap_or(0)
}

/// The longest chain from the first op on that computes one image, and what lies behind it.
fn longest(net: &Net, schedule: &Schedule) -> usize {
    let reads_inside = |end: usize| {
        let inner = schedule.steps[..end - 1].iter().flat_map(|step| &step.outputs);
        let later = |tensor: &TensorId| {
            schedule.steps[end..].iter().any(|step| step.inputs.contains(tensor)) || net.graph.outputs.contains(tensor)
        };
        !{ inner }.any(later)
    };
    let spatial = net.layers.iter().take_while(|layer| layer.spatial.is_ok()).count();
    (1..=spatial).rev().find(|&end| reads_inside(end)).unwrap_or(0)
}

/// What a network needs whose first ops are a patch.
fn needs(net: &Net, schedule: &Schedule, end: usize, patch: &Patch) -> u64 {
    let known = net.graph.tensors.len();
    let round = |bytes: u64| bytes.next_multiple_of(net.alignment.0);
    let size = |tensor: TensorId| match tensor.index().checked_sub(known) {
        None if net.graph.tensors[tensor].home == Home::Arena => round(net.graph.tensors[tensor].bytes.0),
        None => 0,
        Some(new) => {
            let new = &patch.tensors[new];
            let like = &net.graph.tensors[new.like];
            let elements: u64 = like.shape.iter().product();
            round(new.shape.iter().product::<u64>() * (like.bytes.0 / elements))
        }
    };
    let mut ops: Vec<_> = patch.ops.iter().map(|op| (op.inputs(net.graph), op.outputs(net.graph).to_vec())).collect();
    ops.extend(schedule.steps[end..].iter().map(|step| (step.inputs.clone(), step.outputs.clone())));
    peak(net.graph, &size, &ops)
}

#[test]
fn no_candidate_computes_more_than_tiling_everything_for_the_same_memory() {
    let mut compared = 0;
    for name in ["mobile", "unet", "classifier", "branches", "puzzle"] {
        let file = bytes_of(name);
        let model = tflite::read(&file.as_slice(), &tflite::Options::default()).unwrap().model;
        let graph = model.main().unwrap();
        let layers = memplan_fit::tflite::layers(graph, &tflite::attributes::read(&file.as_slice(), graph).unwrap());
        let dialect = Dialect::TFLITE.with_records_elsewhere();
        let net = Net { graph, layers, dialect, alignment: model.alignment, reuses_inputs: true };
        let schedule = Schedule::of_order(graph, graph.ops.ids());
        let allowed = Allowed { reorder: false, recompute: false, patches: true };
        let found = candidates(&net, &[(schedule.clone(), Vec::new())], allowed);
        let end = longest(&net, &schedule);
        let rest: u64 = net.layers[end..].iter().map(|layer| layer.macs).sum();
        // The numbers of rows that the crate tries.
        for rows in [2, 3, 4, 5, 6, 7, 8, 10, 12, 14, 16] {
            let Ok(naive) = patch(&net, &schedule, 0..end, [rows, 1], graph.tensors.len()) else { continue };
            let (memory, macs) = (needs(&net, &schedule, end, &naive), naive.macs + rest);
            // Ops count a little, so that thousands of tiles are not taken for nothing.
            let memory = memory + net.dialect.overhead.op * naive.ops.len().saturating_sub(end) as u64;
            let fitting = found.iter().filter(|candidate| candidate.estimate().0 <= memory);
            let best = fitting.map(|candidate| candidate.macs).min();
            assert!(best.is_some_and(|best| best <= macs), "{name} in {rows} rows: {memory} {macs} {best:?}");
            compared += 1;
        }
    }
    assert!(compared > 8, "{compared} grids");
}
