//! Inputs that once ended in "this is a bug in memplan", most of them mutants of good ones. Each is now refused at a
//! place, or comes out right.

use memplan::driver::How;
use memplan::pass::{PassSpec, find};
use memplan::source::Source;

/// The rewritten text, or the words of the refusal. A plan that a check rejects ends the test.
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

/// The custom form of a function names the arguments of its first block. If the body begins with a label all the same,
/// that block has no ops, and there is no place at which the merged memory could be allocated.
#[test]
fn a_label_behind_named_arguments() {
    let text = "func.func @f(%n: index) {\n^bb0(%x: f32):\n  %0 = memref.alloc() : memref<4xf32>\n  \
                memref.dealloc %0 : memref<4xf32>\n  return\n}\n";
    let refused = run("merge-alloc", "buffers.mlir", text).unwrap_err();
    assert!(refused.contains("expected an op"), "{refused}");
}

/// The generic form can have a first block without ops, so that there is no place for the merged memory. A buffer that
/// cannot be merged keeps its allocation and its deallocation.
#[test]
fn a_first_block_without_ops() {
    let text = "\"func.func\"() <{function_type = () -> (), sym_name = \"f\"}> ({\n^bb0:\n^bb1:\n  \
                %0 = \"memref.alloc\"() <{operandSegmentSizes = array<i32: 0, 0>}> : () -> memref<4xf32>\n  \
                \"memref.dealloc\"(%0) : (memref<4xf32>) -> ()\n  \"func.return\"() : () -> ()\n}) : () -> ()\n";
    assert_eq!(run("merge-alloc", "buffers.mlir", text).unwrap(), text);
}

/// If the pass takes all allocations out of a loop and nothing else is in it, the loop gets a statement that does
/// nothing: Python allows no empty body.
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

/// Ops whose kind defines no value, written with a result: the pass leaves them as they are.
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

/// A number that is called like a function, and a single number that is used with a subscript: both are refused.
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

/// A view of a buffer that no op reads still names the buffer, so the buffer must be freed after the view. One-shot
/// bufferization makes such a view of a reshape whose result is not used.
#[test]
fn a_view_behind_the_last_access() {
    let text = "func.func @f(%x: memref<4x4xf32>, %shape: memref<2xindex>) {\n  %a = memref.alloc() : memref<4x4xf32>\n  \
                memref.copy %x, %a : memref<4x4xf32> to memref<4x4xf32>\n  \
                %r = memref.reshape %a(%shape) : (memref<4x4xf32>, memref<2xindex>) -> memref<?x?xf32>\n  return\n}\n";
    let freed = run("early-dealloc", "buffers.mlir", text).unwrap();
    assert!(freed.contains("-> memref<?x?xf32>\n  memref.dealloc %a : memref<4x4xf32>\n  return"), "{freed}");
}

/// The size of an allocation is computed by an op with a misspelt type. The buffer is planned nevertheless.
#[test]
fn sizes_of_an_unknown_type() {
    let text = "func.func @f(%in: memref<?xf16, #hivm.address_space<gm>>, %n: index) {\n  %c64 = arith.constant 64 : index\n  \
                %m = arith.minsi %n, %c64 : inex\n  %a = memref.alloc(%m) : memref<?xf16, #hivm.address_space<ub>>\n  \
                hivm.hir.load ins(%in : memref<?xf16, #hivm.address_space<gm>>) outs(%a : memref<?xf16, #hivm.address_space<ub>>)\n  return\n}\n";
    let planned = run("plan-memory", "kernel.mlir", text).unwrap();
    assert!(planned.contains("%a = hivm.hir.pointer_cast"), "{planned}");
}

/// Two buffers of one core lie in the memory of the other core. Only one of them is coupled to a buffer of that core.
/// The other one is refused, because nothing would keep it off the bytes of that core's buffers.
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

/// A subscript that is the largest number of 64 bits. If an offset were added to it, the sum would overflow.
#[test]
fn a_subscript_beyond_every_memory() {
    let text = "from tvm.script import tirx as T\n\n@T.prim_func(s_tir=True)\ndef main(E: T.Buffer((8,), \"float32\")):\n    \
                A = T.alloc_buffer((8,))\n    B = T.alloc_buffer((9,), \"int16\")\n    for i in range(8):\n        A[i] = E[i]\n    \
                for i in range(8):\n        B[9223372036854775807] = T.Cast(\"int16\", A[i])\n";
    let refused = run("storage-rewrite", "function.py", text).unwrap_err();
    assert!(refused.contains("outside of every memory"), "{refused}");
}

