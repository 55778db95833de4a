#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a test")]
//! Custom forms of dialects that no table knows, as other compilers print them: `corpus/foreign`.
//!
//! A comment above an op says what is to be found in it: `// uses: %a %b ; regions: 1 ; arguments: %x ; types: i32 ; successors: 2`.
//! The expectations were written by hand from the forms' own definitions.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use memplan_mlir::{Dialects, Document, OpId, ValueId};
use memplan_testkit::peers;

fn files() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus/foreign");
    let mut paths: Vec<PathBuf> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    paths
}

fn read(name: &str, source: &str) -> Document {
    Document::read(source, Dialects::builtin()).unwrap_or_else(|error| {
        let place = error.excerpt(source);
        panic!("{name}:{}:{}: {error}\n{}", place.line, place.column, place.text)
    })
}

/// The parts of an op that an expectation can name, in the words of the comment.
fn found(document: &Document, op: OpId, part: &str) -> Option<String> {
    let names = |values: &[ValueId]| -> String {
        let names: Vec<&str> = values.iter().map(|&value| document.value_name(value)).collect();
        names.join(" ")
    };
    Some(match part {
        "uses" => names(document.operands(op)),
        "regions" => document.regions(op).len().to_string(),
        "successors" => document.successors(op).iter().filter(|one| one.block.is_some()).count().to_string(),
        "types" => {
            let types: Vec<&str> = document.results(op).iter().map(|&value| document.type_text(value)).collect();
            types.join(" ")
        }
        "arguments" => {
            let region = document.regions(op).first().copied();
            let block = region.and_then(|region| document.blocks(region).first().copied());
            block.map_or(String::new(), |block| names(document.arguments(block)))
        }
        _ => return None,
    })
}

#[test]
fn every_value_of_an_unknown_form_is_an_operand() {
    let mut checked = 0;
    let mut wrong = String::new();
    for path in files() {
        let source = std::fs::read_to_string(&path).unwrap();
        let name = path.file_name().unwrap().to_str().unwrap();
        let document = read(name, &source);
        let mut ops: Vec<OpId> =
            document.op_ids().filter(|&op| !document.text(document.op(op).span).is_empty()).collect();
        ops.sort_by_key(|&op| document.op(op).span.start);
        for (start, comment) in source.match_indices("// uses:") {
            let line = source[start + 3..].lines().next().unwrap();
            let op = *ops.iter().find(|&&op| document.op(op).span.start as usize > start).unwrap();
            for expectation in line.split(" ;") {
                let (part, expected) = expectation.trim().split_once(':').unwrap();
                let found = found(&document, op, part).unwrap();
                let at = source[..start + comment.len()].lines().count();
                if found != expected.trim() {
                    wrong += &format!("{name}:{at}: {part} of {}: {found}, not{expected}\n", document.name(op));
                }
            }
            checked += 1;
        }
    }
    assert_eq!(wrong, "");
    assert!(checked >= 600, "{checked} ops are described");
}

/// A result that an op does not have is a mistake where the form is known, and left alone where it is not, whether the
/// op stands before or after its use.
#[test]
fn wrong_numbers_of_results_are_errors_of_known_forms_only() {
    let function = |body: &str| format!("func.func @f() {{\n{body}  return\n}}\n");
    let two = "  %0:2 = \"test.two\"() : () -> (memref<4xf32>, memref<4xf32>)\n";
    let (known, unknown) = ("  \"test.use\"(%0#3) : (memref<4xf32>) -> ()\n", "  foo.bar %0#3 something\n");
    assert!(Document::read(&function(&format!("{two}{known}")), Dialects::builtin()).is_err());
    // In a region whose kind is not known, uses may stand before their definition.
    let region = |body: &str| function(&format!("  foo.region {{\n{body}  }}\n"));
    for source in [function(&format!("{two}{unknown}")), region(&format!("{unknown}{two}"))] {
        let document = Document::read(&source, Dialects::builtin()).unwrap_or_else(|error| panic!("{error}\n{source}"));
        assert!(document.notes().iter().any(|note| note.message.contains("`%0` is not defined here")), "{source}");
    }
}

/// Forms that are not read, and what the reader says to them.
const UNREAD: [(&str, &str); 5] = [
    ("acme.less %a < %b : i32", "a comparison: `<` is taken for a bracket"),
    ("acme.op %a : !t<*>{%n", "a bracket that is never closed"),
    ("acme.op \"text", "a string that is never closed"),
    ("%r:0 = acme.op", "no results, and a name for them"),
    ("func.func @f() { %x }", "values in the braces of an op that is known to have a region there"),
];

