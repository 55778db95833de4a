//! A network of ten thousand ops, bufferized by mlir-opt: both of its prints
//! are read, are the same program, and lower to the same program.
#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a test")]

mod structure;

use std::fmt::Write as _;
use std::io::Write as _;
use std::process::{Command, Stdio};

use memplan_mlir::{Dialects, Document, Edits, lower};

/// A chain of layers on tensors: matmul, bias by `linalg.generic`, residual, activation.
fn network(layers: usize) -> String {
    let mut text = String::from("#id = affine_map<(d0, d1) -> (d0, d1)>\n#row = affine_map<(d0, d1) -> (d1)>\n");
    text += "func.func @network(%x: tensor<8x16xf32>, %w: tensor<16x16xf32>, %b: tensor<16xf32>, %c: i1) -> tensor<8x16xf32> {\n";
    text += "  %zero = arith.constant 0.0 : f32\n  %h0 = linalg.exp ins(%x : tensor<8x16xf32>) outs(%x : tensor<8x16xf32>) -> tensor<8x16xf32>\n";
    for i in 0..layers {
        let j = i + 1;
        let t = "tensor<8x16xf32>";
        writeln!(text, "  %e{j} = tensor.empty() : {t}").unwrap();
        writeln!(text, "  %f{j} = linalg.fill ins(%zero : f32) outs(%e{j} : {t}) -> {t}").unwrap();
        writeln!(text, "  %m{j} = linalg.matmul ins(%h{i}, %w : {t}, tensor<16x16xf32>) outs(%f{j} : {t}) -> {t}")
            .unwrap();
        writeln!(text, "  %g{j} = linalg.generic {{indexing_maps = [#id, #row, #id], iterator_types = [\"parallel\", \"parallel\"]}} ins(%m{j}, %b : {t}, tensor<16xf32>) outs(%e{j} : {t}) {{\n  ^bb0(%p: f32, %q: f32, %o: f32):\n    %s = arith.addf %p, %q : f32\n    %r = arith.maximumf %s, %zero : f32\n    linalg.yield %r : f32\n  }} -> {t}").unwrap();
        writeln!(text, "  %h{j} = scf.if %c -> ({t}) {{\n    %a = linalg.add ins(%g{j}, %h{i} : {t}, {t}) outs(%e{j} : {t}) -> {t}\n    scf.yield %a : {t}\n  }} else {{\n    scf.yield %g{j} : {t}\n  }}").unwrap();
    }
    writeln!(text, "  return %h{layers} : tensor<8x16xf32>\n}}").unwrap();
    text
}

/// Runs mlir-opt; `None` if it is not installed.
fn mlir_opt(input: &str, arguments: &[&str]) -> Option<String> {
    let child = Command::new("mlir-opt-22").args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn();
    let Ok(mut child) = child else {
        memplan_testkit::peers::missing("mlir-opt-22");
        return None;
    };
    let mut stdin = child.stdin.take().unwrap();
    let text = input.to_owned();
    let writer = std::thread::spawn(move || stdin.write_all(text.as_bytes()));
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap().unwrap();
    assert!(output.status.success());
    Some(String::from_utf8(output.stdout).unwrap())
}

#[test]
fn a_bufferized_network_reads_alike_in_both_forms() {
    const BUFFERIZE: &str =
        "-one-shot-bufferize=bufferize-function-boundaries=true function-boundary-type-conversion=identity-layout-map";
    let Some(custom) = mlir_opt(&network(640), &[BUFFERIZE, "-canonicalize", "-cse"]) else {
        return;
    };
    let generic = mlir_opt(&custom, &["--mlir-print-op-generic"]).unwrap();
    let [left, right] = [&custom, &generic].map(|text| {
        let document = Document::read(text, Dialects::builtin()).unwrap();
        assert_eq!(Edits::default().apply(document.source()).as_deref(), Ok(text.as_str()));
        document
    });
    assert!(left.op_count() >= 10_000, "{} ops", left.op_count());
    structure::assert_same("network", &left, &right);
    let (left, right) = (lower(&left).unwrap(), lower(&right).unwrap());
    assert!(left.notes.is_empty(), "{:?}", left.notes);
    assert!(left.sites.len() >= 600, "{} buffers", left.sites.len());
    assert_eq!(left.sites.len(), right.sites.len());
    let accesses = |lowered: &memplan_mlir::Lowered| -> Vec<_> {
        lowered.program.ops().iter().map(|op| (op.name.clone(), op.accesses.clone())).collect()
    };
    assert_eq!(accesses(&left), accesses(&right));
}
