//! The rules of a valid plan, byte by byte and step by step.
//!
//! Slow and obvious on purpose: a map from every byte to the slots that have a
//! place for it, and for each pair of them a loop over all steps. What the packing
//! check finds with sweeps and trees must be exactly this.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use memplan_core::{
    Buffer, BufferId, Bytes, Id, MAX_BYTES, ObjectId, OverlayKind, Placement, Plan, Problem, Size, SpaceId, Step,
};

/// The rules a plan breaks: the rule's code and the buffers concerned, such as
/// `overlap b0 b1`. Pairs are in input order.
pub fn broken_rules(problem: &Problem, plan: &Plan) -> BTreeSet<String> {
    Reference::new(problem, plan).broken_rules()
}

/// What offsets count from: a shared object, or a space. The space is number 0 for all objects.
type Home = (Option<ObjectId>, SpaceId);
/// A buffer, and the number of one of its slots.
type Slot = (BufferId, usize);

/// A plan, and what has been found out about it.
struct Reference<'a> {
    /// The problem, whose rules are checked.
    problem: &'a Problem,
    /// The plan that may break them.
    plan: &'a Plan,
    /// The slots that have a place for a byte. An object counts as one byte.
    occupants: BTreeMap<(Home, u64), Vec<Slot>>,
    /// Overlays that the plan may rely on.
    overlays: HashSet<(BufferId, BufferId)>,
    /// The rules that are broken, see [`broken_rules`].
    broken: BTreeSet<String>,
}

