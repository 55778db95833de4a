//! Kernels of 10^2 to 10^5 on-chip buffers, with memory for all of them side by
//! side and with a tenth more than the peak: `cargo bench -p memplan-mlir --bench plan_memory`.
#![allow(missing_docs, clippy::unwrap_used, clippy::print_stdout, reason = "a bench")]

use std::fmt::Write as _;
use std::time::Instant;

use memplan_mlir::pass::plan_memory::{self, Options, Target};
use memplan_mlir::{Dialects, Document, lower};
use memplan_planner::Request;

const SIZES: [usize; 5] = [256, 512, 1024, 2048, 4096];

/// Loops of ten buffers each: two loads, a chain of vector ops with a cumulative
/// sum that is not in place, a store; every other loop is double-buffered.
fn kernel(buffers: usize) -> String {
    let mut text = String::new();
    let gm = |size: usize| format!("memref<{size}xf16, #hivm.address_space<gm>>");
    let ub = |size: usize| format!("memref<{size}xf16, #hivm.address_space<ub>>");
    let arguments: Vec<String> = SIZES.iter().map(|&size| format!("%gm{size}: {}", gm(size))).collect();
    writeln!(text, "func.func @kernel({}, %n: index) {{", arguments.join(", ")).unwrap();
    writeln!(text, "  %c0 = arith.constant 0 : index\n  %c1 = arith.constant 1 : index").unwrap();
    for at in 0..buffers.div_ceil(10) {
        let size = SIZES[at * 7 % SIZES.len()];
        let (g, u) = (gm(size), ub(size));
        writeln!(text, "  scf.for %i{at} = %c0 to %n step %c1 {{").unwrap();
        for k in 0..10 {
            writeln!(text, "    %b{at}_{k} = memref.alloc() : {u}").unwrap();
            if at % 2 == 0 && (k < 2 || k == 9) {
                writeln!(text, "    annotation.mark %b{at}_{k} {{hivm.multi_buffer = 2 : i32}} : {u}").unwrap();
            }
        }
        for k in 0..2 {
            writeln!(text, "    hivm.hir.load ins(%gm{size} : {g}) outs(%b{at}_{k} : {u})").unwrap();
        }
        for k in 2..10 {
            let op = if k % 3 == 0 { "vcumsum" } else { "vexp" };
            writeln!(text, "    hivm.hir.{op} ins(%b{at}_{} : {u}) outs(%b{at}_{k} : {u})", k - 1).unwrap();
        }
        writeln!(text, "    hivm.hir.store ins(%b{at}_9 : {u}) outs(%gm{size} : {g})\n  }}").unwrap();
    }
    text + "  return\n}\n"
}

fn main() {
    println!(
        "{:>8} {:>10} {:>12} {:>12} {:>14} {:>14}",
        "buffers", "read, ms", "roomy, ms", "tight, ms", "roomy, bytes", "tight, bytes"
    );
    for buffers in [100, 1_000, 10_000, 100_000] {
        let text = kernel(buffers);
        let start = Instant::now();
        let document = Document::read(&text, Dialects::builtin()).unwrap();
        let lowered = lower(&document).unwrap();
        let read = start.elapsed();
        let plan = |capacity: u64| {
            let device = format!("scope = [{{ name = \"ub\", capacity = {capacity}, alignment = 32 }}]");
            let target: Target = device.parse().unwrap();
            let start = Instant::now();
            let options = Options::default();
            let planned = plan_memory::run(
                &document,
                &lowered,
                &options,
                Some(&target),
                None,
                &Request::default(),
                &memplan_program::Apart::default(),
            );
            let row = planned.unwrap().rewrite.stats[0].clone();
            (start.elapsed(), row)
        };
        let (roomy, row) = plan(1 << 40);
        let (tight, tight_row) = plan(row.lower_bound + row.lower_bound / 10);
        let ms = |time: std::time::Duration| format!("{:.1}", time.as_secs_f64() * 1e3);
        println!(
            "{buffers:>8} {:>10} {:>12} {:>12} {:>14} {:>14}",
            ms(read),
            ms(roomy),
            ms(tight),
            row.after,
            tight_row.after
        );
    }
}
