//! Addresses as they stand in a text, ours or another compiler's, for checking.
//!
//! Every tensor's address is the encoding of its type. The dataflow check says
//! whether the addresses are right together. It does not know that the generated
//! code does nothing for a reshape or for a concat marked `only_merge` (a *merged* concat,
//! whose operands are computed directly into its result), so that the result *must* lie
//! where the operands lie. That is checked here.

use memplan_core::patience::Patience;
use memplan_core::{Bytes, Id, IndexVec, Placement, SpaceId, Span};
use memplan_program::{Program, SiteId};

use super::chip::AddressMode;
use super::network::{Action, Network, TensorId, written_address};
use super::options::Options;
use super::program::{Form, has_buffer};
use super::{Task, device_modules, global_modules, lifecycle, lower};
use crate::pass::{PassError, still_waiting};
use crate::{Document, OpId};

/// A network with the addresses of its tensors.
#[derive(Clone, Debug)]
pub struct Addressed {
    /// The network, every tensor a buffer.
    pub program: Program,
    /// The address of each buffer, as an offset in the space of its device; `None` for one without an address.
    pub placements: IndexVec<SiteId, Option<Placement>>,
    /// Operands and results of ops that move no data, in the wrong place.
    pub misplaced: Vec<Misplaced>,
}

/// A tensor that should lie in another, and does not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Misplaced {
    /// The op that moves no data.
    pub span: Span,
    /// The tensor's name.
    pub tensor: String,
    /// The name of the op.
    pub op: String,
    /// Where it is.
    pub address: u64,
    /// Where it should be.
    pub expected: u64,
}

/// The addresses in a text, without the network.
#[derive(Clone, Debug)]
pub struct WrittenAddresses {
    /// As [`Addressed::placements`].
    pub placements: IndexVec<SiteId, Option<Placement>>,
    /// As [`Addressed::misplaced`].
    pub misplaced: Vec<Misplaced>,
}

/// Reads the addresses in a text; `structure` is the text that says what the
/// network does, `written` the one with the addresses (often the same).
pub fn addressed(structure: &Document, written: &Document, options: &Options) -> Result<Addressed, PassError> {
    let devices = devices(structure, written, options)?;
    let pairs: Vec<(&Network, Vec<TensorId>)> = devices
        .iter()
        .map(|Device { network, mode, addresses, .. }| (network, pinned(network, *mode, addresses)))
        .collect();
    let (program, _) = lower(structure, &pairs, Form::Addressed)?;
    still_waiting()?;
    let WrittenAddresses { placements, misplaced } = found(written, &devices);
    debug_assert_eq!(placements.len(), program.sites().len(), "the buffers are those of the program");
    Ok(Addressed { program, placements, misplaced })
}

/// The addresses that [`addressed`] reads, without the network: for callers that have a program of the network already.
pub fn written_addresses(
    structure: &Document,
    written: &Document,
    options: &Options,
) -> Result<WrittenAddresses, PassError> {
    let devices = devices(structure, written, options)?;
    Ok(found(written, &devices))
}

/// One device of a network, in both texts.
struct Device {
    /// What the device does, by the text that says so.
    network: Network,
    /// The same network in the text with the addresses.
    written: Network,
    /// The address mode of the text with the addresses.
    mode: AddressMode,
    /// The addresses.
    addresses: IndexVec<TensorId, Option<u64>>,
}

/// The devices of two texts, with the addresses that the second one has. The two texts must hold the same network,
/// device by device. Otherwise an address would be checked against the wrong tensor, and the check would mean nothing.
fn devices(structure: &Document, written: &Document, options: &Options) -> Result<Vec<Device>, PassError> {
    let (known, sources) = both_networks(structure, written, options);
    let (known, mut sources) = (known?, sources?.into_iter());
    let mut devices = Vec::new();
    for (network, _) in known {
        let Some((source, mode)) = sources.next().filter(|(source, _)| same_tensors(&network, source)) else {
            let message = "the two files do not hold the same network: their tensors differ".to_owned();
            return Err(PassError::Op { span: structure.op(network.module).name_span, message });
        };
        let addresses = read_addresses(written, &source);
        devices.push(Device { network, written: source, mode, addresses });
    }
    still_waiting()?;
    Ok(devices)
}

/// The address of each buffer of the devices, and tensors in the wrong place.
fn found(document: &Document, devices: &[Device]) -> WrittenAddresses {
    let mut placements = IndexVec::default();
    let mut misplaced = Vec::new();
    // Each device has a memory of its own, so its number is the space of its tensors.
    for (number, Device { network, written, addresses, .. }) in devices.iter().enumerate() {
        let space = SpaceId::from_index(number);
        for (id, tensor) in network.tensors.iter_enumerated() {
            if has_buffer(network, tensor, Form::Addressed) {
                placements.push(addresses[id].map(|address| Placement::at(space, Bytes(address))));
            }
        }
        misplaced.extend(find_misplaced(document, written, addresses));
    }
    WrittenAddresses { placements, misplaced }
}

