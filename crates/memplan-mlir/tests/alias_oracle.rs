//! Aliases against mlir-opt's own analysis: whatever it says may be the same
//! memory, ours says so too; where ours says more, the reason is written down.
#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a test")]

use std::collections::{HashMap, HashSet};
use std::io::Write as _;
use std::process::{Command, Stdio};

use memplan_analysis::Aliases;
use memplan_mlir::{Dialects, Document, ValueId, lower};

const SOURCE: &str = r#"
func.func private @outside(memref<16xf32>) -> memref<16xf32>
func.func @callee(%m: memref<16xf32>) -> memref<16xf32> {
  return %m : memref<16xf32>
}
func.func @views(%c: i1, %n: index, %argument: memref<16xf32>) {
  %bytes = memref.alloc() {test.ptr = "bytes"} : memref<256xi8>
  %a = memref.alloc() {test.ptr = "a"} : memref<16xf32>
  %b = memref.alloc() {test.ptr = "b"} : memref<16xf32>
  %sub = memref.subview %a[4][4][1] {test.ptr = "sub"} : memref<16xf32> to memref<4xf32, strided<[1], offset: 4>>
  %subsub = memref.subview %sub[0][2][1] {test.ptr = "subsub"} : memref<4xf32, strided<[1], offset: 4>> to memref<2xf32, strided<[1], offset: 4>>
  %cast = memref.cast %b {test.ptr = "cast"} : memref<16xf32> to memref<?xf32>
  %unranked = memref.cast %b {test.ptr = "unranked"} : memref<16xf32> to memref<*xf32>
  %view = memref.view %bytes[%n][] {test.ptr = "view"} : memref<256xi8> to memref<16xf32>
  %re = memref.reinterpret_cast %a to offset: [0], sizes: [4, 4], strides: [4, 1] {test.ptr = "re"} : memref<16xf32> to memref<4x4xf32>
  %ex = memref.expand_shape %a [[0, 1]] output_shape [4, 4] {test.ptr = "ex"} : memref<16xf32> into memref<4x4xf32>
  %co = memref.collapse_shape %ex [[0, 1]] {test.ptr = "co"} : memref<4x4xf32> into memref<16xf32>
  %space = memref.memory_space_cast %a {test.ptr = "space"} : memref<16xf32> to memref<16xf32, 1>
  %base, %offset, %size, %stride = "memref.extract_strided_metadata"(%sub) {test.ptr = "metadata"} : (memref<4xf32, strided<[1], offset: 4>>) -> (memref<f32>, index, index, index)
  return
}
func.func @control(%c: i1, %n: index) {
  %a = memref.alloc() {test.ptr = "a"} : memref<16xf32>
  %b = memref.alloc() {test.ptr = "b"} : memref<16xf32>
  %d = memref.alloc() {test.ptr = "d"} : memref<16xf32>
  %select = arith.select %c, %a, %b {test.ptr = "select"} : memref<16xf32>
  %for = scf.for %i = %n to %n step %n iter_args(%p = %a) -> (memref<16xf32>) {
    scf.yield %b : memref<16xf32>
  } {test.ptr = "for"}
  %if = scf.if %c -> (memref<16xf32>) {
    scf.yield %a : memref<16xf32>
  } else {
    scf.yield %a : memref<16xf32>
  } {test.ptr = "if"}
  %while = scf.while (%w = %a) : (memref<16xf32>) -> memref<16xf32> {
    scf.condition(%c) %w : memref<16xf32>
  } do {
  ^bb0(%x: memref<16xf32>):
    scf.yield %d : memref<16xf32>
  } attributes {test.ptr = "while"}
  %execute = scf.execute_region -> memref<16xf32> {
    scf.yield %d : memref<16xf32>
  } {test.ptr = "execute"}
  %called = func.call @callee(%a) {test.ptr = "called"} : (memref<16xf32>) -> memref<16xf32>
  %unknown = func.call @outside(%b) {test.ptr = "unknown"} : (memref<16xf32>) -> memref<16xf32>
  return
}
func.func @graph(%c: i1) {
  %a = memref.alloc() {test.ptr = "a"} : memref<16xf32>
  %b = memref.alloc() {test.ptr = "b"} : memref<16xf32>
  cf.cond_br %c, ^one(%a : memref<16xf32>), ^one(%b : memref<16xf32>)
^one(%x: memref<16xf32>):
  %y = memref.cast %x {test.ptr = "y"} : memref<16xf32> to memref<?xf32>
  return
}
"#;

