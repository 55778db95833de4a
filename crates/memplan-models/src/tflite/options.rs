//! The options of operators of every kind, field by field, as text that can be compared.
//!
//! A table of a flatbuffer does not say what its fields are. The list `options.txt` does, for every table of options
//! there is; `tests/peers/tflite_options.py` writes it from the schema. A line of it is
//!
//! ```text
//! 1.5 Pool2DOptions padding:i8 stride_w:i32 stride_h:i32 …
//! ```
//!
//! with the number of the union (an operator may have options of two unions, 1 and 2), the number of the table in the
//! union, its name, and its fields in the order of their numbers. So the options of two operators can be compared
//! without knowing what any of them means. A field that is absent gets the text of its default, so that it equals a
//! field that states the default. Options that are not in the list are an error: if they were skipped, two operators
//! with different options would count as equal.

use std::collections::{BTreeMap, HashMap};
use std::sync::OnceLock;

use crate::ReadError;
use crate::flatbuffer::Table;

/// A field of a table of options.
struct Field {
    /// Its name in the schema.
    name: &'static str,
    /// Its type.
    kind: Kind,
    /// The value of a number that the file leaves out, as decimal text: `0`, `1`, `-1`. Fields that are no numbers do
    /// not use it.
    default: &'static str,
}

/// The type of a field.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// A number.
    Number(Number),
    /// A list of numbers.
    Vector(Number),
    /// A string.
    Text,
    /// A table or something else for which there is no text. An operator that has such a field is an error.
    Other,
}

/// The type of a number.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Number {
    /// How many bytes it has.
    bytes: u64,
    is_float: bool,
    is_signed: bool,
}

impl Number {
    /// The type of a name such as `i32`, `u8` or `f32`.
    fn named(name: &str) -> Option<Number> {
        let bits: u64 = name.get(1..)?.parse().ok()?;
        Some(Number { bytes: bits / 8, is_float: name.starts_with('f'), is_signed: name.starts_with('i') })
    }

    /// The number with these bytes (the lowest first) as text. Numbers of fewer than 64 bits are widened to 64 bits; a
    /// negative one is filled with ones. Floats are written with their bits, so that different floats, such as two NaN
    /// values, have different texts.
    fn text(self, bytes: &[u8]) -> String {
        let mut wide = [0; 8];
        let is_negative = self.is_signed && bytes.last().is_some_and(|byte| *byte >= 0x80);
        wide.fill(if is_negative { 0xff } else { 0 });
        wide.iter_mut().zip(bytes).for_each(|(wide, byte)| *wide = *byte);
        match (self.is_float, self.is_signed) {
            (true, _) if self.bytes == 4 => {
                let bits = u64::from_le_bytes(wide) as u32;
                format!("{} ({bits:#x})", f32::from_bits(bits))
            }
            // A float of 64 or of 16 bits; no table of options has one so far.
            (true, _) => format!("{:#x}", u64::from_le_bytes(wide)),
            (false, true) => i64::from_le_bytes(wide).to_string(),
            (false, false) => u64::from_le_bytes(wide).to_string(),
        }
    }
}

/// The fields of every table of options, by the number of its union and its number in the union.
fn schema() -> &'static HashMap<(u8, u8), Vec<Field>> {
    static SCHEMA: OnceLock<HashMap<(u8, u8), Vec<Field>>> = OnceLock::new();
    SCHEMA.get_or_init(|| include_str!("options.txt").lines().filter_map(table).collect())
}

/// Reads a line of the list, such as `1.5 Pool2DOptions padding:i8 stride_w:i32 …`; `None` if it is none.
fn table(line: &'static str) -> Option<((u8, u8), Vec<Field>)> {
    let mut words = line.split_whitespace();
    let (union, number) = words.next()?.split_once('.')?;
    Some(((union.parse().ok()?, number.parse().ok()?), words.skip(1).map(field).collect::<Option<_>>()?))
}

/// Reads a field of the list, such as `stride_w:i32=1`: its name, its type and its default, which is 0 if it is left
/// out. A list of numbers has its type in brackets.
fn field(word: &'static str) -> Option<Field> {
    let (name, rest) = word.split_once(':')?;
    let (kind, default) = rest.split_once('=').unwrap_or((rest, "0"));
    let element = kind.strip_prefix('[').and_then(|kind| kind.strip_suffix(']'));
    let kind = match (kind, element) {
        ("text", _) => Kind::Text,
        ("other", _) => Kind::Other,
        (_, Some(element)) => Kind::Vector(Number::named(element)?),
        (kind, None) => Kind::Number(Number::named(kind)?),
    };
    Some(Field { name, kind, default })
}

