//! The proof for any extents.
//!
//! Take a write of the output and a read of the input. If both use the same subscript, and the subscript differs from
//! iteration to iteration, they meet on an element only in one and the same iteration; there the read must come first.
//! A subscript differs if it is a number in mixed radix whose digits are the loop counters:
//!
//! ```text
//! i * 12 + j * 4 + k      with k in 0..4, j in 0..3: every (i, j, k) has an element of its own, whatever i's extent
//! i * m + j               with j in 0..m
//! i * 4 + j               with j in 0..5: (0, 4) and (1, 0) are the same element, no proof
//! ```
//!
//! A counter is one digit; what it is multiplied by is the digit's *weight*, and the number of its iterations is how
//! many values the digit takes. Subscripts and counts are polynomials over *atoms*: counters, values from outside, and
//! expressions that are neither sum nor product. Memory is counted in units, and an access touches `width` of them.
//!
//! A [`Nest`] is the list of steps with resolved subscripts, and a [`Touch`] is what one access touches: `first` is its
//! subscript, and `lanes` times `width` units are touched, `stride` apart.

use std::collections::HashMap;

use super::polynomial::{Atom, Atoms, Kind, Polynomial};
use super::resolve::{Nest, Node, Side, Touch};
use super::{Order, Question};

/// A loop around an access.
#[derive(Clone)]
struct Level {
    /// The counter; a loop without a count has a counter that no subscript mentions.
    counter: Option<Atom>,
    /// The position of the loop in the text, which tells loops apart.
    position: usize,
    /// The number of iterations; `None` for a repetition of which it is not known.
    count: Option<Polynomial>,
    order: Order,
}

/// An access with the loops around it and its position in the text.
struct Access<'a> {
    touch: &'a Touch,
    writes: bool,
    /// The loops around it, outermost first.
    levels: Vec<Level>,
    position: usize,
}

/// Whether no read of one buffer can find what was written for the other.
pub(super) fn proves(nest: &Nest, question: Question) -> bool {
    let mut accesses = Vec::new();
    collect(&nest.nodes, &mut Vec::new(), &mut 0, &mut accesses);
    let any =
        |side: Side, writes: bool| accesses.iter().any(|access| access.touch.side == side && access.writes == writes);
    // The output must not be read at all: whether each element was written before is for the other proof to see. And if
    // the output is needed afterwards, nothing may be written for the input, since that could overwrite the output.
    if any(Side::Output, false) || question.needed_after && any(Side::Input, true) {
        return false;
    }
    let of = |side: Side, writes: bool| {
        accesses.iter().filter(move |access| access.touch.side == side && access.writes == writes)
    };
    of(Side::Output, true).all(|write| of(Side::Input, false).all(|read| reads_first(read, write, &nest.atoms)))
}

/// Adds to `found` all accesses that read, or change, memory. `levels` has the loops around `nodes`, and `position`
/// counts the nodes in the order of the text.
fn collect<'a>(nodes: &'a [Node], levels: &mut Vec<Level>, position: &mut usize, found: &mut Vec<Access<'a>>) {
    for node in nodes {
        *position += 1;
        let here = *position;
        match node {
            Node::Loop { counter, count, order, body } => {
                let level =
                    Level { counter: Some(*counter), position: here, count: Some(count.clone()), order: *order };
                levels.push(level);
                collect(body, levels, position, found);
                levels.pop();
            }
            // A repetition without a known counter or count is still a level: accesses of different rounds must not be
            // taken for accesses of one iteration.
            Node::Repeat(body) => {
                levels.push(Level { counter: None, position: here, count: None, order: Order::Serial });
                collect(body, levels, position, found);
                levels.pop();
            }
            // Both sides of a branch count. Which of them runs is not known, and an access that never happens can only
            // make the proof harder.
            Node::Branch { then, otherwise, .. } => {
                collect(then, levels, position, found);
                collect(otherwise, levels, position, found);
            }
            Node::Read(touch) => found.push(Access { touch, writes: false, levels: levels.clone(), position: here }),
            // A write that keeps the old content changes nothing, so no read can miss anything because of it.
            Node::Write { keeps: true, .. } => {}
            Node::Write { touch, .. } => {
                found.push(Access { touch, writes: true, levels: levels.clone(), position: here });
            }
        }
    }
}

/// Whether the read never finds an element that the write has overwritten.
fn reads_first(read: &Access<'_>, write: &Access<'_>, atoms: &Atoms) -> bool {
    // In one iteration of the loops around both, what stands first in the text runs first.
    if read.position > write.position {
        return false;
    }
    let shared = read.levels.iter().zip(&write.levels).take_while(|(a, b)| a.position == b.position).count();
    // If no loop is around both, all iterations of the loops around the read have ended before the write begins.
    shared == 0 || same_elements(read, write, shared, atoms) && differs(write.touch, &write.levels, atoms)
}

/// Whether read and write use the same subscript. The first `shared` loops are around both. The loops further inside
/// are different ones for the two, such as two loops one after the other: they are matched by depth, must have the
/// same number of iterations, and the read's counters are renamed to the write's.
fn same_elements(read: &Access<'_>, write: &Access<'_>, shared: usize, atoms: &Atoms) -> bool {
    if read.levels.len() != write.levels.len() {
        return false;
    }
    // The read's counters, and what the write calls them.
    let mut names = HashMap::new();
    for (from, to) in read.levels.iter().zip(&write.levels).skip(shared) {
        let (Some(old), Some(new)) = (from.counter, to.counter) else { return false };
        let count = from.count.as_ref().and_then(|count| count.renamed(&names, atoms));
        if count != to.count || from.order != to.order {
            return false;
        }
        names.insert(old, new);
    }
    let first = read.touch.first.renamed(&names, atoms);
    first.is_some_and(|first| Touch { first, ..read.touch.clone() }.covers_same(write.touch))
}

