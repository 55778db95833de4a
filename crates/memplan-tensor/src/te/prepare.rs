//! Between flat storage and the storage rewrite: vectorized loops become lanes, double buffers get their second half.
//!
//! ```text
//! for v in vectorized(4): B[o*4 + v] = A[o*4 + v] + 1        B[o*4 : o*4+4] = A[o*4 : o*4+4] + (1, 1, 1, 1)
//!
//! for i < 4: { Y = …(i); use Y }      Y twice as large; Y[0] = …(0)
//!                                     for i < 4: { if i+1 < 4: Y[(i+1)%2] = …(i+1); use Y[i%2] }
//! ```
//!
//! A *lane* is one value of a vector: a vectorized loop of four iterations becomes statements on vectors of four
//! lanes. A *ramp* is a vector of subscripts that grow by a constant from lane to lane. A loop that cannot become
//! lanes runs one iteration after the other.
//!
//! A *double-buffered region* is a marked block of statements, the *producer*, that computes one or more buffers
//! inside a loop. The producer of the next iteration runs before the rest of the current one, so that on hardware the
//! two can overlap; that takes two halves of the buffers, used in turn. A producer that needs something that is
//! computed in the same iteration cannot run ahead, and its buffers stay single.

// `Linear` is an expression as a sum of terms with factors. `substitute_block` replaces variables in all expressions
// of a block. A flat buffer has one dimension, so every access has one subscript.
use super::arith::{add, floor_mod, mul, simplify};
use super::error::LowerError;
use super::marks::DOUBLE_BUFFER;
use super::schedule_ops::substitute_block;
use crate::ir::{BinaryOp, Block, BufId, Expr, ForKind, Function, Stmt, StmtKind, VarId};
use crate::linear::Linear;
use std::collections::BTreeSet;

/// Makes lanes of the vectorized loops of a flat function and gives its double buffers their second half. An error if a
/// double-buffered region is inside no loop.
pub fn prepare(flat: &Function) -> Result<Function, LowerError> {
    let mut function = flat.clone();
    let mut body = std::mem::take(&mut function.body);
    vectorize_block(&mut body, &function);
    let mut doubling = Doubling { function: &mut function };
    doubling.block(&mut body, 0)?;
    function.body = body;
    Ok(function)
}

/// Replaces vectorized loops by statements on vectors, the innermost first. A loop whose body has no form for vectors
/// becomes a serial loop.
fn vectorize_block(block: &mut Block, function: &Function) {
    let mut result = Vec::with_capacity(block.len());
    for mut stmt in std::mem::take(block) {
        for inner in stmt.blocks_mut() {
            vectorize_block(inner, function);
        }
        if let StmtKind::For { var, min, extent, kind, body, .. } = &mut stmt.kind
            && *kind == ForKind::Vectorized
        {
            // A vector has a constant number of lanes, at least 2 and no more than its type can say.
            let lanes = extent.as_int().and_then(|extent| u16::try_from(extent).ok()).filter(|lanes| *lanes > 1);
            // The first value of the loop is evaluated once, before the loop. As a part of the body's subscripts it
            // would be evaluated there, so it must not read memory that the body may change.
            let lanes = lanes.filter(|_| !min.any(&|part| matches!(part, Expr::Load { .. } | Expr::Call { .. })));
            // The loop becomes its body on vectors, or a serial loop if some statement has no form for vectors.
            let vector = lanes.and_then(|lanes| Lanes { var: *var, first: min, lanes, function }.block(body));
            match vector {
                Some(vector) => {
                    result.extend(vector);
                    continue;
                }
                None => *kind = ForKind::Serial,
            }
        }
        result.push(stmt);
    }
    *block = result.into();
}

/// One vectorized loop: its variable, the first value of it, and its number of iterations, each of which becomes a
/// lane.
struct Lanes<'a> {
    var: VarId,
    first: &'a Expr,
    lanes: u16,
    function: &'a Function,
}

