//! The judge of in-place reuse against execution: what it permits computes the same, and every lie of a rewriter is caught.

use crate::JUDGE;
use crate::generate::Random;
use memplan_tensor::interpret::{Order, RunOptions, run_traced};
use memplan_tensor::ir::{BufId, Function};
use memplan_tensor::rewrite::{Apart, Layout, RewriteOptions, check, collect, decide};
use memplan_tensor::script::Script;

fn read(text: &str) -> Function {
    Script::read(text).unwrap_or_else(|error| panic!("{error}\n{text}")).functions()[0].clone()
}

/// A layout of the function in which `B` takes the place of `A`, as a rewriter would have it whose proof always says yes.
fn lying_layout(function: &Function) -> Layout {
    let decision = decide(&collect(function), &RewriteOptions::default(), &Apart::default(), JUDGE).expect("laid out");
    let named = |name: &str| -> BufId { function.buffer_named(name).expect("a buffer") };
    let mut layout = decision.layout;
    layout.places[named("B")] = layout.places[named("A")];
    layout
}

/// The text in which `B` is a view of `A`.
fn laid_over(text: &str) -> String {
    let line = text.lines().find(|line| line.trim_start().starts_with("B = T.alloc_buffer(")).expect("an allocation");
    let (head, rest) = line.split_once("T.alloc_buffer(").expect("an allocation");
    let arguments = rest.trim_end().strip_suffix(')').expect("a call");
    // A view has its memory's scope.
    let arguments = arguments.split(", scope=").next().expect("arguments");
    let scope =
        rest.split("scope=").nth(1).map_or(String::new(), |scope| format!(", scope={}", scope.trim_end_matches(')')));
    let view = format!("{head}T.decl_buffer({arguments}, data=A.data{scope})");
    text.replacen(line, &view, 1)
}

/// Whether both texts compute the same in all orders, for several inputs; `None` if the first does not run.
fn computes_the_same(before: &Function, after: &Function) -> Option<bool> {
    let mut same = true;
    for order in [Order::Forward, Order::Backward, Order::Lockstep] {
        for seed in 0..3 {
            let options = RunOptions { seed, order, max_steps: 100_000, ..RunOptions::default() };
            let expected = run_traced(before, &options).ok()?;
            same &= run_traced(after, &options) == Ok(expected);
        }
    }
    Some(same)
}

const HEADER: &str = "@T.prim_func(s_tir=True)\ndef main(n: T.int32, E: T.Buffer((64,), \"float32\"), I: T.Buffer((64,), \"int32\"), O: T.Buffer((64,), \"float32\")):\n";

fn program(body: &str) -> String {
    let lines: Vec<String> = body.trim_matches('\n').lines().map(|line| format!("    {line}\n")).collect();
    format!("{HEADER}{}", lines.concat())
}

/// `A` and `B` of eight elements, `A` filled, a statement, `B` read.
fn around(statement: &str) -> String {
    program(&format!(
        "A = T.alloc_buffer((8,))\nB = T.alloc_buffer((8,))\nfor i in range(8):\n    A[i] = E[i]\n{}\nfor i in range(8):\n    O[i] = B[i]",
        statement.trim_matches('\n')
    ))
}

/// As [`around`], with a loop `i` of so many iterations around a second loop, and only the stored elements read.
fn around_moving(inner: &str, index: &str, iterations: usize) -> String {
    let nest = |body: &str| format!("for i in range({iterations}):\n    {inner}\n        {body}");
    let (compute, read) = (format!("B[{index}] = A[{index}] + T.float32(1)"), format!("O[{index}] = B[{index}]"));
    program(&format!(
        "A = T.alloc_buffer((8,))\nB = T.alloc_buffer((8,))\nfor i in range(8):\n    A[i] = E[i]\n{}\n{}",
        nest(&compute),
        nest(&read)
    ))
}

