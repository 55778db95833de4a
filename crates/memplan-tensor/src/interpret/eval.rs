//! Evaluating expressions, and moving lanes between values and memory.
//!
//! A *worker* is one thread of the run, with variables of its own (see the machine). A value has one or several
//! *lanes*: one number, or a vector.

use super::RunError;
use super::machine::{Machine, Pointer, Value, mix};
use super::number::{Scalar, binary, convert, from_bytes, to_bytes};
use crate::DType;
use crate::ir::{BinaryOp, BufId, Expr, Memory as Whose};

/// Where the lanes of an access lie: a memory, and one byte position per lane.
pub(super) struct Places {
    memory: usize,
    bytes: Vec<u64>,
}

/// One step of computing element numbers in row-major order. `rows` has the numbers of the rows that the subscripts so
/// far select; each row has `extent` elements in the next dimension, of which `lanes` are accessed. In rows of 4, the
/// rows `[2]` with the lanes `[0, 1]` give `[8, 9]`. `None` if a number is too large.
fn elements(rows: &[i64], lanes: &[i64], extent: i64) -> Option<Vec<i64>> {
    let mut elements = Vec::with_capacity(rows.len() * lanes.len());
    for row in rows {
        let start = row.checked_mul(extent)?;
        for &lane in lanes {
            elements.push(start.checked_add(lane)?);
        }
    }
    Some(elements)
}

