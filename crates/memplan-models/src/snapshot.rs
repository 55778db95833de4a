//! Memory snapshots of PyTorch: what its caching allocator did, as a problem.
//!
//! `torch.cuda.memory._dump_snapshot("snapshot.pickle")` writes, for each device, the events that were recorded and
//! the segments that the allocator holds in the end:
//!
//! ```text
//! {"device_traces": [[{"action": "alloc",          "addr": 4096, "size": 700, "stream": 0, "frames": [{"name": …}]},
//!                     {"action": "free_requested", "addr": 4096, …},
//!                     {"action": "free_completed", "addr": 4096, …}]],
//!  "segments": [{"device": 0, "stream": 0, "address": 4096, "total_size": 2097152,
//!                "blocks": [{"address": 4096, "size": 1024, "requested_size": 700, "state": "active_allocated"}]}]}
//! ```
//!
//! A segment is a piece of device memory that the allocator got from the driver; it cuts segments into blocks. Every
//! allocation becomes a buffer. Event i is step i + 1; step 0 is before the recording:
//!
//! - A buffer lives from its `alloc` to its `free_completed`, when its bytes may be used again. (`free_requested` comes
//!   earlier if another stream still works with them.)
//! - A block that is freed without having been allocated in the trace was there before: it lives from step 0.
//! - Blocks that are in use in the end and that no event allocated (weights, mostly) live in all steps.
//!
//! Sizes are rounded up to 512 bytes, as the allocator does. Each stream of a device is a space of its own: the
//! allocator, too, never gives the memory of one stream to another. The addresses that the allocator chose are read
//! as a plan, to compare with: in it, the segments of a stream lie one after the other from offset 0.

use std::collections::{BTreeMap, BTreeSet};

use memplan_core::{Buffer, Bytes, Lifetime, Placement, Plan, Problem, ProblemBuilder, Space, SpaceId};

use crate::ReadError;
use crate::allocations::{Allocation, BEFORE, Ledger};
use crate::graph::unique_names;
use crate::pickle::{Pickle, ValueId};

/// PyTorch's allocator rounds sizes up to a multiple of this, so addresses are multiples of it, too.
const BLOCK: u64 = 512;

/// How many frames of a stack are looked at for a name.
const FRAMES: usize = 64;

/// A snapshot that was read.
#[derive(Clone, Debug)]
pub struct ReadSnapshot {
    /// The allocations.
    pub problem: Problem,
    /// Where the caching allocator put them, if the snapshot tells.
    pub plan: Option<Plan>,
    /// The most bytes that the caching allocator held at once, summed over the devices.
    pub reserved: Bytes,
    /// Sentences for the user about what was assumed or left out.
    pub notes: Vec<String>,
}

/// Whether a file begins as a pickle does; no other format of ours has such a first byte.
pub fn is_pickle(head: &[u8]) -> bool {
    matches!(head, [0x80, 2..=5, ..])
}

/// Reads a snapshot.
pub fn read(bytes: &[u8]) -> Result<ReadSnapshot, ReadError> {
    let pickle = Pickle::read(bytes)?;
    let (Some(traces), Some(segments)) =
        (items_of(&pickle, pickle.root(), "device_traces")?, items_of(&pickle, pickle.root(), "segments")?)
    else {
        let error = ReadError::at_byte("snapshot::none", 0, "the pickle is no memory snapshot of PyTorch");
        return Err(error.help("expected a dictionary with segments and device_traces"));
    };
    // Traces are listed by device; segments say which device they belong to.
    let mut parts: BTreeMap<u64, (Vec<Event>, Vec<Segment>)> = BTreeMap::new();
    for (number, &trace) in traces.iter().enumerate() {
        parts.entry(number as u64).or_default().0 = read_events(&pickle, trace)?;
    }
    for segment in read_segments(&pickle, segments)? {
        parts.entry(segment.device).or_default().1.push(segment);
    }
    let device = |(number, (events, segments))| Device::new(number, events, segments);
    assemble(&parts.into_iter().map(device).collect::<Vec<Device>>())
}