/// Statements that go wrong if `B` is computed into `A`, by what makes them wrong.
fn lies() -> Vec<(&'static str, String)> {
    let mut lies = vec![
        ("an element twice", around("for r, i in T.grid(2, 8):\n    B[i] = A[i] + T.float32(1)")),
        ("a shifted read", around("for i in range(8):\n    B[i] = A[(i + 7) % 8] + T.float32(1)")),
        ("a shift by one", around("B[0] = T.float32(0)\nfor i in range(7):\n    B[i + 1] = A[i] + T.float32(1)")),
        ("a reversed read", around("for i in range(8):\n    B[i] = A[7 - i]")),
        (
            "an initialisation first",
            around("for i in range(8):\n    B[i] = T.float32(0)\n    B[i] = A[i] + T.float32(1)"),
        ),
        (
            "a reduction",
            around("for i in range(8):\n    B[i] = T.float32(0)\n    for k in range(8):\n        B[i] = B[i] + A[k]"),
        ),
        ("a broadcast element", around("for i in range(8):\n    B[i] = A[i] + A[0]")),
        (
            "a later statement of the iteration",
            around("for i in range(8):\n    B[i] = A[i] + T.float32(1)\n    O[i + 8] = A[i]"),
        ),
        (
            "an earlier element in a later iteration",
            around("for i in range(8):\n    B[i] = A[i] + T.float32(1)\n    O[i + 8] = A[0]"),
        ),
        ("the source written afterwards", around("for i in range(8):\n    B[i] = A[i]\n    A[i] = T.float32(9)")),
        (
            "the source written in between",
            around("for i in range(8):\n    A[7 - i] = T.float32(9)\n    B[i] = A[i] + T.float32(1)"),
        ),
        ("folded indices", around("for i in range(16):\n    B[i % 8] = A[i % 8] + T.float32(1)")),
        ("divided indices", around("for i in range(16):\n    B[i // 2] = A[i // 2] + T.float32(1)")),
        (
            "a name that cancels the loop",
            around(
                "for i in range(8):\n    B[i] = T.float32(0)\nfor k in range(8):\n    x: T.let[T.int32] = 3 - k\n    B[x + k] = A[x + k] + T.float32(1)",
            ),
        ),
        ("a range that moves against the outer loop", around_moving("for j in range(-i, 2 - i):", "i * 2 + j", 2)),
        ("one iteration that moves against the outer loop", around_moving("for j in range(7 - i, 8 - i):", "j + i", 8)),
        ("data as index", around("for i in range(8):\n    B[i] = A[I[i]] + T.float32(1)")),
        (
            "what an earlier round of the loop around the statement left",
            around(
                "for k in range(2):\n    D = T.alloc_buffer((1,))\n    D[0] = E[k]\n    for i in range(8):\n        A[i] = E[i + k * 8] + D[0]\n    for i in range(8):\n        if k > 0:\n            O[i + 8 + k * 8] = B[i]\n        B[i] = A[i]",
            ).replace("\n    for i in range(8):\n        O[i] = B[i]", ""),
        ),
        (
            "what an earlier round may have left",
            around(
                "for k in range(2):\n    D = T.alloc_buffer((1,))\n    D[0] = E[k]\n    for i in range(8):\n        A[i] = E[i + k * 8] + D[0]\n    for i in range(8):\n        if k == 0:\n            B[i] = A[i]\n        O[i + 8 + k * 8] = B[i]",
            ).replace("\n    for i in range(8):\n        O[i] = B[i]", ""),
        ),
        (
            "data behind a name",
            around("for i in range(8):\n    x: T.let[T.int32] = I[i]\n    B[i] = A[x] + T.float32(1)"),
        ),
        ("overlapping rows", around("for i, j in T.grid(2, 5):\n    B[i * 3 + j] = A[i * 3 + j] + T.float32(1)")),
        ("a parallel neighbour", around("for i in T.parallel(8):\n    B[i] = A[(i + 1) % 8] + T.float32(1)")),
        ("lanes that meet", around("for i in T.vectorized(8):\n    B[i] = A[7 - i]")),
        (
            "a shifted vector",
            around("for i in range(7):\n    B[T.Ramp(i, 1, 2)] = A[T.Ramp(i, 1, 2)] + T.Broadcast(T.float32(1), 2)"),
        ),
        (
            "a view shifted by one",
            around(
                "V = T.decl_buffer((7,), data=A.data, elem_offset=1)\nB[0] = T.float32(0)\nfor i in range(7):\n    B[7 - i] = V[i] + A[i]",
            ),
        ),
        (
            "a branch that may write first",
            around(
                "for i in range(8):\n    B[i] = T.float32(3)\n    if E[i] > T.float32(2):\n        B[i] = A[i] + T.float32(1)",
            ),
        ),
        (
            "a loop of unknown length",
            around(
                "j = T.alloc_buffer((1,), \"int32\")\nj[0] = 0\nwhile j[0] < 2:\n    for i in range(8):\n        B[i] = A[i] + T.float32(1)\n    j[0] = j[0] + 1",
            ),
        ),
        (
            "an address handed out",
            around("for i in range(8):\n    B[i] = A[i] + T.float32(1)\n    T.call_extern(\"int32\", \"f\", A.data)"),
        ),
        (
            "a transposition",
            program(
                "A = T.alloc_buffer((4, 4))\nB = T.alloc_buffer((4, 4))\nfor i, j in T.grid(4, 4):\n    A[i, j] = E[i * 4 + j]\nfor i, j in T.grid(4, 4):\n    B[i, j] = A[j, i] + T.float32(1)\nfor i, j in T.grid(4, 4):\n    O[i * 4 + j] = B[i, j]",
            ),
        ),
        (
            "a symbolic transposition",
            program(
                "A = T.alloc_buffer((n, n))\nB = T.alloc_buffer((n, n))\nfor i, j in T.grid(n, n):\n    A[i, j] = E[i * n + j]\nfor i, j in T.grid(n, n):\n    B[i, j] = A[j, i] + T.float32(1)\nfor i, j in T.grid(n, n):\n    O[i * n + j] = B[i, j]",
            ),
        ),
        (
            "symbolic rows that overlap",
            program(
                "A = T.alloc_buffer((n * n,))\nB = T.alloc_buffer((n * n,))\nfor i in range(n * n):\n    A[i] = E[i]\nfor i, j in T.grid(n, n):\n    B[i * (n - 1) + j] = A[i * (n - 1) + j] + T.float32(1)\nfor i in range(n):\n    O[i] = B[i]",
            ),
        ),
        (
            "a symbolic sweep twice",
            program(
                "A = T.alloc_buffer((n,))\nB = T.alloc_buffer((n,))\nfor i in range(n):\n    A[i] = E[i]\nfor r, i in T.grid(n, n):\n    B[i] = A[i] + T.float32(1)\nfor i in range(n):\n    O[i] = B[i]",
            ),
        ),
        ("rows of unknown length, which may be empty", around_moving("for j in range(1):", "i * (n - n // 1)", 8)),
        (
            "indices that pass over the end of int8",
            around(
                "for i in range(T.int8(0), T.int8(16)):\n    B[T.Cast(\"int32\", i * T.int8(32)) // 32 + 4] = A[T.Cast(\"int32\", i * T.int8(32)) // 32 + 4] + T.float32(1)",
            ),
        ),
        (
            "indices that pass over the end of uint8",
            program(
                "A = T.alloc_buffer((256,))\nB = T.alloc_buffer((256,))\nfor i in range(256):\n    A[i] = E[i % 64]\nfor i in range(T.uint8(0), T.uint8(16)):\n    B[i * T.uint8(32)] = A[i * T.uint8(32)] + T.float32(1)\nfor i in range(8):\n    O[i] = B[i * 32]",
            ),
        ),
        (
            "lanes that pass over the end of uint8",
            program(
                "A = T.alloc_buffer((256,))\nB = T.alloc_buffer((256,))\nfor i in range(256):\n    A[i] = E[i % 64]\nfor i in range(T.uint8(0), T.uint8(2)):\n    B[T.Ramp(i * T.uint8(128), T.uint8(64), 4)] = A[T.Ramp(i * T.uint8(128), T.uint8(64), 4)] + T.Broadcast(T.float32(1), 4)\nfor i in range(4):\n    O[i] = B[i * 64]",
            ),
        ),
        (
            "indices that pass over the end of uint32",
            around(
                "for i in range(T.uint32(0), T.uint32(16)):\n    x: T.let[T.uint32] = i * T.uint32(536870912)\n    B[T.Cast(\"int32\", x // T.uint32(536870912))] = A[T.Cast(\"int32\", x // T.uint32(536870912))] + T.float32(1)",
            ),
        ),
        (
            "wider elements",
            program(
                "A = T.alloc_buffer((16,), \"int16\")\nB = T.alloc_buffer((8,), \"float32\")\nfor i in range(16):\n    A[i] = T.Cast(\"int16\", E[i])\nfor i in range(8):\n    B[i] = T.Cast(\"float32\", A[i])\nfor i in range(8):\n    O[i] = B[i]",
            ),
        ),
        (
            "narrower elements, backwards",
            program(
                "A = T.alloc_buffer((8,), \"float32\")\nB = T.alloc_buffer((16,), \"int16\")\nfor i in range(8):\n    A[i] = E[i]\nfor i in range(8):\n    B[7 - i] = T.Cast(\"int16\", A[7 - i])\nfor i in range(8):\n    O[i] = T.Cast(\"float32\", B[i])",
            ),
        ),
        (
            "a view with other strides",
            program(
                "A = T.alloc_buffer((4, 4))\nB = T.alloc_buffer((4, 4))\nS = T.decl_buffer((4, 4), data=A.data, strides=(1, 4))\nfor i, j in T.grid(4, 4):\n    A[i, j] = E[i * 4 + j]\nfor i, j in T.grid(4, 4):\n    B[i, j] = S[i, j] + T.float32(1)\nfor i, j in T.grid(4, 4):\n    O[i * 4 + j] = B[i, j]",
            ),
        ),
        (
            "columns before rows",
            program(
                "A = T.alloc_buffer((4, 4))\nB = T.alloc_buffer((4, 4), strides=(1, 4))\nfor i, j in T.grid(4, 4):\n    A[i, j] = E[i * 4 + j]\nfor i, j in T.grid(4, 4):\n    B[i, j] = A[i, j] + T.float32(1)\nfor i, j in T.grid(4, 4):\n    O[i * 4 + j] = B[i, j]",
            ),
        ),
        (
            "a list with gaps",
            around(
                "S = T.decl_buffer((3,), data=A.data, strides=(2,))\nfor i in range(3):\n    B[2 - i] = S[2 - i] + T.float32(1)\nfor i in range(5):\n    B[i + 3] = T.float32(0)",
            ),
        ),
        (
            "an offset that depends on the source",
            around(
                "for i in range(8):\n    V = T.decl_buffer((1,), data=E.data, elem_offset=T.Cast(\"int32\", A[0]) % 8)\n    B[i] = A[i] + T.float32(1) + V[0]",
            ),
        ),
        (
            "a stride that depends on the source",
            around(
                "for i in range(8):\n    V = T.decl_buffer((2,), data=E.data, strides=(T.Cast(\"int32\", A[0]) % 8,))\n    B[i] = A[i] + T.float32(1) + V[1]",
            ),
        ),
        (
            "an index that is computed with a point",
            around(
                "for r in range(1):\n    B[7] = A[7] + T.float32(1)\n    B[6] = A[6]\n    for i in range(6):\n        B[i] = A[i] + T.float32(1)\n    B[T.Cast(\"int32\", T.float32(7) / T.float32(2) * T.float32(2))] = A[T.Cast(\"int32\", T.float32(7) / T.float32(2) * T.float32(2))] + T.float32(1)",
            ),
        ),
    ];
    let kernel = |index: &str| {
        program(&format!(
            "with T.launch_thread(\"threadIdx.x\", 8) as t:\n    A = T.alloc_buffer((8,), scope=\"shared\")\n    B = T.alloc_buffer((8,), scope=\"shared\")\n    A[t] = E[t]\n    x: T.let[T.int32] = 3 - t\n    B[t] = T.float32(0)\n    B[{index}] = A[{index}] + T.float32(1)\n    O[t] = B[t]"
        ))
    };
    // Lanes 4 to 8. Counted from 0, they would read elements that no lane writes, or take no branch at all.
    let lanes = |store: &str| {
        program(&format!(
            "A = T.alloc_buffer((8,))\nB = T.alloc_buffer((8,))\nfor i in range(8):\n    A[i] = E[i]\nfor l in T.vectorized(4, 8):\n    D = T.alloc_buffer((1,))\n    D[0] = E[l]\n    {store}\n    O[l + 8] = D[0]\nfor i in range(4):\n    O[i] = B[i + 4]"
        ))
    };
    lies.push(("lanes that meet and do not begin at 0", lanes("B[l] = A[11 - l]")));
    lies.push(("lanes that meet in a branch", lanes("if l >= 4:\n        B[l] = A[11 - l]")));
    lies.push(("threads that meet", kernel("t // 2")));
    lies.push(("threads that meet through a name", kernel("x + t")));
    lies
}

