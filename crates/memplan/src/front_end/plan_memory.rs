//! plan-memory: an address for every on-chip buffer of an NPU kernel.

use std::borrow::Cow;

use memplan_core::Span;
use memplan_mlir::pass::plan_memory::{self, MemoryMode, Options, Planned, PlannedFunction};
use memplan_mlir::written::Changes;
use memplan_mlir::{lower_kernels, lower_workspaces};
use memplan_program::SiteId;

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

impl FrontEnd for PlanMemory {
    type Input = Module;
    type Laid = Planned;

    fn name(&self) -> &str {
        "plan-memory"
    }

    fn read(&self, source: &Source) -> Result<Module, Failure> {
        Module::read(
            source,
            match self.options.mode {
                MemoryMode::Local => lower_kernels,
                MemoryMode::Workspace => lower_workspaces,
            },
        )
    }

    fn lay_out(&self, input: &Module, solver: &mut Solver) -> Result<Planned, Failure> {
        let (how, apart) = (solver.how(), solver.apart(0));
        let (document, lowered) = (&input.document, &input.lowered);
        plan_memory::run(document, lowered, &self.options, how.device.as_ref(), how.strategy, &how.request, apart)
            .map_err(|error| input.failure(error))
    }

    /// Beside the claim of every pass over MLIR, the plan of each function is claimed to solve the function's problem.
    fn claim<'a>(&self, input: &'a Module, laid: &'a Planned) -> Claim<'a> {
        let packing = |function: &'a PlannedFunction| Packing {
            problem: Cow::Borrowed(&function.problem),
            plan: Cow::Borrowed(&function.plan),
            sites: Some((0, Cow::Borrowed(function.sites.as_slice()))),
        };
        let placements = laid.rewrite.placements.as_slice();
        Claim {
            packings: laid.functions.iter().map(packing).collect(),
            placements: by_function(input, placements).into_iter().map(Cow::Owned).collect(),
            ..input.claim(&laid.rewrite)
        }
    }

    fn emit(&self, input: &Module, laid: &Planned) -> Result<Output, Failure> {
        // Where each buffer of a function is allocated in the text: first those that were planned, then those that had
        // an address before (a `pointer_cast`), as in the function's problem.
        let spans = |function: &PlannedFunction| -> Vec<Span> {
            let fixed = function.fixed.iter().map(|&cast| input.document.op(cast).span);
            let sites = function.sites.iter().map(|&site| input.document.op(input.lowered.sites[site]).span);
            sites.chain(fixed).collect()
        };
        let parts = laid.functions.iter().map(|function| Part {
            name: &function.name,
            problem: &function.problem,
            plan: &function.plan,
            spans: spans(function),
        });
        let parts: Vec<Part> = parts.collect();
        // Functions with too many buffers for one problem together have no picture; the rewritten text is complete.
        let layout = Layout::of(&parts).ok().flatten();
        Ok(Output { files: laid.files.clone(), layout, ..input.emit(&laid.rewrite)? })
    }

    fn places(&self, input: &Module, output: &Output) -> Result<Places, Failure> {
        let addresses = input.addresses(output, Changes::Addresses)?;
        let found: Vec<_> = addresses.into_vec().into_iter().map(|address| address.map(found)).collect();
        Ok(Places { lists: by_function(input, &found) })
    }
}

/// Sorts a list over all sites into one list for each function, with the function's own sites only. Functions do not
/// run at the same time, so each of them has the memories to itself. A site that no op allocates is in no list.
fn by_function<T: Clone>(input: &Module, of_sites: &[Option<T>]) -> Vec<Vec<Option<T>>> {
    let program = &input.lowered.program;
    let mut lists = vec![Vec::new(); program.functions().len()];
    for (site, item) in program.sites().ids().zip(of_sites) {
        let site: SiteId = site;
        if let Some(op) = program.alloc_op(site) {
            lists[memplan_core::Id::index(program.function_of(op))].push(item.clone());
        }
    }
    lists
}
