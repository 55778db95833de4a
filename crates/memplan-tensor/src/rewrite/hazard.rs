//! Proof that computing a destination into its source's memory changes nothing.
//!
//! Given is a statement that passed the structural test ([`super::inplace`]): every load of the source stands in the
//! value of a store to the destination, with the same subscripts as that store, and the destination is never loaded.
//! Look at one memory cell (an element) that the two buffers would share and at what happens to it, in order. The cell
//! may be in one of these states:
//!
//! | state | meaning |
//! |---|---|
//! | `SRC` | the source's content; the destination has none yet |
//! | `BOTH` | a plain copy was stored: the content is right for both |
//! | `DST` | the destination's content; the source's is gone |
//! | `LOST` | the source was stored again over a destination that was needed |
//!
//! Reading the source in state `DST` is a hazard: an element is written twice, or it is initialised before it is
//! copied. Ending in `LOST` is a hazard, too (the source is overwritten after the copy), unless nobody reads the
//! destination afterwards. Where branches meet, a cell may be in several states at once.
//!
//! # An example
//!
//! `B` is to be computed into the memory of `A`, which has four elements. Each column is a cell, and each line shows
//! the cells after an iteration (`S` for `SRC`, `D` for `DST`):
//!
//! ```text
//! for i in range(4):                        for i in range(3):
//!     B[i] = A[i] + 1                           for j in range(2):
//!                                                   B[i + j] = A[i + j] * 2
//!
//!               cell  0 1 2 3                             cell  0 1 2 3
//!   start             S S S S                 start             S S S S
//!   i = 0             D S S S                 i = 0, j = 0      D S S S
//!   i = 1             D D S S                 i = 0, j = 1      D D S S
//!   i = 2             D D D S                 i = 1, j = 0      hazard: A[1] is read, and cell 1 is D
//!   i = 3             D D D D    safe         (in memory of its own, A[1] would still hold its first value)
//! ```
//!
//! # How it is decided
//!
//! There are two ways. If the destination is stored at one place of the text only, at an index that differs in every
//! iteration, and the source nowhere (or nobody needs the destination afterwards), no cell of the destination is
//! written twice: that holds for any extents, as for the loop on the left. Otherwise the statement is run over its
//! indices alone ([`Run`]: loops and subscripts are computed, elements are not), which is exact wherever bounds and
//! indices do not depend on data, up to a budget. Parallel iterations are run first to last and last to first. What
//! cannot be decided counts as a hazard.
//!
//! Both ways read a subscript as a sum of *atoms* with integer factors ([`Linear`]). An atom is a part that is neither
//! a constant nor a sum nor a product with a constant: a variable, `i // 2`, `i * m`.

// An `InPlace` is a question: may `dst` be computed into the memory of `src` by the statement `stmt`? A `Sequence`
// has all statements of a function by number, and what is around each. `Function::root` is the buffer behind a chain
// of views.
use super::pool::InPlace;
use super::sequence::{Sequence, StmtId};
use crate::DType;
use crate::ir::{BinaryOp, BufId, Expr, ForKind, Function, Stmt, StmtKind, VarId, thread_rank};
use crate::linear::Linear;
use std::collections::{BTreeMap, HashMap, HashSet};

// The states of the module documentation. Each is a bit, so that one `u8` can hold all states that a cell may be in.
const SRC: u8 = 1;
const BOTH: u8 = 2;
const DST: u8 = 4;
const LOST: u8 = 8;

/// Work that deciding all candidates of one function may take, in steps of [`Run::step`]: one for each statement, each
/// iteration and each stored element of a run.
pub(super) const BUDGET: u64 = 1 << 24;
/// Steps that one candidate may take, both directions together. A candidate that needs more counts as unsafe.
const STEPS_PER_QUESTION: u64 = 1 << 17;

