//! Workspaces in global memory: `memref_ext.alloc_workspace`.
//!
//! A workspace is a part of an argument of the kernel: a large piece of global memory that the
//! caller provides. So each argument is a memory of its own, of any size. Workspaces lie one
//! behind the other. With the option `enable-global-workspace-reuse` they share bytes where their
//! lives are apart. A workspace that a loop hands to its next iteration keeps its place. They stay
//! `alloc_workspace`, with their offsets:
//!
//! ```text
//!   %w = memref_ext.alloc_workspace() from %arg offset = [%c0] : …
//! ```
//!
//! How many bytes a kernel needs is told by a host function that is added in front of it,
//! `@KERNEL_infer_workspace_shape_function`.
//!
//! DIVERGENCE: the original reports the end of the last slot, which is too little
//! if a slot before it lies higher; here it is the end of the highest slot. And offsets are
//! aligned in both profiles.

use std::collections::{BTreeMap, HashMap, HashSet};

use memplan_analysis::Life;
use memplan_core::{
    Buffer, BufferId, Bytes, Id, IndexVec, Interval, Lifetime, Outcome, Placement, Plan, Problem, ProblemBuilder,
    ProblemError, Size, Space, SpaceId,
};
use memplan_planner::strategy::levels;
use memplan_planner::{Request, search};
use memplan_program::{Control, FunctionId, OpId, SiteId, Size as SiteSize};
use smallvec::smallvec;

// `Groups` are sets of buffers that get one offset. `OpId` is an op of the program, `crate::OpId` an op of the text.
use super::coalesce::{Groups, InPlace, coalesce};
use super::emit::{Constants, insert_before};
use super::pipes::Users;
use super::{KernelView, Planned, PlannedFunction, Profile};
use crate::dialect::Traits;
use crate::pass::{PassError, Remark, Rewrite, Saving};
use crate::{Document, Edits, ValueId};

/// Every offset is a multiple of this.
const ALIGNMENT: u64 = 32;
/// Units of work that the search may spend on the workspaces of one function if they may share.
const WORK: u64 = 50_000;

/// Plans the workspaces of every function and writes their offsets.
pub(super) fn run(view: &KernelView, request: &Request) -> Result<Planned, PassError> {
    let program = &view.lowered.program;
    let mut by_function: IndexVec<FunctionId, Vec<SiteId>> = IndexVec::filled(Vec::new(), program.functions().len());
    let mut planned = Vec::new();
    let mut remarks = Vec::new();
    let written = view.written();
    for site in program.sites().ids() {
        if let Some(op) = program.alloc_op(site) {
            check(view, site, written[site])?;
            if has_instances_side_by_side(view, site) {
                let span = view.document.op(view.lowered.sites[site]).span;
                let message = "this workspace gets no offset: several instances exist at once".to_owned();
                remarks.push(Remark { span, message });
                continue;
            }
            by_function[program.function_of(op)].push(site);
            planned.push(site);
        }
    }
    let names = program.site_names();
    view.refuse_handed_out(planned.iter().copied(), &names)?;
    // Workspaces that a loop or a branch makes one value of must have one offset: they form groups. `hopeless` are
    // those for which there is none.
    let users = IndexVec::filled(Users::default(), view.lowered.sites.len());
    let groups = coalesce(view, &users, &planned, InPlace::Always);
    if let Some(&site) = groups.hopeless.first() {
        let span = view.document.op(view.lowered.sites[site]).span;
        return Err(PassError::Op { span, message: super::NO_FIXED_ADDRESS.to_owned() });
    }
    let mut workspaces = Workspaces {
        view,
        groups: &groups,
        names,
        placements: IndexVec::filled(None, program.sites().len()),
        functions: Vec::new(),
        stats: Vec::new(),
        spaces: 0,
    };
    for (function, sites) in by_function.iter_enumerated().filter(|(_, sites)| !sites.is_empty()) {
        workspaces.plan(function, sites, request)?;
    }
    let Workspaces { placements, functions, stats, .. } = workspaces;
    let edits = emit(view, &placements);
    let rewrite = Rewrite { edits, placements, owners: BTreeMap::new(), remarks, stats };
    Ok(Planned { rewrite, functions, files: Vec::new() })
}

/// Refuses workspaces that cannot be planned: one in another form than [`has_workspace_form`] knows, one of unknown
/// size, and one that is read and never written (`written` is `Some(false)`).
fn check(view: &KernelView, site: SiteId, written: Option<bool>) -> Result<(), PassError> {
    let program = &view.lowered.program;
    let op = view.lowered.sites[site];
    let error = |message: &str| PassError::Op { span: view.document.op(op).span, message: message.to_owned() };
    if !has_workspace_form(view.document, op) {
        return Err(error(
            "expected `memref_ext.alloc_workspace() from %argument : from memref<…> to memref<…>`: there is no place for an offset in this form",
        ));
    }
    if !matches!(program.site(site).size, SiteSize::Known(_)) {
        return Err(error("a workspace needs a size that is known before the program runs"));
    }
    if written == Some(false) {
        return Err(error("'memref_ext.alloc_workspace' op error: read before first write"));
    }
    Ok(())
}

