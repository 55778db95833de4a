//! Writes messages of protocol buffers: the other direction of [`wire`](super::wire).
//!
//! A message is a row of fields. A field is a *tag* and a content. The tag is 8 × the field's number + its wire type:
//! 0 is a number, wire type 2 is a length and then so many bytes.
//!
//! ```text
//!   number(field 1, 150)     08 96 01
//!   text(field 1, "abc")     0a 03 61 62 63
//! ```

/// A message that grows field by field.
#[derive(Clone, Debug, Default)]
pub(super) struct Builder {
    bytes: Vec<u8>,
}

impl Builder {
    /// Adds a number. A negative one is written as the 64 bits of its two's complement, as the format asks.
    pub(super) fn number(&mut self, field: u64, number: i64) -> &mut Builder {
        self.varint(field << 3);
        self.varint(number as u64);
        self
    }

    /// Adds bytes: a text, another message, or a list of numbers.
    pub(super) fn bytes(&mut self, field: u64, bytes: &[u8]) -> &mut Builder {
        self.varint(field << 3 | 2);
        self.varint(bytes.len() as u64);
        self.bytes.extend(bytes);
        self
    }

    /// Adds a text.
    pub(super) fn text(&mut self, field: u64, text: &str) -> &mut Builder {
        self.bytes(field, text.as_bytes())
    }

    /// Adds a field as it stands in another message. `field` has its tag, too.
    pub(super) fn raw(&mut self, field: &[u8]) -> &mut Builder {
        self.bytes.extend(field);
        self
    }

    /// The tag and the length of a field whose content the caller appends after this message.
    pub(super) fn announce(&mut self, field: u64, length: u64) -> &mut Builder {
        self.varint(field << 3 | 2);
        self.varint(length);
        self
    }

    /// The bytes of the message; the builder is empty afterwards.
    pub(super) fn finish(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.bytes)
    }

    /// Adds a number as groups of seven bits, the lowest group first. The highest bit of each byte says that another
    /// group follows.
    fn varint(&mut self, mut number: u64) {
        while number >= 0x80 {
            self.bytes.push((number as u8 & 0x7f) | 0x80);
            number >>= 7;
        }
        self.bytes.push(number as u8);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_written_as_the_format_says() {
        let mut builder = Builder::default();
        assert_eq!(builder.number(1, 150).text(1, "abc").finish(), b"\x08\x96\x01\x0a\x03abc");
        assert_eq!(builder.number(2, -1).finish(), b"\x10\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01");
        assert_eq!(builder.announce(7, 300).finish(), b"\x3a\xac\x02");
    }
}
