//! Lives of buffers in small programs, in the text form of programs.

use memplan_analysis::{Aliases, Beyond, Collector, Lifetimes, OpTree, TickCollector};
use memplan_program::text::parse;

fn lives(text: &str) -> String {
    let program = parse(text).unwrap_or_else(|error| panic!("{error}"));
    let tree = OpTree::new(&program);
    Lifetimes::new(&program, &Aliases::new(&program), &tree).dump(&program, &tree)
}

fn expect(text: &str, lines: &[&str]) {
    let found = lives(text);
    assert_eq!(found.lines().collect::<Vec<_>>(), lines, "{text}");
}

#[test]
fn straight_line() {
    expect(
        "func @f() {
           alloc  alloc %a 64
           alloc  alloc %b 64
           alloc  alloc %never 64
           use    write %a
           use    read %a, write %b
           use    read %b
         }",
        &["@f/%a: [5, 6]", "@f/%b: [6, 7]", "@f/%never: never used"],
    );
}

#[test]
fn an_inner_loop_counts_for_the_outer_one() {
    // Two buffers used in two inner loops of one outer loop: their content
    // crosses outer iterations, so each lives all through it.
    expect(
        "func @f() {
           alloc  alloc %a 64
           alloc  alloc %b 64
           for  loop 0.. {
             for  loop 0.. {
               use  update %a
             }
             for  loop 0.. {
               use  update %b
             }
           }
         }",
        &["@f/%a: [4, 8]", "@f/%b: [4, 8]"],
    );
}

#[test]
fn fresh_in_each_iteration() {
    expect(
        "func @f() {
           for  loop 0.. {
             alloc  alloc %a 64
             use  write %a
             use  read %a
             alloc  alloc %b 64
             use  write %b
           }
         }",
        &["@f/%a: [4, 5]", "@f/%b: [7, 7]"],
    );
}

#[test]
fn a_buffer_that_leaves_its_branch() {
    expect(
        "func @f() {
           if  alternatives, result %r {
             alloc  alloc %a 64
             use  write %a
             leave %a
           } {
             alloc  alloc %b 64
             alloc  alloc %local 64
             use  write %local
             leave %b
           }
           use  read %r
         }",
        &["@f/%a: [2, 8]", "@f/%b: [2, 8]", "@f/%local: [7, 7]"],
    );
}

#[test]
fn views_count_for_their_buffer() {
    expect(
        "func @f() {
           alloc  alloc %a 64
           alloc  alloc %b 64
           view  view %v = %a[0..16]
           select  merge %m = %v | %b
           odd  opaque %o = %m
           use  write %b
           use  read %o
         }",
        &["@f/%a: [8, 8]", "@f/%b: [7, 8]"],
    );
}

#[test]
fn what_loops_carry_and_what_escapes_is_left_alone() {
    expect(
        "func @f() {
           alloc  alloc %f 64
           for  loop 0.., init %f, result %r { (%x)
             alloc  alloc %g 64
             use  write %g
             leave %g
           }
           alloc  alloc %h 64
           return  escape %h
         }",
        &[
            "@f/%f: never used",
            "@f/%g: left alone: a loop carries it from one iteration to the next (use at tick 5)",
            "@f/%h: left alone: it escapes (return at tick 7)",
        ],
    );
}

#[test]
fn a_graph_of_blocks_has_no_order() {
    // The back edge from ^two to ^one: what is written in ^two is read in ^one.
    expect(
        "func @f() {
           region  once {
           ^zero:
             alloc  alloc %a 64
             alloc  alloc %b 64
             use  write %a
             goto ^one
           ^one:
             use  read %a
             alloc  alloc %local 64
             use  write %local
             goto ^two
             leave
           ^two:
             use  write %b
             use  read %b
             goto ^one
           }
         }",
        &["@f/%a: [3, 10]", "@f/%b: [3, 10]", "@f/%local: [8, 8]"],
    );
}

#[test]
fn a_cycle_of_blocks_that_passes_on_its_own_allocation() {
    expect(
        "func @f() {
           alloc  alloc %outer 64
           region  once, init %outer { (%start)
             goto ^head %start
           ^head(%x):
             use  read %x
             alloc  alloc %inner 64
             use  write %inner
             goto ^head %inner
             leave
           }
         }",
        &[
            "@f/%outer: [3, 6]",
            "@f/%inner: left alone: a loop carries it from one iteration to the next (use at tick 6)",
        ],
    );
}

