//! `memplan plan`.

use insta::assert_snapshot;
use serde_json::json;

use crate::run::{Folder, command};

/// Four buffers in the shape of a small network; the peak is 96 at step 1.
pub(crate) const SMALL: &str = "id,lower,upper,size\na,0,2,64\nb,1,3,32\nc,2,4,48\nd,3,5,16\n";

#[test]
fn without_a_file_the_example_is_planned_and_drawn() {
    let folder = Folder::new();
    let ran = folder.run("plan");
    assert_snapshot!("plan_example", ran.all());
    assert_eq!(folder.files(), ["memplan-map.html"]);
    assert!(folder.read("memplan-map.html").contains("block2.expand"));
}

#[test]
fn the_json_has_exactly_the_documented_shape() {
    let folder = Folder::with(&[("small.csv", SMALL)]);
    let ran = folder.run("plan small.csv -s first-fit --json");
    let plan = ran.json();
    let buffer = |id: &str, size: u64, lifetime: [u64; 2], offset: u64| {
        json!({"id": id, "space": "default", "size": size, "lifetime": [lifetime], "offset": offset,
               "offsets": [offset], "object": null})
    };
    let expected = json!({
        "strategy": "first-fit", "status": "optimal", "extent": 96, "lower_bound": 96,
        "spaces": [{"name": "default", "extent": 96, "lower_bound": 96, "peak_live": 96, "capacity": null, "alignment": 1}],
        "buffers": [buffer("a", 64, [0, 2], 0), buffer("b", 32, [1, 3], 64), buffer("c", 48, [2, 4], 0), buffer("d", 16, [3, 5], 48)],
        "objects": [], "reused": []
    });
    assert_eq!(plan, expected);
    let keys: Vec<&str> = plan.as_object().unwrap().keys().map(String::as_str).collect();
    assert_eq!(keys, ["strategy", "status", "extent", "lower_bound", "spaces", "buffers", "objects", "reused"]);
    assert_eq!(ran.stdout.lines().count(), 1, "one line, for pipes");
}

#[test]
fn objects_are_listed_and_pointed_to() {
    let folder = Folder::with(&[("small.csv", SMALL)]);
    let plan = folder.run("plan small.csv -s greedy-by-size --assign objects --json").json();
    let objects = plan["objects"].as_array().unwrap();
    assert_eq!(objects[0], json!({"size": 64}));
    for buffer in plan["buffers"].as_array().unwrap() {
        let object = buffer["object"].as_u64().unwrap() as usize;
        assert!(objects[object]["size"].as_u64() >= buffer["size"].as_u64());
    }
}

#[test]
fn a_plan_that_cannot_fit_is_explained() {
    let folder = Folder::with(&[("small.csv", SMALL)]);
    assert_snapshot!("plan_infeasible", folder.run("plan small.csv --capacity 80").all());
    let plan = folder.run("plan small.csv --capacity 80 --json").json();
    assert_eq!((&plan["status"], &plan["witness"]), (&json!("infeasible"), &json!(["a", "b"])));
    let ran = folder.run("plan small.csv --capacity 80 -o plan.json --map map.svg");
    assert_eq!((ran.code, folder.files()), (1, vec!["small.csv".to_owned()]), "nothing is written without a plan");
}

/// `c` cannot be in `l1`, so the four do not need more bytes of `l1` than it has.
const TWO_SPACES: &str = r#"{"spaces": [{"name": "ub", "capacity": 128, "alignment": 32}, {"name": "l1", "capacity": 96}],
 "buffers": [{"id": "a", "size": 33, "space": ["ub", "l1"], "lifetime": [[0, 4]]},
  {"id": "b", "size": 33, "space": ["ub", "l1"], "lifetime": [[0, 4]]},
  {"id": "c", "size": 33, "space": ["ub"], "lifetime": [[1, 3]]},
  {"id": "d", "size": 50, "space": "l1", "lifetime": [[0, 9]], "offset": 30}]}"#;

/// Three buffers of 32 bytes that must not share: they need 96 bytes.
const APART: &str = r#"{"spaces": [{"name": "ub", "capacity": 64}],
 "buffers": [{"id": "a", "size": 32, "space": "ub", "lifetime": [[0, 2]]},
  {"id": "b", "size": 32, "space": "ub", "lifetime": [[3, 4]]},
  {"id": "c", "size": 32, "space": "ub", "lifetime": [[5, 6]]}],
 "must_not_share": [["a", "b"], ["b", "c"], ["a", "c"]]}"#;

#[test]
fn what_cannot_fit_is_told_without_numbers_that_nobody_measured() {
    let folder = Folder::with(&[("two.json", TWO_SPACES), ("apart.json", APART)]);
    let several = "4 buffers of the spaces `ub`, `l1` cannot be arranged in them";
    for command in ["plan", "explain"] {
        let said = folder.run(&format!("{command} two.json")).all();
        assert!(said.contains(several) && !said.contains("too many"), "{said}");
    }
    let obstacle = folder.run("explain two.json --json").json()["obstacle"].clone();
    assert_eq!(obstacle["spaces"], json!(["ub", "l1"]), "{obstacle}");
    let said = folder.run("plan apart.json").all();
    assert!(said.contains("these 3 buffers together need more than there is\nof space `ub`"), "{said}");
    assert!(!said.contains("65 bytes"), "{said}");
}

