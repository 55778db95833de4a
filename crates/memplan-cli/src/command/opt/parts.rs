//! Files in parts: MLIR tests hold many programs, divided by lines `// -----`.
//! As long as nothing is wrong such a file is rewritten as a whole. If something
//! is, each part is taken by itself.

use memplan::pipeline::Source;

/// A part of a file.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Part<'s> {
    /// How many lines are in front of it.
    lines: usize,
    text: &'s str,
    /// The line behind it.
    pub(super) separator: &'s str,
}

/// The parts of a text; one if nothing divides it.
pub(super) fn of(source: &Source) -> Vec<Part<'_>> {
    let mut rest = std::str::from_utf8(&source.bytes).unwrap_or_default();
    let mut parts = Vec::new();
    let mut lines = 0;
    loop {
        let start = if rest.starts_with("// -----") { Some(0) } else { rest.find("\n// -----").map(|at| at + 1) };
        let Some(start) = start else { break };
        let (text, behind) = rest.split_at(start);
        let (separator, next) = behind.split_at(behind.find('\n').map_or(behind.len(), |end| end + 1));
        parts.push(Part { lines, text, separator });
        lines += text.matches('\n').count() + 1;
        rest = next;
    }
    parts.push(Part { lines, text: rest, separator: "" });
    parts
}

impl Part<'_> {
    /// The part as a file of its own, with empty lines in front so that places
    /// in it are places in the whole file.
    pub(super) fn as_source(&self, whole: &Source) -> Source {
        let padded = "\n".repeat(self.lines) + self.text;
        Source { bytes: padded.into_bytes(), ..whole.clone() }
    }

    /// A text made from [`as_source`](Self::as_source) without those lines.
    pub(super) fn without_padding<'t>(&self, text: &'t str) -> &'t str {
        let padding = text.bytes().take(self.lines).take_while(|&byte| byte == b'\n').count();
        text.get(padding..).unwrap_or(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_and_the_lines_between_them() {
        let source = Source::new("a.mlir", "a\nb\n// -----\nc\n// ----- \n");
        let parts = of(&source);
        let shown: Vec<_> = parts.iter().map(|part| (part.lines, part.text, part.separator)).collect();
        assert_eq!(shown, [(0, "a\nb\n", "// -----\n"), (3, "c\n", "// ----- \n"), (5, "", "")]);
        assert_eq!(parts[1].as_source(&source).bytes, b"\n\n\nc\n");
        assert_eq!(parts[1].without_padding("\n\n\n\nd"), "\nd");
        assert_eq!(of(&Source::new("a.mlir", "no // -----\n")).len(), 1);
    }
}
