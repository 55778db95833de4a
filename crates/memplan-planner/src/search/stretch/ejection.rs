//! Rectangles (items alive in a range of sections, so many granules high) are put below a goal one by one. Each goes
//! where the rectangles in its way weigh least; these are *ejected*, which means taken out, and wait for another
//! place in turn.
//!
//! ```text
//!     goal ────────────────      ────────────────
//!           aaaaa    bbbbb        aaaaaxxx bbbbb      x waits. In the place of b it would eject b, which weighs 20;
//!           aaaaaccccbbbbb        aaaaaxxx bbbbb      in the place of c it ejects c, which weighs 4. Now c waits,
//!           ddddddddddddd         ddddddddddddd       and the next ejection of c costs more.
//! ```
//!
//! - A rectangle weighs its area, plus something each time it is ejected. This raise grows slowly, so that the last
//!   ejections count more than the first ones.
//! - The work goes in *turns*; a turn finds a place for one rectangle that waits. Which one is drawn at random. A
//!   heaviest-first order, which serves the [dense](super::super::dense) stage well, goes in circles here.
//! - Of several places that cost the same, one is drawn among those that touch a neighbour.
//! - Now and then a turn moves a rectangle that has a place to another place that is free. That costs nothing and joins
//!   gaps.
//!
//! To weigh all places of a rectangle, every neighbour (a rectangle alive at the same time) adds its weight to the
//! range of offsets at which it would be in the way: two entries in an array of differences. A bit set says which
//! entries were changed, so a walk over the bits visits each change of the sum once:
//!
//! ```text
//!   x is 3 high, the goal is 10, so x can have the offsets 0 to 7. A neighbour of weight 20 lies at 4..6:
//!   x would meet it at the offsets 2 to 5.      differences:  +20 at 2, −20 at 6
//!   cost by offset   0 0 20 20 20 20 0 0        cheapest:     0..=1 and 6..=7; candidates are the ends 0, 1, 6, 7
//! ```

use super::super::random::Random;
use super::Rectangle;
use crate::tuning::{FIRST_RAISE, MOST_GOAL, RAISE_GROWTH, SHIFT_ONE_IN, STRETCH_GLANCE, TURNS_TO_STAY};

/// Weights are scaled so that their mean is this at the beginning.
const MEAN_WEIGHT: u64 = 1 << 16;
/// All weights are halved before one could reach this.
const HIGHEST_WEIGHT: u64 = 1 << 32;
/// Added to the weight of a rectangle that should not be ejected. It is more than all other rectangles together weigh:
/// at most 2^14 of them, of less than 2^32 each.
const BLOCKED: i64 = 1 << 47;
/// With more rectangles, weights could add up to [`BLOCKED`].
const MOST_RECTANGLES: usize = 1 << 14;

/// The rectangles of a problem, and for each the others that are alive at the same time.
pub(super) struct Field {
    pub(super) rectangles: Vec<Rectangle>,
    /// By rectangle: the numbers of the others that are alive at the same time.
    neighbours: Vec<Vec<u32>>,
    /// By rectangle: its area, scaled so that the mean is [`MEAN_WEIGHT`].
    weights: Vec<u64>,
}

/// What became of an attempt.
pub(super) struct Filled {
    /// Offsets of all rectangles, if all found a place.
    pub(super) offsets: Option<Vec<u32>>,
    /// Neighbours that were looked at: the work of the attempt.
    pub(super) looks: u64,
}

impl Field {
    /// `None` if there are too many rectangles, or none.
    pub(super) fn new(rectangles: Vec<Rectangle>) -> Option<Field> {
        if rectangles.is_empty() || rectangles.len() > MOST_RECTANGLES {
            return None;
        }
        let meets = |one: &Rectangle, other: &Rectangle| one.lo < other.hi && other.lo < one.hi;
        let all = |one: usize| {
            let others = (0..rectangles.len()).filter(|&other| other != one);
            others.filter(|&other| meets(&rectangles[one], &rectangles[other])).map(|other| other as u32).collect()
        };
        let neighbours = (0..rectangles.len()).map(all).collect();
        let area = |rectangle: &Rectangle| u64::from(rectangle.height) * u64::from(rectangle.hi - rectangle.lo);
        let mean = (rectangles.iter().map(area).sum::<u64>() / rectangles.len() as u64).max(1);
        // A rectangle of the mean area weighs `MEAN_WEIGHT`; no rectangle weighs nothing, and none weighs so much that
        // its weight could not be raised.
        let scaled =
            |rectangle: &Rectangle| (area(rectangle).saturating_mul(MEAN_WEIGHT) / mean).clamp(1, HIGHEST_WEIGHT / 2);
        let weights = rectangles.iter().map(scaled).collect();
        Some(Field { rectangles, neighbours, weights })
    }

