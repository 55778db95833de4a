//! Networks of `top` and `tpu` ops: addresses, their check, the documented table.

use insta::assert_snapshot;

use crate::run::Folder;

const FIGURE: &str = include_str!("../../../../tests/data/gmem/figure.mlir");
const OVERLAP: &str = include_str!("../../../../tests/data/gmem/overlap.mlir");

#[test]
fn the_documented_flow_step_by_step() {
    let folder = Folder::with(&[("figure.mlir", FIGURE)]);
    assert_snapshot!("reuse_table", folder.run("dump figure.mlir --stage reuse-table").all());
    let rewritten = folder.run("opt figure.mlir --pass assign-gmem{mode=documented}");
    assert_snapshot!("assign_gmem_documented", rewritten.all());
}

#[test]
fn a_network_can_be_planned_like_any_program() {
    let folder = Folder::with(&[("figure.mlir", FIGURE)]);
    assert_snapshot!("gmem_lifetimes", folder.run("dump figure.mlir --stage lifetimes").all());
    let plan = folder.run("plan figure.mlir --align 4096 --json");
    assert_eq!(plan.code, 0);
    assert!(plan.stdout.contains("\"extent\": 16384") || plan.stdout.contains("\"extent\":16384"), "{}", plan.stdout);
}

#[test]
fn addresses_of_another_compiler() {
    let folder = Folder::with(&[("overlap.mlir", OVERLAP)]);
    assert_snapshot!("verify_overlap", folder.run("verify overlap.mlir overlap.mlir").all());
    folder.run("opt overlap.mlir --pass assign-gmem -o ours.mlir");
    assert_snapshot!("verify_ours", folder.run("verify overlap.mlir ours.mlir").all());
    // These options are not used by the check, so "fine" would not mean that the addresses keep them.
    for option in ["--capacity 1", "--align 1048576", "--space gmem=1"] {
        let ran = folder.run(&format!("verify overlap.mlir ours.mlir {option}"));
        assert_eq!((ran.code, ran.stdout.as_str()), (2, ""), "{option}: {}", ran.stderr);
    }
}
