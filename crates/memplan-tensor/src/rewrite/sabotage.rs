//! Mistakes of the original, to be made on purpose in tests: each must be caught. Outside tests nothing here is ever on.

/// A mistake.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mistake {
    /// In place without proof: elements written twice, sources overwritten.
    UnprovedInPlace,
    /// Hoisting an allocation beyond the loop that defines its extent.
    HoistedExtent,
    /// Retyping an allocation to the narrower type of its accesses, extent unchanged.
    NarrowedAllocation,
    /// Forgetting that the address of an element is a use of the buffer.
    AddressIsNoUse,
    /// A bare address inside a merged block without its offset.
    BareAddress,
    /// Offsets in a block aligned to 32 bits only.
    IndivisibleOffset,
    /// Sharing the private buffer of a parallel loop among its iterations.
    SharedPrivate,
    /// Sizes in bits that wrap around.
    WrappedSize,
    /// Offsets of vector buffers counted in lanes.
    VectorOffset,
    /// Lifetimes that end with the first statement of a loop that touches a buffer from outside.
    ShortLifetime,
}

pub(super) use switch::makes;
#[cfg(test)]
pub(super) use switch::making;

#[cfg(not(test))]
mod switch {
    use super::Mistake;

    /// Never.
    pub(in crate::rewrite) const fn makes(_: Mistake) -> bool {
        false
    }
}

#[cfg(test)]
mod switch {
    use super::Mistake;
    use std::cell::Cell;

    thread_local! {
        static MADE: Cell<Option<Mistake>> = const { Cell::new(None) };
    }

    /// Whether to make this mistake now.
    pub(in crate::rewrite) fn makes(mistake: Mistake) -> bool {
        MADE.get() == Some(mistake)
    }

    /// Runs `action` making one mistake.
    pub(in crate::rewrite) fn making<T>(mistake: Mistake, action: impl FnOnce() -> T) -> T {
        MADE.set(Some(mistake));
        let result = action();
        MADE.set(None);
        result
    }
}
