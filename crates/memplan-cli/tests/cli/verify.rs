//! `memplan verify`.

use insta::assert_snapshot;
use serde_json::json;

use crate::plan::SMALL;
use crate::run::Folder;

#[test]
fn a_right_plan_is_fine() {
    let plan = "id,offset\na,0\nb,64\nc,0\nd,48\n";
    let folder = Folder::with(&[("small.csv", SMALL), ("plan.csv", plan)]);
    assert_snapshot!("verify_fine", folder.run("verify small.csv plan.csv").all());
}

#[test]
fn a_plan_broken_by_hand_is_explained() {
    let plan = "id,offset\na,0\nb,60\nc,0\ne,48\n";
    let folder = Folder::with(&[("small.csv", SMALL), ("plan.csv", plan)]);
    assert_snapshot!("verify_broken", folder.run("verify small.csv plan.csv --align 16 --capacity 64").all());
    let json: serde_json::Value = folder.run("verify small.csv plan.csv --json").json();
    assert_eq!(json["ok"], false);
    let violations = json["violations"].as_array().unwrap();
    assert_eq!(violations.len(), 3);
    let overlap = violations.iter().find(|violation| violation["kind"] == "packing::overlap").unwrap();
    assert_eq!(
        (&overlap["buffers"], &overlap["step"], &overlap["bytes"]),
        (&json!(["a", "b"]), &json!(1), &json!([60, 64]))
    );
}

#[test]
fn offsets_in_another_column() {
    let plan = "id,lower,upper,size,address\na,0,2,64,0\nb,1,3,32,64\nc,2,4,48,0\nd,3,5,16,48\n";
    let folder = Folder::with(&[("small.csv", SMALL), ("theirs.csv", plan)]);
    let ran = folder.run("verify small.csv theirs.csv --offset-column address");
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "{}", ran.stdout);
    let ran = folder.run("verify small.csv theirs.csv");
    assert_eq!(ran.code, 2, "there is no column called offset");
    assert!(ran.stderr.contains("offset"), "{}", ran.stderr);
}

#[test]
fn our_own_plans_verify_in_every_form() {
    let folder = Folder::with(&[("small.csv", SMALL)]);
    let json = folder.run("plan small.csv --assign objects --json").stdout;
    let ran = folder.run_with_input("verify small.csv -", json.as_bytes());
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
}

#[test]
fn both_from_standard_input_is_wrong_usage() {
    assert_eq!(Folder::new().run("verify - -").code, 2);
}
