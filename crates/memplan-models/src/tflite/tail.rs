//! The tail of TensorFlow Lite Micro's arena: the memory that the runtime takes once and keeps for as long as the
//! interpreter lives. How large it is decides, together with the tensors, how large an arena the user has to give.
//!
//! The runtime takes tensors and scratch memory from the lower end of the arena,
//! its head, and from the upper end whatever it keeps: records of tensors and operators,
//! parsed options, what kernels compute once before the first run, the content of variables.
//!
//! ```text
//!   0                      26624                  30832
//!   ├────── head ──────────┤├──────── tail ────────┤
//!     tensors, scratch        records, kernels' data, variables
//! ```
//!
//! A kernel is *made* (its `Init` runs) and later *prepared* (its `Prepare` runs); it may ask for memory both times.
//! Each request is rounded up to its alignment, and the order is always the same: the options of all operators, as
//! the runtime has parsed them; then what kernels ask for when they are made; then what they ask for when they are
//! prepared. The records before them leave a gap that the first request of a kernel fills, so it matters which kernel
//! comes first. With the right order [`Tail::bytes`] is exact for the runtime that was measured, on a machine with
//! pointers of 64 bits. With pointers of 32 bits records are smaller, and so is the tail: the number computed here is
//! then too large.
//!
//! While the interpreter starts, it uses the lower end of the arena for other things, twice. In a very small model
//! these need more bytes than the tensors themselves ([`Tail::to_start`]):
//!
//! 1. Operator after operator is prepared. A kernel looks at its tensors through descriptions that the runtime makes
//!    and throws away when the operator is ready, all of them at once:
//!
//!    ```text
//!      list of scratch buffers   input   filter   output   filter …          tail, as far as it is there
//!      192                       96      132      96       132
//!    ```
//!
//! 2. All tensors and scratch buffers are listed, and a planner places them. The lists and the planner's own data lie
//!    where the tensors will be later.

use memplan_core::Bytes;

/// The size of the tail, and what the arena needs while the interpreter starts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tail {
    /// Its bytes; without what the kernels of `unknown` operators keep.
    pub bytes: Bytes,
    /// Operators whose kernels were not measured, each once.
    pub unknown: Vec<String>,
    /// What the arena needs while tensors are listed and planned, without the planner's memory for each buffer that it
    /// places.
    start: Bytes,
    /// The most that the arena needs while operators are prepared.
    prepare: Bytes,
    /// The part of `start` that lies at the lower end of the arena, where tensors will be.
    start_below: Bytes,
    /// The part of `prepare` that lies there.
    prepare_below: Bytes,
}

impl Tail {
    /// How many bytes the arena needs while the interpreter starts and places this many `buffers`.
    pub fn to_start(&self, buffers: usize) -> Bytes {
        let plan = self.start.0.saturating_add(start::BUFFER.saturating_mul(buffers as u64));
        let bytes = plan.max(self.prepare.0);
        // The lower end of the arena is aligned, so a multiple of the alignment is needed.
        Bytes(bytes.checked_next_multiple_of(start::ALIGNMENT).unwrap_or(u64::MAX))
    }

    /// The part of [`to_start`](Tail::to_start) that lies in the memory of the tensors. If the runtime keeps its
    /// records in another memory, the memory of the tensors needs this or the tensors' own bytes, whichever is more.
    pub fn to_start_below(&self, buffers: usize) -> Bytes {
        let plan = self.start_below.0.saturating_add(start::BUFFER.saturating_mul(buffers as u64));
        Bytes(plan.max(self.prepare_below.0).checked_next_multiple_of(start::ALIGNMENT).unwrap_or(u64::MAX))
    }

    /// The size of an arena whose tensors and scratch memory need `head` bytes and are this many `buffers`.
    pub fn arena(&self, head: Bytes, buffers: usize) -> Bytes {
        Bytes(head.0.saturating_add(self.bytes.0)).max(self.to_start(buffers))
    }
}

