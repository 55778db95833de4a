//! `memplan show`.

use std::collections::{BTreeMap, BTreeSet};

use memplan_testkit::peers;

use crate::browser::TEN;
use crate::plan::SMALL;
use crate::run::{Folder, assert_current};

#[test]
fn every_kind_of_picture() {
    let folder = Folder::with(&[("small.csv", SMALL), ("plan.csv", "id,offset\na,0\nb,64\nc,0\nd,48\n")]);
    for plan in ["", "plan.csv"] {
        for picture in ["map.html", "map.svg", "trace.json", "snapshot.pickle", "again.csv"] {
            let ran = folder.run(&format!("show small.csv {plan} -o {picture}"));
            assert_eq!((ran.code, ran.stdout), (0, format!("written to {picture}\n")), "{}", ran.stderr);
        }
    }
    assert!(folder.read("map.html").starts_with("<!doctype html>"));
    assert!(folder.read("map.svg").starts_with("<svg "));
    let trace: serde_json::Value = serde_json::from_str(&folder.read("trace.json")).unwrap();
    assert!(trace["traceEvents"].as_array().is_some_and(|events| !events.is_empty()));
}

#[test]
fn the_records_with_offsets_are_a_plan() {
    let folder = Folder::with(&[("small.csv", SMALL)]);
    assert_eq!(folder.run("show small.csv -o plan.csv").code, 0);
    assert!(folder.read("plan.csv").starts_with("id,lower,upper,size,offset\n"), "{}", folder.read("plan.csv"));
    assert_eq!(folder.run("verify small.csv plan.csv").code, 0);
}

/// Reads a snapshot as PyTorch's viewer does, and follows its allocations.
const FOLLOW: &str = r#"
import json, pickle, sys
snapshot = pickle.load(open(sys.argv[1], "rb"))
live, peak, names = {}, 0, []
for event in snapshot["device_traces"][0]:
    if event["action"] == "alloc":
        for address, size in live.items():
            assert event["addr"] + event["size"] <= address or address + size <= event["addr"], event
        live[event["addr"]] = event["size"]
        names.append(event["frames"][0]["name"])
        peak = max(peak, max(address + size for address, size in live.items()))
    elif event["action"] == "free_completed":
        assert live.pop(event["addr"]) == event["size"]
for segment in snapshot["segments"]:
    assert {"device", "address", "total_size", "allocated_size", "active_size", "stream", "segment_type", "blocks"} <= segment.keys()
    assert segment["total_size"] == sum(block["size"] for block in segment["blocks"]), segment
assert len(snapshot["segments"]) == len(snapshot["device_traces"])
for trace in snapshot["device_traces"]:
    assert trace[0]["action"] == "segment_alloc"
    assert [event["time_us"] for event in trace] == sorted(event["time_us"] for event in trace)
    for event in trace:
        assert {"action", "addr", "size", "stream", "frames"} <= event.keys()
        assert all({"name", "filename", "line"} == frame.keys() for frame in event["frames"])
print(json.dumps({"left": len(live), "peak": peak, "names": names, "extent": snapshot["segments"][0]["total_size"]}))
"#;

/// Follows a snapshot with Python; `None` without Python.
fn follow(folder: &Folder) -> Option<serde_json::Value> {
    std::fs::write(folder.path("follow.py"), FOLLOW).unwrap();
    let mut follow = std::process::Command::new(peers::python("pickle")?);
    let output = follow.args(["follow.py", "snapshot.pickle"]).current_dir(folder.path("")).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    Some(serde_json::from_slice(&output.stdout).unwrap())
}

#[test]
fn a_snapshot_is_a_pickle_of_allocations() {
    let big = format!("{SMALL}\"large, \u{e9}\",9,12,5000000000\n");
    let folder = Folder::with(&[("small.csv", big.as_str())]);
    assert_eq!(folder.run("show small.csv -o snapshot.pickle").code, 0);
    let Some(followed) = follow(&folder) else { return eprintln!("skipped: needs python") };
    assert_eq!((&followed["left"], &followed["peak"]), (&0.into(), &5_000_000_000u64.into()));
    assert_eq!(followed["extent"], followed["peak"]);
    assert!(followed["names"].as_array().unwrap().contains(&"large, \u{e9}".into()), "{followed}");
}

