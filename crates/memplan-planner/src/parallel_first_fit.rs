//! First fit on two cores, with the same result as on one.
//!
//! Where a piece goes depends only on pieces placed before it that are alive at the same time. Cut
//! time in the middle: what lives before the cut and what lives after it never meet, so two
//! [`Placer`]s can work on the two halves at once. Only pieces that live across the cut concern
//! both; each of them waits until both halves have come as far in the order, and is then placed by
//! looking at both:
//!
//! ```text
//!   order     a  b  c  d  X  e  f  g  Y  h        X and Y live across the cut
//!   left      a     c     X  e        Y           X waits for c and d,
//!   right        b     d  X     f  g  Y  h        Y for e and g
//! ```
//!
//! If a hundred of a million pieces are alive at a time, there are a hundred waits. If many pieces live across the cut,
//! as in a training step, two threads are no faster. If pieces are related, two placers would miss relations. In both
//! cases one thread places all pieces ([`Halves::of`]).
//!
//! A [`Placer`] puts pieces down one by one and knows what lies where; a [`Spot`] is where a piece was put; a [`Fit`]
//! is the way to choose among gaps. The `rects` of a piece say when it is alive.

use std::ops::ControlFlow;

use memplan_core::patience::Patience;

use crate::fit::Fit;
use crate::piece::{PieceId, Pieces};
use crate::placer::{Placer, Spot};
use crate::tuning::{PARALLEL_PIECES, PIECES_PER_CROSSING};

/// Which half a piece belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Side {
    /// It ends at the cut or before, or is never alive.
    Left,
    /// It starts at the cut or later.
    Right,
    /// It lives on both sides of the cut.
    Across,
}

/// Time cut in two. See the module documentation.
pub(crate) struct Halves<'a> {
    pieces: &'a Pieces<'a>,
    /// Everything that starts here or later is on the right.
    cut: u32,
}

/// A function that is called for every placement, with the piece's position in the order, the piece, and its spot
/// (`None` if it found no place). It breaks to end the pass.
pub(crate) trait Judge<B>: Fn(usize, PieceId, Option<Spot>) -> ControlFlow<B> + Sync {}
impl<B, F: Fn(usize, PieceId, Option<Spot>) -> ControlFlow<B> + Sync> Judge<B> for F {}

impl<'a> Halves<'a> {
    /// Cuts time at the step at which half of the pieces have started. `None` if one placer is to place all: if there
    /// are fewer than [`PARALLEL_PIECES`] pieces, if they are not plain, or if too many live across the cut.
    pub(crate) fn of(pieces: &'a Pieces<'a>) -> Option<Halves<'a>> {
        if pieces.len() < PARALLEL_PIECES || !pieces.is_plain() {
            return None;
        }
        // The start in the middle of all starts is the cut.
        let mut starts: Vec<u32> =
            pieces.ids().filter_map(|piece| pieces.rects(piece).first()).map(|rect| rect.start).collect();
        let middle = starts.len() / 2;
        let halves = Halves { pieces, cut: *starts.select_nth_unstable(middle).1 };
        let across = pieces.ids().filter(|&piece| halves.side(piece) == Side::Across).count();
        // Each piece across makes both halves wait for each other.
        (across <= pieces.len() / PIECES_PER_CROSSING).then_some(halves)
    }

    /// The half that a piece belongs to. In a plain problem it has one rectangle at most.
    fn side(&self, piece: PieceId) -> Side {
        match self.pieces.rects(piece).first() {
            Some(rect) if rect.start >= self.cut => Side::Right,
            Some(rect) if rect.end > self.cut => Side::Across,
            _ => Side::Left,
        }
    }

    /// Places all pieces in an order. `judge` is called for each of them. If it breaks for several, the piece with the
    /// lowest position in the order counts, as with one thread.
    pub(crate) fn place<B: Send>(
        &self,
        placer: &mut Placer<'a>,
        order: &[PieceId],
        fit: Fit,
        judge: &impl Judge<B>,
    ) -> ControlFlow<B> {
        // `placer` does the left half. Its clone does the right one, and counts its own obstacles from 0, so that the
        // sum is the same as with one thread.
        let mut right = placer.clone();
        right.forget_obstacles_met();
        let (mut on_left, mut on_right) = (Vec::new(), Vec::new());
        for (number, &piece) in (0u32..).zip(order) {
            match self.side(piece) {
                Side::Left => on_left.push((number, piece)),
                Side::Right => on_right.push((number, piece)),
                // A piece across the cut has to see all pieces before it, so both halves are completed first.
                Side::Across => {
                    both(placer, &mut right, &on_left, &on_right, fit, judge)?;
                    on_left.clear();
                    on_right.clear();
                    judge(number as usize, piece, placer.place_across(&mut right, piece, fit))?;
                }
            }
        }
        both(placer, &mut right, &on_left, &on_right, fit, judge)?;
        placer.adopt(&right);
        ControlFlow::Continue(())
    }
}

