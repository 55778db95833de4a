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
}

impl<'a> How<'a> {
    /// A strategy with default options.
    pub fn with(strategy: &'a dyn Strategy) -> How<'a> {
        How { strategy: Some(strategy), ..How::default() }
    }

    /// The same without repairs.
    pub fn strict(self) -> How<'a> {
        How { strict: true, ..self }
    }
}
