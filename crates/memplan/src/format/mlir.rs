//! MLIR text: read, lowered to a program, analysed.

use memplan_core::{Span, line_column};
use memplan_mlir::pass::{PassError, assign_gmem};
use memplan_mlir::{Dialects, Document, Note, lower};
use memplan_models::ReadError;

use super::program::analyze;
use super::{Format, Input, ReadOptions};

/// MLIR text in generic or custom form.
pub(super) struct Mlir;

impl Format for Mlir {
    fn name(&self) -> &'static str {
        "mlir"
    }

    fn describe(&self) -> &'static str {
        "MLIR text: the memrefs that functions allocate, the tensors of top and tpu networks"
    }

    fn extensions(&self) -> &'static [&'static str] {
        &["mlir"]
    }

    fn sniff(&self, text: &str) -> bool {
        // Comments and attributes may stand in front of the first op, but hardly 200 lines of them.
        let starts = ["module", "func.func", "\"builtin.module\"", "#map", "builtin.module", "\"func.func\""];
        text.lines().take(200).any(|line| starts.iter().any(|start| line.trim_start().starts_with(start)))
    }

    /// Reads a module, finds what its ops do with memory, and makes a problem of the allocations.
    fn read(&self, text: &str, options: &ReadOptions) -> Result<Input, ReadError> {
        // What ops do with memory is in tables; the user may have given more of them.
        let dialects = options.dialects.as_ref().unwrap_or(Dialects::builtin());
        let document = Document::read(text, dialects)
            .map_err(|error| ReadError::new(error.code(), text, error.span(), error.to_string()))?;
        if !has_op(&document) {
            return Err(no_op(text));
        }
        // A network of `top` and `tpu` ops has tensors where other programs have memrefs.
        if assign_gmem::is_network(&document) {
            let program = assign_gmem::program(&document, &assign_gmem::Options::default())
                .map_err(|error| ReadError::new("gmem::network", text, place(&error), error.to_string()))?;
            return analyze(program, text, placed_notes(text, document.notes().iter()));
        }
        let lowered = lower(&document)
            .map_err(|error| ReadError::new("lower::malformed", text, error.span(), error.to_string()))?;
        let mut notes = placed_notes(text, document.notes().iter().chain(&lowered.notes));
        if lowered.program.sites().is_empty() && text.contains("tensor<") {
            notes.push(TENSORS.to_owned());
        }
        analyze(lowered.program, text, notes)
    }
}

/// Whether there is an op in a text. The reader takes any word for an unknown op, so that prose would pass for a
/// program; but real ops have a dialect in front of their names: `memref.alloc`.
pub(crate) fn has_op(document: &Document) -> bool {
    document.op_ids().any(|op| document.name(op).contains('.'))
}

/// The error for a text without an op.
pub(crate) fn no_op(text: &str) -> ReadError {
    let start = text.len() - text.trim_start().len();
    let line = text[start..].lines().next().unwrap_or_default();
    ReadError::new("mlir::no-op", text, Span::new(start, start + line.len()), "there is no MLIR op in this text")
        .help("expected a module or functions, such as func.func @f() { … }")
}

/// A note for users whose program has no buffers yet.
const TENSORS: &str = "nothing here allocates a memref: tensors become buffers by bufferization, as in \
     mlir-opt -one-shot-bufferize=bufferize-function-boundaries";

/// Where in the text an error belongs; the beginning if it has no place.
fn place(error: &PassError) -> Span {
    match error {
        PassError::Op { span, .. } => *span,
        _ => Span::new(0, 0),
    }
}

/// Notes with their places in front. A note that stands twice in a row, with the same place, is said once.
fn placed_notes<'a>(text: &str, notes: impl Iterator<Item = &'a Note>) -> Vec<String> {
    let mut notes: Vec<String> = notes.map(|note| placed(text, note)).collect();
    notes.dedup();
    notes
}

/// A note with its place in front.
fn placed(text: &str, note: &Note) -> String {
    let Span { start, .. } = note.span;
    let (line, column) = line_column(text, start as usize);
    format!("line {line}, column {column}: {}", note.message)
}
