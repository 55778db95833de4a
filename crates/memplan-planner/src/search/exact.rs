//! The exact search: a plan within a capacity, or the proof that there is none.
//!
//! If there is a plan, there is one in which no item can sink: every offset is 0 or the end
//! of an item below it (rounded up to the alignment). The search builds such a plan from the
//! bottom. At a node some items are placed; `at` is the offset that each of the others would
//! get on top of them, and the lowest of these offsets is the *floor*. Every item still to be
//! placed starts at the floor or above. Now take a *point*: one section, at the height of the
//! floor. Either an item that covers the point starts exactly there, or the point stays empty:
//!
//! ```text
//!   4 |                    Placed: a and b. The floor is 2, where c, d and e would lie.
//!   3 |      c?d?          In the second section: c, or d, or nothing.
//!   2 | e?   c?d?          In the first:          e, or nothing.
//!   1 | aaaaabbbbbbb
//!   0 +-------------
//! ```
//!
//! These choices exclude each other and nothing else is possible, so the search may decide the
//! points in any order. It decides the section with the fewest choices first (or by another
//! [`Pick`](super::rank::Pick)): a single choice is no decision at all, and with two choices a
//! mistake is found out soon. If a point is left empty, the items that cover it are *barred*
//! from the floor: each of them must lie on an item that is still to be placed.
//!
//! What cuts the tree:
//!
//! - *Section tops*. The *load* of a section is the sum of the heights of its items that are
//!   still to be placed. The lowest of these items must start at or below capacity − load
//!   (`top`), or they do not fit on each other. If no item of a section can start that low,
//!   the node has no plan.
//! - *Forced items*. If exactly one item of a section can start at or below `top`, it has to,
//!   and that limits it in all of its other sections as well. An item that meets it in some
//!   section and can no longer end below it must lie above it. This raises the lowest offset
//!   that the other item can get (`early`), which may force further items.
//! - *Dominance*. Suppose an item was barred at offset h, and the floor has since risen above
//!   the end that the item would have there. Everything still to be placed starts at the floor
//!   or above, so in every plan of this branch the item can be lowered to h. The search has
//!   tried the plans with the item at h before it barred the item, so the branch is cut.
//! - *Decomposition*. If the items still to be placed fall into parts that have no section in
//!   common, the parts are solved one after the other. If one part has no plan, the node has
//!   none. Each part is ranked anew, because the loads that its items meet have changed since
//!   the last ranking.
//! - *Twins*. Of items that do not differ in anything, only one is tried at a node.
//! - *Stacks*. If two items with the same sections lie directly on each other, only the plan
//!   with the earlier one (in the search's order) below is tried. The two may be swapped: they
//!   take the same room, and no other item gains a place to sink to.
//! - *Focus* (only in the hunt for a plan, not in proofs). When the branch of a candidate fails
//!   in sections that the candidate does not cover, the candidate is not the cause. Then other
//!   candidates that do not cover these sections either are skipped.
//!
//! A *part* is a set of items still to be placed that have no section in common with the others still to be placed. The
//! search works on one part at a time. It begins with all items as the only part of the *root*.
//!
//! All state is in flat arrays ([`State`]). Every change is written to a *trail*, and going back undoes the
//! changes at the trail's end. The cost of a node is the sum of the widths (numbers of sections) of the items in its
//! part.
//!
//! Words from other files: an [`Instance`] has the items; `lo` and `hi` of an item are its first section and one past
//! its last, and `height` is its height in granules. A [`Mark`] is a position in the trails. An [`Order`] says which
//! candidate is tried first, and a [`Height`] is the integer type in which granules are counted.

use memplan_core::Bytes;

use super::instance::Instance;
use super::rank::{Key, Order, Pick};
use super::state::{Height, Mark, State};
use crate::tuning::WIDTHS_PER_UNIT;

/// How a search ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// `Exact::offsets` hold a plan.
    Solved,
    /// There is no plan within the capacity.
    Refuted,
    /// Nothing is known: the node limit was met, the caller stopped the search, or the rule *focus*, which skips
    /// solutions, left nothing to try.
    Open,
}

/// How far a run may go.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limit {
    /// Most nodes.
    pub(crate) nodes: u64,
    /// Most widths that these nodes may look at, so that a run keeps to its share of the work even if its nodes look at
    /// much more than others do.
    pub(crate) widths: u64,
}

impl Limit {
    /// A limit on nodes alone.
    pub(crate) fn nodes(nodes: u64) -> Limit {
        Limit { nodes, widths: u64::MAX }
    }
}

/// Rules that can be switched off to see what they are worth. The module documentation explains each of them; `rerank`
/// is the new ranking after a *decomposition*.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Rules {
    pub(crate) section_tops: bool,
    pub(crate) forced: bool,
    pub(crate) dominance: bool,
    pub(crate) decomposition: bool,
    pub(crate) rerank: bool,
    pub(crate) twins: bool,
    pub(crate) stacks: bool,
    pub(crate) focus: bool,
}

