//! What there is to draw, in steps and bytes: a plan turned into shapes.
//!
//! ```text
//!   bytes
//!   160 |        +-----------+
//!       |        | b         |          Alive: the bytes are b's
//!    96 +--------+--+. . . . +--------+
//!       | a         : a      | a      | Idle: reserved for a, but dead (a gap,
//!     0 +-----------+. . . . +--------+ or outside the window in use)
//!       0        3  4        6        9  step
//! ```
//!
//! Where a plan lets `w` start on bytes that `v` still occupies, the common
//! area is also marked [`Kind::Taken`]: from that step on the bytes are `w`'s.
//! A plan of shared objects is drawn as its objects stacked on each other.
//! Where the reuse of bytes [costs](memplan_core::ReuseCost) something, a [`Handover`]
//! says which bytes go from whom to whom, and when.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::ops::Range;

use super::occupancy;
use crate::wording::Unit;
use memplan_core::bound::{self, Peak};
use memplan_core::{
    BufferId, Bytes, Id, IndexVec, Interval, Lifetime, ObjectId, Placement, Plan, Problem, Size, SpaceId, Step,
};

/// What a rectangle stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// Reserved for the buffer, but its content there is dead.
    Idle,
    /// In use.
    Alive,
    /// Taken over in place from a buffer that was still alive.
    Taken,
}

/// A rectangle in time and space.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// The buffer that it is a part of.
    pub buffer: BufferId,
    /// The number of the buffer's slot, from 0.
    pub slot: usize,
    /// What it stands for.
    pub kind: Kind,
    /// First step.
    pub start: u64,
    /// One past the last step.
    pub end: u64,
    /// First byte.
    pub low: u64,
    /// One past the last byte.
    pub high: u64,
}

impl Shape {
    /// Steps times bytes.
    pub(super) fn area(&self) -> u128 {
        u128::from(self.end - self.start) * u128::from(self.high - self.low)
    }

    /// The part two shapes have in common, with the owner and the kind of `self`; `None` if they share no area.
    fn common(&self, other: &Shape) -> Option<Shape> {
        let (start, end) = (self.start.max(other.start), self.end.min(other.end));
        let (low, high) = (self.low.max(other.low), self.high.min(other.high));
        (start < end && low < high).then_some(Shape { start, end, low, high, ..*self })
    }
}

/// Bytes that two buffers have one after the other, at a price.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Handover {
    /// The buffer that has the bytes first.
    pub earlier: BufferId,
    /// The buffer that has them next.
    pub later: BufferId,
    /// What that costs.
    pub weight: u64,
    /// The step at which the earlier buffer ends.
    pub from: u64,
    /// The step at which the later buffer begins. It is before `from` if the later buffer is computed in place of the
    /// earlier one.
    pub to: u64,
    /// First common byte.
    pub low: u64,
    /// One past the last common byte.
    pub high: u64,
}

/// One memory space.
#[derive(Clone, Debug)]
pub struct Panel {
    /// The space.
    pub space: SpaceId,
    /// Name of the space.
    pub name: String,
    /// What the plan needs of it.
    pub extent: Bytes,
    /// What it has; `None` if it is unlimited.
    pub capacity: Option<Bytes>,
    /// What every plan needs of it, counting the buffers that can live in no other space; zero without any.
    pub lower_bound: Bytes,
    /// The most bytes in use at once, and when first.
    pub peak: Peak,
    /// Bytes in use over time: `(step, bytes from that step on)`. Bytes that two buffers share rightly, in an overlay
    /// or a tie, count once.
    pub live: Vec<(Step, Bytes)>,
    /// What to draw, bottom layer first.
    pub shapes: Vec<Shape>,
    /// The byte at which each shared object of the space starts, ascending; empty in a plan without shared objects.
    pub object_edges: Vec<u64>,
    /// Reuse that costs something, in the order of the problem.
    pub handovers: Vec<Handover>,
}

