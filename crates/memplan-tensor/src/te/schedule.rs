//! Schedules: how each operation of a graph is to be computed.
//!
//! [`Schedule::new`] makes a [`Stage`] of each operation, producers first. Primitives then say how a stage's loops run,
//! where it is computed and where its tensors live, and never change what is computed:
//!
//! ```text
//! split(i, 8)       for i < 32         becomes   for i.outer < 4, for i.inner < 8
//! fuse(i, j)        for i, for j       becomes   for i.j.fused
//! compute_at(S, v)  the stage runs inside the loop v of S, as much of it as one iteration needs
//! cache_read(A)     readers of A read a copy of it
//! ```
//!
//! An operation's own axes are its *root axes*. Splits and fusions make new axes of them; the axes that are loops in
//! the end are the stage's *leaf axes*. An axis that was split or fused is a leaf no more.
//!
//! What the user asked for stays as it is; [`normalised`](Schedule::normalised) makes it regular before it is lowered.

use super::error::ScheduleError;
use super::graph::{Axis, AxisKind, Graph, IterId, OpId};
use super::graph_views::{ReadGraph, post_dfs_order};
use crate::DType;
use crate::ir::{BufId, StorageScope, Var, thread_rank};
use memplan_core::{IndexVec, index_type};
use std::collections::{BTreeMap, BTreeSet};

index_type! {
    /// A stage of a [`Schedule`].
    pub struct StageId;
}

/// How a loop is split.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SplitBy {
    /// The inner loop has this many iterations.
    Factor(i64),
    /// The outer loop has this many iterations.
    Parts(i64),
}

/// How one axis comes from others: what a split, a fusion or a rebase has made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Relation {
    /// `parent = outer * factor + inner`.
    Split {
        /// What was split.
        parent: IterId,
        /// Counts the parts.
        outer: IterId,
        /// Counts in a part.
        inner: IterId,
        /// By what.
        by: SplitBy,
    },
    /// `fused = outer * extent(inner) + inner`.
    Fuse {
        /// The outer loop.
        outer: IterId,
        /// The inner loop.
        inner: IterId,
        /// Both in one.
        fused: IterId,
    },
    /// `parent = rebased + min(parent)`: a loop that starts at zero.
    Rebase {
        /// Starts anywhere.
        parent: IterId,
        /// Starts at zero.
        rebased: IterId,
    },
}

/// How a loop runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LoopKind {
    /// One iteration after the other.
    #[default]
    Serial,
    /// Iterations in any order, possibly at the same time.
    Parallel,
    /// All iterations at once, as lanes of vectors.
    Vectorized,
    /// The body is copied out for each iteration.
    Unrolled,
}

/// What was asked for one axis of a stage.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AxisAttrs {
    /// How its loop runs.
    pub kind: LoopKind,
    /// The thread axis it is bound to.
    pub bind: Option<IterId>,
    /// Padding: the stride of its dimension is `offset` modulo `factor`.
    pub align: Option<(i64, i64)>,
}

/// Where a stage is computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Attach {
    /// On its own, outside of all other stages.
    Root,
    /// Its expression is to be put wherever the stage is read; normalisation does that.
    Inline,
    /// Its expression has been put wherever the stage was read, so the stage itself is not computed any more.
    Inlined,
    /// Inside a loop of another stage.
    At(StageId, IterId),
}

/// How one operation is computed.
#[derive(Clone, Debug)]
pub struct Stage {
    /// The operation.
    pub op: OpId,
    /// The memory (TVM's storage scope, such as `shared`) in which its tensors live; empty leaves the choice open.
    pub scope: String,
    /// All axes, the operation's own first.
    pub all_axes: Vec<IterId>,
    /// Its loops, outermost first.
    pub leaf_axes: Vec<IterId>,
    /// The splits, fusions and rebases that made its loops, oldest first.
    pub relations: Vec<Relation>,
    /// What was asked for axes.
    pub attrs: BTreeMap<IterId, AxisAttrs>,
    /// Where it is computed.
    pub attach: Attach,
    /// Whether the function's caller gets it.
    pub is_output: bool,
    /// Whether it is computed one iteration ahead of the loop around it.
    pub double_buffer: bool,
}

/// The largest factor, number of parts, or offset that a primitive takes. Products of it with extents (below 2^31)
/// fit 64 bits.
const MAX_FACTOR: i64 = 1 << 30;

/// The most splits and fusions of one stage. Each makes the expressions for the values of its axes longer.
const MAX_RELATIONS: usize = 100;

