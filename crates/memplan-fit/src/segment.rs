//! Which steps can be executed tile by tile, and what that takes.
//!
//! A segment is a run of neighbouring steps, all spatial, that compute one image; nobody outside reads what they
//! compute on the way. Where a schedule has a chain, every part of the chain is a segment, and a residual block is one
//! as a whole:
//!
//! ```text
//!   a ─► b ─┬─► c ─► d ─┬─► add ─► e       a..=a   a..=b   c..=d   b..=add   a..=e   …
//!           └───────────┘                  not b..=c: `add` reads b
//! ```
//!
//! There are many segments and many grids. `tilings` looks at all segments and keeps what needs less memory than the
//! grids before it. `naive_tilings` looks at few segments, those that somebody would split who tiles everything in
//! the same way, and at all grids of them that are not too fine. So no answer is worse than the best of these.

use std::ops::Range;

use memplan_core::Id;
use memplan_models::graph::rewrite::NewOp;

use crate::layer::Border;
use crate::live::{Lives, Run, peak_within};
use crate::net::{Net, Schedule, Step};
use crate::patch::{Patch, least, least_macs, patch};

/// A way to execute some steps tile by tile.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tiling {
    /// The steps.
    pub steps: Range<usize>,
    /// Rows and columns of tiles.
    pub grid: [u64; 2],
    /// Most bytes alive while the tiles are computed.
    pub peak: u64,
    /// Multiply-adds on top of those of the steps. Fewer than none where the steps compute positions that nobody reads,
    /// as a window with a stride may leave them out at the end: tiles do not compute these.
    pub extra_macs: i64,
    /// Bytes that are copied only.
    pub copied: u64,
    /// Bytes that the runtime keeps for more ops and tensors.
    pub overhead: u64,
}

/// How many rows and columns of tiles are tried: few first, then in larger steps.
const COUNTS: [u64; 16] = [1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 14, 16, 20, 24, 28, 32];
/// More columns than this are not tried: every tile costs the runtime records of its ops.
const MOST_COLUMNS: u64 = 8;

/// All segments of a schedule that end somewhere behind their first step, longest last.
pub(crate) fn segments(net: &Net, schedule: &Schedule, lives: &Lives) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    for first in 0..schedule.steps.len() {
        // The furthest reader of what the steps so far have computed. Where the next step is the only one left to
        // read anything, everything but the last output is read inside.
        let mut furthest = first;
        for last in first..schedule.steps.len() {
            let step = &schedule.steps[last];
            if net.layers[step.op.index()].spatial.is_err() {
                break;
            }
            if furthest <= last {
                found.push(first..last + 1);
            }
            let reader = step.outputs.iter().filter_map(|output| lives.last[output.index()]).max();
            furthest = furthest.max(reader.unwrap_or(usize::MAX));
        }
    }
    found
}

/// The ways to execute a segment tile by tile in which less is alive than without tiles.
pub(crate) fn tilings(
    net: &Net,
    schedule: &Schedule,
    lives: &Lives,
    curve: &[u64],
    steps: &Range<usize>,
) -> Vec<Tiling> {
    let Some(hottest) = curve[steps.clone()].iter().max().copied() else { return Vec::new() };
    let Some(&image) = schedule.steps[steps.end - 1].outputs.first() else { return Vec::new() };
    let alive = |is_counted: &dyn Fn(usize) -> bool| {
        let before = (0..lives.bytes.len()).filter(|&tensor| lives.is_alive_before(tensor, steps.start));
        before.filter(|&tensor| is_counted(tensor)).map(|tensor| lives.bytes[tensor]).sum::<u64>()
    };
    // At the end all tiles and the whole image are there; before, everything that any tile reads.
    let at_end = alive(&|tensor| lives.last[tensor] >= Some(steps.end)) + 2 * lives.bytes[image.index()];
    let outside = alive(&|_| true);
    let per_tile: u64 = schedule.steps[steps.clone()].iter().map(|step| kept_for(net, step)).sum();
    let mut found: Vec<Tiling> = Vec::new();
    // What a tiling saves in tensors it may lose in records of its ops. The sum of both counts: a tiling with a larger
    // sum than another one makes no arena smaller.
    let mut best = hottest;
    for columns in COUNTS.into_iter().filter(|&columns| columns <= MOST_COLUMNS) {
        // More columns than rows, or a grid of one tile, is never better.
        for rows in COUNTS.into_iter().filter(|&rows| rows >= columns && rows > 1) {
            let grid = [rows, columns];
            let records = per_tile.saturating_mul(rows * columns - 1);
            let is_hopeless = |least: u64| at_end.max(outside.saturating_add(least)).saturating_add(records) >= best;
            if is_hopeless(0) || least(net, schedule, steps.clone(), grid).is_none_or(is_hopeless) {
                continue;
            }
            let Ok(patch) = patch(net, schedule, steps.clone(), grid, first_new(net, schedule)) else { continue };
            let tiling = judged(net, schedule, lives, steps, grid, &patch);
            if tiling.peak.saturating_add(tiling.overhead) < best {
                best = tiling.peak.saturating_add(tiling.overhead);
                found.push(tiling);
            }
        }
    }
    found
}

