//! Sharing when the order of execution is not fixed.
//!
//! With dependencies, steps describe just one of the possible orders. Then y
//! may take bytes of x only if in *every* order all readers of x are done when
//! y is written. The readers of x that the graph knows compute the children of
//! x; each of them has certainly run if that child is a strict ancestor of y:
//!
//! ```text
//!     x ---> c ---> d ---> y        y may take the bytes of x
//!      \            ^
//!       +---> e ----+               (d waits for both readers, c and e)
//! ```
//!
//! A *child* of x is a buffer that is computed from x. An *ancestor* of y is a buffer from which y can be reached by
//! going from parent to child; a strict one is not y itself.
//!
//! x *precedes* y if x has a child, every child is a strict ancestor of y, and
//! no output reads x. A reader that only feeds an output is in no one's past, so
//! nothing is ever ordered after it. Where y uses an overlay over x, y itself
//! may be one of the children: it is the reader that works in place.
//!
//! Precedence is transitive, so the buffers that share a byte are fine if they
//! form a chain. They are kept in topological order while a line sweeps over
//! the addresses; a newcomer is compared with its neighbours on both sides,
//! and what lies beyond them follows. (A *company* is a set of buffers that ties and must-share pairs hold together.
//! Buffers of one company may overlap and are not compared with each other. So it does not follow from a comparison
//! with one member of a company that the other members are ordered, too, and the walk goes on until a buffer that is
//! alone, or two different companies, have been met.)
//!
//! A *slot* here is the bytes of one slot of a buffer in its *area*, which is a space or a shared object.
//!
//! What is left are questions "does x precede y". They are answered in batches
//! of 64 targets y: one walk down the topological order, over the stretch that
//! matters for the batch, with a bit for each target.
//!
//! Words from other files: [`Dependencies`] have the children of each buffer, and the buffers that outputs read;
//! [`Companies`] and [`Overlays`] say which buffers belong together and which overlays the plan uses; a [`Listing`]
//! takes violations up to a limit and counts the rest.

use std::collections::{BTreeSet, HashSet};

use memplan_core::{BufferId, Dependencies, Id, Problem};

use super::layout::{Layout, Slot};
use super::listing::Listing;
use super::overlay::Overlays;
use super::together::Companies;
use super::violation::{Kind, Violation, Who};

/// Lists pairs that share bytes although nothing orders them.
pub(super) fn check(
    problem: &Problem,
    layout: &Layout,
    companies: &Companies,
    overlays: &Overlays,
    out: &mut Vec<Violation>,
) {
    let Some(dependencies) = problem.dependencies() else { return };
    let order = Order::new(dependencies);
    let questions = questions(layout, companies, &order);
    let mut listing = Listing::new(Kind::Unordered, out);
    // Two buffers that share bytes and whose order is not proved.
    for question in order.unanswerable(dependencies, overlays, questions) {
        let Question { before, after } = question;
        listing.meet(after.buffer, before.buffer, |_, _| {
            let (low, high) = before.common(&after).unwrap_or_default();
            let place = layout.place(problem, before.area, low, high);
            let (buffer, other) = (Who::new(problem, before.buffer), Who::new(problem, after.buffer));
            Violation::Unordered { buffer, other, place }
        });
    }
    listing.finish();
}

/// Does the buffer of the slot `before` precede that of the slot `after`? The slots have bytes in common.
#[derive(Clone, Copy)]
struct Question {
    before: Slot,
    after: Slot,
}

/// The comparisons that decide whether the buffers on every byte form a chain.
fn questions(layout: &Layout, companies: &Companies, order: &Order) -> Vec<Question> {
    let slots: Vec<Slot> = layout.slots().iter().copied().filter(|slot| !slot.is_empty()).collect();
    let mut questions = Questions::default();
    let mut present: BTreeSet<(u32, usize)> = BTreeSet::new();
    let mut ending = sorted_by(&slots, |slot| slot.high).into_iter().peekable();
    // Sweep over the addresses. `present` holds the slots that cover the current address, sorted by their
    // position in one possible order of execution.
    for index in sorted_by(&slots, |slot| slot.low) {
        let slot = slots[index];
        // Slots that end at or before this one's first byte, or lie in an earlier area, are over.
        while let Some(over) = ending.next_if(|&other| (slots[other].area, slots[other].high) <= (slot.area, slot.low))
        {
            present.remove(&(order.position[slots[over].buffer.index()], over));
        }
        let key = (order.position[slot.buffer.index()], index);
        // If the buffers on a byte form a chain, each one precedes its neighbour in that order. So only neighbours
        // have to be compared: what holds for them carries over to all others.
        let earlier = present.range(..key).rev().map(|&(_, other)| slots[other]);
        neighbours(companies, &slot, earlier, |other| questions.ask(other, slot));
        let later = present.range(key..).map(|&(_, other)| slots[other]);
        neighbours(companies, &slot, later, |other| questions.ask(slot, other));
        present.insert(key);
    }
    questions.all
}

