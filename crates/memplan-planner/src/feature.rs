//! What a problem asks of a strategy beyond sizes and lifetimes.

use memplan_core::{BufferId, Id, Name, Problem, Size};

use crate::Assign;

/// A feature of a problem that a strategy may not be able to honour.
///
/// Permissions are not features: a strategy that never overlays buffers, or
/// ignores pipe classes and loops, still makes valid plans.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Feature {
    /// Alignments above 1.
    Alignment,
    /// Lives with gaps.
    Gaps,
    /// Stretches in which only a window of a buffer is alive.
    Windows,
    /// Buffers with a given offset.
    FixedOffsets,
    /// Buffers that share with nobody.
    Exclusive,
    /// Multi-buffering.
    Slots,
    /// Tie groups.
    Ties,
    /// Pairs that must share.
    MustShare,
    /// Pairs that must not share.
    MustNotShare,
    /// Pairs that share at a price.
    ReuseCosts,
    /// An order of execution that is not fixed.
    Dependencies,
    /// More than one space in use.
    SeveralSpaces,
    /// Buffers that may choose their space.
    CandidateSpaces,
    /// Sizes with several components.
    Shapes,
    /// Sizes only known at run time, without an upper bound.
    UnboundedSymbols,
    /// Sizes only known at run time, with an upper bound.
    BoundedSymbols,
}

impl Feature {
    /// All features.
    pub const ALL: [Feature; 16] = [
        Feature::Alignment,
        Feature::Gaps,
        Feature::Windows,
        Feature::FixedOffsets,
        Feature::Exclusive,
        Feature::Slots,
        Feature::Ties,
        Feature::MustShare,
        Feature::MustNotShare,
        Feature::ReuseCosts,
        Feature::Dependencies,
        Feature::SeveralSpaces,
        Feature::CandidateSpaces,
        Feature::Shapes,
        Feature::UnboundedSymbols,
        Feature::BoundedSymbols,
    ];

    /// The feature in a user's words.
    pub fn describe(self) -> &'static str {
        match self {
            Feature::Alignment => "alignments above 1",
            Feature::Gaps => "lifetimes with gaps",
            Feature::Windows => "windows of live bytes",
            Feature::FixedOffsets => "fixed offsets",
            Feature::Exclusive => "exclusive buffers",
            Feature::Slots => "buffers with several slots",
            Feature::Ties => "tie groups",
            Feature::MustShare => "pairs that must share",
            Feature::MustNotShare => "pairs that must not share",
            Feature::ReuseCosts => "reuse costs (pairs that share at a price)",
            Feature::Dependencies => "dependencies (an order of execution that is not fixed)",
            Feature::SeveralSpaces => "several memory spaces",
            Feature::CandidateSpaces => "buffers with a choice of spaces",
            Feature::Shapes => "sizes with several components",
            Feature::UnboundedSymbols => "symbolic sizes without an upper bound",
            Feature::BoundedSymbols => "symbolic sizes",
        }
    }

    /// The features a problem has, each with the first buffer that has it (if it
    /// belongs to one), in the order of [`Feature::ALL`].
    pub fn of(problem: &Problem) -> Vec<(Feature, Option<BufferId>)> {
        // By feature: `None` if it was not found, `Some(None)` if it belongs to no buffer. First the features that are
        // relations between buffers; those of single buffers follow.
        let mut found = Feature::ALL.map(|feature| feature.in_relations(problem));
        // One pass over the buffers for all features: there may be very many.
        for id in problem.buffers().ids() {
            for (feature, found) in Feature::ALL.iter().zip(&mut found) {
                if found.is_none() && feature.is_in(problem, id) {
                    *found = Some(Some(id));
                }
            }
        }
        Feature::ALL.into_iter().zip(found).filter_map(|(feature, found)| Some((feature, found?))).collect()
    }

    /// For features that are relations between buffers: whether the problem has one, and the first buffer concerned,
    /// if it is about certain buffers. `None` for all other features.
    fn in_relations(self, problem: &Problem) -> Option<Option<BufferId>> {
        match self {
            Feature::MustShare => problem.must_share().first().map(|pair| Some(pair.0)),
            Feature::MustNotShare => problem.must_not_share().first().map(|pair| Some(pair.0)),
            Feature::ReuseCosts => problem.reuse_costs().iter().find(|pair| pair.weight > 0).map(|pair| Some(pair.one)),
            Feature::Dependencies => problem.dependencies().map(|_| None),
            _ => None,
        }
    }

    /// Whether a buffer on its own has the feature.
    fn is_in(self, problem: &Problem, id: BufferId) -> bool {
        let buffer = &problem.buffers()[id];
        match self {
            Feature::Alignment => buffer.spaces.iter().any(|&space| problem.alignment_in(id, space).0 > 1),
            Feature::Gaps => buffer.lifetime.intervals().len() > 1,
            Feature::Windows => buffer.lifetime.intervals().any(|interval| interval.window.is_some()),
            Feature::FixedOffsets => buffer.fixed().is_some(),
            Feature::Exclusive => buffer.exclusive,
            Feature::Slots => buffer.slots > 1,
            Feature::Ties => buffer.tie().is_some(),
            Feature::MustShare | Feature::MustNotShare | Feature::ReuseCosts | Feature::Dependencies => false,
            // More than one space is in use if a buffer has a space other than the first buffer's.
            Feature::SeveralSpaces => {
                let home = problem.buffers()[BufferId::from_index(0)].spaces[0];
                buffer.spaces.iter().any(|&space| space != home)
            }
            Feature::CandidateSpaces => buffer.spaces.len() > 1,
            Feature::Shapes => matches!(buffer.size, Size::Shape(_)),
            Feature::UnboundedSymbols => matches!(buffer.size, Size::Symbolic { at_most: None, .. }),
            Feature::BoundedSymbols => matches!(buffer.size, Size::Symbolic { at_most: Some(_), .. }),
        }
    }
}

/// Why a strategy does not take a problem.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the messages say what the fields are")]
pub enum Refusal {
    #[error("strategy `{strategy}` does not support {}{}; `auto` does", .feature.describe(), at(.buffer))]
    Feature { strategy: &'static str, feature: Feature, buffer: Option<Name> },
    #[error("strategy `{strategy}` does not make {kind}")]
    Assign { strategy: &'static str, kind: &'static str },
    #[error("strategy `{strategy}` takes at most {limit}")]
    Limit { strategy: &'static str, limit: String },
    #[error(
        "no strategy makes {} for {}{}; {}",
        .kind.describe(), .feature.describe(), at(.buffer), instead(*.kind, *.feature)
    )]
    Nobody { kind: Assign, feature: Feature, buffer: Option<Name> },
}

/// What to ask for where no strategy makes this kind of plan.
fn instead(kind: Assign, feature: Feature) -> &'static str {
    match (kind, feature) {
        (Assign::Offsets, Feature::UnboundedSymbols) => "ask for shared objects, or give an upper bound",
        (Assign::Offsets, _) => "ask for shared objects",
        (Assign::Objects, _) => "ask for offsets",
    }
}

/// The buffer concerned, as the end of a message. Records without a name are called by their number, so for a name
/// that is a number the message says from where it is counted.
fn at(buffer: &Option<Name>) -> String {
    match buffer {
        Some(name) if !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_digit()) => {
            format!(" (buffer `{name}`; records without a name are numbered from 0)")
        }
        Some(name) => format!(" (buffer `{name}`)"),
        None => String::new(),
    }
}
