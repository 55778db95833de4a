//! A network that was read from a model file, and what planning needs of it.
//!
//! *The runtime* is TensorFlow Lite Micro, which runs `.tflite` models. It has one arena: tensors and scratch memory at
//! the lower end (its *head*), and what it keeps for itself at the upper end (its *tail*). The runtime has a planner of
//! its own; `arena` repeats what that planner does, so that its result can be compared with ours.

mod report;

pub use report::{LiveAt, PeakReport, PeakRow};

use memplan_core::{BufferId, Bytes, Id, IndexVec, Plan, Problem, bound};
use memplan_models::ReadError;
use memplan_models::graph::problem::{Assumptions, Placed, Role, place};
use memplan_models::graph::{Model, Timeline, program::program};
use memplan_models::tflite::arena;
use memplan_models::tflite::tail::Tail;
use memplan_program::{Program, SiteId};
use memplan_verify::dataflow::SitePlan;

use crate::finding::{self, Finding};
use crate::target::Target;
use crate::wording::sized;

/// Up to this many buffers the planner of TensorFlow Lite Micro is followed (`arena::lay_out`),
/// which takes time in proportion to the square of their number. Networks for microcontrollers have
/// hundreds.
const RUNTIME_BUFFERS: usize = 20_000;

/// Which kind of file a network comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Kind {
    /// TensorFlow Lite.
    Tflite,
    /// ONNX.
    Onnx {
        /// For each op of the first graph, the place of its node in the file.
        nodes: Vec<usize>,
    },
}

/// A network, the problem it makes, and the program a plan for it is checked against.
#[derive(Clone, Debug)]
pub struct Network {
    /// Which kind of file it comes from.
    kind: Kind,
    /// Its graphs, tensors and ops, as the reader found them.
    model: Model,
    /// What was assumed about its use: whether inputs may be overwritten, and whether ops may work
    /// in place.
    assumptions: Assumptions,
    /// The problem, and what each of its buffers is.
    placed: Placed,
    /// What the dataflow check follows; `None` if it would be too long.
    program: Option<Program>,
    /// Operators whose scratch memory nobody has measured.
    unmeasured: Vec<String>,
    /// What the runtime keeps in its arena beside tensors and scratch memory.
    tail: Tail,
}

impl Network {
    /// Makes the problem and the program of a model.
    pub fn new(kind: Kind, model: Model, assumptions: Assumptions) -> Result<Network, ReadError> {
        let failed = |message: String| ReadError::at_byte("model::unplannable", 0, message);
        // When each op runs; the lifetimes that follow from it, as a problem; the program against
        // which a plan is checked. The program is made from the model and not from the lifetimes,
        // so that it can show them wrong.
        let timeline = Timeline::new(&model).map_err(|error| failed(error.to_string()))?;
        let placed = place(&model, timeline, assumptions).map_err(|error| failed(error.to_string()))?;
        let program = program(&model, &placed, assumptions).map_err(|error| failed(error.to_string()))?;
        Ok(Network { kind, model, assumptions, placed, program, unmeasured: Vec::new(), tail: Tail::default() })
    }

    /// With what is known about the runtime: operators whose scratch memory nobody has
    /// measured, and what it keeps in its arena beside tensors and scratch memory.
    #[must_use]
    pub fn with_runtime(self, unmeasured: Vec<String>, tail: Tail) -> Network {
        Network { unmeasured, tail, ..self }
    }

    /// The kind of file.
    pub fn kind(&self) -> &Kind {
        &self.kind
    }

    /// The network itself.
    pub fn model(&self) -> &Model {
        &self.model
    }

    /// What was assumed about its use.
    pub fn assumptions(&self) -> Assumptions {
        self.assumptions
    }

    /// The problem, before a target is known.
    pub fn problem(&self) -> &Problem {
        &self.placed.problem
    }

    /// What each buffer of the problem is.
    pub fn roles(&self) -> &IndexVec<BufferId, Role> {
        &self.placed.roles
    }

    /// When each op runs.
    pub fn timeline(&self) -> &Timeline {
        &self.placed.timeline
    }

    /// The program a plan is checked against, as text; `None` if it is too long.
    pub fn program_text(&self) -> Option<String> {
        self.program.as_ref().map(memplan_program::text::print)
    }

    /// The program and where a plan puts its buffers, for the dataflow check, which follows reads and writes
    /// and not the lifetimes that the plan was made with; `None` if the program is too long.
    pub fn meaning(&self, plan: &Plan) -> Option<(&Program, SitePlan)> {
        let program = self.program.as_ref()?;
        let mut by_site = SitePlan::empty(program);
        // The program of a network has one site for each buffer, in the same order.
        for site in program.sites().ids() {
            let site: SiteId = site;
            by_site.placements[site] = plan.placements.get(BufferId::from_index(site.index())).cloned().flatten();
        }
        Some((program, by_site))
    }

    /// Everything in which a plan changes what the network computes. Empty if it changes nothing,
    /// and also if the program is too long to be followed.
    pub fn check(&self, plan: &Plan) -> Vec<Finding> {
        self.meaning(plan).map_or_else(Vec::new, |(program, by_site)| finding::in_dataflow(program, &by_site))
    }

