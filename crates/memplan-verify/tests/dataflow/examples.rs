//! Examples every implementation of the check must get right, both ways.

use crate::notation::expect;

#[test]
fn e01_content_that_crosses_outer_iterations() {
    let source = "func @f() {
        alloc_x alloc %x 8
        alloc_y alloc %y 8
        outer loop 0.. {
          first loop 0.. { 
            use_x update %x
          }
          second loop 0.. {
            use_y update %y
          }
        }
      }";
    expect(source, "x@0 y@0", &["use_x reads %x[0..8] lost to use_y", "use_y reads %y[0..8] lost to use_x"]);
    expect(source, "x@0 y@8", &[]);
}

#[test]
fn e02_buffers_of_one_iteration_take_turns() {
    let source = "func @f() {
        for loop 0.. {
          alloc_x alloc %x 8
          fill_x write %x
          use_x read %x
          alloc_y alloc %y 8
          fill_y write %y
          use_y read %y
        }
      }";
    expect(source, "x@0 y@0", &[]);
    let meeting = source.replace("use_y read %y", "use_y read %y, read %x");
    expect(&meeting, "x@0 y@0", &["use_y reads %x[0..8] lost to fill_y"]);
    expect(&meeting, "x@0 y@4", &["use_y reads %x[4..8] lost to fill_y"]);
    expect(&meeting, "x@0 y@8", &[]);
}

#[test]
fn e03_a_merge_of_two_buffers_on_the_same_bytes() {
    let source = "func @f() {
        alloc_x alloc %x 8
        alloc_y alloc %y 8
        if alternatives, result %r {
          fill_x write %x
          leave %x
        } {
          fill_y write %y
          leave %y
        }
        use read %r
      }";
    expect(source, "x@0 y@0", &[]);
    let before = "func @f() {
        alloc_x alloc %x 8
        alloc_y alloc %y 8
        fill_x write %x
        if alternatives, result %r {
          leave %x
        } {
          fill_y write %y
          leave %y
        }
        use read %r
        again read %x
      }";
    expect(before, "x@0 y@0", &["again reads %x[0..8] lost to fill_y"]);
    expect(before, "x@0 y@8", &[]);
}

#[test]
fn e04_loop_carried_ping_pong() {
    let source = "func @f(%b) {
        alloc_a alloc %a 8
        fill write %a
        for loop 0.., init %a, result %r { (%x)
          alloc_c alloc %c 8
          compute read %x, read %b, write %c
          leave %c
        }
        use read %r
      }";
    expect(source, "a@0 c@0", &["compute writes %c over its input %x"]);
    let permitted = source.replace("write %c\n", "write %c, overlay %c over %x\n");
    expect(&permitted, "a@0 c@0", &[]);
    // Apart from A, C still meets last iteration's C.
    expect(source, "a@0 c@8", &["compute writes %c over its input %x"]);
    expect(source, "a@0", &[]);
}

#[test]
fn e05_slices_of_siblings_with_different_strides() {
    let source = "func @f() {
        par parallel 4, scope {
          alloc_x alloc %x 16
          fill_x write %x
          use_x read %x
          alloc_y alloc %y 16
          fill_y write %y
          use_y read %y
        }
      }";
    expect(source, "x@0+16 y@0+32", &["iterations of par overlap: %x %y"]);
    expect(source, "x@0+16 y@64+32", &[]);
    // One frame for each iteration: x and y take turns in it.
    expect(source, "x@0+16 y@0+16", &[]);
    expect(source, "x@0 y@16+16", &["iterations of par overlap: %x %x"]);
    expect(source, "x@0/par y@0/par", &[]);
}

#[test]
fn e06_a_view_read_after_its_buffer_was_reused() {
    let source = "func @f() {
        alloc_x alloc %x 8
        fill_x write %x
        transpose view %t = %x[?]
        alloc_y alloc %y 8
        fill_y write %y
        use read %t, read %y
      }";
    expect(source, "x@0 y@0", &["use reads %t[0..8] lost to fill_y"]);
    expect(source, "x@0 y@8", &[]);
}

#[test]
fn e07_elementwise_in_place() {
    let source = "func @f() {
        alloc_a alloc %a 16
        alloc_b alloc %b 16
        fill write %a
        relu read %a, write %b, overlay %b over %a
        use read %b
      }";
    expect(source, "a@0 b@0", &[]);
    expect(source, "a@0 b@4", &["relu writes %b over its input %a"]);
    expect(source, "a@0 b@16", &[]);
    expect(&source.replace(" over %a", " over %a any"), "a@0 b@4", &[]);
    expect(&source.replace(", overlay %b over %a", ""), "a@0 b@0", &["relu writes %b over its input %a"]);
}

#[test]
fn e08_a_returned_buffer() {
    let source = "func @f() {
        alloc_x alloc %x 8
        fill_x write %x
        use_x read %x
        alloc_y alloc %y 8
        fill_y write %y
        return escape %x
      }";
    expect(source, "x@0 y@0", &["return reads %x[0..8] lost to fill_y"]);
    expect(source, "x@0 y@8", &[]);
}

#[test]
fn e09_concat_operands_in_their_place() {
    let source = "func @f() {
        alloc_a alloc %a 16
        alloc_b alloc %b 16
        alloc_c alloc %c 32
        fill_a write %a
        fill_b write %b
        concat read %a, read %b, write %c, copy %c[0..16] from %a[0..16], copy %c[16..32] from %b[0..16]
        use read %c
        again read %a, read %b
      }";
    expect(source, "a@0 b@16 c@0", &[]);
    expect(source, "a@0 b@20 c@0", &["again reads %b[0..12] lost to concat", "concat writes %c over its input %b"]);
    expect(source, "a@32 b@48 c@0", &[]);
}

