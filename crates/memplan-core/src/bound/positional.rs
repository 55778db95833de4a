//! Task profiles and positional maxima: the lower bound for plans made of shared objects.
//!
//! Planners that work on usage records (which buffer is in use from which task to which) call a step a *task*. The
//! profile of a task is the list of the buffers alive at it, largest first. The i-th positional maximum is the largest
//! size that is at position i of any profile:
//!
//! ```text
//!   step 0: sizes 64, 32        positional maxima: 64, 48, 16
//!   step 1: sizes 48, 48, 16    so at least three objects, of 64, 48 and 16 bytes or more
//! ```

use crate::{BufferId, Bytes, Problem, Step};

/// The buffers alive at a step, largest first; equal sizes in input order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TaskProfile {
    /// The step ("task") it belongs to.
    pub step: Step,
    /// The buffers alive there.
    pub buffers: Vec<BufferId>,
}

impl TaskProfile {
    /// The task's breadth: the sum of the sizes alive.
    pub fn breadth(&self, problem: &Problem) -> Bytes {
        Bytes(self.buffers.iter().map(|&buffer| problem.buffers()[buffer].bytes().unwrap_or_default().0).sum())
    }
}

/// The profile of every step at which the set of live buffers changes and is
/// not empty, in order of time. Steps in between have the profile of the step
/// before them, or none if nothing is alive.
///
/// The sum of the profiles' lengths can be quadratic in the number of buffers;
/// [`positional_maxima`] does not go through them.
pub fn task_profiles(problem: &Problem) -> Vec<TaskProfile> {
    // (step, whether the buffer starts there or ends there, buffer)
    let mut edges: Vec<(Step, bool, BufferId)> = Vec::new();
    for (id, buffer) in problem.buffers().iter_enumerated() {
        for interval in buffer.lifetime.intervals() {
            edges.push((interval.start, true, id));
            edges.push((interval.end, false, id));
        }
    }
    edges.sort_unstable();
    let mut alive = std::collections::BTreeSet::new();
    let mut profiles = Vec::new();
    // All edges of a step are applied before its profile is taken. Ends (`false`) sort before starts, so that a stretch
    // of a buffer that ends at a step is removed before the next stretch of the same buffer starts at it.
    for same_step in edges.chunk_by(|one, other| one.0 == other.0) {
        for &(_, starts, buffer) in same_step {
            let size = problem.buffers()[buffer].bytes().unwrap_or_default();
            let key = (std::cmp::Reverse(size), buffer);
            if starts {
                alive.insert(key);
            } else {
                alive.remove(&key);
            }
        }
        if !alive.is_empty() {
            let buffers = alive.iter().map(|&(_, buffer)| buffer).collect();
            profiles.push(TaskProfile { step: same_step[0].0, buffers });
        }
    }
    profiles
}

/// The positional maxima of the buffers for which `counts` is true: the i-th entry is the largest size at position i of
/// any task profile. The entries do not increase, and their sum is a lower bound for shared objects. A shape counts
/// with the product of its components; buffers of unknown size are left out. O(n log n).
pub fn positional_maxima(problem: &Problem, counts: impl Fn(BufferId) -> bool) -> Vec<Bytes> {
    positional_maxima_among(problem, problem.buffers().ids().filter(|&id| counts(id)))
}

/// The same for a list of buffers.
pub(super) fn positional_maxima_among(problem: &Problem, buffers: impl Iterator<Item = BufferId>) -> Vec<Bytes> {
    let buffers = buffers.map(|id| &problem.buffers()[id]);
    let sized = buffers.filter_map(|buffer| buffer.size.volume().map(|size| (size, buffer)));
    positional_maxima_of(sized.flat_map(|(size, buffer)| {
        buffer.lifetime.intervals().map(move |interval| (size, interval.start, interval.end))
    }))
}

/// As [`positional_maxima`], for stretches of time `(size, start, end)` with `start < end` instead of buffers.
pub fn positional_maxima_of(stretches: impl IntoIterator<Item = (Bytes, Step, Step)>) -> Vec<Bytes> {
    let stretches: Vec<(Bytes, Step, Step)> = stretches.into_iter().collect();
    maxima_over_time(&stretches, FEW_ALIVE).unwrap_or_else(|| maxima_by_size(stretches))
}

/// If no more stretches than this are alive at once, the maxima are found by going through time. With 100, 200 and 430
/// of 10^6 and 200,000 buffers alive, the strategy `greedy-in-order` then takes half of its time, its bound included.
/// With very many alive the time would grow with their number.
const FEW_ALIVE: usize = 500;

