//! Plans the buffers of every function for `plan-memory`: which there are, when they are in use, and where they go.
//!
//! Buffers that get one address are put into *groups* first ([`coalesce`]): the result of an op that works in place
//! and the operand that it takes the place of (its *donor*), and buffers that a loop or a branch turns into one
//! value. Each function is then one problem with a space for each on-chip memory. Buffers that cannot be planned
//! correctly are refused with a reason before anything is planned. Others that no fixed address can serve keep their
//! allocations, with a remark.
//!
//! A kernel may be two functions, one for the cube core and one for the vector core, each with memories of its own. A
//! *tightly coupled* buffer is used by both: each function allocates it and marks it with the same number. It lies in
//! the memory of one core, whose function is its *owner* and decides about the address. For the other function it is
//! *foreign*, and takes the owner's address.
//!
//! The strategy `levels` is the planner of the original: it lets buffers share bytes only as far as memory is short. A
//! pair that shares bytes across pipes (execution units) makes one of them wait.

mod fewest_waits;
mod remarks;

use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet, HashMap};

// Two kinds of ids: `OpId` is an op of the program (its number is its place in the program's order), `crate::OpId` an
// op of the text. `view.lowered` leads from one to the other: `lowered.ops[op]`, `lowered.sites[site]` (the op that
// allocates a site) and `lowered.functions[function]` are ops of the text.
use fewest_waits::Way;
use memplan_analysis::Life;
use memplan_core::{Id, IndexVec, Outcome, Placement, Plan, Problem, SpaceId, Stop, bound, patience};
use memplan_planner::strategy::levels::{self, Mode, Report};
use memplan_planner::{Request, Strategy, plan, search};
use memplan_program::{Control, FunctionId, OpId, SiteId};

use super::coalesce::{Groups, InPlace, coalesce};
use super::fixed::{self, FixedBuffers};
use super::overflow::{self, Overflow};
use super::pipes::{self, Users};
use super::problem::{Choice, Kernel, SharedNames, idle_temporaries};
use super::target::{DEFAULT_DEVICE, Scope, Target};
use super::{KernelView, Options, PlannedFunction, Waits};
use crate::Document;
use crate::dialect::Traits;
use crate::pass::{PassError, Remark, still_waiting};

/// Everything that was planned, before it is written.
pub(super) struct AllPlanned {
    pub(super) functions: Vec<PlannedFunction>,
    /// The address of each buffer; `None` for one that keeps its allocation.
    pub(super) placements: IndexVec<SiteId, Option<Placement>>,
    pub(super) remarks: Vec<Remark>,
}

/// Plans every function. The error names all functions that do not fit, or the first thing that is refused.
pub(super) fn plan_all(
    view: &KernelView,
    strategy: Option<&dyn Strategy>,
    request: &Request,
) -> Result<AllPlanned, PassError> {
    let mut planner = Planner::new(view);
    planner.find_buffers()?;
    let groups = coalesce(view, &planner.users, &planner.own_sites(), InPlace::Always);
    // These refusals come before any planning, so that a user sees the cause and not a plan that fails the check.
    planner.refuse_hopeless(&groups)?;
    planner.leave_alone(&groups);
    planner.refuse_nested_kernels()?;
    view.refuse_handed_out(planner.by_function.iter().flatten().copied(), &planner.names)?;
    planner.refuse_without_owner()?;
    let way = Way::of(strategy, view.options);
    for function in view.lowered.program.functions().ids() {
        if patience::is_over() {
            return Err(PassError::Stopped);
        }
        planner.function(function, &groups, way, request)?;
    }
    planner.couple();
    // All functions are tried even if the first does not fit: a user wants to see every one that is too large.
    match planner.overflows.is_empty() {
        true => Ok(planner.all),
        false => Err(PassError::DoesNotFit(planner.overflows)),
    }
}

/// What came of planning a function.
struct Attempt {
    problem: Problem,
    outcome: Outcome,
    report: Option<Report>,
    /// What the plan's reuse costs, if the least cost was looked for.
    waits: Option<Waits>,
    /// Names of the memories of which it is proved that they are too small.
    refuted: BTreeSet<String>,
}

impl Attempt {
    /// An error if the time limit or Ctrl-C is the reason that there is no plan.
    fn still_in_time(&self) -> Result<(), PassError> {
        match self.outcome {
            Outcome::Exhausted { stop: Stop::TimeLimit | Stop::Interrupted } => Err(PassError::Stopped),
            _ => still_waiting(),
        }
    }