/// The items of the list under a key of a dictionary; `None` if there is none.
fn items_of<'p>(pickle: &'p Pickle, id: ValueId, key: &str) -> Result<Option<&'p [ValueId]>, ReadError> {
    match pickle.get(id, key)? {
        Some(list) => pickle.list(list),
        None => Ok(None),
    }
}

/// A piece of device memory that the allocator got from the driver.
#[derive(Clone, Debug)]
struct Segment {
    /// The number of its device.
    device: u64,
    /// The stream for which the allocator got it.
    stream: u64,
    /// Where it lies in the memory of the device.
    address: u64,
    /// In bytes.
    size: u64,
    /// The address and the requested size of each block that is in use, with the name of the code that allocated it.
    used: Vec<(u64, u64, String)>,
}

/// Reads the segments that the allocator holds in the end, with the blocks in them that are in use.
fn read_segments(pickle: &Pickle, segments: &[ValueId]) -> Result<Vec<Segment>, ReadError> {
    let mut result = Vec::new();
    for &segment in segments {
        let (address, size) = (pickle.number(segment, "address")?, pickle.number(segment, "total_size")?);
        let (Some(address), Some(size)) = (address, size) else {
            return Err(ReadError::at_byte("snapshot::segment", 0, "a segment has no address or no size"));
        };
        let mut used = Vec::new();
        // Old releases write no addresses for blocks, which lie one after the other. `next` is where the next block
        // starts.
        let mut next = address;
        for &block in items_of(pickle, segment, "blocks")?.unwrap_or_default() {
            let start = pickle.number(block, "address")?.unwrap_or(next);
            let whole = pickle.number(block, "size")?.unwrap_or_default();
            next = start.saturating_add(whole);
            if pickle.text(block, "state")?.is_some_and(|state| state.starts_with("active")) {
                let requested = pickle.number(block, "requested_size")?.unwrap_or(whole);
                used.push((start, requested, name_of(pickle, block)?));
            }
        }
        let (device, stream) = (pickle.number(segment, "device")?, pickle.number(segment, "stream")?);
        let (device, stream) = (device.unwrap_or_default(), stream.unwrap_or_default());
        result.push(Segment { device, stream, address, size, used });
    }
    Ok(result)
}

/// What an event does to memory.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Action {
    /// It allocates a block.
    Alloc,
    /// It frees a block.
    Free,
    /// The allocator gets a segment from the driver, or maps a part of one.
    SegmentAlloc,
    /// The allocator gives a segment back, or unmaps a part of one.
    SegmentFree,
    /// An event that neither allocates nor frees memory; with its name if the kind is not known, for a note.
    Nothing(Option<String>),
}

/// An event of a trace.
#[derive(Clone, Debug)]
struct Event {
    /// What it does.
    action: Action,
    address: u64,
    size: u64,
    stream: u64,
    /// The name of the code that asked for the memory; empty unless it is an allocation.
    name: String,
}

/// Reads the events of one device. Kinds that neither allocate nor free memory, and unknown kinds, become `Nothing`.
/// They count as steps, too, unless they have no address or size.
fn read_events(pickle: &Pickle, trace: ValueId) -> Result<Vec<Event>, ReadError> {
    let mut events = Vec::new();
    for &event in pickle.list(trace)?.unwrap_or_default() {
        let action = match pickle.text(event, "action")? {
            Some("alloc") => Action::Alloc,
            Some("free_completed" | "free") => Action::Free,
            Some("segment_alloc" | "segment_map") => Action::SegmentAlloc,
            Some("segment_free" | "segment_unmap") => Action::SegmentFree,
            Some("free_requested" | "snapshot" | "oom" | "user_defined") => Action::Nothing(None),
            Some(other) => Action::Nothing(Some(other.chars().take(40).collect())),
            None => return Err(ReadError::at_byte("snapshot::event", 0, "an event of the trace has no action")),
        };
        // An event that changes nothing may come without address and size, and is left out then.
        let address = pickle.number(event, "addr")?.or(pickle.number(event, "address")?);
        let (Some(address), Some(size)) = (address, pickle.number(event, "size")?) else {
            if matches!(action, Action::Nothing(_)) {
                continue;
            }
            return Err(ReadError::at_byte("snapshot::event", 0, "an event of the trace has no address or no size"));
        };
        let name = if action == Action::Alloc { name_of(pickle, event)? } else { String::new() };
        let stream = pickle.number(event, "stream")?.unwrap_or_default();
        events.push(Event { action, address, size, stream, name });
    }
    Ok(events)
}

