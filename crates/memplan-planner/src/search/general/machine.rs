//! Jobs that exclude each other, as on a machine that does one at a time.
//!
//! A clique is a set of byte ranges (jobs) of which no two may have a byte in common. So addresses are to them what
//! time is to jobs on one machine: each job has a release (its first byte cannot lie lower), a deadline (its last
//! byte cannot lie higher) and a length. Two classical rules of scheduling, for every set S of jobs:
//!
//! - *overload*: if the lowest release of S plus its lengths is past its highest
//!   deadline, there is no plan;
//! - *edge finding*: suppose that S and another job do not fit between the lowest release of all of them and the
//!   highest deadline of S. Then the other job ends above all of S, so it starts no lower than the lowest end that S
//!   can have.
//!
//! ```text
//!   deadline 10 ─────────────      a and b need 4 + 5 between 0 and 10;
//!            aaaa     ccc          c of length 3, released at 0, cannot be between or
//!            bbbbb                 below them: it starts at 9 or higher.
//! ```
//!
//! Only sets "all jobs released at r or later with deadline d or lower" matter,
//! which makes it quadratic in the size of the clique.

/// One job on the machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Task {
    /// The lowest address of its first byte.
    pub(super) release: i64,
    /// The highest address that may be one past its last byte.
    pub(super) deadline: i64,
    /// Bytes.
    pub(super) length: i64,
    /// Position in the clique.
    pub(super) number: u32,
}

impl Task {
    /// The same task with addresses counted downwards: then lowering a deadline is raising a release.
    fn mirrored(self) -> Task {
        Task { release: -self.deadline, deadline: -self.release, ..self }
    }
}

/// Scratch memory.
#[derive(Debug, Default)]
pub(super) struct Machine {
    /// The tasks, ordered by release.
    tasks: Vec<Task>,
    /// All deadlines, ascending.
    deadlines: Vec<i64>,
    /// Per task in order of release: the lowest end that the members of the current set from here on can have together;
    /// `i64::MIN` if there are none.
    needs: Vec<i64>,
    /// Per task in order of release: its new release.
    raised: Vec<i64>,
}

impl Machine {
    /// Raises releases and then lowers deadlines, once each; false if there is no plan. Lower deadlines might let
    /// releases rise again. The caller asks again when something else has changed.
    pub(super) fn tighten(&mut self, tasks: &mut [Task]) -> bool {
        if !self.raise(tasks) {
            return false;
        }
        tasks.iter_mut().for_each(|task| *task = task.mirrored());
        let possible = self.raise(tasks);
        tasks.iter_mut().for_each(|task| *task = task.mirrored());
        possible
    }

    /// Raises releases by edge finding, one deadline after the other. `false` if some set of jobs is overloaded: then
    /// there is no plan.
    fn raise(&mut self, tasks: &mut [Task]) -> bool {
        self.tasks.clear();
        self.tasks.extend_from_slice(tasks);
        self.tasks.sort_unstable_by_key(|task| (task.release, task.number));
        self.deadlines.clear();
        self.deadlines.extend(tasks.iter().map(|task| task.deadline));
        self.deadlines.sort_unstable();
        self.deadlines.dedup();
        self.raised.clear();
        self.raised.extend(self.tasks.iter().map(|task| task.release));
        // A set that matters consists of all jobs up to some deadline that are released from some moment on, so one
        // pass for each deadline looks at all of them. New releases are written down at the end, so the old ones
        // hold for every deadline.
        for position in 0..self.deadlines.len() {
            if !self.raise_below(self.deadlines[position]) {
                return false;
            }
        }
        for (task, &raised) in self.tasks.iter().zip(&self.raised) {
            if raised > task.release
                && let Some(original) = tasks.iter_mut().find(|other| other.number == task.number)
            {
                original.release = raised;
            }
        }
        true
    }

