//! Why two models are not known to compute the same.

use super::region::Region;

/// The first thing that the check cannot prove.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Violation {
    /// A description contradicts itself: a tensor that is not there, a dimension out of range.
    #[error("{network} cannot be judged: {why}")]
    Malformed {
        /// Which of the two models.
        network: &'static str,
        /// What is wrong with it.
        why: String,
    },
    /// Inputs, outputs or what else callers see are not the same.
    #[error("callers see another model: {why}")]
    OtherInterface {
        /// What is different.
        why: String,
    },
    /// An op reads a tensor that nothing has written yet.
    #[error("op {op} ({kind}) reads tensor `{tensor}`, which nothing has written yet")]
    ReadTooEarly {
        /// The op of the new model.
        op: usize,
        /// What it does.
        kind: String,
        /// The tensor.
        tensor: String,
    },
    /// A tensor is written twice, or it is an input or a constant and written.
    #[error("op {op} ({kind}) writes tensor `{tensor}`, which has its content from elsewhere")]
    WrittenTwice {
        /// The op of the new model.
        op: usize,
        /// What it does.
        kind: String,
        /// The tensor.
        tensor: String,
    },
    /// No op of the original is known to compute what an op of the new model computes.
    #[error("op {op} ({kind}) writes `{tensor}`, which is not known to be part of the original: {why}")]
    NotDerived {
        /// The op of the new model.
        op: usize,
        /// What it does.
        kind: String,
        /// The tensor that it writes.
        tensor: String,
        /// Why the op of the original that is most like it is not the same.
        why: Mismatch,
    },
    /// Ops with an effect do not run once each, in their order.
    #[error("effects are not those of the original: {why}")]
    OtherEffects {
        /// What is different.
        why: String,
    },
    /// An output is not the whole output of the original.
    #[error("output {output} (`{tensor}`) is not the whole `{original}`: {why}")]
    OtherOutput {
        /// Which output.
        output: usize,
        /// The tensor of the new model.
        tensor: String,
        /// The tensor of the original.
        original: String,
        /// What it is instead.
        why: String,
    },
}

impl Violation {
    /// The stable name of this kind of violation, for machines.
    pub fn code(&self) -> &'static str {
        match self {
            Violation::Malformed { .. } => "equivalence::malformed",
            Violation::OtherInterface { .. } => "equivalence::other-interface",
            Violation::ReadTooEarly { .. } => "equivalence::read-too-early",
            Violation::WrittenTwice { .. } => "equivalence::written-twice",
            Violation::NotDerived { .. } => "equivalence::not-derived",
            Violation::OtherEffects { .. } => "equivalence::other-effects",
            Violation::OtherOutput { .. } => "equivalence::other-output",
        }
    }
}

/// Why an op of the new model is not the op of the original that is most like it. The kinds are in ascending order: two
/// ops that differ in a later kind are more alike, because the checks before it have passed.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, thiserror::Error)]
#[non_exhaustive]
pub enum Mismatch {
    /// The original has no op of this kind that reads what this op reads.
    #[error("no op of the original of this kind reads {operands}")]
    NoSuchOp {
        /// What the operands equal.
        operands: String,
    },
    /// An attribute has another value.
    #[error("its {attribute} is {now} and was {before} in op {like}")]
    Attribute {
        /// The attribute.
        attribute: String,
        /// The op of the original.
        like: usize,
        /// Its value in the new model.
        now: String,
        /// Its value in the original.
        before: String,
    },
    /// Operands are moved in a way that does not make a region of one tensor.
    #[error("{why}")]
    Moved {
        /// What does not fit.
        why: String,
    },
    /// An operand is not the one of the original.
    #[error("operand {operand} is {found}, where op {like} reads {wanted}")]
    Operand {
        /// Which operand.
        operand: usize,
        /// The op of the original.
        like: usize,
        /// What it equals.
        found: String,
        /// What it should equal.
        wanted: String,
    },
    /// The result has another type, quantisation or shape.
    #[error("the result is {now}, where op {like} writes {before}")]
    Result {
        /// The op of the original.
        like: usize,
        /// What it is in the new model.
        now: String,
        /// What it is in the original.
        before: String,
    },
    /// The windows of a tile lie between those of the original.
    #[error("along dimension {axis}, its windows start {off} places off those of op {like}, which are {stride} apart")]
    OffStride {
        /// The dimension.
        axis: usize,
        /// The op of the original.
        like: usize,
        /// How far off.
        off: i64,
        /// How far the original's windows are apart.
        stride: i64,
    },
    /// A window of the original reads a place that the operand does not hold.
    #[error("op {like} reads place {place} of dimension {axis} of `{tensor}` there, and the operand holds {held}")]
    Halo {
        /// The dimension.
        axis: usize,
        /// The op of the original.
        like: usize,
        /// The place.
        place: i64,
        /// The tensor of the original.
        tensor: String,
        /// The part of it that is there.
        held: Region,
    },
    /// A window reads a border whose elements do not count as the op's own padding does.
    #[error("it reads a border of {fill} around `{tensor}`, where op {like} has {neutral}")]
    Border {
        /// The tensor of the original.
        tensor: String,
        /// The op of the original.
        like: usize,
        /// The bytes of an element of the border.
        fill: String,
        /// What would be right.
        neutral: String,
    },
    /// A result reaches beyond the result of the original.
    #[error("it computes {region} of `{tensor}`, which ends before")]
    Outside {
        /// The tensor of the original.
        tensor: String,
        /// Which places.
        region: Region,
    },
}

/// Bytes as hexadecimal digits.
pub(super) fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold("0x".to_owned(), |text, byte| format!("{text}{byte:02x}"))
}
