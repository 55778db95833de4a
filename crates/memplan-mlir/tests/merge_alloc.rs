//! The merge-alloc pass on programs of our own, one for each behaviour.

#![allow(clippy::unwrap_used, reason = "a test that cannot set the stage has failed")]

mod mlir_opt;

use memplan_mlir::pass::merge_alloc::{self, Options};
use memplan_mlir::pass::{PassError, PassSpec, Rewrite};
use memplan_mlir::{Dialects, Document, lower};
use memplan_planner::Request;
use memplan_verify::dataflow::{self, SitePlan};

fn rewrite(source: &str, pass: &str, strategy: Option<&str>) -> Result<(Rewrite, String), PassError> {
    let document = Document::read(source, Dialects::builtin()).unwrap_or_else(|error| panic!("{error}"));
    let lowered = lower(&document).unwrap_or_else(|error| panic!("{error}"));
    let spec: PassSpec = pass.parse().unwrap();
    let options = Options::parse(&spec.options)?;
    let strategy = strategy.map(|name| memplan_planner::find(name).unwrap());
    let rewrite = merge_alloc::run(
        &document,
        &lowered,
        options,
        strategy,
        &Request::default(),
        &memplan_program::Apart::default(),
    )?;
    let plan = SitePlan { placements: rewrite.placements.clone(), owners: rewrite.owners.clone() };
    let violations = dataflow::check(&lowered.program, &plan);
    assert!(violations.is_empty(), "{violations:?}\n{source}");
    let text = rewrite.edits.apply(source).unwrap();
    // What we print is MLIR, and running the pass again finds nothing to object to.
    mlir_opt::accepts(&text);
    Ok((rewrite, text))
}

/// Sizes of the merged allocations in the order of the text, and the constants
/// in front of the views.
fn summary(text: &str) -> (Vec<u64>, Vec<u64>) {
    let number = |text: &str| text.trim().parse::<u64>().unwrap();
    let mut totals = Vec::new();
    let mut offsets = Vec::new();
    let mut constants = std::collections::HashMap::new();
    for line in text.lines().map(str::trim) {
        if let Some((name, rest)) = line.split_once(" = arith.constant ") {
            constants.insert(name.to_owned(), rest.trim_end_matches(" : index").to_owned());
        }
        if line.starts_with("%merged_") && line.contains("memref.alloc()") {
            let ty = line.split("memref<").nth(1).unwrap();
            totals.push(number(ty.split("xi8").next().unwrap()));
        }
        if let Some((_, view)) = line.split_once("memref.view ") {
            let offset = view.split(['[', ']']).nth(1).unwrap();
            offsets.extend(constants.get(offset).map(|constant| number(constant)));
        }
    }
    (totals, offsets)
}

fn expect(source: &str, totals: &[u64], offsets: &[u64]) -> String {
    let (_, text) = rewrite(source, "merge-alloc", None).unwrap();
    assert_eq!(summary(&text), (totals.to_vec(), offsets.to_vec()), "{text}");
    for strategy in ["auto", "first-fit", "chunk-size-first"] {
        rewrite(source, "merge-alloc", Some(strategy)).unwrap();
    }
    text
}

const USE: &str = "\"test.use\"";

#[test]
fn ping_pong_with_a_returned_buffer() {
    let m = "memref<128x128xf32>";
    let text = expect(
        &format!(
            "func.func @mlp(%x: {m}, %w: {m}) -> {m} {{
               %a = memref.alloc() {{alignment = 64 : i64}} : {m}
               linalg.matmul ins(%x, %w : {m}, {m}) outs(%a : {m})
               %b = memref.alloc() {{alignment = 64 : i64}} : {m}
               linalg.matmul ins(%a, %w : {m}, {m}) outs(%b : {m})
               %c = memref.alloc() {{alignment = 64 : i64}} : {m}
               linalg.matmul ins(%b, %w : {m}, {m}) outs(%c : {m})
               %d = memref.alloc() {{alignment = 64 : i64}} : {m}
               linalg.matmul ins(%c, %w : {m}, {m}) outs(%d : {m})
               return %d : {m}
             }}"
        ),
        &[131_072],
        &[0, 65_536, 0],
    );
    assert!(text.contains("%d = memref.alloc() {alignment = 64 : i64}"), "{text}");
}

