//! Corners that random programs reach seldom, or once showed to be wrong.

use memplan_core::Bytes;
use memplan_program::{Control, OpDraft, ProgramBuilder, Size, Trips};
use memplan_verify::dataflow::{check, check_within};

use crate::notation::{brief, expect, plan, program};

/// A dag that reads a buffer before it writes it reads what came from outside.
#[test]
fn a_dag_may_read_incoming_content_before_it_writes_the_buffer() {
    let source = "func @f() {
        allocs alloc %x 8, alloc %y 8
        fill_y write %y
        graph dag {
          old_y read %y, label &1
          make_x write %x, label &2
          new_y read %x, write %y, overlay %y over %x, after &1 &2
        }
        use read %y
      }";
    expect(source, "x@0 y@0", &["unordered: old_y of %y and make_x of %x"]);
    expect(&source.replace("label &2", "label &2, after &1"), "x@0 y@0", &[]);
    // Nothing comes from outside: reading it is reading garbage.
    expect(&source.replace("        fill_y write %y\n", ""), "x@0 y@0", &[]);
}

/// Freeing a buffer does not stop others from writing it.
#[test]
fn what_runs_beside_a_free_may_write_again() {
    let source = "func @f() {
        allocs alloc %x 8, alloc %y 8
        launch async !t {
          fill_x write %x
          fill_y write %y
        }
        drop free %x
        use read %x
      }";
    expect(source, "x@0 y@0", &["use reads %x[0..8] lost to fill_y"]);
    expect(source, "x@0 y@8", &[]);
}

/// Accesses may rely on the alignment a buffer asks for, in every iteration.
#[test]
fn offsets_and_strides_keep_the_alignment() {
    let source = "func @f() {
        all parallel 4 {
          make alloc %x 24 align 16
          fill write %x
        }
      }";
    expect(source, "x@0+32", &[]);
    expect(source, "x@8+32", &["%x off its alignment: 8"]);
    expect(source, "x@0+24", &["%x off its alignment: 24"]);
    expect(&source.replace("parallel 4", "parallel 1"), "x@0+24", &[]);
}

/// Loops that reach further than any memory: no distance overflows, and iterations count as overlapping.
#[test]
fn iterations_beyond_all_memory_overlap() {
    let source = "func @f() {
        outer parallel 1152921504606846976 {
          inner parallel 131072 {
            make alloc %x 8
            fill write %x
            use read %x
          }
        }
      }";
    // The iterations of the inner loop lie 2^62 bytes apart, all of them within 2^79; those of the outer one have no place.
    expect(source, "x@0+4611686018427387904", &["iterations of outer overlap: %x %x"]);
}

/// A select or the result of a branch is the latest instance of what it chooses from: other
/// iterations that write through it write the same instance, not another one.
#[test]
fn writing_a_chosen_buffer_in_a_parallel_loop() {
    let source = "func @f() {
        all parallel 2 {
          make alloc %x 8, alloc %y 8
          choose merge %m = %x | %y
          inner parallel 4 {
            store update %m
          }
          use read %m
        }
      }";
    expect(source, "x@0+16 y@8+16", &[]);
    expect(&source.replace("y 8\n", "y 8, write %x\n"), "x@0", &["iterations of all overlap: %x %x"]);
    let branch =
        source.replace("choose merge %m = %x | %y", "choose alternatives, result %m {\n leave %x\n } {\n leave %y\n }");
    expect(&branch, "x@0+16 y@8+16", &[]);
    // What a loop carries may be an older instance.
    let carried = "func @f() {
        first alloc %z 8, write %z
        round loop 3, init %z, result %r { (%a)
          make alloc %x 8
          choose merge %m = %x | %a
          inner parallel 4 {
            store update %m
          }
          use read %m
          leave %x
        }
      }";
    expect(carried, "z@0 x@8", &["use reads %m[0..8] lost to store", "store reads %m[0..8] lost to store"]);
}

