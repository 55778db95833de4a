//! Weights come first: one behind the other, each at a multiple of the alignment.
//!
//! ```text
//!   base     | conv1 ....| pad |bias| pad ....| conv2 ...........| pad |   end: coeff_addr + coeff_size
//! ```
//!
//! Those of functions with fixed shapes come before those of others, so that
//! `dynamic_coeff_offset` tells the two apart. Weights whose contents are known to
//! be equal can lie in one place: the weight file says so, or, without one, that
//! they already shared an address in a module that has addresses.

use std::collections::HashMap;

use memplan_core::{Bytes, IndexVec};

use super::chip::Chip;
use super::network::{Network, WeightId};

/// Which weights have equal contents: the same number, the same bytes.
///
/// Made from a weight file by whoever reads it; names are those of the file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WeightContents {
    classes: HashMap<String, u64>,
}

impl FromIterator<(String, u64)> for WeightContents {
    fn from_iter<I: IntoIterator<Item = (String, u64)>>(classes: I) -> WeightContents {
        WeightContents { classes: classes.into_iter().collect() }
    }
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
        let mut placed: HashMap<(u64, u64), u64> = HashMap::new();
        let mut cursor = Bytes(chip.weights);
        let mut static_size = 0;
        for wanted in [true, false] {
            for (id, weight) in network.weights.iter_enumerated().filter(|(_, weight)| weight.is_static == wanted) {
                let class = match contents {
                    Some(contents) => contents.classes.get(&weight.name).copied(),
                    None => weight.previous,
                };
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
