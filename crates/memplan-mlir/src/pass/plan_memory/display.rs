//! The plan of every function as JSON, for tools that draw it.

use memplan_core::{Buffer, BufferId, Id, Span, line_column};
use serde_json::{Value, json};

use super::{KernelView, PlannedFunction};
use crate::dialect::Selector;
use crate::lower::marks::Core;

/// The files, each with its name and its text: one for each kind of core (cube, vector, or not known), with a record
/// for each memory of each function that runs there.
pub(super) fn files(view: &KernelView, functions: &[PlannedFunction]) -> Vec<(String, String)> {
    let temporaries = temporaries(view);
    // For each file its name, the names of its functions, and its records.
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
    files.into_iter().map(|(name, kernels, records)| (name.to_owned(), file_text(&kernels, &records))).collect()
}

/// The text of a file with the records of some kernels.
fn file_text(kernels: &[Value], records: &[Value]) -> String {
    let whole = json!({"Header": {"kernel_name": kernels}, "Record": records});
    serde_json::to_string_pretty(&whole).unwrap_or_default() + "\n"
}

/// Sites that some op takes as temporary memory, in its operand group `temp_buffer`.
fn temporaries(view: &KernelView) -> std::collections::HashSet<memplan_program::SiteId> {
    let mut found = std::collections::HashSet::new();
    for &op in &view.lowered.ops {
        let range = view.document.select(op, &Selector::Group("temp_buffer".into()));
        for &value in &view.document.operands(op)[range] {
            found.extend(view.sites_of(value).iter().copied());
        }
    }
    found
}

/// One record for each memory of a function, also for one in which nothing was placed. The keys are those that the
/// drawing tools know.
fn records(
    view: &KernelView,
    function: &PlannedFunction,
    temporaries: &std::collections::HashSet<memplan_program::SiteId>,
) -> Vec<Value> {
    let problem = &function.problem;
    // The record of one memory, with the buffers in it.
    let record = |(space, info): (memplan_core::SpaceId, &memplan_core::Space)| {
        let here = problem.buffers().iter_enumerated().filter(|(_, buffer)| buffer.spaces.contains(&space));
        let buffers = here.map(|(id, info)| buffer_record(view, function, temporaries, (id, info)));
        json!({
            "scope": info.name,
            "status": "success",
            "error_info": "",
            "memory_info_array": buffers.collect::<Vec<_>>(),
        })
    };
    problem.spaces().iter_enumerated().map(record).collect()
}

/// One buffer of a record: its place, its life, and where it stands in the text.
fn buffer_record(
    view: &KernelView,
    function: &PlannedFunction,
    temporaries: &std::collections::HashSet<memplan_program::SiteId>,
    (id, info): (BufferId, &Buffer),
) -> Value {
    let PlannedFunction { plan, report, sites, fixed, .. } = function;
    let site = sites.get(id.index());
    // The problem has the planned buffers first (one for each site), then those that had an address before.
    let op = match site {
        Some(&site) => Some(view.lowered.sites[site]),
        None => fixed.get(id.index() - sites.len()).copied(),
    };
    let span = op.map_or(Span::default(), |op| view.document.op(op).span);
    let (line, column) = line_column(view.document.source(), span.start as usize);
    // The drawing tool expects closed intervals, so the last step is one less than our end.
    let life = info.lifetime.start().zip(info.lifetime.end()).map(|(start, end)| [start.0, end.0 - 1]);
    let placement = plan.placements[id].as_ref();
    let offsets = placement.map(|placement| placement.offsets.iter().map(|offset| offset.0).collect::<Vec<_>>());
    let level = report.as_ref().and_then(|report| report.levels[id]).map(|level| level.describe());
    json!({
        "buffer": info.name.as_str(),
        "offset": offsets,
        "extent": info.bytes().map(|bytes| bytes.0),
        "alloc_time_in_ir": life.map(|life| life[0]),
        "life_time_in_ir": life,
        "source_location": format!("{line}:{column}"),
        "is_tmpbuf": site.is_some_and(|site| temporaries.contains(site)),
        "level": level,
    })
}
