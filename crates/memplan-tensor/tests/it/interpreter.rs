//! The interpreter against what LLVM computed for the recorded programs.

use crate::records::{Record, records};
use memplan_tensor::interpret::{Order, Output, PackedFunction, RunError, RunOptions, run};
use memplan_tensor::ir::StmtKind;
use memplan_tensor::script::Script;

pub(crate) fn options(record: &Record, seed: u64, order: Order) -> RunOptions {
    let mut options = RunOptions { seed, order, ..RunOptions::default() };
    if let Some(values) = record.0["program"]["symvals"].as_object() {
        for (name, value) in values {
            options.scalars.insert(name.clone(), value.as_i64().expect("an integer"));
        }
    }
    options
}

fn run_text(text: &str, options: &RunOptions) -> Result<Vec<Output>, RunError> {
    let script = Script::read(text).expect("a readable text");
    run(&script.functions()[0], options)
}

/// TVM's own output is right exactly where it was recorded as right.
#[test]
fn recorded_results_agree_with_llvm() {
    let (mut equal, mut wrong, mut skipped) = (0, 0, 0);
    for record in records() {
        let Some(after_text) = record.text("out_text") else {
            continue;
        };
        let before_text = record.text("in_text").expect("an input");
        let status = record.0["exec"]["status"].as_str().expect("a status");
        let options = options(&record, 7, Order::Forward);
        let before = run_text(before_text, &options);
        match status {
            "equal" => {
                let before = before.unwrap_or_else(|error| panic!("{}: {error}", record.id()));
                let after =
                    run_text(after_text, &options).unwrap_or_else(|error| panic!("{}: after: {error}", record.id()));
                if record.text("model") != Some("value_differs") {
                    assert_eq!(before, after, "{}", record.id());
                }
                equal += 1;
            }
            "different" | "after_fails" => {
                let before = before.unwrap_or_else(|error| panic!("{}: {error}", record.id()));
                let after = run_text(after_text, &options);
                // Hoisting an extent out of its loop is invalid even where it computes the right thing.
                if record.text("family") != Some("loop_extent") {
                    assert_ne!(Ok(before), after, "{}", record.id());
                }
                wrong += 1;
            }
            _ => skipped += 1,
        }
    }
    assert!(equal >= 100 && wrong >= 20, "{equal} equal, {wrong} wrong, {skipped} skipped");
}

/// The first element of `O` after a run of a body.
fn first_of(dtype: &str, body: &str) -> Result<String, String> {
    let lines: String = body.lines().map(|line| format!("    {line}\n")).collect();
    let text = format!("@T.prim_func(s_tir=True)\ndef main(O: T.Buffer((1,), \"{dtype}\")):\n{lines}");
    let script = Script::read(&text).map_err(|error| error.to_string())?;
    let outputs = run(&script.functions()[0], &RunOptions::default()).map_err(|error| error.to_string())?;
    Ok(outputs[0].to_string())
}

/// A part of a buffer starts where its region does, and its rows are as far apart as those of the buffer.
#[test]
fn parts_of_buffers_have_starts_and_strides() {
    let filled = "A = T.alloc_buffer((4, 8), \"int32\")\nfor i, j in T.grid(4, 8):\n    A[i, j] = i * 10 + j\n";
    for (declaration, element, value) in [
        ("P = T.match_buffer(A[0:2, 0:2], (2, 2), \"int32\")", "P[1, 0]", 10),
        ("P = T.match_buffer(A[1:3, 2:4], (2, 2), \"int32\")", "P[1, 1]", 23),
        ("P = T.match_buffer(A[1:3, 2:4], (2, 2), \"int32\", elem_offset=10)", "P[1, 1]", 23),
        ("P = T.match_buffer(A[2, 3:5], (2,), \"int32\")", "P[1]", 24),
        ("P = T.match_buffer(A[1:4, :], (3, 8), \"int32\")", "P[2, 5]", 35),
        (
            "Q = T.match_buffer(A[1:4, 2:8], (3, 6), \"int32\")\nP = T.match_buffer(Q[1:3, 1:3], (2, 2), \"int32\")",
            "P[1, 1]",
            34,
        ),
        ("P = T.decl_buffer((2, 2), \"int32\", data=A.data, elem_offset=10, strides=[8, 1])", "P[1, 1]", 23),
        ("P = T.decl_buffer((2, 2), \"int32\", data=A.data, elem_offset=10, strides=[])", "P[1, 1]", 15),
    ] {
        let body = format!("{filled}{declaration}\nO[0] = {element}");
        assert_eq!(first_of("int32", &body), Ok(format!("O: int32[1] = {value}")), "{declaration}");
    }
    for (declaration, reason) in [
        ("P = T.match_buffer(A[0:2, 0:4:2], (2, 2), \"int32\")", "a part with a step"),
        ("P = T.match_buffer(A[0:2], (2, 8), \"int32\")", "`A` has 2 dimensions, not 1"),
        ("P = T.match_buffer(A[0:2, 0:2], (2, 2), \"int8\")", "the element type of its buffer"),
        (
            "P = T.match_buffer(A[1:3, 2:4], (2, 2), \"int32\", elem_offset=8)",
            "begins 10 elements into its buffer, not 8",
        ),
        ("P = T.alloc_buffer((2, 2), \"int32\", shape=(3, 3))", "a second shape"),
        ("P = T.alloc_buffer((2, 2), \"int32\", dtype=\"int8\")", "a second element type"),
        ("P = T.match_buffer(A[0:2, 0:2], (1, 2, 2), \"int32\")", "no more dimensions than its buffer"),
        ("P = T.decl_buffer((2, 2), \"int32\", data=A.data, strides=[8])", "1 strides for a buffer of 2 dimensions"),
    ] {
        let error = first_of("int32", &format!("{filled}{declaration}\nO[0] = 1")).expect_err(declaration);
        assert!(error.contains(reason), "{declaration}: {error}");
    }
}

