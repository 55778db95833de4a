//! Calls: mathematical functions, memory functions and unknown extern functions.
//!
//! These are parts of the interpreter, which runs a function before and after a rewrite to see that both compute the
//! same. Words from other files: a *worker* is one thread of the run, named by its position in a list; all workers
//! execute a statement before any of them executes the next (they run in *lockstep*). A [`Value`] is one number
//! (`One`), a number for each lane (`Many`), or a pointer (`Address`). A [`Pointer`] names a memory, a byte in it, and
//! how many elements of which type may be touched from there on. Each memory knows which of its bytes were written.

use super::RunError;
use super::machine::{Machine, Pointer, Value, mix};
use super::number::{Scalar, convert};
use crate::DType;
use crate::ir::Expr;

/// So many bytes that a memory function writes count as one step: they are one element of the widest type.
const BYTES_OF_STEP: u64 = 8;

impl Machine<'_> {
    /// The value of a call for a worker: choices, pointers, extern functions, and all others as mathematical functions,
    /// whose result has the type `dtype`. A call that is made only for what it does has the value 0. So has every call
    /// of an extern function, even if the program uses its value: nobody knows what the function would compute. An
    /// error if an argument has no value, or if the function is not known; a known one with other arguments than these
    /// counts as unknown.
    pub(super) fn call(&mut self, name: &str, args: &[Expr], dtype: DType, worker: usize) -> Result<Value, RunError> {
        match (name, args) {
            // Only the chosen side is evaluated: the condition often guards a load that would be out of bounds.
            ("if_then_else", [condition, then, otherwise]) => {
                let choice = self.scalar(condition, worker)?.is_true();
                self.eval(if choice { then } else { otherwise }, worker)
            }
            // A hint to compilers that a condition is nearly always true.
            ("likely", [value]) => self.eval(value, worker),
            ("address_of", [Expr::Load { buffer, index }]) => {
                self.address_of(*buffer, index, worker).map(Value::Address)
            }
            // A further argument says whether the pointer is for reading or writing, which does not matter here.
            ("tvm_access_ptr", [Expr::Type(dtype), data, offset, extent, ..]) => {
                self.access_ptr(*dtype, data, offset, extent, worker).map(Value::Address)
            }
            (
                "call_extern" | "call_pure_extern" | "call_packed" | "tvm_call_packed",
                [Expr::Str(callee), rest @ ..],
            ) => self.extern_call(callee, rest, worker),
            // An array of the runtime is a pointer with a shape. The pointer is enough here.
            ("tvm_stack_make_array", [data, ..]) => self.eval(data, worker),
            // A request about the layout of a buffer, which has no effect here.
            ("buffer_dim_align", _) => Ok(Value::One(Scalar::Int(0))),
            // A barrier. Workers run in lockstep, so all of them are here.
            ("tvm_storage_sync", _) => Ok(Value::One(Scalar::Int(0))),
            _ => self.math(name, args, dtype, worker),
        }
    }

    /// `tvm_access_ptr(type, data, offset, extent)`: a pointer to `extent` elements from element `offset` of a buffer.
    /// An error if `data` is no pointer, or if the first element would lie outside of the buffer's memory.
    fn access_ptr(
        &mut self,
        dtype: DType,
        data: &Expr,
        offset: &Expr,
        extent: &Expr,
        worker: usize,
    ) -> Result<Pointer, RunError> {
        let Value::Address(base) = self.eval(data, worker)? else {
            return Err(self.invalid("`tvm_access_ptr` needs a buffer"));
        };
        let (offset, extent) = (self.integer(offset, worker)?, self.integer(extent, worker)?);
        // Offset and extent count elements of the type that the call names, not of the buffer.
        let element = dtype.lane_bytes() * u64::from(dtype.lanes);
        // The offset counts elements and comes from the program, so it may be negative or too large. Both are refused
        // before the pointer exists.
        let byte = u64::try_from(offset)
            .ok()
            .and_then(|offset| offset.checked_mul(element))
            .and_then(|bytes| bytes.checked_add(base.byte));
        let room = self.memories[base.memory].size();
        match byte {
            // A pointer to the end of the memory is fine as long as nothing is touched through it: it has 0 elements.
            Some(byte) if byte <= room => Ok(Pointer {
                memory: base.memory,
                byte,
                // The extent is a promise of the program and may be too large. It is cut to the memory that is there.
                // (Every type has at least one byte; `max(1)` only rules out a division by 0.)
                elements: (extent.max(0) as u64).min((room - byte) / element.max(1)),
                dtype,
            }),
            _ => Err(self.invalid("`tvm_access_ptr` points outside its buffer")),
        }
    }

    /// A function outside of the program. `memset` and `memcpy` are known, the user may describe others (`packed`),
    /// and the rest is imitated. Only what such a function does to memory is imitated: its value is always 0.
    fn extern_call(&mut self, name: &str, args: &[Expr], worker: usize) -> Result<Value, RunError> {
        let mut values = Vec::new();
        for arg in args {
            values.push(match arg {
                // Texts and types are no values. They take part as zero, so that the other arguments keep their
                // positions.
                Expr::Str(_) | Expr::Type(_) | Expr::Text(_) => Value::One(Scalar::Int(0)),
                _ => self.eval(arg, worker)?,
            });
        }
        match (name, values.as_slice()) {
            ("memset", [Value::Address(to), Value::One(byte), Value::One(count)]) => {
                let (to, byte, count) = (*to, byte.as_int() as u8, count.as_int().max(0) as u64);
                self.check_span(to, count)?;
                self.spend(count / BYTES_OF_STEP)?;
                for at in 0..count {
                    self.memories[to.memory].write(to.byte + at, byte);
                }
            }
            ("memcpy", [Value::Address(to), Value::Address(from), Value::One(count)]) => {
                let (to, from, count) = (*to, *from, count.as_int().max(0) as u64);
                self.check_span(to, count)?;
                self.check_span(from, count)?;
                self.spend(count / BYTES_OF_STEP)?;
                // All bytes are read before any is written: source and target may overlap in a rewritten function.
                // Bytes that nobody wrote stay unwritten.
                let bytes: Vec<Option<u8>> =
                    (0..count).map(|at| self.memories[from.memory].read(from.byte + at)).collect();
                for (at, byte) in bytes.into_iter().enumerate() {
                    if let Some(byte) = byte {
                        self.memories[to.memory].write(to.byte + at as u64, byte);
                    }
                }
            }
            _ if self.options.packed.contains_key(&(name.to_owned(), values.len())) => {
                let outputs = self.options.packed[&(name.to_owned(), values.len())].outputs;
                self.packed_call(name, &values, outputs)?;
            }
            _ => {
                // What this function does is not known. We let it change every memory that it is given, in a way that
                // depends only on the number of the call, the position of the argument and the old content, so that
                // two runs of equivalent programs agree.
                self.extern_calls += 1;
                let call = self.extern_calls;
                for (position, value) in values.iter().enumerate() {
                    if let Value::Address(pointer) = value {
                        self.stir(*pointer, mix(call, position as u64))?;
                    }
                }
            }
        }
        Ok(Value::One(Scalar::Int(0)))
    }

    /// Imitates a packed function of which the user says how many outputs it has: its last `outputs` arrays get values
    /// that depend on all elements of the other arrays, and on nothing else.
    fn packed_call(&mut self, name: &str, values: &[Value], outputs: usize) -> Result<(), RunError> {
        let arrays: Vec<Pointer> = values
            .iter()
            .filter_map(|value| if let Value::Address(pointer) = value { Some(*pointer) } else { None })
            .collect();
        // The last `outputs` arrays are written and all others are read. The digest is a stand-in for what the
        // function would compute: it changes whenever any input element changes.
        let (read, written) = arrays.split_at(arrays.len().saturating_sub(outputs));
        for pointer in &arrays {
            self.spend(pointer.elements.saturating_mul(u64::from(pointer.dtype.lanes)))?;
        }
        let mut digest = name.bytes().fold(0, |digest, byte| mix(digest, u64::from(byte)));
        for pointer in read {
            for index in 0..pointer.elements.saturating_mul(u64::from(pointer.dtype.lanes)) {
                let at = pointer.byte + index * pointer.dtype.lane_bytes();
                // An unwritten element has no value, and a digest of garbage would differ between equivalent programs.
                let Some(value) = self.read_lane(pointer.memory, at, pointer.dtype) else {
                    return Err(self.invalid(format!("`{name}` is given an array that was not written completely")));
                };
                digest = mix(digest, u64::from_le_bytes(super::number::to_bytes(value, pointer.dtype)));
            }
        }
        for (position, pointer) in written.iter().enumerate() {
            for index in 0..pointer.elements.saturating_mul(u64::from(pointer.dtype.lanes)) {
                // Results are below 8, so that they fit every element type exactly, small floats included.
                let value = mix(mix(digest, position as u64), index) % 8;
                let lane = pointer.dtype.element();
                let at = pointer.byte + index * lane.lane_bytes();
                self.write_lane(pointer.memory, at, convert(Scalar::Int(value as i64), lane), lane);
            }
        }
        Ok(())
    }

    /// An error if `count` bytes from a pointer on reach out of its memory.
    fn check_span(&self, pointer: Pointer, count: u64) -> Result<(), RunError> {
        let end = pointer.byte.checked_add(count);
        if end.is_some_and(|end| end <= self.memories[pointer.memory].size()) {
            Ok(())
        } else {
            Err(self.invalid("a memory function reaches outside its buffer"))
        }
    }

    /// What an unknown function does to an array that it is given: to every element it adds a number from 0 to 6 that
    /// depends on `salt` and the element's position. An element that was never written stays unwritten, because
    /// anything computed from it would depend on garbage.
    fn stir(&mut self, pointer: Pointer, salt: u64) -> Result<(), RunError> {
        let lane = pointer.dtype.element();
        let lanes = pointer.elements.saturating_mul(u64::from(pointer.dtype.lanes));
        // Only the first 2^20 elements are changed. So a program that hands a large buffer to a function can still be
        // run; each element counts as a step.
        let changed = lanes.min(1 << 20);
        self.spend(changed)?;
        for index in 0..changed {
            let at = pointer.byte + index * lane.lane_bytes();
            let change = (mix(salt, index) % 7) as i64;
            let new = match self.read_lane(pointer.memory, at, lane) {
                Some(Scalar::Int(old)) => Scalar::Int(old.wrapping_add(change)),
                Some(Scalar::Float(old)) => Scalar::Float(old + change as f64),
                None => continue,
            };
            self.write_lane(pointer.memory, at, convert(new, lane), lane);
        }
        Ok(())
    }

    /// A call of a mathematical function. Functions of one operand work on every lane of a vector.
    fn math(&mut self, name: &str, args: &[Expr], dtype: DType, worker: usize) -> Result<Value, RunError> {
        let mut values = Vec::new();
        for arg in args {
            values.push(self.eval(arg, worker)?);
        }
        let lane_type = dtype.element();
        // Only given back if there is no such function.
        let unknown = RunError::UnknownCall { span: self.span, name: name.to_owned() };
        // A function of one operand works lane by lane. A function of two operands works on single numbers only.
        match values.as_slice() {
            [only] => {
                let Some(function) = unary(name) else {
                    return Err(unknown);
                };
                self.each(only.clone(), |lane| convert(function(lane), lane_type))
            }
            [Value::One(a), Value::One(b)] => {
                let result = two(name, *a, *b).ok_or(unknown)?;
                Ok(Value::One(convert(result, lane_type)))
            }
            _ => Err(unknown),
        }
    }
}

