//! Does a changed model compute the same as the original?
//!
//! A model that does not fit is changed until it does: ops run in another order, run twice so that a result need not be
//! kept, or run tile by tile. This check takes both models and proves of every tensor of the new one *which region of
//! which tensor of the original* it equals, element for element. It knows nothing of how the change was made.
//!
//! ```text
//!   original, rows of a 3x3 convolution with stride 1 that pads one row on each side (z: zero point):
//!
//!     x   z│ 0 1 2 3 4 5 │z
//!     y     │ 0 1 2 3 4 5 │            y = conv(x), row i from rows i-1, i, i+1
//!
//!   changed: two tiles, no padding in the convolutions
//!
//!     a = slice(x, 0..4)                       x[0..4]
//!     b = pad(a, one row of z in front)        x[-1..4], with z outside of x
//!     c = conv(b)                              y[0..3]: its first window starts at row -1, as that of y's row 0 does
//!     d = slice(x, 2..6)                       x[2..6]
//!     e = pad(d, one row of z behind)          x[2..7], with z outside of x
//!     f = conv(e)                              y[3..6]
//!     g = concat(c, f)                         y[0..3] and y[3..6] touch: y[0..6], all of y
//! ```
//!
//! A *view* is such a region: places of a tensor of the original, with the value of its border if it reaches beyond
//! that tensor. A tensor may equal several views. An op of the new model, with the views of its operands, is a
//! *candidate*; `like` is the number of the op of the original that it is compared with.
//!
//! One pass over the new model's ops, in their order, is enough:
//!
//! 1. Inputs equal the original's inputs, constants equal constants with the same bytes, shape, type and quantisation.
//! 2. Slices, borders and concatenations move regions ([`moves`]). A border may only be added where the original
//!    tensor has no elements.
//! 3. Any other op is looked for among the ops of the original that read the same tensors: its kind and all attributes
//!    must be the same. On whole operands its results are the whole results. On regions, what is known about its window
//!    says which region of the result it is, and that each window reads what the original's window reads: an element
//!    where the original reads an element, and padding, or an element with the same effect as padding, where the
//!    original reads padding.
//! 4. Ops with an effect run as often as in the original and in the same order, on whole operands.
//! 5. In the end each output must equal the whole output of the original.
//!
//! What cannot be proved is refused, so that a wrong model never passes and a right one may fail: regions of ops of
//! which only the kind is known, steps other than 1 in slices, borders made of anything but one value, tensors of
//! unknown shape.
//!
//! *Equal* means: the same kernel on the same elements, plus terms of exactly zero where a border stands for padding.
//! For integers that is the same bits. For floats it is as long as a kernel adds up the elements of a window in an
//! order that does not depend on the size of the tensor.
//!
//! ```
//! use memplan_verify::equivalence::{Meaning, Network, Op, Tensor, check};
//!
//! let tensor = |name: &str| Tensor { name: name.to_owned(), shape: Some(vec![4]), ..Tensor::default() };
//! let relu = |kind: &str| Op {
//!     kind: kind.to_owned(),
//!     meaning: Meaning::Pointwise,
//!     operands: vec![Some(0)],
//!     results: vec![Some(1)],
//!     ..Op::default()
//! };
//! let network = |kind: &str| Network {
//!     tensors: vec![tensor("x"), tensor("y")],
//!     ops: vec![relu(kind)],
//!     inputs: vec![0],
//!     outputs: vec![1],
//!     ..Network::default()
//! };
//! assert!(check(&network("RELU"), &network("RELU")).is_ok());
//! let refused = check(&network("RELU"), &network("RELU6")).unwrap_err();
//! assert_eq!(refused.code(), "equivalence::not-derived");
//! ```
//!
//! Words from other files: a [`Network`] is a model as the check sees it, and an [`Op`] names its tensors by their
//! numbers. [`Original`] answers questions about the original: `all(t)` are all places of a tensor, `alike(t)` is the
//! first tensor that holds the same, and `readers(t)` are the ops that read it. [`moved`] says what an op that only
//! moves elements gives, and `compare` what an op gives if it is a certain op of the original.

mod compare;
mod moves;
mod network;
mod original;
mod region;
mod violation;
mod window;

use std::collections::BTreeSet;

pub use network::{Axis, ContentId, Contents, Meaning, Network, Op, Slide, Tensor, Window};
pub use region::{Region, View};
pub use violation::{Mismatch, Violation};