/// Bytes that two buffers share at one time belong, to a viewer of allocations, to the later one.
#[test]
fn a_snapshot_hands_out_no_byte_twice() {
    let folder = Folder::with(&[("ten.json", TEN)]);
    assert_eq!(folder.run("show ten.json -o snapshot.pickle").code, 0);
    let Some(followed) = follow(&folder) else { return eprintln!("skipped: needs python") };
    assert_eq!(followed["left"], 0, "{followed}");
}

/// The rules of the trace event format, as its viewers apply them.
#[test]
fn a_trace_keeps_the_rules_of_its_format() {
    let person = include_str!("../../../../corpus/real/vela_person_detect.csv");
    for (file, content, buffers) in [("ten.json", TEN, 10), ("person.csv", person, 60)] {
        let folder = Folder::with(&[(file, content)]);
        assert_eq!(folder.run(&format!("show {file} -o trace.json")).code, 0);
        let trace: serde_json::Value = serde_json::from_str(&folder.read("trace.json")).unwrap();
        assert!(["ns", "ms"].contains(&trace["displayTimeUnit"].as_str().unwrap()));
        let events = trace["traceEvents"].as_array().unwrap();
        let mut ends: BTreeMap<(u64, u64), u64> = BTreeMap::new();
        let mut named = BTreeSet::new();
        let mut counted: BTreeMap<u64, u64> = BTreeMap::new();
        for event in events {
            let number = |field: &str| event[field].as_u64().unwrap_or_else(|| panic!("no {field} in {event}"));
            let process = number("pid");
            match event["ph"].as_str().unwrap() {
                "M" => {
                    assert!(["process_name", "thread_name"].contains(&event["name"].as_str().unwrap()), "{event}");
                    assert!(event["args"]["name"].is_string(), "{event}");
                    named.insert((process, number("tid")));
                }
                "C" => {
                    assert!(event["args"].as_object().unwrap().values().all(serde_json::Value::is_number), "{event}");
                    let last = counted.insert(process, number("ts"));
                    assert!(last.is_none_or(|last| last < number("ts")), "counters go forward: {event}");
                }
                "X" => {
                    assert!(named.contains(&(process, number("tid"))) && number("dur") > 0, "{event}");
                    let end = ends.insert((process, number("tid")), number("ts") + number("dur"));
                    assert!(end.is_none_or(|end| end <= number("ts")), "slices of a track do not overlap: {event}");
                }
                other => panic!("an event of kind {other}"),
            }
        }
        assert_eq!(ends.len(), buffers, "one track a buffer");
    }
}

#[test]
fn two_plans_on_one_page() {
    let folder = Folder::with(&[("small.csv", SMALL)]);
    assert_eq!(folder.run("plan small.csv -s first-fit -o a.json").code, 0);
    assert_eq!(folder.run("plan small.csv -s best-fit -o b.csv").code, 0);
    assert_eq!(folder.run("show small.csv a.json b.csv -o map.html").code, 0);
    assert!(folder.read("map.html").contains("plan a.json") && folder.read("map.html").contains("plan b.csv"));
    let ran = folder.run("show small.csv a.json b.csv -o map.svg");
    assert_eq!(ran.code, 2);
    assert!(ran.stderr.contains("only a page can show several plans"), "{}", ran.stderr);
}

