//! Buffers that get one address: in-place results, and what control flow makes
//! one value of. They are put into *groups*.
//!
//! 1. *Joined*: buffers that a loop, a branch or a scope turns into one value (an
//!    initial value and what is yielded, the results of both branches) get one
//!    address if they do not *interfere*: if neither is written while the other is
//!    still needed.
//! 2. *In place*: an op's result takes the bytes of an input that dies with the
//!    op (the *donor*), if the op works in place. Larger results choose first.
//!
//! ```text
//!   %r = scf.for … iter_args(%a = %A) {     %A and %C become %r: joined, if they do not interfere
//!     hivm.hir.vadd ins(%a, %B) outs(%C)
//!     scf.yield %C
//!   }
//!   hivm.hir.vexp ins(%r) outs(%D)          %r is not needed any more: %D may take its place
//! ```
//!
//! Some pairs are not put together although that would be right, because a load would
//! have to wait for a store: two multi-buffers in one loop, one filled by a load,
//! the other sent off by a store. Such a wait is a *stall*. The pairs are kept in the list `stalling`: the strategy
//! that places the buffers may put the two together, and does so if memory is short.
//!
//! A chain of in-place results at one address takes the bytes of the largest for as long
//! as any of them lives. If that does not fit into the memory, the groups are made once more with
//! [`InPlace::Allowed`]: then every pair of a result and its donor goes into the list `stalling`, and the strategy
//! decides for each pair.
//!
//! A buffer that a loop allocates anew in each iteration has several *instances*. If one is
//! filled while an older one is still needed, the buffer gets several slots, which the
//! iterations of that loop (its *rotation*) take in turn.
//!
//! DIVERGENCE: the original joins without looking at interference, and so may
//! overwrite what is still read; and which of several dying inputs is taken
//! depends on random numbers, here on the order of the program.

use std::collections::{HashMap, HashSet};

use memplan_analysis::Life;
use memplan_core::{Classes, IndexVec};
use memplan_program::{Control, Definition, OpId, Origin, SiteId, ValueId};

use smallvec::{SmallVec, smallvec};

// `Interference` answers whether two buffers may have one address; `Users` says which execution units use a buffer, and
// whether a load fills it or a store sends it off. `Classes` is a union-find: `join` makes one class of two.
use super::interference::Interference;
use super::pipes::Users;
use super::{KernelView, Profile};
use crate::lower::hivm::is_plain_in_place;

/// A buffer is compared with at most this many buffers that become the same value. Two groups are compared member by
/// member only if they have no more than the square of this number of pairs; else they count as interfering.
const MOST_COMPARED: usize = 64;

/// Buffers with one address.
#[derive(Clone, Debug)]
pub(super) struct Group {
    pub(super) members: SmallVec<[SiteId; 4]>,
    /// The largest number of slots of a member.
    pub(super) slots: u32,
    /// The loop whose iterations take the slots in turn.
    rotation: Option<OpId>,
    /// Whether not all members have that loop around them. Such a group has one slot only.
    is_mixed: bool,
    /// The first and the last op that use a member.
    first: OpId,
    last: OpId,
    /// Whether a load from global memory fills a member.
    filled: bool,
    /// Whether a store to global memory sends a member off.
    sent: bool,
}

/// Whether a result has to take the bytes of its donor where the op works in place, or only may.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum InPlace {
    /// A result takes its donor's bytes wherever the op works in place.
    Always,
    /// The strategy that places the buffers decides.
    Allowed,
}