/// Loops in which the check cannot follow a reuse in place: one that also writes the buffer from which a source was
/// computed, and one with an allocation in it. No reuse in place is planned there.
#[test]
fn reuse_in_place_that_no_check_can_follow() {
    let head = "from tvm.script import tirx as T\n\n@T.prim_func(s_tir=True)\n\
                def main(E: T.Buffer((64,), \"float32\"), O: T.Buffer((64,), \"float32\")):\n    T0 = T.alloc_buffer((8,))\n    \
                T1 = T.alloc_buffer((8,))\n    T2 = T.alloc_buffer((8,))\n    T3 = T.alloc_buffer((8,))\n    \
                for i in range(8):\n        T0[i] = E[i]\n    for i in range(8):\n        T1[i] = T0[i] + T.float32(2.0)\n    \
                for i in range(8):\n        T2[i] = T1[7 - i]\n";
    let stored =
        "    for i in T.parallel(8):\n        T1[i] = T0[i] + T.float32(2.0)\n        T3[i] = T2[i] + T.float32(2.0)\n";
    let twice = "    for r in range(1):\n        for i in range(8):\n            T3[i] = T2[i] + T.float32(2.0)\n        \
                 for i in range(8):\n            T1[i] = T0[i]\n            T3[i] = T2[i] * T.float32(2.0)\n";
    let holds = "    for i in range(8):\n        C = T.alloc_buffer((8,))\n        T3[i] = T2[i] + T.float32(2.0)\n";
    let tail = "    for i in range(8):\n        O[i] = T3[i]\n";
    for body in [stored, twice, holds] {
        for spec in ["storage-rewrite", "storage-rewrite{plan=first-fit}"] {
            assert!(run(spec, "function.py", &format!("{head}{body}{tail}")).is_ok(), "{spec}: {body}");
        }
    }
}

/// Subscripts that are no number or larger than any memory, a name that hides TVM's module, a string in a sum.
#[test]
fn texts_that_mean_nothing_in_tvm() {
    let script = |body: &str| {
        format!(
            "from tvm.script import tirx as T\n\n@T.prim_func(s_tir=True)\n\
             def main(E: T.Buffer((8,), \"float32\"), O: T.Buffer((8,), \"float32\")):\n    A = T.alloc_buffer((8,))\n    \
             B = T.alloc_buffer((8,))\n    for i in range(8):\n        A[i] = E[i]\n    {body}\n    \
             for i in range(8):\n        O[i] = B[i]\n"
        )
    };
    for (body, why) in [
        ("for i in range(8):\n        B[True] = A[0] + E[i]", "must be an integer"),
        ("for i in range(8):\n        B[i * 1844674407370955115] = A[i]", "outside of every memory"),
        ("for i in range(8):\n        B[i + 9223372036854775807] = A[i]", "outside of every memory"),
        ("T = T.alloc_buffer((8,))", "`T` is the script module"),
        ("for T in range(8):\n        B[T] = A[T]", "`T` is the script module"),
        ("for i in range(8):\n        B[i] = T.Cast(\"float32\"^ A[7 - i])", "a number and a string"),
    ] {
        let refused = run("storage-rewrite{plan=first-fit}", "function.py", &script(body)).unwrap_err();
        assert!(refused.contains(why), "{refused}");
    }
}

/// If a statement asks for the address of a buffer, the buffer keeps its allocation, even if nothing reads it.
#[test]
fn a_place_that_is_asked_for() {
    let text = "from tvm.script import tirx as T\n\n@T.prim_func(s_tir=True)\n\
                def main(E: T.Buffer((8,), \"float32\"), O: T.Buffer((8,), \"float32\")):\n    A = T.alloc_buffer((64,), \"int16\")\n    \
                B = T.alloc_buffer((8,))\n    T.call_extern(\"int32\", \"f\", A.elem_offset)\n    for i in range(8):\n        B[i] = E[i]\n    \
                for i in range(8):\n        O[i] = B[7 - i]\n";
    for spec in ["storage-rewrite", "storage-rewrite{compat}", "storage-rewrite{plan=first-fit}"] {
        let kept = run(spec, "function.py", text).unwrap();
        assert!(kept.contains("A = T.alloc_buffer((64,), \"int16\")"), "{spec}: {kept}");
    }
}