/// The regions of an op nobody knows run at any time from the op to the end of the function.
#[test]
fn regions_nobody_knows() {
    let source = "func @f(%out) {
        allocs alloc %x 8, alloc %y 8
        fill_x write %x
        mystery unknown {
          use_x read %x, update %out
        }
        fill_y write %y
        use_y read %y
      }";
    expect(source, "x@0 y@0", &["use_x reads %x[0..8] lost to fill_y"]);
    expect(source, "x@0 y@8", &[]);
    // Before the op its bytes are free.
    let before = "func @f(%out) {
        allocs alloc %x 8, alloc %y 8
        fill_y write %y
        use_y read %y
        fill_x write %x
        mystery unknown {
          use_x read %x, update %out
        }
      }";
    expect(before, "x@0 y@0", &[]);
    // The op itself may use what it is given as late as its regions.
    let given = source
        .replace("mystery unknown {", "mystery unknown, read %x {")
        .replace("use_x read %x, update %out", "nop update %out");
    expect(&given, "x@0 y@0", &["mystery reads %x[0..8] lost to fill_y"]);
}

/// Several of them run at once, so what is allocated inside stays inside.
#[test]
fn buffers_of_regions_nobody_knows() {
    let source = "func @f(%out) {
        mystery scope, unknown {
          make alloc %t 8
          fill write %t
          use read %t, update %out
        }
      }";
    expect(source, "t@0", &["use reads %t[0..8] lost to fill"]);
    expect(source, "", &[]);
    expect(source, "t@0/mystery", &[]);
}

/// Waiting for every piece of work ends them all; waiting for one does not.
#[test]
fn waiting_for_all_work() {
    let source = "func @f() {
        allocs alloc %x 8, alloc %y 8
        fill_x write %x
        for loop 2 {
          launch async !t {
            use_x read %x
          }
        }
        wait await every !t
        fill_y write %y
        use_y read %y
      }";
    expect(source, "x@0 y@0", &[]);
    expect(&source.replace("every ", ""), "x@0 y@0", &["use_x reads %x[0..8] lost to fill_y"]);
    // Whoever goes on may start more of them.
    let nested = "func @f() {
        allocs alloc %x 8, alloc %y 8
        fill_x write %x
        outer async !o {
          launch async !t {
            use_x read %x
          }
        }
        wait await every !t
        fill_y write %y
        use_y read %y
      }";
    expect(nested, "x@0 y@0", &["use_x reads %x[0..8] lost to fill_y"]);
    expect(&nested.replace("await every !t", "await every !o, await every !t"), "x@0 y@0", &[]);
}

/// One piece of work writes a buffer, another one overwrites it: the code between them sees neither.
#[test]
fn two_pieces_of_work_on_the_same_bytes() {
    let source = "func @f() {
        allocs alloc %x 8, alloc %y 8
        one async !one {
          fill_y write %y
        }
        two async !two {
          fill_x write %x
        }
        wait await !two, await !one
        use_x read %x
      }";
    expect(source, "x@0 y@0", &["use_x reads %x[0..8] lost to fill_y"]);
    expect(source, "x@0 y@8", &[]);
}

/// A buffer that the code allocates anew in each round, beside work that is awaited in the same
/// round: what the work knows of the one before does not matter.
#[test]
fn a_new_buffer_beside_work() {
    let source = "func @f(%in) {
        for loop 3 {
          launch async !t {
            use_in read %in
          }
          make alloc %x 8
          fill_x write %x
          wait await !t
          use_x read %x
        }
      }";
    expect(source, "x@0", &[]);
}

/// What a loop hands out is in use behind it, preloaded or not.
#[test]
fn a_preloaded_buffer_behind_its_loop() {
    let source = "func @f() {
        first alloc %y 8
        round loop 2, init %y, result %r { (%a)
          make alloc %x 8 slots 2 preload
          leave %x
        }
        fill_r write %r
        fill_y write %y
        use_r read %r
      }";
    expect(source, "x@0,8 y@8", &["use_r reads %r[0..8] lost to fill_y"]);
    expect(source, "x@0,8 y@16", &[]);
}

/// A loop turns the slots of a buffer while work that it started still uses them.
#[test]
fn slots_turn_under_work_that_goes_on() {
    let source = "func @f() {
        make alloc %x 8 slots 2 rotate &1
        for label &1, loop 4 {
          launch async !t {
            fill write %x
            use read %x
          }
        }
      }";
    expect(source, "x@0,8", &["use reads %x[0..8] lost to fill"]);
}

