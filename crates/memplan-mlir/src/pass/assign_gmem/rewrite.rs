//! The new text: addresses as encodings of tensor types, and what the modules say
//! about them. Nothing else is touched.
//!
//! An encoding is what stands behind the element type: `tensor<1x16xf32, 4096 : i64>`.
//! Attributes of an op stand in its dictionary: `{module.chip = "bm1684x", module.cores = 1 : i64}`.
//! An op in *generic* form is written `"name"(operands) {attributes} : types`, one in its own
//! form for example `func.func @name(…) attributes {…}`.

use std::collections::BTreeMap;

use memplan_core::{IndexVec, Span};

// `Content` is what a value stands for: a tensor, or a weight from some byte on. `entries` reads a dictionary of
// attributes as pairs of a key and a value, which are slices of the source. `Edits` collects changes of the text.
use super::network::{Content, Network, TensorId, descendants};
use super::weights::WeightPlan;
use crate::attribute::entries;
use crate::dialect::Traits;
use crate::ty::split_commas;
use crate::{Document, Edits, Form, OpId, ValueId};

/// Where everything of a network is.
pub(super) struct Addresses<'a> {
    pub(super) network: &'a Network,
    pub(super) tensors: &'a IndexVec<TensorId, u64>,
    pub(super) weights: &'a WeightPlan,
}

impl Addresses<'_> {
    /// The address of a value; `None` if it is not in global memory.
    fn of(&self, value: ValueId) -> Option<u64> {
        match self.network.content(value)? {
            Content::Tensor(tensor) => Some(self.tensors[tensor]),
            Content::Weight { weight, at } => Some(self.weights.addresses[weight] + at),
        }
    }

    /// Writes the addresses into all types that the text spells: those of operands and results behind each op, those
    /// of block arguments, and those in the signature of each function.
    pub(super) fn write(&self, document: &Document, edits: &mut Edits) {
        for &function in &self.network.functions {
            // The values that the function returns. Its signature names their types once more.
            let mut returned: Vec<ValueId> = Vec::new();
            for op in descendants(document, function) {
                let operands = document.operands(op).iter().copied();
                let values: Vec<ValueId> = operands.chain(document.results(op).iter().copied()).collect();
                self.types(document, document.type_spans(op), &values, edits);
                self.arguments(document, op, edits);
                if document.name(op) == "func.return" {
                    returned = document.operands(op).to_vec();
                }
            }
            self.arguments(document, function, edits);
            self.types(document, document.type_spans(function), &returned, edits);
        }
    }

    /// Writes addresses into the types of the arguments of an op's blocks.
    fn arguments(&self, document: &Document, op: OpId, edits: &mut Edits) {
        let blocks = document.regions(op).iter().flat_map(|&region| document.blocks(region));
        for &argument in blocks.flat_map(|&block| document.arguments(block)) {
            self.types(document, &[document.value(argument).type_span], &[argument], edits);
        }
    }

    /// Writes addresses into types that stand at `spans`, one for each of `values`. If the numbers of types and values
    /// differ, the op spells its types in a way of its own, so that it is not known which type belongs to which
    /// value, and nothing is written.
    fn types(&self, document: &Document, spans: &[Span], values: &[ValueId], edits: &mut Edits) {
        if spans.len() != values.len() {
            return;
        }
        for (&span, &value) in spans.iter().zip(values) {
            let text = document.text(span);
            if let Some(new) = self.of(value).and_then(|address| with_address(document, span, address))
                && new != text
            {
                edits.replace(span, new);
            }
        }
    }
}