/// The options of an operator: the value of every field of its table, as text by the name of the field. `union` and
/// `number` say which table of the list it is; `options` is `None` if the file leaves the table out. `at` is the
/// place in the file for errors.
pub(super) fn read(
    union: u8,
    number: u8,
    options: Option<&Table>,
    at: u64,
) -> Result<BTreeMap<String, String>, ReadError> {
    let Some(fields) = schema().get(&(union, number)) else {
        let what = format!("options of kind {union}.{number} are not known, so that they cannot be compared");
        return Err(unknown(at, what));
    };
    // A table may have room for fields of a newer schema, which the list does not have. An error only if such a field
    // is set: then it may change what the operator does.
    let room = options.map_or(0, Table::room);
    for extra in fields.len()..usize::from(room) {
        // `room` is 0 without options, so there are options here.
        let field = u16::try_from(extra).ok().zip(options);
        if field.map(|(number, options)| options.field(number)).transpose()?.flatten().is_some() {
            let what = format!("options of kind {union}.{number} have a field {extra} that is not known");
            return Err(unknown(at, what));
        }
    }
    let mut values = BTreeMap::new();
    // An absent field gets its default as its value, so that it equals a field that states the default.
    for (number, field) in (0u16..).zip(fields) {
        values.insert(field.name.to_owned(), value(field, number, options, at)?);
    }
    Ok(values)
}

/// The error about options that cannot be compared. `at` is the byte of the file that it points to.
fn unknown(at: u64, what: String) -> ReadError {
    ReadError::at_byte("tflite::unknown-options", at, what)
}

/// The value of a field as text; the default where it is absent.
fn value(field: &Field, number: u16, options: Option<&Table>, at: u64) -> Result<String, ReadError> {
    let Some(options) = options else { return default(field) };
    match field.kind {
        Kind::Number(kind) => match options.inline(number, kind.bytes)? {
            Some(bytes) => Ok(kind.text(&bytes)),
            None => default(field),
        },
        Kind::Vector(kind) => {
            let bytes = options.vector(number, kind.bytes)?.bytes()?;
            let size = usize::try_from(kind.bytes).unwrap_or(1);
            let numbers: Vec<String> = bytes.chunks(size.max(1)).map(|number| kind.text(number)).collect();
            Ok(format!("[{}]", numbers.join(", ")))
        }
        Kind::Text => Ok(format!("{:?}", options.vector(number, 1)?.bytes()?.escape_ascii().to_string())),
        Kind::Other if options.field(number)?.is_none() => default(field),
        Kind::Other => Err(unknown(at, format!("an operator has a {} that cannot be compared", field.name))),
    }
}

/// The text for a field that the file leaves out. It is the text that `value` makes of a field that states the default:
/// only then do the two compare as equal.
fn default(field: &Field) -> Result<String, ReadError> {
    Ok(match field.kind {
        Kind::Number(kind) if kind.is_float => {
            // `value` writes a float with its bits, so the decimal text of the default is parsed and written in the
            // same way. All floats of the list have 32 bits, which a test checks, and all defaults are whole numbers,
            // so parsing cannot fail.
            let number: f32 = field.default.parse().unwrap_or(0.0);
            kind.text(&number.to_le_bytes())
        }
        // `value` writes an integer in decimals, as the list states the default.
        Kind::Number(_) => field.default.to_owned(),
        // The schema has no defaults for lists and texts: an absent one equals an empty one.
        Kind::Vector(_) => "[]".to_owned(),
        Kind::Text => format!("{:?}", ""),
        // A field of this kind that is present is an error in `value`, so this text is never compared with another.
        Kind::Other => "absent".to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_of_the_list_is_understood() {
        assert_eq!(schema().len(), include_str!("options.txt").lines().count());
        let dilation = &schema()[&(1, 1)][4];
        assert_eq!((dilation.name, dilation.default), ("dilation_wfactor", "1"));
        assert!(!include_str!("options.txt").contains("f64"), "defaults of doubles are not handled");
    }

    #[test]
    fn numbers_as_text() {
        let text = |name: &str, bytes: &[u8]| Number::named(name).unwrap().text(bytes);
        assert_eq!(text("i8", &[0xff]), "-1");
        assert_eq!(text("u8", &[0xff]), "255");
        assert_eq!(text("i32", &[0xfe, 0xff, 0xff, 0xff]), "-2");
        assert_eq!(text("f32", &1.0f32.to_le_bytes()), "1 (0x3f800000)");
        assert_ne!(text("f32", &0.0f32.to_le_bytes()), text("f32", &(-0.0f32).to_le_bytes()));
    }
}
