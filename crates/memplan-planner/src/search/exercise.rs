//! The exercise of docs/search.md, "Add a stage": the chapter shows the lines between the two marks, word by word.

use super::budget::Budget;
use super::plan::Search;
use super::schedule::{Share, Stage, walk};
use crate::fit::Fit;
use crate::order::Order;
use crate::piece::Pieces;
use crate::placer::Placer;
use crate::{Request, portfolio};
use memplan_testkit::instances;

// exercise
/// One more pass, the longest lives first.
fn place_longest_first(search: &mut Search, budget: &mut Budget) {
    let mut placer = Placer::new(search.pieces);
    for piece in Order::Lifetime.of(search.pieces) {
        if placer.place(piece, Fit::First).is_none() {
            return;
        }
    }
    budget.spend(search.known.pass_cost().of(search.pieces.len() as u64));
    search.known.keep(search.problem, placer.finish());
}

const LONGEST_FIRST: Stage = Stage {
    name: "longest-first",
    does: "first fit, the longest lives first",
    applies: |search| !search.is_done(),
    share: Share::OneOf(2),
    run: place_longest_first,
};
// solved

#[test]
fn the_stage_of_the_exercise_improves_plans() {
    let request = Request::default();
    let mut improved = 0;
    for seed in 0..20 {
        let problem = instances::exponential(1600, 12, seed);
        let pieces = Pieces::of(&problem).unwrap();
        let mut budget = Budget::of(&request);
        let tried = portfolio::try_at_once(&pieces, &request, &mut budget);
        let before = tried.best.as_ref().unwrap().extent();
        let mut search = Search::new(&pieces, tried, &request, false);
        walk(&[LONGEST_FIRST], &mut search, &mut budget);
        let after = search.known.best.unwrap();
        assert!(memplan_verify::packing::check(&problem, &after).is_empty());
        improved += usize::from(after.extent() < before);
    }
    assert!(improved > 0);
}

#[test]
fn the_chapter_shows_this_very_code() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
    let source = std::fs::read_to_string(folder.join("src/search/exercise.rs")).unwrap();
    let code = source.split("// exercise\n").nth(1).unwrap().split("// solved").next().unwrap();
    let chapter = std::fs::read_to_string(folder.join("../../docs/search.md")).unwrap();
    assert!(chapter.contains(&format!("```rust\n{code}```\n")), "docs/search.md should show\n{code}");
    assert!(code.lines().count() <= 22);
}
