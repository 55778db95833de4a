//! What kernels ask for besides their tensors.
//!
//! A kernel may ask the runtime for scratch memory that it needs only while it
//! runs, and for memory that it keeps. The runtime places scratch memory in the
//! arena, together with the tensors. A plan without it would be smaller than what
//! the runtime will really need, so scratch memory is part of the problem. What
//! kernels keep lies in the arena's [tail](super::tail).
//!
//! How much a kernel asks for depends on the runtime and its build, and is given
//! by a table in TOML:
//!
//! ```toml
//! [[kernel]]
//! op = "TRANSPOSE_CONV"                          # name of the operator; custom ones are "CUSTOM name"
//! types = ["INT32, INT8, INT8, INT32 -> INT8"]   # element types of inputs and first output; any if left out
//! scratch = ["4 * output 0"]                     # a buffer each; see `Amount`
//! persistent = ["88", "4 * input 3"]             # what it keeps, a request each
//! parsed = [[20, 4]]                             # bytes and alignment of its options, once they are parsed
//! ```
//!
//! In `types`, `-` is an input that is left out, `*` is any input, and `...` at the end stands for any number of
//! further inputs. A type without brackets fits every tensor with these elements. Brackets also ask whether the
//! tensor is constant and whether it has a scale for each channel: `[INT8]` fits a tensor that is not constant and
//! has one scale at most, `[const channels INT8]` a constant one with several scales. `on` and `off` list options
//! that must be set or not set, by the number of their field.
//!
//! The older form has scratch memory only; several entries for an operator add up:
//!
//! ```toml
//! [[scratch]]
//! op = "TRANSPOSE_CONV"
//! when = "INT8"                  # element type of input 0 (or of the input that `when_input` says); any if left out
//! of = "output 0"               # what is counted; with `bytes_per_element`
//! bytes_per_element = 4
//! times = 1                      # how many buffers of that size; 1 if left out
//! bytes = 0                      # bytes on top; 0 if left out
//! ```
//!
//! [`ScratchTable::starter`] is the table for the reference kernels of TensorFlow
//! Lite Micro. A program writes it, from what the interpreter asks for in models
//! with one operator each (the *measured* table). An operator that is not in it was
//! not measured, and [`ScratchTable::needs`] says so.

use std::sync::OnceLock;

use memplan_core::Bytes;
use serde::Deserialize;

use super::amount::{Amount, Counted, Place};
use super::vocabulary;
use crate::graph::{Home, Tensor};

/// What each operator needs.
#[derive(Clone, Debug, Default)]
pub struct ScratchTable {
    /// The rows that the user wrote.
    kernels: Vec<Kernel>,
    /// The user has no table of their own: only the measured table (see above) counts.
    is_measured: bool,
    /// No kernel asks for scratch memory, whatever the measured table says.
    is_empty: bool,
}

/// What a kernel asks for, as far as it is known.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Needs {
    /// The sizes of its scratch buffers; `None` if they are not known.
    pub scratch: Option<Vec<Bytes>>,
    /// The requests for memory that it keeps, each a size and an alignment; `None` if they are not known.
    pub kept: Option<Vec<(Bytes, Bytes)>>,
}

/// The whole file.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Document {
    #[serde(default)]
    kernel: Vec<Kernel>,
    #[serde(default)]
    scratch: Vec<Entry>,
}

/// A row `[[kernel]]`; the fields are those of the file.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Kernel {
    op: String,
    #[serde(default)]
    types: Vec<Signature>,
    #[serde(default)]
    on: Vec<u16>,
    #[serde(default)]
    off: Vec<u16>,
    scratch: Option<Vec<Amount>>,
    persistent: Option<Vec<Amount>>,
    parsed: Option<Vec<(u64, u64)>>,
    /// The row came from the older form: all rows that fit an operator add up. In the newer form the first row that
    /// fits counts alone.
    #[serde(skip)]
    adds_up: bool,
}

/// An entry of the older form.
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
    bytes: u32,
}

/// The number of buffers where an entry of the older form does not state it, in a form that `serde` can call.
fn once() -> u32 {
    1
}

/// Element types of an operator's inputs and of its first output.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(try_from = "String")]
struct Signature {
    inputs: Vec<Pattern>,
    /// The operator may have more inputs than the list.
    is_open: bool,
    /// `None` if the output may be of any type.
    output: Option<Pattern>,
}

