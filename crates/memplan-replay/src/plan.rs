//! Plans of steps: a place for the n-th allocation, verified when they are loaded.
//!
//! ```text
//!  bytes
//!  192 ┌─────┐     ┌──┐        slot 0: 64 bytes at 0, slot 1: 128 bytes at 64 …
//!      │  1  │     │ 3│
//!   64 ├──┬──┴──┬──┴──┤        events: alloc 0, alloc 1, free 0, alloc 2, free 1 …
//!      │ 0│     │  2  │        the time of an event is its position in this list
//!    0 └──┴─────┴─────┘─► events
//! ```
//! A slot whose free comes before its allocation is *carried*: it is alive at the end of a step
//! and until that free in the next one (gradients that are dropped at the start of the next step).
//! A slot that has no free at all lives on; it has no place here and comes from the pool.
//!
//! The file is made by the Python half of memplan, through its checked driver. It is verified again
//! here, by a sweep over the events that knows nothing of how the plan was made: [`StepPlan::verified`].
//!
//! The file, all numbers little-endian: the magic `MPREPLAY`, then u32 version, u32 count of plans;
//! each plan is u32 step, u32 device, u32 lane, u32 slots, u32 events, u32 zero, then per slot three u64
//! (offset or all ones, most bytes, least bytes) and per event a u32 (slot, highest bit set for a free);
//! at the end a u64, the CRC-32 of all that is before it.

use std::collections::BTreeMap;

use thiserror::Error;

/// Offsets and sizes in a plan are multiples of this many bytes. PyTorch's own allocator aligns in the same way, and
/// kernels choose their variant by alignment, so a smaller one could change results and speed.
pub const ALIGNMENT: u64 = 512;

/// The first bytes of a file of plans.
const MAGIC: &[u8; 8] = b"MPREPLAY";
/// The version of the file format.
const VERSION: u32 = 1;
/// The bit of an event that says that the slot is freed and not allocated.
const FREE: u32 = 1 << 31;
/// No device has so many bytes: sizes and ends of slots are below.
const BEYOND: u64 = 1 << 62;
/// In place of an offset: the slot has no place in the arena.
const ELSEWHERE: u64 = u64::MAX;

/// Why a plan is not accepted.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum PlanError {
    /// The file ends early, goes on too long, or is of another kind.
    #[error("not a replay plan: {0}")]
    Format(&'static str),
    /// The bytes are not those that were written.
    #[error("the plan was damaged: its checksum is wrong")]
    Checksum,
    /// The events do not make sense.
    #[error("step {step}, event {event}: {what}")]
    Event {
        /// The step function.
        step: u32,
        /// The event's position.
        event: usize,
        /// What is wrong.
        what: &'static str,
    },
    /// A slot has a place it cannot have.
    #[error("step {step}, slot {slot}: {what}")]
    Slot {
        /// The step function.
        step: u32,
        /// The slot's number.
        slot: u32,
        /// What is wrong.
        what: &'static str,
    },
    /// Two slots that are alive together share bytes.
    #[error("step {step}: slots {first} and {second} are both alive at event {event} and share bytes")]
    Overlap {
        /// The step function.
        step: u32,
        /// The slot that is alive.
        first: u32,
        /// The slot that was about to be allocated.
        second: u32,
        /// The event's position.
        event: usize,
    },
}

/// Where the n-th allocation of a step goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Slot {
    /// The offset in the arena, or `None` for what lives longer than a step.
    pub offset: Option<u64>,
    /// The largest request that was recorded here; so many bytes are its own while it is alive.
    pub most: u64,
    /// The smallest request that was recorded here.
    pub least: u64,
}

impl Slot {
    /// One past the last byte of the slot's place, or 0 if it has none; the error says what is wrong with the slot.
    /// `freed_at` is the position of its free in the step, `None` if it is never freed.
    fn checked_end(&self, freed_at: Option<u32>) -> Result<u64, &'static str> {
        if self.least > self.most {
            return Err("its smallest size is above its largest");
        }
        // Sizes are added to each other without a check, those of slots without an offset as well.
        if self.most >= BEYOND {
            return Err("its size is beyond all memory");
        }
        // A slot without an offset comes from the pool, so there is nothing else to check.
        let Some(offset) = self.offset else { return Ok(0) };
        // What is never freed would keep its place for all steps that follow, in which the slot is allocated again.
        if freed_at.is_none() {
            return Err("it has a place but is never freed");
        }
        // 0 is a multiple of everything, and a slot without bytes needs no place.
        if !offset.is_multiple_of(ALIGNMENT) || !self.most.is_multiple_of(ALIGNMENT) || self.most == 0 {
            return Err("its place or size is not aligned");
        }
        // The lane adds offsets to the base address of the arena without a check. Addresses are below 2^63, so no sum
        // with an end below 2^62 passes 64 bits.
        let end = offset.checked_add(self.most).filter(|&end| end < BEYOND);
        end.ok_or("its place is beyond all memory")
    }

    /// Whether a request can be the one that was recorded here.
    #[must_use]
    pub fn suits(&self, bytes: u64) -> bool {
        bytes == self.most || (self.varies() && bytes <= self.most)
    }

    /// Whether different steps asked for different sizes here.
    #[must_use]
    pub fn varies(&self) -> bool {
        self.least < self.most
    }
}

