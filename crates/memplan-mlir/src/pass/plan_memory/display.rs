//! The plan of every function as JSON, for tools that draw it.

use memplan_core::{Buffer, BufferId, Id, Span, line_column};
use serde_json::{Value, json};

use super::{PlannedFunction, View};
use crate::dialect::Selector;
use crate::lower::marks::Core;

/// One file a core, with a record for each memory of each function.
pub(super) fn files(view: &View, functions: &[PlannedFunction]) -> Vec<(String, String)> {
    let temporaries = temporaries(view);
    let mut files: Vec<(&'static str, Vec<Value>, Vec<Value>)> = Vec::new();
    for function in functions {
        let Some(op) = function.sites.first().and_then(|&site| view.document.function_around(view.lowered.sites[site]))
        else {
            continue;
        };
        let name = match view.document.core(op) {
            Core::Cube => "memory_info_aic.json",
            Core::Vector => "memory_info_aiv.json",
            Core::Any => "memory_info.json",
        };
        let rows = records(view, function, &temporaries);
        // Functions of the same kind of core share a file. A list keeps the files in the order of their first
        // function.
        match files.iter_mut().find(|(other, ..)| *other == name) {
            Some((_, kernels, all)) => {
                kernels.push(json!(function.name));
                all.extend(rows);
            }
            None => files.push((name, vec![json!(function.name)], rows)),
        }
    }
    let text = |(name, kernels, records): (&str, Vec<Value>, Vec<Value>)| {
        let header = json!({"kernel_name": kernels});
        let whole = json!({"Header": header, "Record": records});
        (name.to_owned(), serde_json::to_string_pretty(&whole).unwrap_or_default() + "\n")
    };
    files.into_iter().map(text).collect()
}

/// Sites that some op uses as temporary memory.
fn temporaries(view: &View) -> std::collections::HashSet<memplan_program::SiteId> {
    let mut found = std::collections::HashSet::new();
    for &op in &view.lowered.ops {
        let range = view.document.select(op, &Selector::Group("temp_buffer".into()));
        for &value in &view.document.operands(op)[range] {
            found.extend(view.sites_of(value).iter().copied());
        }
    }
    found
}

/// One record for each memory of a function, with its buffers. The keys are those that the drawing tools know.
fn records(
    view: &View,
    function: &PlannedFunction,
    temporaries: &std::collections::HashSet<memplan_program::SiteId>,
) -> Vec<Value> {
    let PlannedFunction { problem, plan, report, sites, .. } = function;
    let buffer = |(id, info): (BufferId, &Buffer)| {
        let site = sites.get(id.index());
        let fixed = || function.fixed.get(id.index() - sites.len());
        let op = site.map(|&site| view.lowered.sites[site]).or_else(|| fixed().copied());
        let span = op.map_or(Span::default(), |op| view.document.op(op).span);
        let (line, column) = line_column(view.document.source(), span.start as usize);
        // The drawing tool expects closed intervals, so the last step is one less than our end.
        let life = info.lifetime.start().zip(info.lifetime.end()).map(|(start, end)| [start.0, end.0 - 1]);
        let offsets = plan.placements[id]
            .as_ref()
            .map(|placement| placement.offsets.iter().map(|offset| offset.0).collect::<Vec<_>>());
        let level = report.as_ref().and_then(|report| report.levels[id]).map(|level| level.describe());
        json!({
            "buffer": info.name,
            "offset": offsets,
            "extent": info.bytes().map(|bytes| bytes.0),
            "alloc_time_in_ir": life.map(|life| life[0]),
            "life_time_in_ir": life,
            "source_location": format!("{line}:{column}"),
            "is_tmpbuf": site.is_some_and(|site| temporaries.contains(site)),
            "level": level,
        })
    };
    // Every memory of the function has a record, also one in which nothing was placed.
    let record = |(space, info): (memplan_core::SpaceId, &memplan_core::Space)| {
        let here = problem.buffers().iter_enumerated().filter(|(_, buffer)| buffer.spaces.contains(&space));
        json!({
            "scope": info.name,
            "status": "success",
            "error_info": "",
            "memory_info_array": here.map(buffer).collect::<Vec<_>>(),
        })
    };
    problem.spaces().iter_enumerated().map(record).collect()
}
