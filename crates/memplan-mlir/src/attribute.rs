//! Attributes of ops, looked up in the text when asked for, and the operands that attributes group.
//!
//! The custom form writes groups of operands with a keyword, `outs(%a)`. The generic form lists all operands one after
//! the other; there the attribute `operandSegmentSizes = array<i32: 2, 1>` says how many of them belong to each group,
//! a *segment*, and the op's row in the dialect tables names the segments in order.

use memplan_core::Span;

use crate::dialect::Selector;
use crate::document::{Document, Form, OpId, ValueId};
use crate::lex::{has_comment, string_end, trim_trivia, without_comments};
use crate::ty::Commas;

impl Document {
    /// An attribute as written, from the op's properties or its attribute dictionary; the empty string for a unit
    /// attribute, which is a name without a value; `None` if the op has no attribute of this name.
    pub fn attribute(&self, op: OpId, name: &str) -> Option<&str> {
        let dictionaries = self.dictionaries(op).iter().map(|&span| self.text(span));
        // Most ops are asked for attributes they do not have. Looking for the name anywhere in the text is much
        // quicker than splitting the dictionary into its entries.
        let mut entries = dictionaries.filter(|text| mentions(text, name)).flat_map(entries_of);
        entries.find(|(key, _)| *key == name).map(|(_, value)| value)
    }

    /// All attributes of an op as written, properties first.
    pub fn attributes(&self, op: OpId) -> Vec<(&str, &str)> {
        let dictionaries = self.dictionaries(op).iter();
        dictionaries.flat_map(|&span| entries(self.text(span))).collect()
    }

    /// An integer attribute: `64 : i64`, `2`, `true`.
    pub fn integer_attribute(&self, op: OpId, name: &str) -> Option<i64> {
        // Nearly every allocation has `{alignment = 64 : i64}` and nothing else.
        if let &[dictionary] = self.dictionaries(op)
            && let Some(number) = lone_integer(self.text(dictionary), name)
        {
            return Some(number);
        }
        integer(self.attribute(op, name)?)
    }

    /// A list of integers: `array<i32: 1, 2>`, `[1, 2]`.
    pub fn integers_attribute(&self, op: OpId, name: &str) -> Option<Vec<i64>> {
        integers(self.attribute(op, name)?)
    }

    /// The name of the symbol an op defines (`@main` of a function) or calls, without the `@`, whichever form it is
    /// written in; `None` if there is none.
    pub fn symbol_name(&self, op: OpId) -> Option<&str> {
        if let Some(span) = self.symbol(op) {
            return Some(bare_symbol(self.text(span)));
        }
        if let Some(name) = self.attribute(op, "sym_name") {
            return Some(name.trim_matches('"'));
        }
        let callee = self.attribute(op, "callee").or_else(|| self.attribute(op, "name"));
        callee.filter(|name| name.starts_with('@')).map(bare_symbol)
    }

    /// The operands that a row of a table names, as a range of positions. It is cut to the operands that the op has,
    /// so a row that names too many gives an empty range and no panic.
    pub fn select(&self, op: OpId, selector: &Selector) -> std::ops::Range<usize> {
        let count = self.operands(op).len();
        match selector {
            Selector::All => 0..count,
            Selector::Operand(at) => {
                let at = (*at as usize).min(count);
                at..(at + 1).min(count)
            }
            Selector::From(at) => (*at as usize).min(count)..count,
            Selector::Group(name) => self.group_range(op, name),
        }
    }

    /// The positions of the operands in a named group: behind the keyword in the custom form, otherwise the segment
    /// of this name.
    fn group_range(&self, op: OpId, name: &str) -> std::ops::Range<usize> {
        let groups = self.groups(op);
        if let Some(group) = groups.iter().find(|group| self.text(group.keyword) == name) {
            let count = self.operands(op).len();
            return (group.start as usize).min(count)..(group.end as usize).min(count);
        }
        self.segment_range(op, name).unwrap_or_else(|| self.unsegmented_range(op, name))
    }