    pub(super) fn len(&self) -> usize {
        self.rectangles.len()
    }

    /// How many turns `looks` looks at neighbours pay for, on average. A turn looks at all neighbours of one rectangle.
    pub(super) fn turns_for(&self, looks: u64) -> u64 {
        let pairs: u64 = self.neighbours.iter().map(|neighbours| neighbours.len() as u64).sum();
        looks / (pairs / self.len() as u64).max(1)
    }

    /// Tries to put all rectangles below `goal`, in at most `turns` turns. `kept` has an offset for each rectangle that
    /// has its place already and stays there. `is_over` is asked every [`STRETCH_GLANCE`] turns whether to give up.
    pub(super) fn fill(
        &self,
        goal: u32,
        kept: &[Option<u32>],
        seed: u64,
        turns: u64,
        is_over: &(dyn Fn() -> bool + Sync),
    ) -> Filled {
        // If the arrays over all offsets would be too large, or some rectangle is higher than the goal, give up.
        if goal > MOST_GOAL || self.rectangles.iter().any(|rectangle| rectangle.height > goal) {
            return Filled { offsets: None, looks: 0 };
        }
        let mut chain = Chain::new(self, goal, kept, seed);
        while !chain.waiting.is_empty() && chain.turn < turns {
            if chain.turn.is_multiple_of(STRETCH_GLANCE) && is_over() {
                break;
            }
            chain.take_turn();
        }
        let is_done = chain.waiting.is_empty();
        Filled { looks: chain.looks, offsets: is_done.then(|| chain.offsets.into_iter().flatten().collect()) }
    }
}

/// An attempt under way. Lists go by rectangle unless said otherwise.
struct Chain<'a> {
    field: &'a Field,
    /// Every rectangle has to end here or below.
    goal: u32,
    /// `None` for rectangles that wait.
    offsets: Vec<Option<u32>>,
    is_kept: Vec<bool>,
    /// The rectangles without a place.
    waiting: Vec<u32>,
    /// What it costs to eject a rectangle now.
    weights: Vec<u64>,
    /// What an ejection adds to a weight, as a part of the weight at the beginning.
    raise: f64,
    /// As long as `turn` is below this number, a rectangle was placed recently and should not be ejected.
    stays_until: Vec<u64>,
    /// Turns so far.
    turn: u64,
    /// Neighbours looked at so far.
    looks: u64,
    random: Random,
    /// By offset: by how much the cost there differs from that of the offset below. All 0 between two turns.
    differences: Vec<i64>,
    /// Bits by offset: which differences were changed in this turn.
    touched: Vec<u64>,
    /// The cheapest offsets that [`Chain::weigh`] has found last.
    candidates: Vec<u32>,
}

