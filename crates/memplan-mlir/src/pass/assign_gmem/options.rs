//! Options of the pass, as written on the command line.

use std::collections::BTreeSet;

use super::chip::{AddressMode, Chips};
use super::weights::WeightContents;
use crate::pass::{PassOptions, SpecError};

/// Which algorithm places the activations.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mode {
    /// Every way to plan is tried, and the smallest plan wins.
    #[default]
    Best,
    /// The algorithm that the documentation of the original compiler describes (see `documented`).
    Documented,
}

/// Options of the pass.
#[derive(Clone, Debug)]
pub struct Options {
    /// Which algorithm.
    pub mode: Mode,
    /// Chips by name.
    pub chips: Chips,
    /// A chip instead of the module's.
    pub chip: Option<String>,
    /// An address mode instead of the module's.
    pub address_mode: Option<AddressMode>,
    /// Whether tensors may share memory at all.
    pub reuse: bool,
    /// Names of tensors that share memory with nobody.
    pub alone: BTreeSet<String>,
    /// Pairs of an input and an output that lie in one place, in mode `io_alone`.
    pub same_address: Vec<(usize, usize)>,
    /// Names of the inputs and outputs that get an area each (a *tag*) on a chip with pools; all if empty.
    pub iomem_set: Vec<String>,
    /// The arrays of the weight file, by which equal weights are found; `None` without a weight file.
    pub contents: Option<WeightContents>,
    /// A file with chips. The options only carry its name; the driver reads it.
    pub chip_file: Option<String>,
    /// A file with weights. The options only carry its name; the driver reads it.
    pub weight_file: Option<String>,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            mode: Mode::Best,
            chips: Chips::builtin().clone(),
            chip: None,
            address_mode: None,
            reuse: true,
            alone: BTreeSet::new(),
            same_address: Vec::new(),
            iomem_set: Vec::new(),
            contents: None,
            chip_file: None,
            weight_file: None,
        }
    }
}

/// The names of all options, for the message about an unknown one.
const KNOWN: [&str; 8] = ["mode", "chip", "chips", "addr_mode", "reuse_addr", "same_addr", "iomem_set", "weights"];

impl Options {
    /// Reads the options as written. Files are named, not read.
    pub fn parse(options: &PassOptions) -> Result<Options, SpecError> {
        let mut parsed = Options::default();
        for (key, value) in options.iter() {
            let text = value.unwrap_or_default();
            // Options of other passes have hyphens, and Python's keywords become hyphens, so both are read.
            match key.replace('-', "_").as_str() {
                "mode" => parsed.mode = mode(text)?,
                "chip" => parsed.chip = Some(text.to_owned()),
                "chips" => parsed.chip_file = Some(text.to_owned()),
                "weights" => parsed.weight_file = Some(text.to_owned()),
                "addr_mode" => parsed.address_mode = address_mode(text)?,
                "reuse_addr" => parsed.reuse = PassOptions::flag("reuse_addr", value)?,
                "same_addr" => parsed.same_address = pairs(text)?,
                "iomem_set" => parsed.iomem_set = names(text),
                _ => return Err(PassOptions::unknown("assign-gmem", key, &KNOWN)),
            }
        }
        Ok(parsed)
    }
}

fn mode(text: &str) -> Result<Mode, SpecError> {
    match text {
        "" | "best" => Ok(Mode::Best),
        "documented" => Ok(Mode::Documented),
        found => Err(SpecError::Value { option: "mode", expected: "best or documented", found: found.to_owned() }),
    }
}

/// The address mode of that name; `None` for `auto`, which leaves the choice to the module and the chip.
fn address_mode(text: &str) -> Result<Option<AddressMode>, SpecError> {
    if text == "auto" {
        return Ok(None);
    }
    let expected = "auto, basic, in_reuse, io_alone, io_tag, io_tag_fuse or io_reloc";
    let wrong = || SpecError::Value { option: "addr_mode", expected, found: text.to_owned() };
    AddressMode::find(text).map(Some).ok_or_else(wrong)
}

fn names(text: &str) -> Vec<String> {
    text.split(',').map(str::trim).filter(|name| !name.is_empty()).map(str::to_owned).collect()
}

/// The pairs of an input's and an output's number in a list such as `0:0,1:2`.
fn pairs(text: &str) -> Result<Vec<(usize, usize)>, SpecError> {
    let pair = |part: &str| {
        let (input, output) = part.split_once(':')?;
        Some((input.trim().parse().ok()?, output.trim().parse().ok()?))
    };
    let parts = text.split(',').map(str::trim).filter(|part| !part.is_empty());
    parts.map(pair).collect::<Option<Vec<_>>>().ok_or_else(|| SpecError::Value {
        option: "same_addr",
        expected: "pairs of an input's and an output's number, such as \"0:0,1:2\"",
        found: text.to_owned(),
    })
}
