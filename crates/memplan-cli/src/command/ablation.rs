//! `memplan bench ablation`: what every stage of the search, and every pass that it begins with, is good for.
//!
//! Each instance is planned with all of them, and once more without each. A stage or a pass is worth having if leaving
//! it out makes some extent larger, or makes the same extent cost more work. Work is that of the search and of its
//! first passes.
//!
//! Instances are split in two by a hash of their names: constants of the search are tuned on the *tuning* half and
//! judged on the *judging* half, so that no constant is judged by instances for which it was chosen.

use memplan::core::Outcome;
use memplan::corpus::{self, Instance};
use memplan::driver::How;
use memplan::planner::{Request, search};
use memplan::wording::count;

use super::bench::{folders, matches, shown};
use crate::answer::{Answer, Failure};
use crate::args::CorpusArgs;
use crate::progress::Progress;
use crate::table::Table;

/// Plans all instances with and without each stage and pass and prints a table for each half of them.
pub(super) fn run(args: &CorpusArgs) -> Result<Answer, Failure> {
    let folders = folders(args);
    let mut instances: Vec<Instance> = Vec::new();
    for folder in &folders {
        for instance in corpus::instances(folder)? {
            if matches(&instance.name, &args.only) && instances.iter().all(|other| other.name != instance.name) {
                instances.push(instance);
            }
        }
    }
    if instances.is_empty() {
        return Err(Failure::usage(format!("there are no instances in {}", shown(&folders))));
    }
    // First everything with all stages: what the runs without one are compared with. The progress
    // line gets no time limit: one that the arguments name holds for each search and not for all
    // together.
    let progress = Progress::start(None);
    let how = args.budget.how(None);
    let all: Vec<Run> = plan_all(&instances, &how, &progress)?;
    // An instance that the first pass settles says nothing about stages or other passes, and need not be planned again.
    let open: Vec<usize> = (0..instances.len()).filter(|&number| !all[number].is_settled_at_once).collect();
    let instances: Vec<Instance> = open.iter().map(|&number| instances[number].clone()).collect();
    let all: Vec<Run> = open.iter().map(|&number| all[number]).collect();
    let mut text = String::new();
    for half in [Half::Tuning, Half::Judging] {
        let here: Vec<usize> =
            (0..instances.len()).filter(|&number| Half::of(&instances[number].name) == half).collect();
        text.push_str(&format!("{}, {} that one pass does not settle\n", half.name(), count(here.len(), "instance")));
        let mut table = Table::with_heading(&["without", ">larger", ">smaller", ">extent", ">work"]);
        // The names of everything that a search can leave out: its stages, and the passes that it
        // begins with.
        for name in search::switches() {
            // All instances of this half once more, with one stage or pass left out.
            let request = Request { without: vec![name.to_owned()], ..how.request.clone() };
            let without = How { request, ..how.clone() };
            let chosen: Vec<Instance> = here.iter().map(|&number| instances[number].clone()).collect();
            let runs = plan_all(&chosen, &without, &progress)?;
            let before: Vec<Run> = here.iter().map(|&number| all[number]).collect();
            table.plain_row(row(name, &before, &runs));
        }
        text.push_str(&table.render(2));
        text.push('\n');
    }
    Ok(Answer { text, ..Answer::default() })
}

/// Which half of the corpus an instance belongs to.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Half {
    /// Constants of the search are chosen by these.
    Tuning,
    /// Constants of the search are judged by these.
    Judging,
}

impl Half {
    /// By a hash of the name that is the same on every machine and in every version (FNV-1a), so that an instance stays
    /// in its half when others are added.
    fn of(name: &str) -> Half {
        let step = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
        let hash = name.bytes().fold(0xcbf2_9ce4_8422_2325, step);
        // The low bits of similar names are alike; multiplied once more, the highest bit depends on all of them.
        let mixed = (hash ^ (hash >> 32)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        if mixed >> 63 == 0 { Half::Tuning } else { Half::Judging }
    }

    /// The name of the half, for a heading.
    fn name(self) -> &'static str {
        match self {
            Half::Tuning => "tuning",
            Half::Judging => "judging",
        }
    }
}

/// What came of planning an instance.
#[derive(Clone, Copy)]
struct Run {
    /// The extent over the peak; infinite if there is no plan.
    ratio: f64,
    /// Units of work.
    work: u64,
    /// Whether the first member of the portfolio was enough, without any search.
    is_settled_at_once: bool,
}

/// Plans all instances, one after the other. A corpus holds valid instances, so a failure is a bug.
fn plan_all(instances: &[Instance], how: &How, progress: &Progress) -> Result<Vec<Run>, Failure> {
    let plan = |instance: &Instance| {
        progress.say(format!("{} without {}", instance.name, how.request.without.join(", ")));
        let score = corpus::run(instance, None, how).map_err(|error| Failure::Bug(error.to_string()))?;
        let extent = |outcome: &Outcome| outcome.plan().map_or(f64::INFINITY, |plan| plan.extent().0 as f64);
        Ok(Run {
            ratio: extent(&score.outcome) / score.peak.0.max(1) as f64,
            work: score.nodes + score.first_passes,
            is_settled_at_once: score.nodes == 0 && score.members <= 1,
        })
    };
    instances.iter().map(plan).collect()
}

/// A row of the table: how many extents are larger and how many smaller without a stage or pass; the mean of extent
/// over peak with it and without; the work of all instances with it and without.
fn row(name: &str, with: &[Run], without: &[Run]) -> [String; 5] {
    let pairs = || with.iter().zip(without);
    let mean = |runs: &[Run]| runs.iter().map(|run| run.ratio).sum::<f64>() / runs.len().max(1) as f64;
    let work = |runs: &[Run]| runs.iter().map(|run| run.work).sum::<u64>();
    [
        name.to_owned(),
        pairs().filter(|(with, without)| without.ratio > with.ratio).count().to_string(),
        pairs().filter(|(with, without)| without.ratio < with.ratio).count().to_string(),
        format!("{:.5} → {:.5}", mean(with), mean(without)),
        format!("{} → {}", work(with), work(without)),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_halves_are_halves() {
        let tuning = (0..1000).filter(|number| Half::of(&format!("real/{number}")) == Half::Tuning).count();
        assert!((400..600).contains(&tuning), "{tuning}");
        assert!(Half::of("generated/jigsaw_60") == Half::of("generated/jigsaw_60"));
    }
}
