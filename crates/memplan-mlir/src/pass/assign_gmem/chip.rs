//! Chips and address modes, as data.
//!
//! A chip is a handful of numbers: where weights begin, where activations
//! begin, what else there is, and what everything is aligned to. The ones
//! memplan knows are in `chips.toml`; users add theirs in the same form:
//!
//! ```
//! use memplan_mlir::pass::assign_gmem::Chips;
//! let chips = Chips::builtin().with_toml(r#"
//!     [[chip]]
//!     name = "acme9"
//!     align = 256
//!     weights = 0x8000_0000
//!     activations = 0xC000_0000
//!     end = 0x1_0000_0000
//! "#)?;
//! assert_eq!(chips.get("acme9").unwrap().align, 256);
//! # Ok::<(), memplan_mlir::pass::assign_gmem::ChipFileError>(())
//! ```

use std::collections::BTreeMap;
use std::sync::OnceLock;

use memplan_core::Span;
use serde::Deserialize;

/// Where inputs and outputs go: `module.addr_mode`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AddressMode {
    /// Among the activations; inputs keep their memory for ever.
    #[default]
    Basic,
    /// Among the activations; an input's memory is free after its last use.
    InReuse,
    /// In an area of their own, inputs first.
    IoAlone,
    /// The largest ones at the addresses that the chip's table calls tags ([`Chip::io_tags`]), one at each.
    IoTag,
    /// All inputs at the first tag, all outputs at the second, one behind the other.
    IoTagFuse,
    /// Behind the activations, to be moved when the program is loaded.
    IoReloc,
}

impl AddressMode {
    /// All of them.
    pub const ALL: [AddressMode; 6] = [
        AddressMode::Basic,
        AddressMode::InReuse,
        AddressMode::IoAlone,
        AddressMode::IoTag,
        AddressMode::IoTagFuse,
        AddressMode::IoReloc,
    ];

    /// The word in `module.addr_mode`.
    pub fn name(self) -> &'static str {
        match self {
            AddressMode::Basic => "basic",
            AddressMode::InReuse => "in_reuse",
            AddressMode::IoAlone => "io_alone",
            AddressMode::IoTag => "io_tag",
            AddressMode::IoTagFuse => "io_tag_fuse",
            AddressMode::IoReloc => "io_reloc",
        }
    }

    /// The mode of that name.
    pub fn find(name: &str) -> Option<AddressMode> {
        AddressMode::ALL.into_iter().find(|mode| mode.name() == name)
    }
}

/// On-chip memory that activations may use, shared by eight cores.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OnChip {
    /// Address of its first byte.
    pub base: u64,
    /// What all cores have together.
    pub bytes: u64,
}

impl OnChip {
    /// The bytes that `cores` cores have together: an eighth each. Less than one core counts as one, more than eight
    /// as eight.
    pub fn share(self, cores: u64) -> u64 {
        let share = u128::from(self.bytes) * u128::from(cores.clamp(1, 8)) / 8;
        u64::try_from(share).unwrap_or(self.bytes)
    }
}

/// What is known about a chip's memory.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Chip {
    /// The word in `module.chip`.
    pub name: String,
    /// Other chips of the same memory.
    #[serde(default)]
    pub also: Vec<String>,
    /// What addresses of weights and activations are multiples of.
    #[serde(default = "page")]
    pub align: u64,
    /// Where weights begin.
    pub weights: u64,
    /// Where activations begin; without it, right behind the weights.
    pub activations: Option<u64>,
    /// Where inputs and outputs begin if they are to be alone; without it, in front of the activations.
    pub io_alone: Option<u64>,
    /// Where tagged inputs and outputs lie.
    #[serde(default)]
    pub io_tags: Vec<u64>,
    /// The address mode of modules that leave it to the chip.
    #[serde(default)]
    pub auto: AddressMode,
    /// Memory to be preferred for activations.
    pub on_chip: Option<OnChip>,
    /// Whether narrow elements of neighbouring batches share a word.
    #[serde(default)]
    pub packs_batches: bool,
    /// Where tensors go that pass from one function to another. A chip that has
    /// this keeps equal weights once and tags its inputs and outputs in any mode.
    pub private: Option<u64>,
    /// The first address that is no memory any more.
    pub end: Option<u64>,
}

/// The alignment of a chip whose table names none: a page of memory.
fn page() -> u64 {
    4096
}

impl Chip {
    /// The bytes from an address to the next area of the chip, or to the end of its memory; `None` if nothing that
    /// the table names comes after the address.
    pub(super) fn room(&self, from: u64) -> Option<u64> {
        let areas = [Some(self.weights), self.activations, self.io_alone, self.private, self.end];
        let starts = areas.into_iter().flatten().chain(self.io_tags.iter().copied());
        starts.filter(|&start| start > from).min().map(|next| next - from)
    }

