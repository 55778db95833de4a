//! A plan as a memory snapshot of PyTorch, for its viewer.
//!
//! The viewer draws what an allocator did: `alloc` and `free` events with
//! addresses, in order, and the segments at the end. A memory space becomes a
//! device with one segment of the plan's extent, and every stretch of a buffer's
//! life an allocation. The name of a buffer, and where it comes from if that is
//! known, is the stack frame of its allocation.
//!
//! An allocator hands out a byte once at a time, and viewers rely on it. So where
//! a buffer takes over bytes of one that is still alive (in place, or tied to it),
//! the older allocation is freed first.
//!
//! The file is a pickle, written here by hand in protocol 2: dictionaries,
//! lists, texts and numbers are all it takes.

use std::collections::BTreeMap;

use memplan_core::{BufferId, Id, Plan, Problem, SpaceId};

/// The snapshot as the bytes of a pickle. `origin` says where a buffer comes from, such as the line of a source; `None`
/// if that is not known.
pub fn write(problem: &Problem, plan: &Plan, origin: impl Fn(BufferId) -> Option<String>) -> Vec<u8> {
    let mut pickle = Pickle::new();
    // The keys are those of PyTorch's own snapshots, as its viewer reads them.
    pickle.dictionary(|pickle| {
        pickle.text("segments");
        pickle.list(|pickle| problem.spaces().ids().for_each(|space| segment(pickle, problem, plan, space)));
        pickle.text("device_traces");
        pickle.list(|pickle| {
            for space in problem.spaces().ids() {
                pickle.list(|pickle| trace(pickle, problem, plan, space, &origin));
            }
        });
        pickle.text("allocator_settings");
        pickle.dictionary(|_| {});
    });
    pickle.finish()
}

/// What the device holds at the end: one segment, nothing in it in use.
fn segment(pickle: &mut Pickle, problem: &Problem, plan: &Plan, space: SpaceId) {
    let base = problem.spaces()[space].base.0;
    let extent = plan.extents.get(space).copied().unwrap_or_default().0;
    pickle.dictionary(|pickle| {
        let numbers = [
            ("device", space.index() as u64),
            ("address", base),
            ("total_size", extent),
            ("allocated_size", 0),
            ("active_size", 0),
            ("requested_size", 0),
            ("stream", 0),
        ];
        numbers.into_iter().for_each(|(name, number)| pickle.number_field(name, number));
        pickle.text_field("segment_type", "large");
        pickle.text("blocks");
        // All allocations have been freed by the end, so the segment is one inactive block.
        pickle.list(|pickle| {
            pickle.dictionary(|pickle| {
                pickle.number_field("address", base);
                pickle.number_field("size", extent);
                pickle.number_field("requested_size", 0);
                pickle.text_field("state", "inactive");
                pickle.text("frames");
                pickle.list(|_| {});
            });
        });
    });
}

/// A buffer, or the bytes of it that are in use, begins or ends to be alive.
struct Event {
    /// The step at which it happens.
    step: u64,
    /// Whether it begins. Ends come before beginnings of the same step: lives are half-open, so the newcomer may have
    /// the bytes.
    is_alloc: bool,
    /// The buffer.
    buffer: BufferId,
    /// The first of the bytes, counted from address 0 and not from the start of the space.
    address: u64,
    /// How many bytes, at least 1.
    bytes: u64,
}

/// The events of one space in the form of PyTorch's allocator: one segment for the space, then the
/// allocations and releases of its buffers by step. PyTorch records a release as two events (asked
/// for, and done), and its viewer expects both.
fn trace(
    pickle: &mut Pickle,
    problem: &Problem,
    plan: &Plan,
    space: SpaceId,
    origin: &impl Fn(BufferId) -> Option<String>,
) {
    // The segment is the memory of the space, as far as the plan needs it.
    let extent = plan.extents.get(space).copied().unwrap_or_default().0;
    let name = &problem.spaces()[space].name;
    entry(pickle, "segment_alloc", problem.spaces()[space].base.0, extent, 0, (name, None));
    for event in events(problem, plan, space) {
        let frame = (&problem.buffers()[event.buffer].name, origin(event.buffer));
        let actions: &[&str] = if event.is_alloc { &["alloc"] } else { &["free_requested", "free_completed"] };
        for action in actions {
            entry(pickle, action, event.address, event.bytes, event.step, (frame.0, frame.1.as_deref()));
        }
    }
}

/// Writes one event. `frame` is what the viewer shows as the place in the source: a name and a file. A step is shown
/// as a microsecond.
fn entry(pickle: &mut Pickle, action: &str, address: u64, bytes: u64, step: u64, frame: (&str, Option<&str>)) {
    pickle.dictionary(|pickle| {
        pickle.text_field("action", action);
        pickle.number_field("addr", address);
        pickle.number_field("size", bytes);
        pickle.number_field("stream", 0);
        pickle.number_field("time_us", step);
        pickle.text("frames");
        pickle.list(|pickle| {
            pickle.dictionary(|pickle| {
                pickle.text_field("name", frame.0);
                pickle.text_field("filename", frame.1.unwrap_or("plan"));
                pickle.number_field("line", 0);
            });
        });
    });
}