/// Everything to draw.
#[derive(Clone, Debug)]
pub struct Scene {
    /// One panel for each space in which something lies; one for every space if nothing lies anywhere.
    pub panels: Vec<Panel>,
    /// First step of all lives.
    pub first: u64,
    /// One past the last step.
    pub last: u64,
    /// What the address axis counts.
    pub unit: Unit,
    /// Buffers that have no area: never alive, of no or unknown size, or not placed.
    pub without_area: usize,
}

impl Scene {
    /// Whether a shape of this kind is drawn anywhere.
    pub(super) fn has(&self, kind: Kind) -> bool {
        self.panels.iter().flat_map(|panel| &panel.shapes).any(|shape| shape.kind == kind)
    }

    /// Lays out a plan. Works for any plan, also one that does not verify.
    pub fn of(problem: &Problem, plan: &Plan) -> Scene {
        // The shapes of each space. A buffer that yields none, or that the plan puts into a space that does not exist,
        // is only counted.
        let bases = object_bases(problem, plan);
        let mut shapes: IndexVec<SpaceId, Vec<Shape>> = IndexVec::filled(Vec::new(), problem.spaces().len());
        let mut without_area = 0;
        for buffer in problem.buffers().ids() {
            let drawn = shapes_of(problem, plan, &bases, buffer);
            match plan.placements.get(buffer).and_then(Option::as_ref) {
                Some(placement) if !drawn.is_empty() && placement.space.index() < shapes.len() => {
                    shapes[placement.space].extend(drawn);
                }
                _ => without_area += 1,
            }
        }
        mark_taken(problem, plan, &bases, &mut shapes);
        let mut panels = Vec::new();
        for (space, mut shapes) in problem.spaces().ids().zip(shapes.into_vec()) {
            // The first shape is the bottom layer. Idle shapes go beneath living ones and these beneath marks of
            // takeovers; among equals, earlier and larger shapes go beneath later and smaller ones.
            shapes.sort_by_key(|shape| (shape.kind, shape.start, Reverse(shape.area()), shape.buffer, shape.slot));
            panels.push(panel(problem, plan, space, shapes));
        }
        // An empty space is not worth a panel, but a picture needs at least one.
        if panels.iter().any(is_used) {
            panels.retain(is_used);
        }
        let lives = problem.buffers().iter().map(|buffer| &buffer.lifetime);
        Scene {
            panels,
            first: lives.clone().filter_map(|life| life.start()).min().unwrap_or_default().0,
            last: lives.filter_map(|life| life.end()).max().unwrap_or_default().0,
            unit: Unit::of(problem),
            without_area,
        }
    }
}

/// Whether anything lies in a space, or the plan says that it needs some of it.
fn is_used(panel: &Panel) -> bool {
    !panel.shapes.is_empty() || panel.extent > Bytes::ZERO
}

/// Everything that is drawn of one space; `shapes` are those of its buffers, bottom layer first.
fn panel(problem: &Problem, plan: &Plan, space: SpaceId, shapes: Vec<Shape>) -> Panel {
    // Objects are shared as a whole: the k-th largest must hold the k-th largest buffer of every
    // step, which is another bound than the bytes alive at once. Only buffers that can live in no
    // other space count, since the others may leave this one empty.
    let lower_bound = if plan.objects.is_empty() {
        bound::space_lower_bounds(problem)[space].bytes
    } else {
        let maxima = bound::positional_maxima(problem, |buffer| problem.buffers()[buffer].spaces.as_slice() == [space]);
        Bytes(maxima.iter().fold(0, |sum, maximum| sum.saturating_add(maximum.0)))
    };
    let handovers = handovers(problem, plan, space, &shapes);
    // Only shapes in use count; idle ones are reserved and may belong to others at that time.
    let live = occupancy::profile(shapes.iter().filter(|shape| shape.kind == Kind::Alive));
    let bases = object_bases(problem, plan);
    let objects_here = bases.iter_enumerated().filter(|&(object, _)| plan.objects[object].space == space);
    Panel {
        space,
        name: problem.spaces()[space].name.clone(),
        extent: plan.extents.get(space).copied().unwrap_or_default(),
        capacity: problem.spaces()[space].capacity,
        lower_bound,
        peak: peak_of(&live),
        live,
        shapes,
        handovers,
        object_edges: objects_here.map(|(_, &base)| base).collect(),
    }
}