/// What a signature asks of one tensor.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Pattern {
    /// The tensor must be left out: `-` in the file.
    LeftOut,
    /// Any tensor fits, also one that is left out: `*` in the file.
    Any,
    /// A tensor of this element type.
    Tensor {
        element: String,
        /// Whether it must be a constant, and whether it must have a scale for each channel; `None` if neither
        /// matters.
        marks: Option<[bool; 2]>,
    },
}

impl Pattern {
    /// Reads one item of `types`, such as `INT8`, `-` or `[const INT8]`. `None` if it has an unknown word in it,
    /// which is an error: a row with a typo in it would never fit, and nobody would notice.
    fn parse(text: &str) -> Option<Pattern> {
        match text {
            "-" => return Some(Pattern::LeftOut),
            "*" => return Some(Pattern::Any),
            // An element type, with or without brackets: read below.
            _ => {}
        }
        let Some(bracketed) = text.strip_prefix('[').and_then(|text| text.strip_suffix(']')) else {
            let is_known = vocabulary::is_element(text);
            return is_known.then(|| Pattern::Tensor { element: text.to_owned(), marks: None });
        };
        // The element type stands last, the marks before it.
        let words: Vec<&str> = bracketed.split_whitespace().collect();
        let (&element, found) = words.split_last()?;
        let is_known = vocabulary::is_element(element) && found.iter().all(|mark| MARKS.contains(mark));
        let marks = Some(MARKS.map(|mark| found.contains(&mark)));
        is_known.then(|| Pattern::Tensor { element: element.to_owned(), marks })
    }

    /// Whether an argument of an operator is as the row of the table asks; `None` is an argument that is left out.
    fn fits(&self, argument: Option<&Argument>) -> bool {
        match (self, argument) {
            (Pattern::Any, _) | (Pattern::LeftOut, None) => true,
            (Pattern::Tensor { element, marks }, Some(argument)) => {
                let found = [argument.tensor.home == Home::File, argument.scales > 1];
                argument.tensor.element == element && marks.is_none_or(|marks| marks == found)
            }
            _ => false,
        }
    }
}

/// The words that may stand before the element type in brackets. Their order is that of `Pattern::Tensor::marks`.
const MARKS: [&str; 2] = ["const", "channels"];

impl TryFrom<String> for Signature {
    type Error = String;

    /// Reads an item of the list `types`, such as `INT8, INT8, ... -> INT8`.
    fn try_from(text: String) -> Result<Signature, String> {
        let wrong = || format!("`{text}` is no list of element types; write, say, \"INT8, INT8, INT32 -> INT8\"");
        let (inputs, output) = text.split_once("->").ok_or_else(wrong)?;
        let mut parts: Vec<&str> = inputs.split(',').map(str::trim).filter(|part| !part.is_empty()).collect();
        let is_open = parts.last() == Some(&"...");
        parts.truncate(parts.len() - usize::from(is_open));
        let inputs = parts.into_iter().map(Pattern::parse).collect::<Option<Vec<_>>>().ok_or_else(wrong)?;
        let output = Some(Pattern::parse(output.trim()).ok_or_else(wrong)?);
        Ok(Signature { inputs, is_open, output })
    }
}

impl Signature {
    /// Whether an operator's inputs and its first output are as the signature asks.
    fn fits(&self, operator: &Operator) -> bool {
        let counts_fit =
            operator.inputs.len() == self.inputs.len() || self.is_open && operator.inputs.len() >= self.inputs.len();
        let first_output = operator.outputs.first().and_then(Option::as_ref);
        counts_fit
            && self.inputs.iter().zip(&operator.inputs).all(|(one, input)| one.fits(input.as_ref()))
            && self.output.as_ref().is_none_or(|output| output.fits(first_output))
    }
}

/// A row of the older form with more buffers than this is taken for a mistake.
const MOST_BUFFERS: usize = 64;

/// The highest number of an input that a row of the older form may ask about. Its signature has an item for each input
/// before that one.
const LAST_INPUT: usize = 1023;

