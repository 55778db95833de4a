//! The quick comparison of a rewritten text with the old one against the one that reads the text again.

#![allow(clippy::unwrap_used, reason = "a test that cannot set the stage has failed")]

use std::path::Path;

use memplan_core::IndexVec;
use memplan_mlir::pass::merge_alloc::{self, Options};
use memplan_mlir::written::{Address, Changes, find_addresses, find_addresses_by_lines};
use memplan_mlir::{Dialects, Document, Lowered, lower};
use memplan_planner::Request;
use memplan_program::{Apart, SiteId};
use memplan_testkit::Random;
use memplan_testkit::mlir::{blocks, carried, functions, regions};

type Addresses = IndexVec<SiteId, Option<Address>>;

/// Allocations in branches and loops, with deallocations and a comment.
const MIXED: &str = "\
func.func @mixed(%n: index, %flag: i1, %out: memref<16xf32>) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %a = memref.alloc() : memref<16xf32> // the first one
  %b = memref.alloc() {alignment = 64 : i64} : memref<16xf32>
  memref.copy %out, %a : memref<16xf32> to memref<16xf32>
  memref.copy %a, %b : memref<16xf32> to memref<16xf32>
  memref.dealloc %a : memref<16xf32>
  scf.if %flag {
    %c = memref.alloc() : memref<16xf32>
    memref.copy %b, %c : memref<16xf32> to memref<16xf32>
    memref.copy %c, %out : memref<16xf32> to memref<16xf32>
    memref.dealloc %c : memref<16xf32>
  }
  scf.for %i = %zero to %n step %one {
    %d = memref.alloc() : memref<16xf32>
    %e = memref.alloc() : memref<4x4xf32>
    %f = memref.load %out[%i] : memref<16xf32>
    memref.store %f, %d[%i] : memref<16xf32>
    memref.store %f, %e[%zero, %one] : memref<4x4xf32>
    memref.copy %d, %out : memref<16xf32> to memref<16xf32>
  }
  memref.dealloc %b : memref<16xf32>
  return
}
";

/// The offset of `%c` depends on the iteration of the parallel loop around it.
const PARALLEL: &str = "\
func.func @parallel(%a: memref<8xf32>) {
  scf.forall (%i) = (0) to (16) step (2) {
    %c = memref.alloc() : memref<8xf32>
    scf.forall (%j) in (4) {
      %d = memref.alloc() : memref<8xf32>
      memref.copy %a, %d : memref<8xf32> to memref<8xf32>
      memref.copy %d, %c : memref<8xf32> to memref<8xf32>
    }
    memref.copy %c, %a : memref<8xf32> to memref<8xf32>
  }
  return
}
";

/// A text and what the pass makes of it.
struct Case {
    document: Document,
    lowered: Lowered,
    text: String,
}

impl Case {
    /// `None` if the pass has nothing to do with the text.
    fn new(source: &str) -> Option<Case> {
        let document = Document::read(source, Dialects::builtin()).ok()?;
        let lowered = lower(&document).ok()?;
        let options = Options::default();
        let rewrite =
            merge_alloc::run(&document, &lowered, options, None, &Request::default(), &Apart::default()).ok()?;
        let text = rewrite.edits.apply(source).unwrap();
        Some(Case { document, lowered, text })
    }

    fn by_lines(&self, text: &str) -> Option<Addresses> {
        find_addresses_by_lines(&self.document, &self.lowered.sites, text)
    }

    fn by_ops(&self, text: &str) -> Option<Addresses> {
        let after = Document::read(text, Dialects::builtin()).ok()?;
        find_addresses(&self.document, &self.lowered.sites, &after, Changes::Addresses).ok()
    }
}

fn generated() -> Vec<String> {
    vec![functions(12), blocks(12), regions(12), carried(6), MIXED.to_owned()]
}

#[test]
fn both_ways_find_the_same_addresses() {
    let mut merged = 0;
    for source in generated() {
        let case = Case::new(&source).unwrap();
        let found = case.by_lines(&case.text);
        assert!(found.is_some(), "the quick way does not take\n{}", case.text);
        assert_eq!(found, case.by_ops(&case.text), "{}", case.text);
        merged += found.iter().flat_map(|found| found.iter().flatten()).count();
    }
    assert!(merged > 50, "{merged} buffers were merged");
}

#[test]
fn offsets_that_depend_on_an_iteration_are_left_to_the_slower_way() {
    let case = Case::new(PARALLEL).unwrap();
    let strides =
        |found: &Option<Address>| found.as_ref().is_some_and(|address| address.strides.iter().any(|&s| s > 0));
    assert!(case.by_ops(&case.text).is_some_and(|found| found.iter().any(strides)), "{}", case.text);
    assert_eq!(case.by_lines(&case.text), None);
}

