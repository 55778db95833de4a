//! The plan that today's compilers of these chips would make, as one of the candidates.
//!
//! A concat that is *merged* copies nothing: its operands are computed directly into their
//! places in the result. Today's compilers describe a merged concat by records. The first
//! operand's record has the size of the result, the records of the other operands have no
//! bytes, and all of them live as long as any operand or the result does. They pack these
//! records twice, with the strategies `stretch-largest` and `size-order`, and keep the better
//! plan.
//!
//! We tie the operands to their places in the result instead, which frees the place of an
//! operand until the operand is written. Every plan for their records is also a plan of our problem. The
//! plan that they would make is one of our candidates, so we never reserve more than they do.
//!
//! ```text
//!   r = concat(a, b): a has 6 bytes, b has 4, r has 10; steps go to the right
//!
//!   a's place  |aaaarrrr                  a's place  |aaaarrrr
//!   b's place  |....rrrr                  b's place  |  bbrrrr
//!   theirs: one record of 10 bytes,       ours: b's place is free
//!   b's place is taken from the start     until b is written
//! ```
//!
//! Words from other files: `network.root(tensor)` gives the tensor in whose memory a tensor lies (itself, if it is no
//! view) and the byte at which it begins there. A [`Life`] is the steps `[start, end)`. An *area* is memory for inputs
//! and outputs beside the activations. Which tensors get a prescribed place in one, their *home* (not the home of the
//! glossary), depends on the *address mode* that the user asks for.

use memplan_core::{
    Buffer, BufferId, Bytes, IndexVec, Lifetime, Outcome, Placement, Plan, ProblemBuilder, Size, Space,
};
use memplan_planner::{Request, find, plan};

use super::lifecycle::Life;
use super::merge::Merges;
use super::network::TensorId;
use super::problem::{Setting, TensorProblem, neuron};

/// The strategies of today's compilers. If both plans are equally large, the first one's is kept.
const STRATEGIES: [&str; 2] = ["stretch-largest", "size-order"];

/// The better of the two plans that today's compilers would make, as a plan for `ours`: our problem with the merges
/// that they make. `None` if they make none, or one that is no plan of `ours`.
pub(super) fn best_plan(setting: &Setting, merges: &Merges, ours: &TensorProblem, request: &Request) -> Option<Plan> {
    let records = Records::new(setting, merges)?;
    let problem = records.builder.build().ok()?;
    let mut best: Option<Plan> = None;
    for name in STRATEGIES {
        // If one of the strategies finds nothing, the plan of the other one counts.
        let outcome = find(name).and_then(|strategy| plan(strategy, &problem, request).ok());
        let theirs = outcome.as_ref().and_then(Outcome::plan);
        let translated = theirs.and_then(|theirs| translate(setting, merges, &records.tensors, theirs, ours));
        let Some(translated) = translated else { continue };
        if best.as_ref().is_none_or(|best| translated.extent() < best.extent()) {
            best = Some(translated);
        }
    }
    best
}

/// The records of today's compilers: a problem with one space and a buffer for each record.
struct Records {
    builder: ProblemBuilder,
    /// The tensor behind each buffer.
    tensors: IndexVec<BufferId, TensorId>,
}