/// Tensors that must keep their content to the end of the run. `mode` is the one in the text with the addresses: the
/// module before it had addresses may have asked for no mode, or for another one than it got. In mode `io_alone` an
/// output may have been put in the place of an input, which then need not keep its content.
fn pinned(network: &Network, mode: AddressMode, addresses: &IndexVec<TensorId, Option<u64>>) -> Vec<TensorId> {
    let mut pinned = lifecycle::pinned(network, mode == AddressMode::InReuse);
    // Whether an input has the address of some output.
    let is_shared = |input: TensorId| {
        let is_there = |&output: &TensorId| addresses[output].is_some() && addresses[output] == addresses[input];
        network.inputs.contains(&input) && network.outputs.iter().any(is_there)
    };
    pinned.retain(|&tensor| mode != AddressMode::IoAlone || !is_shared(tensor));
    pinned
}

/// The networks of two documents, read on two threads: the caller waits for both, and each takes a tenth of a second
/// for 10^5 tensors.
fn both_networks(structure: &Document, written: &Document, options: &Options) -> (Networks, Networks) {
    // How long the caller waits is known to its own thread only, so the second thread has to be told.
    let patience = Patience::current();
    std::thread::scope(|scope| {
        let of_structure = scope.spawn(|| {
            let _current = patience.as_ref().map(Patience::enter);
            networks(structure, options)
        });
        let of_written = networks(written, options);
        match of_structure.join() {
            Ok(of_structure) => (of_structure, of_written),
            Err(panic) => std::panic::resume_unwind(panic),
        }
    })
}

/// The networks of a document, each with the address mode of its module.
type Networks = Result<Vec<(Network, AddressMode)>, PassError>;

/// All networks of a document, each with the address mode of its module.
fn networks(document: &Document, options: &Options) -> Networks {
    let mut networks = Vec::new();
    for global in global_modules(document) {
        let task = Task::new(document, global, options)?;
        for module in device_modules(document, global) {
            networks.push((Network::read(document, module, task.chip)?, task.mode));
        }
    }
    Ok(networks)
}

/// Whether two networks have the same tensors in the same order, by names and sizes.
fn same_tensors(one: &Network, other: &Network) -> bool {
    let is_same = |id: TensorId| one.name(id) == other.name(id) && one.tensors[id].bytes == other.tensors[id].bytes;
    one.tensors.len() == other.tensors.len() && one.tensors.ids().all(is_same)
}

/// The address that the text gives each tensor; `None` for one whose type has none.
fn read_addresses(document: &Document, network: &Network) -> IndexVec<TensorId, Option<u64>> {
    network.tensors.iter().map(|tensor| written_address(document, tensor.value)).collect()
}

/// Tensors whose written address contradicts another one: views that do not lie in their operand, and operands of
/// merged concats that do not lie in the result.
fn find_misplaced(
    document: &Document,
    network: &Network,
    addresses: &IndexVec<TensorId, Option<u64>>,
) -> Vec<Misplaced> {
    let mut misplaced = Vec::new();
    for (op, tensor, expected) in
        expected_in_views(network, addresses).chain(expected_in_concats(document, network, addresses))
    {
        if let Some(address) = addresses[tensor].filter(|&address| address != expected) {
            let name = network.name(tensor).to_owned();
            let op_name = document.name(op).to_owned();
            misplaced.push(Misplaced { span: document.op(op).span, tensor: name, op: op_name, address, expected });
        }
    }
    misplaced
}

/// For each view the op, its result and the result's address: inside of the operand, at the distance that the network
/// says.
fn expected_in_views(
    network: &Network,
    addresses: &IndexVec<TensorId, Option<u64>>,
) -> impl Iterator<Item = (OpId, TensorId, u64)> {
    let views = network.steps.iter().filter(|step| matches!(step.action, Action::View | Action::Update));
    views.filter_map(|step| {
        let (&result, &source) = (step.writes.first()?, step.reads.first()?);
        let inside = network.root(result).1.saturating_sub(network.root(source).1);
        Some((step.op, result, addresses[source]?.saturating_add(inside)))
    })
}

/// For each operand of a merged concat the op, the operand and the operand's address inside of the result. Only a
/// concat that is marked as merged promises that its operands lie there. Without the mark the generated code copies.
fn expected_in_concats(
    document: &Document,
    network: &Network,
    addresses: &IndexVec<TensorId, Option<u64>>,
) -> impl Iterator<Item = (OpId, TensorId, u64)> {
    let merged = network.concats.iter().filter(|concat| {
        let mark = document.attribute(network.steps[concat.step].op, "only_merge");
        mark.is_some_and(|value| value != "false")
    });
    merged.filter_map(|concat| Some((concat, addresses[concat.result]?))).flat_map(|(concat, result)| {
        let op = network.steps[concat.step].op;
        concat.operands.iter().map(move |&(operand, at)| (op, operand, result.saturating_add(at)))
    })
}
