//! The original's mistakes, made on purpose.
//!
//! Each program below is one that the original of the merge-alloc document
//! misjudges, with the placement it chooses. The dataflow check must refuse the
//! placement, and where one thread is enough to see the damage, running the
//! program with it must print something else. The placement our pass chooses
//! for the same program is fine on both counts.

use std::fmt::Write as _;

use memplan_core::{Bytes, Id, Placement};
use memplan_mlir::{Dialects, Document, lower};
use memplan_program::SiteId;
use memplan_verify::dataflow::{self, SitePlan};

use crate::machine;

/// A program and the original's placement.
struct Defect {
    name: &'static str,
    source: String,
    /// Offset and strides of each allocation, in the order of the text.
    placement: Vec<(u64, Vec<u64>)>,
    /// Ops that compute the offset where it is not constant: the name of the
    /// result is that of the allocation with `_o`.
    computed: Vec<(usize, &'static str)>,
    /// Whether a sequential run shows the damage.
    runs: bool,
}

impl Defect {
    fn new(name: &'static str, source: String, offsets: &[u64]) -> Defect {
        let placement = offsets.iter().map(|&offset| (offset, Vec::new())).collect();
        Defect { name, source, placement, computed: Vec::new(), runs: true }
    }
}

const INTS: &str = "memref<64xi32>";

fn constants() -> String {
    (0..9).fold(String::new(), |text, n| text + &format!("  %c{n} = arith.constant {n} : index\n"))
        + "  %c64 = arith.constant 64 : index\n  %true = arith.constant true\n"
        + "  %three = arith.constant 3 : i32\n  %five = arith.constant 5 : i32\n"
}

fn function(body: &str) -> String {
    format!("func.func @p0(%acc: memref<1xi64>) {{\n  // arena\n{}{body}  return\n}}\n{}", constants(), helpers())
}

fn fill(value: &str, buffer: &str) -> String {
    format!("  linalg.fill ins(%{value} : i32) outs({buffer} : {INTS})\n")
}

fn sum(buffer: &str) -> String {
    format!("  func.call @p_sum(%acc, {buffer}) : (memref<1xi64>, {INTS}) -> ()\n")
}

/// Folds a buffer into the checksum.
fn helpers() -> String {
    format!(
        "func.func @p_sum(%acc: memref<1xi64>, %m: {INTS}) {{\n{}{}  return\n}}\n",
        constants(),
        sum_of("%m", INTS, "i32")
    )
}

fn sum_of(buffer: &str, ty: &str, element: &str) -> String {
    let (indices, open, close) = if ty.contains("8x8") {
        ("%i, %j", "  scf.for %i = %c0 to %c8 step %c1 {\n  scf.for %j = %c0 to %c8 step %c1 {\n", "  }\n  }\n")
    } else {
        ("%i", "  scf.for %i = %c0 to %c64 step %c1 {\n", "  }\n")
    };
    let mut text = open.to_owned();
    writeln!(text, "    %e = memref.load {buffer}[{indices}] : {ty}").unwrap();
    writeln!(text, "    %w = arith.extsi %e : {element} to i64").unwrap();
    text += "    %old = memref.load %acc[%c0] : memref<1xi64>\n    %k = arith.constant 31 : i64\n";
    text += "    %scaled = arith.muli %old, %k : i64\n    %new = arith.addi %scaled, %w : i64\n";
    text += "    memref.store %new, %acc[%c0] : memref<1xi64>\n";
    text + close
}

/// Accesses charged to the innermost scope only: buffers of two inner loops of
/// one outer loop look alive one after the other.
fn inner_loops(inner: &str) -> String {
    let part = |value: &str, buffer: &str| {
        format!("  scf.if %first {{\n{}  }}\n  {inner} {{\n{}  }}\n", fill(value, buffer), sum(buffer))
    };
    function(&format!(
        "  %a = memref.alloc() : {INTS}\n  %b = memref.alloc() : {INTS}\n  scf.for %o = %c0 to %c3 step %c1 {{\n  \
         %first = arith.cmpi eq, %o, %c0 : index\n{}{}  }}\n",
        part("three", "%a"),
        part("five", "%b")
    ))
}

/// Scope, size and index of a hoisted buffer that disagree: 256 bytes are
/// reserved for what reaches 2048, and the next buffer begins at 256.
fn hoisted_across_a_loop() -> Defect {
    let body = format!(
        "  %b = memref.alloc() : {INTS}\n{}  scf.forall (%i) in (8) {{\n  scf.for %s = %c0 to %c2 step %c1 {{\n  \
         scf.forall (%j) in (4) {{\n  %a = memref.alloc() : memref<16xi32>\n  scf.forall (%k) in (2) {{\n  \
         memref.store %three, %a[%k] : memref<16xi32>\n  }}\n  }}\n  }}\n  }}\n{}",
        fill("five", "%b"),
        sum("%b")
    );
    let offset =
        "  %f = arith.muli %i, %c4 : index\n  %n = arith.addi %f, %j : index\n  %a_o = arith.muli %n, %c64 : index\n";
    Defect {
        placement: vec![(256, Vec::new()), (0, vec![64, 256])],
        computed: vec![(1, offset)],
        ..Defect::new("B2", function(&body), &[])
    }
}

/// Per-iteration slices laid out buffer by buffer although iterations run at once.
fn slices_of_two_phases() -> Defect {
    let phase = |trips: usize, name: &str, ty: &str| {
        format!(
            "  scf.forall (%j) in ({trips}) {{\n  {name} = memref.alloc() : {ty}\n  linalg.fill ins(%three : i32) outs({name} : {ty})\n  \
             scf.forall (%k) in (4) {{\n  %e = memref.load {name}[%k] : {ty}\n  memref.store %e, %out[%k] : {INTS}\n  }}\n  }}\n"
        )
    };
    let body = format!(
        "  %out = memref.alloc() : {INTS}\n  scf.forall (%i) in (16) {{\n{}{}  }}\n",
        phase(4, "%a", "memref<4xi32>"),
        phase(8, "%b", "memref<8xi32>")
    );
    Defect {
        placement: vec![(4096, Vec::new()), (0, vec![16]), (0, vec![32])],
        runs: false,
        ..Defect::new("B3", function(&body), &[])
    }
}

/// A transpose taken for a fresh buffer.
fn behind_a_transpose() -> Defect {
    let (square, turned) = ("memref<8x8xi32>", "memref<8x8xi32, strided<[1, 8]>>");
    let body = format!(
        "  %a = memref.alloc() : {square}\n  linalg.fill ins(%three : i32) outs(%a : {square})\n  \
         %t = memref.transpose %a (i, j) -> (j, i) : {square} to {turned}\n  %b = memref.alloc() : {INTS}\n{}{}{}",
        fill("five", "%b"),
        sum("%b"),
        sum_of("%t", turned, "i32")
    );
    Defect::new("B5", function(&body), &[0, 0])
}

/// A buffer returned through a type without rank.
fn returned_without_rank() -> Defect {
    let maker = format!(
        "func.func @p_make(%acc: memref<1xi64>) -> memref<*xi32> {{\n  // arena\n{}  %a = memref.alloc() : {INTS}\n{}  \
         %u = memref.cast %a : {INTS} to memref<*xi32>\n  %b = memref.alloc() : {INTS}\n{}{}  return %u : memref<*xi32>\n}}\n",
        constants(),
        fill("three", "%a"),
        fill("five", "%b"),
        sum("%b")
    );
    let user = format!(
        "func.func @p0(%acc: memref<1xi64>) {{\n  %u = func.call @p_make(%acc) : (memref<1xi64>) -> memref<*xi32>\n  \
         %m = memref.cast %u : memref<*xi32> to {INTS}\n{}  return\n}}\n",
        sum("%m")
    );
    Defect::new("B6", maker + &user + &helpers(), &[0, 0])
}

/// Elements of twelve bits that were given one byte each.
fn twelve_bits() -> Defect {
    let ty = "memref<64xi12>";
    let fill = |value: &str, buffer: &str| format!("  linalg.fill ins(%{value} : i12) outs({buffer} : {ty})\n");
    let body = format!(
        "  %x = arith.constant 700 : i12\n  %y = arith.constant 900 : i12\n  %a = memref.alloc() : {ty}\n  \
         %b = memref.alloc() : {ty}\n{}{}{}{}",
        fill("x", "%a"),
        fill("y", "%b"),
        sum_of("%a", ty, "i12"),
        sum_of("%b", ty, "i12")
    );
    Defect::new("B8", function(&body), &[0, 64])
}

/// The body of `async.execute` taken to run where it stands.
fn asynchronous() -> Defect {
    let body = format!(
        "  %a = memref.alloc() : {INTS}\n  %b = memref.alloc() : {INTS}\n{}  %t = async.execute {{\n{}  async.yield\n  }}\n{}{}  \
         async.await %t : !async.token\n",
        fill("three", "%a"),
        sum("%a"),
        fill("five", "%b"),
        sum("%b")
    );
    Defect { runs: false, ..Defect::new("B11", function(&body), &[0, 0]) }
}

/// Blocks of a region numbered in the order of the text, back edges or not.
fn back_edge() -> Defect {
    let body = format!(
        "  scf.execute_region {{\n  %a = memref.alloc() : {INTS}\n  %b = memref.alloc() : {INTS}\n{}  cf.br ^head(%c0 : index)\n\
         ^head(%n: index):\n{}  cf.br ^body\n^body:\n{}{}  %m = arith.addi %n, %c1 : index\n  %more = arith.cmpi ult, %m, %c3 : index\n  \
         cf.cond_br %more, ^head(%m : index), ^done\n^done:\n  scf.yield\n  }}\n",
        fill("three", "%a"),
        sum("%a"),
        fill("five", "%b"),
        sum("%b")
    );
    Defect::new("B12", function(&body), &[0, 0])
}

fn defects() -> Vec<Defect> {
    vec![
        Defect::new("B1, loops", inner_loops("scf.for %j = %c0 to %c2 step %c1"), &[0, 0]),
        Defect::new("B1, branches", inner_loops("scf.if %true"), &[0, 0]),
        hoisted_across_a_loop(),
        slices_of_two_phases(),
        behind_a_transpose(),
        returned_without_rank(),
        twelve_bits(),
        asynchronous(),
        back_edge(),
    ]
}

/// The text with each allocation a view at its offset of one arena.
fn placed(defect: &Defect) -> String {
    const ARENA: &str = "memref<8192xi8>";
    let mut text = String::new();
    let mut number = 0;
    for line in defect.source.lines() {
        if line.trim() == "// arena" {
            writeln!(text, "  %arena = memref.alloc() {{alignment = 64 : i64}} : {ARENA}").unwrap();
        } else if let Some((name, ty)) = line.trim().split_once(" = memref.alloc() : ") {
            match defect.computed.iter().find(|(index, _)| *index == number) {
                Some((_, lines)) => text += lines,
                None => {
                    let offset = defect.placement[number].0;
                    writeln!(text, "  {name}_o = arith.constant {offset} : index").unwrap();
                }
            }
            writeln!(text, "  {name} = memref.view %arena[{name}_o][] : {ARENA} to {ty}").unwrap();
            number += 1;
        } else {
            text += line;
            text.push('\n');
        }
    }
    text
}

#[test]
fn the_dataflow_check_refuses_the_originals_placements() {
    for defect in defects() {
        let document = Document::read(&defect.source, Dialects::builtin())
            .unwrap_or_else(|error| panic!("{}: {error}\n{}", defect.name, defect.source));
        let lowered = lower(&document).unwrap();
        let program = &lowered.program;
        assert_eq!(program.sites().len(), defect.placement.len(), "{}", defect.name);
        let mut plan = SitePlan::empty(program);
        for (index, (offset, strides)) in defect.placement.iter().enumerate() {
            let site = SiteId::from_index(index);
            let at = Placement::at(program.site(site).space, Bytes(*offset));
            let strides = strides.iter().map(|&stride| Bytes(stride)).collect();
            plan.placements[site] = Some(Placement { strides, ..at });
        }
        assert!(!dataflow::check(program, &plan).is_empty(), "{} is not caught", defect.name);
        // Ours; `rewrite` runs the check.
        crate::rewrite(&defect.source, "merge-alloc", None);
    }
}

#[test]
fn running_shows_the_originals_placements_wrong_and_ours_right() {
    if !machine::is_there() {
        return;
    }
    for defect in defects().iter().filter(|defect| defect.runs) {
        let ours = crate::rewrite(&defect.source, "merge-alloc", None).text;
        let versions = [defect.source.clone(), ours, placed(defect)];
        let printed = machine::run(&crate::module(&versions, &[0]))
            .unwrap_or_else(|error| panic!("{}: {error}\n{}", defect.name, placed(defect)));
        let sums: Vec<&str> = printed.lines().collect();
        assert_eq!(sums[0], sums[1], "{}: ours", defect.name);
        assert_ne!(sums[0], sums[2], "{}: the original's placement goes unnoticed", defect.name);
    }
}
