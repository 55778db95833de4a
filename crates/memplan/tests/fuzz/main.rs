//! Mutated inputs for every reader and every pass: some hundreds each, 100,000 each under `MEMPLAN_FULL`.
//!
//! A long run can be cut into pieces:
//!
//! | variable | what it does |
//! |---|---|
//! | `MEMPLAN_FUZZ_ROUNDS=N` | ends each attack after N inputs |
//! | `MEMPLAN_FUZZ_FROM=N` | makes the inputs before round N, too, but does not try them |
//! | `MEMPLAN_FUZZ_ONLY=NAME` | leaves out every attack but this one: a pass with its options, or a reader |
//! | `MEMPLAN_FUZZ_SEED=N` | makes other mutants |
//!
//! So `MEMPLAN_FUZZ_ONLY='storage-rewrite{compat}' MEMPLAN_FUZZ_FROM=4711 MEMPLAN_FUZZ_ROUNDS=4712` tries one input again.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::print_stdout, reason = "tests")]

mod checks;
mod readers;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::time::{Duration, Instant};

use checks::{PASSES, a_plan, problem};
use memplan_testkit::Random;

/// No input of this size may take longer, on however busy a machine.
const PATIENCE: Duration = Duration::from_secs(60);

/// The number in a variable of the environment.
fn asked(variable: &str) -> Option<usize> {
    std::env::var(variable).ok().and_then(|number| number.parse().ok())
}

fn rounds() -> usize {
    let usual = if std::env::var_os("MEMPLAN_FULL").is_some() { 100_000 } else { 200 };
    asked("MEMPLAN_FUZZ_ROUNDS").unwrap_or(usual)
}

const NUMBERS: [&str; 10] =
    ["0", "1", "2", "-1", "3", "63", "4096", "9223372036854775807", "18446744073709551615", "99999999999999999999"];

/// One to four changes: bytes exchanged, lines dropped, doubled or swapped, numbers and words replaced.
fn mutate(seed: &[u8], random: &mut Random) -> Vec<u8> {
    let mut bytes = seed.to_vec();
    for _ in 0..1 + random.index(4) {
        if bytes.is_empty() {
            break;
        }
        let at = random.index(bytes.len());
        match random.index(8) {
            0 => bytes[at] = b"(){}[]<>\"%^#!@:=,->/\n0a.x\xff"[random.index(26)],
            1 => drop(bytes.remove(at)),
            2 => bytes.truncate(at.max(bytes.len() / 2)),
            3 | 4 => replace_word(&mut bytes, at, random),
            kind => shuffle_lines(&mut bytes, kind, random),
        }
    }
    bytes
}

/// The word (or the number) around a place gives way to another word of the text, or to an odd number.
fn replace_word(bytes: &mut Vec<u8>, at: usize, random: &mut Random) {
    let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'%');
    let word_at = |bytes: &[u8], at: usize| {
        let start = bytes[..at].iter().rposition(|byte| !is_part(byte)).map_or(0, |start| start + 1);
        let end = bytes[at..].iter().position(|byte| !is_part(byte)).map_or(bytes.len(), |end| at + end);
        start..end
    };
    let word = word_at(bytes, at);
    let is_number = bytes[word.clone()].iter().all(u8::is_ascii_digit);
    let new = if is_number || random.index(3) == 0 {
        NUMBERS[random.index(NUMBERS.len())].as_bytes().to_vec()
    } else {
        let other = random.index(bytes.len());
        bytes[word_at(bytes, other)].to_vec()
    };
    bytes.splice(word, new);
}

fn shuffle_lines(bytes: &mut Vec<u8>, kind: usize, random: &mut Random) {
    let mut lines: Vec<Vec<u8>> = bytes.split_inclusive(|&byte| byte == b'\n').map(<[u8]>::to_vec).collect();
    let (one, other) = (random.index(lines.len()), random.index(lines.len()));
    match kind {
        5 => drop(lines.remove(one)),
        6 => lines.insert(other, lines[one].clone()),
        _ => lines.swap(one, other),
    }
    *bytes = lines.concat();
}

/// So many failures are shown at once; there is no use in more.
const MOST_FAILURES: usize = 10;

/// Runs a check on the seeds and on mutants of them. What goes wrong is shown with its input, when all have been tried.
fn attack(what: &str, seeds: &[Vec<u8>], check: impl Fn(&[u8])) {
    assert!(!seeds.is_empty(), "{what}: no seeds");
    if std::env::var("MEMPLAN_FUZZ_ONLY").is_ok_and(|only| only != what) {
        return;
    }
    let from = asked("MEMPLAN_FUZZ_FROM").unwrap_or(0);
    let mut random = Random::new((what.len() + 1_000 * asked("MEMPLAN_FUZZ_SEED").unwrap_or(0)) as u64);
    let mut failures = Vec::new();
    let mut slowest = (Duration::ZERO, 0);
    let rounds = rounds().max(seeds.len());
    for round in 0..rounds {
        let seed = &seeds[round % seeds.len()];
        let input = if round < seeds.len() { seed.clone() } else { mutate(seed, &mut random) };
        if round < from {
            continue;
        }
        let start = Instant::now();
        let outcome = catch_unwind(AssertUnwindSafe(|| check(&input)));
        let time = start.elapsed();
        slowest = slowest.max((time, round));
        if outcome.is_err() || time >= PATIENCE {
            failures.push(format!("{what}, round {round}, {time:?}:\n{}", String::from_utf8_lossy(&input)));
        }
        if failures.len() == MOST_FAILURES {
            break;
        }
    }
    println!("{what}: {rounds} inputs, the slowest (round {}) took {:?}", slowest.1, slowest.0);
    assert!(failures.is_empty(), "{}", failures.join("\n\n"));
}

fn folder(path: &str) -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

