//! Kernels that somebody damaged, kernels nested deeply, long ones: an answer in
//! any case, no panic, and never a plan that does not verify.

use std::fmt::Write;
use std::panic::{AssertUnwindSafe, catch_unwind};

use memplan::driver::{Failure, How};
use memplan::pass::{PassSpec, find};
use memplan::source::Source;
use memplan_planner::Request;

use crate::kernel::{Random, kernel};
use crate::kernels::{parts, run};

/// What the pass says to a text; `None` if it crashed.
fn answer(text: &str, spec: &str) -> Option<Result<(), Failure>> {
    let spec: PassSpec = spec.parse().unwrap();
    let request = Request { work_limit: Some(2_000), ..Request::default() };
    let how = How { request, ..How::default().strict() };
    let source = Source::new("kernel.mlir", text);
    let outcome = catch_unwind(AssertUnwindSafe(|| find(&spec.name).unwrap().run(&source, &spec.options, &how)));
    outcome.ok().map(|result| result.map(|_| ()))
}

const WORDS: &[&str] = &[
    "ub",
    "cbuf",
    "cc",
    "ca",
    "gm",
    "zero",
    "ssbuf",
    "f16",
    "f32",
    "i1",
    "i64",
    "?",
    "0",
    "1",
    "2",
    "256",
    "4096",
    "18446744073709551615",
    "-1",
    "load",
    "store",
    "vadd",
    "vsel",
    "vcast",
    "vexp",
    "scf.if",
    "scf.for",
    "scf.while",
    "memref.alloc()",
    "memref.subview",
    "annotation.mark",
    "hivm.multi_buffer",
    "mem_unique",
    "hivm.preload_local_buffer",
    "ins",
    "outs",
    "temp_buffer",
    "return",
    "{",
    "}",
    "(",
    ")",
    "<",
    ">",
    "[",
    "]",
    "%",
];

/// One change: lines swapped, doubled, dropped or moved, words or numbers exchanged, bytes lost.
fn damage(text: &str, random: &mut Random) -> String {
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    let (one, other) = (random.below(lines.len()), random.below(lines.len()));
    match random.below(7) {
        0 => lines.swap(one, other),
        1 => lines.insert(other, lines[one].clone()),
        2 => {
            lines.remove(one);
        }
        3 => {
            let line = lines.remove(one);
            lines.insert(other.min(lines.len()), line);
        }
        4 => {
            let (from, to) = (WORDS[random.below(WORDS.len())], WORDS[random.below(WORDS.len())]);
            lines[one] = lines[one].replacen(from, to, 1);
        }
        5 => {
            let names: Vec<&str> =
                text.split(|c: char| !(c.is_alphanumeric() || c == '%')).filter(|word| word.starts_with('%')).collect();
            if !names.is_empty() {
                let (from, to) = (names[random.below(names.len())], names[random.below(names.len())]);
                lines[one] = lines[one].replacen(from, to, 1);
            }
        }
        _ => {
            let at = random.below(lines[one].chars().count());
            lines[one] = lines[one].chars().take(at).collect();
        }
    }
    lines.join("\n") + "\n"
}

#[test]
fn damaged_kernels_get_an_answer() {
    let full = std::env::var_os("MEMPLAN_FULL").is_some();
    let rounds = if full { 60_000 } else { 3_000 };
    let mut texts: Vec<String> =
        ["kernels.mlir", "defects.mlir", "conformance.mlir"].into_iter().flat_map(parts).collect();
    texts.extend((1..=100).map(kernel));
    let specs = [
        "plan-memory",
        "plan-memory{profile=regbase}",
        "plan-memory{plan-memory-strategy=largest-first restrict-inplace-as-isa}",
        "plan-memory{mem-plan-mode=global-work-space-plan enable-global-workspace-reuse}",
        "plan-memory{enable-memory-display disable-tightly-coupled-buffer-reuse disable-vf-reachable-check}",
    ];
    let mut random = Random::new(0x5EED);
    let mut planned = 0;
    for round in 0..rounds {
        let mut text = texts[round % texts.len()].clone();
        for _ in 0..1 + random.below(3) {
            text = damage(&text, &mut random);
        }
        let spec = specs[round % specs.len()];
        let result = answer(&text, spec).unwrap_or_else(|| panic!("crashed in round {round}\n{text}"));
        assert!(!matches!(result, Err(Failure::Unsound(_))), "round {round}, {spec}: {:?}\n{text}", result.err());
        planned += usize::from(result.is_ok());
    }
    println!("{planned} of {rounds} damaged kernels are planned");
    assert!(planned * 4 > rounds, "{planned} of {rounds}: the damage is too great to test much");
}

