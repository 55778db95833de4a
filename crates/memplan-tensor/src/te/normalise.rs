//! Normalisation: a schedule as the rest of the pipeline expects it.
//!
//! A schedule has a *stage* for each operation. A stage's loops come from the axes of its operation (the *root axes*)
//! by splits and fusions; *attached* means that it is computed inside a loop of another stage.
//!
//! Three steps, on a copy:
//! 1. *inline*: what is marked inline is put where it is used, and its stage is done with;
//! 2. *rebase*: a loop over an operation's own axis gets a fresh variable that starts at zero, because the part of the
//!    axis that is needed may start anywhere;
//! 3. *redirect*: a stage computed at a loop that was split, fused or rebased afterwards moves to the loop that
//!    replaces it.

use super::arith::substitute;
use super::error::ScheduleError;
use super::graph::{Body, IterId, OpId, OpKind, nests_deeper};
use super::graph_views::{AttachPath, FeedGraph, ReadGraph};
use super::schedule::{Attach, Relation, Schedule, StageId};
use crate::ir::{BufId, Expr, MAX_NESTING, VarId};
use std::collections::{BTreeMap, BTreeSet};

/// The deepest expression that inlining may make. Later steps add levels around it (casts, conditions, flat
/// subscripts), and nothing may nest deeper than [`MAX_NESTING`].
const MAX_INLINED_DEPTH: usize = MAX_NESTING - 40;
/// The most parts that an expression may have after inlining. If every stage reads the one before it twice (`B[i] *
/// B[i]`), the expression doubles with every inlined stage.
const MAX_INLINED_NODES: usize = 100_000;

impl Schedule {
    /// The same schedule, inlined and with regular loops. An error if a stage cannot be inlined, or is to be computed
    /// inside a loop that is not there or comes too late.
    pub fn normalised(&self) -> Result<Schedule, ScheduleError> {
        let mut schedule = self.clone();
        schedule.inline()?;
        schedule.rebase();
        schedule.redirect_attachments();
        // Made only for its errors: stages that are computed inside each other in a circle, or in a loop that is gone.
        AttachPath::new(&schedule)?;
        schedule.check_attachments()?;
        Ok(schedule)
    }

    /// Puts the expressions of inlined stages into the operations that read them. Stages are taken from the last to
    /// the first: an expression that is put in place may load earlier stages that are inlined, too, and their turn
    /// comes after.
    fn inline(&mut self) -> Result<(), ScheduleError> {
        let inlined: Vec<StageId> =
            self.order.iter().rev().copied().filter(|stage| self.stages[*stage].attach == Attach::Inline).collect();
        if inlined.is_empty() {
            return Ok(());
        }
        // `consumers` has the operations that read each inlined tensor. It changes on the way: an operation into which
        // a stage is inlined reads that stage's inputs from then on.
        let feeds = FeedGraph::new(&ReadGraph::new(&self.graph, &self.outputs));
        let mut consumers: BTreeMap<BufId, BTreeSet<OpId>> = BTreeMap::new();
        for stage in &inlined {
            let tensor = self.inlined_tensor(*stage)?.0;
            consumers.entry(tensor).or_default().extend(feeds.consumers(tensor));
        }
        // Each stage is put into all its consumers and is not computed any more.
        for stage in inlined {
            let (tensor, vars, value) = self.inlined_tensor(stage)?;
            let inputs = self.graph.ops[self.stages[stage].op].input_tensors();
            for consumer in consumers.remove(&tensor).unwrap_or_default() {
                self.inline_into(stage, tensor, &vars, &value, consumer)?;
                for input in &inputs {
                    consumers.entry(*input).or_default().insert(consumer);
                }
            }
            self.stages[stage].attach = Attach::Inlined;
        }
        Ok(())
    }

    /// What is put in place of a stage that is inlined: its only output, its axis variables and its expression. An
    /// error if the stage cannot be inlined.
    fn inlined_tensor(&self, stage: StageId) -> Result<(BufId, Vec<VarId>, Expr), ScheduleError> {
        let wrong = |reason: &str| ScheduleError::CannotInline {
            stage: self.name(stage).to_owned(),
            reason: reason.to_owned(),
        };
        let op = &self.graph.ops[self.stages[stage].op];
        let Some(compute) = op.as_compute() else {
            return Err(wrong("only compute operations can be"));
        };
        match (&compute.body, op.outputs.as_slice()) {
            (Body::Reduce { .. }, _) => Err(wrong("it is a reduction")),
            (Body::Plain(values), [tensor]) => {
                let value = values.first().cloned().ok_or_else(|| wrong("it has no output"))?;
                let vars = compute.axes.iter().map(|axis| self.graph.axes[*axis].var).collect();
                Ok((*tensor, vars, value))
            }
            _ => Err(wrong("it has more than one output")),
        }
    }

