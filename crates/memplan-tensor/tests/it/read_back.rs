//! What is written is what was planned: every change to an emitted text is noticed, or changes nothing.

use crate::JUDGE;
use crate::generate::{Features, Random, program};
use crate::records::records;
use memplan_tensor::interpret::{Order, RunOptions, run_traced};
use memplan_tensor::ir::Function;
use memplan_tensor::places::disagreement;
use memplan_tensor::rewrite::{Mode, RewriteOptions, Rewritten, storage_rewrite};
use memplan_tensor::script::Script;

fn rewritten(script: &Script, options: &RewriteOptions) -> Option<(Rewritten, String)> {
    let rewritten = storage_rewrite(&script.functions()[0], options, JUDGE).ok()?;
    let mut after = script.clone();
    after.functions_mut()[0] = rewritten.function.clone();
    Some((rewritten, after.print()))
}

fn modes() -> [RewriteOptions; 3] {
    [
        RewriteOptions::default(),
        RewriteOptions { mode: Mode::Compat, ..RewriteOptions::default() },
        RewriteOptions { strategy: Some("greedy-by-size".to_owned()), ..RewriteOptions::default() },
    ]
}

/// What is emitted, read again, is what the layout says.
fn assert_reads_back(script: &Script, name: &str) -> usize {
    let mut count = 0;
    for options in modes() {
        let Some((rewritten, text)) = rewritten(script, &options) else { continue };
        let again = Script::read(&text).unwrap_or_else(|error| panic!("{name}: {error}\n{text}"));
        let found = disagreement(&script.functions()[0], &rewritten.layout, &again.functions()[0]);
        assert_eq!(found, None, "{name} {options:?}\n{}\n{text}", script.print());
        count += 1;
    }
    count
}

#[test]
fn recorded_programs_read_back() {
    let mut count = 0;
    for record in records() {
        let text = record.text("flat_text").or(record.text("in_text")).expect("an input");
        count += assert_reads_back(&Script::read(text).expect("a readable text"), record.id());
    }
    assert!(count > 600, "{count} layouts");
}

#[test]
fn generated_programs_read_back() {
    let mut count = 0;
    for seed in 0..600 {
        count += assert_reads_back(&generated(seed), &seed.to_string());
    }
    assert!(count > 1_200, "{count} layouts");
}

fn generated(seed: u64) -> Script {
    let mut random = Random::new(seed + 9_000_000);
    let features = Features::random(&mut random);
    let statements = 4 + random.below(10);
    Script::read(&program(&mut random, features, statements)).expect("a valid program")
}

/// Tokens of a line of code: numbers, names, strings, and single characters.
fn tokens(text: &str) -> Vec<&str> {
    let mut tokens = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let is_word = |c: char| c.is_alphanumeric() || c == '_';
        let length = match first {
            '"' => rest[1..].find('"').map_or(rest.len(), |end| end + 2),
            '#' => rest.find('\n').unwrap_or(rest.len()),
            c if is_word(c) => rest.find(|c| !is_word(c)).unwrap_or(rest.len()),
            c => c.len_utf8(),
        };
        let (token, after) = rest.split_at(length);
        tokens.push(token);
        rest = after;
    }
    tokens
}

const TYPES: [&str; 6] = ["\"float32\"", "\"int8\"", "\"int16\"", "\"int32\"", "\"float64\"", "\"float16\""];

/// Texts that differ in one number, one buffer name or one type.
fn mutants(text: &str, function: &Function) -> Vec<String> {
    let tokens = tokens(text);
    let start = tokens.iter().position(|token| *token == "def").unwrap_or(0);
    let names: Vec<&str> = function.buffers.iter().map(|buffer| buffer.name.as_str()).collect();
    let mut mutants = Vec::new();
    for position in start..tokens.len() {
        let token = tokens[position];
        let mut replacements: Vec<String> = Vec::new();
        if let Ok(value) = token.parse::<i64>() {
            replacements.extend(
                [value + 1, value * 2, value - 1]
                    .into_iter()
                    .filter(|new| *new >= 0 && *new != value)
                    .map(|new| new.to_string()),
            );
        }
        if names.contains(&token) {
            replacements.extend(names.iter().filter(|name| **name != token).map(|name| (*name).to_owned()));
        }
        if TYPES.contains(&token) {
            replacements.extend(TYPES.iter().filter(|ty| **ty != token).map(|ty| (*ty).to_owned()));
        }
        for replacement in replacements {
            let mut changed = tokens.clone();
            changed[position] = &replacement;
            mutants.push(changed.concat());
        }
    }
    mutants
}

#[derive(Default, Debug)]
struct Tally {
    unreadable: usize,
    caught: usize,
    harmless: usize,
}

impl Tally {
    fn try_all(&mut self, script: &Script, options: &RewriteOptions, random: &mut Random, most: usize) {
        let Some((rewritten, text)) = rewritten(script, options) else { return };
        let before = &script.functions()[0];
        let mut mutants = mutants(&text, &rewritten.function);
        while mutants.len() > most {
            mutants.swap_remove(random.below(mutants.len()));
        }
        for mutant in mutants {
            let Ok(changed) = Script::read(&mutant) else {
                self.unreadable += 1;
                continue;
            };
            let Some(after) = changed.functions().first() else { continue };
            if disagreement(before, &rewritten.layout, after).is_some() {
                self.caught += 1;
                continue;
            }
            for (seed, order) in [(0, Order::Forward), (1, Order::Backward), (2, Order::Lockstep)] {
                let run = RunOptions { seed, order, max_steps: 2_000_000, ..RunOptions::default() };
                let Ok(expected) = run_traced(before, &run) else { continue };
                assert_eq!(run_traced(after, &run), Ok(expected), "not noticed:\n{text}\n{mutant}");
            }
            self.harmless += 1;
        }
    }
}

/// Every number, every buffer name and every type of emitted texts, changed one at a time.
#[test]
fn changed_texts_are_noticed() {
    let mut tally = Tally::default();
    let mut random = Random::new(77);
    for seed in 0..40 {
        let script = generated(seed);
        let options = &modes()[seed as usize % 3];
        tally.try_all(&script, options, &mut random, 120);
    }
    for record in records().iter().step_by(6) {
        let text = record.text("flat_text").or(record.text("in_text")).expect("an input");
        let script = Script::read(text).expect("a readable text");
        tally.try_all(&script, &modes()[0], &mut random, 60);
        tally.try_all(&script, &modes()[2], &mut random, 60);
    }
    assert!(tally.caught > 3_000 && tally.caught > 5 * tally.harmless, "{tally:?}");
}
