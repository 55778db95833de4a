//! A progress bar on a terminal's standard error; nothing when piped.
//!
//! While the bar is shown, Ctrl-C does not kill the command. It asks a search to stop, so that the best plan so far is
//! still printed. Every other stage may go on for a moment (`GRACE` of [`patience`](memplan::core::patience)) and then
//! stops without a result. If the process has not ended after [`LAST_MOMENT`], because it frees gigabytes or because
//! some loop does not ask whether to stop, it is ended. A second Ctrl-C ends it at once.
//!
//! ```text
//!   Ctrl-C       GRACE              LAST_MOMENT     half a second
//!     │ a search ends │ all stages end     │ the process ends │
//!   ──┼───────────────┼────────────────────┼──────────────────┼──►
//! ```
//!
//! A time limit that leaves no result ends the process in the same way, [`MOMENT`] after some stage was told that the
//! time is over. A plan in hand is never lost by it: no stage is told so while a plan is checked or written.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, TryRecvError, channel};
use std::sync::{Arc, LazyLock, Mutex, Once, PoisonError};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};
use memplan::core::patience::{Current, GRACE, Patience};
use memplan::core::{Bytes, Stop};
use memplan::driver::Stopped;
use memplan::planner::Observer;
use memplan::planner::search::StageReport;

use crate::answer::{Failure, complain, report};
use crate::{diagnose, output};

/// How a shell reports a command that Ctrl-C ended.
pub(crate) const KILLED: u8 = 130;

/// How many [`Progress`] there are: work that can be asked to stop.
static LISTENING: AtomicUsize = AtomicUsize::new(0);
/// Held while the time limit ends the process, so that a result that comes at the same moment waits for the end.
static ENDING: Mutex<()> = Mutex::new(());
/// Whether Ctrl-C was pressed.
static ASKED: LazyLock<Arc<AtomicBool>> = LazyLock::new(Arc::default);

/// The time after Ctrl-C at which the process ends, whatever it does. The system needs the rest of the half second that
/// users are promised: it takes back a gigabyte in some 60 ms.
const LAST_MOMENT: Duration = Duration::from_millis(320);

/// The time that a stage has for its end once it was told that the time limit is over. Most stages need less than a
/// hundredth of a second; freeing a program of a million ops part by part would take 0.2 s.
const MOMENT: Duration = Duration::from_millis(60);

/// How often somebody looks whether a stage was told that the time limit is over.
const TURN: Duration = Duration::from_millis(10);

/// Installs the handler of Ctrl-C once. Where that fails, Ctrl-C kills the process as it does any other.
fn listen() {
    static INSTALLED: Once = Once::new();
    INSTALLED.call_once(|| {
        ctrlc::set_handler(on_interrupt).ok();
    });
}

/// Runs on a thread of its own at every Ctrl-C. The first Ctrl-C sets [`ASKED`], which searches and loops look at, and
/// ends the process after [`LAST_MOMENT`]. The second one ends the process at once, and so does the first one if no
/// [`Progress`] exists, because then nothing looks at [`ASKED`].
fn on_interrupt() {
    let is_first = !ASKED.swap(true, Relaxed);
    if !is_first || LISTENING.load(Relaxed) == 0 {
        die();
    }
    // The handler must return, or it would not hear of the second Ctrl-C.
    std::thread::spawn(|| {
        std::thread::sleep(LAST_MOMENT);
        if LISTENING.load(Relaxed) > 0 {
            complain(&diagnose::error("interrupted; there is no result", None));
        }
        die();
    });
}

/// Ends the process without a result.
fn die() -> ! {
    exit(KILLED);
}

/// Ends the process. Half a file that is being written goes with it.
fn exit(code: u8) -> ! {
    output::discard_draft();
    std::process::exit(i32::from(code));
}

