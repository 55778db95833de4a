//! One space as a list of choices between inequalities.
//!
//! A *part* is a piece in this space; its offset is the unknown. Every rule of
//! the problem becomes a [`Choice`]: at least one of its options holds, and an
//! option is a list of inequalities [`Least`], "this offset is at least so much above that one".
//!
//! | rule | options |
//! |---|---|
//! | two ranges of bytes have nothing in common | one above the other, or the other above the one |
//! | … unless they start at the same byte (same-base overlay) | and a third: both offsets are equal |
//! | … unless newcomers of overlays took the common bytes over before | and more: takers cover the common bytes |
//!
//! The ranges of bytes are those of stretches of lives, with their windows; if the rule is that two buffers never share
//! (exclusive, must not share, slots of one buffer, no order of execution), they are all bytes of the buffers. All
//! rules without exceptions between two parts together forbid a few open intervals of the difference of the two
//! offsets. These intervals are merged before they become choices:
//!
//! ```text
//!   p has the bytes 0..4 and 8..12 in use, q has 0..3:
//!   offset of q − offset of p   -3 (xxxxxxx) 4 .. 5 (xxxxxxx) 12
//!                               below p    in the hole      above p
//! ```

use memplan_core::{Classes, Id, SpaceId, index_type};

use super::build::Builder;
use super::order::Orders;
use crate::piece::{PieceId, Pieces};

index_type! {
    /// A part of a model; the lists of inequalities have the bare number.
    struct PartId;
}

/// The offset of `above` is at least `least` more than that of `below`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Least {
    pub(super) below: u32,
    pub(super) above: u32,
    pub(super) least: i64,
}

/// Inequalities that hold together.
pub(super) type Conjunction = Vec<Least>;

/// At least one of the options holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Choice {
    pub(super) options: Vec<Conjunction>,
}

/// A piece in this space. Bytes are counted with signs, because differences of offsets may be negative.
#[derive(Clone, Copy, Debug)]
pub(super) struct Part {
    pub(super) piece: PieceId,
    pub(super) size: i64,
    pub(super) alignment: i64,
    /// The lowest offset that the part may have. Negative for a block whose members all lie above its start.
    pub(super) lowest: i64,
    /// The highest offset that the part may have if the space had no capacity; `lowest` if the offset is fixed.
    pub(super) highest: i64,
}

/// The bytes `low..high` of a part, counted from its offset, that are in use at some time. (The name comes from
/// scheduling: see [`machine`](super::machine).) The bounds are rounded up to the common alignment of all parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Job {
    pub(super) part: u32,
    pub(super) low: i64,
    pub(super) high: i64,
}

/// See the module documentation.
#[derive(Debug)]
pub(super) struct Model {
    pub(super) parts: Vec<Part>,
    pub(super) choices: Vec<Choice>,
    /// Inequalities that only say which of several equal plans is meant ([`symmetry`](super::symmetry)).
    pub(super) always: Vec<Least>,
    /// Sets of jobs of which no two have a byte in common in any plan.
    pub(super) cliques: Vec<Vec<Job>>,
    /// An extent in bytes within which there is a plan if there is any.
    pub(super) enough: i64,
}

/// New numbers for the parts of a component, by the old ones; `None` for parts that do not belong to it. The methods
/// translate something into the new numbers, or give `None` if it names a part without one.
struct Numbers(Vec<Option<u32>>);

impl Numbers {
    /// The parts of a component get the numbers of their positions, and the others of `count` parts none.
    fn of(parts: &[u32], count: usize) -> Numbers {
        let mut numbers = vec![None; count];
        for (new, &old) in (0..).zip(parts) {
            numbers[old as usize] = Some(new);
        }
        Numbers(numbers)
    }

    /// The new number of a part.
    fn part(&self, part: u32) -> Option<u32> {
        self.0[part as usize]
    }

    /// An inequality in the new numbers.
    fn least(&self, least: &Least) -> Option<Least> {
        Some(Least { below: self.part(least.below)?, above: self.part(least.above)?, ..*least })
    }

