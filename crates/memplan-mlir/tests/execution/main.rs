//! Programs are run before and after the pass and must print the same.
//!
//! Random programs (see `generate`) are rewritten with the default planner, with
//! `size-first` and with `auto`, and by early-dealloc, whose mistakes show because
//! freed memory is soon used for something else. All versions of thirty programs go into
//! one module whose `@main` prints a checksum for each, so that a module costs
//! one call of mlir-opt and one of the runner.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::print_stdout, reason = "a test")]

mod branches;
mod buffers;
mod concurrent;
mod defects;
mod generate;
mod machine;
mod moved;
mod network;
mod pipelines;
mod random;
mod strangers;
mod unusual;

use memplan_core::Id;
use memplan_mlir::pass::merge_alloc::{self, Options};
use memplan_mlir::pass::{PassSpec, Saving, early_dealloc};
use memplan_mlir::{Dialects, Document, Lowered, lower};
use memplan_planner::Request;
use memplan_program::{FunctionId, SiteId, Size};
use memplan_verify::dataflow::{self, SitePlan};

/// How a version of a program is made: the pass and the strategy.
const VERSIONS: [(&str, Option<&str>); 4] = [
    ("merge-alloc", None),
    ("merge-alloc{planner-options=size-first}", None),
    ("merge-alloc", Some("auto")),
    ("early-dealloc", None),
];

const PROGRAMS_IN_A_MODULE: u64 = 30;

/// A rewritten text, and the functions in which two buffers share bytes.
struct Version {
    text: String,
    sharing: Vec<String>,
    stats: Vec<Saving>,
}

fn rewrite(source: &str, pass: &str, strategy: Option<&str>) -> Version {
    let document = Document::read(source, Dialects::builtin()).unwrap_or_else(|error| panic!("{error}\n{source}"));
    let lowered = lower(&document).unwrap_or_else(|error| panic!("{error}\n{source}"));
    let spec: PassSpec = pass.parse().unwrap();
    let strategy = strategy.map(|name| memplan_planner::find(name).unwrap());
    let rewrite = match spec.name.as_str() {
        "early-dealloc" => early_dealloc::run(&document, &lowered, &spec.options).unwrap(),
        _ => {
            let options = Options::parse(&spec.options).unwrap();
            merge_alloc::run(
                &document,
                &lowered,
                options,
                strategy,
                &Request::default(),
                &memplan_program::Apart::default(),
            )
            .unwrap()
        }
    };
    let plan = SitePlan { placements: rewrite.placements, owners: rewrite.owners };
    let violations = dataflow::check(&lowered.program, &plan);
    if let Some(violation) = violations.first() {
        let program = memplan_program::text::print(&lowered.program);
        panic!("{pass}: {}\n{program}\n{source}", violation.describe(&lowered.program));
    }
    let sharing = functions_that_share(&lowered, &plan);
    Version { text: rewrite.edits.apply(source).unwrap(), sharing, stats: rewrite.stats }
}

/// Names of the functions with two buffers on common bytes.
fn functions_that_share(lowered: &Lowered, plan: &SitePlan) -> Vec<String> {
    let program = &lowered.program;
    let mut ranges: Vec<(FunctionId, usize, u64, u64)> = Vec::new();
    for site in program.sites().ids() {
        if let Some((space, start, end)) = range_of(lowered, plan, site)
            && let Some(op) = program.alloc_op(site)
        {
            ranges.push((program.function_of(op), space, start, end));
        }
    }
    ranges.sort_unstable();
    let overlap = |pair: &[(FunctionId, usize, u64, u64)]| {
        let [one, two] = pair else { return None };
        ((one.0, one.1) == (two.0, two.1) && two.2 < one.3).then(|| program.functions()[one.0].name.to_string())
    };
    let mut names: Vec<String> = ranges.windows(2).filter_map(overlap).collect();
    names.dedup();
    names
}

fn range_of(lowered: &Lowered, plan: &SitePlan, site: SiteId) -> Option<(usize, u64, u64)> {
    let placement = plan.placements[site].as_ref()?;
    let Size::Known(size) = lowered.program.site(site).size else { return None };
    let start = placement.offsets.first()?.0;
    Some((placement.space.index(), start, start + size.0))
}

/// Gives the functions of one version names of their own.
fn renamed(text: &str, version: usize) -> String {
    text.replace("@p", &format!("@v{version}_p"))
}