/// The name of the code that allocated a block: the innermost frame of the user's own program, as
/// `function file:line`. If there is none, a Python frame of PyTorch, or else any frame.
fn name_of(pickle: &Pickle, owner: ValueId) -> Result<String, ReadError> {
    let mut best: Option<(u8, ValueId)> = None;
    for &frame in items_of(pickle, owner, "frames")?.unwrap_or_default().iter().take(FRAMES) {
        let file = pickle.text(frame, "filename")?.unwrap_or_default();
        // With C++ stacks the innermost frames are those of PyTorch's own library, whose names help nobody. The
        // lowest rank wins, and of equal ranks the innermost frame.
        let rank = match file {
            _ if !file.ends_with(".py") => 2,
            _ if file.contains("/torch/") || file.starts_with("torch/") => 1,
            _ => 0,
        };
        if best.is_none_or(|(other, _)| rank < other) {
            best = Some((rank, frame));
        }
        // No frame can have a lower rank.
        if rank == 0 {
            break;
        }
    }
    let Some((_, frame)) = best else { return Ok("no frame".to_owned()) };
    let file = pickle.text(frame, "filename")?.unwrap_or_default();
    let short = file.rsplit(['/', '\\']).next().unwrap_or_default();
    let function: String = pickle.text(frame, "name")?.unwrap_or_default().chars().take(120).collect();
    Ok(format!("{function} {short}:{}", pickle.number(frame, "line")?.unwrap_or_default()))
}

/// A device with its part of the snapshot.
struct Device {
    /// Its number.
    number: u64,
    /// What was recorded, in order.
    events: Vec<Event>,
    /// The segments that the allocator holds in the end.
    segments: Vec<Segment>,
    /// The allocations that follow from both.
    allocations: Vec<Allocation>,
    /// How many of them were there before the recording began.
    older: usize,
}

impl Device {
    /// A device whose allocations are found from its events and segments.
    fn new(number: u64, events: Vec<Event>, segments: Vec<Segment>) -> Device {
        let mut device = Device { number, events, segments, allocations: Vec::new(), older: 0 };
        device.follow_events();
        device
    }

    /// Finds the allocations with their starts and ends.
    fn follow_events(&mut self) {
        let mut ledger = Ledger::default();
        for (index, event) in self.events.iter().enumerate() {
            let step = index as u64 + 1;
            let one = Allocation {
                stream: event.stream,
                address: event.address,
                size: event.size,
                start: step,
                end: step,
                name: event.name.clone(),
            };
            match event.action {
                Action::Alloc => ledger.allocate(one),
                Action::Free => ledger.free(one),
                // Segments hold blocks. Their events change what the allocator has reserved (`reserved`), and no
                // allocation.
                _ => {}
            }
        }
        // A block that is in use in the end and was not allocated in the trace was in use before the recording began.
        for segment in &self.segments {
            for (address, size, name) in &segment.used {
                if ledger.is_open(*address) {
                    continue;
                }
                let name = if name == "no frame" { BEFORE.to_owned() } else { name.clone() };
                ledger.always((segment.stream, *address, *size), name);
            }
        }
        self.older = ledger.older();
        self.allocations = ledger.finish(self.events.len() as u64 + 1);
    }