#[test]
fn sizes_and_element_types() {
    expect(
        &format!(
            "func.func @f() {{
               %c = memref.alloc() : memref<8x64xf32>
               {USE}(%c) : (memref<8x64xf32>) -> ()
               %d = memref.alloc() : memref<8x8xf32>
               {USE}(%d) : (memref<8x8xf32>) -> ()
               %e = memref.alloc() : memref<2x2x32xf64>
               {USE}(%e) : (memref<2x2x32xf64>) -> ()
               {USE}(%c) : (memref<8x64xf32>) -> ()
               %f = memref.alloc() : memref<2x4x32xf64>
               {USE}(%f) : (memref<2x4x32xf64>) -> ()
               return
             }}"
        ),
        &[3072],
        &[0, 2048, 2048, 0],
    );
}

#[test]
fn odd_elements_are_large_enough() {
    // i1 and i4 take a byte each, i12 two, index eight, complex and vectors theirs.
    let allocs = [("i1", 1), ("i4", 1), ("i12", 2), ("index", 8), ("complex<f32>", 8), ("vector<4xf32>", 16)];
    for (element, bytes) in allocs {
        let ty = format!("memref<100x{element}>");
        let source =
            format!("func.func @f() {{\n  %a = memref.alloc() : {ty}\n  {USE}(%a) : ({ty}) -> ()\n  return\n}}");
        expect(&source, &[(100u64 * bytes).next_multiple_of(64)], &[0]);
    }
}

#[test]
fn buffers_used_in_a_loop_live_through_it() {
    let m = "memref<8x64xf32>";
    expect(
        &format!(
            "func.func @f(%n: index) {{
               %c0 = arith.constant 0 : index
               %c1 = arith.constant 1 : index
               %f = memref.alloc() : {m}
               %g = memref.alloc() : {m}
               scf.for %i = %c0 to %n step %c1 {{
                 {USE}(%f) : ({m}) -> ()
                 %h = memref.alloc() : {m}
                 {USE}(%h, %g) : ({m}, {m}) -> ()
                 %j = memref.alloc() : {m}
                 {USE}(%j) : ({m}) -> ()
               }}
               return
             }}"
        ),
        &[6144],
        &[0, 2048, 4096, 4096],
    );
}

#[test]
fn values_survive_outer_iterations() {
    // Two buffers used in two inner loops of an outer one may not share.
    let m = "memref<64xf32>";
    expect(
        &format!(
            "func.func @f(%n: index) {{
               %c0 = arith.constant 0 : index
               %c1 = arith.constant 1 : index
               %a = memref.alloc() : {m}
               %b = memref.alloc() : {m}
               scf.for %i = %c0 to %n step %c1 {{
                 scf.for %j = %c0 to %n step %c1 {{
                   {USE}(%a) : ({m}) -> ()
                 }}
                 scf.for %j = %c0 to %n step %c1 {{
                   {USE}(%b) : ({m}) -> ()
                 }}
               }}
               return
             }}"
        ),
        &[512],
        &[0, 256],
    );
}

