//! Which area of memory each input and output goes to: the address modes.
//!
//! | mode | inputs | outputs | `neuron_size` counts |
//! |---|---|---|---|
//! | basic | among the activations, for ever | among the activations | all |
//! | in_reuse | among the activations | among the activations | all |
//! | io_alone | an area of their own ... | ... behind the inputs | the rest |
//! | io_tag | the largest ones, each at a tag | the largest ones, each at a tag | the rest |
//! | io_tag_fuse | all at tag 0 | all at tag 1 | all, as in basic |
//! | io_reloc | behind the activations ... | ... behind the inputs | all |
//!
//! `neuron_size` is the attribute with the bytes of the activations. A *tag* is an address in
//! the chip's table at which an area for inputs or outputs begins. A chip with a *private pool*
//! (one more area) puts the first inputs and outputs at tags in any mode, and the others into
//! the pool, with the tensors that are passed from one function to another.
//!
//! A tensor with a prescribed place in an area has a *home* (not the home of the glossary). All other tensors are
//! activations; the planner chooses where they go. Addresses and sizes are in bytes.

use std::cmp::Reverse;
use std::collections::HashSet;
use std::collections::btree_map::{BTreeMap, Entry};

use memplan_core::Bytes;

use super::chip::{AddressMode, Chip};
use super::network::{Action, Network, TensorId};
use super::weights::WeightPlan;

/// An area besides that of the activations.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Area {
    /// Its name in plans.
    pub name: String,
    /// Where it begins; `None` for behind the activations.
    pub base: Option<u64>,
    /// Its bytes.
    pub size: u64,
}

/// A tensor's place in an area.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Home {
    /// Which area.
    pub area: usize,
    /// First byte, from the start of the area.
    pub at: u64,
}

/// The areas of a network in an address mode, and the tensors whose places in them are prescribed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Areas {
    /// The areas.
    pub list: Vec<Area>,
    /// The tensors in them; all of them lie in no other tensor.
    pub homes: BTreeMap<TensorId, Home>,
    /// Where the activations begin.
    pub neuron: u64,
    /// Whether the activations' area also counts the tensors that have a home,
    /// as if they were in it.
    pub counts_homes: bool,
    /// `module.io_addr` and `module.io_size`.
    pub io: Option<(u64, u64)>,
    /// `module.private_size`.
    pub private: Option<u64>,
    /// The address mode that is used in the end.
    pub mode: AddressMode,
    /// Why `mode` is not the one that was asked for, in words for the user; `None` if it is.
    pub note: Option<String>,
}

/// Why no areas can be laid out in a mode.
pub(super) enum NoArea {
    /// What was asked for makes no sense.
    Request(String),
    /// Sizes pass 2^63.
    TooLarge,
}

impl Areas {
    /// Lays out the areas of an address mode. The weights tell where activations begin on chips that keep the two
    /// together.
    pub(super) fn new(
        network: &Network,
        chip: &Chip,
        mode: AddressMode,
        weights: &WeightPlan,
        options: IoOptions,
    ) -> Result<Areas, NoArea> {
        let neuron = chip.activations.unwrap_or(weights.end());
        let areas = Areas { neuron, mode, ..Areas::default() };
        let mut builder = Builder { network, chip, areas };
        // A chip with a private pool lays out its areas in one way in every mode. In the modes `basic` and `in_reuse`
        // all inputs and outputs are activations, so there are no areas.
        match (chip.private, mode) {
            (Some(private), _) => builder.pools(private, options.iomem)?,
            (None, AddressMode::Basic | AddressMode::InReuse) => {}
            (None, AddressMode::IoAlone) => builder.io_alone(options.same_address)?,
            (None, AddressMode::IoTag) => builder.io_tag()?,
            (None, AddressMode::IoTagFuse) => builder.io_tag_fuse()?,
            (None, AddressMode::IoReloc) => {
                let all = builder.ios();
                builder.pack("io", None, &all)?;
            }
        }
        Ok(builder.areas)
    }

    /// The address of an area; `extent` is the bytes that the activations take, behind which an area without a base
    /// lies.
    pub(super) fn base(&self, area: usize, extent: u64) -> u64 {
        self.list.get(area).and_then(|area| area.base).unwrap_or(self.neuron + extent)
    }

    /// Bytes of the areas that lie behind the activations.
    pub(super) fn behind(&self) -> u64 {
        self.list.iter().filter(|area| area.base.is_none()).map(|area| area.size).sum()
    }
}

