//! Pickles as data: a strict reader that builds values and runs nothing.
//!
//! A pickle is a little program for a stack machine. Most of its instructions push numbers, texts, lists and
//! dictionaries; a few import and call Python functions, which is why loading a foreign pickle in Python runs foreign
//! code. This reader knows the first kind only. An instruction of the second kind is an error that names it.
//!
//! ```text
//! 80 02              protocol 2
//! 7d                 an empty dictionary            stack: {}
//! 8c 04 "size"       a text                         stack: {} "size"
//! 4b 40              the number 64                  stack: {} "size" 64
//! 73                 set an item                    stack: {"size": 64}
//! 2e                 stop: the value on top of the stack is the result
//! ```
//!
//! All values are kept in one list and refer to each other by their index. In the file, a value can be given a number
//! (it is put into the *memo*) and used again by that number; a value that is used a thousand times takes its memory
//! once. A value may therefore also contain itself, and a walk through it would never end. So each step of a walk is
//! paid from a [`Budget`] that is proportional to the size of the file.
//!
//! The crate serde-pickle (1.2) is no help here: it refuses a value that occurs twice inside of dictionaries as
//! "recursive structure", and every snapshot that PyTorch writes has such values.
//!
//! Protocols 2 to 5 are read, as Python's own `pickle` writes dictionaries, lists, tuples, texts, integers,
//! floating-point numbers, booleans and `None`; and bytes of protocols 3 to 5. (Protocol 2 has none: Python writes a
//! call of `_codecs.encode` instead.)

use std::cell::Cell;
use std::collections::HashMap;

use memplan_core::patience;

use crate::ReadError;

/// The index of a value.
pub(crate) type ValueId = usize;

/// A value of a pickle.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Value<'a> {
    /// `None`, a boolean, a floating-point number or bytes: nothing that a reader of ours asks for.
    Other,
    /// An integer of at most 128 bits.
    Integer(i128),
    /// A text.
    Text(&'a str),
    /// A list or a tuple.
    List(Vec<ValueId>),
    /// Keys and values in the order of the file; of equal keys the last one counts.
    Dictionary(Vec<(ValueId, ValueId)>),
}

/// A pickle that was read.
#[derive(Debug)]
pub(crate) struct Pickle<'a> {
    /// All values, by index.
    values: Vec<Value<'a>>,
    /// The value that the whole pickle stands for.
    root: ValueId,
    /// How many more values may be looked at.
    budget: Budget,
}

/// How many more times a reader may look at a value.
#[derive(Debug)]
struct Budget {
    /// A cell, because looking at a value does not change the pickle otherwise.
    left: Cell<usize>,
}

/// How many looks at values are allowed for each byte of a pickle. An event of a memory snapshot takes 50 bytes or
/// more and needs about 100 looks, its frames included.
const LOOKS_PER_BYTE: usize = 16;

impl<'a> Pickle<'a> {
    /// Reads a pickle from its first byte to its stop.
    pub(crate) fn read(bytes: &'a [u8]) -> Result<Pickle<'a>, ReadError> {
        let mut machine = Machine { bytes, at: 0, values: Vec::new(), stack: Vec::new(), memo: HashMap::new() };
        let root = machine.run()?;
        let looks = bytes.len().saturating_mul(LOOKS_PER_BYTE).saturating_add(1024);
        Ok(Pickle { values: machine.values, root, budget: Budget { left: Cell::new(looks) } })
    }

    /// The value that the pickle stands for.
    pub(crate) fn root(&self) -> ValueId {
        self.root
    }

    /// A value. Each look takes one from the budget; an error if it is spent, because the pickle then refers to its own
    /// values far more often than a snapshot does.
    fn look(&self, id: ValueId) -> Result<&Value<'a>, ReadError> {
        let Some(left) = self.budget.left.get().checked_sub(1) else {
            let message = "the pickle refers to the same values over and over; no snapshot does";
            return Err(ReadError::at_byte("pickle::amplified", 0, message));
        };
        self.budget.left.set(left);
        Ok(self.values.get(id).unwrap_or(&Value::Other))
    }

    /// The items of a list or a tuple; `None` if the value is something else.
    pub(crate) fn list(&self, id: ValueId) -> Result<Option<&[ValueId]>, ReadError> {
        Ok(match self.look(id)? {
            Value::List(items) => Some(items),
            _ => None,
        })
    }

