//! The passes over MLIR text.

use memplan_core::{Span, line_column};
use memplan_mlir::pass::{PassError, PassOptions, Remark, Rewrite, early_dealloc, merge_alloc, plan_memory};
use memplan_mlir::{Dialects, Document, LowerError, Lowered, lower, lower_workspaces};
use memplan_models::{ReadError, utf8};
use memplan_program::SiteId;
use memplan_verify::dataflow::{self, SitePlan};

use super::layout::{Layout, Part};
use super::{Pass, PassFailure, PassHow, Rewritten};
use crate::finding;
use crate::pipeline::{Source, Unsound};

/// One allocation per scope and memory space.
pub(super) struct MergeAlloc;

impl Pass for MergeAlloc {
    fn name(&self) -> &'static str {
        "merge-alloc"
    }

    fn describe(&self) -> &'static str {
        "MLIR: one allocation per scope and memory space, a view for every buffer"
    }

    fn options(&self) -> &'static [(&'static str, &'static str)] {
        &[
            ("analysis-only", "attach lifetimes as attributes, change nothing else"),
            ("planner-options=cost-model|size-first", "which of the pass's own planners"),
            ("alignment=64", "of the merged allocation and every buffer in it"),
            ("compat", "fail where the original pass fails"),
        ]
    }

    fn run(&self, source: &Source, options: &PassOptions, how: &PassHow) -> Result<Rewritten, PassFailure> {
        let options = merge_alloc::Options::parse(options)?;
        rewrite(self.name(), source, |document, lowered| {
            merge_alloc::run(document, lowered, options, how.strategy, &how.request)
        })
    }
}

/// Deallocation right after the last use.
pub(super) struct EarlyDealloc;

impl Pass for EarlyDealloc {
    fn name(&self) -> &'static str {
        "early-dealloc"
    }

    fn describe(&self) -> &'static str {
        "MLIR: free what merge-alloc leaves alone right after its last use"
    }

    fn options(&self) -> &'static [(&'static str, &'static str)] {
        &[]
    }

    fn run(&self, source: &Source, options: &PassOptions, _: &PassHow) -> Result<Rewritten, PassFailure> {
        rewrite(self.name(), source, |document, lowered| early_dealloc::run(document, lowered, options))
    }
}

/// Addresses for on-chip buffers.
pub(super) struct PlanMemory;

impl Pass for PlanMemory {
    fn name(&self) -> &'static str {
        "plan-memory"
    }

    fn describe(&self) -> &'static str {
        "MLIR: an address for every on-chip buffer of an NPU kernel, pipes kept apart"
    }

    fn options(&self) -> &'static [(&'static str, &'static str)] {
        plan_memory::OPTIONS
    }

    fn run(&self, source: &Source, options: &PassOptions, how: &PassHow) -> Result<Rewritten, PassFailure> {
        let options = plan_memory::Options::parse(options)?;
        let mut functions = Vec::new();
        let mut files = Vec::new();
        let mut spans = Vec::new();
        let lowering = match options.mode {
            plan_memory::MemoryMode::Local => lower,
            plan_memory::MemoryMode::Workspace => lower_workspaces,
        };
        let rewritten = rewrite_lowered(self.name(), source, lowering, |document, lowered| {
            let planned =
                plan_memory::run(document, lowered, &options, how.device.as_ref(), how.strategy, &how.request)?;
            let span_of = |&site: &SiteId| document.op(lowered.sites[site]).span;
            let spans_of = |function: &plan_memory::PlannedFunction| {
                let fixed = function.fixed.iter().map(|&cast| document.op(cast).span);
                function.sites.iter().map(span_of).chain(fixed).collect()
            };
            spans = planned.functions.iter().map(spans_of).collect();
            (functions, files) = (planned.functions, planned.files);
            Ok(planned.rewrite)
        })?;
        for function in &functions {
            let findings = finding::in_packing(&function.problem, &function.plan);
            if !findings.is_empty() {
                return Err(Unsound { strategy: self.name(), findings }.into());
            }
        }
        let parts: Vec<Part> = functions.iter().zip(spans).map(|(function, spans)| part(function, spans)).collect();
        // Functions that are too large to be added up have no picture.
        let layout = Layout::of(&parts).ok().flatten();
        Ok(Rewritten { files, layout, ..rewritten })
    }
}

