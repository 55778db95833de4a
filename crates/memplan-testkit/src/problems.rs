//! Property-test strategies for valid problems.
//!
//! A problem is assembled from a recipe of plain bytes: eighteen for each buffer,
//! three for each relation. Zero bytes mean "nothing special", so failing
//! cases shrink to few, plain buffers. What the recipe asks for but the problem
//! cannot have (a tie that contradicts another, say) is left out, never
//! generated and thrown away.
//!
//! Generated problems are valid; whether they fit their capacities and fixed
//! offsets is for planners to find out.

use memplan_core::{
    Buffer, BufferId, Bytes, Dependencies, GroupId, Id, IndexVec, Interval, Lifetime, Overlay, OverlayKind, Problem,
    ProblemBuilder, Size, Space, SpaceId, Tie, bound,
};
use proptest::prelude::*;
use smallvec::SmallVec;

use crate::Features;

/// How large generated problems are.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// At most this many buffers.
    pub buffers: usize,
    /// No buffer is larger.
    pub size: u64,
    /// Lives start before this step.
    pub steps: u64,
}

impl Limits {
    /// Small enough to try every plan.
    pub const TINY: Limits = Limits { buffers: 4, size: 6, steps: 5 };
    /// Small enough to look at every byte at every step.
    pub const SMALL: Limits = Limits { buffers: 12, size: 24, steps: 12 };
    /// Enough buffers for planners to make interesting choices.
    pub const MEDIUM: Limits = Limits { buffers: 60, size: 4096, steps: 40 };
}

/// Problems within the limits that have only the given features.
pub fn problems(features: Features, limits: Limits) -> impl Strategy<Value = Problem> {
    let buffer = prop::array::uniform18(any::<u8>());
    let relation = prop::array::uniform3(any::<u8>());
    let recipe =
        (prop::collection::vec(buffer, 1..=limits.buffers), prop::collection::vec(relation, 0..=6), any::<[u8; 6]>());
    recipe.prop_map(move |(buffers, relations, general)| {
        Recipe { features, limits, buffers, relations, general }.assemble()
    })
}

/// Alignments that occur, the plain one most often.
const ALIGNMENTS: [u64; 8] = [1, 1, 2, 4, 8, 16, 3, 12];
/// How many tie groups there are.
const GROUPS: u8 = 3;
/// Base addresses are 0, 1 or 2 times this: a multiple of all alignments and of each of their least common multiples,
/// so that every base address suits every buffer.
const BASE: u64 = 48 * 256;

/// The bytes from which a problem is made. A byte decides mostly by its remainder, and some bytes decide several things
/// (bytes 2 to 5 of a buffer decide its lifetime, and in a problem with dependencies what it is computed from). Most
/// tests of a remainder compare it with 1 and not with 0, so that bytes of 0 give the plainest problem.
///
/// What the bytes of a buffer decide:
/// - 0 and 1: whether it has no bytes or no life; its size;
/// - 2 to 5: the first step, the length and the number of its stretches, the length of the gaps;
///   with dependencies, its two parents, how many of them stay, and whether an output reads it;
/// - 6 to 8: which stretches have a window, and its first byte and length;
/// - 9 to 12: its spaces, its alignment, its slots, whether it is exclusive;
/// - 13 to 16: its components, if sizes are shapes;
/// - 14 and 15: the group it is tied to, and its distance there;
/// - 16 and 17: its fixed offset; its symbol, if its size is one.
struct Recipe {
    /// Which features the problem may have. The bytes of others are not looked at.
    features: Features,
    /// How large the problem is.
    limits: Limits,
    /// For each buffer its bytes.
    buffers: Vec<[u8; 18]>,
    /// For each relation between two buffers: its kind and the two.
    relations: Vec<[u8; 3]>,
    /// For the problem as a whole: number of spaces (byte 0), alignment, base and capacity of the
    /// up to three spaces (1 to 3), whether there are dependencies (4), whether sizes are shapes
    /// and of how many components (5).
    general: [u8; 6],
}

