//! The tail of TensorFlow Lite Micro's arena: what stays for as long as the interpreter lives.
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
//! Each request is rounded up to its alignment, and the order is always the same,
//! so that [`Tail::bytes`] is exact for the runtime that was measured, on a machine with pointers of 64
//! bits. With pointers of 32 bits records are smaller, and so is the tail: what is
//! computed here is then too much rather than too little.
//!
//! While the interpreter starts, it lists all tensors and plans them at the lower end of the arena. In a very small
//! arena these lists need more than the tensors themselves: [`Tail::to_start`].

use memplan_core::Bytes;

/// The tail, and what of it is not known.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tail {
    /// Its bytes; without what the kernels of `unknown` operators keep.
    pub bytes: Bytes,
    /// Operators whose kernels were not measured, each once.
    pub unknown: Vec<String>,
    /// What the arena needs while the interpreter starts, without what it needs for each buffer that it places.
    start: Bytes,
}

impl Tail {
    /// What the arena needs while the interpreter starts and places so many buffers.
    pub fn to_start(&self, buffers: usize) -> Bytes {
        let bytes = self.start.0.saturating_add(start::BUFFER.saturating_mul(buffers as u64));
        // The lists lie between the two ends of the arena, of which the lower one is aligned.
        Bytes(bytes.checked_next_multiple_of(start::ALIGNMENT).unwrap_or(u64::MAX))
    }

    /// What the arena needs for tensors and scratch memory of so many bytes, in so many buffers.
    pub fn arena(&self, head: Bytes, buffers: usize) -> Bytes {
        Bytes(head.0.saturating_add(self.bytes.0)).max(self.to_start(buffers))
    }
}

/// Bytes of the lists that the interpreter makes while it starts. Found from the smallest arenas in which
/// models of 1 to 13 operators start: the same for 24 models. Some generated networks whose arena is below 3 KB need up to
/// 152 bytes more than this.
mod start {
    /// What the arena is a multiple of, in which the lists just find room.
    pub(super) const ALIGNMENT: u64 = 16;
    /// A tensor or scratch buffer.
    pub(super) const TENSOR: u64 = 32;
    /// A scratch buffer, on top.
    pub(super) const REQUEST: u64 = 16;
    /// A buffer that is placed.
    pub(super) const BUFFER: u64 = 40;
    /// The planner and the lists themselves.
    pub(super) const PLANNER: u64 = 208;
}

/// Bytes of the runtime's records, where pointers have 64 bits. Measured by tests/peers/measure_tflm.py,
/// which fails if a record is of another size.
mod record {
    /// The allocator itself.
    pub(super) const ALLOCATOR: u64 = 448;
    pub(super) const SUBGRAPH: u64 = 24;
    /// A tensor of any subgraph.
    pub(super) const TENSOR: u64 = 24;
    /// An operator.
    pub(super) const NODE: u64 = 64;
    /// A scratch buffer.
    pub(super) const SCRATCH: u64 = 8;
    /// An input or output of the network, on top.
    pub(super) const INTERFACE: u64 = 64;
    pub(super) const QUANTIZATION: u64 = 24;
    /// A variable that operators reach through a handle.
    pub(super) const RESOURCE: u64 = 40;
    pub(super) const POINTER: u64 = 8;
}

/// What is known about a model when its tail is added up.
#[derive(Clone, Debug, Default)]
pub(super) struct Records {
    /// Tensors and operators of each subgraph.
    pub(super) subgraphs: Vec<(usize, usize)>,
    /// What the kernels keep, operator after operator: bytes and alignment.
    pub(super) kernels: Vec<(Bytes, Bytes)>,
    /// Scratch buffers of all operators.
    pub(super) scratch_buffers: usize,
    /// Bytes of each variable.
    pub(super) variables: Vec<Bytes>,
    /// Operators that make handles of variables.
    pub(super) handles: usize,
    /// For each input of the network and for each output the number of its scales; 0 if it is not quantised.
    pub(super) interface: [Vec<u64>; 2],
}

impl Records {
    /// The tail, but for what operators keep that are not known.
    pub(super) fn tail(&self, unknown: Vec<String>) -> Tail {
        let mut stack = self.before_planning();
        let tensors = self.subgraphs.iter().map(|&(tensors, _)| tensors as u64).sum::<u64>();
        let scratch = self.scratch_buffers as u64;
        let lists = tensors.saturating_add(scratch).saturating_mul(start::TENSOR);
        let requests = scratch.saturating_mul(start::REQUEST);
        let start = [lists, requests, start::PLANNER].into_iter().fold(stack.end, u64::saturating_add);
        self.push_interface(&mut stack);
        Tail { bytes: Bytes(stack.end), unknown, start: Bytes(start) }
    }

    /// Everything that is kept before tensors are placed.
    fn before_planning(&self) -> Stack {
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
        // Options of all operators are parsed before the first kernel asks for anything.
        let (parsed, kept): (Vec<_>, Vec<_>) = self.kernels.iter().partition(|(_, alignment)| alignment.0 < 16);
        for &(bytes, alignment) in parsed.into_iter().chain(kept) {
            stack.push(bytes.0, alignment.0);
        }
        if self.scratch_buffers > 0 {
            stack.push(record::SCRATCH.saturating_mul(self.scratch_buffers as u64), 8);
        }
        for bytes in &self.variables {
            stack.push(bytes.0, 16);
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
                    stack.push(scales.saturating_mul(4).saturating_add(4), 4);
                }
            }
        }
    }
}

/// Requests one upon the other, each aligned.
struct Stack {
    end: u64,
}

impl Stack {
    fn push(&mut self, bytes: u64, alignment: u64) {
        let end = self.end.saturating_add(bytes);
        self.end = end.checked_next_multiple_of(alignment.max(1)).unwrap_or(u64::MAX);
    }
}
