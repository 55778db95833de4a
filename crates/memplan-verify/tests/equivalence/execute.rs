//! Runs a network on numbers: what an op does, straight from its definition.

use memplan_verify::equivalence::{Axis, Meaning, Network, Op, Slide};

use crate::networks::{ZERO, content};

/// A tensor with its numbers, the last dimension innermost.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Numbers {
    pub(crate) shape: Vec<i64>,
    pub(crate) values: Vec<i64>,
}

impl Numbers {
    /// The element at a place, if there is one.
    fn at(&self, place: &[i64]) -> Option<i64> {
        let mut index = 0;
        for (place, extent) in place.iter().zip(&self.shape) {
            if !(0..*extent).contains(place) {
                return None;
            }
            index = index * extent + place;
        }
        (place.len() == self.shape.len()).then(|| self.values[index as usize])
    }

    /// A tensor of three dimensions, element by element.
    fn each(shape: &[i64], mut element: impl FnMut(&[i64]) -> Option<i64>) -> Option<Numbers> {
        let &[rows, columns, channels] = shape else { return None };
        let mut values = Vec::new();
        for row in 0..rows {
            for column in 0..columns {
                for channel in 0..channels {
                    values.push(element(&[row, column, channel])?);
                }
            }
        }
        Some(Numbers { shape: shape.to_vec(), values })
    }
}

/// The outputs of a network, and how often an op with an effect ran; `None` if its shapes contradict each other.
pub(crate) fn run(network: &Network, inputs: &[Numbers]) -> Option<(Vec<Numbers>, i64)> {
    let mut tensors: Vec<Option<Numbers>> = vec![None; network.tensors.len()];
    for (&tensor, numbers) in network.inputs.iter().zip(inputs) {
        tensors[tensor] = Some(numbers.clone());
    }
    let mut effects = 0;
    for op in &network.ops {
        let result = op.results[0]?;
        let shape = network.tensors[result].shape.as_deref()?;
        let operands: Vec<&Numbers> = op.operands.iter().filter_map(|operand| tensors[(*operand)?].as_ref()).collect();
        let numbers = match op.kind.as_str() {
            "CONV" => {
                let weights = network.tensors[(*op.operands.get(1)?)?].content?;
                let seed = (0..=255).find(|&seed| content(seed) == weights)?;
                convolution(op, operands.first()?, i64::from(seed), shape)?
            }
            "NOISE" => {
                effects += 1;
                Numbers::each(shape, |place| Some(mixed(operands.first()?.at(place)? + 17 * effects)))?
            }
            _ => plain(op, &operands, shape)?,
        };
        tensors[result] = Some(numbers);
    }
    let outputs = network.outputs.iter().map(|&output| tensors[output].clone()).collect::<Option<_>>()?;
    Some((outputs, effects))
}

/// Keeps numbers in the range of a byte.
fn mixed(number: i64) -> i64 {
    number.rem_euclid(251) - 125
}

fn slides(op: &Op) -> Option<[Slide; 2]> {
    let Meaning::Window(window) = &op.meaning else { return None };
    match window.axes.as_slice() {
        [Axis::Slide(rows), Axis::Slide(columns), _] => Some([*rows, *columns]),
        _ => None,
    }
}

/// The places that a window reads, along rows and columns.
fn taps(slides: [Slide; 2], place: &[i64]) -> impl Iterator<Item = (i64, i64, i64, i64)> {
    let tap = move |axis: usize, place: i64, tap: i64| {
        place * slides[axis].stride - slides[axis].before + tap * slides[axis].dilation
    };
    let (row, column) = (place[0], place[1]);
    (0..slides[0].size).flat_map(move |i| (0..slides[1].size).map(move |j| (i, j, tap(0, row, i), tap(1, column, j))))
}

fn convolution(op: &Op, input: &Numbers, seed: i64, shape: &[i64]) -> Option<Numbers> {
    let slides = slides(op)?;
    Numbers::each(shape, |place| {
        let mut sum = seed;
        for (i, j, row, column) in taps(slides, place) {
            for channel in 0..input.shape[2] {
                // Outside of the input nothing is added.
                let element = input.at(&[row, column, channel]).unwrap_or(ZERO.into()) - i64::from(ZERO);
                let weight = (seed + 3 * i + 5 * j + 11 * channel + 13 * place[2]) % 19 - 9;
                sum += element * weight;
            }
        }
        Some(mixed(sum))
    })
}

fn plain(op: &Op, operands: &[&Numbers], shape: &[i64]) -> Option<Numbers> {
    let first = *operands.first()?;
    match (op.kind.as_str(), &op.meaning) {
        ("ADD", _) => {
            let second = *operands.get(1)?;
            let is_same = first.shape == shape && second.shape == shape;
            Numbers::each(shape, |place| Some(mixed(first.at(place)? + 3 * second.at(place)?))).filter(|_| is_same)
        }
        ("RELU", _) => {
            Numbers::each(shape, |place| first.at(place).map(|x| mixed(x * x + x))).filter(|_| first.shape == shape)
        }
        ("RELU6", _) => Numbers::each(shape, |place| first.at(place).map(|x| mixed(x * x + 2 * x))),
        ("SOFTMAX", _) => Numbers::each(shape, |place| {
            let sum: i64 = (0..first.shape[2]).filter_map(|channel| first.at(&[place[0], place[1], channel])).sum();
            Some(mixed(5 * first.at(place)? + sum))
        }),
        ("REPEAT", _) => Numbers::each(shape, |place| {
            let element = first.at(&[place[0] / 2, place[1] / 3, place[2]])?;
            Some(mixed(element + place[0] % 2 + 2 * (place[1] % 3)))
        })
        .filter(|_| shape[0] == 2 * first.shape[0] && shape[1] == 3 * first.shape[1]),
        ("MAX" | "AVERAGE", _) => {
            let slides = slides(op)?;
            Numbers::each(shape, |place| {
                let read: Vec<i64> =
                    taps(slides, place).filter_map(|(_, _, row, column)| first.at(&[row, column, place[2]])).collect();
                Some(match op.kind.as_str() {
                    "MAX" => read.iter().copied().max().unwrap_or(i8::MIN.into()).max(i8::MIN.into()),
                    _ => mixed(read.iter().sum::<i64>() + 29 * read.len() as i64),
                })
            })
        }
        (_, Meaning::Slice { starts, .. }) => Numbers::each(shape, |place| {
            let there: Vec<i64> = place.iter().zip(&starts[0]).map(|(place, start)| place + start).collect();
            first.at(&there)
        }),
        (_, Meaning::Pad { before, fill }) => {
            let fits = before
                .iter()
                .zip(&first.shape)
                .zip(shape)
                .all(|((before, old), new)| *before >= 0 && before + old <= *new);
            let fill = i64::from(i8::from_le_bytes([*fill.first()?]));
            Numbers::each(shape, |place| {
                let there: Vec<i64> = place.iter().zip(before).map(|(place, before)| place - before).collect();
                Some(first.at(&there).unwrap_or(fill))
            })
            .filter(|_| fits)
        }
        (_, Meaning::Concat { axis }) => {
            let total: i64 = operands.iter().map(|operand| operand.shape[*axis]).sum();
            let joined = Numbers::each(shape, |place| {
                let mut place = place.to_vec();
                for operand in operands {
                    if place[*axis] < operand.shape[*axis] {
                        return operand.at(&place);
                    }
                    place[*axis] -= operand.shape[*axis];
                }
                None
            });
            joined.filter(|_| total == shape[*axis])
        }
        _ => None,
    }
}
