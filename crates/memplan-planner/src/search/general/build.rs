//! From pieces to choices: makes a [`Model`] of one space.
//!
//! A *part* is a piece in this space. Pair by pair of parts: first the buffers that never share bytes, then those that
//! are alive together, each with the ways in which an overlay excuses them. Then the *cliques*, sets of byte ranges of
//! parts (*jobs*) that exclude each other, and the inequalities that say which of several equal plans is meant.
//! Quadratic in the number of pieces.
//!
//! Most rules between two parts `one` and `other` forbid a range of the difference d = offset of `other` − offset of
//! `one`. Bytes `a.low..a.high` of `one` and `b.low..b.high` of `other` (both counted from their part's offset) have a
//! byte in common if a.low − b.high < d < a.high − b.low:
//!
//! ```text
//!   bytes 0..4 of one, bytes 0..3 of other: forbidden is −3 < d < 4
//!   choice: one ≥ other + 3 (d ≤ −3: other lies below), or other ≥ one + 4 (d ≥ 4: other lies above)
//! ```
//!
//! Two buffers that are alive together may have bytes in common all the same, if one of them has lost these bytes to a
//! *taker*: the newcomer of an overlay, which has started on bytes of its victim. The taker may be the other buffer
//! itself, or third buffers (*helpers*) that have taken over the common bytes before:
//!
//! ```text
//!   address
//!     1 | vvvvvvvvv      v is alive in 0..9. t, which may overlay v, takes over its lower byte at 4 and is dead at 6.
//!     0 | vvvvtt.xx      So x, which starts at 7, may lie on that byte although v is still alive.
//!       +-0---4--7--► time
//! ```
//!
//! Words from other files: a [`Part`] has the range of its offsets; a [`Least`] says that one offset is at least so
//! much above another, a [`Conjunction`] is a list of these that hold together, and a [`Choice`] is a list of
//! conjunctions of which one has to hold. [`Orders`] knows which buffers must not share and which are ordered.
//! [`reserved`] is the number of bytes that one slot of a buffer takes.

use memplan_core::{BufferId, Id, OverlayKind, Problem, SpaceId, Step};

use super::model::{Choice, Conjunction, Job, Least, Model, Part, gcd, round_down, round_up};
use super::order::Orders;
use super::symmetry::symmetries;
use crate::piece::{PieceId, Pieces, reserved};
use crate::tuning::{MOST_GENERAL_JOBS, MOST_TAKERS};

/// Sums of sizes, alignments and offsets stay below this, so that they need not be checked for overflow.
const HIGHEST: i64 = 1 << 60;

/// `(from, to)`: differences of two offsets (in bytes) strictly between these two numbers are forbidden.
type Forbidden = (i64, i64);

/// An overlay that a plan can use: `buffer` may start on bytes of `over` at the step `start`. From that step on, `over`
/// does not need the bytes on which `buffer` lies.
#[derive(Clone, Copy, Debug)]
struct Taker {
    buffer: BufferId,
    over: BufferId,
    start: Step,
    kind: OverlayKind,
}

/// A stretch of a buffer's life in a part: the bytes `low..high`, counted from the part's offset, are in use from
/// `start` to `end`.
#[derive(Clone, Copy, Debug)]
struct Stretch {
    buffer: BufferId,
    start: Step,
    end: Step,
    low: i64,
    high: i64,
}

/// All bytes of a buffer in a part, counted from the part's offset, whenever it is alive (its *footprint*).
#[derive(Clone, Copy, Debug)]
struct Bytes {
    buffer: BufferId,
    low: i64,
    high: i64,
}

/// What has to be known about a part to relate it to others: which slot of its buffers it is, and their bytes.
struct Detail {
    slot: u32,
    stretches: Vec<Stretch>,
    footprints: Vec<Bytes>,
}

/// See the module documentation.
pub(super) struct Builder<'a, 'p> {
    pieces: &'a Pieces<'p>,
    problem: &'p Problem,
    orders: &'a Orders<'a>,
    parts: Vec<Part>,
    details: Vec<Detail>,
    takers: Vec<Taker>,
    /// Every offset is a multiple of this: the greatest common divisor of all alignments.
    granule: i64,
    choices: Vec<Choice>,
    /// For each pair of parts `one` < `other`, at `[one][other - one - 1]`: the differences of their offsets that the
    /// rules without exceptions forbid.
    forbidden: Vec<Vec<Vec<Forbidden>>>,
    /// An extent within which there is a plan if there is any.
    enough: i64,
}

