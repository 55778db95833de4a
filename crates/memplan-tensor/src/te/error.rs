//! What can be wrong with a description, a schedule or a lowering.

/// Why a graph cannot be built.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum GraphError {
    /// Two operations with one name.
    #[error("there are two operations called `{name}`")]
    DuplicateName {
        /// The name.
        name: String,
    },
    /// A tensor that no operation makes.
    #[error("`{op}` reads `{tensor}`, which is no tensor of the graph")]
    UnknownTensor {
        /// The operation that reads it.
        op: String,
        /// Its name.
        tensor: String,
    },
    /// A wrong number of subscripts.
    #[error("`{op}` reads `{tensor}` with {given} subscripts; it has {rank} dimensions")]
    Rank {
        /// The operation that reads it.
        op: String,
        /// The tensor.
        tensor: String,
        /// Subscripts given.
        given: usize,
        /// Dimensions there are.
        rank: usize,
    },
    /// A body that makes no sense.
    #[error("`{op}`: {reason}")]
    Body {
        /// The operation.
        op: String,
        /// What is wrong.
        reason: String,
    },
}

/// Why a schedule primitive does not apply.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ScheduleError {
    /// A name that no stage has.
    #[error("there is no stage called `{name}`")]
    UnknownStage {
        /// The name.
        name: String,
    },
    /// A name that no tensor has.
    #[error("there is no tensor called `{name}` in the schedule")]
    UnknownTensor {
        /// The name.
        name: String,
    },
    /// A name that no axis of the stage has.
    #[error("`{stage}` has no axis called `{axis}`")]
    UnknownAxis {
        /// The stage.
        stage: String,
        /// The name.
        axis: String,
    },
    /// An axis that is no loop (any more).
    #[error("`{axis}` is not a loop of `{stage}`: it was split or fused; its loops are {loops}")]
    NotALeaf {
        /// The stage.
        stage: String,
        /// The axis.
        axis: String,
        /// The loops there are.
        loops: String,
    },
    /// Two loops that are not next to each other.
    #[error("`{outer}` and `{inner}` of `{stage}` cannot be fused: they are not next to each other")]
    NotAdjacent {
        /// The stage.
        stage: String,
        /// The outer loop.
        outer: String,
        /// The inner loop.
        inner: String,
    },
    /// An output that shall be double buffered.
    #[error("Cannot apply double buffer on output `{stage}`")]
    DoubleBufferOutput {
        /// The stage.
        stage: String,
    },
    /// An output that shall be computed inside another stage.
    #[error("`{stage}` is an output; it cannot be {what}")]
    OutputMoved {
        /// The stage.
        stage: String,
        /// Inlined, or computed inside another stage.
        what: &'static str,
    },
    /// A stage that cannot be inlined.
    #[error("`{stage}` cannot be inlined: {reason}")]
    CannotInline {
        /// The stage.
        stage: String,
        /// Why.
        reason: String,
    },
    /// A reader that does not read.
    #[error("`{reader}` does not read `{tensor}`")]
    NotAReader {
        /// The stage that should read the tensor.
        reader: String,
        /// What it should read.
        tensor: String,
    },
    /// A loop that cannot be what it is made.
    #[error("`{axis}` of `{stage}` cannot be {what}: {reason}")]
    LoopKind {
        /// The stage.
        stage: String,
        /// The loop.
        axis: String,
        /// Parallel, vectorized, bound.
        what: &'static str,
        /// Why.
        reason: String,
    },
    /// Stages that are computed inside each other.
    #[error("the attach chain of `{stage}` is a loop: {chain}")]
    AttachLoop {
        /// Where it starts.
        stage: String,
        /// The stages on the way.
        chain: String,
    },
    /// A stage computed inside a loop that is not there.
    #[error("`{stage}` cannot be computed at `{axis}` of `{target}`: {reason}")]
    CannotAttach {
        /// The stage.
        stage: String,
        /// Where it should be computed.
        target: String,
        /// In which loop.
        axis: String,
        /// Why it cannot.
        reason: &'static str,
    },
    /// A wrong argument.
    #[error("{what} of `{stage}`: {reason}")]
    Argument {
        /// The stage.
        stage: String,
        /// The primitive.
        what: &'static str,
        /// What is wrong.
        reason: String,
    },
}

/// Why a scheduled graph cannot be lowered.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LowerError {
    /// Loops or expressions nested beyond reason.
    #[error("`{stage}` would nest more than {limit} deep")]
    TooDeep {
        /// The stage.
        stage: String,
        /// The limit.
        limit: usize,
    },
    /// A thread axis with two sizes.
    #[error("`{axis}` is launched with {first} threads and, inside, with {second}")]
    ThreadExtents {
        /// The thread axis.
        axis: String,
        /// The outer launch.
        first: String,
        /// The inner launch.
        second: String,
    },
    /// A thread axis that does not start at zero.
    #[error("`{axis}` of `{stage}` is bound to threads but does not start at zero")]
    ThreadStart {
        /// The stage.
        stage: String,
        /// The loop.
        axis: String,
    },
    /// A use of a tensor outside its realization.
    #[error("cannot find the realization point of tensor `{tensor}`")]
    NotRealized {
        /// The tensor.
        tensor: String,
    },
    /// An output that is no argument, or an argument twice.
    #[error("`{tensor}` {reason}")]
    Argument {
        /// The tensor.
        tensor: String,
        /// What is wrong.
        reason: &'static str,
    },
    /// A scope that is not known.
    #[error("`{scope}`, the scope of `{tensor}`, is not known: scopes start with global, shared, warp, local or wmma")]
    UnknownScope {
        /// The tensor.
        tensor: String,
        /// Its scope.
        scope: String,
    },
    /// An extern body that would see a padded buffer.
    #[error("Cannot bind a compact buffer `{buffer}` to a strided one with strides [{strides}]")]
    StridedBind {
        /// The buffer of the extern body.
        buffer: String,
        /// The strides of the tensor.
        strides: String,
    },
    /// An extern body that would see a part of a buffer.
    #[error("`{buffer}` is bound to a part of a tensor only")]
    PartialBind {
        /// The buffer of the extern body.
        buffer: String,
    },
    /// The original loses the buffer here.
    #[error(
        "Cannot find allocated buffer for `{buffer}`: a double buffer needs an explicit scope; without `compat` it needs none"
    )]
    ImplicitDoubleBuffer {
        /// The buffer.
        buffer: String,
    },
    /// A double buffer outside of loops.
    #[error("`{buffer}` is double buffered, but no loop is around it")]
    DoubleBufferWithoutLoop {
        /// The buffer.
        buffer: String,
    },
    /// A tagged memory that is too small.
    #[error("Allocation exceed bound of memory tag {scope}: `{buffer}` needs {bits} bits, {max_bits} are there")]
    ExceedsMemory {
        /// The memory.
        scope: String,
        /// The buffer.
        buffer: String,
        /// What it needs.
        bits: u64,
        /// What there is.
        max_bits: u64,
    },
}
