//! Reads and lowers an MLIR file and says how long each took.
#![allow(clippy::print_stdout, clippy::expect_used, reason = "an example")]

use std::time::Instant;

use memplan_mlir::{Dialects, Document, lower};

fn main() {
    let path = std::env::args().nth(1).expect("a file name");
    let source = std::fs::read_to_string(&path).expect("the file can be read");
    let start = Instant::now();
    let document = match Document::read(&source, Dialects::builtin()) {
        Ok(document) => document,
        Err(error) => {
            let place = error.excerpt(&source);
            println!("{path}:{}:{}: {error}\n{}", place.line, place.column, place.text);
            std::process::exit(2);
        }
    };
    println!("read {} ops in {:?}", document.op_count(), start.elapsed());
    for note in document.notes() {
        println!("note: {} at {:?}", note.message, note.span);
    }
    let start = Instant::now();
    match lower(&document) {
        Ok(lowered) => println!("lowered to {} sites in {:?}", lowered.sites.len(), start.elapsed()),
        Err(error) => println!("not lowered: {error} at {:?}", error.span()),
    }
}