/// A token launched again while pending: the first instance goes on.
#[test]
fn two_launches_and_one_await() {
    let source = "func @f() {
        for loop 2 {
          alloc_x alloc %x 8
          launch async !t {
            fill_x write %x
            use_x read %x
          }
        }
        wait await !t
      }";
    expect(source, "x@0", &["use_x reads %x[0..8] lost to fill_x"]);
    expect(&source.replace("        }\n        wait await !t", "          wait await !t\n        }"), "x@0", &[]);
}

/// An await on a path where nothing was launched repairs nothing.
#[test]
fn an_await_that_may_wait_for_nothing() {
    let source = "func @f() {
        allocs alloc %x 8, alloc %y 8
        fill_x write %x
        fill_y write %y
        if alternatives may-skip {
          launch async !t {
            again write %x
          }
        }
        wait await !t
        use read %x
      }";
    expect(source, "x@0 y@0", &["use reads %x[0..8] lost to fill_y"]);
    let always =
        source.replace("        if alternatives may-skip {\n", "").replace("          }\n        }\n", "          }\n");
    expect(&always, "x@0 y@0", &[]);
}

/// Parallel loops of unknown length need one frame for each iteration.
#[test]
fn unknown_trip_counts() {
    let source = "func @f() {
        alloc_z alloc %z 8
        fill_z write %z
        par parallel ?, scope {
          alloc_x alloc %x 16
          alloc_y alloc %y 16
          fill_x write %x
          fill_y read %x, write %y
          use_y read %y
        }
        use_z read %z
      }";
    expect(source, "x@0+32 y@16+32", &[]);
    expect(source, "x@0+16 y@4096+16", &["iterations of par overlap: %x %y"]);
    expect(source, "x@0+32 y@16+32 z@100", &["use_z reads %z[0..8] lost to fill_x"]);
    expect(source, "x@64+32 y@80+32 z@0", &[]);
}

/// Hoisted out of two parallel loops: the inner index moves by the stride, the
/// outer one by the whole inner loop.
#[test]
fn nested_hoisted_parallels() {
    let source = "func @f() {
        outer parallel 4, scope {
          alloc_y alloc %y 8
          fill_y write %y
          inner parallel 3, scope {
            alloc_x alloc %x 8
            fill_x read %y, write %x
            use_x read %x, read %y
          }
        }
      }";
    // x takes 4*3*8 = 96 bytes, y 4*8 = 32.
    expect(source, "x@0+8 y@96+8", &[]);
    expect(source, "x@0+8 y@88+8", &["iterations of outer overlap: %x %y"]);
    expect(source, "x@0+4 y@96+8", &["iterations of inner overlap: %x %x", "iterations of outer overlap: %x %x"]);
    // The inner loop's memory belongs to an iteration of the outer one.
    expect(source, "x@0+8/outer y@24/outer", &[]);
    expect(source, "x@0/inner y@0/outer", &[]);
    expect(source, "x@0/inner y@64/inner", &["%y in memory of inner", "iterations of outer overlap: %y %y"]);
    expect(&source.replace("parallel 3", "parallel ?"), "x@0+8", &["iterations of outer overlap: %x %x"]);
}

/// More slots than copies of a loop: any slot may be the current one.
#[test]
fn the_slot_cap() {
    let source = "func @f() {
        for loop 0.. {
          alloc_x alloc %x 4 slots 40
          alloc_y alloc %y 4
          fill_x write %x
          fill_y write %y
          use read %x
        }
      }";
    let offsets: Vec<String> = (0..40).map(|slot| (slot * 4).to_string()).collect();
    let offsets = offsets.join(",");
    expect(source, &format!("x@{offsets} y@160"), &[]);
    expect(source, &format!("x@{offsets} y@100"), &["use reads %x[0..4] lost to fill_y"]);
}

