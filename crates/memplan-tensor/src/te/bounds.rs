//! Bound inference: how much of each operation is needed, and so how long its loops are.
//!
//! A stage is one operation of the graph with its loops (its *leaf axes*, outermost first, made from the operation's
//! own axes by splits and fusions). It may be computed inside a loop of a stage that reads it; that loop is where it
//! is *attached*.
//!
//! From the last stage to the first: an output is needed completely. Of any other stage those elements are needed that
//! its consumers read while the loops around the stage stand still and the loops inside run through all their values:
//!
//! ```text
//! for i.outer < 4:                     Y is computed here,
//!     for i.inner < 8:                 and read at i.outer*8 + i.inner, … + 1, … + 2:
//!         Z[i] = Y[i]+Y[i+1]+Y[i+2]    it is needed from i.outer*8 on, 10 elements
//! ```
//!
//! Threads differ from loops: all threads that share a memory run at once, so a stage in that memory is needed where
//! any of them reads it. If the needed range is proved to contain the whole declared range, the declared range is used.
//! If the needed range may reach beyond the declared range at one end, lowering adds a condition.

// An axis is named by an `IterId`, a tensor by a `BufId`. `AttachPath::around(stage)` lists the loops around a stage,
// the innermost first. `pass_down` derives the ranges of loops from those of axes, `pass_up_sets` the values of axes
// from those of loops. `interval` is the set of values of an expression, `prove_compare` a proof that a comparison
// always holds.
use super::arith::{Env, Interval, add, interval, interval_fully, prove_compare, simplify, sub};
use super::domain::{Ranges, pass_down, pass_up_sets};
use super::graph::{IterId, OpId, OpKind, Range};
use super::graph_views::{AttachPath, FeedGraph, ReadGraph};
use super::schedule::{Attach, Schedule, StageId};
use crate::ir::{BinaryOp, BufId, Expr, Rank, StorageScope, thread_rank};
use std::collections::{BTreeMap, BTreeSet};

/// The range of every axis of a normalised schedule: of the operations' own axes, of all loops made from them, and of
/// thread axes.
#[derive(Clone, Debug, Default)]
pub struct Bounds {
    pub(super) ranges: Ranges,
}

impl Bounds {
    /// The range of an axis; `None` if its stage is inlined or is no compute operation.
    pub fn range(&self, axis: IterId) -> Option<&Range> {
        self.ranges.get(&axis)
    }

    /// The values that every axis variable can have.
    pub(super) fn env(&self, schedule: &Schedule) -> Env {
        self.ranges
            .iter()
            .map(|(axis, range)| (schedule.graph.axes[*axis].var, Interval::range(&range.min, &range.extent)))
            .collect()
    }
}

/// Infers all bounds of a normalised schedule. `paths` are the loops around each stage.
pub fn infer_bounds(schedule: &Schedule, paths: &AttachPath) -> Bounds {
    let feeds = FeedGraph::new(&ReadGraph::new(&schedule.graph, &schedule.outputs));
    let mut inference = Inference { schedule, paths, feeds, ranges: Ranges::new() };
    // Consumers before producers: what is needed of a stage depends on the ranges of the stages that read it.
    for stage in schedule.order.iter().rev() {
        if !matches!(schedule.stages[*stage].attach, Attach::Inlined) {
            // First the axes of the operation, then the loops that are made of them.
            inference.root_ranges(*stage);
            pass_down(schedule, *stage, &mut inference.ranges);
        }
    }
    Bounds { ranges: inference.ranges }
}

/// The ranges found so far, and what is known about the schedule.
struct Inference<'a> {
    schedule: &'a Schedule,
    /// The loops around each stage.
    paths: &'a AttachPath,
    /// The operations that read each tensor.
    feeds: FeedGraph,
    ranges: Ranges,
}