use compare::{Candidate, compare};
use moves::moved;
use original::Original;

/// The largest dimension of a tensor that is accepted (2^31). Sums of a few such numbers, and products of two (2^62),
/// fit 64 signed bits.
const DIMENSION: i64 = 1 << 31;

/// What each tensor of the new model equals.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Proof {
    /// For each tensor of the new model, a region of a tensor of the original; `None` for constants that only the new
    /// model has and for tensors that nobody writes.
    pub equals: Vec<Option<View>>,
}

/// Proves that a changed model computes the same outputs and has the same effects as the original, or names the first
/// op of which this cannot be proved.
pub fn check(original: &Network, changed: &Network) -> Result<Proof, Box<Violation>> {
    well_formed(original, "the original")?;
    well_formed(changed, "the new model")?;
    if let Some(violation) = out_of_order(original) {
        return Err(Box::new(Violation::Malformed { network: "the original", why: violation.to_string() }));
    }
    out_of_order(changed).map_or(Ok(()), |violation| Err(Box::new(violation)))?;
    let mut derivation = Derivation::new(original, changed)?;
    for op in 0..changed.ops.len() {
        derivation.step(op)?;
    }
    derivation.finish()
}

/// Checks that every tensor that is named is there, that no dimension is negative or larger than [`DIMENSION`], and
/// that inputs are different tensors without a content of their own. A tensor that is two inputs, or an input and a
/// constant, would count as equal to two different things, and something wrong could be derived from that.
/// `name` says in the error which of the two models it is.
fn well_formed(network: &Network, name: &'static str) -> Result<(), Box<Violation>> {
    let malformed = |why: String| Err(Box::new(Violation::Malformed { network: name, why }));
    // All tensors that the network names: operands and results of ops, inputs, outputs.
    let in_ops = network.ops.iter().flat_map(|op| op.operands.iter().chain(&op.results).flatten());
    let named = in_ops.chain(&network.inputs).chain(&network.outputs);
    if let Some(missing) = named.copied().find(|tensor| *tensor >= network.tensors.len()) {
        return malformed(format!("tensor {missing} is named, and there are {}", network.tensors.len()));
    }
    for tensor in &network.tensors {
        let dimensions = tensor.shape.iter().flatten();
        if let Some(dimension) = { dimensions }.find(|dimension| !(0..=DIMENSION).contains(*dimension)) {
            return malformed(format!("tensor `{}` has a dimension of {dimension}", tensor.name));
        }
    }
    let mut inputs = BTreeSet::new();
    let is_wrong = |input: &&usize| !inputs.insert(**input) || network.tensors[**input].content.is_some();
    if let Some(&input) = network.inputs.iter().find(is_wrong) {
        return malformed(format!("the input `{}` is an input twice, or has a content", network.tensors[input].name));
    }
    Ok(())
}

/// The first op that reads what nothing has written, or writes what has its content from elsewhere; `None` if every
/// tensor has one source of its content, which comes before all readers.
fn out_of_order(network: &Network) -> Option<Violation> {
    // Constants, variables and inputs have their content before the first op runs.
    let given = |(_, tensor): &(usize, &Tensor)| tensor.content.is_some() || tensor.is_variable;
    let mut has_content: BTreeSet<usize> = network
        .tensors
        .iter()
        .enumerate()
        .filter(given)
        .map(|(index, _)| index)
        .chain(network.inputs.clone())
        .collect();
    let name = |tensor: usize| network.tensors[tensor].name.clone();
    for (op, content) in network.ops.iter().enumerate() {
        let kind = content.kind.clone();
        if let Some(&tensor) = content.operands.iter().flatten().find(|tensor| !has_content.contains(tensor)) {
            return Some(Violation::ReadTooEarly { op, kind, tensor: name(tensor) });
        }
        // `insert` notes that the result has content from now on, and says whether it had none before.
        if let Some(&tensor) = content.results.iter().flatten().find(|tensor| !has_content.insert(**tensor)) {
            return Some(Violation::WrittenTwice { op, kind, tensor: name(tensor) });
        }
    }
    None
}

/// The violation that callers see another model.
fn other_interface(why: String) -> Box<Violation> {
    Box::new(Violation::OtherInterface { why })
}

