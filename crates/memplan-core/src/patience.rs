//! How long a caller is willing to wait.
//!
//! Reading, planning, checking and writing may each take seconds on a large input. A [`Patience`]
//! knows the caller's time limit and the flag that Ctrl-C sets. The driver makes it current on its
//! thread, and every loop whose length depends on the input asks [`is_over`] once a turn:
//!
//! ```
//! use memplan_core::patience::{self, Patience};
//! use std::time::Duration;
//!
//! fn sum(numbers: &[u64]) -> u64 {
//!     numbers.iter().take_while(|_| !patience::is_over()).sum()
//! }
//!
//! let numbers = vec![1; 1000];
//! assert_eq!(sum(&numbers), 1000);
//! let patience = Patience::of_questions(3);
//! let _current = patience.enter();
//! assert!(sum(&numbers) < 1000);
//! assert!(patience.ended().is_some());
//! ```
//!
//! # What a stage does when it is over
//!
//! It returns at once, with an error or with half a result; the result is not used. The driver asks [`Patience::ended`]
//! after every stage, and if patience is over, it drops what the stage has returned. Once a patience is over, it stays
//! over, so a stage that was cut short is never taken for a complete one. Code that runs outside of the driver has no
//! current patience and is never cut short.
//!
//! # Three rules
//!
//! ```text
//!   limit or Ctrl-C                          GRACE later
//!         │  searches end with their best plan     │  everything ends
//!   ──────┼────────────────────────────────────────┼──────►
//! ```
//!
//! - A search looks at the limit itself ([`Patience::deadline`]) and ends there with its best plan, earlier by what
//!   checking and writing that plan will take ([`Patience::reserve`]).
//! - Everything else has [`GRACE`] more: most of it is done by then.
//! - The time limit does not end the making of a first plan, nor its check, nor writing it ([`Patience::finish`]).
//!   These take time in proportion to the input, and a caller that has waited for a plan should get it; the grace
//!   counts from their end. Ctrl-C ends them, too. A caller that wants many plans has an answer as soon as it has one
//!   of them ([`Patience::have_answer`]); from then on the limit ends the others wherever they are.
//!
//! # Cost
//!
//! Of [`INTERVAL`] questions one looks at the clock; the others decrease a number of the thread. Work
//! that is handed to another thread takes [`Patience::current`] along and enters it there.

use std::cell::{Cell, RefCell};
use std::fmt;
use std::marker::PhantomData;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, AtomicUsize};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use crate::Stop;

/// What everything but searching may take beyond the time limit or Ctrl-C. The promise to users is half a second; the
/// rest of it is for the way from one question to the next and for freeing memory, which takes up to 0.2 s where
/// the input has a million parts (`benches/limits.py` of the command line).
pub const GRACE: Duration = Duration::from_millis(200);

/// Questions until the next look at the clock. A turn of a loop that asks takes less than a millisecond, so that an
/// answer is at most some hundredths of a second late. A look costs about 30 ns, which is half a nanosecond for each of
/// the 64 questions.
pub const INTERVAL: u32 = 64;

thread_local! {
    /// The patience of the caller for whom this thread works; `None` outside of the driver.
    static CURRENT: RefCell<Option<Patience>> = const { RefCell::new(None) };
    /// How many of the next questions are answered without a look.
    static SKIPPED: Cell<u32> = const { Cell::new(0) };
}

/// Whether the caller of this thread's work has stopped waiting for it. Once the answer is yes, no question is
/// skipped any more, so that it stays yes.
#[inline]
pub fn is_over() -> bool {
    SKIPPED.with(|skipped| match skipped.get().checked_sub(1) {
        Some(fewer) => {
            skipped.set(fewer);
            false
        }
        None => look(),
    })
}

/// As [`is_over`], but looks at the clock every time: for code between two long steps, where few questions are asked.
pub fn is_over_now() -> bool {
    SKIPPED.set(0);
    is_over()
}

/// Looks at the clock and the flag of this thread's patience. If patience is not over, sets how many of the next
/// questions are answered without a look.
#[cold]
fn look() -> bool {
    CURRENT.with_borrow(|current| match current {
        Some(patience) if patience.look().is_some() => true,
        Some(_) => {
            SKIPPED.set(INTERVAL - 1);
            false
        }
        // There is no current patience, so nothing has to be looked at. Entering a patience sets this number back to 0.
        None => {
            SKIPPED.set(u32::MAX);
            false
        }
    })
}

