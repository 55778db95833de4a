//! Buffers inside of parallel loops: which are moved out, and where the copies of the iterations lie.

use crate::{USE, expect, rewrite, summary};

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
