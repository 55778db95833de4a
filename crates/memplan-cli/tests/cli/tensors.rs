//! Tensor expressions on the command line: every stage, and what can be wrong.

use insta::assert_snapshot;

use crate::run::Folder;

const BLUR: &str = include_str!("../../../../examples/blur.te.json");

fn folder() -> Folder {
    Folder::with(&[("blur.te.json", BLUR)])
}

#[test]
fn all_stages_run_alike() {
    let folder = folder();
    let expected = folder.run("run blur.te.json").stdout;
    assert!(expected.contains("O: float32[32]"), "{expected}");
    for stage in ["graph", "schedule-ops", "primfunc", "flat", "prepared", "rewritten"] {
        assert_eq!(folder.run(&format!("run blur.te.json --stage {stage}")).stdout, expected, "{stage}");
    }
    let lowered = folder.run("opt blur.te.json --pass lower").stdout;
    assert_eq!(folder.run_with_input("run -", lowered.as_bytes()).stdout, expected, "the lowered text");
}

#[test]
fn a_network_is_an_input_like_any_other() {
    let folder = folder();
    let planned = folder.run("plan blur.te.json --json").json();
    assert_eq!(planned["buffers"].as_array().map(Vec::len), Some(3), "{planned}");
    let facts = folder.run("dump blur.te.json --stage facts").json();
    assert_eq!(facts["allocs"].as_array().map(Vec::len), Some(2), "{facts}");
}

#[test]
fn what_is_wrong_is_shown_at_its_place() {
    let split = BLUR.replace("\"target\": \"Z\", \"axis\": \"io\"", "\"target\": \"Z\", \"axis\": \"i\"");
    let folder = Folder::with(&[
        ("leaf.te.json", &split),
        ("expr.te.json", &BLUR.replace("R[i]+R[0]", "R[i]+Q[0]")),
        ("cut.te.json", &BLUR[..40]),
    ]);
    for name in ["leaf", "expr", "cut"] {
        let ran = folder.run(&format!("opt {name}.te.json --pass lower"));
        assert_eq!((ran.code, ran.stdout.as_str()), (2, ""));
        assert_snapshot!(format!("te_{name}"), ran.all());
    }
    let ran = folder.run("opt leaf.te.json --pass lower{fast}");
    assert_eq!(ran.code, 2, "{}", ran.stderr);
}
