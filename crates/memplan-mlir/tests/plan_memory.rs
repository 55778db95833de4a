//! plan-memory on kernels that look strange and are fine.
#![allow(clippy::unwrap_used, reason = "a test")]

use memplan_mlir::pass::plan_memory::{self, Options};
use memplan_mlir::{Dialects, Document, lower};
use memplan_planner::Request;

/// The new text and the remarks.
fn planned(source: &str) -> Result<(String, Vec<String>), String> {
    let document = Document::read(source, Dialects::builtin()).unwrap();
    let lowered = lower(&document).unwrap();
    let planned = plan_memory::run(
        &document,
        &lowered,
        &Options::default(),
        None,
        None,
        &Request::default(),
        &memplan_program::Apart::default(),
    );
    let planned = planned.map_err(|error| error.to_string())?;
    let remarks = planned.rewrite.remarks.iter().map(|remark| remark.message.clone()).collect();
    Ok((planned.rewrite.edits.apply(source).unwrap(), remarks))
}

const KERNEL: &str = "
!ub = memref<16xf16, #hivm.address_space<ub>>
!gm = memref<16xf16, #hivm.address_space<gm>>
func.func private @vf(%a: !ub) attributes {hivm.vector_function} {
  return
}
func.func @k(%out: !gm) {
  %a = memref.alloc() : !ub
  func.call @vf(%a) {hivm.vector_function} : (!ub) -> ()
  hivm.hir.store ins(%a : !ub) outs(%out : !gm)
  return
}
";

/// Some tools print kernels without the bodies of vector functions: whatever was passed to
/// one may have been filled there.
#[test]
fn an_empty_vector_function_may_have_filled_its_argument() {
    let (text, remarks) = planned(KERNEL).unwrap();
    assert!(text.contains("hivm.hir.pointer_cast"), "{text}");
    assert!(!remarks.iter().any(|remark| remark.contains("read before first write")), "{remarks:?}");
    let without_call: String =
        KERNEL.lines().filter(|line| !line.contains("func.call")).map(|line| format!("{line}\n")).collect();
    let (text, remarks) = planned(&without_call).unwrap();
    assert!(text.contains("hivm.hir.pointer_cast"), "{text}");
    assert!(remarks.iter().any(|remark| remark.contains("read before first write")), "{remarks:?}");
}

/// Types of the kernels below.
const TYPES: &str = "
!ub = memref<?xf16, #hivm.address_space<ub>>
!gm = memref<?xf16, #hivm.address_space<gm>>
!part = memref<?xf16, strided<[1], offset: ?>, #hivm.address_space<gm>>
";

/// Sizes that the branches of a condition, a loop, the dimension of a slice and that of another buffer hand on.
const HANDED_ON: &str = "
func.func @handed_on_sizes(%in: !gm, %out: !gm, %n: index, %p: i1) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c32 = arith.constant 32 : index
  %c64 = arith.constant 64 : index
  %chosen = scf.if %p -> (index) {
    scf.yield %c64 : index
  } else {
    scf.yield %c32 : index
  }
  %last = scf.for %i = %c0 to %n step %c1 iter_args(%length = %c64) -> (index) {
    %a = memref.alloc(%chosen) : !ub
    hivm.hir.load ins(%in : !gm) outs(%a : !ub)
    %b = memref.alloc(%length) : !ub
    hivm.hir.load ins(%in : !gm) outs(%b : !ub)
    %left = arith.subi %n, %i : index
    %most = arith.minsi %left, %c64 : index
    %part = memref.subview %in[%i] [%most] [1] : !gm to !part
    %here = memref.dim %part, %c0 : !part
    %c = memref.alloc(%here) : !ub
    hivm.hir.load ins(%part : !part) outs(%c : !ub)
    %same = memref.dim %c, %c0 : !ub
    %d = memref.alloc(%same) : !ub
    hivm.hir.load ins(%part : !part) outs(%d : !ub)
    hivm.hir.store ins(%a : !ub) outs(%out : !gm)
    hivm.hir.store ins(%b : !ub) outs(%out : !gm)
    hivm.hir.store ins(%c : !ub) outs(%out : !gm)
    hivm.hir.store ins(%d : !ub) outs(%out : !gm)
    %half = arith.divui %length, %c2 : index
    %next = arith.minui %half, %c64 : index
    scf.yield %next : index
  }
  return
}
";

/// Sizes that a loop hands on have the bound of where they start and of what each iteration gives.
#[test]
fn sizes_that_are_handed_on_have_a_bound() {
    let (text, _) = planned(&format!("{TYPES}{HANDED_ON}")).unwrap();
    assert_eq!(text.matches("hivm.hir.pointer_cast").count(), 4, "{text}");
    assert!(!text.contains("memref.alloc"), "{text}");
}

/// The condition bounds what `%before` is now. The size is what it was an iteration ago.
const GROWING: &str = "
func.func @growing_size(%in: !gm, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%length = %c1, %before = %n) -> (index, index) {
    %small = arith.cmpi slt, %before, %c64 : index
    scf.if %small {
      %a = memref.alloc(%length) : !ub
      hivm.hir.load ins(%in : !gm) outs(%a : !ub)
    }
    %less = arith.subi %before, %c1 : index
    scf.yield %before, %less : index, index
  }
  return
}
";