    /// Applies both rules to the jobs that must end by `deadline`, the *set*. `false` if they are overloaded. Tasks are
    /// sorted by their release, so "from here on" means tasks that are released later.
    fn raise_below(&mut self, deadline: i64) -> bool {
        let mut sum = 0;
        let mut need = i64::MIN;
        self.needs.clear();
        self.needs.resize(self.tasks.len(), i64::MIN);
        // `needs` has, for each position, the lowest end of the members of the set that are released from there on.
        for (position, task) in self.tasks.iter().enumerate().rev() {
            if task.deadline <= deadline {
                sum += task.length;
                need = need.max(task.release + sum);
                if need > deadline {
                    return false;
                }
            }
            self.needs[position] = need;
        }
        // `sum` is from now on the length of the members of the set that are released from here on, and `earlier` the
        // lowest end that a member released before can give the set: its release plus the lengths of all members from
        // it on. The largest of these counts.
        let mut earlier = i64::MIN;
        for (position, task) in self.tasks.iter().enumerate() {
            if task.deadline <= deadline {
                earlier = earlier.max(task.release + sum);
                sum -= task.length;
                continue;
            }
            // Edge finding, for a job outside of the set. First with the members that are released from here on, where
            // the job's own release is the lowest: if job and members do not fit between it and the deadline, the job
            // ends above all of these members. Then with members that are released before it, where theirs is the
            // lowest.
            if sum > 0 && task.release + sum + task.length > deadline {
                self.raised[position] = self.raised[position].max(self.needs[position]);
            }
            if earlier > i64::MIN && earlier + task.length > deadline {
                self.raised[position] = self.raised[position].max(need);
            }
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn task(number: u32, release: i64, deadline: i64, length: i64) -> Task {
        Task { release, deadline, length, number }
    }

    #[test]
    fn the_example_of_the_module_documentation() {
        let mut tasks = [task(0, 0, 10, 4), task(1, 0, 10, 5), task(2, 0, 20, 3)];
        assert!(Machine::default().tighten(&mut tasks));
        assert_eq!(tasks[2].release, 9);
        assert_eq!((tasks[0].release, tasks[0].deadline), (0, 10));
    }

    #[test]
    fn an_overload_is_the_end() {
        let mut tasks = [task(0, 0, 8, 4), task(1, 1, 8, 4), task(2, 0, 20, 3)];
        assert!(!Machine::default().tighten(&mut [tasks[0], tasks[1], task(3, 0, 8, 1)]));
        assert!(Machine::default().tighten(&mut tasks));
    }

    /// Raised releases never cut off an order of the jobs that keeps all deadlines.
    #[test]
    fn no_schedule_is_lost() {
        let mut random = crate::search::random::Random::new(3);
        for _ in 0..2000 {
            let mut tasks: Vec<Task> = (0..4)
                .map(|number| {
                    let release = random.below(6) as i64;
                    let length = 1 + random.below(4) as i64;
                    task(number, release, release + length + random.below(9) as i64, length)
                })
                .collect();
            let before = tasks.clone();
            let possible = Machine::default().tighten(&mut tasks);
            for order in permutations(4) {
                let Some(starts) = schedule(&before, &order) else { continue };
                assert!(possible, "{before:?}");
                for (task, start) in tasks.iter().zip(&starts) {
                    // The same order, everything as late as it can be, is no counterexample either.
                    assert!(start + task.length <= task.deadline, "{before:?} {tasks:?}");
                }
                assert!(schedule(&tasks, &order).is_some(), "{before:?} {tasks:?} {order:?}");
            }
        }
    }

    fn permutations(count: usize) -> Vec<Vec<usize>> {
        (0..count).fold(vec![vec![]], |lists, next| {
            lists
                .iter()
                .flat_map(|list| (0..=list.len()).map(move |at| [&list[..at], &[next], &list[at..]].concat()))
                .collect()
        })
    }

    /// Starts of the jobs in an order, each as early as possible, if all deadlines are kept.
    fn schedule(tasks: &[Task], order: &[usize]) -> Option<Vec<i64>> {
        let mut starts = vec![0; tasks.len()];
        let mut free = 0;
        for &index in order {
            starts[index] = tasks[index].release.max(free);
            free = starts[index] + tasks[index].length;
            if free > tasks[index].deadline {
                return None;
            }
        }
        Some(starts)
    }
}