/// The violation that the effects are not those of the original.
fn other_effects(why: String) -> Box<Violation> {
    Box::new(Violation::OtherEffects { why })
}

/// How many inputs and outputs a network has, in words.
fn counts(network: &Network) -> String {
    format!("{} inputs and {} outputs", network.inputs.len(), network.outputs.len())
}

/// The shape, the element type and the quantisation of a tensor, in words.
fn type_of(tensor: &Tensor) -> String {
    format!("{:?} {}", tensor.shape.clone().unwrap_or_default(), tensor.numbers)
}

/// Puts `mismatch` into `nearest` if it is larger than the one there. The larger a mismatch, the more the two compared
/// ops have in common, and the op of the original that has most in common explains best what has changed.
fn keep_nearest(nearest: &mut Option<Mismatch>, mismatch: Mismatch) {
    if nearest.as_ref().is_none_or(|nearest| *nearest < mismatch) {
        *nearest = Some(mismatch);
    }
}

/// What is known about the new model after some of its ops.
struct Derivation<'a> {
    original: Original<'a>,
    changed: &'a Network,
    /// The views that each tensor of the new model equals, as far as they were found. Empty for a tensor that is not
    /// written yet, and for a constant that the original does not have.
    views: Vec<Vec<View>>,
    /// How many of the original's ops with an effect have run.
    effects: usize,
    /// Variables of the original that a variable of the new model stands for.
    variables: BTreeSet<usize>,
}

