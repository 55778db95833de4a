//! From the loop IR to a Program, on which a layout is checked without trusting how it was found.
//!
//! A statement without allocations inside becomes **one** op: it reads what is loaded in it and updates what is stored
//! in it. Where a result may take the place of an operand, the op says so with an overlay permission. Permissions come
//! from [`memplan_verify::in_place`] alone, which reads the statement's own subscripts; what the rewriter believes
//! does not count here. Statements that hold allocations keep their structure:
//!
//! | statement | control |
//! |---|---|
//! | `for`, unrolled, `while` | loop |
//! | parallel `for` | parallel, a scope of its own |
//! | thread launch or binding, vectorized `for` | once: threads run in step (the passes that insert barriers see to it) |
//! | `if` | alternatives |
//!
//! ```text
//! for i: B[i] = A[i] + 1        store  read A, update B, B may overlay A
//! ```

// `Program`, `OpDraft` and `ProgramBuilder` are the form of programs that all checks share: ops with accesses to
// values, in regions. A value with a *site* is an allocation of the function; an *external* value is an argument.
// `nest` says what a statement does to two buffers in the words of the judge.
use crate::ir::{BufId, Buffer, Expr, ForKind, Function, Memory, Stmt, StmtKind, StorageScope, VarId, is_asynchronous};
use crate::nest::{self, Axis, Binding};
use crate::rewrite::{Judge, Layout, StmtId};
use crate::script::print_expr;
use memplan_core::{Bytes, Id, IndexVec, Placement, SpaceId, Span, patience, storage_bytes};
use memplan_program::{
    Access, AccessKind, Accesses, Control, OpDraft, OpId, OpName, Origin, OverlayKind, Program, ProgramBuilder,
    ProgramError, Results, SiteId, Size, Trips, ValueId,
};
use memplan_verify::dataflow::{SitePlan, Violation};
use memplan_verify::in_place::{Budget, judge};
use std::collections::HashMap;

/// A function as a Program.
#[derive(Clone, Debug)]
pub struct Lowered {
    /// The program.
    pub program: Program,
    /// The allocation site of each allocated buffer.
    pub sites: IndexVec<BufId, Option<SiteId>>,
    /// For each statement that memory can be attached to (it has a body), the *scope* that this memory belongs to: the
    /// innermost op, from the statement outwards, of which every instance has memory of its own (a parallel loop, a
    /// launch). Memory of a statement that is not listed belongs to the function: the statement is outside of all
    /// scopes, or it became no op with regions (see `transparent` and `summary`).
    pub owners: HashMap<StmtId, OpId>,
}

/// Which pairs (result, operand) of a statement the judge of in-place reuse ([`memplan_verify::in_place`]) is asked
/// about.
#[derive(Clone, Copy)]
enum Candidates<'a> {
    /// None, because no layout is known yet.
    None,
    /// Every pair of the same element type and size, at most [`PAIRS_PER_STATEMENT`] per statement.
    All,
    /// The pairs that a layout puts at the same place.
    Of(&'a Layout),
}

/// At most so many pairs per statement are asked about with [`Candidates::All`]. A result takes the place of one
/// operand at most, so more pairs cost time and bring nothing.
const PAIRS_PER_STATEMENT: usize = 16;

impl Candidates<'_> {
    /// Whether the judge is asked about a pair. Both must be allocated by the function itself, and must have the same
    /// type, memory and number of elements, or the same place in the layout.
    fn includes(self, function: &Function, output: BufId, input: BufId) -> bool {
        // Allocated by the function itself: no argument and no view.
        let own = |buffer: BufId| function.buffers[buffer].memory == Memory::Own;
        if output == input || !own(output) || !own(input) {
            return false;
        }
        let (a, b) = (&function.buffers[output], &function.buffers[input]);
        match self {
            Candidates::None => false,
            Candidates::All => {
                let symbolic = !a.has_constant_shape() || !b.has_constant_shape();
                a.dtype == b.dtype && a.scope == b.scope && (symbolic || a.constant_elements() == b.constant_elements())
            }
            Candidates::Of(layout) => layout.places[output].is_some() && layout.places[output] == layout.places[input],
        }
    }
}

/// Lowers a function, with every overlay permission that can be proved.
pub fn lower(function: &Function) -> Result<Lowered, ProgramError> {
    lower_with(function, Candidates::All, Names::Kept)
}

/// The allocation site of each allocated buffer, as [`lower`] numbers them, or the error that it gives.
pub fn sites(function: &Function) -> Result<IndexVec<BufId, Option<SiteId>>, ProgramError> {
    // The sites do not depend on permissions, whose proofs take time. Only an error needs names.
    let outlined = lower_with(function, Candidates::None, Names::LeftOut);
    outlined.or_else(|_| lower(function)).map(|lowered| lowered.sites)
}

/// Lowers functions to one Program, each on its own: calls between them are opaque.
pub fn lower_all(functions: &[Function]) -> Result<Program, ProgramError> {
    let mut builder = ProgramBuilder::new();
    for function in functions {
        builder = lower_into(builder, function, Candidates::All, Names::Kept).0;
    }
    builder.finish()
}

