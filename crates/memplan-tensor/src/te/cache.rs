//! Caches: a tensor read or written through a copy.
//!
//! ```text
//! cache_read(A, "shared", [Q])    A ──► A.shared ──► Q        Q reads the copy
//! cache_write(Q, "local")         … ──► Q.local ──► Q         Q is now the copy, Q.local computes
//! ```
//!
//! A cache is a new operation with a stage of its own (a stage is an operation and how it is computed), in the memory
//! that was asked for. Both functions return its stage.

use super::arith::substitute_in_place;
use super::error::ScheduleError;
use super::graph::{AxisKind, Body, Compute, OpId, OpKind, OutputSpec};
use super::schedule::{Attach, Schedule, Stage, StageId};
use crate::ir::{BufId, Expr, StorageScope, VarId};
use std::collections::BTreeMap;

impl Schedule {
    /// Lets `readers` read a copy of `tensor` that lives in the memory `scope`, and returns the stage of the copy. An
    /// error if the tensor or the memory is not known, or if one of the stages does not read the tensor.
    pub fn cache_read(&mut self, tensor: BufId, scope: &str, readers: &[StageId]) -> Result<StageId, ScheduleError> {
        let producer = self.producing_stage(tensor)?;
        self.check_cache_scope(producer, "cache_read", scope)?;
        for reader in readers {
            if !self.graph.ops[self.stages[*reader].op].input_tensors().contains(&tensor) {
                return Err(ScheduleError::NotAReader {
                    reader: self.name(*reader).to_owned(),
                    tensor: self.graph.tables.buffers[tensor].name.clone(),
                });
            }
        }
        // A new operation copies the tensor, and the readers load the copy.
        let base = self.graph.tables.buffers[tensor].name.clone();
        let op = self.copy_op(&self.cache_name(&base, scope), tensor)?;
        let copy = self.graph.ops[op].outputs[0];
        for reader in readers {
            self.redirect_reads(self.stages[*reader].op, tensor, copy);
        }
        // The stage directly after the producer comes before all readers.
        let position = self.position(producer) + 1;
        Ok(self.insert_cache(op, scope, position))
    }

    /// Computes `tensor` in the memory `scope` first, in a new stage that is returned; the tensor's own stage then only
    /// copies. All outputs of the operation move, not only `tensor`.
    pub fn cache_write(&mut self, tensor: BufId, scope: &str) -> Result<StageId, ScheduleError> {
        let stage = self.producing_stage(tensor)?;
        self.check_cache_scope(stage, "cache_write", scope)?;
        let original = self.stages[stage].op;
        let Some(compute) = self.graph.ops[original].as_compute().cloned() else {
            return Err(ScheduleError::Argument {
                stage: self.name(stage).to_owned(),
                what: "cache_write",
                reason: "it is no compute operation".to_owned(),
            });
        };
        let name = self.cache_name(self.name(stage), scope);
        // The computation moves to the cache with all its axes. The original operation becomes a plain copy of it, so
        // readers of the tensor need no change.
        let cache = self.moved_compute(&name, original, &compute)?;
        self.make_copy(original, &compute, cache);
        let axes = self.graph.ops[original].root_axes();
        let old = &mut self.stages[stage];
        // What the user has scheduled so far was about loops that compute. The copy starts with fresh loops.
        *old = Stage {
            all_axes: axes.clone(),
            leaf_axes: axes,
            relations: Vec::new(),
            attrs: BTreeMap::new(),
            ..old.clone()
        };
        self.forget_loops_of(stage);
        let position = self.position(stage);
        Ok(self.insert_cache(cache, scope, position))
    }

    /// The stage that makes a tensor.
    fn producing_stage(&self, tensor: BufId) -> Result<StageId, ScheduleError> {
        let name = || self.graph.tables.buffers.get(tensor).map_or_else(String::new, |buffer| buffer.name.clone());
        let producer = self.graph.producer(tensor).and_then(|(op, _)| self.stage_of(op));
        producer.ok_or_else(|| ScheduleError::UnknownTensor { name: name() })
    }

    /// An error if `scope` names no memory; `what` is the primitive that asks.
    fn check_cache_scope(&self, stage: StageId, what: &'static str, scope: &str) -> Result<(), ScheduleError> {
        if StorageScope::parse(scope).is_some() {
            return Ok(());
        }
        let reason = format!("`{scope}` is no scope: it starts with global, shared, warp, local or wmma");
        Err(ScheduleError::Argument { stage: self.name(stage).to_owned(), what, reason })
    }

    /// The name of a cache, as TVM gives it: `A.shared`; if there is an operation of that name, `A.d.shared`, then
    /// `A.d.d.shared`, and so on.
    fn cache_name(&self, base: &str, scope: &str) -> String {
        let mut name = format!("{base}.{scope}");
        let mut stem = base.to_owned();
        while self.graph.op_named(&name).is_some() {
            stem.push_str(".d");
            name = format!("{stem}.{scope}");
        }
        name
    }

    /// The position of a stage in the order of computation; behind all stages if it is not in the order.
    fn position(&self, stage: StageId) -> usize {
        self.order.iter().position(|other| *other == stage).unwrap_or(self.order.len())
    }

