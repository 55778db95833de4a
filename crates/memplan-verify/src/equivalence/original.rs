//! The original model, prepared for questions: which tensors are equal, which ops read them, and which are parts of
//! others.
//!
//! Slices, borders and concatenations compute nothing. They *link* two tensors: element `p` of one is element `p +
//! shift` of the other. A [`View`] is a region of a tensor, with a *border* value for the places of the region that lie
//! outside of the tensor. A view of one end of a link is a view of the other end, as far as it lies in both. (The field
//! `numbers` of a tensor is its element type and quantisation, as a text.)
//!
//! ```text
//!   x:           0 1 2 3             view of x, rows -1..3, border z
//!   pad(x, 1):   z 0 1 2 3 z         the same as view of pad(x), rows 0..4
//! ```

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::network::{ContentId, Meaning, Network, Op};
use super::region::{Region, View};

/// At most so many views of one tensor are kept. If there are more, the proof may fail although the models are equal;
/// it never succeeds if they are not.
const VIEWS: usize = 64;

/// Two tensors of which one holds the other, as the op between them says. `from` is the operand, `to` the result.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Link {
    from: usize,
    to: usize,
    /// From a place of `from` to the same element of `to`.
    shift: Vec<i64>,
    /// What each element of `to` is that is no element of `from`; `None` if it is not known.
    border: Option<Vec<u8>>,
}

/// The original and what is known about it.
pub(super) struct Original<'a> {
    pub(super) network: &'a Network,
    /// For each tensor, the first tensor with the same content. Views and links name only these first tensors.
    alike: Vec<usize>,
    /// For each first tensor (see `alike`), the ops that read it or a tensor with the same content.
    readers: Vec<Vec<usize>>,
    /// For each first tensor (see `alike`), the links that have it at one end.
    links: Vec<Vec<Link>>,
    /// Constants by type and content.
    constants: HashMap<(&'a str, &'a [i64], ContentId), usize>,
    /// Ops that must run once and in this order.
    pub(super) effects: Vec<usize>,
}

/// What decides what an op computes: its kind, attributes, geometry and meaning, the tensors that it reads, and the
/// type and shape of each result. Two ops for which all of it is equal compute the same.
type Computation<'a> = (
    &'a str,
    &'a BTreeMap<String, String>,
    &'a BTreeMap<String, String>,
    &'a Meaning,
    Vec<Option<usize>>,
    Vec<Option<(&'a str, &'a Option<Vec<i64>>)>>,
);