/// Whether the values of a Program have the names of the buffers that they stand for. Only messages name values, so a
/// Program without names is enough for a check that finds nothing.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Names {
    Kept,
    LeftOut,
}

/// Lowers a function, and says for each of its buffers which allocation it became.
fn lower_with(function: &Function, candidates: Candidates<'_>, names: Names) -> Result<Lowered, ProgramError> {
    let (builder, values, owners) = lower_into(ProgramBuilder::new(), function, candidates, names);
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

/// The value of each buffer in the Program; `None` for a view, which is no memory of its own.
type Values = IndexVec<BufId, Option<ValueId>>;

/// Appends a function to a program. Gives back the program, the value of each buffer, and [`Lowered::owners`].
fn lower_into<'f>(
    mut builder: ProgramBuilder,
    function: &'f Function,
    candidates: Candidates<'f>,
    names: Names,
) -> (ProgramBuilder, Values, HashMap<StmtId, OpId>) {
    let buffers = function.buffers.len();
    // As a rule a buffer has an op that allocates it, and one that computes it.
    builder.reserve(buffers, 2 * buffers);
    let mut last_space: Option<(&StorageScope, SpaceId)> = None;
    let name_of = |buffer: &'f Buffer| if names == Names::Kept { buffer.name.as_str() } else { "" };
    let values: Values = function
        .buffers
        .iter()
        // Arguments are memory that the caller owns: they are read and written, never placed. A view is no memory
        // at all; its accesses count for the buffer it looks at.
        .map(|buffer| match buffer.memory {
            Memory::Argument => Some(builder.external(name_of(buffer))),
            Memory::Own => {
                // Most buffers are in the memory of the buffer before, whose space need not be looked up again.
                let space = match last_space {
                    Some((scope, space)) if *scope == buffer.scope => space,
                    _ => builder.space(&buffer.scope.to_string()),
                };
                last_space = Some((&buffer.scope, space));
                // Addresses are checked in bytes, so a sub-byte type still needs an alignment of one.
                let alignment = Bytes(buffer.dtype.lane_bytes().max(1));
                Some(builder.alloc_aligned(name_of(buffer), size_of(function, buffer), alignment, space))
            }
            Memory::View { .. } => None,
        })
        .collect();
    // Scalar parameters are no memory and have no value in the Program.
    let parameters: Vec<ValueId> = function
        .params
        .iter()
        .filter_map(|param| match param {
            crate::ir::Param::Buffer(buffer) => values[*buffer],
            crate::ir::Param::Var(_) => None,
        })
        .collect();
    builder.open_function(&function.name, &parameters);
    // The statements are lowered into the body of the function that has just been opened.
    let mut lowering = Lowering {
        function,
        candidates,
        budget: Budget::default(),
        uses: None,
        op_names: Vec::new(),
        around: Vec::new(),
        builder,
        values,
        owners: HashMap::new(),
        scopes: Vec::new(),
        in_thread: false,
        next: 0,
        scratch: Summary::default(),
    };
    lowering.block(&function.body);
    // The function ends and returns no values.
    lowering.builder.leave(&[]);
    lowering.builder.close_function();
    let Lowering { builder, values, owners, .. } = lowering;
    (builder, values, owners)
}

/// A way in which a layout changes what the function computes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Conflict {
    /// What goes wrong, in words.
    pub message: String,
    /// Pairs of buffers of which one overwrites the other; the smaller id first. Keeping them apart removes the
    /// conflict.
    pub pairs: Vec<(BufId, BufId)>,
    /// The statement concerned.
    pub span: Span,
}

/// A function and a layout of it for the dataflow check: only what the judge permits may be computed in place.
pub fn meaning(function: &Function, layout: &Layout) -> Result<(Program, SitePlan), ProgramError> {
    let lowered = lower_with(function, Candidates::Of(layout), Names::Kept)?;
    let plan = site_plan(&lowered, layout);
    Ok((lowered.program, plan))
}

/// Everything in which a layout changes what the function computes, by the judge's word; empty if nothing does.
pub fn check_layout(function: &Function, layout: &Layout, judge: Judge) -> Result<Vec<Conflict>, ProgramError> {
    Question::new(function, layout, None).conflicts(judge)
}

/// A function as a Program without any permission to compute in place: what can be made of it before a layout is known.
pub(crate) struct Outline(Result<Lowered, ProgramError>);

/// The outline of a function.
pub(crate) fn outline(function: &Function) -> Outline {
    Outline(lower_with(function, Candidates::None, Names::LeftOut))
}

/// The question whether a layout changes what a function computes, ready for the judge.
pub(crate) struct Question<'a> {
    function: &'a Function,
    layout: &'a Layout,
    /// The function as a Program without names, and the layout as placements of its sites. `None` if that Program is
    /// not well formed.
    prepared: Option<(Lowered, SitePlan)>,
}

