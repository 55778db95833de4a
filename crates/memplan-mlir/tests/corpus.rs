#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a test")]
//! The reader against mlir-opt: what it prints, in either form, is read, and
//! both forms of a program have the same structure.

mod structure;

use std::path::{Path, PathBuf};
use std::process::Command;

use memplan_mlir::{Dialects, Document, Edits};

fn corpus() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus")
}

fn programs() -> Vec<PathBuf> {
    let entries = std::fs::read_dir(corpus()).expect("the corpus is there");
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "mlir"));
    paths.sort();
    assert!(!paths.is_empty());
    paths
}

fn read(name: &str, source: &str) -> Document {
    let document = Document::read(source, Dialects::builtin()).unwrap_or_else(|error| {
        let place = error.excerpt(source);
        panic!("{name}:{}:{}: {error}\n{}", place.line, place.column, place.text)
    });
    let unchanged = Edits::default().apply(document.source());
    assert_eq!(unchanged.as_deref(), Ok(source), "{name} prints back");
    document
}

/// What mlir-opt makes of a file; `None` if it is not installed.
fn mlir_opt(path: &Path, arguments: &[&str]) -> Option<String> {
    let output = Command::new("mlir-opt-22")
        .args(["--allow-unregistered-dialect", "-split-input-file"])
        .args(arguments)
        .arg(path)
        .output();
    match output {
        Ok(output) => {
            let errors = String::from_utf8_lossy(&output.stderr).into_owned();
            assert!(output.status.success(), "{}: {errors}", path.display());
            Some(String::from_utf8(output.stdout).unwrap())
        }
        Err(_) => {
            let required = std::env::var("MEMPLAN_REQUIRE_PEERS").is_ok_and(|v| v == "1");
            assert!(!required, "needs mlir-opt-22");
            println!("skipped: needs mlir-opt-22");
            None
        }
    }
}

fn printed(path: &Path, form: &str) -> PathBuf {
    let stem = path.file_stem().unwrap().to_str().unwrap();
    corpus().join("printed").join(format!("{stem}.{form}.mlir"))
}

#[test]
fn sources_are_read() {
    let mut parts = 0;
    for path in programs() {
        let source = std::fs::read_to_string(&path).unwrap();
        let document = read(&path.display().to_string(), &source);
        parts += document.top_blocks().len();
    }
    assert!(parts >= 60, "{parts} programs");
}

#[test]
fn both_printed_forms_have_the_same_structure() {
    for path in programs() {
        let [custom, generic] = ["custom", "generic"].map(|form| {
            let path = printed(&path, form);
            let source = std::fs::read_to_string(&path).unwrap();
            (path.display().to_string(), source)
        });
        let (custom, generic) = (read(&custom.0, &custom.1), read(&generic.0, &generic.1));
        structure::assert_same(&path.display().to_string(), &custom, &generic);
    }
}

#[test]
fn sources_have_the_structure_of_their_generic_form() {
    for path in programs() {
        let source = std::fs::read_to_string(&path).unwrap();
        let generic = std::fs::read_to_string(printed(&path, "generic")).unwrap();
        let name = path.display().to_string();
        let (source, generic) = (read(&name, &source), read(&name, &generic));
        structure::assert_same(&name, &source, &generic);
    }
}

/// The committed prints are what mlir-opt prints; with locations too, both forms agree.
#[test]
fn prints_are_up_to_date() {
    for path in programs() {
        for (form, arguments) in [("custom", &[][..]), ("generic", &["--mlir-print-op-generic"])] {
            let Some(now) = mlir_opt(&path, arguments) else {
                return;
            };
            let kept = printed(&path, form);
            if std::env::var("MEMPLAN_BLESS").is_ok() {
                std::fs::write(&kept, &now).unwrap();
            }
            assert_eq!(std::fs::read_to_string(&kept).unwrap(), now, "{}", kept.display());
        }
        let name = format!("{} with locations", path.display());
        let custom = mlir_opt(&path, &["--mlir-print-debuginfo"]).unwrap();
        let generic = mlir_opt(&path, &["--mlir-print-debuginfo", "--mlir-print-op-generic"]).unwrap();
        structure::assert_same(&name, &read(&name, &custom), &read(&name, &generic));
        let local = mlir_opt(&path, &["--mlir-print-local-scope", "--mlir-print-debuginfo"]).unwrap();
        structure::assert_same(&name, &read(&name, &local), &read(&name, &generic));
    }
}
