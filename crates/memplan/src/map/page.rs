//! The picture as a self-contained HTML page.
//!
//! The page is a frame (`page/page.html`), a style sheet, a script in a few
//! files that share one scope, and the shapes of the [`Scene`](super::scene) as
//! JSON. The script draws the shapes on a canvas, so that 10^5 of them stay
//! smooth, and makes every other element with `textContent`: nothing that comes
//! from an input is ever markup. Nothing is loaded from anywhere, and a content
//! security policy says so.
//!
//! # The data
//!
//! Columns, not objects: one array over all buffers for each property, and
//! columns that say nothing are left out. A space of a plan has its shapes in one
//! flat array, six numbers each: buffer, 3 x slot + kind (0 idle, 1 alive,
//! 2 taken over in place), first step, end step, first byte, end byte. Reuse that costs
//! something is seven numbers: the earlier and the later buffer, the price, the step at which the one
//! ends, the step at which the other begins, first byte, end byte.

use memplan_core::{Buffer, BufferId, Bytes, Id, Problem, Size};
use memplan_planner::strategy::levels;
use serde_json::{Value, json};

use super::label::escape;
use super::scene::{Handover, Panel, Shape};
use super::{Map, Remark};
use crate::trade_off::Point;
use crate::wording::Unit;

/// At most this many violations are listed.
const VIOLATIONS: usize = 100;

/// The script's files in the order in which they are put together.
const SCRIPT: &[&str] = &[
    include_str!("page/data.js"),
    include_str!("page/words.js"),
    include_str!("page/colour.js"),
    include_str!("page/camera.js"),
    include_str!("page/raster.js"),
    include_str!("page/chart.js"),
    include_str!("page/curve.js"),
    include_str!("page/tables.js"),
    include_str!("page/costs.js"),
    include_str!("page/controls.js"),
    include_str!("page/main.js"),
];

/// A complete HTML document for one or several plans of one problem.
pub(super) fn document(maps: &[Map]) -> String {
    let title = maps.first().map(|map| escape(&map.caption.title)).unwrap_or_default();
    // All files of the script share one function's scope, so that nothing of it is visible outside.
    let script = format!("\"use strict\";\n(() => {{\n{}}})();\n", SCRIPT.concat());
    let parts = [
        ("TITLE", title.as_str()),
        ("STYLE", include_str!("page/page.css")),
        ("DATA", &harmless(&data(maps).to_string())),
        ("SCRIPT", &script),
    ];
    fill(include_str!("page/page.html"), &parts)
}

/// Replaces each `{{NAME}}` of a template by the part of that name. The template is read once from left to right, so
/// that a `{{` inside of a part is not replaced in turn.
fn fill(template: &str, parts: &[(&str, &str)]) -> String {
    let mut text = String::new();
    let mut rest = template;
    while let Some((before, after)) = rest.split_once("{{") {
        // A `{{` without an end takes the rest of the template as its name.
        let (name, after) = after.split_once("}}").unwrap_or((after, ""));
        text.push_str(before);
        text.extend(parts.iter().filter(|part| part.0 == name).map(|part| part.1));
        rest = after;
    }
    text + rest
}

/// JSON that can stand inside a script element of HTML. Characters that could end the element, start a comment of HTML,
/// or be a line end in older versions of JavaScript are written as `\u003c` and the like, which means the same in JSON.
fn harmless(json: &str) -> String {
    let mut text = String::with_capacity(json.len());
    for character in json.chars() {
        match character {
            '<' | '>' | '&' | '\u{2028}' | '\u{2029}' => text.push_str(&format!("\\u{:04x}", u32::from(character))),
            other => text.push(other),
        }
    }
    text
}

/// Everything that the script of the page draws, as one JSON value. The buffers stand in it once; each plan refers to
/// them by number.
fn data(maps: &[Map]) -> Value {
    // A page without a plan still has the columns that the script reads.
    let Some(first) = maps.first() else { return json!({"buffers": {"name": []}, "plans": []}) };
    json!({
        "title": first.caption.title,
        "first": first.scene.first,
        "last": first.scene.last,
        "step": first.steps.what,
        "elements": first.scene.unit == Unit::Elements,
        "steps": first.steps.names,
        "buffers": buffers(first.problem, &first.remarks),
        "plans": maps.iter().map(plan).collect::<Vec<_>>(),
        "tradeOff": first.trade_off.as_deref().map(trade_off),
    })
}

