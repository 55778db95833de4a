//! Jobs that exclude each other, as on a machine that does one job at a time.
//!
//! A clique is a set of byte ranges (*jobs*) of which no two may have a byte in common. So addresses are to byte ranges
//! what time is to jobs on one machine. At a node of the search each job becomes a [`Task`]: the job with a release
//! (its first byte cannot lie lower), a deadline (its last byte lies below it) and a length. "Earlier" and "later" mean
//! lower and higher addresses here. Two classical rules of scheduling, for every set S of tasks:
//!
//! - *overload*: if the lowest release of S plus the lengths of S is above the highest deadline of S, there is no plan;
//! - *edge finding*: suppose that S and another task t do not fit between the lowest release of S and t and the highest
//!   deadline of S. Then t ends above all of S, so t starts no lower than the lowest end that S can have.
//!
//! ```text
//!   deadline 10 ─────────────      a and b need 4 + 5 between 0 and 10;
//!            aaaa     ccc          c of length 3, released at 0, cannot be between or
//!            bbbbb                 below them: it starts at 9 or higher.
//! ```
//!
//! Only sets "all tasks with release r or higher and deadline d or lower" matter. So the time is quadratic in the size
//! of the clique.

/// A job of a clique, with the addresses that it can have at the present node of the search.
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

/// The two rules, with the memory that they use again and again.
#[derive(Debug, Default)]
pub(super) struct Machine {
    /// The tasks, ordered by release.
    tasks: Vec<Task>,
    /// All deadlines, ascending.
    deadlines: Vec<i64>,
    /// By position in `tasks`: the lowest end that the set of [`Machine::raise_below`], without its members at lower
    /// positions, can have; `i64::MIN` if no members are left.
    ends_from: Vec<i64>,
    /// By position in `tasks`: the new release of the task.
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

    /// Raises releases by edge finding, one deadline after the other. `false` if some set of tasks is overloaded: then
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
        // A set that matters consists of all tasks with some deadline or a lower one and some release or a higher one.
        // For each deadline, `raise_below` looks at all of these sets. New releases are written back after all
        // deadlines, because `tasks` has to stay sorted by release.
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

    /// Applies both rules to the *members*: the tasks that must end at or below `deadline`. `false` if some of the
    /// members are overloaded. `self.tasks` is sorted by release, so a suffix of that list has the highest releases.
    fn raise_below(&mut self, deadline: i64) -> bool {
        // Overload, from the highest release down. `later_length` is the length of all members seen so far: the present
        // one and those at higher positions. These members all start at the release of the present one or above it, so
        // they cannot all end below that release plus `later_length`. `lowest_end` is the largest of these bounds so
        // far: the lowest address at which all members seen so far can have ended.
        let mut later_length = 0;
        let mut lowest_end = i64::MIN;
        self.ends_from.clear();
        self.ends_from.resize(self.tasks.len(), i64::MIN);
        for (position, task) in self.tasks.iter().enumerate().rev() {
            if task.deadline <= deadline {
                later_length += task.length;
                lowest_end = lowest_end.max(task.release + later_length);
                if lowest_end > deadline {
                    return false;
                }
            }
            self.ends_from[position] = lowest_end;
        }
        // Edge finding, from the lowest release up, for each task t that is no member. `later_length` is now the length
        // of the members at higher positions than t. `end_from_before` is the largest of the bounds of the first loop
        // that belong to a member at a lower position than t; `i64::MIN` if there is no such member.
        let mut end_from_before = i64::MIN;
        for (position, task) in self.tasks.iter().enumerate() {
            if task.deadline <= deadline {
                end_from_before = end_from_before.max(task.release + later_length);
                later_length -= task.length;
                continue;
            }
            // t and the members at higher positions, of all of which t has the lowest release. If they do not fit
            // between that release and the deadline, t ends above these members.
            if later_length > 0 && task.release + later_length + task.length > deadline {
                self.raised[position] = self.raised[position].max(self.ends_from[position]);
            }
            // t and the members from position p on, where p is the member to which the bound `end_from_before` belongs.
            // Of all these tasks p has the lowest release. If they do not fit between that release and the deadline, t
            // ends above the members from p on. These cannot all have ended below `lowest_end`: that bound belongs to a
            // member at p or higher; or to one below p, and then it is no larger than `end_from_before`.
            if end_from_before > i64::MIN && end_from_before + task.length > deadline {
                self.raised[position] = self.raised[position].max(lowest_end);
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
