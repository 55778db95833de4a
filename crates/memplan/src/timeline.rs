//! A plan as a trace for a timeline viewer (Perfetto, `chrome://tracing`).
//!
//! A memory space is a process, a buffer a track in it with one slice per
//! stretch of its life, and the bytes in use are a counter. One step is shown as one
//! microsecond: the format knows no steps.

use memplan_core::{BufferId, Id, Plan, Problem, SpaceId};
use serde_json::{Value, json};

use crate::map::scene::Scene;

/// The trace as JSON, one event on each line.
pub fn write(problem: &Problem, plan: &Plan) -> String {
    let mut events = Vec::new();
    // In this format `ph` says what an event is: M names a process or a track, C is a value of a counter, X is a slice
    // with a beginning (`ts`) and a length (`dur`). `pid` and `tid` are the process and the track.
    for space in problem.spaces().ids() {
        events.push(name_of("process_name", space, 0, &format!("space {}", problem.spaces()[space].name)));
    }
    for panel in Scene::of(problem, plan).panels {
        for (step, bytes) in panel.live {
            events.push(json!({
                "name": "bytes in use", "ph": "C", "pid": process(panel.space), "ts": step.0, "args": {"bytes": bytes.0},
            }));
        }
    }
    for buffer in problem.buffers().ids() {
        track(problem, plan, buffer, &mut events);
    }
    let lines: Vec<String> = events.iter().map(Value::to_string).collect();
    format!("{{\"displayTimeUnit\": \"ns\", \"traceEvents\": [\n{}\n]}}\n", lines.join(",\n"))
}

/// Adds the name of a buffer's track and a slice for each stretch of its life; nothing for a buffer without a place.
fn track(problem: &Problem, plan: &Plan, id: BufferId, events: &mut Vec<Value>) {
    let buffer = &problem.buffers()[id];
    let Some(placement) = plan.placements.get(id).and_then(Option::as_ref) else { return };
    // Track 0 is the process itself.
    let thread = id.index() + 1;
    events.push(name_of("thread_name", placement.space, thread, &buffer.name));
    // A viewer shows these details when a slice is chosen.
    let offsets: Vec<u64> = placement.offsets.iter().map(|offset| offset.0).collect();
    for interval in buffer.lifetime.intervals() {
        let mut details = json!({"size": buffer.bytes().map(|bytes| bytes.0), "offsets": offsets});
        if let Some(window) = interval.window {
            details["window"] = json!([window.low.0, window.high.0]);
        }
        if let Some(object) = placement.object {
            details["object"] = json!(object.index());
        }
        events.push(json!({
            "name": buffer.name.as_str(), "ph": "X", "pid": process(placement.space), "tid": thread,
            "ts": interval.start.0, "dur": interval.end.0 - interval.start.0, "args": details,
        }));
    }
}

/// The event that gives a process or a track its name.
fn name_of(what: &str, space: SpaceId, thread: usize, name: &str) -> Value {
    json!({"name": what, "ph": "M", "pid": process(space), "tid": thread, "args": {"name": name}})
}

/// The number of a space's process. It starts at 1, because viewers treat process 0 in a special way.
fn process(space: SpaceId) -> usize {
    space.index() + 1
}

#[cfg(test)]
mod tests {
    use super::*;
    use memplan_core::{Buffer, Bytes, Interval, Placement, ProblemBuilder};

    #[test]
    fn a_track_for_each_buffer_and_a_counter_for_each_space() {
        let mut builder = ProblemBuilder::new();
        let lifetime = [Interval::new(0, 2), Interval::with_window(4, 6, 0, 8)].into_iter().collect();
        let a = builder.buffer(Buffer::new("a \"b\"", 16, lifetime));
        let problem = builder.build().unwrap();
        let mut plan = Plan::empty(&problem);
        plan.placements[a] = Some(Placement::at(SpaceId::from_index(0), Bytes(32)));
        plan.fit_extents(&problem);
        let trace: Value = serde_json::from_str(&write(&problem, &plan)).unwrap();
        let events = trace["traceEvents"].as_array().unwrap();
        let slices: Vec<_> = events.iter().filter(|event| event["ph"] == "X").collect();
        assert_eq!(slices.len(), 2);
        assert_eq!((&slices[1]["ts"], &slices[1]["dur"]), (&json!(4), &json!(2)));
        assert_eq!(slices[1]["args"], json!({"size": 16, "offsets": [32], "window": [0, 8]}));
        let counted: Vec<u64> = events.iter().filter_map(|event| event["args"]["bytes"].as_u64()).collect();
        assert_eq!(counted, [16, 0, 8, 0]);
    }
}