/// A word without a dialect is refused as an op of a function. After another op it would be read as a part of that op.
#[test]
fn a_word_that_is_no_op() {
    let text = "func.func @f() {\n  foo_bar %a : memref<32xf16>\n  %a = memref.alloc() : memref<32xf16>\n  return\n}\n";
    let refused = run("merge-alloc", "buffers.mlir", text).unwrap_err();
    assert!(refused.contains("expected an op with the name of its dialect"), "{refused}");
}

/// An unknown op names a value that is defined after it. In the syntax of an unknown op the name may mean something
/// else, so this is no error.
#[test]
fn a_name_in_an_unknown_form_in_front_of_its_definition() {
    let text = "func.func @f(%x: memref<32xf16>) {\n  acme.op %a : memref<32xf16>\n  %a = memref.alloc() : memref<32xf16>\n  \
                memref.copy %x, %a : memref<32xf16> to memref<32xf16>\n  memref.dealloc %a : memref<32xf16>\n  return\n}\n";
    assert!(run("merge-alloc", "buffers.mlir", text).is_ok_and(|text| text.contains("acme.op %a")));
}

/// The kernel of the tests of workspaces, with one line changed.
fn workspaces(line: &str) -> String {
    format!(
        "module attributes {{hacc.target = #hacc.target<\"Ascend910B1\">}} {{\n  \
         func.func @two(%arg0: memref<?xi8>, %x: tensor<256xi8>, %n: index) {{\n    %c0 = arith.constant 0 : index\n    \
         %c1 = arith.constant 1 : index\n    scf.for %i = %c0 to %n step %c1 {{\n      {line}\n      \
         annotation.mark %a {{hivm.multi_buffer = 4 : i32}} : memref<256xi8>\n      \
         %t = bufferization.to_tensor %a restrict writable : memref<256xi8>\n      \
         %s = hivm.hir.store ins(%x : tensor<256xi8>) outs(%t : tensor<256xi8>) -> tensor<256xi8>\n      \
         %e = tensor.empty() : tensor<256xi8>\n      \
         %l = hivm.hir.load ins(%s : tensor<256xi8>) outs(%e : tensor<256xi8>) -> tensor<256xi8>\n    }}\n    return\n  }}\n}}\n"
    )
}

/// Workspaces in a form that has no place for the offsets that the pass has to write.
#[test]
fn workspaces_in_another_form() {
    let spec = "plan-memory{mem-plan-mode=global-work-space-plan enable-global-workspace-reuse}";
    for line in [
        "%a = memref_ext.alloc_workspace() offset %arg0 : from memref<?xi8> to memref<256xi8>",
        "%a = memref_ext.alloc_workspace() from %arg0 : from %c1<?xi8> to memref<256xi8>",
        "%a = memref_ext.alloc_workspace() from %arg0 offset =2 [%c0] : from memref<?xi8> to memref<256xi8>",
        "%a = memref_ext.alloc_workspace %arg0 restrict writable : memref<256xi8>",
    ] {
        let refused = run(spec, "kernel.mlir", &workspaces(line)).unwrap_err();
        assert!(refused.contains("there is no place for an offset in this form"), "{line}: {refused}");
    }
    let good = "%a = memref_ext.alloc_workspace() from %arg0 : from memref<?xi8> to memref<256xi8>";
    let planned = run(spec, "kernel.mlir", &workspaces(good)).unwrap();
    assert!(planned.contains("from %arg0 offset = [%c0_0, %c256, %c512, %c768]"), "{planned}");
}

/// Workspaces of which several instances may exist at once, because an unknown op may run its region several times at
/// once, or may keep the workspace of an earlier iteration.
#[test]
fn workspaces_with_instances_side_by_side() {
    let spec = "plan-memory{mem-plan-mode=global-work-space-plan enable-global-workspace-reuse}";
    let line = "%a = memref_ext.alloc_workspace() from %arg0 : from memref<?xi8> to memref<256xi8>";
    let unknown = workspaces(line).replace("scf.for %i = %c0 to %n step %c1 {", "acme.repeat %n {");
    let kept = workspaces(line).replace("bufferization.to_tensor %a restrict writable", "acme.keep ^elsewhere %a");
    assert_eq!(run(spec, "kernel.mlir", &unknown), Ok(unknown));
    let refused = run(spec, "kernel.mlir", &kept).unwrap_err();
    assert!(refused.contains("%a is handed out here"), "{refused}");
}

