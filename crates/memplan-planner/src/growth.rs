//! Nothing that is asked of the planner grows much faster than the problem: counted, not timed.
//!
//! Every family of the test kit is planned at two sizes. What is compared are obstacles that a pass looked at and units
//! of work that a search spent, which are the same on every machine.

use std::time::Duration;

use memplan_core::{Outcome, Problem, Stop};
use memplan_testkit::stress::FAMILIES;

use crate::piece::Pieces;
use crate::placer::Placer;
use crate::search::search;
use crate::strategy::ordered_fit::{FIRST_SIZE, Pass};
use crate::{Request, find};

const SMALL: usize = 2_000;
const FACTOR: u64 = 4;

/// Obstacles of first fit by size, and one for each piece.
fn obstacles(problem: &Problem) -> u64 {
    let pieces = Pieces::of(problem).unwrap();
    let mut placer = Placer::new(&pieces);
    let pass = Pass { ceiling: None, gives_up: &|| false, threads: 1 };
    FIRST_SIZE.run(&mut placer, &pass).unwrap();
    pieces.len() as u64 + placer.obstacles_met()
}

#[test]
fn a_pass_looks_at_a_few_obstacles_for_each_piece() {
    for (name, make) in FAMILIES {
        let (few, many) = (obstacles(&make(SMALL)), obstacles(&make(FACTOR as usize * SMALL)));
        assert!(2 * many <= 3 * FACTOR * few, "{name}: {few} obstacles become {many}");
        assert!(many <= 40 * FACTOR * SMALL as u64, "{name}: {many} obstacles for {} pieces", FACTOR as usize * SMALL);
    }
}

#[test]
fn a_search_ends_with_a_valid_plan_and_no_more_work_than_it_has() {
    for (name, make) in FAMILIES {
        let problem = make(SMALL);
        let answer = search(&problem, &Request { work_limit: Some(20_000), ..Request::default() });
        let plan = answer.outcome.plan().unwrap_or_else(|| panic!("{name}: {:?}", answer.outcome));
        assert_eq!(memplan_verify::packing::check(&problem, plan), [], "{name}");
        assert!(answer.nodes <= 2 * 20_000, "{name}: {} units of work", answer.nodes);
    }
}

/// A time limit that is over from the start leaves the first plan, and not a unit of work after it.
#[test]
fn nothing_is_begun_when_time_is_over() {
    for (name, make) in FAMILIES {
        let problem = make(SMALL);
        let answer = search(&problem, &Request { time_limit: Some(Duration::ZERO), ..Request::default() });
        assert!(answer.outcome.plan().is_some(), "{name}: {:?}", answer.outcome);
        assert_eq!(answer.nodes, 0, "{name}");
        if let Outcome::Feasible { stop, .. } = answer.outcome {
            assert_eq!(stop, Stop::TimeLimit, "{name}");
        }
    }
}

/// Strategies over records compare everything with everything only where that is needed.
#[test]
fn buffers_that_do_not_differ_are_no_burden_to_any_strategy() {
    let problem = memplan_testkit::stress::identical(20_000);
    for name in ["size-order", "greedy-by-size", "greedy-by-breadth", "first-fit", "best-fit"] {
        let outcome = crate::plan(find(name).unwrap(), &problem, &Request::default()).unwrap();
        assert_eq!(outcome.plan().unwrap().extent().0, 64 * 20_000, "{name}");
    }
}
