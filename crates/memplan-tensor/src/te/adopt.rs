//! Bodies of extern operations that are given as TVMScript.
//!
//! The script is a function of its own, with tables of variables and buffers of its own. An extern operation has a
//! *slot* for each of its inputs and outputs: a buffer of the graph's tables that its body uses in place of the
//! tensor. The script's parameters become these slots, in order, and must have the extents of the tensors; its sizes
//! are the graph's symbols of the same name; every other variable or buffer gets a new place in the graph's tables.
//!
//! ```text
//! def f(x: T.Buffer((n,)), y: T.Buffer((n,))):           slots A, B of the operation; symbol n
//!     for i in range(n):  y[i] = x[i] + 1         becomes         for i' in range(n):  B[i'] = A[i'] + 1
//! ```

use super::arith::prove_equal;
use crate::ir::{Block, BufId, Expr, Function, Memory, Param, StmtKind, VarId};
use crate::script::print_expr;
use memplan_core::{IndexVec, Span};
use std::collections::{BTreeMap, BTreeSet};

/// A copy of a function's body that uses the ids of `tables`, with the function's buffer parameters replaced by `slots`
/// (inputs, then outputs). Its other variables and buffers are added to `tables`. The error is a reason, as a sentence
/// about the operation: its parameters do not fit.
pub(super) fn adopt_script(
    tables: &mut Function,
    function: &Function,
    slots: &[BufId],
    symbols: &BTreeMap<String, VarId>,
) -> Result<Block, String> {
    // By id of the script: the id in `tables`, once it is known.
    let mut buffers: IndexVec<BufId, Option<BufId>> = IndexVec::filled(None, function.buffers.len());
    let mut vars: IndexVec<VarId, Option<VarId>> = IndexVec::filled(None, function.vars.len());
    // The script's buffer parameters, in order. Scalar parameters are matched by name below.
    let params: Vec<BufId> = function
        .params
        .iter()
        .filter_map(|param| match param {
            Param::Buffer(buffer) => Some(*buffer),
            Param::Var(_) => None,
        })
        .collect();
    if params.len() != slots.len() {
        return Err(format!("its script has {} buffers where {} are given", params.len(), slots.len()));
    }
    // Types and ranks must agree, because the body's accesses are copied as they are.
    for (param, slot) in params.iter().zip(slots) {
        let (given, wanted) = (&tables.buffers[*slot], &function.buffers[*param]);
        if given.dtype != wanted.dtype || given.shape.len() != wanted.shape.len() {
            return Err(format!(
                "its script takes `{}` as {} with {} dimensions, it is given {} with {}",
                wanted.name,
                wanted.dtype,
                wanted.shape.len(),
                given.dtype,
                given.shape.len()
            ));
        }
        buffers[*param] = Some(*slot);
    }
    // A variable that has the name of a size of the graph becomes that size, unless a statement of the script gives the
    // variable its value: a loop may call its variable as it likes. A scalar parameter of the script must have the name
    // of a size; every other variable is new.
    let own = bound_variables(&function.body);
    for (id, var) in function.vars.iter_enumerated() {
        let known = symbols.get(&var.name).copied().filter(|_| !own.contains(&id));
        if known.is_none() && function.params.contains(&Param::Var(id)) {
            return Err(format!("its script takes `{}`, which is no size of the graph", var.name));
        }
        vars[id] = Some(known.unwrap_or_else(|| tables.vars.push(var.clone())));
    }
    for (id, buffer) in function.buffers.iter_enumerated() {
        if buffers[id].is_none() {
            buffers[id] = Some(tables.buffers.push(buffer.clone()));
        }
    }
    // Shapes of local buffers mention the script's own variables, so they are renamed as well as the body.
    let mut rename = Rename { buffers, vars };
    for (id, _) in function.buffers.iter_enumerated() {
        if !params.contains(&id) {
            rename.declaration(tables, id);
        }
    }
    // The body computes addresses with the extents of the script's parameters, so these must be the tensors' extents.
    for (param, slot) in params.iter().zip(slots) {
        let (given, wanted) = (&tables.buffers[*slot], &function.buffers[*param]);
        for (given_extent, wanted_extent) in given.shape.iter().zip(&wanted.shape) {
            let mut wanted_extent = wanted_extent.clone();
            rename.expr(&mut wanted_extent);
            if !prove_equal(given_extent, &wanted_extent) {
                let (given, wanted) = (print_expr(given_extent, tables), print_expr(&wanted_extent, tables));
                let name = &function.buffers[*param].name;
                return Err(format!(
                    "its script takes `{name}` with an extent of {wanted} where the tensor has {given}"
                ));
            }
        }
    }
    let mut body = function.body.clone();
    rename.block(&mut body);
    Ok(body)
}

/// The variables that the statements of a block give a value: those of loops, launches and `let`s.
fn bound_variables(block: &Block) -> BTreeSet<VarId> {
    let mut bound = BTreeSet::new();
    for stmt in block {
        stmt.walk(&mut |part| {
            if let StmtKind::For { var, .. } | StmtKind::Let { var, .. } | StmtKind::Thread { var, .. } = &part.kind {
                bound.insert(*var);
            }
        });
    }
    bound
}

/// For each id of the script's function the id in the graph's tables.
struct Rename {
    buffers: IndexVec<BufId, Option<BufId>>,
    vars: IndexVec<VarId, Option<VarId>>,
}

impl Rename {
    fn buffer(&self, id: &mut BufId) {
        *id = self.buffers.get(*id).copied().flatten().unwrap_or(*id);
    }

    fn var(&self, id: &mut VarId) {
        *id = self.vars.get(*id).copied().flatten().unwrap_or(*id);
    }

    /// Gives the declaration of a buffer the ids of the graph's tables. `id` is the buffer's id in the script; its
    /// declaration was copied to `tables` as it stood.
    fn declaration(&mut self, tables: &mut Function, id: BufId) {
        let Some(new) = self.buffers[id] else { return };
        let mut declared = tables.buffers[new].clone();
        declared.shape.iter_mut().for_each(|extent| self.expr(extent));
        declared.strides.iter_mut().flatten().for_each(|stride| self.expr(stride));
        if let Memory::View { of, elem_offset } = &mut declared.memory {
            self.buffer(of);
            elem_offset.iter_mut().for_each(|offset| self.expr(offset));
        }
        tables.buffers[new] = declared;
    }

    /// Gives an expression the ids of the graph's tables.
    fn expr(&self, expr: &mut Expr) {
        match expr {
            Expr::Var(var) => self.var(var),
            Expr::Load { buffer, .. } | Expr::Data(buffer) => self.buffer(buffer),
            _ => {}
        }
        for child in expr.children_mut() {
            self.expr(child);
        }
    }

    /// Gives the buffers and variables of a block the ids of the graph's tables. Where its statements stood in the
    /// script's text is forgotten: the text is not that of the function they end up in.
    fn block(&self, block: &mut Block) {
        for stmt in block {
            for expr in stmt.exprs_mut() {
                self.expr(expr);
            }
            match &mut stmt.kind {
                StmtKind::Alloc(buffer) | StmtKind::Declare(buffer) | StmtKind::Store { buffer, .. } => {
                    self.buffer(buffer);
                }
                StmtKind::For { var, .. } | StmtKind::Let { var, .. } | StmtKind::Thread { var, .. } => self.var(var),
                _ => {}
            }
            stmt.trivia = Default::default();
            stmt.span = Span::default();
            for inner in stmt.blocks_mut() {
                self.block(inner);
            }
        }
    }
}
