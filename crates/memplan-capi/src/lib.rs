//! memplan for C and C++.
//!
//! A compiler hands over arrays of plain structs and gets offsets back:
//! [`memplan_plan`] plans, [`memplan_verify`] checks any plan, [`memplan_plan_file`] plans
//! a file, [`memplan_rewrite`] runs a pass over a program's text. The header `include/memplan.h` is generated
//! from this crate and is its documentation.
//!
//! # Why it is a crate
//!
//! Compilers in C++ want arrays and plain structs, and a library of their own kind to link with. Pointers of callers
//! cannot be used without `unsafe`. The crates that plan and check forbid it, so all of it is here. Three promises hold
//! at the boundary:
//! - *No panic crosses it.* Everything runs inside [`guard::guarded`]; a panic is a
//!   bug of ours and ends in [`Status::MEMPLAN_BUG`].
//! - *Old callers keep working.* Every struct says its own size as the caller was
//!   compiled with it, elements of arrays included. Fields are only ever added at
//!   the end; what a caller does not have reads as zero ([`layout`]).
//! - *Nothing is kept.* No global state except a thread's last error message, so
//!   calls from several threads do not meet.
//!
//! # Example
//!
//! ```c
//! memplan_buffer buffers[2] = {{0}};       /* zero is fine for whatever is not wanted */
//! memplan_problem problem = {sizeof problem, sizeof buffers[0]};
//! memplan_report report = {sizeof report};
//! uint64_t offsets[2];
//! buffers[0].size = 4096; buffers[0].start = 0; buffers[0].end = 2;
//! buffers[1].size = 2048; buffers[1].start = 1; buffers[1].end = 3;
//! problem.buffers = buffers; problem.buffer_count = 2;
//! if (memplan_plan(&problem, NULL, offsets, &report) > MEMPLAN_FEASIBLE) puts(memplan_last_error());
//! ```
//!
//! # Where next
//!
//! The chapter "memplan from C and C++" of the book: how to install the library, programs with CMake and
//! pkg-config, the C++ wrapper `memplan.hpp`, and a plugin for `mlir-opt`.

mod api;
mod error;
mod file;
mod guard;
mod layout;
mod problem;
mod report;

pub use api::{
    memplan_free_text, memplan_last_error, memplan_plan, memplan_rewrite, memplan_status_name, memplan_verify,
    memplan_verify_in_spaces, memplan_version,
};
pub use error::Status;
pub use file::{memplan_fit_file, memplan_plan_file};
pub use layout::{
    BufferDescription, IntervalDescription, MEMPLAN_CAPACITY, MEMPLAN_EXCLUSIVE, MEMPLAN_FIXED_OFFSET,
    MEMPLAN_MAY_OVERLAY, MEMPLAN_MAY_OVERLAY_ANYWHERE, MEMPLAN_MUST_NOT_SHARE, MEMPLAN_MUST_SHARE, MEMPLAN_NORMAL,
    MEMPLAN_QUICK, MEMPLAN_STRICT, MEMPLAN_THOROUGH, Options, ProblemDescription, RelationDescription, Report,
    ReuseCostDescription, SpaceDescription, StopCallback,
};
