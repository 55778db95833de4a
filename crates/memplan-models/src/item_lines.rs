//! Writes JSON with a line for each item of the outer lists, so that people can read it and `diff` shows which items
//! changed.
//!
//! ```text
//! {"spaces": [
//!   {"name":"ub","capacity":4096}
//! ],
//! "buffers": [
//!   {"id":"a","size":64,"lifetime":[[0,2]]},
//!   {"id":"b","size":32,"lifetime":[[1,3]]}
//! ]}
//! ```

use std::io::{self, Write};

use serde::Serialize;
use serde_json::ser::{Formatter, Serializer};

/// The text of a value whose outermost level is an object of lists, with a line break at its end.
pub(crate) fn to_string(value: &impl Serialize) -> String {
    let mut bytes = Vec::new();
    // Serialising fails if the writer fails, which memory does not, or if a map has keys that are no strings, which our
    // types do not have.
    let _ = value.serialize(&mut Serializer::with_formatter(&mut bytes, ItemLines { depth: 0 }));
    bytes.push(b'\n');
    String::from_utf8(bytes).unwrap_or_default()
}

/// Tells `serde_json` where to break lines: before the keys of the outermost object (depth 1), and before the items
/// of the lists in it (depth 2). Everything deeper stays on one line.
struct ItemLines {
    /// How many lists and objects are open.
    depth: u32,
}

impl Formatter for ItemLines {
    fn begin_array<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.depth += 1;
        writer.write_all(b"[")
    }

    fn end_array<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.depth -= 1;
        // The end of a list of the outermost object stands on a line of its own.
        writer.write_all(if self.depth == 1 { b"\n]" } else { b"]" })
    }

    fn begin_array_value<W: ?Sized + Write>(&mut self, writer: &mut W, first: bool) -> io::Result<()> {
        match (self.depth, first) {
            (2, true) => writer.write_all(b"\n  "),
            (2, false) => writer.write_all(b",\n  "),
            (_, true) => Ok(()),
            (_, false) => writer.write_all(b","),
        }
    }

    fn begin_object<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.depth += 1;
        writer.write_all(b"{")
    }

    fn end_object<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.depth -= 1;
        writer.write_all(b"}")
    }

    fn begin_object_key<W: ?Sized + Write>(&mut self, writer: &mut W, first: bool) -> io::Result<()> {
        match (self.depth, first) {
            (_, true) => Ok(()),
            (1, false) => writer.write_all(b",\n"),
            (_, false) => writer.write_all(b","),
        }
    }

    fn begin_object_value<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        writer.write_all(if self.depth == 1 { b": " } else { b":" })
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_line_for_each_item() {
        let value = serde_json::json!({"spaces": [], "buffers": [{"id": "a", "life": [[0, 2]]}, {"id": "b"}]});
        let text = super::to_string(&value);
        assert_eq!(serde_json::from_str::<serde_json::Value>(&text).unwrap(), value);
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines[2..4], ["\"buffers\": [", "  {\"id\":\"a\",\"life\":[[0,2]]},"], "{text}");
    }
}
