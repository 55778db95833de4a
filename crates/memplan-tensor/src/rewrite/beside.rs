//! Two pieces of work at the same time.

use memplan_core::patience::Patience;

/// Functions with fewer buffers are rewritten on one thread: waking another one takes as long as the work itself.
const WORTH_A_THREAD: usize = 128;

/// Whether work that nobody has to wait for is done on another thread.
#[derive(Clone, Copy)]
pub(super) struct Threads {
    several: bool,
}

impl Threads {
    /// Several threads if a function has so many parts that they are worth it.
    pub(super) fn for_parts(parts: usize) -> Threads {
        Threads { several: parts >= WORTH_A_THREAD }
    }

    /// Runs `here` and, at the same time on another thread, `there`. On one thread only `here` is run, and the second
    /// result is `None`. The patience of the caller holds for both.
    pub(super) fn run<A, B: Send>(self, here: impl FnOnce() -> A, there: impl FnOnce() -> B + Send) -> (A, Option<B>) {
        if !self.several {
            return (here(), None);
        }
        let patience = Patience::current();
        let mut second = None;
        let first = rayon::in_place_scope(|scope| {
            scope.spawn(|_| {
                let _current = patience.as_ref().map(Patience::enter);
                second = Some(there());
            });
            here()
        });
        (first, second)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_second_piece_of_work_is_done_only_if_there_is_much_of_it() {
        assert_eq!(Threads::for_parts(WORTH_A_THREAD).run(|| 1, || 2), (1, Some(2)));
        assert_eq!(Threads::for_parts(WORTH_A_THREAD - 1).run(|| 1, || 2), (1, None));
    }
}
