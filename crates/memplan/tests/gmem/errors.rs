//! What the pass refuses, where it points, and what it says to do.

use memplan::driver::Failure;

use crate::text::{assign, data, module};

/// Line and message of a refusal.
fn refusal(source: &str, pass: &str) -> (usize, String) {
    match assign(source, pass) {
        Err(Failure::Input(error)) => (error.line, error.message),
        other => panic!("expected a refusal with a place, got {other:?}"),
    }
}

fn expect(source: &str, line: usize, words: &[&str]) {
    let (found, message) = refusal(source, "assign-gmem");
    assert_eq!(found, line, "{message}");
    for word in words {
        assert!(message.contains(word), "{word}: {message}");
    }
}

fn with(ty: &str, op: &str) -> String {
    let body = format!("      {op}\n      return %a : {ty} loc(#loc)\n");
    module("bm1684x", "basic", &[ty.to_owned()], &[ty.to_owned()], &body)
}

fn active(ty: &str) -> String {
    with(ty, &format!("%a = \"tpu.Active\"(%arg0) : ({ty}) -> {ty} loc(#loc)"))
}

#[test]
fn modules_in_the_wrong_state() {
    expect(&data("gmem-ir/tiny_top.mlir"), 2, &["TOP_F32", "TPU_DIVIDED", "lower it"]);
    expect("module {\n}\n", 1, &["module.state", "give it a module"]);
}

#[test]
fn chips_and_modes_nobody_knows() {
    let source = active("tensor<4xf32>");
    expect(&source.replace("bm1684x", "bm9999"), 2, &["bm9999", "bm1684x", "chips=FILE"]);
    expect(&source.replace("\"basic\"", "\"io_tag\""), 2, &["bm1684x", "no tags", "use basic"]);
    expect(&source.replace("\"basic\"", "\"sideways\""), 2, &["sideways", "io_alone", "auto"]);
}

#[test]
fn shapes_and_types_without_a_size() {
    expect(&active("tensor<?x4xf32>"), 4, &["%arg0", "run time", "fixed shapes"]);
    expect(&active("tensor<*xf32>"), 4, &["rank", "shape inference"]);
    expect(&active("tensor<4x!acme.number>"), 4, &["width", "lower it"]);
    expect(&active("tensor<4xf32, #sparse>"), 4, &["#sparse", "remove it"]);
}

#[test]
fn sizes_beyond_the_chip() {
    // Two tensors of 16 GiB do not fit behind 4 GiB of a 20 GiB address space.
    expect(&active("tensor<4294967296xf32>"), 3, &["34359738368 bytes", "bm1684x", "smaller batch"]);
    let bm1688 = active("tensor<8589935616xf32>").replace("bm1684x", "bm1688");
    expect(&bm1688, 3, &["the activations take 68719484928 bytes", "`bm1688` has 68719476736 there"]);
    expect(&active("tensor<4611686018427387904xf32>"), 4, &["2^63"]);
    let together = assign(&active("tensor<2000000000000000000xf32>"), "assign-gmem").unwrap_err().to_string();
    assert!(together.contains("2^63"), "{together}");
}

#[test]
fn calls_that_cannot_be_followed() {
    let source = active("tensor<4xf32>");
    expect(&source.replace("call @subfunc_0", "call @elsewhere"), 6, &["@elsewhere", "link"]);
    let ty = "tensor<4xf32>";
    let twice = source.replace(
        "      return %r ",
        &format!("      %s = call @subfunc_0(%r) : ({ty}) -> {ty} loc(#loc)\n      return %r "),
    );
    expect(&twice, 7, &["second time", "inline"]);
}

#[test]
fn an_update_in_place_that_somebody_would_notice() {
    let ty = "tensor<4xf32>";
    let op = format!(
        "%b = \"tpu.Active\"(%arg0) : ({ty}) -> {ty} loc(#loc)
      %c = \"tpu.Insert\"(%b, %arg0) : ({ty}, {ty}) -> {ty} loc(#loc)
      %a = \"tpu.Add\"(%c, %b) : ({ty}, {ty}) -> {ty} loc(#loc)"
    );
    expect(&with(ty, &op), 11, &["tpu.Insert", "%b is read again later", "insert a copy"]);
    assert!(assign(&with(ty, &op.replace("(%c, %b)", "(%c, %arg0)")), "assign-gmem").is_ok());
}

#[test]
fn regions_with_tensors_for_arguments() {
    let ty = "tensor<4xf32>";
    let op = format!(
        "%a = \"tpu.Loop\"(%arg0) ({{
      ^bb0(%x: {ty}):
        \"tpu.Yield\"(%x) : ({ty}) -> () loc(#loc)
      }}) : ({ty}) -> {ty} loc(#loc)"
    );
    expect(&with(ty, &op), 10, &["arguments", "unroll"]);
}

#[test]
fn options_nobody_knows() {
    let source = active("tensor<4xf32>");
    for (pass, words) in [
        ("assign-gmem{colour=red}", "has no option `colour`"),
        ("assign-gmem{mode=best-ever}", "best or documented"),
        ("assign-gmem{addr_mode=up}", "io_tag_fuse"),
        ("assign-gmem{chips=/nonexistent.toml}", "a file that can be read"),
        ("assign-gmem{weights=/nonexistent.npz}", "a file that can be read"),
    ] {
        let error = assign(&source, pass).unwrap_err().to_string();
        assert!(error.contains(words), "{pass}: {error}");
    }
    let (_, message) = refusal(&source.replace("\"basic\"", "\"io_alone\""), "assign-gmem{mode=documented}");
    assert!(message.contains("documented algorithm knows no addr_mode `io_alone`"), "{message}");
}

/// What the reader of the text leaves alone is said of networks, too.
#[test]
fn notes_of_the_reader_are_kept() {
    let source = active("tensor<4xf32>").replace("      %a =", "      odd.form %undefined, ^nowhere\n      %a =");
    let input = memplan::format::read(source.as_bytes(), None, "network.mlir", &Default::default()).unwrap();
    for named in ["`%undefined` is not defined", "no block `^nowhere`"] {
        assert!(input.notes.iter().any(|note| note.contains(named)), "{named}: {:?}", input.notes);
    }
}