impl<'a, 'p> Builder<'a, 'p> {
    /// Collects the parts of one space. `None` if there are too many to compare pair by pair, if a piece cannot be in
    /// the space, or if numbers could overflow.
    pub(super) fn new(
        pieces: &'a Pieces<'p>,
        orders: &'a Orders<'a>,
        space: SpaceId,
        here: &[PieceId],
    ) -> Option<Builder<'a, 'p>> {
        let problem = pieces.problem();
        let mut builder = Builder {
            pieces,
            problem,
            orders,
            parts: Vec::with_capacity(here.len()),
            details: Vec::with_capacity(here.len()),
            takers: Vec::new(),
            granule: 0,
            choices: Vec::new(),
            forbidden: Vec::new(),
            enough: 0,
        };
        for &piece in here {
            builder.add_part(piece, space)?;
        }
        // A piece may be a group of many buffers, and every stretch of each of them is compared with all others.
        let jobs = builder.details.iter().map(|detail| detail.stretches.len() + detail.footprints.len());
        if jobs.sum::<usize>() > MOST_GENERAL_JOBS {
            return None;
        }
        // `enough`: all parts on top of each other, each padded to its alignment. The absolute value of `lowest` counts
        // because it is the offset of a fixed part, or the negative offset that a block may have.
        let padded = builder.parts.iter().flat_map(|part| [part.size, part.alignment, part.lowest.abs()]);
        let enough = padded.map(i128::from).sum::<i128>();
        builder.enough = i64::try_from(enough).ok().filter(|&enough| enough < HIGHEST)?;
        builder.granule = builder.parts.iter().map(|part| part.alignment).fold(0, gcd).max(1);
        builder.find_takers(here);
        Some(builder)
    }

    /// Adds a piece to the model with the range of its offsets; `None` if it cannot be in the space or a number is too
    /// large.
    fn add_part(&mut self, piece: PieceId, space: SpaceId) -> Option<()> {
        let info = self.pieces.get(piece);
        let alignment = self.pieces.homes(piece).iter().find(|home| home.space == space)?.alignment;
        let alignment = i64::try_from(alignment).ok().filter(|&alignment| alignment < HIGHEST);
        let size = i64::try_from(info.size).ok()?;
        // If no member of a block lies at distance 0, the block itself may start below the space, as long as its lowest
        // member does not.
        let room_below = self.pieces.members(piece).map(|(_, at)| at.0).min().unwrap_or(0);
        let room_below = i64::try_from(room_below).ok()?;
        let fixed = info.fixed.map(i64::try_from).transpose().ok()?;
        let (lowest, highest) = match (fixed, alignment) {
            (Some(fixed), _) => (fixed, fixed),
            (None, Some(alignment)) => (-(room_below / alignment * alignment), HIGHEST),
            // An alignment of `HIGHEST` or more is above every offset that a plan has here. So 0 is the only multiple.
            (None, None) => (0, 0),
        };
        self.parts.push(Part { piece, size, alignment: alignment.unwrap_or(1), lowest, highest });
        self.details.push(self.detail(piece));
        Some(())
    }

    /// The stretches of life of all buffers of a piece, each with the bytes in use, and the footprint (all bytes) of
    /// each buffer. Bytes are counted from the piece's offset. A stretch with an empty window is left out.
    fn detail(&self, piece: PieceId) -> Detail {
        let mut stretches = Vec::new();
        for (id, at) in self.pieces.members(piece) {
            let buffer = &self.problem.buffers()[id];
            for interval in buffer.lifetime.intervals() {
                let bytes = interval.bytes(reserved(buffer));
                if bytes.low < bytes.high {
                    let [low, high] = [bytes.low, bytes.high].map(|byte| (at.0 + byte.0) as i64);
                    stretches.push(Stretch { buffer: id, start: interval.start, end: interval.end, low, high });
                }
            }
        }
        let footprints = self.pieces.footprints(piece);
        let bytes = |print: crate::piece::Footprint| Bytes {
            buffer: print.buffer,
            low: print.low as i64,
            high: print.high as i64,
        };
        Detail { slot: self.pieces.get(piece).slot, stretches, footprints: footprints.map(bytes).collect() }
    }

