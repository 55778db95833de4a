//! Every known mistake, made on purpose, is caught by running the result; so is every one by name in compatible mode.

use super::sabotage::{Mistake, making};
use super::{Defect, Mode, RewriteError, RewriteOptions, storage_rewrite};
use crate::interpret::{Order, RunOptions, run_traced};
use crate::script::Script;

fn script(body: &str) -> Script {
    let lines: Vec<String> = body.trim_matches('\n').lines().map(|line| format!("    {line}")).collect();
    let header =
        "@T.prim_func(s_tir=True)\ndef main(E: T.Buffer((64,), \"float32\"), O: T.Buffer((64,), \"float32\")):";
    Script::read(&format!("{header}\n{}\n", lines.join("\n"))).expect("a valid program")
}

/// Whether the rewrite of a program still prints, reads and computes the same, in every order.
fn is_right(script: &Script) -> bool {
    // Running must show the mistake, whatever the dataflow check says.
    let options = RewriteOptions { unchecked: true, ..RewriteOptions::default() };
    let Ok(rewritten) = storage_rewrite(&script.functions()[0], &options) else {
        return false;
    };
    let mut after = script.clone();
    after.functions_mut()[0] = rewritten.function;
    let Ok(after) = Script::read(&after.print()) else {
        return false;
    };
    [Order::Forward, Order::Backward, Order::Lockstep].into_iter().all(|order| {
        let options = RunOptions { order, ..RunOptions::default() };
        run_traced(&script.functions()[0], &options) == run_traced(&after.functions()[0], &options)
    })
}

fn assert_caught(mistake: Mistake, body: &str) {
    let script = script(body);
    assert!(is_right(&script), "{mistake:?}: right without the mistake\n{body}");
    assert!(!making(mistake, || is_right(&script)), "{mistake:?} is not caught\n{body}");
}

fn assert_refused(defect: Defect, body: &str) {
    let script = script(body);
    let options = RewriteOptions { mode: Mode::Compat, ..RewriteOptions::default() };
    match storage_rewrite(&script.functions()[0], &options) {
        Err(RewriteError::Refused { defect: found, .. }) => assert_eq!(found, defect, "{body}"),
        other => panic!("{defect:?} is not refused: {other:?}\n{body}"),
    }
    assert!(is_right(&script), "{defect:?}: the default is right\n{body}");
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

#[test]
fn every_mistake_of_the_original_is_caught() {
    assert_caught(Mistake::UnprovedInPlace, TWICE);
    assert_caught(Mistake::UnprovedInPlace, SOURCE_WRITTEN);
    assert_caught(Mistake::HoistedExtent, LOOP_EXTENT);
    assert_caught(Mistake::NarrowedAllocation, NARROWED);
    assert_caught(Mistake::BareAddress, BARE);
    assert_caught(Mistake::IndivisibleOffset, INDIVISIBLE);
    assert_caught(Mistake::SharedPrivate, PRIVATE);
    assert_caught(
        Mistake::AddressIsNoUse,
        "
A = T.alloc_buffer((8,))
B = T.alloc_buffer((8,))
for i in range(8):
    A[i] = E[i]
for i in range(8):
    B[i] = E[i] + T.float32(1.0)
for i in range(8):
    O[i] = B[i]
T.call_extern(\"int32\", \"memcpy\", T.address_of(O[8]), T.address_of(A[0]), 32)
",
    );
    assert_caught(
        Mistake::ShortLifetime,
        "
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
",
    );
    assert_caught(
        Mistake::VectorOffset,
        "
A = T.alloc_buffer((4,), \"float32x4\", scope=\"local.X\")
B = T.alloc_buffer((4,), \"float32x4\", scope=\"local.X\")
for i in range(4):
    A[i] = E[T.Ramp(i * 4, 1, 4)]
for i in range(4):
    B[i] = E[T.Ramp(i * 4 + 4, 1, 4)]
for i in range(4):
    O[i * 4:i * 4 + 4] = A[i] + B[3 - i]
",
    );
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
    let function = &script.functions()[0];
    let error = storage_rewrite(function, &RewriteOptions::default());
    assert!(matches!(error, Err(RewriteError::TooLarge { ref buffer, .. }) if buffer == "A"), "{error:?}");
    let options = RewriteOptions { unchecked: true, ..RewriteOptions::default() };
    let wrapped = making(Mistake::WrappedSize, || storage_rewrite(function, &options));
    assert!(wrapped.is_ok_and(|wrapped| wrapped.layout.shares()), "the mistake makes them share");
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

/// The independent dataflow check rejects what the original would do, and accepts what we do.
#[test]
fn dataflow_check_rejects_the_original() {
    for body in [TWICE, SOURCE_WRITTEN, PRIVATE] {
        let script = script(body);
        let function = &script.functions()[0];
        let sequence = super::linearize(function);
        let events = super::events(&sequence);
        for (mode, right) in [(Mode::Compat, false), (Mode::Sound, true)] {
            let pool = super::plan_pool(&sequence, &events, mode).expect("planned");
            let layout = super::layout::lay_out(&sequence, &pool, mode, &[]).expect("laid out");
            let violations = crate::lower::check_layout(function, &layout).expect("well formed");
            assert_eq!(violations.is_empty(), right, "{mode:?}: {violations:?}\n{body}");
        }
    }
}
