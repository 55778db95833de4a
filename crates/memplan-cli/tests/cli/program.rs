//! Programs as inputs: MLIR text and memplan's own text form.

use insta::assert_snapshot;
use serde_json::json;

use crate::run::Folder;

/// Three layers in a row: the first and the last result can share memory. The
/// fourth buffer leaves the function.
const LAYERS: &str = "\
func.func @layers(%x: memref<64x64xf32>, %y: memref<64x64xf32>) -> memref<64x64xf32> {
  %a = memref.alloc() : memref<64x64xf32>
  %b = memref.alloc() : memref<64x64xf32>
  %c = memref.alloc() : memref<64x64xf32>
  %d = memref.alloc() : memref<64x64xf32>
  linalg.copy ins(%x : memref<64x64xf32>) outs(%a : memref<64x64xf32>)
  linalg.matmul ins(%x, %a : memref<64x64xf32>, memref<64x64xf32>) outs(%b : memref<64x64xf32>)
  linalg.matmul ins(%b, %x : memref<64x64xf32>, memref<64x64xf32>) outs(%c : memref<64x64xf32>)
  linalg.matmul ins(%c, %x : memref<64x64xf32>, memref<64x64xf32>) outs(%d : memref<64x64xf32>)
  return %d : memref<64x64xf32>
}
";

/// Two buffers, the second of which takes the first one's place in a loop.
const LOOP: &str = "\
func @main(%in) {
  alloc  alloc %x 64 align 16
  alloc  alloc %y 64 align 16
  fill  write %x
  add  read %x, read %in, update %in
  loop  loop 0.. {
    fill  write %y
    add  read %y, update %in
    leave
  }
  return  escape %in
  leave
}
";

fn folder() -> Folder {
    Folder::with(&[("layers.mlir", LAYERS), ("loop.program", LOOP)])
}

#[test]
fn a_program_is_planned() {
    assert_snapshot!("program_planned", folder().run("plan layers.mlir").all());
    let plan = folder().run("plan layers.mlir --json").json();
    assert_eq!((&plan["status"], &plan["extent"]), (&json!("optimal"), &json!(32768)));
    assert_eq!(plan["buffers"][0]["id"], "@layers/%a");
}

#[test]
fn every_stage_of_a_program() {
    for stage in ["program", "aliases", "lifetimes", "problem", "plan"] {
        let ran = folder().run(&format!("dump loop.program --stage {stage}"));
        assert_snapshot!(format!("program_stage_{stage}"), ran.all());
    }
}

#[test]
fn a_dumped_program_is_the_same_program() {
    let folder = folder();
    let once = folder.run("dump layers.mlir --stage program").stdout;
    for args in ["dump - --format program --stage program", "dump - --stage program"] {
        assert_eq!(once, folder.run_with_input(args, once.as_bytes()).stdout);
    }
}

#[test]
fn records_have_no_program() {
    let ran = Folder::with(&[("a.csv", "id,lower,upper,size\na,0,2,64\n")]).run("dump a.csv --stage aliases");
    assert_eq!(ran.code, 2);
    assert!(ran.stderr.contains("there is no program in a.csv"), "{}", ran.stderr);
}

#[test]
fn our_plan_for_a_program_verifies() {
    let folder = folder();
    for plan in ["plan.json", "plan.csv"] {
        folder.run(&format!("plan layers.mlir -o {plan}"));
        let ran = folder.run(&format!("verify layers.mlir {plan}"));
        assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
    }
}

#[test]
fn a_plan_that_loses_a_value_is_refused_with_its_place_in_the_text() {
    let folder = folder();
    // %c over %b, which the op that writes %c reads.
    std::fs::write(folder.path("bad.csv"), "id,offset\n@layers/%a,0\n@layers/%b,16384\n@layers/%c,16384\n").unwrap();
    assert_snapshot!("program_verify", folder.run("verify layers.mlir bad.csv").all());
    let json = folder.run("verify layers.mlir bad.csv --json").json();
    assert_eq!((&json["violations"][0]["line"], &json["violations"][0]["column"]), (&json!(8), &json!(3)));
    let ran = folder.run("show layers.mlir bad.csv -o map.svg");
    assert!(ran.stderr.contains("the plan is wrong"), "{}", ran.stderr);
}

#[test]
fn buffers_a_plan_does_not_mention_keep_their_own_memory() {
    let folder = folder();
    std::fs::write(folder.path("some.csv"), "id,offset\n@layers/%a,0\n@layers/%c,0\n").unwrap();
    let ran = folder.run("verify layers.mlir some.csv");
    assert_eq!(ran.code, 0, "{}", ran.stdout);
    assert!(ran.stdout.starts_with("some.csv: fine, 2 buffers"), "{}", ran.stdout);
}

#[test]
fn errors_in_programs_are_shown_where_they_are() {
    let typo = LAYERS.replace("outs(%c", "outs(%cc");
    let files = [("typo.mlir", typo.as_str()), ("typo.program", "func @main() {\n  x  raed %a\n  leave\n}\n")];
    let folder = Folder::with(&files);
    let transcript: String = ["plan typo.mlir", "plan typo.program"]
        .map(|request| {
            let ran = folder.run(request);
            assert_eq!(ran.code, 2);
            format!("$ memplan {request}\n{}\n", ran.stderr)
        })
        .concat();
    assert_snapshot!("program_errors", transcript);
}

#[test]
fn every_strategy_that_applies_is_compared_on_a_program() {
    let ran = folder().run("compare layers.mlir --json");
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    assert!(ran.json()["strategies"].as_array().is_some_and(|entries| entries.len() > 5));
}

#[test]
fn users_can_say_what_their_own_ops_do() {
    let program = "\
func.func @f(%x: memref<8xf32>) {
  %a = memref.alloc() : memref<8xf32>
  \"acme.scale\"(%x, %a) : (memref<8xf32>, memref<8xf32>) -> ()
  return
}
";
    let dialect = "[[op]]\nname = \"acme.scale\"\nreads = [0]\nwrites = [1]\n";
    let files = [("f.mlir", program), ("acme.toml", dialect), ("typo.toml", "[[op]]\nnaem = \"acme.scale\"\n")];
    let folder = Folder::with(&files);
    let known = folder.run("dump f.mlir --stage program --dialect acme.toml");
    assert_eq!(known.stderr, "");
    assert!(known.stdout.contains("acme.scale  read %x, write %a"), "{}", known.stdout);
    assert!(folder.run("dump f.mlir --stage program").stderr.contains("`acme.scale` is not known"));
    let wrong = folder.run("plan f.mlir --dialect typo.toml");
    assert_eq!(wrong.code, 2);
    assert!(wrong.stderr.contains("typo.toml:2:1") && wrong.stderr.contains("naem"), "{}", wrong.stderr);
}

/// Whoever comes with tensors is told what is missing.
#[test]
fn tensors_are_no_buffers_yet() {
    let text =
        "func.func @f() -> tensor<8xf32> {\n  %e = tensor.empty() : tensor<8xf32>\n  return %e : tensor<8xf32>\n}\n";
    let folder = Folder::with(&[("net.mlir", text)]);
    let ran = folder.run("plan net.mlir");
    assert_eq!(ran.code, 0);
    assert!(ran.stderr.contains("tensors become buffers by bufferization"), "{}", ran.stderr);
}
