//! ScheduleOps: a scheduled graph as one body of statements over tensors.
//!
//! A *stage* is one operation of the graph together with how it is computed. Its *leaf axes* are its loops; the axes of
//! the operation itself may have been split and fused into them.
//!
//! Each stage becomes *realize* (its tensors exist from this statement to the end of the block) and *provide* (the
//! loops that compute them), followed by its consumers. A stage computed at a loop of another stage stands at the start
//! of that loop's body:
//!
//! ```text
//! realize Z[0:32]
//! for i.outer < 4:
//!     realize Y[i.outer*8 : +10]       the part of Y that this iteration needs
//!     for i < 10:          Y[i + i.outer*8] = …
//!     for i.inner < 8:     Z[i.inner + i.outer*8] = …
//! ```
//!
//! Stages are taken from the first to the last: what a loop contains is complete when the loop is built, because
//! producers come first. So nothing is searched for, and the work is linear in what is produced.

// `Bounds` has the range of every axis, `Values` the value of an axis in terms of loop variables. `pass_up_values`
// fills in the values of the operation's own axes from those of the loops. `marks` makes the statements that only
// exist between the schedule and the flat program, such as realize. Buffers of the result are named by `BufId`s of
// the graph's tables.
use super::arith::{Env, Interval, prove_compare, prove_equal, simplify, sub, substitute, substitute_in_place};
use super::bounds::{Bounds, rank_number};
use super::domain::{Values, pass_up_values};
use super::error::LowerError;
use super::graph::{AxisKind, Body, Compute, Extern, IterId, OpKind, Range};
use super::marks;
use super::schedule::{Attach, LoopKind, Relation, Schedule, StageId};
use crate::DType;
use crate::ir::{
    BinaryOp, Block, BufId, Expr, ForKind, Function, MAX_NESTING, Stmt, StmtKind, StorageScope, Var, VarId, thread_rank,
};
use crate::script::print_expr;
use std::collections::{BTreeMap, BTreeSet};

/// Levels of nesting that are kept for later steps (regions of double buffers, conditions, launches). A stage may use
/// the other levels up to [`MAX_NESTING`].
const RESERVED_NESTING: usize = 20;

/// The statements that compute a schedule with loops as long as `bounds` say. The schedule must be normalised
/// ([`Schedule::normalised`]): no stage is left that is still to be inlined. The buffers of the result stand for
/// tensors: they have no memory yet, and the function has no parameters.
pub fn schedule_ops(schedule: &Schedule, bounds: &Bounds) -> Result<Function, LowerError> {
    let mut builder = Builder {
        schedule,
        bounds,
        env: bounds.env(schedule),
        tables: schedule.graph.tables.clone(),
        inside: BTreeMap::new(),
    };
    // Stages that are attached to a loop go to that loop's piece, all others to the body of the function.
    let mut body = Block::default();
    // Producers come before consumers in this order. When a loop is built, everything attached to it is complete.
    for stage in &schedule.order {
        let piece = builder.pipeline(*stage)?;
        match schedule.stages[*stage].attach {
            Attach::At(target, axis) => {
                let inside = builder.inside.entry((target, axis)).or_default();
                // The loop has to know how deep its content nests: nesting is limited.
                inside.depth = inside.depth.max(piece.depth);
                inside.block.extend(piece.block);
            }
            // A stage on its own. Inlined stages and inputs come here, too; their pieces are empty.
            _ => body.extend(piece.block),
        }
    }
    let mut function = builder.tables;
    // Stages with the same thread axes were built one by one, each with launches of its own. Within one launch
    // the inner ones are removed.
    drop_nested_launches(&mut body, &mut Vec::new(), &function)?;
    function.body = body;
    Ok(function)
}

/// A part of the body under construction: statements, and how many levels deep they nest (an estimate that is never too
/// low).
#[derive(Default)]
struct Piece {
    block: Block,
    depth: usize,
}

/// The state of building stages, one after the other.
struct Builder<'a> {
    schedule: &'a Schedule,
    bounds: &'a Bounds,
    /// What every loop variable can be, for proofs that a condition always holds.
    env: Env,
    /// The function under construction: its variables and buffers, without a body.
    tables: Function,
    /// For each loop the stages that are computed at it, already built. They go to the start of the loop's body, and
    /// are taken out of this table when the loop is built.
    inside: BTreeMap<(StageId, IterId), Piece>,
}