/// Within the cap every turn knows its slot.
#[test]
fn slots_in_rotation() {
    let carried = "func @f() {
        start alloc %s 4, write %s
        for loop 0.., init %s, result %r { (%previous)
          alloc_x alloc %x 4 slots 2
          step read %previous, write %x
          leave %x
        }
        use read %r
      }";
    expect(carried, "s@8 x@0,4", &[]);
    expect(carried, "s@8 x@0", &["step writes %x over its input %previous", "too few slots for %x"]);
    // The value of two iterations ago is gone with two slots, but not with three.
    let two_ago = "func @f() {
        start alloc %s 4, write %s
        for loop 0.., init %s, init %s, result %r, result %q { (%previous, %older)
          alloc_x alloc %x 4 slots 2
          step read %previous, write %x
          use read %older
          leave %x, %previous
        }
      }";
    expect(two_ago, "s@12 x@0,4", &["use reads %older[0..4] lost to step"]);
    expect(&two_ago.replace("slots 2", "slots 3"), "s@12 x@0,4,8", &[]);
}

/// Slots of a buffer that is allocated outside the loop that turns it: each
/// iteration finds the slot of an older one.
#[test]
fn a_loop_rotates_a_buffer_from_outside() {
    let source = "func @f() {
        alloc_x alloc %x 4 slots 2 rotate &1
        for label &1, loop 0.. {
          fill write %x
          use read %x
        }
      }";
    expect(source, "x@0,4", &[]);
    let carried = source.replace("fill write", "fill update");
    expect(&carried, "x@0,4", &["fill reads %x[0..4] lost to for", "use reads %x[0..4] lost to for"]);
    expect(&carried.replace("slots 2", ""), "x@0", &[]);
}

/// A preloaded buffer is read once more when its loop ends.
#[test]
fn preload() {
    let source = "func @f() {
        for loop 0.. {
          alloc_x alloc %x 4 preload
          alloc_y alloc %y 4
          load write %x
          use read %x
          fill_y write %y
          use_y read %y
        }
      }";
    expect(source, "x@0 y@0", &["for reads %x[0..4] lost to fill_y"]);
    expect(source, "x@0 y@4", &[]);
    expect(&source.replace(" preload", ""), "x@0 y@0", &[]);
    let slots = source.replace("preload", "slots 2 preload");
    expect(&slots, "x@0,4 y@8", &[]);
    // The slot of the other turn waits for the end of the loop, too.
    expect(&slots, "x@0,4 y@4", &["for reads %x[0..4] lost to fill_y"]);
    // More slots than the loop is copied for.
    let many = source.replace("preload", "slots 40 preload");
    let offsets: Vec<String> = (0..40).map(|slot| (slot * 4).to_string()).collect();
    expect(&many, &format!("x@{} y@160", offsets.join(",")), &[]);
    expect(&many, &format!("x@{} y@100", offsets.join(",")), &["for reads %x[0..4] lost to fill_y"]);
}

/// What a loop rotates although it is allocated outside is read where it is at the loop's end.
#[test]
fn preload_of_a_buffer_from_outside() {
    let source = "func @f() {
        allocs alloc %x 4 slots 2 rotate &1 preload, alloc %y 4
        for label &1, loop 0.. {
          load write %x
          use read %x
          fill_y write %y
          use_y read %y
        }
      }";
    expect(source, "x@0,4 y@8", &[]);
}

/// A loop that is skipped the second time reads nothing of what the first time filled.
#[test]
fn preload_of_a_loop_that_is_skipped() {
    let source = "func @f() {
        allocs alloc %y 4
        outer loop 0.. {
          inner loop 0.. {
            alloc_x alloc %x 4 preload
            fill_x write %x
          }
          fill_y write %y
          use read %y
        }
      }";
    expect(source, "x@0 y@0", &[]);
    let inside = source.replace("fill_x write %x", "fill_x write %x, write %y");
    expect(&inside, "x@0 y@2", &["fill_x writes %x and %y at once", "inner reads %x[2..4] lost to fill_x"]);
}

/// A preloaded buffer of an asynchronous region waits for the end of the loop around it.
#[test]
fn preload_beside_the_loop() {
    let source = "func @f() {
        for loop 2 {
          launch async !t {
            alloc_x alloc %x 4 preload
            load write %x
          }
          alloc_y alloc %y 4
          fill_y write %y
        }
      }";
    expect(source, "x@0 y@0", &["for reads %x[0..4] lost to fill_y"]);
    expect(source, "x@0 y@4", &[]);
}