impl Rules {
    /// For proofs: all rules that lose no solution.
    pub(crate) const PROOF: Rules = Rules {
        section_tops: true,
        forced: true,
        dominance: true,
        decomposition: true,
        rerank: true,
        twins: true,
        stacks: true,
        focus: false,
    };
    /// For the hunt for a plan: *focus* skips candidates, so a search without success proves nothing.
    pub(crate) const HUNT: Rules = Rules { focus: true, ..Rules::PROOF };
}

/// Sections that explain a failure: `[lo, hi)`.
#[derive(Clone, Copy, Debug)]
struct Blame {
    lo: u32,
    hi: u32,
}

impl Blame {
    /// No section. It touches nothing, and adding it to another blame changes nothing.
    const NOTHING: Blame = Blame { lo: u32::MAX, hi: 0 };

    fn touches(self, lo: u32, hi: u32) -> bool {
        lo < self.hi && self.lo < hi
    }

    fn add(&mut self, lo: u32, hi: u32) {
        self.lo = self.lo.min(lo);
        self.hi = self.hi.max(hi);
    }
}

/// A choice for a point: an item that starts there, or [`NOTHING`] if the point stays empty. Candidates are tried in
/// their order: the smaller rank first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Candidate {
    rank: u32,
    item: u32,
}

/// Stands for "no item" in place of an item's number.
const NOTHING: u32 = u32::MAX;

/// A part of the items, and how far its candidates have been tried. Pairs of numbers are ranges: first, and one past
/// the last.
struct Frame<H> {
    /// Where the part's items are in [`Exact::arena`], ordered by their first sections.
    items: (u32, u32),
    /// The point that is decided: which item starts in this section, at the height of this floor?
    section: u32,
    floor: H,
    /// Where this part's candidates are in [`Exact::candidates`]. If the point may stay empty, that choice is the last.
    candidates: (u32, u32),
    /// The first of them that has not been tried.
    next_candidate: u32,
    /// The item of the candidate that is being tried; [`NOTHING`] if none is, or if the point is left empty.
    current: u32,
    /// Placing the current item leaves one part or several. They begin here in [`Exact::parts`]; `next_part` counts
    /// those that have been entered.
    parts: u32,
    next_part: u32,
    /// Length of [`Exact::arena`] before the item lists of these parts were added.
    arena: u32,
    /// The state before this part was ranked.
    before: Mark,
    /// The state after ranking, before any candidate was placed: each candidate starts from here.
    start: Mark,
    /// The sections that explain why the candidates so far failed.
    blame: Blame,
    /// Whether candidates that do not touch `blame` are skipped (rule *focus*).
    focused: bool,
}

/// The search on one instance; reusable for many capacities and orders.
pub(crate) struct Exact<'a, H> {
    instance: &'a Instance,
    rules: Rules,
    state: State<H>,
    order: Order,
    /// By item: a random number that the order adds to its weights and breaks ties with. Empty for an order without
    /// noise.
    noise: Vec<u32>,
    /// Item lists of all open parts, one after the other.
    arena: Vec<u32>,
    /// The parts of all open frames, as ranges of the arena; those of the innermost frame are at the end.
    parts: Vec<(u32, u32)>,
    /// The candidates of all open frames; those of the innermost frame are at the end.
    candidates: Vec<Candidate>,
    /// The open frames. The first is the root, which has parts but no candidates; each other one was opened for a part
    /// of the one before it.
    stack: Vec<Frame<H>>,
    /// Scratch memory of [`Exact::rank`].
    ranking: Vec<(Key, u32)>,
    /// Nodes of all runs so far.
    pub(crate) nodes: u64,
    /// Most items that were placed at once in the last run: how near it came.
    pub(crate) deepest: usize,
    /// Per class of twins: the last node (as counted by `expansions`) in which one of them was a candidate.
    seen: Vec<u64>,
    /// Per section: how many candidates cover it. Scratch memory of [`Exact::pick`].
    choices: Vec<u32>,
    /// How often [`Exact::drop_twins`] was called, over all runs: a number for each node.
    expansions: u64,
}

