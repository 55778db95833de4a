//! Traces of PyTorch's profiler: its memory events, as a problem.
//!
//! `torch.profiler.profile(profile_memory=True)` counts what PyTorch allocates, and `export_chrome_trace("trace.json")`
//! writes it, an instant event for each allocation and each free (negative bytes), among the operators that ran:
//!
//! ```text
//! {"traceEvents": [
//!   {"ph": "X", "cat": "cpu_op", "name": "aten::relu", "tid": 7, "ts": 10.0, "dur": 5.0, …},
//!   {"ph": "i", "cat": "cpu_instant_event", "name": "[memory]", "tid": 7, "ts": 11.0,
//!    "args": {"Addr": 4096, "Bytes": 1024, "Total Allocated": 1024, "Total Reserved": 0,
//!             "Device Type": 0, "Device Id": -1}},
//!   {…, "name": "[memory]", "ts": 20.0, "args": {"Addr": 4096, "Bytes": -1024, "Total Allocated": 0, …}}]}
//! ```
//!
//! The i-th memory event, by time, is step i + 1, and step 0 is before the recording; an allocation lives from its
//! event to that of the free at its address. It is called after the outermost operator that runs then (`aten::relu`
//! here) and, if the profiler recorded stacks, after the innermost function of the user's program. Each device is a
//! space.
//!
//! `Total Allocated` also counts bytes that were allocated before the profiler began. The part of them that is not
//! freed in the trace becomes one buffer that lives all the time, so that the peak is the same as PyTorch's own.
//!
//! From some traces the lives cannot be told: they have no memory events or no addresses (releases before 1.12), or the
//! sizes of an allocation and its free differ. These are refused, with the reason.

mod scopes;

use std::borrow::Cow;
use std::collections::BTreeMap;

use memplan_core::{Buffer, Bytes, Lifetime, Problem, ProblemBuilder, Space, SpaceId, Span};
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::ReadError;
use crate::allocations::{Allocation, BEFORE, Ledger};
use crate::graph::unique_names;
use crate::json;
use scopes::Scopes;

/// The alignment of addresses in PyTorch's caching allocator for GPUs.
const DEVICE_ALIGNMENT: u64 = 512;

/// The alignment of addresses in PyTorch's allocator for CPUs.
const HOST_ALIGNMENT: u64 = 64;

/// The name of memory events.
const MEMORY: &str = "[memory]";

/// How many bytes of a file are searched for the beginning of the list of events. Before it there are facts about the
/// machine.
const HEAD: usize = 1 << 20;

/// A trace that was read.
#[derive(Clone, Debug)]
pub struct ReadTrace {
    /// The allocations.
    pub problem: Problem,
    /// The most bytes that were allocated at once, as PyTorch counted them, summed over the devices.
    pub allocated: Bytes,
    /// The most bytes that caching allocators had reserved, summed over the devices; 0 if there is none.
    pub reserved: Bytes,
    /// Sentences for the user about what was assumed or left out.
    pub notes: Vec<String>,
}

/// Whether a text looks like a trace in Chrome's format, as the profiler writes it.
pub fn is_trace(text: &str) -> bool {
    // The cut moves back to the start of a character, because a slice may not end inside of one.
    let mut head = text.len().min(HEAD);
    while !text.is_char_boundary(head) {
        head -= 1;
    }
    text.trim_start().starts_with('{') && text[..head].contains("\"traceEvents\"")
}

/// Reads a trace.
pub fn read(text: &str) -> Result<ReadTrace, ReadError> {
    let file: File = serde_json::from_str(text).map_err(|error| json::syntax_error(text, text, &error))?;
    let mut changes = Vec::new();
    for event in file.events.iter().filter(|event| event.name == MEMORY) {
        changes.push(Change::read(text, event)?);
    }
    // Requests for 0 bytes take no memory.
    changes.retain(|change| change.bytes != 0);
    if changes.is_empty() {
        let error = ReadError::new("kineto::no-memory", text, Span::new(0, 1), "the trace has no memory events");
        return Err(error.help("record it with torch.profiler.profile(profile_memory=True)"));
    }
    // Events of several threads stand in the file one thread after the other. The sort keeps the order of equal times.
    changes.sort_by(|one, other| one.time.total_cmp(&other.time));
    let names = Scopes::new(&file.events).names(&changes);
    let devices = follow(text, &changes, &names)?;
    // The steps of the events are 1, 2, …; allocations that are never freed end one step after the last event.
    assemble(devices, changes.len() as u64 + 1)
}

/// The file: a list of events, and other things that are not read.
#[derive(Deserialize)]
struct File<'a> {
    #[serde(borrow, rename = "traceEvents")]
    events: Vec<Event<'a>>,
}