/// Stages in order.
#[derive(Clone, Debug)]
pub struct Schedule {
    /// The operations; primitives add to them.
    pub graph: Graph,
    /// All stages.
    pub stages: IndexVec<StageId, Stage>,
    /// Their order, producers first.
    pub order: Vec<StageId>,
    /// What the schedule was made for.
    pub outputs: Vec<OpId>,
    /// The axis of each thread tag (`threadIdx.x`), made when a loop is first bound to the tag. All stages share it.
    threads: BTreeMap<String, IterId>,
    /// The stage of each operation.
    by_op: BTreeMap<OpId, StageId>,
}

impl Schedule {
    /// The schedule that computes every operation the outputs need on its own, producers first (in depth-first order
    /// from the outputs).
    pub fn new(graph: &Graph, outputs: &[OpId]) -> Schedule {
        let graph = graph.clone();
        let order = post_dfs_order(&graph, outputs, &ReadGraph::new(&graph, outputs));
        let mut schedule = Schedule {
            graph,
            stages: IndexVec::new(),
            order: Vec::new(),
            outputs: outputs.to_vec(),
            threads: BTreeMap::new(),
            by_op: BTreeMap::new(),
        };
        // Every operation that the outputs need gets a stage, producers first.
        let wanted: BTreeSet<OpId> = outputs.iter().copied().collect();
        for op in order {
            let stage = schedule.add_stage(op);
            schedule.stages[stage].is_output = wanted.contains(&op);
            schedule.order.push(stage);
        }
        schedule
    }

    /// Adds a stage for an operation: computed on its own, with its axes as loops.
    pub(super) fn add_stage(&mut self, op: OpId) -> StageId {
        let axes = self.graph.ops[op].root_axes();
        let stage = self.stages.push(Stage {
            op,
            scope: String::new(),
            all_axes: axes.clone(),
            leaf_axes: axes,
            relations: Vec::new(),
            attrs: BTreeMap::new(),
            attach: Attach::Root,
            is_output: false,
            double_buffer: false,
        });
        self.by_op.insert(op, stage);
        stage
    }

    /// The stage of an operation.
    pub fn stage_of(&self, op: OpId) -> Option<StageId> {
        self.by_op.get(&op).copied()
    }

    /// The stage of that name.
    pub fn stage_named(&self, name: &str) -> Option<StageId> {
        self.graph.op_named(name).and_then(|op| self.stage_of(op))
    }

    /// The tensor of that name, if a stage makes it.
    pub fn tensor_named(&self, name: &str) -> Option<BufId> {
        let tensor = self.graph.tensor_named(name)?;
        let (op, _) = self.graph.producer(tensor)?;
        self.stage_of(op).map(|_| tensor)
    }

    /// The name of a stage's operation.
    pub fn name(&self, stage: StageId) -> &str {
        &self.graph.ops[self.stages[stage].op].name
    }

    /// The name of an axis.
    pub fn axis_name(&self, axis: IterId) -> &str {
        &self.graph.tables.vars[self.graph.axes[axis].var].name
    }

    /// The axis of that name, among all axes of a stage and not only its loops; of several, the newest.
    pub fn axis_named(&self, stage: StageId, name: &str) -> Option<IterId> {
        self.stages[stage].all_axes.iter().rev().copied().find(|axis| self.axis_name(*axis) == name)
    }

    /// What was asked for an axis.
    pub fn attrs(&self, stage: StageId, axis: IterId) -> AxisAttrs {
        self.stages[stage].attrs.get(&axis).cloned().unwrap_or_default()
    }

    /// The tag of the threads that run a loop: of the thread axis that the loop is bound to, or of the axis itself if
    /// that is a thread axis. `None` for an ordinary loop.
    pub fn thread_tag(&self, stage: StageId, axis: IterId) -> Option<&str> {
        let bound = self.stages[stage].attrs.get(&axis).and_then(|attrs| attrs.bind).unwrap_or(axis);
        match &self.graph.axes[bound].kind {
            AxisKind::Thread(tag) => Some(tag),
            _ => None,
        }
    }

    /// The position of an axis among the loops of a stage; an error if it is no loop (any more).
    fn leaf_position(&self, stage: StageId, axis: IterId) -> Result<usize, ScheduleError> {
        let leaves = &self.stages[stage].leaf_axes;
        leaves.iter().position(|leaf| *leaf == axis).ok_or_else(|| ScheduleError::NotALeaf {
            stage: self.name(stage).to_owned(),
            axis: self.axis_name(axis).to_owned(),
            loops: leaves.iter().map(|leaf| self.axis_name(*leaf)).collect::<Vec<_>>().join(", "),
        })
    }

    /// Adds an axis to a stage. It is no loop yet; the caller puts it among the leaf axes.
    pub(super) fn new_axis(&mut self, stage: StageId, name: String, kind: AxisKind) -> IterId {
        let var = self.graph.tables.vars.push(Var { name, dtype: DType::INT32 });
        let axis = self.graph.axes.push(Axis { var, range: None, kind });
        self.stages[stage].all_axes.push(axis);
        axis
    }

