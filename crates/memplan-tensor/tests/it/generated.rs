//! Generated programs, before and after, in the interpreter.

use crate::JUDGE;
use crate::generate::{Features, Random, program};
use memplan_tensor::interpret::{Order, RunOptions, run_traced};
use memplan_tensor::lower::check_layout;
use memplan_tensor::rewrite::{Mode, RewriteError, RewriteOptions, storage_rewrite, total_bits};
use memplan_tensor::script::Script;

const PROGRAMS: u64 = 2_000;

/// Runs a function before and after in every order of parallel iterations.
fn same_results(text: &str, before: &memplan_tensor::ir::Function, after: &memplan_tensor::ir::Function, seed: u64) {
    let orders = [Order::Forward, Order::Backward, Order::Lockstep];
    let distinct = if text.contains("T.parallel") { 3 } else { 1 };
    for order in orders.into_iter().take(distinct) {
        let options = RunOptions { seed, order, ..RunOptions::default() };
        let expected = run_traced(before, &options).unwrap_or_else(|error| panic!("{seed} {order:?}: {error}\n{text}"));
        assert_eq!(run_traced(after, &options), Ok(expected), "{seed} {order:?}\n{text}");
    }
}

#[test]
fn generated_programs_keep_their_results() {
    let (mut sharing, mut refused, mut compat) = (0, 0, 0);
    for seed in 0..PROGRAMS {
        let mut random = Random::new(seed);
        let features = Features::random(&mut random);
        let statements = 4 + random.below(14);
        let text = program(&mut random, features, statements);
        let script = Script::read(&text).unwrap_or_else(|error| panic!("{seed}: {error}\n{text}"));
        let before = &script.functions()[0];
        let rewritten = storage_rewrite(before, &RewriteOptions::default(), JUDGE)
            .unwrap_or_else(|error| panic!("{seed}: {error}\n{text}"));
        same_results(&text, before, &rewritten.function, seed);
        let violations = check_layout(before, &rewritten.layout, JUDGE).expect("a well-formed program");
        assert!(violations.is_empty(), "{seed}: {violations:?}\n{text}");
        assert!(rewritten.repairs.is_empty(), "{seed}: {:?}\n{text}", rewritten.repairs);
        sharing += u32::from(rewritten.layout.shares());
        // Tagged memory is one block per place, with padding between its entries.
        let padded = features.scopes;
        assert!(padded || total_bits(&rewritten.function) <= total_bits(before), "{seed}\n{text}");
        let options = RewriteOptions { mode: Mode::Compat, ..RewriteOptions::default() };
        match storage_rewrite(before, &options, JUDGE) {
            Ok(theirs) => {
                same_results(&text, before, &theirs.function, seed);
                assert!(total_bits(&rewritten.function) <= total_bits(&theirs.function), "{seed}\n{text}");
                compat += 1;
            }
            Err(RewriteError::Refused { .. }) => refused += 1,
            Err(other) => panic!("{seed}: {other}\n{text}"),
        }
    }
    let share = sharing as f64 / PROGRAMS as f64;
    assert!(share >= 0.8, "only {share} of the programs share anything");
    assert!(compat > 500 && refused > 100, "{compat} compatible, {refused} refused");
}

/// Arenas of any strategy keep the results, too, and on the whole take less than entries.
#[test]
fn generated_programs_in_arenas() {
    let strategies = ["auto", "greedy-by-size", "first-fit", "best-fit"];
    let (mut arenas, mut entries) = (0, 0);
    for seed in 0..400 {
        let mut random = Random::new(seed + 500_000);
        let features = Features::random(&mut random);
        let statements = 4 + random.below(14);
        let text = program(&mut random, features, statements);
        let script = Script::read(&text).expect("a valid program");
        let before = &script.functions()[0];
        let strategy = strategies[seed as usize % strategies.len()];
        let options = RewriteOptions { strategy: Some(strategy.to_owned()), ..RewriteOptions::default() };
        let arena = storage_rewrite(before, &options, JUDGE).unwrap_or_else(|error| panic!("{seed}: {error}\n{text}"));
        same_results(&text, before, &arena.function, seed);
        assert!(arena.repairs.is_empty(), "{seed}: {:?}\n{text}", arena.repairs);
        if strategy == "auto" {
            let pool = storage_rewrite(before, &RewriteOptions::default(), JUDGE).expect("checked above");
            arenas += total_bits(&arena.function).expect("small");
            entries += total_bits(&pool.function).expect("small");
        }
    }
    assert!(arenas < entries, "{arenas} bits in arenas, {entries} in entries");
}
