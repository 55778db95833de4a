//! The original's mistakes, made on purpose.
//!
//! Each program below is one that the original of the merge-alloc document
//! misjudges, with the placement it chooses. The dataflow check must refuse the
//! placement, and running the program with it must print something else or
//! crash. The placement our pass chooses for the same program is fine on both
//! counts.
//!
//! Two mistakes need two threads to show. Their programs run on the thread
//! pool of MLIR's async runtime, and a flag makes the moment that matters
//! certain: the reader has written its buffer, tells the other thread, and
//! waits for it to write, too, before it reads. Waiting is bounded, so the
//! programs end under every schedule, and since nobody but the flag is shared,
//! they print the same under every schedule, too, unless buffers overlap that
//! must not.

use std::fmt::Write as _;

use memplan_core::{Bytes, Id, Placement};
use memplan_mlir::{Dialects, Document, lower};
use memplan_program::SiteId;
use memplan_verify::dataflow::{self, SitePlan};

use crate::machine;

/// A program and the original's placement.
pub(crate) struct Defect {
    name: &'static str,
    source: String,
    /// Offset and strides of each allocation, in the order of the text.
    placement: Vec<(u64, Vec<u64>)>,
    /// Ops that compute the offset where it is not constant: the name of the
    /// result is that of the allocation with `_o`.
    computed: Vec<(usize, &'static str)>,
    /// Whether the loop over `%i` runs its iterations at the same time.
    concurrent: bool,
    /// Whether the placement itself is wrong, so that the check sees it.
    placed_wrong: bool,
}

impl Defect {
    pub(crate) fn new(name: &'static str, source: String, offsets: &[u64]) -> Defect {
        let placement = offsets.iter().map(|&offset| (offset, Vec::new())).collect();
        Defect { name, source, placement, computed: Vec::new(), concurrent: false, placed_wrong: true }
    }
}

pub(crate) const INTS: &str = "memref<64xi32>";

fn constants() -> String {
    (0..9).fold(String::new(), |text, n| text + &format!("  %c{n} = arith.constant {n} : index\n"))
        + "  %c64 = arith.constant 64 : index\n  %true = arith.constant true\n"
        + "  %three = arith.constant 3 : i32\n  %five = arith.constant 5 : i32\n"
        + "  %down = arith.constant 0 : i32\n"
}

pub(crate) fn function(body: &str) -> String {
    format!("func.func @p0(%acc: memref<1xi64>) {{\n  // arena\n{}{body}  return\n}}\n{}", constants(), helpers())
}

pub(crate) fn fill(value: &str, buffer: &str) -> String {
    format!("  linalg.fill ins(%{value} : i32) outs({buffer} : {INTS})\n")
}

pub(crate) fn sum(buffer: &str) -> String {
    format!("  func.call @p_sum(%acc, {buffer}) : (memref<1xi64>, {INTS}) -> ()\n")
}

const FLAG: &str = "memref<1xi32>";

/// A flag that is down.
pub(crate) fn flag(name: &str) -> String {
    format!("  {name} = memref.alloc() : {FLAG}\n  linalg.fill ins(%down : i32) outs({name} : {FLAG})\n")
}

pub(crate) fn wait(flag: &str) -> String {
    format!("  func.call @p_wait({flag}) : ({FLAG}) -> ()\n")
}

pub(crate) fn signal(flag: &str) -> String {
    format!("  func.call @p_signal({flag}) : ({FLAG}) -> ()\n")
}

/// Waits for a flag, but not for ever, and raises one.
pub(crate) const FLAGS: &str = "
func.func @p_wait(%flag: memref<1xi32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %most = arith.constant 200000000 : index
  %down = arith.constant 0 : i32
  %rounds = scf.while (%n = %c0) : (index) -> index {
    %seen = memref.atomic_rmw addi %down, %flag[%c0] : (i32, memref<1xi32>) -> i32
    %is_down = arith.cmpi eq, %seen, %down : i32
    %patient = arith.cmpi ult, %n, %most : index
    %again = arith.andi %is_down, %patient : i1
    scf.condition(%again) %n : index
  } do {
  ^bb0(%n: index):
    %next = arith.addi %n, %c1 : index
    scf.yield %next : index
  }
  return
}
func.func @p_signal(%flag: memref<1xi32>) {
  %c0 = arith.constant 0 : index
  %up = arith.constant 1 : i32
  %old = memref.atomic_rmw assign %up, %flag[%c0] : (i32, memref<1xi32>) -> i32
  return
}
";

/// Folds a buffer into the checksum; flags.
fn helpers() -> String {
    format!(
        "func.func @p_sum(%acc: memref<1xi64>, %m: {INTS}) {{\n{}{}  return\n}}\n{FLAGS}",
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

/// Per-iteration slices laid out buffer by buffer although iterations run at
/// once: `%b` of iteration 0 takes 0..32, `%a` of iteration 1 takes 16..32.
///
/// Iteration 1 writes `%a` and waits until iteration 0, which is one phase
/// ahead, has written `%b`; then it reads `%a`.
fn slices_of_two_phases() -> Defect {
    let phase = |name: &str, ty: &str, value: &str, behind: &str, column: &str| {
        format!(
            "  scf.forall (%j) in (1) {{\n  {name} = memref.alloc() : {ty}\n  linalg.fill ins(%{value} : i32) outs({name} : {ty})\n{behind}  \
             scf.forall (%k) in (4) {{\n  %e = memref.load {name}[%k] : {ty}\n  %row = arith.muli %i, %c8 : index\n  \
             %col = arith.addi %k, %{column} : index\n  %at = arith.addi %row, %col : index\n  memref.store %e, %out[%at] : {INTS}\n  }}\n  }}\n"
        )
    };
    let body = format!(
        "  %out = memref.alloc() : {INTS}\n{}{}{}  scf.forall (%i) in (2) {{\n  %ahead = arith.cmpi eq, %i, %c0 : index\n  \
         %behind = arith.cmpi eq, %i, %c1 : index\n{}  scf.if %ahead {{\n{}  }}\n{}  }}\n{}",
        fill("three", "%out"),
        flag("%one_wrote"),
        flag("%zero_wrote"),
        phase(
            "%a",
            "memref<4xi32>",
            "three",
            &format!("  scf.if %behind {{\n{}{}  }}\n", signal("%one_wrote"), wait("%zero_wrote")),
            "c0"
        ),
        wait("%one_wrote"),
        phase("%b", "memref<8xi32>", "five", &format!("  scf.if %ahead {{\n{}  }}\n", signal("%zero_wrote")), "c4"),
        sum("%out")
    );
    let offset = |name: &'static str| match name {
        "a" => {
            "  %ai = arith.addi %i, %j : index\n  %c16 = arith.constant 16 : index\n  %a_o = arith.muli %ai, %c16 : index\n"
        }
        _ => {
            "  %bi = arith.addi %i, %j : index\n  %c32 = arith.constant 32 : index\n  %b_o = arith.muli %bi, %c32 : index\n"
        }
    };
    let alone = |offset| (offset, Vec::new());
    Defect {
        placement: vec![alone(4096), alone(2048), alone(2112), (0, vec![16, 16]), (0, vec![32, 32])],
        computed: vec![(3, offset("a")), (4, offset("b"))],
        concurrent: true,
        ..Defect::new("B3", function(&body), &[])
    }
}

/// Slices at multiples of the buffer's size, not of its alignment: 24 where
/// 16 was asked for, and a store of a vector relies on 16.
fn slices_off_their_alignment() -> Defect {
    let ty = "memref<6xi32>";
    let body = format!(
        "  %out = memref.alloc() : {INTS}\n{}  %v = vector.broadcast %five : i32 to vector<4xi32>\n  scf.forall (%i) in (2) {{\n  \
         %a = memref.alloc() {{alignment = 16 : i64}} : {ty}\n  vector.store %v, %a[%c0] {{alignment = 16 : i64}} : {ty}, vector<4xi32>\n  \
         scf.forall (%k) in (4) {{\n  %e = memref.load %a[%k] : {ty}\n  %row = arith.muli %i, %c4 : index\n  \
         %at = arith.addi %row, %k : index\n  memref.store %e, %out[%at] : {INTS}\n  }}\n  }}\n{}",
        fill("three", "%out"),
        sum("%out")
    );
    let offset = "  %c24 = arith.constant 24 : index\n  %a_o = arith.muli %i, %c24 : index\n";
    Defect {
        placement: vec![(4096, Vec::new()), (0, vec![24])],
        computed: vec![(1, offset)],
        ..Defect::new("B4", function(&body), &[])
    }
}

/// A deallocation that stays although what it frees is a view: it frees
/// everybody's memory, and the next allocation takes it. The placement is fine;
/// only running shows it.
fn freed_view() -> Defect {
    let dynamic = "memref<?xi32>";
    let body = format!(
        "  %a = memref.alloc() : {INTS}\n  %b = memref.alloc() : {INTS}\n{}{}{}  memref.dealloc %a : {INTS}\n  \
         %n = arith.constant 2064 : index\n  %d = memref.alloc(%n) : {dynamic}\n  \
         linalg.fill ins(%three : i32) outs(%d : {dynamic})\n{}",
        fill("three", "%a"),
        fill("five", "%b"),
        sum("%a"),
        sum("%b")
    );
    Defect { placed_wrong: false, ..Defect::new("B10", function(&body), &[0, 256]) }
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
        "  %a = memref.alloc() : {INTS}\n  %b = memref.alloc() : {INTS}\n{}{}  %t = async.execute {{\n{}{}  async.yield\n  }}\n{}{}  \
         async.await %t : !async.token\n{}",
        flag("%written"),
        fill("three", "%a"),
        wait("%written"),
        sum("%a"),
        fill("five", "%b"),
        signal("%written"),
        sum("%b")
    );
    Defect::new("B11", function(&body), &[0, 0, 1024])
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
    let mut defects = vec![
        Defect::new("B1, loops", inner_loops("scf.for %j = %c0 to %c2 step %c1"), &[0, 0]),
        Defect::new("B1, branches", inner_loops("scf.if %true"), &[0, 0]),
        hoisted_across_a_loop(),
        slices_of_two_phases(),
        slices_off_their_alignment(),
        behind_a_transpose(),
        returned_without_rank(),
        twelve_bits(),
        freed_view(),
        asynchronous(),
        back_edge(),
    ];
    defects.extend(crate::strangers::defects());
    defects
}

/// The text with each allocation a view at its offset of one arena.
fn placed(defect: &Defect) -> String {
    const ARENA: &str = "memref<8192xi8>";
    let mut text = String::new();
    let mut number = 0;
    for line in defect.source.lines() {
        if line.trim() == "// arena" {
            writeln!(text, "  %arena = memref.alloc() {{alignment = 64 : i64}} : {ARENA}").unwrap();
        } else if let Some((name, rest)) = line.trim().split_once(" = memref.alloc() ")
            && let Some((_, ty)) = rest.rsplit_once(": ")
        {
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
        assert!(program.sites().len() >= defect.placement.len(), "{}", defect.name);
        let mut plan = SitePlan::empty(program);
        for (index, (offset, strides)) in defect.placement.iter().enumerate() {
            let site = SiteId::from_index(index);
            let at = Placement::at(program.site(site).space, Bytes(*offset));
            let strides = strides.iter().map(|&stride| Bytes(stride)).collect();
            plan.placements[site] = Some(Placement { strides, ..at });
        }
        let is_caught = !dataflow::check(program, &plan).is_empty();
        assert_eq!(is_caught, defect.placed_wrong, "{}", defect.name);
        // Ours; `rewrite` runs the check.
        crate::rewrite(&defect.source, "merge-alloc", None);
    }
}

#[test]
fn running_shows_the_originals_placements_wrong_and_ours_right() {
    if !machine::is_there() {
        return;
    }
    for defect in defects() {
        let ours = crate::rewrite(&defect.source, "merge-alloc", None).text;
        let right =
            defect.run(&[defect.source.clone(), ours]).unwrap_or_else(|error| panic!("{}: {error}", defect.name));
        let sums: Vec<&str> = right.lines().collect();
        assert_eq!(sums[0], sums[1], "{}: ours", defect.name);
        match defect.run(&[placed(&defect)]) {
            Ok(wrong) => assert_ne!(sums[0], wrong.trim(), "{}: the original's goes unnoticed", defect.name),
            // A crash must be one of the program, not of what lowers it.
            Err(error) => assert!(error.starts_with("mlir-runner-22: signal: 11"), "{}: {error}", defect.name),
        }
    }
}

impl Defect {
    fn run(&self, versions: &[String]) -> Result<String, String> {
        let module = crate::module(versions, &[0]);
        if self.concurrent {
            let parallel = "scf.parallel (%i) = (%c0) to (%c2) step (%c1) {";
            return machine::run_concurrently(&module.replace("scf.forall (%i) in (2) {", parallel));
        }
        machine::run(&module)
    }
}
