//! Which features generated problems may have.

/// Switches for [`problems`](crate::problems). Everything off gives plain sizes and lifetimes.
///
/// A feature that is on may appear in a generated problem; it need not.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names say it all; the features are documented in memplan-core")]
pub struct Features {
    /// Alignments of buffers and spaces, and base addresses of spaces.
    pub alignments: bool,
    /// Lives of several stretches; between them the bytes may belong to others.
    pub gaps: bool,
    /// Stretches of a life in which only a part of the bytes is in use.
    pub windows: bool,
    /// Buffers whose offset the problem prescribes.
    pub fixed_offsets: bool,
    /// Spaces with a capacity.
    pub capacities: bool,
    /// More than one space.
    pub several_spaces: bool,
    /// Buffers that may live in one of two spaces.
    pub candidate_spaces: bool,
    /// Groups of buffers at fixed distances from each other.
    pub ties: bool,
    /// Pairs that start at the same place.
    pub must_share: bool,
    /// Pairs that have no byte in common, whenever they live.
    pub must_not_share: bool,
    /// Buffers that share bytes with nobody.
    pub exclusive: bool,
    /// Buffers of several copies that are used in rotation.
    pub slots: bool,
    /// Buffers that may start on bytes that another still occupies.
    pub overlays: bool,
    /// An order of execution that is not fixed: which buffer is computed from which.
    pub dependencies: bool,
    /// Buffers of no bytes, and buffers that are never alive.
    pub empty_buffers: bool,
    /// Sizes with components, as those of textures, in all buffers of a problem.
    pub shapes: bool,
    /// Sizes that are only known at run time.
    pub symbols: bool,
}

impl Features {
    /// Plain sizes and lifetimes.
    pub const NONE: Features = Features {
        alignments: false,
        gaps: false,
        windows: false,
        fixed_offsets: false,
        capacities: false,
        several_spaces: false,
        candidate_spaces: false,
        ties: false,
        must_share: false,
        must_not_share: false,
        exclusive: false,
        slots: false,
        overlays: false,
        dependencies: false,
        empty_buffers: false,
        shapes: false,
        symbols: false,
    };

    /// Everything a plan made of offsets with a fixed order of execution can have.
    pub const OFFSETS: Features = Features {
        alignments: true,
        gaps: true,
        windows: true,
        fixed_offsets: true,
        capacities: true,
        several_spaces: true,
        candidate_spaces: true,
        ties: true,
        must_share: true,
        must_not_share: true,
        exclusive: true,
        slots: true,
        overlays: true,
        dependencies: false,
        empty_buffers: true,
        shapes: false,
        symbols: false,
    };

    /// Everything.
    pub const ALL: Features = Features { dependencies: true, symbols: true, shapes: true, ..Features::OFFSETS };

    /// The features that at least one of the two has.
    pub const fn and(&self, other: &Features) -> Features {
        Features {
            alignments: self.alignments || other.alignments,
            gaps: self.gaps || other.gaps,
            windows: self.windows || other.windows,
            fixed_offsets: self.fixed_offsets || other.fixed_offsets,
            capacities: self.capacities || other.capacities,
            several_spaces: self.several_spaces || other.several_spaces,
            candidate_spaces: self.candidate_spaces || other.candidate_spaces,
            ties: self.ties || other.ties,
            must_share: self.must_share || other.must_share,
            must_not_share: self.must_not_share || other.must_not_share,
            exclusive: self.exclusive || other.exclusive,
            slots: self.slots || other.slots,
            overlays: self.overlays || other.overlays,
            dependencies: self.dependencies || other.dependencies,
            empty_buffers: self.empty_buffers || other.empty_buffers,
            shapes: self.shapes || other.shapes,
            symbols: self.symbols || other.symbols,
        }
    }

    /// Each feature of [`Features::OFFSETS`] and dependencies on its own, with its name, after one entry without any
    /// feature. A choice of spaces needs several spaces, so these two come together.
    pub fn one_by_one() -> Vec<(&'static str, Features)> {
        let none = Features::NONE;
        vec![
            ("plain", none),
            ("alignments", Features { alignments: true, ..none }),
            ("gaps", Features { gaps: true, ..none }),
            ("windows", Features { windows: true, ..none }),
            ("fixed offsets", Features { fixed_offsets: true, ..none }),
            ("capacities", Features { capacities: true, ..none }),
            ("several spaces", Features { several_spaces: true, ..none }),
            ("candidate spaces", Features { several_spaces: true, candidate_spaces: true, ..none }),
            ("ties", Features { ties: true, ..none }),
            ("must share", Features { must_share: true, ..none }),
            ("must not share", Features { must_not_share: true, ..none }),
            ("exclusive", Features { exclusive: true, ..none }),
            ("slots", Features { slots: true, ..none }),
            ("overlays", Features { overlays: true, ..none }),
            ("dependencies", Features { dependencies: true, ..none }),
            ("empty buffers", Features { empty_buffers: true, ..none }),
        ]
    }
}