/// Each op of the chain uses the one before it twice, so there are 2^200 ways from the offset to the constant.
#[test]
fn an_offset_that_uses_a_value_twice_is_computed_once() {
    let function = |body: &str| {
        format!(
            "func.func @f(%out: memref<16xf32>) {{\n{body}memref.copy %out, %a : memref<16xf32> to memref<16xf32>\nreturn\n}}\n"
        )
    };
    let before = Document::read(&function("%a = memref.alloc() : memref<16xf32>\n"), Dialects::builtin()).unwrap();
    let lowered = lower(&before).unwrap();
    let mut body = "%arena = memref.alloc() : memref<64xi8>\n%s0 = arith.constant 0 : index\n".to_owned();
    for at in 1..=200 {
        let last = at - 1;
        body += &format!("%s{at} = arith.addi %s{last}, %s{last} : index\n");
    }
    body += "%a = memref.view %arena[%s200][] : memref<64xi8> to memref<16xf32>\n";
    let after = Document::read(&function(&body), Dialects::builtin()).unwrap();
    let found = find_addresses(&before, &lowered.sites, &after, Changes::Addresses).unwrap();
    assert!(found.iter().all(Option::is_some), "{found:?}");
}

/// What is said about a new text that is no rewrite of the old one.
#[test]
fn differences_are_said_in_plain_words() {
    let text = |body: &str| format!("func.func @f(%out: memref<16xf32>) {{\n{body}}}\n");
    let alloc = "%a = memref.alloc() : memref<16xf32>\n";
    let copy = "memref.copy %out, %a : memref<16xf32> to memref<16xf32>\n";
    let before = text(&format!("{alloc}{copy}return\n"));
    let before = Document::read(&before, Dialects::builtin()).unwrap();
    let sites = lower(&before).unwrap().sites;
    for (body, expected) in [
        (format!("{alloc}{copy}"), "expected `func.return`: found the end of the block"),
        (format!("{alloc}{copy}return\n{copy}"), "expected the end of the block: found `memref.copy`"),
        (format!("{alloc}return\n"), "expected `memref.copy`: found `func.return`"),
        (
            format!("{alloc}memref.dealloc %a : memref<16xf32>\n{copy}return\n"),
            "this frees memory that an op further down still uses",
        ),
        (
            format!("{alloc}{copy}memref.dealloc %out : memref<16xf32>\nreturn\n"),
            "this frees memory that no `memref.alloc` of the same block has made",
        ),
    ] {
        let after = Document::read(&text(&body), Dialects::builtin()).unwrap();
        let difference = find_addresses(&before, &sites, &after, Changes::Deallocations).unwrap_err();
        assert_eq!(difference.message, expected, "{body}");
    }
}

/// What is freed must not be freed already, nor be used by a block that control comes to later, also if that block stands
/// further up in the text.
#[test]
fn an_added_deallocation_is_the_only_one_and_the_last_use() {
    let difference = |before: &str, after: &str| {
        let text = |body: &str| format!("func.func @f(%out: memref<16xf32>) {{\n{body}}}\n");
        let before = Document::read(&text(before), Dialects::builtin()).unwrap();
        let sites = lower(&before).unwrap().sites;
        let after = Document::read(&text(after), Dialects::builtin()).unwrap();
        find_addresses(&before, &sites, &after, Changes::Deallocations).map(|_| ()).map_err(|error| error.message)
    };
    let alloc = "%a = memref.alloc() : memref<16xf32>\n";
    let free = "memref.dealloc %a : memref<16xf32>\n";
    let copy = "memref.copy %out, %a : memref<16xf32> to memref<16xf32>\n";
    let twice = difference(&format!("{alloc}{free}return\n"), &format!("{alloc}{free}{free}return\n"));
    assert_eq!(twice, Err("this frees memory that is freed twice".to_owned()));
    let blocks = |free: &str| format!("cf.br ^b\n^c:\n{copy}return\n^b:\n{alloc}{free}cf.br ^c\n");
    let later = difference(&blocks(""), &blocks(free));
    assert_eq!(later, Err("this frees memory that an op further down still uses".to_owned()));
    assert_eq!(difference(&format!("{alloc}{copy}return\n"), &format!("{alloc}{copy}{free}return\n")), Ok(()));
}