    /// What is wrong with the numbers of a chip file, in words for its author; `None` if nothing is. Addresses stay
    /// below 2^62 so that an address and a size can be added without overflow.
    fn mistake(&self) -> Option<&'static str> {
        let starts = [Some(self.weights), self.activations, self.io_alone, self.private];
        let on_chip = self.on_chip.map(|memory| memory.base);
        let all: Vec<u64> = starts.into_iter().flatten().chain(self.io_tags.iter().copied()).chain(on_chip).collect();
        let largest = memplan_core::MAX_BYTES;
        // The first mistake that is found is told.
        match () {
            () if self.name.is_empty() => Some("it has no name"),
            () if self.align == 0 || self.align > 1 << 32 => Some("`align` must be between 1 and 2^32"),
            () if all.iter().any(|start| !start.is_multiple_of(self.align)) => {
                Some("every address must be a multiple of `align`")
            }
            () if all.iter().chain(&self.end).any(|&start| start > largest / 2) => {
                Some("every address must be below 2^62")
            }
            () if self.on_chip.is_some_and(|memory| memory.bytes > largest / 2) => {
                Some("`on-chip` must have less than 2^62 bytes")
            }
            () if self.end.is_some_and(|end| end <= self.weights) => Some("`end` must lie behind `weights`"),
            () => None,
        }
    }
}

/// Chips by name.
#[derive(Clone, Debug, Default)]
pub struct Chips {
    chips: BTreeMap<String, Chip>,
}

/// Why a chip file could not be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct ChipFileError {
    message: String,
    span: Span,
}

impl ChipFileError {
    /// Where in the file.
    pub fn span(&self) -> Span {
        self.span
    }
}

/// A chip file: a list of `[[chip]]` tables.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(default)]
    chip: Vec<toml::Spanned<Chip>>,
}

impl Chips {
    /// The chips memplan knows.
    pub fn builtin() -> &'static Chips {
        static BUILTIN: OnceLock<Chips> = OnceLock::new();
        BUILTIN.get_or_init(|| {
            let known = Chips::default().with_toml(include_str!("chips.toml"));
            known.expect("the built-in file is read by a test")
        })
    }

    /// These chips and those of a file. A chip of the file replaces one of the same name.
    pub fn with_toml(&self, text: &str) -> Result<Chips, ChipFileError> {
        let file: File = toml::from_str(text).map_err(|error| {
            let span = error.span().unwrap_or_default();
            ChipFileError { message: error.message().to_owned(), span: Span::new(span.start, span.end) }
        })?;
        let mut chips = self.chips.clone();
        for row in file.chip {
            let span = Span::new(row.span().start, row.span().end);
            let chip = row.into_inner();
            if let Some(mistake) = chip.mistake() {
                return Err(ChipFileError { message: format!("chip `{}`: {mistake}", chip.name), span });
            }
            for name in chip.also.iter().chain([&chip.name]) {
                chips.insert(name.clone(), chip.clone());
            }
        }
        Ok(Chips { chips })
    }

    /// The chip of that name.
    pub fn get(&self, name: &str) -> Option<&Chip> {
        self.chips.get(name)
    }

    /// All names, sorted.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.chips.keys().map(String::as_str)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_built_in_chips() {
        let chips = Chips::builtin();
        assert!(chips.names().count() >= 14);
        let bm1688 = chips.get("bm1688").unwrap();
        assert_eq!((bm1688.weights, bm1688.activations), ((1 << 39) | (1 << 36), Some((1 << 39) | (2 << 36))));
        assert_eq!(bm1688.io_tags.first(), Some(&((1 << 39) | (3 << 36))));
        assert_eq!(bm1688.room(bm1688.weights), Some(1 << 36));
        let bm1690 = chips.get("bm1690").unwrap();
        assert_eq!(bm1690.on_chip.unwrap().base, (30 << 40) | 0x69_8000_0000);
        assert_eq!(bm1690.on_chip.unwrap().share(1), 16 << 20);
        assert_eq!(bm1690.on_chip.unwrap().share(64), 128 << 20);
        assert_eq!(chips.get("cv181x").unwrap().align, 16);
        assert_eq!(chips.get("bm1684x2").unwrap().weights, (1 << 36) | (1 << 40));
        assert_eq!(chips.get("cv184x").unwrap().activations, Some(0x8000_0000 | (2 << 40)));
    }

    #[test]
    fn mistakes_in_chip_files() {
        for (text, message) in [
            ("[[chip]]\nname = \"a\"\nweights = 1", "every address must be a multiple of `align`"),
            ("[[chip]]\nname = \"a\"\nweights = 0\nalign = 0", "`align` must be between"),
            ("[[chip]]\nname = \"a\"\nweights = 4096\nend = 64", "behind `weights`"),
            ("[[chip]]\nname = \"a\"", "missing field `weights`"),
            ("[[chip]]\nname = \"a\"\nweights = 0\ncolour = 3", "unknown field"),
            ("[[chip]]\nname = \"a\"\nweights = -4096", "invalid value"),
        ] {
            let error = Chips::default().with_toml(text).unwrap_err();
            assert!(error.to_string().contains(message), "{text}: {error}");
        }
    }
}
