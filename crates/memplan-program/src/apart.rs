//! Buffers that must not share memory, whatever a planner thinks.
//!
//! When the dataflow check rejects a plan it names buffers. The driver remembers
//! them here and plans again, so every collector asks an [`Apart`] before it lets
//! two allocation sites share bytes:
//!
//! ```
//! use memplan_core::Id;
//! use memplan_program::{Apart, SiteId};
//! let [a, b, c] = [0, 1, 2].map(SiteId::from_index);
//! let mut apart = Apart::default();
//! assert!(apart.add_pair(b, a) && !apart.add_pair(a, b), "the second time it is known");
//! assert!(apart.contains(a, b) && !apart.contains(a, c));
//! apart.add_alone(c);
//! assert!(apart.contains(a, c) && apart.is_alone(c));
//! ```

use std::collections::BTreeSet;

use crate::SiteId;

/// Pairs of sites that must not share a byte, and sites that share with nobody.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Apart {
    /// Each pair with the smaller site first.
    pairs: BTreeSet<(SiteId, SiteId)>,
    /// The sites that share with nobody.
    alone: BTreeSet<SiteId>,
}

impl Apart {
    /// Keeps two sites apart; whether that is new. A site is never apart from itself.
    pub fn add_pair(&mut self, one: SiteId, other: SiteId) -> bool {
        one != other && self.pairs.insert((one.min(other), one.max(other)))
    }

    /// Keeps a site apart from all others; whether that is new.
    pub fn add_alone(&mut self, site: SiteId) -> bool {
        self.alone.insert(site)
    }

    /// Whether the two must not share a byte.
    pub fn contains(&self, one: SiteId, other: SiteId) -> bool {
        one != other
            && (self.is_alone(one) || self.is_alone(other) || self.pairs.contains(&(one.min(other), one.max(other))))
    }

    /// Whether a site shares with nobody.
    pub fn is_alone(&self, site: SiteId) -> bool {
        self.alone.contains(&site)
    }

    /// The pairs, each with the smaller site first.
    pub fn pairs(&self) -> impl Iterator<Item = (SiteId, SiteId)> {
        self.pairs.iter().copied()
    }

    /// The sites that share with nobody.
    pub fn alone(&self) -> impl Iterator<Item = SiteId> {
        self.alone.iter().copied()
    }

    /// Whether any two buffers may share.
    pub fn is_empty(&self) -> bool {
        self.pairs.is_empty() && self.alone.is_empty()
    }
}