/// `docs/mlir-custom-forms.md`, which `MEMPLAN_BLESS=1` writes.
#[test]
fn the_page_of_custom_forms_is_current() {
    let mut page = "# Custom forms: what is read\n\nGenerated by a test from `crates/memplan-mlir/tests/corpus/foreign`, where each op is written with\n\
                    the values, regions, types and blocks that are to be found in it. See [MLIR text](mlir.md).\n\n| file | ops described | dialects |\n|---|---|---|\n"
        .to_owned();
    for path in files() {
        let source = std::fs::read_to_string(&path).unwrap();
        let name = path.file_name().unwrap().to_str().unwrap();
        let document = read(name, &source);
        let dialects: BTreeSet<&str> =
            document.op_ids().filter_map(|op| document.name(op).split_once('.')).map(|(dialect, _)| dialect).collect();
        let dialects: Vec<&str> = dialects.into_iter().collect();
        page += &format!("| `{name}` | {} | {} |\n", source.matches("// uses:").count(), dialects.join(", "));
    }
    page += "\n## What is not read\n\nEach is an error with a place, never a guess.\n\n| form | why | the error |\n|---|---|---|\n";
    for (form, why) in UNREAD {
        let error = Document::read(form, Dialects::builtin()).unwrap_err();
        page += &format!("| `{form}` | {why} | {error} |\n");
    }
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/mlir-custom-forms.md");
    if std::env::var_os("MEMPLAN_BLESS").is_some() {
        std::fs::write(path, &page).unwrap();
    }
    assert_eq!(std::fs::read_to_string(path).unwrap(), page, "MEMPLAN_BLESS=1 writes it again");
}

/// What does not balance is an error that names the bracket and its place.
#[test]
fn what_does_not_balance_is_an_error() {
    for (source, bracket) in [
        ("acme.op %a : !t<*>{%n\n", "{"),
        ("acme.op<%a : !t\n", "<"),
        ("acme.op {%a, (%b}\n", "("),
        ("acme.op : (i32 ...\n", "("),
        ("acme.op {\n  ro %a[%b : !t<*>{%n}\n}\n", "["),
    ] {
        let error = Document::read(source, Dialects::builtin()).unwrap_err();
        assert_eq!(error.to_string(), format!("`{bracket}` is never closed"), "{source}");
        assert!(error.span().start as usize > source.find(bracket).unwrap(), "{source}");
    }
}

/// Nests of groups with values in them take time linear in their length: a million brackets are read in seconds.
#[test]
fn deep_groups_are_read_in_linear_time() {
    for (open, close) in [("{", "}"), ("<", ">"), ("({", "})"), ("{a ", "}")] {
        let depth = 200_000;
        let source = format!("acme.op {}%x{}\n", open.repeat(depth), close.repeat(depth));
        let document = read("nest", &source);
        assert_eq!(document.operands(document.op_ids().next().unwrap()).len(), 1, "{open}");
    }
}

/// The modules that JAX prints while the test runs, each with the ops that JAX says are in it; `None` without JAX.
fn modules_of_jax() -> Option<Vec<serde_json::Value>> {
    let python = peers::python("jax")?;
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/peers/stablehlo_texts.py");
    let output = std::process::Command::new(python).arg(script).env("JAX_PLATFORMS", "cpu").output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).unwrap();
    Some(text.lines().map(|line| serde_json::from_str(line).unwrap()).collect())
}

/// The ops of a document in the order of the text, each with the number of its operands and results.
fn ops_in_order(document: &Document) -> Vec<(String, usize, usize)> {
    let mut ops: Vec<OpId> = document.op_ids().filter(|&op| !document.text(document.op(op).span).is_empty()).collect();
    ops.sort_by_key(|&op| document.op(op).span.start);
    let parts = |op| (document.name(op).to_owned(), document.operands(op).len(), document.results(op).len());
    ops.into_iter().map(parts).collect()
}

/// Of no op of these modules is anything known here, but JAX knows: names, operands and results are the same.
#[test]
fn what_jax_prints_is_read_as_jax_means_it() {
    let Some(modules) = modules_of_jax() else { return };
    let mut compared = 0;
    for module in &modules {
        let (name, text) = (module["name"].as_str().unwrap(), module["text"].as_str().unwrap());
        let found = ops_in_order(&read(name, text));
        let Some(expected) = module["ops"].as_array() else { continue };
        let number = |value: &serde_json::Value| value.as_u64().unwrap() as usize;
        let expected: Vec<(String, usize, usize)> =
            expected.iter().map(|op| (op[0].as_str().unwrap().to_owned(), number(&op[1]), number(&op[2]))).collect();
        for (at, (found, expected)) in found.iter().zip(&expected).enumerate() {
            assert_eq!(found, expected, "{name}, op {at}");
        }
        assert_eq!(found.len(), expected.len(), "{name}");
        compared += found.len();
    }
    println!("{} modules of jax, {compared} ops compared", modules.len());
    assert!(modules.len() >= 20 && compared > 1_000, "{} modules, {compared} ops", modules.len());
}