impl Machine<'_> {
    /// The value of an expression that must be one integer.
    pub(super) fn integer(&mut self, expr: &Expr, worker: usize) -> Result<i64, RunError> {
        match self.eval(expr, worker)? {
            Value::One(Scalar::Int(value)) => Ok(value),
            _ => Err(self.invalid("expected an integer")),
        }
    }

    /// The value of an expression that must be one number.
    pub(super) fn scalar(&mut self, expr: &Expr, worker: usize) -> Result<Scalar, RunError> {
        match self.eval(expr, worker)? {
            Value::One(value) => Ok(value),
            _ => Err(self.invalid("expected a single value")),
        }
    }

    /// The value of an expression for one worker: one number, one number for each lane, or an address.
    pub(super) fn eval(&mut self, expr: &Expr, worker: usize) -> Result<Value, RunError> {
        match expr {
            Expr::Int { value, .. } => Ok(Value::One(Scalar::Int(*value))),
            Expr::Float { value, dtype } => Ok(Value::One(convert(Scalar::Float(*value), *dtype))),
            Expr::Var(var) => self.variable(*var, worker).map(Value::One),
            Expr::Binary { op, left, right } => self.eval_binary(*op, left, right, worker),
            Expr::Not(value) => {
                let value = self.eval(value, worker)?;
                self.each(value, |lane| Scalar::truth(!lane.is_true()))
            }
            Expr::Cast { dtype, value } => {
                let value = self.eval(value, worker)?;
                self.each(value, |lane| convert(lane, *dtype))
            }
            // Only the chosen side is evaluated when there is one choice: the other side may read outside of its
            // buffer, which is why the program asks first. With one choice per lane both sides are needed.
            Expr::Select { condition, then, otherwise } => match self.eval(condition, worker)? {
                Value::One(choice) => self.eval(if choice.is_true() { then } else { otherwise }, worker),
                Value::Many(choices) => {
                    let (then, otherwise) = (self.lanes_of(then, worker)?, self.lanes_of(otherwise, worker)?);
                    let lanes = choices.iter().zip(then).zip(otherwise);
                    Ok(Value::Many(lanes.map(|((choice, a), b)| if choice.is_true() { a } else { b }).collect()))
                }
                Value::Address(_) => Err(self.invalid("a pointer is no condition")),
            },
            Expr::Ramp { base, stride, lanes } => {
                let dtype = base.dtype(self.function);
                let (base, stride) = (self.integer(base, worker)?, self.integer(stride, worker)?);
                // Lane numbers wrap like all arithmetic of the target. An index that wrapped is caught when memory is
                // accessed.
                let numbers = (0..i64::from(*lanes)).map(|lane| base.wrapping_add(stride.wrapping_mul(lane)));
                Ok(Value::Many(numbers.map(|number| convert(Scalar::Int(number), dtype)).collect()))
            }
            Expr::Broadcast { value, lanes } => {
                let value = self.scalar(value, worker)?;
                Ok(Value::Many(vec![value; usize::from(*lanes)]))
            }
            Expr::Load { buffer, index } => {
                let places = self.places(*buffer, index, worker)?;
                self.read(&places, *buffer)
            }
            Expr::Data(buffer) => self.pointer_to(*buffer, worker).map(Value::Address),
            Expr::Call { name, args, dtype } => self.call(name, args, *dtype, worker),
            Expr::Str(_) | Expr::Type(_) | Expr::Text(_) => Err(self.invalid("expected a value")),
        }
    }

    /// The lanes of a number or vector.
    fn lanes_of(&mut self, expr: &Expr, worker: usize) -> Result<Vec<Scalar>, RunError> {
        match self.eval(expr, worker)? {
            Value::One(value) => Ok(vec![value]),
            Value::Many(values) => Ok(values),
            Value::Address(_) => Err(self.invalid("a pointer is no number")),
        }
    }

    /// Changes every lane of a number or vector.
    pub(super) fn each(&self, value: Value, change: impl Fn(Scalar) -> Scalar) -> Result<Value, RunError> {
        match value {
            Value::One(lane) => Ok(Value::One(change(lane))),
            Value::Many(lanes) => Ok(Value::Many(lanes.into_iter().map(change).collect())),
            Value::Address(_) => Err(self.invalid("a pointer is no number")),
        }
    }

    /// The value of an operation, computed lane by lane with the arithmetic of the left operand's type. `and` and `or`
    /// evaluate their right side only if it matters, because it may read outside of a buffer.
    fn eval_binary(&mut self, op: BinaryOp, left: &Expr, right: &Expr, worker: usize) -> Result<Value, RunError> {
        if matches!(op, BinaryOp::And | BinaryOp::Or) {
            let first = self.scalar(left, worker)?.is_true();
            // `true or …` and `false and …` are decided by the left side.
            if first == (op == BinaryOp::Or) {
                return Ok(Value::One(Scalar::truth(first)));
            }
            let second = self.scalar(right, worker)?.is_true();
            return Ok(Value::One(Scalar::truth(second)));
        }
        // Both operands have the same type in a valid program.
        let dtype = left.dtype(self.function).element();
        let (left, right) = (self.eval(left, worker)?, self.eval(right, worker)?);
        let span = self.span;
        let result = match (left, right) {
            (Value::One(a), Value::One(b)) => binary(op, a, b, dtype).map(Value::One),
            (Value::Many(a), Value::Many(b)) if a.len() == b.len() => {
                let lanes: Option<Vec<Scalar>> = a.into_iter().zip(b).map(|(a, b)| binary(op, a, b, dtype)).collect();
                lanes.map(Value::Many)
            }
            _ => return Err(self.invalid("operands with different numbers of lanes")),
        };
        // Only a division by zero has no value.
        result.ok_or(RunError::DivisionByZero { span })
    }

    /// Byte offset of a view's first element in the memory it looks at: the offsets of all views in its chain; 0 for a
    /// buffer that is no view.
    fn view_offset(&mut self, buffer: BufId, worker: usize) -> Result<i64, RunError> {
        let mut offset = 0i64;
        let mut current = buffer;
        // A chain of views is at most as long as the table of buffers.
        for _ in 0..self.function.buffers.len() {
            let function = self.function;
            let Whose::View { of, elem_offset } = &function.buffers[current].memory else {
                break;
            };
            if let Some(elements) = elem_offset {
                let elements = self.integer(elements, worker)?;
                let dtype = function.buffers[current].dtype;
                let bytes = dtype.lane_bytes() as i64 * i64::from(dtype.lanes);
                let moved = elements.checked_mul(bytes).and_then(|bytes| offset.checked_add(bytes));
                offset = moved.ok_or_else(|| self.invalid("an offset beyond 64 bits"))?;
            }
            current = *of;
        }
        Ok(offset)
    }

    /// Where an access goes, checked against the buffer's shape and its memory's size.
    pub(super) fn places(&mut self, buffer: BufId, index: &[Expr], worker: usize) -> Result<Places, RunError> {
        let buffer = self.resolve(buffer, worker);
        let region = self.workers[worker].regions.get(&buffer).cloned();
        let declared = &self.function.buffers[buffer];
        // The element numbers for the dimensions so far, and the first lane of each subscript for a message.
        let mut rows = vec![0i64];
        let mut printed = Vec::new();
        let is_view = matches!(declared.memory, Whose::View { .. });
        for (position, (subscript, extent)) in index.iter().zip(&declared.shape).enumerate() {
            // Of a tensor that exists in part, subscripts count from the first element of the part.
            let (first, extent) = match region.as_ref().and_then(|region| region.get(position)) {
                Some(&(first, extent)) => (first, extent),
                None => (0, self.integer(extent, worker)?),
            };
            let lanes: Vec<i64> = match self.eval(subscript, worker)? {
                Value::One(lane) => vec![lane.as_int()],
                Value::Many(lanes) => lanes.into_iter().map(Scalar::as_int).collect(),
                Value::Address(_) => return Err(self.invalid("a pointer is no index")),
            };
            printed.push(lanes.first().copied().unwrap_or(0));
            let lanes: Vec<i64> = lanes.into_iter().map(|lane| lane.wrapping_sub(first)).collect();
            // A view may be declared shorter than what is accessed through it: in its first dimension only the bounds
            // of the memory count, which `bytes_of` checks. In the others, leaving a row would touch another row.
            let checked = !is_view || position > 0;
            if checked && lanes.iter().any(|lane| *lane < 0 || *lane >= extent) {
                return Err(self.out_of_bounds(buffer, &printed));
            }
            // With strides each subscript counts by itself. Without, it counts in the row that those before it select.
            let function = self.function;
            let next = match function.buffers[buffer].strides.as_ref().and_then(|strides| strides.get(position)) {
                Some(stride) => {
                    let stride = self.integer(stride, worker)?;
                    let distances: Option<Vec<i64>> = lanes.iter().map(|lane| lane.checked_mul(stride)).collect();
                    distances.and_then(|distances| elements(&rows, &distances, 1))
                }
                None => elements(&rows, &lanes, extent),
            };
            rows = next.ok_or_else(|| self.out_of_bounds(buffer, &printed))?;
        }
        self.bytes_of(buffer, &rows, &printed, worker)
    }

    /// The bytes of the elements with these numbers, one place for each lane. `printed` is the index for a message.
    fn bytes_of(
        &mut self,
        buffer: BufId,
        elements: &[i64],
        printed: &[i64],
        worker: usize,
    ) -> Result<Places, RunError> {
        // Byte positions count from the start of the memory that the buffer lies in.
        let offset = self.view_offset(buffer, worker)?;
        let memory = self.memory_of(buffer, worker)?;
        let size = self.memories[memory].size();
        let dtype = self.function.buffers[buffer].dtype;
        let lane = dtype.lane_bytes();
        let element = lane * u64::from(dtype.lanes);
        let mut bytes = Vec::with_capacity(elements.len() * usize::from(dtype.lanes));
        for number in elements {
            // A view may begin above the start of its memory, so bytes are compared with the memory's size and not
            // the number of the element with the buffer's.
            let start = number.checked_mul(element as i64).and_then(|byte| byte.checked_add(offset));
            let start = start.and_then(|byte| u64::try_from(byte).ok());
            match start {
                Some(start) if start.saturating_add(element) <= size => {
                    bytes.extend((0..u64::from(dtype.lanes)).map(|k| start + k * lane));
                }
                _ => return Err(self.out_of_bounds(buffer, printed)),
            }
        }
        Ok(Places { memory, bytes })
    }

    fn out_of_bounds(&self, buffer: BufId, index: &[i64]) -> RunError {
        RunError::OutOfBounds {
            span: self.span,
            buffer: self.function.buffers[buffer].name.clone(),
            index: format!("{index:?}"),
        }
    }

    /// Reads the lanes of an access. Reading a byte that nobody wrote is an error. All values that are read are mixed
    /// into `loads`, a hash by which two runs can be compared (see `run_traced`).
    fn read(&mut self, places: &Places, buffer: BufId) -> Result<Value, RunError> {
        let dtype = self.function.buffers[buffer].dtype;
        let mut lanes = Vec::with_capacity(places.bytes.len());
        for &start in &places.bytes {
            let lane = self.read_lane(places.memory, start, dtype);
            lanes.push(lane.ok_or_else(|| RunError::Uninitialised {
                span: self.span,
                buffer: self.function.buffers[buffer].name.clone(),
                index: format!("byte {start}"),
            })?);
        }
        for lane in &lanes {
            let bits = u64::from_le_bytes(to_bytes(*lane, dtype));
            self.loads = mix(self.loads, bits);
        }
        match lanes.as_slice() {
            [only] => Ok(Value::One(*only)),
            _ => Ok(Value::Many(lanes)),
        }
    }

    /// The lane at a byte, if all of it was written.
    pub(super) fn read_lane(&self, memory: usize, start: u64, dtype: DType) -> Option<Scalar> {
        // A lane has at most 8 bytes; `& 7` shows the compiler that the index is in range.
        let mut bytes = [0; 8];
        for byte in 0..dtype.lane_bytes() {
            bytes[byte as usize & 7] = self.memories[memory].read(start + byte)?;
        }
        Some(from_bytes(bytes, dtype))
    }

    pub(super) fn write_lane(&mut self, memory: usize, start: u64, value: Scalar, dtype: DType) {
        let bytes = to_bytes(value, dtype);
        for byte in 0..dtype.lane_bytes() {
            self.memories[memory].write(start + byte, bytes[byte as usize & 7]);
        }
    }

    /// Stores a value in memory, one lane at each place.
    pub(super) fn write(&mut self, places: &Places, value: &Value, dtype: DType) -> Result<(), RunError> {
        let lanes = match value {
            Value::One(lane) => std::slice::from_ref(lane),
            Value::Many(lanes) => lanes,
            Value::Address(_) => return Err(self.invalid("a pointer cannot be stored")),
        };
        if lanes.len() != places.bytes.len() {
            return Err(self.invalid("a stored value with another number of lanes than its place"));
        }
        for (&start, &lane) in places.bytes.iter().zip(lanes) {
            self.write_lane(places.memory, start, lane, dtype);
        }
        Ok(())
    }

    /// The value of `A.data`: the start of the memory that holds the buffer, for as many elements as its shape has, or
    /// as the memory has room for.
    fn pointer_to(&mut self, buffer: BufId, worker: usize) -> Result<Pointer, RunError> {
        // `.data` of a view with an element offset is still the start of the memory.
        let memory = self.memory_of(buffer, worker)?;
        let mut elements = 1u64;
        let declared = &self.function.buffers[buffer];
        for extent in &declared.shape {
            let extent = self.integer(extent, worker)?.max(0) as u64;
            elements = elements.saturating_mul(extent);
        }
        let element = declared.dtype.lane_bytes() * u64::from(declared.dtype.lanes);
        let room = self.memories[memory].size() / element.max(1);
        Ok(Pointer { memory, byte: 0, elements: elements.min(room), dtype: declared.dtype })
    }

    /// The address of an element. Through it, the elements up to the end of the buffer may be touched.
    pub(super) fn address_of(&mut self, buffer: BufId, index: &[Expr], worker: usize) -> Result<Pointer, RunError> {
        let whole = self.pointer_to(buffer, worker)?;
        let places = self.places(buffer, index, worker)?;
        let byte = places.bytes.first().copied().unwrap_or(0);
        // `passed` elements of the buffer lie before the address. `.data` starts at byte 0 of the memory, the elements
        // of a view start at its offset.
        let element = whole.dtype.lane_bytes() * u64::from(whole.dtype.lanes);
        let start = u64::try_from(self.view_offset(buffer, worker)?).unwrap_or(0);
        let passed = byte.saturating_sub(start) / element.max(1);
        Ok(Pointer { byte, elements: whole.elements.saturating_sub(passed), ..whole })
    }
}
