//! Reading and printing TVMScript.

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
