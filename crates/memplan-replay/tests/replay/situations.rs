//! What can happen to a step, one thing at a time.

use memplan_replay::allocator::AllocatorError;
use memplan_replay::arena::Deviation;
use memplan_replay::plan::{Moment, Slot, StepPlan};

use crate::model::Watched;
use crate::planner::plan;

const KIB: u64 = 1024;

/// Two requests that share bytes one after the other, and a third beside them.
fn small_plan() -> StepPlan {
    let slot = |offset, bytes| Slot { offset: Some(offset), most: bytes, least: bytes };
    let slots = vec![slot(0, 4 * KIB), slot(4 * KIB, 2 * KIB), slot(0, 3 * KIB)];
    use Moment::{Alloc, Free};
    let moments = vec![Alloc(0), Alloc(1), Free(0), Alloc(2), Free(2), Free(1)];
    StepPlan::verified((0, 0, 0), slots, moments).unwrap()
}

fn planned() -> Watched {
    let mut watched = Watched::new(1 << 24);
    let first = watched.allocate(1, 0).address;
    watched.free(first, 0);
    watched.allocator.adopt(vec![small_plan()]).unwrap();
    watched
}

/// The step as recorded, with what is asked for in each place.
fn step(watched: &mut Watched, sizes: [u64; 3]) -> [Option<Deviation>; 3] {
    watched.allocator.begin(0);
    let mut seen = [None; 3];
    let mut ask = |watched: &mut Watched, at: usize| {
        let granted = watched.allocate(sizes[at], 0);
        seen[at] = granted.deviation.map(|(kind, _, _)| kind);
        granted.address
    };
    let a = ask(watched, 0);
    let b = ask(watched, 1);
    watched.free(a, 0);
    let c = ask(watched, 2);
    watched.free(c, 0);
    watched.free(b, 0);
    watched.allocator.end();
    seen
}

#[test]
fn a_step_that_repeats_gets_its_places() {
    let mut watched = planned();
    for _ in 0..3 {
        assert_eq!(step(&mut watched, [4 * KIB, 2 * KIB, 3 * KIB]), [None; 3]);
    }
    assert_eq!((watched.fact("planned"), watched.fact("exact_steps")), (9, 3));
    // One page of 64 KiB for a plan of 6 KiB, and the page of the first request was given back.
    assert_eq!((watched.fact("arena"), watched.fact("small"), watched.fact("extent")), (64 * KIB, 0, 6 * KIB));
}

#[test]
fn a_wrong_size_is_served_by_the_pool() {
    let mut watched = planned();
    // The second request has another size than its slot. The third one is found in the plan nevertheless; the second
    // slot is left out.
    let seen = step(&mut watched, [4 * KIB, 9 * KIB, 3 * KIB]);
    assert_eq!(seen, [None, Some(Deviation::Size), Some(Deviation::Order)]);
    assert_eq!(watched.fact("size"), 1);
    assert_eq!(step(&mut watched, [4 * KIB, 2 * KIB, 3 * KIB]), [None; 3], "the next step is exact");
}

/// A request that the pool serves by the plan, because it outlives the step, is out of order as any other.
#[test]
fn a_lasting_request_out_of_order_is_reported() {
    let mut watched = planned();
    let slot = |offset, bytes| Slot { offset, most: bytes, least: bytes };
    let slots = vec![slot(Some(0), 4 * KIB), slot(None, 3 * KIB)];
    let moments = vec![Moment::Alloc(0), Moment::Free(0), Moment::Alloc(1)];
    watched.allocator.adopt(vec![StepPlan::verified((0, 0, 0), slots, moments).unwrap()]).unwrap();
    watched.allocator.begin(0);
    let lasting = watched.allocate(3 * KIB, 0);
    assert_eq!(lasting.deviation, Some((Deviation::Order, 1, 3 * KIB)));
    assert_eq!(watched.allocator.end().deviations, Some(1), "the step is not exact");
    watched.free(lasting.address, 0);
}

