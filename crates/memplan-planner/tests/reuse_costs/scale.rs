//! Many buffers with many priced pairs: cheaper than first fit, the same twice, and within the limit on work.

use std::collections::BTreeSet;

use memplan_core::{Buffer, BufferId, Id, Lifetime, Outcome, Problem, ProblemBuilder, ReuseCost, Space};
use memplan_planner::{Request, find, plan, search};
use memplan_testkit::Random;

/// Buffers of which about 40 are alive at any time, in as much memory as first fit takes without prices, with prices
/// between buffers that follow each other closely.
fn priced(buffers: usize, pairs: usize) -> Problem {
    let mut random = Random::new(2);
    let mut builder = ProblemBuilder::new();
    builder.space(Space::new("default"));
    for start in 0..buffers as u64 {
        let life = Lifetime::new(start, start + random.between(20, 60));
        builder.buffer(Buffer::new(start.to_string(), random.between(1, 8) * 512, life));
    }
    let bare = builder.build().unwrap();
    let outcome = plan(find("first-fit").unwrap(), &bare, &Request::default()).unwrap();
    let mut builder = bare.to_builder();
    builder.spaces_mut().iter_mut().for_each(|space| space.capacity = Some(outcome.plan().unwrap().extent()));
    let mut known = BTreeSet::new();
    while known.len() < pairs {
        let one = random.below(buffers as u64);
        let other = one + random.between(20, 80);
        if other < buffers as u64 && known.insert((one, other)) {
            let [one, other] = [one, other].map(|position| BufferId::from_index(position as usize));
            builder.reuse_cost(ReuseCost { one, other, weight: random.between(1, 9) });
        }
    }
    builder.build().unwrap()
}

fn cost(problem: &Problem, outcome: &Outcome) -> u64 {
    let plan = outcome.plan().expect("a plan");
    assert_eq!(memplan_verify::packing::check(problem, plan), []);
    plan.cost.unwrap().total
}

/// A unit of work is about 4 µs: a quarter of a second here, a second with `MEMPLAN_FULL`.
fn request() -> Request<'static> {
    let work = if std::env::var_os("MEMPLAN_FULL").is_some() { 250_000 } else { 60_000 };
    Request { work_limit: Some(work), ..Request::default() }
}

#[test]
fn ten_thousand_buffers_cost_less_than_by_first_fit() {
    let problem = priced(10_000, 100_000);
    let request = request();
    let fits = ["first-fit", "first-fit-start", "first-fit-lifetime", "best-fit"];
    let first = fits.iter().filter_map(|name| plan(find(name).unwrap(), &problem, &request).ok());
    let first = first.filter(|outcome| outcome.plan().is_some()).map(|outcome| cost(&problem, &outcome)).min();
    let answer = search::search(&problem, &request);
    let found = cost(&problem, &answer.outcome);
    println!("first fit {first:?}, search {found} with {} of {:?} units", answer.nodes, request.work_limit);
    assert!(first.is_some_and(|first| found < first), "{first:?} {found}");
    assert!(answer.nodes <= request.work_limit.unwrap() * 5 / 4, "{} units", answer.nodes);
    let again = search::search(&problem, &request);
    assert_eq!(again.outcome, answer.outcome);
}

#[test]
fn a_hundred_thousand_buffers_get_a_plan() {
    let problem = priced(100_000, 300_000);
    let request = Request { work_limit: Some(20_000), ..Request::default() };
    let answer = search::search(&problem, &request);
    println!("{} with {} units", cost(&problem, &answer.outcome), answer.nodes);
    assert!(answer.nodes <= request.work_limit.unwrap() * 5 / 4, "{} units", answer.nodes);
}
