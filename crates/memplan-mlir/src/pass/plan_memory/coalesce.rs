//! Buffers that get one address: in-place results, and what control flow makes
//! one value of.
//!
//! 1. *Joined*: buffers that a loop, a branch or a scope turns into one value (an
//!    initial value and what is yielded, the results of both branches) get one
//!    address if they do not interfere.
//! 2. *In place*: an op's result takes the bytes of an input that dies with the
//!    op, if the op works in place. Larger results choose first.
//!
//! Some pairs are refused although they would be right, because a load would
//! have to wait for a store: two multi-buffers in one loop, one filled by a load,
//! the other sent off by a store. They are remembered; when memory is short the
//! lowest level may still use them.
//!
//! One address for a chain of results is one hole of the size of the largest, for
//! as long as all of them live. Where that does not fit, in-place results are only
//! remembered ([`InPlace::Allowed`]), and placement decides pair by pair.
//!
//! DIVERGENCE: the original joins without looking at interference, and so may
//! overwrite what is still read; and which of several dying inputs is taken
//! depends on random numbers, here on the order of the program.

use std::collections::{HashMap, HashSet};

use memplan_analysis::Life;
use memplan_core::Classes;
use memplan_program::{Control, Definition, OpId, Origin, SiteId, ValueId};

use super::interference::Interference;
use super::pipes::Users;
use super::{KernelView, Profile};
use crate::lower::hivm::is_plain_in_place;

/// Groups of more members are not compared member by member.
const MOST_COMPARED: usize = 64;

/// Buffers with one address.
#[derive(Clone, Debug)]
pub(super) struct Group {
    pub(super) members: Vec<SiteId>,
    pub(super) slots: u32,
    /// The loop whose iterations take the slots in turn.
    rotation: Option<OpId>,
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
    group_of: HashMap<SiteId, usize>,
    groups: Vec<Group>,
    /// `(newcomer, victim)`.
    pub(super) stalling: Vec<(SiteId, SiteId)>,
    /// Slots that a site needs because older instances of it are still read.
    pub(super) needed_slots: HashMap<SiteId, u32>,
    /// Sites whose instances cannot be kept apart by any number of slots.
    pub(super) hopeless: Vec<SiteId>,
    /// Sites of which a loop hands out several instances, one of which is written
    /// behind the loop while another still matters.
    pub(super) left_alone: Vec<SiteId>,
}

impl Groups {
    pub(super) fn of(&self, site: SiteId) -> Option<&Group> {
        self.groups.get(*self.group_of.get(&site)?)
    }
}

/// The groups of buffers that get one address, by the steps of the module documentation.
pub(super) fn coalesce(
    view: &KernelView,
    users: &HashMap<SiteId, Users>,
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
            group_of: HashMap::new(),
            groups: Vec::new(),
            stalling: Vec::new(),
            needed_slots: HashMap::new(),
            hopeless: Vec::new(),
            left_alone: Vec::new(),
        },
    };
    // Each step enlarges the groups of the steps before it. What a loop or a branch makes one value of needs one address
    // and comes first; a result in place only saves bytes, and must fit to the groups that are there.
    coalescing.singles(users, planned);
    coalescing.rotate_instances(planned);
    coalescing.join_values();
    coalescing.leave_selected_alone();
    coalescing.overlay_results();
    coalescing.groups
}

struct Coalescing<'a> {
    view: &'a KernelView<'a>,
    in_place: InPlace,
    interference: &'a Interference<'a>,
    /// `(target, source)` of what control flow hands over, sorted.
    edges: Vec<(ValueId, ValueId)>,
    /// Sites whose address is decided: in-place reuse leaves them alone.
    settled: HashSet<SiteId>,
    groups: Groups,
}

