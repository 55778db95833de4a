//! The planners as their descriptions read: slow, recursive, quadratic, and
//! without any of the ideas that make the real ones fast.

pub(crate) mod by_size;
pub(crate) mod chunk;
pub(crate) mod stretch;

use memplan_core::Problem;

/// `(bytes, start, end)` of every buffer; all are used and in one space.
pub(crate) fn records(problem: &Problem) -> Vec<(u64, u64, u64)> {
    let record = |buffer: &memplan_core::Buffer| {
        let (start, end) = (buffer.lifetime.start().unwrap(), buffer.lifetime.end().unwrap());
        (buffer.bytes().unwrap().0, start.0, end.0)
    };
    problem.buffers().iter().map(record).collect()
}

pub(crate) fn overlap(one: (u64, u64, u64), other: (u64, u64, u64)) -> bool {
    one.1 < other.2 && other.1 < one.2
}