/// A function as a part of a picture.
fn part(function: &plan_memory::PlannedFunction, spans: Vec<Span>) -> Part<'_> {
    Part { name: &function.name, problem: &function.problem, plan: &function.plan, spans }
}

/// Reads, rewrites, checks, prints.
fn rewrite(
    name: &'static str,
    source: &Source,
    pass: impl FnOnce(&Document, &Lowered) -> Result<Rewrite, PassError>,
) -> Result<Rewritten, PassFailure> {
    rewrite_lowered(name, source, lower, pass)
}

/// As [`rewrite`], with a say in what is to be placed.
fn rewrite_lowered(
    name: &'static str,
    source: &Source,
    lower: fn(&Document) -> Result<Lowered, LowerError>,
    pass: impl FnOnce(&Document, &Lowered) -> Result<Rewrite, PassError>,
) -> Result<Rewritten, PassFailure> {
    let text = utf8(&source.bytes)?;
    let dialects = source.options.dialects.as_ref().unwrap_or(Dialects::builtin());
    let document = Document::read(text, dialects)
        .map_err(|error| ReadError::new(error.code(), text, error.span(), error.to_string()))?;
    let lowered =
        lower(&document).map_err(|error| ReadError::new("lower::malformed", text, error.span(), error.to_string()))?;
    let Rewrite { edits, placements, owners, remarks, stats } =
        pass(&document, &lowered).map_err(|error| named_failure(&source.name, text, error))?;
    let violations = dataflow::check(&lowered.program, &SitePlan { placements, owners });
    if !violations.is_empty() {
        let findings = finding::in_dataflow(&lowered.program, &violations);
        return Err(Unsound { strategy: name, findings }.into());
    }
    let rewritten = edits.apply(text).map_err(|error| failure(text, error.into()))?;
    let lines = line_starts(text);
    let notes = remarks.iter().map(|remark| placed(text, &lines, remark)).collect();
    Ok(Rewritten { text: rewritten, notes, savings: stats, ..Rewritten::default() })
}

/// A failure that names the file, for lines that drivers look for.
fn named_failure(name: &str, text: &str, error: PassError) -> PassFailure {
    let PassError::DoesNotFit(overflows) = error else { return failure(text, error) };
    let one = |overflow: &plan_memory::Overflow| {
        let (line, column) = line_column(text, overflow.span.start as usize);
        format!("{name}:{line}:{column}: error: {}\n{}", overflow.message, overflow.report)
    };
    PassFailure::DoesNotFit(overflows.iter().map(one).collect())
}

pub(super) fn failure(text: &str, error: PassError) -> PassFailure {
    match error {
        PassError::Options(error) => error.into(),
        PassError::Refused(error) => error.into(),
        PassError::Op { span, message } => ReadError::new("pass::op", text, span, message).into(),
        other => PassFailure::NoPlan(other.to_string()),
    }
}

/// Where each line begins: a large file may have many remarks.
fn line_starts(text: &str) -> Vec<usize> {
    std::iter::once(0).chain(text.match_indices('\n').map(|(at, _)| at + 1)).collect()
}

fn placed(text: &str, lines: &[usize], remark: &Remark) -> String {
    let position = remark.span.start as usize;
    let line = lines.partition_point(|&start| start <= position);
    let start = line.checked_sub(1).and_then(|index| lines.get(index)).copied().unwrap_or(0);
    let column = text.get(start..position).map_or(0, |before| before.chars().count()) + 1;
    format!("line {line}, column {column}: {}", remark.message)
}