/// A text whose branches lead to other blocks is another program, also if they name the same labels as before.
#[test]
fn labels_that_changed_places_are_found() {
    let text = |[first, second]: [&str; 2], ty: &str| {
        format!(
            "func.func @f(%c: i1, %out: memref<16xf32>) {{
  %n = arith.constant 0 : {ty}
  cf.cond_br %c, ^a(%n : {ty}), ^b(%n : {ty})
^{first}(%x: {ty}):
  \"use.first\"(%out) : (memref<16xf32>) -> ()
  return
^{second}(%y: {ty}):
  \"use.second\"(%out) : (memref<16xf32>) -> ()
  return
}}
"
        )
    };
    let before = Document::read(&text(["a", "b"], "i32"), Dialects::builtin()).unwrap();
    let sites = lower(&before).unwrap().sites;
    for (labels, ty, is_same) in [(["a", "b"], "i32", true), (["b", "a"], "i32", false), (["a", "b"], "i64", false)] {
        let after = Document::read(&text(labels, ty), Dialects::builtin()).unwrap();
        let found = find_addresses(&before, &sites, &after, Changes::Addresses);
        assert_eq!(found.is_ok(), is_same, "{labels:?} {ty}: {found:?}");
    }
    // Only the label has another type.
    let other_label = text(["a", "b"], "i32").replace("^a(%x: i32)", "^a(%x: i64)");
    let after = Document::read(&other_label, Dialects::builtin()).unwrap();
    assert!(find_addresses(&before, &sites, &after, Changes::Addresses).is_err());
    // A pass that adds attributes may change words, and still no branch.
    let exchanged = text(["b", "a"], "i32");
    let after = Document::read(&exchanged, Dialects::builtin()).unwrap();
    assert!(find_addresses(&before, &sites, &after, Changes::Attributes).is_err());
}

/// A text with one change.
fn changed(text: &str, random: &mut Random) -> String {
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    let (one, other) = (random.index(lines.len()), random.index(lines.len()));
    match random.index(7) {
        0 => _ = lines.remove(one),
        1 => lines.insert(one, lines[other].clone()),
        2 => lines.swap(one, other),
        3 => lines.swap(one, (one + 1).min(text.lines().count() - 1)),
        4 => lines[one] = lines[one].replacen(char::from(b'0' + random.index(10) as u8), "1", 1),
        5 => lines[one] = lines[one].replacen("64", "0", 1),
        // A name becomes another one of the text.
        _ => {
            let name = |line: &str| line.split(['%', ' ', ',', '[']).find(|word| word.contains('_')).map(str::to_owned);
            if let (Some(from), Some(to)) = (name(&lines[one]), name(&lines[other])) {
                lines[one] = lines[one].replacen(&from, &to, 1);
            }
        }
    }
    lines.join("\n") + "\n"
}

/// Whatever happens to the new text, the quick way says nothing or what the slower one says.
#[test]
fn both_ways_agree_about_texts_that_were_changed() {
    let mut random = Random::new(22);
    let rounds = if std::env::var_os("MEMPLAN_FULL").is_some() { 20_000 } else { 600 };
    let (mut accepted, mut other_addresses) = (0, 0);
    for source in generated() {
        let case = Case::new(&source).unwrap();
        let original = case.by_lines(&case.text);
        for _ in 0..rounds {
            let text = changed(&case.text, &mut random);
            let Some(found) = case.by_lines(&text) else { continue };
            assert_eq!(Some(&found), case.by_ops(&text).as_ref(), "{text}");
            accepted += 1;
            other_addresses += u32::from(Some(&found) != original.as_ref());
        }
    }
    // The test is worth something only if the quick way has an opinion on some of these texts, and sees other addresses.
    assert!(accepted > 100 && other_addresses > 20, "{accepted} accepted, {other_addresses} with other addresses");
}

fn files_under(folder: &Path, files: &mut Vec<String>) {
    let mut entries: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    entries.sort();
    for path in entries {
        if path.is_dir() {
            files_under(&path, files);
        } else if path.extension().is_some_and(|extension| extension == "mlir") {
            files.extend(std::fs::read_to_string(&path));
        }
    }
}

#[test]
fn both_ways_agree_about_texts_of_other_tools() {
    let mut files = Vec::new();
    files_under(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus"), &mut files);
    let mut compared = 0;
    for case in files.iter().filter_map(|source| Case::new(source)) {
        if let Some(found) = case.by_lines(&case.text) {
            assert_eq!(Some(found), case.by_ops(&case.text), "{}", case.text);
            compared += 1;
        }
    }
    assert!(compared > 10, "{compared} of {} files", files.len());
}

/// A host function that reports the size of a workspace may be added next to addresses, and only if it does just that.
#[test]
fn an_added_function_reports_a_size_and_nothing_else() {
    let source = functions(1);
    let document = Document::read(&source, Dialects::builtin()).unwrap();
    let lowered = lower(&document).unwrap();
    let function = |name: &str, op: &str| {
        format!("func.func @{name}() -> index {{\n  %c = arith.constant 64 : index\n  {op}\n  return %c : index\n}}\n")
    };
    let added = |text: &str, changes: Changes| {
        let after = Document::read(&format!("{text}{source}"), Dialects::builtin()).unwrap();
        find_addresses(&document, &lowered.sites, &after, changes).is_ok()
    };
    let report = function("k_infer_workspace_shape_function", "");
    assert!(added(&report, Changes::Addresses));
    assert!(!added(&report, Changes::Deallocations) && !added(&report, Changes::Attributes));
    let busy = function("k_infer_workspace_shape_function", "%b = memref.alloc() : memref<64xi8>");
    assert!(!added(&busy, Changes::Addresses));
    assert!(!added(&function("k", ""), Changes::Addresses));
}
