//! Why a function does not fit, and what would help.

use std::fmt::Write;

use memplan_core::{BufferId, Bytes, Outcome, Problem, Span, Step, bound, line_column};
use memplan_planner::strategy::levels::{Mode, Report};
use memplan_program::SiteId;

use super::{Profile, View};
use crate::OpId;

/// So many buffers are listed.
const LISTED: usize = 12;

/// One memory of one function that is too small.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Overflow {
    /// The function.
    pub span: Span,
    /// The line that drivers look for.
    pub message: String,
    /// What is alive at the worst step, what failed, what would help.
    pub report: String,
}

/// An overflow for each memory that was too small.
pub(super) fn explain(
    view: &View,
    function: OpId,
    problem: &Problem,
    sites: &[SiteId],
    outcome: &Outcome,
    report: Option<&Report>,
) -> Vec<Overflow> {
    let mut found = Vec::new();
    let bounds = bound::space_lower_bounds(problem);
    for (space, info) in problem.spaces().iter_enumerated() {
        let row = report.and_then(|report| report.spaces.iter().find(|row| row.space == space));
        let failed = match row {
            Some(row) => row.mode == Mode::Failed,
            None => info.capacity.is_some_and(|capacity| bounds[space].bytes > capacity),
        };
        let Some(capacity) = info.capacity.filter(|_| failed) else { continue };
        let required = row.and_then(|row| row.required).unwrap_or(bounds[space].bytes);
        let reason = match view.options.profile {
            Profile::MemoryBased => {
                " (possible reason: tiling basic block is too large or block number is more than what user expect \
                 due to multi-buffer feature is enabled and some ops need extra local buffer.)"
            }
            Profile::RegisterBased => "",
        };
        let message = format!(
            "{} overflow, requires {} bits while {} bits available!{reason}",
            info.name,
            bits(required),
            bits(capacity)
        );
        let here = |buffer: &BufferId| problem.buffers()[*buffer].spaces.contains(&space);
        let buffers: Vec<BufferId> = problem.buffers().ids().filter(here).collect();
        let report = Details { view, problem, sites, outcome }.write(
            &buffers,
            bounds[space].step,
            bounds[space].bytes,
            capacity,
        );
        found.push(Overflow { span: view.document.op(function).span, message, report });
    }
    if found.is_empty() {
        let message = "no plan was found within the budget of work".to_owned();
        found.push(Overflow { span: view.document.op(function).span, message, report: String::new() });
    }
    found
}

fn bits(bytes: Bytes) -> u128 {
    u128::from(bytes.0) * 8
}

struct Details<'a> {
    view: &'a View<'a>,
    problem: &'a Problem,
    sites: &'a [SiteId],
    outcome: &'a Outcome,
}

impl Details<'_> {
    fn write(&self, buffers: &[BufferId], step: Option<Step>, peak: Bytes, capacity: Bytes) -> String {
        let mut text = String::new();
        let proved = peak > capacity || matches!(self.outcome, Outcome::Infeasible(_));
        let verdict = match proved {
            true => "no plan can fit",
            false => "none found within the budget of work; one may exist",
        };
        let _ = writeln!(text, "  failed at level0, and so did the search: {verdict}");
        let alive: Vec<BufferId> = match step {
            Some(step) => buffers.iter().copied().filter(|&buffer| self.is_alive(buffer, step)).collect(),
            None => buffers.to_vec(),
        };
        if let Some(step) = step {
            let place = self.place_of_step(step);
            let _ = writeln!(text, "  at the peak ({place}) {} bytes are alive, {} are there:", peak.0, capacity.0);
        }
        let mut by_size = alive.clone();
        by_size.sort_by_key(|&buffer| (std::cmp::Reverse(self.bytes(buffer)), buffer));
        for &buffer in by_size.iter().take(LISTED) {
            let info = &self.problem.buffers()[buffer];
            let slots = if info.slots > 1 { format!(" x {} slots", info.slots) } else { String::new() };
            let size = info.bytes().unwrap_or_default().0;
            let _ = writeln!(text, "    {}: {size} bytes{slots}, line {}", info.name, self.line(buffer));
        }
        if by_size.len() > LISTED {
            let _ = writeln!(text, "    and {} more", by_size.len() - LISTED);
        }
        self.advice(&by_size, peak, capacity, &mut text);
        text
    }

    /// Whether a buffer's bytes are taken at a step; an exclusive one's always are.
    fn is_alive(&self, buffer: BufferId, step: Step) -> bool {
        let info = &self.problem.buffers()[buffer];
        let mut stretches = info.lifetime.intervals().iter();
        info.exclusive || stretches.any(|stretch| stretch.start <= step && step < stretch.end)
    }

    /// All slots together.
    fn bytes(&self, buffer: BufferId) -> u64 {
        let info = &self.problem.buffers()[buffer];
        info.bytes().unwrap_or_default().0.saturating_mul(u64::from(info.slots))
    }

    fn line(&self, buffer: BufferId) -> usize {
        use memplan_core::Id;
        let Some(&site) = self.sites.get(buffer.index()) else { return 0 };
        let op = self.view.lowered.sites[site];
        line_column(self.view.document.source(), self.view.document.op(op).span.start as usize).0
    }

    fn place_of_step(&self, step: Step) -> String {
        use memplan_core::Id;
        let program = &self.view.lowered.program;
        let first = self.sites.first().and_then(|&site| program.alloc_op(site)).map(|op| program.function_of(op));
        let begin = first.and_then(|function| self.view.tree.function_range(function));
        let index = begin.map_or(0, |(first, _)| first.index()) + step.0 as usize;
        let op = memplan_program::OpId::from_index(index.min(program.ops().len().saturating_sub(1)));
        let span = self.view.document.op(self.view.lowered.ops[op]).span;
        let line = line_column(self.view.document.source(), span.start as usize).0;
        format!("{}, line {line}", program.op(op).name)
    }

    /// Which multi-buffer to drop, which buffer to tile.
    fn advice(&self, by_size: &[BufferId], peak: Bytes, capacity: Bytes, text: &mut String) {
        let excess = peak.0.saturating_sub(capacity.0);
        let mut multi: Vec<BufferId> = Vec::new();
        let mut saved = 0u64;
        for &buffer in by_size.iter().filter(|&&buffer| self.problem.buffers()[buffer].slots > 1) {
            if saved >= excess && !multi.is_empty() {
                break;
            }
            let info = &self.problem.buffers()[buffer];
            saved = saved.saturating_add(self.bytes(buffer) - info.bytes().unwrap_or_default().0);
            multi.push(buffer);
        }
        let name = |buffer: &BufferId| self.problem.buffers()[*buffer].name.clone();
        if !multi.is_empty() {
            let names: Vec<String> = multi.iter().map(name).collect();
            let enough = if saved >= excess { "enough" } else { "not enough alone" };
            let _ = writeln!(
                text,
                "  help: without multi-buffering of {} it takes {saved} bytes less ({enough})",
                names.join(", ")
            );
        }
        if let Some(largest) = by_size.first().filter(|_| excess > 0) {
            let size = self.problem.buffers()[*largest].bytes().unwrap_or_default().0;
            let _ = writeln!(
                text,
                "  help: {} ({size} bytes) is the largest: tile it so that the peak is {excess} bytes lower",
                name(largest)
            );
        }
    }
}