    /// The most bytes that the allocator held in segments at once. The snapshot has the segments in the end; going back
    /// through the events, each segment that was allocated is taken away and each that was freed is added.
    fn reserved(&self) -> u64 {
        let mut now = self.segments.iter().fold(0u64, |sum, segment| sum.saturating_add(segment.size));
        let mut most = now;
        for event in self.events.iter().rev() {
            match event.action {
                Action::SegmentAlloc => now = now.saturating_sub(event.size),
                Action::SegmentFree => now = now.saturating_add(event.size),
                _ => {}
            }
            most = most.max(now);
        }
        most
    }

    /// Address and size of every segment that the snapshot mentions, by stream, the lowest address first. Segments
    /// that were freed during the recording count, too. `None` if two segments of a stream overlap: an address was
    /// reused with another size, and then the offsets of PyTorch's own plan cannot be told from addresses.
    fn ranges(&self) -> Option<BTreeMap<u64, Vec<(u64, u64)>>> {
        let mut sets: BTreeMap<u64, BTreeSet<(u64, u64)>> = BTreeMap::new();
        for segment in self.segments.iter().filter(|segment| segment.size > 0) {
            sets.entry(segment.stream).or_default().insert((segment.address, segment.size));
        }
        for event in self.events.iter().filter(|event| event.action == Action::SegmentFree && event.size > 0) {
            sets.entry(event.stream).or_default().insert((event.address, event.size));
        }
        // Each segment must end at or before the start of the next one.
        let is_apart = |pair: &[(u64, u64)]| pair[0].0.checked_add(pair[0].1).is_some_and(|end| end <= pair[1].0);
        let sorted = |(stream, set): (u64, BTreeSet<(u64, u64)>)| {
            let ranges: Vec<(u64, u64)> = set.into_iter().collect();
            ranges.windows(2).all(is_apart).then_some((stream, ranges))
        };
        sets.into_iter().map(sorted).collect()
    }

    /// The streams that have allocations.
    fn streams(&self) -> BTreeSet<u64> {
        self.allocations.iter().map(|allocation| allocation.stream).collect()
    }
}

/// Puts the allocations of all devices into one problem, with the allocator's own plan beside it.
fn assemble(devices: &[Device]) -> Result<ReadSnapshot, ReadError> {
    let mut builder = ProblemBuilder::new();
    let mut spaces: BTreeMap<(u64, u64), SpaceId> = BTreeMap::new();
    // A space for each stream of each device. The file may give streams any numbers, so names count them instead.
    for device in devices {
        for (index, stream) in device.streams().into_iter().enumerate() {
            let name = if index == 0 { String::new() } else { format!(" stream {index}") };
            let space = Space { alignment: Bytes(BLOCK), ..Space::new(format!("cuda:{}{name}", device.number)) };
            spaces.insert((device.number, stream), builder.space(space));
        }
    }
    // Names must be unique in the whole problem, so the allocations of all devices are named together.
    let all: Vec<(&Device, &Allocation)> =
        devices.iter().flat_map(|device| device.allocations.iter().map(move |one| (device, one))).collect();
    let names = unique_names(all.iter().map(|(_, one)| one.name.clone()).collect(), "allocation");
    for ((device, one), name) in all.iter().zip(names) {
        let size = one.size.checked_next_multiple_of(BLOCK).ok_or_else(too_large)?;
        let mut buffer = Buffer::new(name, size, Lifetime::new(one.start, one.end));
        buffer.spaces = smallvec::smallvec![spaces[&(device.number, one.stream)]];
        builder.buffer(buffer);
    }
    let problem = builder.build().map_err(|error| ReadError::at_byte("snapshot::too-large", 0, error.to_string()))?;
    let plan = own_plan(devices, &spaces, &all, &problem);
    let reserved = devices.iter().try_fold(0u64, |sum, device| sum.checked_add(device.reserved()));
    let notes = notes(devices, plan.is_some());
    Ok(ReadSnapshot { problem, plan, reserved: Bytes(reserved.ok_or_else(too_large)?), notes })
}

