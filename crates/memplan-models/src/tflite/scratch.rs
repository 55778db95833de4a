//! What kernels ask for besides their tensors.
//!
//! A kernel may ask the runtime for scratch memory that it needs only while it
//! runs. The runtime places it in the arena, around the tensors. A plan that
//! does not know about it is smaller than what the runtime will really need, so
//! it is part of the problem.
//!
//! How much a kernel asks for depends on the runtime and its build, and is given
//! by a table in TOML:
//!
//! ```toml
//! [[scratch]]
//! op = "TRANSPOSE_CONV"          # name of the operator
//! when = "INT8"                  # element type of input 0 (or of the input that `when_input` says); any if left out
//! of = "output 0"                # what is counted: the elements of this tensor; see below
//! bytes_per_element = 4
//! times = 1                      # so many buffers of that size; 1 if left out
//! bytes = 0                      # bytes on top; 0 if left out
//! ```
//!
//! | `of` | counts |
//! |---|---|
//! | `input 1`, `output 0` | elements of the tensor |
//! | `rank of input 0` | its dimensions |
//! | `dimension 0 of input 1` | the size of one dimension |
//! | `inputs` | the operator's inputs |
//!
//! Several entries for an operator add up. [`ScratchTable::starter`] is the
//! table for the reference kernels of TensorFlow Lite Micro, found by measuring
//! what its interpreter allocates.

use memplan_core::{Bytes, MAX_BYTES};
use serde::Deserialize;

use crate::graph::Tensor;

/// What each operator needs.
#[derive(Clone, Debug, Default)]
pub struct ScratchTable {
    entries: Vec<Entry>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Document {
    #[serde(default)]
    scratch: Vec<Entry>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    op: String,
    when: Option<String>,
    #[serde(default)]
    when_input: usize,
    of: Option<Counted>,
    #[serde(default)]
    bytes_per_element: u64,
    #[serde(default = "once")]
    times: u32,
    #[serde(default)]
    bytes: u64,
}

fn once() -> u32 {
    1
}

/// What an entry counts.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(try_from = "String")]
enum Counted {
    Elements(Place),
    Rank(Place),
    Dimension(usize, Place),
    Inputs,
}

/// A tensor of the operator.
#[derive(Clone, Copy, Debug)]
enum Place {
    Input(usize),
    Output(usize),
}

impl TryFrom<String> for Counted {
    type Error = String;

    fn try_from(text: String) -> Result<Counted, String> {
        let words: Vec<&str> = text.split_whitespace().collect();
        let place = |side: &str, number: &str| match (side, number.parse().ok()?) {
            ("input", number) => Some(Place::Input(number)),
            ("output", number) => Some(Place::Output(number)),
            _ => None,
        };
        let counted = match words.as_slice() {
            ["inputs"] => Some(Counted::Inputs),
            [side, number] => place(side, number).map(Counted::Elements),
            ["rank", "of", side, number] => place(side, number).map(Counted::Rank),
            ["dimension", which, "of", side, number] => {
                place(side, number).and_then(|place| Some(Counted::Dimension(which.parse().ok()?, place)))
            }
            _ => None,
        };
        counted.ok_or_else(|| format!("`{text}` is nothing to count; say what, as in \"output 0\""))
    }
}

/// A kernel that asks for more buffers than this is a mistake in the table.
const MOST_BUFFERS: u32 = 64;

impl ScratchTable {
    /// The table for the reference kernels of TensorFlow Lite Micro.
    pub fn starter() -> ScratchTable {
        ScratchTable::from_toml(STARTER).unwrap_or_default()
    }

    /// The text of [`starter`](ScratchTable::starter), to begin with.
    pub fn starter_toml() -> &'static str {
        STARTER
    }

    /// Reads a table; the error says what is wrong and where.
    pub fn from_toml(text: &str) -> Result<ScratchTable, String> {
        let document: Document = toml::from_str(text).map_err(|error| error.to_string())?;
        match document.scratch.iter().find(|entry| entry.times > MOST_BUFFERS) {
            Some(entry) => {
                Err(format!("{} is to have {} scratch buffers; at most {MOST_BUFFERS}", entry.op, entry.times))
            }
            None => Ok(ScratchTable { entries: document.scratch }),
        }
    }

    /// The scratch buffers of an op.
    pub fn needs(&self, operator: &Operator) -> Vec<Bytes> {
        let entries = self.entries.iter().filter(|entry| entry.op == operator.kind);
        entries.flat_map(|entry| entry.needs(operator)).collect()
    }
}

/// An operator as the table sees it; tensors that are left out keep their places.
pub struct Operator<'a> {
    /// Its kind.
    pub kind: &'a str,
    /// Its inputs.
    pub inputs: Vec<Option<&'a Tensor>>,
    /// Its outputs.
    pub outputs: Vec<Option<&'a Tensor>>,
}

impl Operator<'_> {
    fn tensor(&self, place: Place) -> Option<&Tensor> {
        match place {
            Place::Input(number) => self.inputs.get(number).copied().flatten(),
            Place::Output(number) => self.outputs.get(number).copied().flatten(),
        }
    }

    fn count(&self, counted: Counted) -> Option<u64> {
        let product = |shape: &[u64]| shape.iter().try_fold(1u64, |product, &dimension| product.checked_mul(dimension));
        match counted {
            Counted::Elements(place) => product(&self.tensor(place)?.shape),
            Counted::Rank(place) => Some(self.tensor(place)?.shape.len() as u64),
            Counted::Dimension(which, place) => self.tensor(place)?.shape.get(which).copied(),
            Counted::Inputs => Some(self.inputs.len() as u64),
        }
    }
}

impl Entry {
    fn needs(&self, operator: &Operator) -> Vec<Bytes> {
        let element = operator.tensor(Place::Input(self.when_input)).map(|tensor| tensor.element);
        if self.when.as_deref().is_some_and(|when| element != Some(when)) {
            return Vec::new();
        }
        let bytes = self
            .of
            .map_or(Some(0), |counted| operator.count(counted))
            .and_then(|count| count.checked_mul(self.bytes_per_element)?.checked_add(self.bytes))
            .filter(|&bytes| bytes > 0 && bytes <= MAX_BYTES);
        bytes.map_or_else(Vec::new, |bytes| vec![Bytes(bytes); self.times as usize])
    }
}

const STARTER: &str = include_str!("scratch.toml");

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_starter_table_reads() {
        assert!(ScratchTable::from_toml(STARTER).is_ok_and(|table| !table.entries.is_empty()));
    }

    #[test]
    fn mistakes_are_named() {
        for (text, expected) in [
            ("[[scratch]]\nop = 1", "string"),
            ("[[scratch]]\nop = \"A\"\nof = \"result\"", "output 0"),
            ("[[scratch]]\nop = \"A\"\nbyts = 1", "byts"),
            ("[[scratch]]\nop = \"A\"\ntimes = 1000", "at most 64"),
        ] {
            let error = ScratchTable::from_toml(text).unwrap_err();
            assert!(error.contains(expected), "{error}");
        }
    }
}