/// A time limit and a flag, shared by all threads that work for one caller. See the module documentation.
#[derive(Clone, Debug)]
pub struct Patience(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    start: Instant,
    limit: Option<Duration>,
    /// Whether the caller wants everything to end: by the flag that Ctrl-C sets, or as it says itself.
    cancel: Option<Cancel>,
    /// When a look first found the flag set.
    cancelled: OnceLock<Instant>,
    /// Milliseconds after the start at which everything ends; `u64::MAX` without a time limit.
    end: AtomicU64,
    /// Milliseconds before the limit at which searches end.
    reserve: AtomicU64,
    /// First plans that are being made, checked or written: the time limit has to wait for them.
    finishing: AtomicUsize,
    /// Whether the caller has an answer without what is being done now, so that nothing has to be waited for.
    has_answer: AtomicBool,
    /// Looks at the clock so far.
    looks: AtomicU64,
    /// The looks that are allowed: the one after them ends everything. `u64::MAX` except in tests.
    most_looks: u64,
    /// 0 as long as nothing has ended; then the reason. It only grows: an interruption may come after the time limit.
    ended: AtomicU8,
    stages: Mutex<Stages>,
}

/// What the driver does.
#[derive(Debug, Default)]
struct Stages {
    /// The stages that are done, and when they were.
    done: Vec<(&'static str, Duration)>,
    /// The stage that has begun last.
    begun: Option<&'static str>,
}

/// Value of [`Shared::ended`] when the time limit was the reason.
const TIME: u8 = 1;
/// Value of [`Shared::ended`] when the caller asked for the end. It is the larger of the two, so that it wins if both
/// hold.
const INTERRUPTED: u8 = 2;

/// How a caller says that it no longer waits.
enum Cancel {
    /// The flag is set.
    Flag(Arc<AtomicBool>),
    /// The function returns true.
    Ask(Box<dyn Fn() -> bool + Send + Sync>),
}

impl fmt::Debug for Cancel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Cancel::Flag(_) => "Flag",
            Cancel::Ask(_) => "Ask",
        })
    }
}

impl Patience {
    /// A time limit that runs from now on, and a flag for Ctrl-C.
    pub fn new(limit: Option<Duration>, cancel: Option<Arc<AtomicBool>>) -> Patience {
        Patience::with(limit, cancel.map(Cancel::Flag), u64::MAX)
    }

    /// A time limit that runs from now on, and a caller that is asked at every look whether it wants everything to end.
    pub fn asking(limit: Option<Duration>, ask: impl Fn() -> bool + Send + Sync + 'static) -> Patience {
        Patience::with(limit, Some(Cancel::Ask(Box::new(ask))), u64::MAX)
    }

    /// Ends after this many looks at the clock, at the next one, whatever the time: for tests that cut a stage at the
    /// same place every time.
    pub fn of_questions(looks: u64) -> Patience {
        Patience::with(None, None, looks)
    }

    /// Patience that begins now. Everything but searches ends [`GRACE`] after the limit, see the module documentation.
    fn with(limit: Option<Duration>, cancel: Option<Cancel>, most_looks: u64) -> Patience {
        let end = limit.and_then(|limit| limit.checked_add(GRACE));
        Patience(Arc::new(Shared {
            start: Instant::now(),
            limit,
            cancel,
            cancelled: OnceLock::new(),
            end: AtomicU64::new(end.map_or(u64::MAX, milliseconds)),
            reserve: AtomicU64::new(0),
            finishing: AtomicUsize::new(0),
            has_answer: AtomicBool::new(false),
            looks: AtomicU64::new(0),
            most_looks,
            ended: AtomicU8::new(0),
            stages: Mutex::default(),
        }))
    }

    /// What is left of this patience, as one of its own: for work that makes many plans, of which the time limit may
    /// end some without ending what comes after them.
    #[must_use]
    pub fn rest(&self) -> Patience {
        let whole = self.clone();
        // Only the flag of the whole patience ends this one early; its time limit is the time that is left.
        let ask = move || whole.is_cancelled();
        let looks = self.0.most_looks.saturating_sub(self.looks());
        Patience::with(self.time_left(), Some(Cancel::Ask(Box::new(ask))), looks)
    }

    /// The patience of this thread, to be handed to another one.
    pub fn current() -> Option<Patience> {
        CURRENT.with_borrow(Clone::clone)
    }

    /// Makes it the current one of this thread until the guard is dropped.
    #[must_use = "the patience is current as long as the guard lives"]
    pub fn enter(&self) -> Current {
        SKIPPED.set(0);
        // The one that was current before is put back when the guard is dropped.
        let before = CURRENT.replace(Some(self.clone()));
        Current { before, not_send: PhantomData }
    }

    /// When a search has to end, if there is a time limit.
    pub fn deadline(&self) -> Option<Instant> {
        let reserve = Duration::from_millis(self.0.reserve.load(Relaxed));
        self.0.limit.and_then(|limit| self.0.start.checked_add(limit.saturating_sub(reserve)))
    }

