//! Task profiles and positional maxima of the usage-record planners.

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

/// The profile of every step at which the set of live buffers changes, in order
/// of time. Steps in between have the profile of the step before them.
///
/// The sum of the profiles' lengths can be quadratic in the number of buffers;
/// [`positional_maxima`] does not go through them.
pub fn task_profiles(problem: &Problem) -> Vec<TaskProfile> {
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
    // Ends sort before starts, so that a buffer that ends at a step has made room before another begins
    // there.
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

/// The i-th entry is the largest i-th entry of any task profile: non-increasing,
/// and its sum is a lower bound for shared objects.
///
/// Entry i is the largest size s such that at some step more than i buffers of
/// size at least s are alive. So buffers are added to a timeline from the
/// largest to the smallest; whenever the highest count grows, the size just
/// added is the next entry. O(n log n).
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

/// [`positional_maxima`] of bare non-empty stretches of time `(size, start, end)`.
pub fn positional_maxima_of(stretches: impl IntoIterator<Item = (Bytes, Step, Step)>) -> Vec<Bytes> {
    let mut stretches: Vec<(Bytes, Step, Step)> = stretches.into_iter().collect();
    stretches.sort_by_key(|&(size, ..)| std::cmp::Reverse(size));
    let mut timeline = Timeline::new(stretches.iter().flat_map(|&(_, start, end)| [start, end]).collect());
    let mut maxima = Vec::new();
    for (size, start, end) in stretches {
        timeline.add(start, end);
        if timeline.highest() > maxima.len() {
            maxima.push(size);
        }
    }
    maxima
}

/// Counts how many stretches cover each step: range increment, global maximum.
struct Timeline {
    steps: Vec<Step>,
    /// Increments that cover the whole node.
    whole: Vec<u32>,
    /// Highest count inside the node.
    highest: Vec<u32>,
}

impl Timeline {
    fn new(mut steps: Vec<Step>) -> Timeline {
        steps.sort_unstable();
        steps.dedup();
        let nodes = 4 * steps.len().max(1);
        Timeline { steps, whole: vec![0; nodes], highest: vec![0; nodes] }
    }

    fn add(&mut self, start: Step, end: Step) {
        let last = self.steps.len() - 1;
        self.increment(1, 0, last, (start, end));
    }

    /// Counts one more buffer at the steps `start..end`, in a tree whose nodes know the highest count below them.
    fn increment(&mut self, node: usize, left: usize, right: usize, (start, end): (Step, Step)) {
        if end <= self.steps[left] || self.steps[right] <= start {
            return;
        }
        if start <= self.steps[left] && self.steps[right] <= end {
            self.whole[node] += 1;
            self.highest[node] += 1;
            return;
        }
        let middle = usize::midpoint(left, right);
        self.increment(2 * node, left, middle, (start, end));
        self.increment(2 * node + 1, middle, right, (start, end));
        self.highest[node] = self.whole[node] + self.highest[2 * node].max(self.highest[2 * node + 1]);
    }

    fn highest(&self) -> usize {
        self.highest[1] as usize
    }
}
