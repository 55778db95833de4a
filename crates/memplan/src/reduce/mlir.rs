//! Items of MLIR text: functions, then single ops, users before definitions.

use memplan_mlir::{Dialects, Document, Edits, Form, OpId};

use super::{Interesting, lines, minimize};

pub(super) fn mlir(text: &str, interesting: Interesting) -> String {
    let functions = |document: &Document| {
        let blocks = document.top_blocks().iter();
        let top: Vec<OpId> = blocks.flat_map(|&block| document.ops(block).iter().copied()).collect();
        let inside = top.iter().flat_map(|&op| document.regions(op)).flat_map(|&region| document.blocks(region));
        let nested = inside.flat_map(|&block| document.ops(block).iter().copied());
        top.iter().copied().chain(nested).collect()
    };
    let every_op = |document: &Document| document.op_ids().collect();
    let fewer_functions = without(text, functions, interesting);
    let fewer_ops = without(&fewer_functions, every_op, interesting);
    match Document::read(&fewer_ops, Dialects::builtin()) {
        Ok(_) => fewer_ops,
        Err(_) => lines(&fewer_ops, interesting),
    }
}

/// Leaves out some of the ops that `choose` names. Later ones go first, so that
/// the users of a value are gone when its definition is tried.
fn without(text: &str, choose: impl Fn(&Document) -> Vec<OpId>, interesting: Interesting) -> String {
    let Ok(document) = Document::read(text, Dialects::builtin()) else { return text.to_owned() };
    let mut items = choose(&document);
    items.retain(|&op| document.op(op).form != Form::Implicit && !document.op(op).span.range().is_empty());
    items.sort_unstable();
    items.dedup();
    items.reverse();
    let all = items.clone();
    let assemble = |kept: &[OpId]| {
        let mut edits = Edits::default();
        let mut end = 0;
        // From the first op on; what is inside a deleted op goes with it.
        for &op in all.iter().rev() {
            let span = document.op(op).span;
            let is_kept = kept.binary_search_by(|other| op.cmp(other)).is_ok();
            if !is_kept && span.start >= end {
                edits.delete_lines(text, span);
                end = span.end;
            }
        }
        edits.apply(text).ok()
    };
    let left = minimize(items, &mut |kept| assemble(kept).is_some_and(|text| interesting(&text)));
    assemble(&left).unwrap_or_else(|| text.to_owned())
}