#[test]
fn a_missing_request_is_skipped_and_an_extra_one_tolerated() {
    let mut watched = planned();
    watched.allocator.begin(0);
    let c = watched.allocate(3 * KIB, 0);
    assert_eq!(c.deviation.map(|(kind, slot, _)| (kind, slot)), Some((Deviation::Order, 2)));
    let extra = watched.allocate(3 * KIB, 0);
    assert_eq!(extra.deviation.map(|(kind, _, _)| kind), Some(Deviation::Extra));
    watched.free(c.address, 0);
    watched.free(extra.address, 0);
    assert_eq!(watched.allocator.end().deviations, Some(2));
}

#[test]
fn bytes_that_are_still_held_are_not_given_away() {
    let mut watched = planned();
    watched.allocator.begin(0);
    let a = watched.allocate(4 * KIB, 0).address;
    let b = watched.allocate(2 * KIB, 0).address;
    // Not freed, though the plan says so: request 2 would lie on it.
    let c = watched.allocate(3 * KIB, 0);
    assert_eq!(c.deviation, Some((Deviation::Held, 2, 3 * KIB)));
    watched.allocator.end();
    assert_eq!(watched.fact("survived"), 2);
    // Both are still alive in the next step, which has to do without their bytes.
    assert_eq!(step(&mut watched, [4 * KIB, 2 * KIB, 3 * KIB]), [Some(Deviation::Held); 3]);
    for address in [a, b, c.address] {
        watched.free(address, 0);
    }
    assert_eq!(step(&mut watched, [4 * KIB, 2 * KIB, 3 * KIB]), [None; 3]);
}

#[test]
fn early_frees_and_other_streams_disturb_nothing() {
    let mut watched = planned();
    watched.allocator.begin(0);
    let a = watched.allocate(4 * KIB, 0).address;
    watched.free(a, 0);
    let other = watched.allocate(4 * KIB, 9);
    assert_eq!(other.deviation, None, "another stream is another lane, which has no plan");
    let b = watched.allocate(2 * KIB, 0).address;
    let c = watched.allocate(3 * KIB, 0);
    assert_eq!((c.address, c.deviation), (a, None));
    for (address, stream) in [(b, 0), (c.address, 0), (other.address, 9)] {
        watched.free(address, stream);
    }
    assert_eq!(watched.allocator.end().deviations, Some(0));
}

#[test]
fn steps_inside_of_steps_belong_to_the_outer_one() {
    let mut watched = planned();
    assert!(watched.allocator.begin(0));
    assert!(!watched.allocator.begin(1));
    let a = watched.allocate(4 * KIB, 0);
    assert_eq!(a.deviation, None);
    let refused = watched.allocator.adopt(vec![small_plan()]);
    assert_eq!(refused, Err(AllocatorError::StepRunning));
    assert!(watched.allocator.end().nested);
    watched.free(a.address, 0);
    // An exception has ended the step early: what was missing is no deviation.
    assert_eq!(watched.allocator.end().deviations, Some(0));
    assert_eq!(watched.allocator.end().deviations, Some(0), "an end too many does nothing");
    assert_eq!(step(&mut watched, [4 * KIB, 2 * KIB, 3 * KIB]), [None; 3]);
}

#[test]
fn requests_of_no_bytes_have_addresses_of_their_own() {
    let mut watched = Watched::new(1 << 20);
    let addresses = [0; 40].map(|bytes| watched.allocate(bytes, 0).address);
    assert!(addresses.iter().all(|address| *address != 0));
    for address in addresses {
        watched.free(address, 0);
    }
    assert!(!watched.allocator.free(addresses[0], 0, 0), "freed twice: nobody has it");
}

#[test]
fn what_a_guest_stream_uses_is_ordered_behind_it() {
    let mut watched = Watched::new(1 << 20);
    let address = watched.allocate(100, 1).address;
    for stream in [2, 2, 1, 3] {
        assert!(watched.allocator.used_on(address, stream));
    }
    assert!(!watched.allocator.used_on(address + 1, 2));
    watched.free(address, 1);
    assert_eq!(watched.host.waits().2, [(2, 1), (3, 1)]);
}

