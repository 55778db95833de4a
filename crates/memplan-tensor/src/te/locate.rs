//! Where in a JSON text something stands, for messages about values that have been read.
//!
//! The parser that reads descriptions keeps no positions. When there is something to say, this takes the text apart
//! again, level by level along the path: `serde_json` leaves a value unparsed as a borrowed piece of the text, and the
//! address of that piece is its place.
//!
//! ```text
//! path ops[1].n      {"ops": [{"a": 1}, {"n": 12}]}
//!      ops                   [             ]
//!      [1]                              {       }
//!      n                                      12
//! ```

use std::collections::BTreeMap;

use memplan_core::Span;
use serde_json::value::RawValue;

/// The place of the value at `path`, such as `ops[2].expr`, in a description. If a step of the path leads nowhere (the
/// value is missing, or the text is no JSON), the place is that of the value before it.
pub(super) fn locate(text: &str, path: &str) -> Span {
    // A description may be wrapped in an object with other things beside the program.
    let mut piece = member(text.trim(), "program").unwrap_or(text.trim());
    // `ops[2].expr` is split into `ops`, `2]` and `expr`.
    for step in path.split(['.', '[']) {
        let inner = match step.strip_suffix(']') {
            Some(index) => index.parse().ok().and_then(|index| element(piece, index)),
            None => member(piece, step),
        };
        match inner {
            Some(inner) => piece = inner,
            None => break,
        }
    }
    // `piece` is a part of `text`, so the difference of the two addresses is where it starts.
    let start = (piece.as_ptr() as usize).saturating_sub(text.as_ptr() as usize);
    Span::new(start, start + piece.len())
}

/// The text of a member of an object. If a key is there twice the last one counts, as it does for the reader.
fn member<'a>(object: &'a str, key: &str) -> Option<&'a str> {
    let members: BTreeMap<String, &'a RawValue> = serde_json::from_str(object).ok()?;
    members.get(key).map(|value| value.get())
}

/// The text of an element of a list.
fn element(list: &str, index: usize) -> Option<&str> {
    let elements: Vec<&RawValue> = serde_json::from_str(list).ok()?;
    elements.get(index).map(|value| value.get())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_found_by_path() {
        let text = "{\"syms\": [], \"ops\": [{\"a\": \"x]\"}, {\"expr\": \"A[i]\\\"\", \"n\": 12 }], \"z\": null}";
        let at = |path: &str| &text[locate(text, path).range()];
        assert_eq!(at("ops[1].expr"), "\"A[i]\\\"\"");
        assert_eq!(at("ops[1].n"), "12");
        assert_eq!(at("ops[0]"), "{\"a\": \"x]\"}");
        assert_eq!(at("ops[1].missing"), at("ops[1]"));
        assert_eq!(at("z"), "null");
        assert_eq!(locate("", "ops[0]").range(), 0..0);
        assert_eq!(
            &format!("{{\"program\": {text}}}")[locate(&format!("{{\"program\": {text}}}"), "z").range()],
            "null"
        );
    }
}
