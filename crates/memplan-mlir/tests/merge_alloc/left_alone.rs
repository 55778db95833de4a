//! Buffers that keep their allocation, and aliases that forbid sharing.

use memplan_mlir::pass::PassSpec;
use memplan_mlir::pass::merge_alloc::{self, Options};
use memplan_mlir::{Dialects, Document, lower};
use memplan_planner::Request;

use crate::{USE, expect, rewrite, summary};

/// A view is one place, and a multi-buffer has several.
#[test]
fn multi_buffers_are_left_alone() {
    let source = format!(
        r#"func.func @f() {{
           %a = memref.alloc() : memref<8xf32>
           "annotation.mark"(%a) {{hivm.multi_buffer = 2 : i32}} : (memref<8xf32>) -> ()
           {USE}(%a) : (memref<8xf32>) -> ()
           return
         }}"#
    );
    let (rewrite, text) = rewrite(&source, "merge-alloc", None).unwrap();
    assert_eq!(rewrite.remarks.len(), 1);
    assert!(rewrite.remarks[0].message.contains("it has several slots"), "{:?}", rewrite.remarks);
    assert_eq!(text, source);
}

#[test]
fn a_shape_that_is_too_large_is_named_as_such() {
    let source = format!(
        "func.func @f() {{
           %a = memref.alloc() : memref<4611686018427387904x4xf32>
           {USE}(%a) : (memref<4611686018427387904x4xf32>) -> ()
           return
         }}"
    );
    let (rewrite, _) = rewrite(&source, "merge-alloc", None).unwrap();
    let messages: Vec<&str> = rewrite.remarks.iter().map(|remark| remark.message.as_str()).collect();
    assert_eq!(messages, ["left alone: it has 2^63 bytes or more"]);
}

#[test]
fn what_is_left_alone() {
    let source = format!(
        "func.func @f(%n: index, %c: i1, %arg: memref<8xf32>) -> memref<*xf32> {{
           %c0 = arith.constant 0 : index
           %c1 = arith.constant 1 : index
           %strided = memref.alloc() : memref<8xf32, strided<[2]>>
           {USE}(%strided) : (memref<8xf32, strided<[2]>>) -> ()
           %aligned = memref.alloc() {{alignment = 128 : i64}} : memref<8xf32>
           {USE}(%aligned) : (memref<8xf32>) -> ()
           %empty = memref.alloc() : memref<0xf32>
           {USE}(%empty) : (memref<0xf32>) -> ()
           %pointer = memref.alloc() : memref<8xf32>
           %p = memref.extract_aligned_pointer_as_index %pointer : memref<8xf32> -> index
           %carried = memref.alloc() : memref<8xf32>
           %r = scf.for %i = %c0 to %n step %c1 iter_args(%x = %carried) -> memref<8xf32> {{
             %next = memref.alloc() : memref<8xf32>
             {USE}(%x, %next) : (memref<8xf32>, memref<8xf32>) -> ()
             scf.yield %next : memref<8xf32>
           }}
           {USE}(%r) : (memref<8xf32>) -> ()
           %either = memref.alloc() : memref<8xf32>
           {USE}(%either) : (memref<8xf32>) -> ()
           %s = arith.select %c, %either, %arg : memref<8xf32>
           memref.dealloc %s : memref<8xf32>
           %returned = memref.alloc() : memref<8xf32>
           %cast = memref.cast %returned : memref<8xf32> to memref<*xf32>
           return %cast : memref<*xf32>
         }}"
    );
    let (rewrite, text) = rewrite(&source, "merge-alloc", None).unwrap();
    // All but the loop's first value, whose place only the first iteration reads.
    assert_eq!(summary(&text).0, [64], "{text}");
    let reasons: Vec<&str> =
        rewrite.remarks.iter().map(|remark| remark.message.trim_start_matches("left alone: ")).collect();
    assert_eq!(
        reasons,
        [
            "its elements do not lie row by row without gaps",
            "its alignment does not divide the pass's",
            "it has no bytes",
            "it escapes",
            "a loop carries it from one iteration to the next",
            "it is freed through a value that may be another buffer",
            "it escapes",
        ],
        "{text}"
    );
}

#[test]
fn transposed_and_unknown_aliases_are_followed() {
    let m = "memref<8x8xf32>";
    expect(
        &format!(
            "func.func @f() {{
               %a = memref.alloc() : {m}
               {USE}(%a) : ({m}) -> ()
               %t = memref.transpose %a (i, j) -> (j, i) : {m} to memref<8x8xf32, strided<[1, 8]>>
               %o = \"test.alias\"(%a) : ({m}) -> {m}
               %b = memref.alloc() : {m}
               {USE}(%b) : ({m}) -> ()
               {USE}(%t) : (memref<8x8xf32, strided<[1, 8]>>) -> ()
               %c = memref.alloc() : {m}
               {USE}(%c) : ({m}) -> ()
               {USE}(%o) : ({m}) -> ()
               return
             }}"
        ),
        &[512],
        &[0, 256, 256],
    );
}