    /// Time until the limit, if there is one; nothing if it is over.
    pub fn time_left(&self) -> Option<Duration> {
        self.0.limit.map(|limit| limit.saturating_sub(self.elapsed()))
    }

    /// Searches that begin from now on end this much time before the limit, because their plan will still have to be
    /// checked and written. At most half of the limit is kept back, so that a search has its share of a short limit,
    /// too.
    pub fn reserve(&self, time: Duration) {
        let Some(limit) = self.0.limit else { return };
        self.0.reserve.store(milliseconds(time.min(limit / 2)), Relaxed);
    }

    /// Notes that the caller has an answer. Later work would only add to the answer, so the time limit ends such work
    /// at any point: nothing is [finished](Patience::finish) any more.
    pub fn have_answer(&self) {
        self.0.has_answer.store(true, Relaxed);
    }

    /// Time since it was made.
    pub fn elapsed(&self) -> Duration {
        self.0.start.elapsed()
    }

    /// How many looks at the clock there were so far, on all threads.
    pub fn looks(&self) -> u64 {
        self.0.looks.load(Relaxed)
    }

    /// Notes that a stage begins now.
    pub fn begin(&self, stage: &'static str) {
        self.lock_stages().begun = Some(stage);
    }

    /// Notes that a stage is done now.
    pub fn pass(&self, stage: &'static str) {
        let moment = self.elapsed();
        self.lock_stages().done.push((stage, moment));
    }

    /// The stages that are done, in their order, and how long after the beginning each of them was.
    pub fn stages(&self) -> Vec<(&'static str, Duration)> {
        self.lock_stages().done.clone()
    }

    /// The stage that has begun last, whether it is done or not; `None` before the first one.
    pub fn begun(&self) -> Option<&'static str> {
        self.lock_stages().begun
    }

    /// The list of stages. If a thread has panicked while it held the lock, the list is still good: it is only ever
    /// appended to.
    fn lock_stages(&self) -> MutexGuard<'_, Stages> {
        self.0.stages.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Does work that makes a first plan, or checks or writes it. The time limit does not end this work, and what comes
    /// after it has at least [`GRACE`] from its end. If the caller has an answer already, the work is done like any
    /// other.
    pub fn finish<T>(&self, work: impl FnOnce() -> T) -> T {
        if self.0.has_answer.load(Relaxed) {
            return work();
        }
        // A number and not a flag: several threads may each make a first plan.
        self.0.finishing.fetch_add(1, Relaxed);
        let result = work();
        // The end is put off before the work is no longer counted. In the other order, a look of another thread in
        // between would find that nothing is being finished and that the old end has passed. `Release` and `Acquire` (in
        // `look`) keep the order between threads.
        if self.0.limit.is_some() {
            self.0.end.fetch_max(milliseconds(self.elapsed() + GRACE), Relaxed);
        }
        self.0.finishing.fetch_sub(1, Release);
        result
    }

    /// Why everything has ended; `None` as long as no look has found that patience is over.
    pub fn ended(&self) -> Option<Stop> {
        match self.0.ended.load(Relaxed) {
            0 => None,
            INTERRUPTED => Some(Stop::Interrupted),
            _ => Some(Stop::TimeLimit),
        }
    }

    /// Looks at the clock and at the flag for cancelling. Returns why everything has ended; `None` if it has not. The
    /// time limit does not count while a result is being [finished](Patience::finish). If the caller has cancelled,
    /// everything ends [`GRACE`] after the look that first found that.
    fn look(&self) -> Option<Stop> {
        let Shared { start, cancelled, end, finishing, looks, most_looks, ended, .. } = &*self.0;
        // Only tests limit the number of looks; it counts as the time limit.
        let is_last = looks.fetch_add(1, Relaxed) >= *most_looks;
        let now = Instant::now();
        if self.is_cancelled() && now.duration_since(*cancelled.get_or_init(|| now)) >= GRACE {
            ended.fetch_max(INTERRUPTED, Relaxed);
        }
        // `end` is also moved by `finish`, so it is loaded at every look.
        let is_late = finishing.load(Acquire) == 0 && milliseconds(now.duration_since(*start)) >= end.load(Relaxed);
        if is_late || is_last {
            ended.fetch_max(TIME, Relaxed);
        }
        self.ended()
    }

    /// Whether the caller wants everything to end.
    fn is_cancelled(&self) -> bool {
        // A caller that has said so once is not asked again: it may answer otherwise, and an end is for good.
        self.0.cancelled.get().is_some()
            || match &self.0.cancel {
                Some(Cancel::Flag(flag)) => flag.load(Relaxed),
                Some(Cancel::Ask(ask)) => ask(),
                None => false,
            }
    }
}

