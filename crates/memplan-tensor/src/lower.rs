//! From the loop IR to a Program, on which a layout is checked without trusting how it was found.
//!
//! A statement without allocations inside becomes **one** op: it reads what is loaded in it and updates what is stored in it.
//! Where a result may take the place of an operand (proved by the in-place analysis), the op says so with an overlay
//! permission. Statements that hold allocations keep their structure:
//!
//! | statement | control |
//! |---|---|
//! | `for`, unrolled, `while` | loop |
//! | parallel `for` | parallel, a scope of its own |
//! | thread launch, thread binding, vectorized `for` | once: threads run in step, as the passes that insert barriers see to |
//! | `if` | alternatives |
//!
//! ```text
//! for i: B[i] = A[i] + 1        store  read A, update B, B may overlay A
//! ```

use crate::ir::{BufId, Expr, ForKind, Function, Memory, Stmt, StmtKind};
use crate::rewrite::{Layout, Sequence, StmtId, events, linearize, proved_pairs, proved_steps};
use crate::script::print_expr;
use memplan_core::{Bytes, Id, IndexVec, Placement, SpaceId, storage_bytes};
use memplan_program::{
    Control, OpDraft, OpId, Origin, OverlayKind, Program, ProgramBuilder, ProgramError, SiteId, Size, Trips, ValueId,
};
use memplan_verify::dataflow::{self, SitePlan, Violation};
use std::collections::HashMap;

/// A function as a Program.
#[derive(Clone, Debug)]
pub struct Lowered {
    /// The program.
    pub program: Program,
    /// The allocation site of each allocated buffer.
    pub sites: IndexVec<BufId, Option<SiteId>>,
    /// The scope that memory attached to a statement belongs to: the innermost op, from the statement outwards, of which
    /// every instance has memory of its own.
    pub owners: HashMap<StmtId, OpId>,
}

/// Lowers a function, with every overlay permission that can be proved.
pub fn lower(function: &Function) -> Result<Lowered, ProgramError> {
    let sequence = linearize(function);
    lower_with(&sequence, &permissions(&sequence))
}

/// Lowers functions to one Program, each on its own: calls between them are opaque.
pub fn lower_all(functions: &[Function]) -> Result<Program, ProgramError> {
    let mut builder = ProgramBuilder::new();
    for function in functions {
        let sequence = linearize(function);
        builder = lower_into(builder, &sequence, &permissions(&sequence)).0;
    }
    builder.finish()
}

/// All that can be proved of a function.
fn permissions(sequence: &Sequence<'_>) -> Permissions {
    let events = events(sequence);
    let mut budget = 1 << 24;
    let mut permissions = Permissions::new();
    for stmt in sequence.statements.ids() {
        let pairs = proved_pairs(sequence, &events, stmt, &mut budget);
        if !pairs.is_empty() {
            permissions.insert(stmt, pairs);
        }
    }
    permissions
}

/// Pairs (output, input) of statements that may lie on the same bytes.
type Permissions = HashMap<StmtId, Vec<(BufId, BufId)>>;

fn lower_with(sequence: &Sequence<'_>, permissions: &Permissions) -> Result<Lowered, ProgramError> {
    let (builder, values, owners) = lower_into(ProgramBuilder::new(), sequence, permissions);
    let program = builder.finish()?;
    let sites = values
        .iter()
        .map(|value| match value.map(|value| &program.value(value).origin) {
            Some(Origin::Alloc(site)) => Some(*site),
            _ => None,
        })
        .collect();
    Ok(Lowered { program, sites, owners })
}

/// The value of each buffer that is none of another's.
type Values = IndexVec<BufId, Option<ValueId>>;

