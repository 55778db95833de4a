//! Buffers moved onto others on purpose: whatever running notices, the dataflow
//! check notices, too.
//!
//! In each random program one buffer is put where another one lies. Often that
//! does no harm, and sometimes the check refuses what happens to print the same;
//! but a program that prints something else and passes the check would mean
//! that the check overlooks something.

use memplan_mlir::pass::merge_alloc::{self, Options};
use memplan_mlir::{Dialects, Document, lower};
use memplan_planner::Request;
use memplan_program::{SiteId, Size};
use memplan_verify::dataflow::{self, SitePlan};

use crate::random::Random;
use crate::{generate, machine, module};

const PROGRAMS: u64 = 90;

/// A program with one buffer moved, and whether the check refuses it.
struct Moved {
    seed: u64,
    text: String,
    is_refused: bool,
}

fn moved(seed: u64) -> Option<Moved> {
    let source = generate::program(seed);
    let document = Document::read(&source, Dialects::builtin()).unwrap();
    let lowered = lower(&document).unwrap();
    let rewrite = merge_alloc::run(
        &document,
        &lowered,
        Options::default(),
        None,
        &Request::default(),
        &memplan_program::Apart::default(),
    )
    .unwrap();
    let mut plan = SitePlan { placements: rewrite.placements, owners: rewrite.owners };
    let size = |site: SiteId| match lowered.program.site(site).size {
        Size::Known(size) => size.0,
        _ => 0,
    };
    // Ways to move: a buffer and the offset of another in the same space that it does not share yet.
    let at = |site: SiteId| {
        let placement = plan.placements[site].as_ref().filter(|placement| placement.strides.is_empty())?;
        Some((placement.space, *placement.offsets.first()?))
    };
    let placed: Vec<(SiteId, _)> =
        lowered.program.sites().ids().filter_map(|site| at(site).map(|place| (site, place))).collect();
    let mut ways = Vec::new();
    for &(site, (space, offset)) in &placed {
        for &(other, (other_space, target)) in &placed {
            if space == other_space && offset != target && size(site) <= size(other) {
                ways.push((site, target));
            }
        }
    }
    if ways.is_empty() {
        return None;
    }
    let &(site, target) = Random::new(seed).pick(&ways);
    plan.placements[site].as_mut()?.offsets[0] = target;
    let name = document.value_name(*document.results(lowered.sites[site]).first()?);
    let text = with_offset(&rewrite.edits.apply(&source).unwrap(), name, target.0)?;
    let is_refused = !dataflow::check(&lowered.program, &plan).is_empty();
    Some(Moved { seed, text, is_refused })
}

/// The text with another constant in front of the view called `name`.
fn with_offset(text: &str, name: &str, offset: u64) -> Option<String> {
    let view = text.lines().find(|line| line.trim().starts_with(&format!("{name} = memref.view ")))?;
    let constant = view.split(['[', ']']).nth(1)?;
    let line = text.lines().find(|line| line.trim().starts_with(&format!("{constant} = arith.constant ")))?;
    Some(text.replacen(line, &format!("  {constant} = arith.constant {offset} : index"), 1))
}

#[test]
fn what_running_notices_the_check_notices() {
    if !machine::is_there() {
        return;
    }
    let all: Vec<Moved> = (1_000_000..1_000_000 + PROGRAMS).filter_map(moved).collect();
    let (mut different, mut refused) = (0, 0);
    for some in all.chunks(30) {
        let seeds: Vec<u64> = some.iter().map(|moved| moved.seed).collect();
        let before: String = seeds.iter().map(|&seed| generate::program(seed)).collect();
        let after: String = some.iter().map(|moved| moved.text.as_str()).collect();
        let printed = machine::run(&module(&[before, after], &seeds)).unwrap_or_else(|error| panic!("{error}"));
        let sums: Vec<&str> = printed.lines().collect();
        for (index, moved) in some.iter().enumerate() {
            let differs = sums[index] != sums[seeds.len() + index];
            assert!(moved.is_refused || !differs, "seed {} slips through the check:\n{}", moved.seed, moved.text);
            different += usize::from(differs);
            refused += usize::from(moved.is_refused);
        }
    }
    println!("{} programs with a buffer moved, {refused} refused, {different} print something else", all.len());
    assert!(different * 5 >= all.len(), "{different} of {} differ: the programs notice too little", all.len());
}