impl Entry {
    /// Checks what would make the row need too much memory, or nothing by mistake.
    fn check(&self) -> Result<(), String> {
        let Entry { op, times, when_input, .. } = self;
        if *times as usize > MOST_BUFFERS {
            return Err(format!("{op} is to have {times} scratch buffers; at most {MOST_BUFFERS}"));
        }
        if *when_input > LAST_INPUT {
            return Err(format!("{op}: `when_input` is {when_input}; at most {LAST_INPUT}"));
        }
        // Such a row would fit no operator, so that the operator would get no scratch memory.
        if let Some(when) = self.when.as_deref().filter(|when| !vocabulary::is_element(when)) {
            return Err(format!("{op}: there is no element type called `{when}`"));
        }
        if self.bytes_per_element > 0 && self.of.is_none() {
            return Err(format!("{op}: say of which elements with, for example, of = \"output 0\""));
        }
        Ok(())
    }

    /// Turns a row of the older form into one of the newer: `times` equal scratch buffers, and nothing about memory
    /// that is kept. `when` becomes a signature in which only the input `when_input` matters.
    fn kernel(self) -> Kernel {
        // Without `of` nothing is counted, and the amount is `bytes` alone.
        let amount = Amount::new(self.bytes_per_element, self.of.into_iter().collect(), i64::from(self.bytes));
        let types = self.when.map(|element| {
            let wanted = Pattern::Tensor { element, marks: None };
            let mut inputs = vec![Pattern::Any; self.when_input];
            inputs.push(wanted);
            Signature { inputs, is_open: true, output: None }
        });
        Kernel {
            op: self.op,
            types: types.into_iter().collect(),
            on: Vec::new(),
            off: Vec::new(),
            scratch: Some(vec![amount; self.times as usize]),
            persistent: None,
            parsed: None,
            adds_up: true,
        }
    }
}

impl ScratchTable {
    /// The table for the reference kernels of TensorFlow Lite Micro.
    pub fn starter() -> ScratchTable {
        // It has no rows of its own: `needs` looks into the measured table, which is parsed when it is first needed.
        ScratchTable { is_measured: true, ..ScratchTable::default() }
    }

    /// The table for kernels that ask for no scratch memory at all.
    pub fn none() -> ScratchTable {
        ScratchTable { is_empty: true, ..ScratchTable::default() }
    }

    /// The text of [`starter`](ScratchTable::starter), to begin with.
    pub fn starter_toml() -> &'static str {
        STARTER
    }

    /// Reads a table of the user; the error says what is wrong and where.
    ///
    /// Operators that the table does not name are looked up in the measured table.
    pub fn from_toml(text: &str) -> Result<ScratchTable, String> {
        let table = ScratchTable::parse(text)?;
        match table.kernels.iter().find(|kernel| !vocabulary::is_operator(&kernel.op)) {
            Some(kernel) => Err(unknown_operator(&kernel.op)),
            None => Ok(table),
        }
    }

    /// Reads a table without checking the names of its operators.
    fn parse(text: &str) -> Result<ScratchTable, String> {
        let document: Document = toml::from_str(text).map_err(|error| error.to_string())?;
        document.scratch.iter().try_for_each(Entry::check)?;
        let kernels = document.kernel.into_iter().chain(document.scratch.into_iter().map(Entry::kernel));
        Ok(ScratchTable { kernels: kernels.collect(), ..ScratchTable::default() })
    }

    /// The operators of this table that a model does not have, each once. Perhaps the user misspelt them.
    pub fn unused(&self, is_in_model: impl Fn(&str) -> bool) -> Vec<&str> {
        let mut unused = Vec::new();
        for kernel in self.kernels.iter().filter(|_| !self.is_measured) {
            if !is_in_model(&kernel.op) && !unused.contains(&kernel.op.as_str()) {
                unused.push(kernel.op.as_str());
            }
        }
        unused
    }

    /// What an operator needs, as far as it is known. A row of the user's table counts before a measured one. With the
    /// empty table (`--scratch none`) no operator has scratch memory, but what kernels keep is still taken from the
    /// measured table.
    pub fn needs(&self, operator: &Operator) -> Needs {
        let own = if self.is_measured { Needs::default() } else { self.stated(operator) };
        if own.scratch.is_some() && own.kept.is_some() {
            return own;
        }
        let measured = measured().stated(operator);
        if self.is_empty {
            return Needs { scratch: Some(Vec::new()), kept: measured.kept };
        }
        Needs { scratch: own.scratch.or(measured.scratch), kept: own.kept.or(measured.kept) }
    }

    /// What the rows of this table say about an operator: the first row of the newer form that fits, or else all rows
    /// of the older form that fit, added up. `None` in both fields if no row is about it. If there are rows of the
    /// older form for this kind of operator and none of them fits, it needs no scratch memory.
    fn stated(&self, operator: &Operator) -> Needs {
        let rows = || self.kernels.iter().filter(|kernel| kernel.op == operator.kind);
        if let Some(kernel) = rows().find(|kernel| !kernel.adds_up && kernel.fits(operator)) {
            return kernel.needs(operator);
        }
        if !rows().any(|kernel| kernel.adds_up) {
            return Needs::default();
        }
        let fitting = rows().filter(|kernel| kernel.adds_up && kernel.fits(operator));
        let all: Option<Vec<Vec<Bytes>>> = fitting.map(|kernel| kernel.needs(operator).scratch).collect();
        Needs { scratch: all.map(|buffers| buffers.concat()), kept: None }
    }
}

