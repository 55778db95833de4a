//! StorageFlatten: every access in one dimension, every realization an allocation.
//!
//! The input is a function over buffers ([`PrimFunc`]). It has *realizations*, statements that say from where on a
//! buffer exists and which elements of it are needed, and *marks* about padding, double buffers and extern bodies (see
//! `marks.rs`). The output has plain allocations of flat buffers; of the marks only those of double buffers and of
//! extern bodies are left.
//!
//! A buffer realized over `[i.outer*8, +10)` becomes an allocation of 10 elements, and its subscripts become distances
//! from the first: `Y[i + i.outer*8]` is `Y[i]`. Several dimensions are laid out row by row, padded where that was
//! asked for:
//!
//! ```text
//! B (8, 16), dimension 0 aligned to 2 with offset 1:   strides 17, 1   136 elements   B[i, j] is B[i*17 + j]
//! ```
//!
//! Inside the body of an extern operation a *slot* (a buffer of the body) is bound to a tensor: accesses to the slot
//! become accesses to the tensor's buffer, with the same memory and layout. So a padded tensor cannot be bound to a
//! body that takes it as compact.

// `simplify_in` brings an expression into its canonical form, knowing the ranges of the loops around it (`Env`). A
// `Range` is a first element and an extent. `as_realize`, `as_dim_align` and `as_bind` read the marks named above;
// they give `None` for any other statement.
use super::arith::{Env, Interval, add, floor_mod, mul, prove_equal, simplify, simplify_in, sub};
use super::buffers::PrimFunc;
use super::error::LowerError;
use super::graph::Range;
use super::marks::{self, as_bind, as_dim_align, as_realize};
use super::schedule_ops::substitute_block;
use crate::ir::{Block, BufId, Expr, Function, Memory, Stmt, StmtKind, StorageScope, thread_rank};
use crate::script::print_expr;
use crate::{DType, Kind};
use std::collections::{BTreeMap, BTreeSet};

/// What is known about a tagged memory: a storage scope of TVM with a tag after its prefix.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MemoryInfo {
    /// The scope with its tag: `local.L0A`.
    pub scope: String,
    /// Bits of its widest access. Buffers in it are aligned to as many elements as one such access holds.
    pub max_simd_bits: u64,
    /// How many bits it holds; a larger buffer is an error.
    pub max_bits: u64,
}

/// How to flatten.
#[derive(Clone, Debug, Default)]
pub struct FlattenOptions {
    /// Fail where the original does: at a double buffer without an explicit scope.
    pub compat: bool,
    /// Tagged memories. A memory that is not listed has no limit and the usual alignment.
    pub memories: Vec<MemoryInfo>,
    /// Bytes to which an allocation is aligned, unless the allocation is smaller; `None` is [`DEFAULT_ALIGNMENT`].
    pub alignment: Option<u64>,
}

/// Bytes to which an allocation is aligned, unless the allocation is smaller.
pub const DEFAULT_ALIGNMENT: u64 = 64;

/// A flat buffer and how it came about.
#[derive(Clone, Debug)]
pub struct FlatBuffer {
    /// The buffer.
    pub buffer: BufId,
    /// Bytes to which it is aligned. In a memory that [`FlattenOptions::memories`] lists, the number counts elements.
    pub alignment: u64,
    /// By dimension: how many elements lie between one place and the next. `None` if every access has subscript 0
    /// there.
    pub strides: Vec<Option<Expr>>,
    /// The different flat subscripts it is accessed with, in order of first use.
    pub subscripts: Vec<Expr>,
}

/// A function with flat buffers only.
#[derive(Clone, Debug)]
pub struct Flat {
    /// The function.
    pub function: Function,
    /// The buffers that are accessed, in order of first access.
    pub buffers: Vec<FlatBuffer>,
    /// Alignments of all buffers, in the units of [`FlatBuffer::alignment`].
    pub alignments: BTreeMap<BufId, u64>,
}

