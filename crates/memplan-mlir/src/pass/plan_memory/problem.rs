//! A function's buffers as a problem: sizes, lives, and what lies together.
//!
//! A *donor* is an input that an op's result may take the place of, because the op works in
//! place. A *group* is buffers that get one address (see `coalesce`). Besides the groups, `coalesce` gives pairs of a
//! result and a donor that are in different groups, although the result could lie on the donor (`Groups::stalling`).
//! Steps of a problem are positions of ops in the function, from 0 on.
//!
//! There are up to three problems for one function, from strict to lenient:
//!
//! 1. *Tight*: an in-place result lies on its donor. Most kernels end here.
//! 2. *Loose*, in the memories where that does not fit: results may lie on their
//!    donors but need not, and temporary buffers that no op touches need no
//!    bytes. Its plans are as good as those of the first.
//! 3. A *relaxation*, for the proof that nothing fits: every correct placement of the
//!    program's buffers gives a plan of the relaxation, so if that has no plan, nothing fits.
//!    A donor ends when the result begins, and of buffers that may lie together only one is
//!    counted at each step. Buffers have no relations here, so that the search can prove that
//!    there is no plan.
//!
//! ```text
//!                 a (64)  b (64), computed in place of a
//!   tight         [0,3) + [2,5): 64 bytes from 0 to 5, at one address
//!   loose         [0,3),  [2,5), b may lie on a
//!   relaxation    [0,2),  [2,5)
//! ```

use std::cell::{Cell, RefCell};
use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use memplan_analysis::Life;
use memplan_core::{
    Buffer, BufferId, Bytes, Id, Interval, Lifetime, Overlay, OverlayKind, Problem, ProblemBuilder, ProblemError, Size,
    Space, SpaceId,
};
use memplan_program::{FunctionId, OpId, SiteId};
use smallvec::smallvec;

// `Life` is when a site is in use: from a first to a last op (`Range`), never (`Unused`), or in a way that no range
// of ops describes (`Untraceable`).
use super::KernelView;
use super::coalesce::Groups;
use super::fixed::Piece;
use super::pipes::Users;
use super::target::{Scope, Target};
use crate::dialect::Selector;

/// One function, and where it runs.
pub(super) struct Kernel<'a> {
    pub(super) view: &'a KernelView<'a>,
    /// Which execution units use each buffer.
    pub(super) users: &'a memplan_core::IndexVec<SiteId, Users<'a>>,
    /// Temporary buffers that ops are given and do not touch ([`idle_temporaries`]), with the first and the last of
    /// these ops.
    pub(super) idle: &'a HashMap<SiteId, (OpId, OpId)>,
    /// Names of the buffers, as messages show them.
    pub(super) names: &'a memplan_core::IndexVec<SiteId, String>,
    /// Bytes that the kernel uses at addresses of its own (`hivm.hir.pointer_cast` with constants), each with the name
    /// of its memory.
    pub(super) taken: Vec<(String, Piece)>,
    pub(super) function: FunctionId,
    pub(super) target: &'a Target,
    /// The buffers to place, in ascending order. Buffers whose life cannot be traced ([`Life::Untraceable`]) are not
    /// among them: several instances of such a buffer exist at once, and its allocation stays as it is.
    pub(super) sites: &'a [SiteId],
    /// Names that many buffers have.
    pub(super) shared: SharedNames,
    /// The memory space that [`Kernel::scope`] was asked for last, with the answer: neighbours are mostly in one memory.
    pub(super) last_scope: Cell<Option<(SpaceId, Option<&'a Scope>)>>,
}

/// The names of pipes and loops, each made once for many buffers.
#[derive(Default)]
pub(super) struct SharedNames {
    /// The pipes so far. There are a handful.
    pipes: RefCell<Vec<Arc<str>>>,
    /// The loop that was asked for last, and its name. The buffers of one loop mostly follow each other.
    home: RefCell<Option<(crate::OpId, Arc<str>)>>,
}

impl SharedNames {
    fn pipe(&self, name: &str) -> Arc<str> {
        let mut pipes = self.pipes.borrow_mut();
        if let Some(known) = pipes.iter().find(|known| &***known == name) {
            return Arc::clone(known);
        }
        let new: Arc<str> = name.into();
        pipes.push(Arc::clone(&new));
        new
    }