    /// The positions of the operands in a segment of the generic form; `None` if the row does not name this segment,
    /// or if the sizes are missing or do not fit the operands.
    fn segment_range(&self, op: OpId, name: &str) -> Option<std::ops::Range<usize>> {
        let at = self.info(op).segments.iter().position(|segment| segment == name)?;
        let sizes = self.segment_sizes(op)?;
        part_of(0..self.operands(op).len(), &sizes, at)
    }

    /// How many operands belong to each segment of the generic form. Older texts write
    /// `operand_segment_sizes = dense<[2, 1]> : vector<2xi32>`.
    pub(crate) fn segment_sizes(&self, op: OpId) -> Option<Vec<i64>> {
        let sizes = self.integers_attribute(op, "operandSegmentSizes");
        sizes.or_else(|| self.integers_attribute(op, "operand_segment_sizes"))
    }

    /// The positions of `ins` and `outs` of linalg ops and NPU ops whose generic form has no segments. The last
    /// operand is the output; of a `linalg.reduce` the second half of the operands. Empty for all other ops and
    /// groups, and where the number of outputs cannot be told: a `linalg.generic` may have any number of them, and so
    /// may an NPU op with more than two operands.
    fn unsegmented_range(&self, op: OpId, name: &str) -> std::ops::Range<usize> {
        let count = self.operands(op).len();
        // Nothing says whether the only operand of an NPU op is an input or an output.
        let styled = self.name(op).starts_with("linalg.") || (self.name(op).starts_with("hivm.hir.") && count == 2);
        if self.op(op).form != Form::Generic || !styled || self.name(op) == "linalg.generic" {
            return 0..0;
        }
        let inputs = match self.name(op) {
            "linalg.reduce" => count / 2,
            _ => count.saturating_sub(1),
        };
        match name {
            "ins" => 0..inputs,
            "outs" => inputs..count,
            _ => 0..0,
        }
    }

    /// The operands an op passes to its `index`-th successor.
    pub fn successor_operands(&self, op: OpId, index: usize) -> &[ValueId] {
        let operands = self.operands(op);
        let Some(successor) = self.successors(op).get(index) else {
            return &[];
        };
        let range = match self.op(op).form {
            Form::Generic => self.generic_successor_range(op, index),
            _ => successor.operands.start as usize..successor.operands.end as usize,
        };
        operands.get(range).unwrap_or(&[])
    }

    /// The positions of the operands that a branch in generic form hands to its successor at `index`.
    fn generic_successor_range(&self, op: OpId, index: usize) -> std::ops::Range<usize> {
        let count = self.operands(op).len();
        match (self.name(op), index) {
            ("cf.br", _) => 0..count,
            ("cf.cond_br", 0) => self.segment_range(op, "true").unwrap_or(0..0),
            ("cf.cond_br", _) => self.segment_range(op, "false").unwrap_or(0..0),
            // The first successor of a switch is its default, the others are its cases.
            ("cf.switch", 0) => self.segment_range(op, "default").unwrap_or(0..0),
            ("cf.switch", case) => self.switch_case_range(op, case - 1).unwrap_or(0..0),
            // For any other op it is not known which operands go to which block, so all of them may.
            _ => 0..count,
        }
    }

    /// The positions of the operands that a `cf.switch` in generic form hands to the block of a case. All cases share
    /// one segment, and the attribute `case_operand_segments` says how many of its operands belong to each case.
    fn switch_case_range(&self, op: OpId, case: usize) -> Option<std::ops::Range<usize>> {
        let cases = self.segment_range(op, "cases")?;
        let sizes = self.integers_attribute(op, "case_operand_segments")?;
        part_of(cases, &sizes, case)
    }

    /// Where the value of an attribute is written, for editing.
    pub fn attribute_span(&self, op: OpId, name: &str) -> Option<Span> {
        let value = self.attribute(op, name)?;
        // The value is a part of the source, so the distance of the two pointers is its position.
        let start = value.as_ptr() as usize - self.source().as_ptr() as usize;
        Some(Span::new(start, start + value.len()))
    }
}

