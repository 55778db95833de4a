//! `object-fit`: the largest first, each into the tightest free object.
//!
//! The usage-record strategies know sizes and lifetimes only. This strategy honours every feature that can be honoured
//! without addresses, so that nearly every problem has a strategy that makes shared objects; its plans may be larger
//! than theirs.
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
//! The objects of a kind are in a list, a [`Shelf`], in the order in which they were made, the smallest last. The shelf
//! finds the last free object in O(log n) if all buffers are alive at once. Otherwise it looks at no more objects than
//! are in use.
//!
//! Words from other files: an [`Ordering`] says which buffers are certainly used one after the other if the order of
//! execution is not fixed; a [`Clock`] numbers the steps at which something starts or ends; [`Outcome::judge`] compares
//! a plan with bounds and capacities.

mod shelf;

use std::cmp::Reverse;
use std::collections::BTreeMap;

use memplan_core::{
    BufferId, Bytes, Id, ObjectId, Outcome, Placement, Plan, Problem, SharedObject, Size, SpaceId, Stop, patience,
};

use super::Strategy;
use super::ordered_fit::too_many_dependencies;
use crate::happens_before::Ordering;
use crate::piece::Clock;
use crate::{Assign, Feature, Refusal, Request};
use shelf::{Shelf, Stretch};

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

/// Refuses a problem in which two buffers of one block must not share: they use one object, which is shared memory by
/// definition.
fn together_and_apart(problem: &Problem) -> Option<Refusal> {
    let block = |buffer: BufferId| problem.blocks().place_of(buffer).map(|(block, _)| block);
    let contradiction = |&&(one, other): &&(BufferId, BufferId)| block(one).is_some() && block(one) == block(other);
    let &(one, _) = problem.must_not_share().iter().find(contradiction)?;
    let buffer = Some(problem.buffers()[one].name.clone());
    Some(Refusal::Nobody { kind: Assign::Objects, feature: Feature::MustNotShare, buffer })
}

/// Buffers that use an object together: a block, or one buffer.
struct Party {
    /// Each with its distance from the start of the object.
    members: Vec<(BufferId, Bytes)>,
    /// What an object must hold for all of them.
    size: Size,
    /// Whether a member is exclusive, so that no other party may ever use the object.
    exclusive: bool,
    /// When any member is alive: sorted and disjoint.
    alive: Vec<Stretch>,
}

/// All of the time, for objects of exclusive buffers, which no other buffer may ever use.
const ALWAYS: [Stretch; 1] = [(0, u32::MAX)];

/// The kind of a size. An object can hold a buffer only if their sizes are of the same kind.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Class {
    /// A number of bytes, or a symbol with an upper bound.
    Bytes,
    /// A shape with this many components.
    Components(usize),
    /// A symbol without an upper bound.
    Symbol(Box<str>),
}

/// A shared object that has been made.
struct Object {
    size: Size,
    space: SpaceId,
    members: Vec<BufferId>,
    /// Holds an exclusive buffer.
    closed: bool,
    /// The last party for which it was marked as forbidden, by `strike_out`.
    struck_by: Option<u32>,
    /// Its position on its shelf.
    position: usize,
}

/// The assignment in progress.
struct Desk<'p> {
    problem: &'p Problem,
    /// `None` if the order of execution is fixed.
    ordering: Option<Ordering>,
    parties: Vec<Party>,
    /// By buffer: its party.
    party_of: Vec<u32>,
    objects: Vec<Object>,
    /// By class and space: the objects in order of creation, and the shelf that knows when each of them is in use.
    shelves: BTreeMap<(Class, SpaceId), (Shelf, Vec<usize>)>,
    /// By party: its object.
    object_of: Vec<Option<usize>>,
    /// By buffer: the buffers with which it must not share.
    apart: BTreeMap<BufferId, Vec<BufferId>>,
    /// By space: bytes (or elements, for shapes) of all objects so far.
    used: Vec<u64>,
}

