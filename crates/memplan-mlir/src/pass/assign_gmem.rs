//! assign-gmem: global memory for whole networks, weights first, then activations.
//!
//! A module of `top` and `tpu` ops goes in without addresses; every tensor that is
//! in global memory comes out with its address as the encoding of its type:
//!
//! ```text
//!   %1 = "tpu.Active"(%0) : (tensor<1x16xf32>) -> tensor<1x16xf32>
//!     ──►
//!   %1 = "tpu.Active"(%0) : (tensor<1x16xf32, 4294967296 : i64>) -> tensor<1x16xf32, 4294971392 : i64>
//! ```
//!
//! The steps, each a file:
//!
//! 1. `network`: the module as tensors, weights and steps, calls followed;
//!    `tensor` is what they take, `in_place` which ops move no data;
//! 2. `chip`: what the chip's memory is like, from a table;
//! 3. `weights`: one behind the other;
//! 4. `areas`: what the address mode means for inputs and outputs;
//! 5. `lifecycle`: how long each tensor is needed;
//! 6. `merge`, `problem`, `successor`, `choose`: which concats are merged and where
//!    everything goes; or `documented`: the algorithm as a document on the original compiler
//!    describes it (below: the *documented algorithm*), for comparison;
//! 7. `program`: the network for the dataflow check, with the addresses it got;
//! 8. `rewrite`: the new text.
//!
//! `addressed` reads addresses back, ours or another tool's, so that they can be checked.
//!
//! A text holds *global modules*, each with a chip and a state. A global module holds one
//! inner module for each device, or, with one device, the functions themselves. Devices have
//! memories of their own, so each is planned by itself. A concat is *merged* if its operands
//! are computed directly into their places in its result, so that it has nothing to copy.
//! The area of the activations is called `neuron` in the module's attributes.

mod addressed;
mod areas;
mod chip;
mod choose;
mod documented;
mod in_place;
mod lifecycle;
mod merge;
mod network;
mod options;
mod problem;
mod program;
mod report;
mod rewrite;
mod successor;
mod tensor;
mod weights;

use memplan_core::{Bytes, Id, IndexVec, Placement, Plan, Problem, SpaceId, bound};
use memplan_planner::{Request, Strategy};
use memplan_program::{Origin, Program, SiteId};

use super::{PassError, Remark, Saving, still_waiting};
use crate::{Document, Edits, OpId};
use areas::{Areas, IoOptions, NoArea};
use choose::Chooser;
use documented::Ground;
use network::{Network, Step, TensorId};
use problem::Setting;
use rewrite::{Addresses, Attributes, set_attributes};
use weights::WeightPlan;

pub use addressed::{Addressed, Misplaced, WrittenAddresses, addressed, written_addresses};
pub use chip::{AddressMode, Chip, ChipFileError, Chips, OnChip};
pub use options::{Mode, Options};
pub use program::Form;
pub use report::{program, reuse_table, todays_sizes};
pub use weights::{WeightArray, WeightContents};

/// What the pass did, and all that is needed to check it.
#[derive(Clone, Debug)]
pub struct Assigned {
    /// The changes to the text.
    pub edits: Edits,
    /// The network as a program in which every tensor is a buffer.
    pub program: Program,
    /// The address of every tensor, as an offset in the space of its device. A site is a buffer of `program`.
    pub placements: IndexVec<SiteId, Option<Placement>>,
    /// The packing behind the addresses, one for each device; none for the documented algorithm.
    pub packings: Vec<(Problem, Plan)>,
    /// What the user should know, with the place it is about.
    pub remarks: Vec<Remark>,
    /// Bytes before and after, one row for each device.
    pub stats: Vec<Saving>,
}

/// The modules of a text that say for which chip and in which state they are.
fn global_modules(document: &Document) -> Vec<OpId> {
    let ops = document.top_blocks().iter().flat_map(|&block| document.ops(block)).copied();
    ops.filter(|&op| is_module(document, op) && document.attribute(op, "module.state").is_some()).collect()
}

