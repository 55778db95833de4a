//! The planned bytes of a lane: which slot a request is, and whether its place is free.
//!
//! A *plan* has a slot for each request of a step: its offset in the arena and its size. The *moments* of a plan are
//! the allocations and frees of its slots, in the order of the recording. A slot is *carried* if it is alive between
//! two steps, and *varies* if recorded steps asked for different sizes there.
//!
//! **In lockstep.** The cursor stands between two moments of the plan. Every free that the plan has
//! before the cursor has happened. So what is alive now is a part of what was alive in the recording
//! at this moment. The plan has been verified, so the bytes of the next slot are free, and no look-up
//! is needed. The arena stays in lockstep if frees come early, if requests are missing, and if the
//! pool serves requests that are not in the plan.
//!
//! ```text
//!  plan:     alloc 0   alloc 1   free 0   alloc 2     slot 2 lies where slot 0 was
//!  program:  alloc     alloc     alloc                slot 0 was not freed: late
//! ```
//! **Out of lockstep.** If a free is late, or if a deviating request was given bytes of the arena (a
//! *hole*), the arena builds a map of its free bytes from all tenants. Until the step ends, a planned
//! place is taken from that map, and a place that is not free is refused. The next step is in
//! lockstep again if nothing but the carried slots is alive in the arena at its beginning.

use std::num::NonZeroU32;

use crate::backing::{Backing, BackingError};
use crate::plan::{Moment, Slot, StepPlan};
use crate::region::Region;
use crate::runs::Runs;

/// How many slots are looked at for a request that is not the next one in the plan. If a step leaves out this many
/// requests or more in a row, the request after them is not found, and all later requests of the step may deviate.
const LOOK_AHEAD: usize = 32;

/// After this many deviating requests the step has lost its plan: deviating requests may then use holes of the arena
/// instead of the pool. The price is that a later planned request may find its place taken.
const LOST_AFTER: u32 = 64;

/// If a request is larger than the largest recorded one by more than this part (an eighth), the whole step is taken to
/// be larger than any recorded one, and from then on its deviating requests may use holes. The sizes of requests that
/// vary because tokens are routed to experts stay within a few per cent.
const OUTGROWN: u64 = 8;

/// A request that holds bytes of an arena. Whether an allocation is one is kept for each allocation, in 8 bytes: an
/// `Option<Tenant>` is as long as a `Tenant`, since a generation is never 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Tenant {
    /// The number of the slot, or [`HOLE`] for a request that was given a hole.
    pub slot: u32,
    /// The arena's `generation` when the bytes were given out: how often a plan had been selected by then. Slot numbers
    /// belong to one plan, so `slot` is only valid while the arena has the same generation.
    pub generation: NonZeroU32,
}

/// In place of a slot's number; plans have fewer slots.
pub const HOLE: u32 = u32::MAX;

/// How often a plan has been selected, from 1 on.
#[derive(Debug, Clone, Copy)]
struct Generation(NonZeroU32);

impl Default for Generation {
    fn default() -> Self {
        Self(NonZeroU32::MIN)
    }
}

impl Generation {
    fn next(self) -> Self {
        Self(self.0.checked_add(1).unwrap_or(NonZeroU32::MIN))
    }
}

/// How a request differs from the plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u32)]
pub enum Deviation {
    /// The plan expects another size here.
    Size = 0,
    /// Requests that the plan expects before this one did not come; this one has its place.
    Order = 1,
    /// The planned bytes are still held by something alive.
    Held = 2,
    /// The plan has no more requests.
    Extra = 3,
    /// Still alive at the end of the step, though the plan says otherwise.
    Survived = 4,
}

impl Deviation {
    /// Every kind with the name it has in reports.
    pub const ALL: [(Self, &'static str); 5] = [
        (Self::Size, "size"),
        (Self::Order, "order"),
        (Self::Held, "held"),
        (Self::Extra, "extra"),
        (Self::Survived, "survived"),
    ];
}

/// What the plan says about a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// The request gets this offset in the arena, whose bytes are free. The deviation is set if requests that the plan
    /// expects before it were left out.
    At(u64, Tenant, Option<Deviation>),
    /// The pool serves the request: its slot lives longer than a step, or no plan is selected. If requests that the
    /// plan expects before it were left out: that deviation, and the number of the slot.
    Pool(Option<(Deviation, u32)>),
    /// The request deviates and gets no planned place: how, the number of its slot (or of the slot that was expected, if
    /// it has none), and the slot's largest recorded size in bytes (0 if the plan has no more slots).
    None(Deviation, u32, u64),
}

