//! Names of values and ops, small enough for a million of them.

use std::fmt;
use std::ops::Deref;
use std::sync::{Arc, LazyLock};

/// A short text that does not change. Up to [`Name::SHORT`] bytes stand in the name itself, so that most names of a
/// program take no memory of their own; a longer one lies on the heap.
#[derive(Clone)]
pub struct Name(Text);

/// Where the bytes of a name are.
#[derive(Clone)]
enum Text {
    /// In the name itself: the first `length` of `bytes`.
    Short {
        /// How many bytes the name has.
        length: u8,
        /// The bytes of the name, in UTF-8, and zeros behind them.
        bytes: [u8; Name::SHORT],
    },
    // On the heap. The inner box knows its length, which would not fit beside the bytes of a short
    // name.
    Long(Box<Box<str>>),
}

impl Name {
    /// The most bytes of a name that stand in the name itself. With its length and its kind it has 16.
    pub const SHORT: usize = 14;
}

impl From<&str> for Name {
    fn from(text: &str) -> Name {
        let mut bytes = [0; Name::SHORT];
        // There is no such part of the array if the text is longer than a short name may be.
        match bytes.get_mut(..text.len()) {
            Some(place) => {
                place.copy_from_slice(text.as_bytes());
                Name(Text::Short { length: text.len() as u8, bytes })
            }
            None => Name(Text::Long(Box::new(text.into()))),
        }
    }
}

impl Deref for Name {
    type Target = str;

    fn deref(&self) -> &str {
        match &self.0 {
            // The bytes are those of a text, so the default is never used.
            Text::Short { length, bytes } => std::str::from_utf8(&bytes[..usize::from(*length)]).unwrap_or_default(),
            Text::Long(text) => text,
        }
    }
}

impl PartialEq for Name {
    fn eq(&self, other: &Name) -> bool {
        **self == **other
    }
}

impl Eq for Name {}

impl fmt::Debug for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&**self, f)
    }
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&**self, f)
    }
}

/// The name of an op. A program has few distinct names and many ops, so ops of one name share its text. A pointer to
/// a text by itself would have 16 bytes, because the length of the text is a part of it; this one has 8.
#[derive(Clone)]
pub struct OpName(Arc<Box<str>>);

impl Default for OpName {
    /// The empty name, which is made once.
    fn default() -> OpName {
        static EMPTY: LazyLock<OpName> = LazyLock::new(|| OpName::from(""));
        EMPTY.clone()
    }
}

impl From<&str> for OpName {
    fn from(text: &str) -> OpName {
        OpName(Arc::new(text.into()))
    }
}

impl From<String> for OpName {
    fn from(text: String) -> OpName {
        OpName(Arc::new(text.into()))
    }
}

impl Deref for OpName {
    type Target = str;

    #[inline]
    fn deref(&self) -> &str {
        &self.0
    }
}

impl PartialEq for OpName {
    fn eq(&self, other: &OpName) -> bool {
        Arc::ptr_eq(&self.0, &other.0) || **self == **other
    }
}

impl Eq for OpName {}

impl fmt::Debug for OpName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&**self, f)
    }
}

impl fmt::Display for OpName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&**self, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_and_long_names_are_what_they_were_made_of() {
        assert_eq!(size_of::<Name>(), 16);
        for length in 0..40 {
            let text = "é234567890".repeat(4).chars().take(length).collect::<String>();
            let name = Name::from(text.as_str());
            assert_eq!(*name, *text);
            assert_eq!((name.to_string(), name.clone()), (text, name));
        }
    }
}