    /// The name of a loop: the name of its op and the op's number.
    fn home(&self, view: &KernelView, op: crate::OpId) -> Arc<str> {
        let mut last = self.home.borrow_mut();
        match &*last {
            Some((known, name)) if *known == op => Arc::clone(name),
            _ => {
                let name: Arc<str> = format!("{}#{}", view.document.name(op), op.index()).into();
                *last = Some((op, Arc::clone(&name)));
                name
            }
        }
    }
}

/// Which groups count in which memory: the tight ones in memories that are large enough for them, the loose ones in the
/// others.
pub(super) struct Choice<'g> {
    /// The groups in which in-place results lie on their donors.
    pub(super) tight: &'g Groups,
    /// The groups for the memories that are too small for that; `None` if there are none.
    pub(super) loose: Option<&'g Groups>,
    /// Names of the memories that are too small.
    pub(super) short: BTreeSet<String>,
}

impl<'g> Choice<'g> {
    pub(super) fn tight(groups: &'g Groups) -> Choice<'g> {
        Choice { tight: groups, loose: None, short: BTreeSet::new() }
    }

    /// The groups that count in a memory.
    fn of(&self, scope: &Scope) -> &'g Groups {
        self.loose.filter(|_| self.short.contains(&scope.name)).unwrap_or(self.tight)
    }
}