#[test]
fn one_allocation_a_memory_space() {
    let text = expect(
        &format!(
            "func.func @f() {{
               %a = memref.alloc() : memref<8x64xf32>
               %b = memref.alloc() : memref<8x64xf32>
               {USE}(%a, %b) : (memref<8x64xf32>, memref<8x64xf32>) -> ()
               %p = memref.alloc() : memref<4x64xf32, #gpu.address_space<private>>
               %q = memref.alloc() : memref<8x8xf32, #gpu.address_space<private>>
               {USE}(%p, %q) : (memref<4x64xf32, #gpu.address_space<private>>, memref<8x8xf32, #gpu.address_space<private>>) -> ()
               %v = memref.alloc() : memref<8x64xf32, #gpu.address_space<workgroup>>
               %w = memref.alloc() : memref<6x64xf32, #gpu.address_space<workgroup>>
               {USE}(%w) : (memref<6x64xf32, #gpu.address_space<workgroup>>) -> ()
               {USE}(%v, %w) : (memref<8x64xf32, #gpu.address_space<workgroup>>, memref<6x64xf32, #gpu.address_space<workgroup>>) -> ()
               return
             }}"
        ),
        &[4096, 3584, 1280],
        &[0, 2048, 0, 1024, 1536, 0],
    );
    assert!(text.contains("memref<3584xi8, #gpu.address_space<workgroup>>"), "{text}");
}

#[test]
fn hoisted_out_of_a_parallel_loop() {
    let text = expect(
        &format!(
            "func.func @f() {{
               %a = memref.alloc() : memref<2xf32>
               {USE}(%a) : (memref<2xf32>) -> ()
               scf.forall (%i) = (0) to (16) step (2) {{
                 %b = memref.alloc() : memref<4xf32>
                 %c = memref.alloc() : memref<8xf32>
                 {USE}(%a) : (memref<2xf32>) -> ()
                 scf.forall (%j) in (4) {{
                   %d = memref.alloc() : memref<16xf32>
                   {USE}(%c, %d) : (memref<8xf32>, memref<16xf32>) -> ()
                 }}
                 {USE}(%b) : (memref<4xf32>) -> ()
               }}
               {USE}(%a) : (memref<2xf32>) -> ()
               return
             }}"
        ),
        &[320, 64, 64],
        &[0, 0, 0],
    );
    let lines: Vec<&str> = text.lines().map(str::trim).collect();
    let at = lines.iter().position(|line| line.starts_with("%c = memref.view")).unwrap();
    // 64 + (i / 2) * 32
    let shape: Vec<&str> = lines[at - 6..at].iter().map(|line| line.split(" = ").nth(1).unwrap()).collect();
    assert!(shape[0].starts_with("arith.constant 64 "), "{text}");
    assert!(shape[1].starts_with("arith.constant 2 "), "{text}");
    assert!(shape[2].starts_with("arith.divsi %i, "), "{text}");
    assert!(shape[3].starts_with("arith.constant 32 "), "{text}");
    assert!(shape[4].starts_with("arith.muli") && shape[5].starts_with("arith.addi"), "{text}");
}

#[test]
fn a_loop_of_two_dimensions() {
    let source = format!(
        "func.func @f() {{
           scf.forall (%i, %j) = (0, 1) to (16, 5) step (4, 1) {{
             %c = memref.alloc() : memref<8xf32>
             scf.forall (%k) in (4) {{
               {USE}(%c) : (memref<8xf32>) -> ()
             }}
           }}
           return
         }}"
    );
    let (rewrite, text) = rewrite(&source, "merge-alloc", None).unwrap();
    assert_eq!(summary(&text).0, [512], "{text}");
    assert_eq!(rewrite.stats[0].before, 512);
    // ((i / 4) * 4 + (j - 1)) * 32
    for part in ["arith.divsi %i,", "arith.subi %j,", "arith.constant 32 "] {
        assert!(text.contains(part), "{text}");
    }
}

