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

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, LazyLock, Mutex, Once, PoisonError};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};
use memplan::core::Bytes;
use memplan::core::patience::{Current, Patience};
use memplan::planner::Observer;
use memplan::planner::search::StageReport;

use crate::answer::complain;
use crate::{diagnose, output};

/// How a shell reports a command that Ctrl-C ended.
pub(crate) const KILLED: u8 = 130;

/// How many [`Progress`] there are: work that can be asked to stop.
static LISTENING: AtomicUsize = AtomicUsize::new(0);
/// Whether Ctrl-C was pressed.
static ASKED: LazyLock<Arc<AtomicBool>> = LazyLock::new(Arc::default);

/// The time after Ctrl-C at which the process ends, whatever it does. The system needs the rest of the half second that
/// users are promised: it takes back a gigabyte in some 60 ms.
const LAST_MOMENT: Duration = Duration::from_millis(380);

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
    output::discard_draft();
    std::process::exit(i32::from(KILLED));
}

/// Shows the best extent so far, the bound and the time. As long as it lives, the time limit and Ctrl-C hold for
/// everything that the thread does.
pub(crate) struct Progress {
    /// Makes `patience` hold on this thread as long as it lives.
    _current: Current,
    patience: Patience,
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
        let patience = Patience::new(limit, Some(Arc::clone(&ASKED)));
        Progress { _current: patience.enter(), patience, bar, stages: Mutex::default() }
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