    /// The value under a key of a dictionary; `None` if the value is no dictionary or has no such key.
    pub(crate) fn get(&self, id: ValueId, key: &str) -> Result<Option<ValueId>, ReadError> {
        let Value::Dictionary(items) = self.look(id)? else { return Ok(None) };
        for &(name, value) in items.iter().rev() {
            if matches!(self.look(name)?, Value::Text(text) if *text == key) {
                return Ok(Some(value));
            }
        }
        Ok(None)
    }

    /// The integer under a key, if there is one that is not negative and has 64 bits at most.
    pub(crate) fn number(&self, id: ValueId, key: &str) -> Result<Option<u64>, ReadError> {
        let Some(value) = self.get(id, key)? else { return Ok(None) };
        Ok(match self.look(value)? {
            Value::Integer(number) => u64::try_from(*number).ok(),
            _ => None,
        })
    }

    /// The text under a key of a dictionary; `None` if there is none.
    pub(crate) fn text(&self, id: ValueId, key: &str) -> Result<Option<&'a str>, ReadError> {
        let Some(value) = self.get(id, key)? else { return Ok(None) };
        Ok(match self.look(value)? {
            Value::Text(text) => Some(text),
            _ => None,
        })
    }
}

/// What lies on the machine's stack.
#[derive(Clone, Copy)]
enum Entry {
    /// A value.
    Value(ValueId),
    /// Where the items of a list or dictionary begin.
    Mark,
}

/// The stack machine that a pickle is a program for.
struct Machine<'a> {
    /// The whole pickle.
    bytes: &'a [u8],
    /// Where the next instruction, or the rest of the current one, stands.
    at: usize,
    /// All values that have been made.
    values: Vec<Value<'a>>,
    /// The stack; its top is the last entry.
    stack: Vec<Entry>,
    /// The values that can be used again, by number.
    memo: HashMap<u64, ValueId>,
}

impl<'a> Machine<'a> {
    /// Carries out the instructions up to the stop and returns the value on top of the stack.
    fn run(&mut self) -> Result<ValueId, ReadError> {
        if self.bytes.first() != Some(&0x80) {
            let error = self.error("pickle::protocol", "this is no pickle of protocol 2 or later");
            return Err(error.help("torch.cuda.memory._dump_snapshot(\"snapshot.pickle\") writes one"));
        }
        loop {
            if patience::is_over() {
                return Err(ReadError::stopped());
            }
            let start = self.at;
            let opcode = self.byte()?;
            if opcode == b'.' {
                return self.pop();
            }
            self.step(opcode, start)?;
        }
    }

    /// Carries out one instruction, which stands at byte `start`. The names are those of Python's `pickletools`.
    fn step(&mut self, opcode: u8, start: usize) -> Result<(), ReadError> {
        match opcode {
            0x80 => self.protocol()?,
            // FRAME: how many bytes follow, for readers that fetch them in one go.
            0x95 => drop(self.take(8)?),
            // MARK, POP, POP_MARK.
            b'(' => self.stack.push(Entry::Mark),
            b'0' => self.drop_one()?,
            b'1' => drop(self.pop_to_mark()?),
            // NONE, NEWTRUE, NEWFALSE; BINFLOAT.
            b'N' | 0x88 | 0x89 => self.push(Value::Other),
            b'G' => self.skip_and_push(8)?,
            // BININT, BININT1, BININT2, LONG1, LONG4; BINUNICODE, SHORT_BINUNICODE, BINUNICODE8.
            b'J' | b'K' | b'M' | 0x8a | 0x8b => self.integer(opcode)?,
            b'X' | 0x8c | 0x8d => self.text(opcode)?,
            // SHORT_BINBYTES, BINBYTES, BINBYTES8, BYTEARRAY8.
            b'C' | b'B' | 0x8e | 0x96 => {
                let length = self.length(opcode)?;
                self.skip_and_push(length)?;
            }
            // EMPTY_LIST, EMPTY_TUPLE, EMPTY_DICT; TUPLE1 to TUPLE3; TUPLE.
            b']' | b')' => self.push(Value::List(Vec::new())),
            b'}' => self.push(Value::Dictionary(Vec::new())),
            0x85..=0x87 => self.tuple(usize::from(opcode - 0x84))?,
            b't' => {
                let items = self.pop_to_mark()?;
                self.push(Value::List(items));
            }
            // APPEND, APPENDS, SETITEM, SETITEMS: they fill the list or dictionary below the items.
            b'a' => self.append_one()?,
            b'e' => {
                let items = self.pop_to_mark()?;
                self.extend(items)?;
            }
            b's' => {
                let (value, key) = (self.pop()?, self.pop()?);
                self.set(vec![key, value])?;
            }
            b'u' => {
                let items = self.pop_to_mark()?;
                self.set(items)?;
            }
            // BINPUT, LONG_BINPUT, MEMOIZE; BINGET, LONG_BINGET.
            b'q' | b'r' | 0x94 => self.remember(opcode)?,
            b'h' | b'j' => self.recall(opcode)?,
            _ => return Err(refusal(opcode, start)),
        }
        Ok(())
    }

