//! A progress bar on a terminal's standard error; nothing when piped.
//!
//! While it is shown, Ctrl-C does not kill the command but asks whatever
//! searches to stop, so that the best plan so far is still printed. The second Ctrl-C kills.

use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Mutex, Once, PoisonError};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};
use memplan::core::Bytes;
use memplan::planner::Observer;
use memplan::planner::search::StageReport;

/// How a shell reports a command that Ctrl-C ended.
const KILLED: i32 = 130;

/// Searches that can still be asked to stop, and requests to do so.
static LISTENING: AtomicUsize = AtomicUsize::new(0);
static ASKED: AtomicUsize = AtomicUsize::new(0);

/// Installs the handler once. Where that fails, Ctrl-C kills as ever.
fn listen() {
    static INSTALLED: Once = Once::new();
    INSTALLED.call_once(|| {
        let on_interrupt = || {
            let is_first = ASKED.fetch_add(1, Relaxed) == 0;
            if !is_first || LISTENING.load(Relaxed) == 0 {
                std::process::exit(KILLED);
            }
        };
        ctrlc::set_handler(on_interrupt).ok();
    });
}

/// Shows the best extent so far, the bound and the time.
pub(crate) struct Progress {
    bar: ProgressBar,
    stages: Mutex<Vec<StageReport>>,
}

impl Progress {
    /// Starts the clock. `limit` is the time after which the search stops.
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
        Progress { bar, stages: Mutex::default() }
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
        ASKED.load(Relaxed) > 0
    }
}