/// One digit of a subscript: what it counts for, and how many values it takes.
struct Digit {
    weight: Polynomial,
    count: Polynomial,
}

/// Whether accesses in different iterations touch different units. Iterations of private loops are not compared, since
/// each has memory of its own.
///
/// Digits are taken from the lowest weight upwards. If each weight is at least as large as what all lower digits can
/// add up to, no two combinations of digits give the same unit. For `i * 12 + j * 4 + k` with width 1: k has weight 1
/// >= 1, and below it are the units 0..4; j has weight 4 >= 4, below are 0..12; i has weight 12 >= 12.
fn differs(touch: &Touch, levels: &[Level], atoms: &Atoms) -> bool {
    let Some(mut digits) = digits(touch, levels, atoms) else { return false };
    // The digits looked at so far, with the width of the access, touch units in [0, reach) only.
    let mut reach = Polynomial::number(touch.width);
    while !digits.is_empty() {
        let Some(position) = digits.iter().position(|digit| is_at_least(&digit.weight, &reach)) else { return false };
        let digit = smallest(&mut digits, position, &reach);
        // If the next reach does not fit into 64 bits, the proof only succeeds if no digit is left to compare with it.
        let Some(next) = beyond(&digit, &reach) else { return digits.is_empty() };
        reach = next;
    }
    true
}

/// Takes a digit whose weight is at least `reach` out of the list: the one of the smallest constant weight, or the
/// one at `position` if none is constant, so that weights cannot be compared.
fn smallest(digits: &mut Vec<Digit>, position: usize, reach: &Polynomial) -> Digit {
    let weight = |digit: &Digit| digit.weight.as_number().filter(|_| is_at_least(&digit.weight, reach));
    let least = (0..digits.len()).filter_map(|at| Some((weight(&digits[at])?, at))).min();
    digits.swap_remove(least.map_or(position, |(_, at)| at))
}

/// The digits of a subscript: one for each loop around the access and, if it has several lanes, one for the lanes.
/// `None` if the subscript is no sum of counters with fixed weights, or if it does not depend on some loop that
/// repeats: the iterations of that loop then touch the same units.
fn digits(touch: &Touch, levels: &[Level], atoms: &Atoms) -> Option<Vec<Digit>> {
    let mut weights: HashMap<Atom, Polynomial> = HashMap::new();
    for (product, factor) in touch.first.terms() {
        // A term with no varying atom moves all accesses by the same distance. With one, which must be a counter, the
        // rest of the term adds to the counter's weight.
        let varying: Vec<Atom> = product.iter().copied().filter(|atom| !atoms.is_fixed(*atom)).collect();
        match varying.as_slice() {
            [] => {}
            [counter] if *atoms.kind(*counter) == Kind::Counter => {
                let mut fixed = product.iter().filter(|atom| *atom != counter).map(|atom| Polynomial::atom(*atom));
                let weight = fixed.try_fold(Polynomial::number(1), |weight, atom| weight.times(&atom))?;
                let before = weights.remove(counter).unwrap_or_default();
                weights.insert(*counter, before.plus(&weight, factor)?);
            }
            _ => return None,
        }
    }
    let mut digits = Vec::new();
    if touch.lanes > 1 {
        let weight = Polynomial::number(touch.stride.checked_abs()?);
        digits.push(Digit { weight, count: Polynomial::number(touch.lanes) });
    }
    for level in levels {
        let count = level.count.clone()?;
        let once = count.as_number().is_some_and(|count| count <= 1);
        let weight = level.counter.and_then(|counter| weights.remove(&counter));
        match weight {
            // A loop that runs at most once adds one fixed number. Private iterations never meet, and within one of
            // them its counter adds one fixed number.
            _ if once || level.order == Order::Private => {}
            Some(weight) => digits.push(Digit { weight: positive(weight)?, count }),
            None => return None,
        }
    }
    // A counter of a loop that is not around the access: the subscript is no function of the loops.
    weights.is_empty().then_some(digits)
}

/// The absolute value of a weight whose terms are all negative; any other weight as it is. A digit that counts
/// downwards touches as many different units as one that counts upwards. `None` if it does not fit into 64 bits.
fn positive(weight: Polynomial) -> Option<Polynomial> {
    let negative = weight.terms().all(|(_, factor)| factor < 0);
    if negative { weight.scaled(-1) } else { Some(weight) }
}

/// Whether `weight >= reach` wherever the loops run at all, that is with all counts at least 1. It is known if the two
/// differ by a constant, or if the weight is a multiple of the reach (`3·m` and `m`): a reach is never negative.
fn is_at_least(weight: &Polynomial, reach: &Polynomial) -> bool {
    let apart = weight.plus(reach, -1).and_then(|difference| difference.as_number());
    apart.is_some_and(|difference| difference >= 0) || weight.multiple_of(reach).is_some_and(|factor| factor >= 1)
}

/// What the digits up to this one stay below: `weight * (count - 1) + reach`. With symbols it is `weight * count`,
/// which is not less, because `reach <= weight`. `None` if it does not fit into 64 bits.
fn beyond(digit: &Digit, reach: &Polynomial) -> Option<Polynomial> {
    match (digit.weight.as_number(), digit.count.as_number(), reach.as_number()) {
        (Some(weight), Some(count), Some(reach)) => {
            weight.checked_mul(count.checked_sub(1)?.max(0))?.checked_add(reach).map(Polynomial::number)
        }
        _ => digit.weight.times(&digit.count),
    }
}
