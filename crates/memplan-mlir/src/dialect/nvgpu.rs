//! Copies that the hardware of a GPU makes beside the program.
//!
//! They run on behind the op, until the program waits for a group of copies or for a barrier in memory. Which copies a
//! wait is for is not followed, so what they read and write escapes. Nothing is said about the other ops of these
//! dialects.

use super::{OpInfo, ResultTypes, Row};

pub(super) fn rows() -> Vec<Row> {
    vec![
        // The token that it gives is not written.
        ("nvgpu.device_async_copy", OpInfo::escapes().with_results(ResultTypes::Number)),
        ("nvgpu.tma.async.load", OpInfo::escapes()),
        ("nvgpu.tma.async.store", OpInfo::escapes()),
        ("amdgpu.gather_to_lds", OpInfo::escapes()),
    ]
}
