//! Mistakes of the original, made from outside in layouts and emitted functions: each is caught. In compatible mode each is refused by name.

use crate::JUDGE;
use memplan_core::{Id, IndexVec};
use memplan_tensor::interpret::{Order, RunOptions, run_traced};
use memplan_tensor::ir::{Expr, Function, Stmt};
use memplan_tensor::places::{disagreement, places};
use memplan_tensor::rewrite::{
    AllocationId, Apart, Defect, Layout, Mode, RewriteError, RewriteOptions, StmtId, apply, check, collect, decide,
    storage_rewrite,
};
use memplan_tensor::script::Script;
use memplan_tensor::{DType, Kind};

fn script(body: &str) -> Script {
    let lines: Vec<String> = body.trim_matches('\n').lines().map(|line| format!("    {line}")).collect();
    let header =
        "@T.prim_func(s_tir=True)\ndef main(E: T.Buffer((64,), \"float32\"), O: T.Buffer((64,), \"float32\")):";
    Script::read(&format!("{header}\n{}\n", lines.join("\n"))).expect("a valid program")
}

/// What a function prints as, read again.
fn read_again(script: &Script, function: Function) -> Option<Function> {
    let mut after = script.clone();
    after.functions_mut()[0] = function;
    Some(Script::read(&after.print()).ok()?.functions()[0].clone())
}

/// Whether a version of the program still prints, reads and computes the same, in every order.
fn is_right(script: &Script, function: Function) -> bool {
    let Some(after) = read_again(script, function) else { return false };
    [Order::Forward, Order::Backward, Order::Lockstep].into_iter().all(|order| {
        let options = RunOptions { order, ..RunOptions::default() };
        run_traced(&script.functions()[0], &options) == run_traced(&after, &options)
    })
}

fn layout_of(function: &Function) -> Layout {
    decide(&collect(function), &RewriteOptions::default(), &Apart::default(), JUDGE).expect("laid out").layout
}

/// A layout with a mistake is rejected by the check, or its text is not what can be read back; and running it shows why.
fn assert_layout_is_caught(name: &str, body: &str, mistake: impl Fn(&Function, Layout) -> Layout) {
    let script = script(body);
    let function = &script.functions()[0];
    let layout = layout_of(function);
    assert!(check(function, &layout, JUDGE).expect("a program").is_empty(), "{name}");
    assert!(is_right(&script, apply(function.clone(), &layout)), "{name}: right without the mistake\n{body}");
    let wrong = mistake(function, layout);
    let emitted = apply(function.clone(), &wrong);
    let rejected = check(function, &wrong, JUDGE).map_or(true, |conflicts| !conflicts.is_empty());
    let unreadable = read_again(&script, emitted.clone()).is_none_or(|after| places(function, &after).is_err());
    assert!(rejected || unreadable, "{name} is not caught\n{body}");
    assert!(!is_right(&script, emitted), "{name} does not show\n{body}");
}

/// A function that is not written as its layout says is noticed when it is read again; and running it shows why.
fn assert_text_is_caught(name: &str, body: &str, mistake: impl Fn(&mut Function)) {
    let script = script(body);
    let function = &script.functions()[0];
    let layout = layout_of(function);
    let mut emitted = apply(function.clone(), &layout);
    assert_eq!(disagreement(function, &layout, &emitted), None, "{name}");
    mistake(&mut emitted);
    let noticed =
        read_again(&script, emitted.clone()).is_none_or(|after| disagreement(function, &layout, &after).is_some());
    assert!(noticed, "{name} is not noticed\n{body}");
    assert!(!is_right(&script, emitted), "{name} does not show\n{body}");
}

/// The layout with one buffer moved into the place of another.
fn share(function: &Function, mut layout: Layout, buffer: &str, with: &str) -> Layout {
    let named = |name: &str| function.buffer_named(name).expect("a buffer");
    layout.places[named(buffer)] = layout.places[named(with)];
    let mut kept: IndexVec<AllocationId, _> = IndexVec::new();
    for (id, allocation) in layout.allocations.iter_enumerated() {
        if layout.places.iter().flatten().any(|place| place.allocation == id) {
            let new = kept.push(allocation.clone());
            for place in layout.places.iter_mut().flatten().filter(|place| place.allocation == id) {
                place.allocation = new;
            }
        }
    }
    layout.allocations = kept;
    layout
}