impl<'a> Derivation<'a> {
    /// Begins a derivation with what is known without any op: the inputs, and the constants that both models have.
    fn new(original: &'a Network, changed: &'a Network) -> Result<Derivation<'a>, Box<Violation>> {
        let original = Original::new(original);
        let views = vec![Vec::new(); changed.tensors.len()];
        let mut derivation = Derivation { original, changed, views, effects: 0, variables: BTreeSet::new() };
        derivation.connect_inputs()?;
        for (index, tensor) in changed.tensors.iter().enumerate() {
            // Variables may change, so their first content says nothing.
            let (Some(content), Some(shape), false) = (tensor.content, &tensor.shape, tensor.is_variable) else {
                continue;
            };
            if let Some(constant) = derivation.original.constant(&tensor.numbers, shape, content) {
                derivation.learn(index, vec![View { tensor: constant, region: Region::whole(shape), fill: None }]);
            }
        }
        Ok(derivation)
    }

    /// Checks that the changed model has the same inputs and outputs as the original, and notes that each input equals
    /// the original's.
    fn connect_inputs(&mut self) -> Result<(), Box<Violation>> {
        let (old, new) = (self.original.network, self.changed);
        if old.inputs.len() != new.inputs.len() || old.outputs.len() != new.outputs.len() {
            return Err(other_interface(format!("it has {} and had {}", counts(new), counts(old))));
        }
        if old.interface != new.interface {
            let pair = new.interface.iter().zip(&old.interface).find(|(now, was)| now != was);
            let words =
                pair.map_or_else(|| "a line more or less".to_owned(), |(now, was)| format!("{now}, and was {was}"));
            return Err(other_interface(words));
        }
        for (place, (&before, &now)) in old.inputs.iter().zip(&new.inputs).enumerate() {
            let (was, is) = (&old.tensors[before], &new.tensors[now]);
            if (&was.shape, &was.numbers) != (&is.shape, &is.numbers) {
                let why = format!("input {place} is {} and was {}", type_of(is), type_of(was));
                return Err(other_interface(why));
            }
            // `all` gives a region without dimensions for a tensor of unknown shape: it equals itself, but nothing
            // can be said about parts of it.
            let region = self.original.all(before);
            self.learn(now, vec![View { tensor: self.original.alike(before), region, fill: None }]);
        }
        Ok(())
    }

    /// Notes what a tensor of the new model equals. If the original has slices, borders or concatenations of what it
    /// equals, the tensor equals regions of these, too (`closure`). Only what fits its type and shape is kept.
    fn learn(&mut self, tensor: usize, views: Vec<View>) {
        let new = &self.changed.tensors[tensor];
        let mut views = self.original.closure(views);
        views.retain(|view| self.fits(view, new));
        for view in views {
            if !self.views[tensor].contains(&view) {
                self.views[tensor].push(view);
            }
        }
    }

    /// Whether a tensor may equal a view: it has the element type, the quantisation and the shape of the view. If a
    /// tensor of the original has a quantisation for each slice along a dimension (`is_per_axis`), only the whole of it
    /// is accepted: the quantisation of a part is not that of the whole.
    fn fits(&self, view: &View, new: &Tensor) -> bool {
        let old = &self.original.network.tensors[view.tensor];
        let is_whole = self.original.all(view.tensor) == view.region;
        let has_shape = match &new.shape {
            Some(shape) => old.shape.is_some() && *shape == view.region.extent,
            None => old.shape.is_none(),
        };
        old.numbers == new.numbers && has_shape && (is_whole || !old.is_per_axis)
    }

    /// Finds out what the results of an op of the new model equal; refuses the model if nothing is found for one of
    /// them.
    fn step(&mut self, index: usize) -> Result<(), Box<Violation>> {
        let op = &self.changed.ops[index];
        if self.changed.has_effect(op) {
            return self.effect(index);
        }
        let found = self.derive(op).map_err(|why| self.not_derived(index, why))?;
        // `learn` drops views that do not fit the result's type and shape.
        for (result, views) in op.results.iter().flatten().zip(found) {
            self.learn(*result, views);
            if self.views[*result].is_empty() {
                let why = "its type or quantisation is not that of the tensor whose part it is".to_owned();
                return Err(self.not_derived(index, Mismatch::Moved { why }));
            }
        }
        Ok(())
    }

    /// What each result of an op equals, in all ways that are found: because the op only moves elements, and because
    /// it is like an op of the original. If a result equals nothing, the error is about the op that came nearest.
    fn derive(&self, op: &Op) -> Result<Vec<Vec<View>>, Mismatch> {
        let candidate = self.candidate(op);
        let mut found = vec![Vec::new(); op.results.iter().flatten().count()];
        let mut nearest = None;
        match moved(&self.original, &candidate) {
            Ok(views) => found.iter_mut().zip(views).for_each(|(found, views)| found.extend(views)),
            Err(mismatch) => keep_nearest(&mut nearest, mismatch),
        }
        // An op may be like several ops of the original; each adds what its results are.
        for like in self.ops_like(op, &candidate) {
            match compare(&self.original, &candidate, like) {
                Ok(views) => found.iter_mut().zip(views).for_each(|(found, view)| found.push(view)),
                Err(mismatch) => keep_nearest(&mut nearest, mismatch),
            }
        }
        // An op without results passes, too: it has no effects, so it does nothing that could be seen.
        if found.iter().all(|views| !views.is_empty()) {
            return Ok(found);
        }
        Err(nearest.unwrap_or_else(|| Mismatch::NoSuchOp { operands: candidate.found.join(" and ") }))
    }

    /// An op of the changed network with what is known about its operands and results.
    fn candidate<'c>(&'c self, op: &'c Op) -> Candidate<'c> {
        let tensors = &self.changed.tensors;
        Candidate {
            op,
            views: op.operands.iter().map(|operand| operand.map_or(&[][..], |tensor| &self.views[tensor])).collect(),
            found: op.operands.iter().map(|operand| self.describe(*operand)).collect(),
            shapes: op.results.iter().flatten().map(|result| tensors[*result].shape.as_deref()).collect(),
            numbers: op.results.iter().flatten().map(|result| tensors[*result].numbers.as_str()).collect(),
        }
    }

    /// What an operand equals, in words.
    fn describe(&self, operand: Option<usize>) -> String {
        let Some(tensor) = operand else { return "left out".to_owned() };
        let name = |view: &View| format!("`{}`{}", self.original.network.tensors[view.tensor].name, view.region);
        self.views[tensor]
            .first()
            .map_or_else(|| format!("`{}`, which the original does not have", self.changed.tensors[tensor].name), name)
    }

    /// The ops of the original that this op may be: of the same kind, without effects, and readers of what one operand
    /// equals. Of the operands that equal something, the one with the fewest readers in the original is taken, so that
    /// the list is short. If no operand equals anything, ops without operands are left.
    fn ops_like(&self, op: &Op, candidate: &Candidate) -> Vec<usize> {
        let old = self.original.network;
        let readers =
            |views: &&[View]| views.iter().map(|view| self.original.readers(view.tensor).len()).sum::<usize>();
        let rarest = candidate.views.iter().filter(|views| !views.is_empty()).min_by_key(|views| readers(views));
        let ops: BTreeSet<usize> = match rarest {
            Some(views) => views.iter().flat_map(|view| self.original.readers(view.tensor)).copied().collect(),
            None => (0..old.ops.len()).filter(|&index| old.ops[index].operands.is_empty()).collect(),
        };
        ops.into_iter().filter(|&like| old.ops[like].kind == op.kind && !old.has_effect(&old.ops[like])).collect()
    }

    /// The violation of an op whose results are not known to be parts of the original, named by its first result.
    fn not_derived(&self, op: usize, why: Mismatch) -> Box<Violation> {
        let kind = self.changed.ops[op].kind.clone();
        let result = self.changed.ops[op].results.iter().flatten().next();
        let tensor = result.map_or_else(String::new, |result| self.changed.tensors[*result].name.clone());
        Box::new(Violation::NotDerived { op, kind, tensor, why })
    }

    /// Checks that an op with an effect is the op with the next effect in the original, on the same whole operands.
    /// Effects have to happen in the same order.
    fn effect(&mut self, index: usize) -> Result<(), Box<Violation>> {
        let (old, op) = (self.original.network, &self.changed.ops[index]);
        // The next op of the original with an effect that has not run yet.
        let Some(&like) = self.original.effects.get(self.effects) else {
            return Err(other_effects(format!("op {index} ({}) has one, and the original has no more", op.kind)));
        };
        let before = &old.ops[like];
        if before.kind != op.kind {
            let why = format!("op {index} ({}) runs where op {like} ({}) should", op.kind, before.kind);
            return Err(other_effects(why));
        }
        // A variable of the new model is known by the op that uses it first.
        self.connect_variables(op, before);
        let candidate = self.candidate(op);
        let views = compare(&self.original, &candidate, like).map_err(|why| self.not_derived(index, why))?;
        // On parts of its operands an op would have its effect more often than the original has it.
        if let Some(part) = views.iter().find(|view| self.original.all(view.tensor) != view.region) {
            return Err(other_effects(format!("op {index} ({}) writes only {} of its result", op.kind, part.region)));
        }
        // The effect has happened in its turn.
        self.effects += 1;
        for (result, view) in op.results.iter().flatten().zip(views) {
            self.learn(*result, vec![view]);
        }
        Ok(())
    }

    /// Before an op with an effect is compared: each variable among its operands that has not been used so far stands
    /// for the variable that the original's op has in the same place. Each variable of the original is taken once.
    fn connect_variables(&mut self, op: &Op, before: &Op) {
        let pairs = op.operands.iter().zip(&before.operands).filter_map(|(now, was)| Some(((*now)?, (*was)?)));
        for (now, was) in pairs {
            let (new, old) = (&self.changed.tensors[now], &self.original.network.tensors[was]);
            let is_same = (&new.shape, &new.numbers, new.content) == (&old.shape, &old.numbers, old.content);
            let is_free = self.views[now].is_empty() && !self.variables.contains(&was);
            if new.is_variable && old.is_variable && is_same && is_free {
                self.variables.insert(was);
                let region = self.original.all(was);
                self.views[now].push(View { tensor: was, region, fill: None });
            }
        }
    }

    /// Checks, when all ops have been looked at, that no effect of the original is missing and that every output equals
    /// the whole output of the original.
    fn finish(self) -> Result<Proof, Box<Violation>> {
        let old = self.original.network;
        if let Some(&missing) = self.original.effects.get(self.effects) {
            let why = format!("op {missing} ({}) of the original does not run", old.ops[missing].kind);
            return Err(Box::new(Violation::OtherEffects { why }));
        }
        for (output, (&before, &now)) in old.outputs.iter().zip(&self.changed.outputs).enumerate() {
            let wanted = self.original.alike(before);
            let whole = self.original.all(before);
            // The output must be all of the original's output, without a border.
            let is_wanted = |view: &View| view.tensor == wanted && view.region == whole;
            if !self.views[now].iter().any(is_wanted) {
                let (tensor, original) = (self.changed.tensors[now].name.clone(), old.tensors[before].name.clone());
                let why = format!("it is {}", self.describe(Some(now)));
                return Err(Box::new(Violation::OtherOutput { output, tensor, original, why }));
            }
        }
        // A tensor may equal several views; the proof names the first one.
        Ok(Proof { equals: self.views.into_iter().map(|views| views.into_iter().next()).collect() })
    }
}