#[test]
fn a_full_device_gives_back_what_is_unused_and_then_says_what_is_missing() {
    let mut watched = Watched::new(16 << 20);
    // The lane of stream 1 keeps pages that it does not use; stream 0 needs them.
    let idle = watched.allocate(10 << 20, 1).address;
    watched.free(idle, 1);
    let wide = watched.allocate(12 << 20, 0).address;
    let error = watched.allocator.allocate(5 << 20, 0, 0).unwrap_err().to_string();
    assert!(error.contains("out of memory on device 0: 5242880 bytes asked for"), "{error}");
    assert!(error.contains("12582912 bytes are in use"), "{error}");
    let slot = Slot { offset: Some(0), most: 8 << 20, least: 8 << 20 };
    // Stream 0 came second: it is lane 1.
    let large = StepPlan::verified((0, 0, 1), vec![slot], vec![Moment::Alloc(0), Moment::Free(0)]).unwrap();
    let error = watched.allocator.adopt(vec![large.clone()]).unwrap_err().to_string();
    assert!(error.contains("the plan needs 8388608 bytes on device 0; 4194304 of 16777216 are free"), "{error}");
    watched.free(wide, 0);
    watched.allocator.adopt(vec![large]).unwrap();
    // Outside of steps the arena is a last resort.
    let outside = watched.allocate(8 << 20, 0).address;
    let inside = watched.allocate(7 << 20, 0).address;
    assert_eq!(watched.host.mapped(0), 16 << 20);
    watched.free(inside, 0);
    watched.free(outside, 0);
    for bytes in [u64::MAX, u64::MAX - 511, 1 << 62] {
        assert!(watched.allocator.allocate(bytes, 0, 0).is_err());
    }
}

#[test]
fn requests_up_to_the_largest_recorded_one_fit_a_varying_slot() {
    let mut watched = Watched::new(1 << 24);
    let slot = |offset| Slot { offset: Some(offset), most: 8 * KIB, least: 2 * KIB };
    use Moment::{Alloc, Free};
    let moments = vec![Alloc(0), Alloc(1), Free(0), Free(1)];
    let varying = StepPlan::verified((0, 0, 0), vec![slot(0), slot(8 * KIB)], moments).unwrap();
    watched.allocator.adopt(vec![varying]).unwrap();
    for (bytes, deviations) in [(KIB, 0), (8 * KIB, 0), (5 * KIB, 0), (9 * KIB, 2), (2 * KIB, 0)] {
        watched.allocator.begin(0);
        let pair = [0; 2].map(|_| watched.allocate(bytes, 0).address);
        for address in pair {
            watched.free(address, 0);
        }
        assert_eq!(watched.allocator.end().deviations, Some(deviations), "{bytes}");
    }
}

#[test]
fn gradients_that_the_next_step_drops_have_planned_places() {
    let mut watched = Watched::new(1 << 24);
    let mut gradient = None;
    let mut addresses = Vec::new();
    for round in 0..6 {
        watched.allocator.begin(0);
        if let Some(old) = gradient.take() {
            watched.free(old, 0);
        }
        let activation = watched.allocate(6 * KIB, 0).address;
        let fresh = watched.allocate(2 * KIB, 0).address;
        watched.free(activation, 0);
        gradient = Some(fresh);
        addresses.push(fresh);
        watched.allocator.end();
        if round == 2 {
            let events = watched.allocator.recording(0);
            let made = plan((0, 0, 0), &events);
            assert_eq!((made.extent, made.carried.as_slice()), (8 * KIB, &[false, true][..]));
            watched.allocator.adopt(vec![made]).unwrap();
        }
    }
    assert_eq!(addresses[3], addresses[5]);
    assert_eq!((watched.fact("planned"), watched.fact("exact_steps")), (6, 3));
}

#[test]
fn a_plan_that_is_withdrawn_gives_its_bytes_back_but_for_those_in_use() {
    let mut watched = planned();
    watched.allocator.begin(0);
    let kept = watched.allocate(4 * KIB, 0).address;
    assert_eq!(watched.allocator.withdraw(0).unwrap_err(), AllocatorError::StepRunning);
    watched.allocator.end();
    watched.allocator.withdraw(0).unwrap();
    assert_eq!((watched.fact("arena"), watched.fact("extent")), (64 * KIB, 0), "somebody lives there");
    assert_eq!(step(&mut watched, [4 * KIB, 2 * KIB, 3 * KIB]), [None; 3], "the pool serves it");
    watched.free(kept, 0);
    watched.allocator.withdraw(0).unwrap();
    assert_eq!((watched.fact("arena"), watched.fact("step_peak")), (0, 10 * KIB));
}

