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
//! There are many segments and many grids. [`Segment::tilings`] is asked about every segment and keeps a grid only if
//! it needs less memory than the grids before it. [`Segment::naive_tilings`] is asked about a few segments only: those
//! that the naive method splits, which tiles everything in the same way. It tries all their grids that are not too
//! fine. So no answer is worse than the best naive tiling.

use std::ops::Range;

use memplan_core::Id;
use memplan_models::graph::TensorId;
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
    /// Multiply-adds on top of those of the steps. Fewer than none where the steps compute positions that nobody
    /// reads, as a window with a stride may leave them out at the end: tiles do not compute these.
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

/// Naive tilings have at most so many rows and so many columns of tiles.
const NAIVE: u64 = 8;

/// A run of steps that can be executed tile by tile, in the network and the schedule that it is part of.
pub(crate) struct Segment<'a> {
    /// The network.
    pub(crate) net: &'a Net<'a>,
    /// The schedule.
    pub(crate) schedule: &'a Schedule,
    /// When the tensors of the schedule are alive, and their sizes.
    pub(crate) lives: &'a Lives,
    /// The steps, by their numbers in the schedule.
    pub(crate) steps: Range<usize>,
}

impl Tiling {
    /// Bytes that count when tilings are compared. A tiling that saves bytes of tensors may lose them again in the
    /// records that the runtime keeps for its ops, and only the sum says whether the arena becomes smaller.
    fn sum(&self) -> u64 {
        self.peak.saturating_add(self.overhead)
    }

    /// Whether this tiling is at least as good as another one in every respect, so that the other one is not needed.
    fn replaces(&self, other: &Tiling) -> bool {
        self.peak <= other.peak && self.extra_macs <= other.extra_macs && self.overhead <= other.overhead
    }
}

/// All segments of a schedule, by their first steps; those with the same first step from short to long.
pub(crate) fn segments(net: &Net, schedule: &Schedule, lives: &Lives) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    for first in 0..schedule.steps.len() {
        // The last step that reads anything that the steps from `first` up to the one before `last` compute. If that
        // is not after `last`, everything but the output of `last` itself is read inside of the segment.
        let mut furthest = first;
        for last in first..schedule.steps.len() {
            let step = &schedule.steps[last];
            if net.layers[step.op.index()].spatial.is_err() {
                break;
            }
            if furthest <= last {
                found.push(first..last + 1);
            }
            // An output that no step reads does not stay inside of any longer segment: it counts as read after the
            // end.
            let reader = step.outputs.iter().filter_map(|output| lives.last[output.index()]).max();
            furthest = furthest.max(reader.unwrap_or(usize::MAX));
        }
    }
    found
}

/// The segments that a naive tiling splits: all that begin with the first step, and those that are no part of a longer
/// one.
pub(crate) fn naive_segments(segments: &[Range<usize>]) -> Vec<Range<usize>> {
    let is_inside =
        |one: &Range<usize>, other: &Range<usize>| one != other && other.start <= one.start && one.end <= other.end;
    let is_longest = |one: &&Range<usize>| !segments.iter().any(|other| is_inside(one, other));
    segments.iter().filter(|one| one.start == 0 || is_longest(one)).cloned().collect()
}

