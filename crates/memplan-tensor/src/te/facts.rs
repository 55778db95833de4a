//! Everything a life cycle decides, as JSON: stages, bounds, realizations, flat buffers, allocations.
//!
//! The form is that of facts recorded from TVM, so that the two can be compared key by key; some fields are always the
//! same here (`origin`, `elem_offset`) and only there to match. A *path* says where a statement stands: the statements
//! around it from the outside in, as in `for:i.outer/attr:extern_scope`.

use super::arith::simplify;
use super::json::Network;
use super::marks::{as_dim_align, as_realize};
use super::pipeline::{LifeCycleError, LowerOptions, Lowered, Scheduled, flat, lower, primfunc, schedule, tensors};
use super::schedule::{Attach, Schedule};
use super::text::plain_expr;
use crate::ir::{Block, BufId, Expr, Function, StmtKind};
use crate::rewrite::{AllocationSite, Judge, allocation_sites, below};
use serde_json::{Map, Value, json};
use std::collections::BTreeSet;

/// The facts of a network, as far as it can be lowered; `error` says where and why it ended.
///
/// Keys in order of the life cycle: `stages`, `stage_facts`, `bounds`, `realizes`, `flat_allocs`, `flat_buffers`,
/// `strides`, `allocs`, `map`.
pub fn facts(network: &Network, options: &LowerOptions, judge: Judge) -> Value {
    let mut facts = Map::new();
    let error = collect(network, options, judge, &mut facts).err();
    let error = error.map(|error| json!({"stage": error.stage(), "message": error.to_string()}));
    let mut all = Map::new();
    all.insert("error".to_owned(), error.unwrap_or(Value::Null));
    all.extend(facts);
    Value::Object(all)
}

/// The facts of a network as text.
pub(super) fn facts_text(network: &Network, options: &LowerOptions, judge: Judge) -> String {
    format!("{:#}\n", facts(network, options, judge))
}

/// Runs the life cycle of a network and notes the facts of every stage in `facts`. An error says which step failed.
fn collect(
    network: &Network,
    options: &LowerOptions,
    judge: Judge,
    facts: &mut Map<String, Value>,
) -> Result<(), LifeCycleError> {
    // Facts are added stage by stage. If a stage fails, the facts of the stages before it remain and show how far
    // the life cycle got.
    let asked =
        network.schedule().map_err(|(index, error)| LifeCycleError::Schedule { directive: Some(index), error })?;
    let stages: Vec<&str> = asked.order.iter().map(|stage| asked.name(*stage)).collect();
    facts.insert("stages".to_owned(), json!(stages));
    let scheduled = schedule(network)?;
    facts.insert("stage_facts".to_owned(), stage_facts(&scheduled.normalised));
    facts.insert("bounds".to_owned(), bounds(&scheduled));
    let body = tensors(network, &scheduled)?;
    let buffers = primfunc(network, &scheduled, &body)?;
    let mut realized = Vec::new();
    realizes(&buffers.function, &buffers.function.body, "", &mut realized);
    facts.insert("realizes".to_owned(), Value::Array(realized));
    flat(&buffers, options)?;
    // All steps once more, for the values of the last ones.
    let lowered = lower(network, options, judge)?;
    facts.insert("flat_allocs".to_owned(), allocations(&lowered.flat.function));
    facts.insert("flat_buffers".to_owned(), flat_buffers(&lowered));
    facts.insert("strides".to_owned(), strides(&lowered));
    facts.insert("allocs".to_owned(), allocations(&lowered.rewritten.function));
    facts.insert("map".to_owned(), places(&lowered));
    Ok(())
}

/// For each stage of a schedule: where it is computed (in TVM's words), its memory and its loops.
fn stage_facts(schedule: &Schedule) -> Value {
    let fact = |stage: &super::schedule::StageId| {
        let facts = &schedule.stages[*stage];
        let attach = match facts.attach {
            Attach::Root => "root",
            Attach::Inline => "inline",
            Attach::Inlined => "inlined_already",
            Attach::At(..) => "scope",
        };
        let loops: Vec<&str> = facts.leaf_axes.iter().map(|axis| schedule.axis_name(*axis)).collect();
        json!({"name": schedule.name(*stage), "origin": schedule.name(*stage), "attach": attach, "scope": facts.scope,
               "is_output": facts.is_output, "leaf_iter_vars": loops})
    };
    schedule.order.iter().map(fact).collect()
}

/// For each stage that is computed the range of every axis of its operation: name, first value and extent, as texts.
fn bounds(scheduled: &Scheduled) -> Value {
    let schedule = &scheduled.normalised;
    let mut all = Map::new();
    for stage in schedule.order.iter().filter(|stage| schedule.stages[**stage].attach != Attach::Inlined) {
        let axes = schedule.graph.ops[schedule.stages[*stage].op].root_axes();
        // An expression in canonical form, with names that TVM's facts have, too.
        let text = |expr: &Expr| plain_expr(&simplify(expr), &schedule.graph.tables);
        let ranges: Vec<Value> = axes
            .iter()
            .filter_map(|axis| Some((axis, scheduled.bounds.range(*axis)?)))
            .map(|(axis, range)| json!([schedule.axis_name(*axis), text(&range.min), text(&range.extent)]))
            .collect();
        all.insert(schedule.name(*stage).to_owned(), Value::Array(ranges));
    }
    Value::Object(all)
}