/// Half of the requests go, so that every other one leaves a hole; none is wide enough for what comes then.
#[test]
fn the_pool_moves_pages_before_it_takes_new_ones() {
    const MIB: u64 = 1 << 20;
    let mut watched = Watched::new(1 << 28);
    let addresses: Vec<u64> = (0..64).map(|_| watched.allocate(MIB, 0).address).collect();
    for address in addresses.iter().step_by(2) {
        watched.free(*address, 0);
    }
    let wide = watched.allocate(24 * MIB, 0).address;
    let live = 56 * MIB;
    assert_eq!(watched.fact("step_peak"), 64 * MIB, "no step has begun: it counts from the start");
    // 64 were in use; a twentieth and 16 pages more may be held. Without moving pages it would be 88.
    assert!(watched.fact("large") <= 64 * MIB + 64 * MIB / 20 + MIB, "{} for {live}", watched.fact("large"));
    watched.free(wide, 0);
    for address in addresses.iter().skip(1).step_by(2) {
        watched.free(*address, 0);
    }
}

#[test]
fn a_plan_in_the_way_of_a_large_request_gives_its_pages_up() {
    const MIB: u64 = 1 << 20;
    let mut watched = Watched::new(16 << 20);
    let first = watched.allocate(1, 0).address;
    watched.free(first, 0);
    let slot = |offset| Slot { offset: Some(offset * MIB), most: 4 * MIB, least: 4 * MIB };
    let moments = vec![Moment::Alloc(0), Moment::Alloc(1), Moment::Free(0), Moment::Free(1)];
    let plan = StepPlan::verified((0, 0, 0), vec![slot(0), slot(4)], moments).unwrap();
    watched.allocator.adopt(vec![plan]).unwrap();
    watched.allocator.begin(0);
    let planned = watched.allocate(4 * MIB, 0).address;
    // Eight are mapped for the plan. With those of its second slot there is room for eleven.
    let wide = watched.allocate(11 * MIB, 0).address;
    watched.free(planned, 0);
    watched.free(wide, 0);
    assert_eq!(watched.allocator.end().deviations, None, "the step has no plan any more");
    // The pages on which the planned request lay were kept for it only.
    assert_eq!((watched.fact("extent"), watched.host.mapped(0)), (0, 11 << 20));
}

#[test]
fn a_step_that_nobody_plans_is_not_recorded() {
    let mut watched = Watched::new(1 << 24);
    watched.allocator.begin_unrecorded(0);
    let kept = watched.allocate(4 * KIB, 0);
    assert_eq!(kept.number, None);
    watched.allocator.end();
    assert!(watched.allocator.recording(0).is_empty());
    // The next run is recorded again. What the run before has left is not known to it.
    watched.allocator.begin(0);
    watched.free(kept.address, 0);
    let fresh = watched.allocate(2 * KIB, 0);
    watched.free(fresh.address, 0);
    watched.allocator.end();
    assert_eq!((fresh.number, watched.allocator.recording(0).len()), (Some(0), 2));
    assert_eq!((watched.fact("unplanned"), watched.fact("planned")), (2, 0));
}

/// A device with one stream counts its bytes without the others' counters; the peaks are the same as with several.
#[test]
fn bytes_in_use_are_counted_for_one_stream_and_for_several() {
    let mut watched = Watched::new(1 << 24);
    let [a, b] = [4, 8].map(|kib| watched.allocate(kib * KIB, 1).address);
    watched.free(a, 1);
    assert_eq!((watched.fact("live"), watched.fact("peak")), (8 * KIB, 12 * KIB));
    let c = watched.allocate(16 * KIB, 2).address;
    assert_eq!((watched.fact("live"), watched.fact("peak")), (24 * KIB, 24 * KIB));
    watched.free(b, 1);
    let d = watched.allocate(2 * KIB, 1).address;
    assert_eq!((watched.fact("live"), watched.fact("peak")), (18 * KIB, 24 * KIB));
    watched.allocator.restart_peaks();
    watched.free(c, 2);
    watched.free(d, 1);
    assert_eq!((watched.fact("live"), watched.fact("peak")), (0, 18 * KIB));
}

