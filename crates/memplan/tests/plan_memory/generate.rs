//! Generated kernels with little more memory than they need at their peak: all
//! are planned or proved impossible, the dataflow check is silent, and most of them really share.

use std::collections::BTreeMap;

use memplan_core::{Bytes, Id, IndexVec, Placement, SpaceId};
use memplan_mlir::pass::PassError;
use memplan_mlir::pass::plan_memory::{self, Options, Planned, Target};
use memplan_mlir::{Dialects, Document, Lowered, lower};
use memplan_planner::Request;
use memplan_program::SiteId;
use memplan_verify::{dataflow, packing};

use crate::kernel::kernel;

/// Search nodes for each question.
pub(crate) const WORK: u64 = 20_000;

/// A generated kernel.
pub(crate) struct Case {
    pub(crate) text: String,
    pub(crate) document: Document,
    pub(crate) lowered: Lowered,
}

impl Case {
    pub(crate) fn new(seed: u64) -> Case {
        Case::of(kernel(seed))
    }

    pub(crate) fn of(text: String) -> Case {
        let document = Document::read(&text, Dialects::builtin()).unwrap_or_else(|error| panic!("{error}\n{text}"));
        let lowered = lower(&document).unwrap_or_else(|error| panic!("{error}\n{text}"));
        Case { text, document, lowered }
    }

    /// By levels: thousands of kernels are planned, and few of them need a search.
    pub(crate) fn plan(&self, capacity: u64) -> Result<Planned, PassError> {
        self.plan_with(capacity, &Options { compat: true, ..Options::default() })
    }

    fn plan_with(&self, capacity: u64, options: &Options) -> Result<Planned, PassError> {
        let device = format!("scope = [{{ name = \"ub\", capacity = {capacity}, alignment = 32 }}]");
        let target: Target = device.parse().unwrap();
        let request = Request { work_limit: Some(WORK), ..Request::default() };
        plan_memory::run(
            &self.document,
            &self.lowered,
            options,
            Some(&target),
            None,
            &request,
            &memplan_program::Apart::default(),
        )
    }

    /// A plan with memory for everything, unless the kernel has none at all.
    pub(crate) fn roomy(&self) -> Option<Planned> {
        match self.plan(1 << 30) {
            Ok(planned) => Some(planned),
            Err(PassError::Op { message, .. }) if message.contains("no fixed address") => None,
            Err(error) => panic!("{error}\n{}", self.text),
        }
    }

    /// A little more than what is alive at the worst moment.
    pub(crate) fn capacity(&self) -> Option<u64> {
        let peak = self.peak()?;
        Some(peak + peak / 10)
    }

    fn peak(&self) -> Option<u64> {
        Some(self.roomy()?.rewrite.stats.first().map_or(0, |row| row.lower_bound))
    }

    pub(crate) fn check(&self, planned: &Planned, capacity: u64) -> Vec<dataflow::Violation> {
        self.check_placements(planned.rewrite.placements.clone(), capacity)
    }

    pub(crate) fn check_placements(
        &self,
        placements: IndexVec<SiteId, Option<Placement>>,
        capacity: u64,
    ) -> Vec<dataflow::Violation> {
        let plan = dataflow::SitePlan { placements, owners: Default::default() };
        let spaces = self.lowered.program.spaces();
        let capacities: BTreeMap<SpaceId, Bytes> = spaces.ids().map(|space| (space, Bytes(capacity))).collect();
        dataflow::check_within(&self.lowered.program, &plan, &capacities)
    }

    /// Whether a kernel goes wrong although every buffer has so many slots to itself.
    fn goes_wrong_with(&self, slots: u64) -> bool {
        let program = &self.lowered.program;
        let place = |site: SiteId| {
            let first = site.index() as u64 * (slots << 20);
            let slots = slots.max(u64::from(program.site(site).slots));
            let offsets = (0..slots).map(|slot| Bytes(first + (slot << 20)));
            let place = Placement::at(program.site(site).space, Bytes::ZERO);
            Some(Placement { offsets: offsets.collect(), ..place })
        };
        let placements = program.sites().ids().map(place).collect();
        !self.check_placements(placements, u64::MAX).is_empty()
    }
}