/// Places a list in one half, up to the first piece that the judge objects to: its number, and the objection.
fn place_list<B>(placer: &mut Placer, list: &[(u32, PieceId)], fit: Fit, judge: &impl Judge<B>) -> Option<(u32, B)> {
    list.iter().find_map(|&(number, piece)| {
        let verdict = judge(number as usize, piece, placer.place(piece, fit));
        verdict.break_value().map(|value| (number, value))
    })
}

/// Places a list in each half at the same time, the right one on a thread of its own. Breaks with the first objection
/// of the judge, in the order of all pieces.
fn both<B: Send>(
    left: &mut Placer,
    right: &mut Placer,
    on_left: &[(u32, PieceId)],
    on_right: &[(u32, PieceId)],
    fit: Fit,
    judge: &impl Judge<B>,
) -> ControlFlow<B> {
    let (one, other) = std::thread::scope(|scope| {
        // A new thread does not know how long the caller waits, so it is told.
        let patience = Patience::current();
        let other = scope.spawn(move || {
            let _current = patience.as_ref().map(Patience::enter);
            place_list(right, on_right, fit, judge)
        });
        let one = place_list(left, on_left, fit, judge);
        (one, other.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
    });
    // A thread stops at its first objection. The other one may get further; only the objection with the lower number
    // counts, as with one thread.
    let first = [one, other].into_iter().flatten().min_by_key(|(number, _)| *number);
    first.map_or(ControlFlow::Continue(()), |(_, value)| ControlFlow::Break(value))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::order::Order;
    use memplan_testkit::instances;

    #[test]
    fn two_halves_are_one_whole() {
        let problem = instances::random(PARALLEL_PIECES, 60, 11);
        let pieces = Pieces::of(&problem).unwrap();
        let halves = Halves::of(&pieces).unwrap();
        for fit in [Fit::First, Fit::Best] {
            let order = Order::Size.of(&pieces);
            let (mut whole, mut parts) = (Placer::new(&pieces), Placer::new(&pieces));
            for &piece in &order {
                whole.place(piece, fit).unwrap();
            }
            let no_objection = |_: usize, _: PieceId, _: Option<Spot>| ControlFlow::<()>::Continue(());
            assert!(halves.place(&mut parts, &order, fit, &no_objection).is_continue());
            assert!(pieces.ids().all(|piece| whole.spot(piece) == parts.spot(piece)));
        }
    }

    #[test]
    fn the_first_objection_counts() {
        let problem = instances::random(PARALLEL_PIECES, 20, 3);
        let pieces = Pieces::of(&problem).unwrap();
        let order = Order::Size.of(&pieces);
        let judge = |number: usize, _: PieceId, _: Option<Spot>| match number {
            700.. => ControlFlow::Break(number),
            _ => ControlFlow::Continue(()),
        };
        let ended = Halves::of(&pieces).unwrap().place(&mut Placer::new(&pieces), &order, Fit::First, &judge);
        assert_eq!(ended, ControlFlow::Break(700));
    }

    #[test]
    fn what_lives_across_every_cut_is_not_halved() {
        let problem = instances::random(PARALLEL_PIECES, 2000, 3);
        assert!(Halves::of(&Pieces::of(&problem).unwrap()).is_none());
    }
}
