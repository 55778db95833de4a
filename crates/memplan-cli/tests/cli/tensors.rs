//! Tensor expressions on the command line: the pages about their life, and what can be wrong.

use insta::assert_snapshot;
use std::path::Path;

use crate::run::{Folder, assert_current};

const BLUR: &str = include_str!("../../../../examples/blur.te.json");

fn folder() -> Folder {
    Folder::with(&[("blur.te.json", BLUR)])
}

/// The page with what its commands print now: every line `$ memplan …` in a console block is run.
fn with_outputs(page: &str, folder: &Folder) -> String {
    let (mut text, mut in_console) = (String::new(), false);
    for line in page.lines() {
        if line.starts_with("```") {
            in_console = line == "```console";
        }
        let command = line.strip_prefix("$ memplan ").filter(|_| in_console);
        if in_console && command.is_none() && line != "```console" {
            continue; // what it printed before
        }
        text.push_str(line);
        text.push('\n');
        if let Some(command) = command {
            let ran = folder.run(command);
            assert_eq!(ran.code, 0, "{command}: {}", ran.stderr);
            text.push_str(ran.stdout.trim_end());
            text.push('\n');
        }
    }
    text
}

#[test]
fn the_pages_show_what_the_commands_print() {
    for page in ["docs/tensor-life-cycle.md", "docs/tensor-life-cycle.zh.md"] {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(page);
        let text = std::fs::read_to_string(path).unwrap();
        assert!(text.matches("$ memplan ").count() >= 8, "{page}");
        assert_current(page, &with_outputs(&text, &folder()));
    }
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