/// The maxima, found by going through time with a sorted list of the sizes alive. A size that is inserted moves all
/// smaller ones on by one position, so these positions are compared with the maxima so far:
///
/// ```text
///   step 0: 64 and 32 start      sizes alive 64, 32        maxima 64, 32
///   step 1: 64 and 32 end
///           48, 48, 16 start     sizes alive 48, 48, 16    maxima 64, 48, 16
/// ```
///
/// `None` if more than `most_alive` stretches are alive at once, for which this would take long.
fn maxima_over_time(stretches: &[(Bytes, Step, Step)], most_alive: usize) -> Option<Vec<Bytes>> {
    let mut starts: Vec<(Step, Bytes)> = stretches.iter().map(|&(size, start, _)| (start, size)).collect();
    let mut ends: Vec<(Step, Bytes)> = stretches.iter().map(|&(size, _, end)| (end, size)).collect();
    starts.sort_unstable_by_key(|start| start.0);
    ends.sort_unstable_by_key(|end| end.0);
    let mut ends = ends.into_iter().peekable();
    // The sizes alive, the largest first, and the largest size so far at each position.
    let (mut alive, mut maxima) = (Vec::new(), Vec::new());
    for (start, size) in starts {
        // What ends at a step is not alive there any more.
        while let Some((_, gone)) = ends.next_if(|end| end.0 <= start) {
            alive.remove(alive.partition_point(|&size| size > gone));
        }
        let position = alive.partition_point(|&other| other >= size);
        alive.insert(position, size);
        if alive.len() > most_alive {
            return None;
        }
        maxima.resize(alive.len().max(maxima.len()), Bytes::ZERO);
        let changed = maxima[position..].iter_mut().zip(&alive[position..]);
        changed.for_each(|(maximum, &size)| *maximum = size.max(*maximum));
    }
    Some(maxima)
}

/// The maxima, found from the largest to the smallest size.
///
/// Entry i (counted from 0) is the largest size s for which there is a step at which more than i stretches of size s or
/// more are alive. So the stretches are added to a timeline from the largest to the smallest, and the timeline counts
/// how many of them are alive at each step. Each time that the highest count of any step grows, the size that was just
/// added is the next entry:
///
/// ```text
///   added      64 at step 0    48 at step 1    48 at step 1    32 at step 0    16 at step 1
///   highest    1: entry 64     1               2: entry 48     2               3: entry 16
/// ```
fn maxima_by_size(mut stretches: Vec<(Bytes, Step, Step)>) -> Vec<Bytes> {
    stretches.sort_by_key(|&(size, ..)| std::cmp::Reverse(size));
    let mut timeline = Timeline::new(stretches.iter().flat_map(|&(_, start, end)| [start, end]).collect());
    // `maxima` has an entry for each value that the highest count has had. One more stretch raises the highest count by
    // one at most.
    let mut maxima = Vec::new();
    for (size, start, end) in stretches {
        timeline.add(start, end);
        if timeline.highest() > maxima.len() {
            maxima.push(size);
        }
    }
    maxima
}

/// Counts how many stretches cover each step, and knows the highest count: a segment tree. Node 1 is the root, and
/// node i has the children 2i and 2i + 1.
struct Timeline {
    /// All steps at which a stretch starts or ends, sorted. A node stands for the time between two of them.
    steps: Vec<Step>,
    /// For each node: how many stretches cover all of its time and are not counted at a node above it.
    whole: Vec<u32>,
    /// For each node: the highest count at any step of its time, of the stretches that are counted at the node and at
    /// nodes below it.
    highest: Vec<u32>,
}

impl Timeline {
    /// Nothing is counted. `steps` has the starts and ends of all stretches that will ever be added.
    fn new(mut steps: Vec<Step>) -> Timeline {
        steps.sort_unstable();
        steps.dedup();
        // A tree over n stretches of time whose halves differ by one at most has node numbers below 4n.
        let nodes = 4 * steps.len().max(1);
        Timeline { steps, whole: vec![0; nodes], highest: vec![0; nodes] }
    }

    /// Counts one more stretch.
    fn add(&mut self, start: Step, end: Step) {
        let last = self.steps.len() - 1;
        self.increment(1, 0, last, (start, end));
    }

    /// Counts one more stretch at the steps `start..end` in the part of the tree below `node`, which stands for the
    /// time from `steps[left]` to `steps[right]`.
    fn increment(&mut self, node: usize, left: usize, right: usize, (start, end): (Step, Step)) {
        if end <= self.steps[left] || self.steps[right] <= start {
            return;
        }
        // The stretch covers all of the node's time, so the count of each of its steps grows by one, and the children
        // need not be visited.
        if start <= self.steps[left] && self.steps[right] <= end {
            self.whole[node] += 1;
            self.highest[node] += 1;
            return;
        }
        // The two halves share the step in the middle, because a node stands for the time between two steps.
        let middle = usize::midpoint(left, right);
        self.increment(2 * node, left, middle, (start, end));
        self.increment(2 * node + 1, middle, right, (start, end));
        self.highest[node] = self.whole[node] + self.highest[2 * node].max(self.highest[2 * node + 1]);
    }

    /// The highest count of all steps.
    fn highest(&self) -> usize {
        self.highest[1] as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn over_time_and_by_size_the_maxima_are_the_same() {
        let mut random = memplan_testkit::Random::new(7);
        for alive in [1, 3, 12] {
            for _ in 0..60 {
                let mut stretch = || {
                    let start = random.below(40);
                    (Bytes(random.below(9)), Step(start), Step(start + 1 + random.below(2 * alive)))
                };
                let stretches: Vec<_> = (0..40).map(|_| stretch()).collect();
                let by_size = maxima_by_size(stretches.clone());
                assert_eq!(maxima_over_time(&stretches, usize::MAX), Some(by_size.clone()));
                // The number of entries is the largest number of stretches alive at once.
                assert_eq!(maxima_over_time(&stretches, by_size.len() - 1), None);
            }
        }
    }
}