impl<'a> Chain<'a> {
    /// The start of a chain: the kept rectangles lie where `kept` says and are never ejected; all others wait.
    fn new(field: &'a Field, goal: u32, kept: &[Option<u32>], seed: u64) -> Chain<'a> {
        let count = field.len();
        Chain {
            field,
            goal,
            offsets: kept.to_vec(),
            is_kept: kept.iter().map(Option::is_some).collect(),
            waiting: (0..count as u32).filter(|&number| kept[number as usize].is_none()).collect(),
            weights: field.weights.clone(),
            raise: FIRST_RAISE,
            stays_until: vec![0; count],
            turn: 0,
            looks: 0,
            random: Random::new(seed),
            differences: vec![0; goal as usize + 2],
            touched: vec![0; goal as usize / 64 + 2],
            candidates: Vec::new(),
        }
    }

    /// Mostly finds a place for a rectangle that waits and ejects what is in its way. Now and then it moves a rectangle
    /// that has a place to another one, if it can have one without ejecting anything.
    fn take_turn(&mut self) {
        self.turn += 1;
        // A shift: one of all rectangles, if it has a place and is not kept, moves to another place that costs nothing.
        if self.random.below(SHIFT_ONE_IN) == 0 {
            let number = self.random.below(self.field.len() as u64) as usize;
            if self.offsets[number].is_some() && !self.is_kept[number] && self.weigh(number) == 0 {
                self.offsets[number] = Some(self.drawn());
            }
            return;
        }
        // Any of the waiting rectangles goes to one of its cheapest places, and what is in its way there is ejected.
        let place = self.random.below(self.waiting.len() as u64) as usize;
        let number = self.waiting.swap_remove(place) as usize;
        let cost = self.weigh(number);
        let offset = self.drawn();
        if cost > 0 && !self.eject(number, offset) {
            // The cheapest place is blocked by a kept rectangle. The rectangle waits on: there may be another cheapest
            // place later. If the kept rectangles leave no place at all, the attempt fails in the end.
            self.waiting.push(number as u32);
            return;
        }
        self.offsets[number] = Some(offset);
        self.stays_until[number] = self.turn + 1 + self.random.below(TURNS_TO_STAY);
    }

    /// One of the cheapest places that [`Chain::weigh`] has found. There always is one.
    fn drawn(&mut self) -> u32 {
        self.candidates[self.random.below(self.candidates.len() as u64) as usize]
    }

    /// What the cheapest place of a rectangle costs. Places of that cost form ranges; the first and the last offset
    /// of each range become the candidates, because there the rectangle touches a neighbour, the bottom or the goal.
    fn weigh(&mut self, number: usize) -> i64 {
        let highest = self.goal - self.field.rectangles[number].height;
        self.add_neighbours(number, highest);
        self.candidates.clear();
        // `cost` is that of the present offset, `least` the lowest so far. Bits and differences are cleared on the
        // way, for the next call.
        let (mut cost, mut least) = (0, i64::MAX);
        // The start of a range of cheapest places whose end has not been met.
        let mut open: Option<u32> = None;
        for word in 0..=(highest / 64) as usize {
            let mut bits = std::mem::take(&mut self.touched[word]);
            while bits != 0 {
                let offset = word as u32 * 64 + bits.trailing_zeros();
                bits &= bits - 1;
                let change = std::mem::take(&mut self.differences[offset as usize]);
                cost += change;
                // A change of the cost ends the range. (Two neighbours may cancel each other; then nothing changes.)
                if let Some(start) = open.filter(|_| change != 0) {
                    self.close(start, offset - 1);
                    open = None;
                }
                if cost < least {
                    least = cost;
                    self.candidates.clear();
                }
                if cost == least && open.is_none() {
                    self.candidates.push(offset);
                    open = Some(offset);
                }
            }
        }
        if let Some(start) = open {
            self.close(start, highest);
        }
        least
    }

    /// Adds the last offset of a range to the candidates, unless it is also the first one.
    fn close(&mut self, start: u32, end: u32) {
        if end > start {
            self.candidates.push(end);
        }
    }

    /// Adds each neighbour's weight to the offsets, up to `highest`, at which it is in the way of a rectangle.
    fn add_neighbours(&mut self, number: usize, highest: u32) {
        let field = self.field;
        let height = field.rectangles[number].height;
        let neighbours = &field.neighbours[number];
        self.looks += neighbours.len() as u64;
        // The first place begins at 0, whether or not a neighbour changes anything there.
        self.touched[0] |= 1;
        for &other in neighbours {
            let other = other as usize;
            let Some(offset) = self.offsets[other] else { continue };
            // The first offset at which the rectangle reaches into the neighbour, and the first one at which it no
            // longer does.
            let from = (offset + 1).saturating_sub(height);
            let to = (offset + field.rectangles[other].height).min(highest + 1);
            if from >= to {
                continue;
            }
            // A rectangle that was placed recently counts as blocked: it is ejected only if every place would eject a
            // blocked one. A kept rectangle counts as blocked, too, and `eject` refuses to take it out.
            let stays = self.is_kept[other] || self.stays_until[other] > self.turn;
            let weight = self.weights[other] as i64 + if stays { BLOCKED } else { 0 };
            for (place, change) in [(from, weight), (to, -weight)] {
                // The walk of `weigh` ends at the highest offset and clears only what it visits.
                if place <= highest {
                    self.differences[place as usize] += change;
                    self.touched[place as usize / 64] |= 1 << (place % 64);
                }
            }
        }
    }

    /// Takes out all rectangles that are in the way of the rectangle `number` at `offset`, and raises their weights. If
    /// one of them is kept, nothing is taken out and the result is `false`.
    fn eject(&mut self, number: usize, offset: u32) -> bool {
        let field = self.field;
        let end = offset + field.rectangles[number].height;
        // `offsets` is handed in, because the loop below changes it.
        let is_in_the_way = |other: usize, offsets: &[Option<u32>]| {
            offsets[other].is_some_and(|start| start < end && offset < start + field.rectangles[other].height)
        };
        let neighbours = &field.neighbours[number];
        if neighbours.iter().any(|&other| self.is_kept[other as usize] && is_in_the_way(other as usize, &self.offsets))
        {
            return false;
        }
        for &other in neighbours {
            if is_in_the_way(other as usize, &self.offsets) {
                self.offsets[other as usize] = None;
                self.waiting.push(other);
                self.raise_weight(other as usize);
            }
        }
        self.raise *= RAISE_GROWTH;
        true
    }

    /// Makes a rectangle dearer to eject. If its weight would reach [`HIGHEST_WEIGHT`], all weights and the raise are
    /// halved.
    fn raise_weight(&mut self, number: usize) {
        let raised = (self.field.weights[number] as f64 * self.raise) as u64;
        self.weights[number] += raised.min(HIGHEST_WEIGHT / 2);
        // Halving all weights changes nothing about which places are cheapest, because only their proportions matter.
        if self.weights[number] >= HIGHEST_WEIGHT {
            self.weights.iter_mut().for_each(|weight| *weight = (*weight / 2).max(1));
            self.raise /= 2.0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rectangle(lo: u32, hi: u32, height: u32) -> Rectangle {
        Rectangle { lo, hi, height }
    }

    fn is_packed(field: &Field, offsets: &[u32], goal: u32) -> bool {
        let end = |number: usize| offsets[number] + field.rectangles[number].height;
        let is_apart = |one: usize, other: usize| end(one) <= offsets[other] || end(other) <= offsets[one];
        (0..field.len())
            .all(|one| end(one) <= goal && field.neighbours[one].iter().all(|&other| is_apart(one, other as usize)))
    }

    /// Random cuts of a full board, so that a packing without any gap exists.
    #[test]
    fn boards_that_were_cut_are_put_together_again() {
        for seed in 0..40 {
            let mut random = Random::new(seed);
            let mut parts = vec![(rectangle(0, 24, 24), 0u32)];
            while parts.len() < 14 {
                let place = random.below(parts.len() as u64) as usize;
                let (part, offset) = parts[place];
                if random.below(2) == 0 && part.hi - part.lo > 1 {
                    let middle = part.lo + 1 + random.below(u64::from(part.hi - part.lo) - 1) as u32;
                    parts[place].0.hi = middle;
                    parts.push((rectangle(middle, part.hi, part.height), offset));
                } else if part.height > 1 {
                    let height = 1 + random.below(u64::from(part.height) - 1) as u32;
                    parts[place].0.height = height;
                    parts.push((rectangle(part.lo, part.hi, part.height - height), offset + height));
                }
            }
            let field = Field::new(parts.iter().map(|part| part.0).collect()).unwrap();
            let none = vec![None; field.len()];
            let filled = field.fill(24, &none, seed, 200_000, &|| false);
            let offsets = filled.offsets.unwrap_or_else(|| panic!("seed {seed}: nothing was found"));
            assert!(is_packed(&field, &offsets, 24), "seed {seed}: {offsets:?}");
            // What is kept stays where it is.
            let kept: Vec<Option<u32>> =
                parts.iter().enumerate().map(|(n, part)| (n % 3 == 0).then_some(part.1)).collect();
            let filled = field.fill(24, &kept, seed, 200_000, &|| false);
            let offsets =
                filled.offsets.unwrap_or_else(|| panic!("seed {seed}: nothing was found around what is kept"));
            assert!(is_packed(&field, &offsets, 24), "seed {seed}: {offsets:?}");
            assert!(kept.iter().zip(&offsets).all(|(kept, offset)| kept.is_none_or(|kept| kept == *offset)));
        }
    }

    #[test]
    fn what_cannot_be_done_ends() {
        let field = Field::new(vec![rectangle(0, 2, 3), rectangle(0, 2, 3), rectangle(1, 3, 3)]).unwrap();
        for (goal, kept) in [(8, [None; 3]), (2, [None; 3]), (9, [Some(1), None, None])] {
            let filled = field.fill(goal, &kept, 7, 10_000, &|| false);
            assert_eq!(filled.offsets, None, "goal {goal}");
        }
        assert!(field.fill(9, &[Some(3), None, None], 7, 10_000, &|| false).offsets.is_some());
        assert!(Field::new(Vec::new()).is_none());
    }
}