#[test]
fn iterations_of_different_phases_do_not_meet() {
    // Two inner loops follow each other inside one outer iteration, so their
    // frames overlap; the outer iterations do not.
    let source = format!(
        "func.func @f() {{
           scf.forall (%i) in (16) {{
             scf.forall (%j) in (4) {{
               %a = memref.alloc() : memref<4xf32>
               scf.forall (%k) in (4) {{
                 {USE}(%a) : (memref<4xf32>) -> ()
               }}
             }}
             scf.forall (%j) in (8) {{
               %b = memref.alloc() : memref<8xf32>
               scf.forall (%k) in (4) {{
                 {USE}(%b) : (memref<8xf32>) -> ()
               }}
             }}
           }}
           return
         }}"
    );
    let (rewrite, text) = rewrite(&source, "merge-alloc", None).unwrap();
    assert_eq!(summary(&text).0, [4096], "{text}");
    let strides: Vec<Vec<u64>> =
        rewrite.placements.iter().flatten().map(|p| p.strides.iter().map(|s| s.0).collect()).collect();
    assert_eq!(strides, [[16, 256], [32, 256]]);
}

#[test]
fn a_sequential_loop_between_two_parallel_ones() {
    let source = format!(
        "func.func @f(%n: index) {{
           %c0 = arith.constant 0 : index
           %c1 = arith.constant 1 : index
           scf.forall (%i) in (8) {{
             scf.for %s = %c0 to %n step %c1 {{
               scf.forall (%j) in (4) {{
                 %a = memref.alloc() : memref<16xf32>
                 scf.forall (%k) in (2) {{
                   %v = memref.subview %a[0] [8] [1] : memref<16xf32> to memref<8xf32, strided<[1]>>
                   {USE}(%v) : (memref<8xf32, strided<[1]>>) -> ()
                 }}
               }}
             }}
           }}
           return
         }}"
    );
    let (_, text) = rewrite(&source, "merge-alloc", None).unwrap();
    assert_eq!(summary(&text).0, [8 * 4 * 64], "{text}");
}

