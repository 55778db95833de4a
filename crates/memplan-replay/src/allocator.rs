//! All lanes of all devices, and the steps that run on them.
//!
//! A lane is one stream of one device, with memory of its own (`crate::lane`). Every call finds its lane and works
//! under that lane's lock, so that streams do not wait for each other. A step begins and ends on all lanes at once.
//!
//! ```
//! use std::sync::Arc;
//! use memplan_replay::allocator::Allocator;
//! use memplan_replay::backing::Host;
//! use memplan_replay::plan::{Moment, Slot, StepPlan};
//!
//! let allocator = Allocator::new(Arc::new(Host::new(1 << 24)));
//! let slot = Slot { offset: Some(1024), most: 512, least: 512 };
//! let plan = StepPlan::verified((0, 0, 0), vec![slot], vec![Moment::Alloc(0), Moment::Free(0)])?;
//! let first = allocator.allocate(500, 0, 7)?.address; // stream 7 is lane 0 of device 0 from here on
//! allocator.adopt(vec![plan])?;
//! allocator.begin(0);
//! let planned = allocator.allocate(500, 0, 7)?;
//! assert_eq!(planned.deviation, None);
//! allocator.free(planned.address, 0, 7);
//! assert_eq!(allocator.end().deviations, Some(0));
//! # allocator.free(first, 0, 7);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use std::sync::{Arc, Mutex, OnceLock, PoisonError, RwLock};

use thiserror::Error;

use crate::backing::{Backing, BackingError, locked};
use crate::lane::{Granted, Lane, Totals};
use crate::plan::StepPlan;
use crate::recording::Event;
use crate::report;

/// Why a plan was not taken over or a request not served.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum AllocatorError {
    /// No memory for a request; the sentence says what is in use and what the plans need.
    #[error("{0}")]
    OutOfMemory(String),
    /// The driver refused a call.
    #[error(transparent)]
    Backing(#[from] BackingError),
    /// Plans change between steps, not inside of them.
    #[error("a step is running; plans can be taken over between steps only")]
    StepRunning,
}

/// What happened in a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ended {
    /// Deviations from plans over all lanes, or `None` if no lane had a plan.
    pub deviations: Option<u64>,
    /// Whether a step around this one is still running; then nothing has ended.
    pub nested: bool,
}

/// Which step runs.
#[derive(Default)]
struct Steps {
    /// How many steps have begun and not ended; 0 outside of steps. Steps may be nested.
    depth: u32,
    /// The function that the outermost running step is a run of.
    step: u32,
    /// Whether the requests of the running step are written down.
    is_recorded: bool,
    /// How many steps have begun so far, nested ones not counted: the number of the running one.
    serial: u64,
    /// How many steps have begun inside of another one, for reports.
    nested: u64,
}

/// A lane with what finds it. It begins at a cache line, and its fields lie in memory as they are written here, so that
/// the lines of [`Lane`] are as its doc says.
#[repr(C, align(64))]
struct Entry {
    /// The device.
    device: u32,
    /// Lanes of a device are numbered in the order in which they first allocate.
    number: u32,
    /// The stream's handle, as PyTorch passes it.
    stream: u64,
    /// The memory of the lane.
    lane: Mutex<Lane>,
    /// The lane that came next; empty at the end of the list.
    next: Entries,
}

/// All lanes in the order in which they came: a list that only ever grows at its end. Every call looks its lane up, and a
/// look at such a list takes no lock and writes nothing.
#[derive(Default)]
struct Entries(OnceLock<Box<Entry>>);

impl Entries {
    /// All lanes, the oldest first.
    fn iter(&self) -> impl Iterator<Item = &Entry> {
        std::iter::successors(self.0.get(), |entry| entry.next.0.get()).map(|entry| &**entry)
    }
}

/// An allocator over all devices of a backing.
pub struct Allocator {
    /// Where pages come from: the CUDA driver, or host memory.
    backing: Arc<dyn Backing>,
    /// The lanes.
    entries: Entries,
    /// The bytes of each device, over all of its lanes.
    totals: RwLock<Vec<(u32, Arc<Totals>)>>,
    /// Which step runs.
    steps: Mutex<Steps>,
    /// Plans for lanes that have not allocated yet.
    waiting: Mutex<Vec<StepPlan>>,
}

impl Allocator {
    /// An allocator that holds nothing.
    #[must_use]
    pub fn new(backing: Arc<dyn Backing>) -> Self {
        let (entries, totals) = (Entries::default(), RwLock::default());
        Self { backing, entries, totals, steps: Mutex::default(), waiting: Mutex::default() }
    }