/// The part number `at` of a range that is cut into parts of these sizes, one behind the other; `None` if there is no
/// such part, or if it ends behind the range. The sizes come from a text and may be any numbers.
fn part_of(whole: std::ops::Range<usize>, sizes: &[i64], at: usize) -> Option<std::ops::Range<usize>> {
    let mut start = whole.start;
    for &size in sizes.get(..at)? {
        start = start.checked_add(usize::try_from(size).ok()?)?;
    }
    let end = start.checked_add(usize::try_from(*sizes.get(at)?).ok()?)?;
    (end <= whole.end).then_some(start..end)
}

/// A symbol's name without `@` and quotes.
fn bare_symbol(text: &str) -> &str {
    text.trim_start_matches('@').trim_matches('"')
}

/// The entries of `{a = 1, b}` as names and values: `("a", "1")` and `("b", "")`.
pub fn entries(dictionary: &str) -> Vec<(&str, &str)> {
    entries_of(dictionary).collect()
}

/// As [`entries`], one at a time. A text without braces around it has no entries.
fn entries_of(dictionary: &str) -> impl Iterator<Item = (&str, &str)> {
    let inside = dictionary.trim_ascii().strip_prefix('{');
    let inside = inside.and_then(|text| text.strip_suffix('}')).unwrap_or("");
    Commas::of(inside).filter(|text| !text.is_empty()).map(split_entry)
}

/// The number of `{name = 64 : i64}`, a dictionary with one entry in just this spelling; `None` says nothing about any
/// other.
fn lone_integer(dictionary: &str, name: &str) -> Option<i64> {
    let number = dictionary.strip_prefix('{')?.strip_prefix(name)?.strip_prefix(" = ")?.strip_suffix(" : i64}")?;
    number.bytes().all(|byte| byte.is_ascii_digit()).then(|| number.parse().ok()).flatten()
}

/// Whether a word occurs anywhere in a text. The search of the standard library does some preparation first, which
/// pays for long texts only; dictionaries are short.
fn mentions(text: &str, word: &str) -> bool {
    let (text, word) = (text.as_bytes(), word.as_bytes());
    let Some((&first, rest)) = word.split_first() else { return true };
    let starts = text.iter().enumerate().filter(|&(_, &byte)| byte == first);
    starts.into_iter().any(|(at, _)| text[at + 1..].starts_with(rest))
}

/// Splits `name = value` or `"any name" = value`; the value is empty if there is none.
fn split_entry(text: &str) -> (&str, &str) {
    let quoted = text.starts_with('"').then(|| string_end(text.as_bytes(), 1)).flatten();
    // A name without quotes ends at the `=`, or at a comment in front of it.
    let comment = || has_comment(text).then(|| text.find("//")).flatten();
    let plain = || [position(text, b'='), comment()].into_iter().flatten().min();
    let end = quoted.or_else(plain).unwrap_or(text.len());
    let (key, value) = text.split_at(end);
    let value = trim_trivia(value).trim_start_matches('=');
    (key.trim_ascii().trim_matches('"'), trim_trivia(value))
}

/// Where a byte of ASCII first stands in a text. Entries are short, and `str::find` prepares a search that only pays
/// for long texts.
fn position(text: &str, byte: u8) -> Option<usize> {
    text.bytes().position(|found| found == byte)
}

/// The number of `64 : i64`, `0x40 : i64` or `64`; `true` is 1 and `false` is 0. `None` if it is no integer.
pub fn integer(text: &str) -> Option<i64> {
    let text = without_comments(text);
    let number = text[..position(&text, b':').unwrap_or(text.len())].trim();
    match number {
        "true" => Some(1),
        "false" => Some(0),
        _ => match number.strip_prefix("0x") {
            Some(hex) => i64::from_str_radix(hex, 16).ok(),
            None => number.parse().ok(),
        },
    }
}