impl<'a> Reference<'a> {
    /// Nothing is checked yet.
    fn new(problem: &'a Problem, plan: &'a Plan) -> Reference<'a> {
        let (occupants, overlays, broken) = Default::default();
        Reference { problem, plan, occupants, overlays, broken }
    }

    /// Checks every rule for every byte and every step, without any cleverness. First each buffer
    /// by itself, which also notes the bytes that it occupies; then the spaces, the buffers that
    /// must lie together, and the reuses in place, which excuse some common bytes; at last every
    /// byte that two slots have in common.
    fn broken_rules(mut self) -> BTreeSet<String> {
        for name in &self.plan.unknown {
            self.broken.insert(format!("unknown-buffer {name}"));
        }
        for (id, buffer) in self.problem.buffers().iter_enumerated() {
            match self.placement(id) {
                None => self.breaks("missing-buffer", &[id]),
                Some(placement) => self.check_buffer(id, buffer, placement),
            }
        }
        self.check_extents();
        self.check_together();
        self.check_overlays();
        self.check_bytes();
        self.broken
    }

    /// Where the plan puts a buffer; `None` if it says nothing about it.
    fn placement(&self, id: BufferId) -> Option<&'a Placement> {
        self.plan.placements.get(id)?.as_ref()
    }

    /// Notes a broken rule, with the names of the buffers in input order.
    fn breaks(&mut self, code: &str, buffers: &[BufferId]) {
        let mut buffers = buffers.to_vec();
        buffers.sort();
        let names = buffers.iter().map(|&id| format!(" {}", self.problem.buffers()[id].name));
        self.broken.insert(code.to_owned() + &names.collect::<String>());
    }

    /// Checks what can be said of one buffer alone, and notes which bytes or which object it occupies. More offsets than
    /// slots are no mistake: each of them is checked and occupies bytes.
    fn check_buffer(&mut self, id: BufferId, buffer: &Buffer, placement: &Placement) {
        if placement.offsets.len() < buffer.slots as usize {
            self.breaks("too-few-offsets", &[id]);
        }
        if !buffer.spaces.contains(&placement.space) {
            self.breaks("wrong-space", &[id]);
        }
        for (slot, &offset) in placement.offsets.iter().enumerate() {
            let alignment = self.problem.alignment_in(id, placement.space);
            // A buffer at an offset whose size is not known breaks another rule, `size-unknown`, and only that.
            let known = placement.object.is_some() || buffer.bytes().is_some();
            // The offset of an object that does not exist is no offset. It is reported once, as an unknown object.
            if known
                && placement.object.is_none_or(|object| self.plan.objects.get(object).is_some())
                && offset.0 % alignment.0 > 0
            {
                self.breaks("misaligned", &[id]);
            }
            match placement.object {
                Some(object) => self.occupy_object(id, slot, offset, object, placement.space),
                None => self.occupy_bytes(id, slot, offset, placement.space),
            }
        }
        // A fixed offset counts from the space, so a buffer in a shared object is never where it was fixed. Only
        // buffers with one slot can be fixed.
        if let Some(fixed) = buffer.fixed()
            && (placement.object.is_some() || placement.offsets.iter().any(|&offset| offset != fixed))
        {
            self.breaks("fixed-moved", &[id]);
        }
    }

    /// Notes every byte of one slot in a space.
    fn occupy_bytes(&mut self, id: BufferId, slot: usize, offset: Bytes, space: SpaceId) {
        let Some(size) = self.problem.buffers()[id].bytes() else { return self.breaks("size-unknown", &[id]) };
        let end = u128::from(offset.0) + u128::from(size.0);
        if end > u128::from(MAX_BYTES) {
            return self.breaks("offset-too-large", &[id]);
        }
        if self.problem.spaces()[space].capacity.is_some_and(|capacity| end > u128::from(capacity.0)) {
            self.breaks("out-of-capacity", &[id]);
        }
        for byte in offset.0..offset.0 + size.0 {
            self.occupants.entry(((None, space), byte)).or_default().push((id, slot));
        }
    }

    /// Notes the object of one slot. An object is shared as a whole, so it counts as one byte.
    fn occupy_object(&mut self, id: BufferId, slot: usize, offset: Bytes, object: ObjectId, space: SpaceId) {
        let Some(shared) = self.plan.objects.get(object) else { return self.breaks("unknown-object", &[id]) };
        if shared.space != space {
            self.breaks("object-in-other-space", &[id]);
        }
        let size = &self.problem.buffers()[id].size;
        // An object and a buffer may each have a size in bytes, a shape or a symbol. They fit only
        // where the comparison has a meaning: bytes into bytes (at the offset inside of the
        // object), a shape into a shape that is no smaller in any component, a symbol into the same
        // symbol. What has no bytes fits into any symbol.
        let fits = match (&shared.size, size) {
            (Size::Fixed(room), _) => match size.bytes() {
                Some(size) => u128::from(offset.0) + u128::from(size.0) <= u128::from(room.0),
                None => false,
            },
            _ if offset != Bytes::ZERO => false,
            (Size::Shape(room), Size::Shape(size)) => {
                room.len() == size.len() && (0..room.len()).all(|component| size[component] <= room[component])
            }
            (Size::Symbolic { symbol: room, .. }, Size::Symbolic { symbol, .. }) if room == symbol => true,
            (Size::Symbolic { .. }, _) => size.bytes() == Some(Bytes::ZERO),
            (Size::Shape(_), _) => false,
        };
        if !fits {
            self.breaks("object-too-small", &[id]);
        }
        let nothing = match size {
            Size::Shape(components) => components.contains(&0),
            size => size.bytes() == Some(Bytes::ZERO),
        };
        // A buffer without bytes is in nobody's way.
        if !nothing {
            self.occupants.entry(((Some(object), SpaceId::from_index(0)), 0)).or_default().push((id, slot));
        }
    }

    /// Checks that each extent covers everything in its space and stays within the capacity.
    fn check_extents(&mut self) {
        for (space, info) in self.problem.spaces().iter_enumerated() {
            let extent = u128::from(self.plan.extents.get(space).copied().unwrap_or_default().0);
            let mut end = 0;
            for id in self.problem.buffers().ids() {
                let Some(placement) = self.placement(id).filter(|place| place.object.is_none() && place.space == space)
                else {
                    continue;
                };
                let Some(size) = self.problem.buffers()[id].bytes() else { continue };
                let ends = placement.offsets.iter().map(|offset| u128::from(offset.0) + u128::from(size.0));
                // An offset beyond the largest memory is reported elsewhere. Here it would only hide all other ends.
                end = ends.filter(|&end| end <= u128::from(MAX_BYTES)).fold(end, u128::max);
            }
            // Shared objects have no bytes in common, so their sizes add up.
            for object in self.plan.objects.iter().filter(|object| object.space == space) {
                end += match &object.size {
                    Size::Shape(components) => components.iter().map(|&component| u128::from(component)).product(),
                    size => u128::from(size.bytes().unwrap_or_default().0),
                };
            }
            if end > extent {
                self.broken.insert(format!("extent-too-small {}", info.name));
            }
            if info.capacity.is_some_and(|capacity| extent > u128::from(capacity.0)) {
                self.broken.insert(format!("extent-past-capacity {}", info.name));
            }
        }
    }

    /// Checks that tied buffers and must-share pairs lie at their distances. Every pair of a group is compared, so one
    /// member that is off breaks the tie with all others; only the group is named.
    fn check_together(&mut self) {
        for one in self.problem.buffers().ids() {
            for other in self.problem.buffers().ids() {
                let ties = (self.problem.buffers()[one].tie(), self.problem.buffers()[other].tie());
                if let (Some(tie), Some(other_tie)) = ties
                    && tie.group == other_tie.group
                    && !self.lie_at(one, tie.at, other, other_tie.at)
                {
                    self.broken.insert(format!("tie-broken {}", self.problem.groups()[tie.group]));
                }
            }
        }
        for &(one, other) in self.problem.must_share() {
            if !self.lie_at(one, Bytes::ZERO, other, Bytes::ZERO) {
                self.breaks("must-share-broken", &[one, other]);
            }
        }
    }

    /// Whether two buffers lie in the same space or object, slot by slot, as far apart as `at` and `other_at` are.
    /// Taking these off their offsets must give the same numbers. True if one of them has no place, which is reported
    /// elsewhere.
    fn lie_at(&self, one: BufferId, at: Bytes, other: BufferId, other_at: Bytes) -> bool {
        let (Some(first), Some(second)) = (self.placement(one), self.placement(other)) else { return true };
        let bases = |placement: &Placement, at: Bytes| -> Vec<i128> {
            placement.offsets.iter().map(|offset| i128::from(offset.0) - i128::from(at.0)).collect()
        };
        first.space == second.space && first.object == second.object && bases(first, at) == bases(second, other_at)
    }

    /// Checks every reuse in place that the plan claims. Those without a fault excuse the common bytes of their pair.
    fn check_overlays(&mut self) {
        for reuse in &self.plan.reused {
            for &over in &reuse.over {
                let pair = (reuse.buffer, over);
                let kinds: Vec<OverlayKind> = self
                    .problem
                    .overlays()
                    .iter()
                    .filter(|overlay| (overlay.buffer, overlay.over) == pair)
                    .map(|overlay| overlay.kind)
                    .collect();
                match self.overlay_fault(pair.0, pair.1, &kinds) {
                    Some(code) => self.breaks(code, &[pair.0, pair.1]),
                    None => {
                        self.overlays.insert(pair);
                    }
                }
            }
        }
    }

    /// The rule that a reuse in place breaks, if it breaks one. `buffer` starts on bytes of `over`;
    /// `kinds` are the overlays of the problem that permit this.
    fn overlay_fault(&self, buffer: BufferId, over: BufferId, kinds: &[OverlayKind]) -> Option<&'static str> {
        if kinds.is_empty() {
            return Some("overlay-undeclared");
        }
        let start = |id: BufferId| self.problem.buffers()[id].lifetime.start();
        match (start(over), start(buffer)) {
            (Some(victim), Some(newcomer)) if victim < newcomer => {}
            // The newcomer must start after its victim.
            _ => return Some("overlay-too-early"),
        }
        let (first, second) = (self.placement(buffer)?, self.placement(over)?);
        // Each slot of the newcomer lies over the slot of the same number.
        if first.offsets.len() != second.offsets.len() {
            return Some("overlay-slots");
        }
        // A pair may be declared more than once. One declaration of any offset is enough.
        let same_base = self.lie_at(buffer, Bytes::ZERO, over, Bytes::ZERO);
        (!same_base && !kinds.contains(&OverlayKind::AnyOffset)).then_some("overlay-not-same-base")
    }

    /// Checks every pair of slots on every byte that both occupy.
    fn check_bytes(&mut self) {
        let occupants = std::mem::take(&mut self.occupants);
        let last_step = self.problem.buffers().iter().filter_map(|buffer| buffer.lifetime.end()).max();
        let steps = last_step.map_or(0, |step| step.0);
        let companies = companies(self.problem);
        for (&(home, byte), slots) in &occupants {
            for (index, &one) in slots.iter().enumerate() {
                for &other in &slots[..index] {
                    self.check_pair(home, byte, slots, one, other, &companies, steps);
                }
            }
        }
    }

    /// Checks two slots on one byte. `slots` are all that have a place for the byte, `companies`
    /// says which buffers are tied together (equal numbers), `steps` is one past the last step.
    #[allow(clippy::too_many_arguments, reason = "one loop body, named")]
    fn check_pair(
        &mut self,
        home: Home,
        byte: u64,
        slots: &[Slot],
        one: Slot,
        other: Slot,
        companies: &[usize],
        steps: u64,
    ) {
        let (a, b) = (one.0, other.0);
        // Two slots of one buffer never share, whatever else the problem permits.
        if a == b {
            return self.breaks("slots-overlap", &[a]);
        }
        if self.problem.must_not_share().iter().any(|&pair| pair == (a, b) || pair == (b, a)) {
            self.breaks("must-not-share-broken", &[a, b]);
        }
        // Members of one company (ties, must-share pairs) may overlap in the same slot. The rules about lives do not
        // apply to them.
        if companies[a.index()] == companies[b.index()] && one.1 == other.1 {
            return;
        }
        if self.problem.buffers()[a].exclusive || self.problem.buffers()[b].exclusive {
            self.breaks("exclusive-shared", &[a, b]);
        }
        // The rule itself, without any cleverness: there must be no step at which both are alive on this byte.
        let mut steps = (0..steps).map(Step);
        if steps.any(|step| [one, other].iter().all(|&slot| self.is_alive(home, byte, slots, slot, step))) {
            self.breaks(if home.0.is_some() { "object-shared" } else { "overlap" }, &[a, b]);
        }
        // Without a fixed order of execution, one must come before the other in every order. Which pairs are named
        // depends on the method of a check, so the rule is reported without names.
        if self.problem.dependencies().is_some()
            && !precedes(self.problem, &self.overlays, a, b)
            && !precedes(self.problem, &self.overlays, b, a)
        {
            self.broken.insert("unordered".to_owned());
        }
    }

    /// Whether a slot needs a byte at a step: its buffer is alive there, and nobody has taken the byte over in place.
    fn is_alive(&self, home: Home, byte: u64, slots: &[Slot], (id, number): Slot, step: Step) -> bool {
        let buffer = &self.problem.buffers()[id];
        let offset = self.placement(id).map_or(0, |placement| placement.offsets[number].0);
        // Windows count from the start of the slot, and do not matter in an object, which is used as a whole.
        let in_window = |window: memplan_core::Window| {
            home.0.is_some() || (window.low.0 <= byte - offset && byte - offset < window.high.0)
        };
        let alive = buffer
            .lifetime
            .intervals()
            .any(|interval| interval.start <= step && step < interval.end && interval.window.is_none_or(in_window));
        // `slots` are all that have a place for this byte. The byte is taken if one of them lies over this one in
        // place, in the slot of the same number, and has started.
        let taken = slots.iter().any(|&(taker, taker_number)| {
            let start = self.problem.buffers()[taker].lifetime.start();
            self.overlays.contains(&(taker, id)) && taker_number == number && start.is_some_and(|start| start <= step)
        });
        alive && !taken
    }
}