/// Flattens a function. An error says which buffer cannot be flattened: it is used where it does not exist, bound to an
/// extern body that takes another layout, or too large for its memory.
pub fn storage_flatten(input: &PrimFunc, options: &FlattenOptions) -> Result<Flat, LowerError> {
    let mut flattener = Flattener {
        options,
        input,
        function: input.function.clone(),
        entries: BTreeMap::new(),
        aligned: BTreeMap::new(),
        bound: BTreeMap::new(),
        env: Env::new(),
        threads: Vec::new(),
        accessed: Vec::new(),
        implicit: BTreeSet::new(),
    };
    flattener.arguments();
    let body = flattener.block(&input.function.body)?;
    flattener.function.body = body;
    Ok(flattener.finish())
}

/// How a buffer is laid out; `shape`, `mins` and `strides` have a member for each dimension.
#[derive(Clone)]
struct Entry {
    /// How many elements exist.
    shape: Vec<Expr>,
    /// The subscript of the first element that exists; flat subscripts count from it.
    mins: Vec<Expr>,
    /// How many elements lie between one place and the next.
    strides: Vec<Expr>,
    /// Whether a stride may differ from the product of the extents of all later dimensions.
    padded: bool,
    /// As in [`FlatBuffer::alignment`].
    alignment: u64,
    /// Whether the caller of the function provides the memory.
    external: bool,
    /// By dimension: whether any access has a subscript other than 0 in it. If none has, the stride is never used.
    varies: Vec<bool>,
    /// As in [`FlatBuffer::subscripts`].
    subscripts: Vec<Expr>,
}

/// The state of a walk over the statements of a function, from the first to the last.
struct Flattener<'a> {
    options: &'a FlattenOptions,
    /// The function before; its buffers keep their shapes and types.
    input: &'a PrimFunc,
    /// The function after; its buffers are changed as their declarations are met.
    function: Function,
    /// The layouts of the buffers that were met so far.
    entries: BTreeMap<BufId, Entry>,
    /// Padding that marks ask for, until the buffer is allocated: dimension, factor, offset. The stride of the
    /// dimension has to be `offset` modulo `factor`.
    aligned: BTreeMap<BufId, Vec<(usize, i64, i64)>>,
    /// For each slot of the extern bodies around the current statement the buffer it stands for.
    bound: BTreeMap<BufId, BufId>,
    /// The ranges of the loops and launches around the current statement.
    env: Env,
    /// The tags of the launches of threads around the current statement, outermost first.
    threads: Vec<String>,
    /// Buffers that are accessed, in order of first access.
    accessed: Vec<BufId>,
    /// Buffers realized without an explicit scope.
    implicit: BTreeSet<BufId>,
}

/// The strides of a buffer without padding, laid out row by row: each is the product of the extents of all later
/// dimensions.
fn row_major(shape: &[Expr]) -> Vec<Expr> {
    let mut strides = vec![Expr::int(1); shape.len()];
    for dimension in (1..shape.len()).rev() {
        strides[dimension - 1] = simplify(&mul(strides[dimension].clone(), shape[dimension].clone()));
    }
    strides
}

/// How many elements a shape has: 1 without dimensions.
fn product(shape: &[Expr]) -> Expr {
    shape.iter().cloned().reduce(mul).map_or_else(|| Expr::int(1), |product| simplify(&product))
}

/// The type an element has in memory: truth values are stored as bytes, everything else as it is.
fn stored_type(dtype: DType) -> DType {
    if dtype.kind == Kind::Bool { DType::scalar(Kind::Int, 8).with_lanes(dtype.lanes) } else { dtype }
}

