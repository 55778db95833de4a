//! The addresses of buffers that no op uses.
//!
//! The comparison of both texts finds an address where an op uses it. A buffer that no op uses is found by its name:
//! the result of the op that makes its address has the name that the allocation had, in the same function.
//!
//! In the [`Walk`], which compares the texts `before` and `after`, `counterparts` has the new value for each old one
//! that is still there, and `places` tells for which old allocations an address has been found.

use std::collections::HashMap;

use memplan_core::IndexVec;
use memplan_program::SiteId;

use super::{WORKSPACE, Walk};
use crate::{BlockId, Definition, Document, OpId, ValueId};

impl Walk<'_> {
    /// Finds the addresses of buffers that no op uses, and notes them. `sites` lists the old allocation behind each
    /// site. A buffer whose address is not found stays without one.
    pub(super) fn unused(&mut self, sites: &IndexVec<SiteId, OpId>) {
        let before = self.before;
        let allocated = sites.iter().filter_map(|&op| before.results(op).first().copied());
        let missing: Vec<ValueId> =
            allocated.filter(|&value| self.counterparts[value].is_none() && self.places[value].is_none()).collect();
        if missing.is_empty() {
            return;
        }
        let made = made_addresses(self.after);
        for value in missing {
            let Definition::Result { op, .. } = before.value(value).definition else { continue };
            let Some(candidates) = made.get(&(name_of_function(before, op), before.value_name(value))) else {
                continue;
            };
            // The same name may be used in several blocks, so the value in the allocation's own block is tried first.
            let block = self.blocks[before.op(op).parent];
            let mut candidates = candidates.clone();
            candidates.sort_by_key(|&candidate| block_of(self.after, candidate) != block);
            // The first candidate that stands for an address in place of this allocation is taken.
            let mut addresses = candidates.into_iter().filter_map(|new| Some((new, self.address(value, new)?.ok()?)));
            if let Some((new, address)) = addresses.next() {
                self.add_address(value, new, address);
            }
        }
    }
}

/// The results of all ops that may give a buffer its address, by the function around them and by name.
fn made_addresses(document: &Document) -> HashMap<(Option<&str>, &str), Vec<ValueId>> {
    let mut made: HashMap<_, Vec<ValueId>> = HashMap::new();
    for op in document.op_ids() {
        if matches!(document.name(op), "memref.view" | "memref.cast" | "hivm.hir.pointer_cast" | WORKSPACE) {
            let function = name_of_function(document, op);
            for &value in document.results(op) {
                made.entry((function, document.value_name(value))).or_default().push(value);
            }
        }
    }
    made
}

/// The name of the function around an op.
fn name_of_function(document: &Document, op: OpId) -> Option<&str> {
    document.symbol_name(document.function_around(op)?)
}

/// The block of the op whose result a value is.
fn block_of(document: &Document, value: ValueId) -> Option<BlockId> {
    match document.value(value).definition {
        Definition::Result { op, .. } => Some(document.op(op).parent),
        _ => None,
    }
}