/// Calls `change` on every expression of a function.
fn change_statements(block: &mut [Stmt], change: &mut dyn FnMut(&mut Stmt)) {
    for stmt in block {
        change(stmt);
        stmt.blocks_mut().into_iter().for_each(|inner| change_statements(inner, change));
    }
}

fn change_expressions(function: &mut Function, change: &mut dyn FnMut(&mut Expr)) {
    fn expr(part: &mut Expr, change: &mut dyn FnMut(&mut Expr)) {
        part.each_child_mut(|child| expr(child, change));
        change(part);
    }
    fn stmt(part: &mut Stmt, change: &mut dyn FnMut(&mut Expr)) {
        part.exprs_mut().into_iter().for_each(|part| expr(part, change));
        part.blocks_mut().into_iter().flatten().for_each(|part| stmt(part, change));
        part.trivia.text = None;
    }
    let mut body = std::mem::take(&mut function.body);
    body.iter_mut().for_each(|part| stmt(part, change));
    function.body = body;
}

const TWICE: &str = "
B = T.alloc_buffer((8,))
A = T.alloc_buffer((8,))
for i in range(8):
    B[i] = E[i]
for r, i in T.grid(2, 8):
    A[i] = B[i] + T.float32(1.0)
for i in range(8):
    O[i] = A[i]
";

const SOURCE_WRITTEN: &str = "
B = T.alloc_buffer((8,))
A = T.alloc_buffer((8,))
for i in range(8):
    B[i] = E[i]
for i in range(8):
    A[i] = B[i]
    B[i] = T.float32(9.0)
for i in range(8):
    O[i] = A[i]
";

const OVERLOOKED_VIEW: &str = "
A = T.alloc_buffer((8,))
V = T.decl_buffer((8,), data=A.data)
B = T.alloc_buffer((8,))
for i in range(8):
    A[i] = E[i]
for i in range(8):
    B[i] = V[7 - i]
for i in range(8):
    O[i] = B[i]
";

const LOOP_EXTENT: &str = "
for k in range(4):
    A = T.alloc_buffer((k + 1,))
    for j in range(k + 1):
        A[j] = E[j]
    O[k] = A[k]
";