    /// An error at the place where the machine is now.
    fn error(&self, code: &'static str, message: impl Into<String>) -> ReadError {
        ReadError::at_byte(code, self.at as u64, message)
    }

    /// The next bytes of the file; an error if there are fewer.
    fn take(&mut self, length: usize) -> Result<&'a [u8], ReadError> {
        let end = self.at.checked_add(length).filter(|&end| end <= self.bytes.len());
        let Some(end) = end else {
            return Err(ReadError::at_byte("pickle::truncated", self.bytes.len() as u64, "the pickle ends too early"));
        };
        let taken = &self.bytes[self.at..end];
        self.at = end;
        Ok(taken)
    }

    /// The next byte of the file.
    fn byte(&mut self) -> Result<u8, ReadError> {
        Ok(self.take(1)?[0])
    }

    /// An unsigned number, its lowest byte first.
    fn unsigned(&mut self, bytes: usize) -> Result<u64, ReadError> {
        let parts = self.take(bytes)?.iter().rev();
        Ok(parts.fold(0, |number, &byte| number << 8 | u64::from(byte)))
    }

    /// The length that stands in front of a text or of bytes: one, four or eight bytes.
    fn length(&mut self, opcode: u8) -> Result<usize, ReadError> {
        let width = match opcode {
            0x8c | b'C' => 1,
            b'X' | b'B' => 4,
            _ => 8,
        };
        Ok(usize::try_from(self.unsigned(width)?).unwrap_or(usize::MAX))
    }

    /// Reads the version of the format.
    fn protocol(&mut self) -> Result<(), ReadError> {
        let protocol = self.byte()?;
        if !(2..=5).contains(&protocol) {
            let message = format!("the pickle has protocol {protocol}; 2 to 5 are read");
            return Err(self.error("pickle::protocol", message));
        }
        Ok(())
    }

    /// Makes a value and puts it on the stack.
    fn push(&mut self, value: Value<'a>) {
        self.stack.push(Entry::Value(self.values.len()));
        self.values.push(value);
    }

    /// Passes over bytes that no reader of ours asks for, and puts a value without content on the stack for them.
    fn skip_and_push(&mut self, length: usize) -> Result<(), ReadError> {
        self.take(length)?;
        self.push(Value::Other);
        Ok(())
    }

    /// Takes the value on top of the stack.
    fn pop(&mut self) -> Result<ValueId, ReadError> {
        match self.stack.pop() {
            Some(Entry::Value(id)) => Ok(id),
            Some(Entry::Mark) | None => {
                Err(self.error("pickle::stack", "the pickle takes a value that it has not made"))
            }
        }
    }

    /// Drops what is on top of the stack, a value or a mark.
    fn drop_one(&mut self) -> Result<(), ReadError> {
        let top = self.stack.pop().map(drop);
        top.ok_or_else(|| self.error("pickle::stack", "the pickle drops a value that it has not made"))
    }

    /// Takes the values above the last mark from the stack, and the mark.
    fn pop_to_mark(&mut self) -> Result<Vec<ValueId>, ReadError> {
        let Some(mark) = self.stack.iter().rposition(|entry| matches!(entry, Entry::Mark)) else {
            return Err(self.error("pickle::stack", "the pickle ends a list that it has not begun"));
        };
        let items = self.stack.drain(mark..).filter_map(|entry| match entry {
            Entry::Value(id) => Some(id),
            Entry::Mark => None,
        });
        Ok(items.collect())
    }

    /// Reads an integer and puts it on the stack. It is one or two unsigned bytes, four signed bytes, or a length and
    /// so many signed bytes; the lowest byte comes first.
    fn integer(&mut self, opcode: u8) -> Result<(), ReadError> {
        let number = match opcode {
            b'K' => i128::from(self.unsigned(1)?),
            b'M' => i128::from(self.unsigned(2)?),
            b'J' => {
                let bytes = self.take(4)?;
                i128::from(i32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]))
            }
            _ => {
                let width = if opcode == 0x8a { 1 } else { 4 };
                let length = usize::try_from(self.unsigned(width)?).unwrap_or(usize::MAX);
                let bytes = self.take(length)?;
                // A number of more than 128 bits is no address and no size, so it is kept as a value without content.
                let Some(number) = two_complement(bytes) else { return self.skip_and_push(0) };
                number
            }
        };
        self.push(Value::Integer(number));
        Ok(())
    }

    /// Reads a text, whose length stands in front of it, and puts it on the stack.
    fn text(&mut self, opcode: u8) -> Result<(), ReadError> {
        let length = self.length(opcode)?;
        let start = self.at;
        let bytes = self.take(length)?;
        // Python can write texts that are not valid UTF-8 (with lone surrogates). No snapshot needs one, so they are an
        // error.
        let text = std::str::from_utf8(bytes)
            .map_err(|_| ReadError::at_byte("pickle::text", start as u64, "a text of the pickle is not valid UTF-8"))?;
        self.push(Value::Text(text));
        Ok(())
    }

    /// Makes a tuple of the topmost values. The last item is on top.
    fn tuple(&mut self, length: usize) -> Result<(), ReadError> {
        let mut items = Vec::with_capacity(length);
        for _ in 0..length {
            items.push(self.pop()?);
        }
        items.reverse();
        self.push(Value::List(items));
        Ok(())
    }

    /// Puts the value on top of the stack into the list below it.
    fn append_one(&mut self) -> Result<(), ReadError> {
        let item = self.pop()?;
        self.extend(vec![item])
    }

    /// Puts items into the list on top of the stack.
    fn extend(&mut self, items: Vec<ValueId>) -> Result<(), ReadError> {
        match self.top()? {
            Value::List(list) => list.extend(items),
            _ => return Err(self.error("pickle::stack", "the pickle appends to something that is no list")),
        }
        Ok(())
    }

    /// Puts keys and values, in turn, into the dictionary on top of the stack.
    fn set(&mut self, items: Vec<ValueId>) -> Result<(), ReadError> {
        if !items.len().is_multiple_of(2) {
            return Err(self.error("pickle::stack", "a key of the pickle has no value"));
        }
        match self.top()? {
            Value::Dictionary(entries) => entries.extend(items.chunks_exact(2).map(|pair| (pair[0], pair[1]))),
            _ => return Err(self.error("pickle::stack", "the pickle sets an item of something that is no dictionary")),
        }
        Ok(())
    }

    /// The value on top of the stack, which stays there.
    fn top(&mut self) -> Result<&mut Value<'a>, ReadError> {
        let error = self.error("pickle::stack", "the pickle fills a list that it has not made");
        match self.stack.last() {
            Some(&Entry::Value(id)) => self.values.get_mut(id).ok_or(error),
            _ => Err(error),
        }
    }

    /// Gives the value on top of the stack a number in the memo, by which it can be used again. The number stands in
    /// the file, or is the next free one (MEMOIZE).
    fn remember(&mut self, opcode: u8) -> Result<(), ReadError> {
        let number = match opcode {
            b'q' => self.unsigned(1)?,
            b'r' => self.unsigned(4)?,
            _ => self.memo.len() as u64,
        };
        let Some(&Entry::Value(id)) = self.stack.last() else {
            return Err(self.error("pickle::stack", "the pickle remembers a value that it has not made"));
        };
        self.memo.insert(number, id);
        Ok(())
    }

    /// Puts a value on the stack once more, by its number in the memo.
    fn recall(&mut self, opcode: u8) -> Result<(), ReadError> {
        let number = self.unsigned(if opcode == b'h' { 1 } else { 4 })?;
        let Some(&id) = self.memo.get(&number) else {
            return Err(self.error("pickle::memo", format!("the pickle uses value {number}, which it has not made")));
        };
        self.stack.push(Entry::Value(id));
        Ok(())
    }
}

