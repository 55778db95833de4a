//! Output files beside their inputs, and the same bytes each time.

use crate::run::Folder;

const CSV: &str = "id,lower,upper,size\na,0,2,16\nb,1,3,16\n";

#[test]
fn a_plan_does_not_replace_its_input() {
    let folder = Folder::with(&[("in.csv", CSV)]);
    for command in ["plan in.csv -o in.csv", "plan in.csv -o ./in.csv", "show in.csv -o in.csv"] {
        let ran = folder.run(command);
        assert_eq!(ran.code, 2, "{command}: {}", ran.stderr);
        assert!(ran.stderr.contains("in.csv is the input"), "{}", ran.stderr);
        assert_eq!(folder.read("in.csv"), CSV, "{command}");
    }
}

#[test]
fn a_program_that_is_replaced_is_told_about() {
    let text = "func.func @f(%in: memref<4xf32>) {\n  %a = memref.alloc() : memref<4xf32>\n  \
                memref.copy %in, %a : memref<4xf32> to memref<4xf32>\n  return\n}\n";
    let folder = Folder::with(&[("in.mlir", text)]);
    let ran = folder.run("opt in.mlir --pass merge-alloc -o in.mlir");
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    assert!(ran.stderr.contains("in.mlir was the input: it has been replaced"), "{}", ran.stderr);
    assert!(folder.read("in.mlir").contains("memref.view"));
}

#[test]
fn two_runs_write_the_same_plan() {
    let folder = Folder::with(&[("in.csv", CSV)]);
    for name in ["one.json", "other.json"] {
        assert_eq!(folder.run(&format!("plan in.csv -o {name}")).code, 0);
    }
    assert_eq!(folder.read("one.json"), folder.read("other.json"));
    assert_eq!(folder.run("plan in.csv --json").stdout, folder.read("one.json"));
}