/// Appends a function to a program.
fn lower_into(
    mut builder: ProgramBuilder,
    sequence: &Sequence<'_>,
    permissions: &Permissions,
) -> (ProgramBuilder, Values, HashMap<StmtId, OpId>) {
    let function = sequence.function;
    let values: Values = function
        .buffers
        .iter()
        .map(|buffer| match buffer.memory {
            Memory::Argument => Some(builder.external(&buffer.name)),
            Memory::Own => {
                let space = builder.space(&buffer.scope.to_string());
                let value = builder.alloc(&buffer.name, size_of(function, buffer), space);
                if let Some(site) = builder.site_mut(value) {
                    site.alignment = Bytes(buffer.dtype.lane_bytes().max(1));
                }
                Some(value)
            }
            Memory::View { .. } => None,
        })
        .collect();
    let parameters: Vec<ValueId> = function
        .params
        .iter()
        .filter_map(|param| match param {
            crate::ir::Param::Buffer(buffer) => values[*buffer],
            crate::ir::Param::Var(_) => None,
        })
        .collect();
    builder.open_function(&function.name, &parameters);
    let mut lowering = Lowering {
        sequence,
        permissions,
        builder,
        values,
        owners: HashMap::new(),
        scopes: Vec::new(),
        in_thread: false,
        next: 0,
    };
    lowering.block(&function.body);
    lowering.builder.leave(&[]);
    lowering.builder.close_function();
    let Lowering { builder, values, owners, .. } = lowering;
    (builder, values, owners)
}

/// Everything in which a layout changes what the function computes, in words; empty if nothing does.
pub fn check_layout(function: &Function, layout: &Layout) -> Result<Vec<String>, ProgramError> {
    let sequence = linearize(function);
    let mut permissions = Permissions::new();
    for step in proved_steps(&sequence, layout) {
        permissions.entry(step.stmt).or_default().push((step.dst, step.src));
    }
    let lowered = lower_with(&sequence, &permissions)?;
    let plan = site_plan(&lowered, layout);
    let describe = |violation: &Violation| violation.describe(&lowered.program);
    Ok(dataflow::check(&lowered.program, &plan).iter().map(describe).collect())
}

/// A layout as placements of sites: each allocation is a memory of its own, one per instance of the scope it stands in.
pub fn site_plan(lowered: &Lowered, layout: &Layout) -> SitePlan {
    let mut plan = SitePlan::empty(&lowered.program);
    for (buffer, place) in layout.places.iter_enumerated() {
        let (Some(place), Some(site)) = (place, lowered.sites.get(buffer).copied().flatten()) else {
            continue;
        };
        let allocation = &layout.allocations[place.allocation];
        if allocation.stays {
            continue;
        }
        let space = SpaceId::from_index(place.allocation.index());
        plan.placements[site] = Some(Placement::at(space, Bytes(place.bit_offset / 8)));
        if let Some(owner) = allocation.attach.and_then(|stmt| lowered.owners.get(&stmt)) {
            plan.owners.insert(space, *owner);
        }
    }
    plan
}

fn size_of(function: &Function, buffer: &crate::ir::Buffer) -> Size {
    let known = buffer.constant_elements().and_then(|elements| elements.checked_mul(buffer.dtype.total_bits()));
    match known.filter(|_| buffer.has_constant_shape()) {
        Some(bits) => Size::Known(storage_bytes(bits)),
        None => {
            let extents: Vec<String> = buffer.shape.iter().map(|extent| print_expr(extent, function)).collect();
            Size::Symbolic { symbol: format!("{}*{}", extents.join("*"), buffer.dtype).into(), bound: None }
        }
    }
}

struct Lowering<'a, 'f> {
    sequence: &'a Sequence<'f>,
    permissions: &'a Permissions,
    builder: ProgramBuilder,
    values: IndexVec<BufId, Option<ValueId>>,
    owners: HashMap<StmtId, OpId>,
    /// Open ops with memory of their own.
    scopes: Vec<OpId>,
    in_thread: bool,
    next: usize,
}

/// Buffers that a statement loads and stores.
#[derive(Default)]
struct Touched {
    loaded: Vec<BufId>,
    stored: Vec<BufId>,
}