/// What happens to a slot.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Moment {
    /// Slot n is allocated.
    Alloc(u32),
    /// Slot n is freed.
    Free(u32),
}

/// The plan of one step function on one lane.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StepPlan {
    /// The step function.
    pub step: u32,
    /// The device.
    pub device: u32,
    /// The lane: streams of a device are numbered in the order in which they first allocate.
    pub lane: u32,
    /// Slots, numbered in the order of their allocation.
    pub slots: Vec<Slot>,
    /// Allocations and frees, in the recorded order.
    pub moments: Vec<Moment>,
    /// Position of each slot's allocation in `moments`.
    pub allocated_at: Vec<u32>,
    /// Whether a slot is alive between two steps.
    pub carried: Vec<bool>,
    /// Bytes that the plan needs.
    pub extent: u64,
}

impl StepPlan {
    /// Builds a plan if it is right: every slot is allocated once, in order, and no two slots that are alive together
    /// share a byte. At the start of a step the carried slots of the step before are alive.
    pub fn verified(
        (step, device, lane): (u32, u32, u32),
        slots: Vec<Slot>,
        moments: Vec<Moment>,
    ) -> Result<Self, PlanError> {
        // First the order of the events, then each slot by itself, then all slots against each other.
        let (allocated_at, freed_at) = positions(step, slots.len(), &moments)?;
        let mut extent = 0;
        let mut carried = vec![false; slots.len()];
        for (number, slot) in slots.iter().enumerate() {
            let end = slot.checked_end(freed_at[number]);
            let end = end.map_err(|what| PlanError::Slot { step, slot: number as u32, what })?;
            extent = extent.max(end);
            // Freed before it is allocated: the slot is alive across the boundary of two steps.
            let freed = freed_at[number].filter(|_| slot.offset.is_some());
            carried[number] = freed.is_some_and(|freed| freed < allocated_at[number]);
        }
        let plan = Self { step, device, lane, slots, moments, allocated_at, carried, extent };
        plan.sweep()?;
        Ok(plan)
    }

    /// Plays the events against a map of held bytes: the proof that the plan is right.
    fn sweep(&self) -> Result<(), PlanError> {
        let mut held = BTreeMap::new();
        // What the step before has carried over is held from the start.
        for (number, _) in self.carried.iter().enumerate().filter(|(_, carried)| **carried) {
            self.hold(&mut held, number as u32, 0)?;
        }
        for (event, moment) in self.moments.iter().enumerate() {
            match *moment {
                Moment::Alloc(number) => self.hold(&mut held, number, event)?,
                Moment::Free(number) => {
                    if let Some(offset) = self.slots[number as usize].offset {
                        held.remove(&offset);
                    }
                }
            }
        }
        Ok(())
    }

    /// Adds the range of a slot to those that are held, by offset; an error if one of them overlaps it.
    fn hold(&self, held: &mut BTreeMap<u64, (u64, u32)>, number: u32, event: usize) -> Result<(), PlanError> {
        let slot = self.slots[number as usize];
        let Some(offset) = slot.offset else { return Ok(()) };
        let end = offset + slot.most;
        // Held ranges are disjoint, so only the last one that starts below `end` can overlap.
        match held.range(..end).next_back() {
            Some((_, &(other_end, first))) if other_end > offset => {
                Err(PlanError::Overlap { step: self.step, first, second: number, event })
            }
            _ => {
                held.insert(offset, (end, number));
                Ok(())
            }
        }
    }
}

/// For each slot the position of its allocation in the list of events, and the position of its free; `None` if it is
/// never freed.
type Positions = (Vec<u32>, Vec<Option<u32>>);

