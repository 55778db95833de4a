//! Forms that TVM prints or takes, one small program each: read, printed unchanged, rewritten, read back, parsed by TVM.

use crate::JUDGE;
use crate::tvm_peer::Tvm;
use memplan_tensor::interpret::{RunOptions, run_traced};
use memplan_tensor::places::disagreement;
use memplan_tensor::rewrite::{RewriteOptions, allocation_sites, storage_rewrite};
use memplan_tensor::script::Script;
use serde_json::json;

pub(crate) const HEADER: &str = "@T.prim_func(s_tir=True)\ndef main(A: T.Buffer((64,), \"float32\"), O: T.Buffer((64,), \"float32\"), n: T.int32):\n";

/// Bodies of functions with the parameters `A`, `O` (64 numbers each) and `n`.
const BODIES: &[(&str, &str)] = &[
    ("a step", "for i in range(0, 64, 4):\n    B[i] = A[i]\nfor i in range(0, 64, 4):\n    O[i] = B[i]"),
    (
        "a step by name",
        "for i in T.unroll(0, n, step=4):\n    B[i] = A[i]\nfor i in T.unroll(0, n, step=4):\n    O[i] = B[i]",
    ),
    ("marks of a loop", "for i in T.serial(64, unroll=1):\n    B[i] = A[i]\nfor i in range(64):\n    O[i] = B[i]"),
    (
        "T.Let",
        "x = T.float32()\nfor i in range(64):\n    B[i] = T.Let(x * x, where={x: A[i] + T.float32(1.0)})\nfor i in range(64):\n    O[i] = B[i]",
    ),
    (
        "a new scalar",
        "for i in range(64):\n    x = A[i] + T.float32(1.0)\n    B[i] = x * x\nfor i in range(64):\n    O[i] = B[i]",
    ),
    (
        "a let without a type",
        "for i in range(64):\n    x: T.let = A[i] + T.float32(1.0)\n    B[i] = x * x\nfor i in range(64):\n    O[i] = B[i]",
    ),
    ("break", "for i in range(64):\n    if A[i] > T.float32(0.0):\n        break\n    B[i] = A[i]\nO[0] = B[0]"),
    (
        "continue as printed",
        "for i in range(64):\n    if A[i] > T.float32(0.0):\n        T.continue_loop()\n    B[i] = A[i]\nO[0] = B[0]",
    ),
    (
        "lanes of the machine",
        "B[0:T.vscale() * 4] = A[T.Ramp(0, 1, T.vscale() * 4)]\nO[0:T.vscale() * 4] = B[T.Ramp(0, 1, T.vscale() * 4)]",
    ),
    ("a broadcast to them", "B[0:T.vscale() * 4] = T.Broadcast(T.float32(1.0), T.vscale() * 4)\nO[0] = B[0]"),
    (
        "a vector loop of them",
        "for i in T.vectorized(T.vscale() * 4):\n    B[i] = A[i]\nfor i in T.vectorized(T.vscale() * 4):\n    O[i] = B[i]",
    ),
    ("a choice", "B[0] = A[0] if n > 3 else A[1]\nO[0] = B[0]"),
    ("a chain of comparisons", "if 0 < n < 5:\n    B[0] = A[0]\n    O[0] = B[0]"),
    ("an update", "B[0] = A[0]\nB[0] += A[1]\nO[0] = B[0]"),
    ("shuffle", "B[0:2] = T.Shuffle([A[0], A[1]], [0, 1])\nO[0] = B[0]"),
    ("an access pointer", "T.evaluate(T.call_extern(\"int32\", \"f\", B.access_ptr(\"w\")))\nO[0] = B[0]"),
    ("an assertion with its kind", "B[0] = A[0]\nassert n > 3, (\"RuntimeError\", [\"n is small\"])\nO[0] = B[0]"),
    ("a mark of a buffer", "B[0] = A[0]\nwith T.attr(B.data, \"volatile_scope\", 1):\n    O[0] = B[0]"),
    (
        "small floats",
        "C = T.alloc_buffer((64,), \"float8_e4m3fn\")\nC[0] = T.Cast(\"float8_e4m3fn\", A[0])\nB[0] = T.Cast(\"float32\", C[0])\nO[0] = B[0]",
    ),
    (
        "bfloat16",
        "C = T.alloc_buffer((64,), \"bfloat16\")\nC[0] = T.Cast(\"bfloat16\", A[0])\nB[0] = T.Cast(\"float32\", C[0])\nO[0] = B[0]",
    ),
    (
        "half bytes",
        "C = T.alloc_buffer((64,), \"int4\")\nC[0] = T.Cast(\"int4\", A[0])\nB[0] = T.Cast(\"float32\", C[0])\nO[0] = B[0]",
    ),
    ("while", "i: T.int32 = 0\nwhile i < 4:\n    B[i] = A[i]\n    i = i + 1\nO[0] = B[0]"),
    (
        "a launch by name",
        "tx = T.launch_thread(\"threadIdx.x\", 64)\nC = T.alloc_local((1,))\nC[0] = A[tx]\nO[tx] = C[0]",
    ),
    ("an axis in advance", "t = T.env_thread(\"threadIdx.x\")\nwith T.launch_thread(t, 64):\n    O[t] = A[t]"),
    ("a thread loop", "for i in T.thread_binding(64, thread=\"threadIdx.x\"):\n    O[i] = A[i]"),
    (
        "a fraction in a subscript",
        "for i in range(64):\n    B[i] = A[i]\nfor i in range(64):\n    O[i] = B[T.Cast(\"int32\", T.floor(T.Cast(\"float32\", i) * T.float32(0.5)))]",
    ),
    ("a buffer without dimensions", "C = T.alloc_buffer(())\nC[()] = A[0]\nO[0] = C[()]"),
    (
        "bits",
        "C = T.alloc_buffer((64,), \"int32\")\nfor i in range(64):\n    C[i] = i << 2 & 255 | i >> 1 ^ 3\nO[0] = T.Cast(\"float32\", C[0])",
    ),
    (
        "blocks",
        "C = T.sblock_alloc_buffer((64,))\nfor i in range(64):\n    with T.sblock(\"x\"):\n        vi = T.axis.spatial(64, i)\n        T.where(i < n)\n        T.reads(A[vi])\n        T.writes(C[vi])\n        C[vi] = A[vi]\nfor i in range(64):\n    with T.sblock(\"y\"):\n        vi = T.axis.spatial(64, i)\n        O[vi] = C[vi]",
    ),
    (
        "a reduction block",
        "C = T.sblock_alloc_buffer((1,))\nfor i, k in T.grid(1, 64):\n    with T.sblock(\"sum\"):\n        vi, vk = T.axis.remap(\"SR\", [i, k])\n        T.reads(A[vk])\n        T.writes(C[vi])\n        with T.init():\n            C[vi] = T.float32(0.0)\n        C[vi] = C[vi] + A[vk]\nfor i in range(64):\n    with T.sblock(\"y\"):\n        vi = T.axis.spatial(64, i)\n        O[vi] = C[0]",
    ),
];

