//! Any text at all: no panic, no hang, no stack overflow; good errors.
#![allow(clippy::unwrap_used, reason = "a test")]

use std::path::Path;

use memplan_mlir::{Dialects, Document, TextError, fuzz_check, lower};
use memplan_testkit::Random;

fn corpus() -> Vec<String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus");
    let mut texts = Vec::new();
    for folder in [root.clone(), root.join("printed"), root.join("tolerant")] {
        let entries = std::fs::read_dir(folder).unwrap();
        let mut paths: Vec<_> = entries.map(|entry| entry.unwrap().path()).collect();
        paths.sort();
        let mlir = paths.into_iter().filter(|path| path.extension().is_some_and(|e| e == "mlir"));
        texts.extend(mlir.map(|path| std::fs::read_to_string(path).unwrap()));
    }
    texts
}

/// Rounds of mutation: `MEMPLAN_FUZZ_ROUNDS`, or enough for a second.
fn rounds() -> usize {
    let asked = std::env::var("MEMPLAN_FUZZ_ROUNDS").ok();
    asked.and_then(|rounds| rounds.parse().ok()).unwrap_or(1500)
}

fn read(source: &str) -> Result<Document, TextError> {
    Document::read(source, Dialects::builtin())
}

#[test]
fn mutated_bytes() {
    let texts = corpus();
    let mut random = Random::new(1);
    for round in 0..rounds() {
        let mut bytes = texts[round % texts.len()].clone().into_bytes();
        // A part of the file, so that more mutations fit into a second.
        let start = random.index(bytes.len());
        bytes = bytes[start..(start + 1500).min(bytes.len())].to_vec();
        for _ in 0..1 + random.index(4) {
            if bytes.is_empty() {
                break;
            }
            let at = random.index(bytes.len());
            match random.index(3) {
                0 => bytes[at] = b"(){}[]<>\"%^#!@:=,->/\n0a.x\xff"[random.index(26)],
                1 => {
                    bytes.remove(at);
                }
                _ => bytes.truncate(at),
            }
        }
        fuzz_check(&bytes);
    }
}

/// Words and punctuation, as far as blanks and brackets separate them.
fn tokens(text: &str) -> Vec<&str> {
    let mut out = Vec::new();
    let mut start = 0;
    for (at, c) in text.char_indices() {
        let breaks = c.is_whitespace() || "(){}[]<>,:=".contains(c);
        if breaks {
            out.push(&text[start..at]);
            out.push(&text[at..at + c.len_utf8()]);
            start = at + c.len_utf8();
        }
    }
    out.push(&text[start..]);
    out
}

#[test]
fn mutated_tokens() {
    let texts = corpus();
    let mut random = Random::new(2);
    for round in 0..rounds() {
        let text = &texts[round % texts.len()];
        let parts: Vec<&str> = text.split("// -----").collect();
        let part = parts[random.index(parts.len())];
        let mut words = tokens(part);
        for _ in 0..1 + random.index(3) {
            let (from, to) = (random.index(words.len()), random.index(words.len()));
            match random.index(4) {
                0 => words.swap(from, to),
                1 => words[to] = words[from],
                2 => {
                    words.remove(from);
                }
                _ => words.insert(to, words[from]),
            }
        }
        fuzz_check(words.concat().as_bytes());
    }
}

#[test]
fn every_prefix_of_a_program() {
    let text = include_str!("corpus/scf.mlir");
    for end in (0..text.len()).step_by(7) {
        fuzz_check(&text.as_bytes()[..end]);
    }
}

#[test]
fn deep_nesting() {
    const DEPTH: usize = 10_000;
    let open = "scf.if %c {\n";
    let custom = format!("func.func @f(%c: i1) {{\n{}{}return\n}}\n", open.repeat(DEPTH), "}\n".repeat(DEPTH));
    let document = read(&custom).unwrap();
    assert_eq!(document.op_count(), 2 * DEPTH + 2);
    assert!(lower(&document).is_ok());

    let open = "\"acme.op\"() ({\n";
    let close = "}) : () -> ()\n";
    let generic = format!("{}{}", open.repeat(DEPTH), close.repeat(DEPTH));
    assert_eq!(read(&generic).unwrap().op_count(), DEPTH);

    // A use at the bottom of what is defined at the very end, outside.
    let generic = format!(
        "{}\"acme.use\"(%late) : (i32) -> ()\n{}%late = \"acme.make\"() : () -> i32\n",
        open.repeat(DEPTH),
        close.repeat(DEPTH)
    );
    assert_eq!(read(&generic).unwrap().op_count(), DEPTH + 2);

    for text in ["(", "[", "{", "<", "\"a\"() ({", "scf.if %c {", "acme.x {a = [", "^b(", "!t<", "#a = [", "() -> "] {
        fuzz_check(text.repeat(DEPTH).as_bytes());
        fuzz_check(format!("acme.op : {}", text.repeat(DEPTH)).as_bytes());
        fuzz_check(format!("%0 = memref.alloc() : {}f32", text.repeat(DEPTH)).as_bytes());
    }
    let deep = format!("{}f32{}", "tuple<".repeat(DEPTH), ">".repeat(DEPTH));
    fuzz_check(format!("%0 = \"a\"() : () -> {deep}").as_bytes());
}

