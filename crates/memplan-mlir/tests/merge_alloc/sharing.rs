//! Which buffers share bytes, and how large the merged allocations are.

use crate::{USE, expect, rewrite, summary};

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

/// A block may be printed before the block that dominates it, and then names a buffer whose allocation comes later in
/// the text. Its view is a view all the same.
#[test]
fn a_view_above_its_allocation_keeps_the_bytes() {
    let (m, v) = ("memref<16xf32>", "memref<16xf32, strided<[1]>>");
    let read = |value: &str, ty: &str| format!("memref.copy {value}, %out : {ty} to {m}");
    let source = |name: &str| {
        format!(
            "func.func @f(%in: {m}, %out: {m}) {{
               cf.br ^bb2
             ^bb1:
               %v = {name} : {m} to {v}
               %b = memref.alloc() : {m}
               memref.copy %in, %b : {m} to {m}
               {}
               {}
               return
             ^bb2:
               %a = memref.alloc() : {m}
               memref.copy %in, %a : {m} to {m}
               cf.br ^bb1
             }}",
            read("%b", m),
            read("%v", v)
        )
    };
    for name in ["memref.subview %a[0] [16] [1]", "memref.cast %a"] {
        expect(&source(name), &[128], &[64, 0]);
    }
}

/// In blocks that control never reaches, two views may be of each other.
#[test]
fn views_of_each_other_in_dead_code_do_not_matter() {
    let m = "memref<16xf32>";
    let source = format!(
        "func.func @f(%in: {m}, %out: {m}) {{
           %a = memref.alloc() : {m}
           memref.copy %in, %a : {m} to {m}
           memref.copy %a, %out : {m} to {m}
           return
         ^one:
           %v = memref.cast %w : {m} to {m}
           %r = memref.reinterpret_cast %v to offset: [0], sizes: [16], strides: [1] : {m} to {m}
           memref.copy %r, %out : {m} to {m}
           cf.br ^other
         ^other:
           %w = memref.cast %v : {m} to {m}
           memref.copy %w, %out : {m} to {m}
           cf.br ^one
         }}"
    );
    expect(&source, &[64], &[0]);
}
