//! Why a function does not fit, and what would help.
//!
//! The first line is the original's, for drivers (programs that run the compiler) that look for
//! it. What follows is for people: whether it is proved, the worst moment with the buffers that
//! are alive then, and changes to the kernel after which it does fit. Each change
//! is tried before it is named:
//!
//! ```text
//!   ub overflow, requires 1966080 bits while 1572864 bits available! …
//!     level2, level1 and level0 failed, and so did the search: it is proved that no plan can fit
//!     at the peak (hivm.hir.vexp, line 10) 245760 bytes are alive, 196608 are there, 49152 too few:
//!       @kernel/%p: 49152 bytes x 4 slots, line 6
//!       @kernel/%q: 49152 bytes, line 9
//!     help: without multi-buffering of @kernel/%p it fits
//!     help: with @kernel/%p tiled to 36864 bytes (now 49152) it fits
//! ```
//!
//! The levels are those of the strategy `levels`, which lets buffers share bytes more and more freely. To *tile* a
//! buffer is to let the kernel work on smaller parts of its data at a time, so that the buffer is smaller.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use memplan_core::bound::Peak;
use memplan_core::{BufferId, Bytes, Id, Outcome, Problem, Size, SpaceId, Span, Step, bound, line_column};
use memplan_planner::Request;
use memplan_planner::strategy::levels::{self, Mode, Order, Report};
use memplan_program::SiteId;

// `Report` is what the strategy `levels` says about its plan: `spaces` has a row for each memory, whose `mode` is
// `Failed` if no plan was found there. `Peak` is the step with the largest number of live bytes, and that number.
use super::{KernelView, Profile};
use crate::OpId;

/// The largest number of places in memory that are listed.
const LISTED: usize = 12;
/// Changes to the kernel are only tried in problems of up to this many buffers: each trial plans all of them.
const MOST_TRIED: usize = 5_000;
/// The largest number of multi-buffers that are dropped, one after the other.
const MOST_DROPPED: usize = 16;
/// The limit on the planner's work for each change that is tried.
const TRIAL: u64 = 20_000;

/// One memory of one function that is too small.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Overflow {
    /// The function.
    pub span: Span,
    /// The line that drivers look for.
    pub message: String,
    /// Whether it is proved that no plan fits; if not, one may exist.
    pub proved: bool,
    /// What is alive at the worst step, what failed, what would help.
    pub report: String,
}

/// A function without a plan.
pub(super) struct Failure<'a> {
    pub(super) view: &'a KernelView<'a>,
    pub(super) problem: &'a Problem,
    /// The sites behind the first buffers of the problem, in their order.
    pub(super) sites: &'a [SiteId],
    /// The casts behind the buffers that follow those of the sites: memory at fixed addresses.
    pub(super) fixed: &'a [OpId],
    pub(super) outcome: &'a Outcome,
    /// What `levels` says about each memory; `None` if another strategy failed.
    pub(super) report: Option<&'a Report>,
    /// Names of the memories of which it is proved that they are too small.
    pub(super) refuted: &'a BTreeSet<String>,
    pub(super) request: &'a Request<'a>,
}