    /// Finds the overlays that can be used: both buffers are in this space, the victim starts first, and both have the
    /// same number of slots.
    fn find_takers(&mut self, here: &[PieceId]) {
        let is_here = |buffer: BufferId| here.binary_search(&self.pieces.piece_of(buffer)).is_ok();
        for overlay in self.problem.overlays() {
            let (buffer, over) = (overlay.buffer, overlay.over);
            let [newcomer, victim] = [buffer, over].map(|id| &self.problem.buffers()[id]);
            let (Some(start), Some(victim_start)) = (newcomer.lifetime.start(), victim.lifetime.start()) else {
                continue;
            };
            if victim_start < start && newcomer.slots == victim.slots && is_here(buffer) && is_here(over) {
                self.takers.push(Taker { buffer, over, start, kind: overlay.kind });
            }
        }
        // Of two permissions for one pair the more liberal one (any offset) comes first and is kept.
        self.takers.sort_by_key(|taker| (taker.over, taker.buffer, std::cmp::Reverse(taker.kind)));
        self.takers.dedup_by_key(|taker| (taker.over, taker.buffer));
    }

    /// Relates all pairs of parts and makes the model; `None` if a pair has more ways to share than can be searched.
    pub(super) fn build(mut self) -> Option<Model> {
        let count = self.parts.len();
        self.forbidden = vec![Vec::new(); count];
        for one in 0..count {
            self.forbidden[one] = vec![Vec::new(); count - one - 1];
            for other in one + 1..count {
                self.relate(one, other)?;
            }
        }
        let cliques = self.cliques();
        let in_place = self.takers.iter().flat_map(|taker| [taker.buffer, taker.over]);
        let always = symmetries(self.pieces, &self.parts, in_place);
        Some(Model { parts: self.parts, choices: self.choices, always, cliques, enough: self.enough })
    }

    /// Turns the rules between two parts into choices. `None` if two of their buffers have more ways to share bytes
    /// than can be searched.
    fn relate(&mut self, one: usize, other: usize) -> Option<()> {
        // `plain`: rules without exceptions, which forbid a range of differences. `special`: rules with exceptions,
        // each of which becomes a choice with more than two options.
        let mut plain: Vec<Forbidden> = Vec::new();
        let mut special: Vec<Choice> = Vec::new();
        self.relate_bytes(one, other, &mut plain, &mut special);
        self.relate_lives(one, other, &mut plain, &mut special)?;
        // Both offsets are multiples of their alignments, so their difference is a multiple of this.
        let step = gcd(self.parts[one].alignment, self.parts[other].alignment);
        let plain = merge(plain, step);
        for &(below, above) in &plain {
            self.choices.push(Choice { options: apart(one, other, (below, above)) });
        }
        // If the plain rules imply a special choice, the choice would only cost time, so it is left out.
        self.choices.extend(special.into_iter().filter(|choice| !is_implied(choice, one, other, &plain)));
        self.forbidden[one][other - one - 1] = plain;
        Some(())
    }

    /// Adds the rules about whole buffers, whatever their lives: for buffers that never share, and for buffers of which
    /// no order of execution says which one is done first. A rule without exceptions goes to `plain`. If the rule does
    /// not hold for a buffer that is computed in place of the other one, it becomes a choice in `special`: the first
    /// buffer lies below, or above, or as the overlay asks.
    fn relate_bytes(&self, one: usize, other: usize, plain: &mut Vec<Forbidden>, special: &mut Vec<Choice>) {
        for a in &self.details[one].footprints {
            for b in &self.details[other].footprints {
                // If the offset of `other` minus that of `one` lies between these two, the buffers have a common byte.
                let range = (a.low - b.high, a.high - b.low);
                if self.never_share(a.buffer, b.buffer) {
                    plain.push(range);
                } else if !self.orders.is_ordered(a.buffer, b.buffer) {
                    match self.in_place(one, other, a.buffer, b.buffer) {
                        InPlace::No => plain.push(range),
                        InPlace::Anywhere => {}
                        InPlace::If(option) => {
                            let mut options = apart(one, other, range);
                            options.push(option);
                            special.push(Choice { options });
                        }
                    }
                }
            }
        }
    }

    /// Whether two buffers must have no byte in common, whatever their lives and overlays: two slots of one buffer
    /// (`a == b`), an exclusive buffer and any other, or a pair that must not share.
    fn never_share(&self, a: BufferId, b: BufferId) -> bool {
        let buffers = self.problem.buffers();
        a == b || buffers[a].exclusive || buffers[b].exclusive || self.orders.must_not_share(a, b)
    }