/// Naive tilings have at most so many rows and so many columns of tiles.
const NAIVE: u64 = 8;

/// The segments that a naive tiling splits: all that begin with the first step, and those that are no part of a longer
/// one.
pub(crate) fn naive_segments(segments: &[Range<usize>]) -> Vec<Range<usize>> {
    let is_inside =
        |one: &Range<usize>, other: &Range<usize>| one != other && other.start <= one.start && one.end <= other.end;
    let is_longest = |one: &&Range<usize>| !segments.iter().any(|other| is_inside(one, other));
    segments.iter().filter(|one| one.start == 0 || is_longest(one)).cloned().collect()
}

/// The ways to execute a segment in a grid of at most [`NAIVE`] rows and columns of tiles, except for grids that are no
/// better than another one in peak, multiply-adds and overhead, and for those that do not lower the peak of the whole
/// network.
pub(crate) fn naive_tilings(
    net: &Net,
    schedule: &Schedule,
    lives: &Lives,
    curve: &[u64],
    steps: &Range<usize>,
) -> Vec<Tiling> {
    let hottest = curve.iter().copied().fold(0, u64::max);
    let mut found: Vec<Tiling> = Vec::new();
    for grid in (1..=NAIVE).flat_map(|rows| (1..=NAIVE).map(move |columns| [rows, columns])) {
        // Writing a patch costs far more than a bound of what it needs, and most grids are out of the question by it.
        let Some(bound) = bound(net, schedule, lives, steps, grid) else { continue };
        let is_no_better = |bound: &Tiling, known: &Tiling| {
            known.peak <= bound.peak && known.extra_macs <= bound.extra_macs && known.overhead <= bound.overhead
        };
        let is_hopeless = bound.peak.saturating_add(bound.overhead) >= hottest;
        if grid == [1, 1] || is_hopeless || found.iter().any(|known| is_no_better(&bound, known)) {
            continue;
        }
        let Ok(patch) = patch(net, schedule, steps.clone(), grid, first_new(net, schedule)) else { continue };
        let tiling = judged(net, schedule, lives, steps, grid, &patch);
        debug_assert!(is_no_better(&tiling, &bound), "a bound is never above what it bounds: {bound:?} {tiling:?}");
        if !found.iter().any(|known| is_no_better(&tiling, known)) {
            found.retain(|known| !is_no_better(known, &tiling));
            found.push(tiling);
        }
    }
    found
}

/// At least so much does a tiling need and cost; `None` if there is no such tiling.
fn bound(net: &Net, schedule: &Schedule, lives: &Lives, steps: &Range<usize>, grid: [u64; 2]) -> Option<Tiling> {
    let image = *schedule.steps[steps.end - 1].outputs.first()?;
    let inside = least(net, schedule, steps.clone(), grid)?;
    let before = (0..lives.bytes.len()).filter(|&tensor| lives.is_alive_before(tensor, steps.start));
    let (staying, leaving): (Vec<usize>, Vec<usize>) =
        before.partition(|&tensor| lives.last[tensor] >= Some(steps.end));
    let sum = |tensors: &[usize]| tensors.iter().map(|&tensor| lives.bytes[tensor]).fold(0, u64::saturating_add);
    // At the end all tiles and the whole image are there; before, what tiles read as well.
    let at_end = sum(&staying).saturating_add(2 * lives.bytes[image.index()]);
    let during = sum(&staying).saturating_add(sum(&leaving)).saturating_add(inside);
    // Steps that only add a border become part of a tile's own border and cost no op of their own.
    let is_copied = |step: &&Step| {
        let spatial = net.layers[step.op.index()].spatial.as_ref();
        spatial.is_ok_and(|spatial| !matches!(spatial.border, Border::Added(_)))
    };
    let segment = &schedule.steps[steps.clone()];
    let kept =
        |steps: &mut dyn Iterator<Item = &Step>| steps.map(|step| kept_for(net, step)).fold(0, u64::saturating_add);
    let copies = kept(&mut segment.iter().filter(is_copied)).saturating_mul(grid[0] * grid[1]);
    Some(Tiling {
        steps: steps.clone(),
        grid,
        peak: at_end.max(during),
        extra_macs: difference(least_macs(net, schedule, steps.clone(), grid)?, macs_of(net, segment)),
        copied: 0,
        overhead: copies.saturating_sub(kept(&mut segment.iter())),
    })
}

