//! Inputs that once ended in "this is a bug in memplan", most of them mutants of good ones. Each is now refused at a
//! place, or comes out right.

use memplan::driver::How;
use memplan::pass::{PassSpec, find};
use memplan::source::Source;

/// The rewritten text, or the words of the refusal. A plan that a check rejects is neither.
fn run(spec: &str, name: &str, text: &str) -> Result<String, String> {
    let spec: PassSpec = spec.parse().unwrap();
    let source = Source::new(name, text.as_bytes());
    let outcome = find(&spec.name).unwrap().run(&source, &spec.options, &How::default().strict());
    match outcome {
        Ok(rewritten) => Ok(rewritten.text().to_owned()),
        Err(error @ memplan::driver::Failure::Unsound(_)) => panic!("{spec:?}: {error}\n{text}"),
        Err(error) => Err(error.to_string()),
    }
}

/// The form has named the arguments of the first block, so a label leaves that block without ops: nowhere could the
/// merged memory be allocated.
#[test]
fn a_label_behind_named_arguments() {
    let text = "func.func @f(%n: index) {\n^bb0(%x: f32):\n  %0 = memref.alloc() : memref<4xf32>\n  \
                memref.dealloc %0 : memref<4xf32>\n  return\n}\n";
    let refused = run("merge-alloc", "buffers.mlir", text).unwrap_err();
    assert!(refused.contains("expected an op"), "{refused}");
}

/// The generic form can have a first block without ops. What has no home keeps its allocation and its deallocation.
#[test]
fn a_first_block_without_ops() {
    let text = "\"func.func\"() <{function_type = () -> (), sym_name = \"f\"}> ({\n^bb0:\n^bb1:\n  \
                %0 = \"memref.alloc\"() <{operandSegmentSizes = array<i32: 0, 0>}> : () -> memref<4xf32>\n  \
                \"memref.dealloc\"(%0) : (memref<4xf32>) -> ()\n  \"func.return\"() : () -> ()\n}) : () -> ()\n";
    assert_eq!(run("merge-alloc", "buffers.mlir", text).unwrap(), text);
}

/// A loop that holds nothing but allocations gets a statement that does nothing.
#[test]
fn a_loop_with_nothing_but_unused_buffers() {
    let text = "from tvm.script import tirx as T\n\n@T.prim_func(s_tir=True)\n\
                def main(E: T.Buffer((8,), \"float32\")):\n    for p in T.unroll(2):\n        for q in range(4):\n            \
                A = T.alloc_buffer((8,))\n            B = T.alloc_buffer((8,))\n";
    for spec in ["storage-rewrite", "storage-rewrite{compat}", "storage-rewrite{plan=first-fit}"] {
        let rewritten = run(spec, "function.py", text).unwrap();
        assert!(rewritten.contains("for q in range(4):\n            T.evaluate(0)"), "{rewritten}");
    }
}

/// Ops that define a value, although their names are those of ops that define none: they stay where they are.
#[test]
fn ops_with_results_that_they_should_not_have() {
    let mark = "func.func @f(%in: memref<32xf16, #hivm.address_space<gm>>) {\n  \
                %a = annotation.mark() : memref<32xf16, #hivm.address_space<ub>>\n  \
                hivm.hir.load ins(%in : memref<32xf16, #hivm.address_space<gm>>) outs(%a : memref<32xf16, #hivm.address_space<ub>>)\n  \
                %b = memref.alloc() : memref<32xf16, #hivm.address_space<ub>>\n  \
                hivm.hir.load ins(%in : memref<32xf16, #hivm.address_space<gm>>) outs(%b : memref<32xf16, #hivm.address_space<ub>>)\n  return\n}\n";
    assert!(run("plan-memory", "kernel.mlir", mark).is_ok_and(|text| text.contains("%a = annotation.mark()")));
    let dealloc = "func.func @f(%a: memref<16xf32>) {\n  %0 = memref.dealloc %a : memref<16xf32> to memref<4xf32>\n  \
                   %1 = memref.subview %a[0] [4] [1] : memref<16xf32> to memref<4xf32, strided<[1]>>\n  \
                   %2 = memref.alloc() : memref<4xf32>\n  return\n}\n";
    let kept = run("merge-alloc{planner-options=size-first}", "buffers.mlir", dealloc);
    assert!(kept.is_ok_and(|text| text.contains("%0 = memref.dealloc %a")));
}

