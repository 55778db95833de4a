//! How many bytes of scratch memory a kernel asks for, in terms of the shapes of its operator's tensors.
//!
//! An amount is a number, or a multiple of something that is counted, with a
//! number added or taken away:
//!
//! ```text
//!   80
//!   4 * output 0                                            an int32 for each element of the first output
//!   2 * last dimension of output 0 - 4                      what the kernel of a Fourier transform asks for
//!   4 * dimension 0 of input 0 * dimension 0 of input 1     batches times filters
//! ```
//!
//! | what is counted | |
//! |---|---|
//! | `input 1`, `output 0` | elements of the tensor |
//! | `bytes of input 1` | its bytes |
//! | `rank of input 0` | its dimensions |
//! | `dimension 0 of input 1`, `last dimension of output 0` | the size of one dimension |
//! | `inputs`, `outputs` | tensors of the operator |

use memplan_core::MAX_BYTES;
use serde::Deserialize;

use super::scratch::Operator;
use crate::graph::Tensor;

/// `factor * counted * … + rest`; only `rest` if nothing is counted. A file of kernels' needs has it as a text.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub(super) struct Amount {
    factor: u64,
    counted: Vec<Counted>,
    rest: i64,
}

/// What an amount counts; the table of the module documentation has the words for each.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub(super) enum Counted {
    Elements(Place),
    Bytes(Place),
    Rank(Place),
    Dimension(usize, Place),
    LastDimension(Place),
    Inputs,
    Outputs,
}

/// A tensor of the operator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    Input(usize),
    Output(usize),
}

impl Place {
    /// Reads the two words of a tensor, for example `input` and `0`; `None` if they are others.
    fn parse(side: &str, number: &str) -> Option<Place> {
        match side {
            "input" => number.parse().ok().map(Place::Input),
            "output" => number.parse().ok().map(Place::Output),
            _ => None,
        }
    }
}

impl Counted {
    /// Reads what is counted, for example `bytes of input 0`; `None` if the words say nothing that can be counted.
    fn parse(words: &[&str]) -> Option<Counted> {
        match words {
            ["inputs"] => Some(Counted::Inputs),
            ["outputs"] => Some(Counted::Outputs),
            [side, number] => Place::parse(side, number).map(Counted::Elements),
            ["bytes", "of", side, number] => Place::parse(side, number).map(Counted::Bytes),
            ["rank", "of", side, number] => Place::parse(side, number).map(Counted::Rank),
            ["last", "dimension", "of", side, number] => Place::parse(side, number).map(Counted::LastDimension),
            ["dimension", axis, "of", side, number] => {
                Some(Counted::Dimension(axis.parse().ok()?, Place::parse(side, number)?))
            }
            _ => None,
        }
    }

    /// How many there are; `None` if the operator has no such tensor or dimension.
    pub(super) fn of(self, operator: &Operator) -> Option<u64> {
        let tensor = |place: Place| operator.tensor(place);
        match self {
            Counted::Elements(place) => elements(tensor(place)?),
            Counted::Bytes(place) => Some(tensor(place)?.bytes.0),
            Counted::Rank(place) => Some(tensor(place)?.shape.len() as u64),
            Counted::Dimension(axis, place) => tensor(place)?.shape.get(axis).copied(),
            Counted::LastDimension(place) => tensor(place)?.shape.last().copied(),
            Counted::Inputs => Some(operator.inputs.len() as u64),
            Counted::Outputs => Some(operator.outputs.len() as u64),
        }
    }
}

/// The number of elements of a tensor; `None` if it has 2^64 or more.
fn elements(tensor: &Tensor) -> Option<u64> {
    tensor.shape.iter().try_fold(1u64, |product, &dimension| product.checked_mul(dimension))
}

impl TryFrom<String> for Counted {
    type Error = String;

    fn try_from(text: String) -> Result<Counted, String> {
        let words: Vec<&str> = text.split_whitespace().collect();
        Counted::parse(&words).ok_or_else(|| format!("`{text}` is nothing to count; say what, as in \"output 0\""))
    }
}

impl TryFrom<String> for Amount {
    type Error = String;

    fn try_from(text: String) -> Result<Amount, String> {
        Amount::parse(&text)
            .ok_or_else(|| format!("`{text}` is no amount; write a number or, say, \"4 * output 0 + 16\""))
    }
}

impl Amount {
    /// A number of bytes for each thing that is counted, and bytes on top. If nothing is counted, the amount is `rest`,
    /// whatever the factor.
    pub(super) fn new(factor: u64, counted: Vec<Counted>, rest: i64) -> Amount {
        Amount { factor, counted, rest }
    }

    /// Reads an amount: a number, or a product such as `2 * dimension 3 of input 0 + 16`. `None` if it is neither.
    fn parse(text: &str) -> Option<Amount> {
        // All numbers in an amount are below 2^32, so that sums and signs below cannot overflow.
        let number = |word: &str| word.parse::<u32>().ok().map(i64::from);
        if let Some(rest) = number(text.trim()) {
            return Some(Amount::new(0, Vec::new(), rest));
        }
        // First the number that is added or taken away at the end, then the factor in front, then what is counted.
        let words: Vec<&str> = text.split_whitespace().collect();
        let (product, rest) = match words.as_slice() {
            [product @ .., "+", last] => (product, number(last)?),
            [product @ .., "-", last] => (product, -number(last)?),
            all => (all, 0),
        };
        // A product may begin with a number; without one, the factor is 1.
        let mut factors = product.split(|&word| word == "*").peekable();
        let factor = factors.next_if(|first| matches!(first, [word] if number(word).is_some()));
        let factor = factor.map_or(Some(1), |first| first.concat().parse().ok())?;
        let counted = factors.map(Counted::parse).collect::<Option<Vec<_>>>()?;
        (!counted.is_empty()).then(|| Amount::new(factor, counted, rest))
    }

    /// The amount in bytes for an operator; `None` if it counts a tensor or dimension that the operator does not
    /// have, or if the bytes are 2^63 or more. An amount below zero is 0.
    pub(super) fn bytes(&self, operator: &Operator) -> Option<u64> {
        let multiply = |product: u64, counted: &Counted| product.checked_mul(counted.of(operator)?);
        let product = if self.counted.is_empty() { 0 } else { self.counted.iter().try_fold(self.factor, multiply)? };
        let bytes = product.saturating_add_signed(self.rest);
        (bytes <= MAX_BYTES).then_some(bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_are_read() {
        let [input, output] = [Place::Input(1), Place::Output(0)];
        for (text, expected) in [
            ("80", Some((0, vec![], 80))),
            ("inputs", Some((1, vec![Counted::Inputs], 0))),
            ("4 * output 0", Some((4, vec![Counted::Elements(output)], 0))),
            ("2 * last dimension of output 0 - 4", Some((2, vec![Counted::LastDimension(output)], -4))),
            ("dimension 3 of input 1 + 8", Some((1, vec![Counted::Dimension(3, input)], 8))),
            ("4 * rank of input 1 * outputs", Some((4, vec![Counted::Rank(input), Counted::Outputs], 0))),
            ("4 *", None),
            ("4 * 4", None),
            ("-3", None),
            ("4 * result 0", None),
            ("", None),
        ] {
            let found = Amount::try_from(text.to_owned());
            assert_eq!(
                found.ok(),
                expected.map(|(factor, counted, rest)| Amount::new(factor, counted, rest)),
                "{text}"
            );
        }
    }
}
