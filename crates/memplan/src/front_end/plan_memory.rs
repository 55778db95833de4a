//! plan-memory: an address for every on-chip buffer of an NPU kernel.
//!
//! The pass itself is `memplan_mlir::pass::plan_memory`. Here its parts are put into the order that
//! the driver wants: read, lay out, claim, write, and find the addresses in what was written. A
//! `Module` is the text that was read and the program made of it; a *site* is one allocation of
//! that program.

use std::borrow::Cow;
use std::ops::Range;

use memplan_core::{Id, Placement, Span};
use memplan_mlir::pass::plan_memory::{self, MemoryMode, Options, Planned, PlannedFunction};
use memplan_mlir::written::Changes;
use memplan_mlir::{lower_kernels, lower_workspaces};
use memplan_program::{Program, SiteId};

use super::layout::{Layout, Part};
use super::mlir_text::{Module, found};
use super::{Claim, FrontEnd, Output, Packing, Places};
use crate::driver::{Failure, Solver};
use crate::source::Source;

/// The front end of the pass.
#[derive(Clone, Debug, Default)]
pub struct PlanMemory {
    /// Its options.
    pub options: Options,
}

/// A text with kernels.
pub struct Kernels {
    /// The text, and the program that was made of it.
    module: Module,
    /// The sites of each function. A site that no op allocates is in no list.
    sites: Vec<Sites>,
}

/// The sites of one function: a stretch of all sites, as far as they stand together, which they do unless a function
/// stands inside of another one.
enum Sites {
    /// Two sites or more whose numbers follow each other. Their placements are a slice of all
    /// placements, and need no copy.
    Together(Range<usize>),
    /// Any other sites, by their numbers in ascending order.
    Apart(Vec<usize>),
}

/// What was planned.
pub struct LaidKernels {
    /// What was planned. The problems and plans of functions are gone as soon as nobody needs them any more.
    pub planned: Planned,
    /// Whether a picture of the plan is to be part of the output. It is made of the problems and plans.
    with_layout: bool,
}

impl FrontEnd for PlanMemory {
    type Input = Kernels;
    type Laid = LaidKernels;
    const LETS_GO_OF_PACKINGS: bool = true;

    fn name(&self) -> &str {
        "plan-memory"
    }

    /// Reads a module and what its kernels do with the buffers of the mode.
    fn read(&self, source: &Source) -> Result<Kernels, Failure> {
        // On-chip buffers and workspaces are different ops, so each mode has a lowering of its own.
        let lower = match self.options.mode {
            MemoryMode::Local => lower_kernels,
            MemoryMode::Workspace => lower_workspaces,
        };
        let module = Module::read(source, lower)?;
        Ok(Kernels { sites: sites_by_function(&module.lowered.program), module })
    }

    fn lay_out(&self, Kernels { module, .. }: &Kernels, solver: &mut Solver) -> Result<LaidKernels, Failure> {
        let (how, apart) = (solver.how(), solver.apart(0));
        let (document, lowered) = (&module.document, &module.lowered);
        let device = how.device.as_ref();
        let planned = plan_memory::run(document, lowered, &self.options, device, how.strategy, &how.request, apart)
            .map_err(|error| module.failure(error))?;
        Ok(LaidKernels { planned, with_layout: !how.without_layout })
    }

    /// Beside the claim of every pass over MLIR (`Module::claim`: the program computes the same),
    /// the plan of each function is claimed to solve the function's problem. All functions belong
    /// to program 0, the only one.
    fn claim<'a>(&self, input: &'a Kernels, laid: &'a LaidKernels) -> Claim<'a> {
        let packing = |function: &'a PlannedFunction| Packing {
            problem: Cow::Borrowed(&function.problem),
            plan: Cow::Borrowed(&function.plan),
            sites: Some((0, Cow::Borrowed(function.sites.as_slice()))),
        };
        Claim {
            packings: laid.planned.functions.iter().map(packing).collect(),
            placements: self.placements(input, laid),
            ..input.module.claim(&laid.planned.rewrite)
        }
    }

    fn placements<'a>(&self, input: &'a Kernels, laid: &'a LaidKernels) -> Vec<Cow<'a, [Option<Placement>]>> {
        let placements = laid.planned.rewrite.placements.as_slice();
        let of_function = |sites: &Sites| match sites {
            Sites::Together(range) => Cow::Borrowed(&placements[range.clone()]),
            Sites::Apart(sites) => sites.iter().map(|&site| placements[site].clone()).collect(),
        };
        input.sites.iter().map(of_function).collect()
    }

    fn let_go_of_packings(&self, laid: &mut LaidKernels) {
        // The picture is made of the problems and plans, when the output is written.
        if !laid.with_layout {
            laid.planned.functions = Vec::new();
        }
    }

    fn let_go(&self, input: &mut Kernels, _: &mut LaidKernels) {
        input.module.lowered.forget_program();
    }

    /// Writes the text with the addresses in it, and puts the plans of all functions side by side for a picture.
    fn emit(&self, Kernels { module, .. }: &Kernels, laid: &LaidKernels) -> Result<Output, Failure> {
        // Where each buffer of a function is allocated in the text: first those that were planned, then those that had
        // an address before (a `pointer_cast`), as in the function's problem.
        let spans = |function: &PlannedFunction| -> Vec<Span> {
            let fixed = function.fixed.iter().map(|&cast| module.document.op(cast).span);
            let sites = function.sites.iter().map(|&site| module.document.op(module.lowered.sites[site]).span);
            sites.chain(fixed).collect()
        };
        let LaidKernels { planned, with_layout } = laid;
        let drawn = planned.functions.iter().filter(|_| *with_layout);
        let parts = drawn.map(|function| Part {
            name: &function.name,
            problem: &function.problem,
            plan: &function.plan,
            spans: spans(function),
        });
        let parts: Vec<Part> = parts.collect();
        // Functions with too many buffers for one problem together have no picture; the rewritten text is complete.
        let layout = Layout::of(&parts).ok().flatten();
        Ok(Output { files: planned.files.clone(), layout, ..module.emit(&planned.rewrite)? })
    }

    /// The addresses in the written text, function by function. Each site is in at most one list,
    /// so its address is moved there and not copied.
    fn places(&self, input: &Kernels, output: &Output) -> Result<Places, Failure> {
        let addresses = input.module.addresses(output, Changes::Addresses)?;
        let mut places = found(addresses);
        let of_function = |sites: &Sites| match sites {
            Sites::Together(range) => places[range.clone()].iter_mut().map(Option::take).collect(),
            Sites::Apart(sites) => sites.iter().map(|&site| places[site].take()).collect(),
        };
        Ok(Places { lists: input.sites.iter().map(of_function).collect() })
    }
}

/// The sites of each function. Functions do not run at the same time, so each of them has the
/// memories to itself, and what is written about the sites of one function is compared without
/// regard to the others. A site that no op allocates, which a checked program does not have, would
/// be in no list.
fn sites_by_function(program: &Program) -> Vec<Sites> {
    let mut lists = vec![Vec::new(); program.functions().len()];
    for site in program.sites().ids() {
        let site: SiteId = site;
        if let Some(op) = program.alloc_op(site) {
            lists[program.function_of(op).index()].push(site.index());
        }
    }
    // The numbers of a list ascend, so they follow each other if the last is as far from the first
    // as their count says. The pattern takes two sites or more; no site and a single one are a
    // short list.
    let stretch = |list: Vec<usize>| match list[..] {
        [first, .., last] if last - first + 1 == list.len() => Sites::Together(first..last + 1),
        _ => Sites::Apart(list),
    };
    lists.into_iter().map(stretch).collect()
}