    /// Two buffers of which the order of execution is not fixed must not share bytes, unless one is computed in place
    /// of the other. Returns in what positions an overlay between `a` and `b` allows that. An overlay counts only if
    /// all readers of the victim, other than the newcomer, are certainly done when the newcomer starts.
    fn in_place(&self, one: usize, other: usize, a: BufferId, b: BufferId) -> InPlace {
        let permits = |taker: &&Taker| {
            ((taker.buffer, taker.over) == (a, b) || (taker.buffer, taker.over) == (b, a))
                && self.orders.is_ordered_in_place(taker.over, taker.buffer)
        };
        match self.takers.iter().find(permits) {
            None => InPlace::No,
            Some(taker) => self.direct(taker, one, other),
        }
    }

    /// In what positions a taker in one of the two parts may lie on its victim in the other one.
    fn direct(&self, taker: &Taker, one: usize, other: usize) -> InPlace {
        // Each slot of the taker may lie on the slot of the victim with the same number, and on no other.
        if self.details[one].slot != self.details[other].slot {
            return InPlace::No;
        }
        match taker.kind {
            OverlayKind::AnyOffset => InPlace::Anywhere,
            OverlayKind::SameBase => self.same_base(taker).map_or(InPlace::No, InPlace::If),
        }
    }

    /// The inequalities that say that a taker and its victim start at the same offset in all slots. `None` if they
    /// are in one part at different distances, so that they cannot.
    fn same_base(&self, taker: &Taker) -> Option<Conjunction> {
        let mut all = Conjunction::new();
        for slot in 0..self.problem.buffers()[taker.over].slots {
            let [(one, at), (other, other_at)] = [taker.buffer, taker.over].map(|id| self.place(id, slot));
            // Equal means that neither is higher than the other.
            no_higher((one, at), (other, other_at), &mut all)?;
            no_higher((other, other_at), (one, at), &mut all)?;
        }
        Some(all)
    }

    /// The part that holds a slot of a buffer, and where in it the buffer starts.
    fn place(&self, buffer: BufferId, slot: u32) -> (u32, i64) {
        let piece = PieceId::from_index(self.pieces.piece_of(buffer).index() + slot as usize);
        let part = self.parts.partition_point(|part| part.piece < piece);
        let at = self.problem.blocks().place_of(buffer).map_or(0, |(_, at)| at.0);
        (part as u32, at as i64)
    }

    /// Adds the rules about bytes that are in use at the same time to `plain` or `special`. `None` if two buffers have
    /// more ways to share bytes than can be searched.
    fn relate_lives(
        &self,
        one: usize,
        other: usize,
        plain: &mut Vec<Forbidden>,
        special: &mut Vec<Choice>,
    ) -> Option<()> {
        for a in &self.details[one].stretches {
            for b in &self.details[other].stretches {
                // Stretches that never meet, and pairs that another rule keeps apart anyway, need no choice.
                if a.start >= b.end || b.start >= a.end || self.never_share(a.buffer, b.buffer) {
                    continue;
                }
                // If the offset of `other` minus that of `one` lies between these two, the bytes in use overlap.
                let range = (a.low - b.high, a.high - b.low);
                let options = match self.excuses(one, other, a, b)? {
                    Excuses::Always => continue,
                    Excuses::Only(options) => options,
                };
                // Rules without an excuse are merged later; a rule with one becomes a choice of its own.
                if options.is_empty() {
                    plain.push(range);
                } else {
                    special.push(Choice { options: [apart(one, other, range), options].concat() });
                }
            }
        }
        Some(())
    }