/// A signed number (two's complement), its lowest byte first; `None` if it has more than 128 bits.
fn two_complement(bytes: &[u8]) -> Option<i128> {
    let sign = if bytes.last().is_some_and(|&last| last >= 0x80) { 0xff } else { 0 };
    let mut whole = [sign; 16];
    whole.get_mut(..bytes.len())?.copy_from_slice(bytes);
    Some(i128::from_le_bytes(whole))
}

/// The error for an instruction that this reader does not carry out.
fn refusal(opcode: u8, at: usize) -> ReadError {
    let name = match opcode {
        b'c' => "GLOBAL",
        b'R' => "REDUCE",
        b'b' => "BUILD",
        b'i' => "INST",
        b'o' => "OBJ",
        0x81 => "NEWOBJ",
        0x92 => "NEWOBJ_EX",
        0x93 => "STACK_GLOBAL",
        0x82..=0x84 => "EXT",
        b'P' | b'Q' => "PERSID",
        _ => {
            let message = format!("instruction {opcode:#04x} is none that a memory snapshot contains");
            return ReadError::at_byte("pickle::instruction", at as u64, message);
        }
    };
    let message = format!("the pickle calls Python code ({name}); memplan runs none, and a memory snapshot has none");
    ReadError::at_byte("pickle::code", at as u64, message).help("do not load this file in Python")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn code(bytes: &[u8]) -> &'static str {
        Pickle::read(bytes).unwrap_err().code
    }

    #[test]
    fn dictionaries_lists_and_numbers_are_read() {
        // pickle.dumps({"n": [1, -2, 300, 1 << 40]}, 2)
        let bytes = b"\x80\x02}q\x00X\x01\x00\x00\x00nq\x01]q\x02(K\x01J\xfe\xff\xff\xffM\x2c\x01\x8a\x06\x00\x00\x00\x00\x00\x01es.";
        let pickle = Pickle::read(bytes).unwrap();
        let list = pickle.get(pickle.root(), "n").unwrap().unwrap();
        let items = pickle.list(list).unwrap().unwrap();
        let numbers: Vec<&Value> = items.iter().map(|&id| pickle.look(id).unwrap()).collect();
        assert_eq!(numbers, [1, -2, 300, 1 << 40].map(Value::Integer).iter().collect::<Vec<_>>());
    }

    #[test]
    fn code_is_refused_by_name_and_position() {
        // What `pickle.dumps` makes of an object whose __reduce__ is (os.system, ("true",)).
        let error = Pickle::read(b"\x80\x02cposix\nsystem\nX\x04\x00\x00\x00true\x85R.").unwrap_err();
        assert_eq!((error.code, error.span.start), ("pickle::code", 2));
        assert!(error.message.contains("GLOBAL"), "{error}");
        for opcode in [b'R', b'b', b'i', b'o', 0x81, 0x82, 0x92, 0x93, b'P', b'Q'] {
            assert_eq!(code(&[0x80, 4, opcode]), "pickle::code");
        }
    }

    #[test]
    fn broken_pickles_are_errors() {
        assert_eq!(code(b""), "pickle::protocol");
        assert_eq!(code(b"(dp0\n."), "pickle::protocol");
        assert_eq!(code(b"\x80\x06."), "pickle::protocol");
        assert_eq!(code(b"\x80\x02"), "pickle::truncated");
        assert_eq!(code(b"\x80\x02."), "pickle::stack");
        assert_eq!(code(b"\x80\x02(."), "pickle::stack");
        assert_eq!(code(b"\x80\x02e"), "pickle::stack");
        assert_eq!(code(b"\x80\x020N."), "pickle::stack");
        assert_eq!(code(b"\x80\x02K\x01K\x02a."), "pickle::stack");
        assert_eq!(code(b"\x80\x02}(K\x01u."), "pickle::stack");
        assert_eq!(code(b"\x80\x02h\x07."), "pickle::memo");
        assert_eq!(code(b"\x80\x02\x8d\xff\xff\xff\xff\xff\xff\xff\xff."), "pickle::truncated");
        assert_eq!(code(b"\x80\x02\x8b\xff\xff\xff\xff."), "pickle::truncated");
        assert_eq!(code(b"\x80\x02\x8c\x01\xff."), "pickle::text");
        assert_eq!(code(b"\x80\x02\x8f."), "pickle::instruction");
    }

    #[test]
    fn a_pickle_that_contains_itself_ends() {
        // A list that is its own item: l = []; l.append(l)
        let pickle = Pickle::read(b"\x80\x02]q\x00h\x00a.").unwrap();
        let mut id = pickle.root();
        let failure = loop {
            match pickle.list(id) {
                Ok(items) => id = items.unwrap()[0],
                Err(error) => break error,
            }
        };
        assert_eq!(failure.code, "pickle::amplified");
    }
}
