//! What the checks find, in one form for reports and machines.
//!
//! Every plan is judged here, ours and those of other tools: no other module of this crate calls
//! the packing check, the dataflow check, the check of orders or the check of changed models.

use memplan_core::{BufferId, Plan, Problem, Span};
use memplan_program::{Program, SiteId};
use memplan_tensor::rewrite::Judge;
use memplan_verify::dataflow::{self, SitePlan, SitePlanView};
use memplan_verify::equivalence;
use memplan_verify::order;
use memplan_verify::packing::{self, Kind, Place, Violation};

/// The checks, for code that tries several layouts of its own and has to judge each of them.
pub(crate) const JUDGE: Judge = Judge { packing: packing::check, dataflow: dataflow::check };

/// Something that is wrong with a plan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// Stable name of the kind, such as `packing::overlap`.
    pub code: &'static str,
    /// The finding as a sentence.
    pub message: String,
    /// Names of the buffers concerned.
    pub buffers: Vec<String>,
    /// The first step at which it happens, if it happens in time.
    pub step: Option<u64>,
    /// The space and the bytes in it, where that is the witness.
    pub place: Option<(String, [u64; 2])>,
    /// Where in the program's text, if there is a program.
    pub span: Option<Span>,
}

/// Everything in which a plan breaks the rules of its problem, found by the packing check; empty if
/// it breaks none.
pub fn in_packing(problem: &Problem, plan: &Plan) -> Vec<Finding> {
    packing::check(problem, plan).iter().map(Finding::from).collect()
}

/// The same as [`in_packing`], with the buffers each finding is about.
pub(crate) fn in_packing_with_buffers(problem: &Problem, plan: &Plan) -> Vec<(Finding, Vec<BufferId>)> {
    let buffers = |violation: &Violation| {
        let who = violation.buffer().into_iter().chain(violation.other());
        who.map(|who| who.id).collect()
    };
    packing::check(problem, plan).iter().map(|violation| (Finding::from(violation), buffers(violation))).collect()
}

/// Everything in which a plan for a program breaks the rules, except for those
/// about lifetimes: whether sharing is right is the dataflow check's business,
/// and an allocation that a plan does not mention stays as it is.
pub fn in_placement(problem: &Problem, plan: &Plan) -> Vec<Finding> {
    let is_about_lifetimes =
        |violation: &Violation| matches!(violation.kind(), Kind::Overlap | Kind::ObjectShared | Kind::MissingBuffer);
    let violations = packing::check(problem, plan);
    violations.iter().filter(|violation| !is_about_lifetimes(violation)).map(Finding::from).collect()
}

impl Finding {
    /// A finding about a result as a whole: no buffer, step or place of it is meant.
    pub(crate) fn of_whole(code: &'static str, message: String) -> Finding {
        Finding { code, message, buffers: Vec::new(), step: None, place: None, span: None }
    }
}

impl From<&Violation> for Finding {
    /// A violation of the packing check as a finding. It has no place in a source text.
    fn from(violation: &Violation) -> Finding {
        // One buffer, two, or none, and the bytes that are the witness, if there are any.
        let who = violation.buffer().into_iter().chain(violation.other());
        let place = match violation.place() {
            Some(Place::Bytes { name, bytes, .. }) => Some((name.clone(), [bytes.start.0, bytes.end.0])),
            Some(Place::Object(_)) | None => None,
        };
        Finding {
            code: violation.code(),
            message: violation.to_string(),
            buffers: who.map(|who| who.name.to_string()).collect(),
            step: violation.step().map(|step| step.0),
            place,
            span: None,
        }
    }
}

/// Everything in which placements change what a program computes, found by the dataflow check;
/// empty if it computes the same.
pub fn in_dataflow(program: &Program, plan: &SitePlan) -> Vec<Finding> {
    in_dataflow_with_sites(program, &plan.into()).into_iter().map(|(finding, _)| finding).collect()
}

/// The same as [`in_dataflow`], with the sites each finding is about.
pub(crate) fn in_dataflow_with_sites(program: &Program, plan: &SitePlanView<'_>) -> Vec<(Finding, Vec<SiteId>)> {
    let violations = dataflow::check_view(program, plan);
    if violations.is_empty() {
        return Vec::new();
    }
    // Names are made only where there is something to report.
    let names = program.site_names();
    let finding = |violation: &dataflow::Violation| {
        let sites = sites_of(violation);
        let finding = Finding {
            code: violation.code(),
            message: violation.describe(program),
            buffers: sites.iter().map(|&site| names[site].clone()).collect(),
            step: None,
            place: None,
            // An op that was made by a lowering and stands nowhere in the text has an empty span.
            span: violation.op().map(|op| program.op(op).span).filter(|span| span.end > span.start),
        };
        (finding, sites)
    };
    violations.iter().map(finding).collect()
}

/// Everything in which another order of execution changes what is computed; empty if nothing
/// changes. `ops` say what each op reads and writes, in the old order; `new` are their numbers in
/// the new order.
pub fn in_order(ops: &[order::Access], new: &[usize]) -> Vec<Finding> {
    let finding = |violation: &order::Violation| Finding::of_whole(violation.code(), violation.to_string());
    order::check(ops, new).iter().map(finding).collect()
}

/// What keeps a changed model from being known to compute the same as the original: the first place
/// where the proof fails, or nothing.
pub fn in_equivalence(original: &equivalence::Network, changed: &equivalence::Network) -> Vec<Finding> {
    let violation = equivalence::check(original, changed).err();
    violation.map(|violation| Finding::of_whole(violation.code(), violation.to_string())).into_iter().collect()
}

/// The sites (allocations in the program) that a violation is about; none for kinds that concern the plan as a whole.
/// When a plan is rejected, the driver plans again with these sites kept apart.
fn sites_of(violation: &dataflow::Violation) -> Vec<SiteId> {
    use dataflow::Violation::*;
    match violation {
        Overwritten { site, .. }
        | OwnInput { site, .. }
        | OutputsOverlap { site, .. }
        | EscapedOverwritten { site, .. }
        | SlotsOverlap { site, .. }
        | TooFewSlots { site, .. }
        | ForeignScope { site, .. }
        | OutOfMemory { site, .. }
        | Misaligned { site, .. } => vec![*site],
        IterationsOverlap { sites, .. } | Unordered { sites, .. } | ExclusiveShared { sites } => {
            vec![sites.0, sites.1]
        }
        // These kinds name no site, so nothing can be kept apart because of them.
        _ => Vec::new(),
    }
}