/// One loop of a nest, before it has a body.
enum Frame {
    /// A single iteration: no loop, its value is known.
    Once,
    /// A loop from zero.
    For { var: VarId, extent: Expr, kind: ForKind },
    /// A launch of threads; `tag` is the thread axis, such as `threadIdx.x`.
    Threads { var: VarId, tag: String, extent: Expr },
}

impl Builder<'_> {
    /// The statements of one stage: realize its tensors, then compute them. Inlined stages and inputs have none.
    fn pipeline(&mut self, stage: StageId) -> Result<Piece, LowerError> {
        let schedule = self.schedule;
        let op = &schedule.graph.ops[schedule.stages[stage].op];
        let mut piece = match &op.kind {
            _ if schedule.stages[stage].attach == Attach::Inlined => return Ok(Piece::default()),
            OpKind::Placeholder => return Ok(Piece::default()),
            OpKind::Compute(compute) => self.provide_compute(stage, compute, &op.outputs)?,
            OpKind::Extern(body) => self.provide_extern(body, &op.outputs),
        };
        if piece.depth + RESERVED_NESTING > MAX_NESTING {
            let limit = MAX_NESTING - RESERVED_NESTING;
            return Err(LowerError::TooDeep { stage: op.name.clone(), limit });
        }
        if let Some(first) = op.outputs.first().filter(|_| schedule.stages[stage].double_buffer) {
            // One mark here becomes a region for each output of the operation in the next step, so all are counted.
            piece.block = vec![marks::double_buffer(*first, piece.block)].into();
            piece.depth += op.outputs.len();
        }
        let mut block = self.realize(stage);
        block.extend(piece.block);
        Ok(Piece { block, ..piece })
    }

    /// The values an axis runs over; an axis without a range has one value, zero.
    fn range(&self, axis: IterId) -> Range {
        self.bounds.ranges.get(&axis).cloned().unwrap_or_else(|| Range::up_to(Expr::int(1)))
    }

    /// The statements that make a stage's tensors exist: of a computed tensor the part that is needed, with the padding
    /// that was asked for.
    fn realize(&self, stage: StageId) -> Block {
        let schedule = self.schedule;
        let stage = &schedule.stages[stage];
        let op = &schedule.graph.ops[stage.op];
        let mut block = Vec::new();
        match &op.kind {
            OpKind::Compute(compute) => {
                let bounds: Vec<Range> = compute.axes.iter().map(|axis| self.range(*axis)).collect();
                for tensor in &op.outputs {
                    // Alignment marks stand before the realization that they are about, the last dimension first, as in
                    // TVM.
                    for (dimension, axis) in compute.axes.iter().enumerate().rev() {
                        if let Some((factor, offset)) = stage.attrs.get(axis).and_then(|attrs| attrs.align) {
                            block.push(marks::dim_align(*tensor, dimension, factor, offset));
                        }
                    }
                    block.push(marks::realize(*tensor, &stage.scope, &bounds));
                }
            }
            // The body of an extern operation may write any element, so all of the tensor exists and not only a needed
            // part. The last output comes first, as in TVM.
            OpKind::Extern(_) => {
                for tensor in op.outputs.iter().rev() {
                    let shape = &schedule.graph.tables.buffers[*tensor].shape;
                    let bounds: Vec<Range> = shape.iter().cloned().map(Range::up_to).collect();
                    block.push(marks::realize(*tensor, &stage.scope, &bounds));
                }
            }
            OpKind::Placeholder => {}
        }
        block.into()
    }

    /// The body of an extern operation, with its slots bound to the tensors that they stand for.
    fn provide_extern(&self, body: &Extern, outputs: &[BufId]) -> Piece {
        // Each region goes around what is there, so the last one made is outermost: that of the first input.
        let mut block = vec![marks::extern_region(body.body.clone())];
        let bound = outputs.iter().zip(&body.output_slots).rev().chain(body.inputs.iter().zip(&body.input_slots).rev());
        // The region of the body is one level; one more is counted as a reserve.
        let mut depth = 2 + block_depth(&body.body);
        for (tensor, slot) in bound {
            let shape = &self.schedule.graph.tables.buffers[*tensor].shape;
            block = vec![marks::bind(slot, *tensor, shape, block.into())];
            depth += 1;
        }
        Piece { block: block.into(), depth }
    }

    /// The loops that compute the tensors of a stage. With a reduction, each element is initialised first and then
    /// combined, in two nests inside the loops that both share:
    ///
    /// ```text
    /// for i < 8:                    loops outside of the first reduction loop
    ///     for j.init < 4: …         initialise: every loop further inside that is no reduction, once more
    ///     for k < 16: for j < 4: …  the update
    /// ```
    fn provide_compute(&mut self, stage: StageId, compute: &Compute, outputs: &[BufId]) -> Result<Piece, LowerError> {
        let leaves = self.schedule.stages[stage].leaf_axes.clone();
        // `values` says what each loop variable stands for. `main` below adds the values of the operation's own axes,
        // which follow from the loops through splits and fusions.
        let mut values = Values::new();
        let mut frames = Vec::with_capacity(leaves.len());
        for leaf in &leaves {
            let (frame, value) = self.frame(stage, *leaf)?;
            values.insert(*leaf, value);
            frames.push(frame);
        }
        // The loops outside of the first reduction loop are shared: inside of them, an element is first initialised,
        // and then the loops from the first reduction loop inwards combine values into it.
        let first_reduced = leaves.iter().position(|&axis| self.is_reduced(axis)).unwrap_or(leaves.len());
        let mut main = values.clone();
        pass_up_values(&self.schedule.stages[stage], &self.bounds.ranges, &mut main);
        let stores = self.stores(compute, outputs, &main);
        let guard = self.predicates(stage, compute, &main, true);
        let update = self.guarded(stores, guard);
        match &compute.body {
            Body::Plain(_) => Ok(self.nest(stage, &leaves, frames, update)),
            Body::Reduce { combiner, .. } => {
                // `frames` keeps the shared loops; `inner` are the loops from the first reduction loop inwards.
                let inner = frames.split_off(first_reduced);
                let body = self.nest(stage, &leaves[first_reduced..], inner, update);
                let start = self.initialise(stage, compute, outputs, &combiner.identity, first_reduced, &values)?;
                let depth = start.depth.max(body.depth);
                let block = start.block.into_iter().chain(body.block).collect();
                Ok(self.nest(stage, &leaves[..first_reduced], frames, Piece { block, depth }))
            }
        }
    }

    /// The loop of one leaf axis, without a body, and the value that the axis has inside of it. An error if the axis is
    /// bound to threads and does not start at zero: a launch counts from zero.
    fn frame(&self, stage: StageId, axis: IterId) -> Result<(Frame, Expr), LowerError> {
        let range = self.range(axis);
        let attrs = self.schedule.attrs(stage, axis);
        let var = self.schedule.graph.axes[axis].var;
        // A loop that is bound to threads becomes a launch. `thread` is the axis of the threads, with a variable of its
        // own, which all loops bound to the same threads share.
        if let (Some(thread), Some(tag)) = (attrs.bind, self.schedule.thread_tag(stage, axis)) {
            if range.min.as_int() != Some(0) {
                let (stage, axis) = (self.schedule.name(stage).to_owned(), self.schedule.axis_name(axis).to_owned());
                return Err(LowerError::ThreadStart { stage, axis });
            }
            // If each thread has memory of its own for the stage, the threads do not divide the axis between them: the
            // axis has its first value in every thread, as in TVM.
            let thread = self.schedule.graph.axes[thread].var;
            let value = if self.sees_threads(stage, tag) { Expr::Var(thread) } else { range.min };
            return Ok((Frame::Threads { var: thread, tag: tag.to_owned(), extent: range.extent }, value));
        }
        // A loop of one iteration is left out: its only value is its first one.
        if range.extent.as_int() == Some(1) {
            return Ok((Frame::Once, range.min));
        }
        let kind = match attrs.kind {
            LoopKind::Serial => ForKind::Serial,
            LoopKind::Parallel => ForKind::Parallel,
            LoopKind::Vectorized => ForKind::Vectorized,
            LoopKind::Unrolled => ForKind::Unrolled,
        };
        Ok((Frame::For { var, extent: range.extent, kind }, Expr::Var(var)))
    }

    /// Whether the threads of an axis share the stage's memory, so that each computes its part. That is so if no
    /// memory was asked for, or one that reaches as far as the threads do: `rank_number` is 0 for global and 1 for
    /// shared memory and more for memory of a warp or a thread; `thread_rank` is 0 for an axis of blocks and 1 for an
    /// axis of threads.
    fn sees_threads(&self, stage: StageId, tag: &str) -> bool {
        let scope = &self.schedule.stages[stage].scope;
        scope.is_empty()
            || StorageScope::parse(scope).is_none_or(|scope| rank_number(scope.rank) <= thread_rank(tag).unwrap_or(1))
    }

    /// Puts loops around a body, the innermost first; each loop's body starts with the stages that are computed at the
    /// loop. `frames` are the loops of `axes`.
    fn nest(&mut self, stage: StageId, axes: &[IterId], frames: Vec<Frame>, body: Piece) -> Piece {
        axes.iter().zip(frames).rev().fold(body, |body, (axis, frame)| {
            // What other stages have put into this loop comes before the loop's own body.
            let inside = self.inside.remove(&(stage, *axis)).unwrap_or_default();
            let depth = body.depth.max(inside.depth) + 1;
            let block: Block = inside.block.into_iter().chain(body.block).collect();
            let block = match frame {
                Frame::Once => block,
                Frame::For { var, extent, kind } => {
                    let min = Expr::int(0);
                    vec![Stmt::new(StmtKind::For { var, min, extent, kind, in_grid: false, body: block })].into()
                }
                Frame::Threads { var, tag, extent } => {
                    vec![Stmt::new(StmtKind::Thread { var, tag, extent, body: block, flat: false })].into()
                }
            };
            Piece { block, depth }
        })
    }

    /// The values of axes as subscripts; zero for an axis without a value.
    fn axis_values(&self, axes: &[IterId], values: &Values) -> Vec<Expr> {
        axes.iter().map(|axis| values.get(axis).cloned().unwrap_or_else(|| Expr::int(0))).collect()
    }

    /// The statements that compute one element of every output: a store, or for a reduction the update that combines
    /// one more value with what is stored.
    fn stores(&mut self, compute: &Compute, outputs: &[BufId], values: &Values) -> Block {
        let index = self.axis_values(&compute.axes, values);
        // The body is written in terms of the operation's own axes. They are replaced by their values in terms of
        // loops.
        let vars: BTreeMap<VarId, Expr> = compute
            .axes
            .iter()
            .chain(&compute.reduce_axes)
            .filter_map(|axis| Some((self.schedule.graph.axes[*axis].var, values.get(axis)?.clone())))
            .collect();
        match &compute.body {
            Body::Plain(bodies) => {
                let values = bodies.iter().map(|body| substitute(body, &vars)).collect();
                self.together(outputs, &index, values)
            }
            // A reduction combines what was stored so far with a new value. Elements that fail the condition leave the
            // stored value alone.
            Body::Reduce { combiner, sources, condition } => {
                let so_far: Vec<Expr> =
                    outputs.iter().map(|tensor| Expr::Load { buffer: *tensor, index: index.clone() }).collect();
                let new: Vec<Expr> = sources.iter().map(|source| substitute(source, &vars)).collect();
                let stores = self.together(outputs, &index, combiner.apply(&so_far, &new));
                match condition {
                    None => stores,
                    Some(condition) => vec![condition_on(substitute(condition, &vars), stores)].into(),
                }
            }
        }
    }

    /// Stores one value into each output, at the same index. If a value reads an output that is stored before it, all
    /// values are computed first and stored afterwards, because each must see the old values. An arg-max is of this
    /// kind: its position depends on the old maximum.
    fn together(&mut self, outputs: &[BufId], index: &[Expr], values: Vec<Expr>) -> Block {
        // Whether the value at a position loads an output that is stored before this one.
        let reads_earlier = |(position, value): (usize, &Expr)| {
            value.any(&|part| matches!(part, Expr::Load { buffer, .. } if outputs[..position].contains(buffer)))
        };
        // If some value reads an output that is stored before it, the new values need names.
        let crossed = values.iter().enumerate().any(reads_earlier);
        let (mut lets, mut stores) = (Vec::new(), Vec::new());
        for (tensor, value) in outputs.iter().zip(values) {
            let value = if crossed {
                let dtype = value.dtype(&self.tables);
                let var = self.tables.vars.push(Var { name: "combined".to_owned(), dtype });
                lets.push(Stmt::new(StmtKind::Let { var, value }));
                Expr::Var(var)
            } else {
                value
            };
            stores.push(Stmt::new(StmtKind::Store { buffer: *tensor, index: index.to_vec(), value }));
        }
        lets.into_iter().chain(stores).collect()
    }

    /// The nest that stores `identity` into the elements of a reduction. It stands inside the loops that it shares
    /// with the update, the first `first_reduced` leaf axes, whose variables have the given `values`. Its own loops
    /// are those of the other leaf axes that are made of a data axis; they get variables of their own, because the
    /// update has the same loops again. A loop that is made of a data axis and a reduce axis (by a fusion) is among
    /// them: it initialises its elements several times, which does no harm before the update. Such a loop counts as a
    /// reduction ([`Self::is_reduced`]), so it is never one of the shared loops, where it would initialise elements
    /// again in the middle of their update.
    /// `identity` has a value for each output. An error as of [`Self::frame`].
    fn initialise(
        &mut self,
        stage: StageId,
        compute: &Compute,
        outputs: &[BufId],
        identity: &[Expr],
        first_reduced: usize,
        values: &Values,
    ) -> Result<Piece, LowerError> {
        let leaves = self.schedule.stages[stage].leaf_axes.clone();
        // `start` has the values of the leaf axes in this nest: of the shared loops as given, of its own loops as
        // below.
        let mut start: Values =
            leaves[..first_reduced].iter().filter_map(|axis| Some((*axis, values.get(axis)?.clone()))).collect();
        let (mut axes, mut frames) = (Vec::new(), Vec::new());
        let of_data = made_of(&self.schedule.stages[stage].relations, &compute.axes);
        for leaf in leaves[first_reduced..].iter().filter(|leaf| of_data.contains(leaf)) {
            let (frame, value) = self.frame(stage, *leaf)?;
            let (frame, value) = match frame {
                // `env` must know the range of the new variable, so that conditions about it can be proved.
                Frame::For { var, extent, kind } => {
                    let name = format!("{}.init", self.tables.vars[var].name);
                    let fresh = self.tables.vars.push(Var { name, dtype: DType::INT32 });
                    self.env.insert(fresh, Interval::range(&Expr::int(0), &extent));
                    (Frame::For { var: fresh, extent, kind }, Expr::Var(fresh))
                }
                // The threads that initialise an element are those that update it, so their variable stays. A single
                // iteration has no variable.
                other => (other, value),
            };
            start.insert(*leaf, value);
            axes.push(*leaf);
            frames.push(frame);
        }
        // Loops of reduce axes alone have no value in `start` and count as zero. That does no harm: the index has data
        // axes only, and the conditions leave out reduce axes.
        pass_up_values(&self.schedule.stages[stage], &self.bounds.ranges, &mut start);
        let index = self.axis_values(&compute.axes, &start);
        let stores: Block = outputs
            .iter()
            .zip(identity)
            .map(|(tensor, value)| {
                Stmt::new(StmtKind::Store { buffer: *tensor, index: index.clone(), value: value.clone() })
            })
            .collect();
        let guard = self.predicates(stage, compute, &start, false);
        let body = self.guarded(stores, guard);
        // Stages that are computed at these loops are needed by the update only. `nest` would take them out of
        // `inside`, so they are put aside meanwhile.
        let kept = std::mem::take(&mut self.inside);
        let piece = self.nest(stage, &axes, frames, body);
        self.inside = kept;
        Ok(piece)
    }

    /// Puts conditions around stores, the first one outermost.
    fn guarded(&self, stores: Block, guard: Vec<Expr>) -> Piece {
        // Two levels are the store and the condition that a reduction may have around it.
        let depth = 2 + guard.len();
        let block = guard
            .into_iter()
            .rev()
            .fold(stores, |block, condition| vec![condition_on(likely(condition), block)].into());
        Piece { block, depth }
    }

    /// Whether values are combined along an axis: a reduce axis, or an axis that is made of one, by a split or by a
    /// fusion with any other axis.
    fn is_reduced(&self, axis: IterId) -> bool {
        self.schedule.graph.axes[axis].kind == AxisKind::Reduce
    }

    /// The conditions under which the `values` of a stage's axes are inside the ranges of the axes; conditions that
    /// always hold are left out. Without `with_reduced` splits of axes that are made of reduce axes only do not count:
    /// the nest that initialises a reduction has no values for them.
    fn predicates(&self, stage: StageId, compute: &Compute, values: &Values, with_reduced: bool) -> Vec<Expr> {
        let mut conditions = Vec::new();
        // A split that does not divide evenly makes the loops run past the axis: 34 split by 8 gives 5 times 8
        // iterations. The surplus iterations must do nothing.
        let relations = &self.schedule.stages[stage].relations;
        let of_data = made_of(relations, &compute.axes);
        for relation in relations {
            let Relation::Split { parent, outer, inner, .. } = relation else { continue };
            if !of_data.contains(parent) && !with_reduced {
                continue;
            }
            let (whole, parts) = (self.range(*parent), [self.range(*outer).extent, self.range(*inner).extent]);
            let product = super::arith::mul(parts[0].clone(), parts[1].clone());
            if let Some(value) = values.get(parent).filter(|_| !prove_equal(&product, &whole.extent)) {
                self.require(BinaryOp::Lt, without(value, &whole.min), whole.extent, &mut conditions);
            }
        }
        for axis in &compute.axes {
            let (Some(declared), Some(value)) = (&self.schedule.graph.axes[*axis].range, values.get(axis)) else {
                continue;
            };
            // The needed range may reach beyond the declared one, when consumers read past the ends. Nothing may be
            // computed there. Declared ranges start at zero, so the extent is the end.
            if self.range(*axis) != *declared {
                self.require(BinaryOp::Ge, value.clone(), declared.min.clone(), &mut conditions);
                self.require(BinaryOp::Lt, value.clone(), declared.extent.clone(), &mut conditions);
            }
        }
        conditions
    }

    /// Adds the condition `value op limit`, unless it always holds or is in the list already.
    fn require(&self, op: BinaryOp, value: Expr, limit: Expr, conditions: &mut Vec<Expr>) {
        let condition = Expr::binary(op, value.clone(), limit.clone());
        if !prove_compare(op, &value, &limit, &self.env) && !conditions.contains(&condition) {
            conditions.push(condition);
        }
    }
}

