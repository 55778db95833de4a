//! Which concats are merged: their operands written to their places in the result.
//!
//! A merged operand lies in the result of one concat only, so results with
//! operands inside them, and those inside others, form trees:
//!
//! ```text
//!   r = concat(a, b)      |a.....|b...|            a at 0, b at 6 of r
//!   s = concat(r, c)      |r..........|c....|      r at 0, c at 11 of s
//!                         |s................|      the tree's top
//! ```
//!
//! An operand must be a whole tensor (perhaps in another shape). If it were a slice of a
//! tensor, the other bytes of that tensor would lie on the operands beside it. A tensor is
//! written by the op that makes it and by no other, so every such tree is correct, however
//! often the operands are read. (Tensors that an op changes in place are not merged.)

use std::collections::{BTreeMap, HashSet};

use memplan_core::{Id, IndexVec};

use super::areas::Areas;
use super::network::{Action, Concat, Network, Role, TensorId};

/// A choice of concats to merge, with the trees that follow from it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Merges {
    /// For each concat of the network whether it is merged.
    pub merged: Vec<bool>,
    /// For each tensor the result it lies in, and the byte at which it begins there; `None` if it lies in none.
    parents: IndexVec<TensorId, Option<(TensorId, u64)>>,
}

/// A tensor's place in its tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Place {
    /// The outermost result of the tree. A tensor that is in no tree is its own top.
    pub(super) top: TensorId,
    /// Bytes from the top's start to the tensor's.
    pub(super) at: u64,
}

/// Knows which concats may be merged at all.
pub(super) struct Mergeable<'a> {
    network: &'a Network,
    areas: &'a Areas,
    /// Tensors that an op changes in place.
    updated: HashSet<TensorId>,
    /// *Lodgers*: tensors whose prescribed place (*home*) is also that of another tensor, such as an output in the
    /// place of an input.
    lodgers: HashSet<TensorId>,
}

impl<'a> Mergeable<'a> {
    pub(super) fn new(network: &'a Network, areas: &'a Areas) -> Mergeable<'a> {
        let updates = network.steps.iter().filter(|step| step.action == Action::Update);
        let updated = updates.flat_map(|step| &step.writes).map(|&tensor| network.root(tensor).0).collect();
        Mergeable { network, areas, updated, lodgers: lodgers(areas) }
    }

    /// The tensors in whose memory a concat's operands lie, with their places in the result; `None` if the concat
    /// cannot be merged. An operand can lie in the result if it is a whole tensor and not a part of one, is an
    /// operand of this concat only once, has no prescribed address, is no workspace, and is not changed in place. The
    /// result must not share its prescribed place with another tensor, and must not be changed in place either.
    fn operands(&self, concat: &Concat) -> Option<Vec<(TensorId, u64)>> {
        let mut seen = HashSet::new();
        let mut operands = Vec::with_capacity(concat.operands.len());
        for &(operand, place) in &concat.operands {
            let (root, at) = self.network.root(operand);
            let tensor = &self.network.tensors[root];
            let whole = at == 0 && tensor.bytes == self.network.tensors[operand].bytes;
            let free = !self.areas.homes.contains_key(&root) && !self.updated.contains(&root);
            if !whole || !free || tensor.role == Role::Workspace || !seen.insert(root) {
                return None;
            }
            operands.push((root, place));
        }
        // The operands are written to the result's place before the result is complete. If another tensor has the same
        // place, it may still be needed then.
        let free = !self.lodgers.contains(&concat.result) && !self.updated.contains(&concat.result);
        free.then_some(operands)
    }

    /// Merges concats in the given order (numbers of [`Network::concats`]). A concat is left out if it cannot be
    /// merged, or if one of its operands lies in the result of an earlier one: a tensor has one place.
    pub(super) fn merge(&self, order: impl IntoIterator<Item = usize>) -> Merges {
        let mut merges = Merges::none(self.network);
        for index in order {
            let Some(operands) = self.operands(&self.network.concats[index]) else { continue };
            if operands.iter().any(|&(root, _)| merges.parents[root].is_some()) {
                continue;
            }
            for (root, place) in operands {
                merges.parents[root] = Some((self.network.concats[index].result, place));
            }
            merges.merged[index] = true;
        }
        merges
    }

    /// The same merges without that of concat `index`.
    pub(super) fn without(&self, merges: &Merges, index: usize) -> Merges {
        let others = (0..self.network.concats.len()).filter(|&other| merges.merged[other] && other != index);
        self.merge(others)
    }

    /// The merges that today's compilers of these chips would make.
    pub(super) fn as_today(&self) -> Merges {
        let uses = use_counts(self.network);
        let mut taken: HashSet<TensorId> = HashSet::new();
        let mut chosen = Vec::new();
        for (index, concat) in self.network.concats.iter().enumerate() {
            let ok = self.is_merged_today(concat, &uses, &taken);
            if ok {
                taken.extend(concat.operands.iter().map(|&(operand, _)| self.network.root(operand).0));
                chosen.push(index);
            }
        }
        self.merge(chosen)
    }

    /// Whether today's compilers would merge a concat. Their conditions: the result has no prescribed address, at most
    /// two operands are used more than once, and no operand is itself the result of a concat, an operand of a concat
    /// merged before, or a reshape (except for a first operand that nothing else uses).
    fn is_merged_today(&self, concat: &Concat, uses: &IndexVec<TensorId, usize>, taken: &HashSet<TensorId>) -> bool {
        let network = self.network;
        let Some(operands) = self.operands(concat) else { return false };
        if self.areas.homes.contains_key(&concat.result) {
            return false;
        }
        let many = operands.iter().filter(|&&(root, _)| uses[root] > 1).count();
        // Whether an operand meets the conditions on operands.
        let plain = |(position, &(operand, _)): (usize, &(TensorId, u64))| {
            let (root, _) = network.root(operand);
            let defined = network.steps.get(network.tensors[operand].defined).map(|step| step.action);
            let reshaped = root != operand;
            defined != Some(Action::Concat)
                && (!reshaped || (position == 0 && uses[root] == 1))
                && !taken.contains(&root)
        };
        many <= 2 && concat.operands.iter().enumerate().all(plain)
    }
}