/// The numbers of `array<i64: 1, 2>`, `[1, 2]` or `dense<[1, 2]> : …`; `None` if the text is none of these.
pub fn integers(text: &str) -> Option<Vec<i64>> {
    let text = without_comments(text);
    let text = text.trim();
    let list = if let Some(array) = text.strip_prefix("array<") {
        let inside = array.strip_suffix('>')?;
        inside.split_once(':').map_or("", |(_, list)| list)
    } else if let Some(dense) = text.strip_prefix("dense<") {
        dense.split_once('>')?.0.trim_matches(['[', ']'])
    } else {
        text.strip_prefix('[')?.strip_suffix(']')?
    };
    let numbers = list.split(',').map(str::trim).filter(|text| !text.is_empty());
    numbers.map(integer).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dictionaries_come_apart() {
        let text =
            r#"{a = 64 : i64, "b c" = "x, = }", d, e = #x<1, 2>, f = affine_set<(d0) : (d0 >= 0, -d0 + 3 >= 0)>}"#;
        let found = entries(text);
        assert_eq!(found[0], ("a", "64 : i64"));
        assert_eq!(found[1], ("b c", "\"x, = }\""));
        assert_eq!(found[2], ("d", ""));
        assert_eq!(found[3], ("e", "#x<1, 2>"));
        assert_eq!(found[4].0, "f");
        assert_eq!(found.len(), 5);
    }

    /// A backslash hides the byte behind it only if it is not hidden itself.
    #[test]
    fn strings_end_at_their_own_quote() {
        let text = r#"{tag = "C:\\", alignment = 128 : i64, "a\"b, c" = "\"", last}"#;
        let expected = [("tag", r#""C:\\""#), ("alignment", "128 : i64"), (r#"a\"b, c"#, r#""\"""#), ("last", "")];
        assert_eq!(entries(text), expected);
    }

    /// Comments may stand wherever blanks may.
    #[test]
    fn comments_belong_to_no_entry() {
        let text = "{ // line, one = {\n a = 128 // \"\n : i64 // c, d\n, \"b\" // =\n = // x\n 2, // y\n e // z\n}";
        let found = entries(text);
        assert_eq!(found.iter().map(|entry| entry.0).collect::<Vec<_>>(), ["a", "b", "e"]);
        assert_eq!((integer(found[0].1), integer(found[1].1), found[2].1), (Some(128), Some(2), ""));
        assert_eq!(entries("{f // =\n = \"x // y\"}"), [("f", "\"x // y\"")]);
        assert_eq!(integers("array<i64: 1, // one\n 2>"), Some(vec![1, 2]));
        assert_eq!(integers("[-1, // one\n 0x2]"), Some(vec![-1, 2]));
        assert!(entries("{ // nothing\n}").is_empty());
    }

    /// Sizes of segments that no list of operands can have are no segments.
    #[test]
    fn parts_lie_inside_of_the_whole() {
        assert_eq!(part_of(1..6, &[2, 0, 3], 2), Some(3..6));
        assert_eq!(part_of(1..6, &[2, 0, 4], 2), None);
        assert_eq!(part_of(0..3, &[i64::MAX, i64::MAX, 3], 2), None);
        assert_eq!(part_of(0..3, &[-1, 3], 1), None);
        assert_eq!(part_of(0..3, &[3], 1), None);
    }

    #[test]
    fn numbers() {
        assert_eq!(integer("64 : i64"), Some(64));
        assert_eq!(integer("-1"), Some(-1));
        assert_eq!(integer("0xFF : i8"), Some(255));
        assert_eq!(integers("array<i64: 1, -9223372036854775808>"), Some(vec![1, i64::MIN]));
        assert_eq!(integers("array<i64>"), Some(vec![]));
        assert_eq!(integers("dense<[1, 2]> : tensor<2xi32>"), Some(vec![1, 2]));
        assert_eq!(integers("[3 : i32, 4]"), Some(vec![3, 4]));
    }
}