/// A rewriter whose proof says yes to every pair is caught each time.
#[test]
fn every_lie_is_caught() {
    let lies = lies();
    assert!(lies.len() >= 30);
    for (name, text) in lies {
        let function = read(&text);
        let same = computes_the_same(&function, &read(&laid_over(&text)));
        // An address handed out, and data that happens to be harmless, need not show.
        assert!(same == Some(false) || matches!(name, "an address handed out"), "{name}: {same:?}\n{text}");
        let conflicts = check(&function, &lying_layout(&function), JUDGE).expect("a program");
        assert!(!conflicts.is_empty(), "{name} is not caught\n{text}");
        let pair = ["A", "B"].map(|name| function.buffer_named(name).expect("a buffer"));
        let named =
            conflicts.iter().flat_map(|conflict| &conflict.pairs).any(|&(a, b)| pair.contains(&a) && pair.contains(&b));
        assert!(named, "{name}: {conflicts:?}");
    }
}

/// The rewriter's own proof says no to every pair, so that the judge has nothing to correct.
#[test]
fn no_lie_is_proposed() {
    for (name, text) in lies() {
        let function = read(&text);
        let options = RewriteOptions::default();
        let layout = decide(&collect(&function), &options, &Apart::default(), JUDGE).expect("laid out").layout;
        let [a, b] = ["A", "B"].map(|name| layout.places[function.buffer_named(name).expect("a buffer")]);
        let apart = a.zip(b).is_some_and(|(a, b)| a.allocation != b.allocation || a.bit_offset != b.bit_offset);
        assert!(apart, "{name}: {a:?} and {b:?}\n{text}");
    }
}

