//! The stage as a whole: valid, never worse, the same on any number of threads, and better where many are alive.

use memplan_core::{Buffer, Bytes, Lifetime, Plan, Problem, ProblemBuilder, bound};
use memplan_testkit::{Random, instances};

use super::super::budget::{Budget, Clock};
use super::pack_densely;
use crate::piece::Pieces;
use crate::{Request, find};

/// Units of work.
fn work(times: u64) -> u64 {
    2_500 * times
}

fn first_fit(problem: &Problem) -> Plan {
    let outcome = crate::plan(find("first-fit").unwrap(), problem, &Request::default()).unwrap();
    outcome.plan().unwrap().clone()
}

fn packed(problem: &Problem, plan: &Plan, seed: u64, work: u64, threads: usize) -> (Option<Plan>, u64) {
    let pieces = Pieces::of(problem).unwrap();
    assert!(pieces.is_plain());
    let request = Request { threads: Some(threads), ..Request::default() };
    let mut budget = Budget::new(&request, work, Clock::start(&request));
    let smaller = pack_densely(&pieces, plan, bound::lower_bound(problem), seed, &mut budget);
    (smaller, budget.spent())
}

fn assert_valid(problem: &Problem, plan: &Plan) {
    let violations = memplan_verify::packing::check(problem, plan);
    assert!(violations.is_empty(), "{}", violations[0]);
}

/// A small problem with every feature that the stage knows: alignments that do not divide each other, fixed
/// offsets taken from a valid plan, empty and dead buffers.
fn featured(seed: u64) -> Problem {
    let mut random = Random::new(seed);
    let count = random.between(2, 60);
    let steps = random.between(1, 40);
    let largest = 1 << random.between(1, 34);
    let mut builder = ProblemBuilder::new();
    for index in 0..count {
        let start = random.below(steps);
        let life = if random.one_in(20) {
            Lifetime::default()
        } else {
            Lifetime::new(start, start + random.between(1, steps))
        };
        let size = if random.one_in(20) { 0 } else { random.between(1, largest) };
        let alignment = Bytes([1, 1, 4, 12, 64, 4096][random.below(6) as usize]);
        builder.buffer(Buffer { alignment, ..Buffer::new(index.to_string(), size, life) });
    }
    let free = builder.build().unwrap();
    let plan = first_fit(&free);
    let mut builder = free.to_builder();
    for (index, buffer) in builder.buffers_mut().iter_mut().enumerate() {
        if random.one_in(10) {
            buffer.set_fixed(plan.placements.as_slice()[index].as_ref().map(|placement| placement.offsets[0]));
        }
    }
    builder.build().unwrap()
}

#[test]
fn thousands_of_small_problems_stay_valid_and_get_no_taller() {
    let mut lowered = 0;
    for seed in 0..3000 {
        let problem = featured(seed);
        let before = first_fit(&problem);
        let (after, _) = packed(&problem, &before, seed, work(1) / 10, 1);
        if let Some(after) = after {
            assert_valid(&problem, &after);
            assert!(after.extent() < before.extent(), "seed {seed}");
            lowered += 1;
        }
    }
    assert!(lowered > 100, "{lowered} of 3000 got lower");
}

#[test]
fn the_plan_does_not_depend_on_the_number_of_threads() {
    for seed in 0..4 {
        let problem = instances::random(2000, 120, seed);
        let before = first_fit(&problem);
        let one = packed(&problem, &before, seed, work(10), 1);
        let two = packed(&problem, &before, seed, work(10), 2);
        assert_eq!(one, two, "seed {seed}");
        assert_eq!(two, packed(&problem, &before, seed, work(10), 2), "seed {seed}");
    }
}

/// Far below what one pass reaches, in about as much work as twenty passes.
#[test]
fn dense_problems_get_close_to_their_bound() {
    for seed in 0..3 {
        let problem = instances::random(3000, 300, seed);
        let before = first_fit(&problem);
        let after = packed(&problem, &before, 0, work(60), 2).0.unwrap();
        assert_valid(&problem, &after);
        let gap = |plan: &Plan| plan.extent().0 - bound::lower_bound(&problem).0;
        assert!(4 * gap(&after) < gap(&before), "seed {seed}: {} is above {}", gap(&after), gap(&before) / 4);
    }
}

#[test]
fn extents_above_what_a_word_can_count_are_packed_in_larger_units() {
    let small = instances::random(1500, 60, 7);
    let mut builder = small.to_builder();
    for buffer in builder.buffers_mut().iter_mut() {
        buffer.size = memplan_core::Size::Fixed(Bytes(buffer.bytes().unwrap().0 << 16));
        buffer.alignment = Bytes(512);
    }
    let problem = builder.build().unwrap();
    let before = first_fit(&problem);
    assert!(before.extent().0 > 1 << 33);
    let after = packed(&problem, &before, 0, work(10), 1).0.unwrap();
    assert_valid(&problem, &after);
}

#[test]
fn a_stage_that_may_do_nothing_or_is_told_to_stop_changes_nothing() {
    let problem = instances::random(1500, 100, 1);
    let before = first_fit(&problem);
    assert_eq!(packed(&problem, &before, 0, 0, 2), (None, 0));
    let pieces = Pieces::of(&problem).unwrap();
    let request = Request { time_limit: Some(std::time::Duration::ZERO), ..Request::default() };
    let mut budget = Budget::new(&request, work(1), Clock::start(&request));
    assert!(pack_densely(&pieces, &before, bound::lower_bound(&problem), 0, &mut budget).is_none());
}
