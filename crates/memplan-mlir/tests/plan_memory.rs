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