/// The type at a span with an address for its encoding, in the place of the encoding that it had; `None` if it is no
/// tensor type. `tensor<1x16xf32>` becomes `tensor<1x16xf32, 4096 : i64>`.
fn with_address(document: &Document, span: Span, address: u64) -> Option<String> {
    let mut text = document.text(span);
    // The type may be an alias (`!t`, defined elsewhere as `tensor<…>`), and that again one. Eight are more than a
    // compiler writes; the bound ends a circle of aliases.
    for _ in 0..8 {
        match text.strip_prefix('!') {
            Some(_) => text = document.alias(text, span)?,
            None => break,
        }
    }
    let inside = text.trim().strip_prefix("tensor<")?.strip_suffix('>')?;
    let shape = split_commas(inside).first().copied()?;
    Some(format!("tensor<{shape}, {address} : i64>"))
}

/// A function in generic form, if there is one. There the signature is an attribute, into which no addresses can be
/// written.
pub(super) fn generic_function(document: &Document, network: &Network) -> Option<OpId> {
    let is_generic =
        |op: &OpId| document.op(*op).form == Form::Generic && document.info(*op).traits.has(Traits::FUNCTION);
    network.functions.iter().copied().find(is_generic)
}

/// New values of attributes of an op; `None` removes one.
pub(super) type Attributes<'a> = BTreeMap<&'a str, Option<String>>;

/// Changes, adds and removes attributes of an op; new ones are put in alphabetical order. The edits are as small as
/// possible, so that everything else in the dictionary keeps its spelling. Only if an attribute is to go, the whole
/// dictionary is written anew.
///
/// A generic op may have two dictionaries: its properties `<{…}>` and, behind them, the other attributes `{…}`. The
/// attributes are set where one of them stands already, otherwise in the last dictionary.
pub(super) fn set_attributes(document: &Document, op: OpId, attributes: &Attributes, edits: &mut Edits) {
    let dictionaries = document.dictionaries(op);
    let has_one = |span: &&Span| entries(document.text(**span)).iter().any(|(key, _)| attributes.contains_key(key));
    let Some(&dictionary) = dictionaries.iter().find(has_one).or(dictionaries.last()) else {
        insert_dictionary(document, op, attributes, edits);
        return;
    };
    let known = entries(document.text(dictionary));
    // An attribute is to go. Commas and blanks around it would have to go as well, so the dictionary is written anew.
    if known.iter().any(|(key, _)| attributes.get(key) == Some(&None)) {
        edits.replace(dictionary, rebuilt(&known, attributes, added(&known, attributes)));
        return;
    }
    change_dictionary(document, dictionary, &known, attributes, edits);
}

/// Inserts a whole dictionary into an op that has none. Nothing is inserted if there are no attributes to set, or if
/// the op has no place for them.
fn insert_dictionary(document: &Document, op: OpId, attributes: &Attributes, edits: &mut Edits) {
    let new: Vec<String> = added(&[], attributes).iter().map(|(key, value)| format!("{key} = {value}")).collect();
    if let Some(at) = dictionary_position(document, op).filter(|_| !new.is_empty()) {
        let is_generic = document.op(op).form == Form::Generic;
        let (before, behind) = if is_generic { (" ", "") } else { ("attributes ", " ") };
        edits.insert(at, format!("{before}{{{}}}{behind}", new.join(", ")));
    }
}

