//! Copies that the hardware of a GPU makes beside the program.
//!
//! Such a copy goes on after the op that starts it, until the program waits for a group of copies or for a barrier in
//! memory. It is not followed which wait is for which copy, so the memory that a copy reads and writes escapes. The
//! other ops of these dialects have no rows.
//!
//! In the rows: `escapes` is an op whose memory operands escape.
//! Rules for the types of results (`ResultTypes`): `Number` is something that is certainly not memory.

use super::{OpInfo, ResultTypes, Row};

/// What is known about the ops that start such copies.
pub(super) fn rows() -> Vec<Row> {
    vec![
        // The form does not write the type of the token that it gives. A token is no memory, so it counts as a number.
        ("nvgpu.device_async_copy", OpInfo::escapes().with_results(ResultTypes::Number)),
        ("nvgpu.tma.async.load", OpInfo::escapes()),
        ("nvgpu.tma.async.store", OpInfo::escapes()),
        ("amdgpu.gather_to_lds", OpInfo::escapes()),
    ]
}