/// The message for a row about an operator that does not exist; it proposes the name that is most like it.
fn unknown_operator(name: &str) -> String {
    let near = vocabulary::nearest_operator(name);
    let hint = near.map_or_else(String::new, |near| format!("; did you mean `{near}`?"));
    format!("there is no operator called `{name}`{hint} (custom operators are written `CUSTOM name`)")
}

/// An operator as the table sees it. `None` is a tensor that is left out.
pub struct Operator<'a> {
    /// Its kind.
    pub kind: &'a str,
    /// Its inputs.
    pub inputs: Vec<Option<Argument<'a>>>,
    /// Its outputs.
    pub outputs: Vec<Option<Argument<'a>>>,
    /// Whether an option is set, by the number of its field.
    pub is_on: &'a dyn Fn(u16) -> bool,
}

/// A tensor of an operator.
#[derive(Clone, Copy, Debug)]
pub struct Argument<'a> {
    /// The tensor.
    pub tensor: &'a Tensor,
    /// How many scales its elements have: one for all, or one for each channel; 0 if it is not quantised.
    pub scales: u64,
}

impl Operator<'_> {
    /// One of its tensors; `None` if it does not have it.
    pub(super) fn tensor(&self, place: Place) -> Option<&Tensor> {
        let argument = match place {
            Place::Input(number) => self.inputs.get(number),
            Place::Output(number) => self.outputs.get(number),
        };
        argument.copied().flatten().map(|argument| argument.tensor)
    }
}

impl Kernel {
    /// Whether the row is about this operator: one of its signatures fits, or it has none, and all options are as it
    /// asks.
    fn fits(&self, operator: &Operator) -> bool {
        let types_fit = self.types.is_empty() || self.types.iter().any(|types| types.fits(operator));
        types_fit
            && self.on.iter().all(|&field| (operator.is_on)(field))
            && self.off.iter().all(|&field| !(operator.is_on)(field))
    }

    /// What the kernel asks for with this operator's inputs and outputs. Where the row says nothing, or counts a
    /// tensor that the operator does not have, it is not known.
    fn needs(&self, operator: &Operator) -> Needs {
        // The bytes of all amounts; `None` if one of them cannot be computed.
        let sizes = |amounts: &[Amount]| {
            let sizes = amounts.iter().map(|amount| amount.bytes(operator).map(Bytes));
            sizes.collect::<Option<Vec<Bytes>>>()
        };
        // The runtime aligns the requests of kernels to 16 bytes. The alignment of parsed options is in the table.
        let kept = self.persistent.as_deref().and_then(sizes).map(|sizes| {
            let parsed = self.parsed.iter().flatten().map(|&(size, alignment)| (Bytes(size), Bytes(alignment.max(1))));
            parsed.chain(sizes.into_iter().map(|size| (size, Bytes(16)))).collect()
        });
        Needs { scratch: self.scratch.as_deref().and_then(sizes), kept }
    }
}

/// The measured table. Its text is part of the program, and a test makes sure that it can be read, so the default is
/// never used.
fn measured() -> &'static ScratchTable {
    static TABLE: OnceLock<ScratchTable> = OnceLock::new();
    TABLE.get_or_init(|| ScratchTable::parse(STARTER).unwrap_or_default())
}

