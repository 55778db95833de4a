//! What the check finds, with its witnesses.

use memplan_core::{Bytes, Id};
use memplan_program::{ByteRange, OpId, Program, SiteId, ValueId};

/// A way in which a plan changes what the program means.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Violation {
    /// An op reads bytes that something else may have overwritten.
    Overwritten {
        /// The reading op. For a preloaded buffer, its loop.
        op: OpId,
        /// The value read.
        value: ValueId,
        /// The buffer it is (or may be).
        site: SiteId,
        /// Bytes of that buffer.
        bytes: ByteRange,
        /// The op that overwrote them.
        by: OpId,
        /// A way from the overwriting op to the reading op.
        path: Vec<Waypoint>,
    },
    /// An op writes an output over an input it reads, without permission.
    OwnInput {
        /// The op.
        op: OpId,
        /// What it writes.
        output: ValueId,
        /// What it reads.
        input: ValueId,
        /// The input's buffer.
        site: SiteId,
        /// Bytes of the input's buffer.
        bytes: ByteRange,
    },
    /// An op writes two values onto the same bytes.
    OutputsOverlap {
        /// The op.
        op: OpId,
        /// One output.
        first: ValueId,
        /// The other.
        second: ValueId,
        /// The other output's buffer.
        site: SiteId,
        /// Bytes of that buffer.
        bytes: ByteRange,
    },
    /// A buffer whose holder may use it at any time is overwritten, or shares
    /// bytes with another such buffer.
    EscapedOverwritten {
        /// The op that overwrites it or lets the other one escape.
        op: OpId,
        /// The buffer.
        site: SiteId,
        /// Its bytes.
        bytes: ByteRange,
    },
    /// Slices of different iterations of a parallel loop share bytes.
    IterationsOverlap {
        /// The parallel op.
        op: OpId,
        /// Whose slices (one site twice: its own in two iterations).
        sites: (SiteId, SiteId),
    },
    /// Two ops of a dag are in no order, but their buffers share bytes or are
    /// one buffer.
    Unordered {
        /// The dag.
        dag: OpId,
        /// An op that uses the one buffer.
        first: OpId,
        /// An op that writes the other.
        second: OpId,
        /// The two buffers; equal for two accesses to one buffer.
        sites: (SiteId, SiteId),
    },
    /// Two slots of one buffer share bytes.
    SlotsOverlap {
        /// The buffer.
        site: SiteId,
        /// Which slots.
        slots: (u32, u32),
    },
    /// A buffer is in memory that belongs to an op it is not allocated in.
    ForeignScope {
        /// The buffer.
        site: SiteId,
        /// The op that owns the memory.
        scope: OpId,
    },
    /// A buffer, or its slice of some iteration, is not at a multiple of the
    /// alignment that the program's accesses to it rely on.
    Misaligned {
        /// The buffer.
        site: SiteId,
        /// The offset, or the distance between iterations, that is no multiple.
        distance: Bytes,
    },
    /// A buffer has fewer offsets than slots.
    TooFewSlots {
        /// The buffer.
        site: SiteId,
        /// How many offsets it has.
        offsets: usize,
    },
    /// A buffer that the program wants to itself shares bytes with another one.
    ExclusiveShared {
        /// The two, the exclusive one first.
        sites: (SiteId, SiteId),
    },
    /// A slot reaches beyond the end of its memory.
    OutOfMemory {
        /// The buffer.
        site: SiteId,
        /// Where the slot ends.
        end: Bytes,
        /// Where the memory ends.
        capacity: Bytes,
    },
}

/// A point on a path through the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Waypoint {
    /// This op runs.
    Op(OpId),
    /// Control enters a region of the op.
    Enter(OpId),
    /// The loop begins another iteration.
    Again(OpId),
    /// Control leaves the op.
    Leave(OpId),
    /// None of the op's regions runs.
    Skip(OpId),
}

impl Violation {
    /// The op to blame, if it is one op.
    pub fn op(&self) -> Option<OpId> {
        match self {
            Violation::Overwritten { op, .. }
            | Violation::OwnInput { op, .. }
            | Violation::OutputsOverlap { op, .. }
            | Violation::EscapedOverwritten { op, .. }
            | Violation::IterationsOverlap { op, .. } => Some(*op),
            Violation::Unordered { second, .. } => Some(*second),
            Violation::ForeignScope { scope, .. } => Some(*scope),
            Violation::SlotsOverlap { .. }
            | Violation::Misaligned { .. }
            | Violation::TooFewSlots { .. }
            | Violation::ExclusiveShared { .. }
            | Violation::OutOfMemory { .. } => None,
        }
    }

