//! Long calls that Python can watch and end.
//!
//! The work runs on a thread of its own. The thread that called us releases the
//! interpreter lock and wakes up every few hundredths of a second, to tell the progress
//! callback what is new and to ask whether a signal has come. So Ctrl-C ends
//! the search and not the program, and the best plan so far is the answer.

use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::sync::{Arc, Mutex, PoisonError, atomic::AtomicBool, atomic::Ordering::Relaxed};
use std::time::Duration;

use memplan::core::Bytes;
use memplan::driver::{self, Failure, How};
use memplan::front_end::FrontEnd;
use memplan::planner::{Observer, Request};
use memplan::source::Source;
use pyo3::prelude::*;

use crate::error;

/// How often the waiting thread looks for signals and news: Ctrl-C waits at most this long until it is noticed.
const TICK: Duration = Duration::from_millis(30);

/// Stack of the thread that works. Input is read without recursion, so less should do; this is a reserve.
const STACK: usize = 16 << 20;

/// The latest progress of the search: the extent of the best plan, if there is one, and the lower bound, in bytes.
/// `None` if there was no news since it was last taken.
#[derive(Default)]
struct Latest(Mutex<Option<(Option<u64>, u64)>>);

impl Latest {
    /// Takes the news away.
    fn take(&self) -> Option<(Option<u64>, u64)> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

impl Observer for Latest {
    fn progress(&self, best: Option<Bytes>, lower_bound: Bytes) {
        let news = (best.map(|best| best.0), lower_bound.0);
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(news);
    }
}

/// A finished call, and the signal or the callback's error that ended it early.
pub(crate) struct Watched<T> {
    /// What the work returned.
    pub(crate) result: T,
    /// The signal or the error; `None` if the work came to its own end.
    pub(crate) interrupted: Option<PyErr>,
}

impl<T> Watched<T> {
    /// The result, unless a signal ended the call: then the signal is raised again.
    pub(crate) fn or_signal(self) -> PyResult<T> {
        self.interrupted.map_or(Ok(self.result), Err)
    }
}

/// Runs `work` on a thread of its own, with a request that can be cancelled and that reports its progress to the
/// callback `progress`; everything else in the request is up to `work`. The outer error is a bug, or an error of the
/// callback after the work was done.
pub(crate) fn watched<T: Send>(
    py: Python<'_>,
    progress: Option<&Py<PyAny>>,
    work: impl FnOnce(Request<'_>) -> T + Send,
) -> PyResult<Watched<T>> {
    // What the worker and the waiting thread share: the news, and the wish to stop.
    let latest = Latest::default();
    let cancel = Arc::new(AtomicBool::new(false));
    let (result, interrupted) = py.detach(|| {
        std::thread::scope(|scope| {
            // Nothing is ever sent through this channel. Its sender belongs to the worker.
            let (done, finished) = sync_channel::<()>(1);
            let request = Request { observer: Some(&latest), cancel: Some(Arc::clone(&cancel)), ..Request::default() };
            let worker = std::thread::Builder::new().stack_size(STACK).spawn_scoped(scope, move || {
                // The channel closes when `_done` is dropped, at the end of the work or by a panic. That tells the
                // waiting thread that the work is over.
                let _done = done;
                work(request)
            });
            let worker = match worker {
                Ok(worker) => worker,
                Err(error) => return (Err(error.to_string()), None),
            };
            // Wait for the end of the work. After a signal or an error of the callback the work is cancelled, and the
            // loop goes on until it has ended.
            let mut interrupted = None;
            while finished.recv_timeout(TICK) == Err(RecvTimeoutError::Timeout) {
                if interrupted.is_none()
                    && let Err(error) = Python::attach(|py| tell(py, progress, &latest))
                {
                    cancel.store(true, Relaxed);
                    interrupted = Some(error);
                }
            }
            (worker.join().map_err(|_| "a thread of memplan panicked".to_owned()), interrupted)
        })
    });
    // News that came after the last tick.
    if interrupted.is_none() {
        tell(py, progress, &latest)?;
    }
    match result {
        Ok(result) => Ok(Watched { result, interrupted }),
        Err(message) => Err(error::bug(py, &message)),
    }
}

/// Reads a source. Other Python threads run meanwhile, and Ctrl-C ends the reading and is raised again.
pub(crate) fn read<F: FrontEnd<Input: Send> + Sync>(
    py: Python<'_>,
    front_end: &F,
    source: &Source,
) -> PyResult<Result<F::Input, Failure>> {
    watched(py, None, |request| driver::read(front_end, source, &How { request, ..How::default() }))?.or_signal()
}

/// Hands news to the callback and asks Python for signals. The error is that of the callback, or the signal.
fn tell(py: Python<'_>, progress: Option<&Py<PyAny>>, latest: &Latest) -> PyResult<()> {
    if let (Some(callback), Some(news)) = (progress, latest.take()) {
        callback.call1(py, news)?;
    }
    py.check_signals()
}
