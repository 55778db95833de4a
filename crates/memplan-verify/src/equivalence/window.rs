//! Convolutions and pools on a region: which part of the result they compute.
//!
//! A *tile* is an op of the new model that computes a part of what an op of the original computes, from a part of its
//! operand; the *halo* are the places at the edge of that part which neighbouring tiles hold as well. A *place* is the
//! index of an element along a dimension. A *view* says which region of which original tensor the tile's operand
//! equals, and which value its elements have where the region reaches beyond that tensor (its border).
//!
//! What a window does along a dimension is one of four kinds of [`Axis`]: place i of the result depends on place i of
//! the operand (`Along`), on all places (`Across`), on place i / factor (`Repeat`), or on `size` places that are
//! `dilation` apart and start at i * stride - before (`Slide`). The *neutral* value is the one with the same effect
//! as padding.
//!
//! Along a dimension in which it slides, the original's window for place `o` of its result starts at place `o *
//! stride - before` of its operand. A tile that holds places `low..high` and has its own `before` starts its first
//! window at `low - before`. That must be the start of one of the original's windows, and then every place of every
//! window is held against the original:
//!
//! ```text
//!   the original reads …       the tile reads …                        right?
//!   an element                 the same element                        yes
//!   an element                 its own padding: it does not hold it    no, the halo is too small
//!   its padding                its own padding                         yes
//!   its padding                an element of a border                  if it has the value of padding
//! ```
//!
//! Words from other files: [`Original`] answers questions about the original; `whole(t)` are all places of a tensor. A
//! [`Candidate`] is an op of the new model with the views of its operands, and a [`Mismatch`] says why two ops are not
//! the same.

use super::compare::{Candidate, is_whole, other_operand};
use super::network::{Axis, Slide, Window};
use super::original::Original;
use super::region::{Region, View};
use super::violation::{Mismatch, hex};

/// The check goes through a window place by place. A window longer than this along a dimension is refused, so that a
/// file cannot make the check run for hours.
const WINDOW: i64 = 1 << 16;

/// The region of the original's result that a convolution or pool of the new model computes, if it is the op `like`
/// of the original on a part of its operand. `now` and `old` are what is known about the windows of the two ops. The
/// error says which window of the new op does not read what the original's window reads.
pub(super) fn window(
    original: &Original,
    candidate: &Candidate,
    like: usize,
    now: &Window,
    old: &Window,
) -> Result<Region, Mismatch> {
    let before = &original.network.ops[like];
    let over = before.operands.get(old.operand).copied().flatten();
    let shape = candidate.shapes.first().copied().flatten();
    let (Some(over), Some(shape), true) = (over, shape, now.operand == old.operand) else {
        return Err(Mismatch::Moved { why: "it slides over another operand".to_owned() });
    };
    // Weights and biases are read whole, so they must equal the original's whole tensors. An operand that only says how
    // large the result is may differ, since a tile has another size.
    for (place, tensor) in before.operands.iter().enumerate().filter_map(|(place, tensor)| Some((place, (*tensor)?))) {
        let is_free = place == old.operand || (old.sized_by == Some(place) && now.sized_by == Some(place));
        if !is_free && !is_whole(original, candidate.views[place], tensor) {
            return Err(other_operand(original, candidate, place, tensor, like));
        }
    }
    // The operand may equal several regions of the original's operand. One that explains the op is enough; if none
    // does, the error is about the region that came closest.
    let mut nearest = None;
    let views = candidate.views[old.operand].iter().filter(|view| view.tensor == original.alike(over));
    for view in views {
        match (Sliding { original, view, like, now, old, shape }).region() {
            Ok(region) => return Ok(region),
            Err(mismatch) if nearest.as_ref().is_none_or(|nearest| *nearest < mismatch) => nearest = Some(mismatch),
            Err(_) => {}
        }
    }
    Err(nearest.unwrap_or_else(|| other_operand(original, candidate, old.operand, over, like)))
}

/// A window of the new model and the one of the original, over a view.
struct Sliding<'a> {
    original: &'a Original<'a>,
    /// What the tile's operand equals.
    view: &'a View,
    /// The op of the original.
    like: usize,
    /// The window of the new model.
    now: &'a Window,
    /// The window of the original.
    old: &'a Window,
    /// The shape of the tile's result.
    shape: &'a [i64],
}

