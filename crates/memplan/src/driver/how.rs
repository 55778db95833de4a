//! How to plan.

use memplan_mlir::pass::plan_memory::Target as Device;
use memplan_planner::{Request, Strategy};

/// How to plan: everything that is not about the input or the memory.
#[derive(Clone, Default)]
pub struct How<'a> {
    /// The strategy; `None` for the front end's own choice, which is `auto` for everything that is only planned.
    pub strategy: Option<&'a dyn Strategy>,
    /// Options of the strategy.
    pub request: Request<'a>,
    /// Fail where a check rejects a plan, instead of planning again.
    pub strict: bool,
    /// The device, for passes that plan on-chip memory.
    pub device: Option<Device>,
    /// The process ends after this call. Then [`run`](super::run) does not free what it has read and planned: that takes
    /// up to 0.2 s for a program of a million ops, part by part, and the system takes back a whole process in a tenth of
    /// that (`benches/limits.py` of the command line).
    pub is_last: bool,
    /// Nobody looks at the picture of what was planned ([`Output::layout`](crate::front_end::Output::layout)), so a
    /// front end may leave it out. It is a second copy of all problems and plans: a tenth of the memory that a kernel
    /// of 10^4 buffers takes at its peak.
    pub without_layout: bool,
}

impl<'a> How<'a> {
    /// A strategy with default options.
    pub fn with(strategy: &'a dyn Strategy) -> How<'a> {
        How { strategy: Some(strategy), ..How::default() }
    }

    /// Whether `MEMPLAN_STRICT` in the environment asks for a strict run. The command line, Python and C look there, so
    /// that a whole script, or a whole test suite, is strict without saying so in every call.
    pub fn strict_in_environment() -> bool {
        std::env::var_os("MEMPLAN_STRICT").is_some()
    }

    /// The same, except that a plan which a check rejects is a failure and is not repaired.
    pub fn strict(self) -> How<'a> {
        How { strict: true, ..self }
    }
}
