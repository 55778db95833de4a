//! The wire format of protocol buffers, read without trusting it.
//!
//! A message is a sequence of fields, each a tag (number and kind) and a value:
//!
//! ```text
//!   kind 0   a number in 7-bit groups, low ones first     08 96 01        field 1 = 150
//!   kind 1   8 bytes
//!   kind 2   a length and that many bytes                 0a 03 61 62 63  field 1 = "abc"
//!   kind 5   4 bytes
//! ```
//!
//! Nested messages, strings and packed lists of numbers are all of kind 2: the
//! bytes do not say which, so the reader of a field has to know. A value that
//! nobody asks for is skipped by its length, so weights are never read.

use crate::ReadError;
use crate::source::Window;

/// A message: the bytes of the file from `start` up to, but not including, `end`. The window is the file; it fetches
/// the bytes that are asked for, and limits how many may be asked for in all.
#[derive(Clone, Copy)]
pub(super) struct Message<'w, 'a> {
    pub(super) window: &'w Window<'a>,
    pub(super) start: u64,
    pub(super) end: u64,
}

/// A field of a message.
#[derive(Clone, Copy)]
pub(super) struct Field<'w, 'a> {
    /// Its number.
    pub(super) number: u64,
    /// Where its tag starts.
    pub(super) start: u64,
    /// Its value.
    pub(super) value: Value<'w, 'a>,
}

/// The value of a field, by its kind.
#[derive(Clone, Copy)]
pub(super) enum Value<'w, 'a> {
    /// Kind 0: a number of variable length.
    Number(u64),
    /// Kind 1: eight bytes.
    Eight(u64),
    /// Kind 5: four bytes.
    Four(u32),
    /// Kind 2: a length and that many bytes, as a range of the file.
    Bytes(Message<'w, 'a>),
}

impl<'w, 'a> Message<'w, 'a> {
    /// The whole file.
    pub(super) fn whole(window: &'w Window<'a>) -> Message<'w, 'a> {
        Message { window, start: 0, end: window.size() }
    }

    /// The fields of the message in the order of the file. After an error there are no more fields.
    pub(super) fn fields(self) -> impl Iterator<Item = Result<Field<'w, 'a>, ReadError>> {
        let mut at = self.start;
        let mut has_failed = false;
        std::iter::from_fn(move || {
            if at >= self.end || has_failed {
                return None;
            }
            let field = self.field(&mut at);
            has_failed = field.is_err();
            Some(field)
        })
    }

    /// Reads the field that starts at `at`, and moves `at` to the end of the field.
    fn field(self, at: &mut u64) -> Result<Field<'w, 'a>, ReadError> {
        let start = *at;
        let tag = self.number(at)?;
        let number = tag >> 3;
        // The low three bits of a tag say how the value is stored, the others which field it is.
        let value = match tag & 7 {
            0 => Value::Number(self.number(at)?),
            1 => Value::Eight(self.window.u64(self.take(at, 8)?)?),
            5 => Value::Four(self.window.u32(self.take(at, 4)?)?),
            2 => {
                let length = self.number(at)?;
                let start = self.take(at, length)?;
                Value::Bytes(Message { window: self.window, start, end: start + length })
            }
            kind => {
                let message = format!("field {number} is of kind {kind}, which is not used by ONNX");
                return Err(ReadError::at_byte("onnx::malformed", start, message)
                    .help("the file is damaged, or it is no ONNX model"));
            }
        };
        if number == 0 {
            return Err(ReadError::at_byte("onnx::malformed", start, "a field has the number 0")
                .help("the file is damaged, or it is no ONNX model"));
        }
        // Every field has at least two bytes. They are counted against the budget of the file, so that a damaged file
        // whose messages contain each other cannot be read for ever.
        self.window.spend(start, 2)?;
        Ok(Field { number, start, value })
    }

    /// Moves `at` past `length` bytes and returns where these bytes start. An error if the message ends before.
    fn take(self, at: &mut u64, length: u64) -> Result<u64, ReadError> {
        let start = *at;
        match start.checked_add(length) {
            Some(end) if end <= self.end => {
                *at = end;
                Ok(start)
            }
            _ => {
                let message = format!("{length} bytes are announced where {} are left", self.end - start);
                Err(ReadError::at_byte("model::truncated", start, message)
                    .help("the file is cut off or damaged; compare its size with the original"))
            }
        }
    }

    /// Reads a variable-length number: seven bits in each byte, the lowest first; the eighth bit says that more follow.
    fn number(self, at: &mut u64) -> Result<u64, ReadError> {
        let start = *at;
        let mut number = 0u64;
        // Ten bytes hold 70 bits. Of the tenth byte only one bit fits into the number, and the others are dropped.
        for group in 0..10 {
            let byte = self.window.u8(self.take(at, 1)?)?;
            number |= u64::from(byte & 0x7f).checked_shl(7 * group).unwrap_or(0);
            if byte & 0x80 == 0 {
                return Ok(number);
            }
        }
        Err(ReadError::at_byte("onnx::malformed", start, "a number has more than ten bytes"))
    }

    /// The content as text. Bytes that are not UTF-8 become replacement characters.
    pub(super) fn text(self) -> Result<String, ReadError> {
        let bytes = self.window.bytes(self.start, self.end - self.start)?;
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }

    /// How many bytes the message has.
    pub(super) fn len(self) -> u64 {
        self.end - self.start
    }
}

impl<'w, 'a> Value<'w, 'a> {
    /// The value as a nested message of `outer`. A value that is no message counts as an empty one, as in protobuf a
    /// field of the wrong kind is ignored.
    pub(super) fn message(self, outer: Message<'w, 'a>) -> Message<'w, 'a> {
        match self {
            Value::Bytes(message) => message,
            _ => Message { start: outer.start, end: outer.start, ..outer },
        }
    }

    /// The value as a text; empty if it is something else.
    pub(super) fn text(self) -> Result<String, ReadError> {
        match self {
            Value::Bytes(message) => message.text(),
            _ => Ok(String::new()),
        }
    }

    /// The value as a signed number; 0 if it is something else.
    pub(super) fn signed(self) -> i64 {
        match self {
            Value::Number(number) | Value::Eight(number) => number as i64,
            Value::Four(number) => i64::from(number as i32),
            Value::Bytes(_) => 0,
        }
    }

    /// Adds the numbers of a repeated field to a list. A file has a field for each number, or one field of kind 2 with
    /// all numbers in a row (packed).
    pub(super) fn push_signed(self, numbers: &mut Vec<i64>) -> Result<(), ReadError> {
        let Value::Bytes(packed) = self else {
            numbers.push(self.signed());
            return Ok(());
        };
        packed.window.spend(packed.start, packed.len())?;
        let mut at = packed.start;
        while at < packed.end {
            numbers.push(packed.number(&mut at)? as i64);
        }
        Ok(())
    }

    /// Adds the floats of a repeated field to a list, packed or not. A value of another kind adds nothing, as in
    /// protobuf a field of the wrong kind is ignored.
    pub(super) fn push_floats(self, numbers: &mut Vec<f32>) -> Result<(), ReadError> {
        match self {
            Value::Four(bits) => numbers.push(f32::from_bits(bits)),
            Value::Bytes(packed) => {
                let bytes = packed.window.bytes(packed.start, packed.len())?;
                let floats = bytes.chunks_exact(4).map(|four| f32::from_le_bytes([four[0], four[1], four[2], four[3]]));
                numbers.extend(floats);
            }
            _ => {}
        }
        Ok(())
    }
}