#[test]
fn the_terminal_map_fits_the_window() {
    let folder = Folder::with(&[("small.csv", SMALL)]);
    for (columns, lines) in [("100", "32"), ("44", "12")] {
        let mut command = crate::run::command(&folder.path(""));
        let output = command.args(["show", "small.csv", "--term"]).env("COLUMNS", columns).env("LINES", lines).output();
        let text = String::from_utf8(output.unwrap().stdout).unwrap();
        assert!(text.lines().count() <= lines.parse().unwrap(), "{text}");
        let widest = text.lines().map(|line| line.chars().count()).max().unwrap();
        assert!(widest <= columns.parse().unwrap() && widest > columns.parse::<usize>().unwrap() - 8, "{text}");
        assert!(text.contains("in use") && text.contains("extent"), "{text}");
    }
    let ran = folder.run("show small.csv");
    assert_eq!(ran.code, 2);
    assert!(ran.stderr.contains("nowhere to draw"), "{}", ran.stderr);
}

#[test]
fn a_watched_file_is_drawn_again() {
    let folder = Folder::with(&[("small.csv", SMALL)]);
    let mut command = crate::run::command(&folder.path(""));
    let mut child = command.args(["show", "small.csv", "--watch", "-o", "map.svg"]).spawn().unwrap();
    let appears = |text: &str| {
        let deadline = std::time::Instant::now() + std::time::Duration::from_secs(30);
        while std::time::Instant::now() < deadline {
            let drawn = std::fs::read_to_string(folder.path("map.svg")).unwrap_or_default();
            if drawn.contains(text) {
                return true;
            }
            std::thread::sleep(std::time::Duration::from_millis(20));
        }
        false
    };
    let first = appears("4 buffers");
    std::fs::write(folder.path("small.csv"), "what is this,\n").unwrap();
    std::thread::sleep(std::time::Duration::from_millis(400));
    std::fs::write(folder.path("small.csv"), format!("{SMALL}newcomer,0,9,128\n")).unwrap();
    let second = appears("newcomer");
    child.kill().unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(first && second, "{}", String::from_utf8_lossy(&output.stderr));
    assert!(String::from_utf8_lossy(&output.stderr).contains("error"), "a broken version is said to be one");
}

#[test]
fn a_wrong_plan_is_drawn_with_a_warning() {
    let folder = Folder::with(&[("small.csv", SMALL), ("plan.csv", "id,offset\na,0\nb,0\nc,0\nd,48\n")]);
    let ran = folder.run("show small.csv plan.csv -o map.svg");
    assert_eq!(ran.code, 0);
    assert!(ran.stderr.contains("the plan is wrong: 2 violations"), "{}", ran.stderr);
    assert!(folder.read("map.svg").contains("2 violations"));
}

#[test]
fn without_a_plan_there_is_no_picture() {
    let folder = Folder::with(&[("small.csv", SMALL)]);
    assert_eq!(folder.run("show small.csv -o map.svg --capacity 10").code, 2);
    assert_eq!(folder.files(), ["small.csv"]);
}

#[test]
fn the_picture_in_the_documents_is_current() {
    let records = include_str!("../../../memplan/data/mobilenet_v2.csv");
    let folder = Folder::with(&[("mobilenet_v2.csv", records)]);
    let ran = folder.run("show mobilenet_v2.csv -s greedy-by-size -o map.svg");
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    assert_current("docs/images/mobilenet_v2.svg", &folder.read("map.svg"));
}

/// A plan of a program that no memory of the target can hold is drawn, and the user is told that it is wrong.
#[test]
fn a_plan_beyond_the_capacity_is_said_to_be_wrong() {
    let program = "func @f() {\n  alloc  alloc %x 64, write %x\n  use  read %x\n}\n";
    let folder = Folder::with(&[("small.program", program)]);
    assert_eq!(folder.run("plan small.program -o plan.csv").code, 0);
    let ran = folder.run("show small.program plan.csv -o map.svg");
    assert!(ran.code == 0 && !ran.stderr.contains("wrong"), "{}", ran.stderr);
    let ran = folder.run("show small.program plan.csv --capacity 16 -o map.svg");
    assert!(ran.stderr.contains("the plan is wrong: 2 violations"), "{}", ran.stderr);
    assert_eq!(folder.run("verify small.program plan.csv --capacity 16").code, 1);
}