    /// The ways in which two stretches may have bytes in common although there is a step at which both are alive: each
    /// way is a conjunction of inequalities (see the module documentation). `None` if there are more than
    /// [`MOST_TAKERS`] helpers.
    ///
    /// Only the first step at which both are alive is looked at. An excuse that holds at that step holds at later
    /// steps, too, because bytes that were taken over stay taken over.
    fn excuses(&self, one: usize, other: usize, a: &Stretch, b: &Stretch) -> Option<Excuses> {
        if self.takers.is_empty() {
            return Some(Excuses::Only(Vec::new()));
        }
        let now = a.start.max(b.start);
        let mut options = Vec::new();
        let mut helpers = Vec::new();
        // Either of the two (the victim) may have lost bytes: to the other one itself (the rival), or to third buffers.
        for (victim, victim_part, rival, rival_part) in [(a, one, b, other), (b, other, a, one)] {
            for taker in self.takers_of(victim.buffer, now) {
                if taker.buffer == rival.buffer {
                    match self.direct(taker, one, other) {
                        InPlace::Anywhere => return Some(Excuses::Always),
                        // No inequality: the two always lie as the overlay asks.
                        InPlace::If(option) if option.is_empty() => return Some(Excuses::Always),
                        InPlace::If(option) => options.push(option),
                        InPlace::No => {}
                    }
                } else if self.can_help(taker, rival, rival_part, now) {
                    helpers.push((*taker, self.details[victim_part].slot));
                }
            }
        }
        // Any of the helpers, in any order from the bottom up, may cover the common bytes together. The number of these
        // chains grows exponentially with the number of helpers.
        if helpers.len() > MOST_TAKERS {
            return None;
        }
        for chain in chains(helpers.len()) {
            let chain: Vec<(Taker, u32)> = chain.into_iter().map(|index| helpers[index]).collect();
            options.extend(self.covered((one as u32, a), (other as u32, b), &chain));
        }
        Some(if options.iter().any(Vec::is_empty) { Excuses::Always } else { Excuses::Only(options) })
    }

    /// The takers of a buffer that have started by a step.
    fn takers_of(&self, victim: BufferId, now: Step) -> impl Iterator<Item = &Taker> {
        self.takers.iter().filter(move |taker| taker.over == victim && taker.start <= now)
    }

    /// Whether a third buffer (the rival) may use bytes at the step `now` that a taker has taken over from its victim.
    /// If the taker is alive with all of its bytes at `now`, and no overlay excuses the taker and the rival, the rule
    /// between these two keeps the rival off the bytes. Then the taker is no helper; leaving it out saves options and
    /// loses no plan.
    fn can_help(&self, taker: &Taker, rival: &Stretch, rival_part: usize, now: Step) -> bool {
        let info = &self.problem.buffers()[taker.buffer];
        let is_whole = |interval: memplan_core::Interval| {
            let bytes = interval.bytes(reserved(info));
            interval.start <= now && now < interval.end && bytes.low.0 == 0 && Some(bytes.high) == info.bytes()
        };
        let is_alive = info.lifetime.intervals().any(is_whole);
        // The taker and the rival may be in one piece, whose members may overlap each other.
        let same_part = self.pieces.first_slot(self.parts[rival_part].piece) == self.pieces.piece_of(taker.buffer);
        let excused = self.takers_of(taker.buffer, now).next().is_some()
            || self.takers_of(rival.buffer, now).next().is_some()
            || same_part;
        !is_alive || excused
    }

    /// The inequalities that say: the bytes that two stretches have in common lie within what a chain of takers, from
    /// bottom to top, covers without a gap. `p` and `q` are the parts of the stretches `a` and `b`; each taker comes
    /// with its slot. There are up to four conjunctions, one of which has to hold, since the lower end of the common
    /// bytes is one of two, and so is the upper one. Empty if it is impossible.
    fn covered(&self, (p, a): (u32, &Stretch), (q, b): (u32, &Stretch), chain: &[(Taker, u32)]) -> Vec<Conjunction> {
        let mut common = Conjunction::new();
        // For each taker its part, and its first byte and one past its last byte in it.
        let mut ranges: Vec<(u32, i64, i64)> = Vec::new();
        for (taker, slot) in chain {
            if taker.kind == OverlayKind::SameBase {
                let Some(equal) = self.same_base(taker) else { return Vec::new() };
                common.extend(equal);
            }
            let (part, at) = self.place(taker.buffer, *slot);
            let size = reserved(&self.problem.buffers()[taker.buffer]).0 as i64;
            ranges.push((part, at, at + size));
        }
        // Each taker begins no higher than the one below it ends: no gap between them.
        for pair in ranges.windows(2) {
            if no_higher((pair[1].0, pair[1].1), (pair[0].0, pair[0].2), &mut common).is_none() {
                return Vec::new();
            }
        }
        let (Some(&(first, low, _)), Some(&(last, _, high))) = (ranges.first(), ranges.last()) else {
            return Vec::new();
        };
        let mut options = Vec::new();
        // The common bytes begin at the higher one of the two starts and end at the lower one of the two ends. The
        // chain covers their beginning if it begins at or below at least one of the two starts. "At least one" cannot
        // be said by a conjunction; the same holds for the ends. So each of the four combinations is an option of its
        // own.
        for lower in [(p, a.low), (q, b.low)] {
            for upper in [(p, a.high), (q, b.high)] {
                let mut option = common.clone();
                let below = no_higher((first, low), lower, &mut option);
                if below.and_then(|()| no_higher(upper, (last, high), &mut option)).is_some() {
                    options.push(option);
                }
            }
        }
        options
    }