impl Sliding<'_> {
    /// The region of the original's result that the tile computes, dimension by dimension. It may reach beyond that
    /// result where the view has a border; the caller refuses such a region ([`compare`](super::compare)).
    fn region(&self) -> Result<Region, Mismatch> {
        let Some(whole) = self.original.whole(self.view.tensor) else { return Err(self.other("its shape")) };
        let rank = whole.rank();
        if [self.shape.len(), self.now.axes.len(), self.old.axes.len(), self.view.region.rank()] != [rank; 4] {
            return Err(self.other("its number of dimensions"));
        }
        // An original without a known result could not be compared with the region, whatever its window does.
        let result = self.result_shape().ok_or_else(|| self.other("its result"))?;
        let mut low = Vec::with_capacity(rank);
        // Whether some window reads an element of the border of the view.
        let mut reads_border = false;
        for axis in 0..rank {
            low.push(match (self.now.axes[axis], self.old.axes[axis]) {
                // A place of the result for each place of the operand.
                (Axis::Along, Axis::Along) if self.shape[axis] != self.view.region.extent[axis] => {
                    return Err(self.other("how many places its result has"));
                }
                // A place in the border gives a place beyond the original's result, so all of them count as read.
                (Axis::Along, Axis::Along) => {
                    reads_border |= self.view.region.low[axis] < 0 || self.view.region.high(axis) > whole.extent[axis];
                    self.view.region.low[axis]
                }
                // Each place of the result needs all places of the operand, and no border. If the view is not just
                // that, the error names the last place.
                (Axis::Across, Axis::Across) if !self.is_whole(axis, &whole) => {
                    return Err(self.halo(axis, whole.extent[axis] - 1));
                }
                // How many places the result has does not follow from the operand, so the tile has all of them.
                (Axis::Across, Axis::Across) if result.get(axis) == Some(&self.shape[axis]) => 0,
                (Axis::Across, Axis::Across) => return Err(self.other("how many places its result has")),
                (Axis::Slide(now), Axis::Slide(old)) => self.slide(axis, now, old, &whole, &mut reads_border)?,
                (Axis::Repeat { factor }, Axis::Repeat { factor: before }) if factor == before => {
                    reads_border |= self.view.region.low[axis] < 0 || self.view.region.high(axis) > whole.extent[axis];
                    self.repeat(axis, factor)?
                }
                _ => return Err(self.other("what its window does along a dimension")),
            });
        }
        // Elements of a border may stand for the original's padding only if they have the value that padding counts as:
        // in the original, whose padding they replace, and in the tile's op, which computes with them. Without a read
        // of a border no element stands for padding, and the tile's own padding needs no value.
        let is_neutral =
            self.view.fill.is_some() && self.view.fill == self.old.neutral && self.now.neutral == self.old.neutral;
        if reads_border && !is_neutral {
            return Err(self.border());
        }
        Ok(Region { low, extent: self.shape.to_vec() })
    }

    /// The shape of the result of the original's op; `None` if it is not known.
    fn result_shape(&self) -> Option<&[i64]> {
        let result = self.original.network.ops[self.like].results.first().copied().flatten()?;
        self.original.network.tensors[result].shape.as_deref()
    }

    /// Whether the view has all places of the original tensor along a dimension, and no border.
    fn is_whole(&self, axis: usize, whole: &Region) -> bool {
        self.view.region.low[axis] == 0 && self.view.region.extent[axis] == whole.extent[axis]
    }

    /// Where the tile starts in the original's result along a dimension in which each place is repeated `factor`
    /// times. The result must be `factor` times as long as the operand.
    fn repeat(&self, axis: usize, factor: i64) -> Result<i64, Mismatch> {
        let (low, extent) = (self.view.region.low[axis], self.view.region.extent[axis]);
        let is_right = extent.checked_mul(factor) == Some(self.shape[axis]);
        low.checked_mul(factor).filter(|_| is_right).ok_or_else(|| self.other("the factor by which it repeats places"))
    }

    /// Where the tile starts in the original's result along a dimension in which a window slides. Notes whether it
    /// reads elements of a border.
    ///
    /// A *tap* is one of the `size` places that a window reads. Tap 0 of all windows of the tile together reads a
    /// progression of places that are `stride` apart; tap 1 reads the same places plus `dilation`, and so on. The loop
    /// goes over taps and not over windows: of each progression only the first and the last place inside a range have
    /// to be compared.
    fn slide(
        &self,
        axis: usize,
        now: Slide,
        old: Slide,
        whole: &Region,
        reads_border: &mut bool,
    ) -> Result<i64, Mismatch> {
        let is_same = (now.size, now.stride, now.dilation) == (old.size, old.stride, old.dilation);
        if !is_same || now.stride < 1 || now.dilation < 1 || !(1..=WINDOW).contains(&now.size) {
            return Err(self.other("the size, stride or dilation of its window"));
        }
        let (held_low, held_high) = (self.view.region.low[axis], self.view.region.high(axis));
        // The first window of the tile starts here, in places of the original's operand.
        let first = i128::from(held_low) - i128::from(now.before);
        // The original's window o starts at o * stride - before, so this must be a multiple of the stride.
        let ahead = first + i128::from(old.before);
        let off = ahead.rem_euclid(i128::from(old.stride));
        if off != 0 {
            let off = i64::try_from(off).unwrap_or(i64::MAX);
            return Err(Mismatch::OffStride { axis, like: self.like, off, stride: old.stride });
        }
        for tap in 0..now.size {
            let places = Progression {
                first: first + i128::from(tap) * i128::from(now.dilation),
                step: now.stride.into(),
                count: self.shape[axis].into(),
            };
            // The original reads an element there. The tile must hold it, else it would read its own padding.
            let read = places.within(0, whole.extent[axis].into());
            let held = i128::from(held_low)..i128::from(held_high);
            let mut ends = read.into_iter().flat_map(|(low, high)| [low, high]);
            if let Some(place) = ends.find(|place| !held.contains(place)) {
                return Err(self.halo(axis, i64::try_from(place).unwrap_or(i64::MAX)));
            }
            // At these places the original reads its padding. A tile that holds them has put a border there, and it
            // reads elements of that border.
            let in_front = places.within(held_low.into(), held_high.min(0).into());
            let behind = places.within(held_low.max(whole.extent[axis]).into(), held_high.into());
            *reads_border |= in_front.is_some() || behind.is_some();
        }
        i64::try_from(ahead / i128::from(old.stride)).map_err(|_| self.other("its place"))
    }

    /// The mismatch of something that the two ops have to have in common.
    fn other(&self, what: &str) -> Mismatch {
        Mismatch::Moved { why: format!("{what} is not that of op {}", self.like) }
    }

    /// The mismatch of a place that the original reads and the tile does not hold.
    fn halo(&self, axis: usize, place: i64) -> Mismatch {
        let tensor = self.original.network.tensors[self.view.tensor].name.clone();
        Mismatch::Halo { axis, like: self.like, place, tensor, held: self.view.region.clone() }
    }

    /// The mismatch of a border that does not have the effect of the original's padding.
    fn border(&self) -> Mismatch {
        let tensor = self.original.network.tensors[self.view.tensor].name.clone();
        let fill = self.view.fill.as_deref().map_or_else(|| "nothing".to_owned(), hex);
        let neutral = match &self.old.neutral {
            Some(neutral) => format!("padding that counts as {}", hex(neutral)),
            None => "padding that no element stands for".to_owned(),
        };
        Mismatch::Border { tensor, like: self.like, fill, neutral }
    }
}