/// A number is no function, and a single number has one element.
#[test]
fn subscripts_of_a_single_number() {
    let head = "from tvm.script import tirx as T\n\n@T.prim_func(s_tir=True)\n\
                def main(E: T.Buffer((8,), \"float32\"), O: T.Buffer((8,), \"float32\")):\n";
    let body = "    A = T.alloc_buffer((8,))\n    for i in range(8):\n        A[i] = E[i]\n        x[i] = E[i]\n    \
                for i in range(8):\n        O[i] = A[i] + x[7 - i]\n";
    for (number, why) in [("x = 2((8,))", "this call is not supported"), ("x: T.float32 = 2.0", "is a single number")] {
        let refused = run("storage-rewrite", "function.py", &format!("{head}    {number}\n{body}")).unwrap_err();
        assert!(refused.contains(why), "{refused}");
    }
}

/// A view that nobody reads still names the buffer, so the buffer is freed behind it. This is what one-shot
/// bufferization makes of a reshape whose result is not used.
#[test]
fn a_view_behind_the_last_access() {
    let text = "func.func @f(%x: memref<4x4xf32>, %shape: memref<2xindex>) {\n  %a = memref.alloc() : memref<4x4xf32>\n  \
                memref.copy %x, %a : memref<4x4xf32> to memref<4x4xf32>\n  \
                %r = memref.reshape %a(%shape) : (memref<4x4xf32>, memref<2xindex>) -> memref<?x?xf32>\n  return\n}\n";
    let freed = run("early-dealloc", "buffers.mlir", text).unwrap();
    assert!(freed.contains("-> memref<?x?xf32>\n  memref.dealloc %a : memref<4x4xf32>\n  return"), "{freed}");
}

/// A size of a type that nobody knows is a size.
#[test]
fn sizes_of_an_unknown_type() {
    let text = "func.func @f(%in: memref<?xf16, #hivm.address_space<gm>>, %n: index) {\n  %c64 = arith.constant 64 : index\n  \
                %m = arith.minsi %n, %c64 : inex\n  %a = memref.alloc(%m) : memref<?xf16, #hivm.address_space<ub>>\n  \
                hivm.hir.load ins(%in : memref<?xf16, #hivm.address_space<gm>>) outs(%a : memref<?xf16, #hivm.address_space<ub>>)\n  return\n}\n";
    let planned = run("plan-memory", "kernel.mlir", text).unwrap();
    assert!(planned.contains("%a = hivm.hir.pointer_cast"), "{planned}");
}

/// Two buffers in the other core's memory, of which only one has an owner there: the other one could be put over it.
#[test]
fn a_buffer_without_an_owner_beside_a_coupled_one() {
    let mark = |name: &str| {
        format!(
            "    annotation.mark {name} {{hivm.tightly_coupled_buffer = #hivm.tightly_coupled_buffer<4>}} : memref<64xf32, #hivm.address_space<ub>>\n"
        )
    };
    let (ub, gm) = ("memref<64xf32, #hivm.address_space<ub>>", "memref<64xf32, #hivm.address_space<gm>>");
    let text = format!(
        "module attributes {{hacc.target = #hacc.target<\"Ascend950PR_950z\">}} {{\n  \
         func.func @cube(%in: {gm}) attributes {{hivm.func_core_type = #hivm.func_core_type<AIC>}} {{\n    \
         %a = memref.alloc() : {ub}\n    hivm.hir.load ins(%in : {gm}) outs(%a : {ub})\n    %b = memref.alloc() : {ub}\n{}    \
         hivm.hir.load ins(%in : {gm}) outs(%b : {ub})\n    return\n  }}\n  \
         func.func @vector(%in: {gm}) attributes {{hivm.func_core_type = #hivm.func_core_type<AIV>}} {{\n    \
         %c = memref.alloc() : {ub}\n{}    hivm.hir.load ins(%in : {gm}) outs(%c : {ub})\n    return\n  }}\n}}\n",
        mark("%b"),
        mark("%c")
    );
    let refused = run("plan-memory", "kernel.mlir", &text).unwrap_err();
    assert!(refused.contains("@cube/%a lies in the memory of the other core"), "{refused}");
}

/// An offset that is added to such a subscript would pass the largest number.
#[test]
fn a_subscript_beyond_every_memory() {
    let text = "from tvm.script import tirx as T\n\n@T.prim_func(s_tir=True)\ndef main(E: T.Buffer((8,), \"float32\")):\n    \
                A = T.alloc_buffer((8,))\n    B = T.alloc_buffer((9,), \"int16\")\n    for i in range(8):\n        A[i] = E[i]\n    \
                for i in range(8):\n        B[9223372036854775807] = T.Cast(\"int16\", A[i])\n";
    let refused = run("storage-rewrite", "function.py", text).unwrap_err();
    assert!(refused.contains("outside of every memory"), "{refused}");
}
