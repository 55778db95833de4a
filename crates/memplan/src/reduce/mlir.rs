//! Items of MLIR text: parts of a file (`// -----`), then functions, then single ops, users before
//! definitions; at the end comments and empty lines.
//!
//! A `Document` is a text that was read, with the span of each op. `interesting` is asked whether a smaller text
//! still shows what is looked for; `minimize` leaves out items as long as the answer is yes.

use memplan_mlir::{Dialects, Document, Edits, Form, OpId};

use super::{Interesting, lines, minimize};

/// What stands between the parts of a file, on a line of its own.
const SEPARATOR: &str = "// -----";

/// A smaller text that is still interesting: fewer parts of a file split at `// -----`, then less in each part, then
/// fewer comments.
pub(super) fn mlir(text: &str, interesting: Interesting) -> String {
    let mut parts = minimize(parts_of(text), &mut |some| interesting(&join(some)));
    for index in 0..parts.len() {
        // A part is made smaller while the others stay as they are: what is looked for may need several of them.
        let part = parts[index].clone();
        parts[index] = one_part(&part, &mut |smaller| {
            let mut others = parts.clone();
            others[index] = smaller.to_owned();
            interesting(&join(&others))
        });
    }
    without_remarks(&join(&parts), interesting)
}

/// The parts of a file, without the lines between them.
fn parts_of(text: &str) -> Vec<String> {
    let mut parts = vec![String::new()];
    for line in text.split_inclusive('\n') {
        match (line.trim_end().starts_with(SEPARATOR), parts.last_mut()) {
            (false, Some(part)) => part.push_str(line),
            // A separator begins the next part.
            _ => parts.push(String::new()),
        }
    }
    parts
}

/// The text of some parts, with a separator between each two of them.
fn join(parts: &[String]) -> String {
    parts.join(&format!("{SEPARATOR}\n"))
}

/// Reduces one part: whole functions first, because that takes off most in one attempt, then single ops. A text that
/// cannot be read is reduced line by line.
fn one_part(text: &str, interesting: Interesting) -> String {
    // Functions are the ops at the top, or one level below if the text has a `module` around them.
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

/// Leaves out comments and empty lines. A `//` inside of a string is taken for a comment here; the text without it is
/// hardly interesting any more, so the string stays.
fn without_remarks(text: &str, interesting: Interesting) -> String {
    let all: Vec<&str> = text.split_inclusive('\n').collect();
    // How many bytes of a line come before its comment, without blanks at the end.
    let code = |line: &str| line.find("//").map_or(line.trim_end().len(), |comment| line[..comment].trim_end().len());
    // The lines that have a comment, or that are empty (for which `max(1)` makes the comparison true).
    let remarks: Vec<usize> =
        (0..all.len()).filter(|&line| code(all[line]) < all[line].trim_end().len().max(1)).collect();
    // The text in which only the remarks of the lines `kept` are left. A line that was nothing but a remark is gone.
    let assemble = |kept: &[usize]| {
        let shortened =
            all.iter().enumerate().map(|(number, line)| match remarks.contains(&number) && !kept.contains(&number) {
                true if code(line) == 0 => String::new(),
                true => format!("{}\n", &line[..code(line)]),
                false => (*line).to_owned(),
            });
        shortened.collect::<String>()
    };
    let kept = minimize(remarks.clone(), &mut |kept| interesting(&assemble(kept)));
    assemble(&kept)
}

/// Leaves out as many as possible of the ops that `choose` names. Later ones are tried first, so that
/// the users of a value are gone when its definition is tried. A text that cannot be read stays as it is.
fn without(text: &str, choose: impl Fn(&Document) -> Vec<OpId>, interesting: Interesting) -> String {
    let Ok(document) = Document::read(text, Dialects::builtin()) else { return text.to_owned() };
    let mut items = choose(&document);
    // Ops that the reader adds, such as a terminator that may be left out, do not stand in the text.
    items.retain(|&op| document.op(op).form != Form::Implicit && !document.op(op).span.range().is_empty());
    items.sort_unstable();
    items.dedup();
    items.reverse();
    let all = items.clone();
    let left = minimize(items, &mut |kept| delete_others(&document, &all, kept).is_some_and(|text| interesting(&text)));
    delete_others(&document, &all, &left).unwrap_or_else(|| text.to_owned())
}

/// The text of a document without those ops of `all` that are not in `kept`; both lists go from the last op to the
/// first. `None` if the edits contradict each other.
fn delete_others(document: &Document, all: &[OpId], kept: &[OpId]) -> Option<String> {
    let text = document.source();
    let mut edits = Edits::default();
    // Where the last deleted op ends. Ops are taken from the first on; one that begins before that place lies inside
    // of the deleted op and goes with it.
    let mut end = 0;
    for &op in all.iter().rev() {
        let span = document.op(op).span;
        // The list descends, so the comparison is turned round.
        let is_kept = kept.binary_search_by(|other| op.cmp(other)).is_ok();
        if !is_kept && span.start >= end {
            edits.delete_lines(text, span);
            end = span.end;
        }
    }
    edits.apply(text).ok()
}
