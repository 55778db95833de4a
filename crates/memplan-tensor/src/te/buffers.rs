//! From tensors to buffers: the body of a function with parameters.
//!
//! A tensor is only a shape; a buffer is memory, with a layout, a scope (the memory it is in) and an alignment. The
//! function's arguments get buffers first. Every other tensor gets one where it is *realized*: by the statement that
//! says that it exists from here to the end of the block. A use elsewhere is an error. No tensor is left afterwards,
//! and each has a buffer of its own: that is the redundancy the storage rewrite removes.
//!
//! Tensors and buffers are both named by a `BufId`: a tensor by one of the input function's table, a buffer by one of
//! the result's table. A *slot* is a buffer of an extern body that stands for a tensor.

// `as_realize`, `as_bind` and `as_dim_align` read the marks of scheduled functions: that a tensor exists from here
// on, that a slot stands for a tensor, that a dimension is padded. They give `None` for any other statement.
use super::error::LowerError;
use super::marks::{self, as_bind, as_dim_align, as_realize};
use crate::DType;
use crate::ir::{Block, BufId, Expr, Function, Memory, Param, Stmt, StmtKind, StorageScope, Var, VarId};
use std::collections::{BTreeMap, BTreeSet};

/// A function over buffers.
#[derive(Clone, Debug)]
pub struct PrimFunc {
    /// The function; tensors that are not parameters are realized in it.
    pub function: Function,
    /// Parameters whose caller may pass any strides, each with one variable for each dimension; these variables are
    /// parameters, too.
    pub strides: BTreeMap<BufId, Vec<VarId>>,
}

/// Replaces every tensor of a body by a buffer. The tensors `args` become parameters; the sizes (`symbols`) and the
/// strides of arguments follow them. `outputs_of` has all outputs of an operation by its first one: a mark of a double
/// buffer names only the first.
pub fn to_buffers(
    tensors: &Function,
    args: &[BufId],
    symbols: &[VarId],
    outputs_of: &BTreeMap<BufId, Vec<BufId>>,
) -> Result<PrimFunc, LowerError> {
    let mut mapper = Mapper {
        tensors,
        outputs_of,
        function: Function { vars: tensors.vars.clone(), ..Function::empty(tensors.name.clone()) },
        buffers: BTreeMap::new(),
        usable: BTreeSet::new(),
        made: Vec::new(),
    };
    // If an extent of an argument is a size that is known only when the program runs, the strides of the argument
    // become parameters, too. They do not if an extern body is bound to any tensor of the function: such a body takes
    // its memory as compact, and strides would forbid that.
    let any_strides = !binds_anything(&tensors.body);
    let mut strides: BTreeMap<BufId, Vec<VarId>> = BTreeMap::new();
    for arg in args {
        // An argument that is given twice would be two parameters for one memory, which no later stage expects.
        if mapper.buffers.contains_key(arg) {
            let tensor = tensors.buffers[*arg].name.clone();
            return Err(LowerError::Argument { tensor, reason: "is an argument twice" });
        }
        let buffer = mapper.get_or_create(*arg);
        mapper.usable.insert(*arg);
        mapper.function.buffers[buffer].memory = Memory::Argument;
        mapper.function.params.push(Param::Buffer(buffer));
        // Only extents that are plain sizes (`n`) count; an expression such as `n + 1` brings no strides.
        let tensor = &tensors.buffers[*arg];
        if any_strides && tensor.shape.iter().any(|extent| matches!(extent, Expr::Var(_))) {
            let names = (0..tensor.shape.len()).map(|k| format!("{}.stride{k}", tensor.name));
            let vars = names.map(|name| mapper.function.vars.push(Var { name, dtype: DType::INT32 })).collect();
            strides.insert(buffer, vars);
        }
    }
    mapper.function.params.extend(symbols.iter().map(|symbol| Param::Var(*symbol)));
    mapper.function.params.extend(strides.values().flatten().map(|stride| Param::Var(*stride)));
    let body = mapper.block(&tensors.body)?;
    mapper.function.body = body;
    Ok(PrimFunc { function: mapper.function, strides })
}

/// Whether a slot of an extern body is bound to a tensor anywhere in a block.
fn binds_anything(block: &Block) -> bool {
    block.iter().any(|stmt| {
        matches!(&stmt.kind, StmtKind::Attr { key, .. } if key == marks::BIND)
            || stmt.blocks().into_iter().any(binds_anything)
    })
}

/// The walk over a function that replaces tensors by buffers.
struct Mapper<'a> {
    /// The function over tensors.
    tensors: &'a Function,
    outputs_of: &'a BTreeMap<BufId, Vec<BufId>>,
    /// The function over buffers, under construction.
    function: Function,
    /// The buffer of each tensor that was met so far.
    buffers: BTreeMap<BufId, BufId>,
    /// Tensors that exist at the current statement: arguments, and what is realized, bound or allocated around it.
    usable: BTreeSet<BufId>,
    /// The tensors that became usable in the blocks around the current statement, in order. At the end of a block those
    /// of the block are taken off again.
    made: Vec<BufId>,
}

