//! Texts with the expected dump behind them. `MEMPLAN_BLESS=1` rewrites the expectations.
//!
//! The first line says what is tested: `# test sequence`, `# test events`, `# test storage`, `# test run`, or a pass with its options,
//! `# test storage-rewrite{compat}`. What follows `# expect` is the outcome, each line behind `#|`.

use crate::JUDGE;
use memplan_tensor::interpret::RunOptions;
use memplan_tensor::pass::{dump, rewrite_options, rewrite_text, run_text};
use std::path::PathBuf;

fn outcome(command: &str, text: &str) -> String {
    let result = match command {
        "run" => run_text(text, &RunOptions::default()),
        "sequence" | "events" | "storage" | "program" => dump(text, command, JUDGE),
        _ => {
            let options = command.strip_prefix("storage-rewrite").expect("a known command").trim_matches(['{', '}']);
            rewrite_options(options).and_then(|options| rewrite_text(text, &options, JUDGE))
        }
    };
    result.unwrap_or_else(|error| match error.line_column(text) {
        Some((line, column)) => format!("error {line}:{column}: {error}\n"),
        None => format!("error: {error}\n"),
    })
}

#[test]
fn filetests() {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/filetests");
    let mut paths: Vec<PathBuf> =
        std::fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path()).collect();
    paths.sort();
    let bless = std::env::var_os("MEMPLAN_BLESS").is_some();
    for path in &paths {
        let file = std::fs::read_to_string(path).expect("a text");
        let (text, expected) = file.split_once("# expect\n").unwrap_or((&file, ""));
        let command = text.lines().next().and_then(|line| line.strip_prefix("# test ")).expect("a `# test` line");
        let found: String = outcome(command, text).lines().map(|line| format!("#|{line}\n")).collect();
        if bless {
            std::fs::write(path, format!("{text}# expect\n{found}")).expect("written");
        } else {
            assert_eq!(found, expected, "{}: run with MEMPLAN_BLESS=1 if this is right", path.display());
        }
    }
    assert!(paths.len() >= 10);
}
