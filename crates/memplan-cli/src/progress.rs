//! A progress bar on a terminal's standard error; nothing when piped.
//!
//! While it is shown, Ctrl-C does not kill the command but asks whatever
//! searches to stop, so that the best plan so far is still printed. Whatever else is going on has a moment to come to
//! its end ([`patience`](memplan::core::patience)); then the command stops without a result. The second Ctrl-C kills.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, LazyLock, Mutex, Once, PoisonError};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};
use memplan::core::Bytes;
use memplan::core::patience::{Current, Patience};
use memplan::planner::Observer;
use memplan::planner::search::StageReport;

/// How a shell reports a command that Ctrl-C ended.
pub(crate) const KILLED: u8 = 130;

/// Work that can still be asked to stop, and whether it has been.
static LISTENING: AtomicUsize = AtomicUsize::new(0);
static ASKED: LazyLock<Arc<AtomicBool>> = LazyLock::new(Arc::default);

/// Installs the handler once. Where that fails, Ctrl-C kills as ever.
fn listen() {
    static INSTALLED: Once = Once::new();
    INSTALLED.call_once(|| {
        let on_interrupt = || {
            let is_first = !ASKED.swap(true, Relaxed);
            if !is_first || LISTENING.load(Relaxed) == 0 {
                std::process::exit(i32::from(KILLED));
            }
        };
        ctrlc::set_handler(on_interrupt).ok();
    });
}

/// Shows the best extent so far, the bound and the time. As long as it lives, the time limit and Ctrl-C hold for
/// everything that the thread does.
pub(crate) struct Progress {
    _current: Current,
    bar: ProgressBar,
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
        Progress { _current: patience.enter(), bar, stages: Mutex::default() }
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