/// All versions of the programs and a `@main` that prints a checksum for each.
fn module(versions: &[String], seeds: &[u64]) -> String {
    let mut text = String::from(
        "func.func private @printI64(i64)\nfunc.func private @printNewline()\nfunc.func private @omp_get_thread_num() -> i32\n",
    );
    for (number, version) in versions.iter().enumerate() {
        text += &renamed(version, number);
    }
    text += "func.func @main() {\n  %zero = arith.constant 0 : index\n  %start = arith.constant 7 : i64\n";
    text += "  %acc = memref.alloc() : memref<1xi64>\n";
    for number in 0..versions.len() {
        for seed in seeds {
            text += "  memref.store %start, %acc[%zero] : memref<1xi64>\n";
            text += &format!("  func.call @v{number}_p{seed}(%acc) : (memref<1xi64>) -> ()\n");
            text += &format!("  %s{number}_{seed} = memref.load %acc[%zero] : memref<1xi64>\n");
            text += &format!("  func.call @printI64(%s{number}_{seed}) : (i64) -> ()\n");
            text += "  func.call @printNewline() : () -> ()\n";
        }
    }
    text + "  return\n}\n"
}

/// What makes the program of a seed.
type Generate = fn(u64) -> String;

/// Runs some programs in all versions; the number of those that share bytes.
fn compare(generate: Generate, seeds: &[u64]) -> Result<usize, String> {
    let programs: Vec<String> = seeds.iter().map(|&seed| generate(seed)).collect();
    let source = programs.concat();
    let rewritten: Vec<Version> = VERSIONS.iter().map(|(pass, strategy)| rewrite(&source, pass, *strategy)).collect();
    let mut versions = vec![source];
    versions.extend(rewritten.iter().map(|version| version.text.clone()));
    let printed = machine::run(&module(&versions, seeds))?;
    let sums: Vec<&str> = printed.lines().collect();
    assert_eq!(sums.len(), seeds.len() * versions.len(), "{printed}");
    for (index, seed) in seeds.iter().enumerate() {
        for (number, (pass, strategy)) in VERSIONS.iter().enumerate() {
            let (before, after) = (sums[index], sums[(number + 1) * seeds.len() + index]);
            if before != after {
                return Err(format!("seed {seed}: {pass} with {strategy:?} prints {after}, not {before}"));
            }
        }
    }
    let shares = |seed: &u64| rewritten[0].sharing.iter().any(|name| belongs(name, *seed));
    Ok(seeds.iter().filter(|seed| shares(seed)).count())
}

fn belongs(function: &str, seed: u64) -> bool {
    let own = format!("p{seed}");
    function == own || function.strip_prefix(&own).is_some_and(|rest| rest.starts_with('_'))
}

/// Runs a module's worth of programs; if something is wrong, one by one, to say which.
fn compare_or_tell(generate: Generate, seeds: &[u64]) -> usize {
    compare(generate, seeds).unwrap_or_else(|error| {
        for seed in seeds {
            if let Err(error) = compare(generate, &[*seed]) {
                panic!("{error}\nseed {seed}:\n{}", generate(*seed));
            }
        }
        panic!("only together: {error}")
    })
}

/// Runs 300 programs, or 3000 in the full test; at least `percent` of them must share bytes.
fn campaign(generate: Generate, name: &str, percent: u64) {
    if !machine::is_there() {
        return;
    }
    let number = |name: &str| std::env::var(name).ok().and_then(|value| value.parse::<u64>().ok());
    let full = std::env::var_os("MEMPLAN_FULL").is_some();
    let count = number("MEMPLAN_EXECUTION_PROGRAMS").unwrap_or(if full { 3000 } else { 300 });
    let first = number("MEMPLAN_EXECUTION_SEED").unwrap_or(0);
    let seeds: Vec<u64> = (first..first + count).collect();
    let chunks = seeds.chunks(PROGRAMS_IN_A_MODULE as usize);
    let sharing: usize = chunks.map(|seeds| compare_or_tell(generate, seeds)).sum();
    println!("{name}: {sharing} of {count} share bytes");
    assert!(sharing as u64 * 100 >= count * percent, "only {sharing} of {count} programs share bytes");
}

#[test]
fn random_programs_print_the_same_before_and_after() {
    campaign(generate::program, "random programs", 80);
}

#[test]
fn programs_that_start_work_print_the_same_before_and_after() {
    campaign(generate::concurrent_program, "programs that start work", 60);
}

#[test]
fn unusual_programs_print_the_same_before_and_after() {
    campaign(generate::unusual_program, "unusual programs", 60);
}

/// Programs that once found a mistake, by their seeds. In 200,157 two exclusive branches gave back buffers that a
/// parallel loop writes through a select. In 353 a buffer of a parallel loop was hoisted out of an unknown region.
#[test]
fn programs_that_found_a_mistake_stay_right() {
    if machine::is_there() {
        compare_or_tell(generate::program, &[200_157]);
        compare_or_tell(generate::concurrent_program, &[200_157]);
        compare_or_tell(generate::concurrent_program, &[353]);
    }
}
