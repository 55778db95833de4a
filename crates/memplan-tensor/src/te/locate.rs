//! Where in a JSON text something stands, for messages about values that have been read.
//!
//! The parser that reads descriptions keeps no positions; this walks the text again, once, when there is something to
//! say.

use memplan_core::Span;

/// One member of an object or element of a list.
struct Member<'a> {
    key: &'a str,
    start: usize,
    end: usize,
}

/// The place of `path`, as in `ops[2].expr`, in a description; as much of it as can be found.
pub(super) fn locate(text: &str, path: &str) -> Span {
    let mut place = (skip_blanks(text, 0), text.trim_end().len());
    if let Some(program) = members(text, place.0).into_iter().find(|member| member.key == "program") {
        place = (program.start, program.end);
    }
    for step in path.split(['.', '[']) {
        let found = match step.strip_suffix(']') {
            Some(index) => index.parse().ok().and_then(|index: usize| members(text, place.0).into_iter().nth(index)),
            None => members(text, place.0).into_iter().find(|member| member.key == step),
        };
        match found {
            Some(member) => place = (member.start, member.end),
            None => break,
        }
    }
    Span::new(place.0.min(place.1), place.1)
}

fn skip_blanks(text: &str, from: usize) -> usize {
    let rest = text.get(from..).unwrap_or("");
    from + (rest.len() - rest.trim_start().len())
}

/// The end of the value that starts at `from`: behind its last bracket, quote or letter.
fn end_of_value(text: &str, from: usize) -> usize {
    let (mut depth, mut quoted, mut escaped) = (0usize, false, false);
    for (offset, byte) in text.as_bytes().iter().enumerate().skip(from) {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if quoted => escaped = true,
            b'"' => quoted = !quoted,
            _ if quoted => continue,
            b'{' | b'[' => depth += 1,
            b'}' | b']' if depth == 0 => return offset,
            b'}' | b']' => depth -= 1,
            b',' if depth == 0 => return offset,
            _ => continue,
        }
        if depth == 0 && !quoted {
            return offset + 1;
        }
    }
    text.len()
}

/// The members of the object or list that starts at `from`; none of anything else.
fn members(text: &str, from: usize) -> Vec<Member<'_>> {
    let is_object = text[from.min(text.len())..].starts_with('{');
    let is_list = text[from.min(text.len())..].starts_with('[');
    let mut found = Vec::new();
    let mut at = skip_blanks(text, from + 1);
    while (is_object || is_list) && at < text.len() && !text[at..].starts_with(['}', ']']) {
        let mut key = "";
        if is_object {
            let end = end_of_value(text, at);
            key = text.get(at..end).unwrap_or("").trim_matches('"');
            at = skip_blanks(text, skip_blanks(text, end) + 1);
        }
        let end = end_of_value(text, at).max(at);
        found.push(Member { key, start: at, end });
        let behind = skip_blanks(text, end);
        if !text.get(behind..).unwrap_or("").starts_with(',') {
            break;
        }
        at = skip_blanks(text, behind + 1);
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_found_by_path() {
        let text = "{\"syms\": [], \"ops\": [{\"a\": \"x]\"}, {\"expr\": \"A[i]\\\"\", \"n\": 12 }], \"z\": null}";
        let at = |path: &str| &text[locate(text, path).range()];
        assert_eq!(at("ops[1].expr"), "\"A[i]\\\"\"");
        assert_eq!(at("ops[1].n"), "12 ");
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
