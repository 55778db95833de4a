//! `memplan bench corpus`: the scoreboard.

use std::path::{Path, PathBuf};

use memplan::core::Outcome;
use memplan::corpus::{self, Score};
use memplan::wording::{count, duration};

use crate::answer::{Answer, Failure};
use crate::args::{BenchArgs, BenchWhat, CorpusArgs};
use crate::paint::{Style, painted};
use crate::progress::Progress;
use crate::table::Table;

/// Instances of one `.jsonl` are summed up in one row if there are more than this.
const LISTED: usize = 10;

/// Runs one of the two kinds of measurement.
pub(super) fn run(args: &BenchArgs) -> Result<Answer, Failure> {
    match &args.what {
        BenchWhat::Corpus(args) => corpus(args),
        BenchWhat::Ablation(args) => super::ablation::run(args),
    }
}

/// Plans all instances of the folders and compares each with the best plan that is known of it.
fn corpus(args: &CorpusArgs) -> Result<Answer, Failure> {
    let folders = folders(args);
    let mut known = corpus::known(&args.corpus)?;
    let how = args.budget.how(None);
    let progress = Progress::start(None);
    let mut scores: Vec<Score> = Vec::new();
    for folder in &folders {
        // A folder may say itself what is known about its instances.
        known.extend(corpus::known(folder)?);
        for instance in corpus::instances(folder)? {
            // The same instance may lie in several folders. The first one counts, so that a row appears once.
            if scores.iter().any(|score| score.name == instance.name) || !matches(&instance.name, &args.only) {
                continue;
            }
            progress.say(&instance.name);
            let score = corpus::run(&instance, known.get(&instance.name).copied(), &how);
            // A corpus holds valid instances, so an instance that cannot be planned and checked counts as a bug.
            scores.push(score.map_err(|error| Failure::Bug(format!("{}: {error}", instance.name)))?);
        }
    }
    drop(progress);
    if scores.is_empty() {
        return Err(Failure::usage(format!("there are no instances in {}", shown(&folders))));
    }
    // The exit code says whether anything became worse, so that the command can guard a change.
    let worse: Vec<&Score> = scores.iter().filter(|score| score.is_worse()).collect();
    let mut text = table(&scores);
    text.push_str(&format!("\n{}, {}\n", count(scores.len(), "instance"), verdict(&worse)));
    Ok(Answer { text, is_no: !worse.is_empty(), ..Answer::default() })
}

/// The folders with instances: the corpus, those of the arguments, and the one that `MEMPLAN_INSTANCES` names if it
/// exists.
pub(super) fn folders(args: &CorpusArgs) -> Vec<PathBuf> {
    let mut folders: Vec<PathBuf> = vec![args.corpus.clone()];
    folders.extend(args.dir.iter().cloned());
    folders.extend(std::env::var_os("MEMPLAN_INSTANCES").map(PathBuf::from).filter(|folder| folder.is_dir()));
    folders
}

/// Whether an instance was asked for (`--only`).
pub(super) fn matches(name: &str, only: &Option<String>) -> bool {
    only.as_ref().is_none_or(|only| name.contains(only.as_str()))
}

/// The folders as a list for a message.
pub(super) fn shown(folders: &[PathBuf]) -> String {
    folders.iter().map(|folder| Path::display(folder).to_string()).collect::<Vec<_>>().join(", ")
}

/// The last words of the report: whether anything is worse than the best that is known.
fn verdict(worse: &[&Score]) -> String {
    if worse.is_empty() {
        return painted("none worse than the best known", Style::Good);
    }
    let names: Vec<&str> = worse.iter().map(|score| score.name.as_str()).collect();
    painted(&format!("{} worse than the best known: {}", worse.len(), names.join(", ")), Style::Bad)
}

/// A row for each instance. Instances of one family (`family#number`) share a row if there are many.
fn table(scores: &[Score]) -> String {
    let heading =
        ["instance", ">buffers", ">lower bound", ">extent", ">ratio", ">best known", ">nodes", ">time", "status"];
    let mut table = Table::with_heading(&heading);
    // Instances of one file follow each other, so neighbours are compared.
    let family = |score: &Score| score.name.split_once('#').map(|(family, _)| family.to_owned());
    for group in scores.chunk_by(|one, other| family(one).is_some() && family(one) == family(other)) {
        match family(&group[0]).filter(|_| group.len() > LISTED) {
            Some(name) => table.plain_row(summary(&name, group)),
            None => group.iter().for_each(|score| table.plain_row(row(score))),
        }
    }
    table.render(2)
}

/// The numbers of one instance.
fn row(score: &Score) -> [String; 9] {
    let extent = score.outcome.plan().map(|plan| plan.extent());
    // Without a plan nothing better than the peak is known.
    let lower_bound = match &score.outcome {
        Outcome::Optimal(plan) => plan.extent(),
        Outcome::Feasible { lower_bound, .. } => *lower_bound,
        Outcome::Infeasible(_) | Outcome::Exhausted { .. } => score.peak,
    };
    // A cell with bytes, or a dash.
    let text = |bytes: Option<memplan::core::Bytes>| bytes.map_or_else(|| "-".to_owned(), |bytes| bytes.to_string());
    // How many times the peak an extent is.
    let ratio = |extent: memplan::core::Bytes| format!("{:.4}", extent.0 as f64 / score.peak.0.max(1) as f64);
    [
        score.name.clone(),
        score.buffers.to_string(),
        lower_bound.to_string(),
        text(extent),
        extent.map_or_else(|| "-".to_owned(), ratio),
        text(score.known.map(|known| known.extent)),
        score.nodes.to_string(),
        duration(score.time),
        score.outcome.status().to_owned(),
    ]
}

/// How many of the instances have a plan of at most `factor` times their peak, in per cent.
fn within(scores: &[Score], factor: f64) -> usize {
    let fits = |score: &&Score| {
        score.outcome.plan().is_some_and(|plan| plan.extent().0 as f64 <= factor * score.peak.0 as f64)
    };
    100 * scores.iter().filter(fits).count() / scores.len().max(1)
}

/// Many small instances in one row, with the columns of `table`: sums, the slowest, how many are optimal and how many
/// per cent fit into 1.00, 1.05 and 1.10 times their peak. An instance without a plan, or of which no plan is known,
/// adds nothing to the sums.
fn summary(name: &str, scores: &[Score]) -> [String; 9] {
    let optimal = scores.iter().filter(|score| matches!(score.outcome, Outcome::Optimal(_))).count();
    let sum = |of: &dyn Fn(&Score) -> u64| scores.iter().map(of).sum::<u64>().to_string();
    let extents = |score: &Score| score.outcome.plan().map_or(0, |plan| plan.extent().0);
    let shares = format!("{}/{}/{} %", within(scores, 1.0), within(scores, 1.05), within(scores, 1.1));
    [
        format!("{name} ({})", scores.len()),
        sum(&|score| score.buffers as u64),
        sum(&|score| score.peak.0),
        sum(&extents),
        shares,
        sum(&|score| score.known.map_or(0, |known| known.extent.0)),
        sum(&|score| score.nodes),
        format!("{} at most", duration(scores.iter().map(|score| score.time).max().unwrap_or_default())),
        format!("{optimal} optimal"),
    ]
}