impl Flattener<'_> {
    /// Enters the layouts of the function's arguments in the table. An argument whose strides are variables may have
    /// gaps between its rows, so its flat length is its first stride times its first extent; any other one is dense.
    fn arguments(&mut self) {
        for (id, buffer) in self.input.function.buffers.iter_enumerated() {
            if buffer.memory != Memory::Argument {
                continue;
            }
            let strides = match self.input.strides.get(&id) {
                Some(vars) => vars.iter().map(|var| Expr::Var(*var)).collect(),
                None => row_major(&buffer.shape),
            };
            // The caller chooses the strides, so rows may have gaps.
            let padded = self.input.strides.contains_key(&id);
            let flat = match (padded, strides.first(), buffer.shape.first()) {
                (true, Some(stride), Some(extent)) => simplify(&mul(stride.clone(), extent.clone())),
                _ => product(&buffer.shape),
            };
            self.enter(id, buffer.shape.to_vec(), None, strides, padded, DEFAULT_ALIGNMENT, true);
            self.function.buffers[id].shape = vec![flat].into();
            self.function.buffers[id].dtype = stored_type(buffer.dtype);
        }
    }

    /// Enters the layout of a buffer in the table; `mins` of `None` are zeros. If the buffer is entered again (it is
    /// realized in a second place), the accesses that were seen so far are kept.
    #[allow(clippy::too_many_arguments)] // the fields of an entry
    fn enter(
        &mut self,
        id: BufId,
        shape: Vec<Expr>,
        mins: Option<Vec<Expr>>,
        strides: Vec<Expr>,
        padded: bool,
        alignment: u64,
        external: bool,
    ) {
        let rank = shape.len();
        let mins = mins.unwrap_or_else(|| vec![Expr::int(0); rank]);
        // What is known about accesses so far.
        let (varies, subscripts) = self
            .entries
            .remove(&id)
            .map_or_else(|| (vec![false; rank], Vec::new()), |old| (old.varies, old.subscripts));
        self.entries.insert(id, Entry { shape, mins, strides, padded, alignment, external, varies, subscripts });
    }

    /// The result, after all statements have been flattened and every access has been seen.
    fn finish(self) -> Flat {
        // What is known about a buffer after all accesses have been seen.
        let describe = |id: &BufId| {
            let entry = self.entries.get(id)?;
            let strides = entry.strides.iter().zip(&entry.varies);
            Some(FlatBuffer {
                buffer: *id,
                alignment: entry.alignment,
                strides: strides.map(|(stride, varies)| varies.then(|| stride.clone())).collect(),
                subscripts: entry.subscripts.clone(),
            })
        };
        let buffers = self.accessed.iter().filter_map(describe).collect();
        let alignments = self.entries.iter().map(|(id, entry)| (*id, entry.alignment)).collect();
        Flat { function: self.function, buffers, alignments }
    }

    /// Flattens all statements of a block.
    fn block(&mut self, block: &Block) -> Result<Block, LowerError> {
        let mut flat = Vec::with_capacity(block.len());
        for stmt in block {
            self.statement(stmt, &mut flat)?;
        }
        Ok(flat.into())
    }

    /// Flattens one statement and appends what becomes of it to `out`: nothing, one statement or several.
    fn statement(&mut self, stmt: &Stmt, out: &mut Vec<Stmt>) -> Result<(), LowerError> {
        // Calls and attributes that say something about memory: a realization becomes an allocation, the padding of a
        // dimension is only noted, a region in which a slot is bound becomes its body, and a mark of a double buffer is
        // written again around its body.
        match &stmt.kind {
            StmtKind::Evaluate(value) => {
                if let Some(realize) = as_realize(value) {
                    return self.realize(realize.tensor, realize.scope, realize.ranges(), out);
                }
                if let Some((buffer, dimension, factor, offset)) = as_dim_align(value) {
                    self.aligned.entry(buffer).or_default().push((dimension, factor, offset));
                    return Ok(());
                }
            }
            StmtKind::Attr { node, key, value, body, .. } => {
                if let Some((slot, tensor, offset, bounds)) = as_bind(node.as_ref(), key, value) {
                    return self.bind(slot, tensor, offset, bounds, body, out);
                }
                if let (Some(Expr::Data(buffer)), marks::DOUBLE_BUFFER) = (node.as_ref(), key.as_str()) {
                    return self.double_buffer(*buffer, body, out);
                }
            }
            // An allocation inside of an extern body is compact already. It is entered in the table like a realization
            // that starts at zero.
            StmtKind::Alloc(buffer) => {
                let shape: Vec<Expr> = self.function.buffers[*buffer].shape.iter().map(|e| self.simple(e)).collect();
                // All elements from 0 on.
                let ranges = shape.into_iter().map(Range::up_to).collect();
                let scope = self.function.buffers[*buffer].scope.clone();
                self.allocate(*buffer, scope, ranges)?;
                out.push(stmt.clone());
                return Ok(());
            }
            StmtKind::Declare(buffer) => {
                self.declare(*buffer);
                out.push(stmt.clone());
                return Ok(());
            }
            _ => {}
        }
        let mut flat = stmt.clone();
        self.rewrite(&mut flat)?;
        out.push(flat);
        Ok(())
    }

    fn simple(&self, expr: &Expr) -> Expr {
        simplify_in(expr, &self.env)
    }

    /// Flattens the accesses of a statement that stays, and the blocks inside of it. An error as [`storage_flatten`]
    /// says.
    fn rewrite(&mut self, stmt: &mut Stmt) -> Result<(), LowerError> {
        // The statement no longer says what its source text says, so it must be printed anew.
        stmt.trivia = Default::default();
        match &mut stmt.kind {
            StmtKind::Store { buffer, index, value } => {
                self.expr(value)?;
                index.iter_mut().try_for_each(|subscript| self.expr(subscript))?;
                let target = self.resolve(*buffer);
                // Truth values are stored as bytes, so the value is converted where it is stored.
                if self.input.function.buffers[*buffer].dtype.kind == Kind::Bool {
                    let dtype = stored_type(self.input.function.buffers[*buffer].dtype);
                    *value = Expr::Cast { dtype, value: Box::new(value.clone()) };
                }
                *index = vec![self.access(*buffer, index)?];
                *buffer = target;
            }
            StmtKind::For { var, min, extent, body, .. } => {
                self.bound_of_loop(min)?;
                self.bound_of_loop(extent)?;
                // The ranges of the loops around an access are known while its subscripts are simplified. `restore`
                // brings back an outer loop's range of the same variable.
                let outer = self.env.insert(*var, range_of(min, extent));
                *body = self.block(body)?;
                restore(&mut self.env, *var, outer);
            }
            StmtKind::Thread { var, tag, extent, body, .. } => {
                self.bound_of_loop(extent)?;
                let outer = self.env.insert(*var, range_of(&Expr::int(0), extent));
                self.threads.push(tag.clone());
                *body = self.block(body)?;
                self.threads.pop();
                restore(&mut self.env, *var, outer);
            }
            StmtKind::If { condition, then, otherwise, .. } => {
                self.expr(condition)?;
                self.simplify_unless_float(condition);
                *then = self.block(then)?;
                *otherwise = self.block(otherwise)?;
            }
            // All other statements: only their accesses change.
            _ => {
                for expr in stmt.exprs_mut() {
                    self.expr(expr)?;
                }
                for inner in stmt.blocks_mut() {
                    *inner = self.block(inner)?;
                }
            }
        }
        Ok(())
    }

    /// Flattens the accesses in a bound of a loop, or in the extent of a launch, and simplifies it. Only loops of extern
    /// bodies have accesses there.
    fn bound_of_loop(&mut self, bound: &mut Expr) -> Result<(), LowerError> {
        self.expr(bound)?;
        self.simplify_unless_float(bound);
        Ok(())
    }

    /// Simplifies a value. A value that loads from memory may compute with floats, and rearranging a sum of floats
    /// changes it. So only the subscripts of its loads are simplified.
    fn simplify_unless_float(&self, value: &mut Expr) {
        if has_load(value) {
            super::arith::simplify_subscripts(value, &self.env);
        } else {
            *value = self.simple(value);
        }
    }

    /// The buffer that a slot of an extern body stands for; any other buffer stands for itself.
    fn resolve(&self, buffer: BufId) -> BufId {
        self.bound.get(&buffer).copied().unwrap_or(buffer)
    }

    /// Flattens the accesses in an expression. Truth values are stored as bytes, so a load of one is converted.
    fn expr(&mut self, expr: &mut Expr) -> Result<(), LowerError> {
        expr.children_mut().into_iter().try_for_each(|child| self.expr(child))?;
        match expr {
            Expr::Load { buffer, index } => {
                let dtype = self.input.function.buffers[*buffer].dtype;
                let flat = self.access(*buffer, index)?;
                let load = Expr::Load { buffer: self.resolve(*buffer), index: vec![flat] };
                let is_truth = dtype.kind == Kind::Bool;
                *expr = if is_truth { Expr::Cast { dtype, value: Box::new(load) } } else { load };
            }
            Expr::Data(buffer) => *buffer = self.resolve(*buffer),
            _ => {}
        }
        Ok(())
    }

    /// The flat subscript of an access to a buffer with these subscripts. It is also noted among the buffer's accesses.
    /// An error if the buffer has no layout: it is used where it does not exist.
    fn access(&mut self, buffer: BufId, index: &[Expr]) -> Result<Expr, LowerError> {
        let buffer = self.resolve(buffer);
        let Some(entry) = self.entries.get(&buffer).cloned() else {
            let tensor = self.function.buffers[buffer].name.clone();
            return Err(LowerError::NotRealized { tensor });
        };
        // Subscripts count from the first element that exists, which is where the realized region starts.
        let shifted: Vec<Expr> =
            index.iter().zip(&entry.mins).map(|(at, min)| self.simple(&sub(at.clone(), min.clone()))).collect();
        // With padding, strides differ from the products of extents, so each subscript is multiplied by its stride.
        // Without padding, `(i * extent + j) * extent + k` (Horner's scheme) is shorter and simplifies better.
        let flat = if entry.padded {
            let terms = shifted.iter().zip(&entry.strides).map(|(at, stride)| mul(at.clone(), stride.clone()));
            terms.reduce(add)
        } else {
            let mut steps = shifted.iter().zip(&entry.shape);
            let first = steps.next().map(|(at, _)| at.clone());
            first.map(|first| steps.fold(first, |sum, (at, extent)| add(mul(sum, extent.clone()), at.clone())))
        };
        // A buffer without dimensions has one element.
        let flat = flat.map_or_else(|| Expr::int(0), |flat| self.simple(&flat));
        // A buffer that has noted subscripts is in the list of accessed buffers already, so the list is only searched
        // for a buffer without any.
        let first = entry.subscripts.is_empty() && !self.accessed.contains(&buffer);
        if let Some(entry) = self.entries.get_mut(&buffer) {
            // A dimension whose subscript is always zero needs no stride, and the description of the flat buffer leaves
            // it out.
            for (varies, at) in entry.varies.iter_mut().zip(&shifted) {
                *varies |= at.as_int() != Some(0);
            }
            if !entry.subscripts.contains(&flat) {
                entry.subscripts.push(flat.clone());
            }
        }
        if first {
            self.accessed.push(buffer);
        }
        Ok(flat)
    }

    /// Replaces a realization by an allocation of the elements that are needed. For a parameter nothing is allocated:
    /// the caller provides its memory. An empty `scope` leaves the choice of the memory open.
    fn realize(
        &mut self,
        buffer: BufId,
        scope: &str,
        bounds: Vec<Range>,
        out: &mut Vec<Stmt>,
    ) -> Result<(), LowerError> {
        if self.entries.get(&buffer).is_some_and(|entry| entry.external) {
            return Ok(());
        }
        let bounds = bounds
            .into_iter()
            .map(|range| Range { min: self.simple(&range.min), extent: self.simple(&range.extent) })
            .collect();
        // No memory was asked for: the launches around the realization decide.
        let scope = if scope.is_empty() {
            self.implicit.insert(buffer);
            self.default_scope()
        } else {
            self.function.buffers[buffer].scope.clone()
        };
        self.allocate(buffer, scope, bounds)?;
        out.push(Stmt::new(StmtKind::Alloc(buffer)));
        Ok(())
    }

    /// The memory of a buffer that asks for none, chosen as TVM does by the innermost launch around it: inside a
    /// launch of threads every thread has its own (`local`), inside a launch of blocks every block (`shared`), else
    /// `global`.
    fn default_scope(&self) -> StorageScope {
        match self.threads.last().and_then(|tag| thread_rank(tag)) {
            None => StorageScope::global(),
            // `thread_rank` is 0 for an axis of blocks and 1 for an axis of threads.
            Some(0) => StorageScope::parse("shared").unwrap_or_else(StorageScope::global),
            Some(_) => StorageScope::local(),
        }
    }

    /// Lays out a buffer in one dimension, row after row, with padding between rows if a mark asked for it, and changes
    /// its declaration to that. `bounds` are the elements that exist, by dimension.
    fn allocate(&mut self, buffer: BufId, scope: StorageScope, bounds: Vec<Range>) -> Result<(), LowerError> {
        let (mins, shape): (Vec<Expr>, Vec<Expr>) = bounds.into_iter().map(|range| (range.min, range.extent)).unzip();
        let dtype = stored_type(self.input.function.buffers[buffer].dtype);
        let alignment = self.alignment(buffer, dtype, &scope, &shape)?;
        // A buffer without dimensions has no rows to pad.
        let padding = self.aligned.remove(&buffer).filter(|_| !shape.is_empty());
        let (strides, flat) = match &padding {
            None => (row_major(&shape), product(&shape)),
            Some(padding) => {
                let strides = padded_strides(&shape, padding);
                let flat =
                    strides.first().zip(shape.first()).map(|(stride, extent)| mul(stride.clone(), extent.clone()));
                (strides, flat.map_or_else(|| Expr::int(1), |flat| simplify(&flat)))
            }
        };
        self.enter(buffer, shape, Some(mins), strides, padding.is_some(), alignment, false);
        let declared = &mut self.function.buffers[buffer];
        declared.shape = vec![flat].into();
        declared.dtype = dtype;
        declared.scope = scope;
        declared.memory = Memory::Own;
        Ok(())
    }

    /// The alignment of a buffer: in a listed memory that memory's widest access, counted in elements; elsewhere the
    /// usual number of bytes, halved until it is no larger than the buffer. An error if the buffer is larger than its
    /// listed memory.
    fn alignment(&self, buffer: BufId, dtype: DType, scope: &StorageScope, shape: &[Expr]) -> Result<u64, LowerError> {
        // `None` where an extent is not constant: such a buffer is taken to fit, with the full alignment.
        let elements =
            shape.iter().try_fold(1u64, |product, extent| product.checked_mul(u64::try_from(extent.as_int()?).ok()?));
        let bits = elements.and_then(|elements| elements.checked_mul(dtype.total_bits()));
        let scope = scope.to_string();
        if let Some(info) = self.options.memories.iter().find(|info| info.scope == scope) {
            return match bits {
                Some(bits) if bits > info.max_bits => Err(LowerError::ExceedsMemory {
                    scope,
                    buffer: self.function.buffers[buffer].name.clone(),
                    bits,
                    max_bits: info.max_bits,
                }),
                _ => Ok(info.max_simd_bits.div_ceil(u64::from(dtype.bits).max(1)).max(1)),
            };
        }
        // A buffer without elements keeps the full alignment, too: there is no size to go by.
        let mut alignment = self.options.alignment.unwrap_or(DEFAULT_ALIGNMENT);
        if let Some(bytes) = bits.map(|bits| bits / 8).filter(|_| elements.is_some_and(|elements| elements > 0)) {
            while alignment > bytes && alignment > 1 {
                alignment /= 2;
            }
        }
        Ok(alignment)
    }

    /// Lays out a view in one dimension, row after row. If it is a view of a slot, it becomes a view of the buffer that
    /// the slot stands for.
    fn declare(&mut self, buffer: BufId) {
        let declared = self.function.buffers[buffer].clone();
        let shape: Vec<Expr> = declared.shape.iter().map(|extent| self.simple(extent)).collect();
        let strides = row_major(&shape);
        self.function.buffers[buffer].shape = vec![product(&shape)].into();
        self.function.buffers[buffer].dtype = stored_type(declared.dtype);
        if let Memory::View { of, elem_offset } = declared.memory {
            self.function.buffers[buffer].memory = Memory::View { of: self.resolve(of), elem_offset };
        }
        self.enter(buffer, shape, None, strides, false, DEFAULT_ALIGNMENT, false);
    }

    /// Checks that a slot can stand for the buffer `target`: it must be the whole buffer, without padding, because an
    /// extern body knows no strides. `bounds` are begin and extent of the bound part for each dimension, in turn.
    fn check_bind(&self, slot: BufId, target: BufId, bounds: &[Expr]) -> Result<(), LowerError> {
        let Some(entry) = self.entries.get(&target) else {
            return Err(LowerError::NotRealized { tensor: self.function.buffers[target].name.clone() });
        };
        let buffer = self.function.buffers[slot].name.clone();
        if entry.padded {
            let strides: Vec<String> = entry.strides.iter().map(|stride| print_expr(stride, &self.function)).collect();
            return Err(LowerError::StridedBind { buffer, strides: strides.join(", ") });
        }
        // Begin and extent of the bound part must be proved equal to those of the elements that exist.
        let whole = bounds
            .chunks_exact(2)
            .zip(entry.shape.iter().zip(&entry.mins))
            .all(|(pair, (extent, min))| prove_equal(&pair[0], min) && prove_equal(&pair[1], extent));
        if !whole || bounds.len() != 2 * entry.shape.len() {
            return Err(LowerError::PartialBind { buffer });
        }
        Ok(())
    }

    /// Flattens a region in which a slot stands for a tensor. The statements of its body go to `out`, with the tensor's
    /// buffer in place of the slot and 0 in place of the slot's offset variable.
    fn bind(
        &mut self,
        slot: BufId,
        tensor: BufId,
        offset: &Expr,
        bounds: &[Expr],
        body: &Block,
        out: &mut Vec<Stmt>,
    ) -> Result<(), LowerError> {
        let target = self.resolve(tensor);
        self.check_bind(slot, target, bounds)?;
        self.bound.insert(slot, target);
        // The slot stays in the table of buffers although no statement will use it any more. It was named after its
        // tensor, so it gets another name.
        let stands_for = &mut self.function.buffers[slot];
        stands_for.memory = Memory::View { of: target, elem_offset: None };
        stands_for.name.push_str(".bound");
        let mut body = body.clone();
        if let Expr::Var(offset) = offset {
            substitute_block(&mut body, &[(*offset, Expr::int(0))].into());
        }
        // While the body is flattened, `bound` sends accesses of the slot to the target.
        let flat = self.block(&body)?;
        self.bound.remove(&slot);
        out.extend(flat);
        Ok(())
    }

    /// Flattens a region that computes a double buffer, and keeps its mark for a later step. TVM fails if the buffer
    /// has no explicit scope; with `compat` this is an error here, too.
    fn double_buffer(&mut self, buffer: BufId, body: &Block, out: &mut Vec<Stmt>) -> Result<(), LowerError> {
        if self.options.compat && self.implicit.contains(&buffer) {
            let buffer = self.function.buffers[buffer].name.clone();
            return Err(LowerError::ImplicitDoubleBuffer { buffer });
        }
        let body = self.block(body)?;
        out.push(marks::double_buffer(buffer, body));
        Ok(())
    }
}