/// Whether an op is written as [`offset_position`] expects it, without an offset yet. Behind the op's name stands
/// `() from %w : from memref<…> to memref<…>` or `() : memref<…>`.
fn has_workspace_form(document: &Document, op: crate::OpId) -> bool {
    let text = document.source().get(document.op(op).name_span.end as usize..document.op(op).span.end as usize);
    let after_sizes = text.and_then(|text| text.trim_start().strip_prefix('(')?.split_once(')'));
    let Some((_, rest)) = after_sizes else { return false };
    let Some((head, types)) = rest.split_once(':') else { return false };
    // `head` is what stands between the parentheses and the colon: nothing, or `from %w`.
    let argument = head.trim().strip_prefix("from").map_or(head.trim(), str::trim);
    let is_argument = argument.is_empty() || argument.starts_with('%') && !argument.contains(char::is_whitespace);
    let types = types.trim_start();
    let source = types.strip_prefix("from").map_or(types, str::trim_start);
    is_argument && (source.starts_with("memref") || source.starts_with('!'))
}

/// Whether several instances may be in use at the same time, for which one offset cannot be right.
fn has_instances_side_by_side(view: &KernelView, site: SiteId) -> bool {
    let program = &view.lowered.program;
    let side_by_side = |op: OpId| matches!(program.op(op).control(), Control::Parallel { .. } | Control::Unknown);
    program.alloc_op(site).is_some_and(|alloc| program.ancestors(alloc).any(side_by_side))
}

/// The argument a workspace is a part of.
fn argument(view: &KernelView, site: SiteId) -> Option<ValueId> {
    let op = view.lowered.sites[site];
    let memory = |value: &&ValueId| view.document.ty(**value).as_memref().is_some();
    view.document.operands(op).iter().find(memory).copied()
}

/// The bytes of a buffer with all its slots, as it would take them without any sharing.
fn bytes_of_all_slots(buffer: &Buffer) -> u64 {
    buffer.bytes().unwrap_or_default().0.saturating_mul(u64::from(buffer.slots))
}

/// Plans the workspaces, function by function.
struct Workspaces<'a> {
    view: &'a KernelView<'a>,
    /// Workspaces that get one offset.
    groups: &'a Groups,
    names: IndexVec<SiteId, String>,
    /// The offsets so far.
    placements: IndexVec<SiteId, Option<Placement>>,
    /// The functions planned so far.
    functions: Vec<PlannedFunction>,
    stats: Vec<Saving>,
    /// The number of memories (arguments with workspaces) of all functions planned so far.
    spaces: usize,
}