impl Lanes<'_> {
    /// Whether an expression has different values in different lanes.
    fn varies(&self, expr: &Expr) -> bool {
        expr.any(&|part| *part == Expr::Var(self.var))
    }

    /// The statements for all lanes at once; `None` if that is not possible for one of them.
    fn block(&self, block: &Block) -> Option<Block> {
        block.iter().map(|stmt| self.statement(stmt)).collect()
    }

    /// The statement for all lanes at once; `None` if that is not possible.
    fn statement(&self, stmt: &Stmt) -> Option<Stmt> {
        let mut vector = stmt.clone();
        match &mut vector.kind {
            StmtKind::Store { index, value, .. } => {
                // Flat buffers have one subscript; anything else is no store that this step knows.
                let [at] = index.as_mut_slice() else { return None };
                // If the address does not vary, all lanes would store to one element. That is fine only if they store
                // the same value: then one store is enough.
                match (self.varies(at), self.varies(value)) {
                    (false, false) => {}
                    (false, true) => return None,
                    (true, _) => {
                        *at = self.ramp(at)?;
                        *value = self.all_lanes(value)?;
                    }
                }
            }
            StmtKind::For { min, extent, body, kind, .. } => {
                // Lanes run together, so every lane must run the inner loop equally often.
                if self.varies(min) || self.varies(extent) || matches!(kind, ForKind::ThreadBinding(_)) {
                    return None;
                }
                *body = self.block(body)?;
            }
            StmtKind::If { condition, then, otherwise, .. } => {
                if self.varies(condition) {
                    return None;
                }
                *then = self.block(then)?;
                *otherwise = self.block(otherwise)?;
            }
            StmtKind::Nothing => {}
            // Calls, allocations and launches have no form for several lanes.
            _ => return None,
        }
        Some(vector)
    }

    /// A subscript for all lanes. If `v` is the loop's variable and counts from 0, `o * 4 + v * 2` becomes the ramp
    /// that starts at `o * 4` and grows by 2 from lane to lane. If `v` counts from 3 (`self.first`), the ramp starts at
    /// `o * 4 + 6`. `None` if the variable is no term of the subscript, if another term contains the variable
    /// (`v % 3`), or if a number does not fit 64 bits.
    fn ramp(&self, index: &Expr) -> Option<Expr> {
        // The subscript must be a sum in which the loop's variable is a term of its own. The factor of this term is the
        // difference from lane to lane. No other term may depend on the variable.
        let mut sum = Linear::of(index)?;
        let own = sum.terms.iter().position(|(atom, _)| *atom == Expr::Var(self.var))?;
        let (_, stride) = sum.terms.remove(own);
        if sum.terms.iter().any(|(atom, _)| self.varies(atom)) {
            return None;
        }
        // The first lane has the subscript with the variable's first value.
        let mut base = index.clone();
        super::arith::substitute_in_place(&mut base, &[(self.var, self.first.clone())].into());
        let (base, stride) = (Box::new(simplify(&base)), Box::new(Expr::int(stride)));
        Some(Expr::Ramp { base, stride, lanes: self.lanes })
    }

    /// [`all_lanes`](Lanes::all_lanes), boxed as a part of an expression.
    fn boxed_lanes(&self, part: &Expr) -> Option<Box<Expr>> {
        self.all_lanes(part).map(Box::new)
    }

    /// A value for all lanes at once, as a vector; `None` if that is not possible.
    fn all_lanes(&self, expr: &Expr) -> Option<Expr> {
        // A value that is the same in each lane is computed once and copied.
        if !self.varies(expr) {
            return Some(Expr::Broadcast { value: Box::new(expr.clone()), lanes: self.lanes });
        }
        match expr {
            Expr::Var(_) => self.ramp(expr),
            // `and` and `or` evaluate their right side only if it is needed; with lanes both sides would be evaluated.
            Expr::Binary { op: BinaryOp::And | BinaryOp::Or, .. } => None,
            Expr::Binary { op, left, right } => {
                Some(Expr::Binary { op: *op, left: self.boxed_lanes(left)?, right: self.boxed_lanes(right)? })
            }
            Expr::Not(value) => Some(Expr::Not(self.boxed_lanes(value)?)),
            Expr::Cast { dtype, value } => {
                Some(Expr::Cast { dtype: dtype.with_lanes(self.lanes), value: self.boxed_lanes(value)? })
            }
            Expr::Select { condition, then, otherwise } => Some(Expr::Select {
                condition: self.boxed_lanes(condition)?,
                then: self.boxed_lanes(then)?,
                otherwise: self.boxed_lanes(otherwise)?,
            }),
            // Elements that are vectors themselves cannot be collected into a wider vector.
            Expr::Load { buffer, index } => match index.as_slice() {
                [at] if self.function.buffers[*buffer].dtype.lanes == 1 => {
                    Some(Expr::Load { buffer: *buffer, index: vec![self.ramp(at)?] })
                }
                _ => None,
            },
            // Functions of one float exist for vectors. Others would have to be called lane by lane.
            Expr::Call { name, args, dtype } => match args.as_slice() {
                [only] if dtype.is_float() => Some(Expr::Call {
                    name: name.clone(),
                    args: vec![self.all_lanes(only)?],
                    dtype: dtype.with_lanes(self.lanes),
                }),
                _ => None,
            },
            _ => None,
        }
    }
}

