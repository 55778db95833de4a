//! How the time of the life cycle grows with the number of operations: `cargo bench -p memplan-tensor --bench lifecycle`.
//!
//! Three kinds of graphs of 10 to 10,000 operations: a chain, layers in which every operation reads two of the layer
//! before, and a chain in which every second operation is computed inside its consumer's split loop. Each line has the time of each step in
//! milliseconds, of all of them, and per operation in microseconds.

#![allow(clippy::print_stdout, reason = "a bench reports")]

use memplan_tensor::rewrite::{Judge, RewriteOptions, allocation_sites, storage_rewrite};
use memplan_tensor::te::{FlattenOptions, Network, json, prepare, schedule, schedule_ops, storage_flatten, to_buffers};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::time::Instant;

/// Who judges what the crate proposes.
const JUDGE: Judge = Judge { packing: memplan_verify::packing::check, dataflow: memplan_verify::dataflow::check };

/// Makes a description with so many operations.
type Make = fn(usize) -> Value;

fn chain(count: usize) -> Value {
    let op = |k: usize| json!({"compute": format!("B{k}"), "shape": [64], "axes": ["i"], "expr": format!("B{}[i] + 1.0", k - 1)});
    describe((1..=count).map(op).collect(), count, Vec::new())
}

fn layers(count: usize) -> Value {
    let op = |k: usize| {
        let (a, b) = (k - 1, k.saturating_sub(5));
        json!({"compute": format!("B{k}"), "shape": [64], "axes": ["i"], "expr": format!("B{a}[i] + B{b}[63 - i]")})
    };
    describe((1..=count).map(op).collect(), count, Vec::new())
}

fn attached(count: usize) -> Value {
    let op = |k: usize| {
        let expr = format!("B{0}[i] + B{0}[min(i + 1, 63)]", k - 1);
        json!({"compute": format!("B{k}"), "shape": [64], "axes": ["i"], "expr": expr})
    };
    let mut directives = Vec::new();
    for k in (2..=count).step_by(2) {
        let stage = format!("B{k}");
        directives.push(json!({"do": "split", "stage": stage, "axis": "i", "factor": 8, "outer": "o", "inner": "n"}));
        directives.push(json!({"do": "compute_at", "stage": format!("B{}", k - 1), "target": stage, "axis": "o"}));
    }
    describe((1..=count).map(op).collect(), count, directives)
}

fn describe(ops: Vec<Value>, count: usize, directives: Vec<Value>) -> Value {
    let mut all = vec![json!({"placeholder": "B0", "shape": [64], "dtype": "float32"})];
    all.extend(ops);
    let last = format!("B{count}");
    json!({"ops": all, "outputs": [last], "args": ["B0", last], "schedule": directives})
}

/// Milliseconds of each step.
fn measure(description: &Value) -> Result<(Vec<f64>, usize, usize), Box<dyn std::error::Error>> {
    let mut times = Vec::new();
    let mut start = Instant::now();
    let mut lap = || {
        times.push(start.elapsed().as_secs_f64() * 1e3);
        start = Instant::now();
    };
    let network: Network = json::read_value(description)?;
    lap();
    let scheduled = schedule(&network)?;
    lap();
    let tensors = schedule_ops(&scheduled.normalised, &scheduled.bounds)?;
    lap();
    let buffers = to_buffers(&tensors, &network.args, &[], &BTreeMap::new())?;
    lap();
    let flat = storage_flatten(&buffers, &FlattenOptions::default())?;
    lap();
    let prepared = prepare(&flat.function)?;
    lap();
    let rewritten = storage_rewrite(&prepared, &RewriteOptions::default(), JUDGE)?;
    lap();
    Ok((times, allocation_sites(&flat.function).len(), allocation_sites(&rewritten.function).len()))
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let kinds: [(&str, Make); 3] = [("chain", chain), ("layers", layers), ("attached", attached)];
    println!("kind      ops    read schedule    ops buffers flatten prepare rewrite    total   us/op  allocations");
    for (name, make) in kinds {
        for count in [10, 100, 1000, 10_000] {
            let (times, before, after) = measure(&make(count))?;
            let total: f64 = times.iter().sum();
            let steps: Vec<String> = times.iter().map(|time| format!("{time:7.1}")).collect();
            println!(
                "{name:8} {count:5} {} {total:8.1} {:7.1}  {before} -> {after}",
                steps.join(" "),
                total * 1e3 / count as f64
            );
        }
    }
    Ok(())
}
