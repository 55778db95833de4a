//! Functions that are so large that two threads rewrite them. The result has to be that of the steps one by one.

use crate::JUDGE;
use memplan_core::Id;
use memplan_program::{Program, SiteId};
use memplan_tensor::interpret::{RunOptions, run};
use memplan_tensor::ir::Function;
use memplan_tensor::rewrite::{
    Apart, Judge, Mode, RewriteOptions, apply, check, collect, decide, storage_rewrite, storage_rewrite_owned,
};
use memplan_tensor::script::Script;
use memplan_testkit::tvmscript::chain;
use memplan_verify::dataflow::{SitePlan, Violation};
use std::fmt::Write as _;

/// So many buffers are worth a second thread.
const BUFFERS: usize = 200;

fn function(text: &str) -> Function {
    Script::read(text).expect("a valid program").functions()[0].clone()
}

/// A chain of stages, each of which can be computed in the place of the stage before it.
fn in_place_chain(stages: usize) -> String {
    let mut text = String::from(
        "@T.prim_func(s_tir=True)\ndef main(E: T.Buffer((8,), \"float32\"), O: T.Buffer((8,), \"float32\")):\n",
    );
    for stage in 0..stages {
        let before = stage.checked_sub(1).map_or("E".to_owned(), |before| format!("T{before}"));
        _ = writeln!(text, "    T{stage} = T.alloc_buffer((8,))\n    for i in range(8):");
        _ = writeln!(text, "        T{stage}[i] = {before}[i] + T.float32(1.0)");
    }
    _ = writeln!(text, "    for i in range(8):\n        O[i] = T{}[i]", stages - 1);
    text
}

#[test]
fn two_threads_give_what_the_steps_one_by_one_give() {
    let ways = [
        RewriteOptions::default(),
        RewriteOptions { mode: Mode::Compat, ..RewriteOptions::default() },
        RewriteOptions { strategy: Some("greedy-by-size".to_owned()), ..RewriteOptions::default() },
    ];
    for text in [chain(3 * BUFFERS), in_place_chain(BUFFERS)] {
        let before = function(&text);
        for options in &ways {
            let decision = decide(&collect(&before), options, &Apart::default(), JUDGE).expect("laid out");
            assert_eq!(check(&before, &decision.layout, JUDGE).expect("well formed"), []);
            let expected = apply(before.clone(), &decision.layout);
            let rewritten = storage_rewrite(&before, options, JUDGE).expect("rewritten");
            assert_eq!(rewritten.function, expected, "{options:?}\n{text}");
            let owned = storage_rewrite_owned(before.clone(), options, JUDGE).expect("rewritten");
            assert_eq!(owned.function, expected, "{options:?}\n{text}");
            let run = |function: &Function| run(function, &RunOptions::default()).expect("runs");
            assert_eq!(run(&expected), run(&before), "{options:?}\n{text}");
        }
    }
}

/// Objects to everything that shares memory with the first site.
fn keep_the_first_alone(program: &Program, plan: &SitePlan) -> Vec<Violation> {
    let first = SiteId::from_index(0);
    let space = |site: SiteId| plan.placements[site].as_ref().map(|placement| placement.space);
    let others = program.sites().ids().skip(1).filter(|&other| space(first).is_some() && space(other) == space(first));
    others.map(|other| Violation::ExclusiveShared { sites: (first, other) }).collect()
}

#[test]
fn a_function_that_was_made_for_a_rejected_layout_is_thrown_away() {
    let judge = Judge { dataflow: keep_the_first_alone, ..JUDGE };
    for text in [chain(3 * BUFFERS), in_place_chain(BUFFERS)] {
        let before = function(&text);
        let rewritten =
            storage_rewrite(&before, &RewriteOptions::default(), judge).expect("the second layout is right");
        assert!(!rewritten.repairs.is_empty(), "the first layout shares the first buffer's memory\n{text}");
        let (message, layout) = (&rewritten.repairs[0].message, &rewritten.layout);
        assert!(message.contains("T0"), "messages name buffers: {message}");
        assert_eq!(rewritten.function, apply(before.clone(), layout));
        let first = before.buffer_named("T0").expect("allocated");
        let place = layout.places[first].expect("placed");
        let together = layout.places.iter().flatten().filter(|other| other.allocation == place.allocation);
        assert_eq!(together.count(), 1, "{text}");
    }
}