/// The step that gives double buffers their second half.
struct Doubling<'a> {
    function: &'a mut Function,
}

/// A double-buffered region: the buffers that it computes and the statements that compute them.
struct Region {
    buffers: Vec<BufId>,
    producer: Block,
}

/// Reads a statement as a double-buffered region; `None` if it is something else. An operation with several outputs
/// has a mark for each of them, one inside the other; these are one region with several buffers.
fn as_region(stmt: &Stmt) -> Option<Region> {
    let StmtKind::Attr { node: Some(Expr::Data(buffer)), key, body, .. } = &stmt.kind else { return None };
    if key != DOUBLE_BUFFER {
        return None;
    }
    match body.as_slice() {
        [only] if as_region(only).is_some() => {
            let mut inner = as_region(only)?;
            inner.buffers.insert(0, *buffer);
            Some(inner)
        }
        _ => Some(Region { buffers: vec![*buffer], producer: body.clone() }),
    }
}

impl Doubling<'_> {
    /// Handles the double-buffered regions of a block, those of inner loops first. `loops` is the number of `for` loops
    /// around the block. A region outside of all loops is an error: there is no iteration that it could run ahead of.
    fn block(&mut self, block: &mut Block, loops: usize) -> Result<(), LowerError> {
        let mut result = Vec::with_capacity(block.len());
        for mut stmt in std::mem::take(block) {
            // The blocks of a `for` are inside of one loop more.
            let here = loops + usize::from(matches!(stmt.kind, StmtKind::For { .. }));
            for inner in stmt.blocks_mut() {
                self.block(inner, here)?;
            }
            match (&stmt.kind, as_region(&stmt)) {
                // A region inside of a loop stays as it is until its loop is handled, here.
                (StmtKind::For { .. }, _) => self.for_loop(stmt, &mut result),
                (_, Some(region)) if loops == 0 => {
                    let buffer = region.buffers.first().map(|buffer| self.function.buffers[*buffer].name.clone());
                    return Err(LowerError::DoubleBufferWithoutLoop { buffer: buffer.unwrap_or_default() });
                }
                _ => result.push(stmt),
            }
        }
        *block = result.into();
        Ok(())
    }

    /// Handles the double-buffered regions of one loop: a region that can run one iteration ahead does so, any other
    /// one becomes plain statements. What has to stand before the loop, and then the loop, go to `out`.
    fn for_loop(&mut self, mut stmt: Stmt, out: &mut Vec<Stmt>) {
        // The caller passes loops only.
        let StmtKind::For { var, min, extent, kind, body, .. } = &mut stmt.kind else { return };
        let (var, extent) = (*var, extent.clone());
        // A region can only run ahead if the iterations run one after the other. `run_ahead` counts them from 0; a loop
        // that starts elsewhere can only come from a script, and its regions stay single.
        let in_order = matches!(kind, ForKind::Serial | ForKind::Unrolled) && min.as_int() == Some(0);
        let mut position = 0;
        while position < body.len() {
            // Regions deeper inside (in a condition, say) cannot run ahead of this loop.
            let Some(region) = as_region(&body[position]) else {
                unwrap_inside(&mut body[position]);
                position += 1;
                continue;
            };
            if in_order && self.same_size_outside(&region, var) && can_run_ahead(self.function, &region, body) {
                self.run_ahead(&region, var, &extent, body, position, out);
                position += 1;
            } else {
                // The buffers stay single: the producer's statements take the place of the region.
                let length = region.producer.len();
                body.splice(position..=position, region.producer);
                position += length;
            }
        }
        out.push(stmt);
    }

    /// Whether the sizes of the region's buffers do not depend on the loop's variable. Only then can their allocation
    /// stand in front of the loop.
    fn same_size_outside(&self, region: &Region, var: VarId) -> bool {
        // Whether an extent names the loop's variable.
        let depends = |extent: &Expr| extent.any(&|part| *part == Expr::Var(var));
        region.buffers.iter().all(|buffer| !self.function.buffers[*buffer].shape.iter().any(depends))
    }

    /// Lets the region at `position` of a loop's `body` run one iteration ahead: its first execution moves in front of
    /// the loop (to `out`), and each iteration computes for the next one. `var` is the loop's variable, `extent` its
    /// number of iterations. The picture in the module doc shows the result.
    fn run_ahead(
        &mut self,
        region: &Region,
        var: VarId,
        extent: &Expr,
        body: &mut Block,
        position: usize,
        out: &mut Vec<Stmt>,
    ) {
        // The number of the next iteration.
        let next = add(Expr::Var(var), Expr::int(1));
        let sizes: Vec<(BufId, Expr)> = region
            .buffers
            .iter()
            .map(|buffer| (*buffer, self.function.buffers[*buffer].shape.first().cloned().unwrap_or(Expr::int(1))))
            .collect();
        // Each buffer gets a second half. The allocation moves in front of the loop, because both halves live across
        // iterations.
        for (buffer, size) in &sizes {
            self.function.buffers[*buffer].shape = vec![simplify(&mul(size.clone(), Expr::int(2)))].into();
            out.push(Stmt::new(StmtKind::Alloc(*buffer)));
        }
        // The producer of iteration 0, in front of the loop. It writes to half 0, which needs no offset.
        let mut first = self.fresh_copy(&region.producer);
        substitute_block(&mut first, &[(var, Expr::int(0))].into());
        simplify_block(&mut first);
        // A loop without iterations does not run the producer, so the producer must not run before the loop either. If
        // the extent is not constant, a condition decides that at run time.
        match extent.as_int() {
            Some(iterations) if iterations > 0 => out.extend(first),
            Some(_) => {}
            None => out.push(condition_on(Expr::binary(BinaryOp::Lt, Expr::int(0), extent.clone()), first)),
        }
        // The producer of the next iteration takes the place of the region in the body.
        let mut ahead = region.producer.clone();
        substitute_block(&mut ahead, &[(var, next.clone())].into());
        simplify_block(&mut ahead);
        // What is computed ahead for iteration i + 1 goes to half (i + 1) % 2, while the body of iteration i uses
        // half i % 2. The two halves never meet.
        for (buffer, size) in &sizes {
            shift_block(&mut ahead, *buffer, &mul(floor_mod(next.clone(), Expr::int(2)), size.clone()));
        }
        for (at, stmt) in body.iter_mut().enumerate() {
            for (buffer, size) in sizes.iter().filter(|_| at != position) {
                let offset = mul(floor_mod(Expr::Var(var), Expr::int(2)), size.clone());
                shift_statement(stmt, *buffer, &offset);
            }
        }
        // The last iteration has no successor to compute for.
        let guard = Expr::binary(BinaryOp::Lt, next, extent.clone());
        let write = StmtKind::Attr {
            node: region.buffers.first().map(|buffer| Expr::Data(*buffer)),
            key: "double_buffer_write".to_owned(),
            value: Expr::int(1),
            body: ahead,
            flat: false,
        };
        body[position] = condition_on(guard, vec![Stmt::new(write)].into());
        // The buffers are allocated in front of the loop now, so the allocations in its body go.
        for stmt in body.iter_mut() {
            if matches!(&stmt.kind, StmtKind::Alloc(buffer) if region.buffers.contains(buffer)) {
                stmt.kind = StmtKind::Nothing;
            }
        }
    }

    /// A copy of a block whose loops have variables of their own: the original stays in the function, and each variable
    /// belongs to one loop.
    fn fresh_copy(&mut self, block: &Block) -> Block {
        let mut copy = block.clone();
        for stmt in &mut copy {
            self.rename_loops(stmt);
        }
        copy
    }

    /// Gives the loops of a statement variables of their own, as a copy needs them.
    fn rename_loops(&mut self, stmt: &mut Stmt) {
        if let StmtKind::For { var, body, .. } = &mut stmt.kind {
            let copy = self.function.vars[*var].clone();
            let fresh = self.function.vars.push(copy);
            substitute_block(body, &[(*var, Expr::Var(fresh))].into());
            *var = fresh;
        }
        for inner in stmt.blocks_mut() {
            for stmt in inner {
                self.rename_loops(stmt);
            }
        }
    }
}