#[test]
fn loops_of_unknown_length_keep_their_buffers() {
    let source = format!(
        "func.func @f(%n: index) {{
           scf.forall (%i) in (%n) {{
             %a = memref.alloc() : memref<2xf32>
             %dynamic = memref.alloc(%n) : memref<?xf32>
             scf.forall (%j) in (4) {{
               %b = memref.alloc() : memref<4xf32>
               {USE}(%a, %b, %dynamic) : (memref<2xf32>, memref<4xf32>, memref<?xf32>) -> ()
             }}
           }}
           return
         }}"
    );
    let (rewrite, text) = rewrite(&source, "merge-alloc", None).unwrap();
    assert_eq!(summary(&text), (vec![64, 64], vec![0, 0]), "{text}");
    assert!(text.contains("memref.alloc(%n)"), "{text}");
    assert_eq!(rewrite.remarks[0].message, "left alone: its shape is dynamic");
}

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
fn deallocations_of_merged_buffers_go() {
    let source = format!(
        "func.func @f() {{
           %a = memref.alloc() : memref<8xf32>
           %v = memref.subview %a[0] [4] [1] : memref<8xf32> to memref<4xf32, strided<[1]>>
           {USE}(%v) : (memref<4xf32, strided<[1]>>) -> ()
           memref.dealloc %a : memref<8xf32>
           return
         }}"
    );
    let (_, text) = rewrite(&source, "merge-alloc", None).unwrap();
    assert!(!text.contains("memref.dealloc"), "{text}");
    assert_eq!(summary(&text).0, [64]);
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
fn functions_of_several_blocks() {
    let m = "memref<8x8xf32>";
    expect(
        &format!(
            "func.func @f(%c: i1) {{
               %a = memref.alloc() : {m}
               {USE}(%a) : ({m}) -> ()
               cf.br ^one
             ^one:
               %local = memref.alloc() : {m}
               {USE}(%local) : ({m}) -> ()
               {USE}(%a) : ({m}) -> ()
               cf.cond_br %c, ^one, ^two
             ^two:
               %other = memref.alloc() : {m}
               {USE}(%other) : ({m}) -> ()
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
fn options_are_checked() {
    let source = "func.func @f() {\n  return\n}\n";
    for (pass, message) in [
        (
            "merge-alloc{alignment=0}",
            "option `alignment`: expected a number of bytes that is a power of two, up to 4294967296, found `0`",
        ),
        (
            "merge-alloc{alignment=3}",
            "option `alignment`: expected a number of bytes that is a power of two, up to 4294967296, found `3`",
        ),
        (
            "merge-alloc{alignment=-64}",
            "option `alignment`: expected a number of bytes that is a power of two, up to 4294967296, found `-64`",
        ),
        (
            "merge-alloc{planner-options=fast}",
            "option `planner-options`: expected cost-model or size-first, found `fast`",
        ),
        (
            "merge-alloc{check}",
            "pass `merge-alloc` has no option `check`; it has analysis-only, planner-options, alignment, compat",
        ),
    ] {
        assert_eq!(rewrite(source, pass, None).unwrap_err().to_string(), message);
    }
}

#[test]
fn alignment_is_a_choice() {
    let source = format!(
        "func.func @f() {{
           %a = memref.alloc() : memref<3xf32>
           %b = memref.alloc() {{alignment = 16 : i64}} : memref<3xf32>
           {USE}(%a, %b) : (memref<3xf32>, memref<3xf32>) -> ()
           return
         }}"
    );
    let (_, text) = rewrite(&source, "merge-alloc{alignment=16}", None).unwrap();
    assert_eq!(summary(&text), (vec![32], vec![0, 16]), "{text}");
    assert!(text.contains("{alignment = 16 : i64}"));
}

/// Ticks of `analysis-only`, by the name of the allocation.
fn ticks(text: &str) -> Vec<(String, i64, i64)> {
    let mut ticks = Vec::new();
    for line in text.lines().map(str::trim) {
        if let Some((_, rest)) = line.split_once("__mergealloc_lifetime = array<i64: ") {
            let numbers: Vec<i64> =
                rest.split('>').next().unwrap().split(", ").map(|number| number.parse().unwrap()).collect();
            ticks.push((line.split(' ').next().unwrap().to_owned(), numbers[1], numbers[2]));
        }
    }
    ticks
}

#[test]
fn analysis_only_annotates() {
    let m = "memref<8x64xf32>";
    let source = format!(
        "func.func @f(%n: index, %c: i1) -> {m} {{
           %c0 = arith.constant 0 : index
           %c1 = arith.constant 1 : index
           %b = memref.alloc() : {m}
           %v = memref.alloc() : {m}
           %never = memref.alloc(%n) : memref<?xf32>
           %d = memref.dim %v, %c0 : {m}
           {USE}(%v) : ({m}) -> ()
           %s = memref.subview %v[0, 0] [4, 64] [1, 1] : {m} to memref<4x64xf32, strided<[64, 1]>>
           {USE}(%s) : (memref<4x64xf32, strided<[64, 1]>>) -> ()
           %g = scf.if %c -> {m} {{
             %x = memref.alloc() {{alignment = 64 : i64}} : {m}
             scf.yield %x : {m}
           }} else {{
             %y = memref.alloc() : {m}
             scf.yield %y : {m}
           }}
           scf.forall (%i) in (4) {{
             %inner = memref.alloc() : {m}
             {USE}(%inner, %g) : ({m}, {m}) -> ()
           }}
           return %b : {m}
         }}"
    );
    let (_, text) = rewrite(&source, "merge-alloc{analysis-only}", None).unwrap();
    let name = |name: &str, first, last| (name.to_owned(), first, last);
    assert_eq!(
        ticks(&text),
        [
            name("%b", -2, -2),
            name("%v", 8, 10),
            name("%never", -1, -1),
            name("%x", 11, 19),
            name("%y", 11, 19),
            name("%inner", 18, 18),
        ],
        "{text}"
    );
    assert!(text.contains("attributes {__mergealloc_scope = 0 : i64}"), "{text}");
    assert!(text.contains("{__mergealloc_scope = 1 : i64}"), "{text}");
}

#[test]
fn what_is_not_edited_stays() {
    let source =
        "// a comment\nmodule {\n  func.func private @g()\n\n  func.func @f() { // nothing to do\n    return\n  }\n}\n";
    let (rewrite, text) = rewrite(source, "merge-alloc", None).unwrap();
    assert_eq!(text, source);
    assert!(rewrite.edits.is_empty());
}