#[test]
fn asynchronous_work_lasts_until_it_is_awaited() {
    expect(
        "func @f() {
           alloc  alloc %a 64
           alloc  alloc %b 64
           execute  async !t, scope {
             use  write %a
           }
           use  write %b
           wait  await !t
           use  read %b
         }",
        &["@f/%a: [4, 7]", "@f/%b: [6, 8]"],
    );
    expect(
        "func @f() {
           alloc  alloc %a 64
           execute  async !t, scope {
             use  write %a
           }
           use
         }",
        &["@f/%a: [3, 5]"],
    );
}

#[test]
fn work_that_outlives_its_iteration_needs_its_own_buffers() {
    expect(
        "func @f() {
           for  loop 0.. {
             alloc  alloc %a 64
             execute  async !t, scope {
               use  write %a
             }
           }
         }",
        &["@f/%a: left alone: several instances of it can be alive at once (execute at tick 4)"],
    );
}

#[test]
fn a_parallel_loop_without_iterations_hands_its_init_on() {
    let program = |trips: &str| {
        format!(
            "func @f() {{
               alloc  alloc %a 64, alloc %b 64, write %a
               forall  parallel {trips}, init %a, result %r {{
                 use  write %b
                 leave %b
               }}
               use  read %r
             }}"
        )
    };
    expect(&program("4"), &["@f/%a: [2, 2]", "@f/%b: [3, 5]"]);
    expect(&program("?"), &["@f/%a: [2, 5]", "@f/%b: [3, 5]"]);
}

#[test]
fn parallel_iterations_own_what_they_allocate_only_as_a_scope() {
    let program = |scope: &str| {
        format!(
            "func @f() {{
               alloc  alloc %outer 64
               forall  parallel 4{scope} {{
                 alloc  alloc %a 64
                 use  write %a, read %outer
               }}
             }}"
        )
    };
    expect(&program(", scope"), &["@f/%outer: [3, 5]", "@f/%a: [5, 5]"]);
    expect(
        &program(""),
        &["@f/%outer: [3, 5]", "@f/%a: left alone: several instances of it can be alive at once (alloc at tick 4)"],
    );
}

#[test]
fn deep_nesting() {
    let depth = 10_000;
    let text = format!(
        "func @f() {{\nalloc  alloc %a 64\n{}use  write %a\n{}}}",
        "for  loop 0.. {\n".repeat(depth),
        "}\n".repeat(depth)
    );
    expect(&text, &[&format!("@f/%a: [3, {}]", depth + 3)]);
}

#[test]
fn a_problem_has_a_space_for_each_scope_and_memory_space() {
    let program = parse(
        "space ub
         func @f() {
           alloc  alloc %a 64 align 32
           alloc  alloc %u 128 space ub
           alloc  alloc %dynamic n
           forall  parallel 4, scope {
             alloc  alloc %inner 64
             use  write %inner
           }
           use  write %a, write %u
         }",
    )
    .unwrap();
    let collected = TickCollector::default().collect(&program).unwrap();
    let names: Vec<&str> = collected.problem.spaces().iter().map(|space| space.name.as_str()).collect();
    assert_eq!(names, ["default@f", "ub@f", "default@f/forall#3"]);
    assert_eq!(collected.problem.buffers().len(), 3);
    assert_eq!(collected.left_alone.len(), 1);
    assert_eq!(collected.left_alone[0].1.describe(), "its size is only known at run time");
}

/// Work inside of other work may be started later than the code that stands behind the outer one, so only the end of
/// the outer work is certain.
#[test]
fn an_await_may_come_before_work_that_other_work_starts() {
    expect(
        "func @f() {
           a  alloc %x 8
           fill  write %x
           launch  async !w {
             inner  async !t {
               use  read %x
             }
           }
           early  await every !t
           late  await !w
           last  await every !t
         }",
        &["@f/%x: [3, 9]"],
    );
}

/// A buffer from outside of a cycle of blocks is needed in all of the cycle, also where lives are just long enough: what
/// `again` writes is read after the next round, in which `%b` is written.
#[test]
fn a_cycle_of_blocks_is_a_loop_for_buffers_from_outside() {
    let text = "func @f() {
           alloc  alloc %a 64
           once  once {
           ^head:
             alloc  alloc %b 64
             use  write %b
             use  read %b
             goto ^again
             goto ^done
           ^again:
             use  write %a
             goto ^head
           ^done:
             use  read %a
             leave
           }
         }";
    let program = parse(text).unwrap_or_else(|error| panic!("{error}"));
    let tree = OpTree::new(&program);
    let lives = Lifetimes::with(&program, &Aliases::new(&program), &tree, Beyond::Prolong);
    let found = lives.dump(&program, &tree);
    assert_eq!(found.lines().collect::<Vec<_>>(), ["@f/%a: [3, 8]", "@f/%b: [5, 6]"]);
}
