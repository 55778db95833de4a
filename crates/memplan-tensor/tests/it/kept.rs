//! Memory that is still in use when no statement names it: by a copy that is only begun, through a pointer, or because
//! it says where the elements of another buffer lie. Nothing takes its place, and a plan that does is rejected.

use crate::JUDGE;
use crate::tvm_peer::Tvm;
use memplan_tensor::ir::Function;
use memplan_tensor::pass::{dump, rewrite_text};
use memplan_tensor::rewrite::{Layout, RewriteOptions, check, storage_rewrite};
use memplan_tensor::script::Script;
use serde_json::json;

/// A use of `A` (and of `V`, where there is one) that ends later than its statement, and one that does not.
struct Case {
    late: &'static str,
    over: &'static str,
    /// What stands after the other buffers are written.
    after: &'static str,
    /// Whether a real TVM can compile the program for a CPU.
    runs: bool,
}

fn case(late: &'static str, over: &'static str, after: &'static str) -> Case {
    Case { late, over, after, runs: true }
}

const WAIT: &str = "T.call_extern(\"int32\", \"wait\")";
const USE: &str = "T.call_extern(\"int32\", \"f\", E.data, A.data)";

/// Copies that are only begun.
fn copies() -> Vec<Case> {
    let calls = [
        "T.ptx.cp(T.cuda.cvta_generic_to_shared(A.data), E.data, 16, \"async\", \"ca\", \"shared\", \"global\", \"\", \"\", \"\")",
        "T.ptx.cp(E.data, T.cuda.cvta_generic_to_shared(A.data), 32, \"async\", \"bulk\", \"global\", \"shared::cta\", \"\", \"\", \"\")",
        "T.ptx.cp(E.data, A.data, 16, mode=\"async\")",
        "T.ptx.unheard_of(A.data, 1)",
        "T.ptx.st_async(T.address_of(A[0]), 1, E.data)",
        "T.nvshmem.getmem_nbi(A.data, E.data, 32, 1)",
        "T.nvshmem.signal_op(A.data, 1, 1, 1)",
        "T.cuda.func_call(\"begin\", A.data)",
        "T.copy_async(E[0:8], A[0:8])",
        "T.call_packed(\"device_api.hexagon.dma_copy_dltensor\", E.data, A.data)",
        "T.call_extern(\"int32\", \"cp_async\", E.data, A.data)",
        "T.call_intrin(\"int32\", \"tirx.ptx.cp\", E.data, A.data)",
        "T.evaluate(T.if_then_else(E[0] > 3, T.ptx_cp_async(\"int32\", E.data, 0, A.data, 0, 4), 0))",
        "E[0] = T.if_then_else(E[0] > 3, T.call_extern(\"int32\", \"dma_copy\", E.data, T.tvm_access_ptr(T.type_annotation(\"int32\"), A.data, 0, 8, 1)), 0)",
        "x: T.let[T.int32] = T.call_extern(\"int32\", \"g_async\", A[0], A[1])",
        "if T.call_extern(\"int32\", \"g_async\", T.address_of(A[0])) > 0:\n        T.evaluate(0)",
    ];
    calls.into_iter().map(|late| Case { late, over: USE, after: WAIT, runs: false }).collect()
}