impl Lowering<'_, '_> {
    fn block(&mut self, block: &[Stmt]) {
        for stmt in block {
            self.statement(stmt);
        }
    }

    fn statement(&mut self, stmt: &Stmt) {
        let id = StmtId::from_index(self.next);
        if let Some(body) = self.transparent(stmt) {
            self.next += 1;
            self.own_expressions(id, stmt);
            return self.block(body);
        }
        if !has_allocation(stmt) {
            stmt.walk(&mut |_| self.next += 1);
            self.summary(id, stmt);
            return;
        }
        self.next += 1;
        let name = statement_name(stmt);
        let draft = OpDraft::new(name).span(stmt.span);
        match &stmt.kind {
            StmtKind::Alloc(buffer) => {
                self.own_expressions(id, stmt);
                if let Some(value) = self.values[*buffer] {
                    self.builder.push(draft.result(value));
                }
            }
            StmtKind::For { extent, kind, body, .. } => {
                let count = extent.as_int().and_then(|count| u64::try_from(count).ok());
                let draft = match kind {
                    ForKind::Parallel => draft.control(Control::Parallel { trips: Box::new([count]) }),
                    ForKind::ThreadBinding(_) | ForKind::Vectorized => draft,
                    _ => draft.control(Control::Loop(count.map_or(Trips::any(), Trips::exactly))),
                };
                self.own_expressions(id, stmt);
                let serial = matches!(kind, ForKind::Serial | ForKind::Unrolled);
                self.regions(id, if serial { draft } else { draft.scope() }, !serial, &[body]);
            }
            StmtKind::While { body, .. } => {
                // The condition is read before every iteration, and once more at the end.
                self.builder.open_op(draft.control(Control::Loop(Trips::any())));
                self.builder.open_region(&[]);
                self.own_expressions(id, stmt);
                self.block(body);
                self.builder.leave(&[]);
                self.builder.close_region();
                self.builder.close_op();
                self.own_expressions(id, stmt);
            }
            StmtKind::If { then, otherwise, .. } => {
                self.own_expressions(id, stmt);
                let may_skip = otherwise.is_empty();
                let draft = draft.control(Control::Alternatives { may_skip });
                if may_skip {
                    self.regions(id, draft, false, &[then]);
                } else {
                    self.regions(id, draft, false, &[then, otherwise]);
                }
            }
            StmtKind::Thread { body, .. } => {
                self.own_expressions(id, stmt);
                self.in_thread = true;
                self.regions(id, draft.scope(), true, &[body]);
                self.in_thread = false;
            }
            StmtKind::Attr { body, .. } => {
                self.own_expressions(id, stmt);
                self.regions(id, draft, false, &[body]);
            }
            _ => {}
        }
    }