#[test]
fn region_ops_nobody_knows() {
    let source = format!(
        "func.func @f() {{
           %a = memref.alloc() : memref<8xf32>
           %b = memref.alloc() : memref<8xf32>
           \"some.block\"() ({{
             {USE}(%a) : (memref<8xf32>) -> ()
             {USE}(%b) : (memref<8xf32>) -> ()
             \"some.end\"() : () -> ()
           }}) : () -> ()
           return
         }}"
    );
    expect(&source, &[128], &[0, 64]);
    let error = rewrite(&source, "merge-alloc{compat}", None).unwrap_err();
    assert_eq!(error.to_string(), "'some.block' op expecting RegionBranchOpInterface for merge-alloc");
}

#[test]
fn a_buffer_that_shares_with_nobody_keeps_its_allocation() {
    let source = "func.func @f(%in: memref<16xf32>, %out: memref<16xf32>) {
  %a = memref.alloc() : memref<16xf32>
  \"annotation.mark\"(%a) {mem_unique} : (memref<16xf32>) -> ()
  memref.copy %in, %a : memref<16xf32> to memref<16xf32>
  memref.copy %a, %out : memref<16xf32> to memref<16xf32>
  %b = memref.alloc() : memref<16xf32>
  memref.copy %in, %b : memref<16xf32> to memref<16xf32>
  memref.copy %b, %out : memref<16xf32> to memref<16xf32>
  return
}
";
    let (done, text) = rewrite(source, "merge-alloc", None).unwrap();
    assert_eq!(summary(&text), (vec![64], vec![0]), "{text}");
    assert!(text.contains("%a = memref.alloc()"), "{text}");
    assert!(done.remarks.iter().any(|remark| remark.message.contains("mem_unique")), "{:?}", done.remarks);
}

/// A form that no table knows may give back a part of the memory that it takes, whatever types stand last in it.
#[test]
fn results_of_unknown_forms_may_be_memory() {
    let program = |form: &str| {
        format!(
            "func.func @f(%n: index, %x: f32) {{
  %a = memref.alloc() : memref<16xf32>
  linalg.fill ins(%x : f32) outs(%a : memref<16xf32>)
  {form}
  %b = memref.alloc() : memref<16xf32>
  linalg.fill ins(%x : f32) outs(%b : memref<16xf32>)
  \"test.use\"(%b) : (memref<16xf32>) -> ()
  \"test.use\"(%v) : (memref<16xf32>) -> ()
  return
}}
"
        )
    };
    for form in [
        "%v = acme.shift %a, %n : memref<16xf32>, index",
        "%v = acme.shift %a by %n : index",
        "%w = acme.first %a : memref<16xf32>, i32\n  %v = acme.second %w : i32",
        "%v, %w = acme.both %a : memref<16xf32>, i32, i64",
    ] {
        assert!(!share(&program(form)), "{form}");
    }
    let size = "%w = acme.size %a : memref<16xf32> -> index\n  %v = memref.alloc() : memref<16xf32>";
    assert!(share(&program(size)), "behind an arrow stands the result");
}

/// Whether the first two allocations of a text, which mlir-opt need not read, get the same bytes.
fn share(source: &str) -> bool {
    let document = Document::read(source, Dialects::builtin()).unwrap_or_else(|error| panic!("{error}"));
    let lowered = lower(&document).unwrap_or_else(|error| panic!("{error}"));
    let apart = memplan_program::Apart::default();
    let spec: PassSpec = "merge-alloc".parse().unwrap();
    let options = Options::parse(&spec.options).unwrap();
    let rewrite = merge_alloc::run(&document, &lowered, options, None, &Request::default(), &apart).unwrap();
    let places: Vec<_> =
        rewrite.placements.iter().map(|placement| placement.as_ref().map(|one| one.offsets.clone())).collect();
    places[0].is_some() && places[0] == places[1]
}

/// A module inside of a function sees nothing of it, so nothing that is allocated there can be moved out.
#[test]
fn buffers_of_a_module_inside_of_a_function_stay() {
    let source = "func.func @f() {
  builtin.module {
    %a = memref.alloc() : memref<16xf32>
    \"test.use\"(%a) : (memref<16xf32>) -> ()
    %b = memref.alloc() : memref<16xf32>
    \"test.use\"(%b) : (memref<16xf32>) -> ()
  }
  return
}
";
    let (rewrite, text) = rewrite(source, "merge-alloc", None).unwrap();
    assert_eq!(text, source);
    assert!(
        rewrite.remarks.iter().all(|remark| remark.message.contains("a module of its own")),
        "{:?}",
        rewrite.remarks
    );
}