/// The text of the measured table.
const STARTER: &str = include_str!("kernels.toml");

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_measured_table_reads() {
        let table = ScratchTable::from_toml(STARTER).unwrap();
        assert!(table.kernels.len() > 100, "{}", table.kernels.len());
    }

    #[test]
    fn mistakes_are_named() {
        for (text, expected) in [
            ("[[scratch]]\nop = 1", "string"),
            ("[[scratch]]\nop = \"ADD\"\nof = \"result\"", "output 0"),
            ("[[scratch]]\nop = \"ADD\"\nbyts = 1", "byts"),
            ("[[scratch]]\nop = \"ADD\"\ntimes = 1000", "at most 64"),
            ("[[scratch]]\nop = \"ADD\"\nwhen = \"INT9\"\nbytes = 8", "no element type called `INT9`"),
            ("[[scratch]]\nop = \"ADD\"\nwhen = \"INT8\"\nwhen_input = 9223372036854775807", "at most 1023"),
            ("[[scratch]]\nop = \"ADD\"\nbytes_per_element = 4", "which elements"),
            ("[[scratch]]\nop = \"TRANSPOS_CONV\"", "did you mean `TRANSPOSE_CONV`"),
            ("[[kernel]]\nop = \"Foo\"", "CUSTOM name"),
            ("[[kernel]]\nop = \"ADD\"\nscratch = [\"4 * everything\"]", "no amount"),
            ("[[kernel]]\nop = \"ADD\"\ntypes = [\"INT8\"]", "element types"),
            ("[[kernel]]\nop = \"ADD\"\ntypes = [\"INT9 -> INT8\"]", "element types"),
        ] {
            let error = ScratchTable::from_toml(text).unwrap_err();
            assert!(error.contains(expected), "{text}: {error}");
        }
    }

    fn tensor(element: &'static str, shape: &[u64], home: Home) -> Tensor {
        let bytes = Bytes(shape.iter().product());
        Tensor { name: String::new(), element, shape: shape.to_vec(), bytes, home }
    }

    fn needs(table: &ScratchTable, kind: &str, inputs: &[&Tensor], output: &Tensor) -> Needs {
        let argument = |tensor| Some(Argument { tensor, scales: 1 });
        table.needs(&Operator {
            kind,
            inputs: inputs.iter().map(|&tensor| argument(tensor)).collect(),
            outputs: vec![argument(output)],
            is_on: &|_| false,
        })
    }

    #[test]
    fn what_was_not_measured_is_not_known() {
        let (data, axes) = (tensor("INT8", &[2, 8], Home::Arena), tensor("INT32", &[1], Home::File));
        let sum = tensor("INT8", &[2], Home::Arena);
        let table = ScratchTable::starter();
        assert_eq!(needs(&table, "MEAN", &[&data, &axes], &sum).scratch, Some([8, 8, 4].map(Bytes).to_vec()));
        assert_eq!(needs(&table, "MEAN", &[&data], &sum), Needs::default(), "one input");
        assert_eq!(needs(&table, "CUSTOM mine", &[&data], &sum), Needs::default());
    }

    #[test]
    fn a_row_of_ones_own_replaces_the_measured_one() {
        let (data, axes) = (tensor("INT8", &[2, 8], Home::Arena), tensor("INT32", &[1], Home::File));
        let sum = tensor("INT8", &[2], Home::Arena);
        let own =
            "[[scratch]]\nop = \"MEAN\"\nbytes = 100\n[[kernel]]\nop = \"CUSTOM mine\"\nscratch = [\"2 * input 0\"]";
        let table = ScratchTable::from_toml(own).unwrap();
        let mean = needs(&table, "MEAN", &[&data, &axes], &sum);
        assert_eq!(mean.scratch, Some(vec![Bytes(100)]));
        assert!(mean.kept.is_some(), "what it keeps was measured");
        assert_eq!(needs(&table, "SUM", &[&data, &axes], &sum).scratch, Some([8, 8, 4].map(Bytes).to_vec()));
        assert_eq!(needs(&table, "CUSTOM mine", &[&data], &sum).scratch, Some(vec![Bytes(32)]));
        assert_eq!(table.unused(|op| op == "MEAN"), ["CUSTOM mine"]);
    }

    #[test]
    fn a_row_that_counts_what_is_not_there_says_nothing() {
        let data = tensor("INT8", &[2, 8], Home::Arena);
        let table = ScratchTable::from_toml("[[kernel]]\nop = \"CUSTOM mine\"\nscratch = [\"4 * input 7\"]").unwrap();
        assert_eq!(needs(&table, "CUSTOM mine", &[&data], &data).scratch, None);
    }
}
