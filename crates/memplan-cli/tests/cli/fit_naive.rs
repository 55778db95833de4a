//! Naive tilings in the arenas that they really need, against what `memplan fit` makes for the same arena.
//!
//! `memplan-fit` compares all grids by estimates. Here the naive model is written and planned, so that alignment, gaps between
//! tensors and the runtime's records count on both sides.

use memplan::fit::net::Schedule;
use memplan::fit::patch::patch;
use memplan::fit::{Dialect, Net};
use memplan::models::graph::OpId;
use memplan::models::graph::rewrite::{NewOp, Rewrite};
use memplan::models::tflite;
use serde_json::Value;

use crate::run::Folder;

const GRIDS: [[u64; 2]; 3] = [[2, 2], [4, 3], [6, 1]];

#[test]
fn no_naive_tiling_is_better_for_the_same_arena() {
    let mut smaller = 0;
    for name in ["mobile", "unet"] {
        let folder = Folder::new();
        let file = std::fs::read(crate::models::tflite(name)).unwrap();
        std::fs::write(folder.path("model.tflite"), &file).unwrap();
        let model = tflite::read(&file.as_slice(), &tflite::Options::default()).unwrap().model;
        let graph = model.main().unwrap();
        let layers = memplan::fit::tflite::layers(graph, &tflite::attributes::read(&file.as_slice(), graph).unwrap());
        let (dialect, alignment) = (Dialect::TFLITE, model.alignment);
        let net = Net { graph, layers, dialect, alignment, reuses_inputs: true };
        let schedule = Schedule::of_order(graph, graph.ops.ids());
        let ops: Vec<OpId> = graph.ops.ids().collect();
        // A prefix can be split if nobody behind it reads anything but the image that it ends with.
        let is_read_behind = |end: usize, op: &OpId| {
            let outputs = &graph.ops[*op].outputs;
            ops[end..].iter().any(|&later| graph.ops[later].inputs.iter().any(|input| outputs.contains(input)))
        };
        let is_closed = |end: &usize| !ops[..end - 1].iter().any(|op| is_read_behind(*end, op));
        let ends: Vec<usize> = (4..=ops.len()).filter(is_closed).step_by(5).collect();
        for (grid, end) in GRIDS.into_iter().flat_map(|grid| ends.iter().map(move |&end| (grid, end))) {
            let Ok(naive) = patch(&net, &schedule, 0..end, grid, graph.tensors.len()) else { continue };
            let macs = naive.macs + net.layers[end..].iter().map(|layer| layer.macs).sum::<u64>();
            let kept = ops[end..].iter().map(|&op| NewOp::Kept(op));
            let rewrite = Rewrite { tensors: naive.tensors, ops: naive.ops.into_iter().chain(kept).collect() };
            let mut changed = tflite::rewrite::prefix(&file.as_slice(), graph, &rewrite).unwrap();
            changed.extend(&file);
            std::fs::write(folder.path("naive.tflite"), changed).unwrap();
            let report = folder.run("fit naive.tflite --forbid reorder,recompute,patches --json").json();
            let arena = report["versions"][0]["arena"].as_u64().unwrap();
            let fits = folder.run(&format!("fit model.tflite --capacity {arena} --json"));
            assert_eq!(fits.code, 0, "{name}, {end} ops in {grid:?} tiles need {arena} bytes: {}", fits.all());
            let (least, before) = (chosen(&fits.json()), fits.json()["versions"][0]["multiply_adds"].as_u64().unwrap());
            assert!(least <= macs.max(before), "{name}, {end} ops in {grid:?} tiles: {least}, and {macs} naively");
            smaller += usize::from(least > before || macs > before && fits.json()["chosen"] != 0);
        }
    }
    assert!(smaller > 0, "{smaller} naive tilings need less than the model as it is");
}

fn chosen(report: &Value) -> u64 {
    let version = usize::try_from(report["chosen"].as_u64().unwrap()).unwrap();
    report["versions"][version]["multiply_adds"].as_u64().unwrap()
}