/// Whether an op is a module.
fn is_module(document: &Document, op: OpId) -> bool {
    document.name(op) == "builtin.module"
}

/// Whether a text holds a network of `top` and `tpu` ops.
pub fn is_network(document: &Document) -> bool {
    !global_modules(document).is_empty()
}

/// The modules with functions in them, one for each device: the modules inside a global module, or, if there are none,
/// the global module itself.
fn device_modules(document: &Document, global: OpId) -> Vec<OpId> {
    let blocks = document.regions(global).iter().flat_map(|&region| document.blocks(region));
    let inner = blocks.flat_map(|&block| document.ops(block)).copied().filter(|&op| is_module(document, op));
    let inner: Vec<OpId> = inner.collect();
    if inner.is_empty() { vec![global] } else { inner }
}

/// One global module, with the chip and the address mode for which its devices are planned.
struct Task<'a> {
    document: &'a Document,
    global: OpId,
    chip: &'a Chip,
    mode: AddressMode,
    options: &'a Options,
}

impl<'a> Task<'a> {
    /// Looks up the chip and the address mode of a global module.
    fn new(document: &'a Document, global: OpId, options: &'a Options) -> Result<Task<'a>, PassError> {
        let chip = find_chip(document, global, options)?;
        let mode = address_mode(document, global, options, chip)?;
        Ok(Task { document, global, chip, mode, options })
    }

    /// An error about a module, at its name.
    fn error(&self, module: OpId, message: String) -> PassError {
        PassError::Op { span: self.document.op(module).name_span, message }
    }

    /// The network of one device.
    fn network(&self, module: OpId) -> Result<Network, PassError> {
        let mut network = Network::read(self.document, module, self.chip)?;
        if self.document.attribute(self.global, "module.state") != Some("\"TPU_ADDRESSED\"") {
            // Two weights that have one address are taken to be equal. That holds only for addresses that this pass
            // (or the compiler's own) has assigned; in an earlier state the numbers in the types say nothing.
            network.weights.iter_mut().for_each(|weight| weight.previous = None);
        }
        Ok(network)
    }

    /// How many cores of the chip the module uses; one if it does not say.
    fn cores(&self) -> u64 {
        let cores = self.document.integer_attribute(self.global, "module.cores");
        cores.and_then(|cores| u64::try_from(cores).ok()).unwrap_or(1)
    }
}

/// An error about an attribute of a module, at the attribute if the text has it, else at the module's name.
fn attribute_error(document: &Document, module: OpId, name: &str, message: String) -> PassError {
    let span = document.attribute_span(module, name).unwrap_or(document.op(module).name_span);
    PassError::Op { span, message }
}

/// Checks that the module has come as far as this pass expects: the compiler names its stages by `module.state`, and
/// `TPU_DIVIDED` is the one after which addresses are assigned.
fn check_state(document: &Document, module: OpId) -> Result<(), PassError> {
    let state = document.attribute(module, "module.state").unwrap_or_default().trim_matches('"');
    if ["TPU_DIVIDED", "TPU_ADDRESSED"].contains(&state) {
        return Ok(());
    }
    let message = format!(
        "the module is in state `{state}`, but addresses are assigned in state TPU_DIVIDED (or again in \
         TPU_ADDRESSED); lower it to the chip's ops and divide it into functions first"
    );
    Err(attribute_error(document, module, "module.state", message))
}

/// The chip that the options name, else the one that the module names.
fn find_chip<'a>(document: &Document, module: OpId, options: &'a Options) -> Result<&'a Chip, PassError> {
    let written = document.attribute(module, "module.chip").unwrap_or_default().trim_matches('"');
    let name = options.chip.as_deref().unwrap_or(written);
    options.chips.get(name).ok_or_else(|| {
        let known: Vec<&str> = options.chips.names().collect();
        let message = format!(
            "chip `{name}` is not known; known are {}; describe others in a TOML file and give it with chips=FILE",
            known.join(", ")
        );
        attribute_error(document, module, "module.chip", message)
    })
}

