//! Packing: the buffers of a scope, and of each iteration of a loop they were hoisted out of.
//!
//! A *scope* is the op in whose block a merged allocation is made. A buffer may be allocated
//! inside of parallel loops within its scope. It *crosses* these loops: it needs a copy for each
//! of their iterations, since these run at the same time.
//!
//! A *frame* is what is placed together: the buffers of one scope in one memory
//! space, or those of one iteration of a crossed loop. The frames of all iterations of
//! a loop lie side by side. Together they are one buffer of the frame around, alive during
//! the whole loop:
//!
//! ```text
//!   forall 16 {                          scope   ┌─────────────── 16 × 256 ─────────────┐
//!     forall 4 { %a 16 bytes, … }        loop 16 │ iteration 0: 256 │ iteration 1 │ …   │
//!     forall 8 { %b 32 bytes, … }                │ 4 × 16 or 8 × 32 │
//!   }                                            └ the two inner loops follow each other
//! ```
//!
//! So a buffer's address is a constant plus, for each loop crossed, the
//! iteration's number times that loop's stride, and iterations that run at the
//! same time have no byte in common.

use std::collections::BTreeMap;

use memplan_core::{
    Buffer, BufferId, Bytes, Id, IndexVec, Lifetime, Outcome, Plan, Problem, ProblemBuilder, Space, bound, patience,
};
use memplan_planner::{Assign, Request, Strategy};
use memplan_program::SiteId;

// A `Candidate` is an allocation that is merged, with its size, alignment and life. Its `Home` is the scope that it
// goes to and the loops that it crosses. `copies` is the number of iterations of a crossed loop.
use super::branches;
use super::candidates::Candidate;
use super::emit::push_number;
use super::home::{Homes, copies};
use super::{BufferizedView, Planner};
use crate::OpId;
use crate::hash::{HashMap, HashSet};
use crate::pass::PassError;

/// Names a frame: the op, whether the frame is that of an iteration of the op as a crossed loop (`true`) or that of
/// the op as a scope (a loop can be both, for different buffers), and the memory space. Ops are numbered in the order
/// of the text, so in sorted order inner loops come after outer ones.
type Key = (OpId, bool, Option<Box<str>>);

/// A frame after planning.
#[derive(Debug)]
pub(super) struct Frame {
    /// The scope or crossed loop.
    pub(super) op: OpId,
    /// The memory space as written; `None` for the default one.
    pub(super) space: Option<Box<str>>,
    /// Whether it belongs to an iteration of a crossed loop, so that it is one of many.
    pub(super) is_crossed: bool,
    /// What lies in it. Member n is buffer n of the frame's packing problem.
    members: Vec<Member>,
    /// Bytes of one frame.
    pub(super) extent: u64,
    /// Bytes from the start of one iteration's frame to the start of the next: the extent, aligned.
    pub(super) stride: u64,
    /// The largest alignment inside.
    alignment: u64,
    /// No plan of the frame has a smaller extent.
    pub(super) lower_bound: u64,
    /// Size of the member that comes first in time.
    pub(super) first_size: u64,
    /// The loops that are among the members, for lookups.
    loops: HashSet<OpId>,
}

/// Something that lies in a frame.
#[derive(Clone, Copy, Debug)]
enum Member {
    /// A buffer.
    Site(SiteId),
    /// The frames of all iterations of a crossed loop.
    Loop(OpId),
}

/// Where a buffer lies.
#[derive(Clone, Debug, Default)]
pub(super) struct Address {
    /// The offset of the copy of the first iterations: the sum of the offsets in all frames around.
    pub(super) offset: u64,
    /// For each crossed loop, innermost first, the bytes from one iteration's frame to the next.
    pub(super) strides: Box<[u64]>,
}

/// The candidate of each site that has one.
type BySite<'a> = IndexVec<SiteId, Option<&'a Candidate>>;

/// All frames, and the address of every buffer.
pub(super) struct Frames {
    /// The frames of scopes, in the order of their ops.
    pub(super) scopes: Vec<Frame>,
    pub(super) addresses: IndexVec<SiteId, Option<Address>>,
}