impl<'a> Question<'a> {
    /// Prepares the question. An outline of the function saves the work of lowering it, if the layout puts no result of
    /// a statement at the place of an operand.
    pub(crate) fn new(function: &'a Function, layout: &'a Layout, outline: Option<Outline>) -> Question<'a> {
        let with_plan = |lowered: Lowered| {
            let plan = site_plan(&lowered, layout);
            (lowered, plan)
        };
        let outlined = outline.and_then(|outline| outline.0.ok()).map(with_plan);
        let prepared = outlined.filter(|(lowered, plan)| !may_compute_in_place(&lowered.program, plan));
        let lower = || lower_with(function, Candidates::Of(layout), Names::LeftOut).ok().map(with_plan);
        Question { function, layout, prepared: prepared.or_else(lower) }
    }

    /// Everything in which the layout changes what the function computes; empty if nothing does.
    pub(crate) fn conflicts(self, judge: Judge) -> Result<Vec<Conflict>, ProgramError> {
        if let Some((lowered, plan)) = &self.prepared
            && (judge.dataflow)(&lowered.program, plan).is_empty()
        {
            return Ok(Vec::new());
        }
        // What went wrong is told with the names of the buffers.
        let lowered = lower_with(self.function, Candidates::Of(self.layout), Names::Kept)?;
        let plan = site_plan(&lowered, self.layout);
        let violations = (judge.dataflow)(&lowered.program, &plan);
        Ok(violations.iter().map(|violation| conflict(&lowered, self.layout, violation)).collect())
    }
}

/// Whether some op writes one site and accesses another one that has the same place. Only then is there a pair that
/// [`Candidates::Of`] includes, so a Program without permissions is all there is to ask about otherwise.
fn may_compute_in_place(program: &Program, plan: &SitePlan) -> bool {
    let place = |value: ValueId| match program.value(value).origin {
        Origin::Alloc(site) => plan.placements[site].as_ref(),
        _ => None,
    };
    program.ops().iter().filter(|op| op.accesses.len() > 1).any(|op| {
        let mut written = op.accesses.iter().enumerate().filter(|(_, access)| access.kind.writes());
        written.any(|(position, output)| {
            let Some(there) = place(output.value) else { return false };
            op.accesses.iter().enumerate().any(|(other, input)| other != position && place(input.value) == Some(there))
        })
    })
}

/// A violation of the dataflow check in terms of the function: which buffers must be kept apart.
fn conflict(lowered: &Lowered, layout: &Layout, violation: &Violation) -> Conflict {
    let program = &lowered.program;
    let span = violation.op().map_or_else(Span::default, |op| program.op(op).span);
    let mut pairs = Vec::new();
    let (harmed, suspects) = concerned(program, violation);
    // Each buffer that is harmed is paired with the suspects that lie in the same allocation.
    for buffer in harmed.into_iter().filter_map(|site| lowered.buffer_of(site)) {
        // Whether another buffer lies in the same allocation, so that it can be kept apart from this one.
        let shares = |other: BufId| match (layout.places[buffer], layout.places[other]) {
            (Some(one), Some(two)) => other != buffer && one.allocation == two.allocation,
            _ => false,
        };
        let named: Vec<BufId> =
            suspects.iter().filter_map(|site| lowered.buffer_of(*site)).filter(|b| shares(*b)).collect();
        // If the check does not say who overwrote the buffer, any buffer in the same memory may have.
        let others =
            if named.is_empty() { layout.places.ids().filter(|other| shares(*other)).collect() } else { named };
        pairs.extend(others.into_iter().map(|other| (buffer.min(other), buffer.max(other))));
    }
    pairs.sort_unstable();
    pairs.dedup();
    Conflict { message: violation.describe(program), pairs, span }
}

/// The sites whose content a violation destroys, and the sites whose writes may have destroyed it. The second list is
/// empty if the violation names no writer.
fn concerned(program: &Program, violation: &Violation) -> (Vec<SiteId>, Vec<SiteId>) {
    // The site of a value; `None` for arguments.
    let site_of = |value: ValueId| match program.value(value).origin {
        Origin::Alloc(site) => Some(site),
        _ => None,
    };
    match violation {
        Violation::Overwritten { site, by, .. } => {
            let written = program.op(*by).accesses.iter().filter(|access| access.kind != AccessKind::Read);
            (vec![*site], written.filter_map(|access| site_of(access.value)).collect())
        }
        Violation::OwnInput { site, output, .. } => (vec![*site], site_of(*output).into_iter().collect()),
        Violation::OutputsOverlap { site, first, .. } => (vec![*site], site_of(*first).into_iter().collect()),
        Violation::EscapedOverwritten { site, .. }
        | Violation::ForeignScope { site, .. }
        | Violation::Misaligned { site, .. } => (vec![*site], Vec::new()),
        Violation::IterationsOverlap { sites, .. }
        | Violation::Unordered { sites, .. }
        | Violation::ExclusiveShared { sites } => (vec![sites.0], vec![sites.1]),
        // Other violations are not about two buffers.
        _ => (Vec::new(), Vec::new()),
    }
}

impl Lowered {
    /// The buffer that became this allocation site.
    fn buffer_of(&self, site: SiteId) -> Option<BufId> {
        self.sites.iter_enumerated().find(|(_, other)| **other == Some(site)).map(|(buffer, _)| buffer)
    }
}

