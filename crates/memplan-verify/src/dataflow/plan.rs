//! What the check needs to know of a plan.

use std::borrow::Cow;
use std::collections::BTreeMap;

use memplan_core::{Bytes, IndexVec, Placement, SpaceId};
use memplan_program::{OpId, Program, SiteId};

/// A placement for each allocation site of a program.
///
/// Spaces are only names for separate memories. A space may belong to a scope
/// op: then each instance of that op (each iteration of a parallel loop, each
/// launch of an asynchronous region) has a copy of its own. Spaces without an
/// owner exist once.
#[derive(Clone, Debug, Default)]
pub struct SitePlan {
    /// Where each site lives; a site without a placement gets fresh memory of
    /// its own every time it is allocated.
    pub placements: IndexVec<SiteId, Option<Placement>>,
    /// The scope op each space belongs to, for those that do.
    pub owners: BTreeMap<SpaceId, OpId>,
}

/// A [`SitePlan`], or one whose parts somebody else keeps. A plan may have a million placements, so whoever keeps them
/// in another form of plan lends them to the check and does not copy them.
#[derive(Clone, Debug)]
pub struct SitePlanView<'a> {
    /// As [`SitePlan::placements`].
    pub placements: Cow<'a, IndexVec<SiteId, Option<Placement>>>,
    /// As [`SitePlan::owners`].
    pub owners: Cow<'a, BTreeMap<SpaceId, OpId>>,
}

impl<'a> SitePlanView<'a> {
    /// Placements in spaces that exist once.
    pub fn without_owners(placements: &'a IndexVec<SiteId, Option<Placement>>) -> SitePlanView<'a> {
        SitePlanView { placements: Cow::Borrowed(placements), owners: Cow::Owned(BTreeMap::new()) }
    }
}

impl From<SitePlan> for SitePlanView<'_> {
    fn from(plan: SitePlan) -> Self {
        SitePlanView { placements: Cow::Owned(plan.placements), owners: Cow::Owned(plan.owners) }
    }
}

impl<'a> From<&'a SitePlan> for SitePlanView<'a> {
    fn from(plan: &'a SitePlan) -> Self {
        SitePlanView { placements: Cow::Borrowed(&plan.placements), owners: Cow::Borrowed(&plan.owners) }
    }
}

impl SitePlan {
    /// A plan that places nothing: every buffer keeps its own memory.
    pub fn empty(program: &Program) -> SitePlan {
        SitePlan { placements: IndexVec::filled(None, program.sites().len()), owners: BTreeMap::new() }
    }

    /// The same plan with one site (or one more) placed in its own space at an offset.
    pub fn place(mut self, program: &Program, site: SiteId, offset: u64) -> SitePlan {
        self.placements[site] = Some(Placement::at(program.site(site).space, Bytes(offset)));
        self
    }
}
