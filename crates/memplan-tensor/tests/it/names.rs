//! Whatever a rewritten text names is defined there, in front of its use and in a block around it.

use crate::tvm_peer::Tvm;
use memplan_tensor::places::disagreement;
use memplan_tensor::rewrite::{Mode, RewriteError, RewriteOptions, storage_rewrite};
use memplan_tensor::script::Script;
use serde_json::json;

const HEADER: &str = "@T.prim_func(s_tir=True)\ndef main(a: T.handle, O: T.Buffer((16,), \"float32\")):\n";

/// `C` from `A`, then `D` from `C`, then `A` again, an element each.
fn chain(indentation: &str, extent: &str) -> String {
    let lines = [
        format!("C = T.alloc_buffer(({extent},))"),
        format!("D = T.alloc_buffer(({extent},))"),
        "C[0] = A[0]".to_owned(),
        "D[0] = C[0] * T.float32(2)".to_owned(),
        "A[1] = D[0]".to_owned(),
    ];
    lines.iter().map(|line| format!("{indentation}{line}\n")).collect()
}

/// Functions whose allocations depend on names, or are named by something else than their uses.
fn programs() -> Vec<(&'static str, String)> {
    let sized = "    n = T.int32()\n    A = T.match_buffer(a, (n,))\n";
    let fixed = "    A = T.match_buffer(a, (16,))\n";
    let marked = |mark: &str| {
        format!(
            "{fixed}    B = T.alloc_buffer((16,))\n    M = T.alloc_buffer((16,), \"int8\")\n{mark}        B[0] = A[0]\n        O[0] = B[0]\n"
        )
    };
    vec![
        ("sizes named first", sized.to_owned() + &chain("    ", "n")),
        ("sizes named behind a statement", format!("    O[0] = T.float32(1)\n{sized}") + &chain("    ", "n")),
        ("sizes in a parallel loop", format!("{sized}    for k in T.parallel(4):\n") + &chain("        ", "n")),
        (
            "sizes in a launch",
            format!("{sized}    with T.launch_thread(\"blockIdx.x\", 4) as bx:\n") + &chain("        ", "n"),
        ),
        ("an extent of a loop", format!("{sized}    for k in range(4):\n") + &chain("        ", "k + 1")),
        (
            "an extent of a launch",
            format!("{sized}    with T.launch_thread(\"blockIdx.x\", 4) as bx:\n") + &chain("        ", "bx + 1"),
        ),
        ("an extent of a let", format!("{sized}    m: T.let[T.int32] = n * 2\n") + &chain("    ", "m")),
        (
            "a name in two loops",
            format!("{sized}    for i in range(2):\n")
                + &chain("        ", "n")
                + "    for i in range(2):\n"
                + &chain("        ", "n + 1"),
        ),
        ("a mark around statements", marked("    with T.attr(M.data, \"volatile_scope\", 1):\n")),
        (
            "a mark of a view",
            marked("    V = T.decl_buffer((4,), data=M.data)\n    with T.attr(V.data, \"volatile_scope\", 1):\n"),
        ),
    ]
}

/// What a mode makes of a function; `None` where it refuses.
fn rewritten(name: &str, text: &str, options: &RewriteOptions) -> Option<String> {
    let script = Script::read(text).unwrap_or_else(|error| panic!("{name}: {error}\n{text}"));
    let before = &script.functions()[0];
    let result = match storage_rewrite(before, options, crate::JUDGE) {
        Ok(result) => result,
        Err(RewriteError::Refused { .. }) => return None,
        Err(error) => panic!("{name}: {error}\n{text}"),
    };
    let mut after = script.clone();
    after.functions_mut()[0] = result.function;
    let new = after.print();
    let again = Script::read(&new).unwrap_or_else(|error| panic!("{name}: {error}\n{new}"));
    assert_eq!(disagreement(before, &result.layout, &again.functions()[0]), None, "{name}\n{new}");
    Some(new)
}

