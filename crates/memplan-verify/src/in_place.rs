//! May a loop nest compute its result into the memory of its operand?
//!
//! `for i: B[i] = A[i] + 1` may, if B starts at the same address as A: each iteration reads an element of A before it
//! overwrites that element, and no other iteration reads it. `for i: B[i] = A[7 - i]` may not: iteration 0 overwrites
//! `A[0]`, which iteration 7 still needs.
//!
//! The judge sees a [`Step`] list: loops, branches, and which elements each step reads and writes, with subscripts as
//! [`Index`] expressions. It knows neither the program that the list was made of nor the planner that asks. Output and
//! input start at the same address. Before the first step the memory holds the input's content, and the output has
//! none.
//!
//! The answer is yes only if one of two proofs succeeds:
//!
//! 1. **For any extents** ([`symbolic`](self)): every read of the input and every write of the output use the same
//!    subscript, different iterations use different elements, and in one iteration the read comes first.
//! 2. **By running the nest over its subscripts** ([`exhaustive`](self)): every element is followed through all
//!    iterations, up to a limit of work. For each element we keep whether the shared memory holds what the input, and
//!    what the output, would hold in memory of its own.
//!
//! ```text
//! for r in 0..2, i in 0..8: B[i] = A[i] + 1
//! element 0:   input right, output absent
//! r=0, i=0     reads A[0]: right.   writes B[0]:  input wrong, output right
//! r=1, i=0     reads A[0]: wrong -> refused
//! ```
//!
//! Iterations of a concurrent loop have no order: an element that one of them writes for one buffer must not be touched
//! for the other buffer by another iteration.
//!
//! What neither proof shows is refused. Cost: the symbolic proof takes time in the number of accesses squared, the
//! exhaustive one takes the number of executed steps.

mod exhaustive;
mod polynomial;
mod resolve;
mod symbolic;

/// A variable of a nest; the front end chooses the numbers.
pub type Variable = u32;

/// A buffer of a nest; the front end chooses the numbers.
pub type Buffer = u32;

/// An operator of an [`Index`]. Truth values are 0 and 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Operator {
    /// `a + b`.
    Add,
    /// `a - b`.
    Subtract,
    /// `a * b`.
    Multiply,
    /// `a / b`, rounded down.
    DivideDown,
    /// What [`Operator::DivideDown`] leaves.
    RemainderDown,
    /// `a / b`, rounded towards zero.
    DivideToZero,
    /// What [`Operator::DivideToZero`] leaves.
    RemainderToZero,
    /// The smaller.
    Minimum,
    /// The larger.
    Maximum,
    /// `a == b`.
    Equal,
    /// `a < b`.
    Less,
    /// Both are not 0.
    And,
    /// At least one is not 0.
    Or,
}

/// An integer expression: a subscript, a bound or a condition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Index {
    /// A constant.
    Number(i64),
    /// A variable. One that no step of the nest defines has some fixed, unknown value.
    Variable(Variable),
    /// An operation.
    Apply(Operator, Box<[Index; 2]>),
    /// The second if the first is not 0, otherwise the third.
    Choose(Box<[Index; 3]>),
    /// A value that depends on data.
    Unknown,
}

impl Index {
    /// `operator(left, right)`.
    pub fn apply(operator: Operator, left: Index, right: Index) -> Index {
        Index::Apply(operator, Box::new([left, right]))
    }
}

/// How the iterations of a loop run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// One after the other.
    Serial,
    /// In any order, or at the same time.
    Concurrent,
    /// Each in memory of its own: iterations never meet.
    Private,
}

/// Elements of a buffer that one access touches.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Elements {
    /// The buffer.
    pub buffer: Buffer,
    /// The first element, counted from the start of the buffer's memory in elements of `bits` bits.
    pub first: Index,
    /// Size of one element.
    pub bits: u64,
    /// How many elements.
    pub lanes: u32,
    /// Distance of two neighbouring lanes, in elements.
    pub stride: i64,
}