/// These axes and all axes that are made of them by `relations`, which are listed from the oldest to the newest.
fn made_of(relations: &[Relation], axes: &[IterId]) -> BTreeSet<IterId> {
    let mut made: BTreeSet<IterId> = axes.iter().copied().collect();
    for relation in relations {
        match relation {
            Relation::Split { parent, outer, inner, .. } if made.contains(parent) => made.extend([*outer, *inner]),
            Relation::Fuse { outer, inner, fused } if made.contains(outer) || made.contains(inner) => {
                made.insert(*fused);
            }
            Relation::Rebase { parent, rebased } if made.contains(parent) => {
                made.insert(*rebased);
            }
            _ => {}
        }
    }
    made
}

/// A value relative to where its range starts.
fn without(value: &Expr, min: &Expr) -> Expr {
    if min.as_int() == Some(0) { value.clone() } else { simplify(&sub(value.clone(), min.clone())) }
}

/// TVM's hint to compilers that a condition is nearly always true.
fn likely(condition: Expr) -> Expr {
    Expr::Call { name: "likely".to_owned(), args: vec![condition], dtype: DType::BOOL }
}

fn condition_on(condition: Expr, then: Block) -> Stmt {
    Stmt::new(StmtKind::If { condition, then, otherwise: Block::default(), else_trivia: Default::default() })
}