/// The arena of a lane with the plans of all step functions that run on it. `current` stands first, because a request
/// of a step without a plan needs nothing else of an arena (see [`crate::lane::Lane`]).
#[derive(Default)]
#[repr(C)]
pub struct Arena {
    /// The position in `plans` of the plan that the running step follows; `None` if the step has no plan.
    current: Option<usize>,
    /// The addresses and pages of the arena; `None` until there is a plan.
    region: Option<Region>,
    /// The plans, one for each step function.
    plans: Vec<StepPlan>,
    /// How often a plan has been selected; see `Tenant::generation`.
    generation: Generation,
    /// Which slots of the current plan are alive in here.
    alive: Vec<bool>,
    /// Whether the current plan has slots whose size varies.
    varying: bool,
    /// How many tenants are not slots of the current plan: holes, and slots of plans that were selected before.
    others: u32,
    /// How many tenants there are.
    tenants: u32,
    /// The next position in the plan's moments.
    cursor: usize,
    /// The number of the slot that is expected next.
    next: usize,
    /// The free bytes of the arena while it is out of lockstep; `None` in lockstep.
    free: Option<Runs>,
    /// How many requests of the running step have deviated so far.
    deviations: u32,
    /// Whether the running step is larger than all recorded ones.
    outgrown: bool,
    /// The steps whose plans were given up on a full device, since somebody last asked.
    lost: Vec<u32>,
}

/// The tenants of an arena as (offset, bytes).
pub(crate) type Tenants<'a> = &'a dyn Fn() -> Vec<(u64, u64)>;

/// The bytes of an arena on which no tenant lies.
fn free_bytes(region: &Region, tenants: Tenants<'_>) -> Runs {
    let mut free = Runs::whole(region.length());
    for (offset, bytes) in tenants() {
        let taken = free.take(offset, bytes);
        debug_assert!(taken, "two tenants share bytes at {offset}");
    }
    free
}

impl Arena {
    /// Bytes of mapped pages.
    #[must_use]
    pub fn reserved(&self) -> u64 {
        self.region.as_ref().map_or(0, Region::reserved)
    }

    /// The first address; 0 while there is none.
    #[must_use]
    pub fn base(&self) -> u64 {
        self.region.as_ref().map_or(0, Region::base)
    }

    /// Bytes that the largest plan needs.
    #[must_use]
    pub fn extent(&self) -> u64 {
        self.plans.iter().map(|plan| plan.extent).max().unwrap_or(0)
    }