#[test]
fn overlap_and_reuse_beside_a_returned_buffer() {
    let m = "memref<8x64xf32>";
    let text = expect(
        &format!(
            "func.func @basic() -> {m} {{
               %b = memref.alloc() : {m}
               {USE}(%b) : ({m}) -> ()
               %c = memref.alloc() : {m}
               {USE}(%c) : ({m}) -> ()
               %d = memref.alloc() : {m}
               {USE}(%d) : ({m}) -> ()
               {USE}(%c) : ({m}) -> ()
               %e = memref.alloc() : {m}
               {USE}(%e) : ({m}) -> ()
               return %b : {m}
             }}"
        ),
        &[4096],
        &[0, 2048, 0],
    );
    assert!(text.contains("%b = memref.alloc() : memref<8x64xf32>"), "{text}");
}

#[test]
fn slices_of_more_dimensions() {
    let text = expect(
        &format!(
            "func.func @nd() {{
               scf.forall (%i) in (16) {{
                 %a = memref.alloc() : memref<2x4xf32>
                 %b = memref.alloc() : memref<4x8xf32>
                 {USE}(%b) : (memref<4x8xf32>) -> ()
                 scf.forall (%j) in (4) {{
                   %c = memref.alloc() : memref<2x16xf32>
                   {USE}(%a, %c) : (memref<2x4xf32>, memref<2x16xf32>) -> ()
                 }}
               }}
               return
             }}"
        ),
        &[512, 128, 128],
        &[0, 0],
    );
    let lines: Vec<&str> = text.lines().map(str::trim).collect();
    let at = lines.iter().position(|line| line.starts_with("%a = memref.view")).unwrap();
    let ops: Vec<&str> = lines[at - 4..at].iter().map(|line| line.split(" = ").nth(1).unwrap()).collect();
    assert_eq!(ops[0], "arith.constant 0 : index", "{text}");
    assert_eq!(ops[1], "arith.constant 32 : index", "{text}");
    assert!(ops[2].starts_with("arith.muli %i, ") && ops[3].starts_with("arith.addi "), "{text}");
}

#[test]
fn parallel_and_sequential_loops_mixed() {
    let source = format!(
        "func.func @mixed(%n: index) {{
           %c0 = arith.constant 0 : index
           %c1 = arith.constant 1 : index
           %first = memref.alloc() : memref<2xf32>
           scf.forall (%i) in (16) {{
             %a = memref.alloc() : memref<4xf32>
             scf.forall (%j) in (4) {{
               %b = memref.alloc() : memref<8xf32>
               %r = scf.for %k = %c0 to %n step %c1 iter_args(%x = %first) -> memref<2xf32> {{
                 %next = memref.alloc() : memref<2xf32>
                 {USE}(%a, %b, %next) : (memref<4xf32>, memref<8xf32>, memref<2xf32>) -> ()
                 scf.yield %next : memref<2xf32>
               }}
             }}
           }}
           return
         }}"
    );
    let (_, text) = rewrite(&source, "merge-alloc", None).unwrap();
    assert!(text.contains("%next = memref.alloc() : memref<2xf32>"), "{text}");
    // One 16-byte slice an iteration, and the loop's first value, which nobody reads.
    assert!(text.contains("memref<256xi8>"), "{text}");
    assert!(text.contains("memref<64xi8>"), "{text}");
}

fn annotated(source: &str) -> Vec<(String, i64, i64)> {
    ticks(&rewrite(source, "merge-alloc{analysis-only}", None).unwrap().1)
}

fn tick(name: &str, first: i64, last: i64) -> (String, i64, i64) {
    (name.to_owned(), first, last)
}