/// The texts of a folder, those of a moderate size.
fn texts(path: &str, extension: &str) -> Vec<Vec<u8>> {
    let mut paths: Vec<_> = std::fs::read_dir(folder(path)).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    let texts = paths.iter().filter(|path| path.extension().is_some_and(|found| found == extension));
    texts.map(|path| std::fs::read(path).unwrap()).filter(|text| text.len() < 20_000).collect()
}

/// The parts of a file of many programs.
fn parts(path: &str) -> Vec<Vec<u8>> {
    let text = std::fs::read_to_string(folder(path)).unwrap();
    text.split("// -----\n").map(|part| part.trim().as_bytes().to_vec()).filter(|part| part.len() < 8_000).collect()
}

/// One field of the records of a file, a JSON value a line.
fn fields(path: &str, field: &str) -> Vec<Vec<u8>> {
    let text = std::fs::read_to_string(folder(path)).unwrap();
    let values = text.lines().filter_map(|line| serde_json::from_str::<serde_json::Value>(line).ok());
    let texts = values.filter_map(|value| match value.get(field)? {
        serde_json::Value::String(text) => Some(text.clone()),
        other => Some(other.to_string()),
    });
    texts.map(String::into_bytes).filter(|text| text.len() < 8_000).collect()
}

/// What a pass reads.
fn seeds_of(name: &str) -> Vec<Vec<u8>> {
    match name {
        "buffers.mlir" => texts("../memplan-mlir/tests/corpus", "mlir"),
        "kernel.mlir" => {
            [parts("tests/plan_memory/kernels.mlir"), parts("tests/plan_memory/conformance.mlir")].concat()
        }
        "network.mlir" => texts("../../tests/data/gmem-ir", "mlir"),
        "function.py" => [
            fields("../../tests/data/tvm/script27.jsonl", "in_text"),
            fields("../../tests/data/tvm/pipeline27.jsonl", "text"),
        ]
        .concat(),
        _ => fields("../../tests/data/tvm/te17.jsonl", "program"),
    }
}

fn attack_pass(index: usize) {
    let (spec, name) = PASSES[index];
    attack(spec, &seeds_of(name), |bytes| checks::pass(spec, name, bytes));
}

#[test]
fn merge_alloc() {
    (0..4).for_each(attack_pass);
}

#[test]
fn plan_memory() {
    (4..7).for_each(attack_pass);
}

#[test]
fn assign_gmem() {
    (7..9).for_each(attack_pass);
}

#[test]
fn storage_rewrite_and_lower() {
    (9..15).for_each(attack_pass);
}

#[test]
fn toml_files() {
    let mut seeds = texts("../memplan-mlir/src/pass/assign_gmem", "toml");
    seeds.extend(texts("../memplan-mlir/src/pass/plan_memory", "toml"));
    seeds.extend(texts("../memplan-models/src/tflite", "toml"));
    let dialect = "[[op]]\nname = \"acme.scale\"\nreads = [\"ins\", 0, \"1..\"]\nwrites = [\"outs\"]\n";
    let device = "name = \"tiny\"\nscope = [{ name = \"ub\", capacity = 4096, alignment = 32 }]\n";
    seeds.extend([dialect, device].map(|text| text.as_bytes().to_vec()));
    attack("toml", &seeds, checks::toml);
}

/// A zip file with one array, as numpy writes it.
fn weight_file() -> Vec<u8> {
    let mut array = b"\x93NUMPY\x01\x00".to_vec();
    let header = "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 1), }";
    array.extend((header.len() as u16).to_le_bytes());
    array.extend(header.as_bytes());
    array.extend([1, 2, 3, 4, 5, 6, 7, 8]);
    let (name, size) = (b"w.npy".as_slice(), (array.len() as u32).to_le_bytes());
    let length = (name.len() as u16).to_le_bytes();
    let local = [b"PK\x03\x04".as_slice(), &[0; 14], &size, &size, &length, &[0; 2], name, &array].concat();
    let directory = [b"PK\x01\x02".as_slice(), &[0; 16], &size, &size, &length, &[0; 16], name].concat();
    let sizes = [(directory.len() as u32).to_le_bytes(), (local.len() as u32).to_le_bytes()].concat();
    [local, directory, b"PK\x05\x06\0\0\0\0\x01\0\x01\0".to_vec(), sizes, vec![0; 2]].concat()
}

#[test]
fn weight_files() {
    assert_eq!(memplan::models::npz::arrays(&weight_file()).unwrap().len(), 1);
    attack("npz", &[weight_file()], checks::weights);
}

#[test]
fn plan_files() {
    let problem = problem();
    let plan = a_plan(&problem);
    let outcome = memplan::core::Outcome::Optimal(plan.clone());
    let json = memplan::models::plan::json::write(&problem, &outcome, "first-fit", None);
    let csv = memplan::models::plan::csv::write(&problem, &plan);
    let named = csv.replace("offset", "place");
    attack("plans", &[json, csv, named].map(String::into_bytes), checks::plans);
}

#[test]
fn programs() {
    let texts = texts("../memplan-mlir/tests/corpus", "mlir");
    let printed = texts.iter().filter_map(|text| {
        let text = std::str::from_utf8(text).ok()?;
        let document = memplan::mlir::Document::read(text, memplan::mlir::Dialects::builtin()).ok()?;
        Some(memplan::program::text::print(&memplan::mlir::lower(&document).ok()?.program))
    });
    let seeds: Vec<Vec<u8>> = printed.map(String::into_bytes).filter(|text| text.len() < 8_000).collect();
    attack("programs", &seeds, checks::program);
}

#[test]
fn tensor_expressions() {
    attack("te", &fields("../../tests/data/tvm/te17.jsonl", "program"), checks::tensor_expressions);
}