impl Inference<'_> {
    /// Finds the ranges of the axes of a stage's operation: an output is computed whole, everything else as far as its
    /// readers need it. Reductions always run over their whole range.
    fn root_ranges(&mut self, stage: StageId) {
        let op = &self.schedule.graph.ops[self.schedule.stages[stage].op];
        let Some(compute) = op.as_compute() else { return };
        // The range that the operation itself gives an axis.
        let declared = |axis: &IterId| self.schedule.graph.axes[*axis].range.clone();
        // Stages are visited from the outputs backwards, so the ranges of all consumers are known here.
        let needed = if self.schedule.stages[stage].is_output { Vec::new() } else { self.needed(stage, &op.outputs) };
        let mut found = Vec::new();
        // Dimension by dimension: the needed range, or the declared range of an output and of a stage that nothing
        // reads.
        for (dimension, axis) in compute.axes.iter().enumerate() {
            let Some(declared) = declared(axis) else { continue };
            let range = match needed.get(dimension) {
                Some(needed) => cover(needed, &declared),
                None => declared,
            };
            found.push((*axis, range));
        }
        found.extend(compute.reduce_axes.iter().filter_map(|axis| Some((*axis, declared(axis)?))));
        self.ranges.extend(found);
    }

    /// For each dimension of a stage's outputs the elements that its consumers read. All outputs of a compute
    /// operation have one shape, so they are taken together. Empty if nothing reads them.
    fn needed(&self, stage: StageId, outputs: &[BufId]) -> Vec<Interval> {
        let mut needed: Vec<Interval> = Vec::new();
        for tensor in outputs {
            // An operation that reads the tensor several times is asked once; `reads` finds all its loads.
            let mut seen = BTreeSet::new();
            for consumer in self.feeds.consumers(*tensor).iter().filter(|op| seen.insert(**op)) {
                for read in self.reads(stage, *tensor, *consumer) {
                    needed = match needed.is_empty() {
                        true => read,
                        false => needed.into_iter().zip(read).map(|(a, b)| a.hull(b)).collect(),
                    };
                }
            }
        }
        needed
    }

    /// What one consumer reads of a tensor of `stage`: for each load an interval in every dimension.
    fn reads(&self, stage: StageId, tensor: BufId, consumer: OpId) -> Vec<Vec<Interval>> {
        let schedule = self.schedule;
        match (&schedule.graph.ops[consumer].kind, schedule.stage_of(consumer)) {
            (OpKind::Compute(compute), Some(at)) => {
                // The body is written in terms of the consumer's own axes, so each subscript of a load is followed to
                // an interval.
                let (roots, outside) = self.consumer_sets(stage, at);
                let mut found = Vec::new();
                for expr in compute.body.exprs() {
                    expr.walk(&mut |part| {
                        if let Expr::Load { buffer, index } = part
                            && *buffer == tensor
                        {
                            found.push(index.iter().map(|subscript| reach(subscript, &roots, &outside)).collect());
                        }
                    });
                }
                found
            }
            // What an extern body reads is not looked into: it may read all of the tensor.
            (OpKind::Extern(_), _) => {
                let shape = &schedule.graph.tables.buffers[tensor].shape;
                vec![shape.iter().map(|extent| Interval::range(&Expr::int(0), extent)).collect()]
            }
            _ => Vec::new(),
        }
    }

    /// The values that variables can have while one copy of the memory of `stage` is in use. The first result has the
    /// consumer's own axes. The second one has those loops around the consumer that run through all their values in
    /// that time; the others stand at one value and are not in it.
    fn consumer_sets(&self, stage: StageId, consumer: StageId) -> (Env, Env) {
        let schedule = self.schedule;
        // The loop that `stage` is computed at; `None` if it is computed on its own.
        let attached = self.paths.around(stage).first().copied();
        let rank = self.storage_rank(stage);
        // Leaves are visited from the innermost loop outwards. A loop inside of the loop that `stage` is computed at is
        // *relaxed*: it runs through all its values while one copy of `stage` is in use. The loop that `stage` is
        // computed at, and the loops around it (`above`), stand at one value.
        let mut above = false;
        let mut sets: BTreeMap<IterId, Interval> = BTreeMap::new();
        for leaf in schedule.stages[consumer].leaf_axes.iter().rev() {
            above |= attached == Some((consumer, *leaf));
            let Some(range) = self.ranges.get(leaf) else { continue };
            // A loop with one iteration is a point in any case. That keeps the inferred bounds free of its variable.
            let set = if range.extent.as_int() == Some(1) {
                Interval::point(range.min.clone())
            } else if self.is_relaxed(consumer, *leaf, above, rank) {
                Interval::range(&range.min, &range.extent)
            } else {
                // One value: that of the loop's variable, or of the thread that runs the loop.
                let bound = schedule.stages[consumer].attrs.get(leaf).and_then(|attrs| attrs.bind).unwrap_or(*leaf);
                Interval::point(Expr::Var(schedule.graph.axes[bound].var))
            };
            sets.insert(*leaf, set);
        }
        // Loops around the consumer can be relaxed too, if they are threads that share the memory of `stage`.
        let mut outside = Env::new();
        for (at, axis) in self.paths.around(consumer) {
            above |= attached == Some((*at, *axis));
            let Some(range) = self.ranges.get(axis) else { continue };
            if self.is_relaxed(*at, *axis, above, rank) {
                let set = Interval::range(&range.min, &range.extent);
                let bound = schedule.stages[*at].attrs.get(axis).and_then(|attrs| attrs.bind);
                for axis in bound.into_iter().chain([*axis]) {
                    outside.insert(schedule.graph.axes[axis].var, set.clone());
                }
            }
        }
        // The sets so far are about loops. What the consumer reads is written in terms of its own axes, so the sets
        // are carried up through splits and fusions.
        pass_up_sets(schedule, consumer, &self.ranges, &mut sets);
        let roots = schedule.graph.ops[schedule.stages[consumer].op].root_axes();
        let roots = roots.into_iter().filter_map(|axis| Some((schedule.graph.axes[axis].var, sets.remove(&axis)?)));
        (roots.collect(), outside)
    }

    /// Whether the loop `axis` of `stage` runs through all its values while one copy of a producer's memory is in use.
    /// `above` says that the loop is the one the producer is computed at, or around that one; `storage` is the rank of
    /// the producer's memory (see [`rank_number`]). An ordinary loop is relaxed if it is not above. Threads run side
    /// by side, so they are relaxed if they share the memory: threads of a block share memory of rank 0 and 1, blocks
    /// that of rank 0, and the threads along `threadIdx.x` also that of a warp.
    fn is_relaxed(&self, stage: StageId, axis: IterId, above: bool, storage: u8) -> bool {
        match self.schedule.thread_tag(stage, axis) {
            None => !above,
            Some(tag) => {
                // 0 for an axis of blocks, 1 for an axis of threads. `bind` refuses every other tag.
                let thread = thread_rank(tag).unwrap_or(1);
                let warp = storage == rank_number(Rank::Warp) && tag == "threadIdx.x";
                warp || storage <= thread
            }
        }
    }

    /// The rank of a stage's memory as a number: of the memory that was asked for, or of the one that flattening will
    /// choose by the threads around the stage (local inside threads, shared inside blocks, else global).
    fn storage_rank(&self, stage: StageId) -> u8 {
        let scope = &self.schedule.stages[stage].scope;
        if !scope.is_empty() {
            return StorageScope::parse(scope).map_or(0, |scope| rank_number(scope.rank));
        }
        let around = self.paths.around(stage).iter();
        let threads = around.filter_map(|(at, axis)| self.schedule.thread_tag(*at, *axis)).filter_map(thread_rank);
        match threads.max() {
            None => rank_number(Rank::Global),
            Some(0) => rank_number(Rank::Shared),
            Some(_) => rank_number(Rank::Local),
        }
    }
}