/// The numbers `first`, `first + step`, …, `count` of them.
struct Progression {
    first: i128,
    step: i128,
    count: i128,
}

impl Progression {
    /// The least and the greatest of them in `low..high`; `None` if there is none.
    fn within(&self, low: i128, high: i128) -> Option<(i128, i128)> {
        // The index of the first one that is not below `low`: the distance divided by the step, rounded up. Then the
        // index of the last one below `high`.
        let least = (low - self.first).max(0).div_euclid(self.step)
            + i128::from((low - self.first).max(0).rem_euclid(self.step) != 0);
        let most = (high - 1 - self.first).div_euclid(self.step).min(self.count - 1);
        (least <= most).then(|| (self.first + least * self.step, self.first + most * self.step))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn progressions_within_ranges() {
        for first in -7..7 {
            for (step, count) in [(1, 4), (2, 3), (3, 5), (5, 1)] {
                let all: Vec<i128> = (0..count).map(|index| first + index * step).collect();
                for low in -8..12 {
                    for high in low..12 {
                        let inside: Vec<i128> = all.iter().copied().filter(|n| (low..high).contains(n)).collect();
                        let expected = inside.first().copied().zip(inside.last().copied());
                        assert_eq!(Progression { first, step, count }.within(low, high), expected);
                    }
                }
            }
        }
    }
}