impl Recipe {
    /// Makes a valid problem of the bytes.
    fn assemble(&self) -> Problem {
        let mut builder = ProblemBuilder::new();
        self.add_spaces(&mut builder);
        if self.features.ties {
            (0..GROUPS).for_each(|index| {
                builder.group(format!("g{index}"));
            });
        }
        for (index, bytes) in self.buffers.iter().enumerate() {
            builder.buffer(self.plain_buffer(index, bytes));
        }
        // Ties and relations refer to other buffers, so all buffers exist first. What contradicts something that was
        // added before is left out.
        for index in 0..self.buffers.len() {
            self.add_ties_and_positions(&mut builder, index);
        }
        for relation in &self.relations {
            self.add_relation(&mut builder, relation);
        }
        if self.features.dependencies && self.general[4] % 2 == 1 {
            self.add_dependencies(&mut builder);
        }
        if self.features.capacities {
            self.limit_capacities(&mut builder);
        }
        match builder.build() {
            Ok(problem) => problem,
            // Spaces, groups and plain buffers are valid whatever the bytes are. Ties, fixed offsets and relations are
            // added by `change`, which leaves out what `build` refuses. Dependencies lead from earlier to later buffers
            // only, and `build` refuses no capacity of this size. So a failure here is a bug of this generator, and a
            // test must not hide the bug by trying another problem.
            Err(error) => unreachable!("only what fits together was added: {error}"),
        }
    }

    /// How many spaces the problem has: 1 to 3.
    fn space_count(&self) -> u64 {
        if self.features.several_spaces { 1 + u64::from(self.general[0] % 3) } else { 1 }
    }

    /// Adds the spaces, some of them with an alignment and a base address.
    fn add_spaces(&self, builder: &mut ProblemBuilder) {
        for index in 0..self.space_count() {
            let mut space = Space::new(format!("space{index}"));
            if self.features.alignments {
                let byte = u64::from(self.general[1 + index as usize]);
                space.alignment = Bytes(ALIGNMENTS[(byte % 8) as usize]);
                space.base = Bytes(byte / 8 % 3 * BASE);
            }
            builder.space(space);
        }
    }

    /// The buffer on its own, without anything that may contradict others.
    fn plain_buffer(&self, index: usize, bytes: &[u8; 18]) -> Buffer {
        let features = &self.features;
        // Of 16 values one makes a buffer of size 0 and one a buffer that is never alive.
        let empty = if features.empty_buffers { bytes[0] % 16 } else { 0 };
        let size = if empty == 1 { 0 } else { 1 + scaled(bytes[1], self.limits.size) };
        let lifetime = if empty == 2 { Lifetime::default() } else { self.lifetime(size, bytes) };
        let mut buffer = Buffer::new(format!("b{index}"), size, lifetime);
        buffer.spaces = self.candidate_spaces(bytes[9]);
        if features.alignments {
            buffer.alignment = Bytes(ALIGNMENTS[usize::from(bytes[10] % 8)]);
        }
        if features.slots {
            // Most buffers have one slot. The first entry is 1, so that zero bytes give the plain buffer.
            buffer.slots = [1, 1, 1, 2, 1, 3][usize::from(bytes[11] % 6)];
        }
        buffer.exclusive = features.exclusive && bytes[12] % 6 == 1;
        self.make_unaddressable(&mut buffer, bytes);
        buffer
    }

    /// Gives the buffer a shape or a symbol in place of a number of bytes, if its bytes of the recipe say so. Windows
    /// are ranges of bytes, so such a buffer has none. In one of three problems all buffers have shapes with the same
    /// number of components; in the others single buffers may have a symbol. Two of the three symbols have an upper
    /// bound.
    fn make_unaddressable(&self, buffer: &mut Buffer, bytes: &[u8; 18]) {
        let whole = |buffer: &Buffer| {
            buffer.lifetime.intervals().map(|interval| Interval { window: None, ..interval }).collect()
        };
        if self.features.shapes && self.general[5] % 3 == 1 {
            let components = 2 + usize::from(self.general[5] / 3 % 3);
            buffer.size = Size::Shape(bytes[13..13 + components].iter().map(|&byte| u64::from(byte % 5)).collect());
            buffer.lifetime = whole(buffer);
        } else if self.features.symbols && bytes[17] % 4 == 1 {
            let symbol = bytes[17] / 4 % 3;
            let at_most = (symbol > 0).then(|| Bytes(8 * u64::from(symbol)));
            buffer.size = Size::Symbolic { symbol: format!("n{symbol}").into(), at_most };
            buffer.lifetime = whole(buffer);
        }
    }