impl<'a> Original<'a> {
    /// Prepares the original: which tensors are equal, which op reads which, which tensors are parts of others, which
    /// constants there are, and which ops have an effect.
    pub(super) fn new(network: &'a Network) -> Original<'a> {
        let count = network.tensors.len();
        let mut original = Original {
            network,
            alike: (0..count).collect(),
            readers: vec![Vec::new(); count],
            links: vec![Vec::new(); count],
            constants: HashMap::new(),
            effects: Vec::new(),
        };
        original.find_constants();
        original.find_equal_computations();
        original.find_readers();
        original.find_links();
        original
    }

    /// Notes constants with the same type, shape and content as equal. Variables may change and are left out.
    fn find_constants(&mut self) {
        for (index, tensor) in self.network.tensors.iter().enumerate() {
            let (Some(content), Some(shape), false) = (tensor.content, &tensor.shape, tensor.is_variable) else {
                continue;
            };
            let first = *self.constants.entry((&tensor.numbers, shape, content)).or_insert(index);
            self.alike[index] = first;
        }
    }

    /// Finds ops without effects that compute the same thing from equal operands, and notes that their results are
    /// equal. Ops with an effect are listed in their order instead. Ops are in the order of execution, so it is known
    /// which operands are equal when an op is looked at.
    fn find_equal_computations(&mut self) {
        let network = self.network;
        let mut seen: HashMap<Computation, usize> = HashMap::new();
        for (index, op) in network.ops.iter().enumerate() {
            if network.has_effect(op) {
                self.effects.push(index);
                continue;
            }
            // Operands are named by the tensor that stands for them, so that equal operands have equal names.
            let operands = op.operands.iter().map(|operand| operand.map(|tensor| self.alike[tensor])).collect();
            let types = |tensor: usize| (network.tensors[tensor].numbers.as_str(), &network.tensors[tensor].shape);
            let results = op.results.iter().map(|result| result.map(types)).collect();
            let first =
                *seen.entry((&op.kind, &op.attributes, &op.geometry, &op.meaning, operands, results)).or_insert(index);
            for (result, same) in op.results.iter().zip(&network.ops[first].results) {
                if let (Some(result), Some(same)) = (result, same) {
                    self.alike[*result] = self.alike[*same];
                }
            }
        }
    }

    /// Notes for each tensor the ops that read it or one that holds the same; an op that reads it twice counts once.
    fn find_readers(&mut self) {
        for (index, op) in self.network.ops.iter().enumerate() {
            let tensors: BTreeSet<usize> = op.operands.iter().flatten().map(|tensor| self.alike[*tensor]).collect();
            for tensor in tensors {
                self.readers[tensor].push(index);
            }
        }
    }

    /// Enters every link in the lists of both of its tensors, each once: equal ops make equal links, and both ends of a
    /// link may be the same tensor.
    fn find_links(&mut self) {
        for op in &self.network.ops {
            for link in self.links_of(op) {
                for end in [link.from, link.to] {
                    if !self.links[end].contains(&link) {
                        self.links[end].push(link.clone());
                    }
                }
            }
        }
    }

    /// The links that an op makes between its operands and its results: for a slice, element `start + i` of the
    /// operand is element `i` of the result, so the shift is `-start`. An op that contradicts the shapes of its
    /// tensors makes none.
    fn links_of(&self, op: &Op) -> Vec<Link> {
        let mut found = Vec::new();
        match &op.meaning {
            Meaning::Slice { operand, starts } => {
                for (result, start) in op.results.iter().zip(starts) {
                    let from = op.operands.get(*operand).copied().flatten();
                    let shift = start.iter().map(|start| start.saturating_neg()).collect();
                    found.extend(self.link(from, *result, shift, None));
                }
            }
            Meaning::Pad { before, fill } => {
                let (from, to) = (op.operands.first().copied().flatten(), op.results.first().copied().flatten());
                found.extend(self.link(from, to, before.clone(), Some(fill.clone())));
            }
            Meaning::Concat { axis } => {
                let to = op.results.first().copied().flatten();
                // Where the next operand starts in the result, along the axis.
                let mut offset = 0;
                for from in &op.operands {
                    // An operand of unknown shape makes the offsets of all later operands unknown, so the op makes no
                    // link at all.
                    let Some(source) = from.and_then(|from| self.whole(from)) else { return Vec::new() };
                    let Some(extent) = source.extent.get(*axis) else { return Vec::new() };
                    let shift =
                        (0..source.rank()).map(|dimension| if dimension == *axis { offset } else { 0 }).collect();
                    found.extend(self.link(*from, to, shift, None));
                    offset += extent;
                }
            }
            Meaning::Opaque | Meaning::Pointwise | Meaning::Window(_) => {}
        }
        found
    }

    /// The link between an operand and a result. `None` if one of them is not there or has no known shape, if their
    /// element types or quantisations (`numbers`) differ, if `shift` has another rank than the operand, or if neither
    /// lies inside of the other.
    fn link(&self, from: Option<usize>, to: Option<usize>, shift: Vec<i64>, border: Option<Vec<u8>>) -> Option<Link> {
        let (from, to) = (from?, to?);
        let tensors = &self.network.tensors;
        let (source, target) = (self.whole(from)?, self.whole(to)?);
        // A link says that two elements are the same. Elements of different types or quantisations (`numbers`) are not,
        // and a shift of another rank says nothing about the operand.
        if tensors[from].numbers != tensors[to].numbers || shift.len() != source.rank() {
            return None;
        }
        let source = source.shifted(&shift);
        // The operand, at its place in the result, must lie inside of the result (a border, a concatenation) or contain
        // it (a slice). A partial overlap would mean that the shapes contradict the op.
        let is_inside = source.is_inside(&target) || target.is_inside(&source);
        is_inside.then(|| Link { from: self.alike(from), to: self.alike(to), shift, border })
    }

    /// The first tensor that holds the same.
    pub(super) fn alike(&self, tensor: usize) -> usize {
        self.alike[tensor]
    }

    /// The ops that read a tensor or one that holds the same.
    pub(super) fn readers(&self, tensor: usize) -> &[usize] {
        &self.readers[tensor]
    }

    /// All places of a tensor, if its shape is known.
    pub(super) fn whole(&self, tensor: usize) -> Option<Region> {
        self.network.tensors[tensor].shape.as_deref().map(Region::whole)
    }

    /// All places of a tensor. One of unknown shape has no place that could be named, and is only ever looked at whole.
    pub(super) fn all(&self, tensor: usize) -> Region {
        self.whole(tensor).unwrap_or_else(|| Region::whole(&[]))
    }

    /// The constant of the original with this type, shape and content.
    pub(super) fn constant(&self, numbers: &str, shape: &[i64], content: ContentId) -> Option<usize> {
        self.constants.get(&(numbers, shape, content)).copied()
    }

    /// The views, and all views that follow from them by links, at most [`VIEWS`] of them. If there are more, those
    /// that take more links are dropped, because the search goes breadth first.
    pub(super) fn closure(&self, views: Vec<View>) -> Vec<View> {
        let mut found: Vec<View> = Vec::new();
        let mut is_found = BTreeSet::new();
        // `pending` are the views whose links have not been followed yet.
        let mut pending: std::collections::VecDeque<View> = views.into();
        while let Some(view) = pending.pop_front() {
            if found.len() >= VIEWS || !is_found.insert(view.clone()) {
                continue;
            }
            for link in &self.links[view.tensor] {
                pending.extend((link.from == view.tensor).then(|| self.forward(&view, link)).flatten());
                pending.extend((link.to == view.tensor).then(|| self.backward(&view, link)).flatten());
            }
            found.push(view);
        }
        found
    }

    /// A view of a link's `from` as one of its `to`; `None` if it is none, or that is not known.
    fn forward(&self, view: &View, link: &Link) -> Option<View> {
        // Everything is counted in places of `to`: the view's region, all of `from` (`source`) and all of `to`.
        let region = view.region.shifted(&link.shift);
        let (source, target) = (self.whole(link.from)?.shifted(&link.shift), self.whole(link.to)?);
        // The view holds an element of `from` that `to` does not have. In `to` it would look like border.
        if !region.meet(&source).is_inside(&target) {
            return None;
        }
        // The view has border where `to` has elements. Those elements must hold exactly the border's value.
        if !region.meet(&target).is_inside(&source) && (link.border.is_none() || link.border != view.fill) {
            return None;
        }
        let fill = if region.is_inside(&target) { None } else { Some(view.fill.clone()?) };
        Some(View { tensor: link.to, region, fill })
    }

    /// A view of a link's `to` as one of its `from`; `None` if it is none, or that is not known.
    fn backward(&self, view: &View, link: &Link) -> Option<View> {
        // Everything is counted in places of `from`: the view's region, all of `to` (`source`) and all of `from`.
        let back: Vec<i64> = link.shift.iter().map(|shift| shift.saturating_neg()).collect();
        let region = view.region.shifted(&back);
        let (source, target) = (self.whole(link.to)?.shifted(&back), self.whole(link.from)?);
        // The view has border where `from` has elements, and the link does not say what those elements are.
        if !region.meet(&target).is_inside(&source) {
            return None;
        }
        // Elements of `to` that are none of `from` become border (`from_link`), together with what was border before
        // (`from_view`). A view has one value for all of its border, so the two must be the same value.
        let from_link = !region.meet(&source).is_inside(&target);
        let from_view = !region.is_inside(&source);
        let fill = match (from_link, from_view) {
            (false, false) => None,
            (true, false) => Some(link.border.clone()?),
            (false, true) => Some(view.fill.clone()?),
            (true, true) if link.border == view.fill => Some(link.border.clone()?),
            (true, true) => return None,
        };
        Some(View { tensor: link.from, region, fill })
    }
}
