//! What a graph means, without any schedule: every operation computed completely, one after the other.
//!
//! All later stages are compared with this function by running both, so it uses none of them: one loop nest for each
//! operation, over its declared shape.

use super::arith::substitute;
use super::graph::{Body, Compute, Extern, Graph, IterId, OpId, OpKind};
use super::graph_views::{ReadGraph, post_dfs_order};
use super::marks;
use crate::ir::{Block, BufId, Expr, ForKind, Function, Memory, Param, Stmt, StmtKind, Var};

/// A function with parameters `args` (and the sizes) that computes the outputs of a graph. Tensors that are no
/// parameters are allocated before the operation that makes them.
pub fn reference_function(graph: &Graph, outputs: &[OpId], args: &[BufId]) -> Function {
    let mut function = graph.tables.clone();
    make_arguments(&mut function, graph, args);
    let mut body = Vec::new();
    // Producers come before consumers. Each operation gets memory for its outputs, unless they are arguments, and one
    // loop nest.
    for op in post_dfs_order(graph, outputs, &ReadGraph::new(graph, outputs)) {
        let operation = &graph.ops[op];
        if operation.kind != OpKind::Placeholder {
            let own = operation.outputs.iter().filter(|tensor| !args.contains(tensor));
            body.extend(own.map(|tensor| Stmt::new(StmtKind::Alloc(*tensor))));
        }
        match &operation.kind {
            OpKind::Placeholder => {}
            OpKind::Compute(compute) => body.extend(compute_all(graph, &mut function, compute, &operation.outputs)),
            OpKind::Extern(inside) => body.push(extern_all(graph, inside, &operation.outputs)),
        }
    }
    function.body = body.into();
    function
}

/// Declares tensors as parameters; sizes follow them.
pub(super) fn make_arguments(function: &mut Function, graph: &Graph, args: &[BufId]) {
    for arg in args {
        function.buffers[*arg].memory = Memory::Argument;
    }
    function.params = args
        .iter()
        .map(|arg| Param::Buffer(*arg))
        .chain(graph.symbols.iter().map(|symbol| Param::Var(*symbol)))
        .collect();
}

/// Loops over axes around a body, the first axis outermost.
fn loops(graph: &Graph, axes: &[IterId], body: Block) -> Block {
    axes.iter().rev().fold(body, |body, axis| {
        let axis = &graph.axes[*axis];
        let (min, extent) = match &axis.range {
            Some(range) => (range.min.clone(), range.extent.clone()),
            None => (Expr::int(0), Expr::int(1)),
        };
        let kind = ForKind::Serial;
        vec![Stmt::new(StmtKind::For { var: axis.var, min, extent, kind, in_grid: false, body })].into()
    })
}

/// Stores a value into each output, at the same index.
fn stores(outputs: &[BufId], index: &[Expr], values: impl IntoIterator<Item = Expr>) -> Block {
    let pairs = outputs.iter().zip(values);
    let stores = pairs.map(|(&buffer, value)| StmtKind::Store { buffer, index: index.to_vec(), value });
    stores.map(Stmt::new).collect()
}

/// One loop nest that computes all elements of an operation's outputs.
fn compute_all(graph: &Graph, function: &mut Function, compute: &Compute, outputs: &[BufId]) -> Block {
    let index: Vec<Expr> = compute.axes.iter().map(|axis| Expr::Var(graph.axes[*axis].var)).collect();
    let element = match &compute.body {
        Body::Plain(values) => stores(outputs, &index, values.iter().cloned()),
        Body::Reduce { combiner, sources, condition } => {
            let so_far: Vec<Expr> =
                outputs.iter().map(|tensor| Expr::Load { buffer: *tensor, index: index.clone() }).collect();
            // All new values are computed before any is stored: one output's new value may depend on another's old one.
            let (mut update, mut combined) = (Vec::new(), Vec::new());
            for value in combiner.apply(&so_far, sources) {
                let dtype = value.dtype(function);
                let var = function.vars.push(Var { name: "combined".to_owned(), dtype });
                update.push(Stmt::new(StmtKind::Let { var, value }));
                combined.push(Expr::Var(var));
            }
            update.extend(stores(outputs, &index, combined));
            if let Some(condition) = condition {
                // The empty substitution is a copy.
                let condition = substitute(condition, &Default::default());
                let otherwise = Vec::new();
                let kind = StmtKind::If {
                    condition,
                    then: update.into(),
                    otherwise: otherwise.into(),
                    else_trivia: Default::default(),
                };
                update = vec![Stmt::new(kind)];
            }
            // An element starts with the identity, and the loops over the reduce axes update it.
            let mut element = stores(outputs, &index, combiner.identity.iter().cloned());
            element.extend(loops(graph, &compute.reduce_axes, update.into()));
            element
        }
    };
    loops(graph, &compute.axes, element)
}

/// The body of an extern operation inside a region for each of its tensors, in which the body's slot stands for the
/// tensor.
fn extern_all(graph: &Graph, inside: &Extern, outputs: &[BufId]) -> Stmt {
    let bound = inside.inputs.iter().zip(&inside.input_slots).chain(outputs.iter().zip(&inside.output_slots));
    bound.fold(marks::extern_region(inside.body.clone()), |stmt, (tensor, slot)| {
        marks::bind(slot, *tensor, &graph.tables.buffers[*tensor].shape, vec![stmt].into())
    })
}