    /// A life of one to three stretches, some of them with a window. All stretches of a life are equally long, and so
    /// are its gaps.
    fn lifetime(&self, size: u64, bytes: &[u8; 18]) -> Lifetime {
        let step = |byte: u8, limit: u64| u64::from(byte) % limit.max(1);
        let start = step(bytes[2], self.limits.steps);
        let length = 1 + step(bytes[3], self.limits.steps.div_ceil(2));
        let stretches = if self.features.gaps { [1, 2, 1, 3][usize::from(bytes[4] % 4)] } else { 1 };
        let gap = 1 + step(bytes[5], self.limits.steps.div_ceil(3));
        (0..stretches)
            .map(|stretch| {
                let start = start + stretch * (length + gap);
                // One value of three gives a window. The number of the stretch is added, so that only some stretches
                // of a life have one.
                let window = if self.features.windows { bytes[6].wrapping_add(stretch as u8) % 3 } else { 0 };
                match window {
                    1 => {
                        let low = scaled(bytes[7], size);
                        let high = low + 1 + scaled(bytes[8], size - low);
                        Interval::with_window(start, start + length, low, high.min(size))
                    }
                    _ => Interval::new(start, start + length),
                }
            })
            .collect()
    }

    /// The spaces in which a buffer may live: one, or two if the byte says so and there are several.
    fn candidate_spaces(&self, byte: u8) -> SmallVec<[SpaceId; 2]> {
        // The remainder by the number of spaces (at most 3) chooses the first one; the rest of the
        // byte decides about a second one.
        let count = self.space_count();
        let first = u64::from(byte) % count;
        let second = (first + 1) % count;
        let both = self.features.candidate_spaces && byte / 3 % 2 == 1 && second != first;
        let chosen = if both { vec![first, second] } else { vec![first] };
        chosen.into_iter().map(|index| SpaceId::from_index(index as usize)).collect()
    }

    /// Ties a buffer to a group or gives it a fixed offset, if its bytes of the recipe say so. Each fixed buffer starts
    /// above all those fixed before it, so that they never contradict each other.
    fn add_ties_and_positions(&self, builder: &mut ProblemBuilder, index: usize) {
        let bytes = &self.buffers[index];
        let id = BufferId::from_index(index);
        if self.features.ties && bytes[14] % 3 == 1 {
            let group = GroupId::from_index(usize::from(bytes[14] / 3 % GROUPS));
            change(builder, |builder| tie(builder, id, group, u64::from(bytes[15] % 4)));
        }
        if self.features.fixed_offsets && bytes[16] % 5 == 1 {
            // Where the highest of the buffers fixed so far ends; `None` if this is the first.
            let above =
                builder.buffers_mut().iter().filter_map(|buffer| Some(buffer.fixed()?.0 + size_of(buffer))).max();
            // The first one starts at 0 to 3 times its alignment.
            let alignment = common_alignment(builder, id);
            let offset = above.unwrap_or(u64::from(bytes[16] / 64) * alignment).next_multiple_of(alignment);
            change(builder, |builder| builder.buffers_mut()[id].set_fixed(Some(Bytes(offset))));
        }
    }

    /// Adds one relation between two buffers, unless the problem would become invalid by it.
    fn add_relation(&self, builder: &mut ProblemBuilder, &[kind, one, other]: &[u8; 3]) {
        let count = self.buffers.len();
        let (one, other) = (usize::from(one) % count, usize::from(other) % count);
        let (one, other) = (BufferId::from_index(one), BufferId::from_index(other));
        let features = &self.features;
        match kind % 4 {
            0 if features.must_not_share => change(builder, |builder| builder.must_not_share(one, other)),
            1 if features.must_share => change(builder, |builder| {
                // Buffers that must share have the same candidate spaces and the same number of slots.
                let model = builder.buffers_mut()[one].clone();
                let follower = &mut builder.buffers_mut()[other];
                (follower.spaces, follower.slots) = (model.spaces, model.slots);
                builder.must_share(one, other);
            }),
            2 | 3 if features.overlays => {
                let buffers = builder.buffers_mut();
                // A newcomer starts after its victim; only then can a plan use the overlay. Now and then (16 of 256)
                // the order is left to chance, because planners have to cope with useless overlays, too.
                let in_order = buffers[other].lifetime.start() < buffers[one].lifetime.start() || kind >= 240;
                let (buffer, over) = if in_order { (one, other) } else { (other, one) };
                let kind = if kind % 8 < 4 { OverlayKind::SameBase } else { OverlayKind::AnyOffset };
                change(builder, |builder| builder.overlay(Overlay { buffer, over, kind }));
            }
            // The problems may not have this feature.
            _ => {}
        }
    }