/// The address mode (where inputs and outputs lie, see `areas`): the one that the options name, else the module's,
/// else the chip's.
fn address_mode(document: &Document, module: OpId, options: &Options, chip: &Chip) -> Result<AddressMode, PassError> {
    let written = document.attribute(module, "module.addr_mode").map(|mode| mode.trim_matches('"'));
    match (options.address_mode, written) {
        (Some(mode), _) => Ok(mode),
        (None, None | Some("auto" | "")) => Ok(chip.auto),
        (None, Some(name)) => AddressMode::find(name).ok_or_else(|| {
            let known: Vec<&str> = AddressMode::ALL.into_iter().map(AddressMode::name).collect();
            let message = format!("there is no addr_mode `{name}`; there are {} and auto", known.join(", "));
            attribute_error(document, module, "module.addr_mode", message)
        }),
    }
}

/// A network with everything that was decided about it.
struct Solved {
    network: Network,
    weights: WeightPlan,
    areas: Areas,
    /// Tensors that keep their content to the end of the run.
    pinned: Vec<TensorId>,
    addresses: IndexVec<TensorId, u64>,
    /// Bytes of the activations: `neuron_size` without the areas that lie behind them.
    extent: u64,
    /// What the statistics show as the lower bound, in bytes: that of all spaces together, at most `extent`.
    lower_bound: u64,
    /// For each concat of the network whether it is merged.
    merged: Vec<bool>,
    /// The packing problem and its plan; `None` for the documented algorithm, which makes no problem.
    packing: Option<(Problem, Plan)>,
}

/// Runs the pass on all global modules of a text: modules with a `module.state`, each of which holds the modules of its
/// devices or is itself the module of the only device. Without a strategy every way to plan is tried, and the smallest
/// plan is taken. The pass refuses (with the place in the text and the reason) what it cannot plan correctly.
pub fn run(
    document: &Document,
    options: &Options,
    strategy: Option<&dyn Strategy>,
    request: &Request,
) -> Result<Assigned, PassError> {
    let globals = global_modules(document);
    if globals.is_empty() {
        // No op is to blame, so the error is about the start of the text.
        let message = "there is no module with a `module.state` here: nothing for assign-gmem to do; give it a \
            module of `top` and `tpu` ops in state TPU_DIVIDED";
        return Err(PassError::Op { span: memplan_core::Span::new(0, 0), message: message.to_owned() });
    }
    let mut solved = Vec::new();
    let mut edits = Edits::default();
    let mut remarks = Vec::new();
    for global in globals {
        check_state(document, global)?;
        let mut task = Task::new(document, global, options)?;
        let devices = device_modules(document, global);
        let mut planned = task.solve_devices(&devices, strategy, request)?;
        // The mode that was used may differ from the one asked for (`io_tag` becomes `basic` if inputs and outputs
        // cannot be tagged), and the text has to say which it is. It says so once for all devices, so if one of them
        // has to be in another mode than the others, all are.
        let is_mixed = planned.iter().any(|found| found.areas.mode != planned[0].areas.mode);
        if is_mixed && options.mode == Mode::Documented {
            // The documented algorithm knows one plan only. On some devices it overwrites inputs, so the text must not
            // promise for any that they survive.
            for found in &mut planned {
                found.areas.mode = AddressMode::InReuse;
                found.areas.note = task.documented_note(AddressMode::InReuse);
                found.pinned = lifecycle::pinned(&found.network, true);
            }
        } else if is_mixed {
            let notes: Vec<_> = planned.iter().map(|found| found.areas.note.clone()).collect();
            task.mode = AddressMode::Basic;
            planned = task.solve_devices(&devices, strategy, request)?;
            // Why the mode is not the one asked for was said the first time, of the devices that cannot have it.
            let because_of_another = "this device is in addr_mode basic, too, because another one has to be";
            for (found, note) in planned.iter_mut().zip(notes) {
                let note = note.unwrap_or_else(|| because_of_another.to_owned());
                found.areas.note = found.areas.note.take().or(Some(note));
            }
        }
        let mode = planned.first().map_or(task.mode, |found| found.areas.mode);
        for (&module, found) in devices.iter().zip(planned) {
            still_waiting()?;
            task.rewrite(&found, &mut edits);
            still_waiting()?;
            remarks.extend(task.remarks(&found));
            let attributes = task.module_attributes(&found);
            // If there are no inner modules, the device's module and the global one are the same op, and an op's
            // attributes must be written by one edit.
            if module == global {
                task.rewrite_global(mode, attributes, &mut edits);
            } else {
                set_attributes(document, module, &attributes, &mut edits);
            }
            solved.push(found);
        }
        // If the global module has inner modules, it has not been rewritten yet. It gets the new state and mode, and no
        // further attributes: those belong to the modules of the devices.
        if devices != [global] {
            task.rewrite_global(mode, Attributes::new(), &mut edits);
        }
    }
    // What the caller needs to report and to check the result: statistics, the program with all addresses for the
    // dataflow check, and problems with their plans for the packing check.
    let stats = solved.iter().map(|found| saving(document, found)).collect();
    still_waiting()?;
    let (program, placements) = addressed_program(document, &solved)?;
    let packings = solved.into_iter().filter_map(|found| found.packing).collect();
    Ok(Assigned { edits, program, placements, packings, remarks, stats })
}

