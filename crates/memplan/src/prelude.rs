//! What most programs that plan in Rust need, in one line.
//!
//! ```
//! use memplan::prelude::*;
//!
//! let mut builder = ProblemBuilder::new();
//! builder.buffer(Buffer::new("a", 64, Lifetime::new(0, 2)));
//! builder.buffer(Buffer::new("b", 32, Lifetime::new(1, 3)));
//! let planned = plan_problem(builder.build()?, &How::default())?;
//! assert_eq!(planned.outcome.plan().map(Plan::extent), Some(Bytes(96)));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub use crate::compare::Comparison;
pub use crate::core::{
    Buffer, BufferId, Bytes, Lifetime, Outcome, Overlay, OverlayKind, Placement, Plan, Problem, ProblemBuilder, Space,
    SpaceId, Stop,
};
pub use crate::driver::{Checked, Failure, How, plan, plan_problem};
pub use crate::format::Input;
pub use crate::front_end::Planned;
pub use crate::map::{Caption, Map};
pub use crate::planner::{Assign, Effort, Feature, Request, Strategy};
pub use crate::source::Source;