/// Whether an expression loads from memory.
fn has_load(expr: &Expr) -> bool {
    expr.any(&|part| matches!(part, Expr::Load { .. }))
}

/// The values of a loop's variable. If a bound is loaded from memory, nothing is known about them: the loop's body may
/// store something else there, while the loop keeps the bounds that it started with.
fn range_of(min: &Expr, extent: &Expr) -> Interval {
    if has_load(min) || has_load(extent) { Interval::EVERYTHING } else { Interval::range(min, extent) }
}

/// Takes a loop's variable out of `env` at the end of the loop; `outer` is what was known about it around the loop.
fn restore(env: &mut Env, var: crate::ir::VarId, outer: Option<Interval>) {
    match outer {
        Some(outer) => env.insert(var, outer),
        None => env.remove(&var),
    };
}

/// The strides of a buffer with padding, from the last dimension to the first: a stride is the number of elements of
/// one row of the next dimension, raised until it is `offset` modulo `factor` if `padding` (dimension, factor, offset)
/// asks for that. Shape (8, 16) with padding (0, 2, 1): the rows have 16 elements, 16 is 0 modulo 2, so the stride
/// becomes 17.
fn padded_strides(shape: &[Expr], padding: &[(usize, i64, i64)]) -> Vec<Expr> {
    let mut strides = vec![Expr::int(1); shape.len()];
    let mut stride = Expr::int(1);
    for dimension in (0..shape.len()).rev() {
        for (_, factor, offset) in padding.iter().filter(|(padded, ..)| *padded == dimension) {
            // `missing` is what has to be added to the stride so that it is `offset` modulo `factor`. `factor` is added
            // first so that the difference is not negative.
            let behind = floor_mod(stride.clone(), Expr::int(*factor));
            let missing = floor_mod(sub(Expr::int(factor + offset), behind), Expr::int(*factor));
            stride = simplify(&add(stride, missing));
        }
        strides[dimension] = stride.clone();
        stride = simplify(&mul(stride, shape[dimension].clone()));
    }
    strides
}