/// The pairs with a price (active pairs) that have bytes in common in a space, one handover for each. A pair may meet
/// several times, because a buffer has several slots or stretches of life; the meeting with the most common bytes is
/// shown, among equal ones the one with the least time between the two buffers.
fn handovers(problem: &Problem, plan: &Plan, space: SpaceId, shapes: &[Shape]) -> Vec<Handover> {
    let mut of_buffer: BTreeMap<BufferId, Vec<&Shape>> = BTreeMap::new();
    for shape in shapes.iter().filter(|shape| shape.kind == Kind::Alive) {
        of_buffer.entry(shape.buffer).or_default().push(shape);
    }
    // Both buffers of an active pair lie in one space, so asking one of them is enough.
    let is_here = |buffer: BufferId| placement(plan, buffer).is_some_and(|placement| placement.space == space);
    let pairs = plan.active_pairs(problem).into_iter().filter(|pair| pair.weight > 0 && is_here(pair.one));
    let mut found = Vec::new();
    for pair in pairs {
        let [Some(ones), Some(others)] = [pair.one, pair.other].map(|buffer| of_buffer.get(&buffer)) else { continue };
        let meetings = ones.iter().flat_map(|one| others.iter().filter_map(|other| handover(one, other, pair.weight)));
        let closest =
            |meeting: &Handover| (Reverse(meeting.high - meeting.low), meeting.to.abs_diff(meeting.from), meeting.to);
        found.extend(meetings.min_by_key(closest));
    }
    found
}

/// What two shapes hand over, at the price `weight`; `None` if they have no byte in common.
fn handover(one: &Shape, other: &Shape, weight: u64) -> Option<Handover> {
    let (earlier, later) = if one.start <= other.start { (one, other) } else { (other, one) };
    let (low, high) = (earlier.low.max(later.low), earlier.high.min(later.high));
    // The handover takes the time from the end of the one to the start of the other.
    let (from, to) = (earlier.end, later.start);
    let (earlier, later) = (earlier.buffer, later.buffer);
    (low < high).then_some(Handover { earlier, later, weight, from, to, low, high })
}

/// The highest value, at the first step that has it; no step if nothing is alive.
fn peak_of(live: &[(Step, Bytes)]) -> Peak {
    let highest = live.iter().max_by_key(|&&(step, bytes)| (bytes, std::cmp::Reverse(step)));
    highest.map_or_else(Peak::default, |&(step, bytes)| Peak { bytes, step: Some(step) })
}

/// Where a plan puts a buffer; `None` if it does not place it.
fn placement(plan: &Plan, buffer: BufferId) -> Option<&Placement> {
    plan.placements.get(buffer)?.as_ref()
}

/// Where each shared object starts when the objects of a space are stacked on each other in the order of the plan. A
/// shared object has no address of its own, but a picture needs one.
fn object_bases(problem: &Problem, plan: &Plan) -> IndexVec<ObjectId, u64> {
    let mut tops = IndexVec::<SpaceId, u64>::filled(0, problem.spaces().len());
    let mut base_of = |object: &memplan_core::SharedObject| {
        // A plan that does not verify may name a space that the problem does not have; nothing of it is drawn.
        if object.space.index() >= tops.len() {
            return 0;
        }
        let base = tops[object.space];
        tops[object.space] = base.saturating_add(bytes_of(&object.size));
        base
    };
    plan.objects.iter().map(&mut base_of).collect()
}

/// Bytes a size takes on the paper: a shape counts as the product of its components, an unknown size as zero.
fn bytes_of(size: &Size) -> u64 {
    size.volume().unwrap_or_default().0
}

