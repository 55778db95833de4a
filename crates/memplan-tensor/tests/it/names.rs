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