/// How many levels deep the statements of a block nest; 0 for an empty block.
fn block_depth(block: &Block) -> usize {
    block.iter().map(|stmt| 1 + stmt.blocks().into_iter().map(block_depth).max().unwrap_or(0)).max().unwrap_or(0)
}

/// Replaces a launch of a thread axis inside of another launch of the same axis by its body: the threads are running
/// already. `active` holds the thread variables and numbers of threads of the launches around the block.
fn drop_nested_launches(
    block: &mut Block,
    active: &mut Vec<(VarId, Expr)>,
    tables: &Function,
) -> Result<(), LowerError> {
    for stmt in std::mem::take(block) {
        let mut stmt = stmt;
        if let StmtKind::Thread { var, tag, extent, body, .. } = &mut stmt.kind {
            // The thread variable belongs to the axis, so the same variable means the same axis.
            if let Some((_, outer)) = active.iter().find(|(active, _)| active == var) {
                // Two launches of one axis with different extents contradict each other: the hardware launches it once.
                if !prove_equal(outer, extent) {
                    return Err(LowerError::ThreadExtents {
                        axis: tag.clone(),
                        first: print_expr(outer, tables),
                        second: print_expr(extent, tables),
                    });
                }
                drop_nested_launches(body, active, tables)?;
                block.append(body);
                continue;
            }
            // The outermost launch of the axis stays.
            active.push((*var, extent.clone()));
            drop_nested_launches(body, active, tables)?;
            active.pop();
        } else {
            for inner in stmt.blocks_mut() {
                drop_nested_launches(inner, active, tables)?;
            }
        }
        block.push(stmt);
    }
    Ok(())
}

/// Replaces variables in every expression of a block.
pub(super) fn substitute_block(block: &mut Block, values: &BTreeMap<VarId, Expr>) {
    for stmt in block {
        for expr in stmt.exprs_mut() {
            substitute_in_place(expr, values);
        }
        for inner in stmt.blocks_mut() {
            substitute_block(inner, values);
        }
    }
}
