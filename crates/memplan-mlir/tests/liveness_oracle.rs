//! Lifetimes against mlir-opt's own liveness: where it says that a value is
//! live, its buffer is, from the first use on. We may know more (a loop is
//! lived through as a whole), never less.

#![allow(clippy::unwrap_used, reason = "a test that cannot set the stage has failed")]

use std::collections::BTreeMap;
use std::io::Write;
use std::process::{Command, Stdio};

use memplan_analysis::{Aliases, Life, Lifetimes, OpTree};
use memplan_mlir::{Dialects, Document, OpId, lower};

/// Every op has a tag; every use of a buffer is an access.
const PROGRAM: &str = r#"
func.func @f(%n: index, %p: i1) {
  %c0 = arith.constant {tag = 1} 0 : index
  %c1 = arith.constant {tag = 2} 1 : index
  %a = memref.alloc() {tag = 3} : memref<8xf32>
  %b = memref.alloc() {tag = 4} : memref<8xf32>
  "test.use"(%a) {tag = 5} : (memref<8xf32>) -> ()
  scf.for %i = %c0 to %n step %c1 {
    "test.use"(%b) {tag = 7} : (memref<8xf32>) -> ()
    %d = memref.alloc() {tag = 8} : memref<8xf32>
    "test.use"(%d) {tag = 9} : (memref<8xf32>) -> ()
    scf.for %j = %c0 to %n step %c1 {
      "test.use"(%d, %a) {tag = 10} : (memref<8xf32>, memref<8xf32>) -> ()
    } {tag = 6}
  } {tag = 11}
  %e = memref.alloc() {tag = 12} : memref<8xf32>
  scf.if %p {
    "test.use"(%e) {tag = 13} : (memref<8xf32>) -> ()
  } else {
    "test.use"(%a) {tag = 14} : (memref<8xf32>) -> ()
  } {tag = 15}
  "test.use"(%e) {tag = 16} : (memref<8xf32>) -> ()
  return
}
func.func @graph(%p: i1) {
  %a = memref.alloc() {tag = 21} : memref<8xf32>
  %b = memref.alloc() {tag = 22} : memref<8xf32>
  "test.use"(%a) {tag = 23} : (memref<8xf32>) -> ()
  cf.br ^one
^one:
  "test.use"(%b) {tag = 24} : (memref<8xf32>) -> ()
  %c = memref.alloc() {tag = 25} : memref<8xf32>
  "test.use"(%c) {tag = 26} : (memref<8xf32>) -> ()
  cf.cond_br %p, ^one, ^two
^two:
  "test.use"(%a) {tag = 27} : (memref<8xf32>) -> ()
  return
}
"#;

#[test]
fn what_is_live_to_mlir_is_alive_to_us() {
    let Some(live) = liveness() else { return };
    let document = Document::read(PROGRAM, Dialects::builtin()).unwrap();
    let lowered = lower(&document).unwrap();
    let tree = OpTree::new(&lowered.program);
    let lifetimes = Lifetimes::new(&lowered.program, &Aliases::new(&lowered.program), &tree);
    let tag = |op: OpId| document.integer_attribute(op, "tag");
    let by_tag: BTreeMap<i64, OpId> = document.op_ids().filter_map(|op| Some((tag(op)?, op))).collect();
    let mut compared = 0;
    for site in lowered.program.sites().ids() {
        let alloc = lowered.sites[site];
        let name = tag(alloc).unwrap();
        let Life::Range { first, last } = lifetimes.life(site) else { panic!("{name} is used") };
        let (first, last) = (lowered.ops[first], lowered.ops[last]);
        for used in live[&name].iter().map(|used| by_tag[used]).filter(|&used| uses(&document, used, alloc)) {
            assert!(first <= used && used <= last, "{name}: {:?} outside {first:?}..{last:?}", tag(used));
            compared += 1;
        }
    }
    assert!(compared >= 12, "{compared}");
}

/// Whether an op takes the buffer as an operand.
fn uses(document: &Document, op: OpId, alloc: OpId) -> bool {
    document.operands(op).contains(&document.results(alloc)[0])
}

/// For each alloc's tag, the tags of the ops at which mlir-opt has its value
/// live, in any block; `None` without mlir-opt.
fn liveness() -> Option<BTreeMap<i64, Vec<i64>>> {
    let spawned = Command::new("mlir-opt-22")
        .args(["--allow-unregistered-dialect", "--mlir-disable-threading", "-o", "/dev/null"])
        .arg("-pass-pipeline=builtin.module(func.func(test-print-liveness))")
        .stdin(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn();
    let Ok(mut child) = spawned else {
        memplan_testkit::peers::missing("mlir-opt-22");
        return None;
    };
    child.stdin.take().unwrap().write_all(PROGRAM.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    let text = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success(), "{text}");
    let mut live = BTreeMap::<i64, Vec<i64>>::new();
    let mut value: Option<i64> = None;
    let mut begins = false;
    for line in text.lines() {
        if line.starts_with("// val_") {
            (value, begins) = (None, true);
        } else if line.starts_with("// ---") {
            (value, begins) = (None, false);
        }
        let Some((_, tag)) = line.split_once("tag = ") else { continue };
        let tag: i64 = tag.split([' ', '}']).next().unwrap().parse().unwrap();
        if begins {
            value = line.contains("memref.alloc()").then_some(tag);
            begins = false;
        }
        if let Some(value) = value {
            live.entry(value).or_default().push(tag);
        }
    }
    Some(live)
}