    /// The names of the memories for which no plan was found. `levels` reports on each memory by itself. Any other
    /// strategy only says that there is no plan, so there the lower bounds tell which memories are certainly too
    /// small. Empty if there is a plan, or if there is none and no memory is certainly too small.
    fn short(&self) -> BTreeSet<String> {
        if matches!(self.outcome, Outcome::Optimal(_) | Outcome::Feasible { .. }) {
            return BTreeSet::new();
        }
        let bounds = bound::space_lower_bounds(&self.problem);
        // Whether no plan was found for this memory, or, without a report, whether it is certainly too small.
        let failed = |space: SpaceId| match &self.report {
            Some(report) => report.spaces.iter().any(|row| row.space == space && row.mode == Mode::Failed),
            None => self.problem.spaces()[space].capacity.is_some_and(|capacity| bounds[space].bytes > capacity),
        };
        let spaces = self.problem.spaces().iter_enumerated().filter(|&(space, _)| failed(space));
        spaces.map(|(_, space)| space.name.clone()).collect()
    }
}

/// Plans one problem: with the strategy, or by `levels` if there is none.
fn place(
    problem: Problem,
    order: levels::Order,
    strategy: Option<&dyn Strategy>,
    request: &Request,
) -> Result<Attempt, PassError> {
    let (outcome, report) = match strategy {
        None => {
            let (outcome, report) = levels::plan(&problem, order, request);
            (outcome, Some(report))
        }
        Some(strategy) => (plan(strategy, &problem, request)?, None),
    };
    Ok(Attempt { problem, outcome, report, waits: None, refuted: BTreeSet::new() })
}

/// Plans the functions of a module, one after the other.
struct Planner<'a> {
    view: &'a KernelView<'a>,
    /// Which execution units of the device use a buffer.
    users: IndexVec<SiteId, Users<'a>>,
    /// Temporary buffers that no op reads or writes, although they are operands, with the first and the last op that has
    /// each as an operand. These two ops are then its lifetime.
    idle: HashMap<SiteId, (OpId, OpId)>,
    /// Buffers that have addresses in the text already.
    fixed: FixedBuffers,
    /// The groups without in-place results. They are computed only if a memory is too small: smaller groups are easier
    /// to place.
    loose: Option<Groups>,
    names: IndexVec<SiteId, String>,
    /// The buffers of each function that get addresses.
    by_function: IndexVec<FunctionId, Vec<SiteId>>,
    /// The site that decides the address of a tightly coupled buffer, by module and number.
    owners: HashMap<(Option<crate::OpId>, u64), SiteId>,
    /// What has been planned so far.
    all: AllPlanned,
    /// Why functions did not fit so far.
    overflows: Vec<Overflow>,
}