    /// The plan of the runtime's own planner, if the arena then needs less than with `plan`. The
    /// runtime places scratch memory itself, around the tensors, and might do so worse than
    /// planned. `None` if `plan` is as good, if the runtime's plan is not right for `problem`, and
    /// where it is not known: for ONNX, for very many buffers, and for several memories, of which
    /// the runtime has one.
    pub fn better_plan(&self, problem: &Problem, plan: &Plan) -> Option<Plan> {
        if !self.runtime_is_known() || problem.spaces().len() != 1 {
            return None;
        }
        let own = self.runtime_plan();
        let is_better = self.runtime_extent(&own) < self.runtime_extent(plan);
        // The runtime's planner knows nothing about the target's alignment. Its plan counts only if it passes our
        // check.
        let holds = || finding::in_packing(problem, &own).is_empty() && self.check(&own).is_empty();
        (is_better && holds()).then_some(own)
    }

    /// How often ops read or write each buffer in a run.
    pub fn accesses(&self) -> IndexVec<BufferId, u64> {
        self.placed.accesses(&self.model)
    }

    /// Whether the planner of TensorFlow Lite Micro can be followed in good time:
    /// it looks at every pair of buffers, and so do we.
    pub fn runtime_is_known(&self) -> bool {
        self.kind == Kind::Tflite && self.roles().len() <= RUNTIME_BUFFERS
    }

    /// Operators whose scratch memory nobody has measured: the arena needs at least what is said of it.
    pub fn unmeasured(&self) -> &[String] {
        &self.unmeasured
    }

    /// The size of the whole arena that TensorFlow Lite Micro needs if tensors and scratch memory take `head` bytes.
    pub fn arena(&self, head: Bytes) -> Bytes {
        self.tail.arena(head, self.roles().len())
    }

    /// What TensorFlow Lite Micro keeps in its arena beside tensors and scratch memory.
    pub fn tail(&self) -> &Tail {
        &self.tail
    }

    /// A target for tensors and scratch memory. The capacity that the user gives is that of the
    /// whole arena; what the runtime keeps there is taken off, and a note says so.
    pub fn without_tail(&self, target: &Target) -> (Target, Option<String>) {
        // Without a capacity, and for ONNX, of whose runtimes nothing is known, nothing is taken
        // off.
        let Some(capacity) = target.capacity.filter(|_| self.kind == Kind::Tflite) else {
            return (target.clone(), None);
        };
        // What the runtime keeps, and how large an arena it needs while it starts, when it lists
        // all buffers.
        let (tail, start) = (self.tail.bytes, self.tail.to_start(self.roles().len()));
        if start > capacity {
            let note = format!(
                "TensorFlow Lite Micro needs an arena of {} to start with this model, more than {}",
                sized(start),
                sized(capacity)
            );
            // The runtime cannot even start, so there is no room for any tensor.
            return (Target { capacity: Some(Bytes::ZERO), ..target.clone() }, Some(note));
        }
        let left = Bytes(capacity.0.saturating_sub(tail.0));
        let note = format!(
            "of an arena of {} TensorFlow Lite Micro keeps {} for itself: {} are left for tensors and scratch memory",
            sized(capacity),
            sized(tail),
            sized(left)
        );
        (Target { capacity: Some(left), ..target.clone() }, Some(note))
    }

    /// The plan that TensorFlow Lite Micro makes on its own: no plan is inside the model, so no buffer has a given
    /// place.
    pub fn runtime_plan(&self) -> Plan {
        let problem = &self.placed.problem;
        // A request is what the runtime asks its planner for: a size, the first and the last step,
        // perhaps an offset. Here no buffer has an offset.
        let arena = arena::lay_out(&arena::requests(problem, None, |_| false));
        let mut plan = Plan::empty(problem);
        // The network's own problem, before a target is known, has one space.
        let space = memplan_core::SpaceId::from_index(0);
        for (buffer, offset) in arena.offsets.iter().enumerate() {
            let buffer = BufferId::from_index(buffer);
            plan.placements[buffer] = Some(memplan_core::Placement::at(space, *offset));
        }
        plan.fit_extents(problem);
        // The runtime rounds sizes up, also that of the topmost buffer, so it may need more than
        // the end of that buffer.
        for extent in plan.extents.iter_mut().take(1) {
            *extent = arena.extent.max(*extent);
        }
        plan
    }

    /// The head of the arena that TensorFlow Lite Micro needs on its own. It reuses inputs,
    /// whatever was assumed here.
    pub fn runtime_alone(&self) -> Bytes {
        arena::lay_out(&arena::requests(&self.with_inputs_reused(), None, |_| false)).extent
    }

    /// What the head of the arena needs at least, wherever tensors are and whatever scratch memory comes on top.
    pub fn runtime_at_least(&self) -> Bytes {
        bound::lower_bound(&self.with_inputs_reused())
    }

    /// The problem as TensorFlow Lite Micro sees it: the memory of inputs is reused, and no op works in place. If that
    /// problem cannot be built, the result is the problem as it was read.
    fn with_inputs_reused(&self) -> Problem {
        let assumptions = Assumptions { reuse_inputs: true, in_place: false };
        let placed = place(&self.model, self.placed.timeline.clone(), assumptions);
        placed.map_or_else(|_| self.placed.problem.clone(), |placed| placed.problem)
    }

    /// The head of the arena that TensorFlow Lite Micro needs with a plan of ours inside the model:
    /// tensors are where the plan says, scratch memory is placed around them by the runtime. It may
    /// be more than the plan's extent, because the runtime places scratch memory in an order of its
    /// own.
    pub fn runtime_extent(&self, plan: &Plan) -> Bytes {
        let is_tensor =
            |buffer: usize| matches!(self.placed.roles.get(BufferId::from_index(buffer)), Some(Role::Tensor(..)));
        arena::lay_out(&arena::requests(&self.placed.problem, Some(plan), is_tensor)).extent
    }
}