    /// Adds dependencies. The buffer with number n is computed at step n, from none, one or two buffers with smaller
    /// numbers. It lives from its own step to the step of its last reader, or at its own step only if nobody reads it.
    /// These lifetimes replace those that the buffers had; gaps and windows are gone then.
    fn add_dependencies(&self, builder: &mut ProblemBuilder) {
        let count = self.buffers.len();
        let mut children = IndexVec::<BufferId, Vec<BufferId>>::filled(Vec::new(), count);
        for (index, bytes) in self.buffers.iter().enumerate().skip(1) {
            // Two earlier buffers are drawn, of which none, one or both stay.
            let mut parents = vec![usize::from(bytes[2]) % index, usize::from(bytes[3]) % index];
            parents.dedup();
            parents.truncate(usize::from(bytes[4] % 3));
            for parent in parents {
                children[BufferId::from_index(parent)].push(BufferId::from_index(index));
            }
        }
        // About one buffer of eight is also read by an output of the graph (`read_by_outputs`). Its lifetime does not
        // show that: lifetimes only follow one order of execution, and the problem says that the order is not fixed.
        let outputs = self.buffers.iter().enumerate().filter(|(_, bytes)| bytes[5] % 8 == 1);
        let read_by_outputs = outputs.map(|(index, _)| BufferId::from_index(index)).collect();
        for (id, readers) in children.iter_enumerated() {
            let last = readers.iter().copied().max().unwrap_or(id);
            builder.buffers_mut()[id].lifetime = Lifetime::new(id.index() as u64, last.index() as u64 + 1);
        }
        builder.dependencies(Dependencies { children, read_by_outputs });
    }

    /// Gives some spaces a capacity, between exactly the peak of the buffers that can only live there and far above it.
    fn limit_capacities(&self, builder: &mut ProblemBuilder) {
        // Only valid parts have been added, so this builds.
        let Ok(problem) = builder.clone().build() else { return };
        for (index, id) in problem.spaces().ids().enumerate() {
            let only_here = |buffer: BufferId| problem.buffers()[buffer].spaces.as_slice() == [id];
            let peak = bound::peak_live(&problem, only_here).bytes.0;
            // How many bytes more than the peak there are; 0 gives a space without capacity.
            let slack = match self.general[1 + index] % 5 {
                0 => continue,
                1 => 0,
                2 => peak / 4,
                3 => peak,
                _ => 3 * peak + 64,
            };
            builder.spaces_mut()[id].capacity = Some(Bytes(peak + slack));
        }
    }
}

/// A number below `limit`, in proportion to the byte.
fn scaled(byte: u8, limit: u64) -> u64 {
    u64::from(byte) * limit / 256
}

/// Bytes of one slot; 0 if they are not known.
fn size_of(buffer: &Buffer) -> u64 {
    buffer.bytes().unwrap_or_default().0
}

/// Makes a change unless it would make the problem invalid. It is made on a copy, and the copy is
/// kept if a problem can be built of it.
fn change(builder: &mut ProblemBuilder, how: impl FnOnce(&mut ProblemBuilder)) {
    let mut changed = builder.clone();
    how(&mut changed);
    if changed.clone().build().is_ok() {
        *builder = changed;
    }
}

/// Puts a buffer into a group, at a multiple of its alignment. The buffer takes over what all members of a group must
/// have in common: candidate spaces and number of slots.
fn tie(builder: &mut ProblemBuilder, id: BufferId, group: GroupId, multiple: u64) {
    let at = Bytes(multiple * common_alignment(builder, id));
    // Any member of the group will do, because all of them agree.
    let in_group = |buffer: &&Buffer| buffer.tie().is_some_and(|tie| tie.group == group);
    let mate = builder.buffers_mut().iter().find(in_group).cloned();
    let buffer = &mut builder.buffers_mut()[id];
    buffer.set_tie(Some(Tie { group, at }));
    if let Some(mate) = mate {
        (buffer.spaces, buffer.slots) = (mate.spaces, mate.slots);
    }
}