/// Tensors that have the same prescribed place as another tensor.
fn lodgers(areas: &Areas) -> HashSet<TensorId> {
    let mut counts: BTreeMap<(usize, u64), usize> = BTreeMap::new();
    areas.homes.values().for_each(|home| *counts.entry((home.area, home.at)).or_default() += 1);
    let shared = areas.homes.iter().filter(|(_, home)| counts[&(home.area, home.at)] > 1);
    shared.map(|(&tensor, _)| tensor).collect()
}

/// How many times each tensor is an operand. A call is no use: the op in the called function is.
fn use_counts(network: &Network) -> IndexVec<TensorId, usize> {
    let mut uses = IndexVec::filled(0, network.tensors.len());
    for step in network.steps.iter().filter(|step| step.action != Action::Call) {
        step.reads.iter().for_each(|&tensor| uses[tensor] += 1);
    }
    uses
}

impl Merges {
    /// The choice to merge no concat.
    pub(super) fn none(network: &Network) -> Merges {
        let parents = IndexVec::filled(None, network.tensors.len());
        Merges { merged: vec![false; network.concats.len()], parents }
    }

    /// Whether a tensor lies in the result of a concat.
    pub(super) fn is_inner(&self, tensor: TensorId) -> bool {
        self.parents[tensor].is_some()
    }

    /// Where each tensor lies, counted from the start of the outermost result of its tree.
    pub(super) fn places(&self) -> IndexVec<TensorId, Place> {
        let mut places: IndexVec<TensorId, Place> = self.parents.ids().map(|top| Place { top, at: 0 }).collect();
        // Results come after their operands: from the last tensor backwards, a
        // parent's place is known before it is asked for.
        for index in (0..self.parents.len()).rev() {
            let id = TensorId::from_index(index);
            if let Some((parent, at)) = self.parents[id] {
                let Place { top, at: outer } = places[parent];
                places[id] = Place { top, at: outer + at };
            }
        }
        places
    }
}