impl Coalescing<'_> {
    /// Starts with a group for each buffer; the steps that follow put groups together.
    fn singles(&mut self, users: &HashMap<SiteId, Users>, planned: &[SiteId]) {
        let program = &self.view.lowered.program;
        for &site in planned {
            let Life::Range { first, last } = self.view.lifetimes.life(site) else { continue };
            let info = program.site(site);
            let user = users.get(&site).cloned().unwrap_or_default();
            self.groups.group_of.insert(site, self.groups.groups.len());
            self.groups.groups.push(Group {
                members: vec![site],
                slots: info.slots,
                rotation: program.rotation(site),
                first,
                last,
                filled: user.filled,
                sent: user.sent,
            });
        }
    }

    /// Buffers that a loop hands to its next iteration while it already fills
    /// them anew need a slot for each older instance.
    fn rotate_instances(&mut self, planned: &[SiteId]) {
        let program = &self.view.lowered.program;
        for &site in planned {
            let carriers = self.carriers(site);
            // Only a buffer whose older instance is still needed while the new one is filled needs more than one slot.
            if carriers.is_empty() || !self.interference.with_itself(site) {
                continue;
            }
            let rotation = program.rotation(site);
            let elsewhere = carriers.iter().any(|&(op, _)| Some(op) != rotation);
            // Slots are taken in turn by the iterations of one loop. If another loop carries the buffer, or an instance
            // may stay for any number of iterations, no number of slots is enough.
            if rotation.is_none() || elsewhere || self.ages_without_end(&carriers) {
                self.groups.hopeless.push(site);
                continue;
            }
            if rotation.is_some_and(|around| self.interference.with_itself_outside(site, around)) {
                self.groups.left_alone.push(site);
            }
            // Each carried position may hold one older instance; the one that is being filled is one more.
            let slots = carriers.len() as u32 + 1;
            self.groups.needed_slots.insert(site, slots);
            self.settled.insert(site);
            if let Some(&group) = self.groups.group_of.get(&site) {
                let group = &mut self.groups.groups[group];
                group.slots = group.slots.max(slots);
            }
        }
    }

    /// The arguments by which loops around an allocation hand it round.
    fn carriers(&self, site: SiteId) -> Vec<(OpId, ValueId)> {
        let program = &self.view.lowered.program;
        let Some(alloc) = program.alloc_op(site) else { return Vec::new() };
        let mut carriers = Vec::new();
        for op in program.ancestors(alloc) {
            if !matches!(program.op(op).control(), Control::Loop(_) | Control::While) {
                continue;
            }
            for argument in program.op(op).regions().iter().flat_map(|&region| program.entry_arguments(region)) {
                if self.view.aliases.sites(argument).contains(&site) {
                    carriers.push((op, argument));
                }
            }
        }
        carriers
    }

    /// Whether some argument may be handed to itself: then an instance can be older
    /// than any number of slots. Arguments that only pass on what is younger end
    /// after as many iterations as there are of them.
    fn ages_without_end(&self, carriers: &[(OpId, ValueId)]) -> bool {
        carriers.iter().any(|&(_, argument)| {
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

    /// What a value may be, one step back.
    fn sources(&self, value: ValueId) -> Vec<ValueId> {
        let program = &self.view.lowered.program;
        match &program.value(value).origin {
            Origin::Derived { base, .. } => vec![*base],
            Origin::Merged(sources) | Origin::Opaque(sources) => sources.to_vec(),
            Origin::Incoming => {
                let first = self.edges.partition_point(|&(target, _)| target < value);
                let edges = self.edges[first..].iter().take_while(|&&(target, _)| target == value);
                edges.map(|&(_, source)| source).collect()
            }
            Origin::Alloc(_) | Origin::External => Vec::new(),
        }
    }

    /// Joins what structured control flow makes one value of.
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
        let mut members: HashMap<ValueId, Vec<SiteId>> = HashMap::new();
        let mut order = Vec::new();
        // Classes are kept in the order of their first site, so that the result does not depend on hashing.
        for (site, info) in program.sites().iter_enumerated() {
            let list = members.entry(classes.find(info.value)).or_insert_with(|| {
                order.push(classes.find(info.value));
                Vec::new()
            });
            list.push(site);
        }
        for class in order {
            let list = members.remove(&class).unwrap_or_default();
            for (at, &later) in list.iter().enumerate() {
                // Each site is compared with a limited number of sites before it. Classes of thousands of members would
                // cost the square of that otherwise, and a pair that is not joined costs memory only.
                for &earlier in list[..at].iter().rev().take(MOST_COMPARED) {
                    self.join(earlier, later);
                }
            }
        }
    }

    fn is_branch_argument(&self, value: ValueId) -> bool {
        let program = &self.view.lowered.program;
        let Definition::Argument(block) = program.value(value).definition else { return false };
        let region = program.region(program.block(block).region);
        let in_while = region.op.is_some_and(|op| *program.op(op).control() == Control::While);
        region.blocks.first() != Some(&block) && !in_while
    }

    /// Puts two allocations into one group, if they may be one buffer and are never needed at the same time.
    fn join(&mut self, one: SiteId, other: SiteId) {
        let (Some(&a), Some(&b)) = (self.groups.group_of.get(&one), self.groups.group_of.get(&other)) else { return };
        if a == b || self.groups.needed_slots.contains_key(&one) || self.groups.needed_slots.contains_key(&other) {
            return;
        }
        if self.compatible(a, b) && !self.interfere(a, b) {
            self.merge(a, b);
            self.settled.extend([one, other]);
        }
    }

    fn interfere(&self, one: usize, other: usize) -> bool {
        let (one, other) = (&self.groups.groups[one].members, &self.groups.groups[other].members);
        if one.len() * other.len() > MOST_COMPARED * MOST_COMPARED {
            return true;
        }
        one.iter().any(|&a| other.iter().any(|&b| self.interference.between(a, b)))
    }

    /// Whether a buffer may have its address in common with another one at all.
    fn is_shareable(&self, site: SiteId) -> bool {
        let info = self.view.lowered.program.site(site);
        let is_apart = self.view.options.coupled_apart && info.coupled.is_some();
        !info.exclusive && !info.preload && !is_apart
    }

    /// Whether a check has found that two buffers of these groups must not share memory.
    fn are_kept_apart(&self, one: &Group, other: &Group) -> bool {
        let is_apart = |a: &SiteId| other.members.iter().any(|&b| self.view.apart.contains(*a, b));
        !self.view.apart.is_empty() && one.members.iter().any(is_apart)
    }

    /// Whether nothing but lives speaks against one address.
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
            && (one.slots.max(other.slots) == 1 || one.rotation == other.rotation)
    }

    /// Makes two groups one. The members of the second take the number of the first.
    fn merge(&mut self, into: usize, from: usize) {
        let taken = self.groups.groups[from].clone();
        for &site in &taken.members {
            self.groups.group_of.insert(site, into);
        }
        let group = &mut self.groups.groups[into];
        group.members.extend(taken.members);
        group.slots = group.slots.max(taken.slots);
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

    fn overlay_results(&mut self) {
        let program = &self.view.lowered.program;
        for op in program.ops().ids() {
            if !program.op(op).overlays().is_empty() && self.rule_applies(op) {
                self.in_place_at(op);
            }
        }
    }

    fn rule_applies(&self, op: OpId) -> bool {
        let document_op = self.view.lowered.ops[op];
        let call = self.view.document.info(document_op).traits.has(crate::dialect::Traits::CALL);
        call || !self.view.options.restrict_in_place || is_plain_in_place(self.view.document, document_op)
    }

    /// Lets the results of one op take over its inputs. Each result and each input takes part once, larger results
    /// first.
    fn in_place_at(&mut self, op: OpId) {
        let program = &self.view.lowered.program;
        let mut pairs: Vec<(SiteId, SiteId)> = Vec::new();
        for overlay in program.op(op).overlays() {
            let [result] = self.view.aliases.sites(overlay.output) else { continue };
            // The input may be one of several buffers, and any of them will do as donor: if the input is another one in
            // this run, the donor's bytes are not needed by this op.
            let donors = self.view.aliases.sites(overlay.input).iter();
            let fitting = donors.filter(|&&donor| self.interference.may_write_over(op, overlay.output, donor));
            pairs.extend(fitting.map(|&donor| (*result, donor)));
        }
        let size = |site: SiteId| program.site(site).size.upper_bound().map_or(0, |bytes| bytes.0);
        pairs.sort_by_key(|&(result, donor)| (std::cmp::Reverse(size(result)), result, donor));
        pairs.dedup();
        let mut used: HashSet<SiteId> = HashSet::new();
        for (result, donor) in pairs {
            let free = !used.contains(&result) && !used.contains(&donor);
            if free && size(donor) >= size(result) && self.take_over(op, result, donor) {
                used.extend([result, donor]);
            }
        }
    }

    /// Gives a result the address of its donor, if the one begins where the other ends.
    fn take_over(&mut self, op: OpId, result: SiteId, donor: SiteId) -> bool {
        let (Some(&new), Some(&old)) = (self.groups.group_of.get(&result), self.groups.group_of.get(&donor)) else {
            return false;
        };
        let begins = matches!(self.view.lifetimes.life(result), Life::Range { first, .. } if first == op);
        let ends = matches!(self.view.lifetimes.life(donor), Life::Range { last, .. } if last == op);
        let apart = self.groups.groups[old].last <= op && self.groups.groups[new].first >= op;
        let settled = self.settled.contains(&result) || self.settled.contains(&donor);
        if new == old || !begins || !ends || !apart || settled || !self.compatible(old, new) {
            return false;
        }
        if self.stalls(op, new, old) {
            return false;
        }
        // The pair would be right, but pipes would wait for each other, or the caller leaves the choice to placement.
        // It is only remembered.
        let stalls = self.view.options.profile == Profile::MemoryBased && self.pipeline_stalls(new, old);
        if stalls || self.in_place == InPlace::Allowed {
            self.groups.stalling.push((result, donor));
            return false;
        }
        self.merge(old, new);
        true
    }

    /// A vector function inside a loop would tie the store of its result to the
    /// load of its input.
    fn stalls(&self, op: OpId, new: usize, old: usize) -> bool {
        let call = self.view.document.info(self.view.lowered.ops[op]).traits.has(crate::dialect::Traits::CALL);
        let program = &self.view.lowered.program;
        let is_loop = |op: OpId| matches!(program.op(op).control(), Control::Loop(_) | Control::While);
        let in_loop = |site: &SiteId| program.alloc_op(*site).is_some_and(|op| program.ancestors(op).any(is_loop));
        let (new, old) = (&self.groups.groups[new], &self.groups.groups[old]);
        call && !self.view.options.ignore_reachability && new.sent && old.filled && new.members.iter().any(in_loop)
    }

    /// Two multi-buffers, one filled by a load and one sent off by a store.
    fn pipeline_stalls(&self, new: usize, old: usize) -> bool {
        let (new, old) = (&self.groups.groups[new], &self.groups.groups[old]);
        new.slots > 1 && old.slots > 1 && new.sent && old.filled
    }
}