/// Whole functions.
const FUNCTIONS: &[(&str, &str)] = &[
    (
        "sizes in quotes",
        "@T.prim_func(s_tir=True)\ndef main(A: T.Buffer((\"n\",), \"float32\"), P: T.Buffer((\"n + 1\",), \"int32\", offset_factor=1), O: T.Buffer((\"n\",), \"float32\")):\n    n = T.int32()\n    B = T.alloc_buffer((n,))\n    for i in range(n):\n        B[i] = A[i]\n    for i in range(n):\n        O[i] = B[i] + T.Cast(\"float32\", P[i + 1])\n",
    ),
    (
        "sizes in one line",
        "@T.prim_func(s_tir=True)\ndef main(a: T.handle, o: T.handle):\n    n, m = T.int32(), T.int32()\n    A = T.match_buffer(a, (n, m))\n    O = T.match_buffer(o, (n, m))\n    B = T.alloc_buffer((n, m))\n    for i, j in T.grid(n, m):\n        B[i, j] = A[i, j]\n    for i, j in T.grid(n, m):\n        O[i, j] = B[i, j]\n",
    ),
    (
        "memory from a call",
        "@T.prim_func(s_tir=True)\ndef main(args: T.handle, O: T.Buffer((64,), \"float32\")):\n    B = T.alloc_buffer((64,))\n    A = T.decl_buffer((64,), data=T.reinterpret(T.handle(\"float32\", \"global\").ty, T.tvm_struct_get(args, 0, 1, T.handle().ty)))\n    for i in range(64):\n        B[i] = A[i]\n    for i in range(64):\n        O[i] = B[i]\n",
    ),
    (
        "several functions",
        "@I.ir_module\nclass Module:\n    @T.prim_func(private=True, s_tir=True)\n    def inner(X: T.Buffer((8,), \"float32\")):\n        B = T.alloc_buffer((8,))\n        for i in range(8):\n            B[i] = X[i]\n        for i in range(8):\n            X[i] = B[7 - i]\n\n    @T.prim_func(s_tir=True)\n    def main(A: T.Buffer((8,), \"float32\")):\n        B = T.alloc_buffer((8,))\n        for i in range(8):\n            B[i] = A[i]\n        Module.inner(B.data)\n        for i in range(8):\n            A[i] = B[i]\n",
    ),
];