const TILE: &str = "memref<64xf16, #hivm.address_space<ub>>";
const FAR: &str = "memref<64xf16, #hivm.address_space<gm>>";

/// Loops and branches in each other, a buffer in each, used on the way in and on the way out.
fn nested(depth: usize) -> String {
    let mut text = format!("func.func @kernel(%gm: {FAR}, %n: index, %flag: i1) {{\n");
    text += "%c0 = arith.constant 0 : index\n%c1 = arith.constant 1 : index\n";
    for at in 0..depth {
        match at % 2 {
            0 => writeln!(text, "scf.for %i{at} = %c0 to %n step %c1 {{").unwrap(),
            _ => writeln!(text, "scf.if %flag {{").unwrap(),
        }
        writeln!(text, "%b{at} = memref.alloc() : {TILE}").unwrap();
        writeln!(text, "hivm.hir.load ins(%gm : {FAR}) outs(%b{at} : {TILE})").unwrap();
    }
    for at in (0..depth).rev() {
        writeln!(text, "hivm.hir.store ins(%b{at} : {TILE}) outs(%gm : {FAR})\n}}").unwrap();
    }
    text + "return\n}\n"
}

#[test]
fn depth_costs_no_stack() {
    // Deeper than the unified buffer is large, so the answer is no.
    let Err(Failure::DoesNotFit(why)) = run(&nested(4_000), "plan-memory") else { panic!("fits") };
    assert!(why.contains("it is proved that no plan can fit") && why.contains("more of"), "{why}");
    let text = run(&nested(1_000), "plan-memory").unwrap().text;
    assert_eq!(text.matches("pointer_cast").count(), 1_000);
}

/// A long chain of results in place, carried through many branches.
#[test]
fn length_costs_little() {
    let mut text = format!("func.func @kernel(%gm: {FAR}, %flag: i1) {{\n%b0 = memref.alloc() : {TILE}\n");
    writeln!(text, "hivm.hir.load ins(%gm : {FAR}) outs(%b0 : {TILE})").unwrap();
    for at in 1..400 {
        writeln!(text, "%b{at} = scf.if %flag -> ({TILE}) {{\n%x{at} = memref.alloc() : {TILE}").unwrap();
        writeln!(text, "hivm.hir.vexp ins(%b{} : {TILE}) outs(%x{at} : {TILE})", at - 1).unwrap();
        writeln!(text, "scf.yield %x{at} : {TILE}\n}} else {{\nscf.yield %b{} : {TILE}\n}}", at - 1).unwrap();
    }
    writeln!(text, "hivm.hir.store ins(%b399 : {TILE}) outs(%gm : {FAR})\nreturn\n}}").unwrap();
    match run(&text, "plan-memory") {
        Ok(rewritten) => assert_eq!(rewritten.text.matches("pointer_cast").count(), 400),
        Err(error) => panic!("{error}"),
    }
}

/// An address that is handed out in a loop of blocks, and one that is handed out once.
const HANDED_OUT: &str = r##"
func.func @kernel(%gm: memref<64xf16, #hivm.address_space<gm>>, %flag: i1) -> memref<64xf16, #hivm.address_space<ub>> {
  cf.br ^head
^head:
  %a = memref.alloc() : memref<64xf16, #hivm.address_space<ub>>
  hivm.hir.load ins(%gm : memref<64xf16, #hivm.address_space<gm>>) outs(%a : memref<64xf16, #hivm.address_space<ub>>)
  %p = memref.extract_aligned_pointer_as_index %a : memref<64xf16, #hivm.address_space<ub>> -> index
  cf.cond_br %flag, ^head, ^out
^out:
  return %a : memref<64xf16, #hivm.address_space<ub>>
}
"##;

#[test]
fn an_address_that_is_handed_out_in_a_loop_is_refused() {
    let error = run(HANDED_OUT, "plan-memory").unwrap_err().to_string();
    assert!(error.contains("handed out here") && error.contains("no fixed address will do"), "{error}");
    assert!(run(&HANDED_OUT.replace("%flag, ^head, ^out", "%flag, ^out, ^out"), "plan-memory").is_ok());
    let pointer = HANDED_OUT.lines().find(|line| line.contains("extract_aligned")).unwrap();
    assert!(run(&HANDED_OUT.replace(pointer, ""), "plan-memory").is_ok());
}