#[test]
fn ticks_of_views_selects_and_pointers() {
    let m = "memref<8x64xf32>";
    let views = format!(
        "func.func @views() {{
           %b = memref.alloc() : {m}
           %v = memref.subview %b[0, 0] [8, 32] [1, 1] : {m} to memref<8x32xf32, strided<[64, 1]>>
           {USE}(%v) : (memref<8x32xf32, strided<[64, 1]>>) -> ()
           %w = memref.subview %v[0, 0] [8, 16] [1, 1] : memref<8x32xf32, strided<[64, 1]>> to memref<8x16xf32, strided<[64, 1]>>
           {USE}(%w) : (memref<8x16xf32, strided<[64, 1]>>) -> ()
           %c = memref.alloc() : {m}
           {USE}(%c) : ({m}) -> ()
           return
         }}"
    );
    assert_eq!(annotated(&views), [tick("%b", 4, 6), tick("%c", 8, 8)]);
    let select = format!(
        "func.func @select(%p: i1) {{
           %a = memref.alloc() : {m}
           %b = memref.alloc() : {m}
           %s = arith.select %p, %a, %b : {m}
           {USE}(%s) : ({m}) -> ()
           {USE}(%b) : ({m}) -> ()
           return
         }}"
    );
    assert_eq!(annotated(&select), [tick("%a", 5, 5), tick("%b", 5, 6)]);
    let pointer = format!(
        "func.func @pointer() {{
           %b = memref.alloc() : {m}
           %p = memref.extract_aligned_pointer_as_index %b : {m} -> index
           return
         }}"
    );
    assert_eq!(annotated(&pointer), [tick("%b", -2, -2)]);
}

#[test]
fn ticks_of_what_leaves_a_branch_or_a_loop() {
    let m = "memref<8x64xf32>";
    let branch = format!(
        "func.func @branch(%p: i1) {{
           %f = memref.alloc() : {m}
           %g = memref.alloc() : {m}
           %r = scf.if %p -> {m} {{
             {USE}(%f) : ({m}) -> ()
             {USE}(%g) : ({m}) -> ()
             scf.yield %g : {m}
           }} else {{
             %h = memref.alloc() : {m}
             %j = memref.alloc() : {m}
             {USE}(%h) : ({m}) -> ()
             {USE}() : () -> ()
             {USE}(%j) : ({m}) -> ()
             scf.yield %h : {m}
           }}
           {USE}(%r) : ({m}) -> ()
           return
         }}"
    );
    let expected = [tick("%f", 4, 13), tick("%g", 4, 14), tick("%h", 4, 14), tick("%j", 12, 12)];
    assert_eq!(annotated(&branch), expected);
    let carried = format!(
        "func.func @carried(%p: i1, %n: index) {{
           %c0 = arith.constant 0 : index
           %c1 = arith.constant 1 : index
           %f = memref.alloc() : {m}
           %r = scf.for %i = %c0 to %n step %c1 iter_args(%x = %f) -> {m} {{
             %g = memref.alloc() : {m}
             %s = scf.if %p -> {m} {{
               scf.yield %x : {m}
             }} else {{
               scf.yield %g : {m}
             }}
             scf.yield %s : {m}
           }}
           {USE}(%r) : ({m}) -> ()
           return
         }}"
    );
    assert_eq!(annotated(&carried), [tick("%f", -2, -2), tick("%g", -2, -2)]);
}

#[test]
fn buffers_nobody_uses_cost_nothing() {
    // Three large ones beside a small one that is used.
    let source = format!(
        "func.func @f() {{
           %x = memref.alloc() : memref<512xf32>
           %y = memref.alloc() : memref<512xf32>
           %a = memref.alloc() : memref<16xf32>
           {USE}(%a) : (memref<16xf32>) -> ()
           return
         }}"
    );
    let (rewrite, text) = rewrite(&source, "merge-alloc", None).unwrap();
    // Each still has to fit, but they all may lie on each other.
    assert_eq!(summary(&text), (vec![2048], vec![0, 0, 0]), "{text}");
    assert_eq!(rewrite.stats[0].before, 4160);
}