/// Plans the frames. Two buffers that are made in different branches of one op and used after the branches are *twins*
/// ([`branches`]): they are planned as one buffer, the *leader*, and the other one, the *follower*, gets the address of
/// its leader.
pub(super) fn plan(
    view: &BufferizedView,
    candidates: &[Candidate],
    twins: &[(SiteId, SiteId)],
    homes: &Homes,
    strategy: Option<&dyn Strategy>,
    request: &Request,
) -> Result<Frames, PassError> {
    let mut frames = plan_list(view, &branches::join(candidates, twins), homes, strategy, request)?;
    for &(leader, follower) in twins {
        frames.addresses[follower] = frames.addresses[leader].clone();
    }
    Ok(frames)
}

/// Plans every frame, inner ones first, and adds up the addresses: the offset in the frame, plus the offsets of the
/// frames of all crossed loops in the frames around them.
fn plan_list(
    view: &BufferizedView,
    candidates: &[Candidate],
    homes: &Homes,
    strategy: Option<&dyn Strategy>,
    request: &Request,
) -> Result<Frames, PassError> {
    let mut frames = collect(candidates, homes);
    let sites = view.lowered.program.sites().len();
    let mut by_site: BySite = IndexVec::filled(None, sites);
    candidates.iter().for_each(|candidate| by_site[candidate.site] = Some(candidate));
    // The offset of each crossed loop, and of each buffer, in the frame around it.
    let mut placed: HashMap<Key, u64> = HashMap::default();
    let mut in_frame: IndexVec<SiteId, u64> = IndexVec::filled(0, sites);
    let keys: Vec<Key> = frames.keys().cloned().collect();
    // Inner loops first: their size is needed outside.
    for key in keys.iter().rev() {
        if patience::is_over() {
            return Err(PassError::Stopped);
        }
        let problem = problem_of(view, key, &frames, &by_site)?;
        let (plan, lower_bound) = best_plan(view, &problem, strategy, request)?;
        let Some(frame) = frames.get_mut(key) else { continue };
        for (index, member) in frame.members.iter().enumerate() {
            let offset = plan.offset(BufferId::from_index(index)).unwrap_or_default().0;
            match *member {
                Member::Site(site) => in_frame[site] = offset,
                Member::Loop(op) => _ = placed.insert((op, true, key.2.clone()), offset),
            }
        }
        frame.extent = plan.extent().0;
        frame.stride = frame.extent.next_multiple_of(frame.alignment);
        frame.lower_bound = lower_bound.0;
        let first = problem.buffers().iter().min_by_key(|buffer| buffer.lifetime.start());
        frame.first_size = first.and_then(Buffer::bytes).unwrap_or_default().0;
    }
    let mut addresses = IndexVec::filled(None, sites);
    for candidate in candidates {
        let Some(home) = &homes[candidate.site] else { continue };
        let mut offset = in_frame[candidate.site];
        let stride_of = |&op: &OpId| {
            let key = (op, true, candidate.space.clone());
            // Where the frames of this loop lie in the frame around it.
            offset += placed[&key];
            frames[&key].stride
        };
        let strides = home.crossed.iter().map(stride_of).collect();
        addresses[candidate.site] = Some(Address { offset, strides });
    }
    let scopes = frames.into_values().filter(|frame| !frame.is_crossed).collect();
    Ok(Frames { scopes, addresses })
}

/// Sorts the buffers into frames. Each buffer is a member of the frame of the innermost loop that it crosses, that
/// loop is a member of the frame of the next one, and so on to the frame of its scope.
fn collect(candidates: &[Candidate], homes: &Homes) -> BTreeMap<Key, Frame> {
    let mut frames = BTreeMap::<Key, Frame>::new();
    for candidate in candidates {
        let Some(home) = &homes[candidate.site] else { continue };
        let mut member = Member::Site(candidate.site);
        // The way from the buffer outwards: the crossed loops, innermost first, then the scope.
        let way = home.crossed.iter().map(|&op| (op, true)).chain([(home.scope, false)]);
        for (op, is_crossed) in way {
            let key = (op, is_crossed, candidate.space.clone());
            let frame = frames.entry(key).or_insert_with(|| Frame::new(op, &candidate.space, is_crossed));
            frame.alignment = frame.alignment.max(candidate.alignment);
            // Another buffer may have made the loop a member already.
            let is_new = match member {
                Member::Site(_) => true,
                Member::Loop(inner) => frame.loops.insert(inner),
            };
            if is_new {
                frame.members.push(member);
            }
            member = Member::Loop(op);
        }
    }
    frames
}