/// Statements that run only if a condition holds.
fn condition_on(condition: Expr, then: Block) -> Stmt {
    Stmt::new(StmtKind::If { condition, then, otherwise: Block::default(), else_trivia: Default::default() })
}

/// Replaces double-buffered regions by their statements, everywhere in a statement but not inside of another loop. Only
/// a region directly in the body of a loop can be double-buffered, and inner loops are handled by themselves.
fn unwrap_inside(stmt: &mut Stmt) {
    if matches!(stmt.kind, StmtKind::For { .. }) {
        return;
    }
    for block in stmt.blocks_mut() {
        let mut result = Vec::with_capacity(block.len());
        for mut inner in std::mem::take(block) {
            unwrap_inside(&mut inner);
            match as_region(&inner) {
                Some(region) => result.extend(region.producer),
                None => result.push(inner),
            }
        }
        *block = result.into();
    }
}

/// Whether a buffer, or the one that it is a view of, is filled by the producer of a region.
fn is_filled_by(region: &Region, buffer: BufId, function: &Function) -> bool {
    region.buffers.contains(&function.root(buffer))
}

/// Whether a region can run one iteration ahead of the rest of its loop's `body`: its producer needs nothing that the
/// body computes, it can be copied, nothing takes the addresses of its buffers, and the buffers are allocated directly
/// in the body. An access through a view counts as one to the buffer that the view looks at (its root).
fn can_run_ahead(function: &Function, region: &Region, body: &Block) -> bool {
    // `made` holds whatever the loop's body allocates, stores or may change through its address. The producer runs one
    // iteration early, so it must not need any of it.
    let mut made: BTreeSet<BufId> = BTreeSet::new();
    let mut plain = true;
    let mut own_allocs = 0;
    for stmt in body {
        if matches!(&stmt.kind, StmtKind::Alloc(buffer) if region.buffers.contains(buffer)) {
            own_allocs += 1;
        }
        stmt.walk(&mut |part| {
            match &part.kind {
                StmtKind::Alloc(buffer) | StmtKind::Store { buffer, .. } => {
                    made.insert(function.root(*buffer));
                }
                // A view of the buffer would not know about the two halves.
                StmtKind::Declare(buffer) => plain &= !is_filled_by(region, *buffer, function),
                // The mark of the region itself names the buffer's address, which is no use of it.
                StmtKind::Attr { key, .. } if key == DOUBLE_BUFFER => return,
                _ => {}
            }
            // An address of the buffer would not know about the two halves either. Whoever has the address of another
            // buffer may write to it.
            for expr in part.exprs() {
                expr.walk(&mut |inner| {
                    if let Some(buffer) = addressed(inner) {
                        plain &= !is_filled_by(region, buffer, function);
                        made.insert(function.root(buffer));
                    }
                });
            }
        });
    }
    // A producer that allocates, defines names, calls or launches cannot be copied in front of the loop without
    // renaming or side effects.
    for stmt in &region.producer {
        stmt.walk(&mut |part| {
            plain &= !matches!(
                part.kind,
                StmtKind::Alloc(_)
                    | StmtKind::Declare(_)
                    | StmtKind::Let { .. }
                    | StmtKind::Evaluate(_)
                    | StmtKind::Thread { .. }
            );
            for expr in part.exprs() {
                // The producer may read its own buffers (a reduction does): its loads move to the same
                // half as its stores.
                plain &= !expr.any(&|inner| match inner {
                    Expr::Load { buffer, .. } => {
                        made.contains(&function.root(*buffer)) && !is_filled_by(region, *buffer, function)
                    }
                    _ => addressed(inner).is_some(),
                });
            }
        });
    }
    plain && own_allocs == region.buffers.len()
}