/// A loop carries a tensor, and the value that an iteration yields is no tensor, or has an unknown type: the type of
/// the result is another one, is misspelt, or is left out.
#[test]
fn a_loop_that_is_given_back_no_memory() {
    let spec = "plan-memory{mem-plan-mode=global-work-space-plan enable-global-workspace-reuse}";
    for (result, why) in [
        ("-> i32", "`%s` is no memory"),
        ("-> tenso<16x16xf32>", "no fixed address will do"),
        ("-1> tensor<16x16xf32>", "no fixed address will do"),
    ] {
        let text = format!(
            "module attributes {{hacc.target = #hacc.target<\"Ascend910B1\">}} {{\n  \
             func.func @f(%ws: memref<?xi8>, %x: tensor<16x16xf32>, %n: index) {{\n    %c0 = arith.constant 0 : index\n    \
             %c1 = arith.constant 1 : index\n    \
             %r = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %x) -> (tensor<16x16xf32>) {{\n      \
             %b = memref_ext.alloc_workspace() from %ws : from memref<?xi8> to memref<16x16xf32>\n      \
             %t = bufferization.to_tensor %b restrict writable : memref<16x16xf32>\n      \
             %s = hivm.hir.store ins(%acc : tensor<16x16xf32>) outs(%t : tensor<16x16xf32>) {result}\n      \
             scf.yield %s : tensor<16x16xf32>\n    }}\n    return\n  }}\n}}\n"
        );
        let refused = run(spec, "kernel.mlir", &text).unwrap_err();
        assert!(refused.contains(why), "{result}: {refused}");
    }
}

/// The results of both branches get one address. The other branch cannot use the name of the first branch's buffer,
/// which is not visible there, so it keeps its own name for the address.
#[test]
fn a_mark_in_one_branch() {
    let (near, far) = ("memref<64xf16, #hivm.address_space<ub>>", "memref<64xf16, #hivm.address_space<gm>>");
    let branch = |name: &str, mark: &str| {
        format!(
            "    %{name} = memref.alloc() : {near}\n{mark}    hivm.hir.load ins(%gm : {far}) outs(%{name} : {near})\n    \
             scf.yield %{name} : {near}\n"
        )
    };
    let marked = branch("a", &format!("    annotation.mark %a {{hivm.multi_buffer = 2 : i32}} : {near}\n"));
    let plain = branch("b", "");
    let text = format!(
        "func.func @f(%gm: {far}, %c: i1) {{\n  %r = scf.if %c -> ({near}) {{\n{marked}  }} else {{\n{plain}  }}\n  \
         hivm.hir.store ins(%r : {near}) outs(%gm : {far})\n  return\n}}\n"
    );
    let planned = run("plan-memory", "kernel.mlir", &text).unwrap();
    assert!(planned.contains("scf.yield %b"), "{planned}");
}

/// A slice of all of a buffer, and slices of unknown length. After the rewrite the buffer is a part of a larger one,
/// starts at another offset, or has one dimension only, and the slices must still mean the same elements.
#[test]
fn slices_of_unknown_length() {
    let head = "from tvm.script import tirx as T\n\n@T.prim_func(s_tir=True)\n\
                def main(n: T.int32, m: T.int32, E: T.Buffer((64,), \"float32\"), O: T.Buffer((64,), \"float32\")):\n";
    let all = "    A = T.alloc_buffer((n,))\n    B = T.alloc_buffer((m,))\n    for i in range(n):\n        A[:] = E[i]\n    \
               for i in range(n):\n        O[i] = A[n - 1 - i] + O[i]\n    for i in range(m):\n        B[i] = E[i]\n    \
               for i in range(m):\n        O[i] = B[m - 1 - i] + O[i]\n";
    let part = "    A = T.alloc_buffer((8,))\n    B = T.alloc_buffer((16,))\n    for i in range(8):\n        A[i] = E[i]\n        \
                B[0:n:2] = E[i]\n    for i in range(8):\n        O[i] = A[7 - i] + B[i]\n";
    let inner = "    A = T.alloc_buffer((2, 3, 4))\n    for i, j, k in T.grid(2, 3, 4):\n        A[i, :j, k] = E[k]\n    \
                 for i, j, k in T.grid(2, 3, 4):\n        O[i] = A[i, j, k]\n";
    for body in [all, part, inner] {
        for spec in ["", "{flatten}", "{plan=first-fit}", "{flatten plan=first-fit}"] {
            let spec = format!("storage-rewrite{spec}");
            assert!(run(&spec, "function.py", &format!("{head}{body}")).is_ok(), "{spec}: {body}");
        }
    }
    let larger = run("storage-rewrite", "function.py", &format!("{head}{all}")).unwrap();
    assert!(larger.contains("A[0:n] = E[i]"), "{larger}");
}