    /// All *jobs*, with the time of each: the bytes of each stretch, and all bytes of each buffer (footprints). A
    /// footprint gets the empty time `0..0`, so that it counts as alive at no step.
    ///
    /// Both ends of a job are rounded up to granules. All offsets are multiples of the granule, so jobs that have no
    /// byte in common have none after rounding either. A job that rounding makes empty is left out.
    fn jobs_and_times(&self) -> (Vec<Job>, Vec<(Step, Step)>) {
        let (mut jobs, mut times) = (Vec::new(), Vec::new());
        for (part, detail) in self.details.iter().enumerate() {
            let stretches = detail.stretches.iter();
            let stretches = stretches.map(|stretch| ([stretch.low, stretch.high], (stretch.start, stretch.end)));
            let footprints = detail.footprints.iter().map(|print| ([print.low, print.high], (Step(0), Step(0))));
            for (bytes, time) in stretches.chain(footprints) {
                let [low, high] = bytes.map(|byte| round_up(byte, self.granule));
                if low < high {
                    jobs.push(Job { part: part as u32, low, high });
                    times.push(time);
                }
            }
        }
        (jobs, times)
    }

    /// Cliques: sets of jobs of which no two may have a byte in common. They are found greedily, large jobs first: for
    /// every step at which a job starts, until each job alive at that step is in a clique; and then for each job that
    /// is in no clique yet.
    fn cliques(&self) -> Vec<Vec<Job>> {
        let (jobs, times) = self.jobs_and_times();
        let mut by_size: Vec<usize> = (0..jobs.len()).collect();
        by_size.sort_by_key(|&index| (std::cmp::Reverse(jobs[index].high - jobs[index].low), jobs[index]));
        let mut starts: Vec<Step> = times.iter().map(|&(start, _)| start).collect();
        starts.sort_unstable();
        starts.dedup();
        let mut cliques: Vec<Vec<Job>> = Vec::new();
        for step in starts {
            let alive = by_size.iter().copied().filter(|&index| times[index].0 <= step && step < times[index].1);
            let alive: Vec<usize> = alive.collect();
            let mut left = alive.clone();
            // The largest job that is left begins a clique. Jobs alive at this step are offered to the clique before
            // all others. A job that does not exclude all jobs of the clique is left, and begins another one.
            while let Some(&seed) = left.first() {
                let clique = self.clique(&jobs, [seed].into_iter().chain(alive.iter().chain(&by_size).copied()));
                left.retain(|&index| !clique.contains(&jobs[index]));
                left.retain(|&index| index != seed);
                cliques.push(clique);
            }
        }
        for &seed in &by_size {
            if !cliques.iter().any(|clique| clique.contains(&jobs[seed])) {
                cliques.push(self.clique(&jobs, [seed].into_iter().chain(by_size.iter().copied())));
            }
        }
        cliques.iter_mut().for_each(|clique| clique.sort_unstable());
        largest(cliques)
    }

    /// A clique: each candidate in turn (a position in `jobs`) is added if it excludes all jobs that have been added.
    fn clique(&self, jobs: &[Job], candidates: impl Iterator<Item = usize>) -> Vec<Job> {
        let mut clique: Vec<Job> = Vec::new();
        for index in candidates {
            let job = jobs[index];
            if clique.iter().all(|member| self.are_disjoint(*member, job)) {
                clique.push(job);
            }
        }
        clique
    }

    /// Whether two jobs have no byte in common in any plan: they are different bytes of one part, or the plain rules
    /// forbid every difference of the offsets at which they would meet.
    fn are_disjoint(&self, a: Job, b: Job) -> bool {
        let (a, b) = if a.part <= b.part { (a, b) } else { (b, a) };
        if a.part == b.part {
            return a.high <= b.low || b.high <= a.low;
        }
        let (one, other) = (a.part as usize, b.part as usize);
        let (below, above) = (a.low - b.high, a.high - b.low);
        self.forbidden[one][other - one - 1].iter().any(|&(from, to)| from <= below && above <= to)
    }
}