/// A plan of one slot, so many megabytes long, for a step on a lane of device 0.
fn wide_plan(step: u32, lane: u32, mebibytes: u64) -> StepPlan {
    let slot = Slot { offset: Some(0), most: mebibytes << 20, least: mebibytes << 20 };
    StepPlan::verified((step, 0, lane), vec![slot], vec![Moment::Alloc(0), Moment::Free(0)]).unwrap()
}

#[test]
fn plans_are_adopted_on_all_lanes_or_on_none() {
    let mut watched = Watched::new(16 << 20);
    for stream in 0..2 {
        let first = watched.allocate(1, stream).address;
        watched.free(first, stream);
    }
    watched.allocator.adopt(vec![wide_plan(1, 0, 1)]).unwrap();
    // The plan of lane 0 fits, that of lane 1 does not, and lane 2 has not allocated yet.
    let plans = vec![wide_plan(0, 0, 4), wide_plan(0, 2, 1), wide_plan(0, 1, 14)];
    let error = watched.allocator.adopt(plans).unwrap_err().to_string();
    assert!(error.contains("the plan needs 14680064 bytes"), "{error}");
    assert_eq!(watched.host.mapped(0), 1 << 20, "the plan of the other step stays");
    watched.allocator.begin(0);
    for stream in 0..3 {
        let address = watched.allocate(4 << 20, stream).address;
        watched.free(address, stream);
    }
    assert_eq!(watched.allocator.end().deviations, None, "no lane has a plan");
    watched.allocator.begin(1);
    assert_eq!(watched.allocator.end().deviations, Some(0));
}

#[test]
fn a_plan_that_waits_and_does_not_fit_is_given_up_on_all_lanes() {
    let mut watched = Watched::new(16 << 20);
    let first = watched.allocate(1, 0).address;
    watched.free(first, 0);
    watched.allocator.adopt(vec![wide_plan(0, 0, 4), wide_plan(0, 1, 14)]).unwrap();
    watched.allocator.begin(0);
    let planned = watched.allocate(4 << 20, 0).address;
    // The first request of lane 1 finds no room for its plan. It is served all the same.
    let served = watched.allocate(8 << 20, 1).address;
    watched.free(planned, 0);
    watched.free(served, 1);
    assert_eq!(watched.allocator.end().deviations, None);
    watched.allocator.withdraw(0).unwrap();
    watched.allocator.trim();
    assert_eq!(watched.host.mapped(0), 0);
}

#[test]
fn a_running_step_keeps_its_plan_if_another_one_loses_its_own() {
    let mut watched = Watched::new(16 << 20);
    let first = watched.allocate(1, 0).address;
    watched.free(first, 0);
    watched.allocator.adopt(vec![wide_plan(0, 0, 4), wide_plan(1, 0, 2), wide_plan(0, 1, 14)]).unwrap();
    watched.allocator.begin(1);
    // The plan of step 0 on lane 1 does not fit, and step 0 loses that on lane 0, too.
    let other = watched.allocate(4 << 20, 1).address;
    let planned = watched.allocate(2 << 20, 0);
    assert_eq!((planned.deviation, watched.fact("planned"), watched.fact("extent")), (None, 1, 2 << 20));
    watched.free(planned.address, 0);
    watched.free(other, 1);
    assert_eq!(watched.allocator.end().deviations, Some(0));
    watched.allocator.begin(0);
    assert_eq!(watched.allocator.end().deviations, None);
}