impl<'a> Kernel<'a> {
    /// The memory of a buffer; `None` if the device has none of that name.
    fn scope(&self, site: SiteId) -> Option<&'a Scope> {
        let program = &self.view.lowered.program;
        let space = program.site(site).space;
        match self.last_scope.get() {
            Some((last, scope)) if last == space => scope,
            _ => {
                let scope = self.target.scope(&program.spaces()[space]);
                self.last_scope.set(Some((space, scope)));
                scope
            }
        }
    }

    /// The position of a buffer among the buffers to place; `None` if it is not one of them.
    fn position(&self, site: SiteId) -> Option<usize> {
        self.sites.binary_search(&site).ok()
    }

    /// The problem of all memories: the tight one for the memories that are large enough, the loose one for the
    /// memories in `choice.short`. Its buffers are first those of `self.sites`, in their order, without those of
    /// memories that the device does not have. Then come the bytes at fixed addresses. The error is the builder's, for
    /// example if a number is too large, or if two buffers must share and must not.
    pub(super) fn problem(&self, choice: &Choice) -> Result<Problem, ProblemError> {
        let mut builder = ProblemBuilder::new();
        debug_assert!(self.sites.is_sorted(), "buffers are found by binary search");
        builder.reserve(self.sites.len() + self.taken.len());
        // The memories so far, of which there are a few, and the buffer of each site.
        let mut spaces: Vec<(&str, SpaceId)> = Vec::new();
        let mut buffers: Vec<Option<BufferId>> = Vec::with_capacity(self.sites.len());
        for &site in self.sites {
            let Some(scope) = self.scope(site) else {
                buffers.push(None);
                continue;
            };
            let known = spaces.iter().find(|(name, _)| *name == scope.name).map(|&(_, space)| space);
            let space = known.unwrap_or_else(|| {
                let space = builder.space(space(scope));
                spaces.push((&scope.name, space));
                space
            });
            let groups = choice.of(scope);
            // Buffers with one address have the same number of slots, that of their group. It may be larger than the
            // site's own: a loop that hands an instance to its next iteration needs further slots. A buffer that no op
            // touches is in no group.
            let slots = groups.of(site).map_or(self.view.lowered.program.site(site).slots, |group| group.slots);
            // If the memory is short, a temporary buffer that no op touches counts as never in use, so it needs no
            // bytes.
            let counts_idle = !choice.short.contains(&scope.name);
            let lifetime = self.lifetime(site, counts_idle);
            let buffer = Buffer { spaces: smallvec![space], slots, ..self.buffer(site, lifetime) };
            buffers.push(Some(builder.buffer(buffer)));
        }
        // Bytes that the kernel uses at its own addresses become buffers with fixed offsets. In a memory without any
        // buffer to place they are in nobody's way and are left out.
        for (number, (name, piece)) in self.taken.iter().enumerate() {
            if let Some(&(_, space)) = spaces.iter().find(|(known, _)| known == name) {
                builder.buffer(Buffer { spaces: smallvec![space], ..self.taken_buffer(number, piece) });
            }
        }
        // All members of a group must share with its first member, which is enough to make them share with each
        // other. The members are in one function and one memory, so the first one has a buffer, too.
        let buffer_of = |site: SiteId| self.position(site).and_then(|position| buffers[position]);
        for (&site, buffer) in self.sites.iter().zip(&buffers) {
            let (Some(scope), Some(buffer)) = (self.scope(site), *buffer) else { continue };
            let first = choice.of(scope).of(site).and_then(|group| group.members.first());
            if let Some(first) = first.filter(|&&first| first != site).and_then(|&first| buffer_of(first)) {
                builder.must_share(first, buffer);
            }
        }
        // `stalling` lists pairs of a result and a donor that are in different groups: the result may lie on the donor
        // and need not, so the pair becomes an overlay permission. The tight and the loose groups each have such a
        // list. A pair counts only if it is in the list of the groups that were chosen for the memory of the result:
        // in another memory these groups are not in force.
        for groups in [Some(choice.tight), choice.loose].into_iter().flatten() {
            for &(result, donor) in &groups.stalling {
                let in_force = self.scope(result).is_some_and(|scope| std::ptr::eq(choice.of(scope), groups));
                if let (Some(buffer), Some(over), true) = (buffer_of(result), buffer_of(donor), in_force) {
                    builder.overlay(Overlay { buffer, over, kind: OverlayKind::SameBase });
                }
            }
        }
        // If the dataflow check has rejected an earlier plan because two buffers share bytes, the driver notes the
        // pair in `apart` and plans again. Such a pair must not share bytes this time.
        for (one, other) in self.view.apart.pairs() {
            if let (Some(one), Some(other)) = (buffer_of(one), buffer_of(other)) {
                builder.must_not_share(one, other);
            }
        }
        builder.build()
    }

    /// The relaxation, for the memory called `name`. `groups` are the tight groups. Of the loose groups (`loose`) only
    /// the pairs in `stalling` are used: which results may lie on which donors.
    pub(super) fn relaxation(&self, groups: &Groups, loose: &Groups, name: &str) -> Result<Problem, ProblemError> {
        let program = &self.view.lowered.program;
        // The step at which each donor ends: where the earliest of its results begins. In a real plan the donor may
        // live on, if the result does not lie on it. The relaxation assumes the best case for every donor, so if even
        // the relaxation has no plan, no placement fits.
        let mut donors: HashMap<SiteId, u64> = HashMap::new();
        for &(result, donor) in &loose.stalling {
            if let Life::Range { first, .. } = self.view.lifetimes.life(result) {
                let end = donors.entry(donor).or_insert(u64::MAX);
                *end = (*end).min(self.step(first));
            }
        }
        let mut builder = ProblemBuilder::new();
        // For each group (by its first member) the steps that have been counted for a member.
        let mut counted: HashMap<SiteId, Vec<(u64, u64)>> = HashMap::new();
        for &site in self.sites {
            let Some(scope) = self.scope(site).filter(|scope| scope.name == name) else { continue };
            // The space is made with the first buffer in it. It is the only one of this problem.
            if builder.spaces_mut().is_empty() {
                builder.space(space(scope));
            }
            // A buffer that is no donor has no earlier end than its life's.
            let end = donors.get(&site).copied().unwrap_or(u64::MAX);
            let whole = self.lifetime(site, false);
            let mut life: Vec<(u64, u64)> = whole.intervals().map(|part| (part.start.0, part.end.0.min(end))).collect();
            // The members of a group may lie at one address, so at each step only one of them is counted. Steps at
            // which an earlier member of the list is counted are cut out of this member's life.
            if let Some(first) = groups.of(site).and_then(|group| group.members.first()) {
                let others = counted.entry(*first).or_default();
                for &other in others.iter() {
                    life = life.into_iter().flat_map(|part| without(part, other)).collect();
                }
                others.extend(&life);
            }
            let parts = life.into_iter().filter(|part| part.0 < part.1).map(|(start, end)| Interval::new(start, end));
            let slots = program.site(site).slots;
            builder.buffer(Buffer { slots, ..self.buffer(site, parts.collect()) });
        }
        for (number, (_, piece)) in self.taken.iter().enumerate().filter(|(_, (memory, _))| memory == name) {
            builder.buffer(self.taken_buffer(number, piece));
        }
        builder.build()
    }

    /// Bytes at a fixed address as a buffer with a fixed offset, in the problem's first space (callers may change the
    /// space). The buffer's name ends in `number`, because a kernel may use the same address several times and names
    /// have to differ.
    fn taken_buffer(&self, number: usize, piece: &Piece) -> Buffer {
        let document = self.view.document;
        let cast = document.results(piece.op).first().map_or("", |&value| document.value_name(value));
        let name = format!("{cast} at {} (fixed, {number})", piece.bytes.start);
        let stretches = piece.taken.iter();
        let life = stretches.map(|&(first, last)| Interval::new(self.step(first), self.step(last) + 1));
        let size = piece.bytes.end - piece.bytes.start;
        Buffer::new(name, size, life.collect()).with_fixed(Bytes(piece.bytes.start))
    }

    /// A site as a buffer of the problem's first space (callers may change the space), with what the strategy `levels`
    /// wants to know: its pipe, and the loop that it belongs to. The loop is named by its op and the number of the op,
    /// so that no two loops have the same name.
    fn buffer(&self, site: SiteId, lifetime: Lifetime) -> Buffer {
        let info = self.view.lowered.program.site(site);
        let users = &self.users[site];
        // A coupled buffer is used by the other core, too. An option (`coupled_apart`) keeps its bytes for it alone.
        let coupled_apart = self.view.options.coupled_apart && info.coupled.is_some();
        let mut buffer = Buffer {
            size: Size::Fixed(info.size.upper_bound().unwrap_or_default()),
            alignment: info.alignment,
            slots: info.slots,
            exclusive: info.exclusive || coupled_apart || self.view.apart.is_alone(site),
            ..Buffer::new(self.names[site].as_str(), 0, lifetime)
        };
        buffer.share_names(Some(self.shared.pipe(users.class())), users.home.map(|op| self.shared.home(self.view, op)));
        buffer
    }

    /// The step of an op: its position in the function.
    fn step(&self, op: OpId) -> u64 {
        let begin = self.view.tree.function_range(self.function).map_or(0, |(first, _)| first.index());
        (op.index() as u64).saturating_sub(begin as u64)
    }

    /// The steps at which a buffer is in use. A temporary buffer that no op touches is in use from the first to the
    /// last op that is given it if `counts_idle` is true; otherwise it is never in use. A buffer that is never in use
    /// has an empty lifetime and needs no bytes.
    ///
    /// A life that is no range of ops is `Unused` here: `self.sites` has no buffer with an `Untraceable` one.
    fn lifetime(&self, site: SiteId, counts_idle: bool) -> Lifetime {
        let range = match self.view.lifetimes.life(site) {
            Life::Range { first, last } => Some((first, last)),
            _ => self.idle.get(&site).copied().filter(|_| counts_idle),
        };
        range.map(|(first, last)| Interval::new(self.step(first), self.step(last) + 1)).into_iter().collect()
    }
}