const NARROWED: &str = "
A = T.alloc_buffer((16,))
B = T.alloc_buffer((64,), \"int8\")
T.call_extern(\"int32\", \"f\", A.data)
for i in range(64):
    B[i] = T.Cast(\"int8\", E[i])
for i in range(64):
    O[i] = T.Cast(\"float32\", B[63 - i])
";

const BARE: &str = "
A = T.alloc_buffer((8,), scope=\"local.X\")
B = T.alloc_buffer((8,), scope=\"local.X\")
for i in range(8):
    A[i] = E[i] + T.float32(1.0)
T.call_extern(\"int32\", \"memset\", B.data, 0, T.int64(32))
for i in range(8):
    O[i] = A[i] + B[7 - i]
";

const INDIVISIBLE: &str = "
A = T.alloc_buffer((4,), \"int8\", scope=\"local.X\")
B = T.alloc_buffer((4,), \"float64\", scope=\"local.X\")
for i in range(4):
    A[i] = T.Cast(\"int8\", E[i])
for i in range(4):
    B[i] = T.Cast(\"float64\", E[i]) + T.float64(1.0)
for i in range(4):
    O[i] = T.Cast(\"float32\", A[i]) + T.Cast(\"float32\", B[3 - i])
";

const PRIVATE: &str = "
for p in T.parallel(2):
    for q in T.parallel(4):
        A = T.alloc_buffer((8,))
        for i in range(8):
            A[i] = E[p * 4 + q + i]
        for i in range(8):
            O[p * 32 + q * 8 + i] = A[7 - i]
";

const ADDRESS: &str = "
A = T.alloc_buffer((8,))
B = T.alloc_buffer((8,))
for i in range(8):
    A[i] = E[i]
for i in range(8):
    B[i] = E[i] + T.float32(1.0)
for i in range(8):
    O[i] = B[i]
T.call_extern(\"int32\", \"memcpy\", T.address_of(O[8]), T.address_of(A[0]), 32)
";

const FROM_OUTSIDE: &str = "
A = T.alloc_buffer((8,))
for i in range(8):
    A[i] = E[i]
for k in range(3):
    B = T.alloc_buffer((8,))
    for i in range(8):
        O[i] = A[7 - i] + O[i]
    for i in range(8):
        B[i] = E[i] + T.float32(1.0)
    for i in range(8):
        O[i] = B[i] + O[i]
";

const VECTORS: &str = "
A = T.alloc_buffer((4,), \"float32x4\", scope=\"local.X\")
B = T.alloc_buffer((4,), \"float32x4\", scope=\"local.X\")
for i in range(4):
    A[i] = E[T.Ramp(i * 4, 1, 4)]
for i in range(4):
    B[i] = E[T.Ramp(i * 4 + 4, 1, 4)]
for i in range(4):
    O[i * 4:i * 4 + 4] = A[i] + B[3 - i]
";

const LOADED_EXTENT: &str = "
N = T.alloc_buffer((2,), \"int32\")
N[0] = 4
N[1] = 3
for k in range(1):
    A = T.alloc_buffer((4, N[0]))
    for i in range(16):
        A[i // 4, i % 4] = E[i]
    for i in range(16):
        O[i] = A[i // 4, i % 4]
";

/// In place without proof; an address, or a use in an outer loop, that is no use.
#[test]
fn sharing_with_a_buffer_that_is_needed_is_caught() {
    for (name, body, buffer, with) in [
        ("elements written twice", TWICE, "A", "B"),
        ("the source overwritten", SOURCE_WRITTEN, "A", "B"),
        ("a view overlooked", OVERLOOKED_VIEW, "B", "A"),
        ("an address is no use", ADDRESS, "B", "A"),
        ("a life that ends with its first loop", FROM_OUTSIDE, "B", "A"),
    ] {
        assert_layout_is_caught(name, body, |function, layout| share(function, layout, buffer, with));
    }
}

/// Allocations in the wrong place: outside of the loop that defines their extent, outside of a parallel loop.
#[test]
fn hoisting_too_far_is_caught() {
    assert_layout_is_caught("a hoisted extent", LOOP_EXTENT, |_, mut layout| {
        layout.allocations[AllocationId::from_index(0)].attach = None;
        layout
    });
    assert_layout_is_caught("a shared private buffer", PRIVATE, |_, mut layout| {
        layout.allocations[AllocationId::from_index(0)].attach = Some(StmtId::from_index(0));
        layout
    });
}

/// An allocation of narrower elements, and no more of them; an offset that is no multiple of the element.
#[test]
fn wrong_sizes_and_offsets_are_caught() {
    assert_layout_is_caught("a narrowed allocation", NARROWED, |_, mut layout| {
        layout.allocations[AllocationId::from_index(0)].dtype = DType::scalar(Kind::Int, 8);
        layout
    });
    assert_layout_is_caught("an indivisible offset", INDIVISIBLE, |function, mut layout| {
        let buffer = function.buffer_named("B").expect("a buffer");
        layout.places[buffer].as_mut().expect("a place").bit_offset = 32;
        layout
    });
}

/// Emitters that forget the offset of an address, or count it in lanes.
#[test]
fn wrong_texts_are_caught() {
    assert_text_is_caught("a bare address", BARE, |function| {
        change_expressions(function, &mut |expr| {
            let address = match expr {
                Expr::Call { name, args, .. } if name == "address_of" => match args.as_slice() {
                    [Expr::Load { buffer, .. }] => Some(*buffer),
                    _ => None,
                },
                _ => None,
            };
            if let Some(buffer) = address {
                *expr = Expr::Data(buffer);
            }
        });
    });
    assert_text_is_caught("another loaded extent", LOADED_EXTENT, |function| {
        let buffer = function.buffer_named("A").expect("a buffer");
        if let Some(Expr::Load { index, .. }) = function.buffers[buffer].shape.last_mut() {
            *index = vec![Expr::int(1)];
        }
        change_statements(&mut function.body, &mut |stmt| stmt.trivia.text = None);
    });
    assert_text_is_caught("an offset in lanes", VECTORS, |function| {
        let buffer = function.buffer_named("B").expect("a buffer");
        change_expressions(function, &mut |expr| {
            if let Expr::Load { buffer: loaded, index } = expr
                && *loaded == buffer
                && let Some(Expr::Binary { right, .. }) = index.last_mut()
            {
                **right = Expr::int(16);
            }
        });
    });
}

/// 8 · (2^61 + 128) bits look like 1024 in 64-bit arithmetic: A would seem to fit B's memory.
#[test]
fn wrapped_sizes_are_errors() {
    let script = script(
        "
A = T.alloc_buffer((T.int64(2305843009213694080),), \"int8\")
B = T.alloc_buffer((128,), \"int8\")
A[0] = T.int8(1)
O[0] = T.Cast(\"float32\", A[0])
B[127] = T.int8(2)
O[1] = T.Cast(\"float32\", B[127])
",
    );
    let error = storage_rewrite(&script.functions()[0], &RewriteOptions::default(), JUDGE);
    assert!(matches!(error, Err(RewriteError::TooLarge { ref buffer, .. }) if buffer == "A"), "{error:?}");
    // A text that lets the two share nevertheless does not read back.
    let text = script.print();
    let line = text.lines().find(|line| line.contains("A = ")).expect("an allocation");
    let shared = text.replace(&format!("{line}\n"), "").replace(
        "B = T.alloc_buffer((128,), \"int8\")",
        "B = T.alloc_buffer((128,), \"int8\")\n    A = T.decl_buffer((128,), \"int8\", data=B.data)",
    );
    let shared = Script::read(&shared).expect("a readable text");
    let found = places(&script.functions()[0], &shared.functions()[0]);
    assert!(found.is_err_and(|mismatch| mismatch.message.contains("does not fit")));
}

fn assert_refused(defect: Defect, body: &str) {
    let script = script(body);
    let function = &script.functions()[0];
    let options = RewriteOptions { mode: Mode::Compat, ..RewriteOptions::default() };
    match storage_rewrite(function, &options, JUDGE) {
        Err(RewriteError::Refused { defect: found, .. }) => assert_eq!(found, defect, "{body}"),
        other => panic!("{defect:?} is not refused: {other:?}\n{body}"),
    }
    let right = storage_rewrite(function, &RewriteOptions::default(), JUDGE).expect("rewritten").function;
    assert!(is_right(&script, right), "{defect:?}: the default is right\n{body}");
}

#[test]
fn compatible_mode_names_the_defect() {
    assert_refused(Defect::InPlaceOverwrite, TWICE);
    assert_refused(Defect::InPlaceOverwrite, SOURCE_WRITTEN);
    assert_refused(Defect::InPlaceOverwrite, OVERLOOKED_VIEW);
    assert_refused(Defect::LoopExtent, LOOP_EXTENT);
    assert_refused(Defect::ShrunkAllocation, NARROWED);
    assert_refused(Defect::BareAddress, BARE);
    assert_refused(Defect::IndivisibleOffset, INDIVISIBLE);
    assert_refused(Defect::SharedPrivate, PRIVATE);
    assert_refused(
        Defect::NestedScopes,
        "
for p in T.parallel(4):
    threadIdx_x = T.launch_thread(\"threadIdx.x\", 8)
    A = T.alloc_shared((8,))
    A[threadIdx_x] = E[p]
    O[p * 8 + threadIdx_x] = A[7 - threadIdx_x]
",
    );
    assert_refused(
        Defect::NotFlat,
        "
A = T.alloc_buffer((2, 4))
for i, j in T.grid(2, 4):
    A[i, j] = E[i * 4 + j]
for i, j in T.grid(2, 4):
    O[i * 4 + j] = A[1 - i, 3 - j]
",
    );
    assert_refused(
        Defect::MixedLanes,
        "
B = T.alloc_buffer((32,))
A = T.alloc_buffer((8,), \"float32x4\")
for i in range(32):
    B[i] = E[i]
for i in range(32):
    O[i] = B[31 - i]
for i in range(8):
    A[i] = E[T.Ramp(i * 4, 1, 4)]
for i in range(8):
    O[i * 4:i * 4 + 4] = A[7 - i]
",
    );
}