#[test]
fn a_condition_of_another_iteration_is_no_bound() {
    let error = planned(&format!("{TYPES}{GROWING}")).unwrap_err();
    assert!(error.contains("is only known when the kernel runs"), "{error}");
}

/// As an unsigned number `-56 : i8` is 200. It is no bound where an op takes its operands as unsigned numbers.
#[test]
fn negative_constants_bound_no_unsigned_numbers() {
    for size in [
        "%u = arith.extui %c : i8 to i64",
        "%v = arith.constant 1 : i8\n %w = arith.shrui %c, %v : i8\n %u = arith.extui %w : i8 to i64",
        "%v = arith.constant 100 : i8\n %w = arith.maxui %c, %v : i8\n %u = arith.extui %w : i8 to i64",
    ] {
        let kernel = format!(
            "func.func @k(%in: !gm) {{\n %c = arith.constant -56 : i8\n {size}\n %more = arith.constant 100 : i64\n \
             %sum = arith.addi %u, %more : i64\n %size = arith.index_cast %sum : i64 to index\n \
             %a = memref.alloc(%size) : !ub\n hivm.hir.load ins(%in : !gm) outs(%a : !ub)\n return\n}}\n"
        );
        let error = planned(&format!("{TYPES}{kernel}")).map_or_else(|error| error, |(text, _)| text);
        assert!(error.contains("is only known when the kernel runs"), "{size}: {error}");
    }
}

/// Two branches whose buffers have the same name and move in front of both branches, so that one gets a new name.
const SAME_NAMES: &str = "
!ub = memref<16xf16, #hivm.address_space<ub>>
!gm = memref<16xf16, #hivm.address_space<gm>>
func.func @k(%in: !gm, %out: !gm, %n: index, %p: i1) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    scf.if %p {
      %a = memref.alloc() : !ub
      annotation.mark %a {hivm.multi_buffer = 2 : i32, tag = \"%a\"} : !ub
      hivm.hir.load ins(%in : !gm) outs(%a : !ub) {tag = \"%a, %a\"}
      hivm.hir.store ins(%a : !ub) outs(%out : !gm)
    } else {
      %a = memref.alloc() : !ub
      annotation.mark %a {hivm.multi_buffer = 2 : i32, tag = \"%a\"} : !ub
      hivm.hir.load ins(%in : !gm) outs(%a : !ub) {tag = \"%a, %a\"}
      hivm.hir.store ins(%a : !ub) outs(%out : !gm)
    }
  }
  return
}
";

/// A string attribute that looks like the name of a value stays as it is when the value gets a new name.
#[test]
fn new_names_leave_strings_alone() {
    let (text, _) = planned(SAME_NAMES).unwrap();
    assert!(text.contains("outs(%a_0 : !ub)"), "{text}");
    for string in ["\"%a\"", "\"%a, %a\""] {
        assert_eq!(text.matches(string).count(), 2, "{string} in\n{text}");
    }
}

/// Inside of the outer loop, blocks go round: `%a` is read again after `%C` was written.
const ROUND_IN_A_REGION: &str = "
!ub = memref<64xf32, #hivm.address_space<ub>>
!gm = memref<64xf32, #hivm.address_space<gm>>
func.func @k(%in: !gm, %out: !gm, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %A = memref.alloc() : !ub
  hivm.hir.load ins(%in : !gm) outs(%A : !ub)
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%a = %A) -> (!ub) {
    %C = memref.alloc() : !ub
    scf.execute_region {
      cf.br ^bb1(%c0 : index)
    ^bb1(%k: index):
      hivm.hir.vexp ins(%a : !ub) outs(%C : !ub)
      %k1 = arith.addi %k, %c1 : index
      %go = arith.cmpi slt, %k1, %n : index
      cf.cond_br %go, ^bb1(%k1 : index), ^bb2
    ^bb2:
      scf.yield
    }
    scf.yield %C : !ub
  }
  hivm.hir.store ins(%r : !ub) outs(%out : !gm)
  return
}
";

/// A buffer that blocks of a nested region read again and again is not overwritten in place. So no address serves
/// both `%A` and `%C`: the kernel is refused, or they lie apart.
#[test]
fn blocks_that_go_round_in_a_nested_region_read_again() {
    if let Ok((text, _)) = planned(ROUND_IN_A_REGION) {
        let addresses: Vec<&str> = text.lines().filter(|line| line.contains("pointer_cast")).collect();
        assert_eq!(addresses.len(), 2, "{text}");
        let operands = |line: &str| line.split("pointer_cast(").nth(1).unwrap().split(')').next().unwrap().to_owned();
        let (a, c) = (operands(addresses[0]), operands(addresses[1]));
        assert!(c.split(", ").all(|address| !a.split(", ").any(|other| other == address)), "{text}");
    }
}
