//! Another tool's kernel with addresses, held against the kernel without them.
//!
//! ```text
//!   kernel.mlir                                  planned.mlir
//!   %a = memref.alloc() : memref<…, ub>          %a = hivm.hir.pointer_cast(%c0_i64) : memref<…, ub>
//! ```
//!
//! The two texts must be the same except for addresses (`memplan_mlir::written`), and the addresses must keep what the
//! kernel computes, which the dataflow check judges. Buffers that had an address before are not part of it.

use std::collections::BTreeMap;

use memplan_core::{Bytes, Id, IndexVec, Placement, ReadError, SpaceId, Span, utf8};
use memplan_mlir::lower_kernels;
use memplan_mlir::written::{Address, Changes};
use memplan_program::SiteId;
use memplan_verify::dataflow::SitePlan;

use super::Output;
use super::mlir_text::Module;
use crate::driver::Failure;
use crate::finding::{self, Finding};
use crate::source::Source;

/// What is wrong with the addresses in `written`, for the kernels in `source`. Also the number of buffers that have an
/// address.
pub fn check_kernels(source: &Source, written: &Source) -> Result<(Vec<Finding>, usize), Failure> {
    // Where each buffer of the kernels is, found by comparing the two texts; other differences are an error.
    let module = Module::read(source, lower_kernels)?;
    let text = utf8(&written.bytes)?;
    let addresses = module.addresses(&Output::of_text(text.to_owned()), Changes::Addresses)?;
    // The memory of a buffer is a name such as `ub`, or a value such as `%merged` if the text allocates a block and
    // takes views of it.
    if addresses.iter().flatten().any(|address| address.memory.starts_with('%')) {
        let message = "buffers were merged into one allocation here, and such plans are checked by the pass itself";
        let error = ReadError::new("verify::merged", text, Span::new(0, 0), message);
        return Err(error.help("give a plan of the buffers: plan.json or plan.csv").into());
    }
    let plan = SitePlan { placements: placements(&addresses), ..SitePlan::empty(&module.lowered.program) };
    let count = addresses.iter().flatten().count();
    Ok((finding::in_dataflow(&module.lowered.program, &plan), count))
}

/// The addresses as placements. Each memory that the text names becomes a space, numbered in the order of appearance.
fn placements(addresses: &IndexVec<SiteId, Option<Address>>) -> IndexVec<SiteId, Option<Placement>> {
    let mut spaces = BTreeMap::new();
    let mut placement = |address: &Address| {
        let next = spaces.len();
        let space = *spaces.entry(address.memory.clone()).or_insert_with(|| SpaceId::from_index(next));
        Placement {
            offsets: address.offsets.iter().map(|&offset| Bytes(offset)).collect(),
            strides: address.strides.iter().map(|&stride| Bytes(stride)).collect(),
            ..Placement::at(space, Bytes::ZERO)
        }
    };
    addresses.iter().map(|address| address.as_ref().map(&mut placement)).collect()
}