    /// Adds a stage for the operation of a cache, at a position in the order of stages.
    fn insert_cache(&mut self, op: OpId, scope: &str, position: usize) -> StageId {
        let stage = self.add_stage(op);
        self.stages[stage].scope = scope.to_owned();
        self.order.insert(position.min(self.order.len()), stage);
        stage
    }

    /// An operation that copies a tensor, over fresh axes.
    fn copy_op(&mut self, name: &str, tensor: BufId) -> Result<OpId, ScheduleError> {
        let shape = self.graph.tables.buffers[tensor].shape.clone();
        let names: Vec<String> = (0..shape.len()).map(|axis| format!("ax{axis}")).collect();
        let named: Vec<(&str, Expr)> = names.iter().map(String::as_str).zip(shape).collect();
        let axes = self.graph.add_axes(&named, AxisKind::Data);
        let index = axes.iter().map(|axis| Expr::Var(self.graph.axes[*axis].var)).collect();
        let value = Expr::Load { buffer: tensor, index };
        self.graph
            .add_compute(name, axes, Vec::new(), Body::Plain(vec![value]))
            .map_err(graph_error(name, "cache_read"))
    }

    /// Adds the computation of `original` as a new operation. Its data axes are new, with the suffix `.c`, because
    /// `original` keeps its own for copying. The reduce axes move over: a copy reduces nothing.
    fn moved_compute(&mut self, name: &str, original: OpId, compute: &Compute) -> Result<OpId, ScheduleError> {
        let mut vars: BTreeMap<VarId, Expr> = BTreeMap::new();
        let mut axes = Vec::with_capacity(compute.axes.len());
        // A new axis for each data axis; `vars` maps the old variables to the new ones.
        for axis in &compute.axes {
            let old = self.graph.axes[*axis].clone();
            let extent = old.range.map_or_else(|| Expr::int(1), |range| range.extent);
            let axis_name = format!("{}.c", self.graph.tables.vars[old.var].name);
            let fresh = self.graph.add_axes(&[(&axis_name, extent)], AxisKind::Data);
            vars.extend(fresh.iter().map(|axis| (old.var, Expr::Var(self.graph.axes[*axis].var))));
            axes.extend(fresh);
        }
        let mut body = compute.body.clone();
        for expr in body.exprs_mut() {
            substitute_in_place(expr, &vars);
        }
        // The outputs of the cache have the shapes and types of the original's outputs.
        let outputs = self.graph.ops[original]
            .outputs
            .iter()
            .map(|tensor| &self.graph.tables.buffers[*tensor])
            .map(|tensor| OutputSpec { shape: tensor.shape.to_vec(), dtype: tensor.dtype })
            .collect();
        let kind = OpKind::Compute(Compute { axes, reduce_axes: compute.reduce_axes.clone(), body });
        self.graph.add_op(name, kind, outputs).map_err(graph_error(name, "cache_write"))
    }

    /// Turns the operation `original` into one that copies the outputs of `cache`, over the axes it had in `compute`.
    fn make_copy(&mut self, original: OpId, compute: &Compute, cache: OpId) {
        let index: Vec<Expr> = compute.axes.iter().map(|axis| Expr::Var(self.graph.axes[*axis].var)).collect();
        let copies = self.graph.ops[cache]
            .outputs
            .iter()
            .map(|tensor| Expr::Load { buffer: *tensor, index: index.clone() })
            .collect();
        self.graph.ops[original].kind =
            OpKind::Compute(Compute { axes: compute.axes.clone(), reduce_axes: Vec::new(), body: Body::Plain(copies) });
    }

    /// Lets stages that were computed inside loops of `target` that no longer exist be computed on their own again.
    fn forget_loops_of(&mut self, target: StageId) {
        let loops = self.stages[target].leaf_axes.clone();
        for stage in self.stages.iter_mut() {
            if let Attach::At(at, axis) = stage.attach
                && at == target
                && !loops.contains(&axis)
            {
                stage.attach = Attach::Root;
            }
        }
    }

    /// Lets an operation read `new` wherever it reads `old`.
    fn redirect_reads(&mut self, op: OpId, old: BufId, new: BufId) {
        match &mut self.graph.ops[op].kind {
            OpKind::Placeholder => {}
            OpKind::Extern(body) => {
                body.inputs.iter_mut().filter(|input| **input == old).for_each(|input| *input = new);
            }
            OpKind::Compute(compute) => {
                for expr in compute.body.exprs_mut() {
                    redirect(expr, old, new);
                }
            }
        }
    }
}

/// A function that turns an error of the graph into one of a primitive (`what`) of a stage.
fn graph_error(stage: &str, what: &'static str) -> impl FnOnce(super::error::GraphError) -> ScheduleError {
    let stage = stage.to_owned();
    move |error| ScheduleError::Argument { stage, what, reason: error.to_string() }
}

/// Lets all loads of `old` in an expression load `new`.
fn redirect(expr: &mut Expr, old: BufId, new: BufId) {
    if let Expr::Load { buffer, .. } = expr
        && *buffer == old
    {
        *buffer = new;
    }
    for child in expr.children_mut() {
        redirect(child, old, new);
    }
}
