//! `object-fit`: the largest first, each into the tightest free object.
//!
//! The usage-record strategies know sizes and lifetimes. This one trades their
//! finesse for generality: it honours whatever can be honoured without
//! addresses, so that for every problem there is a strategy that makes shared objects.
//!
//! ```text
//!   a 64 [0,2)   b 48 [1,3)   c 32 [2,4)      object 0: 64  a
//!   largest first: a, b, c                    object 1: 48  b
//!   c meets b, not a                          c joins object 0
//! ```
//!
//! - Buffers that must share or are tied use an object together, each at its place.
//! - An object is used as a whole, so windows of live bytes do not matter. Gaps do:
//!   others may use an object in between.
//! - Objects never grow: sizes in bytes arrive in descending order. A shape goes
//!   into an object that covers it in every component, the one with the fewest
//!   elements; a size known only at run time into an object of the same symbol.
//! - Of several candidate spaces the first is taken in which an object is free
//!   or a new one still fits the capacity.
//!
//! Free objects are found through those that are not: the
//! [`Conflicts`] index lists who is alive at the same time, their objects are
//! struck out, and the tightest of the rest is found after at most as many
//! steps. O(n log n) plus the number of conflicts.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use memplan_core::{
    BufferId, Bytes, Id, ObjectId, Outcome, Placement, Plan, Problem, SharedObject, Size, SpaceId, Stop, patience,
};

use super::Strategy;
use super::ordered_fit::too_many_dependencies;
use crate::conflicts::Conflicts;
use crate::happens_before::Ordering;
use crate::piece::Clock;
use crate::{Assign, Feature, Refusal, Request};

/// See the module documentation.
pub struct ObjectFit;

impl Strategy for ObjectFit {
    fn name(&self) -> &'static str {
        "object-fit"
    }

    fn describe(&self) -> &'static str {
        "shared objects for every feature: largest first, into the tightest free object"
    }

    fn assigns(&self) -> &'static [Assign] {
        &[Assign::Objects]
    }

    fn supports(&self, feature: Feature, _: Assign) -> bool {
        !matches!(feature, Feature::FixedOffsets | Feature::Slots | Feature::ReuseCosts)
    }

    fn refuse(&self, problem: &Problem, _: &Request) -> Option<Refusal> {
        too_many_dependencies(self.name(), problem).or_else(|| together_and_apart(problem))
    }

    fn plan(&self, problem: &Problem, _: &Request) -> Outcome {
        match Desk::new(problem) {
            Some(mut desk) => {
                desk.assign_all();
                Outcome::judge(problem, desk.finish(), Stop::Finished)
            }
            None => Outcome::Exhausted { stop: Stop::Finished },
        }
    }
}

/// Buffers in one block use one object, so they cannot be kept apart in it.
fn together_and_apart(problem: &Problem) -> Option<Refusal> {
    let block = |buffer: BufferId| problem.blocks().place_of(buffer).map(|(block, _)| block);
    let contradiction = |&&(one, other): &&(BufferId, BufferId)| block(one).is_some() && block(one) == block(other);
    let &(one, _) = problem.must_not_share().iter().find(contradiction)?;
    let buffer = Some(problem.buffers()[one].name.clone());
    Some(Refusal::Nobody { kind: Assign::Objects, feature: Feature::MustNotShare, buffer })
}

/// Buffers that use an object together: a block, or one buffer.
struct Party {
    members: Vec<(BufferId, Bytes)>,
    size: Size,
    exclusive: bool,
    /// Stretches of life of all members: positions in the desk's `stretches`.
    stretches: Vec<usize>,
}

/// A stretch of a party's life, in compressed time.
#[derive(Clone, Copy)]
struct Stretch {
    start: u32,
    end: u32,
    rank: u32,
    party: u32,
}

/// Which objects can hold which sizes at all, and in which space they are.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Class {
    Bytes,
    Components(usize),
    Symbol(Box<str>),
}

struct Object {
    size: Size,
    space: SpaceId,
    members: Vec<BufferId>,
    /// Holds an exclusive buffer.
    closed: bool,
    /// The party that struck it out last.
    struck_by: Option<u32>,
}

/// Where parties are assigned to objects.
struct Desk<'p> {
    problem: &'p Problem,
    ordering: Option<Ordering>,
    parties: Vec<Party>,
    party_of: Vec<u32>,
    stretches: Vec<Stretch>,
    /// By rank: the stretch.
    by_rank: Vec<usize>,
    conflicts: Conflicts,
    objects: Vec<Object>,
    /// By class and space: objects in order of creation.
    shelves: BTreeMap<(Class, SpaceId), Vec<usize>>,
    object_of: Vec<Option<usize>>,
    apart: BTreeMap<BufferId, Vec<BufferId>>,
    used: Vec<u64>,
}

