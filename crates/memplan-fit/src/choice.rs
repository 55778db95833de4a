//! Which segments are executed tile by tile, so that at most so much is alive and as little as possible is computed twice.
//!
//! Segments that do not overlap do not know of each other: what is alive while one runs does not depend on how another one
//! is executed. So the choice is a shortest path along the steps:
//!
//! ```text
//!   step      0 ──► 1 ──► 2 ──► 3 ──► 4 ──► 5          an edge for each step below the limit: costs nothing
//!             └──── 0..3, 4 tiles ──┘                  an edge for each tiling below the limit: costs what it computes twice
//! ```
//!
//! There are two costs, multiply-adds and what the runtime keeps for more ops, so that a step keeps several ways to it: those that
//! are not worse in both than another. The path is looked for at every limit that matters, the peaks of steps and
//! tilings, which gives the whole trade-off.

use crate::segment::Tiling;

/// A set of tilings, and what they cost together.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Chosen {
    /// The tilings, by step.
    pub tilings: Vec<usize>,
    /// Most bytes alive.
    pub peak: u64,
    /// Multiply-adds on top; below zero if fewer are computed.
    pub extra_macs: i64,
    /// Bytes that the runtime keeps on top.
    pub overhead: u64,
}

/// At most so many ways to a step are kept.
const MOST_WAYS: usize = 12;
/// At most so many limits are tried; with more, some in between are left out.
const MOST_LIMITS: usize = 400;

/// For every limit the cheapest choices; none is worse than another in peak, multiply-adds and overhead at once.
pub(crate) fn choices(curve: &[u64], tilings: &[Tiling]) -> Vec<Chosen> {
    let mut limits: Vec<u64> = tilings.iter().map(|tiling| tiling.peak).chain(curve.iter().copied()).collect();
    limits.sort_unstable();
    limits.dedup();
    let least = limits.iter().position(|&limit| !ways(curve, tilings, limit).is_empty()).unwrap_or(limits.len());
    let limits = &limits[least..];
    let stride = limits.len().div_ceil(MOST_LIMITS).max(1);
    // The lowest limit is never left out.
    let tried = limits.iter().step_by(stride);
    let mut found: Vec<Chosen> = tried.flat_map(|&limit| ways(curve, tilings, limit)).collect();
    found.sort_by_key(|chosen| (chosen.peak, chosen.extra_macs, chosen.overhead));
    let mut kept: Vec<Chosen> = Vec::new();
    for chosen in found {
        let is_worse = |other: &Chosen| other.extra_macs <= chosen.extra_macs && other.overhead <= chosen.overhead;
        if !kept.iter().any(is_worse) {
            kept.push(chosen);
        }
    }
    kept
}

/// A tiling without any other.
pub(crate) fn alone(curve: &[u64], tilings: &[Tiling], index: usize) -> Chosen {
    let tiling = &tilings[index];
    let outside = curve[..tiling.steps.start].iter().chain(&curve[tiling.steps.end..]);
    let rest = Chosen { peak: outside.copied().max().unwrap_or(0), ..Chosen::default() };
    with(&rest, index, tiling)
}

/// The ways through all steps with at most `limit` bytes alive, found step by step: a step runs as it is, or it is the
/// last one of a tiling, and then the way goes on from the ways that end where that tiling begins. Of the ways that
/// reach a step only those are kept that are not worse than another one ([`best`]).
fn ways(curve: &[u64], tilings: &[Tiling], limit: u64) -> Vec<Chosen> {
    let mut ending: Vec<Vec<usize>> = vec![Vec::new(); curve.len() + 1];
    for (index, tiling) in tilings.iter().enumerate().filter(|(_, tiling)| tiling.peak <= limit) {
        ending[tiling.steps.end].push(index);
    }
    // `at[step]` has the ways through all steps before that one.
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

/// The ways that no other one is as good as in both costs, from few multiply-adds to many.
fn best(mut ways: Vec<Chosen>) -> Vec<Chosen> {
    ways.sort_by_key(|way| (way.extra_macs, way.overhead, way.tilings.len()));
    let mut least = u64::MAX;
    ways.retain(|way| {
        let is_better = way.overhead < least;
        least = least.min(way.overhead);
        is_better
    });
    if ways.len() > MOST_WAYS {
        // The ends are the least multiply-adds and the least overhead; in between a few are left out.
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