    /// Says in which memory a stage's tensors live; an error if `scope` names none.
    pub fn set_scope(&mut self, stage: StageId, scope: &str) -> Result<(), ScheduleError> {
        if StorageScope::parse(scope).is_none() {
            return Err(ScheduleError::Argument {
                stage: self.name(stage).to_owned(),
                what: "set_scope",
                reason: format!("`{scope}` is no scope: it starts with global, shared, warp, local or wmma"),
            });
        }
        self.stages[stage].scope = scope.to_owned();
        Ok(())
    }

    /// Pads the dimension of an axis: its stride becomes `offset` modulo `factor`. Numbers above [`MAX_FACTOR`] are
    /// refused.
    pub fn storage_align(
        &mut self,
        stage: StageId,
        axis: IterId,
        factor: i64,
        offset: i64,
    ) -> Result<(), ScheduleError> {
        if !(1..=MAX_FACTOR).contains(&factor) || !(0..=MAX_FACTOR).contains(&offset) {
            return Err(ScheduleError::Argument {
                stage: self.name(stage).to_owned(),
                what: "storage_align",
                reason: format!("a factor of {factor} with an offset of {offset} is not possible"),
            });
        }
        self.stages[stage].attrs.entry(axis).or_default().align = Some((factor, offset));
        Ok(())
    }

    /// Computes the next iteration's values while this one's are used.
    pub fn double_buffer(&mut self, stage: StageId) -> Result<(), ScheduleError> {
        if self.stages[stage].is_output {
            return Err(ScheduleError::DoubleBufferOutput { stage: self.name(stage).to_owned() });
        }
        self.stages[stage].double_buffer = true;
        Ok(())
    }

    /// An error if a stage has [`MAX_RELATIONS`] splits and fusions already; `what` is the primitive that asks.
    fn check_relations(&self, stage: StageId, what: &'static str) -> Result<(), ScheduleError> {
        if self.stages[stage].relations.len() < MAX_RELATIONS {
            return Ok(());
        }
        let reason = format!("there are {MAX_RELATIONS} splits and fusions already");
        Err(ScheduleError::Argument { stage: self.name(stage).to_owned(), what, reason })
    }

    /// Makes two loops of one and returns them: the outer and the inner one. They take the place of the loop.
    pub fn split(&mut self, stage: StageId, axis: IterId, by: SplitBy) -> Result<(IterId, IterId), ScheduleError> {
        let position = self.leaf_position(stage, axis)?;
        self.check_relations(stage, "split")?;
        let (SplitBy::Factor(size) | SplitBy::Parts(size)) = by;
        if !(1..=MAX_FACTOR).contains(&size) {
            return Err(ScheduleError::Argument {
                stage: self.name(stage).to_owned(),
                what: "split",
                reason: format!("{size} is no number of iterations"),
            });
        }
        let (name, kind) = (self.axis_name(axis).to_owned(), self.graph.axes[axis].kind.clone());
        let outer = self.new_axis(stage, format!("{name}.outer"), kind.clone());
        let inner = self.new_axis(stage, format!("{name}.inner"), kind);
        let stage = &mut self.stages[stage];
        stage.leaf_axes.splice(position..=position, [outer, inner]);
        stage.relations.push(Relation::Split { parent: axis, outer, inner, by });
        Ok((outer, inner))
    }

    /// Makes one loop of two that are next to each other and returns it. The two may be given in either order. The
    /// result is a reduction if one of them is.
    pub fn fuse(&mut self, stage: StageId, outer: IterId, inner: IterId) -> Result<IterId, ScheduleError> {
        // Positions among the loops of the stage, 0 for the outermost.
        let (mut first, mut second) = (self.leaf_position(stage, outer)?, self.leaf_position(stage, inner)?);
        let (mut outer, mut inner) = (outer, inner);
        self.check_relations(stage, "fuse")?;
        // The loop that stands further outside is the outer one, whatever the caller said.
        if second < first {
            (first, second, outer, inner) = (second, first, inner, outer);
        }
        if second != first + 1 {
            return Err(ScheduleError::NotAdjacent {
                stage: self.name(stage).to_owned(),
                outer: self.axis_name(outer).to_owned(),
                inner: self.axis_name(inner).to_owned(),
            });
        }
        // A loop over a dimension and one over what is reduced may be fused; the result counts as a reduction.
        let reduces = [outer, inner].iter().any(|axis| self.graph.axes[*axis].kind == AxisKind::Reduce);
        let kind = if reduces { AxisKind::Reduce } else { AxisKind::Data };
        let name = format!("{}.{}.fused", self.axis_name(outer), self.axis_name(inner));
        let fused = self.new_axis(stage, name, kind);
        let stage = &mut self.stages[stage];
        // The fused loop takes the places of both.
        stage.leaf_axes.splice(first..=second, [fused]);
        stage.relations.push(Relation::Fuse { outer, inner, fused });
        Ok(fused)
    }