    /// The body of a statement that the sequence looks through: a mark, or one more axis of a launch.
    fn transparent<'s>(&self, stmt: &'s Stmt) -> Option<&'s [Stmt]> {
        match &stmt.kind {
            StmtKind::Attr { key, body, .. } if !matches!(key.as_str(), "extern_scope" | "virtual_thread") => {
                Some(body)
            }
            StmtKind::Thread { body, .. } if self.in_thread => Some(body),
            _ => None,
        }
    }

    fn regions(&mut self, id: StmtId, draft: OpDraft, is_scope: bool, blocks: &[&Vec<Stmt>]) {
        let op = self.builder.open_op(draft);
        let depth = self.scopes.len();
        if is_scope {
            self.scopes.push(op);
        }
        if let Some(owner) = self.scopes.last() {
            self.owners.insert(id, *owner);
        }
        for block in blocks {
            self.builder.open_region(&[]);
            self.block(block);
            self.builder.leave(&[]);
            self.builder.close_region();
        }
        self.builder.close_op();
        self.scopes.truncate(depth);
    }

    /// What a statement with inner statements itself reads: bounds, conditions, extents.
    fn own_expressions(&mut self, id: StmtId, stmt: &Stmt) {
        let mut touched = Touched::default();
        match &stmt.kind {
            StmtKind::Alloc(buffer) => {
                for extent in &self.sequence.function.buffers[*buffer].shape {
                    self.expression(extent, &mut touched);
                }
            }
            _ => {
                for expr in stmt.exprs() {
                    self.expression(expr, &mut touched);
                }
            }
        }
        self.push(id, stmt, touched);
    }

    /// A whole statement as one op.
    fn summary(&mut self, id: StmtId, stmt: &Stmt) {
        let mut touched = Touched::default();
        stmt.walk(&mut |inner| {
            for expr in inner.exprs() {
                self.expression(expr, &mut touched);
            }
            if let StmtKind::Store { buffer, .. } = &inner.kind {
                note(&mut touched.stored, self.sequence.function.root(*buffer));
            }
        });
        self.push(id, stmt, touched);
    }

    fn expression(&self, expr: &Expr, touched: &mut Touched) {
        expr.walk(&mut |part| match part {
            Expr::Load { buffer, .. } => note(&mut touched.loaded, self.sequence.function.root(*buffer)),
            Expr::Data(buffer) => note(&mut touched.stored, self.sequence.function.root(*buffer)),
            Expr::Call { name, args, .. } if name == "address_of" => {
                if let [Expr::Load { buffer, .. }] = args.as_slice() {
                    note(&mut touched.stored, self.sequence.function.root(*buffer));
                }
            }
            _ => {}
        });
    }

    fn push(&mut self, id: StmtId, stmt: &Stmt, touched: Touched) {
        if touched.loaded.is_empty() && touched.stored.is_empty() {
            return;
        }
        let name = statement_name(stmt);
        let pairs = self.permissions.get(&id).map_or(&[][..], Vec::as_slice);
        let mut draft = OpDraft::new(name).span(stmt.span);
        for buffer in &touched.stored {
            let Some(value) = self.values[*buffer] else { continue };
            if pairs.iter().any(|(_, src)| src == buffer) {
                // A source that is stored, too: the proof says that this comes first, cell by cell.
                self.builder.push(OpDraft::new(name).span(stmt.span).update(value));
                draft = draft.read(value);
            } else {
                draft = draft.update(value);
            }
        }
        for buffer in touched.loaded.iter().filter(|buffer| !touched.stored.contains(buffer)) {
            if let Some(value) = self.values[*buffer] {
                draft = draft.read(value);
            }
        }
        for (dst, src) in pairs {
            if let (Some(output), Some(input)) = (self.values[*dst], self.values[*src]) {
                draft = draft.overlay(output, input, OverlayKind::SameBase);
            }
        }
        self.builder.push(draft);
    }
}

fn note(list: &mut Vec<BufId>, buffer: BufId) {
    if !list.contains(&buffer) {
        list.push(buffer);
    }
}

fn has_allocation(stmt: &Stmt) -> bool {
    let mut found = false;
    stmt.walk(&mut |inner| found |= matches!(inner.kind, StmtKind::Alloc(_)));
    found
}

fn statement_name(stmt: &Stmt) -> &'static str {
    match &stmt.kind {
        StmtKind::Alloc(_) => "alloc",
        StmtKind::Declare(_) => "declare",
        StmtKind::Store { .. } => "store",
        StmtKind::For { kind: ForKind::Parallel, .. } => "parallel",
        StmtKind::For { .. } => "for",
        StmtKind::While { .. } => "while",
        StmtKind::If { .. } => "if",
        StmtKind::Let { .. } => "let",
        StmtKind::Assert { .. } => "assert",
        StmtKind::Evaluate(_) => "evaluate",
        StmtKind::Thread { .. } => "launch",
        StmtKind::Attr { .. } => "attr",
        StmtKind::Nothing => "nothing",
    }
}
