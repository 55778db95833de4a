//! What must hold for any bytes whatever: the reader's fuzz target and the
//! randomised tests both run this.

use memplan_planner::Request;

use crate::pass::assign_gmem;
use crate::{Dialects, Document, Edits, lower};

/// Reads arbitrary bytes and checks what must hold: no panic, and if the text
/// was read, every span lies in it, every op in its parent, and the structure
/// refers only to what exists. Then lowers it, and assigns addresses if it is a network.
///
/// # Panics
///
/// When one of these does not hold: that is a bug in the reader.
pub fn fuzz_check(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    match Document::read(&text, Dialects::builtin()) {
        Ok(document) => {
            check_document(&document);
            check_lowering(&document);
            check_network(&document);
        }
        Err(error) => {
            let excerpt = error.excerpt(&text);
            assert!(excerpt.line >= 1 && excerpt.column >= 1);
            assert!(!error.to_string().is_empty());
        }
    }
}

/// Asks for everything a document can tell, which must not panic, and checks that ops nest and that an empty list of
/// edits changes nothing.
fn check_document(document: &Document) {
    for op in document.op_ids() {
        let span = document.op(op).span;
        assert!(document.source().get(span.range()).is_some(), "span of an op");
        if let Some(parent) = document.parent_op(op) {
            let outer = document.op(parent).span;
            assert!(outer.start <= span.start && span.end <= outer.end, "an op lies in its parent");
        }
        for &value in document.operands(op).iter().chain(document.results(op)) {
            let _ = document.ty(value);
            let _ = document.value_name(value);
        }
        let _ = (document.attributes(op), document.symbol_name(op));
        for index in 0..document.successors(op).len() {
            let _ = document.successor_operands(op, index);
        }
        for (selector, _) in document.info(op).effects.iter() {
            let range = document.select(op, selector);
            assert!(range.end <= document.operands(op).len(), "effects name operands");
        }
    }
    let unchanged = Edits::default().apply(document.source());
    assert_eq!(unchanged.as_deref(), Ok(document.source()));
}

/// Lowers a document, which must not panic, and checks that every op and every site of the program has its op in the
/// document. An error is fine if it says something.
fn check_lowering(document: &Document) {
    match lower(document) {
        Ok(lowered) => {
            assert_eq!(lowered.program.ops().len(), lowered.ops.len(), "one op for each");
            assert_eq!(lowered.program.sites().len(), lowered.sites.len(), "one alloc for each");
        }
        Err(error) => assert!(!error.to_string().is_empty()),
    }
}

/// Assigns addresses as if the document were a network, with little work so that many inputs can be tried. If that
/// succeeds, the edits must fit together.
fn check_network(document: &Document) {
    let request = Request { work_limit: Some(100), ..Request::default() };
    match assign_gmem::run(document, &assign_gmem::Options::default(), None, &request) {
        Ok(assigned) => assert!(assigned.edits.apply(document.source()).is_ok(), "edits go together"),
        Err(error) => assert!(!error.to_string().is_empty()),
    }
}