    /// Whether the running step follows a plan, and whether it does so without look-ups.
    #[must_use]
    pub fn state(&self) -> &'static str {
        match (self.current, &self.free) {
            (None, _) => "no plan",
            (Some(_), None) => "lockstep",
            (Some(_), Some(_)) => "checked",
        }
    }

    /// Whether the running step follows a plan.
    #[must_use]
    pub fn has_plan(&self) -> bool {
        self.current.is_some()
    }

    /// Takes over a plan, in place of an older one for the same step, and maps the pages it needs. `held` is the end of
    /// what is alive in here; pages below it must stay. The device must have come to rest.
    pub(crate) fn adopt(&mut self, backing: &dyn Backing, plan: StepPlan, held: u64) -> Result<(), BackingError> {
        // The arena is as long as the longest plan. Steps run one after the other, so their plans share its bytes.
        let extent = |plans: &[StepPlan]| plans.iter().map(|plan| plan.extent).max().unwrap_or(0);
        let others: Vec<StepPlan> = self.plans.iter().filter(|old| old.step != plan.step).cloned().collect();
        let wanted = extent(&others).max(plan.extent);
        if self.region.is_none() {
            // An address range costs nothing, so it is twice as long as the memory of the device. A plan that needs
            // more than the device has cannot be mapped.
            let (_, total) = backing.memory(plan.device);
            self.region = Some(Region::new(backing, plan.device, total.saturating_mul(2))?);
        }
        if let Some(region) = &mut self.region {
            if wanted > region.length() {
                return Err(BackingError::OutOfMemory { asked: wanted, free: backing.memory(plan.device).0 });
            }
            region.unmap_above(backing, wanted.max(held));
            region.map_below(backing, wanted)?;
        }
        self.plans = others;
        self.lost.retain(|&step| step != plan.step);
        self.plans.push(plan);
        // Slot numbers of the old plan mean nothing from here on.
        self.select(None);
        Ok(())
    }

    /// Forgets the plan of a step and unmaps what no other plan needs; `held` is the end of what is alive in here.
    pub(crate) fn withdraw(&mut self, backing: &dyn Backing, step: u32, held: u64) {
        let current = self.current.map(|plan| self.plans[plan].step).filter(|&current| current != step);
        self.plans.retain(|plan| plan.step != step);
        self.lost.retain(|&lost| lost != step);
        let needed = self.extent().max(held);
        if let Some(region) = &mut self.region {
            region.unmap_above(backing, needed);
        }
        // The plan of another step, which may be running, goes on; only its position has changed.
        match current {
            Some(current) => self.current = self.plans.iter().position(|plan| plan.step == current),
            None => self.select(None),
        }
    }

    /// On a full device: gives up all plans and unmaps every page on which no tenant lies. The running step goes on
    /// without a plan, and the pool may have the pages.
    pub(crate) fn surrender(&mut self, backing: &dyn Backing, tenants: Tenants<'_>) {
        let Some(region) = self.region.as_mut() else { return };
        region.unmap_free(backing, &free_bytes(region, tenants));
        self.lost.extend(self.plans.drain(..).map(|plan| plan.step));
        self.free = None;
        self.select(None);
    }

    /// Bytes of the pages that [`Arena::surrender`] would unmap.
    pub(crate) fn spare(&self, tenants: Tenants<'_>) -> u64 {
        self.region.as_ref().map_or(0, |region| region.spare_in(&free_bytes(region, tenants)))
    }

    /// The steps whose plans were given up since the last call.
    pub(crate) fn take_lost(&mut self) -> Vec<u32> {
        std::mem::take(&mut self.lost)
    }

    /// Forgets what the slot numbers mean and makes another plan the current one.
    fn select(&mut self, plan: Option<usize>) {
        self.generation = self.generation.next();
        self.others = self.tenants;
        self.current = plan;
        let slots: &[Slot] = plan.map_or(&[], |plan| &self.plans[plan].slots);
        self.varying = slots.iter().any(|slot| slot.varies());
        self.alive.clear();
        self.alive.resize(slots.len(), false);
    }

    /// A step begins: its plan is selected, and the cursor goes to the start. If something is alive in the arena that
    /// the plan does not expect there, planned places are looked up from now on before they are handed out
    /// (`distrust`).
    pub(crate) fn begin(&mut self, step: u32, tenants: Tenants<'_>) {
        let plan = self.plans.iter().position(|plan| plan.step == step);
        if plan != self.current {
            self.select(plan);
        }
        (self.cursor, self.next, self.deviations, self.free, self.outgrown) = (0, 0, 0, None, false);
        let Some(plan) = plan else { return };
        // Carried slots may be alive from the step before; the plan counts on that.
        let carried = &self.plans[plan].carried;
        let foreign = self.alive.iter().zip(carried).any(|(&alive, &carried)| alive && !carried);
        if self.others > 0 || foreign {
            self.distrust(tenants);
        }
    }

    /// A step ends; how many slots are alive that should not be.
    pub(crate) fn end(&mut self) -> u64 {
        let Some(plan) = self.current else { return 0 };
        let carried = &self.plans[plan].carried;
        self.alive.iter().zip(carried).filter(|&(&alive, &carried)| alive && !carried).count() as u64
    }

    /// Leaves lockstep: from here on the map of free bytes decides.
    fn distrust(&mut self, tenants: Tenants<'_>) {
        let Some(region) = self.region.as_ref().filter(|_| self.free.is_none()) else { return };
        self.free = Some(free_bytes(region, tenants));
    }

    /// What the plan of the running step has for a request. `tenants` lists what is alive in the arena, if the arena
    /// has to leave lockstep.
    pub(crate) fn place(&mut self, bytes: u64, tenants: Tenants<'_>) -> Place {
        let Some(plan) = self.current else { return Place::Pool(None) };
        let found = self.find(plan, bytes);
        // `number` is the slot. `order` is the deviation `Order` if slots before it were left out, else `None`.
        let (number, order) = match found {
            Ok(found) => found,
            // No slot of the plan stands for this request.
            Err(kind) => {
                self.deviations = self.deviations.saturating_add(1);
                let expected = self.plans[plan].slots.get(self.next).map_or(0, |slot| slot.most);
                let number = self.next as u32;
                // If some slots of the plan vary in size, steps are expected to ask for the same requests in the same
                // order with other sizes. So this request is taken for the next slot in a size that was never recorded,
                // and the cursor moves past that slot: later requests then meet their own slots. If no slot of the plan
                // varies, the request is taken for an additional one, and the slot is still expected.
                if self.varying && kind == Deviation::Size {
                    // If the request is far larger than the slot, nearly all later requests of the step will be too
                    // large as well.
                    self.outgrown |= bytes > expected + expected / OUTGROWN;
                    self.pass(plan, self.next, tenants);
                }
                return Place::None(kind, number, expected);
            }
        };
        self.deviations = self.deviations.saturating_add(u32::from(order.is_some()));
        self.pass(plan, number, tenants);
        let Some(offset) = self.plans[plan].slots[number].offset else {
            return Place::Pool(order.map(|kind| (kind, number as u32)));
        };
        // In lockstep (`free` is `None`) the place is known to be free. Out of lockstep the map decides.
        if self.free.as_mut().is_some_and(|free| !free.take(offset, bytes)) {
            self.deviations = self.deviations.saturating_add(1);
            return Place::None(Deviation::Held, number as u32, self.plans[plan].slots[number].most);
        }
        debug_assert!(!self.alive[number], "slot {number} is given away twice");
        self.alive[number] = true;
        self.tenants += 1;
        Place::At(offset, Tenant { slot: number as u32, generation: self.generation.0 }, order)
    }

    /// Which slot of the plan a request for `bytes` stands for, and how the request deviates from the plan, if it does.
    /// If the size suits the next slot, the request is that slot. Else it is the first slot of this size among the next
    /// `LOOK_AHEAD` slots. The error says why no slot stands for the request.
    fn find(&self, plan: usize, bytes: u64) -> Result<(usize, Option<Deviation>), Deviation> {
        let slots = &self.plans[plan].slots;
        let next = slots.get(self.next).ok_or(Deviation::Extra)?;
        if next.suits(bytes) {
            return Ok((self.next, None));
        }
        // If the next slot varies in size, the request is probably for that slot, in a size that was never recorded.
        // Then no later slot is looked at: it would be skipped to by mistake.
        let ahead = slots[self.next..].iter().take(if next.varies() { 0 } else { LOOK_AHEAD });
        let same = ahead.enumerate().find(|(_, slot)| slot.most == bytes && !slot.varies());
        same.map(|(skipped, _)| (self.next + skipped, Some(Deviation::Order))).ok_or(Deviation::Size)
    }

    /// Moves the cursor past the allocation of slot `number`. If the plan frees a slot before that allocation and the
    /// slot is still alive, its free is late, and the arena leaves lockstep.
    fn pass(&mut self, plan: usize, number: usize, tenants: Tenants<'_>) {
        let to = self.plans[plan].allocated_at[number] as usize;
        let passed = &self.plans[plan].moments[self.cursor..to];
        let late = passed.iter().any(|moment| matches!(moment, Moment::Free(slot) if self.alive[*slot as usize]));
        (self.cursor, self.next) = (to + 1, number + 1);
        // The slot itself may still be alive from the step before, if it is carried and was not freed in time.
        if late || self.alive[number] {
            self.distrust(tenants);
        }
    }

    /// Whether so much has deviated that the plan no longer helps this step.
    pub(crate) fn is_lost(&self) -> bool {
        self.current.is_some() && (self.deviations >= LOST_AFTER || self.outgrown)
    }

    /// Bytes of the arena for a request that has no slot, if there is a hole on mapped pages.
    pub(crate) fn hole(&mut self, bytes: u64, tenants: Tenants<'_>) -> Option<(u64, Tenant)> {
        self.distrust(tenants);
        let (region, free) = (self.region.as_ref()?, self.free.as_mut()?);
        // Mapped pages need not lie in one piece: plans that were given up have kept those under their tenants only.
        let offset = free.fitting(bytes).find(|&start| region.is_mapped(start, bytes))?;
        if !free.take(offset, bytes) {
            return None;
        }
        self.tenants += 1;
        self.others += 1;
        Some((offset, Tenant { slot: HOLE, generation: self.generation.0 }))
    }

    /// Takes back the bytes of a tenant that was freed.
    pub(crate) fn freed(&mut self, offset: u64, bytes: u64, tenant: Tenant) {
        self.tenants -= 1;
        if tenant.slot != HOLE && tenant.generation == self.generation.0 {
            self.alive[tenant.slot as usize] = false;
        } else {
            // A hole, or a slot of a plan that was selected before.
            self.others -= 1;
        }
        if let Some(free) = &mut self.free {
            free.give(offset, bytes);
        }
    }
}