/// Reading what was never written is the program's own business.
#[test]
fn garbage_is_not_a_violation() {
    let source = "func @f() {
        allocs alloc %x 8, alloc %y 8
        fill_y write %y
        use read %x
      }";
    expect(source, "x@0 y@0", &[]);
}

/// Shared objects are memories of their own, and so are spaces.
#[test]
fn separate_memories_never_overlap() {
    let source = "func @f() {
        allocs alloc %x 8 space ub, alloc %y 8 space l1
        fill_x write %x
        fill_y write %y
        use read %x
      }";
    expect(source, "x@0 y@0", &[]);
}

/// Symbolic sizes share whole objects.
#[test]
fn symbolic_sizes_reach_to_the_end_of_their_memory() {
    let source = "func @f() {
        allocs alloc %x n, alloc %y 8
        fill_x write %x
        fill_y write %y
        use read %x
      }";
    expect(source, "x@0 y@4096", &["use reads %x[4096..4104] lost to fill_y"]);
    expect(&source.replace("%x n", "%x n max 4096"), "x@0 y@4096", &[]);
}

/// Values handed round two loops unchanged are the value they started as, in
/// whatever order they were made.
#[test]
fn unchanged_carried_values_are_aliases() {
    let mut b = ProgramBuilder::new();
    b.open_function("f", &[]);
    let space = b.space("default");
    let x = b.alloc("x", Size::Known(Bytes(8)), space);
    b.push(OpDraft::new("alloc_x").result(x).write(x));
    let [outer_argument, outer_result, inner_argument, inner_result] =
        ["a", "r", "c", "d"].map(|name| b.incoming(name));
    let at_least_once = Control::Loop(Trips { at_least: 1, at_most: None });
    b.open_op(OpDraft::new("outer").inits(&[x]).result(outer_result).control(at_least_once));
    b.open_region(&[outer_argument]);
    let twice = Control::Loop(Trips::exactly(2));
    b.open_op(OpDraft::new("inner").inits(&[outer_argument]).result(inner_result).control(twice));
    b.open_region(&[inner_argument]);
    b.push(OpDraft::new("touch").update(x));
    b.leave(&[inner_argument]);
    b.close_region();
    b.close_op();
    b.leave(&[inner_result]);
    b.close_region();
    b.close_op();
    let y = b.alloc("y", Size::Known(Bytes(8)), space);
    b.push(OpDraft::new("alloc_y").result(y).write(y));
    b.push(OpDraft::new("use").read(outer_result));
    b.leave(&[]);
    b.close_function();
    let program = b.finish().unwrap();
    let found = check(&program, &plan(&program, "x@6 y@0"));
    assert_eq!(found.iter().map(|v| brief(&program, v)).collect::<Vec<_>>(), ["use reads %r[0..2] lost to alloc_y"]);
    assert_eq!(check(&program, &plan(&program, "x@8 y@0")), []);
}

/// Depth costs no stack, and a loop in a loop does not double the work.
#[test]
fn ten_thousand_loops_deep() {
    let depth = 10_000;
    let mut source = String::from("func @f() {\n allocs alloc %x 8, alloc %y 8\n fill write %x\n");
    (0..depth).for_each(|_| source.push_str("for loop 0.. {\n"));
    source.push_str("use read %x\n fill_y write %y\n");
    (0..depth).for_each(|_| source.push_str("}\n"));
    source.push_str("last read %x\n}");
    expect(&source, "x@0 y@8", &[]);
    expect(&source, "x@0 y@4", &["last reads %x[4..8] lost to fill_y", "use reads %x[4..8] lost to fill_y"]);
}

/// A buffer that the program wants to itself is left alone even by what comes long after it.
#[test]
fn an_exclusive_buffer_shares_with_nobody() {
    let source = "func @f() {
        allocs alloc %x 8 exclusive, alloc %y 8, alloc %z 8
        fill write %x
        use read %x
        fill_y write %y, write %z
        use read %y, read %z
      }";
    expect(source, "x@0 y@4 z@12", &["%x not alone: %y"]);
    expect(source, "x@4 y@0 z@12", &["%x not alone: %y"]);
    expect(source, "x@0 y@8 z@16", &[]);
    expect(&source.replace(" exclusive", ""), "x@0 y@4 z@12", &[]);
}