impl Task<'_> {
    /// Plans the modules of all devices one by one: each has a memory of its own. Planning a large network may take
    /// long, so `still_waiting` is called in between: it ends the pass with an error if the user's time limit is over.
    fn solve_devices(
        &self,
        devices: &[OpId],
        strategy: Option<&dyn Strategy>,
        request: &Request,
    ) -> Result<Vec<Solved>, PassError> {
        let solve = |&module: &OpId| still_waiting().and_then(|()| self.solve(module, strategy, request));
        devices.iter().map(solve).collect()
    }

    /// Plans one module: weights, then activations, then checks that everything fits the chip.
    fn solve(&self, module: OpId, strategy: Option<&dyn Strategy>, request: &Request) -> Result<Solved, PassError> {
        let network = self.network(module)?;
        still_waiting()?;
        if let Some(function) = rewrite::generic_function(self.document, &network) {
            let message = "a function in generic form has no place for addresses in its signature; \
                print it in its own form, `func.func @name(…)`";
            return Err(self.error(function, message.to_owned()));
        }
        self.check_weight_file(&network)?;
        let weights = WeightPlan::new(&network, self.chip, self.options.contents.as_ref());
        let weights = weights.ok_or_else(|| self.too_large(module))?;
        self.check_room(module, "the weights", weights.start, weights.size)?;
        still_waiting()?;
        // Where activations begin depends on the weights, so the weights are planned first.
        let solved = match self.options.mode {
            Mode::Best => self.solve_best(module, network, weights, strategy, request)?,
            Mode::Documented => self.solve_documented(module, network, weights)?,
        };
        // Some areas have an address of their own. The others lie behind the activations and share their room.
        let behind = solved.areas.behind();
        self.check_room(module, "the activations", solved.areas.neuron, solved.extent.saturating_add(behind))?;
        for area in &solved.areas.list {
            if let Some(base) = area.base {
                self.check_room(module, "the inputs and outputs", base, area.size)?;
            }
        }
        Ok(solved)
    }

    /// Checks that every weight has an array in the weight file, with its shape and its bytes. Without a weight file
    /// there is nothing to check.
    fn check_weight_file(&self, network: &Network) -> Result<(), PassError> {
        let Some(contents) = &self.options.contents else { return Ok(()) };
        for weight in &network.weights {
            if let Some(message) = contents.objection(self.document, weight) {
                return Err(PassError::Op { span: self.document.op(weight.op).span, message });
            }
        }
        Ok(())
    }

    /// The error for sizes that no memory can have.
    fn too_large(&self, module: OpId) -> PassError {
        self.error(module, "the sizes of this network's tensors pass 2^63 bytes together; split it".to_owned())
    }

    /// Checks that the chip has `bytes` bytes from address `base` on, up to its next area.
    fn check_room(&self, module: OpId, what: &str, base: u64, bytes: u64) -> Result<(), PassError> {
        // `room` is `None` if the chip's table names no end of the memory there.
        match self.chip.room(base).filter(|&room| bytes > room) {
            None => Ok(()),
            Some(room) => {
                let chip = &self.chip.name;
                let message = format!(
                    "{what} take {bytes} bytes from address {base:#x} on, but chip `{chip}` has {room} there; \
                     use a smaller batch, split the network, or choose another chip"
                );
                Err(self.error(module, message))
            }
        }
    }

    /// Solves a network in `mode=best`: the smallest plan that any of our ways to plan finds.
    fn solve_best(
        &self,
        module: OpId,
        network: Network,
        weights: WeightPlan,
        strategy: Option<&dyn Strategy>,
        request: &Request,
    ) -> Result<Solved, PassError> {
        let areas = self.areas(module, &network, &weights)?;
        let pinned = self.pinned(&network, &areas);
        let lives = self.lives(&network, &pinned);
        self.check_shared_homes(module, &network, &areas, &lives)?;
        // Bytes of fast memory on the chip that activations may use; `None` if the chip has none.
        let on_chip = self.chip.on_chip.map(|memory| memory.share(self.cores()));
        let setting = Setting { network: &network, chip: self.chip, areas: &areas, lives: &lives, on_chip };
        let chosen = Chooser { setting: &setting, strategy, request }.choose()?;
        let addresses = setting.addresses(&chosen.solved, &chosen.merges, &chosen.plan);
        let extent = setting.extent(&chosen.plan);
        // The bound counts all spaces, the extent only the activations, so the bound may be the larger one.
        let lower_bound = chosen.lower_bound.0.min(extent);
        let merged = chosen.merges.merged.clone();
        let packing = Some((chosen.solved.problem, chosen.plan));
        Ok(Solved { network, weights, areas, pinned, addresses, extent, lower_bound, merged, packing })
    }

    /// Where inputs and outputs go in this module's address mode.
    fn areas(&self, module: OpId, network: &Network, weights: &WeightPlan) -> Result<Areas, PassError> {
        let io = IoOptions { iomem: &self.options.iomem_set, same_address: &self.options.same_address };
        Areas::new(network, self.chip, self.mode, weights, io).map_err(|why| match why {
            NoArea::Request(message) => attribute_error(self.document, self.global, "module.addr_mode", message),
            NoArea::TooLarge => self.too_large(module),
        })
    }

    /// How long the memory of each tensor is needed. It is needed for the whole run if the tensor is pinned, or if
    /// the user forbids sharing, for all tensors (`reuse_addr=false`) or for this one.
    fn lives(&self, network: &Network, pinned: &[TensorId]) -> IndexVec<TensorId, lifecycle::Life> {
        // Whether the user or the address mode keeps this tensor's memory from being used again.
        let forever = |tensor: &TensorId| {
            !self.options.reuse || pinned.contains(tensor) || self.options.alone.contains(network.name(*tensor))
        };
        lifecycle::lives(network, &network.tensors.ids().filter(forever).collect::<Vec<_>>())
    }

    /// The bytes that today's compilers would reserve for the activations, for comparison. `None` if the chip has
    /// on-chip memory, for which their rules are not known here, or if they find no plan.
    fn todays_size(&self, module: OpId) -> Result<Option<u64>, PassError> {
        let network = self.network(module)?;
        let weights = WeightPlan::new(&network, self.chip, None).ok_or_else(|| self.too_large(module))?;
        let areas = self.areas(module, &network, &weights)?;
        let lives = self.lives(&network, &self.pinned(&network, &areas));
        if self.chip.on_chip.is_some() {
            return Ok(None);
        }
        let setting = Setting { network: &network, chip: self.chip, areas: &areas, lives: &lives, on_chip: None };
        let merges = merge::Mergeable::new(&network, &areas).as_today();
        let solved = setting.problem(&merges)?;
        let plan = successor::best_plan(&setting, &merges, &solved, &Request::default());
        Ok(plan.map(|plan| setting.extent(&plan) + areas.behind()))
    }

    /// Tensors whose content is to be found at the end: inputs, unless their
    /// memory may be used again (and outputs, see `lifecycle::pinned`).
    fn pinned(&self, network: &Network, areas: &Areas) -> Vec<TensorId> {
        let mut pinned = lifecycle::pinned(network, areas.mode == AddressMode::InReuse);
        // `same_addr` puts an output in the place of an input, in mode `io_alone`. The content of this input is needed
        // up to its last use only, and then the output overwrites it.
        let taken: Vec<TensorId> =
            self.options.same_address.iter().filter_map(|&(input, _)| network.inputs.get(input)).copied().collect();
        pinned.retain(|tensor| areas.mode != AddressMode::IoAlone || !taken.contains(tensor));
        pinned
    }

    /// Refuses a pair of `same_addr` whose output would be written to its input's place while the input is still
    /// needed.
    fn check_shared_homes(
        &self,
        module: OpId,
        network: &Network,
        areas: &Areas,
        lives: &IndexVec<TensorId, lifecycle::Life>,
    ) -> Result<(), PassError> {
        // The tensor in whose memory the input or output of this number lies.
        let roots = |tensors: &[TensorId], at: usize| tensors.get(at).map(|&tensor| network.root(tensor).0);
        for &(input, output) in self.options.same_address.iter().filter(|_| areas.mode == AddressMode::IoAlone) {
            let (Some(first), Some(second)) = (roots(&network.inputs, input), roots(&network.outputs, output)) else {
                continue;
            };
            // Lives are half-open: an input that ends where the output starts is fine. If both are the same tensor,
            // there is nothing to overwrite.
            if first != second && lives[first].end > lives[second].start {
                let message = format!(
                    "`same_addr` puts output {output} in the place of input {input}, which is still read when the \
                     output is written; leave the pair out"
                );
                return Err(self.error(module, message));
            }
        }
        Ok(())
    }

    /// Solves a network in `mode=documented`: the documented algorithm, step by step, for comparison. It merges no
    /// concats, searches for nothing, and knows the two address modes without areas of their own only.
    fn solve_documented(&self, module: OpId, network: Network, weights: WeightPlan) -> Result<Solved, PassError> {
        if !matches!(self.mode, AddressMode::Basic | AddressMode::InReuse) {
            let message = format!(
                "the documented algorithm knows no addr_mode `{}`; use basic, or leave out mode=documented",
                self.mode.name()
            );
            return Err(attribute_error(self.document, self.global, "module.addr_mode", message));
        }
        let neuron = self.chip.activations.unwrap_or(weights.end());
        let documented = self.documented(&network, neuron, |_, _| {}).ok_or_else(|| self.too_large(module))?;
        // The lower bound comes from the packing problem in which nothing is merged and nothing is pinned.
        let areas = Areas { neuron, ..Areas::default() };
        let lives = lifecycle::lives(&network, &[]);
        let setting = Setting { network: &network, chip: self.chip, areas: &areas, lives: &lives, on_chip: None };
        let lower_bound = bound::lower_bound(&setting.problem(&merge::Merges::none(&network))?.problem).0;
        // The algorithm keeps an input that is passed to another function, and releases any other input after its last
        // read. If it may have released one, the text must say `in_reuse`, so that nobody expects inputs to survive.
        let is_released = network.inputs.iter().any(|&input| !network.tensors[input].crosses);
        let mode = if is_released { AddressMode::InReuse } else { AddressMode::Basic };
        Ok(Solved {
            // A chip with a private pool is told that nothing lies in it.
            areas: Areas {
                neuron,
                mode,
                private: self.chip.private.map(|_| 0),
                note: self.documented_note(mode),
                ..Areas::default()
            },
            pinned: lifecycle::pinned(&network, is_released),
            addresses: documented.addresses,
            extent: documented.size,
            lower_bound,
            merged: vec![false; network.concats.len()],
            packing: None,
            network,
            weights,
        })
    }

    /// Why the documented algorithm is not in the mode that was asked for; `None` if it is, or if nobody asked for one.
    fn documented_note(&self, mode: AddressMode) -> Option<String> {
        let written = self.document.attribute(self.global, "module.addr_mode").map(|mode| mode.trim_matches('"'));
        if self.options.address_mode.is_none() && matches!(written, None | Some("auto" | "")) {
            return None;
        }
        let what = if mode == AddressMode::InReuse { "overwrites inputs" } else { "keeps all inputs" };
        let change = || format!("the documented algorithm {what} ({} becomes {})", self.mode.name(), mode.name());
        (mode != self.mode).then(change)
    }

    /// Runs the documented algorithm from address `start` on; `watch` sees its table after each step. `None` if the
    /// sizes pass 2^63 bytes.
    fn documented(
        &self,
        network: &Network,
        start: u64,
        watch: impl FnMut(&Step, &documented::Table),
    ) -> Option<documented::Documented> {
        documented::assign(network, Ground { start, align: self.chip.align }, watch)
    }

    /// What the user is told about a device: only if the address mode is not the one that was asked for.
    fn remarks(&self, solved: &Solved) -> Vec<Remark> {
        let span = self.document.op(solved.network.module).name_span;
        let note = solved.areas.note.iter().map(|message| Remark { span, message: message.clone() });
        note.collect()
    }

    /// Writes the addresses into the types of tensors, and marks each concat as merged or not: the code generator
    /// copies the operands of a concat unless they have been computed in place.
    fn rewrite(&self, solved: &Solved, edits: &mut Edits) {
        let Solved { network, weights, .. } = solved;
        Addresses { network, tensors: &solved.addresses, weights }.write(self.document, edits);
        for (concat, &merged) in network.concats.iter().zip(&solved.merged) {
            self.mark_concat(network.steps[concat.step].op, merged, edits);
        }
        for &op in &network.other_concats {
            self.mark_concat(op, false, edits);
        }
    }

    /// What the device's module is to say about its memory: addresses and sizes in bytes. An attribute that is `None`
    /// here does not apply to the chip or the mode, and is removed from the text if an earlier run has left it there.
    fn module_attributes(&self, solved: &Solved) -> Attributes<'static> {
        let Solved { weights, areas, .. } = solved;
        // A number as an attribute is written.
        let number = |value: u64| Some(format!("{value} : i64"));
        // The compiler of a chip with pools expects `private_size`, and neither `neuron_addr` nor
        // `dynamic_coeff_offset`.
        let has_pools = self.chip.private.is_some();
        let of_pools = |value: Option<u64>| value.filter(|_| has_pools).and_then(number);
        let of_others = |value: u64| Some(value).filter(|_| !has_pools).and_then(number);
        let size = solved.extent + areas.behind();
        [
            ("module.coeff_addr", number(weights.start)),
            ("module.coeff_size", number(weights.size)),
            ("module.dynamic_coeff_offset", of_others(weights.static_size)),
            ("module.io_addr", areas.io.and_then(|(start, _)| number(start))),
            ("module.io_size", areas.io.and_then(|(_, size)| number(size))),
            ("module.neuron_addr", of_others(areas.neuron)),
            ("module.neuron_size", number(size)),
            ("module.private_size", of_pools(areas.private)),
        ]
        .into_iter()
        .collect()
    }

    /// Tells the code generator by the attribute `only_merge` whether a concat has nothing to copy. Without the
    /// attribute it copies, so a concat that is not merged needs no mark unless the text has one already.
    fn mark_concat(&self, op: OpId, merged: bool, edits: &mut Edits) {
        let written = self.document.attribute(op, "only_merge");
        let is_marked = written.is_some_and(|value| value != "false");
        if is_marked != merged {
            let attributes: Attributes = [("only_merge", Some(merged.to_string()))].into_iter().collect();
            set_attributes(self.document, op, &attributes, edits);
        }
    }

    /// Writes the new state and the address mode into the global module, with further attributes if it is also the
    /// module of the only device.
    fn rewrite_global(&self, mode: AddressMode, mut attributes: Attributes, edits: &mut Edits) {
        attributes.insert("module.state", Some("\"TPU_ADDRESSED\"".to_owned()));
        let written = self.document.attribute(self.global, "module.addr_mode").map(|mode| mode.trim_matches('"'));
        if written != Some(mode.name()) {
            attributes.insert("module.addr_mode", Some(format!("\"{}\"", mode.name())));
        }
        set_attributes(self.document, self.global, &attributes, edits);
    }
}

