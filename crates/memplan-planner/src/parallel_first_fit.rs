//! Placing very many pieces: near each other in time, and on two cores, with the same result as one after the other.
//!
//! Where a piece goes depends only on pieces placed before it that are alive at the same time. So pieces that never meet
//! can be placed in another order ([`Nearby`]), in which the processor finds what it needs in its cache. And time can
//! be cut in the middle: once everything that lives across the cut is placed, and all that has to be placed before it,
//! what lives before the cut and what lives after it never meet. Then two [`Placer`]s work on the two sides at once:
//!
//! ```text
//!   order       a  b  c  d  X  e  f  g  Y  h        X and Y live across the cut
//!   first       c  d  X  e  g  Y                    c and d meet X, e and g meet Y
//!   left        a
//!   right       b  f  h
//! ```
//!
//! If a hundred of a million pieces are alive at a time, some ten thousand have to be placed first. If many pieces live
//! across the cut, as in a training step, hardly any are left for two threads. If pieces are related, two placers would
//! miss relations. In both cases the pieces are placed one after the other, as they come ([`Halves::of`]).
//!
//! A [`Placer`] puts pieces down one by one and knows what lies where; a [`Spot`] is where a piece was put; a [`Fit`]
//! is the way to choose among gaps. The `rects` of a piece say when it is alive.

use std::ops::ControlFlow;

use memplan_core::patience::Patience;

use crate::fit::Fit;
use crate::nearby::Nearby;
use crate::piece::{PieceId, Pieces};
use crate::placer::{Placer, Spot};
use crate::tuning::{PARALLEL_PIECES, PIECES_FETCHED, PIECES_PER_CROSSING};

/// Time cut in two. See the module documentation.
pub(crate) struct Halves<'a> {
    pieces: &'a Pieces<'a>,
    /// The cut is near this time.
    cut: u32,
}

/// A function that is called for every placement, with the number of placements before it, the piece, and its spot
/// (`None` if it found no place). It breaks to end the pass.
pub(crate) trait Judge<B>: Fn(usize, PieceId, Option<Spot>) -> ControlFlow<B> + Sync {}
impl<B, F: Fn(usize, PieceId, Option<Spot>) -> ControlFlow<B> + Sync> Judge<B> for F {}

impl<'a> Halves<'a> {
    /// Cuts time at the step at which half of the pieces have started. `None` if the pieces are to be placed as they
    /// come: if there are fewer than [`PARALLEL_PIECES`], if they are not plain, or if too many live across the cut.
    pub(crate) fn of(pieces: &'a Pieces<'a>) -> Option<Halves<'a>> {
        if pieces.len() < PARALLEL_PIECES || !pieces.is_plain() {
            return None;
        }
        // The start in the middle of all starts is the cut.
        let mut starts: Vec<u32> =
            pieces.ids().filter_map(|piece| pieces.rects(piece).first()).map(|rect| rect.start).collect();
        let middle = starts.len() / 2;
        let cut = *starts.get_mut(..)?.select_nth_unstable(middle).1;
        let lives_across =
            |&piece: &PieceId| pieces.rects(piece).first().is_some_and(|rect| rect.start < cut && cut < rect.end);
        let across = pieces.ids().filter(lives_across).count();
        (across <= pieces.len() / PIECES_PER_CROSSING).then_some(Halves { pieces, cut })
    }

    /// Places all pieces such that the result is that of an order. `judge` is called for each of them, in another
    /// order. It is not known which objection of the judge would have been the first in the given order.
    pub(crate) fn place<B: Send>(
        &self,
        placer: &mut Placer<'a>,
        order: &[PieceId],
        fit: Fit,
        threads: usize,
        judge: &impl Judge<B>,
    ) -> ControlFlow<B> {
        let Nearby { first, left, right } = Nearby::of(self.pieces, order, self.cut, threads);
        place_list(placer, &first, fit, judge)?;
        if threads == 1 {
            place_list(placer, &left, fit, judge)?;
            return place_list(placer, &right, fit, judge);
        }
        // `placer` does the left side. Its clone does the right one, and counts its own obstacles from 0, so that the
        // sum is the same as with one thread.
        let mut beside = placer.clone();
        beside.forget_obstacles_met();
        let (one, other) = std::thread::scope(|scope| {
            // A new thread does not know how long the caller waits, so it is told.
            let patience = Patience::current();
            let beside = &mut beside;
            let other = scope.spawn(move || {
                let _current = patience.as_ref().map(Patience::enter);
                place_list(beside, &right, fit, judge)
            });
            let one = place_list(placer, &left, fit, judge);
            (one, other.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
        });
        one?;
        other?;
        placer.adopt(&beside);
        ControlFlow::Continue(())
    }
}

/// Places a list, up to the first piece that the judge objects to.
fn place_list<B>(placer: &mut Placer, list: &[PieceId], fit: Fit, judge: &impl Judge<B>) -> ControlFlow<B> {
    for (chunk, next) in list.chunks(PIECES_FETCHED).enumerate() {
        placer.fetch(next);
        for (number, &piece) in (chunk * PIECES_FETCHED..).zip(next) {
            judge(number, piece, placer.place(piece, fit))?;
        }
    }
    ControlFlow::Continue(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::order::Order;
    use memplan_core::Id;
    use memplan_testkit::instances;

    #[test]
    fn two_halves_are_one_whole() {
        let problem = instances::random(PARALLEL_PIECES, 60, 11);
        let pieces = Pieces::of(&problem).unwrap();
        let halves = Halves::of(&pieces).unwrap();
        for (fit, threads) in [(Fit::First, 1), (Fit::First, 2), (Fit::Best, 1), (Fit::Best, 2)] {
            let order = Order::Size.of(&pieces);
            let (mut whole, mut parts) = (Placer::new(&pieces), Placer::new(&pieces));
            for &piece in &order {
                whole.place(piece, fit).unwrap();
            }
            let no_objection = |_: usize, _: PieceId, _: Option<Spot>| ControlFlow::<()>::Continue(());
            assert!(halves.place(&mut parts, &order, fit, threads, &no_objection).is_continue());
            assert!(pieces.ids().all(|piece| whole.spot(piece) == parts.spot(piece)));
            assert_eq!(parts.obstacles_met(), whole.obstacles_met(), "{fit:?} on {threads} threads");
        }
    }

    #[test]
    fn an_objection_ends_the_pass() {
        let problem = instances::random(PARALLEL_PIECES, 20, 3);
        let pieces = Pieces::of(&problem).unwrap();
        let order = Order::Size.of(&pieces);
        let judge = |_: usize, piece: PieceId, _: Option<Spot>| match piece.index() {
            700 => ControlFlow::Break(piece),
            _ => ControlFlow::Continue(()),
        };
        for threads in [1, 2] {
            let halves = Halves::of(&pieces).unwrap();
            let ended = halves.place(&mut Placer::new(&pieces), &order, Fit::First, threads, &judge);
            assert_eq!(ended, ControlFlow::Break(PieceId::from_index(700)));
        }
    }

    #[test]
    fn what_lives_across_every_cut_is_not_halved() {
        let problem = instances::random(PARALLEL_PIECES, 2000, 3);
        assert!(Halves::of(&Pieces::of(&problem).unwrap()).is_none());
    }
}