#[test]
fn what_lies_beyond_the_end_is_in_no_memory() {
    let program = program("func @f() {\n allocs alloc %x 8, alloc %y 8\n fill write %x\n use read %x\n}");
    let space = program.site(memplan_core::Id::from_index(0)).space;
    let found = |capacity: u64| {
        let capacities = [(space, Bytes(capacity))].into_iter().collect();
        let found = check_within(&program, &plan(&program, "x@0 y@8"), &capacities);
        found.iter().map(|violation| brief(&program, violation)).collect::<Vec<_>>()
    };
    assert_eq!(found(16), Vec::<String>::new());
    assert_eq!(found(15), ["%y ends at 16 of 15"]);
    assert_eq!(found(7), ["%x ends at 8 of 7", "%y ends at 16 of 7"]);
}

#[test]
fn the_documentation_lists_every_code() {
    let page = include_str!("../../../../docs/violations.md");
    let source = include_str!("../../src/dataflow/violation.rs");
    let codes: Vec<&str> = source.split('"').filter(|text| text.starts_with("dataflow::")).collect();
    assert!(codes.len() > 5);
    for code in &codes {
        assert!(page.contains(&format!("| `{code}` |")), "{code} is not documented");
    }
    assert_eq!(page.matches("| `dataflow::").count(), codes.len());
}

/// A copy onto itself needs no order with other reads of its source. So an order with the copy says nothing about these
/// reads, and what is written after the copy has to be compared with them on its own.
#[test]
fn a_copy_in_a_dag_hides_no_reader_of_its_source() {
    let source = "func @f() {
        allocs alloc %x 8, alloc %z 8, alloc %w 8
        graph dag {
          make_x write %x, label &1
          copy_z read %x, write %z, copy %z[0..8] from %x[0..8], label &2, after &1
          use_x read %x, label &3, after &1
          make_w write %w, label &4, after &2
          use_w read %w, after &4
        }
      }";
    expect(source, "x@0 z@0 w@0", &["unordered: use_x of %x and make_w of %w"]);
    expect(source, "x@0 z@0 w@8", &[]);
    let ordered = source.replace("label &4, after &2", "label &4, after &2, after &3");
    expect(&ordered, "x@0 z@0 w@0", &[]);
    // The same with what came from outside of the dag.
    let incoming = source
        .replace("graph dag {", "fill_x write %x\n graph dag {")
        .replace("make_x write %x, label &1", "look_x read %x, label &1");
    expect(&incoming, "x@0 z@0 w@0", &["unordered: use_x of %x and make_w of %w"]);
}

/// A parallel loop that may have no iterations may hand its init to its result. Then the result is not what the body
/// leaves.
#[test]
fn a_parallel_loop_without_iterations_gives_its_inits_back() {
    let source = "func @f() {
        allocs alloc %x 8, alloc %y 8, alloc %z 8
        fill_x write %x
        all parallel ?, init %x, result %r {
          fill_y write %y
          leave %y
        }
        fill_z write %z
        use_r read %r
      }";
    expect(source, "x@0 y@8 z@0", &["use_r reads %r[0..8] lost to fill_z"]);
    expect(source, "x@0 y@8 z@16", &[]);
    expect(&source.replace("parallel ?", "parallel 4 0"), "x@0 y@8 z@0", &["use_r reads %r[0..8] lost to fill_z"]);
    expect(&source.replace("parallel ?", "parallel 1"), "x@0 y@8 z@0", &[]);
}

/// A dag in a loop may read what its own last run has written. That content must survive until the read, in any order
/// of the ops.
#[test]
fn a_dag_in_a_loop_reads_what_its_last_run_wrote() {
    let source = "func @f() {
        allocs alloc %x 8, alloc %w 8
        round loop 3 {
          graph dag {
            use_x read %x, label &1
            make_w write %w, label &2
            use_w read %w, label &3, after &2
            make_x write %x, after &1, after &3
          }
        }
      }";
    expect(source, "x@0 w@0", &["unordered: use_x of %x and make_w of %w"]);
    expect(source, "x@0 w@8", &[]);
    // Only once: what `use_x` reads was never written.
    expect(&source.replace("loop 3", "loop 1"), "x@0 w@0", &[]);
    // The same if each run has an instance of its own.
    let fresh = source
        .replace("allocs alloc %x 8, alloc %w 8", "")
        .replace("graph dag", "allocs alloc %x 8, alloc %w 8\n graph dag");
    expect(&fresh, "x@0 w@0", &[]);
}