/// The rank of a memory as a number: the larger it is, the fewer threads share one copy of the memory. A thread axis
/// (0 for blocks, 1 for threads in a block) shares all memories whose rank is at most its own.
pub(super) fn rank_number(rank: Rank) -> u8 {
    match rank {
        Rank::Global => 0,
        Rank::Shared => 1,
        Rank::Warp => 2,
        Rank::Local => 3,
        Rank::Special => 4,
    }
}

/// The values that a subscript can have while the consumer's axes run over `roots` and the loops around the consumer
/// over `outside`. The first step leaves variables of loops around in the ends of the interval, the second replaces
/// those that `outside` knows.
fn reach(subscript: &Expr, roots: &Env, outside: &Env) -> Interval {
    let inside = interval(&simplify(subscript), roots);
    let lo = inside.lo.and_then(|lo| interval_fully(&lo, outside).lo);
    let hi = inside.hi.and_then(|hi| interval_fully(&hi, outside).hi);
    Interval { lo, hi }
}

/// The range that covers the needed elements; the declared range if that is needed completely, or if one end of the
/// needed elements is not known.
fn cover(needed: &Interval, declared: &Range) -> Range {
    let (Some(lo), Some(hi)) = (&needed.lo, &needed.hi) else {
        return declared.clone();
    };
    // If all of the declared range is needed, or more, the declared one is taken: its ends are shorter expressions, and
    // nothing outside of it may be computed.
    let last = sub(add(declared.min.clone(), declared.extent.clone()), Expr::int(1));
    let none = Env::new();
    if prove_compare(BinaryOp::Le, lo, &declared.min, &none) && prove_compare(BinaryOp::Ge, hi, &last, &none) {
        return declared.clone();
    }
    let extent = add(sub(hi.clone(), lo.clone()), Expr::int(1));
    Range { min: lo.clone(), extent: simplify(&extent) }
}