/// Whether in every order of execution all readers of `x` are done before `y`
/// is written. If `y` is over `x`, it may itself be the last of them.
pub(crate) fn precedes(problem: &Problem, overlays: &HashSet<(BufferId, BufferId)>, x: BufferId, y: BufferId) -> bool {
    let Some(dependencies) = problem.dependencies() else { return true };
    let children = &dependencies.children[x];
    // All buffers that `y` is computed from, directly or by way of others: they are finished before `y` is written.
    // (`y` itself is never among them, since there are no cycles.)
    let mut ancestors = HashSet::new();
    let mut open = vec![y];
    while let Some(buffer) = open.pop() {
        let is_parent = |parent: &BufferId| dependencies.children[*parent].contains(&buffer);
        let parents: Vec<BufferId> = dependencies.children.ids().filter(is_parent).collect();
        open.extend(parents.into_iter().filter(|&parent| ancestors.insert(parent)));
    }
    let in_place = overlays.contains(&(y, x));
    // A reader of `x` computes one of its children. A buffer without children, or one that an output reads, is never
    // known to be done with.
    let done = |child: &BufferId| ancestors.contains(child) || (in_place && *child == y);
    !children.is_empty() && children.iter().all(done) && !dependencies.read_by_outputs.contains(&x)
}