/// A layout as placements of sites: each allocation is a memory of its own, one per instance of the scope it stands
/// in.
pub fn site_plan(lowered: &Lowered, layout: &Layout) -> SitePlan {
    let mut plan = SitePlan::empty(&lowered.program);
    let mut tenants = IndexVec::filled(0u32, layout.allocations.len());
    layout.places.iter().flatten().for_each(|place| tenants[place.allocation] += 1);
    for (buffer, place) in layout.places.iter_enumerated() {
        let (Some(place), Some(site)) = (place, lowered.sites.get(buffer).copied().flatten()) else {
            continue;
        };
        let allocation = &layout.allocations[place.allocation];
        // An allocation that stays is to be shared with nobody. Without a placement the check gives it memory of its
        // own. If a layout puts several buffers there all the same, the check has to see that.
        if allocation.stays && tenants[place.allocation] == 1 {
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

/// The size of a buffer. A symbolic size is named after its extents and element type (`n*8*float32`), so that equal
/// sizes have equal names.
fn size_of(function: &Function, buffer: &Buffer) -> Size {
    let known = buffer.constant_elements().and_then(|elements| elements.checked_mul(buffer.dtype.total_bits()));
    match known {
        Some(bits) => Size::Known(storage_bytes(bits)),
        None => {
            let extents: Vec<String> = buffer.shape.iter().map(|extent| print_expr(extent, function)).collect();
            Size::Symbolic { symbol: format!("{}*{}", extents.join("*"), buffer.dtype).into(), bound: None }
        }
    }
}

/// The walk that lowers one function.
struct Lowering<'f> {
    function: &'f Function,
    candidates: Candidates<'f>,
    /// Work that the judge may still do for this function.
    budget: Budget,
    /// How often each buffer is used in the whole function; `None` until the judge is first asked about a pair.
    uses: Option<IndexVec<BufId, usize>>,
    /// The names of ops that were used so far, so that ops of one name share it.
    op_names: Vec<(&'static str, OpName)>,
    /// The loops, launches, lets and allocations in force at the current statement, from the outside in.
    around: Vec<Binding<'f>>,
    builder: ProgramBuilder,
    values: IndexVec<BufId, Option<ValueId>>,
    owners: HashMap<StmtId, OpId>,
    /// The scopes (ops of which each instance has memory of its own) around the current statement.
    scopes: Vec<OpId>,
    /// Whether the current statement is inside of a thread launch.
    in_thread: bool,
    /// The number of the next statement, see `statement`.
    next: usize,
    /// The summary that was made last, whose lists the next one uses.
    scratch: Summary,
}

/// Buffers that a statement loads and stores.
#[derive(Default)]
struct Touched {
    loaded: Vec<BufId>,
    stored: Vec<BufId>,
    /// How many calls and bare addresses its expressions have.
    calls: usize,
}

/// What a statement does, with everything inside of it.
#[derive(Default)]
struct Summary {
    touched: Touched,
    /// Buffers whose memory may be used at any time after the statement.
    escaping: Vec<BufId>,
    /// How many statements it has, itself included.
    statements: usize,
}

impl Summary {
    /// The summary of nothing, with the room that the lists of this one have.
    fn emptied(mut self) -> Summary {
        self.touched.loaded.clear();
        self.touched.stored.clear();
        self.touched.calls = 0;
        self.escaping.clear();
        self.statements = 0;
        self
    }
}

impl<'f> Lowering<'f> {
    /// Lowers the statements of a block. Bindings are known to the statements after them, up to the end of the block.
    fn block(&mut self, block: &'f [Stmt]) {
        // Lets and allocations of the block end with it.
        let depth = self.around.len();
        for stmt in block {
            // The caller waits no longer and throws away what we return, complete or not.
            if patience::is_over() {
                break;
            }
            self.statement(stmt);
            match &stmt.kind {
                StmtKind::Let { var, value } => self.around.push(Binding::Let(*var, value)),
                StmtKind::Alloc(buffer) => self.around.push(Binding::Alloc(*buffer)),
                _ => {}
            }
        }
        self.around.truncate(depth);
    }

    /// Lowers the body of a statement, inside of which the variable of a loop or launch is known.
    fn body(&mut self, stmt: &'f Stmt, body: &'f [Stmt]) {
        let axis = |var: &VarId, first, count, axis| Binding::Axis { var: *var, first, count, axis };
        let binding = match &stmt.kind {
            StmtKind::For { var, min, extent, kind, .. } => Some(match kind {
                ForKind::Serial | ForKind::Unrolled => Binding::Loop(*var, min),
                ForKind::Parallel => axis(var, Some(min), extent, Axis::Parallel),
                ForKind::Vectorized => axis(var, Some(min), extent, Axis::Lanes),
                ForKind::ThreadBinding(tag) => axis(var, Some(min), extent, Axis::of_tag(tag)),
            }),
            StmtKind::Thread { var, extent, tag, .. } => Some(axis(var, None, extent, Axis::of_tag(tag))),
            _ => None,
        };
        self.around.extend(binding);
        self.block(body);
        if binding.is_some() {
            self.around.pop();
        }
    }

    /// Lowers one statement: one without allocations inside becomes one op (a summary), any other an op with regions.
    /// Statements are numbered in the order of the text (`next`), those inside of a summary included, because layouts
    /// name the places of allocations by these numbers.
    fn statement(&mut self, stmt: &'f Stmt) {
        let id = StmtId::from_index(self.next);
        // A mark or one more axis of a launch: its body is part of the block around it.
        if let Some(body) = self.transparent(stmt) {
            self.next += 1;
            self.own_expressions(stmt);
            return self.body(stmt, body);
        }
        if let StmtKind::Alloc(buffer) = &stmt.kind {
            self.next += 1;
            self.own_expressions(stmt);
            if let Some(value) = self.values[*buffer] {
                let name = self.name(stmt);
                self.builder.push_plain(name, stmt.span, Accesses::new(), Results::one(value));
            }
            return;
        }
        // No allocation inside: one op for the whole statement. Its inner statements are numbered all the same.
        let mut summary = std::mem::take(&mut self.scratch).emptied();
        let is_whole = self.summarize(stmt, &mut summary);
        if is_whole {
            self.next += summary.statements;
            let pairs = self.permitted(stmt, &summary.touched, &summary.escaping);
            self.push(stmt, &summary.touched, &summary.escaping, &pairs);
        }
        self.scratch = summary;
        if is_whole {
            return;
        }
        self.next += 1;
        let name = self.name(stmt);
        let draft = OpDraft::new(name).span(stmt.span);
        match &stmt.kind {
            // The table of the module documentation says which control each kind of statement becomes.
            StmtKind::For { extent, kind, body, .. } => {
                let count = extent.as_int().and_then(|count| u64::try_from(count).ok());
                let draft = match kind {
                    ForKind::Parallel => draft.control(Control::Parallel { trips: Box::new([count]) }),
                    ForKind::ThreadBinding(_) | ForKind::Vectorized => draft,
                    _ => draft.control(Control::Loop(count.map_or(Trips::any(), Trips::exactly))),
                };
                self.own_expressions(stmt);
                // Iterations that run together each have memory of their own.
                let serial = matches!(kind, ForKind::Serial | ForKind::Unrolled);
                self.regions(id, stmt, if serial { draft } else { draft.scope() }, !serial, &[body]);
            }
            StmtKind::While { body, .. } => {
                // The condition is read before every iteration (inside of the region), and once more after the last one
                // (after the op).
                self.builder.open_op(draft.control(Control::Loop(Trips::any())));
                self.note_owner(id);
                self.builder.open_region(&[]);
                self.own_expressions(stmt);
                self.body(stmt, body);
                self.builder.leave(&[]);
                self.builder.close_region();
                self.builder.close_op();
                self.own_expressions(stmt);
            }
            StmtKind::If { then, otherwise, .. } => {
                self.own_expressions(stmt);
                // Without an `else`, it may be that no branch runs.
                let may_skip = otherwise.is_empty();
                let draft = draft.control(Control::Alternatives { may_skip });
                if may_skip {
                    self.regions(id, stmt, draft, false, &[then]);
                } else {
                    self.regions(id, stmt, draft, false, &[then, otherwise]);
                }
            }
            StmtKind::Thread { body, .. } => {
                self.own_expressions(stmt);
                self.in_thread = true;
                self.regions(id, stmt, draft.scope(), true, &[body]);
                self.in_thread = false;
            }
            StmtKind::Attr { body, .. } => {
                self.own_expressions(stmt);
                self.regions(id, stmt, draft, false, &[body]);
            }
            _ => {}
        }
    }

    /// The body of a statement that counts as part of the block around it: a mark, or one more axis of a launch.
    /// `None` for any other statement. Such statements become no op, only what they read does.
    fn transparent(&self, stmt: &'f Stmt) -> Option<&'f [Stmt]> {
        match &stmt.kind {
            StmtKind::Attr { body, .. } if !stmt.is_opaque_region() => Some(body),
            StmtKind::Thread { body, .. } if self.in_thread => Some(body),
            _ => None,
        }
    }

    /// Lowers a statement with blocks to an op with a region for each block. `is_scope` says whether each instance of
    /// the op has memory of its own; memory that is attached to `stmt` belongs to the innermost scope.
    fn regions(&mut self, id: StmtId, stmt: &'f Stmt, draft: OpDraft, is_scope: bool, blocks: &[&'f Vec<Stmt>]) {
        let op = self.builder.open_op(draft);
        let depth = self.scopes.len();
        if is_scope {
            self.scopes.push(op);
        }
        self.note_owner(id);
        for block in blocks {
            self.builder.open_region(&[]);
            self.body(stmt, block);
            self.builder.leave(&[]);
            self.builder.close_region();
        }
        self.builder.close_op();
        self.scopes.truncate(depth);
    }

    /// Notes that memory which is attached to a statement belongs to the innermost scope, which may be the statement's
    /// own op.
    fn note_owner(&mut self, id: StmtId) {
        if let Some(owner) = self.scopes.last() {
            self.owners.insert(id, *owner);
        }
    }

    /// Adds an op for what a statement with inner statements itself reads: bounds, conditions, extents.
    fn own_expressions(&mut self, stmt: &Stmt) {
        let mut touched = Touched::default();
        match &stmt.kind {
            StmtKind::Alloc(buffer) => {
                let declared = &self.function.buffers[*buffer];
                // Nothing is read where the declaration has numbers only, as most declarations have.
                if declared.has_constant_shape() && declared.strides.is_none() {
                    return;
                }
                declared.shape.iter().for_each(|extent| self.expression(extent, &mut touched));
            }
            _ => stmt.each_expr(|expr| self.expression(expr, &mut touched)),
        }
        let mut escaping = Vec::new();
        if stmt.may_let_escape(self.function, touched.calls > 0) {
            self.note_escaping(stmt, &mut escaping);
        }
        self.push(stmt, &touched, &escaping, &[]);
    }

    /// Adds to a summary what a statement does, with everything inside. The answer is false if a buffer is allocated
    /// inside; then the summary is of no use.
    fn summarize(&self, stmt: &Stmt, summary: &mut Summary) -> bool {
        let touched = &mut summary.touched;
        let calls_before = touched.calls;
        stmt.each_expr(|expr| self.expression(expr, touched));
        match &stmt.kind {
            StmtKind::Alloc(_) => return false,
            StmtKind::Store { buffer, .. } => note(&mut touched.stored, self.function.root(*buffer)),
            // What a declaration reads is part of no expression of the statement.
            StmtKind::Declare(buffer) => {
                self.function.placing_exprs(*buffer).for_each(|expr| self.expression(expr, touched));
            }
            _ => {}
        }
        // What an inner statement lets escape is in use after the outer statement, too.
        if stmt.may_let_escape(self.function, touched.calls > calls_before) {
            self.note_escaping(stmt, &mut summary.escaping);
        }
        summary.statements += 1;
        stmt.all_blocks(|block| block.iter().all(|inner| self.summarize(inner, summary)))
    }

    /// Notes the buffers whose memory may be used at any time after the statement.
    fn note_escaping(&self, stmt: &Stmt, escaping: &mut Vec<BufId>) {
        stmt.escaping(self.function).into_iter().for_each(|buffer| note(escaping, self.function.root(buffer)));
    }

    /// Pairs (output, input) of a statement that may lie on the same bytes. The *judge*
    /// ([`memplan_verify::in_place`]) decides, and everything that it cannot prove is left out. So is a buffer that may
    /// still be used when the statement is over (`escaping`).
    fn permitted(&mut self, stmt: &Stmt, touched: &Touched, escaping: &[BufId]) -> Vec<(BufId, BufId)> {
        let function = self.function;
        let most = match self.candidates {
            Candidates::None => return Vec::new(),
            Candidates::All => PAIRS_PER_STATEMENT,
            Candidates::Of(_) => usize::MAX,
        };
        let mut permitted = Vec::new();
        let stays = |buffer: &&BufId| !escaping.contains(buffer);
        for &output in touched.stored.iter().filter(stays) {
            for &input in touched.loaded.iter().filter(stays) {
                if permitted.len() < most && self.candidates.includes(function, output, input) {
                    permitted.push((output, input));
                }
            }
        }
        if permitted.is_empty() {
            return permitted;
        }
        let all_uses = self.uses.get_or_insert_with(|| uses(function, &function.body));
        permitted.retain(|&(output, input)| {
            // If the output is used outside of this statement, too, what the statement leaves in it must be right. A loop
            // around the statement may run it again, and it may then read what it left. That is a read of contents from
            // before the statement, which the judge refuses where it is certain (`Refusal::ReadBeforeWrite`); where it
            // is not, the op updates the output, and the dataflow check sees that its contents are lost by then.
            let needed_after = uses_in(function, stmt, output) < all_uses[output];
            let question = nest::question(output, input, needed_after);
            let steps = nest::steps(function, stmt, [output, input], &self.around);
            judge(&steps, question, &mut self.budget).is_ok()
        });
        permitted
    }

    /// Notes which buffers an expression reads. Whoever gets the address of a buffer may write to it, so that counts
    /// as a store.
    fn expression(&self, expr: &Expr, touched: &mut Touched) {
        if expr.is_number_or_variable() {
            return;
        }
        match expr {
            Expr::Load { buffer, .. } => note(&mut touched.loaded, self.function.root(*buffer)),
            Expr::Data(buffer) => {
                touched.calls += 1;
                note(&mut touched.stored, self.function.root(*buffer));
            }
            Expr::Call { name, args, .. } => {
                touched.calls += 1;
                if name == "address_of" {
                    if let [Expr::Load { buffer, .. }] = args.as_slice() {
                        note(&mut touched.stored, self.function.root(*buffer));
                    }
                } else if is_asynchronous(name, args) {
                    // An asynchronous copy may write to each of the elements that it is given:
                    // `T.copy_async(B[0:8], A[0:8])`.
                    let mut mentioned = Vec::new();
                    expr.add_mentioned(&mut mentioned);
                    mentioned.into_iter().for_each(|buffer| note(&mut touched.stored, self.function.root(buffer)));
                }
            }
            _ => {}
        }
        expr.all_children(|child| {
            if !child.is_number_or_variable() {
                self.expression(child, touched);
            }
            true
        });
    }

    /// The name of a statement's op, which all ops of that name share.
    fn name(&mut self, stmt: &Stmt) -> OpName {
        let wanted = statement_name(stmt);
        // Names are constants, and one constant is as a rule at one address. If it is not, the name is made twice.
        if let Some((_, name)) = self.op_names.iter().find(|(known, _)| std::ptr::eq(*known, wanted)) {
            return name.clone();
        }
        let name = OpName::from(wanted);
        self.op_names.push((wanted, name.clone()));
        name
    }

    /// Adds the op of a statement: what it reads, updates and lets escape, and the overlays that it permits. `pairs`
    /// has the permitted pairs (output, input). A statement that touches no buffer gets no op.
    fn push(&mut self, stmt: &Stmt, touched: &Touched, escaping: &[BufId], pairs: &[(BufId, BufId)]) {
        if touched.loaded.is_empty() && touched.stored.is_empty() && escaping.is_empty() {
            return;
        }
        let name = self.name(stmt);
        // Most ops only read and update.
        if pairs.is_empty() && escaping.is_empty() {
            let mut accesses = Accesses::new();
            let mut add = |buffer: BufId, kind| {
                if let Some(value) = self.values[buffer] {
                    accesses.push(Access { value, kind });
                }
            };
            touched.stored.iter().for_each(|&buffer| add(buffer, AccessKind::Update));
            for &buffer in &touched.loaded {
                if !touched.stored.contains(&buffer) {
                    add(buffer, AccessKind::Read);
                }
            }
            self.builder.push_plain(name, stmt.span, accesses, Results::new());
            return;
        }
        let mut draft = OpDraft::new(name.clone()).span(stmt.span);
        for buffer in &touched.stored {
            let Some(value) = self.values[*buffer] else { continue };
            if pairs.iter().any(|(_, src)| src == buffer) {
                // The statement stores to the input of a permitted pair, too. The dataflow check permits an overlay
                // only on an operand that is read, so the store becomes an op of its own in front, and this op only
                // reads the input. That is right because the judge has looked at all stores of the statement, in
                // their order, before it permitted the pair.
                self.builder.push(OpDraft::new(name.clone()).span(stmt.span).update(value));
                draft = draft.read(value);
            } else {
                draft = draft.update(value);
            }
        }
        // The memory may be used at any later time.
        for value in escaping.iter().filter_map(|buffer| self.values[*buffer]) {
            draft = draft.access(value, AccessKind::Escape);
        }
        for buffer in touched.loaded.iter().filter(|buffer| !touched.stored.contains(buffer)) {
            if let Some(value) = self.values[*buffer] {
                draft = draft.read(value);
            }
        }
        for (dst, src) in pairs {
            // An output that is the input of another pair, too, is stored by the op in front and not by this one, which
            // then cannot permit the overlay. One permission fewer never makes a wrong plan right.
            if pairs.iter().any(|(_, input)| input == dst) {
                continue;
            }
            if let (Some(output), Some(input)) = (self.values[*dst], self.values[*src]) {
                draft = draft.overlay(output, input, OverlayKind::SameBase);
            }
        }
        self.builder.push(draft);
    }
}

/// Adds a buffer to a list in which each buffer stands once.
fn note(list: &mut Vec<BufId>, buffer: BufId) {
    if !list.contains(&buffer) {
        list.push(buffer);
    }
}

/// How often each buffer is used in a block, by itself or through a view.
fn uses(function: &Function, block: &[Stmt]) -> IndexVec<BufId, usize> {
    let mut uses = IndexVec::filled(0, function.buffers.len());
    block.iter().for_each(|stmt| each_use(function, stmt, &mut |buffer| uses[buffer] += 1));
    uses
}

/// How often a statement uses one buffer. A table of all buffers for each statement would make the check quadratic.
fn uses_in(function: &Function, stmt: &Stmt, buffer: BufId) -> usize {
    let mut uses = 0;
    each_use(function, stmt, &mut |used| uses += usize::from(used == buffer));
    uses
}

/// Calls `visit` for every load, store and bare address (`A.data`) in a statement and in what is inside of it, with the
/// root of the buffer. `address_of(A[i])` counts as a load. The extents of a buffer and the offset of a view belong
/// to their buffers and not to a statement; they are visited where the buffer is allocated or declared.
///
/// The uses are only counted, and the counts compared ([`Lowering::permitted`]): if a statement has as many uses of a
/// buffer as the whole function, nobody else uses the buffer.
fn each_use(function: &Function, stmt: &Stmt, visit: &mut dyn FnMut(BufId)) {
    stmt.walk(&mut |stmt| {
        if let StmtKind::Store { buffer, .. } = &stmt.kind {
            visit(function.root(*buffer));
        }
        let each_part = |expr: &Expr| {
            expr.walk(&mut |part| {
                if let Expr::Load { buffer, .. } | Expr::Data(buffer) = part {
                    visit(function.root(*buffer));
                }
            });
        };
        match &stmt.kind {
            StmtKind::Alloc(buffer) | StmtKind::Declare(buffer) => {
                function.placing_exprs(*buffer).for_each(each_part);
            }
            _ => stmt.each_expr(each_part),
        }
    });
}

/// Whether a buffer is allocated somewhere in the statement.
pub(crate) fn has_allocation(stmt: &Stmt) -> bool {
    let mut found = false;
    stmt.walk(&mut |inner| found |= matches!(inner.kind, StmtKind::Alloc(_)));
    found
}

/// The name of the op that a statement becomes.
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rewrite::{Apart, RewriteOptions, collect, decide};
    use crate::script::Script;

    const JUDGE: Judge = Judge { packing: memplan_verify::packing::check, dataflow: memplan_verify::dataflow::check };

    /// Memory that is attached to a `while` in a parallel loop is that of an iteration of the loop.
    #[test]
    fn every_statement_with_regions_has_its_owner() {
        let text = "@T.prim_func(s_tir=True)\ndef main(O: T.Buffer((8,), \"float32\")):\n    for p in T.parallel(8):\n        while O[p] < T.float32(2):\n            A = T.alloc_buffer((1,))\n            A[0] = O[p]\n            O[p] = A[0] + T.float32(1)\n";
        let script = Script::read(text).expect("a valid program");
        let owners = lower(&script.functions()[0]).expect("well formed").owners;
        let of = |stmt: usize| owners.get(&StmtId::from_index(stmt));
        assert!(of(0).is_some() && of(0) == of(1), "{owners:?}");
    }

    /// Puts every pair of buffers at the same place in turn. The question that starts from an outline must find the
    /// same conflicts as the one that lowers the function for the layout.
    fn outlines_hide_nothing(text: &str) -> (usize, usize) {
        let script = Script::read(text).expect("a valid program");
        let function = &script.functions()[0];
        let options = RewriteOptions::default();
        let layout = decide(&collect(function), &options, &Apart::default(), JUDGE).expect("laid out").layout;
        let placed: Vec<BufId> = layout.places.ids().filter(|buffer| layout.places[*buffer].is_some()).collect();
        let (mut right, mut wrong) = (0, 0);
        for &one in &placed {
            for &other in &placed {
                let mut layout = layout.clone();
                layout.places[one] = layout.places[other];
                let expected = Question::new(function, &layout, None).conflicts(JUDGE).expect("well formed");
                let found = Question::new(function, &layout, Some(outline(function))).conflicts(JUDGE);
                assert_eq!(found.as_ref(), Ok(&expected), "{one:?} at the place of {other:?}\n{text}");
                if expected.is_empty() { right += 1 } else { wrong += 1 }
            }
        }
        (right, wrong)
    }

    #[test]
    fn a_question_that_starts_from_an_outline_finds_every_conflict() {
        let (right, wrong) = outlines_hide_nothing(&memplan_testkit::tvmscript::chain(60));
        assert!(right > 20 && wrong > 20, "{right} right, {wrong} wrong");
        // Statements of every kind: in place, in place of a buffer that the statement stores, in a loop, in threads.
        let text = "@T.prim_func(s_tir=True)
def main(E: T.Buffer((8,), \"float32\"), O: T.Buffer((8,), \"float32\")):
    A = T.alloc_buffer((8,))
    B = T.alloc_buffer((8,))
    C = T.alloc_buffer((8,))
    for i in range(8):
        A[i] = E[i] * T.float32(2.0)
        B[i] = A[i] + T.float32(1.0)
    for i in range(8):
        C[i] = B[7 - i]
    for t in T.parallel(2):
        D = T.alloc_buffer((8,))
        F = T.alloc_buffer((8,))
        for i in range(8):
            D[i] = C[i] + B[i]
        for i in range(8):
            F[i] = D[i] * T.float32(3.0)
        for i in range(4):
            O[t * 4 + i] = F[t * 4 + i]
";
        let (right, wrong) = outlines_hide_nothing(text);
        assert!(right > 5 && wrong > 5, "{right} right, {wrong} wrong");
    }

    #[test]
    fn buffers_that_a_statement_hands_round_give_a_well_formed_program() {
        let text = "@T.prim_func(s_tir=True)
def main(E: T.Buffer((8,), \"float32\"), O: T.Buffer((8,), \"float32\")):
    A = T.alloc_buffer((8,))
    B = T.alloc_buffer((8,))
    C = T.alloc_buffer((8,))
    for i in range(8):
        A[i] = E[i]
    for k in range(3):
        for i in range(8):
            B[i] = A[i] + E[i] + T.float32(1.0)
        for j, i in T.grid(2, 8):
            C[i] = B[i]
        for i in range(8):
            A[i] = C[i] + B[i] + E[i] + T.float32(1.0)
        for i in range(8):
            O[i] = C[i] + O[i]
";
        let script = Script::read(text).expect("a valid program");
        assert!(lower(&script.functions()[0]).is_ok());
    }
}
