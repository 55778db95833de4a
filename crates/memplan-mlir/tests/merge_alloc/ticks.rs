//! `analysis-only`: scopes and lifetimes as attributes.

use crate::{USE, rewrite};

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