    /// Puts loops into the given order. They take the places that they have together, and all other loops stay where
    /// they are: with the loops a, b, c, d, `reorder([d, a])` makes d, b, c, a.
    pub fn reorder(&mut self, stage: StageId, order: &[IterId]) -> Result<(), ScheduleError> {
        let mut positions = Vec::with_capacity(order.len());
        for axis in order {
            positions.push(self.leaf_position(stage, *axis)?);
        }
        positions.sort_unstable();
        if positions.windows(2).any(|pair| pair[0] == pair[1]) {
            return Err(ScheduleError::Argument {
                stage: self.name(stage).to_owned(),
                what: "reorder",
                reason: "a loop is named twice".to_owned(),
            });
        }
        // The places of the named loops, from the outside in, are filled in the order that was asked for.
        for (position, axis) in positions.into_iter().zip(order) {
            self.stages[stage].leaf_axes[position] = *axis;
        }
        Ok(())
    }

    /// Computes a stage inside the loop `axis` of the stage `target`. An output cannot be moved: all of it is needed at
    /// the end.
    pub fn compute_at(&mut self, stage: StageId, target: StageId, axis: IterId) -> Result<(), ScheduleError> {
        self.leaf_position(target, axis)?;
        if self.stages[stage].is_output {
            let what = "computed inside another stage";
            return Err(ScheduleError::OutputMoved { stage: self.name(stage).to_owned(), what });
        }
        self.stages[stage].attach = Attach::At(target, axis);
        Ok(())
    }

    /// Computes a stage's elements where they are used.
    pub fn compute_inline(&mut self, stage: StageId) -> Result<(), ScheduleError> {
        if self.stages[stage].is_output {
            return Err(ScheduleError::OutputMoved { stage: self.name(stage).to_owned(), what: "inlined" });
        }
        self.stages[stage].attach = Attach::Inline;
        Ok(())
    }

    /// Computes a stage on its own again.
    pub fn compute_root(&mut self, stage: StageId) {
        self.stages[stage].attach = Attach::Root;
    }

    /// Says how a loop runs. A loop that runs over what is reduced cannot be parallel or vectorized.
    pub fn set_kind(&mut self, stage: StageId, axis: IterId, kind: LoopKind) -> Result<(), ScheduleError> {
        self.leaf_position(stage, axis)?;
        // Serial and unrolled loops keep the order of iterations, so they suit reductions, too.
        let what = match kind {
            LoopKind::Parallel => "parallel",
            LoopKind::Vectorized => "vectorized",
            LoopKind::Serial | LoopKind::Unrolled => "",
        };
        if !what.is_empty() {
            self.check_independent(stage, axis, what)?;
        }
        self.stages[stage].attrs.entry(axis).or_default().kind = kind;
        Ok(())
    }

    /// Runs a loop as the threads of an axis: `thread` is its tag, such as `threadIdx.x`.
    pub fn bind(&mut self, stage: StageId, axis: IterId, thread: &str) -> Result<(), ScheduleError> {
        self.leaf_position(stage, axis)?;
        self.check_independent(stage, axis, "bound to threads")?;
        if thread_rank(thread).is_none() {
            return Err(ScheduleError::Argument {
                stage: self.name(stage).to_owned(),
                what: "bind",
                reason: format!("`{thread}` is no thread axis, such as blockIdx.x, threadIdx.x or vthread"),
            });
        }
        let thread = self.thread_axis(thread);
        self.stages[stage].attrs.entry(axis).or_default().bind = Some(thread);
        Ok(())
    }

    /// An error if a loop runs over what is reduced: its iterations depend on each other, so it cannot be `what`
    /// (parallel, vectorized, bound to threads).
    fn check_independent(&self, stage: StageId, axis: IterId, what: &'static str) -> Result<(), ScheduleError> {
        if self.graph.axes[axis].kind != AxisKind::Reduce {
            return Ok(());
        }
        let reason = "it runs over what is reduced, so its iterations depend on each other".to_owned();
        let (stage, axis) = (self.name(stage).to_owned(), self.axis_name(axis).to_owned());
        Err(ScheduleError::LoopKind { stage, axis, what, reason })
    }

    /// The one axis of a thread tag, made on first use. It has no range of its own: it runs as far as the loops that
    /// are bound to it.
    fn thread_axis(&mut self, tag: &str) -> IterId {
        if let Some(axis) = self.threads.get(tag) {
            return *axis;
        }
        let var = self.graph.tables.vars.push(Var { name: tag.to_owned(), dtype: DType::INT32 });
        let axis = self.graph.axes.push(Axis { var, range: None, kind: AxisKind::Thread(tag.to_owned()) });
        self.threads.insert(tag.to_owned(), axis);
        axis
    }
}
