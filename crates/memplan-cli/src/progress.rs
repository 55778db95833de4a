//! A progress bar on a terminal's standard error; nothing when piped.

use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};
use memplan::core::Bytes;
use memplan::planner::Observer;

/// Shows the best extent so far, the bound and the time.
pub(crate) struct Progress {
    bar: ProgressBar,
}

impl Progress {
    /// Starts the clock. `limit` is the time after which the search stops.
    pub(crate) fn start(limit: Option<Duration>) -> Progress {
        let bar = ProgressBar::new_spinner();
        let of = limit.map(|limit| format!(" of {limit:.0?}")).unwrap_or_default();
        let template = format!("{{spinner}} {{elapsed}}{of} {{msg}}");
        if let Ok(style) = ProgressStyle::with_template(&template) {
            bar.set_style(style);
        }
        bar.enable_steady_tick(Duration::from_millis(120));
        Progress { bar }
    }

    /// Says what is being done.
    pub(crate) fn say(&self, what: impl Into<String>) {
        self.bar.set_message(what.into());
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}

impl Observer for Progress {
    fn progress(&self, best: Option<Bytes>, lower_bound: Bytes) {
        let best = best.map_or_else(|| "no plan yet".to_owned(), |best| format!("best {}", best.human()));
        self.say(format!("{best}, lower bound {}", lower_bound.human()));
    }
}