    /// Puts the expression `value` of a stage, whose axis variables are `vars`, into the operation `consumer` in place
    /// of all loads of `tensor`. Expressions grow by that, up to a limit.
    fn inline_into(
        &mut self,
        stage: StageId,
        tensor: BufId,
        vars: &[VarId],
        value: &Expr,
        consumer: OpId,
    ) -> Result<(), ScheduleError> {
        // Taken before the graph is borrowed for changes.
        let name = self.name(stage).to_owned();
        let wrong = |reason: String| ScheduleError::CannotInline { stage: name.clone(), reason };
        let op = &mut self.graph.ops[consumer];
        // An extern body reads memory, so there must be a tensor.
        let OpKind::Compute(compute) = &mut op.kind else {
            return Err(wrong(format!("`{}` needs it as a tensor", op.name)));
        };
        for expr in compute.body.exprs_mut() {
            let fits = inline_expr(expr, tensor, vars, value, &mut 0) && !nests_deeper(expr, MAX_INLINED_DEPTH);
            if !fits {
                return Err(wrong(format!("the expression of `{}` would become too large", op.name)));
            }
        }
        Ok(())
    }

    /// Lets every loop over an operation's own axis start at zero. Loops from splits and fusions do so already. A loop
    /// that is bound to threads keeps its axis; lowering refuses it if it does not start at zero.
    fn rebase(&mut self) {
        for stage in self.order.clone() {
            let roots = self.graph.ops[self.stages[stage].op].root_axes();
            for root in roots {
                let bound = self.stages[stage].attrs.get(&root).is_some_and(|attrs| attrs.bind.is_some());
                let position = self.stages[stage].leaf_axes.iter().position(|leaf| *leaf == root);
                if let Some(position) = position.filter(|_| !bound) {
                    self.rebase_axis(stage, root, position);
                }
            }
        }
    }

    /// Replaces the loop of a root axis, at `position` among the stage's loops, by a loop that starts at zero. What was
    /// asked for the axis holds for the new loop, too.
    fn rebase_axis(&mut self, stage: StageId, root: IterId, position: usize) {
        let (name, kind) = (self.axis_name(root).to_owned(), self.graph.axes[root].kind.clone());
        let rebased = self.new_axis(stage, name, kind);
        let stage = &mut self.stages[stage];
        stage.leaf_axes[position] = rebased;
        if let Some(attrs) = stage.attrs.get(&root).cloned() {
            stage.attrs.insert(rebased, attrs);
        }
        stage.relations.push(Relation::Rebase { parent: root, rebased });
    }

    /// Moves every stage that is attached to an axis to the loop that has taken the axis's place.
    fn redirect_attachments(&mut self) {
        for stage in self.order.clone() {
            if let Attach::At(target, axis) = self.stages[stage].attach {
                let axis = self.replacement(target, axis);
                self.stages[stage].attach = Attach::At(target, axis);
            }
        }
    }

    /// The loop that has taken the place of an axis, followed through all relations from the oldest to the newest. It
    /// is the loop whose single iteration is a single iteration of the axis: of a split the inner loop, of a fusion
    /// the fused loop, if the axis was the inner one. For the outer axis of a fusion there is no such loop, so the
    /// axis itself stays, and [`AttachPath::new`] reports that it is no loop.
    fn replacement(&self, stage: StageId, axis: IterId) -> IterId {
        self.stages[stage].relations.iter().fold(axis, |axis, relation| match relation {
            Relation::Split { parent, inner, .. } if *parent == axis => *inner,
            Relation::Fuse { inner, fused, .. } if *inner == axis => *fused,
            Relation::Rebase { parent, rebased } if *parent == axis => *rebased,
            _ => axis,
        })
    }

    /// Checks that every attached stage comes before the stage whose loop it is computed in, and that this one is
    /// computed at all.
    fn check_attachments(&self) -> Result<(), ScheduleError> {
        let positions: BTreeMap<StageId, usize> =
            self.order.iter().enumerate().map(|(position, stage)| (*stage, position)).collect();
        for stage in &self.order {
            let Attach::At(target, axis) = self.stages[*stage].attach else { continue };
            // A stage must be computed before the loop body that reads it, so it must come before the target in the
            // order.
            let reason = if self.stages[target].attach == Attach::Inlined {
                "that stage is inlined"
            } else if positions.get(&target) < positions.get(stage) {
                "that stage is computed before it"
            } else {
                continue;
            };
            return Err(ScheduleError::CannotAttach {
                stage: self.name(*stage).to_owned(),
                target: self.name(target).to_owned(),
                axis: self.axis_name(axis).to_owned(),
                reason,
            });
        }
        Ok(())
    }
}

/// Replaces every load of `tensor` in an expression by `value`, with the subscripts of the load in place of the
/// variables `vars`. `nodes` counts the parts of the expression that were visited or put in; `false` if there are more
/// than [`MAX_INLINED_NODES`].
fn inline_expr(expr: &mut Expr, tensor: BufId, vars: &[VarId], value: &Expr, nodes: &mut usize) -> bool {
    *nodes += 1;
    if *nodes > MAX_INLINED_NODES {
        return false;
    }
    // Subscripts may load the tensor, too, so parts are replaced before the whole.
    if !expr.children_mut().into_iter().all(|child| inline_expr(child, tensor, vars, value, nodes)) {
        return false;
    }
    if let Expr::Load { buffer, index } = expr
        && *buffer == tensor
    {
        let subscripts: BTreeMap<VarId, Expr> = vars.iter().copied().zip(std::mem::take(index)).collect();
        *expr = substitute(value, &subscripts);
        // What was put in counts, too.
        expr.walk(&mut |_| *nodes += 1);
    }
    *nodes <= MAX_INLINED_NODES
}
