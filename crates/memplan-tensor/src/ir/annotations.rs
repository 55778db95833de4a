//! Keyword arguments of declarations: which of them let a buffer share memory.
//!
//! TVM's pipeline marks every allocation with `annotations={"buffer_allocated_addr": [], "buffer_data_alignment":
//! 64}`: no address was chosen yet, and the alignment is the one that every buffer has. A buffer with anything else is
//! *pinned*: it keeps its declaration where and as it is.

use super::Buffer;

/// The alignment in bytes that every buffer has anyway.
const DEFAULT_ALIGNMENT: &str = "64";

impl Buffer {
    /// Whether its declaration or its use forbids moving the buffer: the text ties it to its place, or its declaration
    /// has a keyword argument that a shared allocation would not keep.
    pub fn is_pinned(&self) -> bool {
        self.pinned || self.extra.iter().any(|(key, value)| key != "annotations" || !is_harmless(value))
    }

    /// Whether neighbouring elements need not be neighbours in memory.
    pub fn has_strides(&self) -> bool {
        self.extra.iter().any(|(key, _)| matches!(key.as_str(), "strides" | "layout"))
    }
}

/// Whether every entry of a dictionary (as text, `{"key": value, …}`) asks for nothing that a shared allocation would
/// not keep. A text that is no dictionary counts as asking for something.
fn is_harmless(dictionary: &str) -> bool {
    let inside = dictionary.trim().strip_prefix('{').and_then(|rest| rest.strip_suffix('}'));
    let Some(inside) = inside else { return false };
    entries(inside).iter().all(|entry| match entry.split_once(':') {
        Some((key, value)) => match key.trim() {
            "\"buffer_allocated_addr\"" => value.trim() == "[]",
            "\"buffer_data_alignment\"" => value.trim() == DEFAULT_ALIGNMENT,
            // Padding between rows, which the size of the flat buffer already contains.
            "\"buffer_dim_align\"" => true,
            _ => false,
        },
        // An entry without a colon: nothing but blanks if the text ends with a comma or is empty.
        None => entry.trim().is_empty(),
    })
}

/// The pieces of a text between the commas that stand in no bracket: `a: [1, 2], b: 3` has two.
fn entries(text: &str) -> Vec<&str> {
    let (mut found, mut depth, mut start) = (Vec::new(), 0i32, 0);
    for (at, c) in text.char_indices() {
        match c {
            '[' | '{' | '(' => depth += 1,
            ']' | '}' | ')' => depth -= 1,
            ',' if depth == 0 => {
                found.push(&text[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    found.push(&text[start..]);
    found
}

#[cfg(test)]
mod tests {
    use super::is_harmless;

    #[test]
    fn only_what_the_pipeline_writes_is_harmless() {
        assert!(is_harmless("{\"buffer_allocated_addr\": [], \"buffer_data_alignment\": 64}"));
        assert!(is_harmless("{\"buffer_data_alignment\": 64, \"buffer_dim_align\": [[-1, 1, 8, 2]]}"));
        assert!(!is_harmless("{\"buffer_allocated_addr\": [128], \"buffer_data_alignment\": 64}"));
        assert!(!is_harmless("{\"buffer_data_alignment\": 256}"));
        assert!(!is_harmless("{\"my_mark\": 1}"));
        assert!(!is_harmless("marks"));
    }
}
