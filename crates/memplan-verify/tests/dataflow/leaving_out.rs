//! The check leaves out buffers whose bytes nobody else uses meanwhile. It must say exactly what
//! it says when it follows all of them.

use memplan_core::Bytes;
use memplan_program::{Program, SiteId, text};
use memplan_verify::dataflow::{SitePlan, check, check_everything, followed};

use crate::generate::{self, Features};
use crate::notation::{plan, program};
use crate::random::Random;

/// What came of many pairs of a program and a plan.
#[derive(Debug, Default)]
struct Tally {
    pairs: u64,
    fine: u64,
    sites: u64,
    left_out: u64,
}

impl Tally {
    fn compare(&mut self, program: &Program, plan: &SitePlan, seed: u64) {
        let everything = check_everything(program, plan);
        let quick = check(program, plan);
        assert_eq!(quick, everything, "seed {seed}\n{}\n{plan:?}", text::print(program));
        self.pairs += 1;
        self.fine += u64::from(quick.is_empty());
        self.sites += program.sites().len() as u64;
        self.left_out += (program.sites().len() - followed(program, plan).len()) as u64;
    }
}

/// Pairs for each kind of programs; 100,000 in all in a full run.
fn pairs() -> u64 {
    if std::env::var_os("MEMPLAN_FULL").is_some() { 20_000 } else { 900 }
}

/// A right plan that shares much: buffers move down onto others as long as nothing is reported.
fn tight(program: &Program, random: &mut Random) -> SitePlan {
    let mut plan = generate::spread_out(program, random);
    let sites: Vec<SiteId> = program.sites().ids().collect();
    for _ in 0..2 * sites.len() {
        let Some(&site) = random.pick(&sites) else { break };
        let mut moved = plan.clone();
        if let Some(placement) = &mut moved.placements[site] {
            let (base, at) = (placement.offsets[0].0, random.range(0, 6) * 2);
            placement.offsets.iter_mut().for_each(|offset| *offset = Bytes(at + offset.0 - base));
        }
        if check_everything(program, &moved).is_empty() {
            plan = moved;
        }
    }
    plan
}

fn campaign(features: Features) -> Tally {
    let mut tally = Tally::default();
    for seed in 0.. {
        let program = generate::program(seed, features);
        let mut random = Random::new(seed ^ 0x5EED);
        let spread = generate::spread_out(&program, &mut random);
        let tight = tight(&program, &mut random);
        let plans = [
            generate::disturbed(&program, &spread, &mut random),
            generate::disturbed(&program, &tight, &mut random),
            generate::disturbed(&program, &tight, &mut random),
            generate::crowded(&program, &mut random),
            spread,
            tight,
        ];
        plans.iter().for_each(|plan| tally.compare(&program, plan, seed));
        if tally.pairs >= pairs() {
            break;
        }
    }
    assert!(tally.fine > tally.pairs / 5, "most plans are wrong: the test shows little, {tally:?}");
    assert!(tally.pairs - tally.fine > tally.pairs / 10, "most plans are right: the test shows little, {tally:?}");
    tally
}

const SEQUENTIAL: Features = Features { concurrency: false, escapes: false, slots: false, strangers: false };

#[test]
fn sequential_programs() {
    let tally = campaign(SEQUENTIAL);
    assert!(tally.left_out > tally.sites / 4, "little is left out: the test shows little, {tally:?}");
}

#[test]
fn programs_with_escapes() {
    campaign(Features { escapes: true, ..SEQUENTIAL });
}

#[test]
fn programs_with_slots() {
    campaign(Features { slots: true, ..SEQUENTIAL });
}

#[test]
fn concurrent_programs() {
    campaign(Features { concurrency: true, ..SEQUENTIAL });
}

#[test]
fn programs_with_everything() {
    campaign(Features { concurrency: true, escapes: true, slots: true, strangers: true });
}

/// Who is followed in the example of the module's documentation.
#[test]
fn buffers_that_share_bytes_but_no_time_are_left_out() {
    let program = program(
        "func @f(%in) {
           alloc alloc %x 8
           alloc alloc %y 8
           fill write %x
           use read %x
           loop loop 0.. {
             fill write %y
             use read %y
             leave
           }
           alloc alloc %z 8
           turn read %y, write %z, overlay %z over %y
           use read %z
           leave
         }",
    );
    let together = plan(&program, "x@0 y@0 z@0");
    let names = |plan: &SitePlan| -> Vec<&str> {
        let name = |&site: &SiteId| &*program.value(program.site(site).value).name;
        followed(&program, plan).iter().map(name).collect()
    };
    assert_eq!(names(&together), ["y", "z"]);
    assert_eq!(check(&program, &together), []);
    assert_eq!(names(&plan(&program, "x@0 y@0 z@8")), [""; 0]);
}