impl Segment<'_> {
    /// Ways to execute the segment tile by tile, in the order in which grids are tried. Each needs fewer bytes (alive,
    /// plus records of the runtime) than the segment without tiles and than the ways before it. `curve` has the bytes
    /// alive at each step of the schedule.
    pub(crate) fn tilings(&self, curve: &[u64]) -> Vec<Tiling> {
        // The bytes that a grid has to stay below: first those without tiles, then those of the best grid so far.
        let Some(hottest) = curve[self.steps.clone()].iter().max().copied() else { return Vec::new() };
        let Some(around) = self.around() else { return Vec::new() };
        // Each tile repeats all ops of the segment, and the runtime keeps records for each copy.
        let per_tile = self.kept(|_| true);
        let mut found: Vec<Tiling> = Vec::new();
        let mut best = hottest;
        for columns in COUNTS.into_iter().filter(|&columns| columns <= MOST_COLUMNS) {
            // Grids with more columns than rows are left out, and the grid of one tile is no tiling.
            for rows in COUNTS.into_iter().filter(|&rows| rows >= columns && rows > 1) {
                let grid = [rows, columns];
                // The first tile takes the place of the ops themselves in the runtime's records, so only the other
                // tiles need more records.
                let records = per_tile.saturating_mul(rows * columns - 1);
                // Two lower bounds of what the grid needs come before the patch is written. The first one takes no time
                // and counts nothing for the tiles themselves; the second one counts the least that a tile needs.
                if around.peak(0).saturating_add(records) >= best {
                    continue;
                }
                let inside = least(self.net, self.schedule, self.steps.clone(), grid);
                if inside.is_none_or(|inside| around.peak(inside).saturating_add(records) >= best) {
                    continue;
                }
                let Some(tiling) = self.tiling(grid) else { continue };
                if tiling.sum() < best {
                    best = tiling.sum();
                    found.push(tiling);
                }
            }
        }
        found
    }

    /// The ways to execute the segment in a grid of at most [`NAIVE`] rows and columns of tiles, except for grids that
    /// are no better than another one in peak, multiply-adds and overhead, and for those that do not lower the peak of
    /// the whole network. `curve` has the bytes alive at each step of the schedule.
    pub(crate) fn naive_tilings(&self, curve: &[u64]) -> Vec<Tiling> {
        let hottest = curve.iter().copied().fold(0, u64::max);
        let mut found: Vec<Tiling> = Vec::new();
        for grid in (1..=NAIVE).flat_map(|rows| (1..=NAIVE).map(move |columns| [rows, columns])) {
            // Writing a patch costs far more than a bound of what it needs, and the bound rules out most grids.
            let Some(bound) = self.bound(grid) else { continue };
            let is_hopeless = bound.sum() >= hottest;
            if grid == [1, 1] || is_hopeless || found.iter().any(|known| known.replaces(&bound)) {
                continue;
            }
            let Some(tiling) = self.tiling(grid) else { continue };
            debug_assert!(bound.replaces(&tiling), "a bound is never above what it bounds: {bound:?} {tiling:?}");
            if !found.iter().any(|known| known.replaces(&tiling)) {
                found.retain(|known| !tiling.replaces(known));
                found.push(tiling);
            }
        }
        found
    }

    /// A lower bound of what a tiling needs and costs; `None` if there is no such tiling.
    fn bound(&self, grid: [u64; 2]) -> Option<Tiling> {
        let inside = least(self.net, self.schedule, self.steps.clone(), grid)?;
        // Every tile has a copy of each step, for which the runtime keeps records, and those of the steps themselves
        // are no longer kept. A step that only adds a border becomes part of a tile's own border and costs no op of
        // its own.
        let copies = self.kept(|step| self.is_copied(step)).saturating_mul(grid[0] * grid[1]);
        let macs = least_macs(self.net, self.schedule, self.steps.clone(), grid)?;
        Some(Tiling {
            steps: self.steps.clone(),
            grid,
            peak: self.around()?.peak(inside),
            extra_macs: difference(macs, self.macs()),
            copied: 0,
            overhead: copies.saturating_sub(self.kept(|_| true)),
        })
    }

    /// What is alive beside the tiles while the segment runs; `None` if the segment computes no image.
    fn around(&self) -> Option<Around> {
        let image = *self.schedule.steps[self.steps.end - 1].outputs.first()?;
        // When the image is joined, its tiles and the image itself are there: twice its bytes.
        let mut around = Around { at_end: 2 * self.lives.bytes[image.index()], during: 0 };
        for (tensor, &bytes) in self.lives.bytes.iter().enumerate() {
            if self.lives.is_alive_before(tensor, self.steps.start) {
                around.during = around.during.saturating_add(bytes);
                // A tensor that nobody reads after the segment is gone when the image is put together.
                let stays = self.lives.last[tensor] >= Some(self.steps.end);
                around.at_end = around.at_end.saturating_add(if stays { bytes } else { 0 });
            }
        }
        Some(around)
    }

    /// Whether every tile has a copy of this step.
    fn is_copied(&self, step: &Step) -> bool {
        let spatial = self.net.layers[step.op.index()].spatial.as_ref();
        spatial.is_ok_and(|spatial| !matches!(spatial.border, Border::Added(_)))
    }

    /// The steps of the segment.
    fn list(&self) -> &[Step] {
        &self.schedule.steps[self.steps.clone()]
    }

    /// Bytes that the runtime keeps in its records for those steps of the segment that are asked for.
    fn kept(&self, is_asked_for: impl Fn(&Step) -> bool) -> u64 {
        let steps = self.list().iter().filter(|step| is_asked_for(step));
        steps.map(|step| kept_for(self.net, step)).fold(0, u64::saturating_add)
    }

    /// Multiply-adds of the steps as they are.
    fn macs(&self) -> u64 {
        self.list().iter().map(|step| self.net.layers[step.op.index()].macs).fold(0, u64::saturating_add)
    }

    /// Writes the patch that executes the segment in a grid of tiles, and counts what it takes; `None` if there is no
    /// such patch.
    fn tiling(&self, grid: [u64; 2]) -> Option<Tiling> {
        // New tensors get the ids that follow those of the graph and of the schedule.
        let first = self.net.graph.tensors.len() + self.schedule.tensors.len();
        let patch = patch(self.net, self.schedule, self.steps.clone(), grid, first).ok()?;
        // The ops of the patch run in the place of the steps; `bytes` gives the sizes of tensors that only the patch
        // has.
        let runs: Vec<Run> = patch.ops.iter().map(|op| run(self.net, first, &patch, op)).collect();
        let bytes = |tensor: TensorId| {
            let tensor = &patch.tensors[tensor.index() - first];
            self.net.bytes_like(tensor.like, &tensor.shape)
        };
        Some(Tiling {
            steps: self.steps.clone(),
            grid,
            peak: peak_within(self.lives, self.steps.clone(), &runs, bytes),
            extra_macs: difference(patch.macs, self.macs()),
            copied: patch.copied,
            overhead: self.overhead(&patch),
        })
    }

    /// What the runtime keeps for the ops of a patch beyond what it kept for the steps.
    fn overhead(&self, patch: &Patch) -> u64 {
        let costs = self.net.dialect.overhead;
        let of_op = |op: &NewOp| {
            costs.op
                + match op {
                    NewOp::Kept(op) => self.net.kept(*op),
                    NewOp::Copy(copied) => self.net.kept(copied.op),
                    // A slice has two constant inputs (begin and size), a padding has one (its widths). They are
                    // tensors, too.
                    NewOp::Slice { .. } => 2 * costs.tensor,
                    NewOp::Pad { .. } => costs.pad + costs.tensor,
                    NewOp::Concat { .. } => costs.concat,
                }
        };
        let after = patch.ops.iter().map(of_op).sum::<u64>() + costs.tensor * patch.tensors.len() as u64;
        // The runtime no longer keeps records for the steps that the patch replaces, nor for what they wrote.
        after.saturating_sub(self.kept(|_| true))
    }
}