#[test]
fn every_name_is_defined_where_it_is_used() {
    let mut tvm = Tvm::start();
    let mut compatible = 0;
    for (name, body) in programs() {
        let text = format!("{HEADER}{body}");
        let compat = RewriteOptions { mode: Mode::Compat, ..RewriteOptions::default() };
        let arena = RewriteOptions { strategy: Some("first-fit".to_owned()), ..RewriteOptions::default() };
        for options in [RewriteOptions::default(), compat, arena] {
            let Some(new) = rewritten(name, &text, &options) else {
                assert_eq!(options.mode, Mode::Compat, "{name}");
                continue;
            };
            compatible += u32::from(options.mode == Mode::Compat);
            if let Some(tvm) = &mut tvm {
                let answer = tvm.ask(&json!({"op": "parse", "text": new}));
                assert_eq!(answer["ok"], true, "{name}: {answer}\n{new}");
            }
        }
    }
    assert!(compatible >= 6, "{compatible} are rewritten by `compat`");
}

/// In memory that becomes vectors, a buffer of scalars counts in vectors afterwards, and a buffer that was declared as
/// vectors keeps its extents and its subscripts.
#[test]
fn buffers_of_vectors_keep_their_subscripts() {
    let run = |text: &str| {
        let script = Script::read(text).unwrap_or_else(|error| panic!("{error}\n{text}"));
        memplan_tensor::interpret::run(&script.functions()[0], &Default::default())
    };
    let header =
        "@T.prim_func(s_tir=True)\ndef main(E: T.Buffer((128,), \"float32\"), O: T.Buffer((128,), \"float32\")):\n";
    let declared = "    X = T.alloc_buffer((4, 8), \"float32x4\")\n    Y = T.alloc_buffer((4, 8), \"float32x4\")\n    for i, j in T.grid(4, 8):\n        X[i, j] = E[T.Ramp(i * 32 + j * 4, 1, 4)]\n    for i, j in T.grid(4, 8):\n        Y[i, j] = X[3 - i, 7 - j]\n    for i, j in T.grid(4, 8):\n        O[T.Ramp(i * 32 + j * 4, 1, 4)] = Y[i, j]\n";
    let viewed = "    X = T.alloc_buffer((64,))\n    Y = T.decl_buffer((4, 4), \"float32x4\", data=X.data)\n    for i in range(16):\n        X[i * 4:i * 4 + 4] = E[T.Ramp(i * 4, 1, 4)]\n    for i, j in T.grid(4, 4):\n        O[T.Ramp(i * 16 + j * 4, 1, 4)] = Y[3 - i, 3 - j]\n";
    let rows = "    X = T.alloc_buffer((4, 8))\n    Y = T.alloc_buffer((64,))\n    for i, j in T.grid(4, 2):\n        X[i, j * 4:j * 4 + 4] = E[T.Ramp(i * 8 + j * 4, 1, 4)]\n    for i, j in T.grid(4, 2):\n        O[T.Ramp(i * 8 + j * 4, 1, 4)] = X[3 - i, T.Ramp(j * 4, 1, 4)]\n    for i in range(16):\n        Y[i * 4:i * 4 + 4] = E[T.Ramp(i * 4, 1, 4)]\n    for i in range(16):\n        O[i * 4:i * 4 + 4] = Y[T.Ramp(60 - i * 4, 1, 4)] + O[T.Ramp(i * 4, 1, 4)]\n";
    // Rows of six elements: the four lanes at the start of a row are no whole vector of the memory.
    let odd_rows = "    X = T.alloc_buffer((4, 6))\n    Y = T.alloc_buffer((5,), \"float32x4\")\n    for i in range(5):\n        Y[i] = E[T.Ramp(i * 4, 1, 4)]\n    for i in range(4):\n        X[i, 0:4] = E[T.Ramp(i * 4, 1, 4)]\n    for i in range(4):\n        O[T.Ramp(i * 4, 1, 4)] = X[3 - i, T.Ramp(0, 1, 4)]\n    for i in range(5):\n        O[T.Ramp(16 + i * 4, 1, 4)] = Y[4 - i]\n";
    // Each access is of four neighbouring vectors.
    let lanes = "    X = T.alloc_buffer((16,), \"float32x4\")\n    Y = T.alloc_buffer((16,), \"float32x4\")\n    for i in range(4):\n        X[T.Ramp(i * 4, 1, 4)] = E[T.Ramp(i * 16, 1, 16)]\n    for i in range(4):\n        Y[T.Ramp(i * 4, 1, 4)] = X[T.Ramp(12 - i * 4, 1, 4)]\n    for i in range(4):\n        O[T.Ramp(i * 16, 1, 16)] = Y[T.Ramp(i * 4, 1, 4)]\n";
    let strided = "    X = T.alloc_buffer((64,))\n    Y = T.decl_buffer((4, 8), data=X.data, strides=[16, 1])\n    for i in range(16):\n        X[i * 4:i * 4 + 4] = E[T.Ramp(i * 4, 1, 4)]\n    for i, j in T.grid(4, 2):\n        O[T.Ramp(i * 8 + j * 4, 1, 4)] = Y[3 - i, T.Ramp(j * 4, 1, 4)]\n";
    let programs = [
        ("declared", declared),
        ("viewed", viewed),
        ("rows", rows),
        ("odd rows", odd_rows),
        ("lanes", lanes),
        ("strided", strided),
    ];
    for (name, body) in programs {
        let text = format!("{header}{body}");
        let expected = run(&text);
        let arena = RewriteOptions { strategy: Some("greedy-by-size".to_owned()), ..RewriteOptions::default() };
        for options in [RewriteOptions::default(), arena] {
            let new = rewritten(name, &text, &options).expect("not refused");
            assert_eq!(run(&new), expected, "{name} {options:?}\n{new}");
        }
        assert!(expected.is_ok(), "{name}: {expected:?}");
    }
}