/// For each buffer the first one that it is connected with by ties and must-share pairs: equal numbers mean that two
/// buffers are in one company. The smaller number is handed on along all pairs until nothing changes.
pub(crate) fn companies(problem: &Problem) -> Vec<usize> {
    let mut company: Vec<usize> = (0..problem.buffers().len()).collect();
    let tie = |id: BufferId| problem.buffers()[id].tie().map(|tie| tie.group);
    loop {
        let before = company.clone();
        for one in problem.buffers().ids() {
            for other in problem.buffers().ids() {
                let tied = tie(one).is_some() && tie(one) == tie(other);
                if tied || problem.must_share().contains(&(one, other)) {
                    let least = company[one.index()].min(company[other.index()]);
                    company[one.index()] = least;
                    company[other.index()] = least;
                }
            }
        }
        if company == before {
            return company;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use memplan_core::{Lifetime, ProblemBuilder};

    #[test]
    fn bytes_alive_together_are_found() {
        let mut builder = ProblemBuilder::new();
        let ids = [(0, 3), (2, 4), (4, 6)]
            .map(|(start, end)| builder.buffer(Buffer::new(format!("b{start}"), 8, Lifetime::new(start, end))));
        let problem = builder.build().unwrap();
        let mut plan = Plan::empty(&problem);
        for (id, offset) in ids.into_iter().zip([0, 7, 0]) {
            plan.placements[id] = Some(Placement::at(SpaceId::from_index(0), Bytes(offset)));
        }
        plan.fit_extents(&problem);
        assert_eq!(broken_rules(&problem, &plan), BTreeSet::from(["overlap b0 b2".to_owned()]));
        plan.placements[ids[1]] = Some(Placement::at(SpaceId::from_index(0), Bytes(8)));
        plan.fit_extents(&problem);
        assert_eq!(broken_rules(&problem, &plan), BTreeSet::new());
        plan.extents[SpaceId::from_index(0)] = Bytes(15);
        assert_eq!(broken_rules(&problem, &plan), BTreeSet::from(["extent-too-small default".to_owned()]));
    }
}