/// Pointers that lead into `A`.
fn pointers() -> Vec<Case> {
    let read = "for i in range(4):\n        O[i] = Q[i]";
    let known = "T.call_extern(\"int32\", \"f\", A.data)\n    Q = T.decl_buffer((4,), \"int32\", data=E.data)";
    let mut cases = vec![
        Case {
            late: "p: T.let[T.handle(\"int32\")] = T.ptr_byte_offset(A.data, 4, \"int32\")\n    Q = T.decl_buffer((4,), \"int32\", data=p)",
            over: known,
            after: read,
            runs: false,
        },
        // TVM gives this pointer no element type.
        Case {
            late: "p: T.let[T.handle(\"int32\")] = T.handle_add_byte_offset(A.data, 4)\n    Q = T.decl_buffer((4,), \"int32\", data=p)",
            over: known,
            after: read,
            runs: false,
        },
    ];
    for late in [
        "p: T.let[T.handle] = T.tvm_stack_make_array(A.data, 0, 0, 1, T.int32(0), 0)",
        "p: T.let[T.uint32] = T.cuda.cvta_generic_to_shared(A.data)",
        "p: T.let[T.int64] = T.call_extern(\"int64\", \"f\", A.data)",
        "p: T.let[T.int32] = T.call_extern(\"int32\", \"f\", T.address_of(A[2]))",
        "p = T.call_extern(\"int64\", \"f\", A.data)",
        "E[0] = T.call_extern(\"int32\", \"f\", A.data)",
        "for p in T.serial(T.reinterpret(\"int64\", A.data), T.reinterpret(\"int64\", A.data) + T.int64(1)):\n        T.evaluate(0)",
    ] {
        // The last buffer of the harmless program stands for the one that a bare `p` declares.
        let over = if late.starts_with("p = ") {
            "p: T.int64 = T.int64(0)\n    T.call_extern(\"int32\", \"f\", A.data)"
        } else {
            "T.call_extern(\"int32\", \"f\", A.data)"
        };
        cases.push(Case { late, over, after: WAIT, runs: false });
    }
    cases
}

/// Buffers whose elements lie where `A` says.
fn places() -> Vec<Case> {
    let read = "for i in range(4):\n        O[i] = O[i] + V[i, 0]";
    vec![
        case(
            "V = T.decl_buffer((4, A[0]), \"int32\", data=E.data)",
            "V = T.decl_buffer((4, 2), \"int32\", data=E.data)\n    T.evaluate(A[0])",
            read,
        ),
        case(
            "V = T.decl_buffer((4, 2), \"int32\", data=E.data, strides=(A[0], 1))",
            "V = T.decl_buffer((4, 2), \"int32\", data=E.data)\n    T.evaluate(A[0])",
            read,
        ),
        case(
            "V = T.decl_buffer((4, 2), \"int32\", data=E.data, elem_offset=A[0])",
            "V = T.decl_buffer((4, 2), \"int32\", data=E.data)\n    T.evaluate(A[0])",
            read,
        ),
        // In a memory of its own, so that it is not `V` that takes the place in the harmless program. LLVM has no place
        // for such a buffer.
        Case {
            late: "V = T.alloc_buffer((4, A[0]), \"int32\", scope=\"local\")\n    V[0, 0] = 1\n    V[3, 0] = 1",
            over: "V = T.alloc_buffer((4, 2), \"int32\", scope=\"local\")\n    T.evaluate(A[0])\n    V[0, 0] = 1\n    V[3, 0] = 1",
            after: "O[0] = V[0, 0]\n    O[3] = V[3, 0]",
            runs: false,
        },
    ]
}

/// `A` filled, used, and `B` written behind it, all in a loop of one iteration if asked for.
fn program(middle: &str, after: &str, in_loop: bool) -> String {
    let header = "@T.prim_func(s_tir=True)\ndef main(E: T.Buffer((64,), \"int32\"), O: T.Buffer((8,), \"int32\")):\n    A = T.alloc_buffer((8,), \"int32\")\n    B = T.alloc_buffer((8,), \"int32\")\n    for i in range(8):\n        A[i] = 2\n";
    let fill = "for i in range(8):\n        B[i] = E[7 - i]";
    let end = "for i in range(8):\n        O[i] = O[i] + B[i]";
    let part: String = [middle, fill, after].iter().map(|part| format!("    {part}\n")).collect();
    let part = if in_loop {
        format!("    for k in range(1):\n{}", part.lines().map(|line| format!("    {line}\n")).collect::<String>())
    } else {
        part
    };
    format!("{header}{part}    {end}\n")
}

fn read(text: &str) -> Function {
    Script::read(text).unwrap_or_else(|error| panic!("{error}\n{text}")).functions()[0].clone()
}

fn layout_of(function: &Function, text: &str) -> Layout {
    let rewritten = storage_rewrite(function, &RewriteOptions::default(), JUDGE);
    rewritten.unwrap_or_else(|error| panic!("{error}\n{text}")).layout
}

fn are_apart(layout: &Layout, function: &Function) -> bool {
    let [a, b] = ["A", "B"].map(|name| layout.places[function.buffer_named(name).expect("a buffer")]);
    a.zip(b).is_none_or(|(a, b)| a.allocation != b.allocation || a.bit_offset != b.bit_offset)
}