/// The shapes of one buffer: each stretch of its life in each slot, what it
/// reserves without using it, and the gaps in between. Empty if the buffer is not placed or has no bytes.
fn shapes_of(problem: &Problem, plan: &Plan, bases: &IndexVec<ObjectId, u64>, id: BufferId) -> Vec<Shape> {
    let buffer = &problem.buffers()[id];
    let size = bytes_of(&buffer.size);
    let (Some(placement), true) = (placement(plan, id), size > 0) else { return Vec::new() };
    // In a shared object, offsets count from where the object starts.
    let base = placement.object.and_then(|object| bases.get(object)).copied().unwrap_or_default();
    let stretches = stretches(&buffer.lifetime, size);
    let mut shapes = Vec::new();
    for (slot, offset) in placement.offsets.iter().enumerate() {
        let bottom = base.saturating_add(offset.0);
        shapes.extend(stretches.iter().map(|Stretch { kind, steps, bytes }| Shape {
            buffer: id,
            slot,
            kind: *kind,
            start: steps.start.0,
            end: steps.end.0,
            low: bottom.saturating_add(bytes.start),
            high: bottom.saturating_add(bytes.end),
        }));
    }
    // Offsets near the end of u64, in a plan that does not verify, saturate and may leave nothing to draw.
    shapes.retain(|shape| shape.low < shape.high);
    shapes
}

/// Some bytes of a buffer during some steps; bytes count from the beginning of the buffer.
struct Stretch {
    /// Whether the bytes are in use then (`Alive`) or only reserved (`Idle`).
    kind: Kind,
    /// The steps.
    steps: Range<Step>,
    /// The bytes.
    bytes: Range<u64>,
}

/// The life of a buffer of `size` bytes as rectangles of steps and bytes, without those that are empty.
fn stretches(lifetime: &Lifetime, size: u64) -> Vec<Stretch> {
    let mut stretches = Vec::new();
    let mut previous: Option<Interval> = None;
    for interval in lifetime.intervals() {
        // Bytes outside of the window are reserved for the buffer and not used during this stretch, so they are
        // drawn as idle.
        let used = interval.bytes(Bytes(size));
        let steps = interval.start..interval.end;
        stretches.push(Stretch { kind: Kind::Alive, steps: steps.clone(), bytes: used.low.0..used.high.0 });
        stretches.push(Stretch { kind: Kind::Idle, steps: steps.clone(), bytes: 0..used.low.0 });
        stretches.push(Stretch { kind: Kind::Idle, steps, bytes: used.high.0..size });
        // In a gap the whole buffer is idle: its bytes may belong to others until the next stretch begins.
        if let Some(previous) = previous {
            stretches.push(Stretch { kind: Kind::Idle, steps: previous.end..interval.start, bytes: 0..size });
        }
        previous = Some(interval);
    }
    stretches.retain(|stretch| !stretch.steps.is_empty() && !stretch.bytes.is_empty());
    stretches
}

/// Adds a shape of kind [`Kind::Taken`] for the area that the two buffers of each in-place reuse have in common. The
/// shape belongs to the newcomer. `shapes` are those of each space.
fn mark_taken(
    problem: &Problem,
    plan: &Plan,
    bases: &IndexVec<ObjectId, u64>,
    shapes: &mut IndexVec<SpaceId, Vec<Shape>>,
) {
    let alive = |buffer: BufferId| {
        let mut shapes = shapes_of(problem, plan, bases, buffer);
        shapes.retain(|shape| shape.kind == Kind::Alive);
        shapes
    };
    for reuse in &plan.reused {
        // A plan that does not verify may name a space that does not exist.
        let space = placement(plan, reuse.buffer).map(|placement| placement.space);
        let Some(space) = space.filter(|space| space.index() < shapes.len()) else { continue };
        let victims: Vec<Shape> = reuse.over.iter().flat_map(|&over| alive(over)).collect();
        for mine in alive(reuse.buffer) {
            let taken = victims.iter().filter_map(|theirs| mine.common(theirs));
            shapes[space].extend(taken.map(|common| Shape { kind: Kind::Taken, ..common }));
        }
    }
}