/// Multiply-adds of steps that run as they are.
fn macs_of(net: &Net, steps: &[Step]) -> u64 {
    steps.iter().map(|step| net.layers[step.op.index()].macs).fold(0, u64::saturating_add)
}

fn difference(after: u64, before: u64) -> i64 {
    i64::try_from(i128::from(after) - i128::from(before)).unwrap_or(i64::MAX)
}

/// What the runtime keeps for a step and what it writes.
pub(crate) fn kept_for(net: &Net, step: &Step) -> u64 {
    let costs = net.dialect.overhead;
    costs.op + costs.tensor * step.outputs.len() as u64 + net.kept(step.op)
}

/// The id of the first tensor that a schedule does not have.
pub(crate) fn first_new(net: &Net, schedule: &Schedule) -> usize {
    net.graph.tensors.len() + schedule.tensors.len()
}

/// What a tiling takes: the bytes alive at its peak, what it computes twice, what it copies, and what the runtime keeps
/// for its ops. `patch` has the ops that execute the segment tile by tile.
fn judged(
    net: &Net,
    schedule: &Schedule,
    lives: &Lives,
    steps: &Range<usize>,
    grid: [u64; 2],
    patch: &Patch,
) -> Tiling {
    let first = first_new(net, schedule);
    let runs: Vec<Run> = patch.ops.iter().map(|op| run(net, first, patch, op)).collect();
    let bytes = |tensor: memplan_models::graph::TensorId| {
        let tensor = &patch.tensors[tensor.index() - first];
        net.bytes_like(tensor.like, &tensor.shape)
    };
    let before = macs_of(net, &schedule.steps[steps.clone()]);
    Tiling {
        steps: steps.clone(),
        grid,
        peak: peak_within(lives, steps.clone(), &runs, bytes),
        extra_macs: difference(patch.macs, before),
        copied: patch.copied,
        overhead: overhead(net, schedule, steps, patch),
    }
}

/// One op of a patch: the tensors it reads and writes, and its scratch memory.
fn run<'a>(net: &'a Net, first: usize, patch: &'a Patch, op: &'a NewOp) -> Run<'a> {
    // Scratch memory of a copied op shrinks with its output.
    let scratch = match op {
        NewOp::Copy(copied) => {
            let old = &net.graph.ops[copied.op];
            let elements = |shape: &[u64]| shape.iter().fold(1u64, |product, &n| product.saturating_mul(n));
            let whole = old.outputs.first().map_or(1, |&output| elements(&net.graph.tensors[output].shape)).max(1);
            let tile = copied.outputs.first().and_then(|output| patch.tensors.get(output.index().checked_sub(first)?));
            let tile = tile.map_or(whole, |tensor| elements(&tensor.shape));
            let scratch: u64 = old.scratch.iter().map(|bytes| bytes.0).sum();
            u64::try_from(u128::from(scratch) * u128::from(tile) / u128::from(whole)).unwrap_or(u64::MAX)
        }
        _ => 0,
    };
    Run { inputs: op.inputs(net.graph), outputs: op.outputs(net.graph), scratch }
}

/// What the runtime keeps for the ops of a patch beyond what it kept for the steps.
fn overhead(net: &Net, schedule: &Schedule, steps: &Range<usize>, patch: &Patch) -> u64 {
    let costs = net.dialect.overhead;
    let of_op = |op: &NewOp| {
        costs.op
            + match op {
                NewOp::Kept(op) => net.kept(*op),
                NewOp::Copy(copied) => net.kept(copied.op),
                NewOp::Slice { .. } => 2 * costs.tensor,
                NewOp::Pad { .. } => costs.pad + costs.tensor,
                NewOp::Concat { .. } => costs.concat,
            }
    };
    let after = patch.ops.iter().map(of_op).sum::<u64>() + costs.tensor * patch.tensors.len() as u64;
    // Tensors that only the steps used make room for new ones.
    let before = schedule.steps[steps.clone()].iter().map(|step| kept_for(net, step)).sum::<u64>();
    after.saturating_sub(before)
}