impl Failure<'_> {
    /// An overflow for each memory that is too small.
    pub(super) fn explain(&self, function: OpId) -> Vec<Overflow> {
        let span = self.view.document.op(function).span;
        let bounds = bound::space_lower_bounds(self.problem);
        let spaces = self.problem.spaces().ids().filter(|&space| self.failed(space, bounds[space].bytes));
        let mut found: Vec<Overflow> = spaces.map(|space| self.overflow(span, space, bounds[space])).collect();
        // A strategy failed without a memory that is certainly too small. The function is named all the same.
        if found.is_empty() {
            let message = match self.outcome {
                Outcome::Infeasible(_) => "no plan can fit",
                _ => "no plan was found within the budget of work; one may exist",
            };
            let proved = matches!(self.outcome, Outcome::Infeasible(_));
            found.push(Overflow { span, message: message.to_owned(), proved, report: String::new() });
        }
        found
    }

    /// Whether a memory is (or may be) too small: `levels` says so, or, without its report, the bytes alive at the
    /// peak do.
    fn failed(&self, space: SpaceId, peak: Bytes) -> bool {
        let row = self.report.and_then(|report| report.spaces.iter().find(|row| row.space == space));
        match row {
            Some(row) => row.mode == Mode::Failed,
            None => self.problem.spaces()[space].capacity.is_some_and(|capacity| peak > capacity),
        }
    }

    /// The report about one memory, the original's message first.
    fn overflow(&self, span: Span, space: SpaceId, peak: Peak) -> Overflow {
        let info = &self.problem.spaces()[space];
        let capacity = info.capacity.unwrap_or_default();
        let row = self.report.and_then(|report| report.spaces.iter().find(|row| row.space == space));
        // The original says how many bits its first fit would take in unlimited memory. If that is not known, the peak
        // is a number that is certainly needed.
        let required = row.and_then(|row| row.required).unwrap_or(peak.bytes);
        let reason = match self.view.options.profile {
            Profile::MemoryBased => {
                " (possible reason: tiling basic block is too large or block number is more than what user expect \
                 due to multi-buffer feature is enabled and some ops need extra local buffer.)"
            }
            Profile::RegisterBased => "",
        };
        let (name, required, available) = (&info.name, bits(required), bits(capacity));
        let message = format!("{name} overflow, requires {required} bits while {available} bits available!{reason}");
        let proved = self.refuted.contains(&info.name);
        Overflow { span, message, proved, report: self.details(space, peak, capacity, proved) }
    }

    /// The lines for people: whether it is proved, the buffers that need the memory, and advice. `peak` is the
    /// largest number of bytes that are alive at one step.
    fn details(&self, space: SpaceId, peak: Peak, capacity: Bytes, proved: bool) -> String {
        let mut text = String::new();
        // Three cases that a user must be able to tell apart: it cannot fit; it cannot fit as long as results are
        // computed in place as they are in this problem; or the search gave up.
        let verdict = match (proved, peak.bytes > capacity) {
            (true, _) => "it is proved that no plan can fit",
            (false, true) => "no plan was found; one may exist that puts other buffers together than these",
            (false, false) => "no plan was found within the budget of work; one may exist",
        };
        let _ = writeln!(text, "  level2, level1 and level0 failed, and so did the search: {verdict}");
        let buffers = self.problem.buffers().iter_enumerated();
        let buffers: Vec<BufferId> =
            buffers.filter(|(_, buffer)| buffer.spaces.contains(&space)).map(|(id, _)| id).collect();
        // If the peak alone is too large, the buffers alive at that moment are the explanation. Otherwise the bytes
        // would suffice and fragmentation is the problem.
        let shown = match (peak.step, peak.bytes > capacity) {
            (Some(step), true) => {
                let (place, excess) = (self.place_of(step), peak.bytes.0 - capacity.0);
                let _ = writeln!(
                    text,
                    "  at the peak ({place}) {} bytes are alive, {} are there, {excess} too few:",
                    peak.bytes.0, capacity.0
                );
                buffers.iter().copied().filter(|&buffer| self.is_alive(buffer, step)).collect()
            }
            (_, true) => {
                let _ = writeln!(text, "  {} bytes are needed, {} are there:", peak.bytes.0, capacity.0);
                buffers.clone()
            }
            (step, false) => self.fragmented(space, step, peak.bytes, capacity, &buffers, &mut text),
        };
        let rows = self.rows(&shown);
        // The list is cut: the largest buffers come first and are the ones worth changing.
        for row in rows.iter().take(LISTED) {
            let _ = writeln!(text, "    {}", row.text);
        }
        if rows.len() > LISTED {
            let rest: u64 = rows[LISTED..].iter().map(|row| row.bytes).fold(0, u64::saturating_add);
            let _ = writeln!(text, "    and {} more of {rest} bytes together", rows.len() - LISTED);
        }
        self.advice(space, &rows, peak.bytes.0.saturating_sub(capacity.0), &mut text);
        text
    }

    /// The bytes suffice at every step, but no plan was found. Says so, and returns the buffers to list: those of the
    /// witness if it is proved that they cannot be placed together, else all of them.
    fn fragmented(
        &self,
        space: SpaceId,
        step: Option<Step>,
        peak: Bytes,
        capacity: Bytes,
        buffers: &[BufferId],
        text: &mut String,
    ) -> Vec<BufferId> {
        let place = step.map_or(String::new(), |step| format!(" ({})", self.place_of(step)));
        let _ = writeln!(text, "  never more than {} of {} bytes are alive{place}, but", peak.0, capacity.0);
        let row = self.report.and_then(|report| report.spaces.iter().find(|row| row.space == space));
        match row.and_then(|row| row.witness.as_ref()) {
            Some(witness) => {
                let count = witness.buffers.len();
                let _ = writeln!(text, "  however these {count} buffers lie, {} bytes are needed:", witness.needed.0);
                witness.buffers.clone()
            }
            None => {
                let _ = writeln!(text, "  no way was found to place all {} of these:", buffers.len());
                buffers.to_vec()
            }
        }
    }

    /// A line for each place in memory, the largest first. Buffers that must lie together (a block of the problem)
    /// have one place.
    fn rows(&self, buffers: &[BufferId]) -> Vec<Row> {
        // Each place by its first buffer, and the first buffer of each block.
        let mut together: BTreeMap<BufferId, Vec<BufferId>> = BTreeMap::new();
        let mut of_block = BTreeMap::new();
        for &buffer in buffers {
            let block = self.problem.blocks().place_of(buffer).map(|(block, _)| block);
            let first = block.map_or(buffer, |block| *of_block.entry(block).or_insert(buffer));
            together.entry(first).or_default().push(buffer);
        }
        let mut rows: Vec<Row> = together.into_values().map(|members| self.row(members)).collect();
        rows.sort_by_key(|row| (std::cmp::Reverse(row.bytes), row.largest));
        rows
    }

    /// One line of the report about buffers (at least one) that share a place in memory. The line gives the name and the
    /// size of the largest of them, because the place must be large enough for it. The names of the others follow.
    fn row(&self, members: Vec<BufferId>) -> Row {
        let info = |buffer: BufferId| &self.problem.buffers()[buffer];
        let bytes = |buffer: BufferId| info(buffer).bytes().unwrap_or_default().0;
        let largest = members.iter().copied().max_by_key(|&buffer| (bytes(buffer), std::cmp::Reverse(buffer)));
        let largest = largest.unwrap_or(members[0]);
        let slots = info(largest).slots;
        let times = if slots > 1 { format!(" x {slots} slots") } else { String::new() };
        let alone = if info(largest).exclusive { ", shares with nobody" } else { "" };
        let mut text =
            format!("{}: {} bytes{times}, line {}{alone}", info(largest).name, bytes(largest), self.line(largest));
        for &other in members.iter().filter(|&&other| other != largest) {
            let _ = write!(text, "; with it {}, line {}", info(other).name, self.line(other));
        }
        Row { largest, bytes: bytes(largest).saturating_mul(u64::from(slots)), text }
    }

    /// Whether a buffer's bytes are taken at a step; an exclusive one's always are.
    fn is_alive(&self, buffer: BufferId, step: Step) -> bool {
        let info = &self.problem.buffers()[buffer];
        let mut stretches = info.lifetime.intervals();
        info.exclusive || stretches.any(|stretch| stretch.start <= step && step < stretch.end)
    }

    /// The line of the text in which a buffer is allocated, or cast to its fixed address; 0 if that is not known.
    fn line(&self, buffer: BufferId) -> usize {
        let site = self.sites.get(buffer.index()).map(|&site| self.view.lowered.sites[site]);
        // Buffers behind those of the sites are memory at fixed addresses.
        let fixed = || self.fixed.get(buffer.index() - self.sites.len()).copied();
        let Some(op) = site.or_else(fixed) else { return 0 };
        line_column(self.view.document.source(), self.view.document.op(op).span.start as usize).0
    }

    /// The op at a step, with its line in the text.
    fn place_of(&self, step: Step) -> String {
        let program = &self.view.lowered.program;
        // Steps of the problem are counted from the first op of the function.
        let first = self.sites.first().and_then(|&site| program.alloc_op(site)).map(|op| program.function_of(op));
        let begin = first.and_then(|function| self.view.tree.function_range(function));
        let index = begin.map_or(0, |(first, _)| first.index()) + step.0 as usize;
        let op = memplan_program::OpId::from_index(index.min(program.ops().len().saturating_sub(1)));
        let span = self.view.document.op(self.view.lowered.ops[op]).span;
        let line = line_column(self.view.document.source(), span.start as usize).0;
        format!("{}, line {line}", program.op(op).name)
    }

    /// Adds advice: which buffers to use without multi-buffering, and which buffer to tile. `excess` is by how many
    /// bytes the peak is above the capacity.
    fn advice(&self, space: SpaceId, rows: &[Row], excess: u64, text: &mut String) {
        if self.problem.buffers().len() > MOST_TRIED {
            return;
        }
        self.advise_fewer_slots(space, rows, text);
        self.advise_tiling(space, rows, excess, text);
    }

    /// Tries to plan with one slot instead of several for the largest multi-buffer, then also for the next one, until
    /// it fits, and says what came of it.
    fn advise_fewer_slots(&self, space: SpaceId, rows: &[Row], text: &mut String) {
        let buffers = self.problem.buffers();
        let multi: Vec<BufferId> =
            rows.iter().map(|row| row.largest).filter(|&buffer| buffers[buffer].slots > 1).collect();
        if multi.is_empty() {
            return;
        }
        let mut dropped: Vec<BufferId> = Vec::new();
        // Multi-buffering is dropped from the largest buffers first, one more in each trial. Advice is only given
        // after a trial has shown that it works.
        for &buffer in multi.iter().take(MOST_DROPPED) {
            dropped.push(buffer);
            let fits = self.fits_with(space, |candidate, buffer| {
                if dropped.iter().any(|&other| self.is_one_place(candidate, other)) {
                    buffer.slots = 1;
                }
            });
            if fits {
                let names: Vec<&str> = dropped.iter().map(|&buffer| buffers[buffer].name.as_str()).collect();
                let _ = writeln!(text, "  help: without multi-buffering of {} it fits", names.join(", "));
                return;
            }
        }
        // Even without all of them it does not fit. Saying so keeps the user from trying.
        let saved = dropped.iter().map(|&buffer| self.bytes_of_further_slots(buffer)).fold(0, u64::saturating_add);
        let _ =
            writeln!(text, "  help: multi-buffering takes {saved} bytes, but without it the kernel is still too large");
    }

    /// The bytes that a buffer takes beyond its first slot.
    fn bytes_of_further_slots(&self, buffer: BufferId) -> u64 {
        let further = u64::from(self.problem.buffers()[buffer].slots - 1);
        self.size(buffer).saturating_mul(further)
    }

    /// Whether two buffers have the same place in memory: they are one, or must lie together.
    fn is_one_place(&self, one: BufferId, other: BufferId) -> bool {
        let block = |buffer: BufferId| self.problem.blocks().place_of(buffer).map(|(block, _)| block);
        one == other || (block(one).is_some() && block(one) == block(other))
    }

    /// Tries to plan with a smaller size of the largest buffer that is placed here: smaller by the missing bytes, or
    /// a half, or a quarter of its size. Says which of these is enough.
    fn advise_tiling(&self, space: SpaceId, rows: &[Row], excess: u64, text: &mut String) {
        let is_ours = |buffer: &BufferId| self.problem.buffers()[*buffer].fixed().is_none();
        let Some(largest) = rows.iter().map(|row| row.largest).find(is_ours) else { return };
        let (size, slots) = (self.size(largest), u64::from(self.problem.buffers()[largest].slots));
        // Sizes are rounded down to whole units of the memory.
        let alignment = self.problem.spaces()[space].alignment.0.max(1);
        // Each slot becomes smaller, so each has to give its share of the missing bytes.
        let less = size.saturating_sub(excess.div_ceil(slots)) / alignment * alignment;
        // `less` is enough if nothing but the bytes at the peak counts, so it is tried first. A half and a quarter of
        // the size are tried for the case that the buffers do not lie without gaps.
        let candidates = [less, size / 2, size / 4].into_iter().filter(|&bytes| bytes > 0 && bytes < size);
        let name = &self.problem.buffers()[largest].name;
        for bytes in candidates {
            let shrunk = |id: BufferId, buffer: &mut memplan_core::Buffer| {
                if self.is_one_place(id, largest) {
                    buffer.size = Size::Fixed(Bytes(buffer.bytes().unwrap_or_default().0.min(bytes)));
                }
            };
            if self.fits_with(space, shrunk) {
                let _ = writeln!(text, "  help: with {name} tiled to {bytes} bytes (now {size}) it fits");
                return;
            }
        }
        let _ = writeln!(text, "  help: {name} ({size} bytes) is the largest; to tile it alone is not enough");
    }

    fn size(&self, buffer: BufferId) -> u64 {
        self.problem.buffers()[buffer].bytes().unwrap_or_default().0
    }

    /// Whether a memory is large enough after a change of its buffers: `change` gets each buffer in turn. The answer
    /// depends on work and not on time, so that it is the same on every machine.
    fn fits_with(&self, space: SpaceId, mut change: impl FnMut(BufferId, &mut memplan_core::Buffer)) -> bool {
        let mut builder = self.problem.to_builder();
        for (index, buffer) in builder.buffers_mut().iter_mut().enumerate() {
            change(BufferId::from_index(index), buffer);
        }
        // A change may make the problem contradict itself; then it is no help.
        let Ok(problem) = builder.build() else { return false };
        let trial = Request { work_limit: Some(TRIAL), time_limit: None, ..self.request.clone() };
        let (_, report) = levels::plan(&problem, Order::Start, &trial);
        report.spaces.iter().any(|row| row.space == space && row.mode != Mode::Failed)
    }
}

/// A place in memory, as it is listed.
struct Row {
    /// The largest buffer of the place.
    largest: BufferId,
    /// All slots together.
    bytes: u64,
    text: String,
}

fn bits(bytes: Bytes) -> u128 {
    u128::from(bytes.0) * 8
}