/// Bytes of the lists that the interpreter makes while it starts. Found from the smallest arenas in which
/// models of 1 to 13 operators start, and from every request for such memory in some models.
mod start {
    /// The smallest arena in which the lists find room is a multiple of this.
    pub(super) const ALIGNMENT: u64 = 16;
    /// The entry for a tensor or a scratch buffer.
    pub(super) const TENSOR: u64 = 32;
    /// The entry for a request for scratch memory, which each scratch buffer has in addition.
    pub(super) const REQUEST: u64 = 16;
    /// The planner's entry for each buffer that it places.
    pub(super) const BUFFER: u64 = 40;
    /// The planner and the lists themselves.
    pub(super) const PLANNER: u64 = 208;
    /// The list of scratch buffers while operators are prepared: room for twelve more than there are.
    pub(super) const FREE_REQUESTS: u64 = 12 * REQUEST;
    /// The description of a tensor, without its quantisation.
    pub(super) const DESCRIPTION: u64 = 64;
    /// The description of a quantisation, without its zero points.
    pub(super) const QUANTIZATION: u64 = 24;
    /// A zero point, or the number of them.
    pub(super) const ZERO_POINT: u64 = 4;
    /// Descriptions start at multiples of this.
    pub(super) const DESCRIPTION_ALIGNMENT: u64 = 8;
    /// Kernels that look at their tensors twice. All others look once at most: so it is for every operator that the
    /// runtime has.
    pub(super) const TWICE: [&str; 9] = [
        "CONV_2D",
        "DEPTHWISE_CONV_2D",
        "TRANSPOSE_CONV",
        "MEAN",
        "SUM",
        "REDUCE_ALL",
        "REDUCE_MAX",
        "REDUCE_MIN",
        "TANH",
    ];
}

/// Bytes of the descriptions through which a kernel looks at its tensors while it is prepared: an upper bound. A
/// kernel that looks at a tensor twice gets two descriptions. `scales` is the number of scales of each tensor, inputs
/// first.
pub(super) fn descriptions(kind: &str, scales: impl Iterator<Item = u64> + Clone) -> u64 {
    let once = scales.clone().map(description).fold(0, u64::saturating_add);
    match kind {
        // With a bias there are four tensors: input, filter, bias, output. All but the bias are looked at twice.
        "CONV_2D" | "DEPTHWISE_CONV_2D" if scales.clone().count() == 4 => {
            once.saturating_mul(2).saturating_sub(scales.skip(2).take(1).map(description).sum())
        }
        _ if start::TWICE.contains(&kind) => once.saturating_mul(2),
        // The first tensor is looked at once more, for its type.
        "CONCATENATION" => once.saturating_add(scales.take(1).map(description).sum()),
        _ => once,
    }
}

/// The bytes of the description of a tensor with this many `scales`; 0 means that the tensor is not quantised.
fn description(scales: u64) -> u64 {
    // A list of zero points has its length in front.
    let zero_points = scales.saturating_add(1).saturating_mul(start::ZERO_POINT);
    let quantization = if scales > 0 { zero_points.saturating_add(start::QUANTIZATION) } else { 0 };
    let bytes = quantization.saturating_add(start::DESCRIPTION);
    bytes.checked_next_multiple_of(start::DESCRIPTION_ALIGNMENT).unwrap_or(u64::MAX)
}

/// Bytes of the runtime's records, where pointers have 64 bits. Measured by tests/peers/measure_tflm.py,
/// which fails if a record is of another size.
mod record {
    /// The allocator itself.
    pub(super) const ALLOCATOR: u64 = 448;
    /// A subgraph.
    pub(super) const SUBGRAPH: u64 = 24;
    /// A tensor of any subgraph.
    pub(super) const TENSOR: u64 = 24;
    /// An operator.
    pub(super) const NODE: u64 = 64;
    /// A scratch buffer.
    pub(super) const SCRATCH: u64 = 8;
    /// The second record that each input and output of the network has.
    pub(super) const INTERFACE: u64 = 64;
    /// What an input or output of the network has for its quantisation, without the list of zero points.
    pub(super) const QUANTIZATION: u64 = 24;
    /// A variable that operators reach through a handle.
    pub(super) const RESOURCE: u64 = 40;
    /// An address: one for each input and output of the network, in a list.
    pub(super) const POINTER: u64 = 8;
}

/// Kernels that ask for nothing when they are made: their first request comes when they are prepared. All others ask
/// for a record at once. Found with models of two operators, from the order of the requests.
const LATE: [&str; 9] = [
    "ADD_N",
    "CUMSUM",
    "DEPTH_TO_SPACE",
    "EMBEDDING_LOOKUP",
    "GATHER",
    "GATHER_ND",
    "L2_POOL_2D",
    "LOG_SOFTMAX",
    "SPACE_TO_DEPTH",
];

