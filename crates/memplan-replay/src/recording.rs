//! What a lane was asked for during a step.
//!
//! The list is written by the allocator itself, so it is exact: sizes as requested, frees where
//! they happened. It is also kept for a step that follows a plan, because writing it costs a few
//! nanoseconds a call and a step that deviates can then be planned anew without running it again.
//! A step that is left to the pool for good is not recorded, nor is one that does not end.
//!
//! ```text
//!  step 1:  alloc 0   alloc 1   free 0
//!  step 2:  old 1     alloc 0   alloc 1   free 0        `old 1`: what step 1 left behind
//! ```

/// At most so many requests of a step are written down, 16 bytes each, and a step that has more counts as not recorded. It
/// may have no end: the last step of a program that marks none goes on while the program does other things.
const LONGEST: usize = 1 << 23;

/// What happened to an allocation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u32)]
pub enum Kind {
    /// An allocation; they are numbered from 0 in each step.
    Alloc = 0,
    /// A free of an allocation of the same step.
    Free = 1,
    /// A free of an allocation of the step before, inside of this step or between the two.
    FreeOld = 2,
}

/// One request. The layout is that of the C struct `memplan_replay_event`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(C)]
pub struct Event {
    /// What happened.
    pub kind: Kind,
    /// Which allocation of its step it happened to.
    pub index: u32,
    /// Bytes as requested.
    pub bytes: u64,
}

/// The requests of the current step of a lane. Every request needs the first three fields, so these stand first (see
/// [`crate::lane::Lane`]).
#[derive(Debug, Clone, Default)]
#[repr(C)]
pub struct Recording {
    /// The requests, in the order in which they came.
    pub events: Vec<Event>,
    /// Which run of a step it was: a number that grows by one with every step of the process.
    pub serial: u64,
    /// How many allocations are among the events; the next allocation gets this number.
    allocations: u32,
    /// The step function that was running.
    pub step: u32,
    /// The last run of each step function; there are a handful.
    runs: Vec<(u32, u64)>,
    /// The run of the same step function before this one.
    previous: Option<u64>,
    /// Allocations of this step that were freed after its end and before the next one's begin.
    freed_between: Vec<Event>,
}

impl Recording {
    /// Starts the list of a step. What the step before has left is freed at the very beginning.
    pub(crate) fn restart(&mut self, step: u32, serial: u64) {
        let same = self.step == step;
        if self.events.len() >= LONGEST {
            // What a list that was too long has taken is given back.
            self.events = Vec::new();
        }
        self.events.clear();
        // Allocations are numbered within their step function. If another function ran last, the numbers of its
        // allocations mean nothing in this list.
        self.events.extend(self.freed_between.drain(..).filter(|_| same));
        let last = self.runs.iter_mut().find(|(known, _)| *known == step);
        self.previous = last.map(|(_, last)| std::mem::replace(last, serial));
        if self.previous.is_none() {
            self.runs.push((step, serial));
        }
        (self.step, self.serial, self.allocations) = (step, serial, 0);
    }

    /// The requests of the step; none if it had too many.
    pub(crate) fn whole(&self) -> &[Event] {
        if self.events.len() < LONGEST { &self.events } else { &[] }
    }

    /// Adds a request to the list, unless the list is too long.
    fn add(&mut self, event: Event) {
        if self.events.len() < LONGEST {
            self.events.push(event);
        }
    }

    /// Writes down an allocation and says its number.
    pub(crate) fn allocated(&mut self, bytes: u64) -> u32 {
        let index = self.allocations;
        // The number means nothing once the list is too long.
        self.allocations = index.wrapping_add(1);
        self.add(Event { kind: Kind::Alloc, index, bytes });
        index
    }

    /// Writes down a free, if the allocation is of the current run of a step or of the run of the same function before
    /// it. `index` is the allocation's number, `serial` the lower half of the serial of the run that made it; `running`
    /// says whether a step runs now.
    pub(crate) fn freed(&mut self, index: u32, serial: u32, bytes: u64, running: bool) {
        let event = |kind| Event { kind, index, bytes };
        let is_of = |run: u64| run as u32 == serial;
        if running && is_of(self.serial) {
            self.add(event(Kind::Free));
        } else if running && self.previous.is_some_and(is_of) {
            self.add(event(Kind::FreeOld));
        // The step has ended, and the next one has not begun.
        } else if is_of(self.serial) {
            self.freed_between.push(event(Kind::FreeOld));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A step that does not end, as the last one of a program that then serves requests for days.
    #[test]
    fn a_step_without_an_end_is_not_written_down_for_ever() {
        let mut recording = Recording::default();
        recording.restart(0, 1);
        assert_eq!(recording.allocated(512), 0);
        let event = recording.events[0];
        recording.events.resize(LONGEST - 1, event);
        assert_eq!(recording.whole().len(), LONGEST - 1);
        recording.freed(0, 1, 512, true);
        for _ in 0..3 {
            let number = recording.allocated(512);
            recording.freed(number, 1, 512, true);
        }
        assert_eq!((recording.events.len(), recording.whole().len()), (LONGEST, 0));
        recording.restart(0, 2);
        assert_eq!((recording.allocated(512), recording.whole().len()), (0, 1));
        assert!(recording.events.capacity() < LONGEST);
    }
}
