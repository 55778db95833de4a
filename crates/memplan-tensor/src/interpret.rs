//! Running a function: the meaning of the loop IR, and the oracle of every rewrite.
//!
//! Memory is bytes; each byte knows whether it was written. An access outside of its buffer's memory and a read of a
//! byte that nobody wrote are errors. So a rewrite that shrinks a buffer, or lets two buffers overlap that are needed
//! at the same time, leads to an error or to different results.
//!
//! **Threads run in lockstep.** Every thread of a launch executes a statement before any
//! thread executes the next; `local` buffers exist once per thread, `shared` once per block.
//! Parallel loops run in one of three [`Order`]s: a program that has no race of its own gives the
//! same results in all of them, and a rewrite must not change any.
//!
//! Arguments are filled with small integers that depend on the seed alone, sizes (`n: T.int32`) are small positive
//! numbers. An extern function that is not known (`memset` and `memcpy` are) changes every element it is given a
//! pointer to, depending on the old value, so that it both reads and writes. Elements that were never written stay
//! unwritten.

mod eval;
mod intrinsics;
mod machine;
mod memory;
mod number;

pub use number::Scalar;

use crate::DType;
use crate::ir::Function;
use memplan_core::Span;
use std::collections::BTreeMap;
use std::fmt;

/// In which order the iterations of parallel loops run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Order {
    /// First to last.
    #[default]
    Forward,
    /// Last to first.
    Backward,
    /// All at once, statement by statement.
    Lockstep,
}

/// How to run.
#[derive(Clone, Debug)]
pub struct RunOptions {
    /// Determines the contents of arguments.
    pub seed: u64,
    /// Order of parallel iterations.
    pub order: Order,
    /// Values of scalar parameters, by name; others are chosen from the seed.
    pub scalars: BTreeMap<String, i64>,
    /// Statements after which to give up.
    pub max_steps: u64,
    /// Packed functions that are known, by name and number of arguments.
    pub packed: BTreeMap<(String, usize), PackedFunction>,
}

/// What is known about a packed function: it computes its last arrays from the others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PackedFunction {
    /// How many of its last arrays it writes.
    pub outputs: usize,
}

impl Default for RunOptions {
    fn default() -> Self {
        RunOptions {
            seed: 0,
            order: Order::Forward,
            scalars: BTreeMap::new(),
            max_steps: 50_000_000,
            packed: BTreeMap::new(),
        }
    }
}

/// What an argument buffer holds at the end.
#[derive(Clone, Debug, PartialEq)]
pub struct Output {
    /// The parameter.
    pub name: String,
    /// Its element type.
    pub dtype: DType,
    /// All lanes of all elements, in order.
    pub values: Vec<Scalar>,
}

impl fmt::Display for Output {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}[{}] =", self.name, self.dtype, self.values.len())?;
        for value in &self.values {
            match value {
                Scalar::Int(value) => write!(f, " {value}")?,
                Scalar::Float(value) => write!(f, " {value}")?,
            }
        }
        Ok(())
    }
}

/// Why a run stopped.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RunError {
    /// An index outside the buffer.
    #[error("index {index} is outside `{buffer}`")]
    OutOfBounds {
        /// The access.
        span: Span,
        /// The buffer.
        buffer: String,
        /// The index.
        index: String,
    },
    /// A read of something never written.
    #[error("`{buffer}` is read at {index} before anything was written there")]
    Uninitialised {
        /// The access.
        span: Span,
        /// The buffer.
        buffer: String,
        /// The index.
        index: String,
    },
    /// A division by zero.
    #[error("division by zero")]
    DivisionByZero {
        /// Where.
        span: Span,
    },
    /// An assertion that does not hold.
    #[error("assertion failed: {message}")]
    Assertion {
        /// Where.
        span: Span,
        /// Its message.
        message: String,
    },
    /// A call of something unknown.
    #[error("`T.{name}` cannot be interpreted")]
    UnknownCall {
        /// Where.
        span: Span,
        /// Its name.
        name: String,
    },
    /// An expression used as something it is not.
    #[error("{message}")]
    Invalid {
        /// Where.
        span: Span,
        /// What is wrong.
        message: String,
    },
    /// The limit on statements, and on elements that calls and arguments touch, was reached.
    #[error("gave up after {steps} statements")]
    TooLong {
        /// Where.
        span: Span,
        /// The limit.
        steps: u64,
    },
}

impl RunError {
    /// The statement that failed.
    pub fn span(&self) -> Span {
        match self {
            RunError::OutOfBounds { span, .. }
            | RunError::Uninitialised { span, .. }
            | RunError::DivisionByZero { span }
            | RunError::Assertion { span, .. }
            | RunError::UnknownCall { span, .. }
            | RunError::Invalid { span, .. }
            | RunError::TooLong { span, .. } => *span,
        }
    }
}

/// Runs a function and returns what its argument buffers hold at the end.
///
/// ```
/// use memplan_tensor::{interpret, script::Script};
/// let script = Script::read("@T.prim_func\ndef main(O: T.Buffer((2,), \"int32\")):\n    O[0] = 7\n    O[1] = O[0] * 2\n").unwrap();
/// let outputs = interpret::run(&script.functions()[0], &interpret::RunOptions::default()).unwrap();
/// assert_eq!(outputs[0].to_string(), "O: int32[2] = 7 14");
/// ```
pub fn run(function: &Function, options: &RunOptions) -> Result<Vec<Output>, RunError> {
    machine::Machine::new(function, options).run().map(|(outputs, _)| outputs)
}

/// Like [`run`], with a digest of every value loaded, in order: two programs that differ only in where their buffers
/// live load the same values, even those that no output shows.
pub fn run_traced(function: &Function, options: &RunOptions) -> Result<(Vec<Output>, u64), RunError> {
    machine::Machine::new(function, options).run()
}