/// What kernels keep, by the time at which it is asked for: bytes and alignment of each request.
#[derive(Clone, Debug, Default)]
pub(super) struct Kept {
    /// Options, which the runtime parses before it makes the first kernel.
    parsed: Vec<(Bytes, Bytes)>,
    /// Requests of a kernel when it is made.
    made: Vec<(Bytes, Bytes)>,
    /// Requests of a kernel when it is prepared.
    prepared: Vec<(Bytes, Bytes)>,
}

impl Kept {
    /// Sorts the requests of a kernel of this kind, given in order, by the time at which they are made. Requests of
    /// kernels are aligned to 16 bytes and parsed options to less, which tells the two apart. The first request of a
    /// kernel comes when it is made, unless the kernel is in [`LATE`]; the others come when it is prepared.
    pub(super) fn new(kind: &str, requests: Vec<(Bytes, Bytes)>) -> Kept {
        let (parsed, mut made): (Vec<_>, Vec<_>) =
            requests.into_iter().partition(|(_, alignment)| alignment.0 < start::ALIGNMENT);
        let at_once = if LATE.contains(&kind) { 0 } else { 1.min(made.len()) };
        let prepared = made.split_off(at_once);
        Kept { parsed, made, prepared }
    }

    /// Appends the requests of the next kernel.
    fn extend(&mut self, next: Kept) {
        self.parsed.extend(next.parsed);
        self.made.extend(next.made);
        self.prepared.extend(next.prepared);
    }
}

/// What is known about a model when its tail is added up.
#[derive(Clone, Debug, Default)]
pub(super) struct Records {
    /// Tensors and operators of each subgraph.
    pub(super) subgraphs: Vec<(usize, usize)>,
    /// What the kernels keep.
    kernels: Kept,
    /// How many scratch buffers all operators have together.
    scratch_buffers: usize,
    /// The need for memory while operators are prepared.
    preparing: Preparing,
    /// Bytes of each variable.
    pub(super) variables: Vec<Bytes>,
    /// How many operators make handles of variables.
    pub(super) handles: usize,
    /// For each input of the network and for each output the number of its scales; 0 if it is not quantised.
    pub(super) interface: [Vec<u64>; 2],
}

/// The bytes that the runtime holds while it prepares one operator after the other.
#[derive(Clone, Debug, Default)]
struct Preparing {
    /// Bytes that the kernels prepared so far have asked for while they were prepared, and keep.
    kept: u64,
    /// How many scratch buffers they have asked for.
    scratch_buffers: u64,
    /// The most that was held at once: `kept`, the list of scratch buffers, and the descriptions for one operator.
    most: u64,
    /// The same without `kept`, which lies at the upper end of the arena.
    most_below: u64,
}

impl Preparing {
    /// Prepares one more operator: `kept` is what its kernel keeps, `descriptions` the bytes of its descriptions, and
    /// `scratch_buffers` how many scratch buffers it asks for.
    fn add(&mut self, kept: &Kept, descriptions: u64, scratch_buffers: usize) {
        for (bytes, alignment) in &kept.prepared {
            let bytes = bytes.0.checked_next_multiple_of(alignment.0).unwrap_or(u64::MAX);
            self.kept = self.kept.saturating_add(bytes);
        }
        // The list has entries for the scratch buffers of the operators before this one, and room for those of this
        // one.
        let list = self.scratch_buffers.saturating_mul(start::REQUEST).saturating_add(start::FREE_REQUESTS);
        let below = list.saturating_add(descriptions);
        self.most = self.most.max(self.kept.saturating_add(below));
        self.most_below = self.most_below.max(below);
        self.scratch_buffers = self.scratch_buffers.saturating_add(scratch_buffers as u64);
    }
}

impl Records {
    /// Adds the next operator: what its kernel keeps, the bytes of its descriptions, and how many scratch buffers it
    /// asks for.
    pub(super) fn add(&mut self, kept: Kept, descriptions: u64, scratch_buffers: usize) {
        self.preparing.add(&kept, descriptions, scratch_buffers);
        self.kernels.extend(kept);
        self.scratch_buffers += scratch_buffers;
    }

