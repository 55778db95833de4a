//! Facts about a function's memory, for reports and comparisons.

use super::{Layout, Rewritten};
use crate::DType;
use crate::ir::{Block, BufId, Function, StmtKind, StorageScope};
use crate::script::print_expr;

/// An allocation as it stands in a function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AllocationSite {
    /// The buffer.
    pub buffer: BufId,
    /// Its name.
    pub name: String,
    /// Element type.
    pub dtype: DType,
    /// Extents as printed.
    pub extents: Vec<String>,
    /// Which memory.
    pub scope: StorageScope,
    /// Enclosing statements from the outside: `for:i/then/attr:thread_extent(threadIdx.x)`.
    pub path: String,
}

/// The allocations of a function, in the order of the text.
pub fn allocation_sites(function: &Function) -> Vec<AllocationSite> {
    let mut sites = Vec::new();
    collect(function, &function.body, "", &mut sites);
    sites
}

/// The path of a scope inside of another one.
pub(crate) fn below(path: &str, part: &str) -> String {
    if path.is_empty() { part.to_owned() } else { format!("{path}/{part}") }
}

/// Lists all allocations of a block, with the scopes around them. `path` is the path of the block itself.
fn collect(function: &Function, block: &Block, path: &str, sites: &mut Vec<AllocationSite>) {
    // The paths are there to compare two versions of a function: the numbers of statements may differ between them,
    // the names of the scopes do not.
    for stmt in block {
        match &stmt.kind {
            StmtKind::Alloc(id) => {
                let buffer = &function.buffers[*id];
                sites.push(AllocationSite {
                    buffer: *id,
                    name: buffer.name.clone(),
                    dtype: buffer.dtype,
                    extents: buffer.shape.iter().map(|extent| print_expr(extent, function)).collect(),
                    scope: buffer.scope.clone(),
                    path: path.to_owned(),
                });
            }
            StmtKind::For { var, body, .. } => {
                collect(function, body, &below(path, &format!("for:{}", function.vars[*var].name)), sites);
            }
            StmtKind::While { body, .. } => collect(function, body, &below(path, "while"), sites),
            StmtKind::If { then, otherwise, .. } => {
                collect(function, then, &below(path, "then"), sites);
                collect(function, otherwise, &below(path, "else"), sites);
            }
            StmtKind::Thread { body, .. } if stmt.is_virtual_thread() => {
                collect(function, body, &below(path, "attr:virtual_thread"), sites);
            }
            StmtKind::Thread { tag, body, .. } => {
                collect(function, body, &below(path, &format!("attr:thread_extent({tag})")), sites);
            }
            StmtKind::Attr { key, body, .. } => collect(function, body, &below(path, &format!("attr:{key}")), sites),
            _ => {}
        }
    }
}

/// Bits of all allocations with constant extents; `None` if they do not fit 64 bits. Symbolic ones are left out.
pub fn total_bits(function: &Function) -> Option<u64> {
    allocation_sites(function).iter().try_fold(0u64, |total, site| {
        let buffer = &function.buffers[site.buffer];
        if !buffer.has_constant_shape() {
            return Some(total);
        }
        total.checked_add(buffer.constant_elements()?.checked_mul(buffer.dtype.total_bits())?)
    })
}

/// Where a buffer of the input is in the rewritten function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BufferPlace {
    /// The buffer's name in the input.
    pub name: String,
    /// The allocation that holds it.
    pub root: String,
    /// Distance from its start, in elements of the buffer.
    pub offset: u64,
}

impl Rewritten {
    /// Where every touched buffer of `input` is now; views are where their buffers are.
    pub fn places(&self, input: &Function) -> Vec<BufferPlace> {
        input
            .buffers
            .iter_enumerated()
            .filter_map(|(id, buffer)| {
                let root = input.root(id);
                let place = self.layout.places[root]?;
                // The numbers of buffers are the same in both functions. What was a buffer with its own memory is now
                // itself an allocation or a view of one, and `root` gives that.
                let holder = self.function.root(root);
                Some(BufferPlace {
                    name: buffer.name.clone(),
                    root: self.function.buffers[holder].name.clone(),
                    offset: place.bit_offset / buffer.dtype.total_bits(),
                })
            })
            .collect()
    }

    /// One line for each allocation: type, extents, memory and place, and every buffer in it with its offset in
    /// elements (`B@8`).
    pub fn dump(&self, input: &Function) -> String {
        let mut text = String::new();
        for site in allocation_sites(&self.function) {
            let path = if site.path.is_empty() { "top" } else { &site.path };
            text.push_str(&format!(
                "{} {}[{}] {} at {path}:",
                site.name,
                site.dtype,
                site.extents.join(", "),
                site.scope
            ));
            for place in self.places(input).iter().filter(|place| place.root == site.name) {
                text.push_str(&format!(" {}@{}", place.name, place.offset));
            }
            text.push('\n');
        }
        text
    }
}

impl Layout {
    /// Whether any two buffers share an allocation.
    pub fn shares(&self) -> bool {
        // Some allocation is met a second time.
        let mut seen = vec![false; self.allocations.len()];
        self.places
            .iter()
            .flatten()
            .any(|place| std::mem::replace(&mut seen[memplan_core::Id::index(place.allocation)], true))
    }
}