    /// The lane of a stream, if it has allocated before.
    fn known(&self, device: u32, stream: u64) -> Option<&Entry> {
        self.entries.iter().find(|entry| entry.device == device && entry.stream == stream)
    }

    /// The totals of a device; new ones if it has none yet.
    fn totals(&self, device: u32) -> Arc<Totals> {
        let mut totals = self.totals.write().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, known)) = totals.iter().find(|(known, _)| *known == device) {
            return known.clone();
        }
        totals.push((device, Arc::default()));
        totals[totals.len() - 1].1.clone()
    }

    /// The lane of a stream; its first request makes it.
    fn lane(&self, device: u32, stream: u64) -> Result<&Entry, BackingError> {
        match self.known(device, stream) {
            Some(known) => Ok(known),
            None => self.new_lane(device, stream),
        }
    }

    #[cold]
    /// Makes the lane of a stream, with the plans that wait for it. If a step is running, it begins on the new lane,
    /// too.
    fn new_lane(&self, device: u32, stream: u64) -> Result<&Entry, BackingError> {
        let totals = self.totals(device);
        // New lanes are made under the lock of the steps. So no two threads make one at a time, and a step that begins
        // meanwhile either finds the lane or is seen by it.
        let steps = locked(&self.steps);
        if let Some(known) = self.known(device, stream) {
            return Ok(known);
        }
        let number = self.entries.iter().filter(|entry| entry.device == device).count() as u32;
        let mut lane = Lane::new(&*self.backing, device, stream, totals)?;
        let is_mine = |plan: &mut StepPlan| plan.device == device && plan.lane == number;
        let mine: Vec<StepPlan> = locked(&self.waiting).extract_if(.., is_mine).collect();
        for plan in mine {
            // A plan is never the reason why a request fails. A step with a plan on some of its lanes only would hold
            // memory for little, so the others lose theirs, too.
            let step = plan.step;
            if lane.adopt(&*self.backing, plan).is_err() {
                lane.withdraw(&*self.backing, step);
                self.forget(step);
            }
        }
        if steps.depth > 0 {
            lane.begin(steps.step, steps.serial, steps.is_recorded);
        }
        // From the second lane of a device on, all of them tell the totals of every request.
        lane.set_alone(number == 0);
        for entry in self.entries.iter().filter(|entry| entry.device == device) {
            locked(&entry.lane).set_alone(false);
        }
        let entry = Entry { device, stream, number, lane: Mutex::new(lane), next: Entries::default() };
        // The new lane goes to the end of the list, which is the list itself if it is empty.
        let end = self.entries.iter().last().map_or(&self.entries, |last| &last.next);
        Ok(&**end.0.get_or_init(|| Box::new(entry)))
    }

    /// Serves a request of a stream.
    pub fn allocate(&self, bytes: u64, device: u32, stream: u64) -> Result<Granted, AllocatorError> {
        let entry = self.lane(device, stream)?;
        let granted = locked(&entry.lane).allocate(&*self.backing, bytes, &|| self.relieve(entry));
        granted.or_else(|error| self.last_resort(entry, bytes, error))
    }

    #[cold]
    /// Serves a request on a device that is so full that its own lane could not serve it: the other lanes give up their
    /// plans for the pages that nobody is in. The error says what is in use.
    fn last_resort(&self, entry: &Entry, bytes: u64, error: BackingError) -> Result<Granted, AllocatorError> {
        let BackingError::OutOfMemory { .. } = error else { return Err(AllocatorError::Backing(error)) };
        let device = entry.device;
        // No lock is held here but for one lane at a time, so that two requests that come here at once cannot wait for
        // each other for ever.
        let others = || self.entries.iter().filter(|other| other.device == device && other.stream != entry.stream);
        let spare: u64 = others().map(|other| locked(&other.lane).spare()).sum();
        // Nobody's plan is given up for a request that would be refused all the same. The first and the last page under
        // a request may be there already.
        let most = self.backing.memory(device).0.saturating_add(spare + 2 * self.backing.page());
        if spare > 0 && bytes <= most {
            others().for_each(|other| locked(&other.lane).give_up(&*self.backing));
            let granted = locked(&entry.lane).allocate(&*self.backing, bytes, &|| self.relieve(entry));
            if let Ok(granted) = granted {
                return Ok(granted);
            }
        }
        Err(AllocatorError::OutOfMemory(self.out_of_memory(bytes, device)))
    }

    /// Makes the other lanes of a device give back what they do not use. A lane that is busy is left
    /// alone: two lanes that waited for each other would wait for ever.
    fn relieve(&self, asking: &Entry) {
        for entry in self.entries.iter().filter(|entry| entry.device == asking.device) {
            if let Ok(mut lane) = entry.lane.try_lock() {
                lane.trim(&*self.backing);
            }
        }
    }

    /// Lets all lanes tell the totals of their devices how many bytes are in use.
    fn note_live(&self) {
        for entry in self.entries.iter() {
            locked(&entry.lane).note_live();
        }
    }

    /// Bytes in use on a device.
    fn live(&self, device: u32) -> u64 {
        self.note_live();
        self.totals(device).live.read().0
    }

    /// The sentence about a full device: what was asked for, what is free, and what this allocator holds.
    fn out_of_memory(&self, bytes: u64, device: u32) -> String {
        let (free, total) = self.backing.memory(device);
        let live = self.live(device);
        let mut reserved = 0;
        let mut planned = 0;
        for entry in self.entries.iter().filter(|entry| entry.device == device) {
            let lane = locked(&entry.lane);
            reserved += lane.reserved().iter().sum::<u64>();
            planned += lane.arena().extent();
        }
        // The first sentence is PyTorch's: libraries that try again with a smaller batch look for it.
        format!(
            "CUDA out of memory. memplan: out of memory on device {device}: {bytes} bytes asked for, {free} of {total} free; \
             {live} bytes are in use and {reserved} reserved, of which the plans need {planned}"
        )
    }

    /// Takes an allocation back. False if nobody has handed it out; that is ignored otherwise.
    pub fn free(&self, address: u64, device: u32, stream: u64) -> bool {
        // Mostly the lane of the stream that frees it has handed it out. If not, all lanes are asked.
        let freed = |entry: &Entry| locked(&entry.lane).free(&*self.backing, address);
        self.known(device, stream).is_some_and(freed) || self.entries.iter().any(freed)
    }

    /// Remembers that another stream uses an allocation. False if nobody has handed it out.
    pub fn used_on(&self, address: u64, stream: u64) -> bool {
        self.entries.iter().any(|entry| locked(&entry.lane).used_on(address, stream))
    }

    /// A step begins, and its requests are recorded. Inside of another step it is a part of that step; then the answer
    /// is false.
    pub fn begin(&self, step: u32) -> bool {
        self.begin_step(step, true)
    }

    /// A step begins that nobody will plan. Its requests are not recorded, which makes them a little cheaper.
    pub fn begin_unrecorded(&self, step: u32) -> bool {
        self.begin_step(step, false)
    }

    fn begin_step(&self, step: u32, is_recorded: bool) -> bool {
        let mut steps = locked(&self.steps);
        steps.depth += 1;
        if steps.depth > 1 {
            steps.nested += 1;
            return false;
        }
        // Between two steps a plan may have been given up, too.
        self.forget_lost();
        // Lanes that allocate for the first time during the step join it in `new_lane`.
        (steps.step, steps.is_recorded) = (step, is_recorded);
        steps.serial += 1;
        for entry in self.entries.iter() {
            locked(&entry.lane).begin(step, steps.serial, is_recorded);
        }
        true
    }

    /// The innermost step ends. An end without a begin does nothing: no step has deviated since the last end.
    pub fn end(&self) -> Ended {
        let mut steps = locked(&self.steps);
        if steps.depth != 1 {
            steps.depth = steps.depth.saturating_sub(1);
            let nested = steps.depth > 0;
            return Ended { deviations: (!nested).then_some(0), nested };
        }
        steps.depth = 0;
        // The sum over the lanes that had a plan; `None` if none had.
        let deviations = self.entries.iter().filter_map(|entry| locked(&entry.lane).end()).reduce(|a, b| a + b);
        // What has become of a step that lost its plan on one lane is the same as if it had had none.
        let lost = self.forget_lost();
        Ended { deviations: deviations.filter(|_| !lost.contains(&steps.step)), nested: false }
    }

    /// Takes the plans of steps that have lost theirs on one lane from all lanes: what is left would hold memory for
    /// little. Returns the numbers of these steps. The caller has locked the steps; none runs.
    fn forget_lost(&self) -> Vec<u32> {
        let lost: Vec<u32> = self.entries.iter().flat_map(|entry| locked(&entry.lane).take_lost()).collect();
        lost.iter().for_each(|&step| self.forget(step));
        lost
    }

    /// Takes plans over. Each goes to its lane, or waits until the lane has its first request. If one of them has no
    /// room, none is taken over, and their steps have no plan from then on, not even an older one.
    pub fn adopt(&self, plans: Vec<StepPlan>) -> Result<(), AllocatorError> {
        let steps = locked(&self.steps);
        if steps.depth > 0 {
            return Err(AllocatorError::StepRunning);
        }
        // Pages on which nothing lies are given back first, so that the device has room for the arenas of the plans.
        self.trim();
        let numbers: Vec<u32> = plans.iter().map(|plan| plan.step).collect();
        let adopted = plans.into_iter().try_for_each(|plan| self.adopt_one(plan));
        if adopted.is_err() {
            // An arena on some lanes of a step would be in the way of the other lanes, which the pool serves.
            numbers.into_iter().for_each(|step| self.forget(step));
        }
        adopted
    }

    /// Hands a plan to its lane, or lets it wait for the lane. No step runs.
    fn adopt_one(&self, plan: StepPlan) -> Result<(), AllocatorError> {
        // Streams have other handles in every process, so a plan names its lane by number.
        let own = self.entries.iter().find(|entry| (entry.device, entry.number) == (plan.device, plan.lane));
        let Some(entry) = own else {
            locked(&self.waiting).push(plan);
            return Ok(());
        };
        let (device, extent) = (plan.device, plan.extent);
        let adopted = locked(&entry.lane).adopt(&*self.backing, plan);
        adopted.map_err(|error| self.no_room_for(extent, device, error))
    }

    /// Forgets the plans of a step and gives their bytes back. From then on the pool serves it.
    pub fn withdraw(&self, step: u32) -> Result<(), AllocatorError> {
        let steps = locked(&self.steps);
        if steps.depth > 0 {
            return Err(AllocatorError::StepRunning);
        }
        self.forget(step);
        Ok(())
    }

    /// Takes the plans of a step from all lanes. The caller has locked the steps.
    fn forget(&self, step: u32) {
        locked(&self.waiting).retain(|plan| plan.step != step);
        for entry in self.entries.iter() {
            locked(&entry.lane).withdraw(&*self.backing, step);
        }
    }

    /// The error of a plan that was not taken over. If the device is full, the error says how much the plan needs.
    fn no_room_for(&self, extent: u64, device: u32, error: BackingError) -> AllocatorError {
        let BackingError::OutOfMemory { .. } = error else { return AllocatorError::Backing(error) };
        let (free, total) = self.backing.memory(device);
        let live = self.live(device);
        AllocatorError::OutOfMemory(format!(
            "memplan: the plan needs {extent} bytes on device {device}; {free} of {total} are free and {live} in use"
        ))
    }

    /// Gives back every page on which nothing lies.
    pub fn trim(&self) {
        for entry in self.entries.iter() {
            locked(&entry.lane).trim(&*self.backing);
        }
    }

    /// Forgets the peaks of all devices.
    pub fn restart_peaks(&self) {
        self.note_live();
        for (_, totals) in self.devices() {
            totals.restart();
        }
    }

    /// The devices that were asked for memory, with their totals.
    fn devices(&self) -> Vec<(u32, Arc<Totals>)> {
        self.totals.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Lanes as (device, number, stream), in the order in which they came.
    #[must_use]
    pub fn lanes(&self) -> Vec<(u32, u32, u64)> {
        self.entries.iter().map(|entry| (entry.device, entry.number, entry.stream)).collect()
    }

    /// The requests of the last step on the n-th of [`Allocator::lanes`].
    #[must_use]
    pub fn recording(&self, lane: usize) -> Vec<Event> {
        self.entries.iter().nth(lane).map_or_else(Vec::new, |entry| locked(&entry.lane).recording().whole().to_vec())
    }

    /// The state as JSON: totals of devices, then lanes.
    #[must_use]
    pub fn report(&self) -> String {
        self.note_live();
        // No lock is held while another one is taken: who takes over plans holds that of the steps and wants that of the
        // totals.
        let nested = locked(&self.steps).nested;
        let devices = self.devices().into_iter().map(|(device, totals)| {
            let ((live, peak), (reserved, most)) = (totals.live.read(), totals.reserved.read());
            let (free, total) = self.backing.memory(device);
            format!(
                r#"{{"device":{device},"live":{live},"peak":{peak},"reserved":{reserved},"reserved_peak":{most},"free":{free},"total":{total}}}"#
            )
        });
        let devices: Vec<String> = devices.collect();
        let lanes = self.entries.iter().map(|entry| report::lane(&locked(&entry.lane), entry.number));
        let lanes: Vec<String> = lanes.collect();
        format!(r#"{{"devices":[{}],"lanes":[{}],"nested":{nested}}}"#, devices.join(","), lanes.join(","))
    }
}
