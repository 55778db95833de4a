//! Arithmetic of shapes: broadcasting, windows, axes.

/// The shape that two broadcast to; `None` if they do not.
pub(super) fn broadcast(one: &[u64], other: &[u64]) -> Option<Vec<u64>> {
    let rank = one.len().max(other.len());
    let dimension = |shape: &[u64], axis: usize| (axis + shape.len()).checked_sub(rank).map_or(1, |place| shape[place]);
    (0..rank).map(|axis| joined(dimension(one, axis), dimension(other, axis))).collect()
}

/// What two dimensions broadcast to: a dimension of 1 takes on any other.
fn joined(one: u64, other: u64) -> Option<u64> {
    match (one, other) {
        (a, b) if a == b => Some(a),
        (1, b) => Some(b),
        (a, 1) => Some(a),
        _ => None,
    }
}

/// An axis counted from the end if it is negative.
pub(super) fn axis(number: i64, rank: usize) -> Option<usize> {
    let number = if number < 0 { number.checked_add(i64::try_from(rank).ok()?)? } else { number };
    usize::try_from(number).ok().filter(|&axis| axis < rank)
}

/// Several axes, sorted.
pub(super) fn axes(numbers: &[i64], rank: usize) -> Option<Vec<usize>> {
    let mut axes: Vec<usize> = numbers.iter().map(|&number| axis(number, rank)).collect::<Option<_>>()?;
    axes.sort_unstable();
    axes.dedup();
    Some(axes)
}

/// Number of elements.
pub(super) fn elements(shape: &[u64]) -> Option<u64> {
    shape.iter().try_fold(1u64, |product, &dimension| product.checked_mul(dimension))
}

/// How a window moves over the spatial dimensions of a tensor.
#[derive(Clone, Debug, Default)]
pub(super) struct Sliding {
    pub(super) kernel: Vec<u64>,
    pub(super) strides: Vec<u64>,
    pub(super) dilations: Vec<u64>,
    /// Before all dimensions, then behind all.
    pub(super) pads: Vec<i64>,
    pub(super) auto_pad: AutoPad,
    pub(super) ceil: bool,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum AutoPad {
    #[default]
    Explicit,
    Same,
    Valid,
}

impl Sliding {
    fn at(numbers: &[u64], place: usize) -> u64 {
        numbers.get(place).copied().unwrap_or(1).max(1)
    }

    /// Bytes of padding around a dimension, both sides together.
    fn padding(&self, place: usize) -> Option<i64> {
        let rank = self.kernel.len();
        let pad = |index: usize| self.pads.get(index).copied().unwrap_or(0);
        pad(place).checked_add(pad(place + rank))
    }

    /// Outputs along each spatial dimension.
    pub(super) fn outputs(&self, spatial: &[u64]) -> Option<Vec<u64>> {
        if spatial.len() != self.kernel.len() {
            return None;
        }
        spatial.iter().enumerate().map(|(place, &size)| self.output(place, size)).collect()
    }

    /// The places that the window covers along a dimension, with the gaps of its dilation.
    fn reach(&self, place: usize) -> Option<u64> {
        self.kernel[place].checked_sub(1)?.checked_mul(Sliding::at(&self.dilations, place))?.checked_add(1)
    }

    /// Outputs along a dimension of this size.
    fn output(&self, place: usize, size: u64) -> Option<u64> {
        let stride = Sliding::at(&self.strides, place);
        let reach = self.reach(place)?;
        if self.auto_pad == AutoPad::Same {
            return Some(size.div_ceil(stride));
        }
        let padding = if self.auto_pad == AutoPad::Valid { 0 } else { self.padding(place)? };
        let padded = i64::try_from(size).ok()?.checked_add(padding)?;
        let room = u64::try_from(padded).ok()?.checked_sub(reach)?;
        let steps = if self.ceil { room.div_ceil(stride) } else { room / stride };
        Some(steps + 1)
    }

    /// Outputs of the transposed operation along each spatial dimension.
    pub(super) fn transposed(&self, spatial: &[u64], output_padding: &[u64]) -> Option<Vec<u64>> {
        if spatial.len() != self.kernel.len() {
            return None;
        }
        let extra = |place: usize| output_padding.get(place).copied().unwrap_or(0);
        spatial.iter().enumerate().map(|(place, &size)| self.transposed_output(place, size, extra(place))).collect()
    }

    /// Outputs of a transposed window along a dimension of this size, and extra ones behind them.
    fn transposed_output(&self, place: usize, size: u64, extra: u64) -> Option<u64> {
        let stride = Sliding::at(&self.strides, place);
        if self.auto_pad == AutoPad::Same {
            return size.checked_mul(stride);
        }
        let reach = self.reach(place)?;
        let full = size.checked_sub(1)?.checked_mul(stride)?.checked_add(reach)?.checked_add(extra)?;
        let padding = if self.auto_pad == AutoPad::Valid { 0 } else { self.padding(place)? };
        u64::try_from(i64::try_from(full).ok()?.checked_sub(padding)?).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shapes_broadcast_from_the_right() {
        assert_eq!(broadcast(&[2, 3, 4], &[3, 1]), Some(vec![2, 3, 4]));
        assert_eq!(broadcast(&[], &[5]), Some(vec![5]));
        assert_eq!(broadcast(&[2, 3], &[2, 4]), None);
    }

    #[test]
    fn windows_move() {
        let window = Sliding { kernel: vec![3, 3], strides: vec![2, 2], pads: vec![1, 1, 1, 1], ..Sliding::default() };
        assert_eq!(window.outputs(&[224, 7]), Some(vec![112, 4]));
        let same = Sliding { auto_pad: AutoPad::Same, ..window.clone() };
        assert_eq!(same.outputs(&[7, 8]), Some(vec![4, 4]));
        assert_eq!(window.transposed(&[4, 4], &[1, 0]), Some(vec![8, 7]));
        let large = Sliding { kernel: vec![9], ..Sliding::default() };
        assert_eq!(large.outputs(&[4]), None);
    }

    #[test]
    fn axes_count_from_both_ends() {
        assert_eq!((axis(-1, 4), axis(4, 4), axis(-5, 4)), (Some(3), None, None));
        assert_eq!(axes(&[-1, 0, 3], 4), Some(vec![0, 3]));
    }
}