#[test]
fn e10_async_reads_while_the_code_writes() {
    let source = "func @f() {
        alloc_x alloc %x 8
        alloc_y alloc %y 8
        fill_x write %x
        launch async !t {
          use_x read %x
        }
        fill_y write %y
        wait await !t
        use_y read %y
      }";
    expect(source, "x@0 y@0", &["use_x reads %x[0..8] lost to fill_y"]);
    expect(source, "x@0 y@8", &[]);
    let after =
        source.replace("wait await !t\n", "").replace("        fill_y", "        wait await !t\n        fill_y");
    expect(&after, "x@0 y@0", &[]);
}

#[test]
fn e11_branches_of_a_graph_without_a_path() {
    let source = "func @f(%in) {
        allocs alloc %x 8, alloc %y 8
        graph dag {
          make_x read %in, write %x, label &1
          use_x read %x, label &2, after &1
          make_y read %in, write %y, label &3
          use_y read %y, after &3
        }
      }";
    expect(source, "x@0 y@0", &["unordered: make_x of %x and make_y of %y"]);
    expect(source, "x@0 y@8", &[]);
    let ordered = source.replace("label &3", "label &3, after &2");
    expect(&ordered, "x@0 y@0", &[]);
}

#[test]
fn e12_an_earlier_instance_is_written() {
    let source = "func @f() {
        alloc_a alloc %a 8
        fill_a write %a
        for loop 0.., init %a, result %r { (%old)
          alloc_x alloc %x 8
          fill_x write %x
          fill_old write %old
          use_x read %x
          leave %x
        }
      }";
    expect(source, "a@8 x@0", &["use_x reads %x[0..8] lost to fill_old"]);
    expect(source, "a@8", &[]);
    // Two slots keep two instances apart, which is as long as it is carried.
    expect(&source.replace("%x 8", "%x 8 slots 2"), "a@8 x@0,16", &[]);
    expect(
        &source.replace("%x 8", "%x 8 slots 2"),
        "a@8 x@0,4",
        &["slots of %x overlap", "use_x reads %x[0..4] lost to fill_old"],
    );
}

#[test]
fn e13_freeing_one_of_two_buffers() {
    let source = "func @f() {
        alloc_a alloc %a 8
        alloc_b alloc %b 8
        alloc_y alloc %y 8
        select merge %m = %a | %b
        fill_a write %a
        fill_b write %b
        drop free %m
        fill_y write %y
        use read %a
      }";
    expect(source, "a@0 b@8 y@0", &["use reads %a[0..8] lost to fill_y"]);
    expect(source, "a@0 b@8 y@16", &[]);
}

#[test]
fn e14_the_holder_of_an_escaped_buffer_may_write() {
    let source = "func @f() {
        alloc_x alloc %x 8
        alloc_y alloc %y 8
        fill_y write %y
        publish escape %x
        use read %y
      }";
    expect(source, "x@0 y@0", &["use reads %y[0..8] lost to publish"]);
    expect(source, "x@0 y@8", &[]);
    let later = "func @f() {
        alloc_x alloc %x 8
        alloc_y alloc %y 8
        publish escape %x
        fill_y write %y
        publish_y escape %y
      }";
    expect(later, "x@0 y@0", &["fill_y overwrites escaped %x"]);
    expect(later, "x@0 y@8", &[]);
    let both = "func @f() {
        alloc_x alloc %x 8
        alloc_y alloc %y 8
        return escape %x, escape %y
      }";
    expect(both, "x@0 y@4", &["return overwrites escaped %x"]);
    expect(both, "x@0 y@8", &[]);
}

#[test]
fn e15_a_dag_reads_what_it_may_already_have_overwritten() {
    let source = "func @f() {
        allocs alloc %x 8, alloc %y 8
        fill_x write %x
        graph dag {
          use_x read %x, label &1
          make_y write %y, label &2
          use_y read %y, after &2
        }
      }";
    expect(source, "x@0 y@0", &["unordered: use_x of %x and make_y of %y"]);
    expect(source, "x@0 y@8", &[]);
    expect(&source.replace("label &2", "label &2, after &1"), "x@0 y@0", &[]);
}

#[test]
fn e16_async_writes() {
    let source = "func @f() {
        alloc_x alloc %x 8
        alloc_y alloc %y 8
        launch async !t {
          fill_x write %x
        }
        fill_y write %y
        wait await !t
        use read %x
      }";
    expect(source, "x@0 y@0", &["use reads %x[0..8] lost to fill_y"]);
    expect(source, "x@0 y@8", &[]);
    let fine = "func @f() {
        allocs alloc %x 8, alloc %y 8, alloc %z 8
        fill_x write %x
        launch async !t {
          fill_z write %z
        }
        use_x read %x
        fill_y write %y
        wait await !t
        use read %y, read %z
      }";
    expect(fine, "x@0 y@0 z@8", &[]);
    expect(fine, "x@0 y@8 z@8", &["use reads %y[0..8] lost to fill_z", "use reads %z[0..8] lost to fill_y"]);
    expect(fine, "x@0 y@8 z@0", &["use_x reads %x[0..8] lost to fill_z"]);
}