/// What reuse costs at each capacity, point by point.
fn trade_off(points: &[Point]) -> Value {
    let point = |point: &Point| {
        let Point { space, capacity, extent, cost, lower_bound, .. } = point;
        json!({"space": space, "capacity": capacity.map(|bytes| bytes.0), "extent": extent.map(|bytes| bytes.0),
               "cost": cost, "atLeast": lower_bound})
    };
    points.iter().map(point).collect()
}

/// A column of the data: one value for each buffer, in their order.
fn column(problem: &Problem, value: impl Fn(&Buffer) -> Value) -> Vec<Value> {
    problem.buffers().iter().map(value).collect()
}

/// The columns over all buffers. `volume` is a size as one number: bytes, or the product of the
/// components of a shape (elements of a texture). A buffer's `pipe` is the unit of an NPU that
/// produces it, `loop` the innermost loop around it, `group` and `at` the group it is tied to and
/// its distance there; `fixed` is an offset that the problem prescribes.
fn buffers(problem: &Problem, remarks: &[Remark]) -> Value {
    let mut columns = json!({
        "name": column(problem, |buffer| json!(buffer.name.as_str())),
        "size": column(problem, |buffer| json!(buffer.size.volume().map(|bytes| bytes.0))),
        "start": column(problem, |buffer| json!(buffer.lifetime.start().map(|step| step.0))),
        "end": column(problem, |buffer| json!(buffer.lifetime.end().map(|step| step.0))),
    });
    // A column of nothing but nulls is left out. Pages of large plans have 10^5 buffers, and most columns say
    // nothing about most of them.
    let optional: [(&str, Vec<Value>); 9] = [
        ("shape", column(problem, |buffer| shape_words(&buffer.size))),
        ("pipe", column(problem, |buffer| json!(buffer.pipe()))),
        ("loop", column(problem, |buffer| json!(buffer.enclosing_loop()))),
        ("slots", column(problem, |buffer| unless(buffer.slots == 1, buffer.slots))),
        ("alignment", column(problem, |buffer| unless(buffer.alignment <= Bytes(1), buffer.alignment.0))),
        ("fixed", column(problem, |buffer| json!(buffer.fixed().map(|offset| offset.0)))),
        ("exclusive", column(problem, |buffer| unless(!buffer.exclusive, 1))),
        ("group", column(problem, |buffer| json!(buffer.tie().map(|tie| problem.groups()[tie.group].as_str())))),
        ("at", column(problem, |buffer| json!(buffer.tie().map(|tie| tie.at.0)))),
    ];
    for (name, values) in optional {
        if values.iter().any(|value| !value.is_null()) {
            columns[name] = Value::Array(values);
        }
    }
    let notes = remarks.iter().map(|remark| json!({"what": remark.what, "of": remark.of.as_slice()}));
    columns["notes"] = notes.collect();
    columns
}

/// `null` for a buffer that is as most are, its value otherwise. A column of nothing but `null` is
/// left out of the page.
fn unless(is_usual: bool, value: impl Into<Value>) -> Value {
    if is_usual { Value::Null } else { value.into() }
}

/// A size that is not simply a number of bytes, in words: `3 × 224 × 224`, or `n, at most 4096 bytes`.
fn shape_words(size: &Size) -> Value {
    match size {
        Size::Fixed(_) => Value::Null,
        Size::Shape(components) => {
            let numbers: Vec<String> = components.iter().map(u64::to_string).collect();
            json!(numbers.join(" × "))
        }
        Size::Symbolic { symbol, at_most: Some(bytes) } => json!(format!("{symbol}, at most {bytes} bytes")),
        Size::Symbolic { symbol, at_most: None } => json!(symbol),
    }
}

