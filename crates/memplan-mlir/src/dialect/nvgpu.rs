//! Copies that the hardware of a GPU makes beside the program.
//!
//! They run on behind the op, until the program waits for a group of copies or for a barrier in memory. Which copies a
//! wait is for is not followed, so what they read and write escapes. Nothing is said about the other ops of these
//! dialects.
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