/// Whether it is proved that the destination of `step` may be computed into the memory of its source. `false` says
/// that there is a hazard, or that no proof was found. `budget` has the work that the function has left ([`BUDGET`]);
/// what this question takes is subtracted.
pub(super) fn is_safe(sequence: &Sequence<'_>, step: InPlace, budget: &mut u64) -> bool {
    let InPlace { stmt, dst, src, .. } = step;
    let function = sequence.function;
    let body = sequence.statements[stmt];
    if !is_one_step(function, body, src) {
        return false;
    }
    let Some(threads) = threads_together(sequence, stmt, dst) else {
        return false;
    };
    if each_cell_once(function, body, step, &threads) {
        return true;
    }
    // The first way of the module documentation has failed, so the statement is run over its indices.
    let allowance = STEPS_PER_QUESTION.min(*budget);
    let mut left = allowance;
    let mut concerned = HashSet::new();
    find_concerned(function, body, dst, src, &mut concerned);
    // Parallel iterations have no order, so the statement must be safe with the first one first and with the last one
    // first. A hazard needs two accesses of one cell, and of any two iterations each comes first in one of the orders.
    let safe = [false, true].into_iter().all(|backward| {
        let mut run = Run {
            function,
            dst,
            src,
            values: HashMap::new(),
            cells: HashMap::new(),
            undo: None,
            thread: Vec::new(),
            backward,
            concerned: &concerned,
            left: &mut left,
        };
        run.with_threads(&threads, body).is_some()
            && run.cells.values().all(|state| state & LOST == 0 || !step.needed_after)
    });
    *budget -= allowance - left;
    safe
}

/// The thread axes (index and number of threads) around a statement whose threads run it on the same two buffers, so
/// that they count as parallel loops around it. There is none if each thread has a memory of its own. Axes that number
/// thread blocks (rank 0, `blockIdx`) are left out: both buffers are allocated in the list of statements that contains
/// `stmt`, which is inside of the launch, so each thread block has its own copy of them. `None` if an axis does not
/// begin at 0: all that follows takes the index of a thread for a number from 0 on.
fn threads_together<'f>(sequence: &Sequence<'f>, stmt: StmtId, dst: BufId) -> Option<Vec<(VarId, &'f Expr)>> {
    let mut threads = Vec::new();
    if sequence.function.buffers[dst].scope.is_per_thread() {
        return Some(threads);
    }
    for outer in sequence.enclosing(stmt) {
        let (var, min, extent, tag) = match &sequence.statements[outer].kind {
            StmtKind::Thread { var, extent, tag, .. } => (*var, None, extent, tag),
            StmtKind::For { var, min, extent, kind: ForKind::ThreadBinding(tag), .. } => (*var, Some(min), extent, tag),
            _ => continue,
        };
        if thread_rank(tag) == Some(0) {
            continue;
        }
        if min.is_some_and(|min| min.as_int() != Some(0)) {
            return None;
        }
        threads.push((var, extent));
    }
    Some(threads)
}

/// Whether the check that follows the rewrite (`crate::lower`) sees the statement as one op that reads the source.
///
/// That check permits a reuse in place only to an op as a whole. A statement with allocations inside is not one op but
/// is followed iteration by iteration, and a source that the statement stores but never loads counts as a second
/// result. The check would reject the reuse in both cases, so we do not propose it.
fn is_one_step(function: &Function, body: &Stmt, src: BufId) -> bool {
    let mut loads = false;
    body.walk(&mut |stmt| {
        for expr in stmt.exprs() {
            loads |= expr.any(&|part| matches!(part, Expr::Load { buffer, .. } if function.root(*buffer) == src));
        }
    });
    loads && !crate::lower::has_allocation(body)
}

/// The first way of the module documentation: whether the statement stores to the destination at one place of its
/// text, and at another element in every iteration. Then no cell is written twice, whatever the extents of the loops
/// are.
fn each_cell_once(function: &Function, body: &Stmt, step: InPlace, threads: &[(VarId, &Expr)]) -> bool {
    let mut loops: Vec<(VarId, &Expr)> = threads.to_vec();
    let mut found = None;
    let counted = count_stores(function, body, step, &mut loops, &mut found);
    match (counted, found) {
        (Some(1), Some((index, loops))) => {
            index.iter().all(|subscript| is_unbounded(function, subscript))
                && injective(index, &loops)
                && rows_are_apart(&function.buffers[step.dst].shape, index, &loops)
        }
        _ => false,
    }
}