/// An event of any kind; of most, only name and time matter.
#[derive(Deserialize)]
struct Event<'a> {
    #[serde(borrow, default)]
    /// What ran, such as `aten::relu`.
    name: Cow<'a, str>,
    #[serde(borrow, default)]
    /// The category, such as `cpu_op`.
    cat: Cow<'a, str>,
    /// When it begins, in microseconds.
    #[serde(default)]
    ts: f64,
    /// How long it lasts, in microseconds; 0 for an instant.
    #[serde(default)]
    dur: f64,
    /// A number or a text, compared as it is written.
    #[serde(borrow)]
    tid: Option<&'a RawValue>,
    #[serde(borrow)]
    /// More facts, whose form depends on the kind of event; not parsed yet.
    args: Option<&'a RawValue>,
}

impl<'a> Event<'a> {
    /// The thread that it belongs to; empty if the file does not say.
    fn thread(&self) -> &'a str {
        self.tid.map_or("", RawValue::get)
    }
}

/// The `args` of a memory event.
#[derive(Deserialize)]
struct Facts {
    #[serde(rename = "Addr")]
    address: Option<u64>,
    #[serde(rename = "Bytes")]
    bytes: Option<i64>,
    #[serde(rename = "Device Type", default)]
    kind: i64,
    #[serde(rename = "Device Id", default)]
    number: i64,
    #[serde(rename = "Total Allocated")]
    allocated: Option<u64>,
    #[serde(rename = "Total Reserved")]
    reserved: Option<u64>,
}

/// A memory event: an allocation, or a free, whose bytes are negative.
struct Change<'a> {
    /// When it happened, in microseconds.
    time: f64,
    /// The thread in which it happened, as the file writes it.
    thread: &'a str,
    /// Where it stands in the file.
    span: Span,
    /// Kind and number of the device, as PyTorch counts them.
    device: (i64, i64),
    /// Where the memory lies.
    address: u64,
    /// How many bytes are allocated; negative for a free.
    bytes: i64,
    /// PyTorch's own totals after the event: bytes allocated, and bytes reserved by the caching allocator.
    allocated: Option<u64>,
    reserved: Option<u64>,
}