/// The indices of slots by their area and a key.
fn sorted_by(slots: &[Slot], key: fn(&Slot) -> u64) -> Vec<usize> {
    let mut indices: Vec<usize> = (0..slots.len()).collect();
    indices.sort_unstable_by_key(|&index| (slots[index].area, key(&slots[index]), index));
    indices
}

/// Questions, each asked once: a pair of buffers may meet on many bytes and in several slots.
#[derive(Default)]
struct Questions {
    all: Vec<Question>,
    asked: HashSet<(BufferId, BufferId)>,
}

impl Questions {
    /// Asks whether one buffer precedes another, unless that has been asked.
    fn ask(&mut self, before: Slot, after: Slot) {
        if self.asked.insert((before.buffer, after.buffer)) {
            self.all.push(Question { before, after });
        }
    }
}

/// Visits the slots of other companies on one side of a slot, the nearest first, as far as they have to be compared
/// with it: up to the first buffer that is alone, or until two different companies have been met (see the module
/// documentation).
fn neighbours(companies: &Companies, slot: &Slot, others: impl Iterator<Item = Slot>, mut visit: impl FnMut(Slot)) {
    // The company of the neighbour met before, which was not alone.
    let mut met = None;
    for other in others {
        // Slots of the same buffer or party may overlap.
        if other.buffer == slot.buffer || companies.party(&other) == companies.party(slot) {
            continue;
        }
        visit(other);
        let company = companies.company(other.buffer);
        if companies.is_alone(other.buffer) || met.is_some_and(|first| first != company) {
            return;
        }
        met = Some(company);
    }
}

/// A topological order of the buffers.
struct Order {
    /// The buffers, everyone after those it is computed from.
    buffers: Vec<BufferId>,
    /// Where each buffer stands in it.
    position: Vec<u32>,
}

impl Order {
    /// Problems have no cycles, so every buffer gets a position.
    fn new(dependencies: &Dependencies) -> Order {
        let children = &dependencies.children;
        let mut open_parents = vec![0u32; children.len()];
        for child in children.iter().flatten() {
            open_parents[child.index()] += 1;
        }
        // A buffer is listed when all buffers it is computed from are. `buffers` is both the list and the queue:
        // those from `next` on are listed and have not told their children yet.
        let mut buffers: Vec<BufferId> = children.ids().filter(|buffer| open_parents[buffer.index()] == 0).collect();
        let mut position = vec![0; children.len()];
        let mut next = 0;
        while let Some(&buffer) = buffers.get(next) {
            position[buffer.index()] = next as u32;
            next += 1;
            for &child in &children[buffer] {
                open_parents[child.index()] -= 1;
                if open_parents[child.index()] == 0 {
                    buffers.push(child);
                }
            }
        }
        Order { buffers, position }
    }

    /// Where a buffer stands in the order.
    fn of(&self, buffer: BufferId) -> usize {
        self.position[buffer.index()] as usize
    }