/// Adds the realizations of a block to `found` (each says which elements of a buffer are needed), with the path of the
/// statements around them. `path` is that of the block.
fn realizes(function: &Function, block: &Block, path: &str, found: &mut Vec<Value>) {
    let mut path = path.to_owned();
    for stmt in block {
        match &stmt.kind {
            StmtKind::Evaluate(value) => {
                if let Some(realize) = as_realize(value) {
                    let buffer = &function.buffers[realize.tensor];
                    let texts: Vec<String> =
                        realize.bounds.iter().map(|bound| plain_expr(&simplify(bound), function)).collect();
                    let bounds: Vec<&[String]> = texts.chunks_exact(2).collect();
                    found.push(json!({"name": buffer.name, "dtype": buffer.dtype.to_string(), "bounds": bounds,
                                      "scope": buffer.scope.to_string(), "path": path}));
                // In TVM an alignment mark has everything after it in the block as its body. So the path of what
                // follows contains it.
                } else if as_dim_align(value).is_some() {
                    path = below(&path, "attr:buffer_dim_align");
                }
            }
            // All other statements with a body only make the path longer.
            StmtKind::For { var, body, .. } => {
                realizes(function, body, &below(&path, &format!("for:{}", function.vars[*var].name)), found);
            }
            StmtKind::Thread { tag, body, .. } => {
                realizes(function, body, &below(&path, &format!("attr:thread_extent({tag})")), found);
            }
            StmtKind::Attr { key, body, .. } => realizes(function, body, &below(&path, &format!("attr:{key}")), found),
            StmtKind::If { then, otherwise, .. } => {
                realizes(function, then, &below(&path, "then"), found);
                realizes(function, otherwise, &below(&path, "else"), found);
            }
            _ => {}
        }
    }
}

/// For each allocation of a function its buffer and its path, in the order of the text.
fn allocations(function: &Function) -> Value {
    let fact = |site: &AllocationSite| {
        let extents = &function.buffers[site.buffer].shape;
        let extents: Vec<String> = extents.iter().map(|extent| plain_expr(extent, function)).collect();
        json!({"name": site.name, "dtype": site.dtype.to_string(), "extents": extents, "scope": site.scope.to_string(),
               "path": site.path})
    };
    allocation_sites(function).iter().map(fact).collect()
}

/// For each buffer that is accessed its flat shape and all subscripts that it is accessed with, as texts. Subscripts
/// with the same text are listed once.
fn flat_buffers(lowered: &Lowered) -> Value {
    let function = &lowered.flat.function;
    let mut all = Map::new();
    for flat in &lowered.flat.buffers {
        let buffer = &function.buffers[flat.buffer];
        let shape: Vec<String> = buffer.shape.iter().map(|extent| plain_expr(extent, function)).collect();
        let mut indices: Vec<String> = Vec::new();
        for index in flat.subscripts.iter().map(|index| plain_expr(index, function)) {
            if !indices.contains(&index) {
                indices.push(index);
            }
        }
        let fact = json!({"dtype": buffer.dtype.to_string(), "shape": shape, "strides": [], "alignment": flat.alignment,
                          "elem_offset": "0", "scope": buffer.scope.to_string(), "indices": indices});
        all.insert(buffer.name.clone(), fact);
    }
    Value::Object(all)
}

/// For each buffer that is accessed the strides of its dimensions, in elements. `null` stands for a dimension in which
/// every access has subscript 0, and for a whole buffer whose strides are not constant.
fn strides(lowered: &Lowered) -> Value {
    let mut all = Map::new();
    for flat in &lowered.flat.buffers {
        let symbolic = flat.strides.iter().flatten().any(|stride| stride.as_int().is_none());
        let each: Vec<Option<i64>> = flat.strides.iter().map(|stride| stride.as_ref().and_then(Expr::as_int)).collect();
        let name = lowered.flat.function.buffers[flat.buffer].name.clone();
        all.insert(name, if symbolic { Value::Null } else { json!(each) });
    }
    Value::Object(all)
}

/// For each buffer that is accessed by subscripts: the allocation that holds it after the storage rewrite, and its
/// offset in there, in elements of the buffer.
fn places(lowered: &Lowered) -> Value {
    let indexed: BTreeSet<BufId> = lowered.flat.buffers.iter().map(|flat| flat.buffer).collect();
    let named: BTreeSet<&str> = indexed.iter().map(|buffer| lowered.prepared.buffers[*buffer].name.as_str()).collect();
    let mut all = Map::new();
    for place in lowered.rewritten.places(&lowered.prepared) {
        if named.contains(place.name.as_str()) {
            all.insert(place.name.clone(), json!({"root": place.root, "offset": place.offset}));
        }
    }
    Value::Object(all)
}