pub(crate) fn programs() -> Vec<(&'static str, String)> {
    let indented = |body: &str| body.lines().map(|line| format!("    {line}\n")).collect::<String>();
    let bodies = BODIES.iter().map(|(name, body)| {
        let buffer = if body.contains("B[") || body.contains("B.") { "    B = T.alloc_buffer((64,))\n" } else { "" };
        (*name, format!("{HEADER}{buffer}{}", indented(body)))
    });
    bodies.chain(FUNCTIONS.iter().map(|(name, text)| (*name, (*text).to_owned()))).collect()
}

/// The text after the storage rewrite, whose layout is found again in it.
fn rewritten(name: &str, text: &str) -> String {
    let script = Script::read(text).unwrap_or_else(|error| panic!("{name}: {error}\n{text}"));
    assert_eq!(script.print(), text, "{name}");
    let mut after = script.clone();
    for (position, function) in script.functions().iter().enumerate() {
        let result =
            storage_rewrite(function, &RewriteOptions::default(), JUDGE).unwrap_or_else(|e| panic!("{name}: {e}"));
        assert!(result.repairs.is_empty(), "{name}: {:?}", result.repairs);
        after.functions_mut()[position] = result.function;
        let printed = after.print();
        let again = Script::read(&printed).unwrap_or_else(|error| panic!("{name}: {error}\n{printed}"));
        assert_eq!(disagreement(function, &result.layout, &again.functions()[position]), None, "{name}\n{printed}");
    }
    after.print()
}

#[test]
fn forms_are_read_and_written_back() {
    for (name, text) in programs() {
        rewritten(name, &text);
    }
}

#[test]
fn tvm_takes_the_forms_before_and_after() {
    let Some(mut tvm) = Tvm::start() else { return };
    for (name, text) in programs() {
        for text in [&text, &rewritten(name, &text)] {
            let answer = tvm.ask(&json!({"op": "parse", "text": text}));
            assert_eq!(answer["ok"], true, "{name}: {answer}\n{text}");
        }
    }
}

/// A loop with a step, and a block with a predicate and an initial part, compute what they say.
#[test]
fn steps_and_blocks_run() {
    let run = |body: &str| {
        let text = format!("@T.prim_func\ndef main(O: T.Buffer((8,), \"int32\")):\n{body}");
        let script = Script::read(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
        run_traced(&script.functions()[0], &RunOptions::default()).expect("it runs")
    };
    let stepped = run("    for i in range(1, 8, 3):\n        O[i] = i\n");
    let plain = run("    for k in range(3):\n        O[k * 3 + 1] = k * 3 + 1\n");
    assert_eq!(stepped, plain);
    let block = run(
        "    for i, k in T.grid(8, 4):\n        with T.sblock(\"b\"):\n            vi, vk = T.axis.remap(\"SR\", [i, k])\n            T.where(i < 5)\n            with T.init():\n                O[vi] = 0\n            O[vi] = O[vi] + vk\n",
    );
    let loops = run(
        "    for i, k in T.grid(8, 4):\n        if i < 5:\n            if k == 0:\n                O[i] = 0\n            O[i] = O[i] + k\n",
    );
    assert_eq!(block, loops);
}

/// What a name in `T.Let` stands for is read where the name is used, and nothing else can be called so.
#[test]
fn a_name_of_a_let_ends_with_it() {
    let text = format!("{HEADER}    x = T.float32()\n    O[0] = T.Let(x, where={{x: A[0]}})\n    O[1] = y\n");
    assert!(Script::read(&text).unwrap_err().to_string().contains("`y` is not defined here"));
    let doubled = (0..40).fold("A[0]".to_owned(), |value, _| format!("T.Let(x + x, where={{x: {value}}})"));
    let text = format!("{HEADER}    x = T.float32()\n    O[0] = {doubled}\n");
    assert!(Script::read(&text).is_err(), "an expression of 2^40 parts");
}

/// The buffers of blocks keep their allocations; a jump forbids in-place computation.
#[test]
fn what_is_not_certain_is_left_alone() {
    for (name, text) in programs() {
        let before = Script::read(&text).expect("readable");
        let after = Script::read(&rewritten(name, &text)).expect("readable");
        let count = |script: &Script| allocation_sites(&script.functions()[0]).len();
        if name.contains("block") {
            assert_eq!(count(&before), count(&after), "{name}");
        }
    }
    let jump = "    B = T.alloc_buffer((64,))\n    for i in range(64):\n        B[i] = A[i]\n    C = T.alloc_buffer((64,))\n    for i in range(64):\n        if A[i] > T.float32(0.0):\n            break\n        C[i] = B[i] + T.float32(1.0)\n    for i in range(64):\n        O[i] = C[i]\n";
    let with_jump = rewritten("jump", &format!("{HEADER}{jump}"));
    assert!(!with_jump.contains("decl_buffer"), "{with_jump}");
    let without = rewritten(
        "no jump",
        &format!("{HEADER}{}", jump.replace("            break\n", "            T.evaluate(0)\n")),
    );
    assert!(without.contains("decl_buffer"), "{without}");
}