/// The same as a cycle of blocks: an instance of its own for each run comes from an allocation in the dag's block, in
/// front of the dag. From another block of the cycle it may come once for several runs.
#[test]
fn a_dag_in_a_cycle_of_blocks_has_the_instances_that_are_allocated_in_front_of_it() {
    let dag = "graph dag {
            use_x read %x, label &1
            make_w write %w, label &2
            use_w read %w, label &3, after &2
            make_x write %x, after &1, after &3
          }";
    let body =
        |blocks: &str| format!("func @f() {{; body once {{; {blocks}; }}; }}").replace("; ", "\n").replace("DAG", dag);
    let allocs = "allocs alloc %x 8, alloc %w 8";
    let in_front = body(&format!("^head:; {allocs}; DAG; goto ^head; leave"));
    expect(&in_front, "x@0 w@0", &[]);
    let lost: &[&str] = &["unordered: use_x of %x and make_w of %w"];
    let before = body(&format!("^start:; {allocs}; goto ^head; ^head:; DAG; goto ^head; leave"));
    expect(&before, "x@0 w@0", lost);
    expect(&before, "x@0 w@8", &[]);
    let inner = body(&format!("^head:; {allocs}; goto ^next; ^next:; DAG; goto ^next; goto ^head; leave"));
    expect(&inner, "x@0 w@0", lost);
    // What repeats in between still counts.
    let deeper = body(&format!("^head:; {allocs}; round loop 3 {{; DAG; }}; goto ^head; leave"));
    expect(&deeper, "x@0 w@0", lost);
}

/// A run of the dag may read the instance of the run before, if that is handed on.
#[test]
fn a_dag_reads_an_instance_of_an_earlier_run_that_is_handed_on() {
    let source = "func @f() {
        first alloc %x0 8, write %x0
        round loop 3, init %x0 { (%p)
          allocs alloc %x 8, alloc %w 8
          graph dag {
            use_p read %p, label &1
            make_w write %w, label &2
            use_w read %w, label &3, after &2
            make_x write %x, after &1, after &3
          }
          leave %x
        }
      }";
    expect(source, "x0@16 x@0 w@8", &[]);
    expect(source, "x0@16 x@0 w@0", &["unordered: use_p of %x and make_w of %w"]);
}

/// A dag of a chain of `ops` ops, each of which writes the buffer at the other one of two addresses, and one op that
/// copies.
fn chain_with_a_copy(ops: usize) -> (String, String) {
    let allocs: Vec<String> = (0..ops).map(|op| format!("alloc %t{op} 64")).collect();
    let mut body = String::from("op0 write %t0, label &0\n");
    for op in 1..ops {
        let before = op - 1;
        body.push_str(&format!("op{op} read %t{before}, write %t{op}, label &{op}, after &{before}\n"));
    }
    let last = ops - 1;
    body.push_str(&format!("cat read %t{last}, write %y, copy %y[0..64] from %t{last}[0..64], after &{last}\n"));
    let source = format!("func @f() {{\n allocs {}, alloc %y 128\n graph dag {{\n{body} }}\n}}", allocs.join(", "));
    let places: Vec<String> = (0..ops).map(|op| format!("t{op}@{}", 64 * (op % 2))).collect();
    (source, format!("{} y@128", places.join(" ")))
}

/// A copy makes comparisons necessary where it is, and not in the whole dag: with a comparison of all places this takes
/// a minute.
#[test]
fn a_copy_in_a_dag_makes_only_its_own_place_dear() {
    let (source, places) = chain_with_a_copy(1000);
    let start = std::time::Instant::now();
    expect(&source, &places, &[]);
    assert!(start.elapsed().as_secs() < 10, "{:?}", start.elapsed());
}
