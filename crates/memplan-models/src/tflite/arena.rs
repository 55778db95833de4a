//! How TensorFlow Lite Micro lays out its arena: to compare our plans with its
//! own, and to foresee where it puts the buffers that an offline plan leaves to it.
//!
//! Its planner places the buffers with a given offset first, then the others by
//! decreasing size (of equal ones the later first). Each goes to the lowest gap
//! that is wide enough, between the buffers placed before it that are alive at
//! the same time:
//!
//! ```text
//!     80..96       c c       1. b (64 bytes) is the largest and goes to 0
//!     64..80   a a c c       2. c (32 bytes) is alive with b at step 2 and goes on top of it
//!     16..64     b b         3. d (16 bytes) is alive with c at step 3, and there is room below c
//!      0..16     b b d d     4. a (16 bytes) is alive with b at step 1 and goes on top of it
//!      step    0 1 2 3 4
//! ```
//!
//! Sizes are rounded up to 16 bytes. For each buffer, all buffers placed before
//! it are scanned, as in the original; models have hundreds of them.

use memplan_core::{Bytes, Plan, Problem};

/// A buffer as the runtime sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request {
    /// Its bytes.
    pub size: Bytes,
    /// The first step of its life.
    pub first: u64,
    /// The last step of its life, included.
    pub last: u64,
    /// An offset given by an offline plan.
    pub offset: Option<Bytes>,
}

impl Request {
    /// The bytes that the runtime reserves for it.
    fn room(&self) -> u64 {
        self.size.0.div_ceil(ALIGNMENT).saturating_mul(ALIGNMENT)
    }
}

/// The runtime rounds sizes and offsets up to a multiple of this.
const ALIGNMENT: u64 = 16;

/// The offsets the runtime chooses, and what its arena needs for them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Arena {
    /// An offset for each request.
    pub offsets: Vec<Bytes>,
    /// The furthest end.
    pub extent: Bytes,
}

/// Lays out an arena as the runtime does. The offsets are in the order of `requests`.
pub fn lay_out(requests: &[Request]) -> Arena {
    // Requests with a given offset come first, in their own order. The others follow by size.
    let mut order: Vec<usize> = (0..requests.len()).collect();
    order.sort_by_key(|&index| {
        let by_size = (std::cmp::Reverse(requests[index].room()), std::cmp::Reverse(index));
        match requests[index].offset {
            // This key must have the same type as `by_size`, whose second number is reversed. `len - index` reverses it
            // once more, so the smaller index comes first.
            Some(_) => (0, (std::cmp::Reverse(0), std::cmp::Reverse(requests.len() - index))),
            None => (1, by_size),
        }
    });
    let mut offsets = vec![Bytes::ZERO; requests.len()];
    // Offset and index of the requests placed so far, sorted by offset; of equal offsets the one placed earlier first.
    let mut placed: Vec<(u64, usize)> = Vec::with_capacity(requests.len());
    for index in order {
        let request = &requests[index];
        let offset = request.offset.map_or_else(|| lowest_gap(request, &placed, requests), |given| given.0);
        offsets[index] = Bytes(offset);
        let position = placed.partition_point(|&(start, _)| start <= offset);
        placed.insert(position, (offset, index));
    }
    let ends = placed.iter().map(|&(start, index)| start.saturating_add(requests[index].room()));
    Arena { extent: Bytes(ends.max().unwrap_or(0)), offsets }
}

/// The lowest offset at which a request fits beside the requests in `placed` that are alive together with it.
fn lowest_gap(request: &Request, placed: &[(u64, usize)], requests: &[Request]) -> u64 {
    // `candidate` is the highest end of the buffers looked at so far. If the next buffer starts far enough above it,
    // the request fits between the two. Above the last buffer it always fits.
    let mut candidate = 0u64;
    for (start, other) in placed.iter().map(|&(start, other)| (start, &requests[other])) {
        let is_alive_too = other.first <= request.last && request.first <= other.last;
        if !is_alive_too {
            continue;
        }
        if start >= candidate && start - candidate >= request.room() {
            break;
        }
        candidate = candidate.max(start.saturating_add(other.room()));
    }
    candidate
}

/// The requests of a problem whose buffers are in the runtime's own order. `is_given` is asked for the number of each
/// buffer, from 0 on. If it says yes, the request gets the buffer's offset in `plan` as its given offset.
pub fn requests(problem: &Problem, plan: Option<&Plan>, is_given: impl Fn(usize) -> bool) -> Vec<Request> {
    let request = |(id, buffer): (memplan_core::BufferId, &memplan_core::Buffer)| {
        let first = buffer.lifetime.start().map_or(0, |step| step.0);
        let end = buffer.lifetime.end().map_or(0, |step| step.0);
        let offset = plan.filter(|_| is_given(memplan_core::Id::index(id))).and_then(|plan| plan.offset(id));
        // Lifetimes are half-open, and a request has the last step itself.
        Request { size: buffer.bytes().unwrap_or_default(), first, last: end.saturating_sub(1), offset }
    };
    problem.buffers().iter_enumerated().map(request).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(size: u64, first: u64, last: u64) -> Request {
        Request { size: Bytes(size), first, last, offset: None }
    }

    #[test]
    fn large_ones_first_and_small_ones_into_gaps() {
        let arena = lay_out(&[request(16, 0, 1), request(64, 1, 2), request(32, 2, 3), request(16, 3, 4)]);
        let offsets: Vec<u64> = arena.offsets.iter().map(|offset| offset.0).collect();
        assert_eq!((offsets, arena.extent.0), (vec![64, 0, 64, 0], 96));
    }

    #[test]
    fn given_offsets_stay_and_gaps_around_them_are_used() {
        let given = Request { offset: Some(Bytes(32)), ..request(32, 0, 9) };
        let arena = lay_out(&[request(16, 0, 9), given, request(20, 0, 9), request(8, 0, 9)]);
        let offsets: Vec<u64> = arena.offsets.iter().map(|offset| offset.0).collect();
        // 20 bytes are 32 to the runtime; of the two of 16 the later comes first.
        assert_eq!((offsets, arena.extent.0), (vec![80, 32, 0, 64], 96));
    }

    #[test]
    fn nothing_needs_nothing() {
        assert_eq!(lay_out(&[]), Arena::default());
    }
}
