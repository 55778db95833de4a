//! Buffers that no fixed address serves keep their allocations, and a note says why.

use crate::kernels::{addresses, run};

/// Each buffer that has addresses, by name.
type Addresses = Vec<(String, Vec<u64>)>;

/// What the pass makes of a kernel: the addresses, the names that are still allocated, the notes.
fn planned(text: &str) -> (Addresses, Vec<String>, String) {
    let rewritten = run(text, "plan-memory").unwrap_or_else(|error| panic!("{error}\n{text}"));
    let allocated = rewritten.text.lines().filter_map(|line| line.trim().split_once(" = memref.alloc()"));
    let allocated = allocated.map(|(name, _)| name.to_owned()).collect();
    (addresses(&rewritten.text), allocated, rewritten.notes.join("\n"))
}

/// Every iteration has a `%a` of its own, perhaps at the same time as the others.
fn in_loop(head: &str, tail: &str) -> String {
    format!(
        "!u = memref<32xf16, #hivm.address_space<ub>>
!g = memref<32xf16, #hivm.address_space<gm>>
func.func @k(%in: !g, %out: !g, %n: index) {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %b = memref.alloc() : !u
  hivm.hir.load ins(%in : !g) outs(%b : !u)
  {head} {{
    %a = memref.alloc() : !u
    hivm.hir.vadd ins(%b, %b : !u, !u) outs(%a : !u)
    hivm.hir.store ins(%a : !u) outs(%out : !g)
    {tail}
  }}
  return
}}
"
    )
}

#[test]
fn buffers_of_parallel_iterations() {
    for (head, tail) in [
        ("scf.forall (%i) in (4)", ""),
        ("scf.parallel (%i) = (%c0) to (%n) step (%c1)", "scf.reduce"),
        ("scf.forall (%i, %j) in (%n, 4)", ""),
    ] {
        let (addresses, allocated, notes) = planned(&in_loop(head, tail));
        assert_eq!(addresses, [("%b".to_owned(), vec![0])], "{head}");
        assert_eq!(allocated, ["%a"], "{head}");
        assert!(notes.contains("@k/%a keeps its allocation: several instances exist at once"), "{notes}");
    }
    let (addresses, allocated, _) = planned(&in_loop("scf.for %i = %c0 to %n step %c1", ""));
    assert_eq!((addresses.len(), allocated.len()), (2, 0), "one iteration after the other");
}

/// A delay line: behind the loop two instances of `%t` are in use, and one of them is written.
fn delay_line(last: &str) -> String {
    format!(
        "!u = memref<32xf16, #hivm.address_space<ub>>
!g = memref<32xf16, #hivm.address_space<gm>>
func.func @k(%in: !g, %out: !g, %n: index) {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %a = memref.alloc() : !u
  hivm.hir.load ins(%in : !g) outs(%a : !u)
  %f:2 = scf.for %i = %c0 to %n step %c1 iter_args(%x = %a, %y = %a) -> (!u, !u) {{
    %t = memref.alloc() : !u
    hivm.hir.load ins(%in : !g) outs(%t : !u)
    scf.yield %y, %t : !u, !u
  }}
  {last}
  hivm.hir.store ins(%f#0 : !u) outs(%out : !g)
  return
}}
"
    )
}

#[test]
fn instances_that_a_loop_hands_out() {
    let (addresses, allocated, _) = planned(&delay_line("hivm.hir.store ins(%f#1 : !u) outs(%out : !g)"));
    assert_eq!(allocated, Vec::<String>::new(), "both are only read: the slots of %t keep them apart");
    assert_eq!(addresses.iter().map(|(_, list)| list.len()).collect::<Vec<_>>(), [1, 3]);
    let (addresses, allocated, notes) = planned(&delay_line("hivm.hir.vexp ins(%f#1 : !u) outs(%f#1 : !u)"));
    assert_eq!(allocated, ["%t"]);
    assert_eq!(addresses, [("%a".to_owned(), vec![0])]);
    assert!(notes.contains("@k/%t keeps its allocation: a loop hands out several instances"), "{notes}");
}

/// A module inside of a kernel sees none of the kernel's constants.
#[test]
fn buffers_of_a_module_inside_of_a_kernel() {
    let kernel = "func.func @k() {
  builtin.module {
    %a = memref.alloc() : memref<32xf16, #hivm.address_space<ub>>
    hivm.hir.vexp ins(%a : memref<32xf16, #hivm.address_space<ub>>) outs(%a : memref<32xf16, #hivm.address_space<ub>>)
  }
  return
}
";
    let (addresses, allocated, notes) = planned(kernel);
    assert_eq!((addresses.len(), allocated), (0, vec!["%a".to_owned()]));
    assert!(notes.contains("@k/%a keeps its allocation: it is in a module of its own"), "{notes}");
}
