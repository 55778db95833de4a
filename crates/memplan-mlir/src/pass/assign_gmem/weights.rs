//! Weights come first: one behind the other, each at a multiple of the alignment.
//!
//! ```text
//!   base     | conv1 ....| pad |bias| pad ....| conv2 ...........| pad |   end: coeff_addr + coeff_size
//! ```
//!
//! Weights of functions with fixed shapes (*static* ones) come before those of others, so that
//! `dynamic_coeff_offset` tells the two apart. Weights whose contents are known to
//! be equal get one place. The weight file tells which are equal. Without a weight file, weights
//! are known to be equal if the module has been through this pass before and they had one
//! address there.

use std::collections::HashMap;

use memplan_core::{Bytes, IndexVec};

use super::chip::Chip;
use super::network::{Network, Weight, WeightId};
use crate::{Document, Type};

/// One array of a weight file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WeightArray {
    /// The number of its content: equal numbers, equal bytes.
    pub content: u64,
    /// How many elements it has in each dimension, and the bytes of an element; `None` if the file is compressed, so
    /// that its header is not read.
    pub shape: Option<(Vec<u64>, u64)>,
    /// Its bytes; in a compressed file together with its header of at least 16 bytes.
    pub bytes: u64,
}

/// The arrays of a weight file, by name.
///
/// Made by the code that reads the file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WeightContents {
    arrays: HashMap<String, WeightArray>,
}

impl FromIterator<(String, WeightArray)> for WeightContents {
    fn from_iter<I: IntoIterator<Item = (String, WeightArray)>>(arrays: I) -> WeightContents {
        WeightContents { arrays: arrays.into_iter().collect() }
    }
}

/// The header of an array in a weight file is a multiple of this many bytes long.
const HEADER_UNIT: u64 = 16;

impl WeightContents {
    /// Why the array with the name of a weight cannot be its content, in words for the user; `None` if it can be. The
    /// array must have the weight's dimensions (except for ones) and its bytes an element. Of an array in a
    /// compressed file only the size is known.
    pub(super) fn objection(&self, document: &Document, weight: &Weight) -> Option<String> {
        let name = &weight.name;
        let Some(array) = self.arrays.get(name) else {
            return Some(format!("the weight file has no array `{name}`; give the file that belongs to this module"));
        };
        let value = document.results(weight.op).first()?;
        let Type::Tensor { shape: Some(shape), element, .. } = document.ty(*value) else { return None };
        let wanted: Vec<u64> = shape.iter().copied().collect::<Option<_>>()?;
        match &array.shape {
            Some((found, width)) if without_ones(found) == without_ones(&wanted) => {
                // Numbers of less than a byte may have a byte each in the file, or share bytes, so nothing is asked of
                // them.
                let is_small = element.bits().is_some_and(|bits| bits < 8);
                let fits = element.stride_bytes().is_none_or(|bytes| bytes.0 == *width);
                let wrong = !fits && !is_small;
                wrong.then(|| {
                    format!("array `{name}` of the weight file has {width} bytes an element, the weight has others")
                })
            }
            Some((found, _)) => {
                Some(format!("array `{name}` of the weight file has shape {found:?}, the weight has {wanted:?}"))
            }
            None => {
                // What the array has beyond the weight's bytes must be its header.
                let header = array.bytes.checked_sub(weight.bytes);
                let is_header = header.is_some_and(|bytes| bytes >= HEADER_UNIT && bytes.is_multiple_of(HEADER_UNIT));
                let is_small = element.bits().is_some_and(|bits| bits < 8);
                let wrong = !is_header && !is_small;
                wrong.then(|| {
                    format!(
                        "array `{name}` of the weight file has {} bytes with its header, the weight has {} without one",
                        array.bytes, weight.bytes
                    )
                })
            }
        }
    }
}

/// The dimensions that are not 1. A weight of shape 1x64x1x1 may stand in the file as 64.
fn without_ones(shape: &[u64]) -> Vec<u64> {
    shape.iter().copied().filter(|&dimension| dimension != 1).collect()
}

/// Where the weights are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct WeightPlan {
    /// An address each.
    pub addresses: IndexVec<WeightId, u64>,
    /// `module.coeff_addr`.
    pub start: u64,
    /// `module.coeff_size`.
    pub size: u64,
    /// `module.dynamic_coeff_offset`: bytes of the weights of static functions.
    pub static_size: u64,
}

impl WeightPlan {
    /// Lays out the weights; `None` if their sizes pass 2^63.
    pub(super) fn new(network: &Network, chip: &Chip, contents: Option<&WeightContents>) -> Option<WeightPlan> {
        let mut addresses = IndexVec::filled(chip.weights, network.weights.len());
        // The addresses of the weights placed so far, by what makes weights equal: a class (see below) and the bytes.
        let mut placed: HashMap<(u64, u64), u64> = HashMap::new();
        let mut cursor = Bytes(chip.weights);
        let mut static_size = 0;
        // Weights of functions with fixed shapes come first, so that one number (`static_size`) separates the two
        // kinds.
        for wanted in [true, false] {
            for (id, weight) in network.weights.iter_enumerated().filter(|(_, weight)| weight.is_static == wanted) {
                // Weights of one class are equal. `None` is a weight of which nothing is known.
                let class = match contents {
                    Some(contents) => contents.arrays.get(&weight.name).map(|array| array.content),
                    None => weight.previous,
                };
                // Without a weight file the class is the address that the weight had before. Two weights of different
                // sizes may have begun at one address, so the size is part of the key.
                let known = class.map(|class| (class, weight.bytes));
                if let Some(&address) = known.and_then(|key| placed.get(&key)) {
                    addresses[id] = address;
                    continue;
                }
                addresses[id] = cursor.0;
                placed.extend(known.map(|key| (key, cursor.0)));
                cursor = cursor.checked_add(Bytes(weight.bytes))?.align_up(Bytes(chip.align))?;
            }
            if wanted {
                static_size = cursor.0 - chip.weights;
            }
        }
        Some(WeightPlan { addresses, start: chip.weights, size: cursor.0 - chip.weights, static_size })
    }

    /// The first address behind the weights.
    pub(super) fn end(&self) -> u64 {
        self.start + self.size
    }
}
