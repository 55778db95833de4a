//! Values: handles to memory, and where that memory comes from.
//!
//! A memref, a tensor that lives in memory, a loop-IR buffer variable and a
//! network activation are all values. Scalars and shapes are not: they appear
//! only as symbols in [`Size`] and as trip counts.

use memplan_core::{Bytes, SpaceId, Span, index_type};

use crate::{BlockId, FunctionId, Name, OpId, ValueId};

index_type! {
    /// An allocation site: one `alloc` of the program, to be placed by a plan.
    pub struct SiteId;
}

/// A handle to memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Value {
    /// The name as written in the source, without sigil.
    pub name: Name,
    /// Which memory it is a handle to.
    pub origin: Origin,
    /// What brings the value into being; filled in by the builder.
    pub definition: Definition,
    /// Where the source defines it.
    pub span: Span,
}

/// Which memory a value is a handle to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// A fresh buffer each time the defining op runs, to be placed by a plan.
    Alloc(SiteId),
    /// Memory of its own, disjoint from everything placed: an argument, a
    /// global, a weight, a constant.
    External,
    /// A view of (part of) one other value.
    Derived {
        /// The value viewed.
        base: ValueId,
        /// Which of the base's bytes the view consists of.
        extent: Extent,
    },
    /// One of these, chosen each time the defining op runs: a select, a call
    /// whose result is known to be one of its arguments.
    Merged(Box<[ValueId]>),
    /// Whatever control flow hands over: a block argument, or a result of an
    /// op with regions. The sources are on the incoming edges; see
    /// [`Branch`](crate::Branch) and [`Op::inits`](crate::Op::inits).
    Incoming,
    /// Any of these, or external memory: the result of an op of which nothing is known. With an empty list it can only
    /// be external memory.
    Opaque(Box<[ValueId]>),
}

/// What brings a value into being.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Definition {
    /// Nothing yet, or nothing at all: globals exist before the program runs.
    Global,
    /// It is a parameter of this function.
    Parameter(FunctionId),
    /// It is in this op's [`results`](crate::Op::results).
    Result(OpId),
    /// It is an argument of this block.
    Argument(BlockId),
}

/// A half-open range of bytes, relative to some value's first byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ByteRange {
    /// First byte.
    pub start: Bytes,
    /// One past the last byte.
    pub end: Bytes,
}

impl ByteRange {
    /// The range `[start, end)`.
    pub fn new(start: u64, end: u64) -> ByteRange {
        ByteRange { start: Bytes(start), end: Bytes(end) }
    }

    /// Number of bytes; zero for a range that ends before it starts.
    pub fn len(self) -> Bytes {
        Bytes(self.end.0.saturating_sub(self.start.0))
    }

    /// Whether it holds no byte.
    pub fn is_empty(self) -> bool {
        self.end <= self.start
    }
}

/// Which bytes of its base a view consists of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extent {
    /// Exactly these, all of them: a contiguous slice, a reshape.
    Exactly(ByteRange),
    /// Some of these: a strided slice. Writing the view covers no byte for certain.
    Within(ByteRange),
    /// Some of the base's bytes; it is not known which.
    Anywhere,
}

/// A number of bytes, or a name for one that is known only at run time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Size {
    /// Known.
    Known(Bytes),
    /// Known at run time; equal symbols are equal sizes.
    Symbolic {
        /// The expression in the source's words, such as `4*n`.
        symbol: Box<str>,
        /// It is never more than this.
        bound: Option<Bytes>,
    },
}

impl Size {
    /// The size, or the bound of a symbolic one.
    pub fn upper_bound(&self) -> Option<Bytes> {
        match self {
            Size::Known(bytes) => Some(*bytes),
            Size::Symbolic { bound, .. } => *bound,
        }
    }
}

/// One `alloc` of the program: the unit a plan places.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Site {
    /// The value that names the fresh buffer.
    pub value: ValueId,
    /// Bytes of one slot.
    pub size: Size,
    /// Required alignment of every slot's address.
    pub alignment: Bytes,
    /// The memory space it must live in.
    pub space: SpaceId,
    /// Number of slots; more than one means multi-buffering.
    pub slots: u32,
    /// The loop whose iterations rotate the slots; without one it is the
    /// innermost loop around the alloc.
    pub rotation: Option<OpId>,
    /// Shares bytes with no other buffer.
    pub exclusive: bool,
    /// Filled ahead for the next iterations of its loop: it is in use during all of the loop, as if the loop read it at
    /// its end.
    pub preload: bool,
    /// Sites with the same number must get the same offsets, across functions.
    pub coupled: Option<u64>,
}