impl<'p> Desk<'p> {
    /// `None` if there are dependencies between too many buffers.
    fn new(problem: &'p Problem) -> Option<Desk<'p>> {
        let ordering = problem.dependencies().map(Ordering::of).transpose().ok()?;
        let mut parties = parties(problem);
        let clock = Clock::of(problem);
        let mut party_of = vec![0; problem.buffers().len()];
        // Each stretch of each member's life is listed once, and each party remembers its own.
        let mut stretches = Vec::new();
        for (number, party) in parties.iter_mut().enumerate() {
            let number = number as u32;
            for &(buffer, _) in &party.members {
                party_of[buffer.index()] = number;
                for interval in problem.buffers()[buffer].lifetime.intervals() {
                    party.stretches.push(stretches.len());
                    let (start, end) = (clock.at(interval.start), clock.at(interval.end));
                    stretches.push(Stretch { start, end, rank: 0, party: number });
                }
            }
        }
        // Ranks number the stretches by their start. The conflict index needs that order: it finds who overlaps a
        // stretch by a search over starts.
        let mut by_rank: Vec<usize> = (0..stretches.len()).collect();
        by_rank.sort_by_key(|&stretch| stretches[stretch].start);
        for (rank, &stretch) in by_rank.iter().enumerate() {
            stretches[stretch].rank = rank as u32;
        }
        let conflicts = Conflicts::new(by_rank.iter().map(|&stretch| stretches[stretch].start).collect());
        // Each pair is entered from both sides, so that the party that comes second finds it.
        let mut apart: BTreeMap<BufferId, Vec<BufferId>> = BTreeMap::new();
        for &(one, other) in problem.must_not_share() {
            apart.entry(one).or_default().push(other);
            apart.entry(other).or_default().push(one);
        }
        let (object_of, used) = (vec![None; parties.len()], vec![0; problem.spaces().len()]);
        let (objects, shelves) = (Vec::new(), BTreeMap::new());
        Some(Desk {
            problem,
            ordering,
            parties,
            party_of,
            stretches,
            by_rank,
            conflicts,
            objects,
            shelves,
            object_of,
            apart,
            used,
        })
    }

    /// Assigns all parties, the largest first.
    fn assign_all(&mut self) {
        let hardness = |party: &Party| {
            let start = party.stretches.iter().map(|&stretch| self.stretches[stretch].start).min();
            (Reverse(volume(&party.size)), start, Reverse(party.stretches.len()))
        };
        let mut order: Vec<usize> = (0..self.parties.len()).collect();
        order.sort_by_cached_key(|&party| hardness(&self.parties[party]));
        for party in order {
            // If a party is alive with very many others, finding them takes long.
            if patience::is_over() {
                return;
            }
            self.assign(party as u32);
        }
    }

    /// Gives a party a free object, a new one within the capacity, or, if neither is possible, a new one beyond it.
    fn assign(&mut self, party: u32) {
        self.strike_out(party);
        let (buffer, _) = self.parties[party as usize].members[0];
        let spaces = &self.problem.buffers()[buffer].spaces;
        let found =
            spaces.iter().find_map(|&space| self.find(party, space).or_else(|| self.create(party, space, false)));
        let object = found.or_else(|| self.create(party, *spaces.first()?, true));
        let Some(object) = object else { return };
        let info = &self.parties[party as usize];
        self.objects[object].closed |= info.exclusive;
        self.objects[object].members.extend(info.members.iter().map(|&(buffer, _)| buffer));
        self.object_of[party as usize] = Some(object);
        for &stretch in &info.stretches {
            self.conflicts.insert(self.stretches[stretch].rank as usize, self.stretches[stretch].end);
        }
    }

    /// Marks the objects of all parties that are alive at the same time or must not share.
    fn strike_out(&mut self, party: u32) {
        let info = &self.parties[party as usize];
        let (objects, object_of) = (&mut self.objects, &self.object_of);
        let mut strike = |other: u32| {
            if let Some(object) = object_of[other as usize] {
                objects[object].struck_by = Some(party);
            }
        };
        for &stretch in &info.stretches {
            let Stretch { start, end, .. } = self.stretches[stretch];
            self.conflicts.for_each(start, end, |rank| strike(self.stretches[self.by_rank[rank]].party));
        }
        for (buffer, _) in &info.members {
            let others = self.apart.get(buffer).into_iter().flatten();
            others.for_each(|other| strike(self.party_of[other.index()]));
        }
    }

    /// The tightest object of a space that is free for the party.
    fn find(&self, party: u32, space: SpaceId) -> Option<usize> {
        let info = &self.parties[party as usize];
        let shelf = self.shelves.get(&(class(&info.size), space))?;
        let free = shelf.iter().rev().copied().filter(|&object| self.is_free(object, party));
        match &info.size {
            // Parties come from large to small, so all objects are large enough and the newest one is the smallest.
            // With several components that order says little, and volumes are compared.
            Size::Shape(_) => free.min_by_key(|&object| (volume(&self.objects[object].size), object)),
            _ => free.into_iter().next(),
        }
    }

    fn is_free(&self, object: usize, party: u32) -> bool {
        let (object, info) = (&self.objects[object], &self.parties[party as usize]);
        let ordered = |ordering: &Ordering| {
            let others = &object.members;
            info.members.iter().all(|&(buffer, _)| others.iter().all(|&other| ordering.is_ordered(buffer, other)))
        };
        let closed = object.closed || info.exclusive || object.struck_by == Some(party);
        !closed && covers(&object.size, &info.size) && self.ordering.as_ref().is_none_or(ordered)
    }

    /// A new object, if it fits the capacity or need not.
    fn create(&mut self, party: u32, space: SpaceId, past_capacity: bool) -> Option<usize> {
        let size = &self.parties[party as usize].size;
        let used = self.used[space.index()].saturating_add(volume(size));
        let capacity = self.problem.spaces()[space].capacity;
        if !past_capacity && capacity.is_some_and(|capacity| used > capacity.0) {
            return None;
        }
        let number = self.objects.len();
        self.used[space.index()] = used;
        self.shelves.entry((class(size), space)).or_default().push(number);
        let size = object_size(size);
        self.objects.push(Object { size, space, members: Vec::new(), closed: false, struck_by: None });
        Some(number)
    }

    /// The plan of all parties.
    fn finish(self) -> Plan {
        let mut plan = Plan::empty(self.problem);
        for (party, object) in self.parties.iter().zip(&self.object_of) {
            let Some(object) = *object else { continue };
            let (space, id) = (self.objects[object].space, ObjectId::from_index(object));
            for &(buffer, at) in &party.members {
                plan.placements[buffer] = Some(Placement { object: Some(id), ..Placement::at(space, at) });
            }
        }
        plan.objects =
            self.objects.into_iter().map(|object| SharedObject { size: object.size, space: object.space }).collect();
        plan.fit_extents(self.problem);
        plan
    }
}

/// The parties of a problem: each block, and each buffer that is in no block.
fn parties(problem: &Problem) -> Vec<Party> {
    let mut parties = Vec::new();
    for (id, buffer) in problem.buffers().iter_enumerated() {
        let block = problem.blocks().place_of(id).map(|(block, _)| &problem.blocks().blocks()[block]);
        let (members, size) = match block {
            None => (vec![(id, Bytes::ZERO)], buffer.size.clone()),
            Some(block) if block.members[0].buffer == id => {
                let members = block.members.iter().map(|member| (member.buffer, member.at));
                (members.collect(), Size::Fixed(block.size))
            }
            Some(_) => continue,
        };
        let exclusive = members.iter().any(|&(buffer, _)| problem.buffers()[buffer].exclusive);
        parties.push(Party { members, size, exclusive, stretches: Vec::new() });
    }
    parties
}

fn class(size: &Size) -> Class {
    match size {
        Size::Shape(components) => Class::Components(components.len()),
        Size::Symbolic { symbol, at_most: None } => Class::Symbol(symbol.clone()),
        Size::Fixed(_) | Size::Symbolic { .. } => Class::Bytes,
    }
}

/// The size of an object made for a buffer: a bounded symbol is as large as it can get.
fn object_size(size: &Size) -> Size {
    match size {
        Size::Symbolic { at_most: Some(bytes), .. } => Size::Fixed(*bytes),
        size => size.clone(),
    }
}

/// Bytes or elements; 0 where that is not known.
fn volume(size: &Size) -> u64 {
    match size {
        Size::Shape(components) => components.iter().fold(1u64, |product, &c| product.saturating_mul(c)),
        size => size.bytes().unwrap_or_default().0,
    }
}

/// Whether an object of the same class is large enough.
fn covers(object: &Size, size: &Size) -> bool {
    match (object, size) {
        (Size::Shape(room), Size::Shape(shape)) => room.iter().zip(shape).all(|(room, size)| size <= room),
        (Size::Fixed(room), size) => size.bytes().is_some_and(|size| size <= *room),
        _ => true,
    }
}