#[test]
fn a_hole_is_on_mapped_pages_after_the_plans_are_given_up() {
    const MIB: u64 = 1 << 20;
    let mut watched = Watched::new(16 << 20);
    let first = watched.allocate(1, 0).address;
    watched.free(first, 0);
    let slot = |offset| Slot { offset: Some(offset * MIB), most: 4 * MIB, least: 4 * MIB };
    let moments = vec![Moment::Alloc(0), Moment::Alloc(1), Moment::Free(0), Moment::Free(1)];
    let plan = StepPlan::verified((0, 0, 0), vec![slot(0), slot(4)], moments).unwrap();
    watched.allocator.adopt(vec![plan]).unwrap();
    watched.allocator.begin(0);
    let low = watched.allocate(4 * MIB, 0).address;
    let high = watched.allocate(4 * MIB, 0).address;
    watched.free(low, 0);
    // The device is full, and the pages of the first slot go to the pool.
    let wide = watched.allocate(12 * MIB, 0).address;
    let refused = watched.allocator.allocate(3 * MIB, 0, 0);
    assert!(refused.is_err(), "{:?}", watched.host.frames(refused.unwrap().address, 3 * MIB));
    watched.free(high, 0);
    watched.free(wide, 0);
    watched.allocator.end();
}

#[test]
fn a_plan_of_another_stream_is_not_why_a_request_fails() {
    let mut watched = Watched::new(16 << 20);
    for stream in 0..2 {
        let first = watched.allocate(1, stream).address;
        watched.free(first, stream);
    }
    watched.allocator.adopt(vec![wide_plan(0, 0, 12), wide_plan(1, 0, 2)]).unwrap();
    // Outside of steps nobody is in the arena of stream 0, so stream 1 may have its pages.
    let wide = watched.allocate(14 << 20, 1).address;
    watched.free(wide, 1);
    assert_eq!((watched.fact("extent"), watched.fact("arena")), (0, 0));
}

/// A request of one stream takes the pages of its plan. The plan on the other stream goes with it, since half a plan would
/// hold memory for little.
#[test]
fn a_step_that_loses_its_plan_on_one_stream_loses_it_on_all() {
    let mut watched = Watched::new(16 << 20);
    for stream in 0..2 {
        let first = watched.allocate(1, stream).address;
        watched.free(first, stream);
    }
    watched.allocator.adopt(vec![wide_plan(0, 0, 6), wide_plan(0, 1, 4), wide_plan(1, 1, 1)]).unwrap();
    watched.allocator.begin(0);
    let other = watched.allocate(4 << 20, 1).address;
    let wide = watched.allocate(9 << 20, 0).address;
    watched.free(wide, 0);
    watched.free(other, 1);
    assert_eq!(watched.allocator.end().deviations, None, "stream 1 has no plan either");
    watched.allocator.begin(1);
    assert_eq!(watched.allocator.end().deviations, Some(0), "the other step has lost nothing");
}

/// A request that no device of this size could serve takes nobody's plan.
#[test]
fn a_request_that_can_never_be_served_costs_no_plan() {
    let mut watched = planned();
    watched.allocator.begin(0);
    let first = watched.allocate(4 * KIB, 0).address;
    for bytes in [u64::MAX, 1 << 62, 1 << 24] {
        assert!(watched.allocator.allocate(bytes, 0, 0).is_err());
        assert!(watched.allocator.allocate(bytes, 0, 1).is_err(), "another stream");
    }
    watched.free(first, 0);
    watched.allocator.end();
    assert_eq!(watched.fact("extent"), 6 * KIB);
    assert_eq!(step(&mut watched, [4 * KIB, 2 * KIB, 3 * KIB]), [None; 3]);
}

/// Sizes without a place are compared with requests and added to, so they have a bound as well.
#[test]
fn a_plan_with_a_huge_size_that_has_no_place_is_refused() {
    let slots = [8 * KIB, u64::MAX].map(|most| Slot { offset: (most < 1 << 62).then_some(0), most, least: most / 2 });
    let moments = vec![Moment::Alloc(0), Moment::Free(0), Moment::Alloc(1)];
    let refused = StepPlan::verified((0, 0, 0), slots.to_vec(), moments);
    assert!(refused.is_err_and(|error| error.to_string().contains("slot 1: its size is beyond all memory")));
}

#[test]
fn an_end_without_a_begin_counts_nothing() {
    let mut watched = planned();
    step(&mut watched, [4 * KIB, 2 * KIB, 3 * KIB]);
    watched.allocator.begin(0);
    let kept = watched.allocate(4 * KIB, 0).address;
    watched.allocator.end();
    for _ in 0..3 {
        watched.allocator.end();
    }
    assert_eq!((watched.fact("steps"), watched.fact("survived")), (2, 1));
    watched.free(kept, 0);
}