#[test]
fn a_strategy_that_does_not_find_a_plan_says_that_this_proves_nothing() {
    // Naive needs 160 bytes, but 96 are enough.
    let folder = Folder::with(&[("small.csv", SMALL)]);
    assert_snapshot!("plan_not_found", folder.run("plan small.csv -s naive --capacity 100").all());
}

#[test]
fn several_spaces_get_a_row_each() {
    let folder = Folder::with(&[("small.csv", SMALL)]);
    assert_snapshot!("plan_spaces", folder.run("plan small.csv --space sram=64:16 --space dram=1KiB:16").all());
}

#[test]
fn plans_are_written_in_both_forms_and_verify() {
    let folder = Folder::with(&[("small.csv", SMALL)]);
    for (plan, map, end) in [("plan.json", "map.html", "</html>"), ("plan.csv", "map.svg", "</svg>")] {
        let ran = folder.run(&format!("plan small.csv --align 16 -o {plan} --map {map}"));
        assert_eq!(ran.code, 0, "{}", ran.stderr);
        assert!(ran.stdout.contains(&format!("plan written to {plan}\nmap written to {map}")), "{}", ran.stdout);
        assert_eq!(folder.run(&format!("verify small.csv {plan} --align 16")).code, 0);
        assert!(folder.read(map).contains(end));
    }
    assert_eq!(
        folder.files(),
        ["map.html", "map.svg", "plan.csv", "plan.json", "small.csv"],
        "no temporary files stay"
    );
}

#[test]
fn an_old_output_survives_a_failure() {
    let folder = Folder::with(&[("small.csv", SMALL), ("plan.json", "old"), ("bad.csv", "id,size\n")]);
    assert_eq!(folder.run("plan bad.csv -o plan.json").code, 2);
    assert_eq!(folder.run("plan small.csv --capacity 1 -o plan.json").code, 1);
    assert_eq!(folder.read("plan.json"), "old");
}

#[test]
fn standard_input_with_and_without_a_format() {
    let folder = Folder::new();
    let trace = b"alloc a 64\nalloc b 32\nfree a\nfree b\n";
    let extent = |args: &str| folder.run_with_input(args, trace).json()["extent"].clone();
    assert_eq!(extent("plan - --format trace --json"), json!(96));
    assert_eq!(extent("plan - --json"), json!(96), "found out by content");
}

#[test]
fn the_same_input_gives_the_same_bytes() {
    let folder = Folder::with(&[("small.csv", SMALL)]);
    let run = || {
        folder.run("plan small.csv -o plan.csv --map map.html --seed 3");
        (folder.read("plan.csv"), folder.read("map.html"))
    };
    assert!(run() == run());
}

#[test]
fn notes_about_the_input_go_to_standard_error() {
    let folder = Folder::with(&[("extra.csv", "id,lower,upper,size,colour\na,0,2,64,red\n")]);
    let ran = folder.run("plan extra.csv --json");
    assert_eq!(ran.json()["extent"], 64);
    assert!(ran.stderr.starts_with("note: ") && ran.stderr.contains("colour"), "{}", ran.stderr);
}

#[test]
fn a_reader_that_leaves_early_is_no_error() {
    let folder = Folder::new();
    let mut child = command(&folder.path(".")).args(["plan", "--json"]).spawn().unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!((output.status.code(), output.stderr.as_slice()), (Some(0), b"".as_slice()));
}

#[test]
fn output_is_never_coloured_in_a_pipe() {
    let folder = Folder::with(&[("bad.csv", "id,lower,upper,size\na,0,x,1\n")]);
    for args in ["plan", "compare", "strategies", "plan bad.csv", "plan -s atuo"] {
        let ran = folder.run(args);
        assert!(!ran.stdout.contains('\x1b') && !ran.stderr.contains('\x1b'), "{args}");
    }
}

#[test]
fn names_cannot_drive_the_terminal() {
    let folder = Folder::with(&[(
        "evil.json",
        r#"{"buffers": [{"id": "\u001b[2J<script>", "size": 9, "lifetime": [[0, 1]]}]}"#,
    )]);
    let ran = folder.run("plan evil.json --capacity 1 --map map.html");
    assert!(ran.stdout.contains("\\u{1b}[2J<script>") && !ran.stdout.contains('\x1b'), "{}", ran.stdout);
}

#[test]
fn objects_have_a_csv_that_verifies() {
    let textures = r#"{"records": [[[8, 4], 0, 1], [[4, 4], 1, 2], [[2, 8], 2, 3]]}"#;
    let folder = Folder::with(&[("p.csv", "id,lower,upper,size\na,0,1,8\nb,0,2,4\nc,1,3,6\n"), ("t.json", textures)]);
    for file in ["p.csv", "t.json"] {
        let ran = folder.run(&format!("plan {file} -s greedy-in-order --assign objects -o plan.csv"));
        assert_eq!(ran.code, 0, "{}", ran.all());
        assert!(folder.read("plan.csv").starts_with("id,lower,upper,size,object,object_size\n"));
        let ran = folder.run(&format!("verify {file} plan.csv"));
        assert_eq!(ran.code, 0, "{}", ran.all());
    }
    // The first two are alive at the same time.
    std::fs::write(folder.path("wrong.csv"), "id,object,object_size\n0,0,8x4\n1,0,8x4\n2,1,2x8\n").unwrap();
    let ran = folder.run("verify t.json wrong.csv");
    assert_eq!(ran.code, 1, "{}", ran.all());
}