/// The cliques of at least two jobs that are not part of another clique, the one with most jobs first. A clique that is
/// part of another clique proves nothing that the larger one does not prove, and costs time at every node.
fn largest(mut cliques: Vec<Vec<Job>>) -> Vec<Vec<Job>> {
    cliques.sort_unstable_by(|one, other| other.len().cmp(&one.len()).then_with(|| one.cmp(other)));
    let mut kept: Vec<Vec<Job>> = Vec::new();
    for clique in cliques {
        // A job is also covered by a job of the same part with a wider range of bytes.
        let is_in = |job: &Job, other: &[Job]| {
            other.iter().any(|wide| wide.part == job.part && wide.low <= job.low && job.high <= wide.high)
        };
        if clique.len() > 1 && !kept.iter().any(|other| clique.iter().all(|job| is_in(job, other))) {
            kept.push(clique);
        }
    }
    kept
}

/// What an overlay between two buffers permits them.
enum InPlace {
    /// Nothing: they have to be apart.
    No,
    /// They may lie on each other in any position.
    Anywhere,
    /// They may lie on each other if these inequalities hold.
    If(Conjunction),
}

/// When two stretches that meet may have bytes in common.
enum Excuses {
    /// Always: there is no rule between them.
    Always,
    /// If one of these conjunctions holds; never if there is none.
    Only(Vec<Conjunction>),
}

/// The two ways to keep the difference of two offsets (`other` minus `one`) out of an open interval: as options of a
/// choice, first at or below it, then at or above it.
fn apart(one: usize, other: usize, (below, above): Forbidden) -> Vec<Conjunction> {
    let (one, other) = (one as u32, other as u32);
    vec![
        vec![Least { below: other, above: one, least: -below }],
        vec![Least { below: one, above: other, least: above }],
    ]
}

/// Adds the inequality "the place `low` is not above the place `high`" to `all`. A place is a part and a distance from
/// its offset. If both places are in one part, no inequality is needed; `None` if `low` is above `high` in that part.
fn no_higher(low: (u32, i64), high: (u32, i64), all: &mut Conjunction) -> Option<()> {
    let least = low.1 - high.1;
    if low.0 == high.0 {
        return (least <= 0).then_some(());
    }
    all.push(Least { below: low.0, above: high.0, least });
    Some(())
}

/// Whether a choice follows from the plain rules. The first two options of the choice are those of [`apart`]: they
/// exclude an interval of differences. If the plain rules forbid all of that interval, one of the two options always
/// holds.
fn is_implied(choice: &Choice, one: usize, other: usize, plain: &[Forbidden]) -> bool {
    let bound = |index: usize| choice.options.get(index).and_then(|option| option.first()).copied();
    let (Some(below), Some(above)) = (bound(0), bound(1)) else { return false };
    debug_assert!(below.above as usize == one && above.above as usize == other);
    plain.iter().any(|&(from, to)| from <= -below.least && above.least <= to)
}

/// Widens open intervals to multiples of `step`, since all differences are such multiples, and joins intervals that
/// overlap: (−3, 4) and (1, 6) with step 2 become (−4, 4) and (0, 6), and then (−4, 6).
fn merge(mut intervals: Vec<Forbidden>, step: i64) -> Vec<Forbidden> {
    for (from, to) in &mut intervals {
        (*from, *to) = (round_down(*from, step), round_up(*to, step));
    }
    intervals.sort_unstable();
    let mut merged: Vec<Forbidden> = Vec::with_capacity(intervals.len());
    // Open intervals that only touch are kept apart: the end they have in common is a possible difference.
    for (from, to) in intervals {
        match merged.last_mut() {
            Some(last) if last.1 > from => last.1 = last.1.max(to),
            _ => merged.push((from, to)),
        }
    }
    merged
}

/// All sequences without repetition of numbers below `count`, except the empty one: every way in which some of `count`
/// takers can follow each other from bottom to top. There are 4 for two of them and 15 for three.
fn chains(count: usize) -> Vec<Vec<usize>> {
    let mut all: Vec<Vec<usize>> = Vec::new();
    let mut open: Vec<Vec<usize>> = vec![Vec::new()];
    while let Some(chain) = open.pop() {
        for next in (0..count).filter(|next| !chain.contains(next)) {
            let mut longer = chain.clone();
            longer.push(next);
            all.push(longer.clone());
            open.push(longer);
        }
    }
    all
}
