//! A node together with what is known about its inputs: the argument of the rules for shapes (`rules`) and of those for
//! the content of small tensors (`evaluate`).

use super::draft::{Facts, Node};
use super::shape::axis;

// The numbers of element types in ONNX files. 0 stands for a type that is not known.
pub(super) const FLOAT: usize = 1;
pub(super) const UINT8: usize = 2;
/// The numbers of the element types that are whole numbers (of 8 to 64 bits, signed or not) or truth values.
pub(super) const INTEGERS: [usize; 9] = [2, 3, 4, 5, 6, 7, 9, 12, 13];
pub(super) const INT32: usize = 6;
pub(super) const INT64: usize = 7;
pub(super) const BOOL: usize = 9;

/// What a rule says about one output of a node.
#[derive(Clone, Debug, Default)]
pub(super) struct Found {
    /// The number of its element type; 0 if it is not known.
    pub(super) element: usize,
    /// Its shape; `None` if it is not known.
    pub(super) shape: Option<Vec<u64>>,
    /// The shape is an upper bound; the real one depends on the content of tensors.
    pub(super) is_bound: bool,
}

impl Found {
    /// An output with this element type and this shape. The shape is exact.
    pub(super) fn new(element: usize, shape: Option<Vec<u64>>) -> Self {
        Self { element, shape, is_bound: false }
    }
}

/// A node and what is known about its inputs.
pub(super) struct Context<'a> {
    pub(super) node: &'a Node,
    /// What is known about each input; `None` for an optional input that is left out.
    pub(super) facts: Vec<Option<&'a Facts>>,
}

impl Context<'_> {
    /// What is known about an input; nothing if the node does not have it.
    pub(super) fn facts(&self, index: usize) -> Option<&Facts> {
        self.facts.get(index).copied().flatten()
    }

    /// The shape of an input, if it is known.
    pub(super) fn shape(&self, index: usize) -> Option<&[u64]> {
        self.facts(index)?.shape.as_deref()
    }

    /// The content of an input, if it is a short list of integers.
    pub(super) fn numbers(&self, index: usize) -> Option<&[i64]> {
        self.facts(index)?.numbers.as_deref()
    }

    /// Whether the elements of an input are integers or truth values.
    pub(super) fn is_integer(&self, index: usize) -> bool {
        INTEGERS.contains(&self.element(index))
    }

    /// Which dimensions of its input a `Shape` node lists: all, or those from its attribute `start` to its attribute
    /// `end`. The input has `rank` dimensions.
    pub(super) fn shape_window(&self, rank: usize) -> std::ops::Range<usize> {
        let start = place_in(self.int("start", 0), rank);
        start..place_in(self.int("end", rank as i64), rank).max(start)
    }

    /// The number of the element type of an input; 0 if it is not known.
    pub(super) fn element(&self, index: usize) -> usize {
        self.facts(index).map_or(0, |facts| facts.element)
    }

    /// The integer of the attribute `name`; `default` if the node does not have the attribute.
    pub(super) fn int(&self, name: &str, default: i64) -> i64 {
        self.node.attribute(name).map_or(default, |attribute| attribute.int)
    }

    /// The integers of the attribute `name`; `None` if the node does not have the attribute.
    pub(super) fn ints(&self, name: &str) -> Option<&[i64]> {
        self.node.attribute(name).map(|attribute| attribute.ints.as_slice())
    }

    /// The attribute of this name as a list of numbers that cannot be negative, such as strides. A negative number, in
    /// a damaged file, counts as 1. Empty if the node does not have the attribute.
    pub(super) fn counts(&self, name: &str) -> Vec<u64> {
        let numbers = self.ints(name).unwrap_or_default();
        numbers.iter().map(|&number| u64::try_from(number).unwrap_or(1)).collect()
    }

    /// A list of numbers that is an attribute in old versions of ONNX and the content of an input in new ones. `None`
    /// if there is neither, or if the content of the input is not known.
    pub(super) fn listed(&self, name: &str, input: usize) -> Option<Vec<i64>> {
        match self.ints(name) {
            Some(numbers) => Some(numbers.to_vec()),
            None => self.numbers(input).map(<[i64]>::to_vec),
        }
    }

    /// The attribute `axis` as a place among the dimensions; negative numbers count from the end.
    pub(super) fn axis(&self, default: i64, rank: usize) -> Option<usize> {
        axis(self.int("axis", default), rank)
    }

    /// A finding about one output: it has the element type of the first input and this shape. Always `Some`, so that a
    /// rule can end with it.
    pub(super) fn one(&self, shape: Option<Vec<u64>>) -> Option<Vec<Found>> {
        Some(vec![Found::new(self.element(0), shape)])
    }

    /// The shape of the first input.
    pub(super) fn same_shape(&self) -> Option<Vec<u64>> {
        self.shape(0).map(<[u64]>::to_vec)
    }

    /// A finding about one output, with an element type that may differ from that of the inputs. Always `Some`.
    pub(super) fn typed(&self, element: usize, shape: Option<Vec<u64>>) -> Option<Vec<Found>> {
        Some(vec![Found::new(element, shape)])
    }
}

/// A place from 0 to `rank`; a negative number counts from the end, and a number outside is moved to the nearest place.
fn place_in(number: i64, rank: usize) -> usize {
    let number = if number < 0 { number.saturating_add(rank as i64) } else { number };
    usize::try_from(number.max(0)).unwrap_or(rank).min(rank)
}
