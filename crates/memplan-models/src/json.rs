//! JSON values that know where they stand in the text.
//!
//! `serde_json` can leave a value unparsed, as a slice of the text that it borrows (`RawValue`). The address of the
//! slice minus the address of the text is the value's place in the text. So a file is parsed level by level: an
//! object gives its fields as slices, and a field is parsed when its reader asks for it. An error about a field
//! points at that field.

use std::borrow::Cow;
use std::fmt;

use memplan_core::{Span, patience};
use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

use crate::ReadError;

/// One JSON value, as text. The methods that parse it take `what`: what the error says was expected here.
#[derive(Clone, Copy)]
pub(crate) struct Json<'a> {
    /// The whole file.
    source: &'a str,
    /// The text of the value, a slice of `source`.
    text: &'a str,
}

impl<'a> Json<'a> {
    /// The whole text as one value; fails if it is not JSON.
    pub(crate) fn parse(source: &'a str) -> Result<Json<'a>, ReadError> {
        let raw: &RawValue = serde_json::from_str(source).map_err(|error| syntax_error(source, source, &error))?;
        Ok(Json { source, text: raw.get() })
    }

    /// A part of the text, such as one of its lines, as a value of its own. `part` must be a slice of `source`.
    pub(crate) fn parse_part(source: &'a str, part: &'a str) -> Result<Json<'a>, ReadError> {
        let raw: &RawValue = serde_json::from_str(part).map_err(|error| {
            // This error has its place counted from the start of the part. The one that is returned counts it from the
            // start of the whole text.
            let inside = syntax_error(part, part, &error);
            let start = part.as_ptr() as usize - source.as_ptr() as usize + inside.span.start as usize;
            ReadError::new(inside.code, source, Span::new(start, (start + 1).min(source.len())), inside.message)
        })?;
        Ok(Json { source, text: raw.get() })
    }

    /// Where it stands in the file.
    pub(crate) fn span(self) -> Span {
        let start = self.text.as_ptr() as usize - self.source.as_ptr() as usize;
        Span::new(start, start + self.text.len())
    }

    /// An error about this value.
    pub(crate) fn error(self, code: &'static str, message: impl Into<String>) -> ReadError {
        let mut span = self.span();
        // The message shows the text of the span, so a long span is cut to its beginning.
        span.end = span.end.min(span.start + 200);
        ReadError::new(code, self.source, span, message)
    }

    /// The error that this value is something else than `what`; it quotes the first 40 characters of the value.
    pub(crate) fn expected(self, what: &str) -> ReadError {
        let mut found: String = self.text.chars().take(40).collect();
        if found.len() < self.text.len() {
            found.push('…');
        }
        self.error("json::unexpected", format!("expected {what}, found {found}"))
    }

    /// Whether it is `null`.
    pub(crate) fn is_null(self) -> bool {
        self.text == "null"
    }

    /// Whether it is a string. A value begins at its first character, so that one tells what it is.
    pub(crate) fn is_string(self) -> bool {
        self.text.starts_with('"')
    }

    /// Whether it is a list.
    pub(crate) fn is_list(self) -> bool {
        self.text.starts_with('[')
    }

    /// Whether it is an object.
    pub(crate) fn is_object(self) -> bool {
        self.text.starts_with('{')
    }

    /// A number of 0 or more, below 2^63.
    pub(crate) fn number(self, what: &str) -> Result<u64, ReadError> {
        match serde_json::from_str::<u64>(self.text) {
            Ok(value) if value <= memplan_core::MAX_BYTES => Ok(value),
            Ok(_) => Err(self.error("json::too-large", format!("{} is not below 2^63", self.text))),
            // More than 18 digits that are no `u64`: a number that is too large.
            Err(_) if self.text.len() > 18 && self.text.bytes().all(|byte| byte.is_ascii_digit()) => {
                Err(self.error("json::too-large", format!("{} is not below 2^63", self.text)))
            }
            Err(_) => Err(self.expected(what)),
        }
    }

    /// `true` or `false`.
    pub(crate) fn boolean(self) -> Result<bool, ReadError> {
        serde_json::from_str(self.text).map_err(|_| self.expected("true or false"))
    }

    /// A string, without its quotes and escapes.
    pub(crate) fn string(self, what: &str) -> Result<Cow<'a, str>, ReadError> {
        serde_json::from_str::<Text>(self.text).map(|text| text.0).map_err(|_| self.expected(what))
    }

    /// A name: a string, or a whole number taken as its digits.
    pub(crate) fn name(self, what: &str) -> Result<Cow<'a, str>, ReadError> {
        let is_integer = !self.text.is_empty() && self.text.bytes().all(|byte| byte.is_ascii_digit());
        if is_integer { Ok(Cow::Borrowed(self.text)) } else { self.string(what) }
    }

    /// The items of a list. A large file has many small lists and objects, so this is called often, and it asks each
    /// time whether the caller still waits.
    pub(crate) fn list(self, what: &str) -> Result<Vec<Json<'a>>, ReadError> {
        if patience::is_over() {
            return Err(ReadError::stopped());
        }
        let items: Vec<&'a RawValue> = serde_json::from_str(self.text).map_err(|_| self.expected(what))?;
        Ok(items.into_iter().map(|item| Json { source: self.source, text: item.get() }).collect())
    }

    /// The entries of an object with their keys, in the order of the file. A key may occur twice.
    pub(crate) fn entries(self, what: &str) -> Result<Vec<(Cow<'a, str>, Json<'a>)>, ReadError> {
        if patience::is_over() {
            return Err(ReadError::stopped());
        }
        let Entries(entries) = serde_json::from_str(self.text).map_err(|_| self.expected(what))?;
        let place = |(key, raw): (Cow<'a, str>, &'a RawValue)| (key, Json { source: self.source, text: raw.get() });
        Ok(entries.into_iter().map(place).collect())
    }
}

/// What `serde_json` found wrong with `text`, which begins where `source` begins. Its error has a line and a column,
/// both counted from 1; ours has a place in bytes.
pub(crate) fn syntax_error(source: &str, text: &str, error: &serde_json::Error) -> ReadError {
    let line_start = text.split_inclusive('\n').take(error.line().saturating_sub(1)).map(str::len).sum::<usize>();
    let position = (line_start + error.column().saturating_sub(1)).min(source.len());
    // The message ends in "at line 3 column 5", which our error says itself.
    let message = error.to_string();
    let message = message.split(" at line ").next().unwrap_or(&message).to_owned();
    ReadError::new("json::syntax", source, Span::new(position, (position + 1).min(source.len())), message)
}

/// A string, borrowed where it has no escapes.
#[derive(serde::Deserialize)]
struct Text<'a>(#[serde(borrow)] Cow<'a, str>);

/// An object as a list of entries. A map would not keep the order and would lose one of two entries with the same key.
struct Entries<'a>(Vec<(Cow<'a, str>, &'a RawValue)>);

impl<'de> Deserialize<'de> for Entries<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct EntriesVisitor;

        impl<'de> Visitor<'de> for EntriesVisitor {
            type Value = Entries<'de>;

            fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Entries<'de>, A::Error> {
                let mut entries = Vec::new();
                while let Some((Text(key), value)) = map.next_entry::<Text<'de>, &'de RawValue>()? {
                    entries.push((key, value));
                }
                Ok(Entries(entries))
            }
        }

        deserializer.deserialize_map(EntriesVisitor)
    }
}