impl Frame {
    /// A frame without members.
    fn new(op: OpId, space: &Option<Box<str>>, is_crossed: bool) -> Frame {
        Frame {
            op,
            space: space.clone(),
            is_crossed,
            members: Vec::new(),
            extent: 0,
            stride: 0,
            alignment: 1,
            lower_bound: 0,
            first_size: 0,
            loops: HashSet::default(),
        }
    }
}

/// The members of a frame as a packing problem, member n as buffer n. Steps are positions of ops in the text. Frames
/// of inner loops must have been planned before.
fn problem_of(
    view: &BufferizedView,
    key: &Key,
    frames: &BTreeMap<Key, Frame>,
    by_site: &BySite,
) -> Result<Problem, PassError> {
    let frame = &frames[key];
    let mut builder = ProblemBuilder::new();
    // In the frame of a scope every buffer is aligned as the option `alignment` says. In the frame of an iteration it
    // is aligned only as its type needs: there are many of these frames, and padding would add up.
    let alignment = if frame.is_crossed { 1 } else { view.options.alignment };
    builder.space(Space { alignment: Bytes(alignment), ..Space::new("frame") });
    for member in &frame.members {
        let (size, own_alignment, life) = match *member {
            Member::Site(site) => {
                let Some(candidate) = by_site[site] else { continue };
                (candidate.bytes, candidate.alignment, candidate.life)
            }
            Member::Loop(op) => {
                let inner = &frames[&(op, true, key.2.clone())];
                let count = copies(view, op).unwrap_or(1);
                let size = inner.stride.saturating_mul(count);
                (size, inner.alignment, Some((op, view.last_inside(op))))
            }
        };
        let lifetime = life.map_or_else(Lifetime::default, |(first, last)| {
            Lifetime::new(first.index() as u64, last.index() as u64 + 1)
        });
        let alignment = Bytes(own_alignment);
        builder.buffer(Buffer { alignment, ..Buffer::new(member_name(view, *member), size, lifetime) });
    }
    for (one, other) in kept_apart(view, key, frames) {
        builder.must_not_share(one, other);
    }
    builder
        .build()
        .map_err(|error| PassError::Op { span: view.document.op(key.0).name_span, message: error.to_string() })
}

/// What a member of a frame is called in messages.
fn member_name(view: &BufferizedView, member: Member) -> String {
    match member {
        Member::Site(site) => {
            let op = view.lowered.sites[site];
            let name = view.document.results(op).first().map_or("", |&value| view.document.value_name(value));
            // Names of values are used again in other blocks. Every buffer has such a name, so it is put together
            // without formatting.
            let mut text = String::with_capacity(name.len() + " of op ".len() + 10);
            text.push_str(name);
            text.push_str(" of op ");
            push_number(&mut text, op.index() as u64);
            text
        }
        Member::Loop(op) => format!("iterations of {} {}", view.document.name(op), op.index()),
    }
}