/// The functions of one operand, by their names in TVM.
fn unary(name: &str) -> Option<fn(Scalar) -> Scalar> {
    fn float(value: Scalar, function: fn(f64) -> f64) -> Scalar {
        Scalar::Float(function(value.as_float()))
    }
    Some(match name {
        "exp" => |value| float(value, f64::exp),
        "exp2" => |value| float(value, f64::exp2),
        "log" => |value| float(value, f64::ln),
        "log2" => |value| float(value, f64::log2),
        "sqrt" => |value| float(value, f64::sqrt),
        "rsqrt" => |value| float(value, |x| 1.0 / x.sqrt()),
        "tanh" => |value| float(value, f64::tanh),
        "sigmoid" => |value| float(value, |x| 1.0 / (1.0 + (-x).exp())),
        "sin" => |value| float(value, f64::sin),
        "cos" => |value| float(value, f64::cos),
        "floor" => |value| float(value, f64::floor),
        "ceil" => |value| float(value, f64::ceil),
        // TVM rounds ties to the even neighbour; Rust's `round` would round them away from zero.
        "round" | "nearbyint" => |value| float(value, f64::round_ties_even),
        "trunc" => |value| float(value, f64::trunc),
        // The type of the operand decides: TVM uses one name for integers and floats.
        "fabs" | "abs" => |value| match value {
            Scalar::Int(value) => Scalar::Int(value.wrapping_abs()),
            Scalar::Float(value) => Scalar::Float(value.abs()),
        },
        "bitwise_not" => |value| Scalar::Int(!value.as_int()),
        _ => return None,
    })
}

/// The value of a function of two operands; `None` if there is none with this name. A shift by more than 63 bits
/// shifts by 63, and one by a negative number by 0.
fn two(name: &str, a: Scalar, b: Scalar) -> Option<Scalar> {
    let shift = u32::try_from(b.as_int()).unwrap_or(0).min(63);
    Some(match name {
        "pow" | "power" => Scalar::Float(a.as_float().powf(b.as_float())),
        "bitwise_and" => Scalar::Int(a.as_int() & b.as_int()),
        "bitwise_or" => Scalar::Int(a.as_int() | b.as_int()),
        "bitwise_xor" => Scalar::Int(a.as_int() ^ b.as_int()),
        "shift_left" => Scalar::Int(a.as_int().wrapping_shl(shift)),
        "shift_right" => Scalar::Int(a.as_int().wrapping_shr(shift)),
        _ => return None,
    })
}