/// What the user says about inputs and outputs.
#[derive(Clone, Copy, Debug)]
pub(super) struct IoOptions<'a> {
    /// Names of the inputs and outputs that get tags of their own on a chip with pools; all if empty.
    pub(super) iomem: &'a [String],
    /// Pairs of the number of an input and the number of an output that is to lie in the input's place.
    pub(super) same_address: &'a [(usize, usize)],
}

/// Lays out areas one after the other.
struct Builder<'a> {
    network: &'a Network,
    chip: &'a Chip,
    /// The areas so far.
    areas: Areas,
}

impl Builder<'_> {
    /// The tensors in whose memory the inputs lie.
    fn inputs(&self) -> Vec<TensorId> {
        self.network.inputs.iter().map(|&tensor| self.network.root(tensor).0).collect()
    }

    /// The tensors in whose memory the outputs lie. Two outputs may lie in the same tensor, or in an input.
    fn outputs(&self) -> Vec<TensorId> {
        self.network.outputs.iter().map(|&tensor| self.network.root(tensor).0).collect()
    }

    /// Inputs, then outputs, each once.
    fn ios(&self) -> Vec<TensorId> {
        let mut seen = HashSet::new();
        self.inputs().into_iter().chain(self.outputs()).filter(|&tensor| seen.insert(tensor)).collect()
    }

    /// The bytes of a tensor, rounded up to the chip's alignment.
    fn padded(&self, tensor: TensorId) -> Result<Bytes, NoArea> {
        let bytes = Bytes(self.network.tensors[tensor].bytes);
        bytes.align_up(Bytes(self.chip.align)).ok_or(NoArea::TooLarge)
    }

    /// Makes a new area in which tensors lie one after the other, and gives its bytes. Tensors that have a home already
    /// are left out. An area without a `base` lies behind the activations (at higher addresses).
    fn pack(&mut self, name: &str, base: Option<u64>, tensors: &[TensorId]) -> Result<u64, NoArea> {
        let area = self.areas.list.len();
        let mut end = Bytes::ZERO;
        for &tensor in tensors {
            end = self.settle(tensor, area, end)?;
        }
        self.areas.list.push(Area { name: name.to_owned(), base, size: end.0 });
        Ok(end.0)
    }

    /// Puts a tensor at the end of an area and gives the new end; a tensor that has a home already stays there.
    fn settle(&mut self, tensor: TensorId, area: usize, end: Bytes) -> Result<Bytes, NoArea> {
        let bytes = self.padded(tensor)?;
        match self.areas.homes.entry(tensor) {
            Entry::Occupied(_) => Ok(end),
            Entry::Vacant(home) => {
                home.insert(Home { area, at: end.0 });
                end.checked_add(bytes).ok_or(NoArea::TooLarge)
            }
        }
    }

    /// Makes one area with the inputs one after the other, and the outputs at higher addresses than the inputs. An
    /// output that the user pairs with an input (`same_addr`) lies in the input's place instead. `same_address` holds
    /// these pairs: the number of an input and the number of an output.
    fn io_alone(&mut self, same_address: &[(usize, usize)]) -> Result<(), NoArea> {
        let start = self.chip.io_alone.unwrap_or(self.areas.neuron);
        let inputs = self.inputs();
        let outputs = self.outputs();
        let mut size = self.pack("io", Some(start), &inputs)?;
        // The user asks that an output take the place of an input. It has to fit there, or it would reach into the
        // next input.
        for &(input, output) in same_address {
            let (Some(&input), Some(&output)) = (inputs.get(input), outputs.get(output)) else {
                let (inputs, outputs) = (inputs.len(), outputs.len());
                let message =
                    format!("`same_addr` names {input}:{output}, but there are {inputs} inputs and {outputs} outputs");
                return Err(NoArea::Request(message));
            };
            if self.padded(output)? > self.padded(input)? {
                let message = "`same_addr` puts an output in the place of an input that is smaller".to_owned();
                return Err(NoArea::Request(message));
            }
            // The output has a home already if it lies in the memory of an input, or if an earlier pair names an output
            // in the same memory. Then the output stays there, and this pair has no effect.
            let home = self.areas.homes[&input];
            self.areas.homes.entry(output).or_insert(home);
        }
        // Outputs that have no place yet follow at the end of the inputs. The area is the first one, with number 0.
        for &output in &outputs {
            size = self.settle(output, 0, Bytes(size))?.0;
        }
        self.areas.list[0].size = size;
        self.areas.io = Some((start, size));
        // Without an area that the chip reserves, inputs and outputs lie in front of the activations, which begin
        // behind them.
        if self.chip.io_alone.is_none() {
            self.areas.neuron = Bytes(start).checked_add(Bytes(size)).ok_or(NoArea::TooLarge)?.0;
        }
        Ok(())
    }

    /// The largest inputs and outputs get areas of their own, one at each of the chip's tag addresses. If they cannot
    /// be tagged, the mode becomes basic, and a note says why.
    fn io_tag(&mut self) -> Result<(), NoArea> {
        self.need_tags(1)?;
        if let Some(why) = self.untaggable() {
            self.areas.mode = AddressMode::Basic;
            self.areas.note = Some(format!("inputs and outputs are not tagged (io_tag becomes basic): {why}"));
            return Ok(());
        }
        let mut largest = self.ios();
        // `Reverse` sorts from the largest to the smallest.
        let size = |tensor: &TensorId| Reverse(self.network.tensors[*tensor].bytes);
        largest.sort_by_key(size);
        for (number, (&tag, &tensor)) in self.chip.io_tags.iter().zip(&largest).enumerate() {
            self.pack(&format!("tag{number}"), Some(tag), &[tensor])?;
        }
        Ok(())
    }

    /// Refuses the mode if the chip has fewer tags than it needs.
    fn need_tags(&self, count: usize) -> Result<(), NoArea> {
        if self.chip.io_tags.len() >= count {
            return Ok(());
        }
        let (chip, mode) = (&self.chip.name, self.areas.mode.name());
        let message =
            format!("chip `{chip}` has no tags for addr_mode `{mode}`; use basic, in_reuse, io_alone or io_reloc");
        Err(NoArea::Request(message))
    }

    /// Why the inputs and outputs of this network are not put at tags; `None` if they can be.
    fn untaggable(&self) -> Option<&'static str> {
        if self.network.subnet_count() > 1 {
            return Some("the network has several functions");
        }
        // Views, calls and returns move nothing.
        let moves_data = |action: Action| matches!(action, Action::Compute | Action::Concat | Action::Update);
        let none = !self.network.steps.iter().any(|step| moves_data(step.action));
        none.then_some("no op of the network moves any data")
    }

    /// Puts all inputs at the first tag and all outputs at the second. They are planned among the activations all the
    /// same, so that `neuron_size` has room for them.
    fn io_tag_fuse(&mut self) -> Result<(), NoArea> {
        self.need_tags(2)?;
        let (inputs, outputs) = (self.inputs(), self.outputs());
        self.pack("tag0", Some(self.chip.io_tags[0]), &inputs)?;
        self.pack("tag1", Some(self.chip.io_tags[1]), &outputs)?;
        self.areas.counts_homes = true;
        Ok(())
    }

    /// Lays out the areas of a chip with a private pool at address `private`. The first inputs and outputs that
    /// `iomem` names (all, if it is empty) get a tag each. The private pool holds the other inputs and outputs, and,
    /// if the network has several called functions, the tensors that are passed between functions. All other tensors
    /// are activations.
    fn pools(&mut self, private: u64, iomem: &[String]) -> Result<(), NoArea> {
        let all = self.ios();
        // Without names every input and output is one that gets a tag.
        let is_chosen = |tensor: &&TensorId| iomem.is_empty() || self.is_named(**tensor, iomem);
        let tagged: Vec<TensorId> = all.iter().filter(is_chosen).take(self.chip.io_tags.len()).copied().collect();
        for (number, (&tag, &tensor)) in self.chip.io_tags.iter().zip(&tagged).enumerate() {
            self.pack(&format!("io{number}"), Some(tag), &[tensor])?;
        }
        // `pack` leaves out tensors that have a home already, here the tagged ones.
        let several = self.network.subnet_count() > 1;
        let crossing = self.network.tensors.iter_enumerated().filter(|(_, tensor)| several && tensor.crosses);
        let others: Vec<TensorId> = crossing.map(|(id, _)| self.network.root(id).0).collect();
        let size = self.pack("private", Some(private), &[all, others].concat())?;
        self.areas.private = Some(size);
        Ok(())
    }

    /// Whether a tensor has one of these names, or one of these labels (the name in its op's location).
    fn is_named(&self, tensor: TensorId, names: &[String]) -> bool {
        let (own, label) = (self.network.name(tensor), self.network.tensors[tensor].label.as_deref());
        names.iter().any(|name| name == own || Some(name.as_str()) == label)
    }
}