/// A view at a byte offset, or with another element type, has the bytes that it names.
#[test]
fn views_have_the_bytes_they_name() {
    let bytes = "A = T.alloc_buffer((16,), \"int8\")\nfor k in range(16):\n    A[k] = T.Cast(\"int8\", k)\n";
    let at = |offset: &str| {
        first_of(
            "int32",
            &format!("{bytes}B = T.decl_buffer((2,), \"int32\", data=A.data, byte_offset={offset})\nO[0] = B[0]"),
        )
    };
    assert_eq!(at("4"), Ok(format!("O: int32[1] = {}", 0x0706_0504)));
    assert_eq!(at("0"), Ok(format!("O: int32[1] = {}", 0x0302_0100)));
    let error = at("2").expect_err("half an element");
    assert!(error.contains("a byte offset that may be no whole number of int32 elements"), "{error}");
    let scalar = |dtype: &str| {
        first_of(
            "float32",
            &format!(
                "A = T.alloc_buffer((), \"int32\")\nB = A.view(\"{dtype}\")\nB[()] = T.{dtype}(1.5)\nO[0] = B[()]"
            ),
        )
    };
    assert_eq!(scalar("float32"), Ok("O: float32[1] = 1.5".to_owned()));
    assert!(scalar("float16").is_err_and(|error| error.contains("needs elements of the same size")));
}

/// A loop over threads has its first value, also where another loop over the same threads is around it.
#[test]
fn loops_over_threads_begin_at_their_first_value() {
    let sum = |inner: &str| {
        first_of(
            "int32",
            &format!(
                "A = T.alloc_buffer((16,), \"int32\")\nfor k in range(16):\n    A[k] = 0\nfor t in T.thread_binding(2, 6, thread=\"threadIdx.x\"):\n    {inner}\nfor k in range(16):\n    O[0] = T.if_then_else(k == 0, A[k], O[0] * 2 + A[k])"
            ),
        )
    };
    // The elements that were set, as the digits of a binary number: elements 2 to 6, then 8 to 12.
    assert_eq!(sum("A[t] = 1"), Ok(format!("O: int32[1] = {}", 0b0011_1100_0000_0000)));
    let nested = "for s in T.thread_binding(8, 12, thread=\"threadIdx.x\"):\n        A[s] = 1";
    assert_eq!(sum(nested), Ok(format!("O: int32[1] = {}", 0b0000_0000_1111_0000)));
}

/// Calls, arguments and loops without statements end at the limit of steps, too.
#[test]
fn everything_that_takes_time_counts_as_steps() {
    let header = "@T.prim_func(s_tir=True)\ndef main(O: T.Buffer((1,), \"int32\")):\n    A = T.alloc_buffer((T.int64(1099511627776),), \"int8\")\n    B = T.alloc_buffer((T.int64(1099511627776),), \"int8\")\n";
    let packed = PackedFunction { outputs: 1 };
    let options =
        RunOptions { max_steps: 10_000, packed: [(("f".to_owned(), 1), packed)].into(), ..RunOptions::default() };
    let calls = [
        "T.call_extern(\"int32\", \"memset\", A.data, 0, T.int64(1099511627776))",
        "T.call_extern(\"int32\", \"memcpy\", A.data, B.data, T.int64(1099511627776))",
        "T.call_extern(\"int32\", \"f\", A.data)",
        "T.call_extern(\"int32\", \"unknown\", A.data)",
    ];
    for call in calls {
        let result = run_text(&format!("{header}    {call}\n"), &options);
        assert!(matches!(result, Err(RunError::TooLong { .. })), "{call}: {result:?}");
    }
    let large =
        "@T.prim_func(s_tir=True)\ndef main(O: T.Buffer((T.int64(1099511627776),), \"int8\")):\n    T.evaluate(0)\n";
    assert!(matches!(run_text(large, &options), Err(RunError::TooLong { .. })));
    let script =
        Script::read(&format!("{header}    for i in range(1000000000):\n        T.evaluate(0)\n")).expect("readable");
    let mut function = script.functions()[0].clone();
    for stmt in &mut function.body {
        if let StmtKind::For { body, .. } = &mut stmt.kind {
            body.clear();
        }
    }
    assert!(matches!(run(&function, &options), Err(RunError::TooLong { .. })));
    let small = "@T.prim_func(s_tir=True)\ndef main(O: T.Buffer((1,), \"int32\")):\n    T.call_extern(\"int32\", \"memset\", O.data, 0, 4)\n";
    assert!(run_text(small, &options).is_ok());
}
