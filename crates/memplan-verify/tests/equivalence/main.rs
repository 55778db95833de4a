//! The check of changed models: models that are changed in the right way pass, every mistake is caught, and whatever
//! passes computes the same numbers.
#![allow(clippy::unwrap_used, reason = "a test")]

mod by_hand;
mod execute;
mod mutants;
mod networks;
mod tiles;

use std::collections::BTreeMap;

use memplan_testkit::Random;
use memplan_verify::equivalence::{Network, check};

use execute::{Numbers, run};

/// Random numbers, and numbers at the ends of the range.
fn inputs(network: &Network, random: &mut Random) -> Vec<Vec<Numbers>> {
    let numbers = |mut element: Box<dyn FnMut() -> i64 + '_>| -> Vec<Numbers> {
        let shapes = network.inputs.iter().map(|&input| network.tensors[input].shape.clone().unwrap());
        shapes
            .map(|shape| Numbers { values: (0..shape.iter().product()).map(|_| element()).collect(), shape })
            .collect()
    };
    let mut all = vec![numbers(Box::new(|| -128)), numbers(Box::new(|| 127))];
    all.extend((0..3).map(|_| numbers(Box::new(|| random.below(256) as i64 - 128))));
    all
}

/// How many networks are looked at.
fn count() -> u64 {
    if std::env::var_os("MEMPLAN_FULL").is_some() { 20_000 } else { 1_000 }
}

#[test]
fn tiles_pass_and_compute_the_same() {
    for seed in 0..count() {
        let mut random = Random::new(seed);
        let original = networks::random_network(1 + (seed % 8) as usize, &mut random);
        let changed = tiles::tiled(&original, &mut random);
        check(&original, &changed).unwrap_or_else(|violation| panic!("seed {seed}: {violation}"));
        for inputs in inputs(&original, &mut random) {
            let expected = run(&original, &inputs).unwrap();
            assert_eq!(run(&changed, &inputs), Some(expected), "seed {seed}");
        }
    }
}

/// A mistake that passes is none: the numbers are the same. (Weights may be replaced by themselves, equal tensors by each other.)
#[test]
fn mistakes_are_caught_or_change_nothing() {
    let mut seen: BTreeMap<&str, [u64; 2]> = BTreeMap::new();
    for seed in 0..count() {
        let mut random = Random::new(seed + 1_000_000);
        let original = networks::random_network(1 + (seed % 8) as usize, &mut random);
        let right = tiles::tiled(&original, &mut random);
        for mistake in mutants::MISTAKES {
            let Some(wrong) = mutants::mistaken(&right, mistake, &mut random) else { continue };
            let is_accepted = check(&original, &wrong).is_ok();
            seen.entry(mistake).or_default()[usize::from(is_accepted)] += 1;
            if !is_accepted {
                continue;
            }
            for inputs in inputs(&original, &mut random) {
                let expected = run(&original, &inputs).unwrap();
                assert_eq!(run(&wrong, &inputs), Some(expected), "seed {seed}: {mistake}");
            }
        }
    }
    for mistake in mutants::MISTAKES {
        let [refused, accepted] = seen[mistake];
        assert!(refused > 0, "{mistake}: {accepted} accepted");
    }
}
