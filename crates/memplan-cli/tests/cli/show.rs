//! `memplan show`.

use crate::plan::SMALL;
use crate::run::{Folder, assert_current};

#[test]
fn every_kind_of_picture() {
    let folder = Folder::with(&[("small.csv", SMALL), ("plan.csv", "id,offset\na,0\nb,64\nc,0\nd,48\n")]);
    for plan in ["", "plan.csv"] {
        for picture in ["map.html", "map.svg", "trace.json"] {
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