/// The plan as the script wants it. `offsets`, `objects` and `levels` are columns over all buffers;
/// a column that would say nothing is an empty list, which keeps the page small. `reused` are the
/// in-place reuses: the buffer that starts, and those on whose bytes it does. `cost` is the price
/// of the plan's reuse and the least that any plan costs. `violated` counts all violations, of
/// which the first 100 are listed.
fn plan(map: &Map) -> Value {
    // For each buffer the number of its object; an empty list if the plan has no objects.
    let objects = map.plan.placements.iter().map(|placement| placement.as_ref()?.object.map(Id::index));
    let objects: Vec<Option<usize>> = if map.plan.objects.is_empty() { Vec::new() } else { objects.collect() };
    let over = |buffers: &[BufferId]| buffers.iter().map(|buffer| buffer.index()).collect::<Vec<_>>();
    let reused = map.plan.reused.iter().map(|reuse| json!([reuse.buffer.index(), over(&reuse.over)]));
    let offsets = map.plan.placements.iter().map(|placement| {
        let offsets = placement.as_ref().map(|placement| &placement.offsets);
        json!(offsets.map(|offsets| offsets.iter().map(|offset| offset.0).collect::<Vec<_>>()))
    });
    json!({
        "cost": map.plan.cost.map(|cost| [cost.total, cost.lower_bound]),
        "facts": map.caption.facts,
        "extent": map.plan.extent().0,
        "objects": objects,
        "levels": level_words(map),
        "offsets": offsets.collect::<Vec<_>>(),
        "reused": reused.collect::<Vec<_>>(),
        "advice": map.advice,
        "violated": map.violations.len(),
        "violations": map.violations.iter().take(VIOLATIONS).collect::<Vec<_>>(),
        "spaces": map.scene.panels.iter().map(space).collect::<Vec<_>>(),
    })
}

/// The level of sharing of each buffer in words, from `level2` (shares within its pipe only) to `level0` (shares with
/// anybody whose life is apart, so that pipes may have to wait for each other). `None` for a buffer that takes over
/// nothing; empty where no pipes are known.
fn level_words(map: &Map) -> Vec<Option<&'static str>> {
    if map.problem.buffers().iter().all(|buffer| buffer.pipe().is_none()) {
        return Vec::new();
    }
    let levels = levels::levels_of(map.problem, map.plan);
    levels.iter().map(|level| level.map(levels::Level::describe)).collect()
}

/// One space of a plan, for the script of the page. A handover is a pair of buffers whose sharing costs something, and
/// is written as seven numbers. Shapes and lists of numbers are written flat, because a page of a large plan has 10^5
/// of them.
fn space(panel: &Panel) -> Value {
    let handover = |handover: &Handover| {
        let Handover { earlier, later, weight, from, to, low, high } = *handover;
        [earlier.index() as u64, later.index() as u64, weight, from, to, low, high]
    };
    json!({
        "name": panel.name,
        "handovers": panel.handovers.iter().map(handover).collect::<Vec<_>>(),
        "extent": panel.extent.0,
        "capacity": panel.capacity.map(|bytes| bytes.0),
        "lower": panel.lower_bound.0,
        "peak": panel.peak.bytes.0,
        "peakStep": panel.peak.step.map(|step| step.0),
        "edges": panel.object_edges,
        "live": panel.live.iter().flat_map(|&(step, bytes)| [step.0, bytes.0]).collect::<Vec<_>>(),
        "shapes": panel.shapes.iter().flat_map(numbers).collect::<Vec<_>>(),
    })
}

/// A shape as six numbers, in the order that the module's documentation gives. The number of a kind
/// is its place in `scene::Kind`.
fn numbers(shape: &Shape) -> [u64; 6] {
    let kind = 3 * shape.slot as u64 + shape.kind as u64;
    [shape.buffer.index() as u64, kind, shape.start, shape.end, shape.low, shape.high]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_filled_in_is_not_a_template() {
        assert_eq!(fill("<{{A}}|{{B}}>", &[("A", "{{B}}"), ("B", "{{A}}")]), "<{{B}}|{{A}}>");
        assert_eq!(fill("{{A", &[("A", "x")]), "x");
    }

    #[test]
    fn json_in_a_script_cannot_end_it() {
        let text = harmless(&json!("</script><!--\u{2028}&").to_string());
        assert_eq!(text, r#""\u003c/script\u003e\u003c!--\u2028\u0026""#);
        assert_eq!(serde_json::from_str::<Value>(&text).unwrap(), json!("</script><!--\u{2028}&"));
    }
}