/// Pairs of members of a frame that must not share memory. If the dataflow check has rejected an earlier plan because
/// two buffers share bytes (`Apart`), these are the two buffers, or the loops in whose frames they lie. Two buffers in
/// the same loop are a pair of the loop's own frame.
fn kept_apart(view: &BufferizedView, key: &Key, frames: &BTreeMap<Key, Frame>) -> Vec<(BufferId, BufferId)> {
    if view.apart.is_empty() {
        return Vec::new();
    }
    // For each buffer the member that it is, or that contains it at any depth.
    let mut member_of: HashMap<SiteId, BufferId> = HashMap::default();
    for (index, member) in frames[key].members.iter().enumerate() {
        let mut inside = vec![*member];
        while let Some(member) = inside.pop() {
            match member {
                Member::Site(site) => _ = member_of.insert(site, BufferId::from_index(index)),
                Member::Loop(op) => inside.extend(&frames[&(op, true, key.2.clone())].members),
            }
        }
    }
    // The two members in which a pair of sites lies; `None` if one of them is not in this frame.
    let members = |(one, other)| Some((*member_of.get(&one)?, *member_of.get(&other)?));
    view.apart.pairs().filter_map(members).filter(|(one, other)| one != other).collect()
}

/// The plan of the strategy asked for, or, without one, of the pass's own planner, and the problem's lower bound. If
/// the strategy is `auto`, the smaller of the two plans is taken, so that it is never worse than the default.
fn best_plan(
    view: &BufferizedView,
    problem: &Problem,
    strategy: Option<&dyn Strategy>,
    request: &Request,
) -> Result<(Plan, Bytes), PassError> {
    let own = match view.options.planner {
        Planner::CostModel => "chunk-hot",
        Planner::SizeFirst => "chunk-size-first",
    };
    let own = memplan_planner::find(own);
    let request = Request { assign: Assign::Offsets, ..request.clone() };
    // A plan together with the problem's lower bound.
    let bounded = |plan| (plan, bound::lower_bound(problem));
    match (strategy, own) {
        (Some(strategy), Some(own)) if strategy.name() == "auto" => {
            let auto = plan_with(strategy, problem, &request)?;
            // The pass's own planner fails if some buffers must be kept apart. Then there is nothing to compare with.
            let own = plan_with(own, problem, &request).ok().filter(|own| own.extent() < auto.extent());
            Ok(bounded(own.unwrap_or(auto)))
        }
        (Some(strategy), _) => plan_with(strategy, problem, &request).map(bounded),
        (None, Some(own)) => plan_of_own(own, problem, &request),
        (None, None) => Err(PassError::NoPlan { strategy: "chunk-hot" }),
    }
}

/// The plan of the pass's own planner, and the problem's lower bound. This planner compares its extent with the bound
/// (`Outcome::judge`) and calls the plan optimal where the two are equal, so the bound is not computed a second time.
fn plan_of_own(own: &dyn Strategy, problem: &Problem, request: &Request) -> Result<(Plan, Bytes), PassError> {
    let (plan, lower_bound) = match memplan_planner::plan(own, problem, request)? {
        Outcome::Optimal(plan) => (Some(plan), None),
        Outcome::Feasible { plan, lower_bound, .. } => (Some(plan), Some(lower_bound)),
        _ => (None, None),
    };
    let plan = plan.ok_or(PassError::NoPlan { strategy: own.name() })?;
    let lower_bound = lower_bound.unwrap_or_else(|| plan.extent());
    debug_assert_eq!(lower_bound, bound::lower_bound(problem), "the planner reports the problem's lower bound");
    Ok((plan, lower_bound))
}

/// The plan of one strategy; an error if it finds none.
fn plan_with(strategy: &dyn Strategy, problem: &Problem, request: &Request) -> Result<Plan, PassError> {
    match memplan_planner::plan(strategy, problem, request)? {
        Outcome::Optimal(plan) | Outcome::Feasible { plan, .. } => Ok(plan),
        _ => Err(PassError::NoPlan { strategy: strategy.name() }),
    }
}

impl BufferizedView<'_> {
    /// The last op inside an op of the text, or itself.
    pub(super) fn last_inside(&self, op: OpId) -> OpId {
        let mut last = op;
        loop {
            let regions = self.document.regions(last);
            let blocks = regions.iter().rev().flat_map(|&region| self.document.blocks(region).iter().rev());
            let mut ops = blocks.filter_map(|&block| self.document.ops(block).last());
            match ops.next() {
                Some(&inner) => last = inner,
                None => return last,
            }
        }
    }
}