impl Workspaces<'_> {
    /// Plans the workspaces of one function.
    fn plan(&mut self, function: FunctionId, sites: &[SiteId], request: &Request) -> Result<(), PassError> {
        let problem = self.problem(sites)?;
        // Without reuse the workspaces lie one after the other in memory, as the original places them. With reuse the
        // search looks for the smallest plan.
        let (outcome, strategy) = match self.view.options.reuse_workspace {
            // `levels` first puts all buffers side by side and lets them share bytes only if that does not fit. The
            // memory has no capacity, so it always fits, and nothing is shared.
            false => (levels::plan(&problem, levels::Order::Start, request).0, "levels"),
            true => {
                // Only work limits this search, so that the offsets do not depend on the speed of the machine.
                let request = Request { work_limit: Some(WORK), time_limit: None, ..request.clone() };
                (search::search(&problem, &request).outcome, "search")
            }
        };
        let (Outcome::Optimal(plan) | Outcome::Feasible { plan, .. }) = outcome else {
            return Err(PassError::NoPlan { strategy });
        };
        self.adopt(sites, &problem, &plan);
        let op = self.view.lowered.functions[function];
        let name = self.view.document.symbol_name(op).unwrap_or_default().to_owned();
        self.stats.push(Saving {
            function: name.clone(),
            scope: "workspace".to_owned(),
            buffers: sites.len(),
            before: problem.buffers().iter().map(bytes_of_all_slots).fold(0, u64::saturating_add),
            after: plan.extent().0,
            lower_bound: memplan_core::bound::lower_bound(&problem).0,
        });
        let sites = sites.to_vec();
        let fixed = Vec::new();
        self.functions.push(PlannedFunction { name, problem, plan, report: None, waits: None, sites, fixed });
        Ok(())
    }

    /// Takes over where a plan of one function puts its workspaces. The spaces of several functions are numbered one
    /// after another in the placements of the whole program.
    fn adopt(&mut self, sites: &[SiteId], problem: &Problem, plan: &Plan) {
        for (&site, placement) in sites.iter().zip(&plan.placements) {
            self.placements[site] = placement.clone().map(|placement| Placement {
                space: SpaceId::from_index(self.spaces + placement.space.index()),
                ..placement
            });
        }
        self.spaces += problem.spaces().len();
    }

    /// The workspaces of a function as a problem, with a buffer for each of the sites in their order.
    fn problem(&self, sites: &[SiteId]) -> Result<Problem, ProblemError> {
        let program = &self.view.lowered.program;
        let mut builder = ProblemBuilder::new();
        let mut spaces: HashMap<Option<ValueId>, SpaceId> = HashMap::new();
        let mut ids: HashMap<SiteId, BufferId> = HashMap::new();
        for &site in sites {
            // Each argument of the kernel is a memory of its own, so workspaces of different arguments never share.
            let from = argument(self.view, site);
            let name = from.map_or("workspace".to_owned(), |value| self.view.document.value_name(value).to_owned());
            let space = Space { alignment: Bytes(ALIGNMENT), ..Space::new(name) };
            let space = *spaces.entry(from).or_insert_with(|| builder.space(space));
            let info = program.site(site);
            let id = builder.buffer(Buffer {
                size: Size::Fixed(info.size.upper_bound().unwrap_or_default()),
                spaces: smallvec![space],
                slots: self.groups.of(site).map_or(info.slots, |group| group.slots),
                alignment: info.alignment,
                exclusive: info.exclusive,
                ..Buffer::new(self.names[site].as_str(), 0, self.life(site))
            });
            ids.insert(site, id);
        }
        // All members of a group must share with its first member. Offsets in different arguments have nothing to do
        // with each other.
        for &site in sites {
            let first = self.groups.of(site).and_then(|group| group.members.first());
            if let Some(first) =
                first.filter(|&&first| first != site && argument(self.view, first) == argument(self.view, site))
            {
                builder.must_share(ids[first], ids[&site]);
            }
        }
        builder.build()
    }

    /// When a workspace is alive. One whose life cannot be traced is alive all the time. One that no op touches has an
    /// empty life, and still gets an offset.
    fn life(&self, site: SiteId) -> Lifetime {
        // Steps of this problem are the numbers of ops in the whole program.
        let step = |op: OpId| op.index() as u64;
        match self.view.lifetimes.life(site) {
            Life::Range { first, last } => [Interval::new(step(first), step(last) + 1)].into_iter().collect(),
            Life::Untraceable { .. } => {
                [Interval::new(0, self.view.lowered.program.ops().len() as u64 + 1)].into_iter().collect()
            }
            Life::Unused => Lifetime::default(),
        }
    }
}

/// Writes the offsets of all workspaces into the text. With the option `size_function` it also writes, for each
/// kernel, the host function that says how many bytes the kernel's workspaces need. A workspace without a placement has
/// several instances at once ([`run`]); its text stays as it is, and its bytes are not counted by the host function.
fn emit(view: &KernelView, placements: &IndexVec<SiteId, Option<Placement>>) -> Edits {
    let document = view.document;
    let mut edits = Edits::default();
    let mut constants = Constants::new(document, "index");
    // For each kernel and each of its arguments: the byte at which the highest workspace in the argument ends. `None`
    // stands for workspaces that name no argument.
    let mut ends: BTreeMap<crate::OpId, BTreeMap<Option<ValueId>, u64>> = BTreeMap::new();
    for (site, placement) in placements.iter_enumerated() {
        let op = view.lowered.sites[site];
        let (Some(placement), Some(function)) = (placement, document.function_around(op)) else { continue };
        // There is an offset for each slot. An offset is written as the name of a constant, which `constants.insert`
        // below adds at the start of the function.
        let numbers: Vec<u32> = placement.offsets.iter().map(|&offset| constants.number(function, offset)).collect();
        let names: Vec<&str> = numbers.iter().map(|&number| constants.name(number)).collect();
        // There always is a position: `check` has refused all other forms.
        if let Some(at) = offset_position(view, op) {
            edits.insert(at, format!(" offset = [{}]", names.join(", ")));
        }
        let size = view.lowered.program.site(site).size.upper_bound().unwrap_or_default().0;
        let end = placement.offsets.iter().map(|offset| offset.0.saturating_add(size)).max().unwrap_or(0);
        let known = ends.entry(function).or_default().entry(argument(view, site)).or_default();
        *known = (*known).max(end);
    }
    add_given(view, &mut ends);
    constants.insert(document, &mut edits);
    if view.options.size_function {
        report_sizes(view, &ends, &mut edits);
    }
    edits
}

