//! Writes a generated problem as CSV, or a generated program as MLIR or TVMScript: `generate KIND NUMBERS…`, for instance
//!
//! ```text
//! generate random 1000000 100 2024      buffers, how many are alive on average, seed
//! generate jigsaw 400 300 1000000 1     buffers, steps, height, seed
//! generate chain 500 1                  layers, seed
//! generate training 200 1               layers, seed
//! generate functions 100000             functions; likewise blocks, regions, carried, kernel, network
//! generate script 100000                statements of TVMScript
//! ```

use std::io::{self, BufWriter, Write};

use memplan_core::Problem;
use memplan_testkit::{instances, mlir, tvmscript};

fn problem(kind: &str, numbers: &[u64]) -> Option<Problem> {
    Some(match (kind, numbers) {
        ("random", &[count, mean_live, seed]) => instances::random(count as usize, mean_live, seed),
        ("jigsaw", &[count, steps, height, seed]) => instances::jigsaw(count as usize, steps, height, seed),
        ("chain", &[layers, seed]) => instances::chain(layers as usize, seed),
        ("training", &[layers, seed]) => instances::training(layers as usize, seed),
        _ => return None,
    })
}

/// The text of a program, where the kind is one of those.
fn program(kind: &str, numbers: &[u64]) -> Option<String> {
    let others: [mlir::Family; 3] =
        [("kernel", mlir::kernel), ("network", mlir::network), ("script", tvmscript::chain)];
    let families = mlir::FAMILIES.into_iter().chain(others);
    let (_, make) = families.into_iter().find(|(name, _)| *name == kind)?;
    match numbers {
        &[count] => Some(make(count as usize)),
        _ => None,
    }
}

fn main() -> io::Result<()> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let numbers: Option<Vec<u64>> = args.iter().skip(1).map(|arg| arg.parse().ok()).collect();
    if let Some(text) = args.first().zip(numbers.as_ref()).and_then(|(kind, numbers)| program(kind, numbers)) {
        return io::stdout().lock().write_all(text.as_bytes());
    }
    let found = args.first().zip(numbers).and_then(|(kind, numbers)| problem(kind, &numbers));
    let Some(problem) = found else {
        return Err(io::Error::other(
            "usage: generate random|jigsaw|chain|training|functions|blocks|regions|carried|kernel|network|script NUMBERS…",
        ));
    };
    let mut out = BufWriter::new(io::stdout().lock());
    writeln!(out, "id,lower,upper,size")?;
    for buffer in problem.buffers() {
        for interval in buffer.lifetime.intervals() {
            let size = buffer.bytes().unwrap_or_default();
            writeln!(out, "{},{},{},{size}", buffer.name, interval.start, interval.end)?;
        }
    }
    out.flush()
}
