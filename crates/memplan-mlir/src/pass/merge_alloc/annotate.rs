//! Lifetimes as attributes: what `analysis-only` writes.
//!
//! Every `memref.alloc` gets `__mergealloc_lifetime = array<i64: SCOPE, FIRST, LAST>`
//! and its scope op `__mergealloc_scope = SCOPE : i64`. SCOPE numbers the scopes (the ops
//! whose instances own what they allocate, such as functions and parallel loops). FIRST
//! and LAST are the *ticks* of the first and the last op that uses the buffer. Ticks count
//! ops in the order of the text, from 1 at the function; -1 stands for "never used" and
//! -2 for "cannot be traced".

use std::collections::{BTreeMap, BTreeSet};

use memplan_analysis::Life;
use memplan_core::{Id, IndexVec};

use super::BufferizedView;
use super::home::scope_of;
use crate::dialect::Traits;
use crate::pass::Rewrite;
use crate::{Edits, Form, OpId};

/// Writes lifetimes and scopes as attributes and changes nothing else.
pub(super) fn annotate(view: &BufferizedView) -> Rewrite {
    let sites = view.lowered.program.sites();
    let allocs: Vec<(OpId, Life)> = sites
        .ids()
        .map(|site| (view.lowered.sites[site], view.lifetimes.life(site)))
        .filter(|&(op, _)| view.document.name(op) == "memref.alloc")
        .collect();
    // Scopes are numbered in the order of the text, and only those that hold an allocation.
    let scopes: BTreeSet<OpId> = allocs.iter().filter_map(|&(op, _)| scope_of(view, op)).collect();
    let numbers: BTreeMap<OpId, usize> = scopes.into_iter().enumerate().map(|(number, op)| (op, number)).collect();
    let mut edits = Edits::default();
    for (&op, number) in &numbers {
        add_attribute(view, &mut edits, op, &format!("__mergealloc_scope = {number} : i64"));
    }
    for (op, life) in allocs {
        let Some(scope) = scope_of(view, op).and_then(|scope| numbers.get(&scope)) else { continue };
        // The numbers -1 and -2 are the original's words for these two cases.
        let (first, last) = match life {
            Life::Unused => (-1, -1),
            Life::Untraceable { .. } => (-2, -2),
            Life::Range { first, last } => (view.tick(view.lowered.ops[first]), view.tick(view.lowered.ops[last])),
        };
        let attribute = format!("__mergealloc_lifetime = array<i64: {scope}, {first}, {last}>");
        add_attribute(view, &mut edits, op, &attribute);
    }
    Rewrite {
        edits,
        placements: IndexVec::filled(None, sites.len()),
        owners: BTreeMap::new(),
        remarks: Vec::new(),
        stats: Vec::new(),
    }
}

impl BufferizedView<'_> {
    /// The position of an op in its function, which itself has tick 1. Ops are numbered in the order of the text. An
    /// op without a function around it is counted from the outermost op around it.
    fn tick(&self, op: OpId) -> i64 {
        let mut function = op;
        let mut around = Some(op);
        while let Some(outer) = around {
            function = outer;
            if self.document.info(outer).traits.has(Traits::FUNCTION) {
                break;
            }
            around = self.document.parent_op(outer);
        }
        op.index() as i64 - function.index() as i64 + 1
    }
}

/// Adds an attribute to an op, at the front of its dictionary, or in a new dictionary where the op's syntax has it.
///
/// ```text
///   memref.alloc() {alignment = 64 : i64} : memref<16xf32>     ─►  memref.alloc() {NEW, alignment = 64 : i64} : …
///   memref.alloc() : memref<16xf32>                            ─►  memref.alloc() {NEW} : memref<16xf32>
///   func.func @f() { … }                                       ─►  func.func @f() attributes {NEW} { … }
///   scf.forall (%i) in (4) { … }                               ─►  scf.forall (%i) in (4) { … } {NEW}
/// ```
fn add_attribute(view: &BufferizedView, edits: &mut Edits, op: OpId, attribute: &str) {
    let document = view.document;
    let source = document.source();
    // A dictionary in angle brackets, `<{…}>`, holds an op's properties, which its definition lists. Attributes that
    // any op may have (*discardable* ones, as this one) stand in a dictionary of their own.
    let mut dictionaries = document.dictionaries(op).iter().rev();
    let dictionary = dictionaries.find(|span| !source[..span.start as usize].ends_with('<'));
    if let Some(dictionary) = dictionary {
        let is_empty = document.text(*dictionary).trim_matches(['{', '}', ' ', '\n']).is_empty();
        let comma = if is_empty { "" } else { ", " };
        edits.insert(dictionary.start as usize + 1, format!("{attribute}{comma}"));
        return;
    }
    let info = document.op(op);
    let regions = document.regions(op);
    let first_region = regions.first().map(|&region| document.region(region).span);
    // These ops have their dictionary in front of the region, behind the word `attributes`; others have it at the end.
    let with_keyword = matches!(document.name(op), "func.func" | "async.execute" | "async.func");
    match (info.form, first_region) {
        (Form::Custom, Some(region)) if with_keyword => {
            edits.insert(region.start as usize, format!("attributes {{{attribute}}} "));
        }
        (Form::Custom, Some(_)) => {
            let last = regions.last().map_or(info.span, |&region| document.region(region).span);
            edits.insert(last.end as usize, format!(" {{{attribute}}}"));
        }
        _ => {
            // In front of the colon of the type.
            let types = document.type_spans(op).first().map_or(info.span.end, |span| span.start) as usize;
            let head = &source[info.span.start as usize..types];
            let colon = head.rfind(" :").map_or(types, |at| info.span.start as usize + at);
            edits.insert(colon, format!(" {{{attribute}}}"));
        }
    }
}