/// The least common multiple of the buffer's alignment and those of all spaces. An offset that is a
/// multiple of it suits the buffer in any space.
fn common_alignment(builder: &mut ProblemBuilder, id: BufferId) -> u64 {
    let space_alignments: Vec<u64> = builder.spaces_mut().iter().map(|space| space.alignment.0).collect();
    let all = space_alignments.into_iter().chain([builder.buffers_mut()[id].alignment.0]);
    all.fold(1, |common, alignment| if common % alignment == 0 { common } else { lcm(common, alignment) })
}

/// The least common multiple, by Euclid's algorithm for the greatest common divisor.
fn lcm(one: u64, other: u64) -> u64 {
    let (mut a, mut b) = (one, other);
    while b != 0 {
        (a, b) = (b, a % b);
    }
    one / a * other
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::strategy::ValueTree;
    use proptest::test_runner::TestRunner;

    /// Counts how many of some generated problems have a property.
    fn how_many(features: Features, has: impl Fn(&Problem) -> bool) -> usize {
        let mut runner = TestRunner::deterministic();
        let strategy = problems(features, Limits::SMALL);
        (0..200).filter(|_| has(&strategy.new_tree(&mut runner).unwrap().current())).count()
    }

    #[test]
    fn every_feature_occurs_often() {
        let any = |of: fn(&Buffer) -> bool| move |problem: &Problem| problem.buffers().iter().any(of);
        let all = Features::ALL;
        for (name, count) in [
            ("alignment", how_many(all, any(|buffer| buffer.alignment.0 > 1))),
            ("gaps", how_many(all, any(|buffer| buffer.lifetime.intervals().len() > 1))),
            ("windows", how_many(all, any(|b| b.lifetime.intervals().any(|i| i.window.is_some())))),
            ("fixed", how_many(all, any(|buffer| buffer.fixed().is_some()))),
            ("exclusive", how_many(all, any(|buffer| buffer.exclusive))),
            ("slots", how_many(all, any(|buffer| buffer.slots > 1))),
            ("ties", how_many(all, any(|buffer| buffer.tie().is_some()))),
            ("choice", how_many(all, any(|buffer| buffer.spaces.len() > 1))),
            ("empty", how_many(all, any(|buffer| buffer.bytes() == Some(Bytes::ZERO)))),
            ("never alive", how_many(all, any(|buffer| buffer.lifetime.is_empty()))),
            ("shapes", how_many(all, any(|buffer| matches!(buffer.size, Size::Shape(_))))),
            ("symbols", how_many(all, any(|buffer| matches!(buffer.size, Size::Symbolic { .. })))),
            ("blocks", how_many(all, |problem| !problem.blocks().blocks().is_empty())),
            ("overlays", how_many(all, |problem| !problem.overlays().is_empty())),
            ("must share", how_many(all, |problem| !problem.must_share().is_empty())),
            ("must not share", how_many(all, |problem| !problem.must_not_share().is_empty())),
            ("dependencies", how_many(all, |problem| problem.dependencies().is_some())),
            ("spaces", how_many(all, |problem| problem.spaces().len() > 1)),
            ("capacity", how_many(all, |problem| problem.spaces().iter().any(|space| space.capacity.is_some()))),
            ("base", how_many(all, |problem| problem.spaces().iter().any(|space| space.base.0 > 0))),
        ] {
            assert!(count >= 20, "{name}: only {count} of 200 problems have it");
        }
    }

    #[test]
    fn features_that_are_off_do_not_occur() {
        let plain = |problem: &Problem| {
            let plain = |buffer: &Buffer| buffer.lifetime.is_simple() && buffer.alignment.0 == 1 && buffer.slots == 1;
            problem.buffers().iter().all(plain) && problem.overlays().is_empty() && problem.spaces().len() == 1
        };
        assert_eq!(how_many(Features::NONE, plain), 200);
    }
}
