//! Types, constants and attributes, read from their messages.
//!
//! A `Message` is a range of the file that consists of numbered fields; a field has a `Value`. The number after
//! each word is that of the field:
//!
//! ```text
//! TypeProto       tensor_type 1 { elem_type 1, shape 2 }; everything else is a sequence or a map
//! TensorProto     dims 1, data_type 2, int32_data 5, int64_data 7, name 8, raw_data 9
//! AttributeProto  name 1, i 3, s 4, t 5, g 6, floats 7, ints 8, graphs 11
//! ```

use super::context::{BOOL, INT32, INT64};
use super::draft::{Attribute, Facts, NUMBERS, RANK};
use super::shape::elements;
use super::wire::{Message, Value};
use crate::ReadError;

/// A dimension as it stands in the file.
pub(super) enum Dimension {
    /// A number.
    Known(i64),
    /// A name for a number that is known only at run time; empty if the file has neither.
    Named(String),
}

/// Reads the type of a value. For a tensor, sets `facts.element` and returns the dimensions; `None` if the type does
/// not state a shape. For anything else, a sequence or a map, sets `facts.is_odd` and returns `None`.
pub(super) fn type_of(message: Message, facts: &mut Facts) -> Result<Option<Vec<Dimension>>, ReadError> {
    let mut dimensions = None;
    for field in message.fields() {
        let field = field?;
        // Field 1 is the type of a tensor. A type with any other field is taken for that of a sequence or a map.
        if field.number != 1 {
            facts.is_odd = true;
            continue;
        }
        let tensor = field.value.message(message);
        for entry in tensor.fields() {
            let entry = entry?;
            match entry.number {
                // A negative number, in a damaged file, becomes 0: the type is not known.
                1 => facts.element = usize::try_from(entry.value.signed()).unwrap_or(0),
                2 => dimensions = Some(dimensions_of(entry.value.message(tensor))?),
                // The type of a tensor has no other fields so far.
                _ => {}
            }
        }
    }
    Ok(dimensions)
}

/// Reads the dimensions of a shape: numbers, or names of sizes that are only known at run time.
fn dimensions_of(shape: Message) -> Result<Vec<Dimension>, ReadError> {
    let mut dimensions = Vec::new();
    for field in shape.fields() {
        let field = field?;
        // A shape has a field 1 for each dimension and no other fields; newer versions may add some.
        if field.number != 1 {
            continue;
        }
        // Field 1 of a dimension is its number and field 2 its name. A dimension without both keeps the empty name.
        let mut dimension = Dimension::Named(String::new());
        let message = field.value.message(shape);
        for entry in message.fields() {
            let entry = entry?;
            match entry.number {
                1 => dimension = Dimension::Known(entry.value.signed()),
                2 => dimension = Dimension::Named(entry.value.text()?),
                // A word for what the dimension means, such as the batch.
                _ => {}
            }
        }
        dimensions.push(dimension);
    }
    Ok(dimensions)
}

/// Reads a constant: its shape and, if it is a short list of integers or truth values, its content.
pub(super) fn tensor(message: Message) -> Result<Facts, ReadError> {
    let mut facts = Facts { is_constant: true, ..Facts::default() };
    let mut dimensions = Vec::new();
    let mut numbers = Vec::new();
    let mut raw = None;
    for field in message.fields() {
        let field = field?;
        match field.number {
            1 => field.value.push_signed(&mut dimensions)?,
            // A negative number, in a damaged file, becomes 0: the type is not known.
            2 => facts.element = usize::try_from(field.value.signed()).unwrap_or(0),
            // Writers pack these. A list with a field for each number is read however long it is, and left out below.
            5 | 7 if is_short(field.value) => field.value.push_signed(&mut numbers)?,
            8 => facts.name = field.value.text()?,
            9 => raw = Some(field.value.message(message)),
            // Floats and long lists are weights. Planning needs their shape only.
            _ => {}
        }
    }
    let shape = dimensions.iter().map(|&dimension| u64::try_from(dimension).ok()).collect::<Option<Vec<u64>>>();
    let Some(shape) = shape else {
        let message_text = format!("initialiser `{}` has a negative dimension", facts.name);
        return Err(ReadError::at_byte("onnx::negative-dimension", message.start, message_text));
    };
    // Shapes are computed from short lists of integers. Anything longer is weights and is not read. An integer has at
    // most 8 bytes.
    if let Some(raw) = raw.filter(|raw| raw.len() <= 8 * NUMBERS as u64) {
        numbers = raw_numbers(raw, facts.element)?;
    }
    // The content is known if as many numbers were read as the shape has elements. Shapes are made of integers of 32
    // and of 64 bits, and truth values say which. A list that was not read counts as unknown, and not as an empty one:
    // the rules then find no shape, or a bound, as for what is computed at run time.
    let count = elements(&shape);
    let is_whole = count == Some(numbers.len() as u64) && numbers.len() <= NUMBERS;
    facts.numbers = (is_whole && matches!(facts.element, INT32 | INT64 | BOOL)).then_some(numbers);
    facts.shape = (shape.len() <= RANK).then_some(shape);
    Ok(facts)
}

/// Whether a part of a constant is read: a single number, or bytes that may be a packed list of at most `NUMBERS`
/// numbers. A packed number takes at most ten bytes, so a list of more than `10 * NUMBERS` bytes has more numbers than
/// that.
fn is_short(value: Value) -> bool {
    !matches!(value, Value::Bytes(packed) if packed.len() > 10 * NUMBERS as u64)
}

/// The content of a constant whose bytes stand in the file as they are in memory. The list is empty unless the elements
/// are integers of 32 or 64 bits or truth values, which have a byte each.
fn raw_numbers(raw: Message, element: usize) -> Result<Vec<i64>, ReadError> {
    let width = match element {
        BOOL => 1,
        INT32 => 4,
        INT64 => 8,
        _ => return Ok(Vec::new()),
    };
    let number = |at: u64| match width {
        1 => raw.window.u8(at).map(|byte| i64::from(byte != 0)),
        4 => raw.window.i32(at).map(i64::from),
        _ => raw.window.i64(at),
    };
    // Reading counts against the budget of the file, so that a damaged file cannot be read for ever.
    raw.window.spend(raw.start, raw.len())?;
    (0..raw.len() / width).map(|place| number(raw.start + place * width)).collect()
}

/// Reads one attribute; graphs inside of it are added to `bodies`. Lists of numbers are read however long they are,
/// because a `Constant` has the shape of its list, and without the list it would seem to have no elements.
pub(super) fn attribute<'w, 'a>(
    message: Message<'w, 'a>,
    bodies: &mut Vec<Message<'w, 'a>>,
) -> Result<Attribute, ReadError> {
    let mut attribute = Attribute::default();
    for field in message.fields() {
        let field = field?;
        match field.number {
            1 => attribute.name = field.value.text()?,
            3 => attribute.int = field.value.signed(),
            // The texts that rules compare with are words. A long text is data.
            4 if is_short(field.value) => attribute.text = field.value.text()?,
            5 => attribute.tensor = Some(tensor(field.value.message(message))?),
            // One graph, or one of a list of graphs: the bodies of control flow.
            6 | 11 => bodies.push(field.value.message(message)),
            7 => field.value.push_floats(&mut attribute.floats)?,
            8 => field.value.push_signed(&mut attribute.ints)?,
            // A single float (2), lists of texts and texts for people: no rule for shapes reads them.
            _ => {}
        }
    }
    Ok(attribute)
}