impl Records {
    /// The records for a network with these merges. `None` if a size passes 2^63 bytes, or if the result of a merged
    /// concat lies in that of another. Its bytes would then be in two records, and there would be no offset that both
    /// agree on. [`Mergeable::as_today`] does not make a concat's result an operand of a merged concat, but it may do
    /// so with a reshape of that result, which is the same memory.
    ///
    /// [`Mergeable::as_today`]: super::merge::Mergeable::as_today
    fn new(setting: &Setting, merges: &Merges) -> Option<Records> {
        let network = setting.network;
        let mut lives: IndexVec<TensorId, Life> = setting.lives.clone();
        // The bytes of each record; `None` for a tensor that has no record.
        let mut sizes: IndexVec<TensorId, Option<u64>> = network.tensors.iter().map(|t| Some(t.bytes)).collect();
        let chosen = network.concats.iter().zip(&merges.merged).filter(|(_, merged)| **merged);
        for (concat, _) in chosen {
            // An operand of a merged concat is a whole tensor, so it begins at byte 0 of its root.
            let roots: Vec<TensorId> = concat.operands.iter().map(|&(operand, _)| network.root(operand).0).collect();
            // Concats are in program order. If an operand is the result of another merged concat, that one has been
            // visited, and its result has lost its record.
            if roots.iter().any(|&root| sizes[root].is_none()) {
                return None;
            }
            // The record of the first operand stands for the whole concat, from the earliest start of an operand to
            // the last use of an operand or of the result. The records of the other operands get no bytes, and the
            // result has no record.
            let together = roots.iter().fold(lives[concat.result], |life, &root| life.with(lives[root]));
            for (position, &root) in roots.iter().enumerate() {
                lives[root] = together;
                sizes[root] = Some(if position == 0 { network.tensors[concat.result].bytes } else { 0 });
            }
            sizes[concat.result] = None;
        }
        let mut builder = ProblemBuilder::new();
        builder.space(Space { alignment: Bytes(setting.chip.align), ..Space::new("neuron") });
        let mut tensors = IndexVec::default();
        for id in network.roots_of_memory() {
            // A tensor with a home takes no room among the activations, except in the address mode whose rules count
            // such tensors into the size of the activations' memory all the same.
            if setting.areas.homes.contains_key(&id) && !setting.areas.counts_homes {
                continue;
            }
            let Some(bytes) = sizes[id] else { continue };
            let life = Lifetime::new(lives[id].start as u64, lives[id].end as u64);
            // `align_up` gives no size of 2^63 bytes or more.
            let size = Size::Fixed(Bytes(bytes).align_up(Bytes(setting.chip.align))?);
            builder.buffer(Buffer { size, ..Buffer::new(network.name(id), 0, life) });
            tensors.push(id);
        }
        Some(Records { builder, tensors })
    }
}

/// Turns a plan for the records of today's compilers (`theirs`) into a plan for our problem (`ours`). In their plan
/// only the first operand of a merged concat has a meaningful offset; here the result and each operand get one.
/// `None` if a tensor of our problem has no offset in theirs.
fn translate(
    setting: &Setting,
    merges: &Merges,
    tensors: &IndexVec<BufferId, TensorId>,
    theirs: &Plan,
    ours: &TensorProblem,
) -> Option<Plan> {
    let network = setting.network;
    let mut offsets: IndexVec<TensorId, Option<Bytes>> = IndexVec::filled(None, network.tensors.len());
    for (buffer, &tensor) in tensors.iter_enumerated() {
        offsets[tensor] = theirs.offset(buffer);
    }
    // The result begins where the first operand begins, and the operands lie at their places in it. Each of these
    // offsets is set once: `Mergeable` merges no tensor into two results or twice into one, and `Records::new` refuses
    // a result that is an operand of another merged concat.
    for (concat, _) in network.concats.iter().zip(&merges.merged).filter(|(_, merged)| **merged) {
        let (first, _) = network.root(concat.operands.first()?.0);
        let base = offsets[first]?;
        offsets[concat.result] = Some(base);
        for &(operand, at) in &concat.operands {
            offsets[network.root(operand).0] = Some(base.checked_add(Bytes(at))?);
        }
    }
    let mut plan = Plan::empty(&ours.problem);
    for (buffer, &tensor) in ours.tensors.iter_enumerated() {
        let known = &ours.problem.buffers()[buffer];
        // A fixed tensor stays where it is fixed, whatever their plan says.
        let (space, offset) = match (known.fixed(), offsets[tensor]) {
            (Some(fixed), _) => (*known.spaces.first()?, fixed),
            (None, Some(offset)) => (neuron(), offset),
            (None, None) => return None,
        };
        plan.placements[buffer] = Some(Placement::at(space, offset));
    }
    plan.fit_extents(&ours.problem);
    Some(plan)
}