/// A declaration that loads from a buffer loads from where that buffer is now, and a buffer that keeps its allocation
/// keeps its type.
#[test]
fn declarations_follow_their_buffers() {
    let run = |text: &str| {
        let script = Script::read(text).unwrap_or_else(|error| panic!("{error}\n{text}"));
        memplan_tensor::interpret::run(&script.functions()[0], &Default::default())
    };
    let header = "@T.prim_func(s_tir=True)\ndef main(E: T.Buffer((64,), \"int32\"), O: T.Buffer((64,), \"int32\")):\n";
    let offset = "    Z = T.alloc_buffer((64,), \"int32\")\n    I = T.alloc_buffer((16,), \"int32\")\n    A = T.alloc_buffer((128,), \"int32\")\n    for k in range(64):\n        Z[k] = E[k]\n    for k in range(16):\n        I[k] = Z[k] + 1\n    for k in range(128):\n        A[k] = k + I[0]\n    B = T.decl_buffer((16,), \"int32\", data=A.data, elem_offset=I[3])\n    for k in range(16):\n        O[k] = B[k] + Z[k]\n";
    let flat = "    I = T.alloc_buffer((2, 2), \"int32\")\n    A = T.alloc_buffer((8,), \"int32\")\n    I[0, 0] = 2\n    I[1, 1] = 3\n    for k in range(8):\n        A[k] = k\n    B = T.decl_buffer((4,), \"int32\", data=A.data, elem_offset=I[1, 1])\n    O[0] = B[0]\n";
    let part = "    A = T.alloc_buffer((4, 8), \"int32\")\n    for i, j in T.grid(4, 8):\n        A[i, j] = i * 10 + j\n    P = T.match_buffer(A[1:3, 0:2], (2, 2), \"int32\")\n    O[0] = P[1, 0]\n";
    let vectors = |declaration: &str, call: &str| {
        format!(
            "    A = T.alloc_buffer((32,), \"int32\"{declaration}\n    for i in range(8):\n        A[i * 4:i * 4 + 4] = E[i * 4:i * 4 + 4]\n{call}    for i in range(8):\n        O[i * 4:i * 4 + 4] = A[i * 4:i * 4 + 4]\n"
        )
    };
    let marked = vectors(", annotations={\"my_mark\": 1})", "");
    let held = vectors(")\n    p: T.let[T.handle] = A.data", "    T.call_extern(\"int32\", \"f\", p)\n");
    let default = RewriteOptions::default;
    let arena = || RewriteOptions { strategy: Some("greedy-by-size".to_owned()), ..default() };
    let flatten = || RewriteOptions { flatten: true, ..default() };
    for (name, body) in [("offset", offset), ("flat", flat), ("part", part), ("marked", &marked), ("held", &held)] {
        let text = format!("{header}{body}");
        for options in [default(), arena(), flatten()] {
            let new = rewritten(name, &text, &options).expect("not refused");
            assert!(!new.contains("strides=)") && !new.contains("strides=,"), "{name}\n{new}");
            if name != "held" {
                assert_eq!(run(&new), run(&text), "{name} {options:?}\n{new}");
                assert!(run(&new).is_ok(), "{name}: {:?}", run(&new));
            }
        }
    }
}