/// A store to the destination: its subscripts, and the variables of the loops around it with their extents. A variable
/// of a `let` is listed among the loops, with its value in the place of the extent; a loop that does not always begin
/// at the same number, with that beginning in the place of the extent. Neither is a constant then, so that nothing is
/// concluded from how far apart the values of the variable are.
type Found<'a> = Option<(&'a [Expr], Vec<(VarId, &'a Expr)>)>;

/// Counts the places in the text of a statement that store to the destination, and leaves the last of them in `found`.
/// `loops` has the loops around the statement and is the same again afterwards. `None` if the source is stored, too,
/// while the destination is needed afterwards, or if a `while` repeats a store an unknown number of times.
fn count_stores<'a>(
    function: &Function,
    stmt: &'a Stmt,
    step: InPlace,
    loops: &mut Vec<(VarId, &'a Expr)>,
    found: &mut Found<'a>,
) -> Option<usize> {
    let mut count = 0;
    // The loops around the statement itself; those inside are taken off again at the end.
    let depth = loops.len();
    match &stmt.kind {
        StmtKind::Store { buffer, index, .. } => {
            let root = function.root(*buffer);
            // A store to the source may destroy an element of the destination. That matters only if somebody reads the
            // destination after the statement.
            if root == step.src && step.needed_after {
                return None;
            }
            if root == step.dst {
                count = 1;
                *found = Some((index, loops.clone()));
            }
        }
        // The digits of a number each have a range of their own. The variable of a loop that begins at `-i` does not:
        // `2 * i + j` with two values of `j` is 1 for `i = 0, j = 1` and for `i = 1, j = -1`.
        StmtKind::For { var, min, .. } if uses_loop(min, loops) => loops.push((*var, min)),
        StmtKind::For { var, extent, .. } | StmtKind::Thread { var, extent, .. } => loops.push((*var, extent)),
        _ => {}
    }
    let mut branches = Vec::new();
    for block in stmt.blocks() {
        let mut in_block = 0;
        let outside = loops.len();
        for inner in block {
            in_block += count_stores(function, inner, step, loops, found)?;
            if let StmtKind::Let { var, value } = &inner.kind {
                // The named value may change with the loops: with `x = 3 - i`, the subscript `x + i` is always 3. So
                // the name counts as one more loop, of unknown extent unless the value is a constant.
                loops.push((*var, value));
            }
        }
        loops.truncate(outside);
        // `found` is what the last block stored, or what was found before if this block stores nothing.
        branches.push((in_block, found.clone()));
    }
    count += match branches.as_slice() {
        // Only one branch of an `if` runs: one store in each, with the same subscripts, counts once.
        [(1, then), (1, otherwise)] if then == otherwise => 1,
        _ => branches.iter().map(|(stores, _)| stores).sum(),
    };
    loops.truncate(depth);
    let repeats = matches!(stmt.kind, StmtKind::While { .. });
    if repeats && count > 0 { None } else { Some(count) }
}

/// Whether a subscript has the value that it has in integers without bounds: it is a variable or a constant, or no part
/// of it has a type in which sums and products may pass over the ends of the type.
fn is_unbounded(function: &Function, subscript: &Expr) -> bool {
    let is_narrow = |part: &Expr| match part {
        // Both operands of an operation have its type, so looking at the leaves is enough.
        Expr::Binary { .. } | Expr::Not(_) | Expr::Select { .. } | Expr::Ramp { .. } | Expr::Broadcast { .. } => false,
        leaf => leaf.dtype(function).wraps(),
    };
    matches!(subscript, Expr::Var(_) | Expr::Int { .. }) || !subscript.any(&is_narrow)
}

/// Whether different iterations give different subscripts: each subscript determines the loop variables in it
/// ([`determined_by`]), and together the subscripts determine the variable of every loop, except for loops of at most
/// one iteration.
fn injective(index: &[Expr], loops: &[(VarId, &Expr)]) -> bool {
    let mut determined: Vec<VarId> = Vec::new();
    for subscript in index {
        match determined_by(subscript, loops) {
            Some(vars) => determined.extend(vars),
            None => return false,
        }
    }
    // A loop that no subscript determines would store to the same element in each of its iterations.
    loops.iter().all(|(var, extent)| determined.contains(var) || extent.as_int().is_some_and(|extent| extent <= 1))
}

/// Whether different subscripts are different elements. In rows of four, `[0, 4]` is the element `[1, 0]`, so the
/// largest and the least value of every subscript but the first must differ by less than the length of the dimension.
fn rows_are_apart(shape: &[Expr], index: &[Expr], loops: &[(VarId, &Expr)]) -> bool {
    index.iter().zip(shape).skip(1).all(|(subscript, length)| {
        // The subscript is the variable of a loop over exactly one row. The length of the row may be symbolic.
        let is_column = |&(var, extent): &(VarId, &Expr)| *subscript == Expr::Var(var) && extent == length;
        let is_short = || span(subscript, loops).zip(length.as_int()).is_some_and(|(span, length)| span < length);
        loops.iter().any(is_column) || is_short()
    })
}

/// The distance between the least and the largest value of a subscript; `None` if it is not known.
fn span(subscript: &Expr, loops: &[(VarId, &Expr)]) -> Option<i64> {
    let (base, mut span) = match subscript {
        Expr::Ramp { base, stride, lanes } => {
            (&**base, stride.as_int()?.checked_abs()?.checked_mul(i64::from(*lanes).saturating_sub(1))?)
        }
        _ => (subscript, 0),
    };
    // Terms without loop variables are the same in all iterations and do not change the distance. A term that uses a
    // loop variable but is not a multiple of it (`i // 2`) has an unknown distance: `find` gives `None`.
    for (atom, coefficient) in Linear::of(base)?.terms.iter().filter(|(atom, _)| uses_loop(atom, loops)) {
        let (_, extent) = loops.iter().find(|(var, _)| *atom == Expr::Var(*var))?;
        let last = extent.as_int()?.checked_sub(1)?.max(0);
        span = span.checked_add(coefficient.checked_abs()?.checked_mul(last)?)?;
    }
    Some(span)
}

/// The loop variables in one subscript, if the value of the subscript determines all of them. In `i * 4 + j` with `j`
/// in `0..4`, each value belongs to one pair of `i` and `j`, as a number belongs to its digits. A subscript without
/// loop variables gives an empty list: it determines nothing.
///
/// `None` if two different combinations of these variables may give the same value (`i + j`), and for every subscript
/// that this function does not understand: a loop variable inside of an atom other than `i * m` (`i // 2`), a load or a
/// call, lanes without a constant stride, several unknown extents, a number that does not fit 64 bits.
fn determined_by(subscript: &Expr, loops: &[(VarId, &Expr)]) -> Option<Vec<VarId>> {
    let (base, lanes) = match subscript {
        Expr::Ramp { base, stride, lanes } => (&**base, Some((stride.as_int()?, i64::from(*lanes)))),
        _ => (subscript, None),
    };
    let sum = Linear::of(base)?;
    // Each loop variable is a digit of a mixed-radix number: (|coefficient|, extent), with `None` for an extent that
    // is not a constant. The lanes of a vector access are a digit, too: the vectors of two iterations must not
    // overlap. `row` is the one product `i * m` with a symbolic `m`, as (`i`, `m`).
    let mut digits: Vec<(i64, Option<i64>)> = Vec::new();
    if let Some((stride, lanes)) = lanes {
        digits.push((stride.checked_abs()?, Some(lanes)));
    }
    let mut vars = Vec::new();
    let mut row: Option<(VarId, &Expr)> = None;
    for (atom, coefficient) in &sum.terms {
        match atom {
            Expr::Var(var) => {
                if let Some((_, extent)) = loops.iter().find(|(known, _)| known == var) {
                    vars.push(*var);
                    digits.push((coefficient.checked_abs()?, extent.as_int()));
                }
            }
            // `i * m`: a row number times a symbolic row length.
            Expr::Binary { op: BinaryOp::Mul, left, right } if uses_loop(atom, loops) => {
                let (var, length) = match (&**left, &**right) {
                    (Expr::Var(var), length) if is_loop(*var, loops) && !uses_loop(length, loops) => (*var, length),
                    (length, Expr::Var(var)) if is_loop(*var, loops) && !uses_loop(length, loops) => (*var, length),
                    _ => return None,
                };
                // Only one product of this kind is understood, and only with the factor 1 or -1.
                if row.replace((var, length)).is_some() || coefficient.unsigned_abs() != 1 {
                    return None;
                }
            }
            _ if uses_loop(atom, loops) => return None,
            // The term is the same in all iterations.
            _ => {}
        }
    }
    if let Some((var, length)) = row {
        // In `i * m + j`, the only other digit is the column `j`, whose loop must be exactly as long as the row: `m`.
        // With `m = 0` there is then no iteration. `i * m` alone may be 0 in all iterations, so it determines nothing.
        let column = match vars.as_slice() {
            [column] => {
                digits.len() == 1
                    && digits[0].0 == 1
                    && loops.iter().any(|(known, extent)| known == column && *extent == length)
            }
            _ => false,
        };
        vars.push(var);
        return column.then_some(vars);
    }
    // From the lowest digit to the highest: `below` is the largest distance of two numbers that the digits so far can
    // make. The coefficient of the next digit must be larger than that, or two iterations could make the same number.
    digits.sort_unstable_by_key(|(coefficient, _)| *coefficient);
    let mut below = 0i64;
    for (position, (coefficient, extent)) in digits.iter().enumerate() {
        if *coefficient <= below {
            return None;
        }
        match extent {
            Some(extent) => below = below.checked_add(coefficient.checked_mul(extent.checked_sub(1)?.max(0))?)?,
            // A digit with an unknown extent may only be the one with the largest coefficient: nothing is known about
            // `below` after it.
            None if position + 1 == digits.len() => {}
            None => return None,
        }
    }
    Some(vars)
}

/// Whether a variable is that of a loop around the store.
fn is_loop(var: VarId, loops: &[(VarId, &Expr)]) -> bool {
    loops.iter().any(|(known, _)| *known == var)
}

/// Whether a value may change from iteration to iteration. A load or a call counts, too, because its result is
/// unknown.
fn uses_loop(expr: &Expr, loops: &[(VarId, &Expr)]) -> bool {
    expr.any(&|part| {
        matches!(part, Expr::Var(var) if is_loop(*var, loops)) || matches!(part, Expr::Load { .. } | Expr::Call { .. })
    })
}

/// The value of an operation on two known numbers; comparisons give 0 or 1. `None` if it overflows or is not defined.
fn binary_value(op: BinaryOp, a: i64, b: i64) -> Option<i64> {
    let truth = match op {
        BinaryOp::Add => return a.checked_add(b),
        BinaryOp::Sub => return a.checked_sub(b),
        BinaryOp::Mul => return a.checked_mul(b),
        BinaryOp::Div => return a.checked_div(b),
        BinaryOp::Mod => return a.checked_rem(b),
        // Euclidean division is floor division for a positive divisor. For others the two differ, and the value counts
        // as unknown.
        BinaryOp::FloorDiv if b > 0 => return a.checked_div_euclid(b),
        BinaryOp::FloorMod if b > 0 => return a.checked_rem_euclid(b),
        BinaryOp::FloorDiv | BinaryOp::FloorMod => return None,
        BinaryOp::Min => return Some(a.min(b)),
        BinaryOp::Max => return Some(a.max(b)),
        BinaryOp::Eq => a == b,
        BinaryOp::Ne => a != b,
        BinaryOp::Lt => a < b,
        BinaryOp::Le => a <= b,
        BinaryOp::Gt => a > b,
        BinaryOp::Ge => a >= b,
        BinaryOp::And => a != 0 && b != 0,
        BinaryOp::Or => a != 0 || b != 0,
    };
    Some(i64::from(truth))
}

/// Adds to `found` the statements in `stmt` that store to one of the two buffers, and all statements around those
/// stores. Returns whether `stmt` itself was added. Statements are told apart by their addresses.
fn find_concerned(function: &Function, stmt: &Stmt, dst: BufId, src: BufId, found: &mut HashSet<*const Stmt>) -> bool {
    let mut concerned = match &stmt.kind {
        StmtKind::Store { buffer, .. } => {
            let root = function.root(*buffer);
            root == dst || root == src
        }
        _ => false,
    };
    for inner in stmt.blocks().into_iter().flatten() {
        concerned |= find_concerned(function, inner, dst, src, found);
    }
    if concerned {
        found.insert(std::ptr::from_ref(stmt));
    }
    concerned
}

/// An element of the shared memory: the thread indices, outermost first, if each thread has its own copy of the two
/// buffers (otherwise empty), and the subscripts.
type Cell = (Vec<i64>, Vec<i64>);

/// A run of a statement over its indices. Every method returns `None` for a hazard, for something that cannot be
/// decided, and when the allowed steps are used up; `None` ends the run.
struct Run<'a> {
    function: &'a Function,
    dst: BufId,
    src: BufId,
    /// The values of variables that the statement defines, where they are known.
    values: HashMap<VarId, i64>,
    /// The states that each cell may be in, as a sum of bits. A cell that is not listed is in `SRC`.
    cells: HashMap<Cell, u8>,
    /// While a branch of an undecided `if` is run: the states, before the branch, of the cells it has changed so far.
    undo: Option<BTreeMap<Cell, u8>>,
    /// Thread indices, where each thread has cells of its own.
    thread: Vec<i64>,
    /// Whether loops without an order run from the last iteration to the first.
    backward: bool,
    /// Statements that store to one of the two buffers, or contain such a statement.
    concerned: &'a HashSet<*const Stmt>,
    /// Steps that the question may still take.
    left: &'a mut u64,
}