/// The groups, and the pairs that only a shortage of memory puts together.
pub(super) struct Groups {
    /// The position of each buffer's group in `groups`; `None` for a buffer that is not planned, or that no op touches.
    group_of: IndexVec<SiteId, Option<u32>>,
    /// The groups. One that has been made a part of another stays in the list, but no buffer refers to it.
    groups: Vec<Group>,
    /// Pairs of a result and its donor that are in different groups, although the result may lie on the donor: pairs
    /// that would make a load wait for a store, and with [`InPlace::Allowed`] all others, too.
    pub(super) stalling: Vec<(SiteId, SiteId)>,
    /// Slots that a site needs because older instances of it are still read.
    pub(super) needed_slots: HashMap<SiteId, u32>,
    /// Sites whose instances cannot be kept apart by any number of slots.
    pub(super) hopeless: Vec<SiteId>,
    /// Sites of which a loop hands out several instances, one of which is written
    /// behind the loop while another is still needed.
    pub(super) left_alone: Vec<SiteId>,
}

impl Groups {
    /// The group of a buffer; `None` for a buffer that is not planned, or that no op touches.
    pub(super) fn of(&self, site: SiteId) -> Option<&Group> {
        self.groups.get(self.position(site)?)
    }

    /// The position of a buffer's group in `groups`.
    fn position(&self, site: SiteId) -> Option<usize> {
        self.group_of[site].map(|group| group as usize)
    }
}

/// The groups of buffers that get one address, by the steps of the module documentation. `planned` are the buffers
/// that are planned at all, `users` says which execution units use them.
pub(super) fn coalesce(
    view: &KernelView,
    users: &IndexVec<SiteId, Users>,
    planned: &[SiteId],
    in_place: InPlace,
) -> Groups {
    let interference = Interference::new(view);
    let mut coalescing = Coalescing {
        view,
        in_place,
        interference: &interference,
        edges: view.lowered.program.incoming_edges(),
        settled: HashSet::new(),
        groups: Groups {
            group_of: IndexVec::filled(None, view.lowered.sites.len()),
            groups: Vec::new(),
            stalling: Vec::new(),
            needed_slots: HashMap::new(),
            hopeless: Vec::new(),
            left_alone: Vec::new(),
        },
    };
    // Each step enlarges the groups of the steps before it. Buffers that a loop or a branch makes one value of are
    // joined first. An in-place result only saves bytes, so it comes last and has to fit to the groups that are there.
    coalescing.singles(users, planned);
    coalescing.rotate_instances(planned);
    coalescing.join_values();
    coalescing.leave_selected_alone();
    coalescing.overlay_results();
    coalescing.groups
}

/// Makes the groups.
struct Coalescing<'a> {
    view: &'a KernelView<'a>,
    in_place: InPlace,
    interference: &'a Interference<'a>,
    /// `(target, source)`: control flow may make the value `target` of the value `source`. Sorted.
    edges: Vec<(ValueId, ValueId)>,
    /// Sites that take no part in in-place reuse, because control flow has decided about them.
    settled: HashSet<SiteId>,
    /// The groups so far.
    groups: Groups,
}