/// Ends the process if a stage was told that the time limit is over and has not ended [`MOMENT`] later. Runs on a
/// thread of its own until the other end of `gone` is dropped, which is when the command has its result.
fn watch(patience: &Patience, limit: Duration, gone: &Receiver<()>) {
    // Waits, and says whether the whole time has passed without a result. (Nothing is ever sent:
    // the wait ends early only when the sender is dropped.)
    let passes = |time: Duration| gone.recv_timeout(time) == Err(RecvTimeoutError::Timeout);
    // No stage is told that the time is over before the limit and the grace are.
    let mut wait = limit.saturating_add(GRACE);
    while passes(wait) {
        if patience.ended() == Some(Stop::TimeLimit) && passes(MOMENT) {
            // If there is a result after all, it is being delivered by now. Dropping a `Progress`
            // takes the same lock: so either it was dropped before, which is seen here, or its
            // thread waits until this process has ended.
            let _ending = ENDING.lock().unwrap_or_else(PoisonError::into_inner);
            if gone.try_recv() == Err(TryRecvError::Disconnected) {
                return;
            }
            let stage = patience.begun().unwrap_or("reading");
            exit(report(&Failure::Stopped(Stopped { stage, after: patience.elapsed(), why: Stop::TimeLimit })));
        }
        wait = TURN;
    }
}

/// Shows the best extent so far, the bound and the time. As long as it lives, the time limit and Ctrl-C hold for
/// everything that the thread does.
pub(crate) struct Progress {
    /// Makes `patience` hold on this thread as long as it lives.
    _current: Current,
    /// The time limit and Ctrl-C, as every loop asks for them.
    patience: Patience,
    /// Tells the thread that watches the time limit that there is a result, by being dropped.
    watched: Option<Sender<()>>,
    /// What the user sees.
    bar: ProgressBar,
    /// What the stages of the searches have reported.
    stages: Mutex<Vec<StageReport>>,
}

impl Progress {
    /// Starts the clock. `limit` is the time after which the search stops, and a little later everything else.
    pub(crate) fn start(limit: Option<Duration>) -> Progress {
        LISTENING.fetch_add(1, Relaxed);
        listen();
        let bar = ProgressBar::new_spinner();
        let of = limit.map(|limit| format!(" of {limit:.0?}")).unwrap_or_default();
        let template = format!("{{spinner}} {{elapsed}}{of} {{msg}}");
        if let Ok(style) = ProgressStyle::with_template(&template) {
            bar.set_style(style);
        }
        bar.enable_steady_tick(Duration::from_millis(120));
        // Ctrl-C sets the flag, and every loop that asks for patience sees it.
        let patience = Patience::new(limit, Some(Arc::clone(&ASKED)));
        let (watched, gone) = channel();
        if let Some(limit) = limit {
            let patience = patience.clone();
            std::thread::spawn(move || watch(&patience, limit, &gone));
        }
        Progress { _current: patience.enter(), patience, watched: Some(watched), bar, stages: Mutex::default() }
    }

    /// A line that says when each stage of the driver was done.
    pub(crate) fn moments(&self) -> String {
        let moments = self.patience.stages();
        let shown = moments.iter().map(|(stage, moment)| format!("{stage} until {:.3} s", moment.as_secs_f64()));
        shown.collect::<Vec<String>>().join(", ")
    }

    /// A line for every stage of the searches so far: what it took, and the extent before and after it.
    pub(crate) fn stages(&self) -> Vec<String> {
        let extent = |bytes: Option<Bytes>| bytes.map_or_else(|| "no plan".to_owned(), |bytes| bytes.to_string());
        let line = |report: &StageReport| {
            let StageReport { name, work, before, after, lower_bound } = *report;
            let change =
                if before == after { extent(after) } else { format!("{} → {}", extent(before), extent(after)) };
            format!("{name}: {work} units of work, extent {change}, at least {lower_bound}")
        };
        let stages = self.stages.lock().unwrap_or_else(PoisonError::into_inner);
        stages.iter().map(line).collect()
    }

    /// Says what is being done.
    pub(crate) fn say(&self, what: impl Into<String>) {
        self.bar.set_message(what.into());
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        let _ending = ENDING.lock().unwrap_or_else(PoisonError::into_inner);
        drop(self.watched.take());
        LISTENING.fetch_sub(1, Relaxed);
        self.bar.finish_and_clear();
    }
}

impl Observer for Progress {
    fn progress(&self, best: Option<Bytes>, lower_bound: Bytes) {
        let best = best.map_or_else(|| "no plan yet".to_owned(), |best| format!("best {}", best.human()));
        self.say(format!("{best}, lower bound {}", lower_bound.human()));
    }

    fn stage(&self, report: &StageReport) {
        self.stages.lock().unwrap_or_else(PoisonError::into_inner).push(*report);
    }

    fn should_stop(&self) -> bool {
        ASKED.load(Relaxed)
    }
}