#[test]
fn alias_circles_end() {
    fuzz_check(b"!a = !b\n!b = !a\n%0 = \"x\"() : () -> !a\n");
    fuzz_check(b"#a = #b\n#b = #a\n%0 = \"x\"() : () -> memref<4xf32, #a>\n");
    fuzz_check(b"!a = memref<4x!a>\n%0 = \"x\"() : () -> !a\n");
}

#[test]
fn huge_lines() {
    let numbers = vec!["1"; 200_000].join(", ");
    let source = format!("%0 = arith.constant dense<[{numbers}]> : tensor<200000xi8>\n");
    assert_eq!(read(&source).unwrap().op_count(), 1);
    let hex = "AB".repeat(500_000);
    let source = format!("%0 = arith.constant dense<\"0x{hex}\"> : tensor<500000xi8>\n");
    assert_eq!(read(&source).unwrap().op_count(), 1);
    let operands = vec!["%x"; 20_000].join(", ");
    let types = vec!["i32"; 20_000].join(", ");
    let source = format!(
        "%x = \"a\"() : () -> i32\nacme.many {operands} : {types}\n\"acme.many\"({operands}) : ({types}) -> ()\n"
    );
    let document = read(&source).unwrap();
    let counts: Vec<usize> = document.op_ids().map(|op| document.operands(op).len()).collect();
    assert_eq!(counts, [0, 20_000, 20_000]);
}

#[test]
fn errors_point_at_the_place() {
    for (source, code, line, column) in [
        ("func.func @f() {\n  \"a\"(%x) : (i32) -> ()\n  return\n}\n", "read::undefined-value", 2, 7),
        ("func.func @f() {\n  return\n", "read::unbalanced", 3, 1),
        (
            "func.func @f() {\n  call @g(%x) : (i32) -> ()\n  %x = arith.constant 1 : i32\n  return\n}\n",
            "read::used-too-early",
            2,
            11,
        ),
        (
            "func.func @f(%n: index) {\n  %r = scf.for %i = %n to %n step %n iter_args(%a = %n) -> (index) {\n    scf.yield %r : index\n  }\n  return\n}\n",
            "read::used-too-early",
            3,
            15,
        ),
        (
            "func.func @f(%b: i1) {\n  scf.while : () -> () {\n    scf.condition(%b)\n  } do {\n  }\n  return\n}\n",
            "read::unterminated-region",
            2,
            3,
        ),
        (
            "func.func @f(%b: i1) {\n  scf.if %b {\n    cf.br ^on\n  ^on:\n  }\n  return\n}\n",
            "read::unterminated-region",
            2,
            3,
        ),
        ("%0 = \"a\"() : () -> i32\n%0 = \"a\"() : () -> i32\n", "read::redefined-value", 2, 1),
        ("\"a\"() : (i32) -> ()\n", "read::arity", 1, 1),
        ("%0:2 = \"a\"() : () -> i32\n", "read::arity", 1, 8),
        ("%0 = \"abc\n", "read::unterminated-string", 1, 6),
        ("func.func @f() {\n  cf.br ^nowhere\n}\n", "read::undefined-block", 2, 9),
        ("func.func @f() {\n^a:\n  return\n^a:\n  return\n}\n", "read::redefined-block", 4, 1),
        ("{-# dialect_resources: {", "read::unterminated-resources", 1, 1),
        ("%0 = memref.alloc( : memref<4xf32>\n%1 = memref.alloc() : memref<4xf32>\n]\n", "read::unbalanced", 3, 1),
        ("\n\n  ) \n", "read::unexpected", 3, 3),
        ("%0 = \"a\"() : () -> memref<4xf32\n", "read::unbalanced", 2, 1),
    ] {
        let error = read(source).expect_err(source);
        let place = error.excerpt(source);
        assert_eq!((error.code(), place.line, place.column), (code, line, column), "{source}\n{error}");
    }
}

#[test]
fn names_of_unknown_forms_are_noted() {
    let document = read("acme.thing %nobody, %knows : i32, i32\n").unwrap();
    assert_eq!(document.notes().len(), 2);
    assert!(document.notes()[0].message.contains("%nobody"));
    let op = document.op_ids().next().unwrap();
    assert_eq!(document.operands(op).len(), 2);
}

/// Functions of dialects without a table are isolated from above without our knowing.
#[test]
fn names_may_be_hidden_but_not_doubled() {
    let source = "%x = \"a\"() : () -> i32\nacme.func @f(%x: f32) {\n  %y = \"b\"(%x) : (f32) -> f32\n}\n\"c\"(%x) : (i32) -> ()\n";
    let generic = "%x = \"a\"() : () -> i32\n\"acme.func\"() ({\n^bb0(%x: f32):\n  \"b\"(%x) : (f32) -> ()\n}) : () -> ()\n\"c\"(%x) : (i32) -> ()\n";
    assert!(read(source).is_ok());
    let document = read(generic).unwrap();
    let types: Vec<&str> =
        document.op_ids().flat_map(|op| document.operands(op)).map(|&value| document.type_text(value)).collect();
    assert_eq!(types, ["f32", "i32"]);
    assert!(read("%x = \"a\"() : () -> i32\n%x = \"a\"() : () -> i32\n").is_err());
}