impl<'a, H: Height> Exact<'a, H> {
    /// A search with all rules that keep a proof valid, before its first node.
    pub(crate) fn new(instance: &'a Instance) -> Exact<'a, H> {
        Exact {
            instance,
            rules: Rules::PROOF,
            state: State::new(instance),
            order: super::rank::PLAIN_ORDERS[0],
            noise: Vec::new(),
            arena: Vec::new(),
            parts: Vec::new(),
            candidates: Vec::new(),
            stack: Vec::new(),
            ranking: Vec::new(),
            nodes: 0,
            deepest: 0,
            seen: vec![0; instance.items.len()],
            expansions: 0,
            choices: vec![0; instance.sections],
        }
    }

    /// Offsets in granules, after [`Verdict::Solved`].
    pub(crate) fn offsets(&self) -> Vec<u64> {
        self.state.offset.iter().map(|offset| offset.to_granules()).collect()
    }

    /// What all runs so far have looked at, in widths.
    pub(crate) fn looked_at(&self) -> u64 {
        self.state.looked_at
    }

    /// Units of work that all runs so far have taken.
    pub(crate) fn work(&self) -> u64 {
        self.looked_at() / WIDTHS_PER_UNIT
    }

    /// Searches for a plan within `capacity`, within `limit`. `order` says which items are tried first,
    /// with a number of noise for each item (or an empty list). `should_stop` is asked now and then whether to give up.
    pub(crate) fn run(
        &mut self,
        capacity: Bytes,
        order: (Order, &[u32]),
        rules: Rules,
        limit: Limit,
        should_stop: &dyn Fn() -> bool,
    ) -> Verdict {
        self.deepest = 0;
        if !self.state.reset(self.instance, capacity) {
            return Verdict::Refuted;
        }
        self.rules = rules;
        self.order = order.0;
        self.noise.clear();
        self.noise.extend_from_slice(order.1);
        self.arena.clear();
        self.parts.clear();
        self.candidates.clear();
        self.stack.clear();
        // Items without bytes can have any offset and are left out. The others are one part, sorted by their first
        // section. `split` may cut the part into several at once.
        let items = &self.instance.items;
        self.arena.extend((0..items.len() as u32).filter(|&item| items[item as usize].height > 0));
        self.arena.sort_by_key(|&item| (items[item as usize].lo, item));
        let count = self.arena.len() as u32;
        self.push_frame((0, count));
        self.split(0, count);
        // From here on the limit is where the counters, which count over all runs, may stand at the end.
        let nodes = self.nodes.saturating_add(limit.nodes);
        let widths = self.state.looked_at.saturating_add(limit.widths);
        self.search(Limit { nodes, widths }, should_stop)
    }

    /// Depth-first search with a stack of its own, so that deep trees cannot overflow the call stack. Each round enters
    /// the next part that is open; after a failure [`Exact::try_next`] goes back to the last choice that has an
    /// alternative.
    fn search(&mut self, limit: Limit, should_stop: &dyn Fn() -> bool) -> Verdict {
        loop {
            // When the last part of the root is done, the stack is empty and every item has an offset.
            let Some(frame) = self.stack.last_mut() else { return Verdict::Solved };
            let next = frame.parts + frame.next_part;
            // If all parts that the current candidate has left are solved, this frame is solved and closed. If a part
            // beside it fails later, the frame around both takes another candidate, and this frame is not asked for
            // another plan: it has no section in common with the part that failed, so another plan of it would not
            // help.
            if next as usize == self.parts.len() {
                self.parts.truncate(frame.parts as usize);
                self.stack.pop();
                continue;
            }
            frame.next_part += 1;
            // The parts of the innermost frame are the last ones in the list, so those from `frame.parts` on are its
            // own.
            let siblings = self.parts.len() as u32 - frame.parts;
            let part = self.parts[next as usize];
            // The parts of the root (stack of one frame) have no ranks yet. If the candidate's placement has left one
            // part only (no siblings), that part keeps its ranks.
            let anew = self.stack.len() == 1 || (siblings > 1 && self.rules.rerank);
            if let Err(blame) = self.enter(part, anew) {
                match self.try_next(blame, limit, should_stop) {
                    None => continue,
                    Some(verdict) => return verdict,
                }
            }
        }
    }

    /// Opens a part. A single item is placed at once. For more items a frame with the part's candidates is pushed, and
    /// the answer is `Err` even though nothing has failed yet: the caller then goes to [`Exact::try_next`], which
    /// places the first candidate in the same way as it places the next one after a failure. `anew` asks for a new
    /// ranking.
    fn enter(&mut self, part: (u32, u32), anew: bool) -> Result<(), Blame> {
        // No other item to come meets the only item of a part, so there is nothing to choose.
        if part.1 - part.0 == 1 {
            let item = self.arena[part.0 as usize] as usize;
            return if self.state.place_alone(item) { Ok(()) } else { Err(own_sections(self.instance, item)) };
        }
        // `before` leads back to the state without the new ranks, `start` to the one with them.
        let before = self.state.mark();
        self.push_frame(part);
        if anew {
            self.rank(part);
            // The parts of the root together have all items, ranked for the first time. The rule *stacks* compares
            // these ranks in the whole tree, because later rankings differ from part to part.
            if self.stack.len() == 2 {
                self.state.note_first_ranks(&self.arena[part.0 as usize..part.1 as usize]);
            }
        }
        let start = self.state.mark();
        let first = self.candidates.len() as u32;
        let found = self.expand(part);
        let end = self.candidates.len() as u32;
        if let Some(frame) = self.stack.last_mut() {
            frame.before = before;
            frame.start = start;
            frame.candidates = (first, end);
            frame.next_candidate = first;
        }
        // If `expand` has not refuted the part, the blame is empty, because no candidate has been tried yet.
        Err(found.err().unwrap_or(Blame::NOTHING))
    }

    /// Opens a frame for a part. Its candidates are found later.
    fn push_frame(&mut self, items: (u32, u32)) {
        let mark = self.state.mark();
        let candidates = self.candidates.len() as u32;
        self.stack.push(Frame {
            items,
            section: 0,
            floor: H::ZERO,
            candidates: (candidates, candidates),
            next_candidate: candidates,
            current: NOTHING,
            parts: self.parts.len() as u32,
            next_part: 0,
            arena: self.arena.len() as u32,
            before: mark,
            start: mark,
            blame: Blame::NOTHING,
            focused: false,
        });
    }

    /// Called after a failure in the sections of `blame`, and also for a part that has just been opened (`blame` is
    /// empty then). Goes back to the innermost part on the stack that has an untried candidate, and places that
    /// candidate. `None` if there was such a candidate and the search goes on. Otherwise the verdict on the whole
    /// search: `Refuted` if there is no plan, `Open` if the search ends without knowing.
    fn try_next(&mut self, mut blame: Blame, limit: Limit, should_stop: &dyn Fn() -> bool) -> Option<Verdict> {
        loop {
            if self.stack.len() == 1 {
                // Only the frame of the root is left, which has no candidates: everything below it has failed. That is
                // no proof if the rule *focus* is on, which skips candidates.
                return Some(if self.rules.focus { Verdict::Open } else { Verdict::Refuted });
            }
            // `should_stop` looks at the clock, so it is asked every 64 nodes only.
            let is_spent = self.nodes >= limit.nodes || self.state.looked_at >= limit.widths;
            if is_spent || (self.nodes.is_multiple_of(64) && should_stop()) {
                return Some(Verdict::Open);
            }
            // `deepest` is how many items were placed at most. The failure is added to the blame of the innermost part,
            // and the state goes back to where that part was opened.
            self.deepest = self.deepest.max(self.state.depth());
            self.absorb(blame);
            self.rewind();
            match self.next_candidate() {
                Some(item) => {
                    self.nodes += 1;
                    self.branch(item);
                    return None;
                }
                None => {
                    // All candidates of the innermost part have failed. The part is closed, and the sections that
                    // explain its failures become the blame of the part around it.
                    let frame = self.stack.pop()?;
                    self.candidates.truncate(frame.candidates.0 as usize);
                    self.state.undo(frame.before);
                    blame = frame.blame;
                }
            }
        }
    }

    /// The branch of the current candidate has failed in the sections of `blame`. These sections are added to the blame
    /// of the innermost part, because they explain why that part fails if all of its candidates fail.
    fn absorb(&mut self, blame: Blame) {
        let Some(frame) = self.stack.last_mut() else { return };
        frame.blame.add(blame.lo, blame.hi);
        // If no candidate has been tried yet, or if the point stayed empty, `current` is `NOTHING`, which is no item.
        let Some(item) = self.instance.items.get(frame.current as usize) else { return };
        // If the candidate covers one of the blamed sections, it may be a cause of the failure, and its own sections
        // belong to the explanation. If not, candidates that do not cover them either would fail in the same way (rule
        // *focus*).
        if blame.touches(item.lo, item.hi) {
            frame.blame.add(item.lo, item.hi);
        } else {
            frame.focused = self.rules.focus;
        }
    }

    /// Back to the state in which the innermost part was expanded.
    fn rewind(&mut self) {
        let Some(frame) = self.stack.last() else { return };
        self.arena.truncate(frame.arena as usize);
        self.parts.truncate(frame.parts as usize);
        self.candidates.truncate(frame.candidates.1 as usize);
        self.state.undo(frame.start);
    }

    /// The next candidate to try at this node, an item or [`NOTHING`]; `None` if there is none left. In a focused
    /// frame, candidates outside of the sections that explain the failures so far are skipped.
    fn next_candidate(&mut self) -> Option<u32> {
        let frame = self.stack.last_mut()?;
        while frame.next_candidate < frame.candidates.1 {
            let candidate = self.candidates[frame.next_candidate as usize];
            frame.next_candidate += 1;
            // The choice to leave the point empty is no item of the instance. It concerns the point's own section.
            let item = self.instance.items.get(candidate.item as usize);
            let (lo, hi) = item.map_or((frame.section, frame.section + 1), |item| (item.lo, item.hi));
            if !frame.focused || frame.blame.touches(lo, hi) {
                return Some(candidate.item);
            }
        }
        None
    }

    /// Places an item at the part's point, or leaves the point empty, and splits the items that are left into parts.
    /// The list of these items goes to the end of the arena, so that going back only has to cut the arena.
    fn branch(&mut self, item: u32) {
        let Some(frame) = self.stack.last_mut() else { return };
        frame.current = item;
        frame.next_part = 0;
        let (section, floor) = (frame.section, frame.floor);
        let (first, end) = (frame.items.0 as usize, frame.items.1 as usize);
        // All items but the placed one, in their old order. If the point stays empty, `item` is not in the list, so the
        // first range is the whole list; `min` makes the second range empty instead of invalid.
        let start = self.arena.len();
        let before = self.arena[first..end].iter().take_while(|&&other| other != item).count();
        self.arena.extend_from_within(first..first + before);
        self.arena.extend_from_within((first + before + 1).min(end)..end);
        if item == NOTHING {
            self.state.leave_empty(&self.arena[start..], section, floor);
        } else {
            self.state.place(item as usize, floor, &self.arena[start..]);
        }
        self.split(start as u32, self.arena.len() as u32);
    }

    /// Cuts the list of items in `arena[first..end]` between two neighbouring sections wherever no item covers both
    /// sections, and adds the resulting parts to [`Exact::parts`].
    fn split(&mut self, first: u32, end: u32) {
        let mut begin = first;
        let mut reach = 0;
        for position in first..end {
            // `reach` is one past the last section of all items before this one in the list. An item with pauses counts
            // from its first section to its last. Items are ordered by their first section. If this item begins at
            // `reach` or after it, so do all that follow, and no item before the cut meets an item after it.
            let item = &self.instance.items[self.arena[position as usize] as usize];
            if position > begin && item.lo >= reach && self.rules.decomposition {
                self.parts.push((begin, position));
                begin = position;
            }
            reach = reach.max(item.hi);
        }
        if begin < end {
            self.parts.push((begin, end));
        }
    }

    /// Numbers the items of a part in the order in which they are to be tried.
    fn rank(&mut self, (first, end): (u32, u32)) {
        self.ranking.clear();
        for &item in &self.arena[first as usize..end as usize] {
            let index = item as usize;
            let noise = self.noise.get(index).copied().unwrap_or(0);
            // The traits are the load that the item meets, its width and its height; the order weighs them.
            let key = self.order.key(self.state.traits(index), noise);
            self.ranking.push((key, item));
        }
        self.ranking.sort_unstable();
        for (rank, &(_, item)) in self.ranking.iter().enumerate() {
            self.state.set_rank(item, rank as u32);
        }
    }

    /// Picks the point to decide in a part and finds its candidates. If the rules show that the part has no plan, the
    /// error says which sections explain it.
    fn expand(&mut self, part: (u32, u32)) -> Result<(), Blame> {
        let items = &self.arena[part.0 as usize..part.1 as usize];
        self.state.set_early(items, self.rules.stacks).map_err(|item| own_sections(self.instance, item))?;
        if self.rules.section_tops {
            let inferred = self.state.infer(items, self.rules.forced);
            inferred.map_err(|section| self.sections_behind(part, section))?;
        }
        // The floor is the lowest offset that an item without a bar can get. If a barred item would end at or below the
        // floor, every plan from here can be lowered to one that was tried before the item was barred (*dominance*).
        // Only a barred item can end that low: all others start at the floor or above. If no item is open, the floor
        // is `MAX`, and the part has no plan.
        let items = &self.arena[part.0 as usize..part.1 as usize];
        let floor = self.state.lowest_open(items);
        let is_dominated = self.rules.dominance && self.state.lowest_end(items) <= floor;
        if floor == H::MAX || is_dominated {
            return Err(self.all_sections(part));
        }
        // The items that can start at the floor.
        let first = self.candidates.len();
        for &item in items {
            let index = item as usize;
            if self.state.early[index] == floor && self.state.is_open(index) {
                self.candidates.push(Candidate { rank: self.state.rank[index], item });
            }
        }
        // Of all candidates only those that cover one section are tried here. The others stay for later nodes.
        let Some(section) = self.pick(first, floor) else { return Err(self.all_sections(part)) };
        self.keep_candidates(first, section, floor);
        if let Some(frame) = self.stack.last_mut() {
            (frame.section, frame.floor) = (section, floor);
        }
        Ok(())
    }

    /// The section whose point is decided next: the most urgent one, in the sense of [`Pick`], that the candidates from
    /// position `first` on cover. `None` if there are no candidates.
    fn pick(&mut self, first: usize, floor: H) -> Option<u32> {
        // The sections of all candidates come into question, or only those of the candidate that ranks first.
        let candidates = match self.order.pick {
            Pick::FirstItem => {
                let best = self.candidates[first..].iter().min()?;
                std::slice::from_ref(best)
            }
            _ => &self.candidates[first..],
        };
        // Only the sections between the first start and the last end of the candidates are cleared and looked at: a
        // node of a small part must not cost as much as the whole instance.
        let sections = candidates.iter().map(|candidate| &self.instance.items[candidate.item as usize]);
        let (lo, hi) = sections.fold((u32::MAX, 0), |(lo, hi), item| (lo.min(item.lo), hi.max(item.hi)));
        // Without candidates `lo` is above `hi`; `min` makes that an empty range.
        let (lo, hi) = (lo.min(hi) as usize, hi as usize);
        self.choices[lo..hi].fill(0);
        for candidate in candidates {
            self.state.count(candidate.item as usize, &mut self.choices);
        }
        let covered = (lo..hi).filter(|&section| self.choices[section] > 0);
        Some(covered.min_by_key(|&section| self.urgency(section, floor))? as u32)
    }

    /// How urgent it is to decide the point of a section. The section with the smallest pair is decided next.
    fn urgency(&self, section: usize, floor: H) -> (u64, u64) {
        let (slack, fillers) = (self.state.slack(section, floor), self.state.fillers(section));
        self.order.pick.urgency(section, u64::from(self.choices[section]), slack, fillers)
    }

    /// Of the candidates from position `first` on, keeps those that cover `section`, sorted by rank, and adds the
    /// choice to leave the point empty if that is possible.
    fn keep_candidates(&mut self, first: usize, section: u32, floor: H) {
        let mut kept = first;
        let mut is_fixed = false;
        for position in first..self.candidates.len() {
            let candidate = self.candidates[position];
            if self.state.covers(candidate.item as usize, section) {
                is_fixed |= self.state.is_fixed(candidate.item as usize);
                self.candidates[kept] = candidate;
                kept += 1;
            }
        }
        self.candidates.truncate(kept);
        self.candidates[first..].sort_unstable();
        if self.rules.twins {
            self.drop_twins(first);
        }
        // The point can stay empty only if the section has slack, so that the items to come still fit above it. If a
        // candidate has a fixed offset, which is this point, leaving the point empty leads to no plan.
        let may_be_empty = !self.rules.section_tops || self.state.has_slack(section, floor);
        if may_be_empty && !is_fixed {
            self.candidates.push(Candidate { rank: u32::MAX, item: NOTHING });
        }
    }

    /// Of the candidates from position `first` on that are alike, keeps only the first one.
    fn drop_twins(&mut self, first: usize) {
        // `seen` holds, for each class of twins, the number of the last node that had one. So the table need not be
        // cleared for every node.
        self.expansions += 1;
        let mut kept = first;
        for position in first..self.candidates.len() {
            let candidate = self.candidates[position];
            // `twin` has the class of each item: items of one class do not differ.
            let seen = &mut self.seen[self.state.twin[candidate.item as usize] as usize];
            if *seen != self.expansions {
                *seen = self.expansions;
                self.candidates[kept] = candidate;
                kept += 1;
            }
        }
        self.candidates.truncate(kept);
    }

    /// The blame when nothing more precise is known: all sections of the part.
    fn all_sections(&self, (first, end): (u32, u32)) -> Blame {
        let mut blame = Blame::NOTHING;
        for &item in &self.arena[first as usize..end as usize] {
            let item = &self.instance.items[item as usize];
            blame.add(item.lo, item.hi);
        }
        blame
    }

    /// The blame when one section cannot be filled: the sections of all items that are still to be placed in it.
    fn sections_behind(&self, (first, end): (u32, u32), section: u32) -> Blame {
        let mut blame = Blame { lo: section, hi: section + 1 };
        for &item in &self.arena[first as usize..end as usize] {
            let item = &self.instance.items[item as usize];
            if item.lo <= section && section < item.hi {
                blame.add(item.lo, item.hi);
            }
        }
        blame
    }
}

/// The blame when one item cannot be placed: the item's sections.
fn own_sections(instance: &Instance, item: usize) -> Blame {
    let item = &instance.items[item];
    Blame { lo: item.lo, hi: item.hi }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::search::instance::{Slab, Stretch};
    use crate::search::random::Random;
    use crate::search::rank::PLAIN_ORDERS;

    /// A rectangle of time and bytes cut into pieces at random: it can be put
    /// together again, but only without any waste.
    fn jigsaw(pieces: usize, seed: u64) -> Vec<Slab> {
        let mut random = Random::new(seed);
        let mut parts = vec![(0, 24, 64)];
        while parts.len() < pieces {
            let index = random.below(parts.len() as u64) as usize;
            let (start, end, height) = parts[index];
            if random.below(2) == 0 && end - start > 1 {
                let middle = start + 1 + random.below(end - start - 1);
                parts[index] = (start, middle, height);
                parts.push((middle, end, height));
            } else if height > 1 {
                let low = 1 + random.below(height - 1);
                parts[index] = (start, end, low);
                parts.push((start, end, height - low));
            }
        }
        let slab = |(start, end, height)| Slab {
            stretches: vec![Stretch { start, end, height }],
            size: height,
            alignment: 1,
            fixed: None,
        };
        parts.into_iter().map(slab).collect()
    }

    /// Rectangles and alignments at random, which leave gaps.
    fn heap(pieces: u64, seed: u64) -> Vec<Slab> {
        let mut random = Random::new(seed);
        let mut slab = || {
            let (start, height) = (random.below(12), 1 + random.below(20));
            let end = start + 1 + random.below(6);
            let alignment = 1 << random.below(4);
            Slab { stretches: vec![Stretch { start, end, height }], size: height, alignment, fixed: None }
        };
        (0..pieces).map(|_| slab()).collect()
    }

    /// A heap in which everything is there twice.
    fn doubles(pieces: u64, seed: u64) -> Vec<Slab> {
        heap(pieces, seed).into_iter().flat_map(|slab| [slab.clone(), slab]).collect()
    }

    /// Nodes to put jigsaws together, and to pack heaps as low as possible.
    fn nodes(rules: Rules) -> u64 {
        let mut sum = 0;
        let mut count = |slabs: &[Slab]| {
            let instance = Instance::new(slabs, &[]).unwrap();
            let mut search = Exact::<i32>::new(&instance);
            let mut capacity = instance.lower_bound();
            while search.run(capacity, (PLAIN_ORDERS[1], &[]), rules, Limit::nodes(5000), &|| false) != Verdict::Solved
            {
                capacity.0 += 1;
            }
            sum += search.nodes;
        };
        for seed in 0..12 {
            count(&jigsaw(26, seed));
            count(&heap(12, seed));
            count(&doubles(7, seed));
        }
        sum
    }

    #[test]
    fn every_rule_saves_nodes() {
        let all = nodes(Rules::PROOF);
        let without = [
            ("section tops", Rules { section_tops: false, ..Rules::PROOF }),
            ("forced items", Rules { forced: false, ..Rules::PROOF }),
            ("dominance", Rules { dominance: false, ..Rules::PROOF }),
            ("decomposition", Rules { decomposition: false, ..Rules::PROOF }),
            ("twins", Rules { twins: false, ..Rules::PROOF }),
            ("stacks", Rules { stacks: false, ..Rules::PROOF }),
        ];
        let more = without.map(|(name, rules)| (name, nodes(rules)));
        assert!(more.iter().all(|(_, more)| *more > all), "with all rules {all}, without: {more:?}");
        assert_eq!(all, 38845, "deterministic; a change of a rule changes it");
    }

    /// With few choices a mistake is found out soon.
    #[test]
    fn fewest_choices_first_saves_nodes() {
        let nodes = |pick: Pick| {
            let mut sum = 0;
            for seed in 0..20 {
                let instance = Instance::new(&jigsaw(120, seed), &[]).unwrap();
                let mut search = Exact::<i16>::new(&instance);
                let order = Order { pick, ..PLAIN_ORDERS[0] };
                search.run(instance.lower_bound(), (order, &[]), Rules::HUNT, Limit::nodes(3000), &|| false);
                sum += search.nodes;
            }
            sum
        };
        let picks = [Pick::FewestTightest, Pick::FewestFirst, Pick::Tightest, Pick::First];
        let [fewest, fewest_first, tightest, first] = picks.map(nodes);
        assert!(fewest < tightest && fewest < first, "{fewest}, {fewest_first}, {tightest}, {first}");
    }

    #[test]
    fn no_rule_loses_a_smallest_plan() {
        let bare = Rules { forced: false, dominance: false, twins: false, stacks: false, ..Rules::PROOF };
        for seed in 0..40 {
            let slabs = if seed % 2 == 0 { doubles(4, seed) } else { heap(8, seed) };
            let instance = Instance::new(&slabs, &[]).unwrap();
            let least = |rules: Rules| {
                let mut search = Exact::<i32>::new(&instance);
                let mut capacity = instance.lower_bound();
                loop {
                    match search.run(capacity, (PLAIN_ORDERS[0], &[]), rules, Limit::nodes(2_000_000), &|| false) {
                        Verdict::Solved => return capacity,
                        Verdict::Refuted => capacity.0 += 1,
                        Verdict::Open => panic!("too hard"),
                    }
                }
            };
            assert_eq!(least(Rules::PROOF), least(bare), "seed {seed}");
        }
    }

    /// Slabs with everything an instance can have: alignments, pauses, changing heights, fixed offsets, bytes that are
    /// never alive.
    fn motley(pieces: u64, seed: u64) -> Vec<Slab> {
        let mut random = Random::new(seed);
        let mut slab = || {
            let mut start = random.below(6);
            let mut stretches = Vec::new();
            for _ in 0..1 + random.below(4) / 2 {
                let end = start + 1 + random.below(4);
                stretches.push(Stretch { start, end, height: 1 + random.below(9) });
                start = end + 1 + random.below(3);
            }
            let highest = stretches.iter().map(|stretch| stretch.height).max().unwrap_or(0);
            let size = highest + if random.below(3) == 0 { 1 + random.below(5) } else { 0 };
            let alignment = 1 << random.below(3);
            let fixed = (random.below(8) == 0).then(|| random.below(6) * alignment);
            Slab { stretches, size, alignment, fixed }
        };
        (0..pieces).map(|_| slab()).collect()
    }

    /// The smallest extent by trying all sequences: each slab on the highest of the earlier ones it meets.
    fn smallest_by_sequences(slabs: &[Slab], placed: &mut Vec<(usize, u64)>, best: &mut Option<u64>) {
        let end = |&(slab, offset): &(usize, u64)| offset + slabs[slab].size;
        let extent = placed.iter().map(end).max().unwrap_or(0);
        if best.is_some_and(|best| extent >= best) {
            return;
        }
        if placed.len() == slabs.len() {
            *best = Some(extent);
            return;
        }
        for (number, slab) in slabs.iter().enumerate() {
            if placed.iter().any(|&(other, _)| other == number) {
                continue;
            }
            let under = placed.iter().flat_map(|&(other, offset)| {
                slabs[other].stretches.iter().map(move |stretch| (stretch, offset + stretch.height))
            });
            let meets = |a: &Stretch, b: &Stretch| a.start < b.end && b.start < a.end;
            let met = under.filter(|(stretch, _)| slab.stretches.iter().any(|mine| meets(mine, stretch)));
            let at = met.map(|(_, end)| end).max().unwrap_or(0).next_multiple_of(slab.alignment);
            if slab.fixed.is_none_or(|fixed| at <= fixed) {
                placed.push((number, slab.fixed.unwrap_or(at)));
                smallest_by_sequences(slabs, placed, best);
                placed.pop();
            }
        }
    }

    #[test]
    fn as_small_as_the_best_of_all_sequences() {
        for seed in 0..1500 {
            let slabs = if seed % 4 == 0 { doubles(3, seed) } else { motley(6, seed) };
            let mut best = None;
            smallest_by_sequences(&slabs, &mut Vec::new(), &mut best);
            let instance = Instance::new(&slabs, &[]).unwrap();
            for order in [PLAIN_ORDERS[seed as usize % PLAIN_ORDERS.len()], PLAIN_ORDERS[0]] {
                let mut search = Exact::<i32>::new(&instance);
                let mut run = |capacity| {
                    search.run(Bytes(capacity), (order, &[]), Rules::PROOF, Limit::nodes(u64::MAX), &|| false)
                };
                match best {
                    None => assert_eq!(run(1000), Verdict::Refuted, "seed {seed}"),
                    Some(best) => {
                        assert_eq!(run(best), Verdict::Solved, "seed {seed}: {best} is possible");
                        assert_eq!(run(best - 1), Verdict::Refuted, "seed {seed}: less than {best} is not");
                        // Whatever smaller extent is refuted, what that says about larger ones must be true.
                        let refuted = (best - 1).saturating_sub(seed % 3);
                        assert!(instance.next_extent(Bytes(refuted)) <= Bytes(best), "seed {seed}: {best} is possible");
                        assert!(instance.enough() >= Bytes(best), "seed {seed}: there is a plan of {best}");
                    }
                }
            }
        }
    }

    /// These two only say what to try first.
    #[test]
    fn focus_and_ranking_anew_save_nodes_when_hunting() {
        let nodes = |rules: Rules| {
            let mut sum = 0;
            for seed in 0..20 {
                let instance = Instance::new(&jigsaw(300, seed), &[]).unwrap();
                let mut search = Exact::<i16>::new(&instance);
                let capacity = instance.lower_bound();
                search.run(capacity, (PLAIN_ORDERS[1], &[]), rules, Limit::nodes(3000), &|| false);
                sum += search.nodes;
            }
            sum
        };
        let (hunt, proof) = (nodes(Rules::HUNT), nodes(Rules::PROOF));
        let never = nodes(Rules { rerank: false, ..Rules::HUNT });
        assert!(hunt < proof && hunt < never, "{hunt} nodes, {proof} without focus, {never} without ranking anew");
    }

    #[test]
    fn a_refutation_needs_no_luck() {
        // Three of height 2 that meet pairwise at different times cannot share 4 bytes
        // with a fourth that meets them all.
        let slab = |start, end, height| Slab {
            stretches: vec![Stretch { start, end, height }],
            size: height,
            alignment: 1,
            fixed: None,
        };
        let slabs = [slab(0, 2, 2), slab(1, 3, 2), slab(2, 4, 2), slab(0, 4, 1)];
        let instance = Instance::new(&slabs, &[]).unwrap();
        let mut search = Exact::<i64>::new(&instance);
        assert_eq!(
            search.run(Bytes(4), (PLAIN_ORDERS[0], &[]), Rules::PROOF, Limit::nodes(1000), &|| false),
            Verdict::Refuted
        );
        assert_eq!(
            search.run(Bytes(5), (PLAIN_ORDERS[0], &[]), Rules::PROOF, Limit::nodes(1000), &|| false),
            Verdict::Solved
        );
        assert_eq!(instance.extent(&search.offsets()), Bytes(5));
    }
}