/// The place in the text for the offset (`^`): behind the argument, or behind the parentheses if there is no argument.
///
/// ```text
///   memref_ext.alloc_workspace() from %w : from memref<?xi8> to memref<16xf32>
///                                       ^
///   memref_ext.alloc_workspace() : memref<16xf32>
///                               ^
/// ```
fn offset_position(view: &KernelView, op: crate::OpId) -> Option<usize> {
    let document = view.document;
    let start = document.op(op).name_span.end as usize;
    let text = document.source().get(start..document.op(op).span.end as usize)?;
    let close = text.find(')')? + 1;
    let rest = &text[close..];
    let from = rest.trim_start().strip_prefix("from").map(str::trim_start).filter(|rest| rest.starts_with('%'));
    let Some(from) = from else { return Some(start + close) };
    // The end of the name: the first character that cannot be a part of one.
    let name = from[1..].find(|c: char| !(c.is_alphanumeric() || matches!(c, '_' | '$' | '.' | '-' | '#')));
    let end = name.map_or(from.len(), |length| length + 1);
    Some(start + (text.len() - from.len()) + end)
}

/// Raises the ends by the workspaces whose offsets are already written in the input: they were not planned here, but
/// the argument has to be large enough for them, too. `ends` has for each kernel and each argument of it the end of
/// the highest workspace.
fn add_given(view: &KernelView, ends: &mut BTreeMap<crate::OpId, BTreeMap<Option<ValueId>, u64>>) {
    let document = view.document;
    for &op in &view.lowered.ops {
        if document.name(op) != "memref_ext.alloc_workspace" {
            continue;
        }
        let (Some(offsets), Some(function)) = (document.workspace_offsets(op), document.function_around(op)) else {
            continue;
        };
        let result = document.results(op).first().and_then(|&value| document.ty(value).as_memref());
        let size = result.and_then(crate::MemRef::bytes).unwrap_or_default().0;
        let end = offsets.iter().map(|offset| offset.saturating_add(size)).max().unwrap_or(0);
        let memory = |value: &&ValueId| document.ty(**value).as_memref().is_some();
        let from = document.operands(op).iter().find(memory).copied();
        let known = ends.entry(function).or_default().entry(from).or_default();
        *known = (*known).max(end);
    }
}

/// Adds host functions that return how large the kernels' workspaces are; the host calls them before it starts a
/// kernel. A mixed kernel is two functions, one for the cube core and one for the vector core. The two have a single
/// host function, which returns the larger of their sizes.
fn report_sizes(view: &KernelView, ends: &BTreeMap<crate::OpId, BTreeMap<Option<ValueId>, u64>>, edits: &mut Edits) {
    let document = view.document;
    let mut existing: HashSet<(crate::BlockId, &str)> = HashSet::new();
    for op in document.op_ids().filter(|&op| document.info(op).traits.has(Traits::FUNCTION)) {
        existing.insert((document.op(op).parent, document.symbol_name(op).unwrap_or_default()));
    }
    // For each module and name of a host function: a function to put it in front of, and the largest size.
    let mut sizes: BTreeMap<(crate::BlockId, String), (crate::OpId, u64)> = BTreeMap::new();
    for (&function, ends) in ends {
        let Some(kernel) = document.symbol_name(function) else { continue };
        // The two functions of a mixed kernel differ in this suffix only. Without it they have the same name here.
        let stripped = kernel.strip_suffix("_mix_aic").or_else(|| kernel.strip_suffix("_mix_aiv"));
        let kernel = stripped.filter(|_| view.options.profile == Profile::RegisterBased).unwrap_or(kernel);
        let name = format!("{kernel}_infer_workspace_shape_function");
        let module = document.op(function).parent;
        // If the text has such a function already, it stays: its author may have reserved more on purpose.
        if !existing.contains(&(module, name.as_str())) {
            let known = sizes.entry((module, name)).or_insert((function, 0));
            known.1 = known.1.max(size(ends));
        }
    }
    for ((_, name), (function, size)) in sizes {
        let lines = [
            format!(
                "func.func @{name}() -> index attributes {{hacc.function_kind = #hacc.function_kind<HOST>, \
                 hacc.host_func_type = #hacc.host_func_type<infer_workspace_shape_function>}} {{"
            ),
            format!("  %c{size} = arith.constant {size} : index"),
            format!("  return %c{size} : index"),
            "}".to_owned(),
        ];
        insert_before(document, edits, function, &lines);
    }
}

/// The bytes of all workspaces of a kernel: the arguments (each with the end of its highest workspace) lie one behind
/// the other, aligned.
fn size(ends: &BTreeMap<Option<ValueId>, u64>) -> u64 {
    let behind = |size: u64, &end: &u64| size.checked_next_multiple_of(ALIGNMENT).unwrap_or(size).saturating_add(end);
    ends.values().fold(0, behind)
}