/// Replaces values where they stand, and inserts each new attribute in front of the first one that comes after it in
/// the alphabet. `known` are the keys and values of the dictionary, as slices of the source. No attribute may have to
/// go (`None` as its new value).
///
/// ```text
///   {a = 1, c = 3}  with b = 2 and c = 4   ─►   {a = 1, b = 2, c = 4}
/// ```
fn change_dictionary(
    document: &Document,
    dictionary: Span,
    known: &[(&str, &str)],
    attributes: &Attributes,
    edits: &mut Edits,
) {
    let source = document.source();
    let mut new = added(known, attributes).into_iter().peekable();
    // One past the last entry: right behind the opening brace as long as there is none.
    let mut end = dictionary.start as usize + 1;
    for (key, value) in known {
        // A key may be written in quotes, which `known` leaves out.
        let place = position(source, key);
        let quote = usize::from(source.get(..place).is_some_and(|before| before.ends_with('"')));
        // Several attributes may be inserted at one place; they keep the order in which they are inserted.
        while let Some((name, value)) = new.next_if(|(name, _)| name.as_str() < *key) {
            edits.insert(place - quote, format!("{name} = {value}, "));
        }
        // A unit attribute has no value, so one that gets a value gets the `=` as well.
        end = if value.is_empty() { place + key.len() + quote } else { position(source, value) + value.len() };
        match attributes.get(key) {
            Some(Some(wanted)) if wanted == value => {}
            Some(Some(wanted)) if value.is_empty() => edits.insert(end, format!(" = {wanted}")),
            Some(Some(wanted)) => edits.replace(Span::new(end - value.len(), end), wanted.clone()),
            _ => {}
        }
    }
    // New attributes that come after all others go right behind the last one. In front of the closing brace they might
    // stand in a comment.
    let rest: Vec<String> = new.map(|(name, value)| format!("{name} = {value}")).collect();
    if !rest.is_empty() {
        let separator = if known.is_empty() { "" } else { ", " };
        edits.insert(end, format!("{separator}{}", rest.join(", ")));
    }
}

/// The attributes that are to be set and that a dictionary does not have yet, with their values, in alphabetical
/// order.
fn added(known: &[(&str, &str)], attributes: &Attributes) -> Vec<(String, String)> {
    let new = attributes.iter().filter(|(key, _)| known.iter().all(|(other, _)| other != *key));
    new.filter_map(|(key, value)| Some(((*key).to_owned(), value.clone()?))).collect()
}

/// Where a part of the source begins. The part is a slice of the source itself, so the distance of the two is its
/// place.
fn position(source: &str, part: &str) -> usize {
    part.as_ptr() as usize - source.as_ptr() as usize
}

/// A whole new dictionary, sorted: the `known` attributes without those that are to go and with the values that are to
/// change, and the `added` ones.
fn rebuilt(known: &[(&str, &str)], attributes: &Attributes, added: Vec<(String, String)>) -> String {
    let mut all: Vec<(String, String)> = added;
    for &(key, value) in known {
        match attributes.get(key) {
            Some(None) => {}
            Some(Some(wanted)) => all.push((key.to_owned(), wanted.clone())),
            None => all.push((key.to_owned(), value.to_owned())),
        }
    }
    all.sort();
    // One attribute as it is written. A unit attribute says something by being there, and has no value.
    let entry = |(key, value): &(String, String)| match value.as_str() {
        "" => spelled(key),
        value => format!("{} = {value}", spelled(key)),
    };
    let entries: Vec<String> = all.iter().map(entry).collect();
    format!("{{{}}}", entries.join(", "))
}

/// The name of an attribute as it is written: in quotes if it is no plain word.
fn spelled(key: &str) -> String {
    let may_begin = |c: char| c.is_ascii_alphabetic() || c == '_';
    let is_word =
        key.starts_with(may_begin) && key.chars().all(|c| may_begin(c) || c.is_ascii_digit() || "$.".contains(c));
    if is_word { key.to_owned() } else { format!("\"{key}\"") }
}

/// The position in the source at which an op without a dictionary would have one; `None` if that is not known.
fn dictionary_position(document: &Document, op: OpId) -> Option<usize> {
    let region = document.regions(op).first().map(|&region| document.region(region).span);
    match (document.op(op).form, region) {
        // `"name"(operands) {…} : …` or `"name"() ({region}) {…} : …`
        (Form::Generic, region) => {
            let from = region.map_or(document.op(op).name_span.end, |region| region.end) as usize;
            Some(from + document.source().get(from..)?.find(')')? + 1)
        }
        // In an op's own form attributes stand in front of the region: `module @m attributes {…} { region }`.
        (_, Some(region)) => Some(region.start as usize),
        (_, None) => None,
    }
}