/// Pairs that mlir-opt calls possible only because it does not look further:
/// through a select, a call, or an `scf.while`.
const FINER: &[&str] = &[
    // One of a and b.
    "d#0 <-> select#0",
    // One of a and d.
    "b#0 <-> while.region1#0",
    "select#0 <-> execute#0",
    // The callee returns a.
    "b#0 <-> called#0",
    "d#0 <-> called#0",
    "execute#0 <-> called#0",
    // b, or memory from outside; nothing else was let go before.
    "a#0 <-> unknown#0",
    "d#0 <-> unknown#0",
    "if#0 <-> unknown#0",
    "while#0 <-> unknown#0",
    "while.region0#0 <-> unknown#0",
    "while.region1#0 <-> unknown#0",
    "execute#0 <-> unknown#0",
    "called#0 <-> unknown#0",
];

fn oracle() -> Option<String> {
    let child = Command::new("mlir-opt-22")
        .args(["-pass-pipeline=builtin.module(func.func(test-alias-analysis))", "--mlir-disable-threading"])
        .args(["-o", "/dev/null"])
        .stdin(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn();
    let Ok(mut child) = child else {
        memplan_testkit::peers::missing("mlir-opt-22");
        return None;
    };
    child.stdin.take().unwrap().write_all(SOURCE.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success());
    Some(String::from_utf8(output.stderr).unwrap())
}

/// The values by the names mlir-opt prints: `function/a#0`, `function/for.region0#1`.
fn tagged(document: &Document) -> HashMap<String, ValueId> {
    let mut values = HashMap::new();
    for op in document.op_ids() {
        let Some(tag) = document.attribute(op, "test.ptr") else {
            continue;
        };
        let tag = tag.trim_matches('"');
        let function = document.symbol_name(document.parent_op(op).unwrap()).unwrap();
        for (at, &result) in document.results(op).iter().enumerate() {
            values.insert(format!("{function}/{tag}#{at}"), result);
        }
        for (number, &region) in document.regions(op).iter().enumerate() {
            let entry = document.blocks(region).first();
            let arguments = entry.map_or(&[][..], |&entry| document.arguments(entry));
            for (at, &argument) in arguments.iter().enumerate() {
                values.insert(format!("{function}/{tag}.region{number}#{at}"), argument);
            }
        }
    }
    values
}

#[test]
fn whatever_mlir_says_may_alias_does() {
    let Some(text) = oracle() else {
        return;
    };
    let document = Document::read(SOURCE, Dialects::builtin()).unwrap();
    let lowered = lower(&document).unwrap();
    let aliases = Aliases::new(&lowered.program);
    let values = tagged(&document);
    let sites = |name: &str| -> Option<HashSet<_>> {
        let value = lowered.value(*values.get(name)?)?;
        Some(aliases.sites(value).iter().copied().collect())
    };
    let mut function = String::new();
    let (mut agreed, mut coarser, mut finer) = (0, Vec::new(), Vec::new());
    for line in text.lines() {
        if let Some(name) = line.strip_prefix("Testing : ") {
            function = name.trim_matches('"').to_owned();
            continue;
        }
        let Some((pair, verdict)) = line.split_once(": ") else {
            continue;
        };
        let (left, right) = pair.split_once(" <-> ").unwrap();
        // Numbers (loop indices, sizes) are no memory.
        let (Some(l), Some(r)) = (sites(&format!("{function}/{left}")), sites(&format!("{function}/{right}"))) else {
            continue;
        };
        let share = !l.is_disjoint(&r);
        match (verdict, share) {
            ("NoAlias", true) => coarser.push(format!("{function}: {pair}")),
            ("NoAlias", false) => agreed += 1,
            (_, true) => agreed += 1,
            ("MayAlias", false) => finer.push(pair.to_owned()),
            (_, false) => panic!("{function}: {line}"),
        }
    }
    assert!(agreed > 100, "{agreed} pairs\n{text}");
    assert_eq!(coarser, Vec::<String>::new());
    assert_eq!(finer, FINER);
}
