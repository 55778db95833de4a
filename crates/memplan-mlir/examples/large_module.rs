//! Prints a large module for measuring: `large_module OPS [FUNCTIONS] > large.mlir`.
//!
//! One function, or as many as asked for; units of six nested loops and branches follow each other, and
//! three tenths of the ops are allocations, used for a while and then not again.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a tool for measuring")]

use std::fmt::Write as _;
use std::io::Write as _;

/// What each level of a unit is.
const LEVELS: [&str; 6] = [
    "scf.for %i{} = %zero to %n step %one {",
    "scf.if %flag {",
    "scf.for %i{} = %zero to %n step %one {",
    "scf.forall (%i{}) in (4) {",
    "scf.if %flag {",
    "scf.for %i{} = %zero to %n step %one {",
];

/// Ops of a level: the loop, five allocations, eleven others (one implicit).
const OPS_OF_A_LEVEL: usize = 17;

fn level(text: &mut String, id: usize, depth: usize) {
    let indent = "  ".repeat(depth + 1);
    let ty = ["memref<64x128xf32>", "memref<32x256xf64>", "memref<128x128xf32>"][id % 3];
    let half = ty.replace("64x128xf32", "32x128xf32").replace("32x256xf64", "16x256xf64").replace("128x128", "64x128");
    let strided = half.replace(">", &format!(", strided<[{}, 1]>>", if id % 3 == 1 { 256 } else { 128 }));
    let rows = ["32, 128", "16, 256", "64, 128"][id % 3];
    let mut line = |op: String| writeln!(text, "{indent}{op}").expect("a string takes all");
    let element = if id % 3 == 1 { "f64" } else { "f32" };
    for name in ["a", "b", "c"] {
        line(format!("%{name}{id} = memref.alloc() {{alignment = 64 : i64}} : {ty}"));
    }
    line(format!("linalg.fill ins(%zero_{element} : {element}) outs(%a{id} : {ty})"));
    line(format!("memref.copy %a{id}, %b{id} : {ty} to {ty}"));
    line(format!("memref.copy %b{id}, %c{id} : {ty} to {ty}"));
    line(format!("%d{id} = memref.alloc() {{alignment = 64 : i64}} : {ty}"));
    line(format!("memref.copy %c{id}, %d{id} : {ty} to {ty}"));
    line(format!("%s{id} = memref.subview %d{id}[0, 0] [{rows}] [1, 1] : {ty} to {strided}"));
    line(format!("%e{id} = memref.alloc() {{alignment = 64 : i64}} : {half}"));
    line(format!("memref.copy %s{id}, %e{id} : {strided} to {half}"));
    line(format!("%x{id} = memref.load %e{id}[%zero, %one] : {half}"));
    line(format!("memref.store %x{id}, %a{id}[%one, %zero] : {ty}"));
}

const HEAD: &str = "(%n: index, %flag: i1) {\n  %zero = arith.constant 0 : index\n  %one = arith.constant 1 : index\n  \
                    %zero_f32 = arith.constant 0.0 : f32\n  %zero_f64 = arith.constant 0.0 : f64\n";

fn unit(text: &mut String, unit: usize) {
    for (depth, header) in LEVELS.iter().enumerate() {
        let id = unit * LEVELS.len() + depth;
        let header = header.replace("{}", &id.to_string());
        writeln!(text, "{}{header}", "  ".repeat(depth + 1)).expect("a string takes all");
        level(text, id, depth + 1);
    }
    for depth in (0..LEVELS.len()).rev() {
        // What is at the end of a level was alive all along.
        let id = unit * LEVELS.len() + depth;
        let ty = ["memref<64x128xf32>", "memref<32x256xf64>", "memref<128x128xf32>"][id % 3];
        let indent = "  ".repeat(depth + 2);
        writeln!(text, "{indent}%y{id} = memref.load %a{id}[%one, %zero] : {ty}").expect("a string takes all");
        writeln!(text, "{indent}memref.store %y{id}, %c{id}[%one, %zero] : {ty}").expect("a string takes all");
        writeln!(text, "{}}}", "  ".repeat(depth + 1)).expect("a string takes all");
    }
}

fn main() {
    let number = |index: usize| std::env::args().nth(index).and_then(|text| text.parse::<usize>().ok());
    let units = number(1).unwrap_or(100_000) / (OPS_OF_A_LEVEL * LEVELS.len());
    let functions = number(2).unwrap_or(1).clamp(1, units.max(1));
    let mut text = String::new();
    for function in 0..functions {
        let name = if functions == 1 { "large".to_owned() } else { format!("large{function}") };
        write!(text, "func.func @{name}{HEAD}").expect("a string takes all");
        for index in function * units / functions..(function + 1) * units / functions {
            unit(&mut text, index);
        }
        text += "  return\n}\n";
    }
    std::io::stdout().write_all(text.as_bytes()).expect("stdout takes it");
}
