//! Placements that known planners produce for programs they misjudge. Each
//! program is one of the defects described in the merge-alloc document, with
//! the original's placement, and must be refused with the right witness.

use memplan_verify::dataflow::{Violation, Waypoint, check};

use crate::notation::{expect, op, plan, program};

/// B1: accesses were charged to the innermost loop only, so two buffers used
/// in two inner loops of one outer loop looked alive one after the other.
#[test]
fn b1_two_inner_loops_share_one_buffer() {
    let source = "func @p1() {
        memref.alloc alloc %a 256
        memref.alloc alloc %b 256
        init write %a
        init write %b
        scf.for loop 0.. {
          scf.for loop 0.. {
            test.use_a update %a
          }
          scf.for loop 0.. {
            test.use_b update %b
          }
        }
      }";
    expect(
        source,
        "a@0 b@0",
        &["test.use_a reads %a[0..256] lost to init", "test.use_b reads %b[0..256] lost to test.use_a"],
    );
    expect(source, "a@0 b@256", &[]);
    // Without the initial writes only the way round the outer loop is wrong,
    // and the witness says so.
    let around = source.replace("        init write %a\n        init write %b\n", "");
    let program = program(&around);
    let outer = op(&program, "scf.for");
    let found = check(&program, &plan(&program, "a@0 b@0"));
    let paths: Vec<&Vec<Waypoint>> = (found.iter())
        .filter_map(|violation| match violation {
            Violation::Overwritten { path, .. } => Some(path),
            _ => None,
        })
        .collect();
    assert_eq!(paths.len(), 2);
    assert!(paths.iter().any(|path| path.contains(&Waypoint::Again(outer))), "{paths:?}");
}

/// B1 again, with two branches instead of two loops.
#[test]
fn b1_two_branches_share_one_buffer() {
    let source = "func @p1b() {
        memref.alloc alloc %a 64
        memref.alloc alloc %b 64
        scf.for loop 0.. {
          scf.if alternatives may-skip {
            test.use_a update %a
          }
          scf.if alternatives may-skip {
            test.use_b update %b
          }
        }
      }";
    expect(
        source,
        "a@0 b@0",
        &["test.use_a reads %a[0..64] lost to test.use_b", "test.use_b reads %b[0..64] lost to test.use_a"],
    );
    expect(source, "a@0 b@64", &[]);
}

/// B3: slices of a parallel loop's iterations were laid out buffer by buffer
/// from one base although the iterations run at the same time.
#[test]
fn b3_phases_of_different_iterations_overlap() {
    // forall 16 { forall 4 { 16 bytes }; forall 8 { 32 bytes } }, both based at 0.
    let source = "func @nested_forall_with_multi_blocks() {
        outer parallel 16, scope {
          first parallel 4, scope {
            memref.alloc alloc %a 16
            fill_a write %a
            inner parallel 4, scope {
              use_a read %a
            }
          }
          second parallel 8, scope {
            memref.alloc alloc %b 32
            fill_b write %b
            inner parallel 4, scope {
              use_b read %b
            }
          }
        }
      }";
    expect(source, "a@0+16 b@0+32", &["iterations of outer overlap: %a %b"]);
    // One region for each: fine. 16*4*16 = 1024 bytes for a.
    expect(source, "a@0+16 b@1024+32", &[]);
    // So is a frame of 256 bytes for each outer iteration, in which the two take turns.
    expect(source, "a@0+16+256 b@0+32+256", &[]);
    expect(source, "a@0+16+256 b@64+32+256", &["iterations of outer overlap: %a %b"]);
}

/// B5: a transpose was taken for a fresh buffer, so its source was reused.
#[test]
fn b5_a_transpose_keeps_its_source_alive() {
    let source = "func @p36() {
        memref.alloc alloc %a 128
        fill_a write %a
        memref.transpose view %t = %a[0..128]
        memref.alloc alloc %b 128
        fill_b write %b
        use_b read %b
        use_t read %t
      }";
    expect(source, "a@0 b@0", &["use_t reads %t[0..128] lost to fill_b"]);
    expect(source, "a@0 b@128", &[]);
    // The same with an op nobody knows.
    let unknown = source.replace("memref.transpose view %t = %a[0..128]", "some.op opaque %t = %a");
    expect(&unknown, "a@0 b@0", &["use_t reads %t[0..128] lost to fill_b"]);
}

/// B6: uses through unranked memrefs were ignored, returns among them.
#[test]
fn b6_a_buffer_returned_through_a_cast() {
    let source = "func @p33() {
        memref.alloc alloc %a 128
        fill_a write %a
        memref.cast view %u = %a[0..128]
        memref.alloc alloc %b 128
        fill_b write %b
        use_b read %b
        func.return escape %u
      }";
    expect(source, "a@0 b@0", &["func.return reads %u[0..128] lost to fill_b"]);
    expect(source, "a@0 b@128", &[]);
}

/// B11: the body of `async.execute` was taken to run where it stands.
#[test]
fn b11_an_asynchronous_body_runs_until_the_await() {
    let source = "func @p21() {
        memref.alloc alloc %a 128
        memref.alloc alloc %b 128
        fill_a write %a
        async.execute async !t {
          use_a read %a
        }
        fill_b write %b
        use_b read %b
        async.await await !t
      }";
    expect(source, "a@0 b@0", &["use_a reads %a[0..128] lost to fill_b"]);
    expect(source, "a@0 b@128", &[]);
}

/// B12: the blocks of a region were numbered in their textual order, back edges or not.
#[test]
fn b12_a_back_edge_between_blocks() {
    let source = "func @p29() {
        memref.alloc alloc %a 128
        memref.alloc alloc %b 128
        fill_a write %a
        scf.execute_region once {
        ^head:
          use_a read %a
          goto ^body
        ^body:
          fill_b write %b
          use_b read %b
          goto ^head
          leave
        }
      }";
    expect(source, "a@0 b@0", &["use_a reads %a[0..128] lost to fill_b"]);
    expect(source, "a@0 b@128", &[]);
}