#[test]
fn a_use_through_a_view_hoists_too() {
    let parallel = |user: &str| {
        format!(
            "func.func @f() {{
               scf.forall (%i) in (8) {{
                 %a = memref.alloc() : memref<8xf32>
                 %v = memref.subview %a[0] [4] [1] : memref<8xf32> to memref<4xf32, strided<[1]>>
                 scf.forall (%j) in (4) {{
                   {user}
                 }}
               }}
               return
             }}"
        )
    };
    let through_view = parallel(&format!("{USE}(%v) : (memref<4xf32, strided<[1]>>) -> ()"));
    let direct = parallel(&format!("{USE}(%a) : (memref<8xf32>) -> ()"));
    for source in [through_view, direct] {
        let (_, text) = rewrite(&source, "merge-alloc", None).unwrap();
        assert_eq!(summary(&text).0, [256], "{text}");
        let (arena, loops) = (text.find("%merged_0 = ").unwrap(), text.find("scf.forall").unwrap());
        assert!(arena < loops, "{text}");
    }
}

#[test]
fn nothing_is_hoisted_out_of_a_region_that_runs_at_any_time() {
    let unknown = format!(
        "func.func @f() {{
           \"my.later\"() ({{
             scf.forall (%i) in (2) {{
               %a = memref.alloc() : memref<8xf32>
               scf.forall (%j) in (8) {{
                 {USE}(%a) : (memref<8xf32>) -> ()
               }}
             }}
             \"my.end\"() : () -> ()
           }}) : () -> ()
           return
         }}"
    );
    let (done, text) = rewrite(&unknown, "merge-alloc", None).unwrap();
    assert_eq!(summary(&text), (vec![], vec![]), "{text}");
    let messages: Vec<&str> = done.remarks.iter().map(|remark| remark.message.as_str()).collect();
    assert_eq!(messages, ["left alone: nothing around it can hold the merged memory"]);
    // A region that runs on its own but whose instances own what they allocate can hold it.
    let task = unknown.replace("\"my.later\"() ({", "%t = async.execute {").replace("}) : () -> ()", "}");
    let task = task.replace("\"my.end\"() : () -> ()", "async.yield");
    let (_, text) = rewrite(&task, "merge-alloc", None).unwrap();
    assert_eq!(summary(&text).0, [64], "{text}");
    assert!(text.find("async.execute") < text.find("%merged_0 = "), "{text}");
}

#[test]
fn all_or_nothing_and_always_the_same() {
    // The second function is refused; nothing of the first is handed out.
    let good = |name: &str| {
        format!(
            "func.func @{name}() {{
               %a = memref.alloc() : memref<16xf32>
               %b = memref.alloc() : memref<16xf32, 1>
               %c = memref.alloc() : memref<16xf32, 2>
               {USE}(%a, %b, %c) : (memref<16xf32>, memref<16xf32, 1>, memref<16xf32, 2>) -> ()
               return
             }}"
        )
    };
    let bad = "func.func @g() { %e = memref.alloc() : memref<0xf32>\n return }";
    let error = rewrite(&format!("{}\n{bad}", good("f")), "merge-alloc{compat}", None).unwrap_err();
    assert_eq!(error.to_string(), "Expecting static shaped allocation");
    let texts: Vec<String> = (0..4).map(|_| rewrite(&good("f"), "merge-alloc", None).unwrap().1).collect();
    assert!(texts.windows(2).all(|pair| pair[0] == pair[1]));
    // Spaces whose first buffers are equally large come in the order of the text.
    let spaces: Vec<&str> = texts[0].lines().filter(|line| line.contains("%merged_")).take(3).collect();
    assert!(spaces[0].ends_with("memref<64xi8>") && spaces[1].ends_with("memref<64xi8, 1>"), "{}", texts[0]);
    assert!(spaces[2].ends_with("memref<64xi8, 2>"), "{}", texts[0]);
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