/// The buffer whose address an expression takes: `B` in `B.data` and in `address_of(B[i])`.
fn addressed(expr: &Expr) -> Option<BufId> {
    match expr {
        Expr::Data(buffer) => Some(*buffer),
        Expr::Call { name, args, .. } if name == "address_of" => match args.first() {
            Some(Expr::Load { buffer, .. }) => Some(*buffer),
            _ => None,
        },
        _ => None,
    }
}

/// Simplifies the subscripts and conditions of all statements.
fn simplify_block(block: &mut Block) {
    for stmt in block {
        match &mut stmt.kind {
            StmtKind::Store { index, value, .. } => {
                index.iter_mut().for_each(simplify_subscript);
                simplify_loads(value);
            }
            StmtKind::If { condition, .. } => simplify_loads(condition),
            _ => {}
        }
        for inner in stmt.blocks_mut() {
            simplify_block(inner);
        }
    }
}

/// Simplifies a flat subscript; of a ramp only the base, because the vector itself is no sum.
fn simplify_subscript(index: &mut Expr) {
    match index {
        Expr::Ramp { base, .. } => **base = simplify(base),
        other => *other = simplify(other),
    }
}

/// Simplifies the subscripts of all loads in a value and leaves its arithmetic alone, which may be on floats.
fn simplify_loads(value: &mut Expr) {
    match value {
        Expr::Load { index, .. } => index.iter_mut().for_each(simplify_subscript),
        other => other.children_mut().into_iter().for_each(simplify_loads),
    }
}

