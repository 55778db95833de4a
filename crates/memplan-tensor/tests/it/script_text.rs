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

/// The offset of an allocation is printed, too, where the line is written anew.
#[test]
fn offsets_of_allocations_are_printed() {
    for offset in ["elem_offset=4", "byte_offset=16"] {
        let text = format!(
            "@T.prim_func(s_tir=True)\ndef main(O: T.Buffer((1,), \"float32\")):\n    B = T.alloc_buffer((8,), {offset})\n    B[0] = T.float32(1.0)\n    O[0] = B[0]\n"
        );
        let mut script = Script::read(&text).expect("readable");
        script.functions_mut().iter_mut().for_each(|function| forget_text(&mut function.body));
        assert_eq!(script.print(), text);
    }
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

/// A buffer whose address is kept is not shared: the pointer may be used at any later time. A let keeps it, as it is or
/// as a number, and so does a structure of the runtime.
#[test]
fn kept_addresses_keep_their_buffers() {
    for keeps in [
        "p: T.let[T.handle] = A.data",
        "p: T.let[T.int64] = T.reinterpret(\"int64\", T.address_of(A[0]))",
        "p: T.let[T.int64] = T.reinterpret(\"int64\", A.data) + T.int64(4)",
        "p: T.let[T.handle] = T.if_then_else(E[0] < T.float32(1.0), A.data, E.data)",
        "p: T.let[T.uint64] = T.reinterpret(\"uint64\", A.data) + T.uint64(64)",
        "p: T.let[T.handle] = T.reinterpret(\"handle\", T.shift_left(T.reinterpret(\"uint64\", A.data), T.uint64(1)))",
        "p: T.let[T.handle] = T.tvm_stack_alloca(\"array\", 1)\n    T.tvm_struct_set(p, 0, 1, A.data)",
    ] {
        let text = format!(
            "@T.prim_func(s_tir=True)\ndef main(E: T.Buffer((8,), \"float32\"), O: T.Buffer((8,), \"float32\")):\n    A = T.alloc_buffer((8,))\n    B = T.alloc_buffer((8,))\n    {keeps}\n    for i in range(8):\n        A[i] = E[i]\n    for i in range(8):\n        B[i] = E[7 - i]\n    for i in range(8):\n        O[i] = B[i]\n    T.call_extern(\"int32\", \"f\", p)\n"
        );
        let script = Script::read(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
        let options = memplan_tensor::rewrite::RewriteOptions::default();
        let rewritten =
            memplan_tensor::rewrite::storage_rewrite(&script.functions()[0], &options, JUDGE).expect("rewritten");
        assert!(!rewritten.layout.shares(), "{keeps}\n{}", rewritten.dump(&script.functions()[0]));
    }
}

/// A line that is printed anew has the strings that Python reads in the old line.
#[test]
fn strings_mean_what_python_reads() {
    for (written, printed) in [
        (r#""a\tb\r\n""#, r#""a\tb\r\n""#),
        (r#"'it\'s "x"'"#, r#""it's \"x\"""#),
        (r#""\x41\101\u00e9\0\d\\n""#, r#""AAé\x00\\d\\n""#),
        (r#"r"\d\n""#, r#""\\d\\n""#),
        (r#"u"x""#, r#""x""#),
    ] {
        let line = format!("T.call_extern(\"int32\", \"f\", {written}, A[0])");
        let text = reads(BUFFERS, &line).unwrap_or_else(|error| panic!("{written}: {error}"));
        assert!(text.contains(&format!("\"f\", {printed}, A[0])")), "{written}\n{text}");
    }
    for wrong in [r#"f"{A}""#, r#"b"x""#, r#""\N{BULLET}""#, r#""\xZ1""#, r#""\x+1""#, r#""\ud800""#, r#""\x4""#] {
        let line = format!("T.call_extern(\"int32\", \"f\", {wrong}, A[0])");
        assert!(reads(BUFFERS, &line).is_err(), "{wrong}");
    }
}

/// Operands get the types that TVM 0.27 gives them, so that a line that is printed anew computes what the old one did.
#[test]
fn operands_get_the_types_of_tvm() {
    let parameters = "X: T.Buffer((8,), \"float32\"), C: T.Buffer((8,), \"int32\"), D: T.Buffer((8,), \"int64\"), E: T.Buffer((8,), \"int8\"), U: T.Buffer((8,), \"uint8\"), H: T.Buffer((8,), \"float16\"), V: T.Buffer((8,), \"uint32\"), F: T.Buffer((8,), \"float64\"), G: T.Buffer((8,), \"bfloat16\")";
    for (written, expected) in [
        ("C[0] * T.float32(0.5)", "T.Cast(\"float32\", C[0]) * T.float32(0.5)"),
        ("0.25 * C[0]", "T.float32(0.25) * T.Cast(\"float32\", C[0])"),
        ("X[0] + T.int64(3)", "X[0] + T.float32(3.0)"),
        ("C[0] + T.int64(5)", "T.Cast(\"float32\", T.Cast(\"int64\", C[0]) + T.int64(5))"),
        ("C[0] + 5000000000", "T.Cast(\"float32\", T.Cast(\"int64\", C[0]) + T.int64(5000000000))"),
        ("C[0] + 2147483647", "T.Cast(\"float32\", C[0] + 2147483647)"),
        ("D[0] + 1", "T.Cast(\"float32\", D[0] + T.int64(1))"),
        ("E[0] + 300", "T.Cast(\"float32\", T.Cast(\"int32\", E[0]) + 300)"),
        ("2 - U[0]", "T.Cast(\"float32\", 2 - T.Cast(\"int32\", U[0]))"),
        ("H[0] * 0.5", "T.Cast(\"float32\", H[0]) * T.float32(0.5)"),
        ("H[0] + 3", "T.Cast(\"float32\", H[0] + T.float16(3.0))"),
        ("C[0] + V[0]", "T.Cast(\"float32\", T.Cast(\"uint32\", C[0]) + V[0])"),
        ("V[0] * D[0]", "T.Cast(\"float32\", T.Cast(\"int64\", V[0]) * D[0])"),
        ("(C[0] > 0) + E[0]", "T.Cast(\"float32\", T.Cast(\"int8\", C[0] > 0) + E[0])"),
        ("T.max(3, E[0])", "T.Cast(\"float32\", T.max(3, T.Cast(\"int32\", E[0])))"),
        ("T.Cast(\"float32\", E[0] < 100)", "T.Cast(\"float32\", E[0] < T.int8(100))"),
        ("T.Cast(\"float32\", 3 >= U[0])", "T.Cast(\"float32\", T.uint8(3) >= U[0])"),
        ("T.Cast(\"float32\", H[0] < 0.1)", "T.Cast(\"float32\", H[0] < T.float16(0.1))"),
        ("T.Cast(\"float32\", D[0] >= 5000000000)", "T.Cast(\"float32\", D[0] >= T.int64(5000000000))"),
        ("T.Cast(\"float32\", E[0] + 300 < 1000)", "T.Cast(\"float32\", T.Cast(\"int32\", E[0]) + 300 < 1000)"),
        ("F[0] * (1.0 / 3.0)", "T.Cast(\"float32\", F[0] * T.float64(0.3333333333333333))"),
        ("F[0] * -(1.0 / 3)", "T.Cast(\"float32\", F[0] * T.float64(-0.3333333333333333))"),
        ("F[0] * (7.5 // 2.0 + 7.5 % -2.0)", "T.Cast(\"float32\", F[0] * T.float64(2.5))"),
        ("F[0] * (-7.5 // 2.0 + -7.5 % 2.0)", "T.Cast(\"float32\", F[0] * T.float64(-3.5))"),
        ("G[0] * H[0]", "T.Cast(\"float32\", T.Cast(\"float16\", G[0]) * H[0])"),
        ("H[0] * G[0]", "T.Cast(\"float32\", H[0] * T.Cast(\"float16\", G[0]))"),
        ("X[0] + (T.uint64(1) - T.uint64(2))", "X[0] + T.float32(1.8446744073709552e19)"),
        ("T.Cast(\"float32\", D[0] & 5000000000)", "T.bitwise_and(D[0], T.int64(705032704))"),
        ("T.Cast(\"float32\", T.bitwise_or(C[0], 5000000000))", "T.bitwise_or(C[0], 705032704)"),
        ("T.Cast(\"float32\", True or X[0])", "True) or X[0]"),
        ("T.Cast(\"float32\", E[0] == 5)", "T.Cast(\"float32\", E[0] == T.int8(5))"),
        ("T.Cast(\"float32\", U[0] & 3)", "T.Cast(\"float32\", T.bitwise_and(U[0], T.uint8(3)))"),
        ("T.Cast(\"float32\", E[0] ^ T.int32(1))", "T.bitwise_xor(T.Cast(\"int32\", E[0]), 1)"),
        ("T.Cast(\"float32\", T.bitwise_and(E[0], C[0]))", "T.bitwise_and(T.Cast(\"int32\", E[0]), C[0])"),
        (
            "T.if_then_else(C[0] > 0, C[0], T.float32(0.5))",
            "= T.if_then_else(C[0] > 0, T.Cast(\"float32\", C[0]), T.float32(0.5))",
        ),
        ("E[0] if C[0] > 0 else 1", "T.Cast(\"float32\", T.if_then_else(C[0] > 0, T.Cast(\"int32\", E[0]), 1))"),
        ("T.pow(X[0], C[0])", "= T.pow(X[0], T.Cast(\"float32\", C[0]))"),
        ("-X[0]", "= X[0] * T.float32(-1.0)"),
        ("-E[0]", "T.Cast(\"float32\", T.int8(0) - E[0])"),
        ("X[0] * (1 / 2)", "X[0] * T.float32(0.5)"),
        ("X[0] * (1 << 40)", "X[0] * T.float32(1099511627776.0)"),
        ("C[0] + (T.int32(2147483647) + 1)", "C[0] + -2147483648"),
        ("X[0] + (T.int8(100) + T.int8(100))", "X[0] + T.float32(-56.0)"),
        ("T.uint64(18446744073709551615) // T.uint64(2)", "T.uint64(18446744073709551615) // T.uint64(2)"),
        ("C[0] + 5000000000 // 5000", "T.Cast(\"float32\", C[0] + 1000000)"),
        ("C[0] + (2147483647 + 1)", "T.Cast(\"int64\", C[0]) + T.int64(2147483648)"),
    ] {
        let printed = reads(parameters, &format!("X[0] = {written}")).unwrap_or_else(|e| panic!("{written}: {e}"));
        assert!(printed.contains(expected), "{written}: {expected}\n{printed}");
    }
}

/// TVM has no constant that does not fit its type, and neither have we.
#[test]
fn numbers_that_do_not_fit_are_refused() {
    let parameters = "E: T.Buffer((8,), \"int8\"), U: T.Buffer((8,), \"uint8\"), C: T.Buffer((8,), \"int32\"), V: T.Buffer((8,), \"uint32\")";
    for (line, message) in [
        ("C[0] = T.Cast(\"int32\", E[0] < 300)", "the number 300 does not fit int8"),
        ("C[0] = T.Cast(\"int32\", U[0] == -1)", "the number -1 does not fit uint8"),
        ("E[0] = 300", "the number 300 does not fit int8"),
        ("E[0] = T.int32(-129)", "the number -129 does not fit int8"),
        ("C[0] = 5000000000", "the number 5000000000 does not fit int32"),
        ("C[0] = T.Cast(\"int32\", V[0] + (-1))", "the number -1 does not fit uint32"),
        ("C[0] = T.int8(300)", "the number 300 does not fit int8"),
        ("x: T.let[T.int8] = 300", "the number 300 does not fit int8"),
        ("x: T.int8 = 300", "the number 300 does not fit int8"),
        ("C[0] = E[0] & 300", "the number 300 does not fit int8"),
        ("C[0] = T.shift_left(E[0], 300)", "the number 300 does not fit int8"),
    ] {
        let error = reads(parameters, line).expect_err(line).to_string();
        assert!(error.contains(message), "{line}: {error}");
    }
    for line in ["E[0] = -128", "U[0] = 255", "C[0] = 5000000000 & T.int32(7)", "C[0] = T.Cast(\"int8\", 300)"] {
        let text = reads(parameters, line).unwrap_or_else(|error| panic!("{line}: {error}"));
        assert_eq!(memplan_tensor::pass::fuzz_check(&text, JUDGE), Ok(true), "{line}");
    }
}

/// What an asynchronous copy reads is still read when the statement behind the copy runs, so nothing takes its place.
#[test]
fn memory_of_asynchronous_copies_is_not_given_away() {
    let scope = "with T.attr(0, \"async_scope\", 1):\n        for i in range(8):\n            B[i] = A[7 - i]";
    for copies in [scope, "T.ptx_cp_async(\"float32\", B.data, 0, A.data, 0, 32)", "T.dma_copy(0, B.data, A.data, 32)"]
    {
        let text = format!(
            "@T.prim_func(s_tir=True)\ndef main(E: T.Buffer((8,), \"float32\"), O: T.Buffer((8,), \"float32\")):\n    A = T.alloc_buffer((8,))\n    B = T.alloc_buffer((8,))\n    C = T.alloc_buffer((8,))\n    for i in range(8):\n        A[i] = E[i]\n    {copies}\n    for i in range(8):\n        C[i] = E[7 - i]\n    T.call_extern(\"int32\", \"wait\")\n    for i in range(8):\n        O[i] = B[i] + C[i]\n"
        );
        let script = Script::read(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
        let options = memplan_tensor::rewrite::RewriteOptions::default();
        let rewritten =
            memplan_tensor::rewrite::storage_rewrite(&script.functions()[0], &options, JUDGE).expect("rewritten");
        assert!(!rewritten.layout.shares(), "{copies}\n{}", rewritten.dump(&script.functions()[0]));
    }
}

/// The offset of a view is computed at every access, so what it reads keeps its memory.
#[test]
fn offsets_of_views_keep_what_they_read() {
    let text = "@T.prim_func(s_tir=True)\ndef main(E: T.Buffer((8,), \"int32\"), O: T.Buffer((8,), \"int32\")):\n    A = T.alloc_buffer((8,), \"int32\")\n    B = T.alloc_buffer((8,), \"int32\")\n    for i in range(8):\n        A[i] = 2\n    V = T.decl_buffer((4,), \"int32\", data=E.data, elem_offset=A[0])\n    for i in range(8):\n        B[i] = E[7 - i]\n    for i in range(4):\n        O[i] = V[i] + B[i]\n";
    let script = Script::read(text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    let options = memplan_tensor::rewrite::RewriteOptions::default();
    let rewritten =
        memplan_tensor::rewrite::storage_rewrite(&script.functions()[0], &options, JUDGE).expect("rewritten");
    assert!(!rewritten.layout.shares(), "{}", rewritten.dump(&script.functions()[0]));
}

/// A dictionary without entries marks nothing. Without a mark there would be no statement to hold the body.
#[test]
fn marks_without_an_entry_are_refused() {
    let error = reads(BUFFERS, "with T.attr({}):\n        A[0] = 1\n        A[1] = 2").unwrap_err();
    assert!(error.to_string().contains("`T.attr` needs a dictionary with an entry"), "{error}");
}

/// The last digit of a hexadecimal number may be an `e`, and then a sign follows; in `1E-5` the sign is a part of the
/// number.
#[test]
fn a_sign_after_a_hexadecimal_digit_is_an_operator() {
    for number in ["0xE-5", "0XE-5", "0Xe-5"] {
        let text = reads(BUFFERS, &format!("A[0] = {number}")).unwrap_or_else(|error| panic!("{number}: {error}"));
        assert!(text.contains("A[0] = 9") || text.contains("14 - 5"), "{number}\n{text}");
    }
    let text = reads("E: T.Buffer((8,), \"float32\")", "E[0] = T.float32(1E-5)").expect("a number with an exponent");
    assert!(text.contains("1e-05") || text.contains("1e-5") || text.contains("0.00001"), "{text}");
}

/// The offset of a view is a number of elements, and it is said once.
#[test]
fn a_view_has_one_offset_and_it_is_whole() {
    let view = |offset: &str| reads(BUFFERS, &format!("V = T.decl_buffer((2,), \"int32\", data=A.data, {offset})"));
    assert!(view("elem_offset=2").is_ok() && view("byte_offset=8").is_ok());
    let error = view("elem_offset=1.5").unwrap_err();
    assert!(error.contains("must be an integer"), "{error}");
    for both in ["elem_offset=1, byte_offset=8", "byte_offset=8, elem_offset=2"] {
        let error = view(both).unwrap_err();
        assert!(error.contains("has one offset"), "{both}: {error}");
    }
}

/// Two parameters whose handles would get one name.
#[test]
fn every_handle_has_a_name_of_its_own() {
    let text = "@T.prim_func(s_tir=True)\ndef main(n: T.int32, A: T.Buffer((\"n\",), \"float32\"), A_: T.Buffer((\"n\",), \"float32\"), var_A: T.Buffer((4,), \"float32\")):\n    var_A[0] = A[0] + A_[0]\n";
    let script = Script::read(text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    let printed = memplan_tensor::script::print_function(&script.functions()[0]);
    let again = Script::read(&printed).unwrap_or_else(|error| panic!("{error}\n{printed}"));
    assert_eq!(again.functions()[0].params.len(), 4, "{printed}");
    for line in ["A = T.match_buffer(var_A_,", "A_ = T.match_buffer(var_A__,"] {
        assert!(printed.contains(line), "{printed}");
    }
}
