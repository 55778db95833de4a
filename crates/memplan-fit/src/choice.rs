//! Chooses which segments of a schedule are executed tile by tile.
//!
//! A *segment* is a run of steps, and a *tiling* is a segment cut into tiles. A tiling needs fewer bytes at once, but
//! it computes the rims of its tiles twice. Given a limit on the bytes alive, the choice with the least extra work is
//! wanted.
//!
//! What is alive while one segment runs does not depend on how another segment is executed, as long as the two do not
//! overlap. So the choice is a shortest path along the steps:
//!
//! ```text
//!   step      0 ──► 1 ──► 2 ──► 3 ──► 4 ──► 5          an edge for each step below the limit: costs nothing
//!             └──── 0..3, 4 tiles ──┘                  an edge for each tiling below the limit: costs what it computes twice
//! ```
//!
//! There are two costs: multiply-adds, and the bytes that the runtime keeps for every additional op. So there may be
//! several best paths to a step, and all of them are kept, except those that another path beats in both costs. The
//! path is looked for once for every limit that can matter (each peak of a step or of a tiling). Together the paths
//! are the whole trade-off between memory and work.

use crate::segment::Tiling;

/// A set of tilings, and what they cost together.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Chosen {
    /// The tilings, as positions in the list of all tilings that the choice was made from, in the order of their steps.
    pub tilings: Vec<usize>,
    /// Most bytes alive at any step, those without tiles included.
    pub peak: u64,
    /// Multiply-adds on top; below zero if fewer are computed.
    pub extra_macs: i64,
    /// Bytes that the runtime keeps on top.
    pub overhead: u64,
}

/// At most so many paths to a step are kept, so that the time grows with the steps and not with the combinations.
const MOST_WAYS: usize = 12;
/// At most so many limits are tried. If there are more, limits are left out at even distances, but never the lowest.
const MOST_LIMITS: usize = 400;

/// All choices worth having: none of them is beaten by another in peak, multiply-adds and overhead at once.
/// `curve` has the bytes alive at each step of the schedule without tilings.
pub(crate) fn choices(curve: &[u64], tilings: &[Tiling]) -> Vec<Chosen> {
    // Between two of these numbers the same steps and tilings stay below the limit, so no other limit is of interest.
    let mut limits: Vec<u64> = tilings.iter().map(|tiling| tiling.peak).chain(curve.iter().copied()).collect();
    limits.sort_unstable();
    limits.dedup();
    // Below some limit there is no path at all. The lowest limit with a path is searched for one by one.
    let least = limits.iter().position(|&limit| !ways(curve, tilings, limit).is_empty()).unwrap_or(limits.len());
    let limits = &limits[least..];
    let stride = limits.len().div_ceil(MOST_LIMITS).max(1);
    // The lowest limit is always tried: it gives the smallest memory that can be had.
    let tried = limits.iter().step_by(stride);
    let mut found: Vec<Chosen> = tried.flat_map(|&limit| ways(curve, tilings, limit)).collect();
    found.sort_by_key(|chosen| (chosen.peak, chosen.extra_macs, chosen.overhead));
    // The choices come in the order of their peaks. A choice is superfluous if an earlier one, which has no higher
    // peak, has no more multiply-adds and no more overhead either.
    let mut kept: Vec<Chosen> = Vec::new();
    for chosen in found {
        let is_worse = |other: &Chosen| other.extra_macs <= chosen.extra_macs && other.overhead <= chosen.overhead;
        if !kept.iter().any(is_worse) {
            kept.push(chosen);
        }
    }
    kept
}

/// The choice of one tiling and no other; all other steps run as they are.
pub(crate) fn alone(curve: &[u64], tilings: &[Tiling], index: usize) -> Chosen {
    let tiling = &tilings[index];
    let outside = curve[..tiling.steps.start].iter().chain(&curve[tiling.steps.end..]);
    let rest = Chosen { peak: outside.copied().fold(0, u64::max), ..Chosen::default() };
    with(&rest, index, tiling)
}

/// The best paths through all steps with at most `limit` bytes alive. They are built step by step. A step runs as it is
/// and extends the paths to the step before, or it is the last step of a tiling and extends the paths to the step at
/// which that tiling begins. Of the paths to a step only the best are kept ([`best`]).
fn ways(curve: &[u64], tilings: &[Tiling], limit: u64) -> Vec<Chosen> {
    // The tilings below the limit, by the step after their last one.
    let mut ending: Vec<Vec<usize>> = vec![Vec::new(); curve.len() + 1];
    for (index, tiling) in tilings.iter().enumerate().filter(|(_, tiling)| tiling.peak <= limit) {
        ending[tiling.steps.end].push(index);
    }
    // `at[step]` has the paths through all steps before that one.
    let mut at: Vec<Vec<Chosen>> = vec![vec![Chosen::default()]];
    for step in 0..curve.len() {
        let mut next: Vec<Chosen> = Vec::new();
        if curve[step] <= limit {
            next.extend(at[step].iter().map(|way| Chosen { peak: way.peak.max(curve[step]), ..way.clone() }));
        }
        for &index in &ending[step + 1] {
            let tiling = &tilings[index];
            next.extend(at[tiling.steps.start].iter().map(|way| with(way, index, tiling)));
        }
        at.push(best(next));
    }
    at.pop().unwrap_or_default()
}

/// A choice with one more tiling.
fn with(way: &Chosen, index: usize, tiling: &Tiling) -> Chosen {
    let mut tilings = way.tilings.clone();
    tilings.push(index);
    Chosen {
        tilings,
        peak: way.peak.max(tiling.peak),
        extra_macs: way.extra_macs.saturating_add(tiling.extra_macs),
        overhead: way.overhead.saturating_add(tiling.overhead),
    }
}

/// The paths that no other path equals or beats in both costs, from few multiply-adds to many.
fn best(mut ways: Vec<Chosen>) -> Vec<Chosen> {
    ways.sort_by_key(|way| (way.extra_macs, way.overhead, way.tilings.len()));
    let mut least = u64::MAX;
    ways.retain(|way| {
        let is_better = way.overhead < least;
        least = least.min(way.overhead);
        is_better
    });
    if ways.len() > MOST_WAYS {
        // The first path has the fewest multiply-adds and the last one the least overhead. Both are kept; paths between
        // them are left out at even distances.
        let last = ways.len() - 1;
        let picked = (0..MOST_WAYS).map(|index| index * last / (MOST_WAYS - 1));
        ways = picked.map(|index| ways[index].clone()).collect();
    }
    ways
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tiling(steps: std::ops::Range<usize>, peak: u64, extra_macs: i64, overhead: u64) -> Tiling {
        Tiling { steps, grid: [2, 1], peak, extra_macs, copied: 0, overhead }
    }

    #[test]
    fn the_cheapest_way_below_every_limit() {
        let curve = [100, 90, 20, 60, 10];
        let tilings = [tiling(0..2, 50, 7, 1), tiling(0..3, 40, 9, 1), tiling(3..4, 30, 1, 1), tiling(0..4, 35, 8, 9)];
        let found: Vec<_> = choices(&curve, &tilings).into_iter().map(|c| (c.peak, c.extra_macs, c.overhead)).collect();
        assert_eq!(found, [(35, 8, 9), (40, 10, 2), (50, 8, 2), (60, 7, 1), (100, 0, 0)]);
    }
}