impl Run<'_> {
    /// Counts one step; `None` if there is none left.
    fn step(&mut self) -> Option<()> {
        *self.left = self.left.checked_sub(1)?;
        Some(())
    }

    /// Runs `body` for all combinations of thread indices, as parallel loops around it.
    fn with_threads(&mut self, threads: &[(VarId, &Expr)], body: &Stmt) -> Option<()> {
        let Some(((var, extent), rest)) = threads.split_first() else {
            return self.statement(body);
        };
        let extent = self.value(extent)?;
        self.repeat(*var, 0, extent, true, |run| run.with_threads(rest, body))
    }

    /// Runs a body for every value of a loop variable, from `min` on. A loop that may run in any order goes backward
    /// in the second run of the statement ([`is_safe`] runs it twice), so that both orders are seen.
    fn repeat(
        &mut self,
        var: VarId,
        min: i64,
        extent: i64,
        any_order: bool,
        mut body: impl FnMut(&mut Self) -> Option<()>,
    ) -> Option<()> {
        for position in 0..extent {
            self.step()?;
            let step = if any_order && self.backward { extent - 1 - position } else { position };
            let value = min.checked_add(step)?;
            if !self.function.vars[var].dtype.holds(value) {
                return None;
            }
            self.values.insert(var, value);
            body(self)?;
        }
        Some(())
    }

    /// Runs the statements of a block in order.
    fn block(&mut self, block: &[Stmt]) -> Option<()> {
        block.iter().try_for_each(|stmt| self.statement(stmt))
    }

    /// Runs a statement.
    fn statement(&mut self, stmt: &Stmt) -> Option<()> {
        self.step()?;
        match &stmt.kind {
            StmtKind::Store { buffer, index, value } => self.store(*buffer, index, value),
            StmtKind::Let { var, value } => {
                // If the value is not known, the value of an earlier iteration must not stay.
                match self.value(value) {
                    Some(known) => self.values.insert(*var, known),
                    None => self.values.remove(var),
                };
                Some(())
            }
            // No store to either buffer inside: the statement changes no cell.
            _ if !self.concerned.contains(&std::ptr::from_ref(stmt)) => Some(()),
            StmtKind::For { var, min, extent, kind, body, .. } => {
                let (min, extent) = (self.value(min)?, self.value(extent)?);
                let any_order = !matches!(kind, ForKind::Serial | ForKind::Unrolled);
                self.repeat(*var, min, extent, any_order, |run| run.block(body))
            }
            StmtKind::Thread { var, extent, body, .. } => {
                let extent = self.value(extent)?;
                // If each thread has its own copies of the buffers, its index becomes part of the cells.
                let private = self.function.buffers[self.dst].scope.is_per_thread();
                self.repeat(*var, 0, extent, true, |run| {
                    if private {
                        run.thread.push(*run.values.get(var)?);
                    }
                    let done = run.block(body);
                    if private {
                        run.thread.pop();
                    }
                    done
                })
            }
            StmtKind::If { condition, then, otherwise, .. } => match self.value(condition) {
                Some(0) => self.block(otherwise),
                Some(_) => self.block(then),
                None => self.either(then, otherwise),
            },
            StmtKind::While { body, .. } => {
                // How often the body runs is not known, so it runs once or not at all, twice in a row. A subscript that
                // depends on data ends the run. So every iteration touches the same cells, and a third one would find
                // nothing that the second does not.
                self.either(body, &[])?;
                self.either(body, &[])
            }
            StmtKind::Attr { body, .. } => self.block(body),
            // All other statements store nothing.
            _ => Some(()),
        }
    }

    /// Runs both branches from the same states and joins the results: afterwards each cell has the states that it may
    /// be in after the one or after the other.
    fn either(&mut self, then: &[Stmt], otherwise: &[Stmt]) -> Option<()> {
        // `undo` notes the state of each cell before its first change. With it the first branch is undone, so that the
        // second one starts where the first did.
        let outer = self.undo.replace(BTreeMap::new());
        self.block(then)?;
        let before_then = self.undo.replace(BTreeMap::new()).unwrap_or_default();
        let mut after_then = BTreeMap::new();
        for (cell, state) in &before_then {
            // `insert` puts the old state back and gives the state after the branch.
            after_then.insert(cell.clone(), self.cells.insert(cell.clone(), *state).unwrap_or(SRC));
        }
        self.block(otherwise)?;
        let before_otherwise = self.undo.take().unwrap_or_default();
        // From here on changes are noted for the `if` around this one again, where there is one.
        self.undo = outer;
        // Which branch runs is not known, so a cell may be in the state that either leaves. A cell that one branch
        // does not touch keeps its old state there.
        for (cell, state) in after_then {
            let joined = state | self.cells.get(&cell).copied().unwrap_or(SRC);
            let before = before_then.get(&cell).copied().unwrap_or(SRC);
            self.set_from(cell, before, joined);
        }
        for (cell, before) in before_otherwise {
            if !before_then.contains_key(&cell) {
                let joined = before | self.cells.get(&cell).copied().unwrap_or(SRC);
                self.set_from(cell, before, joined);
            }
        }
        Some(())
    }

    /// Sets the states of a cell and notes those `before`, for an `if` around this that has to undo the change.
    fn set_from(&mut self, cell: Cell, before: u8, state: u8) {
        if let Some(undo) = &mut self.undo {
            undo.entry(cell.clone()).or_insert(before);
        }
        self.cells.insert(cell, state);
    }

    /// Replaces the states of a cell by what `next` makes of them; `None` if `next` finds a hazard.
    fn change(&mut self, cell: Cell, next: impl Fn(u8) -> Option<u8>) -> Option<()> {
        let before = self.cells.get(&cell).copied().unwrap_or(SRC);
        let state = next(before)?;
        self.set_from(cell, before, state);
        Some(())
    }

    /// Runs a store: the transitions between the states of the module documentation. If the value reads the source, it
    /// reads the very cell that is stored (the structural test has made sure of that). `None` if the value reads the
    /// source and the destination may already have replaced the source's element in the cell. `None` also if the cells
    /// are not known ([`Run::cells_of`]) or no steps are left.
    fn store(&mut self, buffer: BufId, index: &[Expr], value: &Expr) -> Option<()> {
        let root = self.function.root(buffer);
        if root != self.dst && root != self.src {
            return Some(());
        }
        // Whether a part of the value is an element of the source.
        let is_source =
            |part: &Expr| matches!(part, Expr::Load { buffer, .. } if self.function.root(*buffer) == self.src);
        let reads = value.any(&is_source);
        // The whole value is an element of the source, with nothing computed from it. The structural test has compared
        // the types of the two elements.
        let copies = is_source(value);
        for cell in self.cells_of(&self.function.buffers[buffer].shape, index)? {
            self.step()?;
            if root == self.src {
                // The cell holds an element of the source again. If it may have held one of the destination (`DST`,
                // `BOTH`), the destination's element is lost.
                self.change(cell, |state| {
                    let kept = state & (SRC | LOST);
                    Some(if state & (DST | BOTH) == 0 { kept } else { kept | LOST })
                })?;
            } else if copies {
                // The value is a plain copy of the source's element, so the cell is right for both buffers afterwards.
                self.change(cell, |state| if state & DST == 0 { Some(BOTH) } else { None })?;
            } else {
                // Any other store to the destination leaves only the destination's element. It is a hazard only if
                // the value reads the source.
                self.change(cell, |state| if reads && state & DST != 0 { None } else { Some(DST) })?;
            }
        }
        Some(())
    }

    /// The cells of an access: one for each combination of the values of its subscripts, of which a ramp has one per
    /// lane. `None` if a subscript is not known. `None` also if a subscript may leave its row: in rows of four, `[0,
    /// 4]` is the same memory as `[1, 0]`, and two cells would be one element.
    fn cells_of(&self, shape: &[Expr], index: &[Expr]) -> Option<Vec<Cell>> {
        // The subscripts of the dimensions so far, one list for each cell.
        let mut cells = vec![Vec::new()];
        for (dimension, subscript) in index.iter().enumerate() {
            // `lanes` has the values of this subscript: one, or for a ramp one per lane.
            let lanes: Vec<i64> = match subscript {
                Expr::Ramp { base, stride, lanes } => {
                    let ((base, dtype), stride) = (self.typed_value(base)?, self.value(stride)?);
                    let lane = |lane| base.checked_add(stride.checked_mul(lane)?).filter(|value| dtype.holds(*value));
                    (0..i64::from(*lanes)).map(lane).collect::<Option<_>>()?
                }
                _ => vec![self.value(subscript)?],
            };
            // The first dimension is not checked: a subscript beyond its length is outside of the buffer and is no
            // other element of it. Of a row whose length is not a constant we only know that it has an element 0.
            let length = shape.get(dimension).and_then(Expr::as_int).unwrap_or(1);
            if dimension > 0 && lanes.iter().any(|lane| !(0..length).contains(lane)) {
                return None;
            }
            // Each list so far (`row`) is continued with each value of this subscript.
            cells = cells
                .iter()
                .flat_map(|row: &Vec<i64>| lanes.iter().map(move |lane| row.iter().chain([lane]).copied().collect()))
                .collect();
        }
        Some(cells.into_iter().map(|cell| (self.thread.clone(), cell)).collect())
    }

    /// The value of an integer expression; `None` if it depends on data or on a variable whose value is not known, or
    /// if a part of it does not fit its type.
    fn value(&self, expr: &Expr) -> Option<i64> {
        self.typed_value(expr).map(|(value, _)| value)
    }

    /// The value of an integer expression, with its type.
    fn typed_value(&self, expr: &Expr) -> Option<(i64, DType)> {
        let (value, dtype) = match expr {
            Expr::Int { value, dtype } => (*value, *dtype),
            Expr::Var(var) => (*self.values.get(var)?, self.function.vars[*var].dtype),
            Expr::Not(value) => (i64::from(self.value(value)? == 0), DType::BOOL),
            Expr::Cast { dtype, value } => (self.value(value)?, *dtype),
            Expr::Binary { op, left, right } => {
                let (left, dtype) = self.typed_value(left)?;
                let value = binary_value(*op, left, self.value(right)?)?;
                (value, if op.is_predicate() { DType::BOOL } else { dtype })
            }
            Expr::Select { condition, then, otherwise } => {
                let side = if self.value(condition)? == 0 { otherwise } else { then };
                return self.typed_value(side);
            }
            _ => return None,
        };
        // A value is computed in 64 bits, whatever its type. If it does not fit its type, the program computes another
        // one, so it counts as not known. `holds` also refuses all values of types that are no integers: the program
        // rounds those, and the computation here does not.
        dtype.holds(value).then_some((value, dtype))
    }
}