    /// The questions to which the answer is not yes, in the order they were asked: each is a violation.
    fn unanswerable(
        &self,
        dependencies: &Dependencies,
        overlays: &Overlays,
        questions: Vec<Question>,
    ) -> Vec<Question> {
        // Questions are sorted by target, so that the ancestors of many targets are found in one walk over the graph
        // (one bit for each target) and not by one walk for each question.
        let mut by_target: Vec<usize> = (0..questions.len()).collect();
        by_target.sort_by_key(|&index| self.of(questions[index].after.buffer));
        let read_by_outputs: HashSet<BufferId> = dependencies.read_by_outputs.iter().copied().collect();
        let count = self.buffers.len();
        let mut ancestors =
            Ancestors { order: self, dependencies, bits: vec![0; count], own_bit: vec![0; count], end: 0 };
        let mut is_yes = vec![false; questions.len()];
        for same_batch in batches(&by_target, |index| questions[index].after.buffer) {
            let targets = ancestors.find(same_batch.iter().map(|&index| questions[index]));
            for &index in same_batch {
                let (x, y) = (questions[index].before.buffer, questions[index].after.buffer);
                // `targets` has the targets of all questions of the batch, so `y` is found. If it were not, `is_yes`
                // would stay false, and a missing proof counts as a violation.
                let Ok(target) = targets.binary_search_by_key(&self.of(y), |&target| self.of(target)) else { continue };
                let children = &dependencies.children[x];
                // The child y itself may be the last reader of x, if the problem permits y to lie over x and the plan
                // says that it does.
                let are_done = children
                    .iter()
                    .all(|&child| ancestors.is_ancestor(child, target) || (child == y && overlays.uses(y, x)));
                // A buffer without readers, or one that is read after everything has run, is never known to be dead.
                is_yes[index] = !children.is_empty() && !read_by_outputs.contains(&x) && are_done;
            }
        }
        questions.into_iter().zip(is_yes).filter(|&(_, yes)| !yes).map(|(question, _)| question).collect()
    }
}

/// Cuts a list that is sorted by target into pieces with at most 64 different targets each, so that each target of a
/// piece has a bit of a `u64`. `distinct` counts the targets of the piece that starts at `begin`.
fn batches(by_target: &[usize], target: impl Fn(usize) -> BufferId) -> Vec<&[usize]> {
    let mut batches = Vec::new();
    let (mut begin, mut distinct) = (0, 0);
    for at in 0..by_target.len() {
        if at == begin || target(by_target[at]) != target(by_target[at - 1]) {
            if distinct == 64 {
                batches.push(&by_target[begin..at]);
                (begin, distinct) = (at, 0);
            }
            distinct += 1;
        }
    }
    batches.push(&by_target[begin..]);
    batches
}

/// For up to 64 targets at a time: which buffers are strict ancestors of which of them.
struct Ancestors<'a> {
    order: &'a Order,
    dependencies: &'a Dependencies,
    /// By position in the order: a bit for each target that it is an ancestor of.
    bits: Vec<u64>,
    /// By position in the order: the bit of the target that stands there. All 0 between two batches.
    own_bit: Vec<u64>,
    /// The position of the last target. A buffer at this or a later position is a strict ancestor of no target. `bits`
    /// there are left from earlier batches and must not be read.
    end: usize,
}

impl Ancestors<'_> {
    /// Finds the ancestors of the questions' targets, as far back as the
    /// questions reach. Returns the targets in topological order.
    fn find(&mut self, questions: impl Iterator<Item = Question>) -> Vec<BufferId> {
        let mut targets: Vec<BufferId> = Vec::new();
        let mut begin = usize::MAX;
        // Questions of a batch are sorted by target, so equal targets are next to each other.
        for question in questions {
            if targets.last() != Some(&question.after.buffer) {
                targets.push(question.after.buffer);
            }
            begin = begin.min(self.order.of(question.before.buffer));
        }
        self.end = targets.last().map_or(0, |&last| self.order.of(last));
        for (number, &target) in targets.iter().enumerate() {
            self.own_bit[self.order.of(target)] = 1 << number;
        }
        // From the last target backwards: a buffer is an ancestor of the targets among its children and of all
        // targets that its children are ancestors of. Nobody before `begin` is asked about.
        for at in (begin..self.end).rev() {
            let children = self.dependencies.children[self.order.buffers[at]].iter();
            let positions = children.map(|&child| self.order.of(child));
            self.bits[at] = positions.fold(0, |bits, child| bits | self.bits_at(child) | self.own_bit[child]);
        }
        // `own_bit` is all 0 again for the next batch.
        for &target in &targets {
            self.own_bit[self.order.of(target)] = 0;
        }
        targets
    }

    /// The targets that the buffer at a position is an ancestor of, as bits.
    fn bits_at(&self, position: usize) -> u64 {
        if position < self.end { self.bits[position] } else { 0 }
    }

    /// Whether a buffer is a strict ancestor of the target with this number in the batch.
    fn is_ancestor(&self, buffer: BufferId, target: usize) -> bool {
        self.bits_at(self.order.of(buffer)) >> target & 1 == 1
    }
}