/// If this buffer had one dimension only, its subscripts would not fit into 64 bits.
#[test]
fn a_buffer_that_cannot_be_made_flat() {
    let text = "from tvm.script import tirx as T\n\n@T.prim_func(s_tir=True)\n\
                def main(E: T.Buffer((64,), \"float32\"), O: T.Buffer((64,), \"float32\")):\n    \
                A = T.alloc_buffer((8, 9223372036854775807))\n    for i, j in T.grid(8, 1):\n        A[i, j] = E[i + j]\n    \
                for i, j in T.grid(8, 1):\n        O[i + j] = A[i, j]\n";
    let refused = run("storage-rewrite{flatten compat}", "function.py", text).unwrap_err();
    assert!(refused.contains("`A`"), "{refused}");
}

/// Words that follow the type of an allocation or a mark are refused: the pass replaces the whole op, and the words
/// would be lost.
#[test]
fn words_behind_a_type() {
    let ub = "memref<16xf16, #hivm.address_space<ub>>";
    for line in [
        format!("%b = memref.alloc() : {ub}\n    63 = memref.subview %a[0] [16] [1] : {ub} to {ub}"),
        format!("%b = memref.alloc %a[0] [16] [1] : {ub} to {ub}"),
        format!(
            "annotation.mark %a {{hivm.multi_buffer = 2 : i32}} : {ub}\n    hiv-.hir.load ins(%gm : {ub}) outs(%a : {ub})"
        ),
    ] {
        let text = format!(
            "module attributes {{hacc.target = #hacc.target<\"Ascend910B1\">}} {{\n  func.func @f(%gm: {ub}) {{\n    \
             %a = memref.alloc() : {ub}\n    {line}\n    hivm.hir.load ins(%gm : {ub}) outs(%a : {ub})\n    return\n  }}\n}}\n"
        );
        let refused = run("plan-memory", "kernel.mlir", &text).unwrap_err();
        assert!(refused.contains("expected the end of the op behind its type"), "{refused}");
    }
}

/// A name that is defined again inside of a loop, and a label outside of every function. MLIR allows neither.
#[test]
fn names_and_labels_that_mlir_does_not_have() {
    let hidden = "func.func @f(%n: index, %m: memref<4xf32>) {\n  %s = memref.alloc() : memref<4xf32>\n  \
                  scf.for %i = %n to %n step %n {\n    %s = memref.alloc() : memref<4xf32>\n  }\n  return\n}\n";
    let refused = run("merge-alloc", "buffers.mlir", hidden).unwrap_err();
    assert!(refused.contains("`%s` is defined"), "{refused}");
    let label = "func.func @f() {\n  return\n}\n^join(%r: memref<4xf32>):\n  return %r : memref<4xf32>\n";
    let refused = run("merge-alloc", "buffers.mlir", label).unwrap_err();
    assert!(refused.contains("expected an op"), "{refused}");
}

/// In the region of an unknown op a value may stand before its definition, also a workspace.
#[test]
fn a_workspace_behind_its_use() {
    let text = "module {\n  acme.func @f(%ws: memref<?xi8>) {\n    %c0 = arith.constant 0 : index\n    \
                %v = memref.view %a[%c0][] : memref<65536xi8> to memref<16x16xf32>\n    \
                %a = memref_ext.alloc_workspace() from %ws : from memref<?xi8> to memref<65536xi8>\n    \
                \"acme.use\"(%v) : (memref<16x16xf32>) -> ()\n  }\n}\n";
    for spec in ["plan-memory", "plan-memory{mem-plan-mode=global-work-space-plan}"] {
        assert_eq!(run(spec, "kernel.mlir", text).as_deref(), Ok(text), "{spec}");
    }
}

