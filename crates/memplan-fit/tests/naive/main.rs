//! Never more extra arithmetic than tiling everything in the same way.
//!
//! The naive way to make a network smaller is to execute its first ops, as many as there are spatial ones, in one grid of tiles. For
//! every prefix of the network and every grid of up to 8 x 8 tiles there must be a candidate that needs no more memory and
//! computes no more. The tiler here is the test's own. It marks the rows and columns that a tile needs one by one, lists the ops
//! that a runtime would run, and counts what is alive while each of them runs.
#![allow(clippy::unwrap_used, reason = "a test")]

mod generated;
mod tiler;

use memplan_fit::net::Schedule;
use memplan_fit::{Allowed, Candidate, Dialect, Net, candidates};
use memplan_models::tflite;

use generated::Generated;
use tiler::{Tiled, as_it_is, prefixes, tiled};

/// Grids of tiles have at most so many rows and columns.
const LARGEST: u64 = 8;

fn found(net: &Net) -> Vec<Candidate> {
    let schedule = Schedule::of_order(net.graph, net.graph.ops.ids());
    let allowed = Allowed { reorder: false, recompute: false, patches: true };
    candidates(net, &[(schedule, Vec::new())], allowed)
}

/// Holds all naive tilings of a network against its candidates; how many there were, and how many that need less than the network
/// as it is.
fn compare(name: &str, net: &Net) -> (usize, usize) {
    let found = found(net);
    let unchanged = as_it_is(net);
    let floor = memplan_fit::floor(net);
    assert!(found.iter().all(|candidate| candidate.peak >= floor), "{name}: a candidate below the floor, {floor}");
    let (mut compared, mut smaller) = (0, 0);
    for end in prefixes(net) {
        for grid in (1..=LARGEST).flat_map(|rows| (1..=LARGEST).map(move |columns| [rows, columns])) {
            let Some(Tiled { memory, macs }) = tiled(net, end, grid) else { continue };
            let fitting = found.iter().filter(|candidate| candidate.estimate().0 <= memory);
            let best = fitting.map(|candidate| candidate.macs).min();
            // Tiles leave positions out that nobody reads. Where they save no memory, that is no reason to have them.
            let macs = if memory < unchanged.memory { macs } else { macs.max(unchanged.macs) };
            assert!(
                best.is_some_and(|best| best <= macs),
                "{name}: the first {end} ops in {grid:?} tiles need {memory} bytes and {macs} multiply-adds; best {best:?}"
            );
            compared += 1;
            smaller += usize::from(memory < unchanged.memory);
        }
    }
    (compared, smaller)
}

/// Both ways of counting: with the runtime's records, and without.
const DIALECTS: [fn() -> Dialect; 2] = [|| Dialect::TFLITE, || Dialect::TFLITE.with_records_elsewhere()];

#[test]
fn no_candidate_of_a_model_is_worse_than_a_naive_tiling() {
    for name in ["mobile", "unet", "classifier", "branches", "puzzle"] {
        let path = format!("{}/../../tests/data/tflite/{name}.tflite", env!("CARGO_MANIFEST_DIR"));
        let file = std::fs::read(path).unwrap();
        let model = tflite::read(&file.as_slice(), &tflite::Options::default()).unwrap().model;
        let graph = model.main().unwrap();
        let layers = memplan_fit::tflite::layers(graph, &tflite::attributes::read(&file.as_slice(), graph).unwrap());
        for dialect in DIALECTS {
            let (dialect, layers) = (dialect(), layers.clone());
            let net = Net { graph, layers, dialect, alignment: model.alignment, reuses_inputs: true };
            let (compared, smaller) = compare(name, &net);
            assert!(name != "mobile" || compared > 600 && smaller > 20, "{name}: {compared} grids, {smaller} smaller");
        }
    }
}

#[test]
fn no_candidate_of_a_generated_network_is_worse_than_a_naive_tiling() {
    let count = if std::env::var_os("MEMPLAN_FULL").is_some() { 1_000 } else { 40 };
    let (mut compared, mut smaller) = (0, 0);
    for seed in 0..count {
        let generated = Generated::new(seed);
        let net = generated.net(DIALECTS[seed as usize % 2]());
        let (all, less) = compare(&format!("seed {seed}"), &net);
        compared += all;
        smaller += less;
    }
    assert!(compared > 20 * count as usize && smaller > count as usize, "{compared} grids, {smaller} smaller");
}