/// Statements that may be computed in place, of every form that the judge knows.
#[test]
fn what_is_right_is_permitted() {
    let mut right = vec![
        around("for i in range(8):\n    B[i] = A[i] + T.float32(1)"),
        around("for i in range(8):\n    B[7 - i] = A[7 - i] * A[7 - i]"),
        around("for i in T.parallel(8):\n    B[i] = A[i] + T.float32(1)"),
        around("for i, j in T.grid(2, 4):\n    B[i * 4 + j] = A[i * 4 + j] + T.float32(1)"),
        around("for i, j in T.grid(2, 4):\n    B[j * 2 + i] = A[j * 2 + i] + T.float32(1)"),
        around("for i in range(8):\n    B[i] = A[i]\n    B[i] = A[i] + T.float32(1)"),
        around("for i in range(8):\n    B[i // 4 * 4 + i % 4] = A[i // 4 * 4 + i % 4] + T.float32(1)"),
        around("for i in range(7):\n    B[i] = A[i + 1] + A[i]\nB[7] = T.float32(0)"),
        around(
            "for i in range(2):\n    B[T.Ramp(i * 4, 1, 4)] = A[T.Ramp(i * 4, 1, 4)] + T.Broadcast(T.float32(1), 4)",
        ),
        around("for i in range(8):\n    O[i + 8] = A[i]\n    B[i] = A[i] + T.float32(1)"),
        around(
            "for i in range(8):\n    if E[i] > T.float32(2):\n        B[i] = A[i] + T.float32(1)\n    else:\n        B[i] = A[i] - T.float32(1)",
        ),
        program(
            "A = T.alloc_buffer((n,))\nB = T.alloc_buffer((n,))\nfor i in range(n):\n    A[i] = E[i]\nfor i in range(n):\n    B[i] = A[i] + T.float32(1)\nfor i in range(n):\n    O[i] = B[i]",
        ),
        program(
            "A = T.alloc_buffer((n, n))\nB = T.alloc_buffer((n, n))\nfor i, j in T.grid(n, n):\n    A[i, j] = E[i * n + j]\nfor i, j in T.grid(n, n):\n    B[i, j] = A[i, j] + T.float32(1)\nfor i, j in T.grid(n, n):\n    O[i * n + j] = B[i, j]",
        ),
        program(
            "A = T.alloc_buffer((8,), \"float32\")\nB = T.alloc_buffer((16,), \"int16\")\nfor i in range(8):\n    A[i] = E[i]\nfor i in range(8):\n    B[i] = T.Cast(\"int16\", A[i])\nfor i in range(8):\n    O[i] = T.Cast(\"float32\", B[i])",
        ),
    ];
    right.push(program(
        "with T.launch_thread(\"threadIdx.x\", 8) as t:\n    A = T.alloc_buffer((8,), scope=\"shared\")\n    B = T.alloc_buffer((8,), scope=\"shared\")\n    A[t] = E[t]\n    B[t] = A[t] + T.float32(1)\n    O[t] = B[t]",
    ));
    for text in right {
        let function = read(&text);
        assert_eq!(computes_the_same(&function, &read(&laid_over(&text))), Some(true), "{text}");
        let conflicts = check(&function, &lying_layout(&function), JUDGE).expect("a program");
        assert!(conflicts.is_empty(), "{conflicts:?}\n{text}");
    }
}

