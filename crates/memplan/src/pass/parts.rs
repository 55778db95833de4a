//! A line of passes over a file, and files in parts.
//!
//! Tests of MLIR often hold many programs in one file, divided by lines `// -----`. Such a file is first
//! rewritten as a whole. If that fails, each part is rewritten by itself, so that one program that is
//! refused does not keep the others from being rewritten.

use memplan_core::PassSpec;

use super::named;
use crate::driver::{Checked, Failure, How};
use crate::front_end::Output;
use crate::source::Source;

/// What each pass made, in their order; the last one's output is the result.
pub type Chain = Vec<(String, Checked<Output>)>;

/// What came of a file. If the whole was rewritten, or if no line divides the file, it is one part;
/// otherwise every part was rewritten by itself.
pub struct Done {
    /// The parts, at least one.
    pub parts: Vec<DonePart>,
}

/// What came of a part of a file.
pub struct DonePart {
    /// The outputs of the passes, or why the part was not rewritten.
    pub chain: Result<Chain, Box<Stopped>>,
    /// How many empty lines were put in front of the part's text. They stand for the parts before
    /// it, so that places in messages are places in the whole file.
    padding: usize,
    /// The line `// -----` that follows the part; empty for the last part.
    pub separator: String,
}

/// Why a part was not rewritten.
pub struct Stopped {
    /// What the passes before made.
    pub done: Chain,
    /// The text that the failing pass was given, for the place of the failure.
    pub source: Source,
    /// Why it failed.
    pub failure: Failure,
}

impl Done {
    /// The text of the whole file; `None` if some part was not rewritten.
    pub fn text(&self) -> Option<String> {
        let text = |part: &DonePart| Some(format!("{}{}", part.text()?, part.separator));
        self.parts.iter().map(text).collect()
    }
}

impl DonePart {
    /// The new text; `None` if the part was not rewritten, or if no pass was asked for.
    pub fn text(&self) -> Option<&str> {
        let (_, output) = self.chain.as_ref().ok()?.last()?;
        // The empty lines that [`Part::as_source`] has put in front are taken off again, as far as the pass kept them.
        let text = output.text();
        let padding = text.bytes().take(self.padding).take_while(|&byte| byte == b'\n').count();
        text.get(padding..)
    }
}

/// Runs passes over a file, one after the other: over the whole file, and if that fails, over each of its parts.
pub fn opt(source: &Source, specs: &[PassSpec], how: &How) -> Done {
    let whole = run_all(source, specs, how);
    // The result of the whole is final if nothing failed, or if the caller has stopped waiting:
    // then the parts need not be done either.
    let is_stopped = |stopped: &Stopped| matches!(stopped.failure, Failure::Stopped(_));
    let is_final = whole.as_ref().map_or_else(|stopped| is_stopped(stopped), |_| true);
    let parts = if is_final { Vec::new() } else { parts_of(source) };
    // A file that nothing divides is one part, and would fail in the same way again.
    if parts.len() <= 1 {
        return Done { parts: vec![DonePart { chain: whole, padding: 0, separator: String::new() }] };
    }
    let rewritten = |part: Part| DonePart {
        chain: run_all(&part.as_source(source), specs, how),
        padding: part.lines,
        separator: part.separator.to_owned(),
    };
    Done { parts: parts.into_iter().map(rewritten).collect() }
}

/// Runs passes one after the other, each on what the one before has written. If one fails, the outputs so far are part
/// of the error.
fn run_all(source: &Source, specs: &[PassSpec], how: &How) -> Result<Chain, Box<Stopped>> {
    let mut done = Chain::new();
    // What the pass before has written. A text may be large, so the source itself is not copied.
    let mut written: Option<Source> = None;
    for spec in specs {
        if let Some((_, output)) = done.last() {
            written = Some(source.with_bytes(output.bytes.clone()));
        }
        let input = written.as_ref().unwrap_or(source);
        match named(&spec.name).and_then(|pass| pass.run(input, &spec.options, how)) {
            Ok(output) => done.push((spec.name.clone(), output)),
            Err(failure) => {
                let source = written.unwrap_or_else(|| source.clone());
                return Err(Box::new(Stopped { done, source, failure }));
            }
        }
    }
    Ok(done)
}

/// A part of a text, which ends at a line `// -----` or at the end.
#[derive(Debug, PartialEq, Eq)]
struct Part<'s> {
    /// How many lines of the file come before the part.
    lines: usize,
    /// The lines of the part.
    text: &'s str,
    /// The line `// -----` that ends the part; empty for the last part.
    separator: &'s str,
}

/// The parts of a text; one if nothing divides it.
fn parts_of(source: &Source) -> Vec<Part<'_>> {
    let mut rest = std::str::from_utf8(&source.bytes).unwrap_or_default();
    let mut parts = Vec::new();
    let mut lines = 0;
    loop {
        // The separator may be the first line of the rest, or follow a line end.
        let start = if rest.starts_with("// -----") { Some(0) } else { rest.find("\n// -----").map(|at| at + 1) };
        let Some(start) = start else { break };
        // The separator is a whole line, with whatever follows the dashes on it.
        let (text, behind) = rest.split_at(start);
        let (separator, next) = behind.split_at(behind.find('\n').map_or(behind.len(), |end| end + 1));
        parts.push(Part { lines, text, separator });
        // The lines of the part and its separator.
        lines += text.matches('\n').count() + 1;
        rest = next;
    }
    parts.push(Part { lines, text: rest, separator: "" });
    parts
}

impl Part<'_> {
    /// The part as a file of its own, with empty lines in front so that places
    /// in it are places in the whole file.
    fn as_source(&self, whole: &Source) -> Source {
        let padded = "\n".repeat(self.lines) + self.text;
        whole.with_bytes(padded.into_bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_and_the_lines_between_them() {
        let source = Source::new("a.mlir", "a\nb\n// -----\nc\n// ----- \n");
        let parts = parts_of(&source);
        let shown: Vec<_> = parts.iter().map(|part| (part.lines, part.text, part.separator)).collect();
        assert_eq!(shown, [(0, "a\nb\n", "// -----\n"), (3, "c\n", "// ----- \n"), (5, "", "")]);
        assert_eq!(*parts[1].as_source(&source).bytes, *b"\n\n\nc\n");
        assert_eq!(parts_of(&Source::new("a.mlir", "no // -----\n")).len(), 1);
    }
}