impl Mapper<'_> {
    /// The buffer of a tensor, made on first use as a copy of the tensor's declaration.
    fn get_or_create(&mut self, tensor: BufId) -> BufId {
        if let Some(buffer) = self.buffers.get(&tensor) {
            return *buffer;
        }
        let buffer = self.function.buffers.push(self.tensors.buffers[tensor].clone());
        self.buffers.insert(tensor, buffer);
        buffer
    }

    /// The buffer of a tensor that is used here; an error if the tensor does not exist at this statement.
    fn existing(&self, tensor: BufId) -> Result<BufId, LowerError> {
        let found = self.buffers.get(&tensor).copied().filter(|_| self.usable.contains(&tensor));
        found.ok_or_else(|| LowerError::NotRealized { tensor: self.tensors.buffers[tensor].name.clone() })
    }

    /// Replaces the tensors of a block. Tensors that are realized in it can be used to its end, but not after it.
    fn block(&mut self, block: &Block) -> Result<Block, LowerError> {
        // How many tensors were usable when the block began.
        let before = self.made.len();
        let mapped = block.iter().map(|stmt| self.statement(stmt)).collect();
        for tensor in self.made.drain(before..) {
            self.usable.remove(&tensor);
        }
        mapped
    }

    /// Notes that a tensor can be used from here to the end of the block.
    fn make_usable(&mut self, tensor: BufId) {
        if self.usable.insert(tensor) {
            self.made.push(tensor);
        }
    }

    /// Replaces the tensors of a statement by their buffers.
    fn statement(&mut self, stmt: &Stmt) -> Result<Stmt, LowerError> {
        let mut mapped = stmt.clone();
        match &mut mapped.kind {
            // These marks stand for what happens to memory; they are replaced as a whole and never reach the general
            // case below.
            StmtKind::Evaluate(value) => {
                if let Some(realize) = as_realize(value) {
                    return self.realize(realize.tensor, realize.scope, &realize.ranges());
                }
                if let Some((tensor, dimension, factor, offset)) = as_dim_align(value) {
                    return Ok(marks::dim_align(self.get_or_create(tensor), dimension, factor, offset));
                }
            }
            StmtKind::Attr { node, key, value, body, .. } => {
                if let Some((slot, tensor, ..)) = as_bind(node.as_ref(), key, value) {
                    return self.bind(slot, tensor, stmt);
                }
                if let (Some(Expr::Data(tensor)), marks::DOUBLE_BUFFER) = (node.as_ref(), key.as_str()) {
                    return self.double_buffer(*tensor, body);
                }
            }
            StmtKind::Alloc(buffer) => {
                // Inside of extern bodies buffers may be allocated or declared as usual. They become usable from here
                // on.
                self.make_usable(*buffer);
                *buffer = self.get_or_create(*buffer);
            }
            StmtKind::Declare(buffer) => {
                self.make_usable(*buffer);
                let memory = self.tensors.buffers[*buffer].memory.clone();
                *buffer = self.get_or_create(*buffer);
                if let Memory::View { of, elem_offset } = memory {
                    let of = self.existing(of)?;
                    self.function.buffers[*buffer].memory = Memory::View { of, elem_offset };
                }
            }
            StmtKind::Store { buffer, .. } => *buffer = self.existing(*buffer)?,
            _ => {}
        }
        // The general case: all other expressions and the blocks inside.
        for expr in mapped.exprs_mut() {
            self.expr(expr)?;
        }
        for inner in mapped.blocks_mut() {
            *inner = self.block(inner)?;
        }
        Ok(mapped)
    }

    /// Replaces the tensors of an expression by their buffers.
    fn expr(&self, expr: &mut Expr) -> Result<(), LowerError> {
        if let Expr::Load { buffer, .. } | Expr::Data(buffer) = expr {
            *buffer = self.existing(*buffer)?;
        }
        expr.children_mut().into_iter().try_for_each(|child| self.expr(child))
    }

    /// The realization of a tensor's buffer, which exists from this statement to the end of its block: the elements
    /// `bounds`, in the memory `scope` (empty stands for global here). An argument keeps the memory it has.
    fn realize(&mut self, tensor: BufId, scope: &str, bounds: &[super::graph::Range]) -> Result<Stmt, LowerError> {
        let buffer = self.get_or_create(tensor);
        self.make_usable(tensor);
        if self.function.buffers[buffer].memory != Memory::Argument {
            let parsed = StorageScope::parse(scope).ok_or_else(|| LowerError::UnknownScope {
                tensor: self.tensors.buffers[tensor].name.clone(),
                scope: scope.to_owned(),
            })?;
            self.function.buffers[buffer].scope = parsed;
        }
        Ok(marks::realize(buffer, scope, bounds))
    }

    /// Replaces a region in which a slot of an extern body stands for a tensor: both become buffers, and the slot can
    /// be used inside of the region only. `stmt` is the region.
    fn bind(&mut self, slot: BufId, tensor: BufId, stmt: &Stmt) -> Result<Stmt, LowerError> {
        let (new_slot, new_tensor) = (self.get_or_create(slot), self.existing(tensor)?);
        let mut mapped = stmt.clone();
        // Always so, because the caller has read the statement as a bind region. Its first argument is the tensor.
        if let StmtKind::Attr { node, value: Expr::Call { args, .. }, body, .. } = &mut mapped.kind {
            *node = Some(Expr::Data(new_slot));
            if let Some(first) = args.first_mut() {
                *first = Expr::Data(new_tensor);
            }
            self.usable.insert(slot);
            *body = self.block(body)?;
            self.usable.remove(&slot);
        }
        Ok(mapped)
    }

    /// Replaces a double-buffered region, which names the first output of an operation, by a region for each output,
    /// the first one outermost.
    fn double_buffer(&mut self, tensor: BufId, body: &Block) -> Result<Stmt, LowerError> {
        let outputs = self.outputs_of.get(&tensor).cloned().unwrap_or_else(|| vec![tensor]);
        let buffers: Vec<BufId> = outputs.into_iter().map(|output| self.get_or_create(output)).collect();
        let mut block = self.block(body)?;
        for buffer in buffers.iter().skip(1).rev() {
            block = vec![marks::double_buffer(*buffer, block)].into();
        }
        let first = buffers.first().copied().unwrap_or(tensor);
        Ok(marks::double_buffer(first, block))
    }
}