/// A subscript of loop variables, in 0..16 more often than not.
fn subscript(random: &mut Random, vars: &[(String, usize)]) -> String {
    let one = |random: &mut Random| vars[random.below(vars.len())].0.clone();
    let rows = |vars: &[(String, usize)]| match vars {
        [(i, _)] => i.clone(),
        [(i, _), (j, extent), ..] => format!("{i} * {extent} + {j}"),
        [] => "0".to_owned(),
    };
    match random.below(14) {
        0..=5 => rows(vars),
        6 => format!("15 - ({})", rows(vars)),
        7 => format!("({} + {}) % 16", rows(vars), 1 + random.below(15)),
        8 => format!("({}) * {} % 16", rows(vars), [3, 5, 7, 2][random.below(4)]),
        9 => format!("({}) // 2", rows(vars)),
        10 => one(random),
        11 => format!("{} + {}", rows(vars), random.below(3)),
        12 => random.below(16).to_string(),
        _ => {
            let mut turned = vars.to_vec();
            turned.reverse();
            rows(&turned)
        }
    }
}

/// One to three statements over `A` and `B`, in one or two loops.
fn nest(random: &mut Random) -> String {
    let kinds = ["range", "range", "range", "T.unroll", "T.parallel", "T.vectorized"];
    let shapes: [&[usize]; 6] = [&[16], &[4, 4], &[2, 8], &[8, 2], &[3, 5], &[2, 16]];
    let extents = shapes[random.below(shapes.len())];
    let mut text = String::new();
    let mut vars = Vec::new();
    for (depth, extent) in extents.iter().enumerate() {
        let kind = kinds[random.below(if depth == 0 { kinds.len() } else { 4 })];
        let indent = "    ".repeat(depth);
        text.push_str(&format!("{indent}for i{depth} in {kind}({extent}):\n"));
        vars.push((format!("i{depth}"), *extent));
    }
    let indent = "    ".repeat(extents.len());
    let shared = subscript(random, &vars);
    let index = |random: &mut Random| if random.chance(60) { shared.clone() } else { subscript(random, &vars) };
    for statement in 0..1 + random.below(3) {
        let target = if statement == 0 || random.chance(75) { "B" } else { "A" };
        let source = if random.chance(85) { "A" } else { "B" };
        let (at, from) = (index(random), index(random));
        let value = match random.below(4) {
            0 => format!("{source}[{from}]"),
            1 => format!("{source}[{from}] + A[{}]", index(random)),
            2 => format!("{source}[{from}] + E[{}]", index(random)),
            _ => format!("T.min({source}[{from}] + T.float32(1), T.float32(50))"),
        };
        let guard = random.chance(15);
        if guard {
            text.push_str(&format!("{indent}if E[{}] > T.float32(2):\n", index(random)));
        }
        let inner = if guard { "    " } else { "" };
        text.push_str(&format!("{indent}{inner}{target}[{at}] = {value}\n"));
    }
    text
}

