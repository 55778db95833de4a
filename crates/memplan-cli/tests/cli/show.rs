//! `memplan show`.

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
print(json.dumps({"left": len(live), "peak": peak, "names": names, "extent": snapshot["segments"][0]["total_size"]}))
"#;

#[test]
fn a_snapshot_is_a_pickle_of_allocations() {
    let big = format!("{SMALL}\"large, \u{e9}\",9,12,5000000000\n");
    let folder = Folder::with(&[("small.csv", big.as_str()), ("follow.py", FOLLOW)]);
    assert_eq!(folder.run("show small.csv -o snapshot.pickle").code, 0);
    let python = std::env::var("MEMPLAN_PYTHON").unwrap_or_else(|_| "python3".to_owned());
    let arguments = ["follow.py", "snapshot.pickle"];
    let Ok(output) = std::process::Command::new(python).args(arguments).current_dir(folder.path("")).output() else {
        assert!(std::env::var_os("MEMPLAN_REQUIRE_PEERS").is_none(), "needs python");
        eprintln!("skipped: needs python");
        return;
    };
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let followed: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((&followed["left"], &followed["peak"]), (&0.into(), &5_000_000_000u64.into()));
    assert_eq!(followed["extent"], followed["peak"]);
    assert!(followed["names"].as_array().unwrap().contains(&"large, \u{e9}".into()), "{followed}");
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