/// A time in whole milliseconds, as atomic numbers hold it.
fn milliseconds(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

/// A patience is current as long as this lives; then the one before is again.
#[derive(Debug)]
pub struct Current {
    before: Option<Patience>,
    /// Belongs to the thread that made it: may be looked at from others, but not be dropped there.
    not_send: PhantomData<MutexGuard<'static, ()>>,
}

impl Drop for Current {
    fn drop(&mut self) {
        CURRENT.set(self.before.take());
        SKIPPED.set(0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Questions until the answer is yes; `None` if it is not among the first ten thousand.
    fn questions_until_over() -> Option<u32> {
        (0..10_000).find(|_| is_over())
    }

    #[test]
    fn nobody_waits_outside_of_the_driver() {
        assert_eq!(questions_until_over(), None);
    }

    #[test]
    fn it_ends_at_the_look_it_was_told_and_for_good() {
        let patience = Patience::of_questions(2);
        let current = patience.enter();
        assert_eq!(questions_until_over(), Some(2 * INTERVAL));
        assert_eq!(questions_until_over(), Some(0));
        assert_eq!(patience.ended(), Some(Stop::TimeLimit));
        drop(current);
        assert_eq!(questions_until_over(), None);
    }

    #[test]
    fn an_inner_patience_gives_way_to_the_outer_one() {
        let (outer, inner) = (Patience::new(None, None), Patience::of_questions(0));
        let _outer = outer.enter();
        let within = inner.enter();
        assert_eq!(questions_until_over(), Some(0));
        drop(within);
        assert_eq!(questions_until_over(), None);
        assert!(outer.looks() > 0 && outer.ended().is_none());
    }

    #[test]
    fn a_time_limit_waits_for_the_first_plan_and_then_for_the_grace() {
        let patience = Patience::new(Some(Duration::ZERO), None);
        let _current = patience.enter();
        patience.finish(|| {
            std::thread::sleep(GRACE + Duration::from_millis(10));
            assert_eq!(questions_until_over(), None);
        });
        assert_eq!(questions_until_over(), None);
        std::thread::sleep(GRACE + Duration::from_millis(10));
        assert!(questions_until_over().is_some());
        assert_eq!(patience.ended(), Some(Stop::TimeLimit));
    }

    #[test]
    fn a_search_leaves_time_for_what_follows_but_has_half_of_the_limit() {
        let patience = Patience::new(Some(Duration::from_secs(10)), None);
        let start = patience.deadline().unwrap() - Duration::from_secs(10);
        patience.reserve(Duration::from_secs(3));
        assert_eq!(patience.deadline(), Some(start + Duration::from_secs(7)));
        patience.reserve(Duration::from_secs(30));
        assert_eq!(patience.deadline(), Some(start + Duration::from_secs(5)));
    }

    #[test]
    fn nothing_is_finished_for_a_caller_that_has_an_answer() {
        let patience = Patience::new(Some(Duration::ZERO), None);
        let _current = patience.enter();
        patience.have_answer();
        std::thread::sleep(GRACE + Duration::from_millis(10));
        assert!(patience.finish(questions_until_over).is_some());
    }

    #[test]
    fn the_rest_of_a_patience_ends_by_itself_and_by_the_same_flag() {
        let flag = Arc::new(AtomicBool::new(false));
        let whole = Patience::new(Some(Duration::ZERO), Some(Arc::clone(&flag)));
        let rest = whole.rest();
        let current = rest.enter();
        std::thread::sleep(GRACE + Duration::from_millis(10));
        assert!(questions_until_over().is_some());
        drop(current);
        assert_eq!((rest.ended(), whole.ended()), (Some(Stop::TimeLimit), None));
        flag.store(true, Relaxed);
        ends_after_the_grace(&whole.rest());
    }

    #[test]
    fn the_flag_ends_everything_after_the_grace() {
        let flag = Arc::new(AtomicBool::new(true));
        ends_after_the_grace(&Patience::new(None, Some(flag)));
    }

    #[test]
    fn a_caller_that_is_asked_ends_everything_after_the_grace() {
        // Says so once and then no more.
        let asked = AtomicBool::new(false);
        ends_after_the_grace(&Patience::asking(None, move || !asked.swap(true, Relaxed)));
    }

    fn ends_after_the_grace(patience: &Patience) {
        let _current = patience.enter();
        patience.finish(|| {
            assert_eq!(questions_until_over(), None);
            std::thread::sleep(GRACE);
            assert!(questions_until_over().is_some());
        });
        assert_eq!(patience.ended(), Some(Stop::Interrupted));
    }
}
