//! Reading and printing TVMScript.

use crate::JUDGE;
use crate::records::records;
use memplan_tensor::ir::{Block, StmtKind, Trivia};
use memplan_tensor::script::Script;

/// Makes the printer write every line anew.
fn forget_text(block: &mut Block) {
    for stmt in block {
        stmt.trivia = Trivia::default();
        if let StmtKind::If { else_trivia, .. } = &mut stmt.kind {
            *else_trivia = Trivia::default();
        }
        for inner in stmt.blocks_mut() {
            forget_text(inner);
        }
    }
}

#[test]
fn recorded_texts_survive_reading_and_printing() {
    let mut read = 0;
    for record in records() {
        for key in ["in_text", "flat_text", "out_text"] {
            let Some(text) = record.text(key) else {
                continue;
            };
            let script = match Script::read(text) {
                Ok(script) => script,
                Err(error) => {
                    let (line, column) = error.line_column(text);
                    panic!("{} {key} {line}:{column}: {error}\n{text}", record.id());
                }
            };
            assert_eq!(script.print(), text, "{} {key}", record.id());
            read += 1;
        }
    }
    assert!(read >= 2 * 256);
}

/// What TVM prints, we print alike from the tree alone (views aside: ours are all `T.decl_buffer`).
#[test]
fn recorded_inputs_print_the_same_from_the_tree() {
    let mut compared = 0;
    for record in records() {
        let text = record.text("in_text").expect("an input");
        if text.contains(".view(") {
            continue;
        }
        let mut script = Script::read(text).expect("checked above");
        for function in script.functions_mut() {
            forget_text(&mut function.body);
        }
        assert_eq!(script.print(), text, "{}", record.id());
        compared += 1;
    }
    assert!(compared > 200);
}

/// A function of one line, after its header.
fn reads(parameters: &str, line: &str) -> Result<String, String> {
    let text = format!("@T.prim_func(s_tir=True)\ndef main({parameters}):\n    {line}\n");
    let mut script = Script::read(&text).map_err(|error| error.to_string())?;
    assert_eq!(script.print(), text);
    forget_text(&mut script.functions_mut()[0].body);
    let printed = script.print();
    let again = Script::read(&printed).map_err(|error| format!("{error}\n{printed}"))?;
    assert_eq!(again.functions()[0].body.len(), script.functions()[0].body.len(), "{printed}");
    Ok(printed)
}

const BUFFERS: &str = "A: T.Buffer((8,), \"int32\"), B: T.Buffer((8,), \"int32\")";

/// Constructs that real pipelines print, each in a function of its own: read, printed from the tree, read again.
#[test]
fn what_pipelines_print_is_read() {
    for (parameters, line, expected) in [
        (BUFFERS, "A[0] = B[0] << 2", "T.shift_left(B[0], 2)"),
        (BUFFERS, "A[0] = B[0] >> 2 | B[1] & 3 ^ ~B[2]", "T.bitwise_or(T.shift_right(B[0], 2)"),
        (BUFFERS, "return 0", "return 0"),
        (BUFFERS, "A[0] = T.Cast(\"int32\", T.uint64(18446744073709551615))", "T.uint64(18446744073709551615)"),
        (BUFFERS, "C = T.alloc_buffer((8,), \"float8_e4m3fn\")", "\"float8_e4m3fn\""),
        (BUFFERS, "C = T.alloc_buffer((8,), \"int4\", scope=\"m16n8k8.matrixA\")", "scope=\"m16n8k8.matrixA\""),
        (BUFFERS, "subroutine(A.data, B.data)", "subroutine(A.data, B.data)"),
        (BUFFERS, "cls.subroutine(A.data, 3)", "cls.subroutine(A.data, 3)"),
        (BUFFERS, "p: T.let[T.handle(\"int32\")] = A.data", "p: T.let[T.handle] = A.data"),
        (BUFFERS, "T.evaluate(T.comm_reducer(lambda x, y: x + y, [T.int32(0)]))", "lambda x, y: x + y, [T.int32(0)]"),
        ("A: T.Buffer((\"n\", 64)), B: T.Buffer((n,), \"int32\")", "B[n - 1] = 3", "B[n - 1] = 3"),
        ("A: T.Buffer((\"n\",), strides=(\"s\",), elem_offset=\"o\")", "A[0] = A[n - 1]", "A[0] = A[n - 1]"),
    ] {
        let printed = reads(parameters, line).unwrap_or_else(|error| panic!("{parameters}: {line}: {error}"));
        assert!(printed.contains(expected), "{printed}");
    }
    // Memory of the caller: such a line never changes, so it is only ever copied.
    for (parameters, line) in [
        ("p: T.handle, n: T.int32", "C = T.match_buffer(p, (n,), \"float32\")"),
        ("p: T.handle(\"float32\")", "C = T.decl_buffer((8,), data=p)"),
    ] {
        let text = format!("@T.prim_func\ndef main({parameters}):\n    {line}\n    C[0] = T.float32(1)\n");
        let script = Script::read(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
        assert_eq!(script.print(), text);
    }
    assert!(reads(BUFFERS, "A[0] = 18446744073709551615").is_err(), "no signed number is that large");
    assert!(reads("A: T.Buffer((8,))", "A[m] = T.float32(1)").is_err(), "a name that nothing defines");
}

/// A function counts if any of its decorators says so, in whichever order they stand; others are left alone.
#[test]
fn any_decorator_makes_a_function() {
    let body = "def main(A: T.Buffer((8,), \"int32\")):\n    A[0] = 1\n";
    for (decorators, count) in [
        ("@T.prim_func\n", 1),
        ("@T.prim_func\n@register\n", 1),
        ("@register\n@T.prim_func\n", 1),
        ("@T.prim_func\nx = 1\n", 0),
    ] {
        let read = Script::read(&format!("{decorators}{body}"));
        assert_eq!(read.map_or(0, |script| script.functions().len()), count, "{decorators}");
    }
}

/// A buffer whose address a let keeps is not shared: the pointer may be used at any later time.
#[test]
fn kept_addresses_keep_their_buffers() {
    let text = "@T.prim_func(s_tir=True)\ndef main(E: T.Buffer((8,), \"float32\"), O: T.Buffer((8,), \"float32\")):\n    A = T.alloc_buffer((8,))\n    B = T.alloc_buffer((8,))\n    p: T.let[T.handle] = A.data\n    for i in range(8):\n        A[i] = E[i]\n    for i in range(8):\n        B[i] = E[7 - i]\n    for i in range(8):\n        O[i] = B[i]\n    T.call_extern(\"int32\", \"f\", p)\n";
    let script = Script::read(text).expect("readable");
    let options = memplan_tensor::rewrite::RewriteOptions::default();
    let rewritten =
        memplan_tensor::rewrite::storage_rewrite(&script.functions()[0], &options, JUDGE).expect("rewritten");
    assert!(!rewritten.layout.shares(), "{}", rewritten.dump(&script.functions()[0]));
}