    /// The tail, without what kernels of `unknown` operators keep, and what the arena needs while the interpreter
    /// starts: first it prepares operator after operator, then it lists all tensors and scratch buffers (`lists`),
    /// their `requests`, and its planner at the lower end of the arena.
    pub(super) fn tail(&self, unknown: Vec<String>) -> Tail {
        let mut stack = self.before_planning();
        let tensors = self.subgraphs.iter().map(|&(tensors, _)| tensors as u64).sum::<u64>();
        let scratch = self.scratch_buffers as u64;
        let lists = tensors.saturating_add(scratch).saturating_mul(start::TENSOR);
        let requests = scratch.saturating_mul(start::REQUEST);
        let below = [lists, requests, start::PLANNER].into_iter().fold(0, u64::saturating_add);
        let start = stack.end.saturating_add(below);
        let prepare = self.before_preparing().saturating_add(self.preparing.most);
        // Inputs and outputs get their records after tensors have been placed, so they count for the tail only.
        self.push_interface(&mut stack);
        Tail {
            bytes: Bytes(stack.end),
            unknown,
            start: Bytes(start),
            prepare: Bytes(prepare),
            start_below: Bytes(below),
            prepare_below: Bytes(self.preparing.most_below),
        }
    }

    /// The bytes of everything that is kept before the first operator is prepared: all that is kept in the end, less
    /// what kernels ask for while they are prepared.
    fn before_preparing(&self) -> u64 {
        self.with_kernels().end.saturating_sub(self.preparing.kept)
    }

    /// Everything that is kept before tensors are placed.
    fn before_planning(&self) -> Stack {
        let mut stack = self.with_kernels();
        if self.scratch_buffers > 0 {
            stack.push(record::SCRATCH.saturating_mul(self.scratch_buffers as u64), 8);
        }
        for bytes in &self.variables {
            stack.push(bytes.0, 16);
        }
        stack
    }

    /// The runtime's own records and everything that kernels keep, in the order in which the runtime asks for memory:
    /// the order decides how much is lost by alignment. The two requests for 16 bytes are records of fixed size.
    fn with_kernels(&self) -> Stack {
        let mut stack = Stack { end: record::ALLOCATOR };
        if self.handles > 0 {
            stack.push(16, 16);
            stack.push(record::RESOURCE.saturating_mul(self.handles as u64), 16);
        }
        stack.push(16, 8);
        stack.push(record::SUBGRAPH.saturating_mul(self.subgraphs.len() as u64), 8);
        for &(tensors, _) in &self.subgraphs {
            stack.push(record::TENSOR.saturating_mul(tensors as u64), 8);
        }
        for &(_, operators) in &self.subgraphs {
            stack.push(record::NODE.saturating_mul(operators as u64), 8);
        }
        let Kept { parsed, made, prepared } = &self.kernels;
        for &(bytes, alignment) in parsed.iter().chain(made).chain(prepared) {
            stack.push(bytes.0, alignment.0);
        }
        stack
    }

    /// Records of inputs and outputs, which are made last.
    fn push_interface(&self, stack: &mut Stack) {
        for side in &self.interface {
            stack.push(record::POINTER.saturating_mul(side.len() as u64), 16);
            for &scales in side {
                stack.push(record::INTERFACE, 8);
                if scales > 0 {
                    stack.push(record::QUANTIZATION, 8);
                    // A list of zero points of 4 bytes each, with its length in front.
                    stack.push(scales.saturating_mul(4).saturating_add(4), 4);
                }
            }
        }
    }
}

/// Requests from the upper end of the arena downwards, one below the other.
struct Stack {
    /// How far below the upper end the last request starts, in bytes.
    end: u64,
}

impl Stack {
    /// Adds a request. It starts at a multiple of its alignment, so its distance from the upper end, which is
    /// aligned, is rounded up.
    fn push(&mut self, bytes: u64, alignment: u64) {
        let end = self.end.saturating_add(bytes);
        self.end = end.checked_next_multiple_of(alignment.max(1)).unwrap_or(u64::MAX);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `EMBEDDING_LOOKUP` asks for 20 and 16 bytes when it is prepared, `LESS` for 32 when it is made. The interpreter
    /// takes 1216 bytes for a model of the two, whatever the order of the operators.
    #[test]
    fn what_is_made_comes_before_what_is_prepared() {
        let requests = |bytes: &[u64]| bytes.iter().map(|&bytes| (Bytes(bytes), Bytes(16))).collect();
        let (lookup, less) = (("EMBEDDING_LOOKUP", [20, 16].as_slice()), ("LESS", [32].as_slice()));
        for operators in [[lookup, less], [less, lookup]] {
            let mut records =
                Records { subgraphs: vec![(6, 2)], interface: [vec![0; 3], vec![0; 2]], ..Records::default() };
            for (kind, bytes) in operators {
                records.add(Kept::new(kind, requests(bytes)), 0, 0);
            }
            assert_eq!(records.tail(Vec::new()).bytes, Bytes(1216));
        }
    }
}