/// Nests by the thousand: the judge never permits what execution shows to be wrong.
#[test]
fn judge_against_execution() {
    let (mut permitted, mut refused_wrong, mut refused_right, mut skipped) = (0, 0, 0, 0);
    for seed in 0..6_000 {
        let mut random = Random::new(seed + 7_000_000);
        let body = nest(&mut random);
        // Few nests write all of B; what is read afterwards is what the first iterations wrote.
        let text = program(&format!(
            "A = T.alloc_buffer((20,))\nB = T.alloc_buffer((20,))\nfor i in range(20):\n    A[i] = E[i]\n{body}for i in range(16):\n    O[i] = B[i]"
        ));
        let function = read(&text);
        let Some(same) = computes_the_same(&function, &read(&laid_over(&text))) else {
            skipped += 1;
            continue;
        };
        let conflicts = check(&function, &lying_layout(&function), JUDGE).expect("a program");
        match (conflicts.is_empty(), same) {
            (true, true) => permitted += 1,
            (true, false) => panic!("{seed}: permitted, and wrong\n{text}"),
            (false, false) => refused_wrong += 1,
            (false, true) => refused_right += 1,
        }
    }
    let counts =
        format!("{permitted} permitted, {refused_wrong} wrong, {refused_right} harmless refused, {skipped} do not run");
    assert!(permitted > 150 && refused_wrong > 500, "{counts}");
    // Harmless by luck of the data, or by a race of the program's own, is refused as well.
    assert!(refused_right * 5 < permitted + refused_wrong, "{counts}");
}

/// What the check refuses is laid out again, without the pair.
#[test]
fn refused_pairs_are_kept_apart() {
    for (name, text) in lies() {
        let function = read(&text);
        let conflicts = check(&function, &lying_layout(&function), JUDGE).expect("a program");
        let mut apart = Apart::default();
        apart.extend(conflicts.iter().flat_map(|conflict| conflict.pairs.iter().copied()));
        for strategy in [None, Some("greedy-by-size".to_owned())] {
            let options = RewriteOptions { strategy, ..RewriteOptions::default() };
            let layout = decide(&collect(&function), &options, &apart, JUDGE).expect("laid out").layout;
            assert!(check(&function, &layout, JUDGE).expect("a program").is_empty(), "{name}");
            for (one, other) in apart.iter() {
                let (Some(one), Some(other)) = (layout.places[one], layout.places[other]) else { continue };
                assert!(one.allocation != other.allocation || one.bit_offset != other.bit_offset, "{name}");
            }
        }
    }
}
