//! Arithmetic of shapes: broadcasting, windows, axes. All functions give `None` where shapes do not fit together or a
//! number overflows.

/// The shape that two shapes broadcast to, as in numpy: aligned at their last dimensions, and a dimension of 1 or a
/// missing one takes on the other's length. `[2, 3, 4]` and `[3, 1]` give `[2, 3, 4]`. `None` if two dimensions do
/// not fit.
pub(super) fn broadcast(one: &[u64], other: &[u64]) -> Option<Vec<u64>> {
    let rank = one.len().max(other.len());
    // The shorter shape counts as 1 in the leading dimensions that it lacks.
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

/// The place of an axis among `rank` dimensions; a negative number counts from the end. `None` if there is no such
/// axis.
pub(super) fn axis(number: i64, rank: usize) -> Option<usize> {
    let number = if number < 0 { number.checked_add(i64::try_from(rank).ok()?)? } else { number };
    usize::try_from(number).ok().filter(|&axis| axis < rank)
}

/// The places of several axes, sorted and without repetitions.
pub(super) fn axes(numbers: &[i64], rank: usize) -> Option<Vec<usize>> {
    let mut axes: Vec<usize> = numbers.iter().map(|&number| axis(number, rank)).collect::<Option<_>>()?;
    axes.sort_unstable();
    axes.dedup();
    Some(axes)
}

/// The number of elements of a tensor of this shape: 1 for a scalar, whose shape is empty. `None` if it has 2^64 or
/// more.
pub(super) fn elements(shape: &[u64]) -> Option<u64> {
    shape.iter().try_fold(1u64, |product, &dimension| product.checked_mul(dimension))
}

/// How the window of a convolution or pooling moves over the spatial dimensions of a tensor: those that follow batch
/// and channels. `kernel` has an entry for each spatial dimension; the other lists may be shorter or empty.
///
/// ```text
///   one dimension of 5 elements with 1 of padding at each end, a window of 3, a stride of 2: 3 outputs
///
///      . 0 1 2 3 4 .
///      └───┘            output 0
///          └───┘        output 1
///              └───┘    output 2
/// ```
#[derive(Clone, Debug, Default)]
pub(super) struct Sliding {
    /// Elements of the window.
    pub(super) kernel: Vec<u64>,
    /// How far the window moves from one output to the next; 1 where it is not given.
    pub(super) strides: Vec<u64>,
    /// How far two neighbouring elements of the window lie apart; 1 where it is not given.
    pub(super) dilations: Vec<u64>,
    /// Elements of padding: first those at the start of each dimension, then those at the end of each dimension.
    /// Negative padding cuts elements off.
    pub(super) pads: Vec<i64>,
    /// Where the padding comes from.
    pub(super) auto_pad: AutoPad,
    /// The attribute `ceil_mode`: whether there is one more output if the last window reaches beyond the padding.
    pub(super) ceil: bool,
}

/// Where the padding of a window comes from: the attribute `auto_pad` of ONNX.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum AutoPad {
    /// From `pads`.
    #[default]
    Explicit,
    /// `SAME_UPPER` and `SAME_LOWER`: as much as it takes for `size / stride` outputs, rounded up.
    Same,
    /// There is none.
    Valid,
}

impl Sliding {
    /// The stride or dilation of the dimension `place`, counted from the first spatial one: 1 where none is given, or
    /// where the file has 0.
    fn at(numbers: &[u64], place: usize) -> u64 {
        numbers.get(place).copied().unwrap_or(1).max(1)
    }

    /// Elements of padding around a dimension, both sides together.
    fn padding(&self, place: usize) -> Option<i64> {
        let rank = self.kernel.len();
        let pad = |index: usize| self.pads.get(index).copied().unwrap_or(0);
        pad(place).checked_add(pad(place + rank))
    }

    /// How many outputs there are along each spatial dimension; `spatial` are the lengths of the input. `None` if
    /// `spatial` and the kernel have different numbers of dimensions, or if [`output`](Sliding::output) is `None`.
    pub(super) fn outputs(&self, spatial: &[u64]) -> Option<Vec<u64>> {
        if spatial.len() != self.kernel.len() {
            return None;
        }
        spatial.iter().enumerate().map(|(place, &size)| self.output(place, size)).collect()
    }

    /// How many elements lie from the first to the last element of the window along a dimension. A kernel of 3 with a
    /// dilation of 2 reaches over 5.
    fn reach(&self, place: usize) -> Option<u64> {
        self.kernel[place].checked_sub(1)?.checked_mul(Sliding::at(&self.dilations, place))?.checked_add(1)
    }

    /// How many outputs there are along a dimension of this size: one, and one more for each stride that the window can
    /// move. `None` if the window is larger than the padded dimension, if the kernel has a length of 0, or if a number
    /// overflows.
    fn output(&self, place: usize, size: u64) -> Option<u64> {
        let stride = Sliding::at(&self.strides, place);
        let reach = self.reach(place)?;
        if self.auto_pad == AutoPad::Same {
            return Some(size.div_ceil(stride));
        }
        let padding = if self.auto_pad == AutoPad::Valid { 0 } else { self.padding(place)? };
        // `room` is how far the window can move: the padded length without the window itself.
        let padded = i64::try_from(size).ok()?.checked_add(padding)?;
        let room = u64::try_from(padded).ok()?.checked_sub(reach)?;
        let steps = if self.ceil { room.div_ceil(stride) } else { room / stride };
        Some(steps + 1)
    }

    /// How many outputs a transposed convolution has along each spatial dimension; `output_padding` is how many more
    /// the node asks for.
    pub(super) fn transposed(&self, spatial: &[u64], output_padding: &[u64]) -> Option<Vec<u64>> {
        if spatial.len() != self.kernel.len() {
            return None;
        }
        let extra = |place: usize| output_padding.get(place).copied().unwrap_or(0);
        spatial.iter().enumerate().map(|(place, &size)| self.transposed_output(place, size, extra(place))).collect()
    }

    /// How many outputs a transposed convolution has along a dimension of this size. Each input writes a whole
    /// window, and windows start a stride apart; the padding is cut off from the result, and `extra` elements are
    /// added.
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