impl<'a> Planner<'a> {
    /// A planner that knows how buffers are used, but not yet which are to be planned.
    fn new(view: &'a KernelView<'a>) -> Planner<'a> {
        let program = &view.lowered.program;
        Planner {
            view,
            users: pipes::find(view),
            idle: idle_temporaries(view),
            fixed: fixed::find(view),
            loose: None,
            names: program.site_names(),
            by_function: IndexVec::filled(Vec::new(), program.functions().len()),
            owners: HashMap::new(),
            all: AllPlanned {
                functions: Vec::new(),
                placements: IndexVec::filled(None, program.sites().len()),
                remarks: Vec::new(),
            },
            overflows: Vec::new(),
        }
    }

    /// The buffers that are planned by themselves: all but the foreign ones that have an owner, whose address they
    /// get in the end ([`Planner::couple`]).
    fn own_sites(&self) -> Vec<SiteId> {
        self.by_function.iter().flatten().copied().filter(|&site| self.owner(site).is_none()).collect()
    }

    /// The function in which a buffer is allocated; `None` if no op allocates it.
    fn site_function(&self, site: SiteId) -> Option<FunctionId> {
        let program = &self.view.lowered.program;
        Some(program.function_of(program.alloc_op(site)?))
    }

    /// The memory space of a buffer as it is written in the text.
    fn space_text(&self, site: SiteId) -> &str {
        let program = &self.view.lowered.program;
        &program.spaces()[program.site(site).space]
    }

    /// The device a function runs on: the one that the user gives, else the module's, else that of the option
    /// `target`, else a default. The second value is `false` for the default, so that the user can be told.
    fn target(&self, function: FunctionId) -> (Target, bool) {
        let op = self.view.lowered.functions[function];
        let explicit = self.view.target.cloned();
        let found = explicit.or_else(|| Target::of_module(self.view.document, op));
        let named = || Target::built_in(self.view.options.target.as_deref()?).ok();
        match found.or_else(named) {
            Some(target) => (target, true),
            None => (Target::built_in(DEFAULT_DEVICE).unwrap_or_default(), false),
        }
    }

    /// Finds the buffers that are to be planned and sorts them by function. A buffer that keeps its allocation gets a
    /// remark with the reason. A buffer whose size is not known is an error.
    fn find_buffers(&mut self) -> Result<(), PassError> {
        let program = &self.view.lowered.program;
        let mut targets: HashMap<FunctionId, (Target, bool)> = HashMap::new();
        let written = self.view.written();
        // What was found out for the site before, because neighbours are mostly in one function and one memory: the
        // function, and whether it is left out; the function and the space, and whether the space is on-chip memory.
        let mut left_out: Option<(FunctionId, bool)> = None;
        let mut on_chip: Option<(FunctionId, SpaceId, bool)> = None;
        for site in program.sites().ids() {
            // A site without an allocating op comes from outside and keeps its address.
            let Some(function) = self.site_function(site) else { continue };
            if left_out.is_none_or(|(last, _)| last != function) {
                left_out = Some((function, self.is_left_out(function)));
                targets.entry(function).or_insert_with(|| self.target(function));
            }
            if left_out == Some((function, true)) {
                continue;
            }
            let op = self.view.lowered.sites[site];
            let span = self.view.document.op(op).span;
            // Only `memref.alloc` makes an on-chip buffer to be planned. Other sites keep what they have.
            if self.view.document.name(op) != "memref.alloc" {
                continue;
            }
            let space = program.site(site).space;
            if on_chip.is_none_or(|(last, of, _)| (last, of) != (function, space)) {
                on_chip = Some((function, space, targets[&function].0.scope(self.space_text(site)).is_some()));
            }
            if on_chip == Some((function, space, false)) {
                let message = format!("{} keeps its allocation: it is in no on-chip memory", self.names[site]);
                self.all.remarks.push(Remark { span, message });
                continue;
            }
            if self.view.document.is_cut_off(op, self.view.lowered.functions[function]) {
                let message = format!(
                    "{} keeps its allocation: it is in a module of its own inside of the function",
                    self.names[site]
                );
                self.all.remarks.push(Remark { span, message });
                continue;
            }
            self.check(site, span)?;
            self.warn_of_reads(site, written[site], span);
            // If several instances exist at once, one address cannot serve them all. The allocation stays, which is
            // right and costs memory. (Buffers that escape or that a loop carries have long lives here, so this is the
            // only reason for a life that cannot be traced.)
            let several = matches!(self.view.lifetimes.life(site), Life::Untraceable { .. });
            if several || self.may_have_instances_side_by_side(site) {
                let message = format!("{} keeps its allocation: several instances exist at once", self.names[site]);
                self.all.remarks.push(Remark { span, message });
                continue;
            }
            self.by_function[function].push(site);
            self.note_owner(site);
        }
        // Remarks about the device and about addresses in the text are for functions in which something is planned. In
        // others they would only disturb.
        for (function, sites) in self.by_function.iter_enumerated() {
            let guessed = targets.get(&function).is_some_and(|(_, known)| !known);
            if guessed && !sites.is_empty() {
                let span = self.view.document.op(self.view.lowered.functions[function]).name_span;
                let message = format!("no device is named: taken to be {DEFAULT_DEVICE}");
                self.all.remarks.push(Remark { span, message });
            }
        }
        for (function, remark) in &self.fixed.remarks {
            if !self.by_function[*function].is_empty() {
                self.all.remarks.push(remark.clone());
            }
        }
        Ok(())
    }

    /// Whether a function is not planned at all: host functions and vector functions have no on-chip buffers of their
    /// own.
    fn is_left_out(&self, function: FunctionId) -> bool {
        let op = self.view.lowered.functions[function];
        let document = self.view.document;
        let host = document.attribute(op, "hacc.function_kind").is_some_and(|kind| kind.contains("HOST"));
        host || document.attribute(op, "hivm.vector_function").is_some()
    }

    /// Whether a buffer is allocated in a parallel loop, or in an op of which nothing is known: several instances may
    /// exist at the same time, and one address cannot be right for all of them.
    fn may_have_instances_side_by_side(&self, site: SiteId) -> bool {
        let program = &self.view.lowered.program;
        let side_by_side = |op: OpId| matches!(program.op(op).control(), Control::Parallel { .. } | Control::Unknown);
        program.alloc_op(site).is_some_and(|alloc| program.ancestors(alloc).any(side_by_side))
    }

    /// Refuses a buffer whose size has no known upper bound: a buffer gets as many bytes as it can ever need.
    fn check(&self, site: SiteId, span: memplan_core::Span) -> Result<(), PassError> {
        if self.view.lowered.program.site(site).size.upper_bound().is_some() {
            return Ok(());
        }
        let document = self.view.document;
        let memref = document.results(self.view.lowered.sites[site]).first().map(|&value| document.ty(value));
        let is_static = memref.and_then(crate::Type::as_memref).is_some_and(crate::MemRef::has_static_shape);
        let name = &self.names[site];
        let message = match is_static {
            true => {
                format!("the bytes of {name} cannot be counted: its type has no size, or one of 2^63 bytes or more")
            }
            false => format!(
                "the size of {name} is only known when the kernel runs, and addresses are given out before: bound it by \
                 arith.minsi or affine.min with a constant, or say how large it may become with annotation.mark \
                 {{buffer_size_in_byte = N : i64}}"
            ),
        };
        Err(PassError::Op { span, message })
    }

    /// Warns of a buffer that is read and never written (`written` is `Some(false)`). It may lie anywhere, since
    /// there is no content to keep. A foreign coupled buffer is no mistake: the other core writes it.
    fn warn_of_reads(&mut self, site: SiteId, written: Option<bool>, span: memplan_core::Span) {
        let coupled = self.view.lowered.program.site(site).coupled.is_some() && self.is_foreign(site);
        if written == Some(false) && !coupled {
            let name = &self.names[site];
            let message = format!(
                "warning: read before first write: nothing in the kernel writes {name}, so its readers find whatever is there"
            );
            self.all.remarks.push(Remark { span, message });
        }
    }

    /// Whether a buffer lies in the memory of the other core.
    fn is_foreign(&self, site: SiteId) -> bool {
        let document = self.view.document;
        let Some(function) = self.site_function(site) else { return false };
        let core = document.core(self.view.lowered.functions[function]);
        Document::scope_name(self.space_text(site)).is_some_and(|scope| Document::is_foreign(core, scope))
    }

    /// The module around the function in which a buffer is allocated. Numbers of coupled buffers count within a
    /// module.
    fn module_of(&self, site: SiteId) -> Option<crate::OpId> {
        let function = self.site_function(site)?;
        self.view.document.parent_op(self.view.lowered.functions[function])
    }

    /// Makes a coupled buffer that is not foreign the owner of its number. The first one counts.
    fn note_owner(&mut self, site: SiteId) {
        let coupled = self.view.lowered.program.site(site).coupled;
        if let Some(number) = coupled.filter(|_| !self.is_foreign(site)) {
            self.owners.entry((self.module_of(site), number)).or_insert(site);
        }
    }

    /// The owner of a foreign coupled buffer; `None` for all other buffers, and for one whose number no owner has.
    fn owner(&self, site: SiteId) -> Option<SiteId> {
        let number = self.view.lowered.program.site(site).coupled.filter(|_| self.is_foreign(site))?;
        self.owners.get(&(self.module_of(site), number)).copied()
    }

    /// Refuses a buffer without an owner in a memory in which the same function also has buffers with owners. This
    /// function would choose the address of the buffer without an owner. The other buffers get the addresses that
    /// their owners choose, and the functions of the owners know nothing of this buffer. So the two may overlap.
    fn refuse_without_owner(&self) -> Result<(), PassError> {
        // The memory space of a buffer, as the text names it.
        let space = |site: SiteId| self.view.lowered.program.site(site).space;
        for sites in &self.by_function {
            let coupled: BTreeSet<SpaceId> =
                sites.iter().filter(|site| self.owner(**site).is_some()).map(|&site| space(site)).collect();
            let without = sites.iter().find(|site| self.owner(**site).is_none() && coupled.contains(&space(**site)));
            let Some(&site) = without else { continue };
            let message = format!(
                "{} lies in the memory of the other core, beside coupled buffers, and has no owner there: \
                 couple it with one (hivm.tightly_coupled_buffer)",
                self.names[site]
            );
            return Err(PassError::Op { span: self.view.document.op(self.view.lowered.sites[site]).span, message });
        }
        Ok(())
    }

    /// Refuses a call of a function that has buffers in a memory in which the caller has a buffer that is alive
    /// across the call. Each function is planned as if it were alone, so the callee might overwrite the caller's
    /// buffer.
    fn refuse_nested_kernels(&self) -> Result<(), PassError> {
        let (document, program) = (self.view.document, &self.view.lowered.program);
        // The functions with buffers of their own, by module and name. A callee without any cannot overwrite anything.
        let mut kernels: HashMap<(Option<crate::OpId>, &str), FunctionId> = HashMap::new();
        for (function, _) in self.by_function.iter_enumerated().filter(|(_, sites)| !sites.is_empty()) {
            let op = self.view.lowered.functions[function];
            kernels.insert((document.parent_op(op), document.symbol_name(op).unwrap_or_default()), function);
        }
        for (op, &called) in self.view.lowered.ops.iter_enumerated() {
            if !document.info(called).traits.has(Traits::CALL) {
                continue;
            }
            // The function that the op calls, if it has buffers of its own. Names are looked up in the caller's module.
            let caller = program.function_of(op);
            let module = document.parent_op(self.view.lowered.functions[caller]);
            let callee = kernels.get(&(module, document.symbol_name(called).unwrap_or_default()));
            let Some(&callee) = callee else { continue };
            let clash = self.planned_clash(caller, op, callee).or_else(|| self.fixed_clash(caller, op, callee));
            if let Some(name) = clash {
                let message = format!(
                    "the function called here has on-chip buffers of its own, and {name} is in use meanwhile: inline it first"
                );
                return Err(PassError::Op { span: document.op(called).span, message });
            }
        }
        Ok(())
    }

    /// The name of a planned buffer of the caller that is alive across a call, in a memory in which the callee has
    /// buffers of its own; `None` if there is none.
    fn planned_clash(&self, caller: FunctionId, call: OpId, callee: FunctionId) -> Option<&str> {
        let program = &self.view.lowered.program;
        let mut alive = self.by_function[caller].iter().filter(|&&site| {
            matches!(self.view.lifetimes.life(site), Life::Range { first, last } if first <= call && call <= last)
        });
        let clash = alive.find(|&&site| {
            let space = program.site(site).space;
            self.by_function[callee].iter().any(|&other| program.site(other).space == space)
        });
        clash.map(|&site| self.names[site].as_str())
    }

    /// The name of a buffer of the caller at a fixed address that is in use across a call, in a memory in which the
    /// callee has planned buffers; `None` if there is none. The list of fixed buffers also has those of called
    /// functions, which are not the caller's.
    fn fixed_clash(&self, caller: FunctionId, call: OpId, callee: FunctionId) -> Option<&str> {
        let document = self.view.document;
        let of_caller = |op: crate::OpId| document.function_around(op) == Some(self.view.lowered.functions[caller]);
        let clashes = |cast: &&fixed::Cast| {
            let alive = cast.first <= call && call <= cast.last && of_caller(cast.op);
            alive && self.by_function[callee].iter().any(|&site| self.space_text(site) == cast.space)
        };
        let cast = self.fixed.of(caller).iter().find(clashes)?;
        document.results(cast.op).first().map(|&value| document.value_name(value))
    }

    /// Takes buffers of which a loop hands out several instances out of the plan, with a remark: one address cannot
    /// hold an instance that is still needed and another one that is being written.
    fn leave_alone(&mut self, groups: &Groups) {
        for &site in &groups.left_alone {
            let span = self.view.document.op(self.view.lowered.sites[site]).span;
            let message = format!(
                "{} keeps its allocation: a loop hands out several instances of it, and one is written while another is still needed",
                self.names[site]
            );
            self.all.remarks.push(Remark { span, message });
        }
        for sites in self.by_function.iter_mut() {
            sites.retain(|site| !groups.left_alone.contains(site));
        }
    }

    /// Refuses buffers whose old content an outer loop still reads when they are filled again: they would need another
    /// address in each iteration.
    fn refuse_hopeless(&self, groups: &Groups) -> Result<(), PassError> {
        let Some(&site) = groups.hopeless.first() else { return Ok(()) };
        let span = self.view.document.op(self.view.lowered.sites[site]).span;
        Err(PassError::Op { span, message: super::NO_FIXED_ADDRESS.to_owned() })
    }

    /// Plans one function and takes over its plan, or notes why it does not fit. An error is something else: the pass
    /// was stopped, or a number is too large.
    fn function(
        &mut self,
        function: FunctionId,
        groups: &Groups,
        way: Way,
        request: &Request,
    ) -> Result<(), PassError> {
        // A buffer in the other core's memory is planned there, by the function that owns it, and gets that address.
        let sites: Vec<SiteId> =
            self.by_function[function].iter().copied().filter(|&site| self.owner(site).is_none()).collect();
        if sites.is_empty() {
            return Ok(());
        }
        // The device of the function, with what is left of its memories for planned buffers.
        let target = self.capacities(function, self.target(function).0)?;
        let attempt = match way {
            Way::Levels => self.attempt(function, &target, &sites, groups, None, request)?,
            Way::FewestWaits(strategy) => self.fewest_waits(function, &target, &sites, groups, strategy, request)?,
            Way::Strategy(strategy) => self.attempt(function, &target, &sites, groups, Some(strategy), request)?,
        };
        let op = self.view.lowered.functions[function];
        let name = self.view.document.symbol_name(op).unwrap_or_default().to_owned();
        let Attempt { problem, outcome, report, waits, refuted } = attempt;
        // The problem has the buffers of the sites first, then one for each piece of fixed memory, in this order.
        let fixed: Vec<crate::OpId> =
            self.taken(function, &target, &sites).into_iter().map(|(_, piece)| piece.op).collect();
        let plan = match outcome {
            Outcome::Optimal(plan) | Outcome::Feasible { plan, .. } => plan,
            // The time was over before there was a plan. To explain why a function does not fit takes searches that
            // nobody waits for, and it is not known whether it fits.
            Outcome::Exhausted { stop: Stop::TimeLimit | Stop::Interrupted } => return Err(PassError::Stopped),
            // A function that does not fit is explained and the next one is planned. All failures are reported
            // together.
            outcome => {
                still_waiting()?;
                let failure = overflow::Failure {
                    view: self.view,
                    problem: &problem,
                    sites: &sites,
                    fixed: &fixed,
                    outcome: &outcome,
                    report: report.as_ref(),
                    refuted: &refuted,
                    request,
                };
                self.overflows.extend(failure.explain(op));
                return Ok(());
            }
        };
        self.adopt(&sites, &plan);
        if let Some(report) = &report {
            self.warn(op, &problem, report);
        }
        if let Some(waits) = waits {
            self.tell_waits(op, &problem, &plan, waits);
        }
        self.all.functions.push(PlannedFunction { name, problem, plan, report, waits, sites, fixed });
        Ok(())
    }

    /// The bytes that buffers at fixed addresses take in the memories of these sites, each with the name of its
    /// memory.
    fn taken(&self, function: FunctionId, target: &Target, sites: &[SiteId]) -> Vec<(String, fixed::Piece)> {
        // The memories in which this function has buffers to place. Casts in other memories are in nobody's way.
        let scopes = sites.iter().filter_map(|&site| target.scope(self.space_text(site)));
        let scopes: BTreeMap<&str, &Scope> = scopes.map(|scope| (scope.name.as_str(), scope)).collect();
        let casts = self.fixed.of(function);
        let pieces = scopes.into_iter().flat_map(|(name, scope)| {
            let is_here = |space: &str| target.scope(space).is_some_and(|scope| scope.name == name);
            fixed::pieces(casts, is_here, scope).into_iter().map(move |piece| (name.to_owned(), piece))
        });
        pieces.collect()
    }

    /// Plans a function, in up to two trials. In the first trial, results that are computed in place must lie on their
    /// donors, as in the original (the tight problem). If a memory is too small for that, in the second trial the
    /// results in this memory may lie on their donors but need not (the loose problem).
    fn attempt(
        &mut self,
        function: FunctionId,
        target: &Target,
        sites: &[SiteId],
        groups: &Groups,
        strategy: Option<&dyn Strategy>,
        request: &Request,
    ) -> Result<Attempt, PassError> {
        let kernel = Kernel {
            view: self.view,
            users: &self.users,
            idle: &self.idle,
            names: &self.names,
            taken: self.taken(function, target, sites),
            function,
            target,
            sites,
            shared: SharedNames::default(),
            last_scope: Cell::new(None),
        };
        let first = place(kernel.problem(&Choice::tight(groups))?, self.view.options.order, strategy, request)?;
        // If there is a plan, it is taken. If there is none, but no memory is known to be too small, the second trial
        // would be the same as the first one.
        let short = first.short();
        if short.is_empty() {
            return Ok(first);
        }
        // Without a plan because the time is over, the steps below would take minutes for 10^5 buffers: they search
        // again, and prove that nothing fits.
        first.still_in_time()?;
        let planned = self.own_sites();
        let loose = self.loose.get_or_insert_with(|| coalesce(self.view, &self.users, &planned, InPlace::Allowed));
        let choice = Choice { tight: groups, loose: Some(loose), short: short.clone() };
        let second = place(kernel.problem(&choice)?, self.view.options.order, strategy, request)?;
        if second.short().is_empty() {
            return Ok(second);
        }
        second.still_in_time()?;
        // A memory is proved to be too small if not even the relaxed problem has a plan.
        let mut refuted = second.short();
        refuted.retain(|name| {
            let relaxed = kernel.relaxation(groups, loose, name);
            relaxed.is_ok_and(|problem| matches!(search::search(&problem, request).outcome, Outcome::Infeasible(_)))
        });
        // The first trial is what the original does, so its failure is reported. If the second trial fails in fewer
        // memories, its failure is reported instead: the other memories are not too small.
        let told = if second.short() == short { first } else { second };
        Ok(Attempt { refuted, ..told })
    }

    /// The device with the capacity of the unified buffer (`ub`) that is left for planned buffers. In the modes SIMT
    /// and MIX of a function, vector functions use a part of that memory as their cache. The option
    /// `simt-vf-dynamic-size` says how many KiB are left. An error if that leaves the cache too little or too much; its
    /// text is the original's. A unified buffer without a capacity has room for any cache.
    fn capacities(&self, function: FunctionId, mut target: Target) -> Result<Target, PassError> {
        let (document, op) = (self.view.document, self.view.lowered.functions[function]);
        let mode = document.attribute(op, "hivm.vf_mode").unwrap_or_default();
        let threads = mode.contains("<SIMT>") || mode.contains("<MIX>");
        let (Some(cache), true) = (target.vector_function_cache, threads) else { return Ok(target) };
        let Some(scope) = target.scopes.iter_mut().find(|scope| scope.name == "ub") else { return Ok(target) };
        // In KiB, as the user gives it.
        let asked = self.view.options.vector_function_memory;
        let Some(whole) = scope.capacity else { return Ok(target) };
        // Bytes to KiB. What is left for planned buffers is least if the cache is largest.
        let (least, most) = (whole.saturating_sub(cache.most) >> 10, whole.saturating_sub(cache.least) >> 10);
        if asked < least || asked > most {
            let message =
                format!("PlanMemory Fail : SimtVFDynamicSize have to in range [{least}, {most}], but got {asked}!");
            return Err(PassError::Op { span: document.op(op).name_span, message });
        }
        scope.capacity = Some(asked << 10);
        Ok(target)
    }

    /// Takes over where a plan puts the buffers of a function. The spaces of a plan are those of one function's
    /// problem; the placements of the whole program have the program's spaces.
    fn adopt(&mut self, sites: &[SiteId], plan: &Plan) {
        let program = &self.view.lowered.program;
        for (&site, placement) in sites.iter().zip(&plan.placements) {
            let space = program.site(site).space;
            self.all.placements[site] = placement.clone().map(|placement| Placement { space, ..placement });
        }
    }

    /// Gives the foreign coupled buffers the addresses of their owners, after all functions have been planned.
    fn couple(&mut self) {
        let spaces = self.view.lowered.program.spaces().len();
        for site in self.by_function.iter().flatten().copied().collect::<Vec<_>>() {
            let Some(owner) = self.owner(site) else { continue };
            let placement = self.all.placements[owner].clone();
            // The buffer lies in the other core's memory, which is not the memory of the same name on this core. So
            // the placement gets the number of a space that the program does not have: that of the buffer's space plus
            // the number of spaces. Then the checks do not compare its addresses with those of this core's buffers.
            let space = SpaceId::from_index(spaces + self.view.lowered.program.site(site).space.index());
            self.all.placements[site] = placement.map(|placement| Placement { space, ..placement });
        }
    }
}