/// Finds where each slot is allocated and freed. An error if slots are not allocated exactly once and in the order of
/// their numbers, if a slot is freed twice, or if an event names an unknown slot.
fn positions(step: u32, slots: usize, moments: &[Moment]) -> Result<Positions, PlanError> {
    let mut allocated_at = Vec::with_capacity(slots);
    let mut freed_at = vec![None; slots];
    for (event, moment) in moments.iter().enumerate() {
        let wrong = |what| PlanError::Event { step, event, what };
        // A free may come before the allocation of its slot: then it frees what the last run of the step has left.
        match *moment {
            Moment::Alloc(number) if number as usize == allocated_at.len() && allocated_at.len() < slots => {
                allocated_at.push(event as u32);
            }
            Moment::Alloc(_) => return Err(wrong("slots are not allocated in order")),
            Moment::Free(number) => {
                let freed = freed_at.get_mut(number as usize).ok_or_else(|| wrong("an unknown slot is freed"))?;
                if freed.replace(event as u32).is_some() {
                    return Err(wrong("a slot is freed twice"));
                }
            }
        }
    }
    if allocated_at.len() < slots {
        return Err(PlanError::Event { step, event: moments.len(), what: "a slot is never allocated" });
    }
    Ok((allocated_at, freed_at))
}

/// Reads a file of plans and verifies each of them.
pub fn read(bytes: &[u8]) -> Result<Vec<StepPlan>, PlanError> {
    let body = bytes.len().checked_sub(8).ok_or(PlanError::Format("it is too short"))?;
    let (body, sum) = bytes.split_at(body);
    if !body.starts_with(MAGIC) {
        return Err(PlanError::Format("the first bytes are not MPREPLAY"));
    }
    if checksum(body) != u64::from_le_bytes(sum.try_into().unwrap_or_default()) {
        return Err(PlanError::Checksum);
    }
    let mut words = Words(&body[MAGIC.len()..]);
    if words.u32()? != VERSION {
        return Err(PlanError::Format("the version is unknown"));
    }
    let plans = (0..words.u32()?).map(|_| read_plan(&mut words)).collect::<Result<_, _>>()?;
    if words.0.is_empty() { Ok(plans) } else { Err(PlanError::Format("bytes are left over")) }
}

/// Reads one plan in the form that [`write()`] writes: numbers of 32 bits with the lowest byte first.
fn read_plan(words: &mut Words<'_>) -> Result<StepPlan, PlanError> {
    let key = (words.u32()?, words.u32()?, words.u32()?);
    let (slots, events) = (words.u32()?, words.u32()?);
    // A number without a meaning so far. It keeps the numbers of 64 bits that follow aligned to eight bytes.
    words.u32()?;
    // Lists are filled item by item, so that a wrong count ends in an error, not in a huge reservation.
    let mut list = Vec::new();
    for _ in 0..slots {
        let offset = words.u64()?;
        let (most, least) = (words.u64()?, words.u64()?);
        list.push(Slot { offset: (offset != ELSEWHERE).then_some(offset), most, least });
    }
    let mut moments = Vec::new();
    for _ in 0..events {
        let word = words.u32()?;
        moments.push(if word & FREE == 0 { Moment::Alloc(word) } else { Moment::Free(word & !FREE) });
    }
    StepPlan::verified(key, list, moments)
}

/// Writes plans as a file; what [`read`] reads.
#[must_use]
pub fn write(plans: &[StepPlan]) -> Vec<u8> {
    let mut bytes = MAGIC.to_vec();
    // Adds numbers of 32 bits, the lowest byte first.
    let mut put = |words: &[u32]| bytes.extend(words.iter().flat_map(|word| word.to_le_bytes()));
    put(&[VERSION, plans.len() as u32]);
    for plan in plans {
        put(&[plan.step, plan.device, plan.lane, plan.slots.len() as u32, plan.moments.len() as u32, 0]);
        for slot in &plan.slots {
            for long in [slot.offset.unwrap_or(ELSEWHERE), slot.most, slot.least] {
                put(&[long as u32, (long >> 32) as u32]);
            }
        }
        for moment in &plan.moments {
            put(&[match *moment {
                Moment::Alloc(number) => number,
                Moment::Free(number) => number | FREE,
            }]);
        }
    }
    let sum = checksum(&bytes);
    bytes.extend(sum.to_le_bytes());
    bytes
}

