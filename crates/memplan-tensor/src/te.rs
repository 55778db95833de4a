//! The life of a tensor: from a graph of operations to shared flat storage.
//!
//! ```text
//! Graph ─► Schedule ─► normalised ─► Bounds ─► ScheduleOps ─► PrimFunc ─► Flat ─► prepared ─► Rewritten
//! what       how        regular      how        loops over     over        1-d     lanes,       who shares
//! is made    it is      loops        much       tensors        buffers             double       memory
//!            made                                                                  buffers
//! ```
//!
//! A *graph* says what is computed: tensors and the operations that make them. A *schedule* says how: each operation
//! is a *stage* with loops, a memory and a place. Normalising makes the loops regular, bounds say how much of each
//! tensor is needed, and the later steps turn that into a function: loops over tensors, over buffers, over buffers of
//! one dimension. *Prepared* means that vectorized loops are vectors (a *lane* is one value of a vector) and double
//! buffers have their second half. The last step lets buffers share memory.
//!
//! Each arrow is a function, each stop a value that can be printed ([`dump`](fn@dump)) and run by the
//! [interpreter](crate::interpret): all of them compute the same. [`read`](json::read) takes a description of a graph
//! and a schedule, [`lower`] goes all the way.

mod adopt;
mod arith;
mod bounds;
mod buffers;
mod cache;
mod combine;
mod directive;
mod domain;
mod error;
mod facts;
mod flatten;
mod graph;
mod graph_views;
pub mod json;
mod locate;
pub(crate) mod marks;
mod normalise;
mod parse;
mod pipeline;
mod prepare;
mod reference;
mod schedule;
mod schedule_ops;
mod text;

pub use bounds::{Bounds, infer_bounds};
pub use buffers::{PrimFunc, to_buffers};
pub use combine::{Combiner, Fold};
pub use directive::Directive;
pub use error::{GraphError, LowerError, ScheduleError};
pub use facts::facts;
pub use flatten::{DEFAULT_ALIGNMENT, Flat, FlatBuffer, FlattenOptions, MemoryInfo, storage_flatten};
pub use graph::{
    Axis, AxisKind, Body, Compute, Extern, Graph, IterId, OpId, OpKind, Operation, OutputSpec, Range, Slot,
};
pub use graph_views::{AttachPath, FeedGraph, ReadGraph, post_dfs_order};
pub use json::{Network, ReadTeError};
pub use pipeline::{
    LifeCycleError, LowerOptions, Lowered, STAGES, Scheduled, dump, dump_text, lower, lower_text, prepared_function,
    print_plainly, run_text, schedule,
};
pub use prepare::prepare;
pub use reference::reference_function;
pub use schedule::{Attach, AxisAttrs, LoopKind, Relation, Schedule, SplitBy, Stage, StageId};
pub use schedule_ops::schedule_ops;