impl<'p> Desk<'p> {
    /// Finds the parties and who must be kept apart; nothing is assigned yet. `None` if there are dependencies between
    /// too many buffers.
    fn new(problem: &'p Problem) -> Option<Desk<'p>> {
        let ordering = problem.dependencies().map(Ordering::of).transpose().ok()?;
        let parties = parties(problem);
        let mut party_of = vec![0; problem.buffers().len()];
        for (number, party) in parties.iter().enumerate() {
            party.members.iter().for_each(|&(buffer, _)| party_of[buffer.index()] = number as u32);
        }
        // Each pair is entered from both sides, so that the party that comes second finds it.
        let mut apart: BTreeMap<BufferId, Vec<BufferId>> = BTreeMap::new();
        for &(one, other) in problem.must_not_share() {
            apart.entry(one).or_default().push(other);
            apart.entry(other).or_default().push(one);
        }
        let (object_of, used) = (vec![None; parties.len()], vec![0; problem.spaces().len()]);
        let (objects, shelves) = (Vec::new(), BTreeMap::new());
        Some(Desk { problem, ordering, parties, party_of, objects, shelves, object_of, apart, used })
    }

    /// Assigns all parties: the largest first, of equal ones the one that starts first, then the one with the most
    /// stretches of life. If the caller's patience ends, the rest stays without an object.
    fn assign_all(&mut self) {
        let stretches = |&(buffer, _): &(BufferId, Bytes)| self.problem.buffers()[buffer].lifetime.intervals().len();
        let hardness = |party: &Party| {
            let start = party.alive.first().map(|&(start, _)| start);
            (Reverse(volume(&party.size)), start, Reverse(party.members.iter().map(stretches).sum::<usize>()))
        };
        let mut order: Vec<usize> = (0..self.parties.len()).collect();
        order.sort_by_cached_key(|&party| hardness(&self.parties[party]));
        for party in order {
            // One party may take long, if it is alive with very many others.
            if patience::is_over() {
                return;
            }
            self.assign(party as u32);
        }
    }

    /// Gives a party an object: a free one; else a new one, if the capacity allows that; else a new one that exceeds
    /// the capacity of the first space.
    fn assign(&mut self, party: u32) {
        self.strike_out(party);
        let (buffer, _) = self.parties[party as usize].members[0];
        let spaces = &self.problem.buffers()[buffer].spaces;
        // In the first of its spaces that has a free object, or room for a new one.
        let found = spaces.iter().find_map(|&space| {
            let found = self.find(party, space);
            found.inspect(|&object| self.join(party, object)).or_else(|| self.create(party, space, false))
        });
        let object = found.or_else(|| self.create(party, *spaces.first()?, true));
        let Some(object) = object else { return };
        let members = self.parties[party as usize].members.iter().map(|&(buffer, _)| buffer);
        self.objects[object].members.extend(members);
        self.object_of[party as usize] = Some(object);
    }

    /// Marks the objects that a party may not use, because a buffer lies there with which one of its members must not
    /// share.
    fn strike_out(&mut self, party: u32) {
        for (buffer, _) in &self.parties[party as usize].members {
            for other in self.apart.get(buffer).into_iter().flatten() {
                if let Some(object) = self.object_of[self.party_of[other.index()] as usize] {
                    self.objects[object].struck_by = Some(party);
                }
            }
        }
    }

    /// Notes on the shelf when a party uses an object that exists already.
    fn join(&mut self, party: u32, object: usize) {
        let info = &self.parties[party as usize];
        let Object { space, position, .. } = self.objects[object];
        if let Some((shelf, _)) = self.shelves.get_mut(&(class(&info.size), space)) {
            shelf.add(position, &info.alive);
        }
    }

    /// The tightest object of a space that is free for the party; `None` if there is none. An exclusive party never
    /// joins an object.
    fn find(&self, party: u32, space: SpaceId) -> Option<usize> {
        let info = &self.parties[party as usize];
        let (shelf, objects) = self.shelves.get(&(class(&info.size), space))?;
        if info.exclusive {
            return None;
        }
        // Parties are assigned from large to small, so all objects are large enough, and the newest one is the
        // smallest. For shapes that order says little, so the volumes of all free objects that cover the shape are
        // compared: the closure refuses every object, so that the shelf asks about all that are free, and `smallest`
        // has the answer.
        let is_shape = matches!(info.size, Size::Shape(_));
        let mut smallest: Option<(u64, usize)> = None;
        let found = shelf.last_free(&info.alive, &mut |position| {
            let object = objects[position];
            let is_free = self.is_free(object, party);
            if is_free && is_shape {
                let candidate = (volume(&self.objects[object].size), object);
                smallest = Some(smallest.map_or(candidate, |smallest| smallest.min(candidate)));
            }
            is_free && !is_shape
        });
        found.map(|position| objects[position]).or(smallest.map(|(_, object)| object))
    }

    /// Whether a party may use an object that is not in use while it lives: the object is large enough, it holds
    /// no exclusive buffer, it is not struck out, and every user is ordered with every member, if the order of
    /// execution is not fixed.
    fn is_free(&self, object: usize, party: u32) -> bool {
        let (object, info) = (&self.objects[object], &self.parties[party as usize]);
        let ordered = |ordering: &Ordering| {
            let others = &object.members;
            info.members.iter().all(|&(buffer, _)| others.iter().all(|&other| ordering.is_ordered(buffer, other)))
        };
        let closed = object.closed || object.struck_by == Some(party);
        !closed && covers(&object.size, &info.size) && self.ordering.as_ref().is_none_or(ordered)
    }

    /// Makes a new object of the party's size in a space and returns its number; `None` if the space has no room for
    /// it. `past_capacity` asks for the object even so: the plan is then too large, which its judge finds out.
    fn create(&mut self, party: u32, space: SpaceId, past_capacity: bool) -> Option<usize> {
        let Party { size, exclusive, alive, .. } = &self.parties[party as usize];
        let used = self.used[space.index()].saturating_add(volume(size));
        let capacity = self.problem.spaces()[space].capacity;
        if !past_capacity && capacity.is_some_and(|capacity| used > capacity.0) {
            return None;
        }
        let number = self.objects.len();
        self.used[space.index()] = used;
        let (shelf, objects) = self.shelves.entry((class(size), space)).or_default();
        // On the shelf the object of an exclusive buffer is in use at all times, so that no other party finds it.
        shelf.push(if *exclusive { &ALWAYS } else { alive });
        let position = objects.len();
        objects.push(number);
        let (size, closed) = (object_size(size), *exclusive);
        self.objects.push(Object { size, space, members: Vec::new(), closed, struck_by: None, position });
        Some(number)
    }

    /// The plan. Parties without an object have no place in it.
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
    let clock = Clock::of(problem);
    let mut parties = Vec::new();
    for (id, buffer) in problem.buffers().iter_enumerated() {
        let block = problem.blocks().place_of(id).map(|(block, _)| &problem.blocks().blocks()[block]);
        let (members, size) = match block {
            None => (vec![(id, Bytes::ZERO)], buffer.size.clone()),
            Some(block) if block.members[0].buffer == id => {
                let members = block.members.iter().map(|member| (member.buffer, member.at));
                (members.collect(), Size::Fixed(block.size))
            }
            // A further member of a block that is in the list already.
            Some(_) => continue,
        };
        let exclusive = members.iter().any(|&(buffer, _)| problem.buffers()[buffer].exclusive);
        let alive = alive(problem, &clock, &members);
        parties.push(Party { members, size, exclusive, alive });
    }
    parties
}

/// When any of these buffers is alive, in the positions of the clock (compressed time): sorted and disjoint.
fn alive(problem: &Problem, clock: &Clock, members: &[(BufferId, Bytes)]) -> Vec<Stretch> {
    let lives = members.iter().flat_map(|&(buffer, _)| problem.buffers()[buffer].lifetime.intervals());
    let mut stretches: Vec<Stretch> = lives.map(|life| (clock.at(life.start), clock.at(life.end))).collect();
    stretches.sort_unstable();
    // Members of a block may be alive together; stretches that meet or touch become one. (`dedup_by` drops `later`
    // where it is told that the two are the same, and `earlier` has been made longer by then.)
    stretches.dedup_by(|later, earlier| {
        let meets = later.0 <= earlier.1;
        earlier.1 = if meets { earlier.1.max(later.1) } else { earlier.1 };
        meets
    });
    stretches
}

/// The kind of a size.
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

/// Bytes, or elements of a shape; 0 if the size is not known.
fn volume(size: &Size) -> u64 {
    match size {
        Size::Shape(components) => components.iter().fold(1u64, |product, &c| product.saturating_mul(c)),
        size => size.bytes().unwrap_or_default().0,
    }
}

/// Whether an object of the same class is large enough. Symbols without a bound are of one class only if they are
/// equal.
fn covers(object: &Size, size: &Size) -> bool {
    match (object, size) {
        (Size::Shape(room), Size::Shape(shape)) => room.iter().zip(shape).all(|(room, size)| size <= room),
        (Size::Fixed(room), size) => size.bytes().is_some_and(|size| size <= *room),
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use memplan_testkit::Features;
    use memplan_testkit::problems::{Limits, problems};
    use proptest::prelude::*;

    use super::*;

    /// The object of every buffer, found by comparing each party with all before it.
    fn plainly(problem: &Problem) -> Vec<Option<ObjectId>> {
        let mut desk = Desk::new(problem).unwrap();
        let mut order: Vec<usize> = (0..desk.parties.len()).collect();
        let stretches = |&(buffer, _): &(BufferId, Bytes)| problem.buffers()[buffer].lifetime.intervals().len();
        order.sort_by_key(|&number| {
            let party = &desk.parties[number];
            let starts = party.members.iter().filter_map(|&(buffer, _)| problem.buffers()[buffer].lifetime.start());
            (Reverse(volume(&party.size)), starts.min(), Reverse(party.members.iter().map(stretches).sum::<usize>()))
        });
        for number in order {
            let party = number as u32;
            let info = &desk.parties[number];
            let (buffer, _) = info.members[0];
            let find = |space: SpaceId| {
                let fits = |object: &usize| {
                    let other = &desk.objects[*object];
                    let same_kind = other.space == space && class(&other.size) == class(&object_size(&info.size));
                    let (size, ours) = (&other.size, &info.members);
                    let meets = other
                        .members
                        .iter()
                        .any(|&member| ours.iter().any(|&(buffer, _)| meet(problem, member, buffer)));
                    same_kind && covers(size, &info.size) && !other.closed && !info.exclusive && !meets
                };
                let free = (0..desk.objects.len()).rev().filter(fits);
                match info.size {
                    Size::Shape(_) => free.min_by_key(|&object| (volume(&desk.objects[object].size), object)),
                    _ => free.into_iter().next(),
                }
            };
            let spaces = &problem.buffers()[buffer].spaces;
            let place = |desk: &mut Desk, space, past| desk.create(party, space, past);
            let choices: Vec<(SpaceId, Option<usize>)> = spaces.iter().map(|&space| (space, find(space))).collect();
            let mut found = None;
            for (space, free) in choices {
                found = found.or(free).or_else(|| place(&mut desk, space, false));
            }
            let object = found.or_else(|| place(&mut desk, spaces[0], true)).unwrap();
            let members: Vec<BufferId> = desk.parties[number].members.iter().map(|&(buffer, _)| buffer).collect();
            desk.objects[object].members.extend(members);
            desk.object_of[number] = Some(object);
        }
        let plan = desk.finish();
        plan.placements.iter().map(|placement| placement.as_ref().and_then(|placement| placement.object)).collect()
    }

    /// Whether two buffers must not use an object in turns.
    fn meet(problem: &Problem, one: BufferId, other: BufferId) -> bool {
        let [a, b] = [one, other].map(|id| problem.buffers()[id].lifetime.intervals());
        let alive = a.clone().any(|x| b.clone().any(|y| x.start < y.end && y.start < x.end));
        let pairs = problem.must_not_share();
        let ordered = problem.dependencies().is_none_or(|all| Ordering::of(all).unwrap().is_ordered(one, other));
        alive || pairs.contains(&(one, other)) || pairs.contains(&(other, one)) || !ordered
    }

    proptest! {
        #[test]
        fn the_same_objects_as_by_comparing_all_pairs(problem in problems(Features::ALL, Limits::MEDIUM)) {
            if together_and_apart(&problem).is_none() {
                let mut desk = Desk::new(&problem).unwrap();
                desk.assign_all();
                let plan = desk.finish();
                let objects: Vec<Option<ObjectId>> =
                    plan.placements.iter().map(|placement| placement.as_ref().and_then(|placement| placement.object)).collect();
                prop_assert_eq!(objects, plainly(&problem));
            }
        }
    }
}