/// What is left of a stretch of steps if another one is cut out of it: up to two stretches.
fn without(part: (u64, u64), cut: (u64, u64)) -> impl Iterator<Item = (u64, u64)> {
    let before = (part.0, part.1.min(cut.0));
    let after = (part.0.max(cut.1), part.1);
    [before, after].into_iter().filter(|part| part.0 < part.1)
}

/// Temporary buffers that ops are given and do not touch, with the first and the last of these ops. An op on integers
/// of 64 bits has no vector instruction. It runs as a loop over single numbers and leaves its `temp_buffer(…)` alone
/// (`leaves_temporaries_alone`).
pub(super) fn idle_temporaries(view: &KernelView) -> HashMap<SiteId, (OpId, OpId)> {
    let mut idle: HashMap<SiteId, (OpId, OpId)> = HashMap::new();
    for (op, &written) in view.lowered.ops.iter_enumerated() {
        if !view.document.leaves_temporaries_alone(written) {
            continue;
        }
        let range = view.document.select(written, &Selector::Group("temp_buffer".into()));
        for &value in &view.document.operands(written)[range] {
            for &site in view.sites_of(value) {
                // The first op that is given the buffer stays; the last one is replaced each time.
                idle.entry(site).or_insert((op, op)).1 = op;
            }
        }
    }
    idle
}

/// A memory of the device as a space.
fn space(scope: &Scope) -> Space {
    Space {
        capacity: scope.capacity.map(Bytes),
        alignment: Bytes(scope.alignment.max(1)),
        ..Space::new(scope.name.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::without;

    #[test]
    fn what_is_left_of_a_stretch() {
        let left = |cut: (u64, u64)| without((10, 20), cut).collect::<Vec<_>>();
        assert_eq!(left((0, 10)), [(10, 20)]);
        assert_eq!(left((0, 12)), [(12, 20)]);
        assert_eq!(left((12, 15)), [(10, 12), (15, 20)]);
        assert_eq!(left((15, 30)), [(10, 15)]);
        assert_eq!(left((10, 20)), []);
    }
}