    /// The kind's stable name, for machines.
    pub fn code(&self) -> &'static str {
        match self {
            Violation::Overwritten { .. } => "dataflow::overwritten",
            Violation::OwnInput { .. } => "dataflow::own-input",
            Violation::OutputsOverlap { .. } => "dataflow::outputs-overlap",
            Violation::EscapedOverwritten { .. } => "dataflow::escaped-overwritten",
            Violation::IterationsOverlap { .. } => "dataflow::iterations-overlap",
            Violation::Unordered { .. } => "dataflow::unordered",
            Violation::SlotsOverlap { .. } => "dataflow::slots-overlap",
            Violation::TooFewSlots { .. } => "dataflow::too-few-slots",
            Violation::Misaligned { .. } => "dataflow::misaligned",
            Violation::ForeignScope { .. } => "dataflow::foreign-scope",
            Violation::ExclusiveShared { .. } => "dataflow::exclusive-shared",
            Violation::OutOfMemory { .. } => "dataflow::out-of-memory",
        }
    }

    /// The violation as a sentence.
    pub fn describe(&self, program: &Program) -> String {
        let names = Names(program);
        match self {
            Violation::Overwritten { op, value: v, site: s, bytes, by, path } => {
                let way = path.iter().map(|point| point.describe(program)).collect::<Vec<_>>().join(", ");
                // A value that is a view of a buffer is named together with the buffer: the user looks for the buffer
                // in the plan and for the value in the program.
                let what = if names.value(v) == names.site(s) {
                    names.value(v)
                } else {
                    format!("{} (buffer {})", names.value(v), names.site(s))
                };
                let (op, by, bytes) = (names.op(op), names.op(by), range(bytes));
                format!("{op} reads {what}, whose {bytes} {by} has overwritten; path: {way}")
            }
            Violation::OwnInput { op, output, input, bytes, .. } => {
                let (op, output, input, bytes) = (names.op(op), names.value(output), names.value(input), range(bytes));
                format!("{op} would overwrite its own input: {output} lies over {bytes} of {input}")
            }
            Violation::OutputsOverlap { op, first, second, bytes, .. } => {
                let (op, first, second, bytes) = (names.op(op), names.value(first), names.value(second), range(bytes));
                format!("{op} writes {first} and {second} onto the same bytes ({bytes} of {second})")
            }
            Violation::EscapedOverwritten { op, site: s, bytes } => {
                let (op, s, bytes) = (names.op(op), names.site(s), range(bytes));
                format!("{op} overwrites {bytes} of {s}, which somebody outside may still use")
            }
            Violation::IterationsOverlap { op, sites } => {
                let (op, a, b) = (names.op(op), names.site(&sites.0), names.site(&sites.1));
                format!("in {op}, {a} of one iteration lies on bytes of {b} of another")
            }
            Violation::Unordered { dag, first, second, sites } => {
                let (dag, first, second) = (names.op(dag), names.op(first), names.op(second));
                let (a, b) = (names.site(&sites.0), names.site(&sites.1));
                format!("in {dag}, {first} uses {a} and {second} writes {b} on the same bytes, in no fixed order")
            }
            Violation::SlotsOverlap { site: s, slots } => {
                format!("slots {} and {} of {} share bytes", slots.0, slots.1, names.site(s))
            }
            Violation::ForeignScope { site: s, scope } => {
                format!("{} is placed in memory of {}, which it is not allocated in", names.site(s), names.op(scope))
            }
            Violation::Misaligned { site: s, distance } => {
                let alignment = program.site(*s).alignment;
                format!("{} must lie at multiples of {alignment} bytes, and {distance} is none", names.site(s))
            }
            Violation::TooFewSlots { site: s, offsets } => {
                format!("{} has {offsets} offsets for {} slots", names.site(s), program.site(*s).slots)
            }
            Violation::ExclusiveShared { sites } => {
                format!(
                    "{} is to share with nobody, and {} lies on its bytes",
                    names.site(&sites.0),
                    names.site(&sites.1)
                )
            }
            Violation::OutOfMemory { site: s, end, capacity } => {
                format!("{} ends at {end}, and its memory at {capacity}", names.site(s))
            }
        }
    }
}

impl Waypoint {
    /// A point on the path from the op that overwrote to the op that reads, in words.
    fn describe(self, program: &Program) -> String {
        let names = Names(program);
        match self {
            Waypoint::Op(op) => names.op(&op),
            Waypoint::Enter(op) => format!("into {}", names.op(&op)),
            Waypoint::Again(op) => format!("next iteration of {}", names.op(&op)),
            Waypoint::Leave(op) => format!("out of {}", names.op(&op)),
            Waypoint::Skip(op) => format!("past {}", names.op(&op)),
        }
    }
}

/// What messages call the parts of a program.
struct Names<'a>(&'a Program);

impl Names<'_> {
    fn op(&self, op: &OpId) -> String {
        format!("`{}` (op {})", self.0.op(*op).name, op.index())
    }

    fn value(&self, value: &ValueId) -> String {
        format!("%{}", self.0.value(*value).name)
    }

    /// A buffer has the name of the value that allocates it.
    fn site(&self, site: &SiteId) -> String {
        self.value(&self.0.site(*site).value)
    }
}

fn range(bytes: &ByteRange) -> String {
    format!("bytes {}..{}", bytes.start, bytes.end)
}