impl<'a> Change<'a> {
    /// Reads one memory event of the file `text`.
    fn read(text: &str, event: &Event<'a>) -> Result<Change<'a>, ReadError> {
        let args = event.args.map_or("", RawValue::get);
        let span = span_of(text, args);
        let facts: Facts = serde_json::from_str(args).map_err(|error| {
            let message = error.to_string();
            let reason = message.split(" at line ").next().unwrap_or_default();
            ReadError::new("kineto::event", text, span, format!("a memory event cannot be read: {reason}"))
        })?;
        // Old releases wrote totals only. Without addresses a free cannot be matched with its allocation, and a life
        // that was guessed would be a wrong problem.
        let (Some(address), Some(bytes)) = (facts.address, facts.bytes) else {
            let message =
                "a memory event has no address or no size: which free belongs to which allocation is not known";
            let help = "PyTorch 1.12 and later write `Addr` and `Bytes`; torch.cuda.memory._dump_snapshot() does, too";
            return Err(ReadError::new("kineto::no-address", text, span, message).help(help));
        };
        Ok(Change {
            time: event.ts,
            thread: event.thread(),
            span,
            device: (facts.kind, facts.number),
            address,
            bytes,
            allocated: facts.allocated,
            reserved: facts.reserved,
        })
    }
}

/// Where a part of the text stands in it, cut to 200 bytes. `part` is a slice of `text`, or an empty text if the
/// event has no arguments; then the place is the beginning of the file.
fn span_of(text: &str, part: &str) -> Span {
    match (part.as_ptr() as usize).checked_sub(text.as_ptr() as usize) {
        Some(start) if start + part.len() <= text.len() => Span::new(start, start + part.len().min(200)),
        _ => Span::new(0, text.len().min(1)),
    }
}

/// A device while its events are followed.
#[derive(Default)]
struct Device {
    /// Its allocations, paired with their frees.
    ledger: Ledger,
    /// Bytes that were allocated before its first event, without those that have been freed since.
    before: u64,
    /// The most bytes that were allocated at once, by PyTorch's totals.
    allocated: u64,
    /// The most bytes that were reserved at once.
    reserved: u64,
    /// How many events have another total than that of the event before, plus their own bytes: events are missing
    /// there.
    breaks: usize,
    /// PyTorch's total after the last event that has one.
    total: Option<u64>,
}

impl Device {
    /// Compares PyTorch's own totals with the bytes of the events. The first total, without the bytes of its event,
    /// is what was allocated before the recording.
    fn count(&mut self, change: &Change) {
        self.reserved = self.reserved.max(change.reserved.unwrap_or_default());
        let Some(now) = change.allocated else { return };
        let expected = match self.total {
            Some(total) => total.checked_add_signed(change.bytes),
            None => {
                self.before = now.saturating_add_signed(change.bytes.saturating_neg());
                Some(now)
            }
        };
        self.breaks += usize::from(expected != Some(now));
        self.allocated = self.allocated.max(now);
        self.total = Some(now);
    }
}

/// Follows the events of every device. `changes` are the events in the order of time, and `names` their names. An error
/// if an allocation and its free have different sizes.
fn follow(text: &str, changes: &[Change], names: &[String]) -> Result<BTreeMap<(i64, i64), Device>, ReadError> {
    let mut devices: BTreeMap<(i64, i64), Device> = BTreeMap::new();
    for (index, (change, name)) in changes.iter().zip(names).enumerate() {
        let step = index as u64 + 1;
        let device = devices.entry(change.device).or_default();
        device.count(change);
        let (size, address) = (change.bytes.unsigned_abs(), change.address);
        let one = Allocation { stream: 0, address, size, start: step, end: step, name: name.clone() };
        if change.bytes > 0 {
            device.ledger.allocate(one);
            continue;
        }
        match device.ledger.size_at(address) {
            // The freed bytes were not allocated in the trace, so they were allocated before. The ledger makes a buffer
            // of them, so they are taken off the bytes in `before`, which become one other buffer.
            None => device.before = device.before.saturating_sub(size),
            Some(allocated) if allocated != size => {
                let message = format!("{size} bytes are freed at an address where {allocated} were allocated");
                let help = "events are missing in the trace: which free belongs to which allocation is not known";
                return Err(ReadError::new("kineto::pairs", text, change.span, message).help(help));
            }
            Some(_) => {}
        }
        device.ledger.free(one);
    }
    Ok(devices)
}

/// Puts the allocations of all devices into one problem. Allocations that are never freed live up to step `last`.
fn assemble(devices: BTreeMap<(i64, i64), Device>, last: u64) -> Result<ReadTrace, ReadError> {
    let allocated = Bytes(sum(devices.values().map(|device| device.allocated)));
    let reserved = Bytes(sum(devices.values().map(|device| device.reserved)));
    let notes = notes(&devices);
    // Each device becomes a space. All its allocations are collected first, because names must be unique over all
    // devices.
    let mut builder = ProblemBuilder::new();
    let mut all: Vec<(SpaceId, Allocation)> = Vec::new();
    for ((kind, number), mut device) in devices {
        // PyTorch numbers kinds of devices: 0 is the host, 1 is CUDA. Others are named by their number.
        let (name, alignment) = match kind {
            0 => ("cpu".to_owned(), HOST_ALIGNMENT),
            1 => (format!("cuda:{number}"), DEVICE_ALIGNMENT),
            _ => (format!("device {kind}:{number}"), DEVICE_ALIGNMENT),
        };
        let space = builder.space(Space { alignment: Bytes(alignment), ..Space::new(name) });
        // Bytes from before that are never freed become one buffer that is always alive, since they count for the peak.
        if device.before > 0 {
            device.ledger.always((0, 0, device.before), BEFORE.to_owned());
        }
        all.extend(device.ledger.finish(last).into_iter().map(|one| (space, one)));
    }
    let names = unique_names(all.iter().map(|(_, one)| one.name.clone()).collect(), "allocation");
    for ((space, one), name) in all.into_iter().zip(names) {
        let mut buffer = Buffer::new(name, one.size, Lifetime::new(one.start, one.end));
        buffer.spaces = smallvec::smallvec![space];
        builder.buffer(buffer);
    }
    let problem = builder.build().map_err(|error| ReadError::at_byte("kineto::too-large", 0, error.to_string()))?;
    Ok(ReadTrace { problem, allocated, reserved, notes })
}

/// The sum of byte counts, or the largest number if it does not fit.
fn sum(counts: impl Iterator<Item = u64>) -> u64 {
    counts.fold(0, u64::saturating_add)
}

/// Notes on the recording: what was there before it, and what is missing in it.
fn notes(devices: &BTreeMap<(i64, i64), Device>) -> Vec<String> {
    let mut notes = Vec::new();
    let older: usize = devices.values().map(|device| device.ledger.older()).sum();
    if older > 0 {
        notes.push(format!("{older} allocations were there before the recording began; they live from step 0"));
    }
    if devices.values().any(|device| device.before > 0) {
        notes.push(format!("what was there before and is never freed is one buffer, `{BEFORE}`"));
    }
    let breaks: usize = devices.values().map(|device| device.breaks).sum();
    if breaks > 0 {
        notes.push(format!("PyTorch's own totals skip {breaks} times: events are missing, and the peak may be higher"));
    }
    if devices.keys().any(|&(kind, _)| kind != 0) {
        notes.push("a trace does not tell streams apart; a snapshot does".into());
    }
    notes
}

/// Groups things by the thread that they belong to. In each group they keep their order.
fn by_thread<'a, T>(items: impl Iterator<Item = (&'a str, T)>) -> BTreeMap<&'a str, Vec<T>> {
    let mut threads: BTreeMap<&str, Vec<T>> = BTreeMap::new();
    for (thread, item) in items {
        threads.entry(thread).or_default().push(item);
    }
    threads
}