impl Coalescing<'_> {
    /// Starts with a group for each buffer that is used; the steps that follow put groups together.
    fn singles(&mut self, users: &IndexVec<SiteId, Users>, planned: &[SiteId]) {
        let program = &self.view.lowered.program;
        for &site in planned {
            let Life::Range { first, last } = self.view.lifetimes.life(site) else { continue };
            let info = program.site(site);
            let user = &users[site];
            self.groups.group_of[site] = Some(self.groups.groups.len() as u32);
            self.groups.groups.push(Group {
                members: smallvec![site],
                slots: info.slots,
                rotation: program.rotation(site),
                is_mixed: false,
                first,
                last,
                filled: user.filled,
                sent: user.sent,
            });
        }
    }

    /// Gives a buffer more slots if a loop hands an instance to its next iteration, which fills another instance
    /// while the older one is still needed. Each instance that may be needed at once gets a slot.
    fn rotate_instances(&mut self, planned: &[SiteId]) {
        let program = &self.view.lowered.program;
        for &site in planned {
            let carriers = self.carriers(site);
            // Only a buffer whose older instance is still needed while the new one is filled needs more than one slot.
            if carriers.is_empty() || !self.interference.with_itself(site) {
                continue;
            }
            // The loop that takes the slots of the buffer in turn: the innermost loop around its allocation.
            let rotation = program.rotation(site);
            let elsewhere = carriers.iter().any(|&(op, _)| Some(op) != rotation);
            // Slots are taken in turn by the iterations of one loop. If another loop carries the buffer, or an instance
            // may stay for any number of iterations, no number of slots is enough.
            if rotation.is_none() || elsewhere || self.ages_without_end(&carriers) {
                self.groups.hopeless.push(site);
                continue;
            }
            // Behind the loop nothing rotates any more: a write there, while an older instance is needed, is not made
            // right by slots.
            if rotation.is_some_and(|around| self.interference.with_itself_outside(site, around)) {
                self.groups.left_alone.push(site);
            }
            // Each carried position may hold one older instance; the one that is being filled is one more.
            let slots = carriers.len() as u32 + 1;
            self.groups.needed_slots.insert(site, slots);
            self.settled.insert(site);
            if let Some(group) = self.groups.position(site) {
                let group = &mut self.groups.groups[group];
                group.slots = group.slots.max(slots);
            }
        }
    }

    /// The arguments by which loops around an allocation hand its buffer to their next iteration, each with its loop.
    fn carriers(&self, site: SiteId) -> Vec<(OpId, ValueId)> {
        let program = &self.view.lowered.program;
        let Some(alloc) = program.alloc_op(site) else { return Vec::new() };
        let mut carriers = Vec::new();
        for op in program.ancestors(alloc) {
            if !matches!(program.op(op).control(), Control::Loop(_) | Control::While) {
                continue;
            }
            // The arguments of the first block of a loop's region are what one iteration hands to the next.
            for argument in program.op(op).regions().iter().flat_map(|&region| program.entry_arguments(region)) {
                if self.view.aliases.sites(argument).contains(&site) {
                    carriers.push((op, argument));
                }
            }
        }
        carriers
    }

    /// Whether an instance may be handed on for any number of iterations, so that it can be older than any number of
    /// slots. That is so if some argument may become itself in a later iteration. If no argument does, an instance
    /// passes through each argument at most once, and is gone after as many iterations as there are arguments.
    fn ages_without_end(&self, carriers: &[(OpId, ValueId)]) -> bool {
        carriers.iter().any(|&(_, argument)| {
            // Goes back from the argument over everything that it may have been before.
            let mut seen = HashSet::new();
            let mut stack = self.sources(argument);
            while let Some(value) = stack.pop() {
                if value == argument {
                    return true;
                }
                if seen.insert(value) {
                    stack.extend(self.sources(value));
                }
            }
            false
        })
    }

    /// The values that a value is directly made of: what it is a view of, what a select chooses between, or what
    /// control flow hands over. Empty for an allocation and for memory from outside.
    fn sources(&self, value: ValueId) -> Vec<ValueId> {
        let program = &self.view.lowered.program;
        match &program.value(value).origin {
            Origin::Derived { base, .. } => vec![*base],
            Origin::Merged(sources) | Origin::Opaque(sources) => sources.to_vec(),
            Origin::Incoming => {
                // The edges are sorted, so those to one target stand together.
                let first = self.edges.partition_point(|&(target, _)| target < value);
                let edges = self.edges[first..].iter().take_while(|&&(target, _)| target == value);
                edges.map(|&(_, source)| source).collect()
            }
            Origin::Alloc(_) | Origin::External => Vec::new(),
        }
    }

    /// Joins buffers that structured control flow makes one value of, pair by pair, if they do not interfere. Values
    /// that become each other form a *class*.
    fn join_values(&mut self) {
        let program = &self.view.lowered.program;
        let mut classes = Classes::new(program.values().len());
        // Edges say which value becomes which. Only allocations and values handed over by structured control flow are
        // joined. Arguments of branches may come from anywhere and are not.
        for &(target, source) in &self.edges {
            let source = self.interference.root(source);
            let plain = matches!(program.value(source).origin, Origin::Alloc(_) | Origin::Incoming);
            if plain && !self.is_branch_argument(target) {
                classes.join(target, source);
            }
        }
        // Each site that is not the first of its class, behind the first one. Most classes have one site only.
        let mut first_site: IndexVec<ValueId, Option<SiteId>> = IndexVec::filled(None, program.values().len());
        let mut others: Vec<(SiteId, SiteId)> = Vec::new();
        for (site, info) in program.sites().iter_enumerated() {
            match &mut first_site[classes.find(info.value)] {
                Some(first) => others.push((*first, site)),
                first => *first = Some(site),
            }
        }
        others.sort_unstable();
        // The buffers of a class are joined where that is possible. Classes come in the order of their first sites.
        for class in others.chunk_by(|one, other| one.0 == other.0) {
            let list: Vec<SiteId> = std::iter::once(class[0].0).chain(class.iter().map(|&(_, site)| site)).collect();
            for (at, &later) in list.iter().enumerate() {
                // Each site is compared with a limited number of sites before it. Classes of thousands of members would
                // cost the square of that otherwise, and a pair that is not joined costs memory only.
                for &earlier in list[..at].iter().rev().take(MOST_COMPARED) {
                    self.join(earlier, later);
                }
            }
        }
    }

    /// Whether a value is an argument of a block to which branches lead (`cf.br`), and no structured control flow.
    /// The first block of a region is entered by the op around it, and so are the blocks of a `while`.
    fn is_branch_argument(&self, value: ValueId) -> bool {
        let program = &self.view.lowered.program;
        let Definition::Argument(block) = program.value(value).definition else { return false };
        let region = program.region(program.block(block).region);
        let in_while = region.op.is_some_and(|op| *program.op(op).control() == Control::While);
        region.blocks.first() != Some(&block) && !in_while
    }

    /// Puts the groups of two buffers together, if nothing speaks against it and no two members interfere. A buffer
    /// that needs slots of its own for its instances stays by itself.
    fn join(&mut self, one: SiteId, other: SiteId) {
        let (Some(a), Some(b)) = (self.groups.position(one), self.groups.position(other)) else { return };
        if a == b || self.groups.needed_slots.contains_key(&one) || self.groups.needed_slots.contains_key(&other) {
            return;
        }
        if self.compatible(a, b) && !self.interfere(a, b) {
            self.merge(a, b);
            self.settled.extend([one, other]);
        }
    }

    /// Whether a member of one group interferes with a member of the other. Groups that are too large to compare
    /// (`MOST_COMPARED`) count as interfering: they are not joined, which costs memory and nothing else.
    fn interfere(&self, one: usize, other: usize) -> bool {
        let (one, other) = (&self.groups.groups[one].members, &self.groups.groups[other].members);
        if one.len() * other.len() > MOST_COMPARED * MOST_COMPARED {
            return true;
        }
        one.iter().any(|&a| other.iter().any(|&b| self.interference.between(a, b)))
    }

    /// Whether a buffer may have its address in common with another one at all. No: a buffer with the mark
    /// `mem_unique` (exclusive), one that is filled ahead of its loop (preload), and, with the option
    /// `disable-tightly-coupled-buffer-reuse`, one that the other core uses, too (coupled).
    fn is_shareable(&self, site: SiteId) -> bool {
        let info = self.view.lowered.program.site(site);
        let is_apart = self.view.options.coupled_apart && info.coupled.is_some();
        !info.exclusive && !info.preload && !is_apart
    }

    /// Whether two buffers of these groups must not share memory, because the dataflow check has rejected an earlier
    /// plan in which they did (`Apart`).
    fn are_kept_apart(&self, one: &Group, other: &Group) -> bool {
        let is_apart = |a: &SiteId| other.members.iter().any(|&b| self.view.apart.contains(*a, b));
        !self.view.apart.is_empty() && one.members.iter().any(is_apart)
    }

    /// Whether two groups may have one address if their lives allow it: they are in the same memory and function, all
    /// members may share, at most one group has tightly coupled members (whose addresses the other core uses, too),
    /// no check keeps them apart, and if there are slots, the same loop rotates them.
    fn compatible(&self, one: usize, other: usize) -> bool {
        let program = &self.view.lowered.program;
        let coupled = |group: &Group| group.members.iter().any(|&site| program.site(site).coupled.is_some());
        let (one, other) = (&self.groups.groups[one], &self.groups.groups[other]);
        let space = |group: &Group| group.members.first().map(|&site| program.site(site).space);
        let function = |group: &Group| program.function_of(group.first);
        space(one) == space(other)
            && function(one) == function(other)
            && one.members.iter().chain(&other.members).all(|&site| self.is_shareable(site))
            && !(coupled(one) && coupled(other))
            && !self.are_kept_apart(one, other)
            && (one.slots.max(other.slots) == 1 || !one.is_mixed && !other.is_mixed && one.rotation == other.rotation)
    }

    /// Makes group `from` a part of group `into`.
    fn merge(&mut self, into: usize, from: usize) {
        // Nobody refers to the group `from` any more, so its members can be taken out.
        let members = std::mem::take(&mut self.groups.groups[from].members);
        let taken = Group { members, ..self.groups.groups[from] };
        for &site in &taken.members {
            self.groups.group_of[site] = Some(into as u32);
        }
        let group = &mut self.groups.groups[into];
        group.members.extend(taken.members);
        group.slots = group.slots.max(taken.slots);
        group.is_mixed |= taken.is_mixed || taken.rotation != group.rotation;
        group.first = group.first.min(taken.first);
        group.last = group.last.max(taken.last);
        group.filled |= taken.filled;
        group.sent |= taken.sent;
    }

    /// Keeps buffers that a select chooses between out of in-place reuse. Which of them an op reads is known only at
    /// run time, so it is not known either which of them would be overwritten.
    fn leave_selected_alone(&mut self) {
        let program = &self.view.lowered.program;
        for value in program.values() {
            let Origin::Merged(sources) = &value.origin else { continue };
            for &source in sources.iter().filter(|_| sources.len() > 1) {
                if let Origin::Alloc(site) = program.value(source).origin {
                    self.settled.insert(site);
                }
            }
        }
    }

    /// Puts results onto their donors, op by op in program order.
    fn overlay_results(&mut self) {
        let program = &self.view.lowered.program;
        for op in program.ops().ids() {
            if !program.op(op).overlays().is_empty() && self.rule_applies(op) {
                self.in_place_at(op);
            }
        }
    }

    /// Whether results of an op may be computed in place at all. With the option `restrict-inplace-as-isa` only a
    /// call, or an op that is a single instruction that works in place, may.
    fn rule_applies(&self, op: OpId) -> bool {
        let document_op = self.view.lowered.ops[op];
        let call = self.view.document.info(document_op).traits.has(crate::dialect::Traits::CALL);
        call || !self.view.options.restrict_in_place || is_plain_in_place(self.view.document, document_op)
    }

    /// Lets the results of one op take the bytes of its inputs. Each result and each input takes part once. Larger
    /// results choose first, and of several donors the first one in the program is taken.
    fn in_place_at(&mut self, op: OpId) {
        let program = &self.view.lowered.program;
        let mut pairs: Vec<(SiteId, SiteId)> = Vec::new();
        for overlay in program.op(op).overlays() {
            // An output that may be one of several buffers (or only memory from outside) takes part in no pair: it is
            // not known which buffer is written.
            let [result] = self.view.aliases.sites(overlay.output) else { continue };
            // An input that may be one of several buffers may have any of them as donor. If the input turns out to be
            // another buffer when the program runs, this op does not read the donor, and writing over it is right.
            let donors = self.view.aliases.sites(overlay.input).iter();
            let fitting = donors.filter(|&&donor| self.interference.may_write_over(op, overlay.output, donor));
            pairs.extend(fitting.map(|&donor| (*result, donor)));
        }
        // A buffer whose size is not known counts as empty, so it is no donor of anything.
        let size = |site: SiteId| program.site(site).size.upper_bound().map_or(0, |bytes| bytes.0);
        pairs.sort_by_key(|&(result, donor)| (std::cmp::Reverse(size(result)), result, donor));
        pairs.dedup();
        let mut used: SmallVec<[SiteId; 4]> = SmallVec::new();
        for (result, donor) in pairs {
            let free = !used.contains(&result) && !used.contains(&donor);
            if free && size(donor) >= size(result) && self.take_over(op, result, donor) {
                used.extend([result, donor]);
            }
        }
    }

    /// Puts a result and its donor into one group, if the result's life begins at this op and the donor's ends there.
    /// Says whether it did; the answer for a pair that only goes into the list `stalling` is no.
    fn take_over(&mut self, op: OpId, result: SiteId, donor: SiteId) -> bool {
        let (Some(new), Some(old)) = (self.groups.position(result), self.groups.position(donor)) else { return false };
        let begins = matches!(self.view.lifetimes.life(result), Life::Range { first, .. } if first == op);
        let ends = matches!(self.view.lifetimes.life(donor), Life::Range { last, .. } if last == op);
        // The group's range from its first to its last op may be longer than the donor's own life.
        // All members of the donor's group must have ended when this op runs, and none of the result's group may have
        // begun: members of one group are never alive at the same time.
        let apart = self.groups.groups[old].last <= op && self.groups.groups[new].first >= op;
        let settled = self.settled.contains(&result) || self.settled.contains(&donor);
        if new == old || !begins || !ends || !apart || settled || !self.compatible(old, new) {
            return false;
        }
        // Such a pair is never put together, not even if memory is short. So the pair does not go into the list
        // `stalling` either.
        if self.stalls(op, new, old) {
            return false;
        }
        // One address for both would be right. The pair goes into the list `stalling` if pipes would wait for each
        // other, or if the caller leaves the choice to the strategy that places the buffers.
        let stalls = self.view.options.profile == Profile::MemoryBased && self.pipeline_stalls(new, old);
        if stalls || self.in_place == InPlace::Allowed {
            self.groups.stalling.push((result, donor));
            return false;
        }
        self.merge(old, new);
        true
    }

    /// Whether the op is a call of a vector function in a loop whose input is filled by a load and whose result is
    /// sent off by a store. With one address for both, the load of the next iteration would have to wait for the
    /// store of this one.
    fn stalls(&self, op: OpId, new: usize, old: usize) -> bool {
        let call = self.view.document.info(self.view.lowered.ops[op]).traits.has(crate::dialect::Traits::CALL);
        let program = &self.view.lowered.program;
        let is_loop = |op: OpId| matches!(program.op(op).control(), Control::Loop(_) | Control::While);
        let in_loop = |site: &SiteId| program.alloc_op(*site).is_some_and(|op| program.ancestors(op).any(is_loop));
        let (new, old) = (&self.groups.groups[new], &self.groups.groups[old]);
        call && !self.view.options.ignore_reachability && new.sent && old.filled && new.members.iter().any(in_loop)
    }

    /// Whether both are multi-buffers, the donor filled by a load and the result sent off by a store. With one
    /// address for both, the load of a later iteration would have to wait for the store of an earlier one.
    fn pipeline_stalls(&self, new: usize, old: usize) -> bool {
        let (new, old) = (&self.groups.groups[new], &self.groups.groups[old]);
        new.slots > 1 && old.slots > 1 && new.sent && old.filled
    }
}