/// The beginning and the end of every stretch of every slot in a space, in the order of time. Buffers of unknown size
/// and stretches without bytes are left out.
fn events(problem: &Problem, plan: &Plan, space: SpaceId) -> Vec<Event> {
    let base = problem.spaces()[space].base.0;
    let mut events = Vec::new();
    for (buffer, placement) in plan.placements.iter_enumerated() {
        let Some(placement) = placement.as_ref().filter(|placement| placement.space == space) else { continue };
        let Some(size) = problem.buffers()[buffer].bytes() else { continue };
        for interval in problem.buffers()[buffer].lifetime.intervals() {
            // In a stretch of a life, only a part of the buffer may be in use.
            let used = interval.bytes(size);
            let bytes = used.high.0 - used.low.0;
            for offset in placement.offsets.iter().filter(|_| bytes > 0) {
                let address = base.saturating_add(offset.0).saturating_add(used.low.0);
                for (step, is_alloc) in [(interval.start.0, true), (interval.end.0, false)] {
                    events.push(Event { step, is_alloc, buffer, address, bytes });
                }
            }
        }
    }
    events.sort_by_key(|event| (event.step, event.is_alloc, event.buffer, event.address));
    once_at_a_time(events)
}

/// Makes sure that no byte is allocated twice at a time: where an allocation takes over bytes of one that is still
/// alive, the older one is freed first, and its own end, which comes later, is left out.
fn once_at_a_time(events: Vec<Event>) -> Vec<Event> {
    // By first address, the allocations that are alive: whose they are and how many bytes they
    // have. No two overlap.
    let mut holders: BTreeMap<u64, (BufferId, u64)> = BTreeMap::new();
    let mut result = Vec::with_capacity(events.len());
    for event in events {
        let Event { step, buffer, address, .. } = event;
        if event.is_alloc {
            for (address, (buffer, bytes)) in overlapped(&holders, address, event.bytes) {
                holders.remove(&address);
                result.push(Event { step, is_alloc: false, buffer, address, bytes });
            }
            holders.insert(address, (buffer, event.bytes));
            result.push(event);
        // The end of an allocation that was freed before is left out.
        } else if holders.get(&address).is_some_and(|&(holder, _)| holder == buffer) {
            holders.remove(&address);
            result.push(event);
        }
    }
    result
}

/// The holders of bytes of `address..address + bytes`. No two holders overlap, so that only one which begins below
/// `address` can reach into the range: the last of these.
fn overlapped(holders: &BTreeMap<u64, (BufferId, u64)>, address: u64, bytes: u64) -> Vec<(u64, (BufferId, u64))> {
    let before =
        holders.range(..address).next_back().filter(|&(&start, &(_, bytes))| start.saturating_add(bytes) > address);
    let inside = holders.range(address..address.saturating_add(bytes));
    before.into_iter().chain(inside).map(|(&start, &holder)| (start, holder)).collect()
}

/// A pickle of protocol 2 in the making. A pickle is a program for a stack machine; each byte pushed below without a
/// name is one of its instructions.
struct Pickle {
    /// The instructions so far.
    bytes: Vec<u8>,
}

impl Pickle {
    /// An empty pickle.
    fn new() -> Pickle {
        // PROTO, and the number of the protocol.
        Pickle { bytes: vec![0x80, 2] }
    }

    /// The whole pickle.
    fn finish(mut self) -> Vec<u8> {
        // STOP.
        self.bytes.push(b'.');
        self.bytes
    }

    /// A new dictionary; `content` writes keys and values in turn. The instructions: an empty dictionary (`}`), a mark
    /// (`(`), then everything above the mark is put into the dictionary (`u`).
    fn dictionary(&mut self, content: impl FnOnce(&mut Pickle)) {
        self.bytes.extend(b"}(");
        content(self);
        self.bytes.push(b'u');
    }

    /// A new list; `content` writes its items. The instructions: an empty list (`]`), a mark (`(`), then everything
    /// above the mark is appended to the list (`e`).
    fn list(&mut self, content: impl FnOnce(&mut Pickle)) {
        self.bytes.extend(b"](");
        content(self);
        self.bytes.push(b'e');
    }

    /// A text: `X`, its length in four bytes, its bytes. A text of 4 GiB or more has no such length and becomes an
    /// empty one; no reader of ours lets such a name through.
    fn text(&mut self, text: &str) {
        let length = u32::try_from(text.len()).unwrap_or_default();
        self.bytes.push(b'X');
        self.bytes.extend(length.to_le_bytes());
        self.bytes.extend(&text.as_bytes()[..length as usize]);
    }

    /// The shortest form the format has for a number: one byte (`K`), two (`M`), four with a sign (`J`), or any number
    /// of bytes (`0x8a`, LONG1).
    fn number(&mut self, number: u64) {
        let bytes = number.to_le_bytes();
        match number {
            0..=0xff => self.bytes.extend([b'K', bytes[0]]),
            0x100..=0xffff => self.bytes.extend([b'M', bytes[0], bytes[1]]),
            0x1_0000..=0x7fff_ffff => self.bytes.extend([b'J', bytes[0], bytes[1], bytes[2], bytes[3]]),
            // Nine bytes: the number is signed, and the last one is its sign.
            _ => {
                self.bytes.extend([0x8a, 9]);
                self.bytes.extend(bytes);
                self.bytes.push(0);
            }
        }
    }

    /// A key of a dictionary and its text.
    fn text_field(&mut self, name: &str, value: &str) {
        self.text(name);
        self.text(value);
    }

    /// A key of a dictionary and its number.
    fn number_field(&mut self, name: &str, value: u64) {
        self.text(name);
        self.number(value);
    }
}