    /// A choice in the new numbers.
    fn choice(&self, choice: &Choice) -> Option<Choice> {
        // A choice without any inequality always holds and belongs to no component.
        choice.options.iter().flatten().next()?;
        let options = choice.options.iter().map(|option| option.iter().map(|least| self.least(least)).collect());
        Some(Choice { options: options.collect::<Option<_>>()? })
    }

    /// A job in the new numbers.
    fn job(&self, job: &Job) -> Option<Job> {
        Some(Job { part: self.part(job.part)?, ..*job })
    }
}

impl Model {
    /// The model of the pieces `here` in one space. `None` if the model would be too large, or if two buffers have too
    /// many ways to share bytes.
    pub(super) fn new(pieces: &Pieces, orders: &Orders, space: SpaceId, here: &[PieceId]) -> Option<Model> {
        Builder::new(pieces, orders, space, here)?.build()
    }

    /// A lower bound in bytes: the largest of what the jobs of each clique take together, and where each part ends at
    /// its lowest offset.
    pub(super) fn least_extent(&self) -> i64 {
        // A job ends at a whole number of granules, its part perhaps before that. The bytes in between (the tail) may
        // lie outside of the extent if the job is the topmost one. Any job may be that, so the largest tail is left
        // out.
        let of_clique = |clique: &Vec<Job>| {
            let tail = clique.iter().map(|job| job.high - self.parts[job.part as usize].size).max().unwrap_or(0);
            clique.iter().map(|job| job.high - job.low).sum::<i64>() - tail.max(0)
        };
        let ends = self.parts.iter().map(|part| part.lowest + part.size);
        self.cliques.iter().map(of_clique).chain(ends).max().unwrap_or(0).max(0)
    }

    /// The components: lists of parts such that no choice or inequality names parts of two different lists.
    pub(super) fn components(&self) -> Vec<Vec<u32>> {
        let mut classes = Classes::new(self.parts.len());
        let named = self.choices.iter().flat_map(|choice| choice.options.iter().flatten()).chain(&self.always);
        for least in named {
            let [one, other] = [least.below, least.above].map(|part| PartId::from_index(part as usize));
            classes.join(one, other);
        }
        let mut components: Vec<Vec<u32>> = vec![Vec::new(); self.parts.len()];
        for part in 0..self.parts.len() as u32 {
            components[classes.find(PartId::from_index(part as usize)).index()].push(part);
        }
        components.retain(|component| !component.is_empty());
        components
    }

    /// The model of one component: these parts alone, with new numbers.
    pub(super) fn component(&self, parts: &[u32]) -> Model {
        // A rule is either about these parts alone or not about them at all. So a rule belongs to the component if its
        // first part has a new number, and then all its parts have one.
        let numbers = Numbers::of(parts, self.parts.len());
        Model {
            parts: parts.iter().map(|&part| self.parts[part as usize]).collect(),
            choices: self.choices.iter().filter_map(|choice| numbers.choice(choice)).collect(),
            always: self.always.iter().filter_map(|least| numbers.least(least)).collect(),
            cliques: self
                .cliques
                .iter()
                .filter(|clique| !clique.is_empty())
                .filter_map(|clique| clique.iter().map(|job| numbers.job(job)).collect())
                .collect(),
            enough: self.enough,
        }
    }
}

/// The greatest common divisor, by Euclid's algorithm. That of 0 and a number is the number.
pub(super) fn gcd(mut a: i64, mut b: i64) -> i64 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

/// The next multiple of `step` that is not lower; also for negative numbers.
pub(super) fn round_up(number: i64, step: i64) -> i64 {
    match number.rem_euclid(step) {
        0 => number,
        rest => number + (step - rest),
    }
}

/// The next multiple of `step` that is not higher.
pub(super) fn round_down(number: i64, step: i64) -> i64 {
    number - number.rem_euclid(step)
}