/// The error about sizes that no memory has.
fn too_large() -> ReadError {
    ReadError::at_byte("snapshot::too-large", 0, "the sizes add up to more than 2^63 bytes")
}

/// A segment in the allocator's own plan.
#[derive(Clone, Copy)]
struct Laid {
    address: u64,
    size: u64,
    /// Where the segment begins in its space.
    base: u64,
}

/// The addresses that the caching allocator chose, as a plan: the segments of each space one after the other. `all`
/// are the allocations in the order of the problem's buffers. `None` if the snapshot does not tell the place of every
/// allocation.
fn own_plan(
    devices: &[Device],
    spaces: &BTreeMap<(u64, u64), SpaceId>,
    all: &[(&Device, &Allocation)],
    problem: &Problem,
) -> Option<Plan> {
    let mut layouts: BTreeMap<(u64, u64), Vec<Laid>> = BTreeMap::new();
    let mut plan = Plan::empty(problem);
    // Segments lie anywhere in the address space of the device, and a plan has offsets from 0. So the segments of a
    // space are laid one after the other.
    for device in devices {
        for (stream, ranges) in device.ranges()? {
            let Some(&space) = spaces.get(&(device.number, stream)) else { continue };
            let mut next = 0u64;
            let mut layout = Vec::new();
            for (address, size) in ranges {
                layout.push(Laid { address, size, base: next });
                next = next.checked_add(size)?;
            }
            plan.extents[space] = Bytes(next);
            layouts.insert((device.number, stream), layout);
        }
    }
    // If one allocation lies outside of all segments, the recording is incomplete, and there is no plan to compare
    // with.
    for ((device, one), placement) in all.iter().zip(plan.placements.iter_mut()) {
        let stream = (device.number, one.stream);
        *placement = Some(Placement::at(spaces[&stream], offset_of(one, layouts.get(&stream)?)?));
    }
    Some(plan)
}

/// The offset of an allocation in its space; `None` if it lies in none of the segments, which are sorted by address.
fn offset_of(one: &Allocation, layout: &[Laid]) -> Option<Bytes> {
    // The segment of an allocation is the last one that starts at or before its address.
    let after = layout.partition_point(|laid| laid.address <= one.address);
    let &Laid { address, size, base } = layout.get(after.checked_sub(1)?)?;
    let inside = one.address - address;
    (inside.checked_add(one.size)? <= size).then(|| Bytes(base + inside))
}

/// Notes on what is missing in the recording and what was assumed.
fn notes(devices: &[Device], is_plan_known: bool) -> Vec<String> {
    let mut notes = Vec::new();
    let events: usize = devices.iter().map(|device| device.events.len()).sum();
    if events == 0 {
        notes.push(
            "no events were recorded; call torch.cuda.memory._record_memory_history() before what is to be seen".into(),
        );
    }
    let older: usize = devices.iter().map(|device| device.older).sum();
    if older > 0 {
        notes.push(format!("{older} allocations were there before the recording began; they live from step 0"));
    }
    if devices.iter().any(|device| device.streams().len() > 1) {
        notes.push("each stream has a space of its own, as in PyTorch's allocator".into());
    }
    // Newer releases may record more kinds of events; nothing about memory should be missed silently.
    let unknown: BTreeSet<&str> = devices
        .iter()
        .flat_map(|device| &device.events)
        .filter_map(|event| if let Action::Nothing(Some(name)) = &event.action { Some(name.as_str()) } else { None })
        .collect();
    if !unknown.is_empty() {
        let names: Vec<&str> = unknown.into_iter().take(8).collect();
        notes.push(format!("events that are not known were left out: {}", names.join(", ")));
    }
    if !is_plan_known && events > 0 {
        notes.push("the snapshot does not tell where PyTorch's allocator put everything".into());
    }
    notes
}