/// Adds an offset (in elements) to every subscript of one buffer in a block.
fn shift_block(block: &mut Block, buffer: BufId, offset: &Expr) {
    for stmt in block {
        shift_statement(stmt, buffer, offset);
    }
}

/// Adds an offset to every subscript of one buffer in a statement and everything inside of it.
fn shift_statement(stmt: &mut Stmt, buffer: BufId, offset: &Expr) {
    for expr in stmt.exprs_mut() {
        shift_loads(expr, buffer, offset);
    }
    if let StmtKind::Store { buffer: target, index, .. } = &mut stmt.kind
        && *target == buffer
    {
        index.iter_mut().for_each(|index| shift(index, offset));
    }
    for inner in stmt.blocks_mut() {
        shift_block(inner, buffer, offset);
    }
}

/// Adds an offset to every subscript of one buffer in an expression.
fn shift_loads(expr: &mut Expr, buffer: BufId, offset: &Expr) {
    for child in expr.children_mut() {
        shift_loads(child, buffer, offset);
    }
    if let Expr::Load { buffer: source, index } = expr
        && *source == buffer
    {
        index.iter_mut().for_each(|index| shift(index, offset));
    }
}

/// Adds an offset to one subscript; of a ramp, to its base.
fn shift(index: &mut Expr, offset: &Expr) {
    match index {
        Expr::Ramp { base, .. } => **base = add(offset.clone(), (**base).clone()),
        other => *other = add(offset.clone(), other.clone()),
    }
}