/// The row of the statistics for one device: bytes of all tensors together (without sharing), and bytes of the plan. A
/// tensor that lies in another one (a view) does not count: `roots_of_memory` has the tensors with memory of their own.
fn saving(document: &Document, solved: &Solved) -> Saving {
    let network = &solved.network;
    let roots = network.roots_of_memory();
    let before = roots.fold(0u64, |sum, id| sum.saturating_add(network.tensors[id].bytes));
    Saving {
        // Passes that plan each function put its name here. This pass plans a whole module.
        function: document.symbol_name(network.module).unwrap_or_default().to_owned(),
        scope: "neuron".to_owned(),
        buffers: network.roots_of_memory().count(),
        before,
        after: solved.extent,
        lower_bound: solved.lower_bound,
    }
}

/// What the dataflow check takes: the networks as one program in which every tensor is a buffer, and the address
/// that was found for each buffer. Every device has a memory of its own, which is a space with the device's number.
fn addressed_program(
    document: &Document,
    solved: &[Solved],
) -> Result<(Program, IndexVec<SiteId, Option<Placement>>), PassError> {
    let networks: Vec<(&Network, Vec<TensorId>)> =
        solved.iter().map(|found| (&found.network, found.pinned.clone())).collect();
    let (program, handles) = lower(document, &networks, Form::Addressed)?;
    let mut placements = IndexVec::filled(None, program.sites().len());
    for (device, (found, handles)) in solved.iter().zip(&handles).enumerate() {
        for (tensor, &handle) in handles.iter_enumerated() {
            if let Origin::Alloc(site) = program.value(handle).origin {
                let space = SpaceId::from_index(device);
                placements[site] = Some(Placement::at(space, Bytes(found.addresses[tensor])));
            }
        }
    }
    Ok((program, placements))
}

/// The networks as one program, and for each network the program's value behind each tensor.
fn lower(
    document: &Document,
    networks: &[(&Network, Vec<TensorId>)],
    form: Form,
) -> Result<(Program, Vec<IndexVec<TensorId, memplan_program::ValueId>>), PassError> {
    program::lower(document, networks, form).map_err(|error| PassError::Op {
        span: memplan_core::Span::new(0, 0),
        message: format!("the network is no program: {error}"),
    })
}