/// Bytes that are alive beside the tiles of a segment.
struct Around {
    /// When the image is put together: the tiles and the whole image, which are twice the image, and every tensor that
    /// is needed later.
    at_end: u64,
    /// While tiles are computed: everything that is there before the segment and read in it or later.
    during: u64,
}

impl Around {
    /// The peak of the segment if computing a tile takes `inside` bytes.
    fn peak(&self, inside: u64) -> u64 {
        self.at_end.max(self.during.saturating_add(inside))
    }
}

/// `after - before`, which may be negative.
fn difference(after: u64, before: u64) -> i64 {
    i64::try_from(i128::from(after) - i128::from(before)).unwrap_or(i64::MAX)
}

/// Bytes that the runtime keeps for a step as long as the model is loaded: records of the op and of the tensors that
/// it writes.
pub(crate) fn kept_for(net: &Net, step: &Step) -> u64 {
    let costs = net.dialect.overhead;
    costs.op + costs.tensor * step.outputs.len() as u64 + net.kept(step.op)
}

/// One op of a patch: the tensors it reads and writes, and its scratch memory. `first` is the id of the patch's first
/// new tensor.
fn run<'a>(net: &'a Net, first: usize, patch: &'a Patch, op: &'a NewOp) -> Run<'a> {
    // We estimate that the scratch memory of a copied op shrinks with the number of elements of its output.
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