fn nothing_takes_the_place_of_a(cases: &[Case]) {
    for Case { late, over, after, .. } in cases {
        for in_loop in [false, true] {
            let text = program(late, after, in_loop);
            let function = read(&text);
            assert!(are_apart(&layout_of(&function, &text), &function), "{late}\n{text}");
            // No check permits that anything is computed in its place.
            let lowered = dump(&text, "program", JUDGE).expect("a program");
            assert!(lowered.contains("escape %A") && !lowered.contains("over %A"), "{late}\n{text}\n{lowered}");
            // The same program with a use that is over with its statement: there the place may be taken, and the
            // layout that does so is wrong for the program above.
            let harmless = program(over, after, false);
            let control = read(&harmless);
            let layout = layout_of(&control, &harmless);
            assert!(!are_apart(&layout, &control), "{over}\n{harmless}");
            // An allocation inside of a loop has another place in the text, so such a layout means something else.
            if !in_loop || !late.contains("alloc_buffer") && !late.starts_with("p = ") {
                let conflicts = check(&function, &layout, JUDGE).expect("a program");
                assert!(!conflicts.is_empty(), "{late} is not caught\n{text}");
            }
        }
    }
}

#[test]
fn what_asynchronous_copies_use_keeps_its_memory() {
    nothing_takes_the_place_of_a(&copies());
}

#[test]
fn what_a_pointer_leads_into_keeps_its_memory() {
    nothing_takes_the_place_of_a(&pointers());
}

#[test]
fn what_says_where_elements_lie_keeps_its_memory() {
    nothing_takes_the_place_of_a(&places());
}

/// The strides of memory that comes from outside are kept as text, so what they read stays where it is.
#[test]
fn what_says_where_elements_of_foreign_memory_lie_keeps_its_memory() {
    for keyword in ["strides=(A[0], 1)", "elem_offset=A[0]"] {
        let view = format!(
            "V = T.decl_buffer((4, 2), \"int32\", data=T.tvm_struct_get(T.call_extern(\"handle\", \"f\"), 0, 1, \"handle\"), {keyword})"
        );
        let text = program(&view, "O[0] = V[3, 0]", false);
        let function = read(&text);
        assert!(are_apart(&layout_of(&function, &text), &function), "{text}");
    }
}

/// A call that is done when it returns holds nothing.
#[test]
fn memory_of_synchronous_calls_is_given_away() {
    for call in [
        USE,
        "T.ptx.ldmatrix(False, 4, \".b16\", E.data, 0, A.data, 0)",
        "T.cuda.atomic_add(A.data, 1)",
        "x: T.let[T.float32] = T.call_extern(\"float32\", \"f\", A.data)",
        "assert T.isnullptr(A.data), \"none\"",
        "x: T.let[T.bool] = T.isnullptr(A.data)",
    ] {
        let text = program(call, WAIT, false);
        let function = read(&text);
        assert!(!are_apart(&layout_of(&function, &text), &function), "{text}");
    }
}

/// Compiled with LLVM by a real TVM, the programs compute the same before and after.
#[test]
fn kept_memory_in_tvm() {
    let Some(mut tvm) = Tvm::start() else { return };
    let mut programs = Vec::new();
    let cases = places().into_iter().filter(|case| case.runs);
    for Case { late, after, .. } in cases {
        for in_loop in [false, true] {
            let text = program(late, after, in_loop);
            let rewritten = rewrite_text(&text, &RewriteOptions::default(), JUDGE).expect("rewritten");
            programs.push(json!({"texts": [text, rewritten], "symbols": {}}));
        }
    }
    // Pointers are for GPUs only, and there they are read.
    let pointer = program(pointers()[0].late, pointers()[0].after, false);
    let rewritten = rewrite_text(&pointer, &RewriteOptions::default(), JUDGE).expect("rewritten");
    for text in [&pointer, &rewritten] {
        assert_eq!(tvm.ask(&json!({"op": "parse", "text": text}))["ok"], true, "{text}");
    }
    let answer = tvm.ask(&json!({"op": "compare", "programs": programs}));
    assert_eq!(answer, json!({"ok": true, "different": []}), "{programs:#?}");
}