/// CRC-32 as zlib computes it, bit by bit: finds damage, is no protection against intent.
fn checksum(bytes: &[u8]) -> u64 {
    // One bit of the division by the CRC's polynomial, whose bits are written from low to high. `(sum &
    // 1).wrapping_neg()` is all ones if the lowest bit is set, so that the polynomial is taken off only then.
    let step = |sum: u32, _| (sum >> 1) ^ (0xedb8_8320 & (sum & 1).wrapping_neg());
    let sum = bytes.iter().fold(!0_u32, |sum, &byte| (0..8).fold(sum ^ u32::from(byte), step));
    u64::from(!sum)
}

/// The part of a file that has not been read yet.
struct Words<'a>(&'a [u8]);

impl Words<'_> {
    /// The next `N` bytes; an error if there are fewer.
    fn take<const N: usize>(&mut self) -> Result<[u8; N], PlanError> {
        let (head, tail) = self.0.split_first_chunk().ok_or(PlanError::Format("it ends early"))?;
        self.0 = tail;
        Ok(*head)
    }

    /// The next number of 32 bits.
    fn u32(&mut self) -> Result<u32, PlanError> {
        self.take().map(u32::from_le_bytes)
    }

    /// The next number of 64 bits.
    fn u64(&mut self) -> Result<u64, PlanError> {
        self.take().map(u64::from_le_bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use Moment::{Alloc, Free};

    fn slot(offset: u64, bytes: u64) -> Slot {
        Slot { offset: Some(offset), most: bytes, least: bytes }
    }

    fn build(slots: &[Slot], moments: &[Moment]) -> Result<StepPlan, PlanError> {
        StepPlan::verified((7, 0, 0), slots.to_vec(), moments.to_vec())
    }

    #[test]
    fn a_plan_survives_its_file() {
        let elsewhere = Slot { offset: None, most: 100, least: 20 };
        let slots = [slot(0, 512), slot(512, 1024), elsewhere, slot(0, 512)];
        let plan = build(&slots, &[Alloc(0), Alloc(1), Free(0), Alloc(2), Alloc(3), Free(1), Free(3)]).unwrap();
        assert_eq!(plan.extent, 1536);
        let bytes = write(std::slice::from_ref(&plan));
        assert_eq!(read(&bytes), Ok(vec![plan]));
        for position in 0..bytes.len() {
            let mut damaged = bytes.clone();
            damaged[position] ^= 1;
            assert!(read(&damaged).is_err(), "byte {position}");
            assert!(read(&bytes[..position]).is_err(), "cut at {position}");
        }
    }

    #[test]
    fn the_checksum_is_that_of_zlib() {
        assert_eq!(checksum(b"123456789"), 0xcbf4_3926);
    }

    #[test]
    fn overlaps_are_found_also_across_the_end_of_a_step() {
        let twice = [slot(0, 1024), slot(512, 512)];
        let both = build(&twice, &[Alloc(0), Alloc(1), Free(0), Free(1)]);
        assert!(matches!(both, Err(PlanError::Overlap { first: 0, second: 1, event: 1, .. })), "{both:?}");
        assert!(build(&twice, &[Alloc(0), Free(0), Alloc(1), Free(1)]).is_ok());
        // Slot 1 is carried into the next round, where it meets slot 0.
        let carried = build(&twice, &[Alloc(0), Free(0), Free(1), Alloc(1)]);
        assert!(matches!(carried, Err(PlanError::Overlap { first: 1, second: 0, event: 0, .. })), "{carried:?}");
        let gone = build(&twice, &[Free(1), Alloc(0), Free(0), Alloc(1)]).unwrap();
        assert_eq!(gone.carried, [false, true]);
    }

    #[test]
    fn nonsense_is_refused_by_name() {
        let one = [slot(0, 512)];
        for (slots, moments, what) in [
            (&one[..], &[Alloc(0)][..], "never freed"),
            (&one, &[Alloc(0), Free(0), Free(0)], "freed twice"),
            (&one, &[Alloc(0), Free(3)], "unknown slot"),
            (&one, &[Alloc(1)], "not allocated in order"),
            (&one, &[], "never allocated"),
            (&[slot(4, 512)], &[Alloc(0), Free(0)], "not aligned"),
            (&[slot(u64::MAX - 511, 512)], &[Alloc(0), Free(0)], "beyond all memory"),
            (&[Slot { offset: None, most: 1, least: 2 }], &[Alloc(0)], "smallest size"),
        ] {
            let error = build(slots, moments).unwrap_err().to_string();
            assert!(error.contains(what), "{error}");
        }
    }
}