/// Two loops use one name, and the second loop mentions its buffer of that name in a mark only. That buffer moves to
/// the front of its loop, and the check must find it there by its name.
#[test]
fn a_marked_buffer_that_nobody_uses() {
    let (cc, gm) = ("memref<64xf32, #hivm.address_space<cc>>", "memref<64xf32, #hivm.address_space<gm>>");
    let buffer = |name: &str| {
        format!(
            "    {name} = memref.alloc() : {cc}\n    annotation.mark {name} {{hivm.multi_buffer = 2 : i32}} : {cc}\n"
        )
    };
    let used = |name: &str| format!("{}    hivm.hir.fixpipe ins({name} : {cc}) outs(%gm : {gm})\n", buffer(name));
    let head = "  %c0 = arith.constant 0 : index\n  %c1 = arith.constant 1 : index\n  %c8 = arith.constant 8 : index\n";
    let (first, second) = (used("%a"), format!("{}{}", used("%b"), buffer("%a")));
    let text = format!(
        "func.func @f(%gm: {gm}) attributes {{hacc.entry}} {{\n{head}  scf.for %i = %c0 to %c8 step %c1 {{\n{first}  }}\n  \
         scf.for %j = %c0 to %c8 step %c1 {{\n{second}  }}\n  return\n}}\n"
    );
    let planned = run("plan-memory", "kernel.mlir", &text).unwrap();
    assert_eq!(planned.matches("%a = hivm.hir.pointer_cast(").count(), 2, "{planned}");
}

/// A `memref.alloc` with the operands of a view. Its type has no dimension of unknown size, so it takes no operand.
#[test]
fn a_size_for_a_type_that_leaves_none_open() {
    let ub = "#hivm.address_space<ub>";
    let text = format!(
        "func.func @f(%z: i32) {{\n  %m = memref.alloc() : memref<2048xi1, {ub}>\n  \
         %o = memref.alloc() : memref<16xi32, {ub}>\n  \
         %v = memref.alloc %m[0] [16] [1] : 3<2048xi1, {ub}> to memref<16xi1, strided<[1]>, {ub}>\n  \
         hivm.hir.vsel ins(%v, %z, %z : memref<16xi1, strided<[1]>, {ub}>, i32, i32) outs(%o : memref<16xi32, {ub}>)\n  \
         return\n}}\n"
    );
    let refused = run("plan-memory", "kernel.mlir", &text).unwrap_err();
    assert!(refused.contains("given 1 sizes where its type leaves 0 open"), "{refused}");
}

/// In a buffer with rows of five elements, a loop to eight runs into the next row. The condition `j < 5` prevents that.
/// With four rows the check proves it, and the result is computed in place. With 100,000 rows it gives up, and the
/// result gets memory of its own.
#[test]
fn a_loop_that_may_run_into_the_next_row() {
    let text = |condition: &str, rows: u32| {
        format!(
            "from tvm.script import tirx as T\n\n@T.prim_func(s_tir=True)\n\
             def main(E: T.Buffer((500000,), \"float32\"), O: T.Buffer((500000,), \"float32\")):\n    \
             A = T.alloc_buffer(({rows}, 5))\n    B = T.alloc_buffer(({rows}, 5))\n    \
             for i, j in T.grid({rows}, 5):\n        A[i, j] = E[i * 5 + j]\n    \
             for i, j in T.grid({rows}, 8):\n        if {condition}:\n            B[i, j] = A[i, j] + T.float32(1.0)\n    \
             for i, j in T.grid({rows}, 5):\n        O[i * 5 + j] = B[i, j]\n"
        )
    };
    for (condition, rows, buffers) in [("j < 5", 100_000, 2), ("j < 5", 4, 1), ("j < 8", 4, 2)] {
        let rewritten = run("storage-rewrite", "function.py", &text(condition, rows)).unwrap();
        assert_eq!(rewritten.matches("T.alloc_buffer").count(), buffers, "{rewritten}");
    }
}