/// A step of a nest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// A loop; its variable counts from `first`.
    Loop {
        /// The variable.
        variable: Variable,
        /// Its first value.
        first: Index,
        /// Number of iterations; none if negative.
        count: Index,
        /// How iterations run.
        order: Order,
        /// What is repeated.
        body: Vec<Step>,
    },
    /// Gives a variable its value. Each definition has a number of its own, also on the two sides of a branch.
    Define {
        /// The variable.
        variable: Variable,
        /// The value.
        value: Index,
    },
    /// Runs one of two lists.
    Branch {
        /// The first runs if this is not 0.
        condition: Index,
        /// Runs if the condition holds.
        then: Vec<Step>,
        /// Runs otherwise.
        otherwise: Vec<Step>,
    },
    /// Runs a list any number of times, one after the other.
    Repeat(Vec<Step>),
    /// Reads elements.
    Read(Elements),
    /// Writes elements, after all reads of the same statement.
    Write {
        /// The elements.
        elements: Elements,
        /// The elements whose content is stored unchanged, lane by lane, if the statement is a plain copy.
        copy_of: Option<Elements>,
    },
    /// May read and write any element of a buffer, now or later.
    Opaque(Buffer),
}

/// What the caller asks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Question {
    /// The buffer that is computed.
    pub output: Buffer,
    /// The buffer whose memory it shall take.
    pub input: Buffer,
    /// Whether anybody reads the output after the nest.
    pub needed_after: bool,
}

/// Why the judge says no.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Refusal {
    /// The address of one of the buffers is handed on.
    #[error("one of the buffers is used through its address")]
    Opaque,
    /// An element of one buffer is read after it was overwritten for the other.
    #[error("an element is read after it was overwritten")]
    Overwritten,
    /// Iterations that may run at the same time touch the same element.
    #[error("iterations that may run at the same time touch the same element")]
    Concurrent,
    /// An element of the output is read before the nest writes it.
    #[error("the output is read before it is written")]
    ReadBeforeWrite,
    /// At the end, an element of the output is overwritten by the input.
    #[error("the input is written over the output")]
    OutputLost,
    /// A subscript, a bound or a condition is too complicated.
    #[error("a subscript or a bound cannot be followed")]
    Undecided,
    /// Following all iterations takes too much work.
    #[error("there are too many iterations to follow")]
    TooMuchWork,
}

/// The largest amount of work for one question. A unit of work is one executed step, one iteration or one unit of
/// memory that an access touches.
const STEPS_PER_QUESTION: u64 = 1 << 17;

/// Work that the questions about one function may take together, in the same units. Questions that come when it is used
/// up are only answered with yes if the first proof succeeds.
#[derive(Clone, Copy, Debug)]
pub struct Budget(u64);

impl Default for Budget {
    /// A few tenths of a second: 2^24 steps.
    fn default() -> Budget {
        Budget(1 << 24)
    }
}

/// Whether the nest computes the same if the output lies exactly on the input.
///
/// ```
/// use memplan_verify::in_place::{Budget, Elements, Index, Order, Question, Step, judge};
/// let element = |buffer, first| Elements { buffer, first, bits: 32, lanes: 1, stride: 1 };
/// // for v0 in 0..n: buffer 1 [v0] = buffer 0 [v0] + …
/// let nest = [Step::Loop {
///     variable: 0,
///     first: Index::Number(0),
///     count: Index::Variable(9),
///     order: Order::Serial,
///     body: vec![
///         Step::Read(element(0, Index::Variable(0))),
///         Step::Write { elements: element(1, Index::Variable(0)), copy_of: None },
///     ],
/// }];
/// let question = Question { output: 1, input: 0, needed_after: true };
/// assert_eq!(judge(&nest, question, &mut Budget::default()), Ok(()));
/// ```
pub fn judge(nest: &[Step], question: Question, budget: &mut Budget) -> Result<(), Refusal> {
    let resolved = resolve::resolve(nest, question)?;
    if symbolic::proves(&resolved, question) {
        return Ok(());
    }
    // What the second proof has used up is taken off the budget, whatever its answer is.
    let allowance = STEPS_PER_QUESTION.min(budget.0);
    let mut left = allowance;
    let verdict = exhaustive::follow(&resolved, question, &mut left);
    budget.0 -= allowance - left;
    verdict
}