/// How many kernels; the large run takes about ten minutes.
pub(crate) fn count() -> u64 {
    if std::env::var_os("MEMPLAN_FULL").is_some() { 40_000 } else { 2_000 }
}

/// What became of the kernels.
#[derive(Debug, Default)]
struct Tally {
    planned: u64,
    shared: u64,
    crossed: usize,
    /// Loops that read what they have filled anew: no fixed address is right.
    hopeless: u64,
    /// The same said of loops that would have been right.
    cautious: u64,
    impossible: u64,
    undecided: u64,
}

/// Plans kernels with some percents of what is alive at the worst moment.
fn plan_with(percent: u64, seeds: std::ops::RangeInclusive<u64>) -> Tally {
    let mut tally = Tally::default();
    for seed in seeds {
        let case = Case::new(seed);
        let Some(peak) = case.peak() else {
            // However many slots it has, some buffer is read after it was filled anew.
            *(if case.goes_wrong_with(8) { &mut tally.hopeless } else { &mut tally.cautious }) += 1;
            continue;
        };
        let capacity = (peak * percent / 100).max(32);
        match case.plan(capacity) {
            Ok(result) => count_planned(seed, &case, &result, capacity, &mut tally),
            Err(PassError::DoesNotFit(overflows)) => {
                let proved = overflows.iter().all(|overflow| overflow.proved);
                *(if proved { &mut tally.impossible } else { &mut tally.undecided }) += 1;
                for overflow in &overflows {
                    let (proof, doubt) = ("it is proved that no plan can fit", "one may exist");
                    assert!(overflow.report.contains(if overflow.proved { proof } else { doubt }));
                }
            }
            Err(error) => panic!("{error}\n{}", case.text),
        }
    }
    println!("with {percent} % of the peak: {tally:?}");
    tally
}

#[test]
fn generated_kernels_are_planned_soundly_with_little_memory() {
    let tally = plan_with(110, 1..=count());
    let Tally { planned, shared, hopeless, impossible, undecided, cautious, .. } = tally;
    assert!((hopeless + impossible) * 20 < planned, "{tally:?}");
    assert_eq!(undecided, 0, "{tally:?}");
    assert!(cautious * 100 <= planned, "{tally:?}");
    assert!(shared * 10 >= planned * 8, "{tally:?}");
}

/// With no byte to spare, and with too few. What is said to be impossible is proved to be.
#[test]
fn refusals_are_proved() {
    let exact = plan_with(100, 1..=count() / 4);
    assert!(exact.undecided * 100 <= exact.planned, "{exact:?}");
    let less = plan_with(90, 1..=count() / 8);
    assert!(less.impossible > less.planned + less.undecided, "{less:?}");
    // Where buffers that control flow joins make the peak, the relaxation may still fit.
    assert!(less.undecided * 10 <= less.planned + less.impossible, "{less:?}");
}

fn count_planned(seed: u64, case: &Case, result: &Planned, capacity: u64, tally: &mut Tally) {
    let function = &result.functions[0];
    assert_eq!(packing::check(&function.problem, &function.plan), [], "seed {seed}\n{}", case.text);
    assert_eq!(case.check(result, capacity), [], "seed {seed}\n{}", case.text);
    let row = &result.rewrite.stats[0];
    tally.planned += 1;
    tally.shared += u64::from(row.after < row.before);
    tally.crossed += function.report.as_ref().map_or(0, |report| report.crossings.len());
    let text = result.rewrite.edits.apply(&case.text).unwrap();
    assert!(!text.contains("memref.alloc"), "seed {seed}");
    assert!(row.after <= capacity);
}
